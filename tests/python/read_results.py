"""Reads an output directory with pandas and with polars, and checks the tables.

Usage: replay list columns --format json | read_results.py FOLDER

Prints one line per table; the first error ends the program with an AssertionError.
"""

import json
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
from pandas.testing import assert_frame_equal

TABLES = ("runs", "by_size", "jobs", "placements")
POLARS = {"text": pl.String, "u64": pl.UInt64, "i64": pl.Int64, "f64": pl.Float64, "list": pl.List(pl.Int64)}
PANDAS = {"u64": "uint64", "i64": "int64", "f64": "float64"}


def schemas(lines):
    """Returns the column names and types of each table, in the order of `replay list columns`."""
    columns = {table: {} for table in TABLES}
    for column in map(json.loads, lines):
        if column["table"] in columns:
            columns[column["table"]][column["name"]] = column["type"]
    assert all(columns.values()), columns
    return columns


def check_types(columns, pandas, polars):
    """Checks that both libraries read equal columns of the expected types with equal values."""
    assert polars.schema == {name: POLARS[kind] for name, kind in columns.items()}, polars.schema
    assert list(pandas.columns) == list(columns), pandas.columns
    for name, kind in columns.items():
        # pandas converts integers with nulls to floats, and has two kinds of text.
        if kind in PANDAS and not pandas[name].isna().any():
            assert pandas[name].dtype == PANDAS[kind], (name, pandas[name].dtype)
        if kind == "list":
            theirs = [value.tolist() for value in pandas[name]]
        else:
            theirs = [None if pd.isna(value) else value for value in pandas[name].tolist()]
        assert theirs == polars[name].to_list(), name


def check_metadata(table, columns, path):
    """Checks that the metadata of a file gives its table, units and program; returns the configuration."""
    found = pq.read_metadata(path).metadata or {}
    found = {key.decode(): value.decode() for key, value in found.items()}
    assert found["table"] == table and found["about"], found
    assert found["program"] == "replay" and found["version"] and found["commit"], found
    for name in columns:
        assert found[f"about:{name}"] and f"unit:{name}" in found, name
    units = {"mean_pairwise_l1": "hops", "mean_wait": "s", "wait": "s", "size": "processors"}
    for name, unit in units.items():
        assert found.get(f"unit:{name}", unit) == unit, name
    return json.loads(found["configuration"])


def check_csv(folder, table, columns, polars):
    """Checks that the CSV file has the same values, to the last digit."""
    dtypes = {name: POLARS[kind] for name, kind in columns.items()}
    twin = pl.read_csv(folder / f"{table}.csv", schema=dtypes)
    assert polars.equals(twin), f"{table}: CSV and Parquet differ"
    text = [name for name, kind in columns.items() if kind == "text"]
    floats = [name for name, kind in columns.items() if kind == "f64"]
    pandas = pd.read_csv(folder / f"{table}.csv", dtype={name: "str" for name in text}, float_precision="round_trip")
    for name in floats:
        assert pandas[name].astype("float64").equals(pd.Series(polars[name].to_list(), name=name, dtype="float64")), name


def check_jobs(runs, jobs):
    """Checks that the metrics of runs follow from their jobs."""
    assert (jobs["wait"] == jobs["start"] - jobs["submit"]).all()
    assert (jobs["turnaround"] == jobs["end"] - jobs["submit"]).all()
    assert (jobs["wait"] >= 0).all() and jobs["dispersal"].between(0, 1).all()
    assert (jobs["box_x"] * jobs["box_y"] * jobs["box_z"] >= jobs["size"]).all()
    assert jobs.groupby("run")["submit"].apply(lambda times: times.is_monotonic_increasing).all()
    groups = jobs.groupby("run")
    ours = pd.DataFrame({
        "jobs": groups.size(),
        "total_pairwise_l1": groups["pairwise_l1"].sum(),
        "mean_pairwise_l1": groups["pairwise_l1"].mean(),
        "mean_wait": groups["wait"].mean(),
        "median_wait": groups["wait"].median(),
        "p90_wait": groups["wait"].quantile(0.9),
        "max_wait": groups["wait"].max(),
        "mean_turnaround": groups["turnaround"].mean(),
        "mean_bounded_slowdown": groups["bounded_slowdown"].mean(),
    })
    theirs = runs.set_index("run")[list(ours.columns)]
    assert_frame_equal(ours, theirs, check_exact=False, rtol=1e-12, check_names=False)


def check_sizes(jobs, sizes):
    """Checks that the metrics of job sizes follow from the jobs."""
    groups = jobs.groupby(["run", "size"])
    ours = pd.DataFrame({
        "jobs": groups.size(),
        "mean_pairwise_l1": groups["pairwise_l1"].mean(),
        "mean_wait": groups["wait"].mean(),
        "mean_turnaround": groups["turnaround"].mean(),
    })
    theirs = sizes.set_index(["run", "size"])[list(ours.columns)]
    assert_frame_equal(ours, theirs, check_exact=False, rtol=1e-12, check_names=False)


def check_placements(jobs, placements):
    """Checks that each job has its number of processors, which no other job has at the same time."""
    both = placements.merge(jobs[["run", "job", "start", "end", "held_size"]], on=["run", "job", "start", "end"])
    assert len(both) == len(placements) == len(jobs)
    assert (both["nodes"].map(len) == both["held_size"]).all()
    spans = placements[placements["start"] < placements["end"]].explode("nodes").sort_values(["run", "nodes", "start"])
    before = spans.groupby(["run", "nodes"])["end"].shift()
    assert (before.isna() | (before <= spans["start"])).all()


def main(folder, lines):
    pandas, configurations = {}, []
    for table, columns in schemas(lines).items():
        path = folder / f"{table}.parquet"
        pandas[table], polars = pd.read_parquet(path), pl.read_parquet(path)
        check_types(columns, pandas[table], polars)
        configurations.append(check_metadata(table, columns, path))
        if table not in ("jobs", "placements"):
            check_csv(folder, table, columns, polars)
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    assert all(found == manifest["configuration"] for found in configurations)
    runs, sizes, jobs = pandas["runs"], pandas["by_size"], pandas["jobs"]
    assert runs["run"].tolist() == [run["run"] for run in manifest["runs"]]
    check_jobs(runs, jobs)
    print(f"runs: {len(runs)} rows")
    check_sizes(jobs, sizes)
    print("by_size: agree")
    # Ties are counted only on request, and only for strategies that break ties.
    counted = runs["tied_decisions"].notna()
    assert (counted == ((runs["allocator"] == "mc1x1") & manifest["configuration"]["ties"])).all()
    assert jobs["tied"].notna().equals(jobs["run"].map(runs.set_index("run")["tied_decisions"].notna()))
    print(f"jobs: {len(jobs)} rows")
    check_placements(jobs, pandas["placements"])
    print("placements: agree")


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.stdin)
