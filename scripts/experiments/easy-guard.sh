# The page easy-guard: what EASY promises to the head of its queue where the allocator may refuse it.

# promises FILE: what became of promises, a row for every run.
promises() {
    printf '\n| allocator | scheduler | mean wait h | 99 %% h | longest wait h | promised heads | of these late | latest h | refused for shape, per job |\n'
    printf '|---|---|---:|---:|---:|---:|---:|---:|---:|\n'
    csv "$1" '
        {
            name = get("allocator")
            late = get("latest_head") == "" ? "" : sprintf("%.1f", get("latest_head") / 3600)
            printf "| %s | %s | %.2f | %.1f | %.1f | %s | %s | %s | %.1f |\n", name, get("scheduler"), \
                get("mean_wait") / 3600, get("p99_wait") / 3600, get("max_wait") / 3600, \
                get("promised_heads"), get("late_heads"), late, get("fragmented_refusals") / get("jobs")
        }'
}

easy_guard() {
    local trace options
    cat << 'TXT'
# EASY where the allocator refuses: a number of processors, or a place

EASY lets later jobs overtake only if the head of the queue is not delayed. Contiguous allocators may refuse the head
although enough processors are free. With `guard=count`, the default, the head is promised processors; once it is
refused at that instant all the same, it is promised an empty machine, and jobs that end before may overtake. With
`guard=place` it is promised a place: the earliest that the allocator finds on a copy of the machine on which running jobs
end at their estimates. Later jobs start if they end by then, or leave that place free.

*Promised heads* are jobs that wait at the head of the queue and are promised an instant, which happens once a later job
could start before them; *late* are those that start later than their first promise.
TXT
    while read -r trace options; do
        printf '\n## %s\n\n' "$trace"
        local command=(--trace "$trace" $options --sched 'easy,easy[guard=place]'
            --alloc 'first-fit[shape=near-square],turning-best-fit[shape=near-square]')
        ran "$trace" "${command[@]}" --no-jobs --no-plots --out "$work/g-$trace" --format md || continue
        printf '`replay %s`\n' "${command[*]}"
        cp "$work/g-$trace/runs.csv" "$out/easy-guard-$trace.csv"
        cp "$work/g-$trace/by_size.csv" "$out/easy-guard-$trace-by-size.csv"
        promises "$out/easy-guard-$trace.csv"
        printf '\nMean wait in hours by processors asked for, first-fit:\n\n'
        waits_by_class "$out/easy-guard-$trace-by-size.csv" '^first-fit'
    done << 'RUNS'
KTH-SP2-1996-2
SDSC-SP2-1998-4.2-cln --machine 16x8
CTC-SP2-1996-3.1-cln --jobs 20000
SDSC-Par-1996-3.1-cln
RUNS
    guard_says
}

guard_says() {
    local log
    printf '\n## Summary\n\n| log | allocator | late, %% of promised heads: count | place | latest h: count | place | mean wait, place against count %% |\n|---|---|---:|---:|---:|---:|---:|\n'
    for log in "$out"/easy-guard-*.csv; do
        [[ $log != *-by-size.csv ]] || continue
        csv "$log" '
            {
                name = get("allocator"); heads = get("promised_heads"); late = get("late_heads"); latest = get("latest_head")
                if (!(name in known)) { known[name]; order[++count] = name }
                kind = get("scheduler") ~ /place/
                share[name, kind] = heads > 0 ? sprintf("%.1f", 100 * late / heads) : ""
                hours[name, kind] = latest == "" ? "" : sprintf("%.1f", latest / 3600)
                wait[name, kind] = get("mean_wait"); trace = get("trace")
            }
            END {
                for (a = 1; a <= count; a++) {
                    name = order[a]
                    printf "| %s | %s | %s | %s | %s | %s | %+.1f |\n", trace, name, share[name, 0], share[name, 1], \
                        hours[name, 0], hours[name, 1], 100 * (wait[name, 1] / wait[name, 0] - 1)
                }
            }'
    done
    cat << 'TXT'

With a number of processors as the promise, a head that is refused waits for an empty machine while small jobs go on overtaking.
With a place as the promise, later jobs may start beside the place, which a promise of an empty machine forbids: where users
give estimates, nearly all classes of size wait less. SDSC-Par96 has no estimates, so each job is taken at its run time. Estimates above
run times let a place come free earlier than promised, never later.
TXT
}
