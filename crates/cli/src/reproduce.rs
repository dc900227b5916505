//! `fowler reproduce`: a paper's tables and figures beside its published numbers.

use crate::args::Reproduce;
use crate::{Exit, console, progress, sheets, signals};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::workload::Control;
use fowler_papers::{Paper, Reproduction, Request, Verdict, Watch};
use fowler_report::pages::REPORT;
use std::fmt::Write;
use std::path::PathBuf;

/// Tables that are written but not printed: they are to be sorted and searched, not read.
const ONLY_WRITTEN: [&str; 1] = ["runs"];

pub(crate) fn execute(arguments: &Reproduce) -> Result<Exit, Diagnostics> {
    let paper = Paper::by_name(&arguments.paper)?;
    // A look of a few requests does not replace the tables of the whole.
    let name = format!("{}{}", paper.name(), if arguments.limit.is_some() { "-look" } else { "" });
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from("results").join(name));
    let &Reproduce { limit, brief, .. } = arguments;
    let request = Request { paper, traces: arguments.traces.clone(), out, limit, brief };
    let bar = progress::Runs::new(arguments.quiet);
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

fn report(reproduction: &Reproduction, request: &Request) -> String {
    let mut text = format!("{}\n\n", console::fitted(&reproduction.title, 0));
    let printed = |name: &str| !ONLY_WRITTEN.contains(&name);
    for sheet in reproduction.sheets.iter().filter(|sheet| printed(&sheet.name)) {
        text.push_str(&sheets::text(sheet));
    }
    let mut end = String::new();
    let _grows = writeln!(end, "{}", Verdict::counted(&reproduction.verdicts));
    if let Some(limit) = request.limit {
        let _grows =
            writeln!(end, "{limit} requests of each run at most: a look, not a reproduction");
    }
    for warning in &reproduction.warnings {
        let _grows = writeln!(end, "note: {warning}");
    }
    let folder = request.out.display();
    let _grows = writeln!(end, "written to {folder}: {}", reproduction.files.join(", "));
    text + &console::fitted(&end, 4) + &console::opens(&request.out.join(REPORT))
}
