"""The functions that simulate: runs, comparisons, lives and studies."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Unpack

from fowler import _arguments, _core
from fowler._keywords import Keywords
from fowler._progress import bar
from fowler._repeat import Call
from fowler._settings import Setting
from fowler.comparison import Comparison
from fowler.drive import Device, as_drive
from fowler.errors import Diagnostic, Gathered, InputError, path_of, shown
from fowler.fleets import Assumptions, asked
from fowler.policies import AnyScheme, Schemes
from fowler.results import Lifetime, Sheet, Study
from fowler.runs import Run
from fowler.source import AnyWorkload, Source, noted, source_args

__all__ = ["compare", "lifetime", "run", "study"]

AnyDevice = Device | str | os.PathLike[str]
SEEDS_MAX = 10
"""The most seeds of a study, as on the command line."""
SEEDS_COMPARED = 100
"""The most seeds of a comparison, as on the command line."""
PACE = ("queue_depth", "speed", "idle")


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
    **more: Unpack[Keywords],
) -> Run:
    """Runs one drive under one workload.

    >>> r = fowler.run("pes-mlc", "demo", scheme="pes_ipc", over_provisioning=0.28, limit=1_000)
    >>> r.read.count + r.write.count
    1000

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
        seed: The seed of every random number stream.
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
    call = Call(args, None, progress)
    return Run(call.start(bool(requests))[0][0], call)


def compare(
    device: AnyDevice = "tlc",
    workload: AnyWorkload = None,
    *,
    schemes: Iterable[AnyScheme] | None = None,
    devices: Iterable[AnyDevice] | None = None,
    seeds: int = 1,
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
    **more: Unpack[Keywords],
) -> Comparison:
    """Runs the same workload under several schemes, on several drives, or both, in parallel.

    Except for ``schemes``, ``devices`` and ``seeds``, the arguments are those of :func:`run`. With ``idle``,
    the factor is determined in the first run and used for all.

    >>> both = fowler.compare("pes-mlc", "demo", schemes=["fifo", "pes_ipc"], limit=1_000)
    >>> both["pes_ipc"].suspensions > both["fifo"].suspensions
    True

    >>> drives = fowler.compare(workload="demo", devices=["pes-slc", "pes-mlc"], limit=1_000)
    >>> drives.devices
    ['pes-slc', 'pes-mlc']

    Args:
        schemes: The schemes. The first is the baseline. ``"as described"`` is the drive without a scheme.
        devices: The drives, instead of ``device``: at least two. Keys that are set change all of them. Each
            is called by its name, a file by its name without the ending. With several ``schemes`` each drive
            runs under those that work on it, and a warning names the others.
        seeds: Run every scheme or drive with this many seeds, from that of the first drive on, up to 100.
            The runs are those of the first; :attr:`Comparison.seeds` has means and paired ratios with 95 %
            intervals, and the verdict uses them.

    Raises:
        InputError: for everything that is wrong under any scheme, all together.
        PolicyError: if a policy written in Python fails.
        KeyboardInterrupt: on Ctrl-C, within a tenth of a second.
    """
    drives = _drives(device, devices)
    expected = "a list of schemes"
    if isinstance(schemes, str):
        raise InputError([Diagnostic("schemes", None, "", f"`{schemes}` is one scheme", expected)])
    if not (isinstance(schemes, Iterable) or (schemes is None and drives)):
        what = f"invalid value {shown(schemes)}"
        hint = "to compare drives, pass devices=[...]" if schemes is None else None
        raise InputError([Diagnostic("schemes", None, "", what, expected, hint=hint)])
    named = [] if schemes is None else list(schemes)
    gathered = Gathered()
    count = gathered.whole("seeds", 0 if seeds is None else seeds, 1, SEEDS_COMPARED) or 1
    gathered.done()
    args, names = _run_args(
        _Run(
            device,
            workload,
            named,
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
            drives,
        )
    )
    call = Call(args, names, progress)
    outcomes, spread = call.start(bool(requests), count)
    return Comparison([Run(outcome, call, place) for place, outcome in enumerate(outcomes)], spread)


def lifetime(
    device: AnyDevice = "tlc",
    workload: AnyWorkload = None,
    *,
    scheme: AnyScheme | None = None,
    years: float | None = None,
    dilation: int | None = None,
    check: bool = True,
    checkpoint: str | os.PathLike[str] | None = None,
    drives: int | None = None,
    fleet: Assumptions | None = None,
    limit: int | None = None,
    seed: int | None = None,
    set: Mapping[str, Setting] | None = None,
    progress: bool | None = None,
    source: Source | None = None,
    **more: Unpack[Keywords],
) -> Lifetime:
    """Simulates a drive's whole life under a workload that repeats until the end of it.

    >>> life = fowler.lifetime(
    ...     drive, "financial1-excerpt", years=1, dilation=20_000, check=False, limit=5_000
    ... )
    >>> life.waf >= 1.0
    True

    Args:
        device: A preset's name, a file that ends in ``.toml``, or a :class:`Device`.
        workload: As for :func:`run`.
        scheme: A scheme, a file that ends in ``.toml``, several joined by ``+``, a policy
            (:mod:`fowler.policies`), or a list of these.
        years: The target life in years of 365 days; ``None`` for the drive's ``lifetime.target``.
        dilation: The number of real repetitions that one simulated repetition stands for; ``None`` for the
            lowest at which a life takes a minute or two.
        check: Whether to simulate the life again at twice the dilation, to show the error of the dilation.
        checkpoint: A file to save progress in and to resume from. That of a fleet is beside it, with the
            ending ``.fleet``.
        drives: Also draw a fleet of so many drives like this one, at most 1,000,000, each with its own cells,
            early failure and load: :attr:`Lifetime.fleet`.
        fleet: What is assumed of the fleet, as a dictionary (:class:`~fowler.fleets.Assumptions`).
        limit: The most requests in a repetition.
        seed: The seed of every random number stream.
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
    others = {argument: value for argument, value in more.items() if argument not in apart}
    fitted, changes = noted(gathered, others, source, set, keyword_only(lifetime))
    target = gathered.real("years", years)
    if target is not None:
        if 0 < target <= 1e6:  # noqa: PLR2004  (beyond any drive's life)
            changes.append(f"lifetime.target={target * 365 * 86_400:.0f}s")
        else:
            gathered.wrong("years", years, "a number above 0, at most 1e6")
    number = gathered.whole("seed", seed, 0)
    args: _arguments.Life = {
        "drive": gathered.take(lambda: as_drive(device, changes, number), as_drive("tlc", [], None)),
        "source": gathered.take(lambda: source_args(workload, fitted), source_args("demo", {})),
        "scheme": next(iter(schemes.names), None),
        "policies": schemes.policies,
        "limit": gathered.whole("limit", limit, 1),
        "dilation": gathered.whole("dilation", dilation, 1),
        "check": bool(check),
        "checkpoint": gathered.path("checkpoint", checkpoint),
        "fleet": asked(gathered, drives, fleet),
    }
    gathered.done()
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
    """Compares every subset of the five systems on one drive, at two queue depths and three ages.

    >>> fowler.study(limit=1_000, seeds=1)  # doctest: +SKIP
    <Study: ...>

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
    gathered = Gathered()
    if name != "all":
        gathered.diagnostics.append(Diagnostic("name", None, "", f"unknown study {shown(name)}", '"all"'))
    count = gathered.whole("seeds", 0 if seeds is None else seeds, 1, SEEDS_MAX) or 1
    most = gathered.whole("limit", limit, 1)
    place = gathered.take(lambda: path_of("out", out), "")
    folder = gathered.path("traces", traces)
    none: list[tuple[str, _arguments.Source]] = []
    sources = gathered.take(lambda: _sources(workloads), none)
    gathered.done()
    with bar(progress, "runs") as tell:
        title, sheets, files, warnings = _core.study_all(place, sources, folder, most, count, tell)
    paths = [Path(place) / file for file in files]
    return Study(title, [Sheet(*sheet) for sheet in sheets], paths, warnings)


def _sources(
    workloads: Mapping[str, AnyWorkload] | Iterable[str],
) -> list[tuple[str, _arguments.Source]]:
    """Returns the workloads of a study by their labels.

    Raises:
        InputError: for everything that is wrong with the workloads.
    """
    if isinstance(workloads, str) or not isinstance(workloads, Iterable):
        expected = "a list of names, or a dictionary from labels to workloads"
        what = f"invalid value {shown(workloads)}"
        raise InputError([Diagnostic("workloads", None, "", what, expected)])
    named = workloads.items() if isinstance(workloads, Mapping) else ((it, it) for it in workloads)
    return [(str(label), source_args(workload, {})) for label, workload in named]


def keyword_only(*calls: Callable[..., Any]) -> list[str]:
    """Returns the names of the arguments that are keywords of these calls alone."""
    every = (parameter for call in calls for parameter in inspect.signature(call).parameters.values())
    return [parameter.name for parameter in every if parameter.kind is parameter.KEYWORD_ONLY]


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
    more: Keywords
    devices: Sequence[AnyDevice] = ()


def _drives(device: AnyDevice, devices: Iterable[AnyDevice] | None) -> list[AnyDevice]:
    """Returns the drives of a comparison of drives; none if schemes are compared.

    Raises:
        InputError: if the drives are no list, or there is a single drive as well.
    """
    if devices is None:
        return []
    expected = "a list of drives"
    if isinstance(devices, (str, Device)) or not isinstance(devices, Iterable):
        what = f"{shown(devices)} is no list"
        raise InputError([Diagnostic("devices", None, "", what, expected)])
    if device != "tlc":
        what = "`device` and `devices` exclude each other"
        hint = "pass all drives in `devices`, and the workload by its name: workload=..."
        raise InputError([Diagnostic("devices", None, "", what, hint=hint)])
    listed = [*devices]
    if not listed:
        raise InputError([Diagnostic("devices", None, "", "no drives are given", expected)])
    return listed


def _run_args(wanted: _Run) -> tuple[_arguments.Run, list[str]]:
    """Returns the run as the compiled module takes it, and the names of its schemes.

    Raises:
        InputError: for everything that is wrong with the arguments, the drive and the requests.
    """
    gathered = Gathered()
    schemes = gathered.take(lambda: Schemes(wanted.schemes), Schemes([]))
    fitted, changes = noted(
        gathered, dict(wanted.more), wanted.source, wanted.set, keyword_only(run, compare)
    )
    seed = gathered.whole("seed", wanted.seed, 0)
    faults: list[str] = gathered.take(lambda: _faults(wanted.faults), [])
    args: _arguments.Run = {
        "drive": gathered.take(lambda: as_drive(wanted.device, changes, seed), as_drive("tlc", [], None)),
        "devices": gathered.take(lambda: [as_drive(one, changes, seed) for one in wanted.devices], []),
        "source": gathered.take(lambda: source_args(wanted.workload, fitted), source_args("demo", {})),
        "scheme": None,
        "queue_depth": gathered.whole("queue_depth", wanted.queue_depth, 1, 2**32 - 1),
        "speed": gathered.real("speed", wanted.speed),
        "idle": gathered.real("idle", wanted.idle),
        "limit": gathered.whole("limit", wanted.limit, 1),
        "faults": faults,
        "requests_file": gathered.path("requests_file", wanted.requests_file),
        "detail": False,
        "policies": schemes.policies,
    }
    if gathered.diagnostics:
        # Wrong arguments are left out here, and everything that is wrong with the others is found, too.
        gathered.take(lambda: _core.check(args, schemes.names), None)
    gathered.done()
    return args, schemes.names


def _faults(faults: Sequence[str]) -> list[str]:
    """Returns the list of faults.

    Raises:
        InputError: if ``faults`` is no list of text.
    """
    expected = 'a list of text, such as ["10s chip 3"]'
    if isinstance(faults, str):
        raise InputError([Diagnostic("faults", None, "", f"`{faults}` is one fault", expected)])
    if not isinstance(faults, Iterable):
        raise InputError([Diagnostic("faults", None, "", f"invalid value {shown(faults)}", expected)])
    listed = [*faults]
    for fault in listed:
        if not isinstance(fault, str):
            raise InputError([Diagnostic("faults", None, "", f"`{fault!r}` is no text", expected)])
    return listed
