//! A plain queue of keys that come in order.

/// The key of no entry; no entry is ever due so late.
pub(crate) const NOTHING: u128 = u128::MAX;

/// A ring of keys.
#[derive(Clone, Debug)]
pub(crate) struct Lane {
    /// As many places as a power of two.
    keys: Box<[u128]>,
    /// Keys taken and keys put in so far; the ring keeps what lies between.
    taken: usize,
    put: usize,
    /// The last key that came, whether it is there still or not.
    last: u128,
}

impl Lane {
    /// An empty lane with room for `capacity` keys.
    pub fn with_capacity(capacity: usize) -> Self {
        let places = capacity.next_power_of_two();
        Self { keys: vec![NOTHING; places].into_boxed_slice(), taken: 0, put: 0, last: 0 }
    }

    #[inline]
    fn place(&self, index: usize) -> usize {
        index & (self.keys.len() - 1)
    }

    /// The first key, or [`NOTHING`].
    #[inline]
    pub fn first(&self) -> u128 {
        if self.taken == self.put { NOTHING } else { self.keys[self.place(self.taken)] }
    }

    /// Puts a key at the end, if it comes after every one before it and there is room. Returns
    /// whether it did.
    #[inline]
    pub fn put(&mut self, key: u128) -> bool {
        if key < self.last || self.len() == self.keys.len() {
            return false;
        }
        self.last = key;
        let here = self.place(self.put);
        self.keys[here] = key;
        self.put += 1;
        true
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
