//! The criterion of steady state against verdicts that were computed in exact arithmetic.

use fowler_standards::series;
use fowler_tests::shared_folder;
use serde_json::Value;
use std::path::Path;

/// Compares our verdict on each series of a file with that in the file. Returns how many there
/// were.
fn agree(path: &Path) -> usize {
    let text = std::fs::read_to_string(path).unwrap();
    let file: Value = serde_json::from_str(&text).unwrap();
    let ours = series::parse(&text, "cases").unwrap_or_else(|wrong| panic!("{wrong}")).json();
    let (theirs, ours) = (file["cases"].as_array().unwrap(), ours["cases"].as_array().unwrap());
    assert_eq!(theirs.len(), ours.len());
    for (theirs, ours) in theirs.iter().zip(ours) {
        for exact in ["id", "kind", "values", "steady_round", "window"] {
            assert_eq!(ours[exact], theirs[exact], "{exact} of {theirs}");
        }
        // Slopes are differences of values: their error is one of the values.
        let scale = theirs["average"].as_f64().unwrap_or(1.0);
        for near in ["average", "data_excursion", "slope", "slope_excursion", "intercept"] {
            let pair = (ours[near].as_f64(), theirs[near].as_f64());
            let agree = match pair {
                (Some(ours), Some(theirs)) => (ours - theirs).abs() <= 1e-9 * scale,
                (ours, theirs) => ours == theirs,
            };
            assert!(agree, "{near}: {pair:?} of {theirs}");
        }
        assert_eq!(ours.as_object().unwrap().len(), theirs.as_object().unwrap().len());
    }
    theirs.len()
}

#[test]
fn every_verdict_of_our_own_cases_is_met() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/pts/steady.json");
    assert_eq!(agree(&path), 18);
}

mod shared_files {
    use super::*;

    #[test]
    fn every_verdict_of_the_oracle_is_met() {
        let file = "oracles/pts_steady.json";
        let Some(path) = shared_folder::path(file, "verdicts on steady states") else { return };
        assert_eq!(agree(&path), 100);
    }
}
