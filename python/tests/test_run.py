"""Tests that runs and comparisons give the same bytes as the command."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import fowler

SETS = [
    "geometry.blocks_per_plane=64",
    "gc.background_below=12",
    "precondition.pattern=steady",
]


def without_clock(summary: dict) -> dict:
    return {k: fact for k, fact in summary.items() if k not in ("wall_s", "requests_per_s")}


def command(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "fowler", *arguments], capture_output=True, text=True, check=False
    )


def test_the_example_of_the_documentation() -> None:
    r = fowler.run("pes-mlc", "demo", scheme="pes_ipc", over_provisioning=0.3, limit=2000)
    assert r.complete
    assert r.read.count + r.write.count == 2000
    assert 0 < r.read.p50_us <= r.read.p999_us <= r.read.max_us
    assert r.device.geometry.over_provisioning == 0.3
    assert r.device.policy.suspension.name == "ipc"
    assert r.scheme == "pes_ipc"
    assert "pes_ipc" in repr(r)
    assert "<table>" in r._repr_html_()


def test_python_and_the_command_say_the_same(small: fowler.Device) -> None:
    flags = ["--device", "pes-mlc", *(f for item in SETS for f in ("--set", item))]
    reported = command(
        "run",
        *flags,
        "--workload",
        "demo",
        "--limit",
        "3000",
        "--scheme",
        "rps",
        "--json",
        "--quiet",
    )
    assert reported.returncode == 0, reported.stderr
    r = fowler.run("pes-mlc", "demo", limit=3000, scheme="rps", set=dict(item.split("=") for item in SETS))
    assert without_clock(json.loads(reported.stdout)) == without_clock(r.summary)
    # A drive that is a value is the same drive; only its name in messages may differ.
    again = fowler.run(small, "demo", limit=3000, scheme="rps")
    assert without_clock(again.summary) == without_clock(r.summary)


def test_faults_do_the_same_from_everywhere(tmp_path: Path) -> None:
    faults = ["100ms chip 1", "150ms page 4711 uncorrectable", "200ms power 2s", "900s block 3"]
    load = "requests = 3000\narrivals = { kind = 'poisson', rate = 10_000 }\nmix.reads = 0.5\n"
    (plain := tmp_path / "plain.toml").write_text(load)
    (listed := tmp_path / "listed.toml").write_text(load + f"faults = {json.dumps(faults)}\n")
    flags = [
        "run",
        "--device",
        "pes-mlc",
        "--quiet",
        "--json",
        *(f for each in SETS for f in ("--set", each)),
    ]
    reported = command(*flags, "--workload", str(plain), *(f for each in faults for f in ("--fault", each)))
    assert reported.returncode == 0, reported.stderr
    sets = dict(each.split("=") for each in SETS)
    beside = fowler.run("pes-mlc", plain, faults=faults, set=sets).summary
    assert without_clock(json.loads(reported.stdout)) == without_clock(beside)
    inside = fowler.run("pes-mlc", listed, set=sets).summary
    for name in ("faults", "census", "redundancy", "power_off", "read", "write"):
        assert inside[name] == beside[name]
    assert [each["fault"] for each in inside["faults"]] == [each.split(" ", 1)[1] for each in faults]
    assert inside["faults"][0]["lost"] > 0
    assert inside["faults"][3]["struck_s"] is None
    both = fowler.compare("pes-mlc", plain, schemes=["fifo", "rps"], faults=faults, set=sets)
    assert [each.summary["faults"][0]["unreadable"] > 0 for each in both] == [True, True]


def test_a_comparison(small: fowler.Device) -> None:
    both = fowler.compare(small, "demo", schemes=["fifo", "rps"], limit=3000)
    assert both.schemes == ["fifo", "rps"]
    assert both["rps"] is both[1]
    assert both["rps"].read.mean_us < both["fifo"].read.mean_us
    alone = fowler.run(small, "demo", scheme="rps", limit=3000)
    assert without_clock(alone.summary) == without_clock(both["rps"].summary)
    rows = both.rows()
    assert [row["scheme"] for row in rows] == ["fifo", "rps"]
    assert rows[1]["read_mean_us"] == both["rps"].read.mean_us
    assert list(rows[0])[-3:] == ["waf", "erases", "suspensions"]
    assert both._repr_html_().count("<tr>") == 5
    with pytest.raises(KeyError, match="the schemes are fifo, rps"):
        both["per"]


def test_blame_sums_to_the_latency(small: fowler.Device) -> None:
    r = fowler.run(small, "demo", limit=3000)
    for kind in (r.blame.read, r.blame.write):
        for band in (kind.all, kind.slowest_1pct, kind.slowest_0_1pct):
            assert sum(band.mean_us.values()) == pytest.approx(band.mean_latency_us)
            assert sum(band.shares().values()) == pytest.approx(1.0)
    assert r.blame.read.slowest_1pct.count < r.blame.read.all.count


def test_fields_of_results_are_those_of_the_summary(small: fowler.Device) -> None:
    r = fowler.run(small, "demo", limit=500)
    for kind in ("read", "write"):
        fields = {field.name for field in dataclasses.fields(getattr(r, kind))}
        assert fields == set(r.summary[kind])
        names = [it.name for it in fowler.metrics()]
        assert fields == {name.removeprefix(f"{kind}.") for name in names if name.startswith(f"{kind}.")}


def test_every_value_of_a_summary_is_a_metric(small: fowler.Device) -> None:
    r = fowler.run(small, "demo", limit=500)
    named = {".".join(part for part in it.name.split(".") if not part.isupper()) for it in fowler.metrics()}

    def paths(value: object, path: str) -> list[str]:
        if isinstance(value, dict) and path not in named:
            return [
                inner for key, below in value.items() for inner in paths(below, f"{path}.{key}".lstrip("."))
            ]
        return [path]

    assert set(paths(r.summary, "")) <= named
    assert r.value("counters.erases.gc") == r.summary["counters"]["erases"]["gc"]
    assert r.value("redundancy.stripes") is None
    with pytest.raises(fowler.InputError, match="unknown metric `waff`"):
        r.value("waff")


def test_a_page_and_a_picture(small: fowler.Device, tmp_path: Path) -> None:
    both = fowler.compare(small, "demo", schemes=["fifo", "rps"], limit=2000)
    page = both.report(tmp_path / "report.html")
    assert page.read_text().startswith("<!DOCTYPE html>")
    figure = both.plot("read")
    axes = figure.axes[0]
    assert [line.get_label() for line in axes.lines] == ["fifo", "rps"]
    assert axes.get_xscale() == axes.get_yscale() == "log"
    figure.savefig(tmp_path / "late.svg")
    from fowler.figures import blame

    blame(both["fifo"]).savefig(tmp_path / "blame.svg")
    assert (tmp_path / "blame.svg").stat().st_size > 5_000


def test_progress_is_reported(small: fowler.Device) -> None:
    reported: list[tuple[int, int]] = []
    from fowler import _core
    from fowler.source import source_args

    args = {
        "drive": small._drive([]),
        "devices": [],
        "source": source_args("demo", {}),
        "scheme": None,
        "queue_depth": None,
        "speed": None,
        "idle": None,
        "limit": 20_000,
        "faults": [],
        "requests_file": None,
        "detail": False,
        "policies": [],
    }
    _core.run(args, False, lambda done, everything: reported.append((done, everything)))
    assert reported[-1][0] == 20_000
    assert reported == sorted(reported)


def test_ctrl_c_ends_a_run_at_once(tmp_path: Path) -> None:
    """A signal from another process ends a run with an exception within a tenth of a second.

    The time counts from the sending of the signal. The bound is generous: a machine may be busy.
    """
    endless = tmp_path / "endless.toml"
    endless.write_text("requests = 1_000_000_000\narrivals = { kind = 'closed', depth = 32 }\n")
    program = f"""
import fowler, signal, time
# A shell's job in the background is told to ignore it.
signal.signal(signal.SIGINT, signal.default_int_handler)
print("begun", flush=True)
try:
    fowler.run("pes-mlc", {str(endless)!r})
except KeyboardInterrupt:
    print(time.monotonic(), flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None
        assert running.stdout.readline() == "begun\n"
        time.sleep(1.0)
        sent = time.monotonic()
        running.send_signal(2)
        ended = float(running.stdout.readline())
        assert running.wait(10) == 0
    assert ended - sent < 2.0


def test_other_threads_go_on(small: fowler.Device) -> None:
    """The interpreter's lock is free during a run."""
    counted = 0
    done = threading.Event()

    def count() -> None:
        nonlocal counted
        while not done.is_set():
            counted += 1
            time.sleep(0.001)

    other = threading.Thread(target=count)
    other.start()
    before = counted
    fowler.run(small, "demo", limit=200_000, queue_depth=8)
    during = counted - before
    done.set()
    other.join()
    assert during > 3


def test_two_runs_at_once_are_two_runs(small: fowler.Device) -> None:
    results: dict[int, dict] = {}

    def one(seed: int) -> None:
        results[seed] = without_clock(fowler.run(small, "demo", limit=5000, seed=seed).summary)

    threads = [threading.Thread(target=one, args=(seed,)) for seed in (1, 2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results[1] != results[2]
    for seed in (1, 2):
        alone = fowler.run(small, "demo", limit=5000, seed=seed)
        assert without_clock(alone.summary) == results[seed]


def test_a_comparison_of_drives(small: fowler.Device, tmp_path: Path) -> None:
    slow = small.with_(timing_read="5ms")
    both = fowler.compare(workload="demo", devices=[small, slow], limit=3000, seeds=2)
    names = [small.name, f"{small.name} 2"]
    assert both.devices == names
    assert both.schemes == ["as described"] * 2
    assert both[names[1]] is both[1]
    assert names[1] in both
    assert both[1].name == names[1]
    assert without_clock(both[1].summary) == {
        **without_clock(fowler.run(slow, "demo", limit=3000).summary),
        "candidate": names[1],
        "device": both[1].summary["device"],
    }
    best = next(finding for finding in both.verdict if finding.rule == "best")
    assert best.text.startswith(f"{names[0]} has the lowest mean read latency")
    assert (best.schemes, set(best.devices)) == ((), set(names))
    assert both.seeds is not None
    assert list(both.seeds.mean("read.mean_us")) == names
    assert [row["drive"] for row in both.rows()] == names
    assert next(iter(both.summary)) == "devices"
    assert "<th>drive</th>" in both._repr_html_()
    again = fowler.load(both.save(tmp_path / "both.fowler"))
    assert again.devices == names
    assert again.summary == both.summary
    page = again.report(tmp_path / "page.html").read_text()
    assert "Differences between the drives" in page


def test_several_schemes_on_several_drives() -> None:
    """A scheme that does not work on a drive is left out there, with a warning."""
    small = {"geometry.blocks_per_plane": 64, "geometry.pages_per_block": 24}
    drives = ["da-raid5", "nvme-7450"]
    with pytest.warns(UserWarning, match="ppc is left out on nvme-7450: the stripes"):
        found = fowler.compare(workload="demo", devices=drives, schemes=["rps", "ppc"], set=small, limit=100)
    assert found.devices == ["da-raid5 rps", "da-raid5 ppc", "nvme-7450 rps"]
    assert found.schemes == ["rps", "ppc", "rps"]


def test_what_cannot_be_a_comparison_of_drives() -> None:
    for arguments, says in (
        ({"devices": ["tlc"]}, "`tlc` names only one drive"),
        ({"devices": ["tlc", "tlc"]}, "is listed twice"),
        ({"devices": "tlc"}, "is no list"),
        ({"devices": []}, "no drives are given"),
        ({"devices": ["tlc", "pm9a3"]}, 'did you mean "nvme-pm9a3"?'),
        ({"devices": ["tlc", "rhio"], "schemes": ["fifo", "nosuch"]}, "unknown scheme `nosuch`"),
        ({"device": "rhio", "devices": ["tlc", "rhio"]}, "exclude each other"),
        ({}, "devices=[...]"),
    ):
        with pytest.raises(fowler.InputError) as error:
            fowler.compare(workload="demo", limit=10, **arguments)  # type: ignore[arg-type]
        assert says in str(error.value), arguments
