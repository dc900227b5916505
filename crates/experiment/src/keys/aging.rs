//! The keys of data that ages on a drive with superblocks.

use super::key::{Key, at, optional, words};
use super::needs;
use crate::field::{Access, Field, Word};
use fowler_device::{Coding, Config, Tracking};
use fowler_units::Span;

#[rustfmt::skip]
pub(super) fn all() -> Vec<Key<Config>> {
    vec![
        optional("aging.coding", "how the bits of a cell are assigned to its states, which come down as data ages (superblocks only)",
            words!(aging.coding,
                "off" => Coding::Off, "cells make no errors: every read takes its nominal time";
                "balanced" => Coding::Balanced, "each page needs about as many references: 2-3-2 (TLC), 4-4-4-3 (QLC)";
                "reflected" => Coding::Reflected, "each page needs twice as many as the one before: 1-2-4 (TLC), 1-2-4-8 (QLC)";
            )),
        optional("aging.voltage_window", "distance of the highest programmed state from the lowest, more than 0 (V)",
            Field::Real(0.0..=100.0, at!(aging.voltage_window))).needs(&[&needs::WORD_LINES_THAT_ERR]),
        optional("aging.erased_below", "distance of the erased state from the lowest programmed one, more than 0 (V)",
            Field::Real(0.0..=100.0, at!(aging.erased_below))).needs(&[&needs::WORD_LINES_THAT_ERR]),
        optional("aging.step_share", "ISPP step, as a share of the distance of two programmed states; more than 0",
            Field::Real(0.0..=100.0, at!(aging.step_share))).needs(&[&needs::WORD_LINES_THAT_ERR]),
        optional("aging.correctable", "highest bit error rate that the code corrects, more than 0 and less than 0.5; a page with more is read again",
            Field::Real(0.0..=0.5, at!(aging.correctable))).needs(&[&needs::AGE]),
        optional("aging.retry_entries", "entries of the retry table after the usual references",
            Field::Count(1..=31, at!(aging.retry_entries as u32))).needs(&[&needs::AGE]),
        optional("aging.retry_shift", "how much lower each entry has the reference of the highest state, more than 0 (V); those of lower states come down in proportion",
            Field::Real(0.0..=100.0, at!(aging.retry_shift))).needs(&[&needs::AGE]),
        optional("aging.retry_overhead", "time of a retry beyond sensing and transfer",
            Field::Time(Span::ZERO..=Span::ms(100), at!(aging.retry_overhead))).needs(&[&needs::AGE]),
        optional("aging.tracking", "which entry of the retry table a read begins at",
            words!(aging.tracking,
                "off" => Tracking::Off, "the usual references";
                "superblock" => Tracking::Superblock, "the one at which the last retry of its superblock succeeded";
            )).needs(&[&needs::AGE]),
        optional("aging.refresh_above", "moves a superblock when a page of it was read at an entry beyond this; 0 for never",
            Field::Count(0..=30, at!(aging.refresh_above as u32))).needs(&[&needs::AGE]),
    ]
}
