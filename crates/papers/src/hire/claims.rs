//! Every claim of the paper, and how it is measured. Four of them are measured under three readings
//! of what happens to clean pages that were read.

use super::plan::{
    AS_IT_IS, BASELINE, Case, Evidence, HIRE, HVC, LVC, ON_EVICT, READ_ONLY, REWRITE, WAITS,
    WAITS_ALONE,
};
use crate::claim::{Claim, ClaimId, Found, Labelled, Measured, claim, named, unmeasured};
use crate::run_summary::{READ, WRITE};
use crate::runs::mean;
use fowler_device::policy::custom::Used;
use fowler_device::policy::hotness::Hotness;
use fowler_device::reliability::LevelTimes;
use fowler_device::{AccessClass, Config};
use fowler_experiment::device::{DeviceSpec, resolve};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::scheme::Scheme;
use fowler_physics::ldpc::Ldpc;
use fowler_physics::parameters::Parameters;
use fowler_physics::voltage::{SCALES, TABLE_1};

/// Figure 3: read latency against the baseline.
pub(super) const READS: ClaimId = ClaimId("004-016");
/// Figure 4: wear against the baseline.
pub(super) const WEAR: ClaimId = ClaimId("004-018");

/// Every claim, in the order of the paper's data.
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
    named(READS, |e| Ok(reads(e, HIRE))),
    claim("004-016e", |e| Ok(reads(e, ON_EVICT))),
    claim("004-016r", |e| Ok(reads(e, REWRITE))),
    claim("004-017", |e| Ok(reads_ordered(e, HIRE))),
    claim("004-017e", |e| Ok(reads_ordered(e, ON_EVICT))),
    claim("004-017r", |e| Ok(reads_ordered(e, REWRITE))),
    named(WEAR, |e| Ok(wear(e, HIRE))),
    claim("004-019", |e| Ok(wear_ordered(e, HIRE))),
    claim("004-018e", |e| Ok(wear(e, ON_EVICT))),
    claim("004-019e", |e| Ok(wear_ordered(e, ON_EVICT))),
    claim("004-018r", |e| Ok(wear(e, REWRITE))),
    claim("004-019r", |e| Ok(wear_ordered(e, REWRITE))),
    claim("004-020", |e| Ok(writes(e, WAITS_ALONE))),
    claim("004-020w", |e| Ok(writes(e, WAITS))),
    unmeasured("004-021"),
];

/// The three sets of voltages, in the order of the paper.
const SETS: [&str; 3] = ["boosted", "nominal", "reduced"];

/// The drive under HIRE.
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

/// The nominal voltages, scaled.
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
    // An idle drive would break no invariant.
    let holds = states.events > 10_000 && states.erases > 100;
    Some(Measured::of([("violations", states.violations as f64)]).if_holds(holds))
}

fn reads(evidence: &Evidence, hire: Case) -> Option<Measured> {
    let of = |column: &str| evidence.ratio(column, hire, AS_IT_IS, READ);
    lowered(evidence, &["stg1", "fin1"], of)
}

fn wear(evidence: &Evidence, hire: Case) -> Option<Measured> {
    let of = |column: &str| evidence.worn_ratio(column, hire, AS_IT_IS);
    lowered(evidence, &["stg1", "fin2"], of)
}

fn reads_ordered(evidence: &Evidence, hire: Case) -> Option<Measured> {
    let of = |column: &str, case| evidence.number(column, case, AS_IT_IS, READ);
    ordered(evidence, [HVC, hire, BASELINE, LVC], of)
}

fn wear_ordered(evidence: &Evidence, hire: Case) -> Option<Measured> {
    let of = |column: &str, case| evidence.worn(column, case, AS_IT_IS);
    ordered(evidence, [LVC, hire, BASELINE, HVC], of)
}

fn program_us(config: &Config) -> f64 {
    let timing = &config.timing;
    let iteration = timing.program_phase.as_us() + timing.verify_phase.as_us();
    iteration * f64::from(timing.program_iterations.at(0))
}

/// Returns the mean ratio of a printed set of voltages to the nominal ones.
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

/// Returns the bits for hit counters up to `most` for `frames` pages (section 3.3).
pub(super) fn hit_bits(most: u64, frames: u64) -> u64 {
    u64::from(most.next_power_of_two().ilog2()) * 2 * frames
}

/// Returns the share of read-hot pages among those evicted during a read-only workload.
fn read_hot_share(evidence: &Evidence) -> Option<f64> {
    let left = evidence.runs.summary(READ_ONLY)?.counters.left.as_ref()?;
    Some(left.read_hot / left.sum()).filter(|share| share.is_finite())
}

/// Returns how far a number is below the baseline's: on average, and under the named workloads.
fn lowered(
    evidence: &Evidence,
    named: &[&str],
    of: impl Fn(&str) -> Option<f64>,
) -> Option<Measured> {
    let ratios = evidence.runs.each(&of)?;
    let mut values = vec![("mean".to_string(), 1.0 - mean(&ratios)?)];
    for name in named {
        values.push(((*name).to_string(), 1.0 - of(name)?));
    }
    Some(Measured::held(values, ratios.iter().all(|&ratio| ratio < 1.0)))
}

/// Counts the workloads under which a number rises from the first case to the last, the second not
/// being below the first.
fn ordered(
    evidence: &Evidence,
    [least, hire, base, most]: [Case; 4],
    of: impl Fn(&str, Case) -> Option<f64>,
) -> Option<Measured> {
    let rises = |column: &str| {
        let [least, hire, base, most] = [least, hire, base, most].map(|case| of(column, case));
        let holds = least? <= hire? && hire? < base? && base? < most?;
        Some(f64::from(u8::from(holds)))
    };
    let all = evidence.runs.each(rises)?;
    let traces: f64 = all.iter().sum();
    let holds = traces as usize == all.len();
    Some(Measured::held(vec![("traces".into(), traces)], holds))
}

/// The limit for what the text calls comparable: 5 %.
const COMPARABLE: f64 = 0.05;

fn writes(evidence: &Evidence, variant: &str) -> Option<Measured> {
    let mut values = Vec::new();
    let mut holds = true;
    for case in [HVC, LVC, HIRE] {
        let ratios = evidence.runs.each(|column| evidence.ratio(column, case, variant, WRITE))?;
        holds &= ratios.iter().all(|ratio| (ratio - 1.0).abs() < COMPARABLE);
        values.push((case.name.to_string(), mean(&ratios)?));
    }
    Some(Measured::held(values, holds))
}

#[cfg(test)]
mod tests {
    use super::super::paper::Paper;
    use super::super::plan::tests::invented;
    use super::*;
    use crate::Verdict;
    use crate::claim::tests::{assert_each_is_declared, verdict_of};

    fn verdict(id: &str, evidence: &Evidence) -> Verdict {
        verdict_of(id, &evidence.paper.claim, CLAIMS, evidence)
    }

    /// Reads, writes that wait, and programs as the paper has them: stg1, fin1 and fin2 as printed,
    /// the others so that the mean is.
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

    const OF_RUNS: [&str; 6] = ["016", "017", "018", "019", "020", "020w"];
    const BY_CONSTRUCTION: [&str; 7] = ["002", "006", "007", "008", "009", "010", "015"];

    #[test]
    fn every_statement_has_its_claim() {
        assert_each_is_declared(&Paper::open().unwrap().claim, CLAIMS);
    }

    #[test]
    fn the_papers_own_numbers_are_reproduced() {
        let evidence = invented(as_published);
        for number in OF_RUNS {
            assert_eq!(
                verdict(&format!("004-{number}"), &evidence),
                Verdict::Reproduced,
                "{number}"
            );
        }
        assert_eq!(verdict("004-018r", &evidence), Verdict::Reproduced);
    }

    #[test]
    fn other_numbers_are_not() {
        let half = invented(|column, case| {
            let (read, write, programs) = as_published(column, case);
            let hire = case.key.starts_with("hire");
            (if hire { 500.0 + read / 2.0 } else { read }, write, programs)
        });
        assert_eq!(verdict("004-016", &half), Verdict::Shape);
        // HIRE slower than the baseline, wearing more, with later writes, under one trace.
        let turned = invented(|column, case| {
            let hire = case.key.starts_with("hire") && column == "web0";
            let programs = [5_000, 5_000, 0];
            if hire { (1001.0, 900.0, programs) } else { as_published(column, case) }
        });
        for number in OF_RUNS {
            let said = verdict(&format!("004-{number}"), &turned);
            assert!(matches!(said, Verdict::NotReproducible(_)), "{number}: {said:?}");
        }
        let nothing = invented(|_, _| (f64::NAN, f64::NAN, [0; 3]));
        for number in OF_RUNS {
            let said = verdict(&format!("004-{number}"), &nothing);
            assert!(matches!(said, Verdict::NotReproducible(_)), "{number}: {said:?}");
        }
    }

    #[test]
    fn what_follows_from_parameters_is_as_printed() {
        let evidence = invented(as_published);
        for number in (1..=12).chain([15]).map(|number| format!("{number:03}")) {
            let agrees = match number.as_str() {
                // 1.2 and 0.8 times rounded numbers.
                "001" | "003" => Verdict::Shape,
                its if BY_CONSTRUCTION.contains(&its) => Verdict::ByConstruction,
                _ => Verdict::Reproduced,
            };
            assert_eq!(verdict(&format!("004-{number}"), &evidence), agrees, "{number}");
        }
        assert_eq!(hit_bits(1024, 1), 20);
        assert_eq!(hit_bits(1025, 1), 22);
    }
}
