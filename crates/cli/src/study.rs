//! `fowler study`: what systems buy together.

use crate::args::{Reading, Source, Study};
use crate::{Exit, console, fit, progress, sheets, signals};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_papers::Watch;
use fowler_papers::ablation::{self, Finding, Request};
use fowler_report::pages::REPORT;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// Tables that are printed; the others are to be sorted and searched, not read.
const PRINTED: [&str; 2] = ["worth", "interactions"];

pub(crate) fn execute(arguments: &Study) -> Result<Exit, Diagnostics> {
    let look = if arguments.limit.is_some() { "-look" } else { "" };
    let name = format!("study-{}{look}", arguments.study);
    let out = arguments.out.clone().unwrap_or_else(|| PathBuf::from("results").join(name));
    let workloads = workloads(arguments)?;
    let (traces, limit) = (arguments.traces.clone(), arguments.limit);
    let request = Request { workloads, traces, out, limit, seeds: arguments.seeds };
    let bar = progress::Runs::new(arguments.quiet);
    let watch = Watch {
        control: Control { stop: signals::stop_flag(), progress: &|_| () },
        step: &|step| bar.follow_study(step),
    };
    let found = ablation::all(&request, watch);
    bar.clear();
    let Some(finding) = found? else {
        console::note(&progress::resumes_from(&request.out));
        return Ok(Exit::Stopped);
    };
    console::print(&report(&finding, &request.out));
    Ok(Exit::Done)
}

/// The workloads that were asked for, by their names.
fn workloads(arguments: &Study) -> Result<Vec<(String, WorkloadSpec)>, Diagnostics> {
    let mut diagnostics = Diagnostics::default();
    let none = Reading::default();
    let reading = Reading { format: arguments.format.clone(), ..none.clone() };
    let generators = arguments.workload.iter().map(|name| {
        let source = Source { trace: None, workload: Some(name.clone()) };
        (name.clone(), fit::workload(&source, &none, "compact"))
    });
    let traces = arguments.trace.iter().map(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let source = Source { trace: Some(path.clone()), workload: None };
        (name, fit::workload(&source, &reading, "compact"))
    });
    let mut all = Vec::new();
    for (name, spec) in generators.chain(traces) {
        all.extend(diagnostics.take(spec).map(|spec| (name, spec)));
    }
    diagnostics.or(all)
}

fn report(finding: &Finding, folder: &Path) -> String {
    let mut text = format!("{}\n\n", console::fitted(&finding.title, 0));
    for sheet in finding.sheets.iter().filter(|sheet| PRINTED.contains(&sheet.name.as_str())) {
        text.push_str(&sheets::text(sheet));
    }
    let mut end = String::new();
    for warning in &finding.warnings {
        let _grows = writeln!(end, "note: {warning}");
    }
    let _grows = writeln!(end, "written to {}: {}", folder.display(), finding.files.join(", "));
    text + &console::fitted(&end, 4) + &console::opens(&folder.join(REPORT))
}
