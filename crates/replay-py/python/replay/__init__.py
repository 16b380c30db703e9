"""Replays job traces of supercomputers through schedulers and processor allocators.

    import replay

    trace = replay.example()
    results = replay.run(trace, machine="10x10", sched=["fcfs", "easy"], alloc=["mc1x1", "mc1x1[tie=2,13,20,6]"])
    results.runs

Times are in seconds of the trace, distances in hops, sizes in processors. Tables are data frames of polars;
`replay.columns()` describes their columns. Arguments have the names, defaults and meanings of the options of the
command-line program `replay`.
"""

from typing import TYPE_CHECKING, Any

from ._allocator import Allocator
from ._commands import columns, compare, contend, scan, search, stream, verify
from ._engine import (
    AllocatorError,
    CellError,
    DataError,
    Machine,
    ReplayError,
    Request,
    UsageError,
    __version__,
)
from ._figures import Figure, Page
from ._messages import ReplayWarning
from ._program import Tables
from ._results import Explanation, Results, Run, run
from ._simulation import Simulation
from ._trace import Trace, example, import_log, read_swf

if TYPE_CHECKING:
    from . import gym as gym


def __getattr__(name: str) -> Any:
    # The submodule is imported on first use, because it requires gymnasium.
    if name == "gym":
        from importlib import import_module

        return import_module("replay.gym")
    raise AttributeError(f"module 'replay' has no attribute {name!r}")


__all__ = [
    "Allocator",
    "AllocatorError",
    "CellError",
    "DataError",
    "Explanation",
    "Figure",
    "Machine",
    "Page",
    "ReplayError",
    "ReplayWarning",
    "Request",
    "Results",
    "Run",
    "Simulation",
    "Tables",
    "Trace",
    "UsageError",
    "__version__",
    "columns",
    "compare",
    "contend",
    "example",
    "import_log",
    "read_swf",
    "run",
    "scan",
    "search",
    "stream",
    "verify",
]
