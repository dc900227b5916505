//! What a result needs to be made again: hashes that any machine computes alike.

use crate::problem::{Problem, Problems};
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::Path;

/// The version of the program.
pub const VERSION: &str = env!("CARGO_PKG_VERSION");

/// The first 16 hexadecimal digits of the SHA-256 of `text`: enough to tell configurations apart.
pub fn text_hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes())[..8])
}

/// The SHA-256 of a file as it lies on the disk, packed or not: what `sha256sum` prints.
pub fn file_hash(path: &Path) -> Result<String, Problems> {
    let failed = |error: std::io::Error| {
        Problems::from(Problem::new(path.display().to_string(), format!("cannot be read: {error}")))
    };
    let mut file = File::open(path).map_err(failed)?;
    let mut digest = Sha256::new();
    let mut chunk = vec![0; 1 << 18];
    loop {
        match file.read(&mut chunk).map_err(failed)? {
            0 => return Ok(hex(&digest.finalize())),
            length => digest.update(&chunk[..length]),
        }
    }
}

/// A hash of the running program: what an earlier build measured is not this one's result.
pub(crate) fn program_hash() -> Result<String, Problems> {
    let program = std::env::current_exe().map_err(|error| {
        Problems::from(Problem::new("", format!("the running program cannot be found: {error}")))
    })?;
    file_hash(&program)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test vector of FIPS 180-2.
    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(text_hash("abc"), "ba7816bf8f01cfea");
    }
}
