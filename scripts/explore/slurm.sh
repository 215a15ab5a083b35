#!/usr/bin/env bash
#SBATCH --job-name=sagen-explore
#SBATCH --cpus-per-task=1
# A distributed search: `sbatch --array=1-8 slurm.sh kernel.c runs.jsonl [options of sagen explore]`.
#
# Every task searches the grids of its number and appends to one shared file. A killed task resumes when it is submitted
# again. HyperQueue runs the same file: `hq submit --array 1-8 ./slurm.sh kernel.c runs.jsonl`. GNU parallel does, too:
# `seq 8 | parallel SLURM_ARRAY_TASK_ID={} SLURM_ARRAY_TASK_COUNT=8 ./slurm.sh kernel.c runs.jsonl`.
set -euo pipefail
kernel=$1 out=$2
shift 2
part=${SLURM_ARRAY_TASK_ID:-${HQ_TASK_ID:-1}}
parts=${SLURM_ARRAY_TASK_COUNT:-${HQ_TASK_COUNT:-${PARTS:-1}}}
exec "${SAGEN:-sagen}" explore "$kernel" --shard "$part/$parts" --out "$out" --resume "$@"
