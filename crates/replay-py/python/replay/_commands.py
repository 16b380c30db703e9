"""Functions that run a command of the program and return its tables."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from ._engine import Table, read_csv, read_parquet
from ._program import Tables, Value, call, options
from ._trace import Trace


def search(trace: Trace | None = None, **values: Value) -> Tables:
    """Search for good tie vectors; `trials` has one row per vector.

    `values` are options of `replay search`: `search(trace, machine="10x10", sr=range(1, 4), factors=range(0, 6))`.
    """
    found = _tables("search", values, trace)
    return Tables({"trials": found["search"], **found})


def contend(trace: Trace | None = None, **values: Value) -> Tables:
    """Simulate the messages of the jobs of a trace on a network; `contend` has one row per run, `contend_jobs` one row
    per job.

    `values` are options of `replay contend`: `contend(trace, jobs=300, scale=10, pattern="n-body", alloc=["mc1x1", "mbs"])`.
    """
    return _tables("contend", values, trace)


def stream(**values: Value) -> Tables:
    """Simulate stochastic streams of jobs; `stream` has one row per metric, with its confidence interval.

    `values` are options of `replay stream`: `stream(machine="16x16", arrivals=5, alloc=["first-fit", "mbs"])`.
    """
    return _tables("stream", values, None)


def verify(*suites: str, **values: Value) -> Table:
    """Compare published results with those of the program; the table has one row per published result, with a verdict.

    `suites` are names of `replay list suites`, by default all; `values` are options of `replay verify`, such as `full=True`.
    """
    # Exit code 1 means that a result differs from the published one. The table contains the verdicts.
    return read_csv(call(["verify", *suites, *options(values), "--format=csv", "--quiet"], accepted=(0, 1)))


def _tables(command: str, values: Mapping[str, Value], trace: Trace | None, arguments: Sequence[str] = ()) -> Tables:
    """Run a command with a temporary output folder and return the tables that it writes."""
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        given = trace._arguments(folder) if trace is not None else []
        out = Path(folder, "out")
        call([command, *arguments, *given, *options(values), f"--out={out}", "--no-plots"])
        return Tables({path.stem: read_parquet(path) for path in sorted(out.glob("*.parquet"))})
