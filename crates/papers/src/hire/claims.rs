//! Every claim of the HIRE paper, with the function that measures it. Claims about Figures 3 and 4
//! are measured under the one reading (of how clean read pages are treated) that the paper's
//! numbers need; numbers under the two other readings stand next to it.

use super::plan::{
    AS_IT_IS, BASELINE, Case, Evidence, HIRE, HVC, LVC, ON_EVICT, READ_ONLY, RESTED, REWRITE,
    WAITS, WAITS_ALONE,
};
use crate::claim::{Claim, ClaimId, Found, Labelled, Measured, claim, named, unmeasured};
use crate::run_summary::{READ, WRITE};
use crate::runs::{mean, spearman};
use fowler_device::policy::custom::Used;
use fowler_device::policy::hotness::Hotness;
use fowler_device::reliability::LevelTimes;
use fowler_device::{AccessClass, Config};
use fowler_experiment::device_spec::{DeviceSpec, resolve};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::scheme::Scheme;
use fowler_physics::ldpc::Ldpc;
use fowler_physics::parameters::Parameters;
use fowler_physics::voltage::{SCALES, TABLE_1};

/// ID of the claim on the HIRE paper's Figure 3: read latency relative to the baseline.
pub(super) const READS: ClaimId = ClaimId("004-016");
/// ID of the claim on the HIRE paper's Figure 4: wear relative to the baseline.
pub(super) const WEAR: ClaimId = ClaimId("004-018");

/// Every claim of the HIRE paper, in the order of its data file.
pub(super) const CLAIMS: &[Claim<Evidence>] = &[
    claim("004-001", |_| voltages(SCALES[0])),
    claim("004-002", |_| voltages(SCALES[1])),
    claim("004-003", |_| voltages(SCALES[2])),
    claim("004-004", |_| {
        let levels = level_times(&config()?);
        of_sets([0, 1, 2].map(|level| levels.sense(level, 0).as_us()))
    }),
    claim("004-005", |_| {
        let levels = level_times(&config()?);
        of_sets([0, 1, 2].map(|level| levels.transfer(level).as_us()))
    }),
    claim("004-006", |_| of_sets([program_us(&config()?); 3])),
    claim("004-007", |_| {
        let step = config()?.reliability.cells.step;
        of_sets(SCALES.map(|scale| step * scale))
    }),
    claim("004-008", |_| are([("w", config()?.hotness.watermark)])),
    claim("004-009", |_| geometry(&config()?)),
    claim("004-010", |_| are([("boosted", scale(0)), ("reduced", scale(2))])),
    claim("004-011", |_| Ok(Some(Measured::exactly(formulas(&config()?.reliability.cells))))),
    claim("004-012", |_| Ok(Some(Measured::exactly(watermark(&config()?))))),
    claim("004-013", |e| Ok(read_hot_share(e).map(|share| Measured::of([("read-hot", share)])))),
    claim("004-014", |e| Ok(lawful_states(e))),
    claim("004-015", |_| are([("bits", hit_bits(1000, 4096) as f64)])),
    named(READS, |e| Ok(reads(e))).without(&[("hire-evict", "hvc")]),
    claim("004-016s", |e| Ok(reads_of(e, "stg1"))).without(&[("hire-evict", "hvc")]),
    claim("004-016f", |e| Ok(reads_of(e, "fin1"))).without(&[("hire-evict", "hvc")]),
    claim("004-017", |e| Ok(reads_ordered(e))).without(&[("hire-evict", "baseline")]),
    named(WEAR, |e| Ok(wear(e))).without(&[("hire-evict", "lvc")]),
    claim("004-018s", |e| Ok(wear_of(e, "stg1", "stg1 saves most", f64::min)))
        .without(&[("hire-evict", "lvc")]),
    claim("004-018f", |e| Ok(wear_of(e, "fin2", "fin2 saves least", f64::max)))
        .without(&[("hire-evict", "lvc")]),
    claim("004-019", |e| Ok(wear_ordered(e))).without(&[("hire", "lvc")]),
    claim("004-020", |e| Ok(writes(e))).without(&[("hire", "baseline")]),
    unmeasured("004-021"),
    claim("004-022", |e| Ok(gains_by_share(e))).without(&[("hire-evict", "hvc")]),
    claim("004-023", |e| Ok(amplification(e))).without(&[("hire", "baseline")]),
];

/// Names of the three sets of reference and program voltages, in the order of the HIRE paper.
const SETS: [&str; 3] = ["boosted", "nominal", "reduced"];

/// Returns the configuration of the HIRE paper's drive under HIRE.
pub(super) fn config() -> Result<Config, Diagnostics> {
    let spec = DeviceSpec { device: "hire".into(), ..DeviceSpec::default() };
    Ok(resolve(&spec.source()?, &Scheme::load("hire")?, &spec)?.config)
}

fn are<const N: usize>(values: [(&str, f64); N]) -> Found {
    Ok(Some(Measured::of(values)))
}

fn of_sets([boosted, nominal, reduced]: [f64; 3]) -> Found {
    are([(SETS[0], boosted), (SETS[1], nominal), (SETS[2], reduced)])
}

fn level_times(config: &Config) -> LevelTimes {
    LevelTimes::new(&config.timing, &config.reliability.ldpc())
}

/// Returns the nominal reference and program voltages multiplied by `scale`, as a measurement.
fn voltages(scale: f64) -> Found {
    let cells = config()?.reliability.cells;
    are([
        ("erased", cells.erased * scale),
        ("1", cells.programmed_1 * scale),
        ("2", cells.programmed_2 * scale),
        ("3", cells.programmed_3 * scale),
    ])
}

fn geometry(config: &Config) -> Found {
    are([
        ("GB", config.geometry.raw().0 as f64 / f64::from(1 << 30)),
        ("channels", f64::from(config.geometry.channels)),
        ("chips of a channel", f64::from(config.geometry.chips_per_channel)),
    ])
}

fn lawful_states(evidence: &Evidence) -> Option<Measured> {
    let states = evidence.states?;
    let lawful = states.violations == 0 && states.is_evidence();
    let violations = Measured::of([("violations", states.violations as f64)]);
    let words =
        ["a block holds data of one class", "only an erase turns a used block into a clean one"];
    Some(words.iter().fold(violations, |it, words| it.direction(words, lawful)))
}

/// Interpretations of how HIRE treats clean pages that were read, each with the suffix of its
/// numbers' labels; the first is the one by which claims are judged.
const READINGS: [(Case, &str); 3] =
    [(ON_EVICT, ""), (HIRE, ", on_dirty"), (REWRITE, ", rewrite_on_idle")];

/// Returns the share by which a metric is lower than under the baseline scheme, for each
/// interpretation of how HIRE treats clean pages that were read; the claim is judged by the first.
fn lowered(label: &str, of: impl Fn(Case) -> Option<f64>) -> Option<Vec<Labelled>> {
    let one = |(case, reading): (Case, &str)| Some((format!("{label}{reading}"), 1.0 - of(case)?));
    // Where only the first was run, its number stands alone.
    let [judged, others @ ..] = READINGS;
    Some([one(judged)?].into_iter().chain(others.into_iter().filter_map(one)).collect())
}

fn reads(evidence: &Evidence) -> Option<Measured> {
    let each = |case| evidence.runs.each(|column| evidence.ratio(column, case, AS_IT_IS, READ));
    let values = lowered("mean", |case| mean(&each(case)?))?;
    let faster = each(ON_EVICT)?.iter().all(|&ratio| ratio < 1.0);
    let words = "HIRE reads faster than the baseline under every trace";
    Some(Measured::exactly(values).direction(words, faster))
}

fn reads_of(evidence: &Evidence, column: &str) -> Option<Measured> {
    lowered(column, |case| evidence.ratio(column, case, AS_IT_IS, READ)).map(Measured::exactly)
}

fn wear(evidence: &Evidence) -> Option<Measured> {
    let each = |case| evidence.runs.each(|column| evidence.worn_ratio(column, case, AS_IT_IS));
    let values = lowered("mean", |case| mean(&each(case)?))?;
    let less = each(ON_EVICT)?.iter().all(|&ratio| ratio < 1.0);
    let words = "HIRE wears less than the baseline under every trace";
    Some(Measured::exactly(values).direction(words, less))
}

/// Returns the wear of HIRE under one trace relative to the baseline, as a measurement, which holds
/// if it is the lowest or the highest of all traces (`end`).
fn wear_of(
    evidence: &Evidence,
    column: &str,
    words: &str,
    end: fn(f64, f64) -> f64,
) -> Option<Measured> {
    let of = |column: &str| evidence.worn_ratio(column, ON_EVICT, AS_IT_IS);
    let values = lowered(column, |case| evidence.worn_ratio(column, case, AS_IT_IS))?;
    let wear = of(column)?;
    let is_end = evidence.runs.each(of)?.into_iter().reduce(end) == Some(wear);
    Some(Measured::exactly(values).direction(words, is_end))
}

/// Returns true if under every trace of the HIRE study the numbers of the schemes `one` and `other`
/// (from `of`, such as wear) satisfy the condition `relation`.
fn everywhere(
    evidence: &Evidence,
    [one, other]: [Case; 2],
    of: impl Fn(&str, Case) -> Option<f64>,
    relation: impl Fn(f64, f64) -> bool,
) -> Option<bool> {
    let holds =
        |column: &str| Some(f64::from(u8::from(relation(of(column, one)?, of(column, other)?))));
    Some(evidence.runs.each(holds)?.iter().all(|&holds| holds > 0.0))
}

fn reads_ordered(evidence: &Evidence) -> Option<Measured> {
    let of = |column: &str, case| evidence.number(column, case, AS_IT_IS, READ);
    let holds = |cases, relation: fn(f64, f64) -> bool| everywhere(evidence, cases, of, relation);
    let measured = Measured::exactly(Vec::new())
        .direction(
            "HVC reads faster than HIRE under every trace",
            holds([HVC, ON_EVICT], |one, other| one < other)?,
        )
        .direction(
            "HIRE reads faster than the baseline under every trace",
            holds([ON_EVICT, BASELINE], |one, other| one < other)?,
        )
        .direction(
            "LVC reads slower than the baseline under every trace",
            holds([LVC, BASELINE], |one, other| one > other)?,
        );
    Some(measured)
}

fn wear_ordered(evidence: &Evidence) -> Option<Measured> {
    let of = |column: &str, case| evidence.worn(column, case, AS_IT_IS);
    let holds = |cases, relation: fn(f64, f64) -> bool| everywhere(evidence, cases, of, relation);
    let measured = Measured::exactly(Vec::new())
        .direction(
            "HIRE wears less than the baseline under every trace",
            holds([HIRE, BASELINE], |one, other| one < other)?,
        )
        .direction(
            "HVC wears more than the baseline under every trace",
            holds([HVC, BASELINE], |one, other| one > other)?,
        );
    Some(measured)
}

fn program_us(config: &Config) -> f64 {
    let timing = &config.timing;
    let iteration = timing.program_phase.as_us() + timing.verify_phase.as_us();
    iteration * f64::from(timing.program_iterations.at(0))
}

/// Returns the mean ratio of a set of threshold voltages in Table 1 of the HIRE paper to the
/// nominal set.
fn scale(set: usize) -> f64 {
    TABLE_1[set].iter().zip(TABLE_1[1]).map(|(it, nominal)| it / nominal).sum::<f64>() / 4.0
}

fn formulas(cells: &Parameters) -> Vec<Labelled> {
    let Ok(ldpc) = Ldpc::hire(cells) else { return Vec::new() };
    let of = |level: usize| {
        let references = ldpc.levels()[level].references;
        [
            (format!("{references}: sense"), ldpc.sensing(level).as_us()),
            (format!("{references}: transfer"), ldpc.transfer(level).as_us()),
        ]
    };
    (0..ldpc.levels().len()).flat_map(of).collect()
}

fn watermark(config: &Config) -> Vec<Labelled> {
    let mut hotness = Hotness::new(&config.hotness, config.geometry.page_size);
    [(19, 20), (20, 21)]
        .map(|(reads, of)| {
            let hot = hotness.class(Used::often(reads, of - reads)) == AccessClass::ReadHot;
            (format!("{reads}/{of}"), f64::from(u8::from(hot)))
        })
        .into()
}

/// Returns the number of bits for the hit counters of buffered pages that count up to `most`, for
/// `frames` pages (section 3.3 of the HIRE paper).
pub(super) fn hit_bits(most: u64, frames: u64) -> u64 {
    u64::from(most.next_power_of_two().ilog2()) * 2 * frames
}

/// Returns the share of read-hot pages among the pages evicted from the buffer during a read-only
/// workload.
fn read_hot_share(evidence: &Evidence) -> Option<f64> {
    let share = evidence.runs.summary(READ_ONLY)?.share("counters.left", "read_hot");
    share.filter(|share| share.is_finite())
}

/// Largest relative difference (5 %) that counts as what the HIRE paper's text calls comparable.
const COMPARABLE: f64 = 0.05;

fn writes(evidence: &Evidence) -> Option<Measured> {
    let over = |hire: Case, other: Case, variant: &str| {
        let of = |column: &str| {
            let number = |case| evidence.number(column, case, variant, WRITE);
            Some(number(hire)? / number(other)?)
        };
        evidence.runs.each(of)
    };
    let mut values = Vec::new();
    let mut directions = Vec::new();
    for other in [BASELINE, HVC, LVC] {
        let unread = over(HIRE, other, WAITS_ALONE)?;
        let near = unread.iter().all(|ratio| (ratio - 1.0).abs() < COMPARABLE);
        values.push((format!("HIRE/{}", other.name), mean(&unread)?));
        let read = over(HIRE, other, WAITS)?;
        values.push((format!("HIRE/{}, old pages read", other.name), mean(&read)?));
        let rewritten = over(REWRITE, other, WAITS_ALONE)?;
        values.push((format!("HIRE/{}, rewrite_on_idle", other.name), mean(&rewritten)?));
        directions.push((
            format!("mean write latency within 5 % of {}'s under every trace", called(other)),
            near,
        ));
    }
    let measured = Measured::exactly(values);
    Some(directions.iter().fold(measured, |it, (words, holds)| it.direction(words, *holds)))
}

/// Returns the name of a case (a drive of the HIRE study) in the sentences of the results page.
fn called(case: Case) -> &'static str {
    if case == BASELINE { "the baseline" } else { case.name }
}

/// Smallest rank correlation over seventeen traces that is significant at 5 % (two-sided; 0.414
/// would be one-sided).
const RELATED: f64 = 0.485;

/// Measures a claim of the HIRE paper: from trace to trace, HIRE lowers read latency the more pages
/// leave the buffer read-hot, and wear the more of the programs are of write-hot pages. Clean pages
/// leave without a program, so they do not count in the second share.
fn gains_by_share(evidence: &Evidence) -> Option<Measured> {
    let share = |column: &str, metric: &str, name: &str| {
        // HIRE's own shares, also where another scheme is measured in place of HIRE.
        let run = evidence.runs.summary(&evidence.run_of(column, ON_EVICT.key, AS_IT_IS))?;
        run.share(metric, name).filter(|share| share.is_finite())
    };
    let read_hot = evidence.runs.each(|column| share(column, "counters.left", "read_hot"))?;
    let write_hot =
        evidence.runs.each(|column| share(column, "counters.programs_at", "reduced"))?;
    let faster = |column: &str| Some(1.0 - evidence.ratio(column, ON_EVICT, AS_IT_IS, READ)?);
    let saved = |column: &str| Some(1.0 - evidence.worn_ratio(column, ON_EVICT, AS_IT_IS)?);
    let reads = spearman(&read_hot, &evidence.runs.each(faster)?)?;
    let wear = spearman(&write_hot, &evidence.runs.each(saved)?)?;
    let measured = Measured::of([("reads", reads), ("wear", wear)])
        .direction("reads gain more where more pages are read-hot", reads >= RELATED)
        .direction("wear falls more where more programs are write-hot", wear >= RELATED);
    Some(measured)
}

/// Measures the effect of separate blocks for each access class on write amplification in steady
/// state; `None` in a brief study, which has no such runs.
fn amplification(evidence: &Evidence) -> Option<Measured> {
    let of = |column: &str, case| evidence.number(column, case, RESTED, |run| run.get("waf"));
    let ratios = evidence.runs.each(|column| Some(of(column, HIRE)? / of(column, BASELINE)?))?;
    let most = ratios.iter().copied().reduce(f64::max)?;
    let measured = Measured::of([("mean", mean(&ratios)?), ("most", most)]);
    Some(measured.direction("HIRE's WAF is below the baseline's under every trace", most < 1.0))
}

#[cfg(test)]
mod tests {
    use super::super::paper::Paper;
    use super::super::plan::tests::{invented, invented_at_sizes, invented_in_steady_state};
    use super::*;
    use crate::Verdict;
    use crate::claim::answers;
    use crate::claim::tests::{assert_each_is_declared, verdict_of};

    fn verdict(id: &str, evidence: &Evidence) -> Verdict {
        verdict_of(id, &evidence.paper.claim, CLAIMS, evidence)
    }

    /// Returns made-up measurements that agree with the HIRE paper: mean latency of reads, mean
    /// latency of writes that wait, and programs by voltage. Those of stg1, fin1 and fin2 are as
    /// printed; the others are chosen so that the mean is.
    fn as_published(column: &str, case: Case) -> (f64, f64, [u64; 3]) {
        let read = match column {
            "stg1" => 0.5859,
            "fin1" => 0.0689,
            _ => (17.0 * 0.4349 - 0.5859 - 0.0689) / 15.0,
        };
        let write_hot = match column {
            "stg1" => 9995,
            "fin2" => 830,
            _ => 8850,
        };
        match case.key {
            "baseline" => (1000.0, 800.0, [0, 10_000, 0]),
            "hvc" => (411.8, 800.0, [10_000, 0, 0]),
            "lvc" => (1823.5, 800.0, [0, 0, 10_000]),
            _ => (1000.0 * (1.0 - read), 800.0, [0, 10_000 - write_hot, write_hot]),
        }
    }

    const OF_RUNS: [&str; 9] = ["016", "016s", "016f", "017", "018", "018s", "018f", "019", "020"];
    /// IDs of the claims of the HIRE paper that state only a direction.
    const DIRECTIONS: [&str; 3] = ["017", "019", "020"];

    #[test]
    fn every_statement_has_its_claim() {
        assert_each_is_declared(&Paper::open().unwrap().claim, CLAIMS);
    }

    #[test]
    fn the_papers_own_numbers_are_reproduced() {
        let evidence = invented(as_published);
        for number in OF_RUNS {
            let expected = match DIRECTIONS.contains(&number) {
                true => Verdict::Shape,
                false => Verdict::Reproduced,
            };
            assert_eq!(verdict(&format!("004-{number}"), &evidence), expected, "{number}");
        }
    }

    #[test]
    fn other_numbers_are_not() {
        let half = invented(|column, case| {
            let (read, write, programs) = as_published(column, case);
            let hire = case.key.starts_with("hire");
            (if hire { 450.0 + 0.55 * read } else { read }, write, programs)
        });
        assert_eq!(verdict("004-016", &half), Verdict::Shape);
        // HIRE slower than the baseline, wearing more, with later writes, under one trace.
        let turned = invented(|column, case| {
            let hire = case.key.starts_with("hire") && column == "web0";
            let programs = [5_000, 5_000, 0];
            if hire { (1001.0, 900.0, programs) } else { as_published(column, case) }
        });
        for number in ["016", "017", "018", "018f", "019", "020"] {
            let said = verdict(&format!("004-{number}"), &turned);
            assert!(matches!(said, Verdict::NotReproducible(_)), "{number}: {said:?}");
        }
        // Another trace that saves more than stg1, and one under which HVC is slower than HIRE.
        let ends = invented(|column, case| match (column, case.key) {
            ("web0", "hire-evict") => (1.0, 800.0, [0, 0, 10_000]),
            _ => as_published(column, case),
        });
        for number in ["017", "018s"] {
            let said = verdict(&format!("004-{number}"), &ends);
            assert!(matches!(said, Verdict::NotReproducible(_)), "{number}: {said:?}");
        }
        let nothing = invented(|_, _| (f64::NAN, f64::NAN, [0; 3]));
        for number in OF_RUNS {
            let said = verdict(&format!("004-{number}"), &nothing);
            assert!(matches!(said, Verdict::NotReproducible(_)), "{number}: {said:?}");
        }
    }

    /// All traces gain 43.49 % in their own size, as printed. Four volumes that gain less in their
    /// published sizes, and two more at the last step, lower the mean. By hand: with a gain of 26.4
    /// % of the four, the mean is (13 x 43.49 + 4 x 26.4) / 17 = 39.47 %, which is within 10 % (at
    /// least 39.14 %); with the two others at 26.4 % as well it is 37.46 %, which is not.
    #[test]
    fn the_verdict_on_the_mean_must_hold_over_the_sizes() {
        let verdict = |published: f64, assumed: f64| {
            let evidence = invented_at_sizes(0.4349, published, assumed);
            let all = answers(&evidence.paper.claim, CLAIMS, &evidence).unwrap();
            let mean = all.into_iter().find(|it| it.statement.id == "004-016").unwrap();
            let value = |at: usize| {
                let measured = mean.bounds[at].measured.as_ref().expect("all runs are there");
                measured.values[0].1
            };
            let steps = [value(0), value(1)];
            (
                mean.verdict(),
                mean.bounds.iter().map(|it| mean.verdict_at(&it.name)).collect(),
                steps,
            )
        };
        use Verdict::{Reproduced, Shape};
        for (published, assumed, own, at, by_hand) in [
            (0.42, 0.42, Reproduced, vec![Reproduced, Reproduced], [0.43139, 0.42964]),
            (0.264, 0.264, Shape, vec![Reproduced, Shape], [0.39469, 0.37458]),
        ] {
            let (said, steps, means): (Verdict, Vec<Verdict>, [f64; 2]) =
                verdict(published, assumed);
            assert_eq!((said, steps), (own, at), "{published} {assumed}");
            for (ours, by_hand) in means.into_iter().zip(by_hand) {
                assert!((ours - by_hand).abs() < 1e-5, "{published}: {ours} instead of {by_hand}");
            }
        }
    }

    /// The claim on gains and shares of classes holds for gains that rise with the shares, and
    /// fails for gains that fall.
    #[test]
    fn gains_follow_the_shares_of_classes() {
        let paper = Paper::open().unwrap();
        let place = |column: &str| {
            paper.workload.iter().position(|it| it.name() == column).expect("a trace") as u64
        };
        for rises in [true, false] {
            let evidence = invented(|column, case| {
                let at = place(column);
                let read = if rises { 900 - 20 * at } else { 500 + 20 * at };
                let (boosted, reduced) = (10 * at, 5_000 + 200 * at);
                match case.key.starts_with("hire") {
                    true => (read as f64, 800.0, [boosted, 10_000 - boosted - reduced, reduced]),
                    false => (1000.0, 800.0, [0, 10_000, 0]),
                }
            });
            assert_eq!(verdict("004-022", &evidence) == Verdict::Shape, rises);
        }
    }

    /// The claim on separate blocks holds only if they lower write amplification under every trace;
    /// a brief study does not measure it.
    #[test]
    fn blocks_of_their_own_must_help_everywhere() {
        let of = |fin1: f64| {
            invented_in_steady_state(|column, case| match (case.key, column) {
                ("baseline", _) => 2.0,
                (_, "fin1") => fin1,
                _ => 1.8,
            })
        };
        assert_eq!(verdict("004-023", &of(1.9)), Verdict::Shape);
        let brief = invented(as_published);
        for evidence in [of(2.1), brief] {
            let said = verdict("004-023", &evidence);
            assert!(matches!(said, Verdict::NotReproducible(_)), "{said:?}");
        }
    }

    #[test]
    fn what_follows_from_parameters_is_by_construction() {
        let evidence = invented(as_published);
        for number in (1..=12).chain([15]).map(|number| format!("{number:03}")) {
            // Two of them are 1.2 and 0.8 times rounded numbers.
            let said = verdict(&format!("004-{number}"), &evidence);
            assert_eq!(said, Verdict::ByConstruction, "{number}");
        }
        assert_eq!(hit_bits(1024, 1), 20);
        assert_eq!(hit_bits(1025, 1), 22);
    }
}
