//! Describes when the protection of a drive changed with its stage of life.

use super::Outcome;
use fowler_device::StageChange;
use fowler_device::policy::redundancy::Stage;
use fowler_units::Nanos;

/// Returns the number of a stage of the drive's life, 1 to 3, as the DA-RAID-5 paper counts them.
fn number(stage: Stage) -> u8 {
    stage as u8 + 1
}

impl Outcome {
    /// Describes in words when the drive entered each stage of its life, and why.
    pub fn stages(&self) -> Vec<String> {
        let changes = self.protection.iter().flat_map(|it| &it.changes);
        let worn = self.drive.config.redundancy.worn_above;
        let all = self.drive.config.redundancy.all_above;
        let why = |it: &StageChange| match it.to {
            Stage::First => String::new(),
            Stage::Second => format!("a block has {} P/E cycles, above {worn}", it.age.cycles),
            Stage::Third => {
                format!("{} stripes have a page in a worn block, above {all}", it.age.worn_stripes)
            }
        };
        let words = |it: &StageChange| {
            let at = (it.at - Nanos::ZERO).as_s();
            format!("stage {} from {at:.3} s: {}", number(it.to), why(it))
        };
        changes.map(words).collect()
    }
}
