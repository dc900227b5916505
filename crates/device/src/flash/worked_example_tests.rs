//! Tests Figure 2 of RHIO (section III-A) with the scheduler of every drive: six writes that wait
//! for one chip. The pages of a write take 200, 220 and 240 us by the size of the request; only the
//! order of the writes differs.

use super::{Bind, Flash, Translation};
use crate::cells::program_mode::{Mode, Step, Voltage};
use crate::cells::reliability::Ladder;
use crate::config::Config;
use crate::flash::queue::TxnClass;
use crate::flash::txn::Owner;
use crate::observe::operation::{Op, Source};
use crate::policy::die_order::DieOrderKind;
use fowler_nand::{PerPageType, Timing};
use fowler_units::{Bytes, DieId, Geometry, Nanos, Span, TxnId};

/// Sizes in pages of the writes W0 to W5.
const SIZES: [u16; 6] = [8, 2, 4, 2, 2, 4];

/// A layer that records the time at which the last page of each request ended.
struct Requests([Nanos; SIZES.len()]);

impl Translation for Requests {
    /// Binds a program in the ladder of steps: 12 iterations of 20 us at the nominal step, and one
    /// less for each coarser step.
    fn bind(&mut self, flash: &mut Flash, id: TxnId) -> Bind {
        let txn = flash.txns.get_mut(id);
        let step = match txn.group {
            8 => Step(0),
            4 => Step(1),
            2 => Step(2),
            other => unreachable!("no request has {other} pages"),
        };
        txn.mode = Mode::new(step, Voltage::Nominal);
        Bind::Bound
    }

    fn bind_beside(&mut self, _flash: &mut Flash, _first: TxnId, _id: TxnId) -> bool {
        false
    }

    fn done(&mut self, flash: &mut Flash, id: TxnId, _dropped: bool) {
        let Owner::Raw(request) = flash.txns.get(id).owner else { unreachable!("only raw ones") };
        self.0[request as usize] = flash.now();
        flash.txns.close(id);
    }

    fn idle(&mut self, _flash: &mut Flash, _die: DieId) {}
}

fn answered(order: DieOrderKind) -> [Nanos; SIZES.len()] {
    let one = Geometry {
        channels: 1,
        chips_per_channel: 1,
        dies_per_chip: 1,
        planes_per_die: 1,
        blocks_per_plane: 8,
        pages_per_block: 32,
        page_size: Bytes(4096),
    };
    let timing = Timing {
        bus_transfer: Span::ZERO,
        read: PerPageType::uniform(Span::us(50)),
        program_phase: Span::us(20),
        verify_phase: Span::ZERO,
        program_iterations: PerPageType::uniform(12),
        erase_pulse: Span::us(1500),
        erase_verify: Span::ZERO,
        voltage_reset: Span::us(4),
        buffer_load: Span::ZERO,
    };
    let mut config = Config::new(one, timing);
    config.die_order.name = order;
    let mut flash = Flash::new(&config, one, 64);
    (flash.ladder, flash.programs_differ) = (Ladder::new(&timing), true);
    let mut requests = Requests([Nanos::ZERO; SIZES.len()]);
    for (number, &pages) in SIZES.iter().enumerate() {
        for _ in 0..pages {
            let owner = Owner::Raw(number as u32);
            let class = TxnClass::HostProgram;
            let (id, txn) = flash.open(Op::Program, Source::Host, class, owner, DieId(0));
            txn.group = pages;
            txn.data_in_buffer = true;
            flash.submit(id);
        }
    }
    flash.settle(&mut requests);
    while let Some((ticket, _)) = flash.agenda.pop() {
        flash.die_event(DieId(0), ticket, &mut requests);
        flash.settle(&mut requests);
    }
    requests.0
}

fn in_order(answered: [Nanos; SIZES.len()]) -> Vec<usize> {
    let mut order: Vec<usize> = (0..SIZES.len()).collect();
    order.sort_by_key(|&request| answered[request]);
    order
}

/// Returns the sum of the six response times in ns: six times the mean, as an exact number.
fn sum(answered: [Nanos; SIZES.len()]) -> u64 {
    answered.iter().map(|at| at.0).sum()
}

#[test]
fn figure_2_hot_first_and_first_come_first_served() {
    let (rhio, fifo) = (answered(DieOrderKind::Rhio), answered(DieOrderKind::Fifo));
    assert_eq!(in_order(rhio), [1, 3, 4, 2, 5, 0], "the groups by size, each in order of arrival");
    assert_eq!(in_order(fifo), [0, 1, 2, 3, 4, 5]);
    // 2053.3 us and 3320.0 us as printed.
    assert_eq!((sum(rhio), sum(fifo)), (12_320_000, 19_920_000));
}

/// Equation (1) gives the mean response time: the sum over requests of
/// `PL(size) * size * (N - O) / N`, O being the place in the order.
#[test]
fn equation_1_is_the_mean_time_of_completion() {
    let latency = |pages: u16| match pages {
        2 => 200_000,
        4 => 220_000,
        _ => 240_000,
    };
    for order in [DieOrderKind::Rhio, DieOrderKind::Fifo] {
        let answered = answered(order);
        let places = in_order(answered).into_iter().enumerate();
        let terms = places.map(|(place, request)| {
            let pages = SIZES[request];
            latency(pages) * u64::from(pages) * (SIZES.len() - place) as u64
        });
        assert_eq!(terms.sum::<u64>(), sum(answered), "{order:?}");
    }
}
