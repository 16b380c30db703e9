#!/usr/bin/env python3
"""Contention by link loads beside contention by flits: how alike they rank allocators, and what they cost.

    scripts/links.py OUT_FOLDER [--quick]

Prints the page, and writes links.csv and links-scale.csv. REPLAY names the program (default: replay), traces are
found as the program finds them. --quick runs one trace and one pattern only.
"""

import csv
import os
import resource
import subprocess
import sys
import tempfile
import time

from csv_rows import rows_of

REPLAY = os.environ.get("REPLAY", "replay")
TRACES = ["KTH-SP2", "SDSC-SP2", "SDSC-Par96", "CTC-SP2"]
PATTERNS = ["all-to-all", "n-body"]
ALLOCATORS = (
    "mc1x1,mm,gen-alg,hilbert-best-fit,row-major-best-fit,row-major-free-list,"
    "mbs,gabl,paging,first-fit,random"
)
MEASURES = ["mean_stretch", "mean_placement_factor", "mean_contention_factor"]


def ranks(values):
    """Ranks, equal ones shared."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    result = [0.0] * len(values)
    i = 0
    while i < len(order):
        j = i
        while j + 1 < len(order) and values[order[j + 1]] == values[order[i]]:
            j += 1
        for k in range(i, j + 1):
            result[order[k]] = (i + j) / 2
        i = j + 1
    return result


def pearson(x, y):
    n = len(x)
    a, b = sum(x) / n, sum(y) / n
    top = sum((p - a) * (q - b) for p, q in zip(x, y))
    return top / (sum((p - a) ** 2 for p in x) * sum((q - b) ** 2 for q in y)) ** 0.5


def spearman(x, y):
    return pearson(ranks(x), ranks(y))


def contend(arguments):
    """The rows of a run, and its seconds of CPU and wall time."""
    with tempfile.TemporaryDirectory() as folder:
        out = os.path.join(folder, "out")
        before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.time()
        command = [REPLAY, "contend", *arguments, "--quiet", "--no-plots", "--out", out]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        after, wall = resource.getrusage(resource.RUSAGE_CHILDREN), time.time() - began
        rows = rows_of(os.path.join(out, "contend.csv"))
    return rows, after.ru_utime - before.ru_utime, wall


def means(rows, keep=lambda row: True):
    """By allocator, the means of the measures over its rows."""
    found = {}
    for row in filter(keep, rows):
        found.setdefault(row["allocator"], []).append([float(row[m]) for m in MEASURES])
    return {name: [sum(x) / len(x) for x in zip(*of)] for name, of in found.items()}


def column(of, measure):
    return [of[name][measure] for name in of]


def agreement(jobs, copies, cases, page, table):
    page.append(
        "| trace | pattern | stretch: by rank | linear | placement | contention | flits beside flits | "
        "largest difference | CPU s: flits | links |\n|---|---|---:|---:|---:|---:|---:|---|---:|---:|"
    )
    for trace, pattern in cases:
        common = ["--trace", trace, "--jobs", str(jobs), "--scale", "1", "--pattern", pattern]
        common += ["--alloc", ALLOCATORS, "--tie", "none", "--shake", str(copies)]
        (flits, exact, _), (links, fast, _) = (
            contend([*common, "--network", network]) for network in ("lo", "links")
        )
        a, b = means(flits), means(links)
        names = list(a)
        halves = [
            means(flits, lambda row, half=half: int(row["copy"]) % 2 == half) for half in (0, 1)
        ]
        of = lambda m: spearman(column(a, m), [b[name][m] for name in names])
        error = {name: b[name][0] / a[name][0] - 1 for name in names}
        worst = max(names, key=lambda name: abs(error[name]))
        ceiling = spearman(column(halves[0], 0), [halves[1][name][0] for name in names])
        linear = pearson(column(a, 0), [b[name][0] for name in names])
        page.append(
            f"| {trace} | {pattern} | {of(0):.3f} | {linear:.3f} | {of(1):.3f} | {of(2):.3f} | {ceiling:.3f} | "
            f"{worst} {100 * error[worst]:+.0f} % | {exact:.0f} | {fast:.0f} |"
        )
        for name in names:
            table.append(
                [trace, pattern, name, *(f"{v:.4f}" for pair in zip(a[name], b[name]) for v in pair)]
            )


def scale(jobs, page, table):
    page.append(
        "| strategy | stretch | placement | contention | mean wait, h | turnaround, h |\n|---|---:|---:|---:|---:|---:|"
    )
    common = ["--machine", "blue-waters", "--trace", "BlueWaters-15k", "--jobs", str(jobs)]
    common += ["--pattern", "all-to-all", "--alloc", "mc1x1,hilbert-best-fit,mbs,first-fit,random", "--tie", "none"]
    rows, cpu, wall = contend([*common, "--network", "links"])
    for row in rows:
        hours = [float(row[c]) / 3600 for c in ("mean_wait_cycles", "mean_turnaround_cycles")]
        values = [float(row[m]) for m in MEASURES]
        page.append(
            f"| {row['allocator']} | {values[0]:.3f} | {values[1]:.3f} | {values[2]:.3f} | "
            f"{hours[0]:.2f} | {hours[1]:.2f} |"
        )
        table.append([row["allocator"], *(f"{v:.4f}" for v in values + hours)])
    page.append(f"\n`replay {' '.join(['contend', *common, '--network', 'links'])}`")
    page.append(f"\nAll five together: {cpu:.0f} s of CPU time, {wall:.0f} s on two threads.")


def main():
    out, quick = sys.argv[1], "--quick" in sys.argv[2:]
    jobs, copies, large = 500, 5, 5000
    page, table, sizes = [], [], []
    page.append(
        f"""# Link loads beside flits

`contend --network links` looks at each job alone, flit by flit, for a window of 4,096 cycles, and computes from the
loads of common links by how much jobs slow each other down. Here it is beside the flit model, on the first
{jobs} jobs of four logs: FCFS, one cycle a second, {len(ALLOCATORS.split(","))} allocators, no tie vectors.
Each number of an allocator is a mean over {copies + 1} runs: the log, and {copies} copies of it shaken by a second. A run
of jobs that slow each other down is chaotic, so that a single one says little.

Correlations are over the allocators. *Stretch: by rank* is Spearman's, *linear* is Pearson's; *placement* and *contention* are
Spearman's of the two factors of stretch. *Flits beside flits* is Spearman's of stretch between the even and the odd
copies of the flit model itself: more cannot be asked of any model. The *largest difference* is that of an
allocator's stretch by links from its stretch by flits. No constant was fitted. The form of the rule was settled
while looking at runs of KTH-SP2 and SDSC-Par96; CTC-SP2 was not looked at before it stood.

Values by allocator are in `links.csv`, which names the strategies. A rank correlation of 0.95 was the goal.
"""
    )
    scale_page = []
    cases = [(trace, pattern) for trace in TRACES for pattern in PATTERNS]
    if quick:
        cases = [("KTH-SP2", "n-body")]
    else:
        scale(large, scale_page, sizes)
    agreement(jobs, copies, cases, page, table)
    page.append(f"\n## Contention at the scale of a real machine\n\nBlue Waters as a 24x24x24 torus, its first {large:,} jobs.\n")
    page += scale_page
    header = ["trace", "pattern", "allocator"]
    header += [f"{m}_{model}" for m in MEASURES for model in ("flits", "links")]
    write(os.path.join(out, "links.csv"), [header, *table])
    if sizes:
        write(
            os.path.join(out, "links-scale.csv"),
            [["allocator", *MEASURES, "mean_wait_hours", "mean_turnaround_hours"], *sizes],
        )
    print("\n".join(page))


def write(path, rows):
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows(rows)


if __name__ == "__main__":
    main()
