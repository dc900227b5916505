//! A job under construction, and the checks across options.

use crate::environment::Seeding;
use crate::grammar::Section;
use crate::job::*;
use fowler_units::{Diagnostic, Diagnostics, Span};

/// Largest number of jobs in a file, with all clones, as in fio.
pub(super) const MOST_JOBS: u64 = 4096;
/// Largest number of files of all jobs together.
const MOST_FILES: usize = 1 << 20;
/// Largest size in bytes of the options of all jobs and of the names of their files. Every clone
/// has its own.
const MOST_TEXT: u64 = 256 << 20;
/// Largest number of requests that all jobs have in flight together: a bound of Fowler, not of fio.
const MOST_IN_FLIGHT: u64 = 1 << 20;

/// A job under construction, which starts with fio's defaults.
#[derive(Clone, Debug)]
pub(crate) struct Draft {
    /// Job with the options read so far.
    pub job: Job,
    /// Bytes that `k` means in the job's options (`kb_base`): 1000 or 1024.
    pub base: u64,
    pub blocks: ByDirection<u32>,
    pub ranges: ByDirection<Option<(u32, u32)>>,
    pub splits: ByDirection<Vec<SizeShare>>,
    pub aligns: ByDirection<Option<u32>>,
    pub filename: Option<String>,
    pub directory: Option<String>,
    pub filename_format: String,
    pub nr_files: u32,
    pub clones: u32,
    pub stonewall: bool,
    pub new_group: bool,
    pub wait_for: Option<String>,
    pub exit_all: bool,
    pub exit_what: ExitAll,
    pub zone_mode: Option<bool>,
    pub zone_size: u64,
    pub zone_range: u64,
    pub zone_skip: u64,
    pub iolog: Option<String>,
    pub replay: Replay,
    pub fsync_on_close: bool,
    pub steady: Option<SteadyState>,
    pub steady_duration: Span,
    pub steady_ramp: Span,
    pub randrepeat: bool,
    /// Value given last to `randrepeat` or `allrandrepeat`, which are one option from fio 3.35 on.
    pub last_randrepeat: bool,
    /// Notes for the user on the options read so far.
    pub notes: Vec<String>,
}

impl Default for Draft {
    fn default() -> Draft {
        Draft {
            job: initial(),
            base: 1024,
            blocks: [4096; 3],
            ranges: [None; 3],
            splits: [const { Vec::new() }; 3],
            aligns: [None; 3],
            filename: None,
            directory: None,
            filename_format: "$jobname.$jobnum.$filenum".into(),
            nr_files: 1,
            clones: 1,
            stonewall: false,
            new_group: false,
            wait_for: None,
            exit_all: false,
            exit_what: ExitAll::Group,
            zone_mode: None,
            zone_size: 0,
            zone_range: 0,
            zone_skip: 0,
            iolog: None,
            replay: Replay { scale: 1, time_scale: 100, ..Replay::default() },
            fsync_on_close: false,
            steady: None,
            steady_duration: Span(0),
            steady_ramp: Span(0),
            randrepeat: true,
            last_randrepeat: true,
            notes: Vec::new(),
        }
    }
}

/// Engines with a queue that wait for each trim (`FIO_ASYNCIO_SYNC_TRIM` of fio's ioengines.h): the
/// kernel has no other trim for them.
const WAITING_FOR_TRIMS: [&str; 2] = ["libaio", "posixaio"];
/// Engines that keep trims outstanding from 3.36 (`io_uring_cmd`) and 3.38 on (`io_uring`, with
/// Linux 6.12 or later): <https://github.com/axboe/fio/issues/1854>.
const TRIMS_OUTSTANDING_LATE: [&str; 2] = ["io_uring", "io_uring_cmd"];

/// True if the fio version of these seeds waits for each trim of the job.
fn trims_are_awaited(job: &Job, seeding: Seeding) -> bool {
    let engine = job.engine.as_str();
    let late = seeding == Seeding::V333 && TRIMS_OUTSTANDING_LATE.contains(&engine);
    job.kind.trims && (late || WAITING_FOR_TRIMS.contains(&engine))
}

const NO_BLOCKS: BlockSizes = BlockSizes { min: 0, max: 0, align: 0, split: Vec::new() };

/// Returns a job with fio's defaults.
#[rustfmt::skip]
fn initial() -> Job {
    Job {
        name: String::new(),
        number: 0,
        clone: 0,
        group: 0,
        group_reporting: false,
        file: String::new(),
        line: 0,
        description: None,
        given: Vec::new(),
        kind: Kind { reads: true, ..Kind::default() },
        sequential_run: 1,
        sequential_add: 0,
        sequencer: Sequencer::Sequential,
        mix_read: 50,
        percent_random: [100; 3],
        blocks: [NO_BLOCKS; 3],
        unaligned: false,
        blocks_by_order: false,
        size: None,
        io_size: None,
        file_size: None,
        offset: Size::ZERO,
        offset_align: None,
        offset_increment: Size::ZERO,
        number_ios: 0,
        fill_device: false,
        loops: 1,
        files: Vec::new(),
        file_service: FileService::RoundRobin,
        file_service_run: 1,
        repeatable: true,
        fixed_offsets: true,
        seed: None,
        all_repeatable: false,
        no_map: false,
        generator: Generator::Taus88,
        generator_given: false,
        distribution: Distribution::Uniform,
        fsync: 0, fdatasync: 0, end_fsync: false,
        durable_writes: false,
        engine: "psync".into(),
        waits_for_trims: false,
        depth: 1,
        batch: 1,
        batch_complete_min: 1,
        batch_complete_max: 0,
        depth_low: 0,
        serialize_overlap: false,
        rate: Rate { cycle: Span(1_000_000_000), ..Rate::default() },
        think: ThinkTime { blocks: 1, ..ThinkTime::default() },
        flow: Flow::default(),
        latency: LatencyTarget { percentile: 100.0, ..LatencyTarget::default() },
        steady: None,
        verify: Verify { read_back: true, ..Verify::default() },
        strided: None,
        replay: None,
        recording: None,
        runtime: None,
        time_based: false,
        ramp: Span(0),
        start_delay: (Span(0), Span(0)),
        start_after: StartAfter::Nothing,
        exit_all: ExitAll::Off,
        logs: logs(),
        statistics: statistics(),
    }
}

fn logs() -> Logs {
    Logs {
        per_job: true,
        histogram_coarseness: 0,
        bandwidth_window: Span(500_000_000),
        iops_window: Span(500_000_000),
        ..Logs::default()
    }
}

fn statistics() -> Statistics {
    Statistics {
        clat_percentiles: true,
        lat_percentiles: false,
        slat_percentiles: false,
        percentiles: Vec::new(),
        no_lat: false,
        no_clat: false,
        no_slat: false,
        no_bandwidth: false,
        unified: Unified::Separate,
        silent: false,
    }
}

/// Jobs of a file that were read so far, numbered as fio does.
#[derive(Debug, Default)]
pub(crate) struct Jobs {
    pub jobs: Vec<Job>,
    group: u32,
    in_group: bool,
    files: usize,
    text: u64,
    depth: u64,
}

impl Jobs {
    /// Adds the job of a section of the fio job file, and its clones (`numjobs`). Returns true if
    /// there may be more jobs.
    pub fn add(
        &mut self,
        section: &Section,
        mut draft: Draft,
        problems: &mut Diagnostics,
        notes: &mut Vec<String>,
    ) -> bool {
        let complaint = |what: String| {
            Diagnostic::new(&*section.file, what)
                .line(section.line)
                .text(format!("[{}]", section.name))
        };
        draft.settle(&mut |what, hint| problems.push(complaint(what).hint(hint)));
        notes.append(&mut draft.notes);
        let most = MOST_JOBS as usize;
        if self.jobs.len() + draft.clones as usize > most {
            problems.push(complaint(format!("more than {most} jobs with all clones")));
            return false;
        }
        self.depth += u64::from(draft.job.depth) * u64::from(draft.clones);
        if self.depth > MOST_IN_FLIGHT {
            let what = format!("more than {MOST_IN_FLIGHT} requests in flight of all jobs");
            problems.push(complaint(what).hint("use a smaller iodepth or numjobs".to_string()));
            return true;
        }
        self.text = self.text.saturating_add(draft.text().saturating_mul(draft.clones.into()));
        if self.text > MOST_TEXT {
            let mib = MOST_TEXT >> 20;
            let what = format!("options and names of files take more than {mib} MiB in all jobs");
            let hint = "use fewer clones (numjobs) or files (nrfiles), or shorter names and values";
            problems.push(complaint(what).hint(hint.to_string()));
            return true;
        }
        if (draft.stonewall || draft.new_group) && self.in_group {
            self.group += 1;
        }
        self.in_group = true;
        for clone in 0..draft.clones {
            let mut job = draft.job.clone();
            job.number = self.jobs.len() as u32 + 1;
            job.clone = clone;
            job.group = self.group;
            job.files = draft.file_names(clone);
            self.files += job.files.len();
            if self.files > MOST_FILES {
                problems.push(complaint(format!("more than {MOST_FILES} files of all jobs")));
                return true;
            }
            job.start_after = match (&draft.wait_for, draft.stonewall && clone == 0) {
                (_, true) => StartAfter::AllAbove,
                (Some(name), false) => StartAfter::Named(name.clone()),
                (None, false) => StartAfter::Nothing,
            };
            self.jobs.push(job);
        }
        true
    }
}

impl Draft {
    /// Sets the seed of a job that is to differ from run to run to one derived from `seed`.
    pub fn seed_by(&mut self, seeding: Seeding, seed: u64) {
        if seeding != Seeding::V333 {
            (self.randrepeat, self.job.all_repeatable) = (self.last_randrepeat, false);
        }
        if !self.randrepeat && !self.job.all_repeatable && self.job.seed.is_none() {
            self.job.seed = Some(seed);
        }
    }

    /// Sets whether the engine waits for trims, which depends on the version of fio.
    pub fn await_trims(&mut self, seeding: Seeding) {
        let job = &mut self.job;
        job.waits_for_trims = trims_are_awaited(job, seeding);
        if job.waits_for_trims && job.depth > 1 {
            let (name, engine) = (&job.name, &job.engine);
            self.notes.push(match seeding {
                Seeding::V333 => {
                    format!("[{name}]: {engine} waits for each trim, whatever the depth")
                }
                Seeding::V335 => format!(
                    "[{name}]: {engine} waits for each trim, whatever the depth; io_uring does not"
                ),
            });
        }
    }

    /// Combines the options of the job, and checks them against each other. Each error is passed to
    /// `wrong` with its hint.
    fn settle(&mut self, wrong: &mut impl FnMut(String, Option<String>)) {
        self.settle_sizes(wrong);
        self.settle_randomness();
        self.settle_queue();
        let zones = Strided {
            size: self.zone_size,
            range: if self.zone_range > 0 { self.zone_range } else { self.zone_size },
            skip: self.zone_skip,
        };
        // Without `zonemode`, a `zonesize` is enough.
        if self.zone_mode.unwrap_or(self.zone_size > 0) {
            if zones.size == 0 {
                wrong("`zonemode=strided` needs a `zonesize`".into(), None);
            }
            self.job.strided = Some(zones);
        }
        let job = &mut self.job;
        let rates = (0..3).any(|index| job.rate.bytes[index] > 0 && job.rate.iops[index] > 0);
        if rates {
            wrong("`rate` and `rate_iops` exclude each other".into(), None);
        }
        let rate = &job.rate;
        let above = (0..3).any(|index| {
            let bytes = rate.bytes[index] > 0 && rate.min_bytes[index] > rate.bytes[index];
            bytes || rate.iops[index] > 0 && rate.min_iops[index] > rate.iops[index]
        });
        if above {
            wrong("the least rate is above the rate".into(), None);
        }
        job.end_fsync |= self.fsync_on_close;
        if job.verify.repeats {
            job.verify.backlog = 0;
        }
        job.exit_all = if self.exit_all { self.exit_what } else { ExitAll::Off };
        if let Some(steady) = &mut self.steady {
            steady.duration = self.steady_duration;
            steady.ramp = self.steady_ramp;
            if steady.duration == Span(0) {
                wrong("`steadystate` needs a `steadystate_duration`".into(), None);
            }
        }
        job.steady = self.steady;
        if let Some(iolog) = &self.iolog {
            job.replay = Some(Replay { iolog: iolog.clone(), ..self.replay.clone() });
        }
        if job.time_based && job.runtime.is_none() {
            job.time_based = false;
            self.notes.push(format!("[{}]: `time_based` does nothing without `runtime`", job.name));
        }
        if job.statistics.percentiles.is_empty() {
            job.statistics.percentiles = PERCENTILES.to_vec();
        }
        self.spell_out();
    }

    fn settle_sizes(&mut self, wrong: &mut impl FnMut(String, Option<String>)) {
        let job = &mut self.job;
        for index in 0..3 {
            let (min, max) = self.ranges[index].unwrap_or((self.blocks[index], self.blocks[index]));
            let align = self.aligns[index].filter(|align| *align > 0 && job.kind.random);
            let sizes = BlockSizes {
                min,
                max,
                align: align.unwrap_or(min),
                split: std::mem::take(&mut self.splits[index]),
            };
            // Offsets that are no multiples of the blocks of the map have no map.
            job.no_map |= sizes.align != min;
            job.blocks[index] = sizes;
        }
        if job.blocks.iter().any(|sizes| sizes.min == 0 || sizes.max < sizes.min) {
            wrong("a block size is zero, or a range of sizes ends below its start".into(), None);
        }
        if let Some((least, most)) = job.file_size
            && least != most
        {
            let hint = "give one size, such as filesize=1g".to_string();
            wrong("file sizes that are drawn from a range are not simulated".into(), Some(hint));
        }
        if job.fill_device && job.size.is_none() {
            job.size = Some(Size::Percent(100));
        }
    }

    fn settle_randomness(&mut self) {
        let job = &mut self.job;
        job.fixed_offsets = self.randrepeat;
        job.repeatable = self.randrepeat && job.seed.is_none() || job.all_repeatable;
        if job.distribution != Distribution::Uniform {
            job.no_map = true;
        }
    }

    fn settle_queue(&mut self) {
        let job = &mut self.job;
        if job.waits() && job.depth > 1 {
            self.notes.push(format!(
                "[{}]: the engine {} waits for each request: its depth is 1, not {}",
                job.name, job.engine, job.depth
            ));
            job.depth = 1;
        }
        if job.depth_low > job.depth || job.depth_low == 0 {
            job.depth_low = job.depth;
        }
        if job.batch > job.depth || job.batch == 0 {
            job.batch = job.depth;
        }
        job.batch_complete_min = job.batch_complete_min.min(job.depth);
        job.batch_complete_max = job.batch_complete_max.max(job.batch_complete_min);
    }

    /// Adds the defaults of options that readers of fio's output expect.
    fn spell_out(&mut self) {
        let job = &mut self.job;
        let block = match job.blocks.each_ref().map(|sizes| sizes.min) {
            [reads, writes, trims] if reads == writes && writes == trims => reads.to_string(),
            [reads, writes, trims] => format!("{reads},{writes},{trims}"),
        };
        for (name, value) in [
            ("rw", job.kind.word().to_string()),
            ("bs", block),
            ("iodepth", job.depth.to_string()),
            ("numjobs", self.clones.to_string()),
        ] {
            if !job.given.iter().any(|(given, _)| given == name) {
                job.given.push((name.into(), value));
            }
        }
    }

    /// Returns the memory that a clone's options and file names take at most, in bytes.
    fn text(&self) -> u64 {
        let options = self.job.given.iter().map(|(name, value)| name.len() + value.len());
        let (names, files) = match &self.filename {
            Some(names) => (names.len() as u64, 1 + names.matches(':').count() as u64),
            None => {
                let format = &self.filename_format;
                let inserted = format.matches('$').count() * self.job.name.len().max(10);
                let files = u64::from(self.nr_files.max(1));
                (files.saturating_mul((format.len() + inserted) as u64), files)
            }
        };
        let directories = self.directory.as_ref().map_or(0, String::len) as u64;
        let options = options.sum::<usize>() + self.job.name.len();
        names.saturating_add(files.saturating_mul(directories)).saturating_add(options as u64)
    }

    /// Returns the names of the files of a clone of the job.
    fn file_names(&self, clone: u32) -> Vec<String> {
        let names: Vec<String> = match &self.filename {
            Some(names) => split_names(names),
            None => self.generated(clone),
        };
        let Some(directories) = self.directory.as_deref().map(split_names) else { return names };
        let count = directories.len().max(1);
        let Some(directory) = directories.get(clone as usize % count) else { return names };
        names.iter().map(|name| format!("{}/{name}", directory.trim_end_matches('/'))).collect()
    }

    fn generated(&self, clone: u32) -> Vec<String> {
        let format = self
            .filename_format
            .replace("$jobname", &self.job.name)
            .replace("$jobnum", &clone.to_string())
            .replace("$clientuid", "localhost");
        (0..self.nr_files.max(1)).map(|at| format.replace("$filenum", &at.to_string())).collect()
    }
}

/// Splits a list of file names at colons; `\:` is a colon.
fn split_names(text: &str) -> Vec<String> {
    let mut names = vec![String::new()];
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\\' if characters.peek() == Some(&':') => {
                characters.next();
                names.last_mut().expect("a name").push(':');
            }
            ':' => names.push(String::new()),
            character => names.last_mut().expect("a name").push(character),
        }
    }
    names.retain(|name| !name.is_empty());
    names
}
