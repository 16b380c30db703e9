#!/usr/bin/env bash
# Runs a sweep as a HyperQueue task array with one shard per task, waits for the tasks, and merges the shards.
#
# Usage: scripts/hyperqueue.sh SHARDS GRID.toml DIR [OPTION...]
#
# Needs a running HyperQueue server whose workers have access to this directory (hq server start, hq worker start or hq
# alloc add). Options after DIR are passed to `replay sweep`. If a task was lost, run the same command again to resume
# the sweep. $REPLAY is the program (default: `replay` on the path), $CPUS the number of processors per task (default
# 1).
set -euo pipefail

if [ $# -lt 3 ] || ! [[ $1 =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: $0 SHARDS GRID.toml DIR [OPTION...]" >&2
    exit 2
fi
command -v hq > /dev/null || { echo "hyperqueue: no program hq on the path" >&2; exit 77; }
shards=$1 grid=$2 dir=$3
shift 3
# Tasks run with the PATH of the workers.
replay=$(realpath "$(command -v "${REPLAY:-replay}")")
cpus=${CPUS:-1}
# `merge` reports failed tasks with their shard.
hq submit --wait --name replay --array "1-$shards" --cpus "$cpus" -- bash -c '
    replay=$1 shards=$2 grid=$3 dir=$4 cpus=$5
    shift 5
    exec "$replay" sweep "$grid" --quiet --shard "$HQ_TASK_ID/$shards" --threads "$cpus" \
        --out "$dir/shard-$HQ_TASK_ID" "$@"
' replay-shard "$replay" "$shards" "$grid" "$dir" "$cpus" "$@" || true
folders=()
for ((shard = 1; shard <= shards; shard++)); do
    folders+=("$dir/shard-$shard")
done
"$replay" merge "${folders[@]}" --out "$dir"
