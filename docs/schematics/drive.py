"""The parts of a drive: controller, channels, dies, planes, blocks, pages."""

from __future__ import annotations

from schematics.canvas import BLUE, GREY, INK, ORANGE, PALE_BLUE, PALE_ORANGE, Canvas


def _plane(canvas: Canvas, x: float, number: int) -> None:
    canvas.rect(x, 62, 174, 222, PALE_ORANGE, ORANGE, 1.2, 5)
    canvas.text(x + 87, 82, f"plane {number}", 14, "middle", bold=True)
    for block in range(2):
        top = 94 + block * 74
        canvas.rect(x + 12, top, 150, 66, "#ffffff", GREY, 1.2, 3)
        canvas.text(x + 20, top + 16, "block", 13, bold=True)
        for page in range(2):
            canvas.rect(x + 20, top + 22 + page * 20, 134, 17, PALE_BLUE, BLUE, 1)
            canvas.text(x + 87, top + 35 + page * 20, "page", 13, "middle")
    canvas.rect(x + 12, 246, 150, 28, "#ffffff", ORANGE, 1.2, 3)
    canvas.text(x + 87, 265, "page buffer", 13, "middle")


def draw() -> str:
    """Returns the schematic of a drive, from controller to pages, as SVG."""
    canvas = Canvas(
        "drive",
        820,
        376,
        "A drive: controller, channels, dies, planes, blocks and pages",
        "A controller with mapping, buffer, garbage collection and policies is connected by two channels "
        "to four dies, two on each channel. One die is drawn large: it has two planes, each with blocks of "
        "pages and one page buffer. A die does one operation at a time, a channel one transfer; a page is "
        "read and programmed, a block is erased as a whole.",
    )
    for channel, y in enumerate((110, 210)):
        for start, end in ((126, 224), (302, 316)):
            canvas.line([(start, y), (end, y)], INK, 3)
        canvas.text(136, y - 9, f"channel {channel}", 13, fill=GREY)
        for at in range(2):
            canvas.rect(224 + at * 92, y - 29, 78, 58, "#ffffff", ORANGE, 2, 5)
            canvas.text(263 + at * 92, y + 5, f"die {2 * channel + at}", 14, "middle")
    canvas.box(12, 80, 114, 160, "controller", ("mapping", "buffer", "GC", "policies"), small=13)
    canvas.line([(394, 81), (430, 22)], ORANGE, 1.2, dashed=True)
    canvas.line([(394, 139), (430, 298)], ORANGE, 1.2, dashed=True)
    canvas.rect(430, 22, 378, 276, "#ffffff", ORANGE, 2, 6)
    canvas.text(444, 47, "die 1", 15, bold=True)
    _plane(canvas, 440, 0)
    _plane(canvas, 624, 1)
    canvas.line([(12, 312), (808, 312)], "#bbbbbb", 1)
    for left, low, name, words in (
        (12, 336, "channel", "one transfer at a time"),
        (430, 336, "die", "one operation at a time"),
        (12, 361, "page", "read; programmed once between two erases"),
        (430, 361, "block", "erased as a whole"),
    ):
        right = canvas.text(left, low, name, 14, bold=True)
        canvas.text(right + 8, low, words, 14)
    return canvas.svg()
