//! Decoder of fio job files.

use crate::refused_in_words;
use fowler_fio::{Environment, Job, JobFile, Layout, Seeding, Sequence};

/// Capacity of the drive in bytes; small, so that maps of its blocks are small.
const CAPACITY: u64 = 16 << 20;
/// How many requests of a job are drawn.
const REQUESTS: usize = 200;
/// How many jobs are drawn from.
const JOBS: usize = 4;
/// The most blocks that a sequence is made for.
const BLOCKS: u64 = 1 << 16;

/// An accepted job file fits the drive, and its requests are inside their files.
pub fn check(input: &[u8]) -> bool {
    let Ok(text) = std::str::from_utf8(input) else { return false };
    let file = match JobFile::parse(text, "job.fio", &Environment::empty()) {
        Err(diagnostics) => return refused_in_words(&diagnostics),
        Ok(file) => file,
    };
    let layout = match Layout::new(&file.jobs, Some(CAPACITY)) {
        Err(diagnostics) => return refused_in_words(&diagnostics),
        Ok(layout) => layout,
    };
    let small = |job: &Job| CAPACITY / u64::from(job.min_block().max(1)) <= BLOCKS;
    for (number, (job, files)) in file.jobs.iter().zip(&layout.jobs).enumerate().take(JOBS) {
        if !small(job) || files.files.len() > 64 {
            continue;
        }
        for request in Sequence::new(job, files, Seeding::V335).take(REQUESTS) {
            let range = &files.files[request.file as usize];
            let end = request.offset + u64::from(request.length);
            assert!(request.op.is_flush() || end <= range.end, "{request:?} {range:?}");
            assert!(layout.drive_offset(number, request.file, end) <= CAPACITY, "{request:?}");
        }
    }
    true
}

pub fn seeds() -> Vec<Vec<u8>> {
    [
        "[global]\nbs=4k\nsize=1m\n[a]\nrw=randrw:3\nrwmixread=70\nfsync=4\nnumjobs=2\n",
        "[j]\nsize=10%\noffset=5%\nrw=randwrite\nbsrange=1k-16k\nverify=md5\nverify_backlog=8\n",
        "[j]\nsize=(2*512k)\nrw=randread\nrandom_distribution=zipf:1.2\nbssplit=4k/60:8k/\n",
        "[j]\nsize=1m\nfilename=a:b\nrw=trimwrite\nloops=2\nzonemode=strided\nzonesize=64k\n",
        "[j]\nsize=1m\nrw=randread\nrandom_generator=lfsr\nruntime=5m\ntime_based\nrate=1m,2m\n",
        "[j]\nrw=readrand\nBS=4k\nsize=${X}",
    ]
    .iter()
    .map(|text| text.as_bytes().to_vec())
    .collect()
}
