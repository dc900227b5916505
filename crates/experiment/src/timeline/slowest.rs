//! Finds the slowest requests of a run.

use super::recorder::Life;
use fowler_device::{Completion, Device, FlashStep, Layer, Probe, Steps};
use fowler_units::{HostOp, Id, Nanos};

/// The probe that finds the slowest reads and writes, and the dies of their operations. Among
/// equally slow requests, those that complete first are kept.
#[derive(Clone, Debug)]
pub(super) struct Slowest {
    count: usize,
    next: u64,
    origin: Nanos,
    /// The slowest requests so far, slowest first.
    found: Vec<Life>,
    /// For each host request in flight, the dies of its operations so far; indexed by the request's
    /// ID, which is reused after its completion.
    dies: Vec<Vec<u32>>,
}

impl Slowest {
    pub fn new(count: usize) -> Slowest {
        let found = Vec::with_capacity(count + 1);
        Slowest { count, next: 0, origin: Nanos::ZERO, found, dies: Vec::new() }
    }

    /// Returns the slowest requests of the run, slowest first.
    pub fn lives(self) -> Vec<Life> {
        self.found
    }
}

impl<L: Layer> Probe<L> for Slowest {
    fn completed(&mut self, completion: &Completion) {
        let number = self.next;
        self.next += 1;
        let dies = self.dies.get_mut(completion.id.index());
        let place = match completion.io.op {
            HostOp::Read | HostOp::Write => {
                let latency = completion.latency();
                self.found.partition_point(|request| request.until - request.from >= latency)
            }
            HostOp::Trim | HostOp::Flush => self.count,
        };
        if place < self.count {
            let origin = self.origin;
            let moment = |at| super::since(at, origin);
            let life = Life {
                number,
                request: completion.id,
                from: moment(completion.io.at),
                until: moment(completion.done),
                dies: dies.as_deref().cloned().unwrap_or_default(),
            };
            self.found.insert(place, life);
            self.found.truncate(self.count);
        }
        if let Some(dies) = dies {
            dies.clear();
        }
    }

    fn watches_flash(&self) -> Steps {
        Steps::All
    }

    fn stepped(&mut self, steps: &[FlashStep]) {
        for FlashStep { die, operation, .. } in steps {
            if !operation.request.is_some() {
                continue;
            }
            let frame = operation.request.index();
            if frame >= self.dies.len() {
                self.dies.resize_with(frame + 1, Vec::new);
            }
            if !self.dies[frame].contains(&die.0) {
                self.dies[frame].push(die.0);
            }
        }
    }

    fn begun(&mut self, device: &Device<L>) {
        self.origin = device.began();
    }
}
