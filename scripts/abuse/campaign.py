"""A campaign: sections of cases, run in parallel, counted and reported."""

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

from program import CODES, MARK, Absent, Bounds, Broken, Running, judged, relatives

SECTIONS = {}
# So many cases of an endless section are looked at for one that is wanted by name.
FAR = 1_000_000


class Section:
    """A kind of abuse. `cases(campaign)` gives pairs of a name and a function of a bench."""

    def __init__(self, name, about, cases, quick, share, endless, serial, first):
        self.name, self.about, self.cases = name, about, cases
        # Cases of the quick form (0: all), and whether these are the first ones or drawn; share
        # of the time of the full form.
        self.quick, self.first, self.share = quick, first, share
        # Whether there is always one more case; whether cases need the machine to themselves.
        self.endless, self.serial = endless, serial


def section(name, quick, share=1, endless=False, serial=False, first=False):
    """Makes a generator of cases a section; its docstring says what it is."""

    def declare(cases):
        about = " ".join((cases.__doc__ or "").split())
        SECTIONS[name] = Section(name, about, cases, quick, share, endless, serial, first)
        return cases

    return declare


class Tally:
    """What became of the cases of a section."""

    def __init__(self, name):
        self.name = name
        self.held, self.failed, self.skipped = 0, [], []
        # Why all of it was left out.
        self.absent = None
        self.seconds = 0.0
        # Cases that there was no time for.
        self.left = 0

    def tried(self):
        return self.held + len(self.failed)


class Bench:
    """A folder for one case, and the program in it."""

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
        """Starts the program with these words; `before`: a program that starts it."""
        command = [*before, self.campaign.program, *map(str, words)]
        extra = environment or {}
        shown = " ".join(f"{key}={shlex.quote(value)}" for key, value in extra.items())
        self.runs.append((shown + " " if shown else "") + shlex.join(command))
        running = Running(command, home or self.home, self.environment(extra), bounds or Bounds(), **streams)
        self.started.append(running)
        return running

    def end(self, running, codes=CODES):
        return judged(running, codes, self.campaign.patience)

    def replay(self, *words, codes=CODES, **rest):
        """Runs the program to its end."""
        return self.end(self.start(*words, **rest), codes)

    def stop(self, running, number, within=1.5, codes=None):
        """Sends a signal and demands that the program stops; gives the seconds it took."""
        begin = time.monotonic()
        running.send(number)
        stopped = running.wait(within * self.campaign.patience)
        seconds = time.monotonic() - begin
        if not stopped:
            late = running.wait(20)
            seconds = f"{time.monotonic() - begin:.1f} s" if late else "more than 20 s"
            raise Broken(f"it stops {seconds} after {signal.Signals(number).name}")
        self.end(running, codes or CODES + (130, -number))
        return seconds

    def alone(self):
        """Demands that no process is left of those that the program has started."""
        until = time.monotonic() + 1.5 * self.campaign.patience
        while (left := relatives(self.place.name)) and time.monotonic() < until:
            time.sleep(0.02)
        if left:
            raise Broken(f"processes go on after their program: {left[0][1]}, {len(left)} in all")

    def close(self):
        for running in self.started:
            running.kill()
        for pid, _ in relatives(self.place.name) if self.started else []:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        if not self.campaign.keep:
            shutil.rmtree(self.place, ignore_errors=True)


class Campaign:
    """Everything that sections need to know."""

    def __init__(self, program, work, seed=1, minutes=None, only=None, keep=False, patience=1.0, workers=2):
        self.program, self.work = program, work
        self.seed, self.minutes, self.only = seed, minutes, only
        self.keep, self.patience, self.workers = keep, patience, workers
        self.stopped = False
        # What sections share, such as prepared scenes.
        self.shared = {}
        self.lock, self.making = threading.Lock(), threading.RLock()

    def quick(self):
        return self.minutes is None

    def random(self, name):
        """A source of random numbers that depends on the seed and on this name alone."""
        return random.Random(f"{self.seed}/{name}")

    def once(self, name, make):
        """What `make` gives, made when it is first asked for; a failure is remembered."""
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
        """The cases of a section that are to be tried."""
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
            # Those for which there is no time are of all kinds.
            self.random(section.name).shuffle(cases)
        return cases[: section.quick or None] if self.quick() else cases

    def run(self, section, seconds):
        """Tries the cases of a section for so long at most, or all of the quick form."""
        tally, begin = Tally(section.name), time.monotonic()
        until = begin + seconds if seconds else None
        try:
            cases = iter(self.chosen(section))
            workers = 1 if section.serial else self.workers
            with concurrent.futures.ThreadPoolExecutor(workers) as pool:
                try:
                    jobs = [pool.submit(self.work_off, section, cases, until, tally) for _ in range(workers)]
                    for job in jobs:
                        job.result()
                except BaseException:
                    # The others end with the case at hand.
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

    def work_off(self, section, cases, until, tally):
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
            # What goes wrong in the campaign is no success either.
            tally.failed.append((name, "the case itself failed: " + traceback.format_exc(), bench.runs))
        finally:
            bench.close()
