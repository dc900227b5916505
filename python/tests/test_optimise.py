"""The objective for Optuna: conditions, drives that cannot be, and studies that repeat."""

from __future__ import annotations

import subprocess
import sys
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
# Few requests in much time, as a whole life needs it.
SPARSE = {**SMALL, "workload": "financial1-excerpt", "limit": 5000}
SPACE: dict[str, Any] = {
    "over_provisioning": {"from": 0.0, "to": 0.4, "step": 0.1},
    "buffer_size_kib": {"from": 128, "to": 4096, "scale": "log"},
    "scheme": ["rps", "pes_ipc"],
}


def cost(its: fo.Candidate) -> float:
    return its.values["over_provisioning"] + its.values["buffer_size_kib"] / 8192


def study(objective: fo.Objective, trials: int) -> optuna.Study:
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    its = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=4, n_startup_trials=6))
    its.optimize(objective, n_trials=trials)
    return its


@pytest.fixture(scope="module")
def objective() -> fo.Objective:
    late = fo.at_most(lambda its: its.run.write.p99_us, 2000.0)
    return fo.Objective(**SMALL, space=SPACE, minimise=cost, constraints={"late": late})


@pytest.fixture(scope="module")
def done(objective: fo.Objective) -> optuna.Study:
    return study(objective, 14)


def test_the_best_meets_its_conditions(objective: fo.Objective, done: optuna.Study) -> None:
    best = done.best_trial
    its = objective.candidate(best.params)
    assert best.value == cost(its)
    late = its.run.write.p99_us
    assert late is not None
    assert late <= 2000.0
    assert best.constraints == {"late": pytest.approx((late - 2000.0) / 2000.0)}
    met = [it for it in done.trials if it.value is not None and it.constraints["late"] <= 0]
    assert best.value == min(it.value for it in met if it.value is not None)
    missed = [it for it in done.trials if it.value is not None and it.constraints["late"] > 0]
    assert missed, "the condition parts nothing"
    assert its.device.geometry.over_provisioning == best.params["over_provisioning"]
    assert its.run.scheme == best.params["scheme"]
    assert its.device.buffer.size.endswith("iB")


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
        minimise=lambda its: its.values["over_provisioning"],
        constraints={"life": fo.at_least(lambda its: its.life.years, 0.1)},
        life={"dilation": 20_000, "years": 5},
    )
    its = lived.candidate({"over_provisioning": 0.3})
    assert its.life.years is not None
    assert its.life.change is None, "it is lived once"
    alone = fowler.lifetime(**SPARSE, over_provisioning=0.3, dilation=20_000, years=5, check=False)
    assert alone.years == its.life.years
    assert "run" not in vars(its)
    assert study(lived, 2).trials[0].constraints.keys() == {"life"}


def test_several_objectives() -> None:
    both = fo.Objective(
        **SMALL,
        space={"buffer_size_kib": [256, 1024]},
        minimise=lambda its: (cost_of(its), its.run.read.mean_us),
    )
    its = optuna.create_study(directions=["minimize", "minimize"], sampler=optuna.samplers.RandomSampler(1))
    its.optimize(both, n_trials=2)
    assert all(len(trial.values) == 2 for trial in its.best_trials)


def cost_of(its: fo.Candidate) -> float:
    return float(its.values["buffer_size_kib"])


@pytest.mark.parametrize(
    ("change", "where", "text"),
    [
        ({"space": {"bufer_size": [1]}}, "space['bufer_size']", "did you mean `buffer_size`"),
        (
            {"space": {"buffer_size": {"from": "1MiB", "to": "2MiB"}}},
            "space['buffer_size']",
            "buffer_size_mib",
        ),
        ({"space": {"over_provisioning": {"from": 0.4, "to": 0.2}}}, "space['over_provisioning']", "empty"),
        ({"space": {"scheme": []}}, "space['scheme']", "nothing to choose"),
        (
            {"space": {"over_provisioning": {"from": 0.1, "to": 0.2, "stps": 3}}},
            "space['over_provisioning']",
            "stps",
        ),
        ({"workload": "dmeo"}, "", "dmeo"),
        ({"workload": None, "trace": "no-such.csv"}, "trace", "no-such.csv"),
    ],
)
def test_what_no_trial_could_do_is_said_at_once(change: dict[str, Any], where: str, text: str) -> None:
    with pytest.raises(fowler.InputError) as caught:
        fo.Objective(**{**SMALL, "space": SPACE, "minimise": cost, **change})
    assert any(it.file == where or not where for it in caught.value.problems)
    assert text in str(caught.value)


def test_a_condition_without_a_value_is_no_drives_fault() -> None:
    few = fo.Objective(
        **{**SMALL, "limit": 100},
        space={"over_provisioning": [0.3]},
        minimise=cost_of,
        constraints={"late": fo.at_most(lambda its: its.run.read.p9999_us, 1.0)},
    )
    with pytest.raises(ValueError, match="has no value"):
        study(few, 1)


def test_the_example(tmp_path: Path) -> None:
    asked = ["--limit", "2000", "--trials", "6", "--years", "0.5", "--dilation", "5000"]
    told = subprocess.run(
        [sys.executable, str(EXAMPLE), *asked], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert "6 trials" in told.stdout
    assert "over-provisioning" in told.stdout
