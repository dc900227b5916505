//! One die against the hand-derived cases: every moment to the nanosecond, every suspension
//! counted.

use crate::support::{mlc, scheme, slc, small};
use fowler_device::{ChipCommand, ChipOp, Config, run_chip};
use fowler_nand::{CancelledProgram, Reload};
use fowler_tests::shared_folder;
use fowler_units::Nanos;
use serde_json::Value;

fn oracle() -> Option<Value> {
    let path = shared_folder::path("oracles/pes_cases.json", "the golden cases of a die")?;
    let text = std::fs::read_to_string(path).expect("text");
    Some(serde_json::from_str(&text).expect("the oracle is JSON"))
}

fn config(case: &Value) -> Config {
    let mut config = small();
    config.timing = if case["flash"] == "SLC" { slc() } else { mlc() };
    scheme(&mut config, case["policy"].as_str().unwrap());
    if case["opts"]["redo"] == false {
        config.suspension.cancelled_program = CancelledProgram::Reached;
    }
    if case["opts"]["reload"] == "finish" {
        config.suspension.reload = Reload::Finish;
    }
    config
}

fn at(us: &Value) -> Nanos {
    Nanos((us.as_f64().unwrap() * 1000.0).round() as u64)
}

fn op(name: &Value) -> ChipOp {
    ChipOp::ALL.iter().find(|(known, _)| name == known).expect("a known op").1
}

mod shared_files {
    use super::*;

    #[test]
    fn every_case_of_one_operation_and_its_reads() {
        let Some(oracle) = oracle() else { return };
        let cases = oracle["cases"].as_array().unwrap();
        assert!(cases.len() >= 50);
        for case in cases {
            let mut commands = vec![ChipCommand { at: Nanos(0), op: op(&case["op"]) }];
            for read in case["reads"].as_array().unwrap() {
                commands.push(ChipCommand { at: at(read), op: ChipOp::Read });
            }
            let results = run_chip(&config(case), &commands);
            assert_eq!(results[0].done, at(&case["op_done"]), "operation: {case}");
            assert_eq!(
                u64::from(results[0].suspensions),
                case["suspensions"],
                "suspensions: {case}"
            );
            for (result, done) in results[1..].iter().zip(case["read_done"].as_array().unwrap()) {
                assert_eq!(result.done, at(done), "read: {case}");
            }
        }
    }

    #[test]
    fn every_case_of_a_queue() {
        let Some(oracle) = oracle() else { return };
        for case in oracle["queue_cases"].as_array().unwrap() {
            let requests = case["reqs"].as_array().unwrap();
            let commands: Vec<_> = requests
                .iter()
                .map(|request| ChipCommand { at: at(&request[0]), op: op(&request[1]) })
                .collect();
            let results = run_chip(&config(case), &commands);
            for (number, result) in results.iter().enumerate() {
                assert_eq!(result.done, at(&case["done"][number]), "request {number}: {case}");
                assert_eq!(u64::from(result.suspensions), case["susp"][number], "{number}: {case}");
            }
        }
    }
}
