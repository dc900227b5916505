"""DA-RAID-5: RAID-5 over the chips of one drive, only where and when its blocks need it."""

from __future__ import annotations

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
)

CHIPS, STRIPES = 5, 4
WIDE, HIGH = 42.0, 25.0
PANEL, GAP = 252.0, 20.0
Cell = tuple[int, int]
"""The place of a page in the schematic: stripe and chip, both from 0."""


class Stage(NamedTuple):
    """A stage of life."""

    name: str
    about: str
    worn: frozenset[Cell]
    fill: str
    stroke: str
    ink: str


STAGES = (
    Stage("1. UDL", "no parity; refresh in time", frozenset(), PALE_GREEN, GREEN, DARK_GREEN),
    Stage(
        "2. PE-aware RAID-5", "parity where a block is worn", frozenset({(1, 2)}), PALE_BLUE, BLUE, DARK_BLUE
    ),
    Stage(
        "3. Hybrid caching (HC)",
        "parity for all, updated late",
        frozenset({(0, 0), (0, 3), (1, 2), (2, 0), (2, 4), (3, 2)}),
        PALE_ORANGE,
        ORANGE,
        DARK_ORANGE,
    ),
)


def _left(stage: int) -> float:
    return 12 + stage * (PANEL + GAP)


def _life(canvas: Canvas) -> None:
    top = 52.0
    for at, stage in enumerate(STAGES):
        x = _left(at)
        width = PANEL + GAP if at < 2 else PANEL
        canvas.area(
            [
                (x, top),
                (x + width - 10, top),
                (x + width, top + 24),
                (x + width - 10, top + 48),
                (x, top + 48),
            ]
            if at == 2
            else [(x, top), (x + width, top), (x + width, top + 48), (x, top + 48)],
            stage.fill,
        )
        canvas.text(x + 12, top + 21, stage.name, 15, fill=stage.ink, bold=True)
        canvas.text(x + 12, top + 39, stage.about, 13)
    for at, words in (
        (1, ("first block above", "15,000 cycles")),
        (2, ("over 16,384 stripes with", "a page in such a block")),
    ):
        canvas.line([(_left(at), top - 6), (_left(at), top + 54)], INK, 2)
        canvas.lines(_left(at) + 6, top + 67, words, 13, fill=GREY, leading=1.25)
    canvas.text(12, top + 67, "new drive", 13, fill=GREY)


def _grid(canvas: Canvas, stage: int, top: float) -> None:
    drawn = STAGES[stage]
    left = _left(stage) + 34
    canvas.text(left + CHIPS * WIDE / 2, top - 24, "chips", 13, "middle", GREY)
    for chip in range(CHIPS):
        canvas.text(left + (chip + 0.5) * WIDE, top - 7, str(chip), 13, "middle", GREY)
    for stripe in range(STRIPES):
        y = top + stripe * (HIGH + 6)
        canvas.text(left - 10, y + 18, f"S{stripe}", 13, "end", GREY)
        has_parity = stage == 2 or any(worn[0] == stripe for worn in drawn.worn)
        for chip in range(CHIPS):
            x = left + chip * WIDE
            is_parity = chip == (CHIPS - 1 - stripe) % CHIPS
            worn = (stripe, chip) in drawn.worn
            if is_parity and not has_parity:
                canvas.rect(x + 1.5, y, WIDE - 3, HIGH, "#ffffff", RULE, 1.2, dashed=True)
                continue
            fill = BLUE if is_parity else "#ffffff"
            canvas.rect(x + 1.5, y, WIDE - 3, HIGH, fill, ORANGE if worn else GREY, 3 if worn else 1.2)
            name = "P" if is_parity else "D"
            canvas.text(
                x + WIDE / 2, y + 18, name, 13, "middle", "#ffffff" if is_parity else INK, bold=is_parity
            )


def _refresh(canvas: Canvas, x: float, y: float) -> None:
    for at, (fill, name) in enumerate((("#ffffff", "old block"), (PALE_GREEN, "new block"))):
        canvas.rect(x + at * 152, y, 100, 40, fill, GREEN, round_=4)
        canvas.text(x + 50 + at * 152, y + 25, name, 13, "middle")
    canvas.line([(x + 104, y + 20), (x + 148, y + 20)], GREEN, 2, heads="end")
    canvas.lines(
        x,
        y + 62,
        (
            "Refresh: a block's valid pages move",
            "before they are 381 days old or it",
            "has been read 46,000 times.",
        ),
        13,
        fill=GREY,
    )


def _counter(canvas: Canvas, x: float, y: float) -> None:
    canvas.box(x, y, 252, 40, "pages of S1 in worn blocks: 1", stroke=BLUE)
    canvas.lines(
        x,
        y + 62,
        (
            "Each stripe counts its pages in worn",
            "blocks, and has parity while there are",
            "any; other stripes are refreshed.",
        ),
        13,
        fill=GREY,
    )


def _caches(canvas: Canvas, x: float, y: float) -> None:
    canvas.box(x, y, 74, 40, "data", ("cache",), ORANGE, size=13)
    canvas.line([(x + 77, y + 20), (x + 97, y + 20)], ORANGE, 2, heads="end")
    canvas.box(x + 100, y, 74, 40, "parity", ("cache",), ORANGE, size=13)
    canvas.line([(x + 177, y + 20), (x + 197, y + 20)], ORANGE, 2, heads="end")
    canvas.box(x + 200, y, 52, 40, "flash", (), ORANGE, size=13)
    canvas.lines(
        x,
        y + 62,
        (
            "Pages of a stripe leave together; their",
            "partial parity waits for more of the",
            "stripe before it is programmed.",
        ),
        13,
        fill=GREY,
    )


def draw() -> str:
    """Returns the schematic of DA-RAID-5: stripes over chips at each stage of life, as SVG."""
    canvas = Canvas(
        "da-raid5",
        820,
        470,
        "DA-RAID-5: three stages in the life of a drive",
        "A drive of five chips in three stages of its life. Stage 1, UDL: stripes of four data pages have "
        "no parity; the valid pages of a block move to another before 381 days or 46,000 reads. Stage 2, "
        "from the first block above 15,000 cycles, PE-aware RAID-5: a stripe has parity while one of its "
        "pages is in a worn block. Stage 3, once more than 16,384 stripes have such a page, hybrid "
        "caching: every stripe has parity; pages of a stripe leave a data cache together, and their "
        "partial parity is collected in a parity cache before it is programmed.",
    )
    canvas.text(12, 28, "RAID-5 inside the drive, only as far as worn blocks need it", 16, bold=True)
    _life(canvas)
    lower: tuple[Callable[[Canvas, float, float], None], ...] = (_refresh, _counter, _caches)
    for stage, draws in enumerate(lower):
        _grid(canvas, stage, 190)
        draws(canvas, _left(stage), 328)
        if stage:
            canvas.line([(_left(stage) - GAP / 2, 156), (_left(stage) - GAP / 2, 424)], RULE, 1)
    canvas.line([(12, 436), (808, 436)], RULE, 1)
    x = 12.0
    for fill, stroke, thick, letter, words in (
        ("#ffffff", GREY, 1.2, "D", "data page"),
        (BLUE, BLUE, 1.2, "P", "parity page"),
        ("#ffffff", ORANGE, 3.0, "", "in a worn block"),
        ("#ffffff", RULE, 1.2, "", "no parity"),
    ):
        canvas.rect(x, 445, 24, 18, fill, stroke, thick, dashed=stroke == RULE)
        if letter:
            canvas.text(x + 12, 459, letter, 13, "middle", "#ffffff" if letter == "P" else INK)
        x = canvas.text(x + 31, 459, words, 13) + 22
    canvas.text(x, 459, "S0 to S3: stripes, one page on each chip", 13)
    return canvas.svg()
