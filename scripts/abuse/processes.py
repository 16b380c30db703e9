"""Several writers in one directory."""

from campaign import DONE, KILLED, USAGE, Broken, Section
from scenes import SCENES, VARIANTS, prepared

# Number of cases for each scene.
CASES = 20


def two_writers(campaign):
    """Two to four processes at once in one directory, possibly with one process killed: each process succeeds or is
    rejected, and the results equal those of one process."""
    for number in range(CASES):
        for name in SCENES:
            yield f"{name}/{number:02}", concurrent(name)


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
            victim.child.kill()
        codes = [bench.end(run, (DONE, USAGE, KILLED) if run is victim else (DONE, USAGE)).code for run in runs]
        if DONE not in codes and not victim:
            raise Broken(f"none of {len(codes)} processes succeeded: exit codes {codes}")
        scene.check(bench.home, ("new",) if DONE in codes else None)
        scene.again(bench, variant)

    return case


SECTIONS = [Section("two-writers", two_writers, 30)]
