//! The whole drive in the middle of a life, simulated event by event from there on.
//!
//! 1. Mapping, blocks and garbage collection are copied from a drive that has lived through the
//!    workload.
//! 2. Throttle and counters are those of a life at a steady write amplification.
//! 3. The caller's next requests come later by the lag of that life's host.
//!
//! Only for page-mapped drives.

use super::LifetimeDrive;
use super::steady_life::SteadyLife;
use crate::config::Config;
use crate::event_loop::Device;
use crate::observe::counters::Counters;
use crate::precondition::UNWATCHED;

impl Device {
    /// Creates the drive of `config` in the middle of a lifetime simulation, to be simulated event
    /// by event: data placed as in `seasoned`, write throttle and counters as in `life`. The next
    /// request is due at its own time plus [`SteadyLife::behind`].
    ///
    /// # Panics
    /// If `config` is that of another drive, or of one with superblocks.
    pub fn in_life(life: &SteadyLife, seasoned: &LifetimeDrive, config: &Config) -> Device {
        assert_eq!(config.layout().as_ref(), Ok(seasoned.layout()), "another drive");
        let (core, gc) = seasoned.page_mapped();
        let preconditioned = *seasoned.preconditioned();
        let device = Device::begin(config, core.clone(), gc.clone(), preconditioned, UNWATCHED);
        let mut device = device.expect("nobody stops it");
        device.layer.throttle = life.throttle_over(&device.layer.ftl.core.allocator.blocks);
        let Counters { programs, pages_written, .. } = *life.counters();
        let counters = &mut device.flash.counters;
        (counters.programs, counters.pages_written) = (programs, pages_written);
        device
    }
}
