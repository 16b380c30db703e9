#!/usr/bin/env bash
# Runs the commands of tests/golden/commands.txt and compares the hashes of their columns with tests/golden/hashes.txt.
#
# Usage: scripts/golden.sh [--write] [--keep DIR] [--program FILE]
#
#   --write     write the hashes of this build instead of comparing; those of absent traces stay
#   --keep DIR  keep the hashed texts in DIR, to compare two builds with diff
#   --program FILE  check the program of another build
#
# Exit codes: 0 equal or written, 1 different (cargo's is 101), 2 usage.
set -euo pipefail
cd "$(dirname "$0")/.."
usage() { sed -n '2,10s/^# \{0,1\}//p' "$0" >&2; exit 2; }
while [ $# -gt 0 ]; do
    case $1 in
        --write) export REPLAY_GOLDEN_WRITE=$PWD/tests/golden/hashes.txt ;;
        --keep) [ $# -gt 1 ] || usage; REPLAY_GOLDEN_KEEP=$(realpath "$2"); export REPLAY_GOLDEN_KEEP; shift ;;
        --program) [ $# -gt 1 ] || usage; REPLAY_GOLDEN_PROGRAM=$(realpath "$2"); export REPLAY_GOLDEN_PROGRAM; shift ;;
        *) usage ;;
    esac
    shift
done
cargo test --release --test golden || exit 1
