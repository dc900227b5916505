//! Fleets that are stopped, and their shards: whatever happens to them, the result is that of one
//! run, or it is refused.

use crate::fleet::spec;
use fowler_experiment::shard::Shard;
use fowler_experiment::workload::Control;
use fowler_lifetime::fleet::{
    FleetSpec, Merging, ShardDrawn, ShardSpec, draw_shard, examine, merge, with_life,
};
use fowler_lifetime::{Ended, LifetimeSpec, SaveTo, Watch};
use fowler_units::Rng;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

const FILE: &str = "lifetime.fleet";

fn empty(name: &str) -> PathBuf {
    let path =
        Path::new(env!("CARGO_TARGET_TMPDIR")).join("lifetime").join("fleet-shards").join(name);
    let _absent = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// A life of a moment, saved in a folder. Its drives are saved as often as can be.
fn saved_in(folder: &Path) -> LifetimeSpec {
    let checkpoint = SaveTo::File(folder.join("lifetime.checkpoint"));
    LifetimeSpec { checkpoint, checkpoint_every: 1, check: false, ..spec(300.0, 5.0, &[]) }
}

fn fleet(drives: u32) -> FleetSpec {
    FleetSpec { drives, early_share: 0.1, ..FleetSpec::default() }
}

/// Runs a shard, with the life of another, and stops it at once or not at all.
fn shard(
    folder: &Path,
    spec: FleetSpec,
    shard: &str,
    life_of: Option<&Path>,
    stopped: bool,
) -> Result<ShardDrawn, String> {
    fs::create_dir_all(folder).unwrap();
    let life_of = life_of.map(Path::to_path_buf);
    let shard = ShardSpec { shard: Shard::parse(shard).unwrap(), life_of };
    let stop = AtomicBool::new(stopped);
    let control = Control { stop: &stop, progress: &|_| () };
    let watch = Watch { control, share: &|_| (), early: &|_| (), warn: &|_| () };
    draw_shard(&saved_in(folder), &spec, &shard, watch).map_err(|why| why.to_string())
}

/// The whole fleet of a folder as JSON.
fn whole(folder: &Path, spec: FleetSpec) -> String {
    fs::create_dir_all(folder).unwrap();
    let watch =
        Watch { control: Control::UNWATCHED, share: &|_| (), early: &|_| (), warn: &|_| () };
    match with_life(&saved_in(folder), &spec, watch).unwrap() {
        Ended::Lived(life) => life.json().to_string(),
        Ended::Stopped { .. } => panic!("nobody stopped it"),
    }
}

fn merged(folders: &[PathBuf]) -> Result<String, String> {
    let watch = Merging { control: Control::UNWATCHED, share: &|_| () };
    let life = merge(folders, watch).map_err(|why| why.to_string())?;
    Ok(life.expect("nobody stopped it").json().to_string())
}

/// As a batch system runs them: in any order, a tenth stopped or lost and run again.
// Slow: a hundred folders are written, and a tenth of them twice.
#[test]
fn shards_in_any_order_are_the_fleet_of_one_run() {
    let here = empty("any-order");
    let (drives, of) = (203, 100);
    let spec = fleet(drives);
    let first = here.join("s1");
    shard(&first, spec, &format!("1/{of}"), None, false).unwrap();
    let mut rng = Rng::stream(4, "shards");
    let mut order: Vec<u64> = (2..=of).collect();
    for at in (1..order.len()).rev() {
        order.swap(at, rng.below(at as u64 + 1) as usize);
    }
    for &number in &order {
        let (folder, name) = (here.join(format!("s{number}")), format!("{number}/{of}"));
        let drawn = |stopped| shard(&folder, spec, &name, Some(&first), stopped).unwrap();
        if rng.below(10) == 0 {
            let ended = drawn(true);
            assert!(matches!(ended, ShardDrawn::Stopped { .. }), "{ended:?}");
            if rng.below(2) == 0 {
                let _nothing_saved = fs::remove_file(folder.join(FILE));
            }
        }
        let places = Shard::parse(&name).unwrap().places(drives).len();
        let ended = drawn(false);
        let whole = matches!(ended, ShardDrawn::Drawn { drives, .. } if drives == places);
        assert!(whole, "{name}: {ended:?}");
        assert_eq!(fs::read_dir(&folder).unwrap().count(), 1, "one file is the result");
        if number % 50 == 0 {
            // Once more, and nothing is left to do.
            assert!(matches!(drawn(false), ShardDrawn::Drawn { new: 0, .. }));
        }
    }
    let mut folders: Vec<PathBuf> = order.iter().map(|it| here.join(format!("s{it}"))).collect();
    folders.push(first);
    assert!(merged(&folders).unwrap() == whole(&here.join("whole"), spec));
    let refused = merged(&folders[1..]).unwrap_err();
    assert!(refused.contains(&format!("1 shard of {of} is missing: {}", order[0])), "{refused}");
    fs::remove_dir_all(&here).unwrap();
}

/// A fleet that is stopped while it is drawn has its drives when it is taken up again.
// Slow: 70,000 drives, so that it can be stopped between two saved states.
#[test]
fn a_fleet_that_is_stopped_resumes_to_the_same() {
    let here = empty("stopped");
    let spec = fleet(70_000);
    let folder = here.join("parts");
    fs::create_dir_all(&folder).unwrap();
    let shares = Mutex::new(Vec::new());
    let (mut times, mut ended) = (0, None);
    while ended.is_none() {
        let stop = AtomicBool::new(false);
        let drawing = AtomicBool::new(false);
        let share = |share: f64| {
            if drawing.load(Ordering::Relaxed) {
                shares.lock().unwrap().push(share);
                // The fleet is stopped twice after the first drives.
                stop.store(times < 2, Ordering::Relaxed);
            }
        };
        let early = |early| {
            let begins = matches!(early, fowler_lifetime::Early::Drawing { .. });
            drawing.fetch_or(begins, Ordering::Relaxed);
        };
        let control = Control { stop: &stop, progress: &|_| () };
        let watch = Watch { control, share: &share, early: &early, warn: &|_| () };
        match with_life(&saved_in(&folder), &spec, watch).unwrap() {
            Ended::Stopped { saved } => {
                assert!(saved);
                let found = examine(&folder).unwrap().unwrap().holds.unwrap();
                assert!(found.contains("an unfinished fleet: "), "{found}");
                assert!(found.contains(" of 70000 drives"), "{found}");
            }
            Ended::Lived(life) => ended = Some(life),
        }
        times += 1;
    }
    assert_eq!(times, 3);
    let shares = shares.into_inner().unwrap();
    assert!(shares[0] > 0.0 && shares.is_sorted(), "{shares:?}");
    let life = ended.unwrap();
    let json = life.json().to_string();
    assert!(json == whole(&here.join("whole"), spec));
    life.remove_checkpoint().unwrap();
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is left");
    fs::remove_dir_all(&here).unwrap();
}

/// Reasons why folders are not one fleet are reported, and no folder takes another shard.
#[test]
fn shards_that_are_no_fleet_are_refused() {
    let here = empty("refused");
    let spec = fleet(30);
    let folder = |name: &str| here.join(name);
    let made = |name: &str, of: &str, spec: FleetSpec| {
        let first = folder("a");
        let first = Some(first.as_path()).filter(|_| name != "a");
        shard(&folder(name), spec, of, first, false).unwrap();
        folder(name)
    };
    let [a, b, c] = [("a", "1/3"), ("b", "2/3"), ("c", "3/3")].map(|(it, of)| made(it, of, spec));
    let again = made("again", "2/3", spec);
    let halves = made("halves", "1/2", spec);
    let wider = made("wider", "3/3", FleetSpec { load_spread: 0.6, ..spec });
    fs::create_dir(folder("empty")).unwrap();
    for (folders, reported) in [
        (vec![&a, &c], "1 shard of 3 is missing: 2"),
        (vec![&b], "2 shards of 3 are missing: 1, 3"),
        (vec![&a, &b, &again, &c], "again: is shard 2/3, as is "),
        (vec![&a, &b, &halves], "halves: is shard 1/2, and "),
        (vec![&a, &b, &wider], "wider: is of a fleet with other options"),
        (vec![&a, &folder("empty")], "empty: is not the folder of a shard"),
        (vec![&a, &folder("none")], "none: is not the folder of a shard"),
    ] {
        let all: Vec<PathBuf> = folders.into_iter().cloned().collect();
        let why = merged(&all).unwrap_err();
        assert!(why.contains(reported), "{reported}: {why}");
    }
    let refused = |name: &str, spec, of: &str, from: Option<&Path>| {
        shard(&folder(name), spec, of, from, false).unwrap_err()
    };
    let why = refused("a", spec, "2/3", None);
    assert!(why.contains("a: holds shard 1/3 and not 2/3"), "{why}");
    let why = refused("a", fleet(31), "1/3", None);
    assert!(why.contains("a: holds shard 1/3 of another fleet than this"), "{why}");
    let why = refused("new", spec, "1/3", Some(&folder("empty")));
    assert!(why.contains("empty: has no life for the fleet"), "{why}");
    let watch =
        Watch { control: Control::UNWATCHED, share: &|_| (), early: &|_| (), warn: &|_| () };
    let why = with_life(&saved_in(&a), &spec, watch).unwrap_err().to_string();
    assert!(why.contains("a: holds shard 1/3 of a fleet"), "{why}");
    let other = LifetimeSpec { dilation: Some(5), ..saved_in(&folder("other")) };
    let from = ShardSpec { shard: Shard::parse("1/3").unwrap(), life_of: Some(a.clone()) };
    fs::create_dir(folder("other")).unwrap();
    let why = draw_shard(&other, &spec, &from, watch).unwrap_err().to_string();
    assert!(why.contains("a: has the life of another drive, workload, dilation"), "{why}");
    fs::remove_dir_all(&here).unwrap();
}

/// Whatever happens to the file of a shard, it is refused, or drawn again to the same bytes.
#[test]
fn no_damage_to_a_shard_goes_unnoticed() {
    let here = empty("damaged");
    let spec = fleet(30);
    let folders = [here.join("one"), here.join("two")];
    shard(&folders[0], spec, "1/2", None, false).unwrap();
    shard(&folders[1], spec, "2/2", Some(&folders[0]), false).unwrap();
    let file = folders[1].join(FILE);
    let bytes = fs::read(&file).unwrap();
    for seed in 0..100 {
        let mut rng = Rng::stream(seed, "damage");
        let mut changed = bytes.clone();
        match rng.below(3) {
            0 => changed[rng.below(bytes.len() as u64) as usize] ^= 1 << rng.below(8),
            1 => changed.truncate(rng.below(bytes.len() as u64) as usize),
            _ => changed.push(b'x'),
        }
        fs::write(&file, &changed).unwrap();
        assert!(merged(&folders).is_err(), "seed {seed}");
        assert!(examine(&folders[1]).unwrap().unwrap().holds.is_err(), "seed {seed}");
    }
    shard(&folders[1], spec, "2/2", Some(&folders[0]), false).unwrap();
    assert!(fs::read(&file).unwrap() == bytes);
    fs::remove_dir_all(&here).unwrap();
}
