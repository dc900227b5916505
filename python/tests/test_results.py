"""Tests that results behave as Python's values do: copied, pickled, saved, indexed, given to frames."""

from __future__ import annotations

import copy
import json
import pickle
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from test_run import SETS, command, without_clock
from test_values import ROWS

import fowler


class Newest:
    """A die order of a module, so that it can be pickled."""

    def pick(self, view: fowler.policies.View) -> Any:
        """Picks the transaction that was submitted last."""
        return view.waiting()[-1]


@pytest.fixture(scope="module")
def run(small: fowler.Device) -> fowler.Run:
    return fowler.run(small, "demo", limit=1000, requests=True)


@pytest.fixture(scope="module")
def both(small: fowler.Device) -> fowler.Comparison:
    return fowler.compare(small, "demo", schemes=["fifo", "rps"], limit=1000, seeds=3)


@pytest.fixture(scope="module")
def swept(small: fowler.Device, tmp_path_factory: pytest.TempPathFactory) -> fowler.Sweep:
    place = tmp_path_factory.mktemp("sweep")
    (drive := place / "small.toml").write_text(small.toml())
    axes = {"seed": [1, 2], "over_provisioning": [0.25, 0.3]}
    out = place / "out"
    return fowler.sweep(device=drive, workload="demo", limit=300, axes=axes, out=out, progress=False)


def saved(result: Any, place: Path) -> Any:
    return fowler.load(result.save(place / "result.fowler"))


WAYS: list[Callable[[Any, Path], Any]] = [
    lambda result, _: pickle.loads(pickle.dumps(result)),
    lambda result, _: copy.copy(result),
    lambda result, _: copy.deepcopy(result),
    saved,
]


@pytest.mark.parametrize("way", WAYS, ids=["pickle", "copy", "deepcopy", "save"])
def test_a_run_is_the_same_afterwards(way, run: fowler.Run, tmp_path: Path) -> None:
    again = way(run, tmp_path)
    assert type(again) is fowler.Run
    assert again is not run
    assert (again, hash(again)) == (run, hash(run))
    assert again.summary == run.summary
    assert again.summary is not run.summary
    assert (again.read, again.blame, again.device) == (run.read, run.blame, run.device)
    assert again.distribution("write") == run.distribution("write")
    assert again.verdict == run.verdict
    assert [*again.requests()] == [*run.requests()]
    assert repr(again) == repr(run)
    pages = [item.report(tmp_path / "report.html").read_text() for item in (run, again)]
    assert pages[0] == pages[1]
    again.plot()


@pytest.mark.parametrize("way", WAYS, ids=["pickle", "copy", "deepcopy", "save"])
def test_a_comparison_is_the_same_afterwards(way, both: fowler.Comparison, tmp_path: Path) -> None:
    again = way(both, tmp_path)
    assert type(again) is fowler.Comparison
    assert again is not both
    assert again.summary == both.summary
    assert [*again] == [*both]
    assert both["fifo"] != both["rps"]
    assert again.verdict == both.verdict
    assert again.seeds.ratio("read.p99_us") == both.seeds.ratio("read.p99_us")
    assert len(again["rps"].requests()) == 1000
    pages = [item.report(tmp_path / "report.html").read_text() for item in (both, again)]
    assert pages[0] == pages[1]


@pytest.mark.parametrize("way", WAYS, ids=["pickle", "copy", "deepcopy", "save"])
def test_tables_are_the_same_afterwards(way, run: fowler.Run, swept: fowler.Sweep, tmp_path: Path) -> None:
    for table in (run.requests(), swept, run.requests().take([])):
        again = way(table, tmp_path)
        assert type(again) is type(table)
        # The dictionaries of words may be in another order.
        assert pa.table(again).to_pydict() == pa.table(table).to_pydict()
        assert pa.table(again).schema == pa.table(table).schema
    again = way(swept, tmp_path)
    assert again.folder == swept.folder
    assert again.points == swept.points
    assert pa.table(again.pareto("waf", "read.p99_us")).equals(pa.table(swept.pareto("waf", "read.p99_us")))


def test_a_pickled_run_is_repeated_elsewhere(small: fowler.Device, tmp_path: Path) -> None:
    """A pickled run has its frame and its policy; a saved run has neither."""
    run = fowler.run(small, pl.DataFrame(ROWS), scheme=["fifo", Newest()])
    other = pickle.loads(pickle.dumps(run))
    assert pa.table(other.requests()).equals(pa.table(run.requests()))
    held = saved(fowler.run(small, pl.DataFrame(ROWS), scheme=["fifo", Newest()]), tmp_path)
    assert held.read == run.read
    for again in (held.requests, lambda: held.report(tmp_path / "report.html")):
        with pytest.raises(fowler.InputError, match="requests or policies are objects"):
            again()

    class Local(Newest):
        pass

    plain = pickle.loads(pickle.dumps(fowler.run(small, "demo", limit=50, scheme=["fifo", Local()])))
    assert plain.complete
    with pytest.raises(fowler.InputError, match="could not be pickled"):
        plain.requests()


def test_a_result_travels_between_processes(run: fowler.Run, tmp_path: Path) -> None:
    (tmp_path / "run.pickle").write_bytes(pickle.dumps(run))
    program = "import pickle, sys; print(pickle.load(open(sys.argv[1], 'rb')).read.mean_us)"
    called = [sys.executable, "-c", program, str(tmp_path / "run.pickle")]
    printed = subprocess.run(called, capture_output=True, text=True, check=True).stdout
    assert float(printed) == run.read.mean_us


def test_damaged_files_and_those_of_a_newer_version_are_refused(run: fowler.Run, tmp_path: Path) -> None:
    file = run.save(tmp_path / "run.fowler")
    whole = file.read_bytes()
    head, _, body = whole.partition(b"\n")
    assert head.startswith(b"fowler result 1 ")
    for at in (len(head) + 20, len(whole) // 2, len(whole) - 1):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 1]) + whole[at + 1 :])
        with pytest.raises(fowler.InputError, match="is damaged"):
            fowler.load(file)
    for short in (whole[:-1], whole[: len(head)], b"", body):
        file.write_bytes(short)
        with pytest.raises(fowler.InputError, match=r"is damaged|is not a result"):
            fowler.load(file)
    from hashlib import sha256

    newer = head.replace(b"result 1", b"result 2").replace(fowler.__version__.encode(), b"9.1.0") + b"\n{}"
    file.write_bytes(newer + sha256(newer).digest())
    with pytest.raises(fowler.InputError) as caught:
        fowler.load(file)
    for part in ("Fowler 9.1.0 in format 2", f"this is Fowler {fowler.__version__}", "up to 1"):
        assert part in str(caught.value)
    with pytest.raises(fowler.InputError):
        fowler.load(tmp_path / "absent.fowler")


def test_runs_are_mappings_of_metrics(run: fowler.Run) -> None:
    assert run["read.p99_us"] == run.read.p99_us
    assert run["counters.erases.gc"] == run.value("counters.erases.gc")
    assert len(run) == len([*run]) == len(dict(run)) > 100
    assert "waf" in run
    assert "waff" not in run
    assert run.get("waff") is None
    with pytest.raises(KeyError, match="waff"):
        run["waff"]
    assert run == copy.copy(run)
    assert run != dict(run)
    assert len({run, copy.copy(run)}) == 1
    assert pd.Series(run)["waf"] == run.waf


def test_tables_have_columns_and_rows(run: fowler.Run) -> None:
    table = run.requests()
    assert table["op"] == table.column("op")
    first, last = table[0], table[-1]
    assert first == table[np.int64(0)] == next(iter(table))
    assert list(first) == table.columns
    assert last["id"] == 999
    assert [row["id"] for row in table[10:14:2]] == [10, 12]
    assert isinstance(table[:3], fowler.Table)
    with pytest.raises(KeyError, match="did you mean `offset`"):
        table["ofset"]
    with pytest.raises(IndexError):
        table[1000]
    assert len([*table]) == 1000


def test_sweeps_have_columns_and_rows(swept: fowler.Sweep) -> None:
    assert swept["axis.seed"] == [1, 1, 2, 2] or swept["axis.seed"] == [1, 2, 1, 2]
    assert swept[0]["waf"] == swept.points[0].summary["waf"]
    assert isinstance(swept[1:3], fowler.Sweep)
    assert len(swept[1:3].points) == 2


def test_frames_take_results_as_they_are(
    run: fowler.Run, both: fowler.Comparison, swept: fowler.Sweep
) -> None:
    for table in (run.requests(), swept):
        for frame in (pd.DataFrame(table), pl.DataFrame(table), pd.DataFrame.from_arrow(table)):
            assert list(frame.columns) == table.columns
            assert len(frame) == len(table)
    requests = pd.DataFrame(run.requests())
    assert requests["latency_ns"].sum() == sum(run.requests()["latency_ns"])
    assert requests["latency_ns"].dtype == np.int64
    for frame in (pd.DataFrame(both), pl.DataFrame(both), pa.table(both).to_pandas()):
        assert list(frame["scheme"]) == ["fifo", "rps"]
        assert list(frame["read.mean_us"]) == [item.read.mean_us for item in both]
        assert list(frame["complete"]) == [True, True]
    assert pl.DataFrame(both)["complete"].dtype == pl.Boolean
    assert pa.table(run)["waf"].to_pylist() == pl.DataFrame(run)["waf"].to_list() == [run.waf]
    exchanged = run.requests().__dataframe__()
    assert exchanged.num_rows() == 1000
    assert exchanged.column_names() == run.requests().columns


def chunks() -> Iterator[Any]:
    for at in range(0, len(ROWS["size"]), 100):
        yield {name: cells[at : at + 100] for name, cells in ROWS.items()}


def test_runs_of_a_stream_have_reports(small: fowler.Device, tmp_path: Path) -> None:
    streamed = fowler.run(small, chunks())
    framed = fowler.run(small, pl.DataFrame(ROWS))
    pages = [run.report(tmp_path / "report.html").read_text() for run in (streamed, framed)]
    # The pages name the objects.
    assert re.sub('(?<!name=")generator', "polars.DataFrame", pages[0]) == pages[1]
    with pytest.raises(fowler.InputError, match="read only once") as caught:
        streamed.requests()
    assert "requests=True" in str(caught.value)
    assert len(fowler.run(small, chunks(), requests=True).requests()) == len(ROWS["size"])
    gone = pickle.loads(pickle.dumps(streamed))
    assert gone.read == streamed.read
    with pytest.raises(fowler.InputError, match="came from a stream"):
        gone.report(tmp_path / "report.html")


def test_the_verdict_is_that_of_the_command(small: fowler.Device) -> None:
    flags = ["compare", "--device", "pes-mlc", *(f for item in SETS for f in ("--set", item))]
    flags += ["--workload", "demo", "--limit", "2000", "--schemes", "fifo,rps", "--seeds", "3"]
    reported = command(*flags, "--json", "--quiet")
    assert reported.returncode == 0, reported.stderr
    said = json.loads(reported.stdout)
    sets = dict(item.split("=") for item in SETS)
    both = fowler.compare("pes-mlc", "demo", schemes=["fifo", "rps"], limit=2000, seeds=3, set=sets)
    assert both.summary["verdict"] == said["verdict"]
    assert both.summary["seeds"] == said["seeds"]
    assert [*map(without_clock, both.summary["schemes"])] == [*map(without_clock, said["schemes"])]
    assert [item.rule for item in both.verdict] == [item["rule"] for item in said["verdict"]]
    assert both.verdict
    first = both.verdict[0]
    assert first.text in str(first)
    assert not any("--" in str(item) for item in both.verdict)
    assert both.verdict[0].text in both._repr_html_()


def test_seeds_are_paired(small: fowler.Device, both: fowler.Comparison) -> None:
    seeds = both.seeds
    assert seeds is not None
    assert seeds.count == 3
    values = seeds.values("read.mean_us")
    assert values["fifo"][0] == both["fifo"].read.mean_us
    other = fowler.run(small, "demo", scheme="rps", limit=1000, seed=small.seed + 2)
    assert values["rps"][2] == other.read.mean_us
    ratio, mean = seeds.ratio("read.mean_us"), seeds.mean("read.mean_us")
    pairs = [b / a for a, b in zip(values["fifo"], values["rps"], strict=True)]
    assert ratio["rps"].mean == pytest.approx(np.mean(pairs))
    # Student's t with two degrees of freedom.
    assert ratio["rps"].half_width == pytest.approx(4.303 * np.std(pairs, ddof=1) / np.sqrt(3), rel=1e-3)
    assert ratio["fifo"] == fowler.Interval(1.0, 0.0)
    assert mean["rps"].low < mean["rps"].mean < mean["rps"].high
    with pytest.raises(fowler.InputError, match=r"did you mean `read\.mean_us`"):
        seeds.mean("read.mean")
    assert fowler.compare(small, "demo", schemes=["fifo"], limit=10).seeds is None


def test_plots_draw_into_axes(run: fowler.Run, both: fowler.Comparison, swept: fowler.Sweep) -> None:
    from matplotlib.figure import Figure

    figure = Figure()
    axes = figure.subplots(2, 4)
    drawn = [
        run.plot(ax=axes[0, 0]),
        both.plot("write", ax=axes[0, 1]),
        run.plot_blame("write", ax=axes[0, 2]),
        swept.plot.pareto("waf", "read.p99_us", ax=axes[0, 3]),
        swept.plot.lines("geometry.over_provisioning", "waf", by="seed", ax=axes[1, 0]),
        swept.plot.heatmap("seed", "geometry.over_provisioning", "waf", ax=axes[1, 1]),
        swept.plot.main_effects("read.mean_us", ax=axes[1, 2:]),
    ]
    assert all(axis is figure for axis in drawn)
    assert all(axis.has_data() for axis in axes.flat)
    with pytest.raises(fowler.InputError, match="1 axes to draw into, and the sweep has 2"):
        swept.plot.main_effects("read.mean_us", ax=axes[0, 0])
    assert run.plot_blame() is not figure
