//! Beyond the paper: the drive in steady state, the watermark, the size of the buffer, other replacement.

use super::paper::Paper;
use super::pictures::Named;
use super::plan::{
    BASELINE, CASES, Case, Evidence, HIRE, ON_EVICT, OVER_LIFE, RESTED, buffer, replacement,
    rewrite_share, watermark, worn_to,
};
use super::tables::HIRES;
use crate::runs::{READ, mean};
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Axis, Figure, LineSeries, Lines, Panel, Reference};

/// The tables.
pub(super) fn sheets(paper: &Paper, evidence: &Evidence) -> Vec<Sheet> {
    let sweeps = &paper.sweeps;
    let by_watermark: Vec<(f64, String)> =
        sweeps.watermarks.iter().map(|&w| (w, watermark(w))).collect();
    let by_size: Vec<(f64, String)> =
        sweeps.buffers_mib.iter().map(|&mib| (f64::from(mib), buffer(mib))).collect();
    let mut sheet = sheet_of(
        "replacement",
        "What leaves the buffer first, each against its own baseline",
        "replacement",
    );
    for name in &sweeps.replacements {
        rows(&mut sheet, paper, evidence, name.as_str().into(), &replacement(name));
    }
    let by_share: Vec<(f64, String)> =
        sweeps.rewrite_shares.iter().map(|&it| (it, rewrite_share(it))).collect();
    vec![
        rested(evidence),
        over_life(paper, evidence),
        swept(
            "rewrite_share",
            "How many frames may hold pages that wait to be programmed anew",
            "of the frames",
            paper,
            evidence,
            &by_share,
        ),
        swept(
            "watermark",
            "The watermark w, against the baseline",
            "w",
            paper,
            evidence,
            &by_watermark,
        ),
        swept(
            "buffer",
            "The size of the buffer, each against its own baseline",
            "MiB",
            paper,
            evidence,
            &by_size,
        ),
        sheet,
    ]
}

fn sheet_of(name: &str, title: &str, head: &str) -> Sheet {
    let heads = [
        "workload",
        head,
        "case",
        "reads",
        "wear",
        "WAF",
        "left mixed",
        "left read-hot",
        "left write-hot",
    ];
    Sheet::new(name, title, &heads)
}

fn swept(
    name: &str,
    title: &str,
    head: &str,
    paper: &Paper,
    evidence: &Evidence,
    values: &[(f64, String)],
) -> Sheet {
    let mut sheet = sheet_of(name, title, head);
    for (value, variant) in values {
        rows(&mut sheet, paper, evidence, Cell::Number(*value), variant);
    }
    sheet
}

/// The baseline of a variant: the watermark does not concern it.
fn base_of<'a>(evidence: &Evidence, column: &str, variant: &'a str) -> &'a str {
    let measured = evidence.number(column, BASELINE, variant, READ).is_some();
    if measured { variant } else { BASE_OF_WATERMARKS }
}

/// The preset's buffer, with as many requests as the sweeps have.
const BASE_OF_WATERMARKS: &str = "buffer 32 MiB";

/// Reads, or wear, of a case under a variant over those of its baseline.
fn relative(
    evidence: &Evidence,
    column: &str,
    case: Case,
    variant: &str,
    worn: bool,
) -> Option<f64> {
    let of = |case, variant: &str| {
        if worn {
            evidence.worn(column, case, variant)
        } else {
            evidence.number(column, case, variant, READ)
        }
    };
    let ratio = of(case, variant)? / of(BASELINE, base_of(evidence, column, variant))?;
    Some(ratio).filter(|ratio| ratio.is_finite())
}

fn rows(sheet: &mut Sheet, paper: &Paper, evidence: &Evidence, value: Cell, variant: &str) {
    for column in &paper.sweeps.workloads {
        for case in HIRES {
            let Some(reads) = relative(evidence, column, case, variant, false) else { continue };
            let number = |pointer: &str| evidence.number(column, case, variant, pointer);
            let left = |name: &str| number(&format!("/counters/left/{name}"));
            let all = left("mixed").zip(left("read_hot")).zip(left("write_hot"));
            let all = all.map(|((mixed, read), write)| mixed + read + write);
            let share = |name| Cell::share(left(name).zip(all).map(|(it, all)| it / all));
            sheet.row(vec![
                column.as_str().into(),
                value.clone(),
                case.name.into(),
                Cell::Number(reads),
                Cell::number(relative(evidence, column, case, variant, true)),
                Cell::number(number("/waf")),
                share("mixed"),
                share("read_hot"),
                share("write_hot"),
            ]);
        }
    }
}

/// A number of a case under a workload.
type Number<'a> = &'a dyn Fn(&str, Case) -> Option<f64>;

/// The drive written over and over, with pauses: what collection makes of it.
fn rested(evidence: &Evidence) -> Sheet {
    let heads: Vec<String> = ["workload".to_string()]
        .into_iter()
        .chain(CASES.iter().skip(1).map(|case| format!("{}: reads", case.name)))
        .chain(CASES.iter().skip(1).map(|case| format!("{}: wear", case.name)))
        .chain(CASES.iter().map(|case| format!("{}: WAF", case.name)))
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let title = "In steady state (precondition.pattern = rested): reads and wear over the baseline's, and write \
                 amplification";
    let mut sheet = Sheet::new("rested", title, &heads);
    let reads = |column: &str, case| evidence.ratio(column, case, RESTED, READ);
    let wear = |column: &str, case| evidence.worn_ratio(column, case, RESTED);
    let waf = |column: &str, case| evidence.number(column, case, RESTED, "/waf");
    let row = |name: &str, of: &dyn Fn(Number<'_>, Case) -> Option<f64>| {
        let mut cells: Vec<Cell> = vec![name.into()];
        cells.extend(CASES.iter().skip(1).map(|&case| Cell::number(of(&reads, case))));
        cells.extend(CASES.iter().skip(1).map(|&case| Cell::number(of(&wear, case))));
        cells.extend(CASES.iter().map(|&case| Cell::number(of(&waf, case))));
        cells
    };
    for column in &evidence.runs.columns {
        sheet.row(row(&column.name, &|number, case| number(&column.name, case)));
    }
    sheet.row(row("mean", &|number, case| {
        mean(&evidence.runs.each(|column| number(column, case))?)
    }));
    sheet
}

/// Cells that err by age and wear, read by a controller that tries the hard decision first: when do voltages matter?
fn over_life(paper: &Paper, evidence: &Evidence) -> Sheet {
    let heads = ["workload", "cycles", "case", "reads", "wear", "tries of a read", "uncorrectable"];
    let title = "On cells that err by age and wear, hard decision first: reads and wear over the baseline's at that wear";
    let mut sheet = Sheet::new("over_life", title, &heads);
    for column in &paper.sweeps.workloads {
        for &cycles in &paper.sweeps.cycles {
            let variant = worn_to(cycles);
            for case in OVER_LIFE {
                let number = |pointer: &str| evidence.number(column, case, &variant, pointer);
                let reads = number("/counters/reads/host").filter(|&reads| reads > 0.0);
                let share = |pointer: &str| Some(number(pointer)? / reads?);
                sheet.row(vec![
                    column.as_str().into(),
                    Cell::Number(f64::from(cycles)),
                    case.name.into(),
                    Cell::number(evidence.ratio(column, case, &variant, READ)),
                    Cell::number(evidence.worn_ratio(column, case, &variant)),
                    Cell::number(share("/counters/retries").map(|it| 1.0 + it)),
                    Cell::share(share("/counters/uncorrectable_reads")),
                ]);
            }
        }
    }
    sheet
}

/// The same as a picture.
fn life(paper: &Paper, evidence: &Evidence) -> Named {
    let panel = |column: &String| {
        let series = |case: &Case| LineSeries {
            name: case.name.into(),
            points: (paper.sweeps.cycles.iter())
                .filter_map(|&cycles| {
                    let reads = evidence.ratio(column, *case, &worn_to(cycles), READ)?;
                    Some((f64::from(cycles), reads))
                })
                .collect(),
            ..LineSeries::default()
        };
        Panel::lines(
            column.as_str(),
            Lines {
                x: Axis::linear("P/E cycles"),
                y: Axis::linear("reads / baseline"),
                series: OVER_LIFE[1..].iter().map(series).collect(),
                reference: Some(Reference { at: 1.0, name: "baseline".into() }),
            },
        )
    };
    let caption = "Cells that err by age (up to 7 days) and wear, hard decision first. HVC wears 20 % more, LVC 20 % less, \
                   whatever the cycles.";
    let figure = Figure {
        caption: Some(caption.into()),
        columns: Some(2),
        same_y: true,
        panels: paper.sweeps.workloads.iter().map(panel).collect(),
        ..Figure::new("What voltages do to reads over the life of the drive")
    };
    ("over_life".into(), figure)
}

/// The pictures.
pub(super) fn pictures(paper: &Paper, evidence: &Evidence) -> Vec<Named> {
    let sweeps = &paper.sweeps;
    let watermarks = sweeps.watermarks.iter().map(|&w| (w, watermark(w))).collect::<Vec<_>>();
    let sizes: Vec<_> =
        sweeps.buffers_mib.iter().map(|&mib| (f64::from(mib), buffer(mib))).collect();
    vec![
        life(paper, evidence),
        curves(
            "watermark",
            "By watermark",
            &Axis::linear("watermark w"),
            &watermarks,
            paper,
            evidence,
        ),
        curves(
            "buffer",
            "By size of the buffer",
            &Axis::log2("buffer (MiB)"),
            &sizes,
            paper,
            evidence,
        ),
    ]
}

fn curves(
    name: &str,
    title: &str,
    x: &Axis,
    values: &[(f64, String)],
    paper: &Paper,
    evidence: &Evidence,
) -> Named {
    let panel = |(title, case, worn): (&str, Case, bool)| {
        let series = |column: &String| {
            let point = |(value, variant): &(f64, String)| {
                Some((*value, relative(evidence, column, case, variant, worn)?))
            };
            let points: Vec<(f64, f64)> = values.iter().filter_map(point).collect();
            LineSeries { name: column.clone(), points, ..LineSeries::default() }
        };
        Panel::lines(
            title,
            Lines {
                x: x.clone(),
                y: Axis::linear(if worn { "wear / baseline" } else { "reads / baseline" }),
                series: paper.sweeps.workloads.iter().map(series).collect(),
                reference: Some(Reference { at: 1.0, name: "baseline".into() }),
            },
        )
    };
    let figure = Figure {
        caption: Some(
            "Stand-ins; each size of the buffer against the baseline with that buffer. No share exceeds w = 1: all pages are mixed.".into(),
        ),
        panels: [
            ("Reads, clean pages stay (on_dirty)", HIRE, false),
            ("Reads, as if programmed (on_evict)", ON_EVICT, false),
            ("Wear, clean pages stay (on_dirty)", HIRE, true),
        ]
        .map(panel)
        .into(),
        ..Figure::new(title)
    };
    (name.into(), figure)
}
