//! A plain queue of keys that arrive in order.

use fowler_units::Nanos;

/// Marks the absence of a key; greater than the key of any entry.
pub(crate) const NOTHING: u128 = u128::MAX;

/// The capacity of a lane; further keys go to the heap. It is a constant, so that indexing the ring
/// needs neither a mask from memory nor a bounds check. A larger ring would evict other data from
/// the cache, because every place is visited in turn. In tests it is small enough to be filled.
const PLACES: usize = if cfg!(test) { 4 } else { 2048 };

/// A ring of keys. Empty places hold [`NOTHING`], so the first key and the next place tell whether
/// the lane is empty or full, without counting.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    keys: Box<[u128; PLACES]>,
    /// The number of keys taken out and put in so far; the ring holds those between.
    taken: usize,
    put: usize,
    /// When the key put in last is due, whether it is still here or not.
    last: Nanos,
}

/// The result of [`Lane::put`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// The key is in, alone.
    First,
    /// The key is in, behind others.
    Behind,
    /// The key is not in: an earlier one is due later, or the ring is full.
    Refused,
}

impl Lane {
    /// Creates an empty lane.
    pub fn new() -> Self {
        let keys = vec![NOTHING; PLACES].into_boxed_slice();
        let keys = keys.try_into().expect("as many as there are places");
        Self { keys, taken: 0, put: 0, last: Nanos::ZERO }
    }

    /// Appends a key, unless it is due before one that was put in earlier or the ring is full. Of
    /// two keys due at the same time, the one put in later must be the greater.
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

    /// Returns the first key, or [`NOTHING`].
    #[inline]
    pub fn first(&self) -> u128 {
        self.keys[self.taken % PLACES]
    }

    /// Removes the first key, which must exist. Returns the next one, or [`NOTHING`].
    #[inline]
    pub fn take(&mut self) -> u128 {
        debug_assert!(self.taken < self.put, "a key of an empty lane");
        self.keys[self.taken % PLACES] = NOTHING;
        self.taken += 1;
        self.first()
    }

    /// Returns the number of keys.
    pub fn len(&self) -> usize {
        self.put - self.taken
    }
}

/// Whether a key is [`NOTHING`]. The half with the time tells: no entry is due at
/// [`Nanos::NEVER`].
#[inline]
fn is_nothing(key: u128) -> bool {
    (key >> 64) as u64 == u64::MAX
}
