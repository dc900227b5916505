//! Measures how well the hits of a page in the buffer predict its later use, compared with an
//! oracle that knows the rest of the trace.
//!
//! The LRU list of section 3.1 is run on the page references of a workload, without a drive. An
//! evicted page is classified by its hits and, by the same rule, by its future references.

use crate::run_folder::Job;
use crate::studies;
use fowler_device::policy::custom::Used;
use fowler_device::policy::hotness::Hotness;
use fowler_device::{AccessClass, ByClass};
use fowler_experiment::device_spec::{DeviceSpec, Resolved, resolve};
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::scheme::Scheme;
use fowler_experiment::workload::{Control, WorkloadSpec};
use fowler_units::HostOp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Number of future references that a short-sighted oracle knows: enough to tell 20 reads of 21
/// from 21 of 21.
const NEAR: usize = 21;

/// Returns the name of the job for a workload that compares the access classes given by hits in the
/// buffer with those of an oracle, which knows all later references to a page.
pub(super) fn name(column: &str) -> String {
    format!("{column} oracle")
}

/// Returns a job of the HIRE study that compares, under a workload, the access classes (such as
/// read-hot) of pages evicted from the buffer with those of an oracle, which knows the later
/// references to each page.
pub(super) fn job<'a>(
    column: &str,
    device: DeviceSpec,
    workload: &WorkloadSpec,
    limit: Option<u64>,
) -> Result<Job<'a, Judged>, Diagnostics> {
    let drive = resolve(&device.source()?, &Scheme::load("hire")?, &device)?;
    let workload = workload.clone();
    let inputs = format!("{} {} {limit:?}", drive.hash, workload.identity()?);
    Ok(Job::new(name(column), &inputs, move |control| {
        let references = References::of(&drive, &workload, limit, control)?;
        Ok(references.judged(&drive, control))
    }))
}

/// The accesses of a workload to pages, in order of arrival.
struct References {
    /// Accesses to pages in order of arrival: the index of the page among all pages that the
    /// workload accesses, and true for a write.
    all: Vec<(u32, bool)>,
    /// For each page, index of its first reference in the list of references grouped by page.
    begins: Vec<u32>,
    /// Running count of writes over the accesses grouped by page: the entry at an index is the
    /// number of writes among all accesses with a lower index.
    writes_before: Vec<u32>,
}

impl References {
    fn of(
        drive: &Resolved,
        workload: &WorkloadSpec,
        limit: Option<u64>,
        control: Control<'_>,
    ) -> Result<References, Diagnostics> {
        let page_size = drive.config.geometry.page_size.0;
        let mut raw: Vec<(u32, bool)> = Vec::new();
        studies::requests(workload, drive, limit, control, |requests| {
            for io in requests {
                if matches!(io.op, HostOp::Read | HostOp::Write) && io.size > 0 {
                    let last = (io.offset + u64::from(io.size) - 1) / page_size;
                    let pages = io.offset / page_size..=last;
                    raw.extend(pages.map(|page| (page as u32, io.op == HostOp::Write)));
                }
            }
        })?;
        Ok(References::new(raw))
    }

    fn new(mut all: Vec<(u32, bool)>) -> References {
        let mut pages: Vec<u32> = all.iter().map(|&(page, _)| page).collect();
        pages.sort_unstable();
        pages.dedup();
        for (page, _) in &mut all {
            *page = pages.binary_search(page).map_or(0, |at| at as u32);
        }
        let mut of_pages: Vec<u32> = (0..all.len() as u32).collect();
        of_pages.sort_by_key(|&at| all[at as usize].0);
        let mut begins = vec![0; pages.len() + 1];
        for &(page, _) in &all {
            begins[page as usize + 1] += 1;
        }
        for page in 0..pages.len() {
            begins[page + 1] += begins[page];
        }
        let mut writes_before = Vec::with_capacity(all.len() + 1);
        let mut writes = 0;
        writes_before.push(writes);
        for &at in &of_pages {
            writes += u32::from(all[at as usize].1);
            writes_before.push(writes);
        }
        References { all, begins, writes_before }
    }

    /// Counts the reads and the writes among the references to a page from its `from`-th on, at
    /// most `most` references.
    fn future(&self, page: u32, from: usize, most: usize) -> (usize, usize) {
        let (begin, end) =
            (self.begins[page as usize] as usize, self.begins[page as usize + 1] as usize);
        let first = begin + from;
        let last = end.min(first.saturating_add(most));
        let writes = (self.writes_before[last] - self.writes_before[first]) as usize;
        (last - first - writes, writes)
    }

    /// Compares the access class that the buffer gives each evicted page with that of an oracle,
    /// which knows the page's later references. Returns `None` if it was stopped.
    fn judged(&self, drive: &Resolved, control: Control<'_>) -> Option<Judged> {
        let mut hotness = Hotness::new(&drive.config.hotness, drive.config.geometry.page_size);
        let mut class = |(reads, writes)| {
            let all = reads + writes;
            hotness.class(Used::often(capped(reads, all), capped(writes, all)))
        };
        let mut tally = Tally::default();
        for page in (0..self.begins.len() as u32 - 1).take_while(|_| !control.stopped()) {
            let (reads, writes) = self.future(page, 0, usize::MAX);
            let page_class = class((reads, writes));
            tally.pages[page_class] += 1;
            tally.reads[page_class] += reads as u64;
            tally.writes[page_class] += writes as u64;
        }
        let frames = drive.layout.frames.saturating_sub(drive.config.buffer.evict_ahead).max(1);
        self.evictions(frames as usize, |page, hits, so_far| {
            let predicted = class(hits);
            for (verdicts, most) in [(&mut tally.rest, usize::MAX), (&mut tally.near, NEAR)] {
                match self.future(page, so_far, most) {
                    (0, 0) => verdicts.never += 1,
                    future => verdicts.predicted[predicted][class(future)] += 1,
                }
            }
            !control.stopped()
        });
        (!control.stopped()).then(|| tally.judged())
    }

    /// Simulates a least-recently-used (LRU) list of `frames` frames. At each eviction it calls
    /// `leaves` with the page, the page's reads and writes while in the list, and the number of its
    /// accesses up to then; ends once `leaves` returns false.
    fn evictions(&self, frames: usize, mut leaves: impl FnMut(u32, (usize, usize), usize) -> bool) {
        let pages = self.begins.len() - 1;
        // The last use of each page, and its reads and writes since it was inserted; `None` if it
        // is not in the list.
        let mut used: Vec<Option<(u64, usize, usize)>> = vec![None; pages];
        let mut so_far = vec![0usize; pages];
        let mut list: BTreeMap<u64, u32> = BTreeMap::new();
        for (now, &(page, wrote)) in self.all.iter().enumerate() {
            let entry = &mut used[page as usize];
            if let Some((last, ..)) = entry {
                list.remove(last);
            }
            let (reads, writes) = entry.map_or((0, 0), |(_, reads, writes)| (reads, writes));
            let (reads, writes) = (reads + usize::from(!wrote), writes + usize::from(wrote));
            *entry = Some((now as u64, reads, writes));
            so_far[page as usize] += 1;
            list.insert(now as u64, page);
            if list.len() > frames
                && let Some((_, oldest)) = list.pop_first()
                && let Some((_, reads, writes)) = used[oldest as usize].take()
                && !leaves(oldest, (reads, writes), so_far[oldest as usize])
            {
                return;
            }
        }
    }
}

/// Returns the number `part` of one kind among `all` accesses to a buffered page, scaled down if it
/// does not fit the 16 bits in which the buffer stores it. Only shares of kinds matter.
fn capped(part: usize, all: usize) -> u16 {
    let scale = (all >> 15) + 1;
    (part / scale) as u16
}

/// Counts of pages and of accesses by access class (such as read-hot), and comparisons with an
/// oracle.
#[derive(Default)]
struct Tally {
    /// Number of pages of each access class (read-hot, write-hot or mixed) in the whole trace.
    pages: ByClass<u64>,
    /// Number of reads in the whole trace that go to pages of each access class (read-hot,
    /// write-hot or mixed).
    reads: ByClass<u64>,
    /// Number of writes in the whole trace that go to pages of each access class (read-hot,
    /// write-hot or mixed).
    writes: ByClass<u64>,
    /// Pages evicted from the buffer, compared with an oracle that knows all future references.
    rest: Verdicts,
    /// Pages evicted from the buffer, compared with an oracle that knows the next 21 references.
    near: Verdicts,
}

/// Numbers of pages evicted from the buffer, by the class that the buffer gave them and the class
/// by their later references (the oracle's).
#[derive(Default)]
struct Verdicts {
    predicted: Predicted,
    /// Number of evicted pages without a later access in the trace.
    never: u64,
}

/// Results for one workload of comparing the buffer's access classes of pages (such as read-hot)
/// with those of an oracle, which knows all later references. Shares without any page to count are
/// `None`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Judged {
    /// Share (0 to 1) of each access class (read-hot, write-hot or mixed) in the pages of the whole
    /// trace.
    pages: Shares,
    /// Share (0 to 1) of the host reads that go to read-hot, to write-hot and to mixed pages.
    pub reads: Shares,
    /// Share (0 to 1) of the host writes that go to read-hot, to write-hot and to mixed pages.
    pub writes: Shares,
    /// Number of pages evicted from the write buffer.
    left: u64,
    /// Share (0 to 1) of the evicted pages that have no later access in the trace.
    pub never_again: Option<f64>,
    /// Share (0 to 1) of the evicted pages used again whose access class is the same by their hits
    /// in the buffer and by all later references in the trace.
    pub accuracy: Option<f64>,
    /// Share (0 to 1) of the evicted pages used again whose access class is the same by their hits
    /// in the buffer and by the next 21 references.
    pub accuracy_near: Option<f64>,
    pub precision: Precision,
}

/// Shares (0 to 1) of read-hot, write-hot and mixed pages in a count of pages or of accesses to
/// them.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shares {
    pub mixed: Option<f64>,
    read_hot: Option<f64>,
    write_hot: Option<f64>,
    count: u64,
}

/// Precision of the buffer's access classes: for each class, the share (0 to 1) of its pages that
/// later references, known to an oracle, put in the same class.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Precision {
    pub mixed: Option<f64>,
    pub read_hot: Option<f64>,
    pub write_hot: Option<f64>,
}

/// Numbers of evicted pages by the access class that the buffer gave them (outer index), then by
/// the class of their later references (inner index).
type Predicted = ByClass<ByClass<u64>>;

impl Tally {
    fn judged(&self) -> Judged {
        let (rest, near) = (self.rest.predicted, self.near.predicted);
        let never = self.rest.never;
        let left = sum(&rest) + never;
        Judged {
            pages: shares(self.pages),
            reads: shares(self.reads),
            writes: shares(self.writes),
            left,
            never_again: (left > 0).then(|| never as f64 / left as f64),
            accuracy: accuracy(rest),
            accuracy_near: accuracy(near),
            precision: Precision {
                mixed: precision(rest, AccessClass::Mixed),
                read_hot: precision(rest, AccessClass::ReadHot),
                write_hot: precision(rest, AccessClass::WriteHot),
            },
        }
    }
}

fn shares(counts: ByClass<u64>) -> Shares {
    let count = counts.sum();
    let of = |pages: u64| (count > 0).then(|| pages as f64 / count as f64);
    let [mixed, read_hot, write_hot] = counts.map(of).into_array();
    Shares { mixed, read_hot, write_hot, count }
}

fn sum(predicted: &Predicted) -> u64 {
    predicted.values().map(ByClass::sum).sum()
}

fn accuracy(predicted: Predicted) -> Option<f64> {
    let all = sum(&predicted);
    let right: u64 = AccessClass::ALL.into_iter().map(|class| predicted[class][class]).sum();
    (all > 0).then(|| right as f64 / all as f64)
}

fn precision(predicted: Predicted, class: AccessClass) -> Option<f64> {
    let all: u64 = predicted[class].sum();
    (all > 0).then(|| predicted[class][class] as f64 / all as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Parses references such as `r1` (read) and `w1` (write).
    fn references(text: &str) -> References {
        let one = |word: &str| (word[1..].parse().unwrap(), word.starts_with('w'));
        References::new(text.split_whitespace().map(one).collect())
    }

    #[test]
    fn the_oracle_knows_what_is_to_come() {
        let r = references("w7 r9 r7 r7 w9 w9");
        assert_eq!(r.future(0, 0, 99), (2, 1));
        assert_eq!(r.future(0, 1, 99), (2, 0));
        assert_eq!(r.future(1, 1, 99), (0, 2));
        assert_eq!(r.future(1, 1, 1), (0, 1));
        assert_eq!(r.future(1, 3, 99), (0, 0));
    }

    #[test]
    fn pages_leave_by_last_use_with_their_hits() {
        let mut left = Vec::new();
        references("w1 r2 r1 r3 r4 w2 r1").evictions(2, |page, hits, so_far| {
            left.push((page + 1, hits, so_far));
            true
        });
        // Page 2 was used before page 1; 1 counts a write and a read; then 3, then 4.
        assert_eq!(left, [(2, (1, 0), 1), (1, (1, 1), 2), (3, (1, 0), 1), (4, (1, 0), 1)]);
    }

    #[test]
    fn shares_survive_large_counts() {
        assert_eq!(capped(20, 21), 20);
        let (part, rest) = (capped(200_000, 210_000), capped(10_000, 210_000));
        assert!((f64::from(part) / f64::from(part + rest) - 200.0 / 210.0).abs() < 1e-3);
    }
}
