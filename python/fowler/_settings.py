"""Turns keyword arguments into configuration keys."""

from __future__ import annotations

import difflib
import functools
import keyword
import os
from collections.abc import Iterable, Mapping
from datetime import timedelta
from typing import Any, SupportsFloat, SupportsIndex

from fowler import _core
from fowler.errors import Diagnostic, InputError, plain, shown
from fowler.units import QUANTITIES, Time

Scalar = str | int | float | bool | timedelta
Setting = Scalar | os.PathLike[str] | SupportsIndex | SupportsFloat | Iterable["Setting"]
"""The value of a key. NumPy's scalars are numbers, too."""

EXPECTED = "a number, a string, a timedelta, true or false, or a list of these"


@functools.cache
def names() -> dict[str, tuple[str, ...]]:
    """Maps every argument name to the keys that it can mean.

    A key's names are its path with ``_`` for the dots, that path without ``policy_``, and its last part. A
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
        path = key(name, also)
        if isinstance(path, Diagnostic):
            diagnostics.append(path)
            continue
        try:
            found.append(f"{path}={text(value)}")
        except TypeError:
            what = f"invalid value {shown(value)}"
            diagnostics.append(Diagnostic(str(name), None, "", what, EXPECTED))
    return found, diagnostics


def key(name: str, also: Iterable[str] = ()) -> str | Diagnostic:
    """Returns the key that an argument sets, or a diagnostic."""
    if not isinstance(name, str):
        return Diagnostic(str(name), None, "", f"{name!r} is not the name of a key", "a string")
    name = name.rstrip("_") if keyword.iskeyword(name.rstrip("_")) else name
    paths = (name,) if "." in name else names().get(name, ())
    return paths[0] if len(paths) == 1 else _unknown(name, paths, also)


def _unknown(name: str, paths: tuple[str, ...], also: Iterable[str]) -> Diagnostic:
    if paths:
        longer = " or ".join(f"`{path.replace('.', '_')}`" for path in paths)
        return Diagnostic(name, None, "", f"`{name}` is ambiguous: {longer}", hint="use the longer name")
    near = difflib.get_close_matches(name, [*also, *names()], n=1)
    hint = f"did you mean `{near[0]}`?" if near else "`fowler presets --keys` lists every key"
    if measured := _measured(name):
        hint = f"the unit is part of the value: `{measured}`"
    what = f"`{name}` is neither an argument nor a configuration key"
    return Diagnostic(name, None, "", what, hint=hint)


def _measured(name: str) -> str | None:
    """Returns an example of a key with a unit, if the name is such a key's with a unit at its end."""
    for stem in names():
        for kind in {kinds()[path] for path in names()[stem] if name.startswith(f"{stem}_")}:
            quantity = QUANTITIES.get(kind)
            units = {unit.lower().replace("/", "_") for unit in quantity.units} if quantity else set()
            if quantity and name.removeprefix(f"{stem}_") in units:
                return f'{stem}="{quantity.example}"'
    return None


def text(value: Setting) -> str:
    """Formats a value as the command line takes it.

    Raises:
        TypeError: if it is no value of a key.
    """
    known: Any = plain(value)
    match known:
        case bool():
            return "true" if known else "false"
        case str() | os.PathLike():
            return os.fsdecode(known)
        case timedelta():
            return Time(known)
        case int() | float():
            return number(known)
        case bytes() | Mapping():
            raise TypeError(type(known))
        case _:
            return f"[{', '.join(text(it) for it in known)}]"


def number(value: float) -> str:
    """Formats a number as configuration files have it. Accepts numpy scalars."""
    return int.__repr__(value) if isinstance(value, int) else float.__repr__(value)
