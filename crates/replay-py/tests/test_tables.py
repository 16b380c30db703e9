import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import replay


def test_a_table_documents_itself(results):
    runs = results.runs
    assert isinstance(runs, pl.DataFrame) and len(runs) == 4
    assert runs.columns[:3] == ["run", "trace", "jobs"]
    columns = replay.columns().filter(table="runs")
    assert set(runs.columns) <= set(columns["name"])
    assert columns.row(by_predicate=pl.col("name") == "mean_wait", named=True)["unit"] == "s"
    assert "start" in columns.row(by_predicate=pl.col("name") == "mean_wait", named=True)["meaning"]
    assert runs["scheduler"].to_list() == ["fcfs", "fcfs", "easy", "easy"]
    assert runs["tie"].to_list() == [None, "2,13,20,6", None, "2,13,20,6"]


def test_results_show_the_columns_of_the_command_line(results):
    assert results.summary.columns[:5] == ["trace", "jobs", "topology", "scheduler", "allocator"]
    expected = ["mean_pairwise_l1", "utilization", "mean_wait", "mean_turnaround", "mean_bounded_slowdown"]
    assert [name for name in results.summary.columns if name in expected] == expected
    assert "mean_wait" in repr(results) and "p99_wait" not in repr(results)
    html = results._repr_html_()
    assert html.count("<tr>") >= 5 and "<svg" in html


def test_every_library_reads_tables(results):
    jobs, placements = results.jobs, results.placements
    pandas = pd.DataFrame.from_arrow(jobs)
    assert pandas["start"].to_list() == jobs["start"].to_list()
    arrow = pa.table(placements)
    assert arrow["nodes"].to_pylist() == placements["nodes"].to_list()
    assert duckdb.sql("select count(*), sum(size) from jobs").fetchall() == [(20000, jobs["size"].sum())]


def test_frames_are_queried_with_polars(results, tmp_path):
    waits = results.runs.group_by("scheduler").agg(pl.col("mean_wait").mean()).sort("scheduler")
    assert waits["scheduler"].to_list() == ["easy", "fcfs"]
    assert waits["mean_wait"][0] < waits["mean_wait"][1]
    results.save(tmp_path)
    scanned = replay.scan(tmp_path)
    assert isinstance(scanned.jobs, pl.LazyFrame)
    assert scanned.jobs.collect().equals(results.jobs)
    assert scanned["runs"].collect().equals(results.runs)
    with pytest.raises(AttributeError, match="no table nope; the tables are by_size, jobs"):
        scanned.nope
    with pytest.raises(replay.UsageError, match="has no tables of results"):
        replay.scan(tmp_path / "none")


def test_an_empty_table_has_its_columns(results):
    assert len(results.outages) == 0
    assert results.outages.columns[0] == "run"
    assert pa.table(results.outages).num_rows == 0


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_a_trace_of_any_table(make):
    table = make({"submit": [9, 0, 5], "run": [10, 60, 30], "size": [6, 4, 8], "note": ["a", "b", "c"]})
    trace = replay.Trace.from_arrow(table, processors=16, name="three")
    assert (trace.name, trace.processors, len(trace)) == ("three", 16, 3)
    run = replay.run(trace, sched="easy", alloc="mc1x1")[0]
    assert run.machine == "4x4"
    assert run.jobs["start"].to_list() == [0, 5, 35]
    # Commands that run in a child process can read the trace too.
    assert "job 2" in run.explain(job=2)


def test_timestamps_count_from_the_first_submission():
    dates = pl.datetime_range(pl.datetime(2026, 3, 1), pl.datetime(2026, 3, 1, 2), "1h", eager=True)
    table = pl.DataFrame({"submit": dates, "run": [pl.duration(minutes=5)] * 3, "size": [1, 2, 3]}, strict=False)
    table = table.with_columns(run=pl.duration(minutes=pl.Series([5, 6, 7])))
    jobs = replay.Trace.from_arrow(table, processors=4).jobs
    assert jobs["submit"].to_list() == [0, 3600, 7200]
    assert jobs["run_time"].to_list() == [300, 360, 420]


def test_tables_without_jobs_are_refused():
    with pytest.raises(replay.DataError, match="no column size; the table has submit, run"):
        replay.Trace.from_arrow(pl.DataFrame({"submit": [1], "run": [2]}), processors=4)
    for processors in (0, -1, 2**32):
        with pytest.raises(replay.UsageError, match=f"processors: {processors} is not an integer from 1"):
            replay.Trace.from_arrow(pl.DataFrame({"submit": [1], "run": [2], "size": [1]}), processors=processors)
    with pytest.raises(TypeError, match="column size"):
        replay.Trace.from_arrow(pl.DataFrame({"submit": [1], "run": [2], "size": ["x"]}), processors=4)
    with pytest.raises(TypeError, match="Arrow stream"):
        replay.Trace.from_arrow([1, 2], processors=4)


WRONG = {
    "null submit": ("submit", None, "the value is null"),
    "null run": ("run", None, "the value is null"),
    "null size": ("size", None, "the value is null"),
    "nan": ("run", float("nan"), "the value is null"),
    "large time": ("submit", 10**17, "100000000000000000 s is out of range"),
    "large size": ("size", 10**12, "1000000000000 is not a number of processors"),
    "negative size": ("size", -3, "-3 is not a number of processors"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_values_name_column_and_row(wrong):
    column, value, message = WRONG[wrong]
    table = {"submit": [9, 0, 5], "run": [10, 60, 30], "size": [6, 4, 8]}
    table[column][1] = value
    with pytest.raises(replay.DataError, match=f"^column {column}, row 1: {message}"):
        replay.Trace.from_arrow(pl.DataFrame(table, strict=False), processors=16)


def test_fractions_of_seconds_are_rounded():
    table = pl.DataFrame({"submit": [0.4, 1.6], "run": [2.4, 2.6], "size": [1, 1], "estimate": [None, 7.5]})
    jobs = replay.Trace.from_arrow(table, processors=4).jobs
    assert jobs.select("submit", "run_time", "estimate").rows() == [(0, 2, 2), (2, 3, 8)]
