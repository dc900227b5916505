//! The probe that turns the steps of flash operations into time slices.

use crate::device_spec::Resolved;
use fowler_device::{
    Completion, Device, FlashEvent, FlashStep, Layer, Op, Operation, Probe, Steps,
};
use fowler_nand::{CellOp, PhaseKind, Timing};
use fowler_units::{Id, Nanos, ReqId, Span};

/// The most slices of time that a recording may have: viewers cannot open a larger trace.
pub(super) const SLICES_MAX: usize = 2_000_000;

/// The track of a slice of time: a die or a channel.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Track {
    /// The slice shows the activity of the die with this number, from 0.
    Die(u32),
    /// The slice shows the activity of the channel with this number, from 0.
    Channel(u32),
}

/// The activity of a die or channel in a slice of time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SliceKind {
    /// The die senses cells at a level; 0 is the hard decision.
    Sense(u8),
    /// A page is transferred out of the chip to the controller.
    TransferOut,
    /// A page is transferred from the controller into the chip.
    TransferIn,
    /// The page data of a suspended program is transferred from the controller into the chip again.
    Refill,
    /// The die waits for the channel.
    AwaitChannel,
    /// A phase of a program or erase, and whether it was cut short.
    Phase(PhaseKind, bool),
    /// The die removes its voltages from the cells, before a suspension.
    Reset,
    /// The operation is suspended, while the die serves reads.
    Suspended,
}

/// A period of one activity of a die or channel in a recorded timeline.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slice {
    /// The die or channel whose activity the slice is.
    pub track: Track,
    /// Start of this slice of a die's or channel's time, in simulated time.
    pub from: Nanos,
    /// End of this slice of a die's or channel's time, in simulated time.
    pub until: Nanos,
    /// Activity of the die or channel in the slice.
    pub what: SliceKind,
}

/// A flash operation, from its start on the die to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Operated {
    /// Kind and source of the operation, and its times of submission and dispatch.
    pub operation: Operation,
    /// Number of the die on which the operation ran.
    pub die: u32,
    /// End of the operation, or of the run if that came first.
    pub until: Nanos,
    /// Number of further pages in the multi-plane operation, beside the first.
    pub beside: u32,
    /// Number of times that the operation was suspended.
    pub suspensions: u32,
    /// True if the operation finished before the run ended.
    pub done: bool,
    /// Time slices of this flash operation (such as sensing, transfers, program phases), in order
    /// of time.
    pub slices: Vec<Slice>,
}

/// A host request, and the operations that it waited for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asked {
    /// Number of the request in order of completion, from 0, as in the log of requests.
    pub number: u64,
    /// The completed request: the command, its completion time, and its blame, the parts of its
    /// latency by cause.
    pub completion: Completion,
    /// Operations of the request, in the order in which they ended.
    pub operations: Vec<Own>,
}

/// An operation that a request waited for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// Index of the flash operation in [`Timeline::operations`].
    pub place: usize,
    /// Time from which on the request waited for the operation. This may be later than the start of
    /// the operation, if the request joined one of another write.
    pub submitted: Nanos,
}

/// A program or erase that has started on a die, or a read in service.
#[derive(Clone, Debug)]
struct Begun {
    operation: Operation,
    slices: Vec<Slice>,
    running: Option<CellOp>,
    /// End of the last time slice of this flash operation on the timeline; before the first slice,
    /// the time at which the operation was dispatched.
    last: Nanos,
    /// True if the operation has been suspended, and not resumed, since the end of its last time
    /// slice (`last`).
    off: bool,
    suspensions: u32,
}

impl Begun {
    fn new(operation: Operation) -> Begun {
        let last = operation.dispatched;
        Begun { operation, slices: Vec::new(), running: None, last, off: false, suspensions: 0 }
    }

    /// Records that the flash operation has spent the time since the end of its last slice in the
    /// activity `what`, until the time `until`. Does nothing if no time has passed.
    fn until(&mut self, die: u32, until: Nanos, what: SliceKind) {
        if until > self.last {
            self.slices.push(Slice { track: Track::Die(die), from: self.last, until, what });
            self.last = until;
        }
    }

    /// Ends the running part of a program or erase, at its completion or for a suspension requested
    /// at `now`. Adds a slice for each phase, the last one cut short if it is cancelled, and one
    /// for the voltage reset until `free`, when the cells are free.
    fn stop(&mut self, die: u32, timing: &Timing, now: Nanos, free: Nanos) {
        let Some(cells) = self.running.take() else { return };
        for phase in cells.phases(timing) {
            if phase.until <= free {
                self.until(die, phase.until, SliceKind::Phase(phase.kind, false));
            } else if phase.from < now {
                self.until(die, now, SliceKind::Phase(phase.kind, true));
            }
        }
        self.until(die, free, SliceKind::Reset);
    }
}

/// State of a die while a run is recorded.
#[derive(Clone, Debug, Default)]
struct Busy {
    command: Option<Begun>,
    read: Option<Begun>,
    /// The next program of the die, if some of its data have been transferred into the cache
    /// register during the current operation, with the time slices of these transfers.
    ahead: Option<(Operation, Vec<Slice>)>,
    /// Last finished operation of the die: its index among the recorded operations (`None` if it
    /// was not recorded), and its end.
    finished: Option<(Option<usize>, Nanos)>,
    /// True if a request to be recorded waited for the die's last finished operation.
    own: bool,
}

impl Busy {
    /// Returns the program or erase that runs on the die, which starts now with `operation` if
    /// there is none. A program includes the transfers of its data into the cache register before
    /// its start; `operation` may then be the transfer of a further page.
    fn begin(&mut self, operation: Operation) -> &mut Begun {
        self.command.get_or_insert_with(|| {
            match self.ahead.take_if(|_| operation.op == Op::Program) {
                Some((first, slices)) => {
                    let dispatched = operation.dispatched;
                    Begun { slices, ..Begun::new(Operation { dispatched, ..first }) }
                }
                None => Begun::new(operation),
            }
        })
    }
}

/// A request to be recorded, as known from an identical earlier run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Life {
    /// Number of the request in order of completion, from 0.
    pub number: u64,
    /// Frame (place among the requests in flight) of the request.
    pub request: ReqId,
    /// Arrival time of the request, counted from the first request.
    pub from: Span,
    /// Completion time of the request, counted from the first request.
    pub until: Span,
    /// Numbers of the dies on which the request's operations run.
    pub dies: Vec<u32>,
}

/// The part of a run that a timeline records: a window of time, or some requests.
#[derive(Clone, Debug)]
pub(super) enum Part {
    /// All operations and requests that overlap a window of time, given by its beginning and end
    /// since the first request of the run.
    Window(Span, Span),
    /// These requests, and all operations on their dies while the requests were in flight. The
    /// second field is true if all these operations get time slices, not only the requests' own.
    Lives(Vec<Life>, bool),
}

/// The flash operations, host requests and busy dies that were recorded in a part of a run.
#[derive(Clone, Debug)]
pub struct Timeline {
    part: Part,
    timing: Timing,
    dies_per_channel: u32,
    origin: Nanos,
    dies: Vec<Busy>,
    /// Recorded flash operations, in the order in which they ended.
    pub operations: Vec<Operated>,
    /// Recorded requests, in order of completion.
    pub requests: Vec<Asked>,
    /// For each host request in flight, the flash operations for it that have ended so far; indexed
    /// by the request's ID, which is reused after its completion.
    waiting: Vec<Vec<Own>>,
    completions: u64,
    slices: usize,
}

impl Timeline {
    /// Returns a recorder for a part of a run of `drive`.
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

    /// Returns the time at which the run's first request was issued, the origin of all times.
    pub fn origin(&self) -> Nanos {
        self.origin
    }

    /// Returns true if the run had more time slices of dies and channels than the timeline can
    /// record.
    pub fn is_full(&self) -> bool {
        self.slices >= SLICES_MAX
    }

    /// Returns the number of dies of the drive.
    pub(super) fn die_count(&self) -> u32 {
        self.dies.len() as u32
    }

    /// Returns the channel of a die.
    pub fn channel_of(&self, die: u32) -> u32 {
        die / self.dies_per_channel
    }

    /// Ends the recording at the end of the run: cuts operations in progress, and puts the recorded
    /// requests in the order in which they were to be recorded.
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

    /// Returns true if the recording includes an operation of a die that ended at `until`.
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

    /// Drops the slices of the last finished operation of a die, unless it was for a request to be
    /// recorded, or all slices are recorded.
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
        let transferred = |begun: &mut Begun, transfer: Span, what: SliceKind| {
            let wait = if begun.off { SliceKind::Suspended } else { SliceKind::AwaitChannel };
            begun.until(index, before(at, transfer), wait);
            let from = begun.last;
            begun.until(index, at, what);
            begun.slices.push(Slice { track: Track::Channel(channel), from, until: at, what });
        };
        match event {
            FlashEvent::Read { sense, transfer, level, again } => {
                let begun = busy.read.get_or_insert_with(|| Begun::new(operation));
                let sensed = begun.last + sense;
                begun.until(index, sensed, SliceKind::Sense(level));
                transferred(begun, transfer, SliceKind::TransferOut);
                if !again && let Some(begun) = busy.read.take() {
                    self.finish(die.index(), begun, at, true);
                }
            }
            FlashEvent::LoadAhead { transfer } => {
                let (track, from) = (Track::Channel(channel), before(at, transfer));
                let (_, slices) = busy.ahead.get_or_insert((operation, Vec::new()));
                slices.push(Slice { track, from, until: at, what: SliceKind::TransferIn });
            }
            FlashEvent::Load { transfer, again } => {
                let begun = busy.begin(operation);
                transferred(
                    begun,
                    transfer,
                    if again { SliceKind::Refill } else { SliceKind::TransferIn },
                );
            }
            FlashEvent::Run { cells, .. } => {
                let begun = busy.begin(operation);
                begun.until(index, at, SliceKind::Suspended);
                (begun.off, begun.running) = (false, Some(cells));
            }
            FlashEvent::Off { stopped, free, counted } => {
                let begun = busy.begin(operation);
                begun.stop(index, &self.timing, at, stopped);
                begun.until(index, free, SliceKind::Reset);
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
            // A further page of a multi-plane operation.
            None => self.beside(die, operation, at, 1),
        }
    }

    /// Records a finished operation if it belongs to the recording, and links it to the request
    /// that waits for it.
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

    /// Links the operation that has just ended on a die to another request that waited for it.
    fn beside(&mut self, die: usize, operation: Operation, at: Nanos, pages: u32) {
        let Some((place, when)) = self.dies[die].finished else { return };
        debug_assert_eq!(when, at, "pages of a multi-plane operation end together");
        if let Some(place) = place {
            self.operations[place].beside += pages;
        }
        self.wait(operation, place);
    }

    fn wait(&mut self, operation: Operation, place: Option<usize>) {
        let Some(place) = place.filter(|_| operation.request.is_some()) else { return };
        if let Part::Lives(lives, _) = &self.part {
            let at = super::since(self.operations[place].until, self.origin);
            let is_own = |life: &Life| life.request == operation.request;
            if !lives.iter().any(|life| is_own(life) && at >= life.from && at <= life.until) {
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

/// Returns the time `span` before `at`, or zero.
fn before(at: Nanos, span: Span) -> Nanos {
    Nanos(at.0 - span.0)
}

impl<L: Layer> Probe<L> for Timeline {
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

    fn watches_flash(&self) -> Steps {
        Steps::All
    }

    fn stepped(&mut self, steps: &[FlashStep]) {
        for step in steps {
            self.step(step);
        }
    }

    fn begun(&mut self, device: &Device<L>) {
        self.origin = device.began();
    }
}

impl SliceKind {
    /// Returns a short name of the activity, for the slice in a trace viewer.
    pub fn name(self) -> &'static str {
        match self {
            SliceKind::Sense(0) => "sense",
            SliceKind::Sense(_) => "sense (soft)",
            SliceKind::TransferOut => "transfer out",
            SliceKind::TransferIn => "transfer in",
            SliceKind::Refill => "transfer in again",
            SliceKind::AwaitChannel => "waits for the channel",
            SliceKind::Phase(kind, false) => match kind {
                PhaseKind::Reload => "reload",
                PhaseKind::CheckVerify => "check-verify",
                PhaseKind::Program => "program phase",
                PhaseKind::Verify => "verify",
                PhaseKind::Rebias => "re-bias",
                PhaseKind::Pulse => "erase pulse",
                PhaseKind::EraseVerify => "erase verify",
            },
            SliceKind::Phase(kind, true) => match kind {
                PhaseKind::Reload => "reload, cut",
                PhaseKind::CheckVerify => "check-verify, cut",
                PhaseKind::Program => "program phase, cut",
                PhaseKind::Verify => "verify, cut",
                PhaseKind::Rebias => "re-bias, cut",
                PhaseKind::Pulse => "erase pulse, cut",
                PhaseKind::EraseVerify => "erase verify, cut",
            },
            SliceKind::Reset => "voltage reset",
            SliceKind::Suspended => "suspended",
        }
    }
}

impl Operated {
    /// Returns the kind and source of the flash operation, such as `program (GC)`.
    pub fn name(&self) -> String {
        let op = match self.operation.op {
            Op::Read => "read",
            Op::Program => "program",
            Op::Erase => "erase",
        };
        format!("{op} ({})", self.source())
    }

    /// Returns the name of the source of the flash operation, such as `GC`.
    pub fn source(&self) -> &'static str {
        self.operation.source.name()
    }
}
