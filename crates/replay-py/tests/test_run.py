import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import REPOSITORY

import replay


def test_errors_have_the_messages_of_the_program(trace):
    with pytest.raises(replay.UsageError, match='machine "10y10"'):
        replay.run(trace, machine="10y10")
    with pytest.raises(replay.UsageError, match="did you mean .mc1x1.") as refused:
        replay.run(trace, alloc="mc1x2")
    assert isinstance(refused.value, replay.ReplayError)
    with pytest.raises(replay.DataError, match="needs 32 processors, but the machine has 16"):
        replay.run(trace, machine="4x4", alloc="mc1x1")
    with pytest.raises(replay.UsageError, match="no trace"):
        replay.read_swf("nowhere.swf")
    with pytest.raises(replay.UsageError, match="shake"):
        replay.run(trace, alloc="mc1x1", shake=-1)


def test_arguments_are_checked(trace):
    for threads, why in {0: "0 is not in 1..=1024", 1025: "1025 is not in 1..=1024", -1: "invalid digit"}.items():
        with pytest.raises(replay.UsageError, match=f"invalid value '{threads}' for '--threads <N>': {why}"):
            replay.run(trace, alloc="mc1x1", threads=threads)
    for name in ("machine", "sched", "tie", "seed"):
        with pytest.raises(replay.UsageError, match=f"{name}: the list is empty"):
            replay.run(trace, **{name: []})
    with pytest.raises(replay.UsageError, match="seed"):
        replay.run(trace, alloc="mc1x1", seed=-1)
    with pytest.raises(TypeError, match="sched: b'easy' is not text"):
        replay.run(trace, sched=b"easy")
    for wrong in ("KTH-SP2.swf", Path("KTH-SP2.swf"), ["KTH-SP2.swf"], 3):
        for use in (replay.run, replay.Simulation):
            with pytest.raises(TypeError, match=r"trace: \w+ is not a replay.Trace; replay.read_swf\(path\)"):
                use(wrong)


def test_warnings_of_the_program_are_warnings(trace):
    with pytest.warns(replay.ReplayWarning, match="log's machine has 100 processors") as caught:
        replay.run(trace, machine="16x16", alloc="mc1x1")
    assert caught[0].filename == __file__


def test_results_do_not_depend_on_threads(trace):
    def tables(threads):
        results = replay.run(
            trace, machine="10x10", sched=["fcfs", "easy"], alloc=["mc1x1", "random"], shake=2, threads=threads
        )
        return [table.write_csv() for table in (results.runs, results.by_size, results.jobs, results.shaken)]

    assert tables(1) == tables(3)


def test_runs_are_a_sequence(results):
    assert len(results) == 4
    assert [run.scheduler for run in results] == ["fcfs", "fcfs", "easy", "easy"]
    assert results[-1].tie == "2,13,20,6"
    assert [run.index for run in results[1:3]] == [1, 2]
    assert results[1].metrics["mean_pairwise_l1"] == results.runs["mean_pairwise_l1"][1]
    assert results[2].jobs["start"].equals(results.jobs["start"][10000:15000])
    with pytest.raises(IndexError):
        results[4]


def test_tables_that_were_not_kept_are_named(trace):
    results = replay.run(trace, machine="10x10", alloc="mc1x1", jobs=False, placements=False)
    with pytest.raises(replay.UsageError, match="jobs=True"):
        results.jobs


def test_progress_counts_jobs(trace):
    pytest.importorskip("tqdm")
    assert len(replay.run(trace, machine="10x10", alloc=["mc1x1", "random"], progress=True)) == 2


INTERRUPTED = """
import replay

class Mine(replay.Allocator):
    def allocate(self, machine, request):
        return machine.free[: request.size]

trace = replay.example()
print("begins", flush=True)
try:
    {call}
except KeyboardInterrupt:
    # Later runs are not affected.
    replay.run(trace, machine="10x10", alloc="random", jobs=False)
    print("interrupted", flush=True)
"""

# Without the interrupt, each call would take minutes.
LONG = {
    "seeds": 'replay.run(trace, machine="10x10", alloc="random", seed=range(100000), jobs=False, placements=False)',
    "threads": 'replay.run(trace, machine="10x10", alloc="random", seed=range(100000), jobs=False, placements=False, threads=64)',
    "own": 'replay.run(trace, machine="10x10", alloc=Mine(), seed=range(100000), jobs=False, placements=False)',
    "copies": 'replay.run(trace, machine="10x10", sched="easy", alloc=["mc1x1", "mbs"], shake=1000, seed=range(20))',
    "search": 'replay.search(trace, machine="10x10", sr=range(1, 10), factors=range(0, 11))',
    "stream": 'replay.stream(machine="16x16", arrivals=5, alloc=["first-fit", "mbs"], jobs=10_000_000)',
    "contend": 'replay.contend(trace, machine="10x10", scale=1000, pattern="all-to-all", alloc=["mc1x1", "mbs"])',
}


@pytest.mark.skipif(sys.platform == "win32", reason="needs SIGINT")
@pytest.mark.parametrize("call", LONG)
def test_ctrl_c_cancels(call):
    code = INTERRUPTED.format(call=LONG[call])
    child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY)
    try:
        assert child.stdout.readline() == "begins\n"
        time.sleep(1.5)
        child.send_signal(signal.SIGINT)
        output, _ = child.communicate(timeout=20)
    finally:
        child.kill()
    assert (output, child.returncode) == ("interrupted\n", 0)


def test_the_package_has_the_program():
    def program(*arguments):
        return subprocess.run([sys.executable, "-m", "replay", *arguments], capture_output=True, text=True)

    assert program("--version").stdout.startswith("replay ")
    assert program("--machine", "10y10").returncode == 2
    assert program("-t", "lublin-10x10", "--machine", "4x4", "-a", "mc1x1").returncode == 3
