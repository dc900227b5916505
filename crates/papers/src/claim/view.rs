//! Views of a study's measurements: through a view, other schemes and variants of the drive are
//! read in place of those that a claim asks for. A claim's measure is unaware of the view, so that
//! its null and its range over the open choices are measured by the very function that measures the
//! claim.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// Substitution of results in a study: names the schemes, variant of the drive, replay speed and
/// workloads whose results are used instead of those that a claim is measured on. By default
/// nothing is replaced.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lens {
    /// Pairs of schemes: the results of the second are used wherever the measurement of a claim
    /// asks for results of the first.
    schemes: Vec<(String, String)>,
    /// Pairs of a scheme and a variant of the drive: the scheme's results come from that variant
    /// where a claim's measure asks for the paper's drive. An empty scheme name stands for all
    /// other schemes.
    variants: Vec<(String, String)>,
    /// Replay speed (factor by which arrival times are divided) of the runs from which claims are
    /// measured instead of the runs at recorded times; `None` replaces no run.
    speed: Option<f64>,
    /// Names of the workloads over which a study's claims take means; `None` for all workloads.
    only: Option<Vec<String>>,
}

impl Lens {
    /// Returns a view of a study's measurements in which results of the first scheme of each pair
    /// in `pairs` are replaced by those of the second.
    pub fn replacing(pairs: &[(&str, &str)]) -> Lens {
        let schemes = pairs.iter().map(|(asked, read)| ((*asked).into(), (*read).into()));
        Lens { schemes: schemes.collect(), ..Lens::default() }
    }

    /// Returns a view of a study's measurements in which the results of the variant `name` of the
    /// drive replace those of the drive that the study's paper describes.
    pub fn variant(name: impl Into<String>) -> Lens {
        Lens { variants: vec![(String::new(), name.into())], ..Lens::default() }
    }

    /// Makes an exception in this substitution of a study's results: results under the scheme
    /// `scheme` come from the variant `variant` of the drive.
    pub fn but(mut self, scheme: &str, variant: impl Into<String>) -> Lens {
        self.variants.insert(0, (scheme.into(), variant.into()));
        self
    }

    /// Replaces results at recorded request times by those at the replay speed `speed` in this view
    /// of a study's measurements.
    pub fn at(self, speed: f64) -> Lens {
        Lens { speed: Some(speed), ..self }
    }

    /// Restricts the means over workloads, from which claims are measured, to the workloads named.
    pub fn over(self, workloads: &[String]) -> Lens {
        Lens { only: Some(workloads.to_vec()), ..self }
    }
}

/// The replacements (of schemes, drives, replay speed and workloads) in force while claims are
/// measured from the results of a study.
#[derive(Debug, Default)]
pub(crate) struct View(Mutex<Lens>);

impl View {
    fn lens(&self) -> MutexGuard<'_, Lens> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls the function `of` while results of a study are substituted as `lens` says (such as one
    /// scheme's results for another's), and ends the substitution afterward. Calls do not nest.
    pub fn through<T>(&self, lens: &Lens, of: impl FnOnce() -> T) -> T {
        debug_assert_eq!(*self.lens(), Lens::default(), "views do not nest");
        *self.lens() = lens.clone();
        let found = of();
        *self.lens() = Lens::default();
        found
    }

    /// Returns the scheme whose results stand for those of the scheme `asked` in the current
    /// measurement of a claim (a control measurement replaces the paper's system); `asked` itself
    /// if not replaced.
    pub fn scheme(&self, asked: &str) -> String {
        let lens = self.lens();
        let pair = lens.schemes.iter().find(|(name, _)| name == asked);
        pair.map_or(asked, |(_, read)| read).to_string()
    }

    /// Returns the variant of the drive whose results are used under the scheme `read` where the
    /// measurement of a claim asks for the variant `asked`. Only the paper's drive, whose variant
    /// has an empty name, is ever replaced.
    pub fn variant(&self, read: &str, asked: &str) -> String {
        let lens = self.lens();
        if !asked.is_empty() {
            return asked.to_string();
        }
        let of = |wanted: &str| lens.variants.iter().find(|(scheme, _)| scheme == wanted);
        of(read).or_else(|| of("")).map_or(asked, |(_, variant)| variant).to_string()
    }

    /// Returns the replay speed whose results stand for those at the speed `asked` in the current
    /// measurement of a claim. Only the recorded speed (1) is ever replaced.
    pub fn speed(&self, asked: f64) -> f64 {
        let speed = self.lens().speed;
        if asked == 1.0 { speed.unwrap_or(asked) } else { asked }
    }

    /// Returns true if the results of this workload count in the means over workloads from which
    /// claims are measured; a view can restrict those means to some workloads.
    pub fn has(&self, workload: &str) -> bool {
        self.lens().only.as_ref().is_none_or(|only| only.iter().any(|it| it == workload))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_view_replaces_what_it_says_and_nothing_after_it() {
        let view = View::default();
        let lens = Lens::replacing(&[("rhio", "rt_r"), ("rt_r", "noop")]);
        view.through(&lens, || {
            // Pairs do not chain.
            assert_eq!(view.scheme("rhio"), "rt_r");
            assert_eq!(view.scheme("rt_r"), "noop");
            assert_eq!(view.scheme("pv_w"), "pv_w");
            assert_eq!(view.variant("rt_r", ""), "");
        });
        assert_eq!(view.scheme("rhio"), "rhio");
        let lens = Lens::variant("N 8").but("udl", "load 2").over(&["TPCC".into()]);
        view.through(&Lens { speed: Some(1000.0), ..lens }, || {
            assert_eq!(view.variant("hc", ""), "N 8");
            assert_eq!(view.variant("udl", ""), "load 2");
            assert_eq!(view.variant("hc", "stage 2"), "stage 2");
            assert_eq!([view.speed(1.0), view.speed(2.0)], [1000.0, 2.0]);
            assert!(view.has("TPCC") && !view.has("Win7"));
        });
        assert!(view.has("Win7"));
    }
}
