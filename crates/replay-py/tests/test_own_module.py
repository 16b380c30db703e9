"""The example of a Python module with a strategy that is written in Rust (examples/python_module)."""

import os
import subprocess
import sys

import pytest

PROGRAM = """
import replay
assert replay.__file__.startswith({folder!r}), replay.__file__
strategies = ["nearest", "nearest[to=55]", "mc1x1"]
results = replay.run(replay.example(), alloc=strategies)
print(*(f"{{run.allocator}} {{run.metrics['mean_pairwise_l1']:.3f}}" for run in results), sep="\\n")
"""


@pytest.fixture(scope="module")
def folder():
    if "REPLAY_OWN_MODULE" not in os.environ:
        pytest.skip("scripts/python.sh builds the module and sets REPLAY_OWN_MODULE")
    return os.environ["REPLAY_OWN_MODULE"]


def printed(folder, *arguments):
    environment = {**os.environ, "PYTHONPATH": folder}
    command = [sys.executable, *arguments]
    return subprocess.run(command, env=environment, check=True, capture_output=True, text=True).stdout


def test_the_strategy_runs_from_python(folder):
    # The values of the same strategies in docs/src/own-strategy.md.
    expected = "nearest 326.998\nnearest[to=55] 349.319\nmc1x1 271.333\n"
    assert printed(folder, "-c", PROGRAM.format(folder=folder)) == expected


def test_the_strategy_is_in_the_program(folder):
    listed = printed(folder, "-m", "replay", "list", "allocators", "--format", "names")
    assert "nearest" in listed.split()
    version = printed(folder, "-m", "replay", "--version")
    digest = next(line for line in version.splitlines() if line.startswith("sources "))
    assert len(digest.removeprefix("sources ")) == 16, version
