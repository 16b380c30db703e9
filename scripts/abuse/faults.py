"""Failing system calls."""

import itertools

import calls
from campaign import section
from scenes import SCENES, VARIANTS, prepared

# Fault at a call, whether the fault persists ("on"), and the required state afterwards: "whole" means complete results,
# either old or new; "unmoved" means the same new results as without the fault; "any" means any state that a kill may
# leave, because the program cannot clean up.
FAULTS = [
    ("ENOSPC", "", "whole"),
    ("ENOSPC", "on", "whole"),
    ("EIO", "", "whole"),
    ("EIO", "on", "any"),
    ("short", "", "unmoved"),
    ("EINTR", "", "unmoved"),
]


@section("faults", quick=110, share=16)
def faults(campaign):
    """Every system call that changes a file fails (no space, input/output error, interrupted, half
    written). Either only this call fails, or also all later calls."""
    calls.possible(campaign)
    for name, variant in itertools.product(SCENES, VARIANTS):
        for call in calls.calls(campaign, name, variant):
            for what, on, then in FAULTS:
                if what == "short" and "write" not in call.name:
                    continue
                if what == "EINTR" and not ("write" in call.name or call.name == "open"):
                    continue
                yield (
                    f"{name}/{variant}/{call.title()}-{what}{on}",
                    failing(name, variant, call, what, on, then),
                )


def failing(name, variant, call, what, on, then):
    def case(bench):
        scene = prepared(bench.campaign, name)
        scene.lay(bench, variant)
        before = "old" if variant == "over" else "none"
        spoiled = calls.spoiled(bench, AT=call.number, DO=what, ON=on)
        outcome = bench.replay(*scene.scene.new, codes=(0, 4 if what == "ENOSPC" else 2), **spoiled)
        if outcome.code == 0:
            expected = ("new",)
        else:
            bench.demand(then != "unmoved", f"{what} is not an error, but the program ends:  {outcome.words()}")
            bench.demand("replay: cannot " in outcome.stderr, f"no message: {outcome.words()}")
            expected = (before, "new") if then == "whole" else None
        scene.check(bench.home, variant, expected)
        scene.again(bench, variant)

    return case


# Maximum number of threads that start before the system refuses another thread.
MOST_THREADS = 12


@section("threads", quick=40, share=1)
def threads(campaign):
    """The system refuses to start more than N threads: an error or a slower run, but no panic."""
    calls.possible(campaign)
    more = {
        "plan": "plan grid.toml -q",
        "verify": "verify lo -q",
        "external": "search --trace tiny.swf -q --strategy external --time 1s --ask-command true",
        "loud": "sweep grid.toml --out loud",
    }
    for name, count in itertools.product([*SCENES, *more], range(MOST_THREADS)):
        words = more[name].split() if name in more else None
        yield f"{name}/{count}", refused(name, words, count)


def refused(name, words, count):
    def case(bench):
        scene = prepared(bench.campaign, name if words is None else "sweep")
        scene.lay(bench, "fresh")
        # Without --threads the program uses all processors.
        chosen = words or [word for word in scene.scene.new if word not in ("--threads", "1")]
        outcome = bench.replay(*chosen, codes=(0, 1, 2), **calls.spoiled(bench, THREADS=count))
        if words is None:
            scene.check(bench.home, "fresh", ("new",) if outcome.code == 0 else ("none", "new"))
            scene.again(bench, "fresh")

    return case
