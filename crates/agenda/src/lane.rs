//! A plain queue of keys that come in order.

use fowler_units::Nanos;

/// The key of no entry; no entry is ever due so late.
pub(crate) const NOTHING: u128 = u128::MAX;

/// Keys that a lane holds at most; more go to the heap. The compiler knows the number, so that a
/// place in the ring needs neither a mask from memory nor a check. A larger ring would evict other
/// data from the cache, because every place is visited in turn. Tests fill it.
const PLACES: usize = if cfg!(test) { 4 } else { 2048 };

/// A ring of keys. A place that holds none holds [`NOTHING`], so that neither an empty lane nor a
/// full one is told by counting.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    keys: Box<[u128; PLACES]>,
    /// Keys taken and keys put in so far; the ring keeps what lies between.
    taken: usize,
    put: usize,
    /// When the last key that came is due, whether it is there still or not.
    last: Nanos,
}

/// What becomes of a key that is put into a lane.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Put {
    /// It is the first and only one.
    First,
    /// It stands behind others.
    Behind,
    /// It is not put in: one before it comes later, or there is no room.
    Refused,
}

impl Lane {
    /// An empty lane.
    pub fn new() -> Self {
        let keys = vec![NOTHING; PLACES].into_boxed_slice();
        let keys = keys.try_into().expect("as many as there are places");
        Self { keys, taken: 0, put: 0, last: Nanos::ZERO }
    }

    /// Puts a key at the end, if it is not due before any that came before it and there is room.
    /// Of keys of one moment the one that is made later must be the greater.
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

    /// The first key, or [`NOTHING`].
    #[inline]
    pub fn first(&self) -> u128 {
        self.keys[self.taken % PLACES]
    }

    /// Takes the first key off; there must be one. Returns the one behind it, or [`NOTHING`].
    #[inline]
    pub fn take(&mut self) -> u128 {
        debug_assert!(self.taken < self.put, "a key of an empty lane");
        self.keys[self.taken % PLACES] = NOTHING;
        self.taken += 1;
        self.first()
    }

    /// How many keys there are.
    pub fn len(&self) -> usize {
        self.put - self.taken
    }
}

/// Whether a key is [`NOTHING`], told by half of it: no time is as late.
#[inline]
fn is_nothing(key: u128) -> bool {
    (key >> 64) as u64 == u64::MAX
}
