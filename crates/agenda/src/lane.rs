//! A queue of keys that arrive in ascending order.

use fowler_units::Nanos;

/// Marks the absence of a key; greater than the key of any entry.
pub(crate) const NOTHING: u128 = u128::MAX;

/// Largest number of keys in a lane; more keys go to the heap. The capacity is a constant, so that
/// indexing the ring needs neither a mask loaded from memory nor a bounds check. A larger ring
/// would evict other data from the CPU cache, because every place is visited in turn. Tests use a
/// capacity small enough to fill.
const PLACES: usize = if cfg!(test) { 4 } else { 2048 };

/// A ring of the keys of future events, in ascending order. Empty places hold [`NOTHING`], so the
/// first key shows if the lane is empty, and the next place shows if it is full, without a count.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    keys: Box<[u128; PLACES]>,
    /// Number of keys taken out of the lane so far, and number put in; the ring holds the
    /// difference.
    taken: usize,
    put: usize,
    /// Due time of the key that was put in last, even if that key has been taken out since.
    last: Nanos,
}

/// Result of putting a key into a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// The key was added to an empty lane.
    First,
    /// The key was added after others in the lane.
    Behind,
    /// The key was not added: an earlier one is due later, or the ring is full.
    Refused,
}

impl Lane {
    /// Creates a lane without keys.
    pub fn new() -> Self {
        let keys = vec![NOTHING; PLACES].into_boxed_slice();
        let keys = keys.try_into().expect("as many as there are places");
        Self { keys, taken: 0, put: 0, last: Nanos::ZERO }
    }

    /// Appends a key, unless it is due before one put in earlier or the ring is full. Of two keys
    /// due at the same time, the one put in later must be greater.
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

    /// Returns the first key of the lane, or [`NOTHING`] if it is empty.
    #[inline]
    pub fn first(&self) -> u128 {
        self.keys[self.taken % PLACES]
    }

    /// Removes the first key of the lane, which must exist. Returns the next key, or [`NOTHING`].
    #[inline]
    pub fn take(&mut self) -> u128 {
        debug_assert!(self.taken < self.put, "an empty lane has no key to take");
        self.keys[self.taken % PLACES] = NOTHING;
        self.taken += 1;
        self.first()
    }

    /// Returns the number of keys in the lane.
    pub fn len(&self) -> usize {
        self.put - self.taken
    }
}

/// Returns true if a key is [`NOTHING`]. Checking the half with the time is enough, because no
/// entry is due at [`Nanos::NEVER`].
#[inline]
fn is_nothing(key: u128) -> bool {
    (key >> 64) as u64 == u64::MAX
}
