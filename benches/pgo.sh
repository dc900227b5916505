#!/usr/bin/env bash
# Builds `fowler` with profile-guided optimization: once with counters, and once with the profile of some runs.
# The result is target/pgo/fowler. Its output is the same as that of any other build.
set -euo pipefail
cd "$(dirname "$0")/.."
cargo=${CARGO:-cargo}
profdata=$(find "$(rustc --print sysroot)" -name llvm-profdata -type f | head -n 1)
if [ -z "$profdata" ]; then
	echo "error: llvm-profdata of this Rust toolchain is missing" >&2
	echo "  hint: rustup component add llvm-tools" >&2
	exit 2
fi
folder=$PWD/target/pgo
rm -rf "$folder/profiles"
echo "building with counters ..." >&2
RUSTFLAGS="-Cprofile-generate=$folder/profiles" "$cargo" build --release --quiet --bin fowler \
	--target-dir "$folder/counting"
echo "running the workloads to profile ..." >&2
counting=$folder/counting/release/fowler
steady=(--set precondition.pattern=steady --set geometry.blocks_per_plane=256)
"$counting" compare --device pes-mlc --workload demo --schemes fifo,rps,pes_ips,pes_ipc >/dev/null
for workload in random-read random-write mixed-70-30; do
	"$counting" run --device tlc --workload "$workload" "${steady[@]}" --queue-depth 32 >/dev/null
	"$counting" run --device pes-mlc --workload "$workload" "${steady[@]}" --scheme pes_ipc >/dev/null
done
"$profdata" merge --output "$folder/fowler.profdata" "$folder/profiles"
echo "building with the profile ..." >&2
RUSTFLAGS="-Cprofile-use=$folder/fowler.profdata" "$cargo" build --release --quiet --bin fowler \
	--target-dir "$folder/final"
cp "$folder/final/release/fowler" "$folder/fowler"
echo "target/pgo/fowler is ready"
