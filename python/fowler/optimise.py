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
...     constraints={"slow": fo.at_most(lambda its: its.run.read.p99_us, 100_000)},
... )
>>> optuna.logging.set_verbosity(optuna.logging.WARNING)
>>> study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=1))
>>> study.optimize(objective, n_trials=3)
>>> objective.candidate(study.best_params).run.read.count > 0
True
"""

from __future__ import annotations

import difflib
import inspect
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, TypeGuard

import optuna

from fowler import drive
from fowler._settings import key, kinds
from fowler._specification import Specification
from fowler.drive import Device
from fowler.errors import Diagnostic, InputError
from fowler.policies import Schemes
from fowler.results import Lifetime, Run
from fowler.running import AnyDevice, AnyWorkload, Source, divided, lifetime, run
from fowler.sweeping import SAID, read_keywords

__all__ = ["Candidate", "Measure", "Objective", "at_least", "at_most"]

Value = Any
"""What a parameter may be: a word, a number, true or false."""

RANGE = ("from", "to", "scale", "step")
"""What a range of the space may say."""

OWN = ("scheme", "seed", "limit", "queue_depth", "speed", "idle")
"""What may be varied and is no key of a drive: the arguments of :func:`fowler.run` by these names."""

RUNS_ONLY = ("queue_depth", "speed", "idle", "requests", "requests_file")
"""What a life has no use for: it goes as it was recorded, and keeps no requests."""

LIVES_ONLY = ("years", "dilation", "limit", "check")
"""What a life may be given apart from the run."""

YEARS_MOST = 1e6
"""The longest life that :func:`fowler.lifetime` takes."""


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
            space: What is varied: ``scheme``, ``seed``, ``limit``, ``queue_depth``, ``speed`` and ``idle``,
                the arguments of :func:`fowler.run`; and configuration keys by the names that it takes, of
                which ``"queue.depth"`` and ``"lifetime.table.idle"`` go by their paths alone. Each has a list
                of values, or a range of numbers
                ``{"from": .., "to": .., "scale": "linear" | "log", "step": ..}``: whole numbers between whole
                numbers, any between others. A size or a time has its unit in its name: ``buffer_size_mib``.
                What is varied is not among the keywords too.
            minimise: What is minimised: a number of a :class:`Candidate`, or several for a study of several.
            constraints: Conditions by their names: :func:`at_most`, :func:`at_least`, or any function of a
                candidate that is at most 0 where it is met.
            life: Keywords of :func:`fowler.lifetime` that are not those of the run: ``years``, ``dilation``,
                ``limit``, ``check``. A life is not checked at twice the dilation unless ``check`` is true; it
                goes as it was recorded, at any ``queue_depth``, ``speed`` and ``idle``.
            **keywords: Those of :func:`fowler.run`.

        Raises:
            InputError: for everything that no drive of the space could put right, at once: names and values
                of the space, of the keywords and of ``life``, presets and files. A trace is read for it.
        """
        self._minimise = minimise
        self._constraints = dict(constraints or {})
        self._of = (device, workload)
        self._keywords = {"progress": False, **keywords}
        self._life = {"check": False, **(life or {})}
        diagnostics = _wrong(device, workload, space, self._keywords, self._life) + _wrong_life(self._life)
        diagnostics += [
            Diagnostic(name, None, "", f"{its!r} cannot be called", "a function of a candidate")
            for name, its in (
                ("minimise", minimise),
                *((f"constraints[{name!r}]", its) for name, its in self._constraints.items()),
            )
            if not callable(its)
        ]
        if diagnostics:
            raise InputError(diagnostics)
        self._space = dict(space)

    def candidate(self, values: Mapping[str, Value]) -> Candidate:
        """The candidate at a place of the space, such as ``study.best_params``."""
        device, workload = self._of
        its = {**self._keywords, **values}
        lives = {name: value for name, value in its.items() if name not in RUNS_ONLY}
        return Candidate(
            values,
            lambda: run(device, workload, **its),
            lambda: lifetime(device, workload, **{**lives, **self._life}),
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


def _wrong(
    device: AnyDevice,
    workload: AnyWorkload,
    space: Any,
    keywords: Mapping[str, Any],
    life: Mapping[str, Any],
) -> list[Diagnostic]:
    """What is wrong with every drive of a space.

    A sweep tells names and values that are wrong from drives that cannot be. So it is asked what it would say
    of a sweep of this space.
    """
    if not isinstance(space, Mapping) or not space:
        what = "there is nothing to vary"
        return [Diagnostic("space", None, "", what, "lists and ranges by the names of keys")]
    diagnostics = _said_twice(space, keywords, life)
    for name, its in space.items():
        diagnostics += _wrong_range(name, its) if isinstance(its, Mapping) else _wrong_list(name, its)
    if isinstance(workload, Iterator):
        what = "this can be read only once, and every trial reads it"
        diagnostics.append(Diagnostic("workload", None, "", what, hint="hand over a list or a table"))
    faulty = {its.file for its in diagnostics}
    sound = {name: its for name, its in space.items() if _place(name) not in faulty}
    own = {**_as_sweep(workload, keywords), "axes": _axes(sound)}
    for check in (
        # By itself it has to be a drive; with the keywords only the space may make it one.
        lambda: device.check() if isinstance(device, Device) else drive.device(device),
        lambda: read_keywords(own, Specification("objective", OWN), "space"),
    ):
        try:
            check()
        except InputError as error:
            diagnostics += error.diagnostics
    return diagnostics


def _as_sweep(workload: AnyWorkload, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """The keywords of a sweep of one point; what a sweep cannot have is left out, or gets a name."""
    own = {name: its for name, its in keywords.items() if name not in ("progress", "requests_file")}
    if not (workload is None or isinstance(workload, str | os.PathLike)):
        # Whether columns are requests only a run says.
        own = {name: its for name, its in own.items() if name not in (*Source.__annotations__, "source")}
        workload = "demo"
    one = {"workload": workload, "design": "random", "points": 1}
    return {**dict.fromkeys(SAID), **own, **one, "scheme": _without_policies(keywords.get("scheme"))}


def _axes(space: Mapping[str, Any]) -> dict[str, Any]:
    """The axes of a sweep of a space."""
    axes: dict[str, Any] = {}
    for name, its in space.items():
        if isinstance(its, Mapping):
            axes[name] = {part: value for part, value in its.items() if part != "step"}
        elif name != "scheme":
            axes[name] = its
        else:
            names: list[Any] = []
            for scheme in map(_without_policies, its):
                if scheme is not None and scheme not in names:
                    names.append(scheme)
            axes |= {name: names} if names else {}
    # A sweep varies something, and here there may be nothing but policies.
    return axes or {"seed": [1]}


def _without_policies(scheme: Any) -> Any:
    """What of a scheme has a name, and what is no scheme; ``None`` where that is nothing."""

    def is_policy(part: Any) -> bool:
        try:
            return not isinstance(part, str) and bool(Schemes([part]).policies)
        except InputError:
            return False

    if isinstance(scheme, list | tuple):
        return [part for part in scheme if not is_policy(part)] or (None if scheme else scheme)
    return None if is_policy(scheme) else scheme


def _said_twice(
    space: Mapping[str, Any], keywords: Mapping[str, Any], life: Mapping[str, Any]
) -> list[Diagnostic]:
    """What is varied and is among the keywords too; and keywords that a run has not, and a sweep has."""
    arguments = {
        name for name, its in inspect.signature(run).parameters.items() if its.kind is its.KEYWORD_ONLY
    }
    strange = [key(name) for name in keywords if name in SAID and name not in arguments]
    diagnostics = [its for its in strange if isinstance(its, Diagnostic)]
    fixed = {name for name in OWN if keywords.get(name) is not None}
    more = {name: its for name, its in keywords.items() if name not in arguments | {*SAID}}
    try:
        _, always = divided(more, keywords.get("source"), keywords.get("set"))
        fixed |= {setting.partition("=")[0] for setting in always}
    except InputError:
        # It is said where all keywords are read.
        pass
    if life.get("years") is not None:
        if "lifetime.target" in fixed:
            what = "`lifetime.target` is among the keywords, and is the same"
            diagnostics.append(Diagnostic("life['years']", None, "", what, hint="leave one of them out"))
        fixed.add("lifetime.target")
    for name in space:
        found = (name, "") if name in OWN or not isinstance(name, str) else key(name)
        if not isinstance(found, Diagnostic) and found[0] in fixed:
            what = f"`{found[0]}` is varied, and is said by a keyword too"
            diagnostics.append(Diagnostic(_place(name), None, "", what, hint="leave one of them out"))
    return diagnostics


def _place(name: object) -> str:
    return f"space[{name!r}]"


def _wrong_list(name: str, its: Any) -> list[Diagnostic]:
    if isinstance(its, Sequence) and not isinstance(its, str) and its:
        return []
    return [Diagnostic(_place(name), None, "", "there is nothing to choose from", "a list, or a range")]


def _wrong_range(name: str, its: Mapping[str, Any]) -> list[Diagnostic]:
    where = _place(name)
    diagnostics = [
        Diagnostic(where, None, "", f"a range has no `{part}`", ", ".join(RANGE))
        for part in its
        if part not in RANGE
    ]
    low, high, step, scale = its.get("from"), its.get("to"), its.get("step"), its.get("scale", "linear")
    if not (_is_number(low) and _is_number(high)):
        hint = "a size or a time has its unit in its name: buffer_size_mib, read_us"
        what = f"a range from {low!r} to {high!r}"
        return [*diagnostics, Diagnostic(where, None, "", what, "two numbers", hint)]
    if scale not in ("linear", "log"):
        diagnostics.append(Diagnostic(where, None, "", f"an unknown scale {scale!r}", "linear or log"))
    if not low < high or (scale == "log" and low <= 0):
        what = f"the range from {low} to {high} is empty, or begins at 0 and is logarithmic"
        diagnostics.append(Diagnostic(where, None, "", what, "from below to"))
    if step is None:
        return diagnostics
    if scale == "log":
        diagnostics.append(Diagnostic(where, None, "", "a logarithmic range has no step"))
    found = key(name)
    whole = name in OWN[1:4] or (isinstance(found, tuple) and kinds().get(found[0]) == "count")
    if not _is_number(step) or step <= 0 or (whole and not isinstance(step, int)):
        expected = "a whole number, at least 1" if whole else "a number above 0"
        diagnostics.append(Diagnostic(where, None, "", f"a step of {step!r}", expected))
    return diagnostics


def _wrong_life(life: Mapping[str, Any]) -> list[Diagnostic]:
    diagnostics = []
    for name, its in life.items():
        where = f"life[{name!r}]"
        if name not in LIVES_ONLY:
            near = difflib.get_close_matches(str(name), LIVES_ONLY, n=1)
            hint = (
                f"did you mean `{near[0]}`?"
                if near
                else "what holds for the run is a keyword, and holds here"
            )
            what = "this is not said of a life alone"
            diagnostics.append(Diagnostic(where, None, "", what, ", ".join(LIVES_ONLY), hint))
        elif name == "years" and its is not None and not (_is_number(its) and 0 < its <= YEARS_MOST):
            diagnostics.append(Diagnostic(where, None, "", f"a life of {its!r} years", "a number above 0"))
        elif name in ("dilation", "limit") and its is not None and not (type(its) is int and its >= 1):
            diagnostics.append(Diagnostic(where, None, "", f"`{its!r}`", "a whole number, at least 1"))
    return diagnostics


def _is_number(value: Any) -> TypeGuard[float]:
    """Whether it is a finite number that fits a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -sys.float_info.max <= value <= sys.float_info.max
