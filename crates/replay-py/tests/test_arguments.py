"""Forms of arguments that the command line does not have."""

import inspect

import numpy as np
import pytest

import replay


@pytest.fixture(scope="module")
def short():
    return replay.read_swf("lublin-10x10", jobs=60)


def test_sides_of_a_machine_are_integers(short):
    for machine in ((10, 10), [10, 10], np.array([10, 10]), np.zeros((10, 10)).shape):
        assert replay.run(short, machine=machine, alloc="mc1x1")[0].machine == "10x10"
    results = replay.run(short, machine=[(10, 10), "torus:10x10", (5, 5, 4)], alloc="random")
    assert [run.machine for run in results] == ["10x10", "torus:10x10", "5x5x4"]
    assert replay.Simulation(short, machine=(10, 10)).processors == 100
    found = replay.search(short, machine=(10, 10), sr=1, factors=range(0, 2), start=None)
    assert len(found.trials) > 0


def test_tie_vectors_are_integers(short):
    def ties(tie):
        return [run.tie for run in replay.run(short, machine="10x10", alloc="mc1x1", tie=tie)]

    for vector in ((2, 13, 20, 6), [2, 13, 20, 6], np.array([2, 13, 20, 6])):
        assert ties(vector) == ["2,13,20,6"]
    assert ties([None, (2, 13, 20, 6)]) == [None, "2,13,20,6"]
    assert ties([0, "1,1,1,1", (2, 13, 20, 6)]) == [None, "1,1,1,1", "2,13,20,6"]
    assert ties(0) == ties([None]) == ties("none") == [None]
    found = replay.search(
        short, machine="10x10", strategy="local", evaluations=20, start=[(2, 1, 1, 1), "3,1,0,0"], tie=(2, 13, 20, 6)
    )
    assert "2,13,20,6" in found.trials["tie"]
    with pytest.raises(TypeError, match="sched: None is not a member of a list"):
        replay.run(short, sched=[None])


def test_flags_are_true_or_false(short):
    with pytest.raises(TypeError, match=r"jobs: 300 is not True or False; .*read_swf\(path, jobs=300\) limits the number"):
        replay.run(short, jobs=300)
    with pytest.raises(TypeError, match="jobs: 1 is not True or False"):
        replay.run(short, jobs=1)
    with pytest.raises(TypeError, match="placements: 'no' is not True or False"):
        replay.run(short, placements="no")
    for name in ("strict", "ties", "down_walls"):
        with pytest.raises(TypeError, match=f"{name}: 2 is not True or False"):
            replay.run(short, **{name: 2})
    with pytest.raises(TypeError, match="by_size: 300 is not True or False"):
        replay.stream(by_size=300)
    with pytest.raises(TypeError, match="each: 3 is not True or False"):
        replay.search(short, each=3)
    results = replay.run(short, alloc="mc1x1", jobs=0, placements=None, ties=1, strict=0)
    assert results.runs["tied_decisions"].to_list() != [None]
    with pytest.raises(replay.UsageError, match="jobs=True"):
        results.jobs
    assert len(replay.run(short, alloc="mc1x1", jobs=np.True_, placements=np.False_).jobs) == 60


def test_values_are_not_flags(short):
    for call in (lambda: replay.read_swf("lublin-10x10", jobs=True), lambda: replay.contend(short, scale=True)):
        with pytest.raises(TypeError, match="True is not a value"):
            call()
    with pytest.raises(TypeError, match="threads: True is not a value; pass N"):
        replay.run(short, threads=True)


def test_figures_have_a_style(short):
    results = replay.run(short, alloc=["mc1x1", "mbs"])
    usual = results.figure("strategies")
    small = results.figure("strategies", figure_size="85x60mm", font_size=7, no_title=True)
    assert 'width="85mm"' in small.svg or "85" in small.svg.split(">")[0]
    assert small.svg != usual.svg and "Strategies" not in small.svg
    assert results.figure("strategies", figure_size="85x60mm", font_size="7", no_title=1) is small
    assert results.figure("strategies") is usual
    shown = inspect.signature(replay.Results.figure).parameters
    assert {"figure_size", "font_size", "no_title"} < set(shown)
    for values, message in (
        ({"figure_size": "85mm"}, "figure_size: write WIDTHxHEIGHT"),
        ({"font_size": "big"}, "font_size: write points"),
        ({"figure_size": "85x60mm", "font_size": 70}, "font"),
        ({"figure_strategies": 0}, "figure_strategies: 0 is not an integer from 1"),
    ):
        with pytest.raises(replay.UsageError, match=message):
            results.figures(**values)
