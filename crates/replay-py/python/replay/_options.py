"""Options of commands of the program as keyword arguments of functions.

The program declares names, types, possible values and help texts. `tests/test_signatures.py` generates the parameters of the
functions from this declaration.
"""

from __future__ import annotations

import inspect
import math
import operator
import os
import re
import textwrap
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from datetime import timedelta
from functools import cache
from numbers import Integral, Real
from typing import Any, TypeVar, Union

from . import _engine
from ._checks import flag
from ._engine import CommandOption, UsageError

Function = TypeVar("Function", bound=Callable[..., Any])

Strings = Union[str, Sequence[str]]
Integers = Union[int, Iterable[int]]
Numbers = Union[float, Iterable[float]]
"""A number, or several numbers: a list, a range or an array."""
File = Union[str, os.PathLike[str]]
"""A path; for traces, also a name."""
Files = Union[File, Sequence[File]]
Machine = Union[File, Sequence[int]]
"""A machine: its name, a file that describes it, or the sides of a mesh as integers."""
Machines = Union[Machine, Sequence[Machine]]
Vector = Union[str, Sequence[int]]
"""A tie vector: text, or four integers."""
Vectors = Union[Vector, Sequence[Vector]]
Tie = Union[Vector, int, None]
"""A tie vector; `None` (in a list) and 0 break no tie."""
Ties = Union[Tie, Sequence[Tie]]
Instant = Union[int, float, str]
"""An instant of a trace: seconds, or text such as a date."""
Duration = Union[timedelta, str]
"""A duration, also as text such as `10m`."""

_WIDTH = 116

# Options that select what the command line prints and writes. The functions return tables instead.
_OF_THE_COMMAND_LINE = {
    "audit", "baseline", "columns", "fail_if_worse", "figure_size", "figure_strategies", "font_size", "force", "format", "help",
    "no_plots", "no_title", "out", "quiet", "shard", "sort", "version", "wide", "write",
}  # fmt: skip

# Types of text by placeholder of the value: of one value, and of several.
_TEXTS = {
    "MACHINE": ("Machine", "Machines"), "SR,AF,WF,BF": ("Tie", "Ties"), "START": ("Vector", "Vectors"),
    "TRACE": ("File", "Files"), "TIME": ("Instant", ""), "PT": ("float | str", ""), "JOB": ("int | str", ""),
}  # fmt: skip
_TYPES = {
    "integer": ("int", "Integers"), "integers": ("Integers", "Integers"), "number": ("float", "Numbers"),
    "numbers": ("Numbers", "Numbers"), "text": ("str", "Strings"), "duration": ("Duration", ""), "path": ("File", "Files"),
}  # fmt: skip
# What a value of these types is, in error messages, and the Python types that it may have.
_FORMS: dict[str, tuple[str, tuple[type, ...]]] = {
    "int": ("an integer", (Integral,)),
    "Integers": ("an integer", (Integral,)),
    "float": ("a number", (Real,)),
    "Numbers": ("a number", (Real,)),
    "str": ("text", (str,)),
    "Duration": ("a timedelta or text such as 10m", (str, timedelta)),
    "File": ("a path", (str, os.PathLike)),
    "Machine": ("a name, a path or the sides of a mesh", (str, os.PathLike)),
    "Tie": ("text or four integers", (str,)),
    "Vector": ("text or four integers", (str,)),
    "Instant": ("a number or text", (str, Real)),
    "float | str": ("a number or text", (str, Real)),
    "int | str": ("an integer or text", (str, Integral)),
}
_LISTS = {"Integers", "Numbers"}
# Types whose values can be sequences of integers: the separator, and the lengths.
_SEQUENCES = {"Machine": ("x", (2, 3)), "Tie": (",", (4,)), "Vector": (",", (4,))}


@cache
def known(command: str) -> Mapping[str, CommandOption]:
    """Return all options of a command by keyword. The main job is the command `run`."""
    return {_keyword(option.name): option for option in _engine.options()[command]}


def keywords(command: str) -> dict[str, CommandOption]:
    """Return the options of a command that are arguments of its function, by keyword."""
    # In `search` and `contend`, the trace is the first argument.
    left_out = _OF_THE_COMMAND_LINE | ({"trace"} if command != "verify" else set())
    return {name: option for name, option in known(command).items() if name not in left_out}


def types(option: CommandOption) -> tuple[str, str]:
    """Return the type of one value, and of several values. The second type is empty if the option takes one value."""
    return _TEXTS.get(option.value, _TYPES["text"]) if option.kind == "text" else _TYPES[option.kind]


def arguments(command: str, values: Mapping[str, Any]) -> list[str]:
    """Convert keyword arguments to arguments of the command line: `shake_seed=3` becomes `--shake-seed=3`.

    Raises a `TypeError` that names the keyword if a value has a wrong type.
    """
    result: list[str] = []
    for name, value in values.items():
        option = known(command)[name]
        if option.kind == "flag":
            result += [f"--{option.name}"] if flag(name, value) else []
        elif value is not None:
            result += [f"--{option.name}={text}" for text in _texts(name, option, value)]
    return result


def _texts(name: str, option: CommandOption, value: Any) -> list[str]:
    """Return the texts of a value; several texts repeat the option."""
    if value is True or value is False:
        raise TypeError(f"{name}: {value} is not a value; pass {option.value}, or None for the default")
    one, _ = types(option)
    takes_many = option.is_list or one in _LISTS
    if isinstance(value, (str, bytes, Mapping, os.PathLike)) or not isinstance(value, Iterable) or _is_sides(one, value):
        return [_text(name, one, value)]
    if not takes_many:
        raise TypeError(f"{name}: {value!r} is not {_FORMS[one][0]}")
    if isinstance(value, range) and one in _LISTS:
        return [_range(name, value)]
    members = [_text(name, one, member, is_member=True) for member in value]
    if not members:
        raise UsageError(f"{name}: the list is empty; pass at least one value, or None for the default")
    return members if option.is_list else [",".join(members)]


def _text(name: str, type_: str, value: Any, is_member: bool = False) -> str:
    """Return one value of a type as text of the command line."""
    what, forms = _FORMS[type_]
    has_form = isinstance(value, forms) and not isinstance(value, bool)
    if type_ == "Tie" and (value is None or isinstance(value, Integral) and not isinstance(value, bool) and value == 0):
        # The vector that breaks no tie.
        return "none"
    if _is_sides(type_, value):
        return _SEQUENCES[type_][0].join(str(side) for side in value)
    if not has_form:
        what = "None is not a member of a list" if value is None and is_member else f"{value!r} is not {what}"
        raise TypeError(f"{name}: {what}")
    if isinstance(value, Integral):
        return str(operator.index(value))
    if isinstance(value, Real):
        return _number(name, float(value))
    if isinstance(value, timedelta):
        return f"{value.total_seconds()}s"
    return os.fsdecode(value)


def _number(name: str, value: float) -> str:
    if not math.isfinite(value):
        raise UsageError(f"{name}: {value} is not a finite number")
    return repr(value)


def _is_sides(type_: str, value: Any) -> bool:
    """Return whether a sequence of integers is one value of a type, such as the sides of a machine."""
    if type_ not in _SEQUENCES or isinstance(value, (str, bytes, Mapping)) or not hasattr(value, "__len__"):
        return False
    is_integer = all(isinstance(side, Integral) and not isinstance(side, bool) for side in value)
    return is_integer and len(value) in _SEQUENCES[type_][1]


def _range(name: str, values: range) -> str:
    """Convert a Python range to a range of the command line, which includes its end."""
    if not values or values.step < 1:
        raise UsageError(f"{name}: {values} is empty or descending; use an ascending range")
    step = "" if values.step == 1 else f":{values.step}"
    return f"{values[0]}..{values[-1]}{step}"


def documented(command: str, names: Collection[str] | None = None) -> Callable[[Function], Function]:
    """Return a decorator that appends options of a command to the documentation of a function, by default all options."""

    def decorate(function: Function) -> Function:
        if function.__doc__ is None:  # python -OO
            return function
        lines = []
        for name in names if names is not None else keywords(command):
            option = known(command)[name]
            given = f"{name}: {option.value}" if option.value else f"{name}: True"
            text = re.sub(r"--([a-z][a-z-]*)", lambda found: f"`{_keyword(found[1])}`", option.help)
            lines += [given, *textwrap.wrap(text, _WIDTH, initial_indent="    ", subsequent_indent="    ")]
        function.__doc__ = "\n".join([inspect.cleandoc(function.__doc__), "", "Options:", "", *lines])
        return function

    return decorate


def _keyword(option: str) -> str:
    """Return the keyword of an option: `shake_seed` for `shake-seed`."""
    name = option.replace("-", "_")
    return f"{name}_" if name == "from" else name
