//! Every claim of the RHIO paper, with the function that measures it.

use super::example::{self, Order, SIZES, Served};
use super::paper::Paper;
use super::plan::{Case, Evidence, KINDS, READS_FIRST, RECORDED};
use crate::claim::{Claim, ClaimId, Found, Measured, claim, named, unmeasured};
use crate::run_summary::{Number, READ, WRITE};
use crate::runs::{mean, spearman};
use fowler_device::Step;
use fowler_device::reliability::{Ladder, LevelTimes, NoModel};
use fowler_experiment::device_spec::{Resolved, resolve};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::scheme::Scheme;
use fowler_physics::strength::Strengths;
use fowler_physics::vth::Setting;
use fowler_units::Rng;

// Claims whose numbers tables and figures show next to ours.
pub(super) const BELOW_NOOP: ClaimId = ClaimId("001-001");
pub(super) const BELOW_RT_R: ClaimId = ClaimId("001-002");
pub(super) const BELOW_PV_W: ClaimId = ClaimId("001-003");
pub(super) const PRIORITIZED_WRITES: ClaimId = ClaimId("001-006");

/// Every claim of the RHIO paper, in the order of its data file.
pub(super) const CLAIMS: &[Claim<Evidence>] = &[
    named(BELOW_NOOP, |e| Ok(reductions(e, "noop"))).by(PLAIN, |e| Ok(plain(e, "noop"))),
    named(BELOW_RT_R, |e| Ok(reductions(e, "rt_r"))).by(PLAIN, |e| Ok(plain(e, "rt_r"))),
    named(BELOW_PV_W, |e| Ok(reductions(e, "pv_w"))).by(PLAIN, |e| Ok(plain(e, "pv_w"))),
    claim("001-004", |e| {
        let shown = &["mds", "web", "usr"];
        let (base, of) = ("pv_w", WRITE);
        Ok(by_volume(e, &Volumes { base, of, most: "mds", least: "web", shown }))
    })
    .without(&[("rhio", "pv_w")]),
    claim("001-005", |e| {
        let shown = &["src", "mds"];
        let (base, of) = ("rt_r", READ);
        Ok(by_volume(e, &Volumes { base, of, most: "src", least: "mds", shown }))
    })
    .without(&[("rhio", "rt_r")]),
    named(PRIORITIZED_WRITES, |e| Ok(prioritized_writes(e))).without(&[("rhio", "pv_w")]),
    claim("001-007", |e| Ok(prioritized_reads(e))).without(&[("rhio", "rt_r")]),
    claim("001-008", |e: &Evidence| Ok(correlations(e, RECORDED)))
        .by(PLAIN, |e| Ok(correlations_of(e, RECORDED, plainly(e)))),
    claim("001-009", |e| equation(&e.paper)),
    claim("001-010", |e: &Evidence| figure_2(&e.paper)),
    claim("001-011", |e: &Evidence| groups(&e.paper)).example(),
    claim("001-012", |e| {
        let (shortest, step) = example::deadlines(&e.paper)?;
        let (passed, late) = example::passed_when_overdue(&e.paper)?;
        let measured = Measured::of([("ms", step as f64)]).if_holds(shortest == step);
        Ok(Some(measured.direction("what is overdue is served first", passed == 0 && late > 0)))
    }),
    claim("001-013", |e: &Evidence| {
        let first = example::figure_3(&e.paper)?.first().map(|&read| ("R".into(), read as f64));
        Ok(Some(Measured::exactly(first.into_iter().collect())))
    })
    .example(),
    claim("001-014", |e: &Evidence| never_before_reads(&e.paper, "rhio"))
        .example_by("read_first in place of rhio", |e| never_before_reads(&e.paper, "read_first")),
    unmeasured("001-015"),
    claim("001-016", |e| geometry(&drive(&e.paper)?)),
    claim("001-017", |e| {
        let (mu, sigma) = drawn(&drive(&e.paper)?);
        are([("mu", mu), ("sigma", sigma)])
    }),
    claim("001-018", |e| times(&drive(&e.paper)?)),
    claim("001-019", |e| Ok(trade_offs(&drive(&e.paper)?).ok())),
    claim("001-020", |e| {
        Ok(baselines(e, &[("RT-R reads", "rt_r", READ), ("PV-W writes", "pv_w", WRITE)]))
    }),
    claim("001-021", |e| {
        Ok(baselines(e, &[("RT-R writes", "rt_r", WRITE), ("PV-W reads", "pv_w", READ)]))
    }),
    claim("001-022", |e| Ok(intensities(e, by_rhio(e, RECORDED))))
        .by(PLAIN, |e| Ok(intensities(e, plainly(e)))),
];

fn are<const N: usize>(values: [(&str, f64); N]) -> Found {
    Ok(Some(Measured::of(values)))
}

fn geometry(drive: &Resolved) -> Found {
    let g = &drive.config.geometry;
    are([
        ("channels", f64::from(g.channels)),
        ("chips per channel", f64::from(g.chips_per_channel)),
        ("GiB", g.raw().0 as f64 / f64::from(1 << 30)),
    ])
}

/// Returns the configuration of the RHIO paper's drive under RHIO.
fn drive(paper: &Paper) -> Result<Resolved, Diagnostics> {
    let spec = paper.device(&[]);
    resolve(&spec.source()?, &Scheme::load("rhio")?, &spec)
}

/// Returns the share by which RHIO lowers mean read and write latency relative to the scheme
/// `base`, mean over the stand-in traces, and true if RHIO is faster under every stand-in trace.
fn reductions(evidence: &Evidence, base: &str) -> Option<Measured> {
    lowered(evidence, "rhio", RECORDED, base)
}

/// Description of the control measurement for the latency reductions of RHIO, an I/O scheduler: its
/// other two techniques, which are the baselines', with an order that it did not invent.
const PLAIN: &str =
    "PV-W's writes and RT-R's reads together, with plain read priority, in place of rhio";

/// Returns the reductions of mean latency relative to the scheme `base` by the techniques of the
/// RHIO paper's two baselines together, with reads before writes as the order.
fn plain(evidence: &Evidence, base: &str) -> Option<Measured> {
    lowered(evidence, "noop", Case { variant: READS_FIRST, ..RECORDED }, base)
}

/// Returns the share by which a scheme in a case lowers mean read and mean write latency relative
/// to the scheme `base`, mean over the stand-in traces, and true if it is faster under every
/// stand-in trace.
fn lowered(evidence: &Evidence, scheme: &str, case: Case<'_>, base: &str) -> Option<Measured> {
    let mut measured = Measured::of([]);
    for kind in &KINDS {
        let ratios = evidence.runs.each(|column| {
            let mine = evidence.number(column, scheme, case, kind.mean)?;
            Some(mine / evidence.number(column, base, RECORDED, kind.mean)?)
        })?;
        let holds = ratios.iter().all(|&ratio| ratio < 1.0);
        measured.values.push((kind.name.into(), 1.0 - mean(&ratios)?));
        measured = measured.direction(&format!("faster {}s under every volume", kind.name), holds);
    }
    Some(measured)
}

/// Measures whether a one-chip drive under the order of service `die_order` issues no write while a
/// read waits.
fn never_before_reads(paper: &Paper, die_order: &str) -> Found {
    let (before, after) = example::writes_before_reads(paper, die_order)?;
    let holds = before == 0 && after > 0;
    Ok(Some(Measured::of([]).direction("no write is issued while a read waits", holds)))
}

/// Volumes of the traces for which the RHIO paper's text prints reductions of a latency.
struct Volumes {
    /// Preset of the baseline scheme against which the RHIO paper states RHIO's reduction of
    /// latency for single volumes.
    base: &'static str,
    /// Mean latency that RHIO reduces: of reads or of writes.
    of: Number,
    /// Name of the volume for which RHIO reduces the latency most.
    most: &'static str,
    /// Name of the volume for which RHIO reduces the latency least.
    least: &'static str,
    shown: &'static [&'static str],
}

/// Returns the reductions of latency under the volumes that the RHIO paper's text names, and true
/// if the largest and the smallest are where the text says.
fn by_volume(evidence: &Evidence, volumes: &Volumes) -> Option<Measured> {
    let &Volumes { base, of: number, most, least, shown } = volumes;
    let of = |column: &str| Some(1.0 - evidence.ratio(column, ("rhio", base), RECORDED, number)?);
    let all = evidence.runs.each(of)?;
    let (most, least) = (of(most)?, of(least)?);
    let values = shown.iter().map(|&name| Some((name.into(), of(name)?))).collect::<Option<_>>()?;
    let measured = Measured::exactly(values);
    let measured = measured.direction("faster under every volume", all.iter().all(|&it| it > 0.0));
    let measured = measured
        .direction(&format!("{} gains most", volumes.most), all.iter().all(|&it| it <= most));
    Some(
        measured.direction(
            &format!("{} gains least", volumes.least),
            all.iter().all(|&it| least <= it),
        ),
    )
}

/// Returns the shares of prioritized writes under the volumes usr and web, and true if most volumes
/// whose share exceeds the one in the RHIO paper's text (25 %) gain more in write latency than usr
/// and web.
fn prioritized_writes(evidence: &Evidence) -> Option<Measured> {
    const FEW: [&str; 2] = ["usr", "web"];
    let of = |column: &str| evidence.prioritized(column, RECORDED, 1);
    let lower =
        |column: &str| Some(1.0 - evidence.ratio(column, ("rhio", "pv_w"), RECORDED, WRITE)?);
    let pairs: Vec<(f64, f64)> =
        evidence.runs.each(of)?.into_iter().zip(evidence.runs.each(lower)?).collect();
    let least = lower(FEW[0])?.max(lower(FEW[1])?);
    let above: Vec<f64> =
        pairs.iter().filter(|it| it.0 > evidence.paper.share).map(|it| it.1).collect();
    let more = above.iter().filter(|&&gained| gained > least).count();
    let values = FEW.iter().map(|&name| Some((name.into(), of(name)?))).collect::<Option<_>>()?;
    let measured = Measured::exactly(values);
    let measured = measured.direction("some volumes are above 25 %", !above.is_empty());
    let words = "most of them gain more against PV-W than usr and web";
    Some(measured.direction(words, 2 * more > above.len()))
}

fn prioritized_reads(evidence: &Evidence) -> Option<Measured> {
    const NAMED: [&str; 4] = ["src", "prn", "usr", "wdev"];
    let (mut named, mut others) = (Vec::new(), Vec::new());
    for column in evidence.runs.stand_ins() {
        let share = evidence.prioritized(&column.name, RECORDED, 0)?;
        let lower = 1.0 - evidence.ratio(&column.name, ("rhio", "rt_r"), RECORDED, READ)?;
        let group = if NAMED.contains(&column.name.as_str()) { &mut named } else { &mut others };
        group.push((share, lower));
    }
    let above = |group: &[(f64, f64)]| group.iter().filter(|it| it.0 > 0.05).count();
    let gained = |group: &[(f64, f64)]| mean(&group.iter().map(|it| it.1).collect::<Vec<_>>());
    let values = [("named above", above(&named)), ("others above", above(&others))];
    let values = values.map(|(label, count)| (label.to_string(), count as f64)).into();
    let measured = Measured::exactly(values);
    let measured =
        measured.direction("above 5 % under src, prn, usr and wdev", above(&named) == named.len());
    let measured = measured.direction("within 5 % under all others", above(&others) == 0);
    let more = gained(&named)? > gained(&others)?;
    Some(measured.direction("those four gain more against RT-R", more))
}

/// Returns the rank correlations, over the volumes, of the share of requests that RHIO prioritizes
/// with RHIO's reduction of mean latency; the RHIO paper explains the one by the other.
pub(super) fn correlations(evidence: &Evidence, case: Case<'_>) -> Option<Measured> {
    correlations_of(evidence, case, by_rhio(evidence, case))
}

/// Schemes by whose mean latencies of reads and of writes the reductions are stated that RHIO
/// claims for its order of requests: RT-R and PV-W, which do not reorder.
const UNORDERED_BASES: [&str; 2] = ["rt_r", "pv_w"];

/// Returns the function from a workload and an index of [`KINDS`] to the share by which RHIO lowers
/// mean latency relative to the baseline that does not reorder.
fn by_rhio<'a>(
    evidence: &'a Evidence,
    case: Case<'a>,
) -> impl Fn(&str, usize) -> Option<f64> + use<'a> {
    move |column, kind| {
        let pair = ("rhio", UNORDERED_BASES[kind]);
        Some(1.0 - evidence.ratio(column, pair, case, KINDS[kind].mean)?)
    }
}

/// Returns the same function for RHIO's other two techniques with plain read priority, in place of
/// RHIO.
fn plainly(evidence: &Evidence) -> impl Fn(&str, usize) -> Option<f64> + use<'_> {
    let plain = Case { variant: READS_FIRST, ..RECORDED };
    move |column, kind| {
        let of = KINDS[kind].mean;
        let base = evidence.number(column, UNORDERED_BASES[kind], RECORDED, of)?;
        Some(1.0 - evidence.number(column, "noop", plain, of)? / base)
    }
}

fn correlations_of(
    evidence: &Evidence,
    case: Case<'_>,
    lower: impl Fn(&str, usize) -> Option<f64>,
) -> Option<Measured> {
    let share = |column: &str, kind: usize| evidence.prioritized(column, case, kind);
    let [writes, reads] = ranks(evidence, lower, share)?;
    let measured = Measured::of([("writes", writes), ("reads", reads)]);
    let measured = measured.direction("writes gain more where more are prioritized", writes > 0.0);
    Some(measured.direction("reads gain more where more are prioritized", reads > 0.0))
}

/// Returns the rank correlations, over the RHIO paper's volumes, between request rate and the
/// reduction of mean latency that `lower` gives, for writes and for reads.
fn intensities(
    evidence: &Evidence,
    lower: impl Fn(&str, usize) -> Option<f64>,
) -> Option<Measured> {
    let rates: [Number; 2] = [
        |run| Some(run.get("read.count")? / run.get("simulated_s")?),
        |run| Some(run.get("write.count")? / run.get("simulated_s")?),
    ];
    let rate = |column: &str, kind: usize| evidence.number(column, "noop", RECORDED, rates[kind]);
    let [writes, reads] = ranks(evidence, lower, rate)?;
    let measured = Measured::of([("writes", writes), ("reads", reads)]);
    let measured = measured.direction("writes gain more where more come per second", writes > 0.0);
    Some(measured.direction("reads gain more where more come per second", reads > 0.0))
}

/// Returns the rank correlations, over the RHIO paper's volumes, between a number `of` each volume
/// and the reduction of mean latency that `lower` gives, for writes and for reads.
fn ranks(
    evidence: &Evidence,
    lower: impl Fn(&str, usize) -> Option<f64>,
    of: impl Fn(&str, usize) -> Option<f64>,
) -> Option<[f64; 2]> {
    let rank = |kind: usize| {
        let numbers = evidence.runs.each(|column| of(column, kind))?;
        spearman(&numbers, &evidence.runs.each(|column| lower(column, kind))?)
    };
    Some([rank(1)?, rank(0)?])
}

/// Returns the share by which each baseline lowers mean latencies relative to NOOP, mean over the
/// stand-in traces.
fn baselines(evidence: &Evidence, shown: &[(&str, &str, Number)]) -> Option<Measured> {
    let one = |&(label, scheme, of): &(&str, &str, Number)| {
        let ratios =
            evidence.runs.each(|column| evidence.ratio(column, (scheme, "noop"), RECORDED, of))?;
        Some((label.to_string(), 1.0 - mean(&ratios)?))
    };
    Some(Measured::exactly(shown.iter().map(one).collect::<Option<_>>()?))
}

/// Returns the mean and the standard deviation, over all blocks of the drive, of the rates at which
/// the logarithm of a block's bit error rate grows per P/E cycle; the rates are random draws.
fn drawn(drive: &Resolved) -> (f64, f64) {
    let strengths = Strengths::new(&drive.config.reliability.cells);
    let mut rng = Rng::stream(drive.config.seed, "reproduce/rhio/strengths");
    let rates: Vec<f64> =
        (0..drive.config.geometry.blocks()).map(|_| strengths.strength_at(rng.unit())).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let squares: f64 = rates.iter().map(|rate| (rate - mean) * (rate - mean)).sum();
    (mean, (squares / (rates.len() - 1) as f64).sqrt())
}

/// Serves the writes of the RHIO paper's Figure 2 with all pages of a request on one chip.
fn on_one_chip(paper: &Paper, order: Order) -> Result<Served, Diagnostics> {
    example::figure_2(paper, order, paper.whole_requests)
}

fn equation(paper: &Paper) -> Found {
    let beyond = |order| {
        let served = on_one_chip(paper, order)?;
        // Rounding removes the error of adding up in another order, adding zero a minus sign.
        Ok::<_, Diagnostics>((1000.0 * (served.mean - served.expected)).round() + 0.0)
    };
    are([("first come", beyond(Order::FirstCome)?), ("hot first", beyond(Order::Alone)?)])
}

fn figure_2(paper: &Paper) -> Found {
    let [fifo, alone, rhio] = [
        on_one_chip(paper, Order::FirstCome)?,
        on_one_chip(paper, Order::Alone)?,
        on_one_chip(paper, Order::Rhio)?,
    ];
    let values = Measured::of([
        ("hot_first", rhio.printed()),
        ("fifo", fifo.printed()),
        ("order alone, of its own page times", alone.mean / fifo.mean),
    ]);
    Ok(Some(values.if_holds(alone.order == rhio.order)))
}

/// Returns the groups of writes in the RHIO paper's Figure 2: requests of one size that complete
/// one after another, named by their numbers.
fn groups(paper: &Paper) -> Found {
    let order = on_one_chip(paper, Order::Rhio)?.order;
    let groups = order.chunk_by(|&one, &next| SIZES[one] == SIZES[next]);
    let named = |group: &[usize]| group.iter().fold(0.0, |sum, &write| 10.0 * sum + write as f64);
    let values = groups.zip(1..).map(|(group, number)| (format!("HG{number}"), named(group)));
    Ok(Some(Measured::exactly(values.collect())))
}

fn times(drive: &Resolved) -> Found {
    let (timing, reliability) = (&drive.config.timing, &drive.config.reliability);
    let levels = LevelTimes::new(timing, &reliability.ldpc());
    are([
        ("prog", timing.program(0).as_us()),
        ("sense", levels.sense(1, 0).as_us()),
        ("xfer", levels.transfer(1).as_us()),
    ])
}

/// Measures for every pair of neighbouring settings of the flash whether programs with coarser
/// steps are faster but cause more errors, and whether reads with more reference voltages are
/// slower but correct more errors.
fn trade_offs(drive: &Resolved) -> Result<Measured, NoModel> {
    let reliability = &drive.config.reliability;
    let (model, ldpc, end) = (reliability.model()?, reliability.ldpc(), reliability.end());
    let block = model.block(end.cycles);
    let ladder = Ladder::of(&drive.config);
    let volts = ladder.volts(reliability.cells.step);
    let rber = |at: usize| block.rber(end.age, end.reads, Setting { scale: 1.0, step: volts[at] });
    let iterations = |at: usize| ladder.iterations(Step(at as u8), 0);
    let times = LevelTimes::new(&drive.config.timing, &ldpc);
    let took = |level: usize| times.sense(level as u8, 0) + times.transfer(level as u8);
    let steps = |holds: &dyn Fn(usize) -> bool| volts.len() > 1 && (1..volts.len()).all(holds);
    let levels = |holds: &dyn Fn(usize) -> bool| (1..ldpc.levels().len()).all(holds);
    let correctable = |level: usize| ldpc.levels()[level].correctable;
    Ok([
        ("a coarser step is faster", steps(&|at| iterations(at) < iterations(at - 1))),
        ("a coarser step errs more", steps(&|at| rber(at) > rber(at - 1))),
        ("more references are slower", levels(&|at| took(at) > took(at - 1))),
        ("more references correct more", levels(&|at| correctable(at) > correctable(at - 1))),
    ]
    .into_iter()
    .fold(Measured::of([]), |all, (words, holds)| all.direction(words, holds)))
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::invented;
    use super::*;
    use crate::Verdict;
    use crate::claim::tests::{assert_each_is_declared, verdict_of};

    fn verdict(id: &str, evidence: &Evidence) -> Verdict {
        verdict_of(id, &evidence.paper.claim, CLAIMS, evidence)
    }

    /// Returns made-up mean latencies and shares that agree with the RHIO paper's text: reads and
    /// writes of RHIO are lower by the printed shares.
    fn as_published(column: &str, scheme: &str) -> [f64; 4] {
        let pick = |table: &[(&str, f64)], other: f64| {
            table.iter().find(|(name, _)| *name == column).map_or(other, |(_, value)| *value)
        };
        // Numbers printed for single volumes, and others so that the mean is that printed.
        let write = pick(&[("mds", 0.1242), ("web", 0.0282), ("usr", 0.0334)], 0.0743);
        let read = pick(&[("src", 0.2713), ("mds", 0.001)], 0.05725);
        let share = |lower: f64, least: f64| (lower - least) * 5.0;
        let (reads, writes) = match column {
            "usr" => (0.1, 0.0034),
            "web" => (0.01, 0.0056),
            "src" => (0.2, 0.3),
            "prn" | "wdev" => (0.06, 0.3),
            _ => (0.01, 0.3 + share(write, 0.07)),
        };
        let (rhio_read, rhio_write) = (1000.0, 1000.0);
        match scheme {
            "rhio" => [rhio_read, rhio_write, reads, writes],
            "rt_r" => [rhio_read / (1.0 - read), rhio_write / (1.0 - 0.2971), reads, writes],
            "pv_w" => [rhio_read / (1.0 - 0.3856), rhio_write / (1.0 - write), reads, writes],
            _ => [rhio_read / (1.0 - 0.3911), rhio_write / (1.0 - 0.2992), reads, writes],
        }
    }

    #[test]
    fn every_statement_has_its_claim() {
        assert_each_is_declared(&Paper::open().unwrap().claim, CLAIMS);
    }

    #[test]
    fn the_papers_own_numbers_are_reproduced() {
        let evidence = invented(|column, scheme, _| as_published(column, scheme));
        for number in 1..=8 {
            let id = format!("001-00{number}");
            // The paper gives no number for the last two claims.
            let best = if number < 7 { Verdict::Reproduced } else { Verdict::Shape };
            assert_eq!(verdict(&id, &evidence), best, "{id}");
        }
        // The open choices were settled by these numbers.
        for id in ["001-020", "001-021"] {
            assert_eq!(verdict(id, &evidence), Verdict::ByConstruction, "{id}");
        }
    }

    #[test]
    fn busier_volumes_gain_more_or_less() {
        // In this example, a volume is busier the longer its name is.
        let gains = |per_letter: f64| {
            invented(move |column, scheme, _| {
                let busy = column.len() as f64 / 100.0;
                let slower = if scheme == "rhio" { 0.0 } else { per_letter * busy };
                [1000.0 + slower, 1000.0 + slower, busy, busy]
            })
        };
        assert_eq!(verdict("001-022", &gains(100.0)), Verdict::Shape);
        let less = verdict("001-022", &gains(-100.0));
        assert!(matches!(less, Verdict::NotReproducible(_)), "{less:?}");
    }

    #[test]
    fn volumes_above_the_share_must_gain_more_than_usr_and_web() {
        let with = |share: f64, rhio: f64| {
            invented(move |column, scheme, _| match column {
                "usr" => [1000.0, if scheme == "rhio" { 966.6 } else { 1000.0 }, 0.0, 0.0034],
                "web" => [1000.0, if scheme == "rhio" { 971.8 } else { 1000.0 }, 0.0, 0.0056],
                _ => [1000.0, if scheme == "rhio" { rhio } else { 1000.0 }, 0.0, share],
            })
        };
        assert_eq!(verdict("001-006", &with(0.3, 900.0)), Verdict::Reproduced);
        for (share, mean) in [(0.2, 900.0), (0.3, 980.0)] {
            let judged = verdict("001-006", &with(share, mean));
            assert!(matches!(judged, Verdict::NotReproducible(_)), "{share} {mean}: {judged:?}");
        }
    }

    #[test]
    fn other_numbers_are_not() {
        let out = |verdict: Verdict| matches!(verdict, Verdict::NotReproducible(_));
        let nothing = invented(|_, _, _| [f64::NAN; 4]);
        // Six tenths of each improvement, and three tenths.
        let part = |share: f64| {
            invented(move |column, scheme, _| {
                let [read, write, reads, writes] = as_published(column, scheme);
                let less = |mean: f64| 1000.0 / (1.0 - share * (1.0 - 1000.0 / mean));
                [less(read), less(write), reads, writes]
            })
        };
        let (most, little) = (part(0.6), part(0.3));
        for id in ["001-001", "001-002", "001-003", "001-004", "001-005"] {
            assert!(out(verdict(id, &nothing)), "{id}");
            assert_eq!(verdict(id, &most), Verdict::Shape, "{id}");
            assert!(out(verdict(id, &little)), "{id}");
        }
        // RHIO slower than everything, and nothing prioritized.
        let turned = invented(|column, scheme, _| {
            let [read, write, ..] = as_published(column, scheme);
            if scheme == "rhio" { [9000.0, 9000.0, 0.0, 0.0] } else { [read, write, 0.0, 0.0] }
        });
        for number in 1..=8 {
            let id = format!("001-00{number}");
            assert!(out(verdict(&id, &turned)), "{id}");
        }
    }

    #[test]
    fn what_needs_no_workload_agrees() {
        let evidence = invented(|_, _, _| [f64::NAN; 4]);
        for (numbers, agrees) in [
            (&[11, 13][..], Verdict::Reproduced),
            (&[9, 10, 12, 16, 17, 18, 19], Verdict::ByConstruction),
            (&[14], Verdict::Shape),
        ] {
            for number in numbers {
                let id = format!("001-0{number:02}");
                assert_eq!(verdict(&id, &evidence), agrees, "{id}");
            }
        }
        assert!(matches!(verdict("001-015", &evidence), Verdict::NotReproducible(_)));
    }
}
