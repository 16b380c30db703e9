# The page contention-shaken: whether a tie vector helps, where jobs send messages, beyond the noise of one log.

contention_shaken() {
    local trace scale pattern
    cat << 'TXT'
# Contention on shaken traces

One window of one log is one course of events: two strategies may differ on it by luck. Here each runs on ten copies of the
window as well, whose submit and run times are changed by -1, 0 or +1 s each, and is compared with MC1x1 without a tie vector
on the same copies. `~` stands before a difference whose 95 % interval holds 0. Stretch is placement times contention, as on the
page on [contention](contention.md); the first 2,000 jobs of each log, EASY. The vector 2,13,20,6 is the best of Johnson et al. for
KTH-SP2, so in-sample there.
TXT
    : > "$work/told"
    while read -r trace scale; do
        for pattern in all-to-all n-body; do
            printf '\n## %s, %s\n\n' "$trace" "$pattern"
            local command=(contend --trace "$trace" --jobs 2000 --scale "$scale" --pattern "$pattern" --sched easy
                --alloc 'mc1x1,hilbert-best-fit,mbs' --tie none --tie 2,13,20,6 --shake 10)
            if ! "$replay" "${command[@]}" --out "$work/s" --quiet --format md > "$work/s.md" 2> "$work/error"; then
                echo "Not run: $(tail -n 1 "$work/error")"
                continue
            fi
            printf '`replay %s`\n\n' "${command[*]}"
            # The last of the tables is that over copies.
            awk 'BEGIN { RS = "" } { last = $0 } END { print last }' "$work/s.md"
            cp "$work/s/shaken.csv" "$out/contention-shaken-$trace-$pattern.csv"
            local drawn kept="$out/contention-shaken-$trace-$pattern"
            drawn=$(echo "$work"/s/plots/contention--*.png)
            figure "${drawn%.png}" "$kept" "$kept-figure.csv"
            printf '\n![](contention-shaken-%s-%s.png)\n' "$trace" "$pattern"
            told_apart "$trace" "$pattern" < "$work/s/shaken.csv" >> "$work/told"
            rm -r "${work:?}/s"
        done
    done << 'RUNS'
KTH-SP2 5
SDSC-Par96 2
RUNS
    cat << 'TXT'

## Does the tie vector help, and which factor?

Mean differences of MC1x1 with 2,13,20,6 to MC1x1 without, over ten copies, with the half widths of their 95 % intervals.

| trace | pattern | stretch | placement factor | contention factor |
|---|---|---:|---:|---:|
TXT
    cat "$work/told"
    cat << 'TXT'

With these intervals the vector lowers the placement factor with n-body messages on KTH-SP2, where it was found for pairwise
distance, and nothing else there can be told. On SDSC-Par96 it lowers stretch and placement factor with all-to-all, each by little
more than the interval, and nothing that can be told with n-body. The contention factor differs in none of the four. Of twelve
comparisons at 95 % luck alone is expected to single out 0.6; three are a weak case. Differences as large as those of the one window
on the page on contention are within what a second's shaking does. Against MC1x1 without a vector the
Hilbert curve lowers stretch in all four, by more than the interval.
TXT
}

# told_apart TRACE PATTERN: a row of the last table, from shaken.csv.
told_apart() {
    awk -v trace="$1" -v pattern="$2" '
        # Fields in quotes may hold commas.
        function split_csv(line,    n, field) {
            n = 0
            while (match(line, /^("[^"]*"|[^,]*)(,|$)/)) {
                field = substr(line, 1, RLENGTH)
                line = substr(line, RLENGTH + 1)
                sub(/,$/, "", field)
                gsub(/"/, "", field)
                fields[++n] = field
                if (line == "") break
            }
        }
        { split_csv($0) }
        NR == 1 { for (i in fields) column[fields[i]] = i }
        NR > 1 && fields[column["allocator"]] == "mc1x1" && fields[column["tie"]] != "" {
            metric = fields[column["metric"]]
            sign = fields[column["told_apart"]] == "yes" ? "" : "~ "
            by[metric] = sprintf("%s%+.4f ± %.4f", sign, fields[column["paired_difference"]], fields[column["paired_half_width"]])
        }
        END {
            printf "| %s | %s | %s | %s | %s |\n", trace, pattern, by["mean_stretch"], by["mean_placement_factor"],
                by["mean_contention_factor"]
        }'
}
