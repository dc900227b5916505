//! The meaning of job files, and the errors of wrong ones.

use crate::sequences::listed;
use fowler_fio::{Environment, JobFile, Layout, Seeding, Size};
use std::collections::BTreeMap;

fn parse(text: &str) -> Result<JobFile, String> {
    JobFile::parse(text, "job.fio", &Environment::empty()).map_err(|found| found.to_string())
}

#[test]
fn sections_inherit_what_is_above_them() {
    let file = parse(
        "# a comment\n[global]\nbs=8k ; blocks\nsize=1m\n[a]\nrw=write\n[global]\nbs=16k\n[b]\nnumjobs=3\n\
         stonewall\n",
    )
    .expect("a job file");
    let seen: Vec<_> =
        file.jobs.iter().map(|job| (&*job.name, job.number, job.clone, job.group)).collect();
    assert_eq!(seen, [("a", 1, 0, 0), ("b", 2, 0, 1), ("b", 3, 1, 1), ("b", 4, 2, 1)]);
    assert_eq!([file.jobs[0].blocks[0].min, file.jobs[1].blocks[0].min], [8192, 16_384]);
}

#[test]
fn variables_keywords_and_files_are_put_in() {
    let include = |name: &str, from: &str| {
        assert_eq!((name, from), ("more.fio", "job.fio"));
        Ok(("more.fio".to_string(), "iodepth=$ncpus*2\n".to_string()))
    };
    let environment = Environment {
        variables: BTreeMap::from([("SIZE".to_string(), "3m".to_string())]),
        cpus: 8,
        include: &include,
        ..Environment::empty()
    };
    let text = "[j]\nioengine=libaio\nsize=${SIZE}${NONE}\ninclude more.fio\n";
    let file = JobFile::parse(text, "job.fio", &environment).expect("a job file");
    assert_eq!((file.jobs[0].size, file.jobs[0].depth), (Some(Size::Bytes(3 << 20)), 16));
}

#[test]
fn everything_that_is_wrong_is_said_at_once() {
    let text = "[global]\nBS=4k\nsize=1x\n[a]\nrw=readrand\nzonemode=zbd\nflow=1001\ndirect\nioengine=net\n";
    let said = parse(text).expect_err("wrong");
    for expected in [
        "job.fio:2: unknown option `BS`",
        "did you mean `bs`?",
        "job.fio:3: `size`: `x` is an unknown suffix",
        "job.fio:5: `rw`: unknown value `readrand`",
        "job.fio:6: `zonemode`: zoned block devices are not simulated",
        "job.fio:7: `flow`: `1001` is out of range",
        "job.fio:8: `direct`: the option needs a value",
        "job.fio:9: `ioengine`: the engine `net` is no block device",
    ] {
        assert!(said.contains(expected), "{expected}\n{said}");
    }
    assert!(parse("[global]\nbs=4k\n").is_err());
    assert!(parse("bs=4k\n").is_err());
    assert!(parse("[j]\nnumjobs=5000\n").is_err());
}

/// A file of a megabyte must not ask for more than memory has, or for minutes.
// Slow: the job files are as large as they may be: up to a megabyte, and 16 MiB with includes.
#[test]
fn what_a_file_multiplies_is_bounded() {
    let long = "x".repeat(900_000);
    for (text, expected) in [
        (format!("[j]\nnumjobs=4096\ndescription={long}\n"), "more than 256 MiB in all jobs"),
        (format!("[j]\nnrfiles=1048576\nfilename_format={long}\n"), "more than 256 MiB"),
        (
            format!(
                "[{}]\nnrfiles=2\nfilename_format={}\n",
                &long[..99_999],
                "$jobname".repeat(99_999)
            ),
            "more than 256 MiB",
        ),
        (format!("[j]\nnumjobs=4096\ndirectory={long}\n"), "more than 256 MiB"),
        (format!("[global]\ndirectory={long}\n{}", "[j]\n".repeat(30_000)), "more than"),
        ("[j]\n".repeat(30_000), "more than 4096 jobs with all clones"),
        ("[j]\nnrfiles=1048576\nnumjobs=2\n".into(), "more than 1048576 files of all jobs"),
    ] {
        let said = parse(&text).expect_err(expected);
        assert!(said.contains(expected), "{expected}\n{said:.300}");
    }
    let include = |_: &str, _: &str| Ok(("more.fio".into(), "#".repeat(900_000)));
    let variables = BTreeMap::from([("LONG".to_string(), long.clone())]);
    let environment = Environment { variables, include: &include, ..Environment::empty() };
    for (line, expected) in [
        ("include more.fio\n", "the file and its includes have more than 16 MiB"),
        ("description=${LONG}\n", "with its variables the file has more than 16 MiB of values"),
    ] {
        let text = format!("[j]\n{}", line.repeat(20));
        let said = JobFile::parse(&text, "job.fio", &environment).expect_err(expected).to_string();
        assert!(said.contains(expected), "{expected}\n{said:.300}");
    }
}

#[test]
fn what_has_no_bound_or_no_sense_is_refused() {
    for (options, expected) in [
        ("bssplit=4k/0:8k/0", "`bssplit`: no size has a share"),
        ("ramp_time=36501d", "`ramp_time`: `36501d` is too long"),
        ("thinktime=213500d", "at most 100 years of 365 days"),
        ("zonesize=4k\nzonerange=-1", "`zonerange`: `-1` is out of range"),
        ("random_distribution=zoned_abs:50/8e:50/8e", "`e` is an unknown suffix"),
        ("random_distribution=zoned_abs:50/8191p:50/8191p", "the zones are too large together"),
        ("numjobs=4096\nioengine=libaio\niodepth=512", "more than 1048576 requests in flight"),
        ("log_window_value=both", "`log_window_value`: unknown value `both`"),
        ("log_prio=1", "`log_prio`: priorities are not logged"),
        ("log_unix_epoch=1", "`log_unix_epoch`: simulated time has no epoch"),
        ("max_latency=10ms,20ms", "`max_latency`: latency limits that differ between reads"),
        ("ss_interval=2", "`ss_interval`: steady state is checked once a second"),
        ("rate_iops=100\nrate_iops_min=101", "the least rate is above the rate"),
        ("rate=1m,2m\nrate_min=1m,3m", "the least rate is above the rate"),
        ("profile=act", "`profile`: this option would replace the options of the job"),
        ("sg_write_mode=verify", "`sg_write_mode`: unknown value `verify`"),
    ] {
        let said = parse(&format!("[j]\nsize=1m\nrw=randwrite\n{options}\n"));
        let said = said.expect_err(options);
        assert!(said.contains(expected), "{options}: {said}");
    }
    let most = "[j]\nsize=1m\nnumjobs=2048\nioengine=libaio\niodepth=512\nramp_time=36500d\n";
    assert!(parse(most).is_ok());
}

/// The largest number of files is laid out at once, without a search for each.
#[test]
fn many_files_are_laid_out() {
    let jobs = parse("[j]\nsize=4g\nbs=4k\nnrfiles=500k\n").expect("a job file").jobs;
    let layout = Layout::new(&jobs, None).expect("sizes");
    assert_eq!(layout.regions.len(), 512_000);
    assert!(
        layout.regions.iter().zip(&layout.jobs[0].files).all(|(it, file)| it.name == file.name)
    );
}

/// Up to fio 3.34 `allrandrepeat` is an option of its own; later it is `randrepeat`.
#[test]
fn repeating_everything_is_repeating_later() {
    let seeds = |seeding: Seeding, options: &str| {
        let environment = Environment { seeding, seed: 7, ..Environment::empty() };
        let text = format!("[j]\nsize=1m\nrw=randread\n{options}\n");
        let file = JobFile::parse(&text, "job.fio", &environment).expect("a job file");
        (file.jobs[0].repeatable, file.jobs[0].seed)
    };
    for (options, before, since) in [
        ("", (true, None), (true, None)),
        ("allrandrepeat=0", (true, None), (false, Some(7))),
        ("randrepeat=0", (false, Some(7)), (false, Some(7))),
        ("randrepeat=0\nallrandrepeat=1", (true, None), (true, None)),
        ("allrandrepeat=1\nrandrepeat=0", (true, None), (false, Some(7))),
        ("allrandrepeat=1\nrandseed=3", (true, Some(3)), (false, Some(3))),
    ] {
        assert_eq!(seeds(Seeding::V333, options), before, "{options}");
        assert_eq!(seeds(Seeding::V335, options), since, "{options}");
    }
}

#[test]
fn what_has_no_effect_is_said_once() {
    let file =
        parse("[global]\nsize=1m\nmem=malloc\n[a]\nnice=1\nmem=shm\n[b]\nbs = 4k\n[c]\nbs=4KiB\n");
    let file = file.expect("a job file");
    let notes = file.notes.join("\n");
    assert!(notes.contains("no effect here: mem, nice"), "{notes}");
    assert_eq!(notes.matches("mem").count(), 1, "{notes}");
    assert!(notes.contains("job.fio:8: `bs = 4k`: read as meant"), "{notes}");
    assert!(notes.contains("job.fio:10: `bs=4KiB`: in fio `KiB` is 1000 bytes"), "{notes}");
    assert_eq!([file.jobs[1].blocks[0].min, file.jobs[2].blocks[0].min], [4096, 4000]);
}

#[test]
fn files_become_regions() {
    let text =
        "[global]\nsize=1500k\n[a]\nnumjobs=2\n[b]\nfilename=/dev/sda\nsize=50%\noffset=10%\n";
    let file = parse(text).expect("a job file");
    let layout = Layout::new(&file.jobs, Some(64 << 20)).expect("room");
    let seen: Vec<_> =
        layout.regions.iter().map(|it| (&*it.name, it.base, it.length, it.whole)).collect();
    let whole = ("/dev/sda", 0, 64 << 20, true);
    assert_eq!(
        seen,
        [("a.0.0", 0, 1500 << 10, false), ("a.1.0", 2 << 20, 1500 << 10, false), whole]
    );
    let shared = &layout.jobs[2];
    assert_eq!((shared.size, shared.files[0].start), (32 << 20, 6_713_344));
    assert_eq!(layout.drive_offset(1, 0, 4096), (2 << 20) + 4096);
    let small = Layout::new(&file.jobs[..2], Some(1 << 20)).expect_err("no room").to_string();
    assert!(small.contains("the files do not fit the drive"), "{small}");
}

#[test]
fn short_sequences_by_hand() {
    let all = |options: &str| {
        let text = format!("[j]\nsize=16k\nbs=4k\n{options}\n");
        let csv = listed(&text, Seeding::V335).expect("a sequence");
        csv.lines()
            .skip(1)
            .map(|line| line.trim_start_matches("1,").to_string())
            .collect::<Vec<_>>()
    };
    assert_eq!(
        all("rw=read"),
        ["read,0,4096", "read,4096,4096", "read,8192,4096", "read,12288,4096"]
    );
    // Beyond the end of the file the job wraps, until `size` bytes are read.
    let holes = ["read,0,4096", "read,8192,4096", "read,0,4096", "read,8192,4096"];
    assert_eq!(all("rw=read:4k"), holes);
    assert_eq!(
        all("rw=write\nfsync=2\nend_fsync=1\nnumber_ios=3"),
        ["write,0,4096", "write,4096,4096", "sync,0,0", "write,8192,4096", "sync,0,0"]
    );
    assert_eq!(all("rw=trimwrite\nnumber_ios=1"), ["trim,0,4096", "write,0,4096"]);
    assert_eq!(
        all("rw=write\nverify=md5\nnumber_ios=2"),
        ["write,0,4096", "write,4096,4096", "read,0,4096", "read,4096,4096"]
    );
    assert_eq!(all("rw=read\nfilename=a:b\nbs=8k"), ["read,0,8192", "read,0,8192"]);
    let mut random = all("rw=randwrite");
    random.sort();
    let blocks = ["write,0,4096", "write,12288,4096", "write,4096,4096", "write,8192,4096"];
    assert_eq!(random, blocks);
}

/// On both sides of the limit, and without a map on either.
#[test]
fn maps_that_do_not_fit_into_memory_are_refused() {
    let said = |text: &str| {
        let jobs = parse(text).expect("a job file").jobs;
        let layout = Layout::new(&jobs, None).expect("sizes");
        layout.check_maps(&jobs).map_err(|problems| problems.to_string())
    };
    let at = |size: &str, more: &str| {
        format!("[a]\nrw=randread\nbs=4k\nsize=64t\n[b]\nrw=randread\nbs=4k\nsize={size}\n{more}")
    };
    assert!(said(&at("64t", "")).is_ok());
    let refused = said(&at("65t", "")).expect_err("too large");
    assert!(
        refused
            .contains("job.fio:5: with this job, the maps of random jobs hold 34628173824 blocks"),
        "{refused}"
    );
    for without in ["norandommap\n", "random_generator=lfsr\n"] {
        assert!(said(&at("65t", without)).is_ok(), "{without}");
    }
}

/// fio's default is 1; 0 is the depth.
#[test]
fn batches_are_those_of_fio() {
    for (given, batch) in [
        ("", 1),
        ("iodepth_batch=1", 1),
        ("iodepth_batch=0", 16),
        ("iodepth_batch_submit=4", 4),
        ("iodepth_batch=99", 16),
    ] {
        let text = format!("[j]\nioengine=libaio\nsize=1m\niodepth=16\n{given}\n");
        assert_eq!(parse(&text).expect("a job file").jobs[0].batch, batch, "{given}");
    }
}

#[test]
fn engines_wait_for_trims_as_those_of_fio_do() {
    let waits = |engine: &str, kind: &str, seeding: Seeding| {
        let text = format!("[j]\nioengine={engine}\nsize=1m\niodepth=16\nrw={kind}\n");
        let environment = Environment { seeding, ..Environment::empty() };
        let file = JobFile::parse(&text, "job.fio", &environment).expect("a job file");
        let noted = file.notes.iter().any(|note| note.contains("waits for each trim"));
        assert_eq!(noted, file.jobs[0].waits_for_trims, "{engine} {kind}");
        noted
    };
    for (engine, [late, early]) in [
        ("libaio", [true, true]),
        ("posixaio", [true, true]),
        ("io_uring", [false, true]),
        ("io_uring_cmd", [false, true]),
        ("null", [false, false]),
        // The engine waits for each request.
        ("psync", [false, false]),
    ] {
        for kind in ["trim", "randtrim", "trimwrite", "randtrimwrite"] {
            assert_eq!(waits(engine, kind, Seeding::V335), late, "{engine} {kind}");
            assert_eq!(waits(engine, kind, Seeding::V333), early, "{engine} {kind}");
        }
        for kind in ["read", "randwrite", "randrw"] {
            assert!(!waits(engine, kind, Seeding::V333), "{engine} {kind}");
        }
    }
}
