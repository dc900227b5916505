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
from fowler.commands import ask, diff, endurance, explain, fio, pts, score, trace_info
from fowler.comparison import Comparison
from fowler.drive import Device, Preset, device, presets
from fowler.errors import Diagnostic, InputError, PolicyError, WorkerError
from fowler.fleets import Bounds, Fleet
from fowler.points import Point, Sweep
from fowler.results import (
    Band,
    Blame,
    Latencies,
    Lifetime,
    Metric,
    Study,
    metrics,
)
from fowler.running import compare, lifetime, run, study
from fowler.runs import Run
from fowler.sweeping import load, sweep
from fowler.table import Table
from fowler.verdict import Finding, Interval, Seeds

__all__ = [
    "Band",
    "Blame",
    "Bounds",
    "Comparison",
    "Device",
    "Diagnostic",
    "Finding",
    "Fleet",
    "InputError",
    "Interval",
    "Latencies",
    "Lifetime",
    "MainEffects",
    "Metric",
    "Point",
    "PolicyError",
    "Preset",
    "Run",
    "Seeds",
    "Study",
    "Sweep",
    "Table",
    "WorkerError",
    "__version__",
    "ask",
    "compare",
    "config",
    "device",
    "diff",
    "endurance",
    "explain",
    "fio",
    "lifetime",
    "load",
    "main_effects",
    "metrics",
    "pareto",
    "policies",
    "presets",
    "pts",
    "run",
    "score",
    "study",
    "sweep",
    "trace_info",
]
