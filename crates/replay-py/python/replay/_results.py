"""Runs of a grid and their tables."""

from __future__ import annotations

import importlib
import json
import os
import tempfile
import threading
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal, overload

import polars

from . import _engine, _options, _program
from ._allocator import Allocators, listed
from ._checks import flag, integer
from ._engine import CellError, UsageError
from ._figures import Figure, Page, read_figures
from ._messages import collected
from ._options import File, Instant, Integers, Machines, Numbers, Strings, Ties
from ._stored import Runs, StoredRuns
from ._trace import Trace, example

# Number of runs in progress on each thread. An allocator can call `run`; every call needs space on the stack of the thread.
_nested = threading.local()
MAX_NESTED = 16

# Options of the main job that select the jobs of a trace, or that are arguments of `run` with another meaning.
_NOT_OF_RUN = {"alloc", "policy", "from_", "jobs", "days", "max_errors", "no_jobs", "placements", "plots"}
# Options of replays with the scheduler of a site, which only the program runs.
_NOT_OF_RUN |= {"site", "cluster", "limits", "priorities"}
RUN_OPTIONS = [name for name in _options.keywords("run") if name not in _NOT_OF_RUN]
# Options that also determine what `show` and `explain` show.
_OF_SHOW = [
    "oversize", "estimates", "deps", "down", "down_rule", "down_walls", "partitions", "partition", "unknown", "node_map", "strict",
    "scale_load",
]  # fmt: skip
SHOW_OPTIONS = ["candidates", "gantt", "figure_size", "font_size", "no_title"]


class Explanation(str):
    """Explanation of the start time and the processors of a job: the text of `replay explain`."""

    data: dict[str, Any]
    """The content of the explanation as a dict: queue, running jobs, candidates, processors and steps."""

    def __new__(cls, text: str, data: dict[str, Any]) -> Explanation:
        explanation = super().__new__(cls, text)
        explanation.data = data
        return explanation

    def __getnewargs__(self) -> tuple[str, dict[str, Any]]:  # type: ignore[override]
        return (str(self), self.data)

    def __repr__(self) -> str:
        return str(self)


class Run:
    """One run of a grid."""

    def __init__(self, results: Results, index: int) -> None:
        self._results = results
        self.index = index
        """Number of the run in its grid, from 0."""
        self._key = results._runs.key(index)

    @property
    def trace(self) -> str:
        """Name of the trace."""
        return str(self._key["trace"])

    @property
    def machine(self) -> str:
        """Name of the machine, such as `10x10`."""
        return str(self._key["topology"])

    @property
    def scheduler(self) -> str:
        """Name of the scheduler."""
        return str(self._key["scheduler"])

    @property
    def allocator(self) -> str:
        """Name of the allocator without its tie vector."""
        return str(self._key["allocator"])

    @property
    def tie(self) -> str | None:
        """Tie vector; `None` without tie-breaking."""
        tie: str | None = self._key["tie"]
        return tie

    @property
    def seed(self) -> int:
        """Seed of all random numbers."""
        return int(self._key["seed"])

    @property
    def copy(self) -> int:
        """Number of the perturbed copy of the trace, from 1; 0 for the trace itself."""
        return int(self._key["copy"])

    @property
    def seconds(self) -> float:
        """Wall-clock time of the replay, in seconds."""
        return float(self._key["seconds"])

    @property
    def metrics(self) -> dict[str, Any]:
        """Row of the run in the table of runs. `replay.columns()` has the units."""
        return self._table("runs").row(0, named=True)

    @property
    def by_size(self) -> polars.DataFrame:
        """Table with one row per job size."""
        return self._table("by_size")

    @property
    def jobs(self) -> polars.DataFrame:
        """Table with one row per job."""
        return self._table("jobs")

    @property
    def placements(self) -> polars.DataFrame:
        """Table with one row per allocation."""
        return self._table("placements")

    @_options.documented("show", SHOW_OPTIONS)
    def show(
        self,
        *,
        job: int | str | None = None,
        at: Instant | None = None,
        # Options of `replay show`, generated:
        candidates: bool = False,
        gantt: str | None = None,
        figure_size: str | None = None,
        font_size: float | str | None = None,
        no_title: bool = False,
        # End.
    ) -> Figure:
        """Draw the machine at the start of a job or at an instant (seconds of the trace, or text such as `1d2h`)."""
        values = {name: value for name, value in locals().items() if name != "self"}
        with tempfile.TemporaryDirectory(prefix="replay-") as folder:
            out = Path(folder, "out")
            options = _options.arguments("show", values)
            text = _program.call(["show", *self._arguments(folder), *options, f"--out={out}"])
            figures = read_figures(sorted(out.rglob("*.*")), text)
        if not figures:
            raise UsageError("show: these options draw no figure")
        return figures[0]

    def explain(self, job: int | str) -> Explanation:
        """Explain the start time and the processors of a job step by step."""
        with tempfile.TemporaryDirectory(prefix="replay-") as folder:
            arguments = ["explain", *self._arguments(folder), *_options.arguments("explain", {"job": job})]
            data = json.loads(_program.call([*arguments, "--format=json"]))
            return Explanation(_program.call([*arguments, "--quiet"]).rstrip(), data)

    def __repr__(self) -> str:
        tie = f" ({self.tie})" if self.tie else ""
        copy = f" copy {self.copy}" if self.copy else ""
        return f"<replay.Run {self.index}: {self.trace}{copy} {self.machine} {self.scheduler} {self.allocator}{tie}>"

    def _table(self, name: str) -> polars.DataFrame:
        return self._results._table(name, [self.index])

    def _arguments(self, folder: str) -> list[str]:
        """Return options of the command line that describe the run."""
        key = self._key
        if key["strategy"] is None:
            raise UsageError(f"show and explain do not support {self.allocator}, because it is written in Python")
        if self.copy:
            raise UsageError("show and explain do not support perturbed copies of a trace; use a run with copy 0")
        results = self._results
        traces = [trace for trace in results._traces if trace.name == self.trace]
        if len(traces) != 1:
            raise UsageError(f"show and explain do not support {self.trace}, because its jobs were scaled or renamed")
        options = {
            "machine": self.machine, "sched": self.scheduler, "alloc": key["strategy"], "seed": self.seed, **results._options
        }
        return [*traces[0]._arguments(folder), *_options.arguments("run", options)]


class Results(Sequence[Run]):
    """The runs of a grid in the order of the grid, and their tables."""

    def __init__(self, runs: Runs, traces: Sequence[Trace], options: dict[str, Any], warnings: list[str]) -> None:
        self.warnings = warnings
        """The warnings of these runs, which were also issued as `ReplayWarning`."""
        self._runs = runs
        self._traces = traces
        self._options = options
        # Figures by style.
        self._drawn: dict[tuple[Any, ...], list[Figure]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return {**self.__dict__, "_runs": StoredRuns(self._runs)}

    @property
    def runs(self) -> polars.DataFrame:
        """Table with one row per run: trace, machine, strategies and metrics."""
        return self._table("runs")

    @property
    def by_size(self) -> polars.DataFrame:
        """Table with one row per run and job size."""
        return self._table("by_size")

    @property
    def jobs(self) -> polars.DataFrame:
        """Table with one row per run and job, without perturbed copies. Not available with `jobs=False`."""
        return self._table("jobs")

    @property
    def placements(self) -> polars.DataFrame:
        """Table with one row per run and allocation, with the processors as a list, without perturbed copies. Not available
        with `placements=False`."""
        return self._table("placements")

    @property
    def outages(self) -> polars.DataFrame:
        """Table with one row per run on a machine with outages."""
        return self._table("outages")

    @property
    def groups(self) -> polars.DataFrame:
        """Table with one row per run and partition, user or account: waits and shares. Only runs with the option
        `partitions` or `partition` have rows."""
        return self._table("groups")

    @property
    def shaken(self) -> polars.DataFrame:
        """Table with one row per run and metric: mean over perturbed copies, 95 % interval and paired difference. Runs of
        allocators that are written in Python are not included."""
        return self._table("shaken")

    @property
    def against_log(self) -> polars.DataFrame:
        """Table with one row per run and metric: the difference from the run with scheduler `recorded`. Runs of allocators
        that are written in Python are not included."""
        return self._table("against_log")

    @property
    def seconds(self) -> float:
        """Wall-clock time of the engine for all runs, in seconds, without reading traces and creating tables."""
        return self._runs.seconds

    def figures(
        self,
        *,
        figure_size: str | None = None,
        font_size: float | str | None = None,
        no_title: bool = False,
        figure_strategies: int | None = None,
    ) -> list[Figure]:
        """Return all figures of the runs.

        `figure_size`, such as `85x60mm`, `font_size` (in points), `no_title` and `figure_strategies` are the options of the
        command line.
        """
        titles = not flag("no_title", no_title)
        font = None if font_size is None else str(font_size)
        most = None if figure_strategies is None else integer("figure_strategies", figure_strategies, 1, 65535)
        style = (figure_size, font, titles, most)
        if style not in self._drawn:
            with tempfile.TemporaryDirectory(prefix="replay-") as folder:
                self._drawn[style] = read_figures([Path(path) for path in self._runs.figures(folder, *style)])
        return list(self._drawn[style])

    def figure(
        self,
        name: str,
        *,
        figure_size: str | None = None,
        font_size: float | str | None = None,
        no_title: bool = False,
        figure_strategies: int | None = None,
    ) -> Figure:
        """Return the figure with the given name, or the first figure of a kind such as `strategies` or
        `improvement-by-size`. The other arguments are those of `figures`."""
        figures = self.figures(
            figure_size=figure_size, font_size=font_size, no_title=no_title, figure_strategies=figure_strategies
        )
        found = [one for one in figures if one.name == name]
        found = found or [one for one in figures if one.name.split("--")[0] == name]
        if found:
            return found[0]
        names = ", ".join(one.name for one in figures)
        raise UsageError(f"no figure {name!r}; the figures are {names or 'none'}")

    def explore(self, runs: Sequence[int] | None = None) -> Page:
        """Return the page of `replay explore`: the schedule, the machine and the queue of one to four runs of a trace.

        `runs` are numbers of runs, by default all.
        """
        chosen = range(len(self)) if runs is None else [self[run].index for run in runs]
        return Page(self._runs.page(list(chosen)))

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the tables into a folder as Parquet and CSV, as `--out` does. Figures and manifest are not written."""
        self._runs.write(os.fspath(path))

    def __len__(self) -> int:
        return len(self._runs)

    @overload
    def __getitem__(self, index: int) -> Run: ...

    @overload
    def __getitem__(self, index: slice) -> list[Run]: ...

    def __getitem__(self, index: int | slice) -> Run | list[Run]:
        if isinstance(index, slice):
            return [Run(self, one) for one in range(*index.indices(len(self)))]
        place = index + len(self) if index < 0 else index
        if not 0 <= place < len(self):
            raise IndexError(f"no run {index}; the grid has {len(self)} runs")
        return Run(self, place)

    def __iter__(self) -> Iterator[Run]:
        return (Run(self, index) for index in range(len(self)))

    @property
    def summary(self) -> polars.DataFrame:
        """The columns of `runs` that the command line prints. Columns without a value are left out."""
        runs = self.runs
        names = [name for name in _engine.summary_columns() if name in runs.columns]
        return runs.select(name for name in names if runs[name].null_count() < len(runs))

    def __repr__(self) -> str:
        with polars.Config(tbl_cols=-1, tbl_width_chars=160):
            return repr(self.summary)

    def _repr_html_(self) -> str:
        table = _program.table_html(self.summary)
        try:
            figures = self.figures()
        except UsageError:
            # Unpickled results have only figures that were drawn before.
            figures = []
        return table + "".join(figure.svg for figure in figures[:1])

    def _table(self, name: str, runs: list[int] | None = None) -> polars.DataFrame:
        table = self._runs.table(name, runs)
        if table is None:
            raise UsageError(f"the table {name} was not kept; use replay.run(..., {name}=True)")
        return table


@_options.documented("run", ["alloc", *RUN_OPTIONS])
def run(
    trace: Trace | Sequence[Trace] | None = None,
    *,
    alloc: Allocators | None = None,
    # Options of `replay run`, generated:
    machine: Machines | None = None,
    sched: Strings | None = None,
    tie: Ties = None,
    seed: Integers | None = None,
    oversize: Literal["error", "drop", "clamp"] | None = None,
    estimates: str | None = None,
    deps: str | None = None,
    down: File | None = None,
    down_rule: str | None = None,
    down_walls: bool = False,
    partitions: Literal["none", "queue", "partition"] | None = None,
    partition: Strings | None = None,
    unknown: Literal["error", "drop"] | None = None,
    node_map: File | None = None,
    strict: bool = False,
    scale_load: Numbers | None = None,
    shake: int | None = None,
    shake_width: int | None = None,
    shake_seed: int | None = None,
    ties: bool = False,
    threads: int | None = None,
    # End.
    jobs: bool = True,
    placements: bool = True,
    progress: bool = False,
) -> Results:
    """Run every combination of traces, machines, schedulers, allocators and seeds.

    `trace` is a trace or a list of traces, by default `replay.example()`. A member of `alloc` is the name of an allocator,
    such as `mc1x1[tie=2,13,20,6]` or `slurm-tree`, or an instance of `Allocator`.

    `jobs` and `placements` keep the tables of jobs and of allocations; without these tables, large grids need less memory
    and time. `progress` shows a progress bar if `tqdm` is installed.

    If runs fail, raises a `CellError` whose attribute `results` contains the other runs.

    The other arguments have the names, defaults and meanings of the command line. A list of the command line is a list, and a
    range is a Python range. The sides of a machine and the entries of a tie vector can be a tuple of integers.
    """
    given = locals()
    traces = [example()] if trace is None else [Trace._checked(one) for one in _sequence(trace)]
    if not traces:
        raise UsageError("trace: the list is empty; pass at least one trace")
    policies = {one.policy for one in traces}
    if len(policies) > 1:
        raise UsageError(f"trace: the traces have different cleaning policies: {', '.join(sorted(policies))}")
    values = {name: given[name] for name in RUN_OPTIONS}
    limit = f"; replay.read_swf(path, jobs={jobs}) limits the number of jobs"
    jobs = flag("jobs", jobs, f"; jobs=False keeps no table of jobs{limit}")
    placements = flag("placements", placements, "; placements=False keeps no table of allocations")
    options = [f"--trace={one.name}" for one in traces]
    options += _options.arguments("run", {"policy": policies.pop(), **values})
    allocators = [] if alloc is None else listed(alloc)
    schedulers = [sched] if isinstance(sched, str) else sched or []
    recorded = any(name.startswith("recorded") for name in schedulers)
    depth = getattr(_nested, "depth", 0)
    if depth == MAX_NESTED:
        raise UsageError(f"run: an allocator calls replay.run, nested {depth} times; at most {MAX_NESTED} times are possible")
    bar = _bar() if progress else None
    _nested.depth = depth + 1
    try:
        with collected() as warnings:
            runs = _engine.run(
                [one._workload for one in traces], options, allocators, jobs=jobs, placements=placements,
                progress=bar.show if bar is not None else None, recorded=recorded,
            )
    finally:
        _nested.depth = depth
        if bar is not None:
            bar.close()
    results = Results(runs, traces, {name: values[name] for name in _OF_SHOW}, warnings)
    if runs.failed:
        error = CellError("\n".join(runs.failed))
        error.results = results
        raise error
    return results


class _Bar:
    """A progress bar of tqdm."""

    def __init__(self, tqdm: Any) -> None:
        self._bar = tqdm(unit=" jobs", unit_scale=True)

    def show(self, done: int, total: int) -> None:
        self._bar.total = total
        self._bar.update(done - self._bar.n)

    def close(self) -> None:
        self._bar.close()


def _bar() -> _Bar | None:
    try:
        return _Bar(importlib.import_module("tqdm.auto").tqdm)
    except ImportError:
        return None


def _sequence(trace: Any) -> list[Any]:
    """Return the members of an argument `trace`, which the caller checks."""
    is_list = isinstance(trace, Iterable) and not isinstance(trace, str) and not hasattr(trace, "__arrow_c_stream__")
    return list(trace) if is_list else [trace]

