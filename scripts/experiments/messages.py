"""The page messages: chapter 4 of Bani-Mohammad, streams of jobs that send messages."""

from common import Page, loads, quick

LONG = "bani-4-one-to-all-uniform.csv"
FOUR = "gabl,mbs,paging,first-fit"
# Pattern, sides, arrivals, highest arrivals.
STREAMS = [
    ("one-to-all", "uniform", "0.0025..0.0205:0.003", "0.0205"),
    ("one-to-all", "exponential", "0.005..0.04:0.005", "0.04"),
    ("all-to-all", "uniform", "0.0035..0.0305:0.0045", "0.0305"),
    ("all-to-all", "exponential", "0.005..0.05:0.0075", "0.05"),
    ("random", "uniform", "0.01..0.07:0.01", "0.07"),
    ("random", "exponential", "0.01..0.1:0.015", "0.1"),
]


def write(page: Page) -> None:
    page.add("# Messages (Bani-Mohammad, chapter 4)")
    for pattern, sides, load, top in STREAMS:
        name = f"bani-4-{pattern}-{sides}"
        jobs = f"--sides {sides} --pattern {pattern} --preset bani-mohammad --precision 0.1"
        page.add(f"\n## {pattern}, {sides} sides (Figs. 4.6 to 4.27)")
        figures = "turnaround wait utilization contiguous blocks"
        page.stream(name, figures, f"--machine 16x16 {jobs} --arrivals {loads(load)} --alloc {FOUR}")
        page.add("\n### GABL: busy list and searches (Figs. 4.28 to 4.39)")
        options = f"--machine 16x16,20x20,24x24 {jobs} --arrivals {loads(load)} --alloc gabl"
        page.stream(f"{name}-m", "busy-list searches", options)
        if quick():
            continue
        page.add("\n### By size of the machine (Figs. 4.40 to 4.45)")
        options = f"--machine 16x16,32x32,64x64 {jobs} --arrivals {top} --alloc {FOUR}"
        page.stream(f"{name}-size", "turnaround", options)
        page.add("\n### Packets of 64 flits (Figs. 4.46 to 4.51)")
        options = f"--machine 16x16 {jobs} --flits 64 --arrivals {load} --alloc {FOUR}"
        page.stream(f"{name}-64", "turnaround", options)
