"""Signals: the program stops within about a second and keeps finished results."""

import itertools
import os
import signal
import time

from campaign import Absent, Bounds, Broken, section
from scenes import SCENES, VARIANTS, Generation, prepared

NUMBERS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
# Commands that run for many seconds, with many cells or one long cell.
LONG = {
    "run": "--machine 40x40 --alloc random,mm --seed 0..199 -q --out out",
    "run-greedy": "--machine 16x16x16 --alloc mm[order=greedy] -q --out out",
    "run-threads": "--machine 16x16x16 --alloc mm[order=greedy],gen-alg[order=greedy] --threads 1 -q",
    "run-coupled": "--machine 100x100 --alloc first-fit,best-fit,adaptive-scan --seed 0..99 -q",
    "run-conservative": "--trace queue.swf --sched conservative --alloc random -q --out out",
    "run-easy": "--trace queue.swf --sched easy --alloc mm[order=greedy] -q",
    "sweep": "sweep --sr 1..9 --af 0..9 --wf 0..9 --bf 0..9 -q --out out",
    "sweep-greedy": "sweep --machine 16x16x16 --alloc mm[order=greedy] -q --out out",
    "plan": "plan --machine 16x16x16 --alloc mm[order=greedy] -q",
    "search": "search -q --out out",
    "search-greedy": "search --machine 16x16x16 --alloc mm[order=greedy] -q --out out",
    "search-local": "search --strategy local --evaluations 100000 -q --out out",
    "stream": "stream --machine 32x32 --arrivals 5 --jobs 1000 --precision 0.0001 -q --out out",
    "stream-one": "stream --machine 32x32 --arrivals 5 --jobs 3000000 --alloc mbs -q --out out",
    "stream-messages": "stream --machine 32x32 --arrivals 5 --jobs 1000 --pattern all-to-all --alloc mbs -q --out out",
    "stream-quota": "stream --machine 8x8 --jobs 10 --pattern n-body --quota fixed[packets=1000000000] --alloc mbs -q",
    "contend": "contend --scale 10 -q --out out",
    "contend-one": "contend --scale 1000 --jobs 50 --alloc mbs -q --out out",
    "network": "network --packets many.csv --machine 16x16 -q --channels channels.csv",
    "synth": "synth --jobs 10000000 --write made.swf",
    "synth-stream": "synth stream[machine=32x32,arrivals=1,jobs=9000000] --write made.swf",
    "verify": "verify lo --full -q",
}


def queue():
    """Returns a trace in which all jobs wait for the first job."""
    lines = ["; MaxProcs: 256", "1 0 0 90000000 256 -1 -1 256 90000000 -1 1 1 1 -1 -1 -1 -1 -1"]
    for number in range(2, 20_002):
        run, size = 100 + number * 7919 % 5000, 1 + number * 31 % 200
        lines.append(f"{number} {number} -1 {run} {size} -1 -1 {size} {2 * run} -1 1 1 1 -1 -1 -1 -1 -1")
    return "\n".join(lines) + "\n"


def many_packets():
    lines = ["id,src,dst,flits,inject_cycle"]
    lines += [f"{i},{i * 7 % 256},{(i * 13 + 5) % 256},{1 + i % 999},{i // 9}" for i in range(150_000)]
    return "\n".join(lines) + "\n"


@section("signals", quick=24, share=4, serial=True, first=True)
def signals(campaign):
    """SIGINT, SIGTERM and SIGHUP to long commands, immediately or after at most a few seconds: the commands
    stop within about a second and leave no process, and their files are complete."""
    for after, number, name in itertools.product((1.0, 0.0, 0.2, 2.5), NUMBERS, LONG):
        yield f"{name}/{number.name}-after-{after}", interrupted(name, number, after)


def interrupted(name, number, after):
    def case(bench):
        words = LONG[name].split()
        if "queue.swf" in words:
            bench.write("queue.swf", queue())
        if "many.csv" in words:
            bench.write("many.csv", many_packets())
        running = bench.start(*words, bounds=Bounds(60))
        running.wait(after + bench.random.uniform(0, 0.05))
        if running.ended():
            bench.end(running)
            raise Absent("the program ended before the signal")
        bench.stop(running, number)
        bench.require_no_processes()
        coherent(bench)

    return case


def coherent(bench):
    """Requires that the files listed in a manifest exist."""
    found = Generation(SCENES["run"], bench.home)
    missing = [name for name, value in found.files.items() if value == "missing"]
    if missing:
        raise Broken(f"the manifest lists missing files:  {missing[0]}")


@section("signals-random", quick=50, share=2, endless=True)
def signals_random(campaign):
    """The same signals to short commands at random times, once or twice; then the same command gives the
    results of an undisturbed run."""
    for number in itertools.count():
        name = list(SCENES)[number % len(SCENES)]
        yield f"{name}/{number:05}", anywhere(name)


def anywhere(name):
    def case(bench):
        scene, random = prepared(bench.campaign, name), bench.random
        variant = random.choice(VARIANTS)
        scene.lay(bench, variant)
        running = bench.start(*scene.scene.new)
        running.wait(random.uniform(0, 1.2 * scene.seconds))
        number = random.choice(NUMBERS)
        running.send(number)
        if random.random() < 0.3:
            running.wait(random.uniform(0, 0.02))
            running.send(number)
        outcome = bench.end(running, (0, 130, -number))
        if outcome.code == 130:
            # Only finished cells are written, so the results have fewer cells.
            coherent(bench)
        else:
            scene.check(bench.home, variant, ("new",) if outcome.code == 0 else None)
        scene.again(bench, variant)

    return case


@section("unread", quick=9, share=0.5, serial=True)
def unread(campaign):
    """Standard output is a full pipe: a second Ctrl-C ends the program. A pipe closed after a line is not
    an error."""
    for name, words in UNREAD.items():
        for number in NUMBERS:
            yield f"{name}/{number.name}", blocked(words, number)
        yield f"{name}/closed", closed(words)


UNREAD = {
    "run": "--alloc mm,random,mc1x1 --jobs 5 --seed 0..3000 -q --format json",
    "synth": "synth --jobs 200000",
    "sweep-plan": "plan --sr 1..9 --af 0..9 --wf 0..9 --bf 0..9 -q --no-estimate",
    "network": "network --packets many.csv --machine 16x16 -q",
    "search": "search --jobs 50 --sr 1..4 --factors 0..4 --top 100000 -q --format json",
}


def start_into_pipe(bench, words):
    if "many.csv" in words:
        bench.write("many.csv", many_packets())
    read, write = os.pipe()
    running = bench.start(*words.split(), stdout=write)
    os.close(write)
    return running, read


def blocked(words, number):
    def case(bench):
        running, read = start_into_pipe(bench, words)
        try:
            running.wait(2.0)
            if running.ended():
                raise Absent("the program ended before the signal")
            running.send(number)
            if not running.wait(0.5):
                bench.stop(running, number)
        finally:
            os.close(read)

    return case


def closed(words):
    def case(bench):
        running, read = start_into_pipe(bench, words)
        os.read(read, 100)
        time.sleep(0.05)
        os.close(read)
        bench.end(running, (0, -signal.SIGPIPE))

    return case
