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


def flag(name: str, value: Any, hint: str = "") -> bool:
    """Return an argument as a `bool`; `None` and 0 are false. Raise an error that names the argument and ends with the hint
    if the value is another value than true, false and, without a hint, 1."""
    known = {0: False} if hint else {0: False, 1: True}
    if value is None or isinstance(value, bool) or type(value).__name__ in ("bool_", "bool"):
        return bool(value)
    if isinstance(value, int) and value in known:
        return known[value]
    raise TypeError(f"{name}: {value!r} is not True or False{hint}")
