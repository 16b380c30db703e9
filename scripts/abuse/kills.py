"""Kills at every system call that changes a file, and at random times."""

import itertools
import signal

import calls
from campaign import Absent, section
from scenes import SCENES, VARIANTS, prepared


@section("kill-writes", quick=80, share=8)
def kill_writes(campaign):
    """Killed at every system call that changes a file and within every write; then the same command runs
    again."""
    calls.possible(campaign)
    for name, variant in itertools.product(SCENES, VARIANTS):
        for call in calls.calls(campaign, name, variant):
            # The state after a call equals the state before the next call; only writes have intermediate states.
            for deed in ("kill", "torn") if "write" in call.name else ("kill",):
                yield f"{name}/{variant}/{call.title()}-{deed}", killed_at(name, variant, call, deed)


def killed_at(name, variant, call, deed):
    def case(bench):
        scene = prepared(bench.campaign, name)
        scene.lay(bench, variant)
        spoiled = calls.spoiled(bench, AT=call.number, DO=deed)
        if bench.replay(*scene.scene.new, codes=(-signal.SIGKILL, 0), **spoiled).code == 0:
            raise Absent("the call did not occur: threads ran in another order")
        scene.check(bench.home, variant)
        scene.again(bench, variant)

    return case


@section("kill-random", quick=40, share=4, endless=True)
def kill_random(campaign):
    """The program is killed at random times, up to three times in a row; then the same command runs
    again."""
    for number in itertools.count():
        name = list(SCENES)[number % len(SCENES)]
        yield f"{name}/{number:05}", killed_somewhere(name)


def killed_somewhere(name):
    def case(bench):
        scene = prepared(bench.campaign, name)
        variant = bench.random.choice(VARIANTS)
        scene.lay(bench, variant)
        # Use several threads, so that the order of records varies.
        words = " ".join(scene.scene.new).replace("--threads 1", "--threads 2").split(" ")
        for _ in range(bench.random.randrange(1, 4)):
            running = bench.start(*words)
            running.wait(bench.random.uniform(0, 1.2 * scene.seconds))
            running.send(signal.SIGKILL)
            bench.end(running, (-signal.SIGKILL, 0))
            scene.check(bench.home, variant)
        scene.again(bench, variant)

    return case
