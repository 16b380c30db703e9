"""The page trees: placement rules of trees and blocks on the second halves of six logs."""

from __future__ import annotations

import gzip
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from statistics import mean
from typing import NamedTuple

import polars as pl

from common import Page, kept, quick, replay, row
from frames import hours, job_mean, read

LONG = "trees-copies.csv"


class Log(NamedTuple):
    """A log, with the submission of the first job of its second half in seconds of the trace."""

    trace: str
    start: int
    trees: list[str]
    block: str
    sizes: str


SP2 = "one processor of the SP2"
LOGS = [
    Log("KTH-SP2", 15732392, ["tree:5x20", "tree:2x5x10"], "block[18,72]:6x18", SP2),
    Log("CTC-SP2", 14367629, ["tree:19x18", "tree:4x8x11"], "block[18,72]:19x18", SP2),
    Log("SDSC-SP2", 26611523, ["tree:8x16", "tree:2x8x8"], "block[18,72]:8x18", SP2),
    Log("LANL-CM5", 26809064, ["tree:43x24", "tree:3x19x18"], "block[18,72]:57x18",
        "one processor of the CM-5; all jobs have multiples of 32"),
    Log("BlueWaters-15k", 7304507, ["tree:24x32x36", "tree:4x12x32x18"], "block[18,72]:1536x18",
        "one node of the XE6; of jobs 1001 to 15000"),
    Log("wagap-2013", 1362575577, ["tree:34x64", "tree:8x17x16"], "block[18,72]:121x18",
        "one processor of the cluster, because its jobs share nodes"),
]  # fmt: skip
SCHEDULERS = ["fcfs", "easy"]
WAITS = [f"slurm-tree[switches=1,wait={wait}]" for wait in (0, 60, 300)]
JUDGED_ON_TREES = ["slurm-tree", "tree-fit", *WAITS[1:]]
ON_TREES = [
    "slurm-tree", *WAITS, "tree-fit", "kueue", "kueue[level=0]", "kueue[profile=least]", "kueue[profile=most]", "first-fit", "random",
]  # fmt: skip
SEGMENTS = ["slurm-block[segment=4]", "slurm-block[segment=16]"]
ON_BLOCKS = ["first-fit", "slurm-block", *SEGMENTS, "random"]
JUDGED_ON_BLOCKS = ON_BLOCKS[:-1]
COPIES = 10
# 97.5 % quantile of Student's distribution for the number of copies.
STUDENT = 2.262
CASE = ["trace", "topology", "scheduler"]
RULE_COLUMNS = (
    "trace topology scheduler allocator jobs no_such_size_jobs utilization mean_wait p90_wait mean_leaves mean_leaf_ratio "
    "mean_level mean_pair_hops one_leaf_percent one_leaf_fitting_percent fragmented_refusals switches_refusals "
    "fragmented_time_percent block_fragmentation block_fragmentation_percent"
).split()
METRICS = [
    "mean_leaves", "mean_leaf_ratio", "mean_level", "one_leaf_percent", "one_leaf_fitting_percent", "mean_wait", "utilization",
]  # fmt: skip
COPY_COLUMNS = [*CASE, "allocator", "metric", "copies", "mean", "half_width", "paired_difference", "paired_half_width", "distinct"]


def grid(log: Log, machine: str, allocators: list[str]) -> str:
    """Returns the options of a replay of the second half of a log."""
    options = f"--trace {log.trace} --from {log.start} --machine {machine} --sched {','.join(SCHEDULERS)}"
    return f"{options} --alloc {','.join(allocators)}"


def leaf_size(machine: str) -> int:
    return int(machine.replace("x", ":").split(":")[-1])


def waits_by_fit(sizes: pl.DataFrame, machine: str, base: str) -> pl.DataFrame:
    """Returns the paired change of the mean wait of the jobs that fit into a leaf, and of all larger jobs."""
    fits = pl.when(pl.col("size") <= leaf_size(machine)).then(pl.lit("fit into a leaf")).otherwise(pl.lit("larger"))
    waits = sizes.filter(pl.col("copy") > 0).group_by(*CASE, "allocator", fits.alias("fit"), "copy", maintain_order=True)
    waits = waits.agg(pl.col("jobs").sum(), job_mean("mean_wait"))
    bases = waits.filter(allocator=base).drop("allocator")
    change = pl.col("mean_wait") - pl.col("mean_wait_right")
    pairs = waits.filter(pl.col("allocator") != base).join(bases, on=[*CASE, "fit", "copy"], maintain_order="left")
    return (
        pairs.group_by(*CASE, "allocator", "fit", maintain_order=True)
        .agg(
            number=pl.col("jobs_right").first(),
            base_wait=pl.col("mean_wait_right").mean(),
            difference=change.mean(),
            half_width=STUDENT * change.std() / change.len().sqrt(),
        )
        .rename({"fit": "jobs"})
    )


def judge(log: Log, machine: str, allocators: list[str], folder: Path) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Returns the metrics of rules over perturbed copies, and the changes of waits by fit."""
    replay(f"{grid(log, machine, allocators)} --shake {COPIES} --no-jobs --no-plots --quiet --force --out", folder)
    sizes = read(folder / "by_size.csv")
    # The mean over jobs of the fewest leaves that hold a job on the idle machine with equal leaves.
    leaves = (pl.col("size") / leaf_size(machine)).ceil() * pl.col("jobs")
    first = sizes.filter(allocator=allocators[0], scheduler="easy", copy=0)
    fewest = first.select(leaves.sum() / pl.col("jobs").sum()).item()
    rows = read(folder / "shaken.csv", as_text=True).filter(pl.col("metric").is_in(METRICS)).select(COPY_COLUMNS)
    return rows.with_columns(pl.lit(f"{fewest:.6f}").alias("fewest_leaves")), waits_by_fit(sizes, machine, allocators[0])


def by_rule(log: Log, machine: str, allocators: list[str], folder: Path, more: str = "") -> pl.DataFrame:
    replay(f"{grid(log, machine, allocators)} --no-plots --quiet --force {more} --out", folder)
    return read(folder / "runs.csv", as_text=True).select(RULE_COLUMNS)


def run_times(path: str) -> dict[int, int]:
    """Returns the run time of each job of a log in seconds."""
    with (gzip.open if path.endswith(".gz") else open)(path, "rt", encoding="utf-8", errors="replace") as file:
        fields = (line.split() for line in file if line.strip() and not line.startswith(";"))
        return {int(one[0]): max(0, int(float(one[3]))) for one in fields}


def idle_nodes(folder: Path) -> pl.DataFrame:
    """Returns, for each rule under EASY, how long jobs waited and how many nodes were idle in this time."""
    manifest = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))
    times = run_times(manifest["configuration"]["traces"][0]["source"])
    found = []
    for run in read(folder / "runs.csv").filter(pl.col("allocator") != "random", scheduler="easy").iter_rows(named=True):
        one = f"{folder}:{run['run']}"
        printed = replay("compare --schedule --format csv --quiet", one, one).stdout
        # Changes of the number of waiting jobs and of busy nodes.
        events = []
        for job, size, submit, start in pl.read_csv(printed.encode()).select("job", "size", "submit", "base_start").iter_rows():
            events += [(submit, 1, 0), (start, -1, size), (start + times[job], 0, -size)]
        events.sort()
        waiting = busy = queued = idle = 0
        before = events[0][0]
        for at, queue, nodes in events:
            if waiting > 0:
                queued += at - before
                idle += (at - before) * (run["processors"] - busy)
            before, waiting, busy = at, waiting + queue, busy + nodes
        total = events[-1][0] - events[0][0]
        found.append(
            {
                "trace": run["trace"],
                "topology": run["topology"],
                "allocator": run["allocator"],
                "nodes": run["processors"],
                "queued_percent": f"{100 * queued / total:.3f}",
                "idle_nodes_while_queued": f"{idle / queued if queued else 0:.3f}",
            }
        )
    return pl.DataFrame(found)


def measure(logs: list[Log], work: Path) -> list[pl.DataFrame]:
    """Returns the tables of the page."""
    tables: list[list[pl.DataFrame]] = [[] for _ in TABLES]
    copies, fits, rules, block_copies, blocks, idle = tables
    for log in logs:
        for machine in log.trees:
            judged, by_fit = judge(log, machine, JUDGED_ON_TREES, work / "judge")
            copies.append(judged)
            fits.append(by_fit)
            rules.append(by_rule(log, machine, ON_TREES, work / "rules", "--no-jobs"))
        block_copies.append(judge(log, log.block, JUDGED_ON_BLOCKS, work / "judge")[0])
        blocks.append(by_rule(log, log.block, ON_BLOCKS, work / "rules"))
        idle.append(idle_nodes(work / "rules"))
    return [pl.concat(table) for table in tables]


TABLES = ["copies", "fits", "rules", "block-copies", "blocks", "idle"]
Case = tuple[str, str, str]
Change = tuple[float, float, bool]


class Judged:
    """Means over perturbed copies, with paired differences from the first rule."""

    def __init__(self, table: pl.DataFrame) -> None:
        self.rows = {(*(one[key] for key in CASE), one["allocator"], one["metric"]): one for one in table.iter_rows(named=True)}

    def cases(self, allocator: str, schedulers: list[str] = SCHEDULERS) -> list[Case]:
        """Returns log, machine and scheduler of each case of a rule."""
        return [key[:3] for key in self.rows if key[3:] == (allocator, "mean_wait") and key[2] in schedulers]

    def mean(self, case: Case, allocator: str, metric: str) -> float:
        """Returns the mean of a metric; 0 if the metric has no value in this case."""
        one = self.rows.get((*case, allocator, metric))
        return one["mean"] or 0.0 if one else 0.0

    def fewest(self, case: Case, allocator: str) -> float:
        return self.rows[(*case, allocator, "mean_leaves")]["fewest_leaves"]

    def change(self, case: Case, allocator: str, metric: str) -> Change:
        """Returns the difference from the first rule, half of its interval, and whether it differs from 0."""
        one = self.rows[(*case, allocator, metric)]
        return one["paired_difference"] or 0.0, one["paired_half_width"] or 0.0, one["distinct"] == "yes"

    def signs(self, cases: list[Case], allocator: str, metric: str) -> tuple[int, int]:
        """Returns the numbers of significant increases and decreases."""
        return signs(self.change(case, allocator, metric) for case in cases if (*case, allocator, metric) in self.rows)


def signs(changes: Iterable[Change]) -> tuple[int, int]:
    """Returns the numbers of significant increases and decreases."""
    found = [x for x, _, significant in changes if significant]
    return sum(x > 0 for x in found), sum(x < 0 for x in found)


def changed(change: Change | None, form: str = "+.2f", scale: float = 1.0) -> str:
    """Formats a change and half of its interval; bold if the change differs from 0."""
    if change is None:
        return ""
    difference, half, significant = change
    text = f"{scale * difference:{form}} +- {(scale * half):{form.lstrip('+')}}"
    return f"**{text}**" if significant else text


def fit_change(fits: pl.DataFrame, case: Case, allocator: str, jobs: str) -> Change | None:
    """Returns the change of the mean wait of one group of jobs, or `None` if there is no such job."""
    found = fits.filter(**dict(zip(CASE, case)), allocator=allocator, jobs=jobs)
    if found.is_empty():
        return None
    difference, half = found.select("difference", "half_width").row(0)
    return difference, half, abs(difference) > half


def table(page: Page, header: list[str], rows: Iterable[Iterable[str]]) -> None:
    page.add(row(*header), f"|---|{'---:|' * (len(header) - 1)}", *(row(*cells) for cells in rows), "")


def fit_table(page: Page, judged: Judged) -> None:
    rows = []
    for case in judged.cases("tree-fit"):
        slurm = judged.mean(case, "slurm-tree", "mean_leaves")
        fits = judged.mean(case, "slurm-tree", "one_leaf_fitting_percent")
        rows.append(
            [
                case[0], f"`{case[1]}`", case[2], f"{slurm:.4f}", f"{judged.mean(case, 'tree-fit', 'mean_leaves'):.4f}",
                f"{judged.fewest(case, 'tree-fit'):.4f}", changed(judged.change(case, "tree-fit", "mean_leaves"), scale=100 / slurm),
                changed(judged.change(case, "tree-fit", "mean_level"), "+.4f"),
                changed(judged.change(case, "tree-fit", "one_leaf_fitting_percent")) if fits else "",
            ]
        )  # fmt: skip
    header = [
        "log", "tree", "scheduler", "slurm-tree, leaves per job", "tree-fit", "fewest possible", "change %", "change of level",
        "change of share in one leaf, points",
    ]  # fmt: skip
    table(page, header, rows)


def switches_table(page: Page, judged: Judged, fits: pl.DataFrame) -> None:
    rows = []
    for wait in (60, 300):
        name = f"slurm-tree[switches=1,wait={wait}]"
        for case in judged.cases(name, ["easy"]):
            slurm = judged.mean(case, "slurm-tree", "mean_leaves")
            share = judged.mean(case, "slurm-tree", "one_leaf_fitting_percent")
            rows.append(
                [
                    str(wait), case[0], f"`{case[1]}`", f"{judged.mean(case, 'slurm-tree', 'mean_wait'):,.0f}",
                    changed(judged.change(case, name, "mean_wait"), "+,.0f"),
                    *(changed(fit_change(fits, case, name, jobs), "+,.0f") for jobs in ("fit into a leaf", "larger")),
                    changed(judged.change(case, name, "mean_leaves"), scale=100 / slurm),
                    changed(judged.change(case, name, "one_leaf_fitting_percent")) if share else "",
                ]
            )  # fmt: skip
    header = [
        "wait", "log", "tree", "mean wait of slurm-tree, s", "change, s", "of jobs that fit into a leaf", "of larger jobs",
        "change of leaves per job %", "change of share in one leaf, points",
    ]  # fmt: skip
    table(page, header, rows)


def left_out(blocks: pl.DataFrame, allocator: str) -> dict[str, int]:
    """Returns, for each log, the number of jobs without a place on the idle machine."""
    found = blocks.filter(allocator=allocator, scheduler="easy")
    return dict(found.select("trace", pl.col("no_such_size_jobs").fill_null(0)).iter_rows())


def idle_percent(idle: pl.DataFrame, allocator: str) -> dict[str, float]:
    """Returns, for each log, the share of idle nodes while jobs wait."""
    share = 100 * pl.col("idle_nodes_while_queued") / pl.col("nodes")
    return dict(idle.filter(allocator=allocator).select("trace", share).iter_rows())


def blocks_table(page: Page, judged: Judged, blocks: pl.DataFrame, idle: pl.DataFrame) -> None:
    rows = []
    for name in JUDGED_ON_BLOCKS:
        for case in judged.cases(name, ["easy"]):
            rows.append(
                [
                    f"`{name}`", case[0], str(left_out(blocks, name)[case[0]]), f"{judged.mean(case, name, 'mean_wait'):,.0f}",
                    changed(judged.change(case, name, "mean_wait"), "+,.0f") if name != "first-fit" else "",
                    f"{judged.mean(case, name, 'mean_leaf_ratio'):.3f}", f"{judged.mean(case, name, 'one_leaf_percent'):.1f}",
                    f"{idle_percent(idle, name)[case[0]]:.1f}",
                ]
            )  # fmt: skip
    header = [
        "rule", "log", "jobs left out", "mean wait, s", "change, s", "base blocks over the fewest", "jobs in one base block %",
        "idle nodes while jobs wait %",
    ]  # fmt: skip
    table(page, header, rows)


def rule_table(page: Page, rows: pl.DataFrame, allocators: list[str], column: str, form: str, scheduler: str) -> None:
    """Adds a table with a row for each rule and a column for each log; waits are in hours."""
    rows = rows.filter(pl.col("allocator").is_in(allocators), scheduler=scheduler)
    values = rows.pivot("trace", index="allocator", values=column)
    cell = hours if column == "mean_wait" else lambda value: format(value, form)
    cells = {name: ["" if value is None else cell(value) for value in found] for name, *found in values.iter_rows()}
    table(page, ["rule", *values.columns[1:]], [[f"`{name}`", *cells[name]] for name in allocators])


def span(values: Iterable[float], form: str, unit: str = "") -> str:
    """Returns the least and the largest value as text."""
    values = list(values)
    low, high = (format(value, form) + unit for value in (min(values), max(values)))
    return low if low == high else f"{low} to {high}"


def ratios(rules: pl.DataFrame, allocator: str, base: str) -> list[float]:
    """Returns the percentage changes of leaves per job from one rule to another, by log (EASY, second trees)."""
    easy = rules.filter(pl.col("topology").is_in([log.trees[1] for log in LOGS]), scheduler="easy")
    pairs = easy.filter(allocator=allocator).join(easy.filter(allocator=base), on="trace", maintain_order="left")
    return pairs.select(100 * (pl.col("mean_leaves") / pl.col("mean_leaves_right") - 1)).to_series().to_list()


def excess(judged: Judged, allocator: str) -> str:
    """Returns the range of the leaves above the fewest possible, in percent."""
    shares = [judged.mean(case, allocator, "mean_leaves") / judged.fewest(case, allocator) for case in judged.cases(allocator)]
    return span((100 * (share - 1) for share in shares), ".1f", " %")


def findings(page: Page, tables: dict[str, pl.DataFrame]) -> None:
    """Adds a sentence for each rule; every number is computed from the tables."""
    judged, on_blocks = Judged(tables["copies"]), Judged(tables["block-copies"])
    page.add("## One finding for each rule\n")
    cases = judged.cases("tree-fit")
    changes = {case: judged.change(case, "tree-fit", "mean_leaves") for case in cases}
    slurm = {case: judged.mean(case, "slurm-tree", "mean_leaves") for case in cases}
    more, fewer = signs(changes.values())
    higher, lower = judged.signs(cases, "tree-fit", "mean_level")
    gained, lost = judged.signs(cases, "tree-fit", "one_leaf_fitting_percent")
    percents = [100 * changes[case][0] / slurm[case] for case in cases]
    removed = mean(-100 * changes[case][0] / (slurm[case] - judged.fewest(case, "tree-fit")) for case in cases)
    logs = dict.fromkeys(case[0] for case in cases)
    both = sum(all(changes[case][0] < 0 and changes[case][2] for case in cases if case[0] == log) for log in logs)
    page.add(
        f"* `slurm-tree` puts jobs on {excess(judged, 'slurm-tree')} more leaves than the fewest possible, and no job waits for "
        "a better place.",
        f"* `tree-fit` starts every job at the same time as `slurm-tree` and puts jobs on fewer leaves in {fewer} of {len(cases)} "
        f"cases (in all four cases of {both} of {len(logs)} logs) and on more leaves in {more}: "
        f"{mean(percents):+.2f} % on average ({span(percents, '+.2f')}), which removes "
        f"{removed:.0f} % of the leaves above the fewest possible; {excess(judged, 'tree-fit')} remain. Levels are "
        f"lower in {lower} cases and higher in {higher}; the share of fitting jobs in one leaf rises in {gained} cases and falls "
        f"in {lost}.",
    )
    for wait in (60, 300):
        name = f"slurm-tree[switches=1,wait={wait}]"
        cases = judged.cases(name, ["easy"])
        fitting, larger = (
            [one for case in cases if (one := fit_change(tables["fits"], case, name, jobs))] for jobs in ("fit into a leaf", "larger")
        )
        gain = [
            judged.change(case, name, "one_leaf_fitting_percent")
            for case in cases
            if judged.mean(case, "slurm-tree", "one_leaf_fitting_percent")
        ]
        page.add(
            f"* `--switches=1@{wait}` (`{name}`) for all jobs, under EASY: the mean wait of jobs that fit into a leaf changes by "
            f"{span((x for x, _, _ in fitting), '+,.0f', ' s')} (longer in {signs(fitting)[0]} and shorter in "
            f"{signs(fitting)[1]} of {len(fitting)} cases), and their share in one leaf by "
            f"{span((x for x, _, _ in gain), '+.1f', ' points')} (more in {signs(gain)[0]}, less in "
            f"{signs(gain)[1]}); larger jobs, which can gain nothing, wait "
            f"{span((x for x, _, _ in larger), '+,.0f', ' s')} (longer in {signs(larger)[0]} of {len(larger)} cases)."
        )
    kueue = {
        "the default": "kueue", "`level=0`": "kueue[level=0]", "`profile=least`": "kueue[profile=least]",
        "`profile=most`": "kueue[profile=most]",
    }  # fmt: skip
    parts = [f"{span(ratios(tables['rules'], rule, 'slurm-tree'), '+.1f', ' %')} with {words}" for words, rule in kueue.items()]
    page.add(
        "* Ask for one leaf only for jobs that fit into a leaf: where nodes are free (LANL-CM5, BlueWaters-15k, `tree:34x64`), larger "
        "jobs wait the whole time for nothing.",
        "* `slurm-tree[switches=1,wait=0]` equals `slurm-tree`: a job that may wait for 0 seconds starts anywhere.",
        f"* `kueue`: leaves per job against `slurm-tree` (EASY, second trees) change by {', by '.join(parts)}; these modes "
        "do not let jobs wait.",
    )
    for name in ("first-fit", "random"):
        many = span((1 + x / 100 for x in ratios(tables["rules"], name, "slurm-tree")), ".1f")
        page.add(f"* `{name}` uses {many} times as many leaves as `slurm-tree` (EASY, second trees).")
    for name in ("slurm-block", *SEGMENTS):
        cases = on_blocks.cases(name, ["easy"])
        longer, shorter = on_blocks.signs(cases, name, "mean_wait")
        waits = [100 * on_blocks.change(c, name, "mean_wait")[0] / on_blocks.mean(c, "first-fit", "mean_wait") for c in cases]
        idle, first_fit = (span(idle_percent(tables["idle"], rule).values(), ".1f", " %") for rule in (name, "first-fit"))
        page.add(
            f"* `{name}` leaves {idle} of the nodes idle while jobs wait (`first-fit`: "
            f"{first_fit}); the mean wait under EASY changes by {span(waits, '+.1f', ' %')} against "
            f"`first-fit` (longer in {longer}, shorter in {shorter} of {len(cases)} logs), and "
            f"{sum(left_out(tables['blocks'], name).values())} jobs of the {len(cases)} logs can never start."
        )
    page.add("")


def overtaking(page: Page, log: Log) -> None:
    """Adds a table of waits by size, which shows why the mean wait of a rule that refuses jobs may be shorter."""
    options = f"--trace {log.trace} --from {log.start} --machine {log.block} --sched easy --alloc first-fit,slurm-block"
    replay(f"{options} --no-plots --quiet --out", page.work / "out")
    labels = ["1 to 18", "19 to 1,000", "over 1,000"]
    classes = pl.col("size").cut([18, 1000], labels=labels).cast(pl.String).alias("class")
    means = read(page.work / "out" / "by_size.csv").group_by("allocator", classes, maintain_order=True)
    means = means.agg(pl.col("jobs").sum(), job_mean("mean_wait"))
    rows = []
    for label in labels:
        first, block = (means.filter(**{"class": label, "allocator": name}).row(0, named=True) for name in ("first-fit", "slurm-block"))
        rows.append([label, f"{first['jobs']:,}", f"{first['mean_wait']:,.0f}", f"{block['mean_wait']:,.0f}"])
    page.add(
        f"On {log.trace} the mean wait of `slurm-block` is shorter although it leaves out no job: a few large jobs are refused, and\n"
        f"small jobs overtake them (`replay {options} --out out`, `by_size.csv`):\n"
    )
    table(page, ["nodes", "jobs", "mean wait of first-fit, s", "of slurm-block, s"], rows)


INTRODUCTION = """\
# Trees and blocks: what the placement rules cost

The rules of Slurm's `topology/tree` and `topology/block` and of Kueue, two generic rules, and `tree-fit` of this project,
on the second halves, by number of jobs, of {} logs. `tree-fit` was chosen among 21 variants by leaves and levels on the first halves, with the
same trees; the second halves were used only for this page. Every job that the cleaning policy `johnson` keeps is counted, unless
a rule has no place for it. Sizes are in nodes:
"""
LEGEND = f"""\
Tables with `+-` are means over {COPIES} perturbed copies of the log (every time changed by up to a second); `+-` is half of
the 95 % interval of the paired difference. Bold changes differ from 0 after Holm's correction, except in the two columns by
fit, where the interval alone decides. The other tables are single replays of the unchanged logs.

## tree-fit against Slurm's rule
"""
FEWEST = """
*Fewest possible* is the mean over jobs of the leaves that a job needs on the idle machine: a bound that no rule can reach for
all jobs. Levels count from 0, the leaf. *Share in one leaf* is the share of jobs in one leaf, of the jobs of two or more
nodes that fit into a leaf; no job of LANL-CM5 fits. All start times are equal.
"""
ONE_LEAF = """\
## Waiting for one leaf

The same replays under EASY, as changes from `slurm-tree`. `switches=1` holds for every job of two or more nodes; a job
larger than a leaf waits for nothing. EASY reserves the first expected end, or the end of the head's wait, at which the rule finds
a place.
"""
RACKS = """
Racks of 18 nodes, four of which form a block of 72. A segment holds for larger jobs whose size is a multiple of it.
Changes are from `first-fit`, which runs every job. Jobs without a place on the idle machine are left out, which shortens
the waits of the others (50 jobs of CTC-SP2 with `slurm-block`). EASY reserves the first expected end at which the rule finds a place.
"""
SIX_BLOCKS = """\
## Six blocks of four nodes

Slurm looks only at whole lower blocks. On six base blocks of 4 nodes with sizes 4 and 16, the second block of 16 has
two base blocks and is not counted: jobs of 17 to 24 nodes never start, although 24 nodes are idle.

```sh
replay check-topology 'block[4,16]:6x4'
```

```text
{}
```"""


def write(page: Page) -> None:
    logs = LOGS[:1] if quick() else LOGS
    paths = {name: page.out / f"trees-{name}.csv" for name in TABLES}
    if not all(map(kept, paths.values())):
        for path, rows in zip(paths.values(), measure(logs, page.work)):
            rows.write_csv(path, float_precision=6)
    tables = {name: read(path) for name, path in paths.items()}
    judged, rules, blocks = Judged(tables["copies"]), tables["rules"], tables["blocks"]
    deep = rules.filter(pl.col("topology").is_in([log.trees[1] for log in logs]))
    page.add(INTRODUCTION.format(len(logs)))
    rows = [[log.trace, log.sizes, str(log.start), *(f"`{m}`" for m in (*log.trees, log.block))] for log in logs]
    table(page, ["log", "a node is", "first submission, s", "first tree", "second tree", "blocks"], rows)
    findings(page, tables)
    page.add(LEGEND, f"`replay {grid(logs[0], logs[0].trees[0], JUDGED_ON_TREES)} --shake {COPIES}`, and so on.", FEWEST)
    fit_table(page, judged)
    page.add(ONE_LEAF)
    switches_table(page, judged, tables["fits"])
    page.add("[trees-copies.csv](trees-copies.csv), [trees-fits.csv](trees-fits.csv), with FCFS\n\n## All rules on trees\n")
    page.add(f"`replay {grid(logs[0], logs[0].trees[1], ON_TREES)}`, and so on.\n")
    for title, column, form in (
        ("Leaves per job", "mean_leaves", ".3f"),
        ("Leaves over the fewest possible, mean over jobs", "mean_leaf_ratio", ".3f"),
        ("Share of fitting jobs in one leaf, in percent", "one_leaf_fitting_percent", ".1f"),
    ):
        page.add(f"{title}, second tree of each log, easy:\n")
        rule_table(page, deep, ON_TREES, column, form, "easy")
    for scheduler in SCHEDULERS:
        page.add(f"Mean wait in hours, second trees, {scheduler}; the other rules have the waits of `slurm-tree`:\n")
        rule_table(page, deep, ["slurm-tree", *WAITS], "mean_wait", "", scheduler)
    page.add("Refusals because the place had more than one leaf, second trees, easy:\n")
    rule_table(page, deep, WAITS, "switches_refusals", ",.0f", "easy")
    page.add(
        "Waits of FCFS grow with the length of a saturated log. FCFS, the first trees and levels are in",
        "[trees-rules.csv](trees-rules.csv).\n\n## All rules on blocks\n",
        f"`replay {grid(logs[0], logs[0].block, JUDGED_ON_BLOCKS)} --shake {COPIES}`, and so on.",
        RACKS,
    )
    blocks_table(page, Judged(tables["block-copies"]), blocks, tables["idle"])
    for log in logs:
        if log.trace == "BlueWaters-15k":
            overtaking(page, log)
    page.add("[trees-block-copies.csv](trees-block-copies.csv), with FCFS; idle nodes, of one replay: [trees-idle.csv](trees-idle.csv)\n")
    page.add(f"`replay {grid(logs[0], logs[0].block, ON_BLOCKS)}`, and so on.\n")
    for title, column, form, scheduler in (
        ("Mean wait in hours", "mean_wait", "", "fcfs"),
        ("Base blocks per job", "mean_leaves", ".3f", "easy"),
        ("Refusals for lack of a place", "fragmented_refusals", ",.0f", "easy"),
        ("Time in which a job waited for lack of a place, in percent", "fragmented_time_percent", ".1f", "easy"),
        ("Slurm's fragmentation, in percent of its value with no node free", "block_fragmentation_percent", ".1f", "easy"),
    ):
        page.add(f"{title}, {scheduler}:\n")
        # Generic rules do not refuse jobs.
        names = ["slurm-block", *SEGMENTS] if column.startswith("fragmented_") else ON_BLOCKS
        rule_table(page, blocks, names, column, form, scheduler)
    topology = replay("check-topology block[4,16]:6x4").stdout.rstrip()
    page.add("[trees-blocks.csv](trees-blocks.csv)\n", SIX_BLOCKS.format(topology))
