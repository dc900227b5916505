"""Runs every test: those of Rust, of Python, of the documentation and of the reports in a browser.

Three lanes run side by side, because compiling, installing and waiting for a browser use different parts
of a machine. What compiles is nice to the others, which wait for answers of a browser, a kernel or a pool
of processes:

1. rust: builds the program and the Python module, then the tests, and runs each test program as soon as it
   is linked, two at a time; those of packages with a program once everything is
2. python: installs the packages meanwhile; tests the package and builds the documentation once the module
   is built
3. browser: installs Chromium and Playwright meanwhile; looks at reports once the program is built

A lane that cannot run (offline, no root, no Python packages) is skipped by name, and the others run.
Everything that was skipped is listed at the end, with the slowest tests. A test over five seconds has its
reason in a comment above it, or at the head of its file, which begins with `Slow:`.

The names of lanes choose among them. `shared` runs only the Rust tests that need the shared folder
(tests/src/shared_folder.rs).
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).resolve().parent.parent
TARGET = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target")).resolve()
LOGS = TARGET / "test-logs"
CARGO = ["nice", "-n", "15", os.environ.get("CARGO", "cargo")]
# A build or a test program that hangs ends after so many seconds, more than any of them takes on a slow
# machine.
HANGS_S = 45 * 60
# Bytes of free memory that glibc keeps for a test program's next allocation (docs/performance.md, "Memory").
TOP_PAD = 64 << 20
# Exit codes of a shell: a command that was ended in time, and one that could not be started.
TIMED_OUT, NOT_STARTED = 124, 127
SLOWEST = 20
# A test that takes more seconds than this says in its file why.
SLOW_S = 5.0


@dataclass
class Tally:
    """The results of all lanes; each lane adds those of its own tests."""

    passed: int = 0
    failed: list[str] = field(default_factory=list)
    skipped: list[str] = field(default_factory=list)
    # Seconds, the program or file, the test
    times: list[tuple[float, str, str]] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock)

    def add(self, name: str, output: str, passed: int, failed: list[str], ignored: int = 0) -> None:
        """Adds the tests of one program, and the lines in which it says what it skipped."""
        with self.lock:
            self.passed += passed
            self.failed += failed
            lines = re.findall(r"SKIPPED:?\s*(.*)", output)
            self.skipped += dict.fromkeys(line.strip() for line in lines)
            if ignored:
                self.skipped.append(f"{name}: {ignored} ignored")


@dataclass
class Step:
    """Something that others wait for. `made` is true once it was made, false if it could not be."""

    name: str
    made: bool = False
    over: threading.Event = field(default_factory=threading.Event)

    def end(self, made: bool) -> None:
        """Lets those that wait go on."""
        self.made = made
        self.over.set()

    def wait(self) -> bool:
        """Waits for its end. Returns whether it was made."""
        self.over.wait()
        return self.made


STARTED = time.monotonic()
tally = Tally()
program = Step("the program")


def say(text: str) -> None:
    """Prints a line with the time since the start."""
    print(f"{time.monotonic() - STARTED:7.1f} s  {text}", flush=True)


def log_of(name: str) -> Path:
    """Returns the file for the output of a command."""
    LOGS.mkdir(parents=True, exist_ok=True)
    return LOGS / f"{re.sub(r'[^a-z0-9]+', '-', name.lower())}.log"


def run(name: str, command: Sequence[str | Path], **environment: str) -> tuple[int, str]:
    """Runs a command, its output in a file. Returns its exit code and the output."""
    log = log_of(name)
    with log.open("w") as file:
        try:
            code = subprocess.run(
                command,
                cwd=ROOT,
                env={**os.environ, **environment},
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                timeout=HANGS_S,
                check=False,
            ).returncode
        except subprocess.TimeoutExpired:
            file.write(f"\n{name} was ended after {HANGS_S} s\n")
            code = TIMED_OUT
        except OSError as error:
            file.write(f"{error}\n")
            code = NOT_STARTED
    return code, log.read_text(errors="replace")


def first_line(text: str) -> str:
    """Returns the first line of a text that is not empty, to follow a name; nothing if there is none."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f": {lines[0][:300]}" if lines else ""


def add_cases(name: str, path: Path, code: int, output: str) -> int:
    """Adds the tests of a file in JUnit's format. Returns how many passed."""
    cases = ElementTree.parse(path).getroot().iter("testcase") if path.exists() else ()
    failed, passed, skipped = [], 0, 0
    for case in cases:
        test = f"{case.get('classname', '')}::{case.get('name', '')}".removeprefix("test::")
        wrong = next((it for tag in ("failure", "error") if (it := case.find(tag)) is not None), None)
        if wrong is not None:
            failed.append(f"{name} {test}{first_line(wrong.get('message', ''))}")
        elif case.find("skipped") is not None:
            skipped += 1
        else:
            passed += 1
        with tally.lock:
            tally.times.append((float(case.get("time", 0)), name, test))
    if code != 0 and not failed:
        failed.append(f"{name} (exit code {code})")
    tally.add(name, output, passed, failed, skipped)
    return passed


def end(name: str, code: int, output: str) -> bool:
    """Says how a command ended; prints its output if it failed. Returns whether it succeeded."""
    if code != 0:
        print(output, flush=True)
    say(f"{name}: {'ok' if code == 0 else f'FAILED, exit code {code}'}")
    return code == 0


# --- Rust -----------------------------------------------------------------------------------------


@dataclass
class TestProgram:
    """A test program: its name in reports, its path, and the folder of its package."""

    name: str
    path: Path
    folder: Path

    def runs_program(self) -> bool:
        """Returns whether the package has a program, which its tests run.

        Cargo may link it, or put it in its place, after the tests.
        """
        return (self.folder / "src" / "main.rs").exists() or (self.folder / "src" / "bin").exists()


def linked(line: str) -> TestProgram | None:
    """Returns the test program that a line of Cargo reports as linked, if it does."""
    message = json.loads(line) if line.startswith("{") else {}
    if not (message.get("executable") and message["profile"]["test"]):
        return None
    package = message["package_id"].split("#")[0].rsplit("/", 1)[-1]
    target = message["target"]
    name = package if target["kind"][0] == "lib" else f"{package} {target['name']}"
    return TestProgram(name, Path(message["executable"]), Path(message["manifest_path"]).parent)


def build_tests(start: Callable[[TestProgram], None]) -> bool:
    """Builds the tests. Starts each test program as soon as it is linked. Returns whether all were built."""
    # Without `--tests` Cargo would link the examples as well, which are no tests.
    command = [*CARGO, "test", "--workspace", "--tests", "--no-run"]
    log = log_of("build the tests")
    with (
        log.open("w") as file,
        subprocess.Popen(
            [*command, "--message-format=json-render-diagnostics"],
            cwd=ROOT,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=file,
            text=True,
        ) as process,
    ):
        ends = threading.Timer(HANGS_S, process.kill)
        ends.daemon = True
        ends.start()
        assert process.stdout is not None
        try:
            for line in process.stdout:
                if test_program := linked(line):
                    start(test_program)
        finally:
            ends.cancel()
    return end("build the tests", process.returncode, log.read_text(errors="replace"))


def run_tests(tests: TestProgram, *only: str) -> None:
    """Runs one test program."""
    name = tests.name
    # The environment is that of Cargo: paths in tests begin at the package, and libraries are found.
    environment = {"CARGO_MANIFEST_DIR": str(tests.folder), "RUST_BACKTRACE": "1", "RUSTC_BOOTSTRAP": "1"}
    environment["MALLOC_TOP_PAD_"] = str(TOP_PAD)
    timed = ["-Z", "unstable-options", "--report-time"]
    command: list[str | Path] = ["nice", "-n", "15", "env", "-C", tests.folder, tests.path, *only]
    code, output = run(name, [*command, *timed], **environment)
    if "Unrecognized option" in output:
        code, output = run(name, command, **environment)
    results = re.findall(r"^test (\S+)(?: - should panic)? \.\.\. (\w+)(?:.*?<([\d.]+)s>)?", output, re.M)
    # Output of tests to standard error can tear a line, so the sum counts.
    passed = sum(map(int, re.findall(r"test result: \w+\. (\d+) passed", output)))
    # The output of a test that fails begins with its name and the place of the panic.
    said = dict(
        re.findall(r"^---- (\S+) stdout ----\n(?:\s*\n)*thread .* panicked at .*\n(.*)", output, re.M)
    )
    failed = [
        f"{name} {test}{first_line(said.get(test, ''))}" for test, result, _ in results if result == "FAILED"
    ]
    ignored = sum(result == "ignored" for _, result, _ in results)
    if code != 0 and not failed:
        failed.append(f"{name} (exit code {code})")
    with tally.lock:
        tally.times += [(float(seconds), name, test) for test, _, seconds in results if seconds]
    tally.add(name, output, passed, failed, ignored)
    if failed:
        print(output, flush=True)
    say(f"{name}: {passed} passed" + (f", {len(failed)} FAILED" if failed else ""))


def build() -> None:
    """Builds the program and the Python module."""
    command = [*CARGO, "build", "-p", "fowler-cli", "-p", "fowler-python"]
    made = end("build the program", *run("build the program", command))
    if made:
        # The tests build the program with checks, at the same place.
        (TARGET / "shipped").mkdir(exist_ok=True)
        shutil.copy2(TARGET / "debug/fowler", TARGET / "shipped/fowler")
    else:
        tally.failed.append("build the program")
    program.end(made)


def rust(*only: str) -> None:
    """Builds and runs the tests of Rust."""
    started: list[Future[None]] = []
    later: list[TestProgram] = []
    # Two at a time: a program ends with its slowest test, which leaves a processor idle.
    with ThreadPoolExecutor(2) as pool:

        def start(tests: TestProgram) -> None:
            if tests.runs_program():
                later.append(tests)
            else:
                started.append(pool.submit(run_tests, tests, *only))

        made = build_tests(start)
        if made:
            started += [pool.submit(run_tests, tests, *only) for tests in later]
        else:
            tally.failed.append("build the tests")
        for tests_run in started:
            tests_run.result()
    if made and not only:
        code, output = run("examples in comments", [*CARGO, "test", "--workspace", "--doc"])
        passed = sum(map(int, re.findall(r"^test result: \w+\. (\d+) passed", output, re.M)))
        failed = [f"example {it}" for it in re.findall(r"^test (.*) \.\.\. FAILED", output, re.M)]
        tally.add("examples in comments", output, passed, failed or ["examples in comments"] * (code != 0))
        end(f"examples in comments: {passed} passed", code, output)


# --- Python ---------------------------------------------------------------------------------------

packages = Step("the packages of the tests")
module = Step("the Python module")


def fetch() -> None:
    """Makes the environment and fetches the packages."""
    code, output = run("fetch the Python packages", ["python/fetch"])
    packages.end(code == 0 and "SKIPPED" not in output)
    if packages.made:
        say("fetch the Python packages: ok")
    else:
        print(output, flush=True)
        tally.skipped.append(
            "tests of the Python package and of the documentation: packages cannot be fetched"
        )


def install() -> None:
    """Puts the Python module that was built into the environment; Cargo is not at work meanwhile."""
    if packages.wait():
        module.end(end("install the module", *run("install the module", ["python/install"])))
        if not module.made:
            tally.failed.append("install the module")
    else:
        module.end(False)


def python() -> None:
    """Tests the package, then the documentation builds."""
    try:
        fetch()
    finally:
        # Whoever installs into the environment waits for this.
        packages.over.set()
    if not (program.wait() and module.wait()):
        return
    results = TARGET / "pytest.xml"
    results.unlink(missing_ok=True)
    with ThreadPoolExecutor() as both:
        docs = both.submit(run, "build the documentation", ["docs/build"], FOWLER_ENVIRONMENT="built")
        code, output = run(
            "Python", ["python/tests/run", f"--junitxml={results}"], FOWLER_ENVIRONMENT="built"
        )
        passed = add_cases("Python", results, code, output)
        end(f"Python: {passed} passed", code, output)
        code, output = docs.result()
        tally.add("documentation", output, int(code == 0), [] if code == 0 else ["build the documentation"])
        end("build the documentation", code, output)


# --- The browser ----------------------------------------------------------------------------------


def browser() -> None:
    """Looks at reports in a browser."""
    code, output = run("fetch the browser", ["tests/browser/run", "fetch"])
    if "SKIPPED" in output or code != 0:
        print(output, flush=True)
        tally.add("browser", output or "SKIPPED: tests of reports in a browser", 0, [])
        program.wait()
        return
    say("fetch the browser: ok")
    if not program.wait():
        return
    results = TARGET / "browser.xml"
    results.unlink(missing_ok=True)
    written = ["--test-reporter=junit", f"--test-reporter-destination={results}"]
    code, output = run("browser", ["tests/browser/run", *written])
    passed = add_cases("browser", results, code, output)
    end(f"browser: {passed} passed", code, output)


# --- The end --------------------------------------------------------------------------------------


TEST_FILES = [
    ("crates", "rs"),
    ("tests", "rs"),
    ("benches", "rs"),
    ("python/tests", "py"),
    ("tests/browser", "test.mjs"),
]


def reason(test: str) -> str | None:
    """Returns why a test takes long.

    That is what follows `Slow:` in the comment above it, above the list it is in, or at the head of its file.
    """
    if test.startswith("docs."):
        return "a command of the documentation, as it stands there"
    name = re.sub(r"\[.*", "", test.rsplit("::", 1)[-1])
    escaped = re.escape(name)
    defined = rf"(?:fn|def) {escaped}\(|\w+! \{{.*\b{escaped}\b|.*\btest\('{escaped}'"
    pattern = re.compile(rf"(?:^[ \t]*(?://|#|@).*\n)*^[ \t]*(?:{defined})", re.M)
    # Tests of several files may have one name. Those of a file are in a module that is called like it.
    modules = test.split("::")[:-1]
    found = []
    for folder, ending in TEST_FILES:
        for path in (ROOT / folder).rglob(f"*.{ending}"):
            text = path.read_text()
            if name in text and (above := pattern.search(text)):
                head = re.match(r"(?://!.*\n)*", text)
                said = re.search(r"Slow: (.*)", above[0]) or (head and re.search(r"Slow: (.*)", head[0]))
                found.append((path.stem in modules, said[1] if said else None))
    return max(found, key=lambda it: (it[0], it[1] is not None), default=(False, None))[1]


def close() -> int:
    """Prints the slowest tests, what was skipped and what failed. Returns the exit code."""
    times = sorted(tally.times, reverse=True)
    LOGS.mkdir(parents=True, exist_ok=True)
    (LOGS / "times.txt").write_text(
        "".join(f"{seconds:8.2f} s  {where} {test}\n" for seconds, where, test in times)
    )
    slowest = times[:SLOWEST]
    if slowest:
        print("\nThe slowest tests (all of them: test-logs/times.txt in the target folder):")
    for seconds, where, test in slowest:
        why = reason(test) if seconds > SLOW_S else ""
        print(f"{seconds:7.1f} s  {where} {test}{f': {why}' if why else ''}")
        if why is None:
            print("           (say why above the test, in a comment that begins with `Slow:`)")
    for title, lines in [("Skipped", tally.skipped), ("Failed", tally.failed)]:
        if lines:
            print(f"\n{title}:")
        for line in dict.fromkeys(lines):
            print(f"  {line}")
    skipped = len(dict.fromkeys(tally.skipped))
    print(f"\n{tally.passed} passed, {len(tally.failed)} failed, {skipped} skipped", flush=True)
    return 1 if tally.failed or not tally.passed else 0


LANES = {"rust": rust, "python": python, "browser": browser}


def cargo(chosen: list[str]) -> None:
    """Does what needs Cargo, one after another: only one Cargo builds at a time."""
    try:
        build()
        if "python" in chosen and program.made:
            install()
    finally:
        # Nobody waits for what will not come.
        program.over.set()
        module.over.set()
    if "rust" in chosen:
        rust()


def main() -> int:
    """Runs the lanes that the command line chooses, or all."""
    chosen = sys.argv[1:] or list(LANES)
    unknown = [name for name in chosen if name not in [*LANES, "shared"]]
    if unknown or ("shared" in chosen and len(chosen) > 1):
        print(f"usage: tests/run.py [{' | '.join(LANES)}]... or tests/run.py shared", file=sys.stderr)
        return 2
    if chosen == ["shared"]:
        lanes = [lambda: rust("shared_files::")]
    else:
        lanes = [
            lambda: cargo(chosen),
            *(lane for name, lane in LANES.items() if name in chosen and name != "rust"),
        ]
    with ThreadPoolExecutor(len(lanes)) as pool:
        for lane in [pool.submit(it) for it in lanes]:
            try:
                lane.result()
            except Exception as error:  # a fault of one lane does not hide what the others found
                tally.failed.append(f"a lane ended with {error!r}")
    return close()


if __name__ == "__main__":
    sys.exit(main())
