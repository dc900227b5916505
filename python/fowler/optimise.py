"""An objective for Optuna: the best drive under conditions. Needs Optuna: ``pip install '.[optimise]'``.

>>> import optuna
>>> import fowler.optimise as fo
>>> def cost(its):
...     return its.values["over_provisioning"]
>>> objective = fo.Objective(
...     "pes-mlc",
...     "demo",
...     limit=500,
...     set={"geometry.blocks_per_plane": 64, "gc.background_below": 12},
...     space={"over_provisioning": {"from": 0.1, "to": 0.4}},
...     minimise=cost,
...     constraints={"late": fo.at_most(lambda its: its.run.read.p99_us, 100_000)},
... )
>>> optuna.logging.set_verbosity(optuna.logging.WARNING)
>>> study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
>>> study.optimize(objective, n_trials=3)
>>> objective.candidate(study.best_params).run.read.count > 0
True
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any

import optuna

from fowler import _core
from fowler._settings import settings
from fowler.drive import Device
from fowler.errors import InputError, Problem
from fowler.results import Lifetime, Run
from fowler.running import AnyDevice, AnyWorkload, lifetime, run

__all__ = ["Candidate", "Measure", "Objective", "at_least", "at_most"]

Value = Any
"""What a parameter may be: a word, a number, true or false."""

RANGE = ("from", "to", "scale", "step")
"""What a range of the space may say."""

RUNS_ONLY = ("queue_depth", "speed", "idle")
"""What a life has no use for: it goes as it was recorded."""


class Candidate:
    """One drive of the space. It is run when its run is asked for, and lives when its life is."""

    def __init__(
        self,
        values: Mapping[str, Value],
        run: Callable[[], Run],
        life: Callable[[], Lifetime],
    ) -> None:
        """Its place in the space, and how it is run and lives."""
        self.values = dict(values)
        self._run = run
        self._life = life

    @cached_property
    def run(self) -> Run:
        """Its run."""
        return self._run()

    @cached_property
    def life(self) -> Lifetime:
        """Its whole life."""
        return self._life()

    @property
    def device(self) -> Device:
        """The drive, policies included."""
        return self.run.device

    def __repr__(self) -> str:
        """Its place in the space."""
        return f"<Candidate: {', '.join(f'{name}={its}' for name, its in self.values.items())}>"


Measure = Callable[[Candidate], float | None]
"""What is measured of a candidate."""


def at_most(measure: Measure, limit: float) -> Measure:
    """A condition: by which share of the limit the measure is above it; met at 0 and below."""
    return lambda its: (_measured(measure, its) - limit) / (abs(limit) or 1.0)


def at_least(measure: Measure, limit: float) -> Measure:
    """A condition: by which share of the limit the measure is below it; met at 0 and below."""
    return lambda its: (limit - _measured(measure, its)) / (abs(limit) or 1.0)


def _measured(measure: Measure, its: Candidate) -> float:
    value = measure(its)
    if value is None:
        # No drive is to blame: with so few requests none has it.
        raise ValueError(
            f"{its!r}: a condition has no value, such as p99.9 of fewer than a thousand requests"
        )
    return value


class Objective:
    """What a study of Optuna's minimises: ``study.optimize(Objective(...), n_trials=50)``.

    Each trial is a drive of the space, which is run, and lives if a condition asks for its life. Conditions
    are given to Optuna by name, and every sampler that knows constraints heeds them; ``study.best_trial``
    meets them all. A trial whose drive cannot be, or cannot run the workload, is pruned; why is its user
    attribute ``error``. Results repeat: with a seeded sampler and one job at a time, so does the study.
    """

    def __init__(
        self,
        device: AnyDevice = "tlc",
        workload: AnyWorkload = None,
        *,
        space: Mapping[str, Sequence[Value] | Mapping[str, Any]],
        minimise: Callable[[Candidate], float | Sequence[float]],
        constraints: Mapping[str, Measure] | None = None,
        life: Mapping[str, Any] | None = None,
        **keywords: Any,
    ) -> None:
        """An objective over a space.

        Args:
            device: As for :func:`fowler.run`.
            workload: As for :func:`fowler.run`.
            space: What is varied: ``scheme``, and configuration keys by the names that :func:`fowler.run`
                takes, each with a list of values, or a range of numbers
                ``{"from": .., "to": .., "scale": "linear" | "log", "step": ..}``: whole numbers between whole
                numbers, any between others. A size or a time has its unit in its name: ``buffer_size_mib``.
            minimise: What is minimised: a number of a :class:`Candidate`, or several for a study of several.
            constraints: Conditions by their names: :func:`at_most`, :func:`at_least`, or any function of a
                candidate that is at most 0 where it is met.
            life: Keywords of :func:`fowler.lifetime` that are not those of the run: ``years``, ``dilation``,
                ``limit``. A life is not checked at twice the dilation unless ``check`` is true.
            **keywords: Those of :func:`fowler.run`.

        Raises:
            InputError: for everything that is wrong with the space and the names of presets and files.
        """
        self._space = dict(space)
        self._minimise = minimise
        self._constraints = dict(constraints or {})
        self._of = (device, workload)
        self._keywords = {"progress": False, **keywords}
        kept = {name: its for name, its in self._keywords.items() if name not in RUNS_ONLY}
        self._life = {**kept, "check": False, **(life or {})}
        problems = [problem for name, its in self._space.items() for problem in _wrong(name, its)]
        problems += _missing(device, workload, keywords)
        if problems:
            raise InputError(problems)

    def candidate(self, values: Mapping[str, Value]) -> Candidate:
        """The candidate at a place of the space, such as ``study.best_params``."""
        device, workload = self._of
        return Candidate(
            values,
            lambda: run(device, workload, **{**self._keywords, **values}),
            lambda: lifetime(device, workload, **{**self._life, **values}),
        )

    def __call__(self, trial: optuna.Trial) -> float | Sequence[float]:
        """What is minimised, of the drive that a trial suggests."""
        its = self.candidate({name: _suggest(trial, name, self._space[name]) for name in self._space})
        try:
            conditions = {name: condition(its) for name, condition in self._constraints.items()}
            value = self._minimise(its)
        except InputError as error:
            trial.set_user_attr("error", str(error))
            raise optuna.TrialPruned(str(error)) from error
        for name, amount in conditions.items():
            if amount is None:
                raise ValueError(f"{its!r}: the condition {name!r} has no value")
            trial.set_constraint(name, amount)
        return value


def _suggest(trial: optuna.Trial, name: str, its: Sequence[Value] | Mapping[str, Any]) -> Value:
    if not isinstance(its, Mapping):
        return trial.suggest_categorical(name, list(its))
    low, high, step, log = its["from"], its["to"], its.get("step"), its.get("scale") == "log"
    if all(isinstance(it, int) for it in (low, high, step or 1)):
        return trial.suggest_int(name, low, high, step=step or 1, log=log)
    return trial.suggest_float(name, low, high, step=step, log=log)


def _wrong(name: str, its: Sequence[Value] | Mapping[str, Any]) -> list[Problem]:
    where = f"space[{name!r}]"
    problems = []
    if name != "scheme":
        try:
            settings({name: 1})
        except InputError as error:
            problems += [Problem(where, None, "", it.what, it.expected, it.hint) for it in error.problems]
    if not isinstance(its, Mapping):
        if isinstance(its, str) or not its:
            problems.append(Problem(where, None, "", "there is nothing to choose from", "a list, or a range"))
        return problems
    problems += [
        Problem(where, None, "", f"a range has no `{part}`", ", ".join(RANGE))
        for part in its
        if part not in RANGE
    ]
    ends = [its.get("from"), its.get("to")]
    if not all(isinstance(end, int | float) and not isinstance(end, bool) for end in ends):
        hint = "a size or a time has its unit in its name: buffer_size_mib, read_us"
        what = f"a range from {ends[0]!r} to {ends[1]!r}"
        return [*problems, Problem(where, None, "", what, "two numbers", hint)]
    scale = its.get("scale", "linear")
    if scale not in ("linear", "log"):
        problems.append(Problem(where, None, "", f"an unknown scale {scale!r}", "linear or log"))
    low, high = ends
    if not low < high or (scale == "log" and low <= 0):  # type: ignore[operator]
        what = f"the range from {low} to {high} is empty, or begins at 0 and is logarithmic"
        problems.append(Problem(where, None, "", what, "from below to"))
    if scale == "log" and its.get("step") is not None:
        problems.append(Problem(where, None, "", "a logarithmic range has no step"))
    return problems


def _missing(device: AnyDevice, workload: AnyWorkload, keywords: Mapping[str, Any]) -> list[Problem]:
    """What no trial could find; each would be pruned for it."""
    problems: list[Problem] = []
    wanted = [("device", device)] if isinstance(device, str | os.PathLike) else []
    wanted += [("workload", workload)] if isinstance(workload, str | os.PathLike) else []
    for kind, name in wanted:
        try:
            _core.preset(kind, os.fspath(name))
        except InputError as error:
            problems += error.problems
    trace = keywords.get("trace") or (keywords.get("source") or {}).get("trace")
    if trace is not None and not Path(trace).is_file():
        problems.append(Problem("trace", None, "", f"there is no file {os.fspath(trace)}"))
    return problems
