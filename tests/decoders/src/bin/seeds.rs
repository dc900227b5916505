//! Writes the inputs that fuzzing starts from: `seeds FOLDER` makes a folder of files per target.

use fowler_decoders::TARGETS;
use std::path::PathBuf;
use std::{env, fs};

fn main() {
    let folder = PathBuf::from(env::args_os().nth(1).expect("the folder to write to"));
    for target in TARGETS {
        let folder = folder.join(target.name);
        fs::create_dir_all(&folder).expect("a new folder");
        for (number, seed) in (target.seeds)().into_iter().enumerate() {
            fs::write(folder.join(format!("seed-{number:02}")), seed).expect("a new file");
        }
    }
}
