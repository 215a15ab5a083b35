#!/usr/bin/env bash
# Lints emitted Verilog: `scripts/lint_verilog.sh [-q] DIR TOP`
#
# Reads DIR/rtl/*.v if that folder exists, else DIR/*.v, and runs with top module TOP:
#   verilator --lint-only -Wall      widths, unused and undriven signals, loops, one module a file
#   slang --std 1364-2005            the strict language check (eda/slang_lint.py lists disabled warnings with reasons)
#   iverilog -g2005 -Wall            a second elaborator
#   yosys check -assert              drivers and combinational loops across modules, after flattening
# A waiver is a comment in the source (/* verilator lint_off ... */) with its reason. Exits 1 if a tool prints anything,
# 2 on wrong usage. -q prints nothing on success.
set -euo pipefail
. "$(dirname "${BASH_SOURCE[0]}")/env.sh"
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

quiet=
if [ "${1:-}" = -q ]; then quiet=yes; shift; fi
if [ $# -ne 2 ]; then sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '$d' >&2; exit 2; fi
dir=$1 top=$2
[ -d "$dir/rtl" ] && dir=$dir/rtl
shopt -s nullglob
files=("$dir"/*.v)
[ ${#files[@]} -gt 0 ] || { echo "lint_verilog.sh: no .v files in $dir" >&2; exit 2; }

failed=0
# A tool passes when it exits 0 and prints nothing.
check() { # check NAME COMMAND...
    local name=$1 output status=0
    shift
    output=$("$@" 2>&1) || status=$?
    if [ $status -ne 0 ] || [ -n "$output" ]; then
        echo "lint: $name: exit $status"
        if [ -n "$output" ]; then printf '%s\n' "$output" | sed 's/^/    /' | head -n 200; fi
        failed=1
    fi
}

run_verilator() { verilator --lint-only --quiet -Wall --top-module "$top" "${files[@]}"; }
run_yosys() {
    local read=
    for f in "${files[@]}"; do read+=" $f"; done
    yosys -q -e '.' -p "read_verilog$read; hierarchy -check -top $top; proc; flatten; opt_clean; check -assert"
}

check verilator run_verilator
check slang python "$here/eda/slang_lint.py" "$top" "${files[@]}"
check iverilog iverilog -g2005 -Wall -tnull -s "$top" "${files[@]}"
check yosys run_yosys

[ $failed = 0 ] || exit 1
[ -n "$quiet" ] || echo "lint: $top: ${#files[@]} files clean (verilator, slang, iverilog, yosys)"
