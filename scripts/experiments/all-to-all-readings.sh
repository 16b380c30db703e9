# The page all-to-all-readings: results of several interpretations of all-to-all, compared with the printed differences of
# Bani-Mohammad.

# all_to_all_reading SIDES LOAD PARAMETERS MAPPING: prints a row that compares GABL with the other strategies in one
# interpretation.
all_to_all_reading() {
    local sides=$1 load=$2 parameters=$3 mapping=$4
    "$replay" stream --seed 1 --machine 16x16 --preset bani-mohammad --pattern "all-to-all${parameters:+[$parameters]}" \
        --mapping "$mapping" --sides "$sides" --arrivals "$load" --min-replications 10 --max-replications 10 \
        --alloc 'gabl,mbs,mbs[splitting=on-demand],paging,first-fit' --format csv --quiet > "$work/all-to-all.csv"
    python3 - "$work/all-to-all.csv" "$sides" "$parameters" "$mapping" "$out/all-to-all-readings.csv" << 'PY'
import csv, sys
path, sides, parameters, mapping, table = sys.argv[1:]
rows = {row["allocator"]: row for row in csv.DictReader(open(path))}
def percent(column, other):
    return 100 * float(rows["gabl"][column]) / float(rows[other][column])
others = ["first-fit", "paging", "mbs", "mbs[splitting=on-demand]"]
values = [percent("turnaround_time", other) for other in others] + [percent("wait_time", other) for other in others]
values.append(float(rows["gabl"]["utilization_percent"]))
with open(table, "a", newline="") as file:
    csv.writer(file, lineterminator="\n").writerow([sides, parameters, mapping, *(f"{value:.4f}" for value in values)])
name = f"`{parameters}`" if parameters else "as in the suite"
print(f"| {sides} | {name} | {mapping} | " + " | ".join(f"{value:.0f}" for value in values) + " |")
PY
}

# A quick run evaluates the first interpretation.
all_to_all_readings() {
    local sides load parameters mapping
    quick && part all-to-all-readings
    cat << 'TXT'
# Interpretations of all-to-all (Bani-Mohammad, chapter 4)

The thesis states that "each processor allocated to a job sends a packet to all other processors", but neither the order nor
the times. This page evaluates the interpretations that the program supports, each with two mappings of ranks, at the highest
loads: turnaround and wait of GABL in percent of the other strategies, 10 replications of 1000 jobs, the same for all.

Printed at these loads: turnaround with uniform sides 20 % of First Fit, 24 % of Paging(0) and 38 % of MBS (Fig. 4.8), with
exponential sides 28 % of Paging(0) and 51 % of MBS (Fig. 4.9); wait with exponential sides 19, 27 and 50 % (Fig. 4.15).

| sides | parameters | ranks | turnaround: First Fit | Paging(0) | MBS | MBS on demand | wait: First Fit | Paging(0) | MBS | MBS on demand | utilization |
|---|---|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
TXT
    echo 'sides,parameters,mapping,turnaround_first_fit,turnaround_paging,turnaround_mbs,turnaround_mbs_on_demand,wait_first_fit,wait_paging,wait_mbs,wait_mbs_on_demand,utilization_percent' \
        > "$out/all-to-all-readings.csv"
    while read -r sides load; do
        while read -r parameters; do
            for mapping in allocation row-major; do
                all_to_all_reading "$sides" "$load" "$parameters" "$mapping"
            done
            if quick; then return; fi
        done << 'READINGS'

order=same
order=shifted
order=same,sends=pipelined
order=shifted,sends=pipelined
order=same,sends=sequential
stream=job
barrier=iteration
order=shifted,sends=sequential,barrier=step
READINGS
    done << 'STREAMS'
uniform 0.0305
exponential 0.05
STREAMS
    cat << 'TXT'

`order`: the order of receivers; `sends`: when the next packet leaves; `stream=job`: one queue for the job instead of one for
each process; `barrier`: where the job waits until all its packets are delivered. The suite uses
`order=lexicographic,sends=at-once,stream=process,barrier=none`.
TXT
}
