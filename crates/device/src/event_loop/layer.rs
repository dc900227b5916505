//! The interface between the loop and the translation layer of a drive.

use crate::config::layout::Layout;
use crate::flash::{Flash, Translation};
use crate::host::FrontEnd;
use crate::policy::throttle::Throttled;
use fowler_units::{DieId, HostIo, Nanos, Span};

/// A translation layer that serves host requests on the flash.
pub trait Layer: Translation {
    /// Returns the requests in flight of the layer, and the link.
    fn front(&self) -> &FrontEnd;
    /// Returns the sizes of the drive.
    fn layout(&self) -> &Layout;
    /// See [`Layer::front`].
    fn front_mut(&mut self) -> &mut FrontEnd;
    /// Admits a request that has come over the link, was delayed by `throttled`, and has a slot.
    fn admit(&mut self, flash: &mut Flash, io: HostIo, ready: Nanos, throttled: Span);
    /// Returns true if writes may be delayed before they enter.
    fn may_delay_writes(&self) -> bool {
        false
    }
    /// Returns the delay of a write that could enter at `now`.
    fn delay(&mut self, _flash: &mut Flash, _io: &HostIo, _now: Nanos) -> Throttled {
        Throttled::default()
    }
    /// Handles a die that may have been idle for long enough, or for which the next step of
    /// scrubbing is due.
    fn idle_event(&mut self, _flash: &mut Flash, _die: DieId) {}
    /// Handles data that may have reached its maximum age.
    fn deadline_event(&mut self, _flash: &mut Flash) {}
    /// Handles a fault that strikes at a time known in advance.
    fn fault_event(&mut self, _flash: &mut Flash) {}
    /// Continues work that a rate limits.
    fn paced_event(&mut self, _flash: &mut Flash) {}
    /// Prefetches the first lookup of a request that will enter soon.
    fn prefetch(&self, _io: &HostIo) {}
    /// Prefetches the second lookup of the request, closer to its turn.
    fn prefetch_second(&self, _io: &HostIo, _flash: &Flash) {}
    /// Prefetches the third lookup of the request, still closer to its turn.
    fn prefetch_third(&self, _io: &HostIo) {}
}
