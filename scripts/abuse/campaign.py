"""A campaign: sections of cases, which run in parallel, and the program under test."""

import concurrent.futures
import fnmatch
import os
import random
import shlex
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import traceback
from pathlib import Path

# See "Exit codes" in docs/src/stability.md.
DONE, USAGE, DATA, NO_SPACE, KILLED = 0, 2, 3, 4, -signal.SIGKILL
# Time limit of a run, which the patience of the campaign multiplies.
SECONDS = 20.0
# Number of failures of one section that are printed.
SHOWN = 5


class Broken(Exception):
    """A requirement is violated."""


class Absent(Exception):
    """A requirement of a case is missing on this system."""


class Section:
    """A group of cases. `cases(campaign)` yields pairs of a name and a function of a bench; its docstring is the
    description. `quick` is the number of cases of the quick form."""

    def __init__(self, name, cases, quick):
        self.name, self.cases, self.quick = name, cases, quick

    def about(self):
        return " ".join(self.cases.__doc__.split())


class Tally:
    """The results of the cases of a section."""

    def __init__(self, section):
        self.section, self.seconds = section, 0.0
        self.held, self.failed, self.skipped = 0, [], []
        # The reason if the whole section was skipped.
        self.absent = None

    def tried(self):
        return self.held + len(self.failed)

    def lines(self, campaign):
        """Yields a line with the counts, and lines about failures with the command that repeats them."""
        if self.absent:
            yield f"{self.section.name:<16} SKIPPED: {self.absent}"
            return
        skipped = f", {len(self.skipped)} skipped ({self.skipped[0]})" if self.skipped else ""
        yield (
            f"{self.section.name:<16} tried {self.tried():>6}, held {self.held:>6}, failed {len(self.failed):>5}"
            f"{skipped}, {self.seconds:.0f} s"
        )
        for name, why, commands in sorted(self.failed)[:SHOWN]:
            yield f"  FAILED {name}: {why.strip()}"
            for command in commands[-1:]:
                yield f"    last command: {command}"
            words = f"{shlex.quote(campaign.program)} --seed {campaign.seed} --keep --only {shlex.quote(name)}"
            yield f"    to repeat:    scripts/abuse.sh {words}"
        if len(self.failed) > SHOWN:
            yield f"  ... and {len(self.failed) - SHOWN} more"

    def row(self):
        skipped = f"all: {self.absent}" if self.absent else len(self.skipped)
        numbers = f"{self.tried():,} | {self.held:,} | {len(self.failed):,} | {skipped} | {self.seconds:.0f}"
        return f"| {self.section.name} | {numbers} | {self.section.about()} |\n"


class Running:
    """A running program, in its own session."""

    def __init__(self, command, home, environment):
        self.streams = [tempfile.TemporaryFile(), tempfile.TemporaryFile()]
        out, err = self.streams
        self.child = subprocess.Popen(
            command, cwd=home, env=environment, stdin=subprocess.DEVNULL, stdout=out, stderr=err, start_new_session=True
        )
        self.code = self.stdout = self.stderr = None

    def wait(self, seconds):
        """Waits for at most `seconds`; returns whether the program has ended."""
        try:
            self.child.wait(seconds)
        except subprocess.TimeoutExpired:
            return False
        return True

    def kill(self):
        """Kills the program and its children."""
        try:
            os.killpg(self.child.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.child.wait()

    def end(self, codes, patience):
        """Waits for the end, and checks what must hold for every run: an end in time, no panic, an expected exit
        code."""
        in_time = self.wait(SECONDS * patience)
        self.kill()
        if self.code is None:
            for stream in self.streams:
                stream.seek(0)
            self.stdout, self.stderr = (stream.read().decode("utf-8", "replace") for stream in self.streams)
            self.code = self.child.returncode
            for stream in self.streams:
                stream.close()
        if not in_time:
            raise Broken(f"still running after {SECONDS * patience:.0f} s")
        if "panicked" in self.stderr:
            raise Broken("panic: " + " ".join(self.stderr[self.stderr.index("panicked") :][:300].split()))
        if self.code not in codes:
            raise Broken(f"exit code {self.code}, not {' or '.join(map(str, codes))}: {self.last_line()}")
        return self

    def last_line(self):
        """Returns the last line on standard error."""
        return (self.stderr.strip().splitlines() or ["(nothing on standard error)"])[-1][:300]


class Bench:
    """A directory for one case, in which the program runs."""

    def __init__(self, campaign, name):
        self.campaign = campaign
        self.random = random.Random(f"{campaign.seed}/{name}")
        self.place = Path(tempfile.mkdtemp(prefix="case-", dir=campaign.work))
        self.home = self.place / "home"
        self.home.mkdir()
        self.commands, self.started = [], []

    def write(self, name, content):
        path = self.home / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def demand(self, holds, why):
        if not holds:
            raise Broken(why)

    def environment(self, extra):
        return {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "NO_COLOR": "1"} | extra

    def start(self, *words, environment=None, before=()):
        """Starts the program with the arguments `words`; `before` is a wrapper command."""
        command, extra = [*before, self.campaign.program, *map(str, words)], environment or {}
        shown = [f"{key}={shlex.quote(value)}" for key, value in extra.items()]
        self.commands.append(" ".join([*shown, shlex.join(command)]))
        self.started.append(Running(command, self.home, self.environment(extra)))
        return self.started[-1]

    def end(self, running, codes):
        return running.end(codes, self.campaign.patience)

    def replay(self, *words, codes=(DONE,), **rest):
        """Runs the program until it ends."""
        return self.end(self.start(*words, **rest), codes)

    def close(self):
        for running in self.started:
            running.kill()
        if not self.campaign.keep:
            shutil.rmtree(self.place, ignore_errors=True)


class Campaign:
    """Settings and shared state of a campaign."""

    def __init__(self, program, work, given):
        self.program, self.work = program, work
        self.seed, self.quick, self.only = given.seed, given.quick, given.only
        self.keep, self.patience, self.workers = given.keep, given.patience, given.workers
        # Values shared by cases, such as prepared scenes.
        self.shared, self.making = {}, threading.RLock()

    def once(self, name, make):
        """Returns the cached result of `make()`; an exception is cached too."""
        with self.making:
            if name not in self.shared:
                try:
                    self.shared[name] = (make(), None)
                except Exception as error:
                    self.shared[name] = (None, error)
            made, error = self.shared[name]
        if error is not None:
            raise error
        return made

    def run(self, section):
        """Runs the cases of a section, or some of them in the quick form."""
        tally, begin = Tally(section), time.monotonic()
        try:
            cases = [case for case in section.cases(self) if fnmatch.fnmatch(f"{section.name}/{case[0]}", self.only)]
            if self.quick and section.quick < len(cases):
                cases = random.Random(f"{self.seed}/{section.name}").sample(cases, section.quick)
            with concurrent.futures.ThreadPoolExecutor(self.workers) as pool:
                for _ in pool.map(lambda case: self.attempt(section, case, tally), cases):
                    pass
        except Absent as reason:
            tally.absent = str(reason)
        except Broken as reason:
            tally.failed.append((f"{section.name}/(preparation)", str(reason), []))
        tally.seconds = time.monotonic() - begin
        return tally

    def attempt(self, section, case, tally):
        name, test = f"{section.name}/{case[0]}", case[1]
        bench = Bench(self, name)
        try:
            test(bench)
            with self.making:
                tally.held += 1
        except Absent as reason:
            tally.skipped.append(str(reason))
        except Broken as reason:
            tally.failed.append((name, str(reason), bench.commands))
        except Exception:
            # An error in the campaign itself counts as a failure.
            tally.failed.append((name, "the case itself failed: " + traceback.format_exc(), bench.commands))
        finally:
            bench.close()
