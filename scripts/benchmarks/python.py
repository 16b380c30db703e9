"""Measures the Python module and prints rows of python.csv: measurement, trace, jobs, seconds, percent_of_engine,
decisions_per_second."""

import os
import statistics
import subprocess
import sys
import time

QUICK = bool(os.environ.get("QUICK"))
RUNS = 3 if QUICK else 15
TRACES = ["lublin-10x10"] if QUICK else ["lublin-10x10", "KTH-SP2"]

FIRST_LINES = """
import sys, time
begin = time.perf_counter()
import polars as pl
import replay
imported = time.perf_counter()
trace = replay.read_swf(sys.argv[1], policy="johnson")
results = replay.run(
    trace, machine="10x10", sched=["fcfs", "easy"], alloc=["mc1x1", "mc1x1[tie=2,13,20,6]"], shake=int(sys.argv[2]) or None, seed=0
)
frames = results.runs, results.jobs
end = time.perf_counter()
print(len(trace), imported - begin, results.seconds, end - imported)
"""


def row(measurement, trace, jobs, seconds, percent="", rate=""):
    print(f"{measurement},{trace},{jobs},{seconds:.4f},{percent},{rate}", flush=True)


def first_lines(name, copies):
    command = [sys.executable, "-c", FIRST_LINES, name, str(copies)]
    printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
    jobs, imported, engine, everything = printed.split()
    kind = f"first lines with shake={copies}"
    row(f"{kind}: import", name, jobs, float(imported))
    row(f"{kind}: engine", name, jobs, float(engine))
    row(f"{kind}: all", name, jobs, float(everything))


def overhead(replay, trace):
    walls, engines = [], []
    for _ in range(RUNS):
        begin = time.perf_counter()
        results = replay.run(trace, machine="10x10", alloc="mc1x1", threads=1, jobs=False, placements=False)
        len(results.runs)
        walls.append(time.perf_counter() - begin)
        engines.append(results.seconds)
    engine = statistics.median(engines)
    rest = statistics.median(wall - engine for wall, engine in zip(walls, engines))
    row("overhead: engine", trace.name, len(trace), engine)
    row("overhead: rest", trace.name, len(trace), rest, percent=f"{100 * rest / engine:.2f}")


def decisions(replay, trace):
    class FirstFree(replay.Allocator):
        def allocate(self, machine, request):
            return machine.free[: request.size]

    runs = [replay.run(trace, machine="10x10", alloc=FirstFree(), jobs=False, placements=False) for _ in range(RUNS)]
    seconds = statistics.median(results[0].seconds for results in runs)
    row("decisions", trace.name, len(trace), seconds, rate=f"{len(trace) / seconds:.0f}")


def main():
    for name in TRACES:
        for copies in (0, 10):
            first_lines(name, copies)
    import replay

    for name in TRACES:
        trace = replay.read_swf(name)
        overhead(replay, trace)
        decisions(replay, trace)


main()
