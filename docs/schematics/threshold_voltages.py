"""Cells of two bits by threshold voltage: four states, and the reference voltages that tell them apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

from schematics.canvas import INK, RULE, Canvas


class Frame(NamedTuple):
    """Where distributions are drawn, and which voltages its sides are."""

    x: float
    floor: float
    width: float
    height: float
    lowest: float
    highest: float

    def at(self, volts: float) -> float:
        """Returns the position of a voltage on the axis."""
        return self.x + (volts - self.lowest) / (self.highest - self.lowest) * self.width


def distributions(
    canvas: Canvas,
    frame: Frame,
    means: Sequence[float],
    widths: Sequence[float],
    colours: tuple[str, str],
    references: int,
    apart: float,
) -> None:
    """Four states, filled and lined in ``colours``, with so many reference voltages in all.

    ``apart`` is how many pixels lie between those of one gap.
    """
    fill, stroke = colours
    narrowest = min(widths)
    for mean, width in zip(means, widths, strict=True):
        points = []
        for step in range(-34, 35):
            volts = mean + step / 10 * width
            if frame.lowest <= volts <= frame.highest:
                share = math.exp(-((step / 10) ** 2) / 2) * math.sqrt(narrowest / width)
                points.append((frame.at(volts), frame.floor - share * frame.height))
        canvas.area([(points[0][0], frame.floor), *points, (points[-1][0], frame.floor)], fill, stroke)
    each = references // (len(means) - 1)
    for (low, wide), (high, wide_above) in zip(
        zip(means, widths, strict=True), list(zip(means, widths, strict=True))[1:], strict=False
    ):
        middle = frame.at((low * wide_above + high * wide) / (wide + wide_above))
        for at in range(each):
            x = middle + (at - (each - 1) / 2) * apart
            canvas.line([(x, frame.floor + 5), (x, frame.floor - frame.height - 6)], INK, 1.3, dashed=True)
    canvas.line([(frame.x, frame.floor), (frame.x + frame.width, frame.floor)], RULE, 1.5)
