"""Reports of a campaign: a line per section, failures with the command that repeats them, and files."""

import csv
import platform
import re
import shlex
import subprocess
import time

# Number of failures of one kind that are printed in full.
SHOWN = 3


def kind(why):
    """Returns the kind of a failure: its reason without numbers and names."""
    return re.sub(r"\d[\d.,]*", "#", why.split(":")[0])[:60]


def repeat(campaign, name):
    program = shlex.quote(campaign.program)
    return f"scripts/abuse.sh {program} --seed {campaign.seed} --keep --only {shlex.quote(name)}"


def line(tally):
    if tally.absent:
        return f"{tally.name:<17} SKIPPED: {tally.absent}"
    left = f", {tally.left} not tried for lack of time" if tally.left else ""
    skipped = f", {len(tally.skipped)} skipped ({tally.skipped[0][1]})" if tally.skipped else ""
    return (
        f"{tally.name:<17} tried {tally.tried():>6}, held {tally.held:>6}, failed {len(tally.failed):>5}"
        f"{skipped}{left}, {tally.seconds:.0f} s"
    )


def failures(campaign, tally):
    """Yields lines about failures, grouped by kind."""
    kinds = {}
    for failure in sorted(tally.failed):
        kinds.setdefault(kind(failure[1]), []).append(failure)
    for alike in kinds.values():
        for name, why, runs in alike[:SHOWN]:
            yield f"  FAILED {name}: {why.strip()}"
            if runs:
                yield f"    last command: {runs[-1]}"
            yield f"    to repeat:    {repeat(campaign, name)}"
        if len(alike) > SHOWN:
            yield f"  ... and {len(alike) - SHOWN} more of this kind"


def total(tallies):
    return [
        sum(tally.tried() for tally in tallies),
        sum(tally.held for tally in tallies),
        sum(len(tally.failed) for tally in tallies),
        sum(len(tally.skipped) for tally in tallies),
    ]


def table(tallies, sections):
    """Yields the lines of the summary as Markdown."""
    yield "| section | tried | held | failed | skipped | seconds | what |"
    yield "|---|---:|---:|---:|---:|---:|---|"
    for tally in tallies:
        about = sections[tally.name].about
        if tally.absent:
            yield f"| {tally.name} | 0 | 0 | 0 | all: {tally.absent} | {tally.seconds:.0f} | {about} |"
        else:
            numbers = f"{tally.tried():,} | {tally.held:,} | {len(tally.failed):,} | {len(tally.skipped):,}"
            yield f"| {tally.name} | {numbers} | {tally.seconds:.0f} | {about} |"
    numbers = " | ".join(f"{number:,}" for number in total(tallies))
    yield f"| all | {numbers} | {sum(tally.seconds for tally in tallies):.0f} | |"


def write(folder, campaign, tallies, sections):
    """Writes abuse.csv, abuse.md and failures.csv into a directory."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "abuse.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["section", "tried", "held", "failed", "skipped", "not_tried", "seconds", "reason"])
        for tally in tallies:
            reason = tally.absent or (tally.skipped[0][1] if tally.skipped else "")
            numbers = [tally.tried(), tally.held, len(tally.failed), len(tally.skipped), tally.left]
            rows.writerow([tally.name, *numbers, f"{tally.seconds:.1f}", reason])
    with (folder / "failures.csv").open("w", newline="") as file:
        rows = csv.writer(file, lineterminator="\n")
        rows.writerow(["case", "why", "command"])
        for tally in tallies:
            rows.writerows([name, why, runs[-1] if runs else ""] for name, why, runs in sorted(tally.failed))
    version = subprocess.run([campaign.program, "-V"], capture_output=True, text=True).stdout.strip()
    form = "quick form" if campaign.quick() else f"{campaign.minutes:g} minutes"
    head = [
        f"`scripts/abuse.sh`, {form}, seed {campaign.seed}, {campaign.workers} workers; {version};",
        f"{platform.system()} {platform.release()}, {time.strftime('%Y-%m-%d')}.",
        "",
    ]
    (folder / "abuse.md").write_text("\n".join(head + list(table(tallies, sections))) + "\n")
