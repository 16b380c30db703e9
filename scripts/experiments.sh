#!/usr/bin/env bash
# Makes results/experiments/: fragmentation against load, busy lists and heavy tails, messages,
# other readings of Table 2, every allocator on real traces, contention on the network, a hypercube
# as it was, size reduction on real traces and in its paper, and Turner's hypercube workloads.
#
#   scripts/experiments.sh [PROGRAM] [SECTION...]
#
# PROGRAM: the replay binary [target/release/replay]. SECTION: fragmentation, busy-lists,
# messages, table-2, traces, contention, hypercube, size-reduction, chang-mohapatra,
# turner [all]. Traces are looked for as the program does; a
# trace that is not here is left out, and the page says so.
set -euo pipefail
cd "$(dirname "$0")/.."
replay=${1:-target/release/replay}
[ $# -gt 0 ] && shift
out=results/experiments
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# stream NAME FIGURES ARGUMENTS...: replicated streams, their table and the figures named.
stream() {
    local name=$1 figures=$2 figure
    shift 2
    "$replay" stream "$@" --out "$work/$name" --quiet > /dev/null
    cp "$work/$name/stream.csv" "$out/$name.csv"
    printf '\n`replay stream %s`\n\n' "$*"
    for figure in $figures; do
        cp "$work/$name/plots/$figure.png" "$out/$name-$figure.png"
        cp "$work/$name/plots/$figure.csv" "$out/$name-$figure.csv"
        printf '![](%s-%s.png)\n' "$name" "$figure"
    done
    rm -r "${work:?}/$name"
}

fragmentation() {
    local sides
    echo '# Fragmentation (Lo et al., Figs. 5 to 8)'
    for sides in uniform exponential increasing decreasing; do
        printf '\n## Sides %s\n' "$sides"
        stream "lo-$sides" 'turnaround utilization' --mesh 32x32 --sides "$sides" --load 0.5..10:0.5 \
            --alloc 'paging,paging[size=1],paging[size=2],paging[size=3],mbs,first-fit,best-fit,frame-sliding'
    done
}

busy_lists() {
    local four=turning-busy-list,turning-first-fit,busy-list,first-fit
    local two=turning-busy-list,busy-list
    local meshes=8x8x8,10x10x10,12x12x12
    local pareto='pareto[k=15,q=4241,alpha=1]'
    local sides load top
    echo '# Busy lists, heavy tails (Bani-Mohammad, chapters 3 and 5)'
    while read -r sides load top; do
        printf '\n## Exponential service, %s sides (Figs. 3.8 to 3.11)\n' "$sides"
        stream "bani-3-$sides" 'turnaround utilization' --mesh 8x8x8 --sides "$sides" --load "$load" --alloc $four
        printf '\n### Length of the busy list (Figs. 3.12 to 3.15)\n'
        stream "bani-3-$sides-m" busy-list --mesh $meshes --sides "$sides" --load "$load" --alloc $two
        printf '\n### Against the size of the machine (Figs. 3.16 to 3.23)\n'
        stream "bani-3-$sides-size" 'turnaround operations' --mesh $meshes --sides "$sides" --load "$top" --alloc $four
    done << 'RUNS'
uniform 1,2.2,3.4,4.6,5.8 5.8
exponential 1..12.2:1.6 12.2
RUNS
    while read -r sides load top; do
        printf '\n## Heavy tails, %s sides (Figs. 5.3 to 5.6)\n' "$sides"
        stream "bani-5-$sides" 'turnaround utilization' --mesh 8x8x8 --sides "$sides" --service "$pareto" \
            --sched fcfs,ssd --load "$load" --precision 0.1 --alloc $four
        printf '\n### Length of the busy list (Figs. 5.7 to 5.10)\n'
        stream "bani-5-$sides-m" busy-list --mesh 8x8x8,12x12x12 --sides "$sides" --service "$pareto" \
            --sched fcfs,ssd --load "$load" --precision 0.1 --alloc $two
        printf '\n### Against the size of the machine (Figs. 5.11 to 5.24)\n'
        stream "bani-5-$sides-size" 'turnaround operations' --mesh $meshes --sides "$sides" --service "$pareto" \
            --sched ssd --load "$top" --precision 0.1 --alloc $four
    done << 'RUNS'
uniform 0.005..0.045:0.01,0.075,0.105 0.045
exponential 0.015..0.105:0.03,0.205 0.205
RUNS
}

messages() {
    local pattern sides load top name
    local four=gabl,mbs,paging,first-fit
    echo '# Messages (Bani-Mohammad, chapter 4)'
    while read -r pattern sides load top; do
        name="bani-4-$pattern-$sides"
        local jobs=(--sides "$sides" --pattern "$pattern" --preset bani-mohammad --precision 0.1)
        printf '\n## %s, %s sides (Figs. 4.6 to 4.27)\n' "$pattern" "$sides"
        stream "$name" 'turnaround wait utilization contiguous blocks' --mesh 16x16 "${jobs[@]}" --load "$load" --alloc $four
        printf '\n### GABL: busy list and searches (Figs. 4.28 to 4.39)\n'
        stream "$name-m" 'busy-list searches' --mesh 16x16,20x20,24x24 "${jobs[@]}" --load "$load" --alloc gabl
        printf '\n### Against the size of the machine (Figs. 4.40 to 4.45)\n'
        stream "$name-size" turnaround --mesh 16x16,32x32,64x64 "${jobs[@]}" --load "$top" --alloc $four
        printf '\n### Packets of 64 flits (Figs. 4.46 to 4.51)\n'
        stream "$name-64" turnaround --mesh 16x16 "${jobs[@]}" --flits 64 --load "$load" --alloc $four
    done << 'RUNS'
one-to-all uniform 0.0025..0.0205:0.003 0.0205
one-to-all exponential 0.005..0.04:0.005 0.04
all-to-all uniform 0.0035..0.0305:0.0045 0.0305
all-to-all exponential 0.005..0.05:0.0075 0.05
random uniform 0.01..0.07:0.01 0.07
random exponential 0.01..0.1:0.015 0.1
RUNS
}

# table PATTERN VARIANT...: finish time and blocking of Table 2 of Lo et al. under other
# readings, as shares of what is printed. A variant is OPTIONS+MAPPING+ALLOCATORS, where any
# may be empty.
table() {
    local pattern=$1 variant
    shift
    for variant in "$@"; do
        local options mapping allocators
        IFS=+ read -r options mapping allocators <<< "$variant"
        "$replay" stream --mesh 16x16 --load 10 --sides "$sides" --pattern "$pattern$options" \
            --mapping "${mapping:-allocation}" --min-replications "$replications" \
            --max-replications "$replications" --quiet --format csv \
            --alloc "${allocators:-random,mbs,paging,paging[size=1],paging[size=2],paging[size=3],first-fit}" |
            unquoted | sed -e "s/^/${options//,/;} ${mapping:+mapping $mapping},/"
    done > "$work/table.csv"
    unquoted < src/published/lo_messages.csv > "$work/lo_messages.csv"
    awk -F, -v pattern="$pattern" '
        FNR == 1 { delete column; for (i = 1; i <= NF; i++) column[$i] = i }
        # The published table, of which only values of this pattern count.
        FILENAME ~ /lo_messages/ {
            if ($column["pattern"] == pattern && $column["relation"] == "value")
                printed[$column["strategy"], $column["metric"]] = $column["printed"]
            next
        }
        $column["machine"] == "machine" { next }
        {
            variant = $1; strategy = $column["allocator"]
            index_of = ""
            if (match(strategy, /index=[a-z-]*;?/)) {
                index_of = substr(strategy, RSTART, RLENGTH); sub(/;/, "", index_of)
                sub(/index=[a-z-]*;?/, "", strategy); sub(/\[\]/, "", strategy)
            }
            gsub(/^ +| +$/, "", variant)
            variant = variant (variant != "" && index_of != "" ? " " : "") index_of
            if (variant == "") variant = "default"
            if (!(variant in seen)) { seen[variant] = ++variants; name[variants] = variant }
            if (!(strategy in known)) { known[strategy] = ++strategies; who[strategies] = strategy }
            for (i = 1; i <= 4; i++) {
                metric = metrics[i]
                ours[strategy, variant, metric] = $column[ours_of[metric]]
            }
        }
        END {
            for (m = 1; m <= 4; m++) {
                metric = metrics[m]
                printf "\n%s, ours over printed:\n\n| strategy | printed |", metric
                for (v = 1; v <= variants; v++) printf " %s |", name[v]
                printf "\n|---|---:|"
                for (v = 1; v <= variants; v++) printf "---:|"
                for (s = 1; s <= strategies; s++) {
                    of = printed[who[s], metric]
                    printf "\n| %s | %s |", who[s], of
                    for (v = 1; v <= variants; v++) {
                        value = ours[who[s], name[v], metric]
                        if (value == "" || of + 0 == 0) printf " |"; else printf " %.3f |", value / of
                    }
                }
                printf "\n"
            }
        }
        BEGIN {
            split("finish_time blocking latency weighted_dispersal", metrics, " ")
            for (i = 1; i <= 4; i++) ours_of[metrics[i]] = metrics[i]
            ours_of["weighted_dispersal"] = "mean_weighted_dispersal"
        }
    ' "$work/lo_messages.csv" "$work/table.csv"
}

# Paging of all page sizes with the pages in another order, as a variant of a table.
indexed() { printf '++paging[index=%s]' "$1" && printf ',paging[index=%s,size=%s]' "$1" 1 "$1" 2 "$1" 3; }

# Commas of quoted fields become semicolons, so that fields are what is between commas.
unquoted() {
    sed -E -e ':again' -e 's/^(([^"]*"[^"]*")*[^"]*"[^",]*),([^"]*")/\1;\3/' -e 't again' -e 's/"//g'
}

# Replications and sides of the jobs of a table.
replications=3
sides='uniform[low=2]'

# The widest interval of the finish times of the last table, in percent of the mean.
widest() {
    awk -F, '
        FNR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        { share = 100 * $column["finish_time_pm"] / $column["finish_time"]; if (share > most) most = share }
        END { printf "%.1f", most }
    ' "$work/table.csv"
}

table_2() {
    local paging='paging,paging[size=1],paging[size=2],paging[size=3]'
    cat << 'TXT'
# Other readings of Table 2 (Lo et al.)

What the report leaves open was settled by calibration (`replay verify lo-messages`). Some rows of all-to-all and
of the n-body ring stay far from print. Here are mechanisms that could explain them, each stated before it was
run, with the share of the printed value that each yields. None replaces the default.

## All-to-all

* `sends=at-once`: all messages of an iteration are in the senders' queues at once, as "simultaneous messages"
  may be read. The quota then cuts the last iteration in rounds, and the same receivers stay crowded for longer.
* `barrier=none`: no synchronisation between iterations.
* `order=shifted`, `order=lexicographic`: other orders of the receivers.
* ranks in row-major order over the whole mesh instead of unit by unit, so that the receivers crowded first are
  neighbours.
TXT
    table all-to-all '' '[sends=at-once]' '[barrier=none]' '[sends=at-once,barrier=none]' \
        '[sends=at-once,order=lexicographic]' '[order=shifted]' '+row-major'
    cat << 'TXT'

Sending at once brings the finish times of the five strategies that scatter jobs very near print, in the printed
order, and lets First Fit take too long; without the barrier blocking times and latencies come near, and finish times
fall far short. No reading has both.

## n-body

Print has Paging(1) blocked three times as long as its neighbours Paging(0) and Paging(2), with paths of the same
length: something is in the way of a ring on 2 x 2 pages. And the printed latency of Paging(0) less its blocking
time is below the 27 + 4 d cycles of an idle network for any d its ring can have.

* Pages numbered in another order than the report says. Where rows of pages run backwards and rows within a page
  forwards, every ring crosses itself.
* Ranks along a curve instead of unit by unit: shorter rings.
TXT
    table n-body "++$paging" "$(indexed snake)" '+snake+'"$paging" \
        "$(indexed shuffled-row-major)" "$(indexed shuffled-snake)"
    cat << 'TXT'

Pages in snake order give Paging(1) a finish time and a blocking time of the printed kind, though not its
dispersal, which is that of row-major pages; Paging(2) and Paging(3) hardly notice. So the printed row looks like
one of pages walked against the order within them; the report says nothing of the sort. For Paging(0) nothing
comes near: even a snake, whose ring has the shortest paths possible, stays above the printed latency.

## Multigrid

No other reading here: ten replications, as many as the report's, leave it open whether some finish times are within
the 8 % of the acceptance bands. With sixty:
TXT
    replications=60 sides='uniform[low=2,high=16,round=power-of-two]' table multigrid ''
    printf '\nThe intervals of the finish times are at most %s %% of the mean to either side. Random, MBS and\n' "$(widest)"
    cat << 'TXT'
Paging(0) finish 8.5 to 9 % too early: most likely a little more than the band allows, though the intervals still
touch it. First Fit is near, so that Fig. 9 is missed by 6 to 7 % in these three.
TXT
}

allocators='first-fit,turning-first-fit,best-fit,frame-sliding,busy-list,turning-busy-list,gabl,anca,as-mb,mbs,granular-mbs,paging,paging[size=1],mc1x1,mc1x1[tie=2,13,20,6],mm,gen-alg,mc,hilbert-best-fit,snake-best-fit,random'

# on_trace PAGE TRACE ARGUMENTS...: a trace under FCFS and EASY, with a figure of each.
on_trace() {
    local page=$1 trace=$2
    shift 2
    printf '\n## %s\n\n' "$trace"
    if ! "$replay" --trace "$trace" --sched fcfs,easy "$@" --no-jobs \
        --out "$work/$trace" --quiet --format md > "$work/$trace.md" 2> "$work/error"; then
        echo "Not run: $(tail -n 1 "$work/error")"
        return
    fi
    cat "$work/$trace.md"
    cp "$work/$trace/runs.csv" "$out/$page-$trace.csv"
    local figure name prefix=comparison
    # The first page with pictures of traces has no prefix of its own.
    [ "$page" = traces ] || prefix=$page
    for figure in "$work/$trace"/plots/comparison--*.png; do
        name="$trace-$(basename "$figure" .png | sed 's/.*--//')"
        cp "$figure" "$out/$prefix-$name.png"
        printf '\n![](%s-%s.png)\n' "$prefix" "$name"
    done
}

traces() {
    local trace
    cat << 'TXT'
# Every allocator on real traces

The schedule depends on the allocator where it may refuse. `lost` is internal fragmentation, `seconds` the whole
run.
TXT
    for trace in KTH-SP2 SDSC-Par96 LANL-CM5; do
        on_trace traces "$trace" --alloc "$allocators"
    done
}

hypercube() {
    local trace=NASA-iPSC machine=(--mesh hypercube:7)
    local all='cube-buddy,gray-code,modified-buddy,multiple-gray-code,cube-free-list,maximal-set,afl,afl[release=heir],non-cubic,non-cubic[adjacent=no],row-major-best-fit,random'
    cat << 'TXT'
# A hypercube as it was: NASA-iPSC-1993

128 processors, and every job of the trace has a power of two of them. So a job fills its subcube, the auxiliary
free list has nothing to hand out, and one subcube is all that non-cubic allocation needs: what differs is which free
subcubes a strategy sees. `row-major-best-fit` and `random` take any processors and never refuse.
TXT
    on_trace hypercube "$trace" "${machine[@]}" --alloc "$all"
    local command=(contend --trace "$trace" "${machine[@]}" --jobs 2000 --scale 2 --pattern all-to-all
        --sched fcfs,easy --alloc 'cube-buddy,cube-free-list,maximal-set,row-major-best-fit,random')
    printf '\n## Contention\n\nEvery job sends, by e-cube routes, what keeps it busy alone for its run time.\n'
    printf '`replay %s`\n\n' "${command[*]}"
    if ! "$replay" "${command[@]}" --out "$work/cube" --quiet --format md > "$work/cube.md" 2> "$work/error"; then
        echo "Not run: $(tail -n 1 "$work/error")"
        return
    fi
    cat "$work/cube.md"
    cp "$work/cube/contend.csv" "$out/hypercube-contention.csv"
}

size_reduction() {
    local trace
    cat << 'TXT'
# What size reduction would have done to real users

A job that First Fit (on NASA-iPSC, the buddy system) refuses is folded up to t times and runs twice as long for each
fold; `amdahl` assumes a serial share of 5 % instead. Times include that. Slowdown is over the run time on the
processors asked for, and lost efficiency what folding costs in processor-time; it is negative where fewer processors
waste less.

* Strict FCFS with First Fit cannot carry the three traces of meshes: mean waits are 115 days on KTH-SP2, 31 on
  SDSC-Par96, 40 on LANL-CM5. With one fold they are 58, 3.9 and 1.6 days.
* Under EASY one fold shortens the mean turnaround by 26 % on KTH-SP2, 54 % on SDSC-Par96, 21 % on LANL-CM5. A second fold
  brings nothing more, and seven are worse than none: +115 %, +3 %, +24 %.
* It is the middle sizes that gain, such as 33 to 64 processors on SDSC-Par96: 62 hours without, 19 with one fold. The
  largest jobs gain nothing on KTH-SP2 (117 hours and 118), and the six of more than 512 processors on LANL-CM5 pay:
  24 hours instead of 13, 139 with two folds, most likely because EASY promises its head all it asks for, and jobs that are
  backfilled and then folded run longer than it counted on.
* The more folds, the less of the time is spent in the queue and the more in a slower run: 92 %, 74 %, 44 % and 4 % for 17 to
  32 processors on KTH-SP2 under EASY. Short waits alone are no success.
* Where programs lose less than the linear rule assumes, a single fold helps nearly everybody.
* NASA-iPSC has room for all, 47 % used, and there is little to gain: 16 % under FCFS, 1 % under EASY.
TXT
    for trace in KTH-SP2 SDSC-Par96 LANL-CM5 NASA-iPSC; do
        local machine=() inner=first-fit all
        if [ "$trace" = NASA-iPSC ]; then machine=(--mesh hypercube:7) inner=cube-buddy; fi
        all="$inner,rsr[inner=$inner],rsr[t=2,inner=$inner],rsr[t=7,inner=$inner]"
        on_trace size-reduction "$trace" "${machine[@]}" --alloc "$all,rsr[inner=$inner,speedup=amdahl]"
        [ -e "$work/$trace/by_size.csv" ] || continue
        cp "$work/$trace/by_size.csv" "$out/size-reduction-$trace-by-size.csv"
        unquoted < "$work/$trace/runs.csv" | folding
        local scheduler
        for scheduler in fcfs easy; do
            printf '\nMean turnaround by processors asked for, %s: hours, and in brackets the share of it in the queue.\n\n' \
                "$scheduler"
            unquoted < "$work/$trace/by_size.csv" | classes "$scheduler"
        done
        printf '\nEvery size: [size-reduction-%s-by-size.csv](size-reduction-%s-by-size.csv)\n' "$trace" "$trace"
    done
}

# What folding comes to, a row for every run that folds.
folding() {
    printf '\n| scheduler | allocator | folded jobs %% | stretch of these | lost efficiency %% | refused sizes |\n|---|---|---:|---:|---:|---:|\n'
    awk -F, '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["folded_percent"] != "" {
            name = $column["allocator"]; gsub(/;/, ",", name)
            printf "| %s | %s | %.1f | %.2f | %.1f | %d |\n", $column["scheduler"], name, \
                $column["folded_percent"], $column["mean_fold_stretch"], $column["lost_efficiency_percent"], \
                $column["refused_sizes"]
        }'
}

# Means by classes of sizes: 1, 2, 3 to 4, 5 to 8, ...
classes() {
    awk -F, -v scheduler="$1" '
        NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i; next }
        $column["scheduler"] == scheduler {
            size = $column["size"]; class = 0
            for (top = 1; top < size; top *= 2) class++
            if (class > last) last = class
            who = $column["allocator"]; gsub(/;/, ",", who)
            if (!(who in known)) { known[who] = ++strategies; name[strategies] = who }
            all = $column["jobs"]
            jobs[who, class] += all
            wait[who, class] += all * $column["mean_wait"]
            turnaround[who, class] += all * $column["mean_turnaround"]
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

chang_mohapatra() {
    local usual=(--service 'exponential[mean=5]' --offered --log --warm-up 500 --jobs 20500
        --min-replications 5 --max-replications 5)
    local uniform=0.125,0.125,0.125,0.125,0.125,0.125,0.125,0.125
    local normal=0.025,0.076,0.162,0.237,0.237,0.162,0.076,0.025
    local figure sides inner shares schemes name
    folds() { printf '%s' "$1" && printf ",rsr[t=%s,inner=$1]" 1 2 3 5; }
    cat << 'TXT'
# Size reduction (Chang, Mohapatra)

Five replications of 20,500 jobs, the first 500 completions left out; load is the share of the machine that jobs ask
for, times are in time units of which a job unfolded takes five. `replay verify chang-mohapatra` judges what the text
says of these figures. Beyond saturation turnaround goes on growing with the number of jobs.
TXT
    while read -r figure inner sides; do
        printf '\n## Fig. %s: %s on a 32 x 32 mesh\n' "$figure" "$inner"
        stream "chang-mohapatra-$figure" turnaround "${usual[@]}" --mesh 32x32 --sides "$sides" \
            --load 0.05,0.1..0.5:0.1 --alloc "$(folds "$inner")"
    done << 'RUNS'
1a buddy uniform[equal=yes]
1b frame-sliding uniform
1c first-fit uniform
RUNS
    for figure in 2a 2b; do
        shares=$uniform name='uniform dimensions'
        [ "$figure" = 2a ] || shares=$normal name='normal dimensions'
        printf '\n## Fig. %s: buddy on a hypercube of eight dimensions, %s\n' "$figure" "$name"
        stream "chang-mohapatra-$figure" turnaround "${usual[@]}" --mesh hypercube:8 \
            --sides "subcubes[shares=$shares]" --load 0.1..0.9:0.1 --alloc "$(folds cube-buddy),rsr[t=7,inner=cube-buddy]"
    done
    printf '\n## Fig. 3: Frame Sliding with folds against First Fit without\n'
    stream chang-mohapatra-3 turnaround "${usual[@]}" --mesh 32x32 --sides uniform --load 0.05,0.1..0.5:0.1 \
        --alloc 'first-fit,frame-sliding,rsr[inner=frame-sliding],rsr[t=2,inner=frame-sliding],rsr[t=3,inner=frame-sliding]'
    schemes='rsr[t=7,inner=cube-buddy],limit[k=0,inner=cube-buddy],rsr[t=2,inner=cube-buddy],limit[k=5,inner=cube-buddy]'
    schemes+=',rsr[t=1,inner=cube-buddy],limit[k=6,inner=cube-buddy]'
    for figure in 4a 4b; do
        shares=$uniform name='uniform dimensions'
        [ "$figure" = 4a ] || shares=$normal name='normal dimensions'
        printf '\n## Fig. %s: against limits, %s\n' "$figure" "$name"
        stream "chang-mohapatra-$figure" turnaround "${usual[@]}" --mesh hypercube:8 \
            --sides "subcubes[shares=$shares]" --load 0.1..0.9:0.1 --alloc "$schemes"
    done
    cat << 'TXT'

The paper compares schemes that fold as often at most: RSR-7 with limit-0, RSR-2 with limit-5, RSR-1 with limit-6. In
each pair RSR is better at every load, with both distributions. It is not better than every limit: at a load of 0.7
limit-5 beats RSR-7, because a large job that comes to a full machine is folded up to seven times by the one and twice
by the other.

## Fig. 5: turnaround by size at a load of 0.7
TXT
    stream chang-mohapatra-5 turnaround-by-size--0.7 "${usual[@]}" --mesh hypercube:8 --by-size \
        --sides "subcubes[shares=$uniform]" --load 0.7 --alloc "$schemes"
}

turner() {
    local usual=(--mesh hypercube:10 --alloc cube-free-list,afl --precision 0.1 --max-replications 100)
    local figure sides load small large share
    cat << 'TXT'
# Free list and auxiliary free list (Turner, chapter 4)

The hypercube has ten dimensions, service is exponential, and times are in mean service times; beyond saturation
turnaround goes on growing with the number of jobs, here 1000. `replay verify turner` judges what the text says of
these figures, and Fig. 4.1.
TXT
    while read -r figure sides load; do
        printf '\n## Fig. %s: %s\n' "$figure" "$sides"
        stream "turner-$figure" 'turnaround utilization' "${usual[@]}" --sides "$sides" --load "$load"
    done << 'RUNS'
4.2 uniform[high=16,equal=yes] 1..7:1
4.3 uniform[high=16] 1..8:1
4.4 uniform[high=32,equal=yes] 0.2..1.8:0.2
4.5 uniform[high=32] 0.2..2:0.2
RUNS
    while read -r figure small large; do
        printf '\n## Figs %s: small jobs up to %s, large ones from %s on\n' "$figure" "$small" "$large"
        for share in 1 3 5 7 9; do
            sides="intervals[sides=1-$small:0.$share,$large-32:0.$((10 - share)),choice=job]"
            stream "turner-$small-$large-0.$share" 'turnaround utilization' "${usual[@]}" \
                --sides "$sides" --load 0.5..3.5:0.5
        done
    done << 'RUNS'
4.6-4.7 8 9
4.8-4.9 8 17
4.10-4.11 8 20
4.12-4.13 8 25
4.14-4.15 8 28
4.16-4.17 8 30
4.18-4.19 16 17
4.20-4.21 16 20
4.22-4.23 16 25
4.24-4.25 16 28
4.26-4.27 16 30
RUNS
}

contention() {
    local trace scale jobs
    printf '# Contention on real traces\n\nStretch is the time a job takes among the others over the time it takes alone.\n'
    while read -r trace scale jobs; do
        local pattern
        for pattern in all-to-all n-body; do
            printf '\n## %s, %s\n\n' "$trace" "$pattern"
            local command=(contend --trace "$trace" --jobs "$jobs" --scale "$scale" --pattern "$pattern"
                --sched fcfs,easy)
            if ! "$replay" "${command[@]}" --out "$work/c-$trace-$pattern" --quiet --format md \
                > "$work/c.md" 2> "$work/error"; then
                echo "Not run: $(tail -n 1 "$work/error")"
                continue
            fi
            printf '`replay %s`\n\n' "${command[*]}"
            cat "$work/c.md"
            # The first row has no quotes.
            awk -F, '
                NR == 1 { for (i = 1; i <= NF; i++) column[$i] = i }
                NR == 2 {
                    printf "\n%d of %d sending jobs miss their time alone by more than 1 %%, as one packet or step is longer.\n",
                        $column["off_target_jobs"], $column["sending_jobs"]
                }' "$work/c-$trace-$pattern/contend.csv"
            cp "$work/c-$trace-$pattern/contend.csv" "$out/contention-$trace-$pattern.csv"
            cp "$work/c-$trace-$pattern/correlations.csv" "$out/contention-$trace-$pattern-correlations.csv"
            local figure
            for figure in "$work/c-$trace-$pattern"/plots/contention--*--easy.png; do
                cp "$figure" "$out/contention-$trace-$pattern.png"
                printf '\n![](contention-%s-%s.png)\n' "$trace" "$pattern"
            done
            local allocator
            for allocator in mc1x1 random; do
                cp "$work/c-$trace-$pattern"/plots/links--*--easy--"$allocator".png \
                    "$out/links-$trace-$pattern-$allocator.png"
                printf '\n![](links-%s-%s-%s.png)\n' "$trace" "$pattern" "$allocator"
            done
        done
    done << 'RUNS'
KTH-SP2 5 2000
SDSC-Par96 2 2000
RUNS
}

sections=("$@")
[ $# -gt 0 ] || sections=(fragmentation busy-lists messages table-2 traces contention hypercube size-reduction chang-mohapatra turner)
for section in "${sections[@]}"; do
    declare -F "${section//-/_}" > /dev/null || { echo "no section $section" >&2; exit 2; }
    {
        "${section//-/_}"
        printf '\n*%s. Bars are 95 %% intervals. Beside each picture the numbers it shows.*\n' "$("$replay" --version)"
    } > "$out/$section.md.part"
    mv "$out/$section.md.part" "$out/$section.md"
done

{
    printf '# Experiments\n\nMade by `scripts/experiments.sh`.\n\n'
    for section in fragmentation busy-lists messages table-2 traces contention hypercube size-reduction chang-mohapatra turner; do
        [ ! -e "$out/$section.md" ] || sed -n "1s/^# \(.*\)/* [\1]($section.md)/p" "$out/$section.md"
    done
} > "$out/README.md.part"
mv "$out/README.md.part" "$out/README.md"
