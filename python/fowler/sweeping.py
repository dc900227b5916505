"""Sweeps: many runs by one specification, here or on the workers of an executor."""

from __future__ import annotations

import os
import queue
import threading
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, Future
from contextlib import contextmanager
from numbers import Integral
from pathlib import Path
from typing import Any

from fowler import _core
from fowler._progress import bar
from fowler._settings import Setting
from fowler._specification import Specification
from fowler.errors import Diagnostic, InputError, WorkerError
from fowler.points import Sweep
from fowler.running import Source, divided

__all__ = ["load", "sweep"]

Files = tuple[bytes, bytes | None, bool]
"""The files of a point: its row, its requests, whether it failed."""

WINDOW = 10_000
"""Points that an executor is given at once: more than clusters have workers, few enough for its memory."""

PLANS = 4
"""Plans that a worker remembers: each has read its traces."""


def sweep(  # noqa: PLR0913  (they are the keys of a specification)
    spec: str | os.PathLike[str] | None = None,
    *,
    out: str | os.PathLike[str],
    executor: Any = None,
    threads: int | None = None,
    retry: bool = False,
    progress: bool | None = None,
    title: str | None = None,
    device: str | os.PathLike[str] | None = None,
    workload: str | os.PathLike[str] | None = None,
    scheme: str | Sequence[str] | None = None,
    axes: Mapping[str, Any] | None = None,
    points: int | Iterable[Mapping[str, Any]] | None = None,
    design: str | None = None,
    design_seed: int | None = None,
    limit: int | None = None,
    seed: int | None = None,
    queue_depth: int | None = None,
    speed: float | None = None,
    idle: float | None = None,
    requests: bool | None = None,
    set: Mapping[str, Setting] | None = None,
    source: Source | None = None,
    **more: Any,
) -> Sweep:
    """Runs every point of a design that has not run yet, and keeps each as soon as it is finished.

    The specification is a file as ``fowler sweep`` takes it, or is said by keywords. Either way the folder
    has the same files, whatever ran the points.

    Args:
        spec: A specification, a file of TOML. With one there are no keywords but those from ``out`` to
            ``progress``.
        out: The folder of results. The same call resumes from what is finished there.
        executor: What runs the points: any :class:`concurrent.futures.Executor`, or a client of Dask
            distributed. ``None`` runs them here. Files that the specification names must be found under the
            same names, from its own current folder, by every worker.
        threads: So many points at once where they run here; ``None`` for one on each core.
        retry: Whether points that failed are run once more.
        progress: Whether a bar is shown; ``None`` in terminals and notebooks.
        title: What the sweep is about.
        device: A preset's name or a file that ends in ``.toml``; ``None`` for ``tlc``.
        workload: A generator: a preset's name or a file that ends in ``.toml``.
        scheme: Policy choices, as for :func:`fowler.run`, but no policies of Python's: workers find schemes
            by their names.
        axes: What is varied, by its name: ``device``, ``scheme``, ``workload``, ``trace``, ``seed``,
            ``limit``, ``queue_depth``, ``speed``, ``idle`` or a key of the drive (``over_provisioning``,
            ``"buffer.size"``, ``buffer_size_mib``); its values: a list, or
            ``{"from": .., "to": .., "scale": "linear" | "log"}``, in a grid with ``"steps"``. The last axis
            of a grid changes fastest.
        points: How many points are drawn; or the points themselves, each its values by the names of axes.
        design: ``grid``, ``list``, ``random`` or ``latin_hypercube``; ``None`` is a list where there are
            points, and a grid elsewhere.
        design_seed: The seed of a design that is drawn; ``None`` is 1.
        limit: Requests of each point at most.
        seed: The seed of every random stream.
        queue_depth: Requests outstanding; times are ignored.
        speed: Divide the times by this factor.
        idle: Divide the times by the factor at which the drive idles for this share of the time.
        requests: Whether to save a file of every request for every point.
        set: Configuration keys by their paths, for every point.
        source: The trace's keywords as one dictionary.
        **more: The keywords of a trace (``trace``, ``format``, ``lenient_pct``, ``trace_device``,
            ``remap``), and configuration keys, for every point.

    Raises:
        InputError: for everything that is wrong with the specification and the arguments, at once, before
            anything runs. A point that fails is saved with its error and raises nothing.
        WorkerError: if the executor gives up. What is finished is saved.
        KeyboardInterrupt: on Ctrl-C. What is finished is saved. What runs here is told to stop and is waited
            for, for ten seconds at most, so that the folder is free when the caller hears of it: a tenth of a
            second as a rule, and half a second while a large drive is being filled. What an executor has
            begun is not waited for.
    """
    wrong = _unrunnable(executor, threads)
    own = {
        "title": title,
        "device": device,
        "workload": workload,
        "scheme": scheme,
        "axes": axes,
        "points": points,
        "design": design,
        "design_seed": design_seed,
        "limit": limit,
        "seed": seed,
        "queue_depth": queue_depth,
        "speed": speed,
        "idle": idle,
        "requests": requests,
        "set": set,
        "source": source,
        **more,
    }
    if spec is not None:
        what, hint = "is said by the file of the specification", "change it there"
        beside = [name for name, value in own.items() if value is not None]
        wrong += [Diagnostic(name, None, "", what, hint=hint) for name in beside]
        read = (lambda: _read_file(spec)) if not beside else None
    else:
        read = lambda: read_keywords(own, Specification("sweep"))  # noqa: E731
    plan = _read(read, wrong)
    return _run(plan, os.fspath(out), executor, threads, retry, progress)


def load(folder: str | os.PathLike[str]) -> Sweep:
    """The points of the sweep in a folder that have run, one row each, in the order of the design.

    It needs nothing but the folder: no traces, and not the version of Fowler that filled it. The sweep may
    be going on meanwhile.

    Raises:
        InputError: if there is no sweep, or a file in it cannot be read.
    """
    return Sweep(_core.load(os.fspath(folder)), Path(folder))


def _unrunnable(executor: Any, threads: int | None) -> list[Diagnostic]:
    diagnostics = []
    if threads is not None and not (_whole(threads) and threads >= 1):
        what = f"{threads!r} threads run nothing"
        diagnostics.append(Diagnostic("threads", None, "", what, "a whole number, at least 1"))
    if executor is None:
        return diagnostics
    if threads is not None:
        what = "threads are of points that run here, and these run on an executor"
        diagnostics.append(Diagnostic("threads", None, "", what, hint="leave one of them out"))
    if not (isinstance(executor, Executor) or hasattr(executor, "get_executor")):
        expected = "an executor of concurrent.futures, or a client of Dask distributed"
        what = f"{type(executor).__name__} runs no points"
        diagnostics.append(Diagnostic("executor", None, "", what, expected))
    return diagnostics


def _whole(value: Any) -> bool:
    """Whether it is a whole number; numpy's are."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _read(read: Callable[[], _core.Plan] | None, wrong: list[Diagnostic]) -> _core.Plan:
    """The plan, if nothing at all is wrong."""
    plan = None
    try:
        plan = read() if read else None
    except InputError as error:
        wrong = [*wrong, *error.diagnostics]
    if wrong or plan is None:
        raise InputError(wrong)
    return plan


def _read_file(spec: str | os.PathLike[str]) -> _core.Plan:
    if not isinstance(spec, str | os.PathLike):
        what, hint = (
            f"this is {type(spec).__name__}",
            "a specification's keys are keywords: axes=.., device=..",
        )
        raise InputError([Diagnostic("spec", None, "", what, "a file of TOML", hint)])
    name = os.fspath(spec)
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise InputError([Diagnostic(name, None, "", f"cannot be read: {why}")]) from error
    return _core.Plan.read(text, name)


def read_keywords(own: dict[str, Any], spec: Specification, varied: str = "axes") -> _core.Plan:
    """The plan of a specification that keywords say; ``varied`` is the one that says what is varied.

    Raises:
        InputError: for everything that is wrong with it.
    """
    wrong: list[Diagnostic] = []
    more = {name: its for name, its in own.items() if name not in SAID}
    try:
        fitted, always = divided(more, own["source"], own["set"])
    except InputError as error:
        fitted, always = Source(), []
        wrong += error.diagnostics
    points, design = own["points"], own["design"]
    listed = points is not None and not isinstance(points, Integral)
    if listed and design is None:
        design = "list"
    trace_device = fitted.get("trace_device")
    for argument, name, value in (
        *((name, name, own[name]) for name in ("title", "device", "scheme", "workload")),
        ("trace", "trace", fitted.get("trace")),
        ("format", "format", fitted.get("format")),
        ("lenient_pct", "lenient", fitted.get("lenient_pct")),
        ("trace_device", "trace_device", None if trace_device is None else str(trace_device)),
        ("remap", "remap", fitted.get("remap")),
        *((name, name, own[name]) for name in ("limit", "seed", "queue_depth", "speed", "idle")),
        ("set", "set", always or None),
        ("requests", "requests", own["requests"]),
        ("design", "design", design),
        ("points", "points", None if listed else points),
        ("design_seed", "design_seed", own["design_seed"]),
    ):
        spec.add(argument, name, value)
    if own["axes"] is not None:
        spec.axes(own["axes"], varied)
    if listed:
        spec.rows(points)
    wrong += spec.diagnostics
    if spec.shapeless:
        raise InputError(wrong)
    try:
        plan = _core.Plan.read(spec.text, spec.name)
    except InputError as error:
        raise InputError([*wrong, *spec.reported(error, whole=not wrong)]) from None
    if wrong:
        raise InputError(wrong)
    return plan


SAID = (
    *("title", "device", "workload", "scheme", "axes", "points", "design", "design_seed", "limit", "seed"),
    *("queue_depth", "speed", "idle", "requests", "set", "source"),
)
"""The keywords that are neither a trace's nor keys of a drive."""


def _run(
    plan: _core.Plan,
    out: str,
    executor: Any,
    threads: int | None,
    retry: bool,
    progress: bool | None,
) -> Sweep:
    with _opened(out, plan) as folder, bar(progress, "runs") as tell:
        todo = folder.missing(retry)
        if executor is None:
            folder.run(todo, threads, tell)
        else:
            _PLANS.remember(plan)
            _distribute(plan, folder, todo, executor, out, tell)
        return Sweep(folder.load(), Path(out))


@contextmanager
def _opened(out: str, plan: _core.Plan) -> Iterator[_core.Folder]:
    """The folder, which nobody else writes to meanwhile."""
    folder = _core.Folder.open(out, plan)
    _OPEN.append(folder)
    try:
        yield folder
    finally:
        _OPEN.remove(folder)
        # Whoever holds the traceback of an exception must not hold the folder.
        folder.close()


_OPEN: list[_core.Folder] = []


def _let_go() -> None:
    """Workers that are forked meanwhile would hold the folder, and what other threads hold, for ever."""
    for folder in _OPEN:
        folder.close()
    _PLANS.free()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _distribute(
    plan: _core.Plan,
    folder: _core.Folder,
    todo: Sequence[int],
    executor: Any,
    out: str,
    tell: Callable[[int, int], None] | None,
) -> None:
    """Has points run elsewhere, and keeps each when it comes back."""
    if not isinstance(executor, Executor):
        # The key of a task must be its own: a task that failed once would fail for ever.
        executor = executor.get_executor(pure=False)
    back: queue.SimpleQueue[Future[Files]] = queue.SimpleQueue()
    waiting: dict[Future[Files], int] = {}
    left = iter(todo)
    saved = 0

    def keep(future: Future[Files]) -> None:
        nonlocal saved
        folder.keep(waiting.pop(future), future.result())
        saved += 1
        if tell:
            tell(saved, len(todo))

    try:
        _submit(plan, executor, left, waiting, back, WINDOW)
        while waiting:
            keep(back.get())
            _submit(plan, executor, left, waiting, back, 1)
    except BaseException as error:
        for future in waiting:
            future.cancel()
        for future in _come_back(back, waiting):
            keep(future)
        if isinstance(error, InputError) or not isinstance(error, Exception):
            raise
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        what = f"the executor gave up: {why}"
        points = f"{saved} of {len(todo)} missing points are saved in {out}"
        reported = f"{points}, and the same call resumes from there"
        raise WorkerError(f"{what}\n    {reported}") from error


def _submit(
    plan: _core.Plan,
    executor: Executor,
    left: Iterator[int],
    waiting: dict[Future[Files], int],
    back: queue.SimpleQueue[Future[Files]],
    count: int,
) -> None:
    for _, index in zip(range(count), left, strict=False):
        future = executor.submit(make, plan.text, plan.name, index, plan.hash(index), _core.__fingerprint__)
        waiting[future] = index
        future.add_done_callback(back.put)


def _come_back(
    back: queue.SimpleQueue[Future[Files]], waiting: Mapping[Future[Files], int]
) -> Iterator[Future[Files]]:
    """What was finished before the end was known."""
    while not back.empty():
        future = back.get()
        if future in waiting and not future.cancelled() and future.exception() is None:
            yield future


def make(text: str, name: str, index: int, hash_: str, fingerprint: str) -> Files:
    """Runs one point of a specification, on a worker; returns its files.

    Raises:
        InputError: if this worker would run something else: another version of the simulator, or other files
            of the names that the specification has.
    """
    if fingerprint != _core.__fingerprint__:
        its, here = fingerprint[:12], _core.__fingerprint__[:12]
        what = f"a worker has another version of the simulator: its sources are {here}, the sweep's are {its}"
        hint = "install the same version of fowler on every worker"
        raise InputError([Diagnostic("executor", None, "", what, hint=hint)])
    plan = _PLANS.plan(text, name, index, hash_)
    if plan.hash(index) != hash_:
        what = "a worker finds other files under the names that the specification has"
        hint = "every worker must see the same files under these names, from its own current folder"
        raise InputError([Diagnostic("executor", None, "", what, hint=hint)])
    return plan.make(index)


class _Plans:
    """The plans that a process has read last: reading one means reading its traces."""

    def __init__(self) -> None:
        self._plans: OrderedDict[tuple[str, str], _core.Plan] = OrderedDict()
        self._lock = threading.Lock()

    def free(self) -> None:
        """Forgets who reads a plan: in a forked process nobody does."""
        self._lock = threading.Lock()

    def remember(self, plan: _core.Plan) -> None:
        """Takes a plan for the one of its text."""
        with self._lock:
            self._put((plan.text, plan.name), plan)

    def plan(self, text: str, name: str, index: int, hash_: str) -> _core.Plan:
        """The plan, read anew if the point is not what it was: files change while a worker lives."""
        with self._lock:
            plan = self._plans.get((text, name))
            if plan is None or plan.hash(index) != hash_:
                plan = _core.Plan.read(text, name, by_itself=True)
                self._put((text, name), plan)
            return plan

    def _put(self, key: tuple[str, str], plan: _core.Plan) -> None:
        self._plans[key] = plan
        self._plans.move_to_end(key)
        while len(self._plans) > PLANS:
            self._plans.popitem(last=False)


_PLANS = _Plans()
