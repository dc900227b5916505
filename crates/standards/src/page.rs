//! The folder of results: tables as CSV, the 3D bars as SVG, and a page with everything.

use super::json::MANNER;
use super::rounds::Variable;
use super::steady_state::WINDOW;
use super::{Found, Pts, PtsSpec, Tested};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::numbers::{bytes, counted};
use fowler_experiment::tables::{Cell, Sheet};
use fowler_figures::{Figure, Panel, Series};
use fowler_report::figures_folder::{self, Written};
use fowler_report::pages::{self, Drawing, Section};
use std::path::Path;

impl Pts {
    /// Writes the tables and pictures of the tests, and a page of both, to a folder. Returns the
    /// names of the files, and the pictures that could not be drawn.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        let mut sheets = vec![self.overview(), self.settings()];
        let mut figures = Vec::new();
        let tables: Vec<Vec<Sheet>> = self.tested.iter().map(Tested::sheets).collect();
        for (tested, tables) in self.tested.iter().zip(&tables) {
            figures.extend(tested.bars(tables));
            sheets.extend_from_slice(tables);
        }
        let Written { mut files, warnings, drawings } =
            figures_folder::write(&sheets, &figures, folder)?;
        pages::write(&folder.join(pages::REPORT), &self.page(tables, drawings))?;
        files.push(pages::REPORT.into());
        Ok((files, warnings))
    }

    /// Returns the HTML page of the tests, with the tables of each test.
    fn page(&self, tables: Vec<Vec<Sheet>>, drawings: Vec<Drawing>) -> String {
        let drive = &self.setup.drive;
        let mut sections = vec![Section {
            title: "Tests and settings",
            sheets: vec![self.overview(), self.settings()],
            charts: Vec::new(),
            drawings: Vec::new(),
        }];
        let mut drawings = drawings;
        for (tested, sheets) in self.tested.iter().zip(tables) {
            let own =
                |drawing: &Drawing| drawing.name.starts_with(&format!("{}-", tested.test.name()));
            let (mine, others) = drawings.into_iter().partition(own);
            drawings = others;
            sections.push(Section {
                title: tested.test.title(),
                charts: tested.charts(&sheets),
                sheets,
                drawings: mine,
            });
        }
        let lead = vec![
            format!("Tests {MANNER}. Their results do not conform to PTS."),
            format!(
                "{} of {}, scheme {}; seed {}. {}",
                bytes(drive.layout.logical.0),
                drive.device,
                drive.scheme,
                drive.config.seed,
                self.minute_words(),
            ),
        ];
        let verdict = self.tested.iter().map(|tested| {
            format!("{}: {}; {}.", tested.test.title(), tested.result(), tested.ended())
        });
        let texts = [lead, verdict.collect(), self.warnings()];
        pages::of_sections(
            &format!("{}: tests in the manner of SNIA PTS", drive.device),
            texts,
            sections,
            drive,
        )
    }

    fn minute_words(&self) -> String {
        match self.spec.minute {
            PtsSpec::MINUTE => "A minute has 60 s of simulated time.".into(),
            other => format!("NOT PTS: a minute has {other} of simulated time."),
        }
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.spec.minute != PtsSpec::MINUTE {
            warnings.push(format!("Warning: {}", self.minute_words()));
        }
        for tested in &self.tested {
            if !tested.is_steady() {
                let title = tested.test.title();
                warnings.push(format!(
                    "Warning: {title}: steady state not reached; values are of the last {WINDOW} rounds."
                ));
            }
        }
        if !self.stopped.is_empty() {
            let count = counted(self.stopped.len() as u64, "test");
            warnings.push(format!("Interrupted: {count} without a result."));
        }
        warnings
    }
}

impl Tested {
    /// Returns true if every load of this drive test that must become steady did; a test that ends
    /// otherwise counts as steady.
    fn is_steady(&self) -> bool {
        match &self.found {
            Found::Matrix(matrix) => matrix.rounds.is_steady(),
            Found::Throughput(sizes) => sizes.iter().all(|(_, rounds)| rounds.is_steady()),
            Found::HostIdle(all) => all.base.is_steady(),
            Found::Demand(all) => all.base.is_steady() && all.rounds.is_steady(),
            // Saturation and cross stimulus end for other reasons than a steady state.
            Found::Saturation(_) | Found::CrossStimulus(_) => true,
        }
    }

    /// Returns the bar chart of the IOPS, response times or throughputs by request size that a test
    /// measured; `None` for a test without results by request size.
    fn bars(&self, sheets: &[Sheet]) -> Option<Figure> {
        let sheet = sheets.first()?;
        let id = format!("{}-bars", self.test.name());
        let sizes = || sheet.rows.iter().filter_map(|row| row.first()).map(Cell::exact);
        match &self.found {
            // Bars in space: mixes from left to right, sizes behind each other.
            Found::Matrix(matrix) => {
                let values = |row: &Vec<Cell>| row[1..].iter().map(Cell::value).collect::<Vec<_>>();
                let rows = sizes().zip(sheet.rows.iter().map(values));
                let mut series: Vec<Series> =
                    rows.map(|(size, values)| Series::values(size, values)).collect();
                let variable = matrix.rounds.variable;
                // Large requests have few IOPS, and stand in front; small ones have short
                // latencies.
                let latency = variable == Variable::Latency;
                if latency {
                    series.reverse();
                }
                let panel = Panel::columns("", variable.name(), &sheet.heads[1..], series);
                let what = if latency { "Mean response time" } else { "IOPS" };
                let title = format!("{what} by request size and mix of reads and writes");
                Some(Figure::new(id, title, [panel.in_space()]))
            }
            Found::Throughput(_) => {
                let series = [("reads", "100/0 (MB/s)"), ("writes", "0/100 (MB/s)")]
                    .map(|(name, head)| Series::values(name, sheet.column(head)));
                let panel = Panel::columns("", "MB/s", sizes(), series);
                Some(Figure::new(id, "Sequential throughput by size", [panel]))
            }
            _ => None,
        }
    }
}
