//! Counts the events that a format skips, by kind. A kind is a number: 0 is not counted, and n is
//! the n-th entry of [`TraceFormat::LEFT_OUT`](crate::formats::TraceFormat::LEFT_OUT).

/// Identifying number, from 1, of a kind of skipped events of a trace format; 0 stands for lines
/// that are not events.
pub(crate) type Kind = u8;

/// Name of a kind of events, and its meaning in a few words.
pub(crate) type NamedKind = (&'static str, &'static str);

/// Kinds of skipped events in traces that give operations by the letters that Linux prints (rwbs):
/// requests that neither read, write, discard nor flush, and commands for zoned storage.
pub(crate) const NEITHER: NamedKind = ("N", "neither read, write, discard nor flush");
pub(crate) const ZONE: NamedKind = ("Z", "command for a zone, or append");

/// Number of counters of skipped events: one for each kind of event that a format skips, of which
/// there are at most 31, and one (index 0) for lines that are not events.
const KINDS: usize = 32;

/// Events of one kind that were skipped in a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Name of the kind of event, as the trace prints it.
    pub name: &'static str,
    /// Meaning, in a few words, of this kind of event that the trace format skips; may be empty.
    pub about: &'static str,
    /// Number of events of this kind in the trace, at least 1.
    pub count: u64,
}

/// Number of skipped events of each kind.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeftOutCounts([u64; KINDS]);

impl LeftOutCounts {
    /// Counts a skipped event of this kind.
    #[inline(always)]
    pub fn count(&mut self, kind: Kind) {
        self.0[usize::from(kind) % KINDS] += 1;
    }

    /// Returns the kinds of skipped events that occurred, with their counts, in the order of
    /// `names`.
    pub fn named(&self, names: &'static [NamedKind]) -> Vec<LeftOut> {
        debug_assert!(names.len() < KINDS, "each kind has a number");
        let counts = self.0[1..].iter().zip(names).filter(|(count, _)| **count > 0);
        counts.map(|(&count, &(name, about))| LeftOut { name, about, count }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_are_counted_from_one() {
        let mut counts = LeftOutCounts::default();
        [0, 2, 2, 0, 1].into_iter().for_each(|kind| counts.count(kind));
        let names: &[NamedKind] = &[("a", "first"), ("b", ""), ("c", "")];
        let found: Vec<_> = counts.named(names).iter().map(|it| (it.name, it.count)).collect();
        assert_eq!(found, [("a", 1), ("b", 2)]);
    }
}
