//! What every study of a paper begins and ends with: its published numbers, its drive, its claims and its files.

use super::claim::{self, Claim, Measured, Verdict};
use super::column::{Column, Published, none_found};
use super::{Reproduction, Request};
use fowler_experiment::device::DeviceSpec;
use fowler_experiment::figures_folder::{Written, write};
use fowler_experiment::problem::{Problem, Problems};
use fowler_experiment::report;
use fowler_experiment::tables::Sheet;
use fowler_figures::Figure;
use serde::de::DeserializeOwned;

/// The data of a study: a file of the presets.
///
/// # Errors
/// Where the text is not what the type asks for.
pub(crate) fn open<P: DeserializeOwned>(name: &str, text: &str) -> Result<P, Problems> {
    let failed = |error: toml::de::Error| {
        Problem::new(format!("presets/{name}.toml"), error.to_string()).into()
    };
    toml::from_str(text).map_err(failed)
}

/// A paper's drive: a preset and what the study sets besides, of which `set` replaces what it sets otherwise.
pub(super) fn drive(preset: &str, base: &[String], set: &[String]) -> DeviceSpec {
    let key = |setting: &String| setting.split('=').next().map(str::to_string);
    let kept = |mine: &&String| set.iter().all(|other| key(other) != key(mine));
    let set = base.iter().filter(kept).chain(set).cloned().collect();
    DeviceSpec { device: preset.into(), set, ..DeviceSpec::default() }
}

/// The number that a claim publishes under a label.
pub(super) fn number(claims: &[Claim], id: &str, label: &str) -> Option<f64> {
    let claim = claims.iter().find(|claim| claim.id == id)?;
    claim.published.iter().find(|(name, _)| name == label).map(|(_, value)| *value)
}

/// A claim, and what was measured of it.
pub(super) type Answered = (Claim, Option<Measured>);

/// Every claim with what `of` finds.
pub(super) fn answered(
    claims: &[Claim],
    of: impl Fn(&Claim) -> Result<Option<Measured>, Problems>,
) -> Result<Vec<Answered>, Problems> {
    claims.iter().map(|claim| Ok((claim.clone(), of(claim)?))).collect()
}

/// What a study found out.
pub(super) struct Findings<'a> {
    pub title: String,
    pub sheets: Vec<Sheet>,
    pub figures: Vec<(String, Figure)>,
    pub claims: Vec<Answered>,
    pub workloads: &'a [Published],
    pub columns: &'a [Column],
}

impl Findings<'_> {
    /// Writes everything into the request's folder, the claims after the tables.
    ///
    /// # Errors
    /// If a file cannot be written.
    pub fn write(mut self, request: &Request) -> Result<Reproduction, Problems> {
        self.sheets.push(claim::sheet(&self.claims));
        let Written { mut files, mut notes, drawings } =
            write(&self.sheets, &self.figures, &request.out)?;
        let folder = request.traces.as_deref();
        notes.extend(folder.and_then(|it| none_found(self.workloads, it, self.columns)));
        let verdicts: Vec<Verdict> =
            self.claims.iter().map(|(claim, ours)| claim.verdict(ours.as_ref())).collect();
        let mut lead = vec![Verdict::counted(&verdicts)];
        lead.extend(request.limit.map(|limit| {
            format!("{limit} requests of each run at most: a look, not a reproduction.")
        }));
        lead.extend(notes.iter().map(|note| format!("Note: {note}")));
        let page = report::of_study(&self.title, lead, &self.sheets, drawings);
        report::write(&request.out.join(report::REPORT), &page)?;
        files.push(report::REPORT.into());
        Ok(Reproduction { title: self.title, sheets: self.sheets, verdicts, files, notes })
    }
}
