//! All 32 subsets of the five systems on a small drive: what is conserved, what repeats, where time
//! goes, and what parity owes when pages fail.

use fowler_device::blame::Part;
use fowler_device::{Completion, Counters, Device, Fault, Pacing, Source as Account, Voltage};
use fowler_experiment::device_spec::{DeviceSpec, Source, resolve};
use fowler_experiment::outcome::Ending;
use fowler_experiment::presets::Folder;
use fowler_experiment::run::{ReplaySpeed, RunSpec};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_units::{HostIo, HostOp, Lpn, Nanos, Rng, Span};
use std::sync::atomic::AtomicBool;

const FIVE: [&str; 5] = ["pes_ipc", "rhio", "hire", "ready_opt", "da_raid5"];

/// The drive `together`, so small that a few thousand requests collect and refresh, and worn so
/// that every stripe has parity under DA-RAID-5.
const SMALL: [&str; 15] = [
    "geometry.chips_per_channel=1",
    "geometry.blocks_per_plane=40",
    "geometry.pages_per_block=16",
    "geometry.over_provisioning=0.45",
    "buffer.size=512KiB",
    "buffer.evict_ahead=8",
    "policy.redundancy.parity_cache=256KiB",
    "policy.redundancy.all_above=1",
    "reliability.cycles=800",
    "reliability.cycles_spread=100",
    "gc.background_below=4",
    "precondition.pattern=steady",
    "lifetime.target=4h",
    "lifetime.window=1s",
    "lifetime.period=100ms",
];

/// The scheme of a subset, a bit for each of the five; the drive as it is for none of them.
fn scheme(subset: u32) -> Scheme {
    let chosen = FIVE.iter().enumerate().filter(|(bit, _)| subset & (1 << bit) != 0);
    let names: Vec<&str> = chosen.map(|(_, name)| *name).collect();
    if names.is_empty() { Scheme::none() } else { Scheme::load(&names.join("+")).unwrap() }
}

fn drive(subset: u32, but: &[&str]) -> Device {
    let key = |setting: &str| setting.split('=').next().map(str::to_string);
    let stays = |setting: &&&str| !but.iter().any(|other| key(other) == key(setting));
    let chosen = SMALL.iter().filter(stays).chain(but);
    let mut set: Vec<String> = chosen.map(|setting| (*setting).to_string()).collect();
    if subset & 16 != 0 {
        set.push("policy.redundancy.integrity=true".into());
    }
    let spec = DeviceSpec { device: "together".into(), set, ..DeviceSpec::default() };
    let source = spec.source().unwrap();
    let resolved = resolve(&source, &scheme(subset), &spec)
        .unwrap_or_else(|diagnostics| panic!("subset {subset:05b}: {diagnostics}"));
    Device::new(&resolved.config).unwrap()
}

/// Reads, writes and a few trims, a fifth of the pages more often than the others; bursts and
/// pauses.
fn requests(pages: u64, page: u64) -> Vec<HostIo> {
    let mut rng = Rng::stream(9, "together");
    let mut at = 0;
    let one = |_| {
        at += if rng.chance(0.02) { 60_000_000 } else { rng.below(400_000) };
        let among = if rng.chance(0.7) { pages / 5 } else { pages };
        let first = rng.below(among);
        let count = (1 + rng.below(4)).min(pages - first);
        let op = match rng.below(20) {
            0..=9 => HostOp::Read,
            10..=18 => HostOp::Write,
            _ => HostOp::Trim,
        };
        HostIo::new(op, Nanos(at), first * page, (count * page) as u32)
    };
    (0..2500).map(one).collect()
}

/// The result of a run: everything that was answered, and everything that was counted.
#[derive(PartialEq, Debug)]
struct Came {
    answers: Vec<Completion>,
    counters: Counters,
    faults: u32,
}

fn run(subset: u32) -> Came {
    let mut device = drive(subset, &[]);
    let layout = device.layout();
    let (pages, page) = (u64::from(layout.logical_pages), layout.geometry.page_size.0);
    let mut answers: Vec<Completion> = Vec::new();
    let mut rng = Rng::stream(u64::from(subset), "faults");
    let (mut events, mut faults) = (0_u32, 0);
    device.run_with_faults(requests(pages, page), Pacing::Open, &mut answers, |device| {
        events += 1;
        if events % 64 == 0 {
            device
                .check()
                .unwrap_or_else(|it| panic!("subset {subset:05b}, event {events}: {it:?}"));
        }
        // One page fails at a time, and the next one when it is rebuilt: every stripe with parity
        // bears that.
        if subset & 16 != 0 && events % 512 == 0 && device.to_rebuild() == 0 {
            device.inject(Fault::Page(Lpn(rng.below(pages) as u32)));
            faults += 1;
        }
    });
    device.check().unwrap_or_else(|it| panic!("subset {subset:05b}, at the end: {it:?}"));
    if let Some(losses) = device.losses() {
        assert_eq!(losses.lost_in_all(), 0, "subset {subset:05b}: {losses:?}");
        assert!(faults > 10, "subset {subset:05b}: {faults} faults");
    }
    Came { answers, counters: device.counters(), faults }
}

fn holds(subset: u32) {
    let came = run(subset);
    assert_eq!(came.answers.len(), 2500, "subset {subset:05b}: every request is answered once");
    for answer in &came.answers {
        let latency = answer.latency();
        let blamed = answer.blame.parts().iter().fold(Span::ZERO, |sum, &part| sum + part);
        assert_eq!(blamed, latency, "subset {subset:05b}: {answer:?}");
    }
    assert_eq!(came, run(subset), "subset {subset:05b}: the same twice");
    // Each of the five does what it is for, and only if it is there.
    let Counters { suspensions, erases, programs, programs_at, prioritized, .. } = came.counters;
    let throttled = |answer: &Completion| answer.blame[Part::Throttled] > Span::ZERO;
    let early = |pair: &[Completion]| pair[0].io.at > pair[1].io.at;
    let boosted_or_reduced: u64 =
        programs_at.values().map(|at| at[Voltage::Boosted] + at[Voltage::Reduced]).sum();
    assert!(
        erases[Account::Gc] > 0 && came.answers.windows(2).any(early),
        "subset {subset:05b}: busy"
    );
    for (what, bit, happens) in [
        ("suspensions", 1, suspensions > 0),
        ("reads served before", 2, prioritized.reads > 0),
        ("other voltages", 4, boosted_or_reduced > 0),
        ("throttled", 8, came.answers.iter().any(throttled)),
        ("parity", 16, programs[Account::Parity] > 0),
    ] {
        assert_eq!(happens, subset & bit != 0, "subset {subset:05b}: {what}");
    }
}

#[test]
fn every_subset_of_the_five_keeps_the_laws() {
    (0..16).for_each(holds);
}

// Slow: sixteen runs with parity.
#[test]
fn every_subset_with_parity_loses_nothing() {
    (16..32).for_each(holds);
}

// --- Where two of them want different things (docs/decisions/together.md) ---

/// The longest that a read waited behind programs of parity.
fn behind_parity(subset: u32) -> Span {
    let answers = run(subset).answers;
    let reads = answers.iter().filter(|answer| answer.io.op == HostOp::Read);
    reads.map(|read| read.blame[Part::BehindParityProgram]).max().unwrap_or_default()
}

#[test]
fn a_program_of_parity_is_suspended_as_one_of_data_is() {
    let (without, with) = (behind_parity(16), behind_parity(17));
    assert!(without > Span::us(500), "reads wait for most of a program: {without}");
    assert!(with < Span::us(100), "and not when it gives way: {with}");
}

#[test]
fn refresh_continues_while_the_host_is_throttled_and_its_pages_count() {
    let mut device = drive(
        24,
        &["policy.redundancy=udl", "policy.redundancy.reads=20", "policy.throttle=fixed_rate"],
    );
    let layout = device.layout();
    let (pages, page) = (u64::from(layout.logical_pages), layout.geometry.page_size.0);
    let before = device.life().expect("it has a throttle").1.programmed;
    let mut answers: Vec<Completion> = Vec::new();
    device.run(requests(pages, page), Pacing::Open, &mut answers);
    // Operations in flight when the last request is answered still complete.
    device.rest_until(device.now() + Span::ms(60_000), &mut answers);
    let Counters { refreshed, programs, closed_early, .. } = device.counters();
    let (_, totals) = device.life().expect("it has a throttle");
    let throttled = answers.iter().map(|answer| answer.blame[Part::Throttled]).max();
    assert!(throttled > Some(Span::ms(10)), "{throttled:?}");
    assert!(
        refreshed.when_idle > 0 && programs[Account::Refresh] > 0,
        "{refreshed:?} {programs:?}"
    );
    assert_eq!(totals.programmed - before, programs.sum() as f64);
    assert_eq!(closed_early, 0);
}

#[test]
fn a_held_write_does_not_hold_what_the_drive_has_already() {
    // A sequential fill leaves GC nothing to collect: the capacity that GC takes would delay the
    // first writes too.
    let mut device = drive(
        24,
        &[
            "policy.throttle=fixed_rate",
            "lifetime.target=1000h",
            "buffer.evict_ahead=1",
            "precondition.pattern=sequential",
        ],
    );
    let page = device.layout().geometry.page_size.0;
    let write = |at: u64, first: u64| HostIo::write(Nanos(at), first * page, page as u32);
    let mut host: Vec<HostIo> = (0..7).map(|first| write(first, first)).collect();
    host.push(HostIo::flush(Nanos(8)));
    host.extend((0..40).map(|first| write(9 + first, 50 + first)));
    let mut answers: Vec<Completion> = Vec::new();
    device.run(host, Pacing::Open, &mut answers);
    let flushed = answers.iter().find(|it| it.io.op == HostOp::Flush).expect("answered").done;
    let last = answers.iter().map(|it| it.done).max().expect("answered");
    assert!(flushed < Nanos(4_000_000_000) && last > Nanos(20_000_000_000), "{flushed:?} {last:?}");
}

/// A drive for workloads that name their own space, up to 16 GiB of it.
const LARGE: [&str; 6] = [
    "geometry.blocks_per_plane=512",
    "geometry.over_provisioning=0.45",
    "policy.redundancy.all_above=1",
    "reliability.cycles=800",
    "reliability.cycles_spread=100",
    "lifetime.target=4h",
];

/// Each of the five answers to what the host does: whatever that is, all of them run together.
// Slow: a run with the policies of all five papers on every preset of a workload.
#[test]
fn all_five_run_on_every_workload() {
    let stop = AtomicBool::new(false);
    let control = Control { stop: &stop, progress: &|_| () };
    let mut wrong = Vec::new();
    for preset in Folder::Workloads.presets() {
        let source = Source { name: preset.name.into(), text: preset.text.into() };
        let large = ["MiB\"", "GiB\""].iter().any(|unit| preset.text.contains(unit));
        let set = if large { &LARGE[..] } else { &SMALL };
        let set = set.iter().map(ToString::to_string).collect();
        let spec = RunSpec {
            device: DeviceSpec { device: "together".into(), set, ..DeviceSpec::default() },
            scheme: Some("all".into()),
            workload: WorkloadSpec::Generated(source),
            replay_speed: ReplaySpeed::AsRecorded,
            limit: Some(1000),
            requests: None,
            faults: Vec::new(),
            detail: false,
        };
        let outcome = match fowler_experiment::run::Run::new(&spec, control).outcome() {
            Ok(outcome) => outcome,
            Err(diagnostics) => {
                wrong.push(format!("{}: {diagnostics}", preset.name));
                continue;
            }
        };
        let served =
            outcome.recorder.requests() + outcome.recorder.trims() + outcome.recorder.flushes();
        if outcome.ending != Ending::Complete || served != 1000 || !outcome.laws().hold() {
            wrong.push(format!(
                "{}: {served} {:?} {:?}",
                preset.name,
                outcome.ending,
                outcome.laws()
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Two schemes say that they do not go together, and name themselves, or they run together.
// Slow: a run with every pair of schemes that go together.
#[test]
fn every_two_schemes_go_together_or_say_why_not() {
    let names: Vec<&str> = Folder::Schemes.presets().iter().map(|preset| preset.name).collect();
    let mut ran = 0;
    for (index, one) in names.iter().enumerate() {
        for other in &names[index + 1..] {
            let name = format!("{one}+{other}");
            let scheme = match Scheme::load(&name) {
                Ok(scheme) => scheme,
                Err(diagnostics) => {
                    let reported = diagnostics.to_string();
                    assert!(
                        reported.contains(&name) && reported.contains("both set"),
                        "{name}: {reported}"
                    );
                    continue;
                }
            };
            let set = SMALL.iter().map(ToString::to_string).collect();
            let spec = DeviceSpec { device: "together".into(), set, ..DeviceSpec::default() };
            let resolved = resolve(&spec.source().unwrap(), &scheme, &spec);
            let resolved = resolved.unwrap_or_else(|diagnostics| panic!("{name}: {diagnostics}"));
            let mut device = Device::new(&resolved.config).unwrap();
            let pages = u64::from(device.layout().logical_pages);
            let page = device.layout().geometry.page_size.0;
            let some = requests(pages, page).into_iter().take(200);
            let mut answers: Vec<Completion> = Vec::new();
            device.run(some, Pacing::Open, &mut answers);
            device.check().unwrap_or_else(|it| panic!("{name}: {it:?}"));
            assert_eq!(answers.len(), 200, "{name}");
            ran += 1;
        }
    }
    assert!(ran > 50, "{ran}");
}

/// With the same room for the host, and parity's left over as long as there is none, GC
/// costs the same: a drive with stripes is as long in use before the first request as one without.
#[test]
fn stripes_begin_in_the_same_steady_state() {
    let waf = |scheme: &str, spare: &str| {
        let set = [
            "geometry.blocks_per_plane=64",
            "geometry.pages_per_block=64",
            "reliability.cycles=150",
            spare,
        ];
        let set = set.map(String::from).to_vec();
        let spec = DeviceSpec { device: "together".into(), set, ..DeviceSpec::default() };
        let scheme = Scheme::load(scheme).unwrap();
        let resolved = resolve(&spec.source().unwrap(), &scheme, &spec).unwrap();
        Device::new(&resolved.config).unwrap().preconditioned().waf.unwrap()
    };
    // 0.45 of what the host sees and, of eight pages, one for parity: 1.45 * 8 / 7 = 1.657.
    let without = waf("fifo", "geometry.over_provisioning=0.657142857");
    assert!(without > 1.2, "GC has to copy: {without}");
    for scheme in ["udl", "da_raid5"] {
        // Windows of some ten thousand pages on planes of 64 blocks differ by a per cent or so from
        // seed to seed.
        let with = waf(scheme, "geometry.over_provisioning=0.45");
        assert!((with / without - 1.0).abs() < 0.03, "{scheme}: {with}, without {without}");
    }
    // Parity of random single pages doubles what is programmed, and takes the room that it had left
    // over.
    assert!(waf("raid5", "geometry.over_provisioning=0.45") > 2.0 * without);
}
