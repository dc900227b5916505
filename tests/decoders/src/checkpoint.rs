//! Decoder of the body of a lifetime's checkpoint, after the file's checksum.
//!
//! The first byte of the input selects the drive that resumes.

use crate::{refused_in_words, scratch_of};
use fowler_device::{LifetimeDrive, PreconditionedImage};
use fowler_experiment::device_spec::{DeviceSpec, Source, resolve};
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_lifetime::{Ended, LifetimeSpec, SaveTo, Watch, live, reread};
use std::fs;
use std::path::PathBuf;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

const SCHEMES: [&str; 2] = ["st", "ready_opt"];

/// Returns a drive of 256 pages, whose checkpoint is short.
fn spec(scheme: &str) -> DeviceSpec {
    let set = [
        "geometry.channels=1",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=1",
        "geometry.planes_per_die=1",
        "geometry.blocks_per_plane=32",
        "geometry.pages_per_block=8",
        "geometry.over_provisioning=0.4",
        "lifetime.cycles=100",
        "lifetime.target=20d",
    ];
    assert!(SCHEMES.contains(&scheme));
    let set = set.map(String::from).to_vec();
    DeviceSpec { device: "ready-32".into(), set, ..DeviceSpec::default() }
}

static DRIVES: LazyLock<[LifetimeDrive; 2]> = LazyLock::new(|| {
    SCHEMES.map(|name| {
        let spec = spec(name);
        let (source, scheme) = (spec.source().expect("a preset"), spec.scheme(Some(name)));
        let drive = resolve(&source, &scheme.expect("a preset"), &spec);
        let config = drive.unwrap_or_else(|diagnostics| panic!("{diagnostics}")).config;
        let image = PreconditionedImage::new(&config).expect("a drive that works");
        LifetimeDrive::new(&image, &config).expect("a drive that works")
    })
});

/// An accepted checkpoint is saved again as a checkpoint from which the drive resumes in the same
/// state. Returns true if the input was accepted.
pub fn check(input: &[u8]) -> bool {
    let [kind, body @ ..] = input else { return false };
    let drive = &DRIVES[usize::from(kind % 2)];
    match reread(body, drive) {
        Err(why) => refused_in_words(&why),
        Ok(saved) => {
            assert!(reread(&saved, drive) == Ok(saved), "the same state, the same bytes");
            true
        }
    }
}

const LOAD: &str = "duration = '1h'
arrivals = { kind = 'poisson', rate = 1.0 }
mix.reads = 0.0
space.share = 0.8
writes.sizes = '4KiB 3, 16KiB 1'
";

/// The checkpoints of lives that are stopped early, and of finished ones.
pub fn seeds() -> Vec<Vec<u8>> {
    let path = scratch_of("checkpoint").join("checkpoint");
    let mut seeds = Vec::new();
    for (number, scheme) in SCHEMES.iter().enumerate() {
        for steps in [1, 2, 4, u32::MAX] {
            seeds.push([&[number as u8], &*body(scheme, steps, &path)].concat());
        }
    }
    seeds
}

/// Returns the checkpoint body of a life stopped after this many steps, or of the whole life if it
/// has fewer.
fn body(scheme: &str, steps: u32, path: &PathBuf) -> Vec<u8> {
    let _absent = fs::remove_file(path);
    let (stop, step) = (AtomicBool::new(false), AtomicU32::new(0));
    let load = Source { name: "load".into(), text: LOAD.into() };
    let spec = LifetimeSpec {
        device: spec(scheme),
        scheme: Some(scheme.into()),
        workload: WorkloadSpec::Generated(load),
        limit: None,
        dilation: Some(2),
        check: false,
        close_up: None,
        checkpoint: SaveTo::File(path.clone()),
        checkpoint_every: 1000,
    };
    let watch = Watch {
        control: Control { stop: &stop, progress: &|_| () },
        share: &|_| {
            let so_far = step.fetch_add(1, Ordering::Relaxed) + 1;
            stop.store(so_far >= steps, Ordering::Relaxed);
        },
        early: &|_| (),
        warn: &|_| (),
    };
    let ended = live(&spec, watch).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    assert!(!matches!(ended, Ended::Stopped { saved: false }), "something was done");
    let file = fs::read(path).expect("a checkpoint");
    let line = file.iter().position(|&byte| byte == b'\n').expect("a line") + 1;
    file[line..file.len() - 32].to_vec()
}
