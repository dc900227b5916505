//! Totals of swarms of faults.

use fowler_device::{Census, Device, Fault, LossLedger};

/// The kinds of faults, as users name them.
pub const KINDS: [&str; 10] = [
    "page",
    "parity",
    "block",
    "plane",
    "die",
    "chip",
    "channel",
    "power",
    "miscorrected",
    "misdirected",
];

fn kind(fault: Fault) -> usize {
    match fault {
        Fault::Page(_) => 0,
        Fault::Parity(_) => 1,
        Fault::Block(_) => 2,
        Fault::Plane(_) => 3,
        Fault::Die(_) => 4,
        Fault::Chip(_) => 5,
        Fault::Channel(_) => 6,
        Fault::Power | Fault::Bug(_) => 7,
        Fault::Miscorrected(_) => 8,
        Fault::Misdirected(_) => 9,
    }
}

/// The totals of some cases.
#[derive(Clone, Copy, Default)]
pub struct Tally {
    pub drives: u64,
    /// Faults by kind.
    pub faults: [u64; KINDS.len()],
    /// Faults by kind that took something: the other faults met pages that held nothing, or were
    /// lost already.
    pub took: u64,
    pub unreadable: u64,
    pub lost: u64,
    pub rebuilt: u64,
    pub rewritten: u64,
    /// Pages in censuses that parity gives back, and lost pages that nobody has read.
    pub recoverable: u64,
    pub unfound: u64,
}

impl Tally {
    /// Adds a fault. `took` is true if the fault took something.
    pub fn fault(&mut self, fault: Fault, took: bool) {
        self.faults[kind(fault)] += 1;
        self.took += u64::from(took);
    }

    pub fn count(&mut self, census: &Census) {
        self.recoverable += census.recoverable;
        self.unfound += census.unfound();
    }

    /// Adds the counts of a drive at the end of its case.
    pub fn end(&mut self, device: &Device) {
        let losses = device.losses().expect("a drive with versions");
        assert_eq!(losses.waiting(), 0);
        self.drive(&losses);
    }

    /// Adds a drive with its losses.
    pub fn drive(&mut self, losses: &LossLedger) {
        self.drives += 1;
        self.unreadable += losses.unreadable;
        self.lost += losses.lost_in_all();
        self.rebuilt += losses.rebuilt;
        self.rewritten += losses.rewritten;
    }

    pub fn sum<'a>(all: impl Iterator<Item = &'a Tally>) -> Tally {
        all.fold(Tally::default(), |sum, tally| Tally {
            drives: sum.drives + tally.drives,
            faults: std::array::from_fn(|kind| sum.faults[kind] + tally.faults[kind]),
            took: sum.took + tally.took,
            unreadable: sum.unreadable + tally.unreadable,
            lost: sum.lost + tally.lost,
            rebuilt: sum.rebuilt + tally.rebuilt,
            rewritten: sum.rewritten + tally.rewritten,
            recoverable: sum.recoverable + tally.recoverable,
            unfound: sum.unfound + tally.unfound,
        })
    }
}

impl std::fmt::Display for Tally {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Tally { drives, faults, took, unreadable, lost, rebuilt, rewritten, .. } = self;
        let faults: u64 = faults.iter().sum();
        write!(
            f,
            "{drives} drives, {faults} faults, {took} of which took something: {unreadable} pages unreadable, \
             {rebuilt} rebuilt, {rewritten} written anew, {lost} lost; censuses counted {} more \
             to be given back, and {} lost that nobody had read",
            self.recoverable, self.unfound
        )
    }
}
