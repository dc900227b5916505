"""Runs the code blocks of the documentation. The language of a block decides how:

- ``python``: run. The blocks of a page share one namespace and one folder.
- ``sh``: run as one script that stops at the first failure. Lines of make, cargo, pip and git are left out,
  because they call this suite or need a network. Such a command must be on a line of its own.
- ``console``: each ``$ `` line is run and must succeed (append ``|| echo exit code $?`` to a command that is
  expected to fail). The lines that follow must match its output (``...`` matches anything).
- ``toml`` with the type of file (``toml sweep``, ``workload``, ``scheme``, ``device``, or ``keys`` for a part
  of a device): passed to the reader of that type.
- ``csv``: read as a native trace or as commands for a die. ``json``: parsed.
- ``rust``: not run. It must be a quotation: its lines must occur in this order in a file of the repository.
- ``text``: not run: output, diagrams in text, formulas.
- ``{...}``: a directive. The documentation build executes the code in it. A directive for text
  (``{admonition}``) must not contain code.

Any other language, no language, indented code, or a fence of colons fails, so that no block goes untested.
The comment ``<!-- skip: next "why" -->`` skips the next block, and the suite prints the reason. The block
must still be valid in its language, and the commands and flags of a shell block must exist.
"""

from __future__ import annotations

import doctest
import json
import re
import shlex
import subprocess
import sysconfig
import tomllib
from collections.abc import Callable, Iterator
from functools import cache, partial
from itertools import groupby
from os import environ, pathsep
from pathlib import Path
from typing import Any

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token
from mdit_py_plugins.front_matter import front_matter_plugin
from sybil import Document, Example, Region
from sybil.evaluators.python import PythonEvaluator
from sybil.region import Lexeme

import fowler

ROOT = Path(__file__).parents[2]

SKIP = re.compile(r'<!--\s*skip:\s*next\s+"(?P<why>[^"]+)"\s*-->')

DIRECTIVE = re.compile(r"\{([\w-]+)\}")
COLONS = re.compile(r"^:::", re.MULTILINE)

# Lines of a shell block that are not run: they call this suite, or need a network.
ELSEWHERE = re.compile(r"^\s*(?:\w+=\S+\s+)*(?:make|cargo|pip|git|maturin|apt-get)\b")

# The characters that separate commands in a shell line.
BETWEEN = frozenset("();<>|&")

# The command that reads each type of TOML. A part of a device has no command of its own.
READERS = {
    "sweep": "fowler sweep {} --dry-run",
    "workload": "fowler trace synth {} --limit 100",
    "scheme": "fowler run --device together --workload demo --limit 10 --scheme {} --quiet",
    "device": "fowler run --device {} --workload demo --limit 10 --quiet",
    "keys": "",
}

SECONDS = 300


def enter(place: Path, patch: pytest.MonkeyPatch) -> None:
    """Enters the folder in which blocks run, with `fowler` on the path and plots that open no window."""
    patch.chdir(place)
    patch.setenv("PATH", sysconfig.get_path("scripts") + pathsep + environ["PATH"])
    patch.setenv("MPLBACKEND", "agg")
    patch.setenv("XDG_CACHE_HOME", str(place / "caches"))


def blocks(document: Document) -> Iterator[Region]:
    """Yields every code block of a page with its evaluator."""
    starts = [0]
    for line in document.text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    why = ""
    for token in MarkdownIt().use(front_matter_plugin).parse(document.text):
        if token.type == "html_block" and (skip := SKIP.search(token.content)):
            why = skip["why"]
        colons = token.type == "inline" and COLONS.search(token.content)
        if token.map is None or not (colons or token.type in ("fence", "code_block")):
            continue
        first, last = token.map
        text = Lexeme(token.content, 0, 0)
        yield Region(starts[first], starts[last], text, evaluator(token, why))
        why = ""


def evaluator(token: Token, why: str) -> Callable[[Example], None]:
    """Returns the function that runs a block."""
    language, _, more = token.info.strip().partition(" ")
    if mistake := misplaced(token, language, more):
        return wrong(mistake)
    if directive := DIRECTIVE.fullmatch(language):
        return DIRECTIVES[directive[1]]
    if why:
        return left_out(language, why)
    return partial(settings, more) if language == "toml" else LANGUAGES[language]


def misplaced(token: Token, language: str, more: str) -> str | None:
    """Returns why a block cannot be run, if so."""
    if token.type == "inline":
        return "code in a fence of colons is not tested: use backticks"
    if token.type == "code_block":
        return "indented code has no language: put it between fences"
    if directive := DIRECTIVE.fullmatch(language):
        known = directive[1] in DIRECTIVES
        return None if known else f"unknown directive {language}: one of {', '.join(DIRECTIVES)}"
    if language not in LANGUAGES:
        return f"unknown language {language!r}: one of {', '.join(LANGUAGES)}"
    kinds = READERS if language == "toml" else [""]
    return None if more in kinds else f"`{token.info}`: expected one of {[*kinds]} after the language"


def wrong(what: str) -> Callable[[Example], None]:
    """Returns a function that fails the test."""

    def fails(_: Example) -> None:
        pytest.fail(what, pytrace=False)

    return fails


def left_out(language: str, why: str) -> Callable[[Example], None]:
    """Returns a function that checks a block without running it, and skips the test."""

    def skips(example: Example) -> None:
        match language:
            case "sh" | "console":
                flags_exist(example.parsed.replace("\n$ ", "\n").removeprefix("$ "))
            case "python":
                compile(example.parsed, example.path, "exec")
            case "toml":
                tomllib.loads(example.parsed)
            case "json":
                json.loads(example.parsed)
        pytest.skip(f"{Path(example.path).name}:{example.line}: {why}")

    return skips


def nothing(_: Example) -> None:
    """Does nothing."""


def shell(example: Example) -> None:
    """Runs all lines as one script."""
    succeed("\n".join(line for line in example.parsed.splitlines() if not elsewhere(line)))


def elsewhere(line: str) -> bool:
    """True if a line is a command that this suite does not run. Fails if another command shares the line."""
    if not ELSEWHERE.match(line):
        return False
    if line.endswith("\\") or len(commands(line)) > 1:
        pytest.fail(f"`{line}` would not be run: put the first command on its own line", pytrace=False)
    return True


def commands(line: str) -> list[list[str]]:
    """Returns the words of each command in a line."""
    words = shlex.shlex(line, posix=True, punctuation_chars=True)
    words.whitespace_split = True
    parted = groupby(words, key=lambda word: bool(word) and BETWEEN.issuperset(word))
    return [list(group) for between, group in parted if not between]


def console(example: Example) -> None:
    """Runs each command and compares its output."""
    lines: list[tuple[str, str]] = []
    for line in example.parsed.splitlines(keepends=True):
        if line.startswith("$ "):
            lines.append((line[2:], ""))
        else:
            assert lines, "the first line must be a command, which begins with `$ `"
            command, printed = lines[-1]
            lines[-1] = (command, printed + line)
    how = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for command, expected in lines:
        if elsewhere(command.rstrip("\n")):
            assert not expected, f"{command}is not run, so its output cannot be checked"
            continue
        printed = succeed(command)
        if expected and not doctest.OutputChecker().check_output(expected, printed, how):
            pytest.fail(f"{command}printed\n{printed}\ninstead of\n{expected}", pytrace=False)


def succeed(script: str) -> str:
    """Runs a script in the folder of the page and returns its output. Fails if the script does."""
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
    )
    if done.returncode:
        pytest.fail(f"{script}\nexit code {done.returncode}\n{done.stdout}", pytrace=False)
    return done.stdout


def flags_exist(script: str) -> None:
    """Fails if a script that is not run has commands or flags that do not exist."""
    for line in script.replace("\\\n", " ").splitlines():
        for words in commands(line):
            if words[0] == "fowler":
                names_what_is(words)


def names_what_is(words: list[str]) -> None:
    """Fails if a command has subcommands or flags that do not exist."""
    path, text = words[:1], helped(words[0])
    for word in words[1:]:
        below = subcommands(text)
        if not below or (word not in below and runs_alone(text)):
            break
        assert word in below, f"`{shlex.join(words)}`: `{path[-1]}` has no subcommand {word}"
        path.append(word)
        text = helped(*path)
    for flag in (word.partition("=")[0] for word in words if word.startswith("--")):
        assert re.search(rf"{flag}(?![\w-])", text), f"`{shlex.join(words)}`: unknown flag {flag}"


def runs_alone(text: str) -> bool:
    """True if a command that has subcommands also runs without one."""
    return re.search(r"^ {7}fowler [\w ]+ <COMMAND>$", text, re.MULTILINE) is not None


def subcommands(text: str) -> list[str]:
    """Returns the subcommands that a help text lists."""
    listed = re.search(r"^Commands:\n(?P<lines>(?:  .*\n)+)", text, re.MULTILINE)
    return re.findall(r"^  ([\w-]+)", listed["lines"], re.MULTILINE) if listed else []


@cache
def helped(*command: str) -> str:
    """Returns the help text of a command."""
    return subprocess.run([*command, "--help"], check=True, capture_output=True, text=True).stdout


def settings(kind: str, example: Example) -> None:
    """Reads a TOML block as Fowler does."""
    table = tomllib.loads(example.parsed)
    assert not empty(table), "a table without keys has no effect"
    if kind == "keys":
        fowler.device("tlc").with_(dict(keys(table)))
        return
    path = Path(f"block-{example.line}.toml")
    path.write_text(example.parsed)
    succeed(READERS[kind].format(path))


def empty(table: dict[str, Any]) -> bool:
    """True if a table, or a table within it, has no keys."""
    return not table or any(isinstance(value, dict) and empty(value) for value in table.values())


def keys(table: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """Yields the keys of a part of a drive by their paths. The name of a policy is the key of its slot."""
    for name, value in table.items():
        path = f"{above}.{name}" if above else name
        if isinstance(value, dict):
            yield from keys(value, path)
        else:
            yield path.removesuffix(".name"), value


def columns(example: Example) -> None:
    """Reads a trace, or runs commands on a die."""
    path = Path(f"block-{example.line}.csv")
    path.write_text(example.parsed)
    dies = example.parsed.startswith("at_ns,op\n")
    succeed(f"fowler chip --device pes-slc {path}" if dies else f"fowler trace info {path}")


def parsed(example: Example) -> None:
    """Parses JSON."""
    json.loads(example.parsed)


def quoted(example: Example) -> None:
    """Fails unless the lines of Rust are in the repository, where they are compiled."""

    def lines(text: str) -> str:
        return "\n" + "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"

    wanted = lines(example.parsed)
    folders = [ROOT / "crates", ROOT / "examples"]
    sources = (path for folder in folders for path in folder.rglob("*.rs"))
    found = any(wanted in lines(path.read_text()) for path in sources)
    assert found, "no file of crates or examples has these lines in this order"


def prose(example: Example) -> None:
    """Fails if the text of a directive contains code, which nothing would test."""
    inner = MarkdownIt().parse(example.parsed)
    assert not any(token.type in ("fence", "code_block") for token in inner), "code in a directive is not run"


def references(example: Example) -> None:
    """Fails unless a block consists of Sphinx directives that take their text from the source."""
    for line in example.parsed.splitlines():
        assert re.match(r"$|\.\. auto\w+:: |   :[\w-]+:", line), (
            f"`{line}` is neither an `.. auto...` directive nor an option of one"
        )


DIRECTIVES: dict[str, Callable[[Example], None]] = {
    "admonition": prose,
    "code-cell": nothing,
    "eval-rst": references,
    "toctree": nothing,
}

LANGUAGES: dict[str, Callable[[Example], None]] = {
    "python": PythonEvaluator(),
    "sh": shell,
    "console": console,
    "toml": nothing,
    "csv": columns,
    "json": parsed,
    "rust": quoted,
    "text": nothing,
}
