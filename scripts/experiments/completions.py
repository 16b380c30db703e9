"""The page completions: a run of 1000 jobs, a run that stops at 1000 completions, and batches of one long run."""

import polars as pl

from common import Page, quick, replay, row
from frames import read

TEXT = """\
# 1000 completed jobs (Bani-Mohammad)

"Each simulation run consists of one thousand completed jobs", and "the batch means analysis has been used to calculate
confidence intervals" (sections 3.4.1, 4.3 and 5.3). A run of 1000 jobs, as in the suites, ends with the last of these jobs, on a
machine that empties. In the other interpretations jobs keep arriving: the run stops at its 1000th completion
(`--completions 1000`), or is a batch of 1000 completions of one long run (`--warm-up` as well). Means with 95 % intervals over
replications.

| of | measure | allocator | printed | 1000 jobs | until 1000 completions | batch 2 | batch 5 |
|---|---|---|---:|---:|---:|---:|---:|"""
CONCLUSION = """
On a saturated machine, jobs in later batches of one long run wait as long as the queue has grown, so the turnarounds of Tables
3.2, 4.2 and 5.2 cannot be those of later batches. Under FCFS, stopping at the 1000th completion changes almost nothing. Under
SSD it excludes the long jobs, which wait until the end: turnaround is then farther from Table 5.2, and BL is no longer slower
than TBL. Utilization rises by at most 2 points in later batches: with one-to-all it stays below the printed range or at
its lower end, with random pairs above it."""
BUSY = "--machine 8x8x8 --sides uniform"
MESSAGES = "--machine 16x16 --preset bani-mohammad"
# Words, replications, jobs, measure, printed values by allocator, options.
CASES = [
    ("Table 3.2", 30, 1500, "turnaround",
     {"turning-busy-list": "96.58", "turning-first-fit": "96.59", "busy-list": "159.46", "first-fit": "157.23"},
     f"{BUSY} --arrivals 5.8"),
    ("Table 5.2", 60, 2500, "turnaround",
     {"turning-busy-list": "578.78", "turning-first-fit": "578.61", "busy-list": "663.09", "first-fit": "650.63"},
     f"{BUSY} --service pareto[k=15,q=4241,alpha=1] --arrivals 0.035 --sched ssd"),
    ("Table 4.2", 20, 1500, "turnaround", {"gabl": "5174.6", "mbs": "8260.4", "paging": "9264.4", "first-fit": "18850.4"},
     f"{MESSAGES} --sides uniform --pattern one-to-all --arrivals 0.0185"),
    *((f"Fig. {figure}, {pattern}", 20, 1500, "utilization",
       {"gabl": "71-75", "mbs": "71-75", "paging": "71-75", "first-fit": "at most 50"},
       f"{MESSAGES} --sides {sides} --pattern {pattern} --arrivals {load}")
      for figure, sides, pattern, load in (
          ("4.18", "uniform", "one-to-all", 0.0205), ("4.18", "uniform", "all-to-all", 0.0305), ("4.18", "uniform", "random", 0.1),
          ("4.19", "exponential", "one-to-all", 0.04), ("4.19", "exponential", "all-to-all", 0.05),
          ("4.19", "exponential", "random", 0.1))),
]  # fmt: skip


def measured(page: Page, words: str, replications: int, jobs: int, measure: str, printed: dict, options: str) -> list[dict]:
    """Adds a row for each allocator: over a run of 1000 jobs, over the first 1000 completions of a stream of `jobs` jobs, and
    over batches 2 and 5 of one long run. Returns the rows of the table.
    """
    common = f"--min-replications {replications} --max-replications {replications} --format csv --quiet"
    column = {"turnaround": "turnaround_time", "utilization": "utilization_percent"}[measure]
    batches = {f"batch_{b}": f"--jobs {jobs * b} --completions {1000 * b} --warm-up {1000 * (b - 1)}" for b in (2, 5)}
    tables = {}
    for name, more in {"all": "", "until_1000": f"--jobs {jobs} --completions 1000", **batches}.items():
        path = page.work / f"{name}.csv"
        command = f"stream --seed 1 {options} --alloc {','.join(printed)} {common} {more}"
        path.write_text(replay(command).stdout, encoding="utf-8")
        tables[name] = read(path).select("allocator", pl.col(column).alias(name), pl.col(f"{column}_pm").alias(f"{name}_pm"))
    digits = 0 if measure == "turnaround" and tables["all"]["all"][0] > 2000 else 1
    rows = []
    for allocator, value in printed.items():
        found = {k: v for table in tables.values() for k, v in table.row(by_predicate=pl.col("allocator") == allocator, named=True).items()}
        del found["allocator"]
        case = {"of": words, "measure": measure, "allocator": allocator, "replications": replications, "printed": value}
        rows.append(case | {name: f"{x:.5g}" for name, x in found.items()})
        cells = [f"{found[name]:.{digits}f} ± {found[f'{name}_pm']:.{digits}f}" for name in tables]
        page.add(row(words, measure, f"`{allocator}`", value, *cells))
    return rows


def write(page: Page) -> None:
    page.add(TEXT)
    rows = [row for case in CASES[: 1 if quick() else None] for row in measured(page, *case)]
    pl.DataFrame(rows).write_csv(page.out / "completions.csv")
    page.add(CONCLUSION)
