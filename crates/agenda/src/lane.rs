//! A plain queue of keys that come in order.

/// The key of no entry; no entry is ever due so late.
pub(crate) const NOTHING: u128 = u128::MAX;

/// Keys that a lane holds at most; more go to the heap. The compiler knows the number, so that a
/// place in the ring needs neither a mask from memory nor a check. A larger ring would evict other
/// data from the cache, because every place is visited in turn. Tests fill it.
const PLACES: usize = if cfg!(test) { 4 } else { 2048 };

/// A ring of keys.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    keys: Box<[u128; PLACES]>,
    /// Keys taken and keys put in so far; the ring keeps what lies between.
    taken: usize,
    put: usize,
    /// The last key that came, whether it is there still or not.
    last: u128,
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
        Self { keys, taken: 0, put: 0, last: 0 }
    }

    /// The first key, or [`NOTHING`].
    #[inline]
    pub fn first(&self) -> u128 {
        if self.taken == self.put { NOTHING } else { self.keys[self.taken % PLACES] }
    }

    /// Puts a key at the end, if it comes after every one before it and there is room.
    #[inline]
    pub fn put(&mut self, key: u128) -> Put {
        let len = self.len();
        if key < self.last || len == PLACES {
            return Put::Refused;
        }
        self.last = key;
        self.keys[self.put % PLACES] = key;
        self.put += 1;
        if len == 0 { Put::First } else { Put::Behind }
    }

    /// Takes the first key off; there must be one.
    #[inline]
    pub fn take(&mut self) {
        self.taken += 1;
    }

    /// How many keys there are.
    #[inline]
    pub fn len(&self) -> usize {
        self.put - self.taken
    }
}
