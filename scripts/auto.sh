#!/usr/bin/env bash
# Compares the self-tuning tie-breaker with fixed vectors and writes results/search/auto.md.
#
#   scripts/auto.sh [PROGRAM]
#
# PROGRAM: the replay binary [target/release/replay]. Takes what searches found from
# results/search/README.md (scripts/search.sh), and wants the traces KTH-SP2, SDSC-Par95,
# SDSC-Par96, LANL-CM5, NASA-iPSC, CTC-SP2 and SDSC-SP2 ($REPLAY_TRACES, traces/).
set -euo pipefail
cd "$(dirname "$0")/.."
replay=${1:-target/release/replay}
out=results/search
mkdir -p "$out"
seeds=0..4

# Mean pairwise L1 of one run a line: figures ARGUMENTS...
figures() {
    "$replay" "$@" --quiet --format json --columns mean_pairwise_l1 | sed 's/.*"mean_pairwise_l1":\([0-9.e+-]*\).*/\1/'
}

near() {
    figures --trace KTH-SP2 --alloc mc1x1 --tie "$1" | xargs printf '%.2f'
}

# Least seconds of three runs: seconds ARGUMENTS...
seconds() {
    for _ in 1 2 3; do
        "$replay" "$@" --threads 1 --quiet --format json --columns seconds
    done | sed 's/.*"seconds":\([0-9.e-]*\).*/\1/' | sort -g | head -n 1
}

# How many times as long as with a tie vector auto takes, by trace: cost TIE
cost() {
    local trace
    for trace in KTH-SP2 SDSC-Par95 SDSC-Par96 LANL-CM5; do
        echo "$(seconds --trace "$trace" --alloc mc1x1 --tie auto) $(seconds --trace "$trace" --alloc mc1x1 --tie "$1")"
    done | awk '
        { ratio = $1 / $2; if (NR == 1 || ratio < low) low = ratio; if (ratio > high) high = ratio }
        END { printf "%.0f to %.0f", low, high }'
}

# The best that searches of a name, or of a name and a number, found: VECTOR[@SLACK].
searched() {
    awk -F ' *[|] *' -v name="$1" '
        $2 ~ "^\\[" name "(-[0-9]+)?\\]" {
            value = $4
            gsub(",", "", value)
            if (best == "" || value + 0 < best) { best = value + 0; found = $3 }
        }
        END { print found == "" ? "-" : found }' "$out/README.md"
}

# Of what a search found: tie and slack of a replay.
value() {
    local trace=$1 found=$2
    case $found in
        -) echo - ;;
        *@*) figures --trace "$trace" --alloc "mc1x1[tie=${found%@*},slack=${found#*@}]" ;;
        *) figures --trace "$trace" --alloc mc1x1 --tie "$found" ;;
    esac
}

# Mean, least and greatest of some lines.
spread() {
    awk '{ sum += $1; if (NR == 1 || $1 < low) low = $1; if ($1 > high) high = $1 }
        END { printf "%.4f %.2f to %.2f\n", sum / NR, low, high }'
}

traces() {
    cat << 'RUNS'
KTH-SP2 2,13,20,6 kth
SDSC-Par95 10,1,3,2 sdsc95
SDSC-Par96 4,29,5,0 sdsc96
LANL-CM5 12,42,41,15 lanl
NASA-iPSC - nasa
CTC-SP2 - ctc
SDSC-SP2 - sdsc_sp2
lublin-10x10 - lublin
RUNS
}

# Among exact ties: by trace the vector of the paper ("-" if it has none) and the name of its
# searches.
exact() {
    local trace paper name found
    while read -r trace paper name; do
        found=$(searched "$name")
        echo "$(figures --trace "$trace" --alloc mc1x1 --tie none) $(value "$trace" 2,1,1,1)" \
            "$(value "$trace" 2,13,20,6) $(value "$trace" "$paper") $(value "$trace" "$found")" \
            "$(figures --trace "$trace" --alloc mc1x1 --tie auto --seed "$seeds" | spread)" |
            awk -v trace="$trace" -v paper="$paper" -v found="$found" '{
                given = paper == "-" ? "-" : sprintf("%.2f (%s)", $4, paper)
                searched = found == "-" ? "-" : sprintf("%.2f (%s)", $5, found)
                share = found == "-" ? "-" : sprintf("%.0f", 100 * ($1 - $6) / ($1 - $5))
                printf "| %s | %.2f | %.2f | %.2f | %s | %s | %.2f | %s to %s | %.2f | %s |\n", trace, $1, $2, $3,
                    given, searched, $6, $7, $9, 100 * ($1 - $6) / $1, share
            }'
    done < <(traces)
}

# With nearly tied candidates as well.
slack() {
    local trace paper name found wide
    while read -r trace paper name; do
        found=$(searched "$name")
        wide=$(searched "$name-slack")
        echo "$(figures --trace "$trace" --alloc mc1x1 --tie none) $(value "$trace" "$found") $(value "$trace" "$wide")" \
            "$(figures --trace "$trace" --alloc 'mc1x1[tie=auto,slack=0.1]' --seed "$seeds" | spread)" \
            "$(figures --trace "$trace" --alloc 'mc1x1[tie=auto,slack=auto]' --seed "$seeds" | spread)" |
            awk -v trace="$trace" -v found="$found" -v wide="$wide" '{
                searched = wide == "-" ? "-" : sprintf("%.2f (%s)", $3, wide)
                exact = found == "-" ? "-" : sprintf("%.0f", 100 * ($1 - $8) / ($1 - $2))
                share = wide == "-" ? "-" : sprintf("%.0f", 100 * ($1 - $8) / ($1 - $3))
                printf "| %s | %.2f | %s | %s | %.2f | %.2f | %s to %s | %.2f | %s | %s |\n", trace, $1,
                    found == "-" ? "-" : sprintf("%.2f", $2), searched, $4, $8, $9, $11, 100 * ($1 - $8) / $1, exact, share
            }'
    done < <(traces)
}

{
    cat << 'TXT'
# A tie vector that tunes itself

Made by `scripts/auto.sh`. Mean pairwise L1 under FCFS; *found* is what searches on the very trace found
([README.md](README.md)). `mc1x1[tie=auto]` has seen nothing of a trace but what went before: mean, least and greatest
of five seeds.

## Among exact ties

MC1x1 without tie-breaking, with vectors that are the same for all traces, with the paper's and the found ones, and
with `tie=auto`. The last columns are its gain over no tie-breaking in percent, and how much of the found vector's gain
that is.

| trace | none | 2,1,1,1 | 2,13,20,6 | paper's best | found | auto | five seeds | gain % | of the found gain % |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
TXT
    exact
    cat << 'TXT'

## With nearly tied candidates

`slack=0.1`: candidates whose score is up to a tenth worse than the best compete by tie value as well; `slack=auto`
tunes that share with the vector. Found by searches with and without a slack; the last columns are the gain of
`mc1x1[tie=auto,slack=auto]` over no tie-breaking, and how much of the two found gains that is.

| trace | none | found, exact ties | found with slack | tie=auto, slack=0.1 | tie=auto, slack=auto | five seeds | gain % | of the gain of exact ties % | of the found gain % |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
TXT
    slack
    cat << TXT

How to read it:

* A search picks the best of thousands of noisy figures. On KTH-SP2 the vectors 2,13,20,7, 2,13,21,6 and 2,14,20,6, next to
  2,13,20,6, give $(near 2,13,20,7), $(near 2,13,21,6) and $(near 2,14,20,6): a good part of what a search finds belongs to the one course of
  events it was found on, which the past does not foretell.
* Among exact ties auto is hardly better than a lucky guess such as 2,1,1,1; what it has is that no vector needs to be
  guessed.
* A slack changes more than the vector does: a candidate that is a little worse for its own job, and leaves the machine in
  better shape, is worth it.
* The widths and counts inside the tuner were set with KTH-SP2 and SDSC-Par96 in view, coarsely: what was tried around
  them differed by less than two seeds do. The other traces had no part in it.
* Cost on the first four traces: 24 shadows take $(cost none) times a replay without tie-breaking, $(cost 2,13,20,6) times one with a
  fixed vector.
TXT
} > "$out/auto.md.part"
mv "$out/auto.md.part" "$out/auto.md"
