"""The page links: contention estimated from link loads, compared with contention of flits: ranking of allocators, and cost."""

import resource
import time

import polars as pl

from common import Page, quick, replay, row
from frames import read

LONG = "links.csv"
TRACES = ["KTH-SP2", "SDSC-SP2", "SDSC-Par96", "CTC-SP2"]
ALLOCATORS = "mc1x1,mm,gen-alg,hilbert-best-fit,row-major-best-fit,row-major-free-list,mbs,gabl,paging,first-fit,random"
METRICS = ["mean_stretch", "mean_placement_factor", "mean_contention_factor"]
JOBS, COPIES, LARGE = 500, 5, 5000
TEXT = f"""\
# Link loads compared with flits

`contend --network links` simulates each job alone, flit by flit, for a window of 4,096 cycles, and computes from the
loads of shared links how much jobs slow each other down. This page compares it with the flit model, on the first
{JOBS} jobs of four logs: FCFS, one cycle per second, {len(ALLOCATORS.split(","))} allocators, no tie vectors.
Each value of an allocator is a mean over {COPIES + 1} runs: the log, and {COPIES} copies perturbed by a second. Runs with
contention are chaotic, so a single run is not representative.

Correlations are over the allocators. *Stretch: by rank* is Spearman's, *linear* is Pearson's; *placement* and *contention* are
Spearman's of the two factors of stretch. *Between flit copies* is Spearman's of stretch between the even and the odd
copies of the flit model itself, an upper bound for any model. The *largest difference* is the relative difference
between stretch by links and by flits over the allocators. No constant was fitted. The form of the rule was chosen
on runs of KTH-SP2 and SDSC-Par96; CTC-SP2 was not used until it was fixed.

Values by allocator are in `links.csv`. The goal was a rank correlation of 0.95.

| trace | pattern | stretch: by rank | linear | placement | contention | between flit copies | largest difference | CPU s: flits | links |
|---|---|---:|---:|---:|---:|---:|---|---:|---:|"""
SCALE = f"""
## Contention at the scale of a real machine

Blue Waters as a 24x24x24 torus, its first {LARGE:,} jobs.

| strategy | stretch | placement | contention | mean wait, h | turnaround, h |
|---|---:|---:|---:|---:|---:|"""


def contend(page: Page, options: str) -> tuple[pl.DataFrame, float, float]:
    """Runs `replay contend`; returns its rows, CPU seconds and wall seconds."""
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime, time.time()
    replay(f"contend {options} --quiet --no-plots --force --out", page.work / "out")
    cpu, wall = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before, time.time() - began
    return read(page.work / "out" / "contend.csv"), cpu, wall


def means(rows: pl.DataFrame) -> pl.DataFrame:
    """Returns the means of the metrics over the rows of each allocator."""
    return rows.group_by("allocator", maintain_order=True).agg(pl.col(METRICS).mean())


def compared(page: Page, trace: str, pattern: str) -> pl.DataFrame:
    """Adds a row that compares both models on a trace, and returns their means by allocator."""
    common = f"--trace {trace} --jobs {JOBS} --scale 1 --pattern {pattern} --alloc {ALLOCATORS} --tie none --shake {COPIES}"
    flits, exact, _ = contend(page, f"{common} --network lo")
    links, fast, _ = contend(page, f"{common} --network links")
    both = means(flits).join(means(links), on="allocator", suffix="_links", maintain_order="left")
    even, odd = (means(flits.filter(pl.col("copy") % 2 == half)) for half in (0, 1))
    copies = even.join(odd, on="allocator", suffix="_links", maintain_order="left")

    def spearman(table: pl.DataFrame, metric: str) -> str:
        # `rank` gives ties their mean rank.
        return f"{table.select(pl.corr(pl.col(metric).rank(), pl.col(f'{metric}_links').rank())).item():.3f}"

    linear = both.select(pl.corr("mean_stretch", "mean_stretch_links")).item()
    error = both.select("allocator", error=pl.col("mean_stretch_links") / pl.col("mean_stretch") - 1)
    worst = error.row(error["error"].abs().arg_max(), named=True)
    stretch, placement, contention = (spearman(both, metric) for metric in METRICS)
    ceiling = spearman(copies, "mean_stretch")
    largest = f"{worst['allocator']} {100 * worst['error']:+.0f} %"
    page.add(row(trace, pattern, stretch, f"{linear:.3f}", placement, contention, ceiling, largest, f"{exact:.0f}", f"{fast:.0f}"))
    return both.select(
        pl.lit(trace).alias("trace"), pl.lit(pattern).alias("pattern"), "allocator",
        *(pl.col(f"{metric}{of}").alias(f"{metric}_{model}") for metric in METRICS for of, model in (("", "flits"), ("_links", "links"))),
    )  # fmt: skip


def scale(page: Page) -> None:
    """Adds a section with the contention on a large machine."""
    options = f"--machine blue-waters --trace BlueWaters-15k --jobs {LARGE} --pattern all-to-all"
    options += " --alloc mc1x1,hilbert-best-fit,mbs,first-fit,random --tie none --network links"
    rows, cpu, wall = contend(page, options)
    times = [pl.col(f"mean_{time}_cycles") / 3600 for time in ("wait", "turnaround")]
    table = rows.select("allocator", *METRICS, times[0].alias("mean_wait_hours"), times[1].alias("mean_turnaround_hours"))
    table.write_csv(page.out / "links-scale.csv", float_precision=4)
    page.add(SCALE)
    for name, *factors, wait, turnaround in table.iter_rows():
        page.add(row(name, *(f"{value:.3f}" for value in factors), f"{wait:.2f}", f"{turnaround:.2f}"))
    page.add(f"\n`replay contend {options}`\n\nAll five together: {cpu:.0f} s of CPU time, {wall:.0f} s on two threads.")


def write(page: Page) -> None:
    page.add(TEXT)
    cases = [("KTH-SP2", "n-body")] if quick() else [(trace, pattern) for trace in TRACES for pattern in ("all-to-all", "n-body")]
    tables = [compared(page, trace, pattern) for trace, pattern in cases]
    pl.concat(tables).write_csv(page.out / "links.csv", float_precision=4)
    if not quick():
        scale(page)
