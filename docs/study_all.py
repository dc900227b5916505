"""Prints the tables and numbers of docs/study-all.md from the folder that `fowler study all` has written.

    python3 docs/study_all.py FOLDER

The tables go into the page as they are; the numbers below them stand in its sentences.
"""

from __future__ import annotations

import csv
import json
import statistics
import sys
from pathlib import Path

from today import AGES, COLUMNS, FACTORS, READ, READ_TAIL, in_words, number

DRIVES = ["together", "together, depth 32"]
# Student's t at 95 %, by the number of seeds.
T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}
Row = dict[str, str]


class Study:
    """The tables of the study, and its runs under the excerpt of a burst, read from a folder."""

    def __init__(self, folder: Path) -> None:
        """Reads the tables of a folder."""
        self.folder = folder
        names = ("worth", "alternatives", "interactions", "pareto", "choices", "price")
        self.tables = {name: list(csv.DictReader((folder / f"{name}.csv").open())) for name in names}

    def row(self, table: str, **keys: str) -> Row | None:
        """Returns the row of a table whose columns have these values."""
        for row in self.tables[table]:
            if all(row[key] == value for key, value in keys.items()):
                return row
        return None

    def cell(self, table: str, what: str, column: tuple[str, str], **keys: str) -> str:
        """Returns the effects at the three ages, one if they agree, with the widest interval."""
        metric, unit = column
        values, halves = [], []
        for age in AGES:
            row = self.row(table, age=age, what=what, **keys)
            wide = self.row(table, age=age, what=f"{what} ±", **keys)
            values.append(in_words(number(row[metric]) if row else None, unit))
            halves.append((number(wide[metric]) if wide else None) or 0.0)
        values = values[:1] if len(set(values)) == 1 else values
        if values == ["-"]:
            return "-"
        widest = max(abs(half) for half in halves)
        shown = f"{widest * 100:.1f}" if unit == "%" else f"{widest / 1e3:.2f}"
        return f"{', '.join(values)} (± {shown}) {unit}"

    def worth(self, drive: str, what: str) -> str:
        """Returns the table of the five systems."""
        rows = [f"| | {' | '.join(COLUMNS)} |", "|---|" + "---|" * len(COLUMNS)]
        for short, factor in FACTORS.items():
            cells = [self.cell("worth", what, it, drive=drive, factor=factor) for it in COLUMNS.items()]
            rows.append(f"| {short} | {' | '.join(cells)} |")
        return "\n".join(rows)

    def alternatives(self, drive: str, instead: bool, last: bool) -> str:
        """Returns the table of the alternatives: added to a drive, or in place of their system."""
        rows = [f"| | {' | '.join(COLUMNS)} |", "|---|" + "---|" * len(COLUMNS)]
        seen: list[tuple[str, str]] = []
        for row in self.tables["alternatives"]:
            pair = (row["system"], row["alternative"])
            if row["drive"] != drive or pair in seen:
                continue
            seen.append(pair)
            what = "as the last" if last else "alone"
            what = f"in place of {row['system']}, {what}" if instead else what
            keys = {"drive": drive, "system": pair[0], "alternative": pair[1]}
            cells = [self.cell("alternatives", what, it, **keys) for it in COLUMNS.items()]
            rows.append(f"| {pair[0]}: {pair[1]} | {' | '.join(cells)} |")
        return "\n".join(rows)

    def changes(self, drive: str, age: str, column: str, of: str, metric: str) -> str:
        """Returns the change of a metric of reads by a combination under one workload, over the seeds."""
        changes = []
        for none in sorted(self.folder.glob(f"runs*/**/{plain(drive)}_{column}_{age}_00000.json")):
            some = none.with_name(f"{plain(drive)}_{column}_{age}_{plain(of)}.json")
            before, after = (json.loads(it.read_text())["result"]["read"][metric] for it in (none, some))
            changes.append((after / before - 1) * 100)
        half = T[len(changes)] * statistics.stdev(changes) / len(changes) ** 0.5
        return f"{statistics.mean(changes):+.1f} ± {half:.1f} %"


def plain(name: str) -> str:
    """Returns a name as it is in the name of a file."""
    return "".join(c if c.isalnum() or c in "+-_." else "_" for c in name)


def main() -> None:
    """Prints tables and numbers."""
    study = Study(Path(sys.argv[1]))
    for drive in DRIVES:
        for what in ("on average", "alone", "as the last"):
            print(f"\n{drive}: {what}\n\n{study.worth(drive, what)}")
        for instead in (False, True):
            for last in (False, True):
                place = "in place of its system" if instead else "against the drive without it"
                print(f"\n{drive}: alternatives, {place}{', beside the other four' if last else ''}\n")
                print(study.alternatives(drive, instead, last))
        print(f"\n{drive}: interactions, old drive\n")
        for row in study.tables["interactions"]:
            if row["drive"] == drive and row["age"] == "old":
                cells = [f"{it} {in_words(number(row[it]), unit)} {unit}" for it, unit in COLUMNS.items()]
                print(f"{row['pair']}, {row['what']}: {'; '.join(cells)}")
        print(f"\n{drive}: fronts and choices\n")
        for row in study.tables["pareto"]:
            on = [name for name, cell in row.items() if name.startswith("front") and cell == "on it"]
            if row["drive"] == drive and (on or row["combination"].count("+") == len(FACTORS) - 1):
                cells = [
                    f"{it} {in_words(number(row[it]), unit)} {unit}"
                    for it, unit in COLUMNS.items()
                    if it in row
                ]
                print(
                    f"{row['age']}: {row['combination']}: {'; '.join(cells)}; {', '.join(on) or 'no front'}"
                )
        for row in study.tables["choices"]:
            if row["drive"] == drive:
                print("; ".join(f"{key} {cell}" for key, cell in row.items() if cell))
        for of in ("00001", "00010", "00010 retry, reads first"):
            shown = [study.changes(drive, "old", "MSR_burst", of, it) for it in ("mean_us", "p999_us")]
            print(f"burst of MSR, old drive, {of}: {READ} {shown[0]}; {READ_TAIL} {shown[1]}")


if __name__ == "__main__":
    main()
