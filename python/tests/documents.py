"""How each code block of the documentation is run. What language a block says it is in decides:

- ``python``: run; the blocks of a page share one namespace and one folder.
- ``sh``: run as one script that stops at the first failure. Lines of make, cargo, pip and git are left out:
  what they call is this suite, or needs a network.
- ``console``: each ``$ `` line is run, and what follows must be what it prints (``...`` stands for anything).
- ``toml``: given to the reader of what it describes: a sweep, a workload, a scheme or a drive.
- ``csv``: read as a native trace or as commands for a die. ``json``: parsed.
- ``rust``: quoted, not run: its lines must follow each other in a file of the repository.
- ``text``: nothing to run: an output, a picture in letters, a formula.
- ``{...}``: a directive; what is to be executed in it, the build of the documentation executes.

Any other language, none, or code by indentation alone fails, so that no block escapes. A comment
``<!-- skip: next "why" -->`` in front leaves out the next block and has its reason printed; of a shell block
it still looks whether the commands and flags exist.
"""

from __future__ import annotations

import doctest
import json
import re
import shlex
import subprocess
import tomllib
from collections.abc import Callable, Iterator
from functools import cache
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

# What of a shell block this suite does not call: it is what calls this suite, or it asks a network.
ELSEWHERE = re.compile(r"^\s*(?:\w+=\S+\s+)*(?:make|cargo|pip|git|maturin|apt-get)\b")

# Directives whose content is no code, and those that the build of the documentation executes.
DIRECTIVES = {"code-cell", "eval-rst", "figure", "image", "include", "raw", "toctree"}

SECONDS = 300


def blocks(document: Document) -> Iterator[Region]:
    """Every code block of a page, with what is to be done with it."""
    starts = [0]
    for line in document.text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    why = ""
    for token in MarkdownIt().use(front_matter_plugin).parse(document.text):
        if token.type == "html_block" and (skip := SKIP.search(token.content)):
            why = skip["why"]
        if token.type not in ("fence", "code_block") or token.map is None:
            continue
        first, last = token.map
        text = Lexeme(token.content, 0, 0)
        yield Region(starts[first], starts[last], text, evaluator(token, why))
        why = ""


def evaluator(token: Token, why: str) -> Callable[[Example], None]:
    """What is to be done with a block."""
    language = token.info.split()[0] if token.info.strip() else ""
    if token.type == "code_block":
        return wrong("code by indentation says no language: put it between fences")
    if directive := re.fullmatch(r"\{([\w-]+)\}", language):
        known = directive[1] in DIRECTIVES
        return nothing if known else wrong(f"unknown directive {language}: see DIRECTIVES")
    if language not in LANGUAGES:
        return wrong(f"unknown language {language!r}: one of {', '.join(LANGUAGES)}")
    return left_out(language, why) if why else LANGUAGES[language]


def wrong(what: str) -> Callable[[Example], None]:
    """Fails."""

    def fails(_: Example) -> None:
        pytest.fail(what, pytrace=False)

    return fails


def left_out(language: str, why: str) -> Callable[[Example], None]:
    """Does not run a block, and says why."""

    def skips(example: Example) -> None:
        if language in ("sh", "console"):
            text = example.parsed.replace("\n$ ", "\n").removeprefix("$ ")
            flags_exist(text)
        pytest.skip(f"{Path(example.path).name}:{example.line}: {why}")

    return skips


def nothing(_: Example) -> None:
    """There is nothing to run."""


def shell(example: Example) -> None:
    """One script of all lines."""
    lines = [line for line in example.parsed.splitlines() if not ELSEWHERE.match(line)]
    succeed("\n".join(lines))


def console(example: Example) -> None:
    """Each command with what it prints."""
    commands: list[tuple[str, str]] = []
    for line in example.parsed.splitlines(keepends=True):
        if line.startswith("$ "):
            commands.append((line[2:], ""))
        else:
            assert commands, "the first line is a command, and begins with `$ `"
            command, printed = commands[-1]
            commands[-1] = (command, printed + line)
    how = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for command, expected in commands:
        if ELSEWHERE.match(command):
            continue
        printed = called(command).stdout if expected else succeed(command)
        if expected and not doctest.OutputChecker().check_output(expected, printed, how):
            pytest.fail(f"{command}printed\n{printed}\ninstead of\n{expected}", pytrace=False)


def called(script: str) -> subprocess.CompletedProcess[str]:
    """A script in the folder of the page."""
    return subprocess.run(
        ["bash", "-euo", "pipefail", "-c", script],
        check=False,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=SECONDS,
    )


def succeed(script: str) -> str:
    """The same, which must go well; what it prints."""
    done = called(script)
    if done.returncode:
        pytest.fail(f"{script}\nexit code {done.returncode}\n{done.stdout}", pytrace=False)
    return done.stdout


def flags_exist(script: str) -> None:
    """Whether a script that is not run at least names commands and flags that there are."""
    for line in script.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        if not words or words[0] != "fowler":
            continue
        commands = [word for word in words[1:3] if re.fullmatch(r"[a-z]+", word)]
        known = helped("fowler", *commands)
        for flag in (word.partition("=")[0] for word in words if word.startswith("--")):
            assert re.search(rf"{flag}\b", known), f"`{line}`: there is no {flag}"


@cache
def helped(*command: str) -> str:
    """What a command says about itself; of a word that is no command, what the one before says."""
    done = subprocess.run([*command, "--help"], check=False, capture_output=True, text=True)
    if done.returncode and len(command) > 1:
        return helped(*command[:-1])
    assert done.returncode == 0, done.stderr
    return done.stdout


def settings(example: Example) -> None:
    """A file that Fowler reads: what it describes follows from its keys."""
    its = tomllib.loads(example.parsed)
    path = Path(f"block-{example.line}.toml")
    path.write_text(example.parsed)
    if its.keys() & {"axis", "point", "design"}:
        reader = f"fowler sweep {path} --dry-run"
    elif its.keys() & {"arrivals", "mix", "reads", "writes", "power_off"}:
        reader = f"fowler trace synth {path} --limit 100"
    elif its.keys() <= {"policy", "join", "timing"}:
        reader = f"fowler run --device together --workload demo --limit 10 --scheme {path} --quiet"
    elif "geometry" in its:
        reader = f"fowler run --device {path} --workload demo --limit 10 --quiet"
    else:
        fowler.device("tlc").with_(dict(keys(its)))
        return
    succeed(reader)


def keys(table: dict[str, Any], above: str = "") -> Iterator[tuple[str, Any]]:
    """The keys of a part of a drive by their paths; the name of a policy is that of its slot."""
    for name, value in table.items():
        path = f"{above}.{name}" if above else name
        if isinstance(value, dict):
            yield from keys(value, path)
        else:
            yield path.removesuffix(".name"), value


def columns(example: Example) -> None:
    """A trace, or commands for a die."""
    path = Path(f"block-{example.line}.csv")
    path.write_text(example.parsed)
    dies = example.parsed.startswith("at_ns,op\n")
    succeed(f"fowler chip --device pes-slc {path}" if dies else f"fowler trace info {path}")


def parsed(example: Example) -> None:
    """Text that must be JSON."""
    json.loads(example.parsed)


def quoted(example: Example) -> None:
    """Lines of Rust that must stand in the repository, where they are compiled."""

    def lines(text: str) -> str:
        return "\n" + "\n".join(line.strip() for line in text.splitlines() if line.strip()) + "\n"

    wanted = lines(example.parsed)
    folders = [ROOT / "crates", ROOT / "examples"]
    sources = (path for folder in folders for path in folder.rglob("*.rs"))
    found = any(wanted in lines(path.read_text()) for path in sources)
    assert found, "these lines do not follow each other in any file of crates or examples"


LANGUAGES: dict[str, Callable[[Example], None]] = {
    "python": PythonEvaluator(),
    "sh": shell,
    "console": console,
    "toml": settings,
    "csv": columns,
    "json": parsed,
    "rust": quoted,
    "text": nothing,
}
