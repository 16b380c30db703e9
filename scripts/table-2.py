#!/usr/bin/env python3
"""Writes the page on Table 2 of Lo et al. from the streams run by scripts/experiments.sh.

Usage: table-2.py FOLDER < TEXT

FOLDER contains files table-2-PATTERN.csv, printed by `replay stream --format csv`. The printed values are read from
crates/replay-published/src/lo_messages.csv. In the text, a line `{TABLE}` is replaced with a table. The text
`{error PATTERN MEASURE WHEN}` is replaced with the mean error of a column of the first table. A missing column ends
the program with exit code 1. Needs only Python 3.
"""

import math
import re
import sys
from pathlib import Path

from csv_rows import rows_of

STRATEGIES = ["random", "mbs", "paging", "paging[size=1]", "paging[size=2]", "paging[size=3]", "first-fit"]
PATTERNS = {
    "all-to-all": ("all-to-all", "all-to-all-at-once"),
    "one-to-all": ("one-to-all", "one-to-all"),
    "n-body": ("n-body", "n-body"),
    "fft-2d": ("fft-2d", "fft-2d"),
    "multigrid": ("multigrid", "multigrid"),
}
# Title, metric of the printed values, and the columns compared with this metric: earlier and current interpretation.
MEASURES = [
    ("finish time", "finish_time", "finish_time", "finish_time"),
    ("blocking", "blocking", "blocking", "mean_blocking"),
    ("latency", "latency", "latency", "mean_latency"),
    ("dispersal", "weighted_dispersal", "mean_weighted_dispersal", "mean_weighted_dispersal"),
]


def walked(strategy):
    """Returns the strategy with the reverse order of pages; a strategy without pages is returned unchanged."""
    if strategy == "paging":
        return "paging[walk=last-taken]"
    return strategy[:-1] + ",walk=last-taken]" if strategy.startswith("paging") else strategy


def printed_values():
    """Returns the printed values of the suite by pattern, strategy and metric."""
    table = Path(__file__).parent.parent / "crates/replay-published/src/lo_messages.csv"
    values = {}
    for row in rows_of(table):
        if row["relation"] in ("value", "paired"):
            strategy = re.sub(r",?walk=last-taken", "", row["strategy"]).replace("[]", "")
            metric = row["metric"].removeprefix("mean_")
            values[row["pattern"].split("[")[0], strategy, metric] = float(row["printed"])
    return values


def streams(folder, name):
    """Returns the row of each allocator."""
    return {row["allocator"]: row for row in rows_of(folder / f"table-2-{name}.csv")}


def ratio(row, column, printed):
    return float(row[column]) / printed if row and printed else None


def shown(value):
    return "" if value is None else f"{value:.3f}"


def line(cells):
    print("| " + " | ".join(cells) + " |")


def head(words, numbers):
    line(words)
    print("|" + "---|" * (len(words) - numbers) + "---:|" * numbers)


def error(ratios):
    """Returns the mean of |ln(ours / printed)| in percent."""
    logs = [abs(math.log(value)) for value in ratios if value]
    return f"{100 * sum(logs) / len(logs):.1f} %" if logs else ""


def ratios(folder, printed, pattern):
    """Returns the number of replications of a pattern, and the ratios of all strategies for each column."""
    old_name, new_name = PATTERNS[pattern]
    new = streams(folder, new_name)
    # If there is no file for the earlier interpretation, its values are in the tables of other interpretations.
    old = streams(folder, old_name) if (folder / f"table-2-{old_name}.csv").exists() else {}
    columns = {}
    for title, metric, before, now in MEASURES:
        values = [printed.get((pattern, strategy, metric)) for strategy in STRATEGIES]
        columns[f"{title} before"] = [ratio(old.get(s), before, v) for s, v in zip(STRATEGIES, values)]
        columns[f"{title} now"] = [ratio(new[walked(s)], now, v) for s, v in zip(STRATEGIES, values)]
    return new["random"]["replications"], columns


def before_and_after(folder, printed):
    for pattern in PATTERNS:
        replications, columns = ratios(folder, printed, pattern)
        print(f"\n### {pattern}\n\n{replications} replications, the same jobs for all.\n")
        head(["strategy", *columns], len(columns))
        for place, strategy in enumerate(STRATEGIES):
            line([f"`{strategy}`", *(shown(column[place]) for column in columns.values())])
        line(["mean error", *map(error, columns.values())])


def pages(folder, printed):
    rows = streams(folder, "n-body")
    head(["strategy", "finish time", "walked from the last", "blocking", "walked from the last"], 4)
    for strategy in STRATEGIES[2:6]:
        cells = []
        for metric, column in (("finish_time", "finish_time"), ("blocking", "mean_blocking")):
            value = printed["n-body", strategy, metric]
            cells += [ratio(rows[name], column, value) for name in (strategy, walked(strategy))]
        line([f"`{strategy}`", *map(shown, cells)])


def blocks(folder, printed):
    names = ["mbs", "mbs[splitting=on-demand]", "mbs[order=by-number]"]
    words = [f"{measure} {name}" for measure in ("finish", "dispersal") for name in ("`mbs`", "on demand", "by number")]
    head(["pattern", *words], len(words))
    for pattern, (old_name, _) in PATTERNS.items():
        if not (folder / f"table-2-{old_name}.csv").exists():
            continue
        rows = streams(folder, old_name)
        if any(name not in rows for name in names):
            continue
        cells = []
        for metric, column in (("finish_time", "finish_time"), ("weighted_dispersal", "mean_weighted_dispersal")):
            cells += [ratio(rows[name], column, printed[pattern, "mbs", metric]) for name in names]
        line([pattern, *map(shown, cells)])


def score(rows, printed, strategies, kind):
    """Returns the mean errors of finish time, blocking and latency over strategies, in percent."""
    measures = [("finish_time", "finish_time"), ("blocking", "mean_blocking"), ("latency", "mean_latency")]
    logs = [
        [abs(math.log(ratio(rows[name], column, printed[kind, name, metric]))) for name in strategies]
        for metric, column in measures
    ]
    return [100 * sum(of) / len(of) for of in logs]


def multigrid(folder, printed):
    """Prints patterns in ascending order of their mean error on four strategies."""
    chosen_on = ["random", "paging", "paging[size=2]", "first-fit"]
    patterns = {"multigrid": streams(folder, "multigrid")}
    for row in rows_of(folder / "table-2-multigrid-search.csv"):
        patterns.setdefault(row["pattern"], {})[row["allocator"]] = row
    scores = {name: score(rows, printed, chosen_on, "multigrid") for name, rows in patterns.items()}
    head(["pattern", "replications", "finish time", "blocking", "latency", "all three"], 5)
    for name in sorted(scores, key=lambda name: sum(scores[name])):
        errors = scores[name]
        runs = patterns[name]["random"]["replications"]
        line([f"`{name}`", runs, *(f"{error:.1f} %" for error in [*errors, sum(errors) / 3])])


def main():
    folder, printed = Path(sys.argv[1]), printed_values()
    parts = {"before-and-after": before_and_after, "pages": pages, "blocks": blocks, "multigrid": multigrid}

    def mean_error(match):
        pattern, column = match[1].split(" ", 1)
        return error(ratios(folder, printed, pattern)[1][column])

    for text in sys.stdin:
        place = re.fullmatch(r"\{([a-z-]+)\}\n?", text)
        if place:
            parts[place[1]](folder, printed)
        else:
            print(re.sub(r"\{error ([^}]+)\}", mean_error, text), end="")


if __name__ == "__main__":
    main()
