//! Views of a study's measurements: through a view, other schemes and variants of the drive are
//! read in place of those that a claim asks for. A claim's measure is unaware of the view, so that
//! its null and its range over the open choices are measured by the very function that measures the
//! claim.

use std::sync::{Mutex, MutexGuard, PoisonError};

/// A view of a study's measurements: the schemes, the variant, the speed and the workloads that are
/// read in place of those that a measure asks for. The default view replaces nothing.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Lens {
    /// Pairs of schemes: the one that a measure asks for, and the one that is read in its place.
    schemes: Vec<(String, String)>,
    /// Pairs of a scheme and a variant of the drive: the scheme's results come from that variant
    /// where a claim's measure asks for the paper's drive. An empty scheme name stands for all
    /// other schemes.
    variants: Vec<(String, String)>,
    /// Replay speed (factor by which arrival times are divided) of the runs from which claims are
    /// measured instead of the runs at recorded times; `None` replaces no run.
    speed: Option<f64>,
    /// Names of the workloads over which means are taken; `None` for all.
    only: Option<Vec<String>>,
}

impl Lens {
    /// Returns a view of a study's measurements in which results of the first scheme of each pair
    /// in `pairs` are replaced by those of the second.
    pub fn replacing(pairs: &[(&str, &str)]) -> Lens {
        let schemes = pairs.iter().map(|(asked, read)| ((*asked).into(), (*read).into()));
        Lens { schemes: schemes.collect(), ..Lens::default() }
    }

    /// Returns a view of a study's measurements in which results of the variant `name` of the drive
    /// replace those of the paper's drive.
    pub fn variant(name: impl Into<String>) -> Lens {
        Lens { variants: vec![(String::new(), name.into())], ..Lens::default() }
    }

    /// Adds an exception to this view of measurements: the scheme `scheme` gets results of the
    /// variant `variant` of the drive.
    pub fn but(mut self, scheme: &str, variant: impl Into<String>) -> Lens {
        self.variants.insert(0, (scheme.into(), variant.into()));
        self
    }

    /// Replaces results at recorded request times by those at the replay speed `speed` in this view
    /// of a study's measurements.
    pub fn at(self, speed: f64) -> Lens {
        Lens { speed: Some(speed), ..self }
    }

    /// Restricts means in this view of a study's measurements to the workloads named.
    pub fn over(self, workloads: &[String]) -> Lens {
        Lens { only: Some(workloads.to_vec()), ..self }
    }
}

/// Holds the [`Lens`] (the schemes, drives, speed and workloads whose results replace others)
/// through which claims read a study's measurements at present.
#[derive(Debug, Default)]
pub(crate) struct View(Mutex<Lens>);

impl View {
    fn lens(&self) -> MutexGuard<'_, Lens> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Calls `of` while a study's measurements are replaced as `lens` says (such as one scheme's
    /// results by another's), then restores the originals. Calls do not nest.
    pub fn through<T>(&self, lens: &Lens, of: impl FnOnce() -> T) -> T {
        debug_assert_eq!(*self.lens(), Lens::default(), "views do not nest");
        *self.lens() = lens.clone();
        let found = of();
        *self.lens() = Lens::default();
        found
    }

    /// Returns the scheme whose results replace those of the scheme `asked` at present; `asked`
    /// itself if nothing replaces them.
    pub fn scheme(&self, asked: &str) -> String {
        let lens = self.lens();
        let pair = lens.schemes.iter().find(|(name, _)| name == asked);
        pair.map_or(asked, |(_, read)| read).to_string()
    }

    /// Returns the variant of the drive to read instead of the variant `asked` under the scheme
    /// `read`, in a control measurement of a claim. Only the paper's drive (an empty name) is ever
    /// replaced.
    pub fn variant(&self, read: &str, asked: &str) -> String {
        let lens = self.lens();
        if !asked.is_empty() {
            return asked.to_string();
        }
        let of = |wanted: &str| lens.variants.iter().find(|(scheme, _)| scheme == wanted);
        of(read).or_else(|| of("")).map_or(asked, |(_, variant)| variant).to_string()
    }

    /// Returns the replay speed whose results replace those at the speed `asked` at present. Only
    /// the recorded speed (1) is ever replaced.
    pub fn speed(&self, asked: f64) -> f64 {
        let speed = self.lens().speed;
        if asked == 1.0 { speed.unwrap_or(asked) } else { asked }
    }

    /// Returns true if this workload counts in the means over workloads that claims are measured
    /// with at present.
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
