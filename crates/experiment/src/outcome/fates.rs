//! What became of the faults that a user named.

use crate::faults::Scripted;
use fowler_device::{Device, LossLedger, Struck};
use fowler_units::Nanos;

/// A fault that the user named, and what it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// What was to happen, and when, with scaled times.
    pub fault: Scripted,
    /// What it did; `None` if the run ended before.
    pub effect: Option<Effect>,
}

/// What a fault did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// When it struck, by the clock of the drive.
    pub at: Nanos,
    /// Data pages that it made unreadable.
    pub unreadable: u64,
    /// Parity pages that it made unreadable.
    pub parity_unreadable: u64,
    /// Data pages that it took for good, acknowledged writes lost with the power included.
    pub lost: u64,
    /// Pages that it corrupted unnoticed, parity pages included.
    pub corrupted: u64,
    /// Data pages rebuilt from there to the next fault or the end.
    pub rebuilt: u64,
    /// Data pages rewritten or trimmed by the host from there to the next fault or the end.
    pub rewritten: u64,
}

impl Effect {
    /// What a fault did, `until` when the next struck or the run ended.
    fn of(struck: &Struck, until: &LossLedger) -> Effect {
        let Struck { at, before, after, .. } = struck;
        Effect {
            at: *at,
            unreadable: after.unreadable - before.unreadable,
            parity_unreadable: after.parity_unreadable - before.parity_unreadable,
            lost: after.lost_in_all() - before.lost_in_all(),
            corrupted: after.silent.made_in_all() - before.silent.made_in_all(),
            rebuilt: until.rebuilt - before.rebuilt,
            rewritten: until.rewritten - before.rewritten,
        }
    }
}

impl Fate {
    /// What became of `faults` on a drive at the end of its run. Those that struck come first.
    pub(crate) fn of_all(faults: &[Scripted], device: &Device) -> Vec<Fate> {
        let struck = device.struck();
        let end = device.losses().unwrap_or_default();
        let effect = |place: usize| {
            let until = struck.get(place + 1).map_or(&end, |next| &next.before);
            struck.get(place).map(|its| Effect::of(its, until))
        };
        let fates = faults.iter().enumerate();
        let fates = fates.map(|(place, fault)| Fate { fault: *fault, effect: effect(place) });
        // What was drawn beyond the end of the run is no news.
        fates.filter(|it| it.effect.is_some() || !it.fault.drawn).collect()
    }
}
