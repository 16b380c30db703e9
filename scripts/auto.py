"""The page search/auto.md: the self-tuning tie-breaker compared with fixed vectors.

Reads the vectors found by searches from results/search. It takes 10 minutes.
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean

import polars as pl

from common import RESULTS, Page, kept, quick, replay, row, stamp
from frames import read

# Trace, the best vector printed in the paper, name of the searches.
TRACES = [
    ("KTH-SP2", "2,13,20,6", "kth"), ("SDSC-Par95", "10,1,3,2", "sdsc95"), ("SDSC-Par96", "4,29,5,0", "sdsc96"),
    ("LANL-CM5", "12,42,41,15", "lanl"), ("NASA-iPSC", "-", "nasa"), ("CTC-SP2", "-", "ctc"), ("SDSC-SP2", "-", "sdsc_sp2"),
    ("lublin-10x10", "-", "lublin"),
]  # fmt: skip
EXACT = """\
# Self-tuning tie vectors

Written by `scripts/results.py auto`. Mean pairwise L1 under FCFS. *Found* are the best vectors of searches on the same trace
([README.md](README.md)). `mc1x1[tie=auto]` uses only earlier jobs of the trace; mean, minimum and maximum of five seeds.

## Among exact ties

MC1x1 without tie-breaking, with two vectors used for all traces, with the vectors of the paper and of the searches, and
with `tie=auto`. The last columns are the gain of `tie=auto` over no tie-breaking in percent, and that gain in percent of
the gain of the found vector.

| trace | none | 2,1,1,1 | 2,13,20,6 | paper's best | found | auto | five seeds | gain % | of the found gain % |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""
SLACK = """
## With nearly tied candidates

With `slack=0.1`, candidates whose score is up to a tenth worse than the best compete by tie value as well; `slack=auto`
adapts this share together with the vector. *Found* are vectors of searches with and without slack. The last columns are
the gain of `mc1x1[tie=auto,slack=auto]` over no tie-breaking, and that gain in percent of the two found gains.

| trace | none | found, exact ties | found with slack | tie=auto, slack=0.1 | tie=auto, slack=auto | five seeds | gain % | of the gain of exact ties % | of the found gain % |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""
CONCLUSION = """
How to read it:

* A search selects the maximum of thousands of noisy values. On KTH-SP2 the vectors 2,13,20,7, 2,13,21,6 and 2,14,20,6, next to
  2,13,20,6, give {}, {} and {}: much of the gain of a found vector is specific to the
  one schedule on which it was found.
* Among exact ties `auto` is about as good as a vector such as 2,1,1,1, and needs no choice of a vector.
* A slack has a larger effect than the vector: a candidate that is slightly worse for its own job may leave better places
  for later jobs.
* The constants of the tuner were set coarsely on KTH-SP2 and SDSC-Par96; neighbouring values differed by less than two
  seeds do. The other traces were not used.
* Cost on the first four traces: with 24 shadow machines a replay takes {} times as long as without tie-breaking,
  and {} times as long as with a fixed vector.
"""


def values(trace: str, allocator: str, options: str = "", column: str = "mean_pairwise_l1") -> list[float]:
    """Returns a column of each run."""
    command = f"--trace {trace} --alloc {allocator} {options} --quiet --format csv --columns {column}"
    return pl.read_csv(replay(command).stdout.encode())[column].to_list()


def distance(trace: str, found: str) -> float | str:
    """Returns the mean pairwise L1 with a tie vector, as VECTOR[@SLACK]; `-` gives `-`."""
    if found == "-":
        return found
    vector, _, slack = found.partition("@")
    return values(trace, f"mc1x1[tie={vector},slack={slack}]" if slack else f"mc1x1[tie={vector}]")[0]


def searched(name: str) -> str:
    """Returns the best vector found by the searches NAME and NAME-DIGIT as VECTOR[@SLACK], or `-`."""
    best = []
    for table in [*Path("results/search").glob(f"{name}.csv"), *Path("results/search").glob(f"{name}-[0-9].csv")]:
        for one in read(table).filter(rank=1).iter_rows(named=True):
            best.append((one["value"], one["tie"] + (f"@{one['slack']:g}" if one.get("slack") else "")))
    return min(best)[1] if best else "-"


def tuned(trace: str, allocator: str) -> dict[str, float | str]:
    """Returns mean, minimum and maximum over five seeds."""
    found = values(trace, allocator, "--seed 0..4")
    return {"auto": f"{mean(found):.4f}", "auto_low": f"{min(found):.2f}", "auto_high": f"{max(found):.2f}"}


def exact(trace: str, paper: str, name: str) -> dict[str, object]:
    """Returns a row of auto.csv, with exact ties."""
    found = searched(name)
    given = {vector.replace(",", "-"): distance(trace, vector) for vector in ("2,1,1,1", "2,13,20,6")}
    return {
        "trace": trace, "none": values(trace, "mc1x1", "--tie none")[0], **given,
        "paper": distance(trace, paper), "paper_tie": paper, "found": distance(trace, found), "found_tie": found,
        **tuned(trace, "mc1x1[tie=auto]"),
    }  # fmt: skip


def slack(trace: str, _: str, name: str) -> dict[str, object]:
    """Returns a row of auto-slack.csv, with nearly tied candidates."""
    found, wide = searched(name), searched(f"{name}-slack")
    return {
        "trace": trace, "none": values(trace, "mc1x1", "--tie none")[0], "found": distance(trace, found), "found_tie": found,
        "found_slack": distance(trace, wide), "found_slack_tie": wide,
        "auto_tenth": tuned(trace, "mc1x1[tie=auto,slack=0.1]")["auto"], **tuned(trace, "mc1x1[tie=auto,slack=auto]"),
    }  # fmt: skip


def cost(tie: str) -> str:
    """Returns the range, over four traces, of the ratio of the run time with `auto` to that with a tie vector."""
    def seconds(trace: str, vector: str) -> float:
        return min(values(trace, "mc1x1", f"--tie {vector} --threads 1", "seconds")[0] for _ in range(3))

    ratios = [seconds(trace, "auto") / seconds(trace, tie) for trace, *_ in TRACES[:4]]
    return f"{min(ratios):.0f} to {max(ratios):.0f}"


def with_tie(one: dict, column: str) -> str:
    return "-" if one[f"{column}_tie"] == "-" else f"{float(one[column]):.2f} ({one[f'{column}_tie']})"


def share(one: dict, column: str) -> str:
    """Returns the gain of `auto` over no tie-breaking in percent of the gain of a found vector."""
    if one[f"{column}_tie"] == "-":
        return "-"
    return f"{100 * (one['none'] - one['auto']) / (one['none'] - float(one[column])):.0f}"


def seeds(one: dict) -> tuple[str, str]:
    """Returns the cells of the range over seeds, and of the gain in percent."""
    return f"{one['auto_low']:.2f} to {one['auto_high']:.2f}", f"{100 * (one['none'] - one['auto']) / one['none']:.2f}"


def write() -> None:
    page = Page(RESULTS / "search" / "auto.md")
    # A quick run has two traces without long evaluations.
    traces = [one for one in TRACES if one[0] in ("NASA-iPSC", "lublin-10x10")] if quick() else TRACES
    for name, cells in (("auto", exact), ("auto-slack", slack)):
        if not kept(page.out / f"{name}.csv"):
            pl.DataFrame([cells(*one) for one in traces]).write_csv(page.out / f"{name}.csv")
    if quick():
        return
    page.add(EXACT)
    for one in read(page.out / "auto.csv").iter_rows(named=True):
        fixed = (f"{one[column]:.2f}" for column in ("none", "2-1-1-1", "2-13-20-6"))
        cells = with_tie(one, "paper"), with_tie(one, "found"), f"{one['auto']:.2f}", *seeds(one)
        page.add(row(one["trace"], *fixed, *cells, share(one, "found")))
    page.add(SLACK)
    for one in read(page.out / "auto-slack.csv").iter_rows(named=True):
        found = "-" if one["found_tie"] == "-" else f"{float(one['found']):.2f}"
        cells = with_tie(one, "found_slack"), f"{one['auto_tenth']:.2f}", f"{one['auto']:.2f}", *seeds(one)
        page.add(row(one["trace"], f"{one['none']:.2f}", found, *cells, share(one, "found"), share(one, "found_slack")))
    near = (f"{distance('KTH-SP2', vector):.2f}" for vector in ("2,13,20,7", "2,13,21,6", "2,14,20,6"))
    page.add(CONCLUSION.format(*near, cost("none"), cost("2,13,20,6")), stamp(page.out / "auto.csv"))
    page.save()
