"""Reads an output directory with pandas and with polars, and checks the tables.

Usage: read_results.py FOLDER

Prints one line per table; the first error ends the program with an AssertionError.
"""

import json
import sys
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow.parquet as pq
from pandas.testing import assert_frame_equal

# Columns in order, by type: t text, u unsigned, i signed, f float, l list of signed.
TABLES = {
    "runs": """run:i trace:t jobs:i topology:t processors:i scheduler:t allocator:t tie:t policy:t seed:u copy:i
        mean_pairwise_l1:f total_pairwise_l1:i tied_decisions:i tied_percent:f mean_tied:f mean_diameter:f
        mean_dispersal:f mean_weighted_dispersal:f mean_components:f contiguous_percent:f
        mean_leaves:f mean_leaf_ratio:f mean_upper_blocks:f mean_level:f mean_pair_hops:f one_leaf_percent:f
        one_leaf_fitting_percent:f block_fragmentation:f block_fragmentation_percent:f utilization:f
        held_utilization:f makespan:i mean_wait:f median_wait:f p90_wait:f p99_wait:f max_wait:i mean_turnaround:f
        median_turnaround:f p90_turnaround:f p99_turnaround:f mean_bounded_slowdown:f
        allocated_utilization:f internal_fragmentation_percent:f refusals:i fragmented_refusals:i
        too_few_free_refusals:i switches_refusals:i fragmented_time_percent:f blocked_menu_percent:f no_such_size_jobs:i mean_blocks:f one_block_percent:f mean_busy_list:f mean_searches:f
        attempts_per_job:f asked_per_job:f operations_per_job:f promised_heads:i late_heads:i latest_head:i slots_held_percent:f refused_sizes:i folded_percent:f mean_fold_stretch:f
        lost_efficiency_percent:f""",
    "by_size": """run:i trace:t topology:t scheduler:t allocator:t tie:t copy:i size:i jobs:i size_rank:i
        mean_pairwise_l1:f mean_leaves:f mean_wait:f mean_turnaround:f""",
    "jobs": """run:i scheduler:t allocator:t tie:t job:i submit:i arrival:i start:i run_time:i end:i estimate:i user:i group:i queue:i partition:i size:i served_size:i wait:i turnaround:i bounded_slowdown:f
        held_size:i pairwise_l1:i distance:f diameter:i dispersal:f weighted_dispersal:f components:i
        box_x:i box_y:i box_z:i leaves:i upper_blocks:i level:i tied:i""",
    "placements": """run:i scheduler:t allocator:t tie:t job:i start:i end:i nodes:l base_x:i base_y:i base_z:i side_x:i side_y:i side_z:i""",
}
POLARS = {"t": pl.String, "u": pl.UInt64, "i": pl.Int64, "f": pl.Float64, "l": pl.List(pl.Int64)}
PANDAS = {"u": "uint64", "i": "int64", "f": "float64"}


def schema(table):
    """Returns the column names and type letters of a table."""
    return dict(word.split(":") for word in TABLES[table].split())


def check_types(table, pandas, polars):
    """Checks that both libraries read equal columns of the expected types with equal values."""
    columns = schema(table)
    assert polars.schema == {name: POLARS[kind] for name, kind in columns.items()}, polars.schema
    assert list(pandas.columns) == list(columns), pandas.columns
    for name, kind in columns.items():
        # pandas converts integers with nulls to floats, and has two kinds of text.
        if kind in PANDAS and not pandas[name].isna().any():
            assert pandas[name].dtype == PANDAS[kind], (name, pandas[name].dtype)
        if kind == "l":
            theirs = [value.tolist() for value in pandas[name]]
        else:
            theirs = [None if pd.isna(value) else value for value in pandas[name].tolist()]
        assert theirs == polars[name].to_list(), name


def check_metadata(table, path):
    """Checks that the metadata of a file gives its table, units and program; returns the configuration."""
    found = pq.read_metadata(path).metadata or {}
    found = {key.decode(): value.decode() for key, value in found.items()}
    assert found["table"] == table and found["about"], found
    assert found["program"] == "replay" and found["version"] and found["commit"], found
    for name in schema(table):
        assert found[f"about:{name}"] and f"unit:{name}" in found, name
    units = {"mean_pairwise_l1": "hops", "mean_wait": "s", "wait": "s", "size": "processors"}
    for name, unit in units.items():
        assert found.get(f"unit:{name}", unit) == unit, name
    return json.loads(found["configuration"])


def check_csv(folder, table, polars):
    """Checks that the CSV file has the same values, to the last digit."""
    dtypes = {name: POLARS[kind] for name, kind in schema(table).items()}
    twin = pl.read_csv(folder / f"{table}.csv", schema=dtypes)
    assert polars.equals(twin), f"{table}: CSV and Parquet differ"
    text = [name for name, kind in schema(table).items() if kind == "t"]
    floats = [name for name, kind in schema(table).items() if kind == "f"]
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


def main(folder):
    pandas, configurations = {}, []
    for table in TABLES:
        path = folder / f"{table}.parquet"
        pandas[table], polars = pd.read_parquet(path), pl.read_parquet(path)
        check_types(table, pandas[table], polars)
        configurations.append(check_metadata(table, path))
        if table not in ("jobs", "placements"):
            check_csv(folder, table, polars)
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
    main(Path(sys.argv[1]))
