import numpy as np
import pytest

import replay


class FirstFree(replay.Allocator):
    def allocate(self, machine, request):
        return machine.free[: request.size]


def test_an_own_allocator_runs_beside_others(trace):
    results = replay.run(
        trace, machine="10x10", sched=["fcfs", "easy"], alloc=["row-major-free-list", FirstFree(), "mc1x1"], shake=2
    )
    assert [run.allocator for run in results] == ["row-major-free-list", "FirstFree", "mc1x1"] * 6
    distances = results.runs["mean_pairwise_l1"].to_list()
    assert distances[0::3] == distances[1::3]
    assert results[0].jobs["pairwise_l1"].equals(results[1].jobs["pairwise_l1"])
    assert len(replay.compare(results[0], results[1]).compared) == 5
    # Tables are joined by the number of the run.
    both = results.shaken.join(results.runs, on="run", suffix="_of_run")
    assert len(both) == len(results.shaken) > 0
    assert both["allocator"].equals(both["allocator_of_run"], check_names=False)
    with pytest.raises(replay.UsageError, match="written in Python"):
        results[1].explain(job=1)


def test_the_machine_is_as_documented(trace):
    seen = []

    class Looks(replay.Allocator):
        name = "looks"

        def begin(self, machine):
            self.shape = machine.shape

        def allocate(self, machine, request):
            seen.append((machine.free_count, request.size, request.now, request.job))
            assert machine.free.dtype == np.int64 and not machine.free.flags.writeable
            rows, columns = np.unravel_index(machine.free, self.shape)
            nearest = np.argsort(rows + columns, kind="stable")[: request.size]
            return machine.free[nearest]

    results = replay.run(trace, machine="10x10", alloc=Looks())
    assert results[0].allocator == "looks"
    assert seen[:2] == [(100, 4, 75, 1), (96, 1, 145, 2)]


def test_an_allocator_may_refuse(trace):
    class Rows(replay.Allocator):
        """Whole rows only."""

        keeps_schedule = False

        def allocate(self, machine, request):
            rows = -(-request.size // 10)
            free = np.zeros(100, bool)
            free[machine.free] = True
            whole = np.flatnonzero(free.reshape(10, 10).all(axis=1))
            if len(whole) < rows:
                return None
            return (whole[:rows, None] * 10 + np.arange(10)).ravel()[: request.size]

    run = replay.run(trace, machine="10x10", alloc=Rows(), sched="easy")[0]
    assert run.metrics["fragmented_refusals"] > 0
    # The scheduler cannot reserve placements of this allocator. The other runs are kept.
    with pytest.raises(replay.CellError, match="place") as failed:
        replay.run(trace, machine="10x10", alloc=["mc1x1", Rows()], sched=["easy", "easy[guard=place]"])
    assert [run.allocator for run in failed.value.results] == ["mc1x1", "Rows", "mc1x1"]


def raises(machine, request):
    raise ZeroDivisionError("no")


WRONG = {
    "raises": (raises, "raised ZeroDivisionError: no"),
    "busy": (lambda machine, request: [0, *machine.free[1 : request.size]], "processor 0, which is not free"),
    "few": (lambda machine, request: machine.free[: request.size - 1], "31 processors for a job of size 32"),
    "many": (lambda machine, request: machine.free[: request.size + 1], "33 processors for a job of size 32"),
    "duplicates": (lambda machine, request: [machine.free[0]] * request.size, "twice"),
    "negative": (lambda machine, request: [-1] * request.size, "not from 0 to 99"),
    "large": (lambda machine, request: [10**30] * request.size, "not from 0 to 99"),
    "mask": (lambda machine, request: np.isin(np.arange(100), machine.free), "returned booleans; .*flatnonzero"),
    "booleans": (lambda machine, request: [True] * request.size, "returned booleans"),
    "outside": (lambda machine, request: range(100, 100 + request.size), "not from 0 to 99"),
    "text": (lambda machine, request: "nonsense", "number of type str"),
    "number": (lambda machine, request: 7, "returned int, which is not iterable"),
    "floats": (lambda machine, request: np.full(request.size, 0.5), "number of type float"),
    "endless": (lambda machine, request: iter(int, 1), "processors for a job of size 32"),
    "none": (lambda machine, request: None, "keeps_schedule = False"),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_answer_names_job_and_time(trace, wrong):
    answer, message = WRONG[wrong]

    class Wrong(replay.Allocator):
        def allocate(self, machine, request):
            return answer(machine, request) if request.job == 100 else machine.free[: request.size]

    with pytest.raises(replay.AllocatorError, match="Wrong, job 100, time 65864 s: .*" + message) as refused:
        replay.run(trace, machine="10x10", alloc=Wrong())
    if wrong == "raises":
        assert isinstance(refused.value.__cause__, ZeroDivisionError)
    # Later runs are not affected.
    assert len(replay.run(trace, machine="10x10", alloc=FirstFree())) == 1


def test_objects_that_are_not_allocators_are_rejected(trace):
    with pytest.raises(TypeError, match="abstract"):
        replay.Allocator()
    for use in (replay.run, replay.Simulation):
        for wrong in (3, [3], object()):
            with pytest.raises(TypeError, match="alloc: (int|object) is neither the name"):
                use(trace, machine="10x10", alloc=wrong)
        for wrong in (FirstFree, [FirstFree]):
            with pytest.raises(TypeError, match=r"FirstFree is a class; pass an instance, such as FirstFree\(\)"):
                use(trace, machine="10x10", alloc=wrong)
        with pytest.raises(replay.UsageError, match="alloc: the list is empty"):
            use(trace, machine="10x10", alloc=[])


def test_attributes_of_allocators_are_checked(trace):
    wrong = FirstFree()
    wrong.name = 3
    with pytest.raises(TypeError, match="attribute name of FirstFree is int, not str"):
        replay.run(trace, alloc=wrong)
    wrong = FirstFree()
    wrong.keeps_schedule = "no"
    with pytest.raises(TypeError, match="attribute keeps_schedule of FirstFree is str, not bool"):
        replay.run(trace, alloc=wrong)


def test_allocators_have_different_names(trace):
    with pytest.raises(replay.UsageError, match="two allocators have the name FirstFree; set the attribute name"):
        replay.run(trace, machine="10x10", alloc=[FirstFree(), FirstFree()])
    same = FirstFree()
    same.name = "mc1x1"
    with pytest.raises(replay.UsageError, match="two allocators have the name mc1x1"):
        replay.run(trace, machine="10x10", alloc=["mc1x1[tie=2,13,20,6]", same])
    same.name = "other"
    results = replay.run(trace, machine="10x10", alloc=[FirstFree(), same], jobs=False)
    assert [run.allocator for run in results] == ["FirstFree", "other"]


def test_an_exception_in_begin_names_the_allocator(trace):
    class Fails(FirstFree):
        def begin(self, machine):
            raise OSError("no file")

    for use in (replay.run, replay.Simulation):
        with pytest.raises(replay.AllocatorError, match="Fails: begin raised OSError: no file") as failed:
            use(trace, machine="10x10", alloc=Fails())
        assert isinstance(failed.value.__cause__, OSError)


def test_messages_of_nested_errors_are_short(trace):
    class Recurses(replay.Allocator):
        def allocate(self, machine, request):
            return replay.run(trace, machine="10x10", alloc=Recurses())

    with pytest.raises(replay.AllocatorError) as failed:
        replay.run(trace, machine="10x10", alloc=Recurses())
    assert len(str(failed.value)) < 500
    cause = failed.value
    while cause.__cause__ is not None:
        cause = cause.__cause__
    assert "nested 16 times" in str(cause)


def test_a_request_is_shown_in_python(trace):
    shown = []

    class Shows(FirstFree):
        def allocate(self, machine, request):
            shown.append(repr(request))
            return super().allocate(machine, request)

    replay.run(trace, machine="10x10", alloc=Shows(), jobs=False, placements=False)
    assert shown[0] == "<replay.Request job=1 size=4 now=75>"


def test_a_simulation_that_is_busy_says_so(trace):
    class Asks(FirstFree):
        def allocate(self, machine, request):
            return sim.free[: request.size]

    sim = replay.Simulation(trace, machine="10x10", alloc=Asks())
    with pytest.raises(replay.AllocatorError, match="Asks, job 1, time 75 s: raised UsageError: the simulation is busy"):
        sim.start(0)
    assert sim.free_count == 100
