"""The exceptions that Fowler raises."""

from __future__ import annotations

import errno
import operator
import os
import re
import reprlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, TypeVar

__all__ = ["Diagnostic", "InputError", "PolicyError", "WorkerError"]


T = TypeVar("T")


CONTROL = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f]")
"""Control characters except the newline. A terminal would obey them, and a message may quote them."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One problem with an input.

    >>> try:
    ...     fowler.device("pes-mlc", bufer_size="1MiB")
    ... except fowler.InputError as error:
    ...     error.diagnostics[0].hint
    'did you mean `buffer_size`?'
    """

    file: str
    """The file, or the argument that has the value. Empty if the problem belongs to no single place."""
    line: int | None
    """The line in the file, counted from 1. ``None`` if there is none."""
    text: str
    """The offending text. May be empty."""
    what: str
    """The problem, in words."""
    expected: str = ""
    """The form or the value that was expected. May be empty."""
    hint: str | None = None
    """A step that solves the problem. ``None`` if there is none."""

    def __str__(self) -> str:
        line = "" if self.line is None else f":{self.line}"
        where = f"{self.file}{line}: " if self.file else ""
        more = [("text", self.text), ("expected", self.expected), ("hint", self.hint or "")]
        text = "".join([where, self.what, *(f"\n    {name}: {said}" for name, said in more if said)])
        return CONTROL.sub(lambda found: f"\\u{{{ord(found[0]):x}}}", text)


class InputError(ValueError):
    """All problems with an input, reported together.

    The text of the exception lists all of them. ``diagnostics`` has them one by one.

    >>> try:
    ...     fowler.run("pes-mlx", "demo", limit=0)
    ... except fowler.InputError as error:
    ...     sorted(problem.file for problem in error.diagnostics)[-1]
    'limit'
    """

    diagnostics: tuple[Diagnostic, ...]

    def __init__(self, diagnostics: Iterable[Diagnostic]) -> None:
        """Creates an error from at least one diagnostic."""
        self.diagnostics = tuple(diagnostics)
        super().__init__("\n".join(str(diagnostic) for diagnostic in self.diagnostics))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Diagnostic, ...]]]:
        """Pickles the error with all diagnostics, so that it can be passed between processes."""
        return type(self), (self.diagnostics,)


MACHINE = frozenset(
    (
        errno.ENOSPC,
        errno.EDQUOT,
        errno.EFBIG,
        errno.EIO,
        errno.EROFS,
        errno.EMFILE,
        errno.ENFILE,
        errno.ENOMEM,
    )
)
"""The numbers of errors of which no input is the cause: the disk is full, or fails."""

Reported = tuple[str, int | None, str, str, str, str | None, int | None]


def raised(reported: Iterable[Reported]) -> InputError | OSError:
    """Returns the exception of the simulator's diagnostics, with flags rewritten as arguments."""
    listed = list(reported)
    for file, *_, number in listed:
        if number in MACHINE:
            return OSError(number, os.strerror(number), file)
    return InputError(
        Diagnostic(
            _argument(file), line, text, arguments(what), arguments(expected), hint and arguments(hint)
        )
        for file, line, text, what, expected, hint, _ in listed
    )


def of_requests(name: str, cause: BaseException) -> BaseException:
    """Returns the exception to raise if the object that provides requests raised ``cause``."""
    if isinstance(cause, InputError) or not isinstance(cause, Exception):
        return cause
    return InputError([Diagnostic(name, None, "", f"{type(cause).__name__}{_cause_text(cause)}")])


def plain(value: Any) -> Any:
    """Returns a scalar of NumPy, or an array without dimensions, as a value of Python; others as they are."""
    if getattr(value, "shape", None) == () and callable(getattr(value, "item", None)):
        if value.dtype.kind == "m":
            # A time of NumPy in nanoseconds has no `timedelta`.
            return f"{value.astype('timedelta64[ns]').astype(int)}ns"
        return value.item()
    return value


def shown(value: object) -> str:
    """Shows a value that cannot be used: itself if it is short, else its type."""
    if value is None or isinstance(value, str | bytes | bool | int | float | complex | list | tuple | dict):
        return reprlib.repr(value)
    return f"of type {type(value).__name__}"


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

    def wrong(self, name: str, value: object, expected: str) -> None:
        """Adds a diagnostic about the value of an argument."""
        self.diagnostics.append(Diagnostic(name, None, "", f"invalid value {shown(value)}", expected))

    def whole(self, name: str, value: object, least: int, most: int = 2**64 - 1) -> int | None:
        """Returns a whole number of at least ``least``, or ``None``, of which a wrong value is reported."""
        if value is None:
            return None
        given = plain(value)
        try:
            number = -1 if isinstance(given, bool) else operator.index(given)
        except TypeError:
            number = -1
        if least <= number <= most:
            return number
        upper = f", at most {most}" if most < 2**64 - 1 else ""
        self.wrong(name, given, f"a whole number, at least {least}{upper}")
        return None

    def real(self, name: str, value: object) -> float | None:
        """Returns a number, or ``None``, of which a wrong value is reported."""
        given = plain(value)
        if given is None:
            return None
        try:
            # Text is a number for float().
            number = None if isinstance(given, bool | str | bytes) else float(given)
        except (TypeError, ValueError, OverflowError):
            number = None
        if number is None:
            self.wrong(name, given, "a number")
        return number

    def word(self, name: str, value: object, expected: str) -> str | None:
        """Returns a text, or ``None``, of which a wrong value is reported."""
        given = plain(value)
        if given is None or isinstance(given, str):
            return given
        self.wrong(name, given, expected)
        return None

    def path(self, name: str, value: object, expected: str = "a path") -> str | None:
        """Returns a path as text, or ``None``, of which a wrong value is reported."""
        given = plain(value)
        if given is None:
            return None
        if isinstance(given, str | os.PathLike):
            return os.fsdecode(given)
        self.wrong(name, given, expected)
        return None

    def done(self) -> None:
        """Raises everything collected, without duplicates."""
        if self.diagnostics:
            raise InputError(dict.fromkeys(self.diagnostics))


class PolicyError(RuntimeError):
    """A policy written in Python failed. The original exception, with its traceback, is the cause.

    >>> class Broken:
    ...     def pick(self, view):
    ...         raise ValueError("not yet")
    >>> try:
    ...     fowler.run(drive, "demo", scheme=["fifo", Broken()], limit=100)
    ... except fowler.PolicyError as error:
    ...     error.policy, error.__cause__
    ('Broken.pick', ValueError('not yet'))
    """

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


def path_of(name: str, value: object, expected: str = "a path") -> str:
    """Returns a path as text.

    Raises:
        InputError: if it is none.
    """
    gathered = Gathered()
    path = gathered.path(name, value, expected)
    if path is None and not gathered.diagnostics:
        gathered.wrong(name, value, expected)
    gathered.done()
    return path or ""


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

    >>> issubclass(fowler.WorkerError, RuntimeError)
    True
    """


def _argument(file: str) -> str:
    if file == "--fault":  # given several times there, and as a list here
        return "faults"
    return file[2:].replace("-", "_") if file.startswith("--") else file


def arguments(text: str) -> str:
    """Rewrites the flags in a message as arguments: ``--remap modulo`` becomes ``remap="modulo"``."""
    text = re.sub(r"--set ([\w.]+)=([^\s,;]+)", _setting, text)
    text = re.sub(r"--([a-z][a-z-]*) ([a-z]\w*|[A-Z]\b)(?![\w ]*\()", _assigned, text)
    return re.sub(r"--([a-z][a-z-]*)", lambda flag: flag[1].replace("-", "_"), text)


def _setting(found: re.Match[str]) -> str:
    word = re.fullmatch(r"[A-Za-z]\w*", found[2]) and found[2] not in ("true", "false")
    value = f'"{found[2]}"' if word else found[2]
    return f'set={{"{found[1]}": {value}}}'


def _assigned(found: re.Match[str]) -> str:
    value = found[2] if found[2].isupper() else f'"{found[2]}"'
    return f"{found[1].replace('-', '_')}={value}"
