"""The program under test: starts it with limits and checks what must hold for every run."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

# See "Exit codes" in docs/src/stability.md.
DONE, DIFFERS, USAGE, DATA, NO_SPACE, INTERRUPTED = 0, 1, 2, 3, 4, 130
CODES = (DONE, DIFFERS, USAGE, DATA, NO_SPACE)
MEBIBYTE = 1 << 20
BASH = shutil.which("bash") or "/bin/bash"
# Environment variable that identifies the processes started by a case.
MARK = "ABUSE_CASE"


class Broken(Exception):
    """A requirement is violated."""


class Absent(Exception):
    """A requirement of a case is missing on this system."""


class Bounds:
    """Limits of a run. Seconds are multiplied by the patience of the campaign."""

    def __init__(self, seconds=20.0, mebibytes=1024, space=4096):
        self.seconds = seconds
        # Resident memory, which is measured, and address space, which the system limits, in MiB.
        self.mebibytes, self.space = mebibytes, space


class Running:
    """A running program, in its own session."""

    def __init__(self, command, home, environment, bounds, stdin=None, stdout=None, stderr=None):
        self.command, self.bounds = command, bounds
        self.begin = time.monotonic()
        self.kept = [tempfile.TemporaryFile() if given is None else None for given in (stdout, stderr)]
        limited = [BASH, "-c", f'ulimit -c 0; ulimit -v {bounds.space * 1024}; exec "$@"', "bash"]
        self.child = subprocess.Popen(
            limited + command,
            cwd=home,
            env=environment,
            stdin=subprocess.DEVNULL if stdin is None else stdin,
            stdout=self.kept[0] if stdout is None else stdout,
            stderr=self.kept[1] if stderr is None else stderr,
            start_new_session=True,
        )
        self.pid = self.child.pid
        self.code, self.usage, self.outcome = None, None, None

    def seconds(self):
        return time.monotonic() - self.begin

    def send(self, number):
        """Sends a signal to the program, not to its children. Returns whether it was still running."""
        if self.ended():
            return False
        os.kill(self.pid, number)
        return True

    def ended(self):
        if self.code is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                # Setting returncode prevents subprocess from waiting for the process again.
                self.code = self.child.returncode = os.waitstatus_to_exitcode(status)
                self.usage = usage
        return self.code is not None

    def wait(self, seconds):
        """Returns whether the program ends within `seconds`."""
        until, pause = time.monotonic() + seconds, 0.001
        while not self.ended():
            if time.monotonic() > until:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
        return True

    def kill(self):
        """Kills the program and its session."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if not self.ended():
            self.child.kill()
            self.wait(10)

    def text(self, stream, most=MEBIBYTE):
        """Returns the first and the last bytes of standard output (0) or standard error (1)."""
        kept = self.kept[stream]
        if kept is None:
            return ""
        kept.seek(0, os.SEEK_END)
        size = kept.tell()
        kept.seek(0)
        text = kept.read(most)
        if size > most:
            kept.seek(max(most, size - 4096))
            text += b"\n[...]\n" + kept.read()
        return text.decode("utf-8", "replace")


class Outcome:
    """The result of a run."""

    def __init__(self, running):
        self.command = running.command
        self.code, self.seconds = running.code, running.seconds()
        self.mebibytes = running.usage.ru_maxrss / 1024
        self.stdout, self.stderr = running.text(0), running.text(1)
        for kept in running.kept:
            if kept is not None:
                kept.close()

    def words(self):
        """Returns the last line of standard error, or that there is none."""
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        return lines[-1][:300] if lines else "(nothing on standard error)"


def checked_outcome(running, codes, patience):
    """Waits for a run and checks what must hold for every run: no panic, a known exit code, and limits on
    time and memory."""
    bounds = running.bounds
    in_time = running.wait(bounds.seconds * patience)
    running.kill()
    if running.outcome is None:
        running.outcome = Outcome(running)
    outcome = running.outcome
    if not in_time:
        raise Broken(f"still running after {bounds.seconds * patience:.0f} s")
    for word, what in (("panicked", "panic"), ("memory allocation of", "out of memory")):
        if word in outcome.stderr:
            at = outcome.stderr.index(word)
            raise Broken(f"{what}: " + " ".join(outcome.stderr[max(0, at - 80) : at + 200].split()))
    if outcome.mebibytes > bounds.mebibytes:
        raise Broken(f"{outcome.mebibytes:.0f} MiB of memory used, {bounds.mebibytes} allowed")
    if codes is not None and outcome.code not in codes:
        number = -outcome.code
        name = f"killed by {signal.Signals(number).name}" if number > 0 else f"exit code {outcome.code}"
        raise Broken(f"{name}, not {' or '.join(map(str, codes))}: {outcome.words()}")
    return outcome


def processes_of(mark):
    """Returns id and name of the running processes that were started by a case."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append((int(entry.name), (entry / "comm").read_text().strip()))
        except OSError:
            # The process has ended or belongs to another user.
            continue
    return found
