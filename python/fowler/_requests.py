"""Turns tables and requests of users into what the compiled module reads: Arrow, or an iterable of it."""

from __future__ import annotations

import copyreg
import importlib.util
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from fowler import _core
from fowler.errors import Diagnostic, InputError, shown

EXPECTED = (
    "a preset's name, a file that ends in .toml, or requests: a frame, an Arrow table, a dictionary of "
    "arrays, or an iterable of these"
)
COLUMNS = ("at_ns", "op", "offset", "size")
"""The columns of requests."""
WORD = 8
"""The size of the widest number that a column holds, in bytes."""


# Tables are pickled because requests go to the workers of a sweep.
copyreg.pickle(_core.Table, lambda table: (_core.Table.of_bytes, (table.bytes(),)))


def readable(workload: Any) -> object:
    """Returns requests as Arrow, or as an iterable of Arrow; a lazy frame is collected.

    Raises:
        InputError: if the requests have none of the accepted forms.
    """
    table = _table(workload, "workload")
    if table is not None:
        return table
    if isinstance(workload, str | bytes) or not isinstance(workload, Iterable):
        raise InputError([Diagnostic("workload", None, "", f"invalid value {shown(workload)}", EXPECTED)])
    return (_item(it) for it in workload) if hasattr(workload, "__next__") else _Items(workload)


def as_table(table: Any, argument: str) -> object:
    """Returns a table as Arrow.

    Raises:
        InputError: if the object is no table.
    """
    found = _table(table, argument)
    if found is None:
        expected = "a frame, an Arrow table or a dictionary of arrays"
        raise InputError([Diagnostic(argument, None, "", f"invalid value {shown(table)}", expected)])
    return found


def once(workload: object) -> bool:
    """True if requests can be read only once, because they come from a generator or a stream."""
    return hasattr(workload, "__next__")


class _Items:
    """An iterable of tables that can be read several times."""

    def __init__(self, items: Iterable[Any]) -> None:
        self._items = items

    def __iter__(self) -> Iterator[object]:
        return (_item(it) for it in self._items)


def _item(item: Any) -> object:
    table = _table(item, "workload")
    # The compiled module reports an item that is no table.
    return item if table is None else table


def _table(table: Any, argument: str) -> object | None:
    """Returns a table as Arrow; ``None`` if it is no table."""
    whose = type(table).__module__.partition(".")[0]
    if whose == "polars" and type(table).__name__ == "LazyFrame":
        table = table.collect()
    if whose == "pandas" and type(table).__name__ == "DataFrame":
        # Not every index is exported: a range is a fact beside the columns.
        index = [name for name in table.index.names if name in COLUMNS and name not in table.columns]
        table = table.reset_index(level=index) if index else table
        if _lacks_pyarrow(table):
            return _of_columns({name: table[name] for name in table.columns}, argument)
    if _is_arrow(table):
        return table  # type: ignore[no-any-return]
    names = getattr(getattr(table, "dtype", None), "names", None)
    if names:
        return _of_columns({name: table[name] for name in names}, argument)
    return _of_columns(table, argument) if isinstance(table, Mapping) else None


def _lacks_pyarrow(value: object) -> bool:
    """True if an object is of pandas and pyarrow is not installed: without it pandas exports no Arrow."""
    whose = type(value).__module__.partition(".")[0]
    return whose == "pandas" and importlib.util.find_spec("pyarrow") is None


def _is_arrow(table: object) -> bool:
    return hasattr(table, "__arrow_c_stream__") or hasattr(table, "__arrow_c_array__")


def _of_columns(columns: Mapping[Any, Any], argument: str) -> _core.Table:
    wrong: list[Diagnostic] = []
    found: list[tuple[str, str, object]] = []
    lengths: dict[str, int] = {}
    for name, values in columns.items():
        unit, plain = _column(values)
        if plain is None:
            what = f"the column `{name}` is {shown(values)}"
            wrong.append(Diagnostic(argument, None, "", what, "an array of one dimension, or a list"))
        else:
            found.append((str(name), unit, plain))
            lengths[str(name)] = len(values)
    if len({*lengths.values()}) > 1:
        each = ", ".join(f"`{name}` {length:,}" for name, length in lengths.items())
        wrong.append(Diagnostic(argument, None, "", f"the columns differ in length: {each}"))
    if wrong:
        raise InputError(wrong)
    try:
        return _core.Table.of_columns(found)
    except TypeError as error:
        raise InputError([Diagnostic(argument, None, "", str(error))]) from None


def _column(values: Any) -> tuple[str, Any]:
    """Returns the unit of a column, if it has moments or durations, and its values."""
    if hasattr(values, "to_numpy") and (_lacks_pyarrow(values) or not _is_arrow(values)):
        values = values.to_numpy()
    if _is_arrow(values):
        return "", values
    dtype = getattr(values, "dtype", None)
    if dtype is None:
        return "", None if isinstance(values, str | Mapping) or not hasattr(values, "__len__") else list(
            values
        )
    if values.ndim != 1:
        return "", None
    if dtype.kind in "mM":
        unit = "timestamp" if dtype.kind == "M" else "duration"
        return unit, values.astype(f"{dtype.kind}8[ns]").view("i8")
    numeric = dtype.kind in "iuf" and dtype.isnative and dtype.itemsize <= WORD
    if numeric and not hasattr(values, "mask") and dtype.char != "e":
        return "", values
    return "", values.tolist()
