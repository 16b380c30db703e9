"""Options of commands of the program as keyword arguments of functions."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping
from functools import cache
from typing import Any, TypeVar

from . import _engine
from ._checks import flag
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


def checked(command: str, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return options of a command with flags as `bool`. Raise an error if an option that takes a value is `True`."""
    known = {_keyword(name): value for name, value, _ in _known()[command]}
    result = dict(values)
    for name, value in values.items():
        if known.get(name) == "":
            result[name] = flag(name, value)
        elif value is True and name in known:
            raise TypeError(f"{name}: True is not a value; pass {known[name]}, or None for the default")
    return result


def documented(command: str, names: Collection[str] | None = None) -> Callable[[Function], Function]:
    """Return a decorator that appends options of a command to the documentation of a function, by default all options, and
    lists the options in the signature of a function that takes any keyword."""

    def decorate(function: Function) -> Function:
        known = keywords(command)
        _list_keywords(function, known)
        if function.__doc__ is None:  # python -OO
            return function
        lines = []
        for name in names if names is not None else known:
            value, text = known[name]
            given = f"{name}: {value}" if value else f"{name}: True"
            text = re.sub(r"--([a-z][a-z-]*)", lambda found: f"`{_keyword(found[1])}`", text)
            lines += [given, *textwrap.wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")]
        function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__), "", "Options:", "", *lines])
        return function

    return decorate


def _list_keywords(function: Function, names: Iterable[str]) -> None:
    """Replace `**values` in the signature of a function by keywords, which interactive shells complete."""
    signature = inspect.signature(function)
    parameters = list(signature.parameters.values())
    if parameters[-1].kind is not inspect.Parameter.VAR_KEYWORD:
        return
    values = parameters.pop()
    parameters += [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=values.annotation) for name in names
    ]
    function.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]


def _keyword(option: str) -> str:
    """Return the keyword of an option: `shake_seed` for `shake-seed`."""
    name = option.replace("-", "_")
    return f"{name}_" if name == "from" else name
