"""The page blue-waters: cost and benefit of contiguous allocation on a large 3D torus."""

import polars as pl

from common import Page, figure, quick, replay, row
from frames import hours, job_mean, read, shown

# Use jobs 1001 to 15000, because the first thousand jobs span 78 of the 86.5 days of the log.
LOG = "--trace BlueWaters-15k --machine blue-waters --from 6738203"
FITS = ["first-fit", "turning-first-fit", "best-fit", "turning-best-fit"]
BOXES = [*(f"{fit}[shape=near-square]" for fit in FITS), "placements[tie=slurm]"]
CONTIGUOUS = ",".join(BOXES)
SCATTERED = "mc1x1,mc,gilbert-best-fit,hilbert-best-fit,row-major-best-fit,paging,mbs,granular-mbs,octet-mbs,as-mb,random"
PLACE = "easy[guard=place]"
TEXT = """\
# A real 3D torus: cost and benefit of contiguity

Jobs 1001 to 15000 of the Blue Waters log (8.5 days, 93 sizes in nodes, estimates for all) on its torus of 24x24x24
routers with two nodes each. A job gets whole routers, so a job of an odd number of nodes wastes one. Arrivals are scaled so
that jobs offer a load of 0.3 to 1 of all 27,648 nodes; the log itself offers 0.49. Run times and sizes are unchanged.

*Contiguous* allocators give a job one box of routers or let it wait. First Fit and Best Fit try one orientation or all
(`turning`), with the sides of least total length, which rounds sizes up; `placements[tie=slurm]` uses aligned boxes with sides
of powers of two, by Slurm's rule. The other allocators use any free routers.

Utilization is over the makespan, which ends long after the last arrival because jobs run for up to two days. At loads that
saturate a strategy, waits grow with the length of the log; they only show that the strategy is saturated.
"""
CONCLUSIONS = """
## Conclusions and limitations

**Cost.** With boxes, jobs wait several times as long as with scattered allocation at the same load, and utilization over the
makespan is lower. Scattered allocators have equal schedules because they never refuse a job. An allocation unit of 4x4x4 routers,
like the 8x8x8 midplanes of BlueGene/L, is saturated at all of these loads: most allocated routers are not requested.

**By size.** Waits rise in all classes of size, most for the largest jobs. Jobs of one node wait longer than jobs of two nodes:
their estimates are longer, so that EASY backfills them less often.

**Benefit.** Jobs that only send messages are faster in boxes of the least total side length than under MC1x1 or along a
Hilbert-like curve (`gilbert-best-fit`), and far faster than under `random`. Boxes with sides of powers of two bring no gain: the
processes of a job lie in a box larger than the job, which its messages must cross. Most of the slowdown comes from the shape of
the job's own placement; contention with other jobs adds little under MC1x1.

Under default EASY, contiguity costs hours of waiting and saves seconds of communication. It pays only for jobs that run for days
and mostly communicate. The allocators between the two extremes (MC1x1, curves) avoid both costs: no job waits for a box, and the
processors of a job are close together.

**The guard.** `easy` reserves a number of processors for the head of the queue. A head that is refused because no box is free waits
at most for an empty machine, and until then no longer job starts. `easy[guard=place]` reserves a place, and jobs that leave it
free may start. The cost of boxes is then far lower, and small jobs gain most because they fit next to the reserved place. Most of
the cost of contiguity under EASY is due to reserving only a number of processors.

**Limitations.** MM and Gen-Alg are omitted because their decisions take far longer here; their waits equal those of MC1x1. The study
uses one window of one log: intervals are from perturbed copies (every time changed by up to a second) and show the variation of
the schedule, not that between weeks. Messages cover the first 1,000 jobs, all-to-all and n-body, one process per router, 0.01
cycles per second, at which the machine is mostly empty; real jobs mostly compute, which does not depend on placement."""
PRICE = """
| allocator | mean wait h | 99 % h | longest h | utilization % | lost inside % | refused for place, per job | pairwise L1 |
|---|---:|---:|---:|---:|---:|---:|---:|"""
SUMMARY = """
## Summary

Mean wait in hours and utilization in percent; *boxes* is the range over the contiguous allocators.

| load | scheduler | MC1x1, wait | boxes | MC1x1, utilization | boxes | late promises |
|---:|---|---:|---:|---:|---:|---:|"""


def of_load(runs: pl.DataFrame, load: str, scheduler: str) -> pl.DataFrame:
    """Returns the runs on the log, without perturbed copies, with this load and scheduler."""
    return runs.filter(pl.col("trace").str.contains(f"[load={load}]", literal=True), scheduler=scheduler, copy=0)


def price(page: Page, runs: pl.DataFrame, load: str, scheduler: str) -> None:
    """Adds a row for each allocator."""
    page.add(PRICE)
    for run in of_load(runs, load, scheduler).iter_rows(named=True):
        refused = run["fragmented_refusals"]
        page.add(
            row(
                run["allocator"], hours(run["mean_wait"]), hours(run["p99_wait"], 1), hours(run["max_wait"], 1),
                f"{100 * run['utilization']:.1f}", shown(run["internal_fragmentation_percent"], ".1f"),
                "" if refused is None else f"{refused / run['jobs']:.1f}", f"{run['mean_pairwise_l1']:.0f}",
            )
        )  # fmt: skip


def price_by_size(page: Page, sizes: pl.DataFrame, load: str, scheduler: str) -> None:
    """Adds mean waits by class of size, a row for every allocator."""
    labels = ["1", "2", "3 to 8", "9 to 32", "33 to 128", "above 128"]
    classes = pl.col("size").cut([1, 2, 8, 32, 128], labels=labels).cast(pl.String).alias("class")
    means = of_load(sizes, load, scheduler).group_by("allocator", classes, maintain_order=True)
    means = means.agg(pl.col("jobs").sum(), job_mean("mean_wait"))
    jobs = {one["class"]: one["jobs"] for one in means.filter(allocator=means["allocator"][0]).iter_rows(named=True)}
    page.add("\n" + row("allocator", *(f"{label} nodes, {jobs[label]} jobs" for label in labels)))
    page.add("|---|---:|---:|---:|---:|---:|---:|")
    for (allocator,), rows in means.group_by("allocator", maintain_order=True):
        waits = dict(rows.select("class", "mean_wait").iter_rows())
        page.add(row(allocator, *(hours(waits[label]) for label in labels)))


def summary(page: Page, runs: pl.DataFrame, load: str, scheduler: str) -> None:
    """Adds a row with waits and utilization of boxes and of MC1x1."""
    rows = of_load(runs, load, scheduler)
    boxes, scattered = rows.filter(pl.col("allocator").is_in(BOXES)), rows.filter(allocator="mc1x1")
    cells = []
    for column, unit, digits in (("mean_wait", 1 / 3600, 2), ("utilization", 100, 1)):
        low, high = (f"{unit * value:.{digits}f}" for value in (boxes[column].min(), boxes[column].max()))
        cells += [f"{unit * scattered[column][0]:.{digits}f}" if scattered.height else "", f"{low} to {high}"]
    page.add(row(load, scheduler, *cells, boxes["late_heads"].sum()))


def write(page: Page) -> None:
    page.add(TEXT)
    if not page.ran(f"{LOG} --jobs 10 --alloc paging --quiet"):
        return
    folder = page.work / "all"
    if quick():
        command = f"{LOG} --scale-load 0.5,0.8 --sched fcfs,easy --alloc mc1x1,placements[tie=slurm] --no-jobs --no-plots --quiet"
        replay(f"{command} --out", folder)
        page.copy(folder / "runs.csv", "blue-waters.csv")
        return

    grid = f"{LOG} --scale-load 0.3,0.5,0.7,0.8,0.9,1.0 --sched fcfs,easy"
    command = f"{grid} --alloc mc1x1,turning-first-fit[shape=near-square],placements[tie=slurm] --shake 5"
    replay(f"{command} --no-jobs --quiet --out", page.work / "load")
    page.add(f"\n## By load\n\n`replay {command}`\n")
    page.copy(page.work / "load" / "shaken.csv", "blue-waters-load.csv")
    for scheduler in ("fcfs", "easy"):
        drawn = page.work / "load" / "plots" / f"wait-by-load--BlueWaters-15k--torus-24x24x24-2--{scheduler}.svg"
        figure(drawn, page.out / f"blue-waters-wait-{scheduler}")
        page.add(f"![](blue-waters-wait-{scheduler}.svg)")

    command = f"{grid} --alloc {SCATTERED},{CONTIGUOUS},placements[tie=slurm,anchors=half],anca,midplane[unit=4x4x4]"
    replay(f"{command} --no-jobs --no-plots --quiet --out", folder)
    page.add(f"\n## All strategies that support this machine\n\n`replay {command}`")
    page.copy(folder / "runs.csv", "blue-waters.csv")
    sizes = (folder / "by_size.csv").read_text(encoding="utf-8").splitlines(keepends=True)
    part = [line for number, line in enumerate(sizes) if number == 0 or "[load=0.8]" in line]
    (page.out / "blue-waters-by-size.csv").write_text("".join(part), encoding="utf-8")
    runs = read(folder / "runs.csv")
    for load in ("0.5", "0.8"):
        for scheduler in ("fcfs", "easy"):
            page.add(f"\n### Load {load}, {scheduler}")
            price(page, runs, load, scheduler)
    page.add("\nMean wait in hours by requested nodes, load 0.8, easy.")
    price_by_size(page, read(folder / "by_size.csv"), "0.8", "easy")

    command = f"{LOG} --scale-load 0.5,0.8 --sched {PLACE} --alloc {CONTIGUOUS}"
    placed = page.work / "place"
    replay(f"{command} --no-jobs --no-plots --quiet --out", placed)
    page.add(f"\n## Reserving a place instead of a number of processors\n\n`replay {command}`")
    page.copy(placed / "runs.csv", "blue-waters-place.csv")
    places = read(placed / "runs.csv")
    for load in ("0.5", "0.8"):
        page.add(f"\n### Load {load}, {PLACE}")
        price(page, places, load, PLACE)
    page.add(f"\nMean wait in hours by requested nodes, load 0.8, {PLACE}.")
    price_by_size(page, read(placed / "by_size.csv"), "0.8", PLACE)
    page.add("\n[blue-waters-place.csv](blue-waters-place.csv)\n\n## Benefit: messages\n")

    allocators = "mc1x1,gilbert-best-fit,mbs,paging,random,first-fit[shape=near-square],turning-first-fit[shape=near-square]"
    for pattern in ("all-to-all", "n-body"):
        command = f"contend {LOG} --jobs 1000 --scale 0.01 --sched easy --pattern {pattern}"
        command += f" --alloc {allocators},placements[tie=slurm]"
        printed = replay(f"{command} --no-plots --quiet --format md --out", page.work / pattern).stdout
        page.add(f"`replay {command}`\n", printed.split("\n\n")[0] + "\n")
        page.copy(page.work / pattern / "contend.csv", f"blue-waters-{pattern}.csv")

    page.add(SUMMARY)
    for load in ("0.5", "0.8"):
        for scheduler in ("fcfs", "easy"):
            summary(page, runs, load, scheduler)
        summary(page, places, load, PLACE)
    page.add(CONCLUSIONS)
