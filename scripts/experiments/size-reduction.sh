# The page size-reduction: jobs that are folded instead of refused, on real logs.

size_reduction() {
    local trace scheduler
    cat << 'TXT'
# What size reduction would have done to real users

A job that First Fit (on NASA-iPSC, the buddy system) refuses is folded up to t times and runs twice as long for each
fold; `amdahl` assumes a serial share of 5 % instead. Times include that. Slowdown is over the run time on the
processors asked for, and lost efficiency what folding costs in processor-time; it is negative where fewer processors
waste less.

* Strict FCFS with First Fit cannot carry the three logs of meshes: waits grow with the length of the log.
* Under EASY one fold shortens the mean turnaround on all of them. A second brings little, and seven cost more than they bring.
* Jobs of middle size gain most; the largest gain least. EASY promises the head of its queue all the processors it
  asks for, and jobs that are backfilled and then folded run longer than it counted on.
* The more folds, the smaller is the share of the turnaround spent in the queue and the larger that of a slower run.
TXT
    for trace in KTH-SP2 SDSC-Par96 LANL-CM5 NASA-iPSC; do
        local machine=() inner=first-fit all
        if [ "$trace" = NASA-iPSC ]; then machine=(--machine hypercube:7) inner=cube-buddy; fi
        all="$inner,rsr[inner=$inner],rsr[t=2,inner=$inner],rsr[t=7,inner=$inner]"
        on_trace size-reduction "$trace" "${machine[@]}" --alloc "$all,rsr[inner=$inner,speedup=amdahl]"
        [ -e "$work/$trace/by_size.csv" ] || continue
        cp "$work/$trace/by_size.csv" "$out/size-reduction-$trace-by-size.csv"
        folding "$out/size-reduction-$trace.csv"
        for scheduler in fcfs easy; do
            printf '\nMean turnaround by processors asked for, %s: hours, and in brackets the share of it in the queue.\n\n' \
                "$scheduler"
            classes "$out/size-reduction-$trace-by-size.csv" "$scheduler"
        done
        printf '\nEvery size: [size-reduction-%s-by-size.csv](size-reduction-%s-by-size.csv)\n' "$trace" "$trace"
    done
    printf '\n## Summary\n\nMean wait without folds, and the change of the mean turnaround by folds in percent.\n\n'
    printf '| trace | scheduler | wait, days | one fold | two | seven | one, amdahl |\n|---|---|---:|---:|---:|---:|---:|\n'
    for trace in KTH-SP2 SDSC-Par96 LANL-CM5 NASA-iPSC; do
        [ ! -e "$out/size-reduction-$trace.csv" ] || turnarounds "$out/size-reduction-$trace.csv"
    done
}

# turnarounds FILE: a row of the summary for each scheduler.
turnarounds() {
    csv "$1" '
        {
            trace = get("trace"); who = get("scheduler"); name = get("allocator")
            if (!(who in known)) { known[who]; order[++count] = who }
            kind = name !~ /^rsr/ ? 0 : name ~ /amdahl/ ? 4 : name ~ /t=2/ ? 2 : name ~ /t=7/ ? 3 : 1
            turnaround[who, kind] = get("mean_turnaround")
            if (!kind) wait[who] = get("mean_wait")
        }
        END {
            for (s = 1; s <= count; s++) {
                who = order[s]
                printf "| %s | %s | %.2f |", trace, who, wait[who] / 86400
                for (k = 1; k <= 4; k++) printf " %+.1f |", 100 * (turnaround[who, k] / turnaround[who, 0] - 1)
                printf "\n"
            }
        }'
}

# folding FILE: a row for every run that folds.
folding() {
    printf '\n| scheduler | allocator | folded jobs %% | stretch of these | lost efficiency %% | refused sizes |\n|---|---|---:|---:|---:|---:|\n'
    csv "$1" '
        get("folded_percent") != "" {
            name = get("allocator")
            printf "| %s | %s | %.1f | %.2f | %.1f | %d |\n", get("scheduler"), name, \
                get("folded_percent"), get("mean_fold_stretch"), get("lost_efficiency_percent"), \
                get("refused_sizes")
        }'
}

# classes FILE SCHEDULER: means by classes of sizes, 1, 2, 3 to 4, 5 to 8, ...
classes() {
    csv "$1" -v scheduler="$2" '
        get("scheduler") == scheduler {
            size = get("size"); class = 0
            for (top = 1; top < size; top *= 2) class++
            if (class > last) last = class
            who = get("allocator")
            if (!(who in known)) { known[who] = ++strategies; name[strategies] = who }
            all = get("jobs")
            jobs[who, class] += all
            wait[who, class] += all * get("mean_wait")
            turnaround[who, class] += all * get("mean_turnaround")
        }
        END {
            printf "| processors | jobs |"
            for (s = 1; s <= strategies; s++) printf " %s |", name[s]
            printf "\n|---:|---:|"
            for (s = 1; s <= strategies; s++) printf "---:|"
            for (class = 0; class <= last; class++) {
                if (!jobs[name[1], class]) continue
                top = 2 ^ class; low = class < 2 ? top : top / 2 + 1
                printf "\n| %s | %d |", low == top ? top : low " to " top, jobs[name[1], class]
                for (s = 1; s <= strategies; s++) {
                    who = name[s]
                    printf " %.2f (%.0f %%) |", turnaround[who, class] / jobs[who, class] / 3600, \
                        100 * wait[who, class] / turnaround[who, class]
                }
            }
            printf "\n"
        }'
}
