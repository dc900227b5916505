//! Our number for each of the paper's claims.

use super::die::{Die, Interruption, config};
use super::paper::{Flash, Paper};
use super::plan::{Evidence, queue_variant};
use crate::claim::{Labelled, Measured};
use crate::runs::{READ, WRITE, mean};
use fowler_device::{ChipOp, Config};
use fowler_experiment::problem::Problems;
use fowler_units::Span;
use std::collections::BTreeSet;

/// Our number for the claim `id`; nothing if it cannot be measured.
pub(super) fn measure(
    id: &str,
    paper: &Paper,
    evidence: &Evidence,
) -> Result<Option<Measured>, Problems> {
    let number = id.strip_prefix("000-").unwrap_or(id);
    Ok(match number {
        "001" => parameter(|it| it.timing.bus_transfer.as_us())?,
        "002" => parameter(|it| it.timing.read.at(0).as_us())?,
        "003" => parameter(|it| ispp(it).as_us())?,
        "004" => parameter(|it| f64::from(it.timing.program_iterations.at(0)))?,
        "005" => parameter(|it| it.timing.program_phase.as_us() + it.timing.verify_phase.as_us())?,
        "006" => parameter(|it| it.timing.program_phase.as_us())?,
        "007" => parameter(|it| it.timing.verify_phase.as_us())?,
        "008" => parameter(|it| it.timing.erase_pulse.as_us())?,
        "009" => parameter(|it| it.timing.voltage_reset.as_us())?,
        "010" => parameter(|it| it.timing.buffer_load.as_us())?,
        "018" => geometry()?,
        "019" => parameter(|it| it.over_provisioning)?,
        "020" => interface()?,
        "022" => exactly(vec![("times".into(), (1.0 - paper.idle) / (1.0 - 0.98))]),
        "030" => exactly(vec![("us".into(), 4096.0 / 100.0)]),
        "031" => parameter(|it| it.timing.bus_transfer.as_us() / it.timing.buffer_load.as_us())?,
        "011" | "026" | "027" | "028" | "029" | "032" | "033" | "034" | "035" | "036" | "049" => {
            on_a_die(number)?
        }
        _ => on_drives(number, paper, evidence),
    })
}

fn exactly(values: Vec<Labelled>) -> Option<Measured> {
    Some(Measured { values, holds: true })
}

/// The time of a program's iterations, without the transfer.
fn ispp(config: &Config) -> Span {
    let timing = &config.timing;
    let iteration = timing.program_phase.0 + timing.verify_phase.0;
    Span::ns(iteration * u64::from(timing.program_iterations.at(0)))
}

/// A number of each flash.
fn by_flash(of: impl Fn(Flash) -> Result<f64, Problems>) -> Result<Option<Measured>, Problems> {
    by_flash_if_any(|flash| of(flash).map(Some))
}

/// The same where a flash may have none; its claim is then not met.
fn by_flash_if_any(
    of: impl Fn(Flash) -> Result<Option<f64>, Problems>,
) -> Result<Option<Measured>, Problems> {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        values.extend(of(flash)?.map(|value| (flash.name().into(), value)));
    }
    Ok(exactly(values))
}

fn parameter(of: impl Fn(&Config) -> f64) -> Result<Option<Measured>, Problems> {
    by_flash(|flash| Ok(of(&config(flash, "fifo")?)))
}

fn geometry() -> Result<Option<Measured>, Problems> {
    let [slc, mlc] = [config(Flash::Slc, "fifo")?, config(Flash::Mlc, "fifo")?];
    let raw = |config: &Config| config.geometry.raw().0 as f64 / f64::from(1 << 30);
    let g = &mlc.geometry;
    let chips = g.channels * g.chips_per_channel;
    Ok(exactly(vec![
        ("chips".into(), f64::from(chips)),
        ("channels".into(), f64::from(g.channels)),
        ("planes".into(), f64::from(g.planes_per_die)),
        ("SLC GiB".into(), raw(&slc)),
        ("MLC GiB".into(), raw(&mlc)),
    ]))
}

fn interface() -> Result<Option<Measured>, Problems> {
    let config = config(Flash::Mlc, "fifo")?;
    Ok(exactly(vec![
        ("MiB".into(), config.buffer.size.0 as f64 / f64::from(1 << 20)),
        ("GB/s".into(), config.host.bandwidth.0 as f64 / 1e9),
    ]))
}

/// The claims about one die.
fn on_a_die(number: &str) -> Result<Option<Measured>, Problems> {
    let alone = |op| by_flash(|flash| Ok(Die::new(flash, "fifo", op)?.alone.as_us()));
    let swept = |scheme: &'static str, op, of: fn(&[Interruption]) -> f64| {
        by_flash(move |flash| Ok(of(&Die::new(flash, scheme, op)?.sweep())))
    };
    let once = |scheme: &'static str, op, offset: fn(&Config) -> Span| {
        by_flash(move |flash| {
            let offset = offset(&config(flash, scheme)?);
            Ok(Die::new(flash, scheme, op)?.interrupt(offset).extra.as_us())
        })
    };
    let (program, erase) = (ChipOp::Program, ChipOp::Erase);
    match number {
        "011" => by_flash(|flash| {
            let phases = ispp(&config(flash, "fifo")?);
            Ok(Die::new(flash, "fifo", program)?.alone.as_us() - phases.as_us())
        }),
        "026" => alone(erase),
        "027" => swept("pes_ipc", erase, longest_wait),
        "028" => once("pes_ipc", erase, |it| Span::ns(it.timing.erase_pulse.0 / 2)),
        "029" => alone(ChipOp::Write),
        "032" => swept("pes_ips", program, points),
        "033" => swept("pes_ips", program, |all| {
            all.iter().map(|it| it.wait.as_us()).sum::<f64>() / all.len() as f64
        }),
        "034" => swept("pes_ipc", program, longest_wait),
        "035" => {
            by_flash_if_any(|flash| Ok(same_extra(&Die::new(flash, "pes_ips", program)?.sweep())))
        }
        "036" => once("pes_ipc", program, |it| it.timing.program_phase + Span::us(2)),
        "049" => by_flash(|flash| {
            let iterations = config(flash, "fifo")?.timing.program_iterations.at(0);
            Ok(points(&Die::new(flash, "pes_ips", program)?.sweep()) / f64::from(iterations))
        }),
        _ => Ok(None),
    }
}

fn longest_wait(all: &[Interruption]) -> f64 {
    all.iter().map(|it| it.wait.as_us()).fold(0.0, f64::max)
}

/// By how much longer a suspended operation took, if every one took the same.
fn same_extra(all: &[Interruption]) -> Option<f64> {
    let suspended = all.iter().filter(|it| it.suspensions > 0);
    let extras: BTreeSet<Span> = suspended.map(|it| it.extra).collect();
    extras.first().filter(|_| extras.len() == 1).map(|extra| extra.as_us())
}

/// Different instants at which a read was served.
fn points(all: &[Interruption]) -> f64 {
    all.iter().map(|it| it.served).collect::<BTreeSet<_>>().len() as f64
}

/// The claims about whole drives under the six workloads.
fn on_drives(number: &str, paper: &Paper, evidence: &Evidence) -> Option<Measured> {
    match number {
        "012" => table2(evidence, Flash::Slc, READ).map(|it| sized(it, paper, "000-012")),
        "013" => table2(evidence, Flash::Slc, WRITE).map(|it| sized(it, paper, "000-013")),
        "014" => table2(evidence, Flash::Mlc, READ).map(|it| sized(it, paper, "000-014")),
        "015" => table2(evidence, Flash::Mlc, WRITE).map(|it| sized(it, paper, "000-015")),
        "016" => relations(evidence),
        "017" => ranks(paper, evidence),
        "021" => background(evidence),
        "023" => reduction(evidence, "rps", "fifo"),
        "024" => {
            let mut measured = reduction(evidence, "pe0", "fifo")?;
            measured.holds = ordered(evidence, &["pe0", "per", "rps", "fifo"]);
            Some(measured)
        }
        "025" => contention(evidence),
        "037" => fewer(evidence),
        "038" => reduction(evidence, "pes_ipc", "rps"),
        "039" => reduction(evidence, "pes_ipc", "fifo"),
        "040" => excess(evidence, READ, "pes_ipc", "pe0", false),
        "041" => {
            let mut measured = excess(evidence, READ, "pes_ips", "pes_ipc", true)?;
            measured.holds &= slower_on_slc(evidence)?;
            Some(measured)
        }
        "042" => excess(evidence, WRITE, "rps", "fifo", true),
        "043" => excess(evidence, WRITE, "pes_ips", "fifo", true),
        "044" => excess(evidence, WRITE, "pes_ipc", "fifo", true),
        "045" => excess(evidence, WRITE, "pes_ipc", "fifo", false),
        "046" => average(evidence, "/suspension_overhead").map(|it| sized(it, paper, "000-046")),
        "047" => average(evidence, "/suspended_share").map(|it| sized(it, paper, "000-047")),
        "048" => queue(paper, evidence),
        _ => None,
    }
}

/// Mean latencies of the stand-ins under FIFO, in milliseconds.
fn table2(evidence: &Evidence, flash: Flash, pointer: &str) -> Option<Measured> {
    let cell = |name: &str| evidence.number(name, flash, "fifo", "", pointer);
    let values = evidence
        .runs
        .stand_ins()
        .map(|column| Some((column.name.clone(), cell(&column.name)? / 1e3)))
        .collect::<Option<_>>()?;
    Some(Measured { values, holds: true })
}

/// Numbers whose direction is their size: within a factor of two of those published.
fn sized(mut measured: Measured, paper: &Paper, id: &str) -> Measured {
    measured.holds = measured.values.iter().all(|(label, ours)| {
        let ratio = paper.number(id, label).map(|published| ours / published);
        ratio.is_some_and(|ratio| (0.5..=2.0).contains(&ratio))
    });
    measured
}

fn relations(evidence: &Evidence) -> Option<Measured> {
    let (mut slower, mut writes) = (0, 0);
    for column in evidence.runs.stand_ins() {
        let cell = |flash, kind| evidence.number(&column.name, flash, "fifo", "", kind);
        for kind in [READ, WRITE] {
            slower += usize::from(cell(Flash::Mlc, kind)? > cell(Flash::Slc, kind)?);
        }
        for flash in Flash::ALL {
            writes += usize::from(cell(flash, WRITE)? > cell(flash, READ)?);
        }
    }
    let cells = 2 * evidence.runs.stand_ins().count();
    let values = vec![("MLC > SLC".into(), slower as f64), ("write > read".into(), writes as f64)];
    Some(Measured { values, holds: slower == cells && writes == cells })
}

fn ranks(paper: &Paper, evidence: &Evidence) -> Option<Measured> {
    let all = table2(evidence, Flash::Slc, READ)?.values;
    let rank = |mine: f64| 1 + all.iter().filter(|(_, other)| *other > mine).count();
    let values: Vec<Labelled> =
        all.iter().map(|(name, mine)| (name.clone(), rank(*mine) as f64)).collect();
    let published = |name: &str| paper.number("000-017", name);
    let holds = values.iter().all(|(name, rank)| published(name) == Some(*rank));
    Some(Measured { values, holds })
}

/// The share of collections that ran in the background, over all stand-ins.
fn background(evidence: &Evidence) -> Option<Measured> {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        let count = |pointer: &str| -> Option<f64> {
            let of = |name: &str| evidence.number(name, flash, "fifo", "", pointer);
            evidence.runs.stand_ins().map(|column| of(&column.name)).sum()
        };
        let behind = count("/counters/background_collections")?;
        let all = behind + count("/counters/foreground_collections")?;
        if all == 0.0 {
            return None;
        }
        values.push((flash.name().to_string(), behind / all));
    }
    let holds = values.iter().all(|(_, share)| *share > 0.5);
    Some(Measured { values, holds })
}

/// By how much `scheme` lowers mean reads against `base`, mean over the stand-ins.
fn reduction(evidence: &Evidence, scheme: &str, base: &str) -> Option<Measured> {
    let mut values = Vec::new();
    let mut holds = true;
    for flash in Flash::ALL {
        let ratios = evidence.ratios((flash, ""), READ, scheme, base)?;
        holds &= ratios.iter().all(|&ratio| ratio < 1.0);
        values.push((flash.name().into(), 1.0 - mean(&ratios)?));
    }
    Some(Measured { values, holds })
}

/// Whether mean reads rise from each of `schemes` to the next, under every stand-in on both flashes.
fn ordered(evidence: &Evidence, schemes: &[&str]) -> bool {
    let pairs = || schemes.windows(2);
    Flash::ALL.into_iter().all(|flash| {
        pairs().all(|pair| {
            let ratios = evidence.ratios((flash, ""), READ, pair[0], pair[1]);
            ratios.is_some_and(|ratios| ratios.iter().all(|&ratio| ratio < 1.0))
        })
    })
}

/// What reads under RPS take in reads under PE0: the quotient of the means of what is normalised to FIFO,
/// as the paper's numbers are.
fn contention(evidence: &Evidence) -> Option<Measured> {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        let normalised = |scheme| mean(&evidence.ratios((flash, ""), READ, scheme, "fifo")?);
        values.push((flash.name().to_string(), normalised("rps")? / normalised("pe0")?));
    }
    let holds = values.iter().all(|(_, ratio)| *ratio > 1.0);
    Some(Measured { values, holds })
}

/// In how many cases IPS has the faster writes, and IPC the faster reads.
fn fewer(evidence: &Evidence) -> Option<Measured> {
    let cases = |pointer, scheme, base| -> Option<(usize, usize)> {
        let mut ratios = Vec::new();
        for flash in Flash::ALL {
            ratios.extend(evidence.ratios((flash, ""), pointer, scheme, base)?);
        }
        Some((ratios.iter().filter(|&&ratio| ratio < 1.0).count(), ratios.len()))
    };
    let (writes, all) = cases(WRITE, "pes_ips", "pes_ipc")?;
    let (reads, _) = cases(READ, "pes_ipc", "pes_ips")?;
    let values = vec![("writes".into(), writes as f64), ("reads".into(), reads as f64)];
    Some(Measured { values, holds: writes == all && reads == all })
}

/// What the paper calls a small or trivial excess has this for a limit here: ten per cent on average.
const SMALL: f64 = 1.10;

/// By how much `scheme` is above `base`: the mean over the stand-ins, and with `most` the largest.
fn excess(
    evidence: &Evidence,
    pointer: &str,
    scheme: &str,
    base: &str,
    most: bool,
) -> Option<Measured> {
    let mut values = Vec::new();
    let mut holds = true;
    for flash in Flash::ALL {
        let ratios = evidence.ratios((flash, ""), pointer, scheme, base)?;
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
    Some(Measured { values, holds })
}

/// Whether IPS loses more against IPC on SLC than on MLC, under every stand-in.
fn slower_on_slc(evidence: &Evidence) -> Option<bool> {
    let [slc, mlc] =
        Flash::ALL.map(|flash| evidence.ratios((flash, ""), READ, "pes_ips", "pes_ipc"));
    Some(slc?.iter().zip(&mlc?).all(|(slc, mlc)| slc > mlc && *mlc > 1.0))
}

/// A number of the runs under IPC, mean over the stand-ins.
fn average(evidence: &Evidence, pointer: &str) -> Option<Measured> {
    let mut values = Vec::new();
    for flash in Flash::ALL {
        let of = |name: &str| evidence.number(name, flash, "pes_ipc", "", pointer);
        let numbers: Option<Vec<f64>> =
            evidence.runs.stand_ins().map(|column| of(&column.name)).collect();
        values.push((flash.name().into(), mean(&numbers?)?));
    }
    Some(Measured { values, holds: true })
}

/// The write overhead of a scheme by the size of the write queue.
pub(super) fn overheads(
    paper: &Paper,
    evidence: &Evidence,
    flash: Flash,
    scheme: &str,
) -> Option<Vec<f64>> {
    let at = |&size: &u32| {
        let variant = queue_variant(size);
        evidence.ratio((&paper.queue.workload, flash, &variant), WRITE, scheme, "fifo")
    };
    paper.queue.sizes.iter().map(at).collect()
}

/// At how many of the steps from one size of the queue to the next the overhead grows, and whether the
/// difference between the two schemes stays flat beside that growth.
fn queue(paper: &Paper, evidence: &Evidence) -> Option<Measured> {
    let mut values = Vec::new();
    let mut holds = true;
    for flash in Flash::ALL {
        let [rps, ipc] = ["rps", "pes_ipc"].map(|scheme| overheads(paper, evidence, flash, scheme));
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
    Some(Measured { values, holds })
}

#[cfg(test)]
mod tests {
    use super::super::plan::tests::invented;
    use super::*;
    use crate::Verdict;

    fn verdict(id: &str, evidence: &Evidence) -> Verdict {
        let paper = Paper::open().unwrap();
        let measured = measure(id, &paper, evidence).unwrap();
        paper.claim.iter().find(|it| it.id == id).unwrap().verdict(measured.as_ref())
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
        let out = |verdict: Verdict| matches!(verdict, Verdict::OutOfReach(_));
        // Half of each improvement: the direction holds.
        let half = invented(|flash, scheme| {
            let (read, write) = as_published(flash, scheme);
            (500.0 + read / 2.0, write)
        });
        assert_eq!(verdict("000-023", &half), Verdict::Shape);
        assert_eq!(verdict("000-039", &half), Verdict::Shape);
        // PES slower than RPS, cancelling slower than waiting, and writes twice as late.
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
