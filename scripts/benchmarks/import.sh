# The page import: speed and memory of reading logs. Needs about 2 GB in $TMPDIR for every 10 million lines.

import() {
    local count jobs millions='0.02 1 10'
    quick && millions=0.02
    cat << 'TXT'
# Reading logs

Generated logs, whole processes, one run each. CPU seconds are user and system time.

TXT
    echo 'jobs,what,cpu_seconds,jobs_per_second,memory_MiB' > "$out/import.csv"
    (
        cd "$work"
        cat > map.toml << 'TOML'
time = "unix"
[columns]
id = "job"
submit = "when"
start = "began"
end = "ended"
size = "hosts"
estimate = { column = "limit", unit = "minutes" }
user = "who"
status = { column = "result", ok = ["ok"] }
TOML
        cat > jobs.toml << 'TOML'
time = "seconds"
[columns]
id = "job"
submit = "submit"
start = "start"
run = "run_time"
size = "size"
TOML
        for count in $millions; do
            jobs=$(awk -v m="$count" 'BEGIN { printf "%d", 1e6 * m }')
            make_log swf "$jobs" > s.swf
            import_row "$jobs" --trace s.swf --machine 8x8 --alloc hilbert-best-fit --jobs 10 --threads 1 -q
            if [ "$jobs" -le 1000000 ]; then
                # The table of jobs of a run is a Parquet file.
                "$replay" --trace s.swf --machine 8x8 --alloc row-major-best-fit --threads 1 --out table --no-plots -q > out.txt
                import_row "$jobs" import parquet table/jobs.parquet --map jobs.toml --write made.swf -q
                rm -r table
            fi
            rm s.swf
            make_log sacct "$jobs" > sacct.txt
            import_row "$jobs" import sacct sacct.txt --processors 64 --write made.swf -q
            rm sacct.txt
            make_log csv "$jobs" > c.csv
            import_row "$jobs" import csv c.csv --map map.toml --write made.swf -q
            rm c.csv
        done
    ) >> "$out/import.csv"
    table "$out/import.csv" jobs what 'CPU s' 'jobs a second' 'memory, MiB'
    cat << 'TXT'

The first command reads and cleans the trace and replays ten jobs; the others read, convert, clean and write. A run holds its
trace in memory; an import holds a bounded part of the log, and one row group of a Parquet table.
TXT
}

# make_log KIND JOBS: prints a generated log. Jobs have 1 to 64 nodes and run for up to an hour; a job arrives every 20
# seconds.
make_log() {
    python3 - "$1" "$2" << 'PY'
import sys, time
kind, lines = sys.argv[1], int(sys.argv[2])
iso = lambda at: time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at))
out = sys.stdout
if kind == "sacct":
    out.write("JobID|User|Account|Partition|Submit|Start|End|TimelimitRaw|AllocNodes|NodeList|State\n")
elif kind == "csv":
    out.write("job,when,began,ended,who,hosts,limit,result\n")
else:
    out.write("; MaxProcs: 64\n")
state = 1
for job in range(1, lines + 1):
    state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
    size, run, wait, user = 1 + (state >> 33) % 64, 1 + (state >> 40) % 3600, (state >> 20) % 600, (state >> 50) % 300
    submit = 1700000000 + 20 * job
    start, end = submit + wait, submit + wait + run
    if kind == "sacct":
        out.write(f"{job}|u{user}|a{user % 20}|batch|{iso(submit)}|{iso(start)}|{iso(end)}|60|{size}|n[1-{size}]|COMPLETED\n")
    elif kind == "csv":
        out.write(f"{job},{submit},{start},{end},u{user},{size},60,ok\n")
    else:
        out.write(f"{job} {20 * job} {wait} {run} {size} -1 -1 {size} 3600 -1 1 {user} 1 -1 1 -1 -1 -1\n")
PY
}

# import_row JOBS ARGUMENTS...: prints a row of import.csv.
import_row() {
    local jobs=$1
    shift
    measure "$@"
    awk -v jobs="$jobs" -v what="$*" -v cpu="$cpu" -v mib="$mib" \
        'BEGIN { printf "%d,replay %s,%.2f,%.0f,%d\n", jobs, what, cpu, jobs / (cpu > 0.01 ? cpu : 0.01), mib }'
    rm -f made.swf made.*.csv
}
