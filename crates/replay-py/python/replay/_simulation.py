"""Simulations that the caller advances step by step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Union

from . import _engine, _program
from ._allocator import Allocator
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
        machine: str | None = None,
        alloc: Union[str, Allocator, Sequence[Union[str, Allocator]]] = "mc1x1",
        seed: int = 0,
        oversize: str | None = None,
        first: int = 0,
        count: int | None = None,
    ) -> Self:
        trace = example() if trace is None else trace
        values = {"machine": machine, "oversize": oversize, "policy": trace.policy}
        options = [f"--trace={trace.name}", *_program.options(values)]
        allocators = [alloc] if isinstance(alloc, (str, Allocator)) else list(alloc)
        return super().__new__(cls, trace._workload, options, allocators, seed, first, count)
