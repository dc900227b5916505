"""Analyses of a sweep's points: the Pareto front, and the effect of each axis."""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from fowler.errors import Diagnostic, InputError
from fowler.results import html_table, number
from fowler.table import Table

__all__ = ["Effect", "Level", "MainEffects", "main_effects", "pareto"]

AnyTable = Any
"""A Fowler table, or any object with an Arrow C stream."""

LEVELS_MOST = 8
"""An axis with more different numbers than this is cut into parts."""
PARTS = 4
"""The number of parts, each with about the same number of points."""
RESPONSE_MOST = 1e150
"""The largest response. The square of a larger number would overflow a float, so it has no variance."""

T = TypeVar("T", bound=Table)


def pareto(table: AnyTable, *, minimise: Sequence[str] = (), maximise: Sequence[str] = ()) -> Table:
    """Returns the Pareto front: the rows for which no other row is as good in all columns and better in one.

    Rows that lack a number in one of the columns, such as points that failed, are left out. Of equal rows all
    are returned.

    >>> drives = {"price": [1, 2, 3], "speed": [5, 4, 9]}
    >>> fowler.pareto(drives, minimise=["price"], maximise=["speed"])["price"]
    [1, 3]

    Args:
        table: A sweep, a frame, any object with an Arrow C stream, or a dictionary of arrays.
        minimise: Columns to minimize.
        maximise: Columns to maximize.

    Returns:
        These rows as a table of the same kind, from best to worst in the first column.

    Raises:
        InputError: for every column that does not exist or is not numeric, and if no row has a number in all
            of them.
    """
    return front(Table.of(table), minimise, maximise)


def front(table: T, minimise: Sequence[str], maximise: Sequence[str]) -> T:
    """Returns the Pareto front of a Fowler table; see :func:`pareto`."""
    minimise, maximise = _listed(minimise, "minimise"), _listed(maximise, "maximise")
    if not (minimise or maximise):
        what = "neither `minimise` nor `maximise` is given"
        raise InputError([Diagnostic("minimise", None, "", what, "at least one column of the table")])
    columns = numbers(table, [*minimise, *maximise])
    signs = [1.0] * len(minimise) + [-1.0] * len(maximise)
    rows: list[tuple[list[float], int]] = []
    for row, cells in enumerate(zip(*columns, strict=True)):
        known = [sign * cell for sign, cell in zip(signs, cells, strict=True) if cell is not None]
        if len(known) == len(cells):
            rows.append((known, row))
    if not rows:
        what = "no row has a number in all of " + ", ".join(f"`{it}`" for it in (*minimise, *maximise))
        raise InputError([Diagnostic("columns", None, "", what)])
    # In this order only an earlier row can beat a row.
    rows.sort()
    front: list[tuple[list[float], int]] = []
    for values, row in rows:
        if not any(_beats(other, values) for other, _ in front):
            front.append((values, row))
    return table.take(row for _, row in front)


def _beats(one: list[float], other: list[float]) -> bool:
    return one != other and all(a <= b for a, b in zip(one, other, strict=True))


@dataclasses.dataclass(frozen=True, slots=True)
class Level:
    """The points with one value on an axis, or in one part of it.

    >>> swept.main_effects("waf", ["seed"]).effects[0].levels[0].count
    2
    """

    label: str
    """The value, or the range of the part."""
    low: float | str | None
    """The value, or the least value of the part. ``None`` for points without a value on this axis."""
    high: float | str | None
    """The value, or the largest value of the part."""
    count: int
    """The number of points."""
    mean: float
    """The mean response of the points."""


@dataclasses.dataclass(frozen=True, slots=True)
class Effect:
    """The effect of one axis on a response.

    >>> swept.main_effects("waf", ["seed"]).effects[0].factor
    'seed'
    """

    factor: str
    """The name of the axis."""
    levels: tuple[Level, ...]
    """The levels of the axis: numbers in ascending order, other values in order of appearance, then the
    points without a value."""
    effect: float
    """The largest mean minus the smallest, in the unit of the response."""
    share: float
    """The share of the response's variance that the means explain (the correlation ratio), 0 to 1."""


@dataclasses.dataclass(frozen=True, slots=True)
class MainEffects:
    """The effect of each axis on a response, averaged over the other axes.

    >>> swept.main_effects("waf").response
    'waf'
    """

    response: str
    """The name of the column of the response."""
    mean: float
    """The mean response over all points that have one."""
    count: int
    """The number of points that have a response."""
    effects: tuple[Effect, ...]
    """The effects, the strongest first."""

    def records(self) -> list[dict[str, Any]]:
        """Returns one row for each level of each axis, ready for a data frame.

        >>> len(swept.main_effects("waf").records())
        4
        """
        return [
            {
                "factor": factor.factor,
                **dataclasses.asdict(level),
                "effect": factor.effect,
                "share": factor.share,
            }
            for factor in self.effects
            for level in factor.levels
        ]

    def _repr_html_(self) -> str:
        heads = ["axis", "level", "points", f"mean {self.response}", "effect", "share of the variance"]
        rows = [
            [
                factor.factor if first else "",
                level.label,
                str(level.count),
                number(level.mean),
                number(factor.effect) if first else "",
                f"{factor.share:.1%}" if first else "",
            ]
            for factor in self.effects
            for first, level in ((at == 0, level) for at, level in enumerate(factor.levels))
        ]
        return html_table(heads, rows)

    def __repr__(self) -> str:
        """Shows the axes, one per line."""
        head = f"<MainEffects on {self.response}, mean {number(self.mean)} of {self.count} points:"
        lines = [
            f"  {factor.factor}: {number(factor.effect)}, {factor.share:.0%} of the variance ("
            + ", ".join(f"{level.label}: {number(level.mean)}" for level in factor.levels)
            + ")"
            for factor in self.effects
        ]
        return "\n".join([head, *lines, ">"])


def main_effects(table: AnyTable, response: str, factors: Sequence[str] | None = None) -> MainEffects:
    """Returns the mean response at each value of each axis, averaged over the other axes.

    In a grid and in a Latin hypercube the axes are independent, so the difference of two means is the average
    effect of the axis. In a list it also contains the effect of other axes that changed at the same points.
    An axis with more than 8 different numbers, as random designs have, is cut into 4 parts with the same
    number of points. Points that have no value on an axis, or NaN, form a level of their own.

    >>> sorted(effect.factor for effect in fowler.main_effects(swept, "waf").effects)
    ['geometry.over_provisioning', 'seed']

    Args:
        table: A sweep, a frame, any object with an Arrow C stream, or a dictionary of arrays.
        response: A column of numbers, such as ``read.p999_us``. Points without a number there, such as points
            that failed, are left out.
        factors: Axes or other columns; ``None`` for every axis with more than one value.

    Raises:
        InputError: for every column that does not exist, and for a response without numbers or with numbers
            above 1e150, for which a variance cannot be computed.
    """
    measured = Table.of(table)
    responses = numbers(measured, [response])[0]
    rows = [row for row, value in enumerate(responses) if value is not None]
    if not rows:
        what = f"no point has a number in `{response}`"
        raise InputError([Diagnostic("response", None, "", what)])
    values = [value for value in responses if value is not None]
    if (most := max(map(abs, values))) > RESPONSE_MOST:
        what = f"`{response}` reaches {most:g}, too large to compute a variance"
        raise InputError([Diagnostic("response", None, "", what, f"numbers up to {RESPONSE_MOST:g}")])
    named = [it for it in measured.columns if it.startswith("axis.")]
    if factors is not None:
        named = _listed(factors, "factors")
    columns = [column(measured, name) for name in _known(measured, named, "factors")]
    mean = math.fsum(values) / len(values)
    effects = [
        _effect(name.removeprefix("axis."), [cells[row] for row in rows], values, mean)
        for name, cells in zip(named, columns, strict=True)
    ]
    reported = [it for it in effects if factors is not None or len(it.levels) > 1]
    reported.sort(key=lambda it: -it.share)
    return MainEffects(response, mean, len(values), tuple(reported))


def _effect(factor: str, column: list[Any], values: list[float], mean: float) -> Effect:
    groups: dict[Any, list[int]] = {}
    for place, cell in enumerate(column):
        # NaN differs from itself as a key, and means that there is no number.
        value = None if isinstance(cell, float) and math.isnan(cell) else cell
        groups.setdefault(value, []).append(place)
    unset = groups.pop(None, [])
    if not all(isinstance(it, int | float) for it in groups):
        levels = [_level(it, groups[it], values) for it in groups]
    elif len(groups) <= LEVELS_MOST:
        levels = [_level(it, groups[it], values) for it in sorted(groups, key=float)]
    else:
        levels = _parts(groups, values)
    if unset:
        levels.append(_level(None, unset, values))
    means = [level.mean for level in levels]
    between = math.fsum(level.count * (level.mean - mean) ** 2 for level in levels)
    whole = math.fsum((value - mean) ** 2 for value in values)
    share = min(between / whole, 1.0) if whole > 0.0 else 0.0
    return Effect(factor, tuple(levels), max(means) - min(means), share)


def _parts(groups: Mapping[float, list[int]], values: list[float]) -> list[Level]:
    """Cuts an axis into parts with the same number of points. Points of one value stay together."""
    order = [(value, place) for value in sorted(groups) for place in groups[value]]
    cuts = [0]
    for part in range(1, PARTS + 1):
        cut = max(len(order) * part // PARTS, cuts[-1])
        while 0 < cut < len(order) and order[cut][0] == order[cut - 1][0]:
            cut += 1
        cuts.append(cut)
    levels = []
    for begin, end in itertools.pairwise(cuts):
        if group := order[begin:end]:
            (low, _), (high, _) = group[0], group[-1]
            mean = _mean(values, [place for _, place in group])
            levels.append(Level(f"{number(low)} to {number(high)}", low, high, len(group), mean))
    return levels


def _level(value: float | str | None, places: list[int], values: list[float]) -> Level:
    """Returns the level of the points with one value."""
    return Level(_word(value), value, value, len(places), _mean(values, places))


def _mean(values: Sequence[float], places: list[int]) -> float:
    return math.fsum(values[place] for place in places) / len(places)


def _word(value: float | str | None) -> str:
    if value is None:
        return "not set"
    return number(value) if isinstance(value, int | float) else value


def _listed(names: Any, argument: str) -> list[str]:
    """Returns a list of columns. Rejects a string, which would be taken letter by letter."""
    if isinstance(names, str):
        hint = f"write [{names!r}]"
        what = "got one string"
        raise InputError([Diagnostic(argument, None, "", what, "a list of columns", hint)])
    if not isinstance(names, Iterable):
        what = f"got {type(names).__name__}"
        raise InputError([Diagnostic(argument, None, "", what, "a list of columns")])
    return list(names)


def _named(table: Table, name: str) -> str:
    """Returns the full name of a column. An axis may be given without `axis.` if no column has that name."""
    return name if name in table.columns else f"axis.{name}"


def column(table: Table, name: str) -> list[Any]:
    """Returns the values of a column. An axis may be given without its prefix `axis.`."""
    return table.column(_named(table, name))


def _known(table: Table, names: Sequence[str], argument: str) -> Sequence[str]:
    diagnostics = []
    for name in names:
        if not isinstance(name, str):
            what = f"{name!r} is not the name of a column"
            diagnostics.append(Diagnostic(argument, None, "", what, "a string"))
        elif _named(table, name) not in table.columns:
            near = difflib.get_close_matches(name, table.columns, n=1)
            hint = f"did you mean `{near[0]}`?" if near else "the attribute `columns` lists all columns"
            diagnostics.append(Diagnostic(argument, None, "", f"unknown column `{name}`", hint=hint))
    if diagnostics:
        raise InputError(diagnostics)
    return names


def numbers(table: Table, names: Sequence[str]) -> list[list[float | None]]:
    """Returns columns of numbers, with ``None`` for values that are missing or not finite."""
    columns = [column(table, name) for name in _known(table, names, "columns")]
    diagnostics = [
        Diagnostic("columns", None, "", f"`{name}` has text", "a column of numbers")
        for name, cells in zip(names, columns, strict=True)
        if any(isinstance(it, str) for it in cells)
    ]
    if diagnostics:
        raise InputError(diagnostics)

    def finite(value: Any) -> float | None:
        return float(value) if value is not None and math.isfinite(value) else None

    return [[finite(it) for it in cells] for cells in columns]
