//! A CSV line for every request: time, operation, latency, and the parts of the latency to the
//! nanosecond.

use fowler_device::blame::Part;
use fowler_device::{Completion, Layer, Probe};
use std::io::{self, Write};

/// Capacity in bytes of the buffer for a CSV line of the request log: the operation's name, and
/// numbers of at most 20 digits with commas (ID, offset, size, arrival, completion, latency, and
/// the time of each cause).
const LINE_CAPACITY: usize = 16 + (6 + Part::COUNT) * 21;

/// Writes every completion as a CSV line, in order of completion. `id` counts completions from 0.
///
/// A probe cannot fail, so the first write error is stored, writing stops, and
/// [`RequestLog::finish`] returns the error.
#[derive(Debug)]
pub struct RequestLog<W: Write> {
    writer: W,
    line: Vec<u8>,
    next: u64,
    error: Option<io::Error>,
}

impl<W: Write> RequestLog<W> {
    /// Starts a log of requests with its header line. `writer` should be buffered.
    pub fn new(mut writer: W) -> io::Result<Self> {
        let columns: Vec<String> =
            Part::ALL.iter().map(|part| format!("{}_ns", part.name())).collect();
        writeln!(writer, "id,op,offset,size,at_ns,done_ns,latency_ns,{}", columns.join(","))?;
        Ok(Self { writer, line: Vec::with_capacity(LINE_CAPACITY), next: 0, error: None })
    }

    /// Writes the lines of the request log that are still buffered, and returns the first write
    /// error, if any.
    pub fn finish(mut self) -> io::Result<W> {
        match self.error.take() {
            Some(error) => Err(error),
            None => {
                self.writer.flush()?;
                Ok(self.writer)
            }
        }
    }

    fn write_line(&mut self, completion: &Completion) -> io::Result<()> {
        let mut digits = itoa::Buffer::new();
        let io = &completion.io;
        self.line.clear();
        self.line.extend_from_slice(digits.format(self.next).as_bytes());
        self.line.push(b',');
        self.line.extend_from_slice(io.op.word().as_bytes());
        let latency = completion.latency().0;
        for value in [io.offset, u64::from(io.size), io.at.0, completion.done.0, latency] {
            self.line.push(b',');
            self.line.extend_from_slice(digits.format(value).as_bytes());
        }
        for part in completion.blame.parts() {
            self.line.push(b',');
            self.line.extend_from_slice(digits.format(part.0).as_bytes());
        }
        self.line.push(b'\n');
        self.next += 1;
        self.writer.write_all(&self.line)
    }

    /// Writes the line of a completed request, unless an earlier line could not be written.
    pub fn add(&mut self, completion: &Completion) {
        if self.error.is_none() {
            self.error = self.write_line(completion).err();
        }
    }
}

impl<L: Layer, W: Write> Probe<L> for RequestLog<W> {
    fn completed(&mut self, completion: &Completion) {
        self.add(completion);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_device::blame::Blame;
    use fowler_units::{HostIo, Nanos, ReqId, Span};

    fn completion() -> Completion {
        let mut blame = Blame::default();
        blame[Part::Sense] = Span::us(25);
        blame[Part::Transfer] = Span::us(40);
        Completion {
            io: HostIo::read(Nanos(1000), 4096, 512),
            id: ReqId(3),
            done: Nanos(66_000),
            blame,
        }
    }

    #[test]
    fn a_line_has_every_column() {
        let mut log = RequestLog::new(Vec::new()).unwrap();
        log.add(&completion());
        log.add(&completion());
        let text = String::from_utf8(log.finish().unwrap()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 3);
        assert!(lines[0].starts_with("id,op,offset,size,at_ns,done_ns,latency_ns,host_link_ns,"));
        assert_eq!(lines[0].split(',').count(), 7 + Part::COUNT);
        let facts: Vec<_> = lines[2].split(',').take(7).collect();
        assert_eq!(facts, ["1", "read", "4096", "512", "1000", "66000", "65000"]);
        for (part, value) in Part::ALL.into_iter().zip(lines[2].split(',').skip(7)) {
            assert_eq!(value, completion().blame[part].0.to_string(), "{part:?}");
        }
    }

    #[test]
    fn the_longest_line_fits_without_growing() {
        let mut longest = completion();
        longest.io = HostIo::write(Nanos(0), u64::MAX, u32::MAX);
        longest.done = Nanos(u64::MAX);
        for part in Part::ALL {
            longest.blame[part] = Span(u64::MAX);
        }
        let mut log = RequestLog::new(io::sink()).unwrap();
        log.next = u64::MAX - 1;
        log.add(&longest);
        assert_eq!(log.line.capacity(), LINE_CAPACITY);
    }

    /// A disk that is full from the second write on.
    struct Full(u32);

    impl Write for Full {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0 += 1;
            if self.0 > 1 { Err(io::ErrorKind::StorageFull.into()) } else { Ok(bytes.len()) }
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_full_disk_is_reported_at_the_end() {
        let mut log = RequestLog::new(io::BufWriter::with_capacity(600, Full(0))).unwrap();
        for _ in 0..20 {
            log.add(&completion());
        }
        assert_eq!(log.finish().err().map(|e| e.kind()), Some(io::ErrorKind::StorageFull));
    }
}
