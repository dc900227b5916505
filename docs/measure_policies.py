"""Measures what a policy in Python costs in each slot, for the table of docs/policies.md.

Run it with a release build of the package: `python docs/measure_policies.py`. Each time is the least of five
processor times of whole runs, in one process on one core.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import fowler

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "python" / "tests"))
import policy_ports as ports

TIMES = 5
WORN = {"geometry.blocks_per_plane": 64, "gc.background_below": 12, "precondition.pattern": "steady"}
RUNS: list[tuple[str, str, str, type, dict[str, Any]]] = [
    ("die order", "pes-mlc", "rps", ports.ReadFirst, {}),
    ("suspension", "pes-mlc", "pes_ipc", ports.Cancel, {}),
    ("hotness", "hire", "hire", ports.BufferHits, {}),
    ("victim, `fewest_valid()`", "pes-mlc", "rps", ports.Greedy, WORN),
    ("victim, `blocks()`", "pes-mlc", "rps", ports.FirstFilled, {**WORN, "policy.victim": "fifo"}),
    ("placement", "hire", "hire", ports.StreamPerKind, {}),
]
METHODS = ("pick", "allows", "classify", "collect", "stream", "opens")


def counting(kind: type) -> object:
    """Returns a policy that counts its calls."""
    policy = type(kind.__name__, (kind,), {"calls": 0})()
    for method in METHODS:
        inner = getattr(kind, method, None)
        if inner is not None:
            setattr(type(policy), method, counted(inner))
    return policy


def counted(inner: Any) -> Any:
    """Returns a method that counts its calls."""

    def method(self: Any, *arguments: Any) -> Any:
        self.calls += 1
        return inner(self, *arguments)

    return method


def seconds(device: str, scheme: Any, keys: dict[str, Any]) -> float:
    """Returns the least processor time of a run."""
    times = []
    for _ in range(TIMES):
        begun = time.process_time()
        fowler.run(device, "demo", scheme=scheme, limit=50_000, set=keys)
        times.append(time.process_time() - begun)
    return min(times)


def main() -> None:
    """Measures the policies, and prints a table with a row for each."""
    print("| slot | policy | calls | built in | in Python | slower | per call |")
    print("|---|---|---|---|---|---|---|")
    for slot, device, scheme, kind, keys in RUNS:
        base = {"pes_ipc": "rps"}.get(scheme, "fifo" if kind is ports.ReadFirst else scheme)
        policy = counting(kind)
        run = fowler.run(device, "demo", scheme=[base, policy], limit=50_000, set=keys)
        calls = max((called.calls for called in run.policies.values()), default=0)
        ours = seconds(device, scheme, keys)
        theirs = seconds(device, [base, kind()], keys)
        each = (theirs - ours) / calls * 1e6 if calls else 0.0
        print(
            f"| {slot} | `{kind.__name__}` | {calls:,} | {ours:.2f} s | {theirs:.2f} s "
            f"| {theirs / ours - 1:+.0%} | {each:.2f} us |"
        )


if __name__ == "__main__":
    main()
