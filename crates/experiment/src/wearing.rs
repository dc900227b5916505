//! What programs wear by the threshold voltages they are made at, and what became of the pages that left the
//! buffer (HIRE, sections 3 and 4.2).

use crate::outcome::Outcome;
use fowler_device::ReadHot;
use fowler_device::policy::hotness::Detector;
use fowler_device::reliability::ModelKind;
use fowler_physics::voltage::SCALES;
use serde_json::{Value, json};

/// What a program wears, summed: it is proportional to its threshold voltages (HIRE, section 2.1), with 1 for the
/// nominal ones.
pub fn worn(programs_at: [u64; 3]) -> f64 {
    programs_at.iter().zip(SCALES).map(|(&programs, scale)| programs as f64 * scale).sum()
}

impl Outcome {
    /// Programs on any account by their voltages; none where these are not told apart.
    pub fn programs_at(&self) -> Option<[u64; 3]> {
        let modelled = self.drive.config.reliability.model != ModelKind::Off;
        let by_source = self.counters.programs_at;
        let sum = |voltage: usize| by_source.iter().map(|programs| programs[voltage]).sum();
        modelled.then(|| std::array::from_fn(sum))
    }

    /// The wearing weight: what a program wears on average, 0.8 to 1.2. It hides how many programs there are,
    /// which [`fowler_device::Counters::waf`] says. None without programs, or where voltages are not told apart.
    pub fn wearing_weight(&self) -> Option<f64> {
        let programs_at = self.programs_at()?;
        let count: u64 = programs_at.iter().sum();
        (count > 0).then(|| worn(programs_at) / count as f64)
    }

    pub(crate) fn programs_at_json(&self) -> Value {
        let named = |[boosted, nominal, reduced]: [u64; 3]| json!({ "boosted": boosted, "nominal": nominal, "reduced": reduced });
        let Some(all) = self.programs_at() else { return Value::Null };
        let mut object = named(all);
        object["host"] = named(self.counters.programs_at[0]);
        object
    }

    /// Pages that left the buffer, by how they were used there; null where uses are not told apart.
    pub(crate) fn left_json(&self) -> Value {
        let [mixed, read_hot, write_hot] = self.counters.left;
        let told = self.drive.config.hotness.uses(Detector::BufferHits);
        told.then(|| json!({ "mixed": mixed, "read_hot": read_hot, "write_hot": write_hot })).into()
    }

    /// Clean pages that were read hot: those programmed anew, and those given up; null where none would be.
    pub(crate) fn rewritten_json(&self) -> Value {
        let [anew, given_up] = self.counters.rewritten;
        let would = self.drive.config.buffer.read_hot == ReadHot::RewriteOnIdle;
        would.then(|| json!({ "anew": anew, "given_up": given_up })).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_wear_by_their_voltages() {
        assert!((worn([10, 0, 0]) - 12.0).abs() < 1e-12);
        assert!((worn([1, 2, 1]) - 4.0).abs() < 1e-12);
        assert!((worn([0, 0, 10]) - 8.0).abs() < 1e-12);
    }
}
