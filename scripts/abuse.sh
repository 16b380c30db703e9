#!/usr/bin/env bash
# Robustness campaign: kills the program at every write, fills the disk, runs several writers in one directory, reads
# results while they are replaced, and truncates and corrupts journals. Afterwards the campaign checks that no foreign
# file is lost, every run has ended, no result is partial, and no panic has occurred.
#
# Usage: scripts/abuse.sh [PROGRAM] [SECTION...] [--quick] [--seed S] [--help]
#
#   scripts/abuse.sh --quick      a few minutes: some cases of each section
#   scripts/abuse.sh              every case
#   scripts/abuse.sh --list       the sections
#
# PROGRAM defaults to target/release/replay. A seed determines the cases. Requires bash and python3 (3.9, standard
# library only) and Linux 5.6; small disks require the right to mount (root or user namespaces). Sections with missing
# requirements are skipped, and the exit code is then 77. All files are in a temporary directory below $TMPDIR.
#
# Exit codes: 0 all cases held; 1 a case failed; 2 usage; 77 sections were skipped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2> /dev/null; then
    echo "abuse: no python3 of at least 3.9: no case was run" >&2
    exit 77
fi
if [ $# = 0 ] && [ ! -x target/release/replay ] && [ -n "${CARGO_TARGET_DIR:-}" ]; then
    set -- "$CARGO_TARGET_DIR/release/replay"
fi
# Do not write compiled files into the source tree.
exec env PYTHONDONTWRITEBYTECODE=1 python3 "$here/abuse" "$@"
