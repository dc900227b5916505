//! Files that Fowler reads back, such as checkpoints. The first line names the kind of file, its
//! format and its owner, and a checksum ends the file, so that damaged, foreign and newer files are
//! recognized and refused.
//!
//! The first line is `fowler KIND FORMAT VERSION IDENTITY` and a newline. The body follows, then 32
//! bytes: the SHA-256 of everything before them.

use crate::atomic_file::{AtomicFile, unwritable};
use crate::diagnostic::{Diagnostic, Diagnostics, printable};
use crate::disk::File;
use crate::provenance::VERSION;
use sha2::{Digest, Sha256};
use std::io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Take, Write};
use std::path::Path;

/// A kind of file with a checksum at its end (a sealed file), and the version of its format.
#[derive(Clone, Copy, Debug)]
pub struct Kind {
    /// The word for the kind of file in messages, such as `checkpoint`.
    pub name: &'static str,
    /// Version of the format in which Fowler writes this kind of file, such as checkpoints. It
    /// refuses to read a file with a higher version.
    pub format: u32,
}

/// Length of the SHA-256 checksum that ends a file, in bytes.
const CHECKSUM: u64 = 32;
/// Longest first line, in bytes, of a file with a checksum. The line has the kind of file, its
/// format and the hash that identifies its owner.
const LINE: u64 = 512;

/// A file that is being written with a first line, its contents, and a checksum of both at the end.
#[derive(Debug)]
pub struct SealedFile {
    out: AtomicFile,
    digest: Sha256,
}

impl SealedFile {
    /// Creates a file with a first line, for the kind of file and its owner, and a checksum at its
    /// end.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(path: &Path, kind: Kind, identity: &str) -> Result<SealedFile, Diagnostics> {
        let mut file = SealedFile { out: AtomicFile::create_stored(path)?, digest: Sha256::new() };
        file.write_all(line(kind, identity).as_bytes())
            .map_err(|error| unwritable(path, &error))?;
        Ok(file)
    }

    /// Writes the checksum of all data to the end of this sealed file, and renames it from its
    /// temporary name to its final one.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn finish(mut self, path: &Path) -> Result<(), Diagnostics> {
        let checksum = self.digest.finalize();
        self.out.write_all(&checksum).map_err(|error| unwritable(path, &error))?;
        self.out.finish()
    }
}

impl Write for SealedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = self.out.write(bytes)?;
        self.digest.update(&bytes[..written]);
        Ok(written)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Returns the bytes of a file that Fowler can read back and verify: a first line with kind, format
/// version and owner, then `body`, then a checksum.
pub fn bytes(kind: Kind, identity: &str, body: &[u8]) -> Vec<u8> {
    let mut bytes = line(kind, identity).into_bytes();
    bytes.extend_from_slice(body);
    let checksum = Sha256::digest(&bytes);
    bytes.extend_from_slice(&checksum);
    bytes
}

fn line(kind: Kind, identity: &str) -> String {
    format!("fowler {} {} {VERSION} {identity}\n", kind.name, kind.format)
}

/// A file with a checksum at its end that has been opened to read it, and whose checksum is valid.
#[derive(Debug)]
pub struct Opened {
    /// Hash that identifies the owner of a saved file's data, such as the run of a checkpoint.
    pub identity: String,
    /// Reader of the body of a saved file, such as a checkpoint: the bytes between its first line
    /// (kind, format, owner) and its checksum.
    pub body: Take<BufReader<File>>,
}

/// Opens a file with a checksum at its end, and reads all of it once to verify the checksum.
///
/// # Errors
/// If the file cannot be read, is of another kind or of a newer format, or is damaged.
pub fn open(path: &Path, kind: Kind) -> Result<Opened, Diagnostics> {
    inspect(path, kind).map_err(|refused| {
        match refused {
            Refused::Damaged(why) | Refused::Other(why) => *why,
        }
        .into()
    })
}

/// The reason why a file that Fowler saved with a checksum, such as a checkpoint, cannot be read
/// back.
#[derive(Debug)]
pub enum Refused {
    /// The saved file, such as a checkpoint, is damaged: no version of Fowler can read it.
    Damaged(Box<Diagnostic>),
    /// The saved file, such as a checkpoint, cannot be read at present, or not by this version of
    /// Fowler.
    Other(Box<Diagnostic>),
}

/// Opens a file with a checksum at its end like [`open`], but the error tells a damaged file from
/// one that other versions of Fowler may read.
pub fn inspect(path: &Path, kind: Kind) -> Result<Opened, Refused> {
    let name = || path.display().to_string();
    let failed = |what: String| {
        let hint =
            format!("remove the file to start over, or restore the {} from a copy", kind.name);
        Refused::Damaged(Box::new(Diagnostic::new(name(), what).hint(hint)))
    };
    let other = |what: String| Refused::Other(Box::new(Diagnostic::new(name(), what)));
    let unreadable = |error: io::Error| other(format!("cannot be read: {error}"));
    let damaged =
        || failed(format!("the file is damaged: its checksum does not match the {}", kind.name));
    let file = File::open_stored(path).map_err(unreadable)?;
    let facts = file.facts().map_err(unreadable)?;
    if !facts.is_file() {
        return Err(failed(format!("is not a {} of Fowler", kind.name)));
    }
    let mut file = BufReader::with_capacity(1 << 18, file);
    let mut line = Vec::new();
    file.by_ref().take(LINE).read_until(b'\n', &mut line).map_err(unreadable)?;
    let Some(header) = Header::parse(&line) else {
        return Err(failed(format!("is not a {} of Fowler", kind.name)));
    };
    let length = line.len() as u64;
    // The checksum is verified first, because the first line of a damaged file cannot be trusted.
    let Some(whole) = facts.len().checked_sub(CHECKSUM).filter(|whole| *whole >= length) else {
        return Err(damaged());
    };
    let mut digest = Sha256::new();
    digest.update(&line);
    io::copy(&mut file.by_ref().take(whole - length), &mut digest).map_err(unreadable)?;
    let mut checksum = Vec::new();
    file.by_ref().take(CHECKSUM + 1).read_to_end(&mut checksum).map_err(unreadable)?;
    if digest.finalize()[..] != checksum[..] {
        return Err(damaged());
    }
    if header.kind != kind.name {
        return Err(other(format!("is a {} and not a {}", printable(header.kind), kind.name)));
    }
    if header.format > kind.format {
        let what = format!(
            "the file was written by Fowler {} in format {}; this is Fowler {VERSION}, which reads formats up to {}",
            printable(header.version),
            header.format,
            kind.format
        );
        let newer = Diagnostic::new(name(), what).hint("use the newer version".to_string());
        return Err(Refused::Other(Box::new(newer)));
    }
    let identity = header.identity.to_string();
    file.seek(SeekFrom::Start(length)).map_err(unreadable)?;
    Ok(Opened { identity, body: file.take(whole - length) })
}

/// The first line of a file with a checksum: kind of file, format, and identity of its owner.
struct Header<'a> {
    kind: &'a str,
    format: u32,
    version: &'a str,
    identity: &'a str,
}

impl Header<'_> {
    fn parse(line: &[u8]) -> Option<Header<'_>> {
        let line = std::str::from_utf8(line).ok()?.strip_suffix('\n')?;
        let mut words = line.splitn(5, ' ');
        let mut word = || words.next();
        if word()? != "fowler" {
            return None;
        }
        let (kind, format) = (word()?, word()?.parse().ok()?);
        Some(Header { kind, format, version: word()?, identity: word()? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::Rng;
    use std::fs;

    const KIND: Kind = Kind { name: "test", format: 2 };

    fn written(name: &str, kind: Kind, body: &[u8]) -> std::path::PathBuf {
        let name = format!("fowler-sealed-{name}-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let mut file = SealedFile::create(&path, kind, "this run").unwrap();
        file.write_all(body).unwrap();
        file.finish(&path).unwrap();
        path
    }

    fn why(path: &Path) -> String {
        match open(path, KIND) {
            Ok(_) => "opened".into(),
            Err(diagnostics) => diagnostics.to_string(),
        }
    }

    #[test]
    fn what_was_written_is_read_back() {
        let body: Vec<u8> = (0..200_000_u32).map(|it| (it % 251) as u8).collect();
        let path = written("whole", KIND, &body);
        let mut opened = open(&path, KIND).unwrap();
        let mut read = Vec::new();
        opened.body.read_to_end(&mut read).unwrap();
        assert!(opened.identity == "this run" && read == body);
        fs::remove_file(path).unwrap();
    }

    /// A change of any single byte of a sealed file must be detected.
    #[test]
    fn every_damage_is_refused() {
        let path = written("damaged", KIND, b"a body of some bytes");
        let whole = fs::read(&path).unwrap();
        for at in 0..whole.len() {
            let flipped = |bit: usize| {
                let mut bytes = whole.clone();
                bytes[at] ^= 1 << bit;
                bytes
            };
            let inserted = [&whole[..at], b"x", &whole[at..]].concat();
            let mut all: Vec<Vec<u8>> = (0..8).map(flipped).collect();
            all.extend([whole[..at].to_vec(), inserted]);
            for bytes in all {
                fs::write(&path, &bytes).unwrap();
                assert_ne!(why(&path), "opened", "byte {at}: {bytes:?}");
            }
        }
        let mut rng = Rng::stream(1, "damage");
        for case in 0..500 {
            let mut bytes = whole.clone();
            let (from, to) = (rng.below(bytes.len() as u64), rng.below(bytes.len() as u64));
            let (from, to) = (from.min(to) as usize, from.max(to) as usize + 1);
            bytes[from..to].fill(0);
            fs::write(&path, &bytes).unwrap();
            assert_ne!(why(&path), "opened", "case {case}: zeros in {from}..{to}");
        }
        fs::remove_file(path).unwrap();
    }

    #[test]
    fn other_kinds_and_newer_formats_are_named() {
        for (kind, said) in [
            (Kind { name: "other", format: 1 }, "is a other and not a test"),
            (Kind { name: "test", format: 3 }, "in format 3; this is Fowler"),
            (Kind { name: "test", format: 1 }, "opened"),
        ] {
            let path = written(&format!("kind-{}-{}", kind.name, kind.format), kind, b"body");
            assert!(why(&path).contains(said), "{}", why(&path));
            fs::remove_file(path).unwrap();
        }
        let path = std::env::temp_dir().join(format!("fowler-not-sealed-{}", std::process::id()));
        for text in ["", "not ours", "fowler", "fowler test x 0.1.0 run\nbody", "\n\n\n"] {
            fs::write(&path, text).unwrap();
            assert!(why(&path).contains("is not a test of Fowler"), "{text:?}: {}", why(&path));
        }
        fs::remove_file(path).unwrap();
    }
}
