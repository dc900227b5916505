//! The reports about wrong device descriptions. Each file of `tests/config` is a description
//! followed by the expected reports, after a line of dashes.
//!
//! `FOWLER_BLESS=1 cargo test -p fowler-experiment --test all config_errors::` (in `make bless`)
//! writes the current reports into the files.

use fowler_experiment::device_spec::{DeviceSpec, parse_device, resolve};
use fowler_experiment::scheme::Scheme;
use std::fs;
use std::path::PathBuf;

const SEPARATOR: &str = "\n# ---- reports:\n";

#[test]
fn every_wrong_description_is_told_what_is_wrong() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/config");
    let mut files: Vec<_> =
        fs::read_dir(folder).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    assert!(files.len() > 5);
    for file in files {
        let case = fs::read_to_string(&file).unwrap();
        let (input, expected) = case.split_once(SEPARATOR).unwrap_or((case.trim_end(), ""));
        let reported = match parse_device(input, "drive.toml") {
            Ok(_) => "nothing\n".to_string(),
            Err(diagnostics) => format!("{diagnostics}\n"),
        };
        if std::env::var_os("FOWLER_BLESS").is_some() {
            fs::write(&file, format!("{input}{SEPARATOR}{reported}")).unwrap();
        } else {
            assert_eq!(reported, expected, "{}", file.display());
        }
    }
}

/// A flag with a key of former versions is told the flags that mean the same.
#[test]
fn old_keys_are_told_what_to_set() {
    for (old, new) in [
        (
            "ftl.mapping=pages",
            "set ftl.reclaim_unit=block and ftl.program_unit=page and ftl.unit=page",
        ),
        (
            "ftl.mapping=superblocks",
            "set ftl.reclaim_unit=superblock and ftl.program_unit=word_line and ftl.unit=4KiB",
        ),
        ("superblocks.unit=8KiB", "set ftl.unit=8KiB"),
        ("superblocks.word_line=2", "set flash.word_line=2"),
    ] {
        let set = vec![old.to_string()];
        let spec = DeviceSpec { device: "nvme-pm9a3".into(), set, ..DeviceSpec::default() };
        let resolved = resolve(&spec.source().unwrap(), &Scheme::none(), &spec);
        let reported = resolved.unwrap_err().to_string();
        assert!(reported.contains("is no longer a key"), "{reported}");
        assert!(reported.ends_with(&format!("hint: {new}")), "{reported}");
    }
}

/// The default of a unit is a page, whatever its size; a size is one that the key takes.
#[test]
fn a_unit_is_a_page_or_a_size() {
    let with = |unit: &str| {
        let set = vec![format!("ftl.unit={unit}")];
        let spec = DeviceSpec { device: "nvme-pm9a3".into(), set, ..DeviceSpec::default() };
        resolve(&spec.source().unwrap(), &Scheme::none(), &spec)
    };
    for (unit, bytes, printed) in [
        ("page", 16 << 10, "unit = \"page\""),
        ("16KiB", 16 << 10, "unit = \"16KiB\""),
        ("2048B", 2048, "unit = \"2KiB\""),
    ] {
        let drive = with(unit).unwrap();
        assert_eq!(drive.config.unit().0, bytes);
        assert!(drive.text.contains(printed), "{}", drive.text);
        assert_eq!(parse_device(&drive.text, "printed").unwrap().config, drive.config);
    }
    for (unit, why) in [
        ("half", "`half` is neither a page nor a size with its unit"),
        ("4", "`4` is neither a page nor a size with its unit"),
        ("256B", "256B is outside 512B to 1MiB"),
        ("2MiB", "2MiB is outside 512B to 1MiB"),
    ] {
        let reported = with(unit).unwrap_err().to_string();
        assert!(reported.contains(why), "{reported}");
    }
}
