//! The keys of policy slots.

use super::{ANY, Key, at, optional, words};
use crate::field::{Access, Field, Word};
use fowler_device::Config;
use fowler_device::policy::die_order::DieOrderKind;
use fowler_device::policy::hotness::Detector;
use fowler_device::policy::placement::{Dies, PlacementKind};
use fowler_device::policy::redundancy::{CachePower, RedundancyKind};
use fowler_device::policy::replacement::ReplacementKind;
use fowler_device::policy::sensing::{Input, SensingKind};
use fowler_device::policy::step::StepKind;
use fowler_device::policy::suspension::{SuspendingReads, SuspensionKind};
use fowler_device::policy::throttle::{Enforcement, EpochRule, ThrottleKind};
use fowler_device::policy::victim::VictimKind;
use fowler_device::policy::voltage::VoltageKind;
use fowler_device::policy::wear::WearKind;
use fowler_nand::{CancelledProgram, Reload};
use fowler_units::{Bytes, Span};

/// A policy slot: its words are the slot's own list.
macro_rules! slot {
    ($slot:ident, $Kind:ident) => {
        Field::Word(
            || $Kind::ALL.iter().map(|kind| (kind.name(), kind.about())).collect(),
            Access {
                get: |config: &Config| config.$slot.name.name(),
                set: |config, word| {
                    if let Some(&kind) = $Kind::ALL.iter().find(|kind| kind.name() == word) {
                        config.$slot.name = kind;
                    }
                },
            },
        )
    };
}

/// A set of what a slot lists.
macro_rules! set {
    ($($place:ident).+, $Member:ident) => {
        Field::Set(
            || $Member::ALL.iter().map(|&(_, name, about)| (name, about)).collect(),
            Access { get: |config| config.$($place).+, set: |config, bits| config.$($place).+ = bits },
        )
    };
}

pub(super) fn all() -> Vec<Key<Config>> {
    [of_operations(), of_throttling(), of_data(), redundancy()].into_iter().flatten().collect()
}

#[rustfmt::skip]
fn of_operations() -> Vec<Key<Config>> {
    vec![
        optional("policy.die_order", "which waiting transaction a die serves next",
            slot!(die_order, DieOrderKind)),
        optional("policy.die_order.deadline", "rhio: the oldest request goes first once the host asked so long ago",
            Field::Time(Span::ms(10)..=Span::ms(1280), at!(die_order.deadline))),
        optional("policy.suspension", "whether it may interrupt a program or an erase",
            slot!(suspension, SuspensionKind)),
        optional("policy.suspension.reads", "which reads may",
            words!(suspension.reads,
                "host" => SuspendingReads::Host, "those that a host request waits for";
                "all" => SuspendingReads::All, "those of GC and of merging partial writes too";
            )),
        optional("policy.suspension.cancelled_program", "what follows a cancelled program phase",
            words!(suspension.cancelled_program,
                "redo" => CancelledProgram::Redo, "check, then the whole phase again";
                "reached" => CancelledProgram::Reached, "check, then the next iteration";
            )),
        optional("policy.suspension.reload", "what a read does that arrives during the buffer reload",
            words!(suspension.reload,
                "abort" => Reload::Abort, "goes first; the reload is redone";
                "finish" => Reload::Finish, "waits for the reload";
            )),
        optional("policy.suspension.shadow_buffer", "whether the die keeps the data of a suspended program",
            Field::Flag(at!(suspension.shadow_buffer))),
        optional("policy.suspension.max_suspends", "suspensions that one operation bears; 0 is no limit",
            Field::Count(0..=1_000_000, Access {
                get: |config| u64::from(config.suspension.max_suspends.unwrap_or(0)),
                set: |config, limit| {
                    config.suspension.max_suspends = (limit > 0).then_some(limit as u32);
                },
            })),
        optional("policy.suspension.min_progress", "time an operation runs before it may be suspended",
            Field::Time(ANY, at!(suspension.min_progress))),
        optional("policy.victim", "which block to collect",
            slot!(victim, VictimKind)),
        optional("policy.victim.d", "blocks drawn by d_choices",
            Field::Count(1..=1024, at!(victim.d as u32))),
        optional("policy.wear", "static wear leveling: when hot and cold data are swapped",
            slot!(wear, WearKind)),
        optional("policy.wear.threshold", "erases by which a worn block must be ahead",
            Field::Count(1..=1_000_000, at!(wear.threshold as u32))),
    ]
}

#[rustfmt::skip]
fn of_throttling() -> Vec<Key<Config>> {
    vec![
        optional("policy.throttle", "how writes are throttled for the sake of the drive's life",
            slot!(throttle, ThrottleKind)),
        optional("policy.throttle.enforcement", "dynamic, ready: what may be written in an epoch",
            words!(throttle.enforcement,
                "pessimistic" => Enforcement::Pessimistic, "its capacity, period by period";
                "optimistic" => Enforcement::Optimistic, "the same, and what later epochs can spare";
            )),
        optional("policy.throttle.epoch", "dynamic, ready: how long an epoch is",
            words!(throttle.epoch,
                "auto" => EpochRule::Auto, "as long as the cycle found in the demand";
                "fixed" => EpochRule::Fixed, "as long as epoch_length";
            )),
        optional("policy.throttle.epoch_length", "fixed: the length of an epoch",
            Field::Time(Span::us(1)..=Span(3650 * 86_400_000_000_000), at!(throttle.epoch_length))),
    ]
}

#[rustfmt::skip]
fn of_data() -> Vec<Key<Config>> {
    vec![
        optional("policy.hotness", "what tells kinds of data apart",
            set!(hotness.detectors, Detector)),
        optional("policy.hotness.hot_up_to", "request_size: the largest hot request, by the pages it touches; 0B is the running median",
            Field::Size(Bytes(0)..=Bytes(1 << 30), at!(hotness.hot_up_to))),
        optional("policy.hotness.watermark", "buffer_hits: the share of reads, or of writes, beyond which a page is hot",
            Field::Real(0.5..=1.0, at!(hotness.watermark))),
        optional("policy.placement", "which open block takes which data",
            slot!(placement, PlacementKind)),
        optional("policy.placement.dies", "which die takes a host page",
            words!(placement.dies,
                "rotate" => Dies::Rotate, "the next in turn that has room";
                "by_address" => Dies::ByAddress, "that of its address, or the next in turn if that one is full";
            )),
        optional("policy.placement.hot_to_strong", "streams: hot data opens strong blocks, other data weak ones",
            Field::Flag(at!(placement.hot_to_strong))),
        optional("policy.step", "at what ISPP step data is programmed",
            slot!(step, StepKind)),
        optional("policy.voltage", "at what threshold voltages",
            slot!(voltage, VoltageKind)),
        optional("policy.replacement", "which page leaves the buffer",
            slot!(replacement, ReplacementKind)),
        optional("policy.replacement.window", "cflru: among how many of the oldest pages a clean one is looked for",
            Field::Count(1..=1 << 20, at!(replacement.window as u32))),
        optional("policy.sensing", "at what level of soft sensing a page is read first",
            slot!(sensing, SensingKind)),
        optional("policy.sensing.inputs", "model: what it knows; the rest is taken at its worst",
            set!(sensing.inputs, Input)),
    ]
}

/// Longer than any data is kept.
const CENTURY: Span = Span(100 * 365 * 86_400_000_000_000);

#[rustfmt::skip]
fn redundancy() -> Vec<Key<Config>> {
    vec![
        optional("policy.redundancy", "what protects a stripe",
            slot!(redundancy, RedundancyKind)),
        optional("policy.redundancy.stripe", "data pages of a stripe; with its parity it lies on one chip more",
            Field::Count(1..=63, at!(redundancy.stripe as u32))),
        optional("policy.redundancy.parity_cache", "most parity pages at once, cached or on their way",
            Field::Size(Bytes(0)..=Bytes(1 << 30), at!(redundancy.parity_cache))),
        optional("policy.redundancy.cache", "what becomes of caches when power fails",
            words!(redundancy.cache,
                "protected" => CachePower::Protected, "they survive";
                "volatile" => CachePower::Volatile, "what they hold is lost";
            )),
        optional("policy.redundancy.n_update", "hc: cached parity is built anew from more pages than this written together",
            Field::Count(0..=63, at!(redundancy.n_update as u32))),
        optional("policy.redundancy.cut_off", "hc: writes of more pages than this pass the caches by; 0 lets none do so",
            Field::Count(0..=1 << 16, at!(redundancy.cut_off as u32))),
        optional("policy.redundancy.worn_above", "a block with more P/E cycles is worn (T_p)",
            Field::Count(0..=1_000_000, at!(redundancy.worn_above as u32))),
        optional("policy.redundancy.worn_erase_pulse", "the erase pulse of a worn block; 0 is that of any other",
            Field::Time(ANY, at!(redundancy.worn_erase_pulse))),
        optional("policy.redundancy.all_above", "da_raid5: with more stripes under parity all get it (L)",
            Field::Count(0..=u64::from(u32::MAX), at!(redundancy.all_above as u32))),
        optional("policy.redundancy.retention", "a block is refreshed when its data is so old (T_retention)",
            Field::Time(Span::ms(1)..=CENTURY, at!(redundancy.retention))),
        optional("policy.redundancy.reads", "a block is refreshed when it was read so often (T_read)",
            Field::Count(1..=u64::from(u32::MAX), at!(redundancy.reads as u32))),
        optional("policy.redundancy.integrity", "whether pages carry versions, to prove what is read back",
            Field::Flag(at!(redundancy.integrity))),
    ]
}
