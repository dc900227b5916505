"""Times, sizes and rates of a drive: text as in its file, which carries its number in any unit."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any, ClassVar, Self

from fowler.errors import Diagnostic, InputError

__all__ = ["Rate", "Size", "Time"]

_NUMBER = re.compile(r"\s*([0-9_.eE+-]+)\s*([A-Za-z/]+)\s*")

_SIZES = {
    "B": 1,
    "KB": 10**3,
    "MB": 10**6,
    "GB": 10**9,
    "TB": 10**12,
    "KiB": 2**10,
    "MiB": 2**20,
    "GiB": 2**30,
    "TiB": 2**40,
}


class Quantity(str):
    """Text that is a number and a unit."""

    __slots__ = ()

    units: ClassVar[dict[str, int]]
    example: ClassVar[str]

    @property
    def unit(self) -> str:
        """The unit, such as ``us``, ``MiB`` or ``MB/s``."""
        return self._parts()[1]

    @property
    def least(self) -> float:
        """The number in the smallest unit (ns, B, B/s), rounded to a whole one, as the simulator reads it."""
        number, unit = self._parts()
        return float(round(number * self.units[unit]))

    def _parts(self) -> tuple[float, str]:
        """Returns number and unit.

        Raises:
            InputError: if the text has no number, or no unit.
        """
        found = _NUMBER.fullmatch(self)
        try:
            if found is None or found[2] not in self.units:
                raise ValueError(self)
            number = float(found[1].replace("_", ""))
            round(number * self.units[found[2]])
        except (ValueError, OverflowError):
            what = f"`{self}` is no quantity with a unit"
            raise InputError([Diagnostic("", None, "", what, f'such as "{self.example}"')]) from None
        return number, found[2]

    if TYPE_CHECKING:
        # For type checkers: the field of a key with a default takes any text for a quantity.
        def __get__(self, owner: object, kind: Any = None) -> Self: ...
        def __set__(self, owner: object, value: str) -> None: ...


class Time(Quantity):
    """A time with its unit.

    >>> Time("25us").ns, Time("1.5ms").us, Time(timedelta(milliseconds=2)).us
    (25000.0, 1500.0, 2000.0)
    """

    __slots__ = ()

    units: ClassVar[dict[str, int]] = {
        "ns": 1,
        "us": 1_000,
        "ms": 1_000_000,
        "s": 10**9,
        "min": 60 * 10**9,
        "h": 3_600 * 10**9,
        "d": 86_400 * 10**9,
    }
    example = "25us"

    def __new__(cls, value: str | timedelta) -> Self:
        """Takes text, or a ``timedelta``: to the nanosecond, if it counts them as that of pandas does."""
        if isinstance(value, timedelta):
            us = (value.days * 86_400 + value.seconds) * 1_000_000 + value.microseconds
            value = f"{us * 1_000 + getattr(value, 'nanoseconds', 0)}ns"
        return super().__new__(cls, value)

    @property
    def ns(self) -> float:
        """The time in nanoseconds."""
        return self.least

    @property
    def us(self) -> float:
        """The time in microseconds."""
        return self.ns / 1e3

    @property
    def ms(self) -> float:
        """The time in milliseconds."""
        return self.ns / 1e6

    @property
    def s(self) -> float:
        """The time in seconds."""
        return self.ns / 1e9

    if TYPE_CHECKING:

        def __set__(self, owner: object, value: str | timedelta) -> None: ...


class Size(Quantity):
    """An amount of data with its unit.

    >>> Size("64MiB").bytes, Size("64MiB").gib
    (67108864, 0.0625)
    """

    __slots__ = ()

    units: ClassVar[dict[str, int]] = _SIZES
    example = "64MiB"

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return int(self.least)

    @property
    def kib(self) -> float:
        """The size in KiB."""
        return self.bytes / 2**10

    @property
    def mib(self) -> float:
        """The size in MiB."""
        return self.bytes / 2**20

    @property
    def gib(self) -> float:
        """The size in GiB."""
        return self.bytes / 2**30


class Rate(Quantity):
    """A data rate with its unit.

    >>> Rate("500MB/s").mb_s, Rate("500MB/s").b_s
    (500.0, 500000000.0)
    """

    __slots__ = ()

    units: ClassVar[dict[str, int]] = {f"{unit}/s": scale for unit, scale in _SIZES.items()}
    example = "500MB/s"

    @property
    def b_s(self) -> float:
        """The rate in bytes per second."""
        return self.least

    @property
    def mb_s(self) -> float:
        """The rate in MB/s."""
        return self.b_s / 1e6

    @property
    def mib_s(self) -> float:
        """The rate in MiB/s."""
        return self.b_s / 2**20


QUANTITIES: dict[str, type[Quantity]] = {"time": Time, "size": Size, "rate": Rate}
"""The type of a quantity by the kind of its key."""

if TYPE_CHECKING:

    class Spans:
        """The type of a key that has several times."""

        def __init__(self, value: tuple[str | timedelta, ...]) -> None: ...
        def __get__(self, owner: object, kind: Any = None) -> tuple[Time, ...]: ...
        def __set__(self, owner: object, value: tuple[str | timedelta, ...]) -> None: ...

else:

    def Spans(value: tuple[str | timedelta, ...]) -> tuple[Time, ...]:  # noqa: N802  (a type for type checkers)
        """Returns several times as quantities."""
        return tuple(map(Time, value))


TIMES = "Time | tuple[Time, ...]"
"""The type of a key that has one time, or one for each type of page."""


def measured(kind: str, value: Any) -> Any:
    """Returns a value of a section as a quantity, if keys of this type are quantities."""
    text = str | timedelta if "Time" in kind or kind == "Spans" else str
    if kind in (TIMES, "Spans") and isinstance(value, tuple) and all(isinstance(it, text) for it in value):
        return Spans(value)
    make: Any = {"Time": Time, TIMES: Time, "Size": Size, "Rate": Rate}.get(kind)
    return make(value) if make and isinstance(value, text) else value
