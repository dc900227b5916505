# Newcomers need two targets: `make demo` and `make test`.
CARGO ?= cargo
export RUST_BACKTRACE ?= 1

# There are two selections of packages and features: every package with its default features, and the smallest program, which the
# demo is. A third would compile what one of these has compiled (tests/tests/all/selections.rs).
BUILD = $(CARGO) build --workspace

.PHONY: demo test test-long browser python bless docs pictures schemas wheel wheels sdist lock deny vendor bench budget budget-release pgo flame lint \
	miri asan fuzz soak clean

demo: ## build Fowler and compare four schemes on a built-in workload
	$(CARGO) run -p fowler-cli --no-default-features -- compare --device pes-mlc --workload demo \
		--schemes fifo,rps,pes_ips,pes_ipc

test: ## run every test, with checks and without where results must agree byte for byte
	python3 tests/run.py

test-long: ## run the random tests of the drive over twenty times as many seeds, and a million faults of each kind of drive
	FOWLER_SWARM_TIMES=20 FOWLER_SWARM_FAULTS=1000000 $(CARGO) test --release -p fowler-device --test all -- \
		swarm:: faults:: power:: tables:: dead_dies:: bad_blocks::

browser: ## test the reports of real runs in a browser (needs chromium, node and npm)
	$(BUILD)
	FOWLER="$${CARGO_TARGET_DIR:-target}/debug/fowler" tests/browser/run

python: ## build and test the Python package in an environment of its own (needs Python 3.11)
	python/tests/run

bless: ## update every file that repeats a list or an output of the program, after adding a policy, a key or a preset
	FOWLER_BLESS=1 $(CARGO) test --quiet -p fowler-experiment --test all config_errors::
	FOWLER_DOCS=write $(CARGO) test --quiet -p fowler-experiment --test all schemes_on_drives::the_doc
	INSTA_UPDATE=always INSTA_FORCE_PASS=1 $(CARGO) test --quiet -p fowler-cli --test all -- command:: report::
	FOWLER_DIGESTS=write $(CARGO) test --quiet -p fowler-device --test all digests::
	python3 python/generate_scheme_tables.py $(CARGO) run --quiet --bin fowler --
	git diff --stat

docs: ## build the documentation and execute its code cells: target/docs (needs Python 3.11)
	docs/build

pictures: ## draw docs/pictures again: after a change to docs/schematics, docs/hero.py or the results of the demo (needs Python 3.11)
	. python/environment && "$$venv/bin/python" docs/draw.py

wheel: ## build the Python package for release: target/wheels
	target/venv/bin/pip wheel --quiet --no-deps --wheel-dir target/wheels --config-settings build-args=--release .

wheels: ## build wheels for every platform that this one can, in a container on Linux (needs `pip install cibuildwheel`)
	python3 -m cibuildwheel --output-dir target/wheels

sdist: ## pack the sources from which pip builds the package (needs `pip install maturin`)
	maturin sdist --out target/wheels

schemas: ## write JSON Schemas into target/schemas: editors complete and check the presets with them (.taplo.toml)
	mkdir -p target/schemas
	$(CARGO) build --quiet --bin fowler
	fowler="$${CARGO_TARGET_DIR:-target}/debug/fowler"; for name in $$("$$fowler" schema | cut -d ' ' -f 1); do \
		"$$fowler" schema $$name > target/schemas/$$name.schema.json || exit 1; done

lock: ## lock the Python packages of the tests again: after a change to their list in pyproject.toml (needs uv)
	uv pip compile --quiet --group pyproject.toml:test --universal --python-version 3.11 --no-annotate --no-header \
		--upgrade --output-file python/requirements.txt

deny: ## check licenses, sources and known faults of dependencies (needs `cargo install --locked cargo-deny`)
	$(CARGO) deny --locked check

vendor: ## rebuild the libraries that reports embed (needs npm)
	crates/report/vendor/build.sh

lint: ## check formatting, clippy and documentation; warnings are errors
	# `cargo fmt` finds neither modules that macros declare (policies, trace formats, papers) nor `fuzz`. It lists the files that it
	# formats; the others are those that occur once here.
	@found=$$($(CARGO) fmt --all -- --check --verbose) || { printf '%s\n' "$$found" | grep -v '^Using \|^Formatting \|^Spent '; exit 1; }; \
	found=$$(echo "$$found" | sed -n 's|^Formatting $(CURDIR)/||p'); \
	{ echo "$$found"; echo "$$found"; find crates benches tests fuzz -name target -prune -o -name '*.rs' -print; } | \
		sort | uniq -u | xargs rustfmt --check --edition 2024
	$(CARGO) clippy --profile test --workspace --all-targets --quiet -- -D warnings
	$(CARGO) clippy --profile test -p fowler-cli -p fowler-experiment -p fowler-workload --no-default-features --all-targets --quiet -- -D warnings
	$(CARGO) clippy --profile test -p fowler-report -p fowler-lifetime -p fowler-standards -p fowler-drives --no-default-features --all-targets \
		--quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --profile test --workspace --no-deps --document-private-items --quiet

miri: ## run the lookups without bounds checks under Miri (10 minutes; needs `rustup component add miri --toolchain nightly`)
	MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) +nightly miri test --quiet -p fowler-units table::
	MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) +nightly miri test --quiet -p fowler-device --test all tables::

HOST = $(shell rustc +nightly -vV | sed -n 's/^host: //p')
asan: ## run the unsafe code of columns and lookups under AddressSanitizer (needs nightly)
	RUSTFLAGS=-Zsanitizer=address $(CARGO) +nightly test --quiet --target $(HOST) -p fowler-units --lib
	RUSTFLAGS=-Zsanitizer=address $(CARGO) +nightly test --quiet --target $(HOST) -p fowler-device --test all tables::

bench: ## measure requests per second, beside the floor
	$(CARGO) run --release --quiet -p fowler-bench

budget: ## compare instructions per request with benches/budget.toml (needs valgrind)
	$(CARGO) run --quiet -p fowler-bench -- --instructions

budget-release: ## the same of a release build, for which the dependencies are built again
	$(CARGO) run --release --quiet -p fowler-bench -- --instructions

pgo: ## build `fowler` with profile-guided optimization: target/pgo/fowler (needs `rustup component add llvm-tools`)
	CARGO="$(CARGO)" benches/pgo.sh

FLAME ?= random_read_qd32
flame: ## draw a flame graph of one row of the budget (needs perf and `cargo install inferno`)
	$(CARGO) build --release --quiet -p fowler-bench
	perf record --quiet --event cpu-clock --freq 2000 --call-graph dwarf,16384 --output target/flame.data \
		target/release/fowler-bench --perform $(FLAME)
	perf script --input target/flame.data | inferno-collapse-perf | inferno-flamegraph > target/flame-$(FLAME).svg

FUZZ_SECONDS ?= 360
fuzz: ## fuzz every decoder, each for FUZZ_SECONDS, under AddressSanitizer (needs nightly and `cargo install --locked cargo-fuzz`)
	fuzz/run $(FUZZ_SECONDS)

MINUTES ?= 10
soak: ## faults, kills, full disks and damaged files at random for MINUTES; `make soak SEED=n` repeats one bout
	$(CARGO) run --quiet -p fowler-soak -- $(if $(SEED),--seed $(SEED),--minutes $(MINUTES))

clean:
	$(CARGO) clean
