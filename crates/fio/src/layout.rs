//! The places of the jobs' files on the drive. A drive has one address space, so that every file
//! becomes a region of it.
//!
//! A file whose name starts with `/dev/`, and the one file that all jobs share, is the whole drive.
//! Every other file has a region of its own, in order of first use, aligned to 1 MiB.

use crate::job::{Job, Size};
use crate::recording::Recording;
use fowler_units::{Diagnostic, Diagnostics};
use std::collections::BTreeMap;

/// Alignment of the files' regions on the drive, in bytes.
const ALIGNMENT: u64 = 1 << 20;
/// Largest number of blocks in the maps of all random jobs: with a bit for each, 4 GiB.
const MAPPED_MOST: u64 = 1 << 35;

/// Part of the drive's address space that stands for a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Name of the job's file that this part of the drive's address space stands for.
    pub name: String,
    /// Address on the drive of the first byte of the job's file.
    pub base: u64,
    /// Length of the job's file on the drive, in bytes.
    pub length: u64,
    /// True if the job's file stands for the whole drive.
    pub whole: bool,
}

/// Part of a file that one job uses.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileRange {
    /// Name of the file that the fio job accesses, with its directory.
    pub name: String,
    /// Index of the file's place on the drive in [`Layout::regions`], the list of the places of all
    /// files.
    pub region: usize,
    /// First byte of the file that the fio job uses in its first pass.
    pub start: u64,
    /// First byte of the file that the job uses in later passes; it differs from `start` if a
    /// percentage applies to a file that the first pass made longer.
    pub restart: u64,
    /// Number of bytes of the file that the job uses, from `start` on.
    pub length: u64,
    /// Offset at which the file ends, counted from the file's beginning, in bytes.
    pub end: u64,
}

/// The files of a job, and its sizes in bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JobFiles {
    /// Files of the job, in order.
    pub files: Vec<FileRange>,
    /// Size of one pass over all files of the job, in bytes.
    pub size: u64,
    /// Number of bytes after which the job ends (`io_size`); zero means after `size`.
    pub io_size: u64,
}

/// Places of the files of all jobs on the drive.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Layout {
    /// Regions of the drive that stand for files, in order of address.
    pub regions: Vec<Region>,
    /// The files of each job, in the order of the jobs.
    pub jobs: Vec<JobFiles>,
}

impl FileRange {
    /// Returns the number of blocks of the file, each of the job's smallest request size, from
    /// which `job` draws the offsets of random requests.
    pub(crate) fn blocks(&self, job: &Job) -> u64 {
        let span = job.strided.map_or(self.length.min(self.end), |zones| zones.range);
        span / u64::from(job.min_block().max(1))
    }
}

impl Layout {
    /// Lays the files of `jobs` out on a drive of `capacity` bytes. Without a capacity, sizes that
    /// depend on it are errors, and everything fits.
    ///
    /// # Errors
    /// Jobs without a size, sizes below a block, files that start beyond their end, and files that
    /// do not fit the drive together.
    pub fn new(jobs: &[Job], capacity: Option<u64>) -> Result<Layout, Diagnostics> {
        let mut problems = Diagnostics::default();
        let shared = shared_by_all(jobs);
        let mut layout = Layout::default();
        let mut known = BTreeMap::new();
        for job in jobs {
            let alone = shared.as_deref();
            match sizes(job, capacity, alone) {
                Ok(files) => layout.add(files, &mut known, alone, capacity),
                Err(found) => problems.0.extend(found.0),
            }
        }
        problems = problems.unique();
        problems.or(())?;
        layout.place(capacity)?;
        Ok(layout)
    }

    /// Checks that the maps of all `jobs`, in which each block has its turn once, fit into memory.
    /// To be called before any [`crate::Sequence`] is made of them.
    ///
    /// # Errors
    /// The first job with which they have more than 2^35 blocks.
    pub fn check_maps(&self, jobs: &[Job]) -> Result<(), Diagnostics> {
        let mut mapped: u64 = 0;
        for (job, job_layout) in jobs.iter().zip(&self.jobs).filter(|(job, _)| job.is_mapped()) {
            let blocks = job_layout.files.iter().map(|file| file.blocks(job));
            mapped = blocks.fold(mapped, u64::saturating_add);
            if mapped > MAPPED_MOST {
                let what = format!(
                    "with this job, the maps of random jobs hold {mapped} blocks (one bit for each), which is too many"
                );
                let expected = format!(
                    "random jobs of at most {MAPPED_MOST} blocks together: fio keeps a bit for each block that a job has visited"
                );
                let hint = "set norandommap, random_generator=lfsr or a larger block size";
                return Err(complaint(job, what).expected(expected).hint(hint.to_string()).into());
            }
        }
        Ok(())
    }

    /// Returns the byte of the drive at `offset` of file `file` of job `job` (both from 0).
    #[inline]
    pub fn drive_offset(&self, job: usize, file: u32, offset: u64) -> u64 {
        self.regions[self.jobs[job].files[file as usize].region].base + offset
    }

    /// Adds the files of a fio job to the layout of files on the simulated drive; `known` maps each
    /// file name to the index of its region of the drive.
    fn add(
        &mut self,
        mut job: JobFiles,
        known: &mut BTreeMap<String, usize>,
        shared: Option<&str>,
        capacity: Option<u64>,
    ) {
        for file in &mut job.files {
            file.region = *known.entry(file.name.clone()).or_insert_with(|| {
                let whole = is_whole(&file.name, shared);
                let length = if whole { capacity.unwrap_or(0) } else { 0 };
                let name = file.name.clone();
                self.regions.push(Region { name, base: 0, length, whole });
                self.regions.len() - 1
            });
            let region = &mut self.regions[file.region];
            region.length = region.length.max(file.end);
        }
        self.jobs.push(job);
    }

    /// Assigns an address on the simulated drive to every region (range of addresses that holds one
    /// file).
    fn place(&mut self, capacity: Option<u64>) -> Result<(), Diagnostics> {
        let mut next: u64 = 0;
        for region in self.regions.iter_mut().filter(|region| !region.whole) {
            region.base = next;
            next = next
                .checked_add(region.length)
                .and_then(|end| end.checked_next_multiple_of(ALIGNMENT))
                .ok_or_else(|| Diagnostic::of("the files of all jobs are too large together"))?;
        }
        let largest = self.regions.iter().map(|region| region.base + region.length).max();
        let needed = largest.unwrap_or(0);
        let Some(capacity) = capacity.filter(|&capacity| needed > capacity) else { return Ok(()) };
        let count = self.regions.len();
        let what = format!(
            "the files do not fit the drive: {count} file(s) need {needed} bytes, the drive has \
             {capacity}"
        );
        let hint = "make `size` smaller, or take a larger drive (--device, --set)".to_string();
        Err(Diagnostic::of(what).hint(hint).into())
    }
}

/// Returns the name of a file that is every job's only file, if there is one.
fn shared_by_all(jobs: &[Job]) -> Option<String> {
    let [name] = jobs.first()?.files.as_slice() else { return None };
    let same = |job: &Job| matches!(job.files.as_slice(), [other] if other == name);
    jobs.iter().all(same).then(|| name.clone())
}

fn is_whole(name: &str, shared: Option<&str>) -> bool {
    name.starts_with("/dev/") || shared == Some(name)
}

fn complaint(job: &Job, what: impl Into<String>) -> Diagnostic {
    Diagnostic::new(&job.file, what).line(job.line).text(format!("[{}]", job.name))
}

/// Returns `percent` of `whole`, rounded down.
fn part(whole: u64, percent: u32) -> u64 {
    (u128::from(whole) * u128::from(percent) / 100) as u64
}

fn bytes(size: Option<Size>, whole: Option<u64>) -> Option<u64> {
    match size? {
        Size::Bytes(bytes) => Some(bytes),
        Size::Percent(percent) => whole.map(|whole| part(whole, percent)),
    }
}

/// Returns the sizes of a job, file by file; their regions on the drive are assigned later.
fn sizes(job: &Job, capacity: Option<u64>, shared: Option<&str>) -> Result<JobFiles, Diagnostics> {
    if let Some(recording) = &job.recording {
        return recorded(job, recording, capacity, shared);
    }
    let count = job.files.len().max(1) as u64;
    let block = u64::from(job.min_block());
    let whole = job.files.iter().all(|name| is_whole(name, shared));
    let percent = matches!(job.size, Some(Size::Percent(_)));
    let given = match job.size {
        Some(Size::Bytes(0)) | None => None,
        size => bytes(size, capacity),
    };
    if given.is_none() && job.file_size.is_none() && (!whole || capacity.is_none()) {
        let hint = "name a drive (--device)".to_string();
        return Err(if percent {
            complaint(job, "`size` is a share of the drive, whose size is not known").hint(hint)
        } else {
            complaint(job, "the job has no `size`, so the size of its files is not known")
                .expected("a job with the option `size`, or with a device as its `filename`")
        }
        .into());
    }
    let mut spare = match given {
        Some(size) if job.file_size.is_none() && block > 0 => (size % count) / block,
        _ => 0,
    };
    let mut files = Vec::with_capacity(job.files.len());
    for name in &job.files {
        let device = if is_whole(name, shared) { capacity } else { None };
        let mut length = match (given, job.file_size) {
            (_, Some((_, most))) => Some(most),
            (Some(size), None) => Some(size / count),
            (None, None) => None,
        };
        if let (Some(length), true) = (&mut length, spare > 0) {
            *length += block;
            spare -= 1;
        }
        files.push(range(job, name, length, device)?);
    }
    let total: u64 = files.iter().map(|file| file.length).fold(0, u64::saturating_add);
    let size = given.map_or(total, |size| if total > 0 { size.min(total) } else { size });
    if size < block {
        return Err(complaint(
            job,
            format!("the job's size, {size} bytes, is less than its block size"),
        )
        .expected(format!("at least {block} bytes"))
        .into());
    }
    let io_size = bytes(job.io_size, Some(size)).unwrap_or(0);
    Ok(JobFiles { files, size, io_size })
}

/// Returns the files that a recorded log of requests (`read_iolog`) accesses, each as long as its
/// requests require.
fn recorded(
    job: &Job,
    recording: &Recording,
    capacity: Option<u64>,
    shared: Option<&str>,
) -> Result<JobFiles, Diagnostics> {
    let mut files = Vec::with_capacity(recording.files.len());
    for (number, name) in recording.files.iter().enumerate() {
        let end = recording.end_of(number);
        if let Some(capacity) = capacity.filter(|&it| is_whole(name, shared) && end > it) {
            let what =
                format!("the job's log accesses up to byte {end} of {name}, which has {capacity}");
            let hint = "set replay_scale, or take a larger drive (--device, --set)".to_string();
            return Err(complaint(job, what).hint(hint).into());
        }
        let name = name.clone();
        files.push(FileRange { name, region: 0, start: 0, restart: 0, length: end, end });
    }
    let moved = recording.requests.iter().map(|it| u64::from(it.length));
    Ok(JobFiles { files, size: moved.fold(0, u64::saturating_add), io_size: 0 })
}

/// Returns the range that a job uses of a file: `length` bytes, or all of a device.
fn range(
    job: &Job,
    name: &str,
    length: Option<u64>,
    device: Option<u64>,
) -> Result<FileRange, Diagnostics> {
    // Percentages are of the device, or of the size that the job gives the file.
    let known = if name.starts_with("/dev/") { device.or(length) } else { length.or(device) };
    let first = start(job, known.unwrap_or(0));
    let too_large =
        || Diagnostics::from(complaint(job, "the sum of the job's size and offset is too large"));
    let start_at = first.ok_or_else(too_large)?;
    let length = match (length, job.file_size, device) {
        // The size of a file counts from its beginning.
        (Some(length), Some(_), _) => length.checked_sub(start_at).filter(|&length| length > 0),
        (Some(length), None, _) => Some(length),
        (None, _, Some(device)) => device.checked_sub(start_at).filter(|&length| length > 0),
        (None, _, None) => None,
    };
    let Some(length) = length else {
        return Err(complaint(
            job,
            format!("the job starts at byte {start_at}, beyond the end of {name}"),
        )
        .into());
    };
    let used = start_at.checked_add(length).ok_or_else(too_large)?;
    let end = if name.starts_with("/dev/") { device.unwrap_or(used) } else { used };
    if end < used && start_at >= end {
        return Err(complaint(
            job,
            format!("the job starts at byte {start_at}, beyond the end of {name}"),
        )
        .into());
    }
    let length = length.min(end - start_at);
    let restart = start(job, end).unwrap_or(start_at).min(end);
    Ok(FileRange { name: name.into(), region: 0, start: start_at, restart, length, end })
}

/// Returns the first byte that the job uses in a file of `size` bytes. Percentages are rounded up
/// to whole blocks.
fn start(job: &Job, size: u64) -> Option<u64> {
    let share = |value: Size| match value {
        Size::Bytes(bytes) => bytes,
        Size::Percent(percent) => part(size, percent),
    };
    let step = share(job.offset_increment).checked_mul(u64::from(job.clone))?;
    let start = share(job.offset).checked_add(step)?;
    let rounded = [job.offset, job.offset_increment]
        .iter()
        .any(|value| matches!(value, Size::Percent(percent) if *percent > 0));
    if !rounded {
        return Some(start);
    }
    let align = job.offset_align.unwrap_or_else(|| u64::from(job.min_block())).max(1);
    start.checked_next_multiple_of(align)
}
