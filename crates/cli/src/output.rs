//! The files of a run. A folder that cannot be written is found before the run, and what was in it before
//! is replaced only by what is complete.

use fowler_experiment::growing::{Growing, unwritable, writable};
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
    /// Makes the folder and tries it out.
    pub fn open(
        folder: Option<&Path>,
        requests_csv: Option<&Option<PathBuf>>,
    ) -> Result<Output, Problems> {
        let mut problems = Problems::default();
        if let Some(folder) = folder {
            let made = fs::create_dir_all(folder).map_err(|error| unwritable(folder, &error));
            problems.take(made.and_then(|()| writable(&folder.join(SUMMARY))));
        }
        let requests = match (requests_csv, folder) {
            (None, _) => None,
            (Some(Some(file)), _) => {
                problems.take(writable(file));
                Some(file.clone())
            }
            (Some(None), Some(folder)) => Some(folder.join("requests.csv")),
            (Some(None), None) => {
                problems
                    .push(Problem::new("--requests-csv", "names no file, and there is no --out"));
                None
            }
        };
        problems.or(Output { folder: folder.map(Path::to_path_buf), requests })
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
