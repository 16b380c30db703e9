#!/usr/bin/env python3
"""Measures other simulators on a schedule that replay computes too, and writes results/benchmarks/peers.md and peers.csv.

    scripts/peers.py [--pyss DIR] [--booksim DIR]

AccaSim is installed from PyPI into a temporary environment. The other simulators are read from clones of their
repositories, which stay unchanged; without its option a simulator is not run, and the page states the option.

    --pyss DIR      https://github.com/dinesh121991/pyss; a copy is converted by 2to3 of Python 3.11 or 3.12
    --booksim DIR   https://github.com/booksim/booksim2, built by `make` in DIR/src (needs flex and bison)

Needs Python 3.11 or 3.12, the package polars, and the trace KTH-SP2 (scripts/common.py). Takes up to ten minutes on an idle
machine. A quick run measures only replay.
"""

from __future__ import annotations

import argparse
import gzip
import heapq
import json
import random
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True
import benchmark
import common

TRACE = "KTH-SP2-1996-2"
PROCESSORS = 100
ACCASIM = "1.1.3"
SCHEDULERS = {"fcfs": "FCFS", "easy": "EASY", "conservative": "conservative"}
PAGE = benchmark.OUT / "peers.md"
NETWORKS = ["lo", "bani-mohammad", "bani-mohammad[depth=8]"]
LOADS = [(8, 0.002, 40_000), (8, 0.006, 40_000), (16, 0.002, 10_000)]
HEADER = "tool,version_or_commit,scheduler,cpu_s,jobs_per_second,memory_MiB,mean_wait,starts_that_differ,under_one_rule"
NETWORK_HEADER = "mesh,packets_per_node_and_cycle,tool,cycles,cpu_s,Mcycles_per_second,mean_latency"

BOOKSIM = """\
topology = mesh; k = {side}; n = 2; routing_function = dim_order;
router = iq; num_vcs = 1; vc_buf_size = 8; vc_allocator = islip; sw_allocator = islip;
credit_delay = 1; routing_delay = 0; vc_alloc_delay = 1; sw_alloc_delay = 1;
traffic = uniform; packet_size = 8; injection_rate = {rate}; injection_rate_uses_flits = 0;
sim_type = latency; warmup_periods = 1; sample_period = {period}; max_samples = 5; sim_count = 1;
"""


# A process of its own measures: the peak memory of a child process includes that of the process that starts it.
MEASURING = ProcessPoolExecutor(1, mp_context=get_context("spawn"))


def measure(words: str | list[str], tool: str | None = None, codes: tuple[int, ...] = (0,)) -> benchmark.Measured:
    """Calls `benchmark.measure` in the measuring process."""
    return MEASURING.submit(benchmark.measure, words, tool, codes).result()


class Job(NamedTuple):
    """A job of the common file: times in seconds, size in processors."""

    id: int
    submit: int
    run: int
    size: int
    estimate: int


def common_file(work: Path) -> tuple[Path, list[Job]]:
    """Writes the file that all simulators read, and returns its path and its jobs."""
    common.replay(f"--trace {TRACE} --jobs 1 --alloc random --no-plots --quiet --out", work / "probe")
    source = json.loads((work / "probe/manifest.json").read_text(encoding="utf-8"))["configuration"]["traces"][0]["source"]
    opened = gzip.open(source, "rt") if source.endswith(".gz") else open(source, encoding="utf-8")
    with opened as file:
        raw = file.readlines()
    jobs, lines = [], [f"; MaxNodes: {PROCESSORS}\n; MaxProcs: {PROCESSORS}\n"]
    for fields in (line.split() for line in raw if line.strip() and not line.startswith(";")):
        run = max(int(float(fields[3])), 1)
        job = Job(int(fields[0]), int(fields[1]), run, int(fields[4]), max(int(fields[8]), run))
        fields[3], fields[7], fields[8] = str(job.run), str(job.size), str(job.estimate)
        jobs.append(job)
        lines.append(" ".join(fields) + "\n")
    (work / "kth.swf").write_text("".join(lines), encoding="utf-8")
    return work / "kth.swf", jobs


def starts_of(path: Path) -> dict[int, int]:
    """Reads starts.txt of a driver: the start of each job."""
    return {int(job): int(start) for job, start in (line.split() for line in path.read_text(encoding="utf-8").splitlines())}


def accasim_easy(jobs: list[Job]) -> dict[int, int]:
    """Returns the starts under the rule of AccaSim's class EASYBackfilling.

    The time reserved for the head is computed once, from estimates, and is not computed again when jobs end early. The head is
    not tried before this time. Until then, every later job that fits starts, even if it delays the head.
    """
    starts: dict[int, int] = {}
    running: dict[int, tuple[int, int]] = {}
    ends: list[tuple[int, int]] = []
    queue: list[Job] = []
    arrivals, free, reserved = sorted(jobs, key=lambda job: job.submit)[::-1], PROCESSORS, None
    while arrivals or ends:
        now = min(ends[0][0] if ends else arrivals[-1].submit, arrivals[-1].submit if arrivals else ends[0][0])
        while ends and ends[0][0] == now:
            free += running.pop(heapq.heappop(ends)[1])[1]
        while arrivals and arrivals[-1].submit == now:
            queue.append(arrivals.pop())
        waiting: list[Job] = []
        head_may_start = reserved is None or reserved <= now
        if reserved is not None and not (head_may_start and queue[0].size <= free):
            waiting.append(queue.pop(0))  # The head waits, and keeps its time.
        else:
            reserved = None
        for job in queue:
            if job.size <= free:
                free -= job.size
                starts[job.id] = now
                running[job.id] = (now + job.estimate, job.size)
                heapq.heappush(ends, (now + job.run, job.id))
                continue
            if not waiting:
                left = free
                for reserved, size in sorted(running.values()):
                    left += size
                    if left >= job.size:
                        break
            waiting.append(job)
        queue = waiting
    return starts


class Table:
    """The rows of peers.csv."""

    def __init__(self, jobs: list[Job]) -> None:
        self.jobs, self.rows = jobs, []
        self.ours: dict[str, dict[int, int]] = {}

    def differ(self, scheduler: str, starts: dict[int, int]) -> int:
        """Returns the number of jobs that do not start when replay starts them."""
        ours = self.ours[scheduler]
        if len(starts) != len(ours):
            common.stop(f"{len(starts)} of {len(ours)} jobs started under {scheduler}")
        return sum(starts[job] != start for job, start in ours.items())

    def add(self, tool: str, version: str, scheduler: str, run: benchmark.Measured, starts: dict[int, int], rule: object) -> None:
        """Adds a row; `rule` is the number of starts that differ if both sides use one rule."""
        wait = sum(starts[job.id] - job.submit for job in self.jobs) / len(self.jobs)
        differ = "" if tool == "replay" else self.differ(scheduler, starts)
        self.rows.append([tool, version, SCHEDULERS[scheduler], f"{run.cpu:.3f}", f"{len(self.jobs) / run.cpu:.0f}",
                          f"{run.mib:.0f}", f"{wait:.2f}", differ, rule])  # fmt: skip
        print(common.row(*self.rows[-1]), flush=True)


def clone(folder: str | None, option: str, needed: str) -> tuple[Path, str] | None:
    """Returns the path and the commit of a clone, or `None` without the option."""
    if not folder:
        return None
    path = Path(folder).resolve()
    if not (path / needed).exists():
        common.stop(f"--{option} {folder}: no {needed} in this folder", 2)
    return path, common.git("-C", str(path), "log", "-1", "--format=%h (%cs)")


def replay(table: Table, trace: Path, work: Path) -> None:
    try:
        import polars
    except ImportError:
        common.stop(common.NEEDS_POLARS, 2)
    for scheduler in SCHEDULERS:
        command = f"--trace {trace} --machine 10x10 --sched {scheduler} --alloc mc1x1 --threads 1 --quiet"
        best = min((measure(command) for _ in range(1 if common.quick() else 5)), key=lambda run: run.cpu)
        common.replay(f"{command} --no-plots --out", work / scheduler)
        read = polars.read_parquet(work / scheduler / "jobs.parquet")
        starts = dict(zip(read["job"].to_list(), read["start"].to_list()))
        table.ours[scheduler] = starts
        table.add("replay", common.replay("--version").stdout.split()[1], scheduler, best, starts, "")


def accasim(table: Table, trace: Path, work: Path) -> float:
    """Runs AccaSim with 100 nodes of one core and with one node; returns the CPU seconds of a run that rejects all jobs."""
    subprocess.run([sys.executable, "-m", "venv", work / "venv"], check=True)
    python = str(work / "venv/bin/python")
    subprocess.run([python, "-m", "pip", "install", "--quiet", f"accasim=={ACCASIM}", "numpy<2"], check=True, stdout=sys.stderr)
    model = accasim_easy(table.jobs)
    for nodes in ("100", "1"):
        for scheduler in ("fcfs", "easy"):
            run = measure(["scripts/drivers/run_accasim.py", str(trace), str(work), scheduler, nodes], python)
            starts = starts_of(work / "starts.txt")
            rule = sum(model[job] != start for job, start in starts.items()) if scheduler == "easy" else ""
            table.add("AccaSim, 100 nodes" if nodes == "100" else "AccaSim, one node", ACCASIM, scheduler, run, starts, rule)
    return measure(["scripts/drivers/run_accasim.py", str(trace), str(work), "reject", "100"], python).cpu


def pyss(table: Table, trace: Path, work: Path, folder: Path, version: str) -> None:
    sources = work / "pyss"
    shutil.copytree(folder / "src", sources)
    for path in sources.rglob("*.py"):
        path.write_text(path.read_text(encoding="utf-8").expandtabs(8), encoding="utf-8")
    parts = [sources / "base", sources / "schedulers"]
    subprocess.run([sys.executable, "-W", "ignore", "-m", "lib2to3", "-w", "-n", *parts], check=True, capture_output=True)
    for scheduler in SCHEDULERS:
        words = ["-O", "scripts/drivers/run_pyss.py", str(sources), str(trace), str(work), scheduler]
        run = measure([*words, "event"], sys.executable)
        starts, rule = starts_of(work / "starts.txt"), ""
        if scheduler != "fcfs":
            measure([*words, "second"], sys.executable)
            rule = table.differ(scheduler, starts_of(work / "starts.txt"))
        table.add("pyss", version, scheduler, run, starts, rule)


def booksim(work: Path, folder: Path, version: str) -> list[list[str]]:
    """Measures BookSim2 and `replay network` on uniform traffic; returns the rows of peers-network.csv."""
    rows: list[list[str]] = []

    def add(side: int, rate: float, tool: str, cycles: int, run: benchmark.Measured, latency: float) -> None:
        rows.append([f"{side}x{side}", str(rate), tool, str(cycles), f"{run.cpu:.3f}", f"{cycles / run.cpu / 1e6:.4f}",
                     f"{latency:.1f}"])  # fmt: skip
        print(common.row(*rows[-1]), flush=True)

    for side, rate, period in LOADS:
        settings = work / "booksim.cfg"
        settings.write_text(BOOKSIM.format(side=side, rate=rate, period=period), encoding="utf-8")
        run = measure([str(settings)], str(folder / "src/booksim"), (0, 255))  # 255 after a complete simulation
        printed = run.stdout.split("Overall Traffic Statistics")
        cycles = int(re.findall(r"Time taken is (\d+) cycles", printed[0])[-1])
        add(side, rate, f"BookSim2 {version}", cycles, run, float(re.search(r"Packet latency average = (\S+)", printed[1])[1]))
        draw, nodes, lines = random.Random(1), side * side, ["id,src,dst,flits,inject_cycle\n"]
        for cycle in range(cycles):
            for node in range(nodes):
                if draw.random() < rate:
                    lines.append(f"{len(lines) - 1},{node},{(node + draw.randrange(1, nodes)) % nodes},8,{cycle}\n")
        packets, arrived = work / "packets.csv", work / "arrived.csv"
        packets.write_text("".join(lines), encoding="utf-8")
        for network in NETWORKS:
            words = ["network", "--machine", f"{side}x{side}", "--network", network, "--packets", str(packets), "--quiet"]
            run = min((measure([*words, "--write", str(arrived)]) for _ in range(3)), key=lambda run: run.cpu)
            names, *cells = benchmark.read_csv(arrived)
            sent, got = names.index("inject"), names.index("delivered")
            add(side, rate, f"replay, {network}", cycles, run, sum(int(row[got]) - int(row[sent]) for row in cells) / len(cells))
    return rows


TEXT = """\
# Other simulators

The same schedules by other simulators: {trace}, {jobs:,} jobs, {processors} processors. All read one file, in which the size
is field 5 of the log, the run time is at least 1 s and the estimate is at least the run time. CPU seconds (user and system) of
whole processes, from the start of the program to its end, on {machine}.

{table}

* *starts that differ*: jobs that start at another second than under `replay`.
* *under one rule*: jobs that still start at another second if pyss decides once per second as `replay` does, or if AccaSim is
  compared with its own rule in `scripts/peers.py`. If this number is 0, the rule named below is the only cause.
* `replay` also chooses processors with `mc1x1` on a 10x10 mesh and computes distances (`--alloc mc1x1 --threads 1`).
* AccaSim {accasim} ran with 100 nodes of one core, and with one node of 100 cores, which needs no choice of nodes.
{not_run}

## Measured by hand

These simulators have no driver in the script. CPU seconds of one run each in one sitting on an Intel Xeon (Sapphire Rapids,
2 processors, loaded), on 2026-11-28, with `replay` at commit 9b5d9649 on the same work.

| simulator | version | work | CPU s | CPU s of `replay` |
|---|---|---|---:|---:|
| [Alea](https://github.com/aleasimulator/alea) | a3315f0 (2023-11), Java 17 | FCFS | 22.7 | 0.049 |
| | | EASY | 23.3 | 0.050 |
| [CQSim](https://github.com/SPEAR-UIC/CQSim) | d8bdbb0 (2024-09) | FCFS, first 5,000 jobs | 10.9 | 0.017 |
| SchedGym | 44b7f14 (2022-05), not compiled | FCFS, stopped | over 141 | 0.049 |

Alea starts jobs up to 2 s later under FCFS. Its start times under EASY differ in half of the jobs; the cause is not known.

## Why starts differ

* **pyss, EASY and conservative: decisions within one second.** pyss decides after every single event, `replay` once per second
  after all completions and submissions of this second. At second 1,062,652, for example, jobs 714 and 721 end. After each
  of these events, pyss has too few free processors for job 722, the head of the queue, and backfills one of jobs 724 and 725;
  `replay` frees the processors of both jobs and starts job 722. If pyss decides once per second, and handles completions before
  submissions, all starts are equal. Neither is wrong: the log does not order the events of one second.
* **AccaSim, EASY: another rule.** The class EASYBackfilling computes the time reserved for the head of the queue once, and not
  again if jobs end early; the head is not tried before this time. It calls the allocator without reserved nodes, so
  that every later job that fits starts, even if it delays the head. `accasim_easy` in `scripts/peers.py` implements this rule
  in 40 lines and starts all jobs at the times of AccaSim. The mean wait is lower because small jobs pass the head.

## What makes the comparison unfair

In favour of `replay`:

* Each figure of `replay` is the minimum of several runs (five schedules, three networks); the others ran once.
* `replay` is a compiled program, AccaSim and pyss are interpreted by Python, where a new rule is a class of a few lines.
* AccaSim models nodes with several resources (cores, memory, GPUs) and reports to dispatchers and monitors through a public
  interface; this log uses none of that. A run that rejects all jobs, so that AccaSim only reads the log and processes
  events, takes {reject} CPU s.
* pyss was written for Python 2.4 in 2007 and is run here after conversion by 2to3, with `-O`. Its authors never tuned it for
  Python 3.
* Under FCFS, the load of this log makes hundreds of jobs wait. AccaSim passes the whole queue to its dispatcher at each event.

In favour of the others:

* pyss and AccaSim with one node only count free processors. `replay` places each job and computes its distances.
* The output of AccaSim (schedule, statistics) is switched off. The drivers only write the job and its start.

{network}## What the others simulate that replay does not

| simulator | also |
|---|---|
| [AccaSim](https://accasim.readthedocs.io) | nodes with several resources; power and failures through additional data; workload generator; plots and monitoring during a run |
| [pyss](https://github.com/dinesh121991/pyss) | variants of EASY: look-ahead, shrinking, prediction of run times (EASY++), probabilistic, Maui |
| [BookSim2](https://github.com/booksim/booksim2) | routers cycle by cycle: virtual channels, allocators, credits, adaptive routing; fat trees, dragonflies |

Written by `scripts/peers.py --pyss DIR --booksim DIR`, where each DIR is a clone; AccaSim comes from PyPI, with numpy below 2.
{stamp}
"""
NETWORK = """\
## Network

Packets of 8 flits between uniform random nodes, with Bernoulli arrivals and XY routing. BookSim2: iq router, one virtual channel
of 8 flits, islip; allocators and credits take one cycle and routing none, so that a hop takes about four cycles, as under
`bani-mohammad`. Latency in cycles from creation to delivery.

{table}

BookSim2 simulates the pipeline, allocators and credits of each router in each cycle, for traffic that it draws itself, and the
simulated machine may be any router; `replay` moves headers by events, with constants for the time per hop, and its times include
reading packets from CSV and writing a row per packet. The fewer packets, the greater the advantage of events: at 8x8, a load
three times as high reduces the ratio. Only `bani-mohammad[depth=8]` has buffers as large as those of BookSim2, and only its
latencies are comparable.

"""


def write(table: Table, reject: float, network: list[list[str]], absent: list[str], jobs: int) -> None:
    """Writes the page from the rows."""
    headings = ["simulator", "version", "scheduler", "CPU s", "jobs/s", "MiB", "CPU / replay's", "mean wait, s",
                "starts that differ", "under one rule"]  # fmt: skip
    base = {row[2]: float(row[3]) for row in table.rows if row[0] == "replay"}
    rows = [[*row[:3], f"{float(row[3]):.2f}" if float(row[3]) >= 1 else row[3], f"{int(row[4]):,}", row[5],
             "" if row[0] == "replay" else f"{float(row[3]) / base[row[2]]:.0f}", f"{float(row[6]):,.2f}",
             row[7] if row[7] == "" else f"{row[7]:,}", row[8]] for row in table.rows]  # fmt: skip
    not_run = "".join(f"* Not run: {one}.\n" for one in absent).rstrip("\n")
    drawn = ""
    if network:
        names = ["mesh", "packets per node and cycle", "simulator", "cycles", "CPU s", "Mcycle/s", "mean latency"]
        drawn = NETWORK.format(table=benchmark.table(names, network))
    text = TEXT.format(
        trace=TRACE, jobs=jobs, processors=PROCESSORS, accasim=ACCASIM, machine=benchmark.machine(), not_run=not_run,
        table=benchmark.table(headings, rows), reject=f"{reject:.2f}", network=drawn, stamp=common.stamp(benchmark.OUT),
    )  # fmt: skip
    PAGE.write_text(text, encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("pyss", "booksim"):
        parser.add_argument(f"--{name}", metavar="DIR", help=f"clone of {name}")
    options = parser.parse_args()
    others = {"pyss": clone(options.pyss, "pyss", "src/schedulers"), "booksim": clone(options.booksim, "booksim", "src/booksim")}
    benchmark.OUT.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        measure("--version")  # The measuring process begins before this process grows.
        try:
            trace, jobs = common_file(work)
        except common.AbsentTrace as absent:
            common.stop(str(absent))
        table = Table(jobs)
        replay(table, trace, work)
        reject, network = 0.0, []
        if not common.quick():
            if others["pyss"]:
                pyss(table, trace, work, *others["pyss"])
            reject = accasim(table, trace, work)
            if others["booksim"]:
                network = booksim(work, *others["booksim"])
                benchmark.write_csv("peers-network.csv", NETWORK_HEADER, network)
        benchmark.write_csv("peers.csv", HEADER, table.rows)
        not_run = [f"{name}, which needs `--{name} DIR`" for name, found in others.items() if not found]
        if not common.quick():
            write(table, reject, network, not_run, len(jobs))


if __name__ == "__main__":
    main()
