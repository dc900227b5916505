//! Compares the closed forms with independently computed oracles. A few points are in this file;
//! the full tables are outside of the repository.

use crate::support::{MLC, SLC};
use fowler_tests::shared_folder;
use fowler_theory::die::{self, Load, Suspension};
use fowler_theory::gc::{self, Part};
use serde_json::{Value, json};

fn oracle(name: &str) -> Option<Value> {
    let path = shared_folder::path(&format!("oracles/{name}"), "closed forms against an oracle")?;
    let text = std::fs::read_to_string(path).expect("text");
    Some(serde_json::from_str(&text).expect("the oracle is JSON"))
}

/// Reports a value that deviates from the expected one by more than the share `most`.
struct Compare(f64, Vec<String>);

impl Compare {
    fn with(&mut self, what: &str, expected: f64, found: Option<f64>) {
        let off = found.map(|found| found / expected - 1.0);
        if off.is_none_or(|off| off.is_nan() || off.abs() > self.0) {
            self.1.push(format!("{what}: {expected} expected, {found:?} found ({off:?})"));
        }
    }

    fn finish(self) {
        assert!(self.1.is_empty(), "\n{}", self.1.join("\n"));
    }
}

fn compare_queueing(rows: &Value) {
    let mut compare = Compare(1e-9, Vec::new());
    for row in rows.as_array().unwrap() {
        let number = |key: &str| row[key].as_f64().unwrap();
        let times = if row["flash"] == "SLC" { SLC } else { MLC };
        let load = Load::offered(&times, number("rho"), number("read_frac"));
        compare.with("reads", number("lam_r_per_s"), Some(load.reads * 1e6));
        compare.with("writes", number("lam_w_per_s"), Some(load.writes * 1e6));
        let name =
            |what: &str| format!("{} {} {} {what}", row["flash"], row["rho"], row["read_frac"]);
        for (key, means) in [
            ("FIFO", die::fifo(&times, &load)),
            ("RPS", die::read_first(&times, &load)),
            ("PR0", die::preemptive_resume(&times, &load)),
        ] {
            let (read, write) = (format!("{key}_read"), format!("{key}_write"));
            compare.with(&name(&read), number(&read), means.map(|it| it.read));
            compare.with(&name(&write), number(&write), means.map(|it| it.write));
        }
        for (key, suspension) in [("IPS", Suspension::InterPhase), ("IPC", Suspension::IntraPhase)]
        {
            let means = suspension.means(&times, &load);
            let (read, ec, susp) =
                (format!("{key}_read"), format!("{key}_EC"), format!("{key}_susp"));
            compare.with(&name(&read), number(&read), means.map(|it| it.read));
            compare.with(&name(&ec), number(&ec), means.map(|it| it.completion));
            compare.with(&name(&susp), number(&susp), means.map(|it| it.suspensions));
        }
    }
    compare.finish();
}

#[test]
fn queues_agree_with_the_rows_carried_along() {
    compare_queueing(&json!([
        {"flash": "SLC", "rho": 0.3, "read_frac": 0.2,
         "lam_r_per_s": 447.7611940298508, "lam_w_per_s": 1791.0447761194032,
         "FIFO_read": 63.03837953091685, "FIFO_write": 193.03837953091684,
         "RPS_read": 53.441754916792746, "RPS_write": 193.48822130970393,
         "PR0_read": 30.20423600605144, "PR0_write": 195.66673870758592,
         "IPS_read": 32.673222390317704, "IPC_read": 31.44316577967891,
         "IPS_EC": 162.2758818469287, "IPC_EC": 163.12057476463508,
         "IPS_susp": 0.06779419784027763, "IPC_susp": 0.0700617604816947},
        {"flash": "MLC", "rho": 0.7, "read_frac": 0.8,
         "lam_r_per_s": 2916.6666666666674, "lam_w_per_s": 729.1666666666666,
         "FIFO_read": 681.0243055555554, "FIFO_write": 1316.0243055555554,
         "RPS_read": 293.0398457583548, "RPS_write": 1460.1328191945158,
         "PR0_read": 72.60282776349615, "PR0_write": 1623.8860325621254,
         "IPS_read": 79.90874035989717, "IPC_read": 75.60481412163132,
         "IPS_EC": 865.2275363577595, "IPC_EC": 918.6555070945045,
         "IPS_susp": 1.9065730022263188, "IPC_susp": 2.115456401861277},
    ]));
}

fn compare_gc(oracle: &Value) {
    let number = |value: &Value| value.as_f64().unwrap();
    let mut compare = Compare(1e-9, Vec::new());
    for row in oracle["table"].as_array().unwrap() {
        let load = number(&row["rho"]);
        compare.with(&format!("fifo {load}"), number(&row["fifo"]), gc::fifo(load));
        compare.with(&format!("random {load}"), number(&row["random"]), gc::random(load));
        for (pages, waf) in row["greedy"].as_object().unwrap() {
            let found = gc::greedy(load, pages.parse().unwrap());
            compare.with(&format!("greedy {load} {pages}"), number(waf), found);
        }
        for (d, waf) in row["d64"].as_object().unwrap() {
            let found = gc::d_choices(load, 64, d.parse().unwrap());
            compare.with(&format!("d {d} {load}"), number(waf), found);
        }
    }
    for row in oracle["mc"].as_array().unwrap() {
        let (name, pages, load) = (row[0].as_str().unwrap(), row[1].as_u64(), number(&row[2]));
        let pages = pages.unwrap() as u32;
        // Computed for a simulation of 2,000 blocks, of which half an open block and one erased
        // block hold no data and do not count in the load.
        let load = load * 2000.0 / (2000.0 - 1.5);
        let hot = |writes, pages| gc::fifo_one_pool(load, &Part::hot_and_cold(writes, pages));
        let found = match name {
            "greedy" => gc::greedy(load, pages),
            "fifo" => gc::fifo(load),
            "random" | "random hot/cold 0.8/0.2" | "random hot/cold 0.9/0.1" => {
                gc::d_choices(load, pages, 1)
            }
            "d=2" => gc::d_choices(load, pages, 2),
            "d=10" => gc::d_choices(load, pages, 10),
            "fifo hot/cold 0.8/0.2" => hot(0.8, 0.2),
            "fifo hot/cold 0.9/0.1" => hot(0.9, 0.1),
            other => panic!("no closed form for {other}"),
        };
        compare.with(&format!("{name} {pages} {load}"), number(&row[3]), found);
    }
    for row in oracle["hotcold"].as_array().unwrap() {
        let load = 1.0 / number(&row["alpha"]);
        let parts = Part::hot_and_cold(number(&row["r"]), number(&row["f"]));
        let mixed = gc::fifo_one_pool(load, &parts);
        compare.with(&format!("mixed {row}"), number(&row["fifo_mixed"]), mixed);
        let split = gc::fifo_two_pools(load, &parts).expect("a sound load");
        // The oracle tried shares in steps of 0.001.
        let grid = split.waf / number(&row["split_opt"]) - 1.0;
        assert!((-1e-5..1e-9).contains(&grid), "{split:?} {row}: {grid:e}");
        assert!((split.spare_hot - number(&row["share_hot"])).abs() < 1e-3, "{split:?} {row}");
    }
    compare.finish();
}

#[test]
fn gc_agrees_with_the_rows_carried_along() {
    compare_gc(&json!({
        "table": [{"rho": 0.8695652173913044, "fifo": 4.0160311413924, "random": 7.666666666666671,
            "greedy": {"16": 3.284659557013948, "256": 3.9595708901091626},
            "d64": {"2": 5.312331857819506, "10": 3.930414747036692}}],
        "mc": [
            ["greedy", 64, 0.92, 5.922021176057965], ["d=10", 16, 0.75, 2.0689119933063136],
            ["random", 16, 0.85, 6.695142378559464],
            ["fifo hot/cold 0.9/0.1", 64, 0.85, 4.444921012228194]],
        "hotcold": [{"alpha": 1.1, "r": 0.9, "f": 0.1, "fifo_mixed": 6.681559882217756,
            "split_opt": 2.511306540186972, "share_hot": 0.495}],
    }));
}

mod shared_files {
    use super::*;

    #[test]
    fn queues_agree_with_every_row_of_the_oracle() {
        let Some(oracle) = oracle("queueing.json") else { return };
        compare_queueing(&oracle["rows"]);
    }

    #[test]
    fn gc_agrees_with_every_row_of_the_oracle() {
        let Some(oracle) = oracle("gc.json") else { return };
        compare_gc(&oracle);
    }
}
