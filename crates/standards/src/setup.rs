//! The drive of a test, and every setting with its source.

use super::spec::{Edition, PtsSpec, Purge, Test};
use super::stimulus::{ActiveRange, PIECE};
use fowler_device::{Ack, Config, Pattern};
use fowler_experiment::device_spec::{self, Resolved};
use fowler_experiment::diagnostic::{Diagnostic, Diagnostics};
use fowler_experiment::numbers::{bytes, percent};
use fowler_experiment::run;
use fowler_units::{Bytes, Span};

/// Largest request of a test in bytes, which the active range (the tested part of the drive) must
/// hold.
const LARGEST: u64 = 1 << 20;
/// Amount of the drive that tests for clients use (PTS-C): 8 GiB.
const CLIENT_AMOUNT: Bytes = Bytes(8 << 30);
/// Longest simulated time that may stand for one minute of a test: an hour.
const MINUTE_MOST: Span = Span(3_600_000_000_000);
/// Shortest simulated time that may stand for one minute of a test: a millisecond. In less time,
/// drives answer too few requests to measure anything.
const MINUTE_LEAST: Span = Span(1_000_000);

/// A setting of the tests, for the report.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setting {
    /// Name of a setting of the tests, such as the active range, in the report's table of settings.
    pub name: &'static str,
    /// Value, in words, of a setting of the PTS tests such as the active range, for the report's
    /// table of settings.
    pub value: String,
    /// Source of the setting's value, such as the specification or the user.
    pub source: &'static str,
}

/// Words in the report for where a setting comes from: open implementations of PTS agree on it.
const IMPLEMENTED: &str = "as in open implementations of PTS";
/// Words in the report for where a setting comes from: the author's memory, not checked against the
/// text of the specification.
const MEMORY: &str = "from memory: not verified against the specification";
/// Origin of a test's setting, as the report states it, if the user chose the setting.
const CHOSEN: &str = "chosen by the user";
/// Origin of a test's setting, as the report states it, if the drive under test determines the
/// setting.
const DRIVE: &str = "the drive";
/// Words in the report for where a setting comes from: Fowler chose it, because PTS leaves it to
/// the host.
const OURS: &str = "chosen by Fowler: PTS leaves it to the host";

/// The drive under test and the settings of the tests.
#[derive(Clone, Debug)]
pub struct Setup {
    /// The drive after a purge.
    pub drive: Resolved,
    /// The part of the drive that is tested (the active range).
    pub range: ActiveRange,
    /// All settings of the tests of the drive, in the order of the report's table of settings.
    pub settings: Vec<Setting>,
}

/// Checks the drive and the settings for the tests of SNIA's PTS without running the tests.
pub(super) fn check(spec: &PtsSpec) -> Diagnostics {
    let schemes: Vec<String> = spec.scheme.iter().cloned().collect();
    let mut diagnostics = run::check(&spec.device, &schemes, None, &[]);
    if !(MINUTE_LEAST..=MINUTE_MOST).contains(&spec.minute) {
        let what = format!("{} of simulated time cannot stand for a minute of a test", spec.minute);
        let expected = format!("from {MINUTE_LEAST} to {MINUTE_MOST}");
        diagnostics.push(Diagnostic::new("--minute", what).expected(expected));
    }
    if !(spec.active_share > 0.0 && spec.active_share <= 1.0) {
        let what = format!("{} is not a share of the drive", spec.active_share);
        let expected = "a number above 0, and at most 1";
        diagnostics.push(Diagnostic::new("--active-range", what).expected(expected));
    }
    let outstanding = u64::from(spec.threads) * u64::from(spec.depth);
    if outstanding == 0 || outstanding > u64::from(super::rig::OUTSTANDING_MOST) {
        let what = format!("threads times queue depth would be {outstanding} outstanding requests");
        let expected = format!("from 1 to {}", super::rig::OUTSTANDING_MOST);
        let flags = "--threads, --queue-depth";
        diagnostics.push(Diagnostic::new(flags, what).expected(expected));
    }
    if diagnostics.0.is_empty() {
        diagnostics.take(Setup::of(spec));
    }
    diagnostics
}

impl Setup {
    /// Returns the purged drive and the settings of its tests.
    ///
    /// # Errors
    /// Everything that is wrong with the drive.
    pub(super) fn of(spec: &PtsSpec) -> Result<Setup, Diagnostics> {
        let scheme = spec.device.scheme(spec.scheme.as_deref())?;
        let drive = device_spec::resolve(&spec.device.source()?, &scheme, &spec.device)?;
        let drive = drive.changed(|config| purge(config, spec))?;
        let range = active_range(spec, drive.layout.logical.0)?;
        let settings = settings(spec, &drive, range);
        Ok(Setup { drive, range, settings })
    }
}

/// Changes the configuration of a drive to its state after a purge: every LBA is unwritten, and the
/// write cache is off or on as the tests for enterprise or client drives require.
fn purge(config: &mut Config, spec: &PtsSpec) {
    let precondition = &mut config.precondition;
    (precondition.fill, precondition.pattern, precondition.warm_up) = (0.0, Pattern::Sequential, 0);
    if spec.purge == Purge::Fob {
        config.reliability.cycles = 0;
    }
    // The buffer of a drive with superblocks survives a loss of power: it is no volatile cache that
    // could be off.
    let volatile = !config.ftl.has_superblocks();
    match spec.edition.filter(|_| volatile) {
        Some(Edition::Enterprise) => config.buffer.ack = Ack::OnProgram,
        // A drive without a buffer has no cache to enable.
        Some(Edition::Client) if config.buffer.size.0 > 0 => config.buffer.ack = Ack::OnInsert,
        Some(Edition::Client) | None => {}
    }
}

fn active_range(spec: &PtsSpec, logical: u64) -> Result<ActiveRange, Diagnostics> {
    let span = ((logical as f64 * spec.active_share) as u64).min(logical);
    let client = spec.edition == Some(Edition::Client) && spec.active_amount.0 == 0;
    let amount = if client { CLIENT_AMOUNT.0 } else { spec.active_amount.0 };
    let amount = amount / PIECE * PIECE;
    let too_small = |bytes: u64, flag: &str| {
        let what = format!("the tests would use only {} of the drive's addresses", Bytes(bytes));
        let expected = format!(
            "at least {} of addresses, to hold the largest request of the tests",
            Bytes(LARGEST)
        );
        Diagnostics::from(Diagnostic::new(flag, what).expected(expected))
    };
    if span < LARGEST {
        return Err(too_small(span, "--active-range"));
    }
    if spec.active_amount.0 > 0 && amount == 0 {
        return Err(too_small(spec.active_amount.0, "--active-amount"));
    }
    if spec.active_amount.0 > span {
        let what = format!("{} of the active range would be tested", spec.active_amount);
        let expected =
            format!("an amount of at most {}, the length of the active range", Bytes(span));
        return Err(Diagnostic::new("--active-amount", what).expected(expected).into());
    }
    let all = amount == 0 || amount >= span;
    Ok(ActiveRange { span, amount: if all { span } else { amount } })
}

fn settings(spec: &PtsSpec, drive: &Resolved, range: ActiveRange) -> Vec<Setting> {
    let mut all = Vec::new();
    let mut say = |name, value: String, source| all.push(Setting { name, value, source });
    let (raw, logical) = (drive.layout.raw.0, drive.layout.logical.0);
    let (_, of_logical) = drive.layout.over_provisioning();
    say("drive", format!("{}, simulated", drive.device), DRIVE);
    say("scheme", drive.scheme.clone(), DRIVE);
    say("user capacity", format!("{} of {}", bytes(logical), bytes(raw)), DRIVE);
    say("over-provisioning", format!("{} of the user capacity", percent(of_logical)), DRIVE);
    say("purge", purge_words(spec, drive), "the simulator's own");
    say(
        "workload-independent preconditioning",
        "sequential writes of 128 KiB (throughput: of its own size) over 2 times the user capacity, one at a time".into(),
        IMPLEMENTED,
    );
    let edition = if spec.edition.is_some() { MEMORY } else { DRIVE };
    say("write cache", cache_words(drive), edition);
    let client = spec.edition == Some(Edition::Client) && spec.active_amount.0 == 0;
    let range_source = match spec {
        _ if client => MEMORY,
        spec if spec.active_share < 1.0 || spec.active_amount.0 > 0 => CHOSEN,
        _ => IMPLEMENTED,
    };
    say("active range", range_words(range, logical), range_source);
    let standard = PtsSpec::of(spec.device.clone());
    let load = if (spec.threads, spec.depth) == (standard.threads, standard.depth) {
        OURS
    } else {
        CHOSEN
    };
    say("threads and queue depth", format!("{} x {}", spec.threads, spec.depth), load);
    let (minute, source) = match spec.minute {
        PtsSpec::MINUTE => ("60 s".into(), IMPLEMENTED),
        other => (format!("{other}: NOT PTS, in which a minute has 60 s"), CHOSEN),
    };
    say("a minute", minute, source);
    say(
        "steady state",
        "5 rounds: data within 20 %, slope within 10 % of the mean; at most 25 rounds".into(),
        IMPLEMENTED,
    );
    all.extend(of_tests(spec));
    let mut say = |name, value: String, source| all.push(Setting { name, value, source });
    say("data", "data has no content, and nothing is compressed".into(), "the simulator's own");
    say(
        "seed",
        format!(
            "{}; each load of each round draws requests from a random stream of its own",
            drive.config.seed
        ),
        DRIVE,
    );
    all
}

/// Returns the settings that are special to one test of the specification: to cross stimulus,
/// demand intensity and the enterprise composite workload, as far as these tests are to run.
fn of_tests(spec: &PtsSpec) -> Vec<Setting> {
    let mut all = Vec::new();
    let mut say = |name, value: String, source| all.push(Setting { name, value, source });
    let standard = PtsSpec::of(spec.device.clone());
    if spec.tests.contains(&Test::CrossStimulus) {
        say(
            "cross stimulus",
            "sequential 1024 KiB, random 8 KiB, sequential 1024 KiB; 1 x 32".into(),
            MEMORY,
        );
    }
    if spec.tests.contains(&Test::Demand) {
        let source = if spec.stimulus == standard.stimulus { MEMORY } else { CHOSEN };
        let (size, reads) =
            (bytes(u64::from(spec.stimulus.largest())), 100.0 * spec.stimulus.reads);
        say("demand intensity", format!("random {size}, {reads:.0}/{:.0}", 100.0 - reads), source);
    }
    if spec.tests.contains(&Test::Enterprise) {
        say(
            "enterprise composite workload",
            "the scheme of demand intensity, with the enterprise workload of JESD219".into(),
            MEMORY,
        );
    }
    all
}

fn purge_words(spec: &PtsSpec, drive: &Resolved) -> String {
    match spec.purge {
        Purge::Fob => "a new drive: no data, no wear".into(),
        Purge::Format => {
            let cycles = drive.config.reliability.cycles;
            format!("no data; blocks keep their wear, {cycles} P/E cycles")
        }
    }
}

fn cache_words(drive: &Resolved) -> String {
    if drive.config.ftl.has_superblocks() {
        let size = drive.config.buffer.size;
        return format!(
            "the cache is not volatile: a write is acknowledged when it is in the buffer of \
             {size}, which survives a loss of power"
        );
    }
    match drive.config.buffer.ack {
        Ack::OnProgram => {
            "the cache is off: a write is acknowledged when it is in the flash".into()
        }
        Ack::OnInsert => {
            let size = drive.config.buffer.size;
            format!("the cache is on: a write is acknowledged when it is in the buffer of {size}")
        }
    }
}

fn range_words(range: ActiveRange, logical: u64) -> String {
    let share = percent(range.span as f64 / logical as f64);
    if range.amount == range.span {
        return format!("{share} of the LBAs");
    }
    format!("{} in pieces of 2 MiB, spread over {share} of the LBAs", bytes(range.amount))
}
