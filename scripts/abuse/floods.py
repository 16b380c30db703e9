"""Endless inputs, and external programs that do not end or do not read."""

import gzip
import os
import signal
import subprocess
import threading
import time

from campaign import Bounds, section
from journals import swept
from scenes import prepared, trace

# Memory limit in MiB and time limit in seconds for endless input.
LITTLE = 400
SECONDS = 15
ASK = '{"ask":[[1,1,1,1]]}'


@section("programs", quick=24, share=1)
def programs(campaign):
    """External search programs that flood, stop writing, do not read, do not end or leave child processes:
    --time and Ctrl-C end the search in time, memory stays small, and no process is left."""
    for name, script in SCRIPTS.items():
        yield f"time/{name}", timed(script)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            yield f"{number.name}/{name}", stopped(script, number)
    yield "killed", killed


SCRIPTS = {
    "yes": "yes",
    "asks": f"yes '{ASK}'",
    "zeros": "cat /dev/zero",
    "one-line": "tr '\\0' a </dev/zero",
    "one-number": "printf '{\"ask\":[['; tr '\\0' 1 </dev/zero",
    "brackets": "tr '\\0' '[' </dev/zero",
    "no-read": "while cat asks.json; do :; done",
    "no-read-once": "cat large.json; sleep 600",
    "silent": "sleep 600",
    "ignores-signals": "trap '' INT TERM HUP PIPE; while :; do sleep 1; done",
    "closed": "exec >&-; sleep 600",
    "closed-input": f"exec <&-; while echo '{ASK}'; do sleep 0.01; done",
    "children": f"(sleep 600)& (sleep 600)& echo '{ASK}'; exit 0",
    "many": "cat huge.json; cat",
    "errors": "yes error >&2",
    "slow-line": "while printf x; do sleep 0.01; done",
    "blank": "yes ''",
}


def searching(bench, script, *words):
    prepared(bench.campaign, "search").lay(bench, "fresh")
    bench.write("ask.sh", f"{script}\n")
    vectors = [[1 + i % 4, i % 7, i % 5, i // 7 % 9] for i in range(400)]
    ask = '{"ask":' + str(vectors).replace(" ", "") + "}\n"
    bench.write("asks.json", ask)
    bench.write("large.json", ask * 30)
    bench.write("huge.json", '{"ask":[' + ",".join(["[1,1,1,1]"] * 1_000_000) + "]}\n")
    return bench.start(
        "search", "--trace", "tiny.swf", "--strategy", "external", "--ask-command", "sh ask.sh", "--threads", "1",
        "--out", "out", *words, bounds=Bounds(SECONDS, LITTLE), stderr=subprocess.DEVNULL if "&2" in script else None,
    )  # fmt: skip


def timed(script):
    """Starts a search with --time 1s; the external program then has five seconds to end by itself."""

    def case(bench):
        running = searching(bench, script, "--time", "1s")
        bench.demand(running.wait((1 + 5 + 2) * bench.campaign.patience), "the search goes on beyond --time 1s")
        bench.end(running, (0, 2, 3))
        bench.require_no_processes()

    return case


def stopped(script, number):
    def case(bench):
        running = searching(bench, script)
        running.wait(1.0)
        if not running.ended():
            bench.stop(running, number)
        bench.end(running, (0, 2, 3, 130, -number))
        bench.require_no_processes()

    return case


def killed(bench):
    """An external program that reads its answers ends when the search is killed."""
    running = searching(bench, f"while echo '{ASK}'; do read answer || exit 0; done")
    running.wait(0.5)
    running.send(signal.SIGKILL)
    running.wait(5)
    running.code = running.code or -9
    bench.require_no_processes()


def endless(what):
    """Returns a function that writes data until the reading end is closed."""
    block = {"zeros": bytes(1 << 16), "line": b"a" * (1 << 16), "digits": b"1" * (1 << 16), "commas": b"," * (1 << 16),
             "comment": b"; " + b"x" * (1 << 16), "blank": b"\n" * (1 << 16), "invalid": b"\xff" * (1 << 16),
             "quote": b'"' + b"a" * (1 << 16), "lines": b"; a comment without content\n" * 2000}[what]  # fmt: skip

    def write(file):
        try:
            while True:
                os.write(file, block)
        except OSError:
            os.close(file)

    return write


HEADS = {
    "packets": b"id,src,dst,flits,inject_cycle\n",
    "shapes": b"job,w,h,d\n",
    "trace": b"; MaxProcs: 16\n1 0 0 5 2\n",
    "phases": b"phase,src_rank,dst_rank,packets\n",
    "matrix": b"0,1\n",
    "grid": b'traces = ["tiny.swf"]\n',
    "plan": b'{"shard": "1/1", "plan": ',
    "manifest": b'{"program": "replay", "files": ["',
}
WORDS = {
    "packets": "network --packets packets -q --machine 4x4",
    "shapes": "--trace tiny.swf -q --alloc first-fit",
    "trace": "--trace trace -q",
    "phases": "contend --trace tiny.swf -q --jobs 5 --scale 0.05 --alloc mbs --pattern phases[file=phases]",
    "matrix": "contend --trace tiny.swf -q --jobs 5 --scale 0.05 --alloc mbs --pattern matrix[file=matrix]",
    "grid": "plan grid -q --no-estimate",
    "journal": "sweep grid.toml -q --out out",
    "plan": "merge out -q --out merged",
    "manifest": "sweep grid.toml -q --out out",
}
PLACES = {
    "shapes": "tiny.shapes.csv",
    "journal": "out/journal.txt",
    "plan": "out/plan.json",
    "manifest": "out/manifest.json",
}


def head_of(campaign, name):
    """Returns the valid beginning of a file of this kind."""
    return swept(campaign).header if name == "journal" else HEADS[name]


@section("endless-input", quick=40, share=1)
def endless_input(campaign):
    """Endless files, pipes and standard input, with or without line breaks; sparse files of four
    gigabytes; archives that expand to much more: an error, little memory, bounded time."""
    for name in WORDS:
        for head in (True, False):
            yield f"sparse/{name}{'' if head else '-bare'}", sparse(name, head)
    for what in ("zeros", "line", "digits", "commas", "comment", "blank", "invalid", "quote", "lines"):
        for name in ("packets", "trace", "phases", "matrix", "grid"):
            yield f"pipe-{what}/{name}", piped(name, what)
        yield f"stdin-{what}/packets", standard_input(what)
    for what, text in BOMBS.items():
        yield f"gzip/{what}", bomb(text)
    for name in NAMES:
        yield f"long-name/{name}", long_name(name)


def write_inputs(bench):
    prepared(bench.campaign, "sweep").lay(bench, "fresh")


def bounded(bench, words, **rest):
    """Runs the program within the limits on time and memory, with any exit code."""
    return bench.replay(*words, bounds=Bounds(SECONDS, LITTLE), **rest)


def sparse(name, head):
    """A sparse file of four gigabytes."""

    def case(bench):
        write_inputs(bench)
        path = bench.write(PLACES.get(name, name), head_of(bench.campaign, name) if head else b"")
        os.truncate(path, 4 << 30)
        bounded(bench, WORDS[name].split())
        path.unlink()

    return case


def piped(name, what):
    """A FIFO with endless data. Endless valid input is ended by Ctrl-C; malformed input is an error."""

    def case(bench):
        write_inputs(bench)
        path = bench.home / PLACES.get(name, name)
        os.mkfifo(path)
        # Hold the FIFO open for reading, so that the writer does not block; the writer ends when
        # this descriptor is closed.
        read = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        file = os.open(path, os.O_WRONLY)
        os.write(file, head_of(bench.campaign, name))
        writer = threading.Thread(target=endless(what), args=(file,), daemon=True)
        running = bench.start(*WORDS[name].split(), bounds=Bounds(SECONDS, LITTLE))
        time.sleep(0.1)
        writer.start()
        try:
            interrupted(bench, running)
        finally:
            running.kill()
            os.close(read)

    return case


def interrupted(bench, running):
    """Requires that the program ends by itself or on Ctrl-C, and uses little memory."""
    if running.wait(3 * bench.campaign.patience):
        bench.end(running)
    else:
        bench.stop(running, signal.SIGINT, codes=(130, -signal.SIGINT, 2, 3))


def standard_input(what):
    def case(bench):
        write_inputs(bench)
        read, file = os.pipe()
        os.write(file, HEADS["packets"])
        running = bench.start("network", "--packets", "-", "-q", bounds=Bounds(SECONDS, LITTLE), stdin=read)
        os.close(read)
        threading.Thread(target=endless(what), args=(file,), daemon=True).start()
        interrupted(bench, running)

    return case


LARGE = 300 << 20
BOMBS = {
    "zeros": lambda: (bytes(1 << 20), LARGE >> 20),
    "blank": lambda: (b"\n" * (1 << 20), 64),
    "header": lambda: (b"; Note: one more line of the header that says nothing\n" * 20_000, 64),
    "preamble": lambda: (b"; Queue: 1 x\n; UserID: 1 y\n" * 40_000, 64),
    "one-line": lambda: (b"1 " * (1 << 19), LARGE >> 20),
    "bad-lines": lambda: (b"1 x\n" * (1 << 18), 16),
    "layers": None,
}


def bomb(text):
    def case(bench):
        path = bench.home / "bomb.swf.gz"
        if text is None:
            packed = gzip.compress(trace().encode())
            for _ in range(3):
                packed = gzip.compress(packed * 100)
            path.write_bytes(packed)
        else:
            block, times = text()
            with gzip.open(path, "wb", compresslevel=1) as file:
                file.write(b"; MaxProcs: 16\n1 0 0 5 2\n")
                for _ in range(times):
                    file.write(block)
        bounded(bench, ["--trace", "bomb.swf.gz", "-q", "--max-errors", "1000000000"])

    return case


LONG = 5_000_000
NAMES = {
    "allocator": lambda name: f'[[allocator]]\nname = "{name}"\n',
    "scheduler": lambda name: f'schedulers = ["{name}"]\n',
    "trace": lambda name: f'traces = ["{name}"]\n',
    "machine": lambda name: f'machines = ["{name}"]\n',
    "policy": lambda name: f'policies = ["{name}"]\n',
    "tie": lambda name: f'[[allocator]]\nname = "mm"\ntie = "{name}"\n',
    "key": lambda name: f'{name} = 1\n[[allocator]]\nname = "mm"\n',
    "parameter": lambda name: f'[[allocator]]\nname = "mm"\n{name} = 1\n',
    "value": lambda name: f'[[allocator]]\nname = "mm"\norder = "{name}"\n',
    "seed": lambda name: f'seeds = ["{name}"]\n',
}


def long_name(name):
    """A name of five megabytes is rejected quickly and not printed in full."""

    def case(bench):
        write_inputs(bench)
        bench.write("long.toml", NAMES[name]("e" * LONG))
        outcome = bounded(bench, ["plan", "long.toml", "-q"])
        bench.demand(outcome.code in (2, 3), f"exit code {outcome.code}")
        bench.demand(len(outcome.stderr) < 4000, f"a message of {len(outcome.stderr):,} bytes")

    return case
