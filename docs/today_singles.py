"""Measures what sentences of docs/today.md say beside the tables of the study of today's drives.

    python3 docs/today_singles.py FOWLER FOLDER TRACES

runs FOWLER with the drives, the ages and the workloads of presets/studies/today.toml, under the study's five
seeds, and saves every result in FOLDER as JSON. A run whose result is in FOLDER is not run again. TRACES is
the folder of the real excerpts. Each line that is printed has means over the seeds and, behind ±, half the
95 % confidence interval.
"""

from __future__ import annotations

import hashlib
import json
import statistics
import subprocess
import sys
import tomllib
from pathlib import Path
from typing import Any

Json = dict[str, Any]

STUDY = tomllib.loads(
    (Path(__file__).resolve().parent.parent / "presets" / "studies" / "today.toml").read_text()
)
DRIVES = ["nvme-pm9a3", "nvme-7450", "nvme-p5520", "nvme-pe8110"]
SEEDS = [1, 101, 102, 103, 104]
# Student's t for five seeds at 95 %.
T = 2.776
NONE = [setting for factor in STUDY["factor"] for setting in factor.get("without", [])]
SUSPENDS = [setting for setting in NONE if not setting.startswith("policy.suspension")]
# The worst case, RHIO's model, the model of a controller that knows more, and retries.
SENSING = [
    ["policy.sensing=worst_case"],
    ["policy.sensing=model", 'policy.sensing.inputs=["age"]'],
    ["policy.sensing=model", 'policy.sensing.inputs=["age", "wear", "strength"]'],
    ["policy.sensing=retry"],
]
# Share of the page reads, those of GC included, that no sensing level corrects.
FAILED = "share of reads that fail"
LAZY = ["buffer.eviction=lazy"]
ERASED = "gc.foreground_below={0}", "gc.background_below={0}"
HIRE = ['policy.hotness=["buffer_hits"]', "policy.placement=streams", "policy.voltage=by_hotness"]


class Singles:
    """Runs of one program, saved in one folder."""

    def __init__(self, fowler: str, folder: Path, traces: Path) -> None:
        """Makes the folder of the results."""
        self.fowler, self.folder, self.traces = fowler, folder, traces
        folder.mkdir(parents=True, exist_ok=True)

    def workload(self, name: str) -> list[str]:
        """Returns the flags for a workload of the study, at the study's speed."""
        known = next(it for it in STUDY["workload"] if it["name"] == name.removesuffix(" real"))
        replay = next(it for it in STUDY["replay"] if it["workload"] == name)
        speed = ["--speed", f"{replay['speed']}"] if "speed" in replay else []
        if name.endswith(" real"):
            real = known["real"][0]
            path = next(it for it in sorted(self.traces.iterdir()) if it.name.startswith(real["begins"]))
            reading = ["--format", real["format"]] if "format" in real else []
            return ["--trace", str(path), *reading, "--remap", "compact", *speed]
        if "stand_in" in known:
            return ["--workload", known["stand_in"], *speed]
        path = self.folder / f"{name.replace(' ', '-')}.toml"
        path.write_text(known["text"])
        return ["--workload", str(path), *speed]

    def run(self, drive: str, age: str, workload: str, settings: list[str], seed: int) -> Json:
        """Returns the summary of one run."""
        of_drive = next(it for it in STUDY["drive"] if it["name"] == drive)["set"]
        of_age = next(it for it in STUDY["age"] if it["name"] == age)["set"]
        chosen: dict[str, str] = {}
        for setting in [*STUDY["set"], *of_drive, *of_age, *settings]:
            key, value = setting.split("=", 1)
            chosen[key] = value
        flags = [flag for key, value in chosen.items() for flag in ("--set", f"{key}={value}")]
        command = [self.fowler, "run", "--device", drive, *self.workload(workload), *flags]
        command += ["--limit", str(STUDY["requests"]), "--seed", str(seed), "--json", "--quiet"]
        digest = hashlib.sha256(" ".join(command[1:]).encode()).hexdigest()
        path = self.folder / f"{drive}-{digest[:24]}.json"
        if not path.exists():
            done = subprocess.run(command, capture_output=True, text=True, check=False)
            if done.returncode:
                sys.exit(f"{' '.join(command)}\n{done.stderr}")
            path.write_text(done.stdout)
        found: Json = json.loads(path.read_text())
        return found

    def values(self, at: tuple[str, str, str], settings: list[str], metric: str) -> list[float]:
        """Returns a metric of the runs of a drive, an age and a workload under each seed."""
        drive, age, workload = at
        values = []
        for seed in SEEDS:
            value: Any = self.run(drive, age, workload, settings, seed)
            if metric == FAILED:
                counters = value["counters"]
                values.append(counters["uncorrectable_reads"] / sum(counters["reads"].values()))
                continue
            for part in metric.split("."):
                value = value[part]
            values.append(float(value))
        return values

    def show(self, at: tuple[str, str, str], what: str, settings: list[str], metric: str) -> None:
        """Prints a metric as mean over the seeds, with its interval."""
        print(f"{' '.join(at)}, {what}: {metric} {interval(self.values(at, settings, metric))}", flush=True)

    def change(
        self, at: tuple[str, str, str], what: str, pair: tuple[list[str], list[str]], metric: str
    ) -> None:
        """Prints by how many percent a metric changes from one list of settings to another."""
        before, after = (self.values(at, settings, metric) for settings in pair)
        changes = [(b / a - 1) * 100 for a, b in zip(before, after, strict=True)]
        print(f"{' '.join(at)}, {what}: {metric} {interval(changes)} %", flush=True)


def interval(values: list[float]) -> str:
    """Returns the mean of values with half its 95 % confidence interval."""
    half = T * statistics.stdev(values) / len(values) ** 0.5
    return f"{statistics.mean(values):.4g} ± {half:.2g}"


def erased(superblocks: int) -> list[str]:
    """Returns the settings of a drive that keeps so many superblocks erased."""
    return [setting.format(superblocks) for setting in ERASED]


def main() -> None:
    """Runs what the sentences say, in their order on the page."""
    its = Singles(sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]))
    read, tail, write = "read.mean_us", "read.p99_us", "write.mean_us"
    step = ['policy.hotness=["request_size"]', "policy.placement=streams", "policy.step=by_strength"]
    for drive in DRIVES:
        at = (drive, "old", "1 DWPD")
        its.change(at, "RHIO's step alone, no suspension", (NONE, [*NONE, *step]), read)
    for references, age in [("tracked", "old"), ("fixed", "middle"), ("fixed", "old")]:
        at = ("nvme-pm9a3", age, "1 DWPD")
        described = [*SUSPENDS, f"reliability.references={references}"]
        for sensing in SENSING:
            settings = [*described, *sensing]
            its.show(at, f"{references} references, {' '.join(sensing)}", settings, read)
            its.show(at, f"{references} references, {' '.join(sensing)}", settings, FAILED)
    for workload in ("F1", "TPCC", "1 DWPD"):
        at = ("nvme-pm9a3", "old", workload)
        flash = "flash_bytes_per_host_byte"
        its.change(at, "a lazy buffer", (NONE, [*NONE, *LAZY]), flash)
        its.change(at, "a lazy buffer and 12 erased", (NONE, [*NONE, *LAZY, *erased(12)]), flash)
        its.change(at, "HIRE", (NONE, [*NONE, *LAZY, *erased(12), *HIRE]), flash)
    for superblocks in (5, 6, 7, 8, 12):
        at = ("nvme-pm9a3", "old", "TPCC")
        settings = [*NONE, *LAZY, *HIRE, *erased(superblocks)]
        its.show(at, f"HIRE with {superblocks} erased", settings, write)
        its.show(at, f"HIRE with {superblocks} erased", settings, tail)


if __name__ == "__main__":
    main()
