"""Robustness campaign against replay. See scripts/abuse.sh."""

import argparse
import os
import shutil
import signal
import sys
import tempfile
from pathlib import Path

import report
from campaign import SECTIONS, Campaign

# Each module declares its sections, in the order in which they run.
import journals  # isort: skip
import parallel  # isort: skip
import folders  # isort: skip
import kills  # isort: skip
import faults  # isort: skip
import disks  # isort: skip
import limits  # isort: skip
import floods  # isort: skip
import signals  # isort: skip
import mutants  # isort: skip

MODULES = (journals, parallel, folders, kills, faults, disks, limits, floods, signals, mutants)
HELD, FAILED, USAGE, SKIPPED = 0, 1, 2, 77


def arguments():
    parser = argparse.ArgumentParser(
        prog="scripts/abuse.sh",
        description="Stresses replay: kills, full disks, damaged journals, floods, links, signals, malformed input. "
        "No file may be lost or partial, no run endless, and no panic may occur.",
        epilog="Exit codes: 0 all cases held; 1 a case failed; 2 usage; 77 all cases held, but "
        "sections were skipped (unless --allow-skips).",
    )
    parser.add_argument(
        "program", nargs="?", metavar="PROGRAM", help="replay [default: target/release/replay]"
    )
    parser.add_argument(
        "sections", nargs="*", metavar="SECTION", help="only these [default: all, see --list]"
    )
    form = parser.add_mutually_exclusive_group()
    form.add_argument("--quick", action="store_true", help="some cases of every section: minutes [default]")
    form.add_argument("--minutes", type=float, metavar="N", help="all cases, then random ones, for N minutes")
    parser.add_argument(
        "--seed", type=int, default=1, metavar="S", help="seed that determines the cases [1]"
    )
    parser.add_argument(
        "--only", metavar="CASE", help="only cases whose name matches (* and ? are wildcards)"
    )
    parser.add_argument("--keep", action="store_true", help="keep the directories of the cases, and print where")
    parser.add_argument(
        "--patience", type=float, default=1.0, metavar="X", help="multiply time limits by X [1]"
    )
    parser.add_argument(
        "--workers", type=int, default=os.cpu_count() or 2, metavar="N", help="number of parallel cases"
    )
    parser.add_argument("--report", type=Path, metavar="DIR", help="write abuse.csv, abuse.md, failures.csv")
    parser.add_argument(
        "--allow-skips", action="store_true", help="do not fail if sections cannot run here"
    )
    parser.add_argument("--list", action="store_true", help="list the sections")
    given = parser.parse_intermixed_args()
    # The first argument may be a section instead of the program.
    if given.program in SECTIONS:
        given.sections.insert(0, given.program)
        given.program = None
    if unknown := [name for name in given.sections if name not in SECTIONS]:
        parser.error(f"no section {unknown[0]}; there are {', '.join(SECTIONS)}")
    if given.only and not given.sections:
        given.sections = [given.only.split("/")[0]]
        if given.sections[0] not in SECTIONS:
            parser.error("--only SECTION/CASE")
    return given, parser


def main():
    given, parser = arguments()
    if given.list:
        for section in SECTIONS.values():
            print(f"{section.name:<17} {section.about}")
        return HELD
    program = given.program or "target/release/replay"
    found = shutil.which(program)
    if found is None:
        parser.error(f"no program {program}; cargo build --release makes target/release/replay")
    # Use a separate directory, on disk if possible.
    work = Path(tempfile.mkdtemp(prefix="abuse-")).resolve()
    campaign = Campaign(
        str(Path(found).resolve()),
        work,
        given.seed,
        given.minutes,
        given.only,
        given.keep,
        given.patience,
        given.workers,
    )
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(130))
    # In the background or under nohup some signals are ignored, and the program under test would ignore them too.
    # Signals caught here are reset to their default in the program under test.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if signal.getsignal(signal.SIGHUP) == signal.SIG_IGN:
        signal.signal(signal.SIGHUP, lambda *_: None)
    try:
        return run(campaign, given)
    except KeyboardInterrupt:
        return 130
    finally:
        if given.keep:
            print(f"directories are in {work}")
        else:
            shutil.rmtree(work, ignore_errors=True)


def run(campaign, given):
    sections = [SECTIONS[name] for name in given.sections or SECTIONS]
    tallies, left = [], (given.minutes or 0) * 60
    for at, section in enumerate(sections):
        # Divide unused time among the remaining sections.
        share = section.share / sum(later.share for later in sections[at:])
        tally = campaign.run(section, left * share if given.minutes else None)
        left -= tally.seconds
        tallies.append(tally)
        print(report.line(tally), flush=True)
        for text in report.failures(campaign, tally):
            print(text, flush=True)
    tried, held, failed, _ = report.total(tallies)
    absent = [tally.name for tally in tallies if tally.absent]
    seconds = sum(tally.seconds for tally in tallies)
    print(f"{'all':<17} tried {tried:>6}, held {held:>6}, failed {failed:>5}, {seconds:.0f} s")
    if given.report:
        report.write(given.report, campaign, tallies, SECTIONS)
    if failed:
        return FAILED
    if absent and not given.allow_skips:
        print(f"skipped: {', '.join(absent)}; --allow-skips accepts this", file=sys.stderr)
        return SKIPPED
    if not tried and not absent:
        print("no case was run", file=sys.stderr)
        return USAGE
    return HELD


sys.exit(main())
