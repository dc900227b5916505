//! One die under raw flash commands: the flash array without a translation layer. Tests of a raw
//! die test the code that runs in every drive.
//!
//! 1. Each command becomes a transaction that reaches the die at its time ([`run_chip`]).
//! 2. The flash serves them as in a drive, by the timing, die order and suspension of the
//!    configuration; programs need no page.
//! 3. The end of each is recorded: start, end, suspensions.

use crate::cells::reliability::{Cells, ModelKind};
use crate::config::Config;
use crate::event::Event;
use crate::flash::queue::TxnClass;
use crate::flash::txn::Owner;
use crate::flash::{Bind, Flash, Translation};
use crate::observe::operation::{Op, Source};
use crate::policy::voltage::lowest;
use fowler_agenda::Phase;
use fowler_units::{DieId, Geometry, Nanos, TxnId};

/// Kind of a raw flash command: read, write, program or erase.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ChipOp {
    /// A page is sensed and transferred out.
    Read,
    /// A page is transferred in and programmed.
    Write,
    /// A page whose data is already in the page buffer is programmed.
    Program,
    /// A block of the die is erased.
    Erase,
}

impl ChipOp {
    /// All raw flash commands, which a single die executes without a translation layer, with their
    /// names for parsers and help texts.
    pub const ALL: [(&'static str, ChipOp); 4] = [
        ("read", ChipOp::Read),
        ("write", ChipOp::Write),
        ("program", ChipOp::Program),
        ("erase", ChipOp::Erase),
    ];
}

/// A raw flash command, with the time at which it reaches the die. Commands may be given in any
/// order; commands of the same time are served in the order given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ChipCommand {
    /// Time at which the flash command reaches the die.
    pub at: Nanos,
    /// Kind of the flash command: read, write, program or erase.
    pub op: ChipOp,
}

/// Times and suspensions of a raw flash command that has ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ChipResult {
    /// Time at which the die started the flash command (read, write, program or erase).
    pub start: Nanos,
    /// Time at which the flash command (read, write, program or erase) ended.
    pub done: Nanos,
    /// Number of suspensions of the command, each of which took it off the cells before its end.
    pub suspensions: u32,
}

/// A translation layer for tests of a single die. It records the results of commands and assigns no
/// pages to programs.
struct Raw(Vec<ChipResult>);

impl Translation for Raw {
    fn bind(&mut self, _flash: &mut Flash, _id: TxnId) -> Bind {
        Bind::Bound
    }

    fn bind_beside(&mut self, _flash: &mut Flash, _first: TxnId, _id: TxnId) -> bool {
        false
    }

    fn done(&mut self, flash: &mut Flash, id: TxnId, _dropped: bool) {
        let txn = flash.txns.get(id);
        let Owner::Raw(number) = txn.owner else { unreachable!("only raw commands here") };
        self.0[number as usize] =
            ChipResult { start: txn.dispatched, done: flash.now(), suspensions: txn.suspensions };
        flash.txns.close(id);
    }

    fn idle(&mut self, _flash: &mut Flash, _die: DieId) {}
}

/// Runs raw commands on one die with a channel of its own, with the configuration's timing, die
/// order and suspension. Returns results in the order of the commands.
pub fn run_chip(config: &Config, commands: &[ChipCommand]) -> Vec<ChipResult> {
    let geometry = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        ..config.geometry
    };
    let mut flash = Flash::new(config, geometry, commands.len());
    if config.reliability.model != ModelKind::Off {
        let cells = Cells::new(config, flash.ladder(), lowest(&config.voltage, config.seed));
        flash.read_unknown_at(cells.expect("refused otherwise").worst_level);
    }
    let mut raw = Raw(vec![ChipResult::default(); commands.len()]);
    let mut arrivals: Vec<usize> = (0..commands.len()).collect();
    arrivals.sort_by_key(|&number| commands[number].at);
    let mut arrivals = arrivals.into_iter().peekable();
    loop {
        let arrival = arrivals.peek().map(|&number| commands[number].at);
        let due = flash.agenda.next_due();
        let arrives = arrival.is_some_and(|at| due.is_none_or(|due| (at, Phase::Arrival) < due));
        let next = if arrives { arrival.map(|at| (at, Phase::Arrival)) } else { due };
        if flash.has_marked() && next.is_none_or(|next| next > (flash.now(), Phase::Arrival)) {
            flash.settle(&mut raw);
        } else if arrives {
            let number = arrivals.next().expect("peeked");
            flash.agenda.advance(commands[number].at);
            submit(&mut flash, commands[number].op, number as u32);
        } else if due.is_some() {
            event(&mut flash, &mut raw);
        } else {
            return raw.0;
        }
    }
}

fn event(flash: &mut Flash, raw: &mut Raw) {
    let Some((ticket, event)) = flash.agenda.pop() else { return };
    match event {
        Event::Die(die) => flash.die_event(die, ticket, raw),
        Event::Reconsider(die) => flash.reconsider(die),
        Event::Idle(_) | Event::Answered(_) | Event::Deadline | Event::Fault | Event::Paced => {
            unreachable!("no layer above, no host")
        }
    }
}

fn submit(flash: &mut Flash, command: ChipOp, number: u32) {
    let (op, class) = match command {
        ChipOp::Read => (Op::Read, TxnClass::HostRead),
        ChipOp::Write | ChipOp::Program => (Op::Program, TxnClass::HostProgram),
        ChipOp::Erase => (Op::Erase, TxnClass::Erase),
    };
    let (id, txn) = flash.open(op, Source::Host, class, Owner::Raw(number), DieId(0));
    txn.data_in_buffer = command == ChipOp::Program;
    flash.submit(id);
}
