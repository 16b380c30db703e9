"""The page fragmentation: Figs. 5 to 8 of Lo et al."""

from common import Page, loads

ALLOCATORS = "paging,paging[size=1],paging[size=2],paging[size=3],mbs,first-fit,best-fit,frame-sliding"


def write(page: Page) -> None:
    page.add("# Fragmentation (Lo et al., Figs. 5 to 8)")
    for sides in ("uniform", "exponential", "increasing", "decreasing"):
        page.add(f"\n## Sides {sides}")
        options = f"--machine 32x32 --sides {sides} --arrivals {loads('0.5..10:0.5')} --alloc {ALLOCATORS}"
        page.stream(f"lo-{sides}", "turnaround utilization", options)
