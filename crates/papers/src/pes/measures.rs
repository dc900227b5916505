//! Measures of the paper's claims about workloads: means, worst cases and directions over the
//! stand-ins.

use super::claims::RANKS;
use super::paper::{Flash, Way};
use super::plan::{CLOSED, Drive, Evidence, WRITING, queue_variant};
use super::tables::called;
use crate::claim::{Labelled, Measured};
use crate::run_summary::{Number, READ, RunSummary, WRITE};
use crate::runs::mean;

/// Returns the mean latency of reads or writes under FIFO for each stand-in trace, in milliseconds.
fn under_fifo(evidence: &Evidence, flash: Flash, of: Number) -> Option<Vec<Labelled>> {
    let cell = |name: &str| Some(evidence.number(name, flash.plain(), "fifo", of)? / 1e3);
    let columns = evidence.runs.stand_ins();
    columns.map(|column| Some((column.name.clone(), cell(&column.name)?))).collect()
}

pub(super) fn table2(evidence: &Evidence, (flash, of): (Flash, Number)) -> Option<Measured> {
    Some(Measured::exactly(under_fifo(evidence, flash, of)?))
}

pub(super) fn relations(evidence: &Evidence) -> Option<Measured> {
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
    let measured = Measured::of([("MLC > SLC", slower as f64), ("write > read", writes as f64)])
        .direction("MLC is slower than SLC in every cell", slower == cells)
        .direction("writes are slower than reads in every cell", writes == cells);
    Some(measured)
}

pub(super) fn ranks(evidence: &Evidence) -> Option<Measured> {
    let all = under_fifo(evidence, Flash::Slc, READ)?;
    let rank = |mine: f64| 1 + all.iter().filter(|(_, other)| *other > mine).count();
    let values: Vec<Labelled> =
        all.iter().map(|(name, mine)| (name.clone(), rank(*mine) as f64)).collect();
    let published = |name: &str| evidence.paper.number(RANKS, name);
    let holds = values.iter().all(|(name, rank)| published(name) == Some(*rank));
    Some(Measured::held(values, holds))
}

/// Returns the share of GC jobs that ran in the background, over all stand-in traces.
pub(super) fn background(evidence: &Evidence) -> Option<Measured> {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        let count = |of: Number| -> Option<f64> {
            let of = |name: &str| evidence.number(name, flash.plain(), "fifo", of);
            evidence.runs.stand_ins().map(|column| of(&column.name)).sum()
        };
        let behind = count(|run| run.get("counters.background_gc"))?;
        let all = behind + count(|run| run.get("counters.foreground_gc"))?;
        if all == 0.0 {
            return None;
        }
        values.push((flash.name().to_string(), behind / all));
    }
    let most = values.iter().all(|(_, share)| *share > 0.5);
    Some(Measured::exactly(values).direction("most GC runs in the background", most))
}

/// Returns the share by which the first scheme lowers mean read latency relative to the second,
/// mean over the stand-in traces.
pub(super) fn reduction(evidence: &Evidence, schemes: (&str, &str)) -> Option<Measured> {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        let ratios = evidence.ratios(flash.plain(), READ, schemes)?;
        values.push((flash.name().into(), 1.0 - mean(&ratios)?));
    }
    Some(Measured::exactly(values))
}

/// Returns true if a metric (`of`, such as mean read latency) is lower under the first scheme than
/// under the second, for every stand-in trace of the P/E suspension study on SLC and on MLC.
fn everywhere(evidence: &Evidence, of: Number, schemes: (&str, &str)) -> bool {
    Flash::ALL.into_iter().all(|flash| {
        let ratios = evidence.ratios(flash.plain(), of, schemes);
        ratios.is_some_and(|ratios| ratios.iter().all(|&ratio| ratio < 1.0))
    })
}

/// Adds to a measurement of the P/E suspension study an effect stated in words, and true if it
/// holds: mean read latency under the first scheme is below that under the second, for every
/// workload.
pub(super) fn below(evidence: &Evidence, measured: Measured, schemes: (&str, &str)) -> Measured {
    let (scheme, base) = (called(schemes.0), called(schemes.1));
    let holds = everywhere(evidence, READ, schemes);
    measured.direction(
        &format!("mean read latency of {scheme} is below {base}'s under every workload"),
        holds,
    )
}

/// Measures the effect of contention in the P/E suspension paper: read latency under RPS (reads
/// first) divided by that under PE0 (programs and erases take no time), each normalized to FIFO as
/// in the paper. A quotient of 1 means no contention; the paper says "about 2x".
pub(super) fn contention(evidence: &Evidence) -> Option<Measured> {
    let mut values = Vec::new();
    let mut longer = true;
    for flash in Flash::ALL {
        let normalized = |scheme| mean(&evidence.ratios(flash.plain(), READ, (scheme, "fifo"))?);
        let times = normalized("rps")? / normalized("pe0")?;
        longer &= times > 1.0;
        values.push((flash.name().to_string(), times));
        values.push((format!("{} excess", flash.name()), times - 1.0));
    }
    Some(Measured::exactly(values).direction("contention increases read latency under RPS", longer))
}

/// Counts the workloads under which inter-phase suspension (IPS) has faster writes than intra-phase
/// cancellation (IPC), and those under which IPC has faster reads. The P/E suspension paper says so
/// in general, so the directions are those of the means.
pub(super) fn fewer(evidence: &Evidence) -> Option<Measured> {
    let mut measured = Measured::exactly(Vec::new());
    for (name, of, schemes) in
        [("writes", WRITE, ("pes_ips", "pes_ipc")), ("reads", READ, ("pes_ipc", "pes_ips"))]
    {
        let (mut cases, mut holds) = (0, true);
        for flash in Flash::ALL {
            let ratios = evidence.ratios(flash.plain(), of, schemes)?;
            cases += ratios.iter().filter(|&&ratio| ratio < 1.0).count();
            holds &= mean(&ratios)? < 1.0;
        }
        measured.values.push((name.to_string(), cases as f64));
        let words =
            format!("{} has faster {name} on average, on SLC and on MLC", called(schemes.0));
        measured = measured.direction(&words, holds);
    }
    Some(measured)
}

/// Returns the share by which a number is higher under the first scheme than under the second: the
/// mean over the stand-in traces and, with `most`, the largest.
pub(super) fn excess(
    evidence: &Evidence,
    of: Number,
    schemes: (&str, &str),
    most: bool,
) -> Option<Measured> {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        let ratios = evidence.ratios(flash.plain(), of, schemes)?;
        let mean = mean(&ratios)? - 1.0;
        if most {
            let largest = ratios.iter().fold(f64::MIN, |a, &b| f64::max(a, b));
            values.push((format!("{} mean", flash.name()), mean));
            values.push((format!("{} most", flash.name()), largest - 1.0));
        } else {
            values.push((flash.name().into(), mean));
        }
    }
    Some(Measured::exactly(values))
}

/// Adds to a measurement the directions that the P/E suspension paper states about IPS, a scheme
/// that suspends programs between phases.
pub(super) fn above(evidence: &Evidence, measured: Option<Measured>) -> Option<Measured> {
    let pair = ("pes_ips", "pes_ipc");
    let [slc, mlc] = Flash::ALL.map(|flash| evidence.ratios(flash.plain(), READ, pair));
    let (slc, mlc) = (slc?, mlc?);
    let slower = slc.iter().chain(&mlc).all(|&ratio| ratio > 1.0);
    let poorer = slc.iter().zip(&mlc).all(|(slc, mlc)| slc > mlc);
    let measured = measured?
        .direction("PES_IPS is above PES_IPC under every workload", slower)
        .direction("by more on SLC than on MLC under every workload", poorer);
    Some(measured)
}

/// Measures the share by which a number under the first scheme exceeds that under the second, for
/// the workloads that the P/E suspension paper names as worst on SLC and on MLC, and whether they
/// are the worst.
pub(super) fn worst(
    evidence: &Evidence,
    (of, scheme): (Number, &str),
    schemes: (&str, &str),
    named: [&str; 2],
) -> Option<Measured> {
    let mut measured = Measured::exactly(Vec::new());
    for (flash, named) in Flash::ALL.into_iter().zip(named) {
        let ratios = evidence.ratios(flash.plain(), of, schemes)?;
        let place = evidence.runs.stand_ins().position(|column| column.name == named)?;
        let others = ratios.iter().enumerate().filter(|(other, _)| *other != place);
        let most = others.map(|(_, ratio)| *ratio).fold(f64::MIN, f64::max);
        let label = format!("{} {named}", flash.name());
        measured.values.push((label, ratios[place] - 1.0));
        measured.values.push((format!("{} others, most", flash.name()), most - 1.0));
        let words = format!("{scheme} costs most under {named} on {}", flash.name());
        measured = measured.direction(&words, ratios[place] > most);
    }
    Some(measured)
}

/// Measures write throughput relative to FIFO in a closed loop, and the time that dies are busy at
/// the P/E suspension paper's load relative to FIFO: means over the stand-in traces.
pub(super) fn throughput(evidence: &Evidence) -> Option<Measured> {
    let rate = |run: &RunSummary| Some(run.get("write.bytes")? / run.get("simulated_s")?);
    let busy = |run: &RunSummary| run.get("counters.die_busy_s");
    let barely = evidence.paper.throughput.barely;
    let mut measured = Measured::exactly(Vec::new());
    let (mut kept, mut light) = (true, true);
    for flash in Flash::ALL {
        let closed = Drive { flash, variant: CLOSED };
        for scheme in WRITING.into_iter().skip(1) {
            let written = mean(&evidence.ratios(closed, rate, (scheme, "fifo"))?)? - 1.0;
            let longer = mean(&evidence.ratios(flash.plain(), busy, (scheme, "fifo"))?)? - 1.0;
            (kept, light) = (kept && written > -barely, light && longer < barely);
            let name = format!("{} {}", flash.name(), called(scheme));
            measured.values.push((format!("{name} throughput"), written));
            measured.values.push((format!("{name} die time"), longer));
        }
    }
    let measured = measured
        .direction("write throughput falls by less than 5 %", kept)
        .direction("dies are busy less than 5 % longer", light);
    Some(measured)
}

/// Returns a metric of the runs under PES_IPC, the P/E suspension paper's intra-phase cancellation:
/// mean over the stand-in traces, for each kind of flash.
pub(super) fn average(evidence: &Evidence, of: Number) -> Option<Measured> {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        values.push((flash.name().into(), evidence.average(flash.plain(), "pes_ipc", of)?));
    }
    Some(Measured::exactly(values))
}

/// Returns the write latency under a scheme of the P/E suspension paper divided by that under FIFO,
/// for each size of the write queue.
pub(super) fn overheads(
    evidence: &Evidence,
    (way, flash): (&Way, Flash),
    scheme: &str,
) -> Option<Vec<f64>> {
    let queue = &evidence.paper.queue;
    let at = |&size: &u32| {
        let drive = Drive { flash, variant: &queue_variant(way, size) };
        evidence.ratio(&queue.workload, drive, WRITE, (scheme, "fifo"))
    };
    queue.sizes.iter().map(at).collect()
}

/// Measures the P/E suspension paper's claim on the size of the write queue: whether the write
/// latency of RPS (reads first) and of PES_IPC relative to FIFO grows with the queue, whether their
/// difference stays flat, and whether most of it at the largest size is that of RPS.
pub(super) fn queue(evidence: &Evidence) -> Option<Measured> {
    let way = evidence.paper.queue.way.first()?;
    let mut measured = Measured::exactly(Vec::new());
    let mut grow = [true; 2];
    let (mut flat, mut mostly) = (true, true);
    for flash in Flash::ALL {
        let curve = |scheme| overheads(evidence, (way, flash), scheme);
        let (rps, ipc) = (curve("rps")?, curve("pes_ipc")?);
        for (place, (name, curve)) in [("RPS", &rps), ("IPC", &ipc)].into_iter().enumerate() {
            let steps = curve.windows(2).filter(|pair| pair[1] > pair[0]).count();
            measured.values.push((format!("{name} {}", flash.name()), steps as f64));
            grow[place] &= curve.last()? > curve.first()?;
        }
        let apart: Vec<f64> = ipc.iter().zip(&rps).map(|(ipc, rps)| ipc - rps).collect();
        let most = apart.iter().copied().fold(f64::MIN, f64::max);
        let least = apart.iter().copied().fold(f64::MAX, f64::min);
        flat &= most - least < 0.5 * (rps.last()? - rps.first()?);
        mostly &= rps.last()? - 1.0 > *apart.last()?;
    }
    let measured = measured
        .direction("the overhead of RPS grows with the queue", grow[0])
        .direction("that of PES_IPC grows with the queue", grow[1])
        .direction("their difference stays flat: it changes by less than half of that growth", flat)
        .direction("most of the overhead of PES_IPC is that of RPS at the largest size", mostly);
    Some(measured)
}
