"""Plots of results, for papers and notebooks. They need matplotlib: ``pip install '.[plot]'``."""

from __future__ import annotations

import io
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from matplotlib import rc_context
from matplotlib.figure import Figure

from fowler import _core, analysis
from fowler._settings import kinds
from fowler.errors import Diagnostic, InputError
from fowler.results import number
from fowler.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from fowler.fleets import Fleet
    from fowler.runs import Run

__all__ = ["Picture", "blame", "distributions", "heatmap", "lines", "main_effects", "pareto", "survival"]

_schemes, _causes = _core.palette()
COLOURS = tuple(_schemes)
"""The colors of schemes by their place, as on report pages: color-blind readers can tell them apart."""
CAUSES = dict(_causes)
"""The color and the hatch of a cause, by its name, as on report pages."""
DASHES = ("-", "--", "-.", ":")
MARKS = ("o", "s", "^", "D", "v", "P", "X")
GREY = "#999999"
WIDE = 10.0
"""An axis is logarithmic if its largest number is at least this many times the least."""


class Picture(Figure):
    """A figure that notebooks display with any backend. The same data gives the same bytes.

    >>> both.plot()._repr_svg_().count("</svg>")
    1
    """

    def _repr_svg_(self) -> str:
        text = io.StringIO()
        with rc_context({"svg.hashsalt": "fowler"}):
            self.savefig(text, format="svg", metadata={"Date": None})
        return text.getvalue()


def distributions(runs: Iterable[Run], kind: str = "read", *, ax: Axes | None = None) -> Figure:
    """Plots, for every run, the share of reads or writes at or above each latency.

    >>> [line.get_label() for line in figures.distributions(both).axes[0].lines]
    ['fifo', 'rps']

    Args:
        runs: The runs, or a comparison.
        kind: ``read`` or ``write``.
        ax: Axes to draw into; ``None`` for a new figure.
    """
    figure, axes = _canvas(ax, (6, 4))
    for at, run in enumerate(runs):
        points = [(latency, share) for latency, share in run.distribution(kind) if latency > 0]
        if points:
            latency, share = zip(*points, strict=True)
            colour, dash = COLOURS[at % len(COLOURS)], DASHES[at // len(COLOURS) % len(DASHES)]
            axes.step(latency, share, dash, where="post", color=colour, label=run.name)
    axes.set(xscale="log", yscale="log", xlabel="latency (us)")
    axes.set_ylabel(f"share of {kind}s at least this slow")
    axes.grid(True, which="major", alpha=0.3)
    if axes.lines:
        axes.legend()
    return figure


def survival(fleet: Fleet, *, ax: Axes | None = None) -> Figure:
    """Plots the share of drives of a fleet that are alive over the years, with its interval.

    >>> figures.survival(life.fleet).axes[0].get_ylabel()
    'share alive'

    Args:
        fleet: The fleet.
        ax: Axes to draw into; ``None`` for a new figure.
    """
    figure, axes = _canvas(ax, (6, 4))
    curve = fleet.survival
    axes.plot(curve["years"], curve["alive"], color=COLOURS[0], label="alive")
    band = f"{100 * fleet.confidence:g} % interval"
    axes.fill_between(
        curve["years"], curve["low"], curve["high"], color=COLOURS[0], alpha=0.3, linewidth=0, label=band
    )
    axes.set(xlabel="years", ylabel="share alive")
    axes.grid(True, which="major", alpha=0.3)
    axes.legend()
    return figure


def blame(run: Run, kind: str = "read", causes: int = 8, *, ax: Axes | None = None) -> Figure:
    """Plots the causes of latency, for all requests of a run and for the slowest.

    A cause has its color and hatch by its name, the same in every plot and on report pages.

    >>> figures.blame(r, "write").axes[0].get_xlabel()
    'share of the latency of writes'

    Args:
        run: The run.
        kind: ``read`` or ``write``.
        causes: The most causes to show; the others are added up.
        ax: Axes to draw into; ``None`` for a new figure.

    Raises:
        InputError: if ``kind`` is neither ``read`` nor ``write``.
    """
    if kind not in ("read", "write"):
        raise InputError([Diagnostic("kind", None, "", f"unknown kind `{kind}`", "read or write")])
    bands = getattr(run.blame, kind)
    named = {
        "all": bands.all,
        "slowest 1 %": bands.slowest_1pct,
        "slowest 0.1 %": bands.slowest_0_1pct,
    }
    sizes: dict[str, float] = {}
    for band in named.values():
        for cause, share in band.shares().items():
            sizes[cause] = max(sizes.get(cause, 0.0), share)
    most = sorted(sizes, key=lambda cause: -sizes[cause])[:causes]
    figure, axes = _canvas(ax, (6, 3))
    left = [0.0] * len(named)
    for cause in [*(amount for amount in CAUSES if amount in most), "other"]:
        values = [
            band.shares().get(cause, 0.0)
            if cause != "other"
            else sum(amount for name, amount in band.shares().items() if name not in most)
            for band in named.values()
        ]
        if any(values):
            colour, hatch = CAUSES[cause]
            axes.barh(
                list(named),
                values,
                left=left,
                color=colour,
                edgecolor="white",
                linewidth=0.5,
                hatch=hatch,
                label=cause.replace("_", " "),
            )
            left = [before + amount for before, amount in zip(left, values, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel(f"share of the latency of {kind}s")
    if ax is None:
        figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    else:
        # The rest of the figure is the user's.
        axes.legend(loc="upper center", bbox_to_anchor=(0.5, -0.2), ncols=3, fontsize="small")
    return figure


class Quantity(NamedTuple):
    """The label and the scale with which a plot shows a column."""

    label: str
    """The label of the axis: name and unit."""
    scale: float
    """The divisor that converts the column's numbers to that unit."""


def quantity(column: str) -> Quantity:
    """Returns the label and the scale of a column: latencies in us, sizes in MiB, rates in MiB/s."""
    name = column.removeprefix("axis.")
    unit, scale = {
        "time": ("us", 1e3),
        "size": ("MiB", 2.0**20),
        "rate": ("MiB/s", 2.0**20),
    }.get(kinds().get(name, ""), ("", 1.0))
    for ending in ("us", "ns", "ms", "s", "pct", "years"):
        if not unit and name.endswith(f"_{ending}"):
            name, unit = name.removesuffix(f"_{ending}"), ending.replace("pct", "%")
    head, _, last = name.rpartition(".")
    if last[:1] == "p" and last[1:].isdigit():
        # p999 is p99.9.
        last = f"p{last[1:3]}" + (f".{last[3:]}" if last[3:] else "")
    shown = f"{head.replace('.', ' ')} {last}".replace("_", " ").replace("policy ", "").strip()
    shown = {"waf": "write amplification"}.get(shown, shown)
    return Quantity(f"{shown} ({unit})" if unit else shown, scale)


def pareto(
    table: Table,
    x: str,
    y: str,
    maximise: Sequence[str] = (),
    by: str | None = None,
    *,
    ax: Axes | None = None,
) -> Figure:
    """Plots two columns of every point, and their Pareto front, into ``ax`` if it is given.

    >>> figures.pareto(swept, "waf", "read.p99_us").axes[0].get_xlabel()
    'write amplification'
    """
    minimise = [name for name in (x, y) if name not in maximise]
    best = analysis.front(table, minimise, maximise)
    figure, axes = _canvas(ax)
    across, along = _axes(axes, table, x, y)
    marks = analysis.column(table, by) if by else [""] * len(table)
    kinds_ = list(dict.fromkeys(marks))
    for at, kind in enumerate(kinds_):
        rows = [row for row, drawn in enumerate(marks) if drawn == kind]
        points = [(across[row], along[row]) for row in rows]
        points = [it for it in points if None not in it]
        if points:
            colour = COLOURS[at % len(COLOURS)] if by else GREY
            mark = MARKS[at % len(MARKS)]
            label = _word(by, kind) if by else "all points"
            axes.plot(*zip(*points, strict=True), mark, color=colour, alpha=0.6, markersize=5, label=label)
    front_x, front_y = (analysis.column(best, name) for name in (x, y))
    scale = quantity(x).scale, quantity(y).scale
    front = sorted((a / scale[0], b / scale[1]) for a, b in zip(front_x, front_y, strict=True))
    if front:
        # Steps, not straight lines: no point is known to reach the line between two points of the front.
        where = "pre" if y in maximise else "post"
        axes.step(*zip(*front, strict=True), where=where, color="black", linewidth=1, label="Pareto front")
        axes.plot(*zip(*front, strict=True), "o", color="black", fillstyle="none", markersize=9)
    axes.legend(title=quantity(by).label if by else None, fontsize="small")
    return figure


def main_effects(effects: analysis.MainEffects, *, ax: Sequence[Axes] | Axes | None = None) -> Figure:
    """Plots the mean response at each value of each axis, the axes side by side.

    >>> len(figures.main_effects(swept.main_effects("waf")).axes)
    2

    Args:
        effects: The effects.
        ax: Axes to draw into, one for each axis of the sweep; ``None`` for a new figure.

    Raises:
        InputError: if there are fewer axes to draw into.
    """
    count = max(len(effects.effects), 1)
    figure, panels = _panels(ax, count)
    response = quantity(effects.response)
    for panel, effect in zip(panels, effects.effects, strict=False):
        levels = effect.levels
        means = [it.mean / response.scale for it in levels]
        if any(isinstance(it.low, str) for it in levels):
            # A line between categories would mean nothing.
            panel.vlines(range(len(levels)), effects.mean / response.scale, means, color=COLOURS[0])
            panel.plot(range(len(levels)), means, "o", color=COLOURS[0], markersize=5)
        else:
            panel.plot(range(len(levels)), means, "o-", color=COLOURS[0], markersize=5)
        panel.axhline(effects.mean / response.scale, color=GREY, linewidth=1, linestyle="--")
        labels = [_range(effect.factor, it) for it in levels]
        crowded = max(map(len, labels)) * len(labels) > 18  # noqa: PLR2004  (letters that fit below a panel)
        panel.set_xticks(
            range(len(levels)), labels, rotation=40 if crowded else 0, ha="right" if crowded else "center"
        )
        panel.set_xlabel(quantity(effect.factor).label)
        panel.set_title(f"{effect.share:.0%} of the variance", fontsize="small")
        panel.margins(x=0.2)
        panel.grid(True, axis="y", alpha=0.3)
    panels[0].set_ylabel(f"mean of {response.label}")
    return figure


def lines(table: Table, x: str, response: str, by: str | None = None, *, ax: Axes | None = None) -> Figure:
    """Plots the mean of a column along an axis, one line for each value of another, into ``ax`` if given.

    >>> figures.lines(swept, "seed", "waf").axes[0].get_ylabel()
    'write amplification'
    """
    figure, axes = _canvas(ax)
    across, along = _axes(axes, table, x, response)
    marks = analysis.column(table, by) if by else [""] * len(table)
    ticks = _order(it for it in across if it is not None)
    if len(ticks) <= analysis.LEVELS_MOST and not any(isinstance(it, str) for it in ticks):
        axes.set_xticks(ticks, [number(it) for it in ticks])
        axes.set_xticks([], minor=True)
    for at, kind in enumerate(dict.fromkeys(marks)):
        found: dict[float, list[float]] = {}
        for row, mark in enumerate(marks):
            if mark == kind and across[row] is not None and along[row] is not None:
                found.setdefault(across[row], []).append(along[row])
        if not found:
            continue
        places = sorted(found)
        means = [math.fsum(found[it]) / len(found[it]) for it in places]
        below = [mean - min(found[it]) for it, mean in zip(places, means, strict=True)]
        above = [max(found[it]) - mean for it, mean in zip(places, means, strict=True)]
        axes.errorbar(
            places,
            means,
            (below, above) if any(below) or any(above) else None,
            color=COLOURS[at % len(COLOURS)],
            linestyle=DASHES[at % len(DASHES)],
            marker=MARKS[at % len(MARKS)],
            markersize=5,
            capsize=3,
            elinewidth=0.8,
            label=_word(by, kind) if by else None,
        )
    if by:
        axes.legend(title=quantity(by).label, fontsize="small")
    return figure


def heatmap(table: Table, x: str, y: str, response: str, *, ax: Axes | None = None) -> Figure:
    """Plots the mean of a column over two axes, as colors and numbers, into ``ax`` if it is given.

    >>> figures.heatmap(swept, "seed", "geometry.over_provisioning", "waf").axes[0].get_xlabel()
    'seed'
    """
    across, along = analysis.column(table, x), analysis.column(table, y)
    values = analysis.numbers(table, [response])[0]
    shown = quantity(response)
    cells: dict[tuple[Any, Any], list[float]] = {}
    for a, b, value in zip(across, along, values, strict=True):
        if value is not None:
            cells.setdefault((a, b), []).append(value / shown.scale)
    columns, rows = _order(a for a, _ in cells), _order(b for _, b in cells)
    if not cells:
        raise InputError([Diagnostic("response", None, "", f"no point has a number in `{response}`")])
    means = [[_mean(cells.get((a, b))) for a in columns] for b in rows]
    figure, axes = _canvas(ax, (1.8 + 0.8 * len(columns), 1.4 + 0.5 * len(rows)))
    # Lightness alone shows the order, for color-blind readers and for black-and-white print.
    image = axes.imshow(means, cmap="cividis", aspect="auto", origin="lower")
    finite = [it for row in means for it in row if not math.isnan(it)]
    middle = (min(finite) + max(finite)) / 2
    for row, row_means in enumerate(means):
        for column, mean in enumerate(row_means):
            if not math.isnan(mean):
                ink = "white" if mean < middle else "black"
                axes.text(column, row, number(mean), ha="center", va="center", color=ink, fontsize="small")
    axes.set_xticks(range(len(columns)), [_word(x, it) for it in columns])
    axes.set_yticks(range(len(rows)), [_word(y, it) for it in rows])
    axes.set(xlabel=quantity(x).label, ylabel=quantity(y).label)
    figure.colorbar(image, ax=axes, label=shown.label)
    return figure


def _canvas(ax: Axes | None, size: tuple[float, float] = (6, 4)) -> tuple[Figure, Any]:
    """Returns a new figure and its axes, or those that were given."""
    if ax is not None:
        # For axes in a subfigure, this is the figure around the subfigure.
        figure = ax.get_figure(root=True)
        assert figure is not None, "axes belong to a figure"
        return figure, ax
    made = Picture(figsize=size, layout="constrained")
    return made, made.add_subplot()


def _panels(ax: Sequence[Axes] | Axes | None, count: int) -> tuple[Figure, Sequence[Any]]:
    """Returns a new figure with axes side by side, or those that were given."""
    if ax is None:
        made = Picture(figsize=(1.2 + 1.9 * count, 3.4), layout="constrained")
        return made, list(made.subplots(1, count, sharey=True, squeeze=False)[0])
    # A NumPy array of axes may have several rows.
    given: list[Any] = (
        list(ax.flat) if hasattr(ax, "flat") else list(ax) if isinstance(ax, Sequence) else [ax]
    )
    if len(given) < count:
        what = f"{len(given)} axes to draw into, and the sweep has {count}"
        raise InputError(
            [Diagnostic("ax", None, "", what, "axes of matplotlib, one for each axis of the sweep")]
        )
    return _canvas(given[0])[0], given


def _axes(axes: Any, table: Table, x: str, y: str) -> list[list[Any]]:
    """Labels and scales the axes, and returns the two columns in the units shown."""
    columns = []
    for name, set_label, set_scale in (
        (x, axes.set_xlabel, axes.set_xscale),
        (y, axes.set_ylabel, axes.set_yscale),
    ):
        shown = quantity(name)
        values = analysis.column(table, name)
        if not any(isinstance(it, str) for it in values):
            values = [None if it is None else it / shown.scale for it in analysis.numbers(table, [name])[0]]
            known = [it for it in values if it is not None]
            if known and min(known) > 0 and max(known) >= WIDE * min(known):
                set_scale("log")
        set_label(shown.label)
        columns.append(values)
    axes.grid(True, which="major", alpha=0.3)
    return columns


def _order(values: Any) -> list[Any]:
    distinct = list(dict.fromkeys(values))
    words = any(isinstance(it, str) for it in distinct)
    return distinct if words else sorted(distinct, key=lambda it: (it is None, it))


def _mean(values: list[float] | None) -> float:
    return math.fsum(values) / len(values) if values else math.nan


def _word(name: str | None, value: float | str | None) -> str:
    """Formats a value of an axis in the unit shown."""
    if value is None or isinstance(value, str):
        return value or "not set"
    return number(value / quantity(name or "").scale)


def _range(name: str, level: analysis.Level) -> str:
    low, high = level.low, level.high
    if low == high or not isinstance(low, int | float) or not isinstance(high, int | float):
        return _word(name, low)
    scale = quantity(name).scale
    return f"{low / scale:.3g} to {high / scale:.3g}"
