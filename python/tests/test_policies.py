"""Tests that policies in Python decide as the same policies in Rust, and that their errors are reported."""

import copy
import pickle
import random
import subprocess
import sys
import traceback
from dataclasses import dataclass

import polars
import pytest
from policy_ports import (
    AtPhaseEnd,
    BufferHits,
    Cancel,
    FirstFilled,
    FixedRate,
    Greedy,
    OneStream,
    ReadFirst,
    StreamPerHandle,
    StreamPerKind,
    YoungestFirst,
)

import fowler

SMALL = {"geometry.blocks_per_plane": 64, "gc.background_below": 12}
HOT = ["request_size"]


def measured(run):
    """Returns the summary without names, hashes and the machine's clock."""
    reported = dict(run.summary)
    for name in ["scheme", "config_hash", "config", "wall_s", "requests_per_s", "provenance"]:
        reported.pop(name, None)
    return reported


@pytest.mark.parametrize(
    ("device", "ours", "theirs"),
    [
        ("pes-mlc", "rps", ["fifo", ReadFirst()]),
        ("pes-mlc", "pes_ipc", ["rps", Cancel()]),
        ("pes-mlc", "pes_ips", [ReadFirst(), AtPhaseEnd()]),
        ("rhio", "rhio", ["rhio", YoungestFirst()]),
        ("hire", "hire", ["hire", BufferHits()]),
    ],
    ids=lambda it: it if isinstance(it, str) else "",
)
def test_the_same_policy_in_both_languages_does_the_same(device, ours, theirs):
    keys = SMALL if device == "pes-mlc" else {}
    one, other = (
        fowler.run(device, "demo", scheme=scheme, limit=3_000, requests=True, set=keys)
        for scheme in (ours, theirs)
    )
    assert measured(one) == measured(other)
    assert requests(one) == requests(other)


FULL = {**SMALL, "precondition.pattern": "steady"}


@pytest.mark.parametrize(
    ("device", "scheme", "policy", "keys"),
    [
        ("pes-mlc", "rps", Greedy(), FULL),
        ("pes-mlc", "rps", FirstFilled(), {**FULL, "policy.victim": "fifo"}),
        ("pes-mlc", "rps", OneStream(), FULL),
        ("pes-mlc", "rps", StreamPerKind(), {**FULL, "policy.placement": "streams", "policy.hotness": HOT}),
        ("hire", "hire", StreamPerKind(), {}),
        ("rhio", "rhio", StreamPerKind(hot_to_strong=True), {}),
    ],
)
def test_victims_and_placements_do_the_same_in_both_languages(device, scheme, policy, keys):
    one, other = (
        fowler.run(device, "demo", scheme=used, limit=6_000, requests=True, set=keys)
        for used in (scheme, [scheme, policy])
    )
    assert measured(one) == measured(other)
    assert requests(one) == requests(other)


# A small drive with superblocks.
SUPERBLOCKS = {"geometry.blocks_per_plane": 64, "geometry.pages_per_block": 24}
NEVER = {"policy.suspension.min_progress": "0ns", "policy.suspension.delay": "0ns", **SUPERBLOCKS}
LIVING = {"lifetime.cycles": 3, "lifetime.target": "1000s", **SUPERBLOCKS}
BY_USE = {
    "buffer.eviction": "lazy",
    "policy.placement": "streams",
    "reliability.model": "analytic",
    "gc.foreground_below": 8,
    **SUPERBLOCKS,
    "geometry.blocks_per_plane": 128,
}


@pytest.mark.parametrize(
    ("ours", "theirs", "keys"),
    [
        ("rps", ["fifo", ReadFirst()], NEVER),
        ("pes_ipc", ["rps", Cancel()], NEVER),
        ("pes_ips", [ReadFirst(), AtPhaseEnd()], NEVER),
        ("rps", ["rps", Greedy()], SUPERBLOCKS),
        ("rps", ["rps", FirstFilled()], {**SUPERBLOCKS, "policy.victim": "fifo"}),
        ("rps", ["rps", OneStream()], SUPERBLOCKS),
        ("hire", ["hire", BufferHits()], BY_USE),
        ("hire", ["hire", StreamPerKind()], BY_USE),
    ],
)
def test_superblocks_ask_a_policy_in_either_language(ours, theirs, keys):
    one, other = (
        fowler.run("nvme-pm9a3", "demo", scheme=scheme, limit=5_000, requests=True, set=keys)
        for scheme in (ours, theirs)
    )
    assert measured(one) == measured(other)
    assert requests(one) == requests(other)


def test_a_throttle_in_python_delays_writes_of_superblocks():
    run = fowler.run("nvme-pm9a3", "demo", scheme=["st", FixedRate()], limit=2_000, set=LIVING)
    ours = fowler.run("nvme-pm9a3", "demo", scheme="st", limit=2_000, set=LIVING)
    assert run.write.mean_us == pytest.approx(ours.write.mean_us, rel=1e-6)


def test_a_victim_of_superblocks_that_gains_nothing_ends():
    with pytest.raises(fowler.PolicyError, match=r"Fruitless.collect .* nor had any of the 1024 before it"):
        fowler.run("nvme-pm9a3", "demo", scheme=["rps", Fruitless()], limit=100, set=SUPERBLOCKS)


class Sized:
    """Greedy, and notes the sizes that it was shown."""

    def __init__(self):
        self.sizes = set()

    def collect(self, plane):
        self.sizes.add((plane.capacity, plane.pages_per_block))
        return plane.fewest_valid()


def test_the_capacity_of_a_superblock_has_two_names():
    run = fowler.run("nvme-pm9a3", "demo", scheme=["rps", Sized()], limit=100, set=SUPERBLOCKS)
    # 24 pages of 32 planes of 4 units, less the parity of one command in 32.
    assert run.policies["Sized"].sizes == {(24 * 32 * 4 * 31 // 32, 24 * 32 * 4 * 31 // 32)}


@pytest.mark.parametrize("device", ["pes-mlc", "nvme-pm9a3"])
def test_a_placement_is_told_the_handles_of_the_drive(device, tmp_path):
    rows = ["at_ns,op,offset,size,placement"]
    for number in range(4_000):
        rows.append(f"{number * 50_000},write,{number * 7919 % 4096 * 16384},16384,{number % 3}")
    trace = tmp_path / "placed.csv"
    trace.write_text("\n".join(rows) + "\n")
    keys = {"policy.placement": "handles", "policy.placement.handles": 3}
    superblocks = {"geometry.blocks_per_plane": 64, "geometry.pages_per_block": 24}
    keys |= SMALL if device == "pes-mlc" else superblocks
    ours, theirs = (
        fowler.run(device, trace=trace, scheme=scheme, requests=True, set=keys)
        for scheme in ("rps", ["rps", StreamPerHandle()])
    )
    assert measured(ours) == measured(theirs)
    assert requests(ours) == requests(theirs)


def test_a_placement_without_handles_is_told_the_first():
    """Any other stream than the first would be refused."""
    scheme = ["rps", StreamPerHandle()]
    assert fowler.run("pes-mlc", "demo", scheme=scheme, limit=100, set=SMALL).complete


def test_a_victim_in_python_decides_in_preconditioning_too():
    """Under another victim in the configuration, only the state before the run could differ."""
    ours = fowler.run("pes-mlc", "demo", scheme="rps", limit=6_000, set={**FULL, "policy.victim": "fifo"})
    theirs, greedy = fowler.compare(
        "pes-mlc", "demo", schemes=[["rps", FirstFilled()], ["rps", Greedy()]], limit=6_000, set=FULL
    )
    same = ["waf", "read", "write", "counters"]
    assert [ours.summary[key] for key in same] == [theirs.summary[key] for key in same]
    assert greedy.summary["counters"] != theirs.summary["counters"], "the choice matters on this drive"


# Slow: three lives with a policy in Python, which is called for every victim.
def test_lives_ask_victims_and_placements():
    keys = {"geometry.blocks_per_plane": 64, "gc.background_below": 12}

    def life(scheme, **more):
        lifetime = fowler.lifetime(
            "ready-32",
            "ready-proxy",
            scheme=scheme,
            limit=10_000,
            dilation=2000,
            check=False,
            set=keys | more,
        )
        return lifetime.summary["lives"][0]

    ours = life("st", **{"policy.victim": "fifo"})
    theirs = life(["st", FirstFilled(), OneStream()])
    assert {**ours, "wall_s": 0} == {**theirs, "wall_s": 0}


def requests(run):
    return polars.DataFrame(run.requests()).to_dicts()


def test_a_throttle_in_python_holds_as_ours_does():
    keys = {"geometry.blocks_per_plane": 64, "gc.background_below": 12}
    one, other = (
        fowler.lifetime(
            "ready-32", "ready-proxy", scheme=scheme, limit=10_000, dilation=2000, check=False, set=keys
        ).summary["lives"][0]
        for scheme in ("st", ["st", FixedRate()])
    )
    # The policy in Rust reports stops and delays apart; the policy in Python has one number for both.
    assert sum(one["throttled_s"].values()) == pytest.approx(sum(other["throttled_s"].values()), rel=1e-12)
    assert one["throttled_s"]["stopped"] > 0
    same = ["waf", "w_work_tb", "effective_lifetime_years", "repetitions"]
    assert {key: one[key] for key in same} == {key: other[key] for key in same}


class Alternating:
    """Alternates between the oldest transaction and reads first."""

    def __init__(self):
        self.turn = 0

    def pick(self, view):
        self.turn += 1
        return view.oldest() if self.turn % 2 else view.head("host_read") or view.oldest()


def test_each_run_has_a_copy_of_its_own():
    policy = Alternating()
    runs = [fowler.run("pes-mlc", "demo", scheme=["fifo", policy], limit=1_000, set=SMALL) for _ in range(2)]
    assert measured(runs[0]) == measured(runs[1])
    assert policy.turn == 0


def test_policies_stand_beside_schemes_in_a_comparison():
    both = fowler.compare(
        "pes-mlc", "demo", schemes=["rps", ["fifo", ReadFirst()], Alternating()], limit=1_000, set=SMALL
    )
    assert both.schemes == ["rps", "fifo+ReadFirst", "Alternating"]
    assert measured(both[0]) == measured(both[1]) != measured(both[2])
    assert len({run.summary["config_hash"] for run in both}) == 3


# Slow: twelve drives are filled and aged, although only their hashes are compared.
def test_what_a_policy_is_and_has_is_in_the_hash():
    def hash_of(policy):
        run = fowler.run("hire", "demo", scheme=["hire", policy], limit=100)
        return run.summary["config_hash"]

    assert hash_of(BufferHits()) == hash_of(BufferHits())
    assert hash_of(BufferHits()) != hash_of(BufferHits(0.9))
    assert hash_of(Patient(["host_read"])) == hash_of(Patient(["host_read"]))
    assert hash_of(Patient(["host_read"])) != hash_of(Patient(["host_program"]))
    made = [
        type("Made", (BufferHits,), {"classify": how})
        for how in (lambda _, __: "mixed", lambda _, __: "read_hot")
    ]
    assert hash_of(made[0]()) != hash_of(made[1]())
    # Two policies that cannot be pickled count as different.
    assert hash_of(Wrong("classify", "mixed")) != hash_of(Wrong("classify", "mixed"))


def test_what_is_run_again_is_the_policy_that_was_run():
    policy = Patient(["host_read"])
    run = fowler.run("pes-mlc", "demo", scheme=["fifo", policy], limit=1_000, set=SMALL)
    policy.kinds[0] = "host_program"
    reads = polars.DataFrame(run.requests()).filter(polars.col("op") == "read")
    assert reads["latency_ns"].mean() / 1000 == pytest.approx(run.read.mean_us)


class Anyone:
    """Picks a transaction at random."""

    def __init__(self, seed):
        self.random = random.Random(seed)

    def pick(self, view):
        return self.random.choice(view.waiting())


@pytest.mark.parametrize("scheme", ["fifo", "pes_ipc", "rhio", "all"])
def test_whatever_order_a_policy_picks_requests_are_served(scheme):
    for seed in range(3):
        run = fowler.run(
            "together", "demo", scheme=[scheme, Anyone(seed)], limit=600, set={"lifetime.target": "4h"}
        )
        assert run.read.count + run.write.count == 600, f"seed {seed}"


KEPT = []


class Thief:
    """Returns a transaction that an earlier run was shown."""

    def __init__(self, calls=None):
        self.calls = calls

    def pick(self, view):
        KEPT.append(view.waiting()[-1])
        return view.oldest() if self.calls is None else KEPT[len(KEPT) - 1 - self.calls]


def test_what_an_earlier_run_was_shown_is_no_answer():
    KEPT.clear()
    fowler.run("pes-mlc", "demo", scheme=["fifo", Thief()], limit=100, set=SMALL)
    calls = len(KEPT)
    with pytest.raises(fowler.PolicyError, match="expected a transaction of this view"):
        fowler.run("pes-mlc", "demo", scheme=["fifo", Thief(calls)], limit=100, set=SMALL)


def test_a_policy_that_does_not_return_is_ended_by_ctrl_c():
    program = """
import fowler, os, signal, threading
class Stuck:
    def pick(self, view):
        threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
        while True:
            pass
try:
    fowler.run("pes-mlc", "demo", scheme=["fifo", Stuck()], limit=100)
except KeyboardInterrupt:
    print("ended")
"""
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=False
    )
    assert (done.returncode, done.stdout) == (0, "ended\n"), done.stderr


def test_policies_that_no_life_asks_are_refused():
    with pytest.raises(fowler.InputError, match=r"policy.die_order: .*ReadFirst.* would never be used"):
        fowler.lifetime("ready-32", "ready-proxy", scheme=["st", ReadFirst()], limit=1_000, dilation=2000)


def test_two_schemes_do_not_write_into_one_file(tmp_path):
    with pytest.raises(fowler.InputError, match="requests of two schemes would be written to this file"):
        fowler.compare(
            "pes-mlc",
            "demo",
            schemes=[["fifo", named("a/b")], ["fifo", named("a_b")]],
            requests_file=tmp_path / "all.csv",
            limit=100,
        )


class Broken:
    """Fails at the hundredth call."""

    def __init__(self, answer=None):
        self.calls = 0
        self.answer = answer

    def pick(self, view):
        self.calls += 1
        if self.calls < 100:
            return view.oldest()
        if self.answer is None:
            raise ZeroDivisionError("no share is left")
        return self.answer(view)


class Keeping:
    """Returns a transaction of the previous call."""

    def __init__(self):
        self.last = None

    def pick(self, view):
        last, self.last = self.last, view.oldest()
        return last or self.last

    def __deepcopy__(self, memo):
        return Keeping()


class Looking:
    """Uses a view after its call."""

    def __init__(self):
        self.seen = None

    def pick(self, view):
        if self.seen is not None:
            self.seen.oldest()
        self.seen = view
        return view.oldest()


class Idle:
    def pick(self, view):
        return None


class Holding:
    """Returns a block of the previous call."""

    def __init__(self):
        self.last = None

    def collect(self, plane):
        last, self.last = self.last, plane.fewest_valid()
        return last or self.last

    def __deepcopy__(self, memo):
        return Holding()


class Fruitless:
    """Insists on a block without an invalid page, and never on the same one twice."""

    def __init__(self):
        self.turn = 0

    def collect(self, plane):
        full = [block for block in plane.blocks() if block.valid == plane.pages_per_block]
        self.turn += 1
        return full[self.turn % len(full)] if full else plane.fewest_valid()


class Beyond:
    def collect(self, plane):
        return plane.block(plane.slots)


class Mixing:
    """Puts all classes of data into one stream."""

    def stream(self, data):
        return 0


class Shut(StreamPerKind):
    def opens(self, data):
        return "any"


class MuteError(Exception):
    def __str__(self):
        raise RuntimeError("not even that")


class Dumb:
    def pick(self, view):
        raise MuteError


class Wrong:
    def __init__(self, method, answer):
        setattr(self, method, lambda *_: answer)


class Both(ReadFirst, Cancel):
    """A policy with methods of two slots."""


def named(name):
    policy = ReadFirst()
    policy.name = name
    return policy


@dataclass(slots=True)
class Patient:
    """A die order in a class with slots: its list of kinds decides."""

    kinds: list[str]

    def pick(self, view):
        return next(filter(None, map(view.head, self.kinds)), None) or view.oldest()


class Uncopied(ReadFirst):
    def __deepcopy__(self, memo):
        raise TypeError("there is only one of me")


@pytest.mark.parametrize(
    ("device", "scheme", "policy", "text"),
    [
        ("pes-mlc", "fifo", Broken(), "Broken.pick at 0.0.* ZeroDivisionError: no share is left"),
        ("pes-mlc", "fifo", Broken(lambda view: 5), "pick returned 5: expected a transaction of this view"),
        ("pes-mlc", "fifo", Keeping(), "pick returned <.*>: expected a transaction of this view"),
        ("pes-mlc", "fifo", Looking(), "valid only during the call"),
        (
            "pes-mlc",
            "fifo",
            Broken(lambda view: view.head("reads")),
            "unknown kind `reads`, expected one of",
        ),
        ("pes-mlc", "fifo", Idle(), "pick returned None: expected a transaction of this view"),
        ("pes-mlc", "fifo", Dumb(), "Dumb.pick at 0.* s of simulated time: MuteError"),
        ("pes-mlc", "rps", Wrong("allows", True), 'expected "at_once", "phase_end", or None'),
        ("hire", "hire", Wrong("classify", "hot"), 'expected "read_hot", "write_hot", or "mixed"'),
        ("pes-mlc", "st", Wrong("admit", -1), "expected a delay in nanoseconds, at least 0"),
        ("pes-mlc", "st", Wrong("admit", float("nan")), "expected a delay in nanoseconds"),
        ("pes-mlc", "st", Wrong("admit", 1e19), "expected a delay in nanoseconds"),
        ("pes-mlc", "rps", Wrong("collect", 3), "collect returned 3: expected a block of this plane"),
        ("pes-mlc", "rps", Wrong("collect", None), "Wrong.collect at .* expected a block of this plane"),
        ("pes-mlc", "rps", Holding(), "collect returned <block .*>: expected a block of this plane"),
        ("pes-mlc", "rps", Fruitless(), "has no invalid page, nor had any of the 1024 before it"),
        ("pes-mlc", "rps", Beyond(), "there is no block 64: a plane has 64 of them"),
        ("pes-mlc", "rps", Wrong("stream", 1), 'stream returned 1: expected 0, .* "single_stream"'),
        (
            "hire",
            "hire",
            Wrong("stream", 6),
            "stream returned 6: expected the number of a stream .data that shares blocks., from 0 to 5",
        ),
        ("hire", "hire", Wrong("stream", "hot"), "stream returned 'hot': expected the number of a stream"),
        ("hire", "hire", Mixing(), "data that is mixed and for data that is read_hot: expected different"),
        ("hire", "hire", Shut(), 'opens returned \'any\': expected "oldest", "strongest", or "weakest"'),
        ("pes-mlc", "fifo", Uncopied(), "Uncopied: its copy at 0.0.* there is only one of me"),
    ],
)
def test_what_fails_in_a_policy_ends_the_run_with_its_traceback(device, scheme, policy, text):
    keys = FULL if device == "pes-mlc" else {}
    with pytest.raises(fowler.PolicyError, match=text) as caught:
        fowler.run(device, "demo", scheme=[scheme, policy], limit=5_000, set=keys)
    assert caught.value.__cause__ is not None
    again = pickle.loads(pickle.dumps(caught.value))
    assert (str(again), again.at_ns) == (str(caught.value), caught.value.at_ns)
    if isinstance(policy, Broken) and policy.answer is None:
        frames = traceback.extract_tb(caught.value.__cause__.__traceback__)
        assert frames[-1].name == "pick"
        assert caught.value.at_ns > 0


@pytest.mark.parametrize(
    ("scheme", "text"),
    [
        ([ReadFirst], "pass an object: ReadFirst()"),
        (["rps", object()], "is neither a scheme nor a policy"),
        ([Both()], "has the methods pick and allows, but may fill only one slot"),
        (["rps", named("fifo")], "a policy cannot be called `fifo`"),
        (["rps", named("")], "a policy cannot be called ``"),
        (["rps", named(" mine ")], "a policy cannot be called ` mine `"),
        (["rps", named("mine.toml")], "a policy cannot be called `mine.toml`"),
        ([ReadFirst(), "ReadFirst"], "`ReadFirst` is the name of a policy, not of a scheme"),
        ([], "is neither a scheme nor a policy"),
        (
            [ReadFirst(), Alternating()],
            "`Alternating` is a second custom policy for",
        ),
        (["fifo", BufferHits()], "a custom policy replaces `buffer_hits`, which this drive does not use"),
        (["fifo", FixedRate()], "takes the place of a built-in one, and policy.throttle is off"),
        (["fifoo", ReadFirst()], "unknown scheme `fifoo`"),
    ],
)
def test_what_is_no_scheme_is_reported(scheme, text):
    with pytest.raises(fowler.InputError) as caught:
        fowler.run("pes-mlc", "demo", scheme=scheme, limit=100)
    assert text in str(caught.value)


def test_a_name_is_a_policys_own():
    policy = ReadFirst()
    policy.name = "mine"
    assert fowler.run("pes-mlc", "demo", scheme=policy, limit=100, set=SMALL).scheme == "mine"
    other = copy.copy(policy)
    both = fowler.compare("pes-mlc", "demo", schemes=[policy, other], limit=100, set=SMALL)
    assert both.schemes == ["mine", "mine 2"]
    policy.name = "a+b"
    with pytest.raises(fowler.InputError, match="cannot be called `a"):
        fowler.run("pes-mlc", "demo", scheme=policy, limit=100)


def test_what_a_policy_has_come_to_is_not_kept(tmp_path):
    with pytest.raises(fowler.InputError, match="cannot save the state"):
        fowler.lifetime("ready-32", "ready-proxy", scheme=["st", FixedRate()], checkpoint=tmp_path / "life")


class Counting:
    """A die order that counts what it has decided."""

    def __init__(self) -> None:
        self.decided = 0

    def pick(self, view: fowler.policies.View) -> object:
        self.decided += 1
        return view.oldest()


def test_what_a_policy_has_learnt_is_there_after_the_run(small: fowler.Device) -> None:
    ours = Counting()
    run = fowler.run(small, "demo", scheme=["fifo", ours], limit=500)
    learnt = run.policies["Counting"]
    assert learnt is not ours
    assert ours.decided == 0
    assert learnt.decided >= 500
    again = fowler.run(small, "demo", scheme=["fifo", ours], limit=500)
    assert again.policies["Counting"].decided == learnt.decided
    # The runs of a search for a speed ask copies of their own.
    idle = fowler.run(small, "demo", scheme=["fifo", ours], limit=500, idle=0.5)
    speed = idle["workload.speed"]
    alike = fowler.run(small, "demo", scheme=["fifo", ours], limit=500, speed=speed)
    assert idle.policies["Counting"].decided == alike.policies["Counting"].decided
    before = run.policies["Counting"]
    run.requests()
    assert run.policies["Counting"] is before
    held = pickle.loads(pickle.dumps(run))
    assert held.policies["Counting"].decided == learnt.decided
    assert fowler.run(small, "demo", limit=100).policies == {}


class Tallying:
    """A victim that counts its calls."""

    def __init__(self):
        self.asked = 0

    def collect(self, plane):
        self.asked += 1
        return plane.fewest_valid()


def test_what_a_victim_has_learnt_begins_with_preconditioning():
    asked = []
    for limit in (2_000, 4_000):
        run = fowler.run("pes-mlc", "demo", scheme=["rps", Tallying()], limit=limit, set=FULL)
        asked.append(run.policies["Tallying"].asked)
    collected = run.summary["counters"]["erases"]["gc"]
    assert 0 < asked[0] < asked[1]
    assert asked[1] > collected, "those of preconditioning are no part of the run"


def test_each_run_of_a_comparison_has_its_own(small: fowler.Device) -> None:
    schemes = [["fifo", Counting()], "fifo", ["rps", Counting()]]
    both = fowler.compare(small, "demo", schemes=schemes, limit=500, seeds=2)
    alone = [fowler.run(small, "demo", scheme=each, limit=500) for each in schemes]
    learnt = [[each.decided for each in run.policies.values()] for run in both]
    assert learnt == [[each.decided for each in run.policies.values()] for run in alone]
    assert learnt[1] == []
