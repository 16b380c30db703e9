"""Simulations that the caller advances step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from . import _engine, _options
from ._allocator import Allocators, listed
from ._checks import LARGEST_SEED, integer
from ._trace import Trace, example

if TYPE_CHECKING:
    from typing_extensions import Self


class Simulation(_engine.Simulation):
    """A simulation in which the caller is the scheduler.

    ```python
    sim = replay.Simulation(trace, machine="10x10", alloc="mc1x1")
    while not sim.done:
        while sim.waiting_count and sim.start(0):  # FCFS
            pass
        sim.advance()
    sim.jobs
    ```

    `advance` proceeds to the next instant at which a job ends or arrives. If `alloc` is a list, the first allocator places
    jobs, and `propose` returns the processors that each allocator would choose. `first` and `count` select successive jobs
    of the trace; `first` is the index of a job, from 0.
    """

    def __new__(
        cls,
        trace: Trace | None = None,
        *,
        machine: str | Sequence[int] | None = None,
        alloc: Allocators = "mc1x1",
        seed: int = 0,
        oversize: str | None = None,
        first: int = 0,
        count: int | None = None,
    ) -> Self:
        trace = example() if trace is None else Trace._checked(trace)
        seed = integer("seed", seed, 0, LARGEST_SEED)
        first = integer("first", first, 0)
        count = None if count is None else integer("count", count, 1)
        if first >= len(trace):
            raise _engine.UsageError(f"first: {first} is not the index of a job; the trace {trace.name} has {len(trace)} jobs")
        # The engine takes at most as many jobs as there are.
        count = count and min(count, len(trace))
        values = {"machine": machine, "oversize": oversize, "policy": trace.policy}
        options = [f"--trace={trace.name}", *_options.arguments("run", values)]
        return super().__new__(cls, trace._workload, options, listed(alloc), seed, first, count)
