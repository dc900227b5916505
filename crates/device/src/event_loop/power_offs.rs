//! Totals of power losses: their number, and the writes and pages that they took.

use fowler_units::Span;

/// Totals of all spans without power.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerOffs {
    /// The number of spans without power.
    pub spans: u32,
    /// The total length of the spans without power.
    pub off: Span,
    /// Acknowledged writes lost.
    pub lost_writes: u64,
    /// Stripes whose only parity was in a cache that lost power.
    pub parity_lost: u64,
    /// Programs that were cut off.
    pub torn: u64,
    /// Pages with data that became unreadable with later pages of their word lines.
    pub paired: u64,
    /// Blocks whose data was older than T_retention when power returned, if blocks are refreshed.
    pub overdue: u64,
}
