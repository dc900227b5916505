//! The folder of results: tables as CSV, the 3D bars as SVG, and a page with everything.

use super::json::MANNER;
use super::rounds::Variable;
use super::sheets::reads_writes;
use super::steady::WINDOW;
use super::{Found, Matrix, Pts, PtsSpec, Tested};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::numbers::{bytes, counted};
use fowler_figures::{BarSeries, Bars, Figure, Panel};
use fowler_report::figures_folder::{self, Named, Written};
use fowler_report::pages::{self, Chapter, Drawing};
use std::path::Path;

impl Pts {
    /// Writes tables, pictures and a page to a folder. Returns the files, and the pictures that
    /// could not be drawn.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        let mut sheets = vec![self.overview(), self.settings()];
        sheets.extend(self.tested.iter().flat_map(Tested::sheets));
        let figures: Vec<Named> = self.tested.iter().flat_map(Tested::figures).collect();
        let Written { mut files, warnings, drawings } =
            figures_folder::write(&sheets, &figures, folder)?;
        pages::write(&folder.join(pages::REPORT), &self.page(drawings))?;
        files.push(pages::REPORT.into());
        Ok((files, warnings))
    }

    fn page(&self, drawings: Vec<Drawing>) -> String {
        let drive = &self.setup.drive;
        let mut chapters = vec![Chapter {
            title: "Tests and settings",
            sheets: vec![self.overview(), self.settings()],
            charts: Vec::new(),
            drawings: Vec::new(),
        }];
        let mut drawings = drawings;
        for tested in &self.tested {
            let own =
                |drawing: &Drawing| drawing.name.starts_with(&format!("{}-", tested.test.name()));
            let (mine, others) = drawings.into_iter().partition(own);
            drawings = others;
            chapters.push(Chapter {
                title: tested.test.title(),
                sheets: tested.sheets(),
                charts: tested.charts(),
                drawings: mine,
            });
        }
        let lead = vec![
            format!("Tests {MANNER}. They do not conform to it."),
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
        pages::of_chapters(
            &format!("{}: tests in the manner of SNIA PTS", drive.device),
            texts,
            chapters,
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
    /// Returns whether every loop that must be steady was.
    fn is_steady(&self) -> bool {
        match &self.found {
            Found::Matrix(matrix) => matrix.rounds.is_steady(),
            Found::Throughput(sizes) => sizes.iter().all(|(_, rounds)| rounds.is_steady()),
            Found::HostIdle(all) => all.base.is_steady(),
            Found::Demand(all) => all.base.is_steady() && all.rounds.is_steady(),
            // They end for other reasons as well.
            Found::Saturation(_) | Found::CrossStimulus(_) => true,
        }
    }

    /// Returns the pictures of the test, with their names.
    fn figures(&self) -> Vec<Named> {
        let name = self.test.name();
        match &self.found {
            Found::Matrix(matrix) => vec![(format!("{name}-bars"), towers(matrix))],
            Found::Throughput(sizes) => {
                let series = |label: &str, place: usize| BarSeries {
                    name: label.into(),
                    values: sizes
                        .iter()
                        .map(|(_, rounds)| rounds.mean(place, |it| Some(it.mb_s())))
                        .collect(),
                    ..BarSeries::default()
                };
                let bars = Bars {
                    y: "MB/s".into(),
                    groups: sizes.iter().map(|(size, _)| bytes(u64::from(*size))).collect(),
                    series: vec![
                        series("reads", super::throughput::READ),
                        series("writes", super::throughput::WRITE),
                    ],
                    reference: None,
                };
                let figure = Figure::new("Sequential throughput by size");
                vec![(
                    format!("{name}-bars"),
                    Figure { panels: vec![Panel::bars("", bars)], ..figure },
                )]
            }
            _ => Vec::new(),
        }
    }
}

/// Bars in space: mixes from left to right, sizes behind each other.
fn towers(matrix: &Matrix) -> Figure {
    let rounds = &matrix.rounds;
    let latency = rounds.variable == Variable::Latency;
    let row = |(row, &size): (usize, &u32)| BarSeries {
        name: bytes(u64::from(size)),
        values: (0..matrix.reads.len())
            .map(|reads| rounds.mean(matrix.place(row, reads), |it| Some(rounds.variable.of(it))))
            .collect(),
        ..BarSeries::default()
    };
    // Large requests have few IOPS, and stand in front; small ones have short latencies.
    let mut series: Vec<BarSeries> = matrix.sizes.iter().enumerate().map(row).collect();
    if latency {
        series.reverse();
    }
    let bars = Bars {
        y: rounds.variable.name().into(),
        groups: matrix.reads.iter().map(|&reads| reads_writes(reads)).collect(),
        series,
        reference: None,
    };
    let what = if latency { "Mean response time" } else { "IOPS" };
    let title = format!("{what} by size and reads/writes");
    Figure { panels: vec![Panel::towers("", bars)], ..Figure::new(title) }
}
