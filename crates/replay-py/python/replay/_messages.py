"""What the program would write to standard error."""

from __future__ import annotations

import logging
import os
import sys
import warnings
from collections.abc import Sequence

_logger = logging.getLogger("replay")
_package = os.path.dirname(__file__)


class ReplayWarning(UserWarning):
    """A warning of the program."""


def report(lines: Sequence[str], all_warn: bool = False) -> None:
    """Issues lines as warnings if they are such, or if all are; else logs them."""
    for line in lines:
        line = line.removeprefix("replay: ")
        if all_warn or "warning" in line:
            warnings.warn(line.removeprefix("warning: "), ReplayWarning, stacklevel=_outside())
        else:
            _logger.info("%s", line)


def _outside() -> int:
    """The stack level of the caller outside of the package, as seen by `report`."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_code.co_filename.startswith(_package):
        level, frame = level + 1, frame.f_back
    return level
