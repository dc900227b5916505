//! `fowler explain`: why the slowest requests were slow.

use crate::action::Action;
use crate::exit::{Exit, combine_exit, exit_of, stopped_or};
use crate::flags::{Answer, Load, Policies};
use crate::stdin::TraceInput;
use crate::{console, fit, progress, report, signals};
use clap::Args;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::timeline::{self, Choice, Recorded};
use fowler_experiment::workload::Control;

/// Explain why the slowest requests were slow: what each waited for, operation by operation
#[derive(Debug, Args)]
pub(crate) struct Explain {
    #[command(flatten)]
    pub policies: Policies,
    /// Number of slow requests to explain
    #[arg(long, value_name = "K", default_value_t = 5)]
    pub slowest: usize,
    #[command(flatten)]
    pub answer: Answer,
    #[command(flatten)]
    pub load: Load,
}

impl Action for Explain {
    fn traces(&mut self) -> Vec<TraceInput<'_>> {
        self.load.traces(|limit| limit)
    }

    fn fans_out(&self) -> bool {
        false
    }

    fn execute(self) -> Result<Exit, Diagnostics> {
        let mut diagnostics = Diagnostics::default();
        let choice = diagnostics.take(timeline::slowest(self.slowest, "--slowest"));
        let choice = choice.map(Choice::Explained);
        let candidate = fit::candidate(&self.load.drive, self.policies.scheme.as_ref());
        let spec = fit::run_spec(&self.load, &candidate, &mut diagnostics);
        diagnostics.or(())?;
        let (Some(choice), Some(spec)) = (choice, spec) else { return Ok(Exit::Fault) };
        let bar = progress::Requests::new(self.load.progress.quiet);
        let control = Control { stop: signals::stop_flag(), progress: &|step| bar.follow(step) };
        let recorded = timeline::record(&spec, choice, control);
        bar.clear();
        let Recorded { outcome, timeline, diagnostics } = match recorded {
            Err(diagnostics) => return stopped_or(diagnostics, control),
            Ok(recorded) => recorded,
        };
        let text = if self.answer.json {
            format!("{:#}\n", timeline.explained_json(&outcome))
        } else {
            let texts = timeline.explain(&outcome).into_iter().map(|it| it.text);
            report::explanations(&outcome, texts)
        };
        console::print(&text);
        Ok(combine_exit(exit_of(&[outcome]), &diagnostics))
    }
}
