"""Compares the tables of the module and of the command line on the golden commands that the module supports."""

import os
import shlex
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest
from conftest import REPOSITORY

import replay
from replay import _options

GOLDEN = REPOSITORY / "tests" / "golden"
SAMPLES = REPOSITORY / "tests" / "samples"

SHORT = {"-t": "trace", "-s": "sched", "-a": "alloc", "-q": "quiet"}
READ = {"trace", "policy", "from", "jobs", "days"}
RUN = {
    "machine", "sched", "alloc", "tie", "seed", "shake", "shake-width", "shake-seed", "oversize", "estimates", "deps", "down",
    "down-rule", "node-map", "scale-load",
}
FLAGS = {"ties", "placements", "down-walls", "strict"}
IGNORED = {"out", "quiet", "no-plots"}


def cases():
    """Return name and options of the golden commands of the main job."""
    name = ""
    for line in (GOLDEN / "commands.txt").read_text().splitlines():
        if not line.strip() or line.startswith("#"):
            continue
        if not line.startswith(" "):
            name, line = line.split(": ", 1)
        words = shlex.split(line)
        if not words[0].startswith("-") or "--out" not in words:
            continue
        yield pytest.param(words, id=f"{name}-{words[words.index('--out') + 1]}")


def parsed(words):
    options, words = {}, iter(words)
    for word in words:
        name = SHORT.get(word, word.removeprefix("--"))
        if name in FLAGS or name in ("quiet", "no-plots"):
            options[name] = True
        else:
            options.setdefault(name, []).append(next(words))
    return options


def typed(name, texts):
    """Return the value of an option as an argument of the module."""
    option = _options.known("run")[name]
    convert = {"integer": int, "integers": int, "number": float, "numbers": float}.get(option.kind, str)
    values = []
    for text in ",".join(texts).split(",") if option.kind in ("integers", "numbers") else texts:
        first, dots, last = text.partition("..")
        values += range(int(first), int(last) + 1) if dots and option.kind == "integers" else [convert(text)]
    return values if option.is_list else values[0]


def traces(name):
    folders = [REPOSITORY / "traces", *os.environ.get("REPLAY_TRACES", "").split(":")]
    return any(list(Path(folder).glob(f"{name}.swf*")) for folder in folders if folder)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with the inputs of the golden commands."""
    folder = tmp_path_factory.mktemp("golden")
    (folder / "traces").symlink_to(REPOSITORY / "traces")
    (folder / "samples").symlink_to(SAMPLES)
    (folder / "inputs").symlink_to(GOLDEN / "inputs")
    return folder


@pytest.mark.filterwarnings("ignore::replay.ReplayWarning")
@pytest.mark.parametrize("words", list(cases()))
def test_tables_are_those_of_the_command_line(words, folder, tmp_path, monkeypatch):
    options = parsed(words)
    unknown = options.keys() - READ - RUN - FLAGS - IGNORED
    if unknown:
        pytest.skip(f"not in the module: {', '.join(unknown)}")
    monkeypatch.chdir(folder)
    for name in options["trace"]:
        if not Path(name).exists() and not traces(name):
            pytest.skip(f"no trace {name}")
    command = [word for word in words]
    command[command.index("--out") + 1] = str(tmp_path / "program")
    subprocess.run([sys.executable, "-m", "replay", *command], check=True, capture_output=True)
    keyword = {name: "from_" if name == "from" else name.replace("-", "_") for name in options}
    read = {keyword[name]: typed(keyword[name], options[name]) for name in READ - {"trace"} if name in options}
    loaded = [replay.read_swf(name, **read) for name in options["trace"]]
    run = {keyword[name]: typed(keyword[name], options[name]) for name in RUN if name in options}
    run |= {keyword[name]: True for name in FLAGS & options.keys()}
    results = replay.run(loaded, **{"placements": False, **run})
    results.save(tmp_path / "module")
    ours = sorted(path.name for path in (tmp_path / "module").iterdir())
    theirs = sorted(path.name for path in (tmp_path / "program").iterdir() if path.suffix in (".csv", ".parquet"))
    assert ours == theirs
    for name in theirs:
        both = [tmp_path / side / name for side in ("module", "program")]
        if name.endswith(".csv"):
            assert both[0].read_bytes() == both[1].read_bytes(), name
        else:
            frames = [pl.read_parquet(path) for path in both]
            assert frames[0].equals(frames[1]), name
    assert results.runs.equals(pl.read_parquet(tmp_path / "program" / "runs.parquet"))
    assert results.by_size.equals(pl.read_parquet(tmp_path / "program" / "by_size.parquet"))
