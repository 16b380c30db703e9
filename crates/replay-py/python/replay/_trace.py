"""Traces."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from typing import Any, Protocol, Union

import polars

from . import _options, _program
from ._checks import integer
from ._engine import Workload
from ._options import File, Instant, Strings

DEFAULT_POLICY = "johnson"

# Path or name, contents of the file and of the file of shapes, digest.
WorkloadState = tuple[str, Union[bytes, None], Union[bytes, None], str]


class ArrowStream(Protocol):
    """A table with an Arrow stream, such as a data frame of pandas or polars or a table of pyarrow or duckdb."""

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object: ...


class Trace:
    """A trace, cleaned by a policy.

    `read_swf`, `example`, `import_log` and `Trace.from_arrow` create traces.
    """

    def __init__(
        self,
        workload: Workload,
        options: list[str],
        folder: tempfile.TemporaryDirectory[str] | None = None,
        policy: str = DEFAULT_POLICY,
    ) -> None:
        self._workload = workload
        self._options = options
        self._folder = folder
        self._policy = policy

    @staticmethod
    def _checked(value: Any) -> Trace:
        """Return an argument that must be a trace. Raise an error that describes how to create a trace."""
        if isinstance(value, Trace):
            return value
        read = "replay.read_swf(path) reads a file, and replay.Trace.from_arrow(table, processors) converts a table"
        raise TypeError(f"trace: {type(value).__name__} is not a replay.Trace; {read}")

    @classmethod
    def from_arrow(
        cls, table: ArrowStream, processors: int, *, name: str = "table", policy: str = DEFAULT_POLICY
    ) -> Trace:
        """Create a trace of a table with one row per job.

        Required columns: `submit`, in seconds or as timestamps; `run` (or `run_time`), in seconds or as durations; `size`
        (or `processors`), in processors. Optional columns: `wait` and `estimate`, in seconds; `job`, `status`, `user`,
        `group`, `application`, `queue` and `partition`, numbers as in the Standard Workload Format. Other columns are
        ignored. In optional columns, null means unknown.

        Timestamps are converted to seconds since the first submission. Numbers are rounded to the nearest second; timestamps
        and durations are rounded down. Without a column `job`, jobs are numbered from 1 in order of submission.

        `processors` is the number of processors of the machine on which the jobs ran.
        """
        processors = integer("processors", processors, 1, 2**32 - 1)
        options = _options.arguments("run", {"policy": policy})
        workload = Workload.from_arrow(table, processors, f"{name}.swf", options)
        return cls(workload, options, policy=policy)

    @property
    def name(self) -> str:
        """Name of the trace: its file name without `.swf` and `.gz`."""
        return self._workload.name

    @property
    def processors(self) -> int | None:
        """Number of processors of the machine according to the header of the trace; `None` if unknown."""
        return self._workload.processors

    @property
    def policy(self) -> str:
        """Name of the cleaning policy."""
        return self._policy

    @property
    def cleaning(self) -> str:
        """Summary of the cleaning in one line."""
        return self._workload.cleaning

    @property
    def jobs(self) -> polars.DataFrame:
        """Table with one row per job: number, submission time, run time and estimate (seconds), size (processors)."""
        return self._workload.table

    def __len__(self) -> int:
        return len(self._workload)

    def __arrow_c_stream__(self, requested_schema: Any = None) -> object:
        return self.jobs.__arrow_c_stream__(requested_schema)

    def __repr__(self) -> str:
        machine = f" of a machine with {self.processors} processors" if self.processors else ""
        return f"<replay.Trace {self.name}: {len(self):,} jobs{machine}>"

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (self._options, self._workload.state(), self._policy)

    def _arguments(self, folder: str) -> list[str]:
        """Return options of the command line that name the trace. A trace without a file is written into the folder."""
        text = self._workload.text
        if text is None or self._workload.is_on_disk():
            return self._options
        path = Path(folder, f"{self.name}.swf")
        path.write_bytes(text)
        return [f"--trace={path}", *(option for option in self._options if not option.startswith("--trace="))]


def _restored(options: list[str], state: WorkloadState, policy: str) -> Trace:
    """Create a trace from its pickled state."""
    return Trace(Workload.restored(options, state), options, policy=policy)


def read_swf(
    path: str | os.PathLike[str],
    *,
    policy: str = DEFAULT_POLICY,
    from_: Instant | None = None,
    jobs: int | None = None,
    days: float | None = None,
    max_errors: int = 0,
) -> Trace:
    """Read a trace in the Standard Workload Format, plain or compressed with gzip.

    `path` is the path of a file, or a name of `replay list traces`, which is looked up in `$REPLAY_TRACES` and `traces/`.
    `policy` is the name of a cleaning policy (`replay list policies`). `from_` (seconds of the trace, or a date
    YYYY-MM-DD), `jobs` and `days` select a window. Up to `max_errors` malformed lines are skipped.
    """
    values = {"policy": policy, "from_": from_, "jobs": jobs, "days": days, "max_errors": max_errors or None}
    options = [f"--trace={os.fspath(path)}", *_options.arguments("run", values)]
    return Trace(Workload.load(options), options, policy=policy)


def example() -> Trace:
    """Return the synthetic trace that comes with the program: 5,000 jobs on a machine with 100 processors."""
    options = ["--trace=lublin-10x10"]
    return Trace(Workload.load(options), options)


@_options.documented("import")
def import_log(
    source: str,
    *paths: str | os.PathLike[str],
    policy: str = DEFAULT_POLICY,
    # Options of `replay import`, generated:
    map: File | None = None,
    header: str | None = None,
    partition: Strings | None = None,
    user: Strings | None = None,
    state: Strings | None = None,
    from_: Instant | None = None,
    until: Instant | None = None,
    processors: int | None = None,
    max_errors: int | None = None,
    # End.
) -> Trace:
    """Convert a log to a trace: output of Slurm's `sacct`, a log of Cobalt or Torque, or a CSV or Parquet table.

    `source` is a name of `replay list sources`, such as `sacct[zone=Europe/Prague]`. The other arguments are options of
    `replay import`, such as `processors=100` and `map="months.toml"`.
    """
    given = locals()
    options = _options.arguments("import", {name: given[name] for name in _options.keywords("import")})
    folder = tempfile.TemporaryDirectory(prefix="replay-")
    name = Path(os.fspath(paths[0])).name.split(".")[0] if paths else "log"
    path = Path(folder.name, f"{name}.swf")
    files = [os.fspath(one) for one in paths]
    _program.call(["import", source, *files, *options, f"--write={path}"])
    trace = read_swf(path, policy=policy)
    trace._folder = folder
    return trace
