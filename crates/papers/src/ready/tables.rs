//! Tables of the READY paper, and the numbers of its figures.

use super::claims::{ACCURACY, BELOW, DEMAND, TABLE_2};
use super::paper::Paper;
use super::plan::{Change, Evidence, Life, OF_OPTIONS, READINGS, SCHEMES, read_as, writable};
use fowler_experiment::tables::{Cell, Sheet};
use fowler_physics::recovery::Reading;
use fowler_units::Span;

/// Returns the tables of the READY study: those of the paper, and those on choices and errors of
/// the reproduction.
pub(super) fn shown(paper: &Paper, evidence: &Evidence) -> Vec<Sheet> {
    vec![
        traces(paper, evidence),
        written(paper, evidence),
        readings(paper),
        demand(paper, evidence),
        endured(),
        accuracy(paper, evidence),
        lives(paper, evidence),
        by_reading(paper, evidence),
        options(paper, evidence),
        duty(paper, evidence),
        days(paper, evidence),
        simulated(paper, evidence),
        runs(evidence),
    ]
}

/// Returns Table 1 of the READY paper: traces, their demand and write amplification, and those of
/// the stand-in traces.
fn traces(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = ["stand-in", "GB/h, printed", "GB/h", "WAF, printed", "WAF", "drive"];
    let mut sheet =
        Sheet::new("table1", "Table 1: traces, and the stand-ins calibrated to it", &heads);
    for trace in &paper.trace {
        let printed = |what: &str| paper.number(DEMAND, &format!("{} {what}", trace.name));
        sheet.row(vec![
            trace.name.as_str().into(),
            Cell::number(printed("GB/h")),
            Cell::number(evidence.gb_per_hour(&trace.name)),
            Cell::number(printed("WAF")),
            Cell::number(evidence.waf(&trace.name)),
            trace.device.as_str().into(),
        ]);
    }
    sheet
}

/// Returns Table 2 of the READY paper: terabytes written in five years, by trace and scheme.
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

/// Returns the table of C'_ssd (capacity for writes with recovery) that each interpretation of the
/// READY paper's equation 2 gives for the W_work (bytes written) of Table 2.
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

/// Returns Figure 1 of the READY paper as a table of achievable P/E cycles by idle time; the paper
/// prints no numbers for it.
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

/// Lengths of an epoch in minutes for which the table of write demand compares neighbors.
const EPOCHS: [usize; 4] = [10, 30, 60, 120];

/// Largest difference between neighboring epochs, as a share of the first, for which the READY
/// paper counts epochs in its Figure 4.
const NEAR: f64 = 0.3;

/// Returns the table of how alike the write demand of neighboring epochs is, for stand-ins and real
/// traces: the numbers of the READY paper's Figure 4.
fn demand(paper: &Paper, evidence: &Evidence) -> Sheet {
    let epochs = EPOCHS.map(|minutes| format!("{minutes} min"));
    let mut heads = vec!["workload", "source", "hours", "GB/h", "pairs of 30 min with writes"];
    heads.extend(epochs.iter().map(String::as_str));
    let title = "Share of epochs that write within 30 % of what the epoch before wrote, by length";
    let mut sheet = Sheet::new("demand", title, &heads);
    let stand_ins = paper.trace.iter().map(|it| (it.name.as_str(), it.stand_in.as_str()));
    let real = evidence.columns.iter().map(|it| (it.name.as_str(), it.source.as_str()));
    for (name, source) in stand_ins.chain(real) {
        let Some(minutes) = evidence.minutes(name) else { continue };
        let hours = minutes.len() as f64 / 60.0;
        let differences = |minutes| evidence.differences(name, minutes).unwrap_or_default();
        let mut row: Vec<Cell> = vec![
            name.into(),
            source.into(),
            Cell::Number(hours),
            // The last minute counts as a whole one.
            Cell::number(evidence.gb_per_hour(name).filter(|_| hours >= 1.0)),
            Cell::Number(differences(30).len() as f64),
        ];
        row.extend(EPOCHS.map(|minutes| {
            let all = differences(minutes);
            let near = all.iter().filter(|&&it| it < NEAR).count() as f64;
            Cell::share((!all.is_empty()).then(|| near / all.len() as f64))
        }));
        sheet.row(row);
    }
    sheet
}

/// Returns Table 3 of the READY paper: accuracy of the prediction of write demand.
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

/// Returns the table of lives of the drives: the numbers of Figures 10 to 12 of the READY paper.
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
        "repetitions",
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
                of(|it| it.repetitions),
                change(|it| it.effective_lifetime_years),
                change(|it| it.response_mean_us),
            ]);
        }
    }
    sheet
}

/// Returns the capacity of a drive preset in gigabytes.
fn gigabytes(device: &str) -> f64 {
    if device == "ready-32" { 32.0 } else { 128.0 }
}

/// Returns the lifetime in years and the mean response time under another interpretation of the
/// READY paper's equation 2 (recovery of cells). A throttle that ignores recovery writes as much
/// under any interpretation.
fn read(
    evidence: &Evidence,
    (trace, device): (&str, &str),
    scheme: &str,
    reading: Reading,
) -> Option<[f64; 2]> {
    let key = match reading {
        Reading::Spread => None,
        Reading::Refit => Some(READINGS[0]),
        Reading::Literal => Some(READINGS[1]),
    };
    let name = key.filter(|_| scheme.starts_with("ready")).map(|key| read_as(scheme, key));
    let life = evidence.life(trace, name.as_deref().unwrap_or(scheme))?;
    let written = life.w_work_tb?;
    let endured = writable(reading, gigabytes(device), written);
    Some([5.0 * endured / written, life.response_mean_us?])
}

/// Returns the table of the READY paper's Figures 10 and 11 under every interpretation of equation
/// 2 (recovery of cells).
pub(super) fn by_reading(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = [
        "stand-in",
        "scheme",
        "years, spread",
        "years, refit",
        "years, literal",
        "page write (us), spread",
        "page write (us), refit",
        "page write (us), literal",
    ];
    let title = "Figures 10 and 11 under each reading of the recovery";
    let mut sheet = Sheet::new("by_reading", title, &heads);
    for trace in &paper.trace {
        for (scheme, called) in SCHEMES {
            let of = |at: usize, reading| {
                let both = read(evidence, (&trace.name, &trace.device), scheme, reading);
                Cell::number(both.map(|both| both[at]))
            };
            let mut cells: Vec<Cell> = vec![trace.name.as_str().into(), called.into()];
            for at in [0, 1] {
                cells.extend(Reading::ALL.map(|reading| of(at, reading)));
            }
            sheet.row(cells);
        }
    }
    sheet
}

/// Returns the table of lives of READY_OPT with the throttles that the READY paper suggests, and at
/// other temperatures.
fn options(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = [
        "stand-in",
        "option",
        "years",
        "C'_ssd (TB)",
        "W_work (TB)",
        "page write, mean (us)",
        "deviation (us)",
        "p99.99 (us)",
        "epochs predicted correctly",
        "final epoch (s)",
    ];
    let title = "READY_OPT with what the paper suggests, and at other temperatures";
    let mut sheet = Sheet::new("options", title, &heads);
    for trace in &paper.trace {
        let own = ("none".to_string(), OF_OPTIONS.to_string());
        let others = paper.option.iter().map(|it| (it.name.clone(), read_as(OF_OPTIONS, &it.name)));
        for (option, scheme) in [own].into_iter().chain(others) {
            let Some(life) = evidence.life(&trace.name, &scheme) else { continue };
            sheet.row(vec![
                trace.name.as_str().into(),
                option.into(),
                Cell::number(life.effective_lifetime_years),
                Cell::number(life.c_ssd_recovered_tb),
                Cell::number(life.w_work_tb),
                Cell::number(life.response_mean_us),
                Cell::number(life.response_deviation_us),
                Cell::number(life.response_p9999_us),
                Cell::share(life.accuracy),
                Cell::number(life.epoch_s),
            ]);
        }
    }
    sheet
}

/// Returns the share of a drive's capacity for writes that the static throttle (ST) loses in
/// theory. A closed-loop host that writes for the share `share` of each cycle leaves the admitted
/// rate unused for the rest of the cycle; while it writes, it is throttled to that rate. `demand`
/// is the host's mean demand divided by the rate.
pub(super) fn lost(demand: f64, share: f64) -> f64 {
    if demand <= share { 1.0 - demand } else { (1.0 - share) / (demand + 1.0 - share) }
}

/// Returns the share of each cycle in which a host must write for the static throttle (ST) to lose
/// the share `lost` of the capacity for writes; `None` if no share does.
pub(super) fn share_that_loses(demand: f64, lost: f64) -> Option<f64> {
    let share = 1.0 - lost * demand / (1.0 - lost);
    (0.0..=1.0).contains(&share).then_some(share)
}

/// Returns the table of the capacity for writes that the static throttle (ST) loses, by the share
/// of time in which the host writes.
fn duty(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = ["demand of", "demand / fixed rate", "share of time", "lost", "in theory"];
    let title = "What ST loses of its capacity, by the share of time in which the host writes";
    let mut sheet = Sheet::new("duty", title, &heads);
    for trace in &paper.duty.traces {
        let Some(demand) = evidence.demand(trace) else { continue };
        for burst in evidence.bursts(trace) {
            sheet.row(vec![
                trace.as_str().into(),
                Cell::Number(demand),
                Cell::Number(burst.share),
                Cell::share(Some(burst.lost)),
                Cell::share(Some(lost(demand, burst.share))),
            ]);
        }
        let printed = paper.number(BELOW, trace);
        let needed = printed.and_then(|lost| share_that_loses(demand, lost));
        sheet.row(vec![
            format!("{trace}, printed").into(),
            Cell::Number(demand),
            needed.map_or_else(|| "no share loses as much".into(), Cell::Number),
            Cell::share(printed),
            Cell::share(printed.and(Some(lost(demand, 0.0)))),
        ]);
    }
    sheet
}

/// Returns the table of single days simulated on the whole drive.
pub(super) fn days(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = [
        "stand-in",
        "scheme",
        "age (years)",
        "writes",
        "delayed, mean of a page (us)",
        "delay + 600 us",
        "in the drive, mean (us)",
        "p50 (us)",
        "p99 (us)",
        "p99.99 (us)",
        "delay + in the drive (us)",
        "behind GC (us)",
        "behind host programs (us)",
        "no room (us)",
        "deviation, delay + 600 us",
        "deviation, delay + in the drive",
        "die busy",
    ];
    let title = "Days out of lives on the whole drive, with dies and queues";
    let mut sheet = Sheet::new("days", title, &heads);
    for (trace, ..) in &paper.days.traces {
        for day in evidence.days(trace) {
            let called = SCHEMES.iter().find(|(scheme, _)| *scheme == day.scheme);
            let sum = |one: Option<f64>, other: Option<f64>| Some(one? + other?);
            sheet.row(vec![
                trace.as_str().into(),
                called.map_or(day.scheme.as_str(), |it| it.1).into(),
                Cell::Number(day.age_years),
                Cell::Number(day.writes as f64),
                Cell::number(day.held_us),
                Cell::number(sum(day.held_us, Some(day.program_us))),
                Cell::number(day.drive_us),
                Cell::number(day.drive_p50_us),
                Cell::number(day.drive_p99_us),
                Cell::number(day.drive_p9999_us),
                Cell::number(sum(day.held_us, day.drive_us)),
                Cell::Number(day.behind_gc_us),
                Cell::Number(day.behind_host_us),
                Cell::Number(day.no_space_us),
                Cell::Number(day.model_deviation_us),
                Cell::Number(day.deviation_us),
                Cell::share(Some(day.die_busy)),
            ]);
        }
    }
    sheet
}

/// Returns the table of lives with a simulated translation layer next to lives at a steady write
/// amplification.
fn simulated(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = [
        "stand-in",
        "scheme",
        "K",
        "translation layer",
        "years",
        "W_work (TB)",
        "WAF",
        "page write, mean (us)",
        "deviation (us)",
        "p99.99 (us)",
        "stops per million",
    ];
    let title = "The same lives with a simulated translation layer and without";
    let mut sheet = Sheet::new("simulated", title, &heads);
    for what in &paper.simulated {
        let Some(both) = evidence.simulated(what) else { continue };
        for (life, how) in both.into_iter().zip(["simulated", "steady"]) {
            sheet.row(vec![
                what.trace.as_str().into(),
                what.scheme.as_str().into(),
                Cell::Number(life.dilation),
                how.into(),
                Cell::number(life.effective_lifetime_years),
                Cell::number(life.w_work_tb),
                Cell::number(life.waf),
                Cell::number(life.response_mean_us),
                Cell::number(life.response_deviation_us),
                Cell::number(life.response_p9999_us),
                Cell::number(life.stops_per_million),
            ]);
        }
    }
    sheet
}

/// Returns the table of every simulated life of a drive and every single day: pages written, moved
/// by GC and erased. At a steady write amplification, a block is erased for every block's worth of
/// pages programmed.
fn runs(evidence: &Evidence) -> Sheet {
    let heads = ["run", "K", "host pages", "pages moved by GC", "erases"];
    let mut sheet = Sheet::new("runs", "Every run: pages and erases", &heads);
    for (name, life) in evidence.all() {
        let moved = life.programs.get("gc").copied().unwrap_or_default();
        sheet.row(vec![
            name.into(),
            Cell::Number(life.dilation),
            Cell::Number(life.pages_written),
            Cell::Number(moved),
            Cell::Number(((life.pages_written + moved) / PAGES_PER_BLOCK).round()),
        ]);
    }
    for (trace, ..) in &evidence.paper.days.traces {
        for day in evidence.days(trace) {
            sheet.row(vec![
                format!("{trace} {}, a day at {:.1} years", day.scheme, day.age_years).into(),
                Cell::Nothing,
                Cell::Number(day.host_programs as f64),
                Cell::Number((day.programs - day.host_programs) as f64),
                Cell::Number(day.erases as f64),
            ]);
        }
    }
    sheet
}

/// Number of pages in a block of the READY paper's drives (section 4.1).
const PAGES_PER_BLOCK: f64 = 64.0;

#[cfg(test)]
mod tests {
    use super::*;

    /// The static throttle (ST) loses no capacity if the host always writes, and most if it hardly
    /// ever does. At the mean demand of exchange some share of time gives the 8 % of section 4.3;
    /// at that of proj no share gives the 43 %.
    #[test]
    fn the_loss_of_st_is_that_of_its_idle_time() {
        assert_eq!(lost(2.0, 1.0), 0.0);
        assert!((lost(2.0, 0.0) - 1.0 / 3.0).abs() < 1e-12);
        assert_eq!(lost(0.25, 0.5), 0.75, "less than the rate is never throttled");
        for (demand, share) in [(1.5, 0.2), (5.0, 0.5), (5.0, 0.9)] {
            let back = share_that_loses(demand, lost(demand, share)).unwrap();
            assert!((back - share).abs() < 1e-12, "{demand} {share} {back}");
        }
        assert_eq!(share_that_loses(144.1 / 93.75, 0.43), None);
        assert!(share_that_loses(1974.7 / 375.0, 0.08).is_some());
    }
}
