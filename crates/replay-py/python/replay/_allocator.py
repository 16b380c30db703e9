"""Allocators that are written in Python."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import ClassVar, Union

from ._engine import Machine, Request, UsageError


class Allocator(ABC):
    """Base class of allocators that are written in Python.

    ```python
    class FirstFree(replay.Allocator):
        def allocate(self, machine, request):
            return machine.free[: request.size]
    ```

    Such allocators require numpy. Their runs are executed one after another, on the calling thread.
    """

    name: ClassVar[str | None] = None
    """Name of the allocator in tables; by default the name of the class."""

    keeps_schedule: ClassVar[bool] = True
    """Whether the allocator serves every request for which enough processors are free. If `False`, `allocate` may return
    `None` to refuse a job; start times then depend on the allocator."""

    def begin(self, machine: Machine) -> None:
        """Begin a run, with all processors free. Override this method to clear state of earlier runs."""

    @abstractmethod
    def allocate(self, machine: Machine, request: Request) -> Iterable[int] | None:
        """Return the numbers of `request.size` free processors, as a numpy array or another iterable.

        The method is called only if at least `request.size` processors are free. If it raises an exception or returns
        invalid processors, `replay.run` raises an `AllocatorError` that names the job and the time.
        """


Allocators = Union[str, Allocator, Sequence[Union[str, Allocator]]]
"""An allocator, or a sequence of allocators: names of the command line, or instances of `Allocator`."""


def listed(alloc: Allocators) -> list[str | Allocator]:
    """Return the allocators of an argument `alloc` as a list. The engine checks the members."""
    members = list(alloc) if isinstance(alloc, Iterable) and not isinstance(alloc, (str, Allocator)) else [alloc]
    if not members:
        raise UsageError("alloc: the list is empty; pass at least one allocator")
    return members
