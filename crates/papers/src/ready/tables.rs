//! The paper's tables, and the numbers of its figures.

use super::claims::{ACCURACY, DEMAND, TABLE_2};
use super::paper::Paper;
use super::plan::{Change, Evidence, Life, SCHEMES};
use fowler_experiment::tables::{Cell, Sheet};
use fowler_physics::recovery::Reading;
use fowler_units::Span;

/// Returns every table.
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
        Sheet::new("table1", "Table 1: traces, and the stand-ins calibrated to it", &heads);
    for trace in &paper.trace {
        let printed = |what: &str| paper.number(DEMAND, &format!("{} {what}", trace.name));
        let replay_speed = evidence.minutes(&trace.name).map(|minutes| {
            minutes.iter().sum::<f64>() * 4096.0 / (1u64 << 30) as f64 * 60.0 / minutes.len() as f64
        });
        sheet.row(vec![
            trace.name.as_str().into(),
            Cell::number(printed("GB/h")),
            Cell::number(replay_speed),
            Cell::number(printed("WAF")),
            Cell::number(evidence.number(&trace.name, "nt", |it| it.waf)),
            trace.device.as_str().into(),
        ]);
    }
    sheet
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
    let mut sheet = Sheet::new("table2", "Table 2: data written in five years (TB)", &heads);
    for row in TABLE_2 {
        let ours =
            |of: fn(&Life) -> Option<f64>| Cell::number(evidence.number(row.trace, row.scheme, of));
        sheet.row(vec![
            row.trace.into(),
            row.called.into(),
            ours(|it| it.c_ssd_tb),
            Cell::number(paper.number(row.id, "C'_ssd")),
            ours(|it| it.c_ssd_recovered_tb),
            Cell::number(paper.number(row.id, "W_work")),
            ours(|it| it.w_work_tb),
            Cell::share(evidence.change(row.trace, row.scheme).and_then(|it| it.w_work_tb)),
        ]);
    }
    sheet
}

/// What each reading of equation 2 makes of the W_work of Table 2.
fn readings(paper: &Paper) -> Sheet {
    let heads = ["trace", "scheme", "C'_ssd, printed", "spread", "refit", "literal"];
    let title =
        "C'_ssd of Table 2 (TB) computed from its W_work, under each reading of the recovery";
    let mut sheet = Sheet::new("readings", title, &heads);
    for row in TABLE_2 {
        let gb = if row.trace == "proj" { 32.0 } else { 128.0 };
        let printed = Cell::number(paper.number(row.id, "C'_ssd"));
        let mut cells = vec![row.trace.into(), row.called.into(), printed];
        for reading in Reading::ALL {
            let writable =
                paper.number(row.id, "W_work").map(|written| writable(reading, gb, written));
            cells.push(Cell::number(writable));
        }
        sheet.row(cells);
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

/// Returns what a drive of `gb` GB endures, in TB, if `written` TB are written in five years.
fn writable(reading: Reading, gb: f64, written: f64) -> f64 {
    let idle = Span((LIFE_S / (written * 1024.0 / gb) * 1e9) as u64);
    reading.achievable(idle) * gb / 1024.0
}

/// Table 3.
fn accuracy(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = ["stand-in", "printed", "epochs predicted correctly", "final epoch (s)"];
    let mut sheet =
        Sheet::new("table3", "Table 3: accuracy of the prediction of write demand", &heads);
    for trace in &paper.trace {
        let ours = |of: fn(&Life) -> Option<f64>| evidence.number(&trace.name, "ready_opt", of);
        sheet.row(vec![
            trace.name.as_str().into(),
            Cell::share(paper.number(ACCURACY, &trace.name)),
            Cell::share(ours(|it| it.accuracy)),
            Cell::number(ours(|it| it.epoch_s)),
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
        "stops per million",
        "K",
        "years at 2 K",
        "mean at 2 K",
    ];
    let mut sheet = Sheet::new("lives", "Figures 10 to 12: simulated lives of five years", &heads);
    for trace in &paper.trace {
        for (scheme, called) in SCHEMES {
            let name = trace.name.as_str();
            let of = |of: fn(&Life) -> Option<f64>| Cell::number(evidence.number(name, scheme, of));
            let change = |of: fn(&Change) -> Option<f64>| {
                Cell::share(evidence.change(name, scheme).and_then(of))
            };
            sheet.row(vec![
                name.into(),
                called.into(),
                of(|it| it.effective_lifetime_years),
                of(|it| Some(it.w_work_tb? / it.c_ssd_recovered_tb?)),
                of(|it| it.response_mean_us),
                of(|it| it.response_deviation_us),
                of(|it| it.response_p99_us),
                of(|it| it.response_p9999_us),
                of(|it| it.stops_per_million),
                of(|it| Some(it.dilation)),
                change(|it| it.effective_lifetime_years),
                change(|it| it.response_mean_us),
            ]);
        }
    }
    sheet
}
