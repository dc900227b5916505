//! Every claim of the P/E suspension paper, with the function that measures it: claims about
//! parameters and a single die here, claims about workloads in `measures.rs`.

use super::die::{Die, Interruption, config};
use super::measures::{
    above, average, background, below, contention, excess, fewer, queue, ranks, reduction,
    relations, table2, throughput, worst,
};
use super::paper::Flash;
use super::plan::Evidence;
use crate::claim::{Claim, ClaimId, Found, Measured, claim, named};
use crate::run_summary::{READ, WRITE};
use fowler_device::{ChipOp, Config};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_units::Span;
use std::collections::BTreeSet;

// Claims whose numbers tables and figures show next to ours.
pub(super) const RANKS: ClaimId = ClaimId("000-017");
pub(super) const READS_RPS_BELOW_FIFO: ClaimId = ClaimId("000-023");
pub(super) const READS_PE0_BELOW_FIFO: ClaimId = ClaimId("000-024");
pub(super) const READS_IPC_BELOW_RPS: ClaimId = ClaimId("000-038");
pub(super) const READS_IPC_BELOW_FIFO: ClaimId = ClaimId("000-039");
pub(super) const READS_IPS_ABOVE_IPC: ClaimId = ClaimId("000-041");
pub(super) const WRITES_RPS_ABOVE_FIFO: ClaimId = ClaimId("000-042");
pub(super) const WRITES_IPS_ABOVE_FIFO: ClaimId = ClaimId("000-043");
pub(super) const WRITES_IPC_ABOVE_FIFO: ClaimId = ClaimId("000-044");
pub(super) const OVERHEAD: ClaimId = ClaimId("000-046");
pub(super) const SUSPENDED: ClaimId = ClaimId("000-047");

const PROGRAM: ChipOp = ChipOp::Program;
const ERASE: ChipOp = ChipOp::Erase;

/// Every claim of the P/E suspension paper, in the order of its data file.
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
    claim("000-012", |e| Ok(table2(e, (Flash::Slc, READ)))),
    claim("000-013", |e| Ok(table2(e, (Flash::Slc, WRITE)))),
    claim("000-014", |e| Ok(table2(e, (Flash::Mlc, READ)))),
    claim("000-015", |e| Ok(table2(e, (Flash::Mlc, WRITE)))),
    claim("000-016", |e| Ok(relations(e))),
    named(RANKS, |e| Ok(ranks(e))),
    claim("000-018", |_| geometry()),
    claim("000-019", |_| parameter(|it| it.over_provisioning)),
    claim("000-020", |_| interface()),
    claim("000-021", |e| Ok(background(e))),
    claim("000-022", |e| is("times", (1.0 - e.paper.idle) / (1.0 - 0.98))),
    named(READS_RPS_BELOW_FIFO, |e| {
        let found = reduction(e, ("rps", "fifo"));
        Ok(found.map(|it| below(e, it, ("rps", "fifo"))))
    })
    .baseline(),
    named(READS_PE0_BELOW_FIFO, |e| {
        let chain = [("rps", "fifo"), ("per", "rps"), ("pe0", "rps")];
        let found = reduction(e, ("pe0", "fifo"));
        Ok(found.map(|it| chain.iter().fold(it, |it, pair| below(e, it, *pair))))
    })
    .baseline(),
    claim("000-025", |e| Ok(contention(e))).baseline(),
    claim("000-026", |_| alone(ERASE)),
    claim("000-027", |_| swept("pes_ipc", ERASE, longest_wait)).example(),
    claim("000-028", |_| interrupted("pes_ipc", ERASE, |it| Span::ns(it.timing.erase_pulse.0 / 2)))
        .example(),
    claim("000-029", |_| alone(ChipOp::Write)),
    claim("000-030", |_| is("us", 4096.0 / 100.0)),
    claim("000-031", |_| {
        parameter(|it| it.timing.bus_transfer.as_us() / it.timing.buffer_load.as_us())
    }),
    claim("000-032", |_| swept("pes_ips", PROGRAM, points)),
    claim("000-033", |_| swept("pes_ips", PROGRAM, mean_wait)).example(),
    claim("000-034", |_| swept("pes_ipc", PROGRAM, longest_wait)).example(),
    claim("000-035", |_| {
        by_flash_if_any(|flash| Ok(same_extra(&Die::new(flash, "pes_ips", PROGRAM)?.sweep())))
    })
    .example(),
    claim("000-036", |_| cancelled()).example(),
    claim("000-037", |e| Ok(fewer(e))).without(&[("pes_ips", "rps")]),
    named(READS_IPC_BELOW_RPS, |e| {
        let found = reduction(e, ("pes_ipc", "rps"));
        Ok(found.map(|it| below(e, it, ("pes_ipc", "rps"))))
    })
    .without(&[("pes_ipc", "rps")]),
    named(READS_IPC_BELOW_FIFO, |e| {
        let found = reduction(e, ("pes_ipc", "fifo"));
        Ok(found.map(|it| below(e, it, ("pes_ipc", "fifo"))))
    })
    .without(&[("pes_ipc", "rps")]),
    claim("000-040", |e| Ok(excess(e, READ, ("pes_ipc", "pe0"), false)))
        .without(&[("pes_ipc", "rps")]),
    named(READS_IPS_ABOVE_IPC, |e| Ok(above(e, excess(e, READ, ("pes_ips", "pes_ipc"), true))))
        .without(&[("pes_ips", "pes_ipc")]),
    named(WRITES_RPS_ABOVE_FIFO, |e| Ok(excess(e, WRITE, ("rps", "fifo"), true)))
        .without(&[("rps", "fifo")]),
    named(WRITES_IPS_ABOVE_FIFO, |e| Ok(excess(e, WRITE, ("pes_ips", "fifo"), true)))
        .without(&[("pes_ips", "rps")]),
    named(WRITES_IPC_ABOVE_FIFO, |e| Ok(excess(e, WRITE, ("pes_ipc", "fifo"), true)))
        .without(&[("pes_ipc", "rps")]),
    claim("000-045", |e| Ok(excess(e, WRITE, ("pes_ipc", "fifo"), false)))
        .without(&[("pes_ipc", "rps")]),
    named(OVERHEAD, |e| Ok(average(e, |run| run.get("suspension_overhead"))))
        .without(&[("pes_ipc", "rps")]),
    named(SUSPENDED, |e| Ok(average(e, |run| run.get("suspended_share"))))
        .without(&[("pes_ipc", "rps")]),
    claim("000-048", |e| Ok(queue(e))).without(&[("pes_ipc", "rps")]),
    claim("000-049", |_| {
        by_flash(|flash| {
            let iterations = config(flash, "fifo")?.timing.program_iterations.at(0);
            let served = points(&Die::new(flash, "pes_ips", PROGRAM)?.sweep());
            Ok(served / f64::from(iterations))
        })
    }),
    claim("000-050", |e| Ok(worst(e, (READ, "IPS"), ("pes_ips", "pes_ipc"), ["F1", "F1"])))
        .without(&[("pes_ips", "rps")]),
    claim("000-051", |e| Ok(worst(e, (WRITE, "RPS"), ("rps", "fifo"), ["MSN", "DAP"])))
        .without(&[("rps", "fifo")]),
    claim("000-052", |e| Ok(worst(e, (WRITE, "IPS"), ("pes_ips", "fifo"), ["MSN", "DAP"])))
        .without(&[("pes_ips", "rps")]),
    claim("000-053", |e| Ok(worst(e, (WRITE, "IPC"), ("pes_ipc", "fifo"), ["MSN", "DAP"])))
        .without(&[("pes_ipc", "rps")]),
    claim("000-054", |e| Ok(throughput(e))).without(&[
        ("rps", "fifo"),
        ("pes_ips", "fifo"),
        ("pes_ipc", "fifo"),
    ]),
];

fn is(label: &str, value: f64) -> Found {
    Ok(Some(Measured::of([(label, value)])))
}

/// Returns the time of all program-and-verify iterations of a page program (ISPP) on the drive of
/// the P/E suspension study, without the transfer over the bus.
fn ispp(config: &Config) -> Span {
    let timing = &config.timing;
    let iteration = timing.program_phase.0 + timing.verify_phase.0;
    Span::ns(iteration * u64::from(timing.program_iterations.at(0)))
}

/// Returns a measurement for a claim of the P/E suspension paper: the number that `of` returns for
/// SLC and the one for MLC flash.
fn by_flash(of: impl Fn(Flash) -> Result<f64, Diagnostics>) -> Found {
    by_flash_if_any(|flash| of(flash).map(Some))
}

/// Returns a measurement for a claim of the P/E suspension paper with the numbers that `of` returns
/// for SLC and MLC flash. A kind of flash without a number has no entry, so the claim does not hold
/// for it.
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

/// Measures the duration of a chip operation that no read interrupts, in microseconds, on both
/// kinds of flash.
fn alone(op: ChipOp) -> Found {
    by_flash(|flash| Ok(Die::new(flash, "fifo", op)?.alone.as_us()))
}

/// Measures, for the P/E suspension study, what `of` computes from the reads that arrive at every
/// offset into a program or erase (such as their mean wait), on both kinds of flash.
fn swept(scheme: &str, op: ChipOp, of: fn(&[Interruption]) -> f64) -> Found {
    by_flash(|flash| Ok(of(&Die::new(flash, scheme, op)?.sweep())))
}

/// Measures how much longer a program or erase takes if a read arrives at an offset into it, in
/// microseconds, on both kinds of flash.
fn interrupted(scheme: &str, op: ChipOp, offset: impl Fn(&Config) -> Span) -> Found {
    by_flash(|flash| {
        let offset = offset(&config(flash, scheme)?);
        Ok(Die::new(flash, scheme, op)?.interrupt(offset).extra.as_us())
    })
}

/// Measures how much longer a program takes if its first verify phase, or its first program phase,
/// is cancelled 2 us after the phase began.
fn cancelled() -> Found {
    let mut values = Vec::new();
    for phase in ["verify", "program"] {
        let before = |config: &Config| match phase {
            "verify" => config.timing.program_phase,
            _ => Span::ZERO,
        };
        let offset = |config: &Config| before(config) + Span::us(2);
        let extras = interrupted("pes_ipc", PROGRAM, offset)?.map_or(Vec::new(), |it| it.values);
        values.extend(extras.into_iter().map(|(flash, us)| (format!("{flash} {phase}"), us)));
    }
    Ok(Some(Measured::exactly(values)))
}

fn mean_wait(all: &[Interruption]) -> f64 {
    all.iter().map(|it| it.wait.as_us()).sum::<f64>() / all.len() as f64
}

fn longest_wait(all: &[Interruption]) -> f64 {
    all.iter().map(|it| it.wait.as_us()).fold(0.0, f64::max)
}

/// Returns the extra time of suspended programs or erases, in microseconds; `None` if it is not the
/// same for all of them.
fn same_extra(all: &[Interruption]) -> Option<f64> {
    let suspended = all.iter().filter(|it| it.suspensions > 0);
    let extras: BTreeSet<Span> = suspended.map(|it| it.extra).collect();
    extras.first().filter(|_| extras.len() == 1).map(|extra| extra.as_us())
}

/// Returns the number of different times, from the start of a program or erase, at which reads were
/// served.
fn points(all: &[Interruption]) -> f64 {
    all.iter().map(|it| it.served).collect::<BTreeSet<_>>().len() as f64
}

#[cfg(test)]
mod tests {
    use super::super::paper::Paper;
    use super::super::plan::tests::{invented, queued, served, with_members};
    use super::*;
    use crate::Verdict;
    use crate::claim::labelled;
    use crate::claim::tests::{assert_each_is_declared, verdict_of};

    fn verdict(id: &str, evidence: &Evidence) -> Verdict {
        verdict_of(id, &evidence.paper.claim, CLAIMS, evidence)
    }

    /// Returns made-up mean latencies that agree with the P/E suspension paper, relative to FIFO.
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
        for id in ["000-023", "000-024", "000-025", "000-038", "000-039", "000-040", "000-045"] {
            assert_eq!(verdict(id, &evidence), Verdict::Reproduced, "{id}");
        }
    }

    #[test]
    fn other_numbers_are_not() {
        let out = |verdict: Verdict| matches!(verdict, Verdict::NotReproducible(_));
        // Directions alone reproduce nothing.
        assert_eq!(verdict("000-037", &invented(as_published)), Verdict::Shape);
        // Six tenths of each improvement: the direction holds.
        let part = invented(|flash, scheme| {
            let (read, write) = as_published(flash, scheme);
            (400.0 + 0.6 * read, write)
        });
        assert_eq!(verdict("000-023", &part), Verdict::Shape);
        assert_eq!(verdict("000-039", &part), Verdict::Shape);
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
        // The workload that the paper names, and none in particular.
        let named = with_members(|flash, scheme, column| {
            let (read, write) = as_published(flash, scheme);
            let most = scheme == "pes_ips" && column.name == "F1";
            (if most { 1.05 * read } else { read }, write)
        });
        assert_eq!(verdict("000-050", &named), Verdict::Shape);
        assert!(out(verdict("000-050", &invented(as_published))));
        // Hardly any contention: none at all would be half of "about 2x".
        let free = invented(|flash, scheme| match scheme {
            "fifo" | "rps" => (300.0, 2000.0),
            _ => as_published(flash, scheme),
        });
        assert!(out(verdict("000-025", &free)));
        // No run has a result.
        let nothing = invented(|_, _| (f64::NAN, f64::NAN));
        assert!(out(verdict("000-023", &nothing)));
    }

    /// A cancelled phase costs what rules S5 and S7 say: 2 us elapsed, 4 us of reset, the read and
    /// the reload; after a program phase a verify as well.
    #[test]
    fn a_cancelled_phase_costs_what_the_rules_say() {
        let measured = cancelled().unwrap().unwrap();
        for (label, us) in [
            ("SLC verify", 39.0),
            ("SLC program", 47.0),
            ("MLC verify", 74.0),
            ("MLC program", 98.0),
        ] {
            assert_eq!(labelled(&measured.values, label), Some(us), "{label}");
        }
    }

    /// Checks the P/E suspension paper's claim on the write queue with made-up overheads of writes.
    /// The arguments are, for each doubling of the queue, the growth of the overhead of RPS, and
    /// the initial excess of IPC's overhead over it with that excess's growth.
    #[test]
    fn the_overhead_grows_with_the_queue_because_of_rps() {
        for (growth, apart, drift, holds) in [
            (0.1, 0.05, 0.0, true),
            (-0.1, 0.05, 0.0, false),
            // The difference changes by 0.3, more than half of 0.5.
            (0.1, 0.05, 0.06, false),
            // At 512 RPS adds 0.5, and IPC 0.6 on top of that.
            (0.1, 0.6, 0.0, false),
        ] {
            let evidence = queued(|scheme, size| {
                let doublings = f64::from(size.ilog2() - 4);
                let rps = 1.0 + growth * doublings;
                match scheme {
                    "fifo" => 1.0,
                    "rps" => rps,
                    _ => rps + apart + drift * doublings,
                }
            });
            let said = verdict("000-048", &evidence);
            assert_eq!(said == Verdict::Shape, holds, "{growth} {apart} {drift}: {said:?}");
        }
    }

    /// The claim that suspension costs little fails if one scheme loses too much write throughput
    /// or takes too much die time.
    #[test]
    fn write_throughput_and_die_time_may_barely_suffer() {
        for (cost, holds) in
            [((0.96, 1.04), true), ((0.94, 1.0), false), ((1.0, 1.06), false), ((1.2, 0.9), true)]
        {
            let evidence = served(|scheme| if scheme == "pes_ips" { cost } else { (1.0, 1.0) });
            let said = verdict("000-054", &evidence);
            assert_eq!(said == Verdict::Shape, holds, "{cost:?}: {said:?}");
        }
    }
}
