"""The page torus-placements: placement rules on a 3D torus."""

import polars as pl

from common import Page, kept, present, quick, replay, row
from frames import hours, read

LONG = "torus-slices.csv"
TEXT = """\
# Boxes on 3D tori: Slurm's rule and others

This page compares the utilization of a torus of 16x16x16 under several placement rules when jobs always wait. Sizes are those
of slices of TPU v4 pods that fit (Jouppi et al. 2023, table 2); all orientations are placements, and positions are aligned. A
stream has exponential service of mean 1. The first jobs wait in a window (1: first come, first served), which is refilled at
once. Gains are differences on the same streams, in percentage points; `+-` is half of a 95 % interval over streams.

| rule | choice |
|---|---|
| count | only the number of free processors matters: a bound |
| first | the first free position |
| slurm | Slurm 26.05, `topology/torus3d`: in the first orientation that fits, the position that blocks the fewest free positions of the next larger box |
| lf | over all orientations, the position that takes the least free value from larger boxes |
| lf-eq | like `lf`, including boxes of equal size |
| nf | the position with the most busy neighbours |
| dl | the position that delays the first place of every larger box least, by the estimates of the running jobs |

The stream is synthetic: it does not model optical switches, which wire the cubes of a real pod freely, and service does not
depend on size except in `heavy-tail`.

## Slices of TPU v4 pods"""
ESTIMATES = """
Rules that use only positions differ little from Slurm's. Using the ends of neighbours (`dl`) brings more: a part of the
difference between Slurm's rule and the bound (`count`).

## Value of estimates

`noisy` estimates are the service time multiplied by 1 + x, x exponential with mean 2; `shuffled` estimates are those of another
job of the same size: they contain no information and must bring no gain."""
MIXES = """
A part of the gain remains with poor estimates. Without information `dl` is worse than Slurm's rule, so its gain comes from
the estimates and not from another way of packing.

## Ten other mixes"""
SEARCH = """
If small jobs are mixed with jobs of half the torus, both rules have equal utilization: the large jobs wait for one half,
wherever the small jobs are placed.

## Searched weights and self-tuning weights

`--search` tries some hundred weights of the terms (LF, EQ, NF, EF, DL) and slacks in compactness on the first half of each
stream; the best is validated on the second half. Gains are in percentage points."""
AUTO = """
The last column compares the found weights with `dl` alone on the second halves.

`auto` does not search: sixteen shadow machines run the same jobs, each with its own weights, and the machine
uses the weights that lost least processor time so far. Its results include the time before it has adapted."""
LOGS = """
With exact estimates `auto` is close to `dl`. With estimates without information `dl` loses to Slurm's rule under FCFS, and
`auto` loses less. It makes each decision on all seventeen machines."""
LOGS_TEXT = """
## On real logs

The same two rules on logs, each on its default mesh, with boxes of powers of two (`fit=up`). Ends of jobs are estimated by the
log; NASA-iPSC and the Paragons have no estimates, so terms based on ends have no information. Waits in hours; the change is that of
`placements`, which tunes itself on earlier jobs only, relative to `placements[tie=slurm]`. Each row is one schedule without an
interval: a changed decision changes all later ones. Under FCFS, boxes are saturated on most of these logs, and waits grow with
the length of the log.

`replay --trace LOG --sched fcfs,easy --alloc placements[tie=slurm],placements --threads 1`

| log | mesh | scheduler | slurm, mean wait h | auto, mean wait h | change % |
|---|---|---|---:|---:|---:|"""
TRACES = ["KTH-SP2", "SDSC-Par96", "SDSC-Par95", "CTC-SP2", "SDSC-SP2", "NASA-iPSC"]


def plus_minus(run: dict, column: str) -> str:
    return f"{run[column]:.2f} +- {run[f'{column}_half_width']:.2f}"


def rules(run: dict) -> str:
    """Returns the row of a placement rule under permanent backlog."""
    gain = "" if run["gain_on_slurm"] is None else plus_minus(run, "gain_on_slurm")
    gain = gain.replace("-0.00 ", "0.00 ") if gain.startswith("-0.00 ") else gain
    return row(run["mix"], run["estimates"], run["window"], run["rule"], plus_minus(run, "saturated_utilization"), gain, run["streams"])


def found(run: dict) -> str:
    """Returns the row of a search of weights, validated on the second halves."""
    tried = f"`{run['way']}`", run["ways_tried"], f"{run['first_half_gain_on_slurm']:.2f}"
    gains = (plus_minus(run, f"second_half_gain_on_{base}") for base in ("slurm", "dl"))
    return row(run["estimates"], run["window"], *tried, *gains)


RULES = "| mix | estimates | window | rule | utilization % | gain on Slurm, points | streams |\n|---|---|---:|---|---:|---:|---:|"
FOUND = (
    "| estimates | window | found | tried | gain on Slurm, first halves | second halves | gain on dl, second halves |\n"
    "|---|---:|---|---:|---:|---:|---:|"
)


def backlog(page: Page, name: str, options: str) -> None:
    """Adds a table of streams under permanent backlog; `--search` searches weights."""
    head, cells = (FOUND, found) if options.startswith("--search") else (RULES, rules)
    command = f"stream --seed 1 --backlog 1,16 {options}"
    table = page.out / f"torus-{name}.csv"
    if not kept(table):
        table.write_text(replay(f"{command} --format csv --quiet").stdout, encoding="utf-8")
    page.add(f"\n`replay {command}`\n", head, *map(cells, read(table).iter_rows(named=True)))
    page.add(f"\n[{table.name}]({table.name})")


def boxes_on_logs(page: Page) -> None:
    """Adds mean waits on the meshes of real logs, with Slurm's rule and with the self-tuning rule."""
    table = page.out / "torus-logs.csv"
    if not kept(table):
        tables = []
        for trace in filter(present, TRACES):
            command = f"--trace {trace} --sched fcfs,easy --alloc placements[tie=slurm],placements --threads 1 --quiet"
            printed = replay(f"{command} --format csv --columns trace,topology,scheduler,allocator,mean_wait").stdout
            tables.append(pl.read_csv(printed.encode(), infer_schema=False))
        if not tables:
            return
        pl.concat(tables).write_csv(table)
    page.add(LOGS_TEXT)
    slurm = pl.col("allocator").str.contains("slurm")
    runs = read(table)
    pairs = runs.filter(~slurm).join(runs.filter(slurm), on=["trace", "scheduler"], maintain_order="left")
    for run in pairs.iter_rows(named=True):
        before, after = run["mean_wait_right"], run["mean_wait"]
        change = 100 * (after / before - 1)
        page.add(row(run["trace"], run["topology"], run["scheduler"], hours(before, 3), hours(after, 3), f"{change:+.1f}"))


def write(page: Page) -> None:
    page.add(TEXT)
    if quick():
        backlog(page, "slices", "--rules slurm,first --estimates exact --jobs 8000 --replications 10")
        return
    backlog(page, "slices", "--rules count,first,slurm,lf,lf-eq,nf,dl --estimates exact --jobs 8000 --replications 10")
    page.add(ESTIMATES)
    backlog(page, "estimates", "--rules slurm,lf,dl --estimates noisy,shuffled --jobs 8000 --replications 10")
    page.add(MIXES)
    mixes = "uniform,uniform-half,cubes,cubes-half,slabs,slabs-half,small,small-half,heavy-tail,heavy-tail-half"
    backlog(page, "mixes", f"--rules slurm,dl --jobs 3000 --replications 10 --mix {mixes}")
    page.add(SEARCH)
    backlog(page, "search", "--search --estimates exact,noisy,shuffled --jobs 4000 --replications 6")
    page.add(AUTO)
    backlog(page, "auto", "--rules slurm,dl,auto --estimates exact,noisy,shuffled --jobs 8000 --replications 6")
    page.add(LOGS)
    boxes_on_logs(page)
