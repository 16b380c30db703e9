"""Robustness campaign against replay. See scripts/abuse.sh."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import journals
import processes
import writes
from campaign import Campaign

# In the order in which they run.
SECTIONS = {section.name: section for module in (journals, processes, writes) for section in module.SECTIONS}
HELD, FAILED, USAGE, SKIPPED = 0, 1, 2, 77


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/abuse.sh",
        description="Kills replay at its writes, fills the disk, runs several processes in one directory, and damages "
        "journals. No file may be lost or partial, no run endless, and no panic may occur.",
        epilog="Exit codes: 0 all cases held; 1 a case failed; 2 usage; 77 all cases held, but sections were skipped.",
    )
    add = parser.add_argument
    add("program", nargs="?", metavar="PROGRAM", help="replay [default: target/release/replay]")
    add("sections", nargs="*", metavar="SECTION", help="only these [default: all, see --list]")
    add("--quick", action="store_true", help="some cases of every section [default: every case]")
    add("--seed", type=int, default=1, metavar="S", help="seed that determines the cases [1]")
    add("--only", default="*", metavar="CASE", help="only cases whose name matches (* and ? are wildcards)")
    add("--keep", action="store_true", help="keep the directories of the cases, and print where")
    add("--patience", type=float, default=1.0, metavar="X", help="multiply time limits by X [1]")
    add("--workers", type=int, default=os.cpu_count() or 2, metavar="N", help="number of parallel cases")
    add("--report", type=Path, metavar="FILE", help="write a table of the sections as Markdown")
    add("--list", action="store_true", help="list the sections")
    given = parser.parse_intermixed_args()
    # The first argument may be a section instead of the program.
    if given.program in SECTIONS:
        given.sections.insert(0, given.program)
        given.program = None
    if unknown := [name for name in given.sections if name not in SECTIONS]:
        parser.error(f"no section {unknown[0]}; there are {', '.join(SECTIONS)}")
    if not given.sections and given.only.split("/")[0] in SECTIONS:
        given.sections = [given.only.split("/")[0]]
    given.program = given.program or "target/release/replay"
    if not given.list and shutil.which(given.program) is None:
        parser.error(f"no program {given.program}; cargo build --release makes target/release/replay")
    return given


def main():
    given = arguments()
    if given.list:
        for section in SECTIONS.values():
            print(f"{section.name:<16} {section.about()}")
        return HELD
    work = Path(tempfile.mkdtemp(prefix="abuse-")).resolve()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    try:
        return run(Campaign(str(Path(shutil.which(given.program)).resolve()), work, given), given)
    except KeyboardInterrupt:
        return 130
    finally:
        if given.keep:
            print(f"directories are in {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)


def run(campaign, given):
    tallies = []
    for section in [SECTIONS[name] for name in given.sections or SECTIONS]:
        tallies.append(campaign.run(section))
        for line in tallies[-1].lines(campaign):
            print(line, flush=True)
    tried = sum(tally.tried() for tally in tallies)
    failed = sum(len(tally.failed) for tally in tallies)
    seconds = sum(tally.seconds for tally in tallies)
    print(f"{'all':<16} tried {tried:>6}, held {tried - failed:>6}, failed {failed:>5}, {seconds:.0f} s")
    if given.report:
        given.report.parent.mkdir(parents=True, exist_ok=True)
        head = "| section | tried | held | failed | skipped | seconds | what |\n|---|---:|---:|---:|---:|---:|---|\n"
        given.report.write_text(head + "".join(tally.row() for tally in tallies))
    if failed:
        return FAILED
    if absent := [tally.section.name for tally in tallies if tally.absent]:
        print(f"skipped: {', '.join(absent)}", file=sys.stderr)
        return SKIPPED
    if not tried:
        print("no case was run", file=sys.stderr)
        return USAGE
    return HELD


sys.exit(main())
