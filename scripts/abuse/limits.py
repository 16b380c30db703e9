"""Limited resources: open files, file sizes, closed or full streams, unusual environments."""

import itertools
import os
import subprocess

from campaign import section
from scenes import SCENES, prepared


@section("limits", quick=60, share=1)
def limits(campaign):
    """Limits on open files and file sizes; standard streams closed or full; a removed current directory;
    an empty or unusual environment; arguments that are not text."""
    for name in SCENES:
        for count in range(3, 24):
            yield f"open-files-{count}/{name}", limited(name, f"ulimit -n {count}", (0, 2, 127))
        for size in (0, 1, 2, 4, 8, 16, 32):
            yield f"file-size-{size}/{name}", limited(name, f"trap '' XFSZ; ulimit -f {size}", (0, 4))
            yield f"file-size-{size}-killed/{name}", limited(name, f"ulimit -f {size}", (0, 4, 153, -25))
        for streams in ("<&-", ">&-", "2>&-", "<&- >&-", ">&- 2>&-", "<&- >&- 2>&-"):
            yield f"closed {streams.replace('/', '+')}/{name}", redirected(name, streams)
        for streams in (">/dev/full", "2>/dev/full", ">/dev/full 2>&1", "<.", ">/dev/null </dev/zero"):
            yield f"odd {streams.replace('/', '+')}/{name}", redirected(name, streams)
    for number, words in enumerate(LISTS):
        for streams in (">&-", ">/dev/full", "| head -c 1", "| true", "2>&1 | true"):
            yield f"print-{number} {streams.replace('/', '+')}", printed(words, streams)
    yield "gone-folder", gone_folder
    for number, change in enumerate(ODD_ENVIRONMENTS):
        yield f"environment-{number}", odd_environment(change)
    for number, words in enumerate(ODD_WORDS):
        yield f"words-{number}", lambda bench, words=words: odd_words(bench, words)


def shell(bench, line, name):
    """Runs a line of bash in which $0 is the program and "$@" are the arguments of a scene."""
    scene = prepared(bench.campaign, name)
    bench.runs.append(f"{line}   # words: {' '.join(scene.scene.new)}")
    command = ["bash", "-c", line, bench.campaign.program, *scene.scene.new]
    # Standard error goes to a file unless the line redirects it.
    with open(bench.place / "stderr", "wb") as errors:
        done = subprocess.run(
            command, cwd=bench.home, env=bench.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors, timeout=30 * bench.campaign.patience,
        )  # fmt: skip
    words = (bench.place / "stderr").read_text(errors="replace")
    bench.demand("panicked" not in words, f"panic: {' '.join(words.split())[:300]}")
    return done.returncode, " ".join(words.split())[-300:]


def limited(name, limit, allowed):
    def case(bench):
        scene = prepared(bench.campaign, name)
        scene.lay(bench, "over")
        code, words = shell(bench, f'{limit}; exec "$0" "$@"', name)
        # 127: the dynamic loader could not open the libraries of the program.
        bench.demand(code in allowed, f"exit code {code}: {words}")
        scene.check(bench.home, "over", ("new",) if code == 0 else ("old",))
        scene.again(bench, "over")

    return case


def redirected(name, streams):
    """Failing standard streams must not cost results."""

    def case(bench):
        scene = prepared(bench.campaign, name)
        scene.lay(bench, "over")
        code, words = shell(bench, f'exec "$0" "$@" {streams}', name)
        bench.demand(code in (0, 2), f"exit code {code}: {words}")
        scene.check(bench.home, "over", ("new",) if code == 0 else ("old", "new"))
        scene.again(bench, "over")

    return case


LISTS = [
    "list columns",
    "list allocators",
    "man",
    "completions bash",
    "synth --jobs 3000",
    "plan grid.toml --no-estimate",
    "--trace tiny.swf -q --format json",
    "--help",
    "verify --help",
    "sweep grid.toml --print-config",
]


def printed(words, streams):
    """Output that is not read: no panic, and no message about a closed pipe."""

    def case(bench):
        prepared(bench.campaign, "sweep").lay(bench, "fresh")
        line = f'set -o pipefail; "$0" {words} {streams}'
        bench.runs.append(line)
        done = subprocess.run(
            ["bash", "-c", line, bench.campaign.program], cwd=bench.home, env=bench.environment(),
            stdin=subprocess.DEVNULL, capture_output=True, timeout=30 * bench.campaign.patience,
        )  # fmt: skip
        text = done.stderr.decode("utf-8", "replace")
        bench.demand("panicked" not in text, f"panic: {text[:300]}")
        bench.demand(
            done.returncode in ((0, 2) if streams[0] == ">" else (0,)),
            f"exit code {done.returncode}: {text[:200]}",
        )
        if "|" in streams:
            bench.demand(not text, f"a message about a closed pipe:  {text[:200]}")

    return case


def gone_folder(bench):
    line = 'mkdir gone && cd gone && rmdir ../gone && "$0" --jobs 5 -q --out out'
    done = subprocess.run(
        ["bash", "-c", line, bench.campaign.program],
        cwd=bench.home,
        env=bench.environment(),
        capture_output=True,
        timeout=30,
    )
    bench.runs.append(line)
    bench.demand(
        done.returncode == 2 and b"panicked" not in done.stderr,
        f"exit code {done.returncode}: {done.stderr[:300]}",
    )


ODD_ENVIRONMENTS = [
    {"PATH": ""},
    {"HOME": "/nonexistent", "TMPDIR": "/nonexistent"},
    {"REPLAY_TRACES": ":::/nonexistent:/etc/hostname:"},
    {"LANG": "x" * 5000, "LC_ALL": "\udcff", "TERM": "dumb", "COLUMNS": "-1"},
    {"RAYON_NUM_THREADS": "99999", "POLARS_MAX_THREADS": "x", "RUST_BACKTRACE": "full"},
    {"POLARS_MAX_THREADS": "0", "RAYON_NUM_THREADS": "-3"},
    {"SOURCE_DATE_EPOCH": "-1", "TZ": ":/nonexistent", "CLICOLOR_FORCE": "1", "NO_COLOR": ""},
]


def odd_environment(change):
    def case(bench):
        scene = prepared(bench.campaign, "run")
        scene.lay(bench, "fresh")
        bench.replay(*scene.scene.new, environment=change, codes=(0,))
        scene.check(bench.home, "fresh", ("new",))

    return case


ODD_WORDS = [
    ["--trace", b"\xff\xfe.swf"],
    ["--alloc", b"mc1x1[tie=\xff]"],
    ["--out", b"\xff\xfe/out", "--trace", "tiny.swf"],
    ["--trace", "x" * 100_000],
    ["--alloc", "x" * 100_000],
    ["--alloc", "mc1x1[" * 20_000],
    ["--alloc", ",".join(["mm"] * 20_000)],
    ["--sched", "e" * 100_000],
    ["--machine", "9" * 100_000],
    ["--machine", "x".join(["2"] * 50_000)],
    ["--tie", ",".join(["1"] * 50_000)],
    ["--seed", ",".join(["0..99999999999"] * 1000)],
    ["--out", "x/" * 300 + "out"],
    ["--out", "x" * 300],
    ["--out", ""],
    ["--trace", ""],
    ["search", "--objective", "m" * 100_000],
    ["search", "--constraint", "worst-class[" + "jobs=1," * 10_000 + "]<=1"],
    ["stream", "--arrivals", "1..2:0.0000001"],
    ["stream", "--sides", "u" * 100_000],
    ["contend", "--pattern", "a" * 100_000],
    ["network", "--packets", "new.csv", "--network", "l" * 100_000],
    ["synth", "l" * 100_000],
    ["sweep", "x" * 200 + ".toml"],
    ["list", "x" * 100_000],
    ["verify", "y" * 100_000],
    *[[b"\xc3\x28" * count] for count in (1, 1000)],
    *[["-" * count] for count in itertools.chain(range(1, 5), [1000])],
]


def odd_words(bench, words):
    prepared(bench.campaign, "run").lay(bench, "fresh")
    bench.runs.append(" ".join(map(repr, words))[:200])
    command = [
        os.fsencode(bench.campaign.program),
        *(word if isinstance(word, bytes) else word.encode() for word in words),
    ]
    with open(bench.place / "stderr", "wb") as errors:
        done = subprocess.run(
            command, cwd=bench.home, env=bench.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=errors, timeout=10 * bench.campaign.patience,
        )  # fmt: skip
    text = (bench.place / "stderr").read_bytes()
    bench.demand(b"panicked" not in text, f"panic: {text[:300]!r}")
    bench.demand(done.returncode in (0, 2, 3), f"exit code {done.returncode}: {text[-200:]!r}")
    bench.demand(len(text) < 4000 + 40 * 80, f"a message of {len(text):,} bytes")
