//! Submission queues, and the order in which the controller takes writes from them.
//!
//! Queues take turns in the order of their numbers (NVMe Base Specification 2.0, 3.4.4). In its
//! turn a queue hands over as many commands as its weight, or as it has: one each in round robin.
//! The specification gives weights to three classes of queues; here each queue has a weight of its
//! own, which is a class of one queue.
//!
//! Invariants: commands of a queue leave in the order in which they joined; a bit of `waiting` is
//! set exactly while its queue holds a command; `commands` is the number of commands in all queues.

use crate::config::{Arbitration, QueueConfig, Weights};
use fowler_units::{Bytes, Id, QueueId, ReqId};

/// The submission queues of a drive, each of which holds commands in order of arrival.
#[derive(Clone, Debug)]
pub(super) struct Arbiter {
    weights: Weights,
    /// First and last command of each submission queue, up to the highest queue number used so far.
    queues: Vec<Ends>,
    /// One bit for each submission queue, set while the queue holds a command.
    waiting: Vec<u64>,
    /// For each command, by request number, the command behind it in its queue.
    next: Vec<ReqId>,
    /// Number of commands in all submission queues.
    commands: u32,
    /// The submission queue whose turn it is to hand over commands (`usize::MAX` before the first
    /// turn).
    turn: usize,
    /// Number of commands that the submission queue whose turn it is may still hand over to the
    /// drive in this turn, by its weight.
    left: u32,
}

/// The first and the last command of a submission queue.
#[derive(Clone, Copy, Debug)]
struct Ends {
    first: ReqId,
    last: ReqId,
}

/// Maximum number of submission queues: NVMe numbers them with 16 bits.
const QUEUES_MOST: u64 = 1 << 16;

impl Arbiter {
    /// Returns the submission queues of a drive; `None` if it takes commands in order of arrival.
    pub fn new(config: &QueueConfig) -> Option<Arbiter> {
        let weights = match config.arbitration {
            Arbitration::Arrival => return None,
            Arbitration::RoundRobin => Weights::EQUAL,
            Arbitration::Weighted => config.weights,
        };
        Some(Arbiter {
            weights,
            queues: Vec::new(),
            waiting: Vec::new(),
            next: vec![ReqId::NONE; config.depth as usize],
            commands: 0,
            // The first turn is that of the first queue.
            turn: usize::MAX,
            left: 0,
        })
    }

    /// Returns the memory that the submission queues take on the simulating machine.
    pub fn bytes(config: &QueueConfig) -> Bytes {
        match config.arbitration {
            Arbitration::Arrival => Bytes(0),
            _ => {
                let queues = Bytes::of::<Ends>(QUEUES_MOST) + Bytes::of::<u64>(QUEUES_MOST / 64);
                Bytes::of::<ReqId>(config.depth.into()) + queues
            }
        }
    }

    /// Returns the number of commands in all submission queues.
    pub fn commands(&self) -> u32 {
        self.commands
    }

    /// Puts a command at the end of a submission queue.
    pub fn push(&mut self, queue: QueueId, id: ReqId) {
        let number = usize::from(queue.0);
        if number >= self.queues.len() {
            let none = Ends { first: ReqId::NONE, last: ReqId::NONE };
            self.queues.resize(number + 1, none);
            self.waiting.resize(number / 64 + 1, 0);
        }
        let ends = &mut self.queues[number];
        if ends.first.is_some() {
            self.next[ends.last.index()] = id;
        } else {
            ends.first = id;
            self.waiting[number / 64] |= 1 << (number % 64);
        }
        ends.last = id;
        self.next[id.index()] = ReqId::NONE;
        self.commands += 1;
    }

    /// Removes the next command from the submission queues and returns it, if there is one.
    pub fn take(&mut self) -> Option<ReqId> {
        if self.commands == 0 {
            return None;
        }
        if self.left == 0 || self.queues[self.turn].first == ReqId::NONE {
            self.turn = self.waiting_after(self.turn);
            self.left = self.weights.of(self.turn);
        }
        self.left -= 1;
        self.commands -= 1;
        let ends = &mut self.queues[self.turn];
        let id = ends.first;
        debug_assert!(id.is_some(), "the queue whose turn it is holds a command");
        ends.first = self.next[id.index()];
        if ends.first == ReqId::NONE {
            self.waiting[self.turn / 64] &= !(1 << (self.turn % 64));
        }
        Some(id)
    }

    /// Returns the next submission queue after `turn`, in a circle, that holds a command; there
    /// must be one.
    fn waiting_after(&self, turn: usize) -> usize {
        let from = turn.wrapping_add(1);
        let (word, bit) = (from / 64, from % 64);
        let above = self.waiting.get(word).map_or(0, |bits| bits & (u64::MAX << bit));
        if above != 0 {
            return word * 64 + above.trailing_zeros() as usize;
        }
        let count = self.waiting.len();
        let later = (word + 1..word + 1 + count).map(|at| at % count);
        let at = later.into_iter().find(|&at| self.waiting[at] != 0).expect("a command waits");
        at * 64 + self.waiting[at].trailing_zeros() as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Puts commands into their submission queues, and returns the queues in the order in which
    /// commands are taken.
    fn order(arbitration: Arbitration, weights: &str, commands: &[(u16, usize)]) -> Vec<u16> {
        let weights = weights.parse().expect("weights");
        let config = QueueConfig { arbitration, weights, ..QueueConfig::default() };
        let mut arbiter = Arbiter::new(&config).expect("it arbitrates");
        let all = commands.iter().flat_map(|&(queue, count)| vec![queue; count]);
        let mut of = Vec::new();
        for (id, queue) in all.enumerate() {
            arbiter.push(QueueId(queue), ReqId::new(id));
            of.push(queue);
        }
        std::iter::from_fn(|| arbiter.take()).map(|id| of[id.index()]).collect()
    }

    #[test]
    fn queues_take_turns_in_the_order_of_their_numbers() {
        let (round, weighted) = (Arbitration::RoundRobin, Arbitration::Weighted);
        for (arbitration, weights, commands, expected) in [
            (round, "1", &[(0, 3)][..], &[0, 0, 0][..]),
            (round, "1", &[(5, 2), (0, 3), (64, 1)], &[0, 5, 64, 0, 5, 0]),
            // Round robin does not look at weights.
            (round, "9", &[(1, 2), (2, 2)], &[1, 2, 1, 2]),
            (weighted, "1 3", &[(0, 3), (1, 4)], &[0, 1, 1, 1, 0, 1, 0]),
            // Queues beyond the list weigh as much as the last of it.
            (weighted, "1 2", &[(0, 2), (200, 3)], &[0, 200, 200, 0, 200]),
            (weighted, "4", &[(0, 2), (1, 5)], &[0, 0, 1, 1, 1, 1, 1]),
        ] {
            let taken = order(arbitration, weights, commands);
            assert_eq!(taken, expected, "{arbitration:?} {weights} {commands:?}");
        }
    }

    /// A queue that runs empty and gets a command before the next one is taken keeps the remainder
    /// of its turn.
    #[test]
    fn a_turn_goes_on_where_it_was() {
        let weights = "2 2".parse().expect("weights");
        let arbitration = Arbitration::Weighted;
        let config = QueueConfig { arbitration, weights, ..QueueConfig::default() };
        let mut arbiter = Arbiter::new(&config).expect("it arbitrates");
        let push = |arbiter: &mut Arbiter, queue, id| arbiter.push(QueueId(queue), ReqId::new(id));
        push(&mut arbiter, 0, 0);
        push(&mut arbiter, 1, 1);
        assert_eq!(arbiter.take(), Some(ReqId::new(0)));
        // The turn of queue 0 is not over: one of its two commands is left.
        push(&mut arbiter, 0, 2);
        push(&mut arbiter, 0, 3);
        let rest: Vec<_> = std::iter::from_fn(|| arbiter.take()).collect();
        assert_eq!(rest, [2, 1, 3].map(ReqId::new));
        assert_eq!(arbiter.take(), None);
    }
}
