"""A laboratory for solid-state drives.

Given a drive and a workload, Fowler reports how slow every request is and exactly why, how long the
drive lives and what that costs, and which policy would do better.

>>> import fowler
>>> r = fowler.run("pes-mlc", "demo", scheme="pes_ipc", limit=10_000)
>>> r.read.count + r.write.count
10000
"""

from __future__ import annotations

from fowler import config, policies
from fowler._core import __version__
from fowler.analysis import MainEffects, main_effects, pareto
from fowler.drive import Device, Preset, device, presets
from fowler.errors import Diagnostic, InputError, PolicyError, WorkerError
from fowler.points import Point, Sweep
from fowler.results import (
    Band,
    Blame,
    Comparison,
    Latencies,
    Lifetime,
    Metric,
    Run,
    Study,
    Table,
    metrics,
)
from fowler.running import compare, lifetime, run, study
from fowler.sweeping import load, sweep

__all__ = [
    "Band",
    "Blame",
    "Comparison",
    "Device",
    "Diagnostic",
    "InputError",
    "Latencies",
    "Lifetime",
    "MainEffects",
    "Metric",
    "Point",
    "PolicyError",
    "Preset",
    "Run",
    "Study",
    "Sweep",
    "Table",
    "WorkerError",
    "__version__",
    "compare",
    "config",
    "device",
    "lifetime",
    "load",
    "main_effects",
    "metrics",
    "pareto",
    "policies",
    "presets",
    "run",
    "study",
    "sweep",
]
