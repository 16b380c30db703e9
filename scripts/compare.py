#!/usr/bin/env python3
"""Compares files written by a script with the committed files.

    scripts/compare.py NEW COMMITTED

Every file below NEW must be in COMMITTED with the same bytes. There are these exceptions:

* Lines that begin with "Made on" (date and commit) are not compared.
* If NEW has a file .parts (see `quick` in scripts/common.py), the run was partial: each row of a CSV file must be in the
  committed file, comparing only the columns of NEW and ignoring the column `run`; other files are not compared.
* In tables below benchmarks/, columns are not compared if their name has a unit of time, rate or memory.

Prints the first difference of each file and its position. Exit codes: 0 equal, 1 different, 2 usage.
"""

from __future__ import annotations

import csv
import re
import sys
from collections import Counter
from pathlib import Path

MEASURED = re.compile(
    r"second|(?<![A-Za-z])(s|ms|MiB)(?![A-Za-z])|per_second|percent|memory|load|commit|ratio|estimate|x\d"
)


def rows_of(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def table(new: Path, committed: Path, timed: bool, part: bool) -> str | None:
    """Returns a message about the first row that is not in the committed table, or `None`."""
    ours, theirs = rows_of(new), rows_of(committed)
    names = [name for name in ours[0] if not (part and name == "run" or timed and MEASURED.search(name))]
    for name in names:
        if name not in theirs[0]:
            return f"no column {name} in the committed file"
    here, there = ([rows[0].index(name) for name in names] for rows in (ours, theirs))
    if not part and len(ours) != len(theirs):
        return f"{len(theirs)} lines committed, now {len(ours)}"
    left = Counter(tuple(row[i] for i in there) for row in theirs[1:])
    for number, row in enumerate(ours[1:], 2):
        key = tuple(row[i] for i in here)
        if not left[key]:
            return f"line {number} ({', '.join(key[:4])}): {difference(names, key, list(left))}"
        left[key] -= 1
    return None


def difference(names: list[str], key: tuple[str, ...], committed: list[tuple[str, ...]]) -> str:
    """Returns the cells in which a row differs from the most similar committed row."""
    if not committed:
        return "the committed file is empty"
    alike = max(committed, key=lambda other: sum(a == b for a, b in zip(key, other)))
    return "; ".join([f"{name} {b} -> {a}" for name, a, b in zip(names, key, alike) if a != b][:4])


def text(new: Path, committed: Path) -> str | None:
    """Returns a message about the first line in which two files differ, or `None`."""
    ours, theirs = (
        [line for line in path.read_text(encoding="utf-8").splitlines() if not line.startswith("Made on")]
        for path in (new, committed)
    )
    for number, (a, b) in enumerate(zip(ours, theirs), 1):
        if a != b:
            return f"line {number}:\n    committed {b[:300]}\n    now       {a[:300]}"
    return None if len(ours) == len(theirs) else f"{len(theirs)} lines committed, now {len(ours)}"


def compare(new: Path, committed: Path) -> tuple[list[str], bool]:
    """Returns messages, of which the last has the counts, and whether all files are equal."""
    part = (new / ".parts").exists()
    messages, compared = [], 0
    for path in sorted(path for path in new.rglob("*") if path.is_file() and path.name != ".parts"):
        name = path.relative_to(new)
        timed = name.parts[0] == "benchmarks"
        if (part or timed) and path.suffix != ".csv":
            continue
        compared += 1
        if not (committed / name).exists():
            wrong = "not committed"
        elif part or timed:
            wrong = table(path, committed / name, timed, part)
        else:
            wrong = text(path, committed / name)
        if wrong:
            messages.append(f"{name}: {wrong}")
    if not compared:
        return ["no file was written that can be compared"], False
    return [*messages, f"{compared} files compared, {len(messages)} different"], not messages


if __name__ == "__main__":
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    lines, equal = compare(Path(sys.argv[1]), Path(sys.argv[2]))
    print("\n".join(lines))
    sys.exit(0 if equal else 1)
