# The page how-fast, which is README.md of the benchmarks: replays, whole commands, decisions, the network.

how_fast() {
    if quick; then
        # The page contains only times. Therefore check only that the commands run.
        echo 'trace,mesh,strategy,seconds,microseconds_per_job' > "$out/replays.csv"
        replays 1 'KTH-SP2.*mc1x1' > /dev/null
        return
    fi
    local replays processes speed_up reader hypercubes
    echo 'trace,mesh,strategy,seconds,microseconds_per_job' > "$out/replays.csv"
    replays 20 . > "$work/replays"
    replays=$(cat "$work/replays")
    processes=$(processes)
    speed_up=$(speed_up)
    reader=$(reader)
    hypercubes=$(hypercubes)
    cat << TXT
# Speed

One thread unless a table states otherwise.

| | |
|---|---|
| processor | $(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1), $(nproc) logical processors |
| system | $(uname -sr) |
| compiler | $(rustc --version) |

## Replays

FCFS, with the trace parsed and the timeline computed: the cost of each further parameter vector of a search. Minimum of
several runs.

$replays

## Whole processes

Reading the compressed trace, scheduling, replaying and printing, on two threads unless stated otherwise. Minimum wall time of
three runs; verify, the exhaustive searches and the sweeps of 9,297 and 67,617 cells ran once. Memory includes the pages of the
program itself.

$processes

## Speed-up by two threads

572 vectors on KTH-SP2 (\`replay sweep --trace KTH-SP2 --sr 2 --af 0..8 --wf 0..8 --bf 0..8\`), including reading the trace and writing the results. Each of two threads batches half of the
vectors, so that fewer decisions are shared than on one thread.

$speed_up

## Reading a trace

LANL-CM5 from memory, uncompressed (11.35 MB): \`read\` parses, \`load\` also cleans, hashes and sorts.

| bench | rate |
|---|---|
$reader

## Cost of a decision

![Cost of a decision against mesh side](decision.svg)

TXT
    cargo bench --quiet --bench allocation -- decision "$out" 2> /dev/null > /dev/null
    echo "Nanoseconds per decision by side of a square mesh (decision.csv has the job counts):"
    echo
    awk -F, 'NR > 1 {
        n = NF; side = $(n - 3); name = $1
        for (i = 2; i <= n - 4; i++) name = name "," $i
        gsub(/"/, "", name)
        if (!(name in seen)) { order[++k] = name; seen[name] = 1 }
        value[name, side] = $n; sides[side] = 1
    }
    END {
        print "| strategy | 8 | 16 | 32 | 64 | 128 |"
        print "|---|---:|---:|---:|---:|---:|"
        split("8 16 32 64 128", s, " ")
        for (i = 1; i <= k; i++) {
            line = "| " order[i]
            for (j = 1; j <= 5; j++) line = line " | " value[order[i], s[j]]
            print line " |"
        }
    }' "$out/decision.csv"
    cargo bench --quiet --bench allocation -- attempts "$out" 2> /dev/null > /dev/null
    cargo bench --quiet --bench network -- "$out" 2> /dev/null > /dev/null
    cat << TXT

## Cost of an allocation by strategy

Nanoseconds per attempt, including refusals and releases, on a saturated stream of jobs with sides up to half of the
machine's under FCFS. A dash: the strategy does not support this machine.

$(as_markdown "$out/allocators.csv")

## Cost of an allocation on hypercubes

Nanoseconds per attempt, including refusals and releases, by number of dimensions: square meshes with sides up to half of
the machine's, on a machine that is always full.

$hypercubes

## Allocation overhead of the thesis

Time in the allocator per job in percent of the second strategy, for the published procedures of Bani-Mohammad's
thesis and for our engines; microseconds per job of the first strategy.

$(as_markdown "$out/overhead.csv")

## Network

The event-driven engine compared with the reference model, which steps every flit in every cycle. The benchmark checks that
both give equal results.

The engine does not step flits, so its time is proportional to the hops of headers; packets have 8 flits here. A hop must touch
the bucket of its cycle twice, the packet (a cache line), the channel it enters, and the channel that its tail leaves. \`ns_of_touches\`
is the time of these touches alone, over the same routes with as many packets under way, without waits and without evaluating
rules; \`ns_per_header_hop\` is the total time of the engine. The difference is the cost of the rules: queues of headers at
channels, the times at which tails leave channels, events, and the start and the route of each packet.

$(as_markdown "$out/network.csv")
TXT
}

# best RUNS ARGUMENTS...: prints the shortest time of RUNS replays in seconds.
best() {
    local runs=$1
    shift
    for _ in $(seq "$runs"); do
        "$replay" "$@" --threads 1 --quiet --format json --columns seconds
    done | sed 's/.*"seconds":\([0-9.e-]*\).*/\1/' | sort -g | head -n 1
}

# replays RUNS PATTERN: prints a row for each replay whose line matches, and appends it to replays.csv.
replays() {
    local most=$1 pattern=$2
    echo "| trace | mesh | strategy | seconds | microseconds per job |"
    echo "|---|---|---|---:|---:|"
    local trace mesh jobs runs alloc tie
    while read -r trace mesh jobs runs alloc tie; do
        [ "$runs" -le "$most" ] || runs=$most
        best "$runs" --trace "$trace" --machine "$mesh" --alloc "$alloc" ${tie:+--tie "$tie"} |
            awk -v t="$trace" -v m="$mesh" -v j="$jobs" -v a="$alloc${tie:+ ($tie)}" \
                -v csv="$out/replays.csv" '{
                    printf "| %s | %s | %s | %.4f | %.2f |\n", t, m, a, $1, 1e6 * $1 / j
                    printf "%s,%s,\"%s\",%.4f,%.2f\n", t, m, a, $1, 1e6 * $1 / j >> csv
                }'
    done < <(grep -E "$pattern" << 'RUNS'
KTH-SP2 10x10 28489 20 mc1x1
KTH-SP2 10x10 28489 20 mc1x1 2,13,20,6
KTH-SP2 10x10 28489 5 mm
KTH-SP2 10x10 28489 5 gen-alg
KTH-SP2 10x10 28489 5 hilbert-best-fit
LANL-CM5 32x32 122057 5 mc1x1
LANL-CM5 32x32 122057 5 mc1x1 12,42,41,15
LANL-CM5 32x32 122057 2 mm
LANL-CM5 32x32 122057 2 gen-alg
LANL-CM5 32x32 122057 3 hilbert-best-fit
RUNS
)
}

processes() {
    echo "| command | wall seconds | peak memory, MiB |"
    echo "|---|---:|---:|"
    local arguments
    while read -r arguments; do
        # shellcheck disable=SC2086 # the arguments are words
        local times=3
        case $arguments in verify* | search* | sweep*) times=1 ;; esac
        for _ in $(seq "$times"); do
            # verify exits with 1 if a number differs, which is not an error here.
            /usr/bin/time -q -f '%e %M' "$replay" $arguments --quiet 2>&1 > /dev/null || true
            rm -rf /tmp/replay-cells
        done | sort -g | head -n 1 |
            awk -v a="$arguments" '{ printf "| `replay %s` | %.2f | %.0f |\n", a, $1, $2 / 1024 }'
    done << 'RUNS'
--trace KTH-SP2 --alloc mc1x1 --tie 2,13,20,6
--trace LANL-CM5 --alloc mc1x1 --threads 1
--trace LANL-CM5 --alloc mc1x1 --tie 12,42,41,15 --threads 1
--trace LANL-CM5 --sched easy --alloc mc1x1 --threads 1
verify johnson
verify lo --full
verify lo-messages
verify bani-mohammad
verify turner --full
verify chang-mohapatra --full
search --trace KTH-SP2
search --trace NASA-iPSC
plan --trace LANL-CM5 --alloc mm
sweep --trace lublin-10x10 --jobs 5 --alloc mc1x1 --sr 1..9 --af 0..10 --wf 0..10 --bf 0..10 --out /tmp/replay-cells
sweep --trace lublin-10x10 --jobs 5 --alloc mc1x1 --sr 1..9 --af 0..20 --wf 0..20 --bf 0..20 --yes --out /tmp/replay-cells
RUNS
}

# speed_up: prints the times of a sweep on one and on two threads.
speed_up() {
    local dir one two threads
    dir=$(mktemp -d)
    for threads in 1 2; do
        /usr/bin/time -f '%e' -o "$dir/$threads" "$replay" sweep --trace KTH-SP2 --sr 2 --af 0..8 --wf 0..8 \
            --bf 0..8 --threads "$threads" --out "$dir/out-$threads" --quiet > /dev/null
    done
    one=$(cat "$dir/1")
    two=$(cat "$dir/2")
    awk -v a="$one" -v b="$two" 'BEGIN { printf "One thread %.1f s, two %.1f s: %.2f times as fast.\n", a, b, a / b }'
    rm -rf "$dir"
}

# as_markdown FILE: prints a CSV file as a Markdown table, without quotes.
as_markdown() {
    python3 - "$1" << 'PY'
import csv, sys
rows = list(csv.reader(open(sys.argv[1], encoding="utf-8")))
print("| " + " | ".join(rows[0]) + " |")
print("|" + "---|" + "---:|" * (len(rows[0]) - 1))
for row in rows[1:]:
    print("| " + " | ".join(row) + " |")
PY
}

reader() {
    cargo bench --quiet --bench traces -- swf 2> /dev/null |
        awk '/^swf\//{ name = $1 } /time:/ && $1 ~ /^swf/{ name = $1 } /thrpt:/{ gsub(/[][]/, ""); print "| `" name "` | " $4 " " $5 " |" }'
}

# hypercubes: prints the times of decisions on hypercubes by number of dimensions. A time is the middle of the three
# estimates of criterion.
hypercubes() {
    echo "| strategy | 10 | 15 |"
    echo "|---|---:|---:|"
    cargo bench --quiet --bench allocation -- hypercube 2> /dev/null |
        awk '
            /^hypercube:/ { name = $1 }
            /time:/ {
                sub(/.*time: *\[/, ""); sub(/\].*/, ""); split($0, t, " ")
                scale["ns"] = 1; scale["\302\265s"] = 1e3; scale["us"] = 1e3; scale["ms"] = 1e6
                split(name, of, "/")
                if (!(of[2] in seen)) { seen[of[2]] = 1; order[++n] = of[2] }
                value[of[2], of[1]] = sprintf("%.0f", t[3] * scale[t[4]])
            }
            END {
                for (i = 1; i <= n; i++) {
                    strategy = order[i]
                    printf "| %s | %s | %s |\n", strategy, value[strategy, "hypercube:10"], value[strategy, "hypercube:15"]
                }
            }'
}
