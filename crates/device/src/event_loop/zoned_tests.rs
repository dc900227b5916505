//! Tests that the flash supports other translations than the page-mapped one: here a zoned drive,
//! written in order and reset zone by zone, on the same flash and event loop.

use super::{Device, Layer, Pacing};
use crate::config::Config;
use crate::config::layout::Layout;
use crate::config::tests::shaped;
use crate::flash::queue::TxnClass;
use crate::flash::txn::{Owner, Txn};
use crate::flash::{Bind, Flash, Translation};
use crate::host::FrontEnd;
use crate::host::request::Request;
use crate::observe::blame::Part;
use crate::observe::completion::Completion;
use crate::observe::operation::{Op, Source};
use crate::policy::die_order::DieOrderKind;
use crate::policy::suspension::SuspensionKind;
use fowler_units::{
    BlockId, Bytes, DieId, Geometry, HostIo, HostOp, IdVec, Locator, Lpn, Nanos, PlaneId, ReqId,
    Span, TxnId, UnitId,
};

const PAGE: u64 = 4096;
const GEOMETRY: Geometry = Geometry {
    channels: 2,
    chips_per_channel: 2,
    dies_per_chip: 1,
    planes_per_die: 1,
    blocks_per_plane: 8,
    pages_per_block: 16,
    page_size: Bytes(PAGE),
};
const PLANES: u32 = 4;
const ZONE_PAGES: u32 = PLANES * 16;

/// A zoned drive: zone `z` is block `z` of every plane; its pages rotate over the planes. Every
/// page has a fixed location, so there is no mapping, no buffer and no GC.
struct Zoned {
    front: FrontEnd,
    locator: Locator,
    /// Number of pages written to each zone.
    written: IdVec<BlockId, u32>,
}

impl Zoned {
    fn device(config: &Config) -> Device<Zoned> {
        let locator = Locator::new(&GEOMETRY);
        let layer = Zoned {
            front: FrontEnd::new(config, &locator),
            locator,
            written: IdVec::filled(0, GEOMETRY.blocks_per_plane as usize),
        };
        Device::on(Flash::new(config, GEOMETRY, 4096), layer)
    }

    fn zone(page: u32) -> BlockId {
        BlockId(page / ZONE_PAGES)
    }

    fn block(&self, zone: BlockId, plane: PlaneId) -> BlockId {
        BlockId(plane.0 * GEOMETRY.blocks_per_plane + zone.0)
    }

    fn unit(&self, page: Lpn) -> UnitId {
        let within = page.0 % ZONE_PAGES;
        let block = self.block(Zoned::zone(page.0), PlaneId(within % PLANES));
        self.locator.unit(block, within / PLANES)
    }

    fn submit(&self, flash: &mut Flash, op: Op, class: TxnClass, unit: UnitId, id: ReqId) {
        let die = self.locator.die_of(unit);
        let (txn_id, txn) = flash.open(op, Source::Host, class, Owner::Request, die);
        (txn.unit, txn.req) = (unit, id);
        flash.submit(txn_id);
    }
}

impl Translation for Zoned {
    fn bind(&mut self, _flash: &mut Flash, _id: TxnId) -> Bind {
        Bind::Bound
    }

    fn bind_beside(&mut self, _flash: &mut Flash, _first: TxnId, _id: TxnId) -> bool {
        false
    }

    fn done(&mut self, flash: &mut Flash, id: TxnId, _dropped: bool) {
        let Txn { req, created, .. } = *flash.txns.get(id);
        if self.front.requests.page_done(req) {
            let waited = created - self.front.requests.get(req).ready;
            let blame = self.front.requests.blame_anew(req);
            blame[Part::QueueFull] = waited;
            flash.service_blame(id, id, blame);
            self.front.served(flash, req);
        }
        flash.txns.close(id);
    }

    fn idle(&mut self, _flash: &mut Flash, _die: DieId) {}
}

impl Layer for Zoned {
    fn front(&self) -> &FrontEnd {
        &self.front
    }

    fn layout(&self) -> &Layout {
        unreachable!("nobody asks for the sizes of this drive")
    }

    fn front_mut(&mut self) -> &mut FrontEnd {
        &mut self.front
    }

    fn admit(&mut self, flash: &mut Flash, io: HostIo, ready: Nanos, throttled: Span) {
        let mut request = Request::new(io, ready + throttled, &self.locator);
        let zone = Zoned::zone(request.next);
        let pages = request.next..request.end;
        if io.op == HostOp::Trim {
            assert_eq!((request.next % ZONE_PAGES, request.pages), (0, ZONE_PAGES), "a whole zone");
            request.left = PLANES;
            let id = self.front.requests.open(request);
            self.written[zone] = 0;
            for plane in (0..PLANES).map(PlaneId) {
                let first = self.locator.unit(self.block(zone, plane), 0);
                self.submit(flash, Op::Erase, TxnClass::Erase, first, id);
            }
            return;
        }
        let id = self.front.requests.open(request);
        for page in pages.map(Lpn) {
            let written = &mut self.written[Zoned::zone(page.0)];
            let (op, class) = if io.op == HostOp::Write {
                assert_eq!(*written, page.0 % ZONE_PAGES, "not at the write pointer: {io:?}");
                *written += 1;
                (Op::Program, TxnClass::HostProgram)
            } else {
                assert!(page.0 % ZONE_PAGES < *written, "beyond the write pointer: {io:?}");
                (Op::Read, TxnClass::HostRead)
            };
            self.submit(flash, op, class, self.unit(page), id);
        }
    }
}

fn io(op: HostOp, at: u64, first: u32, pages: u32) -> HostIo {
    HostIo::new(op, Nanos(at), u64::from(first) * PAGE, pages * PAGE as u32)
}

fn run(requests: &[HostIo]) -> (Vec<Completion>, Device<Zoned>) {
    let mut device = Zoned::device(&shaped(GEOMETRY));
    let mut answers = Vec::new();
    device.run(requests.iter().copied(), Pacing::Open, &mut answers);
    for it in &answers {
        assert_eq!(it.blame.total(), it.latency(), "{:?}", it.io);
    }
    (answers, device)
}

#[test]
fn a_zoned_drive_writes_in_order_reads_and_resets() {
    const SECOND: u64 = 1_000_000_000;
    let requests = [
        io(HostOp::Write, 0, 0, 8),
        io(HostOp::Write, 0, 8, ZONE_PAGES - 8),
        io(HostOp::Write, 0, ZONE_PAGES, 4),
        io(HostOp::Read, SECOND, 5, 1),
        io(HostOp::Read, 2 * SECOND, ZONE_PAGES, 4),
        io(HostOp::Trim, 3 * SECOND, 0, ZONE_PAGES),
        io(HostOp::Write, 4 * SECOND, 0, 4),
        io(HostOp::Read, 5 * SECOND, 2, 1),
    ];
    let (answers, device) = run(&requests);
    assert_eq!(answers.len(), requests.len());
    let timing = shaped(GEOMETRY).timing;
    let in_flash = |at: u64| {
        let answer = answers.iter().find(|it| it.io.at == Nanos(at)).expect("answered");
        answer.latency() - answer.blame[Part::HostLink]
    };
    let (sense, transfer) = (timing.read.at(0), timing.bus_transfer);
    // An idle die only senses and transfers.
    assert_eq!(in_flash(SECOND), sense + transfer);
    assert_eq!(in_flash(5 * SECOND), sense + transfer);
    // Four dies sense side by side; two of them share each channel.
    assert_eq!(in_flash(2 * SECOND), sense + transfer * 2);
    // Four erases side by side.
    assert_eq!(in_flash(3 * SECOND), timing.erase());
    assert_eq!(device.layer.written.as_slice()[..2], [4, 4]);
}

/// A read behind a program waits for the program or suspends it, as on any drive.
#[test]
fn a_zoned_drive_suspends_programs_for_reads() {
    const SECOND: u64 = 1_000_000_000;
    let mut waits = Vec::new();
    for suspension in [SuspensionKind::Never, SuspensionKind::Ipc] {
        let mut config = shaped(GEOMETRY);
        config.die_order.name = DieOrderKind::ReadFirst;
        config.suspension.name = suspension;
        let mut device = Zoned::device(&config);
        let mut answers = Vec::new();
        let requests = [
            io(HostOp::Write, 0, 0, ZONE_PAGES),
            io(HostOp::Write, SECOND, ZONE_PAGES, 1),
            // This read is for the same plane, when the program has just begun.
            io(HostOp::Read, SECOND + config.timing.bus_transfer.0 + 1000, 0, 1),
        ];
        device.run(requests, Pacing::Open, &mut answers);
        let read = answers.iter().find(|it| it.io.op == HostOp::Read).expect("answered");
        assert_eq!(read.blame.total(), read.latency());
        waits.push((read.blame[Part::BehindHostProgram], device.counters().suspensions));
    }
    let [(never, none), (ipc, once)] = waits[..] else { unreachable!("two runs") };
    assert_eq!((none, once), (0, 1));
    assert!(never > ipc && never > Span::us(100), "{never:?} and {ipc:?}");
}
