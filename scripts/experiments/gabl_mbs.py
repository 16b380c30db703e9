"""The page gabl-mbs: GABL and MBS with messages, under several interpretations of the thesis."""

import polars as pl

from common import Page, quick, replay, row
from frames import read

USUAL = "stream --seed 1 --machine 16x16 --preset bani-mohammad --min-replications 20 --max-replications 20 --format csv --quiet"
ON_DEMAND = "mbs[splitting=on-demand]"
TEXT = """\
# GABL and MBS with messages (Bani-Mohammad, chapter 4)

The thesis finds GABL faster than MBS with one-to-all and all-to-all messages: by 30 % and 62 % of turnaround with
uniform sides at the highest loads. Its ranks are "mapped to a linear array using row-major indexing". Literally this refers to
the whole allocation; `replay verify bani-mohammad-messages` uses this interpretation, with blocks of MBS split on demand. Factors
that could make GABL faster were varied one at a time, at loads at which jobs queue. Turnaround in cycles, means of 20 replications
of 1000 jobs with their intervals; GABL and MBS have the same jobs, so their ratio is more precise than either mean. All metrics
are in [gabl-mbs.csv](gabl-mbs.csv).

| interpretation | GABL | MBS | Paging(0) | First Fit | GABL / MBS | links GABL | links MBS |
|---|---:|---:|---:|---:|---:|---:|---:|"""
ROWS, MACHINE, DEMAND = "... ranks row-major over the machine", "--mapping row-major", "... over the machine, MBS split on demand"
ONE, ALL = "--pattern one-to-all --sides uniform", "--pattern all-to-all --sides"
ONE_LOAD, EXPONENTIAL = f"{ONE} --arrivals 0.0205", "--pattern one-to-all --sides exponential --arrivals 0.04"
ALL_LOAD, ALL_EXPONENTIAL = f"{ALL} uniform --arrivals 0.0305", f"{ALL} exponential --arrivals 0.05"
# Words, options, and the variant of MBS.
READINGS = [
    ("one-to-all, uniform: as in the suite", ONE_LOAD, "mbs"),
    (ROWS, f"{ONE_LOAD} {MACHINE}", "mbs"),
    (DEMAND, f"{ONE_LOAD} {MACHINE}", ON_DEMAND),
    ("... no routing delay", f"{ONE} --arrivals 0.035 --network bani-mohammad[route=0]", "mbs"),
    ("... routing delay 1", f"{ONE} --arrivals 0.028 --network bani-mohammad[route=1]", "mbs"),
    ("... routing delay 6", f"{ONE} --arrivals 0.0135 --network bani-mohammad[route=6]", "mbs"),
    ("... packets of 32 flits", f"{ONE} --arrivals 0.0125 --flits 32", "mbs"),
    ("... of 32 flits, ranks row-major", f"{ONE} --arrivals 0.0125 --flits 32 {MACHINE}", "mbs"),
    ("... packets of 64 flits", f"{ONE} --arrivals 0.008 --flits 64", "mbs"),
    ("... of 64 flits, ranks row-major", f"{ONE} --arrivals 0.008 --flits 64 {MACHINE}", "mbs"),
    ("one-to-all, exponential: as in the suite", EXPONENTIAL, "mbs"),
    (ROWS, f"{EXPONENTIAL} {MACHINE}", "mbs"),
    (DEMAND, f"{EXPONENTIAL} {MACHINE}", ON_DEMAND),
    ("all-to-all, uniform: as in the suite", ALL_LOAD, "mbs"),
    (ROWS, f"{ALL_LOAD} {MACHINE}", "mbs"),
    (DEMAND, f"{ALL_LOAD} {MACHINE}", ON_DEMAND),
    ("all-to-all, exponential: as in the suite", ALL_EXPONENTIAL, "mbs"),
    (ROWS, f"{ALL_EXPONENTIAL} {MACHINE}", "mbs"),
    (DEMAND, f"{ALL_EXPONENTIAL} {MACHINE}", ON_DEMAND),
]
CONCLUSION = """
MBS gives a job squares whose sides are powers of two, and numbers its ranks square by square, so that neighbours in rank are
neighbours in the mesh. GABL gives a job mostly one large sub-mesh, whose rows are as wide as the job. Messages of MBS therefore
have shorter paths if ranks follow the order of allocation, and GABL is slower in all such interpretations. With ranks
row-major over the whole machine the advantage disappears: GABL takes {mbs}
times as long as MBS, and {on_demand} times with blocks split on demand. In no
interpretation is GABL 30 % faster; this would require a much slower MBS, not a faster GABL. Inverting Table 4.2 of the thesis
gives a mean service time of MBS near that of Paging(0), as if its blocks had no more locality than single pages; ours is between
those of First Fit and Paging(0). The more likely reason is therefore the MBS of the thesis, which the thesis does not describe,
rather than our GABL. The later finding of its authors that MBS is best on real traces supports this."""


def write(page: Page) -> None:
    page.add(TEXT)
    tables = []
    # Ratios of the turnaround of GABL to that of each variant of MBS, with ranks numbered over the whole machine.
    ratios: dict[str, list[float]] = {"mbs": [], ON_DEMAND: []}
    for words, options, mbs in READINGS[:1] if quick() else READINGS:
        table = page.work / "reading.csv"
        table.write_text(replay(f"{USUAL} --alloc gabl,{mbs},paging,first-fit {options}").stdout, encoding="utf-8")
        tables.append(read(table, as_text=True).select(pl.lit(words).alias("reading"), pl.all()))
        gabl, blocks, *others = read(table).iter_rows(named=True)
        ratio = gabl["turnaround_time"] / blocks["turnaround_time"]
        if "over the machine" in words:
            ratios[mbs].append(ratio)
        means = [f"{one['turnaround_time']:.0f} ± {one['turnaround_time_pm']:.0f}" for one in (gabl, blocks, *others)]
        page.add(row(words, *means, f"{ratio:.2f}", f"{gabl['hops']:.2f}", f"{blocks['hops']:.2f}"))
    pl.concat(tables).write_csv(page.out / "gabl-mbs.csv")
    if quick():
        return
    page.add("\nGABL with the last of equally long sides shrunk first, and without rotation (one-to-all, uniform):\n")
    table.write_text(replay(f"{USUAL} {ONE_LOAD} --alloc gabl,gabl[tie-shrink=b],gabl[rotate=no],mbs").stdout, encoding="utf-8")
    for one in read(table).iter_rows(named=True):
        page.add(f"* {one['allocator']}: {one['turnaround_time']:.0f} ± {one['turnaround_time_pm']:.0f}")
    mbs, on_demand = (f"{min(found):.2f} to {max(found):.2f}" for found in ratios.values())
    page.add(CONCLUSION.format(mbs=mbs, on_demand=on_demand))
