# The page size-reduction: folding jobs instead of refusing them, on real logs.

size_reduction() {
    local trace scheduler
    cat << 'TXT'
# Size reduction on real logs

A job that First Fit (on NASA-iPSC, the buddy system) refuses is folded up to t times and runs twice as long for each
fold; `amdahl` assumes a serial share of 5 % instead. All times include the longer run time. Slowdown is relative to the run
time on the requested processors. Lost efficiency is the processor time lost by folding; it is negative if fewer processors
waste less.

* FCFS with First Fit is saturated on the three logs of meshes: waits grow with the length of the log.
* Under EASY one fold shortens the mean turnaround on all logs. A second fold brings little, and seven folds cost more than they
  bring.
* Jobs of medium size gain most; the largest gain least. EASY reserves all requested processors for the head of its queue, and
  jobs that are backfilled and then folded run longer than EASY assumed.
* More folds lower the share of the turnaround spent in the queue and raise that of slower execution.
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
    printf '\n## Summary\n\nMean wait without folds, and change of the mean turnaround by folds in percent.\n\n'
    printf '| trace | scheduler | wait, days | one fold | two | seven | one, amdahl |\n|---|---|---:|---:|---:|---:|---:|\n'
    for trace in KTH-SP2 SDSC-Par96 LANL-CM5 NASA-iPSC; do
        [ ! -e "$out/size-reduction-$trace.csv" ] || turnarounds "$out/size-reduction-$trace.csv"
    done
}

# turnarounds FILE: prints a row of the summary for each scheduler.
turnarounds() {
    csv "$1" '
        {
            trace = get("trace"); key = get("scheduler"); name = get("allocator")
            if (!(key in known)) { known[key]; order[++count] = key }
            kind = name !~ /^rsr/ ? 0 : name ~ /amdahl/ ? 4 : name ~ /t=2/ ? 2 : name ~ /t=7/ ? 3 : 1
            turnaround[key, kind] = get("mean_turnaround")
            if (!kind) wait[key] = get("mean_wait")
        }
        END {
            for (s = 1; s <= count; s++) {
                key = order[s]
                printf "| %s | %s | %.2f |", trace, key, wait[key] / 86400
                for (k = 1; k <= 4; k++) printf " %+.1f |", 100 * (turnaround[key, k] / turnaround[key, 0] - 1)
                printf "\n"
            }
        }'
}

# folding FILE: prints a row for every run that folds jobs.
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

# classes FILE SCHEDULER: prints means by classes of sizes (1, 2, 3 to 4, 5 to 8, ...).
classes() {
    csv "$1" -v scheduler="$2" '
        get("scheduler") == scheduler {
            size = get("size"); class = 0
            for (top = 1; top < size; top *= 2) class++
            if (class > last) last = class
            key = get("allocator")
            if (!(key in known)) { known[key] = ++strategies; name[strategies] = key }
            all = get("jobs")
            jobs[key, class] += all
            wait[key, class] += all * get("mean_wait")
            turnaround[key, class] += all * get("mean_turnaround")
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
                    key = name[s]
                    printf " %.2f (%.0f %%) |", turnaround[key, class] / jobs[key, class] / 3600, \
                        100 * wait[key, class] / turnaround[key, class]
                }
            }
            printf "\n"
        }'
}
