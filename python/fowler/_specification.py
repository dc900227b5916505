"""From keyword arguments to the text of a sweep's specification."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from typing import Any

from fowler._settings import key, number
from fowler.errors import InputError, Problem

OWN = ("device", "scheme", "workload", "trace", "seed", "limit", "speed", "queue_depth", "idle")
"""What may be an axis and is no key of a drive."""

NAME = "sweep"
"""What a specification without a file is called in messages that belong to no argument."""


class Specification:
    """The text of a specification, which knows the argument that each line is of."""

    def __init__(self) -> None:
        """One without a line."""
        self._lines: list[tuple[str, str]] = []
        self.problems: list[Problem] = []

    @property
    def text(self) -> str:
        """It as TOML."""
        return "".join(f"{line}\n" for _, line in self._lines)

    def add(self, argument: str, name: str, value: object) -> None:
        """Adds a key, unless it has no value."""
        if value is not None:
            self._line(argument, f"{_bare(name)} = {self._literal(argument, value)}")

    def axes(self, axes: Mapping[str, Any]) -> None:
        """Adds what is varied."""
        self._line("axes", "")
        self._line("axes", "[axis]")
        for name, values in axes.items():
            self._axis(f"axes[{name!r}]", name, values)

    def rows(self, points: Iterable[Mapping[str, Any]]) -> None:
        """Adds the points of a list."""
        for place, point in enumerate(points):
            argument = f"points[{place}]"
            self._line(argument, "")
            self._line(argument, "[[point]]")
            if not isinstance(point, Mapping):
                what = f"a point is {type(point).__name__}"
                self.problems.append(Problem(argument, None, "", what, "values by the names of axes"))
                continue
            for name, value in point.items():
                self._axis(argument, name, value)

    def told(self, error: InputError) -> InputError:
        """What the simulator says of a line, as said of the argument that the line is of."""

        def of(problem: Problem) -> Problem:
            if problem.file != NAME or problem.line is None or problem.line > len(self._lines):
                return problem
            argument, text = self._lines[problem.line - 1][0], problem.text
            return Problem(argument, None, text, problem.what, problem.expected, problem.hint)

        return InputError([*self.problems, *map(of, error.problems)])

    def _axis(self, argument: str, name: str, values: Any) -> None:
        found = (name, "") if name in OWN else key(name)
        if isinstance(found, Problem):
            near = {"hint": found.hint} if "did you mean" in (found.hint or "") else {}
            known = f"{', '.join(OWN)}, or a key of a drive"
            what = found.what.replace("no argument and no configuration key", "nothing that can be varied")
            self.problems.append(Problem(argument, None, "", what, known, **near))
            return
        path, unit = found
        self._line(argument, f"{_bare(path)} = {self._literal(argument, values, unit)}")

    def _line(self, argument: str, line: str) -> None:
        self._lines.append((argument, line))

    def _literal(self, argument: str, value: Any, unit: str = "") -> str:
        match value:
            case bool() | int() | float():
                return _number(value, unit)
            case str() | os.PathLike():
                return json.dumps(os.fspath(value), ensure_ascii=False)
            case Mapping():
                # Only the ends of a range have the unit.
                units = {"from": unit, "to": unit}
                parts = (
                    f"{_bare(name)} = {self._literal(argument, part, units.get(name, ''))}"
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
        self.problems.append(Problem(argument, None, "", what, expected))
        return '""'


def _number(value: float, unit: str) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    return f'"{number(value)}{unit}"' if unit else number(value)


def _bare(name: str) -> str:
    plain = name and all(it.isascii() and (it.isalnum() or it in "_-") for it in name)
    return name if plain else json.dumps(name, ensure_ascii=False)


def named(device: object, workload: object) -> list[Problem]:
    """What a specification cannot have, because it has names only."""
    problems = []
    for argument, value, what, hint in (
        ("device", device, "a drive that is a value", "write its `toml()` to a file that ends in .toml"),
        ("workload", workload, "a frame of requests", "write it as CSV, and name the file as `trace`"),
    ):
        if not (value is None or isinstance(value, str | os.PathLike)):
            told = f"{what} cannot be part of a sweep: workers find drives and requests by their names"
            problems.append(Problem(argument, None, "", told, hint=hint))
    return problems
