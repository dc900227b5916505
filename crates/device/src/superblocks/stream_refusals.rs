//! Why the streams of a drive with superblocks cannot work: each fills a superblock and keeps part
//! of a program command in the buffer.

use super::shape::Shape;
use crate::config::Config;
use crate::config::layout::{Layout, Refusals};
use fowler_units::Bytes;

impl Config {
    /// Returns true if the data of the host is divided into several streams.
    fn has_streams(&self) -> bool {
        self.placement.limits(false).streams > 1
    }

    /// Refuses rules for streams that have no meaning on a drive with superblocks, or with its
    /// cache.
    pub(super) fn refuse_rules_of_streams(&self, refusals: &mut Refusals) {
        refusals.unless_hinted(
            !self.placement.hot_to_strong,
            &["policy.placement.hot_to_strong", "ftl.mapping"],
            || {
                "a superblock has a block of every plane, strong and weak: none is stronger than \
                 others by much, and the cells of this drive have no strengths"
                    .into()
            },
            || "leave it out: hot and cold data have superblocks of their own all the same".into(),
        );
        refusals.unless_hinted(
            !self.has_streams() || !self.slc.is_on(),
            &["policy.placement", "slc.static", "slc.dynamic"],
            || "the SLC cache takes all data of the host into the same superblocks".into(),
            || "leave out the cache (slc.static = 0, slc.dynamic = 0) or policy.placement".into(),
        );
    }

    /// Refuses streams for which the buffer, the spare capacity or the dies do not suffice.
    pub(super) fn refuse_streams(&self, shape: &Shape, layout: &Layout, refusals: &mut Refusals) {
        if !self.has_streams() {
            return;
        }
        let (host, moved) = (self.host_streams(), self.moved_streams());
        let units = shape.units_per_command;
        let needed = match self.flash.program_passes {
            1 => u64::from((host - 1) * (units - 1) + 2 * units),
            _ => u64::from(host) * u64::from(shape.dies + 2) * u64::from(units),
        };
        let unit = self.superblocks.unit;
        refusals.unless_hinted(
            u64::from(layout.frames) >= needed,
            &["policy.placement", "buffer.size"],
            || {
                format!(
                    "a buffer of {} units of {unit}; each of {host} streams keeps part of a command in \
                     it, which takes {needed} with two whole commands",
                    layout.frames
                )
            },
            || format!("set buffer.size = \"{}\", or use fewer streams", Bytes(needed * unit.0)),
        );
        let below = self.gc.foreground_below;
        refusals.unless(below > moved, &["gc.foreground_below", "policy.placement"], || {
            format!(
                "{below}; garbage collection moves data into {moved} streams, each of which may need an \
                 erased superblock: expected at least {}",
                moved + 1
            )
        });
        // Each stream of moved data may pad a command for each superblock that is emptied.
        let room = shape.data_units().saturating_sub(moved * units);
        let most =
            u64::from(shape.superblocks.saturating_sub(layout.reserve_blocks)) * u64::from(room);
        refusals.unless(
            u64::from(layout.logical_pages) <= most,
            &["policy.placement", "geometry.over_provisioning"],
            || {
                format!(
                    "the host would see {} units; beside {} superblocks in reserve, of which {} are open \
                     for streams, and what incomplete commands of {moved} streams waste, {most} fit",
                    layout.logical_pages,
                    layout.reserve_blocks,
                    self.open_streams()
                )
            },
        );
    }
}
