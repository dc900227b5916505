//! Compares generated requests with a real trace: distributions of the excerpt of Financial1, of
//! the workload fitted to it, and of the stand-in derived from the fit.

use super::paper::{Flash, Paper};
use crate::column::Column;
use fowler_experiment::device_spec::{self, DeviceSpec};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::presets::{self, Folder};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_experiment::trace::synth_requests;
use fowler_experiment::workload::WorkloadSpec;
use fowler_figures::{Axis, Figure, Panel, Series};
use fowler_units::HostIo;
use fowler_workload::{Profile, Sample, TraceReader};

/// A distribution of the requests of workloads that is compared, such as that of read sizes: its
/// name, its axis, and the function that computes it.
struct Aspect {
    name: &'static str,
    axis: &'static str,
    of: fn(&Profile) -> Sample,
}

const ASPECTS: [Aspect; 7] = [
    Aspect { name: "gaps", axis: "gap, in mean gaps", of: |it| it.relative_gaps() },
    Aspect {
        name: "bursts",
        axis: "requests in the mean time of 4",
        of: |it| it.counts(it.window_of(4.0)),
    },
    Aspect {
        name: "spells",
        axis: "requests in the mean time of 40",
        of: |it| it.counts(it.window_of(40.0)),
    },
    Aspect { name: "read sizes", axis: "KiB", of: |it| it.sizes.reads.scaled(1.0 / 1024.0) },
    Aspect { name: "write sizes", axis: "KiB", of: |it| it.sizes.writes.scaled(1.0 / 1024.0) },
    Aspect {
        name: "reuse by reads",
        axis: "reads since the page was read",
        of: |it| it.reuse.reads.clone(),
    },
    Aspect {
        name: "reuse by writes",
        axis: "writes since the page was written",
        of: |it| it.reuse.writes.clone(),
    },
];
/// Largest number of points on a drawn curve; more would not be visible.
const CORNERS: usize = 400;

/// Distributions of the requests, such as their sizes and times, of a generated workload or of the
/// excerpt of the real trace Financial1.
struct Profiled {
    name: String,
    profile: Profile,
}

impl Profiled {
    /// Returns the share of requests that arrive at the same time as the request before them.
    fn zero_gaps(&self) -> f64 {
        let gaps = self.profile.gaps();
        let zero = gaps.values().partition_point(|&gap| gap == 0.0);
        zero as f64 / gaps.values().len().max(1) as f64
    }
}

/// Distributions of the requests in the excerpt of the real trace Financial1, followed by those of
/// the generated workloads that are compared with it.
pub(super) struct Fit(Vec<Profiled>);

/// Returns the distributions of requests in the excerpt of Financial1 and in the generated
/// workloads; `None` if the excerpt is not among the workloads.
pub(super) fn fit(paper: &Paper, columns: &[Column]) -> Result<Option<Fit>, Diagnostics> {
    let excerpt = columns.iter().find(|it| it.source.starts_with(&paper.fit.excerpt));
    let Some(WorkloadSpec::Trace(trace)) = excerpt.map(|column| &column.spec) else {
        return Ok(None);
    };
    let reader = TraceReader::open(&trace.path, &trace.options)?;
    let requests: Vec<HostIo> = reader.collect::<Result<_, _>>()?;
    let count = requests.len();
    let mut all = vec![Profiled { name: "excerpt".into(), profile: Profile::of(requests) }];
    for name in &paper.fit.stand_ins {
        all.push(generated(name, count)?);
    }
    Ok(Some(Fit(all)))
}

/// Generates `count` requests of a preset workload, and returns the distributions of their sizes,
/// arrival times and reuse of pages.
fn generated(name: &str, count: usize) -> Result<Profiled, Diagnostics> {
    let spec = DeviceSpec { device: Flash::Slc.preset().into(), ..DeviceSpec::default() };
    let drive = device_spec::resolve(&spec.source()?, &Scheme::none(), &spec)?;
    let requests = synth_requests(&presets::open(Folder::Workloads, name)?, &drive)?;
    Ok(Profiled { name: name.into(), profile: Profile::of(requests.take(count)) })
}

impl Fit {
    /// Returns the table of the distances between request distributions of generated workloads and
    /// those of the excerpt of the real trace Financial1.
    pub fn sheet(&self) -> Sheet {
        let Fit(all) = self;
        let mut heads = vec!["distribution".to_string()];
        heads.extend(all[1..].iter().map(|it| it.name.clone()));
        let heads: Vec<&str> = heads.iter().map(String::as_str).collect();
        let title = "Distance of generated requests from the excerpt of Financial1: Kolmogorov-Smirnov, \
                     0 is identical";
        let mut sheet = Sheet::new("fit_financial1", title, &heads);
        for aspect in &ASPECTS {
            let excerpt = (aspect.of)(&all[0].profile);
            let distance =
                |it: &Profiled| Cell::number(excerpt.distance(&(aspect.of)(&it.profile)));
            let name = [aspect.name.into()].into_iter();
            sheet.row(name.chain(all[1..].iter().map(distance)).collect());
        }
        sheet
    }

    /// Returns the figure of the request distributions in the excerpt of Financial1 and in the
    /// generated workloads.
    pub fn picture(&self) -> Figure {
        let Fit(all) = self;
        let caption = format!(
            "Every curve has the same number of requests. A logarithmic axis has no zero, and \
             {:.0} % of the gaps between the excerpt's requests are zero: each curve begins above \
             its share of zeros.",
            100.0 * all[0].zero_gaps()
        );
        let title = "Generated requests next to the excerpt of Financial1";
        Figure::new("fit_financial1", title, ASPECTS.iter().map(|aspect| panel(aspect, all)))
            .caption(caption)
            .columns(3)
    }
}

fn panel(aspect: &Aspect, all: &[Profiled]) -> Panel {
    // A logarithmic axis has no zero: the share of zero gaps is where the curve begins.
    let series = all.iter().map(|it| {
        let steps = (aspect.of)(&it.profile).steps(CORNERS).into_iter();
        Series::line(&it.name, steps.filter(|(value, _)| *value > 0.0))
    });
    Panel::distributions(aspect.name, Axis::log10(aspect.axis), "share", series)
}
