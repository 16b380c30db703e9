"""The page busy-lists: chapters 3 and 5 of Bani-Mohammad, streams of jobs on 3D meshes."""

from common import Page, loads, quick

FOUR = "turning-busy-list,turning-first-fit,busy-list,first-fit"
TWO = "turning-busy-list,busy-list"
MESHES = "8x8x8,10x10x10,12x12x12"
PARETO = "pareto[k=15,q=4241,alpha=1]"
TEXT = """\
# Busy lists, heavy tails (Bani-Mohammad, chapters 3 and 5)

Elementary operations are counted in the engines of the program: words of up to 64 processors for First Fit, subtractions of
boxes for busy lists. These are different kinds of operations, and the thesis timed neither; `engine=literal` counts operations of
the printed loops, and `replay verify bani-mohammad` compares the printed ratios with these counts."""
# Chapter, sides, arrivals, highest arrivals, other options, and the figures by heading.
STREAMS = [
    ("3", "uniform", "1,2.2,3.4,4.6,5.8", "5.8"),
    ("3", "exponential", "1..12.2:1.6", "12.2"),
    ("5", "uniform", "0.005..0.045:0.01,0.075,0.105", "0.045"),
    ("5", "exponential", "0.015..0.105:0.03,0.205", "0.205"),
]
HEADINGS = {
    "3": ("Exponential service, {} sides (Figs. 3.8 to 3.11, 3.16, 3.17)", "3.12 to 3.15", "3.18 to 3.21", "3.22, 3.23"),
    "5": ("Heavy tails, {} sides (Figs. 5.3 to 5.6, 5.11 to 5.14)", "5.7 to 5.10", "5.15 to 5.22", "5.23, 5.24"),
}


def write(page: Page) -> None:
    page.add(TEXT)
    for chapter, sides, load, top in STREAMS:
        heading, lengths, costs, sizes = HEADINGS[chapter]
        name = f"bani-{chapter}-{sides}"
        service = f"--service {PARETO} --sched fcfs,ssd " if chapter == "5" else ""
        precise = "--precision 0.1 " if chapter == "5" else ""

        def stream(suffix: str, figures: str, mesh: str, arrivals: str, allocators: str) -> None:
            options = f"--machine {mesh} --sides {sides} {service}--arrivals {arrivals} {precise}--alloc {allocators}"
            page.stream(name + suffix, figures, options)

        page.add(f"\n## {heading.format(sides)}")
        stream("", "turnaround utilization operations", "8x8x8", loads(load), FOUR)
        page.add(f"\n### Length of the busy list (Figs. {lengths})")
        stream("-m", "busy-list", MESHES, loads(load), TWO)
        if quick():
            continue
        page.add(f"\n### Cost of allocation on larger machines (Figs. {costs})")
        for mesh in ("10x10x10", "12x12x12"):
            stream(f"-cost-{mesh}", "operations", mesh, load, FOUR)
        page.add(f"\n### By size of the machine (Figs. {sizes})")
        stream("-size", "turnaround operations", MESHES, top, FOUR)
    if quick():
        return
    page.add("\n## Exponential service of mean 83 and heavy tails (Figs. 5.1, 5.2)")
    for service in ("exponential[mean=83]", PARETO):
        options = f"--machine 8x8x8 --sides uniform --service {service} --arrivals 0.005..0.045:0.01 --precision 0.1"
        page.stream(f"bani-5-mean-83-{service.split('[')[0]}", "turnaround utilization", f"{options} --alloc {FOUR}")
