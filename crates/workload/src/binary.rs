//! Divides binary formats into records, and reads the numbers of a record.

use crate::columns::Columns;

/// Rules that divide a file in a binary format into records.
#[derive(Clone, Copy)]
pub(crate) struct Binary {
    /// Number of bytes at the beginning of a record that determine its length.
    pub head: usize,
    /// Returns the length of the record that begins with these bytes, of which there are at least
    /// `head`; `None` if they begin no record, so that the start of the next is unknown.
    pub length: fn(&[u8]) -> Option<usize>,
    /// Returns the length in bytes of the file header before the first record of this binary trace
    /// format, given the beginning of the file.
    pub preamble: fn(&[u8]) -> usize,
    /// Returns true if the first bytes of a file show that the file is in this format.
    pub shows: fn(&[u8]) -> bool,
}

/// The longest record of any format: a header of blktrace and the most data that it can announce.
pub(crate) const LONGEST_RECORD: usize = 48 + u16::MAX as usize;

/// Byte order (endianness) of the numbers in a trace record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// Little-endian: the first byte of a number is the lowest.
    Little,
    /// Big-endian: the first byte of a number is the highest.
    Big,
}

/// A record of a binary format. Reading beyond its end gives zeros; callers check the length.
#[derive(Clone, Copy)]
pub(crate) struct Bytes<'a> {
    bytes: &'a [u8],
    order: Order,
}

impl<'a> Bytes<'a> {
    /// Returns the record in `bytes`, whose numbers have byte order `order`.
    #[inline]
    pub fn of(bytes: &'a [u8], order: Order) -> Bytes<'a> {
        Bytes { bytes, order }
    }

    /// Returns the record of a binary trace at the cursor of the decoder, and moves the cursor
    /// behind it.
    pub fn take<C: Columns<'a>>(columns: &mut C, order: Order) -> Result<Bytes<'a>, C::Fault> {
        Ok(Bytes { bytes: columns.bytes()?, order })
    }

    /// Returns this record of a binary trace with another byte order, `order`, for the numbers in
    /// it.
    #[inline]
    pub fn in_order(self, order: Order) -> Bytes<'a> {
        Bytes { order, ..self }
    }

    /// Returns the length of this record of a binary trace, in bytes.
    pub fn len(self) -> usize {
        self.bytes.len()
    }

    /// Returns the number in the `N` bytes from offset `at` of this record of a binary trace, in
    /// the record's byte order; zero beyond its end.
    #[inline]
    fn number<const N: usize>(self, at: usize) -> u64 {
        let mut bytes = [0; 8];
        let Some(from) = self.bytes.get(at..at + N) else { return 0 };
        match self.order {
            Order::Little => {
                bytes[..N].copy_from_slice(from);
                u64::from_le_bytes(bytes)
            }
            Order::Big => {
                bytes[8 - N..].copy_from_slice(from);
                u64::from_be_bytes(bytes)
            }
        }
    }

    /// Returns the 16-bit number at byte offset `at` of this record of a binary trace, in the
    /// record's byte order.
    #[inline]
    pub fn u16(self, at: usize) -> u64 {
        self.number::<2>(at)
    }

    /// Returns the 32-bit number at byte offset `at` of this record of a binary trace, in the
    /// record's byte order.
    #[inline]
    pub fn u32(self, at: usize) -> u64 {
        self.number::<4>(at)
    }

    /// Returns the 64-bit number at byte offset `at` of this record of a binary trace, in the
    /// record's byte order.
    #[inline]
    pub fn u64(self, at: usize) -> u64 {
        self.number::<8>(at)
    }

    /// Returns `length` bytes from offset `at` of a binary trace record, for an error message.
    pub fn slice(self, at: usize, length: usize) -> &'a [u8] {
        self.bytes.get(at..at + length).unwrap_or_default()
    }
}

/// Formats bytes as hexadecimal digits in groups of four bytes, as many as fit a line.
pub(crate) fn hexadecimal(bytes: &[u8]) -> String {
    const SHOWN: usize = 48;
    let mut text = String::new();
    for (number, byte) in bytes.iter().take(SHOWN).enumerate() {
        if number > 0 && number % 4 == 0 {
            text.push(' ');
        }
        text += &format!("{byte:02x}");
    }
    if bytes.len() > SHOWN { text + "..." } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_in_either_order_and_never_beyond_the_end() {
        let bytes = [1, 2, 3, 4, 5, 6, 7, 8];
        let (little, big) = (Bytes::of(&bytes, Order::Little), Bytes::of(&bytes, Order::Big));
        assert_eq!((little.u16(0), big.u16(0)), (0x0201, 0x0102));
        assert_eq!((little.u32(4), big.u32(4)), (0x0807_0605, 0x0506_0708));
        assert_eq!(little.u64(0), 0x0807_0605_0403_0201);
        assert_eq!(big.u64(0), 0x0102_0304_0506_0708);
        assert_eq!((big.u32(5), big.u64(1)), (0, 0));
        assert_eq!((big.slice(6, 2), big.slice(7, 2)), (&[7, 8][..], &[][..]));
    }

    #[test]
    fn bytes_are_shown_in_groups() {
        assert_eq!(hexadecimal(&[0x07, 0x74, 0x61, 0x65, 0xff]), "07746165 ff");
        assert!(hexadecimal(&[0; 100]).ends_with("00000000..."));
    }
}
