//! Sealed files: a line that says what they are, a body, and a checksum.
//!
//! The first byte chooses one of three: the rest is a file, the rest lacks only its checksum, or
//! the rest is the body of a file in which one bit is then flipped.

use crate::{refused_in_words, scratch_of};
use fowler_experiment::sealed_file::{Kind, Refused, SealedFile, inspect};
use sha2::{Digest, Sha256};
use std::fs;
use std::io::{Read, Write};
use std::path::PathBuf;
use std::sync::LazyLock;

static FILE: LazyLock<PathBuf> = LazyLock::new(|| scratch_of("sealed").join("sealed"));
const KIND: Kind = Kind { name: "checkpoint", format: 2 };

/// Returns whose file it is and its body; `None` if it is refused.
fn opened(file: &[u8]) -> Option<(String, Vec<u8>)> {
    fs::write(&*FILE, file).expect("a folder for temporary files");
    match inspect(&FILE, KIND) {
        Err(Refused::Damaged(why) | Refused::Other(why)) => {
            refused_in_words(&why);
            None
        }
        Ok(mut opened) => {
            let mut body = Vec::new();
            opened.body.read_to_end(&mut body).expect("a regular file");
            Some((opened.identity, body))
        }
    }
}

fn sealed(identity: &str, body: &[u8]) -> Vec<u8> {
    let _absent = fs::remove_file(&*FILE);
    let mut file = SealedFile::create(&FILE, KIND, identity).expect("a new file");
    file.write_all(body).expect("a new file");
    file.finish(&FILE).expect("a new file");
    fs::read(&*FILE).expect("a new file")
}

/// A file that opens has the identity and the body that were sealed; sealed again it opens with
/// both unchanged. A file with one bit flipped does not open. Returns true if the input was
/// accepted.
pub fn check(input: &[u8]) -> bool {
    let [kind, rest @ ..] = input else { return false };
    match kind % 3 {
        0 => opened(rest).is_some(),
        1 => {
            let file = [rest, &Sha256::digest(rest)].concat();
            let Some((identity, body)) = opened(&file) else { return false };
            assert!(rest.ends_with(&body), "the body is the end of the file");
            let again = opened(&sealed(&identity, &body));
            assert_eq!(again, Some((identity, body)));
            true
        }
        _ => {
            let mut file = sealed("this run", rest);
            assert_eq!(opened(&file), Some(("this run".into(), rest.to_vec())));
            let place = Sha256::digest(rest);
            let at = usize::from(u16::from_le_bytes([place[0], place[1]])) % file.len();
            file[at] ^= 1 << (place[2] % 8);
            assert_eq!(opened(&file), None, "bit {} of byte {at} is flipped", place[2] % 8);
            true
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let whole = sealed("this run", b"a body");
    let unsealed = [1].iter().chain(&whole[..whole.len() - 32]).copied().collect();
    let files: [&[u8]; 4] = [
        b"\x01fowler checkpoint 3 9.9.9 this run\nbody",
        b"\x01fowler list 1 0.1.0 this run\n",
        b"\x02a body of some bytes",
        b"\x01fowler checkpoint 2 0.1.0\n",
    ];
    let mut seeds = files.map(<[u8]>::to_vec).to_vec();
    seeds.extend([unsealed, [vec![0], whole].concat()]);
    seeds
}
