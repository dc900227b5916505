//! The nominal step is the one that is safe in the weakest block: what a preset says of its cells
//! must bear that out.

use fowler_device::policy::voltage::VoltageKind;
use fowler_experiment::device_spec::{DeviceSpec, resolve};
use fowler_experiment::scheme::Scheme;
use fowler_physics::rber::Condition;
use fowler_physics::strength::Strengths;
use fowler_physics::vth::Setting;

#[test]
fn the_weakest_block_of_rhios_drive_is_readable_at_its_end() {
    let spec = DeviceSpec { device: "rhio".into(), ..DeviceSpec::default() };
    let config = resolve(&spec.source().unwrap(), &Scheme::none(), &spec).unwrap().config;
    assert_eq!(config.voltage.name, VoltageKind::Nominal);
    let reliability = &config.reliability;
    let (model, ldpc, end) = (reliability.model().unwrap(), reliability.ldpc(), reliability.end());
    let level = |cycles: f64| {
        let (_, weakest) = Strengths::new(&reliability.cells).ends();
        let cycles = reliability.cells.equivalent(weakest, cycles);
        let setting = Setting { scale: 1.0, step: reliability.cells.step };
        model.level(&Condition { cycles, age: end.age, reads: end.reads, setting }, &ldpc)
    };
    assert_eq!(level(end.cycles), Some(ldpc.levels().len() - 1), "it takes all that the code has");
    assert_eq!(level(end.cycles + 100.0), None, "and is the last hundred at which it does");
}
