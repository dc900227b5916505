"""Prints the tables of docs/scoreboard.md from results of `fowler score --json`.

python3 docs/scoreboard.py results/*.json
python3 docs/scoreboard.py --summary results/*.json
python3 docs/scoreboard.py --pictures FOLDER results/*.json
python3 docs/scoreboard.py --intervals results/*.json
python3 docs/scoreboard.py --compare ONE.json OTHER.json
python3 docs/scoreboard.py --experiments BEFORE=FOLDER NAME=FOLDER ...
"""

from __future__ import annotations

import json
import math
import statistics
import sys
from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import score_pictures


def number(value: float) -> str:
    """Returns a number as text, with three digits."""
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    return f"{round(value, 2 - math.floor(math.log10(abs(value)))):,.{digits}f}"


def off(ratio: float) -> float:
    """How far a ratio is from one, the same for a half and for two."""
    return max(ratio, 1 / ratio) - 1


def regime(row: dict) -> str:
    """Returns the group in which a row is judged: its file, below or at saturation."""
    saturated = row["setup"].get("saturated")
    if saturated is None:
        return row["file"]
    return f"{row['file']}, {'saturated' if saturated else 'below saturation'}"


def words(row: dict) -> str:
    """Returns the settings that distinguish a row from others of its file."""
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
    """Returns the numbers of a result by their row and name, each with the row."""
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


PERCENTILES = {"p1": 0.01, "p10": 0.1, "p50": 0.5, "p90": 0.9, "p99": 0.99, "p99.9": 0.999, "p99.99": 0.9999}
"""Percentiles of latencies and the share of requests up to them."""
LEAST_POINTS = 3
"""The fewest percentiles of a row for which a share is computed."""
NEAR = math.log(1.1)
"""How far a quantile may be off to count as met, as the logarithm of the ratio."""


def share_within(row: dict, number: str) -> float | None:
    """The share of probability whose simulated quantile lies within 10 % of the measured one.

    Between two percentiles the logarithm of the ratio is taken as linear in the share of requests. What lies
    below the lowest and beyond the highest percentile counts as met if that one is.
    """
    found = {}
    for metric in row["metrics"]:
        for form in (f"{number}.", ""):
            name = metric["metric"]
            percentile = name.removeprefix(form).removesuffix("_us") if name.startswith(form) else ""
            if percentile in PERCENTILES and metric["ratio"] and (form or name.endswith("_us")):
                found[PERCENTILES[percentile]] = math.log(metric["ratio"])
    points = sorted(found.items())
    if len(points) < LEAST_POINTS:
        return None
    near = points[0][0] * (abs(points[0][1]) <= NEAR) + (1 - points[-1][0]) * (abs(points[-1][1]) <= NEAR)
    for (start, before), (end, after) in pairwise(points):
        if before == after:
            inside = float(abs(before) <= NEAR)
        else:
            ends = sorted((edge - before) / (after - before) for edge in (-NEAR, NEAR))
            inside = max(0.0, min(ends[1], 1.0) - max(ends[0], 0.0))
        near += (end - start) * inside
    return near


def distances(score: dict, sample: str | None, below: bool) -> dict[str, list[float]]:
    """How far the numbers of rows below or beyond the knee are off: |log ratio|, fitted or not."""
    all_ = defaultdict(list)
    for row in score["rows"]:
        if row["sample"] != sample or beyond_knee(row, score) == below:
            continue
        for metric in row["metrics"]:
            if metric["ratio"] and metric["ratio"] > 0:
                all_[metric["metric"]].append((abs(math.log(metric["ratio"])), metric["used_in_fit"]))
    return all_


CALM_US = 1000.0
"""Below the knee, p99 of reads and the median of the load's writes are shorter than this."""


def beyond_knee(row: dict, score: dict) -> bool:
    """Returns true if the drive was at or beyond its knee when a row was measured."""

    def calm(it: dict) -> bool:
        measured = {metric["metric"]: metric["measured"] for metric in it["metrics"]}
        times = (measured["read_us.p99"], measured["load_thread_write_us.p50"])
        return not it["setup"]["saturated"] and max(times) < CALM_US

    rate = row["setup"]["offered_write_iops"]
    rows = [it for it in score["rows"] if it["sample"] == row["sample"]]
    return not all(calm(it) for it in rows if it["setup"]["offered_write_iops"] <= rate)


def median_of(all_: list[tuple[float, bool]], predicted: bool = False) -> str:
    """The median of distances, of predicted numbers alone if asked."""
    kept = [distance for distance, fitted in all_ if not (predicted and fitted)]
    return f"{statistics.median(kept):.3f}" if kept else "-"


def percent(all_: list[tuple[float, bool]]) -> str:
    """The median of distances of predicted numbers, as the share that they are off."""
    kept = [distance for distance, fitted in all_ if not fitted]
    return f"{math.expm1(statistics.median(kept)) * 100:.0f} %" if kept else "-"


def of_load(path: str) -> dict | None:
    """Returns a result if it has rows of latency under load; `None` otherwise."""
    score = json.loads(Path(path).read_text())
    kinds = {row["protocol"] for row in score["rows"]}
    return score if kinds == {"latency_under_load"} else None


def summary(paths: list[str]) -> None:
    """Prints what a drive's predictions are worth, a line for each sample."""
    print(
        "| drive | reads below the knee: p50 | p90 | p99 | p99.9 | rate at saturation "
        "| reads within 10 %: below the knee | beyond |\n"
        "|---|---|---|---|---|---|---|---|"
    )
    for path in paths:
        score = of_load(path)
        if score is None:
            continue
        for sample in sorted({row["sample"] for row in score["rows"]}):
            below, beyond = (distances(score, sample, below) for below in (True, False))
            cells = [percent(below[f"read_us.{it}"]) for it in ("p50", "p90", "p99", "p99.9")]
            cells.append(percent(beyond["achieved_write_iops"]))
            for kind in (False, True):
                rows = [
                    row
                    for row in score["rows"]
                    if row["sample"] == sample and beyond_knee(row, score) == kind
                ]
                shares = [share for row in rows if (share := share_within(row, "read_us")) is not None]
                cells.append(f"{statistics.mean(shares) * 100:.0f} %")
            print(f"| {score['rows'][0]['model']} ({sample}) | {' | '.join(cells)} |")
    for path in paths:
        score = json.loads(Path(path).read_text())
        kinds = {row["protocol"] for row in score["rows"]} & {"reads_by_depth", "depth_grid"}
        groups = defaultdict(list)
        for row in score["rows"] if kinds else []:
            setup = row["setup"]
            name = setup.get("op") or f"{setup.get('engine')}, {setup['block_bytes'] // 1024} KiB"
            share = share_within(row, "")
            groups[name].append(share or 0.0)
        for name, shares in groups.items():
            print(f"{score['rows'][0]['model']}, {name}: {statistics.mean(shares) * 100:.0f} % within 10 %")


INTERVALS = ("read_us.p50", "read_us.p90", "read_us.p99", "read_us.p99.9", "achieved_write_iops")
"""Numbers whose intervals are judged."""


def intervals(paths: list[str]) -> None:
    """Prints how many predicted numbers below the knee lie within their 90 % intervals."""
    heads = " | ".join(it.removeprefix("read_us.") for it in INTERVALS[:-1])
    print(f"| drive | {heads} | rate | all | half width in median |\n|{'---|' * (len(INTERVALS) + 3)}")
    for path in paths:
        score = of_load(path)
        for sample in sorted({row["sample"] for row in score["rows"]}) if score else ():
            held, widths = defaultdict(list), []
            for row in score["rows"]:
                if row["sample"] != sample or beyond_knee(row, score):
                    continue
                for metric in row["metrics"]:
                    known = metric["predicted_interval"]
                    if metric["used_in_fit"] or metric["metric"] not in INTERVALS or not known:
                        continue
                    low, high = known
                    held[metric["metric"]].append(low <= metric["measured"] <= high)
                    widths.append(math.sqrt(high / low) - 1)
            cells = [f"{sum(held[it])} of {len(held[it])}" for it in INTERVALS]
            everything = [it for name in INTERVALS for it in held[name]]
            if not everything:
                continue
            cells.append(f"{sum(everything) / len(everything) * 100:.0f} %")
            cells.append(f"{statistics.median(widths) * 100:.0f} %")
            print(f"| {score['rows'][0]['model']} ({sample}) | {' | '.join(cells)} |")


NUMBERS = (
    ("read_us.p50", True),
    ("read_us.p90", True),
    ("read_us.p99", True),
    ("read_us.p99.9", True),
    ("read_us.p50", False),
    ("read_us.p99", False),
    ("read_us.p99.9", False),
    ("achieved_write_iops", False),
)


def experiments(folders: list[str]) -> None:
    """Prints what each experiment does to all rows: the median |log ratio| of each number."""
    heads = [("below" if below else "sat.") + " " + name.removeprefix("read_us.") for name, below in NUMBERS]
    heads[-1] = "sat. rate"
    print(f"| drive | experiment | {' | '.join(heads)} |\n|{'---|' * (len(heads) + 2)}")
    drives = sorted(path.name for path in Path(folders[0].split("=", 1)[1]).glob("*.json"))
    for drive in drives:
        for folder in folders:
            name, place = folder.split("=", 1)
            path = Path(place) / drive
            score = of_load(str(path)) if path.exists() else None
            if score is None:
                continue
            sample = score["rows"][0]["sample"]
            both = {below: distances(score, sample, below) for below in (True, False)}
            cells = [median_of(both[below][number]) for number, below in NUMBERS]
            print(f"| {path.stem} | {name} | {' | '.join(cells)} |")


def pictures(folder: str, paths: list[str]) -> None:
    """Draws the picture of each result that has one."""
    for path in paths:
        name = Path(path).stem
        svg = score_pictures.draw(name, json.loads(Path(path).read_text()))
        if svg:
            Path(folder).mkdir(parents=True, exist_ok=True)
            (Path(folder) / f"{name}.svg").write_text(svg, encoding="utf-8", newline="\n")


if sys.argv[1:2] == ["--compare"]:
    compare(*sys.argv[2:])
elif sys.argv[1:2] == ["--summary"]:
    summary(sys.argv[2:])
elif sys.argv[1:2] == ["--intervals"]:
    intervals(sys.argv[2:])
elif sys.argv[1:2] == ["--experiments"]:
    experiments(sys.argv[2:])
elif sys.argv[1:2] == ["--pictures"]:
    pictures(sys.argv[2], sys.argv[3:])
else:
    for path in sys.argv[1:]:
        result = json.loads(Path(path).read_text())
        print(f"\n### {Path(path).stem}: `{result['drive']}`, scheme {result['scheme']}\n")
        tables(result)
