#!/usr/bin/env python3
"""Measures the program on this machine, and writes sections of results/benchmarks/README.md and their tables.

    scripts/benchmark.py [NAME...]                      [all but trees and python]
    scripts/benchmark.py --pairs OTHER COMMAND [COUNT]

NAME: how-fast, large, long, trees, plan, together, import, build, python. Times are CPU seconds (user and system time) of
whole processes, unless a table states otherwise; use an idle machine for the best results. how-fast and build need cargo,
how-fast also polars, import and long 2 GB in $TMPDIR, and python the packages of scripts/python.sh. All sections take about
an hour. A quick run has few measurements: it checks that the scripts work and that all values except times equal the
committed values. scripts/common.py lists the environment variables; REVISIONS lists the commits of build [HEAD].

--pairs runs COMMAND with the program OTHER and with REPLAY in alternation, COUNT times [10], and prints the median CPU
seconds of the second program and the median ratio of both.
"""

from __future__ import annotations

import csv
import os
import random
import re
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import NamedTuple

sys.dont_write_bytecode = True
import common
from common import RESULTS, program, quick, row

OUT = RESULTS / "benchmarks"
PAGE = "results/benchmarks/README.md"


class Measured(NamedTuple):
    """CPU seconds, wall seconds, peak memory in MiB, and the output of a process."""

    cpu: float
    wall: float
    mib: float
    stdout: str
    stderr: str

    def last(self) -> str:
        """Returns the last line of the output: the row of a table."""
        return self.stdout.splitlines()[-1]


def measure(arguments: str | list[str], replay: str | None = None, codes: tuple[int, ...] = (0,)) -> Measured:
    """Runs the program; another exit code than `codes` ends the script."""
    words = arguments.split() if isinstance(arguments, str) else arguments
    with tempfile.TemporaryFile() as printed, tempfile.TemporaryFile() as messages:
        begun = time.time()
        process = subprocess.Popen([replay or program(), *words], stdout=printed, stderr=messages)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.time() - begun
        texts = []
        for file in (printed, messages):
            file.seek(0)
            texts.append(file.read().decode())
    if os.waitstatus_to_exitcode(status) not in codes:
        common.stop(f"{texts[1]}replay {' '.join(words)} fails")
    return Measured(usage.ru_utime + usage.ru_stime, wall, usage.ru_maxrss / 1024, *texts)


def machine() -> str:
    """Returns the processor, the number of logical processors, and the load average."""
    name = re.search(r"^model name[^:]*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    return f"{name[1] if name else 'unknown'}, {os.cpu_count()} logical processors, load average {os.getloadavg()[0]:.2f}"


def write_csv(name: str, header: str, rows: Iterable[Iterable[object]]) -> list[list[str]]:
    """Writes a table, and returns its rows as text."""
    texts = [[str(cell) for cell in cells] for cells in rows]
    with (OUT / name).open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header.split(","), *texts])
    return texts


def read_csv(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def table(headings: Iterable[str], rows: Iterable[Iterable[object]], numbers: bool = False) -> str:
    """Returns a Markdown table; with `numbers`, all columns but the first are aligned to the right."""
    headings = list(headings)
    rule = "|---|" + ("---:|" if numbers else "---|") * (len(headings) - 1)
    return "\n".join([row(*headings), rule, *(row(*cells) for cells in rows)])


def csv_table(name: str) -> str:
    """Returns a CSV file as a Markdown table."""
    header, *rows = read_csv(OUT / name)
    return table(header, rows, numbers=True)


def bench(name: str, *arguments: str | Path) -> str:
    """Runs a benchmark of cargo, and returns what it prints."""
    command = ["cargo", "bench", "--quiet", "--bench", name, "--", *map(str, arguments)]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True).stdout


REPLAYS = """\
KTH-SP2 10x10 28489 20 mc1x1
KTH-SP2 10x10 28489 20 mc1x1 2,13,20,6
KTH-SP2 10x10 28489 5 mm
KTH-SP2 10x10 28489 5 gen-alg
KTH-SP2 10x10 28489 5 hilbert-best-fit
LANL-CM5 32x32 122057 5 mc1x1
LANL-CM5 32x32 122057 5 mc1x1 12,42,41,15
LANL-CM5 32x32 122057 2 mm
LANL-CM5 32x32 122057 2 gen-alg
LANL-CM5 32x32 122057 3 hilbert-best-fit"""
COMMANDS = """\
--trace KTH-SP2 --alloc mc1x1 --tie 2,13,20,6
--trace LANL-CM5 --alloc mc1x1 --threads 1
--trace LANL-CM5 --alloc mc1x1 --tie 12,42,41,15 --threads 1
--trace LANL-CM5 --sched easy --alloc mc1x1 --threads 1
verify johnson
verify lo --full
verify lo-messages
verify bani-mohammad
verify turner --full
verify chang-mohapatra --full
search --trace KTH-SP2
search --trace NASA-iPSC
plan --trace LANL-CM5 --alloc mm
sweep --trace lublin-10x10 --jobs 5 --alloc mc1x1 --sr 1..9 --af 0..10 --wf 0..10 --bf 0..10 --out /tmp/replay-cells
sweep --trace lublin-10x10 --jobs 5 --alloc mc1x1 --sr 1..9 --af 0..20 --wf 0..20 --bf 0..20 --yes --out /tmp/replay-cells"""
SPEED = """\
One thread unless a table states otherwise. {machine}, {system}, {compiler}.

### Replays

FCFS, with the trace parsed and the timeline computed: the cost of each further parameter vector of a search. Minimum of
several runs.

{replays}

### Whole processes

Reading the compressed trace, scheduling, replaying and printing, on two threads unless stated otherwise. Minimum wall time of
three runs; verify, the exhaustive searches and the sweeps of 9,297 and 67,617 cells ran once. Memory includes the pages of the
program itself.

{processes}

### Speed-up by two threads

572 vectors on KTH-SP2 (`replay sweep --trace KTH-SP2 --sr 2 --af 0..8 --wf 0..8 --bf 0..8`), including reading the trace and writing the results. Each of two threads batches half of the
vectors, so that fewer decisions are shared than on one thread.

{speed_up}

### Reading a trace

LANL-CM5 from memory, uncompressed (11.35 MB): `read` parses, `load` also cleans, hashes and sorts.

{reader}

### Cost of a decision

![Cost of a decision against mesh side](decision.svg)

Nanoseconds per decision by side of a square mesh (decision.csv has the job counts):

{decisions}

### Cost of an allocation by strategy

Nanoseconds per attempt, including refusals and releases, on a saturated stream of jobs with sides up to half of the
machine's under FCFS. A dash: the strategy does not support this machine.

{allocators}

### Cost of an allocation on hypercubes

Nanoseconds per attempt, including refusals and releases, by number of dimensions: square meshes with sides up to half of
the machine's, on a machine that is always full.

{hypercubes}

### Allocation overhead of the thesis

Time in the allocator per job in percent of the second strategy, for the literal algorithms of Bani-Mohammad's
thesis and for our engines; microseconds per job of the first strategy.

{overhead}

### Network

The event-driven engine compared with the reference model, which steps every flit in every cycle. The benchmark checks that
both give equal results.

The engine does not step flits, so its time is proportional to the hops of headers; packets have 8 flits here. A hop must touch
the bucket of its cycle twice, the packet (a cache line), the channel it enters, and the channel that its tail leaves. `ns_of_touches`
is the time of these touches alone, over the same routes with as many packets under way, without waits and without evaluating
rules; `ns_per_header_hop` is the total time of the engine. The difference is the cost of the rules: queues of headers at
channels, the times at which tails leave channels, events, and the start and the route of each packet.

{network}"""


def replays(lines: list[str], most: int) -> str:
    """Writes replays.csv: the shortest time of some replays on one thread."""
    rows = []
    for line in lines:
        trace, mesh, jobs, runs, allocator, *tie = line.split()
        command = f"--trace {trace} --machine {mesh} --alloc {allocator} --threads 1 --quiet --format csv --columns seconds"
        command += "".join(f" --tie {vector}" for vector in tie)
        seconds = min(float(measure(command).last()) for _ in range(min(int(runs), most)))
        name = " ".join([allocator, *(f"({vector})" for vector in tie)])
        rows.append([trace, mesh, name, f"{seconds:.4f}", f"{1e6 * seconds / int(jobs):.2f}"])
    rows = write_csv("replays.csv", "trace,mesh,strategy,seconds,microseconds_per_job", rows)
    return table(["trace", "mesh", "strategy", "seconds", "microseconds per job"], rows)


def processes() -> str:
    rows = []
    for command in COMMANDS.splitlines():
        runs = []
        for _ in range(1 if command.startswith(("verify", "search", "sweep")) else 3):
            # verify exits with 1 if a number differs, which is not an error here.
            runs.append(measure(f"{command} --quiet", codes=(0, 1)))
            shutil.rmtree("/tmp/replay-cells", ignore_errors=True)
        best = min(runs, key=lambda run: run.wall)
        rows.append([f"`replay {command}`", f"{best.wall:.2f}", f"{best.mib:.0f}"])
    return table(["command", "wall seconds", "peak memory, MiB"], rows, numbers=True)


def hypercubes() -> str:
    """Returns the times of decisions on hypercubes in ns by number of dimensions: the middle estimates of criterion."""
    scale = {"ns": 1, "µs": 1e3, "us": 1e3, "ms": 1e6}
    found: dict[str, dict[str, str]] = {}
    for cube, strategy, value, unit in re.findall(
        r"^(hypercube:\d+)/(\S+)\s+time:\s*\[\S+ \S+ (\S+) (\S+)", bench("allocation", "hypercube"), re.MULTILINE
    ):
        found.setdefault(strategy, {})[cube] = f"{float(value) * scale[unit]:.0f}"
    rows = [[name, *(of.get(f"hypercube:{n}", "") for n in (10, 15))] for name, of in found.items()]
    return table(["strategy", "10", "15"], rows, numbers=True)


def how_fast(work: Path) -> str:
    if quick():
        # The section contains only times. Therefore check only that the commands run.
        return replays(REPLAYS.splitlines()[:2], 1)
    one, two = (
        measure(f"sweep --trace KTH-SP2 --sr 2 --af 0..8 --wf 0..8 --bf 0..8 --threads {n} --out {work}/{n} --quiet").wall
        for n in (1, 2)
    )
    rates = re.findall(r"^(swf/\S+).*?thrpt:\s*\[\S+ \S+ (\S+ \S+)", bench("traces", "swf"), re.MULTILINE | re.DOTALL)
    bench("allocation", "decision", OUT)
    bench("allocation", "attempts", OUT)
    bench("network", OUT)
    from frames import read

    decisions = read(OUT / "decision.csv").pivot("side", index="strategy", values="ns_per_decision")
    return SPEED.format(
        machine=machine(), system=f"{os.uname().sysname} {os.uname().release}",
        compiler=subprocess.run(["rustc", "--version"], capture_output=True, text=True, check=True).stdout.strip(),
        replays=replays(REPLAYS.splitlines(), 20), processes=processes(),
        speed_up=f"One thread {one:.1f} s, two {two:.1f} s: {one / two:.2f} times as fast.",
        reader=table(["bench", "rate"], [[f"`{name}`", rate] for name, rate in rates]),
        decisions=table(decisions.columns, decisions.iter_rows(), numbers=True), hypercubes=hypercubes(),
        allocators=csv_table("allocators.csv"), overhead=csv_table("overhead.csv"), network=csv_table("network.csv"),
    )  # fmt: skip


LARGE = """\
CPU time of a decision, and memory of the whole program, on machines of up to 1,048,576 points, on one thread. The trace has 30
jobs, submitted 50 s apart and all running at the end; sizes are 2^x, x uniform from 0 to 16 (generated by the script). The time
of a decision is the difference between a run of 30 jobs and a run of the first job, divided by 29; values below 0.3 ms are noise.

`replay --trace b30.swf --machine MACHINE --alloc ALLOCATOR --threads 1 -q`, with and without `--jobs 1`

{}

`mc1x1` counts in 32 bits on machines of more than 65,535 points and in 16 bits on smaller ones; `tie=auto` supports at most 65,535 points.
`gen-alg` and `mm` use tables for at most 65,535 points, and sums along a line of any length; on larger machines they visit all
free processors for every candidate, which takes hours. Hypercubes have at most 15 dimensions, clusters at most 65,535 slots."""


def large(work: Path) -> str:
    random.seed(1)
    jobs = (f"{number} {50 * number} -1 100000 {int(2 ** random.uniform(0, 16))}" for number in range(1, 31))
    (work / "b30.swf").write_text("\n".join(["; MaxProcs: 1048576", *jobs, ""]), encoding="utf-8")
    rows = []
    for mesh in ("256x256",) if quick() else ("256x256", "512x512", "1024x1024", "128x64x128"):
        for allocator in "mc1x1 row-major-best-fit hilbert-best-fit random first-fit gabl mbs paging".split():
            if (mesh, allocator) == ("128x64x128", "hilbert-best-fit"):
                continue
            command = f"--trace {work}/b30.swf --machine {mesh} --alloc {allocator} --threads 1 -q"
            whole = measure(f"{command} --format csv --columns mean_pairwise_l1")
            first = measure(f"{command} --jobs 1").cpu
            decision = max(0, 1000 * (whole.cpu - first) / 29)
            rows.append([mesh, allocator, whole.last(), f"{decision:.1f}", f"{first:.2f}", f"{whole.mib:.0f}"])
    rows = write_csv("large.csv", "machine,allocator,mean_pairwise_l1,ms_per_decision,first_decision_s,memory_MiB", rows)
    return LARGE.format(
        table(["machine", "allocator", "mean pairwise L1", "ms a decision", "first decision, s", "memory, MiB"], rows)
    )


LONG = """\
CPU seconds and peak memory of whole processes on one thread. `scripts/long-trace.py JOBS [LOAD] [SPACING]` generates the traces:
sizes and run times are distributed similarly to those of Frontier, 9,408 nodes.

### Logs

`scripts/long-trace.py JOBS > frontier.swf`, then
`replay --trace frontier.swf --machine 96x98 --sched SCHEDULER --alloc row-major-free-list --threads 1 -q`; *read* replays only the
first job, *out* writes all tables.

{}

### Queues

All jobs arrive almost at once: `scripts/long-trace.py JOBS 0.85 1`.

{}

The cost of conservative backfilling grows with the square of the queue length, by its definition: each time a job ends before its
estimate, 3 to 4 % of the reservations of this trace move to an earlier time, and later starts depend on each move."""


def long_trace(path: Path, *arguments: object) -> None:
    with path.open("wb") as file:
        subprocess.run([sys.executable, "scripts/long-trace.py", *map(str, arguments)], check=True, stdout=file)


def long(work: Path) -> str:
    usual = "--machine 96x98 --alloc row-major-free-list --threads 1 -q --format csv --columns mean_wait"
    trace, logs, queues = work / "long.swf", [], []
    for jobs in (20000,) if quick() else (20000, 2200000):
        long_trace(trace, jobs)
        what = {"read": "fcfs --jobs 1", "fcfs": "fcfs", "easy": "easy", "easy out": f"easy --no-plots --out {work}/out --force"}
        for name, options in what.items():
            one = measure(f"--trace {trace} {usual} --sched {options}")
            logs.append([jobs, name, one.last(), f"{one.cpu:.2f}", f"{one.mib:.0f}"])
    for jobs in (5000,) if quick() else (5000, 10000, 20000, 40000):
        long_trace(trace, jobs, 0.85, 1)
        for scheduler in "fcfs priority[order=shortest] easy easy[order=shortest] out-of-order conservative".split():
            # The cost of conservative backfilling grows with the square of the queue length.
            if scheduler == "conservative" and jobs > 10000:
                continue
            one = measure(f"--trace {trace} {usual} --sched {scheduler}")
            queues.append([jobs, scheduler, one.last(), f"{one.cpu:.2f}"])
    logs = write_csv("long.csv", "jobs,what,mean_wait,cpu_seconds,memory_MiB", logs)
    queues = write_csv("long-queues.csv", "jobs,scheduler,mean_wait,cpu_seconds", queues)
    return LONG.format(
        table(["jobs", "what", "mean wait s", "CPU s", "memory, MiB"], logs),
        table(["jobs", "scheduler", "mean wait s", "CPU s"], queues),
    )


TREES = """\
Placement rules on 9,216 nodes, on one thread.

### Decisions

Time of a decision at half load, from 20,000 decisions of each rule. The sizes are 2^x nodes, x uniform from 0 to 9; jobs end in
random order, so that free nodes are scattered.

`cargo bench --bench allocation -- hierarchy`

{}

### Whole replays

CPU seconds, wall time and peak memory of a whole process: reading, scheduling, placing and measuring.
`scripts/long-trace.py JOBS > long.swf`, then
`replay --trace long.swf --machine MACHINE --oversize clamp --sched SCHEDULER --alloc ALLOCATOR --threads 1 -q`.

{}"""


def trees(work: Path) -> str:
    decisions: list[list[str]] = []
    if not quick():
        bench("allocation", "hierarchy", OUT / "trees-decisions.csv")
        decisions = read_csv(OUT / "trees-decisions.csv")[1:]
    tree, block, rows = "tree:16x32x18", "block[18,72,288]:512x18", []
    runs = [("fcfs", tree, "slurm-tree"), *(("easy", tree, rule) for rule in ("slurm-tree", "tree-fit", "kueue", "random"))]
    # Under EASY, rules that refuse jobs search for a reservation after every end.
    refusing = [(tree, "slurm-tree[switches=1,wait=60]"), (block, "slurm-block"), (block, "slurm-block[segment=16]")]
    for jobs in (20000,) if quick() else (20000, 100000, 1000000):
        long_trace(work / "long.swf", jobs)
        for scheduler, nodes, rule in runs + [("easy", *one) for one in refusing if jobs < 1000000]:
            one = measure(
                f"--trace {work}/long.swf --oversize clamp --sched {scheduler} --machine {nodes} --alloc {rule} --threads 1 -q "
                "--format csv --columns mean_wait,mean_leaves"
            )
            rows.append([jobs, nodes, scheduler, rule, *one.last().split(","), f"{one.cpu:.2f}", f"{one.wall:.2f}", f"{one.mib:.0f}"])
    rows = write_csv(
        "trees.csv", "jobs,machine,scheduler,allocator,mean_wait,mean_leaves,cpu_seconds,wall_seconds,memory_MiB", rows
    )
    names = ["jobs", "machine", "scheduler", "allocator", "mean wait s", "mean leaves", "CPU s", "wall s", "memory, MiB"]
    return TREES.format(table(["machine", "allocator", "decisions", "us a decision"], decisions), table(names, rows))


PLAN = """\
Times in CPU seconds. *estimate* is the value printed by `replay plan ARGUMENTS`. *sweep* is the CPU time of
`replay sweep ARGUMENTS --out DIR --force` minus that of the same command with `--jobs 1`; this removes reading the traces and
writing the tables, which the estimate does not include. *plan* is the wall time of `plan`. One run each.

{}"""
PLANS = [
    "--trace lublin-10x10 --alloc mc1x1,hilbert-best-fit,random",
    "--trace KTH-SP2 --alloc mc1x1,mm --sr 1..2 --af 1..2 --wf 0..4 --bf 1",
    "--trace LANL-CM5 --alloc mc1x1 --sr 1..2 --af 1 --wf 0..4 --bf 1",
    "--trace KTH-SP2 --alloc mc1x1 --sr 1..3 --af 0..3 --wf 0..3 --bf 0..3 --distances-only",
    "--trace SDSC-SP2 --sched conservative --alloc mc1x1,paging",
]


def plan(work: Path) -> str:
    rows = []
    units = {"ms": 0.001, "s": 1, "min": 60, "h": 3600, "days": 86400}
    for options in PLANS[:1] if quick() else PLANS:
        one = measure(f"plan {options}")
        # plan: 3 combinations, 3 cells of distinct strategies
        # plan: roughly 1.5 s on 2 threads, CPU time 2.9 s, by samples of 3 kinds of cells
        messages = one.stderr.replace(",", "")
        cells = re.search(r"(\d+) cells of distinct strategies", messages)
        value, unit = re.search(r"^plan: roughly.*CPU time (\S+) (\w+)", messages, re.MULTILINE).groups()
        runs = [measure(f"sweep {options}{less} --out {work}/plan --force -q").cpu for less in ("", " --jobs 1")]
        estimate = f"{float(value) * units[unit]:.6g}"
        rows.append([options, cells[1], estimate, f"{runs[0] - runs[1]:.2f}", f"{one.wall:.2f}"])
    rows = write_csv("plan.csv", "arguments,cells,estimate_s,sweep_s,plan_s", rows)
    return PLAN.format(table(["arguments", "cells", "estimate", "sweep", "plan"], rows))


TOGETHER = """\
Tie vectors whose decisions have not yet diverged, or whose machines have the same free processors, share one decision. The table
compares the CPU seconds of a sweep on one thread with those of its vectors one by one, estimated from the vector 2,13,20,6.
`--tie auto` simulates 24 shadow machines besides the real one, which share decisions in the same way; the ratio is the time with
`tie=auto` divided by that without a tie vector.

`replay sweep --trace TRACE --alloc mc1x1 --sr 2 --af A --wf A --bf A --distances-only --threads 1 --out DIR`

{}

### `tie=auto`

{}"""


def together(work: Path) -> str:
    sweeps, tuned = [], []
    for trace, factors in {"lublin-10x10": "0..8", "KTH-SP2": "0..8", "NASA-iPSC": "0..8", "LANL-CM5": "0..4"}.items():
        if quick() and trace != "lublin-10x10":
            continue
        one = measure(f"--trace {trace} --alloc mc1x1 --tie 2,13,20,6 --threads 1 -q").cpu
        grid = f"--sr 2 --af {factors} --wf {factors} --bf {factors} --distances-only --threads 1 -q --yes"
        every = measure(f"sweep --trace {trace} --alloc mc1x1 {grid} --out {work}/{trace}").cpu
        count = len(read_csv(work / trace / "runs.csv")) - 1
        sweeps.append([trace, factors, count, f"{every:.2f}", f"{count * one:.2f}", f"{count * one / every:.1f}"])
    for trace in ("lublin-10x10", "KTH-SP2", "NASA-iPSC", "SDSC-Par96", "LANL-CM5"):
        if quick() and trace != "lublin-10x10":
            continue
        command = f"--trace {trace} --alloc mc1x1 --threads 1 -q --format csv --columns mean_pairwise_l1,seconds"
        without = float(measure(command).last().split(",")[1])
        distance, seconds = measure(f"{command} --tie auto").last().split(",")
        tuned.append([trace, distance, f"{without:.3f}", f"{float(seconds):.3f}", f"{float(seconds) / without:.0f}"])
    sweeps = write_csv("together.csv", "trace,factors,vectors,sweep_cpu_s,one_by_one_cpu_s,ratio", sweeps)
    tuned = write_csv("together-auto.csv", "trace,mean_pairwise_l1,without_seconds,auto_seconds,ratio", tuned)
    return TOGETHER.format(
        table(["trace", "factors", "vectors", "sweep, CPU s", "one by one, CPU s", "ratio"], sweeps),
        table(["trace", "mean pairwise L1", "without, s", "tie=auto, s", "ratio"], tuned),
    )


IMPORT = """\
Generated logs, whole processes, one run each. CPU seconds are user and system time.

{}

The first command reads and cleans the trace and replays ten jobs; the others read, convert, clean and write. A run holds its
trace in memory; an import holds a bounded part of the log, and one row group of a Parquet table."""
MAP = """\
time = "unix"
[columns]
id = "job"
submit = "when"
start = "began"
end = "ended"
size = "hosts"
estimate = { column = "limit", unit = "minutes" }
user = "who"
status = { column = "result", ok = ["ok"] }
"""
PARQUET_MAP = 'time = "seconds"\n[columns]\nid = "job"\nsubmit = "submit"\nstart = "start"\nrun = "run_time"\nsize = "size"\n'
HEADS = {
    "s.swf": "; MaxProcs: 64",
    "sacct.txt": "JobID|User|Account|Partition|Submit|Start|End|TimelimitRaw|AllocNodes|NodeList|State",
    "c.csv": "job,when,began,ended,who,hosts,limit,result",
}


def make_log(name: str, jobs: int) -> None:
    """Writes a generated log. Jobs have 1 to 64 nodes and run for up to an hour; a job arrives every 20 seconds."""
    state = 1
    with Path(name).open("w", encoding="utf-8") as file:
        file.write(f"{HEADS[name]}\n")
        for job in range(1, jobs + 1):
            state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
            size, run, wait, user = 1 + (state >> 33) % 64, 1 + (state >> 40) % 3600, (state >> 20) % 600, (state >> 50) % 300
            submit = 1700000000 + 20 * job
            times = submit, submit + wait, submit + wait + run
            if name == "s.swf":
                line = f"{job} {20 * job} {wait} {run} {size} -1 -1 {size} 3600 -1 1 {user} 1 -1 1 -1 -1 -1"
            elif name == "c.csv":
                line = f"{job},{times[0]},{times[1]},{times[2]},u{user},{size},60,ok"
            else:
                dates = "|".join(time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) for at in times)
                line = f"{job}|u{user}|a{user % 20}|batch|{dates}|60|{size}|n[1-{size}]|COMPLETED"
            file.write(f"{line}\n")


def import_(work: Path) -> str:
    rows = []

    def add(jobs: int, command: str) -> None:
        one = measure(command)
        rows.append([jobs, f"replay {command}", f"{one.cpu:.2f}", f"{jobs / max(one.cpu, 0.01):.0f}", f"{one.mib:.0f}"])
        for made in Path().glob("made*"):
            made.unlink()

    program()
    os.chdir(work)
    Path("map.toml").write_text(MAP, encoding="utf-8")
    Path("jobs.toml").write_text(PARQUET_MAP, encoding="utf-8")
    for jobs in (20000,) if quick() else (20000, 1000000, 10000000):
        make_log("s.swf", jobs)
        add(jobs, "--trace s.swf --machine 8x8 --alloc hilbert-best-fit --jobs 10 --threads 1 -q")
        if jobs <= 1000000:
            # The table of jobs of a run is a Parquet file.
            measure("--trace s.swf --machine 8x8 --alloc row-major-best-fit --threads 1 --out table --no-plots -q --force")
            add(jobs, "import parquet table/jobs.parquet --map jobs.toml --write made.swf -q")
        Path("s.swf").unlink()
        for name, options in {"sacct.txt": "sacct sacct.txt --processors 64", "c.csv": "csv c.csv --map map.toml"}.items():
            make_log(name, jobs)
            add(jobs, f"import {options} --write made.swf -q")
            Path(name).unlink()
    os.chdir(common.ROOT)
    rows = write_csv("import.csv", "jobs,what,cpu_seconds,jobs_per_second,memory_MiB", rows)
    return IMPORT.format(table(["jobs", "what", "CPU s", "jobs a second", "memory, MiB"], rows))


BUILD = """\
CPU seconds are user and system time of all processes; crates were fetched before. *Fresh* is `cargo build --release` with an
empty target directory. The other columns are the same command after one change: a line in an allocator (`random.rs`), in a
command (`src/cli/list.rs`) or in a test (`tests/cli.rs`), and a commit that changes no source. Lines are those of `src`, `crates`
and `tests`, with comments and tests; *largest* is the crate with most lines, with its tests. Rows before 9b5d9649 were measured
without the columns that are empty; the first row was measured by hand before the program was divided into crates.

The goals of the plug-ins above the engine (95281c69 against 9b5d9649) were 18,000 lines in the largest crate, no longer fresh build,
75 CPU s after a changed allocator, 40 after a changed command, 5 after a changed test or a commit. Later rows link the data frames
of polars, for which the goals are 620 CPU s, 320 s and 65 MB. The allocator of 95281c69 was measured by hand at d1ac96f5 (68 for
`replay-centre`, 79 for `replay-slurm`), and command, test and commit of 5ca91363 at f66a9608, which differs by the profile alone.

{}"""
BUILDS = (
    "commit,rust_lines,largest_crate_lines,fresh_cpu_s,fresh_wall_s,allocator_cpu_s,command_cpu_s,test_cpu_s,commit_cpu_s,binary_mb"
)


def built(folder: Path) -> tuple[float, float]:
    """Returns CPU and wall seconds of a build."""
    before, begun = os.times(), time.time()
    environment = {name: value for name, value in os.environ.items() if name != "CARGO_TARGET_DIR"}
    subprocess.run(["cargo", "build", "--release", "--quiet"], cwd=folder, env=environment, check=True, stderr=subprocess.DEVNULL)
    after = os.times()
    return sum(after[2:4]) - sum(before[2:4]), time.time() - begun


def measured_build(folder: Path, commit: str) -> list[object]:
    """Returns the row of a checkout."""

    def after(*changed: str) -> str:
        for path in changed:
            with (folder / path).open("a", encoding="utf-8") as file:
                file.write("// A line.\n")
        return f"{built(folder)[0]:.1f}"

    def lines(pattern: str) -> int:
        return sum(path.read_bytes().count(b"\n") for path in folder.glob(pattern))

    subprocess.run(["cargo", "fetch", "--quiet"], cwd=folder, check=True)
    crates = [lines(f"crates/{crate.name}/**/*.rs") for crate in (folder / "crates").iterdir()]
    every = sum(crates) + lines("src/**/*.rs") + lines("tests/**/*.rs")
    cpu, wall = built(folder)
    random_rs = [f"crates/replay-{crate}/src/{path}" for crate, path in (("core", "allocator/random.rs"), ("mesh", "random.rs"))]
    allocator = after(*(path for path in random_rs if (folder / path).exists()))
    command = after("src/cli/list.rs")
    subprocess.run(["git", "checkout", "--quiet", "src", "crates"], cwd=folder, check=True)
    built(folder)
    test = after("tests/cli.rs")
    name = ["-c", "user.name=benchmark", "-c", "user.email=benchmark@example.org"]
    subprocess.run(["git", *name, "commit", "--quiet", "--allow-empty", "--message", "Nothing"], cwd=folder, check=True)
    size = (folder / "target/release/replay").stat().st_size
    return [commit, every, max(crates), f"{cpu:.0f}", f"{wall:.0f}", f"{float(allocator):.0f}", command, test, after(), f"{size / 1e6:.1f}"]


def build(work: Path) -> str:
    if quick():
        write_csv("build.csv", BUILDS, [])
        return ""
    rows: list[list[object]] = [*read_csv(Path("results/benchmarks/build.csv"))[1:]]
    for revision in os.environ.get("REVISIONS", "HEAD").split():
        commit = common.git("rev-parse", "--short=8", revision)
        subprocess.run(["git", "clone", "--quiet", ".", str(work / commit)], check=True)
        subprocess.run(["git", "checkout", "--quiet", commit], cwd=work / commit, check=True)
        rows = [one for one in rows if one[0] != commit] + [measured_build(work / commit, commit)]
        shutil.rmtree(work / commit)
    names = "commit;lines;largest;fresh, CPU s;wall s;allocator, CPU s;command, CPU s;test, CPU s;commit, CPU s;program, MB"
    return BUILD.format(table(names.split(";"), write_csv("build.csv", BUILDS, rows)))


PYTHON = """\
Wall-clock times of the module `replay`. Each time is the median of 15 runs in one process, unless stated otherwise.

* *first lines*: the first lines of [Python](../../docs/src/python.md) in a new process, once, with two schedulers, two
  allocators and the given number of perturbed copies: `read_swf`, `run` on all threads, and `polars.DataFrame` of the runs and
  of the jobs. *import* is the time of `import replay` and `import polars`. *engine* is the time of the engine without reading
  the trace. *all* includes everything except *import*.
* *overhead*: `run` with FCFS and `mc1x1` on one thread, without the tables of jobs and placements, and the table of runs. The
  trace is read before. *engine* is `results.seconds`: the time from the start of the thread pool to the end of the last run, by
  the clock of the engine. *rest* is the wall-clock time of both calls in Python minus *engine*: parsing of the options,
  resolving of the grid, and the table. *percent of engine* is *rest* divided by *engine*.
* *decisions*: an allocator in Python that returns `machine.free[:request.size]`, on a 10x10 mesh with FCFS. *seconds* is the
  time of the whole run, including metrics.

{}"""
MODULE = """\
import statistics, sys, time
begin = time.perf_counter()
import polars
import replay
imported = time.perf_counter() - begin
name, copies, count = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])

def show(measurement, seconds, percent="", rate=""):
    print(f"{measurement},{name},{len(trace)},{seconds:.4f},{percent},{rate}")

begin = time.perf_counter()
trace = replay.read_swf(name, policy="johnson")
vectors = ["mc1x1", "mc1x1[tie=2,13,20,6]"]
results = replay.run(trace, machine="10x10", sched=["fcfs", "easy"], alloc=vectors, shake=copies or None, seed=0)
frames = results.runs, results.jobs
end = time.perf_counter()
show(f"first lines with shake={copies}: import", imported)
show(f"first lines with shake={copies}: engine", results.seconds)
show(f"first lines with shake={copies}: all", end - begin)
if copies:
    class FirstFree(replay.Allocator):
        def allocate(self, machine, request):
            return machine.free[: request.size]

    trace, engines, rests = replay.read_swf(name), [], []
    for _ in range(count):
        begin = time.perf_counter()
        results = replay.run(trace, machine="10x10", alloc="mc1x1", threads=1, jobs=False, placements=False)
        len(results.runs)
        rests.append(time.perf_counter() - begin - results.seconds)
        engines.append(results.seconds)
    engine, rest = statistics.median(engines), statistics.median(rests)
    show("overhead: engine", engine)
    show("overhead: rest", rest, percent=f"{100 * rest / engine:.2f}")
    runs = [replay.run(trace, machine="10x10", alloc=FirstFree(), jobs=False, placements=False) for _ in range(count)]
    seconds = statistics.median(run.seconds for run in runs)
    show("decisions", seconds, rate=f"{len(trace) / seconds:.0f}")
"""


def python(work: Path) -> str:
    target = Path(os.environ.get("CARGO_TARGET_DIR", "target")).resolve()
    subprocess.run(["scripts/python.sh", "--install"], check=True, stdout=sys.stderr)
    (work / "module.py").write_text(MODULE, encoding="utf-8")
    rows = []
    for name in ("lublin-10x10",) if quick() else ("lublin-10x10", "KTH-SP2"):
        for copies in (0, 10):
            command = [target / "python-wheel-venv/bin/python", work / "module.py", name, str(copies), "3" if quick() else "15"]
            printed = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
            rows += [line.split(",") for line in printed.splitlines()]
    # The order of the rows is: first lines of all traces, then overhead and decisions.
    rows = write_csv("python.csv", "measurement,trace,jobs,seconds,percent_of_engine,decisions_per_second",
                     sorted(rows, key=lambda cells: not cells[0].startswith("first")))  # fmt: skip
    return PYTHON.format(table(["measurement", "trace", "jobs", "seconds", "percent of engine", "decisions per second"], rows))


SECTIONS: dict[str, tuple[str, Callable[[Path], str]]] = {
    "how-fast": ("Speed", how_fast),
    "large": ("Large machines", large),
    "long": ("Long logs and long queues", long),
    "trees": ("Trees and blocks", trees),
    "plan": ("Estimates of `plan`", plan),
    "together": ("Vectors replayed as one", together),
    "import": ("Reading logs", import_),
    "build": ("Size of the sources, and cost of a build", build),
    "python": ("Python module", python),
}


def is_written(name: str) -> bool:
    """Returns whether this script has written a section of the committed page."""
    return f"Written by `scripts/benchmark.py {name}`" in Path(PAGE).read_text(encoding="utf-8")


def write(name: str) -> None:
    """Measures, and replaces the section of the page."""
    title, function = SECTIONS[name]
    OUT.mkdir(parents=True, exist_ok=True)
    begun = machine()
    with tempfile.TemporaryDirectory() as work:
        text = f"## {title}\n\n{function(Path(work))}\n\nWritten by `scripts/benchmark.py {name}`: {begun}.\n{common.stamp(OUT)}\n\n"
    if quick():
        return
    path = OUT / "README.md"
    sections = re.split("^(?=## )", path.read_text(encoding="utf-8"), flags=re.MULTILINE)
    sections = [text if section.startswith(f"## {title}\n") else section for section in sections]
    path.write_text("".join(sections).rstrip("\n") + "\n", encoding="utf-8")


def pairs(other: str, command: str, count: int) -> None:
    """Prints the CPU seconds of the program, and their ratio to those of another program: medians of alternating runs."""
    runs = [(measure(command, other).cpu, measure(command).cpu) for _ in range(count)]
    ratio = statistics.median(ours / max(theirs, 0.001) for theirs, ours in runs)
    print(row(f"`replay {command}`", f"{statistics.median(ours for _, ours in runs):.3f}", f"{ratio:.3f}", count))


def main(arguments: list[str]) -> None:
    if arguments[:1] == ["--pairs"] and len(arguments) in (3, 4):
        pairs(arguments[1], arguments[2], int(arguments[3]) if len(arguments) == 4 else 10)
        return
    for name in arguments:
        if name not in SECTIONS:
            common.stop(f"no section {name}; there are {', '.join(SECTIONS)}", 2)
    for name in arguments or [name for name in SECTIONS if name not in ("trees", "python")]:
        write(name)


if __name__ == "__main__":
    main(sys.argv[1:])
