"""Pools the deviations over perturbed copies in the sweeps of johnson-spread.sh, and prints them as CSV."""

import csv
import statistics
import sys
from collections import defaultdict

LOGS = {
    "SDSC-Par95": "SDSC-Par-1995-2.1-cln",
    "SDSC-Par96": "SDSC-Par-1996-2.1-cln",
    "LANL-CM5": "LANL-CM5-1994-3.1-cln",
}


def copies(path):
    """Returns the rows of perturbed copies by (scheduler, tie vector) and by copy."""
    runs = defaultdict(dict)
    with open(path, newline="") as file:
        for row in csv.DictReader(file):
            if int(row["copy"]) > 0:
                runs[row["scheduler"], row["tie"]][int(row["copy"])] = row
    return runs


def relative(values):
    """Returns the variance of each list divided by the square of its mean."""
    return [statistics.variance(v) / statistics.fmean(v) ** 2 for v in values]


def mean(row):
    return float(row["mean_pairwise_l1"])


def main():
    out = csv.writer(sys.stdout, lineterminator="\n")
    out.writerow(["trace", "scheduler", "metric", "tied", "deviation", "copies"])
    for name, trace in LOGS.items():
        all_ties = copies(f"{sys.argv[1]}/{name}-ties/runs.csv")
        all_runs = copies(f"{sys.argv[1]}/{name}/runs.csv")
        for scheduler in ["fcfs", "easy"]:
            ties = all_ties[scheduler, ""].values()
            runs = {tie: run for (of, tie), run in all_runs.items() if of == scheduler}
            variances = {
                (metric, "no"): relative([[float(row[metric]) for row in ties]])
                for metric in ["tied_decisions", "tied_percent", "mean_tied"]
            }
            for tied in ["no", "yes"]:
                means = [[mean(r) for r in run.values()] for tie, run in runs.items() if bool(tie) == (tied == "yes")]
                variances["mean_pairwise_l1", tied] = relative(means)
            gains = [
                [100 * (1 - mean(row) / mean(runs[""][copy])) for copy, row in run.items()]
                for tie, run in runs.items()
                if tie
            ]
            for (metric, tied), of in variances.items():
                out.writerow([trace, scheduler, metric, tied, f"{100 * statistics.fmean(of) ** 0.5:.4f}", len(ties)])
            deviation = statistics.fmean([statistics.variance(v) for v in gains]) ** 0.5
            out.writerow([trace, scheduler, "improvement_percent", "yes", f"{deviation:.4f}", len(ties)])


main()
