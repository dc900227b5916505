//! Tables indexed by the members of an enumeration: one value per member. Counters by source, by
//! class or by operation use them instead of arrays whose positions a reader would have to know.

use serde::de::{Error, SeqAccess, Visitor};
use serde::ser::SerializeTuple;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt::{self, Debug, Formatter};
use std::iter::Sum;
use std::marker::PhantomData;
use std::ops::{AddAssign, Index, IndexMut, Sub};

/// An enumeration of `N` members without data, numbered from zero.
pub trait Enumerated<const N: usize>: Copy {
    /// Every member of the enumeration, in numerical order.
    const ALL: [Self; N];
    /// Returns the number of this member of the enumeration, from 0 to `N` - 1.
    fn index(self) -> usize;
}

/// Implements [`Enumerated`] for an enumeration that has a constant `ALL`, and names its table
/// type. The order of `ALL` is checked at compile time, because tables are indexed by number and
/// listed by `ALL`.
#[macro_export]
macro_rules! enumerated {
    ($Member:ident: $(#[$doc:meta])* $vis:vis $Table:ident) => {
        const _: () = {
            let mut number = 0;
            while number < $Member::ALL.len() {
                assert!($Member::ALL[number] as usize == number, "members out of order");
                number += 1;
            }
        };

        impl $crate::Enumerated<{ $Member::ALL.len() }> for $Member {
            const ALL: [$Member; $Member::ALL.len()] = $Member::ALL;
            #[inline]
            fn index(self) -> usize {
                self as usize
            }
        }

        $(#[$doc])*
        $vis type $Table<T> = $crate::By<$Member, T, { $Member::ALL.len() }>;
    };
}

/// Array with one value for each member of the enumeration `K`; costs and serializes like an array.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct By<K, T, const N: usize>([T; N], PhantomData<K>);

impl<K: Enumerated<N>, T, const N: usize> By<K, T, N> {
    /// Returns a table with one value for each member of the enumeration `K`, computed from the
    /// member by the function `of`.
    pub fn from_fn(of: impl FnMut(K) -> T) -> Self {
        K::ALL.map(of).into()
    }

    /// Iterates over the members of the enumeration `K`, each with its value in this table, in
    /// numerical order.
    pub fn iter(&self) -> impl Iterator<Item = (K, &T)> {
        K::ALL.into_iter().zip(&self.0)
    }
}

impl<K, T, const N: usize> By<K, T, N> {
    /// Iterates over the values of this table, in the order of the enumeration's members.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.0.iter()
    }

    /// Iterates over the values of this table for modification, in the order of the enumeration's
    /// members.
    pub fn values_mut(&mut self) -> std::slice::IterMut<'_, T> {
        self.0.iter_mut()
    }

    /// Returns a table in which each value of this one is replaced by the result of the function
    /// `of`.
    pub fn map<U>(self, of: impl FnMut(T) -> U) -> By<K, U, N> {
        self.0.map(of).into()
    }

    /// Returns the values of all members of the enumeration as an array, which the caller can
    /// destructure by name.
    pub fn into_array(self) -> [T; N] {
        self.0
    }

    /// Returns the sum of the table's values over all members of the enumeration.
    pub fn sum(&self) -> T
    where
        T: Copy + Sum,
    {
        self.0.iter().copied().sum()
    }
}

impl<K, T, const N: usize> From<[T; N]> for By<K, T, N> {
    fn from(values: [T; N]) -> Self {
        Self(values, PhantomData)
    }
}

impl<K, T: Default, const N: usize> Default for By<K, T, N> {
    fn default() -> Self {
        std::array::from_fn(|_| T::default()).into()
    }
}

impl<K: Enumerated<N>, T, const N: usize> Index<K> for By<K, T, N> {
    type Output = T;
    #[inline]
    fn index(&self, member: K) -> &T {
        &self.0[member.index()]
    }
}

impl<K: Enumerated<N>, T, const N: usize> IndexMut<K> for By<K, T, N> {
    #[inline]
    fn index_mut(&mut self, member: K) -> &mut T {
        &mut self.0[member.index()]
    }
}

impl<K, T: AddAssign, const N: usize> AddAssign for By<K, T, N> {
    fn add_assign(&mut self, more: Self) {
        for (sum, more) in self.0.iter_mut().zip(more.0) {
            *sum += more;
        }
    }
}

impl<K, T: Copy + Sub<Output = T>, const N: usize> Sub for By<K, T, N> {
    type Output = Self;
    fn sub(self, less: Self) -> Self {
        std::array::from_fn(|at| self.0[at] - less.0[at]).into()
    }
}

impl<K, T: Debug, const N: usize> Debug for By<K, T, N> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

// Serde supports arrays of fixed lengths only, and serializes these as tuples.
impl<K, T: Serialize, const N: usize> Serialize for By<K, T, N> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut values = serializer.serialize_tuple(N)?;
        self.0.iter().try_for_each(|value| values.serialize_element(value))?;
        values.end()
    }
}

impl<'de, K, T: Deserialize<'de>, const N: usize> Deserialize<'de> for By<K, T, N> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_tuple(N, Values(PhantomData))
    }
}

struct Values<K, T, const N: usize>(PhantomData<(K, T)>);

impl<'de, K, T: Deserialize<'de>, const N: usize> Visitor<'de> for Values<K, T, N> {
    type Value = By<K, T, N>;

    fn expecting(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{N} values")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut given: A) -> Result<Self::Value, A::Error> {
        let mut values = [const { None }; N];
        for (number, value) in values.iter_mut().enumerate() {
            *value = Some(given.next_element()?.ok_or(A::Error::invalid_length(number, &self))?);
        }
        Ok(values.map(|value: Option<T>| value.expect("every value was read")).into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    enum Side {
        Left,
        Right,
    }

    impl Enumerated<2> for Side {
        const ALL: [Side; 2] = [Side::Left, Side::Right];
        fn index(self) -> usize {
            self as usize
        }
    }

    type BySide<T> = By<Side, T, 2>;

    #[test]
    fn a_member_finds_its_own_value() {
        let mut table = BySide::<u64>::default();
        table[Side::Right] += 3;
        assert_eq!((table[Side::Left], table[Side::Right], table.sum()), (0, 3, 3));
        table += BySide::from_fn(|side| if side == Side::Left { 10 } else { 20 });
        assert_eq!(table.iter().collect::<Vec<_>>(), [(Side::Left, &10), (Side::Right, &23)]);
        assert_eq!(table.map(|value| value + 1), BySide::from([11, 24]));
        assert_eq!(table - BySide::from([4, 3]), BySide::from([6, 20]));
    }
}
