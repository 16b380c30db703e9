# The page easy-guard: reservations of EASY for allocators that may refuse the head of the queue.

# promises FILE: prints statistics of reservations, a row for every run.
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
# EASY with contiguous allocators: reserving a number of processors or a place

EASY backfills later jobs only if they do not delay the head of the queue. Contiguous allocators may refuse the head although
enough processors are free. With `guard=count`, the default, EASY reserves a number of processors for the head; if the head is
refused at the reserved time, EASY reserves an empty machine, and jobs that end before that may be backfilled. With
`guard=place` EASY reserves a place: the earliest that the allocator finds on a copy of the machine on which running jobs end at
their estimates. Later jobs start if they end by then or leave that place free.

*Promised heads* are jobs at the head of the queue with a reservation, which is made once a later job could start before
them; *late* heads start later than their first reservation.
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
        printf '\nMean wait in hours by requested processors, first-fit:\n\n'
        waits_by_class "$out/easy-guard-$trace-by-size.csv" '^first-fit'
    done << 'RUNS'
KTH-SP2-1996-2
SDSC-SP2-1998-4.2-cln --machine 16x8
CTC-SP2-1996-3.1-cln --jobs 20000
SDSC-Par-1996-3.1-cln
RUNS
    guard_summary
}

guard_summary() {
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

If EASY reserves a number of processors, a refused head waits for an empty machine while small jobs keep being backfilled.
If it reserves a place, later jobs may start next to that place, which the reservation of an empty machine forbids: on logs with
estimates, nearly all classes of size wait less. SDSC-Par96 has no estimates, so run times are used. If estimates exceed run times,
a reserved place becomes free earlier than promised, never later.
TXT
}
