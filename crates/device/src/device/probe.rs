//! What the device tells whoever watches it. A probe observes; it is never asked.

use super::Device;
use super::controller::Controller;
use crate::flash::flash_trace::FlashStep;
use crate::observe::completion::Completion;
use fowler_units::Nanos;

/// Someone who watches a device. All but [`Probe::completed`] is for those who want to see the
/// drive itself; for the others it compiles to nothing.
pub trait Probe<L = Controller> {
    /// A host request was served. Called in order of completion.
    fn completed(&mut self, completion: &Completion);

    /// Whether it wants to hear of every step of every flash operation. Asked before a run.
    fn watches_flash(&self) -> bool {
        false
    }

    /// Steps of flash operations, in the order of time; all that ended before the next completion
    /// it hears of.
    fn stepped(&mut self, _steps: &[FlashStep]) {}

    /// The first request enters the drive now.
    fn begun(&mut self, _device: &Device<L>) {}

    /// The next moment at which it wants to be shown the drive. Asked at every event.
    #[inline]
    fn due(&self) -> Nanos {
        Nanos::NEVER
    }

    /// The drive as it stands at [`Probe::due`]: all that happens at that moment has happened, and
    /// nothing later has. The next moment must lie later.
    fn shown(&mut self, _device: &Device<L>) {}
}

impl<L> Probe<L> for () {
    fn completed(&mut self, _completion: &Completion) {}
}

impl<L, P: Probe<L>, Q: Probe<L>> Probe<L> for (P, Q) {
    #[inline]
    fn completed(&mut self, completion: &Completion) {
        self.0.completed(completion);
        self.1.completed(completion);
    }

    fn watches_flash(&self) -> bool {
        self.0.watches_flash() || self.1.watches_flash()
    }

    fn stepped(&mut self, steps: &[FlashStep]) {
        self.0.stepped(steps);
        self.1.stepped(steps);
    }

    fn begun(&mut self, device: &Device<L>) {
        self.0.begun(device);
        self.1.begun(device);
    }

    #[inline]
    fn due(&self) -> Nanos {
        self.0.due().min(self.1.due())
    }

    fn shown(&mut self, device: &Device<L>) {
        let due = self.due();
        if self.0.due() == due {
            self.0.shown(device);
        }
        if self.1.due() == due {
            self.1.shown(device);
        }
    }
}

/// Someone, or nobody.
impl<L, P: Probe<L>> Probe<L> for Option<P> {
    #[inline]
    fn completed(&mut self, completion: &Completion) {
        if let Some(probe) = self {
            probe.completed(completion);
        }
    }

    fn watches_flash(&self) -> bool {
        self.as_ref().is_some_and(Probe::watches_flash)
    }

    fn stepped(&mut self, steps: &[FlashStep]) {
        if let Some(probe) = self {
            probe.stepped(steps);
        }
    }

    fn begun(&mut self, device: &Device<L>) {
        if let Some(probe) = self {
            probe.begun(device);
        }
    }

    #[inline]
    fn due(&self) -> Nanos {
        self.as_ref().map_or(Nanos::NEVER, Probe::due)
    }

    fn shown(&mut self, device: &Device<L>) {
        if let Some(probe) = self {
            probe.shown(device);
        }
    }
}

impl<L> Probe<L> for Vec<Completion> {
    fn completed(&mut self, completion: &Completion) {
        self.push(*completion);
    }
}
