//! One die under Poisson arrivals against closed forms: FIFO by Pollaczek-Khinchine, read priority by
//! Cobham, and the exact means under inter-phase suspension and intra-phase cancellation.
//!
//! Seeds are fixed, so that the outcome is too. The tolerance is what 300,000 requests of a queue at
//! 70 % load scatter by (3 % on means of waits); the full validation runs a million.

mod support;

use fowler_device::{ChipCommand, ChipOp, ChipResult, run_chip};
use fowler_units::{Nanos, Rng};
use serde_json::Value;
use std::io::Write as _; // a direct write: what a test prints is captured
use support::{mlc, scheme, slc, small};

const ORACLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/oracles/queueing.json");
const REQUESTS: usize = 300_000;
const TOLERANCE: f64 = 0.03;

fn poisson(row: &Value) -> Vec<ChipCommand> {
    let per_s = |key: &str| row[key].as_f64().unwrap();
    let (reads, writes) = (per_s("lam_r_per_s"), per_s("lam_w_per_s"));
    let mut rng = Rng::stream(1, "theory");
    let mut at = 0.0;
    (0..REQUESTS)
        .map(|_| {
            at += -(1.0 - rng.unit()).ln() / (reads + writes) * 1e9;
            let read = rng.chance(reads / (reads + writes));
            let op = if read { ChipOp::Read } else { ChipOp::Write };
            ChipCommand { at: Nanos(at as u64), op }
        })
        .collect()
}

fn mean_us(
    commands: &[ChipCommand],
    results: &[ChipResult],
    op: ChipOp,
    of: impl Fn(&ChipCommand, &ChipResult) -> f64,
) -> f64 {
    let of_kind = commands.iter().zip(results).filter(|(command, _)| command.op == op);
    let (sum, count) =
        of_kind.fold((0.0, 0.0), |(sum, count), (c, r)| (sum + of(c, r), count + 1.0));
    sum / count
}

#[test]
fn means_agree_with_the_closed_forms() {
    let Ok(text) = std::fs::read_to_string(ORACLE) else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: no closed forms at {ORACLE}");
        return;
    };
    let oracle: Value = serde_json::from_str(&text).expect("the oracle is JSON");
    let latency = |c: &ChipCommand, r: &ChipResult| (r.done - c.at).as_us();
    let mut problems = Vec::new();
    for row in oracle["rows"].as_array().unwrap() {
        let commands = poisson(row);
        for (name, key) in
            [("FIFO", "FIFO"), ("RPS", "RPS"), ("PES_IPS", "IPS"), ("PES_IPC", "IPC")]
        {
            let mut config = small();
            config.timing = if row["flash"] == "SLC" { slc() } else { mlc() };
            scheme(&mut config, name);
            let results = run_chip(&config, &commands);
            let mut expect = |what: &str, measured: f64| {
                let Some(theory) = row[what].as_f64() else { return };
                let off = measured / theory - 1.0;
                if off.abs() > TOLERANCE {
                    let (flash, rho, share) = (&row["flash"], &row["rho"], &row["read_frac"]);
                    problems.push(format!(
                        "{flash} rho {rho} reads {share} {what}: {measured:.3}, theory {theory:.3}, \
                         {:+.1} %",
                        100.0 * off
                    ));
                }
            };
            let (reads, writes) = (ChipOp::Read, ChipOp::Write);
            expect(&format!("{key}_read"), mean_us(&commands, &results, reads, latency));
            expect(&format!("{key}_write"), mean_us(&commands, &results, writes, latency));
            let service = |_: &ChipCommand, r: &ChipResult| (r.done - r.start).as_us();
            expect(&format!("{key}_EC"), mean_us(&commands, &results, writes, service));
            let suspended = |_: &ChipCommand, r: &ChipResult| f64::from(r.suspensions);
            expect(&format!("{key}_susp"), mean_us(&commands, &results, writes, suspended));
        }
    }
    assert!(problems.is_empty(), "\n{}", problems.join("\n"));
}
