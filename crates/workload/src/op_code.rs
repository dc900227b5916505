//! Decodes the operation column of a CSV or the operation key of JSON lines: words, the kernel's
//! letters, or 0 and 1.

use crate::Cause;
use crate::columns::Columns;
use crate::extra::Extra;
use crate::fields::Fault;
use crate::formats::rwbs::{self, Rwbs};
use crate::left_out_events::{Kind, NEITHER, NamedKind, ZONE};
use fowler_units::HostOp;

/// Notation in which a column gives the operation of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum OpCode {
    /// Operations are words, such as `read`, or the letters that Linux prints for them (rwbs), such
    /// as `WS`.
    Words,
    /// Numbers or booleans: 1 or true is a read, 0 or false a write.
    OneReads,
    /// Numbers or booleans: 0 or false is a read, 1 or true a write.
    ZeroReads,
}

/// Meaning of a text in an operation column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// The text names a request; also the flags and further requests that it asks for.
    Request(HostOp, Extra),
    /// The text names an event that is skipped, not a request: the number of the event's kind, its
    /// position in [`LEFT_OUT`] counted from 1.
    LeftOut(Kind),
}

/// Kinds of events that are skipped if the operation is given by the letters of Linux (rwbs):
/// requests that neither read, write, discard nor flush, and commands for zones.
pub(crate) const LEFT_OUT: &[NamedKind] = &[NEITHER, ZONE];

/// Words that [`OpCode::Words`] accepts, in upper or lower case.
const WORDS: &[(&str, HostOp)] = &[
    ("r", HostOp::Read),
    ("read", HostOp::Read),
    ("w", HostOp::Write),
    ("write", HostOp::Write),
    ("t", HostOp::Trim),
    ("trim", HostOp::Trim),
    ("d", HostOp::Trim),
    ("discard", HostOp::Trim),
    ("f", HostOp::Flush),
    ("flush", HostOp::Flush),
];

/// Returns true if a field has the form of the letters that Linux prints for an operation (rwbs):
/// an F that is a preflush, the operation, an F that is forced unit access, and at most four of A,
/// S, M and U.
fn is_rwbs(field: &[u8]) -> bool {
    let without = |letters: &'_ [u8], letter| usize::from(letters.first() == Some(&letter));
    let mut rest = field;
    if field.len() > 1 && matches!(field[1], b'R' | b'W' | b'D' | b'F' | b'N') {
        rest = &rest[without(rest, b'F')..];
    }
    rest = match rest {
        [b'W', b'Z', flags @ ..] | [b'D', b'E', flags @ ..] => flags,
        [b'R' | b'W' | b'D' | b'F' | b'N', flags @ ..] => flags,
        [b'Z', b'A' | b'C' | b'F' | b'O' | b'R' | b'S', flags @ ..] => flags,
        _ => return false,
    };
    rest = &rest[without(rest, b'F')..];
    rest.len() <= 4 && rest.iter().all(|letter| b"ASMU".contains(letter))
}

/// Returns the operation for which the letters that Linux prints (rwbs, such as `WS`) stand; `None`
/// if these are no such letters.
fn of_rwbs(field: &[u8]) -> Option<Meant> {
    Some(match rwbs::parse(field).filter(|_| is_rwbs(field))? {
        Rwbs::Request { op, preflush, forced, zeroes } => {
            Meant::Request(op, Extra { preflush, forced, zeroes, more: 0 })
        }
        Rwbs::None => Meant::LeftOut(1),
        Rwbs::Zone => Meant::LeftOut(2),
    })
}

/// Returns the truth value of a field: 1 and 0, or as JSON and Python write it.
fn truth(field: &[u8]) -> Option<bool> {
    let is = |word: &str| field.eq_ignore_ascii_case(word.as_bytes());
    match field {
        b"1" => Some(true),
        b"0" => Some(false),
        _ if is("true") => Some(true),
        _ if is("false") => Some(false),
        _ => None,
    }
}

impl OpCode {
    /// Returns the meaning of an operation field; `None` if it has none.
    pub fn meaning(self, field: &[u8]) -> Option<Meant> {
        let plain = |op| Some(Meant::Request(op, Extra::NONE));
        match (self, field) {
            (OpCode::OneReads | OpCode::ZeroReads, field) => {
                let reads = truth(field)? == (self == OpCode::OneReads);
                plain(if reads { HostOp::Read } else { HostOp::Write })
            }
            (OpCode::Words, field) => {
                let is = |word: &str| field.eq_ignore_ascii_case(word.as_bytes());
                let known = WORDS.iter().find(|(word, _)| is(word));
                known.map_or_else(|| of_rwbs(field), |&(_, op)| plain(op))
            }
        }
    }

    /// Returns the operation that a field names and the flags and further requests that it asks
    /// for, or the fault of a field that means no request.
    pub fn read<'a, C: Columns<'a>>(self, field: &'a [u8]) -> Result<(HostOp, Extra), C::Fault> {
        match self.meaning(field) {
            Some(Meant::Request(op, extra)) => Ok((op, extra)),
            Some(Meant::LeftOut(kind)) => Err(C::fault(Fault::left_out(kind, "op", field))),
            None => {
                let fault = Fault::new(Cause::UnknownOp, "op", field);
                Err(C::fault(Fault { expected: self.expected(), ..fault }))
            }
        }
    }

    /// Returns the operation of a field; `None` if the field means no request.
    pub fn op(self, field: &[u8]) -> Option<HostOp> {
        match self.meaning(field)? {
            Meant::Request(op, _) => Some(op),
            Meant::LeftOut(_) => None,
        }
    }

    /// Describes the texts that an operation column accepts, for messages.
    pub fn expected(self) -> &'static str {
        match self {
            OpCode::Words => {
                "r, read, w, write, t, trim, d, discard, f or flush; the kernel's letters such as WS"
            }
            OpCode::OneReads => "1 or true (read), 0 or false (write)",
            OpCode::ZeroReads => "0 or false (read), 1 or true (write)",
        }
    }
}

/// Returns the operation that is replayed: a write of zero bytes with a preflush becomes a flush.
pub(crate) fn as_replayed(op: HostOp, extra: Extra, size: u64) -> (HostOp, Extra) {
    if extra.preflush && size == 0 { (HostOp::Flush, Extra::NONE) } else { (op, extra) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_of_the_kernel_keep_their_flags() {
        let request = |op, preflush, forced| {
            Some(Meant::Request(op, Extra { preflush, forced, ..Extra::NONE }))
        };
        for (field, meant) in [
            ("write", request(HostOp::Write, false, false)),
            ("RA", request(HostOp::Read, false, false)),
            ("RSM", request(HostOp::Read, false, false)),
            ("WFS", request(HostOp::Write, false, true)),
            ("FWS", request(HostOp::Write, true, false)),
            ("FWFSM", request(HostOp::Write, true, true)),
            ("DS", request(HostOp::Trim, false, false)),
            ("FF", request(HostOp::Flush, false, false)),
            ("FN", request(HostOp::Flush, false, false)),
            ("N", Some(Meant::LeftOut(1))),
            ("ZR", Some(Meant::LeftOut(2))),
            ("RANDOM", None),
            ("DREAM", None),
            ("WD", None),
            ("FX", None),
            ("ws", None),
            ("NS", Some(Meant::LeftOut(1))),
            ("Q", None),
            ("Z", None),
            ("", None),
        ] {
            assert_eq!(OpCode::Words.meaning(field.as_bytes()), meant, "{field}");
        }
        assert_eq!(OpCode::OneReads.meaning(b"R"), None);
        let plain = |op| request(op, false, false);
        assert_eq!(OpCode::OneReads.meaning(b"True"), plain(HostOp::Read));
        assert_eq!(OpCode::OneReads.meaning(b"false"), plain(HostOp::Write));
        assert_eq!(OpCode::ZeroReads.meaning(b"TRUE"), plain(HostOp::Write));
        assert_eq!(OpCode::ZeroReads.meaning(b"0"), plain(HostOp::Read));
        let preflush = Extra { preflush: true, ..Extra::NONE };
        assert_eq!(as_replayed(HostOp::Write, preflush, 0), (HostOp::Flush, Extra::NONE));
        assert_eq!(as_replayed(HostOp::Write, preflush, 8), (HostOp::Write, preflush));
    }
}
