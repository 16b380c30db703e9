#!/usr/bin/env bash
# A campaign of abuse: kills the program at every write and at random, fills the disk, fails
# its calls, cuts and garbles its journals, floods it, puts links and fifos in its way, sends it
# signals and nonsense. Afterwards nothing may be lost that is not ours, nothing endless,
# nothing torn, and no panic seen.
#
# Usage: scripts/abuse.sh [PROGRAM] [SECTION...] [--quick | --minutes N] [--seed S] [--help]
#
#   scripts/abuse.sh                                   a few minutes: some cases of each section
#   scripts/abuse.sh --minutes 60 --report out/abuse   an hour: every case, then random ones
#   scripts/abuse.sh --list                            the sections
#
# PROGRAM is target/release/replay unless given. The same seed gives the same cases. Needs
# bash and python3 (3.9, its standard library); for calls that fail Linux 5.6, for small disks the
# right to mount (root or user namespaces): without them those sections are skipped, and the exit
# code says so. Everything happens in a folder of its own below $TMPDIR.
#
# Exit codes: 0 everything held; 1 something did not; 2 usage; 77 sections were skipped.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
if ! python3 -c 'import sys; sys.exit(sys.version_info < (3, 9))' 2> /dev/null; then
    echo "abuse: no python3 of at least 3.9: nothing was tried" >&2
    exit 77
fi
if [ $# = 0 ] && [ ! -x target/release/replay ] && [ -n "${CARGO_TARGET_DIR:-}" ]; then
    set -- "$CARGO_TARGET_DIR/release/replay"
fi
# The sources are no place for what the interpreter compiles.
exec env PYTHONDONTWRITEBYTECODE=1 python3 "$here/abuse" "$@"
