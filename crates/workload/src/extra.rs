//! What a line asks for besides its record, and the requests that this makes: a flush before a
//! write, the pieces of a trim that is larger than a request can be.
//!
//! A line is decoded into one [`Record`]; nearly every line needs no more. What few lines need is
//! noted on the cursor ([`Columns::extra`](crate::columns::Columns::extra)), so that records stay
//! small.

use crate::Record;
use fowler_units::{HostIo, HostOp};

/// The longest trim that is read, in bytes: 256 TiB, more than any drive holds. A line must not
/// make requests without a bound.
pub(crate) const LONGEST_TRIM: u64 = 1 << 48;

/// Pieces of a trim end at multiples of this many bytes, so that no cut is inside a page or block.
const PIECE: u64 = 1 << 31;

/// What a line asks for besides its record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Extra {
    /// A flush comes before the record: the preflush of a write.
    pub preflush: bool,
    /// The record is to reach the medium before it is answered: forced unit access (FUA).
    pub forced: bool,
    /// The record is a command that writes zeroes, read as a trim.
    pub zeroes: bool,
    /// Bytes of a trim behind the end of the record.
    pub more: u64,
}

impl Extra {
    /// Nothing.
    pub const NONE: Extra = Extra { preflush: false, forced: false, zeroes: false, more: 0 };

    /// Returns both together.
    #[inline]
    pub fn and(self, other: Extra) -> Extra {
        Extra {
            preflush: self.preflush || other.preflush,
            forced: self.forced || other.forced,
            zeroes: self.zeroes || other.zeroes,
            more: self.more + other.more,
        }
    }
}

/// Returns the size of the first piece of a trim.
pub(crate) fn first_piece(offset: u64, size: u64) -> u32 {
    let piece = size.min(PIECE - offset % PIECE);
    u32::try_from(piece).expect("a piece has at most 2 GiB")
}

/// The requests that the last line still asks for, and how often lines asked for what.
#[derive(Debug, Default)]
pub(crate) struct Extras {
    /// The next request of the last line, and the bytes of a trim behind it.
    next: Option<(Record, u64)>,
    /// Requests that came in addition to one for each line.
    pub added: u64,
    /// Requests with forced unit access.
    pub forced: u64,
    preflushes: u64,
    zeroes: u64,
    /// Trims that were cut, and into how many pieces.
    cut: u64,
    pieces: u64,
}

impl Extras {
    /// Returns the first request of a line; [`Extras::next`] returns the others.
    #[inline]
    pub fn first(&mut self, record: Record, extra: Extra) -> Record {
        if extra == Extra::NONE { record } else { self.first_of_several(record, extra) }
    }

    fn first_of_several(&mut self, record: Record, extra: Extra) -> Record {
        let Extra { preflush, forced, zeroes, more } = extra;
        self.forced += u64::from(forced);
        self.preflushes += u64::from(preflush);
        self.zeroes += u64::from(zeroes);
        self.cut += u64::from(more > 0);
        self.pieces += u64::from(more > 0);
        if preflush {
            self.next = Some((record, more));
            return Record { io: HostIo::flush(record.io.at), ..record };
        }
        self.next = behind(record, more);
        record
    }

    /// Returns the next request of the last line.
    #[inline]
    pub fn next(&mut self) -> Option<Record> {
        let (record, more) = self.next.take()?;
        self.next = behind(record, more);
        self.added += 1;
        // A write behind its preflush is no piece.
        self.pieces += u64::from(record.io.op == HostOp::Trim);
        Some(record)
    }

    /// Drops the requests that the last line still asks for.
    pub fn drop_rest(&mut self) {
        self.next = None;
    }

    /// Returns what must be said of the lines so far.
    pub fn notes(&self) -> Vec<String> {
        let counted = |count: u64, one: &str, several: &str| {
            (count > 0).then(|| if count == 1 { one.into() } else { format!("{count} {several}") })
        };
        let notes = [
            counted(
                self.preflushes,
                "1 write has a preflush: it is replayed as a flush and the write after it",
                "writes have a preflush: each is replayed as a flush and the write after it",
            ),
            counted(
                self.forced,
                "1 request has FUA (forced unit access), which drives do not have here: it is \
                 replayed as a request without",
                "requests have FUA (forced unit access), which drives do not have here: they are \
                 replayed as requests without",
            ),
            counted(
                self.zeroes,
                "1 command that writes zeroes is replayed as a trim",
                "commands that write zeroes are replayed as trims",
            ),
            counted(
                self.cut,
                &format!("1 trim of 4 GiB or more is replayed in {} pieces", self.pieces),
                &format!("trims of 4 GiB or more are replayed in {} pieces", self.pieces),
            ),
        ];
        notes.into_iter().flatten().collect()
    }
}

/// Returns the piece of a trim behind `record`, and the bytes behind that; `None` at its end.
fn behind(record: Record, more: u64) -> Option<(Record, u64)> {
    if more == 0 {
        return None;
    }
    let offset = record.io.offset + u64::from(record.io.size);
    let size = first_piece(offset, more);
    let io = record.io.with_offset(offset).with_size(size);
    Some((Record { io, ..record }, more - u64::from(size)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::{Nanos, Rng};

    fn requests(extras: &mut Extras, io: HostIo, extra: Extra) -> Vec<HostIo> {
        let first = extras.first(Record { device: 3, io }, extra);
        let mut all = vec![first];
        all.extend(std::iter::from_fn(|| extras.next()));
        assert!(all.iter().all(|it| it.device == 3 && it.io.at == io.at));
        all.iter().map(|it| it.io).collect()
    }

    #[test]
    fn a_preflush_is_a_flush_before_the_write() {
        let mut extras = Extras::default();
        let (at, write) = (Nanos(7), HostIo::write(Nanos(7), 512, 512));
        assert_eq!(requests(&mut extras, write, Extra::NONE), [write]);
        assert_eq!((extras.added, extras.notes().len()), (0, 0));
        let both = Extra { preflush: true, forced: true, ..Extra::NONE };
        assert_eq!(requests(&mut extras, write, both), [HostIo::flush(at), write]);
        let forced = Extra { forced: true, ..Extra::NONE };
        assert_eq!(requests(&mut extras, write, forced), [write]);
        let notes = extras.notes();
        assert_eq!((extras.added, notes.len()), (1, 2));
        assert!(notes[0].starts_with("1 write has a preflush"), "{notes:?}");
        assert!(notes[1].starts_with("2 requests have FUA"), "{notes:?}");
    }

    /// However a trim lies, its pieces cover it without gap or overlap, and are cut at multiples of
    /// 2 GiB only.
    #[test]
    fn a_long_trim_is_cut_where_no_page_is() {
        let mut rng = Rng::stream(45, "extra");
        for round in 0..500 {
            let size = (1 << 32) + rng.below(if round % 2 == 0 { 1 << 33 } else { 1 << 40 });
            let offset = rng.below(1 << 45);
            let first = first_piece(offset, size);
            let mut extras = Extras::default();
            let io = HostIo::trim(Nanos(1), offset, first);
            let extra = Extra { more: size - u64::from(first), ..Extra::NONE };
            let pieces = requests(&mut extras, io, extra);
            assert_eq!(pieces.len() as u64, extras.added + 1);
            let mut end = offset;
            for piece in &pieces {
                assert!(piece.op == HostOp::Trim && piece.offset == end && piece.size > 0);
                end += u64::from(piece.size);
                assert!(end == offset + size || end % PIECE == 0, "seed 45, round {round}");
            }
            assert_eq!(end, offset + size, "seed 45, round {round}");
            let said = format!("replayed in {} pieces", pieces.len());
            assert!(extras.notes()[0].contains(&said), "{:?}", extras.notes());
        }
    }
}
