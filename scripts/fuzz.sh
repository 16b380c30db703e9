#!/usr/bin/env bash
# Fuzzes the parsers and the code that uses their results, target by target on one core. Prints a row of a Markdown
# table for each target: runs, seconds, findings.
#
# Usage: scripts/fuzz.sh [MINUTES] [TARGET...]     (default: 10 minutes, all targets)
#
# Needs a nightly compiler and cargo-fuzz (cargo install cargo-fuzz). Findings are stored in fuzz/artifacts/TARGET;
# fuzz/README.md explains how to reproduce them. The corpus is kept in fuzz/corpus/TARGET and extended by each campaign.
#
# Exit codes: 0 nothing found, 1 something found, 2 usage, 77 no cargo-fuzz or no nightly compiler.
set -euo pipefail
cd "$(dirname "$0")/.."

minutes=10
if [ $# -gt 0 ] && [[ $1 =~ ^[0-9]+$ ]]; then
    minutes=$1
    shift
fi
cargo +nightly fuzz --version > /dev/null 2>&1 || {
    echo "fuzz: no cargo-fuzz or no nightly compiler: no target was run" >&2
    exit 77
}
all=$(cargo +nightly fuzz list)
for target in "$@"; do
    grep -qx -- "$target" <<< "$all" || { echo "fuzz: no target $target; there are" $all >&2; exit 2; }
done

log=$(mktemp)
scratch=$(mktemp -d "$([ -w /dev/shm ] && echo /dev/shm || echo /tmp)/replay-fuzz-XXXXXX")
trap 'rm -rf "$log" "$scratch"' EXIT
found=0
echo "| target | runs | seconds | inputs kept | findings |"
echo "|---|---:|---:|---:|---|"
for target in ${*:-$all}; do
    mkdir -p "fuzz/corpus/$target"
    folders=("fuzz/corpus/$target")
    [ -d "fuzz/seeds/$target" ] && folders+=("fuzz/seeds/$target")
    begin=$SECONDS
    status=0
    TMPDIR=$scratch cargo +nightly fuzz run "$target" "${folders[@]}" -- \
        -max_total_time=$((60 * minutes)) -timeout=20 -rss_limit_mb=2048 -max_len=4096 \
        -dict=fuzz/words.dict -print_final_stats=1 > "$log" 2>&1 || status=$?
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$log" | tail -n 1)
    if [ -z "$runs" ]; then
        cat "$log" >&2
        exit 2
    fi
    what=none
    if [ "$status" != 0 ]; then
        found=1
        what=$(grep -m 1 -E 'panicked at|ERROR: ' "$log" || echo "exit code $status")
        grep -A 12 -E 'panicked at|ERROR: ' "$log" | head -n 40 >&2
    fi
    kept=$(find "fuzz/corpus/$target" -type f | wc -l)
    echo "| $target | $runs | $((SECONDS - begin)) | $kept | $what |"
done
exit $found
