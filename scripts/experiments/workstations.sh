# The page workstations: chapter 6 of Turner, hosts that jobs share.

# columns FILE NAMES...: prints these columns of a CSV file as a Markdown table. Numbers have three decimals.
columns() {
    local file=$1 names=${*:2}
    printf '|'
    printf ' %s |' "${@:2}"
    printf '\n'
    printf '|---%.0s' "${@:2}"
    printf '|\n'
    csv "$file" -v names="$names" '
        BEGIN { count = split(names, name, " ") }
        {
            for (i = 1; i <= count; i++) {
                value = get(name[i])
                if (value ~ /^[0-9.]+(e-[0-9]+)?$/) {
                    value = sprintf(value >= 1000 ? "%.0f" : "%.3f", value)
                    if (value ~ /\./) sub(/\.?0+$/, "", value)
                }
                printf "| %s ", value
            }
            printf "|\n"
        }'
}

workstations() {
    local command width held used
    cat << 'TXT'
# Workstations that jobs share (Turner, chapter 6)

This page examines why jobs wait far longer under version 1 of Elmer, which shares hosts, than under version 2, which does not
share hosts if every job computes all the time. A host runs its highest job; the next job gets the remaining processor time. A
job whose processes wait for one another advances at the rate of its slowest process.

## On a trace

A hundred hosts of one to four slots, jobs of the shipped trace, FCFS. `demand` is the share of its processor that a process
uses at full speed, 1 by default. `utilization` is the share of the time of all hosts in which jobs compute;
`slots_held_percent` is the share of slots held by jobs, computing or not.
TXT
    command=(--machine cluster:100,cluster:100x2,cluster:100x4 --alloc 'elmer[version=2],elmer,elmer[mode=strict],elmer[pick=lowest],elmer[demand=0.9],elmer[demand=0.5],elmer[version=2,demand=0.5]')
    printf '\n`replay %s`\n\n' "${command[*]}"
    "$replay" "${command[@]}" --quiet --no-jobs --no-plots --out "$work/workstations" > /dev/null
    cp "$work/workstations/runs.csv" "$out/workstations.csv"
    columns "$out/workstations.csv" topology allocator mean_wait mean_turnaround makespan utilization slots_held_percent
    cat << 'TXT'

With one slot per host all strategies are plain space sharing, as is version 2 with two or four slots.

## Jobs of one width

Streams of jobs of equal width with an offered load of 0.5, 5 x 5000 jobs without the first 500. Times are in mean service
times.
TXT
    for width in 1 2 5 10 25 50; do
        "$replay" stream --seed 1 --machine cluster:100,cluster:100x2 --sides "uniform[low=$width,high=$width]" --load 0.5 \
            --jobs 5000 --warm-up 500 --min-replications 5 --max-replications 5 --quiet --format csv \
            --alloc 'elmer,elmer[pick=lowest],elmer[demand=0.5]'
    done | joined > "$out/workstations-widths.csv"
    printf '\n`replay stream --seed 1 --machine cluster:100,cluster:100x2 --sides uniform[low=WIDTH,high=WIDTH] --load 0.5 --jobs 5000 --warm-up 500 --min-replications 5 --max-replications 5 --alloc elmer,elmer[pick=lowest],elmer[demand=0.5]`\n\n'
    columns "$out/workstations-widths.csv" sides topology allocator wait_time service_time turnaround_time \
        utilization_percent slots_held_percent
    held=$(cell "$out/workstations.csv" %.0f slots_held_percent topology=cluster:100x2 allocator=elmer)
    used=$(csv "$out/workstations.csv" '
        get("topology") == "cluster:100x2" && get("allocator") == "elmer" { printf "%.0f", 100 * get("utilization") }')
    cat << TXT

## Conclusions

* The hosts of a job are drawn at random, so a wide job is below many other jobs at once. It does not run before the last of
  them ends; meanwhile it is the highest job on the other hosts, which idle. Later jobs queue below it in turn. On the trace
  with two slots per host, jobs hold $held % of the slots and use $used % of the time of the hosts.
* Sharing does not slow down narrow jobs. Wide jobs saturate a machine on which, with one slot per host, they hardly wait at the
  same load.
* If jobs take the free hosts with the lowest numbers (\`pick=lowest\`), they are below few other jobs, and the streams are not saturated.
* Two jobs that compute half of the time share a host at full speed, and waits are shorter than without sharing.

Turner warns of this effect (section 6.3): a cluster of low priority that spans several clusters of higher priority. The rule that
a job advances at the rate of its slowest process holds for programs whose processes wait for one another; it does not affect EP.
The threshold of version 2 of Elmer avoids the effect: hosts are shared only if processor time is left.
TXT
}
