//! The combined Tausworthe generators of P. L'Ecuyer, "Maximally equidistributed combined
//! Tausworthe generators" (1996) and "Tables of maximally equidistributed combined LFSR generators"
//! (1999), seeded as fio seeds them.

/// Initial value from which fio, with a seed, derives the state of a generator.
const FIRST: u64 = 53;
/// Number of draws that are thrown away after seeding.
const DISCARDED: usize = 6;

/// The random generator taus88, of 32 bits.
#[derive(Clone, Debug)]
pub(crate) struct Taus88 {
    state: [u32; 3],
}

impl Taus88 {
    /// Seeds the generator. Only the lower 32 bits of a seed count.
    pub fn new(seed: u64) -> Taus88 {
        let mut last = FIRST as u32;
        let state = [1, 7, 15].map(|least| {
            last = last.wrapping_mul(69_069) ^ seed as u32;
            last = if last < least { last + least } else { last };
            last
        });
        let mut generator = Taus88 { state };
        for _ in 0..DISCARDED {
            generator.draw();
        }
        generator
    }

    /// Draws 32 random bits.
    #[inline]
    pub fn draw(&mut self) -> u32 {
        let [a, b, c] = self.state;
        let a = ((a & !1) << 12) ^ (((a << 13) ^ a) >> 19);
        let b = ((b & !7) << 4) ^ (((b << 2) ^ b) >> 25);
        let c = ((c & !15) << 17) ^ (((c << 3) ^ c) >> 11);
        self.state = [a, b, c];
        a ^ b ^ c
    }

    /// Draws a real number, 0 to less than 1.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        f64::from(self.draw()) / (f64::from(u32::MAX) + 1.0)
    }

    /// Draws a whole number from 1 to 100, both included.
    #[inline]
    pub fn percent(&mut self) -> u32 {
        1 + (100.0 * self.unit()) as u32
    }
}

/// The random generator taus258, of 64 bits.
#[derive(Clone, Debug)]
pub(crate) struct Taus258 {
    state: [u64; 5],
}

impl Taus258 {
    fn new(seed: u64) -> Taus258 {
        let mut last = FIRST;
        let state = [1, 7, 15, 33, 49].map(|least| {
            last = last.wrapping_mul(6_906_969_069) ^ seed;
            last = if last < least { last + least } else { last };
            last
        });
        let mut generator = Taus258 { state };
        for _ in 0..DISCARDED {
            generator.draw();
        }
        generator
    }

    #[inline]
    fn draw(&mut self) -> u64 {
        let step = |word: u64, shift, right, drop: u64, left| {
            ((word & !drop) << left) ^ (((word << shift) ^ word) >> right)
        };
        let [a, b, c, d, e] = self.state;
        self.state = [
            step(a, 1, 53, 1, 10),
            step(b, 24, 50, 511, 5),
            step(c, 3, 23, 4095, 29),
            step(d, 5, 24, 131_071, 23),
            step(e, 3, 33, 8_388_607, 8),
        ];
        self.state.iter().fold(0, |all, word| all ^ word)
    }
}

/// A Tausworthe generator of 32 or 64 bits, as a job's `random_generator` chooses.
#[derive(Clone, Debug)]
pub(crate) enum Random {
    /// The 32-bit generator taus88.
    Narrow(Taus88),
    /// The 64-bit generator taus258.
    Wide(Taus258),
}

impl Random {
    /// Seeds a generator of 64 bits if `wide`, otherwise of 32 bits.
    pub fn new(seed: u64, wide: bool) -> Random {
        match wide {
            true => Random::Wide(Taus258::new(seed)),
            false => Random::Narrow(Taus88::new(seed)),
        }
    }

    /// Draws a random number of all bits that the generator has.
    #[inline]
    pub fn draw(&mut self) -> u64 {
        match self {
            Random::Narrow(generator) => u64::from(generator.draw()),
            Random::Wide(generator) => generator.draw(),
        }
    }

    /// Returns the largest number that this random number generator draws: 2^32 - 1 or 2^64 - 1.
    #[inline]
    pub fn largest(&self) -> u64 {
        match self {
            Random::Narrow(_) => u64::from(u32::MAX),
            Random::Wide(_) => u64::MAX,
        }
    }

    /// Draws a real number, 0 to 1; below 1 except where a double cannot tell.
    #[inline]
    pub fn unit(&mut self) -> f64 {
        let scale = self.largest() as f64 + 1.0;
        self.draw() as f64 / scale
    }

    /// Draws one of the `count` numbers from 0 on.
    #[inline]
    pub fn below(&mut self, count: u64) -> u64 {
        (count as f64 * self.unit()) as u64
    }
}
