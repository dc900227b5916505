//! The interface between the event loop and the translation layer of a drive.

use crate::config::layout::Layout;
use crate::flash::{Flash, Translation};
use crate::host::FrontEnd;
use crate::policy::throttle::Throttled;
use fowler_units::{DieId, HostIo, Nanos, Span};

/// A translation layer that serves host requests on the flash.
pub trait Layer: Translation {
    /// Returns the front end of the translation layer: the requests in flight, and the host link.
    fn front(&self) -> &FrontEnd;
    /// Returns the numbers of logical and physical pages and other sizes of the drive.
    fn layout(&self) -> &Layout;
    /// Returns the front end of the translation layer (requests in flight, host link), for
    /// modification.
    fn front_mut(&mut self) -> &mut FrontEnd;
    /// Admits a host request that has come over the link and has a place among the requests in
    /// flight. A write throttle has delayed the request by `throttled`.
    fn admit(&mut self, flash: &mut Flash, io: HostIo, ready: Nanos, throttled: Span);
    /// Returns true if the translation layer may delay writes before they are admitted (write
    /// throttle).
    fn may_delay_writes(&self) -> bool {
        false
    }
    /// Returns the time for which the write throttle delays a write that could be admitted at
    /// `now`.
    fn delay(&mut self, _flash: &mut Flash, _io: &HostIo, _now: Nanos) -> Throttled {
        Throttled::default()
    }
    /// Handles the idle timer of a die: the die may have been idle for long enough, or its next
    /// step of scrubbing is due.
    fn idle_event(&mut self, _flash: &mut Flash, _die: DieId) {}
    /// Handles the time at which some data in the flash may have reached the age at which it must
    /// be refreshed.
    fn deadline_event(&mut self, _flash: &mut Flash) {}
    /// Handles a scheduled fault that strikes now.
    fn fault_event(&mut self, _flash: &mut Flash) {}
    /// Continues work that a rate limit has delayed: the rebuild of a failed die's pages or, with
    /// superblocks, the entry of data into the write buffer.
    fn paced_event(&mut self, _flash: &mut Flash) {}
    /// Prefetches, into the processor's cache, the mapping entry of a request's first page, eight
    /// requests before it is admitted.
    fn prefetch(&self, _io: &HostIo) {}
    /// Prefetches, into the processor's cache, the record of the block that holds the first page of
    /// a request, five requests before it is admitted.
    fn prefetch_second(&self, _io: &HostIo, _flash: &Flash) {}
    /// Prefetches, into the processor's cache, the neighbours, in the list by valid count, of the
    /// block in which a write invalidates its first page, two requests before it is admitted.
    fn prefetch_third(&self, _io: &HostIo) {}
}
