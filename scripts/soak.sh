#!/usr/bin/env bash
# Searches for errors with random inputs: `scripts/soak.sh HOURS [DIR]`, or `scripts/soak.sh 10000cases [DIR]`
#
# A number of cases runs as many random programs. Hours (also fractions) run random programs on random arrays for three
# quarters of the time, compared as in the tests, then libFuzzer on every target in */fuzz/fuzz_targets. Runs at the
# lowest priority and ends with a summary. Exits 1 if it finds an error. DIR (default out/soak) receives a log of each
# part, the failing programs (reduced, with their options; add them to tests/run after the fix) and the fuzzer's inputs.
# SAGEN_SEED is the first case (default: the time in seconds, so every run differs), SAGEN_JOBS the number of parallel
# jobs.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v cargo >/dev/null || . "$HOME/.cargo/env"

hours=${1:-}
cases=
if [[ $hours =~ ^([0-9]+)cases$ ]]; then cases=${BASH_REMATCH[1]} hours=1000; fi
[[ $hours =~ ^([0-9]+\.?[0-9]*|\.[0-9]+)$ ]] || { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | head -n -1 >&2; exit 2; }
mkdir -p "${2:-out/soak}"
dir=$(cd "${2:-out/soak}" && pwd)
root=$PWD
seconds=$(awk -v h="$hours" 'BEGIN { printf "%d", h * 3600 }')
mapfile -t targets < <([ -n "$cases" ] || find . -name target -prune -o -path '*/fuzz/fuzz_targets/*.rs' -print | sort)
random=$((seconds * 3 / 4))
[ -z "$cases" ] || export SAGEN_CASES=$cases
export SAGEN_MODELS=   # no cache: random designs do not repeat
each=$(((seconds - random) / (${#targets[@]} > 0 ? ${#targets[@]} : 1)))
renice -n 19 $$ >/dev/null

found=0
summary=()
report() { # report NAME STATUS LINE
    summary+=("$1: $3")
    [ "$2" = 0 ] || found=1
}
finish() {
    echo "soak: summary"
    printf '  %s\n' "${summary[@]}"
    grep -s '^FOUND' "$dir/random.log" | sed 's/^/  /' || true
    echo "  logs and findings: $dir"
    exit $found
}
trap 'summary+=("stopped early"); finish' INT TERM

cargo test --release --test suite --no-run --quiet
status=0
SAGEN_SEED=${SAGEN_SEED:-$(date +%s)} SAGEN_SECONDS=$random SAGEN_FOUND=$dir/found \
    cargo test --release --quiet --test suite -- --ignored --nocapture --exact random::soak::soak >"$dir/random.log" 2>&1 || status=$?
line=$(grep '^soak:' "$dir/random.log" | tail -n 1) || line="did not end: see random.log"
report "random programs" $status "${line#soak: }"
status=0
cargo test --release --quiet --test suite -- --ignored --exact lu::every_size >"$dir/lu.log" 2>&1 || status=$?
report "LU at every size" $status "$([ $status = 0 ] && echo passed || echo 'failed: see lu.log')"

# Initial inputs of a target, besides those of earlier runs.
seeds() {
    case $1 in
        parse) echo "$root/frontend/c/tests/ok" "$root/tests/run" ;;
        *) [ ! -d "../seeds/$1" ] || echo "../seeds/$1" ;;
    esac
}
for target in "${targets[@]}"; do
    name=$(basename "$target" .rs)
    crate=$(dirname "$(dirname "$target")")
    mkdir -p "$dir/corpus/$name" "$dir/crashes"
    status=0
    (cd "$crate/fuzz_targets" && cargo run --release --quiet --bin "$name" -- "$dir/corpus/$name" $(seeds "$name") \
        -timeout=60 -max_total_time="$each" -artifact_prefix="$dir/crashes/$name-") >"$dir/fuzz-$name.log" 2>&1 || status=$?
    line=$(grep -aE '^Done|^#.*DONE|SUMMARY' "$dir/fuzz-$name.log" | tail -n 1) || line="did not run: see fuzz-$name.log"
    report "fuzzing $name" $status "${line:-did not run: see fuzz-$name.log}"
done
trap - INT TERM
finish
