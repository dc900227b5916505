//! The life of a preset, scaled down, beside the run of the same drive.

use fowler_device::{Counters, Source};
use fowler_experiment::device_spec::{self, DeviceSpec};
use fowler_experiment::run::{ReplaySpeed, Run, RunSpec};
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_lifetime::{Ended, LifetimeSpec, SaveTo, Watch, live};

/// Writes of a run, and of the requests before it: each more than three times the drive.
const WRITES: u64 = 480_000;

/// The preset with 12 pages per block instead of 384, and a third of the blocks.
fn device(more: &[String]) -> DeviceSpec {
    let set = [
        "geometry.pages_per_block=12",
        "geometry.blocks_per_plane=128",
        "geometry.over_provisioning=0.28",
        "lifetime.target=1230s",
    ];
    let set = set.into_iter().map(String::from).chain(more.iter().cloned()).collect();
    DeviceSpec { device: "nvme-pm9a3".into(), set, ..DeviceSpec::default() }
}

/// Writes at addresses of which a few are popular.
fn workload(seconds: u64) -> WorkloadSpec {
    let text = format!(
        "duration = '{seconds}s'\narrivals = {{ kind = 'poisson', rate = 400.0 }}\nmix.reads = 0.0\n\
         writes.sizes = '4KiB'\nwrites.addresses = 'zipf'\n"
    );
    WorkloadSpec::Generated(device_spec::Source { name: "zipf.toml".into(), text })
}

/// Returns the write amplification, and the erases of blocks for each page of the host.
fn wear(counters: &Counters) -> [f64; 2] {
    let host = counters.programs[Source::Host] as f64;
    [counters.waf().expect("it was written"), counters.erases.sum() as f64 / host]
}

/// In write amplification and erases a life agrees within 1 % with the drive simulated event by
/// event, at a dilation of 1 and of 2. Two seeds differ by 0.4 %, and so do two lives of one drive.
/// The drive has more spare than the preset: with the preset's 20 %, lives of superblocks as short
/// as these, of 64 commands, come to 4 % less than runs, and of superblocks four times as long to
/// 0.6 % less.
// Slow: two lives, and a run of a million requests.
#[test]
fn the_life_of_a_preset_is_that_of_its_run() {
    let life = LifetimeSpec {
        device: device(&[]),
        scheme: None,
        workload: workload(100),
        limit: None,
        dilation: Some(1),
        check: true,
        close_up: None,
        checkpoint: SaveTo::Nowhere,
        checkpoint_every: u64::MAX,
    };
    let watch =
        Watch { control: Control::UNWATCHED, share: &|_| (), early: &|_| (), warn: &|_| () };
    let Ended::Lived(lived) = live(&life, watch).unwrap() else { panic!("nobody stopped it") };
    let warm_up = format!("precondition.warm_up={WRITES}");
    let run = RunSpec::new(device(&[warm_up]), workload(2400), ReplaySpeed::AsRecorded);
    let run = Run::new(&run, Control::UNWATCHED).outcome().unwrap();
    assert!(run.recorder.requests().abs_diff(WRITES) < WRITES / 100, "the warm-up is half of it");
    let expected = wear(&run.counters);
    assert_eq!(lived.lived.iter().map(|it| it.dilation).collect::<Vec<_>>(), [1, 2]);
    for life in &lived.lived {
        for (found, expected) in wear(&life.counters).into_iter().zip(expected) {
            let off = found / expected - 1.0;
            assert!(off.abs() < 0.01, "dilation {}: {found}, not {expected}", life.dilation);
        }
    }
}
