//! Beyond the paper: the drive in steady state, the watermark, the size of the buffer, other
//! replacement.

use super::plan::{
    BASELINE, Case, Evidence, HIRE, MEASURED, ON_EVICT, OVER_LIFE, RESTED, buffer, replacement,
    rewrite_share, run_name, space, watermark, worn_to,
};
use super::tables::HIRES;
use crate::run_summary::{Number, READ};
use crate::runs::mean;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Axis, Figure, Panel, Series};

/// The tables.
pub(super) fn sheets(evidence: &Evidence) -> Vec<Sheet> {
    let sweeps = &evidence.paper.sweeps;
    let by_watermark: Vec<(f64, String)> =
        sweeps.watermarks.iter().map(|&w| (w, watermark(w))).collect();
    let by_size: Vec<(f64, String)> =
        sweeps.buffers_mib.iter().map(|&mib| (f64::from(mib), buffer(mib))).collect();
    let mut sheet = sheet_of(
        "replacement",
        "Replacement policy of the buffer, each against its own baseline",
        "replacement",
    );
    for name in &sweeps.replacements {
        rows(&mut sheet, evidence, &name.as_str().into(), &replacement(name));
    }
    let by_space: Vec<(f64, String)> =
        sweeps.spaces_gib.iter().map(|&gib| (f64::from(gib), space(gib))).collect();
    let by_share: Vec<(f64, String)> =
        sweeps.rewrite_shares.iter().map(|&it| (it, rewrite_share(it))).collect();
    vec![
        rested(evidence),
        over_life(evidence),
        swept(
            "rewrite_share",
            "Share of frames that may hold pages waiting to be reprogrammed",
            "of the frames",
            evidence,
            &by_share,
        ),
        swept("watermark", "The watermark w, against the baseline", "w", evidence, &by_watermark),
        swept(
            "buffer",
            "The size of the buffer, each against its own baseline",
            "MiB",
            evidence,
            &by_size,
        ),
        swept(
            "space",
            "The space of the stand-ins, whole, each against its own baseline; the figures have 1 GiB (fin1: 512 MiB)",
            "GiB",
            evidence,
            &by_space,
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
    evidence: &Evidence,
    values: &[(f64, String)],
) -> Sheet {
    let mut sheet = sheet_of(name, title, head);
    for (value, variant) in values {
        rows(&mut sheet, evidence, &Cell::Number(*value), variant);
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

fn rows(sheet: &mut Sheet, evidence: &Evidence, value: &Cell, variant: &str) {
    for column in &evidence.paper.sweeps.workloads {
        for case in HIRES {
            let Some(reads) = relative(evidence, column, case, variant, false) else { continue };
            let run = evidence.runs.summary(&run_name(column, case, variant));
            let left = |class| Cell::share(run.and_then(|run| run.share("counters.left", class)));
            sheet.row(vec![
                column.as_str().into(),
                value.clone(),
                case.name.into(),
                Cell::Number(reads),
                Cell::number(relative(evidence, column, case, variant, true)),
                Cell::number(run.and_then(|run| run.get("waf"))),
                left("mixed"),
                left("read_hot"),
                left("write_hot"),
            ]);
        }
    }
}

/// A number of a case under a workload.
type Relative<'a> = &'a dyn Fn(&str, Case) -> Option<f64>;

/// The drive written over and over, with pauses: what GC makes of it.
fn rested(evidence: &Evidence) -> Sheet {
    let heads: Vec<String> = ["workload".to_string()]
        .into_iter()
        .chain(MEASURED.iter().skip(1).map(|case| format!("{}: reads", case.name)))
        .chain(MEASURED.iter().skip(1).map(|case| format!("{}: wear", case.name)))
        .chain(MEASURED.iter().map(|case| format!("{}: WAF", case.name)))
        .collect();
    let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
    let title = "In steady state (precondition.pattern = rested): reads and wear relative to the baseline, and \
                 write amplification";
    let mut sheet = Sheet::new("rested", title, &heads);
    let reads = |column: &str, case| evidence.ratio(column, case, RESTED, READ);
    let wear = |column: &str, case| evidence.worn_ratio(column, case, RESTED);
    let waf = |column: &str, case| evidence.number(column, case, RESTED, |run| run.get("waf"));
    let row = |name: &str, of: &dyn Fn(Relative<'_>, Case) -> Option<f64>| {
        let mut cells: Vec<Cell> = vec![name.into()];
        cells.extend(MEASURED.iter().skip(1).map(|&case| Cell::number(of(&reads, case))));
        cells.extend(MEASURED.iter().skip(1).map(|&case| Cell::number(of(&wear, case))));
        cells.extend(MEASURED.iter().map(|&case| Cell::number(of(&waf, case))));
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

/// Cells that err by age and wear, read by a controller that tries the hard decision first: when do
/// voltages matter?
fn over_life(evidence: &Evidence) -> Sheet {
    let sweeps = &evidence.paper.sweeps;
    let heads = ["workload", "cycles", "case", "reads", "wear", "tries per read", "uncorrectable"];
    let title = "On cells with errors by age and wear, hard decision first: reads and wear relative to the baseline";
    let mut sheet = Sheet::new("over_life", title, &heads);
    for column in &sweeps.workloads {
        for &cycles in &sweeps.cycles {
            let variant = worn_to(cycles);
            for case in OVER_LIFE {
                let number = |of| evidence.number(column, case, &variant, of);
                let reads = number(|run| run.get("counters.reads.host"));
                let reads = reads.filter(|&reads| reads > 0.0);
                let share = |of: Number| Some(number(of)? / reads?);
                sheet.row(vec![
                    column.as_str().into(),
                    Cell::Number(f64::from(cycles)),
                    case.name.into(),
                    Cell::number(evidence.ratio(column, case, &variant, READ)),
                    Cell::number(evidence.worn_ratio(column, case, &variant)),
                    Cell::number(share(|run| run.get("counters.retries")).map(|it| 1.0 + it)),
                    Cell::share(share(|run| run.get("counters.uncorrectable_reads"))),
                ]);
            }
        }
    }
    sheet
}

/// The same as a picture.
fn life(evidence: &Evidence) -> Figure {
    let sweeps = &evidence.paper.sweeps;
    let panel = |column: &String| {
        let series = |case: &Case| {
            let point = |&cycles: &u32| {
                let reads = evidence.ratio(column, *case, &worn_to(cycles), READ)?;
                Some((f64::from(cycles), reads))
            };
            Series::line(case.name, sweeps.cycles.iter().filter_map(point))
        };
        let (x, y) = (Axis::linear("P/E cycles"), Axis::linear("reads / baseline"));
        Panel::lines(column, x, y, OVER_LIFE[1..].iter().map(series)).reference(1.0, "baseline")
    };
    let caption = "Cells with errors by age (up to 7 days) and wear, hard decision first. At any cycles, HVC wears 20 % more \
                   and LVC 20 % less.";
    let title = "Effect of voltages on reads over the life of the drive";
    Figure::new("over_life", title, sweeps.workloads.iter().map(panel))
        .caption(caption)
        .columns(2)
        .same_y()
}

/// The pictures.
pub(super) fn pictures(evidence: &Evidence) -> Vec<Figure> {
    let sweeps = &evidence.paper.sweeps;
    let watermarks = sweeps.watermarks.iter().map(|&w| (w, watermark(w))).collect::<Vec<_>>();
    let sizes: Vec<_> =
        sweeps.buffers_mib.iter().map(|&mib| (f64::from(mib), buffer(mib))).collect();
    vec![
        life(evidence),
        curves(
            ("watermark", "By watermark"),
            "Stand-ins. At w = 1 all pages are mixed.",
            &Axis::linear("watermark w"),
            &watermarks,
            evidence,
        ),
        curves(
            ("buffer", "By size of the buffer"),
            "Stand-ins, against the baseline with a buffer of the same size.",
            &Axis::log2("buffer (MiB)"),
            &sizes,
            evidence,
        ),
    ]
}

fn curves(
    (name, title): (&str, &str),
    caption: &str,
    x: &Axis,
    values: &[(f64, String)],
    evidence: &Evidence,
) -> Figure {
    let panel = |(title, case, worn): (&str, Case, bool)| {
        let series = |column: &String| {
            let point = |(value, variant): &(f64, String)| {
                Some((*value, relative(evidence, column, case, variant, worn)?))
            };
            Series::line(column, values.iter().filter_map(point))
        };
        let y = Axis::linear(if worn { "wear / baseline" } else { "reads / baseline" });
        Panel::lines(title, x.clone(), y, evidence.paper.sweeps.workloads.iter().map(series))
            .reference(1.0, "baseline")
    };
    let panels = [
        ("Reads, clean pages not rewritten (on_dirty)", HIRE, false),
        ("Reads, as if reprogrammed (on_evict)", ON_EVICT, false),
        ("Wear, clean pages not rewritten (on_dirty)", HIRE, true),
    ];
    Figure::new(name, title, panels.map(panel)).caption(caption)
}
