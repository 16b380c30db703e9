import inspect
import math
import warnings
from functools import partial

import numpy as np
import polars as pl
import pytest

import replay
from replay import _options
from replay._results import RUN_OPTIONS


def test_compare_gives_verdicts(results):
    compared = replay.compare(results[0], results[1], measure=["wait", "pairwise_l1"]).compared
    assert compared["compared_measure"].to_list() == ["wait", "pairwise_l1"]
    assert compared["change_verdict"].to_list() == ["same", "better"]
    low, high = compared["change_low_percent"][1], compared["change_high_percent"][1]
    assert low < compared["change_percent"][1] < high < 0
    by_size = replay.compare(results[0], results[1], measure="wait", by="size").compared
    assert len(by_size) == 8
    with pytest.raises(replay.UsageError, match="measure"):
        replay.compare(results[0], results[1], measure="weight")


def test_figures(results, tmp_path):
    names = [figure.name for figure in results.figures()]
    assert any(name.startswith("improvement-by-size") for name in names)
    figure = results.figure("strategies--lublin-10x10--10x10--fcfs")
    assert results.figure("strategies") is figure
    assert figure._repr_svg_().startswith("<svg")
    for suffix, magic in {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF"}.items():
        figure.save(tmp_path / f"figure.{suffix}")
        assert (tmp_path / f"figure.{suffix}").read_bytes().startswith(magic)
    with pytest.raises(replay.UsageError, match="svg"):
        figure.save(tmp_path / "figure.gif")
    with pytest.raises(replay.UsageError, match="the figures are"):
        results.figure("nothing")


def test_show_and_explain(results):
    shown = results[1].show(job=3333)
    assert "lublin-10x10 on 10x10, fcfs, mc1x1 (2,13,20,6)" in str(shown)
    assert shown._repr_svg_().startswith("<svg")
    explained = results[3].explain(job=3333)
    assert "job 3333 requests 1 processor" in explained
    assert explained.data["steps"]
    with pytest.raises(replay.UsageError, match="no job|0"):
        results[1].explain(job=99999999)


@pytest.mark.filterwarnings("ignore:.* depends on two jobs:replay.ReplayWarning")
def test_commands_return_tables(trace):
    found = replay.search(trace, machine="10x10", jobs=300, sr=range(1, 3), factors=range(0, 2))
    assert found.trials.equals(found["search"])
    assert set(filter(None, found.trials["sr"])) == {1, 2}
    contended = replay.contend(trace, jobs=40, scale=1, pattern="n-body", alloc=["mc1x1", "mbs"])
    assert contended.contend["allocator"].to_list() == ["mc1x1", "mbs"]
    assert len(pl.DataFrame(contended.contend_jobs)) == 80
    streamed = replay.stream(machine=(8, 8), arrivals=0.5, jobs=30, max_replications=30, precision=50, alloc="first-fit")
    assert "stream" in streamed
    with pytest.raises(AttributeError, match="the tables are stream"):
        streamed.nothing
    verified = replay.verify("scheduling")
    assert set(verified["verdict"]) == {"within"}
    with pytest.raises(TypeError, match="scle"):
        replay.contend(trace, scle=3)


def test_warnings_are_values(trace):
    def issued(call):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", replay.ReplayWarning)
            returned = call().warnings
        assert returned == [str(one.message) for one in caught] and len(returned) == len(set(returned))
        return returned

    short = replay.read_swf("lublin-10x10", jobs=60)
    assert issued(lambda: replay.run(short, machine="10x10", alloc="mc1x1")) == []
    [machine] = issued(lambda: replay.run(short, machine="16x16", alloc="mc1x1"))
    assert "the log's machine has 100 processors" in machine
    assert issued(lambda: replay.search(short, machine="16x16", sr=1, factors=[0, 1])) == [machine]
    for line in issued(lambda: replay.contend(trace, jobs=40, scale=1, pattern="n-body", alloc=["mc1x1", "mbs"])):
        assert "depends on two jobs" in line
    stream = {"machine": "8x8", "jobs": 30, "max_replications": 30, "alloc": "first-fit"}
    wide, overloaded = issued(lambda: replay.stream(arrivals=9, precision=0.001, **stream))
    assert wide.startswith("some intervals are wider") and overloaded.startswith("at 1 of 1 point, jobs arrive faster")
    runs = [replay.run(replay.read_swf("lublin-10x10", jobs=jobs), machine="10x10", alloc="mc1x1") for jobs in (60, 50)]
    [omitted] = issued(lambda: replay.compare(*runs))
    assert omitted.endswith("; 10 jobs that only one run has are omitted")
    assert "base" in omitted and "/" not in omitted


def test_warnings_of_nested_runs_are_apart():
    class Nested(replay.Allocator):
        inner: list = []

        def allocate(self, machine, request):
            if not self.inner:
                with pytest.warns(replay.ReplayWarning, match="100 processors"):
                    self.inner.extend(replay.run(short, machine="16x16", alloc="mc1x1").warnings)
            return machine.free[: request.size]

    short = replay.read_swf("lublin-10x10", jobs=20)
    assert replay.run(short, machine="10x10", alloc=Nested()).warnings == []
    assert len(Nested.inner) == 1


def test_tables_are_displayed_with_a_figure(trace):
    search = {"machine": "10x10", "jobs": 60, "sr": 1, "factors": [0, 1]}
    plain = replay.search(trace, **search)
    assert plain.figures == [] and "<svg" not in plain._repr_html_()
    assert "rank" in plain._repr_html_()
    drawn = replay.search(trace, **search, plots=True)
    assert [figure.name.split("--")[0] for figure in drawn.figures] == ["convergence", "surface"]
    assert drawn._repr_html_() == plain._repr_html_() + drawn.figures[0].svg
    assert drawn.trials.equals(plain.trials)


@pytest.mark.filterwarnings("ignore:3 runs that only one folder has:replay.ReplayWarning")
def test_folders_are_compared(results, tmp_path):
    results.save(tmp_path / "one")
    replay.run(replay.example(), machine="10x10", alloc="mc1x1", sched="easy").save(tmp_path / "two")
    both = replay.compare(tmp_path / "one", str(tmp_path / "two"), measure="wait")
    assert list(both) == ["compared"] and len(both.compared) == 1
    assert both.warnings == ["3 runs that only one folder has are omitted"]
    of_runs = replay.compare(results[0], results[2], measure="wait").compared
    of_folder = replay.compare(f"{tmp_path}/one:0", f"{tmp_path}/one:2", measure="wait").compared
    assert of_runs.equals(of_folder)
    by_queue = replay.compare(results[0], f"{tmp_path}/one:1", measure="pairwise_l1", by="queue").compared
    assert by_queue["class"].to_list()[:2] == [None, "queue 0"]
    moved = replay.compare(results[0], results[2], schedule=True)
    assert list(moved) == ["moved"] and len(moved.moved) > 0
    projected = replay.compare(results, row="scheduler", col="strategy", measure=["wait", "mean_pairwise_l1"])
    assert projected.projected.shape[0] == 8
    with pytest.raises(replay.UsageError, match="--col <KEYS>"):
        replay.compare(results, row="scheduler")
    with pytest.raises(replay.UsageError, match="compare: other is missing; pass other, or row and col"):
        replay.compare(results)


def test_a_log_becomes_a_trace(tmp_path):
    log = tmp_path / "sacct.txt"
    log.write_text(
        "JobID|Submit|Start|End|TimelimitRaw|AllocNodes|State\n"
        "1|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05|120|4|COMPLETED\n"
        "2|2026-03-01T08:01:00|2026-03-01T09:00:05|2026-03-01T09:30:05|60|8|COMPLETED\n"
    )
    trace = replay.import_log("sacct[zone=UTC]", log, processors=16)
    assert (len(trace), trace.processors, trace.name) == (2, 16, "sacct")
    results = replay.run(trace, sched=["fcfs", "recorded"], alloc="mc1x1")
    assert results[0].jobs["start"].to_list() == [0, 60]
    assert len(results.against_log) > 0
    assert "job 2" in results[0].explain(job=2)


def test_a_simulation_is_the_engine(trace):
    sim = replay.Simulation(trace, machine="10x10", alloc="mc1x1")
    assert (sim.now, sim.waiting_count, sim.free_count, sim.processors) == (75, 1, 100, 100)
    assert sim.queue[0].size == 4
    with pytest.raises(IndexError, match="has 1 job"):
        sim.start(1)
    with pytest.raises(replay.UsageError, match="4 distinct processors"):
        sim.start(0, [1, 2])
    while not sim.done:
        while sim.waiting_count and sim.start(0):
            pass
        sim.advance()
    assert not sim.advance()
    run = replay.run(trace, machine="10x10", sched="fcfs", alloc="mc1x1")[0]
    assert sim.jobs["start"].equals(run.jobs["start"])
    assert math.isclose(sum(sim.jobs["wait"]) / len(trace), run.metrics["mean_wait"])


def test_a_simulation_proposes(trace):
    sim = replay.Simulation(trace, machine="10x10", alloc=["mc1x1", "row-major-free-list"])
    mc1x1, first = sim.propose(0)
    assert first == [0, 10, 20, 30]
    assert sim.pairwise_l1(mc1x1) == 8
    assert sim.start(0, first)
    assert sim.running[0].processors == first
    assert sim.free == [node for node in range(100) if node not in first]
    with pytest.raises(replay.UsageError, match="list of allocators"):
        replay.Simulation(trace, machine="10x10", alloc=["mc1x1", "mbs"])


def test_arguments_of_a_simulation_are_named(trace):
    for name, value in {"first": -1, "count": 0, "seed": -1}.items():
        with pytest.raises(replay.UsageError, match=f"{name}: {value} is not an integer"):
            replay.Simulation(trace, machine="10x10", **{name: value})
    with pytest.raises(replay.UsageError, match="first: 5000 .* has 5000 jobs"):
        replay.Simulation(trace, machine="10x10", first=5000)
    assert len(replay.Simulation(trace, machine="10x10", first=4999, count=2**70).jobs) == 1
    sim = replay.Simulation(trace, machine="10x10", alloc=["mc1x1", "random"])
    for call in (sim.start, sim.propose):
        for position in (-1, -(2**70)):
            with pytest.raises(replay.UsageError, match=f"position: {position} is not an integer of at least 0"):
                call(position)
        with pytest.raises(TypeError, match="position: x is not an integer"):
            call("x")
    for processors in ([0, 1, 2, -1], [0, 1, 2, 100], [0, 1, 2, 2**70]):
        with pytest.raises(replay.UsageError, match="processors: "):
            sim.start(0, processors)
        with pytest.raises(replay.UsageError, match="processors: "):
            sim.pairwise_l1(processors)
    assert sim.start(np.int64(0), np.arange(4))
    assert sim.running[0].processors == [0, 1, 2, 3]


@pytest.mark.parametrize("machine", ["10x10", "torus:5x20", "hypercube:7", "tree:5x20"])
@pytest.mark.filterwarnings("ignore:.*this machine has:replay.ReplayWarning")
def test_a_simulation_runs_on_every_kind_of_machine(trace, machine):
    sim = replay.Simulation(trace, machine=machine, alloc="random", count=50)
    while not sim.done:
        while sim.waiting_count and sim.start(0):
            assert sim.pairwise_l1(sim.running[-1].processors) >= 0
        sim.advance()
    assert None not in sim.jobs["start"]


def test_compare_names_runs(results):
    same = replay.compare(results[0], results[0]).compared
    assert set(same["base"]) == set(same["compared_run"]) == {"lublin-10x10 10x10 fcfs mc1x1"}
    assert "-0.0" not in same.write_csv()
    with pytest.raises(TypeError, match="other: int is neither a Run, Results of replay.run nor a folder"):
        replay.compare(results[0], 5)
    with pytest.raises(replay.DataError, match="^out: no such file"):
        replay.compare(results[0], "out")


def test_options_that_belong_to_the_trace_are_refused():
    trace = replay.read_swf("lublin-10x10", jobs=200)
    for name, value in {"jobs": 100, "policy": "pwa"}.items():
        with pytest.raises(replay.UsageError, match=f"search: {name} belongs to the trace lublin-10x10; pass {name} only"):
            replay.search(trace, machine="10x10", **{name: value})
    with pytest.raises(TypeError, match="trace: str is not a replay.Trace; replay.read_swf"):
        replay.search("KTH-SP2.swf")


def test_options_of_the_command_line_only_are_refused(results):
    functions = [replay.search, replay.contend, replay.stream, replay.verify, results[0].show]
    functions += [partial(replay.compare, results), partial(replay.import_log, "sacct", "log")]
    for name, value in {"help": True, "version": True, "out": "folder", "format": "csv", "quiet": True}.items():
        for function in functions:
            with pytest.raises(TypeError, match=f"unexpected keyword argument '{name}'"):
                function(**{name: value})


@pytest.mark.parametrize("name", ["run", "search", "contend", "stream", "verify", "compare"])
def test_every_option_is_documented(name):
    text = getattr(replay, name).__doc__
    known = _options.keywords(name)
    names = RUN_OPTIONS if name == "run" else known
    for option in names:
        assert f"\n{option}: {known[option].value or 'True'}\n    " in text, option
    assert "--" not in text
    if name == "run":
        # The others are arguments of `read_swf`, or arguments of `run` with another meaning.
        others = {"policy", "from_", "jobs", "days", "max_errors", "no_jobs", "placements", "plots", "alloc"}
        # Only the program runs the schedulers of a site.
        others |= {"site", "cluster", "limits", "priorities"}
        assert set(RUN_OPTIONS) == set(known) - others
        assert set(RUN_OPTIONS) <= set(inspect.signature(replay.run).parameters)
    if name == "search":
        assert "[possible values: exhaustive, local, random, external]" in " ".join(text.split())
