//! `fowler fio` as its user meets it.

use crate::command::{Folder, command};
use fowler_tests::shared_folder;
use serde_json::Value;
use std::path::Path;
use std::process::Output;

/// A drive of 90 MiB.
const DRIVE: [&str; 9] = [
    "--device",
    "pes-mlc",
    "--set",
    "geometry.channels=2",
    "--set",
    "geometry.blocks_per_plane=64",
    "--set",
    "gc.background_below=8",
    "--quiet",
];

const JOB: &str = "[global]
filename=/dev/nvme0n1
ioengine=libaio
bs=4k
iodepth=4
[reads]
rw=randread
number_ios=400
write_lat_log=reads
[writes]
stonewall
rw=write
fsync=50
number_ios=200
write_iolog=writes.log
";

fn fowler(arguments: &[&str]) -> Output {
    command(&[&["fio"], arguments, &DRIVE].concat()).output().unwrap()
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn jobs_leave_a_folder_of_results_that_is_whole_and_the_same_each_time() {
    let folder = Folder::new("fio-out");
    let job = folder.file("job.fio", JOB);
    let mut before = None;
    for out in ["one", "two"] {
        let out = folder.path(out);
        let ran = fowler(&[&job, "--out", &out, "--output-format", "json"]);
        assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
        let json: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let [reads, writes] = &json["jobs"].as_array().unwrap()[..] else { panic!("{json}") };
        assert_eq!((&reads["groupid"], &writes["groupid"]), (&0.into(), &1.into()));
        assert_eq!(reads["read"]["total_ios"], 400);
        assert_eq!(writes["write"]["io_bytes"], 200 * 4096);
        assert_eq!(writes["job options"]["rw"], "write");
        assert!(writes["sync"]["total_ios"].as_u64().unwrap() >= 3);
        assert!(json["fowler"]["regions"][0]["length"].as_u64().unwrap() > 80 << 20);
        // 200 writes erase hardly anything, in the run and in the group that writes.
        for of in [&json["fowler"], &json["fowler"]["groups"][1]] {
            assert!(of["waf"].is_number() && of["waf_withheld"].is_string(), "{of}");
        }
        let lines = |name: &str| {
            let text = std::fs::read_to_string(format!("{out}/{name}")).expect(name);
            text.lines().count()
        };
        assert_eq!((lines("reads_lat.1.log"), lines("reads_slat.1.log")), (400, 400));
        assert!(lines("writes.log") > 200);
        let plus = std::fs::read(format!("{out}/fio.json")).unwrap();
        assert!(before.is_none_or(|before| before == plus), "another run, other bytes");
        before = Some(plus);
        let check = command(&["check", &out]).output().unwrap();
        assert_eq!(check.status.code(), Some(0), "{}", said(&check));
    }
}

/// The page has a line for each of several jobs that do the same, and none for a job alone.
#[test]
fn the_page_compares_streams() {
    let folder = Folder::new("fio-streams");
    let text = format!("{JOB}[more]\nrw=randread\nnumber_ios=100\nioengine=psync\n");
    let job = folder.file("job.fio", &text);
    let out = folder.path("out");
    let ran = fowler(&[&job, "--out", &out]);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    let page = std::fs::read_to_string(format!("{out}/report.html")).unwrap();
    let (_, figure) = page.split_once("id=\"streams-latency\"").expect("the chart");
    let (_, chart) = figure.split_once("<script type=\"application/json\">").expect("its data");
    let (chart, _) = chart.split_once("</script>").expect("their end");
    let chart: Value = serde_json::from_str(chart).unwrap();
    let [panel] = &chart["panels"].as_array().unwrap()[..] else { panic!("{chart}") };
    assert_eq!(panel["name"], "reads");
    let series = panel["series"].as_array().unwrap();
    let names: Vec<_> = series.iter().map(|curve| curve["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["reads", "more"]);
    for curve in series {
        let shares: Vec<f64> = serde_json::from_value(curve["y"].clone()).unwrap();
        assert_eq!(shares[0], 1.0);
        assert!(shares.is_sorted_by(|a, b| a > b) && *shares.last().unwrap() > 0.0, "{shares:?}");
    }
}

#[test]
fn the_requests_at_depth_one_are_those_of_the_sequence() {
    let folder = Folder::new("fio-sequence");
    let text = "[mix]\nfilename=/dev/x\nrw=randrw\nbs=4k\nsize=16m\nnumber_ios=300\nfsync=16\n\
        ioengine=psync\nwrite_iolog=mix.log\n";
    let job = folder.file("job.fio", text);
    let out = folder.path("out");
    let ran = fowler(&[&job, "--out", &out]);
    assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    let sequence = fowler(&[&job, "--sequence"]);
    assert_eq!(sequence.status.code(), Some(0), "{}", said(&sequence));
    let sequence = String::from_utf8(sequence.stdout).unwrap();
    let wanted: Vec<String> = sequence
        .lines()
        .skip(1)
        .map(|line| line.split(',').skip(1).collect::<Vec<_>>().join(" "))
        .collect();
    let log = std::fs::read_to_string(format!("{out}/mix.log")).unwrap();
    let issued: Vec<String> = log
        .lines()
        .filter(|line| !line.starts_with("fio ") && line.split(' ').count() > 3)
        .map(|line| line.split(' ').skip(2).collect::<Vec<_>>().join(" "))
        .collect();
    assert!(wanted.len() >= 300, "{}", wanted.len());
    assert_eq!(issued, wanted);
}

/// The times of a log are whole microseconds. It is replayed by a job of any kind, and what is
/// recorded of that is the log: the same requests, each within the microsecond that it was due in.
#[test]
fn a_log_that_was_written_is_replayed() {
    let folder = Folder::new("fio-replay");
    let log = |name: &str| {
        let text = std::fs::read_to_string(folder.path(&format!("{name}/its.log"))).unwrap();
        let requests = text.lines().skip(1).filter(|line| line.split(' ').count() > 3);
        let of = |line: &str| {
            let (us, rest) = line.split_once(' ').unwrap();
            (us.parse::<u64>().unwrap(), rest.split_once(' ').unwrap().1.to_string())
        };
        requests.map(of).collect::<Vec<_>>()
    };
    let run = |name: &str, text: &str| {
        let job = folder.file(&format!("{name}.fio"), text);
        let ran = fowler(&[&job, "--out", &folder.path(name)]);
        assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
    };
    run(
        "first",
        "[mix]\nfilename=/dev/x\nrw=randrw\nbs=4k\nioengine=libaio\niodepth=4\nfsync=16\n\
         rate_iops=1000\nnumber_ios=100\nwrite_iolog=its.log\n",
    );
    let of = folder.path("first/its.log");
    let replay =
        format!("[again]\nread_iolog={of}\nioengine=libaio\niodepth=8\nwrite_iolog=its.log\n");
    run("second", &replay);
    let (first, second) = (log("first"), log("second"));
    assert!(first.len() > 100, "{first:?}");
    let requests = |log: &[(u64, String)]| log.iter().map(|it| it.1.clone()).collect::<Vec<_>>();
    assert_eq!(requests(&first), requests(&second));
    let apart = first.iter().zip(&second).map(|(one, two)| two.0.saturating_sub(one.0)).max();
    // Flushes wait, as does what comes after them.
    assert!(apart < Some(5_000), "{apart:?} us");

    let job = folder.file("sequence.fio", &format!("[again]\nread_iolog={of}\nreplay_skip=sync\n"));
    let sequence = fowler(&[&job, "--sequence"]);
    let sequence = String::from_utf8(sequence.stdout).unwrap();
    let data = first.iter().filter(|it| !it.1.starts_with("sync"));
    let expected: Vec<String> =
        data.map(|it| format!("again,{}", it.1.replace(' ', ","))).collect();
    assert_eq!(sequence.lines().skip(1).collect::<Vec<_>>(), expected);
}

#[test]
fn a_log_is_verified_and_flushed_and_what_cannot_be_replayed_is_refused() {
    let folder = Folder::new("fio-replayed");
    // As fio 3.33: what was written is read back by offset, and each file is flushed at the end.
    let log = "fio version 3 iolog\n1 /dev/x add\n2 /dev/x write 8192 4096\n3 /dev/x write 0 512\n";
    let log = folder.file("writes.log", log);
    let text = format!("[it]\nread_iolog={log}\nverify=md5\nend_fsync=1\nloops=3\nsize=4k\n");
    let ran = fowler(&[&folder.file("verify.fio", &text), "--sequence"]);
    let lines = [
        "it,write,8192,4096",
        "it,write,0,512",
        "it,sync,0,0",
        "it,read,0,512",
        "it,read,8192,4096",
    ];
    let sequence = String::from_utf8(ran.stdout).unwrap();
    assert_eq!(sequence.lines().skip(1).collect::<Vec<_>>(), lines);

    for (text, expected) in [
        ("read_iolog=no/such.log".to_string(), "no/such.log"),
        (
            format!("read_iolog={}", folder.file("empty.log", "fio version 3 iolog\n1 a add\n")),
            "no request",
        ),
        (
            format!(
                "read_iolog={}",
                folder.file("other.csv", "arrival_ns,op,offset,size\n0,R,0,4096\n")
            ),
            "iolog",
        ),
        (format!("read_iolog={log}\nreplay_skip=seek"), "seek"),
        (
            format!(
                "replay_time_scale=1\nread_iolog={}",
                folder.file("late.log", "fio version 3 iolog\n99999999999999 a read 0 512\n")
            ),
            "after 100 years",
        ),
        (
            format!(
                "read_iolog={}",
                folder.file("far.log", "fio version 3 iolog\n1 /dev/x read 99999999999999 512\n")
            ),
            "replay_scale",
        ),
    ] {
        let job = folder.file("wrong.fio", &format!("[again]\n{text}\n"));
        let ran = fowler(&[&job]);
        assert_eq!(ran.status.code(), Some(2), "{text}");
        assert!(said(&ran).contains(expected), "{text}: {}", said(&ran));
    }
}

#[test]
fn every_format_is_printed_and_terse_has_all_fields() {
    let folder = Folder::new("fio-formats");
    let job = folder.file("job.fio", "[a]\nfilename=/dev/x\nrw=read\nbs=16k\nnumber_ios=50\n");
    let file = folder.path("printed.txt");
    let ran = fowler(&[&job, "--output-format", "terse,normal", "--output", &file]);
    assert_eq!((ran.status.code(), ran.stdout.len()), (Some(0), 0), "{}", said(&ran));
    let text = std::fs::read_to_string(&file).unwrap();
    let terse: Vec<&str> = text.lines().next().unwrap().split(';').collect();
    // 5 of the job, 41 for reads and writes each, 5 of the CPU, 7 depths, 10 and 12 latencies.
    assert_eq!(terse.len(), 5 + 2 * 41 + 5 + 7 + 10 + 12);
    assert_eq!((terse[0], terse[2], terse[5]), ("3", "a", "800"));
    for part in [
        "a: (groupid=0, jobs=1): err= 0",
        "Run status group 0",
        "issued rwts: total=50,0,0,0",
        "Fowler:",
    ] {
        assert!(text.contains(part), "{part} is not in {text}");
    }
}

#[test]
fn what_is_wrong_ends_with_2_and_says_everything() {
    let folder = Folder::new("fio-wrong");
    let job = folder.file("job.fio", "[a]\nfilename=/dev/x\nrw=raed\nbs=4k\nnonsense=1\n");
    let ran = fowler(&[&job, "--output-format", "xml", "--env", "NAME", "--submission", "2"]);
    assert_eq!(ran.status.code(), Some(2));
    let said = said(&ran);
    for part in ["raed", "nonsense", "`xml`", "--env", "--submission"] {
        assert!(said.contains(part), "{part} is not in {said}");
    }
    let ran = fowler(&["no/such/job.fio"]);
    assert_eq!(ran.status.code(), Some(2));
    // An output that would replace the job file is refused before anything runs.
    let job = folder.file("job.fio", JOB);
    let ran = fowler(&[&job, "--output", &job]);
    assert_eq!(ran.status.code(), Some(2), "{}", self::said(&ran));
    assert_eq!(std::fs::read_to_string(&job).unwrap(), JOB);
}

mod shared_files {
    use super::*;

    /// Eight processes trim 4 KiB at random, with depth 128: libaio waits for each trim, and the
    /// drive makes one after the other.
    #[test]
    fn trims_of_libaio_are_synchronous_and_take_time() {
        let file = "inputs/a-11b-randtrim-depth.fio";
        let Some(path) = shared_folder::path(file, "a job of trims") else { return };
        let ran = fowler(&[path.to_str().unwrap(), "--output-format", "json"]);
        assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
        let result: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let job = &result["jobs"][0];
        assert_eq!(job["iodepth_level"]["1"], 100.0);
        let number = |value: &Value| value.as_f64().unwrap();
        let trims = &job["trim"];
        assert!((10_000.0..20_000.0).contains(&number(&trims["iops"])), "{}", trims["iops"]);
        assert_eq!(trims["slat_ns"]["N"], 0);
        // Eight wait for one another.
        assert!(number(&trims["lat_ns"]["mean"]) > 400_000.0, "{}", trims["lat_ns"]);
        assert_eq!(trims["clat_ns"]["mean"], trims["lat_ns"]["mean"]);
    }

    /// A job replays a recorded log: each of its four requests is made, the trim included.
    #[test]
    fn a_recorded_log_is_replayed_with_its_trim_and_sync() {
        let Some(inputs) = shared_folder::path("inputs", "a job that replays a log") else {
            return;
        };
        let folder = Folder::new("fio-recorded");
        let read = |name: &str| std::fs::read_to_string(inputs.join(name)).unwrap();
        let log = folder.file("09b-fio-iolog3-trim.log", &read("a-09b-fio-iolog3-trim.log"));
        folder.file("replay.fio", &read("a-09c-replay.fio"));
        // The log is named relative to the folder of whoever runs the job, as with fio.
        let arguments = [&["fio", "replay.fio", "--output-format", "json"], &DRIVE[..]].concat();
        let mut run = command(&arguments);
        let ran = run.current_dir(Path::new(&log).parent().unwrap()).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}", said(&ran));
        let result: Value = serde_json::from_slice(&ran.stdout).unwrap();
        let job = &result["jobs"][0];
        for kind in ["read", "write", "trim", "sync"] {
            assert_eq!(job[kind]["total_ios"], 1, "{kind}: {job}");
        }
    }
}
