"""Policies written in Python: objects with one of the methods below, used in a scheme.

>>> import fowler
>>> class ReadFirst:
...     def pick(self, view):
...         return view.head("host_read") or view.oldest()
>>> r = fowler.run("pes-mlc", "demo", scheme=["fifo", ReadFirst()], limit=1_000)
>>> r.scheme
'fifo+ReadFirst'

A policy replaces the choice that the rest of the scheme makes for its slot. It is copied when it is passed in
(:func:`copy.deepcopy`), and each drive gets its own copy of that copy. An exception in it ends the run as
:class:`fowler.PolicyError`.
"""

from __future__ import annotations

import copy
import hashlib
import inspect
import os
import pickle
import re
import uuid
from collections.abc import Iterable, Sequence
from types import CodeType
from typing import TYPE_CHECKING, Literal, Protocol, runtime_checkable

from fowler import _arguments
from fowler._core import Block, Data, Page, Plane, Read, Running, View, Waiting, Write, presets
from fowler.errors import Diagnostic, InputError, PolicyError

if TYPE_CHECKING:
    from typing import TypeAlias

__all__ = [
    "AnyPolicy",
    "AnyScheme",
    "Block",
    "Data",
    "DieOrder",
    "Hotness",
    "Kind",
    "Page",
    "Placement",
    "Plane",
    "Read",
    "Running",
    "Suspension",
    "Throttle",
    "Victim",
    "View",
    "Waiting",
    "Write",
]

Kind = Literal["host_read", "background_read", "host_program", "background_program", "erase"]
"""The kinds of transactions that wait for a die: reads that the host waits for, all other reads, programs of
host data, all other programs, and erases."""


@runtime_checkable
class DieOrder(Protocol):
    """Decides which waiting transaction a die serves next.

    >>> class ReadFirst:
    ...     def pick(self, view):
    ...         return view.head("host_read") or view.oldest()
    >>> isinstance(ReadFirst(), DieOrder)
    True
    """

    def pick(self, view: View) -> Waiting:
        """Returns one of the transactions that ``view`` shows. A die is never idle while it could serve one.

        Called when a die becomes free, and when a transaction arrives at a die that may be interrupted.
        """


@runtime_checkable
class Suspension(Protocol):
    """Decides whether a read may suspend the program or erase that runs on its die.

    >>> class OnlyErases:
    ...     def allows(self, running, read):
    ...         return "phase_end" if running.erases else None
    >>> fowler.run(drive, "demo", scheme=["rps", OnlyErases()], limit=100).scheme
    'rps+OnlyErases'
    """

    def allows(self, running: Running, read: Read) -> Literal["at_once", "phase_end"] | None:
        """Returns when to suspend, or ``None`` to let the operation run.

        ``"at_once"`` loses the running phase (IPC), ``"phase_end"`` waits for its end (IPS).

        Called for the read that the die order picks, if ``policy.suspension.reads`` lets it suspend, and
        again whenever something happens on the die.
        """


@runtime_checkable
class Hotness(Protocol):
    """Decides how a page was used in the buffer. Replaces the detector ``buffer_hits``.

    The drive must use that detector.

    >>> class Often:
    ...     def classify(self, page):
    ...         return "read_hot" if page.reads > 2 * page.writes else "mixed"
    >>> isinstance(Often(), Hotness)
    True
    """

    def classify(self, page: Page) -> Literal["read_hot", "write_hot", "mixed"]:
        """Returns the class of a page. Called when its program is created and when it leaves the buffer."""


@runtime_checkable
class Throttle(Protocol):
    """Decides how long to delay a write. Replaces a throttle; the drive must have one.

    >>> class Steady:
    ...     def admit(self, write):
    ...         return 1_000.0 * write.pages
    >>> isinstance(Steady(), Throttle)
    True
    """

    def admit(self, write: Write) -> float:
        """Returns the nanoseconds to delay a write that could enter now. Called once per write, in order."""


@runtime_checkable
class Victim(Protocol):
    """Decides which block of a plane garbage collection empties next.

    The policy acts while the drive is preconditioned, too, because the state of a drive in use depends on it.

    >>> class OldestFirst:
    ...     def collect(self, plane):
    ...         return min(plane.blocks(), key=lambda block: block.order)
    >>> isinstance(OldestFirst(), Victim)
    True
    """

    def collect(self, plane: Plane) -> Block:
        """Returns one of the full blocks that ``plane`` shows, at least one of which has an invalid page.

        Called when a plane needs space, and in idle time. The answer may remain without effect: in idle time
        a block is collected only if that is worth its moves.
        """


@runtime_checkable
class Placement(Protocol):
    """Decides which kinds of data share blocks, and which erased block is opened next.

    >>> class HotApart:
    ...     def stream(self, data):
    ...         return 1 if data.hot and data.streams > 1 else 0
    >>> isinstance(HotApart(), Placement)
    True

    A second method, ``opens(self, data)``, is optional. It returns which erased block the data opens next:
    ``"oldest"``, the one erased longest ago (as without the method), or ``"strongest"`` or ``"weakest"``, the
    one believed to accumulate errors most slowly or fastest.
    """

    def stream(self, data: Data) -> int:
        """Returns the stream of one kind of data: a number from 0 to below ``data.streams``.

        Data of different streams are never in the same block. Called once for each kind, before the first
        request.
        """


AnyPolicy: TypeAlias = "DieOrder | Suspension | Hotness | Throttle | Victim | Placement"
AnyScheme: TypeAlias = "str | os.PathLike[str] | AnyPolicy | Sequence[str | os.PathLike[str] | AnyPolicy]"
"""A scheme's name, several joined by ``+``, a file that ends in ``.toml``, a policy, or a list of these."""

_SLOTS = {
    "pick": DieOrder,
    "allows": Suspension,
    "classify": Hotness,
    "admit": Throttle,
    "collect": Victim,
    "stream": Placement,
}


class Schemes:
    """Schemes by name, with the policies written in Python that they contain."""

    def __init__(self, schemes: Iterable[AnyScheme]) -> None:
        """Copies the policies and names them; a policy has the same name in all schemes.

        Raises:
            InputError: for everything that is neither a scheme nor a policy.
            PolicyError: if a policy cannot be copied.
        """
        self._policies: dict[str, tuple[object, _arguments.Policy]] = {}
        self._diagnostics: list[Diagnostic] = []
        self.names: list[str] = []
        schemes = list(schemes)
        self.names = [self._joined(scheme) for scheme in schemes]
        for scheme in schemes:
            self._shadowed(scheme)
        if self._diagnostics:
            raise InputError(self._diagnostics)

    def add(self, scheme: AnyScheme) -> str:
        """Adds a scheme and returns its name.

        Raises:
            InputError: if it is neither a scheme nor a policy.
            PolicyError: if a policy cannot be copied.
        """
        self._diagnostics = []
        name = self._joined(scheme)
        self._shadowed(scheme)
        if self._diagnostics:
            raise InputError(self._diagnostics)
        self.names.append(name)
        return name

    @property
    def policies(self) -> list[_arguments.Policy]:
        """The policies as the compiled module takes them."""
        return [arguments for _, arguments in self._policies.values()]

    def _joined(self, scheme: AnyScheme) -> str:
        parts = _parts(scheme)
        if not parts:
            self._wrong(scheme)
        return "+".join(part if isinstance(part, str) else self._named(part) for part in parts)

    def _named(self, policy: object) -> str:
        if inspect.isclass(policy) or not _fills(policy):
            self._wrong(policy)
            return ""
        methods = [method for method, slot in _SLOTS.items() if isinstance(policy, slot)]
        if len(methods) > 1:
            what = f"{_shown(policy)} has the methods {' and '.join(methods)}, but may fill only one slot"
            hint = "split it into one object per method"
            self._diagnostics.append(Diagnostic("scheme", None, "", what, hint=hint))
        name = self._name_of(policy)
        if name not in self._policies:
            try:
                copied = copy.deepcopy(policy)
            except Exception as error:
                raise PolicyError(f"{name}: its copy", 0, error) from error
            arguments: _arguments.Policy = {
                "name": name,
                "label": _label(copied),
                "methods": methods,
                "object": copied,
            }
            self._policies[name] = policy, arguments
        return name

    def _name_of(self, policy: object) -> str:
        try:
            wanted = str(getattr(policy, "name", type(policy).__name__))
        except Exception as error:
            what = f"reading the name of a policy failed: {error!r}"
            self._diagnostics.append(Diagnostic("scheme", None, "", what))
            return ""
        taken = {name for kind, name, _ in presets() if kind == "scheme"}
        if wanted in taken or wanted != wanted.strip() or not wanted or re.search(r"[+,]|\.toml$", wanted):
            what = f"a policy cannot be called `{wanted}`"
            expected = "a name without + and `,` that is not a scheme's and does not end in .toml"
            hint = "set `self.name`; without it the name is that of the class"
            self._diagnostics.append(Diagnostic("scheme", None, "", what, expected, hint))
        number, name = 1, wanted
        while self._policies.get(name, (policy,))[0] is not policy:
            number += 1
            name = f"{wanted} {number}"
        return name

    def _shadowed(self, scheme: AnyScheme) -> None:
        for part in _parts(scheme):
            names = [word.strip() for word in part.split("+")] if isinstance(part, str) else []
            for name in names:
                if name in self._policies:
                    what = f"`{name}` is the name of a policy, not of a scheme"
                    self._diagnostics.append(
                        Diagnostic("scheme", None, "", what, hint="pass the policy itself")
                    )

    def _wrong(self, what: object) -> None:
        hint = None
        if inspect.isclass(what) and _fills(what):
            hint = f"pass an object: {what.__name__}()"
        expected = f"a scheme's name, or an object with one of the methods {', '.join(_SLOTS)}"
        text = f"{_shown(what)} is neither a scheme nor a policy"
        self._diagnostics.append(Diagnostic("scheme", None, "", text, expected, hint))


def _parts(scheme: AnyScheme) -> Sequence[object]:
    one = isinstance(scheme, str | os.PathLike) or _fills(scheme) or not isinstance(scheme, Sequence)
    parts: Sequence[object] = [scheme] if one else scheme  # type: ignore[assignment]
    return [os.fsdecode(part) if isinstance(part, os.PathLike) else part for part in parts]


def _fills(what: object) -> bool:
    return any(isinstance(what, slot) for slot in _SLOTS.values())


def _shown(what: object) -> str:
    try:
        return repr(what)
    except Exception:
        return f"an object of {type(what).__qualname__}"


def _label(policy: object) -> str:
    """Returns a text that identifies a policy: its class, the code of the class and bases, its attributes.

    Functions outside of these classes do not count. A policy with attributes that cannot be pickled differs
    from every other policy.
    """
    kind = type(policy)
    made = hashlib.sha256()
    for item in kind.__mro__[:-1]:
        made.update(_source(item))
    slots = [name for item in kind.__mro__ for name in getattr(item, "__slots__", ())]
    state = {**getattr(policy, "__dict__", {})}
    state |= {name: getattr(policy, name) for name in slots if hasattr(policy, name)}
    state |= {"": list(policy)} if isinstance(policy, tuple) else {}
    try:
        made.update(pickle.dumps(state, protocol=4))
    except Exception:
        made.update(uuid.uuid4().bytes)
    plain = {key: item for key, item in state.items() if isinstance(item, str | int | float | None)}
    arguments = ", ".join(f"{key}={item!r}" for key, item in sorted(plain.items()))
    return f"{kind.__module__}.{kind.__qualname__}({arguments}), {made.hexdigest()[:16]}"


def _source(kind: type) -> bytes:
    """Returns the source text of a class, or the code of its functions if there is no source."""
    try:
        return inspect.getsource(kind).encode()
    except (OSError, TypeError):
        codes = [_code(method.__code__) for method in vars(kind).values() if inspect.isfunction(method)]
        return repr((kind.__qualname__, codes)).encode()


def _code(code: CodeType) -> tuple[object, ...]:
    constants = [
        _code(constant) if isinstance(constant, CodeType) else constant for constant in code.co_consts
    ]
    return code.co_code, constants, code.co_names, code.co_varnames
