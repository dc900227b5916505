//! The colors of Python's plots: those of report pages on white paper.

use fowler_figures::palette::{CAUSES, HUES, OTHER, Pattern, hex};
use pyo3::prelude::*;

/// Color and hatch of each cause of latency in matplotlib, by the name of the cause.
type CauseInks = Vec<(&'static str, (String, &'static str))>;

/// Returns the colors of schemes in plots, by their position in a comparison, and the colors and
/// hatches of the causes of latency.
#[pyfunction]
pub(crate) fn palette() -> (Vec<String>, CauseInks) {
    let schemes = HUES.iter().map(|hue| hex(hue.light)).collect();
    let causes = CAUSES.into_iter().chain([("other", OTHER)]).map(|(name, ink)| {
        let hatch = match ink.pattern {
            Pattern::Solid => "",
            Pattern::Rising => "////",
            Pattern::Dots => "..",
            Pattern::Falling => r"\\\\",
            Pattern::Level => "---",
        };
        (name, (hex(ink.hue().light), hatch))
    });
    (schemes, causes.collect())
}
