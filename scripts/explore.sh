#!/usr/bin/env bash
# Checks the page of replay explore: types, unit tests, and tests in headless Chromium.
#
# Usage: scripts/explore.sh [PROGRAM] [--shots DIR] [--speed [TRACE]...] [--help]
#
#   PROGRAM             default: target/release/replay
#   --shots DIR         also writes screenshots, among them those of the book
#   --speed [TRACE]...  measures pages of these traces and of a synthetic trace of 500,000 jobs instead
#
# Exit codes: 0 all tests passed; 1 a test failed; 77 Node.js 20 or Chromium is not installed, and apt cannot install Chromium.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
case " $* " in *" --help "* | *" -h "*) sed -n '2,/^set/ s/^# \{0,1\}//p' "$0"; exit 0 ;; esac
case "${1:-}" in "" | --*) program=$(realpath "$here/../target/release/replay") ;; *) program=$(realpath "$1"); shift ;; esac
shots=()
if [ "${1:-}" = --shots ]; then
    mkdir -p "$2"
    shots=(--shots "$(realpath "$2")")
    shift 2
fi

skip() { echo "ignored: $*" >&2; exit 77; }
command -v npm > /dev/null || skip "Node.js with npm is not installed"
node -e 'process.exit(process.versions.node.split(".")[0] < 20 ? 1 : 0)' || skip "Node.js is older than version 20"
# Traces keep their meaning in the folder of the checks.
traces=()
for word in "$@"; do if [ -e "$word" ]; then traces+=("$(realpath "$word")"); else traces+=("$word"); fi; done
cd "$here/../crates/replay-explore/check"
npm ci --no-audit --no-fund --silent > /dev/null || skip "npm ci fails: the registry is not available"
npm run --silent types
npm run --silent unit > unit.log 2>&1 || { cat unit.log; exit 1; }
if ! command -v chromium > /dev/null && ! command -v chromium-browser > /dev/null && ! command -v google-chrome > /dev/null; then
    [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || skip "chromium is not installed"
    apt-get install --yes --quiet chromium > apt.log 2>&1 || skip "apt-get install chromium fails: $(tail -n 1 apt.log)"
fi
node browser.js "$program" "${shots[@]}" "${traces[@]}"
