//! The interface for observing a drive. A probe never influences it.

use super::Device;
use super::controller::Controller;
use crate::flash::flash_trace::{FlashStep, Steps};
use crate::observe::completion::Completion;
use fowler_units::Nanos;

/// An observer of a drive. All methods but [`Probe::completed`] are for probes that inspect the
/// drive itself; for others they compile to nothing.
pub trait Probe<L = Controller> {
    /// Called for every completed host request, in order of completion.
    fn completed(&mut self, completion: &Completion);

    /// Returns the kinds of steps of flash operations that the probe wants; it may receive more.
    /// Called before a run.
    fn watches_flash(&self) -> Steps {
        Steps::None
    }

    /// Receives the recorded steps of flash operations, in order of time, before the completion
    /// that follows them.
    fn stepped(&mut self, _steps: &[FlashStep]) {}

    /// Called when the first request of the run enters the drive.
    fn begun(&mut self, _device: &Device<L>) {}

    /// Returns the next time at which the probe wants to see the drive. Called at every event.
    #[inline]
    fn due(&self) -> Nanos {
        Nanos::NEVER
    }

    /// Receives the drive as of [`Probe::due`]: all events of that time have happened, and no later
    /// ones. The next time that the probe asks for must be later.
    fn sampled(&mut self, _device: &Device<L>) {}
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

    fn watches_flash(&self) -> Steps {
        self.0.watches_flash().max(self.1.watches_flash())
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

    fn sampled(&mut self, device: &Device<L>) {
        let due = self.due();
        if self.0.due() == due {
            self.0.sampled(device);
        }
        if self.1.due() == due {
            self.1.sampled(device);
        }
    }
}

/// Lets a run have an optional probe, which observes completed requests and flash operations.
/// `None` observes nothing.
impl<L, P: Probe<L>> Probe<L> for Option<P> {
    #[inline]
    fn completed(&mut self, completion: &Completion) {
        if let Some(probe) = self {
            probe.completed(completion);
        }
    }

    fn watches_flash(&self) -> Steps {
        self.as_ref().map_or(Steps::None, Probe::watches_flash)
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

    fn sampled(&mut self, device: &Device<L>) {
        if let Some(probe) = self {
            probe.sampled(device);
        }
    }
}

impl<L> Probe<L> for Vec<Completion> {
    fn completed(&mut self, completion: &Completion) {
        self.push(*completion);
    }
}
