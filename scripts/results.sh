#!/usr/bin/env bash
# Writes the gallery and the comparison of published numbers with our numbers, and checks every page below results/.
#
#   scripts/results.sh [SECTION...]     [verify gallery]
#   scripts/results.sh --check [NAME...]
#   scripts/results.sh --list
#
# SECTION: verify, gallery, verify-full, verify-all-to-all; the last two take minutes. The other pages are written by
# experiments.sh, benchmark.sh, search.sh and auto.sh.
#
# --check runs the quick form of every script in a temporary directory and compares its output with the committed files
# (scripts/compare-results.py). NAME restricts the check to the scripts of these names, such as traces or search. A
# script is reported as ignored if a trace that it needs is absent. Exit codes: 0 all equal, 1 a difference or a failed
# script, 2 usage.
#
# --list prints each page below results/ and the command that writes it, or `retired`.
#
# Traces are searched in the folders of the program ($REPLAY_TRACES, traces/). `verify` reports a row as not run if the row
# needs an absent trace. scripts/lib.bash lists the environment variables.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "${1:-}" = --list ]; then
    for page in verify verify-full verify-all-to-all gallery/README; do echo "$page.md scripts/results.sh ${page%/README}"; done
    echo 'published/README.md scripts/results.sh verify'
    scripts/experiments.sh --list
    scripts/benchmark.sh --list
    scripts/search.sh --list
    echo 'search/auto.md scripts/auto.sh'
    exit
fi
source scripts/lib.bash

# check [NAME...]: compares the output of the quick form of each script with the committed files.
check() {
    local command name page wrong=0 begun took note selected=" $* "
    while read -r name page command; do
        [ $# -eq 0 ] || [[ $selected == *" $name "* ]] || continue
        selected=${selected/" $name "/ }
        mkdir -p "$work/$name/search" "$work/$name/benchmarks"
        begun=$SECONDS
        if ! QUICK=1 RESULTS="$work/$name" REPLAY="$replay" bash -c "$command" > "$work/log" 2>&1; then
            note=$(grep -m 1 '^replay: no trace' "$work/log" || true)
            if [ -z "$note" ]; then
                printf 'FAILED   %-20s %4d s: %s\n' "$name" $((SECONDS - begun)) "$command"
                tail -n 5 "$work/log"
                wrong=1
                continue
            fi
        else
            # A page with absent parts contains a note and cannot be compared.
            note=$(grep -rhm 1 '^Not run: ' "$work/$name" "$work/log" | head -n 1 || true)
        fi
        took=$((SECONDS - begun))
        page=results/$page
        if [ -n "$note" ]; then
            printf 'ignored  %-20s %4d s: %s\n' "$name" "$took" "$note"
        elif [[ $command == scripts/benchmark.sh* ]] && ! grep -q '^Written by `scripts/benchmark.sh' "$page"; then
            printf 'ran      %-20s %4d s: not compared, the script has not written %s: %s\n' "$name" "$took" "$page" \
                "$(grep '^Made on' "$page" || git log -1 --format='last changed on %cs by commit %h' -- "$page")"
        elif scripts/compare-results.py "$work/$name" results > "$work/log"; then
            printf 'equal    %-20s %4d s: %s\n' "$name" "$took" "$(tail -n 1 "$work/log")"
        else
            printf 'DIFFERS  %-20s %4d s: %s\n' "$name" "$took" "$command"
            head -n 20 "$work/log"
            wrong=1
        fi
        rm -r "${work:?}/$name"
    done < <(quick_commands)
    if [ $# -gt 0 ] && [ -n "${selected// /}" ]; then
        echo "results.sh: no check named$selected" >&2
        exit 2
    fi
    return "$wrong"
}

# quick_commands: prints name, page and command of each check.
quick_commands() {
    scripts/results.sh --list | awk '
        # Searches share one quick run, and published is a part of verify.
        $2 ~ /results.sh/ && ($3 == "verify" && $1 !~ /^published/ || $3 == "gallery") { print $3, $1, $2, $3 }
        $2 ~ /experiments.sh|benchmark.sh/ && $3 { print $3, $1, $2, $3 }
        $1 == "search/README.md" { print "search", $1, $2 }
        $1 == "search/auto.md" { print "auto", $1, $2 }'
}

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
if [ "${1:-}" = --check ]; then
    shift
    check "$@"
    exit
fi

verified=0
# compare_published NAME ARGUMENTS...: writes a page of published numbers and our numbers.
compare_published() {
    local name=$1
    shift
    {
        echo "# Published numbers and ours"
        echo
        echo "Made by \`scripts/results.sh\` with $("$replay" -V), commit $(git rev-parse --short=12 HEAD 2> /dev/null || echo unknown):"
        echo "\`replay ${*//"$work"/DIR}\`. Full precision: $name.csv."
        echo
        "$replay" "$@" --write "$results/$name.csv" || verified=$?
    } > "$results/$name.md.part"
    mv "$results/$name.md.part" "$results/$name.md"
}

verify_full() { compare_published verify-full verify turner chang-mohapatra --full --format md; }

verify_all_to_all() {
    compare_published verify-all-to-all verify lo-messages --trace 'all-to-all[sends=at-once]' --full --format md
}

# A quick run evaluates the suites that take seconds; numbers that differ are not a failure of the script.
verify() {
    local figure name suites='lo bani-mohammad turner chang-mohapatra scheduling bounds lublin'
    if quick; then
        part verify
        "$replay" verify $suites --quiet --format csv --write "$results/verify.csv" > /dev/null ||
            [ $? = 1 ]
        "$replay" verify $suites --audit --quiet --format csv > "$results/verify-audit.csv"
        return
    fi
    compare_published verify verify --shake 20 --format md --out "$work/drawn"
    "$replay" verify --audit --format csv > "$results/verify-audit.csv" || verified=$?
    # Figures that compare published numbers with our numbers, one for each figure or table of a paper.
    rm -rf "$results/published"
    mkdir -p "$results/published"
    cp "$work/drawn"/*.{svg,csv} "$results/published/"
    {
        printf '# Figures of published numbers and ours\n\nMade by `scripts/results.sh`: `replay verify --shake 20 --out DIR`.\n'
        printf 'One figure for each figure or table of a paper; claims in words and bounds are only in [the table](../verify.md).\n'
        for figure in "$results"/published/*.svg; do
            name=$(basename "$figure" .svg)
            printf '\n## %s\n\n![](%s.svg)\n' "${name//--/, }" "$name"
        done
    } > "$results/published/README.md"
}

# drawn DIR STEM [NAME]: copies a figure to the gallery; STEM may be a pattern.
drawn() {
    local from
    from=$(echo "$work/$1/plots"/$2.svg)
    from=${from%.svg}
    figure "$from" "$results/gallery/${3:-$(basename "$from")}"
}

# Figures similar to those of the tie-breaking paper: Figs. 4, 9, 10, 16 and 18 from the log of the paper, and Figs. 11
# to 14 from a later version of another log.
gallery() {
    local stem vector by
    rm -rf "$results/gallery"
    mkdir -p "$results/gallery"
    "$replay" --trace KTH-SP2 --sched fcfs,easy \
        --alloc mc1x1,mm,gen-alg,hilbert-best-fit,snake-best-fit,random \
        --tie none --tie 2,13,20,6 --ties --no-jobs --quiet --out "$work/kth" > /dev/null
    for stem in \
        improvement-by-size--KTH-SP2-1996-2--10x10--fcfs--mc1x1-2-13-20-6 \
        improvement-by-rank--KTH-SP2-1996-2--10x10--fcfs--mc1x1-2-13-20-6 \
        strategies--KTH-SP2-1996-2--10x10--fcfs \
        strategies--KTH-SP2-1996-2--10x10--easy \
        load--KTH-SP2-1996-2--10x10--fcfs--mc1x1 \
        load--KTH-SP2-1996-2--10x10--easy--mc1x1; do
        drawn kth "$stem"
    done
    drawn kth 'ties--*' ties
    cp "$work/kth"/{runs,by_size}.csv "$results/gallery/"

    # Figs. 11 to 14, by size and by rank: the best vector of SDSC-Par96, and a vector without large losses for any job
    # size.
    "$replay" --trace SDSC-Par96 --sched fcfs --alloc mc1x1 --tie none --tie 4,29,5,0 --tie 2,12,1,1 \
        --no-jobs --out "$work/sdsc" --quiet > /dev/null
    for vector in 4-29-5-0 2-12-1-1; do
        for by in size rank; do
            drawn sdsc "improvement-by-$by--SDSC-Par-1996-3.1-cln--20x20--fcfs--mc1x1-$vector"
        done
    done

    # Figures of the trace that comes with the project.
    "$replay" --sched fcfs,easy --no-jobs --out "$work/own" --quiet > /dev/null
    drawn own improvement-by-size--lublin-10x10--10x10--easy--mc1x1-2-13-20-6
    drawn own strategies--lublin-10x10--10x10--easy
    # The machine just after a job has started.
    "$replay" show --sched easy --tie 2,13,20,6 --job 3333 --out "$work/machine" --quiet > /dev/null
    drawn machine machine machine--lublin-10x10--easy--job-3333
    {
        gallery_page
        for stem in "$results"/gallery/*.svg; do
            stem=$(basename "$stem" .svg)
            printf '\n## %s\n\n![](%s.svg)\n' "$stem" "$stem"
        done
    } > "$results/gallery/README.md"
}

gallery_page() {
    cat << 'TXT'
# Figures

Made by `scripts/results.sh gallery`; the numbers of each figure are in a CSV file of the same name.

The log of the tie-breaking paper, `replay --trace KTH-SP2 --sched fcfs,easy --alloc
mc1x1,mm,gen-alg,hilbert-best-fit,snake-best-fit,random --tie none --tie 2,13,20,6 --ties --out DIR`
(its tables are `runs.csv` and `by_size.csv`):

| figure | in the paper |
|---|---|
| improvement-by-size, fcfs, mc1x1 | Fig. 9 |
| improvement-by-rank, fcfs, mc1x1 | Fig. 10 |
| strategies, fcfs and easy | Fig. 18, there for LLNL-T3D |
| ties | Fig. 4 |
| load, fcfs and easy | - |

SDSC-Par96. The archive has a later version than that of the paper, with the same jobs at slightly different times, so sizes with
few jobs differ. `replay --trace SDSC-Par96 --sched fcfs --alloc mc1x1 --tie none --tie 4,29,5,0
--tie 2,12,1,1 --no-jobs --out DIR`:

| figure | in the paper |
|---|---|
| improvement-by-size, mc1x1 (4,29,5,0) | Fig. 11 |
| improvement-by-rank, mc1x1 (4,29,5,0) | Fig. 12 |
| improvement-by-size, mc1x1 (2,12,1,1) | Fig. 13 |
| improvement-by-rank, mc1x1 (2,12,1,1) | Fig. 14 |

The shipped trace, `replay --sched fcfs,easy --out DIR`: the figures named lublin-10x10.

The machine during this trace, `replay show --sched easy --tie 2,13,20,6 --job 3333 --out DIR`: `machine--lublin-10x10`.
TXT
}

sections=("$@")
[ $# -gt 0 ] || sections=(verify gallery)
for section in "${sections[@]}"; do
    case $section in
        verify | gallery | verify-full | verify-all-to-all) "${section//-/_}" ;;
        *) echo "results.sh: no section $section; there are verify, gallery, verify-full, verify-all-to-all" >&2; exit 2 ;;
    esac
done
exit "$verified"
