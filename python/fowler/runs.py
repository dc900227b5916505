"""The results of runs."""

from __future__ import annotations

import dataclasses
import html
import json
import os
import pickle
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fowler import _core, _result_file
from fowler._repeat import Call
from fowler.drive import Device
from fowler.errors import Diagnostic, InputError, path_of
from fowler.results import Band, Blame, Blames, Latencies, html_table, metrics, number
from fowler.table import Table
from fowler.verdict import Finding, findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Run"]


@dataclasses.dataclass
class _Stored:
    """An outcome that was saved or pickled: the same facts, without the data of a report."""

    text: str
    device: str
    distributions: Mapping[str, list[tuple[float, float]]]
    findings: str
    requests: _core.Table | None
    policies: Sequence[tuple[str, object]] = ()
    detailed: bool = False

    def summary(self) -> str:
        return self.text

    def distribution(self, kind: str) -> list[tuple[float, float]]:
        return self.distributions[kind]


class Run(Mapping[str, Any]):
    """The result of one drive under one workload.

    A run is a mapping from the names of metrics to their values: ``run["read.p99_us"]``, ``dict(run)``,
    ``pandas.Series(run)``. A run can be pickled and saved.

    >>> r["read.p99_us"] == r.read.p99_us, "waf" in r
    (True, True)
    """

    def __init__(self, outcome: _core.Outcome | _Stored, call: Call, place: int = 0) -> None:
        """Wraps an outcome of the compiled module, which is the one at this place of a call."""
        self._outcome = outcome
        self._call = call
        self._place = place

    @cached_property
    def _text(self) -> str:
        # A repetition takes another time on the machine's clock.
        return self._outcome.summary()

    @cached_property
    def summary(self) -> dict[str, Any]:
        """All metrics and the complete configuration, as in ``summary.json``."""
        found: dict[str, Any] = json.loads(self._text)
        return found

    @property
    def scheme(self) -> str:
        """The scheme of the drive."""
        return str(self.summary["scheme"])

    @property
    def name(self) -> str:
        """The name of the run in a comparison: its scheme, or its drive where drives are compared."""
        return str(self.summary.get("candidate") or self.scheme)

    @property
    def complete(self) -> bool:
        """True if the workload was run to its end."""
        return bool(self.summary["complete"])

    @cached_property
    def read(self) -> Latencies:
        """The latencies of reads."""
        return Latencies(**{"p95_us": None, **self.summary["read"]})

    @cached_property
    def write(self) -> Latencies:
        """The latencies of writes."""
        return Latencies(**{"p95_us": None, **self.summary["write"]})

    @cached_property
    def blame(self) -> Blames:
        """The causes of the latency of reads and writes. Every nanosecond of a request has one cause."""
        kinds = self.summary["blame"]

        def blame(bands: Mapping[str, Any]) -> Blame:
            return Blame(**{name: Band(**band) for name, band in bands.items()})

        return Blames(read=blame(kinds["read"]), write=blame(kinds["write"]))

    @cached_property
    def verdict(self) -> tuple[Finding, ...]:
        """The findings about the run, in sentences, including what its numbers cannot show."""
        return findings(self._findings())

    def value(self, name: str) -> Any:
        """Returns a metric by its name, such as ``counters.erases.gc``; ``None`` if it has no value.

        >>> r.value("counters.erases.gc") == r.summary["counters"]["erases"]["gc"]
        True

        Raises:
            InputError: if the run has no metric of that name.
        """
        found: Any = self.summary
        for part in name.split(".") if isinstance(name, str) else [name]:
            if found is None:
                return None
            if not isinstance(found, Mapping) or part not in found:
                hint = "`fowler.metrics()` lists all metrics"
                raise InputError([Diagnostic("", None, "", f"unknown metric `{name}`", hint=hint)])
            found = found[part]
        return found

    def __getitem__(self, name: str) -> Any:
        """Returns a metric by its name.

        Raises:
            KeyError: if the run has no metric of that name.
        """
        try:
            return self.value(name)
        except InputError:
            raise KeyError(f"{name!r}; `fowler.metrics()` lists all metrics") from None

    @cached_property
    def _values(self) -> dict[str, Any]:
        return dict(_single(self.summary))

    def __iter__(self) -> Iterator[str]:
        """Iterates over the names of all metrics that are single values."""
        return iter(self._values)

    def __len__(self) -> int:
        """Returns the number of metrics that are single values."""
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        """True if the results are equal, apart from metrics that depend on the machine's clock."""
        if not isinstance(other, Run):
            return NotImplemented
        return self is other or _first_change(self.summary, other.summary) is None

    def __hash__(self) -> int:
        """Equal runs have equal hashes."""
        return hash((self.scheme, self.summary["config_hash"], self.summary["erases"]))

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
        """The number of times that a program or an erase was suspended."""
        return int(self.summary["suspensions"])

    @cached_property
    def device(self) -> Device:
        """The drive with the scheme's policies, except those written in Python."""
        drive = Device.of(tomllib.loads(self._outcome.device))
        return dataclasses.replace(drive, name=str(self.summary["device"]))

    @cached_property
    def policies(self) -> Mapping[str, Any]:
        """The policies written in Python that the run has asked, by name, in their state after the run.

        The policies are the copies that the run's drive had. A pickled run has them if they can be
        pickled, and a saved run does not.
        """
        return dict(self._outcome.policies)

    def requests(self) -> Table:
        """Returns every request: its time, type, latency, and the causes of the latency in nanoseconds.

        If the run did not keep its requests (``requests=True``), it is repeated, with identical results.

        >>> r.requests()[0]["op"] in ("read", "write")
        True

        Raises:
            InputError: if the run cannot be repeated, or the repeated run differs, because the trace, the
                frame or a policy has changed.
        """
        requests = self._outcome.requests
        if requests is None:
            requests = self._repeat(keep=True, detail=self._outcome.detailed).requests
            assert requests is not None, "the run was told to keep them"
        return Table(requests)

    def distribution(self, kind: str = "read") -> list[tuple[float, float]]:
        """Returns latencies in microseconds, each with the share of reads or writes at or above it.

        >>> latency, share = r.distribution("read")[0]
        >>> share
        1.0

        Raises:
            InputError: if ``kind`` is neither ``read`` nor ``write``.
        """
        if kind not in ("read", "write"):
            raise InputError([Diagnostic("kind", None, "", f"unknown kind `{kind}`", "read or write")])
        return self._outcome.distribution(kind)

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes a report: one HTML file that needs no other files.

        The run is repeated for the details that the report shows, unless its requests came from a stream.

        >>> r.report("report.html").exists()
        True

        Raises:
            InputError: if the run cannot be repeated, or the repeated run differs, because the trace, the
                frame or a policy has changed.
            OSError: if the disk is full or fails.
        """
        file = path_of("path", path)
        _core.write_report([self._live(detail=True)], file)
        return Path(file)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Saves the run in a file that :func:`fowler.load` reads, with its requests if it kept them.

        >>> fowler.load(r.save("run.fowler")).read == r.read
        True

        Raises:
            InputError: if the file cannot be written.
            OSError: if the disk is full or fails.
        """
        return _result_file.write(path, self)

    def plot(self, kind: str = "read", *, ax: Axes | None = None) -> Figure:
        """Plots the latency distribution of reads or writes, into ``ax`` if it is given.

        >>> r.plot("write").axes[0].get_xscale()
        'log'
        """
        from fowler.figures import distributions  # noqa: PLC0415  (matplotlib is optional)

        return distributions([self], kind, ax=ax)

    def plot_blame(self, kind: str = "read", *, causes: int = 8, ax: Axes | None = None) -> Figure:
        """Plots the causes of latency of all reads or writes and of the slowest, into ``ax`` if it is given.

        >>> r.plot_blame("write").axes[0].get_xlabel()
        'share of the latency of writes'

        Args:
            kind: ``read`` or ``write``.
            causes: The most causes to show; the others are added up.
            ax: Axes of matplotlib to draw into.
        """
        from fowler.figures import blame  # noqa: PLC0415  (matplotlib is optional)

        return blame(self, kind, causes, ax=ax)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports the metrics to Arrow libraries: one row."""
        return rows([self]).__arrow_c_stream__(requested_schema)

    def _findings(self) -> str:
        outcome = self._outcome
        return outcome.findings if isinstance(outcome, _Stored) else _core.verdict([outcome])

    def _live(self, *, detail: bool) -> _core.Outcome:
        """Returns the outcome of the run, and repeats the run if the outcome or its detail was not kept."""
        outcome = self._outcome
        if isinstance(outcome, _Stored) or (detail and not outcome.detailed):
            return self._repeat(keep=outcome.requests is not None, detail=detail)
        return outcome

    def _repeat(self, *, keep: bool, detail: bool) -> _core.Outcome:
        """Repeats the run and keeps the new outcome, unless it differs from the first."""
        # Keeps the policies of the first run, which users may hold. Those of the repeated run are equal.
        _ = self.policies
        outcome = self._call.again(self._place, keep, detail)
        changed = _first_change(self.summary, json.loads(outcome.summary()))
        if changed is not None:
            what = f"the run was repeated, and its result changed: {changed}"
            hint = "the trace, the frame or a policy has changed since; run it anew, with requests=True"
            raise InputError([Diagnostic("", None, "", what, hint=hint)])
        self._outcome = outcome
        return outcome

    def _facts(self) -> dict[str, Any]:
        """Returns the facts that a file saves, as values of JSON, and the requests."""
        outcome = self._outcome
        return {
            "text": self._text,
            "device": outcome.device,
            "distributions": {kind: outcome.distribution(kind) for kind in ("read", "write")},
            "findings": self._findings(),
            "requests": outcome.requests,
            "call": self._call.plain(),
            "place": self._place,
        }

    @classmethod
    def _of_facts(cls, facts: dict[str, Any]) -> Self:
        call, place = facts.pop("call"), facts.pop("place")
        pairs = {
            kind: [(at, share) for at, share in distribution]
            for kind, distribution in facts["distributions"].items()
        }
        stored = _Stored(**{**facts, "distributions": pairs})
        return cls(stored, call if isinstance(call, Call) else Call.of_plain(call), place)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the results, the requests if they were kept, and the call if it can be pickled."""
        requests = self._outcome.requests
        table = None if requests is None else Table(requests)
        policies = _picklable(self.policies)
        facts = {**self._facts(), "requests": table, "call": self._call, "policies": policies}
        return _unpickled, (type(self), facts)

    def __copy__(self) -> Self:
        """Returns a run with the same results, which nothing can change."""
        copied = type(self)(self._outcome, self._call, self._place)
        copied.__dict__["_text"] = self._text
        copied.__dict__["policies"] = self.policies
        return copied

    def __deepcopy__(self, memo: object) -> Self:
        """Returns a run with the same results, which nothing can change."""
        return self.__copy__()

    def __repr__(self) -> str:
        """Shows the run and its main results in one line."""
        facts = self.summary
        measured = [
            f"{kind} {number(latencies.mean_us)} us (p99.9 {number(latencies.p999_us)})"
            for kind, latencies in (("reads", self.read), ("writes", self.write))
            if latencies.count
        ]
        what = f"{facts['device']} under {self.scheme}, {facts['workload']['name']}"
        return f"<Run: {what}: {', '.join([*measured, f'WAF {_shown_waf(self)}'])}>"

    def _repr_html_(self) -> str:
        return shown_runs([self], self.verdict)


def _shown_waf(run: Run) -> str:
    """Returns write amplification as text; a dash if the run erased too little for it."""
    return number(None if run.summary.get("waf_withheld") else run.waf)


def _picklable(policies: Mapping[str, Any]) -> list[tuple[str, Any]]:
    try:
        pickle.dumps(policies)
    except Exception:  # whatever the user's objects raise
        return []
    return list(policies.items())


def _unpickled(kind: type[Run], facts: dict[str, Any]) -> Run:
    table = facts["requests"]
    return kind._of_facts({**facts, "requests": None if table is None else table._its})


def _single(values: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _single(value, f"{path}{name}.")
        elif not isinstance(value, list):
            yield f"{path}{name}", value


def rows(runs: Iterable[Run]) -> _core.Table:
    """Returns the metrics as a table, one row for each run."""
    rows = [run._values for run in runs]
    names = dict.fromkeys(name for row in rows for name in row)
    return _core.Table.of_columns([(name, "", [row.get(name) for row in rows]) for name in names])


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


def shown_runs(runs: Sequence[Run], verdict: Sequence[Finding]) -> str:
    """Returns a table of runs and their findings, as HTML for notebooks."""
    noun = "drive" if any("candidate" in run.summary for run in runs) else "scheme"
    heads = [noun, "requests", "mean (us)", "p99 (us)", "p99.9 (us)", "max (us)", "WAF"]
    cells = [
        [
            run.name,
            f"{latencies.count:,} {kind}s",
            *map(
                number,
                (latencies.mean_us, latencies.p99_us, latencies.p999_us, latencies.max_us),
            ),
            _shown_waf(run),
        ]
        for run in runs
        for kind, latencies in (("read", run.read), ("write", run.write))
        if latencies.count
    ]
    said = "".join(f"<li>{html.escape(str(finding))}</li>" for finding in verdict)
    return f"{html_table(heads, cells)}{said and f'<ul>{said}</ul>'}"
