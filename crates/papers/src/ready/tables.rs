//! The paper's tables, and the numbers of its figures.

use super::paper::Paper;
use super::plan::{Evidence, SCHEMES};
use fowler_experiment::tables::{Cell, Sheet};
use fowler_physics::recovery::Reading;
use fowler_units::Span;

/// Every table.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Sheet> {
    vec![
        traces(paper, evidence),
        written(paper, evidence),
        readings(paper),
        endured(),
        accuracy(paper, evidence),
        lives(paper, evidence),
    ]
}

/// Table 1.
fn traces(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = ["stand-in", "GB/h, printed", "GB/h", "WAF, printed", "WAF", "drive"];
    let mut sheet =
        Sheet::new("table1", "Table 1: traces, and their stand-ins calibrated to it", &heads);
    for trace in &paper.trace {
        let printed = |what: &str| paper.number("002-032", &format!("{} {what}", trace.name));
        let replay_speed = evidence.minutes(&trace.name).map(|minutes| {
            minutes.iter().sum::<f64>() * 4096.0 / (1u64 << 30) as f64 * 60.0 / minutes.len() as f64
        });
        sheet.row(vec![
            trace.name.as_str().into(),
            Cell::number(printed("GB/h")),
            Cell::number(replay_speed),
            Cell::number(printed("WAF")),
            Cell::number(evidence.life(&trace.name, "nt", "waf")),
            trace.device.as_str().into(),
        ]);
    }
    sheet
}

/// The rows of Table 2 by their place.
pub(super) fn row_of_table_2(at: usize) -> (&'static str, &'static str, &'static str, String) {
    let (scheme, called) = SCHEMES[at % 5];
    (["proj", "exchange"][at / 5], scheme, called, format!("002-{:03}", 33 + at))
}

/// Table 2.
fn written(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = [
        "stand-in",
        "scheme",
        "C_ssd",
        "C'_ssd, printed",
        "C'_ssd",
        "W_work, printed",
        "W_work",
        "at 2 K",
    ];
    let mut sheet = Sheet::new("table2", "Table 2: written in five years (TB)", &heads);
    for at in 0..10 {
        let (trace, scheme, called, id) = row_of_table_2(at);
        let ours = |key: &str| Cell::number(evidence.life(trace, scheme, key));
        sheet.row(vec![
            trace.into(),
            called.into(),
            ours("c_ssd_tb"),
            Cell::number(paper.number(&id, "C'_ssd")),
            ours("c_ssd_recovered_tb"),
            Cell::number(paper.number(&id, "W_work")),
            ours("w_work_tb"),
            Cell::share(evidence.change(trace, scheme, "w_work_tb")),
        ]);
    }
    sheet
}

/// What each reading of equation 2 makes of the W_work of Table 2.
fn readings(paper: &Paper) -> Sheet {
    let heads = ["trace", "scheme", "C'_ssd, printed", "spread", "refit", "literal"];
    let title = "Table 2's C'_ssd (TB) by its own W_work, under each reading of the recovery";
    let mut sheet = Sheet::new("readings", title, &heads);
    for at in 0..10 {
        let (trace, _, called, id) = row_of_table_2(at);
        let gb = if trace == "proj" { 32.0 } else { 128.0 };
        let mut row = vec![trace.into(), called.into(), Cell::number(paper.number(&id, "C'_ssd"))];
        for reading in Reading::ALL {
            let writable =
                paper.number(&id, "W_work").map(|written| writable(reading, gb, written));
            row.push(Cell::number(writable));
        }
        sheet.row(row);
    }
    sheet
}

/// Figure 1, as numbers: the paper prints none.
fn endured() -> Sheet {
    let heads = ["mean idle time (h)", "spread", "refit", "literal"];
    let mut sheet = Sheet::new("figure1", "Figure 1: achievable P/E cycles by idle time", &heads);
    for hours in [0.0, 0.1, 1.0, 6.0, 24.0, 168.0, 720.0] {
        let idle = Span((hours * 3.6e12) as u64);
        let mut row = vec![Cell::Number(hours)];
        row.extend(Reading::ALL.map(|reading| Cell::Number(reading.achievable(idle))));
        sheet.row(row);
    }
    sheet
}

/// Five years, in seconds.
const LIFE_S: f64 = 5.0 * 365.0 * 86_400.0;

/// What a drive of so many GB endures, in TB, that is written with `written` TB in five years.
fn writable(reading: Reading, gb: f64, written: f64) -> f64 {
    let idle = Span((LIFE_S / (written * 1024.0 / gb) * 1e9) as u64);
    reading.achievable(idle) * gb / 1024.0
}

/// Table 3.
fn accuracy(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = ["stand-in", "printed", "epochs that came as foreseen", "epoch in the end (s)"];
    let mut sheet =
        Sheet::new("table3", "Table 3: accuracy of the prediction of write demand", &heads);
    for trace in &paper.trace {
        let ours = |key: &str| evidence.life(&trace.name, "ready_opt", key);
        sheet.row(vec![
            trace.name.as_str().into(),
            Cell::share(paper.number("002-048", &trace.name)),
            Cell::share(ours("accuracy")),
            Cell::number(ours("epoch_s")),
        ]);
    }
    sheet
}

/// Figures 10 to 12 as numbers.
fn lives(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = [
        "stand-in",
        "scheme",
        "years",
        "W_work / C'_ssd",
        "page write, mean (us)",
        "deviation (us)",
        "p99 (us)",
        "p99.99 (us)",
        "stops in a million",
        "K",
        "years at 2 K",
        "mean at 2 K",
    ];
    let mut sheet = Sheet::new("lives", "Figures 10 to 12: lives of five years", &heads);
    for trace in &paper.trace {
        for (scheme, called) in SCHEMES {
            let name = trace.name.as_str();
            let of = |key: &str| evidence.life(name, scheme, key);
            let used = of("w_work_tb").zip(of("c_ssd_recovered_tb")).map(|(work, all)| work / all);
            let change = |key: &str| Cell::share(evidence.change(name, scheme, key));
            sheet.row(vec![
                name.into(),
                called.into(),
                Cell::number(of("effective_lifetime_years")),
                Cell::number(used),
                Cell::number(of("response_mean_us")),
                Cell::number(of("response_deviation_us")),
                Cell::number(of("response_p99_us")),
                Cell::number(of("response_p9999_us")),
                Cell::number(of("stops_per_million")),
                Cell::number(of("dilation")),
                change("effective_lifetime_years"),
                change("response_mean_us"),
            ]);
        }
    }
    sheet
}
