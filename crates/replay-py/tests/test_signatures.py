"""Checks that the parameters of functions are those that the program declares as options.

`REPLAY_WRITE_BOOK=1 scripts/python.sh -k current` writes the parameters into the files of the package.
"""

import inspect
import os
import re
import textwrap
from datetime import timedelta
from pathlib import Path

import numpy as np
import pytest
from conftest import REPOSITORY

import replay
from replay import _options
from replay._results import RUN_OPTIONS, SHOW_OPTIONS

PACKAGE = REPOSITORY / "crates" / "replay-py" / "python" / "replay"
NAMES = {"run": RUN_OPTIONS, "show": SHOW_OPTIONS}


def annotation(option):
    """Return the type of an option without `None`."""
    if option.kind == "flag":
        return "bool"
    if option.choices:
        literal = "Literal[" + ", ".join(f'"{choice}"' for choice in option.choices) + "]"
        return f"{literal} | Sequence[{literal}]" if option.is_list else literal
    return _options.types(option)[option.is_list]


def parameters(command):
    """Return the parameters for the options of a command, one a line."""
    lines = []
    for name in NAMES.get(command, _options.keywords(command)):
        kind = annotation(_options.known(command)[name])
        # A tie vector can be None.
        default = "bool = False" if kind == "bool" else f"{kind} = None" if "Tie" in kind else f"{kind} | None = None"
        lines.append(f"{name}: {default},\n")
    return "".join(lines)


def generated(source):
    """Return the text of a module with the parameters between the two comments generated anew."""

    def block(found):
        begin, indent, command, end = found.groups()
        return begin + textwrap.indent(parameters(command), indent) + end

    return re.sub(r"^(( +)# Options of `replay (\w+)`, generated:\n).*?^(\2# End\.\n)", block, source, flags=re.M | re.S)


@pytest.mark.parametrize("path", sorted(PACKAGE.glob("_[a-z]*.py")), ids=lambda path: path.stem)
def test_generated_parameters_are_current(path):
    source = path.read_text()
    current = generated(source)
    if "REPLAY_WRITE_BOOK" in os.environ:
        path.write_text(current)
    else:
        assert source == current, f"{path.name}: run REPLAY_WRITE_BOOK=1 scripts/python.sh -k current"


@pytest.mark.parametrize("name", ["compare", "contend", "import", "run", "search", "show", "stream", "verify"])
def test_functions_take_the_options(name):
    functions = {"import": replay.import_log, "show": replay.Run.show}
    signature = inspect.signature(functions.get(name) or getattr(replay, name))
    assert set(NAMES.get(name, _options.keywords(name))) <= set(signature.parameters)
    assert all(one.kind is not inspect.Parameter.VAR_KEYWORD for one in signature.parameters.values())


# A value of a wrong type for each kind of option.
WRONG = {
    "integer": (1.5, "an integer"),
    "integers": ([0.5], "an integer"),
    "number": ("half", "a number"),
    "numbers": ("1..9", "a number"),
    "duration": (90, "a timedelta or text"),
    "path": (3, "a path"),
}


@pytest.mark.parametrize("command", ["compare", "contend", "import", "run", "search", "stream", "verify"])
def test_wrong_types_are_refused_before_the_program_starts(command, monkeypatch):
    def started(*_):
        raise AssertionError("the program started")

    monkeypatch.setattr("subprocess.Popen", started)
    first = {"compare": ("a", "b"), "import": ("sacct", "log")}.get(command, ())
    function = replay.import_log if command == "import" else getattr(replay, command)
    for name in NAMES.get(command, _options.keywords(command)):
        option = _options.known(command)[name]
        wrong = [WRONG[option.kind]] if option.kind in WRONG else []
        wrong += [("yes", "True or False"), (2, "True or False")] if option.kind == "flag" else [(b"text", ""), ({1: 2}, "")]
        if option.kind not in ("flag", "duration"):
            wrong.append((True, "a value"))
        if option.kind == "text":
            wrong += [(object(), "")] if option.value == "SR,AF,WF,BF" else [([None], "")]
        for value, what in wrong:
            with pytest.raises(TypeError, match=f"^{name}: .*{what}"):
                function(*first, **{name: value})


def test_lists_of_one_value_are_refused():
    for name in ("top", "split", "objective", "ask_command", "time"):
        with pytest.raises(TypeError, match=f"^{name}: "):
            replay.search(**{name: [1]})
    with pytest.raises(replay.UsageError, match="split: nan is not a finite number"):
        replay.search(split=float("nan"))
    with pytest.raises(replay.UsageError, match="sr: the list is empty"):
        replay.search(sr=[])
    with pytest.raises(replay.UsageError, match="sr: range.* is empty or descending"):
        replay.search(sr=range(3, 1))


def test_values_become_arguments():
    forms = {
        "machine": ((10, 10), ["10x10"]),
        "tie": ([None, (2, 13, 20, 6)], ["none", "2,13,20,6"]),
        "sr": (range(1, 4), ["1..3"]),
        "factors": (np.arange(3), ["0,1,2"]),
        "slack": ([0, 0.25], ["0", "0.25"]),
        "time": (timedelta(minutes=10), ["600.0s"]),
        "test": ([Path("a.swf"), "b"], ["a.swf", "b"]),
        "split": (np.float64(0.5), ["0.5"]),
        "top": (np.int64(3), ["3"]),
        "from_": (60, ["60"]),
    }
    for name, (value, texts) in forms.items():
        option = name.rstrip("_").replace("_", "-")
        assert _options.arguments("search", {name: value}) == [f"--{option}={text}" for text in texts]
    assert _options.arguments("stream", {"backlog": range(1, 3)}) == ["--backlog=1", "--backlog=2"]
    assert _options.arguments("search", {"each": True, "scale_sr": False, "top": None}) == ["--each"]
