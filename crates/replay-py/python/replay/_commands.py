"""Commands of the program that return tables."""

from __future__ import annotations

from ._engine import Table, read_csv
from ._program import Tables, Value, call, options, tables
from ._trace import Trace


def search(trace: Trace | None = None, **values: Value) -> Tables:
    """Searches for good tie vectors; `trials` has a row for each vector.

    `values` are options of `replay search`: `search(trace, machine="10x10", sr=range(1, 4), factors=range(0, 6))`.
    """
    found = tables("search", values, trace)
    return Tables({"trials": found["search"], **found})


def contend(trace: Trace | None = None, **values: Value) -> Tables:
    """Simulates the messages of the jobs of a trace on a network; `contend` has a row for each run, `contend_jobs` one for
    each job.

    `values` are options of `replay contend`: `contend(trace, jobs=300, scale=10, pattern="n-body", alloc=["mc1x1", "mbs"])`.
    """
    return tables("contend", values, trace)


def stream(**values: Value) -> Tables:
    """Simulates stochastic streams of jobs until the means are precise; `stream` has a row for each metric.

    `values` are options of `replay stream`: `stream(machine="16x16", arrivals=5, alloc=["first-fit", "mbs"])`.
    """
    return tables("stream", values, None)


def verify(*suites: str, **values: Value) -> Table:
    """Compares published numbers with those of the program; a row for each number, with a verdict.

    `suites` are of `replay list suites`, by default all; `values` are options of `replay verify`, such as `full=True`.
    """
    # 1: a number differs; the table says so.
    return read_csv(call(["verify", *suites, *options(values), "--format=csv", "--quiet"], accepted=(0, 1)))
