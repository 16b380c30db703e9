"""Functions that run a command of the program and return its tables."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import polars

from . import _options
from ._engine import UsageError
from ._program import Tables, Value, call, csv_frame, options
from ._trace import Trace


@_options.documented("search")
def search(trace: Trace | None = None, **values: Value) -> Tables[polars.DataFrame]:
    """Search for good tie vectors; `trials` has one row per vector.

    `values` are options of `replay search`: `search(trace, machine="10x10", sr=range(1, 4), factors=range(0, 6))`. A list of
    the command line is a list, and a range is a Python range. Times are in seconds and sizes in processors, unless stated
    otherwise. `trace` is by default `replay.example()`.
    """
    found = _tables("search", values, trace)
    return Tables({"trials": found["search"], **found})


@_options.documented("contend")
def contend(trace: Trace | None = None, **values: Value) -> Tables[polars.DataFrame]:
    """Simulate the messages of the jobs of a trace on a network; `contend` has one row per run, `contend_jobs` one row
    per job.

    `values` are options of `replay contend`: `contend(trace, jobs=300, scale=10, pattern="n-body", alloc=["mc1x1", "mbs"])`.
    A list of the command line is a list. Times are in seconds and sizes in processors, unless stated otherwise. `trace` is by
    default `replay.example()`.
    """
    return _tables("contend", values, trace)


@_options.documented("stream")
def stream(**values: Value) -> Tables[polars.DataFrame]:
    """Simulate stochastic streams of jobs; `stream` has one row per metric, with its confidence interval.

    `values` are options of `replay stream`: `stream(machine="16x16", arrivals=5, alloc=["first-fit", "mbs"])`. A list of the
    command line is a list, and a range is a Python range. Times are in time units of the stream, unless stated otherwise.
    """
    return _tables("stream", values, None)


@_options.documented("verify")
def verify(*suites: str, **values: Value) -> polars.DataFrame:
    """Compare published results with those of the program; the table has one row per published result, with a verdict.

    `suites` are names of `replay list suites`, by default all; `values` are options of `replay verify`, such as `full=True`.
    `trace` is the path or the name of a trace file that replaces a trace of a suite.
    """
    _options.check("verify", values)
    values = _options.checked("verify", values)
    # Exit code 1 means that a result differs from the published one. The table contains the verdicts.
    return csv_frame(call(["verify", *suites, *options(values), "--format=csv", "--quiet"], accepted=(0, 1)))


def scan(folder: str | os.PathLike[str]) -> Tables[polars.LazyFrame]:
    """Return the tables of a folder that the program wrote with `--out`, as lazy frames: `replay.scan("out").jobs`."""
    tables = {path.stem: polars.scan_parquet(path) for path in sorted(Path(folder).glob("*.parquet"))}
    if not tables:
        raise UsageError(f"scan: {os.fspath(folder)} has no tables of results")
    return Tables(tables)


def columns() -> polars.DataFrame:
    """Return the columns of all tables: name, table, unit, type and meaning."""
    return csv_frame(call(["list", "columns", "--format=csv"])).drop("kind").rename({"about": "meaning"})


def _tables(command: str, values: Mapping[str, Value], trace: Trace | None) -> Tables[polars.DataFrame]:
    """Run a command with a temporary output folder and return the tables that it writes."""
    _options.check(command, values)
    values = _options.checked(command, values)
    if trace is not None:
        Trace._checked(trace)
        given = {"--policy", *(name.partition("=")[0] for name in trace._options)}
        for name in values:
            [option] = options({name: ""})
            if option.rstrip("=") in given:
                only = f"pass {name} only to the function that creates the trace"
                raise UsageError(f"{command}: {name} belongs to the trace {trace.name}; {only}")
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        arguments = trace._arguments(folder) if trace is not None else []
        out = Path(folder, "out")
        call([command, *arguments, *options(values), f"--out={out}", "--no-plots"])
        return Tables({path.stem: polars.read_parquet(path) for path in sorted(out.glob("*.parquet"))})
