//! Choices of a fit: settings between which no scale lies, such as a policy. A fit tries every
//! option of a choice.
//!
//! Invariants, which `calibrate_table.rs` checks: a choice has 2 to [`OPTIONS_MOST`] different
//! options; an option sets no key twice.

/// Largest number of choices of a fit; for a choice, such as that of a policy, the fit tries every
/// option.
pub(super) const CHOICES_MOST: usize = 3;
/// Largest number of options of one choice in a fit. For each option, the parameters are fitted
/// anew.
pub(super) const OPTIONS_MOST: usize = 8;

/// Options of which a fit takes the one that can be fitted best.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Options among which a fit chooses, at least two, each a list of settings `key=value`.
    pub options: Vec<Vec<String>>,
    /// Public source of the options among which a fit chooses, in words.
    pub source: String,
}

/// One option of a choice (a setting, such as a policy, of which a fit tries every option), and how
/// well the drive could be fitted to the measurements with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Settings `key=value` of the option that the fit tried, after the settings taken for earlier
    /// choices of the fit.
    pub settings: Vec<String>,
    /// Root mean square of the deviations between simulated and measured numbers after the
    /// parameters were fitted with one option, in units of the deviation expected of each number.
    /// `None` if the drive does not work with the option's settings.
    pub off: Option<f64>,
}
