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
import subprocess
import sys
import tempfile
from collections import namedtuple

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
JUDGED = ["slurm-tree", "tree-fit", *WAITS[1:]]
KUEUE = ["kueue", "kueue[level=0]", "kueue[profile=least]", "kueue[profile=most]"]
ON_TREES = ["slurm-tree", *WAITS, "tree-fit", *KUEUE, "first-fit", "random"]
SEGMENTS = ["slurm-block[segment=4]", "slurm-block[segment=16]"]
ON_BLOCKS = ["slurm-block", *SEGMENTS, "first-fit", "random"]
COPIES = 10
RULE_COLUMNS = (
    "trace,topology,scheduler,allocator,jobs,no_such_size_jobs,utilization,mean_wait,p90_wait,mean_leaves,"
    "mean_leaf_ratio,mean_level,mean_pair_hops,one_leaf_percent,one_leaf_fitting_percent,fragmented_refusals,"
    "too_few_free_refusals,switches_refusals,fragmented_time_percent,block_fragmentation,block_fragmentation_percent"
).split(",")
METRICS = ["mean_leaves", "mean_leaf_ratio", "mean_level", "one_leaf_fitting_percent", "mean_wait"]


def grid(log, machine, allocators, *more):
    """Returns the options of a replay of the second half of a log."""
    options = ["--trace", log.trace, "--from", str(log.start), "--machine", machine]
    return [*options, "--sched", ",".join(SCHEDULERS), "--alloc", ",".join(allocators), *more]


def replay(folder, arguments):
    command = [REPLAY, *arguments, "--no-plots", "--quiet", "--out", folder]
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL)


def number(text):
    return float(text) if text else 0.0


def fewest_leaves(folder, machine):
    """Returns the mean over jobs of the fewest leaves that hold a job on the idle machine with equal leaves."""
    leaf = int(machine.replace("x", ":").split(":")[-1])
    rows = rows_of(os.path.join(folder, "by_size.csv"))
    rows = [row for row in rows if row["allocator"] == "slurm-tree" and row["scheduler"] == "easy"]
    if rows and "copy" in rows[0]:
        rows = [row for row in rows if row["copy"] == "0"]
    jobs = {int(row["size"]): int(row["jobs"]) for row in rows}
    return sum(n * -(-size // leaf) for size, n in jobs.items()) / sum(jobs.values())


def judge(log, machine, scratch):
    """Returns rows for the metrics of the judged rules over perturbed copies."""
    folder = os.path.join(scratch, "judge")
    replay(folder, grid(log, machine, JUDGED, "--shake", str(COPIES), "--no-jobs", "--force"))
    fewest = fewest_leaves(folder, machine)
    rows = [row for row in rows_of(os.path.join(folder, "shaken.csv")) if row["metric"] in METRICS]
    columns = "trace,topology,scheduler,allocator,metric,copies,mean,half_width,paired_difference,paired_half_width"
    names = [*columns.split(","), "told_apart"]
    return [{**{name: row[name] for name in names}, "fewest_leaves": f"{fewest:.6f}"} for row in rows]


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


def judged_page(page, rows):
    """Adds the table of tree-fit against slurm-tree; returns the summary."""
    at = {tuple(row[k] for k in ("trace", "topology", "scheduler", "allocator", "metric")): row for row in rows}
    lines, fewer, lower, higher, changes, closed, levels, left, logs = [], 0, 0, 0, [], [], [], [], set()
    worse, equal = [], []
    for (trace, machine, scheduler, allocator, metric), row in at.items():
        if allocator != "tree-fit" or metric != "mean_leaves":
            continue
        slurm = at[trace, machine, scheduler, "slurm-tree", "mean_leaves"]
        level = at[trace, machine, scheduler, "tree-fit", "mean_level"]
        slurm_level = at[trace, machine, scheduler, "slurm-tree", "mean_level"]
        a, b, bound = float(slurm["mean"]), float(row["mean"]), float(row["fewest_leaves"])
        difference, half = float(row["paired_difference"]), float(row["paired_half_width"])
        level_change = 100 * float(level["paired_difference"]) / float(slurm_level["mean"])
        verdict = row["told_apart"]
        case = f"{trace} on `{machine}` under {scheduler} ({100 * difference / a:+.2f} +- {100 * half / a:.2f} %)"
        if verdict == "yes" and difference < 0:
            fewer += 1
            logs.add((trace, machine))
        elif verdict == "yes":
            worse.append(case)
        else:
            equal.append(case)
        lower += level["told_apart"] == "yes" and level_change < 0
        higher += level["told_apart"] == "yes" and level_change > 0
        changes.append(100 * difference / a)
        closed.append(100 * -difference / (a - bound))
        levels.append(level_change)
        left.append(100 * (b / bound - 1))
        lines.append(
            [
                trace, f"`{machine}`", scheduler, f"{a:.4f}", f"{b:.4f}", f"{bound:.4f}",
                f"{100 * difference / a:+.2f} +- {100 * half / a:.2f}", f"{closed[-1]:.0f}", f"{level_change:+.1f}",
                {"yes": "fewer" if difference < 0 else "more"}.get(verdict, "not distinct"),
            ]
        )
    table(
        page,
        [
            "log", "tree", "scheduler", "slurm-tree, leaves per job", "tree-fit", "fewest possible", "change %",
            "excess removed %", "change of level %", "verdict",
        ],
        lines,
    )
    both = [trace for trace, _ in logs]
    return {
        "cells": len(lines), "fewer": fewer, "worse": worse, "equal": equal, "lower": lower, "higher": higher,
        "logs": len({trace for trace in both if both.count(trace) == 2}),
        "change": sum(changes) / len(changes), "closed": sum(closed) / len(closed),
        "level": sum(levels) / len(levels), "worst": max(changes), "best": min(changes), "left": left,
    }


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


def findings(page, judged, rules, blocks, idle, deep, summary):
    """Adds a sentence for each rule; every number is computed from the tables."""
    s = summary
    page.append("## One finding for each rule\n")
    page.append(
        f"* `tree-fit`: at the schedule of `slurm-tree`, fewer leaves per job in {s['fewer']} of {s['cells']} cases, on both "
        f"trees of {s['logs']} logs; {s['change']:+.2f} % on average ({s['best']:+.2f} to {s['worst']:+.2f}), which removes "
        f"{s['closed']:.0f} % of the leaves above the fewest possible; its leaves are still {span(s['left'], percent)} above it. "
        f"Levels are lower in {s['lower']} cases and higher in "
        f"{s['higher']}, {s['level']:+.1f} % on average. "
        + (f"More leaves: {', '.join(s['worse'])}. " if s["worse"] else "In no case are there significantly more leaves. ")
        + (f"Not distinct: {', '.join(s['equal'])}." if s["equal"] else "")
    )
    ratio = values(rules, "slurm-tree", "mean_leaf_ratio", machine=deep)
    page.append(
        f"* `slurm-tree` uses {span([100 * (r - 1) for r in ratio], percent)} more leaves per job than the fewest possible "
        "(EASY, second tree of each log), and no job waits longer for it."
    )
    for wait in (60, 300):
        name = f"slurm-tree[switches=1,wait={wait}]"
        changed = [
            r for r in judged if r["allocator"] == name and r["metric"] == "mean_wait" and r["scheduler"] == "easy"
        ]
        base = {
            (r["trace"], r["topology"]): float(r["mean"])
            for r in judged
            if r["allocator"] == "slurm-tree" and r["metric"] == "mean_wait" and r["scheduler"] == "easy"
        }
        seconds = [float(r["paired_difference"]) for r in changed]
        relative = [100 * x / base[r["trace"], r["topology"]] for x, r in zip(seconds, changed)]
        apart = [x for x, r in zip(seconds, changed) if r["told_apart"] == "yes"]
        longer = sum(x > 0 for x in apart)
        gain = [
            100 * float(r["paired_difference"]) / float(b["mean"])
            for r in judged
            for b in judged
            if r["allocator"] == name and b["allocator"] == "slurm-tree" and r["metric"] == b["metric"] == "mean_leaves"
            and r["scheduler"] == b["scheduler"] == "easy" and (r["trace"], r["topology"]) == (b["trace"], b["topology"])
        ]
        page.append(
            f"* `--switches=1@{wait}` (`{name}`): mean waits under EASY change by {span(relative, change)} "
            f"({span(seconds, lambda x: f'{x:+.0f} s')}), significantly longer in {longer} and shorter in "
            f"{len(apart) - longer} of {len(changed)} cases; leaves per job change by {span(gain, change)}."
        )
    names = [("the default", "kueue"), ("`level=0`", "kueue[level=0]"), ("`profile=least`", "kueue[profile=least]"),
             ("`profile=most`", "kueue[profile=most]")]
    parts = [f"{span(ratios(rules, n, 'slurm-tree', 'mean_leaves', machine=deep), change)} with {t}" for t, n in names]
    page.append(
        "* `slurm-tree[switches=1,wait=0]` equals `slurm-tree`: a job that may wait for 0 seconds starts anywhere.\n"
        f"* `kueue`: leaves per job against `slurm-tree` (EASY, second trees) change by {', by '.join(parts)}; these modes "
        "do not let jobs wait."
    )
    for name in ("first-fit", "random"):
        many = [1 + x / 100 for x in ratios(rules, name, "slurm-tree", "mean_leaves", machine=deep)]
        page.append(f"* `{name}` uses {span(many, lambda x: f'{x:.1f}')} times as many leaves as `slurm-tree` (EASY, second trees).")
    fit = {row["trace"]: number(row["mean_wait"]) for row in of(blocks, "first-fit").values()}
    for name in ("slurm-block", *SEGMENTS):
        rows = of(blocks, name)
        longer = [100 * (number(r["mean_wait"]) / fit[t] - 1) for t, r in rows.items()]
        refused = [number(r["fragmented_time_percent"]) for r in rows.values()]
        never = sum(int(number(r["no_such_size_jobs"])) for r in rows.values())
        share = [
            100 * number(r["idle_nodes_while_queued"]) / number(r["nodes"]) for r in idle if r["allocator"] == name
        ]
        base = [
            100 * number(r["idle_nodes_while_queued"]) / number(r["nodes"])
            for r in idle
            if r["allocator"] == "first-fit"
        ]
        page.append(
            f"* `{name}`: while jobs wait, {span(share, percent)} of the nodes are idle (`first-fit`: {span(base, percent)}); "
            f"a job waits for lack of a place in {span(refused, percent)} of the time, and mean waits under EASY change by "
            f"{span(longer, change)} against `first-fit`; {never:,} jobs of the {len(rows)} logs have no place on the idle "
            "machine and are left out."
        )
    page.append("")


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
    """Returns the rows of the four tables."""
    judged, rules, blocks, idle = [], [], [], []
    with tempfile.TemporaryDirectory() as scratch:
        for log in logs:
            for machine in log.trees:
                judged += judge(log, machine, scratch)
                rules += by_rule(log, machine, ON_TREES, scratch, "--no-jobs")
            blocks += by_rule(log, log.block, ON_BLOCKS, scratch)
            idle += idle_nodes(log, scratch)
    return judged, rules, blocks, idle


def main():
    out, quick = sys.argv[1], "--quick" in sys.argv[2:]
    logs = LOGS[:1] if quick else LOGS
    paths = [os.path.join(out, f"trees-{name}.csv") for name in ("copies", "rules", "blocks", "idle")]
    if os.environ.get("KEEP") and all(map(os.path.exists, paths)):
        tables = [rows_of(path) for path in paths]
    else:
        tables = measure(logs)
        for path, rows in zip(paths, tables):
            with open(path, "w", encoding="utf-8", newline="") as file:
                writer = csv.DictWriter(file, rows[0].keys(), lineterminator="\n")
                writer.writeheader()
                writer.writerows(rows)
    judged, rules, blocks, idle = tables
    seconds = {log.trees[1] for log in logs}
    deep = lambda row: row["topology"] in seconds
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
    page.append("## tree-fit against Slurm's rule\n")
    page.append(
        f"`replay {' '.join(grid(logs[0], logs[0].trees[0], JUDGED, '--shake', str(COPIES)))}`, and so on.\n\n"
        f"Means over {COPIES} perturbed copies (every time changed by up to a second). `+-` is half of a 95 % interval of the paired\n"
        "difference; verdicts are corrected by Holm's method. *Fewest possible* is the mean over jobs of the leaves that a job needs\n"
        "on the idle machine: a bound that no rule can reach for all jobs. *Excess removed* is the share of the leaves above it\n"
        "that `tree-fit` saves. Levels count from 0, the leaf. All start times are equal.\n"
    )
    summary = judged_page(page, judged)
    page.append("[trees-copies.csv](trees-copies.csv)\n")
    findings(page, judged, rules, blocks, idle, deep, summary)
    page.append("## All rules on trees\n")
    page.append(f"`replay {' '.join(grid(logs[0], logs[0].trees[1], ON_TREES))}`, and so on.\n")
    for scheduler in SCHEDULERS:
        page.append(f"Leaves over the fewest possible, mean over jobs, second tree of each log, {scheduler}:\n")
        rule_table(page, rules, ON_TREES, "mean_leaf_ratio", lambda x: f"{x:.3f}", scheduler, deep)
    page.append(
        "Share of jobs in one leaf, of the jobs of two or more nodes that fit into a leaf, in percent, second trees, easy (no job\n"
        "of LANL-CM5 fits):\n"
    )
    rule_table(page, rules, ON_TREES, "one_leaf_fitting_percent", lambda x: f"{x:.1f}", "easy", deep)
    for scheduler in SCHEDULERS:
        page.append(f"Mean wait in hours, second trees, {scheduler}; the other rules have the waits of `slurm-tree`:\n")
        rule_table(page, rules, ["slurm-tree", *WAITS], "mean_wait", hours, scheduler, deep)
    page.append("Refusals because the place had more than one leaf, second trees, easy:\n")
    rule_table(page, rules, WAITS, "switches_refusals", lambda x: f"{x:,.0f}", "easy", deep)
    page.append(
        "Waits of FCFS grow with the length of a saturated log. Other refusals on trees do not occur: their columns, the first\n"
        "trees and levels are in [trees-rules.csv](trees-rules.csv).\n"
    )
    page.append("## All rules on blocks\n")
    page.append(
        f"`replay {' '.join(grid(logs[0], logs[0].block, ON_BLOCKS))}`, and so on.\n\n"
        "Racks of 18 nodes, four of which form a block of 72. A segment holds for larger jobs whose size is a multiple of it.\n"
        "Jobs without a place on the idle machine are left out, which shortens the waits of the others.\n"
    )
    for title, column, form in (
        ("Mean wait in hours", "mean_wait", hours),
        ("Base blocks over the fewest possible, mean over jobs", "mean_leaf_ratio", lambda x: f"{x:.3f}"),
        ("Refusals for lack of a place", "fragmented_refusals", lambda x: f"{x:,.0f}"),
        ("Time in which a job waited for lack of a place, in percent", "fragmented_time_percent", lambda x: f"{x:.1f}"),
        ("Slurm's fragmentation, in percent of its value with no node free", "block_fragmentation_percent",
         lambda x: f"{x:.1f}"),
    ):
        for scheduler in SCHEDULERS:
            page.append(f"{title}, {scheduler}:\n")
            # Generic rules do not refuse jobs.
            refuses = column.startswith("fragmented_")
            names = ["slurm-block", *SEGMENTS] if refuses else ON_BLOCKS
            rule_table(page, blocks, names, column, form, scheduler, lambda row: True)
    page.append("Jobs without a place on the idle machine:\n")
    names = ["slurm-block", *SEGMENTS]
    rule_table(page, blocks, names, "no_such_size_jobs", lambda x: f"{x:,.0f}", "easy", lambda row: True)
    page.append("Idle nodes while at least one job waits, time average, and the share of the time in which jobs wait, easy:\n")
    lines = [
        [row["trace"], f"`{row['allocator']}`", row["nodes"], f"{float(row['idle_nodes_while_queued']):.1f}",
         f"{float(row['queued_percent']):.1f}"]
        for row in idle
    ]
    table(page, ["log", "rule", "nodes", "idle nodes while jobs wait", "time with waiting jobs %"], lines)
    page.append("[trees-blocks.csv](trees-blocks.csv), [trees-idle.csv](trees-idle.csv)\n")
    check_topology(page)
    print("\n".join(page).rstrip())


if __name__ == "__main__":
    main()
