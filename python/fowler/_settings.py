"""Turns keyword arguments into configuration keys."""

from __future__ import annotations

import difflib
import functools
import keyword
import os
from collections.abc import Iterable, Mapping
from typing import Any, SupportsFloat, SupportsIndex

from fowler import _core
from fowler.errors import Diagnostic, InputError, plain, shown

Scalar = str | int | float | bool
Setting = Scalar | os.PathLike[str] | SupportsIndex | SupportsFloat | Iterable["Setting"]
"""The value of a key. NumPy's scalars are numbers, too."""

EXPECTED = "a number, a string, true or false, or a list of these"

SUFFIXES = {
    "time": {"ns": "ns", "us": "us", "ms": "ms", "s": "s"},
    "size": {"b": "B", "kib": "KiB", "mib": "MiB", "gib": "GiB"},
    "rate": {"b_s": "B/s", "mib_s": "MiB/s", "mb_s": "MB/s"},
}
"""Units that an argument's name may end in, by the kind of its key: ``read_us=30`` sets ``timing.read``."""


@functools.cache
def names() -> dict[str, tuple[str, ...]]:
    """Maps every argument name to the keys that it can mean.

    A key's names are its path with ``_`` for the dots, the same without ``policy_``, and its last part. A
    last part that several keys share is ambiguous.
    """
    found: dict[str, set[str]] = {}
    for path, *_ in _core.keys():
        whole = path.replace(".", "_")
        for name in {whole, whole.removeprefix("policy_"), path.rsplit(".", 1)[-1]}:
            found.setdefault(name, set()).add(path)
    return {name: tuple(sorted(paths)) for name, paths in found.items()}


@functools.cache
def kinds() -> dict[str, str]:
    """Maps each key to its kind: ``time``, ``size``, ``rate``, ``count``, ``real``, ``flag``, ``word`` ..."""
    return {path: kind.removesuffix("s") for path, kind, *_ in _core.keys()}


def settings(changes: Mapping[str, Setting]) -> list[str]:
    """Returns the changes as ``key=value``, as the command line takes them.

    Raises:
        InputError: for every argument that matches no key, or several.
    """
    found, diagnostics = sound_settings(changes)
    if diagnostics:
        raise InputError(diagnostics)
    return found


def sound_settings(
    changes: Mapping[str, Setting], also: Iterable[str] = ()
) -> tuple[list[str], list[Diagnostic]]:
    """Returns the valid changes, and a diagnostic for each of the others.

    ``also`` has further argument names to suggest for a misspelled one.
    """
    diagnostics: list[Diagnostic] = []
    found: list[str] = []
    for name, value in changes.items():
        its = key(name, also)
        if isinstance(its, Diagnostic):
            diagnostics.append(its)
            continue
        try:
            found.append(f"{its[0]}={text(value, its[1])}")
        except TypeError:
            what = f"invalid value {shown(value)}"
            diagnostics.append(Diagnostic(str(name), None, "", what, EXPECTED))
    return found, diagnostics


def key(name: str, also: Iterable[str] = ()) -> tuple[str, str] | Diagnostic:
    """Returns the key that an argument sets and the unit that its name ends in, or a diagnostic."""
    if not isinstance(name, str):
        return Diagnostic(str(name), None, "", f"{name!r} is not the name of a key", "a string")
    name = name.rstrip("_") if keyword.iskeyword(name.rstrip("_")) else name
    paths = (name,) if "." in name else names().get(name, ())
    if len(paths) == 1:
        return paths[0], ""
    if not paths:
        for ending, unit, measured in _endings(name):
            stem = name.removesuffix(f"_{ending}")
            paths = tuple(it for it in names().get(stem, ()) if kinds()[it] == measured)
            if len(paths) == 1:
                return paths[0], unit
    return _unknown(name, paths, also)


def _endings(name: str) -> list[tuple[str, str, str]]:
    endings = [(end, unit, kind) for kind, all_ in SUFFIXES.items() for end, unit in all_.items()]
    return [its for its in endings if name.endswith(f"_{its[0]}")]


def _unknown(name: str, paths: tuple[str, ...], also: Iterable[str]) -> Diagnostic:
    if paths:
        longer = " or ".join(f"`{path.replace('.', '_')}`" for path in paths)
        return Diagnostic(name, None, "", f"`{name}` is ambiguous: {longer}", hint="use the longer name")
    near = difflib.get_close_matches(name, [*also, *names()], n=1)
    hint = f"did you mean `{near[0]}`?" if near else "`fowler presets --keys` lists every key"
    what = f"`{name}` is neither an argument nor a configuration key"
    return Diagnostic(name, None, "", what, hint=hint)


def text(value: Setting, unit: str = "") -> str:
    """Formats a value as the command line takes it.

    Raises:
        TypeError: if it is no value of a key.
    """
    its: Any = plain(value)
    match its:
        case bool():
            return "true" if its else "false"
        case str() | os.PathLike():
            return os.fsdecode(its)
        case int() | float():
            return f"{number(its)}{unit}"
        case bytes() | Mapping():
            raise TypeError(type(its))
        case _:
            return f"[{', '.join(text(it, unit) for it in its)}]"


def number(value: float) -> str:
    """Formats a number as configuration files have it. Accepts numpy scalars."""
    return int.__repr__(value) if isinstance(value, int) else float.__repr__(value)
