"""Tests that all problems of an input are reported together, each with what is needed to fix it."""

from __future__ import annotations

import pickle
from datetime import timedelta
from pathlib import Path

import pytest

import fowler


def diagnostics(call, *args, **keywords) -> tuple[fowler.Diagnostic, ...]:
    with pytest.raises(fowler.InputError) as caught:
        call(*args, **keywords)
    assert str(caught.value)
    assert all(diagnostic.what for diagnostic in caught.value.diagnostics)
    return caught.value.diagnostics


def test_everything_at_once() -> None:
    problems = diagnostics(fowler.run, "pes-mlc", "dmeo", scheme="pes_icp", buffer_size="64")
    reported = " ".join(str(diagnostic) for diagnostic in problems)
    for what in ("dmeo", "pes_icp", "64", "did you mean"):
        assert what in reported
    assert len(problems) >= 3


@pytest.mark.parametrize(
    ("keywords", "text"),
    [
        ({"bufer_size": "1MiB"}, "did you mean `buffer_size`?"),
        ({"cycles": 5}, "is ambiguous"),
        ({"timing_read": "x"}, "time"),
        ({"timing_read": 30}, "`30` has no unit"),
        ({"read_us": 30}, 'the unit is part of the value: `read="25us"`'),
        ({"buffer_size_mib": 64}, 'the unit is part of the value: `buffer_size="64MiB"`'),
        ({"rebuild_rate_mb_s": 64}, 'the unit is part of the value: `rebuild_rate="500MB/s"`'),
        ({"buffer_size": timedelta(microseconds=30)}, "a size with its unit"),
        ({"over_provisioning": -1}, "0"),
        ({"limit": 0}, "invalid value 0"),
        ({"speed": -1.0}, "speed"),
        ({"remap": "compact"}, "applies to traces only"),
        ({"trace": "no-such-file.csv"}, "exclude each other"),
        ({"requests_file": "requests.txt"}, ".parquet"),
    ],
)
def test_arguments_that_do_not_do(keywords: dict, text: str) -> None:
    problems = diagnostics(fowler.run, "pes-mlc", "demo", **{"limit": 10, **keywords})
    assert any(text in str(diagnostic) for diagnostic in problems), problems


def test_bad_lines_of_a_trace_have_numbers(tmp_path: Path) -> None:
    trace = tmp_path / "bad.csv"
    trace.write_text("at_ns,op,offset,size\n0,read,0,4096\n5,raed,0,4096\n6,write,x,4096\n")
    problems = diagnostics(fowler.run, "pes-mlc", trace=trace)
    assert [diagnostic.line for diagnostic in problems] == [3, 4]
    assert all(diagnostic.file == str(trace) for diagnostic in problems)
    assert "raed" in problems[0].text


def test_an_error_travels() -> None:
    with pytest.raises(fowler.InputError) as caught:
        fowler.device("pes-mlx")
    again = pickle.loads(pickle.dumps(caught.value))
    assert again.diagnostics == caught.value.diagnostics
    assert str(again) == str(caught.value)
    assert isinstance(again, ValueError)


def test_a_device_that_is_put_together_is_checked() -> None:
    import dataclasses

    problems = fowler.device("pes-mlc")
    bad = dataclasses.replace(problems, geometry=dataclasses.replace(problems.geometry, channels=0))
    assert "channels" in str(diagnostics(bad.check)[0])
    assert "channels" in str(diagnostics(fowler.run, bad, "demo", limit=10)[0])


def test_what_is_wrong_in_several_places_is_reported_at_once(tmp_path):
    with pytest.raises(fowler.InputError) as caught:
        fowler.run(
            "pes-mlc",
            "demo",
            trace=tmp_path / "t.csv",
            buffer_size="64",
            sheme="rps",
            scheme="zzz",
            limit=-1,
            seed="x",
            set={"timing.reed": "3us"},
        )
    reported = str(caught.value)
    for part in [
        "`trace` and `workload` exclude each other",
        "`sheme` is neither an argument nor a configuration key\n    hint: did you mean `scheme`?",
        "invalid value -1",
        "invalid value 'x'",
        "unknown scheme `zzz`",
        "unknown key `timing.reed`",
        "`64` has no unit",
    ]:
        assert part in reported, (part, reported)


def test_a_trace_in_the_place_of_a_generator_is_redirected_to_where_it_belongs(tmp_path):
    trace = tmp_path / "trace.csv"
    trace.write_text("at_ns,op,offset,size\n" + "0,read,0,4096\n" * 1_000)
    with pytest.raises(fowler.InputError) as caught:
        fowler.run("pes-mlc", trace)
    assert len(caught.value.diagnostics) == 1
    assert caught.value.diagnostics[0].hint == "pass a trace as `trace`"


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: fowler.compare("pes-mlc", "demo", schemes="fifo"), "`fifo` is one scheme"),
        (lambda: fowler.run("pes-mlc", "demo", set=["a=b"]), "is not a dictionary"),
        (lambda: fowler.run("pes-mlc", "demo", faults="1s chip 0"), "`1s chip 0` is one fault"),
        (lambda: fowler.run("pes-mlc", "demo", faults=[3]), "`3` is no text"),
        (lambda: fowler.run("pes-mlc", "demo", faults=["1s chip 99", "chip"]), "faults: `1s chip 99`: the"),
        (lambda: fowler.run("pes-mlc", "demo", faults=["1s chip 99", "chip"]), "faults: `chip` has no valid"),
        (
            lambda: fowler.lifetime("ready-32", "ready-proxy", queue_depth=3),
            "does not apply to a life",
        ),
        (lambda: fowler.lifetime("ready-32", "ready-proxy", years="x", dilation=0), "invalid value 'x'"),
        (lambda: fowler.presets("drives"), "unknown kind of preset `drives`"),
        (lambda: fowler.run("pes-mlc", "demo", limit=10).distribution("reads"), "unknown kind `reads`"),
    ],
)
def test_what_is_no_argument_is_an_input_error(call, text):
    with pytest.raises(fowler.InputError) as caught:
        call()
    assert text in str(caught.value)


def test_hints_can_be_copied():
    with pytest.raises(fowler.InputError) as caught:
        fowler.run("pes-mlc", "demo", scheme="hire", limit=10)
    assert 'add set={"reliability.model": "analytic"}, or use' in str(caught.value)


def test_hints_speak_of_arguments(tmp_path):
    trace = tmp_path / "far.csv"
    trace.write_text("at_ns,op,offset,size\n0,read,99999999999999,4096\n")
    with pytest.raises(fowler.InputError) as caught:
        fowler.run("pes-mlc", trace=trace)
    reported = str(caught.value)
    assert 'remap="modulo"' in reported
    assert "--" not in reported


def test_no_part_of_a_message_commands_a_terminal() -> None:
    quoted = "\x1b[2J\x9b"
    with pytest.raises(fowler.InputError) as caught:
        fowler.run("pes-mlc", "demo", scheme=quoted)
    own = fowler.Diagnostic(file=quoted, line=1, text="", what=quoted, expected=quoted, hint=quoted)
    for said in [str(caught.value), str(own)]:
        assert "\\u{1b}[2J\\u{9b}" in said
        assert all(c == "\n" or c.isprintable() for c in said)
