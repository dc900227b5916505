//! Decoder of a sweep's folder: its points and checksum files.
//!
//! The first byte of the input selects a file of an intact folder, and whether it gets its correct
//! checksum. The rest replaces the file.

use crate::{refused_in_words, scratch_of};
use arrow_array::RecordBatch;
use fowler_columns::store::{self, Folder};
use fowler_experiment::provenance::bytes_hash;
use fowler_experiment::sweep::Plan;
use fowler_experiment::workload::Control;
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;

/// Two points, of which one is on a drive that cannot be.
const SPECIFICATION: &str = "device = 'pes-mlc'\nworkload = 'demo'\nlimit = 20\nrequests = true\n\
    set = ['geometry.blocks_per_plane=64', 'geometry.channels=1', 'geometry.chips_per_channel=1']\n\
    [axis]\n'geometry.over_provisioning' = [0.0, 0.25]\n";

/// A file by its path in the folder, with its bytes.
type Named = (String, Vec<u8>);

/// An intact sweep folder.
pub(crate) struct Whole {
    path: PathBuf,
    pub files: Vec<Named>,
    table: RecordBatch,
}

pub(crate) static WHOLE: LazyLock<Whole> = LazyLock::new(|| {
    let path = scratch_of("point");
    let plan = Plan::read(SPECIFICATION, "sweep.toml").expect("a plan");
    let folder = Folder::open(&path, &plan).expect("a new folder");
    let todo = folder.missing(false).expect("a new folder");
    store::run(&folder, &plan, &todo, Some(1), Control::UNWATCHED, &|_| ()).expect("a new folder");
    let table = store::load(&path).expect("a whole folder");
    let mut files = Vec::new();
    for name in ["", "points", "requests"] {
        for entry in fs::read_dir(path.join(name)).expect("a folder") {
            let file = entry.expect("a file").path();
            if file.is_file() {
                let name = file.strip_prefix(&path).expect("within").to_str().expect("a name");
                files.push((name.to_string(), fs::read(&file).expect("a file")));
            }
        }
    }
    // The name of a point follows the sources of the simulator; its place must not.
    let place = |(name, _): &Named| {
        let ending = name.rsplit('.').next().map(String::from);
        (name.split('/').next().filter(|_| name.contains('/')).map(String::from), ending)
    };
    files.sort_by_key(place);
    Whole { path, files, table }
});

impl Whole {
    /// Replaces a file and, with `sums`, its checksum. Returns the files that must be restored.
    fn replace<'a>(&'a self, file: &'a Named, bytes: &[u8], sums: bool) -> Vec<&'a Named> {
        self.write(file, bytes);
        let mut replaced = vec![file];
        if sums && !file.0.ends_with(".sha256") {
            let [old, new] = [&file.1, bytes].map(bytes_hash);
            for sums in self.files.iter().filter(|(name, _)| name.ends_with(".sha256")) {
                let text = std::str::from_utf8(&sums.1).expect("checksums");
                if text.contains(&old) {
                    self.write(sums, text.replace(&old, &new).as_bytes());
                    replaced.push(sums);
                }
            }
        }
        replaced
    }

    fn write(&self, (name, _): &Named, bytes: &[u8]) {
        fs::write(self.path.join(name), bytes).expect("a folder for temporary files");
    }
}

/// A folder in which a file was changed is refused, or what was measured is what it was. If its
/// checksum says that it was written so, it is refused or read.
pub fn check(input: &[u8]) -> bool {
    let [kind, bytes @ ..] = input else { return false };
    let whole = &*WHOLE;
    let (file, sums) = (&whole.files[usize::from(kind >> 1) % whole.files.len()], kind % 2 == 1);
    let replaced = whole.replace(file, bytes, sums);
    let (loaded, examined) = (store::load(&whole.path), store::examine(&whole.path));
    for file in replaced {
        whole.write(file, &file.1);
    }
    let same = *bytes == *file.1;
    match examined {
        Err(diagnostics) => _ = refused_in_words(&diagnostics),
        Ok(examined) => {
            let examined = examined.expect("the folder of a sweep");
            let is_whole = examined.damaged.is_empty() && examined.whole == examined.points;
            assert!(is_whole || !same, "a whole folder is called damaged");
            // Only what is measured has a checksum.
            let summed = [".parquet", ".toml"].iter().any(|ending| file.0.ends_with(ending));
            assert!(!is_whole || same || sums || !summed, "{} is called whole", file.0);
        }
    }
    match loaded {
        Err(diagnostics) => {
            assert!(!same, "a whole folder is refused");
            refused_in_words(&diagnostics)
        }
        Ok(table) => {
            assert!(sums || table == whole.table, "{}: other results", file.0);
            true
        }
    }
}

pub fn seeds() -> Vec<Vec<u8>> {
    let files = WHOLE.files.iter().enumerate();
    let pairs = files.flat_map(|(at, (_, bytes))| [0, 1].map(|sums| (at as u8 * 2 + sums, bytes)));
    let mut seeds: Vec<_> = pairs.map(|(kind, bytes)| [&[kind], &**bytes].concat()).collect();
    let format = WHOLE.files.iter().position(|(name, _)| name == "format").expect("a format");
    seeds.push([&[format as u8 * 2], b"fowler sweep 99 \x1b9.9.9\n".as_slice()].concat());
    seeds
}
