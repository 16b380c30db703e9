#!/usr/bin/env python3
"""Writes a long trace for benchmarks to standard output.

    scripts/long-trace.py JOBS [LOAD] [SPACING]

Sizes and run times are distributed similarly to those of Frontier: most jobs are small, a few
use nearly the whole machine of 9,408 nodes, run times are from seconds to hours, time limits are one to four times the
run times. The offered load is LOAD [0.85]; with SPACING, jobs arrive at intervals of SPACING
hundredths of a second. Equal arguments give equal output.
"""

import random
import sys

NODES = 9408


def main():
    count = int(sys.argv[1])
    load = float(sys.argv[2]) if len(sys.argv) > 2 else 0.85
    rng = random.Random(1)
    jobs = []
    for _ in range(count):
        size = min(int(2 ** (13.2 * rng.random() ** 3)), NODES)
        run = int(10 * 1500 ** rng.random())
        jobs.append((size, run, 60 * (1 + int(run * (1 + 3 * rng.random())) // 60)))
    if len(sys.argv) > 3:
        spacing = int(sys.argv[3]) / 100
    else:
        spacing = sum(size * run for size, run, _ in jobs) / (load * NODES) / count
    lines = [f"; MaxNodes: {NODES}", f"; MaxProcs: {NODES}"]
    clock = 0.0
    for number, (size, run, limit) in enumerate(jobs, 1):
        clock += spacing * rng.expovariate(1) if len(sys.argv) <= 3 else spacing
        user = 1 + number * 7919 % 997
        lines.append(
            f"{number} {int(clock)} -1 {run} {size} -1 -1 {size} {limit} -1 1 {user} {user % 31} -1 1 1 -1 -1"
        )
    sys.stdout.write("\n".join(lines) + "\n")


main()
