"""Tests plots and the progress bar without a chosen backend."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest

import fowler
from fowler import _progress
from fowler.figures import blame


def test_pictures_show_themselves_and_repeat(small: fowler.Device) -> None:
    both = fowler.compare(small, "demo", schemes=["fifo", "pes_ipc"], limit=2_000)
    for draw in (lambda: both.plot("read"), lambda: blame(both["fifo"])):
        first, second = draw()._repr_svg_(), draw()._repr_svg_()
        assert first.startswith("<?xml")
        assert "<svg" in first
        assert first == second


@pytest.mark.parametrize("widgets", [True, False])
def test_the_bar_of_a_notebook_needs_widgets(monkeypatch: pytest.MonkeyPatch, widgets: bool) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel.zmqshell", ModuleType("ipykernel.zmqshell"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if widgets else None)
    assert (_progress._kind().__module__ == "tqdm.notebook") == widgets
