"""Prints the tables and numbers of docs/today.md from the folder that `fowler study today` has written.

    python3 docs/today.py FOLDER

The tables go into the page as they are; the numbers below them stand in its sentences.
"""

from __future__ import annotations

import csv
import json
import math
import re
import statistics
import sys
from pathlib import Path

FACTORS = {
    "PES": "suspension (PES)",
    "RHIO": "order and speed (RHIO)",
    "HIRE": "voltages (HIRE)",
    "READY": "throttle (READY)",
    "DA-RAID-5": "redundancy (DA-RAID-5)",
}
AGES = ["young", "middle", "old"]
DRIVES = ["nvme-pm9a3", "nvme-7450", "nvme-p5520", "nvme-pe8110"]
# Drives beside the four, in no mean, with the mark that they have in the study's tables.
MARK = "fitted to reads and cached writes only"
MARKED = ["nvme-980pro", "sata-860pro"]
READ, READ_TAIL, WEAR, LIFE, WRITE, WRITE_TAIL, WAF = (
    "reads, mean (us)",
    "reads, p99.9 (us)",
    "wear per host byte",
    "projected life (years)",
    "writes, mean (us)",
    "writes, p99.9 (us)",
    "write amplification",
)
# The columns of the page: writes are differences in ms, all else ratios.
COLUMNS = {READ: "%", READ_TAIL: "%", WEAR: "%", LIFE: "%", WRITE: "ms", WRITE_TAIL: "ms"}
# Seconds of the host in a second of the simulation ([[replay]] of the study).
STANDS_FOR = {"1_DWPD": 378.0, "3_DWPD": 126.0}
DAY_S = 86_400
# Student's t at 95 %, by the number of seeds.
T = {2: 12.706, 3: 4.303, 4: 3.182, 5: 2.776}
Rows = list[dict[str, str]]


def number(text: str) -> float | None:
    """Returns the number in a cell; `None` if it is empty."""
    return float(text) if text else None


def in_words(value: float | None, unit: str) -> str:
    """Returns an effect: percent of a ratio, or milliseconds of a difference in microseconds."""
    if value is None:
        return "-"
    scaled, whole_from, places = (value * 100, 20, 1) if unit == "%" else (value / 1e3, 10, 2)
    places = 0 if abs(scaled) >= whole_from else places
    text = f"{scaled:+.{places}f}"
    return "0" if float(text) == 0 else text


class Study:
    """The tables and the runs of the study, read from a folder."""

    def __init__(self, folder: Path) -> None:
        """Reads the tables and the runs of a folder."""
        self.worth, self.signs, self.interactions = (
            list(csv.DictReader((folder / f"{name}.csv").open()))
            for name in ("worth", "signs", "interactions")
        )
        self.runs: dict[tuple[str, ...], dict[str, object]] = {}
        # A folder of an older study has no marked drives.
        marked = folder / "marked.csv"
        self.marked = list(csv.DictReader(marked.open())) if marked.exists() else []
        pattern = re.compile(r"((?:nvme|sata)-[a-z0-9]+)_(.*)_(young|middle|old)_([01]{5})")
        for path in folder.glob("runs*/**/*.json"):
            if found := pattern.fullmatch(path.stem):
                body = json.loads(path.read_text())
                self.runs[(str(path.parent), *found.groups())] = body.get("result", body)
        self.seeds = sorted({run[0] for run in self.runs})

    def effect(self, drive: str, factor: str, age: str, what: str, metric: str) -> float | None:
        """Returns an effect of a factor."""
        for row in self.worth:
            key = (row["drive"], row["factor"], row["age"], row["what"])
            if key == (drive, FACTORS[factor], age, what):
                return number(row[metric])
        return None

    def cell(self, drive: str, factor: str, what: str, metric: str, unit: str) -> str:
        """Returns the effects at the three ages, one if they agree, with the widest interval."""
        values = [in_words(self.effect(drive, factor, age, what, metric), unit) for age in AGES]
        values = values[:1] if len(set(values)) == 1 else values
        if values == ["-"]:
            return "-"
        halves = [self.effect(drive, factor, age, f"{what} ±", metric) for age in AGES]
        widest = max((abs(half) for half in halves if half is not None), default=0.0)
        shown = f"{widest * 100:.1f}" if unit == "%" else f"{widest / 1e3:.2f}"
        return f"{', '.join(values)} (± {shown}) {unit}"

    def table(self, what: str) -> str:
        """Returns the table of all factors."""
        heads = "mean read | p99.9 read | wear per byte written | projected life | mean write | p99.9 write"
        rows = [f"| | {heads} |", "|---|" + "---|" * len(COLUMNS)]
        for factor in FACTORS:
            cells = [self.cell("all drives", factor, what, metric, unit) for metric, unit in COLUMNS.items()]
            rows.append(f"| {factor} | {' | '.join(cells)} |")
        return "\n".join(rows)

    def by_drive(self) -> str:
        """Returns the table of the old drives."""
        heads = " | ".join(f"`{drive}`" for drive in DRIVES)
        rows = [f"| old drive, alone | | {heads} |", "|---|---|" + "---|" * len(DRIVES)]
        for factor in FACTORS:
            for metric, name in ((READ, "mean read"), (READ_TAIL, "p99.9 read"), (WEAR, "wear")):
                cells = []
                for drive in DRIVES:
                    value = in_words(self.effect(drive, factor, "old", "alone", metric), "%")
                    half = self.effect(drive, factor, "old", "alone ±", metric)
                    interval = "" if half is None else f" ± {abs(half) * 100:.1f}"
                    cells.append("-" if value == "-" else f"{value}{interval} %")
                rows.append(f"| {factor} | {name} | {' | '.join(cells)} |")
        return "\n".join(rows)

    def marked_effect(self, drive: str, factor: str, age: str, what: str, metric: str) -> float | None:
        """Returns an effect of a factor, or of all five, on a marked drive."""
        for row in self.marked:
            key = (row["drive"], row["factor"], row["age"], row["what"])
            if key == (f"{drive} ({MARK})", factor, age, what):
                return number(row[metric])
        return None

    def marked_table(self) -> str:
        """Returns the table of the marked drives when old."""
        heads = " | ".join(f"`{drive}` ({MARK})" for drive in MARKED)
        rows = [f"| old drive | | {heads} |", "|---|---|" + "---|" * len(MARKED)]
        factors = [(f"{short}, alone", name, "alone") for short, name in FACTORS.items()]
        for shown, factor, what in [*factors, ("all five", "all five", "together")]:
            for metric, name in ((READ, "mean read"), (READ_TAIL, "p99.9 read"), (WEAR, "wear")):
                cells = []
                for drive in MARKED:
                    value = in_words(self.marked_effect(drive, factor, "old", what, metric), "%")
                    half = self.marked_effect(drive, factor, "old", f"{what} ±", metric)
                    interval = "" if half is None else f" ± {abs(half) * 100:.1f}"
                    cells.append("-" if value == "-" else f"{value}{interval} %")
                rows.append(f"| {shown} | {name} | {' | '.join(cells)} |")
        return "\n".join(rows)

    def signs_table(self) -> str:
        """Returns the table of what each idea finds to do, with the widest interval of the ages."""
        rows = ["| | sign | young | middle | old | ± |", "|---|---|---|---|---|---|"]
        halves = {
            (row["factor"], row["sign"].removesuffix(" ±")): [abs(number(row[age]) or 0.0) for age in AGES]
            for row in self.signs
            if row["drive"] == "all drives" and row["sign"].endswith(" ±")
        }
        for row in self.signs:
            if row["drive"] != "all drives" or row["sign"].endswith("±"):
                continue
            is_share = not row["sign"].startswith("drive writes")
            shown = [number(row[age]) for age in AGES]
            widest = halves.get((row["factor"], row["sign"]))
            shown.append(max(widest) if widest else None)
            cells = ["-" if it is None else f"{it * 100:.1f} %" if is_share else f"{it:.2f}" for it in shown]
            rows.append(f"| {row['factor']} | {row['sign']} | {' | '.join(cells)} |")
        return "\n".join(rows)

    def metric(self, seed: str, drive: str, load: str, age: str, subset: int, path: str) -> float | None:
        """Returns a metric of a run."""
        value: object = self.runs.get((seed, drive, load, age, f"{subset:05b}"))
        for key in path.split("."):
            value = value.get(key) if isinstance(value, dict) else None
        return value if isinstance(value, (int, float)) else None

    def change(self, path: str, load: str, age: str, subset: int, drives: list[str] = DRIVES) -> str:
        """Returns the change of a metric by a subset, with half the 95 % confidence interval over the seeds.

        It is the geometric mean over drives and seeds, minus 1.
        """
        by_seed = []
        for seed in self.seeds:
            pairs = [
                [self.metric(seed, it, load, age, which, path) for which in (0, subset)] for it in drives
            ]
            logs = [math.log(some / none) for none, some in pairs if none and some]
            if logs:
                by_seed.append(statistics.fmean(logs))
        if not by_seed:
            return "-"
        mean = statistics.fmean(by_seed)
        half = (
            T[len(by_seed)] * statistics.stdev(by_seed) / math.sqrt(len(by_seed)) if len(by_seed) > 1 else 0.0
        )
        return f"{in_words(math.expm1(mean), '%')} ± {math.exp(mean) * half * 100:.1f} %"

    def lets_through(self, drive: str, load: str, subset: int) -> float:
        """Returns the drive writes a day of the old drive, in the host's time."""
        days = []
        for seed in self.seeds:
            paths = ("write.bytes", "drive.logical_bytes", "simulated_s")
            written, capacity, seconds = (self.metric(seed, drive, load, "old", subset, it) for it in paths)
            if written and capacity and seconds:
                days.append(written / capacity / (seconds * STANDS_FOR[load] / DAY_S))
        return sum(days) / len(days)


def main() -> None:
    """Prints tables and numbers."""
    study = Study(Path(sys.argv[1]))
    print(f"{len(study.runs):,} runs, {len(study.seeds)} seeds")
    for what in ("alone", "on average", "as the last"):
        print(f"\n{what}\n\n{study.table(what)}")
    print(f"\n{study.by_drive()}\n\n{study.marked_table()}\n\n{study.signs_table()}\n")
    for factor in FACTORS:
        print(f"{factor}, write amplification alone: {study.cell('all drives', factor, 'alone', WAF, '%')}")
    for row in study.interactions:
        if row["drive"] == "all drives" and row["age"] == "old":
            cells = [
                f"{metric} {in_words(number(row[metric]), unit)} {unit}" for metric, unit in COLUMNS.items()
            ]
            print(f"{row['pair']}, {row['what']}: {'; '.join(cells)}")
    for load, asked in (("1_DWPD", 1), ("3_DWPD", 3)):
        shares = [f"{drive} {study.lets_through(drive, load, 0b01000):.2f}" for drive in DRIVES]
        print(f"of {asked} drive writes a day READY lets through: {', '.join(shares)}")
    flash = [study.change("flash_bytes_per_host_byte", "1_DWPD", "old", 0b10000, [drive]) for drive in DRIVES]
    print(
        "flash writes of parity:",
        [f"{drive} {it}" for drive, it in zip(DRIVES, flash, strict=True)],
    )
    for path in ("read.mean_us", "read.p999_us"):
        for load in sorted({run[2] for run in study.runs}):
            changes = {subset: study.change(path, load, "old", subset) for subset in (1, 2, 4, 8, 16, 31)}
            print(f"{path}, {load}, old drives, by subset: {changes}")
    for load in ("F1", "TPCC", "1_DWPD"):
        print(
            "HIRE, flash writes,",
            load,
            study.change("flash_bytes_per_host_byte", load, "old", 4, DRIVES[:1]),
        )


if __name__ == "__main__":
    main()
