"""The page chang-mohapatra: size reduction of jobs, Figs. 1 to 5 of Chang and Mohapatra."""

from common import Page, loads

TEXT = """\
# Size reduction (Chang, Mohapatra)

Five replications of 50,500 jobs without the first 500 completions, as in the paper. Load is the requested share of the machine;
a job that is not folded takes five time units on average. `replay verify chang-mohapatra` judges the statements of the paper
about these figures. Beyond saturation, turnaround grows with the number of jobs."""
LIMITS_TEXT = """
The paper compares schemes with equal maximum numbers of folds: RSR-7 with limit-0, RSR-2 with limit-5, RSR-1 with limit-6. In
each pair RSR is better at every load, with both distributions. It is not better than every limit: at a load of 0.7
limit-5 beats RSR-7, because RSR-7 folds a large job that arrives at a full machine up to seven times, and limit-5 only
twice.

## Fig. 5: turnaround by size at a load of 0.7"""
NORMAL_TEXT = """
## Normal service times

The experiments on the hypercube with service times from a normal distribution of mean 5 and standard deviation 2, truncated
at 0."""
RUNS = "--log --warm-up 500 --jobs 50500 --min-replications 5 --max-replications 5"
EXPONENTIAL = f"--service exponential[mean=5] {RUNS}"
NORMAL = f"--service normal[mean=5,sd=2] {RUNS}"
# Shares of the dimensions of subcubes by the last letter of a figure.
SHARES = {
    "a": ("uniform", "0.125,0.125,0.125,0.125,0.125,0.125,0.125,0.125"),
    "b": ("normal", "0.025,0.076,0.162,0.237,0.237,0.162,0.076,0.025"),
}
LIMITS = ",".join(
    f"rsr[t={times},inner=cube-buddy],limit[k={limit},inner=cube-buddy]" for times, limit in ((7, 0), (2, 5), (1, 6))
)


def folds(inner: str) -> str:
    return ",".join([inner, *(f"rsr[t={times},inner={inner}]" for times in (1, 2, 3, 5))])


def write(page: Page) -> None:
    def mesh(figure: str, sides: str, allocators: str) -> None:
        options = f"{EXPONENTIAL} --machine 32x32 --sides {sides} --load {loads('0.05,0.1..0.5:0.1')} --alloc {allocators}"
        page.stream(f"chang-mohapatra-{figure}", "turnaround", options)

    def cubes(service: str, heading: str, about: str, suffix: str, allocators: str, figure: str) -> None:
        for letter, (name, shares) in SHARES.items():
            page.add(f"\n{heading} {figure}{letter}: {about}, {name} dimensions")
            options = f"{service} --machine hypercube:8 --sides subcubes[shares={shares}] --load {loads('0.1..0.9:0.1')}"
            page.stream(f"chang-mohapatra-{figure}{letter}{suffix}", "turnaround", f"{options} --alloc {allocators}")

    def by_size(service: str, suffix: str) -> None:
        options = f"{service} --machine hypercube:8 --by-size --sides subcubes[shares={SHARES['a'][1]}] --load 0.7"
        page.stream(f"chang-mohapatra-5{suffix}", "turnaround-by-size--0.7", f"{options} --alloc {LIMITS}")

    buddy = folds("cube-buddy") + ",rsr[t=7,inner=cube-buddy]"
    page.add(TEXT)
    meshes = [("1a", "buddy", "uniform[equal=yes]"), ("1b", "frame-sliding", "uniform"), ("1c", "first-fit", "uniform")]
    for figure, inner, sides in meshes:
        page.add(f"\n## Fig. {figure}: {inner} on a 32 x 32 mesh")
        mesh(figure, sides, folds(inner))
    cubes(EXPONENTIAL, "## Fig.", "buddy on a hypercube of eight dimensions", "", buddy, "2")
    page.add("\n## Fig. 3: Frame Sliding with folds, First Fit without")
    sliding = "rsr[inner=frame-sliding],rsr[t=2,inner=frame-sliding],rsr[t=3,inner=frame-sliding]"
    mesh("3", "uniform", f"first-fit,frame-sliding,{sliding}")
    cubes(EXPONENTIAL, "## Fig.", "limits", "", LIMITS, "4")
    page.add(LIMITS_TEXT)
    by_size(EXPONENTIAL, "")
    page.add(NORMAL_TEXT)
    cubes(NORMAL, "### As Fig.", "buddy", "-normal", buddy, "2")
    cubes(NORMAL, "### As Fig.", "limits", "-normal", LIMITS, "4")
    page.add("\n### As Fig. 5: turnaround by size at a load of 0.7")
    by_size(NORMAL, "-normal")
