#!/usr/bin/env bash
# The test command: set-up, all tests of the workspace, checks of emitted designs. Used by .ci/run.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
command -v cargo >/dev/null || . "$HOME/.cargo/env"

scripts/setup.sh --test
. scripts/env.sh

export SAGEN_CARGO="--config scripts/ci.toml"
cargo fmt --all --check
python3 scripts/supply.py
python3 scripts/promises.py
# shellcheck disable=SC2086
cargo $SAGEN_CARGO test --release --workspace
# The same profile: what the tests have built is not built again.
# shellcheck disable=SC2086
cargo $SAGEN_CARGO clippy --release --workspace --all-targets --quiet -- --deny warnings
# The self-test uses one core, the gates use the others.
scripts/selftest.sh &
selftest=$!
gates=0
scripts/gates.sh || gates=$?
wait $selftest
exit $gates
