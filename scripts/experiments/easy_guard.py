"""The page easy-guard: reservations of EASY for allocators that may refuse the head of the queue."""

import polars as pl

from common import Page, row
from frames import by_class, hours, read

TEXT = """\
# EASY with contiguous allocators: reserving a number of processors or a place

EASY backfills later jobs only if they do not delay the head of the queue. Contiguous allocators may refuse the head although
enough processors are free. With `guard=count`, the default, EASY reserves a number of processors for the head; if the head is
refused at the reserved time, EASY reserves an empty machine, and jobs that end before that may be backfilled. With
`guard=place` EASY reserves a place: the earliest that the allocator finds on a copy of the machine on which running jobs end at
their estimates. Later jobs start if they end by then or leave that place free.

*Promised heads* are jobs at the head of the queue with a reservation, which is made once a later job could start before
them; *late* heads start later than their first reservation."""
RUNS = [
    ("KTH-SP2-1996-2", ""), ("SDSC-SP2-1998-4.2-cln", "--machine 16x8 "), ("CTC-SP2-1996-3.1-cln", "--jobs 20000 "),
    ("SDSC-Par-1996-3.1-cln", ""),
]  # fmt: skip
PROMISES = """
| allocator | scheduler | mean wait h | 99 % h | longest wait h | promised heads | of these late | latest h | refused for shape, per job |
|---|---|---:|---:|---:|---:|---:|---:|---:|"""
SUMMARY = """
## Summary

| log | allocator | late, % of promised heads: count | place | latest h: count | place | mean wait, place against count % |
|---|---|---:|---:|---:|---:|---:|"""
CONCLUSION = """
If EASY reserves a number of processors, a refused head waits for an empty machine while small jobs keep being backfilled.
If it reserves a place, later jobs may start next to that place, which the reservation of an empty machine forbids: on logs with
estimates, nearly all classes of size wait less. SDSC-Par96 has no estimates, so run times are used. If estimates exceed run times,
a reserved place becomes free earlier than promised, never later."""


def latest(run: dict) -> str:
    return "" if run["latest_head"] is None else hours(run["latest_head"], 1)


def write(page: Page) -> None:
    page.add(TEXT)
    for trace, options in RUNS:
        name, folder = f"easy-guard-{trace}", page.work / trace
        page.add(f"\n## {trace}\n")
        allocators = "first-fit[shape=near-square],turning-best-fit[shape=near-square]"
        command = f"--trace {trace} {options}--sched easy,easy[guard=place] --alloc {allocators}"
        if not page.ran(f"{command} --no-jobs --no-plots --format md --out", folder):
            continue
        page.copy(folder / "runs.csv", f"{name}.csv")
        page.copy(folder / "by_size.csv", f"{name}-by-size.csv")
        page.add(f"`replay {command}`", PROMISES)
        for run in read(folder / "runs.csv").iter_rows(named=True):
            page.add(
                row(
                    run["allocator"], run["scheduler"], hours(run["mean_wait"]), hours(run["p99_wait"], 1),
                    hours(run["max_wait"], 1), run["promised_heads"], run["late_heads"], latest(run),
                    f"{run['fragmented_refusals'] / run['jobs']:.1f}",
                )
            )  # fmt: skip
        page.add("\nMean wait in hours by requested processors, first-fit:\n")
        rows = read(folder / "by_size.csv").filter(pl.col("allocator").str.starts_with("first-fit"))
        page.add(*by_class(rows, "scheduler", ["mean_wait"], lambda means: hours(means["mean_wait"])))
    page.add(SUMMARY)
    for table in sorted(page.out.glob("easy-guard-*.csv")):
        if table.stem.endswith("-by-size"):
            continue
        for (allocator,), runs in read(table).group_by("allocator", maintain_order=True):
            count, place = runs.iter_rows(named=True)
            late = [f"{100 * run['late_heads'] / run['promised_heads']:.1f}" if run["promised_heads"] else "" for run in (count, place)]
            change = 100 * (place["mean_wait"] / count["mean_wait"] - 1)
            page.add(row(count["trace"], allocator, *late, latest(count), latest(place), f"{change:+.1f}"))
    page.add(CONCLUSION)
