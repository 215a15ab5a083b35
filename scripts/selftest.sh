#!/usr/bin/env bash
# Tests the tools of this folder on hand-written Verilog: `scripts/selftest.sh`
#
# Each tool must pass correct designs and fail broken ones. Takes about 30 s. Exits 1 at the first failure.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
. scripts/env.sh
work=$(mktemp -d "${TMPDIR:-/tmp}/sagen-selftest.XXXXXX")
trap 'rm -rf "$work"' EXIT

say() { if [ -t 1 ]; then echo "selftest: $*"; fi; }
fail() { echo "selftest: FAILED: $*" >&2; cat "$work/output" >&2; exit 1; }
passes() { "$@" >"$work/output" 2>&1 || fail "should pass: $*"; }
# catches TEXT COMMAND...: the command must fail and print TEXT
catches() {
    local text=$1
    shift
    if "$@" >"$work/output" 2>&1; then fail "should fail: $*"; fi
    grep -qF -e "$text" "$work/output" || fail "should print '$text': $*"
}

# A copy of the PE with one line changed by sed.
variant() { # variant NAME SED
    mkdir -p "$work/$1"
    sed -e "$2" scripts/fixture/mac_pe.v >"$work/$1/mac_pe.v"
    ! cmp -s scripts/fixture/mac_pe.v "$work/$1/mac_pe.v" || { : >"$work/output"; fail "variant $1 changes nothing"; }
}

say "lint gate"
passes scripts/lint_verilog.sh scripts/fixture mac_pe
variant width 's/32.sd0/33'"'"'sd0/'
catches WIDTH scripts/lint_verilog.sh "$work/width" mac_pe
variant blocking 's/m_q <= product/m_q = product/'
catches BLKSEQ scripts/lint_verilog.sh "$work/blocking" mac_pe
variant undriven '/assign product/d'
catches product scripts/lint_verilog.sh "$work/undriven" mac_pe
variant loop 's/assign product = /assign product = product ^ /'
catches 'logic loop' scripts/lint_verilog.sh "$work/loop" mac_pe
variant systemverilog 's/reg first_1,/logic first_1,/'
catches "slang: exit 1" scripts/lint_verilog.sh "$work/systemverilog" mac_pe

say "resource counts"
packed='dsp == 1 and soft_mul == 0 and lut == 0 and ff == 36 and dsp_regs["M"] == dsp_regs["P"] == 1'
passes scripts/resources.sh scripts/fixture mac_pe --assert "$packed" --keep "$work/mac"
variant soft 's/use_dsp = "yes"/use_dsp = "no"/; s/assign product = a_q \* b_q/assign product = {32{a_q[0]}} \& {16'"'"'d0, b_q}/'
catches violates scripts/resources.sh "$work/soft" mac_pe --assert "$packed"
passes python3 scripts/levels.py "$work/mac/netlist.json" mac_pe --max 0
passes scripts/resources.sh "$work/soft" mac_pe --keep "$work/softnet"
catches levels python3 scripts/levels.py "$work/softnet/netlist.json" mac_pe --max 0

say "bus check"
bus() { python scripts/axi_check/run.py scripts/axi_check/fixture --define "FAULT=$1" "${@:2}"; }
passes bus 0
grep -q 'axi_check: lazy: [0-9]* cycles' "$work/output" || fail "all stall modes run"
catches 'AWVALID dropped before AWREADY' bus 1 --modes random
catches 'write data changed while stalled' bus 2 --modes random
catches 'WLAST before the last beat' bus 3 --modes ideal
catches 'burst crosses a 4 KiB boundary' bus 4 --modes ideal
catches 'memory around it was written' bus 5 --modes ideal
catches 'transaction open when completion was reported' bus 6 --modes bursty,bursty,bursty
catches '16 of 1001 bytes wrong, the first at' bus 7 --modes ideal
catches 'RVALID dropped before RREADY' bus 8 --modes random
catches 'control register after it was read' bus 9 --modes ideal
catches 'read outside it' bus 10 --modes ideal
catches 'not done after' bus 11 --modes lazy

echo "selftest: lint gate, resource counts, levels and bus check work"
