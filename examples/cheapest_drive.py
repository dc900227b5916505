"""The cheapest over-provisioning and write buffer with p99.9 below a bound and a life above another.

    python examples/cheapest_drive.py
    python examples/cheapest_drive.py --trace financial1.trace --format flashsim --remap modulo --trials 40

What a drive costs is the flash and the buffer for each gigabyte that its host can use. Both prices are
assumed: give your own. Needs Optuna: pip install '.[optimise]'
"""

from __future__ import annotations

import argparse

import optuna

import fowler.optimise as fo

GB = 10**9
WORKLOAD = "financial1-excerpt"
DRIVE = {
    # 6 GiB of MLC: such a host, busy as in its first minutes, wears them out in some five years.
    "geometry.blocks_per_plane": 384,
    "gc.background_below": 20,
    "buffer.ack": "on_insert",
    # The state that long use leaves, so that spare capacity matters from the first write.
    "precondition.pattern": "steady",
}


def arguments() -> argparse.Namespace:
    """Parses the command line."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--trace", help="a block trace; without it a stand-in for one")
    parser.add_argument("--format", help="its format, where the text leaves it open")
    parser.add_argument(
        "--remap", default="modulo", help="what happens to addresses beyond the drive [modulo]"
    )
    parser.add_argument("--device", default="pes-mlc", help="the drive [pes-mlc, with 6 GiB of flash]")
    parser.add_argument("--limit", type=int, help="requests of a run, and of a repetition of a life")
    parser.add_argument("--p999-us", type=float, default=500.0, help="p99.9 of reads and of writes at most")
    parser.add_argument("--years", type=float, default=5.0, help="years at least")
    parser.add_argument("--flash", type=float, default=0.08, help="price of a GB of flash [0.08, assumed]")
    parser.add_argument("--dram", type=float, default=3.0, help="price of a GB of buffer [3, assumed]")
    parser.add_argument(
        "--dilation", type=int, default=1000, help="repetitions of a life that one stands for"
    )
    parser.add_argument("--trials", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def main() -> None:
    """Looks for the drive, and says what was found."""
    asked = arguments()

    def cost(candidate: fo.Candidate) -> float:
        """The price of a GB that the host can use."""
        size = candidate.run.summary["drive"]
        flash, usable = size["raw_bytes"] / GB, size["logical_bytes"] / GB
        buffer = candidate.values["buffer_size"].bytes / GB
        return (flash * asked.flash + buffer * asked.dram) / usable

    def p999(candidate: fo.Candidate) -> float | None:
        known = [
            tail for tail in (candidate.run.read.p999_us, candidate.run.write.p999_us) if tail is not None
        ]
        return max(known, default=None)

    source = {"trace": asked.trace, "format": asked.format, "remap": asked.remap} if asked.trace else {}
    objective = fo.Objective(
        asked.device,
        None if asked.trace else WORKLOAD,
        limit=asked.limit or (None if asked.trace else 20_000),
        set=DRIVE,
        **source,
        space={
            "over_provisioning": {"from": 0.05, "to": 0.5, "step": 0.01},
            "buffer_size": {"from": "1MiB", "to": "256MiB", "scale": "log"},
        },
        minimise=cost,
        constraints={
            "p99.9": fo.at_most(p999, asked.p999_us),
            "life": fo.at_least(lambda candidate: candidate.life.years, asked.years),
        },
        life={"dilation": asked.dilation, "years": asked.years},
    )
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=asked.seed))
    study.optimize(objective, n_trials=asked.trials)
    report(study, objective, p999)


def report(study: optuna.Study, objective: fo.Objective, p999: fo.Measure) -> None:
    """Prints the drive found, and the numbers of a run and a life of it."""
    pruned = [trial for trial in study.trials if trial.state == optuna.trial.TrialState.PRUNED]
    print(f"{len(study.trials)} trials, {len(pruned)} drives that cannot be")
    for error in sorted({trial.user_attrs["error"] for trial in pruned}):
        print(f"    {error}")
    try:
        best = study.best_trial
    except ValueError:
        print("no drive of the space meets both conditions")
        return
    winner = objective.candidate(best.params)
    print(f"over-provisioning  {best.params['over_provisioning']:.0%} of the raw capacity")
    print(f"buffer             {winner.values['buffer_size'].mib:.0f} MiB")
    print(f"cost               {best.value:.4f} for each usable GB (trial {best.number})")
    print(f"p99.9              {p999(winner):,.0f} us")
    print(f"life               {winner.life.years:.2f} years, WAF {winner.life.waf:.2f}")


if __name__ == "__main__":
    main()
