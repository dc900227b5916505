"""Tests that type checkers and editors know every keyword, and catch a misspelt one."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import fowler
from fowler import _keywords, _settings, optimise
from fowler.source import Source

GOOD = """
from datetime import timedelta
import numpy as np
import fowler
from fowler.config import Buffer
from fowler.units import Size

fowler.run("tlc", "demo", buffer_size="64MiB", read=timedelta(seconds=3e-5), over_provisioning=np.float32(1))
fowler.run("tlc", trace="x.csv", format="msr", remap="modulo", policy_die_order="fifo")
fowler.sweep(device="tlc", workload="demo", axes={"seed": [1]}, out="x", buffer_size=Size("64MiB"))
drive = fowler.device("tlc", seed=3).with_({"timing.read": "30us"}, program_iterations=[12, 15])
microseconds: float = drive.timing.bus_transfer.us
size: int = drive.buffer.size.bytes
Buffer(size="64MiB")
for run in fowler.compare(drive, "demo", schemes=["fifo", "rps"], seeds=3):
    mean: float | None = run.read.mean_us
"""

BAD = """
import fowler
fowler.run("tlc", "demo", bufer_size="64MiB")
fowler.run("tlc", "demo", buffer_size=64)
fowler.compare("tlc", "demo", schemes=["fifo"], over_provisoning=0.28)
fowler.lifetime("tlc", "demo", timing_red="30us")
fowler.sweep(device="tlc", out="x", remapp="modulo")
fowler.device("tlc", sed=3)
fowler.device("tlc").with_(reed="30us")
"""


def checked(text: str, place: Path) -> list[str]:
    (place / "program.py").write_text(text)
    flags = ["--strict", "--no-error-summary", "--follow-imports=silent", "--cache-dir", str(place / "cache")]
    called = [sys.executable, "-m", "mypy", *flags, "program.py"]
    return subprocess.run(called, cwd=place, capture_output=True, text=True, check=False).stdout.splitlines()


# Slow: mypy reads the package and its libraries without a cache.
def test_a_type_checker_catches_a_misspelt_key(tmp_path: Path) -> None:
    assert checked(GOOD, tmp_path) == []
    found = [line for line in checked(BAD, tmp_path) if ": error:" in line]
    assert [line.split(":")[1] for line in found] == [str(at) for at in range(3, 10)], found
    assert 'did you mean "buffer_size"' in found[0]


def test_every_keyword_is_that_of_a_key() -> None:
    """The annotations offer every keyword that works, and no other."""
    named = {name: paths for name, paths in _settings.names().items() if len(paths) == 1}
    offered = set(_keywords.DriveKeys.__annotations__)
    plain = {name.rstrip("_") for name in offered}
    assert set(named) == plain
    assert all(isinstance(_settings.key(name), str) for name in offered)


def test_no_keyword_is_a_parameter() -> None:
    keys = set(_keywords.Keys.__annotations__)
    assert not keys & set(Source.__annotations__)
    runs = (fowler.run, fowler.compare, fowler.lifetime, fowler.sweep)
    for call in (*runs, fowler.Device.with_, optimise.Objective):
        assert not keys & set(inspect.signature(call).parameters), call


def test_presets_are_shown_by_name() -> None:
    every = fowler.presets()
    assert len(repr(every)) < 2000
    assert all(preset.name in repr(every) for preset in every)
    assert every["pes-mlc"].kind == "device"
    assert [*every[:2]] == list(every)[:2]
    assert repr(every["demo"]) == "<Preset workload demo>"
    assert "<td>pes-mlc</td>" in every._repr_html_()
