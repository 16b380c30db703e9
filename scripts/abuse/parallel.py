"""Several processes on one directory."""

import itertools
import signal

from campaign import Broken, section
from scenes import SCENES, VARIANTS, prepared


@section("together", quick=24, share=2, endless=True)
def together(campaign):
    """Two to four processes at once on one directory, possibly with one process killed: each process
    succeeds or is rejected, and the results equal those of one process."""
    for number in itertools.count():
        name = list(SCENES)[number % len(SCENES)]
        yield f"{name}/{number:05}", concurrent(name)


def concurrent(name):
    def case(bench):
        scene, random = prepared(bench.campaign, name), bench.random
        variant = random.choice(VARIANTS)
        scene.lay(bench, variant)
        runs = []
        for _ in range(random.randrange(2, 5)):
            runs.append(bench.start(*scene.scene.new))
            runs[-1].wait(random.choice([0, 0, random.uniform(0, scene.seconds)]))
        victim = random.choice(runs) if random.random() < 0.3 else None
        if victim:
            victim.send(signal.SIGKILL)
        codes = [bench.end(run, (0, 2, -9) if run is victim else (0, 2)).code for run in runs]
        if 0 not in codes and not victim:
            raise Broken(f"none of {len(codes)} processes succeeded: exit codes {codes}")
        scene.check(bench.home, variant, ("new",) if 0 in codes else None)
        scene.again(bench, variant)

    return case


@section("shards-together", quick=6, share=0.5, endless=True)
def shards_together(campaign):
    """Parallel shards in separate directories, some of them killed, and a merge while they run; finally
    the results equal those of one process."""
    for number in itertools.count():
        yield f"{number:05}", shards


def shards(bench):
    scene, random = prepared(bench.campaign, "sweep"), bench.random
    scene.lay(bench, "fresh")
    count = random.randrange(2, 5)
    folders = [f"part{i}" for i in range(1, count + 1)]
    parts = [f"sweep grid.toml -q --shard {i}/{count} --out part{i}".split() for i in range(1, count + 1)]
    runs = [bench.start(*words) for words in parts]
    early = bench.replay("merge", *folders, "-q", "--out", "early", codes=(0, 2, 3))
    for run in runs:
        if random.random() < 0.5:
            run.send(signal.SIGKILL)
    for run in runs:
        bench.end(run, (0, -9))
    for words in parts:
        bench.replay(*words, codes=(0,))
    bench.replay("merge", *folders, "-q", "--out", "out", codes=(0,))
    found = (bench.home / "out/runs.parquet").read_bytes()
    bench.replay("sweep", "grid.toml", "-q", "--out", "whole", codes=(0,))
    bench.demand(found == (bench.home / "whole/runs.parquet").read_bytes(), "the results differ from those of one process")
    if early.code == 0:
        bench.demand(
            found == (bench.home / "early/runs.parquet").read_bytes(), "an early merge gave other results"
        )
