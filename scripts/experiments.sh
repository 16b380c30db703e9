#!/usr/bin/env bash
# Makes results/experiments/: fragmentation against load, every allocator on real traces,
# and contention on the network.
#
#   scripts/experiments.sh [PROGRAM]      PROGRAM: the replay binary [target/release/replay]
#
# Traces are looked for as the program does; a trace that is not here is left out, and the
# page says so.
set -euo pipefail
cd "$(dirname "$0")/.."
replay=${1:-target/release/replay}
out=results/experiments
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# Figures of a folder of plots under a prefix: keep PREFIX FOLDER NAME...
keep() {
    local prefix=$1 folder=$2 name
    shift 2
    for name in "$@"; do
        cp "$folder/plots/$name.png" "$out/$prefix-$name.png"
        cp "$folder/plots/$name.csv" "$out/$prefix-$name.csv"
    done
}

# stream NAME ARGUMENTS...: replicated streams, their table and figures.
stream() {
    local name=$1
    shift
    "$replay" stream "$@" --out "$work/$name" --quiet > /dev/null
    cp "$work/$name/stream.csv" "$out/$name.csv"
    keep "$name" "$work/$name" turnaround utilization
    printf '\n`replay stream %s`\n\n![](%s-turnaround.png)\n![](%s-utilization.png)\n' \
        "$*" "$name" "$name"
}

fragmentation() {
    local sides
    for sides in uniform exponential increasing decreasing; do
        printf '\n### Sides %s\n' "$sides"
        stream "lo-$sides" --mesh 32x32 --sides "$sides" --load 0.5..10:0.5 \
            --alloc 'paging,paging[size=1],paging[size=2],paging[size=3],mbs,first-fit,best-fit,frame-sliding'
    done
}

busy_lists() {
    printf '\n### Uniform sides, exponential service (Figs. 3.8, 3.10)\n'
    stream bani-3-uniform --mesh 8x8x8 --sides uniform --load 1,2.2,3.4,4.6,5.8 \
        --alloc turning-busy-list,turning-first-fit,busy-list,first-fit
    printf '\n### Exponential sides, exponential service (Figs. 3.9, 3.11)\n'
    stream bani-3-exponential --mesh 8x8x8 --sides exponential --load 1..12.2:1.6 \
        --alloc turning-busy-list,turning-first-fit,busy-list,first-fit
    keep bani-3-exponential "$work/bani-3-exponential" busy-list
    local pareto='pareto[k=15,q=4241,alpha=1]'
    printf '\n### Uniform sides, heavy tails (Figs. 5.3, 5.5, 5.7)\n'
    stream bani-5-uniform --mesh 8x8x8 --sides uniform --service "$pareto" --sched fcfs,ssd \
        --load 0.005..0.045:0.01,0.075,0.105 --precision 0.1 \
        --alloc turning-busy-list,turning-first-fit,busy-list,first-fit
    keep bani-5-uniform "$work/bani-5-uniform" busy-list
    printf '\n### Exponential sides, heavy tails (Figs. 5.4, 5.6, 5.8)\n'
    stream bani-5-exponential --mesh 8x8x8 --sides exponential --service "$pareto" --sched fcfs,ssd \
        --load 0.015..0.105:0.03,0.205 --precision 0.1 \
        --alloc turning-busy-list,turning-first-fit,busy-list,first-fit
}

messages() {
    local pattern load
    while read -r pattern sides load; do
        printf '\n### %s, %s sides\n' "$pattern" "$sides"
        stream "bani-4-$pattern-$sides" --mesh 16x16 --sides "$sides" --pattern "$pattern" \
            --preset bani-mohammad --load "$load" --alloc gabl,mbs,paging,first-fit --precision 0.1
    done << 'RUNS'
one-to-all uniform 0.0025..0.0205:0.003
one-to-all exponential 0.005..0.04:0.005
all-to-all uniform 0.0035..0.0305:0.0045
all-to-all exponential 0.005..0.05:0.0075
random uniform 0.01..0.07:0.01
random exponential 0.01..0.1:0.015
RUNS
}

allocators='first-fit,turning-first-fit,best-fit,frame-sliding,busy-list,turning-busy-list,gabl,anca,as-mb,mbs,granular-mbs,paging,paging[size=1],mc1x1,mc1x1[tie=2,13,20,6],mm,gen-alg,mc,hilbert-best-fit,snake-best-fit,random'

traces() {
    local trace
    for trace in KTH-SP2 SDSC-Par96 LANL-CM5; do
        printf '\n### %s\n\n' "$trace"
        if ! "$replay" --trace "$trace" --sched fcfs,easy --alloc "$allocators" --no-jobs \
            --out "$work/$trace" --quiet --format md > "$work/$trace.md" 2> "$work/error"; then
            echo "Not run: $(tail -n 1 "$work/error")"
            continue
        fi
        cat "$work/$trace.md"
        cp "$work/$trace/runs.csv" "$out/traces-$trace.csv"
        for figure in "$work/$trace"/plots/comparison--*.png; do
            local name
            name="$trace-$(basename "$figure" .png | sed 's/.*--//')"
            cp "$figure" "$out/comparison-$name.png"
            printf '\n![](comparison-%s.png)\n' "$name"
        done
    done
}

contention() {
    local trace scale
    while read -r trace scale jobs; do
        local pattern
        for pattern in all-to-all n-body; do
            printf '\n### %s, %s\n\n' "$trace" "$pattern"
            local command=(contend --trace "$trace" --jobs "$jobs" --scale "$scale" --pattern "$pattern"
                --sched fcfs,easy)
            if ! "$replay" "${command[@]}" --out "$work/c-$trace-$pattern" --quiet --format md \
                > "$work/c.md" 2> "$work/error"; then
                echo "Not run: $(tail -n 1 "$work/error")"
                continue
            fi
            printf '`replay %s`\n\n' "${command[*]}"
            cat "$work/c.md"
            cp "$work/c-$trace-$pattern/contend.csv" "$out/contention-$trace-$pattern.csv"
            local figure
            for figure in "$work/c-$trace-$pattern"/plots/contention--*--easy.png; do
                cp "$figure" "$out/contention-$trace-$pattern.png"
                printf '\n![](contention-%s-%s.png)\n' "$trace" "$pattern"
            done
            cp "$work/c-$trace-$pattern"/plots/links--*--easy--mc1x1.png "$out/links-$trace-$pattern-mc1x1.png"
            cp "$work/c-$trace-$pattern"/plots/links--*--easy--random.png "$out/links-$trace-$pattern-random.png"
        done
    done << 'RUNS'
KTH-SP2 0.2 2000
SDSC-Par96 0.1 2000
RUNS
}

{
    cat << TXT
# Experiments

Made by \`scripts/experiments.sh\` with $("$replay" --version), commit $(git rev-parse --short=12 HEAD 2> /dev/null || echo unknown).
Bars are 95 % intervals. Beside each picture the numbers it shows.

## Fragmentation (Lo et al., Figs. 5 to 8)
TXT
    fragmentation
    printf '\n## Busy lists, heavy tails (Bani-Mohammad, chapters 3 and 5)\n'
    busy_lists
    printf '\n## Messages (Bani-Mohammad, chapter 4)\n'
    messages
    printf '\n## Every allocator on real traces\n\nThe schedule depends on the allocator where it may refuse. `lost` is internal fragmentation, `seconds` the\nwhole run.\n'
    traces
    printf '\n## Contention on real traces\n\nStretch is the time a job takes among the others over the time it takes alone.\n'
    contention
} > "$out/README.md.part"
mv "$out/README.md.part" "$out/README.md"
