#!/usr/bin/env bash
# Makes everything under results/ again: published numbers beside ours, and the gallery.
#
#   scripts/results.sh [PROGRAM] [full]      PROGRAM: the replay binary [target/release/replay]
#
# With "full" nothing but what takes minutes: verify-full, and all-to-all of lo-messages with ten seeds.
#
# Traces are looked for as the program does ($REPLAY_TRACES, traces/); what needs an absent
# trace is reported as not run. Timings are not made here but by the benches, see
# results/benchmarks/README.md.
set -euo pipefail
cd "$(dirname "$0")/.."
REPLAY=${1:-${REPLAY:-target/release/replay}}
source scripts/lib.bash

verified=0
drawn=$(mktemp -d)
trap 'rm -rf "$drawn"' EXIT
# beside NAME ARGUMENTS...: published numbers beside ours.
beside() {
    local name=$1
    shift
    {
        echo "# Published numbers beside ours"
        echo
        echo "Made by \`scripts/results.sh\` with $("$replay" -V), commit $(git rev-parse --short=12 HEAD 2> /dev/null || echo unknown):"
        echo "\`replay ${*//"$drawn"/DIR}\`. The same at full precision: $name.csv."
        echo
        "$replay" "$@" --write "results/$name.csv" || verified=$?
    } > "results/$name.md.part"
    mv "results/$name.md.part" "results/$name.md"
}
if [ "${2:-}" = full ]; then
    beside verify-full verify turner chang-mohapatra --full --format md
    beside verify-all-to-all verify lo-messages --trace 'all-to-all[sends=at-once]' --full --format md
    exit "$verified"
fi
beside verify verify --shake 20 --format md --plots "$drawn"
# Each figure and table of the papers whose numbers were printed, with ours beside them.
rm -rf results/published
mkdir -p results/published
cp "$drawn"/*.{svg,csv} results/published/
{
    printf '# Printed numbers and ours, drawn\n\nMade by `scripts/results.sh`: `replay verify --shake 20 --plots DIR`.\n'
    printf 'A figure for each figure or table of a paper; claims in words and bounds are in [the table](../verify.md) only.\n'
    for figure in results/published/*.svg; do
        name=$(basename "$figure" .svg)
        printf '\n## %s\n\n![](%s.svg)\n' "${name//--/, }" "$name"
    done
} > results/published/README.md

# The paper's figures from its own log: Figs. 4, 9, 10, 16 and 18 in kind; from a later version of another
# Figs. 11 to 14.
gallery=$(mktemp -d)
trap 'rm -rf "$gallery" "$drawn"' EXIT
"$replay" --trace KTH-SP2 --sched fcfs,easy \
    --alloc mc1x1,mm,gen-alg,hilbert-best-fit,snake-best-fit,random \
    --tie none --tie 2,13,20,6 --ties --no-jobs --out "$gallery" > /dev/null
mkdir -p results/gallery
for stem in \
    improvement-by-size--KTH-SP2-1996-2--10x10--fcfs--mc1x1-2-13-20-6 \
    improvement-by-rank--KTH-SP2-1996-2--10x10--fcfs--mc1x1-2-13-20-6 \
    strategies--KTH-SP2-1996-2--10x10--fcfs \
    strategies--KTH-SP2-1996-2--10x10--easy \
    load--KTH-SP2-1996-2--10x10--fcfs--mc1x1 \
    load--KTH-SP2-1996-2--10x10--easy--mc1x1 \
    ties; do
    figure "$gallery/plots/$stem" "results/gallery/$stem"
done
cp "$gallery"/{runs,by_size}.csv results/gallery/

# Figs. 11 to 14: the best vector of SDSC-Par96 and the one that harms no size much, by size and by rank.
"$replay" --trace SDSC-Par96 --sched fcfs --alloc mc1x1 --tie none --tie 4,29,5,0 --tie 2,12,1,1 \
    --no-jobs --out "$gallery/sdsc" --quiet > /dev/null
for vector in 4-29-5-0 2-12-1-1; do
    for by in size rank; do
        stem=improvement-by-$by--SDSC-Par-1996-3.1-cln--20x20--fcfs--mc1x1-$vector
        figure "$gallery/sdsc/plots/$stem" "results/gallery/$stem"
    done
done

# The main job on the trace that ships: the pictures of the README.
"$replay" --sched fcfs,easy --no-jobs --out "$gallery/own" --quiet > /dev/null
for stem in \
    improvement-by-size--lublin-10x10--10x10--easy--mc1x1-2-13-20-6 \
    strategies--lublin-10x10--10x10--easy; do
    figure "$gallery/own/plots/$stem" "results/gallery/$stem"
done
# The machine when a job has just started.
"$replay" show --sched easy --tie 2,13,20,6 --job 3333 --out "$gallery/machine" --quiet > /dev/null
figure "$gallery/machine/plots/machine" results/gallery/machine--lublin-10x10--easy--job-3333
cat > results/gallery/README.md << 'TXT'
# Figures

Made by `scripts/results.sh`; beside each picture the numbers that it shows.

The log of the tie-breaking paper, `replay --trace KTH-SP2 --sched fcfs,easy --alloc
mc1x1,mm,gen-alg,hilbert-best-fit,snake-best-fit,random --tie none --tie 2,13,20,6 --ties --out DIR`
(`runs.csv`, `by_size.csv` are its tables):

| figure | in the paper |
|---|---|
| improvement-by-size, fcfs, mc1x1 | Fig. 9 |
| improvement-by-rank, fcfs, mc1x1 | Fig. 10 |
| strategies, fcfs and easy | Fig. 18, there for LLNL-T3D |
| ties | Fig. 4 |
| load, fcfs and easy | - |

SDSC-Par96, of which the archive has another version than the paper's, with the same jobs at slightly different times: single
sizes of few jobs come out otherwise. `replay --trace SDSC-Par96 --sched fcfs --alloc mc1x1 --tie none --tie 4,29,5,0
--tie 2,12,1,1 --no-jobs --out DIR`:

| figure | in the paper |
|---|---|
| improvement-by-size, mc1x1 (4,29,5,0) | Fig. 11 |
| improvement-by-rank, mc1x1 (4,29,5,0) | Fig. 12 |
| improvement-by-size, mc1x1 (2,12,1,1) | Fig. 13 |
| improvement-by-rank, mc1x1 (2,12,1,1) | Fig. 14 |

The trace that comes with the project, `replay --sched fcfs,easy --out DIR`: the figures named lublin-10x10.

The machine under that trace, `replay show --sched easy --tie 2,13,20,6 --job 3333 --out DIR`: `machine--lublin-10x10`.
TXT
exit "$verified"
