//! The requests of real fio, to the byte: 19 jobs, by fio 3.33 and by 3.42.

use crate::sequences::{difference, listed};
use fowler_fio::Seeding;
use fowler_tests::shared_folder;

mod shared_files {
    use super::*;

    #[test]
    fn sequences_are_fios_to_the_byte() {
        let Some(folder) = shared_folder::path("fio/cases", "sequences against those of fio")
        else {
            return;
        };
        let entries = std::fs::read_dir(&folder).expect("a folder");
        let mut problems = Vec::new();
        let mut compared = 0;
        let mut jobs: Vec<_> = entries.map(|entry| entry.expect("an entry").path()).collect();
        jobs.sort();
        for path in jobs.iter().filter(|path| path.extension().is_some_and(|end| end == "fio")) {
            let text = std::fs::read_to_string(path).expect("a job file");
            let case = path.file_stem().expect("a name").to_string_lossy();
            for (seeding, folder) in
                [(Seeding::V333, folder.clone()), (Seeding::V335, folder.join("fio-3.42"))]
            {
                let packed = std::fs::read(folder.join(format!("{case}.csv.zst"))).expect("a case");
                let theirs = zstd::decode_all(&*packed).expect("zstd");
                let theirs = String::from_utf8(theirs).expect("text");
                compared += 1;
                match listed(&text, seeding) {
                    Ok(ours) if ours == theirs => {}
                    Ok(ours) => problems.push(format!(
                        "{case} {seeding:?}: {}",
                        difference(&ours, &theirs).unwrap_or_default()
                    )),
                    Err(error) => problems.push(format!("{case}: {error}")),
                }
            }
        }
        assert!(problems.is_empty(), "\n{}", problems.join("\n"));
        assert!(compared >= 38, "only {compared} comparisons");
    }
}
