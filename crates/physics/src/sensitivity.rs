//! The effect of each unpublished constant on the results.
//!
//! Each assumed or second-hand constant is set to both ends of its range while the others stay
//! unchanged, and the results for four pages, one block and HIRE's voltages are computed again. A
//! result that changes depends on that assumption.

use crate::ispp::{EndOfLife, coarsest_step_up_to};
use crate::ldpc::Ldpc;
use crate::parameters::{CONSTANTS, Constant, Parameters};
use crate::rber::{Analytic, Condition, Reliability};
use crate::strength::Strengths;
use crate::voltage::{Hire, OPERATING_POINT};
use fowler_units::Span;

/// A page of an average block, at nominal voltages and step, for which the cell model is evaluated
/// with several choices of its constants.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Point {
    /// Name of the flash page in tables of results, such as `3,000, 1 week`.
    pub name: &'static str,
    /// Wear of the page's block, in P/E cycles of an average block.
    pub cycles: f64,
    /// Time since the page was programmed, in days.
    pub days: u64,
    /// Number of reads of the page's block since its last erase.
    pub reads: u32,
}

/// Pages whose bit error rates and reads are computed and compared under different constants of the
/// cell model.
pub const POINTS: [Point; 4] = [
    Point { name: "3,000 cycles", cycles: 3000.0, days: 0, reads: 0 },
    Point { name: "3,000, 1 week", cycles: 3000.0, days: 7, reads: 0 },
    Point { name: "3,000, 30 days", cycles: 3000.0, days: 30, reads: 0 },
    Point { name: "3,000, 1 million reads", cycles: 3000.0, days: 0, reads: 1_000_000 },
];

/// Quantile of block strength at which the sensitivity analysis finds the coarsest ISPP step with
/// which a block is readable at its end of life: a tenth of all blocks is stronger.
pub const STRONG: f64 = 0.1;

/// Coarsest programming step that is considered, in nominal steps.
pub const WIDEST: f64 = 2.0;

/// Numbers that the cell model computes with one set of constants: bit error rates, reads, ISPP
/// step.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Results {
    /// Raw bit error rate (RBER) of each of the four pages of the sensitivity analysis ([`POINTS`]:
    /// 3,000 P/E cycles, at several ages and read counts).
    pub rber: [f64; 4],
    /// Number of reference voltages that a read of each of the four pages of the sensitivity
    /// analysis needs, in the order of [`POINTS`]; `None` if the read fails.
    pub references: [Option<u32>; 4],
    /// Coarsest ISPP step in V at which a strong block (a tenth of all blocks is stronger) is
    /// readable at its end of life.
    pub step: f64,
    /// Number of reference voltages that a read of just-written data in a worn, average block needs
    /// at each of the HIRE paper's voltage sets: boosted, nominal and reduced.
    pub hire: [Option<u32>; 3],
}

/// Returns the bit error rates, ISPP step and numbers of references of the cell model with
/// `parameters`; `None` if the constants do not describe cells.
pub fn results(parameters: &Parameters) -> Option<Results> {
    let analytic = Analytic::new(*parameters).ok()?;
    let setting = analytic.nominal();
    let ldpc = Ldpc::hire(parameters).ok()?;
    let model = Reliability::Analytic(analytic);
    let rber = POINTS.map(|point| {
        let Point { cycles, days, reads, .. } = point;
        model.rber(&Condition { cycles, age: Span::ms(days * 86_400_000), reads, setting })
    });
    let references = |level: usize| ldpc.levels()[level].references;
    let growth = Strengths::new(parameters).strength_at(STRONG);
    let end = EndOfLife::new(parameters);
    let widest = WIDEST * parameters.step;
    let (cycles, age) = OPERATING_POINT;
    Some(Results {
        rber,
        references: rber.map(|rber| ldpc.needed(rber).map(references)),
        step: coarsest_step_up_to(&model, growth, &end, &ldpc, widest),
        hire: Hire { model: &model, ldpc: &ldpc }.levels(cycles, age).map(|it| it.map(references)),
    })
}

/// Numbers that the cell model computes with one constant at one end of its range.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Row {
    /// Constant of the cell model that is at one end of its range; the others are unchanged.
    pub constant: &'static Constant,
    /// Value of the changed constant of the cell model: one end of its range.
    pub value: f64,
    /// Bit error rates, reads and ISPP step that the cell model computes with one constant at an
    /// end of its range; `None` if no cells can have that value.
    pub results: Option<Results>,
}

/// Evaluates the cell model twice for every constant that has a range, with that constant at each
/// end of its range and all others as in `parameters`.
pub fn sweep(parameters: &Parameters) -> Vec<Row> {
    let swept = CONSTANTS.iter().filter_map(|constant| Some((constant, constant.sweep?)));
    swept
        .flat_map(|(constant, (low, high))| [(constant, low), (constant, high)])
        .map(|(constant, value)| {
            let changed = parameters.with(constant.name, value);
            Row { constant, value, results: changed.as_ref().and_then(results) }
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_end_of_every_range_makes_cells() {
        let rows = sweep(&Parameters::default());
        let constants = CONSTANTS.iter().filter(|it| it.sweep.is_some()).count();
        assert_eq!(rows.len(), 2 * constants);
        for row in &rows {
            assert!(row.results.is_some(), "{} = {}", row.constant.name, row.value);
        }
    }

    #[test]
    fn a_constant_that_changes_nothing_is_not_needed() {
        let base = results(&Parameters::default()).unwrap();
        for pair in sweep(&Parameters::default()).chunks(2) {
            let name = pair[0].constant.name;
            let moves = pair.iter().any(|row| row.results != Some(base));
            assert!(moves, "{name} has no effect on the results");
        }
    }
}
