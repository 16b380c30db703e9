"""The page contention: stretch of eight allocators, and its correlation with distances."""

import polars as pl

from common import Page, figure, only, quick, row
from frames import read

TEXT = """\
# Contention on real traces

Stretch is the run time of a job among the other jobs divided by its run time alone in the most compact box, in the fastest
orientation. It is the product of *placement*, the run time alone on the processors of the job divided by that in the box, and
*contention*, the run time among the other jobs divided by that alone on the same processors. Correlations are over the means of
the allocators (those over the jobs of each run are in `contention-TRACE-PATTERN-correlations.csv`). All results are in-sample:
one window of one log, one seed; [perturbed copies](contention-shaken.md) give intervals."""
RUNS = [(trace, scale, pattern) for trace, scale in (("KTH-SP2", 5), ("SDSC-Par96", 2)) for pattern in ("all-to-all", "n-body")]
TIE_TEXT = """
## The tie vector (2,13,20,6)

Median and trimmed mean of the stretch of MC1x1, without and with the vector:

| trace | pattern | scheduler | median, without | with | trimmed mean, without | with |
|---|---|---|---:|---:|---:|---:|"""


def write(page: Page) -> None:
    page.add(TEXT)
    for trace, scale, pattern in RUNS[1:2] if quick() else RUNS:
        case = f"{trace}-{pattern}"
        folder = page.work / case
        page.add(f"\n## {trace}, {pattern}\n")
        command = f"contend --trace {trace} --jobs 2000 --scale {scale} --pattern {pattern} --sched fcfs,easy"
        part = " --alloc mc1x1,first-fit --no-plots" if quick() else ""
        printed = page.ran(f"{command}{part} --quiet --format md --out", folder)
        if not printed:
            continue
        lines = printed.stdout.rstrip("\n").splitlines()
        page.add(f"`replay {command}`\n", *(line for line in lines if not line.startswith("| jobs, ")))
        page.copy(folder / "contend.csv", f"contention-{case}.csv")
        if quick():
            return
        page.copy(folder / "correlations.csv", f"contention-{case}-correlations.csv")
        name = f"contention-{case}"
        figure(only(folder / "plots", "contention--*--easy.svg"), page.out / name, page.out / f"{name}-figure.csv")
        figure(only(folder / "plots", "scatter--allocators--*--easy.svg"), page.out / f"scatter-{case}")
        page.add(f"\n![]({name}.svg)\n\n![](scatter-{case}.svg)")
        for allocator in ("mc1x1", "random"):
            figure(only(folder / "plots", f"links--*--easy--{allocator}.svg"), page.out / f"links-{case}-{allocator}")
            page.add(f"\n![](links-{case}-{allocator}.svg)")
    page.add(TIE_TEXT)
    for trace, _, pattern in RUNS:
        table = page.out / f"contention-{trace}-{pattern}.csv"
        if not table.exists():
            continue
        rows = read(table).filter(allocator="mc1x1")
        pairs = rows.filter(pl.col("tie").is_null()).join(
            rows.filter(pl.col("tie").is_not_null()), on=["trace", "pattern", "scheduler"], maintain_order="left"
        )
        for one in pairs.iter_rows(named=True):
            values = [one[f"{metric}_stretch{of}"] for metric in ("median", "trimmed_mean") for of in ("", "_right")]
            page.add(row(one["trace"], one["pattern"], one["scheduler"], *(f"{value:.4f}" for value in values)))
