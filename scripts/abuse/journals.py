"""Journals that are cut or garbled."""

import re
import shutil

from campaign import DATA, DONE, USAGE, Bench, Broken, Section
from scenes import Generation, Scene, trace

# Few cells and few job sizes, because each byte of the journal is a case.
GRID = """
traces = ["tiny.swf"]
[[allocator]]
name = "mc1x1"
tie = ["none", "2,13,20,6"]
[[allocator]]
name = "random"
"""
FIRST_LINE = re.compile(rb"replay journal \d+\n")
SWEEP = "sweep grid.toml --threads 1 -q --out out".split()
SCENE = Scene("journal", "", "")


class Swept:
    """A finished sweep: its directory in the state after a kill, and its results."""

    def __init__(self, campaign):
        bench = Bench(campaign, "(preparation)/journal")
        bench.write("tiny.swf", trace(3, 5))
        bench.write("grid.toml", GRID)
        bench.replay(*SWEEP)
        self.results = Generation(SCENE, bench.home)
        for name in ["out/manifest.json", *self.results.files]:
            (bench.home / name).unlink()
        self.killed = bench.home
        self.journal = (self.killed / "out/journal.txt").read_bytes()
        header = FIRST_LINE.match(self.journal)
        if not header or self.journal.count(b"\n") < 4:
            raise Broken("the journal of the sweep has an unexpected form")
        self.header = header[0]


def swept(campaign):
    return campaign.once("swept", lambda: Swept(campaign))


def require_resume(bench, journal, sound=True):
    """Requires that the sweep resumes from this journal with the known results. If `sound` is false, it may instead fail
    without changing the journal."""
    state = swept(bench.campaign)
    shutil.copytree(state.killed, bench.home, dirs_exist_ok=True)
    path = bench.write("out/journal.txt", journal)
    if bench.replay(*SWEEP, codes=(DONE,) if sound else (DONE, USAGE, DATA)).code == DONE:
        bench.demand(Generation(SCENE, bench.home) == state.results, "the results differ from an undisturbed run")
    else:
        bench.demand(path.read_bytes() == journal, "rejected, but the journal was changed")
        bench.demand(not (bench.home / "out/manifest.json").exists(), "rejected, but there are results")


def journal_cut(campaign):
    """A journal truncated after each of its bytes: the sweep resumes and gives equal results."""
    text = swept(campaign).journal
    for length in range(len(text)):
        yield f"{length:05}", lambda bench, length=length: require_resume(bench, text[:length])


def journal_garbled(campaign):
    """A changed byte at each position of a journal; bytes, lines and blocks that are lost, doubled, swapped or zeroed."""
    for at in range(len(swept(campaign).journal)):
        yield f"flip-{at:05}", flipped(at)
    for number in range(40):
        for what in ("lose", "insert", "double", "zero", "swap", "crlf", "long", "mark"):
            yield f"{what}-{number:02}", damaged(what)


def flipped(at):
    def case(bench):
        state = swept(bench.campaign)
        text = bytearray(state.journal)
        text[at] ^= bench.random.randrange(1, 256)
        require_resume(bench, bytes(text), sound=at >= len(state.header))

    return case


def damaged(what):
    def case(bench):
        state, random = swept(bench.campaign), bench.random
        text = state.journal
        at = random.randrange(len(state.header), len(text))
        length = random.choice([1, 2, 16, 17, 64, 512, 1500])
        before, block, after = text[:at], text[at : at + length], text[at + length :]
        if what == "lose":
            text = before + after
        elif what == "insert":
            text = before + random.randbytes(length) + block + after
        elif what == "double":
            text = before + block + block + after
        elif what == "zero":
            text = before + bytes(len(block)) + after
        elif what == "swap":
            first, *lines = text.splitlines(keepends=True)
            lines *= 2
            random.shuffle(lines)
            text = first + b"".join(lines)
        elif what == "crlf":
            text = text.replace(b"\n", b"\r\n")
        elif what == "long":
            text = before + b"a" * 5_000_000 + block + after
        else:
            text = b"\xef\xbb\xbf" + text
        require_resume(bench, text, sound=what not in ("crlf", "mark"))

    return case


SECTIONS = [Section("journal-cut", journal_cut, 60), Section("journal-garbled", journal_garbled, 120)]
