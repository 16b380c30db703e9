"""The page contention-shaken: significance of the effect of a tie vector on jobs that send messages."""

import polars as pl

from common import Page, figure, only, quick, row
from experiments.contention import RUNS
from frames import read

LONG = "contention-shaken-KTH-SP2-n-body.csv"
COPIES = 10
TEXT = f"""\
# Contention on perturbed traces

On one window of one log, strategies may differ by chance. Here each strategy also runs on {COPIES} copies of the
window as well, in which submit and run times are changed by -1, 0 or +1 s, and is compared with MC1x1 without a tie vector
on the same copies. `~` stands before a difference that is not significant at 95 %, corrected by Holm's method for the
runs compared. Medians and trimmed means are over the jobs that send messages, as in [contention](contention.md); the first
2,000 jobs of each log, EASY. The vector 2,13,20,6 is the best of Johnson et al. for KTH-SP2, so the result is in-sample there."""
EFFECT = f"""
## Effect of the tie vector by factor

Mean difference between MC1x1 with 2,13,20,6 and MC1x1 without, over {COPIES} copies, with half widths of 95 % intervals.

| trace | pattern | median stretch | trimmed mean stretch | trimmed mean placement factor | trimmed mean contention factor |
|---|---|---:|---:|---:|---:|"""
METRICS = ["median_stretch", "trimmed_mean_stretch", "trimmed_mean_placement_factor", "trimmed_mean_contention_factor"]


def differences(shaken: pl.DataFrame) -> list[str]:
    """Returns the difference between MC1x1 with and without the tie vector for each metric."""
    rows = shaken.filter(pl.col("tie").is_not_null(), allocator="mc1x1").iter_rows(named=True)
    cells = {
        one["metric"]: f"{'' if one['distinct'] == 'yes' else '~ '}{one['paired_difference']:+.4f} ± {one['paired_half_width']:.4f}"
        for one in rows
        if one["paired_difference"] is not None
    }
    return [cells.get(metric, "") for metric in METRICS]


def write(page: Page) -> None:
    page.add(TEXT)
    found = []
    for trace, scale, pattern in RUNS[1:2] if quick() else RUNS:
        name = f"contention-shaken-{trace}-{pattern}"
        folder = page.work / name
        page.add(f"\n## {trace}, {pattern}\n")
        command = f"contend --trace {trace} --jobs 2000 --scale {scale} --pattern {pattern} --sched easy --tie none --tie 2,13,20,6"
        if quick():
            command += " --alloc mc1x1 --shake 2 --no-plots"
        else:
            command += f" --alloc mc1x1,hilbert-best-fit,mbs --shake {COPIES}"
        printed = page.ran(f"{command} --quiet --format md --out", folder)
        if not printed:
            continue
        # The last table has the means over copies.
        page.add(f"`replay {command}`\n", printed.stdout.rstrip("\n").split("\n\n")[-1])
        shaken = read(folder / "shaken.csv")
        found.append((trace, pattern, *differences(shaken)))
        if quick():
            # Write only the columns that do not depend on the number of copies.
            rows = read(folder / "shaken.csv", as_text=True).filter(pl.col("tie").is_null())
            rows.select("allocator", "metric", "unshaken").write_csv(page.out / f"{name}.csv")
            continue
        page.copy(folder / "shaken.csv", f"{name}.csv")
        figure(only(folder / "plots", "contention--*.svg"), page.out / name, page.out / f"{name}-figure.csv")
        page.add(f"\n![]({name}.svg)")
    page.add(EFFECT, *(row(*cells) for cells in found))
    # There are sixteen comparisons. Two equal configurations differ significantly by chance in at most 5 % of the
    # comparisons.
    cells = [cell for one in found for cell in one[2:] if cell]
    significant = sum(not cell.startswith("~") for cell in cells)
    page.add(
        f"\nOf {len(cells)} differences, {significant} are significant; among as many equal pairs, chance alone gives at most "
        f"{len(cells) / 20:.1f}."
    )
