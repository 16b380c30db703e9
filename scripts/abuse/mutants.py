"""Nearly valid inputs: a seeded mutator for every kind of file and name."""

import itertools
import signal
import string

from campaign import Bounds, section
from inputs import ALLOCATORS, FILES, NAMES, SCHEDULERS
from scenes import packets, trace

ODD_NUMBERS = (
    """
-1 0 1 65535 65536 4294967295 4294967296 9223372036854775807 -9223372036854775808 18446744073709551616
1e308 -1e308 1e-320 nan inf -inf 0.5 1e3 0x10 +5 1_000 007 1.. ..3 9..1 1..1000000000 0..1:0 0..1:1e-12
none auto
""".split()
    + ["", " ", "9" * 400]
)
ODD_BYTES = [b"\0", b"\xff", b"\xef\xbb\xbf", b"\r\n", b"\n\n", b"\t", b" ", b"%s", b"..", b"/../"]
ODD_BYTES += [bytes([byte]) for byte in b';,[]="\\#-:@xe.']
# Non-ASCII text, and a character that reverses the direction of writing.
ODD_BYTES += [text.encode() for text in ("é", "日本", "\u202e")]
NUMBER = b"0123456789.-+eE"


def mutated(random, text, times=None):
    """Returns `text` with a few changes of the kinds that break parsers."""
    text = bytes(text)
    for _ in range(times or random.choice([1, 1, 1, 2, 3, 8])):
        text = random.choice(CHANGES)(random, text)[:2_000_000]
    return text


def spot(random, text):
    return random.randrange(len(text) + 1)


def flip(random, text):
    at = spot(random, text)
    return text[:at] + bytes([random.randrange(256)]) + text[at + 1 :]


def insert(random, text):
    at = spot(random, text)
    return text[:at] + random.choice(ODD_BYTES) * random.choice([1, 1, 1, 2, 50]) + text[at:]


def lose(random, text):
    at = spot(random, text)
    return text[:at] + text[at + random.choice([1, 1, 2, 5, 30, 1000]) :]


def cut(random, text):
    return text[: spot(random, text)]


def double(random, text):
    at, length = spot(random, text), random.choice([1, 4, 30, 300])
    return text[:at] + text[at : at + length] * random.choice([2, 2, 3, 100]) + text[at + length :]


def another_number(random, text):
    """Replaces a number in the text by an unusual one."""
    places = [
        i for i in range(len(text)) if text[i : i + 1].isdigit() and (i == 0 or text[i - 1] not in NUMBER)
    ]
    if not places:
        return insert(random, text)
    begin = end = random.choice(places)
    while end < len(text) and text[end] in NUMBER:
        end += 1
    return text[:begin] + random.choice(ODD_NUMBERS).encode() + text[end:]


def another_order(random, text):
    parts = text.split(b"\n")
    i, j = random.randrange(len(parts)), random.randrange(len(parts))
    parts[i], parts[j] = parts[j], parts[i]
    return b"\n".join(parts)


def another_field(random, text):
    """Removes, doubles, replaces or clears a field of a line."""
    lines = text.split(b"\n")
    at = random.randrange(len(lines))
    mark = b"," if b"," in lines[at] else b" "
    fields = lines[at].split(mark)
    i = random.randrange(len(fields))
    fields[i : i + 1] = random.choice([[], [fields[i]] * 2, [fields[i - 1]], [b""]])
    lines[at] = mark.join(fields)
    return b"\n".join(lines)


CHANGES = [flip, insert, lose, cut, double, another_number, another_number, another_order, another_field]


@section("mutants", quick=1100, share=12, endless=True)
def mutants(campaign):
    """Mutated traces, archives, shapes, packets, phases, matrices, grids, answers of search programs, and
    names of all kinds: no panic, known exit codes, bounded memory; long runs stop on Ctrl-C."""
    # First check that the unmutated inputs are valid.
    for kind in FILES:
        yield f"unchanged/{kind}", unchanged(kind, None)
    for kind, (words, _) in NAMES.items():
        for number in range(len(words)):
            yield f"unchanged/{kind}-{number}", unchanged(kind, number)
    kinds = [*FILES, *NAMES]
    # Files occur more often than names because they have more parsers.
    order = [kind for i in range(3) for kind in FILES] + kinds
    for number in itertools.count():
        kind = order[number % len(order)]
        yield f"{kind}/{number:06}", mutant(kind)


def unchanged(kind, number):
    def case(bench):
        write_inputs(bench)
        if kind in FILES:
            content, file, words = FILES[kind]
            bench.write(file, content())
            bench.replay(*words.split(), codes=(0,))
        else:
            names, words = NAMES[kind]
            bench.replay(*words.split(), names[number], codes=(0,))

    return case


def mutant(kind):
    def case(bench):
        write_inputs(bench)
        random = bench.random
        if kind in FILES:
            content, file, words = FILES[kind]
            text, words = content(), words.split()
            bench.write(file, mutated(random, text if isinstance(text, bytes) else text.encode()))
            if kind == "swf" and random.random() < 0.5:
                words = [*words[:-1], random.choice(ALLOCATORS), "--sched", random.choice(SCHEDULERS)]
        else:
            names, words = NAMES[kind]
            words = [*words.split(), word(random, names)]
        running = bench.start(*words, bounds=Bounds(30, 2048))
        if running.wait(4 * bench.campaign.patience):
            bench.end(running)
        else:
            # A mutant may request a long run, but Ctrl-C must end it.
            bench.stop(running, signal.SIGINT)

    return case


def write_inputs(bench):
    bench.write("tiny.swf", trace())
    bench.write("p.csv", packets(1, 10))
    bench.write("ask", "cat asks\n").chmod(0o755)


def word(random, words):
    """Returns a mutated name without NUL bytes, which arguments cannot contain."""
    how = random.randrange(10)
    if how == 0:
        text = "".join(random.choice(string.printable) for _ in range(random.choice([0, 1, 5, 200])))
    elif how == 1:
        text = ",".join(random.choice(words) for _ in range(random.choice([2, 2, 40])))
    else:
        text = mutated(random, random.choice(words).encode(), random.choice([1, 1, 2, 4])).decode(
            "utf-8", "replace"
        )
    return text.replace("\0", "0")[:100_000]
