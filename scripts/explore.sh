#!/usr/bin/env bash
# Checks the page of replay explore: types, unit tests, and tests in headless Chromium.
#
# Usage: scripts/explore.sh PROGRAM [--shots DIR] [--speed [TRACE]...]
#   --shots DIR         also writes screenshots
#   --speed [TRACE]...  measures pages of these traces and of a synthetic trace of 500,000 jobs instead
#
# Exits with 77 and prints the reason if Node.js or Chromium is not installed and cannot be installed with apt.
set -euo pipefail
program=$(realpath "${1:?usage: scripts/explore.sh PROGRAM}")
shift
cd "$(dirname "$0")/../crates/replay-explore/check"

skip() { echo "ignored: $*" >&2; exit 77; }
command -v npm > /dev/null || skip "npm is not installed"
npm ci --no-audit --no-fund --silent > /dev/null || skip "npm ci fails: the registry is not available"
npm run --silent types
npm run --silent unit > unit.log 2>&1 || { cat unit.log; exit 1; }
if ! command -v chromium > /dev/null && ! command -v chromium-browser > /dev/null && ! command -v google-chrome > /dev/null; then
    [ "$(id -u)" = 0 ] && command -v apt-get > /dev/null || skip "chromium is not installed"
    apt-get install --yes --quiet chromium > apt.log 2>&1 || skip "apt-get install chromium fails: $(tail -n 1 apt.log)"
fi
node browser.js "$program" "$@"
