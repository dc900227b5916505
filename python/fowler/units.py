"""Times, sizes and rates of a drive: text as in its file, which carries its number in any unit."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from fowler.errors import Diagnostic, InputError

__all__ = ["Rate", "Size", "Time"]

_NUMBER = re.compile(r"\s*([0-9_.eE+-]+)\s*([A-Za-z/]+)\s*")

_TIMES = {
    "ns": 1,
    "us": 1_000,
    "ms": 1_000_000,
    "s": 10**9,
    "min": 60 * 10**9,
    "h": 3_600 * 10**9,
    "d": 86_400 * 10**9,
}
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
_RATES = {f"{unit}/s": scale for unit, scale in _SIZES.items()}


def _number(text: str, units: dict[str, int], example: str) -> float:
    """Returns the number of a text in the smallest unit.

    Raises:
        InputError: if the text has no number, or no unit.
    """
    found = _NUMBER.fullmatch(text)
    scale = units.get(found[2]) if found else None
    try:
        if found is None or scale is None:
            raise ValueError(text)
        # As the simulator reads it: to the nearest whole nanosecond or byte.
        return float(round(float(found[1].replace("_", "")) * scale))
    except (ValueError, OverflowError):
        what = f"`{text}` is no quantity with a unit"
        raise InputError([Diagnostic("", None, "", what, f"such as {example}")]) from None


class Time(str):
    """A time with its unit.

    >>> Time("25us").ns, Time("1.5ms").us
    (25000.0, 1500.0)
    """

    __slots__ = ()

    @property
    def ns(self) -> float:
        """The time in nanoseconds."""
        return _number(self, _TIMES, '"25us"')

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
        # For type checkers: a section takes any text for it, where the key has a default.
        def __get__(self, its: object, kind: Any = None) -> Time: ...
        def __set__(self, its: object, value: str) -> None: ...


class Size(str):
    """An amount of data with its unit.

    >>> Size("64MiB").bytes, Size("64MiB").gib
    (67108864, 0.0625)
    """

    __slots__ = ()

    @property
    def bytes(self) -> int:
        """The size in bytes."""
        return int(_number(self, _SIZES, '"64MiB"'))

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

    if TYPE_CHECKING:

        def __get__(self, its: object, kind: Any = None) -> Size: ...
        def __set__(self, its: object, value: str) -> None: ...


class Rate(str):
    """A data rate with its unit.

    >>> Rate("500MB/s").mb_s, Rate("500MB/s").b_s
    (500.0, 500000000.0)
    """

    __slots__ = ()

    @property
    def b_s(self) -> float:
        """The rate in bytes per second."""
        return _number(self, _RATES, '"500MB/s"')

    @property
    def mb_s(self) -> float:
        """The rate in MB/s."""
        return self.b_s / 1e6

    @property
    def mib_s(self) -> float:
        """The rate in MiB/s."""
        return self.b_s / 2**20

    if TYPE_CHECKING:

        def __get__(self, its: object, kind: Any = None) -> Rate: ...
        def __set__(self, its: object, value: str) -> None: ...


if TYPE_CHECKING:

    class Spans:
        """Several times."""

        def __init__(self, value: tuple[str, ...]) -> None: ...
        def __get__(self, its: object, kind: Any = None) -> tuple[Time, ...]: ...
        def __set__(self, its: object, value: tuple[str, ...]) -> None: ...

else:

    def Spans(value: tuple[str, ...]) -> tuple[Time, ...]:  # noqa: N802  (a type for type checkers)
        """Returns several times."""
        return tuple(map(Time, value))


TIMES = "Time | tuple[Time, ...]"
"""The type of a key that has one time, or one for each type of page."""


def measured(kind: str, value: Any) -> Any:
    """Returns a value of a section as a quantity, if keys of this type are quantities and it is text."""
    if kind in (TIMES, "Spans") and isinstance(value, tuple) and all(isinstance(it, str) for it in value):
        return Spans(value)
    make: Any = {"Time": Time, TIMES: Time, "Size": Size, "Rate": Rate}.get(kind)
    return make(value) if make and isinstance(value, str) else value
