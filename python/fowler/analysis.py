"""What the points of a sweep say: which of them no other beats, and what each axis does."""

from __future__ import annotations

import dataclasses
import difflib
import itertools
import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, TypeVar

from fowler.errors import Diagnostic, InputError
from fowler.results import Table, html_table, number

__all__ = ["Effect", "Level", "MainEffects", "main_effects", "pareto"]

AnyTable = Any
"""A table of Fowler's, or anything with Arrow's C stream."""

LEVELS_MOST = 8
"""An axis with more different numbers than these is cut into parts."""
PARTS = 4
"""Into so many, of as many points each."""
RESPONSE_MOST = 1e150
"""What is larger has no square that a float holds, and no variance."""

T = TypeVar("T", bound=Table)


def pareto(table: AnyTable, *, minimise: Sequence[str] = (), maximise: Sequence[str] = ()) -> Table:
    """The rows that no other row beats: none is as good in every column and better in one.

    Rows without a number in one of the columns, such as points that failed, are left out; rows that are alike
    all stay in.

    Args:
        table: A sweep, or anything with Arrow's C stream.
        minimise: Columns of which less is better.
        maximise: Columns of which more is better.

    Returns:
        These rows as a table of the same kind, from the best to the worst in the first column.

    Raises:
        InputError: for every column that is not there or has no numbers, and if no row has one in each.
    """
    return front(_table(table), minimise, maximise)


def front(table: T, minimise: Sequence[str], maximise: Sequence[str]) -> T:
    """The same of a table of Fowler's."""
    minimise, maximise = _listed(minimise, "minimise"), _listed(maximise, "maximise")
    if not (minimise or maximise):
        what = "it is not said what is better"
        raise InputError([Diagnostic("minimise", None, "", what, "columns of the table")])
    columns = numbers(table, [*minimise, *maximise])
    signs = [1.0] * len(minimise) + [-1.0] * len(maximise)
    rows: list[tuple[list[float], int]] = []
    for row, cells in enumerate(zip(*columns, strict=True)):
        known = [sign * its for sign, its in zip(signs, cells, strict=True) if its is not None]
        if len(known) == len(cells):
            rows.append((known, row))
    if not rows:
        what = "no row has a number in each of " + ", ".join(f"`{it}`" for it in (*minimise, *maximise))
        raise InputError([Diagnostic("columns", None, "", what)])
    # In this order a row is beaten by earlier ones only.
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
    """The points that have one value on an axis, or that lie in one part of it."""

    label: str
    """The value, or where the part begins and ends."""
    low: float | str | None
    """The value, or the least of the part; ``None`` of the points that have no value there."""
    high: float | str | None
    """The same, or the largest."""
    count: int
    """Points."""
    mean: float
    """Their mean response."""


@dataclasses.dataclass(frozen=True, slots=True)
class Effect:
    """What one axis does."""

    factor: str
    """The axis."""
    levels: tuple[Level, ...]
    """Its values in order: numbers by size, anything else as it comes, and last the points without one."""
    effect: float
    """The largest mean less the smallest, in units of the response."""
    share: float
    """The share of the response's variance that lies between the means (the correlation ratio), 0 to 1."""


@dataclasses.dataclass(frozen=True, slots=True)
class MainEffects:
    """What each axis does to a response, the others left to themselves; the strongest first."""

    response: str
    """The column."""
    mean: float
    """Its mean over all points."""
    count: int
    """Points that have it."""
    effects: tuple[Effect, ...]
    """The axes."""

    def records(self) -> list[dict[str, Any]]:
        """A row for each level of each axis, as frames take them."""
        return [
            {"factor": its.factor, **dataclasses.asdict(level), "effect": its.effect, "share": its.share}
            for its in self.effects
            for level in its.levels
        ]

    def _repr_html_(self) -> str:
        heads = ["axis", "level", "points", f"mean {self.response}", "effect", "share of the variance"]
        rows = [
            [
                its.factor if first else "",
                level.label,
                str(level.count),
                number(level.mean),
                number(its.effect) if first else "",
                f"{its.share:.1%}" if first else "",
            ]
            for its in self.effects
            for first, level in ((at == 0, level) for at, level in enumerate(its.levels))
        ]
        return html_table(heads, rows)

    def __repr__(self) -> str:
        """The axes, a line each."""
        head = f"<MainEffects on {self.response}, mean {number(self.mean)} of {self.count} points:"
        lines = [
            f"  {its.factor}: {number(its.effect)}, {its.share:.0%} of the variance ("
            + ", ".join(f"{level.label}: {number(level.mean)}" for level in its.levels)
            + ")"
            for its in self.effects
        ]
        return "\n".join([head, *lines, ">"])


def main_effects(table: AnyTable, response: str, factors: Sequence[str] | None = None) -> MainEffects:
    """The mean response at each value of each axis, over everything else.

    In a grid and in a Latin hypercube, where axes do not depend on each other, the difference of two means
    is what the axis does on average. In a list it also has what other axes did at the same points. An axis
    with more than 8 different numbers, as drawn designs have, is cut into 4 parts of as many points each.
    Points that have no value on an axis, or NaN, are a level of their own.

    Args:
        table: A sweep, or anything with Arrow's C stream.
        response: The column of numbers, such as ``read.p999_us``. Points without one, such as those that
            failed, are left out.
        factors: Axes or other columns; ``None`` for every axis with more than one value.

    Raises:
        InputError: for every column that is not there, and for a response that has no numbers, or has any
            above 1e150, of which there is no variance.
    """
    its = _table(table)
    responses = numbers(its, [response])[0]
    rows = [row for row, value in enumerate(responses) if value is not None]
    if not rows:
        what = f"no point has a number in `{response}`"
        raise InputError([Diagnostic("response", None, "", what)])
    values = [value for value in responses if value is not None]
    if (most := max(map(abs, values))) > RESPONSE_MOST:
        what = f"`{response}` has {most:g}, of which there is no variance"
        raise InputError([Diagnostic("response", None, "", what, f"numbers up to {RESPONSE_MOST:g}")])
    named = [it for it in its.columns if it.startswith("axis.")]
    if factors is not None:
        named = _listed(factors, "factors")
    columns = [column(its, name) for name in _known(its, named, "factors")]
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
    for place, its in enumerate(column):
        # Every NaN is another, and each says that there is no number.
        value = None if isinstance(its, float) and math.isnan(its) else its
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
    """Parts of as many points each, points of one value always together."""
    order = [(value, place) for value in sorted(groups) for place in groups[value]]
    cuts = [0]
    for part in range(1, PARTS + 1):
        cut = max(len(order) * part // PARTS, cuts[-1])
        while 0 < cut < len(order) and order[cut][0] == order[cut - 1][0]:
            cut += 1
        cuts.append(cut)
    levels = []
    for begin, end in itertools.pairwise(cuts):
        if its := order[begin:end]:
            (low, _), (high, _) = its[0], its[-1]
            mean = _mean(values, [place for _, place in its])
            levels.append(Level(f"{number(low)} to {number(high)}", low, high, len(its), mean))
    return levels


def _level(value: float | str | None, places: list[int], values: list[float]) -> Level:
    """The points of one value."""
    return Level(_word(value), value, value, len(places), _mean(values, places))


def _mean(values: Sequence[float], places: list[int]) -> float:
    return math.fsum(values[place] for place in places) / len(places)


def _word(value: float | str | None) -> str:
    if value is None:
        return "not set"
    return number(value) if isinstance(value, int | float) else value


def _table(table: AnyTable) -> Table:
    """Any table as one of Fowler's."""
    if not (hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")):
        expected = (
            "a sweep, or anything with Arrow's C stream: a frame of polars or pandas, a table of pyarrow's"
        )
        raise InputError([Diagnostic("table", None, "", f"this is {type(table).__name__}", expected)])
    return Table.of(table)


def _listed(names: Any, argument: str) -> list[str]:
    """Names of columns; one of them alone would be taken letter by letter."""
    if isinstance(names, str):
        hint = f"[{names!r}]"
        raise InputError([Diagnostic(argument, None, "", "this is one word", "a list of columns", hint)])
    if not isinstance(names, Iterable):
        what = f"this is {type(names).__name__}"
        raise InputError([Diagnostic(argument, None, "", what, "a list of columns")])
    return list(names)


def _named(table: Table, name: str) -> str:
    """A column by its name; that of an axis also without `axis.`, where nothing else is called so."""
    return name if name in table.columns else f"axis.{name}"


def column(table: Table, name: str) -> list[Any]:
    """The values of a column, that of an axis by its own name too."""
    return table.column(_named(table, name))


def _known(table: Table, names: Sequence[str], argument: str) -> Sequence[str]:
    diagnostics = []
    for name in names:
        if not isinstance(name, str):
            diagnostics.append(Diagnostic(argument, None, "", f"{name!r} is no name", "the name of a column"))
        elif _named(table, name) not in table.columns:
            near = difflib.get_close_matches(name, table.columns, n=1)
            hint = f"did you mean `{near[0]}`?" if near else "`columns` lists them"
            diagnostics.append(Diagnostic(argument, None, "", f"there is no column `{name}`", hint=hint))
    if diagnostics:
        raise InputError(diagnostics)
    return names


def numbers(table: Table, names: Sequence[str]) -> list[list[float | None]]:
    """Columns of finite numbers."""
    columns = [column(table, name) for name in _known(table, names, "columns")]
    diagnostics = [
        Diagnostic("columns", None, "", f"`{name}` has words, and numbers are needed")
        for name, cells in zip(names, columns, strict=True)
        if any(isinstance(it, str) for it in cells)
    ]
    if diagnostics:
        raise InputError(diagnostics)

    def finite(value: Any) -> float | None:
        return float(value) if value is not None and math.isfinite(value) else None

    return [[finite(it) for it in cells] for cells in columns]
