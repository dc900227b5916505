//! Faults that a user lists: from their text to the outcome of a run.

use fowler_device::{Census, Controller, Pacing, Superblocks};
use fowler_experiment::candidates::Candidates;
use fowler_experiment::compare::compare;
use fowler_experiment::device_spec::{self, DeviceSpec, Source};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::faults::{FaultKind, Scripted, parse};
use fowler_experiment::outcome::Outcome;
use fowler_experiment::run::{DriveKind, ReplaySpeed, Run, RunSpec};
use fowler_experiment::scheme::Scheme;
use fowler_experiment::trace::{synth, synth_requests};
use fowler_experiment::warnings::warnings;
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_units::{HostIo, Nanos};
use serde::Deserialize;

#[derive(Deserialize)]
struct Lists {
    good: Vec<Good>,
    bad: Vec<Bad>,
}

#[derive(Deserialize)]
struct Good {
    list: Vec<String>,
    prints: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct Bad {
    list: Vec<String>,
    says: Vec<String>,
}

#[test]
fn lists_are_read_and_printed_or_everything_wrong_is_said() {
    let lists: Lists = toml::from_str(include_str!("faults.toml")).unwrap();
    for Good { list, prints } in lists.good {
        let faults = parse(&list).unwrap_or_else(|wrong| panic!("{list:?}: {wrong:?}"));
        let printed: Vec<String> = faults.iter().map(Scripted::to_string).collect();
        assert_eq!(printed, prints.unwrap_or(list));
        assert_eq!(parse(&printed), Ok(faults));
    }
    for Bad { list, says } in lists.bad {
        let wrong = parse(&list).expect_err(&format!("{list:?}")).join("; ");
        assert!(!wrong.contains('\u{1b}'), "{wrong:?}");
        for part in says {
            assert!(wrong.contains(&part), "{list:?} lacks {part:?}: {wrong}");
        }
    }
    let many = vec!["1s chip 0".to_string(); 1001];
    assert!(parse(&many[1..]).is_ok());
    assert!(parse(&many).unwrap_err()[0].contains("1001 faults; at most 1000"));
}

const LOAD: &str = "requests = 60\narrivals = { kind = 'fixed', rate = 100 }\nmix.reads = 0.5";

fn texts(list: &[&str]) -> Vec<String> {
    list.iter().map(ToString::to_string).collect()
}

fn spec(scheme: &str, set: &[&str], load: &str, faults: &[&str]) -> RunSpec {
    let small = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/small.toml");
    let set = ["policy.redundancy.stripe=1"].iter().chain(set).map(ToString::to_string).collect();
    RunSpec {
        device: DeviceSpec { device: small.into(), set, ..DeviceSpec::default() },
        scheme: Some(scheme.into()),
        workload: WorkloadSpec::Generated(Source { name: "w.toml".into(), text: load.into() }),
        replay_speed: ReplaySpeed::AsRecorded,
        limit: None,
        faults: parse(&texts(faults)).unwrap(),
        requests: None,
        detail: false,
    }
}

fn run(spec: &RunSpec) -> Result<Outcome, Diagnostics> {
    Run::new(spec, Control::UNWATCHED).outcome()
}

fn outcome(spec: &RunSpec) -> Outcome {
    run(spec).unwrap_or_else(|diagnostics| panic!("{diagnostics}"))
}

/// The keys that make the small drive one with superblocks, whose stripes are as wide as its chips.
const SUPERBLOCKS: [&str; 7] = [
    "queue.max_writes=1024",
    "ftl.reclaim_unit=superblock",
    "ftl.program_unit=word_line",
    "gc.background_below=2",
    "gc.foreground_below=2",
    "geometry.over_provisioning=0.4",
    "precondition.pattern=steady",
];

/// Returns the run of a drive with superblocks, one command in so many of which is parity.
fn spec_of_superblocks(parity: u32, set: &[&str], fault: &str) -> RunSpec {
    let scheme = if parity > 0 { "raid5" } else { "fifo" };
    let parity = format!("superblocks.parity={parity}");
    let set: Vec<&str> = SUPERBLOCKS.iter().chain(set).copied().chain([&*parity]).collect();
    let mut spec = spec(scheme, &set, LOAD, &[fault]);
    spec.device.set.retain(|set| set != "policy.redundancy.stripe=1");
    spec.device.set.push("buffer.ack=on_insert".into());
    spec
}

/// The census at the end of the same run by hand, with the fault injected while the drive rests.
fn by_hand<L: DriveKind>(spec: &RunSpec, fault: Scripted) -> Census {
    let scheme = Scheme::load(spec.scheme.as_ref().unwrap()).unwrap();
    let drive =
        device_spec::resolve(&spec.device.source().unwrap(), &scheme, &spec.device).unwrap();
    let WorkloadSpec::Generated(source) = &spec.workload else { unreachable!("it is generated") };
    let requests: Vec<HostIo> = synth_requests(source, &drive).unwrap().collect();
    let mut config = drive.config.clone();
    config.redundancy.integrity = true;
    let mut device = L::drive("by hand", &config, None, Control::UNWATCHED).unwrap();
    let (before, after): (Vec<HostIo>, Vec<HostIo>) =
        requests.into_iter().partition(|io| io.at < fault.at);
    device.run(before, Pacing::Open, &mut ());
    device.rest_until(fault.at, &mut ());
    match fault.what {
        FaultKind::Unit(unit) => device.inject(unit),
        FaultKind::PowerOff(lasts) => device.power_off(lasts, &mut ()),
        FaultKind::Rate(_) => unreachable!("no rate is injected"),
    }
    let later = |io: HostIo| io.with_at(Nanos((io.at - fault.at).0));
    device.run(after.into_iter().map(later), Pacing::Open, &mut ());
    L::closing(&device, &[], true).census.expect("errors are counted")
}

/// Pages that are corrupted unnoticed are counted under the fault that corrupted them, and each is
/// either found or returned.
#[test]
fn silent_corruption_is_found_by_checks_or_returned() {
    let load = "requests = 600\narrivals = { kind = 'fixed', rate = 1000 }\nmix.reads = 0.9";
    let faults = ["every 2ms miscorrected", "every 2ms misdirected"];
    for scheme in ["fifo", "raid5"] {
        let checked = |checks: &str| {
            let set = format!("policy.redundancy.checks={checks}");
            outcome(&spec(scheme, &["seed=4", &set], load, &faults))
        };
        let (without, with) = (checked("none"), checked("versions"));
        for result in [&without, &with] {
            let effects = result.faults.iter().filter_map(|fate| fate.effect);
            let corrupted: u64 = effects.map(|effect| effect.corrupted).sum();
            let silent = result.losses.expect("faults need versions").silent;
            assert!(silent.made > 100, "{scheme}: {silent:?}");
            assert_eq!(corrupted, silent.made_in_all());
        }
        let wrong = |result: &Outcome| result.census.as_ref().map_or(0, |census| census.wrong);
        let silent = |result: &Outcome| result.losses.expect("faults need versions").silent;
        assert_eq!((silent(&without).by_versions, silent(&with).returned), (0, 0), "{scheme}");
        assert!(silent(&without).returned > 0 && silent(&with).by_versions > 0, "{scheme}");
        assert!(wrong(&with) < wrong(&without), "{scheme}: what is found is wrong no longer");
        assert_eq!(silent(&with).corrected > 0, scheme == "raid5");
        let warned =
            |result: Outcome| warnings(&[result]).iter().any(|it| it.text.contains("wrong"));
        assert!(warned(without) && !warned(with), "{scheme}");
    }
}

/// A rate stands for the faults drawn from it, and for about as many as it says: within four
/// standard deviations of a Poisson number.
#[test]
fn a_rate_is_the_list_of_the_faults_drawn_from_it() {
    for scheme in ["fifo", "raid5"] {
        // The run takes 600 ms.
        let set = ["seed=4"];
        let drawn = outcome(&spec(scheme, &set, LOAD, &["every 5ms page", "300ms chip 1"]));
        let struck = drawn.faults.len() as f64 - 1.0;
        assert!((struck - 120.0).abs() < 4.0 * 120f64.sqrt(), "{scheme}: {struck} of 120");
        let list: Vec<String> = drawn.faults.iter().map(|it| it.fault.to_string()).collect();
        assert!(list.contains(&"300ms chip 1".to_string()), "{list:?}");
        let list: Vec<&str> = list.iter().map(String::as_str).collect();
        let listed = outcome(&spec(scheme, &set, LOAD, &list));
        assert_eq!(drawn.census, listed.census, "{scheme}");
        assert_eq!(drawn.losses, listed.losses, "{scheme}");
        let other = outcome(&spec(scheme, &["seed=5"], LOAD, &["every 5ms page", "300ms chip 1"]));
        assert_ne!(other.losses, drawn.losses, "{scheme}: another seed draws others");
    }
    // A rate draws as many faults as a run can have, and no more.
    let many = outcome(&spec("fifo", &[], LOAD, &["every 100us page"]));
    assert_eq!(many.faults.len(), 1000);
    let notes: String = warnings(&[many]).into_iter().map(|it| it.text).collect();
    assert!(notes.contains("all 1000 random faults struck"), "{notes}");
}

#[test]
fn every_fault_takes_what_an_injected_one_takes() {
    let set = ["buffer.ack=on_insert", "policy.redundancy.cache=volatile"];
    take_as_injected::<Controller>(|scheme, fault| spec(scheme, &set, LOAD, &[fault]));
    let set = ["policy.redundancy.cache=volatile"];
    take_as_injected::<Superblocks>(|scheme, fault| {
        spec_of_superblocks(if scheme == "raid5" { 4 } else { 0 }, &set, fault)
    });
}

fn take_as_injected<L: DriveKind>(spec: impl Fn(&str, &str) -> RunSpec) {
    let faults = [
        "305ms page 7 uncorrectable",
        "305ms parity 3",
        "305ms block 5",
        "305ms plane 1",
        "305ms chip 1",
        "305ms channel 0",
        "305ms power 10s",
    ];
    for (scheme, protected) in [("fifo", false), ("raid5", true)] {
        for fault in faults {
            let spec = spec(scheme, fault);
            if !protected && fault.contains("parity") {
                let reported = run(&spec).unwrap_err().to_string();
                assert!(reported.contains("the drive has no parity"), "{reported}");
                continue;
            }
            let result = outcome(&spec);
            assert!(result.laws().hold());
            let census = result.census.clone().expect("losses are noted");
            assert_eq!(census, by_hand::<L>(&spec, spec.faults[0]), "{scheme} {fault}");
            let effect = result.faults[0].effect.expect("it is reached");
            assert_eq!(effect.at, Nanos(305_000_000));
            let ledger = result.losses.expect("losses are noted");
            assert_eq!(ledger.unreadable, effect.unreadable);
            assert_eq!(ledger.parity_unreadable, effect.parity_unreadable);
            assert_eq!(ledger.lost_in_all(), effect.lost, "{scheme} {fault}");
            assert_eq!(ledger.rebuilt, effect.rebuilt);
            assert_eq!(ledger.waiting(), effect.waiting);
            let holds_data = !fault.contains("parity") && !fault.contains("power");
            assert_eq!(effect.unreadable > 0, holds_data, "{scheme} {fault}");
            // Stripes of superblocks have two commands on a chip.
            let wide = result.drive.config.ftl.has_superblocks();
            let covered =
                protected && !(wide && ["chip", "channel"].iter().any(|it| fault.contains(it)));
            if !fault.contains("power") {
                assert_eq!(effect.lost > 0, !covered && holds_data, "{scheme} {fault}");
            }
            // The list of the workload says the same as one beside it.
            let load = format!("{LOAD}\nfaults = [\"{fault}\"]");
            let listed =
                outcome(&RunSpec { faults: Vec::new(), workload: workload(&load), ..spec });
            for key in ["faults", "census", "redundancy", "read", "write", "power_off"] {
                assert_eq!(listed.json()[key], result.json()[key], "{key}");
            }
        }
    }
}

/// A block that fails does not come back if stripes are wider than the dies, and the run says why.
#[test]
fn stripes_that_are_wider_than_the_dies_are_named() {
    for (parity, lost) in [(4, false), (8, true)] {
        let result = outcome(&spec_of_superblocks(parity, &[], "305ms block 5"));
        let ledger = result.losses.expect("losses are noted");
        assert_eq!(ledger.lost_in_all() > 0, lost, "{parity}: {ledger:?}");
        let said: String = warnings(&[result]).into_iter().map(|it| it.text).collect();
        let why = "stripes of 8 commands on 4 dies have several commands on one die";
        assert_eq!(said.contains(why), lost, "{parity}: {said}");
    }
}

/// A failed die stays failed, and a drive that cannot do without it says since when it takes no
/// writes. Spare dies change that.
#[test]
fn a_drive_without_enough_dies_says_that_it_takes_no_writes() {
    let of = |scheme: &str, spare: u32| {
        let set = [format!("failed_dies.spare={spare}")];
        let set: Vec<&str> = set.iter().map(String::as_str).collect();
        outcome(&spec(scheme, &set, LOAD, &["305ms chip 1"]))
    };
    for scheme in ["fifo", "raid5"] {
        let result = of(scheme, 0);
        assert!(result.laws().hold());
        let json = result.json();
        let dies = &json["failed_dies"];
        assert_eq!((&dies["failed"], &dies["replaced"]), (&2.into(), &0.into()), "{scheme}");
        let since = dies["read_only_s"].as_f64().expect("it is read-only");
        assert!((since - 0.305).abs() < 0.05 && dies["offline_s"].is_null(), "{scheme} {dies}");
        let refused = dies["refused"].as_u64().unwrap();
        assert!(refused > 5, "{scheme} {dies}");
        let said: String = warnings(&[result]).into_iter().map(|it| it.text).collect();
        let what =
            format!("has taken no writes since {since:.3} s, and refused {refused} requests");
        assert!(said.contains(&what), "{said}");
        let json = of(scheme, 2).json();
        let dies = &json["failed_dies"];
        assert_eq!((&dies["failed"], &dies["replaced"]), (&0.into(), &2.into()), "{scheme}");
        assert!(dies["read_only_s"].is_null() && dies["refused"] == 0, "{scheme} {dies}");
    }
    assert!(
        outcome(&spec("fifo", &[], LOAD, &["305ms block 1"])).json().get("failed_dies").is_none()
    );
}

fn workload(text: &str) -> WorkloadSpec {
    WorkloadSpec::Generated(Source { name: "w.toml".into(), text: text.into() })
}

#[test]
fn faults_strike_in_the_midst_of_requests_at_any_pace() {
    let busy = "requests = 3000\narrivals = { kind = 'poisson', rate = 4000 }\nmix.reads = 0.5";
    let faults = ["100ms chip 1", "100ms power 1s", "200ms block 3", "213503d plane 0"];
    // Without spare dies the drive would refuse its writes, and a closed loop would end at once.
    let set = ["failed_dies.spare=2"];
    for (speed, struck) in [
        (ReplaySpeed::AsRecorded, [0.1, 0.1, 0.2]),
        (ReplaySpeed::Speed(2.0), [0.05, 0.05, 0.1]),
        (ReplaySpeed::Closed(8), [0.1, 0.1, 0.2]),
    ] {
        let spec = RunSpec { replay_speed: speed, ..spec("raid5", &set, busy, &faults) };
        let result = outcome(&spec);
        let json = result.json();
        let list = json["faults"].as_array().unwrap();
        assert_eq!(list.len(), 4);
        for (fault, at) in list.iter().zip(struck) {
            assert_eq!(fault["struck_s"].as_f64(), Some(at), "{speed:?} {fault}");
        }
        assert!(list[0]["unreadable"].as_u64().unwrap() > 0);
        assert_eq!(list[0]["lost"], 0);
        // A page that is rebuilt after the next fault counts under that fault.
        let rebuilt: u64 = list.iter().filter_map(|fault| fault["rebuilt"].as_u64()).sum();
        assert!(rebuilt > 0 && json["redundancy"]["losses"]["rebuilt"] == rebuilt);
        assert!(list[3]["struck_s"].is_null() && list[3]["lost"].is_null());
        let said: Vec<String> =
            warnings(&[result]).into_iter().map(|warning| warning.text).collect();
        assert!(said.iter().any(|it| it.contains("not reached under raid5")), "{said:?}");
        assert!(said.iter().any(|it| it.contains("policy.redundancy.integrity is on")), "{said:?}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bytes() {
    let spec = spec("fifo", &[], LOAD, &["305ms chip 1", "400ms page 9 uncorrectable"]);
    let schemes = texts(&["fifo", "raid5", "ppc"]);
    let candidates = Candidates::schemes(&spec.device, &schemes);
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let outcomes = pool.install(|| compare(&spec, &candidates, Control::UNWATCHED)).unwrap();
        outcomes.iter().map(|result| result.reproducible_json().to_string()).collect::<Vec<_>>()
    };
    let (one, four) = (on(1), on(4));
    assert_eq!(one, four);
    let alone = |scheme: &String| {
        let spec = RunSpec { scheme: Some(scheme.clone()), ..spec.clone() };
        outcome(&spec).reproducible_json().to_string()
    };
    assert_eq!(one, schemes.iter().map(alone).collect::<Vec<_>>());
}

#[test]
fn without_faults_nothing_is_noted() {
    let powered_off = outcome(&spec("raid5", &[], &format!("{LOAD}\npower_off = '300ms 1h'"), &[]));
    assert!(
        powered_off.losses.is_none()
            && powered_off.census.is_none()
            && !powered_off.drive.config.redundancy.integrity
    );
    assert!(powered_off.json().get("faults").is_none() && powered_off.power_offs.spans == 1);
    assert!(!powered_off.workload.generator.unwrap().contains("faults"), "it prints as ever");
    let load = format!("{LOAD}\nfaults = ['1s chip 0']");
    let with_fault = outcome(&spec("raid5", &[], &load, &[]));
    assert!(with_fault.workload.generator.unwrap().contains("\nfaults = [\"1s chip 0\"]\n"));
    assert!(with_fault.drive.text.contains("integrity = true"), "the drive is said as it ran");
}

#[test]
fn who_has_no_such_unit_or_no_faults_says_so() {
    let chip = "faults = ['305ms chip 1']";
    for (set, more, beside, says) in [
        ("", "", "1s chip 2", &["the drive has 2 chips", "a chip from 0 to 1", "--fault"][..]),
        (
            "",
            "faults = ['1s chip 2', '2s channel 2', '3s plane 4', '4s block 256']",
            "",
            &["2 chips", "2 channels", "4 planes", "256 blocks", "w.toml"],
        ),
        ("", "faults = ['1s page 6144 uncorrectable']", "", &["the drive has 6,144 logical pages"]),
        ("", chip, "1s chip 0", &["power losses or faults of its own"]),
        ("", "power_off = '1s 1s'", "1s chip 0", &["power losses or faults of its own"]),
        ("", "power_off = '1s 1s'\nfaults = ['2s power 1s']", "", &["both `power_off` and"]),
        ("precondition.warm_up=5", chip, "", &["precondition.warm_up works without"]),
        ("precondition.warm_up=5", "", "305ms chip 1", &["precondition.warm_up works without"]),
        ("policy.throttle=ready", "", "305ms power 1s", &["policy.throttle works on a lifetime"]),
    ] {
        let set: Vec<&str> = set.split_whitespace().collect();
        let beside: Vec<&str> =
            Some(beside).filter(|fault| !fault.is_empty()).into_iter().collect();
        let spec = spec("fifo", &set, &format!("{LOAD}\n{more}"), &beside);
        let reported = run(&spec).expect_err(more).to_string();
        for part in says {
            assert!(reported.contains(part), "{set:?} {more} {beside:?} lacks {part}: {reported}");
        }
    }
    let closed = "requests = 60\narrivals = { kind = 'closed', depth = 2 }";
    for fault in ["1ms chip 1", "1ms power 1s"] {
        let result = outcome(&spec("fifo", &[], closed, &[fault]));
        let list = &result.json()["faults"];
        assert!(list.to_string().contains("struck_s"), "a closed loop has faults too: {fault}");
    }
}

#[test]
fn traces_have_no_faults() {
    let RunSpec { device, workload, .. } =
        spec("fifo", &[], &format!("{LOAD}\nfaults = ['305ms chip 1']"), &[]);
    let WorkloadSpec::Generated(source) = &workload else { unreachable!("it is generated") };
    let drive = device_spec::resolve(&device.source().unwrap(), &Scheme::none(), &device).unwrap();
    let reported = synth(source, &drive, None, Vec::new()).unwrap_err().to_string();
    assert!(reported.contains("`305ms chip 1`, cannot be used here: a trace"), "{reported}");
}
