//! Replays the inputs that fuzzing left (`fuzz/corpus`): those that reach most of each decoder, and
//! those that once broke one.

use fowler_decoders::{TARGETS, Target, scratch};
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::thread;

/// The most files of a target, and the most bytes of all.
const FILES: usize = 40;
const BYTES: usize = 600_000;

/// The inputs of a target by their files.
fn corpus(target: &Target) -> Vec<(PathBuf, Vec<u8>)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target.name);
    let entries = fs::read_dir(&folder).unwrap_or_else(|why| panic!("{}: {why}", folder.display()));
    let files = entries.map(|entry| entry.unwrap().path());
    files.map(|path| (path.clone(), fs::read(path).unwrap())).collect()
}

#[test]
fn what_fuzzing_left_is_read_or_refused() {
    let wrong = thread::scope(|scope| {
        let replays: Vec<_> = TARGETS.iter().map(|target| scope.spawn(|| replay(target))).collect();
        replays.into_iter().flat_map(|it| it.join().unwrap()).collect::<Vec<_>>()
    });
    fs::remove_dir_all(scratch()).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Returns the failed properties for the saved inputs of a target and for its seeds. Both kinds of
/// input must exist.
fn replay(target: &Target) -> Vec<String> {
    let (mut wrong, mut found) = (Vec::new(), [0; 2]);
    let seeds = (target.seeds)().into_iter().enumerate();
    let seeds = seeds.map(|(number, seed)| (format!("seed {number}").into(), seed));
    for (path, input) in corpus(target).into_iter().chain(seeds) {
        match catch_unwind(AssertUnwindSafe(|| (target.check)(&input))) {
            Ok(accepted) => found[usize::from(accepted)] += 1,
            Err(_) => wrong.push(format!("{} breaks {}", path.display(), target.name)),
        }
    }
    if found.contains(&0) {
        let [refused, accepted] = found;
        wrong.push(format!("{}: {refused} inputs refused, {accepted} accepted", target.name));
    }
    wrong
}

#[test]
fn the_corpus_is_small_and_has_no_others() {
    let all: Vec<_> = TARGETS.iter().map(|target| (target.name, corpus(target))).collect();
    for (name, files) in &all {
        assert!(files.len() <= FILES, "{name}: {} files", files.len());
    }
    let bytes: usize = all.iter().flat_map(|(_, files)| files).map(|(_, input)| input.len()).sum();
    assert!(bytes <= BYTES, "{bytes} bytes in all");
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz");
    for (folder, ending) in [("corpus", ""), ("fuzz_targets", ".rs")] {
        let names = fs::read_dir(fuzz.join(folder)).unwrap().map(|it| it.unwrap().file_name());
        let mut names: Vec<_> = names.map(|it| it.into_string().unwrap()).collect();
        names.sort();
        let expected: Vec<_> = TARGETS.iter().map(|it| format!("{}{ending}", it.name)).collect();
        assert_eq!(names, expected, "fuzz/{folder}");
    }
}
