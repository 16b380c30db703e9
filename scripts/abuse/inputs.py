"""Seeds of the mutator: valid inputs and names of each kind, and the commands that read them."""

import gzip

from scenes import GRID, packets, trace

SIDES = {1: "1,1", 2: "2,1", 3: "3,1", 4: "2,2", 6: "3,2", 8: "4,2", 12: "3,4", 16: "4,4"}


def shapes():
    """Returns a shapes file for the trace."""
    jobs = [line.split() for line in trace().splitlines() if line[0] != ";"]
    return "job,w,h,d\n" + "".join(f"{job[0]},{SIDES[int(job[4])]},1\n" for job in jobs)


def archive():
    return gzip.compress(trace().encode(), mtime=0)


PHASES = "phase,src_rank,dst_rank,packets\n0,0,1,2\n0,1,0,2\n1,2,3,1\n3,0,3,4\n"
MATRIX = "0,1,2,3\n1,0,0,1\n4,0,0,0\n1,1,1,0\n"
ANSWERS = '{"ask":[[2,13,20,6],[2,1,1,0,0.05],[1,0,0,3]]}\n{"ask":[[1,1,1,1]]}\n'
RICH_GRID = """traces = ["tiny.swf"]
machines = ["4x4", "torus:8x8"]
schedulers = ["fcfs", "easy", "conservative", "out-of-order[order=smallest]"]
policies = ["johnson", "strict"]
seeds = ["0..3", 7]
ties = true
placements = false
window = { from = "10", jobs = 20, days = 3.5 }
max-errors = 2

[[allocator]]
name = "mc1x1"
tie = { sr = "1..2", af = "0..2", wf = [0, 1], bf = "0" }
order = ["scan", "carried"]
slack = "0..0.2:0.1"

[[allocator]]
name = "mm"
tie = ["none", "2,13,20,6"]
"""

ALLOCATORS = """
mc1x1[tie=2,13,20,6,order=scan,wall=per-wall,slack=0.2]
mc1x1[tie=auto,slack=auto,shadows=4,every=16,memory=100]
mm[order=greedy]
gen-alg
hilbert-best-fit
snake-free-list
gilbert-sum-of-squares
paging[size=1,index=snake]
mbs
granular-mbs
gabl
first-fit
turning-best-fit
frame-sliding
adaptive-scan
buddy
anca
random
mc[shape=near-square]
as-mb
busy-list
""".split()
SCHEDULERS = """
fcfs
easy[order=shortest]
conservative
out-of-order[order=shortest]
largest
shortest
ssd
least-work
""".split()

CONTEND = "contend --trace tiny.swf --jobs 9 --scale 0.05 --alloc mbs -q"
STREAM = "stream --machine 4x4 --jobs 9 --max-replications 3 --min-replications 2 --alloc mbs -q"
SEARCH = "search --trace tiny.swf -q --sr 1"
RUN = "--trace tiny.swf -q"
PLAN = "plan --trace tiny.swf -q --no-estimate"

# For each kind: function that returns the input, name of the input file, and a command that reads the file.
FILES = {
    "swf": (trace, "m.swf", "--trace m.swf -q --machine 4x4 --alloc mc1x1"),
    "swf-tolerant": (trace, "m.swf", "--trace m.swf -q --max-errors 9 --alloc mbs --sched easy"),
    "gzip": (archive, "m.swf.gz", "--trace m.swf.gz -q"),
    "shapes": (shapes, "tiny.shapes.csv", "--trace tiny.swf -q --alloc first-fit"),
    "packets": (packets, "m.csv", "network --packets m.csv --machine 4x4 -q --channels c.csv"),
    "phases": (lambda: PHASES, "m.csv", f"{CONTEND} --pattern phases[file=m.csv]"),
    "matrix": (lambda: MATRIX, "m.csv", f"{CONTEND} --pattern matrix[file=m.csv]"),
    "weights": (lambda: MATRIX, "m.csv", f"{CONTEND} --pattern matrix[file=m.csv,values=weights]"),
    "grid": (lambda: RICH_GRID, "m.toml", "plan m.toml -q --no-estimate"),
    "grid-run": (lambda: GRID, "m.toml", "sweep m.toml -q --out swept"),
    "answers": (
        lambda: ANSWERS,
        "asks",
        "search --trace tiny.swf -q --sr 1..2 --strategy external --ask-command ./ask",
    ),
}

# For each kind: names to be mutated, and a command with a name as its last argument.
NAMES = {
    "alloc": (ALLOCATORS, f"{RUN} --alloc"),
    "sched": (SCHEDULERS, f"{RUN} --alloc mc1x1 --sched"),
    "machine": (["4x4", "torus:16x24", "torus[x]:16x24", "8x8x8", "16x1", "65535x1"], f"{RUN} --alloc mc1x1 --machine"),
    "tie": (["2,13,20,6", "none", "auto", "1,0,0,0"], f"{RUN} --tie"),
    "seed": (["0..3", "1,2", "7"], f"{RUN} --jobs 3 --alloc random --seed"),
    "window": (["100", "1996-09-23", "-5"], f"{RUN} --alloc mc1x1 --from"),
    "days": (["1", "0.5"], f"{RUN} --alloc mc1x1 --days"),
    "trace": (["tiny.swf", "stream[machine=4x4,arrivals=2,jobs=9]"], "-q --trace"),
    "policy": (["johnson", "pwa", "strict", "batsim"], f"{RUN} --alloc mc1x1 --policy"),
    "synth": (
        [
            "stream[machine=8x8,arrivals=2,jobs=40]",
            "stream[machine=4x4x4,arrivals=1,sides=exponential[mean=2]]",
            "lublin[processors=16,jobs=50,load=0.7]",
        ],
        "synth",
    ),
    "sides": (
        ["uniform[low=2,high=4]", "exponential[mean=2,round=power-of-two]"],
        f"{STREAM} --arrivals 2 --sides",
    ),
    "service": (
        ["pareto[k=1,q=300,alpha=1]", "normal[mean=5,sd=1,low=2,high=9]", "deterministic"],
        f"{STREAM} --arrivals 2 --service",
    ),
    "arrivals": (["1..4:1,10", "2", "0.5"], f"{STREAM} --arrivals"),
    "load": (["0.2..0.8:0.2", "0.5"], "stream --machine 4x4 --jobs 20 --min-replications 2 --max-replications 3 --threads 1 -q --load"),
    "precision": (["0.05"], "stream --machine 4x4 --arrivals 2 --jobs 9 --alloc mbs -q --precision"),
    "quota": (["fixed[packets=5]", "exponential[mean=3]"], f"{STREAM} --arrivals 2 --pattern n-body --quota"),
    "pattern": (
        [
            "n-body",
            "all-to-all[order=shifted,sends=at-once]",
            "random",
            "fft-2d",
            "multigrid",
            "nearest-neighbour",
        ],
        f"{CONTEND} --pattern",
    ),
    "network": (
        ["lo", "bani-mohammad", "lo[depth=2,flow=pipelined]"],
        "network --packets p.csv --machine 4x4 -q --network",
    ),
    "scale": (["0.05", "1"], "contend --trace tiny.swf --jobs 9 --alloc mbs -q --scale"),
    "mapping": (["allocation", "row-major", "hilbert"], f"{CONTEND} --mapping"),
    "objective": (
        [
            "mean_pairwise_l1[weights=size]",
            "contiguous_percent[goal=max]",
            "mean_pairwise_l1[weights=1..4:2]",
        ],
        f"{SEARCH} --factors 0..1 --objective",
    ),
    "constraint": (["worst-class[jobs=3]<=1", "mean_diameter<=0.5"], f"{SEARCH} --factors 0..1 --constraint"),
    "factors": (["0..1", "1..2"], f"{SEARCH} --factors"),
    "slack": (["0..0.3:0.1", "0,0.1"], f"{SEARCH} --factors 0..1 --slack"),
    "time": (["90s", "1m", "0.1s"], "search --trace tiny.swf -q --strategy random --evaluations 5 --time"),
    "start": (
        ["2,1,1,1", "exhaustive", "random"],
        "search --trace tiny.swf -q --strategy local --evaluations 5 --start",
    ),
    "split": (["0.5", "0.9"], f"{SEARCH} --factors 0..1 --split"),
    "range": (["1..2", "1,2", "0..3:1"], f"{PLAN} --af 0 --wf 0 --bf 1 --sr"),
    "param": (["order=scan,carried", "slack=0..0.2:0.1"], f"{PLAN} --param"),
    "shard": (["1/2", "2/2"], f"{PLAN} --shard"),
    "list": (["allocators", "columns", "traces"], "list"),
    "completions": (["bash", "zsh"], "completions"),
}
