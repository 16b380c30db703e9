"""Checks the type stubs."""

import subprocess
import sys
from pathlib import Path

import pytest

import replay

pytest.importorskip("mypy")

USE = """
import numpy as np
import replay
from collections.abc import Iterable
from datetime import timedelta

trace = replay.read_swf("a.swf", policy="johnson")
reveal_type(trace)

class Mine(replay.Allocator):
    def allocate(self, machine: replay.Machine, request: replay.Request) -> Iterable[int] | None:
        return list(range(request.size))

results = replay.run(trace, machine="10x10", alloc=["mc1x1", Mine()], seed=range(3))
reveal_type(results[0].metrics)
reveal_type(replay.compare(results[0], results[1]).compared)
sim = replay.Simulation(trace, alloc=Mine())
reveal_type(sim.queue)
sim.start(0, np.arange(4))
replay.search(trace, sr=range(1, 4), time=timedelta(minutes=1), strategy="local", machine=(10, 10), start=[(2, 1, 1, 1)])
replay.stream(load=[0.5, 0.7], backlog=range(1, 3), seed=3, plots=True)
replay.contend(trace, seed=range(3), alloc=["mc1x1"], tie=[None, (2, 13, 20, 6)])
replay.import_log("sacct", "log", processors=3, user=["a", "b"], from_="2026-03-01")
replay.compare("out:0", results[1], by="queue", measure=["wait"]).compared
"""
WRONG = """
import replay

replay.run(machine=3)
replay.run(oversize="clmp")
replay.search(top="3")
replay.search(time=90)
replay.search(sr="1..9")
replay.stream(jobs=1.5)
replay.contend(scle=3)
replay.compare(3, "b")
replay.compare("a", "b", by="wait")
replay.verify(full="yes")
replay.import_log("sacct", "log", processors="3")
"""


def mypy(*arguments):
    command = [sys.executable, "-m", "mypy", "--strict", "--no-incremental", *arguments]
    return subprocess.run(command, capture_output=True, text=True)


def test_the_package_passes_strict_mypy():
    checked = mypy("-p", "replay")
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_the_stub_agrees_with_the_engine(tmp_path):
    allowed = tmp_path / "allowed.txt"
    allowed.write_text("replay._engine.__all__\n")
    command = [sys.executable, "-m", "mypy.stubtest", "replay._engine", "--concise", f"--allowlist={allowed}"]
    checked = subprocess.run(command, capture_output=True, text=True, cwd=tmp_path)
    assert checked.returncode == 0, checked.stdout + checked.stderr


def test_uses_are_checked(tmp_path):
    (tmp_path / "use.py").write_text(USE)
    output = mypy(str(tmp_path / "use.py")).stdout
    for revealed in ("replay._trace.Trace", "dict[", "DataFrame", "WaitingJob"):
        assert revealed in output, output
    assert "error:" not in output, output


def test_wrong_uses_are_found(tmp_path):
    (tmp_path / "wrong.py").write_text(WRONG)
    output = mypy(str(tmp_path / "wrong.py")).stdout
    lines = WRONG.splitlines()
    found = {int(line.split(":")[1]) for line in output.splitlines() if ": error: " in line}
    assert found == {number for number, line in enumerate(lines, 1) if line.startswith("replay.")}, output


def test_everything_public_is_documented():
    for name in replay.__all__:
        if name != "__version__":
            assert getattr(replay, name).__doc__, name
    assert Path(replay.__file__).with_name("py.typed").exists()
