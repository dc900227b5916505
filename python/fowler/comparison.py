"""The results of comparisons."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self, overload

from fowler import _core, _result_file
from fowler.errors import path_of
from fowler.results import metrics
from fowler.runs import Run, rows, shown_runs
from fowler.verdict import Finding, Seeds, findings

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Comparison"]


class Comparison:
    """A sequence of runs of one workload, under several schemes or on several drives.

    ``pandas.DataFrame(c)`` and ``polars.DataFrame(c)`` have a row with all metrics for each run. A
    comparison can be pickled and saved.

    >>> both.schemes
    ['fifo', 'rps']
    >>> both["rps"].read.mean_us < both["fifo"].read.mean_us
    True
    """

    def __init__(self, runs: Sequence[Run], spread: _core.Spread | None = None) -> None:
        """Creates a comparison of runs. The first run is the baseline."""
        self._runs = tuple(runs)
        self._spread = spread
        self._said: str | None = None

    def __len__(self) -> int:
        """Returns the number of runs."""
        return len(self._runs)

    @overload
    def __getitem__(self, which: slice) -> tuple[Run, ...]: ...
    @overload
    def __getitem__(self, which: str | int) -> Run: ...

    def __getitem__(self, which: str | int | slice) -> Run | tuple[Run, ...]:
        """Returns a run by its scheme, its drive where drives are compared, or its index."""
        if isinstance(which, str):
            for run in self._runs:
                if run.name == which:
                    return run
            known = ", ".join(self._names)
            noun = "drive" if self._of_drives else "scheme"
            raise KeyError(f"no {noun} {which!r}; the {noun}s are {known}")
        return self._runs[which]

    def __iter__(self) -> Iterator[Run]:
        """Iterates over the runs in order."""
        return iter(self._runs)

    def __reversed__(self) -> Iterator[Run]:
        """Iterates over the runs from the last to the first."""
        return reversed(self._runs)

    def __contains__(self, which: object) -> bool:
        """True if the comparison has this run, or a run with this name of a scheme or a drive."""
        return which in (self._names if isinstance(which, str) else self._runs)

    @property
    def schemes(self) -> list[str]:
        """The scheme of each run in order."""
        return [run.scheme for run in self._runs]

    @property
    def devices(self) -> list[str]:
        """The drives in order, by their names; empty where schemes are compared."""
        return self._names if self._of_drives else []

    @property
    def _names(self) -> list[str]:
        return [run.name for run in self._runs]

    @property
    def _of_drives(self) -> bool:
        return any("candidate" in run.summary for run in self._runs)

    @cached_property
    def verdict(self) -> tuple[Finding, ...]:
        """The findings about the runs, in sentences: which run is better, and the numbers behind that."""
        return findings(self._findings())

    @cached_property
    def seeds(self) -> Seeds | None:
        """The numbers over several seeds, if the comparison had several (``seeds=5``)."""
        return None if self._spread is None else Seeds(self._spread, self._names)

    @property
    def summary(self) -> dict[str, Any]:
        """All metrics of all runs, the verdict and the seeds, as in ``fowler compare --json``."""
        seeds = None if self._spread is None else json.loads(self._spread.json(self._of_drives))
        found = json.loads(self._findings())
        runs = "devices" if self._of_drives else "schemes"
        return {runs: [run.summary for run in self._runs], "verdict": found, "seeds": seeds}

    def rows(self) -> list[dict[str, Any]]:
        """Returns one row for each run with the headline metrics, ready for a data frame.

        The first column is the scheme, or the drive where drives are compared.

        >>> [row["scheme"] for row in both.rows()]
        ['fifo', 'rps']
        """
        names = [metric.name for metric in metrics() if metric.headline]
        noun = "drive" if self._of_drives else "scheme"
        return [
            {noun: run.name, **{name.replace(".", "_"): run.value(name) for name in names}}
            for run in self._runs
        ]

    def report(self, path: str | os.PathLike[str]) -> Path:
        """Writes a report: one HTML file that needs no other files.

        >>> both.report("report.html").exists()
        True

        Raises:
            InputError: as :meth:`Run.report`.
            OSError: if the disk is full or fails.
        """
        file = path_of("path", path)
        _core.write_report([run._live(detail=True) for run in self._runs], file, self._spread)
        return Path(file)

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Saves the comparison in a file that :func:`fowler.load` reads.

        >>> fowler.load(both.save("both.fowler")).schemes
        ['fifo', 'rps']

        Raises:
            InputError: if the file cannot be written.
            OSError: if the disk is full or fails.
        """
        return _result_file.write(path, self)

    def plot(self, kind: str = "read", *, ax: Axes | None = None) -> Figure:
        """Plots, for every run, the share of reads or writes at or above each latency.

        >>> [line.get_label() for line in both.plot("write").axes[0].lines]
        ['fifo', 'rps']

        Args:
            kind: ``read`` or ``write``.
            ax: Axes of matplotlib to draw into; ``None`` for a new figure.
        """
        from fowler.figures import distributions  # noqa: PLC0415  (matplotlib is optional)

        return distributions(self._runs, kind, ax=ax)

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports the metrics to Arrow libraries: one row for each run."""
        return rows(self._runs).__arrow_c_stream__(requested_schema)

    def _findings(self) -> str:
        if self._said is None:
            self._said = _core.verdict([run._live(detail=False) for run in self._runs], self._spread)
        return self._said

    def _spread_text(self) -> str | None:
        return None if self._spread is None else self._spread.text()

    @classmethod
    def _of_facts(cls, runs: Sequence[Run], said: str, spread: str | None) -> Self:
        for run in runs[1:]:
            # One call repeats all runs.
            run._call = runs[0]._call
        comparison = cls(runs, None if spread is None else _core.Spread.read(spread))
        comparison._said = said
        return comparison

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the runs, the verdict and the seeds."""
        return _unpickled_comparison, (type(self), self._runs, self._findings(), self._spread_text())

    def __copy__(self) -> Self:
        """Returns a comparison of the same runs, which nothing can change."""
        copied = type(self)(self._runs, self._spread)
        copied._said = self._said
        return copied

    def __deepcopy__(self, memo: object) -> Self:
        """Returns a comparison of the same runs, which nothing can change."""
        return self.__copy__()

    def __repr__(self) -> str:
        """Shows the runs, one per line."""
        return "\n".join(["<Comparison:", *(f"  {run!r}" for run in self._runs), ">"])

    def _repr_html_(self) -> str:
        return shown_runs(self._runs, self.verdict)


def _unpickled_comparison(
    kind: type[Comparison], runs: Sequence[Run], said: str, spread: str | None
) -> Comparison:
    comparison = kind(runs, None if spread is None else _core.Spread.read(spread))
    comparison._said = said
    return comparison
