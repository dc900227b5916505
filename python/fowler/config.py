"""Every key of a drive's configuration as frozen dataclasses, made from the Rust definitions.

Do not edit: `make bless` writes this file anew, and a test says when that is due.
Times, sizes and rates carry their units in their text: ``"25us"``, ``"64MiB"``, ``"500MB/s"``. Each has its
number in several units, too: ``timing.read.us``, ``buffer.size.bytes``, ``policy.redundancy.rebuild_rate.mb_s``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fowler._section import Section
from fowler.units import Rate, Size, Spans, Time


@dataclass(frozen=True, kw_only=True, slots=True)
class Geometry(Section):
    """The keys of [geometry]."""

    channels: int
    """Buses between the controller and the chips: a whole number from 1 to 1024."""
    chips_per_channel: int
    """Chips that share one channel: a whole number from 1 to 256."""
    dies_per_chip: int
    """Dies in a chip; each works independently: a whole number from 1 to 64."""
    planes_per_die: int
    """Planes in a die, each an allocation pool: a whole number from 1 to 64."""
    blocks_per_plane: int
    """Blocks in a plane: a whole number from 1 to 1048576."""
    pages_per_block: int
    """Pages in a block: a whole number from 1 to 65536."""
    page_size: Size
    """Data bytes per page: a size with its unit, from 512B to 1MiB."""
    over_provisioning: float
    """Share of the capacity that the host does not see: a number from 0 to 10."""
    over_provisioning_base: Literal["raw", "logical"] = "raw"
    """The capacity to which over_provisioning is relative (raw: spare / raw; logical: spare
    / logical).
    """
    plane_mode: Literal["lockstep", "independent"] = "lockstep"
    """How the planes of a die work together (lockstep: one command at a time, on one or
    several planes; independent: each plane runs its own commands; they share the bus).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing(Section):
    """The keys of [timing]."""

    bus_transfer: Time
    """Transfer of a page over the channel, in either direction: a time with its unit, from
    0ns to 10s.
    """
    read: Time | tuple[Time, ...]
    """Sensing a page; one value, or one per page type: a time with its unit, from 1ns to
    10s, or a list of up to 4, one per page type.
    """
    program_phase: Time
    """Program phase of one ISPP iteration, including its voltage reset: a time with its
    unit, from 1ns to 10s.
    """
    verify_phase: Time
    """Verify phase of one ISPP iteration, including its voltage reset: a time with its unit,
    from 0ns to 10s.
    """
    program_iterations: int | tuple[int, ...]
    """ISPP iterations; one value, or one per page type: a whole number from 1 to 1000, or a
    list of up to 4, one per page type.
    """
    erase_pulse: Time
    """The erase pulse, including its voltage reset: a time with its unit, from 1ns to 10s."""
    erase_verify: Time
    """The verify phase after the erase pulse: a time with its unit, from 0ns to 10s."""
    voltage_reset: Time
    """Removing the voltages from the cells at the end of a phase: a time with its unit, from
    0ns to 10s.
    """
    buffer_load: Time
    """Loading the page buffer from the shadow buffer: a time with its unit, from 0ns to 10s."""
    program_erase: Literal["nominal", "read", "zero"] = "nominal"
    """How long programs and erases take (nominal: the times in [timing]; read: as long as a
    page read (PER); zero: no time at all (PE0)).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Buffer(Section):
    """The keys of [buffer]."""

    size: Size = Size("64MiB")
    """Size of the write buffer; with 0B it holds only pages that are being written to flash:
    a size with its unit, from 0B to 1TiB.
    """
    ack: Literal["on_insert", "on_program"] = "on_insert"
    """When a write is acknowledged to the host (on_insert: once its data is in the buffer;
    on_program: once its data is in flash).
    """
    evict_ahead: int = 16
    """Page frames to keep free or in eviction (on_insert only): a whole number from 0 to
    1048576.
    """
    cache_reads: bool = False
    """Whether the buffer also caches pages that were read: true or false."""
    read_hot: Literal["on_dirty", "on_evict", "rewrite_on_idle"] = "on_dirty"
    """What happens to a clean, read-hot page that is evicted (on_dirty: nothing: its copy in
    flash stays as it is; on_evict: it reads as if it had been reprogrammed at boosted
    voltages (the paper's numbers); rewrite_on_idle: it is reprogrammed in idle time).
    """
    rewrite_share: float = 0.125
    """Rewrite_on_idle: largest share of the frames that waiting pages may occupy: a number
    from 0.001 to 1.
    """
    pace: Time = Time("0s")
    """Time between two units that enter a full buffer; 0ns does not pace them (superblocks
    only): a time with its unit, from 0ns to 10s.
    """
    pace_from: float = 0.5
    """Pace only: share of the buffer in use from which units are paced, the slower the more
    is in use: a number from 0 to 0.999.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue(Section):
    """The keys of [queue]."""

    depth: int = 1024
    """Maximum number of host requests outstanding in the drive: a whole number from 1 to
    65536.
    """
    max_reads: int = 1024
    """Maximum number of host page reads queued or in service: a whole number from 1 to
    65536.
    """
    max_writes: int = 1024
    """Maximum number of host page writes queued for flash or in service: a whole number from
    1 to 65536.
    """
    admission: Literal["reads_pass", "in_order", "shared"] = "reads_pass"
    """What a request that finds no room in these queues holds up (reads_pass: its own kind:
    reads pass a write that waits for room; in_order: everything behind it: requests enter
    in their order; shared: reads, which are let through after every queue.reads_behind
    writes (superblocks only)).
    """
    reads_behind: int = 64
    """Shared only: the writes between two turns of the reads: a whole number from 0 to
    65536.
    """
    arbitration: Literal["arrival", "round_robin", "weighted"] = "arrival"
    """In which order writes are taken from the submission queues; each fio process, each
    stream of a measured protocol and each number in the column queue of a trace has one,
    and everything else is in the first (arrival: as they arrive, whatever their queue;
    round_robin: one from each queue in turn (superblocks only); weighted: as many from
    each queue as it weighs, in turn (superblocks only)).
    """
    weights: str = "1"
    """Weighted only: the writes that each queue hands over in its turn, the last number for
    all further queues: one to 16 whole numbers from 1 to 256, such as "4 1".
    """
    taken: int = 256
    """Round_robin and weighted: the most writes that wait in the drive, besides those in
    their queues: a whole number from 1 to 65536.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Host(Section):
    """The keys of [host]."""

    bandwidth: Rate = Rate("0B/s")
    """Bandwidth of the host link; with 0B/s data transfers take no time: a data rate with
    its unit, from 0B/s to 1000GB/s.
    """
    duplex: Literal["full", "half"] = "full"
    """Whether both directions of the link transfer at once (full: yes, as PCIe does; half:
    no, as SATA does: one transfer at a time, in either direction).
    """
    command: Time = Time("0s")
    """Time that each command occupies the host link: a time with its unit, from 0ns to 10s."""
    cores: int = 0
    """Firmware cores that handle commands, each one at a time; 0 leaves their time out: a
    whole number from 0 to 64.
    """
    core_time: Time = Time("0s")
    """Time that each command takes of a core: a time with its unit, from 0ns to 10s."""
    latency: Time = Time("0s")
    """Time that each command takes besides, without holding up others: a time with its unit,
    from 0ns to 10s.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Gc(Section):
    """The keys of [gc]."""

    foreground_below: int = 3
    """Garbage collection (GC) competes with the host below this number of erased blocks in a
    plane: a whole number from 1 to 65536.
    """
    background_below: int = 8
    """GC uses idle time below this number of erased blocks in a plane: a whole number from 0
    to 1048576.
    """
    idle_after: Time = Time("1ms")
    """How long a die must be idle before background GC starts: a time with its unit, from
    0ns to 1h.
    """
    frontier: Literal["own", "shared"] = "own"
    """Where GC writes the pages that it moves (own: to an open block of its own; shared: to
    the open block of host writes).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Precondition(Section):
    """The keys of [precondition]."""

    fill: float = 1.0
    """Share of the logical pages that hold data before the first request: a number from 0 to
    1.
    """
    pattern: Literal["sequential", "random", "steady", "rested"] = "sequential"
    """How the pages that hold data were written (sequential: once, in address order; random:
    once, in random order; steady: repeatedly at random until write amplification is
    steady; rested: as steady, with pauses in which GC reached gc.background_below).
    """
    access_class: Literal["mixed", "read_hot", "write_hot"] = "mixed"
    """Access class of these pages, which determines their voltages, on drives that
    distinguish classes (mixed: nominal voltages: nothing is known of them; read_hot:
    boosted voltages: they were read; write_hot: reduced voltages: they were written).
    """
    warm_up: int = 0
    """Requests of the workload that the drive serves first and that are not measured: a
    whole number from 0 to 1000000000000.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Ftl(Section):
    """The keys of [ftl]."""

    mapping: Literal["pages", "superblocks"] = "pages"
    """What the map of the drive points at (pages: flash pages; each die is filled and
    collected on its own; superblocks: units of a page; all dies are filled and collected
    together).
    """
    unwritten_reads: Literal["preconditioned", "zero", "error"] = "preconditioned"
    """What a read of a never-written page does (preconditioned: takes as long as any flash
    read; zero: is answered from the mapping, without a flash read; error: ends the run
    with an error).
    """
    partial_writes: Literal["read_modify_write", "overwrite"] = "read_modify_write"
    """What a partial-page write does (read_modify_write: reads the old page first;
    overwrite: programs the page without reading the old one).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Superblocks(Section):
    """The keys of [superblocks]."""

    unit: Size = Size("4KiB")
    """Size of a mapping unit, a divisor of the page size: a size with its unit, from 512B to
    1MiB.
    """
    word_line: int = 1
    """Pages of a word line, which are programmed at once (3 for TLC): a whole number from 1
    to 64.
    """
    parity: int = 0
    """One program command in this many stores parity over the others (RAIN); 0 for none: a
    whole number from 0 to 1048576.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Flash(Section):
    """The keys of [flash]."""

    cache_read: bool = False
    """Whether a die senses a page while the one read before it crosses the channel
    (superblocks only): true or false.
    """
    cache_program: bool = False
    """Whether the data of the next word line cross the channel while a die programs one
    (superblocks only): true or false.
    """
    program_passes: int = 1
    """Passes in which a word line is programmed; the second follows the first pass of the
    next word line of its die (superblocks only): a whole number from 1 to 2.
    """
    first_pass_iterations: int = 5
    """Two passes only: ISPP iterations of the first, coarse one; those of the second are
    timing.program_iterations: a whole number from 1 to 1000.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Slc(Section):
    """The keys of [slc]."""

    static: int = 0
    """SLC cache: superblocks set aside for it; a word line of theirs holds one page instead
    of superblocks.word_line (superblocks only): a whole number from 0 to 1048576.
    """
    dynamic: int = 0
    """SLC cache: the most erased superblocks that it uses besides (superblocks only): a
    whole number from 0 to 1048576.
    """
    keep_erased: int = 8
    """Dynamic only: the erased superblocks that the cache leaves, so that a fuller drive has
    a smaller cache: a whole number from 1 to 1048576.
    """
    when_full: Literal["direct", "wait"] = "direct"
    """Where writes go when the cache is full (direct: past it, with all bits of a cell; it
    is emptied in idle time, and when erased superblocks run low; wait: nowhere: they wait
    in the buffer until a superblock of the cache has been emptied).
    """
    fold_after: Time = Time("100ms")
    """How long no request must have been in the drive before the cache is emptied in idle
    time: a time with its unit, from 100us to 1h.
    """
    read_time: Time = Time("25us")
    """Sensing a page in SLC mode: a time with its unit, from 1ns to 10s."""
    iterations: int = 4
    """ISPP iterations of a program in SLC mode; the iterations are those of [timing]: a
    whole number from 1 to 1000.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Aging(Section):
    """The keys of [aging]."""

    coding: Literal["off", "balanced", "reflected"] = "off"
    """How the bits of a cell are assigned to its states, which come down as data ages
    (superblocks only) (off: cells make no errors: every read takes its nominal time;
    balanced: each page needs about as many references: 2-3-2 (TLC), 4-4-4-3 (QLC);
    reflected: each page needs twice as many as the one before: 1-2-4 (TLC), 1-2-4-8
    (QLC)).
    """
    voltage_window: float = 4.8
    """Distance of the highest programmed state from the lowest, more than 0 (V): a number
    from 0 to 100.
    """
    erased_below: float = 2.4
    """Distance of the erased state from the lowest programmed one, more than 0 (V): a number
    from 0 to 100.
    """
    step_share: float = 0.15
    """ISPP step, as a share of the distance of two programmed states; more than 0: a number
    from 0 to 100.
    """
    correctable: float = 0.004
    """Highest bit error rate that the code corrects, more than 0 and less than 0.5; a page
    with more is read again: a number from 0 to 0.5.
    """
    retry_entries: int = 15
    """Entries of the retry table after the usual references: a whole number from 1 to 31."""
    retry_shift: float = 0.08
    """How much lower each entry has the reference of the highest state, more than 0 (V);
    those of lower states come down in proportion: a number from 0 to 100.
    """
    retry_overhead: Time = Time("1us")
    """Time of a retry beyond sensing and transfer: a time with its unit, from 0ns to 100ms."""
    tracking: Literal["off", "superblock"] = "off"
    """Which entry of the retry table a read begins at (off: the usual references;
    superblock: the one at which the last retry of its superblock succeeded).
    """
    refresh_above: int = 0
    """Moves a superblock when a page of it was read at an entry beyond this; 0 for never: a
    whole number from 0 to 30.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class DieOrder(Section):
    """Which waiting transaction a die serves next."""

    name: Literal["fifo", "read_first", "rhio"] = "fifo"
    """Which waiting transaction a die serves next (fifo: first come, first served;
    read_first: reads that a host request waits for, then everything else in order of
    arrival; rhio: overdue requests, then reads of the youngest data, then writes of the
    smallest requests).
    """
    deadline: Time = Time("100ms")
    """Rhio: age at which a request is served before all others, unless the request has a
    deadline: a time with its unit, from 10ms to 1280ms.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspension(Section):
    """Whether a read may suspend a program or an erase."""

    name: Literal["never", "ips", "ipc"] = "never"
    """Whether a read may suspend a program or an erase (never: a program or erase runs to
    its end; ips: inter-phase suspension: at the end of the running phase; ipc: intra-
    phase cancellation: at once, and the phase is lost).
    """
    reads: Literal["host", "all"] = "host"
    """Which reads may suspend (host: reads that a host request waits for; all: also reads
    for GC and for partial-page writes).
    """
    cancelled_program: Literal["redo", "reached"] = "redo"
    """How a program resumes after a cancelled program phase (redo: with a check, then the
    whole phase again; reached: with a check, then the next iteration).
    """
    reload: Literal["abort", "finish"] = "abort"
    """What a read does if it arrives during the buffer reload (abort: it goes first, and the
    reload starts over; finish: it waits for the reload).
    """
    shadow_buffer: bool = True
    """Whether the die keeps the data of a suspended program: true or false."""
    max_suspends: int = 0
    """Maximum number of suspensions per operation; 0 is unlimited: a whole number from 0 to
    1000000.
    """
    min_progress: Time = Time("0s")
    """Time an operation runs before it may be suspended: a time with its unit, from 0ns to
    10s.
    """
    delay: Time = Time("0s")
    """Time from the point of suspension until the die serves the read: a time with its unit,
    from 0ns to 10s.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Victim(Section):
    """Which block GC collects."""

    name: Literal["greedy", "fifo", "d_choices", "cost_benefit"] = "greedy"
    """Which block GC collects (greedy: the block with the fewest valid pages; fifo: the
    block that was filled first; d_choices: the block with the fewest valid pages among d
    drawn at random; cost_benefit: the block that frees the most space per page moved,
    weighted by age).
    """
    d: int = 10
    """D_choices: blocks drawn at random for each choice: a whole number from 1 to 1024."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wear(Section):
    """Static wear leveling: when hot and cold data are swapped."""

    name: Literal["off", "hot_cold_swap"] = "off"
    """Static wear leveling: when hot and cold data are swapped (off: no static wear
    leveling; hot_cold_swap: cold data moves into blocks that are far more worn than
    others).
    """
    threshold: int = 100
    """Erases by which a block must exceed the least worn of its plane before they swap data:
    a whole number from 1 to 1000000.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Scrub(Section):
    """Whether idle data is read in the background, and moved before it is lost."""

    name: Literal["off", "patrol"] = "off"
    """Whether idle data is read in the background, and moved before it is lost (off: nothing
    is read that nobody asks for; patrol: all data is read once in each period, and blocks
    with many errors are moved).
    """
    period: Time = Time("2592000s")
    """Patrol: time in which every block that holds data is read once: a time with its unit,
    from 1ms to 3650d.
    """
    margin: float = 0.7
    """Patrol: errors of a page from which on its block is moved, as a share of those that
    the code corrects at its strongest level: a number from 0.001 to 1.
    """
    stripes: bool = False
    """Patrol: whether a stripe is compared with its parity when that is read, to find wrong
    pages that read well: true or false.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Throttle(Section):
    """How writes are throttled to reach the target lifetime."""

    name: Literal["off", "fixed_rate", "dynamic", "ready"] = "off"
    """How writes are throttled to reach the target lifetime (off: no write is delayed (NT);
    fixed_rate: each period may write its share of the rated capacity (ST); dynamic:
    delays by predicted demand, so that the rated capacity lasts for the target lifetime
    (DT); ready: as dynamic, but with the capacity that cells gain by resting (READY)).
    """
    enforcement: Literal["pessimistic", "optimistic"] = "optimistic"
    """Dynamic, ready: what may be written in an epoch (pessimistic: the epoch's own
    capacity, period by period; optimistic: also what later epochs can spare).
    """
    epoch: Literal["auto", "fixed"] = "auto"
    """Dynamic, ready: how long an epoch is (auto: the period of the cycle found in the
    demand; fixed: epoch_length).
    """
    epoch_length: Time = Time("600s")
    """Length of an epoch with epoch = "fixed": a time with its unit, from 1us to 3650d."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hotness(Section):
    """The detectors that classify data by how it is accessed."""

    name: tuple[Literal["request_size", "buffer_hits"], ...] = ()
    """The detectors that classify data by how it is accessed (request_size: data of small
    requests is hot: up to policy.hotness.hot_up_to, or up to their median; buffer_hits:
    read-hot, write-hot or mixed, by the hits that a page had in the buffer).
    """
    hot_up_to: Size = Size("0B")
    """Request_size: the largest request that counts as hot, in whole pages; 0B is the
    running median: a size with its unit, from 0B to 1GiB.
    """
    watermark: float = 0.95
    """Buffer_hits: share of reads, or of writes, above which a page is read-hot or write-
    hot: a number from 0.5 to 1.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement(Section):
    """Which open block takes which data."""

    name: Literal["single_stream", "streams"] = "single_stream"
    """Which open block takes which data (single_stream: one open block per plane, for all
    data; streams: one open block per plane for each tag).
    """
    dies: Literal["rotate", "by_address"] = "rotate"
    """Which die a host page is written to (rotate: the next die in turn that has room;
    by_address: the die of its address, or the next in turn if that die is full).
    """
    stripe_unit: int = 1
    """Neighboring pages that go to one die before the next die takes any: a whole number
    from 1 to 1024.
    """
    hot_to_strong: bool = False
    """Streams: put hot data in strong blocks and other data in weak ones: true or false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step(Section):
    """The ISPP step at which data is programmed."""

    name: Literal["nominal", "by_strength"] = "nominal"
    """The ISPP step at which data is programmed (nominal: the nominal step, safe in the
    weakest block; by_strength: hot data: the coarsest step that its block tolerates until
    the end of its life).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Voltage(Section):
    """The threshold voltages at which data is programmed."""

    name: Literal["nominal", "high", "low", "by_hotness"] = "nominal"
    """The threshold voltages at which data is programmed (nominal: nominal threshold
    voltages for all data; high: boosted for all data (HVC): fewest errors, most wear;
    low: reduced for all data (LVC): least wear, most errors; by_hotness: boosted for
    read-hot data, reduced for write-hot data (HIRE)).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement(Section):
    """Which page the buffer evicts."""

    name: Literal["clean_first", "lru", "cflru"] = "clean_first"
    """Which page the buffer evicts (clean_first: clean pages first, and only when a page
    needs the room; lru: the least recently used page, clean or dirty; cflru: as lru, but
    a clean page among the oldest is evicted before a dirty one).
    """
    window: int = 64
    """Cflru: number of oldest pages searched for a clean one: a whole number from 1 to
    1048576.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Sensing(Section):
    """The soft-sensing level at which a read starts."""

    name: Literal["worst_case", "model", "retry"] = "worst_case"
    """The soft-sensing level at which a read starts (worst_case: always the level that the
    weakest block needs at the end of its life; model: the level that the model predicts
    from the inputs it knows; retry: hard decision first, then higher levels until a read
    succeeds).
    """
    inputs: tuple[Literal["age", "voltage", "strength", "wear", "reads"], ...] = ()
    """Model: what it knows about a page; it assumes the worst about the rest (age: when the
    page was programmed; voltage: the threshold voltages at which it was programmed;
    strength: how fast its block accumulates errors; wear: the P/E cycles of its block;
    reads: the reads of its block since its erase).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Redundancy(Section):
    """How stripes are protected."""

    name: Literal["none", "raid5", "ppc", "udl", "pe_aware", "hc", "da_raid5"] = "none"
    """How stripes are protected (none: no redundancy: a page that cannot be read is lost;
    raid5: N+1 pages over as many chips, with rotating parity that is written with its
    data; ppc: as raid5, but parity is cached, and updated there page by page; udl: no
    parity: blocks are refreshed before their data fades or is disturbed; pe_aware: parity
    for stripes with a page in a worn block, refresh for the others; hc: as ppc, but data
    leaves the buffer by stripe, and parity may be rebuilt from the written pages alone;
    da_raid5: udl, then pe_aware, then hc as the drive wears).
    """
    stripe: int = 8
    """Data pages per stripe; with its parity page, a stripe spans one chip more: a whole
    number from 1 to 63.
    """
    parity_cache: Size = Size("512KiB")
    """Largest amount of parity that is cached or being written: a size with its unit, from
    0B to 1GiB.
    """
    parity_ahead: int = 1
    """Ppc, hc: entries of the parity cache kept free ahead of demand, at most half of them:
    a whole number from 1 to 65536.
    """
    cache: Literal["protected", "volatile", "limited"] = "protected"
    """What happens to the caches on power loss (protected: their contents survive; volatile:
    their contents are lost; limited: a capacitor saves as many pages as
    policy.redundancy.saved says).
    """
    saved: int = 0
    """Limited: pages that the capacitor of the drive still programs on power loss: a whole
    number from 0 to 16777216.
    """
    cut_programs: Literal["finished", "torn"] = "finished"
    """What becomes of programs in flight on power loss, unless caches are protected
    (finished: the drive has the energy to end them; torn: their pages cannot be read).
    """
    word_line: int = 1
    """Torn: pages of a word line, programmed one after another; a torn page takes the
    earlier ones with it: a whole number from 1 to 16.
    """
    n_update: int = 6
    """Hc: if more pages of a stripe than this are written together, its cached parity is
    recomputed: a whole number from 0 to 63.
    """
    above_n_update: Literal["add", "replace"] = "add"
    """Hc: which pages that parity then covers (add: the new ones and those covered before,
    which are read; replace: the new ones alone: until parity is written, the others have
    none).
    """
    update_order: Literal["program_first", "read_first"] = "program_first"
    """Whether a page is programmed before or after what it replaces is read for parity
    (program_first: the read finds its chip busy with the program; read_first: the read
    goes to the chip before the program).
    """
    flush_moved: bool = False
    """Whether cached parity is written when GC moves a page of its stripe: true or false."""
    flush_at_end: bool = False
    """Whether a run ends by writing what the caches hold: true or false."""
    cut_off: int = 8
    """Hc: writes of more pages than this bypass the caches; 0 disables the bypass: a whole
    number from 0 to 65536.
    """
    worn_above: int = 15000
    """P/E cycles above which a block counts as worn (T_p): a whole number from 0 to 1000000."""
    worn_erase_pulse: Time = Time("0s")
    """Erase pulse of a worn block; 0 is the same as for other blocks: a time with its unit,
    from 0ns to 10s.
    """
    all_above: int = 16384
    """Da_raid5: once more stripes than this have a page in a worn block, all get parity (L):
    a whole number from 0 to 4294967295.
    """
    retention: Time = Time("32918400s")
    """Data age at which a block is refreshed (T_retention): a time with its unit, from 1ms
    to 36500d.
    """
    reads: int = 46000
    """Reads after which a block is refreshed (T_read): a whole number from 1 to 4294967295."""
    limit_growth: float = 0.0
    """Retention and reads are the limits at worn_above cycles; each cycle less makes them
    longer by a factor of e^this: a number from 0 to 0.01.
    """
    rebuild_at_once: int = 4
    """Pages that are rebuilt at once: a whole number from 1 to 16."""
    rebuild_rate: Rate = Rate("0B/s")
    """How much is rebuilt per second at most; 0: as fast as the drive can: a data rate with
    its unit, from 0B/s to 1000GB/s.
    """
    integrity: bool = False
    """Whether every page carries a version, against which reads are verified; without
    redundancy, whether the pages that faults take are noted: true or false.
    """
    checks: Literal["none", "versions"] = "none"
    """What every read of a page checks, beside its errors (none: nothing: what the code
    takes for right is right; versions: page number, version and checksum stored beside
    the data: a wrong page reads as a failed one).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Policy(Section):
    """The keys of [policy]."""

    die_order: DieOrder = field(default_factory=DieOrder)
    """The keys of [policy.die_order]."""
    suspension: Suspension = field(default_factory=Suspension)
    """The keys of [policy.suspension]."""
    victim: Victim = field(default_factory=Victim)
    """The keys of [policy.victim]."""
    wear: Wear = field(default_factory=Wear)
    """The keys of [policy.wear]."""
    scrub: Scrub = field(default_factory=Scrub)
    """The keys of [policy.scrub]."""
    throttle: Throttle = field(default_factory=Throttle)
    """The keys of [policy.throttle]."""
    hotness: Hotness = field(default_factory=Hotness)
    """The keys of [policy.hotness]."""
    placement: Placement = field(default_factory=Placement)
    """The keys of [policy.placement]."""
    step: Step = field(default_factory=Step)
    """The keys of [policy.step]."""
    voltage: Voltage = field(default_factory=Voltage)
    """The keys of [policy.voltage]."""
    replacement: Replacement = field(default_factory=Replacement)
    """The keys of [policy.replacement]."""
    sensing: Sensing = field(default_factory=Sensing)
    """The keys of [policy.sensing]."""
    redundancy: Redundancy = field(default_factory=Redundancy)
    """The keys of [policy.redundancy]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ReliabilityTable(Section):
    """The keys of [reliability.table]."""

    cycles: tuple[float, ...] = ()
    """Table: P/E cycles of an average block, ascending: a list of numbers from 0 to
    1000000000.
    """
    ages: Spans = Spans(())
    """Table: retention ages, ascending: a list of times with their units, from 0ns to 1827d."""
    rates: tuple[tuple[float, ...], ...] = ()
    """Table: bit error rates, above 0 and below 0.5; one row per entry of cycles, one column
    per entry of ages: a list of lists of numbers from 0 to 0.5.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class ReliabilityCells(Section):
    """The keys of [reliability.cells]."""

    growth_mean: float = 0.00037
    """Mean rate at which the logarithm of a block's RBER grows with P/E cycles (per cycle):
    a number from 0 to 1000000000.
    """
    growth_sd: float = 9e-05
    """Standard deviation of the growth rate, before truncation at the bounds (per cycle): a
    number from 0 to 1000000000.
    """
    growth_bound: float = 3.0
    """Distance of the growth rate's bounds from its mean (sd): a number from 0 to
    1000000000.
    """
    rber_unworn: float = 0.0001
    """RBER of a just-written page in an unworn block: a number from 0 to 1000000000."""
    erased: float = 1.17
    """Mean threshold voltage of the erased state (V): a number from 0 to 1000000000."""
    programmed_1: float = 2.37
    """Verify voltage of the lowest programmed state (V): a number from 0 to 1000000000."""
    programmed_2: float = 2.96
    """Verify voltage of the middle programmed state (V): a number from 0 to 1000000000."""
    programmed_3: float = 3.54
    """Verify voltage of the highest programmed state (V): a number from 0 to 1000000000."""
    step: float = 0.25
    """Nominal ISPP step (V): a number from 0 to 1000000000."""
    erased_sd: float = 0.25
    """Standard deviation of the erased state (of the erased mean): a number from 0 to
    1000000000.
    """
    retention_charge: float = 0.38
    """Gain of all retention loss with the distance of a state from the erased state (K_s): a
    number from 0 to 1000000000.
    """
    retention_shift: float = 0.0004
    """Gain of the mean retention loss with the power of cycles and the logarithm of age
    (K_d): a number from 0 to 1000000000.
    """
    retention_spread: float = 4e-06
    """Gain of the variance of retention loss with the power of cycles and the logarithm of
    age (K_m) (V): a number from 0 to 1000000000.
    """
    retention_onset: float = 3600.0
    """Age at which retention loss begins; the loss is proportional to ln(1 + age / onset)
    (s): a number from 0 to 1000000000.
    """
    retention_shift_power: float = 0.5
    """Exponent of cycles in the mean retention loss: a number from 0 to 1000000000."""
    retention_spread_power: float = 0.6
    """Exponent of cycles in the variance of retention loss: a number from 0 to 1000000000."""
    disturb_slope: float = 1e-09
    """RBER that one read adds to the block's other pages (per read): a number from 0 to
    1000000000.
    """
    disturb_cycles: float = 2000.0
    """Cycles at which `disturb_slope` was measured (cycles): a number from 0 to 1000000000."""
    disturb_power: float = 1.46
    """Exponent of cycles in the slope of read disturb: a number from 0 to 1000000000."""
    correctable_3: float = 0.004
    """Highest RBER that LDPC corrects with 3 reference voltages: a number from 0 to
    1000000000.
    """
    correctable_9: float = 0.01
    """Highest RBER that LDPC corrects with 9 reference voltages: a number from 0 to
    1000000000.
    """
    correctable_21: float = 0.015
    """Highest RBER that LDPC corrects with 21 reference voltages: a number from 0 to
    1000000000.
    """
    end_cycles: float = 3000.0
    """P/E cycles that a block must endure (cycles): a number from 0 to 1000000000."""
    end_age: float = 30.0
    """Retention age at which data must still be readable at the end of life (days): a number
    from 0 to 1000000000.
    """
    end_reads: float = 10000.0
    """Reads since erase at which data must still be readable at the end of life (reads): a
    number from 0 to 1000000000.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Reliability(Section):
    """The keys of [reliability]."""

    model: Literal["off", "analytic", "by_voltage", "table"] = "off"
    """The model of bit errors (off: no bit errors: every read takes its nominal time;
    analytic: computed from threshold voltages (docs/physics.md); by_voltage: set by the
    programming voltages alone: sensing levels as in HIRE's Table 1; table: looked up in
    reliability.table; covers the nominal step only).
    """
    levels: int = 3
    """Number of soft-sensing levels, in the order of 3, 9 and 21 reference voltages: a whole
    number from 1 to 3.
    """
    retry: Literal["whole", "increment"] = "whole"
    """What a retry at the next level senses and transfers (whole: all reference voltages of
    that level; increment: only those that the level before did not have (progressive
    sensing)).
    """
    uber: float = 0.0
    """Uncorrectable errors per bit read, whatever the age and wear of the page; each takes
    its page for good: a number from 0 to 0.000001.
    """
    cycles: int = 0
    """P/E cycles that every block has before preconditioning: a whole number from 0 to
    1000000.
    """
    cycles_spread: int = 0
    """Largest number of additional P/E cycles; each block draws its own: a whole number from
    0 to 1000000.
    """
    oldest: Time = Time("0s")
    """Age of the oldest data at the start: a time with its unit, from 0ns to 1827d."""
    strength: Literal["oracle", "measured"] = "oracle"
    """How the controller learns the strength of a block (oracle: it knows the exact value;
    measured: it counts the bits corrected in pages that it reads in idle time, and in one
    scan before the run).
    """
    risk: float = 0.05
    """Measured: accepted probability that a block is weaker than estimated: a number from
    0.000001 to 0.999.
    """
    measure_every: Time = Time("86400s")
    """Measured: period in which every block is scanned once: a time with its unit, from 1ms
    to 3650d.
    """
    table: ReliabilityTable = field(default_factory=ReliabilityTable)
    """The keys of [reliability.table]."""
    cells: ReliabilityCells = field(default_factory=ReliabilityCells)
    """The keys of [reliability.cells]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class BadBlocks(Section):
    """The keys of [bad_blocks]."""

    share: float = 0.0
    """Share of blocks that have failed when all have reached lifetime.cycles; 0: no block
    fails: a number from 0 to 0.5.
    """
    shape: float = 3.0
    """Weibull shape of failures. 1: at a constant rate; above 1: at a rate that rises with
    wear: a number from 0.1 to 20.
    """
    erases: float = 0.5
    """Share of failures that an erase reports; a program reports the others, unless its page
    is not programmed in that cycle: a number from 0 to 1.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class FailedDies(Section):
    """The keys of [failed_dies]."""

    spare: int = 0
    """Spare dies, each of which takes the place of a failed one; a die that fails after that
    stays failed: a whole number from 0 to 16777216.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class LifetimeTable(Section):
    """The keys of [lifetime.table]."""

    idle: Spans = Spans(())
    """Table: mean idle times between two cycles, ascending: a list of times with their
    units, from 0ns to 36500d.
    """
    cycles: tuple[float, ...] = ()
    """Table: endurance in P/E cycles at each of these idle times: a list of numbers from 0
    to 1000000000.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Lifetime(Section):
    """The keys of [lifetime]."""

    target: Time = Time("157680000s")
    """Target lifetime of the drive: a time with its unit, from 1ms to 36500d."""
    cycles: float = 3000.0
    """Endurance of the cells in P/E cycles, without recovery: a number from 0 to 1000000000."""
    recovery: Literal["spread", "refit", "literal", "table"] = "spread"
    """How cells recover between two P/E cycles (docs/ready.md) (spread: READY's model, with
    the time over which all cycles are spread; refit: READY's model as printed, constants
    fitted to its Table 2; literal: READY's model as printed; table: looked up in
    lifetime.table, for other technologies).
    """
    dilation: int = 1
    """Number of real repetitions that each simulated one stands for; scales wear and time: a
    whole number from 1 to 1000000.
    """
    window: Time = Time("600s")
    """Window over which write demand is measured, and the shortest epoch: a time with its
    unit, from 1us to 3650d.
    """
    period: Time = Time("1s")
    """Length of a period; a host stopped in one may resume in the next: a time with its
    unit, from 1us to 3650d.
    """
    spare: float = 0.1
    """Share of the capacity of later epochs that an epoch may borrow: a number from 0 to 1."""
    miss: float = 0.25
    """Relative error beyond which a prediction of demand counts as a miss: a number from 0
    to 1000.
    """
    streak: int = 3
    """Consecutive misses before a new epoch length is chosen: a whole number from 1 to
    1000000.
    """
    history: Time = Time("86400s")
    """How far back demand is remembered: a time with its unit, from 1us to 3650d."""
    table: LifetimeTable = field(default_factory=LifetimeTable)
    """The keys of [lifetime.table]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Config(Section):
    """A drive: every key there is."""

    geometry: Geometry
    """The keys of [geometry]."""
    timing: Timing
    """The keys of [timing]."""
    buffer: Buffer = field(default_factory=Buffer)
    """The keys of [buffer]."""
    queue: Queue = field(default_factory=Queue)
    """The keys of [queue]."""
    host: Host = field(default_factory=Host)
    """The keys of [host]."""
    gc: Gc = field(default_factory=Gc)
    """The keys of [gc]."""
    precondition: Precondition = field(default_factory=Precondition)
    """The keys of [precondition]."""
    ftl: Ftl = field(default_factory=Ftl)
    """The keys of [ftl]."""
    superblocks: Superblocks = field(default_factory=Superblocks)
    """The keys of [superblocks]."""
    flash: Flash = field(default_factory=Flash)
    """The keys of [flash]."""
    slc: Slc = field(default_factory=Slc)
    """The keys of [slc]."""
    aging: Aging = field(default_factory=Aging)
    """The keys of [aging]."""
    policy: Policy = field(default_factory=Policy)
    """The keys of [policy]."""
    reliability: Reliability = field(default_factory=Reliability)
    """The keys of [reliability]."""
    bad_blocks: BadBlocks = field(default_factory=BadBlocks)
    """The keys of [bad_blocks]."""
    failed_dies: FailedDies = field(default_factory=FailedDies)
    """The keys of [failed_dies]."""
    lifetime: Lifetime = field(default_factory=Lifetime)
    """The keys of [lifetime]."""
    seed: int = 1
    """Seed of every random stream: a whole number from 0 to 9223372036854775807."""
