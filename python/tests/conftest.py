"""Fixtures that tests share."""

from __future__ import annotations

import pytest

import fowler

SMALL = {
    "geometry.blocks_per_plane": 64,
    "gc.background_below": 12,
    "precondition.pattern": "steady",
}


@pytest.fixture(scope="session")
def small() -> fowler.Device:
    """A drive on which a run of some thousand requests takes a tenth of a second."""
    return fowler.device("pes-mlc").with_(SMALL)
