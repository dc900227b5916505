"""What goes wrong, said so that it can be put right."""

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
    """One thing that is wrong with an input."""

    file: str
    """Where: a file, or the argument that carried the value; empty if nowhere in particular."""
    line: int | None
    """The line, from 1, where there is one."""
    text: str
    """The offending text; may be empty."""
    what: str
    """What is wrong."""
    expected: str = ""
    """What would have been right; may be empty."""
    hint: str | None = None
    """What to do about it."""

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        where = f"{self.file}{line}: " if self.file else ""
        more = [("text", self.text), ("expected", self.expected), ("hint", self.hint or "")]
        return "".join([where, self.what, *(f"\n    {name}: {its}" for name, its in more if its)])


class InputError(ValueError):
    """Everything that is wrong with an input, all at once.

    The text of the exception lists everything; ``diagnostics`` holds it one by one.
    """

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        """An error of these diagnostics, of which there is at least one."""
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Diagnostic, ...]]]:
        """Errors travel from worker to worker with all they know."""
        return type(self), (self.diagnostics,)

    @classmethod
    def of(cls, reported: Iterable[tuple[str, int | None, str, str, str, str | None]]) -> InputError:
        """The error that the simulator reports; its flags are arguments here."""
        return cls(
            Diagnostic(
                _argument(file), line, text, _arguments(what), _arguments(expected), hint and _arguments(hint)
            )
            for file, line, text, what, expected, hint in reported
        )


class Gathered:
    """What is wrong with the steps of one call, until all of them have been looked at."""

    def __init__(self) -> None:
        """Nothing yet."""
        self.diagnostics: list[Diagnostic] = []

    def take(self, step: Callable[[], T], otherwise: T) -> T:
        """What a step comes to, or something sound in its place."""
        try:
            return step()
        except InputError as error:
            self.diagnostics += error.diagnostics
            return otherwise

    def whole(self, name: str, value: object, least: int) -> None:
        """Notes what is no whole number of at least so much; ``None`` is nothing said."""
        try:
            its = None if value is None else operator.index(value)  # type: ignore[arg-type]
        except TypeError:
            its = -1
        if its is not None and not least <= its < 2**64:
            what, expected = f"{value!r} is no such number", f"a whole number from {least}"
            self.diagnostics.append(Diagnostic(name, None, "", what, expected))

    def done(self) -> None:
        """Raises all of it, each thing once."""
        if self.diagnostics:
            raise InputError(dict.fromkeys(self.diagnostics))


class PolicyError(RuntimeError):
    """A policy written in Python failed; what it raised is the cause, with its traceback."""

    policy: str
    """The policy and its method."""
    at_ns: int
    """When, in nanoseconds of simulated time."""

    def __init__(self, policy: str, at_ns: int, cause: object = None) -> None:
        """A failure of this policy at this moment."""
        self.policy, self.at_ns = policy, at_ns
        what = "" if cause is None else f": {type(cause).__name__}{_cause_text(cause)}"
        super().__init__(f"{policy} at {at_ns / 1e9:.9f} s of simulated time{what}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors travel from worker to worker."""
        return _policy_error, (self.policy, self.at_ns, str(self))


def _cause_text(cause: object) -> str:
    try:
        return f": {cause}"
    except Exception:
        # What cannot say what is wrong is wrong all the same.
        return ""


def _policy_error(policy: str, at_ns: int, text: str) -> PolicyError:
    error = PolicyError(policy, at_ns)
    error.args = (text,)
    return error


class WorkerError(RuntimeError):
    """What runs points elsewhere gave up: a worker was killed, ran out of memory, or cannot run Fowler.

    No point is to blame; what it gave up for is its cause (``__cause__``). Finished points are saved.
    """


def _argument(file: str) -> str:
    return file[2:].replace("-", "_") if file.startswith("--") else file


def _arguments(text: str) -> str:
    """What is said of flags, said of arguments: ``--remap modulo`` is ``remap="modulo"``."""
    text = re.sub(r"--set ([\w.]+)=(\S+)", r'set={"\1": \2}', text)
    text = re.sub(r"--([a-z][a-z-]*) ([a-z]\w*|[A-Z]\b)(?![\w ]*\()", _assigned, text)
    return re.sub(r"--([a-z][a-z-]*)", lambda its: its[1].replace("-", "_"), text)


def _assigned(its: re.Match[str]) -> str:
    value = its[2] if its[2].isupper() else f'"{its[2]}"'
    return f"{its[1].replace('-', '_')}={value}"
