"""What the compiled module holds. The public package says what it means."""

from collections.abc import Callable, Sequence
from typing import Any, final

from fowler._arguments import Drive, Life, Run, Source
from fowler.policies import Kind

__all__ = [
    "Folder",
    "Lifetime",
    "Outcome",
    "Page",
    "Plan",
    "Read",
    "Running",
    "Table",
    "View",
    "Waiting",
    "Write",
    "__fingerprint__",
    "__version__",
    "check",
    "compare",
    "keys",
    "lifetime",
    "load",
    "main",
    "metrics",
    "preset",
    "presets",
    "resolve",
    "run",
    "study_all",
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
    def requests(self) -> Table | None: ...
    def raise_failure(self) -> None: ...
    def distribution(self, kind: str) -> list[tuple[float, float]]: ...

@final
class View:
    """What waits for one die and may be served now. Shown while the call lasts."""

    @property
    def now_ns(self) -> int:
        """The present, in simulated time."""
    def waiting(self, kind: Kind | None = None) -> list[Waiting]:
        """Everything that waits, or all of one kind, in order of submission."""
    def head(self, kind: Kind) -> Waiting | None:
        """The first of a kind in order of submission."""
    def first(self, kind: Kind) -> Waiting | None:
        """The first of a kind by rank, if the order that this one takes the place of ranks (``rhio``):
        of reads that of the youngest data, of programs that of the smallest request. Else as :meth:`head`."""
    def oldest(self) -> Waiting | None:
        """The one that was submitted first."""

@final
class Waiting:
    """A transaction that waits for a die."""

    @property
    def kind(self) -> Kind:
        """What it is."""
    @property
    def die(self) -> int:
        """Its die, from 0."""
    @property
    def page(self) -> int | None:
        """The host's page, from 0, if it has one."""
    @property
    def request_pages(self) -> int:
        """Of a host program the pages of the request that wrote it; else 0."""
    @property
    def order(self) -> int:
        """Its place in the order of submission to all dies."""
    @property
    def asked_ns(self) -> int:
        """Since when the host waits for it."""
    @property
    def since_ns(self) -> int:
        """Since when it has waited for its die."""

@final
class Running:
    """The program or erase that a die is at."""

    @property
    def now_ns(self) -> int:
        """The present, in simulated time."""
    @property
    def die(self) -> int:
        """Its die, from 0."""
    @property
    def erases(self) -> bool:
        """Whether it is an erase."""
    @property
    def suspensions(self) -> int:
        """How often it was suspended."""
    @property
    def ran_ns(self) -> int:
        """How long it has run since it began or was resumed."""

@final
class Read:
    """A read that would interrupt it."""

    @property
    def host_waits(self) -> bool:
        """Whether the host waits for it."""
    @property
    def since_ns(self) -> int:
        """Since when it has waited for its die."""

@final
class Page:
    """A page that is programmed, or leaves the buffer."""

    @property
    def now_ns(self) -> int:
        """The present, in simulated time."""
    @property
    def page(self) -> int:
        """The host's page, from 0."""
    @property
    def reads(self) -> int:
        """How often it was read in the buffer."""
    @property
    def writes(self) -> int:
        """How often it was written there, the first time included."""

@final
class Write:
    """A write that could enter, and the life of the drive. Shown while the call lasts."""

    @property
    def now_ns(self) -> int:
        """The present, in simulated time."""
    @property
    def pages(self) -> int:
        """Pages that it writes."""
    @property
    def taken(self) -> int:
        """Pages of the capacity that are taken: those of the host, of GC and of wear leveling."""
    @property
    def ends_ns(self) -> int:
        """When the life is to end, in simulated time."""
    def left(self, *, healed: bool = False) -> float:
        """Pages that may still be taken, as rated or with what rest has healed. Looks at every block."""

@final
class Lifetime:
    def summary(self) -> str: ...
    def sheet(self) -> _Rows: ...
    def write(self, folder: str) -> list[str]: ...

@final
class Plan:
    @staticmethod
    def read(text: str, name: str, by_itself: bool = False) -> Plan: ...
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
def keys() -> list[tuple[str, str, str, str, list[tuple[str, str]], bool, str]]: ...
def presets() -> list[tuple[str, str, str]]: ...
def metrics() -> list[tuple[str, str, str, str, bool]]: ...
def preset(kind: str, name: str) -> str: ...
def resolve(drive: Drive, scheme: str | None = None) -> tuple[str, str]: ...
def check(run: Run, schemes: Sequence[str]) -> None: ...
def run(run: Run, keep: bool = False, progress: _Progress = None) -> Outcome: ...
def compare(
    run: Run, schemes: Sequence[str], keep: bool = False, progress: _Progress = None
) -> list[Outcome]: ...
def write_report(outcomes: Sequence[Outcome], path: str) -> None: ...
def lifetime(life: Life, progress: _Progress = None) -> Lifetime: ...
def study_all(
    out: str,
    workloads: Sequence[tuple[str, Source]],
    traces: str | None = None,
    limit: int | None = None,
    progress: _Progress = None,
) -> tuple[str, list[_Rows], list[str], list[str]]: ...
def main(arguments: Sequence[str]) -> int: ...
