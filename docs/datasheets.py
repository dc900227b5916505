"""Predicts each drive of latency-under-load.json from its data sheet, without the preset fitted to it.

python3 docs/datasheets.py latency-under-load.json [FOWLER]

The naive guesses beside it: the data sheet's random write rate for saturation, and for latencies the
median of what the other models show at the same rate.
"""

from __future__ import annotations

import json
import math
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict
from pathlib import Path

LATENCIES = ("p50", "p99", "p99.9")
KEYS = ("model", "capacity_gb", "pcie", "datasheet")


def samples(path: str) -> list[dict]:
    """The measured drives with a random write rate in the data sheet."""
    drives = json.loads(Path(path).read_text())["drives"]
    return [drive for drive in drives if drive["datasheet"].get("rand_write_iops")]


def calm(drive: dict) -> list[dict]:
    """Returns the rows of a drive that were measured below the knee."""
    most = drive["summary"]["highest_calm_rate"]
    return [row for row in drive["rows"] if row["offered_write_iops"] <= most]


def predict(fowler: str, path: str, drive: dict, folder: Path) -> dict[int, dict[str, float]]:
    """The simulated numbers of a model by offered rate, from its data sheet."""
    sheet, preset, score = folder / "sheet.json", folder / "drive.toml", folder / "score.json"
    sheet.write_text(json.dumps({key: drive[key] for key in KEYS}))
    made = ["calibrate", "--quiet", "--from-datasheet", sheet, "--leave-out", drive["model"], "--out", preset]
    subprocess.run([fowler, *made], check=True, stdout=subprocess.DEVNULL)
    top = max(row["offered_write_iops"] for row in drive["rows"])
    rates = [row["offered_write_iops"] for row in calm(drive)] + [top]
    rows = f'model="{drive["model"]}",sample={drive["sample"]},offered_write_iops={"|".join(map(str, rates))}'
    subprocess.run(
        [fowler, "score", preset, path, "--rows", rows, "--brief", "--quiet", "--json", score],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    result = json.loads(score.read_text())
    return {
        row["setup"]["offered_write_iops"]: {it["metric"]: it["simulated"] for it in row["metrics"]}
        for row in result["rows"]
    }


def main(path: str, fowler: str = "fowler") -> None:
    """Prints the tables of data sheets and of measurements."""
    drives = samples(path)
    made: dict[str, dict] = {}
    with tempfile.TemporaryDirectory() as folder:
        for drive in drives:
            known = made.get(drive["model"])
            made[drive["model"]] = known or predict(fowler, path, drive, Path(folder))
    print("| drive | measured saturation | data sheet | log ratio | predicted | log ratio |")
    print("|---|---|---|---|---|---|")
    sheets, ours = [], []
    for drive in drives:
        measured = drive["summary"]["saturation_write_iops"]
        sheet = drive["datasheet"]["rand_write_iops"]
        predicted = made[drive["model"]]
        rate = predicted[max(predicted)]["achieved_write_iops"]
        sheets.append(math.log(sheet / measured))
        ours.append(math.log(rate / measured))
        name = f"{drive['model']} ({drive['sample']})"
        print(
            f"| {name} | {measured:,.0f} | {sheet:,.0f} | {sheets[-1]:+.3f} | {rate:,.0f} | {ours[-1]:+.3f} |"
        )
    mean = [statistics.mean(abs(it) for it in all_) for all_ in (sheets, ours)]
    print(f"| mean of the absolute values | | | {mean[0]:.3f} | | {mean[1]:.3f} |\n")
    print("| reads below the knee | rows | median of the other drives: mean abs. log ratio | predicted |")
    print("|---|---|---|---|")
    for name in LATENCIES:
        guesses, predictions = [], []
        by_rate = defaultdict(list)
        for drive in drives:
            for row in calm(drive):
                by_rate[row["offered_write_iops"]].append((drive["model"], row["read_us"][name]))
        for drive in drives:
            for row in calm(drive):
                rate, measured = row["offered_write_iops"], row["read_us"][name]
                others = [value for model, value in by_rate[rate] if model != drive["model"]]
                simulated = made[drive["model"]].get(rate, {}).get(f"read_us.{name}")
                if not others or not simulated:
                    continue
                guesses.append(abs(math.log(statistics.median(others) / measured)))
                predictions.append(abs(math.log(simulated / measured)))
        guessed, predicted = statistics.mean(guesses), statistics.mean(predictions)
        print(f"| {name} | {len(guesses)} | {guessed:.3f} | {predicted:.3f} |")


main(*sys.argv[1:])
