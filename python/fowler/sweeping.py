"""Sweeps: many runs of one specification, in this process or on the workers of an executor."""

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
from typing import Any, Unpack

from fowler import _arguments, _core, _result_file
from fowler._keywords import Keywords
from fowler._progress import bar
from fowler._settings import Setting
from fowler._specification import Objects, Specification
from fowler.drive import Device
from fowler.errors import Diagnostic, Gathered, InputError, PolicyError, WorkerError, path_of
from fowler.points import Sweep
from fowler.policies import AnyScheme
from fowler.source import AnyWorkload, Source, divided

__all__ = ["load", "sweep"]

Files = tuple[bytes, bytes | None, bool]
"""The files of a point: its row, its requests, and whether it failed."""

WINDOW = 10_000
"""The most points submitted to an executor at a time: enough for any cluster, few enough for its memory."""

PLANS = 4
"""The number of plans that a worker caches. Each holds the traces it has read."""


def sweep(  # noqa: PLR0913  (they are the keys of a specification)
    spec: str | os.PathLike[str] | Mapping[str, Any] | None = None,
    *,
    out: str | os.PathLike[str],
    executor: Any = None,
    threads: int | None = None,
    retry: bool = False,
    progress: bool | None = None,
    title: str | None = None,
    device: str | os.PathLike[str] | Device | None = None,
    workload: AnyWorkload | None = None,
    scheme: AnyScheme | None = None,
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
    **more: Unpack[Keywords],
) -> Sweep:
    """Runs every point of a design that has not run yet, and saves each as soon as it is finished.

    The specification is a file as for ``fowler sweep``, or is given as keywords. Both write the same files,
    wherever the points run.

    >>> swept = fowler.sweep(
    ...     device="pes-mlc", workload="demo", axes={"seed": [1, 2]}, limit=100, out="results"
    ... )
    >>> swept["axis.seed"]
    [1.0, 2.0]

    Args:
        spec: A specification: a TOML file, or a dictionary with the keys of one. It excludes all keywords
            except those from ``out`` to ``progress``.
        out: The folder of results. The same call resumes from what is finished there.
        executor: Where to run the points: any :class:`concurrent.futures.Executor`, or a Dask distributed
            client. ``None`` runs them in this process. Every worker must find the files that the
            specification names under the same names, relative to its own working directory.
        threads: The number of points to run at the same time without an executor; ``None`` for one per core.
        retry: Whether to run failed points again.
        progress: Whether to show a progress bar; ``None`` to show it in terminals and notebooks only.
        title: The title of the sweep.
        device: A preset's name, a file that ends in ``.toml``, or a :class:`Device`; ``None`` for ``tlc``.
        workload: A generator as for :func:`fowler.run`, or requests that can be read more than once, such as
            a frame.
        scheme: A scheme as for :func:`fowler.run`.
        axes: The axes to vary. A name is ``device``, ``scheme``, ``workload``, ``trace``, ``seed``,
            ``limit``, ``queue_depth``, ``speed``, ``idle`` or a configuration key (``over_provisioning``,
            ``buffer_size``). The values are a list, or
            ``{"from": .., "to": .., "scale": "linear" | "log"}``, with ``"steps"`` in a grid. The last axis
            of a grid changes fastest. Drives, policies and frames may be objects. They go to the workers of
            an executor as pickles, with every point.
        points: The number of points of a random design; or the points themselves, each a dictionary from axes
            to values.
        design: ``grid``, ``list``, ``random`` or ``latin_hypercube``; ``None`` for ``list`` if points are
            listed, else ``grid``.
        design_seed: The seed of a random design; ``None`` for 1.
        limit: The most requests in each point.
        seed: The seed of every random number stream.
        queue_depth: Ignore arrival times and keep this many requests outstanding.
        speed: Divide arrival times by this factor.
        idle: Divide arrival times by the factor at which the drive is idle for this share of the time.
        requests: Whether to save every request of every point to a file.
        set: Configuration keys by their paths, for every point.
        source: The keywords of a trace as one dictionary.
        **more: The keywords of a trace (``trace``, ``format``, ``lenient_pct``, ``columns``, ``spread``,
            ``device_id``, ``remap``), and configuration keys, for every point.

    Raises:
        InputError: for everything that is wrong with the specification and the arguments, all together and
            before anything runs. A point that fails is saved with its error and does not raise.
        PolicyError: if a policy written in Python fails. Finished points are saved.
        WorkerError: if the executor fails. Finished points are saved.
        KeyboardInterrupt: on Ctrl-C. Finished points are saved. Points that run in this process are stopped,
            and the call waits up to ten seconds for them, so that the folder is free afterwards. This usually
            takes a tenth of a second, and half a second while a large drive is being filled. The call does
            not wait for points that run on an executor.
    """
    gathered = Gathered()
    objects = Objects()
    folder = gathered.take(lambda: path_of("out", out), "")
    wrong = [*gathered.diagnostics, *_unrunnable(executor, threads)]
    own: dict[str, Any] = {
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
    beside = [name for name, value in own.items() if value is not None]
    if isinstance(spec, Mapping) and not beside:
        own |= _keywords(spec)
        spec = None
    read: Callable[[], _core.Plan] | None = None
    if spec is not None:
        what, hint = "a specification excludes this argument", "change it in the specification"
        wrong += [Diagnostic(name, None, "", what, hint=hint) for name in beside]
        if not isinstance(spec, Mapping):
            file = spec
            read = (lambda: _read_file(file)) if not beside else None
    else:
        keywords = Specification("sweep")
        read = lambda: read_keywords(own, keywords)  # noqa: E731
        objects = keywords.objects
    plan = _read(read, wrong)
    return _run(plan, objects.given, folder, executor, threads, retry, progress)


def _keywords(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keywords of :func:`sweep` that mean the same as a specification."""
    names = {"axis": "axes", "point": "points", "lenient": "lenient_pct"}
    keywords = {names.get(name, name): value for name, value in spec.items()}
    changes = keywords.get("set")
    if isinstance(changes, list | tuple):
        # As a file has them: a list of key=value.
        keywords["set"] = dict(str(change).partition("=")[::2] for change in changes)
    return keywords


def load(path: str | os.PathLike[str]) -> Any:
    """Loads the sweep in a folder, or a result that was saved in a file.

    A sweep has one row for each finished point, in the order of the design. Only the folder is
    needed, not the traces or the version of Fowler that ran the sweep. The sweep may still be running.

    A file has what its ``save`` wrote: a :class:`Run`, a :class:`Comparison`, a :class:`Table` or a
    :class:`Sweep`. A run can be repeated, for requests and reports, if its drive, workload and schemes have
    names or are text; requests and policies that were objects of Python are not in the file.

    >>> fowler.load(swept.folder).axes == swept.axes
    True

    Raises:
        InputError: if there is no sweep and no result, a file cannot be read or is damaged, or a newer
            version of Fowler wrote it.
    """
    place = path_of("path", path)
    if os.path.isdir(place) or not os.path.exists(place):
        return Sweep(_core.load(place), Path(place))
    return _result_file.read(place)


def _unrunnable(executor: Any, threads: int | None) -> list[Diagnostic]:
    diagnostics = []
    if threads is not None and not (_whole(threads) and threads >= 1):
        what = f"invalid value {threads!r}"
        diagnostics.append(Diagnostic("threads", None, "", what, "a whole number, at least 1"))
    if executor is None:
        return diagnostics
    if threads is not None:
        what = "`threads` and `executor` exclude each other"
        diagnostics.append(Diagnostic("threads", None, "", what, hint="remove one of them"))
    if not (isinstance(executor, Executor) or hasattr(executor, "get_executor")):
        expected = "an executor of concurrent.futures, or a Dask distributed client"
        what = f"got {type(executor).__name__}"
        diagnostics.append(Diagnostic("executor", None, "", what, expected))
    return diagnostics


def _whole(value: Any) -> bool:
    """True if a value is a whole number, of Python or of NumPy, and no Boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def _read(read: Callable[[], _core.Plan] | None, wrong: list[Diagnostic]) -> _core.Plan:
    """Reads the plan, and raises its problems together with those in ``wrong``."""
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
        what, hint = f"got {type(spec).__name__}", "pass the keys as keywords: axes=.., device=.."
        raise InputError([Diagnostic("spec", None, "", what, "the path of a TOML file", hint)])
    name = os.fspath(spec)
    try:
        text = Path(name).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is not UTF-8 text"
        raise InputError([Diagnostic(name, None, "", f"cannot be read: {why}")]) from error
    return _core.Plan.read(text, name)


def read_keywords(own: dict[str, Any], spec: Specification, varied: str = "axes") -> _core.Plan:
    """Reads the plan of a specification given as keywords. Messages call the axes ``varied``.

    Raises:
        InputError: for everything that is wrong with it.
    """
    wrong: list[Diagnostic] = []
    more = {name: given for name, given in own.items() if name not in SAID}
    try:
        fitted, always = divided(more, own["source"], own["set"])
    except InputError as error:
        fitted, always = Source(), []
        wrong += error.diagnostics
    points, design = own["points"], own["design"]
    listed = points is not None and not isinstance(points, Integral)
    if listed and design is None:
        design = "list"
    device_id = fitted.get("device_id")
    for argument, name, value in (
        *((name, name, own[name]) for name in ("title", "device", "scheme", "workload")),
        ("trace", "trace", fitted.get("trace")),
        ("format", "format", fitted.get("format")),
        ("lenient_pct", "lenient", fitted.get("lenient_pct")),
        ("columns", "columns", fitted.get("columns")),
        ("spread", "spread", fitted.get("spread")),
        ("device_id", "device_id", None if device_id is None else str(device_id)),
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
        plan = _core.Plan.read(spec.text, spec.name, given=spec.objects.given)
    except InputError as error:
        raise InputError([*wrong, *spec.reported(error, whole=not wrong)]) from None
    if wrong:
        raise InputError(wrong)
    return plan


SAID = (
    *("title", "device", "workload", "scheme", "axes", "points", "design", "design_seed", "limit", "seed"),
    *("queue_depth", "speed", "idle", "requests", "set", "source"),
)
"""The keywords that are neither those of a trace nor configuration keys."""


def _run(
    plan: _core.Plan,
    given: _arguments.Given | None,
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
            _distribute(plan, given, folder, todo, executor, out, tell)
        return Sweep(folder.load(), Path(out))


@contextmanager
def _opened(out: str, plan: _core.Plan) -> Iterator[_core.Folder]:
    """Opens the folder, and keeps others from writing to it until it is closed."""
    folder = _core.Folder.open(out, plan)
    _OPEN.append(folder)
    try:
        yield folder
    finally:
        _OPEN.remove(folder)
        # The traceback of an exception may keep the object alive, so close it explicitly.
        folder.close()


_OPEN: list[_core.Folder] = []


def _let_go() -> None:
    """Closes folders and frees locks in a forked process, which would otherwise hold them forever."""
    for folder in _OPEN:
        folder.close()
    _PLANS.free()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_let_go)


def _distribute(
    plan: _core.Plan,
    given: _arguments.Given | None,
    folder: _core.Folder,
    todo: Sequence[int],
    executor: Any,
    out: str,
    tell: Callable[[int, int], None] | None,
) -> None:
    """Runs points on an executor, and saves each when its result arrives."""
    if not isinstance(executor, Executor):
        # Every task needs a key of its own. Under a shared key, a task that failed once stays failed.
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
        _submit(plan, given, executor, left, waiting, back, WINDOW)
        while waiting:
            keep(back.get())
            _submit(plan, given, executor, left, waiting, back, 1)
    except BaseException as error:
        for future in waiting:
            future.cancel()
        for future in _come_back(back, waiting):
            keep(future)
        if isinstance(error, InputError | PolicyError) or not isinstance(error, Exception):
            raise
        why = f"{type(error).__name__}: {error}".rstrip(": ")
        what = f"the executor failed: {why}"
        points = f"{saved} of {len(todo)} missing points were saved in {out}"
        reported = f"{points}; the same call resumes from there"
        raise WorkerError(f"{what}\n    {reported}") from error


def _submit(
    plan: _core.Plan,
    given: _arguments.Given | None,
    executor: Executor,
    left: Iterator[int],
    waiting: dict[Future[Files], int],
    back: queue.SimpleQueue[Future[Files]],
    count: int,
) -> None:
    for _, index in zip(range(count), left, strict=False):
        hash_ = plan.hash(index)
        future = executor.submit(make, plan.text, plan.name, index, hash_, _core.__fingerprint__, given)
        waiting[future] = index
        future.add_done_callback(back.put)


def _come_back(
    back: queue.SimpleQueue[Future[Files]], waiting: Mapping[Future[Files], int]
) -> Iterator[Future[Files]]:
    """Yields the points that finished before the failure was noticed."""
    while not back.empty():
        future = back.get()
        if future in waiting and not future.cancelled() and future.exception() is None:
            yield future


def make(
    text: str, name: str, index: int, hash_: str, fingerprint: str, given: _arguments.Given | None = None
) -> Files:
    """Runs one point of a specification on a worker, and returns its files.

    Raises:
        PolicyError: if a policy written in Python fails.
        InputError: if the worker has another version of the simulator, or other files under the names in the
            specification.
    """
    if fingerprint != _core.__fingerprint__:
        planned, here = fingerprint[:12], _core.__fingerprint__[:12]
        what = f"a worker has another version of the simulator (sources {here}, the sweep has {planned})"
        hint = "install the same version of fowler on every worker"
        raise InputError([Diagnostic("executor", None, "", what, hint=hint)])
    plan = _PLANS.plan(text, name, index, hash_, given)
    if plan.hash(index) != hash_:
        what = "a worker found other files under the names in the specification"
        hint = "give every worker the same files under these names, relative to its working directory"
        raise InputError([Diagnostic("executor", None, "", what, hint=hint)])
    try:
        return plan.make(index)
    except PolicyError:
        # The policies of this plan make default decisions from now on.
        _PLANS.forget(plan)
        raise


class _Plans:
    """A cache of the plans that a process read last, because reading a plan reads its traces."""

    def __init__(self) -> None:
        self._plans: OrderedDict[tuple[str, str], _core.Plan] = OrderedDict()
        self._lock = threading.Lock()

    def free(self) -> None:
        """Replaces the lock: in a forked process nothing would ever release it."""
        self._lock = threading.Lock()

    def remember(self, plan: _core.Plan) -> None:
        """Adds a plan to the cache."""
        with self._lock:
            self._put((plan.text, plan.name), plan)

    def forget(self, plan: _core.Plan) -> None:
        """Removes a plan from the cache."""
        with self._lock:
            self._plans.pop((plan.text, plan.name), None)

    def plan(
        self, text: str, name: str, index: int, hash_: str, given: _arguments.Given | None
    ) -> _core.Plan:
        """Returns the plan. Reads it again if the point's hash differs: files change while a worker runs."""
        with self._lock:
            plan = self._plans.get((text, name))
            if plan is None or plan.hash(index) != hash_:
                plan = _core.Plan.read(text, name, by_itself=True, given=given)
                self._put((text, name), plan)
            return plan

    def _put(self, key: tuple[str, str], plan: _core.Plan) -> None:
        self._plans[key] = plan
        self._plans.move_to_end(key)
        while len(self._plans) > PLANS:
            self._plans.popitem(last=False)


_PLANS = _Plans()
