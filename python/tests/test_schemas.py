"""Schemas say what the program does: they take what it takes and writes, and refuse what it refuses."""

from __future__ import annotations

import json
import subprocess
import sys
import tomllib
from functools import cache
from pathlib import Path

import pytest
from jsonschema import Draft202012Validator

ROOT = Path(__file__).parents[2]
LIMITED = ("--limit", "1", "--json", "--quiet")
CONFIGURATIONS = ("device", "workload", "scheme", "sweep")
OUTPUTS = ("run", "compare", "explain", "lifetime", "pts", "endurance", "smart", "validate", "trace-info")

# The command that makes the program read a file of each kind.
READERS = {
    "device": "run --device {} --workload random-read --limit 1 --quiet",
    "workload": "run --device pes-slc --workload {} --limit 1 --quiet",
    "scheme": "run --device together --scheme {} --workload random-read --limit 1 --quiet",
    "sweep": "sweep {} --dry-run --quiet",
}


def program(*arguments: str, place: Path = ROOT) -> subprocess.CompletedProcess[str]:
    """Runs the command and returns the finished process."""
    command = [sys.executable, "-m", "fowler", *arguments]
    return subprocess.run(command, check=False, capture_output=True, text=True, cwd=place)


def said(*arguments: str, place: Path = ROOT) -> str:
    """Returns the output of a command, which must succeed."""
    done = program(*arguments, place=place)
    assert done.returncode == 0, done.stderr
    return done.stdout


@cache
def schema(name: str) -> Draft202012Validator:
    """Returns a schema of the program. Fails if it is no valid JSON schema."""
    text = json.loads(said("schema", name))
    Draft202012Validator.check_schema(text)
    return Draft202012Validator(text)


def wrong(name: str, value: object) -> list[str]:
    """Returns the violations of a schema by a value."""
    return [f"{error.json_path}: {error.message[:200]}" for error in schema(name).iter_errors(value)]


def reads(name: str, text: str, place: Path) -> bool:
    """True if the program accepts a file; false if it reports an error of the input."""
    (place / "file.toml").write_text(text)
    done = program(*READERS[name].format("file.toml").split(), place=place)
    assert done.returncode in (0, 2), done.stderr
    return done.returncode == 0


def test_every_schema_is_listed() -> None:
    listed = [line.split()[0] for line in said("schema").splitlines()]
    assert listed == [*CONFIGURATIONS, *OUTPUTS]
    for name in listed:
        assert schema(name).schema["additionalProperties"] is False
    assert program("schema", "devise").returncode == 2


# Slow: the program starts for each preset, and each file is held against its schema.
def test_presets_are_valid_and_name_their_schema() -> None:
    kinds: dict[str, str] = {}
    for kind in ("device", "workload", "scheme"):
        files = sorted((ROOT / "presets" / f"{kind}s").glob("*.toml"))
        assert len(files) >= 9
        for file in files:
            assert wrong(kind, tomllib.loads(file.read_text())) == [], file
            # Where a drive and a scheme have one name, the drive is printed.
            kinds.setdefault(file.stem, kind)
    for name, kind in kinds.items():
        text = said("presets", name)
        assert text.startswith(f"#:schema ./{kind}.schema.json\n# "), name
        assert wrong(kind, tomllib.loads(text)) == []


def test_every_key_of_a_complete_file_is_known() -> None:
    for device, workload in [("tlc", "demo"), ("together", "msr-hm0"), ("hire", "c8")]:
        whole = json.loads(said("run", "--device", device, "--workload", workload, *LIMITED))
        device_file = tomllib.loads(whole["provenance"]["config"])
        assert wrong("device", device_file) == []
        assert wrong("workload", tomllib.loads(whole["provenance"]["generator"])) == []


SMALL = (ROOT / "crates/cli/tests/small.toml").read_text()
LOAD = (ROOT / "crates/cli/tests/small-load.toml").read_text()
SWEEP = 'workload = "demo"\n'

TAKEN = [
    ("device", SMALL),
    ("device", SMALL + '[policy]\nvictim = "greedy"\n'),
    ("device", SMALL + '[policy.victim]\nname = "d_choices"\nd = 4\n'),
    ("device", SMALL + '[policy.die_order]\nname = "fifo"\n'),
    ("device", SMALL.replace('read = "25us"', 'read = ["25us", " 30 us", "0.03ms"]')),
    ("device", SMALL.replace('read = "25us"', 'read = "2_5.0us"')),
    ("device", SMALL.replace('read = "25us"', 'read = ".025ms"')),
    ("device", SMALL + "[precondition]\nfill = 1\n"),
    ("device", SMALL + "[gc]\n[policy]\n"),
    ("workload", LOAD),
    ("workload", LOAD + 'reads.sizes = "4KiB 70, 64KiB 30"\npower_off = "1s 2h"\n'),
    ("workload", LOAD + 'faults = ["1s chip 0", "2s page 7 uncorrectable", "3s power 2s"]\n'),
    ("workload", LOAD + "faults = []\n"),
    ("scheme", 'policy.suspension = "never"\ntiming.program_erase = "zero"\n'),
    ("scheme", 'join = "rps+per"\n'),
    ("scheme", '[timing]\n[policy.suspension]\nname = "ips"\nreads = "all"\n'),
    ("sweep", SWEEP + "[axis]\nseed = [1, 2]\n"),
    ("sweep", SWEEP + '[axis]\n"buffer.size" = ["1MiB", "2MiB"]\ntiming.read = ["30us", ["30us", "40us"]]\n'),
    ("sweep", SWEEP + '[axis]\n"policy.victim" = ["greedy", "fifo"]\n'),
    ("sweep", SWEEP + '[axis]\n"policy.victim.name" = ["greedy", "fifo"]\n'),
    ("sweep", SWEEP + '[axis]\n"policy.victim.d" = [2, 4]\n"policy.wear" = ["off"]\n'),
    ("sweep", SWEEP + '[axis.policy.victim]\nname = ["greedy", "fifo"]\n'),
    ("sweep", SWEEP + "[axis.geometry]\nover_provisioning = { from = 0.1, to = 0.3, steps = 3 }\n"),
    (
        "sweep",
        'design = "list"\n[[point]]\nworkload = "demo"\nbuffer.size = "1MiB"\n[[point]]\nworkload = "f1"\n',
    ),
    ("sweep", 'design = "random"\npoints = 3\nset = ["seed=2"]\n' + SWEEP + "[axis]\nqueue_depth = [1, 8]\n"),
]


@pytest.mark.parametrize(("name", "text"), TAKEN)
def test_what_the_program_takes_is_taken(name: str, text: str, tmp_path: Path) -> None:
    assert reads(name, text, tmp_path)
    assert wrong(name, tomllib.loads(text)) == []


REFUSED = [
    # Unknown keys, tables and words.
    ("device", SMALL + "[timing2]\nread = 1\n"),
    ("device", SMALL + '[policy]\nvictims = "greedy"\n'),
    ("device", SMALL + '[policy]\nvictim = "greddy"\n'),
    ("device", SMALL + '[policy.victim]\nname = "greedy"\ne = 4\n'),
    ("device", SMALL + "[policy.victim]\n"),
    ("device", SMALL.replace("channels = 2", "chanels = 2")),
    ("device", SMALL.replace("channels = 2", "")),
    ("device", ""),
    ("workload", LOAD + 'reads.addresses = "zipff"\n'),
    ("workload", LOAD + "reads.thetta = 1\n"),
    ("workload", "requests = 10\n"),
    ("scheme", 'policy.suspension = "sometimes"\n'),
    ("scheme", 'timing.read = "30us"\n'),
    ("scheme", "seed = 1\n"),
    ("scheme", 'join = ["rps"]\n'),
    ("sweep", SWEEP + "[axis]\nsed = [1, 2]\n"),
    ("sweep", SWEEP + "limits = 5\n[axis]\nseed = [1, 2]\n"),
    ("sweep", SWEEP + '[axis]\n"policy.victim" = ["greedy", "greddy"]\n'),
    ("sweep", SWEEP + "set = [1]\n[axis]\nseed = [1, 2]\n"),
    # Numbers without a unit, with a wrong one, or of the wrong kind.
    ("device", SMALL.replace('read = "25us"', "read = 25")),
    ("device", SMALL.replace('read = "25us"', 'read = "25"')),
    ("device", SMALL.replace('read = "25us"', 'read = "25 parsec"')),
    ("device", SMALL.replace('read = "25us"', 'read = "2.5e1us"')),
    ("device", SMALL.replace('read = "25us"', 'read = ["25us", 30]')),
    ("device", SMALL.replace('read = "25us"', "read = []")),
    ("device", SMALL.replace('page_size = "4KiB"', "page_size = 4096")),
    ("device", SMALL.replace('page_size = "4KiB"', 'page_size = "4us"')),
    ("device", SMALL.replace("channels = 2", 'channels = "2"')),
    ("device", SMALL.replace("channels = 2", "channels = 2.5")),
    ("device", SMALL.replace("channels = 2", "channels = true")),
    ("workload", LOAD + "duration = 60\n"),
    ("workload", LOAD + "reads.sizes = 4096\n"),
    ("sweep", SWEEP + '[axis]\n"timing.read" = [30, 40]\n'),
    ("sweep", SWEEP + '[axis]\n"timing.read" = { from = "30us" }\n'),
    ("sweep", SWEEP + '[axis]\n"policy.victim" = { from = "a", to = "b" }\n'),
    # Out of range.
    ("device", SMALL.replace("channels = 2", "channels = 0")),
    ("device", SMALL.replace("channels = 2", "channels = 1025")),
    ("device", SMALL.replace("over_provisioning = 0.25", "over_provisioning = -0.1")),
    ("device", SMALL.replace('read = "25us"', 'read = "-25us"')),
    ("device", SMALL.replace('read = "25us"', 'read = ["1us", "1us", "1us", "1us", "1us"]')),
    ("workload", LOAD.replace("mix.reads = 0.7", "mix.reads = 1.7")),
    ("sweep", SWEEP + "limit = 0\n[axis]\nseed = [1, 2]\n"),
    ("sweep", SWEEP + '[axis]\n"geometry.over_provisioning" = { from = 0.1, to = 0.3, steps = 1 }\n'),
    ("sweep", SWEEP + "[axis]\nseed = []\n"),
]


@pytest.mark.parametrize(("name", "text"), REFUSED)
def test_what_the_program_refuses_is_refused(name: str, text: str, tmp_path: Path) -> None:
    assert not reads(name, text, tmp_path)
    assert wrong(name, tomllib.loads(text)) != []


# Files that only the program refuses: rules about several keys, and ranges of times and sizes.
TOGETHER = {
    "no_effect",
    "stripes_and_caches",
    "stripes_that_do_not_divide",
    "stripes_wider_than_the_drive",
    "table_missing",
    "table_row",
    "table_shape",
    "table_values",
}


def test_wrong_devices_of_the_test_suite_are_refused() -> None:
    """The files are wrong or complete. The schema agrees if a single key decides."""
    for path in sorted((ROOT / "crates/experiment/tests/config").glob("*.toml")):
        try:
            whole = tomllib.loads(path.read_text())
        except tomllib.TOMLDecodeError:
            continue
        right = path.stem in TOGETHER or path.stem.endswith("complete")
        assert (wrong("device", whole) == []) == right, path.stem


def test_the_example_of_a_sweep_is_valid() -> None:
    assert wrong("sweep", tomllib.loads((ROOT / "examples/sweep.toml").read_text())) == []


QUICK = "--limit 2000 --quiet --json"
RUNS = [
    "run --device pes-mlc --workload demo --scheme pes_ipc",
    "run --device da-raid5 --workload da-tpcc --scheme da_raid5",
    "run --device da-raid5 --workload off.toml --scheme hc --set policy.redundancy.integrity=true",
    "run --device small.toml --workload faults.toml",
    "run --device together --workload faults.toml --scheme raid5",
    "run --device hire --workload random-read --scheme hire",
    "run --device rhio --workload mixed-70-30 --queue-depth 8 --scheme rhio",
    "run --device together --workload demo --scheme all",
    "run --device small.toml --workload demo --idle 0.5",
    "run --device small.toml --trace trace.csv --lenient 50 --remap compact",
    "run --device small.toml --trace writes.csv",
]


@pytest.fixture
def place(tmp_path: Path) -> Path:
    """A folder with a drive, traces, and a workload during which the power is off."""
    (tmp_path / "small.toml").write_text(SMALL)
    trace = "at_ns,op,offset,size\n0,write,0,4096\n1000,peek,0,4096\n2000,read,4096,512\n"
    (tmp_path / "trace.csv").write_text(trace + "3000,trim,0,4096\n4000,flush,0,0\n")
    (tmp_path / "writes.csv").write_text("at_ns,op,offset,size\n0,write,0,4096\n")
    (tmp_path / "faults.toml").write_text(LOAD + 'faults = ["10ms chip 1", "90s block 3"]\n')
    log = '{{"data_units_written": {}, "power_on_hours": {}, "percent_used": 3}}'
    (tmp_path / "smart.json").write_text(log.format(64663716, 742))
    (tmp_path / "earlier.json").write_text(log.format(4000000, 100))
    (tmp_path / "off.toml").write_text(LOAD + 'power_off = "100ms 30d"\n')
    return tmp_path


@pytest.mark.parametrize("command", RUNS)
def test_runs_are_as_their_schema_says(command: str, place: Path) -> None:
    whole = json.loads(said(*command.split(), *QUICK.split(), place=place))
    assert wrong("run", whole) == []
    # The schema takes a run neither with one key more nor with one key less.
    assert wrong("run", whole | {"latency": 1}) != []
    del whole["read"]["mean_us"]
    assert wrong("run", whole) != []


# Slow: a life, endurance tests, a comparison and a validation are made first.
def test_other_results_are_as_their_schemas_say(place: Path) -> None:
    life = (
        "lifetime --device ready-32 --workload life.toml --scheme ready_opt --years 0.0547945 --quiet --json"
        " --set geometry.channels=1 --set geometry.chips_per_channel=1 --set geometry.dies_per_chip=1"
        " --set geometry.blocks_per_plane=64 --set lifetime.cycles=400"
    )
    (place / "life.toml").write_text(
        "duration = '1h'\narrivals = { kind = 'cycle', busy_rate = 20.0, quiet_rate = 1.5,"
        " mean_busy = '4min', mean_quiet = '16min' }\nmix.reads = 0.2\nspace.share = 0.8\n"
    )
    tiny = (
        "--quiet --json --device pes-mlc --set geometry.channels=1 --set geometry.blocks_per_plane=64"
        " --set gc.background_below=8"
    )
    for name, command in [
        (
            "pts",
            f"pts --test iops,tp,lat,wsat,hir,xsr,ecw,dirth --minute 5ms --threads 1 --queue-depth 2 {tiny}",
        ),
        ("endurance", f"endurance {tiny}"),
        ("smart", "endurance --smart smart.json --json"),
        ("smart", "endurance --smart smart.json --since earlier.json --tbw 600 --device ready-128 --json"),
        ("compare", f"compare --device small.toml --workload demo --schemes fifo,rps,pes_ips {QUICK}"),
        ("explain", f"explain --device small.toml --workload demo --scheme pes_ipc {QUICK}"),
        ("compare", f"compare --devices small.toml,pes-slc --workload demo --seeds 2 {QUICK}"),
        ("lifetime", life),
        ("lifetime", f"{life} --no-check"),
        ("validate", "validate --quick --quiet --json --only bounds"),
        ("validate", "validate --quick --quiet --json --only laws"),
        ("trace-info", "trace info trace.csv --lenient 50 --json"),
        ("trace-info", "trace info writes.csv --json"),
    ]:
        assert wrong(name, json.loads(said(*command.split(), place=place))) == [], command
