//! Job files of fio that measure a real drive for `fowler calibrate`.
//!
//! 1. `precondition.fio` writes the whole drive once in order, then three times at random.
//! 2. `latency.fio` runs a light probe of reads and writes next to random writes of a rising rate:
//!    jobs `probe-R` and `load-R` for `R` writes a second.
//! 3. `depths.fio` reads at random with 1 to 256 requests in flight. It writes nothing.
//! 4. `patterns.fio`, on request, writes by several address patterns: for each, a sequential fill
//!    (`fill-P`), writes until they are steady (`warm-P`), and those that count (`pattern-P`).
//!
//! The module `measurements` recognizes the jobs by these names.
//!
//! **Owns** the text of the jobs. **May touch** nothing.

use std::fmt::Write;

/// The drive to measure with fio, and the length of the measurement.
#[derive(Clone, Debug, PartialEq)]
pub struct MeasureSpec {
    /// Path of the drive's device file.
    pub target: String,
    /// Capacity of the drive in bytes.
    pub capacity: u64,
    /// True for jobs of ten minutes in all instead of an hour, preconditioning and patterns not
    /// included.
    pub brief: bool,
    /// True if writes by address pattern are measured as well, which takes hours.
    pub patterns: bool,
}

/// A job file of fio, with an estimate of its writes and time.
#[derive(Clone, Debug, PartialEq)]
pub struct JobFile {
    /// File name of the job file.
    pub name: &'static str,
    /// Contents of the job file.
    pub text: String,
    /// Number of bytes that the jobs of the file write at most, as far as known.
    pub bytes: f64,
    /// Estimated run time of the jobs in the file, in hours.
    pub hours: f64,
}

impl JobFile {
    /// Returns true if the fio jobs in this job file overwrite data on the drive that they measure.
    pub fn destroys(&self) -> bool {
        self.bytes > 0.0
    }
}

/// Rates of the write load beside which latencies are measured, in writes per second; the highest
/// is meant to be beyond saturation of the drive.
const RATES: [u32; 9] =
    [10_000, 20_000, 30_000, 40_000, 60_000, 80_000, 100_000, 150_000, 1_000_000];
const RATES_OF_TEN_MINUTES: [u32; 4] = [10_000, 30_000, 60_000, 1_000_000];
/// Rate of the probe, a light load whose latencies are recorded, in reads per second and in writes
/// per second.
const PROBE: u32 = 5_000;
/// Number of threads of the write load.
const THREADS: u32 = 6;
/// Number of requests that each thread of the load has in flight.
const DEPTH: u32 = 64;
const DEPTHS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Rate of sequential preconditioning, in bytes per second, from which its run time is estimated:
/// assumed.
const SEQUENTIAL: f64 = 1.5e9;
/// Rate of random preconditioning, in bytes per second, from which its run time is estimated:
/// assumed.
const RANDOM: f64 = 3e8;
/// Number of times that the whole drive is overwritten at random before anything is measured.
const OVERWRITES: u32 = 3;
/// Number of times that the whole drive is overwritten by an address pattern.
const PATTERN_TIMES: f64 = 3.0;
/// Share (0 to 1) of the writes of an address pattern after which the others count.
const WARM: f64 = 0.6;
/// Address patterns of writes of 4 KiB: name of the jobs, options of fio, and share of the drive
/// that is written (0 to 1). A Zipf exponent of 1 is refused by fio.
const PATTERNS: [(&str, &str, f64); 4] = [
    ("uniform", "", 1.0),
    ("zipf", "random_distribution=zipf:0.99\n", 1.0),
    ("hot-and-cold", "random_distribution=zoned:90/10:10/90\n", 1.0),
    ("half-read-only", "", 0.5),
];
/// Sizes in MiB of zones that are written one after the other, each in order.
const ZONES: [u64; 3] = [64, 256, 1_024];
const HEAD: &str = "ioengine=io_uring\ndirect=1\nthread=1\nbs=4k\nnorandommap=1\nrandrepeat=0\n\
                    refill_buffers=1\nlat_percentiles=1\n\
                    percentile_list=10:50:90:99:99.9:99.99\n";

/// Returns the job files of fio in the order in which they must run.
pub fn job_files(spec: &MeasureSpec) -> Vec<JobFile> {
    let mut files = vec![precondition(spec), latency(spec), depths(spec)];
    if spec.patterns {
        files.push(patterns(spec));
    }
    files
}

fn precondition(spec: &MeasureSpec) -> JobFile {
    let target = &spec.target;
    let text = format!(
        "; OVERWRITES {target}: once in order, then {OVERWRITES} times at random\n[global]\n\
         ioengine=io_uring\ndirect=1\nthread=1\nfilename={target}\nrefill_buffers=1\nsize=100%\n\n\
         [fill]\nrw=write\nbs=512k\niodepth=8\n\n[overwrite]\nstonewall\nrw=randwrite\nbs=4k\n\
         iodepth=256\nnorandommap=1\nloops={OVERWRITES}\n"
    );
    let capacity = spec.capacity as f64;
    let random = capacity * f64::from(OVERWRITES);
    JobFile {
        name: "precondition.fio",
        text,
        bytes: capacity + random,
        hours: (capacity / SEQUENTIAL + random / RANDOM) / 3_600.0,
    }
}

fn latency(spec: &MeasureSpec) -> JobFile {
    let (rates, seconds): (&[u32], u32) =
        if spec.brief { (&RATES_OF_TEN_MINUTES, 90) } else { (&RATES, 300) };
    let target = &spec.target;
    let mut text = format!(
        "; OVERWRITES {target}: a probe beside writes of a rising rate\n[global]\n{HEAD}\
         time_based=1\nfilename={target}\nruntime={seconds}\nramp_time={}\niodepth={DEPTH}\n",
        seconds / 5
    );
    let mut written = 0.0;
    for rate in rates {
        let of_thread = (rate - PROBE).div_ceil(THREADS);
        let _grows = write!(
            text,
            "\n[probe-{rate}]\nstonewall\nnew_group\nrw=randrw\nrwmixread=50\n\
             rate_iops={PROBE},{PROBE}\n\n\
             [load-{rate}]\nnew_group\ngroup_reporting=1\nrw=randwrite\nnumjobs={THREADS}\n\
             rate_iops={of_thread}\nrate_process=poisson\n"
        );
        written += (f64::from(*rate) * 4_096.0).min(RANDOM) * f64::from(seconds) * 1.2;
    }
    let hours = rates.len() as f64 * f64::from(seconds) * 1.2 / 3_600.0;
    JobFile { name: "latency.fio", text, bytes: written, hours }
}

fn depths(spec: &MeasureSpec) -> JobFile {
    let seconds = if spec.brief { 15 } else { 60 };
    let target = &spec.target;
    let mut text = format!(
        "; reads {target} and writes nothing\n[global]\n{HEAD}time_based=1\nfilename={target}\n\
         runtime={seconds}\nramp_time=3\nrw=randread\nreadonly=1\n"
    );
    for depth in DEPTHS {
        let _grows = write!(text, "\n[reads-{depth}]\nstonewall\niodepth={depth}\n");
    }
    let hours = DEPTHS.len() as f64 * f64::from(seconds + 3) / 3_600.0;
    JobFile { name: "depths.fio", text: text.replace("readonly=1\n", ""), bytes: 0.0, hours }
}

/// Returns the jobs that write the drive by address patterns, each after a sequential fill. The
/// option `size`, the capacity in bytes, tells the reader of the output how large the drive is.
fn patterns(spec: &MeasureSpec) -> JobFile {
    let (target, capacity) = (&spec.target, spec.capacity);
    let mut text = format!(
        "; OVERWRITES {target}: by several address patterns, each after a sequential fill\n\
         [global]\n{HEAD}filename={target}\nsize={capacity}\n"
    );
    let (mut bytes, mut hours) = (0.0, 0.0);
    let mut add = |name: &str, options: &str, (threads, unit): (u32, u64), rate: f64| {
        let _grows =
            write!(text, "\n[fill-{name}]\nstonewall\nnew_group\nrw=write\nbs=512k\niodepth=1\n");
        for (job, share) in [("warm", WARM), ("pattern", 1.0 - WARM)] {
            let all = capacity as f64 * PATTERN_TIMES * share;
            let each = (all / f64::from(threads)) as u64 / unit * unit;
            let _grows = write!(
                text,
                "\n[{job}-{name}]\nstonewall\nnew_group\ngroup_reporting=1\n{options}\
                 numjobs={threads}\nio_size={each}\n"
            );
        }
        bytes += capacity as f64 * (1.0 + PATTERN_TIMES);
        hours += capacity as f64 * (1.0 / SEQUENTIAL + PATTERN_TIMES / rate) / 3_600.0;
    };
    for (name, options, share) in PATTERNS {
        let size = match share < 1.0 {
            true => format!("size={}\n", (capacity as f64 * share) as u64 / 4_096 * 4_096),
            false => String::new(),
        };
        let options = format!("rw=randwrite\niodepth={DEPTH}\n{options}{size}");
        add(name, &options, (THREADS, 4_096), RANDOM);
    }
    for mib in ZONES.into_iter().filter(|mib| mib << 20 <= capacity / 4) {
        // A random start at a multiple of the zone, and then the rest of the zone in order.
        let options = format!("rw=randwrite:{}\nbs=512k\nba={mib}m\niodepth=1\n", mib * 2);
        add(&format!("zones-of-{mib}-mib"), &options, (1, mib << 20), SEQUENTIAL);
    }
    JobFile { name: "patterns.fio", text, bytes, hours }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(brief: bool) -> MeasureSpec {
        let capacity = 960_000_000_000;
        MeasureSpec { target: "/dev/nvme7n1".into(), capacity, brief, patterns: false }
    }

    #[test]
    fn the_jobs_take_an_hour_or_ten_minutes_beside_the_preconditioning() {
        for (brief, low, high) in [(false, 0.9, 1.1), (true, 0.12, 0.2)] {
            let files = job_files(&spec(brief));
            let hours: f64 = files[1..].iter().map(|file| file.hours).sum();
            assert!((low..=high).contains(&hours), "{hours}");
            assert_eq!(
                files.iter().map(JobFile::destroys).collect::<Vec<_>>(),
                [true, true, false]
            );
            assert!((files[0].bytes - 4.0 * 960e9).abs() < 1.0);
            for file in files.iter().filter(|file| file.destroys()) {
                assert!(file.text.starts_with("; OVERWRITES /dev/nvme7n1"), "{}", file.text);
            }
            assert!(!files[2].text.contains("write\n"), "{}", files[2].text);
        }
    }

    #[test]
    fn patterns_say_what_they_overwrite() {
        let files = job_files(&MeasureSpec { patterns: true, ..spec(false) });
        let patterns = files.last().expect("four files");
        assert_eq!((files.len(), patterns.name), (4, "patterns.fio"));
        assert!(patterns.destroys() && patterns.text.starts_with("; OVERWRITES /dev/nvme7n1"));
        // Seven patterns, each a fill and three times the drive.
        assert!((patterns.bytes - 7.0 * 4.0 * 960e9).abs() < 1.0, "{}", patterns.bytes);
        // Four of them at 300 MB/s and three at 1.5 GB/s, and seven fills.
        let seconds = 960e9 * (12.0 / RANDOM + (9.0 + 7.0) / SEQUENTIAL);
        assert!((patterns.hours - seconds / 3_600.0).abs() < 1e-6, "{}", patterns.hours);
        // Of 3 x 960 GB, 60 % before they count, by six threads each.
        assert!(
            patterns.text.contains("[warm-uniform]\n")
                && patterns.text.contains("io_size=288000000000\n")
        );
        assert!(
            patterns.text.contains("rw=randwrite:2048\nbs=512k\nba=1024m\n"),
            "{}",
            patterns.text
        );
    }
}
