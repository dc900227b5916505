"""Fleets of drives from Python: the numbers of the command, as tables, intervals and plots."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars
import pytest

import fowler
from fowler import _core

DRIVE: dict[str, Any] = {
    "set": {
        "geometry.channels": 1,
        "geometry.chips_per_channel": 1,
        "geometry.dies_per_chip": 1,
        "geometry.blocks_per_plane": 64,
        "lifetime.cycles": 400,
    },
    "scheme": "nt",
    "years": 20 / 365,
    "dilation": 4,
    "check": False,
}
LOAD = """duration = '1h'
arrivals = { kind = 'poisson', rate = 5.0 }
mix.reads = 0.0
space.share = 0.8
writes.sizes = '4KiB 3, 16KiB 1'
"""


@pytest.fixture(scope="module")
def load(tmp_path_factory: pytest.TempPathFactory) -> Path:
    (file := tmp_path_factory.mktemp("fleets") / "load.toml").write_text(LOAD)
    return file


@pytest.fixture(scope="module")
def life(load: Path) -> fowler.Lifetime:
    return fowler.lifetime("ready-32", load, drives=2_000, fleet={"early_share": 0.2}, **DRIVE)


def test_a_fleet_is_that_of_the_command(life: fowler.Lifetime, load: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    line = ["lifetime", "--quiet", "--device", "ready-32", "--workload", str(load), "--scheme", "nt"]
    line += ["--years", repr(DRIVE["years"]), "--dilation", "4", "--no-check", "--out", str(out)]
    line += ["--drives", "2000", "--early-share", "0.2"]
    for key, value in DRIVE["set"].items():
        line += ["--set", f"{key}={value}"]
    assert _core.main(["fowler", *line]) == 0
    written = json.loads((out / "summary.json").read_text())
    fleet = life.fleet
    assert fleet is not None
    assert fleet.summary == written["fleet"]
    files = {file.name for file in life.write(tmp_path / "own")}
    assert {"drives.csv", "drives.parquet", "survival.svg"} <= files
    for name in files - {"report.html"}:
        assert (tmp_path / "own" / name).read_bytes() == (out / name).read_bytes(), name
    drives = polars.read_parquet(out / "drives.parquet")
    assert drives.equals(polars.DataFrame(fleet.drives))
    listed = polars.read_csv(out / "drives.csv", schema=drives.schema)
    assert drives.equals(listed)


def test_numbers_of_a_fleet_agree_with_its_drives(life: fowler.Lifetime) -> None:
    fleet = life.fleet
    assert fleet is not None
    drives = polars.DataFrame(fleet.drives)
    assert len(drives) == len(fleet) == 2_000
    assert set(drives["cause"]) == {"early", "worn"}
    for share in (0.01, 0.5, 0.9):
        for quantile, column in ((fleet.years(share), "years"), (fleet.tbw(share), "tbw")):
            assert quantile.low <= quantile.value <= quantile.high
            assert quantile.value == sorted(drives[column])[int(share * 2_000)]
    last = fleet.survival[len(fleet.survival) - 1]
    assert last["low"] <= last["alive"] <= last["high"]
    assert last["alive"] == (drives["years"] > last["years"]).sum() / 2_000
    assert sum(fleet.by_year["replaced"]) == fleet.replaced <= fleet.spares
    assert fleet.rate.value * 2_000 * fleet.summary["years"] == pytest.approx(fleet.replaced)
    assert "2,000 drives" in repr(fleet)
    assert repr(fleet.rate).startswith("Bounds(")
    assert "spare drives" in life._repr_html_()
    assert fleet.plot().axes[0].lines


def test_a_life_without_a_fleet_has_none(load: Path) -> None:
    alone = fowler.lifetime("ready-32", load, **DRIVE)
    assert alone.fleet is None
    assert "spare drives" not in alone._repr_html_()


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"drives": 0}, "drives"),
        ({"drives": 1_000_001}, "drives"),
        ({"drives": "ten"}, "drives"),
        ({"drives": 9, "fleet": {"load_spread": None}}, "load_spread"),
        ({"drives": 9, "fleet": {"early_share": 0.9, "confidence": 1.0}}, "confidence"),
        ({"drives": 9, "fleet": {"worn_blocks": "x", "early_shape": [1]}}, "early_shape"),
        ({"drives": 9, "fleet": {"early_shar": 0.1}}, "did you mean `early_share`"),
        ({"drives": 9, "fleet": 0.1}, "a dictionary"),
        ({"fleet": {"early_share": 0.1}}, "no fleet without"),
        ({"drives": 9, "scheme": "st"}, "policy.throttle"),
        ({"driwes": 9}, "did you mean"),
    ],
)
def test_what_is_wrong_with_a_fleet_is_said(load: Path, more: dict[str, Any], says: str) -> None:
    with pytest.raises(fowler.InputError, match=says):
        fowler.lifetime("ready-32", load, **{**DRIVE, **more})


@pytest.mark.parametrize("call", [lambda it: it.years(0), lambda it: it.tbw(1), lambda it: it.years("x")])
def test_a_share_is_a_share(life: fowler.Lifetime, call: Callable[[Any], object]) -> None:
    with pytest.raises(fowler.InputError, match="share"):
        call(life.fleet)


def test_a_fleet_is_the_same_from_its_checkpoint(load: Path, life: fowler.Lifetime, tmp_path: Path) -> None:
    again = fowler.lifetime(
        "ready-32",
        load,
        drives=2_000,
        fleet={"early_share": 0.2},
        checkpoint=tmp_path / "life",
        **DRIVE,
    )
    assert again.summary == life.summary
    assert list(tmp_path.iterdir()) == []
