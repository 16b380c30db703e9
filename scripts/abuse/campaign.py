"""A campaign: sections of cases, which run in parallel and are counted and reported."""

import concurrent.futures
import fnmatch
import itertools
import os
import random
import shlex
import shutil
import signal
import tempfile
import threading
import time
import traceback
from pathlib import Path

from program import CODES, MARK, Absent, Bounds, Broken, Running, checked_outcome, processes_of

SECTIONS = {}
# Maximum number of cases that are searched for a given case name in an endless section.
FAR = 1_000_000


class Section:
    """A group of cases. `cases(campaign)` yields pairs of a name and a function of a bench."""

    def __init__(self, name, about, cases, quick, share, endless, serial, first):
        self.name, self.about, self.cases = name, about, cases
        # quick: number of cases in the quick form (0: all). first: whether the quick form runs the first cases or random
        # cases. share: share of the total time that this section has in the full form.
        self.quick, self.first, self.share = quick, first, share
        # Whether the generator is endless, and whether cases need the machine to themselves.
        self.endless, self.serial = endless, serial


def section(name, quick, share=1, endless=False, serial=False, first=False):
    """Declares a generator of cases as a section; its docstring is the description in reports."""

    def declare(cases):
        about = " ".join((cases.__doc__ or "").split())
        SECTIONS[name] = Section(name, about, cases, quick, share, endless, serial, first)
        return cases

    return declare


class Tally:
    """The results of the cases of a section."""

    def __init__(self, name):
        self.name = name
        self.held, self.failed, self.skipped = 0, [], []
        # The reason if the whole section was skipped.
        self.absent = None
        self.seconds = 0.0
        # Number of cases not run for lack of time.
        self.left = 0

    def tried(self):
        return self.held + len(self.failed)


class Bench:
    """A directory for one case, in which the program runs."""

    def __init__(self, campaign, name):
        self.campaign, self.name = campaign, name
        self.random = random.Random(f"{campaign.seed}/{name}")
        self.place = Path(tempfile.mkdtemp(prefix="case-", dir=campaign.work))
        self.home = self.place / "home"
        self.home.mkdir()
        self.runs = []
        self.started = []

    def path(self, name):
        return self.home / name

    def write(self, name, content):
        path = self.path(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return path

    def demand(self, holds, why):
        if not holds:
            raise Broken(why)

    def environment(self, extra=None):
        mine = {"PATH": os.environ.get("PATH", "/usr/bin:/bin"), "NO_COLOR": "1", MARK: self.place.name}
        return mine | (extra or {})

    def start(self, *words, bounds=None, environment=None, home=None, before=(), **streams):
        """Starts the program with the arguments `words`; `before` is a wrapper command."""
        command = [*before, self.campaign.program, *map(str, words)]
        extra = environment or {}
        shown = " ".join(f"{key}={shlex.quote(value)}" for key, value in extra.items())
        self.runs.append((shown + " " if shown else "") + shlex.join(command))
        running = Running(command, home or self.home, self.environment(extra), bounds or Bounds(), **streams)
        self.started.append(running)
        return running

    def end(self, running, codes=CODES):
        return checked_outcome(running, codes, self.campaign.patience)

    def replay(self, *words, codes=CODES, **rest):
        """Runs the program until it ends."""
        return self.end(self.start(*words, **rest), codes)

    def stop(self, running, number, within=1.5, codes=None):
        """Sends a signal, requires that the program stops, and returns the seconds until it stopped."""
        begin = time.monotonic()
        running.send(number)
        stopped = running.wait(within * self.campaign.patience)
        seconds = time.monotonic() - begin
        if not stopped:
            late = running.wait(20)
            seconds = f"{time.monotonic() - begin:.1f} s" if late else "more than 20 s"
            raise Broken(f"the program stops {seconds} after {signal.Signals(number).name}")
        self.end(running, codes or CODES + (130, -number))
        return seconds

    def require_no_processes(self):
        """Requires that all processes started by the program have ended."""
        until = time.monotonic() + 1.5 * self.campaign.patience
        while (left := processes_of(self.place.name)) and time.monotonic() < until:
            time.sleep(0.02)
        if left:
            raise Broken(f"processes outlive the program:  {left[0][1]}, {len(left)} in all")

    def close(self):
        for running in self.started:
            running.kill()
        for pid, _ in processes_of(self.place.name) if self.started else []:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not self.campaign.keep:
            shutil.rmtree(self.place, ignore_errors=True)


class Campaign:
    """Settings and shared state of a campaign."""

    def __init__(self, program, work, seed=1, minutes=None, only=None, keep=False, patience=1.0, workers=2):
        self.program, self.work = program, work
        self.seed, self.minutes, self.only = seed, minutes, only
        self.keep, self.patience, self.workers = keep, patience, workers
        self.stopped = False
        # Values shared by sections, such as prepared scenes.
        self.shared = {}
        self.lock, self.making = threading.Lock(), threading.RLock()

    def quick(self):
        return self.minutes is None

    def random(self, name):
        """Returns a random number generator that depends only on the seed and on `name`."""
        return random.Random(f"{self.seed}/{name}")

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

    def chosen(self, section):
        """Returns the selected cases of a section."""
        cases = section.cases(self)
        if self.only:
            if section.endless:
                cases = itertools.islice(cases, FAR)
            wanted = (case for case in cases if fnmatch.fnmatch(f"{section.name}/{case[0]}", self.only))
            return list(wanted)
        if section.endless:
            return itertools.islice(cases, section.quick) if self.quick() else cases
        cases = list(cases)
        if not (section.first and self.quick()):
            # Shuffle the cases, so that a lack of time does not always exclude cases of the same kind.
            self.random(section.name).shuffle(cases)
        return cases[: section.quick or None] if self.quick() else cases

    def run(self, section, seconds):
        """Runs the cases of a section for at most `seconds`, or all cases of the quick form."""
        tally, begin = Tally(section.name), time.monotonic()
        until = begin + seconds if seconds else None
        try:
            cases = iter(self.chosen(section))
            workers = 1 if section.serial else self.workers
            with concurrent.futures.ThreadPoolExecutor(workers) as pool:
                try:
                    jobs = [pool.submit(self.run_cases, section, cases, until, tally) for _ in range(workers)]
                    for job in jobs:
                        job.result()
                except BaseException:
                    # The other workers end after their current case.
                    self.stopped = True
                    raise
            if not section.endless:
                tally.left = sum(1 for _ in cases)
        except Absent as reason:
            tally.absent = str(reason)
        except Broken as reason:
            tally.failed.append((f"{section.name}/(preparation)", str(reason), []))
        tally.seconds = time.monotonic() - begin
        return tally

    def run_cases(self, section, cases, until, tally):
        while not self.stopped and (until is None or time.monotonic() < until):
            with self.lock_of(section):
                case = next(cases, None)
            if case is None:
                return
            self.attempt(section, case, tally)

    def lock_of(self, section):
        with self.lock:
            return self.shared.setdefault(f"lock of {section.name}", threading.Lock())

    def attempt(self, section, case, tally):
        name, test = f"{section.name}/{case[0]}", case[1]
        bench = Bench(self, name)
        try:
            test(bench)
            with self.lock:
                tally.held += 1
        except Absent as reason:
            tally.skipped.append((name, str(reason)))
        except Broken as reason:
            tally.failed.append((name, str(reason), bench.runs))
        except Exception:
            # An error in the campaign itself counts as a failure.
            tally.failed.append((name, "the case itself failed: " + traceback.format_exc(), bench.runs))
        finally:
            bench.close()
