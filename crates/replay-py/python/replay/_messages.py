"""Messages that the program would write to standard error."""

from __future__ import annotations

import logging
import os
import sys
import threading
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager

_logger = logging.getLogger("replay")
_package = os.path.dirname(__file__)
_thread = threading.local()


class ReplayWarning(UserWarning):
    """A warning of the program."""


def report(lines: Sequence[str], all_warn: bool = False) -> None:
    """Issue each line as a warning if it contains `warning: ` or if `all_warn` is true; otherwise log it."""
    for line in lines:
        line = line.removeprefix("replay: ")
        if all_warn or "warning: " in line:
            line = line.removeprefix("warning: ")
            getattr(_thread, "collected", []).append(line)
            warnings.warn(line, ReplayWarning, stacklevel=_outside())
        else:
            _logger.info("%s", line)


@contextmanager
def collected() -> Iterator[list[str]]:
    """Collect the warnings that this thread issues meanwhile. An inner call collects its warnings itself."""
    outer = getattr(_thread, "collected", [])
    _thread.collected = []
    try:
        yield _thread.collected
    finally:
        _thread.collected = outer


def _outside() -> int:
    """Return the stack level, seen from `report`, of the first caller outside of the package."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_package):
        level, frame = level + 1, frame.f_back
    return level
