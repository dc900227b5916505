//! Compares the fast decoder of plain lines with the full decoder.

use super::*;
use crate::Format;
use crate::decode::{Decoded, decode_lone, decode_wider};
use crate::formats::{TraceFormat, each_format};
use crate::number::unsigned;
use crate::optional_column::OptionalColumn;
use crate::record::in_time;
use fowler_units::Rng;

#[test]
fn a_field_ends_at_the_first_byte_that_is_none_of_its() {
    for (byte, ends) in (0..=255).map(|byte: u8| (byte, byte <= b' ')) {
        for (at, behind) in (0..8).flat_map(|at| [b'a', b' ', b',', 0xff].map(|b| (at, b))) {
            let mut text = [behind; 8];
            text[..at].fill(b'x');
            text[at] = byte;
            let later = (behind <= b' ' && at < 7).then_some(at + 1);
            let found = if ends { Some(at) } else { later };
            assert_eq!(end_of_field::<false>(&text), found, "{text:?}");
            let later = ((behind <= b' ' || behind == b',') && at < 7).then_some(at + 1);
            let found = if ends || byte == b',' { Some(at) } else { later };
            assert_eq!(end_of_field::<true>(&text), found, "{text:?}");
        }
    }
}

#[test]
fn numbers_are_read_up_to_the_last_that_always_fits() {
    let text = b"9999999999999999999,0000000";
    for from in 0..19 {
        let digits = &text[from..19];
        assert_eq!(number(&text[from..]), (unsigned(digits).unwrap(), digits.len()));
    }
    assert_eq!(number(b"10000000000000000000,0000000").1, 0, "20 digits");
    assert_eq!(number(b"1234567").1, 0, "no eight bytes");
    for other in [b'/', b':', b'\0', b'\n', 0x80, 0xb0, 0xff] {
        for behind in [b'0', b'9', b'/', b':', 0xff] {
            let text = [b'4', b'2', other, behind, behind, behind, behind, behind];
            assert_eq!(number(&text), (42, 2), "{text:?}");
            assert_eq!(number(&text[2..]).1, 0);
            assert_eq!(number(&[&text[2..], b"00"].concat()).1, 0);
        }
    }
}

/// Returns how [`Plain`] decodes a line, and where the next line begins.
fn plain<F: TraceFormat, const COMMA: bool>(
    text: &[u8],
    optional: &[OptionalColumn],
) -> Option<Vec<u8>> {
    let mut columns = Plain::<COMMA>::of(text);
    let decoded = if optional.is_empty() {
        F::decode(&mut columns)
    } else {
        F::decode_wider(&mut columns, optional)
    };
    let said = match decoded {
        Ok(record) if in_time::<F>(&record) => {
            format!("{record:?} {:?} {}", columns.host(), columns.forced)
        }
        Err(NotPlain::OtherEvent(kind)) => format!("{} {kind}", Cause::OtherEvent),
        _ => return None,
    };
    let next = columns.next_line()?.len();
    Some([said.as_bytes(), b" ", &text[..text.len() - next]].concat())
}

/// Returns how [`Fields`] decodes a line.
fn exact<F: TraceFormat>(
    format: Format,
    text: &[u8],
    optional: &[OptionalColumn],
) -> Option<Vec<u8>> {
    let end = text.iter().position(|&byte| byte == b'\n')?;
    let line = text[..end].strip_suffix(b"\r").unwrap_or(&text[..end]);
    let decoded = if optional.is_empty() {
        decode_lone::<F>(line)
    } else {
        decode_wider(format, line, optional)
    };
    let said = match decoded {
        Ok(Decoded { record, host, extra }) => {
            assert_eq!(extra, Extra { forced: extra.forced, ..Extra::NONE }, "one request");
            format!("{record:?} {host:?} {}", extra.forced)
        }
        Err(Fault { cause, kind, .. }) => format!("{cause} {kind}"),
    };
    Some([said.as_bytes(), b" ", &text[..=end]].concat())
}

/// If [`Plain`] accepts a randomly damaged line, [`Fields`] decodes it to the same record.
fn damaged(format: Format, lines: &[&str], optional: &[OptionalColumn]) {
    let mut rng = Rng::stream(6, "plain");
    let bytes = b"0123456789,. \t\r\n\x0c\x0b-+RWrwQFxa\0\xff";
    let mut plain_ones = 0;
    for round in 0..40_000 {
        let first = lines[round % lines.len()];
        let mut text = format!("{first}\n{}\n0,0,0,0,0,0,0 0 0 0", lines[0]).into_bytes();
        for _ in 0..rng.below(4) {
            let at = rng.below(first.len() as u64 + 2) as usize;
            let byte = bytes[rng.below(bytes.len() as u64) as usize];
            match rng.below(3) {
                0 => text[at] = byte,
                1 => text.insert(at, byte),
                _ => drop(text.remove(at)),
            }
        }
        each_format!(format, F => {
            let found = if F::COMMAS {
                plain::<F, true>(&text, optional)
            } else {
                plain::<F, false>(&text, optional)
            };
            if found.is_some() {
                plain_ones += 1;
                let due = exact::<F>(format, &text, optional);
                assert_eq!(found, due, "{format}: {}", text.escape_ascii());
            }
        });
    }
    assert!(plain_ones > 10_000, "{format}: {plain_ones}");
}

#[test]
fn what_is_plain_is_exact() {
    for &format in Format::ALL {
        if each_format!(format, F => F::STATEFUL || F::BINARY.is_some()) {
            continue;
        }
        let text = str::from_utf8(format.example()).unwrap();
        let lines = text.lines().skip(usize::from(format.header().is_some()));
        damaged(format, &lines.collect::<Vec<_>>(), &[]);
    }
}

#[test]
fn what_is_plain_is_exact_with_optional_columns() {
    let optional = OptionalColumn::named(b",queue,placement,deadline_ns").unwrap();
    let lines = [
        "0,read,0,4096,65535,254,1000",
        "7,write,4096,512,,,",
        "7,trim,0,8192,3,,9223372036854775807",
        "9,flush,0,0,,7,",
    ];
    damaged(Format::Native, &lines, &optional);
}
