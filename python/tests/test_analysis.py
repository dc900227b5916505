"""Tests Pareto fronts and main effects against simple implementations, and their plots."""

from __future__ import annotations

import itertools
import random
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pytest

import fowler


def brute(rows: list[tuple[Any, ...]], signs: tuple[int, ...]) -> set[int]:
    """Returns the rows that no other row beats, by comparing all with all."""

    def beats(one: tuple[Any, ...], other: tuple[Any, ...]) -> bool:
        pairs = [(sign * a, sign * b) for sign, a, b in zip(signs, one, other, strict=True)]
        return all(a <= b for a, b in pairs) and any(a < b for a, b in pairs)

    known = [at for at, row in enumerate(rows) if None not in row]
    return {at for at in known if not any(beats(rows[it], rows[at]) for it in known)}


@pytest.mark.parametrize("seed", range(20))
def test_a_front_is_what_nothing_beats(seed: int) -> None:
    rng = random.Random(seed)
    draw = lambda: None if rng.random() < 0.05 else rng.randrange(8)  # noqa: E731
    rows = [(draw(), draw(), draw()) for _ in range(60)]
    table = pa.table({name: [row[at] for row in rows] for at, name in enumerate("abc")} | {"row": range(60)})
    best = fowler.pareto(table, minimise=["a", "b"], maximise=["c"])
    assert set(best.column("row")) == brute(rows, (1, 1, -1))
    assert best.column("a") == sorted(best.column("a"))


def test_a_front_of_any_frame() -> None:
    frame = pl.DataFrame(
        {"waf": [1.5, 1.2, 1.4, 2.0], "late": [10, 30, 20, 40], "scheme": ["a", "b", "c", "d"]}
    )
    assert fowler.pareto(frame, minimise=["waf", "late"]).column("scheme") == ["b", "c", "a"]
    assert fowler.pareto(frame, maximise=["late"]).column("scheme") == ["d"]
    for wrong, text in [
        ({"minimise": ["wfa"]}, "did you mean `waf`"),
        ({"minimise": ["scheme"]}, "`scheme` has text"),
        ({}, "neither `minimise` nor `maximise`"),
        ({"maximise": "late"}, r"maximise: got one string\n.*\n.*\['late'\]"),
        ({"minimise": "late"}, "minimise: got one string"),
        ({"minimise": 3}, "minimise: got int"),
        ({"minimise": [["late"]]}, "not the name of a column"),
    ]:
        with pytest.raises(fowler.InputError, match=text):
            fowler.pareto(frame, **wrong)
    for none in [{"a": 1}, [1], None]:
        with pytest.raises(fowler.InputError, match="table: "):
            fowler.pareto(none, minimise=["a"])
        with pytest.raises(fowler.InputError, match="table: "):
            fowler.main_effects(none, "a")


@pytest.mark.parametrize("rows", [[], [(1.0, None), (None, 1.0)], [(float("nan"), 1.0)]])
def test_a_front_of_nothing_is_said(rows: list[tuple[Any, ...]]) -> None:
    table = pa.table(
        {name: pa.array([row[at] for row in rows], pa.float64()) for at, name in enumerate("ab")}
    )
    with pytest.raises(fowler.InputError, match="no row has a number in all of `a`, `b`"):
        fowler.pareto(table, minimise=["a"], maximise=["b"])


def grid() -> pa.Table:
    """Returns a grid whose response is 10 + 5 a, and 2 more where b is `y`; one point failed."""
    rows = list(itertools.product([1, 2, 3], ["x", "y"]))
    late = [10.0 + 5 * a + (2 if b == "y" else 0) for a, b in rows]
    rows.append((3, "y"))
    return pa.table(
        {
            "axis.a": [float(a) for a, _ in rows],
            "axis.b": [b for _, b in rows],
            "axis.same": [1.0] * len(rows),
            "late_us": [*late, None],
        }
    )


def test_main_effects_are_means_over_the_rest() -> None:
    result = fowler.main_effects(grid(), "late_us")
    assert (result.mean, result.count) == (21.0, 6)
    assert [effect.factor for effect in result.effects] == ["a", "b"]
    a, b = result.effects
    assert [(level.low, level.count, level.mean) for level in a.levels] == [
        (1.0, 2, 16.0),
        (2.0, 2, 21.0),
        (3.0, 2, 26.0),
    ]
    assert [(level.label, level.mean) for level in b.levels] == [("x", 20.0), ("y", 22.0)]
    assert (a.effect, b.effect) == (10.0, 2.0)
    # In a grid without interactions the shares of the axes add up to 1.
    assert a.share + b.share == pytest.approx(1.0)
    assert a.share == pytest.approx(100 / 106)
    assert len(result.records()) == 5
    assert "a: 10, 94% of the variance" in repr(result)
    assert result._repr_html_().count("<tr>") == 6
    one = fowler.main_effects(grid(), "late_us", ["axis.same"])
    assert (one.effects[0].effect, one.effects[0].share) == (0.0, 0.0)
    for names, text in [(["c"], "unknown column `c`"), (["axis.bb"], "did you mean `axis.b`")]:
        with pytest.raises(fowler.InputError, match=text):
            fowler.main_effects(grid(), "late_us", names)
    with pytest.raises(fowler.InputError, match="no point has a number"):
        fowler.main_effects(grid().slice(6), "late_us")


def test_many_numbers_are_cut_into_parts() -> None:
    """100 points along one axis, some with equal values; another axis is not set at half of the points."""
    values = [float(min(at, 90)) for at in range(100)]
    table = pa.table({"axis.a": values, "axis.b": [None, 1.0] * 50, "late": [2 * it for it in values]})
    a, b = fowler.main_effects(table, "late", ["a", "b"]).effects
    assert [level.count for level in a.levels] == [25, 25, 25, 25]
    assert (a.levels[0].low, a.levels[0].high, a.levels[0].label) == (0.0, 24.0, "0 to 24")
    assert a.levels[0].mean == 24.0
    assert a.levels[-1].high == 90.0
    assert [level.label for level in b.levels] == ["1", "not set"]
    # Points of one value stay together, even where a cut would part them.
    parted = pa.table({"axis.a": [0.0] * 40 + [float(at) for at in range(1, 11)], "late": list(range(50))})
    (a,) = fowler.main_effects(parted, "late").effects
    assert [level.count for level in a.levels] == [40, 10]


@pytest.mark.parametrize("unset", [None, float("nan")])
def test_points_without_a_value_are_one_level(unset: float | None) -> None:
    """Points without a value form a level, whether the axis is cut into parts or not."""
    many = [*map(float, range(12)), unset, unset]
    few = [*[1.0, 2.0] * 6, unset, unset]
    table = pa.table({"axis.many": many, "axis.few": few, "late": [*range(12), 30, 40]})
    found = fowler.main_effects(table, "late", ["many", "few"])
    levels = {
        it.factor: [(level.label, level.count, level.mean) for level in it.levels] for it in found.effects
    }
    assert levels["many"] == [
        ("0 to 2", 3, 1.0),
        ("3 to 5", 3, 4.0),
        ("6 to 8", 3, 7.0),
        ("9 to 11", 3, 10.0),
        ("not set", 2, 35.0),
    ]
    assert levels["few"] == [("1", 6, 5.0), ("2", 6, 6.0), ("not set", 2, 35.0)]
    # Numbers in text are words, in order of appearance.
    words = pa.table({"axis.a": ["9", "10", None, "9"], "late": [1, 2, 3, 5]})
    (a,) = fowler.main_effects(words, "late").effects
    assert [(level.label, level.mean) for level in a.levels] == [("9", 3.0), ("10", 2.0), ("not set", 3.0)]


def test_responses_without_a_variance_are_said() -> None:
    table = pa.table({"axis.a": [1.0, 2.0, 3.0], "late": [1e308, -1e308, 1.0]})
    with pytest.raises(fowler.InputError, match=r"`late` reaches 1e\+308"):
        fowler.main_effects(table, "late")
    largest = pa.table({"axis.a": [1.0, 2.0], "late": [1e150, -1e150]})
    (a,) = fowler.main_effects(largest, "late").effects
    assert (a.effect, a.share) == (2e150, 1.0)
    assert fowler.pareto(table, minimise=["late"]).column("axis.a") == [2.0]
    with pytest.raises(fowler.InputError, match="factors: got one string"):
        fowler.main_effects(largest, "late", "axis.a")


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> fowler.Sweep:
    return fowler.sweep(
        out=tmp_path_factory.mktemp("swept"),
        device="pes-mlc",
        workload="demo",
        limit=2000,
        set={"geometry.blocks_per_plane": 64, "gc.background_below": 12, "buffer.ack": "on_insert"},
        axes={
            "scheme": ["rps", "pes_ipc"],
            "over_provisioning": [0.15, 0.3, 0.0],
            "buffer_size": {"from": "256KiB", "to": "4MiB", "scale": "log", "steps": 3},
        },
    )


def test_a_sweep_says_it_of_itself(swept: fowler.Sweep) -> None:
    best = swept.pareto("read.p99_us", "write.p99_us")
    assert isinstance(best, fowler.Sweep)
    assert best.folder == swept.folder
    assert {point.number for point in best.points} <= {point.number for point in swept.points}
    rows = [(it.summary.get("read"), it.summary.get("write")) for it in swept.points]
    tails = [(r["p99_us"], w["p99_us"]) if r and w else (None, None) for r, w in rows]
    assert {point.number for point in best.points} == brute(tails, (1, 1))
    effects = swept.main_effects("read.mean_us")
    assert {effect.factor for effect in effects.effects} == set(swept.axes)
    by_scheme = next(effect for effect in effects.effects if effect.factor == "scheme")
    assert [level.label for level in by_scheme.levels] == ["rps", "pes_ipc"]
    assert by_scheme.levels[1].mean < by_scheme.levels[0].mean


def test_pictures_name_what_they_show_and_its_units(swept: fowler.Sweep, tmp_path: Path) -> None:
    front = swept.plot.pareto("read.p99_us", "write.p99_us", by="scheme")
    axes = front.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel()) == ("read p99 (us)", "write p99 (us)")
    assert {"rps", "pes_ipc", "Pareto front"} <= {text.get_text() for text in axes.get_legend().get_texts()}
    effects = swept.plot.main_effects("read.p999_us")
    assert effects.axes[0].get_ylabel() == "mean of read p99.9 (us)"
    assert "buffer size (MiB)" in {it.get_xlabel() for it in effects.axes}
    assert ["0.25", "1", "4"] in [[it.get_text() for it in panel.get_xticklabels()] for panel in effects.axes]
    lines = swept.plot.lines("buffer.size", "write.mean_us", by="scheme")
    assert lines.axes[0].get_xlabel() == "buffer size (MiB)"
    assert [list(it.get_xdata()) for it in lines.axes[0].lines[:1]] == [[0.25, 1.0, 4.0]]
    heat = swept.plot.heatmap("buffer.size", "geometry.over_provisioning", "waf")
    assert heat.axes[-1].get_ylabel() == "write amplification"
    assert [it.get_text() for it in heat.axes[0].get_yticklabels()] == ["0.15", "0.3"]
    for name, figure in {"front": front, "effects": effects, "lines": lines, "heat": heat}.items():
        figure.savefig(tmp_path / f"{name}.svg")
        assert (tmp_path / f"{name}.svg").stat().st_size > 5_000
    with pytest.raises(fowler.InputError, match="unknown column"):
        swept.plot.lines("buffer.sise", "waf")
