//! Surveys one repetition of a workload before a lifetime of many, and rejects workloads that
//! cannot be repeated to the end of a life.

use fowler_experiment::device_spec::Resolved;
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::life_estimate::survey::look;
pub(super) use fowler_experiment::life_estimate::survey::{Survey, changes_data};
use fowler_experiment::workload::{Control, Workload, WorkloadReport};
use fowler_units::Span;

/// Counts the requests, writes, pages and time span of one repetition of a lifetime's workload;
/// `None` if stopped.
///
/// # Errors
///
/// If the workload cannot be read, or cannot be repeated to the end of a life.
pub(super) fn survey(
    workload: &Workload,
    drive: &Resolved,
    (speed, limit): (f64, Option<u64>),
    control: Control<'_>,
) -> Result<Option<(Survey, WorkloadReport)>, Diagnostics> {
    workload.refuse_faults("a lifetime has neither power losses nor other faults")?;
    let looked = look(workload, drive, (speed, limit), control)?;
    let Some((survey, report)) = looked else { return Ok(None) };
    if survey.writes == 0 {
        let what = format!(
            "none of its {} requests is a write, so nothing wears the drive",
            survey.requests
        );
        return Err(Diagnostic::new(report.name.clone(), what)
            .expected("a workload that writes")
            .into());
    }
    if survey.span == Span::ZERO {
        let what =
            "all of its requests arrive at the same time, so it has no period to repeat it with";
        let hint = "use a workload with arrival times";
        return Err(Diagnostic::new(report.name.clone(), what).hint(hint.to_string()).into());
    }
    Ok(Some((survey, report)))
}
