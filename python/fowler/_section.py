"""The base class of configuration sections: reads a section from TOML and writes it as TOML."""

from __future__ import annotations

import dataclasses
import json
import typing
from collections.abc import Iterator, Mapping
from typing import Any, Self

from fowler.units import measured


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A group of configuration keys."""

    def __post_init__(self) -> None:
        """Makes quantities of texts, because a section may be assembled from texts or quantities."""
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            quantity = measured(str(field.type), value)
            if quantity is not value:
                object.__setattr__(self, field.name, quantity)

    @classmethod
    def of(cls, table: Mapping[str, Any]) -> Self:
        """Builds the section from a parsed TOML table. Keys that the table lacks keep their defaults."""
        types = typing.get_type_hints(cls)
        values = {}
        for field in dataclasses.fields(cls):
            value = table.get(field.name.rstrip("_"))
            if value is None:
                continue
            kind = types[field.name]
            is_section = isinstance(kind, type) and issubclass(kind, Section)
            values[field.name] = kind.of(value) if is_section else _frozen(value)
        return cls(**values)

    def lines(self, above: str = "") -> Iterator[str]:
        """Yields the keys as lines of TOML."""
        for field in dataclasses.fields(self):
            path = f"{above}{field.name.rstrip('_')}"
            value = getattr(self, field.name)
            if isinstance(value, Section):
                yield from value.lines(f"{path}.")
            else:
                yield f"{path} = {_literal(value)}"


def _frozen(value: Any) -> Any:
    return tuple(_frozen(it) for it in value) if isinstance(value, list) else value


def _literal(value: Any) -> str:
    if isinstance(value, tuple | list):
        return f"[{', '.join(_literal(it) for it in value)}]"
    return repr(value) if isinstance(value, float) else json.dumps(value, ensure_ascii=False)
