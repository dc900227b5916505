//! The effects of the faults that a user named.

use crate::faults::Scripted;
use fowler_device::{Device, Faulty, LossLedger, Struck};
use fowler_units::Nanos;

/// A fault that the user listed, and its effect on the data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fate {
    /// The fault, with its time scaled to the replay speed.
    pub fault: Scripted,
    /// Effect of the fault; `None` if the run ended before it struck.
    pub effect: Option<Effect>,
}

/// Effect of one fault on the data of the drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Effect {
    /// Time at which the fault struck, by the clock of the drive.
    pub at: Nanos,
    /// Data pages that the fault made unreadable.
    pub unreadable: u64,
    /// Parity pages that the fault made unreadable.
    pub parity_unreadable: u64,
    /// Data pages that the fault lost for good, acknowledged writes lost with the power included.
    pub lost: u64,
    /// Pages that the fault corrupted unnoticed, parity pages included.
    pub corrupted: u64,
    /// Data pages rebuilt from this fault to the next fault or the end of the run.
    pub rebuilt: u64,
    /// Data pages rewritten or trimmed by the host from this fault to the next fault or the end of
    /// the run.
    pub rewritten: u64,
    /// Unreadable data pages, of this fault and of those before it, that wait to be rebuilt at the
    /// next fault or the end of the run.
    pub waiting: u64,
}

impl Effect {
    /// Returns the effect of a fault on the data; `until` is the ledger of losses at the next fault
    /// or at the end of the run.
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
            waiting: until.waiting(),
        }
    }
}

impl Fate {
    /// Returns the effects of `faults` on a drive at the end of its run. Faults that struck come
    /// first.
    pub(crate) fn of_all<L: Faulty>(faults: &[Scripted], device: &Device<L>) -> Vec<Fate> {
        let struck = device.struck();
        let end = device.losses().unwrap_or_default();
        let effect = |place: usize| {
            let until = struck.get(place + 1).map_or(&end, |next| &next.before);
            struck.get(place).map(|strike| Effect::of(strike, until))
        };
        let fates = faults.iter().enumerate();
        let fates = fates.map(|(place, fault)| Fate { fault: *fault, effect: effect(place) });
        // Faults that were drawn for times after the end of the run are not reported.
        fates.filter(|it| it.effect.is_some() || !it.fault.drawn).collect()
    }
}
