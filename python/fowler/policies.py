"""Policies written in Python: an object with one of the methods below, in a scheme beside names of ours.

>>> import fowler
>>> class ReadFirst:
...     def pick(self, view):
...         return view.head("host_read") or view.oldest()
>>> r = fowler.run("pes-mlc", "demo", scheme=["fifo", ReadFirst()], limit=1_000)
>>> r.scheme
'fifo+ReadFirst'

It takes the place of what the rest of the scheme chooses for its slot. Each drive has a copy of its own
(:func:`copy.deepcopy`), made before the first request. What it raises ends the run as
:class:`fowler.PolicyError`.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from fowler import _arguments
from fowler._core import Page, Read, Running, View, Waiting, Write
from fowler.errors import InputError, Problem

if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = [
    "AnyPolicy",
    "AnyScheme",
    "DieOrder",
    "Hotness",
    "Kind",
    "Page",
    "Read",
    "Running",
    "Suspension",
    "Throttle",
    "View",
    "Waiting",
    "Write",
]

Kind = Literal["host_read", "background_read", "host_program", "background_program", "erase"]
"""What waits for a die: reads that the host waits for, every other read, programs of the host's data, every
other program, and erases."""


@runtime_checkable
class DieOrder(Protocol):
    """Which waiting transaction a die serves next."""

    def pick(self, view: View) -> Waiting | None:
        """One of those that ``view`` shows; ``None`` leaves the die as it is until something happens on it.

        Asked when a die is free, and when something new waits for one that may be interrupted.
        """


@runtime_checkable
class Suspension(Protocol):
    """Whether a read may interrupt the program or the erase that its die is at."""

    def allows(self, running: Running, read: Read) -> Literal["at_once", "phase_end"] | None:
        """``"at_once"`` loses the phase that runs (IPC), ``"phase_end"`` waits for its end (IPS).

        Asked of the read that the die order names, if ``policy.suspension.reads`` lets it suspend; once more
        whenever something happens on the die.
        """


@runtime_checkable
class Hotness(Protocol):
    """How a page was used in the buffer; in the place of the detector ``buffer_hits``.

    The drive has to use that detector.
    """

    def classify(self, page: Page) -> Literal["read_hot", "write_hot", "mixed"]:
        """Asked when the page's program is opened, and when it leaves the buffer."""


@runtime_checkable
class Throttle(Protocol):
    """When a write may enter; in the place of a throttle, which the drive has to have."""

    def admit(self, write: Write) -> float:
        """For how many nanoseconds the write is held that could enter now; asked once for each, in order."""


AnyPolicy: TypeAlias = "DieOrder | Suspension | Hotness | Throttle"
AnyScheme: TypeAlias = "str | AnyPolicy | Sequence[str | AnyPolicy]"
"""A scheme's name, several joined by ``+``, a file that ends in ``.toml``, a policy, or a list of these."""

_SLOTS = {"pick": DieOrder, "allows": Suspension, "classify": Hotness, "admit": Throttle}


class Schemes:
    """Schemes by name, with the policies that they join."""

    def __init__(self, schemes: Iterable[AnyScheme]) -> None:
        """All of them at once: a policy has one name in all.

        Raises:
            InputError: for everything that is neither a name nor a policy.
        """
        self._policies: dict[str, object] = {}
        self._problems: list[Problem] = []
        self.names = [self._joined(scheme) for scheme in schemes]
        if self._problems:
            raise InputError(self._problems)

    @property
    def policies(self) -> list[_arguments.Policy]:
        """What the simulator takes."""
        return [
            {
                "name": name,
                "label": _label(policy),
                "methods": [method for method, slot in _SLOTS.items() if isinstance(policy, slot)],
                "object": policy,
            }
            for name, policy in self._policies.items()
        ]

    def _joined(self, scheme: AnyScheme) -> str:
        parts: Sequence[object] = [scheme]
        if isinstance(scheme, Sequence) and not isinstance(scheme, str):
            parts = scheme
        if not parts:
            self._wrong(scheme)
        return "+".join(part if isinstance(part, str) else self._named(part) for part in parts)

    def _named(self, policy: object) -> str:
        if inspect.isclass(policy) or not _fills(policy):
            self._wrong(policy)
            return ""
        wanted = str(getattr(policy, "name", type(policy).__name__))
        if "+" in wanted or "," in wanted:
            what = f"a policy cannot be called `{wanted}`"
            self._problems.append(Problem("scheme", None, "", what, "a name without + and ,"))
        number, name = 1, wanted
        while self._policies.setdefault(name, policy) is not policy:
            number += 1
            name = f"{wanted} {number}"
        return name

    def _wrong(self, what: object) -> None:
        hint = None
        if inspect.isclass(what) and _fills(what):
            hint = f"hand over an object: {what.__name__}()"
        expected = f"a scheme's name, or an object with a method {', '.join(_SLOTS)}"
        self._problems.append(
            Problem("scheme", None, "", f"{what!r} is neither a scheme nor a policy", expected, hint)
        )


def _fills(what: object) -> bool:
    return any(isinstance(what, slot) for slot in _SLOTS.values())


def _label(policy: object) -> str:
    """What tells a policy from every other: its class, its source, and its plain parameters."""
    kind = type(policy)
    plain = {key: its for key, its in vars(policy).items() if isinstance(its, str | int | float | None)}
    try:
        source = hashlib.sha256(inspect.getsource(kind).encode()).hexdigest()[:16]
    except (OSError, TypeError):
        source = "unknown"
    arguments = ", ".join(f"{key}={its!r}" for key, its in sorted(plain.items()))
    return f"{kind.__module__}.{kind.__qualname__}({arguments}), source {source}"
