//! A queue of keys that arrive in ascending order.

use fowler_units::Nanos;

/// Value that marks the absence of a 128-bit event key; greater than the key of any event.
pub(crate) const NOTHING: u128 = u128::MAX;

/// Largest number of keys in the ring buffer of a lane; more keys go to the agenda's binary heap. A
/// constant, so that indexing the ring needs neither a mask loaded from memory nor a bounds check.
/// A larger ring would evict other data from the CPU cache. Tests use 4 places, so that rings fill.
const PLACES: usize = if cfg!(test) { 4 } else { 2048 };

/// A lane of the agenda (the simulator's queue of future events): a ring buffer of event keys in
/// ascending order. Empty places hold the constant [`NOTHING`], so the place of the first key shows
/// if the ring is empty, and the place after the last key shows if it is full.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    keys: Box<[u128; PLACES]>,
    /// Number of keys that were removed from the ring buffer so far (`taken`), and number that were
    /// added (`put`); their difference is the number of keys in the ring.
    taken: usize,
    put: usize,
    /// Due time of the event key that was added last to the ring buffer, even if that key has been
    /// removed since.
    last: Nanos,
}

/// Result of adding an event key to a lane, a ring buffer of keys in ascending order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// The event key was added to the lane's ring buffer, which was empty before.
    First,
    /// The event key was added to the lane's ring buffer, behind at least one other key.
    Behind,
    /// The key was not added: the ring buffer is full, or the key is due before one that was added
    /// earlier.
    Refused,
}

impl Lane {
    pub fn new() -> Self {
        let keys = vec![NOTHING; PLACES].into_boxed_slice();
        let keys = keys.try_into().expect("as many as there are places");
        Self { keys, taken: 0, put: 0, last: Nanos::ZERO }
    }

    /// Appends an event key to the ring buffer. Refuses it if the ring is full or if the key is due
    /// before one that was added earlier. Of two keys due at the same time, the second must be
    /// greater.
    #[inline]
    pub fn put(&mut self, at: Nanos, key: u128) -> Put {
        let place = &mut self.keys[self.put % PLACES];
        if at < self.last || !is_nothing(*place) {
            return Put::Refused;
        }
        *place = key;
        self.last = at;
        let was_empty = self.put == self.taken;
        self.put += 1;
        if was_empty { Put::First } else { Put::Behind }
    }

    /// Returns the first and smallest event key of the ring buffer, or [`NOTHING`] if the ring is
    /// empty.
    #[inline]
    pub fn first(&self) -> u128 {
        self.keys[self.taken % PLACES]
    }

    /// Removes the first event key of the ring buffer, which must not be empty. Returns the key
    /// that is then first, or [`NOTHING`] if the ring is now empty.
    #[inline]
    pub fn take(&mut self) -> u128 {
        debug_assert!(self.taken < self.put, "an empty lane has no key to take");
        self.keys[self.taken % PLACES] = NOTHING;
        self.taken += 1;
        self.first()
    }

    /// Returns the number of event keys in the ring buffer.
    pub fn len(&self) -> usize {
        self.put - self.taken
    }
}

/// Returns true if a 128-bit event key is [`NOTHING`], the mark of an empty place. Comparing the
/// upper 64 bits, which hold the due time, is enough: no event is due at [`Nanos::NEVER`].
#[inline]
fn is_nothing(key: u128) -> bool {
    (key >> 64) as u64 == u64::MAX
}
