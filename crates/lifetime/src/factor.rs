//! The dilation of a lifetime: its choice, its limits, and the dilated drive.

use super::survey::Survey;
use fowler_device::Config;
use fowler_device::policy::throttle::ThrottleKind;
use fowler_experiment::device_spec::{self, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;

/// Upper limit of the page programs in a simulated lifetime, used to choose the default dilation
/// (real repetitions per simulated one). So many take about a minute on one core, with the second
/// life at twice the dilation (docs/ready.md).
const PROGRAMS_MOST: f64 = 7e8;

/// Write amplification assumed before it is measured, to choose how many real repetitions of the
/// workload one simulated repetition stands for (the dilation).
pub(crate) const WAF_GUESSED: f64 = 2.2;

/// The fewest repetitions of the workload that are simulated in a lifetime where each stands for
/// several real ones. With fewer, differences between parts of the workload decide the result.
const REPETITIONS_FEWEST: u32 = 3;

/// Returns the lowest dilation (real repetitions of the workload per simulated one) at which a
/// lifetime has about [`PROGRAMS_MOST`] programs, limited so that even at `times` that dilation a
/// host slowed by the write throttle completes [`REPETITIONS_FEWEST`] simulated repetitions.
pub(crate) fn chosen(config: &Config, survey: &Survey, times: u32) -> u32 {
    let own = config.life.dilation;
    if own > 1 {
        return own;
    }
    let demand =
        config.life.target.0 as f64 / survey.span.0 as f64 * survey.pages as f64 * WAF_GUESSED;
    let fewest = libm::ceil(allowed(config, demand) / PROGRAMS_MOST);
    let least = f64::from(REPETITIONS_FEWEST * times);
    let most = libm::floor(repetitions(config, survey, WAF_GUESSED) / least);
    fewest.min(most).max(1.0) as u32
}

/// Returns the number of repetitions of the workload that the host completes in a life if each host
/// page costs `waf` page programs. Time for which the write throttle blocks the host does not
/// count, so a throttled host completes fewer than the length of the life allows.
pub(crate) fn repetitions(config: &Config, survey: &Survey, waf: f64) -> f64 {
    let repetitions = config.life.target.0 as f64 / survey.span.0 as f64;
    let demand = repetitions * survey.pages as f64 * waf;
    repetitions * (allowed(config, demand) / demand)
}

/// Returns the number of pages that the write throttle lets the drive program in its life: at most
/// `demand`, the number that the workload would program without a throttle.
fn allowed(config: &Config, demand: f64) -> f64 {
    let pages = config.layout().expect("the layout was checked before").pages() as f64;
    match config.throttle.name {
        ThrottleKind::Off => demand,
        ThrottleKind::FixedRate | ThrottleKind::Dynamic => demand.min(pages * config.life.cycles),
        ThrottleKind::Ready => {
            let endurance = config.life.endurance().expect("refused otherwise");
            demand.min(pages * endurance.sustained(config.life.cycles, config.life.target))
        }
    }
}

/// Refuses a dilation (real repetitions of the workload per simulated one) that leaves fewer than
/// [`REPETITIONS_FEWEST`] simulated repetitions, also in the second life at `times` the dilation. A
/// dilation of 1 is not refused.
pub(crate) fn too_few_repetitions(
    config: &Config,
    survey: &Survey,
    (dilation, times): (u32, u32),
) -> Result<(), Diagnostics> {
    let whole = config.life.target.0 as f64 / survey.span.0 as f64;
    let left = whole / f64::from(dilation) / f64::from(times);
    if dilation == 1 || left >= f64::from(REPETITIONS_FEWEST) {
        return Ok(());
    }
    let check = if times > 1 { " in the check at twice that" } else { "" };
    let what = format!(
        "a dilation of {dilation} (real repetitions for each simulated one) leaves {left:.1} \
            repetitions of the workload{check}: too few to average out the differences between \
            parts of the life"
    );
    let most = libm::floor(whole / f64::from(REPETITIONS_FEWEST * times)).max(1.0);
    let expected =
        format!("a dilation of at most {most}, so that at least three repetitions are simulated");
    let hint = (times > 1)
        .then(|| "without the check (--no-check), twice that dilation is allowed".to_string());
    Err(Diagnostic::new("lifetime.dilation", what).expected(expected).hint(hint).into())
}

pub(crate) fn dilated(drive: &Resolved, dilation: u32) -> Result<Config, Diagnostics> {
    let mut config = drive.config.clone();
    config.life.dilation = dilation;
    config.layout().map_err(|refusals| refused(drive, refusals))?;
    Ok(config)
}

pub(crate) fn refused(drive: &Resolved, refusals: Vec<fowler_device::Refusal>) -> Diagnostics {
    device_spec::refused(&drive.device, &BTreeMap::new(), refusals)
}
