#!/usr/bin/env python3
"""Compares placement rules of trees and blocks on the second halves of six logs.

    scripts/trees.py OUT_FOLDER [--quick]

Prints the page, and writes trees-*.csv. REPLAY is the program (default: replay). Traces are searched in the folders in
which the program searches. --quick replays only the first log. If KEEP is set, existing tables are read instead of
computed.
"""

import csv
import gzip
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections import defaultdict, namedtuple

from csv_rows import rows_of

REPLAY = os.environ.get("REPLAY", "replay")
Log = namedtuple("Log", "trace start trees block sizes")
# `start` is the submission of the first job of the second half, in seconds of the trace.
LOGS = [
    Log("KTH-SP2", 15732392, ["tree:5x20", "tree:2x5x10"], "block[18,72]:6x18", "one processor of the SP2"),
    Log("CTC-SP2", 14367629, ["tree:19x18", "tree:4x8x11"], "block[18,72]:19x18", "one processor of the SP2"),
    Log("SDSC-SP2", 26611523, ["tree:8x16", "tree:2x8x8"], "block[18,72]:8x18", "one processor of the SP2"),
    Log(
        "LANL-CM5", 26809064, ["tree:43x24", "tree:3x19x18"], "block[18,72]:57x18",
        "one processor of the CM-5; all jobs have multiples of 32",
    ),
    Log(
        "BlueWaters-15k", 7304507, ["tree:24x32x36", "tree:4x12x32x18"], "block[18,72]:1536x18",
        "one node of the XE6; of jobs 1001 to 15000",
    ),
    Log(
        "wagap-2013", 1362575577, ["tree:34x64", "tree:8x17x16"], "block[18,72]:121x18",
        "one processor of the cluster, because its jobs share nodes",
    ),
]
SCHEDULERS = ["fcfs", "easy"]
WAITS = [f"slurm-tree[switches=1,wait={wait}]" for wait in (0, 60, 300)]
JUDGED_ON_TREES = ["slurm-tree", "tree-fit", *WAITS[1:]]
KUEUE = ["kueue", "kueue[level=0]", "kueue[profile=least]", "kueue[profile=most]"]
ON_TREES = ["slurm-tree", *WAITS, "tree-fit", *KUEUE, "first-fit", "random"]
SEGMENTS = ["slurm-block[segment=4]", "slurm-block[segment=16]"]
ON_BLOCKS = ["first-fit", "slurm-block", *SEGMENTS, "random"]
JUDGED_ON_BLOCKS = ON_BLOCKS[:-1]
COPIES = 10
# 97.5 % quantile of Student's distribution for the number of copies.
STUDENT = 2.262
RULE_COLUMNS = (
    "trace,topology,scheduler,allocator,jobs,no_such_size_jobs,utilization,mean_wait,p90_wait,mean_leaves,"
    "mean_leaf_ratio,mean_level,mean_pair_hops,one_leaf_percent,one_leaf_fitting_percent,fragmented_refusals,"
    "switches_refusals,fragmented_time_percent,block_fragmentation,block_fragmentation_percent"
).split(",")
METRICS = [
    "mean_leaves", "mean_leaf_ratio", "mean_level", "one_leaf_percent", "one_leaf_fitting_percent", "mean_wait",
    "utilization",
]


def grid(log, machine, allocators, *more):
    """Returns the options of a replay of the second half of a log."""
    options = ["--trace", log.trace, "--from", str(log.start), "--machine", machine]
    return [*options, "--sched", ",".join(SCHEDULERS), "--alloc", ",".join(allocators), *more]


def replay(folder, arguments):
    command = [REPLAY, *arguments, "--no-plots", "--quiet", "--out", folder]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def number(text):
    return float(text) if text else 0.0


def fewest_leaves(folder, machine, allocator):
    """Returns the mean over jobs of the fewest leaves that hold a job on the idle machine with equal leaves."""
    leaf = leaf_size(machine)
    rows = rows_of(os.path.join(folder, "by_size.csv"))
    rows = [row for row in rows if row["allocator"] == allocator and row["scheduler"] == "easy" and row["copy"] == "0"]
    jobs = {int(row["size"]): int(row["jobs"]) for row in rows}
    return sum(n * -(-size // leaf) for size, n in jobs.items()) / sum(jobs.values())


def leaf_size(machine):
    return int(machine.replace("x", ":").split(":")[-1])


def interval(values):
    """Returns the mean and half of its 95 % interval."""
    mean = statistics.mean(values)
    return mean, STUDENT * statistics.stdev(values) / len(values) ** 0.5


def waits_by_fit(folder, machine, base):
    """Returns rows with the paired change of the mean wait of the jobs that fit into a leaf, and of all larger jobs."""
    sums = defaultdict(lambda: [0, 0.0])
    for row in rows_of(os.path.join(folder, "by_size.csv")):
        fits = int(row["size"]) <= leaf_size(machine)
        one = sums[row["trace"], row["scheduler"], row["allocator"], fits, int(row["copy"])]
        one[0] += int(row["jobs"])
        one[1] += int(row["jobs"]) * float(row["mean_wait"])
    found = []
    groups = dict.fromkeys(key[:4] for key in sums)
    for trace, scheduler, allocator, fits in groups:
        if allocator == base:
            continue
        pairs = []
        for copy in range(1, COPIES + 1):
            ours, theirs = (sums[trace, scheduler, name, fits, copy] for name in (allocator, base))
            pairs.append((ours[1] / ours[0], theirs[1] / theirs[0]))
        difference, half = interval([a - b for a, b in pairs])
        found.append(
            {
                "trace": trace, "topology": machine, "scheduler": scheduler, "allocator": allocator,
                "jobs": "fit into a leaf" if fits else "larger", "number": sums[trace, scheduler, base, fits, 1][0],
                "base_wait": f"{statistics.mean(b for _, b in pairs):.6f}", "difference": f"{difference:.6f}",
                "half_width": f"{half:.6f}",
            }
        )
    return found


def judge(log, machine, allocators, scratch):
    """Returns rows for the metrics of rules over perturbed copies, and the changes of waits by fit."""
    folder = os.path.join(scratch, "judge")
    replay(folder, grid(log, machine, allocators, "--shake", str(COPIES), "--no-jobs", "--force"))
    fewest = fewest_leaves(folder, machine, allocators[0])
    rows = [row for row in rows_of(os.path.join(folder, "shaken.csv")) if row["metric"] in METRICS]
    columns = "trace,topology,scheduler,allocator,metric,copies,mean,half_width,paired_difference,paired_half_width"
    names = [*columns.split(","), "distinct"]
    rows = [{**{name: row[name] for name in names}, "fewest_leaves": f"{fewest:.6f}"} for row in rows]
    return rows, waits_by_fit(folder, machine, allocators[0])


def by_rule(log, machine, allocators, scratch, *more):
    folder = os.path.join(scratch, "rules")
    replay(folder, grid(log, machine, allocators, "--force", *more))
    rows = rows_of(os.path.join(folder, "runs.csv"))
    return [{name: row[name] for name in RULE_COLUMNS} for row in rows]


def run_times(path):
    """Returns the run time of each job of a log in seconds."""
    opened = gzip.open if path.endswith(".gz") else open
    with opened(path, "rt", encoding="utf-8", errors="replace") as file:
        fields = (line.split() for line in file if line.strip() and not line.startswith(";"))
        return {int(one[0]): max(0, int(float(one[3]))) for one in fields}


def idle_nodes(log, scratch):
    """Returns, for each rule of blocks under EASY, how long jobs waited and how many nodes were idle in this time."""
    folder = os.path.join(scratch, "rules")
    with open(os.path.join(folder, "manifest.json"), encoding="utf-8") as file:
        trace = json.load(file)["configuration"]["traces"][0]
    runs = run_times(trace["source"])
    found = []
    for row in rows_of(os.path.join(folder, "runs.csv")):
        if row["scheduler"] != "easy" or row["allocator"] == "random":
            continue
        run = f"{folder}:{row['run']}"
        command = [REPLAY, "compare", run, run, "--schedule", "--format", "csv", "--quiet"]
        text = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        events = []
        for job in csv.DictReader(text.splitlines()):
            size, start = int(job["size"]), int(job["base_start"])
            # Change of the number of waiting jobs and of busy nodes.
            events.append((int(job["submit"]), 1, 0))
            events.append((start, -1, size))
            events.append((start + runs[int(job["job"])], 0, -size))
        events.sort()
        waiting = busy = 0
        before, queued, idle = events[0][0], 0, 0
        for at, queue, nodes in events:
            if waiting > 0:
                queued += at - before
                idle += (at - before) * (int(row["processors"]) - busy)
            before, waiting, busy = at, waiting + queue, busy + nodes
        total = events[-1][0] - events[0][0]
        found.append(
            {
                "trace": row["trace"],
                "topology": row["topology"],
                "allocator": row["allocator"],
                "nodes": row["processors"],
                "queued_percent": f"{100 * queued / total:.3f}",
                "idle_nodes_while_queued": f"{idle / queued if queued else 0:.3f}",
            }
        )
    return found


def table(page, header, rows):
    page.append("| " + " | ".join(header) + " |")
    page.append("|" + "|".join("---" if i < 1 else "---:" for i in range(len(header))) + "|")
    page.extend("| " + " | ".join(row) + " |" for row in rows)
    page.append("")


class Judged:
    """Means over perturbed copies, with paired differences from the first rule."""

    def __init__(self, rows):
        self.rows = {tuple(row[k] for k in ("trace", "topology", "scheduler", "allocator", "metric")): row for row in rows}

    def cases(self, allocator, schedulers=SCHEDULERS):
        """Returns log, machine and scheduler of each case of a rule."""
        keys = (key for key in self.rows if key[3] == allocator and key[4] == "mean_wait" and key[2] in schedulers)
        return [key[:3] for key in keys]

    def mean(self, case, allocator, metric):
        """Returns the mean of a metric; 0 if the metric has no value in this case."""
        row = self.rows.get((*case, allocator, metric))
        return number(row["mean"]) if row else 0.0

    def fewest(self, case, allocator):
        return float(self.rows[*case, allocator, "mean_leaves"]["fewest_leaves"])

    def change(self, case, allocator, metric):
        """Returns the difference from the first rule, half of its interval, and whether it differs from 0."""
        row = self.rows[*case, allocator, metric]
        return number(row["paired_difference"]), number(row["paired_half_width"]), row["distinct"] == "yes"

    def signs(self, cases, allocator, metric):
        """Returns the numbers of significant increases and decreases."""
        changes = [self.change(case, allocator, metric) for case in cases if (*case, allocator, metric) in self.rows]
        return sum(apart and x > 0 for x, _, apart in changes), sum(apart and x < 0 for x, _, apart in changes)


def changed(change, form="{:+.2f}", scale=1.0):
    """Formats a change and half of its interval; bold if the change differs from 0."""
    difference, half, apart = change
    text = f"{form.format(scale * difference)} +- {form.format(scale * half).lstrip('+')}"
    return f"**{text}**" if apart else text


def fit_table(page, judged):
    lines = []
    for case in judged.cases("tree-fit"):
        slurm = judged.mean(case, "slurm-tree", "mean_leaves")
        fits = judged.mean(case, "slurm-tree", "one_leaf_fitting_percent")
        lines.append(
            [
                case[0], f"`{case[1]}`", case[2], f"{slurm:.4f}", f"{judged.mean(case, 'tree-fit', 'mean_leaves'):.4f}",
                f"{judged.fewest(case, 'tree-fit'):.4f}",
                changed(judged.change(case, "tree-fit", "mean_leaves"), scale=100 / slurm),
                changed(judged.change(case, "tree-fit", "mean_level"), "{:+.4f}"),
                changed(judged.change(case, "tree-fit", "one_leaf_fitting_percent")) if fits else "",
            ]
        )
    header = [
        "log", "tree", "scheduler", "slurm-tree, leaves per job", "tree-fit", "fewest possible", "change %",
        "change of level", "change of share in one leaf, points",
    ]
    table(page, header, lines)


def fit_change(fits, case, allocator, jobs):
    """Returns the change of the mean wait of one group of jobs, or `None` if there is no such job."""
    for row in fits:
        if (row["trace"], row["topology"], row["scheduler"], row["allocator"], row["jobs"]) == (*case, allocator, jobs):
            difference, half = float(row["difference"]), float(row["half_width"])
            return difference, half, abs(difference) > half
    return None


def switches_table(page, judged, fits):
    lines = []
    for wait in (60, 300):
        name = f"slurm-tree[switches=1,wait={wait}]"
        for case in judged.cases(name, ["easy"]):
            slurm = judged.mean(case, "slurm-tree", "mean_leaves")
            groups = [fit_change(fits, case, name, jobs) for jobs in ("fit into a leaf", "larger")]
            share = judged.mean(case, "slurm-tree", "one_leaf_fitting_percent")
            lines.append(
                [
                    str(wait), case[0], f"`{case[1]}`", f"{judged.mean(case, 'slurm-tree', 'mean_wait'):,.0f}",
                    changed(judged.change(case, name, "mean_wait"), "{:+,.0f}"),
                    *(changed(group, "{:+,.0f}") if group else "" for group in groups),
                    changed(judged.change(case, name, "mean_leaves"), scale=100 / slurm),
                    changed(judged.change(case, name, "one_leaf_fitting_percent")) if share else "",
                ]
            )
    header = [
        "wait", "log", "tree", "mean wait of slurm-tree, s", "change, s", "of jobs that fit into a leaf", "of larger jobs",
        "change of leaves per job %", "change of share in one leaf, points",
    ]
    table(page, header, lines)


def left_out(blocks, allocator):
    """Returns, for each log, the number of jobs without a place on the idle machine."""
    return {trace: int(number(row["no_such_size_jobs"])) for trace, row in of(blocks, allocator).items()}


def blocks_table(page, judged, blocks, idle):
    nodes = {(row["trace"], row["allocator"]): row for row in idle}
    lines = []
    for name in JUDGED_ON_BLOCKS:
        for case in judged.cases(name, ["easy"]):
            one = nodes[case[0], name]
            share = 100 * number(one["idle_nodes_while_queued"]) / number(one["nodes"])
            lines.append(
                [
                    f"`{name}`", case[0], str(left_out(blocks, name)[case[0]]),
                    f"{judged.mean(case, name, 'mean_wait'):,.0f}",
                    changed(judged.change(case, name, "mean_wait"), "{:+,.0f}") if name != "first-fit" else "",
                    f"{judged.mean(case, name, 'mean_leaf_ratio'):.3f}",
                    f"{judged.mean(case, name, 'one_leaf_percent'):.1f}", f"{share:.1f}",
                ]
            )
    header = [
        "rule", "log", "jobs left out", "mean wait, s", "change, s", "base blocks over the fewest",
        "jobs in one base block %", "idle nodes while jobs wait %",
    ]
    table(page, header, lines)


def rule_table(page, rows, allocators, column, form, scheduler, keep):
    """Adds a table with a row for each rule and a column for each log."""
    rows = [row for row in rows if row["scheduler"] == scheduler and keep(row)]
    traces = list(dict.fromkeys(row["trace"] for row in rows))
    value = {(row["allocator"], row["trace"]): row[column] for row in rows}
    lines = []
    for name in allocators:
        cells = [value.get((name, trace), "") for trace in traces]
        lines.append([f"`{name}`", *(form(float(cell)) if cell else "" for cell in cells)])
    table(page, ["rule", *traces], lines)


def hours(seconds):
    return f"{seconds / 3600:.2f}"


def of(rows, allocator, scheduler="easy", machine=None):
    """Returns the rows of a rule by log."""
    found = [r for r in rows if r["allocator"] == allocator and r["scheduler"] == scheduler]
    return {r["trace"]: r for r in found if machine is None or machine(r)}


def span(values, form):
    """Returns the least and the largest value as text."""
    low, high = form(min(values)), form(max(values))
    return low if low == high else f"{low} to {high}"


def ratios(rows, allocator, base, column, scheduler="easy", machine=None):
    """Returns the percentage changes of a column from one rule to another, by log."""
    theirs, ours = of(rows, base, scheduler, machine), of(rows, allocator, scheduler, machine)
    return [100 * (float(ours[t][column]) / float(theirs[t][column]) - 1) for t in ours if number(theirs[t][column])]


def values(rows, allocator, column, scheduler="easy", machine=None):
    return [number(row[column]) for row in of(rows, allocator, scheduler, machine).values()]


def percent(value):
    return f"{value:.1f} %"


def change(value):
    return f"{value:+.1f} %"


def points(value):
    return f"{value:+.1f} points"


def seconds(value):
    return f"{value:+,.0f} s"


def excess(judged, allocator):
    """Returns the range of the leaves above the fewest possible, over all cases."""
    cases = judged.cases(allocator)
    return span([100 * (judged.mean(c, allocator, "mean_leaves") / judged.fewest(c, allocator) - 1) for c in cases], percent)


def findings(page, judged, fits, on_blocks, rules, blocks, idle, deep):
    """Adds a sentence for each rule; every number is computed from the tables."""
    page.append("## One finding for each rule\n")
    cases = judged.cases("tree-fit")
    more, fewer = judged.signs(cases, "tree-fit", "mean_leaves")
    higher, lower = judged.signs(cases, "tree-fit", "mean_level")
    gained, lost = judged.signs(cases, "tree-fit", "one_leaf_fitting_percent")
    change_percent = [
        100 * judged.change(c, "tree-fit", "mean_leaves")[0] / judged.mean(c, "slurm-tree", "mean_leaves") for c in cases
    ]
    removed = [
        -100 * judged.change(c, "tree-fit", "mean_leaves")[0]
        / (judged.mean(c, "slurm-tree", "mean_leaves") - judged.fewest(c, "tree-fit"))
        for c in cases
    ]
    logs = [trace for trace, _, _ in cases]
    both = sum(
        all(judged.change(c, "tree-fit", "mean_leaves")[0] < 0 and judged.change(c, "tree-fit", "mean_leaves")[2]
            for c in cases if c[0] == trace)
        for trace in dict.fromkeys(logs)
    )
    page.append(
        f"* `slurm-tree` puts jobs on {excess(judged, 'slurm-tree')} more leaves than the fewest possible, and no job waits for "
        "a better place."
    )
    page.append(
        f"* `tree-fit` starts every job at the same time as `slurm-tree` and puts jobs on fewer leaves in {fewer} of {len(cases)} "
        f"cases (in all four cases of {both} of {len(set(logs))} logs) and on more leaves in {more}: "
        f"{statistics.mean(change_percent):+.2f} % on average ({span(change_percent, lambda x: f'{x:+.2f}')}), which removes "
        f"{statistics.mean(removed):.0f} % of the leaves above the fewest possible; {excess(judged, 'tree-fit')} remain. Levels are "
        f"lower in {lower} cases and higher in {higher}; the share of fitting jobs in one leaf rises in {gained} cases and falls "
        f"in {lost}."
    )
    for wait in (60, 300):
        name = f"slurm-tree[switches=1,wait={wait}]"
        cases = judged.cases(name, ["easy"])
        groups = {}
        for jobs in ("fit into a leaf", "larger"):
            found = [fit_change(fits, case, name, jobs) for case in cases]
            groups[jobs] = [one for one in found if one]
        fitting, larger = groups["fit into a leaf"], groups["larger"]
        share = [c for c in cases if judged.mean(c, "slurm-tree", "one_leaf_fitting_percent")]
        gain = [judged.change(c, name, "one_leaf_fitting_percent") for c in share]
        page.append(
            f"* `--switches=1@{wait}` (`{name}`) for all jobs, under EASY: the mean wait of jobs that fit into a leaf changes by "
            f"{span([x for x, _, _ in fitting], seconds)} (longer in {sum(a and x > 0 for x, _, a in fitting)} and shorter in "
            f"{sum(a and x < 0 for x, _, a in fitting)} of {len(fitting)} cases), and their share in one leaf by "
            f"{span([x for x, _, _ in gain], points)} (more in {sum(a and x > 0 for x, _, a in gain)}, less in "
            f"{sum(a and x < 0 for x, _, a in gain)}); larger jobs, which can gain nothing, wait "
            f"{span([x for x, _, _ in larger], seconds)} (longer in {sum(a and x > 0 for x, _, a in larger)} of {len(larger)} cases)."
        )
    page.append(
        "* Ask for one leaf only for jobs that fit into a leaf: where nodes are free (LANL-CM5, BlueWaters-15k, `tree:34x64`), larger "
        "jobs wait the whole time for nothing."
    )
    page.append("* `slurm-tree[switches=1,wait=0]` equals `slurm-tree`: a job that may wait for 0 seconds starts anywhere.")
    names = [("the default", "kueue"), ("`level=0`", "kueue[level=0]"), ("`profile=least`", "kueue[profile=least]"),
             ("`profile=most`", "kueue[profile=most]")]
    parts = [f"{span(ratios(rules, n, 'slurm-tree', 'mean_leaves', machine=deep), change)} with {t}" for t, n in names]
    page.append(
        f"* `kueue`: leaves per job against `slurm-tree` (EASY, second trees) change by {', by '.join(parts)}; these modes "
        "do not let jobs wait."
    )
    for name in ("first-fit", "random"):
        many = [1 + x / 100 for x in ratios(rules, name, "slurm-tree", "mean_leaves", machine=deep)]
        page.append(f"* `{name}` uses {span(many, lambda x: f'{x:.1f}')} times as many leaves as `slurm-tree` (EASY, second trees).")
    for name in ("slurm-block", *SEGMENTS):
        cases = on_blocks.cases(name, ["easy"])
        longer, shorter = on_blocks.signs(cases, name, "mean_wait")
        changes = [
            100 * on_blocks.change(c, name, "mean_wait")[0] / on_blocks.mean(c, "first-fit", "mean_wait") for c in cases
        ]
        never = sum(left_out(blocks, name).values())
        idle_share = {
            rule: [100 * number(r["idle_nodes_while_queued"]) / number(r["nodes"]) for r in idle if r["allocator"] == rule]
            for rule in (name, "first-fit")
        }
        page.append(
            f"* `{name}` leaves {span(idle_share[name], percent)} of the nodes idle while jobs wait (`first-fit`: "
            f"{span(idle_share['first-fit'], percent)}); the mean wait under EASY changes by {span(changes, change)} against "
            f"`first-fit` (longer in {longer}, shorter in {shorter} of {len(cases)} logs), and {never} jobs of the "
            f"{len(cases)} logs can never start."
        )
    page.append("")


def overtaking(page, log):
    """Adds a table of waits by size, which shows why the mean wait of a rule that refuses jobs may be shorter."""
    options = ["--trace", log.trace, "--from", str(log.start), "--machine", log.block, "--sched", "easy"]
    options += ["--alloc", "first-fit,slurm-block"]
    with tempfile.TemporaryDirectory() as folder:
        replay(os.path.join(folder, "out"), options)
        rows = rows_of(os.path.join(folder, "out", "by_size.csv"))
    lines = []
    for low, high in ((1, 18), (19, 1000), (1001, 10**9)):
        cells = []
        for name in ("first-fit", "slurm-block"):
            jobs = [
                (int(row["jobs"]), float(row["mean_wait"]))
                for row in rows
                if row["allocator"] == name and low <= int(row["size"]) <= high
            ]
            cells.append((sum(n for n, _ in jobs), sum(n * wait for n, wait in jobs) / sum(n for n, _ in jobs)))
        sizes = f"{low:,} to {high:,}" if high < 10**9 else f"over {low - 1:,}"
        lines.append([sizes, f"{cells[0][0]:,}", *(f"{wait:,.0f}" for _, wait in cells)])
    page.append(
        f"On {log.trace} the mean wait of `slurm-block` is shorter although it leaves out no job: a few large jobs are refused, and\n"
        f"small jobs overtake them (`replay {' '.join(options)} --out out`, `by_size.csv`):\n"
    )
    table(page, ["nodes", "jobs", "mean wait of first-fit, s", "of slurm-block, s"], lines)


def check_topology(page):
    command = ["check-topology", "block[4,16]:6x4"]
    text = subprocess.run([REPLAY, *command], check=True, capture_output=True, text=True).stdout.rstrip()
    page.append("## Six blocks of four nodes\n")
    page.append(
        "Slurm looks only at whole lower blocks. On six base blocks of 4 nodes with sizes 4 and 16, the second block of 16 has\n"
        "two base blocks and is not counted: jobs of 17 to 24 nodes never start, although 24 nodes are idle.\n"
    )
    page.append(f"```sh\nreplay check-topology 'block[4,16]:6x4'\n```\n\n```text\n{text}\n```\n")


def measure(logs):
    """Returns the rows of the tables."""
    judged, fits, rules, judged_blocks, blocks, idle = [], [], [], [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        for log in logs:
            for machine in log.trees:
                copies, by_fit = judge(log, machine, JUDGED_ON_TREES, scratch)
                judged += copies
                fits += by_fit
                rules += by_rule(log, machine, ON_TREES, scratch, "--no-jobs")
            judged_blocks += judge(log, log.block, JUDGED_ON_BLOCKS, scratch)[0]
            blocks += by_rule(log, log.block, ON_BLOCKS, scratch)
            idle += idle_nodes(log, scratch)
    return judged, fits, rules, judged_blocks, blocks, idle


def main():
    out, quick = sys.argv[1], "--quick" in sys.argv[2:]
    logs = LOGS[:1] if quick else LOGS
    paths = [os.path.join(out, f"trees-{name}.csv") for name in ("copies", "fits", "rules", "block-copies", "blocks", "idle")]
    if os.environ.get("KEEP") and all(map(os.path.exists, paths)):
        tables = [rows_of(path) for path in paths]
    else:
        tables = measure(logs)
        for path, rows in zip(paths, tables):
            with open(path, "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
    copies, fits, rules, block_copies, blocks, idle = tables
    judged, on_blocks = Judged(copies), Judged(block_copies)
    second_trees = {log.trees[1] for log in logs}
    deep = lambda row: row["topology"] in second_trees
    page = [
        "# Trees and blocks: what the placement rules cost\n",
        f"""The rules of Slurm's `topology/tree` and `topology/block` and of Kueue, two generic rules, and `tree-fit` of this project,
on the second halves, by number of jobs, of {len(logs)} logs. `tree-fit` was chosen among 21 variants by leaves and levels on the first halves, with the
same trees; the second halves were used only for this page. Every job that the cleaning policy `johnson` keeps is counted, unless
a rule has no place for it. Sizes are in nodes:
""",
    ]
    lines = [
        [log.trace, log.sizes, str(log.start), *(f"`{m}`" for m in (*log.trees, log.block))]
        for log in logs
    ]
    table(page, ["log", "a node is", "first submission, s", "first tree", "second tree", "blocks"], lines)
    findings(page, judged, fits, on_blocks, rules, blocks, idle, deep)
    page.append(
        f"Tables with `+-` are means over {COPIES} perturbed copies of the log (every time changed by up to a second); `+-` is half of\n"
        "the 95 % interval of the paired difference. Bold changes differ from 0 after Holm's correction, except in the two columns by\n"
        "fit, where the interval alone decides. The other tables are single replays of the unchanged logs.\n"
    )
    page.append("## tree-fit against Slurm's rule\n")
    page.append(
        f"`replay {' '.join(grid(logs[0], logs[0].trees[0], JUDGED_ON_TREES, '--shake', str(COPIES)))}`, and so on.\n\n"
        "*Fewest possible* is the mean over jobs of the leaves that a job needs on the idle machine: a bound that no rule can reach for\n"
        "all jobs. Levels count from 0, the leaf. *Share in one leaf* is the share of jobs in one leaf, of the jobs of two or more\n"
        "nodes that fit into a leaf; no job of LANL-CM5 fits. All start times are equal.\n"
    )
    fit_table(page, judged)
    page.append("## Waiting for one leaf\n")
    page.append(
        "The same replays under EASY, as changes from `slurm-tree`. `switches=1` holds for every job of two or more nodes; a job\n"
        "larger than a leaf waits for nothing. EASY reserves the first expected end at which the rule finds a place.\n"
    )
    switches_table(page, judged, fits)
    page.append("[trees-copies.csv](trees-copies.csv), [trees-fits.csv](trees-fits.csv), with FCFS\n")
    page.append("## All rules on trees\n")
    page.append(f"`replay {' '.join(grid(logs[0], logs[0].trees[1], ON_TREES))}`, and so on.\n")
    for title, column, form in (
        ("Leaves per job", "mean_leaves", lambda x: f"{x:.3f}"),
        ("Leaves over the fewest possible, mean over jobs", "mean_leaf_ratio", lambda x: f"{x:.3f}"),
        ("Share of fitting jobs in one leaf, in percent", "one_leaf_fitting_percent", lambda x: f"{x:.1f}"),
    ):
        page.append(f"{title}, second tree of each log, easy:\n")
        rule_table(page, rules, ON_TREES, column, form, "easy", deep)
    for scheduler in SCHEDULERS:
        page.append(f"Mean wait in hours, second trees, {scheduler}; the other rules have the waits of `slurm-tree`:\n")
        rule_table(page, rules, ["slurm-tree", *WAITS], "mean_wait", hours, scheduler, deep)
    page.append("Refusals because the place had more than one leaf, second trees, easy:\n")
    rule_table(page, rules, WAITS, "switches_refusals", lambda x: f"{x:,.0f}", "easy", deep)
    page.append(
        "Waits of FCFS grow with the length of a saturated log. FCFS, the first trees and levels are in\n"
        "[trees-rules.csv](trees-rules.csv).\n"
    )
    page.append("## All rules on blocks\n")
    page.append(
        f"`replay {' '.join(grid(logs[0], logs[0].block, JUDGED_ON_BLOCKS, '--shake', str(COPIES)))}`, and so on.\n\n"
        "Racks of 18 nodes, four of which form a block of 72. A segment holds for larger jobs whose size is a multiple of it.\n"
        "Changes are from `first-fit`, which runs every job. Jobs without a place on the idle machine are left out, which shortens\n"
        "the waits of the others (50 jobs of CTC-SP2 with `slurm-block`). EASY reserves the first expected end at which the rule finds a place.\n"
    )
    blocks_table(page, on_blocks, blocks, idle)
    for log in logs:
        if log.trace == "BlueWaters-15k":
            overtaking(page, log)
    page.append("[trees-block-copies.csv](trees-block-copies.csv), with FCFS; idle nodes, of one replay: [trees-idle.csv](trees-idle.csv)\n")
    page.append(f"`replay {' '.join(grid(logs[0], logs[0].block, ON_BLOCKS))}`, and so on.\n")
    for title, column, form, scheduler in (
        ("Mean wait in hours", "mean_wait", hours, "fcfs"),
        ("Base blocks per job", "mean_leaves", lambda x: f"{x:.3f}", "easy"),
        ("Refusals for lack of a place", "fragmented_refusals", lambda x: f"{x:,.0f}", "easy"),
        ("Time in which a job waited for lack of a place, in percent", "fragmented_time_percent", lambda x: f"{x:.1f}", "easy"),
        ("Slurm's fragmentation, in percent of its value with no node free", "block_fragmentation_percent",
         lambda x: f"{x:.1f}", "easy"),
    ):
        page.append(f"{title}, {scheduler}:\n")
        # Generic rules do not refuse jobs.
        names = ["slurm-block", *SEGMENTS] if column.startswith("fragmented_") else ON_BLOCKS
        rule_table(page, blocks, names, column, form, scheduler, lambda row: True)
    page.append("[trees-blocks.csv](trees-blocks.csv)\n")
    check_topology(page)
    print("\n".join(page).rstrip())


if __name__ == "__main__":
    main()
