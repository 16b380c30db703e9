"""Runs the command-line program as a child process. All commands except the main job are run in this way."""

from __future__ import annotations

import io
import signal
import subprocess
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

import polars

from ._engine import error_of as _error_of
from ._figures import Figure
from ._messages import report

Frame = TypeVar("Frame", polars.DataFrame, polars.LazyFrame)

# Time for which the program may end in order after SIGINT, before it is killed.
_STOP_SECONDS = 0.5


def call(arguments: Iterable[str], accepted: Iterable[int] = (0,), named: Mapping[str, str] | None = None) -> str:
    """Run the program and return its standard output. Issue its warnings as Python warnings.

    `named` replaces paths of temporary files in messages. Raises the subclass of `ReplayError` for the exit code, unless the
    exit code is accepted.
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
    for path, name in (named or {}).items():
        messages = messages.replace(path, name)
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
    """Tables by name. Tables are also attributes. Notebooks display the first table and the first figure."""

    def __init__(self, tables: Mapping[str, Frame], warnings: Sequence[str] = (), figures: Sequence[Figure] = ()) -> None:
        self._tables: dict[str, Frame] = dict(tables)
        self.warnings = list(warnings)
        """The warnings of the program, which were also issued as `ReplayWarning`."""
        self.figures = list(figures)
        """The figures, if the function was called with `plots=True`."""

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

    def _repr_html_(self) -> str:
        return "".join([*map(table_html, list(self._tables.values())[:1]), *(figure.svg for figure in self.figures[:1])])


def table_html(table: polars.DataFrame | polars.LazyFrame) -> str:
    """Return the HTML of a table with all columns; of a lazy table, only the first rows are read."""
    frame = table.head(10).collect() if isinstance(table, polars.LazyFrame) else table
    with polars.Config(tbl_cols=-1):
        return frame._repr_html_()
