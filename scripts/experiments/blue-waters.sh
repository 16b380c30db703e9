# The page blue-waters: what contiguity costs on a large 3D torus, and what it brings.

# Jobs 1001 to 15000: the first thousand span 78 of the log's 86.5 days.
blue_waters_log=(--trace BlueWaters-15k --system blue-waters --from 6738203)
contiguous='first-fit[shape=near-square],turning-first-fit[shape=near-square],best-fit[shape=near-square],turning-best-fit[shape=near-square],placements[tie=slurm]'
scattered='mc1x1,mc,gilbert-best-fit,hilbert-best-fit,row-major-best-fit,paging,mbs,granular-mbs,octet-mbs,as-mb,random'

# runs.csv: a row for every run at a load under a scheduler.
price() {
    printf '\n| allocator | mean wait h | 99 %% h | longest h | utilization %% | lost inside %% | refused for place, per job | pairwise L1 |\n'
    printf '|---|---:|---:|---:|---:|---:|---:|---:|\n'
    unquoted < "$1" | awk -F, -v load="[load=$2]" -v scheduler="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        index($at["trace"], load) && $at["scheduler"] == scheduler && $at["copy"] == 0 {
            name = $at["allocator"]; gsub(/;/, ",", name)
            refused = $at["fragmented_refusals"] == "" ? "" : sprintf("%.1f", $at["fragmented_refusals"] / $at["jobs"])
            lost = $at["internal_fragmentation_percent"] == "" ? "" : sprintf("%.1f", $at["internal_fragmentation_percent"])
            printf "| %s | %.2f | %.1f | %.1f | %.1f | %s | %s | %.0f |\n", name, $at["mean_wait"] / 3600, $at["p99_wait"] / 3600, \
                $at["max_wait"] / 3600, 100 * $at["utilization"], lost, refused, $at["mean_pairwise_l1"]
        }'
}

# by_size.csv: mean waits by class of size, a row for every allocator.
price_by_size() {
    unquoted < "$1" | awk -F, -v load="[load=$2]" -v scheduler="$3" '
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
        index($at["trace"], load) && $at["scheduler"] == scheduler && $at["copy"] == 0 {
            size = $at["size"]; name = $at["allocator"]; gsub(/;/, ",", name)
            class = size == 1 ? 1 : size == 2 ? 2 : size <= 8 ? 3 : size <= 32 ? 4 : size <= 128 ? 5 : 6
            if (!(name in known)) { known[name] = 1; order[++names] = name }
            jobs[name, class] += $at["jobs"]
            wait[name, class] += $at["jobs"] * $at["mean_wait"]
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
routers with two nodes each. A job gets whole routers, so one of an odd number of nodes holds one in vain. Arrivals are moved so
that jobs offer a load of 0.3 to 1 of all 27,648 nodes; the log itself offers 0.49. Run times and sizes stay.

*Contiguous* allocators give a job one box of routers, or let it wait: First Fit and Best Fit in one
orientation or in all (`turning`), sides chosen for the least total side length, which rounds up; `placements[tie=slurm]` takes boxes with sides
of powers of two, aligned, by Slurm's rule. The others take what is free.

Utilization is over the makespan, which ends long after the last arrival: jobs run up to two days.
Waits at loads that a strategy cannot carry grow with the length of the log; they say that it cannot, not how long jobs would wait.
TXT
    if ! "$replay" "${blue_waters_log[@]}" --jobs 10 --alloc paging --quiet > /dev/null 2> "$work/error"; then
        printf '\nNot run: %s\n' "$(tail -n 1 "$work/error")"
        return
    fi

    printf '\n## Against the load\n\n'
    grid=("${blue_waters_log[@]}" --scale-load 0.3,0.5,0.7,0.8,0.9,1.0 --sched fcfs,easy)
    command=("${grid[@]}" --alloc 'mc1x1,turning-first-fit[shape=near-square],placements[tie=slurm]' --shake 5)
    "$replay" "${command[@]}" --no-jobs --quiet --out "$work/bw-load" > /dev/null
    printf '`replay %s`\n\n' "${command[*]}"
    cp "$work/bw-load/shaken.csv" "$out/blue-waters-load.csv"
    for scheduler in fcfs easy; do
        cp "$work/bw-load/plots/wait-by-load--BlueWaters-15k--torus-24x24x24-2--$scheduler".{png,csv} "$work/"
        for kind in png csv; do
            mv "$work/wait-by-load--BlueWaters-15k--torus-24x24x24-2--$scheduler.$kind" "$out/blue-waters-wait-$scheduler.$kind"
        done
        printf '![](blue-waters-wait-%s.png)\n' "$scheduler"
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
    printf '\nMean wait in hours by nodes asked for, load 0.8, easy. The last class is the largest 0.8 %% of the jobs.\n'
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

blue_waters_says() {
    cat << 'TXT'
## What this says, and what it does not

**The price.** At the log's own load, about 0.5, a job under EASY waits 0.6 hours in the mean where the allocator takes whatever is
free, and 6 to 9 hours where it must find a box; first come, first served 1.2 and 26 to 54. At a load of 0.8 it is 4 hours against
9 to 16 under EASY. From a load of 0.5 on utilization over the makespan falls by 22 to 46 % first come, first served,
and by 11 to 38 % under EASY. The scattered allocators do not differ: none
refuses, so that the schedule is the scheduler's alone. A unit of 4x4x4 routers for every job, as BlueGene/L had of 8x8x8,
carries none of these loads: four fifths of what it gives away are not asked for.

**Who pays.** Everybody, and the largest jobs most: above 128 nodes (116 jobs, the largest 0.8 %) the mean wait at load 0.8 grows from
6.6 hours to 25 and more. Jobs of one node wait longer than those of
two: their users say 45 hours (median; 24 for two nodes), so that EASY lets them overtake least.

**The gain.** Jobs that do nothing but send messages take 13 to 21 % longer under MC1x1 than alone in a compact box, and 2 % in boxes
of the least total side length: the network could save a tenth of their time. Hilbert-like order (`gilbert-best-fit`) comes as near
(12 and 7 %). Random takes six times as long. Boxes with sides of powers of two are no gain: a job's processes then lie in a box
larger than the job, which its messages cross. Most of what placement costs here is the shape of the job's own place;
contention with others adds 3 to 5 % under MC1x1.

So under the usual EASY contiguity would have to save hours of waiting by seconds of messages. It does not, but for jobs that run for days and
do little else than communicate. The allocators between the two extremes (MC1x1, curves) keep both: no job waits for
a place, and processors of a job are within 3 to 18 % of the distances in a box.

**The guard.** `easy` promises the head of the queue a number of processors; a head that is refused for want of a place waits for an
empty machine at the latest, and until then nobody starts who runs longer. `easy[guard=place]` promises it a place, and whoever leaves
that free may start. Boxes then cost far less: at a load of 0.5 jobs wait 1.2 to 1.7 hours in the mean (with `easy` 6.9 to 9.1, MC1x1
0.6), at 0.8 3.9 to 5.1 (9.0 to 12.4, MC1x1 4.2), and utilization at 0.8 is 45 to 49 % (35 to 43, MC1x1 52). Small jobs gain most, for they
fit beside the place that is kept. Those above 128 nodes wait 19 to 24 hours (26 to 38, MC1x1 6.6): the price that is left is
theirs. Most of what EASY seems to pay for contiguity is the promise of a number. None of the 631 promises of a place was broken.

**Left out.** MM and Gen-Alg take 25 to 60 seconds a cell here and wait as MC1x1 does. One window of one log, 8.5 days: intervals are
from shaken copies (every time changed by up to a second), which say how much is luck of the schedule, not what another week
would bring; a bootstrap over weeks of users needs more weeks than there are. Messages: the first 1,000 jobs, all-to-all and n-body,
one process at each router, 0.01 cycles for a second, at which the machine is mostly empty; run times of real jobs are
mostly computing, on which placement has no effect.
TXT
}
