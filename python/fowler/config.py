"""Every key of a drive's configuration as frozen dataclasses, made from the Rust definitions.

Do not edit: `make bless` writes this file anew, and a test says when that is due.
Times, sizes and rates carry their units in their text: ``"25us"``, ``"64MiB"``, ``"500MB/s"``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fowler._section import Section


@dataclass(frozen=True, kw_only=True, slots=True)
class Geometry(Section):
    """The keys of [geometry]."""

    channels: int
    """Buses between the controller and the chips: a whole number from 1 to 1024."""
    chips_per_channel: int
    """Chips that share one channel: a whole number from 1 to 256."""
    dies_per_chip: int
    """Dies in a chip, each busy on its own: a whole number from 1 to 64."""
    planes_per_die: int
    """Planes in a die, each an allocation pool: a whole number from 1 to 64."""
    blocks_per_plane: int
    """Blocks in a plane: a whole number from 1 to 1048576."""
    pages_per_block: int
    """Pages in a block: a whole number from 1 to 65536."""
    page_size: str
    """Data of one page: a size with its unit, from 512B to 1MiB."""
    over_provisioning: float
    """Share of the capacity that the host does not see: a number from 0 to 10."""
    over_provisioning_base: Literal["raw", "logical"] = "raw"
    """What over_provisioning is a share of (raw: spare / raw; logical: spare / logical)."""
    plane_mode: Literal["lockstep", "independent"] = "lockstep"
    """How the planes of a die work (lockstep: one command at a time, over several planes;
    independent: each plane on its own; the bus is shared).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Timing(Section):
    """The keys of [timing]."""

    bus_transfer: str
    """Moving one page over the channel, either way: a time with its unit, from 0ns to 10s."""
    read: str | tuple[str, ...]
    """Sensing a page; one value, or one per page type: a time with its unit, from 1ns to
    10s, or a list of up to 4, one per page type.
    """
    program_phase: str
    """Program phase of one ISPP iteration, its reset included: a time with its unit, from
    1ns to 10s.
    """
    verify_phase: str
    """Verify phase of one ISPP iteration, its reset included: a time with its unit, from 0ns
    to 10s.
    """
    program_iterations: int | tuple[int, ...]
    """ISPP iterations; one value, or one per page type: a whole number from 1 to 1000, or a
    list of up to 4, one per page type.
    """
    erase_pulse: str
    """The erase pulse, its reset included: a time with its unit, from 1ns to 10s."""
    erase_verify: str
    """The verify after the erase pulse: a time with its unit, from 0ns to 10s."""
    voltage_reset: str
    """Taking the voltages off the cells, at the end of a phase: a time with its unit, from
    0ns to 10s.
    """
    buffer_load: str
    """Loading the page buffer from the shadow buffer: a time with its unit, from 0ns to 10s."""
    program_erase: Literal["nominal", "read", "zero"] = "nominal"
    """How long programs and erases take (nominal: as the timing says; read: as long as
    sensing a page (PER); zero: no time at all (PE0)).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Buffer(Section):
    """The keys of [buffer]."""

    size: str = "64MiB"
    """The write buffer; 0B leaves only pages on their way to the flash: a size with its
    unit, from 0B to 1TiB.
    """
    ack: Literal["on_insert", "on_program"] = "on_insert"
    """When a write is complete for the host (on_insert: when its data is in the buffer;
    on_program: when its data is in the flash).
    """
    evict_ahead: int = 16
    """Page frames that are free or on their way out (on_insert only): a whole number from 0
    to 1048576.
    """
    cache_reads: bool = False
    """Whether pages that were read stay in the buffer: true or false."""
    read_hot: Literal["on_dirty", "on_evict", "rewrite_on_idle"] = "on_dirty"
    """What becomes of a page that leaves clean and was read hot (on_dirty: its copy in the
    flash stays as it is; on_evict: it is read as if it had been programmed for that (the
    paper's numbers); rewrite_on_idle: it is programmed anew in idle time).
    """
    rewrite_share: float = 0.125
    """Up to what share of the frames holds pages that wait for that: a number from 0.001 to
    1.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Queue(Section):
    """The keys of [queue]."""

    depth: int = 1024
    """Host requests in the device at once: a whole number from 1 to 65536."""
    max_reads: int = 1024
    """Host page reads waiting or in service at once: a whole number from 1 to 65536."""
    max_writes: int = 1024
    """Host page writes on their way to the flash at once: a whole number from 1 to 65536."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Host(Section):
    """The keys of [host]."""

    bandwidth: str = "0B/s"
    """Rate of the host link; 0B/s makes data transfers free: a data rate with its unit, from
    0B/s to 1000GB/s.
    """
    command: str = "0s"
    """Time each command occupies the host link: a time with its unit, from 0ns to 10s."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gc(Section):
    """The keys of [gc]."""

    foreground_below: int = 3
    """Erased blocks of a plane below which garbage collection (GC) competes with the host: a
    whole number from 1 to 65536.
    """
    background_below: int = 8
    """Erased blocks of a plane up to which GC uses idle time: a whole number from 0 to
    1048576.
    """
    idle_after: str = "1ms"
    """Idle time of a die before background GC starts: a time with its unit, from 0ns to 1h."""
    frontier: Literal["own", "shared"] = "own"
    """Where pages moved by GC go (own: an open block of their own; shared: the block that
    host writes fill).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Precondition(Section):
    """The keys of [precondition]."""

    fill: float = 1.0
    """Share of the logical pages that hold data at the start: a number from 0 to 1."""
    pattern: Literal["sequential", "random", "steady", "rested"] = "sequential"
    """How they were written (sequential: once, in address order; random: once, in random
    order; steady: over and over at random until write amplification is steady; rested:
    the same, with pauses in which GC reached gc.background_below).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Ftl(Section):
    """The keys of [ftl]."""

    unwritten_reads: Literal["preconditioned", "zero", "error"] = "preconditioned"
    """What a read of a never-written page does (preconditioned: the time of a read on its
    die; zero: answered by the mapping, without flash; error: an error of the workload).
    """
    partial_writes: Literal["read_modify_write", "overwrite"] = "read_modify_write"
    """What a write of part of a page does (read_modify_write: the old page is read first;
    overwrite: the page is programmed without reading).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class DieOrder(Section):
    """Which waiting transaction a die serves next."""

    name: Literal["fifo", "read_first", "rhio"] = "fifo"
    """Which waiting transaction a die serves next (fifo: first come, first served;
    read_first: reads that a host request waits for, then the rest in order; rhio: reads
    of the youngest data, then writes of the smallest requests, within a deadline).
    """
    deadline: str = "100ms"
    """Rhio: the oldest request goes first once the host asked so long ago: a time with its
    unit, from 10ms to 1280ms.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Suspension(Section):
    """Whether it may interrupt a program or an erase."""

    name: Literal["never", "ips", "ipc"] = "never"
    """Whether it may interrupt a program or an erase (never: a program or erase runs to its
    end; ips: inter-phase suspension: at the end of the running phase; ipc: intra-phase
    cancellation: at once, and the phase is lost).
    """
    reads: Literal["host", "all"] = "host"
    """Which reads may (host: those that a host request waits for; all: those of GC and of
    merging partial writes too).
    """
    cancelled_program: Literal["redo", "reached"] = "redo"
    """What follows a cancelled program phase (redo: check, then the whole phase again;
    reached: check, then the next iteration).
    """
    reload: Literal["abort", "finish"] = "abort"
    """What a read does that arrives during the buffer reload (abort: goes first; the reload
    is redone; finish: waits for the reload).
    """
    shadow_buffer: bool = True
    """Whether the die keeps the data of a suspended program: true or false."""
    max_suspends: int = 0
    """Suspensions that one operation bears; 0 is no limit: a whole number from 0 to 1000000."""
    min_progress: str = "0s"
    """Time an operation runs before it may be suspended: a time with its unit, from 0ns to
    10s.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Victim(Section):
    """Which block to collect."""

    name: Literal["greedy", "fifo", "d_choices", "cost_benefit"] = "greedy"
    """Which block to collect (greedy: the block with the fewest valid pages; fifo: the block
    that was filled first; d_choices: the fewest valid pages among d blocks drawn at
    random; cost_benefit: most free space gained per move, weighted by age).
    """
    d: int = 10
    """Blocks drawn by d_choices: a whole number from 1 to 1024."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Wear(Section):
    """Static wear leveling: when hot and cold data are swapped."""

    name: Literal["off", "hot_cold_swap"] = "off"
    """Static wear leveling: when hot and cold data are swapped (off: no static wear
    leveling; hot_cold_swap: cold data moves into the most worn block).
    """
    threshold: int = 100
    """Erases by which a worn block must be ahead: a whole number from 1 to 1000000."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Throttle(Section):
    """How writes are throttled for the sake of the drive's life."""

    name: Literal["off", "fixed_rate", "dynamic", "ready"] = "off"
    """How writes are throttled for the sake of the drive's life (off: no write is delayed
    (NT); fixed_rate: no more in a period than the rated capacity over the life allows
    (ST); dynamic: by predicted demand, so that the rated capacity lasts (DT); ready: the
    same, so that what rested cells endure lasts (READY)).
    """
    enforcement: Literal["pessimistic", "optimistic"] = "optimistic"
    """Dynamic, ready: what may be written in an epoch (pessimistic: its capacity, period by
    period; optimistic: the same, and what later epochs can spare).
    """
    epoch: Literal["auto", "fixed"] = "auto"
    """Dynamic, ready: how long an epoch is (auto: as long as the cycle found in the demand;
    fixed: as long as epoch_length).
    """
    epoch_length: str = "600s"
    """Fixed: the length of an epoch: a time with its unit, from 1us to 3650d."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Hotness(Section):
    """What tells kinds of data apart."""

    name: tuple[Literal["request_size", "buffer_hits"], ...] = ()
    """What tells kinds of data apart (request_size: data of small requests is hot: up to
    policy.hotness.hot_up_to, or up to their median; buffer_hits: read-hot, write-hot or
    mixed, by the hits that a page had in the buffer).
    """
    hot_up_to: str = "0B"
    """Request_size: the largest hot request, by the pages it touches; 0B is the running
    median: a size with its unit, from 0B to 1GiB.
    """
    watermark: float = 0.95
    """Buffer_hits: the share of reads, or of writes, beyond which a page is hot: a number
    from 0.5 to 1.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Placement(Section):
    """Which open block takes which data."""

    name: Literal["single_stream", "streams"] = "single_stream"
    """Which open block takes which data (single_stream: one open block in each plane,
    whatever the data; streams: one open block in each plane for each tag).
    """
    dies: Literal["rotate", "by_address"] = "rotate"
    """Which die takes a host page (rotate: the next in turn that has room; by_address: that
    of its address, or the next in turn if that one is full).
    """
    hot_to_strong: bool = False
    """Streams: hot data opens strong blocks, other data weak ones: true or false."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Step(Section):
    """At what ISPP step data is programmed."""

    name: Literal["nominal", "by_strength"] = "nominal"
    """At what ISPP step data is programmed (nominal: the nominal step, safe in the weakest
    block; by_strength: hot data: the coarsest step that its block bears to the end of
    life).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Voltage(Section):
    """At what threshold voltages."""

    name: Literal["nominal", "high", "low", "by_hotness"] = "nominal"
    """At what threshold voltages (nominal: nominal threshold voltages for all data; high:
    boosted for all data (HVC): fewest errors, most wear; low: reduced for all data (LVC):
    least wear, most errors; by_hotness: boosted for what is read, reduced for what is
    written (HIRE)).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Replacement(Section):
    """Which page leaves the buffer."""

    name: Literal["clean_first", "lru", "cflru"] = "clean_first"
    """Which page leaves the buffer (clean_first: clean pages first, and room for writes is
    made ahead of them; lru: the page that was used longest ago, clean or dirty; cflru: as
    lru, but a clean page among the oldest goes before a dirty one).
    """
    window: int = 64
    """Cflru: among how many of the oldest pages a clean one is looked for: a whole number
    from 1 to 1048576.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Sensing(Section):
    """At what level of soft sensing a page is read first."""

    name: Literal["worst_case", "model", "retry"] = "worst_case"
    """At what level of soft sensing a page is read first (worst_case: what the weakest block
    needs at the end of its life, always; model: what the model asks for, of the inputs it
    knows; retry: hard decision first).
    """
    inputs: tuple[Literal["age", "voltage", "strength", "wear", "reads"], ...] = ()
    """Model: what it knows; the rest is taken at its worst (age: when the page was
    programmed; voltage: at what threshold voltage; strength: how fast its block
    accumulates errors; wear: the P/E cycles of its block; reads: the reads of its block
    since its erase).
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Redundancy(Section):
    """What protects a stripe."""

    name: Literal["none", "raid5", "ppc", "udl", "pe_aware", "hc", "da_raid5"] = "none"
    """What protects a stripe (none: nothing: a page that cannot be read is lost; raid5: N+1
    over chips, parity rotating, written with its data; ppc: the same, parity cached and
    updated in the cache, page by page; udl: no parity: blocks are refreshed before their
    data fades or is disturbed; pe_aware: parity for stripes with a page in a worn block,
    refresh for the others; hc: data and parity cached by stripe, parity updated from what
    was written alone; da_raid5: udl, pe_aware and hc, one after another as the drive
    wears).
    """
    stripe: int = 8
    """Data pages of a stripe; with its parity it lies on one chip more: a whole number from
    1 to 63.
    """
    parity_cache: str = "512KiB"
    """Most parity pages at once, cached or on their way: a size with its unit, from 0B to
    1GiB.
    """
    cache: Literal["protected", "volatile"] = "protected"
    """What becomes of caches when power fails (protected: they survive; volatile: what they
    hold is lost).
    """
    n_update: int = 6
    """Hc: cached parity is built anew from more pages than this written together: a whole
    number from 0 to 63.
    """
    cut_off: int = 8
    """Hc: writes of more pages than this pass the caches by; 0 lets none do so: a whole
    number from 0 to 65536.
    """
    worn_above: int = 15000
    """A block with more P/E cycles is worn (T_p): a whole number from 0 to 1000000."""
    worn_erase_pulse: str = "0s"
    """The erase pulse of a worn block; 0 is that of any other: a time with its unit, from
    0ns to 10s.
    """
    all_above: int = 16384
    """Da_raid5: with more stripes under parity all get it (L): a whole number from 0 to
    4294967295.
    """
    retention: str = "32918400s"
    """A block is refreshed when its data is so old (T_retention): a time with its unit, from
    1ms to 36500d.
    """
    reads: int = 46000
    """A block is refreshed when it was read so often (T_read): a whole number from 1 to
    4294967295.
    """
    integrity: bool = False
    """Whether pages carry versions, to prove what is read back: true or false."""


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
    """Table: P/E cycles of an average block, rising: a list of numbers from 0 to 1000000000."""
    ages: tuple[str, ...] = ()
    """Table: retention ages, rising: a list of times with their units, from 0ns to 1827d."""
    rates: tuple[tuple[float, ...], ...] = ()
    """Table: bit error rates, above 0 and below 0.5; a row for each of cycles, in it one for
    each of ages: a list of lists of numbers from 0 to 0.5.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class ReliabilityCells(Section):
    """The keys of [reliability.cells]."""

    growth_mean: float = 0.00037
    """Mean growth rate of the logarithm of a block's RBER with P/E cycles (per cycle): a
    number from 0 to 1000000000.
    """
    growth_sd: float = 9e-05
    """Standard deviation of the growth rate, before it is bounded (per cycle): a number from
    0 to 1000000000.
    """
    growth_bound: float = 3.0
    """Half-width of the bounds of the growth rate (sd): a number from 0 to 1000000000."""
    rber_unworn: float = 0.0001
    """RBER of a just-written page in a block that was never cycled: a number from 0 to
    1000000000.
    """
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
    """Retention loss by how far a state is above the erased one: a number from 0 to
    1000000000.
    """
    retention_shift: float = 0.0004
    """Retention loss, mean, by the power of cycles and the logarithm of age: a number from 0
    to 1000000000.
    """
    retention_spread: float = 4e-06
    """Retention loss, variance, by the power of cycles and the logarithm of age (V): a
    number from 0 to 1000000000.
    """
    retention_onset: float = 3600.0
    """Age at which retention loss sets in: it goes with ln(1 + age / onset) (s): a number
    from 0 to 1000000000.
    """
    retention_shift_power: float = 0.5
    """Power of cycles in the mean of retention loss: a number from 0 to 1000000000."""
    retention_spread_power: float = 0.6
    """Power of cycles in the variance of retention loss: a number from 0 to 1000000000."""
    disturb_slope: float = 1e-09
    """RBER that one read adds to the block's other pages (per read): a number from 0 to
    1000000000.
    """
    disturb_cycles: float = 2000.0
    """Cycles at which `disturb_slope` was measured (cycles): a number from 0 to 1000000000."""
    disturb_power: float = 1.46
    """Power of cycles in the slope of read disturb: a number from 0 to 1000000000."""
    correctable_3: float = 0.004
    """RBER that LDPC corrects from 3 reference voltages: a number from 0 to 1000000000."""
    correctable_9: float = 0.01
    """RBER that LDPC corrects from 9 reference voltages: a number from 0 to 1000000000."""
    correctable_21: float = 0.015
    """RBER that LDPC corrects from 21 reference voltages: a number from 0 to 1000000000."""
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
    """Where bit errors come from (off: nowhere: every read takes its nominal time; analytic:
    from threshold voltages (docs/physics.md); by_voltage: from the set of voltages alone:
    levels as in HIRE's Table 1; table: from reliability.table, at the nominal step
    alone).
    """
    levels: int = 3
    """Levels of soft sensing: 3, 9 and 21 reference voltages: a whole number from 1 to 3."""
    cycles: int = 0
    """P/E cycles of every block before preconditioning: a whole number from 0 to 1000000."""
    cycles_spread: int = 0
    """Up to so many more, each block a number of its own: a whole number from 0 to 1000000."""
    oldest: str = "0s"
    """Age of the oldest data at the start: a time with its unit, from 0ns to 1827d."""
    strength: Literal["oracle", "measured"] = "oracle"
    """How the controller knows the strength of a block (oracle: exactly; measured: it counts
    corrected bits of pages that it reads in idle time, and read once before the run).
    """
    risk: float = 0.05
    """Measured: how probable it may be that a block is weaker than it is taken for: a number
    from 0.000001 to 0.999.
    """
    measure_every: str = "86400s"
    """Measured: the time in which every block is read once: a time with its unit, from 1ms
    to 3650d.
    """
    table: ReliabilityTable = field(default_factory=ReliabilityTable)
    """The keys of [reliability.table]."""
    cells: ReliabilityCells = field(default_factory=ReliabilityCells)
    """The keys of [reliability.cells]."""


@dataclass(frozen=True, kw_only=True, slots=True)
class LifetimeTable(Section):
    """The keys of [lifetime.table]."""

    idle: tuple[str, ...] = ()
    """Table: mean idle times between two cycles, rising: a list of times with their units,
    from 0ns to 36500d.
    """
    cycles: tuple[float, ...] = ()
    """Table: P/E cycles that cells endure with so much idle time: a list of numbers from 0
    to 1000000000.
    """


@dataclass(frozen=True, kw_only=True, slots=True)
class Lifetime(Section):
    """The keys of [lifetime]."""

    target: str = "157680000s"
    """How long the drive is to live: a time with its unit, from 1ms to 36500d."""
    cycles: float = 3000.0
    """P/E cycles that cells endure without recovery: a number from 0 to 1000000000."""
    recovery: Literal["spread", "refit", "literal", "table"] = "spread"
    """What rest between two cycles does to cells (docs/ready.md) (spread: READY's model;
    time is that over which all cycles are spread; refit: READY's model as printed,
    constants fitted to its Table 2; literal: READY's model as printed; table: what
    lifetime.table says: another technology).
    """
    dilation: int = 1
    """For how many repetitions one stands: wear and life go by so much faster: a whole
    number from 1 to 1000000.
    """
    window: str = "600s"
    """Window in which write demand is counted, and the shortest epoch: a time with its unit,
    from 1us to 3650d.
    """
    period: str = "1s"
    """A stopped host may resume in the next period: a time with its unit, from 1us to 3650d."""
    spare: float = 0.1
    """Share of the later epochs' capacity that an epoch may borrow: a number from 0 to 1."""
    miss: float = 0.25
    """Share by which demand may differ from the prediction: a number from 0 to 1000."""
    streak: int = 3
    """Misses one after another until the epoch's length is chosen anew: a whole number from
    1 to 1000000.
    """
    history: str = "86400s"
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
    policy: Policy = field(default_factory=Policy)
    """The keys of [policy]."""
    reliability: Reliability = field(default_factory=Reliability)
    """The keys of [reliability]."""
    lifetime: Lifetime = field(default_factory=Lifetime)
    """The keys of [lifetime]."""
    seed: int = 1
    """The seed of every random stream: a whole number from 0 to 9223372036854775807."""
