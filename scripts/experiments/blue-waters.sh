# The page blue-waters: what contiguity costs on a large 3D torus, and what it brings.

# Jobs 1001 to 15000: the first thousand span 78 of the log's 86.5 days.
blue_waters_log=(--trace BlueWaters-15k --machine blue-waters --from 6738203)
contiguous='first-fit[shape=near-square],turning-first-fit[shape=near-square],best-fit[shape=near-square],turning-best-fit[shape=near-square],placements[tie=slurm]'
scattered='mc1x1,mc,gilbert-best-fit,hilbert-best-fit,row-major-best-fit,paging,mbs,granular-mbs,octet-mbs,as-mb,random'

# price FILE LOAD SCHEDULER: a row of runs.csv for every run at a load under a scheduler.
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

# price_by_size FILE LOAD SCHEDULER: mean waits by class of size, a row for every allocator.
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
# A real 3D torus: what contiguity costs, and what it brings

Jobs 1001 to 15000 of the Blue Waters log (8.5 days, 93 sizes in nodes, estimates for all) on its torus of 24x24x24
routers with two nodes each. A job gets whole routers, so a job of an odd number of nodes wastes one. Arrivals are moved so
that jobs offer a load of 0.3 to 1 of all 27,648 nodes; the log itself offers 0.49. Run times and sizes stay.

*Contiguous* allocators give a job one box of routers, or let it wait: First Fit and Best Fit in one
orientation or in all (`turning`), sides chosen for the least total side length, which rounds up; `placements[tie=slurm]` takes boxes with sides
of powers of two, aligned, by Slurm's rule. The others take what is free.

Utilization is over the makespan, which ends long after the last arrival: jobs run up to two days.
Waits at loads that a strategy cannot carry grow with the length of the log; they show that it cannot, not how long jobs would wait.
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

    printf '\n## Against the load\n\n'
    grid=("${blue_waters_log[@]}" --scale-load 0.3,0.5,0.7,0.8,0.9,1.0 --sched fcfs,easy)
    command=("${grid[@]}" --alloc 'mc1x1,turning-first-fit[shape=near-square],placements[tie=slurm]' --shake 5)
    "$replay" "${command[@]}" --no-jobs --quiet --out "$work/bw-load" > /dev/null
    printf '`replay %s`\n\n' "${command[*]}"
    cp "$work/bw-load/shaken.csv" "$out/blue-waters-load.csv"
    for scheduler in fcfs easy; do
        figure "$work/bw-load/plots/wait-by-load--BlueWaters-15k--torus-24x24x24-2--$scheduler" "$out/blue-waters-wait-$scheduler"
        printf '![](blue-waters-wait-%s.svg)\n' "$scheduler"
    done

    printf '\n## Every strategy that works on this machine\n\n'
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
    printf '\nMean wait in hours by nodes asked for, load 0.8, easy.\n'
    price_by_size "$work/bw-all/by_size.csv" 0.8 easy

    printf '\n## A place for the head of the queue, instead of a number of processors\n\n'
    command=("${blue_waters_log[@]}" --scale-load 0.5,0.8 --sched 'easy[guard=place]' --alloc "$contiguous")
    "$replay" "${command[@]}" --no-jobs --no-plots --quiet --out "$work/bw-place" > /dev/null
    printf '`replay %s`\n' "${command[*]}"
    cp "$work/bw-place/runs.csv" "$out/blue-waters-place.csv"
    for load in 0.5 0.8; do
        printf '\n### Load %s, easy[guard=place]\n' "$load"
        price "$work/bw-place/runs.csv" "$load" 'easy[guard=place]'
    done
    printf '\nMean wait in hours by nodes asked for, load 0.8, easy[guard=place].\n'
    price_by_size "$work/bw-place/by_size.csv" 0.8 'easy[guard=place]'
    printf '\n[blue-waters-place.csv](blue-waters-place.csv)\n'

    printf '\n## What it brings: messages\n\n'
    for pattern in all-to-all n-body; do
        command=(contend "${blue_waters_log[@]}" --jobs 1000 --scale 0.01 --sched easy --pattern "$pattern"
            --alloc 'mc1x1,gilbert-best-fit,mbs,paging,random,first-fit[shape=near-square],turning-first-fit[shape=near-square],placements[tie=slurm]')
        "$replay" "${command[@]}" --no-plots --quiet --format md --out "$work/bw-$pattern" > "$work/bw-$pattern.md"
        printf '`replay %s`\n\n' "${command[*]}"
        awk '/^$/ { exit } { print }' "$work/bw-$pattern.md"
        cp "$work/bw-$pattern/contend.csv" "$out/blue-waters-$pattern.csv"
        printf '\n'
    done
    blue_waters_says
}

# blue_waters_summary: waits and utilization of boxes beside MC1x1.
blue_waters_summary() {
    local load
    printf '\n## Summary\n\nMean wait in hours and utilization in percent; *boxes* are the contiguous allocators, least and greatest.\n\n'
    printf '| load | scheduler | MC1x1, wait | boxes | MC1x1, utilization | boxes | late promises |\n|---:|---|---:|---:|---:|---:|---:|\n'
    for load in 0.5 0.8; do
        for scheduler in fcfs easy; do summary_row "$work/bw-all/runs.csv" "$load" "$scheduler"; done
        summary_row "$work/bw-place/runs.csv" "$load" 'easy[guard=place]'
    done
}

# summary_row FILE LOAD SCHEDULER
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

blue_waters_says() {
    blue_waters_summary
    cat << 'TXT'

## Conclusions, and what the study does not show

**The price.** Boxes make jobs wait several times as long as scattered allocation at the same load, and lower utilization over the
makespan. Scattered allocators do not differ from each other: none refuses, so that the schedule is the scheduler's alone. A unit of
4x4x4 routers for every job, as BlueGene/L had of 8x8x8, carries none of these loads: most of what it hands out is not asked for.

**Who pays.** All classes of size, and the largest jobs most. Jobs of one node wait longer than those of two: their estimates are
longer, so that EASY lets them overtake least.

**The gain.** Jobs that do nothing but send messages are faster in boxes of the least total side length than under MC1x1 or along a
Hilbert-like curve (`gilbert-best-fit`), and far faster than under `random`. Boxes with sides of powers of two are no gain: a job's
processes then lie in a box larger than the job, which its messages cross. Most of what placement costs here is the shape of the
job's own place; contention with others adds little under MC1x1.

Under the usual EASY contiguity would have to save hours of waiting by seconds of messages. It does so only for jobs that
run for days and do little else than communicate. The allocators between the two extremes (MC1x1, curves) keep both: no job waits for
a place, and processors of a job are near each other.

**The guard.** `easy` promises the head of the queue a number of processors; a head that is refused for want of a place waits for an
empty machine at the latest, and until then no longer job starts. `easy[guard=place]` promises it a place, and jobs that leave
it free may start. Boxes then cost far less, and small jobs gain most, for they fit beside the reserved place. Most of what EASY seems
to pay for contiguity is the promise of a number.

**Left out.** MM and Gen-Alg, whose decisions take far longer here, wait as MC1x1 does. One window of one log: intervals are
from shaken copies (every time changed by up to a second), which show how much is luck of the schedule, not what another week
would bring. Messages: the first 1,000 jobs, all-to-all and n-body, one process at each router, 0.01 cycles for a second, at which the
machine is mostly empty; run times of real jobs are mostly computing, on which placement has no effect.
TXT
}
