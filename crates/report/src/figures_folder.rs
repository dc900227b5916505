//! Writes tables and figures to the files of one folder, for studies, lifetimes, scores and the
//! models of cells.

use crate::pages::{self, Drawing};
use fowler_experiment::atomic_file::{AtomicFile, unwritable};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::tables::Sheet;
use fowler_figures::Figure;
use std::io::Write;
use std::path::Path;

/// The tables and figures that were written to a folder.
pub struct Written {
    /// Names of the CSV and SVG files that were written to the folder.
    pub files: Vec<String>,
    /// Warnings that name the figures that could not be drawn.
    pub warnings: Vec<String>,
    /// Pictures (SVG) of the figures in a report that could be drawn; figures without data cannot.
    pub drawings: Vec<Drawing>,
}

/// Writes every table as CSV and every figure as SVG. A figure that cannot be drawn is a warning,
/// not an error: with few requests there may be nothing to draw, and the tables show it, too.
///
/// # Errors
/// If a file cannot be written.
pub fn write(sheets: &[Sheet], figures: &[Figure], folder: &Path) -> Result<Written, Diagnostics> {
    let (mut files, mut warnings, mut drawings) = (Vec::new(), Vec::new(), Vec::new());
    for sheet in sheets {
        sheet.write(folder)?;
        files.push(format!("{}.csv", sheet.name));
    }
    for figure in figures {
        let name = format!("{}.svg", figure.id);
        let path = folder.join(&name);
        let svg = match figure.svg() {
            Ok(svg) => svg,
            Err(error) => {
                warnings.push(format!("{name} was not drawn: {error}"));
                continue;
            }
        };
        let mut file = AtomicFile::create_stored(&path)?;
        file.write_all(svg.as_bytes()).map_err(|error| unwritable(&path, &error))?;
        file.finish()?;
        files.push(name);
        drawings.push(Drawing { name: figure.id.clone(), svg });
    }
    Ok(Written { files, warnings, drawings })
}

/// Writes tables, figures, and an HTML page of both. The page begins with the paragraphs `lead` and
/// all warnings: `warning`, and those on figures that could not be drawn. Returns the files written
/// and all warnings.
///
/// # Errors
/// If a file cannot be written.
pub fn publish(
    folder: &Path,
    title: &str,
    mut lead: Vec<String>,
    (sheets, figures): (&[Sheet], &[Figure]),
    warning: Option<String>,
) -> Result<(Vec<String>, Vec<String>), Diagnostics> {
    let Written { mut files, mut warnings, drawings } = write(sheets, figures, folder)?;
    warnings.extend(warning);
    lead.extend(warnings.iter().map(|warning| format!("Note: {warning}")));
    let page = pages::of_study(title, lead, sheets, drawings);
    pages::write(&folder.join(pages::REPORT), &page)?;
    files.push(pages::REPORT.into());
    Ok((files, warnings))
}
