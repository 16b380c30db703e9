"""Runs in several processes and threads, and pickles."""

import gzip
import multiprocessing
import os
import pickle
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import joblib
import pytest
from conftest import REPOSITORY

import replay

SMALL = {"machine": "10x10", "alloc": ["mc1x1", "mbs"], "placements": False}


def waits(seed):
    trace = replay.read_swf("lublin-10x10", jobs=100)
    return replay.run(trace, seed=seed, **SMALL).runs["mean_wait"].to_list()


FORKED = """
import multiprocessing

import replay

trace = replay.read_swf("lublin-10x10", jobs=100)


def work(seed):
    traced = replay.read_swf("lublin-10x10", jobs=100)
    results = replay.run(traced, machine="10x10", alloc=["mc1x1", "mbs"], seed=seed, placements=False)
    simulation = replay.Simulation(traced, machine="10x10")
    return len(results.figures()) > 0 and simulation.waiting_count == 1 and results.runs["mean_wait"].to_list()


if __name__ == "__main__":
    multiprocessing.set_start_method(METHOD)
    # The parent has threads of its own before the children exist.
    here = work(0)
    with multiprocessing.Pool(2) as pool:
        assert pool.map(work, range(3), chunksize=1) == [here] * 3
        # Processes may fork again.
        assert work(0) == here
    print("done")
"""


@pytest.mark.parametrize("method", [name for name in multiprocessing.get_all_start_methods()])
def test_children_run_grids(method, tmp_path):
    path = tmp_path / "children.py"
    path.write_text(FORKED.replace("METHOD", repr(method)))
    # A child without threads would wait without end.
    done = subprocess.run([sys.executable, path], capture_output=True, text=True, timeout=180, cwd=REPOSITORY)
    assert (done.stdout, done.returncode) == ("done\n", 0), done.stderr


def test_joblib_and_threads_run_grids(monkeypatch):
    monkeypatch.chdir(REPOSITORY)
    expected = [waits(seed) for seed in range(3)]
    for backend in ("loky", "threading"):
        assert joblib.Parallel(n_jobs=2, backend=backend)(joblib.delayed(waits)(seed) for seed in range(3)) == expected
    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(waits, range(3))) == expected


def copied(value):
    return pickle.loads(pickle.dumps(value))


def test_tables_are_pickled(results):
    for table in (results.runs, results.jobs, results.placements, results.outages, results[1].by_size):
        assert copied(table).equals(table)
    compared = replay.compare(results[0], results[1])
    assert copied(compared).compared.equals(compared.compared)


def test_results_are_pickled(results, tmp_path):
    copy = copied(results)
    for name in ("runs", "by_size", "jobs", "placements", "outages", "shaken", "against_log"):
        assert getattr(copy, name).equals(getattr(results, name)), name
    assert [repr(run) for run in copy] == [repr(run) for run in results]
    for run, other in zip(results, copy):
        assert run.jobs.equals(other.jobs)
        assert run.metrics == other.metrics
        assert (run.seconds, run.tie, run.copy) == (other.seconds, other.tie, other.copy)
    assert copy[1].explain(job=3333) == results[1].explain(job=3333)
    assert copy[1].show(job=3333).svg == results[1].show(job=3333).svg
    assert replay.compare(copy[0], copy[1]).compared.equals(replay.compare(results[0], results[1]).compared)
    for name, one in {"results": results, "copy": copy}.items():
        one.save(tmp_path / name)
    files = sorted(path.name for path in (tmp_path / "results").iterdir())
    assert files == sorted(path.name for path in (tmp_path / "copy").iterdir())
    for name in files:
        assert (tmp_path / "results" / name).read_bytes() == (tmp_path / "copy" / name).read_bytes(), name
    run = copied(results[2])
    assert (repr(run), run.metrics) == (repr(results[2]), results[2].metrics)
    # A pickle can be pickled.
    assert copied(copy).runs.equals(results.runs)
    # Figures that were drawn are kept.
    results.figures()
    assert copied(results).figure("strategies").svg == results.figure("strategies").svg
    fresh = copied(replay.run(replay.read_swf("lublin-10x10", jobs=20), **SMALL))
    with pytest.raises(replay.UsageError, match="unpickled results have only the figures"):
        fresh.figures()
    with pytest.raises(replay.UsageError, match="placements=True"):
        fresh.placements


@pytest.mark.filterwarnings("ignore::replay.ReplayWarning")
def test_results_with_every_table_are_pickled(tmp_path):
    down = tmp_path / "down.csv"
    down.write_text("from,until,what\n100,5000,nodes 0-9\n")
    trace = replay.read_swf("lublin-10x10", jobs=200)
    results = replay.run(trace, down=down, shake=2, sched=["fcfs", "easy"], alloc="mc1x1")
    copy = copied(results)
    assert len(results.outages) == 6 and len(results.shaken) > 0
    for name in ("runs", "outages", "shaken", "against_log"):
        assert getattr(copy, name).equals(getattr(results, name)), name


TEXT = "; MaxProcs: 16\n1 0 -1 60 4\n2 5 -1 30 8\n3 9 -1 30 16\n"


def test_traces_are_pickled(tmp_path):
    import polars as pl

    table = pl.DataFrame({"submit": [0, 5, 9], "run": [60, 30, 10], "size": [4, 8, 6]})
    plain, packed = tmp_path / "plain.swf", tmp_path / "packed.swf.gz"
    plain.write_text(TEXT)
    packed.write_bytes(gzip.compress(TEXT.encode()))
    log = tmp_path / "sacct.txt"
    log.write_text(
        "JobID|Submit|Start|End|TimelimitRaw|AllocNodes|State\n"
        "1|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05|120|4|COMPLETED\n"
    )
    traces = [
        replay.example(),
        replay.read_swf("lublin[jobs=30,seed=2]", policy="pwa"),
        replay.Trace.from_arrow(table, processors=16, name="own"),
        replay.read_swf(plain, policy="pwa", jobs=2),
        replay.read_swf(packed, from_=5),
        replay.import_log("sacct[zone=UTC]", log, processors=16),
    ]
    pickles = [pickle.dumps(trace) for trace in traces]
    # The other process has no access to the files.
    gone = tmp_path / "gone"
    gone.mkdir()
    for path in (plain, packed):
        path.rename(gone / path.name)
    for trace, text in zip(traces, pickles):
        copy = pickle.loads(text)
        assert (copy.name, copy.processors, copy.policy) == (trace.name, trace.processors, trace.policy)
        assert copy.cleaning == trace.cleaning
        assert copy.jobs.equals(trace.jobs)
        run, other = (replay.run(one, sched="easy", alloc="mc1x1")[0] for one in (trace, copy))
        assert other.jobs.equals(run.jobs)
        job = int(run.jobs["job"][-1])
        assert f"job {job}" in other.explain(job=job)
        assert copied(copy).jobs.equals(trace.jobs)


def test_shapes_are_pickled(tmp_path):
    path = tmp_path / "stream.swf"
    command = [sys.executable, "-m", "replay", "synth", "stream[machine=8x8,arrivals=5,jobs=40]", f"--write={path}", "-q"]
    subprocess.run(command, check=True)
    assert (tmp_path / "stream.shapes.csv").exists()
    trace = replay.read_swf(path)
    text = pickle.dumps(trace)
    for file in tmp_path.iterdir():
        os.remove(file)
    runs = [replay.run(one, machine="8x8", alloc="first-fit")[0] for one in (trace, pickle.loads(text))]
    assert runs[0].placements.equals(runs[1].placements)


def test_a_changed_trace_is_not_pickled(tmp_path):
    path = tmp_path / "changed.swf"
    path.write_text(TEXT)
    trace = replay.read_swf(path)
    path.write_text(TEXT.replace("60", "61"))
    with pytest.raises(replay.DataError, match="changed after it was read"):
        pickle.dumps(trace)


def test_other_values_are_pickled(results, trace):
    explained = results[0].explain(job=3)
    assert (copied(explained), copied(explained).data) == (explained, explained.data)
    figure = results.figure("strategies")
    assert (copied(figure).name, copied(figure).svg) == (figure.name, figure.svg)
    found = replay.search(trace, machine="10x10", jobs=100, sr=1, factors=range(0, 2))
    assert copied(found).trials.equals(found.trials)
    with pytest.raises(replay.UsageError) as refused:
        replay.run(trace, alloc="nothing")
    assert type(copied(refused.value)) is replay.UsageError and str(copied(refused.value)) == str(refused.value)
