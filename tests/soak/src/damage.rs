//! Damage that a disk does to stored files.

use crate::files::{Files, PARTIAL, kind, say_the_same};
use fowler_units::Rng;
use std::fs;
use std::io::Result;
use std::path::{Path, PathBuf};

/// The bytes that a disk loses at once.
const SECTOR: usize = 512;

/// Kinds of damage to a file.
const KINDS: [&str; 5] = ["flipped bit", "zeroed sector", "truncation", "swap", "removal"];

/// A damage: its kind, and the files that it changed.
pub struct Damage {
    pub kind: &'static str,
    /// Damaged files, by their names in the folder.
    pub files: Vec<PathBuf>,
}

/// The most draws until damage changes a file: a draw may change nothing.
const DRAWS: u32 = 20;

/// Damages a file of a folder; `None` if there is nothing to damage.
pub fn inflict(rng: &mut Rng, folder: &Path, files: &Files) -> Result<Option<Damage>> {
    for _ in 0..DRAWS {
        if let Some(damage) = drawn(rng, folder, files)? {
            return Ok(Some(damage));
        }
    }
    Ok(None)
}

/// Draws a damage and inflicts it; none if it would have changed nothing.
fn drawn(rng: &mut Rng, folder: &Path, files: &Files) -> Result<Option<Damage>> {
    // By kinds first, so that a kind with many files is not all that is damaged.
    let mut kinds: Vec<&str> = files.keys().map(|name| kind(name)).collect();
    kinds.sort_unstable();
    kinds.dedup();
    kinds.retain(|it| *it != PARTIAL);
    if kinds.is_empty() {
        return Ok(None);
    }
    let chosen = kinds[rng.below(kinds.len() as u64) as usize];
    let alike: Vec<&PathBuf> = files.keys().filter(|name| kind(name) == chosen).collect();
    let name = alike[rng.below(alike.len() as u64) as usize];
    let (path, bytes) = (folder.join(name), &files[name]);
    let mut touched = vec![name.clone()];
    let mut changed = bytes.clone();
    let at = |rng: &mut Rng| rng.below(bytes.len().max(1) as u64) as usize;
    let what = rng.below(KINDS.len() as u64) as usize;
    match what {
        0 if !bytes.is_empty() => changed[at(rng)] ^= 1 << rng.below(8),
        1 => {
            let from = at(rng) / SECTOR * SECTOR;
            let to = changed.len().min(from + SECTOR);
            changed[from..to].fill(0);
        }
        2 => changed.truncate(at(rng)),
        3 => {
            let other = alike[rng.below(alike.len() as u64) as usize];
            changed.clone_from(&files[other]);
            if !say_the_same(name, &changed, bytes) {
                fs::write(folder.join(other), bytes)?;
                touched.push(other.clone());
            }
        }
        _ => {}
    }
    if what == 4 {
        fs::remove_file(&path)?;
    } else if say_the_same(name, &changed, bytes) {
        return Ok(None);
    } else {
        fs::write(&path, &changed)?;
    }
    Ok(Some(Damage { kind: KINDS[what], files: touched }))
}
