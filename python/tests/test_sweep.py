"""Tests that sweeps give the same bytes wherever points run, and that no finished point is lost."""

from __future__ import annotations

import multiprocessing
import os
import signal
import subprocess
import sys
import threading
import time
import tomllib
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ProcessPoolExecutor, ThreadPoolExecutor
from contextlib import contextmanager
from datetime import timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from policy_ports import ReadFirst

import fowler
from fowler import _core, sweeping

DRIVE = {"geometry.blocks_per_plane": 64, "gc.background_below": 12, "buffer.ack": "on_insert"}
# Twelve points. Four make no drive, all for one reason: they are one run.
SMALL: dict[str, Any] = {
    "title": "a test",
    "device": "pes-mlc",
    "workload": "demo",
    "limit": 500,
    "set": DRIVE,
    "requests": True,
    "axes": {
        "scheme": ["rps", "pes_ipc"],
        "over_provisioning": [0.15, 0.3, 0.0],
        "buffer_size": ["256KiB", "1MiB"],
    },
}
RUNS = 9
# The points of SMALL, each long enough to be interrupted.
LONG = {**SMALL, "limit": 40_000, "requests": False}
SPECIFICATION = """\
title = "a test"
device = "pes-mlc"
workload = "demo"
limit = 500
set = ["geometry.blocks_per_plane=64", "gc.background_below=12", "buffer.ack=on_insert"]
requests = true

[axis]
scheme = ["rps", "pes_ipc"]
"geometry.over_provisioning" = [0.15, 0.3, 0.0]
"buffer.size" = ["256KiB", "1MiB"]
"""


def contents(folder: Path) -> dict[str, bytes]:
    return {str(it.relative_to(folder)): it.read_bytes() for it in folder.rglob("*") if it.is_file()}


def points(folder: Path) -> list[Path]:
    """Returns the files of finished points, which are those with a checksum."""
    files = (folder / "points").glob("*.parquet")
    return sorted(file for file in files if file.with_suffix(".sha256").exists())


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    whole = [sys.executable, "-m", "fowler", *arguments]
    return subprocess.run(whole, capture_output=True, text=True, check=True)


def diagnostics(call: Callable[..., object], *args: Any, **keywords: Any) -> dict[str, str]:
    with pytest.raises(fowler.InputError) as caught:
        call(*args, **keywords)
    return {diagnostic.file: str(diagnostic) for diagnostic in caught.value.diagnostics}


@pytest.fixture(scope="module")
def small(tmp_path_factory) -> fowler.Sweep:
    return fowler.sweep(out=tmp_path_factory.mktemp("small"), **SMALL)


@pytest.fixture(scope="module")
def long(tmp_path_factory) -> fowler.Sweep:
    return fowler.sweep(out=tmp_path_factory.mktemp("long"), **LONG)


@contextmanager
def dask(folder: Path, count: int) -> Iterator[tuple[Any, list[subprocess.Popen[bytes]]]]:
    """A scheduler and its workers, each a process of its own, as on a cluster; on the loopback alone."""
    from distributed import Client

    file = folder / "scheduler.json"
    alone = ["--host", "127.0.0.1", "--no-dashboard"]

    def begin(*arguments: str) -> subprocess.Popen[bytes]:
        whole = [sys.executable, "-m", *arguments, "--scheduler-file", str(file), *alone]
        return subprocess.Popen(whole, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    begun = [begin("distributed.cli.dask_scheduler", "--port", "0")]
    try:
        worker = ("distributed.cli.dask_worker", "--no-nanny", "--nthreads", "1")
        workers = [begin(*worker) for _ in range(count)]
        begun += workers
        with Client(scheduler_file=str(file), timeout=60, set_as_default=False) as client:
            client.wait_for_workers(count, timeout=60)
            yield client, workers
    finally:
        # The processes hold nothing to clean up, and an orderly end takes up to half a minute.
        for process in reversed(begun):
            process.kill()
        for process in begun:
            process.wait()


@contextmanager
def spawned() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("spawn")) as pool:
        yield pool


@contextmanager
def forked() -> Iterator[Executor]:
    with ProcessPoolExecutor(2, mp_context=multiprocessing.get_context("fork")) as pool:
        yield pool


class Meddler:
    """Calls ``act`` as soon as some points are finished and others are not."""

    def __init__(self, folder: Path, finished: int, act: Callable[[], object]) -> None:
        self._watching = threading.Thread(target=self._watch, args=(folder, finished, act))
        self.acted_at: int | None = None

    def _watch(self, folder: Path, finished: int, act: Callable[[], object]) -> None:
        until = time.monotonic() + 60
        while len(points(folder)) < finished:
            if time.monotonic() > until:
                return
            time.sleep(0.002)
        self.acted_at = len(points(folder))
        act()

    def __enter__(self) -> Meddler:
        self._watching.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._watching.join()


def test_the_folder_is_that_of_the_command(small: fowler.Sweep, tmp_path: Path) -> None:
    spec = tmp_path / "again.toml"
    spec.write_bytes((small.folder / "sweep.toml").read_bytes())
    command("sweep", str(spec), "--out", str(tmp_path / "again"), "--quiet")
    assert contents(tmp_path / "again") == contents(small.folder)
    # A specification written by hand has other text, and the same points.
    spec.write_text(SPECIFICATION)
    command("sweep", str(spec), "--out", str(tmp_path / "hand"), "--quiet")
    of_file = fowler.sweep(spec, out=tmp_path / "file")
    assert contents(tmp_path / "file") == contents(tmp_path / "hand")
    text = {"sweep.toml": b"", "sweep.sha256": b""}
    assert {**contents(of_file.folder), **text} == {**contents(small.folder), **text}
    assert (of_file.folder / "sweep.toml").read_text() == SPECIFICATION
    # A dictionary can hold the same specification as the file.
    of_dict = fowler.sweep(tomllib.loads(SPECIFICATION), out=tmp_path / "dictionary")
    assert {**contents(of_dict.folder), **text} == {**contents(small.folder), **text}
    with pytest.raises(fowler.InputError, match="excludes this argument"):
        fowler.sweep({"axis": {"seed": [1]}}, out=tmp_path / "both", limit=5)
    with pytest.raises(fowler.InputError, match="axes_"):
        fowler.sweep({"axes_": {"seed": [1]}}, out=tmp_path / "unknown")


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_change_no_byte(threads: int, small: fowler.Sweep, tmp_path: Path) -> None:
    fowler.sweep(out=tmp_path, threads=threads, **SMALL)
    assert contents(tmp_path) == contents(small.folder)


@pytest.mark.parametrize(
    "pool", [lambda: ThreadPoolExecutor(2), spawned, forked], ids=["threads", "spawn", "fork"]
)
@pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")
def test_executors_change_no_byte(pool: Any, small: fowler.Sweep, tmp_path: Path) -> None:
    with pool() as executor:
        made = fowler.sweep(out=tmp_path, executor=executor, **SMALL)
        assert contents(tmp_path) == contents(small.folder)
        before = [it.stat().st_mtime_ns for it in points(tmp_path)]
        fowler.sweep(out=tmp_path, executor=executor, **SMALL)
    assert [it.stat().st_mtime_ns for it in points(tmp_path)] == before, "nothing is run twice"
    assert made.points == small.points


def test_dask_changes_no_byte_and_loses_nothing_with_a_worker(
    small: fowler.Sweep, long: fowler.Sweep, tmp_path: Path
) -> None:
    with dask(tmp_path, 2) as (client, workers):
        fowler.sweep(out=tmp_path / "small", executor=client, **SMALL)
        assert contents(tmp_path / "small") == contents(small.folder)
        out = tmp_path / "long"
        with Meddler(out, 2, workers[0].kill) as meddler:
            fowler.sweep(out=out, executor=client, **LONG)
        assert workers[0].wait(10) == -signal.SIGKILL
        assert workers[1].poll() is None
    assert meddler.acted_at is not None
    assert meddler.acted_at < RUNS, "nothing was left to lose"
    assert contents(out) == contents(long.folder)


def test_a_pool_that_breaks_says_so_and_keeps_what_is_finished(long: fowler.Sweep, tmp_path: Path) -> None:
    with spawned() as pool:
        kill = lambda: os.kill(next(iter(pool._processes)), signal.SIGKILL)  # noqa: E731
        with (
            Meddler(tmp_path, 2, kill) as meddler,
            pytest.raises(fowler.WorkerError, match="the same call resumes from there") as caught,
        ):
            fowler.sweep(out=tmp_path, executor=pool, **LONG)
    assert meddler.acted_at is not None
    assert "BrokenProcessPool" in str(caught.value)
    kept = {it: it.stat().st_mtime_ns for it in points(tmp_path)}
    assert 2 <= len(kept) < RUNS
    assert len(fowler.load(tmp_path)) < len(long)
    fowler.sweep(out=tmp_path, **LONG)
    assert all(it.stat().st_mtime_ns == at for it, at in kept.items())
    assert contents(tmp_path) == contents(long.folder)


def test_a_driver_that_is_killed_loses_nothing(long: fowler.Sweep, tmp_path: Path) -> None:
    program = f"import fowler; fowler.sweep(out={str(tmp_path)!r}, threads=1, **{LONG!r})"
    with subprocess.Popen([sys.executable, "-c", program]) as running:
        with Meddler(tmp_path, 2, running.kill):
            pass
        assert running.wait(10) == -signal.SIGKILL
    kept = {it: it.stat().st_mtime_ns for it in points(tmp_path)}
    assert 2 <= len(kept) < RUNS
    fowler.sweep(out=tmp_path, **LONG)
    assert all(it.stat().st_mtime_ns == at for it, at in kept.items())
    assert contents(tmp_path) == contents(long.folder)


@pytest.mark.parametrize("distributed", [False, True], ids=["here", "executor"])
def test_ctrl_c_keeps_what_is_finished(distributed: bool, long: fowler.Sweep, tmp_path: Path) -> None:
    def interrupted(executor: Executor | None) -> None:
        handler = signal.signal(signal.SIGINT, signal.default_int_handler)
        interrupt = lambda: signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)  # noqa: E731
        try:
            with Meddler(tmp_path, 2, interrupt), pytest.raises(KeyboardInterrupt):
                fowler.sweep(out=tmp_path, executor=executor, threads=None if executor else 1, **LONG)
        finally:
            signal.signal(signal.SIGINT, handler)

    if distributed:
        with ThreadPoolExecutor(1) as pool:
            interrupted(pool)
    else:
        interrupted(None)
    assert 2 <= len(points(tmp_path)) < RUNS
    # The folder is free again.
    fowler.sweep(out=tmp_path, **LONG)
    assert contents(tmp_path) == contents(long.folder)


def test_points_that_fail_are_kept_with_their_error(small: fowler.Sweep, tmp_path: Path) -> None:
    assert len(small) == len(small.points) == 12
    assert len(small.failed) == 4
    for point in small.failed:
        assert point.axes["geometry.over_provisioning"] == 0.0
        assert point.error
        assert point.summary == {}
    sound = [point for point in small.points if point.error is None]
    assert all(point.summary["read"]["count"] > 0 for point in sound)
    first = small.points[0]
    assert (first.number, first.scheme, first.device, first.workload) == (0, "rps", "pes-mlc", "demo")
    assert first.axes == {"scheme": "rps", "geometry.over_provisioning": 0.15, "buffer.size": 262_144.0}
    assert small.axes == list(first.axes)
    assert (small.folder / "points" / f"{first.hash}.parquet").exists()
    # Points that failed fail again: `retry` runs them once more.
    with ThreadPoolExecutor(1) as pool:
        again = fowler.sweep(out=small.folder, executor=pool, retry=True, **SMALL)
    assert again.points == small.points
    assert "12 points, 4 failed" in repr(small)
    assert small._repr_html_().count("<tr>") == 13


@pytest.mark.parametrize(
    ("design", "count"),
    [
        ({"design": "random", "points": 5, "design_seed": 3}, 5),
        ({"design": "latin_hypercube", "points": 4}, 4),
        ({"axes": None, "points": [{"scheme": "rps"}, {"seed": 2, "buffer_size": "2MiB"}]}, 2),
        ({"axes": {"seed": range(1, 4), "over_provisioning": np.linspace(0.2, 0.3, 2)}}, 6),
        ({"axes": {"buffer.size": {"from": "256KiB", "to": "1MiB", "scale": "log", "steps": 3}}}, 3),
        ({"axes": {"read": {"from": timedelta(microseconds=20), "to": "80us", "steps": 3}}}, 3),
    ],
    ids=["random", "hypercube", "list", "numpy", "range", "timedelta"],
)
def test_designs_are_those_of_the_command(design: dict[str, Any], count: int, tmp_path: Path) -> None:
    axes = {"over_provisioning": {"from": 0.15, "to": 0.4}, "scheme": ["rps", "pes_ipc"]}
    arguments = {**SMALL, "limit": 50, "requests": None, "axes": axes, **design}
    made = fowler.sweep(out=tmp_path / "python", **arguments)
    assert len(made) == count
    assert not made.failed
    assert len({point.hash for point in made.points}) == count
    spec = tmp_path / "spec.toml"
    spec.write_bytes((made.folder / "sweep.toml").read_bytes())
    command("sweep", str(spec), "--out", str(tmp_path / "command"), "--quiet")
    assert contents(tmp_path / "command") == contents(made.folder)


def test_everything_that_is_wrong_comes_at_once(tmp_path: Path) -> None:
    """Every problem is reported for the argument that caused it."""
    axes = {"sede": [1], "scheme": ["rps", "pes_icp"], "buffer.size": ["1XiB"]}
    problems = diagnostics(
        fowler.sweep,
        out=tmp_path,
        workload="dmeo",
        limit=0,
        threads=0,
        axes=axes,
        bufer_size="1MiB",
        design="gird",
    )
    # Wrong names of presets are found only if the specification itself is sound.
    assert {"threads", "bufer_size", "limit", "design", "axes['sede']", "axes['buffer.size']"} <= set(
        problems
    )
    assert "did you mean `seed`" in problems["axes['sede']"]
    problems = diagnostics(fowler.sweep, out=tmp_path, workload="dmeo", axes={"scheme": ["rps", "pes_icp"]})
    assert set(problems) == {"workload", "axes['scheme']"}
    problems = diagnostics(
        fowler.sweep, out=tmp_path, workload="demo", points=[{"sede": 1}, 3, {"seed": "x"}]
    )
    assert {"points[0]", "points[1]", "points[2]"} == set(problems)
    assert not any(tmp_path.iterdir()), "nothing was written"


REQUESTS = pl.DataFrame(
    {
        "at_ns": [at * 100_000 for at in range(300)],
        "op": ["read" if at % 3 else "write" for at in range(300)],
        "offset": [at % 50 * 4096 for at in range(300)],
        "size": [4096] * 300,
    }
)
OBJECTS: dict[str, Any] = {
    "limit": 300,
    "axes": {
        "device": ["pes-mlc", fowler.device("pes-mlc").with_(DRIVE)],
        "workload": ["demo", REQUESTS, REQUESTS.with_columns(at_ns=pl.col("at_ns") * 2)],
        "scheme": ["rps", ["fifo", ReadFirst()]],
    },
}


@pytest.fixture(scope="module")
def objects(tmp_path_factory: pytest.TempPathFactory) -> fowler.Sweep:
    return fowler.sweep(out=tmp_path_factory.mktemp("objects"), **OBJECTS)


def test_axes_are_drives_frames_and_policies(objects: fowler.Sweep) -> None:
    assert not objects.failed
    assert [*dict.fromkeys(point.axes["workload"] for point in objects.points)] == [
        "demo",
        "polars.DataFrame",
        "polars.DataFrame 2",
    ]
    assert {point.device for point in objects.points} == {"pes-mlc", "pes-mlc 2"}
    assert {point.scheme for point in objects.points} == {"rps", "fifo+ReadFirst"}
    # The policy in Python decides as `rps` does, so only the names differ.
    assert objects["read.p99_us"][::2] == objects["read.p99_us"][1::2]
    assert len({point.hash for point in objects.points}) == 12
    axes = OBJECTS["axes"]
    for place, point in enumerate(objects.points):
        device, rest = axes["device"][place // 6], place % 6
        run = fowler.run(device, axes["workload"][rest // 2], scheme=axes["scheme"][rest % 2], limit=300)
        assert point.summary["read"] == run.summary["read"], place
        assert point.summary["write"] == run.summary["write"], place


@pytest.mark.parametrize("pool", [lambda: ThreadPoolExecutor(2), spawned], ids=["threads", "spawn"])
def test_objects_change_no_byte_on_workers(pool: Any, objects: fowler.Sweep, tmp_path: Path) -> None:
    with pool() as executor:
        made = fowler.sweep(out=tmp_path, executor=executor, **OBJECTS)
        before = [it.stat().st_mtime_ns for it in points(tmp_path)]
        fowler.sweep(out=tmp_path, executor=executor, **OBJECTS)
    assert contents(tmp_path) == contents(objects.folder)
    assert made.points == objects.points
    assert [it.stat().st_mtime_ns for it in points(tmp_path)] == before, "nothing is run twice"


class Giving:
    """A die order that fails after some calls."""

    def __init__(self, calls: int) -> None:
        self.left = calls

    def pick(self, view: fowler.policies.View) -> fowler.policies.Waiting | None:
        self.left -= 1
        if self.left == 0:
            raise ZeroDivisionError("nothing is left")
        return view.oldest()


@pytest.mark.parametrize("pool", [None, lambda: ThreadPoolExecutor(1)], ids=["here", "threads"])
def test_a_policy_that_fails_ends_a_sweep_and_loses_no_other_point(pool: Any, tmp_path: Path) -> None:
    arguments = {"device": "pes-mlc", "workload": "demo", "limit": 300, "set": DRIVE, "out": tmp_path}
    arguments |= {"executor": pool()} if pool else {"threads": 1}
    for _ in range(2):
        with pytest.raises(fowler.PolicyError, match=r"Giving 2.pick at .*: nothing is left") as caught:
            fowler.sweep(axes={"scheme": ["rps", Giving(100_000), Giving(50)]}, **arguments)
        assert isinstance(caught.value.__cause__, ZeroDivisionError)
    assert len(points(tmp_path)) <= 2, "a point whose policy failed is not saved"
    mended = fowler.sweep(axes={"scheme": ["rps", Giving(100_000)]}, **arguments)
    assert [point.error for point in mended.points] == [None, None]


class Oldest:
    def pick(self, view: fowler.policies.View) -> fowler.policies.Waiting | None:
        return view.oldest()


@pytest.mark.parametrize(
    ("wrong", "where", "text"),
    [
        ({"scheme": ["rps", 3]}, "scheme", "neither a scheme nor a policy"),
        ({"scheme": [Oldest(), Oldest()]}, "scheme", "`Oldest 2` is a second custom policy"),
        ({"scheme": Oldest}, "scheme", "pass an object: Oldest()"),
        ({"scheme": []}, "scheme", "neither a scheme nor a policy"),
        ({"axes": {"scheme": ["rps", [Oldest(), 3]]}}, "axes['scheme']", "neither a scheme nor a policy"),
        ({"points": [{"scheme": [Oldest]}], "axes": None}, "points[0]", "pass an object: Oldest()"),
        ({"axes": {"device": [object()]}}, "axes['device']", "a preset's name, a file, or a drive"),
        ({"axes": {"trace": ["a.csv", REQUESTS]}}, "axes['trace']", "are a `workload`"),
        ({"workload": pa.table({"at_ns": [1], "op": ["read"], "offset": [0]})}, "workload", "size"),
        ({"axes": {"workload": [iter([REQUESTS])]}}, "axes['workload']", "can be read only once"),
        ({"axes": {"seed": [None]}}, "axes['seed']", "NoneType"),
        ({"axes": {3: [1]}}, "axes[3]", "3 is not the name of an axis"),
        ({"axes": ["seed"]}, "axes", "got list"),
        (
            {"axes": {"over_provisioning": [0.1], "geometry.over_provisioning": [0.2]}},
            "axes['geometry.over_provisioning']",
            "are the same axis",
        ),
        ({"points": 4.0}, "points", "got float"),
        ({"points": {"seed": 1}}, "points", "got dict"),
        ({"points": 4.0, "design": "random"}, "points", "got float"),
        ({"threads": 1.5}, "threads", "a whole number"),
        ({"title": "half \ud800"}, "title", "lone surrogate"),
        ({"axes": {"scheme": ["\udc80"]}}, "axes['scheme']", "lone surrogate"),
    ],
)
def test_what_cannot_be_written_is_one_problem(
    wrong: dict[str, Any], where: str, text: str, tmp_path: Path
) -> None:
    """One problem gives one diagnostic, without follow-up errors about what was left out."""
    arguments = {"device": "pes-mlc", "workload": "demo", "axes": {"seed": [1]}, **wrong}
    with pytest.raises(fowler.InputError) as caught:
        fowler.sweep(out=tmp_path / "out", **arguments)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.file == where
    assert text in str(diagnostic)
    assert not (tmp_path / "out").exists()


def test_what_else_is_wrong_comes_with_what_cannot_be_written(tmp_path: Path) -> None:
    axes = {"scheme": ["rps", object()], "seed": [1]}
    problems = diagnostics(fowler.sweep, out=tmp_path, device="pes-mlc", workload="demo", axes=axes, limit=0)
    assert set(problems) == {"axes['scheme']", "limit"}
    reported = diagnostics(fowler.sweep, ["seed"], out=tmp_path)["spec"]
    assert "as keywords" in reported


def test_schemes_are_joined_and_titles_are_any_text(tmp_path: Path) -> None:
    arguments = {"device": "pes-mlc", "workload": "demo", "limit": 50, "set": DRIVE, "threads": np.int64(1)}
    title = 'a "title"\x7f\n\t\u00e4 \U0001f600 \\'
    one = fowler.sweep(
        out=tmp_path / "one", title=title, scheme=["rps", "nt"], axes={"seed": [1]}, **arguments
    )
    assert tomllib.loads((one.folder / "sweep.toml").read_text())["title"] == title
    axes = {"scheme": [["rps", "nt"], "fifo"]}
    two = fowler.sweep(out=tmp_path / "two", axes=axes, **arguments)
    listed = fowler.sweep(out=tmp_path / "listed", points=[{"scheme": ["rps", "nt"]}], **arguments)
    assert two.points[0].axes["scheme"] == "rps+nt"
    assert one.points[0].hash == two.points[0].hash == listed.points[0].hash


def test_arguments_that_do_not_do(tmp_path: Path) -> None:
    spec = tmp_path / "spec.toml"
    spec.write_text(SPECIFICATION)
    out = tmp_path / "out"
    problems = diagnostics(fowler.sweep, spec, out=out, limit=5, over_provisioning=0.2)
    assert set(problems) == {"limit", "over_provisioning"}
    missing = tmp_path / "no.toml"
    assert "cannot be read" in diagnostics(fowler.sweep, missing, out=out)[str(missing)]
    assert set(diagnostics(fowler.sweep, spec, out=out, executor=3)) == {"executor"}
    with ThreadPoolExecutor(1) as pool:
        assert set(diagnostics(fowler.sweep, spec, out=out, executor=pool, threads=2)) == {"threads"}
    problems = diagnostics(
        fowler.sweep, out=out, device=object(), workload=iter([REQUESTS]), axes={"seed": [1]}
    )
    assert "a drive" in problems["device"]
    assert "only once" in problems["workload"]
    spec.write_text("workload = 'demo'\nlimit = 0\n[axis]\nsede = [1]\n")
    with pytest.raises(fowler.InputError) as caught:
        fowler.sweep(spec, out=out)
    assert [(it.file, it.line) for it in caught.value.diagnostics] == [(str(spec), 2), (str(spec), 4)]
    assert not out.exists()


def test_a_folder_loads_without_what_it_was_made_of(tmp_path: Path) -> None:
    trace = tmp_path / "trace.csv"
    rows = "".join(
        f"{at * 100_000},{'read' if at % 3 else 'write'},{at % 50 * 4096},4096\n" for at in range(300)
    )
    trace.write_text("at_ns,op,offset,size\n" + rows)
    axes = {"trace": [trace], "seed": [1, 2]}
    made = fowler.sweep(out=tmp_path / "out", device="pes-mlc", set=DRIVE, remap="modulo", axes=axes)
    trace.unlink()
    again = fowler.load(tmp_path / "out")
    assert again.points == made.points
    assert pa.table(again).equals(pa.table(made))
    assert [point.axes["trace"] for point in again.points] == [str(trace)] * 2
    assert "this is not the folder of a sweep" in str(diagnostics(fowler.load, tmp_path))


def test_any_frame_takes_it(small: fowler.Sweep) -> None:
    frame = pl.DataFrame(small)
    assert frame.height == pd.DataFrame.from_arrow(small).shape[0] == pa.table(small).num_rows == 12
    assert frame["point"].to_list() == small.column("point") == list(range(12))
    assert frame["error"].is_null().sum() == 8
    assert frame["read.p99_us"].to_list() == small.column("read.p99_us")
    assert frame.columns[-1] == "summary"


def test_a_worker_that_would_run_something_else_says_so(tmp_path: Path) -> None:
    device = tmp_path / "drive.toml"
    device.write_text(fowler.device("pes-mlc").with_(DRIVE).toml())
    text = f"device = {str(device)!r}\nworkload = 'demo'\nlimit = 50\n[axis]\nseed = [1, 2]\n"
    plan = _core.Plan.read(text, "sweep")
    planned = [text, "sweep", 1, plan.hash(1)]
    reported = diagnostics(sweeping.make, *planned, "0" * 64)["executor"]
    assert "another version of the simulator" in reported
    assert "0" * 12 in reported
    made = sweeping.make(*planned, _core.__fingerprint__)
    assert made == plan.make(1)
    # Another drive under the same name is another point, even for a worker that has read the first.
    device.write_text(fowler.device("pes-mlc").with_(DRIVE, over_provisioning=0.25).toml())
    other = _core.Plan.read(text, "sweep")
    assert other.hash(1) != plan.hash(1)
    assert sweeping.make(text, "sweep", 1, other.hash(1), _core.__fingerprint__) == other.make(1) != made
    assert "other files" in diagnostics(sweeping.make, *planned, _core.__fingerprint__)["executor"]


def test_an_error_of_a_worker_ends_the_sweep_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(_core, "__fingerprint__", "1" * 64)
    with spawned() as pool, pytest.raises(fowler.InputError, match="another version of the simulator"):
        fowler.sweep(out=tmp_path, executor=pool, **SMALL)
    assert not points(tmp_path)


def test_one_at_a_time_writes_to_a_folder(small: fowler.Sweep) -> None:
    plan = _core.Plan.read(SPECIFICATION, "sweep")
    folder = _core.Folder.open(str(small.folder), plan)
    assert "another sweep" in str(diagnostics(fowler.sweep, out=small.folder, **SMALL))
    folder.close()
    fowler.sweep(out=small.folder, **SMALL)
