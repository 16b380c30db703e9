# The page blue-waters: cost and benefit of contiguous allocation on a large 3D torus.

# Use jobs 1001 to 15000, because the first thousand jobs span 78 of the 86.5 days of the log.
blue_waters_log=(--trace BlueWaters-15k --machine blue-waters --from 6738203)
contiguous='first-fit[shape=near-square],turning-first-fit[shape=near-square],best-fit[shape=near-square],turning-best-fit[shape=near-square],placements[tie=slurm]'
scattered='mc1x1,mc,gilbert-best-fit,hilbert-best-fit,row-major-best-fit,paging,mbs,granular-mbs,octet-mbs,as-mb,random'

# price FILE LOAD SCHEDULER: prints a row for each run of FILE with this load and scheduler.
price() {
    printf '\n| allocator | mean wait h | 99 %% h | longest h | utilization %% | lost inside %% | refused for place, per job | pairwise L1 |\n'
    printf '|---|---:|---:|---:|---:|---:|---:|---:|\n'
    csv "$1" -v load="[load=$2]" -v scheduler="$3" '
        index(get("trace"), load) && get("scheduler") == scheduler && get("copy") == 0 {
            name = get("allocator")
            refused = get("fragmented_refusals") == "" ? "" : sprintf("%.1f", get("fragmented_refusals") / get("jobs"))
            lost = get("internal_fragmentation_percent") == "" ? "" : sprintf("%.1f", get("internal_fragmentation_percent"))
            printf "| %s | %.2f | %.1f | %.1f | %.1f | %s | %s | %.0f |\n", name, get("mean_wait") / 3600, get("p99_wait") / 3600, \
                get("max_wait") / 3600, 100 * get("utilization"), lost, refused, get("mean_pairwise_l1")
        }'
}

# price_by_size FILE LOAD SCHEDULER: prints mean waits by class of size, a row for every allocator.
price_by_size() {
    csv "$1" -v load="[load=$2]" -v scheduler="$3" '
        index(get("trace"), load) && get("scheduler") == scheduler && get("copy") == 0 {
            size = get("size"); name = get("allocator")
            class = size == 1 ? 1 : size == 2 ? 2 : size <= 8 ? 3 : size <= 32 ? 4 : size <= 128 ? 5 : 6
            if (!(name in known)) { known[name] = 1; order[++names] = name }
            jobs[name, class] += get("jobs")
            wait[name, class] += get("jobs") * get("mean_wait")
        }
        END {
            split("1;2;3 to 8;9 to 32;33 to 128;above 128", title, ";")
            printf "\n| allocator |"
            for (c = 1; c <= 6; c++) printf " %s nodes, %d jobs |", title[c], jobs[order[1], c]
            printf "\n|---|---:|---:|---:|---:|---:|---:|\n"
            for (n = 1; n <= names; n++) {
                printf "| %s |", order[n]
                for (c = 1; c <= 6; c++) printf " %.2f |", wait[order[n], c] / jobs[order[n], c] / 3600
                printf "\n"
            }
        }'
}

blue_waters() {
    local grid command scheduler load
    cat << 'TXT'
# A real 3D torus: cost and benefit of contiguity

Jobs 1001 to 15000 of the Blue Waters log (8.5 days, 93 sizes in nodes, estimates for all) on its torus of 24x24x24
routers with two nodes each. A job gets whole routers, so a job of an odd number of nodes wastes one. Arrivals are scaled so
that jobs offer a load of 0.3 to 1 of all 27,648 nodes; the log itself offers 0.49. Run times and sizes are unchanged.

*Contiguous* allocators give a job one box of routers or let it wait. First Fit and Best Fit try one orientation or all
(`turning`), with the sides of least total length, which rounds sizes up; `placements[tie=slurm]` uses aligned boxes with sides
of powers of two, by Slurm's rule. The other allocators use any free routers.

Utilization is over the makespan, which ends long after the last arrival because jobs run for up to two days. At loads that
saturate a strategy, waits grow with the length of the log; they only show that the strategy is saturated.
TXT
    printf '\n'
    ran BlueWaters-15k "${blue_waters_log[@]}" --jobs 10 --alloc paging --quiet || return 0
    if quick; then
        part blue-waters
        "$replay" "${blue_waters_log[@]}" --scale-load 0.5,0.8 --sched fcfs,easy --alloc 'mc1x1,placements[tie=slurm]' \
            --no-jobs --no-plots --quiet --out "$work/bw-all" > /dev/null
        cp "$work/bw-all/runs.csv" "$out/blue-waters.csv"
        return
    fi

    printf '\n## By load\n\n'
    grid=("${blue_waters_log[@]}" --scale-load 0.3,0.5,0.7,0.8,0.9,1.0 --sched fcfs,easy)
    command=("${grid[@]}" --alloc 'mc1x1,turning-first-fit[shape=near-square],placements[tie=slurm]' --shake 5)
    "$replay" "${command[@]}" --no-jobs --quiet --out "$work/bw-load" > /dev/null
    printf '`replay %s`\n\n' "${command[*]}"
    cp "$work/bw-load/shaken.csv" "$out/blue-waters-load.csv"
    for scheduler in fcfs easy; do
        figure "$work/bw-load/plots/wait-by-load--BlueWaters-15k--torus-24x24x24-2--$scheduler" "$out/blue-waters-wait-$scheduler"
        printf '![](blue-waters-wait-%s.svg)\n' "$scheduler"
    done

    printf '\n## All strategies that support this machine\n\n'
    command=("${grid[@]}" --alloc "$scattered,$contiguous,placements[tie=slurm,anchors=half],anca,midplane[unit=4x4x4]")
    "$replay" "${command[@]}" --no-jobs --no-plots --quiet --out "$work/bw-all" > /dev/null
    printf '`replay %s`\n' "${command[*]}"
    cp "$work/bw-all/runs.csv" "$out/blue-waters.csv"
    awk 'NR == 1 || index($0, "[load=0.8]")' "$work/bw-all/by_size.csv" > "$out/blue-waters-by-size.csv"
    for load in 0.5 0.8; do
        for scheduler in fcfs easy; do
            printf '\n### Load %s, %s\n' "$load" "$scheduler"
            price "$work/bw-all/runs.csv" "$load" "$scheduler"
        done
    done
    printf '\nMean wait in hours by requested nodes, load 0.8, easy.\n'
    price_by_size "$work/bw-all/by_size.csv" 0.8 easy

    printf '\n## Reserving a place instead of a number of processors\n\n'
    command=("${blue_waters_log[@]}" --scale-load 0.5,0.8 --sched 'easy[guard=place]' --alloc "$contiguous")
    "$replay" "${command[@]}" --no-jobs --no-plots --quiet --out "$work/bw-place" > /dev/null
    printf '`replay %s`\n' "${command[*]}"
    cp "$work/bw-place/runs.csv" "$out/blue-waters-place.csv"
    for load in 0.5 0.8; do
        printf '\n### Load %s, easy[guard=place]\n' "$load"
        price "$work/bw-place/runs.csv" "$load" 'easy[guard=place]'
    done
    printf '\nMean wait in hours by requested nodes, load 0.8, easy[guard=place].\n'
    price_by_size "$work/bw-place/by_size.csv" 0.8 'easy[guard=place]'
    printf '\n[blue-waters-place.csv](blue-waters-place.csv)\n'

    printf '\n## Benefit: messages\n\n'
    for pattern in all-to-all n-body; do
        command=(contend "${blue_waters_log[@]}" --jobs 1000 --scale 0.01 --sched easy --pattern "$pattern"
            --alloc 'mc1x1,gilbert-best-fit,mbs,paging,random,first-fit[shape=near-square],turning-first-fit[shape=near-square],placements[tie=slurm]')
        "$replay" "${command[@]}" --no-plots --quiet --format md --out "$work/bw-$pattern" > "$work/bw-$pattern.md"
        printf '`replay %s`\n\n' "${command[*]}"
        awk '/^$/ { exit } { print }' "$work/bw-$pattern.md"
        cp "$work/bw-$pattern/contend.csv" "$out/blue-waters-$pattern.csv"
        printf '\n'
    done
    blue_waters_conclusions
}

# blue_waters_summary: prints waits and utilization of boxes and of MC1x1.
blue_waters_summary() {
    local load
    printf '\n## Summary\n\nMean wait in hours and utilization in percent; *boxes* is the range over the contiguous allocators.\n\n'
    printf '| load | scheduler | MC1x1, wait | boxes | MC1x1, utilization | boxes | late promises |\n|---:|---|---:|---:|---:|---:|---:|\n'
    for load in 0.5 0.8; do
        for scheduler in fcfs easy; do summary_row "$work/bw-all/runs.csv" "$load" "$scheduler"; done
        summary_row "$work/bw-place/runs.csv" "$load" 'easy[guard=place]'
    done
}

# summary_row FILE LOAD SCHEDULER: prints a row of the summary.
summary_row() {
    csv "$1" -v load="[load=$2]" -v value="$2" -v scheduler="$3" '
        index(get("trace"), load) && get("scheduler") == scheduler && get("copy") == 0 {
            name = get("allocator"); wait = get("mean_wait") / 3600; used = 100 * get("utilization")
            if (name == "mc1x1") { scattered_wait = wait; scattered_used = used }
            if (name !~ /-fit\[shape=near-square\]$|^placements\[tie=slurm\]$/) next
            if (!boxes++) { least = most = wait; low = high = used }
            if (wait < least) least = wait
            if (wait > most) most = wait
            if (used < low) low = used
            if (used > high) high = used
            late += get("late_heads")
        }
        END {
            printf "| %s | %s | %s | %.2f to %.2f | %s | %.1f to %.1f | %d |\n", value, scheduler,
                scattered_wait == "" ? "" : sprintf("%.2f", scattered_wait), least, most,
                scattered_used == "" ? "" : sprintf("%.1f", scattered_used), low, high, late
        }'
}

blue_waters_conclusions() {
    blue_waters_summary
    cat << 'TXT'

## Conclusions and limitations

**Cost.** With boxes, jobs wait several times as long as with scattered allocation at the same load, and utilization over the
makespan is lower. Scattered allocators have equal schedules because they never refuse a job. An allocation unit of 4x4x4 routers,
like the 8x8x8 midplanes of BlueGene/L, is saturated at all of these loads: most allocated routers are not requested.

**By size.** Waits rise in all classes of size, most for the largest jobs. Jobs of one node wait longer than jobs of two nodes:
their estimates are longer, so that EASY backfills them less often.

**Benefit.** Jobs that only send messages are faster in boxes of the least total side length than under MC1x1 or along a
Hilbert-like curve (`gilbert-best-fit`), and far faster than under `random`. Boxes with sides of powers of two bring no gain: the
processes of a job lie in a box larger than the job, which its messages must cross. Most of the slowdown comes from the shape of
the job's own placement; contention with other jobs adds little under MC1x1.

Under default EASY, contiguity costs hours of waiting and saves seconds of communication. It pays only for jobs that run for days
and mostly communicate. The allocators between the two extremes (MC1x1, curves) avoid both costs: no job waits for a box, and the
processors of a job are close together.

**The guard.** `easy` reserves a number of processors for the head of the queue. A head that is refused because no box is free waits
at most for an empty machine, and until then no longer job starts. `easy[guard=place]` reserves a place, and jobs that leave it
free may start. The cost of boxes is then far lower, and small jobs gain most because they fit next to the reserved place. Most of
the cost of contiguity under EASY is due to reserving only a number of processors.

**Limitations.** MM and Gen-Alg are omitted because their decisions take far longer here; their waits equal those of MC1x1. The study
uses one window of one log: intervals are from perturbed copies (every time changed by up to a second) and show the variation of
the schedule, not that between weeks. Messages cover the first 1,000 jobs, all-to-all and n-body, one process per router, 0.01
cycles per second, at which the machine is mostly empty; real jobs mostly compute, which does not depend on placement.
TXT
}
