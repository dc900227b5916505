"""Functions that answer as commands do: the same object, the same problems."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import fowler

SMALL = ["--set", "geometry.blocks_per_plane=64", "--set", "gc.background_below=8"]
KEYS = {"geometry.blocks_per_plane": 64, "gc.background_below": 8}
QUICK_TEST = ["--test", "iops", "--minute", "5ms", "--threads", "1", "--queue-depth", "2", "--json"]
SMART = '{"data_units_written": 64663716, "power_on_hours": 742, "percent_used": 3}'
JOB = "[job]\nrw=randread\nbs=4k\nsize=16m\nnumber_ios=200\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a trace and a job file."""
    lines = [
        f"{number * 50_000},{'read' if number % 3 else 'write'},{number % 64 * 4096},4096"
        for number in range(600)
    ]
    (tmp_path / "trace.csv").write_text("at_ns,op,offset,size\n" + "\n".join(lines) + "\n")
    (tmp_path / "job.fio").write_text(JOB)
    (tmp_path / "smart.json").write_text(SMART)
    return tmp_path


def command(*arguments: str) -> Any:
    """Returns the JSON that a command prints."""
    called = [sys.executable, "-m", "fowler", *arguments]
    done = subprocess.run(called, check=False, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def without_times(answer: Any) -> Any:
    """Returns the object without dates and run times, which differ from run to run."""
    gone = {metric.name for metric in fowler.metrics() if metric.stored == "run"} | {
        "timestamp",
        "timestamp_ms",
        "time",
    }
    if isinstance(answer, dict):
        return {name: without_times(inner) for name, inner in answer.items() if name not in gone}
    return [without_times(inner) for inner in answer] if isinstance(answer, list) else answer


def test_the_objects_are_those_of_the_commands(place: Path) -> None:
    trace, job, smart = (str(place / name) for name in ("trace.csv", "job.fio", "smart.json"))
    quick = ["--device", "pes-mlc", *SMALL, "--quiet"]
    drive = {"device": "pes-mlc", "set": KEYS}
    load = ["--workload", "demo", "--limit", "500"]
    for mine, printed in [
        (fowler.trace_info(trace), command("trace", "info", trace, "--json")),
        (
            fowler.explain("pes-mlc", "demo", limit=500, slowest=2, scheme="rps", set=KEYS),
            command("explain", *quick, *load, "--slowest", "2", "--scheme", "rps", "--json"),
        ),
        (fowler.fio(job, **drive), command("fio", job, *quick, "--output-format", "json+")),
        (
            fowler.endurance(smart=smart, tbw="600TB"),
            command("endurance", "--smart", smart, "--tbw", "600", "--json"),
        ),
        (fowler.endurance(**drive), command("endurance", *quick, "--json")),
        (
            fowler.pts(["iops"], minute="5ms", threads=1, queue_depth=2, **drive),
            command("pts", *QUICK_TEST, *quick),
        ),
    ]:
        assert without_times(mine) == without_times(printed)


def test_a_trace_is_asked_about(place: Path) -> None:
    answer = fowler.ask(place / "trace.csv", device="pes-mlc", seeds=2, set=KEYS, out=place / "out")
    assert (place / "out" / "report.html").exists()
    assert len(answer["answers"]) == 4
    printed = command(
        "ask", str(place / "trace.csv"), "--device", "pes-mlc", "--seeds", "2", *SMALL, "--json", "--quiet"
    )
    assert answer == printed


def test_two_results_are_compared(place: Path) -> None:
    for scheme in ("fifo", "rps"):
        out = str(place / scheme)
        called = [sys.executable, "-m", "fowler", "run", "--device", "pes-mlc", "--workload", "demo", *SMALL]
        called += ["--limit", "300", "--quiet", "--scheme", scheme, "--out", out]
        subprocess.run(called, check=True, capture_output=True)
    both = str(place / "fifo"), str(place / "rps")
    assert fowler.diff(*both) == command("diff", *both, "--json")


def test_a_drive_of_python_is_written_down_for_the_command() -> None:
    drive = fowler.device("pes-mlc").with_(KEYS)
    told = fowler.explain(drive, "demo", limit=300, slowest=1)
    assert told["run"]["config_hash"] == drive.hash


def test_what_is_wrong_is_raised_all_together(place: Path) -> None:
    with pytest.raises(fowler.InputError) as raised:
        fowler.explain("pes-mlk", "demmo", slowest=1)
    text = str(raised.value)
    assert "pes-mlk" in text
    assert "demmo" in text
    with pytest.raises(fowler.InputError, match="blocks_per_plan"):
        fowler.endurance("pes-mlc", blocks_per_plan=64)
    with pytest.raises(fowler.InputError, match=r"nothing\.csv"):
        fowler.trace_info(place / "nothing.csv")
    with pytest.raises(fowler.InputError, match="unknown unit"):
        fowler.pts(minute="5 parsecs")
