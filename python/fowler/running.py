"""Runs, comparisons, lives and studies."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

from fowler import _arguments, _core
from fowler._progress import bar
from fowler._settings import Setting, sound_settings
from fowler.drive import Device, as_drive
from fowler.errors import Diagnostic, Gathered, InputError
from fowler.policies import AnyScheme, Schemes
from fowler.results import Comparison, Lifetime, Run, Sheet, Study

__all__ = ["compare", "lifetime", "run", "study"]

AnyDevice = Device | str | os.PathLike[str]
AnyWorkload = Any
"""A preset's name, a file that ends in ``.toml``, or requests: anything with Arrow's C stream (a polars or
pandas frame, a table of pyarrow's), or an iterable of such."""


PACE = ("queue_depth", "speed", "idle")
RUN = ("scheme", "schemes", *PACE, "limit", "seed", "requests", "requests_file", "progress", "source")
LIFE = ("scheme", "years", "dilation", "check", "checkpoint", "limit", "seed", "progress", "source")
"""Arguments that a misspelt one may have meant."""


class Source(TypedDict, total=False):
    """How requests are read and fitted to the drive."""

    trace: str | os.PathLike[str] | None
    """A block trace, plain or packed with zstd or gzip, instead of a workload."""
    format: str | None
    """The trace's format; without it the format must be certain from the text."""
    lenient_pct: float | None
    """Skip bad lines, up to this percentage of all lines."""
    trace_device: int | str | None
    """Of a trace of several devices the one to replay, or ``"side-by-side"`` for all of them."""
    remap: str
    """What happens to addresses that the drive does not have: ``error``, ``modulo`` or ``compact``."""


def run(
    device: AnyDevice = "tlc",
    workload: AnyWorkload = None,
    *,
    scheme: AnyScheme | None = None,
    queue_depth: int | None = None,
    speed: float | None = None,
    idle: float | None = None,
    limit: int | None = None,
    seed: int | None = None,
    requests: bool = False,
    requests_file: str | os.PathLike[str] | None = None,
    set: Mapping[str, Setting] | None = None,
    progress: bool | None = None,
    source: Source | None = None,
    **more: Any,
) -> Run:
    """Runs one drive under one workload.

    Args:
        device: A preset's name, a file that ends in ``.toml``, or a :class:`Device`.
        workload: A generator (a preset's name or a file that ends in ``.toml``), or requests of one's own:
            a polars or pandas frame, a table of pyarrow's, or an iterable of them, with the columns
            ``at_ns``, ``op`` (read, write, trim, flush), ``offset`` and ``size`` (bytes).
        scheme: Policy choices: a scheme, a file that ends in ``.toml``, several joined by ``+``, a policy
            (:mod:`fowler.policies`), or a list of these.
        queue_depth: Ignore the times: a request is issued as soon as fewer than so many are outstanding.
        speed: Divide the times by this factor.
        idle: Divide the times by the factor at which the drive idles for this share of the time.
        limit: Requests at most.
        seed: The seed of every random stream.
        requests: Whether to keep every request in memory, for :meth:`Run.requests`.
        requests_file: A file that ends in ``.parquet`` or ``.csv`` for every request.
        set: Configuration keys by their paths: ``{"timing.read": "30us"}``.
        progress: Whether a bar is shown; ``None`` in terminals and notebooks.
        source: The trace's keywords as one dictionary, instead of one by one.
        **more: The keywords of :class:`Source` (``trace``, ``format``, ``lenient_pct``, ``trace_device``,
            ``remap``), and configuration keys: ``over_provisioning=0.28``, ``buffer_size="64MiB"``.

    Raises:
        InputError: for everything that is wrong with the drive, the workload and the arguments, at once.
        PolicyError: for what a policy written in Python raised.
        KeyboardInterrupt: on Ctrl-C, within a tenth of a second.
    """
    schemes = [] if scheme is None else [scheme]
    args, names = _run_args(
        _Run(
            device,
            workload,
            schemes,
            queue_depth,
            speed,
            idle,
            limit,
            seed,
            requests_file,
            set,
            source,
            more,
        )
    )
    args["scheme"] = next(iter(names), None)

    def again(keep: bool, detail: bool) -> _core.Outcome:
        with bar(progress, "requests") as tell:
            outcome = _core.run({**args, "detail": detail}, keep, tell)
        outcome.raise_failure()
        return outcome

    return Run(again(requests, False), again)


def compare(
    device: AnyDevice = "tlc",
    workload: AnyWorkload = None,
    *,
    schemes: Sequence[AnyScheme],
    queue_depth: int | None = None,
    speed: float | None = None,
    idle: float | None = None,
    limit: int | None = None,
    seed: int | None = None,
    requests: bool = False,
    requests_file: str | os.PathLike[str] | None = None,
    set: Mapping[str, Setting] | None = None,
    progress: bool | None = None,
    source: Source | None = None,
    **more: Any,
) -> Comparison:
    """Runs the same workload under several schemes, in parallel.

    The arguments are those of :func:`run`, but for ``schemes``. A target share of idle time is reached under
    the first scheme, and the factor that this takes is every scheme's.

    Raises:
        InputError: for everything that is wrong, of every scheme at once.
        PolicyError: for what a policy written in Python raised.
        KeyboardInterrupt: on Ctrl-C, within a tenth of a second.
    """
    if isinstance(schemes, str):
        expected = "a list of them"
        raise InputError([Diagnostic("schemes", None, "", f"`{schemes}` is one scheme", expected)])
    args, names = _run_args(
        _Run(
            device,
            workload,
            schemes,
            queue_depth,
            speed,
            idle,
            limit,
            seed,
            requests_file,
            set,
            source,
            more,
        )
    )

    def all_of(keep: bool, detail: bool) -> list[_core.Outcome]:
        with bar(progress, "requests") as tell:
            outcomes = _core.compare({**args, "detail": detail}, names, keep, tell)
        for outcome in outcomes:
            outcome.raise_failure()
        return outcomes

    # What has to be run again for one is run again for all: one pass over the trace, and one speed.
    later: dict[tuple[bool, bool], list[_core.Outcome]] = {}

    def again(place: int) -> Callable[[bool, bool], _core.Outcome]:
        def its(keep: bool, detail: bool) -> _core.Outcome:
            if (keep, detail) not in later:
                later[keep, detail] = all_of(keep, detail)
            return later[keep, detail][place]

        return its

    first = all_of(requests, False)
    return Comparison([Run(outcome, again(place)) for place, outcome in enumerate(first)])


def lifetime(
    device: AnyDevice = "tlc",
    workload: AnyWorkload = None,
    *,
    scheme: AnyScheme | None = None,
    years: float | None = None,
    dilation: int | None = None,
    check: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    limit: int | None = None,
    seed: int | None = None,
    set: Mapping[str, Setting] | None = None,
    progress: bool | None = None,
    source: Source | None = None,
    **more: Any,
) -> Lifetime:
    """A whole life: a drive under a workload that is repeated to the end of it.

    Args:
        device: A preset's name, a file that ends in ``.toml``, or a :class:`Device`.
        workload: As for :func:`run`.
        scheme: Policy choices: a scheme, a file that ends in ``.toml``, several joined by ``+``, a policy
            (:mod:`fowler.policies`), or a list of these.
        years: The target life in years of 365 days; ``None`` is that of the drive, ``lifetime.target``.
        dilation: One simulated repetition stands for so many; ``None`` for the fewest at which a life takes
            a minute or two.
        check: Whether it is lived once more at twice the dilation, to see what that changes.
        checkpoint: A file in which what is done so far is saved, to resume from.
        limit: Requests of a repetition at most.
        seed: The seed of every random stream.
        set: Configuration keys by their paths.
        progress: Whether a bar is shown; ``None`` in terminals and notebooks.
        source: The trace's keywords as one dictionary.
        **more: The keywords of :class:`Source`, and configuration keys.

    Raises:
        InputError: for everything that is wrong, at once.
        PolicyError: for what a policy written in Python raised.
        KeyboardInterrupt: on Ctrl-C, within a tenth of a second.
    """
    gathered = Gathered()
    schemes = gathered.take(lambda: Schemes([] if scheme is None else [scheme]), Schemes([]))
    paces = [Diagnostic(its, None, "", "a life has the times of its workload") for its in PACE if its in more]
    gathered.diagnostics += paces
    more = {its: value for its, value in more.items() if its not in PACE}
    fitted, changes = _noted(gathered, more, source, set, LIFE)
    if years is not None:
        if isinstance(years, int | float) and 0 < years <= 1e6:  # noqa: PLR2004  (beyond any drive's life)
            changes.append(f"lifetime.target={years * 365 * 86_400:.0f}s")
        else:
            what = f"a life of {years} years"
            gathered.diagnostics.append(Diagnostic("years", None, "", what, "a number above 0"))
    for name, value, least in (("limit", limit, 1), ("seed", seed, 0), ("dilation", dilation, 1)):
        gathered.whole(name, value, least)
    where = gathered.take(lambda: _source(workload, fitted), _source("demo", {}))
    gathered.done()
    args: _arguments.Life = {
        "drive": as_drive(device, changes, seed),
        "source": where,
        "scheme": next(iter(schemes.names), None),
        "policies": schemes.policies,
        "limit": limit,
        "dilation": dilation,
        "check": check,
        "checkpoint": None if checkpoint is None else os.fspath(checkpoint),
    }
    with bar(progress, "thousandths") as tell:
        return Lifetime(_core.lifetime(args, tell))


def study(
    name: str = "all",
    *,
    out: str | os.PathLike[str] = "results/study-all",
    workloads: Mapping[str, AnyWorkload] | Iterable[str] = (),
    traces: str | os.PathLike[str] | None = None,
    limit: int | None = None,
    progress: bool | None = None,
) -> Study:
    """What systems buy together: every subset of them on one drive, at three ages, under several workloads.

    Args:
        name: The study: ``all``, the 32 subsets of PES, RHIO, HIRE, READY and DA-RAID-5.
        out: The folder of tables, pictures, a page of both and finished runs; the same call resumes from
            what is finished there.
        workloads: Generators, by their names or with names of their own, instead of the study's.
        traces: A folder of real traces; those that the study knows are taken beside its stand-ins.
        limit: Requests of each run at most.
        progress: Whether a bar is shown; ``None`` in terminals and notebooks.

    Raises:
        InputError: for everything that is wrong, at once.
        KeyboardInterrupt: on Ctrl-C; what is finished is saved.
    """
    if name != "all":
        raise InputError([Diagnostic("name", None, "", f"unknown study `{name}`", '"all"')])
    named = workloads.items() if isinstance(workloads, Mapping) else ((it, it) for it in workloads)
    sources = [(its, _source(workload, {})) for its, workload in named]
    folder = None if traces is None else os.fspath(traces)
    with bar(progress, "runs") as tell:
        title, sheets, files, warnings = _core.study_all(os.fspath(out), sources, folder, limit, tell)
    paths = [Path(out) / file for file in files]
    return Study(title, [Sheet(*sheet) for sheet in sheets], paths, warnings)


class _Run(NamedTuple):
    """What a run and a comparison are asked for alike."""

    device: AnyDevice
    workload: AnyWorkload
    schemes: Sequence[AnyScheme]
    queue_depth: int | None
    speed: float | None
    idle: float | None
    limit: int | None
    seed: int | None
    requests_file: str | os.PathLike[str] | None
    set: Mapping[str, Setting] | None
    source: Source | None
    more: dict[str, Any]


def _run_args(run: _Run) -> tuple[_arguments.Run, list[str]]:
    """The run as the simulator takes it, and the names of its schemes.

    Raises:
        InputError: for everything that is wrong, of what is looked at here and of the drive and the requests.
    """
    gathered = Gathered()
    schemes = gathered.take(lambda: Schemes(run.schemes), Schemes([]))
    fitted, changes = _noted(gathered, run.more, run.source, run.set, RUN)
    for name, value, least in (
        ("limit", run.limit, 1),
        ("seed", run.seed, 0),
        ("queue_depth", run.queue_depth, 1),
    ):
        gathered.whole(name, value, least)
    args: _arguments.Run = {
        "drive": as_drive(run.device, changes, run.seed),
        "source": gathered.take(lambda: _source(run.workload, fitted), _source("demo", {})),
        "scheme": None,
        "queue_depth": run.queue_depth,
        "speed": run.speed,
        "idle": run.idle,
        "limit": run.limit,
        "requests_file": None if run.requests_file is None else os.fspath(run.requests_file),
        "detail": False,
        "policies": schemes.policies,
    }
    if gathered.diagnostics:
        sound = {**args, "limit": None, "queue_depth": None, "drive": as_drive(run.device, changes, None)}
        gathered.take(lambda: _core.check(sound, schemes.names), None)  # type: ignore[arg-type]
    gathered.done()
    return args, schemes.names


def divided(
    more: dict[str, Any], source: Source | None, set_: Mapping[str, Setting] | None
) -> tuple[Source, list[str]]:
    """What of the keywords says how requests are read, and what are configuration keys.

    Raises:
        InputError: for every keyword that is neither.
    """
    gathered = Gathered()
    found = _noted(gathered, more, source, set_, ())
    gathered.done()
    return found


def _noted(
    gathered: Gathered,
    more: dict[str, Any],
    source: Source | None,
    set_: Mapping[str, Setting] | None,
    also: Iterable[str],
) -> tuple[Source, list[str]]:
    fitted: Source = {**(source or {})}
    for name in Source.__annotations__:
        if name in more:
            fitted[name] = more.pop(name)  # type: ignore[literal-required]
    if not isinstance(set_ or {}, Mapping):
        gathered.diagnostics.append(
            Diagnostic("set", None, "", f"{set_!r} is no dictionary", '{"timing.read": "30us"}')
        )
        set_ = None
    changes, diagnostics = sound_settings({**(set_ or {}), **more}, [*Source.__annotations__, *also])
    gathered.diagnostics += diagnostics
    return fitted, changes


def _source(workload: AnyWorkload, fitted: Source) -> _arguments.Source:
    trace, device = fitted.get("trace"), fitted.get("trace_device")
    named = isinstance(workload, str | os.PathLike)
    diagnostics: list[Diagnostic] = []
    if trace is not None and workload is not None:
        what = "a trace and a workload are two workloads"
        diagnostics.append(Diagnostic("workload", None, "", what, hint="leave one of them out"))
    elif named:
        what = "belongs to a trace, and this is a generator"
        diagnostics += [Diagnostic(name, None, "", what) for name, its in fitted.items() if its is not None]
        if Path(workload).suffix != ".toml" and Path(workload).is_file():
            what = f"`{os.fspath(workload)}` is no description of a generator, which ends in .toml"
            diagnostics.append(Diagnostic("workload", None, "", what, hint="a trace goes into `trace`"))
    if not (device is None or isinstance(device, int) or device == "side-by-side"):
        expected = "a device's number, or side-by-side"
        diagnostics.append(Diagnostic("trace_device", None, "", f"`{device}` is no device", expected))
    if diagnostics:
        raise InputError(diagnostics)
    custom = workload is not None and not named
    return {
        "workload": os.fspath(workload) if named else None,
        "trace": None if trace is None else os.fspath(trace),
        "custom": (_name_of(workload), workload) if custom else None,
        "format": fitted.get("format"),
        "lenient_pct": fitted.get("lenient_pct"),
        "trace_device": device if isinstance(device, int) else None,
        "side_by_side": device == "side-by-side",
        "remap": fitted.get("remap", "error"),
    }


def _name_of(workload: object) -> str:
    kind = type(workload)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}".removeprefix("builtins.")
