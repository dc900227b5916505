//! Lives that are stopped again and again, and what tells one from another.

use fowler_experiment::ReadOptions;
use fowler_experiment::device_spec::resolve;
use fowler_experiment::device_spec::{DeviceSpec, Source};
use fowler_experiment::progress::Progress;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::{Control, TraceSpec, WorkloadSpec};
use fowler_lifetime::{
    DaysSpec, Early, EndOfLife, Ended, Lifetime, LifetimeSpec, SaveTo, SteadyLane, SteadySpec,
    Watch, days, live, steady_lives, write_amplification,
};
use fowler_units::Span;
use fowler_workload::Remap;
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("lifetime").join(name);
    let _absent = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Twenty days of a drive of 64 MiB whose cells endure less than is asked for.
fn spec(scheme: &str, workload: WorkloadSpec, folder: &Path) -> LifetimeSpec {
    let set = [
        "geometry.channels=1",
        "geometry.chips_per_channel=1",
        "geometry.dies_per_chip=1",
        "geometry.blocks_per_plane=64",
        "lifetime.cycles=100",
        "lifetime.target=20d",
    ];
    LifetimeSpec {
        device: DeviceSpec {
            device: "ready-32".into(),
            set: set.map(String::from).to_vec(),
            ..DeviceSpec::default()
        },
        scheme: Some(scheme.into()),
        workload,
        limit: None,
        dilation: Some(2),
        check: true,
        close_up: None,
        checkpoint: SaveTo::File(folder.join("checkpoint")),
        checkpoint_every: 1000,
    }
}

/// Lives, stopped at each moment at which it may be if that is wanted.
fn lived(spec: &LifetimeSpec, stops: bool) -> (Option<Lifetime>, Vec<String>) {
    let (stop, warnings) = (AtomicBool::new(false), Mutex::new(Vec::new()));
    let watch = Watch {
        control: Control { stop: &stop, progress: &|_| () },
        share: &|_| stop.store(stops, Ordering::Relaxed),
        early: &|_| (),
        warn: &|warning| warnings.lock().unwrap().push(warning.to_string()),
    };
    let lived = match live(spec, watch).unwrap() {
        Ended::Lived(lived) => {
            lived.remove_checkpoint().unwrap();
            Some(*lived)
        }
        Ended::Stopped { saved } => {
            assert!(saved, "something was done");
            None
        }
    };
    (lived, warnings.into_inner().unwrap())
}

const LOAD: &str = "duration = '1h'
arrivals = { kind = 'poisson', rate = 20.0 }
mix.reads = 0.0
space.share = 0.8
writes.sizes = '4KiB 3, 16KiB 1'
";

/// A life whose host waits to the end of it, and one that is stopped in the moment in which it
/// ends.
// Slow: three lives, each of them whole and in parts.
#[test]
fn a_life_that_is_stopped_again_and_again_comes_to_the_same() {
    let out = folder("lives-stopped");
    let load = || WorkloadSpec::Generated(Source { name: "load".into(), text: LOAD.into() });
    let files = || fs::read_dir(&out).unwrap().count();
    for (scheme, cached) in [("st", false), ("ready_opt", false), ("ready_opt", true)] {
        let mut spec = spec(scheme, load(), &out);
        if cached {
            spec.checkpoint = SaveTo::Cache(out.clone());
        }
        let (whole, warnings) = lived(&spec, false);
        assert!(warnings.is_empty() && files() == 0, "{warnings:?}");
        let whole = whole.unwrap().json().to_string();
        assert!(whole.contains("blocked_at_end_s"));
        assert!(lived(&spec, true).0.is_none() && files() > 0, "{scheme}");
        // A life on another drive has a file of its own among the caches.
        let mut other = spec.clone();
        other.device.set.push("seed=2".into());
        if cached {
            assert!(lived(&other, true).0.is_none());
        }
        let resumed = lived(&spec, true).1;
        assert_eq!(resumed.iter().any(|it| it.contains("resuming")), cached, "{resumed:?}");
        let parts = (0..500).find_map(|_| lived(&spec, true).0).expect("it ends");
        assert_eq!(whole, parts.json().to_string(), "{scheme}");
        if cached {
            assert!(files() > 0, "the other one is there");
            lived(&other, false).0.expect("it ends");
        }
        assert_eq!(files(), 0, "nothing is left");
    }
    fs::remove_dir_all(&out).unwrap();
}

/// A folder of caches has a limit, and what it cannot hold ends no life.
#[test]
fn a_folder_of_caches_holds_the_last_lives_and_its_loss_ends_none() {
    let out = folder("lives-cached");
    let load = || WorkloadSpec::Generated(Source { name: "load".into(), text: LOAD.into() });
    let cache = out.join("cache");
    let of_seed = |seed: u32| {
        let mut spec = spec("st", load(), &out);
        spec.device.set.push(format!("seed={seed}"));
        LifetimeSpec { checkpoint: SaveTo::Cache(cache.clone()), check: false, ..spec }
    };
    fs::create_dir_all(&cache).unwrap();
    fs::write(cache.join("of another program"), "").unwrap();
    for seed in 1..=12 {
        assert!(lived(&of_seed(seed), true).0.is_none());
        assert_eq!(fs::read_dir(&cache).unwrap().count(), 1 + 8.min(seed as usize));
    }
    // The last one resumes, the first one begins anew, and a damaged one does so too.
    assert_eq!(lived(&of_seed(12), true).1.len(), 1);
    assert_eq!(lived(&of_seed(1), true).1.len(), 0);
    for entry in fs::read_dir(&cache).unwrap() {
        fs::write(entry.unwrap().path(), "damaged").unwrap();
    }
    let (life, warnings) = lived(&of_seed(12), false);
    assert!(life.is_some() && warnings[0].contains("not a checkpoint"), "{warnings:?}");
    // The folder does not exist, and cannot be created.
    fs::remove_dir_all(&cache).unwrap();
    fs::write(&cache, "").unwrap();
    let (life, warnings) = lived(&of_seed(2), false);
    assert!(life.is_some() && warnings.len() == 1, "{warnings:?}");
    assert!(warnings[0].contains("checkpoints are not saved"), "{warnings:?}");
    fs::remove_dir_all(&out).unwrap();
}

/// Two lives with checkpoints and without.
#[test]
fn the_share_that_is_over_never_falls_and_comes_to_all() {
    let out = folder("lives-shares");
    let load = || WorkloadSpec::Generated(Source { name: "load".into(), text: LOAD.into() });
    let saved = spec("ready_opt", load(), &out);
    let unsaved = LifetimeSpec { checkpoint: SaveTo::Nowhere, ..saved.clone() };
    for spec in [saved, unsaved] {
        let (stop, shares) = (AtomicBool::new(false), Mutex::new(Vec::new()));
        let watch = Watch {
            control: Control { stop: &stop, progress: &|_| () },
            share: &|share| shares.lock().unwrap().push(share),
            early: &|_| (),
            warn: &|_| (),
        };
        assert!(matches!(live(&spec, watch).unwrap(), Ended::Lived(_)));
        let shares = shares.into_inner().unwrap();
        assert!(shares.is_sorted() && shares.last() == Some(&1.0), "{shares:?}");
    }
    fs::remove_dir_all(&out).unwrap();
}

/// The closed form says between which bounds the simulated life lies, and what is told on the way
/// ends at it. Random writes, mixed hot and cold ones too, come to the upper bound of the
/// amplification within 1 %, runs of pages to the lower. The upper one is that of many blocks: a
/// plane has 512 here; with 64 the simulated one is 13 % higher.
// Slow: three whole lives.
#[test]
fn a_life_lies_within_its_first_estimate() {
    let out = folder("lives-estimate");
    for (writes, reaches) in [
        ("writes.sizes = '4KiB'", 0.9..1.05),
        ("writes.sizes = '4KiB'\nwrites.mean_run = 100000.0", 0.0..0.5),
        (
            "writes.sizes = '4KiB'\nwrites.addresses = 'hot_cold'\nwrites.hot_accesses = 0.8\nwrites.hot_space = 0.2",
            0.9..1.05,
        ),
    ] {
        let text = format!(
            "duration = '1h'\narrivals = {{ kind = 'poisson', rate = 5.0 }}\nmix.reads = 0.0\n{writes}\n"
        );
        let load = WorkloadSpec::Generated(Source { name: "load".into(), text });
        let mut spec =
            LifetimeSpec { checkpoint: SaveTo::Nowhere, check: false, ..spec("nt", load, &out) };
        for key in spec.device.set.iter_mut().filter(|key| key.contains("blocks_per_plane")) {
            *key = "geometry.blocks_per_plane=512".into();
        }
        let (bounds, so_far) = (Mutex::new(None), Mutex::new(None));
        let watch = Watch {
            control: Control::UNWATCHED,
            share: &|_| (),
            early: &|early| match early {
                Early::Bounds(estimate) => *bounds.lock().unwrap() = Some(estimate),
                Early::SoFar { years, waf } => *so_far.lock().unwrap() = Some((years, waf)),
                Early::Drawing { .. } => panic!("there is no fleet"),
            },
            warn: &|_| (),
        };
        let Ended::Lived(lived) = live(&spec, watch).unwrap() else { panic!("nobody stopped it") };
        let one = &lived.lived[0];
        let (waf, lives) = (one.waf().unwrap(), one.lives().unwrap());
        let years = lives * lived.target().as_s() / (365.0 * 86_400.0);
        let bounds = bounds.into_inner().unwrap().expect("it is told first");
        // Place of the write amplification between its bounds, from 0 to 1.
        let at = (waf - bounds.waf[0]) / (bounds.waf[1] - bounds.waf[0]);
        assert!(reaches.contains(&at), "{writes}: {waf} in {:?}, at {at}", bounds.waf);
        let [worst, best] = bounds.years;
        assert!(worst * 0.97 < years && years < best * 1.01, "{writes}: {years} in {bounds:?}");
        let (last, _) = so_far.into_inner().unwrap().expect("it is told on the way");
        assert!((last / years - 1.0).abs() < 0.02, "{writes}: {last}, then {years}");
    }
    fs::remove_dir_all(&out).unwrap();
}

/// A file that is read with other options is another workload: a checkpoint of one is not resumed
/// with the other; the user is told, and the file is left alone until there is something to keep.
#[test]
fn a_trace_that_is_read_otherwise_is_another_workload() {
    let out = folder("lives-remapped");
    let trace = out.join("trace.csv");
    let mut text = "at_ns,op,offset,size\n".to_string();
    for number in 0..40_000u64 {
        let offset = number * 7919 % 10_000 * 3 * 4096;
        writeln!(text, "{},write,{offset},4096", number * 50_000_000).unwrap();
    }
    fs::write(&trace, text).unwrap();
    let read = |remap| {
        let options = ReadOptions::default();
        WorkloadSpec::Trace(TraceSpec::new(trace.clone(), options, remap))
    };
    let [modulo, compact] =
        [Remap::Modulo, Remap::Compact].map(|remap| spec("dt", read(remap), &out));
    let (expected, _) = lived(&compact, false);
    assert!(lived(&modulo, true).0.is_none());
    let (other, warnings) = lived(&compact, false);
    assert!(warnings.len() == 1 && warnings[0].contains("another run"), "{warnings:?}");
    assert_eq!(other.unwrap().json(), expected.unwrap().json());
    fs::remove_dir_all(&out).unwrap();
}

/// Like [`spec`], with cells that endure more: the workload writes some three times what they do.
fn lasting(scheme: &str, workload: WorkloadSpec, folder: &Path) -> LifetimeSpec {
    let mut spec = spec(scheme, workload, folder);
    for key in &mut spec.device.set {
        *key = key.replace("lifetime.cycles=100", "lifetime.cycles=2000");
    }
    spec
}

fn running(stop: &AtomicBool) -> Control<'_> {
    Control { stop, progress: &|_| () }
}

/// Without mapping and GC a life has as many pages, and they take as long, to within one epoch of
/// the life: GC of this drive moves some 130 pages at a time, so an epoch has more or fewer of them
/// than a steady life counts. The cells of [`lasting`] give an epoch room for 11,000 pages. With
/// those of [`spec`] it has 570, the first delay leaves six host pages in an epoch, in which there
/// is no GC at all, and the throttle swings between too much and too little.
#[test]
fn a_steady_life_is_that_of_the_drive() {
    let (out, stop) = (folder("lives-steady"), AtomicBool::new(false));
    let load = || WorkloadSpec::Generated(Source { name: "load".into(), text: LOAD.into() });
    for scheme in ["st", "dt", "ready_pes", "ready_opt"] {
        let of_drive = lasting(scheme, load(), &out);
        let whole = LifetimeSpec { checkpoint: SaveTo::Nowhere, dilation: Some(20), ..of_drive };
        let (simulated, _) = lived(&whole, false);
        let simulated = simulated.unwrap().lived;
        let lane = SteadyLane {
            device: whole.device,
            scheme: scheme.into(),
            most: 20,
            repetitions: 3,
            times: vec![1, 2],
        };
        let spec = SteadySpec {
            workload: load(),
            speed: 1.0,
            limit: None,
            waf: simulated[0].waf().unwrap(),
            lanes: vec![lane],
            close_up: None,
        };
        let quick = steady_lives(&spec, running(&stop)).unwrap().unwrap();
        assert_eq!(simulated.len(), quick[0].lived.len());
        for (one, other) in simulated.iter().zip(&quick[0].lived) {
            assert_eq!(one.dilation, other.dilation);
            assert!(one.repetitions.abs_diff(other.repetitions) <= 1, "{scheme}");
            let epoch = 600.0 * f64::from(one.dilation) / (20.0 * 86_400.0);
            // The amplification is that of the first life, and the second has another.
            let most = epoch + 0.002;
            let pages = other.totals.programmed / one.totals.programmed;
            let mean = |it: &EndOfLife| it.record.responses.mean_us().unwrap();
            let mean = mean(other) / mean(one);
            let reported = format!("{scheme} at {}: {pages} {mean}", one.dilation);
            assert!((pages - 1.0).abs() < most && (mean - 1.0).abs() < most, "{reported}");
        }
    }
    fs::remove_dir_all(&out).unwrap();
}

/// Lives at other dilations are those with fewer repetitions; drives of other sizes are refused.
/// The reports of progress add up to one part of the work.
#[test]
fn lanes_have_the_repetitions_that_are_asked_for() {
    let (out, stop) = (folder("lives-lanes"), AtomicBool::new(false));
    let load = WorkloadSpec::Generated(Source { name: "load".into(), text: LOAD.into() });
    let device = spec("nt", load.clone(), &out).device;
    let lane = |repetitions, more: &[&str]| SteadyLane {
        device: DeviceSpec {
            set: device.set.iter().cloned().chain(more.iter().map(|it| (*it).into())).collect(),
            ..device.clone()
        },
        scheme: "nt".into(),
        most: u32::MAX,
        repetitions,
        times: vec![1],
    };
    let of = |lanes| SteadySpec {
        workload: load.clone(),
        speed: 1.0,
        limit: None,
        waf: 1.5,
        lanes,
        close_up: None,
    };
    let told = Mutex::new(0.0);
    let progress = |step| {
        if let Progress::Served { of_a_part, .. } = step {
            assert!(of_a_part >= 0.0, "{of_a_part}");
            *told.lock().unwrap() += of_a_part;
        }
    };
    let watched = Control { stop: &stop, progress: &progress };
    let all = steady_lives(&of(vec![lane(6, &[]), lane(100, &[])]), watched).unwrap().unwrap();
    let told = told.into_inner().unwrap();
    assert!((told - 1.0_f64).abs() < 1e-9, "{told}");
    let dilations: Vec<u32> = all.iter().map(|it| it.lived[0].dilation).collect();
    assert_eq!(dilations, [80, 4], "480 repetitions of an hour in 20 days");
    let other = vec![lane(6, &[]), lane(6, &["geometry.over_provisioning=0.3"])];
    let refused = steady_lives(&of(other), running(&stop)).unwrap_err().to_string();
    assert!(refused.contains("the same sizes"), "{refused}");
    fs::remove_dir_all(&out).unwrap();
}

/// A day begins where the life is, has the same writes under every scheme, and a write takes at
/// least its program.
#[test]
fn days_are_those_of_the_life() {
    let (out, stop) = (folder("lives-days"), AtomicBool::new(false));
    let load = WorkloadSpec::Generated(Source { name: "load".into(), text: LOAD.into() });
    let device = lasting("nt", load.clone(), &out).device;
    let drive = resolve(&device.source().unwrap(), &Scheme::load("nt").unwrap(), &device).unwrap();
    let waf = write_amplification(&drive, &load, None, running(&stop)).unwrap().unwrap();
    assert!((1.3..4.0).contains(&waf), "{waf}");
    let minute = Span::ms(60_000);
    let spec = DaysSpec {
        device,
        schemes: ["nt", "st", "ready_opt"].map(|it| (it.to_string(), 4)).into(),
        workload: load,
        limit: None,
        speed: 1.0,
        waf,
        ages_s: vec![5.0 * 86_400.0, 15.0 * 86_400.0],
        window: (minute * 10, minute * 20),
    };
    // A day of the same part of the workload, twice as fast.
    let faster = DaysSpec {
        schemes: vec![("nt".into(), 4)],
        speed: 2.0,
        window: (minute * 5, minute * 10),
        ..spec.clone()
    };
    let faster = days(&faster, running(&stop)).unwrap().unwrap();
    let days = days(&spec, running(&stop)).unwrap().unwrap();
    assert_eq!((faster[0].writes, faster[0].pages), (days[0].writes, days[0].pages));
    let schemes: Vec<&str> = days.iter().map(|it| it.scheme.as_str()).collect();
    assert_eq!(schemes, ["nt", "st", "st", "ready_opt", "ready_opt"]);
    for day in &days {
        assert_eq!(day.writes, days[0].writes, "{day:?}");
        assert!(day.drive_us.unwrap() >= day.program_us && day.programs > day.host_programs);
        assert_eq!(day.held_us.unwrap() > 0.0, day.scheme != "nt", "{day:?}");
        assert!(day.erases > 0 && day.behind_gc_us > 0.0, "{day:?}");
    }
    let ages: Vec<f64> = days.iter().map(|it| it.age_years * 365.0).collect();
    assert!(ages[0] < 1.0 && (5.0..7.0).contains(&ages[1]) && (15.0..17.0).contains(&ages[2]));
    fs::remove_dir_all(&out).unwrap();
}

/// Like [`lasting`], for five days.
fn short(scheme: &str, workload: WorkloadSpec, folder: &Path) -> LifetimeSpec {
    let mut spec = lasting(scheme, workload, folder);
    for key in &mut spec.device.set {
        *key = key.replace("lifetime.target=20d", "lifetime.target=5d");
    }
    spec
}

/// Tests the bounds of dilation: the undilated life lies where the dilated ones say.
// Slow: three lives without dilation, which is what dilation saves.
#[test]
fn the_undilated_life_lies_within_the_interval_of_the_dilated_ones() {
    let out = folder("lives-interval");
    let load = || WorkloadSpec::Generated(Source { name: "load".into(), text: LOAD.into() });
    for scheme in ["nt", "dt", "ready_opt"] {
        let dilated = LifetimeSpec { dilation: Some(8), ..short(scheme, load(), &out) };
        let undilated = LifetimeSpec { dilation: Some(1), check: false, ..dilated.clone() };
        let [dilated, whole] = [dilated, undilated].map(|spec| {
            let spec = LifetimeSpec { checkpoint: SaveTo::Nowhere, ..spec };
            lived(&spec, false).0.unwrap().json()
        });
        for key in ["effective_lifetime_years", "waf", "w_work_tb", "response_mean_us"] {
            let bounds = dilated["dilation_interval"][key].as_array().unwrap();
            let [low, high] = [0, 2].map(|at| bounds[at].as_f64().unwrap());
            let exact = whole["lives"][0][key].as_f64().unwrap();
            // Loads are drawn for each repetition: 10^6 pages are 0.2 % more or less.
            let holds = low * 0.998 <= exact && exact <= high * 1.002;
            assert!(holds, "{scheme}, {key}: {exact} and not {low} to {high}");
            let own = whole["dilation_interval"][key].as_array().unwrap();
            assert!(own.iter().all(|it| it.as_f64() == Some(exact)), "it is not dilated");
        }
    }
    fs::remove_dir_all(&out).unwrap();
}

/// The time left that follows from the share that is done is right within a factor of two after the
/// first tenth, in units of work: each call comes after as many requests. Lives one after another
/// take the work of both.
// Slow: three whole lives on one core, so that the order of the calls is known. Those without
// bursts last two days, which are 48 repetitions: each takes as much work as the others.
#[test]
fn the_time_left_is_right_within_a_factor_of_two() {
    let out = folder("lives-left");
    // Nearly all of a repetition of a day is in its first two hours.
    let bursts = "duration = '1d'
arrivals = { kind = 'cycle', busy_rate = 60.0, quiet_rate = 0.1, mean_busy = '2h', mean_quiet = '22h', spread = 0.1 }
mix.reads = 0.0
space.share = 0.8
writes.sizes = '4KiB'
";
    type Of = fn(&str, WorkloadSpec, &Path) -> LifetimeSpec;
    // On two cores the order of the calls would depend on how fast each is.
    let one_core = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let all: [(&str, &str, u32, Of); 3] =
        [("nt", LOAD, 1, short), ("nt", bursts, 3, lasting), ("ready_opt", LOAD, 1, short)];
    for (scheme, text, dilation, life) in all {
        let load = WorkloadSpec::Generated(Source { name: "load".into(), text: text.into() });
        let mut spec = LifetimeSpec { dilation: Some(dilation), ..life(scheme, load, &out) };
        for key in &mut spec.device.set {
            *key = key.replace("lifetime.target=5d", "lifetime.target=2d");
        }
        for check in [false, true] {
            let spec = LifetimeSpec { check, checkpoint: SaveTo::Nowhere, ..spec.clone() };
            let shares = Mutex::new(Vec::new());
            let watch = Watch {
                control: Control::UNWATCHED,
                share: &|share| shares.lock().unwrap().push(share),
                early: &|_| (),
                warn: &|_| (),
            };
            let ended = one_core.install(|| live(&spec, watch).unwrap());
            assert!(matches!(ended, Ended::Lived(_)));
            let shares = shares.into_inner().unwrap();
            let all = shares.len() as f64;
            let mut seen = 0;
            for tenth in 1..=9 {
                let done = all * f64::from(tenth) / 10.0;
                let share = shares[done as usize];
                let predicted = done * (1.0 - share) / share;
                let ratio = predicted / (all - done);
                let told = format!("{scheme}, {dilation}, {check}: after {tenth} tenths {ratio}");
                println!("{told}");
                assert!((0.5..2.0).contains(&ratio), "{told}");
                seen += 1;
            }
            assert!(seen == 9 && all > 20.0, "{all} units of work");
        }
    }
    fs::remove_dir_all(&out).unwrap();
}

#[test]
fn lives_have_no_faults() {
    let device = concat!(env!("CARGO_MANIFEST_DIR"), "/../cli/tests/small.toml");
    let text = "requests = 60\narrivals = { kind = 'fixed', rate = 100 }\nmix.reads = 0.5\n\
        faults = ['305ms chip 1']";
    let life = LifetimeSpec {
        device: DeviceSpec {
            device: device.into(),
            set: vec!["policy.redundancy.stripe=1".into()],
            ..DeviceSpec::default()
        },
        scheme: None,
        workload: WorkloadSpec::Generated(Source { name: "w.toml".into(), text: text.into() }),
        limit: None,
        dilation: Some(1),
        check: false,
        close_up: None,
        checkpoint: SaveTo::Nowhere,
        checkpoint_every: u64::MAX,
    };
    let watch =
        Watch { control: Control::UNWATCHED, share: &|_| (), early: &|_| (), warn: &|_| () };
    let reported = live(&life, watch).map(drop).unwrap_err().to_string();
    assert!(
        reported.contains("a lifetime has neither power losses nor other faults"),
        "{reported}"
    );
}
