//! Endurance in the manner of JESD218 and JESD219: the bytes that a host can write before the cells
//! have had their rated cycles.
//!
//! The enterprise workload is written to a drive until its cost in the flash, in bytes programmed
//! per byte of the host, is steady. The client workload of JESD219A replays a trace that JEDEC
//! sells; a trace of the user's takes its place. Then
//!
//! ```text
//! TBW  = P/E cycles * capacity / WAF
//! DWPD = TBW / (capacity * days)
//! ```
//!
//! in which WAF counts bytes: a write of part of a page programs all of it.

use super::bench_drive::Measured;
use super::element::Element;
use super::jesd219;
use super::rig::Rig;
use super::rounds::Point;
use super::saturation::merged;
use super::steady_state::{ROUNDS_MOST, WINDOW, Window, first_steady};
use super::stimulus::ActiveRange;
use super::test_progress::{TestProgress, Watch};
use super::uber::{Uber, rates};
use fowler_device::Pattern;
use fowler_experiment::device_spec::{self, DeviceSpec, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::life_estimate::{self, Survey};
use fowler_experiment::memory;
use fowler_experiment::run;
use fowler_experiment::workload::{Workload, WorkloadSpec};
use fowler_units::{Nanos, Span};

/// Size in bytes of the sequential writes that fill the drive before an endurance measurement.
const FILL: u32 = 128 << 10;
/// Interval of 1 s of simulated time after which an endurance measurement counts the host's writes.
/// Each round of the measurement lasts as many intervals as it needs.
const MINUTE: Span = Span(1_000_000_000);
const DAY_S: f64 = 86_400.0;
const YEAR_S: f64 = 365.0 * DAY_S;

/// The workload that an endurance measurement writes.
#[derive(Clone, Debug)]
pub enum Load {
    /// The enterprise workload of JESD219.
    Enterprise,
    /// A trace given by the user, in place of the client workload.
    Client(Box<WorkloadSpec>),
}

/// Specification of an endurance measurement.
#[derive(Clone, Debug)]
pub struct EnduranceSpec {
    /// The drive whose endurance is measured; its configuration keys include its rated P/E cycles.
    pub device: DeviceSpec,
    /// Scheme of the drive; `None` leaves the drive as described.
    pub scheme: Option<String>,
    /// Workload that the endurance measurement writes to the drive.
    pub load: Load,
    /// Years over which drive writes per day are counted; `None` takes those of the drive.
    pub years: Option<f64>,
}

/// Cost of a workload in flash writes, as an endurance measurement finds it.
#[derive(Clone, Debug, PartialEq)]
pub struct Cost {
    /// Bytes programmed for each byte that the host writes (write amplification).
    pub waf: f64,
    /// Pages programmed for each page that the translation layer programs for the host.
    pub waf_pages: f64,
    /// Bytes programmed for each byte of the host, for each round in which the host writes the user
    /// capacity once; empty for a trace.
    pub rounds: Vec<f64>,
    /// Window of rounds over which write amplification is measured; `None` for a trace.
    pub window: Option<Window>,
    /// Ratio of the most erases of a block in the run to the mean; `None` for a trace.
    pub unevenness: Option<f64>,
    /// Number of pages that were read and could not be corrected, and number of bits that the host
    /// read; `None` for a trace.
    pub unreadable: Option<(u64, f64)>,
    /// Simulated time of the endurance measurement; `None` if a trace is the workload, because
    /// repetitions of a trace are simulated without the timing of dies.
    pub simulated: Option<Span>,
}

/// Result of an endurance measurement.
#[derive(Clone, Debug)]
pub struct Endurance {
    /// The drive, with its settings, of which endurance was measured.
    pub drive: Resolved,
    /// Description of the workload that the host wrote to the drive to measure endurance.
    pub workload: String,
    /// Cost of the workload in flash writes.
    pub cost: Cost,
    /// Years over which the rated endurance of the drive is spread to give drive writes per day
    /// (DWPD).
    pub years: f64,
    /// Uncorrectable bit error rate (UBER) at the rated cycles, by age of the data; empty if the
    /// drive has no bit errors.
    pub uber: Vec<Uber>,
    /// Life of the drive at one drive write per day: years until the cells have had their rated
    /// cycles, and years with recovery while the cells rest, by the formulas of `fowler lifetime`.
    pub at_one_dwpd: [f64; 2],
    /// Life of the drive in years at the write rate of the trace: until the cells have had their
    /// rated cycles, and with recovery while they rest. `None` for the enterprise workload, which
    /// has no rate.
    pub at_trace: Option<[f64; 2]>,
}

impl Endurance {
    /// Returns the bytes that a host can write until `capacity` bytes of flash have had their rated
    /// cycles.
    fn written(&self, capacity: u64) -> f64 {
        self.drive.config.life.cycles * capacity as f64 / self.cost.waf
    }

    /// Returns the terabytes (10^12 bytes) that the host can write, by the user capacity, as data
    /// sheets state them.
    pub fn tbw(&self) -> f64 {
        self.written(self.drive.layout.logical.0) / 1e12
    }

    /// Returns the terabytes that the host can write, by the raw capacity: the spare blocks have
    /// cycles as well.
    pub fn tbw_raw(&self) -> f64 {
        self.written(self.drive.layout.raw.0) / 1e12
    }

    /// Returns the drive writes per day (writes of the user capacity) by which the host writes
    /// `tbw` terabytes (10^12 bytes) in the `years` over which they are counted.
    pub fn dwpd(&self, tbw: f64) -> f64 {
        tbw * 1e12 / (self.drive.layout.logical.0 as f64 * self.years * 365.0)
    }

    /// Returns the uncorrectable bit error rate counted in the run; `None` if the run counts none.
    pub fn counted_uber(&self) -> Option<f64> {
        let (pages, bits) = self.cost.unreadable?;
        (bits > 0.0 && !self.uber.is_empty()).then(|| pages as f64 / bits)
    }
}

/// Checks the specification of an endurance measurement.
pub fn check(spec: &EnduranceSpec) -> Diagnostics {
    let schemes: Vec<String> = spec.scheme.iter().cloned().collect();
    let workload = match &spec.load {
        Load::Enterprise => None,
        Load::Client(workload) => Some(&**workload),
    };
    let mut diagnostics = run::check(&spec.device, &schemes, workload, &[]);
    if let Some(years) = spec.years.filter(|years| !(*years > 0.0 && *years <= 1000.0)) {
        let what = format!("{years} years");
        let expected = "a number above 0, and at most 1000";
        diagnostics.push(Diagnostic::new("--years", what).expected(expected));
    }
    diagnostics
}

/// Measures the endurance of a drive. `None` if stopped.
///
/// # Errors
///
/// All errors in the drive and the workload.
pub fn endurance(spec: &EnduranceSpec, watch: Watch<'_>) -> Result<Option<Endurance>, Diagnostics> {
    let scheme = spec.device.scheme(spec.scheme.as_deref())?;
    let drive = device_spec::resolve(&spec.device.source()?, &scheme, &spec.device)?;
    let years = spec.years.unwrap_or(drive.config.life.target.as_s() / YEAR_S);
    let (cost, workload, at_trace) = match &spec.load {
        Load::Enterprise => {
            let Some(cost) = enterprise(&drive, watch)? else { return Ok(None) };
            (cost, "the enterprise workload of JESD219".to_string(), None)
        }
        Load::Client(workload) => {
            let Some((cost, survey)) = client(&drive, workload, watch)? else { return Ok(None) };
            let name = workload_name(workload);
            let lived = (survey.span > Span::ZERO).then(|| lives(&drive, &survey, cost.waf_pages));
            (cost, format!("{name}, in place of the client workload of JESD219A"), lived)
        }
    };
    let uber = rates(&drive.config, drive.config.life.cycles);
    let at_one_dwpd = lives(&drive, &one_dwpd(&drive, &cost), cost.waf_pages);
    Ok(Some(Endurance { drive, workload, cost, years, uber, at_one_dwpd, at_trace }))
}

fn workload_name(workload: &WorkloadSpec) -> String {
    match workload {
        WorkloadSpec::Trace(spec) => spec.path.display().to_string(),
        WorkloadSpec::Generated(source) => source.name.clone(),
        WorkloadSpec::Custom(custom) => custom.source.name(),
    }
}

/// Returns the writes of a host that writes the user capacity once in a day, with the pages that
/// these writes program at write amplification `cost`.
fn one_dwpd(drive: &Resolved, cost: &Cost) -> Survey {
    let (bytes, page) = (drive.layout.logical.0, drive.layout.page_size.0 as f64);
    let pages = bytes as f64 * cost.waf / cost.waf_pages / page;
    let (first, span) = (Nanos::ZERO, Span((DAY_S * 1e9) as u64));
    Survey { requests: 1, writes: 1, bytes, pages: pages as u64, first, span, ..Survey::default() }
}

/// Returns the years until the drive's cells have had their rated cycles, and the years with
/// recovery.
fn lives(drive: &Resolved, survey: &Survey, waf: f64) -> [f64; 2] {
    let estimate = life_estimate::at_waf(drive, survey, waf);
    [estimate.rated_years[0], estimate.years[0]]
}

/// Returns a purged and filled drive on which the enterprise workload for measuring endurance can
/// run; `None` if stopped.
fn filled<'a>(
    drive: &Resolved,
    watch: Watch<'a>,
    progress: &TestProgress<'_>,
) -> Result<Option<Rig<'a>>, Diagnostics> {
    memory::refuse_run(drive, 1)?;
    let drive = drive.clone().changed(|config| {
        let precondition = &mut config.precondition;
        (precondition.fill, precondition.pattern, precondition.warm_up) =
            (0.0, Pattern::Sequential, 0);
    })?;
    let logical = drive.layout.logical.0;
    if logical < u64::from(FILL) {
        let what = format!("the drive has {}", drive.layout.logical);
        return Err(Diagnostic::new(&drive.device, what).expected("at least 128KiB").into());
    }
    let range = ActiveRange { span: logical, amount: logical };
    let purged = Rig::purged(&drive.device, &drive.config, (range, MINUTE), watch.control)?;
    let Some(mut rig) = purged else { return Ok(None) };
    progress.share(0.0, "filling the drive");
    Ok(rig.write_sequentially(FILL, logical).map(|_| rig))
}

/// Writes the enterprise workload in rounds of one user capacity until write amplification is
/// steady.
fn enterprise(drive: &Resolved, watch: Watch<'_>) -> Result<Option<Cost>, Diagnostics> {
    let progress = TestProgress::test(watch, 0, "jesd219");
    let Some(mut rig) = filled(drive, watch, &progress)? else { return Ok(None) };
    let (logical, page) = (drive.layout.logical.0, drive.layout.page_size.0 as f64);
    let erased: Vec<u32> = rig.device.erase_counts().to_vec();
    let before = rig.device.counters();
    let (threads, depth) = jesd219::LOAD;
    let point = Point { stimulus: jesd219::enterprise(), threads, depth, minutes: 1 };
    let cost = |all: &Element| {
        let host = all.written as f64;
        if host > 0.0 { all.programs[0] as f64 * page / host } else { 0.0 }
    };
    // Rounds of one capacity each, and the seconds of the one in progress.
    let (mut rounds, mut values) = (Vec::<Element>::new(), Vec::new());
    let mut from = 0;
    let mut ends = |all: &[Element]| {
        let written: u64 = all[from..].iter().map(|second| second.written).sum();
        progress.round(rounds.len() + 1, (written as f64 / logical as f64).min(1.0));
        if written < logical {
            return false;
        }
        let round = merged(&all[from..]);
        from = all.len();
        values.push(cost(&round));
        rounds.push(round);
        rounds.len() == ROUNDS_MOST || first_steady(&values).is_some()
    };
    let ran = rig.minutes(&point.stimulus, point.outstanding(), &progress.stream(), &mut ends);
    if ran.is_none() {
        return Ok(None);
    }
    let window = first_steady(&values).or_else(|| Window::ending(&values, values.len()));
    let window = window.expect("there are at least five rounds");
    let measured = merged(&rounds[window.last - WINDOW..window.last]);
    let counted = rig.device.counters().since(&before);
    Ok(Some(Cost {
        waf: cost(&measured),
        waf_pages: measured.waf().unwrap_or(1.0),
        rounds: values,
        window: Some(window),
        unevenness: unevenness(rig.device.erase_counts(), &erased),
        unreadable: Some((counted.uncorrectable, counted.pages_read as f64 * page * 8.0)),
        simulated: Some(rig.simulated()),
    }))
}

/// Returns how unevenly blocks were erased between two snapshots of their erase counts: the most
/// erases of any block over the mean erases per block. `None` if no block was erased.
fn unevenness(counts: &[u32], earlier: &[u32]) -> Option<f64> {
    let erases = counts.iter().zip(earlier).map(|(count, earlier)| u64::from(count - earlier));
    let (most, sum) = erases.fold((0, 0), |(most, sum): (u64, u64), it| (most.max(it), sum + it));
    (sum > 0).then(|| most as f64 * counts.len() as f64 / sum as f64)
}

/// Repeats a trace on a drive without dies until write amplification is steady.
fn client(
    drive: &Resolved,
    spec: &WorkloadSpec,
    watch: Watch<'_>,
) -> Result<Option<(Cost, Survey)>, Diagnostics> {
    let control = watch.control;
    let workload = Workload::prepare(spec, drive, None, control)?;
    let Some(survey) = life_estimate::look(&workload, drive, None, control)? else {
        return Ok(None);
    };
    if survey.writes == 0 {
        let what = "nothing is written, so nothing wears the drive";
        return Err(Diagnostic::new(workload.name(), what).into());
    }
    let Some(pages) = fowler_lifetime::write_amplification(drive, spec, None, control)? else {
        if control.stopped() {
            return Ok(None);
        }
        let what =
            "the write buffer absorbs all writes of the workload, so nothing wears the drive";
        return Err(Diagnostic::new(workload.name(), what).into());
    };
    let page = drive.layout.page_size.0 as f64;
    let cost = Cost {
        waf: pages * survey.pages as f64 * page / survey.bytes as f64,
        waf_pages: pages,
        rounds: Vec::new(),
        window: None,
        unevenness: None,
        unreadable: None,
        simulated: None,
    };
    Ok(Some((cost, survey)))
}
