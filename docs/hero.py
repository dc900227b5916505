"""The first picture of the README: how slow reads are under three schemes, and what the slowest waited for.

Its numbers are those of a run. It is drawn on the same canvas as the schematics, not by a library whose next
version would draw it otherwise, so that the file is the same everywhere.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import fowler
from fowler.runs import Run
from schematics.canvas import (
    BLUE,
    DARK_BLUE,
    DARK_GREEN,
    DARK_ORANGE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    RULE,
    Canvas,
)

DEVICE, WORKLOAD = "pes-mlc", "demo"


class Scheme(NamedTuple):
    """A scheme that the picture shows."""

    name: str
    about: str
    colour: str
    ink: str


SCHEMES = (
    Scheme("fifo", "in order of arrival", ORANGE, DARK_ORANGE),
    Scheme("rps", "reads first", GREEN, DARK_GREEN),
    Scheme("pes_ipc", "programs suspended", BLUE, DARK_BLUE),
)
CAUSES = {
    ("behind_host_program", "suspend"): ("waiting for a program", ORANGE),
    ("behind_host_read",): ("waiting for a read", "#56b4e9"),
    ("sense",): ("sensing the page", DARK_BLUE),
    ("transfer",): ("transfer from the die", "#9a9a9a"),
    ("host_link",): ("host link", "#d0d0d0"),
}
"""Parts of the blame, what they are called, their colours. Suspending alone takes too little to be seen."""
NEGLIGIBLE = 1e-3
"""Causes that take a smaller share of the time must not be in the table above."""
MEDIAN = 0.5
APART = 2.0
"""Points of a curve that are nearer to each other (pixels) are left out."""
LEFT, TOP, WIDTH, HEIGHT = 60.0, 92.0, 340.0, 246.0
LEAST, MOST = 50.0, 2_000.0
RIGHT, BAR, ACROSS = 444.0, 42.0, 300.0


def _y(latency: float) -> float:
    return TOP + HEIGHT * (1 - math.log(latency / LEAST) / math.log(MOST / LEAST))


def _quantiles(run: Run) -> list[tuple[float, float]]:
    """Latencies (us), and the share of reads that took longer, from the median on."""
    points = [(latency, share) for latency, share in run.distribution("read") if 0 < share <= MEDIAN]
    return [(run.read.p50_us or 0.0, MEDIAN), *points]


def _percentiles(canvas: Canvas, runs: list[Run]) -> None:
    canvas.text(12, 28, "How slow are reads?", 16, bold=True)
    canvas.text(12, 49, "latency by percentile, on a logarithmic axis", 13, fill=GREY)
    canvas.text(12, TOP - 16, "read latency (us)", 13, fill=GREY)
    most = max(run.read.count for run in runs)
    decades = math.log10(most)
    low = math.log10(2)

    def across(share: float) -> float:
        return LEFT + (-math.log10(share) - low) / (decades - low) * WIDTH

    for tick in (50, 100, 200, 500, 1000, 2000):
        canvas.line([(LEFT, _y(tick)), (LEFT + WIDTH, _y(tick))], "#e4e4e4", 1)
        canvas.text(LEFT - 7, _y(tick) + 4.5, f"{tick:,}", 13, "end", GREY)
    named = (("p50", MEDIAN), ("p90", 0.1), ("p99", 0.01), ("p99.9", 0.001), ("max", 1 / most))
    for name, share in named:
        canvas.line([(across(share), TOP), (across(share), TOP + HEIGHT + 5)], "#e4e4e4", 1)
        canvas.text(across(share), TOP + HEIGHT + 21, name, 13, "middle", GREY)
    canvas.text(LEFT + WIDTH / 2, TOP + HEIGHT + 42, "percentile of the reads", 13, "middle", GREY)
    for scheme, run in zip(SCHEMES, runs, strict=True):
        corners: list[tuple[float, float]] = []
        for latency, share in _quantiles(run):
            x, y = across(share), _y(latency)
            if not corners or math.dist(corners[-1], (x, y)) >= APART:
                corners.append((x, y))
        latencies = run.read
        marks = (latencies.p50_us, latencies.p90_us, latencies.p99_us, latencies.p999_us, latencies.max_us)
        corners.append((across(1 / latencies.count), _y(latencies.max_us or LEAST)))
        canvas.line(corners, scheme.colour, 2.6)
        for (_, share), mark in zip(named, marks, strict=True):
            canvas.dot(across(share), _y(mark or LEAST), 4, scheme.colour)
    # How much lower the last is than the first, where one read in a hundred is slower.
    first, middle, last = (run.read.p99_us or LEAST for run in runs)
    x = across(0.01)
    canvas.text(x + 6, _y(first) - 12, f"p99: {first:,.0f} us", 13, "end", SCHEMES[0].ink, True, True)
    canvas.text(x + 10, _y(last) + 20, f"{last:,.0f} us", 13, "start", SCHEMES[2].ink, True, True)
    canvas.line([(x, _y(middle) + 7), (x, _y(last) - 7)], INK, 1.6, heads="end")
    canvas.text(
        x + 10, (_y(middle) + _y(last)) / 2, f"{first / last:.1f} times lower", 14, "start", INK, True, True
    )
    for at, below in ((0, 21.0), (1, 22.0), (2, -13.0)):
        latency = runs[at].read.max_us or LEAST
        canvas.text(
            LEFT + WIDTH, _y(latency) + below, SCHEMES[at].name, 14, "end", SCHEMES[at].ink, True, True
        )


def _blame(canvas: Canvas, runs: list[Run]) -> None:
    canvas.text(RIGHT, 28, "What do the slowest 1 % wait for?", 16, bold=True)
    canvas.text(RIGHT, 49, "their mean latency by cause (us)", 13, fill=GREY)
    bands = [run.blame.read.slowest_1pct for run in runs]
    longest = max(band.mean_latency_us or 0.0 for band in bands)
    scale = ACROSS / longest
    for at, (scheme, band) in enumerate(zip(SCHEMES, bands, strict=True)):
        y = TOP + at * 76
        end = canvas.text(RIGHT, y - 7, scheme.name, 14, fill=scheme.ink, bold=True)
        canvas.text(end + 8, y - 7, scheme.about, 13, fill=GREY)
        known = {cause for causes in CAUSES for cause in causes}
        strange = [
            cause for cause, share in band.shares().items() if cause not in known and share > NEGLIGIBLE
        ]
        if strange:
            raise ValueError(f"{scheme.name}: nothing is drawn for {', '.join(strange)}")
        x = RIGHT
        for causes, (_, colour) in CAUSES.items():
            took = sum(band.mean_us.get(cause, 0.0) for cause in causes)
            canvas.rect(x, y, took * scale, BAR, colour)
            if took > longest / 4:
                canvas.text(x + took * scale / 2, y + 27, f"{took:,.0f}", 15, "middle", "#ffffff", True)
            x += took * scale
        canvas.text(x + 8, y + 27, f"{band.mean_latency_us:,.0f} us", 15, bold=True)
    top = TOP + 3 * 76
    for at, (words, colour) in enumerate(CAUSES.values()):
        x, y = RIGHT + at // 3 * 204, top + at % 3 * 22
        canvas.rect(x, y, 16, 13, colour)
        canvas.text(x + 23, y + 11.5, words, 13)


def draw() -> str:
    """Returns the first picture of the README, as SVG."""
    schemes = [scheme.name for scheme in SCHEMES]
    runs = list(fowler.compare(DEVICE, WORKLOAD, schemes=schemes))
    told = "; ".join(
        f"{run.scheme}: p50 {run.read.p50_us:.0f}, p99 {run.read.p99_us:.0f}, max {run.read.max_us:.0f} us, "
        f"the slowest 1 % {run.blame.read.slowest_1pct.mean_latency_us:.0f} us on average, of which "
        f"{run.blame.read.slowest_1pct.mean_us['behind_host_program']:.0f} us behind a program"
        for run in runs
    )
    canvas = Canvas(
        "slow-reads",
        820,
        438,
        "How slow reads are under three schemes, and what the slowest wait for",
        f"Read latencies by percentile, and the causes of the slowest hundredth. {told}.",
    )
    _percentiles(canvas, runs)
    canvas.line([(422, 16), (422, 392)], RULE, 1)
    _blame(canvas, runs)
    canvas.line([(12, 404), (808, 404)], RULE, 1)
    canvas.text(
        12,
        424,
        f"fowler compare --device {DEVICE} --workload {WORKLOAD} --schemes {','.join(schemes)}: "
        f"{runs[0].read.count:,} reads",
        13,
        fill=GREY,
    )
    return canvas.svg()
