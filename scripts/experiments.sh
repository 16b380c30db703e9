#!/usr/bin/env bash
# Writes results/experiments/: a page for each section, with its tables as CSV and its figures as SVG.
#
#   scripts/experiments.sh [SECTION...]     [all sections that take minutes]
#   scripts/experiments.sh --list           prints each page and the command that writes it
#
# Each section is a function in scripts/experiments/SECTION.sh. Traces are searched in the folders in which the program
# searches; a page states which traces were absent. scripts/lib.bash lists the environment variables.
set -euo pipefail
cd "$(dirname "$0")/.."
usual=(fragmentation busy-lists messages gabl-mbs table-2 traces recorded contention contention-shaken hypercube
    size-reduction chang-mohapatra turner workstations torus-placements easy-guard blue-waters links trees)
every=("${usual[@]}" all-to-all-readings completions)
# Pages about retired options. They are kept but not written again.
retired=(estimates-in-ties estimates-whole)
if [ "${1:-}" = --list ]; then
    echo 'experiments/README.md scripts/experiments.sh'
    printf 'experiments/%s.md scripts/experiments.sh %s\n' $(printf '%s\n' "${every[@]}" | awk '{ print $1, $1 }')
    printf 'experiments/%s.md retired\n' "${retired[@]}"
    exit
fi
source scripts/lib.bash
out=$results/experiments
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"

# Pages with date and commit, each with the name of a table of the page. Each takes over ten minutes on two
# idle cores, except for trees.
declare -A long=([messages]=bani-4-one-to-all-uniform.csv [contention-shaken]=contention-shaken-KTH-SP2-n-body.csv
    [table-2]=table-2-n-body.csv [torus-placements]=torus-slices.csv [links]=links.csv [trees]=trees-copies.csv)

# loads LIST: prints the loads of a stream; a quick run has only the first load.
loads() { if quick; then first_load "$1"; else printf '%s' "$1"; fi; }
first_load() { local first=${1%%,*}; printf '%s' "${first%%..*}"; }

# stream NAME FIGURES ARGUMENTS...: runs replicated streams and keeps the table. FIGURES lists the figures to keep, each as
# KIND or KIND--LOAD. A quick run draws no figures.
stream() {
    local name=$1 figures=$2 stem drawn
    shift 2
    local arguments=("$@") word
    if quick; then
        figures='' arguments=(--no-plots)
        # --log is an error without figures.
        for word; do [ "$word" = --log ] || arguments+=("$word"); done
    fi
    "$replay" stream --seed 1 "${arguments[@]}" --out "$work/$name" --quiet > /dev/null
    cp "$work/$name/stream.csv" "$out/$name.csv"
    printf '\n`replay stream --seed 1 %s`\n\n' "$*"
    for stem in $figures; do
        # In the file name of a figure, the common parameters of the streams are between kind and load.
        drawn=("$work/$name/plots/${stem%%--*}"--*"${stem#"${stem%%--*}"}.svg")
        [ ${#drawn[@]} = 1 ] || { echo "$name: ${#drawn[@]} figures of $stem: ${drawn[*]}" >&2; exit 1; }
        figure "${drawn[0]%.svg}" "$out/$name-$stem"
        printf '![](%s-%s.svg)\n' "$name" "$stem"
    done
    rm -r "${work:?}/$name"
}

# joined: concatenates CSV tables that have the same columns, and keeps one header.
joined() { awk 'NR == 1 { header = $0 } NR == 1 || $0 != header'; }

# ran TRACE ARGUMENTS...: runs the program. If it fails because a trace is absent, prints the reason and returns 1.
ran() {
    local trace=$1
    shift
    "$replay" "$@" > "$work/printed" 2> "$work/error" && return
    echo "Not run: $(grep -m 1 . "$work/error")"
    # Any other failure is an error.
    grep -q '^replay: no trace' "$work/error" || { cat "$work/error" >&2; exit 1; }
    return 1
}

# on_trace PAGE TRACE ARGUMENTS...: runs a trace under FCFS and EASY, and adds a table and a figure for each.
on_trace() {
    local page=$1 trace=$2 drawn name
    shift 2
    printf '\n## %s\n\n' "$trace"
    # Another section may have run the same trace.
    rm -rf "${work:?}/$trace"
    ran "$trace" --trace "$trace" --sched fcfs,easy "$@" --no-jobs --out "$work/$trace" --quiet --format md || return 0
    printf '`replay --trace %s --sched fcfs,easy %s`\n\n' "$trace" "$*"
    without_seconds < "$work/printed"
    cp "$work/$trace/runs.csv" "$out/$page-$trace.csv"
    for drawn in "$work/$trace"/plots/comparison--*.svg; do
        name="$page-$trace-$(basename "$drawn" .svg | sed 's/.*--//')"
        figure "${drawn%.svg}" "$out/$name" "$out/$name-figure.csv"
        printf '\n![](%s.svg)\n' "$name"
    done
}

# waits_by_class FILE [PATTERN]: prints mean waits in hours by classes of sizes (1, 2, 3 to 4, 5 to 8, ...), with a column
# for each scheduler. The means are over the allocators that match the pattern.
waits_by_class() {
    csv "$1" -v pattern="${2:-}" '
        pattern != "" && get("allocator") !~ pattern { next }
        {
            size = get("size"); class = 0
            for (top = 1; top < size; top *= 2) class++
            if (class > last) last = class
            scheduler = get("scheduler")
            if (!(scheduler in known)) { known[scheduler] = ++schedulers; name[schedulers] = scheduler }
            jobs[scheduler, class] += get("jobs")
            wait[scheduler, class] += get("jobs") * get("mean_wait")
        }
        END {
            printf "| processors | jobs |"
            for (s = 1; s <= schedulers; s++) printf " %s |", name[s]
            printf "\n|---:|---:|"
            for (s = 1; s <= schedulers; s++) printf "---:|"
            for (class = 0; class <= last; class++) {
                if (!jobs[name[1], class]) continue
                top = 2 ^ class; low = class < 2 ? top : top / 2 + 1
                printf "\n| %s | %d |", low == top ? top : low " to " top, jobs[name[1], class]
                for (s = 1; s <= schedulers; s++)
                    printf " %.2f |", wait[name[s], class] / jobs[name[s], class] / 3600
            }
            printf "\n"
        }'
}

for section in "${every[@]}"; do
    . "scripts/experiments/$section.sh"
done

sections=("$@")
[ $# -gt 0 ] || sections=("${usual[@]}")
for section in "${sections[@]}"; do
    [[ " ${every[*]} " == *" $section "* ]] || { echo "no section $section; there are ${every[*]}" >&2; exit 2; }
    {
        "${section//-/_}"
        printf '\nWritten by `scripts/experiments.sh %s`. Bars are 95 %% intervals; the numbers of each figure are in a CSV file of the same name.\n' "$section"
        if [ -n "${long[$section]:-}" ]; then stamp "$out/${long[$section]}"; fi
    } > "$out/$section.md.part"
    mv "$out/$section.md.part" "$out/$section.md"
done

quick || {
    printf '# Experiments\n\nWritten by `scripts/experiments.sh`.\n\n'
    for section in "${every[@]}" "${retired[@]}"; do
        [ ! -e "$out/$section.md" ] || sed -n "1s/^# \(.*\)/* [\1]($section.md)/p" "$out/$section.md"
    done
} > "$out/README.md.part"
quick || mv "$out/README.md.part" "$out/README.md"
rm -f "$out/README.md.part"
