"""The parts of results: metrics, latencies, causes, and the results of lives and studies."""

from __future__ import annotations

import dataclasses
import html
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fowler import _core
from fowler.errors import path_of

if TYPE_CHECKING:
    from fowler.fleets import Fleet

__all__ = [
    "Band",
    "Blame",
    "Blames",
    "Latencies",
    "Lifetime",
    "Metric",
    "Sheet",
    "Study",
    "metrics",
]


@dataclasses.dataclass(frozen=True, slots=True)
class Metric:
    """A number that every run reports, or a fact about the run.

    >>> next(it for it in fowler.metrics() if it.name == "read.p99_us").unit
    'us'
    """

    name: str
    """The path of the metric in a summary, and the name of its column in a sweep, such as ``read.p99_us``. A
    last part in capitals stands for every name there: ``counters.erases.SOURCE``."""
    unit: str
    """``us``, ``s``, ``share`` (0 to 1), ``ratio``, ``flag``, ``text``, ``table``, or what is counted."""
    about: str
    """The meaning of the metric, in one sentence."""
    stored: str
    """``everywhere``; ``run`` if the metric depends on the machine's clock, so sweeps do not have it;
    ``summary`` if it is a long text, which has no column."""
    headline: bool
    """True if the metric is one of those that summarize a run in one row."""


def metrics() -> tuple[Metric, ...]:
    """Returns every metric of a run, in the order of the summary.

    >>> "waf" in [it.name for it in fowler.metrics()]
    True
    """
    return tuple(Metric(*facts) for facts in _core.metrics())


@dataclasses.dataclass(frozen=True, slots=True)
class Latencies:
    """The latencies of a run's reads or writes, in microseconds. ``None`` if there were too few requests.

    >>> r.read.p50_us <= r.read.p90_us <= r.read.max_us
    True
    """

    count: int
    """The number of requests."""
    mean_us: float | None
    """The mean."""
    min_us: float | None
    """The minimum."""
    p50_us: float | None
    """The median."""
    p90_us: float | None
    """The latency that one request in ten exceeds."""
    p95_us: float | None
    """The latency that one request in twenty exceeds; ``None`` in results of older versions."""
    p99_us: float | None
    """The latency that one request in a hundred exceeds."""
    p999_us: float | None
    """The latency that one request in a thousand exceeds."""
    p9999_us: float | None
    """The latency that one request in ten thousand exceeds."""
    p99999_us: float | None
    """The latency that one request in a hundred thousand exceeds."""
    max_us: float | None
    """The maximum."""
    bytes: int
    """Bytes read or written."""

    def _repr_html_(self) -> str:
        facts = dataclasses.asdict(self)
        heads = [name.replace("_us", " (us)") for name in facts]
        return html_table(heads, [[number(fact) for fact in facts.values()]])


@dataclasses.dataclass(frozen=True, slots=True)
class Band:
    """The causes of the latency of a group of requests.

    >>> r.blame.read.all.count == r.read.count
    True
    """

    count: int
    """The number of requests."""
    mean_latency_us: float | None
    """The mean latency of the requests in microseconds, which is the sum of ``mean_us``."""
    from_us: float | None
    """The least latency of the requests, in microseconds."""
    mean_us: Mapping[str, float]
    """The mean time that each cause took, in microseconds."""

    def shares(self) -> dict[str, float]:
        """Returns the causes that took any time, as shares of the latency, the largest first.

        >>> round(sum(r.blame.read.all.shares().values()), 6)
        1.0
        """
        whole = self.mean_latency_us or 1.0
        some = {cause: item / whole for cause, item in self.mean_us.items() if item > 0.0}
        return dict(sorted(some.items(), key=lambda item: -item[1]))

    def __repr__(self) -> str:
        """Shows the number of requests, their mean latency and its causes."""
        causes = ", ".join(f"{cause} {share:.1%}" for cause, share in self.shares().items())
        return f"<{self.count:,} requests of {number(self.mean_latency_us)} us: {causes}>"


@dataclasses.dataclass(frozen=True, slots=True)
class Blame:
    """The causes of the latency of reads or writes: of all requests, and of the slowest.

    >>> r.blame.read.slowest_1pct.count < r.blame.read.all.count
    True
    """

    all: Band
    """All requests."""
    slowest_1pct: Band
    """The slowest 1 %."""
    slowest_0_1pct: Band
    """The slowest 0.1 %."""


@dataclasses.dataclass(frozen=True, slots=True)
class Blames:
    """The causes of the latency of reads and of writes.

    >>> r.blame.write.all.count == r.write.count
    True
    """

    read: Blame
    """The causes of the latency of reads."""
    write: Blame
    """The causes of the latency of writes."""

    def _repr_html_(self) -> str:
        kinds = {"reads": self.read, "writes": self.write}
        bands = {
            f"{kind}, {name}": band
            for kind, blame in kinds.items()
            for name, band in (("all", blame.all), ("slowest 1 %", blame.slowest_1pct))
            if band.count
        }
        causes = dict.fromkeys(cause for band in bands.values() for cause in band.shares())
        rows = [["latency", *(number(band.mean_latency_us) for band in bands.values())]]
        rows += [[cause, *(number(band.mean_us[cause]) for band in bands.values())] for cause in causes]
        return html_table(["mean of each (us)", *bands], rows)


class Sheet:
    """A table of a study or of a life: column heads and rows.

    >>> sheet = life.sheet()
    >>> len(sheet.rows) == len(sheet.records())
    True
    """

    __slots__ = ("heads", "name", "rows", "title")

    def __init__(self, name: str, title: str, heads: list[str], rows: list[list[Any]]) -> None:
        """Creates a table."""
        self.name = name
        self.title = title
        self.heads = heads
        self.rows = rows

    def records(self) -> list[dict[str, Any]]:
        """Returns the rows as dictionaries, ready for a data frame.

        >>> list(life.sheet().records()[0]) == life.sheet().heads
        True
        """
        return [dict(zip(self.heads, row, strict=True)) for row in self.rows]

    def __repr__(self) -> str:
        """Shows the name, the title and the number of rows."""
        return f"<Sheet {self.name}: {self.title} ({len(self.rows)} rows)>"

    def _repr_html_(self) -> str:
        rows = [[it if isinstance(it, str) else number(it) for it in row] for row in self.rows]
        return f"<p>{html.escape(self.title)}</p>{html_table(self.heads, rows)}"


class Lifetime:
    """The result of a lifetime run.

    >>> life.waf >= 1.0
    True
    """

    def __init__(self, core: _core.Lifetime) -> None:
        """Wraps a lifetime of the compiled module."""
        self._its = core

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All metrics of the life."""
        found: dict[str, Any] = json.loads(self._its.summary())
        return found

    @property
    def years(self) -> float | None:
        """The life of the drive, in years of 365 days."""
        return self._life["effective_lifetime_years"]  # type: ignore[no-any-return]

    @property
    def waf(self) -> float | None:
        """Write amplification: pages programmed per page that the host wrote."""
        return self._life["waf"]  # type: ignore[no-any-return]

    @property
    def response_mean_us(self) -> float | None:
        """The mean latency of writes in microseconds, including the throttle's delays."""
        return self._life["response_mean_us"]  # type: ignore[no-any-return]

    @property
    def change(self) -> Mapping[str, float] | None:
        """The share by which each result changes at twice the dilation; ``None`` if that was not checked."""
        return self.summary["change"]  # type: ignore[no-any-return]

    @property
    def _life(self) -> Mapping[str, Any]:
        life: Mapping[str, Any] = self.summary["lives"][0]
        return life

    @cached_property
    def fleet(self) -> Fleet | None:
        """The fleet of drives like this one; ``None`` if none was asked for."""
        from fowler.fleets import Fleet  # noqa: PLC0415  (that module imports this one)

        summary = self.summary["fleet"]
        return None if summary is None else Fleet(self._its, summary)

    def sheet(self) -> Sheet:
        """Returns the results as a table.

        >>> len(life.sheet().rows) >= 1
        True
        """
        return Sheet(*self._its.sheet())

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes the table (CSV), figures (SVG) and the report into a folder, and returns the files.

        The drives of a fleet are written as well, as CSV and Parquet.

        >>> "report.html" in [file.name for file in life.write("life")]
        True
        """
        path = path_of("folder", folder)
        os.makedirs(path, exist_ok=True)
        return [Path(path) / name for name in self._its.write(path)]

    def __repr__(self) -> str:
        """Shows the drive, the workload and the lifetime."""
        facts = self.summary
        what = f"{facts['device']} under {facts['scheme']}, {facts['workload']}"
        return f"<Lifetime: {what}: {number(self.years)} years, WAF {number(self.waf)}>"

    def _repr_html_(self) -> str:
        return self.sheet()._repr_html_() + ("" if self.fleet is None else self.fleet._repr_html_())


class Study(Mapping[str, Sheet]):
    """The results of a study: its tables by name.

    >>> from pathlib import Path
    >>> study = Study("Sizes", [life.sheet()], [Path("sizes.csv")], [])
    >>> len(study), study.files[0].name
    (1, 'sizes.csv')
    """

    def __init__(
        self, title: str, sheets: Sequence[Sheet], files: Sequence[Path], warnings: Sequence[str]
    ) -> None:
        """Creates the result from its tables, the files written and the warnings."""
        self.title = title
        self.files = tuple(files)
        self.warnings = tuple(warnings)
        self._sheets = {sheet.name: sheet for sheet in sheets}

    def __getitem__(self, name: str) -> Sheet:
        """Returns a table by its name."""
        return self._sheets[name]

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names of the tables."""
        return iter(self._sheets)

    def __len__(self) -> int:
        """Returns the number of tables."""
        return len(self._sheets)

    def __repr__(self) -> str:
        """Shows the title and the names of the tables."""
        return f"<Study: {self.title}: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        first = next(iter(self._sheets.values()), None)
        body = first._repr_html_() if first else ""
        return f"<h3>{html.escape(self.title)}</h3>{body}"


def number(value: float | None) -> str:
    """Formats a number for people, with four significant digits."""
    if value is None:
        return "—"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"  # noqa: PLR2004


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """Returns an HTML table for notebooks."""

    def row(cells: Sequence[str], kind: str) -> str:
        return f"<tr>{''.join(f'<{kind}>{html.escape(cell)}</{kind}>' for cell in cells)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><thead>{row(heads, 'th')}</thead><tbody>{body}</tbody></table>"
