"""The page turner: chapter 4 of Turner, free lists of subcubes."""

from common import Page, loads

TEXT = """\
# Free list and auxiliary free list (Turner, chapter 4)

The hypercube has ten dimensions, service is exponential, and times are in mean service times. Beyond saturation turnaround
grows with the number of jobs, here 1000. `replay verify turner` judges the statements of the text about these figures, and
Fig. 4.1."""
FIGURES = [
    ("4.2", "uniform[high=16,equal=yes]", "1..7:1"),
    ("4.3", "uniform[high=16]", "1..8:1"),
    ("4.4", "uniform[high=32,equal=yes]", "0.2..1.8:0.2"),
    ("4.5", "uniform[high=32]", "0.2..2:0.2"),
]
# Figures, largest small job, smallest large job.
INTERVALS = [
    ("4.6-4.7", 8, 9), ("4.8-4.9", 8, 17), ("4.10-4.11", 8, 20), ("4.12-4.13", 8, 25), ("4.14-4.15", 8, 28),
    ("4.16-4.17", 8, 30), ("4.18-4.19", 16, 17), ("4.20-4.21", 16, 20), ("4.22-4.23", 16, 25), ("4.24-4.25", 16, 28),
    ("4.26-4.27", 16, 30),
]  # fmt: skip


def write(page: Page) -> None:
    def stream(name: str, sides: str, load: str) -> None:
        usual = "--machine hypercube:10 --alloc cube-free-list,afl --precision 0.1 --max-replications 100"
        page.stream(f"turner-{name}", "turnaround utilization", f"{usual} --sides {sides} --arrivals {loads(load)}")

    page.add(TEXT)
    for figure, sides, load in FIGURES:
        page.add(f"\n## Fig. {figure}: {sides}")
        stream(figure, sides, load)
    for figure, small, large in INTERVALS:
        page.add(f"\n## Figs {figure}: small jobs up to {small}, large ones from {large} on")
        for share in (1, 3, 5, 7, 9):
            sides = f"intervals[sides=1-{small}:0.{share},{large}-32:0.{10 - share},choice=job]"
            stream(f"{small}-{large}-0.{share}", sides, "0.5..3.5:0.5")
