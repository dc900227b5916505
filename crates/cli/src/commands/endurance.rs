//! `fowler endurance`: what a host can write before the cells have had their cycles.

use crate::action::Action;
use crate::exit::Exit;
use crate::flags::{Addresses, Answer, Bar, Drive, Policies, Reading, Source, SummaryFolder};
use crate::output::{Output, Wanted};
use crate::{console, fit, progress, sheets, signals};
use clap::Args;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::workload::Control;
use fowler_standards::Watch;
use fowler_standards::endurance::{self, EnduranceSpec, Load};
use std::path::PathBuf;

/// What a host can write before the cells have had their cycles: TBW, DWPD and UBER, in the
/// manner of JESD218 and JESD219
#[derive(Debug, Args)]
pub(crate) struct Endurance {
    /// The standard
    #[arg(long, value_name = "STANDARD", default_value = "jesd219", value_parser = ["jesd219"])]
    pub standard: String,
    #[command(flatten)]
    pub drive: Drive,
    #[command(flatten)]
    pub policies: Policies,
    /// A client drive: a trace takes the place of the client workload, which JEDEC sells
    #[arg(long)]
    pub client: bool,
    /// With --client: a block trace, plain or packed with zstd or gzip; - is standard input
    #[arg(long, value_name = "FILE", requires = "client")]
    pub trace: Option<PathBuf>,
    #[command(flatten)]
    pub reading: Reading,
    #[command(flatten)]
    pub addresses: Addresses,
    /// The years of the drive writes per day [default: those of the drive, lifetime.target]
    #[arg(long, value_name = "N")]
    pub years: Option<f64>,
    #[command(flatten)]
    pub answer: Answer,
    #[command(flatten)]
    pub folder: SummaryFolder,
    #[command(flatten)]
    pub progress: Bar,
}

impl Action for Endurance {
    fn traces(&mut self) -> Vec<&mut PathBuf> {
        self.trace.iter_mut().collect()
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        let schemes: Vec<String> = self.policies.scheme.iter().cloned().collect();
        let mut inputs = fit::drive_files(&self.drive, &schemes);
        inputs.extend(self.trace.iter().map(|path| ("--trace".to_string(), path.clone())));
        let mut diagnostics = Diagnostics::default();
        let spec = diagnostics.take(spec(&self));
        if let Some(spec) = &spec {
            diagnostics.0.extend(endurance::check(spec).0);
        }
        let wanted = Wanted::default();
        let output = Output::open(self.folder.out.as_deref(), wanted, &inputs, |_| Vec::new());
        let output = diagnostics.take(output);
        diagnostics.or(())?;
        let (Some(output), Some(spec)) = (output, spec) else { return Ok(Exit::Fault) };
        let bar = progress::Shares::new(self.progress.quiet, "purging the drive");
        let watch = Watch {
            control: Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) },
            share: &|_, share| bar.set(share),
            say: &|text| bar.say(text),
        };
        let answer = endurance::endurance(&spec, watch);
        bar.clear();
        let Some(answer) = answer? else {
            console::note("stopped: there is no result");
            return Ok(Exit::Stopped);
        };
        let json = format!("{:#}\n", answer.json());
        output.summary(&json)?;
        output.list("endurance", [])?;
        if self.answer.json {
            console::print(&json);
            output.note_opens();
        } else {
            let uber = answer.uber_sheet();
            // A drive without bit errors has only the line that says so.
            let uber = match uber.rows.is_empty() {
                true => console::fitted(&format!("{}\n", uber.title), 0),
                false => sheets::text(&uber),
            };
            let tables = sheets::text(&answer.sheet()) + &uber;
            console::print(&(tables + &output.opens()));
        }
        Ok(Exit::Done)
    }
}

fn spec(arguments: &Endurance) -> Result<EnduranceSpec, Diagnostics> {
    let Endurance { trace, reading, addresses, .. } = arguments;
    let load = match (arguments.client, trace) {
        (true, None) => {
            let what = "the client workload of JESD219A replays a trace that JEDEC sells, which is not available here";
            let hint = "name a trace of your own: --trace FILE".to_string();
            return Err(Diagnostic::new("--client", what).hint(hint).into());
        }
        (_, Some(_)) => {
            let source = Source { trace: trace.clone(), workload: None };
            Load::Client(Box::new(fit::workload(&source, reading, &addresses.remap)?))
        }
        (false, None) => {
            fit::no_reading(reading, "belongs to --trace, and there is none")?;
            Load::Enterprise
        }
    };
    Ok(EnduranceSpec {
        device: fit::device(&arguments.drive),
        scheme: arguments.policies.scheme.clone(),
        load,
        years: arguments.years,
    })
}
