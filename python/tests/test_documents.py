"""Tests the runner of the documentation's code blocks, and that pages match the program."""

from __future__ import annotations

import doctest
import importlib
import inspect
import os
import pkgutil
import re
import subprocess
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest
from documents import ROOT, blocks, enter
from sybil import Document

import fowler
from fowler import _core


def run(text: str) -> None:
    document = Document(text, "page.md")
    for region in blocks(document):
        document.add(region)
    for example in document.examples():
        example.evaluate()


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    enter(tmp_path, monkeypatch)


@pytest.mark.parametrize(
    "block",
    [
        "```\nno language\n```",
        "```cobol\nDISPLAY 1.\n```",
        "Text.\n\n    code by indentation\n",
        "```{spam}\n```",
        "```python\nassert 1 == 2\n```",
        "- in a list\n\n  ```sh\n  false\n  ```",
        "```sh\nfalse\ntrue\n```",
        "```console\n$ echo one\ntwo\n```",
        "```console\n$ false\n```",
        "```console\n$ echo one; false\none\n```",
        "```console\n$ fowler run --device nosuch\n...\n```",
        "```console\n$ make love\nnot war\n```",
        "```sh\nmake love && fowler nosuch\n```",
        "```sh\ngit status | fowler nosuch\n```",
        "```sh\ncargo build; fowler nosuch\n```",
        "```sh\ncargo build \\\n  --release\n```",
        "```sh\nfowler nosuch\n```",
        '```toml\ntitle = "of what?"\n```',
        '```toml spam\ntitle = "of what?"\n```',
        '```toml keys\nspam = "eggs"\n```',
        "```toml keys\n[timing]\nreed = 1\n```",
        "```toml keys\n```",
        "```toml scheme\n[timing]\n```",
        '```toml scheme\nspam = "eggs"\n```',
        '```toml workload\nspam = "eggs"\n```',
        '```toml sweep\nspam = "eggs"\n```',
        '```toml device\nspam = "eggs"\n```',
        "```python and more\n1\n```",
        ":::{code-block} python\nassert 1 == 2\n:::",
        ":::{code-cell} ipython3\nassert 1 == 2\n:::",
        "Text.\n:::{admonition} Mind\nthis\n:::",
        "````{admonition} Mind\n```python\nassert 1 == 2\n```\n````",
        "```{eval-rst}\n.. code-block:: python\n\n   assert 1 == 2\n```",
        "```csv\nat_ns,op,offset,size\n0,read,0,none\n```",
        "```json\n{1: 2}\n```",
        "```rust\nfn this_is_in_no_file() {}\n```",
        "```text\nfine\n```\n\n```\nnot so\n```",
    ],
)
def test_what_is_wrong_fails(block: str) -> None:
    with pytest.raises((AssertionError, ValueError, pytest.fail.Exception)):
        run(block)


@pytest.mark.parametrize(
    "block",
    [
        "```text\nanything\n```",
        "```python\na = 1\n```\n\nLater:\n\n```python\nassert a == 1\n```",
        "```sh\necho 1 > file\nmake love\ncat file\n```",
        "```console\n$ echo one two\none ...\n$ echo three\nthree\n```",
        "```console\n$ sh -c 'echo said; exit 2' || echo exit code $?\nsaid\nexit code 2\n```",
        "```rust\n#[derive(Debug, Subcommand)]\n    pub(crate) enum Command {\n```",
        "```console\n$ fowler run --device nosuch || echo exit code $?\nerror: ...\nexit code 2\n```",
        "```sh\npip install '.[plot]'   # a remark; with what parts commands && so on\n```",
        "```toml keys\n[timing]\nread = '30us'\n```",
        "```toml scheme\npolicy.die_order = 'read_first'\n```",
        "```toml workload\nrequests = 9\narrivals = { kind = 'poisson', rate = 500 }\n```",
        "```{admonition} Mind\nThis is `prose`.\n```",
        "```{eval-rst}\n.. autoclass:: fowler.Run\n   :members:\n```",
        "```{code-cell} ipython3\nthis is for the build of the documentation\n```",
    ],
)
def test_what_is_right_passes(block: str) -> None:
    run(block)


def test_what_is_left_out_says_why() -> None:
    with pytest.raises(pytest.skip.Exception, match=r"page\.md:2: takes hours"):
        run('<!-- skip: next "takes hours" -->\n```python\nraise SystemExit\n```')


@pytest.mark.parametrize(
    "block",
    [
        "```python\nassert 1 =\n```",
        "```toml scheme\n[timing\n```",
        "```json\n{1: 2}\n```",
        "```sh\nfowler reprodus pes\n```",
        "```sh\nfowler trace twist my.csv\n```",
        "```sh\nfowler reproduce pes --breef\n```",
        "```sh\nfowler reproduce pes --tra DIR\n```",
        "```sh\ntrue && fowler nosuch\n```",
        "```console\n$ fowler reprodus pes\n...\n```",
    ],
)
def test_what_is_left_out_must_be_right_as_far_as_is_known(block: str) -> None:
    with pytest.raises((AssertionError, SyntaxError, ValueError)):
        run(f'<!-- skip: next "takes hours" -->\n{block}')


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The names that examples use without creating them; the page of the reference says what they are."""
    drive = fowler.device("pes-mlc").with_(blocks_per_plane=64, background_below=12)
    place = tmp_path_factory.mktemp("examples")
    (file := place / "drive.toml").write_text(drive.toml())
    rows = (f"{at * 50_000},{'read' if at % 3 else 'write'},{at % 64 * 4096},4096" for at in range(600))
    (place / "trace.csv").write_text("\n".join(["at_ns,op,offset,size", *rows, ""]))
    (place / "job.fio").write_text("[job]\nrw=randread\nbs=4k\nsize=16m\nnumber_ios=200\n")
    (place / "smart.json").write_text('{"data_units_written": 64663716, "power_on_hours": 742}')
    fowler.ask(place / "trace.csv", device=drive, seeds=2, out=place / "asked")
    axes = {"over_provisioning": [0.25, 0.3], "seed": [1, 2]}
    life: Any = {"years": 1, "dilation": 20_000, "check": False, "limit": 5_000, "drives": 500}
    return {
        "fowler": fowler,
        "figures": importlib.import_module("fowler.figures"),
        "drive": drive,
        "place": place,
        "r": fowler.run(drive, "demo", limit=1_000, requests=True),
        "both": fowler.compare(drive, "demo", schemes=["fifo", "rps"], seeds=2, limit=1_000),
        "swept": fowler.sweep(device=file, workload="demo", axes=axes, limit=300, out=place / "out"),
        "life": fowler.lifetime(drive, "financial1-excerpt", **life),
    }


@pytest.mark.parametrize("name", ["", *(it.name for it in pkgutil.iter_modules(fowler.__path__))])
def test_examples_in_docstrings_are_right(name: str, results: dict[str, Any]) -> None:
    if name in ("__main__", "_core"):
        return
    module = importlib.import_module(f"fowler.{name}".rstrip("."))
    assert doctest.testmod(module, extraglobs=results).failed == 0


def test_every_public_docstring_has_an_example() -> None:
    lacking = []
    for module in modules(public=True):
        for name in getattr(module, "__all__", ()):
            member = getattr(module, name)
            ours = inspect.isfunction(member) or (inspect.isclass(member) and member.__module__ != "builtins")
            if not ours or member.__module__.startswith("fowler._"):
                continue
            # The methods of a protocol are shown by the policy of its class.
            methods = (
                {} if getattr(member, "_is_protocol", False) or not inspect.isclass(member) else vars(member)
            )
            own = {key: getattr(it, "__func__", it) for key, it in methods.items() if not key.startswith("_")}
            documented = {"": member, **{key: it for key, it in own.items() if inspect.isfunction(it)}}
            lacking += [
                f"{module.__name__}.{name}.{key}".rstrip(".")
                for key, it in documented.items()
                if ">>>" not in (it.__doc__ or "") and it.__module__.startswith("fowler.")
            ]
    assert not lacking


def modules(*, public: bool = False) -> list[ModuleType]:
    names = [it.name for it in pkgutil.iter_modules(fowler.__path__) if it.name not in ("__main__", "_core")]
    return [importlib.import_module(f"fowler.{it}") for it in names if not (public and it.startswith("_"))]


def test_the_reference_has_every_public_name() -> None:
    page = (ROOT / "docs" / "reference" / "python.md").read_text()
    said = set()
    for kind, name in re.findall(r"^\.\. auto(\w+):: (\S+)$", page, re.MULTILINE):
        above, _, last = name.rpartition(".")
        if kind == "module":
            module = importlib.import_module(name)
            said |= {name, *(f"{name}.{it}" for it in getattr(module, "__all__", ()))}
        else:
            member = getattr(importlib.import_module(above), last)
            said |= {name, f"{member.__module__}.{last}"}
    missing = []
    for module in (fowler, *modules(public=True)):
        for name in getattr(module, "__all__", ()):
            member = getattr(module, name)
            names = {f"{module.__name__}.{name}", f"{getattr(member, '__module__', '')}.{name}"}
            if not names & said and f"`fowler.{name}`" not in page:
                missing.append(f"{module.__name__}.{name}")
    assert not missing


def table(page: str, head: str) -> list[list[str]]:
    """Returns the cells of a table's rows."""
    rows = page.partition(f"| {head} |")[2].partition("\n\n")[0].splitlines()[2:]
    return [[cell.strip() for cell in row.strip("|").split(" | ")] for row in rows]


SCHEMES = (ROOT / "docs" / "schemes.md").read_text()


def test_the_page_of_schemes_has_every_scheme() -> None:
    named = [name for row in table(SCHEMES, "scheme") for name in re.findall(r"`(\w+)`", row[0])]
    assert sorted(named) == sorted(it.name for it in fowler.presets("scheme"))


def test_the_page_of_schemes_has_every_policy() -> None:
    keys = {path: [word for word, _ in words] for path, _, _, _, words, *_ in _core.keys()}
    slots = {path: words for path, words in keys.items() if re.fullmatch(r"policy\.\w+", path)}
    said = {row[0].strip("`"): row[1] for row in table(SCHEMES, "`--set`")}
    assert sorted(said) == sorted(slots)
    for slot, answers in said.items():
        named = set(re.findall(r"`([\w.]+)`", answers))
        assert set(slots[slot]) <= named, slot
        below = {f"{slot}{name}" for name in named if name.startswith(".")}
        assert below <= keys.keys(), slot


def test_the_quickstart_shows_what_the_demo_prints() -> None:
    page = (ROOT / "docs" / "quickstart.md").read_text()
    section = page.partition("This is the output:")[2].partition("### How to read it")[0]
    lines = [line for line in section.splitlines() if line and not line.startswith("```")]
    makefile = (ROOT / "Makefile").read_text().replace("\\\n", " ")
    command = re.search(r"^demo:.*\n.*-- (compare .*)$", makefile, re.MULTILINE)
    assert command
    called = ["fowler", *command[1].split(), "--quiet"]
    # The command must not know the width of the terminal in which the tests run.
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    ran = subprocess.run(called, check=True, capture_output=True, text=True, env=environment)
    printed = ran.stdout.splitlines()
    assert len(lines) > 30
    assert lines == [line for line in printed if line]


@pytest.fixture
def references(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(ROOT / "docs")
    yield importlib.import_module("references")
    del sys.modules["references"]


@pytest.mark.parametrize(
    "page",
    [
        "<!-- written by the build: key -->",
        "<!-- Written by the build: keys -->",
        "<!-- written by the build : keys -->",
        "<!-- writen by the build: keys -->",
        "  <!-- written by the build: keys -->",
    ],
)
def test_a_page_is_not_left_empty(references: Any, page: str) -> None:
    app = SimpleNamespace(env=SimpleNamespace(doc2path=lambda _: ROOT / "docs" / "page.md"))
    with pytest.raises(references.ExtensionError):
        references.complete(app, "page", [page])


# Slow: the test asks the program for the help of all its commands, twice.
def test_what_the_program_writes_is_not_lost(references: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "fowler trace convert" in references.commands()
    assert "addresses" in references.keys().partition("## Keys of a workload")[2]
    asked = references.asked
    monkeypatch.setattr(references, "asked", lambda *words: asked(*words).replace("Commands:", "Verbs:"))
    with pytest.raises(references.ExtensionError):
        references.commands()
    monkeypatch.setattr(references, "asked", lambda *words: asked(*words).replace("keys of", "words of"))
    with pytest.raises(references.ExtensionError):
        references.keys()
    monkeypatch.setattr(references.fowler, "presets", lambda _: [])
    with pytest.raises(references.ExtensionError):
        references.presets()
