"""The page size-reduction: folding jobs instead of refusing them, on real logs."""

import polars as pl

from common import Page, row
from frames import by_class, hours, read

TEXT = """\
# Size reduction on real logs

A job that First Fit (on NASA-iPSC, the buddy system) refuses is folded up to t times and runs twice as long for each
fold; `amdahl` assumes a serial share of 5 % instead. All times include the longer run time. Slowdown is relative to the run
time on the requested processors. Lost efficiency is the processor time lost by folding; it is negative if fewer processors
waste less.

* FCFS with First Fit is saturated on the three logs of meshes: waits grow with the length of the log.
* Under EASY one fold shortens the mean turnaround on all logs. A second fold brings little, and seven folds cost more than they
  bring.
* Jobs of medium size gain most; the largest gain least. EASY reserves all requested processors for the head of its queue, and
  jobs that are backfilled and then folded run longer than EASY assumed.
* More folds lower the share of the turnaround spent in the queue and raise that of slower execution."""
FOLDING = """
| scheduler | allocator | folded jobs % | stretch of these | lost efficiency % | refused sizes |
|---|---|---:|---:|---:|---:|"""
SUMMARY = """
## Summary

Mean wait without folds, and change of the mean turnaround by folds in percent.

| trace | scheduler | wait, days | one fold | two | seven | one, amdahl |
|---|---|---:|---:|---:|---:|---:|"""
TRACES = ["KTH-SP2", "SDSC-Par96", "LANL-CM5", "NASA-iPSC"]


def turnaround(means: dict) -> str:
    """Returns the mean turnaround in hours, and the share of it in the queue."""
    return f"{hours(means['mean_turnaround'])} ({100 * means['mean_wait'] / means['mean_turnaround']:.0f} %)"


def write(page: Page) -> None:
    page.add(TEXT)
    for trace in TRACES:
        name = f"size-reduction-{trace}"
        inner = "cube-buddy" if trace == "NASA-iPSC" else "first-fit"
        machine = "--machine hypercube:7 " if trace == "NASA-iPSC" else ""
        folds = f"rsr[inner={inner}],rsr[t=2,inner={inner}],rsr[t=7,inner={inner}],rsr[inner={inner},speedup=amdahl]"
        folder = page.on_trace("size-reduction", trace, f"{machine}--alloc {inner},{folds}")
        if not folder:
            continue
        page.copy(folder / "by_size.csv", f"{name}-by-size.csv")
        page.add(FOLDING)
        for one in read(folder / "runs.csv").filter(pl.col("folded_percent").is_not_null()).iter_rows(named=True):
            page.add(
                row(
                    one["scheduler"], one["allocator"], f"{one['folded_percent']:.1f}", f"{one['mean_fold_stretch']:.2f}",
                    f"{one['lost_efficiency_percent']:.1f}", one["refused_sizes"],
                )
            )  # fmt: skip
        for scheduler in ("fcfs", "easy"):
            page.add(
                f"\nMean turnaround by processors asked for, {scheduler}: hours, and in brackets the share of it in the queue.\n"
            )
            rows = read(folder / "by_size.csv").filter(scheduler=scheduler)
            page.add(*by_class(rows, "allocator", ["mean_wait", "mean_turnaround"], turnaround))
        page.add(f"\nEvery size: [{name}-by-size.csv]({name}-by-size.csv)")
    page.add(SUMMARY)
    for table in (page.out / f"size-reduction-{trace}.csv" for trace in TRACES):
        if not table.exists():
            continue
        for (scheduler,), runs in read(table).group_by("scheduler", maintain_order=True):
            whole, *folded = runs["mean_turnaround"]
            changes = [f"{100 * (one / whole - 1):+.1f}" for one in folded]
            page.add(row(runs["trace"][0], scheduler, f"{runs['mean_wait'][0] / 86400:.2f}", *changes))
