"""Prints the tables of docs/scoreboard.md from results of `fowler score --json`.

python3 docs/scoreboard.py results/*.json
python3 docs/scoreboard.py --compare ONE.json OTHER.json
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections import defaultdict
from pathlib import Path


def number(value: float) -> str:
    """A number with three digits."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, 2 - math.floor(math.log10(abs(value)))):,.{digits}f}"


def off(ratio: float) -> float:
    """How far a ratio is from one, the same for a half and for two."""
    return max(ratio, 1 / ratio) - 1


def regime(row: dict) -> str:
    """Rows that are judged apart: below and at saturation."""
    saturated = row["setup"].get("saturated")
    if saturated is None:
        return row["file"]
    return f"{row['file']}, {'saturated' if saturated else 'below saturation'}"


def words(row: dict) -> str:
    """What distinguishes a row from others of its file."""
    left_out = ("saturated", "campaign", "result")
    kept = {key: value for key, value in row["setup"].items() if key not in left_out}
    zones = kept.pop("zones", None)
    if zones:
        kept["written"] = "/".join(f"{zone['size']:g}:{zone['write_share']:g}" for zone in zones)
    texts = {key: f"{value:g}" if isinstance(value, float) else str(value) for key, value in kept.items()}
    return " ".join(f"{key}={text}" for key, text in texts.items())


def tables(score: dict) -> None:
    """Prints the tables of a drive: what it was fitted to, and what it predicts."""
    fitted, predicted, left = [], defaultdict(list), []
    for row in score["rows"]:
        name = row["model"] + (f" ({row['sample']})" if row["sample"] else "")
        for metric in row["metrics"]:
            ratio = metric["ratio"]
            if not ratio or ratio <= 0:
                left.append(f"{name}: {words(row)}: `{metric['metric']}` is {metric['simulated']}")
                continue
            if metric["used_in_fit"]:
                fitted.append((name, row, metric))
            else:
                predicted[name, regime(row), metric["metric"]].append((off(ratio), ratio, row, metric))
    if fitted:
        print("| fitted row | number | measured | simulated | +- | ratio |\n|---|---|---|---|---|---|")
        for name, row, metric in fitted:
            low, high = metric["interval"] or (metric["simulated"],) * 2
            wide = max(metric["simulated"] - low, high - metric["simulated"]) / metric["simulated"]
            print(
                f"| {name}: {words(row)} | `{metric['metric']}` | {number(metric['measured'])} | "
                f"{number(metric['simulated'])} | {wide * 100:.1f} % | {metric['ratio']:.2f} |"
            )
        print()
    print("| predicted rows | number | rows | off in median | worst ratio | measured there | its row |")
    print("|---|---|---|---|---|---|---|")
    for (name, file, metric), all_ in predicted.items():
        all_.sort(key=lambda it: it[0])
        middle, worst = statistics.median(it[0] for it in all_), all_[-1]
        print(
            f"| {name}: {file} | `{metric}` | {len(all_)} | {middle * 100:.0f} % | {worst[1]:.2f} | "
            f"{number(worst[3]['measured'])} | {words(worst[2])} |"
        )
    for place in left:
        print(f"\nNo ratio: {place}.")
    for refused in score["not_simulated"]:
        print(f"\nNot simulated: {refused['row']}: {refused['reason']}.")


def simulated(path: str) -> dict[tuple[str, str], tuple[dict, dict]]:
    """The numbers of a result by their row and name."""
    rows = json.loads(Path(path).read_text())["rows"]
    found = {}
    for row in rows:
        key = json.dumps([row["file"], row["model"], row["sample"], row["setup"]], sort_keys=True)
        found |= {(key, metric["metric"]): (row, metric) for metric in row["metrics"]}
    return found


def compare(one: str, other: str) -> None:
    """Prints how far the simulated numbers of two results of a drive are from each other."""
    first, second = simulated(one), simulated(other)
    groups, overlapping, both = defaultdict(list), 0, 0
    for key in first.keys() & second.keys():
        (row, before), (_, after) = first[key], second[key]
        if not before["simulated"] or not after["simulated"]:
            continue
        ratio = after["simulated"] / before["simulated"]
        groups[row["model"], regime(row), before["metric"]].append((off(ratio), ratio, words(row)))
        if before["interval"] and after["interval"]:
            both += 1
            (low, high), (bottom, top) = before["interval"], after["interval"]
            overlapping += low <= top and bottom <= high
    print("| rows | number | rows | off in median | largest ratio | its row |\n|---|---|---|---|---|---|")
    for (model, file, metric), all_ in sorted(groups.items()):
        all_.sort()
        middle, (_, ratio, where) = statistics.median(it[0] for it in all_) * 100, all_[-1]
        print(f"| {model}: {file} | `{metric}` | {len(all_)} | {middle:.1f} % | {ratio:.2f} | {where} |")
    print(f"\nThe intervals of {overlapping} of {both} numbers overlap.")


if sys.argv[1:2] == ["--compare"]:
    compare(*sys.argv[2:])
else:
    for path in sys.argv[1:]:
        result = json.loads(Path(path).read_text())
        print(f"\n### {Path(path).stem}: `{result['drive']}`, scheme {result['scheme']}\n")
        tables(result)
