//! `fowler reproduce`: a paper's tables and figures, compared with its published numbers.

use crate::action::Action;
use crate::exit::Exit;
use crate::flags::Bar;
use crate::{console, progress, sheets, signals};
use clap::Args;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::numbers::NOTHING;
use fowler_experiment::tables::Sheet;
use fowler_experiment::workload::Control;
use fowler_papers::{Paper, Reproduction, Request, STUDIES, Verdict, Watch};
use fowler_report::pages::REPORT;
use std::fmt::Write;
use std::path::PathBuf;

/// Reproduce a paper's tables and figures, with a verdict on each published number
#[derive(Debug, Args)]
#[command(
    after_help = "Exit codes: 0 done, whatever the verdicts; 2 the input is wrong; 130 stopped with \
                        Ctrl-C: what is finished is saved, and the same command resumes from there"
)]
pub(crate) struct Reproduce {
    #[arg(help = papers())]
    pub paper: String,
    /// Folder of the real traces that the paper replays; their results are shown beside those of
    /// the synthetic traces that Fowler generates in their place
    #[arg(long, value_name = "DIR")]
    pub traces: Option<PathBuf>,
    /// Folder for tables (CSV), figures (SVG), a page of both (report.html) and finished runs
    /// [default: results/PAPER, with --limit results/PAPER-look]
    #[arg(long, value_name = "DIR")]
    pub out: Option<PathBuf>,
    /// Maximum number of requests of each run: a preview, not a reproduction
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    pub limit: Option<u64>,
    /// Reproduce only the paper's tables and figures, once: skip studies of details that the paper
    /// does not state and of writes that reads keep from finishing, and repetitions with other
    /// seeds and lengths
    #[arg(long)]
    pub brief: bool,
    #[command(flatten)]
    pub progress: Bar,
}

/// Lists the papers that can be reproduced, each with a few words, for the help of the argument.
fn papers() -> String {
    let named = |paper: &Paper| format!("{} ({})", paper.name(), paper.about());
    let mut papers: Vec<String> = STUDIES.iter().map(named).collect();
    let last = papers.pop().unwrap_or_default();
    format!("The paper: {} or {last}", papers.join(", "))
}

/// Tables of a reproduction that are written but not printed: they are to be sorted and searched,
/// not read.
const ONLY_WRITTEN: [&str; 1] = ["runs"];
/// Name of the table of a paper's claims, which has several sentences in each row.
const CLAIMS: &str = "claims";
/// Characters of a line where standard output is no terminal.
const LINE_WIDTH: usize = 120;

impl Action for Reproduce {
    fn execute(self) -> Result<Exit, Diagnostics> {
        let paper = Paper::by_name(&self.paper)?;
        // A look of a few requests does not replace the tables of the whole.
        let name = format!("{}{}", paper.name(), if self.limit.is_some() { "-look" } else { "" });
        let out = self.out.clone().unwrap_or_else(|| PathBuf::from("results").join(name));
        let Reproduce { limit, brief, .. } = self;
        let request = Request { paper, traces: self.traces.clone(), out, limit, brief };
        let bar = progress::Runs::new(self.progress.quiet);
        let watch = Watch {
            control: Control { stop: signals::stop_flag(), progress: &|_| () },
            step: &|step| bar.follow_study(step),
        };
        let reproduced = fowler_papers::reproduce(&request, watch);
        bar.clear();
        let Some(reproduction) = reproduced? else {
            console::note(&progress::resumes_from(&request.out));
            return Ok(Exit::Stopped);
        };
        console::print(&report(&reproduction, &request));
        Ok(Exit::Done)
    }
}

/// Returns a line for each claim of a reproduced paper: the verdict on the claim (reproduced or
/// not), the claim, and the numbers of the paper and of this simulator. Text too long for the line
/// is only in the CSV file of claims.
fn claims(sheet: &Sheet, verdicts: &[Verdict]) -> String {
    let mut text = format!("{} (the whole table: {CLAIMS}.csv)\n\n", sheet.title);
    let [ids, claims, published, ours] =
        ["id", "claim", "published", "ours"].map(|head| sheet.texts(head));
    let width = console::width().unwrap_or(LINE_WIDTH);
    for (row, verdict) in verdicts.iter().enumerate() {
        let found = [("published", &published[row]), ("ours", &ours[row])];
        let found: String = found
            .iter()
            .filter(|(_, value)| !value.is_empty() && *value != NOTHING)
            .map(|(whose, value)| format!("; {whose}: {value}"))
            .collect();
        let verdict = verdict.name();
        let line = format!(
            "{}  {verdict:<named$}  {}{found}",
            ids[row],
            claims[row],
            named = Verdict::NAME_WIDTH
        );
        text.push_str(&shortened(&line, width));
        text.push('\n');
    }
    text.push('\n');
    text
}

/// Returns the line, cut off with an ellipsis where it has more than `width` characters.
fn shortened(line: &str, width: usize) -> String {
    if line.chars().count() <= width {
        return line.into();
    }
    let kept: String = line.chars().take(width.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

fn report(reproduction: &Reproduction, request: &Request) -> String {
    let mut text = format!("{}\n\n", console::fitted(&reproduction.title, 0));
    let printed = |name: &str| !ONLY_WRITTEN.contains(&name);
    for sheet in reproduction.sheets.iter().filter(|sheet| printed(&sheet.name)) {
        match &*sheet.name {
            CLAIMS => text.push_str(&claims(sheet, &reproduction.verdicts)),
            _ => text.push_str(&sheets::text(sheet)),
        }
    }
    let mut end = String::new();
    for sentence in &reproduction.summary {
        let _grows = writeln!(end, "{sentence}");
    }
    for warning in &reproduction.warnings {
        let _grows = writeln!(end, "note: {warning}");
    }
    let folder = request.out.display();
    let _grows = writeln!(end, "written to {folder}: {}", reproduction.files.join(", "));
    text + &console::fitted(&end, 4) + &console::opens(&request.out.join(REPORT))
}
