import duckdb
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import replay


def test_a_table_documents_itself(results):
    runs = results.runs
    assert len(runs) == 4
    assert runs.columns[:3] == ["run", "trace", "jobs"]
    assert runs.units["mean_wait"] == "s"
    assert "start" in runs.meanings["mean_wait"]
    assert runs["scheduler"] == ["fcfs", "fcfs", "easy", "easy"]
    assert runs["tie"] == [None, "2,13,20,6", None, "2,13,20,6"]
    assert "4 rows" in repr(runs)
    assert runs._repr_html_().count("<tr>") == 5
    with pytest.raises(KeyError, match="nothing"):
        runs["nothing"]


def test_every_library_reads_tables(results):
    jobs, placements = results.jobs, results.placements
    frame = pl.DataFrame(jobs)
    assert frame.shape == (20000, len(jobs.columns))
    assert frame["start"].to_list() == jobs["start"]
    pandas = pd.DataFrame.from_arrow(jobs)
    assert pandas["start"].to_list() == jobs["start"]
    arrow = pa.table(placements)
    assert arrow["nodes"].to_pylist() == placements["nodes"]
    assert duckdb.sql("select count(*), sum(size) from jobs").fetchall() == [(20000, sum(jobs["size"]))]
    # Text with nulls.
    assert pl.DataFrame(results.runs)["tie"].to_list() == results.runs["tie"]
    assert pa.schema(results.runs) == pa.table(results.runs).schema


def test_an_empty_table_has_its_columns(results):
    assert len(results.outages) == 0
    assert pl.DataFrame(results.outages).columns == results.outages.columns
    assert pa.table(results.outages).num_rows == 0


@pytest.mark.parametrize("make", [pl.DataFrame, pd.DataFrame, pa.table])
def test_a_trace_of_any_table(make):
    table = make({"submit": [9, 0, 5], "run": [10, 60, 30], "size": [6, 4, 8], "note": ["a", "b", "c"]})
    trace = replay.Trace.from_arrow(table, processors=16, name="three")
    assert (trace.name, trace.processors, len(trace)) == ("three", 16, 3)
    run = replay.run(trace, sched="easy", alloc="mc1x1")[0]
    assert run.machine == "4x4"
    assert run.jobs["start"] == [0, 5, 35]
    # Commands that run in a child process can read the trace too.
    assert "job 2" in run.explain(job=2)


def test_timestamps_count_from_the_first_submission():
    dates = pl.datetime_range(pl.datetime(2026, 3, 1), pl.datetime(2026, 3, 1, 2), "1h", eager=True)
    table = pl.DataFrame({"submit": dates, "run": [pl.duration(minutes=5)] * 3, "size": [1, 2, 3]}, strict=False)
    table = table.with_columns(run=pl.duration(minutes=pl.Series([5, 6, 7])))
    jobs = replay.Trace.from_arrow(table, processors=4).jobs
    assert jobs["submit"] == [0, 3600, 7200]
    assert jobs["run_time"] == [300, 360, 420]


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
    assert (jobs["submit"], jobs["run_time"], jobs["estimate"]) == ([0, 2], [2, 3], [2, 8])


def test_rows_and_unknown_columns_are_refused(results):
    jobs = results.jobs
    with pytest.raises(KeyError, match="no column nope; the table has run, scheduler"):
        jobs["nope"]
    with pytest.raises(TypeError, match="for rows, convert the table"):
        jobs[0]
    with pytest.raises(TypeError, match="for rows, convert the table"):
        list(jobs)
