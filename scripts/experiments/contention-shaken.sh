# The page contention-shaken: significance of the effect of a tie vector on jobs that send messages.

contention_shaken() {
    local trace scale pattern name drawn copies=10
    quick && part contention-shaken
    cat << TXT
# Contention on perturbed traces

On one window of one log, strategies may differ by chance. Here each strategy also runs on $copies copies of the
window as well, in which submit and run times are changed by -1, 0 or +1 s, and is compared with MC1x1 without a tie vector
on the same copies. \`~\` stands before a difference that is not significant at 95 %, corrected by Holm's method for the
runs compared. Medians and trimmed means are over the jobs that send messages, as in [contention](contention.md); the first
2,000 jobs of each log, EASY. The vector 2,13,20,6 is the best of Johnson et al. for KTH-SP2, so the result is in-sample there.
TXT
    : > "$work/differences"
    while read -r trace scale; do
        for pattern in all-to-all n-body; do
            if quick && [ "$trace $pattern" != 'KTH-SP2 n-body' ]; then continue; fi
            name=contention-shaken-$trace-$pattern
            printf '\n## %s, %s\n\n' "$trace" "$pattern"
            local command=(contend --trace "$trace" --jobs 2000 --scale "$scale" --pattern "$pattern" --sched easy
                --tie none --tie 2,13,20,6)
            local less=(--alloc mc1x1,hilbert-best-fit,mbs --shake "$copies")
            if quick; then less=(--alloc mc1x1 --shake 2 --no-plots); fi
            ran "$trace" "${command[@]}" "${less[@]}" --out "$work/s" --quiet --format md || continue
            printf '`replay %s %s`\n\n' "${command[*]}" "${less[*]}"
            # The last table has the means over copies.
            awk 'BEGIN { RS = "" } { last = $0 } END { print last }' "$work/printed"
            differences "$trace" "$pattern" "$work/s/shaken.csv" >> "$work/differences"
            if quick; then
                # Write only the columns that do not depend on the number of copies.
                { echo allocator,metric,unshaken; csv "$work/s/shaken.csv" 'get("tie") == "" {
                    print get("allocator") "," get("metric") "," get("unshaken") }'; } > "$out/$name.csv"
            else
                cp "$work/s/shaken.csv" "$out/$name.csv"
                drawn=$(echo "$work"/s/plots/contention--*.svg)
                figure "${drawn%.svg}" "$out/$name" "$out/$name-figure.csv"
                printf '\n![](%s.svg)\n' "$name"
            fi
            rm -r "${work:?}/s"
        done
    done << 'RUNS'
KTH-SP2 5
SDSC-Par96 2
RUNS
    cat << TXT

## Effect of the tie vector by factor

Mean difference between MC1x1 with 2,13,20,6 and MC1x1 without, over $copies copies, with half widths of 95 % intervals.

| trace | pattern | median stretch | trimmed mean stretch | trimmed mean placement factor | trimmed mean contention factor |
|---|---|---:|---:|---:|---:|
TXT
    cat "$work/differences"
    # There are sixteen comparisons. Two equal configurations differ significantly by chance in at most 5 % of the
    # comparisons.
    awk -F ' *[|] *' '
        { for (i = 4; i <= 7; i++) { all++; if ($i !~ /^~/ && $i != "") apart++ } }
        END { printf "\nOf %d differences, %d are significant; among as many equal pairs, chance alone gives at most %.1f.\n", all, apart, all / 20 }
    ' "$work/differences"
}

# differences TRACE PATTERN FILE: prints a row of the last table from shaken.csv.
differences() {
    csv "$3" -v trace="$1" -v pattern="$2" '
        get("allocator") == "mc1x1" && get("tie") != "" {
            sign = get("distinct") == "yes" ? "" : "~ "
            by[get("metric")] = get("paired_difference") == "" ? "" : \
                sprintf("%s%+.4f ± %.4f", sign, get("paired_difference"), get("paired_half_width"))
        }
        END {
            printf "| %s | %s | %s | %s | %s | %s |\n", trace, pattern, by["median_stretch"], by["trimmed_mean_stretch"],
                by["trimmed_mean_placement_factor"], by["trimmed_mean_contention_factor"]
        }'
}
