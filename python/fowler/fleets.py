"""Fleets of drives like one whose life was simulated."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict

from fowler import _arguments, _core
from fowler.errors import Diagnostic, Gathered, shown
from fowler.results import Sheet, number
from fowler.table import Table

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Assumptions", "Bounds", "Fleet"]

DRIVES_MOST = 1_000_000
"""The most drives of a fleet, as on the command line."""


class Assumptions(TypedDict, total=False):
    """The assumptions about a fleet. Every key has a default.

    >>> assumed: Assumptions = {"early_share": 0.02, "confidence": 0.99}
    """

    load_spread: float
    """The spread of loads: the standard deviation of the logarithm of a drive's writes per day; 0.5."""
    early_share: float
    """The share of drives that fail within the first year for no reason of wear; 0.01."""
    early_shape: float
    """The Weibull shape of these failures; below 1 their rate falls with age; 0.6."""
    worn_blocks: float
    """The share of worn-out blocks beyond which a drive is replaced; 0.02."""
    confidence: float
    """The probability that an interval holds, and that spare drives are enough; 0.95."""


@dataclasses.dataclass(frozen=True, slots=True)
class Bounds:
    """A number of a fleet, with the bounds between which it lies with the fleet's ``confidence``.

    >>> its = life.fleet.years(0.5)
    >>> its.low <= its.value <= its.high
    True
    """

    low: float
    """The lower bound."""
    value: float
    """The number."""
    high: float
    """The upper bound."""

    def __str__(self) -> str:
        return f"{number(self.value)} ({number(self.low)} to {number(self.high)})"


class Fleet:
    """Drives like one whose life was simulated, each with its own cells, early failure and load.

    >>> len(life.fleet), len(life.fleet.drives)
    (500, 500)
    """

    def __init__(self, core: _core.Lifetime, summary: Mapping[str, Any]) -> None:
        """Wraps the fleet of a lifetime of the compiled module."""
        self._its = core
        self.summary = summary
        """All numbers of the fleet, as in ``summary.json`` under ``fleet``."""

    @property
    def drives(self) -> Table:
        """The first drive of each place, one row each.

        The columns are ``drive``, ``load`` (over that of the workload), ``strength`` (cycles that it
        endures, over ``lifetime.cycles``), ``early_years`` and ``worn_years`` (when it fails early or is
        worn out, or would be), ``years`` and ``cause`` of its end, ``tbw``: terabytes (10^12 bytes) that
        the host has written by then, ``spare_years`` (when failed blocks have used up its spare) and
        ``spare_lost``: the share of the spare that it has lost in the end.
        """
        return Table(self._its.fleet_drives())

    @property
    def survival(self) -> Table:
        """The share of first drives alive over the years: ``years``, ``low``, ``alive``, ``high``."""
        return _columns(self.summary["survival"])

    @property
    def by_year(self) -> Table:
        """The drives replaced in each year.

        The columns are ``year``, ``replaced``, ``low``, ``rate``, ``high`` (per place and year) and
        ``spares``: spare drives that are enough.
        """
        years = ({**year, **_bounds(year["rate"], "rate")} for year in self.summary["by_year"])
        names = ("year", "replaced", "low", "rate", "high", "spares")
        return _columns([{name: year[name] for name in names} for year in years])

    @property
    def rate(self) -> Bounds:
        """The drives replaced per place and year."""
        return Bounds(*self.summary["replacement_rate"])

    @property
    def replaced(self) -> int:
        """The drives replaced in the target life."""
        return self.summary["replaced"]  # type: ignore[no-any-return]

    @property
    def spares(self) -> int:
        """The number of spare drives that are enough for the target life, with the ``confidence``."""
        return self.summary["spares"]  # type: ignore[no-any-return]

    @property
    def confidence(self) -> float:
        """The probability that an interval contains the true value, and that spare drives are enough."""
        return self.summary["confidence"]  # type: ignore[no-any-return]

    def years(self, share: float) -> Bounds:
        """Returns the years after which this share of the first drives has been replaced.

        >>> life.fleet.years(0.1).value <= life.fleet.years(0.9).value
        True

        Raises:
            InputError: if the share is not between 0 and 1.
        """
        return Bounds(*self._its.fleet_quantile(False, _share(share)))

    def tbw(self, share: float) -> Bounds:
        """Returns the terabytes below which this share of the first drives is when they are replaced.

        >>> life.fleet.tbw(0.1).value <= life.fleet.tbw(0.9).value
        True

        Raises:
            InputError: if the share is not between 0 and 1.
        """
        return Bounds(*self._its.fleet_quantile(True, _share(share)))

    def sheets(self) -> list[Sheet]:
        """Returns the tables of the command: the whole fleet, and the replacements of each year.

        >>> [sheet.name for sheet in life.fleet.sheets()]
        ['fleet', 'fleet-years']
        """
        return [Sheet(*sheet) for sheet in self._its.fleet_sheets()]

    def plot(self, *, ax: Axes | None = None) -> Figure:
        """Plots the share of drives that are alive over the years, with its interval.

        >>> life.fleet.plot().axes[0].get_xlabel()
        'years'

        Args:
            ax: Axes of matplotlib to draw into; ``None`` for a new figure.
        """
        from fowler.figures import survival  # noqa: PLC0415  (matplotlib is optional)

        return survival(self, ax=ax)

    def __len__(self) -> int:
        """Returns the number of drives."""
        return self.summary["drives"]  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        """Shows the number of drives, the share alive at the end, and the drives replaced."""
        alive = self.summary["survival"][-1]["alive"]
        what = f"{alive:.2%} alive after {number(self.summary['years'])} years"
        return f"<Fleet: {len(self):,} drives, {what}, {self.replaced:,} replaced>"

    def _repr_html_(self) -> str:
        return "".join(sheet._repr_html_() for sheet in self.sheets())


def asked(gathered: Gathered, drives: object, fleet: object) -> _arguments.Fleet | None:
    """Returns the arguments of a fleet as the compiled module takes them, or ``None``.

    Adds a diagnostic for each wrong argument.
    """
    wanted: _arguments.Fleet = {
        "drives": gathered.whole("drives", drives, 1, DRIVES_MOST) or 1,
        "load_spread": None,
        "early_share": None,
        "early_shape": None,
        "worn_blocks": None,
        "confidence": None,
    }
    names = Assumptions.__annotations__
    if fleet is not None and not isinstance(fleet, Mapping):
        gathered.wrong("fleet", fleet, "a dictionary")
        return None
    for name, value in (fleet or {}).items():
        where = f"fleet[{name!r}]"
        if name not in names:
            near = difflib.get_close_matches(str(name), names, n=1)
            hint = f"did you mean `{near[0]}`?" if near else f"there are {', '.join(names)}"
            gathered.diagnostics.append(Diagnostic(where, None, "", f"unknown name {shown(name)}", hint=hint))
        elif value is None:
            gathered.wrong(where, value, "a number")
        elif (known := gathered.real(where, value)) is not None:
            wanted[name] = known  # type: ignore[literal-required]
    if drives is None and fleet is not None:
        what = "there is no fleet without `drives`"
        gathered.diagnostics.append(Diagnostic("fleet", None, "", what, hint="pass drives=10_000"))
    return None if drives is None else wanted


def _bounds(values: Sequence[float], name: str) -> dict[str, float]:
    return dict(zip(("low", name, "high"), values, strict=True))


def _columns(rows: Sequence[Mapping[str, Any]]) -> Table:
    return Table.of({name: [row[name] for row in rows] for name in rows[0]})


def _share(value: float) -> float:
    gathered = Gathered()
    share = gathered.real("share", value)
    if share is None or not 0.0 < share < 1.0:
        if not gathered.diagnostics:
            gathered.wrong("share", value, "a number above 0 and below 1")
        gathered.done()
    return float(value)
