//! The end of a run: the contents of the caches are written to the flash, so that postponed writes
//! are counted.
//!
//! 1. The buffer is evicted, and time advances until all programs of it have ended.
//! 2. The parity cache is flushed, and time advances until it is empty.
//!
//! Each wait ends after [`STEPS`] steps of 10 ms at the latest: after a fault, an entry may stay in
//! the parity cache forever.

use super::controller::{Hooks, with_redundancy};
use super::{Device, Layer};
use crate::event_loop::probe::Probe;
use fowler_units::Span;

/// Time between two checks that all cached data is in the flash.
const STEP: Span = Span::ms(10);
/// Maximum number of checks, 10 ms apart, that all cached data is in the flash. It is limited
/// because, after a fault, an entry may stay in the parity cache forever.
const STEPS: u32 = 10_000;

impl Device {
    /// Writes the data of the buffer and then the cached parity, and advances time until both are
    /// in the flash.
    ///
    /// # Panics
    /// If a request is in the drive.
    pub fn write_out<P: Probe>(&mut self, probe: &mut P) {
        self.layer.ftl.queues.writing_out = true;
        let flash = &mut self.flash;
        with_redundancy!(&mut self.layer, |ftl, raid| ftl.evict(flash, raid));
        self.rest_while(probe, |device| {
            let ftl = &device.layer.ftl;
            ftl.queues.writes > 0 || ftl.core.buffer.has_dirty()
        });
        self.layer.ftl.queues.writing_out = false;
        if let Hooks::Raid(raid) = &mut self.layer.hooks {
            raid.flush_all(&mut self.layer.ftl, &mut self.flash);
        }
        let cached = |device: &Device| device.layer.raid().map_or(0, |it| it.cache.used().0);
        self.rest_while(probe, |device| cached(device) > 0);
    }
}

impl<L: Layer> Device<L> {
    /// Simulates in steps of 10 ms while `holds` returns true, at most [`STEPS`] of them.
    pub(crate) fn rest_while<P: Probe<L>>(
        &mut self,
        probe: &mut P,
        holds: impl Fn(&Device<L>) -> bool,
    ) {
        for _ in 0..STEPS {
            if !holds(self) {
                return;
            }
            self.rest_until(self.now() + STEP, probe);
        }
    }
}
