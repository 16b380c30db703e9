from pathlib import Path

import pytest

import replay

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="session")
def trace() -> replay.Trace:
    return replay.example()


@pytest.fixture(scope="session")
def results(trace: replay.Trace) -> replay.Results:
    return replay.run(trace, machine="10x10", sched=["fcfs", "easy"], alloc=["mc1x1", "mc1x1[tie=2,13,20,6]"])
