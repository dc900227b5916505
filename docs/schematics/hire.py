"""HIRE: hits in the buffer decide at which threshold voltages a page is programmed.

Voltages and times are Table 1 of the paper; weights of wear are its voltages over the nominal ones. Hits and
the widths of the states are made up.
"""

from __future__ import annotations

from typing import NamedTuple

from schematics.canvas import (
    BLUE,
    DARK_BLUE,
    DARK_ORANGE,
    GREY,
    INK,
    ORANGE,
    PALE_BLUE,
    PALE_GREY,
    PALE_ORANGE,
    RULE,
    Canvas,
)
from schematics.threshold_voltages import Frame, distributions


class Kind(NamedTuple):
    """A class of pages, and what it costs."""

    name: str
    reads: int
    writes: int
    voltages: str
    means: tuple[float, ...]
    scale: float
    references: int
    read_us: int
    fill: str
    stroke: str
    ink: str


KINDS = (
    Kind("read-hot", 40, 1, "boosted", (1.40, 2.85, 3.55, 4.25), 1.2, 3, 70, PALE_BLUE, BLUE, DARK_BLUE),
    Kind("mixed", 9, 14, "nominal", (1.17, 2.37, 2.96, 3.54), 1.0, 9, 170, PALE_GREY, GREY, INK),
    Kind(
        "write-hot",
        0,
        23,
        "reduced",
        (0.93, 1.90, 2.37, 2.83),
        0.8,
        21,
        310,
        PALE_ORANGE,
        ORANGE,
        DARK_ORANGE,
    ),
)
NOISE = 0.12
PITCH, TOP = 114.0, 122.0


def _row(canvas: Canvas, y: float, kind: Kind) -> None:
    # The page in the buffer: a bar of its hits, reads from the left.
    canvas.rect(24, y - 62, 176, 74, "#ffffff", kind.stroke, round_=5)
    canvas.text(34, y - 42, kind.name, 15, fill=kind.ink, bold=True)
    hits = kind.reads + kind.writes
    share = 156 * kind.reads / hits
    canvas.rect(34, y - 32, 156, 12, ORANGE)
    if share:
        canvas.rect(34, y - 32, share, 12, BLUE)
    canvas.text(
        34, y + 1, f"{kind.reads} reads, {kind.writes} write{'s' * (kind.writes != 1)}", 13, fill=GREY
    )
    canvas.line([(202, y - 26), (238, y - 26)], kind.stroke, 2, heads="end")
    frame = Frame(264, y + 8, 370, 66, 0.0, 4.75)
    widths = (0.25 * kind.means[0], *(NOISE,) * 3)
    distributions(canvas, frame, kind.means, widths, (kind.fill, kind.stroke), kind.references, 4.2)
    if kind.scale > 1:
        canvas.text(frame.at(kind.means[0]), frame.floor - 8, "erased", 12, "middle", GREY)
    canvas.text(272, y - 54, kind.voltages, 15, fill=kind.ink, bold=True)
    canvas.text(frame.x - 6, y - 20, "cells", 12, "middle", GREY, upright=False)
    canvas.text(664, y - 30, str(kind.references), 15, "middle", bold=True)
    canvas.text(724, y - 30, f"{kind.read_us} us", 15, "middle", fill=kind.ink, bold=True)
    canvas.text(782, y - 30, f"{kind.scale:.1f}", 15, "middle", bold=True)


def draw() -> str:
    """Returns the schematic of HIRE, from hits in the buffer to voltages, as SVG."""
    canvas = Canvas(
        "hire",
        820,
        490,
        "HIRE: threshold voltages by hits in the buffer",
        "When a page leaves the buffer, the share of reads among its hits decides its class. Above 0.95 "
        "reads it is read-hot and is programmed at boosted threshold voltages: states lie far apart, 3 "
        "reference voltages tell them apart, a read takes 70 us, a program wears 1.2 times as much. Above "
        "0.95 writes it is write-hot and is programmed at reduced voltages: 21 reference voltages, 310 us, "
        "0.8 times the wear. Anything else is mixed: nominal voltages, 9 reference voltages, 170 us, wear "
        "1.0.",
    )
    canvas.text(12, 26, "Hits in the buffer choose the threshold voltages of the next program", 16, bold=True)
    canvas.text(
        12,
        50,
        "More than 95 % of its hits are reads: read-hot; more than 95 % writes: write-hot; otherwise mixed.",
        14,
        fill=GREY,
    )
    canvas.text(112, 86, "page leaving the buffer", 13, "middle", GREY)
    canvas.text(449, 86, "its cells once programmed: four states", 13, "middle", GREY)
    for x, words in (
        (664, ("reference", "voltages")),
        (724, ("a read", "takes")),
        (782, ("wear of a", "program")),
    ):
        canvas.lines(x, 78, words, 12, "middle", GREY)
    for at, kind in enumerate(KINDS):
        y = TOP + 50 + at * PITCH
        if at:
            canvas.line([(12, y - 82), (808, y - 82)], RULE, 1)
        _row(canvas, y, kind)
    axis = TOP + 50 + 2 * PITCH + 8
    frame = Frame(264, axis, 370, 66, 0.0, 4.75)
    for volts in range(5):
        canvas.line([(frame.at(volts), axis), (frame.at(volts), axis + 5)], GREY, 1.2)
        canvas.text(frame.at(volts), axis + 20, str(volts), 13, "middle", GREY)
    canvas.text(449, axis + 38, "threshold voltage (V)", 13, "middle", GREY)
    low = axis + 72
    canvas.line([(12, low - 18), (808, low - 18)], RULE, 1)
    end = canvas.legend(12, low, ((BLUE, None, "read hits"), (ORANGE, None, "write hits")))
    canvas.line([(end + 24, low + 2), (end + 24, low - 12)], INK, 1.3, dashed=True)
    end = canvas.text(end + 32, low, "reference voltage", 13)
    canvas.text(end + 20, low, "wear: relative to a program at nominal voltages", 13)
    return canvas.svg()
