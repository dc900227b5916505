//! The four answers, each with its numbers, how far they can be trusted, and what to try next.

use super::{Compared, Known, Wear};
use crate::verdict::{self, BEYOND, Finding, solid_tail};
use fowler_experiment::device_spec::Axis;
use fowler_experiment::life_estimate::{self, Estimate, LONG_YEARS, in_words};
use fowler_experiment::numbers::{bytes, percent, real, seconds, words};
use fowler_experiment::outcome::Outcome;
use fowler_metrics::Kind;

const DAY_S: f64 = 86_400.0;
/// The reason why the answers have nothing on days and years.
const NO_TIMES: &str =
    "All requests of the trace have the same time, so the writes per day are unknown.";

/// An answer to one of the four questions.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// Text of the question.
    pub question: &'static str,
    /// Name of the drive that the answer is about, where several drives are asked about.
    pub drive: Option<String>,
    /// Text of the answer, in whole sentences.
    pub text: String,
    /// Statement of how far the answer can be trusted, and why.
    pub confidence: String,
    /// Command that shows more.
    pub next: String,
    /// The numbers of the answer, by name.
    pub numbers: Vec<(&'static str, f64)>,
}

/// Answers the questions about each drive, and which scheme or drive is better.
pub(super) fn all(drives: &[Known<'_>], compared: &Compared<'_>) -> Vec<Answer> {
    let about_drives = [slow, cost, life];
    let mut answers: Vec<Answer> =
        about_drives.iter().flat_map(|answer| drives.iter().map(answer)).collect();
    answers.extend(drives.first().map(|first| better(first, compared)));
    answers
}

/// Answers how slow requests are, and why.
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
        trust.push(format!("At least {BEYOND} requests are slower than each percentile named."));
    }
    sentences.extend(of_rules(&said, &["tail", "idle"]));
    let mut numbers = Vec::new();
    for (kind, name) in [(Kind::Read, "read_mean_us"), (Kind::Write, "write_mean_us")] {
        numbers.extend(first.recorder.latencies(kind).mean_us().map(|mean| (name, mean)));
    }
    Answer {
        question: "How slow, and why?",
        drive: known.name(),
        text: sentences.join(" "),
        confidence: trust.join(" "),
        next: known.command("explain", "--slowest 5"),
        numbers,
    }
}

/// Mean, the highest percentile that stands on enough requests, and the main causes.
fn of_kind(outcome: &Outcome, kind: Kind) -> Option<String> {
    let latencies = outcome.recorder.latencies(kind);
    let mean = latencies.mean_us()?;
    let tail = solid_tail(latencies);
    let tail = tail.map_or(String::new(), |(it, us)| format!(", {} at {}", real(us), it.label()));
    let band = outcome.recorder.blame(kind).slowest(1.0);
    let causes: Vec<String> = band
        .ranked()
        .into_iter()
        .take(2)
        .filter_map(|part| {
            Some(format!("{} \u{201c}{}\u{201d}", percent(band.share(part)?), words(part)))
        })
        .collect();
    Some(format!(
        "A {} takes {} us on average{tail}: {}.",
        kind.name(),
        real(mean),
        causes.join(", ")
    ))
}

/// Returns the texts of the findings of some rules.
fn of_rules(said: &[Finding], rules: &[&str]) -> Vec<String> {
    said.iter().filter(|it| rules.contains(&it.rule)).map(|it| it.text.clone()).collect()
}

/// Answers what long use of the trace costs in flash wear: the write amplification.
fn cost(known: &Known<'_>) -> Answer {
    let question = "What does it cost in flash?";
    let next = known.command("lifetime", "");
    let waf = match &known.wear {
        Wear::None => return nothing_written(known, question),
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
    let page = known.drive.config.geometry.page_size;
    let bytes_day = estimate.drive_writes_per_day * known.drive.layout.logical.0 as f64;
    let pages_day = known.survey.pages as f64 / known.survey.span.as_s() * DAY_S;
    let cycles_year = pages_day * waf * 365.0 / f64::from(known.drive.config.geometry.pages());
    let by = pages_day * page.0 as f64 / bytes_day;
    let parts = if by > 1.05 {
        format!(
            " Writes of parts of pages take whole ones of {page}: {} times the bytes.",
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

/// Answers what one replay of the trace costs in flash wear; long use is not simulated.
fn cost_of_run(known: &Known<'_>, question: &'static str, why: &str) -> Answer {
    let first = known.outcome;
    let waf = first.waf();
    let text = match (waf, first.withheld()) {
        (_, Some(withheld)) => {
            let [least, most] = bounds(known);
            format!(
                "The drive programs {} (nothing is ever moved) to {} pages (random writes over the \
                 whole drive) for each page that the host writes (write amplification). What it \
                 did while the trace was replayed once does not tell: {}.",
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
    let mut trust =
        vec![format!("It may differ after long use, which is not simulated here: {why}.")];
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

/// Answers how long the drive lives.
fn life(known: &Known<'_>) -> Answer {
    let question = "How long does the drive live?";
    let next = known.command("lifetime", "");
    let waf = match &known.wear {
        Wear::None => {
            let text = "Longer than any drive is used: the trace writes nothing, so the drive does not \
                    wear.";
            return Answer { text: text.into(), ..nothing_written(known, question) };
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
                "{}: the trace covers {}, and years follow from its rate. The cycles are those of \
                 the drive's description (lifetime.cycles).",
                how_far(known),
                seconds(known.recorded.as_s())
            );
            let next = known.command("run", "");
            let (drive, numbers) = (known.name(), Vec::new());
            return Answer { question, drive, text, confidence, next, numbers };
        }
    };
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
        "{how}: the trace covers {}. Years follow from its rate; nights, weekends and growth that it \
         does not cover shift them. The cycles are those of the drive's description \
         (lifetime.cycles).",
        seconds(span_s)
    );
    let numbers = vec![("rated_years", rated), ("years", healed)];
    Answer { question, drive: known.name(), text, confidence, next, numbers }
}

/// Write amplification if nothing is ever moved, and of random writes over the whole drive: as
/// measured before the run, or else in closed form.
fn bounds(known: &Known<'_>) -> [f64; 2] {
    let [least, most] = life_estimate::first(known.drive, &known.survey).waf;
    [least, known.outcome.steady_waf.unwrap_or(most)]
}

/// Returns a word for the trust in years from the rate of a trace: a recording of a day covers all
/// hours, a recording of an hour does not (assumed).
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

/// Answers which scheme or drive is better, and by how much.
fn better(first: &Known<'_>, compared: &Compared<'_>) -> Answer {
    let said = verdict::of(compared.outcomes, compared.spread);
    let axis = compared.candidates.axis();
    let mut sentences = of_rules(&said, &["best"]);
    if sentences.is_empty() {
        sentences.push("No scheme is better by the rules of the comparison.".into());
    }
    sentences.extend(of_rules(&said, &["coincide"]));
    let mut trust = of_rules(&said, &["noise", "backlog"]);
    if trust.is_empty() {
        trust.push(match compared.spread {
            Some(spread) => format!(
                "Over {} seeds no {} differs in mean or p99.9 latency or in write amplification.",
                spread.seeds(),
                axis.noun()
            ),
            None => "One seed: chance cannot be judged.".into(),
        });
    }
    let (question, caution, next) = match axis {
        Axis::Schemes => {
            let schemes = compared.candidates.labels().join(",");
            (
                "Which scheme is better, and by how much?",
                "Only schemes for latency were tried. Those that need a model of the cells (rhio, \
                 hire), throttle writes (ready_opt) or add parity (da_raid5) need other drives.",
                first.command("compare", &format!("--schemes {schemes} --seeds 5")),
            )
        }
        Axis::Devices => (
            "Which drive is better, and by how much?",
            "Each drive was tried as it is described. Fitted drives stand for real ones as far as \
             `fowler score` says.",
            compared.command(first, "compare", "--seeds 5"),
        ),
    };
    trust.push(caution.into());
    Answer {
        question,
        drive: None,
        text: sentences.join(" "),
        confidence: trust.join(" "),
        next,
        numbers: Vec::new(),
    }
}
