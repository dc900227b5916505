"""Tests the Optuna objective: conditions, impossible drives, and reproducible studies."""

from __future__ import annotations

import dataclasses
import math
import subprocess
import sys
from datetime import timedelta
from pathlib import Path
from typing import Any

import optuna
import pytest

import fowler
import fowler.optimise as fo

EXAMPLE = Path(__file__).parents[2] / "examples" / "cheapest_drive.py"
SMALL: dict[str, Any] = {
    "device": "pes-mlc",
    "workload": "demo",
    "limit": 1000,
    "set": {"geometry.blocks_per_plane": 64, "gc.background_below": 12, "buffer.ack": "on_insert"},
}
# A workload of few requests per second, as a whole life needs.
SPARSE = {**SMALL, "workload": "financial1-excerpt", "limit": 5000}
WRONG = dataclasses.replace(
    fowler.device("pes-mlc"),
    buffer=dataclasses.replace(fowler.device("pes-mlc").buffer, read_hot="nope"),  # type: ignore[arg-type]
)
SPACE: dict[str, Any] = {
    "over_provisioning": {"from": 0.0, "to": 0.4, "step": 0.1},
    "buffer_size": {"from": "128KiB", "to": "4MiB", "scale": "log"},
    "scheme": ["rps", "pes_ipc"],
}


class Oldest:
    def pick(self, view: fowler.policies.View) -> fowler.policies.Waiting | None:
        return view.oldest()


def cost(candidate: fo.Candidate) -> float:
    return candidate.values["over_provisioning"] + candidate.values["buffer_size"].mib / 8


def study(objective: fo.Objective, trials: int) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    search = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=4, n_startup_trials=6))
    search.optimize(objective, n_trials=trials)
    return search


@pytest.fixture(scope="module")
def objective() -> fo.Objective:
    late = fo.at_most(lambda candidate: candidate.run.write.p99_us, 2000.0)
    return fo.Objective(**SMALL, space=SPACE, minimise=cost, constraints={"late": late})


@pytest.fixture(scope="module")
def done(objective: fo.Objective) -> optuna.Study:
    return study(objective, 14)


def test_the_best_meets_its_conditions(objective: fo.Objective, done: optuna.Study) -> None:
    best = done.best_trial
    candidate = objective.candidate(best.params)
    assert best.value == cost(candidate)
    late = candidate.run.write.p99_us
    assert late is not None
    assert late <= 2000.0
    assert best.constraints == {"late": pytest.approx((late - 2000.0) / 2000.0)}
    met = [it for it in done.trials if it.value is not None and it.constraints["late"] <= 0]
    assert best.value == min(it.value for it in met if it.value is not None)
    missed = [it for it in done.trials if it.value is not None and it.constraints["late"] > 0]
    assert missed, "the condition parts nothing"
    assert candidate.device.geometry.over_provisioning == best.params["over_provisioning"]
    assert candidate.run.scheme == best.params["scheme"]
    assert candidate.device.buffer.size.endswith("iB")


def test_drives_that_cannot_be_are_pruned_with_their_errors(done: optuna.Study) -> None:
    pruned = [it for it in done.trials if it.state == optuna.trial.TrialState.PRUNED]
    assert pruned, "none was drawn"
    for trial in pruned:
        assert trial.params["over_provisioning"] == 0.0
        assert "over_provisioning" in trial.user_attrs["error"] or "blocks" in trial.user_attrs["error"]


def test_a_study_repeats(objective: fo.Objective, done: optuna.Study) -> None:
    again = study(objective, 14)
    assert [(it.params, it.value, it.constraints) for it in again.trials] == [
        (it.params, it.value, it.constraints) for it in done.trials
    ]


def test_a_life_is_lived_only_where_a_condition_asks_for_it() -> None:
    lived = fo.Objective(
        **SPARSE,
        speed=2.0,
        space={"over_provisioning": [0.3, 0.4]},
        minimise=lambda candidate: candidate.values["over_provisioning"],
        constraints={"life": fo.at_least(lambda candidate: candidate.life.years, 0.1)},
        life={"dilation": 20_000, "years": 5},
    )
    candidate = lived.candidate({"over_provisioning": 0.3})
    assert candidate.life.years is not None
    assert candidate.life.change is None, "it is lived once"
    alone = fowler.lifetime(**SPARSE, over_provisioning=0.3, dilation=20_000, years=5, check=False)
    assert alone.years == candidate.life.years
    assert "run" not in vars(candidate)
    assert study(lived, 2).trials[0].constraints.keys() == {"life"}


def test_several_objectives() -> None:
    both = fo.Objective(
        **SMALL,
        space={"buffer_size": ["256KiB", "1MiB"]},
        minimise=lambda candidate: (cost_of(candidate), candidate.run.read.mean_us),
    )
    candidate = optuna.create_study(
        directions=["minimize", "minimize"], sampler=optuna.samplers.RandomSampler(1)
    )
    candidate.optimize(both, n_trials=2)
    assert all(len(trial.values) == 2 for trial in candidate.best_trials)


def test_a_range_of_quantities_counts_in_the_unit_of_its_start() -> None:
    space = {
        "buffer_size": {"from": "512KiB", "to": "4MiB", "step": "512KiB"},
        "timing_read": {"from": timedelta(microseconds=20), "to": "40us"},
        "rebuild_rate": {"from": "1.5MB/s", "to": "1GB/s", "scale": "log"},
        "idle_after": [timedelta(milliseconds=1), "2ms"],
    }
    objective = fo.Objective(
        **SMALL, space=space, minimise=lambda candidate: candidate.values["buffer_size"].kib
    )
    drawn = {"buffer_size": 1024, "timing_read": 30_000, "rebuild_rate": 2.5, "idle_after": "1000000ns"}
    assert objective(optuna.trial.FixedTrial(drawn)) == 1024.0
    candidate = objective.candidate(drawn)
    assert candidate.values == {
        **drawn,
        "buffer_size": "1024KiB",
        "timing_read": "30000ns",
        "rebuild_rate": "2.5MB/s",
    }
    assert candidate.device.buffer.size.mib == 1


def cost_of(candidate: fo.Candidate) -> float:
    return candidate.device.buffer.size.kib


@pytest.mark.parametrize(
    ("change", "where", "text"),
    [
        ({"space": {"bufer_size": [1]}}, "space['bufer_size']", "did you mean `buffer_size`"),
        (
            {"space": {"buffer_size": {"from": 1, "to": 2}}},
            "space['buffer_size']",
            'two quantities with units, such as "64MiB"',
        ),
        ({"space": {"over_provisioning": {"from": 0.4, "to": 0.2}}}, "space['over_provisioning']", "empty"),
        ({"space": {"scheme": []}}, "space['scheme']", "no values"),
        (
            {"space": {"over_provisioning": {"from": 0.1, "to": 0.2, "stps": 3}}},
            "space['over_provisioning']",
            "stps",
        ),
        ({"workload": "dmeo"}, "workload", "dmeo"),
        ({"workload": None, "trace": "no-such.csv"}, "trace", "no-such.csv"),
        ({"workload": iter([])}, "workload", "read only once"),
        ({"workload": None}, "objective", "neither `workload` nor `trace`"),
        ({"device": WRONG}, "pes-mlc", "`nope` is unknown"),
        ({"space": {"buffer_size": ["256KiB"]}, "scheme": "rsp"}, "scheme", "unknown scheme `rsp`"),
        ({"space": {"scheme": ["rps", "rsp"]}}, "space['scheme']", "unknown scheme `rsp`"),
        ({"space": {"scheme": [Oldest(), ["rsp", Oldest()]]}}, "space['scheme']", "unknown scheme `rsp`"),
        ({"space": {"scheme": [Oldest]}}, "space['scheme']", "pass an object: Oldest()"),
        ({"space": {"buffer_ack": ["nope"]}, "set": None}, "space['buffer_ack']", "on_insert"),
        ({"space": {"buffer_size": [1024]}}, "space['buffer_size']", "has no unit"),
        (
            {"space": {"gc_background_below": [1.5]}, "set": None},
            "space['gc_background_below']",
            "whole number",
        ),
        (
            {"space": {"queue_depth": {"from": 1, "to": 8, "step": 0.5}}},
            "space['queue_depth']",
            "whole number",
        ),
        ({"space": {"seed": []}}, "space['seed']", "no values"),
        ({"space": {"device": ["tlc"]}}, "space['device']", "`device` cannot be varied"),
        ({"space": {3: [1]}}, "space[3]", "3 is not the name of an axis"),
        ({"space": {}}, "space", "nothing to vary"),
        (
            {"space": {"over_provisioning": {"from": 0.1, "to": math.inf}}},
            "space['over_provisioning']",
            "inf",
        ),
        (
            {"space": {"over_provisioning": {"from": 0, "to": 10**400}}},
            "space['over_provisioning']",
            "two finite numbers",
        ),
        (
            {"space": {"over_provisioning": {"from": 0.1, "to": 11}}},
            "space['over_provisioning']",
            "outside 0 to 10",
        ),
        *(
            (
                {"space": {"over_provisioning": {"from": 0.1, "to": 0.4, "step": it}}},
                "space['over_provisioning']",
                "step",
            )
            for it in (0, -1, "a", math.nan)
        ),
        (
            {"space": {"over_provisioning": [0.2], "geometry.over_provisioning": [0.3]}},
            "space['geometry.over_provisioning']",
            "are the same axis",
        ),
        ({"over_provisioning": 0.2}, "space['over_provisioning']", "also given as a keyword"),
        ({"set": {"geometry.over_provisioning": 0.2}}, "space['over_provisioning']", "given as a keyword"),
        ({"scheme": "rps"}, "space['scheme']", "also given as a keyword"),
        ({"space": {"speed": [1.0], "idle": [0.5]}}, "space['idle']", "exclude each other"),
        ({"space": {"buffer_size": ["256KiB"]}, "over_provisionin": 0.2}, "over_provisionin", "did you mean"),
        ({"title": "of a sweep"}, "title", "neither an argument"),
        ({"limit": 0}, "limit", "outside 1"),
        ({"life": {"yearz": 2}}, "life['yearz']", "did you mean `years`"),
        ({"life": {"over_provisioning": 0.2}}, "life['over_provisioning']", "for a life alone"),
        ({"life": {"years": 0}}, "life['years']", "above 0"),
        ({"life": {"dilation": 0}}, "life['dilation']", "at least 1"),
        ({"life": {"years": 1}, "set": {"lifetime.target": "9000s"}}, "life['years']", "`lifetime.target`"),
        ({"minimise": 3}, "minimise", "is not callable"),
        ({"constraints": {"late": 3}}, "constraints['late']", "is not callable"),
    ],
)
def test_what_no_trial_could_do_is_said_at_once(change: dict[str, Any], where: str, text: str) -> None:
    with pytest.raises(fowler.InputError) as caught:
        fo.Objective(**{**SMALL, "space": SPACE, "minimise": cost, **change})
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.file == where
    assert text in str(diagnostic)


def test_everything_that_is_wrong_comes_at_once() -> None:
    with pytest.raises(fowler.InputError) as caught:
        fo.Objective(
            **{**SMALL, "limit": 0},
            space={"read_hot": ["nope"], "over_provisioning": {"from": 0.1, "to": 0.2, "step": 0}},
            minimise=cost,
            life={"yearz": 1},
        )
    where = {it.file for it in caught.value.diagnostics}
    assert where == {"limit", "space['over_provisioning']", "space['read_hot']", "life['yearz']"}


def test_what_only_some_drives_cannot_be_is_no_fault_of_the_space() -> None:
    """A base that is valid only with the space, values that make no drive, and policies are accepted."""
    bare = {**SMALL, "set": {"geometry.blocks_per_plane": 64, "buffer.ack": "on_insert"}}
    with pytest.raises(fowler.InputError):
        fowler.run(**bare, over_provisioning=0.0)
    objective = fo.Objective(
        **bare,
        over_provisioning=0.0,
        space={"gc.background_below": [12], "scheme": [["rps", Oldest()], Oldest()]},
        minimise=cost,
    )
    candidate = objective.candidate({"gc.background_below": 12, "over_provisioning": 0.3, "scheme": Oldest()})
    assert candidate.run.scheme == "Oldest"


def test_pace_is_that_of_the_run_and_lives_go_as_recorded() -> None:
    """`queue_depth` and `idle` are also last parts of keys, which a space must give by their paths."""
    objective = fo.Objective(
        **{**SPARSE, "limit": None},
        space={
            "queue_depth": [1, 64],
            "queue.depth": [8],
            "limit": {"from": 100, "to": 400, "step": 100},
            "seed": [2],
        },
        minimise=lambda candidate: candidate.run.read.mean_us,
        life={"dilation": 20_000, "years": 1, "limit": 5000},
    )
    candidate = objective.candidate({"queue_depth": 64, "queue.depth": 8, "limit": 200, "seed": 2})
    assert candidate.run.read == ran(queue_depth=64).read != ran(queue_depth=1).read
    assert candidate.run.device.queue.depth == 8
    alone = fowler.lifetime(**SPARSE, seed=2, dilation=20_000, years=1, check=False, **{"queue.depth": 8})
    assert candidate.life.summary == alone.summary


def ran(queue_depth: int) -> fowler.Run:
    return fowler.run(**{**SPARSE, "limit": 200}, seed=2, queue_depth=queue_depth, **{"queue.depth": 8})


def test_a_condition_without_a_value_is_no_drives_fault() -> None:
    few = fo.Objective(
        **{**SMALL, "limit": 100},
        space={"over_provisioning": [0.3]},
        minimise=cost_of,
        constraints={"late": fo.at_most(lambda candidate: candidate.run.read.p9999_us, 1.0)},
    )
    with pytest.raises(ValueError, match="has no value"):
        study(few, 1)


def test_the_example(tmp_path: Path) -> None:
    asked = ["--limit", "2000", "--trials", "6", "--years", "0.5", "--dilation", "5000"]
    reported = subprocess.run(
        [sys.executable, str(EXAMPLE), *asked], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "6 trials" in reported.stdout
    assert "over-provisioning" in reported.stdout
