#!/usr/bin/env bash
# Runs every reader of the program on mutated files and writes a table of the results.
#
# Usage: scripts/mutants.sh [CASES [SEED]]     (default: 10000 cases for each reader, seed 1)
#
# The table is written to results/benchmarks/mutants.md. The readers of folders start the program for each case: a
# campaign of 10000 cases takes several minutes. tests/mutants.rs describes the mutations and how to repeat a case.
#
# Exit codes: 0 nothing found, 1 something found (cargo's is 101), 2 usage.
set -euo pipefail
cd "$(dirname "$0")/.."
for number in "$@"; do
    [[ $number =~ ^[0-9]+$ ]] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
done
[ $# -le 2 ] || { sed -n '2,9s/^# \{0,1\}//p' "$0" >&2; exit 2; }
status=0
REPLAY_MUTANTS=${1:-10000} REPLAY_MUTANTS_SEED=${2:-1} REPLAY_MUTANTS_REPORT=$PWD/results/benchmarks/mutants.md \
    cargo test --release --test mutants || status=1
cat results/benchmarks/mutants.md
exit $status
