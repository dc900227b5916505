//! States of drives before their first request, saved for the processes to come: filling a large
//! drive takes longer than many runs. They are files of the [cache folder](crate::cache_folder).
//!
//! The name of a file is a hash of all that the state depends on: the part of the configuration
//! that decides where data is placed, the seed among it, and the sources of the simulator. A file
//! that is damaged is removed and made anew. Without room to save one, the run goes on without. Two
//! processes that make the same state write the same bytes, each to a file of its own that is
//! renamed when it is whole.

use crate::cache_folder::{self, Bound, make_room};
use crate::device_spec;
use crate::disk;
use crate::provenance::{FINGERPRINT, text_hash};
use crate::sealed_file::{self, Kind, Refused, SealedFile};
use fowler_device::policy::placement::Dies;
use fowler_device::policy::victim::VictimKind;
use fowler_device::{
    Config, Pattern, PreconditionWatch, PreconditionedImage, PutWords, Refusal, Superblocks,
    TakeWords,
};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Kind and format version of image files, which hold preconditioned drives; increment the version
/// when the words of an image change.
const KIND: Kind = Kind { name: "image", format: 4 };
/// Most image files in the cache folder, and their total size in bytes.
const BOUND: Bound = Bound { prefix: "image-", files: 16, bytes: 4 << 30 };
/// Fewest page writes that preconditioning a drive with superblocks must take for the result to be
/// saved as a file; a process repeats shorter preconditioning instead.
const WRITES_LEAST: f64 = 4e6;
/// Least time that reading a preconditioned page-mapped drive from a file must save, in
/// nanoseconds; writing the file once takes about as long.
const SAVES_LEAST: f64 = 4e8;
/// Number of full overwrites of a drive with superblocks that are assumed to make its state steady.
const STEADY_WRITES: f64 = 4.0;
/// Multiple of the size of a saved preconditioned drive, in bytes, that must be free on the disk
/// before it is saved.
const FREE_LEAST: u64 = 4;
/// Number of 32-bit words that are read or written at once in the file of a preconditioned drive.
const CHUNK: usize = 1 << 14;

/// The folder in which preconditioned drives are saved; `None` if none are saved.
static FOLDER: Mutex<Option<PathBuf>> = Mutex::new(None);

/// Sets the folder in which preconditioned drives are saved from now on; `None` saves and reads
/// none.
pub fn keep_in(folder: Option<PathBuf>) {
    *FOLDER.lock().unwrap_or_else(PoisonError::into_inner) = folder;
}

/// Returns the folder in which preconditioned drives are saved; `None` if none are saved.
pub fn folder() -> Option<PathBuf> {
    FOLDER.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

/// A preconditioned drive that can be saved in a file and read back.
pub(crate) trait SavedImage: Sized {
    /// Preconditions the drive of `config`; `None` if `watch` stopped it.
    ///
    /// # Errors
    /// Every reason why the configuration cannot work.
    fn made(config: &Config, watch: PreconditionWatch<'_>) -> Result<Option<Self>, Vec<Refusal>>;

    /// Returns true if preconditioning the drive of `config` takes longer than reading it from a
    /// file.
    fn takes_long(config: &Config) -> bool;

    /// Writes the state of the preconditioned drive as a sequence of 32-bit words, by calls of
    /// `put`.
    ///
    /// # Errors
    /// If `put` fails.
    fn save(&self, put: PutWords<'_>) -> Result<(), String>;

    /// Returns the preconditioned drive of `config` from the 32-bit words that `take` reads from a
    /// file.
    ///
    /// # Errors
    /// The reason why the words are not such a drive.
    fn restored(config: &Config, take: TakeWords<'_>) -> Result<Self, String>;
}

impl SavedImage for Superblocks {
    fn made(config: &Config, watch: PreconditionWatch<'_>) -> Result<Option<Self>, Vec<Refusal>> {
        Superblocks::preconditioned_for(config, watch)
    }

    fn takes_long(config: &Config) -> bool {
        let steady = config.precondition.pattern == Pattern::Steady;
        filled_pages(config) * if steady { STEADY_WRITES } else { 1.0 } >= WRITES_LEAST
    }

    fn save(&self, put: PutWords<'_>) -> Result<(), String> {
        self.save_state(put)
    }

    fn restored(config: &Config, take: TakeWords<'_>) -> Result<Self, String> {
        Superblocks::with_saved_state(config, take)
    }
}

impl SavedImage for PreconditionedImage {
    fn made(config: &Config, watch: PreconditionWatch<'_>) -> Result<Option<Self>, Vec<Refusal>> {
        PreconditionedImage::watched(config, watch)
    }

    /// Returns true if reading an image of the drive saves enough time over preconditioning it
    /// again. Measured gain per page (2 cores, 8 to 60 million pages): 15 to 35 ns after overwrites
    /// to steady state, 110 to 180 ns after random writes whose address sets the die, else 0.
    fn takes_long(config: &Config) -> bool {
        let by_address =
            config.redundancy.has_stripes() || config.placement.dies == Dies::ByAddress;
        let nanoseconds = match config.precondition.pattern {
            Pattern::Steady | Pattern::Rested => 25.0,
            Pattern::Random if by_address => 120.0,
            Pattern::Random | Pattern::Sequential => 0.0,
        };
        nanoseconds * filled_pages(config) >= SAVES_LEAST
    }

    fn save(&self, put: PutWords<'_>) -> Result<(), String> {
        self.save_state(put)
    }

    fn restored(config: &Config, take: TakeWords<'_>) -> Result<Self, String> {
        PreconditionedImage::with_saved_state(config, take)
    }
}

/// Returns the preconditioned drive of `config`, read from a file or computed; `None` if the
/// computation was stopped.
///
/// # Errors
/// Every reason why the configuration cannot work.
pub(crate) fn image<I: SavedImage>(
    config: &Config,
    watch: PreconditionWatch<'_>,
) -> Result<Option<I>, Vec<Refusal>> {
    match folder().filter(|_| is_worth_a_file::<I>(config)) {
        None => I::made(config, watch),
        Some(folder) => in_folder(&folder, config, || I::made(config, watch)),
    }
}

fn in_folder<I: SavedImage>(
    folder: &Path,
    config: &Config,
    made: impl FnOnce() -> Result<Option<I>, Vec<Refusal>>,
) -> Result<Option<I>, Vec<Refusal>> {
    // An impossible configuration is refused, whatever the folder contains.
    config.layout()?;
    let identity = identity(config);
    let path = folder.join(format!("{}{identity}", BOUND.prefix));
    if let Some(found) = read(&path, &identity, config) {
        cache_folder::used(&path);
        return Ok(Some(found));
    }
    let image = made()?;
    if let Some(image) = &image {
        // A cache that cannot be written is only slower: the error is ignored.
        let _unsaved = save(&path, &identity, image);
    }
    Ok(image)
}

/// Returns true if the preconditioned drive of `config` should be saved to a file: it has no custom
/// policy and no victim rule with random state, and computing it takes longer than reading it.
fn is_worth_a_file<I: SavedImage>(config: &Config) -> bool {
    config.policies.labels().next().is_none()
        // The random state of `d_choices` is not part of the saved image.
        && config.victim.name != VictimKind::DChoices
        && I::takes_long(config)
}

/// Returns the number of logical pages that preconditioning fills.
fn filled_pages(config: &Config) -> f64 {
    let pages = config.layout().map_or(0, |layout| layout.mapped_pages);
    config.precondition.fill * f64::from(pages)
}

/// Returns a hash of everything on which the preconditioned state of a drive depends.
fn identity(config: &Config) -> String {
    let (part, streams) = config.placement_identity(&device_spec::defaults());
    text_hash(&format!("{FINGERPRINT} {} {streams}\n{}", KIND.format, device_spec::print(&part)))
}

/// Reads the image of a preconditioned drive from a file; `None` if there is no usable one. A
/// damaged file is removed.
fn read<I: SavedImage>(path: &Path, identity: &str, config: &Config) -> Option<I> {
    if !disk::facts(path).ok()??.is_file() {
        return None;
    }
    let mut opened = match sealed_file::inspect(path, KIND) {
        Ok(opened) => opened,
        Err(Refused::Damaged(_)) => {
            let _another_time = disk::remove(path);
            return None;
        }
        Err(Refused::Other(_)) => return None,
    };
    let mut bytes = vec![0; 4 * CHUNK];
    let found = (opened.identity == identity).then(|| {
        I::restored(config, &mut |words| {
            for words in words.chunks_mut(CHUNK) {
                let bytes = &mut bytes[..4 * words.len()];
                opened.body.read_exact(bytes).map_err(|error| error.to_string())?;
                let (all, _) = bytes.as_chunks::<4>();
                words
                    .iter_mut()
                    .zip(all)
                    .for_each(|(word, saved)| *word = u32::from_le_bytes(*saved));
            }
            Ok(())
        })
    });
    match found {
        Some(Ok(drive)) => Some(drive),
        _ => {
            let _another_time = disk::remove(path);
            None
        }
    }
}

/// Saves the image of a preconditioned drive in a file, if the disk has room for it.
fn save(path: &Path, identity: &str, image: &impl SavedImage) -> Result<(), String> {
    let mut length = 0u64;
    image.save(&mut |words| {
        length += 4 * words.len() as u64;
        Ok(())
    })?;
    let folder = path.parent().unwrap_or(Path::new("."));
    disk::create_folder(folder).map_err(|error| error.to_string())?;
    make_room(folder, BOUND, length);
    if disk::free_space(folder).is_some_and(|free| free < FREE_LEAST.saturating_mul(length)) {
        return Err("there is too little free disk space".into());
    }
    let mut file = SealedFile::create(path, KIND, identity).map_err(|why| why.to_string())?;
    let mut bytes = Vec::with_capacity(4 * CHUNK);
    image.save(&mut |words| {
        for words in words.chunks(CHUNK) {
            bytes.clear();
            words.iter().for_each(|word| bytes.extend_from_slice(&word.to_le_bytes()));
            file.write_all(&bytes).map_err(|error| error.to_string())?;
        }
        Ok(())
    })?;
    file.finish(path).map_err(|why| why.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device_spec::{DeviceSpec, resolve};
    use crate::scheme::Scheme;
    use fowler_units::Rng;
    use std::cell::Cell;
    use std::fs;
    use std::sync::atomic::AtomicBool;

    /// Returns the configuration of a small drive, with superblocks or page-mapped, that
    /// preconditions in no time.
    fn drive(device: &str, set: &[&str]) -> Config {
        let small = ["geometry.blocks_per_plane=64", "geometry.pages_per_block=24"];
        let set = small.iter().chain(set).map(ToString::to_string).collect();
        let spec = DeviceSpec { device: device.into(), set, ..DeviceSpec::default() };
        resolve(&spec.source().unwrap(), &Scheme::none(), &spec).unwrap().config
    }

    const PAGE_MAPPED: &str = "da-raid5";
    const SUPERBLOCKS: &str = "nvme-pm9a3";

    /// Returns the words of a preconditioned drive, and true if it was computed rather than read
    /// from a file.
    fn state(folder: &Path, config: &Config) -> (Vec<u32>, bool) {
        match config.ftl.has_superblocks() {
            true => state_of::<Superblocks>(folder, config),
            false => state_of::<PreconditionedImage>(folder, config),
        }
    }

    fn state_of<I: SavedImage>(folder: &Path, config: &Config) -> (Vec<u32>, bool) {
        let made = Cell::new(false);
        let image = in_folder(folder, config, || {
            made.set(true);
            let stop = AtomicBool::new(false);
            let watch = PreconditionWatch { stop: &stop, progress: &|_| () };
            I::made(config, watch)
        });
        let mut words = Vec::new();
        let image = image.unwrap().expect("nobody stops it");
        let saved = image.save(&mut |more| {
            words.extend_from_slice(more);
            Ok(())
        });
        saved.unwrap();
        (words, made.get())
    }

    fn only_file(folder: &Path) -> PathBuf {
        let mut files = fs::read_dir(folder).unwrap().map(|it| it.unwrap().path());
        let first = files.next().expect("a file");
        assert_eq!(files.next(), None);
        first
    }

    #[test]
    fn a_saved_state_is_the_one_that_was_made() {
        for device in [PAGE_MAPPED, SUPERBLOCKS] {
            let folder = tempfile::tempdir().unwrap();
            let folder = folder.path().join("not/yet");
            let config = drive(device, &[]);
            let (first, made) = state(&folder, &config);
            assert!(made, "{device}");
            assert!(state(&folder, &config) == (first.clone(), false), "{device}");
            // Keys that the state does not depend on make no other file; keys that it depends on
            // do.
            let same = drive(device, &["host.latency=9us", "queue.reads_behind=7"]);
            assert!(state(&folder, &same) == (first.clone(), false), "{device}");
            only_file(&folder);
            for other in ["seed=2", "precondition.fill=0.8", "precondition.pattern=random"] {
                let (words, made) = state(&folder, &drive(device, &[other]));
                assert!(made && words != first, "{device}: {other}");
            }
            assert_eq!(fs::read_dir(&folder).unwrap().count(), 4, "{device}");
        }
    }

    #[test]
    fn what_is_damaged_is_made_anew() {
        for device in [PAGE_MAPPED, SUPERBLOCKS] {
            let folder = tempfile::tempdir().unwrap();
            let (folder, config) = (folder.path(), drive(device, &[]));
            let (whole, _) = state(folder, &config);
            let path = only_file(folder);
            let bytes = fs::read(&path).unwrap();
            let mut rng = Rng::stream(5, "damage");
            for case in 0..60 {
                let mut damaged = bytes.clone();
                match rng.below(3) {
                    0 => damaged[rng.below(bytes.len() as u64) as usize] ^= 1 << rng.below(8),
                    1 => damaged.truncate(rng.below(bytes.len() as u64) as usize),
                    _ => damaged.extend_from_slice(b"more"),
                }
                fs::write(&path, &damaged).unwrap();
                assert!(state(folder, &config) == (whole.clone(), true), "{device}: case {case}");
                assert!(fs::read(&path).unwrap() == bytes, "{device}: case {case}");
            }
            // An intact file that belongs to another drive.
            let words = [7u8; 400];
            fs::write(&path, sealed_file::bytes(KIND, &identity(&config), &words)).unwrap();
            assert!(state(folder, &config) == (whole, true), "{device}");
        }
    }

    #[test]
    fn a_folder_that_cannot_be_written_is_no_cache() {
        for device in [PAGE_MAPPED, SUPERBLOCKS] {
            let folder = tempfile::tempdir().unwrap();
            let file = folder.path().join("file");
            fs::write(&file, "in the way").unwrap();
            let config = drive(device, &[]);
            let (first, made) = state(&file, &config);
            assert!(made, "{device}");
            assert!(state(&file, &config) == (first, true), "{device}");
            assert_eq!(fs::read_to_string(&file).unwrap(), "in the way");
        }
    }

    #[test]
    fn only_what_takes_long_is_worth_a_file() {
        assert!(!is_worth_a_file::<Superblocks>(&drive(SUPERBLOCKS, &[])));
        let whole = |device: &str, set: &[&str]| {
            let set = set.iter().map(ToString::to_string).collect();
            let spec = DeviceSpec { device: device.into(), set, ..DeviceSpec::default() };
            resolve(&spec.source().unwrap(), &Scheme::none(), &spec).unwrap().config
        };
        assert!(is_worth_a_file::<Superblocks>(&whole(SUPERBLOCKS, &[])));
        let pages = is_worth_a_file::<PreconditionedImage>;
        let large = "geometry.blocks_per_plane=16384";
        for (pattern, preset, four_times) in
            [("sequential", false, false), ("random", false, false), ("steady", false, true)]
        {
            let pattern = format!("precondition.pattern={pattern}");
            assert_eq!(pages(&whole("pes-mlc", &[&pattern])), preset, "{pattern}");
            assert_eq!(pages(&whole("pes-mlc", &[&pattern, large])), four_times, "{pattern}");
        }
        assert!(pages(&whole("da-raid5", &["precondition.pattern=random"])), "page by page");
        let choices = ["precondition.pattern=steady", large, "policy.victim=d_choices"];
        assert!(!pages(&whole("pes-mlc", &choices)), "the state of the victim rule is not saved");
    }
}
