//! Every completion of the drives that are fitted to real ones, hashed, under two loads: their
//! times, and why. A change of semantics writes them anew, and its message says why:
//! `FOWLER_DIGESTS=write cargo test -p fowler-experiment --test all fitted_digests::`.

use fowler_device::blame::Part;
use fowler_device::{Completion, Device, Pacing, PreconditionWatch, Superblocks};
use fowler_experiment::device_spec::{DeviceSpec, resolve};
use fowler_experiment::presets::Folder;
use fowler_experiment::provenance::text_hash;
use fowler_experiment::scheme::Scheme;
use fowler_units::{HostIo, HostOp, Nanos, Rng, Span};
use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::atomic::AtomicBool;

const REQUESTS: u64 = 30_000;

/// Small reads and writes at random, as fast as 32 of them are served.
fn at_depth(rng: &mut Rng, logical: u64) -> Vec<HostIo> {
    let units = logical / 4096;
    let io = |_| {
        let op = if rng.chance(0.7) { HostOp::Read } else { HostOp::Write };
        HostIo::new(op, Nanos::ZERO, rng.below(units) * 4096, 4096)
    };
    (0..REQUESTS).map(io).collect()
}

/// Requests of many sizes, a few trims and flushes among them, 5 us apart on average.
fn at_a_rate(rng: &mut Rng, logical: u64) -> Vec<HostIo> {
    let (sectors, mut at) = (logical / 512, 0);
    let io = |_| {
        at += rng.below(10_000);
        let op = match rng.below(100) {
            0 => return HostIo::flush(Nanos(at)),
            1..=3 => HostOp::Trim,
            4..=60 => HostOp::Read,
            _ => HostOp::Write,
        };
        let size = if rng.chance(0.1) { 1 + rng.below(512) } else { 8 * (1 + rng.below(8)) };
        HostIo::new(op, Nanos(at), rng.below(sectors - size) * 512, (size * 512) as u32)
    };
    (0..REQUESTS).map(io).collect()
}

fn digest(mut device: Device<Superblocks>, requests: Vec<HostIo>, pacing: Pacing) -> String {
    let mut answers: Vec<Completion> = Vec::new();
    device.run(requests, pacing, &mut answers);
    let mut text = String::new();
    for Completion { io, done, blame, .. } in &answers {
        write!(text, "{} {} {}", io.offset, io.at.0, done.0).unwrap();
        for part in Part::ALL.into_iter().filter(|&part| blame[part] > Span::ZERO) {
            write!(text, " {} {}", part.name(), blame[part].0).unwrap();
        }
        text.push('\n');
    }
    let counters = device.counters();
    assert!(counters.collections.foreground > 0, "{:?}", counters.collections);
    let waf = counters.waf().unwrap_or_default();
    let erases: u64 = device.superblocks().erase_counts().iter().map(|&it| u64::from(it)).sum();
    writeln!(text, "{waf} {erases} {}", counters.merge_reads).unwrap();
    text_hash(&text)
}

fn computed() -> BTreeMap<String, String> {
    let mut digests = BTreeMap::new();
    let fitted = Folder::Devices.presets().iter();
    for preset in fitted.filter(|preset| preset.text.contains("\"superblock\"")) {
        // A small drive of the same kind: in steady state, it collects from the first write on.
        let mut spec = DeviceSpec { device: preset.name.into(), ..DeviceSpec::default() };
        let source = spec.source().unwrap();
        let resolved = |spec: &DeviceSpec| resolve(&source, &Scheme::none(), spec).unwrap();
        spec.set = ["geometry.blocks_per_plane=64", "geometry.over_provisioning=0.3"]
            .map(Into::into)
            .into();
        let word_line = resolved(&spec).config.flash.word_line;
        spec.set.push(format!("geometry.pages_per_block={}", 2 * word_line));
        let drive = resolved(&spec);
        let config = drive.config;
        let (progress, stop) = (|_| {}, AtomicBool::new(false));
        let watch = PreconditionWatch { progress: &progress, stop: &stop };
        let filled = Superblocks::preconditioned_for(&config, watch).unwrap().unwrap();
        let logical = drive.layout.logical.0;
        let mut rng = Rng::stream(1, preset.name);
        let loads = [
            ("at depth 32", at_depth(&mut rng, logical), Pacing::Closed { depth: 32 }),
            ("at a rate", at_a_rate(&mut rng, logical), Pacing::Open),
        ];
        for (name, requests, pacing) in loads {
            let device = Device::over(&config, filled.with_data_for(&config).unwrap());
            digests.insert(format!("{} {name}", preset.name), digest(device, requests, pacing));
        }
    }
    digests
}

#[test]
#[allow(clippy::disallowed_methods, reason = "digests are written on request")]
fn results_are_those_on_record() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/fitted_digests.json");
    let digests = computed();
    assert_eq!(digests.len(), 12);
    if std::env::var("FOWLER_DIGESTS").is_ok_and(|value| value == "write") {
        let text = serde_json::to_string_pretty(&digests).expect("a map of strings");
        return std::fs::write(path, text + "\n").expect("the record can be written");
    }
    let text = std::fs::read_to_string(path).expect("the record is there");
    let recorded: BTreeMap<String, String> = serde_json::from_str(&text).expect("a map of strings");
    let differ = |name: &&String| recorded.get(*name) != digests.get(*name);
    let names: Vec<&String> = digests.keys().chain(recorded.keys()).filter(differ).collect();
    assert!(names.is_empty(), "results have changed: {names:#?}");
}
