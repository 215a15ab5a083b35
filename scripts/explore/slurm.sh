#!/usr/bin/env bash
#SBATCH --job-name=sagen-explore
#SBATCH --cpus-per-task=1
# A search in parts: `sbatch --array=1-8 slurm.sh kernel.c runs.jsonl [options of sagen explore]`.
#
# Every task takes the grids of its number and appends to the file that all share; one that was killed goes on where it was
# when submitted again. HyperQueue runs the same file: `hq submit --array 1-8 ./slurm.sh kernel.c runs.jsonl`, and without
# either `seq 8 | parallel SLURM_ARRAY_TASK_ID={} SLURM_ARRAY_TASK_COUNT=8 ./slurm.sh kernel.c runs.jsonl` does.
set -euo pipefail
kernel=$1 out=$2
shift 2
part=${SLURM_ARRAY_TASK_ID:-${HQ_TASK_ID:-1}}
parts=${SLURM_ARRAY_TASK_COUNT:-${HQ_TASK_COUNT:-${PARTS:-1}}}
exec "${SAGEN:-sagen}" explore "$kernel" --shard "$part/$parts" --out "$out" --resume "$@"
