# The two commands a newcomer needs: `make demo` and `make test`.
CARGO ?= cargo
export RUST_BACKTRACE ?= 1

.PHONY: demo test browser python bless docs pictures wheel vendor bench budget pgo flame lint miri fuzz clean

demo: ## build Fowler and compare four schemes on a built-in workload
	$(CARGO) run --profile demo --no-default-features --bin fowler -- compare --device pes-mlc --workload demo \
		--schemes fifo,rps,pes_ips,pes_ipc

test: ## every test, in both build profiles where bytes must agree
	$(CARGO) build --release --quiet --bin fowler
	$(CARGO) test --workspace --quiet
	tests/browser/run
	python/tests/run

browser: ## reports of real runs, in a real browser (needs chromium, node and npm)
	$(CARGO) build --release --quiet --bin fowler
	tests/browser/run

python: ## the Python package, built and tested in an environment of its own (needs Python 3.11)
	python/tests/run

bless: ## every file that repeats a list or an output of the program, written anew: after adding a policy, a key, a preset
	FOWLER_BLESS=1 $(CARGO) test --quiet -p fowler-experiment --test config_errors
	INSTA_UPDATE=always INSTA_FORCE_PASS=1 $(CARGO) test --quiet -p fowler-cli --test command --test report
	FOWLER_DIGESTS=write $(CARGO) test --quiet -p fowler-device --test digests
	python3 python/generate_scheme_tables.py $(CARGO) run --quiet --bin fowler --
	. python/environment && "$$venv/bin/python" python/generate_config.py
	git diff --stat

docs: ## the documentation as pages, every code block in it executed: target/docs (needs Python 3.11)
	docs/build

pictures: ## docs/pictures, drawn again: after a change to docs/schematics, docs/hero.py or what a run says (needs Python 3.11)
	. python/environment && "$$venv/bin/python" docs/draw.py

wheel: ## the package as others install it: target/wheels
	target/venv/bin/maturin build --release

vendor: ## what reports carry, built anew from the packages named (needs npm)
	crates/experiment/vendor/build.sh

lint: ## formatting, clippy and documentation, warnings are errors
	$(CARGO) fmt --all -- --check
	# Cargo does not find the modules that a macro's list declares: policies, trace formats, papers. So every file, by name.
	find crates benches tests fuzz -name target -prune -o -name '*.rs' -print0 | xargs -0 rustfmt --check --edition 2024
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings
	$(CARGO) clippy -p fowler-cli --no-default-features --quiet -- -D warnings
	$(CARGO) clippy -p fowler-workload --no-default-features --lib --tests --quiet -- -D warnings
	RUSTDOCFLAGS="-D warnings" $(CARGO) doc --workspace --no-deps --document-private-items --quiet

miri: ## what is looked up without a check, under an interpreter that sees every access (10 minutes; needs `rustup component add miri --toolchain nightly`)
	MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) +nightly miri test --quiet -p fowler-units table::
	MIRIFLAGS=-Zmiri-disable-isolation $(CARGO) +nightly miri test --quiet -p fowler-device --test tables

bench: ## requests per second beside the floor
	$(CARGO) run --release --quiet -p fowler-bench

budget: ## instructions per request against benches/budget.toml (needs valgrind)
	$(CARGO) run --release --quiet -p fowler-bench -- --instructions

pgo: ## a `fowler` that knows which way its runs go: target/pgo/fowler (needs `rustup component add llvm-tools`)
	CARGO="$(CARGO)" benches/pgo.sh

FLAME ?= random_read_qd32
flame: ## a picture of where the time of one row of the budget goes (needs perf and `cargo install inferno`)
	$(CARGO) build --release --quiet -p fowler-bench
	perf record --quiet --event cpu-clock --freq 2000 --call-graph dwarf,16384 --output target/flame.data \
		target/release/fowler-bench --perform $(FLAME)
	perf script --input target/flame.data | inferno-collapse-perf | inferno-flamegraph > target/flame-$(FLAME).svg

FUZZ_SECONDS ?= 600
fuzz: ## coverage-guided fuzzing of every reader and the configuration (needs nightly and cargo-fuzz)
	cd fuzz && for target in $$($(CARGO) +nightly fuzz list); do \
		$(CARGO) +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; done

clean:
	$(CARGO) clean
