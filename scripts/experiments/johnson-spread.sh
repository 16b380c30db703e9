#!/usr/bin/env bash
# Writes crates/replay-published/src/johnson/spread.csv: deviations of the numbers of Johnson et al. over perturbed copies.
#
#   scripts/experiments/johnson-spread.sh [COPIES]        [default: 20]; about 20 minutes on two cores
#
# The archive has converted three logs of the paper again. `replay verify` judges the means, ties and improvements of these
# logs by the standard deviation over copies of --shake, pooled over schedulers and tie vectors.
set -euo pipefail
cd "$(dirname "$0")/../.."
replay=${REPLAY:-target/release/replay}
copies=${1:-20}
out=$(mktemp -d)
trap 'rm -rf "$out"' EXIT

sweep() { # trace, tie vectors
    local trace=$1 ties=()
    shift
    for vector in "$@"; do ties+=(--tie "$vector"); done
    local common=(-q --trace "$trace" --sched fcfs,easy --alloc mc1x1 --tie none --shake "$copies")
    "$replay" sweep "${common[@]}" --ties --out "$out/$trace-ties" > /dev/null
    "$replay" sweep "${common[@]}" "${ties[@]}" --out "$out/$trace" > /dev/null
}
sweep SDSC-Par95 10,1,3,2 7,13,1,0 7,10,1,0 2,13,20,6 3,13,20,6 4,13,20,6
sweep SDSC-Par96 4,29,5,0 4,52,9,0 4,23,4,0 2,13,20,6 3,13,20,6 4,13,20,6
sweep LANL-CM5 12,42,41,15 11,31,27,8 12,28,27,10 2,13,20,6 3,13,20,6 6,13,20,6 7,13,20,6
python3 scripts/experiments/johnson-spread.py "$out" > crates/replay-published/src/johnson/spread.csv
