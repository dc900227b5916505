//! The folder of results: tables, pictures, and a page of both.

use super::Pts;
use super::json::MANNER;
use crate::diagnostic::Diagnostics;
use crate::figures_folder::{self, Written};
use crate::report;
use std::path::Path;

impl Pts {
    /// Writes tables, pictures and a page to a folder. Returns the files, and the pictures that could
    /// not be drawn.
    ///
    /// # Errors
    /// If the folder cannot be written.
    pub fn write(&self, folder: &Path) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
        let mut sheets = vec![self.overview(), self.settings()];
        sheets.extend(self.tested.iter().flat_map(super::Tested::sheets));
        let Written { mut files, warnings, drawings } =
            figures_folder::write(&sheets, &[], folder)?;
        let lead = vec![format!("Tests {MANNER}.")];
        let page = report::of_study("Tests", lead, &sheets, drawings);
        report::write(&folder.join(report::REPORT), &page)?;
        files.push(report::REPORT.into());
        Ok((files, warnings))
    }
}
