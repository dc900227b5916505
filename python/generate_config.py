"""Writes `fowler/config.py` from the Rust definitions of keys. `--check` fails if the file is out of date.

The generated file is committed because type checkers, editors and readers need it. A test runs `--check`.
"""

from __future__ import annotations

import importlib.util
import keyword
import sys
import textwrap
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType

HERE = Path(__file__).parent / "fowler"


def compiled() -> ModuleType:
    """Imports the compiled module alone, because the package needs the file that this script writes."""
    found = importlib.util.spec_from_file_location("fowler._core", next(HERE.glob("_core*.so")))
    assert found, "the compiled module exists"
    assert found.loader, "the compiled module can be loaded"
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


_core = compiled()
TARGET = HERE / "config.py"
WIDTH = 96

TYPES = {
    "count": "int",
    "counts": "int | tuple[int, ...]",
    "real": "float",
    "reals": "tuple[float, ...]",
    "rows": "tuple[tuple[float, ...], ...]",
    "time": "Time",
    "times": "Time | tuple[Time, ...]",
    "spans": "Spans",
    "size": "Size",
    "rate": "Rate",
    "flag": "bool",
    "text": "str",
    "texts": "tuple[str, ...]",
}

QUANTITIES = ("Time", "Spans", "Size", "Rate")

HEAD = '''"""Every key of a drive's configuration as frozen dataclasses, made from the Rust definitions.

Do not edit: `make bless` writes this file anew, and a test says when that is due.
Times, sizes and rates carry their units in their text: ``"25us"``, ``"64MiB"``, ``"500MB/s"``. Each has its
number in several units, too: ``timing.read.us``, ``buffer.size.bytes``, ``policy.redundancy.rebuild_rate.mb_s``.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

from fowler._section import Section
from fowler.units import Rate, Size, Spans, Time

'''


@dataclass
class Leaf:
    """A key."""

    kind: str
    about: str
    expected: str
    words: list[tuple[str, str]]
    required: bool
    default: str

    def type(self) -> str:
        words = ", ".join(f'"{word}"' for word, _ in self.words)
        match self.kind:
            case "word":
                return f"Literal[{words}]"
            case "set":
                return f"tuple[Literal[{words}], ...]"
            case kind:
                return TYPES[kind]

    def literal(self) -> str:
        value = tomllib.loads(f"x = {self.default}")["x"]
        text = repr(frozen(value)).replace("'", '"')
        its = self.type()
        return f"{its}({text})" if its in QUANTITIES else text


@dataclass
class Node:
    """A section: its own key, if it has one, and its keys and subsections."""

    own: Leaf | None = None
    parts: dict[str, Node | Leaf] = field(default_factory=dict)

    def required(self) -> bool:
        parts = self.parts.values()
        return any(it.required() if isinstance(it, Node) else it.required for it in parts)


def frozen(value: object) -> object:
    return tuple(map(frozen, value)) if isinstance(value, list) else value


def tree() -> Node:
    root = Node()
    facts = {path: Leaf(*rest) for path, *rest in _core.keys()}
    for path, leaf in facts.items():
        *above, last = path.split(".")
        node = root
        for name in above:
            below = node.parts.setdefault(name, Node())
            if isinstance(below, Leaf):
                below = node.parts[name] = Node(own=below)
            node = below
        node.parts[last] = leaf
    for slot, its in root.parts["policy"].parts.items():
        if isinstance(its, Leaf):
            root.parts["policy"].parts[slot] = Node(own=its)
    return root


def camel(*parts: str) -> str:
    return "".join(word.capitalize() for part in parts for word in part.split("_"))


def documented(text: str, indent: str) -> list[str]:
    lines = textwrap.wrap(text, WIDTH - len(indent) - 6) or [""]
    if len(lines) == 1:
        return [f'{indent}"""{lines[0]}"""']
    return [f'{indent}"""{lines[0]}', *(f"{indent}{line}" for line in lines[1:]), f'{indent}"""']


def attribute(name: str, leaf: Leaf) -> list[str]:
    name = f"{name}_" if keyword.iskeyword(name) else name
    default = "" if leaf.required else f" = {leaf.literal()}"
    line = f"    {name}: {leaf.type()}{default}"
    lines = [line]
    if len(line) > WIDTH and "Literal[" in line:
        before, rest = line.split("Literal[", 1)
        words, after = rest.split("]", 1)
        broken = [f"        {word}," for word in words.split(", ")]
        lines = [f"{before}Literal[", *broken, f"    ]{after}"]
    about = leaf.about[:1].upper() + leaf.about[1:]
    words = "; ".join(f"{word}: {means}" for word, means in leaf.words)
    takes = f" ({words})." if leaf.words else f": {leaf.expected}."
    return [*lines, *documented(about + takes, "    ")]


def classes(name: str, about: str, node: Node, above: tuple[str, ...]) -> list[str]:
    text: list[str] = []
    body: list[str] = []
    if node.own:
        body += attribute("name", node.own)
    for part, its in node.parts.items():
        if isinstance(its, Leaf):
            body += attribute(part, its)
            continue
        path = (*above, part)
        named = camel(*(path[1:] if path[0] == "policy" and len(path) > 1 else path))
        dotted = ".".join(path)
        means = its.own.about if its.own else f"the keys of [{dotted}]"
        text += classes(named, means[:1].upper() + means[1:] + ".", its, path)
        default = "" if its.required() else f" = field(default_factory={named})"
        body += [f"    {part}: {named}{default}", *documented(f"The keys of [{dotted}].", "    ")]
    text += ["", "@dataclass(frozen=True, kw_only=True, slots=True)", f"class {name}(Section):"]
    return [*text, *documented(about, "    "), "", *body, ""]


def written() -> str:
    return HEAD + "\n".join(classes("Config", "A drive: every key there is.", tree(), ()))


def main() -> int:
    text = written()
    if "--check" in sys.argv:
        return 0 if TARGET.read_text() == text else 1
    TARGET.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
