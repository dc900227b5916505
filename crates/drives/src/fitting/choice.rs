//! Choices of a fit: settings between which no scale lies, such as a policy. A fit tries every
//! option of a choice.

/// Largest number of choices of a fit.
pub(super) const CHOICES_MOST: usize = 3;
/// Largest number of options of a choice; each takes a search of its own.
pub(super) const OPTIONS_MOST: usize = 8;

/// Options of which a fit takes the one that can be fitted best.
#[derive(Clone, Debug, PartialEq)]
pub struct Choice {
    /// Options, at least two, each a list of settings `key=value`.
    pub options: Vec<Vec<String>>,
    /// Public source of the options, in words.
    pub source: String,
}

/// An option of a choice, and how well the drive could be fitted with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Tried {
    /// Settings of the option, after those taken from the choices before it.
    pub settings: Vec<String>,
    /// Root mean square of the deviations between simulated and measured numbers after the search,
    /// in units of the deviation expected of each. `None` if the drive does not work with the
    /// settings.
    pub off: Option<f64>,
}
