"""The page recorded: waits recorded in logs, compared with the waits of the same jobs under schedulers."""

import gzip
import json
import re
from bisect import bisect_right
from pathlib import Path

import polars as pl

from common import Page, figure, only, row, without_seconds
from frames import by_class, hours, read

TEXT = """\
# Recorded schedules and simulated schedulers

`recorded` starts each job at its start time in the log (SWF field 3); the other schedulers start the same jobs by their own
rules, with the same submit and run times. Recorded waits include effects that no scheduler here models: holds by users and
operators, priorities, limits per user, reservations, outages, and on some machines time sharing. The difference is therefore
not the gain of a scheduler.

Jobs for which too few processors are free when the log starts them, by the sizes in the log, are excluded from all metrics on
both sides, although the simulated schedulers run them. The lines above each table count them. Jobs without a recorded wait have
no start under `recorded`; they are run by the simulated schedulers and excluded from all metrics as well.

*Free* in the first table is the share of all waiting time in the log during which as many processors as the waiting job requests
were free. A scheduler that starts the head of its queue as soon as it fits has no such time for the head, and EASY has it for
other jobs only if they would delay the head. If jobs are missing from the log (removed by cleaning, or never written), their
processors appear free, so the share is an upper bound.
"""
SUMMARY = """\
| log | mean wait h | waited above 60 s | free | EASY, mean wait h | change | FCFS, mean wait h | bounded slowdown, log | EASY |
|---|---:|---:|---:|---:|---:|---:|---:|---:|"""
CONCLUSION = """
Waits under FCFS are far longer than in most logs: these sites did not run FCFS. On most machines EASY and conservative backfilling
are closer to each other than to the log, so the choice between them matters less than the effects that the log does not record.
The deviation depends on size: large jobs wait longer in most logs than under EASY, and on the machines of SDSC jobs of two
processors wait less. Queues by size and hours reserved for large jobs could explain both. On the LANL-CM5 waits in the log are
shorter than under every scheduler that gives a processor to one job at a time: by the sizes in the log, jobs start there while too
few processors are free. On wagap-2013 jobs wait while as many processors as they request are free: for nodes of a certain kind,
memory, a licence or a limit per user. A replay by numbers of processors does not model these waits.

Waits under a simulated scheduler therefore do not predict those of a site. They compare schedulers on the load of a site."""
PLACED = """
Field 19 of this log names the node of every processor. The run repeats these placements on a machine of 44 points, in the order of
node names because the log has no positions of nodes. The line above gives the peak number of processors in use per node: the two
sizes are those of the two kinds of nodes, so the recorded placements do not contradict each other. Other allocators cannot be
compared with it: they give a job whole points, and jobs of this log share nodes.
"""
RUNS = [
    ("KTH-SP2", ""), ("CTC-SP2", ""), ("SDSC-SP2", "--machine 16x8 "), ("SDSC-Par95", ""), ("SDSC-Par96", ""), ("LANL-CM5", ""),
    ("wagap-2013", "--policy cerit "),
]  # fmt: skip
WAITS = """
| scheduler | mean wait h | change | median s | 90 % h | 99 % h | bounded slowdown |
|---|---:|---:|---:|---:|---:|---:|"""


def notes(messages: str, pattern: str) -> list[str]:
    """Returns the messages that match a pattern as lines of a quotation."""
    return [f"> {line}  " for line in messages.splitlines() if re.search(pattern, line)]


def idle_share(folder: Path) -> tuple[str, str]:
    """Returns the share of jobs that waited for more than 60 s, and the share of all waiting time during which enough
    processors for the waiting job were free.
    """
    configuration = json.loads((folder / "manifest.json").read_text(encoding="utf-8"))["configuration"]
    source = configuration["traces"][0]["source"]
    with (gzip.open if source.endswith(".gz") else open)(source, "rt", encoding="utf-8", errors="replace") as file:
        fields = (line.split()[1:5] for line in file if line.strip() and not line.startswith(";"))
        jobs = [tuple(int(float(field)) for field in job) for job in fields]
    jobs = [(submit, wait, max(run, 0), size) for submit, wait, run, size in jobs if wait >= 0 and size > 0]
    started = [(submit + wait, size) for submit, wait, _, size in jobs]
    ended = [(submit + wait + run, -size) for submit, wait, run, size in jobs]
    # The number of free processors from each instant on.
    times, free, left = [], [], read(folder / "runs.csv")["processors"][0]
    for at, size in sorted(started + ended):
        left -= size
        if times and times[-1] == at:
            free[-1] = left
        else:
            times.append(at)
            free.append(left)
    waiting = idle = 0
    for submit, wait, _, size in jobs:
        now, step = submit, bisect_right(times, submit)
        while now < submit + wait:
            end = min(times[step], submit + wait) if step < len(times) else submit + wait
            if step == 0 or free[step - 1] >= size:
                idle += end - now
            now, step = end, step + 1
        waiting += wait
    long = sum(wait > 60 for _, wait, _, _ in jobs)
    return f"{100 * long / len(jobs):.0f} %", f"{100 * idle / waiting if waiting else 0:.0f} %"


def same_jobs(against: pl.DataFrame) -> dict[str, dict[str, float]]:
    """Returns the metrics of the log and of each scheduler, over the jobs that the replay of the log includes."""
    found: dict[str, dict[str, float]] = {"recorded": {}}
    for one in against.filter(pl.col("of_size").is_null()).iter_rows(named=True):
        found["recorded"][one["metric"]] = one["log_value"]
        found.setdefault(one["scheduler"], {})[one["metric"]] = one["run_value"]
    return found


def same_jobs_by_size(against: pl.DataFrame) -> pl.DataFrame:
    """Returns mean waits by job size: of the log, then of each scheduler."""
    rows = against.filter(pl.col("of_size").is_not_null(), metric="mean_wait")
    columns = [pl.col("of_size").alias("size"), pl.col("compared_jobs").alias("jobs")]
    log = rows.unique(["of_size", "compared_jobs"], keep="first", maintain_order=True)
    return pl.concat(
        [
            log.select(pl.lit("recorded").alias("scheduler"), *columns, pl.col("log_value").alias("mean_wait")),
            rows.select("scheduler", *columns, pl.col("run_value").alias("mean_wait")),
        ]
    )


def change(wait: float, log: float) -> str:
    return f"{100 * (wait - log) / log:+.0f} %"


def log_section(page: Page, trace: str, options: str) -> str | None:
    """Adds the section of a log, and returns its row of the summary; `None` if the trace is absent."""
    name, folder = f"recorded-{trace}", page.work / trace
    page.add(f"\n## {trace}\n")
    command = f"--trace {trace} {options}--sched recorded,fcfs,easy,conservative --alloc row-major-first-fit"
    printed = page.ran(f"{command} --no-jobs --format md --out", folder)
    if not printed:
        return None
    page.add(f"`replay {command}`\n", *notes(printed.stderr, " records, |, recorded: "))
    figure(only(folder / "plots", "waits-by-size--*.svg"), page.out / name, page.out / f"{name}-figure.csv")
    page.copy(folder / "runs.csv", f"{name}.csv")
    same_jobs_by_size(read(folder / "against_log.csv", as_text=True)).write_csv(page.out / f"{name}-by-size.csv")
    found = same_jobs(read(folder / "against_log.csv"))
    log, easy, fcfs = found["recorded"], found["easy"], found["fcfs"]
    page.add(WAITS)
    for scheduler, one in found.items():
        page.add(
            row(
                scheduler, hours(one["mean_wait"]), change(one["mean_wait"], log["mean_wait"]) if one != log else "",
                int(one["median_wait"]), hours(one["p90_wait"]), hours(one["p99_wait"]), f"{one['mean_bounded_slowdown']:.1f}",
            )
        )  # fmt: skip
    page.add(f"\n![Waits on {trace}]({name}.svg)\n\nMean wait in hours by requested processors:\n")
    rows = read(page.out / f"{name}-by-size.csv")
    page.add(*by_class(rows, "scheduler", ["mean_wait"], lambda means: hours(means["mean_wait"])))
    page.add(f"\nEvery size: [{name}-by-size.csv]({name}-by-size.csv)")
    return row(
        trace, hours(log["mean_wait"]), *idle_share(folder), hours(easy["mean_wait"]), change(easy["mean_wait"], log["mean_wait"]),
        hours(fcfs["mean_wait"]), f"{log['mean_bounded_slowdown']:.0f}", f"{easy['mean_bounded_slowdown']:.0f}",
    )  # fmt: skip


def write(page: Page) -> None:
    summaries = [log_section(page, trace, options) for trace, options in RUNS]
    sections, page.text = page.text, []
    page.add(TEXT, SUMMARY, *(summary for summary in summaries if summary), CONCLUSION)
    page.text += sections
    page.add("\n## wagap-2013 with recorded placements\n")
    command = "--trace wagap-2013 --policy cerit --machine 4x11*80 --sched recorded --alloc recorded"
    printed = page.ran(f"{command} --no-jobs --no-plots --format md --out", page.work / "placed")
    if printed:
        page.add(f"`replay {command}`\n", *notes(printed.stderr, "recorded placements"), PLACED)
        page.add(without_seconds(printed.stdout))
