//! Sweeps beyond the HIRE paper: the drive in steady state, the watermark, the size of the buffer,
//! and other replacement policies.

use super::plan::{
    AS_IT_IS, BASELINE, Case, Evidence, HIRE, MEASURED, ON_EVICT, OVER_LIFE, RESTED, buffer,
    replacement, rewrite_share, run_name, watermark, worn_to,
};
use super::sizes::{self, space};
use super::tables::HIRES;
use crate::run_summary::{Number, READ};
use crate::runs::mean;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Axis, Figure, Panel, Series};

/// Returns the tables of the HIRE study's parameter sweeps.
pub(super) fn sheets(evidence: &Evidence) -> Vec<Sheet> {
    let sweeps = &evidence.paper.sweeps;
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
        by_watermark(evidence),
        by_size(evidence),
        swept(
            "space",
            "The space of the stand-ins, whole, each against its own baseline; the figures have 1 GiB (fin1: 512 MiB)",
            "GiB",
            evidence,
            &by_space,
        ),
        sheet,
        sized(evidence),
    ]
}

/// Returns the HIRE study's table of volumes in sizes of their own, each relative to the baseline
/// in that size, and of the means over all traces at each step of the range of sizes.
fn sized(evidence: &Evidence) -> Sheet {
    let heads = ["workload", "GiB or step", "published bytes", "case", "reads", "wear"];
    let title = "Volumes in published or larger sizes, each against its own baseline, and the mean of all stand-ins with \
                 them in place of 1 GiB";
    let mut sheet = Sheet::new("sizes", title, &heads);
    let paper = &evidence.paper;
    for size in &paper.size {
        let column = size.workload.as_str();
        for (gib, bytes, variant) in
            [(None, None, AS_IT_IS.into()), (Some(size.gib), size.bytes, space(size.gib))]
        {
            for case in HIRES {
                sheet.row(vec![
                    column.into(),
                    gib.map_or_else(|| "own".into(), |gib| Cell::Number(f64::from(gib))),
                    Cell::number(bytes.map(|bytes| bytes as f64)),
                    case.name.into(),
                    Cell::number(evidence.ratio(column, case, &variant, READ)),
                    Cell::number(evidence.worn_ratio(column, case, &variant)),
                ]);
            }
        }
    }
    for (variant, name) in [(AS_IT_IS.to_string(), "own".to_string())]
        .into_iter()
        .chain(sizes::steps(paper).map(|name| (name.clone(), name)))
    {
        for case in HIRES {
            let reads = evidence.runs.each(|column| evidence.ratio(column, case, &variant, READ));
            let wear = evidence.runs.each(|column| evidence.worn_ratio(column, case, &variant));
            let average = |all: Option<Vec<f64>>| Cell::number(all.and_then(|all| mean(&all)));
            sheet.row(vec![
                "mean".into(),
                name.as_str().into(),
                Cell::Nothing,
                case.name.into(),
                average(reads),
                average(wear),
            ]);
        }
    }
    sheet
}

fn by_watermark(evidence: &Evidence) -> Sheet {
    let values = evidence.paper.sweeps.watermarks.iter().map(|&w| (w, watermark(w)));
    let title = "The watermark w, against the baseline";
    swept("watermark", title, "w", evidence, &values.collect::<Vec<_>>())
}

fn by_size(evidence: &Evidence) -> Sheet {
    let sizes = evidence.paper.sweeps.buffers_mib.iter();
    let values = sizes.map(|&mib| (f64::from(mib), buffer(mib)));
    let title = "The size of the buffer, each against its own baseline";
    swept("buffer", title, "MiB", evidence, &values.collect::<Vec<_>>())
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

/// Returns the variant of the HIRE study whose baseline run is the reference for runs on `variant`:
/// `variant` itself if the baseline ran on it. The baseline ignores watermarks
/// (`policy.hotness.watermark`), so it runs once for all of them, on [`BASE_OF_WATERMARKS`].
fn base_of<'a>(evidence: &Evidence, column: &str, variant: &'a str) -> &'a str {
    let measured = evidence.number(column, BASELINE, variant, READ).is_some();
    if measured { variant } else { BASE_OF_WATERMARKS }
}

/// Name of the variant with the write buffer of the HIRE paper's drive (32 MiB), with whose
/// baseline run the sweep of the watermark is compared.
const BASE_OF_WATERMARKS: &str = "buffer 32 MiB";

/// Returns the read latency (with `worn`, the wear) of the HIRE study's run under the scheme `case`
/// on a variant of the drive, relative to the baseline's run on that variant.
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

/// A function that returns a number of a run under a workload and a scheme of the HIRE study,
/// divided by that under the paper's baseline.
type Relative<'a> = &'a dyn Fn(&str, Case) -> Option<f64>;

/// Returns the HIRE study's table of runs on a drive that was overwritten many times, with pauses,
/// before the run; it shows the effect of GC.
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

/// Returns the table of reads and wear on cells whose errors depend on age and wear, where the
/// controller tries hard decision first: it shows when the voltages matter.
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

/// Returns the HIRE study's figure of read latency by P/E cycles of the cells, relative to the
/// baseline, with a panel for each workload.
fn life(evidence: &Evidence) -> Figure {
    let sheet = over_life(evidence);
    let panel = |column: &String| {
        let rows = sheet.only("workload", column.as_str());
        let series = |case: &Case| {
            Series::line(case.name, rows.only("case", case.name).points("cycles", "reads"))
        };
        let (x, y) = (Axis::linear("P/E cycles"), Axis::linear("reads / baseline"));
        Panel::lines(column, x, y, OVER_LIFE[1..].iter().map(series)).reference(1.0, "baseline")
    };
    let caption = "Cells with errors by age (up to 7 days) and wear, hard decision first. At any cycles, HVC wears 20 % more \
                   and LVC 20 % less.";
    let title = "Effect of voltages on reads over the life of the drive";
    Figure::new("over_life", title, evidence.paper.sweeps.workloads.iter().map(panel))
        .caption(caption)
        .columns(2)
        .same_y()
}

/// Returns the figures of the HIRE study's parameter sweeps.
pub(super) fn pictures(evidence: &Evidence) -> Vec<Figure> {
    let workloads = &evidence.paper.sweeps.workloads;
    let x = Axis::linear("watermark w");
    let by_watermark = curves(&by_watermark(evidence), "By watermark", x, workloads)
        .caption("Stand-ins. At w = 1 all pages are mixed.");
    let x = Axis::log2("buffer (MiB)");
    let by_size = curves(&by_size(evidence), "By size of the buffer", x, workloads)
        .caption("Stand-ins, against the baseline with a buffer of the same size.");
    vec![life(evidence), by_watermark, by_size]
}

/// Returns the figure of reads and wear, relative to the HIRE paper's baseline, over a swept
/// parameter; the parameter is the second column of `sheet`.
fn curves(sheet: &Sheet, title: &str, x: Axis, workloads: &[String]) -> Figure {
    let panel = |(title, case, quantity): (&str, Case, &str)| {
        let rows = sheet.only("case", case.name);
        let series = |column: &String| {
            let rows = rows.only("workload", column.as_str());
            Series::line(column, rows.points(&sheet.heads[1], quantity))
        };
        let y = Axis::linear(format!("{quantity} / baseline"));
        Panel::lines(title, x.clone(), y, workloads.iter().map(series)).reference(1.0, "baseline")
    };
    let panels = [
        ("Reads, clean pages not rewritten (on_dirty)", HIRE, "reads"),
        ("Reads, as if reprogrammed (on_evict)", ON_EVICT, "reads"),
        ("Wear, clean pages not rewritten (on_dirty)", HIRE, "wear"),
    ];
    Figure::new(&sheet.name, title, panels.map(panel))
}
