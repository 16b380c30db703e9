"""Full, small and read-only file systems."""

import shutil
import subprocess

from campaign import Absent, section
from scenes import SCENES, prepared

# Mounted in a separate namespace that ends with the shell, so no mount is left behind. The
# directory is copied out because it is visible only there.
SCRIPT = """
set -e
mount -t tmpfs -o size=$SIZE,nr_inodes=$INODES tmpfs "$HOME_OF_CASE"
cp -a "$KIT/." "$HOME_OF_CASE/" 2>/dev/null || exit 99
cd "$HOME_OF_CASE"
mount -o "remount,$MODE" "$HOME_OF_CASE"
set +e
"$@" >"$PLACE/stdout" 2>"$PLACE/stderr"
echo $? >"$PLACE/code"
set -e
cp -a . "$PLACE/after"
mount -o remount,rw,size=64m,nr_inodes=10000 "$HOME_OF_CASE"
set +e
"$@" >/dev/null 2>"$PLACE/stderr-again"
echo $? >"$PLACE/code-again"
set -e
cp -a . "$PLACE/again"
"""


def mounting(campaign):
    """Returns the command that runs a program in its own mount namespace.

    Raises `Absent` if mounting is not permitted.
    """

    def find():
        for command in (["unshare", "-m"], ["unshare", "-Urm"]):
            if not shutil.which("unshare"):
                raise Absent("no unshare (util-linux), which small file systems need")
            probe = command + ["mount", "-t", "tmpfs", "tmpfs", "/mnt"]
            if subprocess.run(probe, capture_output=True).returncode == 0:
                return command
        raise Absent("mounting is not permitted, not even in a user namespace")

    return campaign.once("mounting", find)


@section("full-disk", quick=44, share=3)
def full_disk(campaign):
    """A file system of N pages or N files, or a read-only file system; then a file system with enough
    space."""
    mounting(campaign)
    for name in SCENES:
        scene = prepared(campaign, name)
        pages = sum(-(-path.stat().st_size // 4096) + 1 for path in scene.place.glob("home/**/*"))
        start = sum(
            -(-path.stat().st_size // 4096) for path in scene.kits["over"].glob("**/*") if path.is_file()
        )
        files = len(list(scene.kits["over"].glob("**/*")))
        for size in range(start, pages + 8):
            yield f"{name}/pages-{size}", filled(name, size, 10000, "rw")
        for inodes in range(files + 1, files + 16):
            yield f"{name}/files-{inodes}", filled(name, 16384, inodes, "rw")
        yield f"{name}/read-only", filled(name, 16384, 10000, "ro")


def filled(name, pages, inodes, mode):
    def case(bench):
        scene = prepared(bench.campaign, name)
        given = {
            "SIZE": str(4096 * pages),
            "INODES": str(inodes),
            "MODE": mode,
            "KIT": str(scene.kits["over"]),
            "HOME_OF_CASE": str(bench.home),
            "PLACE": str(bench.place),
        }
        command = mounting(bench.campaign) + [
            "sh",
            "-c",
            SCRIPT,
            "sh",
            bench.campaign.program,
            *scene.scene.new,
        ]
        bench.runs.append(
            f"on a tmpfs of {4096 * pages} bytes, {inodes} files, {mode}: {' '.join(scene.scene.new)}"
        )
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=60, env=bench.environment(given)
        )
        if done.returncode == 99:
            raise Absent("the file system is too small for the inputs")
        bench.demand(done.returncode == 0, f"the campaign's script failed: {done.stderr.strip()}")
        read = lambda file: (bench.place / file).read_text(errors="replace")
        code, errors = int(read("code")), read("stderr")
        words = (errors.strip().splitlines() or ["(nothing)"])[-1]
        bench.demand("panicked" not in errors, f"panic: {words}")
        bench.demand(code in (0, 2 if mode == "ro" else 4), f"exit code {code}: {words}")
        bench.demand("out of specification" not in errors, f"a full disk has another message: {words}")
        scene.check(bench.place / "after", "over", ("new",) if code == 0 else ("old",))
        bench.demand(read("code-again") == "0\n", "with enough space: " + read("stderr-again").strip()[-300:])
        scene.same(bench.place / "again", "over")

    return case
