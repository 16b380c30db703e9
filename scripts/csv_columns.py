#!/usr/bin/env python3
"""Prints columns of a CSV table: scripts/csv_columns.py NAME... < TABLE. Exits with 1 if a column is missing."""

import csv
import sys

names = sys.argv[1:]
rows = csv.reader(sys.stdin)
header = next(rows, [])
for name in names:
    if name not in header:
        sys.exit(f'standard input: no column "{name}"; it has {",".join(header)}')
places = [header.index(name) for name in names]
out = csv.writer(sys.stdout, lineterminator="\n")
out.writerow(names)
out.writerows([row[place] for place in places] for row in rows)
