//! The four answers, each with its numbers, how far they can be trusted, and what to try next.

use super::drives;
use super::facts::{Compared, Known, Wear, quoted};
use crate::verdict::{self, BEYOND, Finding, solid_tail};
use fowler_experiment::device_spec::{Axis, Resolved};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::life_estimate::{self, Estimate, LONG_YEARS, in_words};
use fowler_experiment::numbers::{bytes, percent, real, seconds, words};
use fowler_experiment::outcome::Outcome;
use fowler_metrics::Kind;
use fowler_workload::TraceInfo;

const DAY_S: f64 = 86_400.0;
/// The reason why the answers of `fowler ask` say nothing about days and years.
const NO_TIMES: &str =
    "All requests of the trace have the same time, so the writes per day are unknown.";

/// An answer to one of the four questions that `fowler ask` answers about a trace.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Text of the question about the trace, one of those that `fowler ask` answers.
    pub question: &'static str,
    /// Name of the drive that the answer is about, if the questions are about several drives.
    pub drive: Option<String>,
    /// Answer to the question about the trace, in whole sentences.
    pub text: String,
    /// Statement of how far the answer to the question about the trace can be trusted, and why.
    pub confidence: String,
    /// Command of `fowler` that shows more on the topic of this answer of `fowler ask`.
    pub next: String,
    /// Names and values of the numbers in the answer to the question about the trace.
    pub numbers: Vec<(&'static str, f64)>,
}

/// Answers the questions of `fowler ask` about each drive, question by question.
pub(super) fn about_drives(drives: &[Known<'_>]) -> Vec<Answer> {
    let questions = [slow, cost, life];
    questions.iter().flat_map(|answer| drives.iter().map(answer)).collect()
}

/// Question under which `fowler ask` gives short answers for the presets that are fitted to real
/// drives, except for the preset on which it answers all questions.
const ELSEWHERE: &str = "What would it be on the other fitted drives?";

/// Answers in short, for a preset fitted to a real drive on which `fowler ask` does not answer in
/// full: latency, write amplification and life under the trace.
pub(super) fn in_short(known: &Known<'_>) -> Answer {
    let outcome = known.outcome;
    let mut numbers = of_means(outcome);
    let kinds = Kind::ALL.into_iter();
    let mut parts: Vec<String> = kinds.filter_map(|kind| latencies(outcome, kind)).collect();
    if parts.is_empty() {
        parts.push("The trace neither reads nor writes.".into());
    }
    match &known.wear {
        Wear::None | Wear::Absorbed => parts.push("The trace does not wear it.".into()),
        Wear::NotSimulated(why) => parts.push(format!("Long use is not simulated: {why}.")),
        Wear::Long(waf) => {
            numbers.push(("waf", *waf));
            let programs = "In the long run it programs";
            let each = "pages for each page that the host writes";
            parts.push(format!("{programs} {} {each}.", real(*waf)));
            parts.push(match known.estimate(*waf) {
                None => NO_TIMES.into(),
                Some(estimate) => {
                    let [years, _] = estimate.rated_years;
                    numbers.push(("rated_years", years));
                    let mut said = format!(
                        "Its cells reach their rated {} P/E cycles after {} years.",
                        real(known.drive.config.life.cycles),
                        in_words(years)
                    );
                    if let Some((more, years)) = on_the_real_drive(known, &estimate) {
                        said += &format!(" {more}");
                        numbers.push(("real_drive_rated_years", years));
                    }
                    said
                }
            });
        }
    }
    let said = verdict::of(std::slice::from_ref(outcome), None);
    let mut trust = of_rules(&said, &["backlog", "steady", "few"]);
    trust.push("One seed, at the pace of the drive above.".into());
    Answer {
        drive: Some(known.drive.device.clone()),
        text: parts.join(" "),
        confidence: trust.join(" "),
        next: known.command("run", ""),
        numbers,
        ..elsewhere(&known.drive.device)
    }
}

/// Answers for a preset fitted to a real drive on which `fowler ask` does not answer in full, and
/// which is too small for the trace.
pub(super) fn no_room(drive: &Resolved, info: &TraceInfo) -> Answer {
    let text = format!(
        "This drive has {}, and no room for the {} that the trace touches.",
        bytes(drive.layout.logical.0),
        bytes(info.footprint.0)
    );
    Answer { text, ..elsewhere(&drive.device) }
}

/// Answers `fowler ask` for a preset, fitted to a real drive, that is not the drive of its full
/// answers and that cannot have the user's settings.
pub(super) fn refused(drive: &str, wrong: &Diagnostics) -> Answer {
    let why: Vec<&str> = wrong.0.iter().map(|it| it.what.as_str()).collect();
    let text = format!("It cannot have these settings: {}.", why.join("; "));
    Answer { text, ..elsewhere(drive) }
}

/// Returns the short answer about a preset fitted to a real drive on which `fowler ask` does not
/// answer in full, still without text, which the caller adds.
fn elsewhere(drive: &str) -> Answer {
    Answer {
        question: ELSEWHERE,
        drive: Some(drive.into()),
        text: String::new(),
        confidence: "Certain: nothing was simulated.".into(),
        next: format!("fowler presets {}", quoted(drive)),
        numbers: Vec::new(),
    }
}

/// Answers the question how slow requests of the trace are on a drive, and why.
fn slow(known: &Known<'_>) -> Answer {
    let first = known.outcome;
    let mut sentences: Vec<String> =
        Kind::ALL.into_iter().filter_map(|kind| of_kind(first, kind)).collect();
    let said = verdict::of(std::slice::from_ref(known.outcome), None);
    let mut trust = of_rules(&said, &["backlog", "steady", "few"]);
    if sentences.is_empty() {
        sentences.push("The trace neither reads nor writes.".into());
        trust.push("No latency was measured.".into());
    } else if trust.is_empty() {
        trust.push(format!("At least {BEYOND} requests are slower than each latency named."));
    }
    sentences.extend(of_rules(&said, &["tail", "idle"]));
    let numbers = of_means(first);
    Answer {
        question: "How slow, and why?",
        drive: known.name(),
        text: sentences.join(" "),
        confidence: trust.join(" "),
        next: known.command("explain", "--slowest 5"),
        numbers,
    }
}

/// Returns the mean latency of a run's reads and of its writes in microseconds, each with the name
/// of its JSON property; a kind without requests is left out.
fn of_means(outcome: &Outcome) -> Vec<(&'static str, f64)> {
    let names = [(Kind::Read, "read_mean_us"), (Kind::Write, "write_mean_us")];
    let mean = |(kind, name)| Some((name, outcome.recorder.latencies(kind).mean_us()?));
    names.into_iter().filter_map(mean).collect()
}

/// Returns a sentence on the latency of reads or of writes: the mean, and the highest percentile
/// with enough requests beyond it; `None` without requests.
fn latencies(outcome: &Outcome, kind: Kind) -> Option<String> {
    let latencies = outcome.recorder.latencies(kind);
    let mean = real(latencies.mean_us()?);
    let tail = solid_tail(latencies);
    let tail = tail.map_or(String::new(), |(it, us)| format!(", {} at {}", real(us), it.label()));
    Some(format!("A {} takes {mean} us on average{tail}.", kind.name()))
}

/// Returns sentences on the latency of reads or of writes, and on its main causes.
fn of_kind(outcome: &Outcome, kind: Kind) -> Option<String> {
    let said = latencies(outcome, kind)?;
    let band = outcome.recorder.blame(kind).slowest(1.0);
    let causes: Vec<String> = band
        .ranked()
        .into_iter()
        .take(2)
        .filter_map(|part| {
            Some(format!("{} \u{201c}{}\u{201d}", percent(band.share(part)?), words(part)))
        })
        .collect();
    Some(format!("{}: {}.", said.trim_end_matches('.'), causes.join(", ")))
}

/// Returns the sentences about the results of runs (`said`; a named rule derives each from the
/// numbers) that come from one of the rules in `rules`.
fn of_rules(said: &[Finding], rules: &[&str]) -> Vec<String> {
    said.iter().filter(|it| rules.contains(&it.rule)).map(|it| it.text.clone()).collect()
}

/// Answers the question of the flash wear that long use of the trace costs: the write
/// amplification.
fn cost(known: &Known<'_>) -> Answer {
    let question = "What does it cost in flash?";
    let next = known.command("lifetime", "");
    let waf = match &known.wear {
        Wear::None => return nothing_written(known, question),
        Wear::Absorbed => return absorbed(known, question),
        Wear::Long(waf) => *waf,
        Wear::NotSimulated(why) => return cost_of_run(known, question, why),
    };
    let amplification = format!(
        "In the long run the drive programs {} pages for each page that the host writes (write \
         amplification).",
        real(waf)
    );
    let [least, most] = life_estimate::first(known.drive, &known.survey).waf;
    let confidence = format!(
        "The amplification was measured on the trace, repeated until each page of the drive was \
         programmed seven times on average, of which the last two count. The bounds are {} (nothing \
         is ever moved) and {} (random writes over the whole drive; hot data mixed with cold may \
         cost more). The buffer is left out: rewrites that it absorbs, and small writes to neighbors \
         that it merges, cost less than this.",
        real(least),
        real(most)
    );
    let Some(estimate) = known.estimate(waf) else {
        let text = format!("{amplification} {NO_TIMES}");
        let next = known.command("run", "");
        let (drive, numbers) = (known.name(), vec![("waf", waf)]);
        return Answer { question, drive, text, confidence, next, numbers };
    };
    // The survey counts mapping units, which may be parts of flash pages.
    let unit = known.drive.layout.page_size;
    let bytes_day = estimate.drive_writes_per_day * known.drive.layout.logical.0 as f64;
    let pages_day = known.survey.pages as f64 / known.survey.span.as_s() * DAY_S;
    let cycles_year = pages_day * waf * 365.0 / known.drive.layout.pages() as f64;
    let by = pages_day * unit.0 as f64 / bytes_day;
    let parts = if by > 1.05 {
        format!(
            " Writes of parts of pages take whole ones of {unit}: {} times the bytes.",
            real(by)
        )
    } else {
        String::new()
    };
    let text = format!(
        "{amplification}{parts} The host writes {} a day, {} times the capacity, and a block is \
         erased {} times a year on average.",
        bytes(bytes_day as u64),
        real(estimate.drive_writes_per_day),
        real(cycles_year)
    );
    let numbers = vec![
        ("waf", waf),
        ("drive_writes_per_day", estimate.drive_writes_per_day),
        ("cycles_per_year", cycles_year),
    ];
    Answer { question, drive: known.name(), text, confidence, next, numbers }
}

/// Answers the question of the flash wear that one replay of the trace costs, on a drive whose long
/// use is not simulated.
fn cost_of_run(known: &Known<'_>, question: &'static str, why: &str) -> Answer {
    let first = known.outcome;
    let waf = first.waf();
    let text = match (waf, first.withheld()) {
        (_, Some(withheld)) => {
            let [least, most] = bounds(known);
            format!(
                "The drive programs {} (if garbage collection moves nothing) to {} pages (random \
                 writes over the whole drive) for each page that the host writes (write \
                 amplification). One replay of the trace cannot measure it: {}.",
                real(least),
                real(most),
                withheld.reason()
            )
        }
        (Some(waf), None) => format!(
            "While the trace is replayed once, the drive programs {} pages for each page that the \
             host writes (write amplification).",
            real(waf)
        ),
        (None, None) => {
            "While the trace is replayed once, nothing that it writes reaches the flash.".into()
        }
    };
    let mut trust = vec![format!(
        "Write amplification may differ after long use, which is not simulated here: {why}."
    )];
    trust.extend(of_rules(
        &verdict::of(std::slice::from_ref(known.outcome), None),
        &["steady", "few"],
    ));
    Answer {
        question,
        drive: known.name(),
        text,
        confidence: trust.join(" "),
        next: known.command("run", ""),
        numbers: match (waf, first.withheld()) {
            (_, Some(_)) => ["waf_least", "waf_most"].into_iter().zip(bounds(known)).collect(),
            (waf, None) => waf.map(|waf| ("waf", waf)).into_iter().collect(),
        },
    }
}

/// Answers the question how long the drive lives under the trace.
fn life(known: &Known<'_>) -> Answer {
    let question = "How long does the drive live?";
    let waf = match &known.wear {
        Wear::None => {
            let text = "Longer than any drive is used: the trace writes nothing, so the drive does not \
                    wear.";
            return Answer { text: text.into(), ..nothing_written(known, question) };
        }
        Wear::Absorbed => {
            let text = "Longer than any drive is used: nothing of the trace reaches the flash.";
            return Answer { text: text.into(), ..absorbed(known, question) };
        }
        Wear::Long(waf) => *waf,
        Wear::NotSimulated(why) => {
            let bounds = bounds(known).map(|waf| known.estimate(waf).map(|it| it.rated_years[0]));
            let theory = match bounds {
                [Some(best), Some(worst)] if best > 0.0 => format!(
                    "{} to {} years until the cells reach their rated {} P/E cycles: the first as if \
                     it wrote random pages of the whole drive, the second as if nothing were ever \
                     moved.",
                    in_words(worst),
                    in_words(best),
                    real(known.drive.config.life.cycles)
                ),
                _ => format!("The trace does not show how long the drive lives. {NO_TIMES}"),
            };
            let text = format!("{theory} Long use of this drive is not simulated: {why}.");
            let confidence = format!(
                "{}: the trace covers {}, and the drive's years follow from its rate of writes. The \
                 cycles are those of the drive's description (lifetime.cycles).",
                how_far(known),
                seconds(known.recorded.as_s())
            );
            let next = known.command("run", "");
            let (drive, numbers) = (known.name(), Vec::new());
            return Answer { question, drive, text, confidence, next, numbers };
        }
    };
    life_at(known, waf)
}

/// Answers the question of `fowler ask` how long the drive lives under the trace, if the drive
/// programs `waf` pages for each page that the host writes.
fn life_at(known: &Known<'_>, waf: f64) -> Answer {
    let question = "How long does the drive live?";
    let next = known.command("lifetime", "");
    let Some(estimate) = known.estimate(waf) else {
        let text = format!("The trace does not show how long the drive lives. {NO_TIMES}");
        let confidence = "Use a trace with arrival times.".into();
        let next = known.command("run", "");
        let (drive, numbers) = (known.name(), Vec::new());
        return Answer { question, drive, text, confidence, next, numbers };
    };
    let Estimate { rated_years: [rated, _], years: [healed, _], .. } = estimate;
    let cycles = real(known.drive.config.life.cycles);
    let written = rated * 365.0 * DAY_S * known.survey.bytes as f64 / known.survey.span.as_s();
    let text = if rated > LONG_YEARS {
        format!(
            "More than {LONG_YEARS} years: at this load the cells do not reach their rated {cycles} P/E \
             cycles while anybody uses the drive, and something else ends its life."
        )
    } else {
        format!(
            "{} years until the cells reach their rated {cycles} P/E cycles, {} written by the host. \
             Modeled self-recovery of idle cells extends this to {} years.",
            in_words(rated),
            bytes(written as u64),
            in_words(healed)
        )
    };
    let span_s = known.recorded.as_s();
    let how = how_far(known);
    let confidence = format!(
        "{how}: the trace covers {}. The drive's years follow from its rate of writes; nights, \
         weekends and growth that the trace does not cover change them. The rated P/E \
         cycles are those of the drive's description (lifetime.cycles).",
        seconds(span_s)
    );
    let mut numbers = vec![("rated_years", rated), ("years", healed)];
    let (mut text, mut confidence) = (text, confidence);
    if known.drive.config.flash.word_line == 3 {
        confidence += " Self-recovery is that of planar cells: nothing published says how cells of \
                       three bits recover.";
    }
    if let Some((said, years)) = on_the_real_drive(known, &estimate) {
        text += &format!(" {said}");
        numbers.push(("real_drive_rated_years", years));
    }
    Answer { question, drive: known.name(), text, confidence, next, numbers }
}

/// Returns a sentence about the real drive that a fitted preset scales down, and the years until
/// the cells of the real drive reach their rated cycles; `None` if the drive is no fitted preset,
/// or if even the scaled drive lasts for more than [`LONG_YEARS`].
fn on_the_real_drive(known: &Known<'_>, estimate: &Estimate) -> Option<(String, f64)> {
    let [years, _] = estimate.rated_years;
    let (whole, times) = drives::real_capacity(known.drive).filter(|_| years <= LONG_YEARS)?;
    let years = years * times;
    let said = format!(
        "This life is one at {} drive writes a day. The real drive has {}, {} times as much as this \
         model: under the same trace its cells last for {} years, and longer if its larger spare \
         lowers the write amplification.",
        real(estimate.drive_writes_per_day),
        bytes(whole),
        real(times),
        in_words(years)
    );
    Some((said, years))
}

/// Returns the bounds of write amplification: 1, if nothing is ever moved, and that of random
/// writes over the whole drive, as measured before the run, or else in closed form.
fn bounds(known: &Known<'_>) -> [f64; 2] {
    let [least, most] = life_estimate::first(known.drive, &known.survey).waf;
    [least, known.outcome.steady_waf.unwrap_or(most)]
}

/// Returns a word for the trust in years of life that are computed from the rate of a trace: a
/// recording of a day covers all hours, a recording of an hour does not (assumed).
fn how_far(known: &Known<'_>) -> &'static str {
    match known.recorded.as_s() {
        span_s if span_s < 3600.0 => "A guess",
        span_s if span_s < DAY_S => "Rough",
        _ => "Fair",
    }
}

fn nothing_written(known: &Known<'_>, question: &'static str) -> Answer {
    let next = known.command("explain", "--slowest 5");
    Answer {
        question,
        drive: known.name(),
        text: "No flash wear: the trace writes nothing.".into(),
        confidence: "Certain if the trace is typical. Reads disturb cells, too; the drive \
                     counts that only with a model of bit errors (reliability.model)."
            .into(),
        next,
        numbers: Vec::new(),
    }
}

/// Answers for a trace whose writes all stay in the write buffer.
fn absorbed(known: &Known<'_>, question: &'static str) -> Answer {
    let confidence = format!(
        "That no flash wears is a guess: the trace writes only {} in {}. A longer recording may \
         write more, and flushes or power losses would write the buffered data to flash.",
        bytes(known.survey.bytes),
        seconds(known.recorded.as_s())
    );
    Answer {
        text:
            "No flash wear: however often the trace is repeated, the write buffer absorbs all that \
               it writes."
                .into(),
        confidence,
        ..nothing_written(known, question)
    }
}

/// Answers which scheme on a drive, or which drive, is better, and by how much.
pub(super) fn better(known: &Known<'_>, compared: &Compared) -> Answer {
    let said = verdict::of(&compared.outcomes, compared.spread.as_ref());
    let axis = compared.candidates.axis();
    let mut sentences = of_rules(&said, &["best"]);
    if sentences.is_empty() {
        sentences.push(format!(
            "No {} can be called better: the runs have too few requests, or cannot be compared.",
            axis.noun()
        ));
    }
    sentences.extend(of_rules(&said, &["coincide"]));
    let mut trust = of_rules(&said, &["noise", "backlog"]);
    if trust.is_empty() {
        trust.push(match &compared.spread {
            Some(spread) => format!(
                "Over {} seeds no {} differs in mean or p99.9 latency or in write amplification.",
                spread.seeds(),
                axis.noun()
            ),
            None => "One seed: chance cannot be judged.".into(),
        });
    }
    let (question, drive, caution, next) = match axis {
        Axis::Schemes => {
            let schemes = quoted(&compared.candidates.labels().join(","));
            let device = &compared.candidates.all()[0].device;
            (
                "Which scheme is better, and by how much?",
                known.name(),
                drives::not_compared(device),
                known.command("compare", &format!("--schemes {schemes} --seeds 5")),
            )
        }
        Axis::Devices => (
            "Which drive is better, and by how much?",
            None,
            "Each drive was tried as it is described. Fitted drives stand for real ones as far as \
             `fowler score` says."
                .into(),
            compared.command(known, "compare", "--seeds 5"),
        ),
    };
    trust.push(caution);
    let (text, confidence) = (sentences.join(" "), trust.join(" "));
    Answer { question, drive, text, confidence, next, numbers: Vec::new() }
}
