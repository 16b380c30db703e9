#!/usr/bin/env bash
# Says what a fresh build costs, in CPU seconds: of this commit, or of others to compare with.
#
#   scripts/build-time.sh [REVISION...]
#
# Each revision is cloned into a temporary folder and built there from nothing, once; crates are
# fetched before the clock starts. A machine with nothing else to do gives the best figures.
set -euo pipefail
cd "$(dirname "$0")/.."
repository=$PWD
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
[ $# -gt 0 ] || set -- HEAD

echo "| commit | cargo run --release, CPU s | wall s | then cargo test --release --no-run, CPU s | wall s |"
echo "|---|---:|---:|---:|---:|"
for revision; do
    commit=$(git rev-parse --short=12 "$revision")
    git clone --quiet "$repository" "$work/$commit"
    (
        cd "$work/$commit"
        git checkout --quiet "$commit"
        unset CARGO_TARGET_DIR
        cargo fetch --quiet
        TIMEFORMAT='%U %S %R'
        program=$({ time cargo build --release --quiet > "$work/log" 2>&1; } 2>&1)
        tests=$({ time cargo test --release --no-run --quiet > "$work/log" 2>&1; } 2>&1)
        echo "$program $tests" |
            awk -v c="$commit" '{ printf "| %s | %.0f | %.0f | %.0f | %.0f |\n", c, $1 + $2, $3, $4 + $5, $6 }'
    )
    rm -rf "${work:?}/$commit"
done
