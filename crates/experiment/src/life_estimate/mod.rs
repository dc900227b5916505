//! Estimates of a drive's life: in closed form before it is simulated, and from measured write
//! amplification during the simulation.

pub mod survey;

pub use survey::Survey;

use crate::device_spec::Resolved;
use crate::diagnostic::Diagnostics;
use crate::workload::{Control, Workload};
use fowler_device::policy::throttle::ThrottleKind;
use fowler_theory::gc;
use fowler_units::Span;

/// Seconds in a day.
const DAY_S: f64 = 86_400.0;
/// Seconds in a year of 365 days.
pub const YEAR_S: f64 = 365.0 * DAY_S;

/// Estimated life of a drive that serves repetitions of one workload.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Estimate {
    /// Pages programmed for each host page (write amplification): lower and upper bound.
    pub waf: [f64; 2],
    /// Years until the cells reach their endurance, including their recovery while they rest. The
    /// first number is at the upper bound of the write amplification (`waf`), the second at the
    /// lower bound.
    pub years: [f64; 2],
    /// Years until the cells reach their rated P/E cycles, without recovery. The first number is at
    /// the upper bound of the write amplification (`waf`), the second at the lower bound.
    pub rated_years: [f64; 2],
    /// Number of times per day that the host writes the drive's logical capacity.
    pub drive_writes_per_day: f64,
    /// Bytes that the host writes during the life of the drive (`years`). The first number is at
    /// the upper bound of the write amplification (`waf`), the second at the lower bound.
    pub written: [f64; 2],
    /// True if the drive has a write throttle, which delays host writes if the drive would
    /// otherwise not reach its target life.
    pub throttled: bool,
}

/// Longest life reported in years; beyond it, something else ends the drive before its cells do.
pub const LONG_YEARS: f64 = 100.0;

/// Returns a drive's life in years as text with about two digits: estimates of life are no more
/// precise.
pub fn in_words(years: f64) -> String {
    match years {
        _ if years > LONG_YEARS => format!("more than {LONG_YEARS}"),
        _ if years >= 10.0 => format!("{years:.0}"),
        _ if years >= 1.0 => format!("{years:.1}"),
        _ => format!("{years:.2}"),
    }
}

/// Returns the estimated life of a drive in closed form: from what the host writes, the cycles of
/// the cells, and the bounds of write amplification. At best nothing is ever moved. The worst that
/// is considered are writes to random pages of the whole drive, with greedy collection
/// ([`gc::greedy`]). Hot and cold data in the same blocks may cost more, and so may a drive of few
/// blocks: the formula is that of many.
pub fn first(drive: &Resolved, survey: &Survey) -> Estimate {
    // A drive without spare moves all but one page of each block.
    let pages = f64::from(drive.layout.geometry.pages_per_block);
    at(drive, survey, [1.0, greedy(drive).unwrap_or(pages)])
}

/// Returns the write amplification of random writes over the whole drive with greedy collection, in
/// closed form; `None` if the drive has no spare.
pub fn greedy(drive: &Resolved) -> Option<f64> {
    let layout = &drive.layout;
    let geometry = &layout.geometry;
    if drive.config.ftl.has_superblocks() {
        let each = layout.pages() / u64::from(layout.reclaim_units);
        let load = f64::from(layout.mapped_pages) / layout.pages() as f64;
        return gc::greedy(load, u32::try_from(each).unwrap_or(u32::MAX));
    }
    let filled = u64::from(layout.plane_limit()) * u64::from(geometry.planes());
    let load = f64::from(layout.mapped_pages) / filled as f64;
    gc::greedy(load, geometry.pages_per_block)
}

/// Returns the estimated life of a drive at a write amplification that was measured.
pub fn at_waf(drive: &Resolved, survey: &Survey, waf: f64) -> Estimate {
    at(drive, survey, [waf, waf])
}

fn at(drive: &Resolved, survey: &Survey, waf: [f64; 2]) -> Estimate {
    let config = &drive.config;
    let host_pages_s = survey.pages as f64 / survey.span.as_s();
    let host_bytes_s = survey.bytes as f64 / survey.span.as_s();
    // Pages in the survey are mapping units, which may be smaller than flash pages.
    let pages = drive.layout.pages() as f64;
    let [best, worst] = waf.map(|waf| lives_s(drive, host_pages_s * waf / pages));
    let rated = |waf: f64| config.life.cycles * pages / (host_pages_s * waf) / YEAR_S;
    Estimate {
        waf,
        years: [worst / YEAR_S, best / YEAR_S],
        rated_years: [rated(waf[1]), rated(waf[0])],
        drive_writes_per_day: host_bytes_s * DAY_S / drive.layout.logical.0 as f64,
        written: [worst, best].map(|seconds| seconds * host_bytes_s),
        throttled: config.throttle.name != ThrottleKind::Off,
    }
}

/// Returns the seconds until the cells of a drive reach their endurance if each block has
/// `cycles_s` P/E cycles per second. Endurance includes the recovery of cells in the time between
/// two cycles, as in a simulated life.
fn lives_s(drive: &Resolved, cycles_s: f64) -> f64 {
    let life = &drive.config.life;
    let rested = Span((1e9 / cycles_s).min(u64::MAX as f64) as u64);
    let endurance = life.endurance().expect("refused otherwise");
    let endured = endurance.achievable(life.cycles, rested);
    endured / cycles_s
}

/// Surveys one repetition of a workload, whatever it holds; the span is zero if all requests have
/// the same time. `None` if the survey was stopped.
///
/// # Errors
/// If the workload cannot be read.
pub fn look(
    workload: &Workload,
    drive: &Resolved,
    limit: Option<u64>,
    control: Control<'_>,
) -> Result<Option<Survey>, Diagnostics> {
    survey::look(workload, drive, (1.0, limit), control)
        .map(|found| found.map(|(survey, _)| survey))
}
