"""The commands that answer in JSON, as functions: each returns the object that its command prints.

``fowler schema NAME`` describes the objects. The simulations themselves are :func:`fowler.run` and its like.
"""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Unpack

from fowler import _core
from fowler._keywords import Keys, Keywords
from fowler._settings import Setting, number, settings
from fowler.drive import DEVICE, Device
from fowler.errors import path_of, plain
from fowler.source import Source, divided

__all__ = ["ask", "diff", "endurance", "explain", "fio", "pts", "score", "trace_info"]

AnyPath = str | os.PathLike[str]
AnyDevice = Device | AnyPath


def ask(
    trace: AnyPath,
    /,
    *,
    device: AnyDevice | None = None,
    limit: int | None = None,
    seeds: int | None = None,
    seed: int | None = None,
    out: AnyPath | None = None,
    set: Mapping[str, Setting] | None = None,
    source: Source | None = None,
    **more: Unpack[Keywords],
) -> dict[str, Any]:
    """Answers four questions about a trace: how slow, what it costs, how long the drive lives, what helps.

    >>> len(fowler.ask(place / "trace.csv", device=drive, seeds=2)["answers"])
    4

    Args:
        trace: A block trace, which may be compressed with zstd or gzip.
        device: A preset's name, a file that ends in ``.toml``, or a :class:`Device`; ``None`` for the drive
            that the command takes.
        limit: The most requests, from the start of the trace.
        seeds: The number of seeds with which schemes are compared.
        seed: The seed of every random number stream.
        out: The folder for ``summary.json`` and ``report.html``.
        set: Configuration keys by their paths.
        source: The keywords of :class:`Source` as one dictionary.
        **more: The keywords of :class:`Source`, and configuration keys.

    Raises:
        InputError: for everything that is wrong, all together.
    """
    changes, reading = _divided(more, source, set)
    flags = {"limit": limit, "seeds": seeds, "seed": seed, "out": out, **reading}
    return _json(["ask", _path("trace", trace)], flags, changes, device)


def trace_info(trace: AnyPath, /, *, source: Source | None = None, **more: Unpack[Source]) -> dict[str, Any]:
    """Returns what a trace holds, and how it is read.

    >>> fowler.trace_info(place / "trace.csv")["format"]
    'native'

    Raises:
        InputError: if it cannot be read.
    """
    _, reading = _divided(dict(more), source, None)
    return _json(["trace", "info", _path("trace", trace)], reading)


def explain(
    device: AnyDevice = "tlc",
    workload: AnyPath | None = None,
    *,
    scheme: str | None = None,
    slowest: int | None = None,
    queue_depth: int | None = None,
    speed: float | None = None,
    idle: float | None = None,
    limit: int | None = None,
    faults: Sequence[str] = (),
    seed: int | None = None,
    set: Mapping[str, Setting] | None = None,
    source: Source | None = None,
    **more: Unpack[Keywords],
) -> dict[str, Any]:
    """Returns what the slowest requests of a run waited for, operation by operation.

    >>> told = fowler.explain("pes-mlc", "demo", limit=1_000, slowest=1)
    >>> sum(told["slowest"][0]["causes_ns"].values()) == told["slowest"][0]["latency_ns"]
    True

    Args:
        device: A preset's name, a file that ends in ``.toml``, or a :class:`Device`.
        workload: A generator: a preset's name or a file that ends in ``.toml``. ``trace`` replays a trace.
        scheme: A scheme, a file that ends in ``.toml``, or several joined by ``+``.
        slowest: The number of requests.
        queue_depth: Ignore the times: issue a request whenever fewer than this many are outstanding.
        speed: The factor by which to divide the times.
        idle: Divide the times by the factor at which the drive idles for this share of the time.
        limit: The most requests.
        faults: What fails, and when, such as ``"10s chip 3"``.
        seed: The seed of every random number stream.
        set: Configuration keys by their paths.
        source: The keywords of :class:`Source` as one dictionary.
        **more: The keywords of :class:`Source`, and configuration keys.

    Raises:
        InputError: for everything that is wrong, all together.
    """
    changes, reading = _divided(more, source, set)
    flags = {
        "workload": workload,
        "scheme": scheme,
        "slowest": slowest,
        "queue_depth": queue_depth,
        "speed": speed,
        "idle": idle,
        "limit": limit,
        "seed": seed,
        **reading,
    }
    failing = [part for fault in faults for part in ("--fault", fault)]
    return _json(["explain", *failing], flags, changes, device)


def fio(
    job: AnyPath,
    *,
    device: AnyDevice | None = None,
    scheme: str | None = None,
    seed: int | None = None,
    env: Mapping[str, str] | None = None,
    out: AnyPath | None = None,
    set: Mapping[str, Setting] | None = None,
    **more: Unpack[Keys],
) -> dict[str, Any]:
    """Runs a job file of fio on a drive. Returns the JSON that fio would print (``json+``).

    >>> fowler.fio(place / "job.fio", device=drive)["jobs"][0]["jobname"]
    'job'

    Args:
        job: The job file.
        device: A preset's name, a file that ends in ``.toml``, or a :class:`Device`.
        scheme: A scheme, a file that ends in ``.toml``, or several joined by ``+``.
        seed: The seed of the drive's random streams; the jobs have their own.
        env: The environment variables that the job file reads.
        out: The folder for the summary, the page and the logs of the jobs.
        set: Configuration keys by their paths.
        **more: Configuration keys.

    Raises:
        InputError: for everything that is wrong, all together.
    """
    changes, _ = _divided(dict(more), None, set)
    flags = {"scheme": scheme, "seed": seed, "out": out, "output_format": "json+"}
    variables = [part for pair in (env or {}).items() for part in ("--env", "=".join(pair))]
    return _json(["fio", _path("job", job), *variables], flags, changes, device, json_flag=False)


def pts(
    test: str | Sequence[str] | None = None,
    *,
    device: AnyDevice | None = None,
    scheme: str | None = None,
    client: bool = False,
    enterprise: bool = False,
    minute: str | None = None,
    threads: int | None = None,
    queue_depth: int | None = None,
    seed: int | None = None,
    out: AnyPath | None = None,
    set: Mapping[str, Setting] | None = None,
    **more: Unpack[Keys],
) -> dict[str, Any]:
    """Runs tests of the SNIA Performance Test Specification on a drive.

    >>> tested = fowler.pts("iops", device=drive, minute="1ms", threads=1, queue_depth=2)
    >>> "iops" in str(tested)
    True

    Args:
        test: The tests, such as ``["iops", "lat"]``; ``None`` for those that the command runs.
        device: A preset's name, a file that ends in ``.toml``, or a :class:`Device`.
        scheme: A scheme, a file that ends in ``.toml``, or several joined by ``+``.
        client: Whether to test as the specification for clients does.
        enterprise: Whether to test as the specification for enterprises does.
        minute: The length of a minute, such as ``"1s"``.
        threads: The threads of the host, where a test does not say.
        queue_depth: The requests that each thread keeps outstanding, where a test does not say.
        seed: The seed of every random number stream.
        out: The folder for the summary, tables, pictures and the page.
        set: Configuration keys by their paths.
        **more: Configuration keys.

    Raises:
        InputError: for everything that is wrong, all together.
    """
    changes, _ = _divided(dict(more), None, set)
    flags = {
        "test": test,
        "scheme": scheme,
        "client": client,
        "enterprise": enterprise,
        "minute": minute,
        "threads": threads,
        "queue_depth": queue_depth,
        "seed": seed,
        "out": out,
    }
    return _json(["pts"], flags, changes, device)


def endurance(
    device: AnyDevice | None = None,
    *,
    standard: str | None = None,
    scheme: str | None = None,
    client: bool = False,
    years: float | None = None,
    smart: AnyPath | Sequence[AnyPath] | None = None,
    since: AnyPath | Sequence[AnyPath] | None = None,
    drive: str | None = None,
    tbw: str | float | None = None,
    waf: float | None = None,
    seed: int | None = None,
    out: AnyPath | None = None,
    set: Mapping[str, Setting] | None = None,
    source: Source | None = None,
    **more: Unpack[Keywords],
) -> dict[str, Any]:
    """Returns what may be written to a drive before its cells have had their cycles: TBW, DWPD and the like.

    With ``smart`` nothing is simulated: the counters of a real drive say how much was written, and how long
    the drive lasts.

    >>> fowler.endurance(smart=place / "smart.json")["power_on_hours"]["value"]
    742.0

    Args:
        device: A preset's name, a file that ends in ``.toml``, or a :class:`Device`.
        standard: The standard, such as ``"jesd219"``.
        scheme: A scheme, a file that ends in ``.toml``, or several joined by ``+``.
        client: Whether it is a client drive: ``trace`` takes the place of the client workload.
        years: Years over which the drive writes per day are counted.
        smart: SMART logs of the drive, as ``nvme`` and ``smartctl`` print them.
        since: Earlier logs of the same drive: the difference is what it does now.
        drive: The drive among several in the logs: its serial number or the name of its device.
        tbw: What its data sheet lets the host write, in TB or with a unit.
        waf: Its write amplification, where the log does not count writes to the flash.
        seed: The seed of every random number stream.
        out: The folder for the summary.
        set: Configuration keys by their paths.
        source: The keywords of :class:`Source` as one dictionary.
        **more: The keywords of :class:`Source`, and configuration keys.

    Raises:
        InputError: for everything that is wrong, all together.
    """
    changes, reading = _divided(more, source, set)
    flags = {
        "standard": standard,
        "scheme": scheme,
        "client": client,
        "years": years,
        "drive": drive,
        "tbw": tbw,
        "waf": waf,
        "seed": seed,
        "out": out,
        **reading,
    }
    logs = [f"--smart={_path('smart', file)}" for file in _each(smart)]
    logs += [f"--since={_path('since', file)}" for file in _each(since)]
    return _json(["endurance", *logs], flags, changes, device)


def score(
    device: AnyDevice,
    *measured: AnyPath,
    rows: str | None = None,
    scheme: str | None = None,
    brief: bool = False,
    seed: int | None = None,
    out: AnyPath | None = None,
    set: Mapping[str, Setting] | None = None,
    **more: Unpack[Keys],
) -> dict[str, Any]:
    """Scores a drive against measurements of the real one.

    >>> fowler.score("nvme-pm9a3", "nowhere.json")  # doctest: +IGNORE_EXCEPTION_DETAIL
    Traceback (most recent call last):
    fowler.errors.InputError: nowhere.json: cannot be read

    Args:
        device: A preset's name, a file that ends in ``.toml``, or a :class:`Device`.
        *measured: The measured files.
        rows: The rows to score, such as ``"jobs=1"``.
        scheme: A scheme, a file that ends in ``.toml``, or several joined by ``+``.
        brief: Whether to measure each row for a short time only.
        seed: The seed of every random number stream.
        out: The folder for the result.
        set: Configuration keys by their paths.
        **more: Configuration keys.

    Raises:
        InputError: for everything that is wrong, all together.
    """
    changes, _ = _divided(dict(more), None, set)
    flags = {"rows": rows, "scheme": scheme, "brief": brief, "seed": seed, "out": out}
    with _file(device) as name:
        files = [_path("measured", file) for file in measured]
        return _json(["score", *([name] if name else []), *files], flags, changes)


def diff(first: AnyPath, second: AnyPath, *, report: AnyPath | None = None) -> dict[str, Any]:
    """Returns what changed between two results, and what of that is chance.

    >>> "fifo" in str(fowler.diff(place / "asked", place / "asked"))
    True

    Args:
        first: A folder of results, or a summary file.
        second: Another one.
        report: The file for a page of both.

    Raises:
        InputError: if one of them cannot be read.
    """
    return _json(["diff", _path("first", first), _path("second", second)], {"report": report})


def _divided(
    more: Any, source: Source | None, changed: Mapping[str, Setting] | None
) -> tuple[list[str], dict[str, object]]:
    """Returns the changes of the drive as ``key=value``, and the flags of the trace."""
    if not more and not source:
        return settings(changed or {}), {}
    fitted, changes = divided({**more}, source, changed)
    flags: dict[str, object] = dict(fitted)
    flags["lenient"] = flags.pop("lenient_pct", None)
    return changes, flags


def _each(paths: AnyPath | Sequence[AnyPath] | None) -> list[AnyPath]:
    if paths is None or isinstance(paths, str | os.PathLike):
        return [] if paths is None else [paths]
    return [*paths]


def _path(argument: str, path: AnyPath) -> str:
    return path_of(argument, path, "a path")


def _word(value: Any) -> str:
    word = plain(value)
    match word:
        case str() | os.PathLike():
            return os.fsdecode(word)
        case int() | float():
            return number(word)
        case _:
            return ",".join(map(_word, word))


@contextmanager
def _file(device: AnyDevice | None) -> Iterator[str | None]:
    """Yields a drive as the command line takes it; one that exists in Python only as a file."""
    if not isinstance(device, Device):
        yield None if device is None else path_of("device", device, DEVICE)
        return
    with tempfile.TemporaryDirectory(prefix="fowler-") as folder:
        path = Path(folder, f"{device.name.replace(os.sep, '-')}.toml")
        path.write_text(device.toml())
        yield str(path)


def _json(
    command: list[str],
    flags: Mapping[str, object],
    changes: Sequence[str] = (),
    device: AnyDevice | None = None,
    *,
    json_flag: bool = True,
) -> dict[str, Any]:
    """Runs a command and returns its object. Flags that are ``None`` or false are left out."""
    arguments = ["fowler", *command]
    for name, value in flags.items():
        if value is None or value is False:
            continue
        flag = f"--{name.replace('_', '-')}"
        arguments += [flag] if value is True else [f"{flag}={_word(value)}"]
    arguments += [f"--set={change}" for change in changes]
    arguments += ["--json"] * json_flag
    # These two have no bar.
    arguments += ["--quiet"] * (command[0] not in ("diff", "trace"))
    with _file(device) as file:
        chosen = [f"--device={file}"] if file else []
        answer: dict[str, Any] = json.loads(_core.answer([*arguments, *chosen]))
    return answer
