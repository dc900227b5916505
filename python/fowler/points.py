"""The points of a sweep: their settings, their results, and analyses over all of them."""

from __future__ import annotations

import dataclasses
import html
import json
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from fowler import _core, analysis
from fowler.analysis import MainEffects
from fowler.results import html_table, number
from fowler.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Plots", "Point", "Sweep"]

AXIS = "axis."
"""The prefix of the columns of axes."""
SHOWN = 20
"""The number of points that a notebook shows."""
HEADLINES = ("read.mean_us", "read.p999_us", "write.mean_us", "write.p999_us", "waf")
"""The metrics that a notebook shows for each point."""


@dataclasses.dataclass(frozen=True, slots=True)
class Point:
    """One point of a sweep that has run.

    >>> swept.points[0].axes["seed"]
    1.0
    """

    number: int
    """The index of the point in the design, from 0."""
    hash: str
    """The hash that identifies the point. The files of the point are named after the hash."""
    axes: Mapping[str, float | str | None]
    """The value of the point on each axis: times in ns, sizes in bytes, rates in bytes per second."""
    device: str
    """The name of the drive."""
    scheme: str
    """The scheme."""
    workload: str
    """The name of the generator or the trace."""
    error: str | None
    """The reason why the point failed; ``None`` if it did not fail."""
    _summary: str | None = dataclasses.field(repr=False)

    @property
    def summary(self) -> dict[str, Any]:
        """All metrics of the point; empty if it failed."""
        found: dict[str, Any] = json.loads(self._summary or "{}")
        return found


class Sweep(Table):
    """The points of a sweep that have run, one row each, in the order of the design.

    Any Arrow library reads it without a copy: ``polars.DataFrame(s)``, ``pyarrow.table(s)``,
    ``pandas.DataFrame.from_arrow(s)``. The columns are ``point``, ``hash``, ``axis.NAME`` for each axis,
    ``error``, every single value of the summary under its dotted name, and ``summary`` as JSON.

    >>> len(swept), swept.axes
    (4, ['geometry.over_provisioning', 'seed'])
    """

    def __init__(self, table: _core.Table, folder: Path) -> None:
        """Wraps a table of the compiled module, saved in ``folder``."""
        super().__init__(table)
        self._folder = folder

    def _of(self, table: _core.Table) -> Self:
        return type(self)(table, self._folder)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the points and the path of the folder."""
        return _unpickled, (self._its.bytes(), self._folder)

    @property
    def folder(self) -> Path:
        """The folder of results."""
        return self._folder

    @property
    def axes(self) -> list[str]:
        """The names of the axes."""
        return [name.removeprefix(AXIS) for name in self.columns if name.startswith(AXIS)]

    @cached_property
    def points(self) -> tuple[Point, ...]:
        """The points as objects."""
        axes = self.axes
        levels = [self.column(AXIS + name) for name in axes]

        def column(name: str) -> list[Any]:
            return self.column(name) if name in self.columns else [None] * len(self)

        names = ("point", "hash", "device", "scheme", "workload.name", "error", "summary")
        rows = zip(*map(column, names), strict=True)
        return tuple(
            Point(place, hash_, {name: axis[at] for name, axis in zip(axes, levels, strict=True)}, *rest)
            for at, (place, hash_, *rest) in enumerate(rows)
        )

    @property
    def failed(self) -> tuple[Point, ...]:
        """The points that failed. ``error`` says why."""
        return tuple(point for point in self.points if point.error is not None)

    def pareto(self, *minimise: str, maximise: Sequence[str] = ()) -> Self:
        """Returns the Pareto front: the points that no other point beats, best first in the first column.

        >>> len(swept.pareto("waf", "read.p99_us")) in range(1, 5)
        True

        Args:
            *minimise: Columns to minimize, such as ``"waf", "read.p999_us"``.
            maximise: Columns to maximize.

        Raises:
            InputError: for every column that does not exist or is not numeric, and if no point has a
                number in all of them.
        """
        return analysis.front(self, minimise, maximise)

    def main_effects(self, response: str, factors: Sequence[str] | None = None) -> MainEffects:
        """Returns the effect of each axis on a column. See :func:`fowler.main_effects`.

        >>> len(swept.main_effects("waf").effects)
        2
        """
        return analysis.main_effects(self, response, factors)

    @property
    def plot(self) -> Plots:
        """Plots of the points. They need matplotlib: ``pip install '.[plot]'``."""
        return Plots(self)

    def _shown(self, name: str) -> list[Any]:
        """Returns a column without the write amplification of points that erased too little for it."""
        column = self.column(name)
        if name != "waf" or "waf_withheld" not in self.columns:
            return column
        return [None if why else cell for cell, why in zip(column, self.column("waf_withheld"), strict=True)]

    def __repr__(self) -> str:
        """Shows the folder, the number of points and the axes."""
        failed = f", {len(self.failed)} failed" if self.failed else ""
        return f"<Sweep {self._folder}: {len(self):,} points{failed}, by {', '.join(self.axes) or 'nothing'}>"

    def _repr_html_(self) -> str:
        reported = [name for name in HEADLINES if name in self.columns]
        heads = ["point", *self.axes, *reported]
        columns = [self._shown(name) for name in reported]
        failed = ["error"] if self.failed else []
        rows = [
            [
                str(point.number),
                *(_cell(level) for level in point.axes.values()),
                *(_cell(column[at]) for column in columns),
                *((point.error or "").partition("\n")[0] for _ in failed),
            ]
            for at, point in enumerate(self.points[:SHOWN])
        ]
        more = f"<p>and {len(self) - SHOWN:,} more</p>" if len(self) > SHOWN else ""
        title = f"<p>{html.escape(repr(self)[1:-1])}</p>"
        return f"{title}{html_table([*heads, *failed], rows)}{more}"


def _unpickled(data: bytes, folder: Path) -> Sweep:
    return Sweep(_core.Table.of_bytes(data), folder)


def _cell(value: float | str | None) -> str:
    return value if isinstance(value, str) else number(value)


class Plots:
    """Plots of the points of a sweep, as matplotlib figures.

    >>> swept.plot.lines("seed", "waf").axes[0].get_xlabel()
    'seed'
    """

    def __init__(self, sweep: Sweep) -> None:
        """Creates the plots of a sweep."""
        self._its = sweep

    def pareto(
        self,
        x: str,
        y: str,
        *,
        maximise: Sequence[str] = (),
        by: str | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """Plots two columns of every point, and their Pareto front.

        >>> swept.plot.pareto("waf", "read.p99_us", by="seed").axes[0].get_xlabel()
        'write amplification'

        Args:
            x: A column of numbers.
            y: Another column of numbers.
            maximise: Which of the two to maximize. The others are minimized.
            by: An axis with few values, shown by colors and markers.
            ax: Axes of matplotlib to draw into; ``None`` for a new figure.
        """
        from fowler import figures  # noqa: PLC0415  (matplotlib is optional)

        return figures.pareto(self._its, x, y, maximise, by, ax=ax)

    def main_effects(
        self,
        response: str,
        factors: Sequence[str] | None = None,
        *,
        ax: Sequence[Axes] | Axes | None = None,
    ) -> Figure:
        """Plots the mean of a column at each value of each axis, on one scale, the strongest axis first.

        >>> len(swept.plot.main_effects("waf").axes)
        2

        Args:
            response: The column.
            factors: The axes to show; ``None`` for all.
            ax: Axes of matplotlib to draw into, one for each axis of the sweep; ``None`` for a new figure.
        """
        from fowler import figures  # noqa: PLC0415

        return figures.main_effects(self._its.main_effects(response, factors), ax=ax)

    def lines(self, x: str, response: str, *, by: str | None = None, ax: Axes | None = None) -> Figure:
        """Plots the mean, least and largest value of a column along ``x``, one line per value of ``by``.

        >>> swept.plot.lines("geometry.over_provisioning", "waf", by="seed").axes[0].get_ylabel()
        'write amplification'

        Args:
            x: An axis.
            response: The column.
            by: Another axis.
            ax: Axes of matplotlib to draw into; ``None`` for a new figure.
        """
        from fowler import figures  # noqa: PLC0415

        return figures.lines(self._its, x, response, by, ax=ax)

    def heatmap(self, x: str, y: str, response: str, *, ax: Axes | None = None) -> Figure:
        """Plots the mean of a column over two axes, as colors and numbers.

        >>> swept.plot.heatmap("seed", "geometry.over_provisioning", "waf").axes[0].get_xlabel()
        'seed'

        Args:
            x: The axis along the bottom.
            y: The axis along the side.
            response: The column.
            ax: Axes of matplotlib to draw into; ``None`` for a new figure.
        """
        from fowler import figures  # noqa: PLC0415

        return figures.heatmap(self._its, x, y, response, ax=ax)
