//! Requests that follow the first one of a trace line: the write after its preflush, and the
//! further pieces of a trim longer than one request can be.

use crate::Record;
use crate::extra::{Extra, first_piece};
use fowler_units::{HostIo, HostOp};

/// Requests of the last trace line that are still to be returned, and how many lines so far asked
/// for additional requests or flags (flush before a write, forced unit access, zeroes, long trims).
#[derive(Debug, Default)]
pub(crate) struct Pending {
    /// The next request of the line read last, and the length that its trim has left, in bytes.
    next: Option<(Record, u64)>,
    /// Number of requests so far beyond the first of each trace line: some lines give several, such
    /// as a preflush and a write.
    pub added: u64,
    /// Number of requests with forced unit access so far.
    pub forced: u64,
    preflushes: u64,
    zeroes: u64,
    /// Number of trims so far that were cut into pieces because of their length.
    cut: u64,
    pieces: u64,
}

impl Pending {
    /// Returns the first request of a trace line that asks for one or more requests;
    /// [`Pending::next`] returns the others.
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

    /// Returns the next request of the trace line read last, if the line asks for more.
    #[inline]
    pub fn next(&mut self) -> Option<Record> {
        let (record, more) = self.next.take()?;
        self.next = behind(record, more);
        self.added += 1;
        // A write after its preflush is not a piece of a trim.
        self.pieces += u64::from(record.io.op == HostOp::Trim);
        Some(record)
    }

    /// Drops the requests of the trace line read last that were not returned yet.
    pub fn drop_rest(&mut self) {
        self.next = None;
    }

    /// Returns the notes on preflushes, forced unit access and trims in the lines read so far.
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
                "1 request has FUA (forced unit access), which simulated drives do not support: \
                    it is replayed without it",
                "requests have FUA (forced unit access), which simulated drives do not support: \
                    they are replayed without it",
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

/// Returns the piece of a trim that follows the piece `record`, and the length left after it, in
/// bytes; `None` at the end of the trim.
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
    use crate::extra::PIECE;
    use fowler_units::{Nanos, Rng};

    fn requests(pending: &mut Pending, io: HostIo, extra: Extra) -> Vec<HostIo> {
        let first = pending.first(Record { device: 3, io }, extra);
        let mut all = vec![first];
        all.extend(std::iter::from_fn(|| pending.next()));
        assert!(all.iter().all(|it| it.device == 3 && it.io.at == io.at));
        all.iter().map(|it| it.io).collect()
    }

    #[test]
    fn a_preflush_is_a_flush_before_the_write() {
        let mut pending = Pending::default();
        let (at, write) = (Nanos(7), HostIo::write(Nanos(7), 512, 512));
        assert_eq!(requests(&mut pending, write, Extra::NONE), [write]);
        assert_eq!((pending.added, pending.notes().len()), (0, 0));
        let both = Extra { preflush: true, forced: true, ..Extra::NONE };
        assert_eq!(requests(&mut pending, write, both), [HostIo::flush(at), write]);
        let forced = Extra { forced: true, ..Extra::NONE };
        assert_eq!(requests(&mut pending, write, forced), [write]);
        let notes = pending.notes();
        assert_eq!((pending.added, notes.len()), (1, 2));
        assert!(notes[0].starts_with("1 write has a preflush"), "{notes:?}");
        assert!(notes[1].starts_with("2 requests have FUA"), "{notes:?}");
    }

    /// Wherever a trim lies, its pieces cover it without gap or overlap and are cut only at
    /// multiples of 2 GiB.
    #[test]
    fn a_long_trim_is_cut_where_no_page_is() {
        let mut rng = Rng::stream(45, "pending");
        for round in 0..500 {
            let size = (1 << 32) + rng.below(if round % 2 == 0 { 1 << 33 } else { 1 << 40 });
            let offset = rng.below(1 << 45);
            let first = first_piece(offset, size);
            let mut pending = Pending::default();
            let io = HostIo::trim(Nanos(1), offset, first);
            let extra = Extra { more: size - u64::from(first), ..Extra::NONE };
            let pieces = requests(&mut pending, io, extra);
            assert_eq!(pieces.len() as u64, pending.added + 1);
            let mut end = offset;
            for piece in &pieces {
                assert!(piece.op == HostOp::Trim && piece.offset == end && piece.size > 0);
                end += u64::from(piece.size);
                assert!(
                    end == offset + size || end.is_multiple_of(PIECE),
                    "seed 45, round {round}"
                );
            }
            assert_eq!(end, offset + size, "seed 45, round {round}");
            let said = format!("replayed in {} pieces", pieces.len());
            assert!(pending.notes()[0].contains(&said), "{:?}", pending.notes());
        }
    }
}
