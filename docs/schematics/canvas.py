"""A sheet that schematics are drawn on: SVG, the same bytes everywhere, and no text over another or cut off.

Texts are measured as DejaVu Sans sets them, which is as wide as any font that browsers put in its place.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import Literal
from xml.sax.saxutils import escape

BLUE, ORANGE, GREEN = "#0072b2", "#d55e00", "#009e73"
"""Reads, programs, what a technique adds: of Okabe and Ito's colours, which are told apart by every eye."""
PALE_BLUE, PALE_ORANGE, PALE_GREEN, PALE_GREY = "#d9ebf7", "#fbe3d3", "#d5f0e6", "#f1f1f1"
DARK_BLUE, DARK_ORANGE, DARK_GREEN = "#00588a", "#a34700", "#006b4e"
"""Darker shades of these colours for words, which need more contrast than areas."""
INK, GREY, RULE = "#222222", "#555555", "#bbbbbb"

SMALLEST = 12.0
"""No text is smaller than this many pixels in a picture of 820."""

# Widths of DejaVu Sans from space to tilde, in thousandths of its size.
REGULAR = (
    "318 401 460 838 636 950 780 275 390 390 500 838 318 361 318 337 636 636 636 636 636 636 636 636 "
    "636 636 337 337 838 838 838 531 1000 684 686 698 770 632 575 775 752 295 295 656 557 863 748 787 "
    "603 787 695 635 611 732 684 989 685 611 685 390 337 390 838 500 500 613 635 550 635 615 352 635 "
    "634 278 278 579 278 974 634 612 635 635 411 521 392 634 592 818 592 592 525 636 337 636 838"
)
BOLD = (
    "348 456 521 838 696 1002 872 306 457 457 523 838 380 415 380 365 696 696 696 696 696 696 696 696 "
    "696 696 400 400 838 838 838 580 1000 774 762 734 830 683 683 821 837 372 372 775 637 995 837 850 "
    "733 850 770 720 682 812 774 1103 771 724 725 457 365 457 838 500 500 675 716 593 716 678 435 716 "
    "712 343 343 665 343 1042 712 687 716 716 493 595 478 712 652 924 645 652 582 712 365 712 838"
)
WIDTHS = {
    bold: {chr(32 + at): int(width) for at, width in enumerate(table.split())}
    for bold, table in ((False, REGULAR), (True, BOLD))
}

Anchor = Literal["start", "middle", "end"]
Point = tuple[float, float]
Box = tuple[float, float, float, float]
"""The edges of a rectangle in pixels: left, top, right, bottom."""


def short(value: float) -> str:
    """Returns a coordinate as text, to a tenth of a pixel."""
    text = f"{value:.1f}".removesuffix(".0")
    return "0" if text == "-0" else text


def measured(text: str, size: float, bold: bool = False) -> float:
    """How wide a text is; one with letters that are not of ASCII is an error."""
    return sum(WIDTHS[bold][letter] for letter in text) * size / 1000


def meet(box: Box, other: Box) -> bool:
    """Returns true if two boxes have a point in common."""
    return box[0] < other[2] and other[0] < box[2] and box[1] < other[3] and other[1] < box[3]


def inside(box: Box, other: Box) -> bool:
    """Returns true if a box lies in another."""
    return other[0] <= box[0] and other[1] <= box[1] and box[2] <= other[2] and box[3] <= other[3]


def crosses(box: Box, start: Point, end: Point) -> bool:
    """Returns true if a piece of a line has a point in a box."""
    first, last = 0.0, 1.0
    for at in range(2):
        step = end[at] - start[at]
        low, high = box[at] - start[at], box[at + 2] - start[at]
        if not step:
            if low >= 0 or high <= 0:
                return False
            continue
        first = max(first, min(low / step, high / step))
        last = min(last, max(low / step, high / step))
    return first < last


class Canvas:
    """A picture in the making."""

    def __init__(self, name: str, width: int, height: int, title: str, about: str) -> None:
        """An empty white sheet; ``title`` and ``about`` are what a screen reader reads out."""
        self.width, self.height = width, height
        self.name = name
        self._parts: list[str] = []
        self._texts: list[tuple[str, Box]] = []
        self._bare: list[tuple[str, Box]] = []
        self._rects: list[Box] = []
        self._segments: list[tuple[Point, Point]] = []
        self._hatches: dict[str, str] = {}
        self._head = (
            f'<title id="{name}-title">{escape(title)}</title>\n<desc id="{name}-desc">{escape(about)}</desc>'
        )

    def svg(self) -> str:
        """The whole picture. A text across a line, or across the edge of a box, is an error."""
        for text, box in self._bare:
            if any(crosses(box, *shape) for shape in self._segments):
                raise ValueError(f"{self.name}: {text!r} is across a line")
            if any(meet(box, shape) and not inside(box, shape) for shape in self._rects):
                raise ValueError(f"{self.name}: {text!r} is across the edge of a box")
        patterns = "".join(
            f'<pattern id="{id_}" width="6" height="6" patternUnits="userSpaceOnUse" '
            'patternTransform="rotate(45)"><rect width="6" height="6" fill="#ffffff"/>'
            f'<rect width="3" height="6" fill="{colour}"/></pattern>'
            for colour, id_ in self._hatches.items()
        )
        return "\n".join(
            [
                f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {self.width} {self.height}" '
                f'width="{self.width}" height="{self.height}" role="img" '
                f'aria-labelledby="{self.name}-title {self.name}-desc" '
                'font-family="DejaVu Sans, Verdana, sans-serif" fill="none">',
                self._head,
                *([f"<defs>{patterns}</defs>"] if patterns else []),
                f'<rect width="{self.width}" height="{self.height}" fill="#ffffff"/>',
                *self._parts,
                "</svg>",
                "",
            ]
        )

    def hatch(self, colour: str) -> str:
        """Returns the fill of oblique stripes in a colour."""
        id_ = self._hatches.setdefault(colour, f"{self.name}-hatch-{len(self._hatches)}")
        return f"url(#{id_})"

    def rect(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        fill: str = "#ffffff",
        stroke: str | None = None,
        thick: float = 1.5,
        round_: float = 0,
        dashed: bool = False,
    ) -> None:
        """Draws a box, given by its upper left corner."""
        self._rects.append((x, y, x + width, y + height))
        line = self._line(stroke, thick, dashed) if stroke else ""
        corner = f' rx="{short(round_)}"' if round_ else ""
        self._parts.append(
            f'<rect x="{short(x)}" y="{short(y)}" width="{short(width)}" height="{short(height)}"'
            f'{corner} fill="{fill}"{line}/>'
        )

    def line(
        self,
        points: Sequence[Point],
        stroke: str = INK,
        thick: float = 1.5,
        dashed: bool = False,
        heads: Literal["", "end", "both"] = "",
    ) -> None:
        """A line through points, with an arrow's head at its end or at both."""
        self._segments.extend(itertools.pairwise(points))
        ends = list(points)
        tips = []
        if heads:
            tips.append(self._tip(ends[-2], ends[-1], stroke))
            ends[-1] = self._back(ends[-2], ends[-1])
        if heads == "both":
            tips.append(self._tip(points[1], points[0], stroke))
            ends[0] = self._back(points[1], points[0])
        way = " ".join(f"{short(x)},{short(y)}" for x, y in ends)
        self._parts.append(f'<polyline points="{way}"{self._line(stroke, thick, dashed)}/>')
        self._parts.extend(tips)

    def area(self, points: Sequence[Point], fill: str, stroke: str | None = None, thick: float = 1.5) -> None:
        """Draws the area that a line through points encloses."""
        self._segments.extend(itertools.pairwise([*points, points[0]]))
        way = " ".join(f"{short(x)},{short(y)}" for x, y in points)
        line = self._line(stroke, thick, False) if stroke else ""
        self._parts.append(f'<polygon points="{way}" fill="{fill}"{line}/>')

    def dot(self, x: float, y: float, radius: float, fill: str) -> None:
        """Draws a disc."""
        self._parts.append(f'<circle cx="{short(x)}" cy="{short(y)}" r="{short(radius)}" fill="{fill}"/>')

    def text(
        self,
        x: float,
        y: float,
        text: str,
        size: float = 14,
        anchor: Anchor = "start",
        fill: str = INK,
        bold: bool = False,
        halo: bool = False,
        upright: bool = True,
    ) -> float:
        """A line of words; where it ends. One over another, outside or too small is an error.

        With a halo it may be across lines and edges.
        """
        if size < SMALLEST:
            raise ValueError(f"{self.name}: {text!r} is smaller than {SMALLEST} px")
        width = measured(text, size, bold)
        before = {"start": 0.0, "middle": width / 2, "end": width}[anchor]
        if upright:
            box = (x - before, y - 0.74 * size, x - before + width, y + 0.2 * size)
        else:
            box = (x - 0.74 * size, y - width + before, x + 0.2 * size, y + before)
        self._claim(text, box)
        if not halo:
            self._bare.append((text, box))
        style = f' text-anchor="{anchor}"' if anchor != "start" else ""
        style += ' font-weight="bold"' if bold else ""
        style += (
            ' stroke="#ffffff" stroke-width="4" stroke-linejoin="round" paint-order="stroke"' if halo else ""
        )
        style += "" if upright else f' transform="rotate(-90 {short(x)} {short(y)})"'
        self._parts.append(
            f'<text x="{short(x)}" y="{short(y)}" font-size="{short(size)}" fill="{fill}"{style}>'
            f"{escape(text)}</text>"
        )
        return x - before + width

    def lines(
        self,
        x: float,
        y: float,
        texts: Iterable[str],
        size: float = 14,
        anchor: Anchor = "start",
        fill: str = INK,
        bold: bool = False,
        leading: float = 1.35,
        halo: bool = False,
    ) -> None:
        """Writes lines of words, one below the other."""
        for at, text in enumerate(texts):
            self.text(x, y + at * leading * size, text, size, anchor, fill, bold, halo)

    def box(
        self,
        x: float,
        y: float,
        width: float,
        height: float,
        name: str,
        about: Sequence[str] = (),
        stroke: str = BLUE,
        fill: str = "#ffffff",
        size: float = 14,
        small: float = 12,
    ) -> None:
        """A box with its name, and what it does in smaller letters below."""
        self.rect(x, y, width, height, fill, stroke, round_=5)
        for text, pixels, bold in ((name, size, True), *((line, small, False) for line in about)):
            if measured(text, pixels, bold) > width - 6:
                raise ValueError(f"{self.name}: {text!r} is wider than its box")
        high = size + len(about) * small * 1.3
        top = y + (height - high) / 2 + 0.82 * size
        self.text(x + width / 2, top, name, size, "middle", bold=True)
        self.lines(x + width / 2, top + small * 1.35, about, small, "middle", GREY, leading=1.3)

    def legend(
        self, x: float, y: float, entries: Iterable[tuple[str, str | None, str]], size: float = 13
    ) -> float:
        """Colours (fill, line) and what they mean, in a row; where it ends."""
        for fill, stroke, name in entries:
            self.rect(x, y - 11, 16, 13, fill, stroke or fill, 1.2)
            x = self.text(x + 22, y, name, size, fill=INK) + 18
        return x - 18

    def _claim(self, text: str, box: Box) -> None:
        if not inside(box, (0, 0, self.width, self.height)):
            raise ValueError(f"{self.name}: {text!r} leaves the picture: {box}")
        for other, taken in self._texts:
            if meet(box, taken):
                raise ValueError(f"{self.name}: {text!r} is over {other!r}")
        self._texts.append((text, box))

    @staticmethod
    def _line(stroke: str, thick: float, dashed: bool) -> str:
        dashes = ' stroke-dasharray="5 4"' if dashed else ""
        return f' stroke="{stroke}" stroke-width="{short(thick)}"{dashes}'

    @staticmethod
    def _back(before: Point, tip: Point, by: float = 7) -> Point:
        length = math.dist(before, tip)
        return tip[0] - by * (tip[0] - before[0]) / length, tip[1] - by * (tip[1] - before[1]) / length

    def _tip(self, before: Point, tip: Point, colour: str) -> str:
        x, y = self._back(before, tip, 9)
        across = (tip[1] - y) * 0.45, (x - tip[0]) * 0.45
        corners = (tip, (x + across[0], y + across[1]), (x - across[0], y - across[1]))
        way = " ".join(f"{short(corner[0])},{short(corner[1])}" for corner in corners)
        return f'<polygon points="{way}" fill="{colour}"/>'
