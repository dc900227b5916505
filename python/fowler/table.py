"""Tables in Arrow memory: every request of a run, or every point of a sweep."""

from __future__ import annotations

import difflib
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self, overload

from fowler import _core, _result_file
from fowler._requests import as_table
from fowler.errors import Diagnostic, InputError

__all__ = ["Table"]

ROWS = 10_000
"""The rows that an iteration converts at a time."""


class Table:
    """A table of every request of a run, or of every point of a sweep.

    Any Arrow library reads it without a copy: ``pyarrow.table(t)``, ``polars.DataFrame(t)``,
    ``pandas.DataFrame.from_arrow(t)``. ``pandas.DataFrame(t)`` works too, row by row. A table can be pickled.

    >>> table = r.requests()
    >>> len(table), len(table["op"]), list(table[0])[:2], len(table[:10])
    (1000, 1000, ['id', 'op'], 10)
    """

    __slots__ = ("_its",)

    def __init__(self, core: _core.Table) -> None:
        """Wraps a table of the compiled module."""
        self._its = core

    @classmethod
    def of(cls, table: object) -> Table:
        """Converts a frame, any object with an Arrow C stream, or a dictionary of arrays.

        >>> import fowler
        >>> fowler.Table.of({"x": [1, 2], "y": ["a", "b"]})[1]
        {'x': 2, 'y': 'b'}

        Raises:
            InputError: if it is no table.
        """
        return table if isinstance(table, Table) else Table(_core.Table.of(as_table(table, "table")))

    def __len__(self) -> int:
        """Returns the number of rows."""
        return len(self._its)

    @overload
    def __getitem__(self, which: str) -> list[Any]: ...
    @overload
    def __getitem__(self, which: slice) -> Self: ...
    @overload
    def __getitem__(self, which: int) -> dict[str, Any]: ...

    def __getitem__(self, which: str | slice | int) -> Any:
        """Returns a column by its name, a row as a dictionary by its index, or a table of some rows.

        Raises:
            KeyError: if there is no such column.
            IndexError: if there is no such row.
        """
        if isinstance(which, str):
            if which not in self.columns:
                raise KeyError(f"{which!r}; {self._near(which)}")
            return self._its.column(which)
        rows = range(len(self))
        if isinstance(which, slice):
            return self.take(rows[which])
        # A range takes what NumPy's integers are, too, and counts negative ones from the end.
        row = self._its.take([rows[which]])
        return {name: row.column(name)[0] for name in self.columns}

    def __iter__(self) -> Iterator[dict[str, Any]]:
        """Iterates over the rows as dictionaries."""
        names = self.columns
        for start in range(0, len(self), ROWS):
            part = self._its.take(list(range(start, min(start + ROWS, len(self)))))
            for row in zip(*(part.column(name) for name in names), strict=True):
                yield dict(zip(names, row, strict=True))

    def column(self, name: str) -> list[Any]:
        """Returns the values of a column, with ``None`` for missing ones.

        >>> fowler.Table.of({"x": [1, None]}).column("x")
        [1, None]

        Raises:
            InputError: if there is no such column.
        """
        if name not in self.columns:
            raise InputError([Diagnostic("", None, "", f"unknown column `{name}`", hint=self._near(name))])
        return self._its.column(name)

    def _near(self, name: object) -> str:
        near = difflib.get_close_matches(str(name), self.columns, n=1)
        return f"did you mean `{near[0]}`?" if near else "the attribute `columns` lists all columns"

    def take(self, rows: Iterable[int]) -> Self:
        """Returns a table of these rows, in this order.

        >>> fowler.Table.of({"x": [1, 2, 3]}).take([2, 0])["x"]
        [3, 1]
        """
        return self._of(self._its.take(list(rows)))

    def _of(self, core: _core.Table) -> Self:
        return type(self)(core)

    @property
    def columns(self) -> list[str]:
        """The names of the columns."""
        return self._its.columns

    def save(self, path: str | os.PathLike[str]) -> Path:
        """Saves the table in a file that :func:`fowler.load` reads.

        >>> len(fowler.load(r.requests().save("requests.fowler")))
        1000

        Raises:
            InputError: if the file cannot be written.
            OSError: if the disk is full or fails.
        """
        return _result_file.write(path, self)

    def __arrow_c_schema__(self) -> object:
        """Exports the schema to Arrow libraries."""
        return self._its.__arrow_c_schema__()

    def __arrow_c_stream__(self, requested_schema: object | None = None) -> object:
        """Exports the columns to Arrow libraries."""
        return self._its.__arrow_c_stream__(requested_schema)

    def __dataframe__(self, nan_as_null: bool = False, allow_copy: bool = True) -> object:
        """Exports the columns by the older interchange protocol of frames. Needs pyarrow."""
        import pyarrow  # type: ignore[import-untyped]  # noqa: PLC0415  (only this protocol needs it)

        return pyarrow.table(self).__dataframe__(nan_as_null, allow_copy)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickles the table with all rows."""
        return _unpickled, (self._its.bytes(),)

    def __copy__(self) -> Self:
        """Returns a table of the same rows, which nothing can change."""
        return self._of(self._its)

    def __deepcopy__(self, memo: object) -> Self:
        """Returns a table of the same rows, which nothing can change."""
        return self._of(self._its)

    def __repr__(self) -> str:
        """Shows the number of rows and columns."""
        return f"<Table: {len(self):,} rows of {len(self.columns)} columns>"


def _unpickled(data: bytes) -> Table:
    return Table(_core.Table.of_bytes(data))
