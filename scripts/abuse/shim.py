"""Calls to the system that fail, or at which the program dies.

By a library of ours (shim.c) that is loaded before the C library, and not by
`strace -e inject=`: it needs a C compiler but no right to trace processes, which containers
often lack; it counts the calls of all threads together, while strace counts by thread; it
knows which calls are about the folder under test; it can let a write write half; and a run
under it takes no longer than another. What it cannot see is a call that a program makes
without the C library. So where strace is there, too, it is asked whether there are such calls.
"""

import re
import shutil
import subprocess
from pathlib import Path

from campaign import Absent, Broken
from scenes import prepared

SOURCE = Path(__file__).with_name("shim.c")


def compiled(campaign):
    """The library; `Absent` if it cannot be had, or if the program does not heed it."""
    return campaign.once("shim", lambda: build(campaign))


def build(campaign):
    compiler = next((path for name in ("cc", "gcc", "clang") if (path := shutil.which(name))), None)
    if compiler is None:
        raise Absent("no C compiler (cc, gcc or clang), which injected failures need")
    library = campaign.work / "shim.so"
    command = [compiler, "-O1", "-shared", "-fPIC", "-o", str(library), str(SOURCE), "-ldl"]
    made = subprocess.run(command, capture_output=True, text=True)
    if made.returncode:
        raise Absent(f"{SOURCE.name} cannot be compiled: {(made.stderr.splitlines() or ['?'])[0]}")
    if not calls_of(campaign, library, "run", "fresh"):
        raise Absent("the program does not load libraries that are put before the C library (static?)")
    return library


class Call:
    """A call that changes a file."""

    def __init__(self, number, name, path):
        self.number, self.name, self.path = number, name, path

    def title(self):
        return f"{self.number:04}-{self.name}-{Path(self.path).name or 'home'}"


def environment(library, home, **more):
    return {"LD_PRELOAD": str(library), "ABUSE_UNDER": str(home)} | {
        f"ABUSE_{k}": str(v) for k, v in more.items()
    }


def calls_of(campaign, library, name, variant):
    """The calls of an undisturbed run of a scene, in order."""
    from campaign import Bench

    bench = Bench(campaign, f"(calls)/{name}/{variant}")
    scene = prepared(campaign, name)
    scene.lay(bench, variant)
    log = bench.place / "log"
    bench.replay(*scene.scene.new, codes=(0,), environment=environment(library, bench.home, LOG=log))
    lines = log.read_text().splitlines() if log.exists() else []
    bench.close()
    return [Call(number, *line.split("\t", 1)) for number, line in enumerate(lines, 1)]


def calls(campaign, name, variant):
    library = compiled(campaign)
    return campaign.once(f"calls {name} {variant}", lambda: calls_of(campaign, library, name, variant))


TRACED = "write,pwrite64,writev,rename,renameat,renameat2,unlink,unlinkat,mkdir,mkdirat,rmdir,fsync,fdatasync,ftruncate"


def nothing_passes_unseen(bench, name):
    """strace sees no more calls than the library does."""
    campaign, variant = bench.campaign, "over"
    scene = prepared(campaign, name)
    if not shutil.which("strace"):
        raise Absent("no strace")
    scene.lay(bench, variant)
    log, home = bench.place / "strace", str(bench.home)
    command = ["strace", "-f", "-qq", "-y", "-o", str(log), "-e", f"trace={TRACED}", campaign.program]
    done = subprocess.run(command + scene.scene.new, cwd=home, capture_output=True, env=bench.environment())
    if done.returncode or not log.exists():
        raise Absent("strace may not trace here")
    # A call that another thread has cut short is written in two parts; the first has the path.
    lines = [line for line in log.read_text(errors="replace").splitlines() if " resumed>" not in line]
    by_file = rf"(?:p?write\w*|f\w+)\(\d+<{re.escape(home)}"
    by_path = rf"(?:rename|unlink|mkdir|rmdir)\w*\(.*(?:{re.escape(home)}|\"(?!/))"
    pattern = re.compile(rf"^\d+ +(?:{by_file}|{by_path})")
    traced = sum(bool(pattern.match(line)) for line in lines)
    known = {"open", "copy_file_range", "sendfile64", "link", "symlink"}
    seen = sum(call.name not in known for call in calls(campaign, name, variant))
    if traced != seen:
        raise Broken(f"strace sees {traced} calls, the library {seen}: the campaign is blind to some")
