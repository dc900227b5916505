"""From keyword arguments to the text of a sweep's specification."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from fowler._settings import key, number
from fowler.errors import Diagnostic, InputError
from fowler.policies import Schemes

OWN = ("device", "scheme", "workload", "trace", "seed", "limit", "speed", "queue_depth", "idle")
"""What may be an axis and is no key of a drive."""

BY_NAME = {
    "device": ("a drive that is a value", "write its `toml()` to a file that ends in .toml"),
    "workload": ("a frame of requests", "write it as CSV, and name the file as `trace`"),
    "scheme": ("a policy of Python's", "give `fowler.run` or `fowler.compare` the policy"),
}
"""What a sweep has by name only: what else it may be elsewhere, and what to do about that."""


class Specification:
    """The text of a specification, which knows the argument that each line is of.

    What cannot be written is a diagnostic and is left out: nothing is put in its place.
    """

    def __init__(self, name: str, own: Iterable[str] = OWN) -> None:
        """One without a line.

        Args:
            name: What it is called in messages that belong to no argument.
            own: What may be varied in it and is no key of a drive.
        """
        self.name = name
        self._own = tuple(own)
        self._lines: list[tuple[str, str]] = []
        self._refused = 0
        self.diagnostics: list[Diagnostic] = []
        self.shapeless = False
        """Whether its design is missing, without which nothing else can be judged."""

    @property
    def text(self) -> str:
        """It as TOML."""
        return "".join(f"{line}\n" for _, line in self._lines)

    def add(self, argument: str, name: str, value: object) -> None:
        """Adds a key, unless it has no value."""
        if value is not None:
            self._key(argument, name, value)

    def axes(self, axes: Any, argument: str) -> None:
        """Adds what is varied."""
        if not isinstance(axes, Mapping):
            self.shapeless = True
            self.wrong(argument, f"this is {type(axes).__name__}", "values by the names of axes")
            return
        self._head(argument, "[axis]")
        before = len(self._lines)
        self._values([(f"{argument}[{name!r}]", name, values) for name, values in axes.items()], several=True)
        self.shapeless |= bool(axes) and len(self._lines) == before

    def rows(self, points: Any) -> None:
        """Adds the points of a list."""
        if isinstance(points, str | Mapping) or not isinstance(points, Iterable):
            self.shapeless = True
            expected = "a whole number, or a list of points, each its values by the names of axes"
            self.wrong("points", f"this is {type(points).__name__}", expected)
            return
        for place, point in enumerate(points):
            argument = f"points[{place}]"
            self._head(argument, "[[point]]")
            if isinstance(point, Mapping):
                self._values([(argument, name, value) for name, value in point.items()], several=False)
            else:
                what = f"a point is {type(point).__name__}"
                self.wrong(argument, what, "values by the names of axes")

    def reported(self, error: InputError, *, whole: bool) -> list[Diagnostic]:
        """What the simulator says of lines, as said of the arguments that they are of.

        Where something was left out it may miss that: what it says of no line counts only of a whole
        specification.
        """
        reported = []
        for its in error.diagnostics:
            if its.file != self.name:
                reported.append(its)
            elif its.line is not None and its.line <= len(self._lines):
                argument = self._lines[its.line - 1][0]
                reported.append(Diagnostic(argument, None, its.text, its.what, its.expected, its.hint))
            elif whole:
                reported.append(its)
        return reported

    def wrong(self, argument: str, what: str, expected: str = "", hint: str | None = None) -> None:
        """Takes down what is wrong with an argument."""
        self._refused += 1
        diagnostic = Diagnostic(argument, None, "", what, expected, hint)
        if diagnostic not in self.diagnostics:
            self.diagnostics.append(diagnostic)

    def _values(self, rows: Iterable[tuple[str, Any, Any]], *, several: bool) -> None:
        """Values by the names of axes: several of each, or one."""
        names: dict[str, str] = {}
        for argument, name, values in rows:
            found = self._varied(argument, name)
            if found is None:
                continue
            path, unit = found
            if path in names:
                what = f"`{names[path]}` and `{name}` are one axis"
                self.wrong(argument, what, hint="leave one of them out")
                continue
            names[path] = name
            self._key(argument, path, values, unit, several=several)

    def _varied(self, argument: str, name: Any) -> tuple[str, str] | None:
        """The key that a name stands for, and its unit."""
        if not isinstance(name, str):
            self.wrong(argument, f"{name!r} is no name", "a word")
            return None
        found = (name, "") if name in self._own else key(name)
        if not isinstance(found, Diagnostic):
            return found
        near = found.hint if "did you mean" in (found.hint or "") else None
        what = found.what.replace("no argument and no configuration key", "nothing that can be varied")
        self.wrong(argument, what, f"{', '.join(self._own)}, or a key of a drive", near)
        return None

    def _key(self, argument: str, name: str, value: Any, unit: str = "", *, several: bool = False) -> None:
        before = self._refused
        if several and isinstance(value, Iterable) and not isinstance(value, str | Mapping):
            text = f"[{', '.join(self._value(argument, name, it, unit) for it in value)}]"
        else:
            text = self._value(argument, name, value, unit)
        if self._refused == before:
            self._lines.append((argument, f"{_bare(name)} = {text}"))

    def _value(self, argument: str, name: str, value: Any, unit: str) -> str:
        """One value; of what a sweep has by name the name."""
        if (
            name not in BY_NAME
            or value is None
            or isinstance(value, str | os.PathLike | Mapping | int | float)
        ):
            return self._literal(argument, value, unit)
        if name == "scheme":
            try:
                schemes = Schemes([value])
            except InputError as error:
                for its in error.diagnostics:
                    self.wrong(argument, its.what, its.expected, its.hint)
                return ""
            if not schemes.policies:
                return self._literal(argument, schemes.names[0])
        what, hint = BY_NAME[name]
        reported = (
            f"{what} cannot be part of a sweep: workers find drives, schemes and requests by their names"
        )
        self.wrong(argument, reported, hint=hint)
        return ""

    def _head(self, argument: str, line: str) -> None:
        self._lines += [(argument, ""), (argument, line)]

    def _literal(self, argument: str, value: Any, unit: str = "") -> str:
        match value:
            case bool() | int() | float():
                return _number(value, unit)
            case str() | os.PathLike():
                return self._text(argument, os.fsdecode(value))
            case Mapping():
                # Only the ends of a range have the unit.
                units = {"from": unit, "to": unit}
                parts = (
                    f"{_bare(str(name))} = {self._literal(argument, part, units.get(name, ''))}"
                    for name, part in value.items()
                )
                return f"{{ {', '.join(parts)} }}"
            case Iterable():
                return f"[{', '.join(self._literal(argument, it, unit) for it in value)}]"
        plain = getattr(value, "item", None)
        if plain is not None:
            # A scalar of numpy's that is no number of Python's.
            return self._literal(argument, plain(), unit)
        what = f"`{value!r}` is {type(value).__name__}"
        expected = "a number, a word, a list of such, or a range: {'from': .., 'to': ..}"
        self.wrong(argument, what, expected)
        return ""

    def _text(self, argument: str, text: str) -> str:
        try:
            text.encode()
        except UnicodeEncodeError:
            self.wrong(argument, f"{text!r} is no text: it has half a character", "text that UTF-8 can hold")
        return _quoted(text)


def _number(value: float, unit: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{number(value)}{unit}"' if unit else number(value)


def _bare(name: str) -> str:
    plain = name and all(it.isascii() and (it.isalnum() or it in "_-") for it in name)
    return name if plain else _quoted(name)


def _quoted(text: str) -> str:
    # What JSON escapes TOML does too, and one character more.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
