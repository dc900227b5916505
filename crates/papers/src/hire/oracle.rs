//! Measures how well the buffer's hits predict the use of a page, compared with an oracle that
//! knows the rest of the trace.
//!
//! The list of section 3.1 is run on the references of a workload, without a drive. An evicted page
//! is classified by its hits and, with the same rule, by its future references.

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

/// Number of references that a near oracle knows: enough to tell 20 of 21 apart.
const NEAR: usize = 21;

/// Returns the name of a workload's result.
pub(super) fn name(column: &str) -> String {
    format!("{column} oracle")
}

/// Returns a job that compares the list with the oracle for a workload.
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

/// References to pages in the order in which they come.
struct References {
    /// The index of each page among all pages referenced, and whether it is written.
    all: Vec<(u32, bool)>,
    /// First place of each page's references if all references are grouped by page.
    begins: Vec<u32>,
    /// Number of writes among the references before each place of that order.
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

    /// Counts the reads and writes among the references of a page from its `from`-th on, at most
    /// `most`.
    fn future(&self, page: u32, from: usize, most: usize) -> (usize, usize) {
        let (begin, end) =
            (self.begins[page as usize] as usize, self.begins[page as usize + 1] as usize);
        let first = begin + from;
        let last = end.min(first.saturating_add(most));
        let writes = (self.writes_before[last] - self.writes_before[first]) as usize;
        (last - first - writes, writes)
    }

    /// Returns the verdicts; `None` if it was stopped.
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

    /// Calls `leaves` with each page evicted from an LRU list of `frames` frames, its reads and
    /// writes while there, and the number of its references before, until `leaves` returns false.
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

/// Scales a count as the buffer stores it: only shares matter, so large counts are scaled down.
fn capped(part: usize, all: usize) -> u16 {
    let scale = (all >> 15) + 1;
    (part / scale) as u16
}

/// Counts by class.
#[derive(Default)]
struct Tally {
    /// Over the whole trace: pages of each class, and references to them.
    pages: ByClass<u64>,
    reads: ByClass<u64>,
    writes: ByClass<u64>,
    /// Evicted pages, judged by all future references, and by the next few.
    rest: Verdicts,
    near: Verdicts,
}

/// Evicted pages and the oracle's verdicts.
#[derive(Default)]
struct Verdicts {
    predicted: Predicted,
    /// Evicted pages without a later access in the trace.
    never: u64,
}

/// The list's verdicts on a workload, compared with the oracle's; shares of nothing are `None`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Judged {
    /// Over the whole trace: pages of each class, and references to them.
    pages: Shares,
    pub reads: Shares,
    pub writes: Shares,
    /// The pages evicted from the buffer, and the share of them never used again.
    left: u64,
    pub never_again: Option<f64>,
    /// Of the evicted pages that are used again, the share that the oracle classifies alike: by the
    /// rest of the trace, and by the next references.
    pub accuracy: Option<f64>,
    pub accuracy_near: Option<f64>,
    pub precision: Precision,
}

/// The distribution of a count over the classes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Shares {
    pub mixed: Option<f64>,
    read_hot: Option<f64>,
    write_hot: Option<f64>,
    count: u64,
}

/// Precision of the buffer's classes: for each class, the share of its pages that the oracle puts
/// in the same class.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Precision {
    pub mixed: Option<f64>,
    pub read_hot: Option<f64>,
    pub write_hot: Option<f64>,
}

/// Counts by the buffer's class and the oracle's class.
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
