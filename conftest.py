"""Collects the code blocks of the documentation; `python/tests/documents.py` says how each is run."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from documents import blocks, enter
from sybil import Sybil

ROOT = Path(__file__).parent


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """The folder in which the blocks of one page run: copies of the examples, and `fowler` on the path."""
    place = tmp_path_factory.mktemp("page")
    shutil.copytree(ROOT / "examples", place / "examples")
    with pytest.MonkeyPatch.context() as patch:
        enter(place, patch)
        yield place


pytest_collect_file = Sybil(
    parsers=[blocks],
    patterns=["README.md", "CONTRIBUTING.md", "ARCHITECTURE.md", "docs/**/*.md", "docs/*.md"],
    fixtures=["folder"],
).pytest()
