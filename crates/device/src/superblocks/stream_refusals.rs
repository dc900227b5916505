//! Why the streams of a drive with superblocks cannot work: each fills a superblock and keeps part
//! of a program command in the buffer.

use super::shape::Shape;
use crate::config::Config;
use crate::config::layout::{Layout, Refusals};
use crate::policy::placement::PlacementKind;
use fowler_units::Bytes;

impl Config {
    /// Returns true if the data of the host is divided into several streams.
    pub(super) fn has_streams(&self) -> bool {
        self.stream_limits().streams > 1
    }

    /// Returns the least value of `gc.foreground_below` with which the streams of a drive with
    /// superblocks, those of the host and those of moved data, never wait for an erased one: one
    /// more than there are streams. Returns `None` if as many are kept erased, or if the host has
    /// one stream only. With fewer, streams that begin together may wait until a superblock has
    /// been emptied.
    /// See docs/decisions/superblocks.md, "What are streams on a drive with superblocks?".
    pub fn erased_for_streams(&self) -> Option<u32> {
        let open = self.host_streams() + self.moved_superblocks();
        let short = open >= self.gc.foreground_below;
        (self.ftl.has_superblocks() && self.host_streams() > 1 && short).then_some(open + 1)
    }

    /// Refuses settings for streams (groups of data written to superblocks of their own) that have
    /// no effect on a drive with superblocks, or that conflict with its SLC cache.
    pub(super) fn refuse_rules_of_streams(&self, refusals: &mut Refusals) {
        let places_by_tag =
            self.placement.name == PlacementKind::Streams || self.policies.placement.is_some();
        refusals.unless_hinted(
            self.hotness.detectors == 0 || places_by_tag,
            &["policy.hotness", "policy.placement"],
            || {
                "no effect: on a drive with superblocks only a placement in streams asks whether data \
                 is hot"
                    .into()
            },
            || "set policy.placement = \"streams\"".into(),
        );
        refusals.unless_hinted(
            !self.has_streams() || !self.slc.is_on(),
            &["policy.placement", "slc.static", "slc.dynamic"],
            || "the SLC cache takes all data of the host into the same superblocks".into(),
            || "leave out the cache (slc.static = 0, slc.dynamic = 0) or policy.placement".into(),
        );
    }

    /// Refuses streams for which the buffer, the erased superblocks or the spare capacity do not
    /// suffice.
    /// See docs/decisions/superblocks.md, "What are streams on a drive with superblocks?".
    pub(super) fn refuse_streams(&self, shape: &Shape, layout: &Layout, refusals: &mut Refusals) {
        let host = self.host_streams();
        let (units, unit) = (shape.units_per_command, self.unit());
        let (needed, why) = match self.flash.program_passes {
            1 => (
                u64::from((host - 1) * (units - 1) + 2 * units),
                "the others keep part of a command while one fills, which with two whole commands takes",
            ),
            _ => (
                u64::from(host) * u64::from(shape.dies + 2) * u64::from(units),
                "each keeps a word line of every die between its passes, and two commands, which takes",
            ),
        };
        refusals.unless_hinted(
            u64::from(layout.frames) >= needed,
            &["policy.placement", "buffer.size"],
            || {
                format!(
                    "a buffer of {} units of {unit} is too small for {host} streams: {why} \
                     {needed}",
                    layout.frames
                )
            },
            || {
                format!(
                    "set buffer.size = \"{}\" or larger to hold the units that all streams keep \
                     waiting, or use fewer streams",
                    Bytes(needed * unit.0)
                )
            },
        );
        self.refuse_moves(shape, layout, refusals);
    }

    /// Refuses streams of moved data for which the erased superblocks or the spare capacity do not
    /// suffice. Swapped data has a stream of its own.
    pub(super) fn refuse_moves(&self, shape: &Shape, layout: &Layout, refusals: &mut Refusals) {
        let (host, moved) = (self.host_streams(), self.moved_superblocks());
        let units = shape.units_per_command;
        let [key, instead] = match self.has_streams() {
            true => ["policy.placement", "use fewer streams"],
            false => ["policy.wear", "leave out policy.wear"],
        };
        let below = self.gc.foreground_below;
        refusals.unless_hinted(
            below > moved,
            &["gc.foreground_below", key],
            || {
                format!(
                    "{below} erased superblocks are too few: each of the {moved} streams of moved \
                     data may need one, and so may the host"
                )
            },
            || format!("set gc.foreground_below = {}", moved + 1),
        );
        // Each of several streams of moved data may pad a command for each superblock emptied.
        let padding = if moved > 1 { moved * units } else { 0 };
        let room = shape.data_units().saturating_sub(padding);
        let most =
            u64::from(shape.superblocks.saturating_sub(layout.reserve_blocks)) * u64::from(room);
        let logical = u64::from(layout.logical_pages);
        refusals.unless_hinted(
            0 < logical && logical <= most,
            &[key, "geometry.over_provisioning"],
            || {
                format!(
                    "the host would see {logical} of {} units, but {} of {} superblocks stay in \
                     reserve ({} of these open for streams), and without parity and padding {most} \
                     units can hold data",
                    shape.all_units(),
                    layout.reserve_blocks,
                    shape.superblocks,
                    host + moved
                )
            },
            || {
                let spare = 1.0 - most as f64 / shape.all_units() as f64;
                format!(
                    "{instead}, or offer the host less, so that at least {:.1} % of the raw \
                     capacity is spare",
                    100.0 * spare + 0.1
                )
            },
        );
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::tiny;
    use super::*;
    use crate::policy::placement::Isolation;

    fn config(handles: u32, passes: u32, isolation: Isolation) -> Config {
        let mut config = tiny();
        config.geometry.blocks_per_plane = 160;
        config.over_provisioning = 0.6;
        config.buffer.size = Bytes(64 << 20);
        config.flash.program_passes = passes;
        config.placement.name = PlacementKind::Handles;
        (config.placement.handles, config.placement.isolation) = (handles, isolation);
        config.gc.foreground_below = 20;
        config
    }

    /// The keys that the refusals of a drive name first.
    fn refused(config: &Config) -> Vec<&'static str> {
        let refusals = config.layout().err().unwrap_or_default();
        refusals.into_iter().map(|refusal| refusal.keys[0]).collect()
    }

    /// Each formula refuses a drive that has one less than it asks for, and no drive that has
    /// exactly as much. The drive has 4 dies and 24 units to a command.
    #[test]
    fn formulas_refuse_what_is_one_short() {
        for (handles, passes, frames) in
            [(2, 1, 23 + 48), (8, 1, 7 * 23 + 48), (2, 2, 2 * 6 * 24), (8, 2, 8 * 6 * 24)]
        {
            let mut drive = config(handles, passes, Isolation::Initial);
            drive.buffer.size = Bytes(frames * 4096);
            assert_eq!(refused(&drive), [""; 0], "{handles} handles, {passes} passes");
            drive.buffer.size = Bytes((frames - 1) * 4096);
            assert_eq!(refused(&drive), ["policy.placement"], "{handles}, {passes}");
        }
        for (handles, isolation, moved) in [
            (2, Isolation::Initial, 1),
            (2, Isolation::Persistent, 2),
            (8, Isolation::Persistent, 8),
        ] {
            let mut drive = config(handles, 1, isolation);
            drive.gc.foreground_below = moved + 1;
            drive.gc.background_below = 0;
            assert_eq!(refused(&drive), [""; 0], "{handles} handles, {isolation:?}");
            let keeps = drive.gc.foreground_below + drive.open_streams();
            drive.gc.foreground_below = moved;
            let too_few = refused(&drive);
            assert!(
                too_few.contains(&"gc.foreground_below"),
                "{handles} {isolation:?}: {too_few:?}"
            );
            // Of 160 superblocks of 384 units, those in reserve hold nothing, and of the others
            // each stream of moved data may waste a command of 24.
            drive.gc.foreground_below = moved + 1;
            let waste = if moved > 1 { 24 * moved } else { 0 };
            let most = f64::from((160 - keeps) * (384 - waste));
            let spare = |units: f64| 1.0 - units / f64::from(160 * 384);
            drive.over_provisioning = spare(most + 0.5);
            assert_eq!(refused(&drive), [""; 0], "{handles} handles, {isolation:?}");
            drive.over_provisioning = spare(most + 1.5);
            assert_eq!(refused(&drive), ["policy.placement"], "{handles} handles, {isolation:?}");
        }
    }
}
