"""The program under test: started with bounds, watched, judged by what it must never do."""

import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

# README, "Exit codes".
DONE, DIFFERS, USAGE, DATA, INTERRUPTED = 0, 1, 2, 3, 130
CODES = (DONE, DIFFERS, USAGE, DATA)
MEBIBYTE = 1 << 20
BASH = shutil.which("bash") or "/bin/bash"
# The variable by which processes that the program started are found again.
MARK = "ABUSE_CASE"


class Broken(Exception):
    """Something that must hold does not."""


class Absent(Exception):
    """What a case needs is not to be had here."""


class Bounds:
    """What a run may take. Seconds are multiplied by the patience of the campaign."""

    def __init__(self, seconds=20.0, mebibytes=1024, space=4096):
        self.seconds = seconds
        # Memory in use, which is measured, and addresses, which the system limits.
        self.mebibytes, self.space = mebibytes, space


class Running:
    """A program that was started, in a session of its own."""

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
        """Sends a signal to the program, not to what it started. True if it still ran."""
        if self.ended():
            return False
        os.kill(self.pid, number)
        return True

    def ended(self):
        if self.code is None:
            pid, status, usage = os.wait4(self.pid, os.WNOHANG)
            if pid:
                # The library must not wait for it once more.
                self.code = self.child.returncode = os.waitstatus_to_exitcode(status)
                self.usage = usage
        return self.code is not None

    def wait(self, seconds):
        """Whether it ends within this time."""
        until, pause = time.monotonic() + seconds, 0.001
        while not self.ended():
            if time.monotonic() > until:
                return False
            time.sleep(pause)
            pause = min(pause * 1.5, 0.02)
        return True

    def kill(self):
        """Ends it and its session."""
        try:
            os.killpg(self.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if not self.ended():
            self.child.kill()
            self.wait(10)

    def text(self, stream, most=MEBIBYTE):
        """What came on standard output (0) or error (1); its first and its last bytes."""
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
    """What a run gave."""

    def __init__(self, running):
        self.command = running.command
        self.code, self.seconds = running.code, running.seconds()
        self.mebibytes = running.usage.ru_maxrss / 1024
        self.stdout, self.stderr = running.text(0), running.text(1)
        for kept in running.kept:
            if kept is not None:
                kept.close()

    def words(self):
        """The last line on standard error, or what stands for it."""
        lines = [line for line in self.stderr.splitlines() if line.strip()]
        return lines[-1][:300] if lines else "(nothing on standard error)"


def judged(running, codes, patience):
    """Waits for a run and checks what holds of every run: no panic, a known exit code, and
    bounds of time and memory."""
    bounds = running.bounds
    in_time = running.wait(bounds.seconds * patience)
    running.kill()
    if running.outcome is None:
        running.outcome = Outcome(running)
    outcome = running.outcome
    if not in_time:
        raise Broken(f"it still runs after {bounds.seconds * patience:.0f} s")
    for word, what in (("panicked", "panic"), ("memory allocation of", "all memory taken")):
        if word in outcome.stderr:
            at = outcome.stderr.index(word)
            raise Broken(f"{what}: " + " ".join(outcome.stderr[max(0, at - 80) : at + 200].split()))
    if outcome.mebibytes > bounds.mebibytes:
        raise Broken(f"it took {outcome.mebibytes:.0f} MiB of memory, {bounds.mebibytes} are enough")
    if codes is not None and outcome.code not in codes:
        number = -outcome.code
        name = f"killed by {signal.Signals(number).name}" if number > 0 else f"exit code {outcome.code}"
        raise Broken(f"{name}, not {' or '.join(map(str, codes))}: {outcome.words()}")
    return outcome


def relatives(mark):
    """Processes, by id and name, that the program has started for a case and that go on."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit() or int(entry.name) == os.getpid():
            continue
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append((int(entry.name), (entry / "comm").read_text().strip()))
        except OSError:
            # It has ended, or is somebody else's.
            continue
    return found
