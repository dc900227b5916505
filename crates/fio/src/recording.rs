//! A log of requests that a job repeats (`read_iolog`) instead of drawing its own.
//!
//! Source: fio's HOWTO on `read_iolog` and `replay_*`, and what fio 3.33 was seen to do. It takes
//! the files from the log, or all as one (`replay_redirect`), and replays the log once, whatever
//! `loops`, `size`, `number_ios` and `fsync` say. `end_fsync` and `verify` follow it.
//! `replay_time_scale=200` halves the times. Offsets are divided by `replay_scale` and then rounded
//! down to `replay_align`; lengths stay.

use crate::job::{Job, Kind, Op, Replay};
use crate::request::{Request, Step};
use fowler_units::{Diagnostic, Diagnostics, Span};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Largest number of requests in the logs of all jobs: they are held in memory, 40 bytes each.
const MOST: usize = 1 << 24;
/// The latest time at which a log's last request may be due: simulated time ends after 584 years.
const LATEST: Span = Span::ms(100 * 365 * 86_400_000);

/// A request of a log that a job repeats.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// Time at which the request was issued, counted from the start of the fio log (`read_iolog`)
    /// that the job repeats.
    pub at: Span,
    /// Operation of the request.
    pub op: Op,
    /// Index of the request's file in the log, from 0.
    pub file: u32,
    /// First byte of the request in its file; zero for a flush.
    pub offset: u64,
    /// Length of the request in bytes; zero for a flush.
    pub length: u32,
}

/// A log of requests that a job repeats (`read_iolog`).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Recording {
    /// Names of the files that the recorded fio log accesses.
    pub files: Vec<String>,
    /// Requests of the recorded log, in its order.
    pub requests: Vec<Recorded>,
    /// End of the last byte that the recorded fio log accesses in each file, in bytes.
    reach: Vec<u64>,
}

/// Function that reads a recorded log of requests (`read_iolog`), given its name and the largest
/// number of requests that it may have.
pub type ReadRecording = dyn Fn(&str, usize) -> Result<Recording, Diagnostics>;

impl Recording {
    /// Returns a recorded log of requests that a job replays (`read_iolog`): `files` are the names
    /// of the files that it accesses, `requests` the requests, each with the index of its file.
    pub fn new(files: Vec<String>, requests: Vec<Recorded>) -> Recording {
        let mut reach = vec![0; files.len()];
        for request in &requests {
            let end = &mut reach[request.file as usize];
            *end = request.offset.saturating_add(u64::from(request.length)).max(*end);
        }
        Recording { files, requests, reach }
    }

    /// Returns the recorded log with the files, offsets and times of the requests changed as fio's
    /// replay options in `replay` ask.
    fn arranged(mut self, replay: &Replay) -> Recording {
        self.requests.retain(|it| !replay.skip.contains(&it.op));
        for request in &mut self.requests {
            let scaled = request.offset / u64::from(replay.scale.max(1));
            request.offset = scaled - scaled % u64::from(replay.align.max(1));
            let at = u128::from(request.at.0) * 100 / u128::from(replay.time_scale.max(1));
            request.at = match replay.no_stall {
                true => Span::ZERO,
                false => Span(u64::try_from(at).unwrap_or(u64::MAX)),
            };
            if replay.redirect.is_some() {
                request.file = 0;
            }
        }
        if let Some(name) = &replay.redirect {
            self.files = vec![name.clone()];
        }
        Recording::new(self.files, self.requests)
    }

    /// Returns the offset at which the requests to a file end, in bytes.
    pub(crate) fn end_of(&self, file: usize) -> u64 {
        self.reach[file]
    }
}

/// Reads the log of every job with `read_iolog`.
pub(crate) fn read_all(jobs: &mut [Job], read: &ReadRecording) -> Result<(), Diagnostics> {
    let mut problems = Diagnostics::default();
    let mut left = MOST;
    let mut known: BTreeMap<(String, Replay), Arc<Recording>> = BTreeMap::new();
    for job in jobs {
        let Some(replay) = &job.replay else { continue };
        let names: Vec<&str> = replay.iolog.split(':').collect();
        let name = names[job.clone as usize % names.len()];
        let key = (name.to_string(), replay.clone());
        let recording = match known.get(&key) {
            Some(recording) => recording.clone(),
            None => {
                let Some(found) = problems.take(read(name, left)) else { continue };
                left -= found.requests.len().min(left);
                let recording = Arc::new(found.arranged(replay));
                known.insert(key, recording.clone());
                recording
            }
        };
        let last = recording.requests.last();
        let wrong = match last {
            None => Some(format!("`read_iolog`: {name} has no request to replay")),
            Some(last) if last.at > LATEST => {
                Some(format!("`read_iolog`: the last request of {name} is due after 100 years"))
            }
            Some(_) => None,
        };
        if let Some(what) = wrong {
            let diagnostic = Diagnostic::new(&job.file, what).line(job.line);
            problems.push(diagnostic.text(format!("[{}]", job.name)));
            continue;
        }
        let has = |op| recording.requests.iter().any(|it| it.op == op);
        let (reads, writes) = (has(Op::Read), has(Op::Write));
        job.kind = Kind { reads, writes, trims: has(Op::Trim) && !writes, random: false };
        job.files.clone_from(&recording.files);
        job.recording = Some(recording);
    }
    problems.or(())
}

/// Progress of a job that repeats a log of requests.
#[derive(Clone, Debug)]
pub(crate) struct Replaying {
    recording: Arc<Recording>,
    next: usize,
    /// True if the replay has returned the time of the next request, so that it returns the request
    /// itself next.
    timed: bool,
}

impl Replaying {
    pub fn new(recording: Arc<Recording>) -> Replaying {
        Replaying { recording, next: 0, timed: false }
    }

    /// Returns the next step of the replay: the time of a request, and then the request.
    pub fn step(&mut self) -> Step {
        let Some(&recorded) = self.recording.requests.get(self.next) else { return Step::Done };
        if !self.timed && recorded.at > Span::ZERO {
            self.timed = true;
            return Step::NotBefore(recorded.at);
        }
        self.timed = false;
        self.next += 1;
        let Recorded { op, file, offset, length, .. } = recorded;
        Step::Issue(Request { offset, length, file, op, verify: false })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn recording() -> Recording {
        let request =
            |at, op, file, offset, length| Recorded { at: Span::us(at), op, file, offset, length };
        let requests = vec![
            request(1_000, Op::Read, 0, 4096, 4096),
            request(51_000, Op::Write, 1, 8192, 16_384),
            request(51_100, Op::Sync, 1, 0, 0),
            request(101_200, Op::Read, 0, 65_536, 512),
            request(101_400, Op::Write, 1, 1000, 3000),
        ];
        Recording::new(vec!["/dev/a".into(), "b".into()], requests)
    }

    /// As fio 3.33 replayed this log.
    #[test]
    fn offsets_are_scaled_and_then_aligned_and_lengths_stay() {
        let replay = Replay {
            scale: 2,
            align: 4096,
            time_scale: 200,
            redirect: Some("all".into()),
            skip: vec![Op::Sync],
            ..Replay::default()
        };
        let arranged = recording().arranged(&replay);
        let seen: Vec<_> = arranged.requests.iter().map(|it| (it.offset, it.length)).collect();
        assert_eq!(seen, [(0, 4096), (4096, 16_384), (32_768, 512), (0, 3000)]);
        assert!(arranged.requests.iter().all(|it| it.file == 0));
        assert_eq!(
            (arranged.files, arranged.requests[1].at),
            (vec!["all".into()], Span(25_500_000))
        );
        let at_once = recording().arranged(&Replay { no_stall: true, ..Replay::default() });
        assert!(at_once.requests.iter().all(|it| it.at == Span::ZERO));
        assert_eq!([0, 1].map(|file| at_once.end_of(file)), [66_048, 24_576]);
    }

    #[test]
    fn the_time_of_a_request_comes_before_it() {
        let mut replaying = Replaying::new(Arc::new(recording()));
        assert_eq!(replaying.step(), Step::NotBefore(Span(1_000_000)));
        let first = Request { offset: 4096, length: 4096, file: 0, op: Op::Read, verify: false };
        assert_eq!(replaying.step(), Step::Issue(first));
    }
}
