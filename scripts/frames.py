"""Reads tables as data frames of polars, and prints them as Markdown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from common import NEEDS_POLARS, row, stop

try:
    import polars as pl
except ImportError:
    stop(NEEDS_POLARS, 2)


def read(path: Path, as_text: bool = False) -> pl.DataFrame:
    """Returns a CSV table; `as_text` keeps numbers as they are written."""
    return pl.read_csv(path, infer_schema=not as_text, infer_schema_length=None)


def hours(seconds: float, digits: int = 2) -> str:
    return f"{seconds / 3600:.{digits}f}"


def shown(value: float | None, form: str) -> str:
    """Formats a value; a missing value gives an empty cell."""
    return "" if value is None else format(value, form)


def job_mean(column: str) -> pl.Expr:
    """The mean of a column over the jobs of several rows."""
    return ((pl.col(column) * pl.col("jobs")).sum() / pl.col("jobs").sum()).alias(column)


def by_class(rows: pl.DataFrame, column: str, metrics: list[str], cell: Callable[[dict], str]) -> list[str]:
    """Returns a Markdown table of means by classes of sizes (1, 2, 3 to 4, 5 to 8, ...).

    `rows` has the columns size, jobs and `metrics`. The table has a column for each value of `column`.
    """
    top = pl.col("size").map_elements(lambda size: 1 << (size - 1).bit_length(), return_dtype=pl.Int64)
    means = rows.group_by(column, top.alias("top"), maintain_order=True).agg(
        pl.col("jobs").sum(), *(job_mean(metric) for metric in metrics)
    )
    names = means[column].unique(maintain_order=True).to_list()
    lines = [row("processors", "jobs", *names), "|---:|" + "---:|" * (len(names) + 1)]
    for (high,), found in means.sort("top", maintain_order=True).group_by("top", maintain_order=True):
        cells = {one[column]: one for one in found.iter_rows(named=True)}
        low = high if high < 3 else high // 2 + 1
        lines.append(
            row(high if low == high else f"{low} to {high}", cells[names[0]]["jobs"], *(cell(cells[name]) for name in names))
        )
    return lines
