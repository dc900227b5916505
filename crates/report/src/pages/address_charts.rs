//! Charts of a run by address: the regions the host reads and writes, their latencies, and their
//! write amplification.

use super::chart::coarse;
use fowler_device::Source;
use fowler_experiment::outcome::Outcome;
use fowler_figures::{Axis, Figure, Panel, Series, Shape};
use fowler_metrics::{Kind, Region, Regions};

/// Fewest host pages in a region of addresses at which the region's write amplification is shown: a
/// count of 50 independent events has a standard deviation of 14 %.
const FEW: u64 = 50;

/// The compared runs whose requests were counted by address, each with its index, from 0, among all
/// compared runs.
pub struct ByAddress<'a> {
    runs: Vec<(usize, &'a Outcome, &'a Regions)>,
    unit: &'static str,
    /// Bytes per unit of the charts' address axis.
    scale: f64,
}

impl<'a> ByAddress<'a> {
    /// Returns the runs for charts over the drive's addresses: those with requests, on drives whose
    /// address space is divided into more than one region.
    pub fn of(outcomes: &'a [Outcome]) -> ByAddress<'a> {
        let counted = |(place, outcome): (usize, &'a Outcome)| {
            let regions = &outcome.detail.as_deref()?.regions;
            let served = |it: &Region| Kind::ALL.iter().any(|&kind| it.requests[kind] > 0);
            let worth_it = regions.all().len() > 1 && regions.all().iter().any(served);
            worth_it.then_some((place, outcome, regions))
        };
        let runs: Vec<_> = outcomes.iter().enumerate().filter_map(counted).collect();
        let end = |(_, _, regions): &(usize, &Outcome, &Regions)| {
            regions.width().0 * regions.all().len() as u64
        };
        let (unit, scale) = match runs.iter().map(end).max().unwrap_or(0) {
            end if end >= 2 << 30 => ("GiB", (1u64 << 30) as f64),
            _ => ("MiB", (1u64 << 20) as f64),
        };
        ByAddress { runs, unit, scale }
    }

    /// Returns all charts over addresses; none if nothing was counted by address.
    pub fn charts(&self) -> Vec<Figure> {
        let mib = |bytes: u64| bytes as f64 / (1u64 << 20) as f64;
        let of_kinds = |what: fn(&str) -> String, value: &dyn Fn(&Region, Kind) -> Option<f64>| {
            let panel = |kind: Kind| {
                let lines = self.lines(|region| value(region, kind));
                Panel::view(format!("{}s", kind.name()), Axis::linear(what(kind.name())), lines)
            };
            Kind::ALL.map(panel).into()
        };
        let charts = [
            self.chart(
                "traffic-by-address",
                "Reads and writes by address",
                "What the host read and wrote in each region of the drive.",
                of_kinds(|kind| format!("{kind}s of the host (MiB)"), &|region, kind| {
                    Some(mib(region.bytes[kind]))
                }),
            ),
            self.chart(
                "latency-by-address",
                "Mean latency by address",
                "Mean latency of the requests that begin in a region of the drive.",
                of_kinds(|kind| format!("mean latency of {kind}s (us)"), &Region::mean_us),
            ),
            self.chart(
                "waf-by-address",
                "Write amplification by address",
                &format!(
                    "All pages of a region that were programmed, and the parity of their stripes, per page \
                     programmed for the host. Regions with fewer than {FEW} of these are left out: their \
                     ratio would be chance."
                ),
                vec![Panel::view(
                    "",
                    Axis::linear("pages programmed per host page"),
                    self.lines(|region| {
                        region.waf().filter(|_| region.programs[Source::Host] >= FEW)
                    }),
                )],
            ),
        ];
        charts.into_iter().flatten().collect()
    }

    fn addresses(&self) -> Axis {
        Axis::linear(format!("address ({})", self.unit))
    }

    /// Returns the middle of every address region of a drive, in the unit of the charts' address
    /// axis (MiB or GiB).
    fn middles(&self, regions: &Regions) -> Vec<f64> {
        let width = regions.width().0 as f64 / self.scale;
        (0..regions.all().len()).map(|region| (region as f64 + 0.5) * width).collect()
    }

    /// Returns a line over the drive's addresses for each run of the chart: a number (from `value`,
    /// such as write amplification) for every region of addresses. Runs without a number above zero
    /// have no line.
    fn lines(&self, value: impl Fn(&Region) -> Option<f64>) -> Vec<Series> {
        let line = |&(place, outcome, regions): &(usize, &Outcome, &Regions)| {
            let y = regions.all().iter().map(|region| value(region).map(coarse));
            let points = self.middles(regions).into_iter().zip(y);
            Series::line(outcome.drive.label(), points).of_scheme(place)
        };
        let known = |series: &Series| series.y.iter().flatten().any(|&value| value > 0.0);
        self.runs.iter().map(line).filter(known).collect()
    }

    fn chart(&self, id: &str, title: &str, about: &str, panels: Vec<Panel>) -> Option<Figure> {
        let mut panels = panels;
        panels.retain(|panel| !panel.series.is_empty());
        // A page of many runs is large: what all lines have in common is there once.
        for panel in &mut panels {
            if let [first, others @ ..] = panel.series.as_mut_slice() {
                others.iter_mut().filter(|line| line.x == first.x).for_each(|line| line.x.clear());
            }
        }
        (!panels.is_empty()).then(|| {
            Figure::new(id, title, panels).caption(about).views(Shape::Lines, self.addresses())
        })
    }
}
