"""Draws every picture in `docs/pictures`.

`make pictures` writes them; the build fails if one of them is not what its code draws.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from pathlib import Path

from sphinx.application import Sphinx
from sphinx.errors import ExtensionError

import hero
from schematics import da_raid5, drive, hire, pes, ready, request, rhio

PLACE = Path(__file__).parent / "pictures"
PICTURES: dict[str, Callable[[], str]] = {
    "da-raid5": da_raid5.draw,
    "drive": drive.draw,
    "hire": hire.draw,
    "pes": pes.draw,
    "ready": ready.draw,
    "request": request.draw,
    "rhio": rhio.draw,
    "slow-reads": hero.draw,
}


def written(place: Path) -> list[Path]:
    """Draws every picture into a folder; the files."""
    place.mkdir(parents=True, exist_ok=True)
    paths = []
    for name, draw in PICTURES.items():
        paths.append(place / f"{name}.svg")
        paths[-1].write_text(draw(), encoding="utf-8", newline="\n")
    return paths


def compare(app: Sphinx) -> None:
    """Draws every picture into the build, and complains of those in the repository that differ."""
    drawn = {path.name: path for path in written(Path(app.doctreedir) / "pictures")}
    there = {path.name: path for path in PLACE.glob("*.svg")}
    problems = [f"docs/pictures/{name}: nothing draws it" for name in sorted(there.keys() - drawn.keys())]
    for name, path in drawn.items():
        if name not in there:
            problems.append(f"docs/pictures/{name}: it is missing")
        elif path.read_bytes() != there[name].read_bytes():
            problems.append(f"docs/pictures/{name}: its code draws {os.path.relpath(path)} instead")
    if problems:
        lines = "\n".join(problems)
        raise ExtensionError(f"{lines}\nLook at what changed; `make pictures` draws all of them again.")


def setup(app: Sphinx) -> dict[str, bool]:
    """Registers the comparison of pictures, which runs before any page is read."""
    app.connect("builder-inited", compare)
    return {"parallel_read_safe": True, "parallel_write_safe": True}


if __name__ == "__main__":
    for path in written(PLACE):
        sys.stdout.write(f"{os.path.relpath(path)}\n")
