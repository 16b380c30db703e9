"""Shared by the scripts that write results/. They run in the root of the repository.

Environment:

    REPLAY    the program [target/release/replay]
    RESULTS   the output directory of the scripts [results]
    QUICK     if set, most scripts write only a part, which `scripts/results.py --check` compares with the committed files
    KEEP      if set, tables that take long are read from RESULTS instead of computed; use this to rewrite a page whose
              numbers are unchanged
"""

from __future__ import annotations

import datetime
import os
import re
import shutil
import subprocess
import sys
import tempfile
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
os.chdir(ROOT)
RESULTS = Path(os.environ.get("RESULTS") or "results")
FONT = "DejaVu Sans, Verdana, sans-serif"


class AbsentTrace(Exception):
    """The program found no file of a trace; the text is its message."""


NEEDS_POLARS = "this page needs the Python package polars: pip install polars"


def stop(message: str, code: int = 1) -> None:
    print(message, file=sys.stderr)
    sys.exit(code)


@cache
def program() -> str:
    """Returns the absolute path of the program."""
    name = os.environ.get("REPLAY") or "target/release/replay"
    found = shutil.which(name)
    if not found:
        stop(f"no program {name}: run cargo build --release, or set REPLAY", 2)
    return os.path.abspath(found)


def replay(
    command: str, *more: str | Path, codes: tuple[int, ...] = (0,), folder: Path = ROOT
) -> subprocess.CompletedProcess[str]:
    """Runs the program in a folder with the words of `command` and the arguments `more`, and returns what it prints.

    Raises AbsentTrace if a trace is absent; any other exit code than `codes` ends the script.
    """
    # The program finds the folder traces/ only from the root.
    environment = None if folder == ROOT else {"REPLAY_TRACES": str(ROOT / "traces"), **os.environ}
    # Manifests and reports contain the command as typed, so the path of the program stays out of it.
    words = ["replay", *command.split(), *map(str, more)]
    done = subprocess.run(
        words, executable=program(), cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode in codes:
        return done
    if re.search("^replay: no trace", done.stderr, re.MULTILINE):
        raise AbsentTrace(next(line for line in done.stderr.splitlines() if line.strip()))
    return stop(f"{done.stderr}replay {command}: exit code {done.returncode}")


def present(trace: str) -> bool:
    """Returns whether the program finds a trace."""
    try:
        replay(f"--trace {trace} --jobs 1 --alloc random --quiet")
        return True
    except AbsentTrace:
        return False


def quick() -> bool:
    """Returns whether only a part is to be written; if so, records that the files of this run are parts."""
    if not os.environ.get("QUICK"):
        return False
    RESULTS.mkdir(parents=True, exist_ok=True)
    (RESULTS / ".parts").touch()
    return True


def kept(table: Path) -> bool:
    """Returns whether a table exists and is to be kept."""
    return bool(os.environ.get("KEEP")) and table.exists()


def git(*arguments: str) -> str:
    """Returns what git prints, or `unknown` outside a repository."""
    done = subprocess.run(["git", *arguments], capture_output=True, text=True, check=False)
    return done.stdout.strip() if done.returncode == 0 else "unknown"


def stamp(table: Path) -> str:
    """Returns a line with date and commit: of now, or of a table that is kept."""
    if kept(table):
        return f"Made on {git('log', '-1', '--format=%cs by commit %h', '--', str(table))}."
    today = datetime.datetime.now(datetime.timezone.utc).date()
    return f"Made on {today} by commit {git('rev-parse', '--short', 'HEAD')}."


def only(folder: Path, pattern: str) -> Path:
    """Returns the only file of a folder that matches a pattern."""
    found = list(folder.glob(pattern))
    if len(found) != 1:
        stop(f"{folder}: {len(found)} files match {pattern}")
    return found[0]


def figure(drawn: Path, target: Path, numbers: Path | None = None) -> None:
    """Copies a figure to `target`.svg and its numbers to `numbers` [`target`.csv].

    Attributes equal to defaults of SVG are removed, and numbers are cut to two decimals.
    """
    lines = []
    for line in drawn.read_text(encoding="utf-8").splitlines(keepends=True):
        if line.startswith("<"):
            line = line.replace(f' font-family="{FONT}"', "", 1)
            line = re.sub(' (opacity="1"|stroke="none"|stroke-width="1")', "", line)
            line = re.sub(r"([0-9]\.[0-9]{2})[0-9]+", r"\1", line)
        lines.append(line)
    lines[0] = lines[0].replace("<svg ", f'<svg font-family="{FONT}" ', 1)
    Path(f"{target}.svg").write_text("".join(lines), encoding="utf-8")
    shutil.copyfile(drawn.with_suffix(".csv"), numbers or Path(f"{target}.csv"))


def without_seconds(text: str) -> str:
    """Removes a last column `seconds` from Markdown tables."""
    lines, found = [], False
    for line in text.splitlines():
        found = line.startswith("|") and (found or bool(re.search(r"\| *seconds *\|$", line)))
        lines.append(re.sub(r"[^|]*\|$", "", line) if found else line)
    return "\n".join(lines)


def row(*cells: object) -> str:
    """Returns a line of a Markdown table."""
    return f"| {' | '.join(map(str, cells))} |"


class Page:
    """A page of results: its text, its folder of results, and a folder for temporary files."""

    def __init__(self, path: Path) -> None:
        self.path, self.out = path, path.parent
        self.text: list[str] = []
        self.folder = tempfile.TemporaryDirectory()
        self.work = Path(self.folder.name)
        self.out.mkdir(parents=True, exist_ok=True)

    def add(self, *lines: str) -> None:
        """Adds lines of text."""
        self.text.extend(f"{line}\n" for line in lines)

    def save(self) -> None:
        """Writes the page, and removes the temporary files."""
        part = Path(f"{self.path}.part")
        part.write_text("".join(self.text), encoding="utf-8")
        part.replace(self.path)
        self.folder.cleanup()

    def ran(self, command: str, *more: str | Path) -> subprocess.CompletedProcess[str] | None:
        """Runs the program; if a trace is absent, adds the reason and returns `None`."""
        try:
            return replay(command, *more)
        except AbsentTrace as absent:
            self.add(f"Not run: {absent}")
            return None

    def copy(self, source: Path, name: str) -> None:
        """Copies a table to the folder of results."""
        shutil.copyfile(source, self.out / name)

    def stream(self, name: str, figures: str, command: str) -> None:
        """Runs replicated streams, and keeps the table NAME.csv and figures.

        `figures` lists the figures to keep, each as KIND or KIND--LOAD. A quick run draws no figures.
        """
        folder, run = self.work / name, command
        if quick():
            # --log is an error without figures.
            figures, run = "", f"{command.replace('--log ', '')} --no-plots"
        replay(f"stream --seed 1 {run} --quiet --out", folder)
        self.copy(folder / "stream.csv", f"{name}.csv")
        self.add(f"\n`replay stream --seed 1 {command}`\n")
        for stem in figures.split():
            # In the file name of a figure, the common parameters of the streams are between kind and load.
            kind, separator, load = stem.partition("--")
            figure(only(folder / "plots", f"{kind}--*{separator}{load}.svg"), self.out / f"{name}-{stem}")
            self.add(f"![]({name}-{stem}.svg)")

    def on_trace(self, name: str, trace: str, options: str) -> Path | None:
        """Runs a trace under FCFS and EASY, and adds a table and a figure for each; returns the folder of results."""
        folder = self.work / trace
        self.add(f"\n## {trace}\n")
        command = f"--trace {trace} --sched fcfs,easy {options}"
        printed = self.ran(f"{command} --no-jobs --quiet --format md --out", folder)
        if not printed:
            return None
        self.add(f"`replay {command}`\n", without_seconds(printed.stdout))
        self.copy(folder / "runs.csv", f"{name}-{trace}.csv")
        for drawn in sorted((folder / "plots").glob("comparison--*.svg")):
            title = f"{name}-{trace}-{drawn.stem.rpartition('--')[2]}"
            figure(drawn, self.out / title, self.out / f"{title}-figure.csv")
            self.add(f"\n![]({title}.svg)")
        return folder


def loads(values: str) -> str:
    """Returns the loads of a stream; a quick run has only the first load."""
    return re.split(r",|\.\.", values)[0] if quick() else values
