#!/usr/bin/env python3
"""Writes crates/replay-published/src/johnson/spread.csv: deviations of the numbers of Johnson et al. over perturbed copies.

    scripts/johnson-spread.py [COPIES]        [default: 20]; about 20 minutes on two cores

The archive has converted three logs of the paper again. `replay verify` judges the means, ties and improvements of these
logs by the standard deviation over copies of --shake, pooled over schedulers and tie vectors. Needs the package polars.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

sys.dont_write_bytecode = True
from common import replay
from frames import pl, read

# The name of each log in the paper, and the tie vectors of the paper.
LOGS = {
    "SDSC-Par95": ("SDSC-Par-1995-2.1-cln", "10,1,3,2 7,13,1,0 7,10,1,0 2,13,20,6 3,13,20,6 4,13,20,6"),
    "SDSC-Par96": ("SDSC-Par-1996-2.1-cln", "4,29,5,0 4,52,9,0 4,23,4,0 2,13,20,6 3,13,20,6 4,13,20,6"),
    "LANL-CM5": ("LANL-CM5-1994-3.1-cln", "12,42,41,15 11,31,27,8 12,28,27,10 2,13,20,6 3,13,20,6 6,13,20,6 7,13,20,6"),
}


def copies(trace: str, count: int, options: str) -> pl.DataFrame:
    """Returns the runs on perturbed copies with MC1x1."""
    with tempfile.TemporaryDirectory() as folder:
        command = f"sweep -q --trace {trace} --sched fcfs,easy --alloc mc1x1 --tie none --shake {count}"
        replay(f"{command} {options} --out", Path(folder, "out"))
        return read(Path(folder, "out", "runs.csv")).filter(pl.col("copy") > 0)


def pooled(runs: pl.DataFrame, metric: str) -> pl.DataFrame:
    """Returns, for each scheduler, the deviation of a metric over copies in percent, pooled over tie vectors."""
    relative = pl.col(metric).var() / pl.col(metric).mean() ** 2
    variances = runs.group_by("scheduler", "tie", maintain_order=True).agg(relative)
    return variances.group_by("scheduler", maintain_order=True).agg(deviation=100 * pl.col(metric).mean().sqrt())


def spread(trace: str, vectors: str, count: int) -> pl.DataFrame:
    """Returns the deviations of a log by scheduler and metric."""
    ties = copies(trace, count, "--ties")
    runs = copies(trace, count, " ".join(f"--tie {vector}" for vector in vectors.split()))
    without = pl.col("tie").is_null()
    found = [(metric, "no", pooled(ties.filter(without), metric)) for metric in ("tied_decisions", "tied_percent", "mean_tied")]
    for tied, rows in (("no", runs.filter(without)), ("yes", runs.filter(~without))):
        found.append(("mean_pairwise_l1", tied, pooled(rows, "mean_pairwise_l1")))
    gain = 100 * (1 - pl.col("mean_pairwise_l1") / pl.col("mean_pairwise_l1_right"))
    gains = runs.filter(~without).join(runs.filter(without), on=["scheduler", "copy"], maintain_order="left")
    gains = gains.group_by("scheduler", "tie", maintain_order=True).agg(gain.var().alias("gain"))
    gains = gains.group_by("scheduler", maintain_order=True).agg(deviation=pl.col("gain").mean().sqrt())
    found.append(("improvement_percent", "yes", gains))
    return pl.concat(
        rows.select("scheduler", pl.lit(metric).alias("metric"), pl.lit(tied).alias("tied"), "deviation", pl.lit(count).alias("copies"))
        for metric, tied, rows in found
    )


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else 20
    tables = []
    for trace, (name, vectors) in LOGS.items():
        rows = spread(trace, vectors, count)
        for scheduler in ("fcfs", "easy"):
            tables.append(rows.filter(scheduler=scheduler).select(pl.lit(name).alias("trace"), pl.all()))
    pl.concat(tables).write_csv("crates/replay-published/src/johnson/spread.csv", float_precision=4)


if __name__ == "__main__":
    main()
