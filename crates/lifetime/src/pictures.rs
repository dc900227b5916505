//! The figures of a lifetime, and the page that shows them.

use super::fleet::{Fleet, Interval, Year};
use super::report::cdf;
use super::{EndOfLife, Lifetime};
use fowler_experiment::Latencies;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_figures::{Axis, Figure, Panel, Series};
use fowler_report::figures_folder;
use std::path::Path;

/// Name of the file that lists the drives of a fleet.
const DRIVES: &str = "drives.csv";

impl Lifetime {
    /// Writes the lifetime's table, its figures and a page with both to a folder. Returns the names
    /// of the files, and the figures that could not be drawn.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        let mut sheets = vec![self.sheet()];
        sheets.extend(self.fleet.iter().flat_map(Fleet::sheets));
        let lead = self.fleet.iter().map(Fleet::assumptions).collect();
        let (title, shown) = (&sheets[0].title, (&sheets[..], &self.figures()[..]));
        let (mut files, warnings) = figures_folder::publish(folder, title, lead, shown, None)?;
        if let Some(fleet) = &self.fleet {
            fleet.write_drives(&folder.join(DRIVES))?;
            files.push(DRIVES.into());
        }
        Ok((files, warnings))
    }

    fn figures(&self) -> Vec<Figure> {
        let names: Vec<String> =
            self.lived.iter().map(|one| format!("K = {}", one.dilation)).collect();
        let distributions = |which: fn(&EndOfLife) -> &Latencies, title: &str| {
            let series = self.lived.iter().zip(&names).map(|(one, name)| {
                let points = cdf(which(one)).into_iter();
                Series::line(name, points.map(|(us, share)| (us.max(1.0), share)))
            });
            Panel::distributions(title, Axis::log10("us"), "fraction of page writes", series)
        };
        let lines = |y: &str, value: fn((f64, f64, f64, f64), f64) -> f64, title: &str| {
            let series = self.lived.iter().zip(&names).enumerate().map(|(number, (one, name))| {
                let seconds = one.record.life.step.0 as f64 / 1e9;
                let points = self.points(&one.record.life, one.dilation).into_iter();
                let line = Series::line(name, points.map(|it| (it.0, value(it, seconds))));
                if number == 0 { line } else { line.theory() }
            });
            Panel::lines(title, Axis::linear("years"), Axis::linear(y), series)
        };
        let caption = format!("{}; {} repeated.", self.sheet().title, self.workload.name);
        let page_writes = [
            distributions(|one| &one.record.responses, "response time"),
            distributions(|one| &one.record.delays, "throttling delay (zero is drawn as 1 us)"),
        ];
        let over_time = [
            lines("MB/s", |it, seconds| it.1 / seconds, "written by the host"),
            lines("us", |it, _| it.3, "mean throttling delay of a page write"),
        ];
        let whole = [
            Figure::new("page-writes", "Page writes over a lifetime", page_writes),
            Figure::new("over-time", "A lifetime over time", over_time),
        ];
        let whole = whole.map(|figure| figure.caption(&caption).columns(2));
        self.fleet.iter().map(survival).chain(whole).collect()
    }
}

/// Returns the figure of the survival and the replacements of a fleet, with their intervals as
/// dashed lines.
fn survival(fleet: &Fleet) -> Figure {
    let percent = format!("{} %", fleet.spec.confidence * 100.0);
    let banded = |title: &str, name: &str, y: &str, points: Vec<(f64, Interval)>| {
        let line = |name: String, value: fn(Interval) -> f64| {
            Series::line(name, points.iter().map(|it| (it.0, value(it.1))))
        };
        let series = [
            line(name.into(), |it| it.value),
            line(format!("lower bound, {percent}"), |it| it.low).theory(),
            line(format!("upper bound, {percent}"), |it| it.high).theory(),
        ];
        Panel::lines(title, Axis::linear("years"), Axis::linear(y), series)
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
    Figure::new("survival", "A fleet over its years", panels).caption(caption).columns(2)
}
