//! Counts of the events that a format leaves out, by kind. A kind is a number: 0 is not counted,
//! and number n is the n-th of [`TraceFormat::LEFT_OUT`](crate::formats::TraceFormat::LEFT_OUT).

/// The number of a kind of events that a format leaves out; 0 for lines that are no events.
pub(crate) type Kind = u8;

/// A kind of events, and what it means in a few words.
pub(crate) type NamedKind = (&'static str, &'static str);

/// Operations that are no requests here, as [`rwbs`](crate::formats::rwbs) tells them.
pub(crate) const NEITHER: NamedKind = ("N", "neither read, write, discard nor flush");
pub(crate) const ZONE: NamedKind = ("Z", "command for a zone, or append");

/// The most kinds of a format, and the kind that is not counted.
const KINDS: usize = 32;

/// Events of one kind that were left out of a trace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// The name of the kind, as the trace has it.
    pub name: &'static str,
    /// The meaning of the kind in a few words; may be empty.
    pub about: &'static str,
    /// The number of events, at least 1.
    pub count: u64,
}

/// How many events of each kind were left out.
#[derive(Clone, Debug, Default)]
pub(crate) struct LeftOutCounts([u64; KINDS]);

impl LeftOutCounts {
    /// Counts an event.
    #[inline(always)]
    pub fn count(&mut self, kind: Kind) {
        self.0[usize::from(kind) % KINDS] += 1;
    }

    /// Returns the kinds that were met, in order of their numbers.
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
