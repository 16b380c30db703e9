#!/usr/bin/env python3
"""Compares files written by a script with the committed files.

    scripts/compare-results.py NEW COMMITTED

Every file below NEW must be in COMMITTED with the same bytes. There are these exceptions:

* Lines that begin with "Made on" (date and commit) are not compared.
* If NEW has a file .parts (see `part` in scripts/lib.bash), the run was partial: each row of a CSV file must be in the committed
  file, comparing only the columns of NEW and ignoring the column `run`; other files are not compared.
* In pages of benchmarks (below benchmarks/), cells are not compared if the name of their column has a unit of time, rate
or memory. Lines of text that contain a number are not compared either.

Prints the first difference of each file and its position. Exit codes: 0 equal, 1 different, 2 usage.
"""

import csv
import re
import sys
from collections import Counter
from pathlib import Path

MEASURED = re.compile(
    r"second|(?<![A-Za-z])(s|ms|ns|us|MiB|MB|KiB|bytes)(?![A-Za-z])|per_second|speed|percent|memory|rate|load|commit|date|ratio|exponent|estimate|^(8|16|32|64|128|10|15)$|x\d"
)


def rows_of(path):
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def part_of(new, committed, timed):
    """Returns a message about the first row of a partial table that is not in the committed table, or None."""
    part, whole = rows_of(new), rows_of(committed)
    names = [name for name in part[0] if name != "run"]
    for name in names:
        if name not in whole[0]:
            return f"no column {name} in the committed file"
    if timed:
        names = [name for name in names if not MEASURED.search(name)]
    there = [whole[0].index(name) for name in names]
    here = [part[0].index(name) for name in names]
    left = Counter(tuple(row[i] for i in there) for row in whole[1:])
    for number, row in enumerate(part[1:], 2):
        key = tuple(row[i] for i in here)
        if not left[key]:
            return explain(names, key, left, number)
        left[key] -= 1
    return None


def explain(names, key, left, number):
    """Returns the cells in which a row differs from the most similar committed row."""
    if not left:
        return f"line {number}: the committed file is empty"
    alike = max(left, key=lambda other: sum(a == b for a, b in zip(key, other)))
    cells = [f"{name} {b} -> {a}" for name, a, b in zip(names, key, alike) if a != b]
    return f"line {number} ({', '.join(key[:4])}): " + "; ".join(cells[:4])


def lines_of(path, timed):
    """Returns the lines of a text; with `timed`, without measured values."""
    lines = path.read_text(encoding="utf-8").splitlines()
    lines = [line for line in lines if not line.startswith("Made on")]
    if not timed:
        return lines
    kept, measured = [], []
    for number, line in enumerate(lines):
        if line.startswith("|"):
            cells = [cell.strip() for cell in line.strip("|").split("|")]
            if number == 0 or not lines[number - 1].startswith("|"):
                measured = [bool(MEASURED.search(cell)) for cell in cells]
            kept.append(" | ".join("" if timed else cell for cell, timed in zip(cells, measured)))
        elif not re.search(r"\d", line):
            kept.append(line)
    return kept


def timed_csv(path):
    rows = rows_of(path)
    keep = [i for i, name in enumerate(rows[0]) if not MEASURED.search(name)]
    return [",".join(row[i] for i in keep) for row in rows]


def whole(new, committed, timed):
    """Returns a message about the first line in which two files differ, or None."""
    if timed and new.suffix == ".csv":
        ours, theirs = timed_csv(new), timed_csv(committed)
    elif timed and new.suffix != ".md":
        return None
    else:
        ours, theirs = lines_of(new, timed), lines_of(committed, timed)
    for number, (a, b) in enumerate(zip(ours, theirs), 1):
        if a != b:
            return f"line {number}:\n    committed {b[:300]}\n    now       {a[:300]}"
    if len(ours) != len(theirs):
        return f"{len(theirs)} lines committed, now {len(ours)}"
    return None


def main():
    if len(sys.argv) != 3:
        print(__doc__, file=sys.stderr)
        sys.exit(2)
    new, committed = Path(sys.argv[1]), Path(sys.argv[2])
    parts = (new / ".parts").exists()
    files = sorted(path for path in new.rglob("*") if path.is_file() and path.name != ".parts")
    compared = different = 0
    for path in files:
        name = path.relative_to(new)
        other = committed / name
        timed = name.parts[0] == "benchmarks"
        if parts and path.suffix != ".csv":
            continue
        compared += 1
        if not other.exists():
            wrong = "not committed"
        elif parts:
            wrong = part_of(path, other, timed)
        else:
            wrong = whole(path, other, timed)
        if wrong:
            different += 1
            print(f"{name}: {wrong}")
    if not compared:
        print("no file was written that can be compared")
        sys.exit(1)
    print(f"{compared} files compared, {different} different")
    sys.exit(1 if different else 0)


if __name__ == "__main__":
    main()
