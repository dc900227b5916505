//! Flash transactions in flight: one flash page or block operation each, in an arena of fixed
//! capacity.
//!
//! Invariants: a record is open from [`Txns::open`] until it is closed, exactly once; `next` chains
//! a record in one list at a time: the queue of its die, the pages of its command, or the writes
//! that joined a program; `order` grows with every record that is opened or reused.

use crate::cells::program_mode::{Mode, Voltage};
use crate::flash::indexed_heap::Places;
use crate::flash::queue::TxnClass;
use crate::observe::ledger::Ledger;
use crate::observe::operation::{Op, Source};
use crate::policy::die_order::DEADLINE_GRAIN;
use crate::policy::stream_tag::StreamTag;
use fowler_units::{
    Bytes, DieId, FrameId, Id, Lpn, Nanos, ParityId, ReqId, RuId, Span, Table, TxnId, UnitId,
};

/// The owner of a transaction, which is notified when the transaction is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The owner is the host request in [`Txn::req`], which waits for this page read.
    Request,
    /// The transaction belongs to a frame of the buffer whose page is being programmed, and
    /// possibly to requests that wait for the program.
    Frame(FrameId),
    /// The transaction belongs to a frame of the buffer that needs the old page, because a write
    /// covers only part of it.
    Merge(FrameId),
    /// The transaction repeats, on another die, a program that a failed die did not complete. The
    /// data is that of this buffer frame or, without a frame, of a page that was being moved.
    Displaced(FrameId),
    /// The owner is the GC job of the plane that holds the transaction's page.
    Job,
    /// The transaction belongs to the measurement of a block's strength: how slowly its bit errors
    /// grow with wear.
    Measure,
    /// The transaction belongs to the scrubbing of a die.
    Scrub,
    /// The transaction belongs to the comparison of a stripe with its parity, during the scrubbing
    /// of the die named here.
    StripeCheck(DieId),
    /// The owner is the mapping, which reads or writes one of its own pages for an entry.
    Mapping,
    /// The transaction belongs to the parity of a stripe, by its place in the parity cache.
    Parity(ParityId),
    /// The transaction belongs to the recovery of a page that could not be read, by the number of
    /// the recovery.
    DegradedRead(u32),
    /// The owner is a raw flash command, by its number.
    Raw(u32),
    /// The transaction belongs to a program command of a superblock, by the number of the command.
    Command(u32),
    /// The transaction belongs to the first of the two program passes of a word line in a
    /// superblock. The field is the number of the program command.
    FirstPass(u32),
    /// The transaction belongs to the collection or erase of a superblock, by the number of the
    /// superblock.
    Superblock(RuId),
}

/// Record that shows what a transaction waited for: the log of its die's activities, or the total
/// time of each activity, saved with the transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wait {
    /// The log of the die's activities reaches back to the submission of the transaction, and shows
    /// what the transaction waited for.
    InLog,
    /// The log of the die's activities no longer reaches back to the submission of the transaction,
    /// which still waits. The total time of each activity up to the submission is saved with the
    /// transaction.
    Noted,
    /// The time of each of the die's activities during the wait, which has ended, is saved with the
    /// transaction.
    Settled,
}

/// One transaction: a read or program of a page, or an erase of a block.
#[derive(Clone, Copy, Debug)]
pub struct Txn {
    /// Kind of the operation: read, program or erase.
    pub op: Op,
    /// Source on whose behalf the transaction runs.
    pub source: Source,
    /// Class of the transaction, which selects its list in the die's queue: read, program or erase,
    /// of the host or of background work.
    pub class: TxnClass,
    /// For programs, true if the data is already in the page buffer of the die, so there is no
    /// transfer in.
    pub data_in_buffer: bool,
    /// True while the transaction is in flight; false for a free entry of the table of
    /// transactions.
    open: bool,
    /// Record that shows what this transaction waited for.
    pub wait: Wait,
    /// For host reads and programs, true if the transaction was started before one of the same
    /// class that was submitted earlier.
    pub overtook: bool,
    /// For programs of host data, the stream tag of the data.
    pub tag: StreamTag,
    /// For programs bound to a page, the ISPP step and voltages of the block.
    pub mode: Mode,
    /// For programs bound to a page, how many earlier programs of the same data have failed. For
    /// reads of a drive with superblocks, the place of the mapping unit that a random failure has
    /// struck among those that the read brings, counted from 1; 0 without a failure.
    pub failed: u8,
    /// For reads, the voltages that the page is assumed to have been programmed at, if not those of
    /// the block.
    pub read_as: Option<Voltage>,
    /// For programs of host data, the number of pages of the request that wrote the data.
    pub group: u16,
    /// Deadline of the host request that waits for the transaction, in steps of 10 ms
    /// ([`crate::policy::die_order::DEADLINE_GRAIN`]) after `asked`, when it began to wait; zero if
    /// the drive's deadline applies.
    pub deadline: u8,
    /// Number of mapping units of the flash page that cross the channel for this transaction, each
    /// in the time `timing.bus_transfer`; 1 on a drive whose mapping unit is a page.
    pub parts: u8,
    /// For reads, the sensing level of the first try. For reads of aged data on drives with
    /// superblocks, the entry of the retry table of the first try.
    pub first_level: u8,
    /// For reads, the sensing level of the latest try. For reads of aged data on drives with
    /// superblocks, the number of tries before the latest.
    pub level: u8,
    /// For reads, the sensing level that the page needs. For reads of aged data on drives with
    /// superblocks, the number of tries needed after the first.
    pub needed: u8,
    /// Owner of the transaction, which is notified when it ends.
    pub owner: Owner,
    /// Die that the transaction waits for.
    pub die: DieId,
    /// For reads, the mapping unit. For programs, the first unit of the page, once bound. For
    /// erases, the first unit of the block.
    pub unit: UnitId,
    /// Logical page whose data a program or move writes.
    pub lpn: Lpn,
    /// Next transaction in the queue. Also chains the transactions of a multi-plane command, and
    /// the page writes that joined one program.
    pub next: TxnId,
    /// Previous transaction in the queue. Meaningless for the first.
    pub prev: TxnId,
    /// First of the page writes that joined this program while it waited.
    pub joined: TxnId,
    /// Host request that waits for the transaction, if any.
    pub req: ReqId,
    /// For pages that are moved, and for data that goes to another die because its die has failed,
    /// the mapping unit that the data comes from.
    pub from: UnitId,
    /// For programs of buffered data, the epoch of the data: the span between two host flushes in
    /// which it was written. For reads that compute parity, the number of their set of reads; a
    /// read of an earlier set, which was abandoned, is ignored.
    pub epoch: u32,
    /// For programs of buffered data, the time at which the old page had been merged in, if it had
    /// to be read. The program needs a die from then on.
    pub merged_at: Nanos,
    /// Number of the transaction in the order of submission.
    pub order: u64,
    /// Time at which the transaction was opened.
    pub created: Nanos,
    /// Time since which a host request has waited for the transaction, in the drive or before its
    /// queues.
    pub asked: Nanos,
    /// Time that the request had waited for buffer space when the transaction was opened.
    pub buffer_wait: Span,
    /// Time that the request had waited for the mapping when the transaction was opened.
    pub mapping_wait: Span,
    /// Time at which the transaction was submitted to its die.
    pub submitted: Nanos,
    /// Time at which the die started the transaction.
    pub dispatched: Nanos,
    /// Number of suspensions of the program or erase.
    pub suspensions: u32,
}

impl Txn {
    /// Returns the number of mapping units that the transaction transfers: [`Txn::parts`] if pages
    /// hold several units (`packed`), else one.
    #[inline(always)]
    pub fn units(&self, packed: bool) -> u64 {
        if packed { u64::from(self.parts) } else { 1 }
    }

    /// Returns the time of all transfers of the transaction, each of which takes `transfer`.
    #[inline(always)]
    pub fn all_of(&self, packed: bool, transfer: Span) -> Span {
        if packed { transfer * u64::from(self.parts) } else { transfer }
    }

    /// Returns mapping unit `number`, counted from 0, of those that a read brings
    /// on a drive with superblocks: they follow each other from [`Txn::from`] on or, in reads that
    /// the drive needs for itself, are the bits of [`Txn::epoch`].
    pub fn unit_read(&self, number: u8) -> UnitId {
        if matches!(self.owner, Owner::Request | Owner::Merge(_)) {
            return self.from.plus(number.into());
        }
        let rest = (0..number).fold(self.epoch, |rest, _| rest & rest.wrapping_sub(1));
        debug_assert_ne!(rest, 0, "a read brings as many units as it has parts");
        self.from.plus(rest.trailing_zeros())
    }

    /// Creates a read, program or erase on `die`. The arena numbers it.
    #[inline]
    fn new(op: Op, source: Source, class: TxnClass, owner: Owner, die: DieId, now: Nanos) -> Txn {
        Txn {
            op,
            source,
            class,
            data_in_buffer: false,
            open: false,
            wait: Wait::InLog,
            overtook: false,
            tag: StreamTag::PLAIN,
            mode: Mode::default(),
            failed: 0,
            read_as: None,
            group: 0,
            deadline: 0,
            parts: 1,
            first_level: 0,
            level: 0,
            needed: 0,
            owner,
            die,
            unit: UnitId::NONE,
            lpn: Lpn::NONE,
            next: TxnId::NONE,
            prev: TxnId::NONE,
            joined: TxnId::NONE,
            req: ReqId::NONE,
            from: UnitId::NONE,
            epoch: 0,
            merged_at: now,
            order: 0,
            created: now,
            asked: now,
            buffer_wait: Span::ZERO,
            mapping_wait: Span::ZERO,
            submitted: now,
            dispatched: now,
            suspensions: 0,
        }
    }

    /// Returns the time at which the transaction is due. `deadline` is the drive's, for requests
    /// without their own.
    #[inline]
    pub fn due(&self, deadline: Span) -> Nanos {
        let own = DEADLINE_GRAIN * u64::from(self.deadline);
        self.asked + if self.deadline == 0 { deadline } else { own }
    }

    /// Returns true if the transaction programs a page whose place was known before it began to
    /// wait for its die, as those of superblocks are.
    #[inline]
    pub fn has_place(&self) -> bool {
        matches!(self.owner, Owner::Command(_) | Owner::FirstPass(_))
    }

    /// Returns true if the transaction is the first of two passes of a program.
    #[inline]
    pub fn is_first_pass(&self) -> bool {
        matches!(self.owner, Owner::FirstPass(_))
    }

    /// Returns true if a host request waits for this transaction itself, not only for one that
    /// joined it.
    #[inline]
    pub fn host_waits(&self) -> bool {
        self.class == TxnClass::HostRead
    }
}

/// The two heaps of a die that serves waiting transactions by rank; a transaction is in each heap
/// at most once.
#[derive(Clone, Copy, Debug)]
pub enum By {
    /// The heap of the transaction's class, ordered by rank: by the age of its data or the size of
    /// its request.
    Rank,
    /// The heap of all transactions that a host request waits for, ordered by due time.
    Age,
}

/// The arena of transactions. Its capacity follows from the configuration; admission of requests
/// keeps within it.
#[derive(Clone, Debug)]
pub struct Txns {
    records: Table<TxnId, Txn>,
    waits: Table<TxnId, Ledger>,
    /// Place of each transaction in the two heaps of its die (by rank, by due time), if that die
    /// has heaps.
    places: [Places; 2],
    free: Vec<TxnId>,
    submitted: u64,
}

impl Txns {
    /// Creates an arena for `capacity` transactions.
    pub fn with_capacity(capacity: usize) -> Self {
        let blank = Txn::new(
            Op::Read,
            Source::Host,
            TxnClass::HostRead,
            Owner::Raw(0),
            DieId(0),
            Nanos::ZERO,
        );
        // SAFETY: ids of transactions are made only in `free` below, and lie within `capacity`. The
        // rest of the crate copies them, or uses `TxnId::NONE`, which it tests for before a lookup.
        // Ids from custom policies are looked up with a check (`find`).
        #[allow(unsafe_code, reason = "see `Table`")]
        let (records, waits) = unsafe {
            (Table::new(vec![blank; capacity]), Table::new(vec![Ledger::default(); capacity]))
        };
        Self {
            records,
            waits,
            places: [Places::filled(0, capacity), Places::filled(0, capacity)],
            free: (0..capacity).rev().map(TxnId::new).collect(),
            submitted: 0,
        }
    }

    /// Returns the memory that an arena for `capacity` transactions takes on the simulating
    /// machine.
    pub fn bytes(capacity: usize) -> Bytes {
        Bytes::of::<Txn>(capacity as u64)
            + Bytes::of::<Ledger>(capacity as u64)
            + Bytes::of::<[u32; 2]>(capacity as u64)
            + Bytes::of::<TxnId>(capacity as u64)
    }

    /// Opens a transaction in a free place of the arena; the caller fills in the other fields.
    ///
    /// # Panics
    ///
    /// If the arena is full: admission must hold requests back.
    #[inline]
    pub fn open(
        &mut self,
        op: Op,
        source: Source,
        class: TxnClass,
        owner: Owner,
        die: DieId,
        now: Nanos,
    ) -> (TxnId, &mut Txn) {
        let id = self.free.pop().expect("transaction arena full: admission must hold back");
        self.submitted += 1;
        let record = &mut self.records[id];
        assert!(!record.open);
        *record = Txn::new(op, source, class, owner, die, now);
        record.order = self.submitted;
        record.open = true;
        (id, record)
    }

    /// Closes a transaction of a GC job and opens the next one of that job on the same die, with
    /// the same id. Writes only the fields that may differ.
    #[inline]
    pub fn follow(&mut self, id: TxnId, op: Op, class: TxnClass, now: Nanos) -> &mut Txn {
        self.submitted += 1;
        let record = &mut self.records[id];
        // Following a closed transaction would give two transactions one place.
        assert!(record.open, "a closed transaction has no next one");
        // Only GC calls this function, with a transaction of its own. Page writes join programs of
        // buffered data, and requests wait for those programs and for their own reads, never for a
        // job.
        debug_assert!(record.owner == Owner::Job);
        debug_assert!(!record.joined.is_some() && !record.req.is_some());
        (record.op, record.class, record.order) = (op, class, self.submitted);
        (record.created, record.asked) = (now, now);
        (record.first_level, record.level, record.needed) = (0, 0, 0);
        record.suspensions = 0;
        record
    }

    /// Closes a transaction, which frees its place. A transaction is closed exactly once.
    #[inline]
    pub fn close(&mut self, id: TxnId) {
        let open = std::mem::replace(&mut self.records[id].open, false);
        assert!(open, "transaction closed twice");
        self.free.push(id);
    }

    /// Returns the record of a flash transaction.
    #[inline]
    pub fn get(&self, id: TxnId) -> &Txn {
        debug_assert!(self.records[id].open);
        &self.records[id]
    }

    /// Returns the transaction with an id that came from a custom policy; `None` if it is not in
    /// flight.
    pub fn find(&self, id: TxnId) -> Option<&Txn> {
        self.records.as_slice().get(id.index()).filter(|txn| txn.open)
    }

    /// Returns the record of a flash transaction for modification.
    #[inline]
    pub fn get_mut(&mut self, id: TxnId) -> &mut Txn {
        debug_assert!(self.records[id].open);
        &mut self.records[id]
    }

    /// Returns the saved time of each of the die's activities: during the wait of this transaction,
    /// if the wait has ended; otherwise, in total up to the submission of the transaction. [`Wait`]
    /// tells which.
    #[inline]
    pub fn waits(&self, id: TxnId) -> &Ledger {
        &self.waits[id]
    }

    /// Returns the saved time of each of the die's activities during or before a transaction's
    /// wait, for modification.
    #[inline]
    pub fn waits_mut(&mut self, id: TxnId) -> &mut Ledger {
        &mut self.waits[id]
    }

    /// Returns the places of all transactions in the heaps of their dies: those ordered by rank, or
    /// those ordered by due time.
    pub fn places_mut(&mut self, by: By) -> &mut Places {
        &mut self.places[by as usize]
    }

    /// Returns the number of transactions in flight.
    pub fn open_count(&self) -> usize {
        self.records.len() - self.free.len()
    }

    /// Returns the number of free places in the arena of transactions.
    #[inline]
    pub fn free_count(&self) -> usize {
        self.free.len()
    }

    /// Returns all transactions in flight.
    pub fn iter(&self) -> impl Iterator<Item = (TxnId, &Txn)> {
        self.records.ids().map(|id| (id, &self.records[id])).filter(|(_, txn)| txn.open)
    }
}
