"""System calls that are made to fail: enumerates them and configures supervisor.py."""

import re
import subprocess
import sys
from pathlib import Path

from campaign import Absent, Bench
from scenes import prepared

SUPERVISOR = [sys.executable, "-S", "-E", str(Path(__file__).with_name("supervisor.py"))]


class Call:
    """A system call that changes a file."""

    def __init__(self, number, name, path):
        # Temporary names contain the process id.
        path = re.sub(r"\.replay-\d+-\d+\.part$", ".part", path)
        self.number, self.name, self.path = number, name, path

    def title(self):
        return f"{self.number:04}-{self.name}-{Path(self.path).name or 'home'}"


def spoiled(bench, **how):
    """Returns arguments of `Bench.replay` for a run in which the supervisor interferes with a call."""
    given = {"ABUSE_UNDER": str(bench.home)} | {f"ABUSE_{key}": str(value) for key, value in how.items()}
    return {"environment": given, "before": SUPERVISOR}


def possible(campaign):
    """Raises `Absent` if the kernel does not support notifications about system calls."""

    def look():
        probe = subprocess.run([*SUPERVISOR, campaign.program, "-V"], capture_output=True, text=True)
        if probe.returncode:
            why = (probe.stderr.strip().splitlines() or ["Linux 5.6 is needed"])[-1]
            raise Absent(f"the kernel does not let a process answer calls of another (seccomp): {why}")
        return True

    return campaign.once("supervisor", look)


def calls_of(campaign, name, variant):
    bench = Bench(campaign, f"(calls)/{name}/{variant}")
    scene = prepared(campaign, name)
    scene.lay(bench, variant)
    log = bench.place / "log"
    bench.replay(*scene.scene.new, codes=(0,), **spoiled(bench, LOG=log))
    lines = log.read_text().splitlines()
    bench.close()
    return [Call(number, *line.split("\t", 1)) for number, line in enumerate(lines, 1)]


def calls(campaign, name, variant):
    """Returns the calls of an undisturbed run of a scene, in order."""
    possible(campaign)
    return campaign.once(f"calls {name} {variant}", lambda: calls_of(campaign, name, variant))
