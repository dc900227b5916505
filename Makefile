# The two commands a newcomer needs: `make demo` and `make test`.
CARGO ?= cargo
export RUST_BACKTRACE ?= 1

.PHONY: demo test bench budget lint fuzz clean

demo: ## build Fowler and compare four schemes on a built-in workload
	$(CARGO) run --release --quiet --bin fowler -- compare --device pes-mlc --workload demo \
		--schemes fifo,rps,pes_ips,pes_ipc

test: ## every test, in both build profiles where bytes must agree
	$(CARGO) build --release --quiet --bin fowler
	$(CARGO) test --workspace --quiet

lint: ## formatting and clippy, warnings are errors
	$(CARGO) fmt --all -- --check
	$(CARGO) clippy --workspace --all-targets --quiet -- -D warnings

bench: ## requests per second beside the floor
	$(CARGO) run --release --quiet -p fowler-bench

budget: ## instructions per request against benches/budget.toml (needs valgrind)
	$(CARGO) run --release --quiet -p fowler-bench -- --instructions

FUZZ_SECONDS ?= 600
fuzz: ## coverage-guided fuzzing of every reader and the configuration (needs nightly and cargo-fuzz)
	cd fuzz && for target in $$($(CARGO) +nightly fuzz list); do \
		$(CARGO) +nightly fuzz run $$target -- -max_total_time=$(FUZZ_SECONDS) || exit 1; done

clean:
	$(CARGO) clean
