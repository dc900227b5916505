//! The end of a run: what the caches hold is written to the flash, so that what they put off is
//! counted like everything else.

use super::Device;
use super::controller::with_redundancy;
use crate::device::probe::Probe;
use fowler_units::Span;

/// Time goes by in such steps until all is written.
const STEP: Span = Span::ms(10);
/// And in so many of them at most: what a fault keeps in the parity cache may stay there.
const STEPS: u32 = 10_000;

impl Device {
    /// Writes what the buffer holds to the flash, and then the parity that is cached, and lets time
    /// go by until both are there.
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
        if let Some(raid) = &mut self.layer.raid {
            raid.flush_all(&mut self.layer.ftl, &mut self.flash);
        }
        let cached = |device: &Device| device.layer.raid.as_ref().map_or(0, |it| it.cache.used().0);
        self.rest_while(probe, |device| cached(device) > 0);
    }

    /// Lets time go by as long as something holds.
    fn rest_while<P: Probe>(&mut self, probe: &mut P, holds: impl Fn(&Device) -> bool) {
        for _ in 0..STEPS {
            if !holds(self) {
                return;
            }
            self.rest_until(self.now() + STEP, probe);
        }
    }
}
