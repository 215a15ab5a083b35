#!/usr/bin/env bash
# Reads damaged inputs of every kind: `scripts/million.sh [COUNT]`
#
# Makes COUNT (default 1000000) inputs of each kind by random edits: C programs, design files, boards, `.npy` files and
# texts of stages. sagen must accept each or refuse it with a reason. Runs at the lowest priority in one process a
# crate; case K is the same in every run. Ends with the numbers of accepted and refused inputs. Exits 1 at the first
# panic and prints the input.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v cargo >/dev/null || . "$HOME/.cargo/env"

count=${1:-1000000}
[[ $count =~ ^[0-9]+$ ]] || { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | head -n -1 >&2; exit 2; }
renice -n 19 $$ >/dev/null
export SAGEN_CASES=$count
cargo test --release --quiet --test suite mutation:: -- --nocapture
cargo test --release --quiet -p frontend --test suite mutate:: -- --nocapture
echo "million: $count inputs of each kind, none panicked"
