"""What runs the blocks of the documentation lets none of them escape."""

from __future__ import annotations

import doctest
import importlib
import pkgutil
from pathlib import Path

import pytest
from documents import blocks
from sybil import Document

import fowler


def run(text: str) -> None:
    document = Document(text, "page.md")
    for region in blocks(document):
        document.add(region)
    for example in document.examples():
        example.evaluate()


@pytest.fixture(autouse=True)
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


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


def test_examples_in_docstrings_are_right() -> None:
    names = [it.name for it in pkgutil.iter_modules(fowler.__path__) if it.name not in ("__main__", "_core")]
    modules = [fowler, *(importlib.import_module(f"fowler.{name}") for name in names)]
    results = [doctest.testmod(module) for module in modules]
    assert sum(it.failed for it in results) == 0
    assert sum(it.attempted for it in results) >= 4
