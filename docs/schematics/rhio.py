"""RHIO: fast writes, fast reads, and those first.

Program time is inverse to the ISPP step (600 us at 0.3 V); reads are those of 3 and 9 reference voltages. The
requests of the third part and the widths of the states are made up.
"""

from __future__ import annotations

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
    PALE_GREY,
    RULE,
    Anchor,
    Canvas,
)
from schematics.threshold_voltages import Frame, distributions

FINE, COARSE, GOAL, PULSE = 0.3, 0.5, 3.0, 60.0
"""Two steps and the voltage that both reach (V), and how long a pulse with its verify takes (us)."""
LEFT, PER_US = 208.0, 0.31
"""The left end of the axis of the third part, and its scale in pixels per microsecond."""
STATES = (1.17, 2.37, 2.96, 3.54)


class Request(NamedTuple):
    """A request that waits for the die."""

    letter: str
    about: str
    plain_us: float
    us: float
    fill: str
    stroke: str
    ink: str


QUEUE = (
    Request("A", "large write (cold)", 600, 600, ORANGE, ORANGE, "#ffffff"),
    Request("B", "read of old data", 170, 170, BLUE, BLUE, "#ffffff"),
    Request("C", "small write (hot)", 600, PULSE * GOAL / COARSE, PALE_GREEN, GREEN, DARK_GREEN),
    Request("D", "read of young data", 170, 70, PALE_BLUE, BLUE, DARK_BLUE),
)
"""In their order of arrival: all wait when the die becomes free."""


def _writes(canvas: Canvas, x: float, y: float) -> None:
    canvas.text(x, y, "1. Hot data go to strong blocks", 15, bold=True)
    canvas.text(x, y + 20, "which bear coarse ISPP steps: faster writes", 13, fill=GREY)
    left, floor, width, height = x + 32, y + 196, 330.0, 140.0
    per_us, per_volt = width / 660, height / 3.5
    canvas.line([(left, floor - height - 8), (left, floor), (left + width, floor)], GREY, 1.2)
    goal = floor - GOAL * per_volt
    canvas.line([(left, goal), (left + width, goal)], GREY, 1.2, dashed=True)
    canvas.text(left + 6, goal - 7, "programmed", 13, fill=GREY)
    for step, colour, ink, words, at in (
        (FINE, ORANGE, DARK_ORANGE, ("other blocks:", "fine steps, 600 us"), (0.995, 36.0)),
        (COARSE, GREEN, DARK_GREEN, ("strong blocks: coarse, 360 us",), (0.33, 128.0)),
    ):
        points = [(left, floor)]
        pulses = round(GOAL / step)
        for pulse in range(pulses):
            level = floor - (pulse + 1) * step * per_volt
            points += [(left + pulse * PULSE * per_us, level), (left + (pulse + 1) * PULSE * per_us, level)]
        canvas.line(points, colour, 2.5)
        canvas.dot(*points[-1], 4.5, colour)
        end: Anchor = "end" if step == FINE else "start"
        canvas.lines(left + width * at[0], floor - at[1], words, 13, end, ink, bold=True)
    canvas.text(x + 12, floor - height / 2, "threshold voltage", 13, "middle", GREY, upright=False)
    for time in (0, 200, 400, 600):
        canvas.line([(left + time * per_us, floor), (left + time * per_us, floor + 5)], GREY, 1.2)
        canvas.text(left + time * per_us, floor + 19, str(time), 13, "middle", GREY)
    canvas.text(left + width / 2, floor + 36, "time of a program (us)", 13, "middle", GREY)


def _reads(canvas: Canvas, x: float, y: float) -> None:
    canvas.text(x, y, "2. Young data need few reference voltages", 15, bold=True)
    canvas.text(x, y + 20, "charge leaks as data age: states drift and overlap", 13, fill=GREY)
    for at, (age, words, ink, colours, references, us, drift, noise) in enumerate(
        (
            ("young data", "3 reference voltages", DARK_BLUE, (PALE_BLUE, BLUE), 3, 70, 0.0, 0.085),
            ("old data", "9 reference voltages", INK, (PALE_GREY, GREY), 9, 170, 0.06, 0.15),
        )
    ):
        floor = y + 108 + at * 88
        frame = Frame(x + 4, floor, 232, 56, 0.3, 4.1)
        means = (STATES[0], *(state * (1 - drift) for state in STATES[1:]))
        distributions(canvas, frame, means, (0.25, *(noise,) * 3), colours, references, 4.5)
        canvas.lines(x + 244, floor - 42, (age + ":",), 13, fill=ink, bold=True)
        canvas.text(x + 244, floor - 24, words, 13, fill=ink)
        canvas.text(x + 244, floor - 4, f"read in {us} us", 14, fill=ink, bold=True)
        canvas.text(x - 2, floor - 24, "cells", 12, "middle", GREY, upright=False)
    canvas.text(x + 120, y + 226, "threshold voltage", 13, "middle", GREY)
    canvas.line([(x + 250, y + 213), (x + 250, y + 229)], INK, 1.3, dashed=True)
    canvas.text(x + 258, y + 226, "reference voltage", 13)


def _served(canvas: Canvas, y: float, name: str, about: str, order: str, plain: bool) -> None:
    left, per_us = LEFT, PER_US
    canvas.text(12, y + 14, name, 15, bold=True)
    canvas.text(12, y + 32, about, 13, fill=GREY)
    time, total = 0.0, 0.0
    for letter in order:
        served = next(request for request in QUEUE if request.letter == letter)
        length = served.plain_us if plain else served.us
        canvas.rect(left + time * per_us + 0.5, y, length * per_us - 1, 28, served.fill, served.stroke, 1.2)
        canvas.text(left + (time + length / 2) * per_us, y + 19, letter, 14, "middle", served.ink, bold=True)
        time += length
        total += time
    canvas.text(808, y + 19, f"{total / len(order):,.0f} us", 15, "end", bold=True)


def draw() -> str:
    """Returns the schematic of RHIO: writes, reads and their order, as SVG."""
    canvas = Canvas(
        "rhio",
        820,
        576,
        "RHIO: fast writes, fast reads, and the fastest first",
        "Three parts. First: a page of a strong block is programmed in coarse ISPP steps and takes 360 us, "
        "another in fine steps and takes 600 us; hot data go to strong blocks. Second: the threshold "
        "voltages of young data lie apart, 3 reference voltages suffice and a read takes 70 us; those of "
        "old data overlap and need 9, 170 us. Third: four requests wait for a die. In order of arrival at "
        "plain speed their mean latency is 1070 us; under RHIO reads go before writes, young before old, "
        "hot before cold, 528 us; a request past its deadline goes before all others.",
    )
    _writes(canvas, 12, 28)
    _reads(canvas, 424, 28)
    canvas.line([(12, 288), (808, 288)], RULE, 1)
    canvas.text(
        12,
        316,
        "3. Of the requests that wait for a die the fastest go first, within a deadline",
        15,
        bold=True,
    )
    x = 12.0
    for request in QUEUE:
        canvas.rect(x, 334, 24, 20, request.fill, request.stroke, 1.2)
        canvas.text(x + 12, 349, request.letter, 13, "middle", request.ink, bold=True)
        x = canvas.text(x + 31, 349, request.about, 13) + 22
    top, pitch = 392.0, 50.0
    _served(canvas, top, "noop", "arrival order, plain speed", "ABCD", plain=True)
    _served(canvas, top + pitch, "rhio", "young, old, hot, cold", "DBCA", plain=False)
    _served(canvas, top + 2 * pitch, "rhio, overdue", "A past its deadline", "ADBC", plain=False)
    axis = top + 3 * pitch
    canvas.line([(LEFT, axis), (LEFT + 1600 * PER_US, axis)], GREY, 1.2)
    for time in range(0, 1601, 400):
        at = LEFT + time * PER_US
        canvas.line([(at, axis), (at, axis + 5)], GREY, 1.2)
        canvas.text(at, axis + 20, f"{time:,}", 13, "middle", GREY)
    canvas.text(808, top - 10, "mean latency", 13, "end", GREY)
    canvas.text(12, axis + 20, "time on the die (us)", 13, fill=GREY)
    return canvas.svg()
