//! `fowler study`: what systems buy together.

use crate::action::Action;
use crate::exit::Exit;
use crate::flags::{Bar, Reading, Source};
use crate::stdin::TraceInput;
use crate::{console, fit, progress, sheets, signals};
use clap::Args;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::tables::{Cell, Sheet};
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_papers::Watch;
use fowler_papers::ablation::{self, Design, Finding, Request};
use fowler_report::pages::REPORT;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Gains of five published systems, alone and combined: every subset of them on one drive on which
/// all five work, or on fitted data-center drives; at three ages, under several workloads
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 done; 2 the input is wrong; 130 stopped with Ctrl-C: what is finished is saved, and \
                        the same command resumes from there"
)]
pub(crate) struct Study {
    /// The study: the 32 subsets of PES, RHIO, HIRE, READY and DA-RAID-5, on one drive on which all
    /// of them work as in their papers (all; at two depths of its queue, with alternatives to each
    /// system, prices, and a choice by objective) or on four fitted data-center drives (today). Two
    /// client drives run beside the four; they are fitted to reads and cached writes only, are
    /// marked, and enter no mean
    #[arg(value_parser = Design::EVERY.map(Design::name))]
    pub study: String,
    /// Workload to use instead of the workloads of the ablation study; may be given several times
    #[arg(long, value_name = "PRESET|FILE.toml")]
    pub workload: Vec<String>,
    /// Trace to use instead of the study's own workloads, with recorded times and compacted
    /// addresses; may be given several times
    #[arg(long, value_name = "FILE")]
    pub trace: Vec<PathBuf>,
    /// Format of the traces; needed if the text does not show it
    #[arg(long, value_name = "FORMAT", requires = "trace")]
    pub format: Option<String>,
    /// Folder of real traces; files in it that the study recognizes are replayed besides the
    /// study's synthetic workloads
    #[arg(long, value_name = "DIR", conflicts_with_all = ["workload", "trace"])]
    pub traces: Option<PathBuf>,
    /// Folder for tables (CSV), pictures (SVG), a page of both (report.html) and finished runs
    /// [default: results/study-NAME, with --limit or --brief results/study-NAME-look]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Maximum number of requests of each run [default: 300,000; 100,000 in the study of
    /// data-center drives, `today`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Run a quick form of the study, of few and short runs on small drives: it tests that every
    /// part of the study works, but its numbers mean nothing
    #[arg(long)]
    pub brief: bool,
    /// Number of seeds with which every run of the study is repeated; with two or more, measured
    /// gains have confidence intervals
    #[arg(long, value_name = "N", default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..=10))]
    pub seeds: u32,
    #[command(flatten)]
    pub progress: Bar,
}

/// Names of the tables of an ablation study that the command prints. The study's remaining tables
/// are only written as CSV files, because they are too long to read.
const PRINTED: [&str; 6] = ["worth", "choices", "price", MARKED, "signs", "interactions"];
/// Name of an ablation study's table of drives that no mean includes, because too little was
/// measured of them; the table is printed whole.
const MARKED: &str = "marked";
/// Name in the column of drives of an ablation study's table that marks results over all drives;
/// the command prints only these rows.
const PRINTED_DRIVES: &str = "all drives";

impl Action for Study {
    fn traces(&mut self) -> Vec<TraceInput<'_>> {
        let reading = Reading { format: self.format.clone(), ..Reading::default() };
        let limit = self.limit;
        self.trace.iter_mut().map(|it| TraceInput::new(it, &reading, limit)).collect()
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        // A study needs hundreds of states, each for a few runs that follow one another, and no
        // other command asks for them: in the cache folder they would displace those that are
        // needed again.
        fowler_experiment::image_store::keep_in(None);
        let look = if self.limit.is_some() || self.brief { "-look" } else { "" };
        let name = format!("study-{}{look}", self.study);
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from("results").join(name));
        let workloads = workloads(&self)?;
        let (traces, limit) = (self.traces.clone(), self.limit);
        let design = Design::by_name(&self.study).expect("the parser knows the names");
        let (seeds, brief) = (self.seeds, self.brief);
        let request = Request { design, brief, workloads, traces, out, limit, seeds };
        let bar = progress::Runs::new(self.progress.quiet);
        let watch = Watch {
            control: Control { stop: signals::stop_flag(), progress: &|_| () },
            step: &|step| bar.follow_study(step),
        };
        let found = ablation::study(&request, watch);
        bar.clear();
        let Some(finding) = found? else {
            console::note(&progress::resumes_from(&request.out));
            return Ok(Exit::Stopped);
        };
        console::print(&report(&finding, &request.out));
        Ok(Exit::Done)
    }
}

/// Returns the workloads that the flags of `fowler study` name, each with its label in the tables
/// of the study.
fn workloads(arguments: &Study) -> Result<Vec<(String, WorkloadSpec)>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let none = Reading::default();
    let reading = Reading { format: arguments.format.clone(), ..none.clone() };
    let generators = arguments.workload.iter().map(|name| {
        let source = Source { workload: Some(name.clone()), ..Source::default() };
        (name.clone(), fit::workload(&source, &none, "compact"))
    });
    let traces = arguments.trace.iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let source = Source { trace: Some(path.clone()), ..Source::default() };
        (name, fit::workload(&source, &reading, "compact"))
    });
    let mut all = Vec::new();
    for (name, spec) in generators.chain(traces) {
        all.extend(diagnostics.take(spec).map(|spec| (name, spec)));
    }
    diagnostics.or(all)
}

/// Returns the part of an ablation study's table that is printed. Of a table with rows over all
/// drives and rows for each, this is those over all drives, without the column of drives. Other
/// tables, such as that of drives that no mean includes, are printed whole.
fn printed(sheet: &Sheet) -> Sheet {
    let mut sheet = sheet.clone();
    let has_all = |row: &Vec<_>| row.first().is_some_and(|it: &Cell| it.shown() == PRINTED_DRIVES);
    if sheet.heads.first().is_some_and(|it| it == "drive") && sheet.rows.iter().any(has_all) {
        sheet.rows.retain(has_all);
        sheet.heads.remove(0);
        for row in &mut sheet.rows {
            row.remove(0);
        }
    }
    sheet
}

fn report(finding: &Finding, folder: &Path) -> String {
    let mut text = format!("{}\n\n", console::fitted(&finding.title, 0));
    for sheet in finding.sheets.iter().filter(|sheet| PRINTED.contains(&sheet.name.as_str())) {
        text.push_str(&sheets::text(&printed(sheet)));
    }
    let mut end = String::new();
    for warning in &finding.warnings {
        let _grows = writeln!(end, "note: {warning}");
    }
    let _grows = writeln!(end, "written to {}: {}", folder.display(), finding.files.join(", "));
    text + &console::fitted(&end, 4) + &console::opens(&folder.join(REPORT))
}
