//! The files of a run. A folder that cannot be written is found before the run, and what was in it before
//! is replaced only by what is complete.

use fowler_experiment::growing::{Growing, Named, clashes, unwritable, writable};
use fowler_experiment::problem::{Problem, Problems};
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The file that every folder of results has.
const SUMMARY: &str = "summary.json";

/// Where results go.
pub(crate) struct Output {
    folder: Option<PathBuf>,
    requests: Option<PathBuf>,
}

impl Output {
    /// Makes the folder and tries it out. None of `inputs` may be written, and no file twice; `logs` says
    /// which files a log of requests becomes.
    pub fn open(
        folder: Option<&Path>,
        requests_csv: Option<&Option<PathBuf>>,
        inputs: &[Named],
        logs: impl FnOnce(&Path) -> Vec<PathBuf>,
    ) -> Result<Output, Problems> {
        let log = requests_csv.and_then(|file| {
            file.clone().or_else(|| folder.map(|folder| folder.join("requests.csv")))
        });
        let summary = folder.map(|folder| ("--out".to_string(), folder.join(SUMMARY)));
        let logged = log.as_deref().map_or_else(Vec::new, logs);
        let logged = logged.into_iter().map(|path| ("--requests-csv".to_string(), path));
        let outputs: Vec<Named> = summary.into_iter().chain(logged).collect();
        // Nothing is made before it is certain that nothing is lost.
        let mut problems = clashes(inputs, &outputs);
        problems = problems.or(Problems::default())?;
        if let Some(folder) = folder {
            let made = fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error));
            problems.take(made.and_then(|()| writable(&folder.join(SUMMARY))));
        }
        match (requests_csv, folder) {
            (Some(Some(file)), _) => drop(problems.take(writable(file))),
            (Some(None), None) => {
                let what = "names no file, and there is no --out";
                problems.push(Problem::new("--requests-csv", what));
            }
            (None, _) | (Some(None), Some(_)) => {}
        }
        problems.or(Output { folder: folder.map(Path::to_path_buf), requests: log })
    }

    /// The file for a line per request, if one is wanted.
    pub fn requests(&self) -> Option<PathBuf> {
        self.requests.clone()
    }

    /// Writes the summary, if a folder was named.
    pub fn summary(&self, json: &str) -> Result<(), Problems> {
        let Some(folder) = &self.folder else { return Ok(()) };
        let path = folder.join(SUMMARY);
        let mut file = Growing::create(&path)?;
        file.write_all(json.as_bytes()).map_err(|error| unwritable(&path, &error))?;
        file.finish()
    }
}
