"""The canvas of the schematics refuses what cannot be read, and timelines are those of a simulated die."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from schematics import pes
from schematics.canvas import Canvas

HEAD = "at_ns,op"


@pytest.mark.parametrize(
    ("draws", "complaint"),
    [
        (lambda sheet: sheet.text(170, 50, "too long a line"), "leaves the picture"),
        (lambda sheet: sheet.text(10, 5, "cut"), "leaves the picture"),
        (lambda sheet: sheet.text(10, 50, "small", 11), "smaller"),
        (lambda sheet: [sheet.text(10, 50, "one"), sheet.text(20, 55, "two")], "is over"),
        (lambda sheet: [sheet.text(10, 50, "one"), sheet.line([(0, 0), (60, 90)])], "across a line"),
        (lambda sheet: [sheet.text(10, 50, "one"), sheet.rect(20, 40, 60, 20)], "across the edge"),
        (lambda sheet: sheet.box(10, 10, 40, 40, "too long a name"), "wider than its box"),
    ],
)
def test_what_cannot_be_read_is_refused(draws: Callable[[Canvas], object], complaint: str) -> None:
    sheet = Canvas("test", 200, 100, "title", "about")

    def draw() -> None:
        draws(sheet)
        sheet.svg()

    with pytest.raises(ValueError, match=complaint):
        draw()


def test_text_beside_lines_and_in_boxes_is_drawn() -> None:
    sheet = Canvas("test", 200, 100, "A & B", "about")
    sheet.rect(5, 30, 80, 30)
    sheet.text(10, 50, "inside")
    sheet.text(100, 50, "halo", halo=True)
    sheet.line([(90, 90), (120, 0)])
    assert "A &amp; B" in sheet.svg()


@pytest.mark.parametrize("row", pes.ROWS, ids=lambda row: row[0])
def test_the_timelines_are_those_of_the_simulated_die(row: tuple, tmp_path: Path) -> None:
    name, _, pieces, *_ = row
    commands = tmp_path / "commands.csv"
    commands.write_text(f"{HEAD}\n0,program\n1000,write\n{pes.ARRIVAL * 1000:.0f},read\n")
    command = [sys.executable, "-m", "fowler", "chip", "--device", "pes-mlc", "--scheme", name]
    command += ["--set", f"timing.program_iterations={pes.ITERATIONS}", str(commands)]
    text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    program, write, read = (int(line.split(",")[3]) / 1000 for line in text.splitlines()[1:])
    ends: dict[str, float] = {}
    time = 0.0
    for what, length in pieces:
        time += length
        ends[what] = time
    assert ends["read"] == read
    assert max(ends.values()) == max(write, read)
    assert f"{read - pes.ARRIVAL:.0f} us" in pes.draw()
    assert program <= write
