"""The pictures of docs/scoreboard.md: a drive as measured and as simulated.

Drawn on the canvas of the schematics from results of `fowler score --json`;
`docs/scoreboard.py --pictures` writes them.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

from schematics.canvas import (
    BLUE,
    DARK_BLUE,
    DARK_GREEN,
    DARK_ORANGE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE_BLUE,
    PALE_GREEN,
    PALE_ORANGE,
    RULE,
    Canvas,
    measured,
)

WIDTH, HEIGHT = 820, 404
TOP, BOTTOM = 84.0, 322.0
ACROSS = 316.0
LEFTS = (72.0, 480.0)
FAINT = "#e4e4e4"
TICKS_MOST = 6


class Colour(NamedTuple):
    """The colours of a line, its words and its band."""

    line: str
    ink: str
    band: str


COLOURS = (
    Colour(BLUE, DARK_BLUE, PALE_BLUE),
    Colour(GREEN, DARK_GREEN, PALE_GREEN),
    Colour(ORANGE, DARK_ORANGE, PALE_ORANGE),
)


class Point(NamedTuple):
    """A row: where it stands, measured, simulated with its interval, and whether it was fitted to."""

    x: float
    measured: float
    simulated: float
    low: float
    high: float
    fitted: bool


class Series(NamedTuple):
    """A number over the rows, and where its name stands: at which point, and how far below."""

    name: str
    points: list[Point]
    at: int = 0
    below: float = -9.0


class Axis(NamedTuple):
    """An axis: its ends, its ticks, and true if it is logarithmic."""

    low: float
    high: float
    ticks: tuple[float, ...]
    log: bool

    def share(self, value: float) -> float:
        """Returns the position of a value on the axis, from 0 to 1."""
        value = min(max(value, self.low), self.high)
        if self.log:
            return math.log(value / self.low) / math.log(self.high / self.low)
        return (value - self.low) / (self.high - self.low)


def points(rows: list[dict], metric: str, x: Callable[[dict], float | None]) -> list[Point]:
    """The points of a number, in order. Of rows at one place the first counts."""
    found: dict[float, Point] = {}
    for row in rows:
        place = x(row["setup"])
        for it in row["metrics"]:
            if it["metric"] != metric or place is None or not it["simulated"] or not it["measured"]:
                continue
            low, high = it["interval"] or (it["simulated"], it["simulated"])
            point = Point(place, it["measured"], it["simulated"], low, high, it["used_in_fit"])
            found.setdefault(place, point)
    return [found[place] for place in sorted(found)]


def tick(value: float) -> str:
    """A number beside an axis."""
    for unit, name in ((1e6, "M"), (1e3, "k")):
        if value >= unit:
            return f"{value / unit:g}{name}"
    return f"{value:g}"


def logarithmic(values: list[float], steps: tuple[int, ...] = (1, 2, 5)) -> Axis:
    """Returns a logarithmic axis around values, from tick to tick."""
    low, high = min(values), max(values)
    ticks = [step * 10.0**power for power in range(-3, 9) for step in steps]
    below = max(tick for tick in ticks if tick <= low * 1.0001)
    above = min(tick for tick in ticks if tick >= high * 0.9999)
    return Axis(below, above, tuple(tick for tick in ticks if below <= tick <= above), True)


def linear(values: list[float]) -> Axis:
    """Returns a linear axis from zero to above the largest value."""
    most = max(values) * 1.05
    step = 10.0 ** math.floor(math.log10(most))
    step = next(it for it in (step / 5, step / 2, step, 2 * step) if most / it <= TICKS_MOST)
    count = math.ceil(most / step)
    return Axis(0.0, count * step, tuple(at * step for at in range(count + 1)), False)


def panel(
    canvas: Canvas, left: float, title: str, y_name: str, x_name: str, x: Axis, y: Axis, series: list[Series]
) -> None:
    """Draws a panel: axes, bands, lines and measured points."""

    def place(at: float, value: float) -> tuple[float, float]:
        return left + ACROSS * x.share(at), BOTTOM - (BOTTOM - TOP) * y.share(value)

    shown = title if measured(title, 16, True) < LEFTS[1] - LEFTS[0] else title.split(",", maxsplit=1)[0]
    canvas.text(left - 60, 28, shown, 16, bold=True)
    canvas.text(left - 60, 52, y_name, 13, fill=GREY)
    for value in y.ticks:
        line = place(x.low, value)[1]
        canvas.line([(left, line), (left + ACROSS, line)], FAINT, 1)
        canvas.text(left - 7, line + 4.5, tick(value), 13, "end", GREY)
    for value in x.ticks:
        across = place(value, y.low)[0]
        canvas.line([(across, TOP), (across, BOTTOM + 5)], FAINT, 1)
        canvas.text(across, BOTTOM + 21, tick(value), 13, "middle", GREY)
    canvas.text(left + ACROSS / 2, BOTTOM + 42, x_name, 13, "middle", GREY)
    for one, colour in zip(series, COLOURS, strict=False):
        if len(one.points) > 1:
            upper = [place(it.x, it.high) for it in one.points]
            lower = [place(it.x, it.low) for it in reversed(one.points)]
            canvas.area([*upper, *lower], colour.band)
    for one, colour in zip(series, COLOURS, strict=False):
        canvas.line([place(it.x, it.simulated) for it in one.points], colour.line, 2.2)
    for one, colour in zip(series, COLOURS, strict=False):
        for it in one.points:
            canvas.dot(*place(it.x, it.measured), 4.4, colour.line)
            if it.fitted:
                canvas.dot(*place(it.x, it.measured), 2.4, "#ffffff")
        at, value = place(one.points[one.at].x, one.points[one.at].measured)
        canvas.text(at + 4, value + one.below, one.name, 14, "start", colour.ink, True, True)


def legend(canvas: Canvas, fitted: bool) -> None:
    """Draws the legend of points, lines and bands."""
    y = HEIGHT - 14
    canvas.line([(12, HEIGHT - 34), (WIDTH - 12, HEIGHT - 34)], RULE, 1)
    canvas.dot(20, y - 4.5, 4.4, INK)
    x = canvas.text(32, y, "measured" + (", predicted here" if fitted else ""), 13)
    if fitted:
        canvas.dot(x + 26, y - 4.5, 4.4, INK)
        canvas.dot(x + 26, y - 4.5, 2.4, "#ffffff")
        x = canvas.text(x + 38, y, "measured, fitted to", 13)
    canvas.rect(x + 24, y - 11, 28, 13, "#dddddd")
    canvas.line([(x + 24, y - 4.5), (x + 52, y - 4.5)], INK, 2.2)
    canvas.text(x + 60, y, "simulated, with its 95 % interval", 13)


def values(series: list[Series]) -> list[float]:
    """Returns every number of the series that the axis must have room for."""
    return [value for one in series for it in one.points for value in (it.measured, it.simulated)]


def chart(
    name: str,
    title: str,
    x_name: str,
    x_log: Callable[[list[float]], Axis],
    panels: list[tuple[str, str, bool, list[Series]]],
) -> str:
    """Two panels over the same axis: title, name of the axis, whether it is logarithmic, series."""
    told = "; ".join(
        f"{one.name}: "
        + ", ".join(
            f"{it.measured:g} measured and {it.simulated:.4g} simulated at {it.x:g}" for it in one.points
        )
        for *_, series in panels
        for one in series
    )
    canvas = Canvas(f"scoreboard-{name}", WIDTH, HEIGHT, title, told)
    for left, (head, y_name, log, series) in zip(LEFTS, panels, strict=True):
        x = x_log([it.x for one in series for it in one.points])
        y = (logarithmic if log else linear)(values(series))
        panel(canvas, left, head, y_name, x_name, x, y, series)
    canvas.line([(412, 16), (412, 356)], RULE, 1)
    legend(canvas, any(it.fitted for *_, series in panels for one in series for it in one.points))
    return canvas.svg()


def of_load(name: str, rows: list[dict]) -> str:
    """Reads of a probe, and the rate of writes, over the load."""
    sample = rows[0]["sample"]
    rows = [row for row in rows if row["sample"] == sample]
    model = rows[0]["model"]

    def x(setup: dict) -> float:
        return float(setup["offered_write_iops"])

    reads = [
        Series(percentile, points(rows, f"read_us.{percentile}", x), 0, -9)
        for percentile in ("p50", "p99", "p99.9")
    ]
    rate = [Series("writes served", points(rows, "achieved_write_iops", x), 2, 24)]
    return chart(
        name,
        f"{model}: reads beside a rising load of writes, and the writes that it serves",
        "writes offered per second",
        lambda it: logarithmic(it, (1, 2, 5)),
        [
            (model, "time of a read (us)", True, reads),
            ("Load that it carries", "writes served per second", False, rate),
        ],
    )


def of_depth(name: str, rows: list[dict]) -> str:
    """Reads by the number in flight."""
    model = rows[0]["model"]

    def select(**wanted: object) -> list[dict]:
        return [row for row in rows if all(row["setup"].get(key) == it for key, it in wanted.items())]

    def x(setup: dict) -> float:
        return float(setup["jobs"] * setup["qd_per_job"])

    if any(row["setup"].get("op") for row in rows):
        read, write = select(op="randread", jobs=1), select(op="randwrite", jobs=1)
        times = [
            Series("reads, p50", points(read, "p50_us", x), 1, -9),
            Series("writes, p50", points(write, "p50_us", x), 1, 22),
        ]
        rates = [
            Series("reads", points(read, "iops", x), 4, -12),
            Series("writes", points(write, "iops", x), 4, 34),
        ]
    else:
        small, large = select(engine="spdk", block_bytes=4096), select(block_bytes=16384)
        times = [
            Series("4 KiB, p50", points(small, "p50_us", x), 6, 24),
            Series("4 KiB, p99", points(small, "p99_us", x), 3, 19),
            Series("16 KiB, p50", points(large, "p50_us", x), 1, -13),
        ]
        rates = [
            Series("4 KiB", points(small, "iops", x), 4, -9),
            Series("16 KiB", points(large, "iops", x), 4, 22),
        ]
    return chart(
        name,
        f"{model}: by the number of requests in flight",
        "requests in flight",
        lambda it: Axis(
            1.0, max(it), tuple(float(2**power) for power in range(0, 9, 2) if 2**power <= max(it)), True
        ),
        [(model, "time of a request (us)", True, times), ("Throughput", "requests per second", True, rates)],
    )


def of_use(name: str, rows: list[dict]) -> str:
    """Write amplification and throughput over the space in use."""
    model = rows[0]["model"]

    def x(setup: dict) -> float:
        return float(setup["used_gib"])

    copies = [Series("write amplification", points(rows, "counted_waf", x), 2, 34)]
    rate = [Series("MB/s", points(rows, "steady_mb_s", x), 3, -14)]
    return chart(
        name,
        f"{model}: uniform writes to a part of the drive",
        "GiB in use",
        lambda it: Axis(300.0, 800.0, (300.0, 400.0, 500.0, 600.0, 700.0, 800.0), False),
        [
            (model, "bytes programmed per byte written", False, copies),
            ("Steady throughput", "MB/s", False, rate),
        ],
    )


def draw(name: str, score: dict) -> str | None:
    """The picture of a result, if its rows are of a kind that has one."""
    kinds = {
        "latency_under_load": of_load,
        "reads_by_depth": of_depth,
        "depth_grid": of_depth,
        "overprovisioning": of_use,
    }
    for kind, of in kinds.items():
        rows = [row for row in score["rows"] if row["protocol"] == kind]
        if rows:
            return of(name, rows)
    return None
