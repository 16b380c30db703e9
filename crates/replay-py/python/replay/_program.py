"""Runs the command-line program as a child process. All commands except the main job are run in this way."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from numbers import Integral, Real
from pathlib import Path
from typing import Any, TypeVar, Union

import polars

from ._engine import UsageError
from ._engine import error_of as _error_of
from ._messages import report

Frame = TypeVar("Frame", polars.DataFrame, polars.LazyFrame)

Value = Union[str, int, float, bool, range, Sequence[Union[str, int, float, Sequence[int], None]], Path, None]
"""Value of an option: text, a number, `True` for a flag, a list, a range of integers, or `None` for the default. The sides of
a machine and the entries of a tie vector can be a tuple of integers."""

# Options whose values may contain commas. A list becomes repeated options; for other options it is joined by commas.
_REPEATED = {"trace", "machine", "sched", "alloc", "tie", "param", "rules", "start", "test"}
# Options whose values are sequences of integers: their separator, and their lengths.
_SEQUENCES = {"machine": ("x", (2, 3)), "tie": (",", (4,)), "start": (",", (4,))}
# Time for which the program may end in order after SIGINT, before it is killed.
_STOP_SECONDS = 0.5


def options(values: Mapping[str, Value]) -> list[str]:
    """Convert keyword arguments to arguments of the command line: `shake_seed=3` becomes `--shake-seed=3`."""
    arguments: list[str] = []
    for name, value in values.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            arguments.append(option)
        elif isinstance(value, range):
            arguments.append(f"{option}={_range(value)}")
        elif isinstance(value, (str, Real, Path)) or _is_one(name, value):
            arguments.append(f"{option}={_text(name, value)}")
        elif not isinstance(value, Iterable) or isinstance(value, (bytes, Mapping)):
            raise TypeError(f"{name}: {type(value).__name__} is neither text, a number, a flag, a list nor a range")
        else:
            members = [_text(name, one) for one in value]
            if not members:
                raise UsageError(f"{name}: the list is empty; pass at least one value, or None for the default")
            arguments += [f"{option}={one}" for one in (members if name in _REPEATED else [",".join(members)])]
    return arguments


def _is_one(name: str, value: Any) -> bool:
    """Return whether a sequence of integers is one value of an option, such as the sides of a machine."""
    if name not in _SEQUENCES or isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
        return False
    is_integer = all(isinstance(one, Integral) and not isinstance(one, bool) for one in value)
    return is_integer and len(value) in _SEQUENCES[name][1]


def _text(name: str, value: Any) -> str:
    """Convert one value of an option to text. `None` and 0 are the vector that breaks no tie."""
    if name == "tie" and (value is None or isinstance(value, Integral) and value == 0):
        return "none"
    if value is None:
        raise TypeError(f"{name}: None is not a member of a list")
    return _SEQUENCES[name][0].join(str(one) for one in value) if _is_one(name, value) else str(value)


def _range(values: range) -> str:
    """Convert a Python range to a range of the command line, which includes its end."""
    if not values or values.step < 1:
        raise _error_of(2, f"{values} is empty or descending; use an ascending range")
    step = "" if values.step == 1 else f":{values.step}"
    return f"{values[0]}..{values[-1]}{step}"


def call(arguments: Iterable[str], accepted: Iterable[int] = (0,)) -> str:
    """Run the program and return its standard output. Issue its warnings as Python warnings.

    Raises the subclass of `ReplayError` for the exit code, unless the exit code is accepted.
    """
    command = [sys.executable, "-m", "replay", *arguments]
    child = subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8"
    )
    try:
        output, messages = child.communicate()
    except BaseException:
        _stop(child)
        raise
    lines = messages.splitlines()
    if child.returncode not in accepted:
        if child.returncode == 130:
            raise KeyboardInterrupt
        raise _error_of(child.returncode, _message(lines))
    report(lines)
    return output


def _stop(child: subprocess.Popen[str]) -> None:
    for number in (signal.SIGINT, signal.SIGKILL if hasattr(signal, "SIGKILL") else signal.SIGTERM):
        child.send_signal(number)
        try:
            child.communicate(timeout=_STOP_SECONDS)
            return
        except subprocess.TimeoutExpired:
            pass


def _message(lines: Sequence[str]) -> str:
    """Return the last error message of the program or of its command-line parser."""
    text = "\n".join(lines)
    for start in ("\nreplay: ", "\nerror: "):
        before, found, error = ("\n" + text).rpartition(start)
        if found:
            return error.split("\n\nUsage")[0].split("\n\nFor more information")[0].strip()
    return text


def csv_frame(text: str) -> polars.DataFrame:
    """Return the table that the program printed as CSV."""
    return polars.read_csv(io.StringIO(text), infer_schema_length=None)


class Tables(Mapping[str, Frame]):
    """Tables by name. Tables are also attributes."""

    def __init__(self, tables: Mapping[str, Frame]) -> None:
        self._tables: dict[str, Frame] = dict(tables)

    def __getitem__(self, name: str) -> Frame:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __getattr__(self, name: str) -> Frame:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._tables[name]
        except KeyError:
            raise AttributeError(f"no table {name}; the tables are {', '.join(self._tables)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._tables]

    def __repr__(self) -> str:
        return f"<replay.Tables: {', '.join(self)}>"
