#!/usr/bin/env bash
# The designs of docs/transforms.md: simulates them (built in; Icarus with DDR timing), prints cycles, draws pictures.
set -euo pipefail
cd "$(dirname "$0")/.."
sagen=${SAGEN:-target/release/sagen}
pictures=docs/transforms
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
mkdir -p "$pictures"

# design NAME FILE OPTIONS…
design() {
    local name=$1 file=$2
    shift 2
    "$sagen" sim "$file" "$@" --json > "$scratch/report.json"
    "$sagen" sim "$file" "$@" --memory ddr --engine icarus > /dev/null
    python3 - "$name" "$scratch/report.json" <<'PY'
import json, sys
r = json.load(open(sys.argv[2]))
assert r["match"] and r["cycles"] == r["predicted_cycles"], r
print(f"{sys.argv[1]:8} {r['array'][0]}×{r['array'][1]} PEs {r['steps']:4} steps {r['cycles']:5} cycles")
PY
    picture "$name" "$file" "$@"
}

# picture NAME FILE OPTIONS…
picture() {
    local name=$1 file=$2
    shift 2
    rm -rf "$scratch/rows"
    "$sagen" map "$file" "$@" --svg "$scratch/rows" > /dev/null
    cp "$scratch"/rows/*.time.svg "$pictures/$name.svg"
}

files=examples/transforms
design sbm "$files/x_meets_z.c" --space c+q --time q
design bsm "$files/w_meets_z.c" --space q --time c+q
design fsm "$files/against_z.c" --space q --time c-q
design bfs "$files/w_meets_z.c" --space c --time c+q
design ffs "$files/all_move.c" --space c --time '2*c+q'
design fbs "$files/x_meets_z.c" --space c --time q
design fbs2 "$files/stride.c" --space c --time q
design sbm5x5 "$files/image.c" --space c+q --time r,q,p
design fbs5x5 "$files/image.c" --space c --time r,q,p
design sbm2x2 "$files/image.c" -D P=2 -D Q=2 --space c+q --time r,q,p
design fbs2x2 "$files/image.c" -D P=2 -D Q=2 --space c --time r,q,p
for row in 0 2 3 4 7 9; do
    picture "mm$row" examples/mm.c -D N=4 --row "$row"
done
