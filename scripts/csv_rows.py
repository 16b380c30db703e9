"""Reads CSV files for the scripts; a missing column ends the program."""

import csv
import sys


class Row(dict):
    """A row as a mapping from column name to cell."""

    def __init__(self, path, cells):
        super().__init__(cells)
        self.path = path

    def __missing__(self, name):
        sys.exit(f'{self.path}: no column "{name}"; it has {",".join(self)}')


def rows_of(path):
    """Returns the rows of a file."""
    with open(path, encoding="utf-8", newline="") as file:
        return [Row(path, row) for row in csv.DictReader(file)]
