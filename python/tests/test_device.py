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
    its = fowler.device(name)
    file = tmp_path / "drive.toml"
    file.write_text(its.toml())
    again = fowler.device(file)
    assert dataclasses.replace(again, name=name) == its
    assert again.hash == its.hash == fowler.device(name).hash
    whole = tomllib.loads(_core.resolve(its._drive([]))[0])
    assert fowler.Device.of(whole) == dataclasses.replace(its, name="device")


def test_ways_to_name_a_key() -> None:
    its = fowler.device("pes-mlc")
    ways = [
        its.with_(read="30us"),
        its.with_(timing_read="30us"),
        its.with_({"timing.read": "30us"}),
        its.with_(read="30000ns"),
        its.with_(read=timedelta(microseconds=30)),
        its.with_({"timing.read": Time("0.03ms")}),
    ]
    assert all(way == ways[0] for way in ways)
    assert ways[0].timing.read == "30us"
    assert its.with_(buffer_size="65536KiB") == its.with_(buffer_size="64MiB")
    mixed = its.with_(timing_read=[timedelta(microseconds=30), "60us"])
    assert mixed == its.with_(timing_read=("30us", "60us"))
    assert dataclasses.replace(its.timing, read=timedelta(microseconds=30)).read == "30000ns"
    lists = its.with_(timing_read=("30us", "60us"), die_order="rhio", deadline="100ms")
    assert lists.timing.read == ("30us", "60us")
    assert lists.policy.die_order.name == "rhio"
    assert its.with_(program_iterations=[12, 15]).timing.program_iterations == (12, 15)


def test_quantities_have_numbers() -> None:
    its = fowler.device("pes-mlc").with_(read="30us", buffer_size="64MiB", rebuild_rate="500MB/s")
    time, size, rate = its.timing.read, its.buffer.size, its.policy.redundancy.rebuild_rate
    assert time == "30us"
    assert (time.ns, time.us, time.ms, time.s) == (30_000, 30, 0.03, 3e-5)
    assert (size.bytes, size.kib, size.mib, size.gib) == (2**26, 2**16, 64, 1 / 16)
    assert (rate.mb_s, rate.b_s, rate.mib_s) == (500, 5e8, 5e8 / 2**20)
    assert its.with_(read=time) == its
    lists = its.with_(timing_read=("30us", "0.06ms"))
    assert [it.us for it in lists.timing.read] == [30, 60]
    assert dataclasses.replace(its.buffer, size="1GiB").size.mib == 1024
    with pytest.raises(fowler.InputError, match="no quantity"):
        _ = dataclasses.replace(its.buffer, size="much").size.bytes


@pytest.mark.parametrize("name", NAMES)
def test_every_quantity_can_be_read(name: str) -> None:
    read = 0
    for path, kind, *_ in _core.keys():
        its = fowler.device(name)
        for part in path.split("."):
            its = getattr(its, part if hasattr(its, part) else f"{part}_", None)
        for value in its if isinstance(its, tuple) else (its,):
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
    its = fowler.device("tlc")
    with pytest.raises(dataclasses.FrozenInstanceError):
        its.seed = 2  # type: ignore[misc]
    assert len({its, fowler.device("tlc"), its.with_(seed=2)}) == 2
    assert "<pre>" in its._repr_html_()


def test_a_scheme_is_a_set_of_policies() -> None:
    its = fowler.device("pes-mlc").under("pes_ipc")
    assert its.policy.suspension.name == "ipc"
    assert (
        fowler.run(its, "demo", limit=500).read
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
