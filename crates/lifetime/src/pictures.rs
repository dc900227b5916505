//! The figures of a lifetime, and the page that shows them.

use super::fleet::{Fleet, Interval, Year};
use super::report::cdf;
use super::{Lifetime, Lived};
use fowler_experiment::Latencies;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_figures::{Axis, Figure, LineSeries, Lines, Panel, StepSeries, Steps, Stroke};
use fowler_report::figures_folder::{self, Written};
use fowler_report::pages;
use std::path::Path;

/// The file of the drives of a fleet.
const DRIVES: &str = "drives.csv";

impl Lifetime {
    /// Writes the table, the figures and a page with both to a folder. Returns the files, and the
    /// figures that could not be drawn.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        let mut sheets = vec![self.sheet()];
        sheets.extend(self.fleet.iter().flat_map(Fleet::sheets));
        let Written { mut files, warnings, drawings } =
            figures_folder::write(&sheets, &self.figures(), folder)?;
        let noted = warnings.iter().map(|warning| format!("Note: {warning}"));
        let lead = noted.chain(self.fleet.iter().map(Fleet::assumptions)).collect();
        let page = pages::of_study(&sheets[0].title, lead, &sheets, drawings);
        pages::write(&folder.join(pages::REPORT), &page)?;
        files.push(pages::REPORT.into());
        if let Some(fleet) = &self.fleet {
            fleet.write_drives(&folder.join(DRIVES))?;
            files.push(DRIVES.into());
        }
        Ok((files, warnings))
    }

    fn figures(&self) -> Vec<(String, Figure)> {
        let names: Vec<String> =
            self.lived.iter().map(|one| format!("K = {}", one.dilation)).collect();
        let steps = |which: fn(&Lived) -> &Latencies, title: &str| {
            let series = self.lived.iter().zip(&names).map(|(one, name)| StepSeries {
                name: name.clone(),
                points: cdf(which(one))
                    .into_iter()
                    .map(|(us, share)| (us.max(1.0), share))
                    .collect(),
            });
            let steps = Steps {
                x: Axis::log10("us"),
                y: "fraction of page writes".into(),
                series: series.collect(),
            };
            Panel::steps(title, steps)
        };
        let lines = |y: &str, value: fn((f64, f64, f64, f64), f64) -> f64, title: &str| {
            let series = self.lived.iter().zip(&names).enumerate().map(|(number, (one, name))| {
                let seconds = one.record.life.step.0 as f64 / 1e9;
                let points = self.points(&one.record.life, one.dilation);
                LineSeries {
                    name: name.clone(),
                    points: points.into_iter().map(|it| (it.0, value(it, seconds))).collect(),
                    stroke: if number == 0 { Stroke::Measured } else { Stroke::Theory },
                    ..LineSeries::default()
                }
            });
            let (x, y) = (Axis::linear("years"), Axis::linear(y));
            Panel::lines(title, Lines { x, y, series: series.collect(), ..Lines::default() })
        };
        let titled = |title: &str, panels: Vec<Panel>| {
            let caption = format!("{}; {} repeated.", self.sheet().title, self.workload.name);
            Figure { caption: Some(caption), panels, columns: Some(2), ..Figure::new(title) }
        };
        let mut all: Vec<(String, Figure)> = Vec::new();
        all.extend(self.fleet.iter().map(|fleet| ("survival".into(), survival(fleet))));
        all.extend([
            (
                "page-writes".into(),
                titled(
                    "Page writes over a lifetime",
                    vec![
                        steps(|one| &one.record.responses, "response time"),
                        steps(|one| &one.record.delays, "throttling delay (zero is drawn as 1 us)"),
                    ],
                ),
            ),
            (
                "over-time".into(),
                titled(
                    "A lifetime over time",
                    vec![
                        lines("MB/s", |it, seconds| it.1 / seconds, "written by the host"),
                        lines("us", |it, _| it.3, "mean throttling delay of a page write"),
                    ],
                ),
            ),
        ]);
        all
    }
}

/// Survival and replacements of a fleet, with their intervals as dashed lines.
fn survival(fleet: &Fleet) -> Figure {
    let percent = format!("{} %", fleet.spec.confidence * 100.0);
    let line = |name: String, stroke: Stroke, points: Vec<(f64, f64)>| LineSeries {
        name,
        points,
        stroke,
        ..LineSeries::default()
    };
    let banded = |title: &str, name: &str, y: &str, points: Vec<(f64, Interval)>| {
        let of = |value: fn(Interval) -> f64| points.iter().map(|it| (it.0, value(it.1))).collect();
        let series = vec![
            line(name.into(), Stroke::Measured, of(|it| it.value)),
            line(format!("lower bound, {percent}"), Stroke::Theory, of(|it| it.low)),
            line(format!("upper bound, {percent}"), Stroke::Theory, of(|it| it.high)),
        ];
        let (x, y) = (Axis::linear("years"), Axis::linear(y));
        Panel::lines(title, Lines { x, y, series, ..Lines::default() })
    };
    let alive = fleet.survival().into_iter().map(|it| (it.years, it.share)).collect();
    let mut panels = vec![banded("survival of first drives", "alive", "share alive", alive)];
    let years = fleet.years();
    // One point is no line.
    if years.len() > 1 {
        let middle = |year: &Year| (year.number as f64 - 1.0 + year.length / 2.0, year.rate);
        let rates = years.iter().map(middle).collect();
        let y = "replaced per drive and year";
        panels.push(banded("replacements, year by year", "replaced", y, rates));
    }
    let caption = format!("{} drives; {}.", fleet.spec.drives, fleet.assumptions());
    Figure {
        caption: Some(caption),
        panels,
        columns: Some(2),
        ..Figure::new("A fleet over its years")
    }
}
