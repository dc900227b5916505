"""What runs came to."""

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
    """Its path in a summary, which is also the name of its column in a sweep: ``read.p99_us``. A last part in
    capitals stands for every name there: ``counters.erases.SOURCE``."""
    unit: str
    """``us``, ``s``, ``share`` (of one), ``ratio``, ``flag``, ``text``, ``table``, or what is counted."""
    about: str
    """What it means, in a sentence."""
    stored: str
    """``everywhere``; ``run``, and not in a sweep, if it depends on the machine's clock; ``summary``, and in
    no column, if it is a long text."""
    headline: bool
    """Whether it is one of those that summarise a run in a row."""


def metrics() -> tuple[Metric, ...]:
    """Every metric of a run, in the order of its summary."""
    return tuple(Metric(*facts) for facts in _core.metrics())


@dataclasses.dataclass(frozen=True, slots=True)
class Latencies:
    """How slow the reads, or the writes, of a run were; in microseconds. None where there were too few."""

    count: int
    """Requests."""
    mean_us: float | None
    """The mean."""
    min_us: float | None
    """The least."""
    p50_us: float | None
    """The median."""
    p90_us: float | None
    """What one in ten exceeds."""
    p99_us: float | None
    """What one in a hundred exceeds."""
    p999_us: float | None
    """What one in a thousand exceeds."""
    p9999_us: float | None
    """What one in ten thousand exceeds."""
    p99999_us: float | None
    """What one in a hundred thousand exceeds."""
    max_us: float | None
    """The most."""
    bytes: int
    """Bytes read, or written."""

    def _repr_html_(self) -> str:
        facts = dataclasses.asdict(self)
        heads = [name.replace("_us", " (us)") for name in facts]
        return html_table(heads, [[number(its) for its in facts.values()]])


@dataclasses.dataclass(frozen=True, slots=True)
class Band:
    """Where the time of some requests went, in microseconds of each on average."""

    count: int
    """Requests."""
    mean_latency_us: float | None
    """Their mean latency: the sum of the parts."""
    from_us: float | None
    """The least latency among them."""
    mean_us: Mapping[str, float]
    """The causes, and what each took on average."""

    def shares(self) -> dict[str, float]:
        """The causes that took any time, as shares of the latency, the largest first."""
        whole = self.mean_latency_us or 1.0
        some = {cause: its / whole for cause, its in self.mean_us.items() if its > 0.0}
        return dict(sorted(some.items(), key=lambda its: -its[1]))

    def __repr__(self) -> str:
        """How many, how slow, and the causes that took any time."""
        causes = ", ".join(f"{cause} {share:.1%}" for cause, share in self.shares().items())
        return f"<{self.count:,} requests of {number(self.mean_latency_us)} us: {causes}>"


@dataclasses.dataclass(frozen=True, slots=True)
class Blame:
    """Why requests of one kind were slow: all of them, and the slowest."""

    all: Band
    """Every request."""
    slowest_1pct: Band
    """The slowest hundredth."""
    slowest_0_1pct: Band
    """The slowest thousandth."""


@dataclasses.dataclass(frozen=True, slots=True)
class Blames:
    """Why reads and writes were slow."""

    read: Blame
    """Of reads."""
    write: Blame
    """Of writes."""

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

    Whatever reads Arrow takes it, without a copy: ``pyarrow.table(t)``, ``polars.DataFrame(t)``,
    ``pandas.DataFrame.from_arrow(t)``.
    """

    __slots__ = ("_its",)

    def __init__(self, its: _core.Table) -> None:
        """A table of the simulator's."""
        self._its = its

    @classmethod
    def of(cls, table: object) -> Table:
        """Any table with Arrow's C stream: a frame of polars or pandas, a table of pyarrow's."""
        return table if isinstance(table, Table) else Table(_core.Table.of(table))

    def __len__(self) -> int:
        """How many rows it has."""
        return len(self._its)

    def column(self, name: str) -> list[Any]:
        """The values of a column, ``None`` where there is none.

        Raises:
            InputError: if there is no such column.
        """
        if name not in self.columns:
            near = difflib.get_close_matches(name, self.columns, n=1)
            hint = f"did you mean `{near[0]}`?" if near else "`columns` lists them"
            raise InputError([Diagnostic("", None, "", f"there is no column `{name}`", hint=hint)])
        return self._its.column(name)

    def take(self, rows: Iterable[int]) -> Self:
        """Some of the rows, in this order."""
        return self._of(self._its.take(list(rows)))

    def _of(self, its: _core.Table) -> Self:
        return type(self)(its)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._its.columns

    def __arrow_c_schema__(self) -> object:
        """The schema, for whatever reads Arrow."""
        return self._its.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """The columns, for whatever reads Arrow."""
        return self._its.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        """How large it is."""
        return f"<Table: {len(self):,} rows of {len(self.columns)} columns>"


class Run:
    """One drive under one workload."""

    def __init__(self, outcome: _core.Outcome, again: Callable[[bool, bool], _core.Outcome]) -> None:
        """What the simulator came to, and how to run the same again."""
        self._outcome = outcome
        self._again = again

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Everything that was measured, with the configuration that it was measured on: ``summary.json``."""
        found: dict[str, Any] = json.loads(self._outcome.summary())
        return found

    @property
    def scheme(self) -> str:
        """The scheme on the drive."""
        return str(self.summary["scheme"])

    @property
    def complete(self) -> bool:
        """Whether the workload was run to its end."""
        return bool(self.summary["complete"])

    @cached_property
    def read(self) -> Latencies:
        """How slow reads were."""
        return Latencies(**self.summary["read"])

    @cached_property
    def write(self) -> Latencies:
        """How slow writes were."""
        return Latencies(**self.summary["write"])

    @cached_property
    def blame(self) -> Blames:
        """Why they were slow: every nanosecond of every request has one cause."""
        kinds = self.summary["blame"]

        def blame(bands: Mapping[str, Any]) -> Blame:
            return Blame(**{name: Band(**band) for name, band in bands.items()})

        return Blames(read=blame(kinds["read"]), write=blame(kinds["write"]))

    def value(self, name: str) -> Any:
        """A metric by its name, such as ``counters.erases.gc``; None where it is not known.

        Raises:
            InputError: if nothing of that name is reported of this run.
        """
        found: Any = self.summary
        for part in name.split("."):
            if found is None:
                return None
            if not isinstance(found, Mapping) or part not in found:
                hint = "`fowler.metrics()` lists them"
                raise InputError([Diagnostic("", None, "", f"there is no metric `{name}`", hint=hint)])
            found = found[part]
        return found

    @property
    def waf(self) -> float | None:
        """Pages programmed for each page of the host; None without writes."""
        return self.summary["waf"]  # type: ignore[no-any-return]

    @property
    def erases(self) -> int:
        """Blocks erased."""
        return int(self.summary["erases"])

    @property
    def suspensions(self) -> int:
        """How often a program or an erase was suspended."""
        return int(self.summary["suspensions"])

    @cached_property
    def device(self) -> Device:
        """The drive, with the policies that the scheme names; not custom ones."""
        its = Device.of(tomllib.loads(self._outcome.device))
        return dataclasses.replace(its, name=str(self.summary["device"]))

    def requests(self) -> Table:
        """Every request: when, what, the latency, and why to the nanosecond.

        A run that did not keep them (``requests=True``) is run again to the same bytes: results repeat.
        """
        requests = self._outcome.requests
        if requests is None:
            self._outcome = self._again(True, self._outcome.detailed)
            requests = self._outcome.requests
            assert requests is not None, "they were asked for"
        return Table(requests)

    def distribution(self, kind: str = "read") -> list[tuple[float, float]]:
        """Latencies in microseconds, and the share of reads or writes that took at least so long.

        Raises:
            InputError: if ``kind`` is neither ``read`` nor ``write``.
        """
        if kind not in ("read", "write"):
            raise InputError([Diagnostic("kind", None, "", f"`{kind}` is no kind", "read or write")])
        return self._outcome.distribution(kind)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes a page with pictures, which needs nothing else to be read."""
        return _report([self], path)

    def plot(self, kind: str = "read") -> Figure:
        """How slow reads or writes were, as a picture."""
        return Comparison([self]).plot(kind)

    def _detailed(self) -> _core.Outcome:
        if not self._outcome.detailed:
            self._outcome = self._again(self._outcome.requests is not None, True)
        return self._outcome

    def __repr__(self) -> str:
        """What it was and what it came to, in a line."""
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


def _report(runs: Sequence[Run], path: str | os.PathLike[str]) -> Path:
    _core.write_report([run._detailed() for run in runs], os.fspath(path))
    return Path(path)


class Comparison(Sequence[Run]):
    """The same workload under several schemes."""

    def __init__(self, runs: Sequence[Run]) -> None:
        """The runs, the one that others are compared with first."""
        self._runs = tuple(runs)

    def __len__(self) -> int:
        """How many schemes."""
        return len(self._runs)

    def __getitem__(self, which: Any) -> Any:
        """A run by its scheme or its place."""
        if isinstance(which, str):
            for run in self._runs:
                if run.scheme == which:
                    return run
            known = ", ".join(run.scheme for run in self._runs)
            raise KeyError(f"no scheme {which!r}; there are {known}")
        return self._runs[which]

    def __iter__(self) -> Iterator[Run]:
        """The runs in order."""
        return iter(self._runs)

    @property
    def schemes(self) -> list[str]:
        """The schemes in order."""
        return [run.scheme for run in self._runs]

    def rows(self) -> list[dict[str, Any]]:
        """A row for each scheme, as frames take them: every metric that is a headline."""
        names = [metric.name for metric in metrics() if metric.headline]
        return [
            {"scheme": run.scheme, **{name.replace(".", "_"): run.value(name) for name in names}}
            for run in self._runs
        ]

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes a page with pictures, which needs nothing else to be read."""
        return _report(self._runs, path)

    def plot(self, kind: str = "read") -> Figure:
        """The share of reads, or writes, that took at least so long, for every scheme."""
        from fowler.figures import distributions  # noqa: PLC0415  (a drawing library is not always there)

        return distributions(self._runs, kind)

    def __repr__(self) -> str:
        """The runs, a line each."""
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
    """A table of a study: heads and rows."""

    __slots__ = ("heads", "name", "rows", "title")

    def __init__(self, name: str, title: str, heads: list[str], rows: list[list[Any]]) -> None:
        """A table of the simulator's."""
        self.name = name
        self.title = title
        self.heads = heads
        self.rows = rows

    def records(self) -> list[dict[str, Any]]:
        """The rows as frames take them."""
        return [dict(zip(self.heads, row, strict=True)) for row in self.rows]

    def __repr__(self) -> str:
        """What it shows."""
        return f"<Sheet {self.name}: {self.title} ({len(self.rows)} rows)>"

    def _repr_html_(self) -> str:
        rows = [[it if isinstance(it, str) else number(it) for it in row] for row in self.rows]
        return f"<p>{html.escape(self.title)}</p>{html_table(self.heads, rows)}"


class Lifetime:
    """A drive that has lived."""

    def __init__(self, its: _core.Lifetime) -> None:
        """What the simulator came to."""
        self._its = its

    @cached_property
    def summary(self) -> dict[str, Any]:
        """Everything that was measured."""
        found: dict[str, Any] = json.loads(self._its.summary())
        return found

    @property
    def years(self) -> float | None:
        """How long it lives, in years of 365 days."""
        return self._life["effective_lifetime_years"]  # type: ignore[no-any-return]

    @property
    def waf(self) -> float | None:
        """Pages programmed for each page of the host."""
        return self._life["waf"]  # type: ignore[no-any-return]

    @property
    def response_mean_us(self) -> float | None:
        """How slow writes were on average, the throttle's delays included."""
        return self._life["response_mean_us"]  # type: ignore[no-any-return]

    @property
    def change(self) -> Mapping[str, float] | None:
        """By how much the same differs when one repetition stands for twice as many; None unchecked."""
        return self.summary["change"]  # type: ignore[no-any-return]

    @property
    def _life(self) -> Mapping[str, Any]:
        life: Mapping[str, Any] = self.summary["lives"][0]
        return life

    def sheet(self) -> Sheet:
        """Its table."""
        return Sheet(*self._its.sheet())

    def write(self, folder: str | os.PathLike[str]) -> list[Path]:
        """Writes the table (CSV), pictures (SVG) and the page into a folder; returns the files."""
        return [Path(folder) / name for name in self._its.write(os.fspath(folder))]

    def __repr__(self) -> str:
        """What it was and how long it lives."""
        its = self.summary
        what = f"{its['device']} under {its['scheme']}, {its['workload']}"
        return f"<Lifetime: {what}: {number(self.years)} years, WAF {number(self.waf)}>"

    def _repr_html_(self) -> str:
        return self.sheet()._repr_html_()


class Study(Mapping[str, Sheet]):
    """What came of a study: tables by their names."""

    def __init__(
        self, title: str, sheets: Sequence[Sheet], files: Sequence[Path], warnings: Sequence[str]
    ) -> None:
        """What the simulator came to."""
        self.title = title
        self.files = tuple(files)
        self.warnings = tuple(warnings)
        self._sheets = {sheet.name: sheet for sheet in sheets}

    def __getitem__(self, name: str) -> Sheet:
        """A table."""
        return self._sheets[name]

    def __iter__(self) -> Iterator[str]:
        """The names of the tables."""
        return iter(self._sheets)

    def __len__(self) -> int:
        """How many tables."""
        return len(self._sheets)

    def __repr__(self) -> str:
        """What it is about."""
        return f"<Study: {self.title}: {', '.join(self)}>"

    def _repr_html_(self) -> str:
        first = next(iter(self._sheets.values()), None)
        body = first._repr_html_() if first else ""
        return f"<h3>{html.escape(self.title)}</h3>{body}"


def number(value: float | None) -> str:
    """A number as a person reads it: four digits that count."""
    if value is None:
        return "—"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.4g}"  # noqa: PLR2004


def html_table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table that a notebook shows."""

    def row(cells: Sequence[str], kind: str) -> str:
        return f"<tr>{''.join(f'<{kind}>{html.escape(cell)}</{kind}>' for cell in cells)}</tr>"

    body = "".join(row(cells, "td") for cells in rows)
    return f"<table><thead>{row(heads, 'th')}</thead><tbody>{body}</tbody></table>"
