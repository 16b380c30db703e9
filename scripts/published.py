"""The pages of published numbers and our numbers, and the gallery of figures."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from common import RESULTS, Page, figure, git, only, quick, replay


def compared(name: str, command: str, *more: str | Path) -> int:
    """Writes a page of published numbers and our numbers; returns 1 if they differ."""
    page = Page(RESULTS / f"{name}.md")
    # Exit code 1: a number differs.
    printed = replay(command, "--write", RESULTS / f"{name}.csv", *more, codes=(0, 1))
    page.add(
        "# Published numbers and ours\n",
        f"Made by `scripts/results.py {name}` with {replay('-V').stdout.strip()}, commit {git('rev-parse', '--short=12', 'HEAD')}:",
        f"`replay {command}{' --out DIR' if more else ''}`. Full precision: {name}.csv.\n",
        printed.stdout.rstrip("\n"),
    )
    page.save()
    return printed.returncode


def verify() -> int:
    """Writes verify.md and the figures of published numbers; a quick run evaluates the suites that take seconds."""
    if quick():
        command = "verify lo bani-mohammad turner chang-mohapatra scheduling bounds lublin"
        replay(f"{command} --quiet --format csv --write", RESULTS / "verify.csv", codes=(0, 1))
        audited = replay(f"{command} --audit --quiet --format csv")
        (RESULTS / "verify-audit.csv").write_text(audited.stdout, encoding="utf-8")
        return 0
    page = Page(RESULTS / "published" / "README.md")
    code = compared("verify", "verify --shake 20 --format md", "--out", page.work / "drawn")
    audited = replay("verify --audit --format csv", codes=(0, 1))
    (RESULTS / "verify-audit.csv").write_text(audited.stdout, encoding="utf-8")
    shutil.rmtree(page.out)
    shutil.copytree(page.work / "drawn", page.out, ignore=lambda _, names: [n for n in names if not n.endswith((".svg", ".csv"))])
    page.add(
        "# Figures of published numbers and ours\n\nMade by `scripts/results.py verify`: `replay verify --shake 20 --out DIR`.",
        "One figure for each figure or table of a paper; claims in words and bounds are only in [the table](../verify.md).",
    )
    for drawn in sorted(page.out.glob("*.svg")):
        page.add(f"\n## {drawn.stem.replace('--', ', ')}\n\n![]({drawn.name})")
    page.save()
    return code or audited.returncode


GALLERY = """\
# Figures

Made by `scripts/results.py gallery`; the numbers of each figure are in a CSV file of the same name.

The log of the tie-breaking paper, `replay --trace KTH-SP2 --sched fcfs,easy --alloc
mc1x1,mm,gen-alg,hilbert-best-fit,snake-best-fit,random --tie none --tie 2,13,20,6 --ties --out DIR`
(its tables are `runs.csv` and `by_size.csv`):

| figure | in the paper |
|---|---|
| improvement-by-size, fcfs, mc1x1 | Fig. 9 |
| improvement-by-rank, fcfs, mc1x1 | Fig. 10 |
| strategies, fcfs and easy | Fig. 18, there for LLNL-T3D |
| ties | Fig. 4 |
| load, fcfs and easy | - |

SDSC-Par96. The archive has a later version than that of the paper, with the same jobs at slightly different times, so sizes with
few jobs differ. `replay --trace SDSC-Par96 --sched fcfs --alloc mc1x1 --tie none --tie 4,29,5,0
--tie 2,12,1,1 --no-jobs --out DIR`:

| figure | in the paper |
|---|---|
| improvement-by-size, mc1x1 (4,29,5,0) | Fig. 11 |
| improvement-by-rank, mc1x1 (4,29,5,0) | Fig. 12 |
| improvement-by-size, mc1x1 (2,12,1,1) | Fig. 13 |
| improvement-by-rank, mc1x1 (2,12,1,1) | Fig. 14 |

The shipped trace, `replay --sched fcfs,easy --out DIR`: the figures named lublin-10x10.

The machine during this trace, `replay show --sched easy --tie 2,13,20,6 --job 3333 --out DIR`: `machine--lublin-10x10`.

Reports: `report-recorded.html` has the log of the guide for operators, recorded and under EASY; `report-experiment.html` has
`replay sweep --trace KTH-SP2-1996-2,NASA-iPSC-1993-3.1-cln,SDSC-Par-1996-3.1-cln --alloc mc1x1,mm,hilbert-best-fit,random,mbs
--sched fcfs,easy --shake 5 --jobs 2000 --job-table --out DIR`, and `experiment.tex` the table of `replay compare DIR --row
trace,scheduler --col strategy --measure pairwise_l1 --format latex`."""
# The sweep of a report.
EXPERIMENT = (
    "sweep --trace KTH-SP2-1996-2,NASA-iPSC-1993-3.1-cln,SDSC-Par-1996-3.1-cln --alloc mc1x1,mm,hilbert-best-fit,random,mbs "
    "--sched fcfs,easy --shake 5 --jobs 2000 --job-table"
)
# The command of each run, and its figures, as FILE or as FILE as NAME.
DRAWN = {
    "--trace KTH-SP2 --sched fcfs,easy --alloc mc1x1,mm,gen-alg,hilbert-best-fit,snake-best-fit,random --tie none "
    "--tie 2,13,20,6 --ties --no-jobs": [
        "improvement-by-size--KTH-SP2-1996-2--10x10--fcfs--mc1x1-2-13-20-6",
        "improvement-by-rank--KTH-SP2-1996-2--10x10--fcfs--mc1x1-2-13-20-6",
        "strategies--KTH-SP2-1996-2--10x10--fcfs",
        "strategies--KTH-SP2-1996-2--10x10--easy",
        "load--KTH-SP2-1996-2--10x10--fcfs--mc1x1",
        "load--KTH-SP2-1996-2--10x10--easy--mc1x1",
        "ties--* as ties",
    ],
    # The best vector of SDSC-Par96, and a vector without large losses for any job size.
    "--trace SDSC-Par96 --sched fcfs --alloc mc1x1 --tie none --tie 4,29,5,0 --tie 2,12,1,1 --no-jobs": [
        f"improvement-by-{by}--SDSC-Par-1996-3.1-cln--20x20--fcfs--mc1x1-{vector}"
        for vector in ("4-29-5-0", "2-12-1-1")
        for by in ("size", "rank")
    ],
    "--sched fcfs,easy --no-jobs": [
        "improvement-by-size--lublin-10x10--10x10--easy--mc1x1-2-13-20-6",
        "strategies--lublin-10x10--10x10--easy",
    ],
    # The machine just after a job has started.
    "show --sched easy --tie 2,13,20,6 --job 3333": ["machine as machine--lublin-10x10--easy--job-3333"],
}


def reports(page: Page) -> None:
    """Writes the reports of the gallery, and a table for LaTeX."""
    for name in ("sacct-128.txt", "topology.conf"):
        shutil.copyfile(f"docs/fixtures/{name}", page.work / name)
    log = "import sacct sacct-128.txt --processors 128 --write log.swf"
    recorded = "--trace log.swf --sched recorded,easy --machine topology.conf --alloc slurm-tree --quiet --out recorded"
    for command in (log, recorded, f"{EXPERIMENT} --quiet --out experiment"):
        replay(command, folder=page.work)
    for name, title in (("recorded", "EASY against a recorded schedule"), ("experiment", "Five strategies, two schedulers, three traces")):
        replay(f"report {name} --write report-{name}.html --title", title, folder=page.work)
        page.copy(page.work / f"report-{name}.html", f"report-{name}.html")
    matrix = replay("compare experiment --row trace,scheduler --col strategy --measure pairwise_l1 --format latex", folder=page.work)
    (page.out / "experiment.tex").write_text(matrix.stdout, encoding="utf-8")


def gallery() -> int:
    """Writes figures similar to those of the tie-breaking paper (Johnson et al.)."""
    shutil.rmtree(RESULTS / "gallery", ignore_errors=True)
    page = Page(RESULTS / "gallery" / "README.md")
    for number, (command, stems) in enumerate(DRAWN.items()):
        folder = page.work / str(number)
        replay(f"{command} --quiet --out", folder)
        for stem in stems:
            pattern, _, name = stem.partition(" as ")
            figure(only(folder / "plots", f"{pattern}.svg"), page.out / (name or pattern))
        if "KTH-SP2" in command:
            page.copy(folder / "runs.csv", "runs.csv")
            page.copy(folder / "by_size.csv", "by_size.csv")
    # A report contains the commit of the program, so a check does not compare it.
    if not os.environ.get("QUICK"):
        reports(page)
    page.add(GALLERY)
    for drawn in sorted(page.out.glob("*.svg")):
        page.add(f"\n## {drawn.stem}\n\n![]({drawn.name})")
    page.save()
    return 0


PAGES = {
    "verify": verify,
    "gallery": gallery,
    "verify-full": lambda: compared("verify-full", "verify turner chang-mohapatra --full --format md"),
    "verify-all-to-all": lambda: compared(
        "verify-all-to-all", "verify lo-messages --trace all-to-all[sends=at-once] --full --format md"
    ),
}
