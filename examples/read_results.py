#!/usr/bin/env python3
"""Reads an output directory with polars and plots how much each strategy reduces distances, by job size.

Usage: read_results.py FOLDER [PICTURE.png]

There is a panel for each trace, machine and scheduler. In each panel, the other runs are compared with the first run.
Perturbed copies of traces are not shown. Needs polars and matplotlib.
"""

import sys
from pathlib import Path

import matplotlib
import polars as pl

matplotlib.use("Agg")
from matplotlib import pyplot as plt  # noqa: E402  (the backend is chosen first)

PANEL = ["trace", "topology", "scheduler"]


def main(folder, picture):
    runs = pl.read_parquet(folder / "runs.parquet").filter(pl.col("copy") == 0)
    sizes = pl.read_parquet(folder / "by_size.parquet")

    # A strategy is an allocator and, if it has one, a tie vector. Policies and seeds are named if there are several.
    parts = ["allocator", pl.col("tie").fill_null("")]
    parts += [pl.format("{} {}", pl.lit(name), name) for name in ("policy", "seed") if runs[name].n_unique() > 1]
    label = pl.concat_str(parts, separator=" ").str.replace_all("  ", " ").str.strip_chars()
    runs = runs.with_columns(strategy=label)
    for run in runs.iter_rows(named=True):
        name = " ".join(run[key] for key in [*PANEL, "strategy"])
        print(f"{name}: {run['mean_pairwise_l1']:.3f} hops, mean wait {run['mean_wait']:,.0f} s")

    panels = [part for part in runs.partition_by(PANEL, maintain_order=True) if len(part) > 1]
    if not panels:
        sys.exit(f"{folder}: no two runs have the same trace, machine and scheduler")
    figure, axes = plt.subplots(len(panels), figsize=(8, 3.5 * len(panels)), layout="constrained", squeeze=False)
    for panel, axis in zip(panels, axes[:, 0]):
        draw(panel, sizes, axis)
    figure.savefig(picture, dpi=120)
    print(f"drawn: {picture}, panels: {len(panels)}")


def draw(runs, sizes, axis):
    """Draws the gain of each run over the first run, by job size."""
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
    for (_, strategy), part in gain.group_by("run", "strategy", maintain_order=True):
        axis.plot(part["size"], part["gain"], ".-", label=strategy)
    axis.axhline(0, color="grey", linewidth=0.8)
    axis.set_xlabel("processors of the job")
    axis.set_ylabel("less pairwise L1 distance (%)")
    trace, topology, scheduler = (runs[key][0] for key in PANEL)
    axis.set_title(f"against {runs['strategy'][0]} on {trace}, {topology}, {scheduler}")
    axis.legend()


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    main(folder, Path(sys.argv[2]) if len(sys.argv) > 2 else folder / "gain-by-size.png")
