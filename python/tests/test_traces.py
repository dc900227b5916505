"""Tests the arguments of traces: columns of a CSV, whole seconds, several devices, and columnar files."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.feather
import pyarrow.parquet as pq
import pytest

import fowler

NATIVE = "at_ns,op,offset,size\n0,read,0,4096\n50000,write,8192,4096\n90000,read,4096,8192\n"


def latencies(run: fowler.Run) -> tuple[fowler.Latencies, fowler.Latencies]:
    return run.read, run.write


def test_columns_of_any_csv_are_named(small: fowler.Device, tmp_path: Path) -> None:
    (native := tmp_path / "native.csv").write_text(NATIVE)
    (other := tmp_path / "other.csv").write_text("0,R,0,4096\n50,W,16,4096\n90,R,8,8192\n")
    named = fowler.run(small, trace=other, columns="ts=us,op=rw,lba=512,len=bytes")
    assert latencies(named) == latencies(fowler.run(small, trace=native))
    with pytest.raises(fowler.InputError, match="columns") as caught:
        fowler.run(small, trace=other, columns="ts=us,op=rw,lba=512,len=furlongs")
    assert "furlongs" in str(caught.value)


def test_times_in_whole_seconds_are_spread(small: fowler.Device, tmp_path: Path) -> None:
    rows = "".join(f"{second},R,{8 * row},4096\n" for second in range(3) for row in range(4))
    (trace := tmp_path / "seconds.csv").write_text(rows)

    def times(**how: str) -> list[int]:
        ran = fowler.run(small, trace=trace, columns="ts=s,op=rw,lba=512,len=bytes", requests=True, **how)
        return sorted(ran.requests().column("at_ns"))

    assert times(spread="none") == sorted(4 * [0, 10**9, 2 * 10**9])
    even, drawn = times(spread="even"), times(spread="poisson")
    assert times() == times(spread="none"), "only formats that cannot tell spread without being asked"
    assert len({*even}) == len({*drawn}) == 12
    assert even != drawn
    with pytest.raises(fowler.InputError, match="evenly"):
        times(spread="evenly")


def test_a_device_of_several_is_chosen(small: fowler.Device, tmp_path: Path) -> None:
    # Windows counts tenths of a microsecond from 1601.
    first = 128_166_372_000_000_000
    rows = "".join(f"{first + 10**7 * at},host,{at % 2},Read,{4096 * at},4096,100\n" for at in range(1, 11))
    (trace := tmp_path / "several.csv").write_text(rows)
    counts = {which: fowler.run(small, trace=trace, device_id=which).read.count for which in (0, 1)}
    assert counts == {0: 5, 1: 5}
    assert fowler.run(small, trace=trace, device_id="side-by-side").read.count == 10
    for wrong in (1.5, "beside", True):
        with pytest.raises(fowler.InputError, match="device_id"):
            fowler.run(small, trace=trace, device_id=wrong)


def test_columnar_files_are_traces(small: fowler.Device, tmp_path: Path) -> None:
    (native := tmp_path / "native.csv").write_text(NATIVE)
    names = {"at_ns": [0, 50_000, 90_000], "op": ["read", "write", "read"]}
    table = pa.table({**names, "offset": [0, 8192, 4096], "size": [4096, 4096, 8192]})
    pq.write_table(table, tmp_path / "t.parquet", compression="zstd")
    pyarrow.feather.write_feather(table, tmp_path / "t.arrow", compression="uncompressed")
    expected = latencies(fowler.run(small, trace=native))
    for name in ("t.parquet", "t.arrow"):
        assert latencies(fowler.run(small, trace=tmp_path / name)) == expected
        with pytest.raises(fowler.InputError) as caught:
            fowler.run(small, trace=tmp_path / name, columns="ts=us,op=rw,lba=512,len=bytes", spread="none")
        assert {problem.file for problem in caught.value.diagnostics} == {"columns", "spread"}


def test_a_sweep_reads_a_trace_as_a_run_does(small: fowler.Device, tmp_path: Path) -> None:
    (drive := tmp_path / "small.toml").write_text(small.toml())
    (trace := tmp_path / "other.csv").write_text("0,R,0,4096\n1,W,16,4096\n1,R,8,8192\n")
    how = {"trace": trace, "columns": "ts=s,op=rw,lba=512,len=bytes", "spread": "none"}
    swept = fowler.sweep(device=drive, out=tmp_path / "out", axes={"seed": [1]}, progress=False, **how)
    assert not swept.failed
    alone = fowler.run(small, **how)
    assert swept.column("read.mean_us") == [alone.read.mean_us]
