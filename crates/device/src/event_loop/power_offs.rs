//! Totals of power losses: their number, and the writes and pages that they took.

use fowler_units::Span;

/// Totals over all power losses of a run: time without power, and writes, parity and pages lost.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerOffs {
    /// Number of times that the drive lost power.
    pub spans: u32,
    /// Total time that the drive was without power.
    pub off: Span,
    /// Number of acknowledged writes whose data was lost.
    pub lost_writes: u64,
    /// Number of stripes whose only parity was in a cache that lost power.
    pub parity_lost: u64,
    /// Number of programs that a loss of power cut off.
    pub torn: u64,
    /// Number of pages that became unreadable because the program of a later page of their word
    /// line was cut off.
    pub paired: u64,
    /// Number of blocks whose data was older than its refresh limit (T_retention of the DA-RAID-5
    /// paper) when power returned, on a drive that refreshes blocks.
    pub overdue: u64,
}
