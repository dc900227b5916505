//! Repetitions of a study, with other seeds and with runs twice as long. A verdict on a claim
//! stands only if every repetition confirms it.

use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::run::RunSpec;
use std::fmt;

/// A repetition of a study: how it differs from the original study.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Repetition {
    /// The study of a paper with its own seeds and run lengths, before any repetition.
    Original,
    /// The study with this seed instead of its own.
    Seed(u64),
    /// The study with runs that are twice as long, where a workload has that many requests.
    Twice,
}

/// The repetitions of every study: four more seeds (five with that of the original), and runs twice
/// as long. The seeds are arbitrary.
pub(crate) const REPETITIONS: &[Repetition] = &[
    Repetition::Seed(101),
    Repetition::Seed(102),
    Repetition::Seed(103),
    Repetition::Seed(104),
    Repetition::Twice,
];

impl Repetition {
    /// Returns true if a study runs with its own seeds and run lengths, false if it is repeated
    /// with others.
    pub fn is_original(self) -> bool {
        self == Repetition::Original
    }

    /// Returns the specification `spec` of a study's run, changed for this repetition of the study:
    /// another seed, or twice the length.
    ///
    /// # Errors
    /// If the length of a generated workload cannot be multiplied.
    pub fn of(self, mut spec: RunSpec) -> Result<RunSpec, Diagnostics> {
        match self {
            Repetition::Original => {}
            Repetition::Seed(seed) => spec.device.seed = Some(seed),
            Repetition::Twice => {
                spec.limit = spec.limit.map(|limit| limit.saturating_mul(2));
                spec.workload = spec.workload.longer(2)?;
            }
        }
        Ok(spec)
    }

    /// Returns the folder for the runs of the repetition, relative to the folder of the original
    /// study's runs; empty for the original.
    pub fn folder(self) -> String {
        match self {
            Repetition::Original => String::new(),
            Repetition::Seed(seed) => format!("seed-{seed}"),
            Repetition::Twice => "twice".into(),
        }
    }
}

impl fmt::Display for Repetition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Repetition::Original => f.write_str("the study itself"),
            Repetition::Seed(seed) => write!(f, "seed {seed}"),
            Repetition::Twice => f.write_str("twice as long"),
        }
    }
}
