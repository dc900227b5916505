"""fio-plot draws every one of its charts from what `fowler fio` writes."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

FIO_PLOT = Path(sys.executable).with_name("fio-plot")

JOB = """[global]
direct=1
ioengine=libaio
group_reporting=1
time_based
runtime=100ms
bs=4k
size=32m
rw={rw}
iodepth={depth}
numjobs={jobs}
log_avg_msec=10
write_bw_log={name}
write_lat_log={name}
write_iops_log={name}
[job]
"""

DRIVE = ["--device=tlc", "--set=geometry.channels=2", "--set=geometry.blocks_per_plane=64"]

# The flags of fio-plot for each kind of chart, and for each of its tables.
CHARTS = {
    "bars over depths and jobs": "-L -t iops -r randread",
    "bars over depths and jobs, latencies": "-L -t lat -r randread",
    "bars over depths": "-l -n 1 -r randread --show-data",
    "bars over depths, reads": "-l -n 2 -r randrw -f read",
    "bars over depths, writes": "-l -n 2 -r randrw -f write --group-bars",
    "bars over depths, processors": "-l -n 1 -r randread --show-cpu",
    "bars over depths, steady states": "-l -n 1 -r randread --show-ss",
    "bars over jobs": "-N -d 4 -r randread",
    "latencies": "-H -d 4 -n 1 -r randread",
    "latencies, writes": "-H -d 4 -n 2 -r randrw -f write",
    # This chart has three axes: five types at once are an error of fio-plot, with fio's files, too.
    "logs": "-g -t bw iops lat -d 1 4 -n 2 -r randrw -f read write",
    "logs, parts of latencies": "-g -t slat clat -d 4 -n 1 -r randrw",
    "two runs": "-C -d 4 -n 1 -r randread",
}


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """Two folders of results, with file names as bench-fio gives them."""
    folders = [tmp_path_factory.mktemp(name) for name in ("first", "second")]
    for seed, folder in enumerate(folders):
        for rw, depth, jobs in [(rw, d, j) for rw in ("randread", "randrw") for d in (1, 4) for j in (1, 2)]:
            name = f"{rw}-iodepth-{depth}-numjobs-{jobs}"
            (folder / "job").write_text(JOB.format(rw=rw, depth=depth, jobs=jobs, name=name))
            command = [sys.executable, "-m", "fowler", "fio", "job", *DRIVE, f"--seed={seed + 1}"]
            done = subprocess.run(
                [*command, "--output-format=json"], check=True, capture_output=True, text=True, cwd=folder
            )
            assert json.loads(done.stdout)["jobs"][0]["read"]["total_ios"] > 0
            (folder / f"{rw}-{depth}-{jobs}.json").write_text(done.stdout)
        (folder / "job").unlink()
    return folders


# Slow: fio-plot starts anew for each chart; the first also runs the jobs that all charts show.
@pytest.mark.parametrize("chart", CHARTS)
def test_fio_plot_draws(chart: str, measured: list[Path], tmp_path: Path) -> None:
    folders = measured if chart == "two runs" else measured[:1]
    drawn = tmp_path / "chart.png"
    command = [FIO_PLOT, "-T", chart, "-o", drawn, "-i", *folders, *CHARTS[chart].split()]
    done = subprocess.run(
        command,
        check=False,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "MPLBACKEND": "Agg", "MPLCONFIGDIR": str(tmp_path)},
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert drawn.read_bytes().startswith(b"\x89PNG"), said
    complaints = [line for line in said.splitlines() if line.strip() and "Saving to file" not in line]
    # The jobs ask for no steady state.
    complaints = [line for line in complaints if "No steadystate data" not in line]
    assert not complaints
