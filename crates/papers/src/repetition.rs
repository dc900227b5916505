//! Repetitions of a study: with other seeds, and over longer runs. A verdict stands only if every
//! repetition confirms it.

use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::run::RunSpec;
use std::fmt;

/// The difference of a repetition from the study itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Repetition {
    /// The study itself.
    Original,
    /// Another seed for the drives and the generated workloads.
    Seed(u64),
    /// Runs that are twice as long, of workloads that have that many requests.
    Twice,
}

/// The repetitions of every study: four more seeds, five in all, and runs twice as long. The seeds
/// are arbitrary.
pub(crate) const REPETITIONS: &[Repetition] = &[
    Repetition::Seed(101),
    Repetition::Seed(102),
    Repetition::Seed(103),
    Repetition::Seed(104),
    Repetition::Twice,
];

impl Repetition {
    /// Returns whether this is the study itself.
    pub fn is_original(self) -> bool {
        self == Repetition::Original
    }

    /// Returns the run as this repetition has it.
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

    /// Returns the folder for the repetition's runs, below that of the study's own.
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
