"""The page table-2: interpretations of Table 2 of Lo et al."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from pathlib import Path

import polars as pl

from common import Page, kept, quick, replay, row
from frames import read

LONG = "table-2-n-body.csv"
TEXT = """\
# Interpretations of Table 2 (Lo et al.)

Details that the report does not specify were first calibrated against the table itself. Three mechanisms were then stated
before they were run with this engine. This page shows their effects as ratios to the printed values.

* **Means over jobs.** Latency and blocking are the mean over jobs of each job's mean over its packets (`mean_latency`,
  `mean_blocking`), not the mean over packets (`latency`, `blocking`): each job has the same weight.
* **All at once.** In all-to-all all messages of an iteration enter the queues of the senders at once
  (`all-to-all[sends=at-once]`), following "simultaneous messages": every rank to rank 0, every rank to rank 1, and so on,
  until the quota cuts the last round.
* **Pages from the last taken.** A job walks its pages in reverse order of allocation (`paging[walk=last-taken]`), as if
  each new page were put in front of its list, while ranks inside a page are in row-major order.

Sides are uniform from 2 to 16. The report's appendix prints 2 to 8, but then the weighted dispersal of Random would be
{eight[mean_weighted_dispersal]:.2f}, where its table prints 42.06 (with 2 to 16: {sixteen[mean_weighted_dispersal]:.2f}), and one-to-all under Random would finish after
{eight[finish_time]:.0f} cycles instead of 1.53 million ({sixteen[finish_time]:.0f}): ten replications of
`replay stream --seed 1 --machine 16x16 --arrivals 10 --sides 'uniform[low=2,high=8]' --pattern one-to-all --alloc random`.

## Before and now

*Before* is the default of the program: means over packets, pages in the order of allocation, and in all-to-all each packet sent
when the previous one has left (the column *default* of the other interpretations below). *Now* uses the three mechanisms. The
last row is the mean of |ln(ours / printed)|.
{before_and_after}

In all-to-all the mean errors change from {error[all-to-all finish time before]} to {error[all-to-all finish time now]} (finish
time), from {error[all-to-all blocking before]} to {error[all-to-all blocking now]} (blocking) and from
{error[all-to-all latency before]} to {error[all-to-all latency now]} (latency); First Fit, which agreed before, takes too long now. The
mean error of blocking changes from {error[n-body blocking before]} to {error[n-body blocking now]} in n-body, from
{error[fft-2d blocking before]} to {error[fft-2d blocking now]} in the FFT, from {error[one-to-all blocking before]} to
{error[one-to-all blocking now]} in one-to-all, and, contrary to the three mechanisms, from {error[multigrid blocking before]} to
{error[multigrid blocking now]} in multigrid, whose pattern was chosen under means over packets and is still open.
`replay verify lo-messages` uses the three mechanisms.

## n-body: the order of the pages

Finish time and blocking relative to the printed values, means over jobs in all columns:

{pages}

If pages are walked in reverse order, a ring crosses itself wherever one page follows another. This explains qualitatively why
the printed row of Paging(1) is blocked far longer than its neighbours; quantitatively the blocking is now too long. Paging(0),
whose pages are single processors, has the same ring in reverse. Its printed latency of 34.67 remains impossible: it would
require paths of one link.

## MBS: when a block is split

In an independent prototype of the same rules, MBS finishes later and has more dispersal. The prototype splits a larger block when
a block is needed and its class is empty (`mbs[splitting=on-demand]`). Here a class with fewer free blocks than the job
requests is filled by splitting before the first block is taken (algorithm 3 of the report), so that the new blocks compete for
the first places. `mbs[order=by-number]` lists the free blocks of a class by columns instead of rows. Ratios to print:

{blocks}

The splitting rule explains the difference: on demand has more dispersal, like the prototype, and finishes later. The order of the
lists changes dispersal little and in no consistent direction. The rule of the report is closer to its table in dispersal for all
patterns except the FFT, where the two rules deviate in opposite directions, so it is kept.

## Multigrid: its pattern again

With means over jobs the pattern must be chosen again: on Random, Paging(0), Paging(2) and First Fit, and validated on MBS,
Paging(1) and Paging(3). Tried so far are patterns in which a process sends to all its neighbours of a level at once
(`steps=level`), in two or three dimensions, periodic or not, from fine to coarse, back, or both. Mean errors on
the four strategies:

{multigrid}

Unless another row is above `multigrid`, no other pattern is chosen and there is nothing to validate on the other three. Sending
to all at once raises the blocking time where it is too low, in Paging(0) and First Fit, and more than doubles or
halves others. Not tried with means over jobs: a step for every direction in other orders, and all processes at every level."""
ALL_TO_ALL = """\
# Other interpretations

These were tried earlier, with three replications and, as by default, means over packets.

## All-to-all

* `barrier=none`: no synchronisation between iterations.
* `order=shifted`, `order=lexicographic`: other orders of the receivers.
* ranks in row-major order over the whole mesh instead of unit by unit, so that the first receivers are neighbours."""
N_BODY = """\

Without the barrier, blocking times and latencies are close to print, but finish times are far too short. None of these
interpretations fits both.

## n-body

In print, Paging(1) is blocked three times as long as its neighbours Paging(0) and Paging(2), with paths of the same
length, so something obstructs a ring on 2 x 2 pages. Moreover, the printed latency of Paging(0) minus its blocking
time is below the 27 + 4 d cycles of an idle network for any d that its ring can have.

* Pages numbered in another order than in the report. If rows of pages run backwards and rows within a page
  forwards, every ring crosses itself.
* Ranks along a curve instead of unit by unit: shorter rings."""
MULTIGRID = """\

With pages in snake order, Paging(1) has a finish time and a blocking time similar to print, but not its dispersal,
which is that of row-major pages; Paging(2) and Paging(3) hardly change. The printed row thus fits pages walked against
the order within them, as above; the report does not mention this. For Paging(0) no order is close: even a snake, whose ring
has the shortest possible paths, stays above the printed latency.

## Multigrid

Ten replications, the number in the report, do not decide whether some finish times are within
the 8 % of the acceptance bands. With sixty replications:"""
STRATEGIES = ["random", "mbs", "paging", "paging[size=1]", "paging[size=2]", "paging[size=3]", "first-fit"]
PAGING = ",".join(STRATEGIES[2:6])
WALKED = "paging[walk=last-taken],paging[size=1,walk=last-taken],paging[size=2,walk=last-taken],paging[size=3,walk=last-taken]"
BLOCKS = ["mbs", "mbs[splitting=on-demand]", "mbs[order=by-number]"]
POWERS = "uniform[low=2,high=16,round=power-of-two]"
# The table of the earlier and of the current interpretation of each pattern.
PATTERNS = {
    "all-to-all": ("all-to-all", "all-to-all-at-once"),
    **{pattern: (pattern, pattern) for pattern in ("one-to-all", "n-body", "fft-2d", "multigrid")},
}
# Title, metric of the printed values, and the columns compared with this metric: earlier and current interpretation.
MEASURES = [
    ("finish time", "finish_time", "finish_time", "finish_time"),
    ("blocking", "blocking", "blocking", "mean_blocking"),
    ("latency", "latency", "latency", "mean_latency"),
    ("dispersal", "weighted_dispersal", "mean_weighted_dispersal", "mean_weighted_dispersal"),
]
COLUMNS = (
    "topology sides pattern arrivals allocator replications finish_time finish_time_pm blocking latency mean_blocking "
    "mean_latency mean_weighted_dispersal"
).split()
Rows = dict[str, dict]


def streams(pattern: str, replications: int, allocators: str, sides: str, mapping: str = "allocation") -> pl.DataFrame:
    """Runs streams of a pattern, and returns their rows as text."""
    command = f"stream --seed 1 --machine 16x16 --arrivals 10 --sides {sides} --pattern {pattern} --mapping {mapping}"
    command += f" --min-replications {replications} --max-replications {replications} --alloc {allocators}"
    return pl.read_csv(replay(f"{command} --quiet --format csv").stdout.encode(), infer_schema=False).select(COLUMNS)


def reading(page: Page, name: str, pattern: str, replications: int, allocators: str, sides: str | None = None) -> None:
    """Runs a pattern of Table 2, and writes table-2-NAME.csv."""
    table = page.out / f"table-2-{name}.csv"
    if not kept(table):
        sides = sides or (POWERS if pattern in ("fft-2d", "multigrid") else "uniform[low=2,high=16]")
        streams(pattern, replications, allocators, sides).write_csv(table)


def multigrid_search(page: Page) -> None:
    """Runs other patterns of multigrid on the four strategies by which the pattern was chosen."""
    table = page.out / "table-2-multigrid-search.csv"
    if kept(table):
        return
    grids = ("", "dimensions=2,", "wrap=no,", "dimensions=2,wrap=no,")
    patterns = [f"multigrid[{grid}cycle={cycle},steps=level]" for cycle in ("ascent", "descent", "v") for grid in grids]
    tables = [streams(pattern, 4, "random,paging,paging[size=2],first-fit", POWERS) for pattern in patterns[:-1]]
    pl.concat(tables).write_csv(table)


def by_allocator(page: Page, name: str) -> Rows:
    """Returns the row of each allocator; an absent table gives no rows."""
    path = page.out / f"table-2-{name}.csv"
    return {one["allocator"]: one for one in read(path).iter_rows(named=True)} if path.exists() else {}


def printed_values() -> dict[tuple[str, str, str], str]:
    """Returns the printed values of the suite, as text, by pattern, strategy and metric."""
    values = {}
    for one in read(Path("crates/replay-published/src/lo_messages.csv"), as_text=True).iter_rows(named=True):
        if one["relation"] in ("value", "paired"):
            strategy = re.sub(",?walk=last-taken", "", one["strategy"]).replace("[]", "")
            values[one["pattern"].split("[")[0], strategy, one["metric"].removeprefix("mean_")] = one["printed"]
    return values


def walked(strategy: str) -> str:
    """Returns the strategy with the reverse order of pages; a strategy without pages is returned unchanged."""
    if strategy == "paging":
        return "paging[walk=last-taken]"
    return strategy[:-1] + ",walk=last-taken]" if strategy.startswith("paging") else strategy


def ratio(one: dict | None, column: str, printed: str | None) -> float | None:
    return one[column] / float(printed) if one and float(printed or 0) else None


def shown(values: Iterable[float | None]) -> list[str]:
    return ["" if value is None else f"{value:.3f}" for value in values]


def error(ratios: Iterable[float | None]) -> float | None:
    """Returns the mean of |ln(ours / printed)| in percent."""
    logs = [abs(math.log(value)) for value in ratios if value]
    return 100 * sum(logs) / len(logs) if logs else None


def percent(value: float | None) -> str:
    return "" if value is None else f"{value:.1f} %"


def head(words: list[str], numbers: int) -> str:
    return f"{row(*words)}\n|{'---|' * (len(words) - numbers)}{'---:|' * numbers}"


def ratios(page: Page, printed: dict, pattern: str) -> dict[str, list[float | None]]:
    """Returns the ratios of all strategies to the printed values, by column of the first table."""
    old, new = (by_allocator(page, name) for name in PATTERNS[pattern])
    columns = {}
    for title, metric, before, now in MEASURES:
        values = {strategy: printed.get((pattern, strategy, metric)) for strategy in STRATEGIES}
        columns[f"{title} before"] = [ratio(old.get(s), before, value) for s, value in values.items()]
        columns[f"{title} now"] = [ratio(new[walked(s)], now, value) for s, value in values.items()]
    return columns


def before_and_after(page: Page, printed: dict) -> str:
    lines = []
    for pattern, (_, name) in PATTERNS.items():
        columns = ratios(page, printed, pattern)
        replications = by_allocator(page, name)["random"]["replications"]
        lines.append(f"\n### {pattern}\n\n{replications} replications, the same jobs for all.\n")
        lines.append(head(["strategy", *columns], len(columns)))
        lines += [row(f"`{strategy}`", *shown(cells)) for strategy, *cells in zip(STRATEGIES, *columns.values())]
        lines.append(row("mean error", *(percent(error(column)) for column in columns.values())))
    return "\n".join(lines)


def pages(page: Page, printed: dict) -> str:
    rows = by_allocator(page, "n-body")
    lines = [head(["strategy", "finish time", "walked from the last", "blocking", "walked from the last"], 4)]
    for strategy in STRATEGIES[2:6]:
        cells = [
            ratio(rows[name], column, printed["n-body", strategy, metric])
            for metric, column in (("finish_time", "finish_time"), ("blocking", "mean_blocking"))
            for name in (strategy, walked(strategy))
        ]
        lines.append(row(f"`{strategy}`", *shown(cells)))
    return "\n".join(lines)


def blocks(page: Page, printed: dict) -> str:
    words = [f"{measure} {name}" for measure in ("finish", "dispersal") for name in ("`mbs`", "on demand", "by number")]
    lines = [head(["pattern", *words], len(words))]
    for pattern in PATTERNS:
        rows = by_allocator(page, pattern)
        if not all(name in rows for name in BLOCKS):
            continue
        cells = [
            ratio(rows[name], column, printed[pattern, "mbs", metric])
            for metric, column in (("finish_time", "finish_time"), ("weighted_dispersal", "mean_weighted_dispersal"))
            for name in BLOCKS
        ]
        lines.append(row(pattern, *shown(cells)))
    return "\n".join(lines)


def multigrid(page: Page, printed: dict) -> str:
    """Returns patterns in ascending order of their mean error on four strategies."""
    chosen_on = ["random", "paging", "paging[size=2]", "first-fit"]
    patterns: dict[str, Rows] = {"multigrid": by_allocator(page, "multigrid")}
    for one in read(page.out / "table-2-multigrid-search.csv").iter_rows(named=True):
        patterns.setdefault(one["pattern"], {})[one["allocator"]] = one
    found = []
    for name, rows in patterns.items():
        errors = [
            error(ratio(rows[strategy], now, printed["multigrid", strategy, metric]) for strategy in chosen_on)
            for _, metric, _, now in MEASURES[:3]
        ]
        found.append((sum(errors), name, rows["random"]["replications"], errors))
    lines = [head(["pattern", "replications", "finish time", "blocking", "latency", "all three"], 5)]
    for total, name, runs, errors in sorted(found, key=lambda one: one[0]):
        lines.append(row(f"`{name}`", runs, *map(percent, [*errors, total / 3])))
    return "\n".join(lines)


def other(
    printed: dict, pattern: str, variants: list[tuple[str, str, str]], replications: int = 3, sides: str = "uniform[low=2]"
) -> tuple[str, float]:
    """Returns tables of finish time, blocking, latency and dispersal under other interpretations, as ratios to the printed
    values, and the widest interval of a finish time in percent of its mean.

    A variant has parameters of the pattern, a mapping, and allocators. The order of pages is a part of its name.
    """
    ours: dict[tuple[str, str], dict] = {}
    widest = 0.0
    for parameters, mapping, allocators in variants:
        rows = streams(pattern + parameters, replications, allocators or ",".join(STRATEGIES), sides, mapping or "allocation")
        for one in rows.with_columns(pl.col(COLUMNS[6:]).cast(pl.Float64)).iter_rows(named=True):
            index = re.search("index=[a-z-]*", one["allocator"])
            strategy = re.sub("index=[a-z-]*,?", "", one["allocator"]).replace("[]", "")
            words = [parameters, mapping and f"mapping {mapping}", index[0] if index else ""]
            ours[" ".join(filter(None, words)) or "default", strategy] = one
            widest = max(widest, 100 * one["finish_time_pm"] / one["finish_time"])
    names, strategies = (list(dict.fromkeys(key[i] for key in ours)) for i in (0, 1))
    lines = []
    for _, metric, column, _ in MEASURES:
        lines.append(f"\n{metric}, ours over printed:\n")
        lines.append(head(["strategy", "printed", *names], len(names) + 1))
        for strategy in strategies:
            value = printed.get((pattern, strategy, metric))
            cells = (ratio(ours.get((name, strategy)), column, value) for name in names)
            lines.append(row(strategy, value or "", *shown(cells)))
    return "\n".join(lines), widest


def indexed(index: str) -> tuple[str, str, str]:
    """Returns a variant with paging of all page sizes and this page index."""
    return "", "", ",".join([f"paging[index={index}]", *(f"paging[index={index},size={size}]" for size in (1, 2, 3))])


def write(page: Page) -> None:
    if quick():
        reading(page, "one-to-all", "one-to-all", 10, "random,paging,first-fit")
        return
    reading(page, "all-to-all", "all-to-all", 3, f"random,mbs,{PAGING},first-fit")
    reading(page, "all-to-all-at-once", "all-to-all[sends=at-once]", 3, f"mbs,{WALKED},first-fit,random")
    for pattern in ("one-to-all", "n-body", "fft-2d", "multigrid"):
        reading(page, pattern, pattern, 10, f"random,{','.join(BLOCKS)},{PAGING},{WALKED},first-fit")
    multigrid_search(page)
    # The sides printed in the appendix.
    reading(page, "sides-to-8", "one-to-all", 10, "random", "uniform[low=2,high=8]")
    printed = printed_values()
    errors = {
        f"{pattern} {title}": percent(error(column))
        for pattern in PATTERNS
        for title, column in ratios(page, printed, pattern).items()
    }
    page.add(
        TEXT.format(
            eight=by_allocator(page, "sides-to-8")["random"], sixteen=by_allocator(page, "one-to-all")["random"], error=errors,
            before_and_after=before_and_after(page, printed), pages=pages(page, printed), blocks=blocks(page, printed),
            multigrid=multigrid(page, printed),
        )
    )  # fmt: skip
    readings = ("", "[barrier=none]", "[sends=at-once,order=lexicographic]", "[order=shifted]")
    page.add(ALL_TO_ALL, other(printed, "all-to-all", [*((one, "", "") for one in readings), ("", "row-major", "")])[0])
    orders = [("", "", PAGING), indexed("snake"), ("", "snake", PAGING), indexed("shuffled-row-major"), indexed("shuffled-snake")]
    page.add(N_BODY, other(printed, "n-body", orders)[0])
    tables, widest = other(printed, "multigrid", [("", "", "")], 60, POWERS)
    page.add(MULTIGRID, tables, f"\nThe intervals of the finish times are at most {widest:.1f} % of the mean to either side.")
