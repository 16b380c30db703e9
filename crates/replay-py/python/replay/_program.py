"""The command-line program as a child process: commands other than the main job are thin calls of it."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Union

from ._engine import Table, read_parquet
from ._engine import error_of as _error_of
from ._messages import report

if TYPE_CHECKING:
    from ._trace import Trace

Value = Union[str, int, float, bool, range, Sequence[Union[str, int, float]], Path, None]
"""A value of an option: a text or number, `True` for a flag, a list, a range of integers, `None` for its default."""

# Options that are repeated instead of joined by commas: their values may contain commas.
_REPEATED = {"trace", "machine", "sched", "alloc", "tie", "param", "rules"}
_STOP_SECONDS = 1.0


def options(values: Mapping[str, Value]) -> list[str]:
    """Arguments of the command line: `shake_seed=3` is `--shake-seed=3`."""
    arguments: list[str] = []
    for name, value in values.items():
        option = "--" + name.rstrip("_").replace("_", "-")
        if value is None or value is False:
            continue
        if value is True:
            arguments.append(option)
        elif isinstance(value, range):
            arguments.append(f"{option}={_range(value)}")
        elif isinstance(value, (str, int, float, Path)):
            arguments.append(f"{option}={value}")
        elif name in _REPEATED:
            arguments += [f"{option}={one}" for one in value]
        else:
            arguments.append(f"{option}=" + ",".join(str(one) for one in value))
    return arguments


def _range(values: range) -> str:
    """A Python range, whose end is not in it, as one of the command line, whose end is."""
    if not values or values.step < 1:
        raise _error_of(2, f"{values} has no ascending values")
    step = "" if values.step == 1 else f":{values.step}"
    return f"{values[0]}..{values[-1]}{step}"


def call(arguments: Iterable[str], accepted: Iterable[int] = (0,)) -> str:
    """Runs the program and returns its standard output. What it warns of becomes a warning.

    Raises the subclass of `ReplayError` for an exit code that is not accepted.
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
    """The error among messages: the last of the program, or that of its command line."""
    text = "\n".join(lines)
    for start in ("\nreplay: ", "\nerror: "):
        before, found, error = ("\n" + text).rpartition(start)
        if found:
            return error.split("\n\nUsage")[0].split("\n\nFor more information")[0].strip()
    return text


class Tables(Mapping[str, Table]):
    """The tables of a command by name, also as attributes."""

    def __init__(self, tables: Mapping[str, Table]) -> None:
        self._tables = dict(tables)

    def __getitem__(self, name: str) -> Table:
        return self._tables[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._tables)

    def __len__(self) -> int:
        return len(self._tables)

    def __getattr__(self, name: str) -> Table:
        if name.startswith("_"):
            raise AttributeError(name)
        try:
            return self._tables[name]
        except KeyError:
            raise AttributeError(f"no table {name}; there are {', '.join(self._tables)}") from None

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._tables]

    def __repr__(self) -> str:
        return "\n".join(f"{name}: {len(table)} rows, {len(table.columns)} columns" for name, table in self.items())


def tables(command: str, values: Mapping[str, Value], trace: Trace | None, arguments: Sequence[str] = ()) -> Tables:
    """Runs a command into a folder and returns the tables that it writes."""
    with tempfile.TemporaryDirectory(prefix="replay-") as folder:
        given = trace._arguments(folder) if trace is not None else []
        out = Path(folder, "out")
        call([command, *arguments, *given, *options(values), f"--out={out}", "--no-plots"])
        return Tables({path.stem: read_parquet(path) for path in sorted(out.glob("*.parquet"))})
