# The page completions: a run of 1000 jobs, a run that stops at 1000 completions, and batches of one long run.

# measured LABEL REPLICATIONS JOBS PRINTED ARGUMENTS...: prints turnaround or utilization of each allocator, measured over
# a run of 1000 jobs, over the first 1000 completions of a stream of JOBS jobs, and over batches 2 and 5 of one long run.
# PRINTED is turnaround:allocator=value,... or utilization:value.
measured() {
    local words=$1 replications=$2 jobs=$3 printed=$4 batch
    shift 4
    local common=(--min-replications "$replications" --max-replications "$replications" --format csv --quiet)
    "$replay" stream --seed 1 "$@" "${common[@]}" > "$work/all.csv"
    "$replay" stream --seed 1 "$@" "${common[@]}" --jobs "$jobs" --completions 1000 > "$work/batch-1.csv"
    for batch in 2 5; do
        "$replay" stream --seed 1 "$@" "${common[@]}" --jobs $((jobs * batch)) --completions $((1000 * batch)) \
            --warm-up $((1000 * (batch - 1))) > "$work/batch-$batch.csv"
    done
    python3 - "$work" "$words" "$printed" "$out/completions.csv" << 'PY'
import csv, sys
work, words, printed, table = sys.argv[1:]
kind, values = printed.split(":")
values = dict(pair.split("=") for pair in values.split(",")) if "=" in values else {"": values}
column = {"turnaround": "turnaround_time", "utilization": "utilization_percent"}[kind]
runs = [list(csv.DictReader(open(f"{work}/{name}.csv"))) for name in ("all", "batch-1", "batch-2", "batch-5")]
digits = 0 if kind == "turnaround" and float(runs[0][0][column]) > 2000 else 1
with open(table, "a", newline="") as file:
    for rows in zip(*runs):
        allocator, replications = rows[0]["allocator"], rows[0]["replications"]
        from_paper = values.get(allocator, values.get("", ""))
        cells = [(float(row[column]), float(row[column + "_pm"])) for row in rows]
        csv.writer(file, lineterminator="\n").writerow(
            [words, kind, allocator, replications, from_paper, *(f"{x:.5g}" for cell in cells for x in cell)])
        shown = " | ".join(f"{mean:.{digits}f} ± {width:.{digits}f}" for mean, width in cells)
        print(f"| {words} | {kind} | `{allocator}` | {from_paper} | {shown} |")
PY
}

# A quick run evaluates Table 3.2.
completions() {
    quick && part completions
    cat << 'TXT'
# 1000 completed jobs (Bani-Mohammad)

"Each simulation run consists of one thousand completed jobs", and "the batch means analysis has been used to calculate
confidence intervals" (sections 3.4.1, 4.3 and 5.3). A run of 1000 jobs, as in the suites, ends with the last of these jobs, on a
machine that empties. In the other interpretations jobs keep arriving: the run stops at its 1000th completion
(`--completions 1000`), or is a batch of 1000 completions of one long run (`--warm-up` as well). Means with 95 % intervals over
replications.

| of | measure | allocator | printed | 1000 jobs | until 1000 completions | batch 2 | batch 5 |
|---|---|---|---:|---:|---:|---:|---:|
TXT
    local heads=of,measure,allocator,replications,printed name
    for name in all until_1000 batch_2 batch_5; do heads+=",$name,${name}_pm"; done
    echo "$heads" > "$out/completions.csv"
    local four=turning-busy-list,turning-first-fit,busy-list,first-fit messages=(--machine 16x16 --preset bani-mohammad)
    measured 'Table 3.2' 30 1500 turnaround:turning-busy-list=96.58,turning-first-fit=96.59,busy-list=159.46,first-fit=157.23 \
        --machine 8x8x8 --sides uniform --arrivals 5.8 --alloc "$four"
    if quick; then return; fi
    measured 'Table 5.2' 60 2500 turnaround:turning-busy-list=578.78,turning-first-fit=578.61,busy-list=663.09,first-fit=650.63 \
        --machine 8x8x8 --sides uniform --service 'pareto[k=15,q=4241,alpha=1]' --arrivals 0.035 --sched ssd --alloc "$four"
    four=gabl,mbs,paging,first-fit
    measured 'Table 4.2' 20 1500 turnaround:gabl=5174.6,mbs=8260.4,paging=9264.4,first-fit=18850.4 \
        "${messages[@]}" --sides uniform --pattern one-to-all --arrivals 0.0185 --alloc "$four"
    local figure sides pattern load
    while read -r figure sides pattern load; do
        measured "Fig. $figure, $pattern" 20 1500 "utilization:gabl=71-75,mbs=71-75,paging=71-75,first-fit=at most 50" \
            "${messages[@]}" --sides "$sides" --pattern "$pattern" --arrivals "$load" --alloc "$four"
    done << 'STREAMS'
4.18 uniform one-to-all 0.0205
4.18 uniform all-to-all 0.0305
4.18 uniform random 0.1
4.19 exponential one-to-all 0.04
4.19 exponential all-to-all 0.05
4.19 exponential random 0.1
STREAMS
    cat << 'TXT'

On a saturated machine, jobs in later batches of one long run wait as long as the queue has grown, so the turnarounds of Tables
3.2, 4.2 and 5.2 cannot be those of later batches. Under FCFS, stopping at the 1000th completion changes almost nothing. Under
SSD it excludes the long jobs, which wait until the end: turnaround is then farther from Table 5.2, and BL is no longer slower
than TBL. Utilization rises by at most 2 points in later batches: with one-to-all it stays below the printed range or at
its lower end, with random pairs above it.
TXT
}
