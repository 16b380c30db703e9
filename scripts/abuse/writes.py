"""Kills at every system call that changes a file, full disks, and readers during every such call."""

import itertools
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

from campaign import DATA, DONE, KILLED, NO_SPACE, USAGE, Absent, Bench, Section
from scenes import SCENES, VARIANTS, prepared

SUPERVISOR = [sys.executable, "-S", "-E", str(Path(__file__).with_name("supervisor.py"))]


class Call:
    """A system call that changes a file."""

    def __init__(self, number, name, path):
        # Temporary names contain the process id.
        path = re.sub(r"\.replay-\d+-\d+\.part$", ".part", path)
        self.number, self.name = number, name
        self.title = f"{number:04}-{name}-{Path(path).name or 'home'}"


def supervised(bench, **how):
    """Returns arguments of `Bench.start` for a run in which the supervisor interferes with a call."""
    given = {"ABUSE_UNDER": str(bench.home)} | {f"ABUSE_{key}": str(value) for key, value in how.items()}
    return {"environment": given, "before": SUPERVISOR}


def require_supervisor(campaign):
    """Raises `Absent` if the kernel does not support notifications about system calls."""

    def look():
        probe = subprocess.run([*SUPERVISOR, campaign.program, "-V"], capture_output=True, text=True)
        if probe.returncode:
            why = (probe.stderr.strip().splitlines() or ["Linux 5.6 is needed"])[-1]
            raise Absent(f"the kernel does not let a process answer calls of another (seccomp): {why}")

    campaign.once("supervisor", look)


def calls(campaign, name, variant):
    """Returns the calls of an undisturbed run of a scene, in order."""

    def find():
        bench = Bench(campaign, f"(calls)/{name}/{variant}")
        scene, log = prepared(campaign, name), bench.place / "log"
        scene.lay(bench, variant)
        bench.replay(*scene.scene.new, **supervised(bench, LOG=log))
        lines = log.read_text().splitlines()
        bench.close()
        return [Call(number, *line.split("\t", 1)) for number, line in enumerate(lines, 1)]

    require_supervisor(campaign)
    return campaign.once(f"calls {name} {variant}", find)


def kill_writes(campaign):
    """Killed at every system call that changes a file and within every write; then the same command runs again."""
    require_supervisor(campaign)
    for name, variant in itertools.product(SCENES, VARIANTS):
        for call in calls(campaign, name, variant):
            # The state after a call equals the state before the next call; only writes have intermediate states.
            for deed in ("kill", "torn") if "write" in call.name else ("kill",):
                yield f"{name}/{variant}/{call.title}-{deed}", killed_at(name, variant, call, deed)


def killed_at(name, variant, call, deed):
    def case(bench):
        scene = prepared(bench.campaign, name)
        scene.lay(bench, variant)
        how = supervised(bench, AT=call.number, DO=deed)
        if bench.replay(*scene.scene.new, codes=(KILLED, DONE), **how).code == DONE:
            raise Absent("the call did not occur: threads ran in another order")
        scene.check(bench.home)
        scene.again(bench, variant)

    return case


# Error at a call, and whether later calls fail as well. The results are then the old or the new ones. If the disk keeps
# failing, they may also be absent, as after a kill.
FAULTS = [("ENOSPC", ""), ("ENOSPC", "on"), ("EIO", ""), ("EIO", "on")]


def full_disk(campaign):
    """No space at a system call that changes a file, or an input/output error, once or from there on; a file system of N
    pages or N files, or a read-only one. Then the same command runs again with enough space."""
    require_supervisor(campaign)
    for name, variant in itertools.product(SCENES, VARIANTS):
        for call, (error, on) in itertools.product(calls(campaign, name, variant), FAULTS):
            yield f"{name}/{variant}/{call.title}-{error}{on}", failing(name, variant, call, error, on)
    mount = mounting(campaign)
    for name in SCENES:
        scene = prepared(campaign, name)
        pages = sum(-(-path.stat().st_size // 4096) + 1 for path in scene.place.glob("home/**/*"))
        before = list(scene.kits["over"].glob("**/*"))
        start = sum(-(-path.stat().st_size // 4096) for path in before if path.is_file())
        for size in range(start, pages + 8):
            yield f"{name}/pages-{size}", filled(mount, name, size, 10000, "rw")
        for files in range(len(before) + 1, len(before) + 16):
            yield f"{name}/files-{files}", filled(mount, name, 16384, files, "rw")
        yield f"{name}/read-only", filled(mount, name, 16384, 10000, "ro")


def failing(name, variant, call, error, on):
    def case(bench):
        scene = prepared(bench.campaign, name)
        scene.lay(bench, variant)
        code = NO_SPACE if error == "ENOSPC" else USAGE
        how = supervised(bench, AT=call.number, DO=error, ON=on)
        ended = bench.replay(*scene.scene.new, codes=(DONE, code), **how)
        expected = ("new",)
        if ended.code:
            bench.demand("replay: cannot " in ended.stderr, f"no message: {ended.last_line()}")
            expected = None if (error, on) == ("EIO", "on") else ("old" if variant == "over" else "none", "new")
        scene.check(bench.home, expected)
        scene.again(bench, variant)

    return case


# Mounted in a separate namespace that ends with the shell, so no mount is left behind. The directory is copied out
# because it is visible only there.
SCRIPT = """
set -e
mount -t tmpfs -o size=$SIZE,nr_inodes=$FILES tmpfs "$HOME_OF_CASE"
cp -a "$KIT/." "$HOME_OF_CASE/" 2>/dev/null || exit 99
cd "$HOME_OF_CASE"
mount -o "remount,$MODE" "$HOME_OF_CASE"
set +e
"$@" >"$PLACE/stdout" 2>"$PLACE/stderr"
echo $? >"$PLACE/code"
set -e
cp -a . "$PLACE/after"
mount -o remount,rw,size=64m,nr_inodes=10000 "$HOME_OF_CASE"
set +e
"$@" >/dev/null 2>"$PLACE/stderr-again"
echo $? >"$PLACE/code-again"
set -e
cp -a . "$PLACE/again"
"""


def mounting(campaign):
    """Returns the command that runs a program in its own mount namespace. Raises `Absent` if mounting is not permitted."""

    def find():
        for command in (["unshare", "-m"], ["unshare", "-Urm"]):
            probe = command + ["mount", "-t", "tmpfs", "tmpfs", "/mnt"]
            if shutil.which("unshare") and subprocess.run(probe, capture_output=True).returncode == 0:
                return command
        raise Absent("small file systems need unshare (util-linux) and the right to mount")

    return campaign.once("mounting", find)


def filled(mount, name, pages, files, mode):
    def case(bench):
        scene = prepared(bench.campaign, name)
        given = {"SIZE": str(4096 * pages), "FILES": str(files), "MODE": mode, "KIT": str(scene.kits["over"])}
        given |= {"HOME_OF_CASE": str(bench.home), "PLACE": str(bench.place)}
        command = mount + ["sh", "-c", SCRIPT, "sh", bench.campaign.program, *scene.scene.new]
        bench.commands.append(f"on a tmpfs of {4096 * pages} bytes, {files} files, {mode}: {' '.join(scene.scene.new)}")
        done = subprocess.run(command, capture_output=True, text=True, env=bench.environment(given))
        if done.returncode == 99:
            raise Absent("the file system is too small for the inputs")
        bench.demand(done.returncode == 0, f"the campaign's script failed: {done.stderr.strip()}")
        read = lambda file: (bench.place / file).read_text(errors="replace")
        code, errors = int(read("code")), read("stderr")
        bench.demand("panicked" not in errors, f"panic: {errors[-300:]}")
        bench.demand(code in (DONE, USAGE if mode == "ro" else NO_SPACE), f"exit code {code}: {errors[-300:]}")
        scene.check(bench.place / "after", ("new",) if code == DONE else ("old",))
        bench.demand(read("code-again") == "0\n", "with enough space: " + read("stderr-again").strip()[-300:])
        scene.same(bench.place / "again", "over")

    return case


# A command that reads all tables, and the commands that write them.
READER = "compare out --row strategy --col scheduler -q".split()
READ = ("run", "sweep", "merge")


def reader(campaign):
    """A reader while a command that replaces results waits at each of its calls: the reader prints what it prints for
    the old or the new results, or reports that the results are being replaced."""
    require_supervisor(campaign)
    for name in READ:
        for call in calls(campaign, name, "over"):
            yield f"{name}/{call.title}", reading_at(name, call)


def reading_at(name, call):
    def case(bench):
        scene = prepared(bench.campaign, name)
        scene.lay(bench, "over")
        old = bench.replay(*READER).stdout
        held = bench.place / "held"
        writer = bench.start(*scene.scene.new, **supervised(bench, AT=call.number, DO="hold", HELD=held))
        while not held.exists() and not writer.wait(0.01):
            pass
        during = bench.replay(*READER, codes=(DONE, DATA))
        held.unlink(missing_ok=True)
        bench.end(writer, (DONE,))
        scene.check(bench.home, ("new",))
        new = bench.replay(*READER).stdout
        bench.demand(old != new, "the reader prints the same for the old and the new results")
        if during.code:
            why = f"the reader fails: {during.last_line()}"
            bench.demand("results are being replaced" in during.stderr and not during.stdout, why)
        else:
            bench.demand(during.stdout in (old, new), "the reader prints neither the old nor the new results")

    return case


SECTIONS = [
    Section("kill-writes", kill_writes, 100),
    Section("full-disk", full_disk, 150),
    Section("reader", reader, 40),
]
