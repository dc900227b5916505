//! The letters by which the kernel, blkparse and the tools of BPF name an operation: `R`, `WS`,
//! `FWFSM`.
//!
//! Source: `blk_fill_rwbs` in the kernel's `blktrace.c`, and `fill_rwbs` in `blkparse_fmt.c`. An
//! `F` in front is a preflush, the next letter is the operation, an `F` behind it is forced unit
//! access (FUA); `A`, `S`, `M` and `U` (read-ahead, synchronous, metadata, atomic) change nothing
//! here.

use fowler_units::HostOp;

/// Operation for which the letters that Linux prints (rwbs: `R`, `WS`, `FWFSM`) stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rwbs {
    /// The kernel's letters for an operation (rwbs) stand for a request of this kind, with the
    /// flags that they contain.
    Request {
        op: HostOp,
        /// True if a flush comes before the request.
        preflush: bool,
        /// True for a request with forced unit access.
        forced: bool,
        /// True for a command that writes zeroes, here a trim.
        zeroes: bool,
    },
    /// An operation that is skipped: neither read, write, discard nor flush (passthrough commands
    /// and, on most kernels, commands that write zeroes).
    None,
    /// A zone command, or a write that the drive places within a zone (zone append).
    Zone,
}

/// Letters that the operation column of a kernel trace accepts, for messages.
pub(super) const EXPECTED: &str = "R, W, D or N, optionally after an F";

/// Returns the operation for which the letters that Linux prints (rwbs, such as `R` or `FWFSM`)
/// stand; `None` if these are no such letters.
#[inline]
pub(crate) fn parse(letters: &[u8]) -> Option<Rwbs> {
    if !letters.iter().all(u8::is_ascii_uppercase) {
        return None;
    }
    // An `F` alone, or before flags, is the flush itself.
    let (preflush, rest) = match letters {
        [b'F', b'R' | b'W' | b'D' | b'N' | b'F' | b'Z', ..] => (true, &letters[1..]),
        letters => (false, letters),
    };
    let (op, zeroes, flags) = match rest {
        [b'R', flags @ ..] => (HostOp::Read, false, flags),
        [b'W', b'Z', flags @ ..] => (HostOp::Trim, true, flags),
        [b'W', flags @ ..] => (HostOp::Write, false, flags),
        [b'D', b'E', flags @ ..] | [b'D', flags @ ..] => (HostOp::Trim, false, flags),
        [b'F', flags @ ..] => (HostOp::Flush, false, flags),
        // A flush without data, as blkparse prints it.
        [b'N', flags @ ..] if preflush => (HostOp::Flush, false, flags),
        [b'N', ..] => return Some(Rwbs::None),
        [b'Z', ..] => return Some(Rwbs::Zone),
        _ => return None,
    };
    let forced = flags.first() == Some(&b'F') && op != HostOp::Flush;
    Some(Rwbs::Request { op, preflush: preflush && op != HostOp::Flush, forced, zeroes })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_are_an_operation_between_flags() {
        let plain = |op| Rwbs::Request { op, preflush: false, forced: false, zeroes: false };
        let write = |preflush, forced| {
            Some(Rwbs::Request { op: HostOp::Write, preflush, forced, zeroes: false })
        };
        for (letters, meant) in [
            ("R", Some(plain(HostOp::Read))),
            ("RA", Some(plain(HostOp::Read))),
            ("RSM", Some(plain(HostOp::Read))),
            ("W", write(false, false)),
            ("WS", write(false, false)),
            ("WSMU", write(false, false)),
            ("WFS", write(false, true)),
            ("FWS", write(true, false)),
            ("FWFSM", write(true, true)),
            ("D", Some(plain(HostOp::Trim))),
            ("DS", Some(plain(HostOp::Trim))),
            ("DE", Some(plain(HostOp::Trim))),
            ("F", Some(plain(HostOp::Flush))),
            ("FF", Some(plain(HostOp::Flush))),
            ("FS", Some(plain(HostOp::Flush))),
            ("FN", Some(plain(HostOp::Flush))),
            ("N", Some(Rwbs::None)),
            ("NS", Some(Rwbs::None)),
            ("ZA", Some(Rwbs::Zone)),
            ("ZRA", Some(Rwbs::Zone)),
            ("", None),
            ("X", None),
            ("r", None),
            ("W#", None),
        ] {
            assert_eq!(parse(letters.as_bytes()), meant, "{letters}");
        }
        let zeroes =
            Some(Rwbs::Request { op: HostOp::Trim, preflush: false, forced: true, zeroes: true });
        assert_eq!(parse(b"WZF"), zeroes);
    }
}
