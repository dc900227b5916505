//! `fowler lifetime` as its user meets it: in full, killed and taken up again, with bad input.

use crate::processes::{stopped, wait_until};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn folder(name: &str) -> PathBuf {
    let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _absent = fs::remove_dir_all(&path);
    fs::create_dir_all(&path).unwrap();
    path
}

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fowler"));
    command.arg("lifetime").args(arguments).arg("--quiet").stdin(Stdio::null());
    command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("caches"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// An hour's load that differs from minute to minute, on a drive of 64 MiB.
const LOAD: &str = "duration = '1h'
arrivals = { kind = 'cycle', busy_rate = 20.0, quiet_rate = 1.5, mean_busy = '4min', mean_quiet = '16min', spread = 0.3 }
mix.reads = 0.2
space.share = 0.8
writes.sizes = '4KiB 3, 16KiB 1'
";

/// The drive, and a life of some days in which its cells last for half of what is asked for.
const DRIVE: [&str; 12] = [
    "--device",
    "ready-32",
    "--set",
    "geometry.channels=1",
    "--set",
    "geometry.chips_per_channel=1",
    "--set",
    "geometry.dies_per_chip=1",
    "--set",
    "geometry.blocks_per_plane=64",
    "--set",
    "lifetime.cycles=400",
];
/// A drive with superblocks of 96 MiB, likewise.
const SUPERBLOCKS: [&str; 18] = [
    "--device",
    "nvme-7450",
    "--set",
    "geometry.channels=1",
    "--set",
    "geometry.chips_per_channel=1",
    "--set",
    "geometry.dies_per_chip=1",
    "--set",
    "geometry.blocks_per_plane=64",
    "--set",
    "geometry.pages_per_block=24",
    "--set",
    "superblocks.parity=8",
    "--set",
    "geometry.over_provisioning=0.35",
    "--set",
    "lifetime.cycles=400",
];
/// Twenty days.
const LIFE: [&str; 2] = ["--years", "0.0547945"];

fn load(folder: &Path) -> String {
    let path = folder.join("load.toml");
    fs::write(&path, LOAD).unwrap();
    path.display().to_string()
}

fn summary(folder: &Path) -> String {
    fs::read_to_string(folder.join("summary.json")).unwrap()
}

#[test]
fn a_life_that_is_killed_goes_on_to_the_same_bytes() {
    killed_and_resumed("lifetime-killed", &DRIVE);
}

#[test]
fn a_life_of_superblocks_that_is_killed_goes_on_to_the_same_bytes() {
    killed_and_resumed("lifetime-killed-superblocks", &SUPERBLOCKS);
}

fn killed_and_resumed(name: &str, drive: &[&str]) {
    let out = folder(name);
    let load = load(&out);
    let all = |folder: &Path| {
        let mut all: Vec<String> = drive.iter().copied().chain(LIFE).map(String::from).collect();
        let rest = ["--workload", &load, "--scheme", "ready_opt", "--dilation", "2"];
        all.extend(rest.map(String::from));
        all.extend(["--save-every", "40000", "--out"].map(String::from));
        all.push(folder.display().to_string());
        all
    };
    let whole = out.join("whole");
    let arguments = all(&whole);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let done = run(&arguments);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));

    let parts = out.join("parts");
    let checkpoint = parts.join("lifetime.checkpoint");
    let arguments = all(&parts);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    // Killed as soon as something is saved; then stopped; then resumed.
    let mut child = command(&arguments).spawn().unwrap();
    wait_until(&mut child, || checkpoint.exists());
    child.kill().unwrap();
    child.wait().unwrap();
    assert!(!parts.join("summary.json").exists(), "it was killed before its end");
    let before = fs::metadata(&checkpoint).unwrap().modified().unwrap();
    let mut child = command(&arguments).spawn().unwrap();
    wait_until(&mut child, || fs::metadata(&checkpoint).unwrap().modified().unwrap() != before);
    let ended = stopped(child, "TERM");
    assert!(String::from_utf8_lossy(&ended.stderr).contains("the same command resumes"));
    let done = run(&arguments);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(!checkpoint.exists(), "nothing is left to resume from");
    assert_eq!(summary(&whole), summary(&parts));
    for picture in ["page-writes.svg", "over-time.svg", "lifetime.csv"] {
        let [one, other] = [&whole, &parts].map(|folder| fs::read(folder.join(picture)).unwrap());
        assert!(one == other, "{picture}");
    }
    fs::remove_dir_all(&out).unwrap();
}

/// Without a folder of results, the same is kept among the user's caches.
// Slow: a whole life, and two more that are stopped and resumed.
#[test]
fn a_life_without_a_folder_is_kept_too() {
    let out = folder("lifetime-cached");
    let load = load(&out);
    let (caches, home) = (out.join("caches"), out.join("home"));
    let arguments: Vec<&str> = DRIVE
        .into_iter()
        .chain(LIFE)
        .chain(["--workload", &load, "--scheme", "ready_opt", "--dilation", "2", "--json"])
        .chain(["--save-every", "40000"])
        .collect();
    let done = run(&arguments);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let files = |folder: &Path| fs::read_dir(folder).into_iter().flatten().count();
    for (name, value, kept) in [
        ("XDG_CACHE_HOME", &caches, caches.join("fowler")),
        ("HOME", &home, home.join(".cache/fowler")),
    ] {
        let begin = || {
            let mut prepared = command(&arguments);
            prepared.env_remove("XDG_CACHE_HOME").env(name, value);
            prepared
        };
        let mut child = begin().spawn().unwrap();
        wait_until(&mut child, || files(&kept) > 0);
        let ended = stopped(child, "TERM");
        let err = String::from_utf8_lossy(&ended.stderr).into_owned();
        assert!(err.contains("resumes") && err.contains(&kept.display().to_string()), "{err}");
        let resumed = begin().output().unwrap();
        let err = String::from_utf8_lossy(&resumed.stderr);
        assert!(resumed.status.success() && err.contains("resuming"), "{err}");
        assert!(resumed.stdout == done.stdout, "the same bytes");
        assert_eq!(files(&kept), 0, "nothing is left");
    }
    fs::remove_dir_all(&out).unwrap();
}

/// The target is missed without a throttle and met with one; DT leaves what recovery adds, READY
/// does not.
#[test]
fn throttles_keep_a_life_and_what_they_leave_is_what_they_know() {
    let out = folder("lifetime-schemes");
    let load = load(&out);
    let lived = |scheme: &str| {
        let mut arguments = [&DRIVE[..], &LIFE[..]].concat();
        arguments.extend(["--workload", &load, "--scheme", scheme, "--dilation", "4", "--json"]);
        // Cells whose recovery shows within days.
        arguments.extend(["--set", "lifetime.recovery=table"]);
        arguments.extend(["--set", "lifetime.table.idle=[1min, 1h, 10h]"]);
        arguments.extend(["--set", "lifetime.table.cycles=[400, 500, 900]"]);
        let done = run(&arguments);
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        let json: Value = serde_json::from_slice(&done.stdout).unwrap();
        let life = json["lives"][0].clone();
        let number = |key: &str| life[key].as_f64().unwrap();
        let tb = ["w_work_tb", "c_ssd_tb", "c_ssd_recovered_tb"].map(number);
        assert_eq!(
            json["lives"].as_array().unwrap().len(),
            2,
            "and once more at twice the dilation"
        );
        (tb, number("effective_lifetime_years") * 365.0, number("response_mean_us"))
    };
    let ([work, rated, _], days, response) = lived("nt");
    assert!(work > 1.5 * rated && days < 20.0 && response == 600.0, "{work} {rated} {days}");
    let ([work, rated, recovered], days, static_response) = lived("st");
    assert!(work <= rated * 1.001 && work > 0.3 * rated && recovered > rated && days > 20.0);
    let ([work, rated, _], days, dynamic) = lived("dt");
    assert!((0.95..1.001).contains(&(work / rated)) && days > 20.0, "{work} {rated} {days}");
    for scheme in ["ready_pes", "ready_opt"] {
        let ([work, rated, recovered], days, response) = lived(scheme);
        let used = work / recovered;
        assert!((0.95..1.001).contains(&used) && recovered > rated, "{scheme}: {used}");
        assert!((19.98..21.1).contains(&days), "{scheme}: {days}");
        assert!(600.0 < response && response < dynamic && dynamic < static_response, "{scheme}");
    }
    fs::remove_dir_all(&out).unwrap();
}

#[test]
fn what_cannot_be_lived_through_is_said() {
    let out = folder("lifetime-wrong");
    let load = load(&out);
    let reads = out.join("reads.toml");
    fs::write(&reads, "requests = 100\narrivals.kind = 'poisson'\nmix.reads = 1.0\n").unwrap();
    let at_once = out.join("at-once.toml");
    fs::write(&at_once, "requests = 100\narrivals.kind = 'closed'\nmix.reads = 0.0\n").unwrap();
    let [reads, at_once] = [reads, at_once].map(|path| path.display().to_string());
    for (workload, more, reported) in [
        (&reads, &[][..], "none of its 100 requests is a write"),
        (&at_once, &[], "arrive at the same time"),
        (&load, &["--years", "0.00001"], "shorter than one throttle epoch of 600s"),
        (&load, &["--dilation", "100000"], "a dilation of 100000"),
        (&load, &["--dilation", "0"], "must not be 0"),
        (&load, &["--dilation", "100"], "2.4 repetitions of the workload in the check at twice"),
        (&load, &["--dilation", "200", "--no-check"], "2.4 repetitions of the workload:"),
        (&load, &["--set", "lifetime.dilation=100"], "at most 79"),
        (&load, &["--years", "0"], "a life of 0 years"),
        (&load, &["--set", "lifetime.cycles=0"], "lifetime.cycles"),
        (&load, &["--set", "lifetime.recovery=table"], "0 idle times and 0 cycles"),
        (
            &load,
            &["--set", "lifetime.period=1h", "--scheme", "ready_opt"],
            "shorter than a throttle period of 3600s",
        ),
        (&load, &["--set", "lifetime.target=0s"], "lifetime.target"),
        (&load, &["--set", "lifetime.spare=1"], "leaves later epochs no capacity"),
        (
            &load,
            &[
                "--set",
                "lifetime.recovery=table",
                "--set",
                "lifetime.table.idle=[1h]",
                "--set",
                "lifetime.table.cycles=[399]",
            ],
            "idle time cannot reduce endurance",
        ),
    ] {
        let mut arguments = DRIVE.to_vec();
        arguments.extend(["--workload", workload]);
        if !more.iter().any(|it| *it == "--years" || it.contains("lifetime.target")) {
            arguments.extend(LIFE);
        }
        arguments.extend(more);
        let done = run(&arguments);
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{more:?}: {said}");
        assert!(said.contains(reported) && done.stdout.is_empty(), "{more:?}: {said}");
        assert!(!said.contains("inf") && !said.contains("NaN"), "{said}");
    }
    fs::remove_dir_all(&out).unwrap();
}

/// A fleet: its files, and the same bytes on one thread.
#[test]
fn a_fleet_is_written_and_is_the_same_on_any_number_of_threads() {
    let out = folder("lifetime-fleet");
    let load = load(&out);
    let run = |name: &str, threads: &str| {
        let into = out.join(name);
        let mut arguments = [&DRIVE[..], &LIFE[..]].concat();
        let path = into.display().to_string();
        arguments.extend(["--workload", &load, "--scheme", "nt", "--dilation", "4"]);
        arguments.extend(["--drives", "5000", "--early-share", "0.2", "--out", &path]);
        let done = command(&arguments).env("RAYON_NUM_THREADS", threads).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
        (String::from_utf8(done.stdout).unwrap(), into)
    };
    let (said, into) = run("one", "1");
    assert!(
        said.contains("a fleet of 5000 drives like the simulated one")
            && said.contains("assumed of the fleet")
    );
    let (_, other) = run("three", "3");
    for name in ["summary.json", "drives.csv", "fleet.csv", "fleet-years.csv", "survival.svg"] {
        let [one, other] = [&into, &other].map(|folder| fs::read(folder.join(name)).unwrap());
        assert!(one == other, "{name}");
    }
    let drives = fs::read_to_string(into.join("drives.csv")).unwrap();
    assert_eq!(drives.lines().count(), 5001);
    let json: Value = serde_json::from_str(&summary(&into)).unwrap();
    let fleet = &json["fleet"];
    let survival = fleet["survival"].as_array().unwrap();
    let alive: Vec<f64> = survival.iter().map(|it| it["alive"].as_f64().unwrap()).collect();
    assert!(alive[0] == 1.0 && alive.is_sorted_by(|one, next| one >= next), "{alive:?}");
    for it in survival {
        let [low, alive, high] = ["low", "alive", "high"].map(|key| it[key].as_f64().unwrap());
        assert!(low <= alive && alive <= high, "{it}");
    }
    // The drives of the file are those of the summary.
    let years = drives.lines().skip(1).map(|line| line.split(',').nth(5).unwrap());
    let target = fleet["years"].as_f64().unwrap();
    let left = years.filter(|years| years.parse::<f64>().unwrap() > target).count();
    assert_eq!(left as f64 / 5000.0, *alive.last().unwrap());
    assert!(fleet["spares"].as_u64() >= fleet["replaced"].as_u64());
    fs::remove_dir_all(&out).unwrap();
}

/// A fleet whose blocks fail says so: what ends its drives, and what is assumed.
#[test]
fn a_fleet_of_bad_blocks_says_what_ends_its_drives() {
    let out = folder("lifetime-fleet-bad-blocks");
    let load = load(&out);
    let into = out.join("fleet");
    let path = into.display().to_string();
    let mut arguments = [&DRIVE[..], &LIFE[..]].concat();
    arguments.extend(["--workload", &load, "--scheme", "nt", "--dilation", "4", "--out", &path]);
    arguments.extend(["--drives", "400", "--set", "bad_blocks.share=0.4", "--worn-blocks", "0.5"]);
    let done = run(&arguments);
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(said.contains("spare used up by failed blocks among first"), "{said}");
    assert!(said.contains("or failed blocks (40 % at 400 cycles, Weibull shape 3)"), "{said}");
    let json: Value = serde_json::from_str(&summary(&into)).unwrap();
    let fleet = &json["fleet"];
    assert_eq!(fleet["bad_blocks_share"].as_f64(), Some(0.4));
    assert!(fleet["spare_used_up"].as_f64().unwrap() > 0.5, "{fleet}");
    assert!((0.0..=1.0).contains(&fleet["beyond_simulated_loss"].as_f64().unwrap()), "{fleet}");
    let drives = fs::read_to_string(into.join("drives.csv")).unwrap();
    let heads = drives.lines().next().unwrap();
    assert!(heads.ends_with(",tbw,spare_years,spare_lost"), "{heads}");
    // Of a drive whose spare is used up first nobody knows when it would be worn out.
    let spare = drives.lines().filter(|line| line.contains(",spare,"));
    assert!(spare.clone().all(|line| line.split(',').nth(4) == Some("")), "{drives}");
    assert!(spare.count() > 200, "{drives}");
    fs::remove_dir_all(&out).unwrap();
}

/// A fleet that cannot be is refused before a life is simulated, with everything that is wrong.
#[test]
fn a_fleet_that_cannot_be_is_refused() {
    let out = folder("lifetime-fleet-refused");
    let load = load(&out);
    for (more, reported) in [
        (&["--drives", "0"][..], &["--drives: a fleet of 0 drives"][..]),
        (&["--drives", "1000001", "--load-spread", "9"], &["1 to 1000000", "--load-spread: is 9"]),
        (&["--drives", "9", "--scheme", "st"], &["policy.throttle", "a scheme without one"]),
        (&["--drives", "9", "--confidence", "nan"], &["--confidence: is NaN"]),
        (&["--early-share", "0.1"], &["--drives"]),
    ] {
        let mut arguments = [&DRIVE[..], &LIFE[..]].concat();
        arguments.extend(["--workload", &load]);
        arguments.extend(more);
        let done = run(&arguments);
        let said = String::from_utf8_lossy(&done.stderr);
        assert_eq!(done.status.code(), Some(2), "{more:?}: {said}");
        let holds = reported.iter().all(|it| said.contains(it)) && done.stdout.is_empty();
        assert!(holds, "{more:?}: {said}");
    }
    fs::remove_dir_all(&out).unwrap();
}
