# The page long: logs of millions of jobs, and long queues.

long() {
    local jobs scheduler count
    cat << 'TXT'
# Long logs and long queues

CPU seconds and peak memory of whole processes on one thread. `scripts/long-trace.py JOBS [LOAD] [SPACING]` generates the traces:
sizes and run times are distributed similarly to those of Frontier, 9,408 nodes.

## Logs

`scripts/long-trace.py JOBS > frontier.swf`, then
`replay --trace frontier.swf --machine 96x98 --sched SCHEDULER --alloc row-major-free-list --threads 1 -q`; *read* replays only the
first job, *out* writes all tables.

TXT
    echo 'jobs,what,mean_wait,cpu_seconds,memory_MiB' > "$out/long.csv"
    for jobs in 20000 2200000; do
        if quick && [ "$jobs" != 20000 ]; then continue; fi
        scripts/long-trace.py "$jobs" > "$work/frontier.swf"
        long_row "$jobs" read --sched fcfs --jobs 1
        long_row "$jobs" fcfs --sched fcfs
        long_row "$jobs" easy --sched easy
        long_row "$jobs" 'easy out' --sched easy --no-plots --out "$work/long"
        rm -rf "$work/long"
    done
    rm "$work/frontier.swf"
    table "$out/long.csv" jobs what 'mean wait s' 'CPU s' 'memory, MiB'
    cat << 'TXT'

## Queues

All jobs arrive almost at once: `scripts/long-trace.py JOBS 0.85 1`.

TXT
    echo 'jobs,scheduler,mean_wait,cpu_seconds' > "$out/long-queues.csv"
    for count in 5000 10000 20000 40000; do
        if quick && [ "$count" != 5000 ]; then continue; fi
        scripts/long-trace.py "$count" 0.85 1 > "$work/queue.swf"
        for scheduler in fcfs 'priority[order=shortest]' easy 'easy[order=shortest]' out-of-order conservative; do
            # The cost of conservative backfilling grows with the square of the queue length.
            if [ "$scheduler" = conservative ] && [ "$count" -gt 10000 ]; then continue; fi
            measure --trace "$work/queue.swf" --machine 96x98 --sched "$scheduler" --alloc row-major-free-list --threads 1 -q --format csv \
                --columns mean_wait
            echo "$count,$scheduler,$(tail -n 1 "$work/printed"),$cpu" >> "$out/long-queues.csv"
        done
    done
    table "$out/long-queues.csv" jobs scheduler 'mean wait s' 'CPU s'
    cat << 'TXT'

The cost of conservative backfilling grows with the square of the queue length, by its definition: each time a job ends before its
estimate, all waiting jobs look for an earlier reservation.
TXT
}

# long_row JOBS WHAT ARGUMENTS...: appends a row to long.csv.
long_row() {
    local jobs=$1 what=$2 wait
    shift 2
    measure --trace "$work/frontier.swf" --machine 96x98 --alloc row-major-free-list --threads 1 -q --format csv --columns mean_wait "$@"
    wait=$(tail -n 1 "$work/printed")
    echo "$jobs,$what,$wait,$cpu,$mib" >> "$out/long.csv"
}
