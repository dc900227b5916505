"""Tests plots and the progress bar without a chosen backend."""

from __future__ import annotations

import importlib.util
import sys
from types import ModuleType

import pytest
from matplotlib.colors import to_hex

import fowler
from fowler import _progress
from fowler.figures import CAUSES, blame


def test_pictures_show_themselves_and_repeat(small: fowler.Device) -> None:
    both = fowler.compare(small, "demo", schemes=["fifo", "pes_ipc"], limit=2_000)
    for draw in (lambda: both.plot("read"), lambda: blame(both["fifo"])):
        first, second = draw()._repr_svg_(), draw()._repr_svg_()
        assert first.startswith("<?xml")
        assert "<svg" in first
        assert first == second


def test_a_cause_has_its_color_whatever_else_is_drawn(small: fowler.Device) -> None:
    run = fowler.run(small, "demo", scheme="fifo", limit=2_000)
    shares = run.blame.read.all.shares()
    assert set(shares) <= set(CAUSES)
    for causes in (2, 8):
        bars = {bar.get_label(): bar.patches[0] for bar in blame(run, causes=causes).axes[0].containers}
        assert len(bars) > 1
        for label, bar in bars.items():
            color, hatch = CAUSES[label.replace(" ", "_")]
            assert to_hex(bar.get_facecolor()) == color
            assert (bar.get_hatch() or "") == hatch


@pytest.mark.parametrize("widgets", [True, False])
def test_the_bar_of_a_notebook_needs_widgets(monkeypatch: pytest.MonkeyPatch, widgets: bool) -> None:
    monkeypatch.setitem(sys.modules, "ipykernel.zmqshell", ModuleType("ipykernel.zmqshell"))
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: object() if widgets else None)
    assert (_progress._kind().__module__ == "tqdm.notebook") == widgets
