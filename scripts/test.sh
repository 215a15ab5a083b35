#!/usr/bin/env bash
# The test command: set-up, all tests of the workspace, then the gates on what sagen emits. Used by .ci/run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v cargo >/dev/null || . "$HOME/.cargo/env"

scripts/setup.sh --test
. scripts/env.sh

export SAGEN_CARGO="--config scripts/ci.toml"
# shellcheck disable=SC2086
cargo $SAGEN_CARGO test --release --workspace
# The tools' own tests use one core at a time, the gates the rest.
scripts/selftest.sh &
selftest=$!
gates=0
scripts/gates.sh || gates=$?
wait $selftest
exit $gates
