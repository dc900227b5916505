"""Measures how long the fitted data-center drives live: the tables of docs/today.md, "Years".

    python3 docs/years.py FOWLER FOLDER TRACES

runs FOWLER and saves every result in FOLDER as JSON. A command whose result is in FOLDER is not run again.
TRACES is the folder of the real excerpts. Three questions: what the cells bear under each excerpt, repeated
(`fowler ask`); under the enterprise workload of JESD219 (`fowler endurance`); and what five years let through
with a throttle and without one, if 1 and 3 drive writes a day are asked for (`fowler lifetime`).
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

Json = dict[str, Any]

DRIVES = ["nvme-pm9a3", "nvme-7450", "nvme-p5520", "nvme-pe8110"]
YEARS = 5
LONG_YEARS = 100
# Share of worn blocks at which a drive is replaced, and share of blocks that fail for good within 3,000
# cycles: both assumed, and swept one beside the other.
WORN_BLOCKS = [0.005, 0.02, 0.1]
WORN = 0.02
BAD_BLOCKS = [0.005, 0.02, 0.05]
# Parts lost with a bad block: its die's part of the superblock, or (at the lowest rate) the superblock.
BAD = [(0.0, "block"), *((share, "block") for share in BAD_BLOCKS), (BAD_BLOCKS[0], "superblock")]
# Ages of a fleet that are shown, in years.
SHOWN = [1, 2, 3, 5, 7, 10]
EXCERPTS = {
    "Financial1": ["Financial1.first50k.flashsim.trace.zst"],
    "TPC-C": ["TPCC.w2k8.small.mqsim.trace.zst"],
    "DTRS": ["DTRS.5min.ssdsim.trace.zst", "--format", "ssdsim-us"],
    "MSR hm_0": ["MSR.cut10k.rw_20_80.105.trace.zst"],
    "YCSB": ["YCSB-RocksDB.ssdtrace.sample10k.blkparse.zst"],
    "Tencent": ["TencentCBS.first50k.csv.zst"],
}
# Self-recovery of cells is left out, as in the study: nothing published says how cells of three bits recover.
CELLS = ["lifetime.recovery=table", 'lifetime.table.idle=["1ns"]', "lifetime.table.cycles=[3000.0]"]
SETS = [flag for setting in CELLS for flag in ("--set", setting)]
# Sizes of JESD219's enterprise workload, in sectors of 512 bytes, with their weights. 40 % are reads.
SIZES = {1: 4, 2: 1, 3: 1, 4: 1, 5: 1, 6: 1, 7: 1, 8: 67, 16: 10, 32: 7, 64: 3, 128: 3}
MEAN_BYTES = sum(512 * sectors * weight for sectors, weight in SIZES.items()) / sum(SIZES.values())


def found_or_run(folder: Path, name: str, command: list[str]) -> Json:
    """Returns the JSON of a command, from the folder if the command has been run."""
    path = folder / f"{name}.json"
    if not path.exists():
        print(f"{name}: {' '.join(command)}", file=sys.stderr, flush=True)
        done = subprocess.run([*command, "--json", "--quiet"], capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"{name}: {done.stderr}")
        path.write_text(done.stdout)
    found: Json = json.loads(path.read_text())
    return found


def asked(fowler: str, folder: Path, traces: Path, excerpt: str, drive: str) -> str:
    """Returns drive writes a day over five years under an excerpt, WAF, and years of the real drive."""
    trace, *reading = EXCERPTS[excerpt]
    command = [fowler, "ask", str(traces / trace), *reading, "--device", drive, "--seeds", "1", *SETS]
    found = found_or_run(folder, f"ask-{drive}-{excerpt.replace(' ', '-')}", command)
    numbers = {key: value for answer in found["answers"] for key, value in answer["numbers"].items()}
    if "rated_years" not in numbers:
        return "-"
    borne = numbers["drive_writes_per_day"] * numbers["rated_years"] / YEARS
    years = numbers["real_drive_rated_years"]
    return f"{borne:.2f}, {numbers['waf']:.2f}, {'> 100' if years > LONG_YEARS else f'{years:.2g}'}"


def standard(fowler: str, folder: Path, drive: str) -> Json:
    """Returns the numbers of the endurance test."""
    return found_or_run(folder, f"endurance-{drive}", [fowler, "endurance", "--device", drive])


def capacity_of(fowler: str, drive: str) -> int:
    """Returns the logical capacity of a drive in bytes."""
    command = [fowler, "run", "--device", drive, "--workload", "demo", "--dry-run"]
    rows = subprocess.run(command, capture_output=True, text=True, check=True).stdout.splitlines()
    pages = next(row for row in rows if "as described" in row).split("|")[3]
    return int(pages.replace(",", "")) * 4096


def workload(folder: Path, drive: str, capacity: int, times: float) -> Path:
    """Writes the workload that asks for so many drive writes a day, and returns its file."""
    rate = times * capacity / 86_400 / MEAN_BYTES / 0.6
    sizes = ", ".join(f"{512 * sectors}B {weight}" for sectors, weight in SIZES.items())
    path = folder / f"{drive}-{times:g}.toml"
    path.write_text(
        f'requests = 3_000_000\narrivals = {{ kind = "poisson", rate = {rate:.3f} }}\nmix.reads = 0.4\n'
        f'space.alignment = "4KiB"\nreads.sizes = "{sizes}"\nwrites.sizes = "{sizes}"\n'
    )
    return path


def lived(fowler: str, folder: Path, drive: str, times: float, scheme: str | None) -> Json:
    """Returns the life of a drive of which so many drive writes a day are asked, under a scheme."""
    file = workload(folder, drive, capacity_of(fowler, drive), times)
    command = [
        fowler,
        "lifetime",
        "--device",
        drive,
        "--workload",
        str(file),
        "--years",
        str(YEARS),
        "--no-check",
    ]
    command += SETS if scheme is None else [*SETS, "--scheme", scheme]
    return found_or_run(folder, f"life-{drive}-{times:g}-{scheme or 'none'}", command)


def fleet(fowler: str, folder: Path, drive: str, worn_blocks: float, bad: tuple[float, str] = BAD[0]) -> Json:
    """Returns the fates of 1,000 drives in ten years at 0.3 drive writes a day on average.

    They are replaced when more than a share of their blocks is worn, and when those that have failed for
    good, a share of all within 3,000 cycles [assumed], have used up the spare. `bad` is that share, and what
    goes out of service with a bad block.
    """
    file = workload(folder, drive, capacity_of(fowler, drive), 0.3)
    command = [fowler, "lifetime", "--device", drive, "--workload", str(file), "--years", "10", "--no-check"]
    command += [*SETS, "--drives", "1000", "--worn-blocks", f"{worn_blocks}"]
    name, (share, retire) = f"fleet-{drive}-{worn_blocks:g}", bad
    if share:
        settings = [f"bad_blocks.share={share}", "lifetime.cycles=3000", f"superblocks.retire={retire}"]
        command += [flag for setting in settings for flag in ("--set", setting)]
        name += f"-bad-{share:g}-{retire}"
    return found_or_run(folder, name, command)


def alive(fates: Json) -> list[str]:
    """Returns the drives of 1,000 that are alive at the ages that are shown."""
    counts = {round(at["years"], 2): f"{1000 * at['alive']:.0f}" for at in fates["fleet"]["survival"]}
    return [counts[year] for year in SHOWN]


def main() -> None:
    """Prints what the cells bear under each excerpt, lives, and the standard's numbers as JSON."""
    fowler, folder, traces = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    folder.mkdir(parents=True, exist_ok=True)
    print(f"| excerpt | {' | '.join(DRIVES)} |")
    for excerpt in EXCERPTS:
        cells = [asked(fowler, folder, traces, excerpt, drive) for drive in DRIVES]
        print(f"| {excerpt} | " + " | ".join(cells) + " |", flush=True)
    print(
        "| drive, drive writes a day asked for, scheme | years | drive writes a day | delay of a page, ms |"
    )
    for times, scheme in ((1.0, None), (1.0, "ready_opt"), (3.0, "ready_opt")):
        for drive in DRIVES:
            life = lived(fowler, folder, drive, times, scheme)["lives"][0]
            written = life["host_mb_s"] * 1e6 * 86_400 / capacity_of(fowler, drive)
            years, delay = life["effective_lifetime_years"], life["delay_mean_us"] / 1e3
            name = f"{drive}, {times:g}, {scheme or 'as described'}"
            print(f"| {name} | {years:.2f} | {written:.2f} | {delay:.2f} |", flush=True)
    ages = " | ".join(f"after {year} years" for year in SHOWN)
    print(f"| replaced at | {ages} |")
    for drive in DRIVES:
        for worn_blocks in WORN_BLOCKS:
            row = alive(fleet(fowler, folder, drive, worn_blocks))
            print(f"| {drive}, {worn_blocks:.1%} | " + " | ".join(row) + " |", flush=True)
    print(
        f"| bad blocks at 3,000 cycles [assumed], what goes with one; replaced at {WORN:.0%} worn | {ages} "
        "| spare used up | beyond the simulated loss |"
    )
    for drive in DRIVES:
        for bad in BAD:
            fates = fleet(fowler, folder, drive, WORN, bad)
            shares = [fates["fleet"].get(key) for key in ("spare_used_up", "beyond_simulated_loss")]
            row = [*alive(fates), *("-" if share is None else f"{share:.1%}" for share in shares)]
            print(f"| {drive}, {bad[0]:.1%}, {bad[1]} | " + " | ".join(row) + " |", flush=True)
    for drive in DRIVES:
        print(json.dumps(standard(fowler, folder, drive)), flush=True)


if __name__ == "__main__":
    main()
