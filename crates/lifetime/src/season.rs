//! Brings a drive into the state in which a lifetime begins.
//!
//! 1. The drive is preconditioned.
//! 2. Its own workload is repeated, in no simulated time, until each page has been programmed five
//!    times on average, or after a hundred rounds.
//! 3. The write amplification that a drive has in that state can be measured over two more programs
//!    of each page ([`write_amplification`]).

use super::factor::{WAF_GUESSED, dilated, refused};
use super::repetition::Repetition;
use fowler_device::{ABSORBED_AFTER, Config, LifetimeDrive, PreconditionWatch};
use fowler_experiment::device_spec::Resolved;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::memory;
use fowler_experiment::progress::Progress;
use fowler_experiment::workload::{Control, Workload, WorkloadSpec};
use fowler_units::{HostIo, HostOp};

/// Mean number of times that each page of a drive is programmed before its lifetime begins.
const SEASON: u64 = 5;
/// Most repetitions of a workload before a lifetime begins, if the workload is read again for each.
const SEASON_ROUNDS: u32 = 100;
/// Bytes of requests between two reports of progress before a lifetime begins.
const TOLD_EVERY: u64 = 1 << 28;

/// Returns the drive after long use by the workload: written until each page has been programmed
/// often enough for that. `None` if stopped.
pub(super) fn season(
    drive: &Resolved,
    config: &Config,
    workload: &Repetition<'_>,
    control: Control<'_>,
) -> Result<Option<(LifetimeDrive, String)>, Diagnostics> {
    let tell = |share: f64| (control.progress)(Progress::Preconditioning(share));
    // Each page is programmed once by preconditioning, roughly, and then by the workload.
    let image_share = 1.0 / (SEASON + 1) as f64;
    let watch =
        PreconditionWatch { stop: control.stop, progress: &|share| tell(image_share * share) };
    let made = LifetimeDrive::watched(config, watch);
    let Some(mut seasoned) = made.map_err(|refusals| refused(drive, refusals))? else {
        return Ok(None);
    };
    let before = seasoned.preconditioned().to_string();
    let (pages, page) = (drive.layout.pages(), drive.layout.page_size.0);
    let (mut left, mut rounds) = (SEASON * pages, 0);
    let told = |bytes: &mut u64, left: u64, io: &HostIo| {
        let before = *bytes / TOLD_EVERY;
        *bytes += if io.op == HostOp::Write { u64::from(io.size) } else { 0 };
        if *bytes / TOLD_EVERY > before {
            let programmed = (SEASON * pages - left) as f64 + WAF_GUESSED * (*bytes / page) as f64;
            let done = (programmed / (SEASON * pages) as f64).min(1.0);
            tell(image_share + (1.0 - image_share) * done);
        }
    };
    let quiet = Control { stop: control.stop, progress: &|_| () };
    let reads = seasoned.hears_reads();
    if let Some(requests) = workload.endless(quiet).filter(|_| !reads) {
        let mut given = 0;
        let seen = requests.inspect(|io| told(&mut given, left, io));
        left = left.saturating_sub(seasoned.season(seen, left));
        rounds = SEASON_ROUNDS;
    }
    while left > 0 && !control.stopped() && rounds < SEASON_ROUNDS {
        let (mut done, mut given) = (0, 0);
        // Numbers of rounds that no round of the lifetime has.
        let round = u64::MAX - u64::from(rounds);
        workload.replay(round, reads, quiet, |requests| {
            done = seasoned.season(requests.inspect(|io| told(&mut given, left, io)), left);
        })?;
        left = left.saturating_sub(done);
        rounds += 1;
    }
    let times = (SEASON * pages - left) as f64 / pages as f64;
    let reported =
        format!("{before}, then writes of the workload: {times:.1} programs per page on average");
    Ok((!control.stopped()).then_some((seasoned, reported)))
}

/// Mean number of times that each page is programmed while the write amplification is measured.
const MEASURED: u64 = 2;

/// A count of the requests in a row that have programmed nothing.
#[derive(Default)]
struct Absorbed {
    programs: u64,
    requests: usize,
}

impl Absorbed {
    /// Counts one more request, after which the drive has programmed `programs` pages in all.
    /// Returns true if the write buffer absorbs the workload: no recent request led to a program.
    fn after(&mut self, programs: u64) -> bool {
        self.requests = if programs == self.programs { self.requests + 1 } else { 0 };
        self.programs = programs;
        self.requests >= ABSORBED_AFTER
    }
}

/// Returns the write amplification of a drive in the state in which a lifetime begins; `None` if
/// stopped, or if nothing of the workload reaches the flash because the write buffer absorbs it.
///
/// # Errors
/// Everything that is wrong with the drive or the workload.
pub fn write_amplification(
    drive: &Resolved,
    workload: &WorkloadSpec,
    limit: Option<u64>,
    control: Control<'_>,
) -> Result<Option<f64>, Diagnostics> {
    // Beside the state that preconditioning leaves: the drive after long use, and its copy.
    memory::refuse(drive, |memory| memory.most() + memory.data * 2 + Repetition::MEMORY)?;
    let workload = Workload::prepare(workload, drive, limit, control)?;
    let config = dilated(drive, 1)?;
    let workload = Repetition::in_memory(&workload, limit, control)?;
    let Some((seasoned, _)) = season(drive, &config, &workload, control)? else {
        return Ok(None);
    };
    let mut lived = seasoned.again(&config);
    let most = MEASURED * drive.layout.pages();
    let mut absorbed = Absorbed::default();
    let mut is_enough = |drive: &LifetimeDrive| {
        let programs = drive.counters().programs.sum();
        programs >= most || absorbed.after(programs)
    };
    let quiet = Control { stop: control.stop, progress: &|_| () };
    // Reads change neither a page-mapped drive's write amplification nor, but for refresh and
    // pauses, that of a drive with superblocks.
    let superblocks = config.ftl.has_superblocks();
    let reads = superblocks && lived.hears_reads();
    if let Some(requests) = workload.endless(quiet).filter(|_| !reads) {
        let requests = requests.map(|io| workload.since_first(io));
        lived.serve(requests, |drive, _| !is_enough(drive));
    }
    for round in 0..SEASON_ROUNDS {
        if is_enough(&lived) || control.stopped() {
            break;
        }
        // Numbers of rounds that neither earlier rounds nor those of a lifetime have.
        let round = u64::MAX / 2 - u64::from(round);
        workload.replay(round, reads, quiet, |requests| {
            let requests = requests.map(|io| workload.since_first(io));
            lived.serve(requests, |drive, _| !is_enough(drive));
        })?;
    }
    Ok(lived.counters().waf().filter(|_| !control.stopped()))
}
