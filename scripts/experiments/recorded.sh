# The page recorded: waits recorded in logs, compared with the waits of the same jobs under schedulers.

recorded() {
    local trace options drawn idle
    cat << 'TXT'
# Recorded schedules and simulated schedulers

`recorded` starts each job at its start time in the log (SWF field 3); the other schedulers start the same jobs by their own
rules, with the same submit and run times. Recorded waits include effects that no scheduler here models: holds by users and
operators, priorities, limits per user, reservations, outages, and on some machines time sharing. The difference is therefore
not the gain of a scheduler.

Jobs for which too few processors are free when the log starts them, by the sizes in the log, are excluded from all metrics on
both sides, although the simulated schedulers run them. The lines above each table count them. Jobs without a recorded wait have
no start under `recorded`; they are run by the simulated schedulers and excluded from all metrics as well.

*Free* in the first table is the share of all waiting time in the log during which as many processors as the waiting job requests
were free. A scheduler that starts the head of its queue as soon as it fits has no such time for the head, and EASY has it for
other jobs only if they would delay the head. If jobs are missing from the log (removed by cleaning, or never written), their
processors appear free, so the share is an upper bound.

TXT
    : > "$work/recorded-summary"
    while read -r trace options; do
        printf '\n## %s\n\n' "$trace"
        local command=(--trace "$trace" $options --sched recorded,fcfs,easy,conservative --alloc row-major-first-fit)
        ran "$trace" "${command[@]}" --no-jobs --out "$work/r-$trace" --format md || continue
        printf '`replay %s`\n\n' "${command[*]}"
        { grep -E ' records, |, recorded: ' "$work/error" || true; } | sed 's/^/> /; s/$/  /'
        drawn=$(echo "$work/r-$trace"/plots/waits-by-size--*.svg)
        figure "${drawn%.svg}" "$out/recorded-$trace" "$out/recorded-$trace-figure.csv"
        cp "$work/r-$trace/runs.csv" "$out/recorded-$trace.csv"
        same_jobs "$work/r-$trace/against_log.csv" > "$work/same-jobs.csv"
        same_jobs_by_size "$work/r-$trace/against_log.csv" > "$out/recorded-$trace-by-size.csv"
        idle=$(idle_share "$work/r-$trace")
        summary_of_waits "$trace" "$idle" "$work/same-jobs.csv" >> "$work/recorded-summary"
        waits "$work/same-jobs.csv"
        printf '\n![Waits on %s](recorded-%s.svg)\n' "$trace" "$trace"
        printf '\nMean wait in hours by requested processors:\n\n'
        waits_by_class "$out/recorded-$trace-by-size.csv"
        printf '\nEvery size: [recorded-%s-by-size.csv](recorded-%s-by-size.csv)\n' "$trace" "$trace"
    done > "$work/recorded-sections" << 'RUNS'
KTH-SP2
CTC-SP2
SDSC-SP2 --machine 16x8
SDSC-Par95
SDSC-Par96
LANL-CM5
wagap-2013 --policy cerit
RUNS
    printf '| log | mean wait h | waited above 60 s | free | EASY, mean wait h | change | FCFS, mean wait h | bounded slowdown, log | EASY |\n'
    printf '|---|---:|---:|---:|---:|---:|---:|---:|---:|\n'
    cat "$work/recorded-summary"
    cat << 'TXT'

Waits under FCFS are far longer than in most logs: these sites did not run FCFS. On most machines EASY and conservative backfilling
are closer to each other than to the log, so the choice between them matters less than the effects that the log does not record.
The deviation depends on size: large jobs wait longer in most logs than under EASY, and on the machines of SDSC jobs of two
processors wait less. Queues by size and hours reserved for large jobs could explain both. On the LANL-CM5 waits in the log are
shorter than under every scheduler that gives a processor to one job at a time: by the sizes in the log, jobs start there while too
few processors are free. On wagap-2013 jobs wait while as many processors as they request are free: for nodes of a certain kind,
memory, a licence or a limit per user. A replay by numbers of processors does not model these waits.

Waits under a simulated scheduler therefore do not predict those of a site. They compare schedulers on the load of a site.
TXT
    cat "$work/recorded-sections"
    local placed=(--trace wagap-2013 --policy cerit --machine '4x11*80' --sched recorded --alloc recorded)
    printf '\n## wagap-2013 with recorded placements\n\n'
    ran wagap-2013 "${placed[@]}" --no-jobs --no-plots --out "$work/placed" --format md || return 0
    printf '`replay %s`\n\n' "${placed[*]}"
    { grep -E 'recorded placements' "$work/error" || true; } | sed 's/^/> /; s/$/  /'
    cat << 'TXT'

Field 19 of this log names the node of every processor. The run repeats these placements on a machine of 44 points, in the order of
node names because the log has no positions of nodes. The line above gives the peak number of processors in use per node: the two
sizes are those of the two kinds of nodes, so the recorded placements do not contradict each other. Other allocators cannot be
compared with it: they give a job whole points, and jobs of this log share nodes.

TXT
    without_seconds < "$work/printed"
}

# idle_share DIR: prints two cells of a table: the share of jobs that waited for more than 60 s, and the share of all
# waiting time during which enough processors for the waiting job were free.
idle_share() {
    local source processors
    source=$(sed -n 's/^ *"source": "\(.*\)",$/\1/p' "$1/manifest.json" | head -n 1)
    processors=$(csv "$1/runs.csv" 'NR == 2 { print get("processors") }')
    [ -r "$source" ] || { echo "$1/manifest.json: no source of the trace" >&2; return 1; }
    # The first command writes submission, wait, run time and size of the jobs with a known wait. The next commands compute the
    # number of free processors between instants.
    gzip -cdf "$source" | awk '!/^;/ && $3 >= 0 && $5 > 0 { print $2, $3, ($4 > 0 ? $4 : 0), $5 }' > "$work/jobs"
    awk '{ print $1 + $2, $4; print $1 + $2 + $3, -$4 }' "$work/jobs" | sort -n > "$work/changes"
    awk -v processors="$processors" '
        NR == FNR {
            if (!steps || $1 != at[steps]) { steps++; at[steps] = $1; free[steps] = steps > 1 ? free[steps - 1] : processors }
            free[steps] -= $2
            next
        }
        $2 > 0 {
            jobs += $2 > 60; all += $2
            low = 0; high = steps
            while (low < high) { middle = int((low + high + 1) / 2); if (at[middle] <= $1) low = middle; else high = middle - 1 }
            for (now = $1; now < $1 + $2; low++) {
                end = low < steps && at[low + 1] < $1 + $2 ? at[low + 1] : $1 + $2
                if (low == 0 || free[low] >= $4) idle += end - now
                now = end
            }
        }
        END { printf "%.0f %% | %.0f %%", 100 * jobs / FNR, all ? 100 * idle / all : 0 }' "$work/changes" "$work/jobs"
}

# summary_of_waits TRACE IDLE FILE: prints a row with the waits in a log and the waits under EASY and FCFS.
summary_of_waits() {
    csv "$3" -v trace="$1" -v idle="$2" '
        { wait[get("scheduler")] = get("mean_wait"); slow[get("scheduler")] = get("mean_bounded_slowdown") }
        END {
            log_wait = wait["recorded"]
            printf "| %s | %.2f | %s | %.2f | %+.0f %% | %.2f | %.0f | %.0f |\n", trace, log_wait / 3600, idle, \
                wait["easy"] / 3600, 100 * (wait["easy"] - log_wait) / log_wait, wait["fcfs"] / 3600, slow["recorded"], slow["easy"]
        }'
}

# waits FILE: prints a row with the waits in the log, and a row for each scheduler.
waits() {
    printf '\n| scheduler | mean wait h | change | median s | 90 %% h | 99 %% h | bounded slowdown |\n'
    printf '|---|---:|---:|---:|---:|---:|---:|\n'
    csv "$1" '
        {
            mean = get("mean_wait")
            if (get("scheduler") == "recorded") log_mean = mean
            against = mean == log_mean ? "" : sprintf("%+.0f %%", 100 * (mean - log_mean) / log_mean)
            printf "| %s | %.2f | %s | %d | %.2f | %.2f | %.1f |\n", get("scheduler"), mean / 3600, against, \
                get("median_wait"), get("p90_wait") / 3600, get("p99_wait") / 3600, get("mean_bounded_slowdown")
        }'
}

# same_jobs FILE: prints the metrics of the log and then of each scheduler, over the jobs that the replay of the log
# includes.
same_jobs() {
    csv "$1" '
        get("of_size") != "" { next }
        {
            scheduler = get("scheduler"); what = get("metric")
            if (!(scheduler in known)) { known[scheduler]; name[++schedulers] = scheduler }
            own[scheduler, what] = get("run_value"); own["recorded", what] = get("log_value")
        }
        END {
            metrics = split("mean_wait median_wait p90_wait p99_wait mean_bounded_slowdown", metric, " ")
            printf "scheduler"
            for (m = 1; m <= metrics; m++) printf ",%s", metric[m]
            name[0] = "recorded"
            for (s = 0; s <= schedulers; s++) {
                printf "\n%s", name[s]
                for (m = 1; m <= metrics; m++) printf ",%s", own[name[s], metric[m]]
            }
            printf "\n"
        }'
}

# same_jobs_by_size FILE: prints mean waits by job size, over the jobs that the replay of the log includes.
same_jobs_by_size() {
    csv "$1" '
        BEGIN { print "scheduler,size,jobs,mean_wait" }
        get("of_size") != "" && get("metric") == "mean_wait" {
            size = get("of_size") "," get("compared_jobs")
            log_rows[size] = get("log_value")
            if (!(size in seen)) { seen[size]; order[++sizes] = size }
            rows[++count] = get("scheduler") "," size "," get("run_value")
        }
        END {
            for (s = 1; s <= sizes; s++) print "recorded," order[s] "," log_rows[order[s]]
            for (r = 1; r <= count; r++) print rows[r]
        }'
}
