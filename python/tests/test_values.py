"""Tests that what users pass without thinking works, and that what cannot work is refused by its name."""

from __future__ import annotations

import errno
import functools
import os
import subprocess
import sys
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyarrow import feather

import fowler
from fowler import _requests

COUNT = 400
ROWS: dict[str, Any] = {
    "at_ns": np.arange(COUNT, dtype=np.int64) * 50_000,
    "op": np.where(np.arange(COUNT) % 3 == 0, "write", "read"),
    "offset": (np.arange(COUNT) * 7 % 300) * 4096,
    "size": np.full(COUNT, 4096, dtype=np.uint32),
}


@pytest.fixture(scope="module")
def expected(small: fowler.Device) -> fowler.Run:
    return fowler.run(small, pa.table(ROWS))


def test_scalars_of_numpy_are_numbers() -> None:
    plain = fowler.device("pes-mlc").with_(
        timing_read="30us", evict_ahead=8, over_provisioning=0.25, cache_reads=True
    )
    numpy = fowler.device("pes-mlc").with_(
        timing_read=np.timedelta64(30, "us"),
        evict_ahead=np.int32(8),
        over_provisioning=np.float64(0.25),
        cache_reads=np.bool_(True),
    )
    flat = fowler.device("pes-mlc").with_(
        timing_read=np.timedelta64(30_000, "ns"),
        evict_ahead=np.array(8),
        over_provisioning=np.array(0.25),
        cache_reads=np.array(True),
    )
    assert plain == numpy == flat
    lists = fowler.device("pes-mlc").with_(program_iterations=np.array([12, 15]))
    assert lists.timing.program_iterations == (12, 15)
    assert fowler.device("pes-mlc").with_(over_provisioning=np.float32(0.25)) == fowler.device(
        "pes-mlc"
    ).with_(over_provisioning=0.25)


def test_arguments_may_be_scalars_of_numpy(small: fowler.Device, tmp_path: Path) -> None:
    one = fowler.run(small, "demo", limit=300, seed=3, speed=2.0)
    other = fowler.run(small, "demo", limit=np.int64(300), seed=np.array(3), speed=np.float32(2))
    assert one.read == other.read
    (drive := tmp_path / "small.toml").write_text(small.toml())
    swept = fowler.sweep(
        device=drive,
        workload="demo",
        limit=np.int64(200),
        axes={"over_provisioning": np.array([0.25, 0.3]), "seed": [np.array(1)], "buffer.size": ["1MiB"]},
        out=tmp_path / "out",
        progress=False,
    )
    assert swept.column("axis.geometry.over_provisioning") == [0.25, 0.3]


def test_paths_are_paths(small: fowler.Device, tmp_path: Path) -> None:
    (drive := tmp_path / "small.toml").write_text(small.toml())
    texts = {preset.name: preset.text for preset in fowler.presets()}
    (load := tmp_path / "load.toml").write_text(texts["demo"])
    (scheme := tmp_path / "mine.toml").write_text(texts["rps"])
    log = tmp_path / "requests.csv"
    preset = fowler.run(drive, load, scheme=scheme, limit=100, requests_file=log)
    assert preset.read == fowler.run(small, "demo", scheme="rps", limit=100).read
    assert log.exists()
    both = fowler.compare(drive, load, schemes=["fifo", scheme], limit=100)
    assert both.schemes == ["fifo", str(scheme)]


@pytest.mark.parametrize(
    "hand",
    [
        dict,
        lambda rows: {**rows, "op": rows["op"].tolist()},
        lambda rows: {**rows, "op": np.where(rows["op"] == "write", 1, 0).astype(np.int8)},
        lambda rows: {**rows, "op": rows["op"].astype(object)},
        lambda rows: {name: pl.Series(column) for name, column in rows.items()},
        lambda rows: {name: pd.Series(column) for name, column in rows.items()},
        lambda rows: {name: pa.array(column) for name, column in rows.items()},
        lambda rows: {**rows, "at_ns": rows["at_ns"].astype("m8[ns]")},
        lambda rows: {**rows, "at_ns": rows["at_ns"].astype("M8[ns]")},
        lambda rows: {**rows, "at_ns": rows["at_ns"].astype(">i8")},
        lambda rows: {**rows, "offset": np.repeat(rows["offset"], 2)[::2]},
        lambda rows: np.rec.fromarrays([*rows.values()], names=[*rows]),
        pl.LazyFrame,
        lambda rows: pl.LazyFrame(rows).filter(pl.col("size") > 0),
        pd.DataFrame,
        lambda rows: pd.DataFrame(rows, index=np.arange(COUNT)[::-1]),
        lambda rows: pd.DataFrame(rows, index=[f"row {at}" for at in range(COUNT)]),
        lambda rows: pd.concat([pd.DataFrame(rows), pd.DataFrame(rows)]).iloc[:COUNT].query("size > 0"),
        lambda rows: pd.DataFrame(rows).set_index("at_ns"),
        lambda rows: pd.DataFrame(rows).set_index(["at_ns", "op"]),
        lambda rows: pd.DataFrame(rows).set_index(pd.RangeIndex(5, 5 + COUNT, name="n")),
        lambda rows: [{name: column[:100] for name, column in rows.items()}, pd.DataFrame(rows).iloc[100:]],
        lambda rows: (pl.LazyFrame(rows).slice(at, 100) for at in range(0, COUNT, 100)),
    ],
)
@pytest.mark.parametrize("arrow", [True, False])
def test_requests_in_every_form(
    hand, arrow: bool, small: fowler.Device, expected: fowler.Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = hand(ROWS)
    if not arrow:
        if not isinstance(rows, pd.DataFrame):
            pytest.skip("only pandas needs pyarrow")
        monkeypatch.setattr(_requests.importlib.util, "find_spec", lambda _: None)
    ran = fowler.run(small, rows)
    assert (ran.read, ran.write) == (expected.read, expected.write)


@pytest.mark.parametrize("compression", ["snappy", "zstd", "none"])
def test_files_that_pandas_writes_are_traces(
    compression: str, small: fowler.Device, expected: fowler.Run, tmp_path: Path
) -> None:
    frame = pd.DataFrame(ROWS, index=[f"row {at}" for at in range(COUNT)])
    frame.to_parquet(tmp_path / "t.parquet", compression=None if compression == "none" else compression)
    assert "__index_level_0__" in pq.read_table(tmp_path / "t.parquet").column_names
    ran = fowler.run(small, trace=tmp_path / "t.parquet")
    assert (ran.read, ran.write) == (expected.read, expected.write)
    if compression != "snappy":
        feather.write_feather(frame, tmp_path / "t.arrow", compression="lz4")
        assert fowler.run(small, trace=tmp_path / "t.arrow").read == expected.read


def test_a_column_beside_the_index_is_still_refused(small: fowler.Device) -> None:
    frame = pd.DataFrame({**ROWS, "more": 1}, index=np.arange(COUNT)[::-1])
    with pytest.raises(fowler.InputError, match="unknown column `more`") as caught:
        fowler.run(small, frame)
    assert "__index_level_0__" not in str(caught.value)


DEVICE = fowler.device("pes-mlc")


@pytest.mark.parametrize(
    ("name", "call"),
    [
        ("limit", lambda: fowler.run(DEVICE, "demo", limit="ten")),
        ("limit", lambda: fowler.run(DEVICE, "demo", limit=1.5)),
        ("limit", lambda: fowler.run(DEVICE, "demo", limit=True)),
        ("limit", lambda: fowler.run(DEVICE, "demo", limit=np.array([1, 2]))),
        ("seed", lambda: fowler.run(DEVICE, "demo", limit=10, seed=2**64)),
        ("queue_depth", lambda: fowler.run(DEVICE, "demo", limit=10, queue_depth=2**33)),
        ("speed", lambda: fowler.run(DEVICE, "demo", limit=10, speed="fast")),
        ("idle", lambda: fowler.run(DEVICE, "demo", limit=10, idle=[0.5])),
        ("faults", lambda: fowler.run(DEVICE, "demo", limit=10, faults=None)),
        ("device", lambda: fowler.run(None, "demo", limit=10)),
        ("device", lambda: fowler.run(pl.DataFrame(), "demo", limit=10)),
        ("workload", lambda: fowler.run(DEVICE, 3)),
        ("workload", lambda: fowler.run(DEVICE, {"at_ns": 0, "op": "read", "offset": 0, "size": 4096})),
        ("workload", lambda: fowler.run(DEVICE, {**ROWS, "size": np.zeros((COUNT, 2))})),
        ("workload", lambda: fowler.run(DEVICE, {**ROWS, "size": [4096]})),
        ("workload", lambda: fowler.run(DEVICE, {**ROWS, "op": [object()] * COUNT})),
        ("scheme", lambda: fowler.run(DEVICE, "demo", limit=10, scheme=3)),
        ("schemes", lambda: fowler.compare(DEVICE, "demo", limit=10, schemes=None)),
        ("seeds", lambda: fowler.compare(DEVICE, "demo", limit=10, schemes=["fifo"], seeds=0)),
        ("seeds", lambda: fowler.compare(DEVICE, "demo", limit=10, schemes=["fifo"], seeds=None)),
        ("seeds", lambda: fowler.compare(DEVICE, "demo", limit=10, schemes=["fifo"], seeds=101)),
        ("requests_file", lambda: fowler.run(DEVICE, "demo", limit=10, requests_file=3)),
        ("set", lambda: fowler.run(DEVICE, "demo", limit=10, set=3)),
        ("source", lambda: fowler.run(DEVICE, source="t.csv")),
        ("source", lambda: fowler.run(DEVICE, source={"tracce": "t.csv"})),
        ("trace", lambda: fowler.run(DEVICE, trace=3)),
        ("format", lambda: fowler.run(DEVICE, trace="t.csv", format=3)),
        ("lenient_pct", lambda: fowler.run(DEVICE, trace="t.csv", lenient_pct="x")),
        ("columns", lambda: fowler.run(DEVICE, trace="t.csv", columns=["ts"])),
        ("spread", lambda: fowler.run(DEVICE, trace="t.csv", spread=1)),
        ("remap", lambda: fowler.run(DEVICE, trace="t.csv", remap=None)),
        ("device_id", lambda: fowler.run(DEVICE, trace="t.csv", device_id=1.5)),
        ("buffer_size", lambda: fowler.run(DEVICE, "demo", limit=10, buffer_size=None)),
        ("buffer_size", lambda: DEVICE.with_(buffer_size=None)),
        ("read", lambda: DEVICE.with_(read={"a": 1})),
        ("read", lambda: DEVICE.with_(read=object())),
        ("3", lambda: DEVICE.with_({3: 4})),
        ("changes", lambda: DEVICE.with_(["timing.read"])),
        ("scheme", lambda: DEVICE.under(None)),
        ("name", lambda: fowler.device(None)),
        ("years", lambda: fowler.lifetime("ready-32", "ready-proxy", years="ten")),
        ("checkpoint", lambda: fowler.lifetime("ready-32", "ready-proxy", checkpoint=3)),
        ("dilation", lambda: fowler.lifetime("ready-32", "ready-proxy", dilation=2.5)),
        ("workloads", lambda: fowler.study(workloads=3)),
        ("seeds", lambda: fowler.study(seeds="many")),
        ("out", lambda: fowler.study(out=None)),
        ("out", lambda: fowler.sweep(device="tlc", workload="demo", axes={"seed": [1]}, out=None)),
        ("axes['seed']", lambda: fowler.sweep(device="tlc", workload="demo", axes={"seed": [None]}, out="x")),
        ("path", lambda: fowler.load(3)),
        ("path", lambda: fowler.run(DEVICE, "demo", limit=10).report(None)),
        ("path", lambda: fowler.run(DEVICE, "demo", limit=10).save(None)),
        ("kind", lambda: fowler.run(DEVICE, "demo", limit=10).distribution(None)),
        ("kind", lambda: fowler.run(DEVICE, "demo", limit=10).plot_blame("reads")),
        ("table", lambda: fowler.Table.of(3)),
    ],
)
def test_what_is_of_the_wrong_type_is_named(name: str, call: Any) -> None:
    with pytest.raises(fowler.InputError) as caught:
        call()
    assert name in {problem.file for problem in caught.value.diagnostics}, caught.value


def test_wrong_types_are_reported_with_everything_else() -> None:
    with pytest.raises(fowler.InputError) as caught:
        fowler.run(None, 3, limit="x", speed="y", buffer_size=None, scheme="zzz", faults=3)
    named = {problem.file for problem in caught.value.diagnostics}
    assert {"device", "workload", "limit", "speed", "buffer_size", "faults"} <= named
    assert "unknown scheme `zzz`" in str(caught.value)


def test_a_generator_that_fails_keeps_its_traceback(small: fowler.Device) -> None:
    def the_culprit() -> Iterator[Any]:
        yield {name: cells[:100] for name, cells in ROWS.items()}
        raise LookupError("the shelf is empty")

    with pytest.raises(fowler.InputError, match="the shelf is empty") as caught:
        fowler.run(small, the_culprit())
    cause = caught.value.__cause__
    assert isinstance(cause, LookupError)
    assert "the_culprit" in [frame.name for frame in traceback.extract_tb(cause.__traceback__)]


def test_a_generator_may_be_interrupted(small: fowler.Device) -> None:
    def interrupted() -> Iterator[Any]:
        yield ROWS
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fowler.run(small, interrupted())


def test_an_item_without_columns_is_named(small: fowler.Device) -> None:
    with pytest.raises(fowler.InputError, match="an item of type tuple has no columns"):
        fowler.run(small, [(0, "read", 0, 4096)])
    with pytest.raises(fowler.InputError, match="differ in length"):
        fowler.run(small, ({**ROWS, "size": [1]} for _ in range(2)))


FULL = Path("/dev/full")


def rerun(device: fowler.Device, requests: Path) -> None:
    fowler.run(device, "demo", limit=3000, requests_file=requests)


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has /dev/full")
@pytest.mark.parametrize("name", ["requests.csv", "requests.parquet", "report.html"])
def test_a_full_disk_is_an_error_of_the_system(name: str, small: fowler.Device, tmp_path: Path) -> None:
    (file := tmp_path / name).symlink_to(FULL)
    run = fowler.run(small, "demo", limit=100)
    write = run.report if file.suffix == ".html" else functools.partial(rerun, small)
    with pytest.raises(OSError, match="No space left") as caught:
        write(file)
    assert caught.value.errno == errno.ENOSPC
    assert caught.value.filename == str(tmp_path / name)
    assert not isinstance(caught.value, fowler.InputError)


@pytest.mark.skipif(not FULL.exists(), reason="only Linux has /dev/full")
def test_what_is_loaded_again_is_not_saved_to_a_device(small: fowler.Device, tmp_path: Path) -> None:
    (file := tmp_path / "run.fowler").symlink_to(FULL)
    with pytest.raises(fowler.InputError, match="is not a regular file"):
        fowler.run(small, "demo", limit=100).save(file)


@pytest.mark.skipif(sys.platform == "win32", reason="it has no such limit")
@pytest.mark.parametrize(
    "write",
    [
        'fowler.sweep(device="pes-mlc", workload="demo", limit=9, axes={"seed": [1]}, out=out)',
        'fowler.run("pes-mlc", "demo", limit=100).save(out)',
    ],
)
def test_a_full_disk_is_an_error_of_sweeps_and_of_saving(write: str, tmp_path: Path) -> None:
    """A limit on the size of files stands for a full disk."""
    program = f"""
import resource, signal, fowler
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
resource.setrlimit(resource.RLIMIT_FSIZE, (20, 20))
out = {os.fspath(tmp_path / "out.fowler")!r}
try:
    {write}
except OSError as error:
    print(type(error).__name__, error.errno)
"""
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert ran.stdout.split() == ["OSError", str(errno.EFBIG)], ran.stderr


def test_a_folder_that_is_not_there_is_an_input_error(small: fowler.Device, tmp_path: Path) -> None:
    with pytest.raises(fowler.InputError, match="cannot be written"):
        fowler.run(small, "demo", limit=10).report(tmp_path / "absent" / "report.html")
