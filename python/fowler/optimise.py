"""An Optuna objective that looks for the best drive under conditions.

Needs Optuna: ``pip install '.[optimise]'``.

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
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import timedelta
from functools import cached_property
from typing import Any, TypeGuard

import optuna

from fowler import drive
from fowler._settings import key, kinds, number
from fowler._specification import Specification
from fowler.drive import Device
from fowler.errors import Diagnostic, InputError
from fowler.policies import Schemes
from fowler.results import Lifetime
from fowler.running import AnyDevice, keyword_only, lifetime, run
from fowler.runs import Run
from fowler.source import AnyWorkload, Source, divided
from fowler.sweeping import SAID, read_keywords
from fowler.units import QUANTITIES, Quantity, Time

__all__ = ["Candidate", "Measure", "Objective", "at_least", "at_most"]

Value = Any
"""The value of a parameter: a string, a number or a Boolean."""

RANGE = ("from", "to", "scale", "step")
"""The keys of a range of the space."""

OWN = ("scheme", "seed", "limit", "queue_depth", "speed", "idle")
"""The parameters that are not keys of a drive, but arguments of :func:`fowler.run`."""

RUNS_ONLY = ("queue_depth", "speed", "idle", "faults", "requests", "requests_file")
"""Arguments that do not apply to a life, which runs at the recorded speed and keeps no requests."""

LIVES_ONLY = ("years", "dilation", "limit", "check")
"""The arguments that ``life`` accepts."""

YEARS_MOST = 1e6
"""The longest life that :func:`fowler.lifetime` accepts, in years."""


class Candidate:
    """One drive of the space. ``run`` and ``life`` are simulated when they are first used.

    >>> its = Candidate({"scheme": "rps"}, run=lambda: r, life=lambda: life)
    >>> its, its.run is r
    (<Candidate: scheme=rps>, True)
    """

    def __init__(
        self,
        values: Mapping[str, Value],
        run: Callable[[], Run],
        life: Callable[[], Lifetime],
    ) -> None:
        """Creates a candidate from its parameter values and the functions that simulate it."""
        self.values = dict(values)
        self._run = run
        self._life = life

    @cached_property
    def run(self) -> Run:
        """The result of the candidate's run."""
        return self._run()

    @cached_property
    def life(self) -> Lifetime:
        """The result of the candidate's lifetime run."""
        return self._life()

    @property
    def device(self) -> Device:
        """The drive, including its policies."""
        return self.run.device

    def __repr__(self) -> str:
        """Shows the parameter values."""
        return f"<Candidate: {', '.join(f'{name}={value}' for name, value in self.values.items())}>"


Measure = Callable[[Candidate], float | None]
"""A function that measures a candidate."""


def at_most(measure: Measure, limit: float) -> Measure:
    """Returns the condition that a measure is at most ``limit``.

    The value of the condition is the excess over the limit, as a share of the limit. The condition is met
    at 0 or less.

    >>> at_most(lambda its: 150.0, 100.0)(None)
    0.5
    """
    return lambda candidate: (_measured(measure, candidate) - limit) / (abs(limit) or 1.0)


def at_least(measure: Measure, limit: float) -> Measure:
    """Returns the condition that a measure is at least ``limit``.

    The value of the condition is the gap to the limit, as a share of the limit. The condition is met at 0
    or less.

    >>> at_least(lambda its: 50.0, 100.0)(None)
    0.5
    """
    return lambda candidate: (limit - _measured(measure, candidate)) / (abs(limit) or 1.0)


def _measured(measure: Measure, candidate: Candidate) -> float:
    value = measure(candidate)
    if value is None:
        # Not the drive's fault: every drive lacks the value with so few requests. So do not prune.
        raise ValueError(
            f"{candidate!r}: a condition has no value; for example, p99.9 needs at least 1000 requests"
        )
    return value


class Objective:
    """The objective of an Optuna study: ``study.optimize(Objective(...), n_trials=50)``.

    Each trial runs one drive of the space, and simulates its life if a condition or the objective uses it.
    Conditions are passed to Optuna by name, and every sampler that supports constraints observes them;
    ``study.best_trial`` meets them all. A trial is pruned if its drive is invalid or cannot run the workload;
    its user attribute ``error`` says why. With a seeded sampler and one job at a time, a study is
    reproducible.

    >>> def slow(its):
    ...     return its.run.read.mean_us
    >>> objective = Objective(drive, "demo", limit=100, space={"scheme": ["fifo", "rps"]}, minimise=slow)
    >>> objective.candidate({"scheme": "rps"})
    <Candidate: scheme=rps>
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
        """Creates an objective over a space.

        Args:
            device: As for :func:`fowler.run`.
            workload: As for :func:`fowler.run`.
            space: The parameters to vary: ``scheme``, ``seed``, ``limit``, ``queue_depth``, ``speed`` and
                ``idle`` as for :func:`fowler.run`, and configuration keys by any of their names, except that
                ``"queue.depth"`` and ``"lifetime.table.idle"`` need their full paths. Each has a list of
                values, or a range of numbers
                ``{"from": .., "to": .., "scale": "linear" | "log", "step": ..}``: a range between whole
                numbers yields whole numbers. Times, sizes and rates have their units: ``{"from": "1MiB",
                "to": "1GiB"}`` yields whole MiB, the unit of ``from``. Optuna has the number; ``its.values``
                has the quantity. A parameter cannot also be one of the keywords.
            minimise: A function that returns the number to minimize for a :class:`Candidate`, or several
                numbers for a multi-objective study.
            constraints: Conditions by name: :func:`at_most`, :func:`at_least`, or any function of a candidate
                that returns at most 0 if the condition is met.
            life: Keywords of :func:`fowler.lifetime` for lives only: ``years``, ``dilation``, ``limit``,
                ``check``. A life is not checked at twice the dilation unless ``check`` is true. It runs at
                the recorded speed, whatever ``queue_depth``, ``speed`` and ``idle`` are.
            **keywords: The keywords of :func:`fowler.run`.

        Raises:
            InputError: for everything that is wrong with every drive of the space, all together: names and
                values of the space, of the keywords and of ``life``, presets and files. A trace is read to
                check it.
        """
        self._minimise = minimise
        self._constraints = dict(constraints or {})
        self._of = (device, workload)
        self._keywords = {"progress": False, **keywords}
        self._life = {"check": False, **(life or {})}
        diagnostics = _wrong(device, workload, space, self._keywords, self._life) + _wrong_life(self._life)
        diagnostics += [
            Diagnostic(name, None, "", f"{part!r} is not callable", "a function of a candidate")
            for name, part in (
                ("minimise", minimise),
                *((f"constraints[{name!r}]", part) for name, part in self._constraints.items()),
            )
            if not callable(part)
        ]
        if diagnostics:
            raise InputError(diagnostics)
        self._space = {name: _numbers(name, part) for name, part in space.items()}
        self._units = {
            name: _ends(name, part)[0] for name, part in space.items() if _measured_range(name, part)
        }

    def candidate(self, values: Mapping[str, Value]) -> Candidate:
        """Returns the candidate with these parameter values, such as ``study.best_params``.

        >>> def slow(its):
        ...     return its.run.read.mean_us
        >>> objective = Objective(drive, "demo", limit=100, space={"scheme": ["fifo", "rps"]}, minimise=slow)
        >>> objective.candidate({"scheme": "rps"}).run.scheme
        'rps'
        """
        device, workload = self._of
        values = {name: self._quantity(name, value) for name, value in values.items()}
        arguments = {**self._keywords, **values}
        lives = {name: value for name, value in arguments.items() if name not in RUNS_ONLY}
        return Candidate(
            values,
            lambda: run(device, workload, **arguments),
            lambda: lifetime(device, workload, **{**lives, **self._life}),
        )

    def _quantity(self, name: str, value: Value) -> Value:
        """Returns a value with its unit, if Optuna has only the number."""
        if name not in self._units or isinstance(value, str):
            return value
        low = self._units[name]
        return type(low)(f"{number(value)}{low.unit}")

    def __call__(self, trial: optuna.Trial) -> float | Sequence[float]:
        """Returns the value to minimize for the drive that a trial suggests."""
        candidate = self.candidate({name: _suggest(trial, name, self._space[name]) for name in self._space})
        try:
            conditions = {name: condition(candidate) for name, condition in self._constraints.items()}
            value = self._minimise(candidate)
        except InputError as error:
            trial.set_user_attr("error", str(error))
            raise optuna.TrialPruned(str(error)) from error
        for name, amount in conditions.items():
            if amount is None:
                raise ValueError(f"{candidate!r}: the condition {name!r} has no value")
            trial.set_constraint(name, amount)
        return value


def _measured_range(name: Any, values: Any) -> type[Quantity] | None:
    """Returns the type of quantity of a range's numbers; ``None`` if they have no unit."""
    path = key(name) if name not in OWN and isinstance(values, Mapping) else None
    return QUANTITIES.get(kinds().get(path, "")) if isinstance(path, str) else None


def _ends(name: str, values: Any) -> list[Quantity]:
    """Returns the ends of a range of quantities, and its step if there is one.

    Raises:
        InputError: if one of them is no quantity.
    """
    make = _measured_range(name, values)
    assert make, "its numbers have units"
    given = (values.get("from"), values.get("to"), *([] if values.get("step") is None else [values["step"]]))
    # A number has no unit, and is refused for that.
    texts = (Time(it) if isinstance(it, timedelta) else str(it) for it in given)
    ends = [make(it) for it in texts]
    for end in ends:
        _ = end.least
    return ends


def _numbers(name: str, values: Any) -> Any:
    """Returns a range of quantities in numbers of the unit of ``from``, and a list as Optuna takes it."""
    if not isinstance(values, Mapping):
        return [Time(it) if isinstance(it, timedelta) else it for it in values]
    if not _measured_range(name, values):
        return values
    ends = _ends(name, values)
    scale = ends[0].units[ends[0].unit]
    parts = (end.least / scale for end in ends)
    whole = (int(part) if part.is_integer() else part for part in parts)
    return {**values, **dict(zip(("from", "to", "step"), whole, strict=False))}


def _suggest(trial: optuna.Trial, name: str, values: Sequence[Value] | Mapping[str, Any]) -> Value:
    if not isinstance(values, Mapping):
        return trial.suggest_categorical(name, list(values))
    low, high, step, log = values["from"], values["to"], values.get("step"), values.get("scale") == "log"
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
    """Returns the problems that every drive of a space has.

    The specification of a sweep already tells wrong names and values from impossible drives. So the space is
    checked as if it were a sweep.
    """
    if not isinstance(space, Mapping) or not space:
        what = "there is nothing to vary"
        expected = "a dictionary from parameters to lists or ranges"
        return [Diagnostic("space", None, "", what, expected)]
    diagnostics = _said_twice(space, keywords, life)
    for name, part in space.items():
        diagnostics += _wrong_range(name, part) if isinstance(part, Mapping) else _wrong_list(name, part)
    if isinstance(workload, Iterator):
        what = "an iterator can be read only once, but every trial reads the workload"
        diagnostics.append(Diagnostic("workload", None, "", what, hint="pass a list or a table"))
    faulty = {part.file for part in diagnostics}
    sound = {name: part for name, part in space.items() if _place(name) not in faulty}
    own = {**_as_sweep(workload, keywords), "axes": _axes(sound)}
    for check in (
        # The device alone must be valid. With the keywords it may need values of the space to be valid.
        lambda: device.check() if isinstance(device, Device) else drive.device(device),
        lambda: read_keywords(own, Specification("objective", OWN), "space"),
    ):
        try:
            check()
        except InputError as error:
            diagnostics += error.diagnostics
    return diagnostics


def _as_sweep(workload: AnyWorkload, keywords: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the keywords of a sweep of one point. What a sweep cannot take is left out or replaced."""
    own = {name: argument for name, argument in keywords.items() if name not in ("progress", "requests_file")}
    if not (workload is None or isinstance(workload, str | os.PathLike)):
        # Only a run can check columns of requests, so a preset takes their place here.
        own = {
            name: argument
            for name, argument in own.items()
            if name not in (*Source.__annotations__, "source")
        }
        workload = "demo"
    one = {"workload": workload, "design": "random", "points": 1}
    return {**dict.fromkeys(SAID), **own, **one, "scheme": _without_policies(keywords.get("scheme"))}


def _axes(space: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the axes of the sweep that corresponds to a space."""
    axes: dict[str, Any] = {}
    for name, values in space.items():
        if isinstance(values, Mapping):
            axes[name] = {part: value for part, value in values.items() if part != "step"}
        elif name != "scheme":
            axes[name] = values
        else:
            names: list[Any] = []
            for scheme in map(_without_policies, values):
                if scheme is not None and scheme not in names:
                    names.append(scheme)
            axes |= {name: names} if names else {}
    # A sweep needs an axis, and a space may vary nothing but policies written in Python.
    return axes or {"seed": [1]}


def _without_policies(scheme: Any) -> Any:
    """Returns a scheme without the policies written in Python; ``None`` if nothing is left."""

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
    """Returns diagnostics for parameters that are also keywords, and for keywords of sweeps only."""
    arguments = {*keyword_only(run)}
    strange = [key(name) for name in keywords if name in SAID and name not in arguments]
    diagnostics = [item for item in strange if isinstance(item, Diagnostic)]
    fixed = {name for name in OWN if keywords.get(name) is not None}
    more = {name: item for name, item in keywords.items() if name not in arguments | {*SAID}}
    try:
        _, always = divided(more, keywords.get("source"), keywords.get("set"))
        fixed |= {setting.partition("=")[0] for setting in always}
    except InputError:
        # Reported where all keywords are read.
        pass
    if life.get("years") is not None:
        if "lifetime.target" in fixed:
            what = "`years` sets `lifetime.target`, which is also given as a keyword"
            diagnostics.append(Diagnostic("life['years']", None, "", what, hint="remove one of them"))
        fixed.add("lifetime.target")
    for name in space:
        found = name if name in OWN or not isinstance(name, str) else key(name)
        if not isinstance(found, Diagnostic) and found in fixed:
            what = f"`{found}` is varied, but is also given as a keyword"
            diagnostics.append(Diagnostic(_place(name), None, "", what, hint="remove one of them"))
    return diagnostics


def _place(name: object) -> str:
    return f"space[{name!r}]"


def _wrong_list(name: str, values: Any) -> list[Diagnostic]:
    if isinstance(values, Sequence) and not isinstance(values, str) and values:
        return []
    return [Diagnostic(_place(name), None, "", "there are no values", "a list of values, or a range")]


def _wrong_range(name: str, values: Mapping[str, Any]) -> list[Diagnostic]:
    where = _place(name)
    diagnostics = [
        Diagnostic(where, None, "", f"unknown key `{part}` in a range", ", ".join(RANGE))
        for part in values
        if part not in RANGE
    ]
    make = _measured_range(name, values)
    expected = f'two quantities with units, such as "{make.example}"' if make else "two finite numbers"
    what = f"invalid range from {values.get('from')!r} to {values.get('to')!r}"
    try:
        values = _numbers(name, values)
    except InputError:
        return [*diagnostics, Diagnostic(where, None, "", what, expected)]
    low, high, step, scale = (
        values.get("from"),
        values.get("to"),
        values.get("step"),
        values.get("scale", "linear"),
    )
    if not (_is_number(low) and _is_number(high)):
        return [*diagnostics, Diagnostic(where, None, "", what, expected)]
    if scale not in ("linear", "log"):
        diagnostics.append(Diagnostic(where, None, "", f"unknown scale {scale!r}", "linear or log"))
    if not low < high:
        what = f"the range from {low} to {high} is empty"
        diagnostics.append(Diagnostic(where, None, "", what, "`from` below `to`"))
    elif scale == "log" and low <= 0:
        what = f"a logarithmic range cannot begin at {low}"
        diagnostics.append(Diagnostic(where, None, "", what, "`from` above 0"))
    if step is None:
        return diagnostics
    if scale == "log":
        diagnostics.append(Diagnostic(where, None, "", "a logarithmic range cannot have a step"))
    found = key(name)
    whole = name in OWN[1:4] or (isinstance(found, str) and kinds().get(found) == "count")
    if not _is_number(step) or step <= 0 or (whole and not isinstance(step, int)):
        expected = "a whole number, at least 1" if whole else "a number above 0"
        diagnostics.append(Diagnostic(where, None, "", f"invalid step {step!r}", expected))
    return diagnostics


def _wrong_life(life: Mapping[str, Any]) -> list[Diagnostic]:
    diagnostics = []
    for name, given in life.items():
        where = f"life[{name!r}]"
        if name not in LIVES_ONLY:
            near = difflib.get_close_matches(str(name), LIVES_ONLY, n=1)
            hint = (
                f"did you mean `{near[0]}`?"
                if near
                else "pass it as a keyword, which applies to the run and to the life"
            )
            what = f"`{name}` cannot be set for a life alone"
            diagnostics.append(Diagnostic(where, None, "", what, ", ".join(LIVES_ONLY), hint))
        elif name == "years" and given is not None and not (_is_number(given) and 0 < given <= YEARS_MOST):
            expected = f"a number above 0, at most {YEARS_MOST:g}"
            diagnostics.append(Diagnostic(where, None, "", f"invalid value {given!r}", expected))
        elif name in ("dilation", "limit") and given is not None and not (type(given) is int and given >= 1):
            expected = "a whole number, at least 1"
            diagnostics.append(Diagnostic(where, None, "", f"invalid value {given!r}", expected))
    return diagnostics


def _is_number(value: Any) -> TypeGuard[float]:
    """True if a value is a finite number that fits a float."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return False
    return -sys.float_info.max <= value <= sys.float_info.max
