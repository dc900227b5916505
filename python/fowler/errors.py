"""What goes wrong, said so that it can be put right."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

__all__ = ["InputError", "PolicyError", "Problem", "WorkerError"]


@dataclass(frozen=True, slots=True)
class Problem:
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

    The text of the exception lists every problem; ``problems`` holds them one by one.
    """

    problems: tuple[Problem, ...]

    def __init__(self, problems: Iterable[Problem]) -> None:
        """An error of these problems, of which there is at least one."""
        self.problems = tuple(problems)
        super().__init__("\n".join(str(problem) for problem in self.problems))

    def __reduce__(self) -> tuple[type[InputError], tuple[tuple[Problem, ...]]]:
        """Errors travel from worker to worker with all they know."""
        return type(self), (self.problems,)

    @classmethod
    def of(cls, told: Iterable[tuple[str, int | None, str, str, str, str | None]]) -> InputError:
        """The error that the simulator tells; its flags are arguments here."""
        return cls(Problem(_argument(file), *rest) for file, *rest in told)  # type: ignore[arg-type]


class PolicyError(RuntimeError):
    """A policy written in Python failed; what it raised is the cause, with its traceback."""

    policy: str
    """The policy and its method."""
    at_ns: int
    """When, in nanoseconds of simulated time."""

    def __init__(self, policy: str, at_ns: int, cause: object = None) -> None:
        """A failure of this policy at this moment."""
        self.policy, self.at_ns = policy, at_ns
        what = "" if cause is None else f": {type(cause).__name__}{_told(cause)}"
        super().__init__(f"{policy} at {at_ns / 1e9:.9f} s of simulated time{what}")

    def __reduce__(self) -> tuple[Any, ...]:
        """Errors travel from worker to worker."""
        return _policy_error, (self.policy, self.at_ns, str(self))


def _told(cause: object) -> str:
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

    No point is to blame; what it gave up for is its cause (``__cause__``). Finished points are kept.
    """


def _argument(file: str) -> str:
    return file[2:].replace("-", "_") if file.startswith("--") else file
