//! The reports about wrong device descriptions. Each file of `tests/config` is a description
//! followed by the expected reports, after a line of dashes.
//!
//! `FOWLER_BLESS=1 cargo test -p fowler-experiment --test all config_errors::` (in `make bless`)
//! writes the current reports into the files.

use fowler_experiment::device_spec::parse_device;
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
