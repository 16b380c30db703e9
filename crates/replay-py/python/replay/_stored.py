"""Runs that another process has executed."""

from __future__ import annotations

import io
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Union

import polars

from . import _engine
from ._engine import UsageError

if TYPE_CHECKING:
    import os

Runs = Union[_engine.Runs, "StoredRuns"]

_TABLES = ["runs", "by_size", "jobs", "placements", "outages", "groups", "shaken", "against_log"]


class StoredRuns:
    """The runs of unpickled results: the files of `Results.save`, with the methods of `_engine.Runs`."""

    def __init__(self, runs: Runs) -> None:
        self.seconds: float = runs.seconds
        self.failed: list[str] = runs.failed
        self._keys = [runs.key(run) for run in range(len(runs))]
        with tempfile.TemporaryDirectory(prefix="replay-") as folder:
            runs.write(folder)
            self._files = {path.name: path.read_bytes() for path in sorted(Path(folder).iterdir())}
        # Tables without a file are empty or were not kept.
        self._tables = {name: runs.table(name) for name in _TABLES if f"{name}.parquet" not in self._files}

    def key(self, run: int) -> dict[str, Any]:
        return self._keys[run]

    def table(self, name: str, runs: Sequence[int] | None = None) -> polars.DataFrame | None:
        if name not in self._tables:
            self._tables[name] = polars.read_parquet(io.BytesIO(self._files[f"{name}.parquet"]))
        table = self._tables[name]
        if table is None or runs is None:
            return table
        [run] = runs
        return table.filter(polars.col("run") == self._keys[run]["run"])

    def write(self, dir: str | os.PathLike[str], runs: Sequence[int] | None = None) -> None:
        """Write the files of all runs."""
        Path(dir).mkdir(parents=True, exist_ok=True)
        for name, content in self._files.items():
            Path(dir, name).write_bytes(content)

    def page(self, runs: Sequence[int]) -> str:
        raise UsageError("explore: unpickled results have no pages; make the page before they are pickled")

    def figures(self, *arguments: Any) -> list[os.PathLike[str]]:
        raise UsageError("figures: unpickled results have only the figures that were drawn before they were pickled")

    def __len__(self) -> int:
        return len(self._keys)

    def __getstate__(self) -> dict[str, Any]:
        tables = {name: table for name, table in self._tables.items() if f"{name}.parquet" not in self._files}
        return {**self.__dict__, "_tables": tables}
