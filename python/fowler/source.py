"""Sources of requests: generators, traces with the way they are read, and requests of one's own."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, TypedDict

from fowler import _arguments
from fowler._requests import readable
from fowler._settings import Setting, sound_settings
from fowler.errors import Diagnostic, Gathered, plain

__all__ = ["Source"]

AnyWorkload = Any
"""A preset's name, a file that ends in ``.toml``, or requests: any object with an Arrow C stream (a polars or
pandas frame, a pyarrow table), a lazy frame of polars, a dictionary or structured array of NumPy, or an
iterable of such objects."""


class Source(TypedDict, total=False):
    """The keywords that say how a trace is read, and how its addresses are mapped to the drive.

    >>> Source(trace="trace.csv", remap="modulo")["remap"]
    'modulo'
    """

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
    """The way to spread arrivals in whole seconds over each second: ``even``, ``poisson`` or ``none``;
    ``None`` for ``even`` in formats that have whole seconds only, and ``none`` in all others."""
    device_id: int | str | None
    """The device to replay from a trace of several, or ``"side-by-side"`` for all of them."""
    remap: str
    """The treatment of addresses beyond the drive's capacity: ``error``, ``modulo`` or ``compact``."""


def divided(
    more: dict[str, Any], source: Source | None, set_: Mapping[str, Setting] | None
) -> tuple[Source, list[str]]:
    """Splits keywords into those of :class:`Source` and configuration keys.

    Raises:
        InputError: for every keyword that is neither.
    """
    gathered = Gathered()
    found = noted(gathered, more, source, set_, ())
    gathered.done()
    return found


def noted(
    gathered: Gathered,
    more: dict[str, Any],
    source: Source | None,
    set_: Mapping[str, Setting] | None,
    also: Iterable[str],
) -> tuple[Source, list[str]]:
    """Splits keywords as :func:`divided` does, but collects the problems.

    ``also`` has further names to suggest for a misspelled one.
    """
    if not isinstance(source or {}, Mapping):
        gathered.wrong("source", source, 'a dictionary, such as {"trace": "trace.csv"}')
        source = None
    fitted: Source = {**(source or {})}
    for name in fitted:
        if name not in Source.__annotations__:
            expected = ", ".join(Source.__annotations__)
            gathered.diagnostics.append(Diagnostic("source", None, "", f"unknown keyword `{name}`", expected))
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


def source_args(workload: AnyWorkload, fitted: Source) -> _arguments.Source:
    """Returns the source of requests as the compiled module takes it.

    Raises:
        InputError: for everything that is wrong with the source.
    """
    gathered = Gathered()
    words = {
        "format": "the name of a format",
        "columns": 'columns in order, such as "ts=us,op=rw,lba=512,len=bytes"',
        "spread": "even, poisson or none",
        "remap": "error, modulo or compact",
    }
    read = {name: gathered.word(name, fitted.get(name), expected) for name, expected in words.items()}
    if "remap" in fitted and fitted["remap"] is None:
        gathered.wrong("remap", None, words["remap"])
    trace = gathered.path("trace", fitted.get("trace"), "the path of a trace")
    lenient = gathered.real("lenient_pct", fitted.get("lenient_pct"))
    device = plain(fitted.get("device_id"))
    numbered = isinstance(device, int) and not isinstance(device, bool) and device >= 0
    if not (device is None or numbered or device == "side-by-side"):
        gathered.wrong("device_id", device, "the number of a device, or side-by-side")
    named = isinstance(workload, str | os.PathLike)
    if fitted.get("trace") is not None and workload is not None:
        what = "`trace` and `workload` exclude each other"
        gathered.diagnostics.append(Diagnostic("workload", None, "", what, hint="remove one of them"))
    elif named:
        _only_a_generator(gathered, workload, fitted)
    custom = workload is not None and not named
    requests = gathered.take(lambda: readable(workload), None) if custom else None
    gathered.done()
    return {
        "workload": os.fsdecode(workload) if named else None,
        "trace": trace,
        "custom": (name_of(workload), requests) if custom else None,
        "format": read["format"],
        "lenient_pct": lenient,
        "columns": read["columns"],
        "spread": read["spread"],
        "device_id": int(device) if numbered else None,
        "side_by_side": device == "side-by-side",
        "remap": read["remap"] or "error",
    }


def _only_a_generator(gathered: Gathered, workload: str | os.PathLike[str], fitted: Source) -> None:
    """Adds diagnostics about arguments of a trace beside a generator, and a trace in a generator's place."""
    what = "this applies to traces only, and the workload is a generator"
    gathered.diagnostics += [
        Diagnostic(name, None, "", what) for name, value in fitted.items() if value is not None
    ]
    if Path(workload).suffix != ".toml" and Path(workload).is_file():
        what = f"`{os.fsdecode(workload)}` is not a generator: the file does not end in .toml"
        gathered.diagnostics.append(Diagnostic("workload", None, "", what, hint="pass a trace as `trace`"))


def name_of(workload: object) -> str:
    """Returns the name of requests in reports, which is the name of their class."""
    kind = type(workload)
    return f"{kind.__module__.partition('.')[0]}.{kind.__qualname__}".removeprefix("builtins.")
