"""P/E suspension: a read arrives while a page is programmed, under four rules of the die.

The times are those of the paper's MLC drive (Table 1); `fowler chip` with three iterations comes to the same.
"""

from __future__ import annotations

from typing import NamedTuple

from schematics.canvas import (
    BLUE,
    DARK_BLUE,
    GREEN,
    GREY,
    INK,
    ORANGE,
    PALE_GREY,
    PALE_ORANGE,
    RULE,
    Canvas,
)

PROGRAM, VERIFY, RESET, RELOAD, TRANSFER, READ = 20.0, 24.0, 4.0, 3.0, 40.0, 65.0
ITERATIONS = 3
ARRIVAL = 52.0
"""The read, in the second program phase; program B waits since before."""


class Piece(NamedTuple):
    """An activity of the die, and its length in microseconds."""

    what: str
    length: float


PAIR = (Piece("program", PROGRAM), Piece("verify", VERIFY))
A = PAIR * ITERATIONS
B = (Piece("transfer", TRANSFER), *PAIR * ITERATIONS)
ONE_READ = (Piece("read", READ),)
FIRST = PAIR[0].length + PAIR[1].length

ROWS = (
    ("fifo", "in order of arrival", (*A, *B, *ONE_READ), "", A),
    ("rps", "reads first", (*A, *ONE_READ, *B), "first in the queue, after program A", A),
    (
        "pes_ips",
        "inter-phase suspension",
        (*PAIR, PAIR[0], *ONE_READ, Piece("reload", RELOAD), PAIR[1], *PAIR, *B),
        "waits for the phase to end; A then continues",
        (),
    ),
    (
        "pes_ipc",
        "intra-phase cancellation",
        (
            *PAIR,
            Piece("cancelled", ARRIVAL - FIRST),
            Piece("reset", RESET),
            *ONE_READ,
            Piece("reload", RELOAD),
            PAIR[1],
            *PAIR * (ITERATIONS - 1),
            *B,
        ),
        "cancels the phase; A then repeats it",
        (),
    ),
)

LEFT, TOP, PITCH, BAR = 196.0, 112.0, 92.0, 30.0
SCALE = 600 / 410


def _at(time: float) -> float:
    return LEFT + time * SCALE


def _row(canvas: Canvas, y: float, name: str, about: str, pieces: tuple[Piece, ...], why: str) -> None:
    canvas.text(12, y + 14, name, 16, bold=True)
    canvas.text(12, y + 33, about, 13, fill=GREY)
    fills = {
        "program": (ORANGE, "P", "#ffffff"),
        "verify": (PALE_ORANGE, "V", INK),
        "cancelled": (canvas.hatch(ORANGE), "", INK),
        "reset": (INK, "", INK),
        "reload": (GREEN, "", INK),
        "transfer": (PALE_GREY, "data in", INK),
        "read": (BLUE, "read", "#ffffff"),
    }
    time = 0.0
    done = 0.0
    spans: dict[str, tuple[float, float]] = {}
    programmed = 0
    whole = sum(piece.what == "verify" for piece in pieces) - ITERATIONS
    for what, length in pieces:
        fill, letter, colour = fills[what]
        edge = "#ffffff" if what in ("program", "verify", "read", "transfer") else None
        canvas.rect(_at(time), y, length * SCALE, BAR, fill, edge, 1)
        if letter:
            canvas.text(_at(time + length / 2), y + 20, letter, 13, "middle", colour, bold=what == "read")
        which = "B" if programmed >= whole else "A"
        if what == "read":
            done = time + length
        else:
            spans[which] = (spans.get(which, (time, 0.0))[0], time + length)
        programmed += what == "verify"
        time += length
    for which, (start, end) in spans.items():
        canvas.line(
            [(_at(start) + 1, y), (_at(start) + 1, y - 5), (_at(end) - 1, y - 5), (_at(end) - 1, y)],
            GREY,
            1.2,
        )
        # Beside the line of the arrival, not under it.
        middle = (max(start, ARRIVAL) + end) / 2
        canvas.text(_at(middle), y - 10, f"program {which}", 13, "middle", GREY)
    low = y + BAR + 14
    canvas.line([(_at(ARRIVAL), low), (_at(done), low)], BLUE, 2, heads="both")
    latency = f"{done - ARRIVAL:.0f} us"
    end = canvas.text(_at(done) + 6, low + 5, latency, 15, fill=DARK_BLUE, bold=True)
    canvas.text(end + 10, low + 5, why, 13, fill=GREY)


def draw() -> str:
    """Returns the schematic of P/E suspension: one die under four rules, as SVG."""
    canvas = Canvas(
        "pes",
        820,
        528,
        "P/E suspension: a read that arrives during a program",
        "Four timelines of one die. A page is programmed in three iterations of a program phase and a "
        "verify phase, a second program waits, and 52 us after the start a read arrives. Under fifo it is "
        "served after both programs, with a latency of 317 us; under rps after the running program, 145 "
        "us; under inter-phase suspension at the end of the running phase, 77 us; under intra-phase "
        "cancellation after a voltage reset of 4 us, 69 us. The suspended program then reloads its page "
        "and resumes; it ends later, at 200 and 236 instead of 132 us.",
    )
    canvas.text(
        12, 26, "A read arrives while its die is programming a page: how long does it wait?", 16, bold=True
    )
    canvas.legend(
        12,
        54,
        (
            (ORANGE, None, "P: program phase"),
            (PALE_ORANGE, None, "V: verify phase"),
            (canvas.hatch(ORANGE), ORANGE, "cancelled"),
            (INK, None, "voltage reset"),
            (GREEN, None, "reload"),
            (BLUE, None, "read"),
        ),
    )
    bottom = TOP + 3 * PITCH + BAR + 24
    for at in range(len(ROWS) + 1):
        above = TOP + (at - 1) * PITCH + BAR if at else TOP - 26
        below = TOP + at * PITCH if at < len(ROWS) else bottom
        canvas.line([(_at(ARRIVAL), above), (_at(ARRIVAL), below)], BLUE, 1.4, dashed=True)
    for at, (name, about, pieces, why, _) in enumerate(ROWS):
        _row(canvas, TOP + at * PITCH, name, about, pieces, why)
    canvas.text(_at(ARRIVAL) + 5, TOP - 27, "read arrives", 13, fill=DARK_BLUE, bold=True)
    canvas.line([(_at(0), bottom), (_at(410), bottom)], GREY, 1.2)
    for time in range(0, 401, 50):
        canvas.line([(_at(time), bottom), (_at(time), bottom + 5)], GREY, 1.2)
        canvas.text(_at(time), bottom + 20, str(time), 13, "middle", GREY)
    canvas.text(12, bottom + 20, "time on the die (us)", 13, fill=GREY)
    canvas.line([(12, bottom + 34), (808, bottom + 34)], RULE, 1)
    notes = (
        "Blue arrows: latency of the read. Program A ends at 200 us (ips) or 236 us (ipc) instead of 132 us.",
        "Times of the paper's MLC drive, with 3 of its 15 iterations. Program B was queued before the read.",
    )
    canvas.lines(12, bottom + 54, notes, 13, fill=GREY)
    return canvas.svg()
