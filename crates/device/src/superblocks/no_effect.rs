//! Keys of page-mapped drives that have no effect on a drive with superblocks. Each is refused by
//! name.

use crate::config::layout::Refusals;
use crate::config::{Ack, Config, GcFrontier, Pattern};
use crate::policy::redundancy::RedundancyKind;
use crate::reliability::{self, ModelKind};
use fowler_physics::parameters::Parameters;

/// Makes an iterator over the keys of a table, `$table.$field`, for the fields in which `$own` and
/// `$other`, two values of one struct, differ.
macro_rules! differing {
    ($own:expr, $other:expr, $table:literal: $($field:ident)+) => {
        [$(($own.$field != $other.$field, concat!($table, ".", stringify!($field)))),+]
            .into_iter()
            .filter_map(|(differs, key)| differs.then_some(key))
    };
}

impl Config {
    /// Refuses keys of page-mapped drives that have no effect on a drive with superblocks.
    #[rustfmt::skip]
    pub(super) fn refuse_what_has_no_effect(&self, refusals: &mut Refusals) {
        let plain = &Config::new(self.geometry, self.timing);
        let mut refuse = |key: &'static str, reason: &str, hint: &str| {
            let what = || format!("{key} has no effect on a drive with superblocks: {reason}");
            refusals.unless_hinted(false, &[key, "ftl.reclaim_unit"], what, || hint.into());
        };
        for (key, same, reason, hint) in [
            ("policy.placement.dies", self.placement.dies == plain.placement.dies, "program commands go to its dies in turn", "leave it out"),
            ("policy.placement.stripe_unit", self.placement.stripe_unit == plain.placement.stripe_unit, "a program command fills a word line, and the next one goes to the next die", "leave it out"),
            ("buffer.ack", self.buffer.ack == Ack::OnInsert, "a program command waits for units of later writes, and so would a write that waits for its program", "leave it out; policy.redundancy.cache says what survives a power loss"),
            ("buffer.rewrite_share", self.buffer.rewrite_share == plain.buffer.rewrite_share, "no clean page is programmed again", "leave it out"),
            ("gc.frontier", self.gc.frontier == GcFrontier::Own, "what garbage collection moves fills a superblock of its own", "leave it out"),
            ("precondition.pattern", self.precondition.pattern != Pattern::Rested, "pauses would change nothing: such a drive collects only while the host writes", "set precondition.pattern = \"steady\""),
            ("gc.idle_after", self.gc.idle_after == plain.gc.idle_after, "it collects only while the host writes; what idle time empties is the SLC cache", "leave it out, or set slc.fold_after"),
            ("queue.max_writes", self.queue.max_writes == plain.queue.max_writes, "writes wait for room in the buffer only", "leave it out, or set buffer.size"),
        ] {
            if !same {
                refuse(key, reason, hint);
            }
        }
        let (own, plain) = (&self.redundancy, &plain.redundancy);
        for key in differing!(own, plain, "policy.redundancy": stripe) {
            refuse(key, "superblocks.parity is the number of program commands of a stripe", "leave it out, and set superblocks.parity");
        }
        for key in differing!(own, plain, "policy.redundancy": word_line) {
            refuse(key, "flash.word_line is the number of pages that a torn program takes", "leave it out");
        }
        for key in differing!(own, plain, "policy.redundancy":
            parity_cache parity_ahead n_update above_n_update cut_off update_order flush_moved)
        {
            refuse(key, "its parity is written once, with its stripe, and never cached or updated", "leave it out");
        }
        self.refuse_idle_reliability(&mut refuse);
    }

    /// Calls `refuse` with the key, the reason and a hint for each setting of `reliability` that
    /// this drive with superblocks never uses. Which it uses depends on the error model, on
    /// `aging`, and on the redundancy policy.
    fn refuse_idle_reliability(&self, mut refuse: impl FnMut(&'static str, &str, &str)) {
        let own = &self.reliability;
        let plain = reliability::Params::default();
        for key in differing!(own, plain, "reliability": risk measure_every) {
            let reason = "nothing reads its blocks in idle time to measure how strong they are";
            refuse(key, reason, "leave it out: the true strengths are known");
        }
        let used = self.cells_of_superblocks(plain.cells);
        let reason = match own.model {
            ModelKind::Off => "nothing reads it there without reliability.model",
            _ => "the states of its cells are those of [aging]",
        };
        let hint = "leave it out";
        #[rustfmt::skip]
        let cells = differing!(own.cells, used, "reliability.cells":
            growth_mean growth_sd growth_bound rber_unworn erased programmed_1 programmed_2
            programmed_3 step erased_sd retention_charge retention_shift retention_spread
            retention_onset retention_shift_power retention_spread_power disturb_slope
            disturb_cycles disturb_power correctable_3 correctable_9 correctable_21 end_cycles
            end_age end_reads);
        cells.for_each(|key| refuse(key, reason, hint));
        if own.model != ModelKind::Off {
            return;
        }
        differing!(own, plain, "reliability": references levels retry strength)
            .chain(differing!(own.table, plain.table, "reliability.table": cycles ages rates))
            .for_each(|key| refuse(key, reason, hint));
        // Wear decides which superblocks have parity, and age which are refreshed.
        let by_age = self.redundancy.name == RedundancyKind::DisturbLimiting;
        let counts = self.aging.is_on() || by_age || self.parity_varies();
        if !counts {
            differing!(own, plain, "reliability": cycles oldest).for_each(|key| {
                refuse(key, reason, "leave it out, or let its data age (aging.coding)")
            });
        }
        if !self.parity_varies() {
            differing!(own, plain, "reliability": cycles_spread)
                .for_each(|key| refuse(key, reason, "leave it out"));
        }
    }

    /// Returns the constants of this drive's cells as far as superblocks have a use for them, and
    /// the others as in `plain`.
    fn cells_of_superblocks(&self, plain: Parameters) -> Parameters {
        let own = self.reliability.cells;
        match self.reliability.model {
            // The states of cells of any number of bits are those of [aging].
            ModelKind::Analytic => Parameters {
                erased: plain.erased,
                programmed_1: plain.programmed_1,
                programmed_2: plain.programmed_2,
                programmed_3: plain.programmed_3,
                step: plain.step,
                ..own
            },
            ModelKind::Off if !self.aging.is_on() => plain,
            ModelKind::Off => Parameters {
                growth_mean: own.growth_mean,
                rber_unworn: own.rber_unworn,
                erased_sd: own.erased_sd,
                retention_charge: own.retention_charge,
                retention_shift: own.retention_shift,
                retention_spread: own.retention_spread,
                retention_onset: own.retention_onset,
                retention_shift_power: own.retention_shift_power,
                retention_spread_power: own.retention_spread_power,
                ..plain
            },
            _ => own,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::cases::tiny;
    use super::*;
    use crate::policy::placement::Dies;
    use crate::policy::redundancy::{AboveNUpdate, UpdateOrder};
    use crate::reliability::{References, RetryCost};
    use fowler_units::{Bytes, Span};

    /// The keys of the refusals of a drive.
    fn refused(alter: impl FnOnce(&mut Config)) -> Vec<String> {
        let mut config = tiny();
        alter(&mut config);
        let refusals = config.layout().err().unwrap_or_default();
        refusals.into_iter().map(|it| it.keys.join(", ")).collect()
    }

    #[test]
    fn keys_that_nothing_reads_are_refused_by_name() {
        type Alter<'a> = &'a dyn Fn(&mut Config);
        let all: [(&str, Alter); 26] = [
            ("policy.placement.dies", &|it| it.placement.dies = Dies::ByAddress),
            ("policy.redundancy.stripe", &|it| it.redundancy.stripe = 7),
            ("policy.redundancy.word_line", &|it| it.redundancy.word_line = 7),
            ("policy.redundancy.parity_cache", &|it| it.redundancy.parity_cache = Bytes(65_536)),
            ("policy.redundancy.parity_ahead", &|it| it.redundancy.parity_ahead = 7),
            ("policy.redundancy.n_update", &|it| it.redundancy.n_update = 7),
            ("policy.redundancy.above_n_update", &|it| {
                it.redundancy.above_n_update = AboveNUpdate::Replace;
            }),
            ("policy.redundancy.cut_off", &|it| it.redundancy.cut_off = 7),
            ("policy.redundancy.update_order", &|it| {
                it.redundancy.update_order = UpdateOrder::ReadFirst;
            }),
            ("policy.redundancy.flush_moved", &|it| it.redundancy.flush_moved ^= true),
            ("buffer.ack", &|it| it.buffer.ack = Ack::OnProgram),
            ("buffer.rewrite_share", &|it| it.buffer.rewrite_share = 0.5),
            ("gc.frontier", &|it| it.gc.frontier = GcFrontier::Shared),
            ("gc.idle_after", &|it| it.gc.idle_after = Span::ns(7)),
            ("precondition.pattern", &|it| it.precondition.pattern = Pattern::Rested),
            ("queue.max_writes", &|it| it.queue.max_writes = 7),
            ("reliability.risk", &|it| it.reliability.risk = 0.5),
            ("reliability.levels", &|it| it.reliability.levels = 2),
            ("reliability.cycles", &|it| it.reliability.cycles = 2),
            ("reliability.cycles_spread", &|it| it.reliability.cycles_spread = 2),
            ("reliability.oldest", &|it| it.reliability.oldest = Span::ms(7)),
            ("reliability.references", &|it| it.reliability.references = References::Tracked),
            ("reliability.retry", &|it| it.reliability.retry = RetryCost::Increment),
            ("reliability.table.cycles", &|it| it.reliability.table.cycles = vec![1.0]),
            ("reliability.table.ages", &|it| it.reliability.table.ages = vec![Span::ms(7)]),
            ("reliability.table.rates", &|it| it.reliability.table.rates = vec![vec![0.1]]),
        ];
        for (key, alter) in all {
            assert_eq!(refused(alter), [format!("{key}, ftl.reclaim_unit")]);
        }
        assert_eq!(
            refused(|it| it.buffer.evict_ahead = 7),
            ["buffer.evict_ahead, buffer.eviction"]
        );
        assert!(refused(|_| ()).is_empty());
    }

    /// Every constant of the cells that has a key is listed; times are those of the drive.
    #[test]
    fn no_constant_of_cells_is_forgotten() {
        let plain = Parameters::default();
        for (name, value) in plain.values().into_iter().filter(|(name, _)| !name.ends_with("_us")) {
            let altered = plain.with(name, value + 0.01).expect("it has one of that name");
            let keys = refused(|it| it.reliability.cells = altered);
            assert_eq!(keys, [format!("reliability.cells.{name}, ftl.reclaim_unit")]);
        }
    }

    /// With bit errors by level, only what places the states of the cells, and what measures them,
    /// is without effect.
    #[test]
    fn keys_that_bit_errors_read_have_an_effect() {
        let analytic = |alter: fn(&mut reliability::Params)| {
            refused(|it| {
                it.reliability.model = ModelKind::Analytic;
                alter(&mut it.reliability);
            })
        };
        let states = analytic(|it| (it.cells.erased, it.risk) = (it.cells.erased + 0.01, 0.5));
        let expected =
            ["reliability.risk, ftl.reclaim_unit", "reliability.cells.erased, ftl.reclaim_unit"];
        assert_eq!(states, expected);
        assert!(analytic(|it| (it.levels, it.cycles, it.cycles_spread) = (2, 100, 50)).is_empty());
    }
}
