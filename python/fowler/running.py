"""The functions that simulate: runs, comparisons, lives and studies."""

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
"""A preset's name, a file that ends in ``.toml``, or requests: any object with an Arrow C stream (a polars or
pandas frame, a pyarrow table), or an iterable of such objects."""


SEEDS_MAX = 10
"""The most seeds of a study, as on the command line."""
PACE = ("queue_depth", "speed", "idle")
RUN = (
    "scheme",
    "schemes",
    *PACE,
    "limit",
    "faults",
    "seed",
    "requests",
    "requests_file",
    "progress",
    "source",
)
LIFE = ("scheme", "years", "dilation", "check", "checkpoint", "limit", "seed", "progress", "source")
"""The arguments to suggest for a misspelled one."""


class Source(TypedDict, total=False):
    """How a trace is read and its addresses are mapped to the drive."""

    trace: str | os.PathLike[str] | None
    """A block trace to replay instead of a workload: text or binary, which may be compressed with zstd or
    gzip, or a Parquet or Arrow file with the columns ``at_ns``, ``op``, ``offset`` and ``size``."""
    format: str | None
    """The format of the trace; ``None`` to detect it from the text."""
    lenient_pct: float | None
    """Skip bad lines, up to this percentage of all lines."""
    columns: str | None
    """The columns of a CSV in order, such as ``"ts=us,op=rw,lba=512,len=bytes"``."""
    spread: str | None
    """How arrivals in whole seconds are spread over them: ``even``, ``poisson`` or ``none``; ``None`` for
    ``even`` in formats that have whole seconds only, and ``none`` in all others."""
    device_id: int | str | None
    """The device to replay from a trace of several, or ``"side-by-side"`` for all of them."""
    remap: str
    """What to do with addresses beyond the drive's capacity: ``error``, ``modulo`` or ``compact``."""


def run(
    device: AnyDevice = "tlc",
    workload: AnyWorkload = None,
    *,
    scheme: AnyScheme | None = None,
    queue_depth: int | None = None,
    speed: float | None = None,
    idle: float | None = None,
    limit: int | None = None,
    faults: Sequence[str] = (),
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
        workload: A generator (a preset's name or a file that ends in ``.toml``), or requests of your own:
            a polars or pandas frame, a pyarrow table, or an iterable of these, with the columns
            ``at_ns``, ``op`` (read, write, trim, flush), ``offset`` and ``size`` (bytes).
        scheme: A scheme, a file that ends in ``.toml``, several joined by ``+``, a policy
            (:mod:`fowler.policies`), or a list of these.
        queue_depth: Ignore arrival times and keep this many requests outstanding.
        speed: Divide arrival times by this factor.
        idle: Divide arrival times by the factor at which the drive is idle for this share of the time.
        limit: The most requests to run.
        faults: What fails, and when, in order of time: ``["10s chip 3", "20s page 4711 uncorrectable",
            "30s power 2s"]``. Beside chips, pages and the power, a ``channel``, a ``die``, a ``plane``,
            a ``block`` or the ``parity`` of a stripe can fail. Units are numbered from 0; they lose what
            they hold. Dies, and those of chips and channels, stay failed unless there are spare ones
            (``failed_dies.spare``); all others continue empty. ``"every 10s page"`` draws random units
            of a kind.
        seed: The seed of every random stream.
        requests: Whether to keep every request in memory, for :meth:`Run.requests`.
        requests_file: A file that ends in ``.parquet`` or ``.csv``, to which every request is written.
        set: Configuration keys by their paths: ``{"timing.read": "30us"}``.
        progress: Whether to show a progress bar; ``None`` to show it in terminals and notebooks only.
        source: The keywords of :class:`Source` as one dictionary.
        **more: The keywords of :class:`Source` (``trace``, ``format``, ``lenient_pct``, ``columns``,
            ``spread``, ``device_id``, ``remap``), and configuration keys: ``over_provisioning=0.28``,
            ``buffer_size="64MiB"``.

    Raises:
        InputError: for everything that is wrong with the drive, the workload and the arguments, all together.
        PolicyError: if a policy written in Python fails.
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
            faults,
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
    faults: Sequence[str] = (),
    seed: int | None = None,
    requests: bool = False,
    requests_file: str | os.PathLike[str] | None = None,
    set: Mapping[str, Setting] | None = None,
    progress: bool | None = None,
    source: Source | None = None,
    **more: Any,
) -> Comparison:
    """Runs the same workload under several schemes, in parallel.

    Except for ``schemes``, the arguments are those of :func:`run`. With ``idle``, the factor is determined
    under the first scheme and used for all schemes.

    Raises:
        InputError: for everything that is wrong under any scheme, all together.
        PolicyError: if a policy written in Python fails.
        KeyboardInterrupt: on Ctrl-C, within a tenth of a second.
    """
    if isinstance(schemes, str):
        expected = "a list of schemes"
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
            faults,
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

    # A repeated run repeats all schemes, which shares the pass over the trace and the replay speed.
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
    """Simulates a drive's whole life under a workload that repeats until the end of it.

    Args:
        device: A preset's name, a file that ends in ``.toml``, or a :class:`Device`.
        workload: As for :func:`run`.
        scheme: A scheme, a file that ends in ``.toml``, several joined by ``+``, a policy
            (:mod:`fowler.policies`), or a list of these.
        years: The target life in years of 365 days; ``None`` for the drive's ``lifetime.target``.
        dilation: The number of real repetitions that one simulated repetition stands for; ``None`` for the
            lowest at which a life takes a minute or two.
        check: Whether to simulate the life again at twice the dilation, to show the error of the dilation.
        checkpoint: A file to save progress in and to resume from.
        limit: The most requests in a repetition.
        seed: The seed of every random stream.
        set: Configuration keys by their paths.
        progress: Whether to show a progress bar; ``None`` to show it in terminals and notebooks only.
        source: The keywords of :class:`Source` as one dictionary.
        **more: The keywords of :class:`Source`, and configuration keys.

    Raises:
        InputError: for everything that is wrong, all together.
        PolicyError: if a policy written in Python fails.
        KeyboardInterrupt: on Ctrl-C, within a tenth of a second.
    """
    gathered = Gathered()
    schemes = gathered.take(lambda: Schemes([] if scheme is None else [scheme]), Schemes([]))
    apart = {**dict.fromkeys(PACE, "runs at the recorded speed"), "faults": "has no faults"}
    for name, does in apart.items():
        if name in more:
            what = f"`{name}` does not apply to a life, which {does}"
            gathered.diagnostics.append(Diagnostic(name, None, "", what, hint="remove it"))
    more = {its: value for its, value in more.items() if its not in apart}
    fitted, changes = _noted(gathered, more, source, set, LIFE)
    if years is not None:
        if isinstance(years, int | float) and 0 < years <= 1e6:  # noqa: PLR2004  (beyond any drive's life)
            changes.append(f"lifetime.target={years * 365 * 86_400:.0f}s")
        else:
            what, expected = f"invalid value {years!r}", "a number above 0, at most 1e6"
            gathered.diagnostics.append(Diagnostic("years", None, "", what, expected))
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
    seeds: int = 5,
    progress: bool | None = None,
) -> Study:
    """Compares every subset of the five systems on one drive, at three ages, under several workloads.

    Args:
        name: The study. The only one is ``all``: the 32 subsets of PES, RHIO, HIRE, READY and DA-RAID-5.
        out: The folder for tables, figures, the report and finished runs. The same call resumes from the runs
            finished there.
        workloads: Generators to use instead of the study's own: a list of names, or a dictionary from labels
            to workloads.
        traces: A folder of real traces. Those that the study knows are used in addition to its synthetic
            stand-in traces.
        limit: The most requests in each run.
        seeds: How many seeds every run is repeated with, 1 to 10. With two or more, effects have 95 %
            confidence intervals.
        progress: Whether to show a progress bar; ``None`` to show it in terminals and notebooks only.

    Raises:
        InputError: for everything that is wrong, all together.
        KeyboardInterrupt: on Ctrl-C. Finished runs are saved.
    """
    if not 1 <= seeds <= SEEDS_MAX:
        raise InputError([Diagnostic("seeds", None, str(seeds), "too few or too many seeds", "1 to 10")])
    if name != "all":
        raise InputError([Diagnostic("name", None, "", f"unknown study `{name}`", '"all"')])
    named = workloads.items() if isinstance(workloads, Mapping) else ((it, it) for it in workloads)
    sources = [(its, _source(workload, {})) for its, workload in named]
    folder = None if traces is None else os.fspath(traces)
    with bar(progress, "runs") as tell:
        title, sheets, files, warnings = _core.study_all(os.fspath(out), sources, folder, limit, seeds, tell)
    paths = [Path(out) / file for file in files]
    return Study(title, [Sheet(*sheet) for sheet in sheets], paths, warnings)


class _Run(NamedTuple):
    """The arguments that runs and comparisons share."""

    device: AnyDevice
    workload: AnyWorkload
    schemes: Sequence[AnyScheme]
    queue_depth: int | None
    speed: float | None
    idle: float | None
    limit: int | None
    faults: Sequence[str]
    seed: int | None
    requests_file: str | os.PathLike[str] | None
    set: Mapping[str, Setting] | None
    source: Source | None
    more: dict[str, Any]


def _run_args(run: _Run) -> tuple[_arguments.Run, list[str]]:
    """Returns the run as the compiled module takes it, and the names of its schemes.

    Raises:
        InputError: for everything that is wrong with the arguments, the drive and the requests.
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
    faults: list[str] = gathered.take(lambda: _faults(run.faults), [])
    args: _arguments.Run = {
        "drive": as_drive(run.device, changes, run.seed),
        "source": gathered.take(lambda: _source(run.workload, fitted), _source("demo", {})),
        "scheme": None,
        "queue_depth": run.queue_depth,
        "speed": run.speed,
        "idle": run.idle,
        "limit": run.limit,
        "faults": faults,
        "requests_file": None if run.requests_file is None else os.fspath(run.requests_file),
        "detail": False,
        "policies": schemes.policies,
    }
    if gathered.diagnostics:
        sound = {**args, "limit": None, "queue_depth": None, "drive": as_drive(run.device, changes, None)}
        gathered.take(lambda: _core.check(sound, schemes.names), None)  # type: ignore[arg-type]
    gathered.done()
    return args, schemes.names


def _faults(faults: Sequence[str]) -> list[str]:
    """Returns the list of faults.

    Raises:
        InputError: if it is no list of text.
    """
    expected = 'a list of text, such as ["10s chip 3"]'
    if isinstance(faults, str):
        raise InputError([Diagnostic("faults", None, "", f"`{faults}` is one fault", expected)])
    listed = [*faults]
    for fault in listed:
        if not isinstance(fault, str):
            raise InputError([Diagnostic("faults", None, "", f"`{fault!r}` is no text", expected)])
    return listed


def divided(
    more: dict[str, Any], source: Source | None, set_: Mapping[str, Setting] | None
) -> tuple[Source, list[str]]:
    """Splits keywords into those of :class:`Source` and configuration keys.

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
            Diagnostic("set", None, "", f"{set_!r} is not a dictionary", 'such as {"timing.read": "30us"}')
        )
        set_ = None
    changes, diagnostics = sound_settings({**(set_ or {}), **more}, [*Source.__annotations__, *also])
    gathered.diagnostics += diagnostics
    return fitted, changes


def _source(workload: AnyWorkload, fitted: Source) -> _arguments.Source:
    trace, device = fitted.get("trace"), fitted.get("device_id")
    named = isinstance(workload, str | os.PathLike)
    diagnostics: list[Diagnostic] = []
    if trace is not None and workload is not None:
        what = "`trace` and `workload` exclude each other"
        diagnostics.append(Diagnostic("workload", None, "", what, hint="remove one of them"))
    elif named:
        what = "this applies to traces only, and the workload is a generator"
        diagnostics += [Diagnostic(name, None, "", what) for name, its in fitted.items() if its is not None]
        if Path(workload).suffix != ".toml" and Path(workload).is_file():
            what = f"`{os.fspath(workload)}` is not a generator: the file does not end in .toml"
            diagnostics.append(Diagnostic("workload", None, "", what, hint="pass a trace as `trace`"))
    numbered = isinstance(device, int) and not isinstance(device, bool)
    if not (device is None or numbered or device == "side-by-side"):
        expected = "the number of a device, or side-by-side"
        diagnostics.append(Diagnostic("device_id", None, "", f"invalid device `{device}`", expected))
    if diagnostics:
        raise InputError(diagnostics)
    custom = workload is not None and not named
    return {
        "workload": os.fspath(workload) if named else None,
        "trace": None if trace is None else os.fspath(trace),
        "custom": (_name_of(workload), workload) if custom else None,
        "format": fitted.get("format"),
        "lenient_pct": fitted.get("lenient_pct"),
        "columns": fitted.get("columns"),
        "spread": fitted.get("spread"),
        "device_id": int(device) if numbered and device is not None else None,
        "side_by_side": device == "side-by-side",
        "remap": fitted.get("remap", "error"),
    }


def _name_of(workload: object) -> str:
    kind = type(workload)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}".removeprefix("builtins.")
