"""The pages below results/search: tie vectors for the traces of the tie-breaking paper, found by searches.

On two idle cores kth takes about 4 minutes, sdsc96 10, sdsc95 15, lanl 75, nasa 3, sdsc_sp2 8, ctc 15, lublin 1,
portability 2, slack (vectors and slacks on all traces) 30, shaken (perturbed first halves, tested on perturbed second halves)
20. A quick run evaluates only the best vector of each committed search.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from common import RESULTS, Page, figure, only, present, quick, replay, row, stamp

OUT = RESULTS / "search"
# Trace of each search, the best vector printed in the paper for the trace (or for KTH-SP2), and the number of jobs used by
# the searches on halves, where an evaluation takes long.
TRACES = {
    "kth": ("KTH-SP2", "2,13,20,6", ""),
    "sdsc96": ("SDSC-Par96", "4,29,5,0", ""),
    "nasa": ("NASA-iPSC", "2,13,20,6", ""),
    "sdsc_sp2": ("SDSC-SP2", "2,13,20,6", "--jobs 20000 "),
    "sdsc95": ("SDSC-Par95", "10,1,3,2", "--jobs 20000 "),
    "lublin": ("lublin-10x10", "2,13,20,6", ""),
    "ctc": ("CTC-SP2", "2,13,20,6", "--jobs 20000 "),
    "lanl": ("LANL-CM5", "12,42,41,15", "--jobs 10000 "),
}
WHOLE = "--strategy local --start exhaustive"
LANL = "--trace LANL-CM5 --strategy local"
# The pages of each search, with the options of their commands. --evaluations includes the evaluations of --start: 9,297 for
# the whole grid, 500 for random, 1 for a vector. For traces that are not in the paper, use only exhaustive search, and
# evaluate the vector that the paper gives for KTH-SP2.
SEARCHES = {
    "kth": {"kth": f"--trace KTH-SP2 {WHOLE} --spare 0 --evaluations 12297 --tie 2,13,20,6"},
    "sdsc96": {"sdsc96": f"--trace SDSC-Par96 {WHOLE} --spare 0 --evaluations 10797 --tie 4,29,5,0"},
    "sdsc95": {"sdsc95": f"--trace SDSC-Par95 {WHOLE} --spare 0 --evaluations 10797 --tie 10,1,3,2"},
    # The first search covers the grid around the scan radii of the paper and the neighbourhoods of the best vectors of this
    # grid; it takes an hour on two cores. The next searches start at the best three vectors of different neighbourhoods, at
    # the new vectors found there, and at the best vectors of the grid with scan radii 10 and 11.
    "lanl": {
        "lanl": f"{LANL} --start exhaustive --sr 9..14 --spare 0 --evaluations 12840 --tie 12,42,41,15",
        "lanl-2": f"{LANL} --start 12,79,68,23 --start 12,61,60,22 --start 12,43,35,12 --spare 0 --evaluations 1503 --tie 12,42,41,15",
        "lanl-3": f"{LANL} --start 12,39,38,14 --seed 1 --spare 0 --evaluations 701 --tie 12,42,41,15",
        "lanl-4": f"{LANL} --start 10,5,9,4 --start 11,9,9,2 --spare 0 --evaluations 1302 --tie 12,42,41,15",
    },
    **{name: {name: f"--trace {TRACES[name][0]} --tie 2,13,20,6"} for name in ("nasa", "sdsc_sp2", "ctc", "lublin")},
    # Fig. 15 of the paper: vectors found on one trace, evaluated on the others.
    "portability": {
        "portability": "--each --trace KTH-SP2 --trace SDSC-Par95 --trace SDSC-Par96 --trace LANL-CM5 --factors 0..6 --top 10 "
        "--tie 2,13,20,6 --tie 4,13,20,6 --tie 6,13,20,6"
    },
    # With nearly tied candidates, evaluate 500 random vectors with slacks, then search locally. An evaluation takes longest
    # on LANL-CM5, so this search starts at known good vectors.
    "slack": {
        f"{name}-slack": f"--trace {trace} --strategy local {start} --slack 0,0.05,0.1..0.5:0.1 --spare 0 "
        f"--evaluations {evaluations} --tie {tie}"
        for name, (trace, tie, _) in TRACES.items()
        for start, evaluations in [
            ("--start 10,29,52,23@0.1 --start 4,9,5,2@0.2", 602) if name == "lanl" else ("--start random", 1300)
        ]
    },
    # Out-of-sample gains: searches use six perturbed copies of the first half of each trace; copies of the second half are
    # used only for tests. 2,1,1,1 was not found by a search; the last vector is that of the paper, found on the whole log.
    "shaken": {
        f"{name}-shaken{suffix}": f"--trace {trace} {jobs}--split 0.5 --shake 6 {WHOLE} --sr 1..6 --factors 0..2 "
        f"--evaluations 134 --top 3 {given.format(tie)}"
        for suffix, given in {
            "": "--tie 2,1,1,1 --tie 2,13,20,6 --tie {}",
            "-slack": "--slack 0.1,0.3 --tie 2,1,1,1@0 --tie 2,1,1,1@0.1 --tie {}@0",
        }.items()
        for name, (trace, tie, jobs) in TRACES.items()
    },
}


def run(name: str, options: str) -> None:
    """Runs a search, and keeps its table, its best vectors and the figure of a portability matrix."""
    page = Page(OUT / f"{name}.md")
    folder, drawn = page.work / name, name == "portability"
    printed = replay(f"search {options} {'' if drawn else '--no-plots'} --format md --out", folder)
    page.add(f"# {name}\n\n```sh\nreplay search {options}\n```\n", printed.stdout)
    page.add(*(line for line in printed.stderr.splitlines() if "evaluations," in line or "other vectors" in line))
    page.add("", stamp(OUT / f"{name}.csv"))
    # The first rows of the table of vectors, and the table of skipped evaluations.
    best = (folder / "search.csv").read_text(encoding="utf-8").splitlines(keepends=True)[:102]
    (OUT / f"{name}.csv").write_text("".join(best), encoding="utf-8")
    page.copy(folder / "spared.csv", f"{name}-spared.csv")
    if (folder / "portability.csv").exists():
        page.copy(folder / "portability.csv", f"{name}-matrix.csv")
    if drawn:
        figure(only(folder / "plots", "portability*.svg"), OUT / "portability-portability",
               OUT / "portability-portability-figure.csv")  # fmt: skip
        page.add("\n![](portability-portability.svg)")
    page.save()


def evaluate() -> None:
    """Writes the best vector of each committed search with the value that this program computes."""
    from frames import pl, read

    page = Page(OUT / "README.md")
    for name, (trace, _, _) in TRACES.items():
        for table in (Path(f"results/search/{name}{kind}.csv") for kind in ("", "-slack")):
            if not table.exists():
                continue
            if not present(trace):
                print(f"{name}: no trace {trace}", file=sys.stderr)
                continue
            best = read(table).row(by_predicate=pl.col("rank") == 1, named=True)
            slack = f",slack={best['slack']}" if best.get("slack") is not None else ""
            folder = page.work / table.stem
            replay(f"--trace {trace} --alloc mc1x1[tie={best['tie']}{slack}] --no-jobs --no-plots --quiet --out", folder)
            value = read(folder / "runs.csv", as_text=True)["mean_pairwise_l1"][0]
            pl.DataFrame({"rank": 1, "tie": best["tie"], "value": value}).write_csv(OUT / table.name)


def vectors(path: Path) -> list[dict[str, str]]:
    """Returns the rows of the ranked tables of a page as cells by heading."""
    found, names = [], []
    for line in path.read_text(encoding="utf-8").splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if cells[0] in ("rank", "tie"):
            names = cells if cells[0] == "rank" else []
        elif line.startswith("|") and names:
            found.append(dict(zip(names, cells)))
    return found


def summary(name: str) -> list[str]:
    """Returns the row of a search: its best vector and the vector given by --tie."""
    if not (OUT / f"{name}.md").exists():
        return []
    rows = vectors(OUT / f"{name}.md")
    best = next(one for one in rows if one["rank"] == "1")
    given = ([best] + [one for one in rows if one["rank"] == "given"])[-1]
    cells = [one[column] for one in (best, given) for column in ("tie", "mean_pairwise_l1", "better %")]
    return [row(f"[{name}]({name}.md)", *cells)]


def summary_shaken(name: str, given: list[str]) -> list[str]:
    """Returns the row of a search on perturbed halves: its best vector on the searched half and on the other half, then the
    given vectors on the other half. If the search also evaluated a given vector, this vector is in a ranked row.
    """
    path = OUT / f"{name}.md"
    if not path.exists():
        return []
    rows = vectors(path)
    best = next(one for one in rows if one["rank"] == "1")
    as_good = re.search(r": (\d+) of (\d+) other vectors", path.read_text(encoding="utf-8"))
    tested = {one["tie"]: one["test %"] for one in reversed(rows) if "±" in one["test %"]}
    counts = f"{as_good[1]} of {as_good[2]}" if as_good else ""
    cells = best["tie"], best["better %"], best["test %"], counts
    return [row(f"[{name}]({name}.md)", *cells, *(tested.get(tie, "") for tie in given))]


HALVES = """\
# Tie vectors found

Made by `scripts/results.py search`. The page of each search has its command and its best vectors.

Searches with `halving` in their command used a strategy that was retired later: it evaluated a grid on short first parts
of the traces and the best third on longer parts. Each page names its commit.

## Out-of-sample gains

Improvement of mean pairwise L1 over no tie-breaking in percent, FCFS: mean over six perturbed copies (every submit
and run time changed by -1, 0 or +1 s) with its 95 % interval. Searches used the first half of each trace by time:
scan radii 1 to 6, a grid of factors 0 to 2, then 20 vectors near the best. *Searched* is the in-sample
improvement of the best vector on the first half, *tested* its improvement on the second half, which was not searched.
*As good* counts the other vectors evaluated on the whole first half that do not differ significantly from the best on
its six copies. The last columns are vectors not chosen by this search, on the second half: 2,1,1,1, which was not found
by a search, and those of the paper. The vectors of the paper were found on the whole log, so on their own trace they are
in-sample. SDSC-SP2, SDSC-Par95 and CTC-SP2 are limited to the first 20,000 jobs, LANL-CM5 to the first 10,000.

| search | found | searched % | tested % | as good | 2,1,1,1 % | 2,13,20,6 % | the paper's for the trace % |
|---|---|---:|---:|---:|---:|---:|---:|"""
HALVES_SLACK = """
Searches with slack 0.1 or 0.3: candidates whose score is worse than the best by at most that share compete by
tie value. The last columns are 2,1,1,1 with slack 0.1 and without.

| search | found | searched % | tested % | as good | 2,1,1,1@0.1 % | 2,1,1,1 % |
|---|---|---:|---:|---:|---:|---:|"""
IN_SAMPLE = """
## Found on the whole log: in-sample

The vectors below are the best of thousands on the unperturbed log on which they were chosen.

Made by `scripts/results.py search`. The page of each search has its command, its best vectors, and those excluded by constraints.
Values are mean pairwise L1, scheduler FCFS. *Given* is the best vector printed in the paper for the trace, evaluated on our
version of the log; on traces that are not in the paper it is the vector for KTH-SP2.

| search | found | value | better % | given | value | better % |
|---|---|---:|---:|---|---:|---:|"""
IN_SAMPLE_SLACK = """
With nearly tied candidates: *found* is SR,AF,WF,BF@SLACK, where candidates whose score is worse than the best by at most
the share SLACK compete by tie value. The paper breaks exact ties only.

| search | found | value | better % | given | value | better % |
|---|---|---:|---:|---|---:|---:|"""
PORTABILITY = """
[portability](portability.md): vectors found on one trace, evaluated on the others (Fig. 15 of the paper).

![Vectors found on one trace, evaluated on others](portability-portability.svg)"""


def pages() -> None:
    """Writes the best vector of each search, and the best vector of the paper for the trace, evaluated by this program."""
    page = Page(OUT / "README.md")
    page.add(HALVES)
    for name, (_, tie, _) in TRACES.items():
        paper = tie if tie != "2,13,20,6" or name == "kth" else "-"
        page.add(*summary_shaken(f"{name}-shaken", ["2,1,1,1", "2,13,20,6", paper]))
    halves = [f"{name}-shaken{suffix}" for name in TRACES for suffix in ("", "-slack")]
    missing = [name for name in halves if not (OUT / f"{name}.md").exists()]
    if missing:
        page.add(f"\nNot run: {' '.join(missing)}.")
    slack = [line for name in TRACES for line in summary_shaken(f"{name}-shaken-slack", ["2,1,1,1@0.1", "2,1,1,1"])]
    if slack:
        page.add(HALVES_SLACK, *slack)
    page.add(IN_SAMPLE)
    for name in "kth sdsc95 sdsc96 lanl lanl-2 lanl-3 lanl-4 nasa sdsc_sp2 ctc lublin".split():
        page.add(*summary(name))
    page.add(IN_SAMPLE_SLACK)
    for name in "kth sdsc95 sdsc96 lanl nasa sdsc_sp2 ctc lublin".split():
        page.add(*summary(f"{name}-slack"))
    if (OUT / "portability.md").exists():
        page.add(PORTABILITY)
    page.save()


def write(name: str) -> None:
    """Runs the searches of a name, and writes their pages; `search` runs all whose traces are present."""
    if quick():
        evaluate()
        return
    if name == "search":
        for commands in SEARCHES.values():
            for one, options in commands.items():
                if all(map(present, re.findall(r"--trace (\S+)", options))):
                    run(one, options)
    else:
        for one, options in SEARCHES.get(name, {}).items():
            run(one, options)
    pages()
