//! Options that decide when requests are issued, and when jobs start and end.

use super::draft::MOST_JOBS;
use super::{Draft, Entry, flag, option};
use crate::grammar::{Value, Wrong};
use crate::job::*;
use fowler_units::Span;

const MICROSECOND: u64 = 1;
const MILLISECOND: u64 = 1000;

/// Largest weight of a job in a `flow`, as in fio.
const HEAVIEST: u64 = 1000;
/// Deepest queue of a job, in requests: a bound of Fowler, not of fio.
const DEEPEST: u64 = 1 << 20;

pub(super) const OPTIONS: &[Entry] = &[
    option(&["name"], |draft, value| {
        draft.job.name = value.text.into();
        Ok(())
    }),
    option(&["kb_base"], |draft, value| {
        draft.base = value.word(&[("1024", 1024), ("1000", 1000)])?;
        Ok(())
    }),
    option(&["ioengine"], engine),
    option(&["iodepth"], |draft, value| {
        draft.job.depth = value.within(1, DEEPEST)? as u32;
        Ok(())
    }),
    option(&["iodepth_batch", "iodepth_batch_submit"], |draft, value| {
        draft.job.batch = value.up_to(DEEPEST)? as u32;
        Ok(())
    }),
    option(&["iodepth_batch_complete_min", "iodepth_batch_complete"], |draft, value| {
        draft.job.batch_complete_min = value.up_to(DEEPEST)? as u32;
        Ok(())
    }),
    option(&["iodepth_batch_complete_max"], |draft, value| {
        draft.job.batch_complete_max = value.up_to(DEEPEST)? as u32;
        Ok(())
    }),
    option(&["iodepth_low"], |draft, value| {
        draft.job.depth_low = value.up_to(DEEPEST)? as u32;
        Ok(())
    }),
    option(&["serialize_overlap"], |draft, value| {
        draft.job.serialize_overlap = value.switch()?;
        Ok(())
    }),
    option(&["direct"], |draft, value| {
        if !value.switch()? {
            draft.not_direct();
        }
        Ok(())
    }),
    option(&["buffered"], |draft, value| {
        if value.switch()? {
            draft.not_direct();
        }
        Ok(())
    }),
    option(&["numjobs"], |draft, value| {
        draft.clones = value.within(1, MOST_JOBS)? as u32;
        Ok(())
    }),
    flag(&["stonewall", "wait_for_previous"], |draft, _| {
        draft.stonewall = true;
        Ok(())
    }),
    flag(&["new_group"], |draft, _| {
        draft.new_group = true;
        Ok(())
    }),
    flag(&["group_reporting"], |draft, _| {
        draft.job.group_reporting = true;
        Ok(())
    }),
    option(&["wait_for"], |draft, value| {
        draft.wait_for = Some(value.text.into());
        Ok(())
    }),
    flag(&["exitall"], |draft, _| {
        draft.exit_all = true;
        Ok(())
    }),
    option(&["exit_what"], |draft, value| {
        draft.exit_what = value.word(&[
            ("group", ExitAll::Group),
            ("stonewall", ExitAll::Stonewall),
            ("all", ExitAll::All),
        ])?;
        Ok(())
    }),
    flag(&["exitall_on_error"], |draft, _| {
        draft.notes.push("exitall_on_error: wrong data is counted, and ends no job".into());
        Ok(())
    }),
    // A job continues on errors here in any case.
    option(&["continue_on_error"], |_, value| {
        let words = ["none", "read", "write", "io", "verify", "all", "0", "1"];
        value.word(&words.map(|word| (word, word))).map(drop)
    }),
    option(&["runtime", "timeout"], |draft, value| {
        draft.job.runtime = Some(value.seconds()?).filter(|time| time.0 > 0);
        Ok(())
    }),
    flag(&["time_based"], |draft, _| {
        draft.job.time_based = true;
        Ok(())
    }),
    option(&["ramp_time"], |draft, value| {
        draft.job.ramp = value.seconds()?;
        Ok(())
    }),
    option(&["startdelay", "start_delay"], |draft, value| {
        let (least, most) = value.text.split_once('-').unwrap_or((value.text, value.text));
        let [least, most] = [least, most].map(|text| Value { text, ..value }.seconds());
        let (least, most) = (least?, most?);
        draft.job.start_delay = (least.min(most), least.max(most));
        Ok(())
    }),
    option(&["rate"], |draft, value| {
        rates(&mut draft.job.rate.bytes, value.by_direction(|value| value.number())?);
        Ok(())
    }),
    option(&["rate_min", "ratemin"], |draft, value| {
        rates(&mut draft.job.rate.min_bytes, value.by_direction(|value| value.number())?);
        Ok(())
    }),
    option(&["rate_iops"], |draft, value| {
        rates(&mut draft.job.rate.iops, value.by_direction(|value| value.count())?);
        Ok(())
    }),
    option(&["rate_iops_min"], |draft, value| {
        rates(&mut draft.job.rate.min_iops, value.by_direction(|value| value.count())?);
        Ok(())
    }),
    option(&["rate_process"], |draft, value| {
        draft.job.rate.process =
            value.word(&[("linear", RateProcess::Linear), ("poisson", RateProcess::Poisson)])?;
        Ok(())
    }),
    option(&["rate_cycle", "ratecycle"], |draft, value| {
        draft.job.rate.cycle = value.time(MILLISECOND)?;
        Ok(())
    }),
    option(&["rate_ignore_thinktime"], |draft, value| {
        draft.job.rate.ignore_thinktime = value.switch()?;
        Ok(())
    }),
    option(&["thinktime"], |draft, value| {
        draft.job.think.time = value.time(MICROSECOND)?;
        Ok(())
    }),
    // Spinning takes CPU time, not simulated time.
    option(&["thinktime_spin"], |_, value| value.time(MICROSECOND).map(drop)),
    option(&["thinktime_blocks"], |draft, value| {
        draft.job.think.blocks = value.count()?.max(1);
        Ok(())
    }),
    option(&["thinktime_blocks_type"], |draft, value| {
        draft.job.think.count_issues = value.word(&[("complete", false), ("issue", true)])?;
        Ok(())
    }),
    option(&["thinktime_iotime"], |draft, value| {
        draft.job.think.io_time = value.seconds()?;
        Ok(())
    }),
    option(&["flow"], |draft, value| {
        let (negative, text) = match value.text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, value.text),
        };
        let weight = Value { text, ..value }.up_to(HEAVIEST)? as u32;
        draft.job.flow.weight = if negative { weight.wrapping_neg() } else { weight };
        if negative {
            let note =
                "negative weights of `flow`: they are read as 2^32 minus the weight, as in fio";
            draft.notes.push(note.into());
        }
        Ok(())
    }),
    option(&["flow_id"], |draft, value| {
        draft.job.flow.id = value.count()?;
        Ok(())
    }),
    option(&["flow_sleep"], |draft, value| {
        draft.job.flow.sleep = value.time(MICROSECOND)?;
        Ok(())
    }),
    // The commands that a drive gets for writes.
    option(&["sg_write_mode"], |draft, value| {
        let same = value.word(&[
            ("write", true),
            ("write_same", false),
            ("same", false),
            ("write_same_ndob", false),
            ("stream", false),
        ])?;
        if !same {
            let note = format!("sg_write_mode={}: read as writes of the same bytes", value.text);
            draft.notes.push(note);
        }
        Ok(())
    }),
    option(&["latency_target"], |draft, value| {
        draft.job.latency.target = value.time(MICROSECOND)?;
        Ok(())
    }),
    option(&["latency_window"], |draft, value| {
        draft.job.latency.window = value.time(MICROSECOND)?;
        Ok(())
    }),
    option(&["latency_percentile"], |draft, value| {
        draft.job.latency.percentile = value.real(0.0, 100.0)?;
        Ok(())
    }),
    option(&["latency_run"], |draft, value| {
        draft.job.latency.keep_running = value.switch()?;
        Ok(())
    }),
    option(&["max_latency"], |draft, value| {
        let [reads, writes, trims] = value.by_direction(|value| value.time(MICROSECOND))?;
        if reads != writes || writes != trims {
            let what = "latency limits that differ between reads, writes and trims are not \
                        simulated";
            return Err(Wrong::new(what, "one limit"));
        }
        draft.job.latency.max = reads.unwrap_or_default();
        Ok(())
    }),
    option(&["steadystate", "ss"], steady),
    option(&["steadystate_duration", "ss_dur"], |draft, value| {
        draft.steady_duration = value.seconds()?;
        Ok(())
    }),
    option(&["steadystate_ramp_time", "ss_ramp"], |draft, value| {
        draft.steady_ramp = value.seconds()?;
        Ok(())
    }),
    option(&["steadystate_check_interval", "ss_interval"], |_, value| {
        if value.seconds()? == Span(1_000_000_000) {
            return Ok(());
        }
        Err(Wrong::new("steady state is checked once a second", "1s"))
    }),
];

fn rates<T: Copy>(own: &mut ByDirection<T>, given: ByDirection<Option<T>>) {
    for (own, given) in own.iter_mut().zip(given) {
        *own = given.unwrap_or(*own);
    }
}

impl Draft {
    fn not_direct(&mut self) {
        let note = "there is no page cache: `direct=0` and `buffered=1` are read as `direct=1`";
        self.notes.push(note.into());
    }
}

/// Engines of fio that issue block I/O, and so can be simulated.
const ENGINES: [&str; 24] = [
    "sync",
    "psync",
    "vsync",
    "pvsync",
    "pvsync2",
    "mmap",
    "splice",
    "libaio",
    "io_uring",
    "io_uring_cmd",
    "posixaio",
    "solarisaio",
    "windowsaio",
    "sg",
    "libblkio",
    "spdk",
    "xnvme",
    "null",
    "cpp_null",
    "libzbc",
    "guasi",
    "syslet-rw",
    "nbd",
    "binject",
];

/// Engines of fio that do not access a block device.
const NO_BLOCK_DEVICE: [&str; 34] = [
    "net",
    "netsplice",
    "rdma",
    "cpuio",
    "filecreate",
    "filestat",
    "filedelete",
    "dircreate",
    "dirstat",
    "dirdelete",
    "ftruncate",
    "falloc",
    "e4defrag",
    "exec",
    "http",
    "hdfs",
    "libhdfs",
    "nfs",
    "gfapi",
    "gfapi_async",
    "rados",
    "rbd",
    "cephfs",
    "mtd",
    "dev-dax",
    "libpmem",
    "pmemblk",
    "libcufile",
    "libhipfile",
    "dfs",
    "daos",
    "librpma_apm_client",
    "ime_psync",
    "fusion-aw-sync",
];

fn engine(draft: &mut Draft, value: Value<'_>) -> Result<(), Wrong> {
    let expected = || ENGINES.join(", ");
    let (name, library) = value.text.split_once(':').unwrap_or((value.text, ""));
    if name == "external" || !library.is_empty() && name != "null" {
        return Err(Wrong::new("external engines are not simulated", expected()));
    }
    if NO_BLOCK_DEVICE.contains(&name) {
        let what = format!("the engine `{name}` is no block device, and is not simulated");
        return Err(Wrong::new(what, expected()));
    }
    draft.job.engine =
        Value { text: name, ..value }.word(&ENGINES.map(|name| (name, name)))?.into();
    Ok(())
}

/// Parses `steadystate` values such as `iops:0.3%` and `bw_slope:1m`.
fn steady(draft: &mut Draft, value: Value<'_>) -> Result<(), Wrong> {
    let (word, limit) = match value.text.split_once(':') {
        Some((word, limit)) => (word, limit.trim()),
        None => (value.text, ""),
    };
    let (metric, slope) = Value { text: word, ..value }.word(&[
        ("iops", (SteadyMetric::Iops, false)),
        ("iops_slope", (SteadyMetric::Iops, true)),
        ("bw", (SteadyMetric::Bandwidth, false)),
        ("bw_slope", (SteadyMetric::Bandwidth, true)),
        ("lat", (SteadyMetric::Latency, false)),
        ("lat_slope", (SteadyMetric::Latency, true)),
    ])?;
    let (percent, limit) = match limit.strip_suffix('%') {
        Some(text) => (true, Value { text, ..value }.real(0.0, 100.0)?),
        None if metric == SteadyMetric::Bandwidth => {
            (false, Value { text: limit, ..value }.number()? as f64)
        }
        None => (false, Value { text: limit, ..value }.real(0.0, f64::MAX)?),
    };
    let (duration, ramp) = (Span(0), Span(0));
    draft.steady = Some(SteadyState { metric, slope, limit, percent, duration, ramp });
    Ok(())
}
