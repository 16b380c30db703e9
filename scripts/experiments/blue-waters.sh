# The page blue-waters: what contiguity costs on a large 3D torus, and what it brings.

# Jobs 1001 to 15000: the first thousand span 78 of the log's 86.5 days.
blue_waters_log=(--trace BlueWaters-15k --system blue-waters --from 6738203)
contiguous='first-fit[shape=near-square],turning-first-fit[shape=near-square],best-fit[shape=near-square],turning-best-fit[shape=near-square],placements'
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
orientation or in all (`turning`), sides chosen for the least total side length, which rounds up; `placements` takes boxes with sides
of powers of two, aligned. The others take what is free.

Utilization is over the makespan, which ends long after the last arrival: jobs run up to two days.
Waits at loads that a strategy cannot carry grow with the length of the log; they say that it cannot, not how long jobs would wait.
TXT
    if ! "$replay" "${blue_waters_log[@]}" --jobs 10 --alloc paging --quiet > /dev/null 2> "$work/error"; then
        printf '\nNot run: %s\n' "$(tail -n 1 "$work/error")"
        return
    fi

    printf '\n## Against the load\n\n'
    grid=("${blue_waters_log[@]}" --scale-load 0.3,0.5,0.7,0.8,0.9,1.0 --sched fcfs,easy)
    command=("${grid[@]}" --alloc 'mc1x1,turning-first-fit[shape=near-square],placements' --shake 5)
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
    command=("${grid[@]}" --alloc "$scattered,$contiguous,placements[anchors=half],anca,midplane[unit=4x4x4]")
    "$replay" "${command[@]}" --no-jobs --no-plots --quiet --out "$work/bw-all" > /dev/null
    printf '`replay %s`\n' "${command[*]}"
    cp "$work/bw-all/runs.csv" "$out/blue-waters.csv"
    cp "$work/bw-all/by_size.csv" "$out/blue-waters-by-size.csv"
    for load in 0.5 0.8; do
        for scheduler in fcfs easy; do
            printf '\n### Load %s, %s\n' "$load" "$scheduler"
            price "$work/bw-all/runs.csv" "$load" "$scheduler"
        done
    done
    printf '\nMean wait in hours by nodes asked for, load 0.8, easy. The last class is the largest 1 %% of the jobs.\n'
    price_by_size "$work/bw-all/by_size.csv" 0.8 easy

    printf '\n## What EASY promises the head\n\n'
    command=("${blue_waters_log[@]}" --scale-load 0.5,0.8 --sched 'easy,easy[guard=place]' --alloc "$contiguous")
    "$replay" "${command[@]}" --no-jobs --no-plots --quiet --out "$work/bw-guard" > /dev/null
    printf '`replay %s`\n' "${command[*]}"
    cp "$work/bw-guard/runs.csv" "$out/blue-waters-guard.csv"
    for load in 0.5 0.8; do
        printf '\n### Load %s\n' "$load"
        awk -v load="[load=$load]" 'NR == 1 || index($0, load)' "$work/bw-guard/runs.csv" | unquoted | promises
    done

    printf '\n## What it brings: messages\n\n'
    for pattern in all-to-all n-body; do
        command=(contend "${blue_waters_log[@]}" --jobs 1000 --scale 0.01 --sched easy --pattern "$pattern"
            --alloc 'mc1x1,gilbert-best-fit,mbs,paging,random,first-fit[shape=near-square],turning-first-fit[shape=near-square],placements')
        "$replay" "${command[@]}" --no-plots --quiet --format md --out "$work/bw-$pattern" > "$work/bw-$pattern.md"
        printf '`replay %s`\n\n' "${command[*]}"
        awk '/^$/ { exit } { print }' "$work/bw-$pattern.md"
        cp "$work/bw-$pattern/contend.csv" "$out/blue-waters-$pattern.csv"
        printf '\n'
    done
    blue_waters_says
}

blue_waters_says() {
    :
}
