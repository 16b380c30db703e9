#!/usr/bin/env bash
# Fetches traces of the Parallel Workloads Archive with `replay fetch`, by default into traces/ of the repository.
#
#   scripts/fetch-traces.sh NAME... | --all  [--to DIR] [--from DIR]
#   scripts/fetch-traces.sh --list           lists the known traces
#
# `replay fetch --help` describes the options and the exit codes.
#
# Environment:
#   REPLAY     the program [target/release/replay, else replay on the PATH, else cargo run --release]
#   MANIFEST   a list of traces that replaces the list in the program
set -euo pipefail
root=$(cd -- "$(dirname -- "${BASH_SOURCE[0]}")/.." && pwd)
built=${CARGO_TARGET_DIR:-$root/target}/release/replay

if [[ -n ${REPLAY:-} ]]; then
    replay=("$REPLAY")
elif [[ -x $built ]]; then
    replay=("$built")
elif command -v replay > /dev/null; then
    replay=(replay)
else
    replay=(cargo run --quiet --release --manifest-path "$root/Cargo.toml" --)
fi

options=(${MANIFEST:+--manifest "$MANIFEST"} --to "$root/traces")
for argument in "$@"; do
    case $argument in
        --list) exec "${replay[@]}" list traces ;;
        --to | --to=*) options=(${MANIFEST:+--manifest "$MANIFEST"}) ;;
    esac
done
exec "${replay[@]}" fetch ${options[@]+"${options[@]}"} "$@"
