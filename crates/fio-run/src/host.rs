//! The host: its processes, which of them run when, and the drive below them.
//!
//! Processes of a wave begin together once every earlier wave has ended (`stonewall`), each after
//! its own `startdelay` and after the jobs that it waits for.

use super::plan::{Direction, Ends, Plan};
use super::process::Process;
use super::steady_state::Criterion;
use fowler_device::{Completion, Counters, Device, Feed, Layer};
use fowler_experiment::progress::{Control, Progress};
use fowler_units::{HostIo, Nanos};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Number of actions of processes between two checks of the stop flag and two steps of the progress
/// display.
const LOOK_EVERY: u64 = 4096;

/// Counters of the drive at the start and at the end of the measurement of a group of jobs.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Counted {
    pub before: Option<Counters>,
    pub after: Option<Counters>,
}

/// Processes of a run, and which of them act when.
pub(super) struct Host<'a> {
    pub processes: Vec<Process<'a>>,
    pub criteria: Vec<Criterion>,
    /// Counters of the drive at the start and at the end of the measurement of each group of jobs,
    /// by group.
    pub counted: Vec<Counted>,
    /// Time of each process's next action, and a heap of these times. An outdated entry of the heap
    /// is dropped when it comes first.
    due: Vec<Option<Nanos>>,
    next: BinaryHeap<Reverse<(Nanos, usize)>>,
    control: Control<'a>,
    began: Nanos,
    acts: u64,
    answered: u64,
    reported: u64,
    share: f64,
    stopped: bool,
}

impl<'a> Host<'a> {
    /// Returns a host whose first processes, those before any `stonewall`, begin at `now`.
    pub fn new(processes: Vec<Process<'a>>, control: Control<'a>, now: Nanos) -> Host<'a> {
        let groups = processes.iter().map(|it| it.plan.group + 1).max().unwrap_or(0);
        let mut criteria: Vec<Criterion> = Vec::new();
        for (number, process) in processes.iter().enumerate() {
            let Some(steady) = process.plan.steady else { continue };
            match criteria.last_mut() {
                Some(last) if processes[last.members.start].plan.job == process.plan.job => {
                    last.members.end = number + 1;
                }
                _ => criteria.push(Criterion::new(steady, number..number + 1)),
            }
        }
        let counted = vec![Counted::default(); groups];
        let stopped = control.stopped();
        let mut host = Host {
            due: vec![None; processes.len()],
            next: BinaryHeap::new(),
            processes,
            criteria,
            counted,
            control,
            began: now,
            acts: 0,
            answered: 0,
            reported: 0,
            share: 0.0,
            stopped,
        };
        if !stopped {
            host.let_begin(now);
        }
        host
    }

    /// Starts every process that no longer waits for another.
    fn let_begin(&mut self, now: Nanos) {
        let running = |it: &&Process<'_>| !it.has_ended();
        let wave = self.processes.iter().filter(running).map(|it| it.plan.wave).min();
        let unended: Vec<String> =
            self.processes.iter().filter(running).map(|it| it.plan.name.clone()).collect();
        for process in &mut self.processes {
            let waits = process.plan.waits_for.as_ref().is_some_and(|it| unended.contains(it));
            if Some(process.plan.wave) == wave && !process.has_begun() && !waits {
                process.begin(now.max(self.began + process.plan.delay));
            }
        }
        for criterion in &mut self.criteria {
            let members = &self.processes[criterion.members.clone()];
            if criterion.due().is_none() && members.iter().all(|it| it.has_begun()) {
                let from = members.iter().map(|it| it.record.from()).max();
                criterion.begin(from.unwrap_or(now));
            }
        }
        self.schedule_all();
    }

    /// Handles the end of a process, which may end others or let them begin.
    fn ended(&mut self, number: usize, now: Nanos) {
        let Plan { ends, group, wave, .. } = self.processes[number].plan;
        for process in &mut self.processes {
            let goes = match ends {
                Ends::Itself => false,
                Ends::Group => process.plan.group == group,
                Ends::Wave => process.plan.wave == wave,
                Ends::All => true,
            };
            if goes && !process.has_ended() {
                process.ask_to_end(now);
            }
        }
        self.let_begin(now);
    }

    /// Records the time of a process's next action, if it has changed.
    #[inline]
    fn schedule(&mut self, number: usize) {
        let due = self.processes[number].due();
        if self.due[number] != due {
            self.due[number] = due;
            self.next.extend(due.map(|at| Reverse((at, number))));
        }
        // Entries that have changed since are dropped now and then.
        if self.next.len() > 4 * self.due.len() + 64 {
            let due = self.due.iter().enumerate();
            self.next = due.filter_map(|(number, at)| Some(Reverse(((*at)?, number)))).collect();
        }
    }

    fn schedule_all(&mut self) {
        (0..self.processes.len()).for_each(|number| self.schedule(number));
    }

    /// Returns the process that acts next, and the time of its action.
    fn first_process(&mut self) -> Option<(Nanos, usize)> {
        while let Some(&Reverse((at, number))) = self.next.peek() {
            if self.due[number] == Some(at) {
                return Some((at, number));
            }
            self.next.pop();
        }
        None
    }

    /// Updates a process of a flow with the numbers of requests that the other processes issued.
    fn compare_with_others(&mut self, number: usize) {
        let Some(share) = self.processes[number].plan.share else { return };
        let others = self.of_flow(number, share.flow).fold((0, 0_u32), |(issued, weights), it| {
            let weight = it.plan.share.map_or(0, |share| share.weight);
            (issued + it.standing.issued, weights.wrapping_add(weight))
        });
        self.processes[number].standing.others = others;
    }

    /// Returns the running processes of a flow other than process `number`.
    fn of_flow(&self, number: usize, flow: u32) -> impl Iterator<Item = &Process<'a>> {
        let all = self.processes.iter().enumerate();
        all.filter(move |(other, _)| *other != number).map(|(_, it)| it).filter(move |it| {
            let runs = it.has_begun() && !it.has_ended();
            runs && it.plan.share.is_some_and(|share| share.flow == flow)
        })
    }

    /// Wakes the waiting processes of a flow after one has issued a request or ended.
    fn let_others_look(&mut self, number: usize, now: Nanos) {
        let Some(share) = self.processes[number].plan.share else { return };
        let same =
            |process: &Process<'_>| process.plan.share.is_some_and(|it| it.flow == share.flow);
        self.processes.iter_mut().filter(|it| same(it)).for_each(|it| it.look_again(now));
        self.schedule_all();
    }

    /// Returns the next action, of a process or of a steady-state criterion, and its time.
    fn first(&mut self) -> Option<(Nanos, usize)> {
        let process = self.first_process();
        // A sample is due only while something runs: alone it would go on forever.
        let runs = |criterion: &Criterion| {
            self.processes[criterion.members.clone()]
                .iter()
                .any(|it| it.has_begun() && !it.has_ended())
        };
        let criteria = self
            .criteria
            .iter()
            .map(|criterion| if runs(criterion) { criterion.due() } else { None });
        let criteria = (self.processes.len()..).zip(criteria);
        let criteria = criteria.filter_map(|(number, at)| at.map(|at| (at, number)));
        process.into_iter().chain(criteria).min()
    }

    /// Takes the sample of a steady-state criterion.
    fn sample(&mut self, number: usize, now: Nanos) {
        let criterion = &mut self.criteria[number];
        let members = &mut self.processes[criterion.members.clone()];
        let done = members.iter().fold((0, 0), |(bytes, requests), it| {
            let of = |direction: Direction| &it.record.stats.done[direction];
            let moved: u64 = Direction::ALL.iter().map(|&direction| of(direction).bytes).sum();
            (bytes + moved, requests + it.record.stats.requests())
        });
        if criterion.sample(done) {
            members.iter_mut().filter(|it| !it.has_ended()).for_each(|it| it.ask_to_end(now));
            self.schedule_all();
        }
    }

    fn look(&mut self, now: Nanos) {
        self.stopped |= self.control.stopped();
        let all = self.processes.len().max(1) as f64;
        let share = self.processes.iter().map(|it| it.share(now)).sum::<f64>() / all;
        let of_a_part = (share - self.share).max(0.0);
        self.share += of_a_part;
        let requests = self.answered - self.reported;
        self.reported = self.answered;
        (self.control.progress)(Progress::Served { requests, of_a_part });
    }

    /// Records the drive's counters when the measurement of a group of jobs starts or ends.
    fn count<L: Layer>(&mut self, device: &Device<L>, number: usize, at: Nanos) {
        let process = &self.processes[number];
        let group = process.plan.group;
        let counted = &mut self.counted[group];
        if counted.before.is_none() && at >= process.record.from() {
            counted.before = Some(device.counters());
        }
        if process.has_ended() {
            counted.after = Some(device.counters());
        }
    }
}

impl<L: Layer> Feed<L> for Host<'_> {
    #[inline]
    fn due(&mut self) -> Option<Nanos> {
        if self.stopped {
            return None;
        }
        self.first().map(|(at, _)| at)
    }

    fn take(&mut self, device: &Device<L>, at: Nanos) -> Option<HostIo> {
        let (_, number) = self.first().expect("asked only when one is due");
        self.acts += 1;
        if self.acts.is_multiple_of(LOOK_EVERY) {
            self.look(at);
        }
        if number >= self.processes.len() {
            self.sample(number - self.processes.len(), at);
            return None;
        }
        self.compare_with_others(number);
        let process = &mut self.processes[number];
        let issued = process.standing.issued;
        let sent = process.act(at);
        let (ended, moved) = (process.has_ended(), process.standing.issued > issued);
        self.count(device, number, at);
        if ended {
            self.ended(number, at);
        }
        if ended || moved {
            self.let_others_look(number, at);
        }
        self.schedule(number);
        sent
    }

    fn answered(&mut self, _: &Device<L>, completion: &Completion) {
        self.answered += 1;
        let number = usize::from(completion.io.queue.0);
        self.processes[number].answered(&completion.io, completion.done);
        self.schedule(number);
    }
}
