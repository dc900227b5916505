//! Decoder of drive descriptions.

use crate::refused_in_words;
use fowler_experiment::device_spec::parse_device;
use fowler_experiment::presets::Folder;

/// An accepted device prints as text that gives the same device again.
pub fn check(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    match parse_device(text, "fuzz.toml") {
        Err(diagnostics) => refused_in_words(&diagnostics),
        Ok(resolved) => {
            let again = parse_device(&resolved.text, "again.toml");
            let again = again.unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
            assert_eq!(again.hash, resolved.hash);
            true
        }
    }
}

/// Cell errors from a table, which no preset has.
const TABLE: &str = "
[reliability.table]
cycles = [0, 1500, 3e3]
ages = [\"0s\", \"36h\", \"30d\"]
rates = [[1e-4, 2e-4, 3e-4], [2e-4, 1e-3, 2e-3], [1e-3, 8e-3, 0.4]]
";

pub fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = bare(Folder::Devices);
    let errs = seeds.iter().find(|text| text.contains("\"analytic\"")).expect("a drive that errs");
    seeds.push(errs.replace("\"analytic\"", "\"table\"") + TABLE);
    seeds.into_iter().map(String::into_bytes).collect()
}

/// The texts of presets without their comments, which mean nothing to a parser.
pub(crate) fn bare(folder: Folder) -> Vec<String> {
    let line = |line: &'static str| line.split(" #").next().unwrap_or("").trim_end();
    let lines = |text: &'static str| {
        let lines = text.lines().filter(|it| !it.starts_with('#')).map(line);
        lines.filter(|it| !it.is_empty()).collect::<Vec<_>>().join("\n")
    };
    folder.presets().iter().map(|preset| lines(preset.text)).collect()
}
