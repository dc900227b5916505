"""The compiled module. The public package documents what its items mean."""

from collections.abc import Callable, Sequence
from typing import Any, Literal, final

from fowler._arguments import Drive, Given, Life, Run, Source
from fowler.policies import Kind

__all__ = [
    "Block",
    "Data",
    "Folder",
    "Lifetime",
    "Outcome",
    "Page",
    "Plan",
    "Plane",
    "Read",
    "Running",
    "Spread",
    "Table",
    "View",
    "Waiting",
    "Write",
    "__fingerprint__",
    "__version__",
    "answer",
    "check",
    "compare",
    "keys",
    "lifetime",
    "load",
    "main",
    "metrics",
    "palette",
    "preset",
    "presets",
    "read_saved",
    "resolve",
    "run",
    "save",
    "study_all",
    "verdict",
    "write_report",
]

__fingerprint__: str
__version__: str

_Files = tuple[bytes, bytes | None, bool]
_Progress = Callable[[int, int], None] | None
_Rows = tuple[str, str, list[str], list[list[Any]]]

@final
class Table:
    @staticmethod
    def of(table: object) -> Table: ...
    @staticmethod
    def of_columns(columns: Sequence[tuple[str, str, object]]) -> Table: ...
    @staticmethod
    def of_bytes(bytes: bytes) -> Table: ...
    def bytes(self) -> bytes: ...
    def __len__(self) -> int: ...
    def column(self, name: str) -> list[Any]: ...
    def take(self, rows: Sequence[int]) -> Table: ...
    @property
    def columns(self) -> list[str]: ...
    def __arrow_c_schema__(self) -> object: ...
    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object: ...

@final
class Outcome:
    def summary(self) -> str: ...
    @property
    def device(self) -> str: ...
    @property
    def detailed(self) -> bool: ...
    @property
    def policies(self) -> list[tuple[str, object]]: ...
    @property
    def requests(self) -> Table | None: ...
    def raise_failure(self) -> None: ...
    def distribution(self, kind: str) -> list[tuple[float, float]]: ...

@final
class Spread:
    @staticmethod
    def read(text: str) -> Spread: ...
    def text(self) -> str: ...
    @property
    def seeds(self) -> int: ...
    def mean(self, scheme: int, path: str) -> tuple[float, float] | None: ...
    def ratio(self, scheme: int, path: str) -> tuple[float, float] | None: ...
    def json(self, devices: bool) -> str: ...

@final
class View:
    """The transactions that wait for a die and may be served now. Valid only during the call."""

    @property
    def now_ns(self) -> int:
        """The current simulated time."""
    def waiting(self, kind: Kind | None = None) -> list[Waiting]:
        """Returns all waiting transactions, or those of one kind, in order of submission."""
    def head(self, kind: Kind) -> Waiting | None:
        """Returns the first transaction of a kind in order of submission."""
    def first(self, kind: Kind) -> Waiting | None:
        """Returns the first transaction of a kind by rank, if the replaced die order ranks (``rhio``): the
        read of the youngest data, or the program of the smallest request. Otherwise the same as
        :meth:`head`."""
    def oldest(self) -> Waiting | None:
        """Returns the transaction that was submitted first."""

@final
class Waiting:
    """A transaction that waits for a die."""

    @property
    def kind(self) -> Kind:
        """The kind of transaction."""
    @property
    def die(self) -> int:
        """The number of the die, from 0."""
    @property
    def page(self) -> int | None:
        """The logical page, from 0, if it has one; of a read on a drive with superblocks, the first unit."""
    @property
    def request_pages(self) -> int:
        """The number of pages of the write request that a host program belongs to; 0 for other kinds."""
    @property
    def order(self) -> int:
        """The position of the transaction in the order of submission, counted over all dies."""
    @property
    def asked_ns(self) -> int:
        """The simulated time since which the host has been waiting for the transaction."""
    @property
    def since_ns(self) -> int:
        """The simulated time since which it has been waiting for its die."""

@final
class Running:
    """The program or erase that runs on a die."""

    @property
    def now_ns(self) -> int:
        """The current simulated time."""
    @property
    def die(self) -> int:
        """The number of the die, from 0."""
    @property
    def erases(self) -> bool:
        """True if the operation is an erase."""
    @property
    def suspensions(self) -> int:
        """The number of times that the operation has been suspended."""
    @property
    def ran_ns(self) -> int:
        """The time that the operation has run since it began or was resumed."""

@final
class Read:
    """A read that would suspend the running operation."""

    @property
    def host_waits(self) -> bool:
        """True if the host waits for the read."""
    @property
    def since_ns(self) -> int:
        """The simulated time since which it has been waiting for its die."""

@final
class Page:
    """A page that is being programmed or leaves the buffer; on a drive with superblocks, a mapping unit."""

    @property
    def now_ns(self) -> int:
        """The current simulated time."""
    @property
    def page(self) -> int:
        """The number of the logical page or unit, from 0."""
    @property
    def reads(self) -> int:
        """The number of times that the page was read while in the buffer."""
    @property
    def writes(self) -> int:
        """The number of times that the page was written while in the buffer, including the first time."""

@final
class Write:
    """A write that could enter, and the drive's lifetime budget. Valid only during the call."""

    @property
    def now_ns(self) -> int:
        """The current simulated time."""
    @property
    def pages(self) -> int:
        """The number of pages of the write; on a drive with superblocks, of its mapping units."""
    @property
    def taken(self) -> int:
        """Pages taken from the drive's endurance so far: host pages that have entered, and pages programmed
        by GC and wear leveling."""
    @property
    def ends_ns(self) -> int:
        """The simulated time at which the target life ends."""
    def left(self, *, healed: bool = False) -> float:
        """Returns the number of pages that may still be programmed before the rated endurance is used up;
        with `healed`, including those gained as resting cells recover. Looks at every block."""

@final
class Plane:
    """The full blocks of a plane that needs space, or the full superblocks of a drive that has these. Valid
    only during the call."""

    @property
    def now_ns(self) -> int:
        """The current simulated time; 0 while the drive is preconditioned."""
    @property
    def plane(self) -> int:
        """The number of the plane, from 0."""
    @property
    def capacity(self) -> int:
        """The number of pages of a block, or of units of data of a superblock."""
    @property
    def pages_per_block(self) -> int:
        """Another name of :attr:`capacity`, from before there were superblocks."""
    @property
    def slots(self) -> int:
        """The number of blocks of the plane, full or not."""
    def __len__(self) -> int:
        """Returns the number of full blocks."""
    def blocks(self) -> list[Block]:
        """Returns all full blocks, in order of their numbers."""
    def block(self, slot: int) -> Block | None:
        """Returns a block by its number within the plane, below :attr:`slots`; ``None`` if it is not full."""
    def fewest_valid(self) -> Block | None:
        """Returns a full block with the fewest valid pages, without looking at all of them."""

@final
class Block:
    """A full block."""

    @property
    def number(self) -> int:
        """The number of the block, counted over the drive."""
    @property
    def valid(self) -> int:
        """The number of valid pages of the block, or units of the superblock, which would be moved. Beside
        superblocks without parity, the parity of one that has it counts as valid."""
    @property
    def erases(self) -> int:
        """The number of times that the block has been erased."""
    @property
    def order(self) -> int:
        """The position of the block in the order in which blocks became full."""
    @property
    def filled_ns(self) -> int:
        """The simulated time at which the block became full; 0 for data from before the run."""

@final
class Data:
    """A kind of data on its way to the flash."""

    @property
    def hot(self) -> bool:
        """True if the data is expected to become invalid soon, because it came in a small request
        (``policy.hotness``)."""
    @property
    def access(self) -> Literal["mixed", "read_hot", "write_hot"]:
        """The use of the data in the buffer (``policy.hotness``)."""
    @property
    def streams(self) -> int:
        """The number of streams of the drive: 1 if ``policy.placement`` is ``single_stream``, 6 if it is
        ``streams``, and ``policy.placement.handles`` if it is ``handles``."""
    @property
    def handle(self) -> int:
        """The placement handle that the host gave the data; 0 unless ``policy.placement`` is ``handles``."""

@final
class Lifetime:
    def summary(self) -> str: ...
    def sheet(self) -> _Rows: ...
    def write(self, folder: str) -> list[str]: ...
    def fleet_drives(self) -> Table: ...
    def fleet_quantile(self, written: bool, share: float) -> tuple[float, float, float]: ...
    def fleet_sheets(self) -> list[_Rows]: ...

@final
class Plan:
    @staticmethod
    def read(text: str, name: str, by_itself: bool = False, given: Given | None = None) -> Plan: ...
    @property
    def text(self) -> str: ...
    @property
    def name(self) -> str: ...
    def hash(self, index: int) -> str: ...
    def make(self, index: int) -> _Files: ...

@final
class Folder:
    @staticmethod
    def open(path: str, plan: Plan) -> Folder: ...
    def missing(self, retry: bool) -> list[int]: ...
    def run(self, todo: Sequence[int], threads: int | None = None, progress: _Progress = None) -> None: ...
    def keep(self, index: int, files: _Files) -> None: ...
    def load(self) -> Table: ...
    def close(self) -> None: ...

def load(folder: str) -> Table: ...
def keys() -> list[tuple[str, str, str, str, list[tuple[str, str]], bool, str, str]]: ...
def presets() -> list[tuple[str, str, str]]: ...
def metrics() -> list[tuple[str, str, str, str, bool]]: ...
def palette() -> tuple[list[str], list[tuple[str, tuple[str, str]]]]: ...
def preset(kind: str, name: str) -> str: ...
def resolve(drive: Drive, scheme: str | None = None) -> tuple[str, str]: ...
def check(run: Run, schemes: Sequence[str]) -> None: ...
def run(run: Run, keep: bool = False, progress: _Progress = None) -> Outcome: ...
def compare(
    run: Run, schemes: Sequence[str], keep: bool = False, progress: _Progress = None, seeds: int = 1
) -> tuple[list[Outcome], Spread | None]: ...
def write_report(outcomes: Sequence[Outcome], path: str, spread: Spread | None = None) -> None: ...
def verdict(outcomes: Sequence[Outcome], spread: Spread | None = None) -> str: ...
def save(path: str, kind: str, body: bytes) -> None: ...
def read_saved(path: str) -> tuple[str, bytes]: ...
def lifetime(life: Life, progress: _Progress = None) -> Lifetime: ...
def study_all(
    out: str,
    workloads: Sequence[tuple[str, Source]],
    traces: str | None = None,
    limit: int | None = None,
    seeds: int = 5,
    progress: _Progress = None,
) -> tuple[str, list[_Rows], list[str], list[str]]: ...
def main(arguments: Sequence[str]) -> int: ...
def answer(arguments: Sequence[str]) -> str: ...
