"""Commands that write files ("scenes"), their undisturbed results, and comparisons with them.

A scene runs in a directory with its inputs, with earlier results of another command ("over") or without
("fresh"), and with files of the user among the results. After any disturbance

* the files of the user are unchanged;
* the results are absent, or complete results of the earlier or of this command: a manifest
never lists files of another run than the run that wrote the manifest;
* running the same command again gives the same bytes as without the disturbance, and
  leaves no additional files.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import time
from random import Random

from campaign import DATA, Bench, Broken

# Keys of manifests that differ from run to run.
VOLATILE = {
    "started_unix",
    "elapsed_seconds",
    "peak_memory_bytes",
    "host",
    "threads",
    "seconds",
    "replay_seconds",
    "cells_run_now",
}
FOREIGN = {
    "out/mine.txt": "notes of the user in the output directory",
    "out/plots/mine.svg": "<svg>a figure of the user</svg>",
    "mine.csv": "id\n1\n",
}
GRID = """
traces = ["tiny.swf"]
schedulers = ["fcfs", "easy"]
[[allocator]]
name = "mc1x1"
tie = ["none", "2,13,20,6"]
[[allocator]]
name = "random"
"""


def trace(seed=1, jobs=60):
    """Returns a small trace for a 4x4 machine."""
    random = Random(seed)
    lines, submit = ["; Version: 2.2", "; MaxProcs: 16", "; UnixStartTime: 843436800"], 0
    for number in range(1, jobs + 1):
        submit += random.randrange(40)
        size, run = random.choice([1, 2, 3, 4, 6, 8, 12, 16]), random.randrange(1, 200)
        lines.append(f"{number} {submit} -1 {run} {size} -1 -1 {size} {2 * run} -1 1 1 1 -1 -1 -1 -1 -1")
    return "\n".join(lines) + "\n"


def packets(seed=1, count=120):
    """Returns a list of packets for a 4x4 machine."""
    random = Random(seed)
    lines = ["id,src,dst,flits,inject_cycle"]
    for number in range(count):
        source, target = random.sample(range(16), 2)
        lines.append(f"{number},{source},{target},{random.randrange(1, 30)},{random.randrange(500)}")
    return "\n".join(lines) + "\n"


def log(seed=1, jobs=40):
    """Returns a small log of Slurm's sacct for a machine of 16 nodes."""
    lines = ["JobID|Submit|Start|End|AllocNodes|NodeList|State"]
    for number in range(1, jobs + 1):
        at, node = f"2026-03-01T{number % 24:02}", number * seed % 12
        lines.append(
            f"{number}|{at}:00:00|{at}:00:05|{at}:{10 + number * seed % 50}:05|4|n[{node}-{node + 3}]|COMPLETED"
        )
    return "\n".join(lines) + "\n"


class Scene:
    """A command, an earlier command, and the files of their results."""

    def __init__(self, name, old, new, files=(), before=(), pair=None):
        self.name, self.old, self.new = name, old.split(" "), new.split(" ")
        # Result files of a command without a manifest; otherwise the results are in "out".
        self.files = files
        # A command that reads the files together and rejects a mixture of files of two commands.
        self.pair = pair and pair.split(" ")
        # Commands that create inputs.
        self.before = [words.split(" ") for words in before]


RUN = "--trace tiny.swf -q --threads 1"
STREAM = "stream --machine 4x4 --arrivals 2 --jobs 20 --min-replications 2 --max-replications 3 --threads 1 -q"
SCENES = {
    scene.name: scene
    for scene in [
        Scene(
            "run",
            f"{RUN} --alloc random --no-plots --out out",
            f"{RUN} --alloc mc1x1,mm --tie 2,13,20,6 --out out",
        ),
        Scene(
            "sweep",
            "sweep --trace tiny.swf --alloc mm --threads 1 -q --out out",
            "sweep grid.toml --threads 1 -q --out out",
        ),
        Scene(
            "sweep-forced",
            "sweep --trace tiny.swf --alloc mm --threads 1 -q --out out",
            "sweep grid.toml --threads 1 -q --force --out out",
        ),
        Scene(
            "merge",
            "merge o1 o2 -q --out out",
            "merge s1 s2 -q --out out",
            before=[f"sweep --trace tiny.swf --alloc mm,random -q --shard {i}/2 --out o{i}" for i in (1, 2)]
            + [f"sweep grid.toml -q --shard {i}/2 --out s{i}" for i in (1, 2)],
        ),
        Scene(
            "search",
            f"search {RUN} --sr 1 --factors 0..1 --no-plots --out out",
            f"search {RUN} --sr 1..2 --factors 0..1 --out out",
        ),
        Scene("stream", f"{STREAM} --alloc mbs --out out", f"{STREAM} --alloc mbs,first-fit --out out"),
        Scene(
            "contend",
            f"contend {RUN} --jobs 9 --scale 0.05 --alloc mbs --out out",
            f"contend {RUN} --jobs 12 --scale 0.05 --alloc mbs,random --out out",
        ),
        Scene(
            "network",
            "network --packets old.csv --machine 4x4 -q --channels channels.csv",
            "network --packets new.csv --machine 4x4 -q --channels channels.csv",
            files=("channels.csv",),
        ),
        Scene(
            "synth",
            "synth stream[machine=4x4,arrivals=2,jobs=40] --write made.swf",
            "synth stream[machine=8x8,arrivals=3,jobs=400] --write made.swf",
            files=("made.swf", "made.shapes.csv"),
            pair="--trace made.swf --alloc first-fit -q",
        ),
        Scene(
            "import",
            "import sacct old.txt --processors 16 --write made.swf -q",
            "import sacct new.txt --processors 16 --write made.swf -q",
            files=("made.swf", "made.nodes.csv"),
            pair="--trace made.swf --sched recorded --alloc recorded --machine 4x4 -q",
        ),
    ]
}
VARIANTS = ("fresh", "over")


def digest(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def settled(value):
    """Returns a manifest without its volatile keys."""
    if isinstance(value, dict):
        return {key: settled(inner) for key, inner in value.items() if key not in VOLATILE}
    if isinstance(value, list):
        return [settled(inner) for inner in value]
    return value


def name_of(entry):
    """Returns the file name of a manifest entry, which is a name or an object."""
    return entry["name"] if isinstance(entry, dict) else entry


def listing(home):
    """Returns all files below a directory, including links and FIFOs, as relative paths."""
    found = set()
    for place, folders, files in os.walk(home):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        found |= {os.path.relpath(os.path.join(place, name), home) for name in files + links}
    return found


class Generation:
    """The current results: digests by file, and the manifest that lists them."""

    def __init__(self, scene, home):
        self.manifest, self.files = None, {}
        if scene.files:
            self.files = {name: digest(home / name) for name in scene.files if (home / name).exists()}
            return
        path = home / "out/manifest.json"
        if not path.is_file():
            return
        try:
            manifest = json.loads(path.read_bytes())
            listed = [name_of(entry) for entry in manifest["files"]]
            # The path of the program and the number of threads are not compared.
            words = " ".join(manifest["command"][1:])
            manifest["command"] = re.sub(r" --threads \d+", "", words)
        except (ValueError, KeyError, TypeError) as error:
            raise Broken(f"out/manifest.json is malformed: {error}") from None
        self.manifest = settled(manifest)
        for name in listed:
            place = home / "out" / name
            self.files[f"out/{name}"] = digest(place) if place.is_file() else "missing"

    def __eq__(self, other):
        return (self.manifest, self.files) == (other.manifest, other.files)

    def empty(self):
        return self.manifest is None and not self.files

    def difference(self, other):
        """Returns the files that differ from those of another generation."""
        names = sorted(self.files.keys() | other.files.keys())
        return [name for name in names if self.files.get(name) != other.files.get(name)]


class Prepared:
    """A scene with its prepared directories and its undisturbed results."""

    def __init__(self, campaign, scene):
        self.scene, self.kits = scene, {}
        self.program = campaign.program
        bench = Bench(campaign, f"(preparation)/{scene.name}")
        # Deleted with the directory of the campaign.
        self.place = bench.place
        home = bench.home
        bench.write("tiny.swf", trace())
        bench.write("grid.toml", GRID)
        bench.write("old.csv", packets(1, 30))
        bench.write("new.csv", packets(2))
        bench.write("old.txt", log(1))
        bench.write("new.txt", log(5))
        for name, text in FOREIGN.items():
            bench.write(name, text)
        for words in scene.before:
            bench.replay(*words)
        self.keep(home, "fresh")
        bench.replay(*scene.new)
        manifest = home / "out/manifest.json"
        configuration = json.loads(manifest.read_bytes())["configuration_digest"] if not scene.files else None
        shutil.rmtree(home)
        shutil.copytree(self.kits["fresh"], home, symlinks=True)
        bench.replay(*scene.old)
        if not scene.files:
            # Without --force results are replaced only if their configuration is equal. The bytes of the earlier
            # results differ from those of the later results. Give the earlier results the configuration digest of the
            # later results.
            earlier = json.loads(manifest.read_bytes())
            earlier["configuration_digest"] = configuration
            manifest.write_text(json.dumps(earlier, indent=2) + "\n")
        self.old = Generation(scene, home)
        self.keep(home, "over")
        begin = time.monotonic()
        bench.replay(*scene.new)
        self.new, self.seconds = Generation(scene, home), time.monotonic() - begin
        self.left = {"over": listing(home)}
        shutil.rmtree(home)
        shutil.copytree(self.kits["fresh"], home, symlinks=True)
        bench.replay(*scene.new)
        self.left["fresh"] = listing(home)
        if Generation(scene, home) != self.new:
            raise Broken("results in a fresh directory differ from results over earlier ones")
        if self.old == self.new or self.old.empty() or self.new.empty():
            raise Broken("the scene is useless: earlier and later results are equal")

    def keep(self, home, variant):
        self.kits[variant] = self.place / variant
        shutil.copytree(home, self.kits[variant], symlinks=True)

    def lay(self, bench, variant):
        """Copies the scene into the directory of a case."""
        shutil.copytree(self.kits[variant], bench.home, symlinks=True, dirs_exist_ok=True)

    def check(self, home, expected=None):
        """Checks the state of a directory: "none", "old" or "new"; `expected` lists the allowed states."""
        for name, text in FOREIGN.items():
            path = home / name
            if not path.is_file() or path.read_text() != text:
                raise Broken(f"a file of the user was lost or changed: {name}")
        state = self.state(home)
        if expected and state not in expected:
            raise Broken(f"the results are {state}, not {' or '.join(expected)}")

    def state(self, home):
        found = Generation(self.scene, home)
        if found.empty():
            return "none"
        for state, known in (("old", self.old), ("new", self.new)):
            if found == known:
                return state
        if self.scene.files:
            self.whole(found)
            self.refused(home, found)
            return "mixed"
        for state, known in (("old", self.old), ("new", self.new)):
            if found.manifest == known.manifest:
                names = found.difference(known)
                raise Broken(
                    f"the manifest of the {state} results lists other files:  {', '.join(names[:3])}"
                )
        raise Broken("the manifest belongs neither to the old nor to the new results")

    def whole(self, found):
        """Requires that each result file without a manifest is complete, either old or new."""
        for name, value in found.files.items():
            if value not in (self.old.files.get(name), self.new.files.get(name)):
                raise Broken(f"{name} is partial")

    def refused(self, home, found):
        """Requires that a mixture of files of two commands is rejected."""
        if not self.scene.pair or len(found.files) < len(self.scene.files):
            return
        command = [self.program, *self.scene.pair]
        done = subprocess.run(command, cwd=home, capture_output=True, text=True, timeout=60)
        if done.returncode != DATA or "belongs to the trace with digest" not in done.stderr:
            raise Broken(f"a mixture of files of two commands is accepted: exit code {done.returncode} {done.stderr[-300:]}")

    def again(self, bench, variant):
        """Runs the same command undisturbed and checks the final state."""
        bench.replay(*self.scene.new)
        self.same(bench.home, variant)

    def same(self, home, variant):
        """Requires the state of an undisturbed run, without the files that were begun before a kill."""
        self.check(home, ("new",))
        found = listing(home)
        if more := sorted(found - self.left[variant]):
            raise Broken(f"left over: {', '.join(more[:3])}")
        if less := sorted(self.left[variant] - found):
            raise Broken(f"missing: {', '.join(less[:3])}")


def prepared(campaign, name):
    return campaign.once(f"scene {name}", lambda: Prepared(campaign, SCENES[name]))
