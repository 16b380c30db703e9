"""Functions that run a command of the program and return its tables."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, Union

import polars

from . import _options
from ._checks import flag
from ._engine import UsageError
from ._figures import read_figures
from ._messages import collected
from ._options import Duration, File, Files, Instant, Integers, Machines, Numbers, Strings, Ties, Vectors
from ._program import Tables, call, csv_frame
from ._results import Results, Run
from ._trace import Trace

Compared = Union[Run, Results, File]


@_options.documented("search")
def search(
    trace: Trace | None = None,
    *,
    # Options of `replay search`, generated:
    machine: Machines | None = None,
    sched: Strings | None = None,
    policy: str | None = None,
    oversize: Literal["error", "drop", "clamp"] | None = None,
    estimates: str | None = None,
    deps: str | None = None,
    from_: Instant | None = None,
    jobs: int | None = None,
    days: float | None = None,
    scale_load: Numbers | None = None,
    max_errors: int | None = None,
    shake: int | None = None,
    shake_width: int | None = None,
    shake_seed: int | None = None,
    plots: bool = False,
    threads: int | None = None,
    strategy: Literal["exhaustive", "local", "random", "external"] | None = None,
    objective: str | None = None,
    constraint: Strings | None = None,
    sr: Numbers | None = None,
    factors: Numbers | None = None,
    af: Numbers | None = None,
    wf: Numbers | None = None,
    bf: Numbers | None = None,
    slack: Numbers | None = None,
    largest: int | None = None,
    evaluations: int | None = None,
    time: Duration | None = None,
    start: Vectors | None = None,
    ask_command: str | None = None,
    test: Files | None = None,
    split: float | None = None,
    each: bool = False,
    scale_sr: bool = False,
    top: int | None = None,
    spare: int | None = None,
    tie: Ties = None,
    seed: Integers | None = None,
    alloc: Strings | None = None,
    # End.
) -> Tables[polars.DataFrame]:
    """Search for good tie vectors; `trials` has one row per vector.

    `search(trace, machine="10x10", sr=range(1, 4), factors=range(0, 6))` tries a grid of vectors. A list of the command line
    is a list, and a range is a Python range. Times are in seconds and sizes in processors, unless stated otherwise. `trace` is
    by default `replay.example()`. With `plots=True`, `figures` contains the figures.
    """
    found = _tables("search", locals())
    return Tables({"trials": found["search"], **found}, found.warnings, found.figures)


@_options.documented("contend")
def contend(
    trace: Trace | None = None,
    *,
    # Options of `replay contend`, generated:
    sched: Strings | None = None,
    tie: Ties = None,
    seed: Integers | None = None,
    policy: str | None = None,
    oversize: Literal["error", "drop", "clamp"] | None = None,
    estimates: str | None = None,
    from_: Instant | None = None,
    jobs: int | None = None,
    days: float | None = None,
    scale_load: Numbers | None = None,
    max_errors: int | None = None,
    pattern: str | None = None,
    preset: str | None = None,
    network: str | None = None,
    flits: int | None = None,
    mapping: str | None = None,
    scale: float | None = None,
    shake: int | None = None,
    shake_width: int | None = None,
    shake_seed: int | None = None,
    plots: bool = False,
    threads: int | None = None,
    machine: Machines | None = None,
    alloc: Strings | None = None,
    # End.
) -> Tables[polars.DataFrame]:
    """Simulate the messages of the jobs of a trace on a network; `contend` has one row per run, `contend_jobs` one row
    per job.

    `contend(trace, jobs=300, scale=10, pattern="n-body", alloc=["mc1x1", "mbs"])` compares two allocators. A list of the
    command line is a list. Times are in seconds and sizes in processors, unless stated otherwise. `trace` is by default
    `replay.example()`. With `plots=True`, `figures` contains the figures.
    """
    return _tables("contend", locals())


@_options.documented("stream")
def stream(
    *,
    # Options of `replay stream`, generated:
    machine: Machines | None = None,
    load: Numbers | None = None,
    arrivals: Numbers | None = None,
    sides: str | None = None,
    service: str | None = None,
    pattern: str | None = None,
    preset: str | None = None,
    network: str | None = None,
    quota: str | None = None,
    flits: int | None = None,
    mapping: str | None = None,
    jobs: int | None = None,
    warm_up: int | None = None,
    completions: int | None = None,
    by_size: bool = False,
    log: bool = False,
    sched: Strings | None = None,
    alloc: Strings | None = None,
    seed: int | None = None,
    precision: float | None = None,
    replications: int | None = None,
    min_replications: int | None = None,
    max_replications: int | None = None,
    backlog: Integers | None = None,
    menu: str | None = None,
    anchors: str | None = None,
    mix: Strings | None = None,
    rules: Strings | None = None,
    search: bool = False,
    estimates: Strings | None = None,
    plots: bool = False,
    threads: int | None = None,
    # End.
) -> Tables[polars.DataFrame]:
    """Simulate stochastic streams of jobs; `stream` has one row per metric, with its confidence interval.

    `stream(machine="16x16", arrivals=5, alloc=["first-fit", "mbs"])` compares two allocators. A list of the command line is a
    list, and a range is a Python range. Times are in time units of the stream, unless stated otherwise. With `plots=True`,
    `figures` contains the figures.
    """
    return _tables("stream", locals())


@_options.documented("verify")
def verify(
    *suites: str,
    # Options of `replay verify`, generated:
    full: bool = False,
    shake: int | None = None,
    shake_width: int | None = None,
    shake_seed: int | None = None,
    trace: Files | None = None,
    complete: bool = False,
    threads: int | None = None,
    # End.
) -> polars.DataFrame:
    """Compare published results with those of the program; the table has one row per published result, with a verdict.

    `suites` are names of `replay list suites`, by default all. `trace` is the path or the name of a trace file that replaces a
    trace of a suite.
    """
    values = {name: value for name, value in locals().items() if name != "suites"}
    for suite in suites:
        if not isinstance(suite, str):
            raise TypeError(f"suites: {suite!r} is not text")
    # Exit code 1 means that a result differs from the published one. The table contains the verdicts.
    options = _options.arguments("verify", values)
    return csv_frame(call(["verify", *suites, *options, "--format=csv", "--quiet"], accepted=(0, 1)))


@_options.documented("compare")
def compare(
    base: Compared,
    other: Compared | None = None,
    *,
    # Options of `replay compare`, generated:
    measure: Strings | None = None,
    row: str | None = None,
    col: str | None = None,
    schedule: bool = False,
    by: Literal["size", "user", "group", "queue", "partition"] | None = None,
    by_size: bool = False,
    threads: int | None = None,
    # End.
) -> Tables[polars.DataFrame]:
    """Compare runs of the same jobs, job by job: means, changes in percent with 95 % intervals, and verdicts.

    `base` and `other` are results or runs of `replay.run`, folders with results, or a run of a folder as text `FOLDER:RUN`.
    The table is `compared`; with `schedule=True`, the table is `moved`; without `other`, the table is `projected`, and `row` and
    `col` are required. Smaller values are better for every measure.
    """
    values = {name: value for name, value in locals().items() if name not in ("base", "other")}
    options = _options.arguments("compare", values)
    if other is None and row is None:
        raise UsageError("compare: other is missing; pass other, or row and col")
    given = {"base": base} if other is None else {"base": base, "other": other}
    with tempfile.TemporaryDirectory(prefix="replay-") as folder, collected() as warnings:
        texts = {name: _folder(name, runs, Path(folder, name)) for name, runs in given.items()}
        written = {text: name for name, text in texts.items() if text.startswith(folder)}
        text = call(["compare", *texts.values(), *options, "--format=csv"], named=written)
    # The program adds the folders to runs of the same name.
    for path in written:
        text = text.replace(f"{path} ", "")
    table = "moved" if schedule else "projected" if other is None else "compared"
    return Tables({table: csv_frame(text)}, warnings)


def _folder(name: str, runs: Any, folder: Path) -> str:
    """Return runs to compare as an argument of the command line. Runs of this process are written into a folder."""
    if isinstance(runs, Run):
        runs._results._runs.write(folder, [runs.index])
        return f"{folder}:{runs._key['run']}"
    if isinstance(runs, Results):
        runs._runs.write(folder)
        return str(folder)
    if not isinstance(runs, (str, os.PathLike)):
        raise TypeError(f"{name}: {type(runs).__name__} is neither a Run, Results of replay.run nor a folder of results")
    return str(os.fspath(runs))


def scan(folder: str | os.PathLike[str]) -> Tables[polars.LazyFrame]:
    """Return the tables of a folder that the program wrote with `--out`, as lazy frames: `replay.scan("out").jobs`."""
    tables = {path.stem: polars.scan_parquet(path) for path in sorted(Path(folder).glob("*.parquet"))}
    if not tables:
        raise UsageError(f"scan: {os.fspath(folder)} has no tables of results")
    return Tables(tables)


def columns() -> polars.DataFrame:
    """Return the columns of all tables: name, table, unit, type and meaning."""
    return csv_frame(call(["list", "columns", "--format=csv"])).drop("kind").rename({"about": "meaning"})


def _tables(command: str, values: dict[str, Any]) -> Tables[polars.DataFrame]:
    """Run a command with a temporary output folder and return the tables that it writes."""
    trace = values.pop("trace", None)
    plots = flag("plots", values.pop("plots"))
    options = _options.arguments(command, values)
    if trace is not None:
        Trace._checked(trace)
        given = {"--policy", *(name.partition("=")[0] for name in trace._options)}
        for name, value in values.items():
            if value is not None and f"--{_options.known(command)[name].name}" in given:
                only = f"pass {name} only to the function that creates the trace"
                raise UsageError(f"{command}: {name} belongs to the trace {trace.name}; {only}")
    with tempfile.TemporaryDirectory(prefix="replay-") as folder, collected() as warnings:
        arguments = trace._arguments(folder) if trace is not None else []
        out = Path(folder, "out")
        call([command, *arguments, *options, f"--out={out}", "--plots" if plots else "--no-plots"])
        tables = {path.stem: polars.read_parquet(path) for path in sorted(out.glob("*.parquet"))}
        return Tables(tables, warnings, read_figures(sorted(out.glob("plots/*"))))
