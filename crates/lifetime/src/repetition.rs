//! Replays a workload repeatedly within a life. The requests of a trace stay in memory if they fit,
//! because a life repeats a one-minute trace millions of times, and parsing takes longer than
//! serving.

use super::survey::changes_data;
use fowler_experiment::diagnostic::Diagnostics;
use fowler_experiment::workload::{Control, Workload};
use fowler_units::{Bytes, HostIo, HostOp, Nanos};

/// The most requests of a repeated workload that stay in memory.
const IN_MEMORY_MOST: usize = 1 << 21;

/// A workload that is repeated over a drive's life.
#[derive(Clone, Debug)]
pub(super) struct Repetition<'a> {
    workload: &'a Workload,
    limit: Option<u64>,
    /// Arrival time of the first request of a trace; zero for generated workloads, which begin with
    /// a gap.
    first: Nanos,
    /// Requests that change data (writes and trims), if every repetition of the workload has the
    /// same requests and there are at most [`IN_MEMORY_MOST`] of them.
    in_memory: Option<Vec<HostIo>>,
}

impl<'a> Repetition<'a> {
    /// The most memory that the requests of a repetition take.
    pub const MEMORY: Bytes = Bytes((IN_MEMORY_MOST * size_of::<HostIo>()) as u64);

    /// Returns repetitions of a workload that read or generate its requests anew each time, instead
    /// of holding them in memory.
    pub fn read_anew(workload: &'a Workload, limit: Option<u64>) -> Repetition<'a> {
        Repetition { workload, limit, first: Nanos::ZERO, in_memory: None }
    }

    /// Reads the requests that change data into memory, if that is possible.
    ///
    /// # Errors
    /// If the workload cannot be read.
    pub fn in_memory(
        workload: &'a Workload,
        limit: Option<u64>,
        control: Control<'_>,
    ) -> Result<Repetition<'a>, Diagnostics> {
        let mut repetition = Repetition::read_anew(workload, limit);
        if !workload.is_same_every_round() {
            return Ok(repetition);
        }
        let mut requests = Vec::with_capacity(IN_MEMORY_MOST + 1);
        let failed = repetition.replay(0, false, control, |all| {
            requests.extend(all.take(IN_MEMORY_MOST + 1));
        })?;
        repetition.first = requests.first().map_or(Nanos::ZERO, |io| io.at);
        // Errors of the workload are reported when it is replayed.
        let whole = failed.is_none() && requests.len() <= IN_MEMORY_MOST && !control.stopped();
        requests.shrink_to_fit();
        repetition.in_memory = whole.then_some(requests);
        Ok(repetition)
    }

    /// Returns a request with its time counted from the first one of the trace: a trace may count
    /// from 1970.
    pub fn since_first(&self, io: HostIo) -> HostIo {
        io.with_at(Nanos(io.at.0.saturating_sub(self.first.0)))
    }

    /// Returns an endless sequence of repetitions of the requests, all with the times of the first.
    /// `None` if the requests are not in memory, or contain no write.
    pub fn endless(&self, control: Control<'a>) -> Option<impl Iterator<Item = HostIo> + '_> {
        let writes = |io: &HostIo| io.op == HostOp::Write && io.size > 0;
        let requests = self.in_memory.as_ref().filter(|all| all.iter().any(writes))?;
        Some(requests.iter().copied().cycle().take_while(move |_| !control.stopped()))
    }

    /// Passes the writes and trims of one repetition of the workload to the function `serve`; with
    /// `reads`, also the reads. If the workload fails midway, `serve` gets the requests before the
    /// failure, and the error is the inner value of the result (`Ok(Some(error))`).
    ///
    /// # Errors
    ///
    /// If the workload cannot be read, or was stopped before the first request.
    pub fn replay(
        &self,
        round: u64,
        reads: bool,
        control: Control<'_>,
        serve: impl FnOnce(&mut dyn Iterator<Item = HostIo>),
    ) -> Result<Option<Diagnostics>, Diagnostics> {
        if let Some(requests) = self.in_memory.as_ref().filter(|_| !reads) {
            serve(&mut requests.iter().copied().take_while(|_| !control.stopped()));
            return Ok(None);
        }
        let matters = |io: &HostIo| {
            let read = reads && io.op == HostOp::Read;
            (changes_data(io) || read) && io.size > 0
        };
        let replayed = self.workload.replay_round(round, 1.0, self.limit, control, |requests| {
            serve(&mut requests.filter(matters));
        });
        replayed.map(|(_, failed)| failed)
    }
}
