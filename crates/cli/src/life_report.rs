//! The result of `fowler lifetime`, printed and written.

use crate::output::Output;
use crate::{console, pages, sheets};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_lifetime::{Lifetime, SaveTo};
use std::fmt::Write;
use std::path::Path;

/// Name, in the folder of results, of the file from which an interrupted `fowler lifetime` resumes.
pub(crate) const CHECKPOINT: &str = "lifetime.checkpoint";

/// Prints and writes the result of a lifetime, and then removes the checkpoint.
pub(crate) fn finish(
    lived: &Lifetime,
    output: &Output,
    out: Option<&Path>,
    as_json: bool,
) -> Result<(), Diagnostics> {
    let json = format!("{:#}\n", lived.json());
    output.summary(&json)?;
    let written = out.map(|folder| pages::lifetime(lived, folder)).transpose()?;
    console::print(&if as_json { json } else { report(lived) });
    if let (Some((mut files, warnings)), Some(folder)) = (written, out) {
        files.extend(drives::write(lived, folder)?);
        output.list("lifetime", files.iter().map(|file| folder.join(file)))?;
        lived.remove_checkpoint()?;
        warnings.iter().for_each(|warning| console::note(&format!("note: {warning}")));
        console::note(&format!(
            "written to {}: summary.json, {}",
            folder.display(),
            files.join(", ")
        ));
        if let Some(page) = pages::PAGE {
            console::note_opens(&folder.join(page));
        }
    } else if let Err(why) = lived.remove_checkpoint() {
        // The checkpoint is only a cache, and the result is printed.
        console::note(&format!("note: {why}"));
    }
    Ok(())
}

/// Writes the drives of a fleet as Parquet.
mod drives {
    use fowler_experiment::diagnostic::Diagnostics;
    use fowler_lifetime::Lifetime;
    use std::path::Path;

    /// Writes the drives of the fleet, if there is a fleet; returns the name of the file.
    #[cfg(feature = "parquet")]
    pub(super) fn write(lived: &Lifetime, folder: &Path) -> Result<Option<String>, Diagnostics> {
        use fowler_columns::fleet_table::{NAME, write};
        let Some(fleet) = &lived.fleet else { return Ok(None) };
        write(fleet, &folder.join(NAME))?;
        Ok(Some(NAME.into()))
    }

    #[cfg(not(feature = "parquet"))]
    pub(super) fn write(_: &Lifetime, _: &Path) -> Result<Option<String>, Diagnostics> {
        Ok(None)
    }
}

/// Returns the message for a lifetime simulation that the user stopped: the file in which its
/// progress is saved, or the reason why none is.
pub(crate) fn stopped(checkpoint: &SaveTo, saved: bool) -> String {
    match checkpoint {
        SaveTo::File(place) | SaveTo::Cache(place) if saved => format!(
            "stopped: progress is saved in {}, and the same command resumes from there",
            place.display()
        ),
        SaveTo::File(_) | SaveTo::Cache(_) => {
            "stopped before the life began: the checkpoint of an earlier run is unchanged".into()
        }
        SaveTo::Nowhere => {
            "stopped: nothing is saved, as there is no home folder and no --out".into()
        }
    }
}

fn report(lived: &Lifetime) -> String {
    let mut text = String::new();
    let Lifetime { survey, precondition, .. } = lived;
    let _grows = writeln!(
        text,
        "a repetition: {} writes of {} pages in {:.0} s; the drive before: {precondition}",
        survey.writes,
        survey.pages,
        survey.span.as_s()
    );
    let _grows = writeln!(text, "left out are {}", lived.left_out.join("; "));
    if let [first, second] = &lived.lived[..] {
        let _grows = writeln!(
            text,
            "one repetition stands for {}, in the check for {}: the difference is the error of \
                dilation, and the undilated life lies within three times that",
            first.dilation, second.dilation
        );
    }
    let verdict = format!("{}\n", lived.verdict());
    let mut all = console::strong(console::fitted(&verdict, 0).trim_end()) + "\n\n";
    all += &sheets::text(&lived.sheet());
    all += &console::fitted(&text, 4);
    if let Some(fleet) = &lived.fleet {
        for sheet in fleet.sheets() {
            all += "\n";
            all += &sheets::text(&sheet);
        }
        all += &console::fitted(&format!("{}\n", fleet.assumptions()), 4);
    }
    all
}
