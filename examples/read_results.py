#!/usr/bin/env python3
"""Reads an output directory with polars and plots how much each strategy reduces distances, by job size.

Usage: read_results.py FOLDER [PICTURE.png]

The other runs are compared with the first run of the directory. Needs polars and matplotlib.
"""

import sys
from pathlib import Path

import matplotlib
import polars as pl

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402  (the backend is chosen first)


def main(folder, picture):
    runs = pl.read_parquet(folder / "runs.parquet")
    sizes = pl.read_parquet(folder / "by_size.parquet")

    # A strategy is an allocator and, if it has one, a tie vector.
    label = pl.concat_str("scheduler", "allocator", pl.col("tie").fill_null(""), separator=" ").str.strip_chars()
    runs = runs.with_columns(strategy=label)
    for run in runs.iter_rows(named=True):
        print(f"{run['strategy']}: {run['mean_pairwise_l1']:.3f} hops, mean wait {run['mean_wait']:,.0f} s")

    # Tables are joined by the number of the run.
    first = runs["run"].min()
    base = sizes.filter(pl.col("run") == first).select("size", base="mean_pairwise_l1")
    gain = (
        sizes.filter((pl.col("run") != first) & (pl.col("mean_pairwise_l1") > 0))
        .join(base, on="size")
        .join(runs.select("run", "strategy"), on="run")
        .with_columns(gain=100 * (1 - pl.col("mean_pairwise_l1") / pl.col("base")))
        .sort("run", "size")
    )

    figure, axes = plt.subplots(figsize=(8, 4.5), layout="constrained")
    for (strategy,), part in gain.group_by("strategy", maintain_order=True):
        axes.plot(part["size"], part["gain"], ".-", label=strategy)
    axes.axhline(0, color="grey", linewidth=0.8)
    axes.set_xlabel("processors of the job")
    axes.set_ylabel("less pairwise L1 distance (%)")
    axes.set_title(f"against {runs['strategy'][0]} on {runs['trace'][0]}")
    axes.legend()
    figure.savefig(picture, dpi=120)
    print(f"drawn: {picture}")


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    main(folder, Path(sys.argv[2]) if len(sys.argv) > 2 else folder / "gain-by-size.png")
