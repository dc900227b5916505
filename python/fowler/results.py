"""The results of runs, comparisons, lives and studies."""

from __future__ import annotations

import dataclasses
import difflib
import html
import json
import os
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fowler import _core
from fowler.drive import Device
from fowler.errors import Diagnostic, InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = [
    "Band",
    "Blame",
    "Blames",
    "Comparison",
    "Latencies",
    "Lifetime",
    "Metric",
    "Run",
    "Sheet",
    "Study",
    "Table",
    "metrics",
]


@dataclasses.dataclass(frozen=True, slots=True)
class Metric:
    """A number that every run reports, or a fact about the run."""

    name: str
    """Its path in a summary and the name of its column in a sweep, such as ``read.p99_us``. A last part in
    capitals stands for every name there: ``counters.erases.SOURCE``."""
    unit: str
    """``us``, ``s``, ``share`` (0 to 1), ``ratio``, ``flag``, ``text``, ``table``, or what is counted."""
    about: str
    """What it means, in one sentence."""
    stored: str
    """``everywhere``; ``run`` if it depends on the machine's clock, so sweeps do not have it; ``summary`` if
    it is a long text, which has no column."""
    headline: bool
    """Whether it is one of the metrics that summarize a run in one row."""


def metrics() -> tuple[Metric, ...]:
    """Returns every metric of a run, in the order of the summary."""
    return tuple(Metric(*facts) for facts in _core.metrics())


@dataclasses.dataclass(frozen=True, slots=True)
class Latencies:
    """The latencies of a run's reads or writes, in microseconds. ``None`` if there were too few requests."""

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
        return html_table(heads, [[number(its) for its in facts.values()]])


@dataclasses.dataclass(frozen=True, slots=True)
class Band:
    """The causes of the latency of a group of requests."""

    count: int
    """The number of requests."""
    mean_latency_us: float | None
    """Their mean latency in microseconds, which is the sum of ``mean_us``."""
    from_us: float | None
    """The least latency among them, in microseconds."""
    mean_us: Mapping[str, float]
    """The mean time that each cause took, in microseconds."""

    def shares(self) -> dict[str, float]:
        """Returns the causes that took any time, as shares of the latency, the largest first."""
        whole = self.mean_latency_us or 1.0
        some = {cause: its / whole for cause, its in self.mean_us.items() if its > 0.0}
        return dict(sorted(some.items(), key=lambda its: -its[1]))

    def __repr__(self) -> str:
        """Shows the number of requests, their mean latency and its causes."""
        causes = ", ".join(f"{cause} {share:.1%}" for cause, share in self.shares().items())
        return f"<{self.count:,} requests of {number(self.mean_latency_us)} us: {causes}>"


@dataclasses.dataclass(frozen=True, slots=True)
class Blame:
    """Why requests of one kind were slow: all of them, and the slowest."""

    all: Band
    """All requests."""
    slowest_1pct: Band
    """The slowest 1 %."""
    slowest_0_1pct: Band
    """The slowest 0.1 %."""


@dataclasses.dataclass(frozen=True, slots=True)
class Blames:
    """Why reads and writes were slow."""

    read: Blame
    """Why reads were slow."""
    write: Blame
    """Why writes were slow."""

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


class Table:
    """A table of every request of a run, or of every point of a sweep.

    Any Arrow library reads it without a copy: ``pyarrow.table(t)``, ``polars.DataFrame(t)``,
    ``pandas.DataFrame.from_arrow(t)``.
    """

    __slots__ = ("_its",)

    def __init__(self, its: _core.Table) -> None:
        """Wraps a table of the compiled module."""
        self._its = its

    @classmethod
    def of(cls, table: object) -> Table:
        """Converts any object with an Arrow C stream: a polars or pandas frame, a pyarrow table."""
        return table if isinstance(table, Table) else Table(_core.Table.of(table))

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self._its)

    def column(self, name: str) -> list[Any]:
        """Returns the values of a column, with ``None`` for missing ones.

        Raises:
            InputError: if there is no such column.
        """
        if name not in self.columns:
            near = difflib.get_close_matches(name, self.columns, n=1)
            hint = f"did you mean `{near[0]}`?" if near else "the attribute `columns` lists all columns"
            raise InputError([Diagnostic("", None, "", f"unknown column `{name}`", hint=hint)])
        return self._its.column(name)

    def take(self, rows: Iterable[int]) -> Self:
        """Returns a table of these rows, in this order."""
        return self._of(self._its.take(list(rows)))

    def _of(self, its: _core.Table) -> Self:
        return type(self)(its)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._its.columns

    def __arrow_c_schema__(self) -> object:
        """Exports the schema to Arrow libraries."""
        return self._its.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports the columns to Arrow libraries."""
        return self._its.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """Shows the number of rows and columns."""
        return f"<Table: {len(self):,} rows of {len(self.columns)} columns>"


class Run:
    """The result of one drive under one workload."""

    def __init__(self, outcome: _core.Outcome, again: Callable[[bool, bool], _core.Outcome]) -> None:
        """Wraps an outcome of the compiled module. ``again(keep, detail)`` repeats the run."""
        self._outcome = outcome
        self._again = again

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All metrics and the complete configuration, as in ``summary.json``."""
        found: dict[str, Any] = json.loads(self._outcome.summary())
        return found

    @property
    def scheme(self) -> str:
        """The scheme of the drive."""
        return str(self.summary["scheme"])

    @property
    def complete(self) -> bool:
        """Whether the workload was run to its end."""
        return bool(self.summary["complete"])

    @cached_property
    def read(self) -> Latencies:
        """The latencies of reads."""
        return Latencies(**self.summary["read"])

    @cached_property
    def write(self) -> Latencies:
        """The latencies of writes."""
        return Latencies(**self.summary["write"])

    @cached_property
    def blame(self) -> Blames:
        """Why reads and writes were slow. Every nanosecond of every request has one cause."""
        kinds = self.summary["blame"]

        def blame(bands: Mapping[str, Any]) -> Blame:
            return Blame(**{name: Band(**band) for name, band in bands.items()})

        return Blames(read=blame(kinds["read"]), write=blame(kinds["write"]))

    def value(self, name: str) -> Any:
        """Returns a metric by its name, such as ``counters.erases.gc``; ``None`` if it has no value.

        Raises:
            InputError: if the run has no metric of that name.
        """
        found: Any = self.summary
        for part in name.split("."):
            if found is None:
                return None
            if not isinstance(found, Mapping) or part not in found:
                hint = "`fowler.metrics()` lists all metrics"
                raise InputError([Diagnostic("", None, "", f"unknown metric `{name}`", hint=hint)])
            found = found[part]
        return found

    @property
    def waf(self) -> float | None:
        """Write amplification: pages programmed per page that the host wrote; ``None`` without writes."""
        return self.summary["waf"]  # type: ignore[no-any-return]

    @property
    def erases(self) -> int:
        """The number of blocks erased."""
        return int(self.summary["erases"])

    @property
    def suspensions(self) -> int:
        """How often a program or an erase was suspended."""
        return int(self.summary["suspensions"])

    @cached_property
    def device(self) -> Device:
        """The drive with the scheme's policies, except those written in Python."""
        its = Device.of(tomllib.loads(self._outcome.device))
        return dataclasses.replace(its, name=str(self.summary["device"]))

    def requests(self) -> Table:
        """Returns every request: its time, type, latency, and the causes of the latency in nanoseconds.

        If the run did not keep its requests (``requests=True``), it is repeated, with identical results.

        Raises:
            InputError: if the repeated run differs, because the trace, the frame or a policy has changed.
        """
        requests = self._outcome.requests
        if requests is None:
            requests = self._repeat(keep=True, detail=self._outcome.detailed).requests
            assert requests is not None, "the run was told to keep them"
        return Table(requests)

    def distribution(self, kind: str = "read") -> list[tuple[float, float]]:
        """Returns latencies in microseconds, each with the share of reads or writes at or above it.

        Raises:
            InputError: if ``kind`` is neither ``read`` nor ``write``.
        """
        if kind not in ("read", "write"):
            raise InputError([Diagnostic("kind", None, "", f"unknown kind `{kind}`", "read or write")])
        return self._outcome.distribution(kind)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes a report: one HTML file that needs no other files.

        The run is repeated for the details that the report shows.

        Raises:
            InputError: if the repeated run differs, because the trace, the frame or a policy has changed.
        """
        return _report([self], path)

    def plot(self, kind: str = "read") -> Figure:
        """Plots the latency distribution of reads or writes."""
        return Comparison([self]).plot(kind)

    def _detailed(self) -> _core.Outcome:
        if not self._outcome.detailed:
            self._repeat(keep=self._outcome.requests is not None, detail=True)
        return self._outcome

    def _repeat(self, *, keep: bool, detail: bool) -> _core.Outcome:
        """Repeats the run and keeps the new outcome, unless it differs from the first."""
        outcome = self._again(keep, detail)
        changed = _first_change(self.summary, json.loads(outcome.summary()))
        if changed is not None:
            what = f"the run was repeated, and its result changed: {changed}"
            hint = "the trace, the frame or a policy has changed since; run it anew, with requests=True"
            raise InputError([Diagnostic("", None, "", what, hint=hint)])
        self._outcome = outcome
        return outcome

    def __repr__(self) -> str:
        """Shows the run and its main results in one line."""
        its = self.summary
        measured = [
            f"{kind} {number(latencies.mean_us)} us (p99.9 {number(latencies.p999_us)})"
            for kind, latencies in (("reads", self.read), ("writes", self.write))
            if latencies.count
        ]
        what = f"{its['device']} under {self.scheme}, {its['workload']['name']}"
        return f"<Run: {what}: {', '.join([*measured, f'WAF {number(self.waf)}'])}>"

    def _repr_html_(self) -> str:
        return Comparison([self])._repr_html_()


def _first_change(before: dict[str, Any], after: dict[str, Any], path: str = "") -> str | None:
    """Returns the first metric that differs, except those that depend on the machine's clock."""
    clock = [] if path else [metric.name for metric in metrics() if metric.stored == "run"]
    for name in [*before, *(name for name in after if name not in before)]:
        was, now = before.get(name), after.get(name)
        if was == now or name in clock:
            continue
        if isinstance(was, dict) and isinstance(now, dict):
            return _first_change(was, now, f"{path}{name}.")
        return f"`{path}{name}` was {was} and is {now}"
    return None


def _report(runs: Sequence[Run], path: str | os.PathLike[str]) -> Path:
    _core.write_report([run._detailed() for run in runs], os.fspath(path))
    return Path(path)


class Comparison(Sequence[Run]):
    """The same workload under several schemes."""

    def __init__(self, runs: Sequence[Run]) -> None:
        """Creates a comparison of runs. The first run is the baseline."""
        self._runs = tuple(runs)

    def __len__(self) -> int:
        """Returns the number of schemes."""
        return len(self._runs)

    def __getitem__(self, which: Any) -> Any:
        """Returns a run by its scheme or its index."""
        if isinstance(which, str):
            for run in self._runs:
                if run.scheme == which:
                    return run
            known = ", ".join(run.scheme for run in self._runs)
            raise KeyError(f"no scheme {which!r}; the schemes are {known}")
        return self._runs[which]

    def __iter__(self) -> Iterator[Run]:
        """Iterates over the runs in order."""
        return iter(self._runs)

    @property
    def schemes(self) -> list[str]:
        """The schemes in order."""
        return [run.scheme for run in self._runs]

    def rows(self) -> list[dict[str, Any]]:
        """Returns one row for each scheme with the headline metrics, ready for a data frame."""
        names = [metric.name for metric in metrics() if metric.headline]
        return [
            {"scheme": run.scheme, **{name.replace(".", "_"): run.value(name) for name in names}}
            for run in self._runs
        ]

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes a report: one HTML file that needs no other files."""
        return _report(self._runs, path)

    def plot(self, kind: str = "read") -> Figure:
        """Plots, for every scheme, the share of reads or writes at or above each latency."""
        from fowler.figures import distributions  # noqa: PLC0415  (matplotlib is optional)

        return distributions(self._runs, kind)

    def __repr__(self) -> str:
        """Shows the runs, one per line."""
        return "\n".join(["<Comparison:", *(f"  {run!r}" for run in self._runs), ">"])

    def _repr_html_(self) -> str:
        heads = ["scheme", "requests", "mean (us)", "p99 (us)", "p99.9 (us)", "max (us)", "WAF"]
        rows = [
            [
                run.scheme,
                f"{latencies.count:,} {kind}s",
                *map(
                    number,
                    (latencies.mean_us, latencies.p99_us, latencies.p999_us, latencies.max_us),
                ),
                number(run.waf),
            ]
            for run in self._runs
            for kind, latencies in (("read", run.read), ("write", run.write))
            if latencies.count
        ]
        return html_table(heads, rows)


class Sheet:
    """A table of a study or of a life: column heads and rows."""

    __slots__ = ("heads", "name", "rows", "title")

    def __init__(self, name: str, title: str, heads: list[str], rows: list[list[Any]]) -> None:
        """Creates a table."""
        self.name = name
        self.title = title
        self.heads = heads
        self.rows = rows

    def records(self) -> list[dict[str, Any]]:
        """Returns the rows as dictionaries, ready for a data frame."""
        return [dict(zip(self.heads, row, strict=True)) for row in self.rows]

    def __repr__(self) -> str:
        """Shows the name, the title and the number of rows."""
        return f"<Sheet {self.name}: {self.title} ({len(self.rows)} rows)>"

    def _repr_html_(self) -> str:
        rows = [[it if isinstance(it, str) else number(it) for it in row] for row in self.rows]
        return f"<p>{html.escape(self.title)}</p>{html_table(self.heads, rows)}"


class Lifetime:
    """The result of a lifetime run."""

    def __init__(self, its: _core.Lifetime) -> None:
        """Wraps a lifetime of the compiled module."""
        self._its = its

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All metrics of the life."""
        found: dict[str, Any] = json.loads(self._its.summary())
        return found

    @property
    def years(self) -> float | None:
        """How long the drive lives, in years of 365 days."""
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
        """How much each result changes at twice the dilation; ``None`` if that was not checked."""
        return self.summary["change"]  # type: ignore[no-any-return]

    @property
    def _life(self) -> Mapping[str, Any]:
        life: Mapping[str, Any] = self.summary["lives"][0]
        return life

    def sheet(self) -> Sheet:
        """Returns the results as a table."""
        return Sheet(*self._its.sheet())

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes the table (CSV), figures (SVG) and the report into a folder, and returns the files."""
        return [Path(folder) / name for name in self._its.write(os.fspath(folder))]

    def __repr__(self) -> str:
        """Shows the drive, the workload and the lifetime."""
        its = self.summary
        what = f"{its['device']} under {its['scheme']}, {its['workload']}"
        return f"<Lifetime: {what}: {number(self.years)} years, WAF {number(self.waf)}>"

    def _repr_html_(self) -> str:
        return self.sheet()._repr_html_()


class Study(Mapping[str, Sheet]):
    """The results of a study: its tables by name."""

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
