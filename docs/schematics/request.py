"""The way of a request through the drive, and the room that answers each question about it."""

from __future__ import annotations

from schematics.canvas import BLUE, DARK_BLUE, DARK_ORANGE, GREY, INK, ORANGE, Canvas

THERE = (
    ("host link", ("in",)),
    ("throttle", ("delays writes",)),
    ("pages", ("split by", "page size")),
    ("buffer", ("hit, or a", "free frame")),
    ("mapping", ("which die,", "which block")),
    ("redundancy", ("parity of", "the stripe")),
)
BACK = (
    ("die queue", ("which is next?",)),
    ("suspension", ("may it", "interrupt?")),
    ("channel", ("shared by", "its dies")),
    ("cells", ("sense, program,", "erase")),
    ("decoding", ("more reference", "voltages?")),
    ("host link", ("out",)),
)
WIDE, HIGH, PITCH = 114.0, 62.0, 136.4


def draw() -> str:
    """Returns the schematic of the way of a request, as SVG."""
    canvas = Canvas(
        "request",
        820,
        298,
        "The way of a request through the drive",
        "In the controller: host link, throttle for writes, split into pages, buffer, mapping and placement, "
        "redundancy. What the buffer answers leaves at once. The rest goes to the flash: the queue of a die, "
        "suspension, channel, cells, decoding, and back over the host link.",
    )
    canvas.text(12, 26, "Controller: what the request means", 15, fill=DARK_BLUE, bold=True)
    top, low = 42.0, 194.0
    for at, (name, about) in enumerate(THERE):
        x = 12 + at * PITCH
        canvas.box(x, top, WIDE, HIGH, name, about, BLUE)
        if at:
            canvas.line(
                [(x - PITCH + WIDE + 2, top + HIGH / 2), (x - 2, top + HIGH / 2)], INK, 1.6, heads="end"
            )
    for at, (name, about) in enumerate(BACK):
        x = 12 + (5 - at) * PITCH
        colour = BLUE if name == "host link" else ORANGE
        canvas.box(x, low, WIDE, HIGH, name, about, colour)
        if at:
            canvas.line(
                [(x + PITCH - 2, low + HIGH / 2), (x + WIDE + 2, low + HIGH / 2)], INK, 1.6, heads="end"
            )
    last = 12 + 5 * PITCH + WIDE / 2
    canvas.line([(last, top + HIGH + 2), (last, low - 2)], INK, 1.6, heads="end")
    canvas.text(last - 10, 154, "a transaction for each page", 13, "end", GREY)
    buffer = 12 + 3 * PITCH + WIDE / 2
    host = 12 + WIDE / 2
    turn = 128.0
    canvas.line(
        [(buffer, top + HIGH + 2), (buffer, turn), (host, turn), (host, low - 2)],
        INK,
        1.6,
        dashed=True,
        heads="end",
    )
    canvas.text((buffer + host) / 2, turn + 19, "answered by the buffer", 13, "middle", GREY)
    canvas.text(808, 284, "Flash: who is busy with what, and for how long", 15, "end", DARK_ORANGE, bold=True)
    return canvas.svg()
