//! Opens the text of a trace, a file or a stream, and decompresses it if its first bytes are the
//! magic number of zstd (28 B5 2F FD, RFC 8878) or gzip (1F 8B, RFC 1952).

use crate::TraceError;
use crate::standard_input::trace_name;
use fowler_units::Diagnostic;
use std::fs::File;
use std::io::{BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of bytes that are read from a trace file at once, before decompression.
const CHUNK: usize = 1 << 18;

/// A stream of the decompressed text of a trace.
pub(crate) type Text = Box<dyn Read + Send>;

/// Magic numbers of files that are not text and cannot be decompressed here, each with a name and a
/// hint.
const OTHER_FILES: &[(&[u8], &str, &str)] = &[
    (
        b"\xfd7zXZ\0",
        "packed with xz",
        "decompress the file, or compress it with zstd or gzip instead",
    ),
    (b"BZh", "packed with bzip2", "decompress the file, or compress it with zstd or gzip instead"),
    (b"PK\x03\x04", "a zip archive", "unpack it first"),
    (b"7z\xbc\xaf\x27\x1c", "a 7z archive", "unpack it first"),
    (
        b"\x04\x22\x4d\x18",
        "packed with lz4",
        "decompress the file, or compress it with zstd or gzip instead",
    ),
    (
        b"PAR1",
        "a Parquet file",
        "build the program with its Cargo feature `parquet`, or export CSV",
    ),
    (
        b"ARROW1",
        "an Arrow file",
        "build the program with its Cargo feature `parquet`, or export CSV",
    ),
    (b"\xff\xfe", "UTF-16 text", "convert it to UTF-8"),
    (b"\xfe\xff", "UTF-16 text", "convert it to UTF-8"),
];

/// Returns an I/O error as an error of the trace file.
pub(crate) fn io_error(file: &str, doing: &str, error: &std::io::Error) -> TraceError {
    TraceError::one(file, Diagnostic::of(format!("{doing} failed: {error}")))
}

/// Progress of reading a file, in bytes of the file as stored (compressed, if it is).
#[derive(Clone, Debug)]
pub struct ReadSoFar {
    bytes: Arc<AtomicU64>,
    /// Length of the trace file in bytes; `u64::MAX` for a pipe, which has none.
    all: u64,
    /// True if the file is compressed, so that its checksum is at its end.
    compressed: bool,
}

impl ReadSoFar {
    /// Returns how many bytes of a compressed file have been read, and how many are left; `None` if
    /// the file is not compressed.
    pub(crate) fn compressed(&self) -> Option<(u64, u64)> {
        let read = self.bytes.load(Ordering::Relaxed);
        self.compressed.then(|| (read, self.all.saturating_sub(read)))
    }

    /// Share of the file that has been read, from 0 to 1. A reader is up to a few hundred KiB ahead
    /// of its requests.
    pub fn share(&self) -> f64 {
        // An empty file counts as read.
        if self.all == 0 {
            return 1.0;
        }
        (self.bytes.load(Ordering::Relaxed) as f64 / self.all as f64).min(1.0)
    }
}

/// A trace file that counts the bytes read from it.
struct Counted {
    file: File,
    bytes: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, into: &mut [u8]) -> std::io::Result<usize> {
        let count = self.file.read(into)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// Opens a trace file, decompressing it on the fly.
pub(crate) fn open(path: &Path) -> Result<(Text, ReadSoFar), TraceError> {
    let name = trace_name(path);
    let file = File::open(path).map_err(|error| io_error(&name, "opening", &error))?;
    let facts = file.metadata().map_err(|error| io_error(&name, "opening", &error))?;
    if facts.is_dir() {
        return Err(TraceError::one(name, Diagnostic::of("this is a folder, not a trace file")));
    }
    let bytes = Arc::default();
    let counted = Counted { file, bytes: Arc::clone(&bytes) };
    let (text, compressed) = unpack(&name, Box::new(BufReader::with_capacity(CHUNK, counted)))?;
    let all = if facts.is_file() { facts.len() } else { u64::MAX };
    Ok((text, ReadSoFar { bytes, all, compressed }))
}

/// Rejects a blktrace file of one CPU if files of other CPUs lie beside it: it holds only a part of
/// the requests.
pub(crate) fn refuse_one_of_several(path: &Path) -> Result<(), TraceError> {
    let Some((stem, cpu)) = of_a_cpu(path) else { return Ok(()) };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
    let Ok(entries) = std::fs::read_dir(folder.unwrap_or(Path::new("."))) else { return Ok(()) };
    let others = entries.flatten().filter(|entry| {
        let other = of_a_cpu(&entry.path());
        let is_other = other.is_some_and(|(other, number)| other == stem && number != cpu);
        is_other && entry.metadata().is_ok_and(|facts| facts.len() > 0)
    });
    match others.count() {
        0 => Ok(()),
        others => {
            let what = format!(
                "this file holds the requests of CPU {cpu} only: blktrace wrote a file for each \
                 CPU, and {others} more of them are beside it"
            );
            let hint = format!("merge the files: blkparse -i {stem} -d {stem}.merged -O");
            Err(TraceError::one(path.display().to_string(), Diagnostic::of(what).hint(hint)))
        }
    }
}

/// Returns the name and the CPU of a file that blktrace named `NAME.blktrace.CPU`.
fn of_a_cpu(path: &Path) -> Option<(String, u32)> {
    let (stem, cpu) = path.file_name()?.to_str()?.rsplit_once(".blktrace.")?;
    Some((stem.to_string(), cpu.parse().ok()?))
}

/// Magic numbers of the compression formats that can be decompressed.
const ZSTD: &[u8] = b"\x28\xb5\x2f\xfd";
const GZIP: &[u8] = b"\x1f\x8b";

/// Decompresses `packed` if its first bytes are a known magic number; returns true if so.
pub(crate) fn unpack(
    name: &str,
    mut packed: Box<dyn BufRead + Send>,
) -> Result<(Text, bool), TraceError> {
    // A pipe may give one byte at a time.
    let mut head = Vec::new();
    let read = packed.by_ref().take(ZSTD.len() as u64).read_to_end(&mut head);
    read.map_err(|error| io_error(name, "reading", &error))?;
    let (zstd, gzip) = (head == ZSTD, head.starts_with(GZIP));
    let packed = Box::new(Cursor::new(head).chain(packed));
    if zstd {
        return Ok((unpack_zstd(name, packed)?, true));
    }
    if gzip {
        return Ok((Box::new(flate2::bufread::MultiGzDecoder::new(packed)), true));
    }
    Ok((packed, false))
}

#[cfg(feature = "zstd")]
fn unpack_zstd(name: &str, packed: Box<dyn BufRead + Send>) -> Result<Text, TraceError> {
    let unpacked = zstd::stream::read::Decoder::with_buffer(packed);
    Ok(Box::new(unpacked.map_err(|error| io_error(name, "decompressing zstd", &error))?))
}

#[cfg(not(feature = "zstd"))]
fn unpack_zstd(name: &str, _: Box<dyn BufRead + Send>) -> Result<Text, TraceError> {
    let what = "packed with zstd, which this program was built without";
    let hint = "unpack it with `zstd -d`, or build with the Cargo feature `zstd`";
    Err(TraceError::one(name, Diagnostic::of(what).hint(hint.to_string())))
}

/// Rejects data whose first bytes show that it is not text. Called after decompression.
pub(crate) fn refuse_other_files(name: &str, head: &[u8]) -> Result<(), TraceError> {
    let is_tar = head.get(257..262) == Some(b"ustar");
    let tar: &(&[u8], &str, &str) = &(b"", "a tar archive", "unpack it and read the files inside");
    let found = OTHER_FILES.iter().find(|(magic, _, _)| head.starts_with(magic));
    match found.or(is_tar.then_some(tar)) {
        None => Ok(()),
        Some((_, what, hint)) => {
            let what = format!("this is {what}, not a text trace");
            Err(TraceError::one(name, Diagnostic::of(what).hint(hint.to_string())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn text_of(packed: Vec<u8>) -> Result<String, String> {
        let mut text = String::new();
        let (mut source, _) = unpack("t", Box::new(Cursor::new(packed))).unwrap();
        source.read_to_string(&mut text).map_err(|error| error.to_string())?;
        Ok(text)
    }

    #[cfg(feature = "zstd")]
    #[test]
    fn zstd_is_unpacked_even_in_several_frames() {
        let zstd = zstd::encode_all(&b"1,2\n"[..], 1).unwrap();
        assert_eq!(text_of([zstd.clone(), zstd.clone()].concat()).unwrap(), "1,2\n1,2\n");
        assert!(text_of(zstd[..zstd.len() - 1].to_vec()).is_err(), "cut short");
    }

    #[cfg(not(feature = "zstd"))]
    #[test]
    fn zstd_is_refused_with_what_to_do() {
        let packed = Box::new(&b"\x28\xb5\x2f\xfd"[..]);
        let error = unpack("t.zst", packed).err().expect("nothing unpacks it").to_string();
        assert!(
            error.contains("t.zst: packed with zstd") && error.contains("`zstd -d`"),
            "{error}"
        );
    }

    #[test]
    fn packed_text_is_unpacked_even_in_several_frames() {
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(b"3,4\n").unwrap();
        let gzip = gzip.finish().unwrap();
        assert_eq!(text_of([gzip.clone(), gzip].concat()).unwrap(), "3,4\n3,4\n");
        assert_eq!(text_of(b"5,6\n".to_vec()).unwrap(), "5,6\n");
        assert_eq!(text_of(Vec::new()).unwrap(), "");
    }

    #[test]
    fn a_file_of_one_cpu_of_several_is_refused() {
        let folder = std::env::temp_dir().join(format!("fowler-cpus-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = |name: &str| folder.join(name);
        std::fs::write(path("sda.blktrace.0"), "x").unwrap();
        std::fs::write(path("sda.blktrace.1"), "").unwrap();
        std::fs::write(path("sdb.blktrace.1"), "x").unwrap();
        assert_eq!(refuse_one_of_several(&path("sda.blktrace.0")), Ok(()), "the other is empty");
        std::fs::write(path("sda.blktrace.3"), "x").unwrap();
        let error = refuse_one_of_several(&path("sda.blktrace.0")).unwrap_err().to_string();
        assert!(error.contains("of CPU 0 only") && error.contains("1 more"), "{error}");
        assert!(error.contains("blkparse -i sda -d sda.merged"), "{error}");
        assert_eq!(refuse_one_of_several(&path("sdb.blktrace.1")), Ok(()));
        assert_eq!(refuse_one_of_several(Path::new("sda.blktrace")), Ok(()));
        std::fs::remove_dir_all(&folder).unwrap();
    }

    #[test]
    fn what_is_no_text_is_named() {
        let error = refuse_other_files("t", b"PK\x03\x04....").unwrap_err().to_string();
        assert!(error.contains("a zip archive") && error.contains("unpack it"), "{error}");
        let mut tar = vec![0; 512];
        tar[257..262].copy_from_slice(b"ustar");
        assert!(refuse_other_files("t", &tar).unwrap_err().to_string().contains("tar archive"));
        assert_eq!(refuse_other_files("t", b"0,1\n"), Ok(()));
    }
}
