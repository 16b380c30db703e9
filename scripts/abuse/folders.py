"""Directories with foreign content: links, FIFOs, files and manifests of other programs."""

import itertools
import json
import os
import signal

import blake3
import calls
from campaign import Absent, Bounds, section
from program import CODES
from scenes import SCENES, VARIANTS, listing, prepared

PRECIOUS = "a file outside, which nothing may change\n"
QUICKLY = Bounds(seconds=10)


class Outside:
    """Files outside of the output directory, which must not change."""

    def __init__(self, bench):
        self.place = bench.place / "outside"
        self.files = {"precious.txt": PRECIOUS, "folder/runs.csv": PRECIOUS, "folder/deep/a.svg": PRECIOUS}
        for name in ("run", "plot", "old"):
            self.files[f"folder/{name}.png"] = PRECIOUS
        for name, text in self.files.items():
            (self.place / name).parent.mkdir(parents=True, exist_ok=True)
            (self.place / name).write_text(text)

    def check(self, bench):
        for name, text in self.files.items():
            path = self.place / name
            bench.demand(path.is_file(), f"a file outside was removed: {name}")
            bench.demand(path.read_text() == text, f"a file outside was changed: {name}")
        more = listing(self.place) - self.files.keys()
        bench.demand(not more, f"new files outside:  {', '.join(sorted(more))}")


def obstacle(kind, path, outside):
    """Creates an obstacle of some kind at `path`."""
    if path.is_symlink() or path.is_file():
        path.unlink()
    elif path.is_dir():
        if kind in ("folder", "link-to-folder"):
            raise Absent("the directory exists already")
        for place, folders, files in os.walk(path, topdown=False):
            for name in files:
                os.unlink(os.path.join(place, name))
            for name in folders:
                os.rmdir(os.path.join(place, name))
        path.rmdir()
    path.parent.mkdir(parents=True, exist_ok=True)
    if kind == "link":
        path.symlink_to(outside.place / "precious.txt")
    elif kind == "hard-link":
        os.link(outside.place / "precious.txt", path)
    elif kind == "dangling-link":
        path.symlink_to(outside.place / "not-there")
    elif kind == "link-to-folder":
        path.symlink_to(outside.place / "folder", target_is_directory=True)
    elif kind == "fifo":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
        (path / "mine.txt").write_text(PRECIOUS)
    else:
        path.write_text(PRECIOUS)


KINDS = ("link", "hard-link", "dangling-link", "link-to-folder", "fifo", "folder", "file")
# Names with a meaning in output directories, whether or not a scene uses them.
NAMES = [
    "manifest.json",
    "manifest.json.part",
    "plan.json",
    "plan.json.part",
    "journal.txt",
    "lock",
    "unfinished.part",
]


def names(campaign, name):
    """Returns the names that a scene writes below its directory, temporarily or finally."""
    scene = prepared(campaign, name)
    # Of the figures, test only two, because all figures are written in the same way.
    few = [file for file in sorted(scene.new.files) if not file.startswith("out/plots/")]
    few += [file for file in sorted(scene.new.files) if file.startswith("out/plots/")][:2]
    if not scene.scene.files:
        few += ["out/plots"] + [f"out/{file}" for file in NAMES]
    try:
        for call in calls.calls(campaign, name, "over"):
            path = call.path.lstrip("/")
            # The directory of the case itself has the path "" or ".".
            if path not in few and path not in ("", ".", "out") and "plots/" not in path and "unfinished.part/" not in path:
                few.append(path)
    except Absent:
        # Use only the known names.
        pass
    return list(dict.fromkeys(few))


@section("in-the-way", quick=120, share=4)
def in_the_way(campaign):
    """A link, a FIFO, a directory or another file under every name that a command writes: no file outside
    of the directory is changed, no command hangs, and no file of the user is lost."""
    for name, variant in itertools.product(SCENES, VARIANTS):
        for file, kind in itertools.product(names(campaign, name), KINDS):
            # An output file given by the user may deliberately be a link or a pipe.
            if file in SCENES[name].files and kind not in ("folder", "link-to-folder"):
                continue
            yield f"{name}/{variant}/{file.replace('/', '+')}-{kind}", blocked(name, variant, file, kind)


def blocked(name, variant, file, kind):
    def case(bench):
        scene, outside = prepared(bench.campaign, name), Outside(bench)
        scene.lay(bench, variant)
        path = bench.home / file
        obstacle(kind, path, outside)
        outcome = bench.replay(*scene.scene.new, bounds=QUICKLY)
        outside.check(bench)
        if kind == "folder":
            mine = path / "mine.txt"
            bench.demand(
                mine.is_file() and mine.read_text() == PRECIOUS,
                f"a directory of the user at {file} was emptied",
            )
        # --force replaces results that were changed by hand.
        is_result = variant == "over" and (scene.kits["over"] / file).is_file()
        if kind == "file" and not ("--force" in scene.scene.new and is_result):
            bench.demand(
                path.is_file() and path.read_bytes() == PRECIOUS.encode(),
                f"a file of the user at {file} was replaced",
            )
        if outcome.code == 0 and kind != "file":
            state = scene.state(bench.home)
            bench.demand(state == "new", f"exit code 0, but the results are {state}")

    return case


LISTED = ["thesis.tex", "data/raw.csv"]
FOREIGN = {
    "extension": {"name": "a web extension", "manifest_version": 3, "files": LISTED},
    "bare": {"files": LISTED},
    "program": {"program": "other", "version": "2", "command": ["other"], "files": LISTED},
    "command": {"command": ["other", "--out"], "files": LISTED},
    "name-alone": {"program": "replay", "files": LISTED},
}
# Unusual file lists that a manifest of replay may contain after an attack or a mistake.
ODD_LISTS = {
    "outward": ["../outside/precious.txt", "/etc/hostname", "x/../../outside/precious.txt"],
    "odd-names": ["", ".", "./.", "a\0b", "x" * 5000, 7, None, ["y"]],
    "no-list": "thesis.tex",
    "own-files": ["manifest.json", "lock", "unfinished.part"],
    "many": [f"none-{i}" for i in range(100_000)],
    "changed": LISTED,
}


def entry(like, name, path=None):
    """Returns a manifest entry in the form of `like`, with correct size and digest if `path` exists."""
    if not isinstance(like, dict):
        return name
    content = path.read_bytes() if path else b""
    return like | {"name": name, "bytes": len(content), "blake3": blake3.digest(content)}


def manifest_of(scene, files):
    """Returns the manifest of the earlier results of a scene with another list of files."""
    manifest = json.loads((scene.kits["over"] / "out/manifest.json").read_bytes())
    if isinstance(files, list):
        empty = entry(manifest["files"][0], "")
        files = [empty | {"name": name} if isinstance(empty, dict) else name for name in files]
    manifest["files"] = files
    return json.dumps(manifest).encode()


TEXTS = {
    "nested": b'{"files":' + b"[" * 200_000,
    "empty": b"",
    "blank": b" \n",
    "array": b'["thesis.tex"]',
    "number": b"1e999",
    "bytes": bytes(range(256)),
    "marked": b'\xef\xbb\xbf{"files":["thesis.tex"]}',
    "twice": b'{"files":[],"files":["thesis.tex"],"program":"x"}',
}
FOLDERS = [name for name, scene in SCENES.items() if not scene.files]


@section("foreign", quick=0, share=1)
def foreign(campaign):
    """Manifests, journals and directories of other programs; links to directories; inputs that are also
    outputs; FIFOs as sidecar files."""
    for name in FOLDERS:
        for title, manifest in FOREIGN.items():
            yield f"manifest/{title}/{name}", strange_manifest(name, json.dumps(manifest).encode())
        for title, text in TEXTS.items():
            yield f"manifest/{title}/{name}", strange_manifest(name, text)
        for title, files in ODD_LISTS.items():
            yield f"list/{title}/{name}", strange_manifest(name, files=files)
        yield f"linked-folder/{name}", linked_folder(name)
        yield f"linked-plots/{name}", linked_plots(name)
        yield f"linked-out/{name}", linked_out(name)
    for title, text in (
        ("notes", b"my notes\n"),
        ("version", b"replay journal 999\nx\n"),
        ("binary", bytes(99)),
        ("empty-line", b"\n"),
    ):
        for force in ((), ("--force",)):
            yield f"journal/{title}{''.join(force)}", foreign_journal(text, force)
        yield f"plan/{title}", foreign_plan(text)
    for how in ("same", "link", "hard-link", "stdin", "dots"):
        yield f"input-is-output/network-{how}", input_is_output(how)
    for how in ("bad-packets", "no-packets", "old-results"):
        yield f"input-first/{how}", input_first(how)
    yield "input-is-output/synth", synth_over_a_trace
    for file in (
        "tiny.shapes.csv",
        "grid.toml",
        "tiny.swf",
        "packets",
        "manifest.json",
        "journal.txt",
        "plan.json",
        "lock",
    ):
        yield f"fifo/{file}", fifo(file)


def strange_manifest(name, text=None, files=None):
    """A manifest of another program, or a manifest of replay with an unusual list of files."""

    def case(bench):
        scene, outside = prepared(bench.campaign, name), Outside(bench)
        scene.lay(bench, "fresh")
        theirs = {"out/thesis.tex": "a year of work", "out/data/raw.csv": "measured once"}
        for file, content in theirs.items():
            bench.write(file, content)
        manifest = bench.write("out/manifest.json", text if files is None else manifest_of(scene, files))
        outcome = bench.replay(*scene.scene.new, bounds=QUICKLY)
        outside.check(bench)
        for file, content in theirs.items():
            path = bench.home / file
            bench.demand(path.is_file() and path.read_text() == content, f"{file} was lost")
        if text is not None:
            bench.demand(manifest.read_bytes() == text, "the manifest of another program was replaced")
            bench.demand(outcome.code == 2, f"exit code {outcome.code}, but the directory belongs to another program")

    return case


def linked_folder(name):
    """The manifest lists files below a link to a directory outside."""

    def case(bench):
        scene, outside = prepared(bench.campaign, name), Outside(bench)
        scene.lay(bench, "over")
        path = bench.home / "out/manifest.json"
        manifest = json.loads(path.read_bytes())
        like = manifest["files"][0]
        for file in ("run.png", "deep/a.svg", "runs.csv"):
            manifest["files"].append(entry(like, f"linked/{file}", outside.place / "folder" / file))
        path.write_text(json.dumps(manifest))
        (bench.home / "out/linked").symlink_to(outside.place / "folder", target_is_directory=True)
        bench.replay(*scene.scene.new, bounds=QUICKLY)
        outside.check(bench)

    return case


def linked_plots(name):
    """plots/ is a link to a directory outside: nothing is written there."""

    def case(bench):
        scene, outside = prepared(bench.campaign, name), Outside(bench)
        scene.lay(bench, "fresh")
        plots = bench.home / "out/plots"
        (plots / "mine.svg").unlink()
        plots.rmdir()
        plots.symlink_to(outside.place / "folder", target_is_directory=True)
        bench.replay(*scene.scene.new, bounds=QUICKLY)
        outside.check(bench)

    return case


def linked_out(name):
    """The directory of --out may be a link to a directory, for results on another disk."""

    def case(bench):
        scene = prepared(bench.campaign, name)
        scene.lay(bench, "over")
        (bench.home / "out").rename(bench.home / "elsewhere")
        (bench.home / "out").symlink_to("elsewhere", target_is_directory=True)
        bench.replay(*scene.scene.new, bounds=QUICKLY, codes=(0,))
        scene.check(bench.home, "over", ("new",))

    return case


def foreign_journal(text, force):
    def case(bench):
        scene = prepared(bench.campaign, "sweep")
        scene.lay(bench, "fresh")
        path = bench.write("out/journal.txt", text)
        outcome = bench.replay(*scene.scene.new, *force, bounds=QUICKLY)
        if force and text.startswith(b"replay journal "):
            # A journal of another version may be replaced with --force.
            return
        bench.demand(
            path.is_file() and path.read_bytes() == text, "a journal.txt of another program was lost"
        )
        bench.demand(outcome.code in (2, 3), f"exit code {outcome.code}, but the directory belongs to another program")

    return case


def foreign_plan(text):
    def case(bench):
        scene = prepared(bench.campaign, "sweep")
        scene.lay(bench, "fresh")
        path = bench.write("out/plan.json", text)
        bench.replay(*scene.scene.new, bounds=QUICKLY)
        bench.demand(
            path.is_file() and path.read_bytes() == text, "a plan.json of another program was replaced"
        )

    return case


def input_is_output(how):
    """The output file of network --channels is also the input list of packets."""

    def case(bench):
        scene = prepared(bench.campaign, "network")
        scene.lay(bench, "fresh")
        path, before = bench.home / "new.csv", (bench.home / "new.csv").read_bytes()
        other = "./new.csv" if how == "dots" else "new.csv" if how in ("same", "stdin") else "other.csv"
        if how == "link":
            (bench.home / other).symlink_to("new.csv")
        if how == "hard-link":
            os.link(path, bench.home / other)
        words = ["network", "--machine", "4x4", "-q", "--channels", other, "--packets"]
        if how == "stdin":
            with path.open("rb") as stream:
                bench.replay(*words, "-", stdin=stream)
        else:
            bench.replay(*words, "new.csv")
        bench.demand(path.read_bytes() == before, "the list of packets was lost")

    return case


def input_first(how):
    """network --channels: the file is unchanged unless there are new results."""

    def case(bench):
        bench.write("bad.csv", "id,src,dst,flits,inject_cycle\n0,0,x,1,0\n")
        path = bench.write("channels.csv", "channel,busy_cycles,flits\nearlier results\n")
        before = path.read_bytes()
        words = ["network", "--machine", "4x4", "-q", "--channels", "channels.csv", "--packets"]
        if how == "old-results":
            given = bench.write(
                "flood.csv", "id,src,dst,flits,inject_cycle\n0,0,1,1,9007199254740992\n1,0,99,1,0\n"
            )
            bench.replay(*words, given.name, codes=(3,))
        else:
            bench.replay(*words, "bad.csv" if how == "bad-packets" else "none.csv", codes=(2, 3))
        bench.demand(path.read_bytes() == before, "earlier results were lost although there are no new ones")

    return case


def synth_over_a_trace(bench):
    """synth --write replaces its output file as a whole."""
    scene = prepared(bench.campaign, "synth")
    scene.lay(bench, "fresh")
    outside = Outside(bench)
    (bench.home / "made.swf").symlink_to(outside.place / "precious.txt")
    bench.replay("synth", "--jobs", "0", "--write", "made.swf", codes=(2,))
    outside.check(bench)


def fifo(file):
    """A FIFO without a writer: an immediate error, or, for inputs that may be a pipe of the shell, a wait
    that Ctrl-C ends."""

    def case(bench):
        scene = prepared(bench.campaign, "sweep")
        scene.lay(bench, "over")
        words, waits = scene.scene.new, False
        if file == "packets":
            words, waits = ["network", "--packets", "packets", "-q"], True
            path = bench.home / "packets"
        elif file in ("grid.toml", "tiny.swf"):
            path, waits = bench.home / file, True
        elif file == "tiny.shapes.csv":
            path = bench.home / file
        else:
            path = bench.home / "out" / file
        path.unlink(missing_ok=True)
        os.mkfifo(path)
        running = bench.start(*words)
        if running.wait(3 * bench.campaign.patience):
            bench.end(running, CODES)
            return
        bench.demand(waits, "the program waits for a FIFO without a writer")
        bench.stop(running, signal.SIGINT, codes=(130, -signal.SIGINT))

    return case
