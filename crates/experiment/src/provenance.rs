//! Hashes that identify a result; they are equal on every machine.

use crate::diagnostic::{Diagnostic, Diagnostics};
use crate::disk::{File, unreadable};
use fowler_units::HostIo;
use sha2::{Digest, Sha256};
use std::io::Read;
use std::path::Path;

/// Version of Fowler, as in its package.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// A hash of the simulator's sources, in 64 hexadecimal digits, which separates results of
/// different versions. It is the same in every build profile, on every machine, and in every
/// program built from these sources.
pub const FINGERPRINT: &str = env!("FOWLER_FINGERPRINT");

/// Returns the first 16 hexadecimal digits of the SHA-256 of `text`: enough to distinguish
/// configurations.
pub fn text_hash(text: &str) -> String {
    text_hash_of(text, 16)
}

/// Returns the first digits of the SHA-256 of `text`, like [`text_hash`], of which `digits` are
/// wanted, at most 64.
pub(crate) fn text_hash_of(text: &str, digits: usize) -> String {
    hex(&Sha256::digest(text.as_bytes())[..digits / 2])
}

/// Returns the SHA-256 of bytes, in the form that `sha256sum` prints.
pub fn bytes_hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the SHA-256 of a result file of an earlier run, in the form that `sha256sum` prints.
///
/// # Errors
/// If it cannot be read, or is no regular file.
pub fn file_hash(path: &Path) -> Result<String, Diagnostics> {
    hash_of(File::open_stored(path), path, |_| true)
}

/// Returns the SHA-256 of a file as stored, compressed or not. Calls `go_on` now and then with the
/// share that has been read, from 0 to 1, and ends if it returns false.
///
/// # Errors
/// If the file cannot be read, or if hashing was ended.
pub(crate) fn file_hash_watched(
    path: &Path,
    go_on: impl FnMut(f64) -> bool,
) -> Result<String, Diagnostics> {
    hash_of(File::open(path), path, go_on)
}

fn hash_of(
    file: std::io::Result<File>,
    path: &Path,
    mut go_on: impl FnMut(f64) -> bool,
) -> Result<String, Diagnostics> {
    let failed = |error: std::io::Error| unreadable(path, &error);
    let mut file = file.map_err(failed)?;
    let all = file.facts().map_err(failed)?.len().max(1) as f64;
    let mut digest = Sha256::new();
    let mut chunk = vec![0; 1 << 18];
    let mut bytes = 0u64;
    loop {
        let length = file.read(&mut chunk).map_err(failed)?;
        if length == 0 {
            return Ok(hex(&digest.finalize()));
        }
        digest.update(&chunk[..length]);
        bytes += length as u64;
        if !go_on((bytes as f64 / all).min(1.0)) {
            let what = "stopped while this file was read for its hash";
            return Err(Diagnostic::new(path.display().to_string(), what).into());
        }
    }
}

/// An iterator adapter that hashes requests as they pass, in the form of [`text_hash`]. Each
/// request contributes its time, offset, size and operation code, in little-endian order. If it has
/// a queue, a placement handle or a deadline, all three follow the code, which then has its highest
/// bit set.
pub(crate) struct Digested<I> {
    source: I,
    digest: Sha256,
    pending: Vec<u8>,
}

/// Number of bytes of requests that are hashed at once.
const DIGESTED: usize = 1 << 14;
/// Bit of a hashed operation code that says that the request's queue, placement handle and deadline
/// follow.
const MORE_FOLLOWS: u8 = 1 << 7;

impl<I> Digested<I> {
    pub fn new(source: I) -> Self {
        Digested { source, digest: Sha256::new(), pending: Vec::with_capacity(DIGESTED + 32) }
    }

    /// Returns the hash of all requests that this iterator has yielded so far.
    pub fn hash(&self) -> String {
        hex(&self.digest.clone().chain_update(&self.pending).finalize()[..8])
    }

    fn take_in(&mut self, request: &HostIo) {
        // Destructure all fields, so that a new one cannot be forgotten here.
        let HostIo { at, offset, size, op, queue, placement, deadline, .. } = *request;
        self.pending.extend_from_slice(&at.0.to_le_bytes());
        self.pending.extend_from_slice(&offset.to_le_bytes());
        self.pending.extend_from_slice(&size.to_le_bytes());
        if *request == HostIo::new(op, at, offset, size) {
            self.pending.push(op as u8);
        } else {
            self.pending.push(op as u8 | MORE_FOLLOWS);
            self.pending.extend_from_slice(&queue.0.to_le_bytes());
            self.pending.push(placement.0);
            let deadline = deadline.span().map_or(u64::MAX, |span| span.0);
            self.pending.extend_from_slice(&deadline.to_le_bytes());
        }
        if self.pending.len() >= DIGESTED {
            self.digest.update(&self.pending);
            self.pending.clear();
        }
    }
}

impl<E, I: Iterator<Item = Result<HostIo, E>>> Iterator for Digested<I> {
    type Item = Result<HostIo, E>;

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        let next = self.source.next();
        if let Some(Ok(request)) = &next {
            self.take_in(request);
        }
        next
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use fowler_units::{Deadline, HostOp, Nanos, PlacementHandle, QueueId, Span};

    /// Compares hashes with the test vector of FIPS 180-2.
    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(text_hash("abc"), "ba7816bf8f01cfea");
    }

    #[test]
    fn requests_that_differ_in_anything_hash_differently() {
        let io = HostIo::read(Nanos(7), 4096, 512);
        let all = [
            io,
            io.with_op(HostOp::Write),
            io.with_queue(QueueId(1)),
            io.with_placement(PlacementHandle(1)),
            io.with_deadline(Deadline::after(Span(1))),
        ];
        let hashes = all.map(|io| {
            let mut digested = Digested::new([Ok::<_, ()>(io)].into_iter());
            digested.by_ref().for_each(drop);
            digested.hash()
        });
        assert_eq!(hashes[0], "96f4a24c629de2fc", "as before there was more to say");
        let different: std::collections::BTreeSet<_> = hashes.iter().collect();
        assert_eq!(different.len(), all.len());
    }
}
