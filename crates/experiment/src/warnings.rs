//! Warnings about results that a reader could overlook or misread, worded alike on the terminal and
//! on pages.

use crate::faults::MOST;
use crate::numbers::{counted, counted_as, real};
use crate::outcome::write_amplification::Withheld;
use crate::outcome::{CACHES_NO_DATA, Ending, Outcome};
use crate::scheme::NO_SCHEME;
use crate::summary::bad_blocks::worn_out;
use crate::summary::failed_dies::{offline, read_only};
use fowler_device::policy::placement::PlacementKind;
use fowler_device::reliability::ModelKind;
use fowler_device::{Census, Pattern, PlaneMode, Reason};
use fowler_metrics::Kind;
use fowler_workload::Remap;

/// The severity of a warning.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// The results cover only a part of the run.
    Interrupted,
    /// The results are not valid as they stand: data was lost, or a law is violated.
    Warning,
    /// The results of the runs are valid; the warning adds a fact that matters for reading them.
    Remark,
}

impl Severity {
    /// Returns the word that introduces a warning of this severity.
    pub fn word(self) -> &'static str {
        match self {
            Severity::Interrupted => "interrupted",
            Severity::Warning => "warning",
            Severity::Remark => "note",
        }
    }
}

/// A warning to show with the results.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Warning {
    /// Severity of the warning.
    pub severity: Severity,
    /// Text of the warning: one or more clauses separated by semicolons, without a capital letter
    /// or a full stop.
    pub text: String,
}

/// Returns true if two runs served the same number of requests. Ratios of their results make sense
/// only then.
pub fn alike(one: &Outcome, other: &Outcome) -> bool {
    one.recorder.requests() == other.recorder.requests()
}

/// Returns all warnings about these runs, the most serious first. The first run is the baseline of
/// the comparison.
pub fn warnings(outcomes: &[Outcome]) -> Vec<Warning> {
    let mut warnings = interruptions(outcomes);
    let mut add = |severity: Severity, texts: Vec<String>| {
        warnings.extend(texts.into_iter().map(|text| Warning { severity, text }));
    };
    add(Severity::Warning, broken(outcomes));
    add(Severity::Warning, lost(outcomes));
    add(Severity::Remark, remarks(outcomes));
    warnings
}

/// Returns a warning for each run that ended early.
pub fn interruptions(outcomes: &[Outcome]) -> Vec<Warning> {
    let interruption = |outcome: &Outcome| {
        let why = match outcome.ending {
            Ending::Complete => return None,
            Ending::Stopped => "stopped by the user",
            Ending::Failed(_) => "the workload is invalid from there on",
        };
        let requests = counted(outcome.workload.requests, "request");
        let text = format!("after {requests} {}: {why}", outcome.drive.place());
        Some(Warning { severity: Severity::Interrupted, text })
    };
    outcomes.iter().filter_map(interruption).collect()
}

fn broken(outcomes: &[Outcome]) -> Vec<String> {
    let broken = outcomes.iter().filter(|it| !it.laws().hold());
    broken
        .map(|it| {
            let place = it.drive.place();
            format!("the run {place} violates a law: this is a bug in Fowler")
        })
        .collect()
}

/// Returns warnings about drives that lost data: such a drive is no fair comparison.
fn lost(outcomes: &[Outcome]) -> Vec<String> {
    let mut texts = Vec::new();
    let mut each = |count: &dyn Fn(&Outcome) -> u64, what: &str, did: &str, so: &str| {
        let lost = outcomes.iter().filter(|it| count(it) > 0).map(|it| {
            let place = it.drive.place();
            format!("{} {did} {place}", counted(count(it), what))
        });
        let lost = lost.collect::<Vec<_>>().join(", ");
        if !lost.is_empty() {
            texts.push(format!("{lost}: {so}"));
        }
    };
    let modeled = |it: &Outcome| {
        let config = &it.drive.config;
        config.reliability.model != ModelKind::Off || config.aging.is_on()
    };
    each(
        &|it| if modeled(it) { it.counters.uncorrectable } else { 0 },
        "flash read",
        "failed",
        "data would be lost; the cells are too worn, or the data too old, for the error-correcting code (reliability.cycles, .oldest, .levels; aging.correctable, .retry_entries)",
    );
    each(
        &|it| it.counters.failed_at_random,
        "uncorrectable error",
        "at the rate reliability.uber",
        "the page or mapping unit that each has struck can be recovered only from parity",
    );
    let pages =
        |it: &Outcome| it.losses.map_or(0, |losses| losses.lost_in_all() - losses.lost_writes);
    each(&pages, "page", "could not be rebuilt", "data was lost");
    each(
        &|it| it.losses.map_or(0, |losses| losses.silent.returned),
        "page",
        "came back wrong",
        "nobody noticed (policy.redundancy.checks)",
    );
    let unfound = |it: &Outcome| it.census.as_ref().map_or(0, Census::unfound);
    each(
        &unfound,
        "lost page",
        "went unnoticed",
        "no read has detected their loss yet (census.unfound)",
    );
    each(
        &|it| it.power_offs.lost_writes,
        "acknowledged write",
        "did not survive a power loss",
        "data was lost; a protected cache would keep it",
    );
    let used_up = outcomes
        .iter()
        .filter(|it| read_only(it).is_none())
        .filter_map(|it| Some(format!("after {:.3} s {}", worn_out(it)?, it.drive.place())));
    let used_up = used_up.collect::<Vec<_>>().join(", ");
    // Where dies have failed, the drive refuses writes: `of_failed_dies` reports that instead.
    if !used_up.is_empty() {
        texts.push(format!("the spare blocks were used up {used_up}: {USED_UP}"));
    }
    texts.extend(of_failed_dies(outcomes));
    texts.extend(outcomes.iter().filter_map(wide_stripes));
    texts
}

/// Returns a warning for a drive with superblocks that lost pages because its stripes are wider
/// than its dies.
fn wide_stripes(outcome: &Outcome) -> Option<String> {
    let drive = &outcome.drive;
    let (stripe, dies) = (drive.config.superblocks.parity, drive.layout.geometry.dies());
    let independent = drive.config.plane_mode == PlaneMode::Independent;
    let part = if independent { "plane" } else { "die" };
    let beyond = outcome.losses?.lost[Reason::BeyondParity];
    (drive.config.ftl.has_superblocks() && beyond > 0 && stripe > dies).then(|| {
        format!(
            "stripes of {stripe} commands on {dies} {part}s have several commands on one {part} {}: \
             if a block or {part} fails, not all its data can be rebuilt; superblocks.parity={dies} \
             would allow it",
            drive.place()
        )
    })
}

/// Returns a warning for each drive that stopped serving writes, or everything, because too few
/// dies were left.
fn of_failed_dies(outcomes: &[Outcome]) -> Vec<String> {
    let of = |outcome: &Outcome| {
        let (dies, since) = (outcome.failed_dies?, read_only(outcome)?);
        let failed = counted(u64::from(dies.failed), "failed die");
        let refused = counted(dies.refused, "request");
        let place = outcome.drive.place();
        Some(match offline(outcome) {
            Some(at) => format!(
                "without its {failed}, the drive {place} has served nothing since {at:.3} s: the \
                 remaining dies had no room for the data in its controller; {refused} were refused"
            ),
            None => format!(
                "without its {failed}, the drive {place} cannot hold its capacity: it has taken no writes \
                 since {since:.3} s, and refused {refused}"
            ),
        })
    };
    outcomes.iter().filter_map(of).collect()
}

/// The remark on a drive whose spare blocks are used up.
pub(crate) const USED_UP: &str = "a real drive would refuse writes from then on; here the run continues, and no block fails any more";

/// The warning for a trace without a newline at its end.
pub const CUT: &str = "the last line of the trace has no newline: if the file is truncated, the \
    last request may be wrong";

/// The warning for a compressed trace that was not read to its end.
pub const UNCHECKED: &str =
    "the compressed trace was not read to its end, so its checksum was not verified";

/// Returns the labels, separated by commas, of those runs in `outcomes` for which the condition
/// `which` holds.
fn labels(outcomes: &[Outcome], which: &dyn Fn(&Outcome) -> bool) -> String {
    let labels = outcomes.iter().filter(|it| which(it)).map(|it| it.drive.label());
    labels.collect::<Vec<_>>().join(", ")
}

/// Returns a phrase that names the runs for which `which` is true: `under a, b` with the labels of
/// the runs, `here` for the only run of a drive without a scheme, empty if there are none.
fn places(outcomes: &[Outcome], which: &dyn Fn(&Outcome) -> bool) -> String {
    let labels = labels(outcomes, which);
    match outcomes.first().filter(|_| !labels.is_empty()) {
        Some(only) if outcomes.len() == 1 && only.drive.label() == NO_SCHEME => "here".into(),
        Some(first) => format!("{} {labels}", first.drive.axis().preposition()),
        None => labels,
    }
}

/// Returns remarks on faults: those that were not reached, and the effects of the others.
fn of_faults(outcomes: &[Outcome]) -> Vec<String> {
    let mut texts = Vec::new();
    for outcome in outcomes {
        let beyond: Vec<String> = outcome
            .faults
            .iter()
            .filter(|fate| fate.effect.is_none())
            .map(|fate| fate.fault.to_string())
            .collect();
        if let Some(first) = beyond.first() {
            let count = counted_as(beyond.len() as u64, "fault was", "faults were");
            let place = outcome.drive.place();
            let scaled = if outcome.workload.speed == 1.0 {
                ""
            } else {
                " (times of faults are scaled with the trace)"
            };
            texts.push(format!(
                "{count} not reached {place}: the run ended before the time of `{first}`{scaled}"
            ));
        }
    }
    let all = places(outcomes, &|it| {
        it.faults.len() == MOST
            && it.faults.iter().any(|fate| fate.fault.drawn)
            && it.faults.iter().all(|fate| fate.effect.is_some())
    });
    if !all.is_empty() {
        texts.push(format!(
            "{all} all {MOST} random faults struck, the limit of a run: none was drawn after the \
                last one"
        ));
    }
    let at_once = |it: &Outcome| {
        it.protection.is_none() && it.losses.is_some_and(|losses| losses.failed_reads > 0)
    };
    let at_once = places(outcomes, &at_once);
    if !at_once.is_empty() {
        texts.push(format!(
            "{at_once} reads of lost pages were answered without flash reads: do not compare the \
                latencies of this run with others"
        ));
    }
    let noting = places(outcomes, &|it| it.drive.notes_losses);
    if !noting.is_empty() {
        texts.push(format!(
            "{noting} policy.redundancy.integrity is on, because the run has faults"
        ));
    }
    texts
}

/// Returns remarks on drives that place data by the requests' placement handles, where requests
/// have none, or handles that the drive does not have.
fn unplaced(outcomes: &[Outcome]) -> Vec<String> {
    let by_handles = |it: &Outcome| {
        let writes = it.recorder.latencies(Kind::Write).count();
        it.drive.config.placement.name == PlacementKind::Handles && writes > 0
    };
    let mut texts = Vec::new();
    let none = places(outcomes, &|it| by_handles(it) && it.recorder.highest_handle().is_none());
    if !none.is_empty() {
        texts.push(format!(
            "no write names a placement handle {none}, so all data went to the first; a trace in \
             Fowler's own format names it in the column `placement`"
        ));
    }
    for outcome in outcomes.iter().filter(|it| by_handles(it)) {
        let handles = outcome.drive.config.placement.handles;
        if let Some(highest) = outcome.recorder.highest_handle().map(u32::from)
            && highest >= handles
        {
            texts.push(format!(
                "writes name placement handles up to {highest}, and the drive has handles 0 to \
                 {} {}: data with a higher handle went to handle 0",
                handles - 1,
                outcome.drive.place()
            ));
        }
    }
    texts
}

/// Returns a remark on drives whose streams may wait at once for more superblocks than are kept
/// erased, with the setting that keeps enough.
fn few_erased(outcomes: &[Outcome]) -> Option<String> {
    let short = |it: &Outcome| it.drive.config.erased_for_streams();
    let enough = outcomes.iter().filter_map(short).max()?;
    let place = places(outcomes, &|it| short(it).is_some());
    Some(format!(
        "{place} up to {} superblocks may be opened at once, one for each stream of data, and no \
         more than that are kept erased: requests may wait until one is emptied, above all at the \
         start of a run; add --set gc.foreground_below={enough}",
        enough - 1
    ))
}

/// Returns a remark if drives of different sizes do not serve the same addresses.
fn sizes(outcomes: &[Outcome]) -> Option<String> {
    let capacities = || outcomes.iter().map(|it| it.drive.layout.logical.0);
    let (least, most) = capacities().min().zip(capacities().max())?;
    if least == most {
        return None;
    }
    let first = &outcomes[0].workload;
    match first.remap {
        None if first.generator.is_some() => Some(
            "the drives differ in size, and the workload draws its addresses over the capacity of \
                each drive".into(),
        ),
        Some(Remap::Modulo) => Some(
            "the drives differ in size: addresses beyond the end of one are wrapped around there, and \
             the others serve them as recorded (--remap modulo)"
                .into(),
        ),
        _ => None,
    }
}

/// Returns remarks on write amplification that is withheld, one for each reason.
fn withheld(outcomes: &[Outcome]) -> Vec<String> {
    // Runs of one drive share a note; drives differ in what they had before the run.
    let key = |it: &Outcome| Some((it.withheld()?.reason(), it.steady_waf.map(f64::to_bits)));
    let mut reasons: Vec<(String, Option<u64>)> = Vec::new();
    for reason in outcomes.iter().filter_map(key) {
        if !reasons.contains(&reason) {
            reasons.push(reason);
        }
    }
    let note = |wanted: (String, Option<u64>)| {
        let reason = &wanted.0;
        let has_reason = |it: &Outcome| key(it).as_ref() == Some(&wanted);
        let first = outcomes.iter().find(|it| has_reason(it))?;
        let next = match first.drive.config.precondition.pattern {
            Pattern::Steady | Pattern::Rested => match first.steady_waf {
                Some(waf) => format!(
                    "random writes over the whole drive had a write amplification of {} before the \
                     run; for that of this workload, run longer",
                    real(waf)
                ),
                None => "the drive began in steady state, so run longer".into(),
            },
            Pattern::Sequential | Pattern::Random => {
                "for a drive in steady state, add --set precondition.pattern=steady".into()
            }
        };
        let places = places(outcomes, &has_reason);
        Some(match first.withheld() {
            Some(Withheld::NoneErased) => format!(
                "no garbage collection happened {places}: {reason}, so write amplification is withheld; {next}"
            ),
            _ => format!("write amplification is withheld {places}: {reason}; {next}"),
        })
    };
    reasons.into_iter().filter_map(note).collect()
}

/// Returns remarks on numbers of the runs that a reader could misread.
fn remarks(outcomes: &[Outcome]) -> Vec<String> {
    let names = |which: &dyn Fn(&Outcome) -> bool| places(outcomes, which);
    let mut texts = Vec::new();
    for outcome in outcomes {
        let stages = outcome.stages().into_iter();
        texts.extend(stages.map(|stage| format!("{}: {stage}", outcome.drive.label())));
    }
    let cut = |it: &Outcome| it.workload.read.as_ref().is_some_and(|read| read.cut);
    if outcomes.iter().any(cut) {
        texts.push(CUT.into());
    }
    // All runs read the same trace.
    let read = outcomes.first().and_then(|it| it.workload.read.as_ref());
    texts.extend(read.into_iter().flat_map(|read| read.notes.iter().cloned()));
    let unchecked = |it: &Outcome| it.workload.read.as_ref().is_some_and(|read| read.unchecked);
    if outcomes.iter().any(unchecked) {
        texts.push(UNCHECKED.into());
    }
    texts.extend(unplaced(outcomes));
    let one_step = names(&|it| it.knows_one_step_only());
    if !one_step.is_empty() {
        texts.push(format!(
            "{one_step} every program uses the nominal step: the drive's error model (reliability.model) covers no other ISPP step"
        ));
    }
    let none_bears = names(&|it| it.bears_no_coarser_step());
    if !none_bears.is_empty() {
        texts.push(format!(
            "{none_bears} every program uses the nominal step: no block of this drive tolerates a coarser ISPP step \
             until its end of life (reliability.cells.end_cycles, .end_age; reliability.references)"
        ));
    }
    let no_cache = names(&|it| it.caches_no_data());
    if !no_cache.is_empty() {
        texts.push(format!("{no_cache} {CACHES_NO_DATA}"));
    }
    texts.extend(few_erased(outcomes));
    texts.extend(sizes(outcomes));
    texts.extend(of_faults(outcomes));
    let unlike = labels(outcomes, &|it| !alike(&outcomes[0], it));
    if !unlike.is_empty() {
        let first = outcomes[0].drive.label();
        texts.push(format!("no ratios for {unlike}: the number of requests differs from {first}"));
    }
    texts.extend(withheld(outcomes));
    texts
}
