"""Allocators of your own."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable
from typing import ClassVar

from ._engine import Machine, Request


class Allocator(ABC):
    """An allocator of your own.

    ```python
    class FirstFree(replay.Allocator):
        def allocate(self, machine, request):
            return machine.free[: request.size]
    ```

    It needs numpy. Simulations call it one after the other, in the order of starts.
    """

    name: ClassVar[str | None] = None
    """The name in tables; by default that of the class."""

    keeps_schedule: ClassVar[bool] = True
    """Whether every request for no more processors than are free is served. `False` lets `allocate` return `None` where
    free processors do not suit it; the schedule then depends on the allocator."""

    def begin(self, machine: Machine) -> None:
        """Begins a run: every processor is free."""

    @abstractmethod
    def allocate(self, machine: Machine, request: Request) -> Iterable[int] | None:
        """Returns the numbers of `request.size` free processors, as a numpy array or a sequence.

        It is asked only if that many are free. An exception, a processor that is not free, a wrong number of processors
        or anything else ends the run with an `AllocatorError` that names job and time.
        """
