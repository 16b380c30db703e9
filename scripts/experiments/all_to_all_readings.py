"""The page all-to-all-readings: results of several interpretations of all-to-all, compared with the printed differences of
Bani-Mohammad.
"""

import polars as pl

from common import Page, quick, replay, row
from frames import read

TEXT = """\
# Interpretations of all-to-all (Bani-Mohammad, chapter 4)

The thesis states that "each processor allocated to a job sends a packet to all other processors", but neither the order nor
the times. This page evaluates the interpretations that the program supports, each with two mappings of ranks, at the highest
loads: turnaround and wait of GABL in percent of the other strategies, 10 replications of 1000 jobs, the same for all.

Printed at these loads: turnaround with uniform sides 20 % of First Fit, 24 % of Paging(0) and 38 % of MBS (Fig. 4.8), with
exponential sides 28 % of Paging(0) and 51 % of MBS (Fig. 4.9); wait with exponential sides 19, 27 and 50 % (Fig. 4.15).

| sides | parameters | ranks | turnaround: First Fit | Paging(0) | MBS | MBS on demand | wait: First Fit | Paging(0) | MBS | MBS on demand | utilization |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|"""
LEGEND = """
`order`: the order of receivers; `sends`: when the next packet leaves; `stream=job`: one queue for the job instead of one for
each process; `barrier`: where the job waits until all its packets are delivered. The suite uses
`order=lexicographic,sends=at-once,stream=process,barrier=none`."""
PARAMETERS = [
    "", "order=same", "order=shifted", "order=same,sends=pipelined", "order=shifted,sends=pipelined", "order=same,sends=sequential",
    "stream=job", "barrier=iteration", "order=shifted,sends=sequential,barrier=step",
]  # fmt: skip
OTHERS = {"first_fit": "first-fit", "paging": "paging", "mbs": "mbs", "mbs_on_demand": "mbs[splitting=on-demand]"}


def reading(page: Page, sides: str, load: str, parameters: str, mapping: str) -> dict[str, float]:
    """Returns turnaround and wait of GABL in percent of the other strategies, and the utilization."""
    pattern = f"all-to-all[{parameters}]" if parameters else "all-to-all"
    table = page.work / "all-to-all.csv"
    table.write_text(
        replay(
            f"stream --seed 1 --machine 16x16 --preset bani-mohammad --pattern {pattern} --mapping {mapping} --sides {sides} "
            f"--arrivals {load} --min-replications 10 --max-replications 10 "
            "--alloc gabl,mbs,mbs[splitting=on-demand],paging,first-fit --format csv --quiet"
        ).stdout,
        encoding="utf-8",
    )
    rows = {one["allocator"]: one for one in read(table).iter_rows(named=True)}
    gabl = rows["gabl"]
    percent = {
        f"{metric}_{other}": 100 * gabl[f"{metric}_time"] / rows[name][f"{metric}_time"]
        for metric in ("turnaround", "wait")
        for other, name in OTHERS.items()
    }
    return percent | {"utilization_percent": gabl["utilization_percent"]}


def write(page: Page) -> None:
    page.add(TEXT)
    rows = []
    for sides, load in [("uniform", "0.0305"), ("exponential", "0.05")][: 1 if quick() else None]:
        for parameters in PARAMETERS[: 1 if quick() else None]:
            for mapping in ("allocation", "row-major"):
                values = reading(page, sides, load, parameters, mapping)
                case = {"sides": sides, "parameters": parameters or None, "mapping": mapping}
                rows.append(case | {name: f"{value:.4f}" for name, value in values.items()})
                name = f"`{parameters}`" if parameters else "as in the suite"
                page.add(row(sides, name, mapping, *(f"{value:.0f}" for value in values.values())))
    pl.DataFrame(rows).write_csv(page.out / "all-to-all-readings.csv")
    page.add(LEGEND)
