"""Kills: at every call that changes a file, and at any time."""

import itertools
import signal

import shim
from campaign import section
from scenes import SCENES, VARIANTS, prepared


@section("kill-writes", quick=80, share=8)
def kill_writes(campaign):
    """Killed before, within and after every call that changes a file; then the same command again."""
    shim.compiled(campaign)
    for name, variant in itertools.product(SCENES, VARIANTS):
        for call in shim.calls(campaign, name, variant):
            for deed in ("kill", "torn"):
                yield f"{name}/{variant}/{call.title()}-{deed}", killed_at(name, variant, call, deed)


def killed_at(name, variant, call, deed):
    def case(bench):
        scene = prepared(bench.campaign, name)
        scene.lay(bench, variant)
        given = shim.environment(shim.compiled(bench.campaign), bench.home, AT=call.number, DO=deed)
        bench.replay(*scene.scene.new, environment=given, codes=(-signal.SIGKILL, 0))
        scene.check(bench.home, variant)
        scene.again(bench, variant)

    return case


@section("kill-random", quick=40, share=4, endless=True)
def kill_random(campaign):
    """Killed at any time, up to three times in a row; then the same command again."""
    for number in itertools.count():
        name = list(SCENES)[number % len(SCENES)]
        yield f"{name}/{number:05}", killed_somewhere(name)


def killed_somewhere(name):
    def case(bench):
        scene = prepared(bench.campaign, name)
        variant = bench.random.choice(VARIANTS)
        scene.lay(bench, variant)
        # Threads, so that records come in any order.
        words = " ".join(scene.scene.new).replace("--threads 1", "--threads 2").split(" ")
        for _ in range(bench.random.randrange(1, 4)):
            running = bench.start(*words)
            running.wait(bench.random.uniform(0, 1.2 * scene.seconds))
            running.send(signal.SIGKILL)
            bench.end(running, (-signal.SIGKILL, 0))
            scene.check(bench.home, variant)
        scene.again(bench, variant)

    return case
