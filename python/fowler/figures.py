"""Pictures of results, for papers and notebooks. They need matplotlib: ``pip install fowler[plot]``."""

from __future__ import annotations

import io
from collections.abc import Sequence
from typing import TYPE_CHECKING

from matplotlib import rc_context
from matplotlib.figure import Figure

if TYPE_CHECKING:
    from fowler.results import Run

__all__ = ["Picture", "blame", "distributions"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""Okabe and Ito's colours, which are told apart by every eye."""
DASHES = ("-", "--", "-.", ":")


class Picture(Figure):
    """A figure that notebooks show by themselves, whatever the backend; the same bytes each time."""

    def _repr_svg_(self) -> str:
        text = io.StringIO()
        with rc_context({"svg.hashsalt": "fowler"}):
            self.savefig(text, format="svg", metadata={"Date": None})
        return text.getvalue()


def distributions(runs: Sequence[Run], kind: str = "read") -> Figure:
    """The share of reads, or writes, that took at least so long, for every run."""
    figure = Picture(figsize=(6, 4), layout="constrained")
    axes = figure.add_subplot()
    for at, run in enumerate(runs):
        points = [(late, share) for late, share in run.distribution(kind) if late > 0]
        if points:
            late, share = zip(*points, strict=True)
            colour, dash = COLOURS[at % len(COLOURS)], DASHES[at // len(COLOURS) % len(DASHES)]
            axes.step(late, share, dash, where="post", color=colour, label=run.scheme)
    axes.set(xscale="log", yscale="log", xlabel="latency (us)")
    axes.set_ylabel(f"share of {kind}s at least this late")
    axes.grid(True, which="major", alpha=0.3)
    if axes.lines:
        axes.legend()
    return figure


def blame(run: Run, kind: str = "read", causes: int = 8) -> Figure:
    """Where the time of all requests, and of the slowest, went."""
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
    shown = sorted(sizes, key=lambda cause: -sizes[cause])[:causes]
    figure = Picture(figsize=(6, 3), layout="constrained")
    axes = figure.add_subplot()
    left = [0.0] * len(named)
    for at, cause in enumerate([*shown, "other"]):
        values = [
            band.shares().get(cause, 0.0)
            if cause != "other"
            else sum(its for name, its in band.shares().items() if name not in shown)
            for band in named.values()
        ]
        if any(values):
            colour = COLOURS[at % len(COLOURS)] if cause != "other" else "#bbbbbb"
            hatch = "//" if at >= len(COLOURS) else None
            axes.barh(
                list(named),
                values,
                left=left,
                color=colour,
                hatch=hatch,
                label=cause.replace("_", " "),
            )
            left = [before + its for before, its in zip(left, values, strict=True)]
    axes.invert_yaxis()
    axes.set_xlabel(f"share of the latency of {kind}s")
    figure.legend(loc="outside lower center", ncols=3, fontsize="small")
    return figure
