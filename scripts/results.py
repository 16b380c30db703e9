#!/usr/bin/env python3
"""Writes the pages below results/, and checks them.

    scripts/results.py [NAME...]              [verify gallery]
    scripts/results.py --check [NAME...]
    scripts/results.py --list

NAME is a page of --list, or `experiments` (all experiments that take minutes), `search` (all searches whose traces are
present) or `search-pages` (only the page of all searches). scripts/benchmark.py writes results/benchmarks/.

--check runs the quick form of every script in a temporary directory and compares its output with the committed files
(scripts/compare.py). NAME restricts the check to these names. A name is reported as ignored if a trace that it needs is
absent. Exit codes: 0 all equal, 1 a difference or a failed script, 2 usage.

--list prints each page below results/ and the command that writes it, or `retired`.

Needs Python 3.10 and the program, built by `cargo build --release` or named by REPLAY; most pages also need the package
polars (pip install polars). Traces are searched in the folders of the program ($REPLAY_TRACES, traces/); a page states
which traces were absent. scripts/common.py lists the environment variables.
"""

from __future__ import annotations

import importlib
import os
import re
import subprocess
import sys
import tempfile
import time
from pathlib import Path

sys.dont_write_bytecode = True
import benchmark
import common
import compare
import published
import search

# The experiments in the order of their index. The last two are run only if they are named.
EXPERIMENTS = [
    "fragmentation", "busy-lists", "messages", "gabl-mbs", "table-2", "traces", "recorded", "contention", "contention-shaken",
    "hypercube", "size-reduction", "chang-mohapatra", "turner", "workstations", "torus-placements", "easy-guard",
    "blue-waters", "links", "trees", "all-to-all-readings", "completions",
]  # fmt: skip
# Pages about retired options. They are kept but not written again.
RETIRED = ["estimates-in-ties", "estimates-whole"]


def pages() -> dict[str, str]:
    """Returns the command that writes each page, or `retired`."""
    own = "scripts/results.py"
    found = {f"{name}.md": f"{own} {name}" for name in ("verify", "verify-full", "verify-all-to-all")}
    found |= {"gallery/README.md": f"{own} gallery", "published/README.md": f"{own} verify"}
    found["experiments/README.md"] = f"{own} experiments"
    found |= {f"experiments/{name}.md": f"{own} {name}" for name in EXPERIMENTS}
    found |= {f"experiments/{name}.md": "retired" for name in RETIRED}
    found["benchmarks/README.md"] = "scripts/benchmark.py"
    found |= {"benchmarks/abuse.md": "scripts/abuse.sh", "benchmarks/peers.md": "scripts/peers.py"}
    found["explorer/README.md"] = "scripts/explore.sh"
    found["search/README.md"] = f"{own} search"
    # Some searches have no page yet.
    written = {f"search/{page}.md": f"{own} {name}" for name, runs in search.SEARCHES.items() for page in runs}
    found |= {page: command for page, command in written.items() if Path("results", page).exists()}
    found["search/auto.md"] = f"{own} auto"
    return found


def checks() -> dict[str, str]:
    """Returns the command of each check."""
    names = ["verify", "gallery", *EXPERIMENTS, "search", "auto"]
    found = {name: f"scripts/results.py {name}" for name in names} | {"peers": "scripts/peers.py"}
    return found | {f"benchmark-{name}": f"scripts/benchmark.py {name}" for name in benchmark.SECTIONS}


def experiment(name: str) -> None:
    module = importlib.import_module("experiments." + name.replace("-", "_"))
    page = common.Page(common.RESULTS / "experiments" / f"{name}.md")
    module.write(page)
    page.add(
        f"\nWritten by `scripts/results.py {name}`. Bars are 95 % intervals; the numbers of each figure are in a CSV file of the "
        "same name."
    )
    # Pages that take long have a date.
    if hasattr(module, "LONG"):
        page.add(common.stamp(page.out / module.LONG))
    page.save()


def index() -> None:
    """Writes the list of experiments."""
    page = common.Page(common.RESULTS / "experiments" / "README.md")
    page.add("# Experiments\n\nWritten by `scripts/results.py experiments`.\n")
    for name in [*EXPERIMENTS, *RETIRED]:
        path = page.out / f"{name}.md"
        if path.exists():
            title = path.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
            page.add(f"* [{title}]({name}.md)")
    page.save()


def write(names: list[str]) -> int:
    """Writes pages; returns 1 if published numbers and ours differ."""
    code, described = 0, False
    for name in names:
        if name in published.PAGES:
            code |= published.PAGES[name]()
        elif name in EXPERIMENTS or name == "experiments":
            for one in EXPERIMENTS[:-2] if name == "experiments" else [name]:
                experiment(one)
            described = True
        elif name == "auto":
            importlib.import_module("auto").write()
        else:
            search.write(name)
    if described and not os.environ.get("QUICK"):
        index()
    return code


def check_one(name: str, command: str) -> bool:
    """Runs the quick form of a command, compares its output, and prints the result; returns whether it is right."""
    with tempfile.TemporaryDirectory() as folder:
        begun, output = time.time(), Path(folder, "results")
        environment = {**os.environ, "QUICK": "1", "RESULTS": str(output), "PYTHONDONTWRITEBYTECODE": "1"}
        done = subprocess.run(
            [sys.executable, *command.split()], env=environment, capture_output=True, text=True, check=False
        )
        printed = done.stdout + done.stderr
        # A page with absent parts contains a note and cannot be compared.
        written = "".join(path.read_text(encoding="utf-8") for path in sorted(output.rglob("*.md")))
        absent = re.search("^Not run: .*|^replay: no trace.*", written + printed, re.MULTILINE)
        details: list[str] = []
        if absent:
            result, note = "ignored", absent[0]
        elif done.returncode != 0:
            result, note, details = "FAILED", command, printed.splitlines()[-5:]
        elif "benchmark" in command and not benchmark.is_written(name.removeprefix("benchmark-")):
            result, note = "ran", "not compared, the script has not written the section"
        else:
            details, equal = compare.compare(output, Path("results"))
            result, note = ("equal", details.pop()) if equal else ("DIFFERS", command)
        print(f"{result:8} {name:20} {time.time() - begun:4.0f} s: {note}", *details[:20], sep="\n", flush=True)
    return result not in ("FAILED", "DIFFERS")


def main(arguments: list[str]) -> int:
    if arguments in (["--help"], ["-h"]):
        print(__doc__.strip())
        return 0
    if arguments[:1] == ["--list"] and len(arguments) > 1:
        common.stop("results.py: --list takes no names", 2)
    if arguments == ["--list"]:
        for page, command in pages().items():
            print(page, command)
        return 0
    checked = arguments[:1] == ["--check"]
    names = arguments[1:] if checked else arguments
    every = [*published.PAGES, *EXPERIMENTS, "experiments", *search.SEARCHES, "search", "search-pages", "auto"]
    known = list(checks()) if checked else every
    for name in names:
        if name not in known:
            what = "check named" if checked else "page named"
            common.stop(f"results.py: no {what} {name}; there are {', '.join(known)}", 2)
    common.program()
    if not checked:
        try:
            return write(names or ["verify", "gallery"])
        except common.AbsentTrace as absent:
            common.stop(str(absent))
        except ModuleNotFoundError as absent:
            if absent.name != "polars":
                raise
            common.stop(common.NEEDS_POLARS, 2)
    return 0 if all([check_one(name, command) for name, command in checks().items() if not names or name in names]) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
