"""The page hypercube: subcube allocators on the log of a real hypercube."""

from common import Page

TRACE = "--trace NASA-iPSC --machine hypercube:7"
ALLOCATORS = (
    "cube-buddy,gray-code,modified-buddy,multiple-gray-code,cube-free-list,maximal-set,afl,afl[release=heir],non-cubic,"
    "non-cubic[adjacent=no],row-major-best-fit,random"
)
TEXT = """\
# Subcube allocators on a hypercube log: NASA-iPSC-1993

The machine has 128 processors, and the size of every job of the trace is a power of two. A job therefore fills its subcube, the
auxiliary free list stays empty, and non-cubic allocation needs only one subcube: the strategies differ only in which free
subcubes they recognize. `row-major-best-fit` and `random` take any processors and never refuse."""


def write(page: Page) -> None:
    page.add(TEXT)
    page.on_trace("hypercube", "NASA-iPSC", f"--machine hypercube:7 --alloc {ALLOCATORS}")
    page.add(
        "\n## Contention\n\nEvery job sends messages by e-cube routes, enough for its run time when it runs alone.\n",
    )
    command = (
        f"contend {TRACE} --jobs 2000 --scale 2 --pattern all-to-all --sched fcfs,easy "
        "--alloc cube-buddy,cube-free-list,maximal-set,row-major-best-fit,random"
    )
    printed = page.ran(f"{command} --no-plots --quiet --format md --out", page.work / "cube")
    if printed:
        page.add(f"`replay {command}`\n", printed.stdout.rstrip("\n"))
        page.copy(page.work / "cube" / "contend.csv", "hypercube-contention.csv")
