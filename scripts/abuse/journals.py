"""Damaged journals, plans and manifests: truncated, corrupted, foreign, or wrong with a correct checksum."""

import itertools
import json
import re
import shutil

import blake3
from campaign import Bench, Broken, section
from scenes import Generation, Scene, digest, trace

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
        bench.replay(*SWEEP, codes=(0,))
        self.results = Generation(SCENE, bench.home)
        self.whole = bench.place / "whole"
        shutil.copytree(bench.home, self.whole)
        for name in ["manifest.json", *(name.removeprefix("out/") for name in self.results.files)]:
            (bench.home / "out" / name).unlink()
        self.killed = bench.home
        self.journal = (self.killed / "out/journal.txt").read_bytes()
        self.records = self.journal.count(b"\n") - 1
        header = FIRST_LINE.match(self.journal)
        if not header or self.records < 3:
            raise Broken("the journal of the sweep has an unexpected form")
        self.header = header[0]


def swept(campaign):
    return campaign.once("swept", lambda: Swept(campaign))


def record(body):
    """Returns a line of a journal with the correct checksum."""
    return blake3.digest(body)[:16].encode() + b" " + body + b"\n"


def require_resume(bench, journal, sound=True):
    """Requires that the sweep resumes from this journal with the known results. If `sound` is false, it
    may instead fail without changing the journal."""
    state = swept(bench.campaign)
    shutil.copytree(state.killed, bench.home, dirs_exist_ok=True)
    path = bench.write("out/journal.txt", journal)
    outcome = bench.replay(*SWEEP, codes=(0,) if sound else (0, 2, 3))
    if outcome.code:
        bench.demand(path.read_bytes() == journal, "rejected, but the journal was changed")
        bench.demand(not (bench.home / "out/manifest.json").exists(), "rejected, but there are results")
    else:
        bench.demand(Generation(SCENE, bench.home) == state.results, "the results differ from an undisturbed run")


@section("journal-cut", quick=60, share=3)
def journal_cut(campaign):
    """A journal truncated after each of its bytes: the sweep resumes and gives equal results."""
    text = swept(campaign).journal
    for length in range(len(text)):
        yield f"{length:05}", lambda bench, length=length: require_resume(bench, text[:length])


@section("journal-garbled", quick=120, share=3)
def journal_garbled(campaign):
    """A changed byte at each position of a journal; bytes, lines and blocks that are lost, doubled, swapped
    or zeroed."""
    text = swept(campaign).journal
    for at in range(len(text)):
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
        lines = text.splitlines(keepends=True)
        if what == "lose":
            text = text[:at] + text[at + length :]
        elif what == "insert":
            text = text[:at] + random.randbytes(length) + text[at:]
        elif what == "double":
            text = text[: at + length] + text[at:]
        elif what == "zero":
            text = text[:at] + bytes(len(text[at : at + length])) + text[at + length :]
        elif what == "swap":
            order = lines[1:] * 2
            random.shuffle(order)
            text = lines[0] + b"".join(order)
        elif what == "crlf":
            text = text.replace(b"\n", b"\r\n")
        elif what == "long":
            text = text[:at] + b"a" * 5_000_000 + text[at:]
        else:
            text = b"\xef\xbb\xbf" + text
        require_resume(bench, text, sound=what not in ("crlf", "mark"))

    return case


def with_wrong_part(random, value):
    """Returns a copy of a JSON value with one wrong part."""
    odd = [None, -1, 0, 1e308, 1 << 64, 0.5, "", "x" * 9, [], {}, True, "\0", "1/0", [None], -(1 << 63)]
    if isinstance(value, dict) and value and random.random() < 0.8:
        key = random.choice(list(value))
        changed = dict(value)
        if random.random() < 0.15:
            del changed[key]
        else:
            changed[key] = with_wrong_part(random, value[key])
        return changed
    if isinstance(value, list) and value and random.random() < 0.8:
        at = random.randrange(len(value))
        kind = random.random()
        if kind < 0.15:
            return value[:at] + value[at + 1 :]
        if kind < 0.25:
            return value * 2
        return value[:at] + [with_wrong_part(random, value[at])] + value[at + 1 :]
    return random.choice(odd)


@section("journal-wrong", quick=50, share=2, endless=True)
def journal_wrong(campaign):
    """Records with a correct checksum and wrong content; plans and manifests with wrong values, truncated
    or corrupted: rejected or read, but no panic and no loss."""
    for number in itertools.count():
        kind = ("record", "plan", "manifest", "merge")[number % 4]
        yield (
            f"{kind}-{number:05}",
            {"record": wrong_record, "plan": wrong_plan, "manifest": wrong_manifest, "merge": wrong_merge}[
                kind
            ],
        )


def wrong_record(bench):
    state, random = swept(bench.campaign), bench.random
    lines = state.journal.splitlines(keepends=True)
    at = random.randrange(1, len(lines))
    _, cell, what, content = lines[at].rstrip(b"\n").split(b" ", 3)
    how = random.randrange(4)
    if how == 0:
        content = content[: random.randrange(len(content))]
    elif how == 1:
        what = random.choice([b"failed", b"", b"DONE", b"done done"])
    elif how == 2:
        cell = random.choice([b"", b"0" * 32, b"f" * 33, cell.upper(), cell[:-1]])
    else:
        content = json.dumps(with_wrong_part(random, json.loads(content))).encode()
    lines[at] = record(b" ".join((cell, what, content)))
    shutil.copytree(state.killed, bench.home, dirs_exist_ok=True)
    path = bench.write("out/journal.txt", b"".join(lines))
    before = path.read_bytes()
    bench.replay(*SWEEP, codes=(0, 1, 2, 3))
    bench.demand(path.read_bytes().startswith(before), "earlier records were lost")


def garbled(random, text):
    """Returns JSON text that is truncated, corrupted, or has a wrong part."""
    how = random.randrange(3)
    if how == 0:
        return text[: random.randrange(len(text))]
    if how == 1:
        at = random.randrange(len(text))
        return text[:at] + bytes([random.randrange(256)]) + text[at + 1 :]
    return json.dumps(with_wrong_part(random, json.loads(text))).encode()


def wrong_plan(bench):
    """The command line determines the plan; the plan file in the directory is damaged."""
    state = swept(bench.campaign)
    shutil.copytree(state.killed, bench.home, dirs_exist_ok=True)
    plan = garbled(bench.random, (state.killed / "out/plan.json").read_bytes())
    path = bench.write("out/plan.json", plan)
    before = digest(bench.home / "out/journal.txt")
    outcome = bench.replay(*SWEEP, codes=(0, 2, 3))
    if outcome.code == 0:
        bench.demand(Generation(SCENE, bench.home) == state.results, "the results differ from an undisturbed run")
    else:
        bench.demand(path.read_bytes() == plan, "rejected, but the plan was changed")
        bench.demand(digest(bench.home / "out/journal.txt") == before, "rejected, but the journal was changed")


def wrong_manifest(bench):
    """With a damaged manifest, files that are not results stay unchanged."""
    state = swept(bench.campaign)
    shutil.copytree(state.whole, bench.home, dirs_exist_ok=True)
    bench.write("out/mine.txt", "mine")
    path = bench.home / "out/manifest.json"
    manifest = garbled(bench.random, path.read_bytes())
    path.write_bytes(manifest)
    outcome = bench.replay(*SWEEP, codes=(0, 2, 3))
    if outcome.code == 0:
        bench.demand(Generation(SCENE, bench.home) == state.results, "the results differ from an undisturbed run")
    else:
        bench.demand(path.read_bytes() == manifest, "rejected, but the manifest was changed")
    bench.demand((bench.home / "out/mine.txt").read_text() == "mine", "a file of the user was changed")


def wrong_merge(bench):
    """A merge of a directory with a damaged plan or journal."""
    state, random = swept(bench.campaign), bench.random
    shutil.copytree(state.whole, bench.home, dirs_exist_ok=True)
    name = random.choice(["plan.json", "journal.txt"])
    path = bench.home / "out" / name
    text = path.read_bytes()
    path.write_bytes(garbled(random, text) if name == "plan.json" else text[: random.randrange(len(text))])
    before = digest(path)
    outcome = bench.replay("merge", "out", "--out", "merged", "-q", codes=(0, 2, 3))
    bench.demand(digest(path) == before, f"merge changed {name}")
    if outcome.code:
        bench.demand(not (bench.home / "merged/manifest.json").exists(), "rejected, but there are results")


@section("merge-order", quick=0, share=0.2)
def merge_order(campaign):
    """A cell that failed in one directory and finished in another counts as finished, in any order of the
    directories; a cell with two different results is an error."""
    for order in ("done-first", "failed-first"):
        yield f"failed-and-done/{order}", failed_and_done(order)
        yield f"two-results/{order}", two_results(order)


def two_folders(bench):
    state = swept(bench.campaign)
    for name in ("one", "two"):
        shutil.copytree(state.killed / "out", bench.home / name)
    lines = state.journal.splitlines(keepends=True)
    return state, lines, lines[2].rstrip(b"\n").split(b" ", 3)


def merged(bench, order, codes):
    folders = ["one", "two"] if order == "done-first" else ["two", "one"]
    return bench.replay("merge", *folders, "--out", "merged", "-q", codes=codes)


def failed_and_done(order):
    def case(bench):
        state, lines, (_, cell, _, _) = two_folders(bench)
        lines[2] = record(cell + b' failed "made to fail"')
        bench.write("two/journal.txt", b"".join(lines))
        merged(bench, order, (0,))
        for name, known in state.results.files.items():
            bench.demand(
                digest(bench.home / "merged" / name.removeprefix("out/")) == known, f"{name} differs"
            )

    return case


def two_results(order):
    def case(bench):
        _, lines, (_, cell, what, content) = two_folders(bench)
        result = json.loads(content)
        result["metrics"]["schedule"]["mean_wait"] += 1.5
        lines[2] = record(b" ".join((cell, what, json.dumps(result, separators=(",", ":")).encode())))
        bench.write("two/journal.txt", b"".join(lines))
        merged(bench, order, (3,))
        bench.demand(not (bench.home / "merged/manifest.json").exists(), "rejected, but there are results")

    return case
