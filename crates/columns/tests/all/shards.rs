//! Shards of a sweep: in any order, killed and run again, they merge into the bytes of one run.

use crate::folders::contents;
use fowler_columns::shards::{self, Found, Shard, Watch};
use fowler_columns::store::{self, Folder, Tally};
use fowler_experiment::sweep::Plan;
use fowler_experiment::workload::Control;
use fowler_units::Rng;
use rayon::prelude::*;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Points that take a moment each, every seed under every scheme. With requests, half of the points
/// are on a drive that is refused, all for one reason.
fn plan(schemes: &[&str], seeds: u64, limit: u64, requests: bool) -> Plan {
    let device = Path::new(env!("CARGO_MANIFEST_DIR")).join("../cli/tests/small.toml");
    let text = format!(
        "device = '{}'\nworkload = 'demo'\nlimit = {limit}\nrequests = {requests}\n\
         set = ['geometry.blocks_per_plane=16', 'gc.background_below=3', 'precondition.fill=0']\n\
         [axis]\nscheme = {schemes:?}\nseed = {:?}\n\
         'geometry.over_provisioning' = {}\n",
        device.display(),
        (1..=seeds).collect::<Vec<u64>>(),
        if requests { "[0.25, 0.0]" } else { "[0.25]" },
    );
    Plan::read(&text, "sweep.toml").unwrap_or_else(|why| panic!("{why}"))
}

fn empty(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join("columns").join("shards").join(name);
    let _absent = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

/// Runs the missing points of a folder, and stops after `most` runs.
fn run(folder: &Folder, plan: &Plan, most: usize) {
    let (stop, ran) = (AtomicBool::new(most == 0), AtomicUsize::new(0));
    let control = Control { stop: &stop, progress: &|_| () };
    let step = |_| stop.store(ran.fetch_add(1, Ordering::Relaxed) + 1 >= most, Ordering::Relaxed);
    let todo = folder.missing(false).unwrap();
    store::run(folder, plan, &todo, Some(1), control, &step).unwrap();
}

fn whole(path: &Path, plan: &Plan) -> Tally {
    let folder = Folder::open(path, plan).unwrap();
    run(&folder, plan, usize::MAX);
    folder.tally().unwrap()
}

fn shard(path: &Path, plan: &Plan, shard: &str, most: usize) {
    let shard = Shard::parse(shard).unwrap();
    run(&shards::open(path, plan, shard).unwrap_or_else(|why| panic!("{why}")), plan, most);
}

fn merge(folders: &[PathBuf], out: &Path) -> Result<Tally, String> {
    let stop = AtomicBool::new(false);
    let watch = Watch { stop: &stop, planned: &|_| (), copied: &|| () };
    let folder = shards::merge(folders, out, watch).map_err(|why| why.to_string())?;
    Ok(folder.expect("nobody stopped it").tally().unwrap())
}

fn refused(folders: &[PathBuf], out: &Path) -> String {
    let why = merge(folders, out).unwrap_err();
    assert!(!out.exists(), "nothing is written: {why}");
    why
}

fn shuffled<T>(items: &mut [T], rng: &mut Rng) {
    for last in (1..items.len()).rev() {
        items.swap(last, rng.below(last as u64 + 1) as usize);
    }
}

/// Leaves a folder as a kill may leave it: with points that are not finished, and files under
/// temporary names.
fn killed(path: &Path, rng: &mut Rng) {
    let files = contents(path);
    let of_points = |name: &&(String, Vec<u8>)| name.0.starts_with("points/");
    for (name, bytes) in files.iter().filter(of_points) {
        match rng.below(3) {
            0 => fs::remove_file(path.join(name)).unwrap(),
            1 => {
                fs::write(path.join(format!("{name}.partial")), &bytes[..bytes.len() / 2]).unwrap()
            }
            _ => {}
        }
    }
    if rng.below(4) == 0 {
        fs::remove_file(path.join("design.parquet")).unwrap();
    }
    if rng.below(4) == 0 {
        fs::write(path.join("shard"), "").unwrap();
    }
}

// Slow: a thousand folders are written, joined and read back.
#[test]
fn a_thousand_shards_in_any_order_are_the_bytes_of_one_run() {
    const SHARDS: usize = 1000;
    let here = empty("thousand");
    // Ten shards have nothing to do.
    let plan = plan(&["fifo"], 990, 4, false);
    let one = whole(&here.join("one"), &plan);
    assert_eq!(one, Tally { points: 990, finished: 990, failed: 0 });
    let mut rng = Rng::stream(1, "shards");
    let mut order: Vec<usize> = (1..=SHARDS).collect();
    shuffled(&mut order, &mut rng);
    let folder = |number: &usize| here.join(format!("of-{number}"));
    let run = |number: &usize| {
        shard(&folder(number), &plan, &format!("{number}/{SHARDS}"), usize::MAX);
    };
    // Many shards run at once, as a batch system runs them.
    order.par_iter().for_each(run);
    let mut again = order[..SHARDS / 10].to_vec();
    again.iter().for_each(|number| killed(&folder(number), &mut rng));
    shuffled(&mut order, &mut rng);
    let folders: Vec<PathBuf> = order.iter().map(folder).collect();
    refused(&folders, &here.join("early"));
    shuffled(&mut again, &mut rng);
    again.par_iter().for_each(run);
    let merged = merge(&folders, &here.join("merged")).unwrap_or_else(|why| panic!("{why}"));
    assert_eq!(merged, one);
    assert!(contents(&here.join("one")) == contents(&here.join("merged")));
}

#[test]
fn shards_with_requests_and_points_that_fail_merge_and_merging_resumes() {
    let here = empty("requests");
    let plan = plan(&["fifo", "noop", "pes_ipc"], 3, 200, true);
    let one = whole(&here.join("one"), &plan);
    assert_eq!(one, Tally { points: 18, finished: 18, failed: 9 });
    let folders: Vec<PathBuf> = (1..=4).map(|it| here.join(format!("of-{it}"))).collect();
    for (number, folder) in (1..=4).zip(&folders) {
        let name = format!("{number}/4");
        // One run at a time: each time the shard is stopped and resumes.
        while shards::open(folder, &plan, Shard::parse(&name).unwrap())
            .is_ok_and(|it| !it.missing(false).unwrap().is_empty())
        {
            shard(folder, &plan, &name, 1);
        }
        let expected = Found::Shard(Shard::parse(&name).unwrap());
        assert_eq!(shards::found(folder).unwrap(), Some(expected));
    }
    let out = here.join("merged");
    let (stop, copied) = (AtomicBool::new(false), AtomicUsize::new(0));
    let count = || stop.store(copied.fetch_add(1, Ordering::Relaxed) >= 1, Ordering::Relaxed);
    let watch = Watch { stop: &stop, planned: &|all| assert_eq!(all, 7), copied: &count };
    assert!(shards::merge(&folders, &out, watch).unwrap().is_none());
    assert!(contents(&here.join("one")) != contents(&out));
    assert_eq!(merge(&folders, &out).unwrap(), one);
    assert!(contents(&here.join("one")) == contents(&out));
    // The folder is that of a whole sweep now.
    assert_eq!(whole(&out, &plan), one);
    assert!(contents(&here.join("one")) == contents(&out));
}

#[test]
fn what_is_not_one_sweep_is_refused_by_name() {
    let here = empty("refused");
    let (plan, other) = (plan(&["fifo"], 4, 4, false), plan(&["fifo"], 5, 4, false));
    let made = |name: &str, plan: &Plan, of: &str| {
        shard(&here.join(name), plan, of, usize::MAX);
        here.join(name)
    };
    let [a, b, c] = [("a", "1/3"), ("b", "2/3"), ("c", "3/3")].map(|(it, of)| made(it, &plan, of));
    let out = here.join("out");
    let all = [a.clone(), b.clone(), c.clone()];
    let why = refused(std::slice::from_ref(&b), &out);
    assert!(why.contains("2 shards of 3 are missing: 1, 3"), "{why}");
    let why = refused(&[all.to_vec(), vec![made("again", &plan, "2/3")]].concat(), &out);
    assert!(why.contains("again: is shard 2/3, as is ") && why.contains("/b"), "{why}");
    let (spec, four) = (made("spec", &other, "3/3"), made("four", &plan, "3/4"));
    whole(&here.join("whole"), &plan);
    let why = refused(&[a.clone(), b.clone(), spec, four], &out);
    assert!(why.contains("spec: the shard has another sweep specification than "), "{why}");
    assert!(why.contains("four: is shard 3/4, and "), "{why}");
    let why = refused(&[a.clone(), here.join("whole"), here.join("absent")], &out);
    assert!(why.contains("whole: is not the folder of a shard"), "{why}");
    assert!(why.contains("absent: is not the folder of a shard"), "{why}");
    // Stopped early, and damaged.
    shard(&here.join("begun"), &plan, "1/3", 0);
    let first = |folder: &Path, ending: &str| {
        let files = contents(folder).into_iter().map(|(name, _)| name);
        let name = files.filter(|it| it.starts_with("points/")).find(|it| it.ends_with(ending));
        folder.join(name.unwrap())
    };
    let point = first(&b, ".parquet");
    fs::write(&point, "torn").unwrap();
    let why = refused(&[here.join("begun"), b.clone(), c.clone()], &out);
    assert!(
        why.contains("begun: is the folder of shard 1/3, of whose 2 runs 2 are not finished"),
        "{why}"
    );
    assert!(why.contains(&*point.display().to_string()) && why.contains("is damaged"), "{why}");
    shard(&b, &plan, "2/3", usize::MAX);
    // A shard of another version, and one of a version that this one does not know.
    let record = fs::read_to_string(a.join("shard").with_file_name("design.parquet"));
    assert!(record.is_err(), "a design is not text");
    fs::write(c.join("format"), "fowler sweep 9 9.0\n").unwrap();
    let why = refused(&all, &out);
    assert!(why.contains("c: the folder was written by Fowler 9.0 in format 9"), "{why}");
    shard_again_is_refused(&here, &plan);
}

/// Checks that a folder with a shard refuses other shards and the whole sweep.
fn shard_again_is_refused(here: &Path, plan: &Plan) {
    let open = |name: &str, of: &str| {
        let shard = Shard::parse(of).unwrap();
        shards::open(&here.join(name), plan, shard).map(drop).unwrap_err().to_string()
    };
    assert!(open("a", "2/3").contains("a: holds shard 1/3 and not 2/3"), "{}", open("a", "2/3"));
    assert!(open("whole", "2/3").contains("holds a whole sweep"), "{}", open("whole", "2/3"));
    // The file of another shard does not make the folder that shard's folder.
    let own = fs::read(here.join("a/shard")).unwrap();
    fs::copy(here.join("b/shard"), here.join("a/shard")).unwrap();
    let why = open("a", "2/3");
    assert!(
        why.contains("a: the folder holds shard 1/3, but its file `shard` is that of shard 2/3"),
        "{why}"
    );
    let why = merge(&[here.join("a")], &here.join("out")).unwrap_err();
    assert!(why.contains("a/shard: the result file of this point is damaged"), "{why}");
    shards::open(&here.join("a"), plan, Shard::parse("1/3").unwrap()).unwrap();
    assert!(fs::read(here.join("a/shard")).unwrap() == own, "its own shard writes it again");
    let why = Folder::open(&here.join("a"), plan).map(drop).unwrap_err().to_string();
    assert!(why.contains("a: holds a shard of a sweep"), "{why}");
    let why = merge(&[here.join("a")], &here.join("a")).unwrap_err();
    assert!(why.contains("are missing"), "{why}");
    shard(&here.join("only"), plan, "1/1", usize::MAX);
    let files = contents(&here.join("only"));
    let why = merge(&[here.join("only")], &here.join("only")).unwrap_err();
    assert!(why.contains("only: holds a shard of a sweep"), "{why}");
    assert!(files == contents(&here.join("only")));
    assert!(store::load(&here.join("only")).unwrap().num_rows() == 4);
}

/// Whatever happens to a file of a shard, the merged sweep has the bytes of one run or is refused.
// Slow: two shards are joined after each of 200 damages.
#[test]
fn no_damage_to_a_shard_goes_unnoticed() {
    let here = empty("damaged");
    let plan = plan(&["fifo", "noop"], 2, 50, true);
    whole(&here.join("one"), &plan);
    let one = contents(&here.join("one"));
    let folders = [here.join("of-1"), here.join("of-2")];
    shard(&folders[0], &plan, "1/2", usize::MAX);
    shard(&folders[1], &plan, "2/2", usize::MAX);
    let files: Vec<_> = contents(&here.join("of-1")).into_iter().collect();
    let out = here.join("out");
    let mut refused = 0;
    for seed in 0..200 {
        let mut rng = Rng::stream(seed, "damage");
        let (name, bytes) = &files[rng.below(files.len() as u64) as usize];
        let mut changed = bytes.clone();
        match rng.below(3) {
            0 if !bytes.is_empty() => {
                changed[rng.below(bytes.len() as u64) as usize] ^= 1 << rng.below(8);
            }
            1 => changed.truncate(rng.below(bytes.len() as u64 + 1) as usize),
            _ => changed.push(b'x'),
        }
        fs::write(folders[0].join(name), &changed).unwrap();
        match merge(&folders, &out) {
            Ok(_) => assert!(contents(&out) == one, "seed {seed}: {name}"),
            Err(_) => refused += 1,
        }
        fs::write(folders[0].join(name), bytes).unwrap();
        let _absent = fs::remove_dir_all(&out);
    }
    assert!(refused > 100, "{refused} of 200");
}
