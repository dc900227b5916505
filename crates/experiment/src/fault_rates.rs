//! Random faults: the user gives a mean time between failures for a kind of unit; the failing units
//! and times are drawn from the seed of the run.

use crate::device_spec::Resolved;
use crate::faults::{FaultKind, MOST, Scripted};
use fowler_device::Fault;
use fowler_units::{BlockId, DieId, Lpn, Nanos, PlaneId, Rng, Span, StripeId};
use fowler_workload::LATEST;

/// A kind of random fault: its rate, and the time of the next one drawn.
struct Source {
    kind: Fault,
    mean: Span,
    units: u32,
    next: Nanos,
    rng: Rng,
}

impl Source {
    /// Draws the time of the next random fault of one kind of unit, such as dies: the times between
    /// faults are exponentially distributed.
    fn advance(&mut self) {
        let gap = -libm::log1p(-self.rng.unit()) * self.mean.0 as f64;
        // The conversion and the sum saturate.
        self.next = Nanos(self.next.0.saturating_add((gap as u64).max(1)).min(LATEST.0));
    }
}

/// Returns the faults of a run in order of time, with each rate replaced by faults drawn from it,
/// up to [`MOST`] faults in all.
pub(crate) fn drawn(faults: &[Scripted], drive: &Resolved) -> Vec<Scripted> {
    let mut sources: Vec<Source> = Vec::new();
    let mut all: Vec<Scripted> = Vec::new();
    for fault in faults {
        let FaultKind::Rate(kind) = fault.what else {
            all.push(*fault);
            continue;
        };
        let units = kind.unit(&drive.config, &drive.layout).map_or(0, |(_, count)| count);
        // Streams are numbered among rates only, so a further listed fault does not change the
        // draws.
        let rng = Rng::stream(drive.config.seed, &format!("faults/{}", sources.len()));
        let mut source =
            Source { kind, mean: fault.at - Nanos::ZERO, units, next: Nanos::ZERO, rng };
        source.advance();
        sources.push(source);
    }
    while all.len() < MOST
        && let Some(source) = sources.iter_mut().min_by_key(|source| source.next)
        && source.next < LATEST
    {
        let what =
            FaultKind::Unit(numbered(source.kind, source.rng.below(source.units.into()) as u32));
        all.push(Scripted { at: source.next, what, drawn: true });
        source.advance();
    }
    // Stable sort: faults at the same nanosecond strike as listed, drawn ones last.
    all.sort_by_key(|fault| fault.at);
    all
}

/// Returns a fault of the same kind as `kind` in the page, stripe, block, plane, die, chip or
/// channel with this number.
fn numbered(kind: Fault, number: u32) -> Fault {
    match kind {
        Fault::Page(_) => Fault::Page(Lpn(number)),
        Fault::Miscorrected(_) => Fault::Miscorrected(Lpn(number)),
        Fault::Misdirected(_) => Fault::Misdirected(Lpn(number)),
        Fault::Parity(_) => Fault::Parity(StripeId(number)),
        Fault::Block(_) => Fault::Block(BlockId(number)),
        Fault::Plane(_) => Fault::Plane(PlaneId(number)),
        Fault::Die(_) => Fault::Die(DieId(number)),
        Fault::Chip(_) => Fault::Chip(number),
        Fault::Channel(_) => Fault::Channel(number),
        Fault::Power | Fault::Bug(_) => unreachable!("a rate is of units"),
    }
}
