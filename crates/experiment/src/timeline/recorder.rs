//! The probe that turns steps of flash operations into slices of time.

use crate::device::Resolved;
use fowler_device::{Completion, Device, FlashEvent, FlashStep, Op, Operation, Probe};
use fowler_nand::{CellOp, PhaseKind, Timing};
use fowler_units::{Id, Nanos, ReqId, Span};

/// Slices at most: a trace of more would not open.
pub(super) const SLICES_MAX: usize = 2_000_000;

/// Where a slice is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// A die.
    Die(u32),
    /// A channel.
    Channel(u32),
}

/// What happens in a slice.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// Sensing at a level, the hard decision being 0.
    Sense(u8),
    /// A page on its way out or in.
    TransferOut,
    /// See [`What::TransferOut`].
    TransferIn,
    /// A suspended program filled anew.
    Refill,
    /// Waiting for the channel.
    AwaitChannel,
    /// A phase of a program or erase; cut short, if it did not end.
    Phase(PhaseKind, bool),
    /// The voltages are taken off the wires.
    Reset,
    /// Off the cells, while reads are served.
    Suspended,
}

/// Something that took time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// Where.
    pub track: Track,
    /// From when.
    pub from: Nanos,
    /// Until when.
    pub until: Nanos,
    /// What.
    pub what: What,
}

/// A flash operation from when its die took it up until it was done.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operated {
    /// What it was.
    pub operation: Operation,
    /// Its die.
    pub die: u32,
    /// When it was done, or when the run ended.
    pub until: Nanos,
    /// Pages that went along on other planes.
    pub beside: u32,
    /// How often it was taken off the cells.
    pub suspensions: u32,
    /// Whether it was done before the run ended.
    pub done: bool,
    /// What it consisted of, in order.
    pub slices: Vec<Slice>,
}

/// A host request, and the operations that it waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Its number in the order of completion, from 0, as in the log of requests.
    pub number: u64,
    /// The request, its answer and its blame.
    pub completion: Completion,
    /// Its operations, in the order in which they were done.
    pub operations: Vec<Own>,
}

/// An operation that a request waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// Its place in [`Timeline::operations`].
    pub place: usize,
    /// Since when the request waited for it: later than the operation itself, where it joined one
    /// that another write had brought.
    pub submitted: Nanos,
}

/// A program or erase that a die has begun, or a read that it serves.
#[derive(Clone, Debug)]
struct Begun {
    operation: Operation,
    slices: Vec<Slice>,
    running: Option<CellOp>,
    /// Up to when its time is accounted for.
    last: Nanos,
    /// It is off the cells since `last`.
    off: bool,
    suspensions: u32,
}

impl Begun {
    fn new(operation: Operation) -> Begun {
        let last = operation.dispatched;
        Begun { operation, slices: Vec::new(), running: None, last, off: false, suspensions: 0 }
    }

    /// The time since the last slice, if there is any, was spent on `what`.
    fn until(&mut self, die: u32, until: Nanos, what: What) {
        if until > self.last {
            self.slices.push(Slice { track: Track::Die(die), from: self.last, until, what });
            self.last = until;
        }
    }

    /// What ran is over at `free`; it was left alone until `now`.
    fn stop(&mut self, die: u32, timing: &Timing, now: Nanos, free: Nanos) {
        let Some(cells) = self.running.take() else { return };
        for phase in cells.phases(timing) {
            if phase.until <= free {
                self.until(die, phase.until, What::Phase(phase.kind, false));
            } else if phase.from < now {
                self.until(die, now, What::Phase(phase.kind, true));
            }
        }
        self.until(die, free, What::Reset);
    }
}

/// What a die does.
#[derive(Clone, Debug, Default)]
struct Busy {
    command: Option<Begun>,
    read: Option<Begun>,
    /// What was finished last: its place among the operations, if it was kept, and when.
    finished: Option<(Option<usize>, Nanos)>,
    /// A request that is looked for waited for that.
    own: bool,
}

/// A request that is looked for: what is known of it from an earlier run, which was the same.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Life {
    /// Its number in the order of completion.
    pub number: u64,
    /// Its frame.
    pub request: ReqId,
    /// When it came and was answered, since the first request.
    pub from: Span,
    /// See [`Life::from`].
    pub until: Span,
    /// The dies that worked for it.
    pub dies: Vec<u32>,
}

/// What of a run is recorded.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// All that overlaps a window, which counts from the first request.
    Window(Span, Span),
    /// Requests, and what the dies that worked for them did while they lived: with all its slices,
    /// or only that it did.
    Lives(Vec<Life>, bool),
}

/// A part of a run, recorded.
#[derive(Clone, Debug)]
pub struct Timeline {
    part: Part,
    timing: Timing,
    dies_per_channel: u32,
    origin: Nanos,
    dies: Vec<Busy>,
    /// Operations in the order in which they were done.
    pub operations: Vec<Operated>,
    /// Requests in the order in which they were answered.
    pub requests: Vec<Asked>,
    /// For each frame of a request in flight, its operations so far.
    waiting: Vec<Vec<Own>>,
    completions: u64,
    slices: usize,
}

impl Timeline {
    /// Records a part of a run of `drive`.
    pub(super) fn new(drive: &Resolved, part: Part) -> Timeline {
        Timeline {
            part,
            timing: drive.config.effective_timing(),
            dies_per_channel: super::dies_per_channel(drive),
            origin: Nanos::ZERO,
            dies: vec![Busy::default(); drive.layout.geometry.dies() as usize],
            operations: Vec::new(),
            requests: Vec::new(),
            waiting: Vec::new(),
            completions: 0,
            slices: 0,
        }
    }

    /// When the first request was issued: what moments are counted from.
    pub fn origin(&self) -> Nanos {
        self.origin
    }

    /// Whether there was more than could be kept.
    pub fn is_full(&self) -> bool {
        self.slices >= SLICES_MAX
    }

    /// How many dies there are.
    pub(super) fn die_count(&self) -> u32 {
        self.dies.len() as u32
    }

    /// The channel of a die.
    pub fn channel_of(&self, die: u32) -> u32 {
        die / self.dies_per_channel
    }

    /// The run is over: what still goes on is cut at its end. Requests that were looked for are put
    /// in their order.
    pub(super) fn end(&mut self, now: Nanos) {
        if let Part::Lives(lives, _) = &self.part {
            let place = |asked: &Asked| lives.iter().position(|life| life.number == asked.number);
            self.requests.sort_by_key(place);
        }
        for die in 0..self.dies.len() {
            self.shorten(die);
            let Some(mut begun) = self.dies[die].command.take() else { continue };
            begun.stop(die as u32, &self.timing, now, now);
            self.finish(die, begun, now, false);
        }
    }

    /// Whether what a die did from one moment to another is kept.
    fn wanted(&self, operation: &Operation, die: u32, until: Nanos) -> bool {
        let (from, origin) = (operation.dispatched, self.origin);
        let overlaps = |begin, end| from <= origin + end && until >= origin + begin;
        match &self.part {
            Part::Window(begin, end) => !self.is_full() && overlaps(*begin, *end),
            Part::Lives(lives, _) => lives.iter().any(|life| {
                let room = !self.is_full() || operation.request == life.request;
                room && overlaps(life.from, life.until) && life.dies.contains(&die)
            }),
        }
    }

    /// What has been finished last on a die keeps its slices if it was for a request that is looked
    /// for, or if all do.
    fn shorten(&mut self, die: usize) {
        let Busy { finished, own, .. } = &mut self.dies[die];
        let (own, finished) = (std::mem::take(own), finished.take());
        if let (Some((Some(place), _)), Part::Lives(_, false), false) = (finished, &self.part, own)
        {
            let slices = std::mem::take(&mut self.operations[place].slices);
            self.slices -= slices.len();
        }
    }

    fn step(&mut self, step: &FlashStep) {
        let FlashStep { at, die, operation, event } = *step;
        let (index, channel) = (die.0, self.channel_of(die.0));
        let busy = &mut self.dies[die.index()];
        let transferred = |begun: &mut Begun, transfer: Span, what: What| {
            let wait = if begun.off { What::Suspended } else { What::AwaitChannel };
            begun.until(index, before(at, transfer), wait);
            let from = begun.last;
            begun.until(index, at, what);
            begun.slices.push(Slice { track: Track::Channel(channel), from, until: at, what });
        };
        match event {
            FlashEvent::Read { sense, transfer, level, again } => {
                let begun = busy.read.get_or_insert_with(|| Begun::new(operation));
                let sensed = begun.last + sense;
                begun.until(index, sensed, What::Sense(level));
                transferred(begun, transfer, What::TransferOut);
                if !again && let Some(begun) = busy.read.take() {
                    self.finish(die.index(), begun, at, true);
                }
            }
            FlashEvent::Load { transfer, again } => {
                let begun = busy.command.get_or_insert_with(|| Begun::new(operation));
                transferred(begun, transfer, if again { What::Refill } else { What::TransferIn });
            }
            FlashEvent::Run { cells, .. } => {
                let begun = busy.command.get_or_insert_with(|| Begun::new(operation));
                begun.until(index, at, What::Suspended);
                (begun.off, begun.running) = (false, Some(cells));
            }
            FlashEvent::Off { free, counted } => {
                let begun = busy.command.get_or_insert_with(|| Begun::new(operation));
                begun.stop(index, &self.timing, at, free);
                begun.off = true;
                begun.suspensions += u32::from(counted);
            }
            FlashEvent::Done => self.done(die.index(), operation, at),
            FlashEvent::Joined => self.beside(die.index(), operation, at, 0),
        }
    }

    fn done(&mut self, die: usize, operation: Operation, at: Nanos) {
        let busy = &mut self.dies[die];
        match busy.command.take_if(|begun| begun.operation.order == operation.order) {
            Some(mut begun) => {
                begun.stop(die as u32, &self.timing, at, at);
                self.finish(die, begun, at, true);
            }
            // A page that went along on another plane.
            None => self.beside(die, operation, at, 1),
        }
    }

    /// Keeps an operation, if it is wanted, and remembers who waits for it.
    fn finish(&mut self, die: usize, begun: Begun, until: Nanos, done: bool) {
        let Begun { operation, slices, suspensions, .. } = begun;
        self.shorten(die);
        let wanted = self.wanted(&operation, die as u32, until);
        let place = wanted.then_some(self.operations.len());
        self.dies[die].finished = Some((place, until));
        if place.is_none() {
            return;
        }
        self.slices += slices.len() + 1;
        let die = die as u32;
        self.operations.push(Operated {
            operation,
            die,
            until,
            beside: 0,
            suspensions,
            done,
            slices,
        });
        self.wait(operation, place);
    }

    /// What has just been finished was for this one too.
    fn beside(&mut self, die: usize, operation: Operation, at: Nanos, pages: u32) {
        let Some((place, when)) = self.dies[die].finished else { return };
        debug_assert_eq!(when, at, "what goes along ends with what it goes along with");
        if let Some(place) = place {
            self.operations[place].beside += pages;
        }
        self.wait(operation, place);
    }

    fn wait(&mut self, operation: Operation, place: Option<usize>) {
        let Some(place) = place.filter(|_| operation.request.is_some()) else { return };
        if let Part::Lives(lives, _) = &self.part {
            let at = super::since(self.operations[place].until, self.origin);
            let its = |life: &Life| life.request == operation.request;
            if !lives.iter().any(|life| its(life) && at >= life.from && at <= life.until) {
                return;
            }
        }
        self.dies[self.operations[place].die as usize].own = true;
        let frame = operation.request.index();
        if frame >= self.waiting.len() {
            self.waiting.resize_with(frame + 1, Vec::new);
        }
        self.waiting[frame].push(Own { place, submitted: operation.submitted });
    }
}

/// A moment so long before another.
fn before(at: Nanos, span: Span) -> Nanos {
    Nanos(at.0 - span.0)
}

impl Probe for Timeline {
    fn completed(&mut self, completion: &Completion) {
        let number = self.completions;
        self.completions += 1;
        let operations = self.waiting.get_mut(completion.id.index()).map(std::mem::take);
        let wanted = match &self.part {
            Part::Window(begin, end) => {
                let (from, until) = (self.origin + *begin, self.origin + *end);
                !self.is_full() && completion.io.at <= until && completion.done >= from
            }
            Part::Lives(lives, _) => lives.iter().any(|life| life.number == number),
        };
        if wanted {
            let (completion, operations) = (*completion, operations.unwrap_or_default());
            self.requests.push(Asked { number, completion, operations });
        }
    }

    fn watches_flash(&self) -> bool {
        true
    }

    fn stepped(&mut self, steps: &[FlashStep]) {
        for step in steps {
            self.step(step);
        }
    }

    fn begun(&mut self, device: &Device) {
        self.origin = device.began();
    }
}

impl What {
    /// In a word or two.
    pub fn name(self) -> &'static str {
        match self {
            What::Sense(0) => "sense",
            What::Sense(_) => "sense (soft)",
            What::TransferOut => "transfer out",
            What::TransferIn => "transfer in",
            What::Refill => "transfer in again",
            What::AwaitChannel => "waits for the channel",
            What::Phase(kind, false) => match kind {
                PhaseKind::Reload => "reload",
                PhaseKind::CheckVerify => "check-verify",
                PhaseKind::Program => "program phase",
                PhaseKind::Verify => "verify",
                PhaseKind::Rebias => "re-bias",
                PhaseKind::Pulse => "erase pulse",
                PhaseKind::EraseVerify => "erase verify",
            },
            What::Phase(kind, true) => match kind {
                PhaseKind::Reload => "reload, cut",
                PhaseKind::CheckVerify => "check-verify, cut",
                PhaseKind::Program => "program phase, cut",
                PhaseKind::Verify => "verify, cut",
                PhaseKind::Rebias => "re-bias, cut",
                PhaseKind::Pulse => "erase pulse, cut",
                PhaseKind::EraseVerify => "erase verify, cut",
            },
            What::Reset => "voltage reset",
            What::Suspended => "suspended",
        }
    }
}

impl Operated {
    /// What it was and on whose behalf: `program (GC)`.
    pub fn name(&self) -> String {
        let op = match self.operation.op {
            Op::Read => "read",
            Op::Program => "program",
            Op::Erase => "erase",
        };
        format!("{op} ({})", self.source())
    }

    /// On whose behalf.
    pub fn source(&self) -> &'static str {
        self.operation.source.name()
    }
}
