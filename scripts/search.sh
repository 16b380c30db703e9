#!/usr/bin/env bash
# Searches tie vectors for the traces of the tie-breaking paper and writes results/search/.
#
#   scripts/search.sh [SEARCH...]     [all whose traces are present, in this order]
#   scripts/search.sh --list          prints each page and the command that writes it
#
# SEARCH: kth, sdsc96, sdsc95, lanl, nasa, sdsc_sp2, ctc, lublin, portability, slack, shaken; `pages` rewrites only the
# page of all searches. Traces are searched in the folders of the program. On two idle cores kth takes about 4 minutes, sdsc96 10,
# sdsc95 15, lanl 75, nasa 3, sdsc_sp2 8, ctc 15, lublin 1, portability 2, slack (vectors and slacks on all traces) 30,
# shaken (perturbed first halves, tested on perturbed second halves) 20.
#
# With START=random, sdsc96 and sdsc95 begin with 500 random vectors and take less time. COPIES is the number of perturbed
# copies of `shaken` [6]. A quick run evaluates only the best vector of each committed search.
# scripts/lib.bash lists the other environment variables.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = --list ]; then
    # ctc, lanl-shaken and the searches on perturbed halves with slacks have no pages yet.
    for name in README portability lanl-2 lanl-3 lanl-4 {kth,sdsc96,sdsc95,lanl,nasa,sdsc_sp2,ctc,lublin}{,-slack,-shaken}; do
        case $name in
            README) search= ;;
            *-slack | *-shaken) search=${name##*-} ;;
            lanl-?) search=lanl ;;
            *) search=$name ;;
        esac
        [ "$name" = lanl-shaken ] || [ "$name" = ctc ] || echo "search/$name.md scripts/search.sh $search"
    done
    exit
fi
source scripts/lib.bash
out=$results/search
mkdir -p "$out"
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# here TRACE: succeeds if a trace is found.
here() { "$replay" --trace "$1" --jobs 1 --alloc random --quiet > /dev/null 2>&1; }

# run NAME ARGUMENTS...: runs a search and keeps its table, its best vectors and the figure of a portability matrix.
run() {
    local name=$1 dir="$work/$1" plots=(--no-plots)
    shift
    [ "$name" != portability ] || plots=()
    "$replay" search "$@" "${plots[@]}" --format md --out "$dir" > "$out/$name.md.part" 2> "$work/$name.err" ||
        { cat "$work/$name.err" >&2; return 1; }
    {
        printf '# %s\n\n```sh\nreplay search' "$name"
        # The arguments in this script need no quotes.
        printf ' %s' "$@"
        printf '\n```\n\n'
        cat "$out/$name.md.part"
        echo
        grep -h -e 'evaluations,' -e 'other vectors' "$work/$name.err" || true
        echo
        stamp "$out/$name.csv"
    } > "$out/$name.md"
    rm "$out/$name.md.part"
    # The first rows of the table of vectors, and the table of skipped evaluations.
    head -n 102 "$dir/search.csv" > "$out/$name.csv"
    cp "$dir/spared.csv" "$out/$name-spared.csv"
    [ ! -e "$dir/portability.csv" ] || cp "$dir/portability.csv" "$out/$name-matrix.csv"
    [ "$name" = portability ] || return 0
    figure "$(echo "$dir"/plots/portability*.svg | sed 's/\.svg$//')" "$out/portability-portability" "$out/portability-portability-figure.csv"
    printf '\n![](portability-portability.svg)\n' >> "$out/$name.md"
}

# --evaluations includes the evaluations of --start: 9,297 for the whole grid, 500 for random, 1 for a vector.
kth() { run kth --trace KTH-SP2 --strategy local --start exhaustive --spare 0 --evaluations 12297 --tie 2,13,20,6; }
sdsc96() { run sdsc96 --trace SDSC-Par96 --strategy local --start "${START:-exhaustive}" --spare 0 --evaluations 10797 --tie 4,29,5,0; }
sdsc95() { run sdsc95 --trace SDSC-Par95 --strategy local --start "${START:-exhaustive}" --spare 0 --evaluations 10797 --tie 10,1,3,2; }
# The first search covers the grid around the scan radii of the paper and the neighbourhoods of the best vectors of this
# grid; it takes an hour on two cores. The next searches start at the best three vectors of different neighbourhoods, at the
# new vectors found there, and at the best vectors of the grid with scan radii 10 and 11.
lanl() {
    run lanl --trace LANL-CM5 --strategy local --start exhaustive --sr 9..14 --spare 0 --evaluations 12840 --tie 12,42,41,15
    run lanl-2 --trace LANL-CM5 --strategy local --start 12,79,68,23 --start 12,61,60,22 --start 12,43,35,12 \
        --spare 0 --evaluations 1503 --tie 12,42,41,15
    run lanl-3 --trace LANL-CM5 --strategy local --start 12,39,38,14 --seed 1 --spare 0 --evaluations 701 --tie 12,42,41,15
    run lanl-4 --trace LANL-CM5 --strategy local --start 10,5,9,4 --start 11,9,9,2 --spare 0 --evaluations 1302 \
        --tie 12,42,41,15
}
# For traces that are not in the paper, use only exhaustive search, and evaluate the vector that the paper gives for
# KTH-SP2.
nasa() { run nasa --trace NASA-iPSC --tie 2,13,20,6; }
sdsc_sp2() { run sdsc_sp2 --trace SDSC-SP2 --tie 2,13,20,6; }
ctc() { run ctc --trace CTC-SP2 --tie 2,13,20,6; }
lublin() { run lublin --trace lublin-10x10 --tie 2,13,20,6; }
# With nearly tied candidates, evaluate 500 random vectors with slacks, then search locally. An evaluation takes longest
# on LANL-CM5, so this search starts at known good vectors.
slack() {
    local name trace tie
    while read -r name trace tie; do
        here "$trace" || continue
        run "$name-slack" --trace "$trace" --strategy local --start random \
            --slack 0,0.05,0.1..0.5:0.1 --spare 0 --evaluations 1300 --tie "$tie"
    done << 'RUNS'
kth KTH-SP2 2,13,20,6
sdsc96 SDSC-Par96 4,29,5,0
sdsc95 SDSC-Par95 10,1,3,2
nasa NASA-iPSC 2,13,20,6
sdsc_sp2 SDSC-SP2 2,13,20,6
ctc CTC-SP2 2,13,20,6
lublin lublin-10x10 2,13,20,6
RUNS
    if here LANL-CM5; then
        run lanl-slack --trace LANL-CM5 --strategy local --start 10,29,52,23@0.1 --start 4,9,5,2@0.2 \
            --slack 0,0.05,0.1..0.5:0.1 --spare 0 --evaluations 602 --tie 12,42,41,15
    fi
}
# Fig. 15 of the paper: vectors found on one trace, evaluated on the others.
portability() {
    run portability --each --trace KTH-SP2 --trace SDSC-Par95 --trace SDSC-Par96 --trace LANL-CM5 \
        --factors 0..6 --top 10 --tie 2,13,20,6 --tie 4,13,20,6 --tie 6,13,20,6
}

# Out-of-sample gains: searches use six perturbed copies of the first half of each trace; copies of the second half are used
# only for tests. 2,1,1,1 was not found by a search; the last vector is that of the paper, found on the whole log. For traces
# with long evaluations, only the first jobs are used.
traces='kth KTH-SP2 2,13,20,6
sdsc96 SDSC-Par96 4,29,5,0
nasa NASA-iPSC 2,13,20,6
sdsc_sp2 SDSC-SP2 2,13,20,6 20000
sdsc95 SDSC-Par95 10,1,3,2 20000
lublin lublin-10x10 2,13,20,6
ctc CTC-SP2 2,13,20,6 20000
lanl LANL-CM5 12,42,41,15 10000'
halves=(--split 0.5 --shake "${COPIES:-6}" --strategy local --start exhaustive --sr 1..6 --factors 0..2
    --evaluations 134 --top 3)
shaken() {
    local name trace tie jobs
    while read -r name trace tie jobs; do
        here "$trace" || continue
        run "$name-shaken" --trace "$trace" ${jobs:+--jobs "$jobs"} "${halves[@]}" \
            --tie 2,1,1,1 --tie 2,13,20,6 --tie "$tie"
    done <<< "$traces"
    while read -r name trace tie jobs; do
        here "$trace" || continue
        run "$name-shaken-slack" --trace "$trace" ${jobs:+--jobs "$jobs"} "${halves[@]}" \
            --slack 0.1,0.3 --tie 2,1,1,1@0 --tie 2,1,1,1@0.1 --tie "$tie@0"
    done <<< "$traces"
}

# evaluated NAME TRACE: writes the best vector of a committed search with the value that this program computes.
evaluated() {
    local name=$1 trace=$2 best tie slack value
    [ -s "results/search/$name.csv" ] || return 0
    here "$trace" || { echo "$name: no trace $trace" >&2; return 0; }
    best=$(csv "results/search/$name.csv" 'get("rank") == 1 { print get("tie") " " get("slack") }')
    read -r tie slack <<< "$best"
    "$replay" --trace "$trace" --alloc "mc1x1[tie=$tie${slack:+,slack=$slack}]" --no-jobs --no-plots --quiet --out "$work/best" > /dev/null
    value=$(csv "$work/best/runs.csv" '{ print get("mean_pairwise_l1") }')
    rm -r "$work/best"
    printf 'rank,tie,value\n1,"%s",%s\n' "$tie" "$value" > "$out/$name.csv"
}
if quick; then
    part search
    while read -r name trace; do
        for kind in '' -slack; do evaluated "$name$kind" "$trace"; done
    done << 'RUNS'
kth KTH-SP2
sdsc96 SDSC-Par96
sdsc95 SDSC-Par95
lanl LANL-CM5
nasa NASA-iPSC
sdsc_sp2 SDSC-SP2
ctc CTC-SP2
lublin lublin-10x10
RUNS
    exit
fi

if [ "$*" = pages ]; then
    :
elif [ $# -gt 0 ]; then
    for search in "$@"; do "$search"; done
else
    if here KTH-SP2; then kth; fi
    if here SDSC-Par96; then sdsc96; fi
    if here SDSC-Par95; then sdsc95; fi
    if here LANL-CM5; then lanl; fi
    if here NASA-iPSC; then nasa; fi
    if here SDSC-SP2; then sdsc_sp2; fi
    if here CTC-SP2; then ctc; fi
    lublin
    if here KTH-SP2 && here SDSC-Par95 && here SDSC-Par96 && here LANL-CM5; then portability; fi
    slack
    shaken
fi

# ranked FILE [OPTION...] PROGRAM: runs an awk program over the rows of the tables of a search page. cell("NAME") is the cell
# below a heading. If the first table lacks this heading, the program ends with exit code 1.
ranked() {
    local file=$1
    awk -F ' *[|] *' -v file__="$file" "${@:2:$#-2}" '
        function cell(name) {
            if (!(name in at__)) {
                printf "%s: no column \"%s\"\n", file__, name > "/dev/stderr"
                exit 1
            }
            return $at__[name]
        }
        $2 == "rank" { for (i = 2; i < NF; i++) at__[$i] = i; next }
        !/^[|]/ && !/other vectors/ { next }
    '"${*: -1}" "$file"
}

# summary NAME: prints the row of a search: its best vector and the vector given by --tie.
summary() {
    [ ! -e "$out/$1.md" ] || ranked "$out/$1.md" -v name="$1" '
        { row = cell("tie") " | " cell("mean_pairwise_l1") " | " cell("better %") }
        cell("rank") == 1 { best = row; if (!given) given = best }
        cell("rank") == "given" { given = row }
        END { print "| [" name "](" name ".md) | " best " | " given " |" }'
}

# summary_shaken NAME SUFFIX GIVEN...: prints the row of a search on perturbed halves: its best vector on the searched half
# and on the other half, then the given vectors on the other half. If the search also evaluated a given vector, this vector
# is in a ranked row.
summary_shaken() {
    local name=$1 suffix=$2
    shift 2
    [ ! -e "$out/$name-shaken$suffix.md" ] || ranked "$out/$name-shaken$suffix.md" -v name="$name-shaken$suffix" -v given="$*" '
        /other vectors/ { split($0, words, /: | of /); split(words[3], of, " "); as_good = words[2] " of " of[1]; next }
        cell("rank") == 1 { best = cell("tie") " | " cell("better %") " | " cell("test %") }
        { tie = cell("tie"); percent = cell("test %") }
        tie != "" && percent ~ /±/ && !(tie in test) { test[tie] = percent }
        END {
            row = "| [" name "](" name ".md) | " best " | " as_good
            count = split(given, ties, " ")
            for (n = 1; n <= count; n++) row = row " | " (ties[n] in test ? test[ties[n]] : "")
            print row " |"
        }'
}

# The best vector of each search, and the best vector of the paper for the trace, evaluated by this program.
{
    echo "# Tie vectors found"
    echo
    if compgen -G "$out/*-shaken.md" > /dev/null; then
        echo "Made by \`scripts/search.sh\`. The page of each search has its command and its best vectors."
        echo
        echo "Searches with \`halving\` in their command used a strategy that was retired later: it evaluated a grid on short first parts"
        echo "of the traces and the best third on longer parts. Each page names its commit."
        echo
        echo "## Out-of-sample gains"
        echo
        echo "Improvement of mean pairwise L1 over no tie-breaking in percent, FCFS: mean over six perturbed copies (every submit"
        echo "and run time changed by -1, 0 or +1 s) with its 95 % interval. Searches used the first half of each trace by time:"
        echo "scan radii 1 to 6, a grid of factors 0 to 2, then 20 vectors near the best. *Searched* is the in-sample"
        echo "improvement of the best vector on the first half, *tested* its improvement on the second half, which was not searched."
        echo "*As good* counts the other vectors evaluated on the whole first half that do not differ significantly from the best on"
        echo "its six copies. The last columns are vectors not chosen by this search, on the second half: 2,1,1,1, which was not found"
        echo "by a search, and those of the paper. The vectors of the paper were found on the whole log, so on their own trace they are"
        echo "in-sample. SDSC-SP2, SDSC-Par95 and CTC-SP2 are limited to the first 20,000 jobs, LANL-CM5 to the first 10,000."
        echo
        echo "| search | found | searched % | tested % | as good | 2,1,1,1 % | 2,13,20,6 % | the paper's for the trace % |"
        echo "|---|---|---:|---:|---:|---:|---:|---:|"
        while read -r name _ tie _; do
            [ "$tie" != 2,13,20,6 ] || [ "$name" = kth ] || tie=
            summary_shaken "$name" "" 2,1,1,1 2,13,20,6 "${tie:--}"
        done <<< "$traces"
        missing=
        while read -r name _; do
            for suffix in "" -slack; do
                [ -e "$out/$name-shaken$suffix.md" ] || missing="$missing $name-shaken$suffix"
            done
        done <<< "$traces"
        [ -z "$missing" ] || printf '\nNot run:%s.\n' "$missing"
        if compgen -G "$out/*-shaken-slack.md" > /dev/null; then
            echo
            echo "Searches with slack 0.1 or 0.3: candidates whose score is worse than the best by at most that share compete by"
            echo "tie value. The last columns are 2,1,1,1 with slack 0.1 and without."
            echo
            echo "| search | found | searched % | tested % | as good | 2,1,1,1@0.1 % | 2,1,1,1 % |"
            echo "|---|---|---:|---:|---:|---:|---:|"
            while read -r name _; do
                summary_shaken "$name" -slack 2,1,1,1@0.1 2,1,1,1
            done <<< "$traces"
        fi
        echo
        echo "## Found on the whole log: in-sample"
        echo
        echo "The vectors below are the best of thousands on the unperturbed log on which they were chosen."
        echo
    fi
    echo "Made by \`scripts/search.sh\`. The page of each search has its command, its best vectors, and those excluded by constraints."
    echo "Values are mean pairwise L1, scheduler FCFS. *Given* is the best vector printed in the paper for the trace, evaluated on our"
    echo "version of the log; on traces that are not in the paper it is the vector for KTH-SP2."
    echo
    echo "| search | found | value | better % | given | value | better % |"
    echo "|---|---|---:|---:|---|---:|---:|"
    for name in kth sdsc95 sdsc96 lanl lanl-2 lanl-3 lanl-4 nasa sdsc_sp2 ctc lublin; do
        summary "$name"
    done
    if compgen -G "$out/*-slack.md" > /dev/null; then
        echo
        echo "With nearly tied candidates: *found* is SR,AF,WF,BF@SLACK, where candidates whose score is worse than the best by at most"
        echo "the share SLACK compete by tie value. The paper breaks exact ties only."
        echo
        echo "| search | found | value | better % | given | value | better % |"
        echo "|---|---|---:|---:|---|---:|---:|"
        for name in kth sdsc95 sdsc96 lanl nasa sdsc_sp2 ctc lublin; do summary "$name-slack"; done
    fi
    if [ -e "$out/portability.md" ]; then
        echo
        echo "[portability](portability.md): vectors found on one trace, evaluated on the others (Fig. 15 of the paper)."
        echo
        echo "![Vectors found on one trace, evaluated on others](portability-portability.svg)"
    fi
} > "$out/README.md.part"
mv "$out/README.md.part" "$out/README.md"
