"""Checks of arguments."""

from __future__ import annotations

import operator
from typing import Any

from ._engine import UsageError

LARGEST_SEED = 2**64 - 1


def integer(name: str, value: Any, least: int, most: int | None = None) -> int:
    """Return an argument as an `int`. Raise an error that names the argument if the value is not in the range."""
    try:
        number = operator.index(value)
    except TypeError:
        raise TypeError(f"{name}: {value!r} is not an integer") from None
    if number < least or most is not None and number > most:
        allowed = f"an integer of at least {least}" if most is None else f"an integer from {least} to {most}"
        raise UsageError(f"{name}: {number} is not {allowed}")
    return number
