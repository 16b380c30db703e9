"""The page workstations: chapter 6 of Turner, hosts that jobs share."""

from io import StringIO

import polars as pl

from common import Page, replay, row
from frames import read

TEXT = """\
# Workstations that jobs share (Turner, chapter 6)

This page examines why jobs wait far longer under version 1 of Elmer, which shares hosts, than under version 2, which does not
share hosts if every job computes all the time. A host runs its highest job; the next job gets the remaining processor time. A
job whose processes wait for one another advances at the rate of its slowest process.

## On a trace

A hundred hosts of one to four slots, jobs of the shipped trace, FCFS. `demand` is the share of its processor that a process
uses at full speed, 1 by default. `utilization` is the share of the time of all hosts in which jobs compute;
`slots_held_percent` is the share of slots held by jobs, computing or not."""
WIDTHS = """
With one slot per host all strategies are plain space sharing, as is version 2 with two or four slots.

## Jobs of one width

Streams of jobs of equal width with an offered load of 0.5, 5 x 5000 jobs without the first 500. Times are in mean service
times."""
CONCLUSIONS = """
## Conclusions

* The hosts of a job are drawn at random, so a wide job is below many other jobs at once. It does not run before the last of
  them ends; meanwhile it is the highest job on the other hosts, which idle. Later jobs queue below it in turn. On the trace
  with two slots per host, jobs hold {held:.0f} % of the slots and use {used:.0f} % of the time of the hosts.
* Sharing does not slow down narrow jobs. Wide jobs saturate a machine on which, with one slot per host, they hardly wait at the
  same load.
* If jobs take the free hosts with the lowest numbers (`pick=lowest`), they are below few other jobs, and the streams are not saturated.
* Two jobs that compute half of the time share a host at full speed, and waits are shorter than without sharing.

Turner warns of this effect (section 6.3): a cluster of low priority that spans several clusters of higher priority. The rule that
a job advances at the rate of its slowest process holds for programs whose processes wait for one another; it does not affect EP.
The threshold of version 2 of Elmer avoids the effect: hosts are shared only if processor time is left."""


def cell(value: object) -> str:
    """Returns a cell; numbers below 1000 have three decimals, without zeros at the end."""
    if isinstance(value, str):
        return value
    return f"{value:.0f}" if value >= 1000 else f"{value:.3f}".rstrip("0").rstrip(".")


def columns(page: Page, rows: pl.DataFrame, names: str) -> None:
    rows = rows.select(names.split())
    page.add(row(*rows.columns), "|---" * rows.width + "|", *(row(*map(cell, cells)) for cells in rows.iter_rows()))


def write(page: Page) -> None:
    command = (
        "--machine cluster:100,cluster:100x2,cluster:100x4 --alloc elmer[version=2],elmer,elmer[mode=strict],elmer[pick=lowest],"
        "elmer[demand=0.9],elmer[demand=0.5],elmer[version=2,demand=0.5]"
    )
    page.add(TEXT, f"\n`replay {command}`\n")
    replay(f"{command} --quiet --no-jobs --no-plots --out", page.work / "workstations")
    page.copy(page.work / "workstations" / "runs.csv", "workstations.csv")
    runs = read(page.out / "workstations.csv")
    columns(page, runs, "topology allocator mean_wait mean_turnaround makespan utilization slots_held_percent")
    page.add(WIDTHS)
    command = (
        "stream --seed 1 --machine cluster:100,cluster:100x2 --sides uniform[low=WIDTH,high=WIDTH] --load 0.5 --jobs 5000 "
        "--warm-up 500 --min-replications 5 --max-replications 5 --alloc elmer,elmer[pick=lowest],elmer[demand=0.5]"
    )
    streams = [replay(f"{command.replace('WIDTH', str(width))} --quiet --format csv") for width in (1, 2, 5, 10, 25, 50)]
    tables = [pl.read_csv(StringIO(printed.stdout), infer_schema=False) for printed in streams]
    pl.concat(tables).write_csv(page.out / "workstations-widths.csv")
    page.add(f"\n`replay {command}`\n")
    names = "sides topology allocator wait_time service_time turnaround_time utilization_percent slots_held_percent"
    columns(page, read(page.out / "workstations-widths.csv"), names)
    two = runs.row(by_predicate=(pl.col("topology") == "cluster:100x2") & (pl.col("allocator") == "elmer"), named=True)
    page.add(CONCLUSIONS.format(held=two["slots_held_percent"], used=100 * two["utilization"]))
