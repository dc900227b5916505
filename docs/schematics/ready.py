"""READY: a throttle that spends what cells endure, recovery included, over exactly the target life.

The left part is computed: endurance by equations 1 to 3 of the paper under Fowler's default reading of the
recovery (`docs/ready.md`), rates of writing by its Table 2 (trace exchange, 128 GB). The right part is made
up.
"""

from __future__ import annotations

import math

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
    RULE,
    Canvas,
)

RATED, EFFICIENCY, ONSET_DAYS, YEARS = 3000.0, 5.63e-2, 1.0, 5.0
TB_PER_CYCLE = 375 / RATED
"""C_ssd of the paper's 128 GB drive is 375 TB."""
WRITTEN = {"none": 1918.8, "static": 348.2}
"""Flash writes in five years (TB): Table 2, NT and ST under exchange."""

LEFT, FLOOR, WIDTH, HEIGHT = 62.0, 384.0, 366.0, 286.0
MOST = 10_000.0


def trapped(cycles: float) -> float:
    """The shift of the threshold voltage by trapped charge (V), equation 1."""
    shift: float = 2.97e-3 * cycles**0.62 + 2.0e-2 * cycles**0.30
    return shift


def endured(years: float) -> float:
    """The cycles that cells endure if spread over so many years, in which they recover."""
    healed = EFFICIENCY * math.log(max(years * 365.25 / ONSET_DAYS, 1.0))
    least, most = RATED, 1e6
    for _ in range(80):
        middle = (least + most) / 2
        least, most = (middle, most) if trapped(middle) * (1 - healed) < trapped(RATED) else (least, middle)
    return least


def worn_out(rate: float) -> float:
    """When a drive that wears at a rate (cycles a year) has no endurance left."""
    years = 0.1
    while rate * years < endured(years):
        years += 0.005
    return years


def _x(years: float) -> float:
    return LEFT + years / 5.4 * WIDTH


def _y(cycles: float) -> float:
    return FLOOR - cycles / MOST * HEIGHT


def _five_years(canvas: Canvas) -> None:
    canvas.text(12, 28, "Five years of writes", 15, bold=True)
    canvas.text(12, 48, "wear of a drive of 128 GB under a mail server", 13, fill=GREY)
    for cycles in range(0, 10_001, 2_000):
        canvas.line([(LEFT, _y(cycles)), (_x(5.4), _y(cycles))], "#e4e4e4", 1)
        canvas.text(LEFT - 6, _y(cycles) + 4.5, f"{cycles:,}", 12, "end", GREY)
    for years in range(6):
        canvas.text(_x(years), FLOOR + 18, str(years), 13, "middle", GREY)
    canvas.text(_x(2.5), FLOOR + 37, "years", 13, "middle", GREY)
    canvas.text(LEFT - 6, FLOOR - HEIGHT - 16, "P/E cycles of a block", 13, fill=GREY)
    canvas.line([(_x(5), FLOOR), (_x(5), FLOOR - HEIGHT)], INK, 1.4, dashed=True)
    canvas.text(_x(5), FLOOR - HEIGHT - 8, "target life", 13, "middle")
    canvas.line([(_x(0), _y(RATED)), (_x(5.4), _y(RATED))], GREY, 1.4, dashed=True)
    canvas.text(_x(4.9), _y(RATED) - 7, "rated: 3,000", 13, "end", GREY)
    curve = [(_x(at / 50), _y(endured(at / 50))) for at in range(1, 271)]
    canvas.line(curve, GREEN, 2.5)
    canvas.lines(
        _x(0.15), _y(8_650), ("endured, with", "self-recovery"), 13, fill=DARK_GREEN, bold=True, halo=True
    )
    rate = WRITTEN["none"] / TB_PER_CYCLE / YEARS
    death = worn_out(rate)
    canvas.line([(_x(0), _y(0)), (_x(death), _y(rate * death))], ORANGE, 2.5)
    x, y = _x(death), _y(rate * death)
    canvas.line([(x - 6, y - 6), (x + 6, y + 6)], ORANGE, 3)
    canvas.line([(x - 6, y + 6), (x + 6, y - 6)], ORANGE, 3)
    canvas.lines(
        x - 34,
        y - 48,
        ("no throttle:", f"worn out after {death:.1f} years"),
        13,
        "start",
        DARK_ORANGE,
        True,
        halo=True,
    )
    goal = endured(YEARS)
    canvas.line([(_x(0), _y(0)), (_x(5), _y(goal))], BLUE, 2.5)
    canvas.dot(_x(5), _y(goal), 5, BLUE)
    canvas.lines(
        _x(3.05), _y(4_650), ("READY: used up", "at five years"), 13, fill=DARK_BLUE, bold=True, halo=True
    )
    static = WRITTEN["static"] / TB_PER_CYCLE
    canvas.line([(_x(0), _y(0)), (_x(5), _y(static))], INK, 2.5)
    canvas.dot(_x(5), _y(static), 5, INK)
    canvas.lines(_x(1.85), _y(300), ("static limit: most is unused",), 13, fill=INK, bold=True, halo=True)
    canvas.line([(LEFT, FLOOR - HEIGHT), (LEFT, FLOOR), (_x(5.4), FLOOR)], GREY, 1.3)


def _epochs(canvas: Canvas) -> None:
    left, floor, wide, high = 486.0, 298.0, 48.0, 122.0
    canvas.text(464, 28, "Inside: epochs", 15, bold=True)
    canvas.text(464, 48, "the capacity that is left, shared out evenly", 13, fill=GREY)
    demands = (0.78, 1.8, 0.45, 0.9, 1.0, 0.98)
    remaining, delayed, overused = float(len(demands)), 0.0, False
    for at, asked in enumerate(demands):
        later = len(demands) - at - 1
        share = remaining / (later + 1)
        spare = 0.0 if overused else 0.1 * later * share
        demand = asked + delayed
        written = min(demand, share + spare)
        x = left + at * (wide + 4)
        canvas.rect(
            x, floor - min(written, share) * high, wide, min(written, share) * high, PALE_BLUE, BLUE, 1.2
        )
        if written > share:
            over = (written - share) * high
            canvas.rect(x, floor - written * high, wide, over, canvas.hatch(GREEN), GREEN, 1.2)
            refused = (demand - written) * high
            canvas.rect(
                x, floor - written * high - refused, wide, refused, "#ffffff", ORANGE, 1.5, dashed=True
            )
            top = floor - written * high - refused / 2
            canvas.line(
                [(x + wide + 3, top), (x + 1.5 * wide + 4, top), (x + 1.5 * wide + 4, floor - 0.97 * high)],
                ORANGE,
                2,
                heads="end",
            )
            canvas.lines(
                x + wide + 36, top - 2, ("delayed into the", "next epoch"), 13, fill=DARK_ORANGE, bold=True
            )
        canvas.line([(x - 2, floor - share * high), (x + wide + 2, floor - share * high)], INK, 3)
        overused = written > share
        delayed = demand - written
        remaining -= written
        canvas.text(x + wide / 2, floor + 18, str(at + 1), 13, "middle", GREY)
    canvas.line([(left - 6, floor), (left + 6 * (wide + 4), floor)], GREY, 1.3)
    canvas.text(left + 3 * (wide + 4) - 2, floor + 37, "epoch", 13, "middle", GREY)
    canvas.text(left - 12, floor - 60, "written", 13, "middle", GREY, upright=False)
    entries = (
        ("", INK, "capacity of an epoch"),
        (PALE_BLUE, BLUE, "written within it"),
        (canvas.hatch(GREEN), GREEN, "borrowed: up to 10 % of all later epochs"),
        ("#ffffff", ORANGE, "more than that: writes are throttled"),
    )
    for at, (fill, stroke, words) in enumerate(entries):
        y = floor + 58 + at * 21
        if fill:
            canvas.rect(left, y, 16, 13, fill, stroke, 1.2)
        else:
            canvas.line([(left, y + 7), (left + 16, y + 7)], stroke, 3)
        canvas.text(left + 24, y + 11.5, words, 13)


def draw() -> str:
    """Returns the schematic of READY: endurance spent over the target life, as SVG."""
    goal, death = endured(YEARS), worn_out(WRITTEN["none"] / TB_PER_CYCLE / YEARS)
    canvas = Canvas(
        "ready",
        820,
        476,
        "READY: wear over five years under three throttles",
        "Left: P/E cycles of a block over the years. The cells endure their rated 3,000 cycles, and more "
        f"the longer the cycles are spread, since resting cells recover: {goal:,.0f} over five years. "
        f"Without a throttle the drive reaches that curve after {death:.1f} years and is worn out. A static "
        "limit stays below the rated cycles and leaves most endurance unused. READY reaches the curve at "
        "five years. Right: the life is divided into epochs, which share the capacity that is left evenly; "
        "an epoch with more demand borrows a tenth of the capacity of later ones, and what is beyond that "
        "is delayed into the next.",
    )
    _five_years(canvas)
    canvas.line([(448, 16), (448, 430)], RULE, 1)
    _epochs(canvas)
    canvas.line([(12, 442), (808, 442)], RULE, 1)
    canvas.text(
        12,
        463,
        "Left: equations 1 to 3 of the paper, rates of its Table 2 (trace exchange). "
        "Right: made up, to show the rule.",
        13,
        fill=GREY,
    )
    return canvas.svg()
