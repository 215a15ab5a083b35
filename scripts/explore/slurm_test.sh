#!/usr/bin/env bash
# Tests the distributed search under Slurm on this machine: `slurm_test.sh [SAGEN] [KERNEL [options of sagen explore]]`.
#
# Starts its own munged, slurmctld and slurmd with a configuration in a new folder (Debian: apt-get install slurmctld
# slurmd slurm-client munge; slurmd needs root). Runs slurm.sh as a job array, kills one task, submits the array again,
# and compares the optimum (cycles, bound, and the built design) with that of one process. Stops the daemons at the end.
set -euo pipefail
root=$(cd "$(dirname "$0")/../.." && pwd)
sagen=$(realpath "${1:-$root/target/release/sagen}")
kernel=$(realpath "${2:-$root/examples/cnn.c}")
options=("${@:3}")
[ ${#options[@]} -gt 0 ] || options=(--board u250 --limit dsp=64 --gap 0%)
parts=4
for program in munged slurmctld slurmd sbatch squeue scancel; do
  command -v $program > /dev/null || PATH=$PATH:/usr/sbin command -v $program > /dev/null || { echo "no $program: apt-get install slurmctld slurmd slurm-client munge"; exit 1; }
done
PATH=$PATH:/usr/sbin
[ "$(id -u)" = 0 ] || { echo "slurmd runs as root only"; exit 1; }

work=$(mktemp -d)
chmod 755 "$work"
daemons=()
finish() {
  for pid in "${daemons[@]}"; do kill "$pid" 2> /dev/null || true; done
  for pid in "${daemons[@]}"; do wait "$pid" 2> /dev/null || true; done
  rm -rf "$work"
}
trap finish EXIT
fail() { echo "$1"; tail -n 20 "$work"/*.log 2> /dev/null || true; exit 1; }

dd if=/dev/urandom of="$work/munge.key" bs=1024 count=1 status=none
chmod 400 "$work/munge.key"
munged --foreground --force --key-file="$work/munge.key" --socket="$work/munge.socket" --pid-file="$work/munge.pid" --seed-file="$work/munge.seed" --log-file="$work/munged.log" > "$work/munged.out" 2>&1 &
daemons+=($!)
for _ in $(seq 50); do [ -S "$work/munge.socket" ] && break; sleep 0.1; done

host=$(hostname -s)
mkdir "$work/state" "$work/spool"
cat > "$work/slurm.conf" << END
ClusterName=parts
SlurmctldHost=$host(127.0.0.1)
SlurmUser=root
AuthType=auth/munge
AuthInfo=socket=$work/munge.socket
CredType=cred/munge
SlurmctldPort=26817
SlurmdPort=26818
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
ProctrackType=proctrack/pgid
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
ReturnToService=2
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
NodeName=$host NodeAddr=127.0.0.1 CPUs=$(nproc) State=UNKNOWN
PartitionName=all Nodes=$host Default=YES MaxTime=INFINITE State=UP
END
export SLURM_CONF=$work/slurm.conf
slurmctld -D -f "$SLURM_CONF" > "$work/slurmctld.log" 2>&1 &
daemons+=($!)
slurmd -D -f "$SLURM_CONF" > "$work/slurmd.log" 2>&1 &
daemons+=($!)
for _ in $(seq 100); do [ "$(sinfo -h -o %t 2> /dev/null)" = idle ] && break; sleep 0.2; done
[ "$(sinfo -h -o %t)" = idle ] || fail "no node came up"

runs=$work/runs.jsonl
submit() { SAGEN=$sagen sbatch --parsable --array=1-$parts --output="$work/task-%A_%a.log" --chdir="$work" "$root/scripts/explore/slurm.sh" "$kernel" "$runs" "${options[@]}"; }
idle() { [ -z "$(squeue -h -j "$1" 2> /dev/null)" ]; }
grids() { grep -c '"grid"' "$runs" 2> /dev/null || true; }

job=$(submit)
# Kills a task that has written lines and is not done. Another one is still queued.
for _ in $(seq 600); do [ "$(grids)" -ge 2 ] 2> /dev/null && break; sleep 0.05; done
scancel --signal=KILL --full "${job}_1" || fail "task 1 does not run any more"
echo "killed task 1 of $parts after $(grids) grids"
for _ in $(seq 1200); do idle "$job" && break; sleep 0.5; done
idle "$job" || fail "the array of jobs did not end"
if grep -q '"done":1[,}]' "$runs"; then fail "task 1 was done before it was killed: take a larger problem"; fi
before=$(grids)
echo "the others ended: $before grids, $(grep -c '"done"' "$runs") of $parts done"

job=$(submit)
for _ in $(seq 1200); do idle "$job" && break; sleep 0.5; done
idle "$job" || fail "the second array of jobs did not end"
echo "resumed: $(grids) grids"

"$sagen" explore "$kernel" "${options[@]}" --json > "$work/whole.json" 2> "$work/whole.log" || fail "one process failed"
python3 - "$runs" "$work/whole.json" $parts "$work/best.toml" << 'END' || fail "the parts do not agree with one process"
import json, sys
runs, whole, parts, out = sys.argv[1], json.load(open(sys.argv[2])), int(sys.argv[3]), sys.argv[4]
lines = []
for line in open(runs):
    try:
        lines.append(json.loads(line))
    except ValueError:
        pass  # blank, or cut short when its task was killed
done = {l["done"] for l in lines if "done" in l}
named = [l["grid"] for l in lines if "grid" in l]
best = min((l for l in lines if "cycles" in l), key=lambda l: l["cycles"])
bound = min([best["cycles"], *[l["bound"] for l in lines if l.get("bound") is not None]])
open(out, "w").write(best["design"])
print(f"parts: {best['cycles']} cycles, bound {bound}; one process: {whole['best']['cycles']} cycles, bound {whole['bound']}; {len(named)} grids, {len(named) - len(set(named))} of them twice")
assert done == set(range(1, parts + 1)), done
assert (best["cycles"], bound) == (whole["best"]["cycles"], whole["bound"])
END
built=$("$sagen" rtl "$kernel" --board u250 --design "$work/best.toml" --json -o "$work/ip" | python3 -c 'import json, sys; print(json.load(sys.stdin)["predicted_cycles"])')
echo "the parts' design, built by hand: $built cycles"
python3 - "$work/whole.json" "$built" << 'END' || fail "the design takes other cycles"
import json, sys
assert json.load(open(sys.argv[1]))["best"]["cycles"] == int(sys.argv[2])
END
