"""Turns keyword arguments into the text of a sweep's specification."""

from __future__ import annotations

import itertools
import json
import os
from collections.abc import Container, Iterable, Mapping
from datetime import timedelta
from typing import Any

from fowler import _arguments
from fowler._core import presets
from fowler._requests import once, readable
from fowler._settings import key, text
from fowler.drive import Device
from fowler.errors import Diagnostic, InputError, plain, shown
from fowler.policies import Schemes
from fowler.source import name_of
from fowler.units import Time

OWN = ("device", "scheme", "workload", "trace", "seed", "limit", "speed", "queue_depth", "idle")
"""The axes that are not keys of a drive."""

OBJECTS = ("device", "scheme", "workload")
"""The keys whose values may be objects: drives, policies and requests."""


class Objects:
    """The objects that a specification names: drives, policies and requests."""

    def __init__(self) -> None:
        """Creates a collection without objects."""
        self._schemes = Schemes([])
        self._devices: list[tuple[str, Device, str]] = []
        self._requests: list[tuple[str, object, object]] = []

    @property
    def given(self) -> _arguments.Given | None:
        """The objects as the compiled module takes them; ``None`` if there are none."""
        policies = self._schemes.policies
        if not (self._devices or self._requests or policies):
            return None
        return {
            "devices": [(name, text) for name, _, text in self._devices],
            "policies": policies,
            "requests": [(name, rows) for name, _, rows in self._requests],
        }

    def name_of(self, key: str, value: Any) -> str:
        """Returns the name of an object, the same for the same object.

        Raises:
            InputError: if the key takes no such object.
        """
        if key == "scheme":
            return self._schemes.add(value)
        if key == "device":
            if not isinstance(value, Device):
                what = f"invalid value {shown(value)}"
                raise InputError([Diagnostic("", None, "", what, "a preset's name, a file, or a drive")])
            return self._device(value)
        return self._workload(value)

    def _device(self, value: Device) -> str:
        for name, known, _ in self._devices:
            if known is value:
                return name
        taken = {name for name, *_ in self._devices} | {
            known for kind, known, _ in presets() if kind == "device"
        }
        name = numbered(value.name, taken)
        self._devices.append((name, value, value.toml()))
        return name

    def _workload(self, value: object) -> str:
        for name, known, _ in self._requests:
            if known is value:
                return name
        requests = readable(value)
        if once(requests):
            what = "requests that can be read only once are no part of a sweep: each point reads them"
            hint = "pass a table, such as a polars frame"
            raise InputError([Diagnostic("", None, "", what, hint=hint)])
        name = numbered(name_of(value), {name for name, *_ in self._requests})
        self._requests.append((name, value, requests))
        return name


def numbered(wanted: str, taken: Container[str]) -> str:
    """Returns a name that is not taken: the one wanted, or the first number after it that is free."""
    names = (wanted if number == 1 else f"{wanted} {number}" for number in itertools.count(1))
    return next(name for name in names if name not in taken)


class Specification:
    """The text of a specification. It remembers which argument each line comes from.

    A value that cannot be written adds a diagnostic and no line.
    """

    def __init__(self, name: str, own: Iterable[str] = OWN) -> None:
        """Creates an empty specification.

        Args:
            name: The name of the specification in messages that belong to no argument.
            own: The axes that are not keys of a drive.
        """
        self.name = name
        self._own = tuple(own)
        self._lines: list[tuple[str, str]] = []
        self._refused = 0
        self.diagnostics: list[Diagnostic] = []
        self.objects = Objects()
        """The drives, policies and requests of the specification that are in no preset and no file."""
        self.shapeless = False
        """True if the design is missing. Without a design the rest cannot be checked."""

    @property
    def text(self) -> str:
        """The specification as TOML."""
        return "".join(f"{line}\n" for _, line in self._lines)

    def add(self, argument: str, name: str, value: object) -> None:
        """Adds a key, unless the value is ``None``."""
        if value is not None:
            self._key(argument, name, value)

    def axes(self, axes: Any, argument: str) -> None:
        """Adds the axes."""
        if not isinstance(axes, Mapping):
            self.shapeless = True
            self.wrong(argument, f"got {type(axes).__name__}", "a dictionary from axes to their values")
            return
        self._head(argument, "[axis]")
        before = len(self._lines)
        self._values([(f"{argument}[{name!r}]", name, values) for name, values in axes.items()], several=True)
        self.shapeless |= bool(axes) and len(self._lines) == before

    def rows(self, points: Any) -> None:
        """Adds the points of a list."""
        if isinstance(points, str | Mapping) or not isinstance(points, Iterable):
            self.shapeless = True
            expected = "a whole number, or a list of points, each a dictionary from axes to values"
            self.wrong("points", f"got {type(points).__name__}", expected)
            return
        for place, point in enumerate(points):
            argument = f"points[{place}]"
            self._head(argument, "[[point]]")
            if isinstance(point, Mapping):
                self._values([(argument, name, value) for name, value in point.items()], several=False)
            else:
                self.wrong(argument, f"got {type(point).__name__}", "a dictionary from axes to values")

    def reported(self, error: InputError, *, whole: bool) -> list[Diagnostic]:
        """Returns the simulator's diagnostics with lines replaced by the arguments they come from.

        Diagnostics that belong to no line are kept only if the specification is ``whole``: otherwise they
        may complain about what was left out.
        """
        reported = []
        for problem in error.diagnostics:
            if problem.file != self.name:
                reported.append(problem)
            elif problem.line is not None and problem.line <= len(self._lines):
                argument = self._lines[problem.line - 1][0]
                reported.append(
                    Diagnostic(argument, None, problem.text, problem.what, problem.expected, problem.hint)
                )
            elif whole:
                reported.append(problem)
        return reported

    def wrong(self, argument: str, what: str, expected: str = "", hint: str | None = None) -> None:
        """Adds a diagnostic about an argument."""
        self._refused += 1
        diagnostic = Diagnostic(argument, None, "", what, expected, hint)
        if diagnostic not in self.diagnostics:
            self.diagnostics.append(diagnostic)

    def _values(self, rows: Iterable[tuple[str, Any, Any]], *, several: bool) -> None:
        """Adds axes with their values: several values for each axis, or one."""
        names: dict[str, str] = {}
        for argument, name, values in rows:
            found = self._varied(argument, name)
            if found is None:
                continue
            if found in names:
                what = f"`{names[found]}` and `{name}` are the same axis"
                self.wrong(argument, what, hint="remove one of them")
                continue
            names[found] = name
            self._key(argument, found, values, several=several)

    def _varied(self, argument: str, name: Any) -> str | None:
        """Returns the key that a name stands for."""
        if not isinstance(name, str):
            self.wrong(argument, f"{name!r} is not the name of an axis", "a string")
            return None
        found = name if name in self._own else key(name)
        if not isinstance(found, Diagnostic):
            return found
        near = found.hint if "fowler presets" not in (found.hint or "") else None
        what = found.what.replace("is neither an argument nor a configuration key", "cannot be varied")
        self.wrong(argument, what, f"{', '.join(self._own)}, or a configuration key", near)
        return None

    def _key(self, argument: str, name: str, value: Any, *, several: bool = False) -> None:
        before = self._refused
        value = plain(value)
        if (
            several
            and isinstance(value, Iterable)
            and not isinstance(value, str | Mapping)
            and not _table(name, value)
        ):
            text = f"[{', '.join(self._value(argument, name, it) for it in value)}]"
        else:
            text = self._value(argument, name, value)
        if self._refused == before:
            self._lines.append((argument, f"{_bare(name)} = {text}"))

    def _value(self, argument: str, name: str, value: Any) -> str:
        """Returns one value as TOML. Drives, schemes and workloads are written by name."""
        simple = value is None or isinstance(value, str | os.PathLike | int | float)
        if name == "trace" and not simple:
            hint = "requests that are an object, such as a frame, are a `workload`"
            self.wrong(argument, f"invalid value {shown(value)}", "the path of a trace", hint)
            return ""
        if name not in OBJECTS or simple:
            return self._literal(argument, value)
        if isinstance(value, Mapping) and ("from" in value or name != "workload"):
            return self._literal(argument, value)
        try:
            return self._text(argument, self.objects.name_of(name, value))
        except InputError as error:
            for problem in error.diagnostics:
                self.wrong(argument, problem.what, problem.expected, problem.hint)
            return ""

    def _head(self, argument: str, line: str) -> None:
        self._lines += [(argument, ""), (argument, line)]

    def _literal(self, argument: str, value: Any) -> str:
        value = plain(value)
        match value:
            case bool() | int() | float():
                return text(value)
            case timedelta():
                return _quoted(Time(value))
            case str() | os.PathLike():
                return self._text(argument, os.fsdecode(value))
            case Mapping():
                parts = (
                    f"{_bare(str(name))} = {self._literal(argument, part)}" for name, part in value.items()
                )
                return f"{{ {', '.join(parts)} }}"
            case Iterable() if not isinstance(value, bytes):
                return f"[{', '.join(self._literal(argument, it) for it in value)}]"
        what = f"invalid value {value!r} of type {type(value).__name__}"
        expected = "a number, a string, a list of these, or a range: {'from': .., 'to': ..}"
        self.wrong(argument, what, expected)
        return ""

    def _text(self, argument: str, text: str) -> str:
        try:
            text.encode()
        except UnicodeEncodeError:
            self.wrong(argument, f"{text!r} has a lone surrogate", "text that can be encoded as UTF-8")
        return _quoted(text)


def _table(name: str, value: object) -> bool:
    """True if the value is a workload of one table, although one can iterate over its columns."""
    return name == "workload" and hasattr(value, "__arrow_c_stream__")


def _bare(name: str) -> str:
    plain = name and all(it.isascii() and (it.isalnum() or it in "_-") for it in name)
    return name if plain else _quoted(name)


def _quoted(text: str) -> str:
    # TOML escapes what JSON does, and DEL too.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
