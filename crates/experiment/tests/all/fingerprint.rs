//! The fingerprint under which results are saved depends on the sources, and on nothing else.

#[path = "../../build/fingerprint.rs"]
mod sources;

use std::fs;
use std::path::{Path, PathBuf};

/// The crate that everything of the small workspace is built into.
const TOP: &str = "report";

/// A workspace of two crates, one on the other, and one beside them.
fn checkout(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_TARGET_TMPDIR")).join("fingerprint").join(name);
    let _absent = fs::remove_dir_all(&root);
    for (path, text) in [
        ("Cargo.lock", "version = 4"),
        ("crates/report/Cargo.toml", "[dependencies]\nfowler-units.workspace = true\n"),
        ("crates/report/src/lib.rs", "//! Above."),
        ("crates/report/templates/page.html", "<p>"),
        ("crates/report/vendor/echarts.js", "1"),
        ("crates/report/vendor/sortable.js", "2"),
        ("crates/units/Cargo.toml", "[dependencies]\n[dev-dependencies]\nfowler-cli = \"1\"\n"),
        ("crates/units/src/lib.rs", "//! Below."),
        ("crates/units/src/deep/er.rs", "//! Deeper."),
        ("crates/cli/src/main.rs", "//! Beside."),
        ("presets/devices/tlc.toml", "# a drive"),
    ] {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }
    root
}

#[test]
fn it_depends_on_the_sources_and_not_on_where_they_are() {
    let (here, there) = (checkout("here"), checkout("elsewhere/and/deeper"));
    let first = sources::of(&here, TOP);
    assert_eq!(first.len(), 64);
    assert_eq!(first, sources::of(&there, TOP));
    // Files that the simulator is not built from may change.
    fs::write(here.join("crates/cli/src/main.rs"), "//! Other flags.").unwrap();
    fs::create_dir_all(here.join("target")).unwrap();
    fs::write(here.join("target/output"), "x").unwrap();
    assert_eq!(first, sources::of(&here, TOP));
    for changed in [
        "crates/units/src/deep/er.rs",
        "crates/report/templates/page.html",
        "presets/devices/tlc.toml",
        "Cargo.lock",
    ] {
        let before = fs::read(there.join(changed)).unwrap();
        fs::write(there.join(changed), [&before[..], b" "].concat()).unwrap();
        assert_ne!(first, sources::of(&there, TOP), "{changed}");
        fs::write(there.join(changed), before).unwrap();
    }
    let name = there.join("crates/units/src/deep");
    fs::rename(name.join("er.rs"), name.join("est.rs")).unwrap();
    assert_ne!(first, sources::of(&there, TOP), "a file of another name");
}

#[test]
fn it_is_that_of_this_checkout() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert_eq!(sources::of(&root, "experiment"), fowler_experiment::provenance::FINGERPRINT);
    let places = sources::places(&root, TOP);
    for floor in ["units", "device", "workload", "experiment"] {
        let sources = Path::new("crates").join(floor).join("src");
        assert!(places.contains(&sources), "{floor}: {places:?}");
    }
    assert!(!places.contains(&Path::new("crates").join("cli").join("src")));
}

/// Files that are compiled in from outside the crates are hashed too.
#[test]
fn every_file_that_is_compiled_in_counts() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    // The crate of the studies has a fingerprint of its own, for what it keeps.
    let places = sources::places(&root, "papers");
    let mut open: Vec<PathBuf> = places.iter().map(|place| root.join(place)).collect();
    let mut found = 0;
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
            continue;
        }
        if path.extension().is_none_or(|it| it != "rs") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        for rest in text.split(concat!("include_", "str!(\"")).skip(1) {
            let target = path.parent().unwrap().join(rest.split('"').next().unwrap());
            let target = fs::canonicalize(target).unwrap();
            let counts = |place: &PathBuf| {
                fs::canonicalize(root.join(place)).is_ok_and(|place| target.starts_with(place))
            };
            let listed = target.ends_with("vendor/SHA256SUMS");
            assert!(listed || places.iter().any(counts), "{}", target.display());
            found += 1;
        }
    }
    assert!(found > 5, "{found}");
}
