//! Every claim of the paper, and how it is measured.

use super::die::{Die, Interruption, config};
use super::paper::Flash;
use super::plan::{Drive, Evidence, queue_variant};
use crate::claim::{Claim, ClaimId, Found, Labelled, Measured, claim, named};
use crate::run_summary::{Number, READ, WRITE};
use crate::runs::mean;
use fowler_device::{ChipOp, Config};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_units::Span;
use std::collections::BTreeSet;

// Claims whose numbers tables and figures show next to ours.
const TABLE_2_SLC_READ: ClaimId = ClaimId("000-012");
const TABLE_2_SLC_WRITE: ClaimId = ClaimId("000-013");
const TABLE_2_MLC_READ: ClaimId = ClaimId("000-014");
const TABLE_2_MLC_WRITE: ClaimId = ClaimId("000-015");
const RANKS: ClaimId = ClaimId("000-017");
pub(super) const READS_RPS_BELOW_FIFO: ClaimId = ClaimId("000-023");
pub(super) const READS_PE0_BELOW_FIFO: ClaimId = ClaimId("000-024");
pub(super) const READS_IPC_BELOW_RPS: ClaimId = ClaimId("000-038");
pub(super) const READS_IPS_ABOVE_IPC: ClaimId = ClaimId("000-041");
pub(super) const WRITES_RPS_ABOVE_FIFO: ClaimId = ClaimId("000-042");
pub(super) const WRITES_IPS_ABOVE_FIFO: ClaimId = ClaimId("000-043");
pub(super) const WRITES_IPC_ABOVE_FIFO: ClaimId = ClaimId("000-044");
pub(super) const OVERHEAD: ClaimId = ClaimId("000-046");
pub(super) const SUSPENDED: ClaimId = ClaimId("000-047");

const PROGRAM: ChipOp = ChipOp::Program;
const ERASE: ChipOp = ChipOp::Erase;

/// Every claim, in the order of the paper's data.
pub(super) const CLAIMS: &[Claim<Evidence>] = &[
    claim("000-001", |_| parameter(|it| it.timing.bus_transfer.as_us())),
    claim("000-002", |_| parameter(|it| it.timing.read.at(0).as_us())),
    claim("000-003", |_| parameter(|it| ispp(it).as_us())),
    claim("000-004", |_| parameter(|it| f64::from(it.timing.program_iterations.at(0)))),
    claim("000-005", |_| {
        parameter(|it| it.timing.program_phase.as_us() + it.timing.verify_phase.as_us())
    }),
    claim("000-006", |_| parameter(|it| it.timing.program_phase.as_us())),
    claim("000-007", |_| parameter(|it| it.timing.verify_phase.as_us())),
    claim("000-008", |_| parameter(|it| it.timing.erase_pulse.as_us())),
    claim("000-009", |_| parameter(|it| it.timing.voltage_reset.as_us())),
    claim("000-010", |_| parameter(|it| it.timing.buffer_load.as_us())),
    claim("000-011", |_| {
        by_flash(|flash| {
            let phases = ispp(&config(flash, "fifo")?);
            Ok(Die::new(flash, "fifo", PROGRAM)?.alone.as_us() - phases.as_us())
        })
    }),
    named(TABLE_2_SLC_READ, |e| Ok(table2(e, (Flash::Slc, READ), TABLE_2_SLC_READ))),
    named(TABLE_2_SLC_WRITE, |e| Ok(table2(e, (Flash::Slc, WRITE), TABLE_2_SLC_WRITE))),
    named(TABLE_2_MLC_READ, |e| Ok(table2(e, (Flash::Mlc, READ), TABLE_2_MLC_READ))),
    named(TABLE_2_MLC_WRITE, |e| Ok(table2(e, (Flash::Mlc, WRITE), TABLE_2_MLC_WRITE))),
    claim("000-016", |e| Ok(relations(e))),
    named(RANKS, |e| Ok(ranks(e))),
    claim("000-018", |_| geometry()),
    claim("000-019", |_| parameter(|it| it.over_provisioning)),
    claim("000-020", |_| interface()),
    claim("000-021", |e| Ok(background(e))),
    claim("000-022", |e| is("times", (1.0 - e.paper.idle) / (1.0 - 0.98))),
    named(READS_RPS_BELOW_FIFO, |e| Ok(reduction(e, ("rps", "fifo")))),
    named(READS_PE0_BELOW_FIFO, |e| {
        let holds = ordered(e, &["pe0", "per", "rps", "fifo"]);
        Ok(reduction(e, ("pe0", "fifo")).map(|it| it.if_holds(holds)))
    }),
    claim("000-025", |e| Ok(contention(e))),
    claim("000-026", |_| alone(ERASE)),
    claim("000-027", |_| swept("pes_ipc", ERASE, longest_wait)),
    claim("000-028", |_| interrupted("pes_ipc", ERASE, |it| Span::ns(it.timing.erase_pulse.0 / 2))),
    claim("000-029", |_| alone(ChipOp::Write)),
    claim("000-030", |_| is("us", 4096.0 / 100.0)),
    claim("000-031", |_| {
        parameter(|it| it.timing.bus_transfer.as_us() / it.timing.buffer_load.as_us())
    }),
    claim("000-032", |_| swept("pes_ips", PROGRAM, points)),
    claim("000-033", |_| swept("pes_ips", PROGRAM, mean_wait)),
    claim("000-034", |_| swept("pes_ipc", PROGRAM, longest_wait)),
    claim("000-035", |_| {
        by_flash_if_any(|flash| Ok(same_extra(&Die::new(flash, "pes_ips", PROGRAM)?.sweep())))
    }),
    claim("000-036", |_| {
        interrupted("pes_ipc", PROGRAM, |it| it.timing.program_phase + Span::us(2))
    }),
    claim("000-037", |e| Ok(fewer(e))),
    named(READS_IPC_BELOW_RPS, |e| Ok(reduction(e, ("pes_ipc", "rps")))),
    claim("000-039", |e| Ok(reduction(e, ("pes_ipc", "fifo")))),
    claim("000-040", |e| Ok(excess(e, READ, ("pes_ipc", "pe0"), false))),
    named(READS_IPS_ABOVE_IPC, |e| Ok(cancelling(e))),
    named(WRITES_RPS_ABOVE_FIFO, |e| Ok(excess(e, WRITE, ("rps", "fifo"), true))),
    named(WRITES_IPS_ABOVE_FIFO, |e| Ok(excess(e, WRITE, ("pes_ips", "fifo"), true))),
    named(WRITES_IPC_ABOVE_FIFO, |e| Ok(excess(e, WRITE, ("pes_ipc", "fifo"), true))),
    claim("000-045", |e| Ok(excess(e, WRITE, ("pes_ipc", "fifo"), false))),
    named(OVERHEAD, |e| Ok(average(e, |run| run.suspension_overhead, OVERHEAD))),
    named(SUSPENDED, |e| Ok(average(e, |run| run.suspended_share, SUSPENDED))),
    claim("000-048", |e| Ok(queue(e))),
    claim("000-049", |_| {
        by_flash(|flash| {
            let iterations = config(flash, "fifo")?.timing.program_iterations.at(0);
            let served = points(&Die::new(flash, "pes_ips", PROGRAM)?.sweep());
            Ok(served / f64::from(iterations))
        })
    }),
];

fn is(label: &str, value: f64) -> Found {
    Ok(Some(Measured::of([(label, value)])))
}

/// The time of a program's iterations, without the transfer.
fn ispp(config: &Config) -> Span {
    let timing = &config.timing;
    let iteration = timing.program_phase.0 + timing.verify_phase.0;
    Span::ns(iteration * u64::from(timing.program_iterations.at(0)))
}

/// Returns a number for each flash.
fn by_flash(of: impl Fn(Flash) -> Result<f64, Diagnostics>) -> Found {
    by_flash_if_any(|flash| of(flash).map(Some))
}

/// Like [`by_flash`], where a flash may have no number; the claim then fails.
fn by_flash_if_any(of: impl Fn(Flash) -> Result<Option<f64>, Diagnostics>) -> Found {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        values.extend(of(flash)?.map(|value| (flash.name().into(), value)));
    }
    Ok(Some(Measured::exactly(values)))
}

fn parameter(of: impl Fn(&Config) -> f64) -> Found {
    by_flash(|flash| Ok(of(&config(flash, "fifo")?)))
}

fn geometry() -> Found {
    let [slc, mlc] = [config(Flash::Slc, "fifo")?, config(Flash::Mlc, "fifo")?];
    let raw = |config: &Config| config.geometry.raw().0 as f64 / f64::from(1 << 30);
    let g = &mlc.geometry;
    let chips = g.channels * g.chips_per_channel;
    Ok(Some(Measured::of([
        ("chips", f64::from(chips)),
        ("channels", f64::from(g.channels)),
        ("planes", f64::from(g.planes_per_die)),
        ("SLC GiB", raw(&slc)),
        ("MLC GiB", raw(&mlc)),
    ])))
}

fn interface() -> Found {
    let config = config(Flash::Mlc, "fifo")?;
    Ok(Some(Measured::of([
        ("MiB", config.buffer.size.0 as f64 / f64::from(1 << 20)),
        ("GB/s", config.host.bandwidth.0 as f64 / 1e9),
    ])))
}

/// Measures how long an undisturbed operation takes.
fn alone(op: ChipOp) -> Found {
    by_flash(|flash| Ok(Die::new(flash, "fifo", op)?.alone.as_us()))
}

/// Evaluates reads that arrive at every offset into an operation.
fn swept(scheme: &str, op: ChipOp, of: fn(&[Interruption]) -> f64) -> Found {
    by_flash(|flash| Ok(of(&Die::new(flash, scheme, op)?.sweep())))
}

/// Measures how much longer an operation takes if a read arrives at an offset into it.
fn interrupted(scheme: &str, op: ChipOp, offset: fn(&Config) -> Span) -> Found {
    by_flash(|flash| {
        let offset = offset(&config(flash, scheme)?);
        Ok(Die::new(flash, scheme, op)?.interrupt(offset).extra.as_us())
    })
}

fn mean_wait(all: &[Interruption]) -> f64 {
    all.iter().map(|it| it.wait.as_us()).sum::<f64>() / all.len() as f64
}

fn longest_wait(all: &[Interruption]) -> f64 {
    all.iter().map(|it| it.wait.as_us()).fold(0.0, f64::max)
}

/// Returns how much longer suspended operations took, if all took the same.
fn same_extra(all: &[Interruption]) -> Option<f64> {
    let suspended = all.iter().filter(|it| it.suspensions > 0);
    let extras: BTreeSet<Span> = suspended.map(|it| it.extra).collect();
    extras.first().filter(|_| extras.len() == 1).map(|extra| extra.as_us())
}

/// Counts the different times at which a read was served.
fn points(all: &[Interruption]) -> f64 {
    all.iter().map(|it| it.served).collect::<BTreeSet<_>>().len() as f64
}

/// Mean latencies of the stand-ins under FIFO, in milliseconds.
fn under_fifo(evidence: &Evidence, flash: Flash, of: Number) -> Option<Vec<Labelled>> {
    let cell = |name: &str| Some(evidence.number(name, flash.plain(), "fifo", of)? / 1e3);
    let columns = evidence.runs.stand_ins();
    columns.map(|column| Some((column.name.clone(), cell(&column.name)?))).collect()
}

fn table2(evidence: &Evidence, (flash, of): (Flash, Number), id: ClaimId) -> Option<Measured> {
    Some(sized(evidence, under_fifo(evidence, flash, of)?, id))
}

/// Returns numbers whose direction holds if they are within a factor of two of the published ones.
fn sized(evidence: &Evidence, values: Vec<Labelled>, id: ClaimId) -> Measured {
    let holds = values.iter().all(|(label, ours)| {
        let ratio = evidence.paper.number(id, label).map(|published| ours / published);
        ratio.is_some_and(|ratio| (0.5..=2.0).contains(&ratio))
    });
    Measured::held(values, holds)
}

fn relations(evidence: &Evidence) -> Option<Measured> {
    let (mut slower, mut writes) = (0, 0);
    for column in evidence.runs.stand_ins() {
        let cell = |flash: Flash, kind| evidence.number(&column.name, flash.plain(), "fifo", kind);
        for kind in [READ, WRITE] {
            slower += usize::from(cell(Flash::Mlc, kind)? > cell(Flash::Slc, kind)?);
        }
        for flash in Flash::ALL {
            writes += usize::from(cell(flash, WRITE)? > cell(flash, READ)?);
        }
    }
    let cells = 2 * evidence.runs.stand_ins().count();
    let values = vec![("MLC > SLC".into(), slower as f64), ("write > read".into(), writes as f64)];
    Some(Measured::held(values, slower == cells && writes == cells))
}

fn ranks(evidence: &Evidence) -> Option<Measured> {
    let all = under_fifo(evidence, Flash::Slc, READ)?;
    let rank = |mine: f64| 1 + all.iter().filter(|(_, other)| *other > mine).count();
    let values: Vec<Labelled> =
        all.iter().map(|(name, mine)| (name.clone(), rank(*mine) as f64)).collect();
    let published = |name: &str| evidence.paper.number(RANKS, name);
    let holds = values.iter().all(|(name, rank)| published(name) == Some(*rank));
    Some(Measured::held(values, holds))
}

/// the share of GC jobs that ran in the background, over all stand-ins.
fn background(evidence: &Evidence) -> Option<Measured> {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        let count = |of: Number| -> Option<f64> {
            let of = |name: &str| evidence.number(name, flash.plain(), "fifo", of);
            evidence.runs.stand_ins().map(|column| of(&column.name)).sum()
        };
        let behind = count(|run| Some(run.counters.background_gc))?;
        let all = behind + count(|run| Some(run.counters.foreground_gc))?;
        if all == 0.0 {
            return None;
        }
        values.push((flash.name().to_string(), behind / all));
    }
    let holds = values.iter().all(|(_, share)| *share > 0.5);
    Some(Measured::held(values, holds))
}

/// Returns how much a scheme lowers mean read latency against another, mean over the stand-ins.
fn reduction(evidence: &Evidence, schemes: (&str, &str)) -> Option<Measured> {
    let mut values = Vec::new();
    let mut holds = true;
    for flash in Flash::ALL {
        let ratios = evidence.ratios(flash.plain(), READ, schemes)?;
        holds &= ratios.iter().all(|&ratio| ratio < 1.0);
        values.push((flash.name().into(), 1.0 - mean(&ratios)?));
    }
    Some(Measured::held(values, holds))
}

/// Whether mean reads rise from each of `schemes` to the next, under every stand-in on both
/// flashes.
fn ordered(evidence: &Evidence, schemes: &[&str]) -> bool {
    let pairs = || schemes.windows(2);
    Flash::ALL.into_iter().all(|flash| {
        pairs().all(|pair| {
            let ratios = evidence.ratios(flash.plain(), READ, (pair[0], pair[1]));
            ratios.is_some_and(|ratios| ratios.iter().all(|&ratio| ratio < 1.0))
        })
    })
}

/// What reads under RPS take in reads under PE0: the quotient of the means of what is normalised to
/// FIFO, as the paper's numbers are.
fn contention(evidence: &Evidence) -> Option<Measured> {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        let normalised = |scheme| mean(&evidence.ratios(flash.plain(), READ, (scheme, "fifo"))?);
        values.push((flash.name().to_string(), normalised("rps")? / normalised("pe0")?));
    }
    let holds = values.iter().all(|(_, ratio)| *ratio > 1.0);
    Some(Measured::held(values, holds))
}

/// Counts the cases in which IPS has faster writes, and those in which IPC has faster reads.
fn fewer(evidence: &Evidence) -> Option<Measured> {
    let cases = |of: Number, schemes| -> Option<(usize, usize)> {
        let mut ratios = Vec::new();
        for flash in Flash::ALL {
            ratios.extend(evidence.ratios(flash.plain(), of, schemes)?);
        }
        Some((ratios.iter().filter(|&&ratio| ratio < 1.0).count(), ratios.len()))
    };
    let (writes, all) = cases(WRITE, ("pes_ips", "pes_ipc"))?;
    let (reads, _) = cases(READ, ("pes_ipc", "pes_ips"))?;
    let values = vec![("writes".into(), writes as f64), ("reads".into(), reads as f64)];
    Some(Measured::held(values, writes == all && reads == all))
}

/// The limit for what the paper calls a small or trivial excess: 10 % on
/// average.
const SMALL: f64 = 1.10;

/// By how much a scheme is above another: the mean over the stand-ins, and with `most` the largest.
fn excess(evidence: &Evidence, of: Number, schemes: (&str, &str), most: bool) -> Option<Measured> {
    let mut values = Vec::new();
    let mut holds = true;
    for flash in Flash::ALL {
        let ratios = evidence.ratios(flash.plain(), of, schemes)?;
        holds &= (1.0..SMALL).contains(&mean(&ratios)?);
        let (mean, largest) =
            (mean(&ratios)? - 1.0, ratios.iter().fold(0.0, |a, &b| f64::max(a, b)));
        if most {
            values.push((format!("{} mean", flash.name()), mean));
            values.push((format!("{} most", flash.name()), largest - 1.0));
        } else {
            values.push((flash.name().into(), mean));
        }
    }
    Some(Measured::held(values, holds))
}

fn cancelling(evidence: &Evidence) -> Option<Measured> {
    let measured = excess(evidence, READ, ("pes_ips", "pes_ipc"), true)?;
    let holds = measured.holds && slower_on_slc(evidence)?;
    Some(measured.if_holds(holds))
}

/// Whether IPS loses more against IPC on SLC than on MLC, under every stand-in.
fn slower_on_slc(evidence: &Evidence) -> Option<bool> {
    let [slc, mlc] =
        Flash::ALL.map(|flash| evidence.ratios(flash.plain(), READ, ("pes_ips", "pes_ipc")));
    Some(slc?.iter().zip(&mlc?).all(|(slc, mlc)| slc > mlc && *mlc > 1.0))
}

/// A number of the runs under IPC, mean over the stand-ins.
fn average(evidence: &Evidence, of: Number, id: ClaimId) -> Option<Measured> {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        values.push((flash.name().into(), evidence.average(flash.plain(), "pes_ipc", of)?));
    }
    Some(sized(evidence, values, id))
}

/// The write overhead of a scheme by the size of the write queue.
pub(super) fn overheads(evidence: &Evidence, flash: Flash, scheme: &str) -> Option<Vec<f64>> {
    let queue = &evidence.paper.queue;
    let at = |&size: &u32| {
        let drive = Drive { flash, variant: &queue_variant(size) };
        evidence.ratio(&queue.workload, drive, WRITE, (scheme, "fifo"))
    };
    queue.sizes.iter().map(at).collect()
}

/// At how many of the steps from one size of the queue to the next the overhead grows, and whether
/// the difference between the two schemes stays flat beside that growth.
fn queue(evidence: &Evidence) -> Option<Measured> {
    let mut values = Vec::new();
    let mut holds = true;
    for flash in Flash::ALL {
        let [rps, ipc] = ["rps", "pes_ipc"].map(|scheme| overheads(evidence, flash, scheme));
        let (rps, ipc) = (rps?, ipc?);
        for (name, curve) in [("RPS", &rps), ("IPC", &ipc)] {
            let grows = curve.windows(2).filter(|pair| pair[1] > pair[0]).count();
            values.push((format!("{name} {}", flash.name()), grows as f64));
        }
        let span = |curve: &[f64]| {
            let (least, most) = curve
                .iter()
                .fold((f64::MAX, f64::MIN), |(least, most), &it| (least.min(it), most.max(it)));
            most - least
        };
        let apart: Vec<f64> = ipc.iter().zip(&rps).map(|(ipc, rps)| ipc - rps).collect();
        let grown = rps.last()? - rps.first()?;
        holds &= grown > 0.0 && ipc.last()? > ipc.first()? && span(&apart) < 0.5 * grown;
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

    /// Means as the paper has them, relative to FIFO.
    fn as_published(flash: Flash, scheme: &str) -> (f64, f64) {
        let slc = flash == Flash::Slc;
        let pick = |one: f64, other: f64| if slc { one } else { other };
        match scheme {
            "fifo" => (1000.0, 2000.0),
            "rps" => (1000.0 * pick(0.554, 0.517), 2000.0 * pick(1.023, 1.012)),
            "per" => (1000.0 * pick(0.3, 0.26), 2000.0),
            "pe0" => (1000.0 * pick(0.283, 0.244), 2000.0),
            "pes_ips" => (1000.0 * pick(0.284 * 1.08, 0.246 * 1.027), 2000.0 * pick(1.034, 1.018)),
            _ => (1000.0 * pick(0.284, 0.246), 2000.0 * pick(1.036, 1.019)),
        }
    }

    #[test]
    fn every_statement_has_its_claim() {
        assert_each_is_declared(&Paper::open().unwrap().claim, CLAIMS);
    }

    #[test]
    fn the_papers_own_numbers_are_reproduced() {
        let evidence = invented(as_published);
        for id in
            ["000-023", "000-024", "000-025", "000-037", "000-038", "000-039", "000-040", "000-045"]
        {
            assert_eq!(verdict(id, &evidence), Verdict::Reproduced, "{id}");
        }
    }

    #[test]
    fn other_numbers_are_not() {
        let out = |verdict: Verdict| matches!(verdict, Verdict::NotReproducible(_));
        // Half of each improvement: the direction holds.
        let half = invented(|flash, scheme| {
            let (read, write) = as_published(flash, scheme);
            (500.0 + read / 2.0, write)
        });
        assert_eq!(verdict("000-023", &half), Verdict::Shape);
        assert_eq!(verdict("000-039", &half), Verdict::Shape);
        // PES slower than RPS, cancelling slower than waiting, and writes twice as slow.
        let turned = invented(|flash, scheme| match scheme {
            "pes_ipc" => (1500.0, 4000.0),
            "pes_ips" => (1200.0, 3900.0),
            _ => as_published(flash, scheme),
        });
        for id in ["000-037", "000-038", "000-039", "000-040", "000-044", "000-045"] {
            assert!(out(verdict(id, &turned)), "{id}");
        }
        // Far beyond Table 2.
        assert!(out(verdict("000-012", &turned)));
        // Nothing was run.
        let nothing = invented(|_, _| (f64::NAN, f64::NAN));
        assert!(out(verdict("000-023", &nothing)));
    }
}
