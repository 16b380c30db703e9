"""Runs on switch trees and blocks, with the allocators of Slurm and Kueue."""

import subprocess
import sys

import polars as pl
import pytest

import replay

TOPOLOGY = """SwitchName=root Switches=leaf[0-7]
""" + "".join(f"SwitchName=leaf{leaf} Nodes=n[{16 * leaf}-{16 * leaf + 15}]\n" for leaf in range(8))


def program(*arguments):
    command = [sys.executable, "-m", "replay", *arguments, "--quiet"]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


@pytest.mark.filterwarnings("ignore:.*this machine has 128:replay.ReplayWarning")
def test_a_run_on_a_tree_equals_the_command_line(trace, tmp_path):
    results = replay.run(trace, machine="tree:4x4x8", sched="easy", alloc=["slurm-tree", "kueue"], jobs=False, placements=False)
    assert all(value >= 1 for value in results.runs["mean_leaves"])
    out = tmp_path / "out"
    program("--machine=tree:4x4x8", "--sched=easy", "--alloc=slurm-tree,kueue", f"--out={out}", "--no-plots", "--no-jobs")
    assert results.runs.equals(pl.read_parquet(out / "runs.parquet"))


@pytest.mark.filterwarnings("ignore:.*this machine has:replay.ReplayWarning")
def test_blocks_and_topology_files_are_machines(trace, tmp_path):
    blocks = replay.run(trace, machine="block[8,32]:4x32", alloc="slurm-block", placements=False)
    assert blocks[0].metrics["mean_leaves"] >= 1
    path = tmp_path / "topology.conf"
    path.write_text(TOPOLOGY)
    run = replay.run(trace, machine=str(path), alloc="slurm-tree", placements=False)[0]
    assert run.metrics["mean_leaves"] >= 1
    assert "job 3333" in run.explain(job=3333)
    assert run.show(job=3333)._repr_svg_().startswith("<svg")


@pytest.mark.filterwarnings("ignore:.*this machine has:replay.ReplayWarning")
def test_sizes_that_never_run_are_warnings(trace):
    with pytest.warns(replay.ReplayWarning, match="have no placement under"):
        # Blocks of 64 nodes need four base blocks each; the machine has seven, so only one block is complete.
        replay.run(trace, machine="block[16,64]:7x16", alloc="slurm-block", jobs=False, placements=False)


@pytest.mark.filterwarnings("ignore:.*this machine has:replay.ReplayWarning")
def test_an_own_allocator_sees_a_tree(trace):
    shapes = []

    class FirstFree(replay.Allocator):
        def begin(self, machine):
            shapes.append((machine.name, machine.shape, machine.processors))

        def allocate(self, machine, request):
            return machine.free[: request.size]

    run = replay.run(trace, machine="tree:4x4x8", alloc=FirstFree(), jobs=False, placements=False)[0]
    assert run.metrics["mean_leaves"] >= 1
    assert shapes == [("tree:4x4x8", (128,), 128)]
