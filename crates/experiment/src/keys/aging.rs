//! The keys of data that ages on a drive with superblocks.

use super::key::{Key, at, optional, words};
use super::needs;
use crate::field::{Access, Field, Word};
use fowler_device::{Coding, Config, Tracking};
use fowler_units::Span;

#[rustfmt::skip]
pub(super) fn all() -> Vec<Key<Config>> {
    vec![
        optional("aging.coding", "assignment of a cell's bits to its states, whose voltages fall \
            as data ages (superblocks only)",
            words!(aging.coding,
                "off" => Coding::Off, "cells make no errors: every read takes its nominal time";
                "balanced" => Coding::Balanced, "the pages of a word line need about as many \
                    reference voltages each: 2-3-2 (TLC), 4-4-4-3 (QLC)";
                "reflected" => Coding::Reflected, "each page of a word line needs twice as many \
                    reference voltages as the one before: 1-2-4 (TLC), 1-2-4-8 (QLC)";
            )),
        optional("aging.voltage_window", "distance of the highest programmed state from the lowest, more than 0 (V)",
            Field::Real(0.0..=100.0, at!(aging.voltage_window))).needs(&[&needs::WORD_LINES_THAT_ERR]),
        optional("aging.erased_below", "distance of the erased state from the lowest programmed one, more than 0 (V)",
            Field::Real(0.0..=100.0, at!(aging.erased_below))).needs(&[&needs::WORD_LINES_THAT_ERR]),
        optional("aging.step_share", "ISPP step, as a share of the distance of two programmed states; more than 0",
            Field::Real(0.0..=100.0, at!(aging.step_share))).needs(&[&needs::WORD_LINES_THAT_ERR]),
        optional("aging.correctable", "highest bit error rate that the code corrects, more than 0 and less than 0.5; a page with more is read again",
            Field::Real(0.0..=0.5, at!(aging.correctable))).needs(&[&needs::AGE]),
        optional("aging.retry_entries", "number of entries in the retry table after the default \
            reference voltages",
            Field::Count(1..=31, at!(aging.retry_entries as u32))).needs(&[&needs::AGE]),
        optional("aging.retry_shift", "voltage by which each retry entry lowers the reference of \
            the highest state, more than 0 (V); references of lower states are lowered in \
            proportion",
            Field::Real(0.0..=100.0, at!(aging.retry_shift))).needs(&[&needs::AGE]),
        optional("aging.retry_overhead", "time of a read retry in addition to sensing and transfer",
            Field::Time(Span::ZERO..=Span::ms(100), at!(aging.retry_overhead))).needs(&[&needs::AGE]),
        optional("aging.tracking", "entry of the retry table at which a read starts",
            words!(aging.tracking,
                "off" => Tracking::Off, "the usual references";
                "superblock" => Tracking::Superblock, "the entry at which the last retry in the \
                    same superblock succeeded";
            )).needs(&[&needs::AGE]),
        optional("aging.refresh_above", "retry entry beyond which a page read causes its \
            superblock to be refreshed; 0 for never",
            Field::Count(0..=30, at!(aging.refresh_above as u32))).needs(&[&needs::AGE]),
    ]
}
