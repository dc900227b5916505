"""The exceptions that Fowler raises."""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["Diagnostic", "InputError", "PolicyError", "WorkerError"]


T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem with an input."""

    file: str
    """The file, or the argument that has the value. Empty if the problem belongs to no single place."""
    line: int | None
    """The line, counted from 1. ``None`` if there is none."""
    text: str
    """The offending text. May be empty."""
    what: str
    """What is wrong."""
    expected: str = ""
    """What was expected. May be empty."""
    hint: str | None = None
    """What to do about it."""

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        where = f"{self.file}{line}: " if self.file else ""
        more = [("text", self.text), ("expected", self.expected), ("hint", self.hint or "")]
        return "".join([where, self.what, *(f"\n    {name}: {its}" for name, its in more if its)])


class InputError(ValueError):
    """All problems with an input, reported together.

    The text of the exception lists all of them. ``diagnostics`` has them one by one.
    """

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Creates an error from at least one diagnostic."""
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Diagnostic, ...]]]:
        """Pickles the error with all diagnostics, so that it can be passed between processes."""
        return type(self), (self.diagnostics,)

    @classmethod
    def of(cls, reported: Iterable[tuple[str, int | None, str, str, str, str | None]]) -> InputError:
        """Creates the error from the simulator's diagnostics, with flags rewritten as arguments."""
        return cls(
            Diagnostic(
                _argument(file), line, text, _arguments(what), _arguments(expected), hint and _arguments(hint)
            )
            for file, line, text, what, expected, hint in reported
        )


class Gathered:
    """Collects the problems of one call, to raise them together."""

    def __init__(self) -> None:
        """Creates an empty collection."""
        self.diagnostics: list[Diagnostic] = []

    def take(self, step: Callable[[], T], otherwise: T) -> T:
        """Returns the result of ``step``, or collects its problems and returns ``otherwise``."""
        try:
            return step()
        except InputError as error:
            self.diagnostics += error.diagnostics
            return otherwise

    def whole(self, name: str, value: object, least: int) -> None:
        """Adds a diagnostic unless the value is ``None`` or a whole number of at least ``least``."""
        try:
            its = None if value is None else operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            its = -1
        if its is not None and not least <= its < 2**64:
            what, expected = f"invalid value {value!r}", f"a whole number, at least {least}"
            self.diagnostics.append(Diagnostic(name, None, "", what, expected))

    def done(self) -> None:
        """Raises everything collected, without duplicates."""
        if self.diagnostics:
            raise InputError(dict.fromkeys(self.diagnostics))


class PolicyError(RuntimeError):
    """A policy written in Python failed. The original exception, with its traceback, is the cause."""

    policy: str
    """The policy and its method."""
    at_ns: int
    """The simulated time of the failure, in nanoseconds."""

    def __init__(self, policy: str, at_ns: int, cause: object = None) -> None:
        """Creates the error of a policy that failed at this simulated time."""
        self.policy, self.at_ns = policy, at_ns
        what = "" if cause is None else f": {type(cause).__name__}{_cause_text(cause)}"
        super().__init__(f"{policy} at {at_ns / 1e9:.9f} s of simulated time{what}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the error, so that it can be passed between processes."""
        return _policy_error, (self.policy, self.at_ns, str(self))


def _cause_text(cause: object) -> str:
    try:
        return f": {cause}"
    except Exception:
        # The exception's own `__str__` failed; its type alone has to do.
        return ""


def _policy_error(policy: str, at_ns: int, text: str) -> PolicyError:
    error = PolicyError(policy, at_ns)
    error.args = (text,)
    return error


class WorkerError(RuntimeError):
    """The executor failed: a worker was killed, ran out of memory, or cannot run Fowler.

    No point of the sweep is at fault. The executor's exception is the cause (``__cause__``). Finished points
    are saved.
    """


def _argument(file: str) -> str:
    if file == "--fault":  # given several times there, and as a list here
        return "faults"
    return file[2:].replace("-", "_") if file.startswith("--") else file


def _arguments(text: str) -> str:
    """Rewrites the flags in a message as arguments: ``--remap modulo`` becomes ``remap="modulo"``."""
    text = re.sub(r"--set ([\w.]+)=(\S+)", r'set={"\1": \2}', text)
    text = re.sub(r"--([a-z][a-z-]*) ([a-z]\w*|[A-Z]\b)(?![\w ]*\()", _assigned, text)
    return re.sub(r"--([a-z][a-z-]*)", lambda its: its[1].replace("-", "_"), text)


def _assigned(its: re.Match[str]) -> str:
    value = its[2] if its[2].isupper() else f'"{its[2]}"'
    return f"{its[1].replace('-', '_')}={value}"
