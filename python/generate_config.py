"""Writes `fowler/config.py` and `fowler/_keywords.py` from the keys of the compiled module.

Both files are part of the package, but of no commit: building the package (`build_package.py`) and `python/environment`
write them. The argument is the compiled module, which lies beside them by default. `--check` writes nothing, and
fails if a file is out of date.
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
    """Imports the compiled module alone, because the package needs the files that this script writes."""
    named = (Path(name) for name in sys.argv[1:] if not name.startswith("--"))
    file = next(named, None) or next(HERE.glob("_core.*so"))
    found = importlib.util.spec_from_file_location("fowler._core", file)
    assert found, "the compiled module exists"
    assert found.loader, "the compiled module can be loaded"
    module = importlib.util.module_from_spec(found)
    found.loader.exec_module(module)
    return module


_core = compiled()
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

Written when the package is built. Times, sizes and rates carry their units in their text: ``"25us"``, ``"64MiB"``, ``"500MB/s"``. Each has its
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
    """A configuration key with its kind, its description and its default."""

    kind: str
    about: str
    expected: str
    words: list[tuple[str, str]]
    required: bool
    default: str
    needs: str

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
        kind = self.type()
        return f"{kind}({text})" if kind in QUANTITIES else text


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
    for slot, part in root.parts["policy"].parts.items():
        if isinstance(part, Leaf):
            root.parts["policy"].parts[slot] = Node(own=part)
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
    needs = f" Needs {leaf.needs}." if leaf.needs else ""
    return [*lines, *documented(about + takes + needs, "    ")]


def classes(name: str, about: str, node: Node, above: tuple[str, ...]) -> list[str]:
    text: list[str] = []
    body: list[str] = []
    if node.own:
        body += attribute("name", node.own)
    for part, inner in node.parts.items():
        if isinstance(inner, Leaf):
            body += attribute(part, inner)
            continue
        path = (*above, part)
        named = camel(*(path[1:] if path[0] == "policy" and len(path) > 1 else path))
        dotted = ".".join(path)
        means = inner.own.about if inner.own else f"the keys of [{dotted}]"
        text += classes(named, means[:1].upper() + means[1:] + ".", inner, path)
        default = "" if inner.required() else f" = field(default_factory={named})"
        body += [f"    {part}: {named}{default}", *documented(f"The keys of [{dotted}].", "    ")]
    text += ["", "@dataclass(frozen=True, kw_only=True, slots=True)", f"class {name}(Section):"]
    return [*text, *documented(about, "    "), "", *body, ""]


def written() -> str:
    return HEAD + "\n".join(classes("Config", "A drive: every key there is.", tree(), ()))


KEYWORDS = '''"""Every keyword that sets a configuration key, for editors and type checkers, made from the Rust definitions.

Written when the package is built.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Literal, SupportsFloat, SupportsIndex, TypedDict

from fowler.source import Source


class Keys(TypedDict, total=False):
    """A configuration key: its path with ``_`` for the dots, or its last part."""

'''

TAKEN = (
    *("axes", "check", "checkpoint", "changes", "columns", "design", "design_seed", "device"),
    *("device_id", "dilation", "executor", "faults", "format", "idle", "lenient_pct", "limit", "out"),
    *("points", "progress", "queue_depth", "remap", "requests", "requests_file", "retry", "scheme"),
    *("schemes", "seed", "seeds", "set", "source", "spec", "speed", "spread", "threads", "title"),
    *("trace", "workload", "years"),
)
"""The names of parameters and of keywords of traces: in calls that have them they are no keys."""

NUMBER = "SupportsFloat"
VALUES = {
    "count": "SupportsIndex",
    "counts": "SupportsIndex | Sequence[SupportsIndex]",
    "real": NUMBER,
    "reals": f"Sequence[{NUMBER}]",
    "rows": f"Sequence[Sequence[{NUMBER}]]",
    "time": "str | timedelta",
    "times": "str | timedelta | Sequence[str | timedelta]",
    "spans": "Sequence[str | timedelta]",
    "size": "str",
    "rate": "str",
    "flag": "bool",
    "set": "str | Sequence[str]",
    "text": "str",
    "texts": "Sequence[str]",
}


def keywords() -> dict[str, str]:
    """Returns the type of every name that means one key."""
    paths: dict[str, set[str]] = {}
    facts = {path: Leaf(*rest) for path, *rest in _core.keys()}
    for path in facts:
        whole = path.replace(".", "_")
        for name in {whole, whole.removeprefix("policy_"), path.rsplit(".", 1)[-1]}:
            paths.setdefault(name, set()).add(path)
    found: dict[str, str] = {}
    for name, leaves in paths.items():
        if len(leaves) == 1:
            leaf = facts[min(leaves)]
            words = ", ".join(f'"{word}"' for word, _ in leaf.words)
            found[name] = f"Literal[{words}] | str" if leaf.kind == "word" else VALUES[leaf.kind]
    return {f"{name}_" if keyword.iskeyword(name) else name: leaves for name, leaves in sorted(found.items())}


def written_keywords() -> str:
    lines = {name: f"    {name}: {kind}\n" for name, kind in keywords().items()}
    free = "".join(line for name, line in lines.items() if name not in TAKEN)
    own = "".join(line for name, line in lines.items() if name in TAKEN)
    drive = '\n\nclass DriveKeys(Keys, total=False):\n    """The keywords of drives."""\n\n'
    both = (
        "\n\nclass Keywords(Source, Keys, total=False):\n"
        '    """The keywords of runs, lives and sweeps: those of traces, and configuration keys."""\n'
    )
    return KEYWORDS + free + drive + own + both


FILES = {HERE / "config.py": written, HERE / "_keywords.py": written_keywords}


def main() -> int:
    if "--check" in sys.argv:
        return int(any(path.read_text() != text() for path, text in FILES.items()))
    for path, text in FILES.items():
        path.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
