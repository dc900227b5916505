//! Events of one nanosecond (S15), on one die and on a whole drive: see `ties.toml`.

use crate::support::{scheme, small};
use fowler_device::{ChipCommand, ChipOp, Completion, Device, Pacing, run_chip};
use fowler_units::{HostIo, HostOp, Nanos};

fn cases() -> Vec<toml::Table> {
    let table: toml::Table = include_str!("../ties.toml").parse().expect("cases");
    let cases = table["case"].as_array().expect("a list");
    cases.iter().map(|case| case.as_table().expect("a case").clone()).collect()
}

fn microseconds(value: &toml::Value) -> Nanos {
    Nanos(value.as_integer().expect("a whole number of microseconds") as u64 * 1000)
}

fn commands(case: &toml::Table) -> Vec<(Nanos, &str)> {
    let commands = case["commands"].as_array().expect("a list");
    commands
        .iter()
        .map(|it| (microseconds(&it[0]), it[1].as_str().expect("an operation")))
        .collect()
}

#[test]
fn on_one_die() {
    for case in cases() {
        let given: Vec<ChipCommand> = commands(&case)
            .into_iter()
            .map(|(at, name)| {
                let op =
                    ChipOp::ALL.iter().find(|(known, _)| *known == name).expect("an operation");
                ChipCommand { at, op: op.1 }
            })
            .collect();
        for (name, done) in case["done"].as_table().expect("by scheme") {
            let mut config = small();
            scheme(&mut config, name);
            let results = run_chip(&config, &given);
            let results: Vec<Nanos> = results.iter().map(|it| it.done).collect();
            let expected: Vec<Nanos> =
                done.as_array().expect("a list").iter().map(microseconds).collect();
            assert_eq!(results, expected, "{name}: {}", case["why"]);
        }
    }
}

/// Runs the cases that a host can ask for through the whole drive, of one die that owns its
/// channel.
#[test]
fn on_a_drive() {
    let mut asked = 0;
    for case in cases() {
        let page = |number: usize| number as u64 * 2 * 4096;
        let given: Option<Vec<HostIo>> = commands(&case)
            .into_iter()
            .enumerate()
            .map(|(number, (at, name))| {
                let op = match name {
                    "read" => HostOp::Read,
                    "write" => HostOp::Write,
                    _ => return None,
                };
                Some(HostIo::new(op, at, page(number), 4096))
            })
            .collect();
        let Some(given) = given else { continue };
        for (name, done) in case["done"].as_table().expect("by scheme") {
            let mut config = small();
            config.geometry.channels = 1;
            config.geometry.chips_per_channel = 1;
            config.geometry.planes_per_die = 1;
            scheme(&mut config, name);
            let mut device = Device::new(&config).expect("a drive that works");
            let mut completions: Vec<Completion> = Vec::new();
            device.run(given.iter().copied(), Pacing::Open, &mut completions);
            let expected: Vec<Nanos> =
                done.as_array().expect("a list").iter().map(microseconds).collect();
            let results: Vec<Nanos> = given
                .iter()
                .map(|io| completions.iter().find(|it| it.io == *io).expect("an answer").done)
                .collect();
            assert_eq!(results, expected, "{name}: {}", case["why"]);
            asked += 1;
        }
    }
    assert!(asked >= 12, "{asked} cases");
}
