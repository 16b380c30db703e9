#!/usr/bin/env bash
# Runs a sweep as a HyperQueue task array, one shard per task, waits, and merges.
#
# Usage: scripts/hyperqueue.sh SHARDS GRID.toml DIR [OPTION...]
#
# Needs a running HyperQueue server with workers that see this folder (hq server start, hq
# worker start or hq alloc add). Options after the folder are those of `replay sweep`. A
# task that was lost goes on where it stopped: run the same command again. $REPLAY names the
# program if `replay` on the path is not the one, $CPUS the processors per task (default 1).
set -euo pipefail

if [ $# -lt 3 ] || ! [[ $1 =~ ^[1-9][0-9]*$ ]]; then
    echo "usage: $0 SHARDS GRID.toml DIR [OPTION...]" >&2
    exit 2
fi
command -v hq > /dev/null || { echo "hyperqueue: no program hq on the path" >&2; exit 77; }
shards=$1 grid=$2 dir=$3
shift 3
# Tasks have the workers' path, not ours.
replay=$(realpath "$(command -v "${REPLAY:-replay}")")
cpus=${CPUS:-1}
# A task that fails is told of by merge, with its shard.
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
