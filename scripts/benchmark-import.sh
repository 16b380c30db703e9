#!/usr/bin/env bash
# Measures how fast logs are read, and in how much memory; prints results/benchmarks/import.md.
#
# Usage: scripts/benchmark-import.sh [MILLIONS...]     (default: 1 10: millions of lines)
#
# Needs python3, GNU time and about 2 GB for every 10 million lines in $TMPDIR. REPLAY names the program (default:
# target/release/replay).
#
# Exit codes: 0 done, 1 a command failed, 2 usage.
set -euo pipefail
cd "$(dirname "$0")/.."

replay=$(realpath "${REPLAY:-target/release/replay}")
millions=${*:-1 10}
for count in $millions; do
    [[ $count =~ ^[1-9][0-9]*$ ]] || { echo "usage: scripts/benchmark-import.sh [MILLIONS...]" >&2; exit 2; }
done
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
cd "$dir"

# Made logs: jobs of 1 to 64 nodes, one every 20 seconds, that ran for up to an hour.
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

# CPU seconds, jobs a second, peak memory.
row() {
    local jobs=$1
    shift
    /usr/bin/time -f '%U %S %M' -o time "$replay" "$@" > out.txt
    awk -v what="$*" -v jobs="$jobs" '
        { cpu = $1 + $2; printf "| `replay %s` | %d | %.2f | %d | %.0f |\n", what, jobs, cpu, jobs / cpu, $3 / 1024 }' time
}

cat << TXT
# Reading logs

Made by \`scripts/benchmark-import.sh\`: made logs, whole processes, one run each, $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) logical
processors, $("$replay" --version | head -n 1). CPU seconds are user and system time.

| what | jobs | CPU seconds | jobs per second | peak memory, MiB |
|---|---:|---:|---:|---:|
TXT
for count in $millions; do
    jobs=$((count * 1000000))
    make_log swf $jobs > s.swf
    row $jobs --trace s.swf --mesh 8x8 --alloc hilbert-best-fit --jobs 10 --threads 1 -q
    if [ "$count" -le 2 ]; then
        # The table of jobs of a run is the Parquet that is at hand.
        "$replay" --trace s.swf --mesh 8x8 --alloc row-major-best-fit --threads 1 --out table --no-plots -q > out.txt
        row $jobs import parquet table/jobs.parquet --map jobs.toml --write made.swf -q
        rm -r table
    fi
    rm s.swf
    make_log sacct $jobs > sacct.txt
    row $jobs import sacct sacct.txt --processors 64 --write made.swf -q
    rm sacct.txt made.nodes.csv
    make_log csv $jobs > c.csv
    row $jobs import csv c.csv --map map.toml --write made.swf -q
    rm c.csv
done
cat << 'TXT'

The first reads, cleans and replays ten jobs, the others read, convert, clean and write. The trace that a run works on
is held in memory; an import holds a bounded part of it, of a table in Parquet one group of rows packed.
TXT
