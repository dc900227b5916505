//! No text makes the parsers of devices and workloads panic: 10^5 mutated descriptions, from one
//! seed.

use fowler_experiment::device_spec::parse_device;
use fowler_experiment::generator::check;
use fowler_experiment::presets::Folder;
use fowler_units::Rng;

/// Pieces that mean something to the parser, put in where random bytes rarely would.
const PIECES: &[&str] = &[
    "[",
    "]",
    "[[",
    "{",
    "}",
    "=",
    ".",
    ",",
    "\"",
    "'''",
    "\"\"\"",
    "#",
    "\n",
    "\\u0000",
    "\u{feff}",
    "nan",
    "-inf",
    "1e400",
    "-0.0",
    "0x",
    "99999999999999999999",
    "18446744073709551615",
    "us",
    "KiB",
    "0B",
    "-1",
    "name",
    "policy.suspension",
    "true",
    "1979-05-27",
    "é",
    "\u{1b}",
];

fn mutate(text: &[u8], other: &[u8], rng: &mut Rng) -> Vec<u8> {
    let mut mutant = text.to_vec();
    for _ in 0..=rng.below(3) {
        let at = rng.below(mutant.len() as u64 + 1) as usize;
        let end = (at + rng.below(40) as usize).min(mutant.len());
        match rng.below(6) {
            0 => mutant.truncate(at),
            1 => drop(mutant.drain(at..end)),
            2 => {
                let piece = PIECES[rng.below(PIECES.len() as u64) as usize];
                mutant.splice(at..at, piece.bytes());
            }
            3 => {
                let from = rng.below(other.len() as u64) as usize;
                let to = (from + 60).min(other.len());
                mutant.splice(at..end, other[from..to].iter().copied());
            }
            4 => drop(mutant.splice(at..at, text[at.min(text.len())..].iter().take(30).copied())),
            _ => {
                if let Some(byte) = mutant.get_mut(at) {
                    *byte = rng.bits() as u8;
                }
            }
        }
    }
    mutant
}

/// The texts of presets without their comments, so that most mutations hit something that counts.
fn bare(folder: Folder) -> Vec<String> {
    let line = |line: &'static str| line.split(" #").next().unwrap_or("").trim_end();
    folder
        .presets()
        .iter()
        .map(|preset| preset.text.lines().filter(|it| !it.starts_with('#')).map(line))
        .map(|lines| lines.collect::<Vec<_>>().join("\n"))
        .collect()
}

/// A table of bit errors, which no preset has.
const TABLE: &str = "
[reliability.table]
cycles = [0, 1500, 3e3]
ages = [\"0s\", \"36h\", \"30d\"]
rates = [[1e-4, 2e-4, 3e-4], [2e-4, 1e-3, 2e-3], [1e-3, 8e-3, 0.4]]
";

/// The presets of devices, and one with a table in the place of its model.
fn devices() -> Vec<String> {
    let mut seeds = bare(Folder::Devices);
    let errs = seeds.iter().find(|text| text.contains("\"analytic\"")).expect("a drive that errs");
    seeds.push(errs.replace("\"analytic\"", "\"table\"") + TABLE);
    for seed in &seeds {
        assert!(parse_device(seed, "seed.toml").is_ok(), "{seed}");
    }
    seeds
}

/// Feeds mutants to `parse`, which returns the text that an accepted mutant prints as.
fn survive(
    (folder, seeds): (Folder, Vec<String>),
    rounds: usize,
    parse: impl Fn(&str) -> Result<String, fowler_experiment::diagnostic::Diagnostics>,
) {
    let mut rng = Rng::stream(1, &format!("tests/mutations/{}", folder.word()));
    let mut accepted = 0;
    for round in 0..rounds {
        let (seed, other) = (&seeds[round % seeds.len()], &seeds[(round + 1) % seeds.len()]);
        let mutant = mutate(seed.as_bytes(), other.as_bytes(), &mut rng);
        match parse(&String::from_utf8_lossy(&mutant)) {
            Ok(printed) => {
                accepted += 1;
                assert_eq!(parse(&printed).as_ref(), Ok(&printed), "what is printed reads back");
            }
            Err(diagnostics) => {
                assert!(!diagnostics.0.is_empty());
                assert!(!diagnostics.to_string().is_empty());
            }
        }
    }
    assert!((rounds / 1000..rounds).contains(&accepted), "{accepted} mutants were accepted");
}

// Slow: 60,000 mutants of the presets, each read as a whole file.
#[test]
fn mutated_devices_never_panic() {
    survive((Folder::Devices, devices()), 60_000, |text| {
        Ok(parse_device(text, "mutant.toml")?.text)
    });
}

// Slow: 40,000 mutants of the presets, each read as a whole file.
#[test]
fn mutated_workloads_never_panic() {
    let seeds = (Folder::Workloads, bare(Folder::Workloads));
    survive(seeds, 40_000, |text| check(text, "mutant.toml", 1 << 36));
}
