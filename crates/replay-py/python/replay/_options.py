"""Options of commands of the program as keyword arguments of functions."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

from . import _engine
from ._engine import UsageError

Function = TypeVar("Function", bound=Callable[..., Any])

_WIDTH = 116

# Options that select what the command line prints and writes. The functions return tables instead.
_OF_THE_COMMAND_LINE = {
    "audit", "baseline", "columns", "complete", "figure_size", "figure_strategies", "font_size", "force", "format", "help",
    "no_plots", "no_title", "out", "plots", "quiet", "shard", "sort", "version", "wide", "write",
}  # fmt: skip


@cache
def _known() -> Mapping[str, list[tuple[str, str, str]]]:
    return _engine.options()


def keywords(command: str) -> dict[str, tuple[str, str]]:
    """Return the options of a command by keyword: placeholder of the value, empty for a flag, and help text.

    The main job is the command `run`.
    """
    options = {_keyword(name): (value, text) for name, value, text in _known()[command]}
    # In `search` and `contend`, the trace is the first argument.
    left_out = _OF_THE_COMMAND_LINE | ({"trace"} if command != "verify" else set())
    return {name: about for name, about in options.items() if name not in left_out}


def check(command: str, names: Iterable[str], allowed: Collection[str] = ()) -> None:
    """Raise an error if a keyword is an option of the command line only and is not allowed."""
    for name in names:
        if name in _OF_THE_COMMAND_LINE and name not in allowed:
            raise UsageError(f"{command}: {name} is an option of the command line only; the function returns its results")


def documented(command: str, names: Collection[str] | None = None) -> Callable[[Function], Function]:
    """Return a decorator that appends options of a command to the documentation of a function, by default all options."""

    def decorate(function: Function) -> Function:
        if function.__doc__ is None:  # python -OO
            return function
        known = keywords(command)
        lines = []
        for name in names if names is not None else known:
            value, text = known[name]
            given = f"{name}: {value}" if value else f"{name}: True"
            text = re.sub(r"--([a-z][a-z-]*)", lambda found: f"`{_keyword(found[1])}`", text)
            lines += [given, *textwrap.wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")]
        function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__), "", "Options:", "", *lines])
        return function

    return decorate


def _keyword(option: str) -> str:
    """Return the keyword of an option: `shake_seed` for `shake-seed`."""
    name = option.replace("-", "_")
    return f"{name}_" if name == "from" else name
