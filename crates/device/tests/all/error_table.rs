//! A table of bit errors in the place of the model that it was taken from.

use crate::support::small;
use fowler_device::policy::sensing::SensingKind;
use fowler_device::policy::step::StepKind;
use fowler_device::reliability::{ModelKind, Params, RateTable};
use fowler_device::*;
use fowler_physics::rber::{Analytic, Reliability};
use fowler_units::{HostIo, HostOp, Nanos, Rng, Span};

const DAY: u64 = 86_400_000_000_000;

/// Returns the error rates that the analytic model gives for pages at the nominal step, on a fine
/// grid.
fn measured(params: &Params) -> RateTable {
    let analytic = Analytic::new(params.cells).unwrap();
    let setting = analytic.nominal();
    let model = Reliability::Analytic(analytic);
    let cycles: Vec<f64> = (0..=400).map(|at| f64::from(at) * 15.0).collect();
    // Dense where the logarithm of the age bends.
    let age = |at: u32| Span((3600.0e9 * (f64::from(at) / 40.0).exp_m1()) as u64);
    let ages: Vec<Span> = (0..=280).map(age).collect();
    let row = |&cycles: &f64| {
        let block = model.block(cycles);
        ages.iter().map(|&age| block.rber(age, 0, setting)).collect()
    };
    RateTable { rates: cycles.iter().map(row).collect(), cycles, ages }
}

fn drive(sensing: SensingKind) -> Config {
    let mut config = small();
    config.reliability.model = ModelKind::Analytic;
    config.reliability.cycles = 2500;
    config.reliability.oldest = Span(60 * DAY);
    config.sensing.name = sensing;
    config.sensing.inputs = 1;
    config
}

fn served(config: &Config, requests: &[HostIo]) -> (Vec<Completion>, Counters) {
    let mut completions: Vec<Completion> = Vec::new();
    let mut device = Device::new(config).unwrap_or_else(|why| panic!("{why:?}"));
    device.run(requests.iter().copied(), Pacing::Open, &mut completions);
    (completions, device.counters())
}

fn requests(config: &Config) -> Vec<HostIo> {
    let pages = config.layout().unwrap().logical.0 / config.geometry.page_size.0;
    let mut rng = Rng::stream(3, "tabled");
    let mut at = 0;
    (0..4000)
        .map(|_| {
            at += rng.below(300_000);
            let op = if rng.chance(0.8) { HostOp::Read } else { HostOp::Write };
            let page = config.geometry.page_size.0;
            HostIo::new(op, Nanos(at), rng.below(pages) * page, page as u32)
        })
        .collect()
}

#[test]
fn a_table_of_the_model_reads_as_the_model_does() {
    for sensing in [SensingKind::WorstCase, SensingKind::Model, SensingKind::Retry] {
        let analytic = drive(sensing);
        let mut tabled = analytic.clone();
        tabled.reliability.model = ModelKind::Table;
        tabled.reliability.table = measured(&analytic.reliability);
        let requests = requests(&analytic);
        let (one, other) = (served(&analytic, &requests), served(&tabled, &requests));
        let used = one.1.reads_at.iter().filter(|&&reads| reads > 20).count();
        let least = if sensing == SensingKind::WorstCase { 1 } else { 3 };
        assert!(used >= least, "{sensing:?}: {:?}", one.1.reads_at);
        assert_eq!(one.1, other.1, "{sensing:?}");
        assert_eq!(one.0, other.0, "{sensing:?}");
    }
}

#[test]
fn a_drive_of_a_table_programs_at_the_nominal_step() {
    let mut analytic = drive(SensingKind::WorstCase);
    analytic.hotness.detectors = 1;
    analytic.step.name = StepKind::ByStrength;
    let mut tabled = analytic.clone();
    tabled.reliability.model = ModelKind::Table;
    tabled.reliability.table = measured(&analytic.reliability);
    let mut nominal = tabled.clone();
    nominal.step.name = StepKind::Nominal;
    let requests = requests(&analytic);
    assert_ne!(served(&analytic, &requests), served(&tabled, &requests));
    assert_eq!(served(&nominal, &requests), served(&tabled, &requests));
}

#[test]
fn a_table_of_one_rate_is_read_at_one_level() {
    for (rate, level) in [(1e-4, 0), (8e-3, 1), (1.4e-2, 2)] {
        let mut config = drive(SensingKind::Retry);
        config.reliability.model = ModelKind::Table;
        config.reliability.cells.disturb_slope = 0.0;
        config.reliability.table =
            RateTable { cycles: vec![0.0], ages: vec![Span::ZERO], rates: vec![vec![rate]] };
        let (_, counters) = served(&config, &requests(&config));
        let all: u64 = counters.reads_at.iter().sum();
        assert!(all > 1000 && counters.reads_at[level] == all, "{rate}: {:?}", counters.reads_at);
        assert_eq!(counters.uncorrectable, 0);
    }
}
