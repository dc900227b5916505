"""Drives as values."""

from __future__ import annotations

import dataclasses
import subprocess
import sys
import tomllib
from datetime import timedelta
from pathlib import Path

import pytest

import fowler
from fowler import _core
from fowler.units import Time

NAMES = [preset.name for preset in fowler.presets("device")]


@pytest.mark.parametrize("name", NAMES)
def test_a_drive_survives_its_own_text(name: str, tmp_path: Path) -> None:
    drive = fowler.device(name)
    file = tmp_path / "drive.toml"
    file.write_text(drive.toml())
    again = fowler.device(file)
    assert dataclasses.replace(again, name=name) == drive
    assert again.hash == drive.hash == fowler.device(name).hash
    whole = tomllib.loads(_core.resolve(drive._drive([]))[0])
    assert fowler.Device.of(whole) == dataclasses.replace(drive, name="device")


def test_ways_to_name_a_key() -> None:
    drive = fowler.device("pes-mlc")
    ways = [
        drive.with_(read="30us"),
        drive.with_(timing_read="30us"),
        drive.with_({"timing.read": "30us"}),
        drive.with_(read="30000ns"),
        drive.with_(read=timedelta(microseconds=30)),
        drive.with_({"timing.read": Time("0.03ms")}),
    ]
    assert all(way == ways[0] for way in ways)
    assert ways[0].timing.read == "30us"
    assert drive.with_(buffer_size="65536KiB") == drive.with_(buffer_size="64MiB")
    mixed = drive.with_(timing_read=[timedelta(microseconds=30), "60us"])
    assert mixed == drive.with_(timing_read=("30us", "60us"))
    assert dataclasses.replace(drive.timing, read=timedelta(microseconds=30)).read == "30000ns"
    lists = drive.with_(timing_read=("30us", "60us"), die_order="rhio", deadline="100ms")
    assert lists.timing.read == ("30us", "60us")
    assert lists.policy.die_order.name == "rhio"
    assert drive.with_(program_iterations=[12, 15]).timing.program_iterations == (12, 15)


def test_quantities_have_numbers() -> None:
    drive = fowler.device("pes-mlc").with_(read="30us", buffer_size="64MiB", rebuild_rate="500MB/s")
    time, size, rate = drive.timing.read, drive.buffer.size, drive.policy.redundancy.rebuild_rate
    assert time == "30us"
    assert (time.ns, time.us, time.ms, time.s) == (30_000, 30, 0.03, 3e-5)
    assert (size.bytes, size.kib, size.mib, size.gib) == (2**26, 2**16, 64, 1 / 16)
    assert (rate.mb_s, rate.b_s, rate.mib_s) == (500, 5e8, 5e8 / 2**20)
    assert drive.with_(read=time) == drive
    lists = drive.with_(timing_read=("30us", "0.06ms"))
    assert [it.us for it in lists.timing.read] == [30, 60]
    assert dataclasses.replace(drive.buffer, size="1GiB").size.mib == 1024
    with pytest.raises(fowler.InputError, match="no quantity"):
        _ = dataclasses.replace(drive.buffer, size="much").size.bytes


@pytest.mark.parametrize("name", NAMES)
def test_every_quantity_can_be_read(name: str) -> None:
    read = 0
    for path, kind, *_ in _core.keys():
        drive = fowler.device(name)
        for part in path.split("."):
            drive = getattr(drive, part if hasattr(drive, part) else f"{part}_", None)
        for value in drive if isinstance(drive, tuple) else (drive,):
            if kind in ("time", "times", "spans"):
                assert value.s >= 0
            elif kind == "size":
                assert value.bytes >= 0
            elif kind == "rate":
                assert value.b_s >= 0
            else:
                continue
            read += 1
    assert read > 25


def test_a_drive_is_frozen_and_hashes() -> None:
    drive = fowler.device("tlc")
    with pytest.raises(dataclasses.FrozenInstanceError):
        drive.seed = 2  # type: ignore[misc]
    assert len({drive, fowler.device("tlc"), drive.with_(seed=2)}) == 2
    assert "<pre>" in drive._repr_html_()


def test_a_scheme_is_a_set_of_policies() -> None:
    drive = fowler.device("pes-mlc").under("pes_ipc")
    assert drive.policy.suspension.name == "ipc"
    assert (
        fowler.run(drive, "demo", limit=500).read
        == fowler.run("pes-mlc", "demo", scheme="pes_ipc", limit=500).read
    )


def test_config_is_what_the_definitions_say() -> None:
    """Fails if the generated files are not those of the compiled module. Building it updates them."""
    generator = Path(__file__).parents[1] / "generate_config.py"
    checked = subprocess.run([sys.executable, str(generator), "--check"], check=False)
    assert checked.returncode == 0, "python/fowler/config.py is out of date: run `. python/environment`"


def test_presets() -> None:
    kinds = {preset.kind for preset in fowler.presets()}
    assert kinds == {"device", "workload", "scheme"}
    tlc = next(preset for preset in fowler.presets("device") if preset.name == "tlc")
    assert tlc.about
    assert "[geometry]" in tlc.text
