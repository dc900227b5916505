"""Adds missing schemes and policies to the tables of docs/schemes.md, and fails on names that are gone.

Rows written by hand stay as they are; a new name gets the description that the program prints. The arguments
are the command that runs Fowler: ``generate_scheme_tables.py cargo run --quiet --bin fowler --``.
"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

PAGE = Path(__file__).parents[1] / "docs" / "schemes.md"
SCHEMES = "| scheme |"
SLOTS = "| `--set` |"


def asked(*arguments: str) -> str:
    """Returns what the command prints."""
    command = [*sys.argv[1:], *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def schemes() -> dict[str, str]:
    """Returns every scheme and its description."""
    block = asked("presets").partition("\nschemes\n")[2]
    # Up to the next heading: the schemes on each drive.
    block = re.split(r"^\S", block, maxsplit=1, flags=re.MULTILINE)[0]
    return dict(re.findall(r"^  (\S+) +(.+)$", block, re.MULTILINE))


def slots() -> dict[str, tuple[str, list[str]]]:
    """Returns every policy slot, with the decision that it makes and its policies."""
    found: dict[str, tuple[str, list[str]]] = {}
    key = ""
    for line in asked("presets", "--keys").splitlines():
        if hit := re.match(r"  (\S+)", line):
            key = hit[1]
        elif key.count(".") == 1 and key.startswith("policy."):
            if hit := re.match(r" {8}(\S+) ", line):
                found[key][1].append(hit[1])
            elif hit := re.match(r" {6}(\S.*?):", line):
                found[key] = (hit[1], [])
    return found


def named(cell: str) -> list[str]:
    """Returns the names in a cell, without the keys of policies."""
    return re.findall(r"`(\w+)`", cell)


def table(text: str, head: str) -> tuple[int, int]:
    """Returns the positions in the text at which the rows of a table begin and end."""
    begin = text.index("\n", text.index("|---|", text.index(head))) + 1
    return begin, text.index("\n\n", begin) + 1


def with_answer(cell: str, known: list[str], answer: str) -> str:
    """Returns a cell with one more policy after the last one in it."""
    ends = [found.end() for found in re.finditer(r"`(\w+)`(?: \([^)]*\))?", cell) if found[1] in known]
    end = max(ends, default=0)
    return f"{cell[:end]}, `{answer}`{cell[end:]}" if ends else f"`{answer}`"


def new_schemes(rows: list[str], known: dict[str, str]) -> list[str]:
    """Returns the rows, with rows for missing schemes inserted before the last row."""
    there = [name for row in rows for name in named(row.split("|")[1])]
    missing = [f"| `{name}` | {about} |" for name, about in known.items() if name not in there]
    gone(there, list(known))
    return [*rows[:-1], *missing, *rows[-1:]]


def new_policies(rows: list[str], known: dict[str, tuple[str, list[str]]]) -> list[str]:
    """Returns the rows, with every policy of every slot."""
    text = []
    for row in rows:
        _, slot, cell, about, _ = row.split("|")
        entry = known.pop(slot.strip(" `"), None)
        if entry is None:
            gone([slot], [])
            continue
        answers = entry[1]
        for answer in answers:
            if answer not in named(cell):
                cell = with_answer(cell, answers, answer)
        text.append(f"|{slot}|{cell}|{about}|")
    for slot, (about, answers) in known.items():
        text.append(f"| `{slot}` | {', '.join(f'`{entry}`' for entry in answers)} | {about} |")
    return text


def gone(there: list[str], known: list[str]) -> None:
    """Exits with an error if a table has names that the program does not know. A person must edit them."""
    if wrong := [name for name in there if name not in known]:
        sys.exit(f"docs/schemes.md has names that no longer exist, remove or rename them: {', '.join(wrong)}")


def main() -> None:
    """Updates the tables of schemes in the documentation."""
    text = PAGE.read_text()
    begin, end = table(text, SCHEMES)
    rows = new_schemes(text[begin:end].splitlines(), schemes())
    text = "\n".join([text[: begin - 1], *rows, text[end:]])
    begin, end = table(text, SLOTS)
    rows = new_policies(text[begin:end].splitlines(), slots())
    text = "\n".join([text[: begin - 1], *rows, text[end:]])
    PAGE.write_text(text)


if __name__ == "__main__":
    main()
