"""Tests requests as columns: exported from a run without a copy, and as input of a run."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest

import fowler

COUNT = 3000


def columns(count: int = COUNT) -> dict[str, Any]:
    """Reads and writes of 4 KiB, 50 microseconds apart."""
    rng = np.random.default_rng(7)
    return {
        "at_ns": np.arange(count, dtype=np.int64) * 50_000,
        "op": np.where(rng.random(count) < 0.5, "read", "write"),
        "offset": rng.integers(0, 50_000, count) * 4096,
        "size": np.full(count, 4096),
    }


@pytest.fixture(scope="module")
def table() -> pa.Table:
    return pa.table(columns())


@pytest.fixture(scope="module")
def expected(small: fowler.Device, table: pa.Table, tmp_path_factory) -> fowler.Run:
    """A run of the requests of ``table``, read from a trace file."""
    file = tmp_path_factory.mktemp("trace") / "trace.csv"
    rows = zip(*(table[name].to_pylist() for name in ("at_ns", "op", "offset", "size")), strict=True)
    file.write_text("at_ns,op,offset,size\n" + "".join(f"{a},{o},{f},{s}\n" for a, o, f, s in rows))
    return fowler.run(small, trace=file)


def dated(moments: pa.ChunkedArray) -> pa.ChunkedArray:
    """Returns times of requests as timestamps of the year 2026."""
    begins = pa.scalar(1_767_225_600_000_000_000)
    return pc.add(moments, begins).cast(pa.timestamp("ns"))


def batches(table: pa.Table) -> Iterator[pa.RecordBatch]:
    yield from table.to_batches(max_chunksize=100)


@pytest.mark.parametrize(
    "hand",
    [
        lambda table: table,
        pl.from_arrow,
        lambda table: table.to_pandas(),
        lambda table: pa.RecordBatchReader.from_batches(table.schema, batches(table)),
        batches,
        lambda table: list(batches(table)),
        lambda table: (pl.from_arrow(batch) for batch in batches(table)),
        lambda table: table.set_column(1, "op", table["op"].dictionary_encode()),
        # Dates count from the first request, because the drive knows no dates.
        lambda table: table.set_column(0, "at_ns", dated(table["at_ns"])),
        lambda table: table.set_column(3, "size", table["size"].cast(pa.uint32())),
    ],
    ids=[
        "arrow",
        "polars",
        "pandas",
        "reader",
        "generator",
        "list",
        "frames",
        "words",
        "moments",
        "u32",
    ],
)
def test_any_frame_is_a_workload(hand, small: fowler.Device, table: pa.Table, expected: fowler.Run) -> None:
    ran = fowler.run(small, hand(table))
    assert (ran.read, ran.write, ran.waf) == (expected.read, expected.write, expected.waf)
    assert ran.summary["blame"] == expected.summary["blame"]


def test_the_hash_of_requests_is_theirs(small: fowler.Device, table: pa.Table) -> None:
    one = fowler.run(small, table).summary["provenance"]["workload_hash"]
    chunks = fowler.run(small, list(batches(table))).summary["provenance"]["workload_hash"]
    other = fowler.run(small, table.slice(0, COUNT - 1)).summary["provenance"]["workload_hash"]
    assert one == chunks != other
    assert len(one) == 16


def test_several_passes_need_more_than_a_stream(small: fowler.Device, table: pa.Table) -> None:
    both = fowler.compare(small, table, schemes=["fifo", "rps"])
    assert both["fifo"].read.count == both["rps"].read.count
    assert fowler.run(small, table, remap="compact").complete
    with pytest.raises(fowler.InputError, match="only once"):
        fowler.compare(small, batches(table), schemes=["fifo", "rps"])
    with pytest.raises(fowler.InputError, match="only once"):
        fowler.run(small, batches(table), remap="compact")


@pytest.mark.parametrize(
    ("change", "text"),
    [
        ({"op": ["raed"] * COUNT}, "raed"),
        ({"at_ns": np.arange(COUNT, dtype=np.int64)[::-1]}, "row 1: `at_ns`: the time 2998 ns is earlier"),
        ({"offset": np.full(COUNT, -1)}, "row 0: `offset`"),
        ({"size": np.zeros(COUNT, dtype=np.int64)}, "a write of 0 bytes"),
        ({"size": np.full(COUNT, 1.5)}, "Float64"),
        ({"more": np.zeros(COUNT)}, "unknown column `more`"),
    ],
    ids=["op", "order", "negative", "empty", "type", "column"],
)
def test_rows_that_do_not_do(change: dict, text: str, small: fowler.Device) -> None:
    with pytest.raises(fowler.InputError, match=r"row|column") as caught:
        fowler.run(small, pa.table({**columns(), **change}))
    assert text in str(caught.value)


def test_a_generator_that_fails_is_quoted(small: fowler.Device, table: pa.Table) -> None:
    def broken() -> Iterator[pa.RecordBatch]:
        yield from table.to_batches(max_chunksize=100)[:3]
        raise RuntimeError("the disk is gone")

    with pytest.raises(fowler.InputError, match="the disk is gone"):
        fowler.run(small, broken())


def test_requests_come_out_as_columns(small: fowler.Device, tmp_path) -> None:
    file = tmp_path / "requests.parquet"
    r = fowler.run(small, "demo", limit=2000, requests=True, requests_file=file)
    requests = r.requests()
    assert len(requests) == 2000
    table = pa.table(requests)
    # The dictionaries of ``op`` may list the words in another order.
    assert table.to_pydict() == pq.read_table(file).to_pydict()
    frame = pl.DataFrame(requests)
    assert frame.height == pd.DataFrame.from_arrow(requests).shape[0] == 2000
    reads = frame.filter(pl.col("op") == "read")
    assert reads.height == r.read.count
    assert reads["latency_ns"].mean() / 1000 == pytest.approx(r.read.mean_us)
    parts = [name for name in frame.columns if name.endswith("_ns")]
    parts = [name for name in parts if name not in ("at_ns", "done_ns", "latency_ns")]
    total = frame.select(pl.sum_horizontal(parts)).to_series()
    assert (total == frame["latency_ns"]).all()


def test_requests_are_run_again_where_they_were_not_kept(small: fowler.Device) -> None:
    first = fowler.run(small, "demo", limit=1000)
    kept = fowler.run(small, "demo", limit=1000, requests=True)
    assert pa.table(first.requests()).equals(pa.table(kept.requests()))


@pytest.mark.parametrize("paces", [{"speed": 2.0, "queue_depth": 4}, {"queue_depth": 4, "idle": 0.5}])
def test_paces_exclude_each_other(paces: dict, small: fowler.Device) -> None:
    with pytest.raises(fowler.InputError, match="exclude each other"):
        fowler.run(small, "demo", limit=10, **paces)


def test_a_result_never_changes_after_it_was_returned(small: fowler.Device, tmp_path) -> None:
    trace = tmp_path / "load.csv"
    header = "at_ns,op,offset,size"
    trace.write_text(f"{header}\n0,read,0,4096\n1000,read,8192,4096\n")
    first = fowler.run(small, trace=trace)
    mean = first.read.mean_us
    trace.write_text(f"{header}\n0,read,0,4096\n1000,read,8192,65536\n")
    for again in (first.requests, lambda: first.report(tmp_path / "report.html")):
        with pytest.raises(fowler.InputError, match="its result changed"):
            again()
    assert not (tmp_path / "report.html").exists()
    assert first.read.mean_us == mean


def test_columns_are_handed_over_without_a_copy(small: fowler.Device) -> None:
    """Two readers of the same table see the same memory."""
    requests = fowler.run(small, "demo", limit=1000, requests=True).requests()
    addresses = {pa.table(requests)["latency_ns"].chunk(0).buffers()[1].address for _ in range(2)}
    assert len(addresses) == 1
