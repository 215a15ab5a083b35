#!/usr/bin/env bash
# Checks the unsafe code: `scripts/sanitize.sh [asan|miri]`, both by default.
#
#   asan   isl and its callers under AddressSanitizer: the tests of the front end
#   miri   tests of the simulator, which calls functions for vector instructions, under Miri
#
# Needs a nightly toolchain: `rustup toolchain install nightly --component miri,rust-src`. Some minutes each; run by hand.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
host=$(rustc -vV | sed -n 's/^host: //p')

asan() {
    # isl is compiled by the C compiler, so its accesses are checked, too.
    CFLAGS="-fsanitize=address -O1" CXXFLAGS="-fsanitize=address" RUSTFLAGS="-Zsanitizer=address" ASAN_OPTIONS=detect_leaks=0 \
        cargo +nightly test --quiet --target "$host" --target-dir target/asan -p frontend --tests
}

miri() {
    MIRIFLAGS="-Zmiri-disable-isolation" cargo +nightly miri test --target-dir target/miri -p rtl -- sim::a_
}

case ${1:-both} in
    asan) asan ;;
    miri) miri ;;
    both) asan && miri ;;
    *) sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '$d' >&2; exit 2 ;;
esac
