//! Incremental step pulse programming (ISPP): a coarser step is faster and leaves wider states.
//!
//! Pulses raise the threshold voltage step by step, so the number of pulses and the program time
//! are inversely proportional to the step: `time = time at the nominal step * nominal step / step`
//! (RHIO, II-A; the paper prints no table). HIRE scales the step with the voltages and keeps a
//! program time of 600 us. That is the same law: [`crate::vth::Setting`] has the step at scale 1.
//!
//! A strong block can afford more errors, so it may be programmed at the coarsest step at which
//! data written at its end of life can still be read. That step is our reading of RHIO, which says
//! "coarser" but not how much.

use crate::ldpc::Ldpc;
use crate::parameters::Parameters;
use crate::rber::Reliability;
use crate::root;
use crate::vth::Setting;
use fowler_units::Span;

/// Wear, retention age and reads of a flash block at the end of its life, at which the cell model
/// must still be able to read the data.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EndOfLife {
    /// Number of P/E cycles of the block, not adjusted for the block's strength.
    pub cycles: f64,
    /// Time since the data was programmed.
    pub age: Span,
    /// Number of reads of the block since its last erase.
    pub reads: u32,
}

impl EndOfLife {
    /// Returns the end of a block's life as `parameters` define it: P/E cycles, data age and reads.
    pub fn new(parameters: &Parameters) -> EndOfLife {
        let Parameters { end_cycles, end_age, end_reads, .. } = *parameters;
        let age = Span((end_age * 86_400e9) as u64);
        EndOfLife { cycles: end_cycles, age, reads: end_reads as u32 }
    }
}

/// Returns the program time of a page at `step` if it takes `time` at the step `nominal`.
///
/// # Panics
/// If a step is not above zero.
pub fn program_time(time: Span, nominal: f64, step: f64) -> Span {
    assert!(nominal > 0.0 && step > 0.0, "ISPP steps must be above zero: {nominal}, {step}");
    Span((time.0 as f64 * (nominal / step)).round() as u64)
}

/// Returns true if a block whose bit error rate grows by the factor e^`growth` per P/E cycle,
/// programmed at the voltages and ISPP step of `setting`, is readable at its end of life.
fn survives(
    model: &Reliability,
    growth: f64,
    setting: Setting,
    (end, ldpc): (&EndOfLife, &Ldpc),
) -> bool {
    let cycles = model.parameters().equivalent(growth, end.cycles);
    let rber = model.block(cycles).rber(end.age, end.reads, setting);
    ldpc.needed(rber).is_some()
}

/// Returns the coarsest ISPP step in `ladder`, in V, at which a block whose bit error rate grows by
/// the factor e^`growth` per P/E cycle is readable at its end of life. Returns the nominal step if
/// no coarser one qualifies. See docs/decisions/cells.md, "When is a coarser step allowed?".
pub fn coarsest_step(
    model: &Reliability,
    (growth, scale): (f64, f64),
    end: &EndOfLife,
    ldpc: &Ldpc,
    ladder: &[f64],
) -> f64 {
    let survives = |step| survives(model, growth, Setting { scale, step }, (end, ldpc));
    let steps = ladder.iter().copied().filter(|step| survives(*step));
    steps.fold(model.parameters().step, f64::max)
}

/// Returns the exact coarsest ISPP step between the nominal one and `highest` at which a block is
/// readable at its end of life, in V. Not for a cell model from tables of measured bit error rates,
/// which cover only some steps.
pub fn coarsest_step_up_to(
    model: &Reliability,
    growth: f64,
    end: &EndOfLife,
    ldpc: &Ldpc,
    highest: f64,
) -> f64 {
    let nominal = model.parameters().step;
    let survives = |step| survives(model, growth, Setting { scale: 1.0, step }, (end, ldpc));
    root::last(nominal, highest.max(nominal), survives).unwrap_or(nominal)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rber::Analytic;
    use crate::strength::Strengths;

    const LADDER: [f64; 5] = [0.25, 0.275, 0.3, 0.325, 0.35];

    fn cells() -> (Reliability, Ldpc, EndOfLife) {
        let parameters = Parameters::default();
        let model = Reliability::Analytic(Analytic::new(parameters).unwrap());
        (model, Ldpc::hire(&parameters).unwrap(), EndOfLife::new(&parameters))
    }

    #[test]
    fn time_is_inverse_to_the_step() {
        let us = |step| program_time(Span::us(600), 0.3, step);
        assert_eq!((us(0.3), us(0.6), us(0.15)), (Span::us(600), Span::us(300), Span::us(1200)));
        assert_eq!(us(0.36), Span::us(500));
    }

    #[test]
    #[should_panic(expected = "must be above zero")]
    fn a_step_of_zero_is_rejected() {
        program_time(Span::us(600), 0.3, 0.0);
    }

    #[test]
    fn the_stronger_the_block_the_coarser_its_step() {
        let (model, ldpc, end) = cells();
        let strengths = Strengths::new(&Parameters::default());
        let steps: Vec<(f64, f64)> = [0.0, 0.1, 0.3, 0.5, 0.7, 0.9, 1.0]
            .map(|quantile| {
                let growth = strengths.strength_at(quantile);
                let exact = coarsest_step_up_to(&model, growth, &end, &ldpc, 0.5);
                (coarsest_step(&model, (growth, 1.0), &end, &ldpc, &LADDER), exact)
            })
            .to_vec();
        assert!(steps.is_sorted_by(|a, b| a.0 >= b.0 && a.1 >= b.1), "{steps:?}");
        // The strongest blocks gain something, the weakest nothing, and no step of the ladder is
        // above the exact step.
        assert!(steps[0].0 > 0.25 && steps[6] == (0.25, 0.25), "{steps:?}");
        assert!(steps.iter().all(|(rung, exact)| rung <= exact), "{steps:?}");
    }

    #[test]
    fn the_coarsest_step_is_the_last_that_is_readable() {
        let (model, ldpc, end) = cells();
        let growth = Strengths::new(&Parameters::default()).strength_at(0.1);
        let step = coarsest_step_up_to(&model, growth, &end, &ldpc, 0.5);
        let check = |step| survives(&model, growth, Setting { scale: 1.0, step }, (&end, &ldpc));
        assert!(check(step) && !check(step * 1.0001), "{step}");
        // A drive that need not live long can use the coarsest step.
        let young = EndOfLife { cycles: 0.0, age: Span::ZERO, reads: 0 };
        assert_eq!(coarsest_step(&model, (growth, 1.0), &young, &ldpc, &LADDER), 0.35);
        let hopeless = EndOfLife { cycles: 20_000.0, ..end };
        assert_eq!(coarsest_step(&model, (growth, 1.0), &hopeless, &ldpc, &LADDER), 0.25);
    }
}
