//! Copies a stream that may have no end, such as standard input, while it is read as a trace. The
//! copy ends with the last request that is needed or with the first line that is none, so that a
//! stream without an end fills no disk.

use super::TraceReader;
use crate::source::{self, Text};
use crate::{DeviceChoice, ReadOptions, TraceError};
use std::io::{self, BufRead, Read, Write};

/// Length and number of requests of the copy that is made of a trace read from a stream, such as
/// standard input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TraceCopy {
    /// Number of bytes, from the beginning of the copied trace, that hold the requests to replay:
    /// all of it, or up to the end of the last request. The caller cuts off the rest of the copy.
    pub length: u64,
    /// Number of requests in the first `length` bytes of the copy of a trace that is read from a
    /// stream.
    pub requests: u64,
}

/// A reader that copies all bytes read from a text to `W`.
struct Copied<W> {
    text: Text,
    to: W,
}

impl<W: Write> Read for Copied<W> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        let count = self.text.read(into)?;
        self.to.write_all(&into[..count])?;
        Ok(count)
    }
}

/// Copies the text of a stream to `to`, decompressed, while reading it as a trace with `options`.
/// With a `limit`, stops after that many requests, except that devices in a common address space
/// need the whole stream. The device is selected when the copy is read.
///
/// The length of the copy follows from the stream and the limit, not from the pieces in which the
/// stream arrives.
///
/// # Errors
/// If the format cannot be determined, a line is no record, or reading or copying fails. Nothing is
/// read after the first bad line, so no other is reported.
pub fn copy_stream(
    name: &str,
    stream: Box<dyn BufRead + Send>,
    options: &ReadOptions,
    limit: Option<u64>,
    to: impl Write + Send + 'static,
) -> Result<TraceCopy, TraceError> {
    let limit = limit.filter(|_| options.device != DeviceChoice::SideBySide);
    let device = match options.device {
        DeviceChoice::Only(device) => DeviceChoice::Only(device),
        DeviceChoice::Default | DeviceChoice::Each | DeviceChoice::SideBySide => DeviceChoice::Each,
    };
    let (text, _) = source::unpack(name, stream)?;
    let options = ReadOptions { device, ..options.clone() };
    let mut reader = TraceReader::of(name, Box::new(Copied { text, to }), &options)?;
    reader.ends_at_fault = true;
    let mut requests = 0;
    while limit.is_none_or(|limit| requests < limit) {
        match reader.next().transpose()? {
            Some(_) => requests += 1,
            None => break,
        }
    }
    Ok(TraceCopy { length: reader.intake.position(), requests })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Format;
    use std::io::BufReader;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Sink(Arc<Mutex<Vec<u8>>>);

    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A text that repeats endlessly, returned in pieces of a given size.
    struct Endless {
        text: Vec<u8>,
        at: usize,
        size: usize,
    }

    impl Read for Endless {
        fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
            let left = &self.text[self.at % self.text.len()..];
            let count = left.len().min(self.size).min(into.len());
            into[..count].copy_from_slice(&left[..count]);
            self.at += count;
            Ok(count)
        }
    }

    fn copy(
        text: &str,
        size: usize,
        options: &ReadOptions,
        limit: Option<u64>,
    ) -> (Result<TraceCopy, TraceError>, Vec<u8>) {
        let stream = BufReader::new(Endless { text: text.as_bytes().to_vec(), at: 0, size });
        let sink = Sink::default();
        let copied = copy_stream("endless", Box::new(stream), options, limit, sink.clone());
        let bytes = sink.0.lock().unwrap().clone();
        (copied, bytes)
    }

    /// Requests of the copy, read as a file of its own.
    fn requests(bytes: &[u8], options: &ReadOptions, limit: usize) -> Vec<fowler_units::HostIo> {
        let stream = Box::new(io::Cursor::new(bytes.to_vec()));
        let reader = TraceReader::from_stream("copy", stream, options).unwrap();
        reader.take(limit).map(|request| request.expect("the copy is whole")).collect()
    }

    #[test]
    fn a_limit_ends_an_endless_stream_at_the_same_byte_however_it_comes() {
        // All at one time, because repeated times would run backwards.
        let spc = "0,303567,3584,w,0.5\n1,1209856,3072,R,0.5\n\n0,1209856,512,r,0.5\n";
        let events = "8,0 0 1 0.5 9 G R 8 + 8 [x]\n8,0 0 1 0.5 9 Q R 8 + 8 [x]\n";
        for (text, device) in
            [(spc, DeviceChoice::Each), (spc, DeviceChoice::Only(1)), (events, DeviceChoice::Each)]
        {
            let options = ReadOptions { device, reorder_window: 64, ..ReadOptions::default() };
            for limit in [1, 2, 127, 128, 129, 5000] {
                let mut lengths = Vec::new();
                for size in [7, 1000, 1 << 20] {
                    let (copied, bytes) = copy(text, size, &options, Some(limit));
                    let copied = copied.unwrap_or_else(|error| panic!("{device:?}: {error}"));
                    assert_eq!(copied.requests, limit);
                    let whole = &bytes[..usize::try_from(copied.length).unwrap()];
                    assert!(whole.ends_with(b"\n"), "{device:?} {limit} {size}");
                    assert_eq!(requests(whole, &options, limit as usize).len() as u64, limit);
                    lengths.push(copied.length);
                }
                assert!(lengths.iter().all(|it| *it == lengths[0]), "{limit}: {lengths:?}");
            }
        }
    }

    #[test]
    fn the_first_impossible_record_ends_an_endless_stream() {
        let options = ReadOptions { format: Some(Format::Spc), ..ReadOptions::default() };
        let text = "0,303567,3584,w,0.000000\nrubbish\n";
        let (copied, bytes) = copy(text, 1000, &options, None);
        let said = copied.unwrap_err().to_string();
        assert!(said.contains("endless:2") && said.contains("rubbish"), "{said}");
        assert!(bytes.len() < 1 << 20, "{}", bytes.len());
        let (copied, bytes) = copy("y\n", 1 << 16, &ReadOptions::default(), None);
        assert!(copied.unwrap_err().to_string().contains("none fits"));
        assert!(bytes.len() < 1 << 20, "{}", bytes.len());
    }
}
