#!/usr/bin/env bash
# Measures the program on this machine and writes results/benchmarks/.
#
#   scripts/benchmark.sh [PAGE...]     [all but abuse, trees and python]
#   scripts/benchmark.sh --list        prints each existing page and the command that writes it
#
# PAGE: how-fast (README.md), large, long, trees, plan, together, import, build, abuse, python. Each page is a
# function in scripts/benchmarks/PAGE.sh. Needs GNU time; how-fast, build and python also need cargo, import and long need
# python3 and 2 GB in $TMPDIR, and python needs the Python packages of scripts/python.sh. All pages take about an hour. Times
# that other load may affect are in CPU seconds, except on the page python; use an idle machine for the best results. A
# quick run has few measurements: it checks that the scripts work and that all values except times equal the committed
# values. scripts/lib.bash lists the environment variables.
set -euo pipefail
cd "$(dirname "$0")/.."
every=(how-fast large long trees plan together import build abuse python)
# Pages about retired options. They are kept but not written again.
retired=(stretches)
if [ "${1:-}" = --list ]; then
    echo 'benchmarks/README.md scripts/benchmark.sh how-fast'
    for page in "${every[@]:1}"; do
        [ ! -e "results/benchmarks/$page.md" ] || echo "benchmarks/$page.md scripts/benchmark.sh $page"
    done
    printf 'benchmarks/%s.md retired\n' "${retired[@]}"
    exit
fi
source scripts/lib.bash
out=$results/benchmarks
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir -p "$out"
[ -x /usr/bin/time ] || { echo "benchmark: no GNU time: install the package time" >&2; exit 2; }

# machine: prints the processor, the number of logical processors, and the load average.
machine() {
    printf '%s, %s logical processors, load average %s' "$(sed -n 's/^model name[^:]*: //p' /proc/cpuinfo | head -n 1)" \
        "$(nproc)" "$(cut -d ' ' -f 1 /proc/loadavg)"
}

# measure ARGUMENTS...: runs the program and sets cpu (user and system seconds), wall (seconds) and mib (peak memory).
# Standard output goes to $work/printed, standard error to $work/error.
measure() {
    /usr/bin/time -q -o "$work/time" -f '%U %S %e %M' "$replay" "$@" > "$work/printed" 2> "$work/error" ||
        { cat "$work/error" >&2; return 1; }
    read -r cpu wall mib < <(awk '{ printf "%.2f %.2f %.0f\n", $1 + $2, $3, $4 / 1024 }' "$work/time")
}

# table FILE HEADING...: prints a CSV file as a Markdown table with these headings.
table() {
    local file=$1
    shift
    printf '|'; printf ' %s |' "$@"; printf '\n'
    printf '|'; printf -- '---|%.0s' "$@"; printf '\n'
    unquoted < "$file" | awk -F, 'NR > 1 { printf "|"; for (i = 1; i <= NF; i++) { gsub(/;/, ",", $i); printf " %s |", $i } printf "\n" }'
}

for page in scripts/benchmarks/*.sh; do
    . "$page"
done

pages=("$@")
[ $# -gt 0 ] || pages=(how-fast large long plan together import build)
for page in "${pages[@]}"; do
    [[ " ${every[*]} " == *" $page "* ]] || { echo "no page $page; there are ${every[*]}" >&2; exit 2; }
    quick && part "$page"
    name=$page
    [ "$page" != how-fast ] || name=README
    # Another program writes this page.
    if [ "$page" = abuse ]; then abuse; continue; fi
    begun=$(machine)
    {
        "${page//-/_}"
        printf '\nWritten by `scripts/benchmark.sh %s`: %s.\n' "$page" "$begun"
        stamp "$out/$name.md"
    } > "$out/$name.md.part"
    mv "$out/$name.md.part" "$out/$name.md"
done
