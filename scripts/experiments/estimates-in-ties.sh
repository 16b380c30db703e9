# The page estimates-in-ties: users' estimates in the tie-breaking of MC1x1, short searches.

# estimates_of TRACE OPTIONS...: what `replay estimates` finds there, rows of a table, and CSV.
estimates_of() {
    local trace=$1 command
    shift
    command=(--trace "$trace" "$@")
    if ! ran "$trace" estimates "${command[@]}" --format csv --quiet > "$work/absent"; then
        printf '\n%s: %s\n' "$trace" "$(cat "$work/absent")" >> "$work/left-out"
        return
    fi
    printf -- '* `replay estimates %s`\n' "${command[*]}" >> "$work/commands"
    cp "$work/printed" "$out/estimates-$trace.csv"
    csv "$work/printed" '
        {
            interval = get("second_gain_low") == "" ? "-" : sprintf("%.2f to %.2f", get("second_gain_low"), get("second_gain_high"))
            printf "| %s | %s | %.0f | %.2f | %s | %s | %.2f | %.2f | %s | %d x %d d | %s | %s: %.2f |\n", get("trace"), \
                get("estimates_from"), get("known_percent"), get("used_share"), get("tie_with_ends"), get("tie_without_ends"), \
                get("first_gain_percent"), get("second_gain_percent"), interval, \
                get("time_blocks"), get("block_days"), get("helps") == "" ? "-" : get("helps"), get("worst_class"), get("worst_class_gain")
        }' >> "$work/rows"
}

# helps FILE...: of each kind of estimates, in how many logs the winner has an EF, and where it helps.
helps() {
    printf '\n## Summary\n\nLogs on which the winner of the search with EF has an EF, and on which it helps, of all logs.\n\n'
    printf '| estimates | has an EF | helps | logs |\n|---|---:|---:|---:|\n'
    local file
    for file; do
        csv "$file" '{ print get("estimates_from") "|" get("tie_with_ends") "|" get("helps") }'
    done | awk -F '|' '
        !($1 in all) { order[++count] = $1 }
        { all[$1]++; split($2, vector, "@"); ends[$1] += split(vector[1], factor, ",") == 5; helped[$1] += $3 == "yes" }
        END { for (k = 1; k <= count; k++) printf "| %s | %d | %d | %d |\n", order[k], ends[order[k]], helped[order[k]], all[order[k]] }'
}

estimates_in_ties() {
    local trace options
    quick && part estimates-in-ties
    : > "$work/rows"; : > "$work/commands"; : > "$work/left-out"
    while read -r trace options; do
        if quick && [ "$trace" != KTH-SP2-1996-2 ]; then continue; fi
        estimates_of "$trace" $options
    done << 'RUNS'
KTH-SP2-1996-2 --jobs 3000 --evaluations 24
SDSC-SP2-1998-4.2-cln --mesh 16x8 --jobs 3000 --evaluations 24
CTC-SP2-1996-3.1-cln --jobs 3000 --evaluations 24
LANL-CM5-1994-4.1-cln --jobs 3000 --evaluations 24
wagap-2013 --policy cerit-nodes --mesh 4x11 --jobs 3000 --evaluations 24
BlueWaters-15k --mesh torus:24x24x48 --from 6738203 --jobs 400 --evaluations 8
SDSC-Par-1995-3.1-cln --jobs 3000 --evaluations 24
SDSC-Par-1996-3.1-cln --jobs 3000 --evaluations 24
RUNS
    cat << 'TXT'
# Do users' estimates help MC1x1 to break ties?

Among equally good places, or nearly so, MC1x1 may prefer one whose busy neighbours are to end when the new job is:
then a larger hole is left. EF, the fifth number of a tie vector, weighs that; it knows the time, and what users ask for
(SWF field 9, as it stands in the log). Tie vectors and slacks were searched on the first half of the jobs, with
EF and with EF = 0, as many evaluations each, half of them common to both. Both winners were replayed over the whole and
compared on the jobs of the second half: gain is how much less their mean pairwise L1 is with EF, in percent.
Intervals are of 95 %, by blocks of weeks, or of days where the weeks are fewer than eight;
fewer than five blocks have none.
*Helps* means that the winner has an EF, is at least 1 % better, and has an interval above 0. Where the winner of
the search with EF has none, all of the difference is the luck of two searches.

| estimates | what they are |
|---|---|
| log | what users asked for |
| oracle | the run times: what perfect estimates would bring |
| shuffled | those of another job of the same size: they hold no information, and must bring nothing |
| modelled | for logs without: run time x (1 + x), x exponential with mean 2, rounded up to what users like to ask for |

*Used* is the mean of run time over estimate, of jobs that keep theirs. *Worst class* is, of up to ten classes of
about as many jobs, the one that fares worst with EF, as SIZES: gain %.

| trace | estimates | known % | used | with EF | without | first half % | second half % | 95 % | blocks | helps | worst class |
|---|---|---:|---:|---|---|---:|---:|---:|---:|---|---:|
TXT
    cat "$work/rows"
    cat "$work/left-out"
    printf '\nFCFS. Every class of size is in `estimates-TRACE.csv`. The commands:\n\n'
    cat "$work/commands"
    estimates_say
}

estimates_say() {
    helps "$out"/estimates-*.csv
    cat << 'TXT'

## Conclusions, and what the study does not show

This is a pilot: the first 3,000 jobs of each log, 24 evaluations a search, intervals over days; of Blue Waters 400 jobs,
8 evaluations, and two days only. If run times as estimates bring no more than the log's estimates, and neither more than shuffled
ones, better estimates are not what is missing. Searches this short cannot rule out a gain; [long ones on whole
logs](estimates-whole.md) look for it.

Two short searches differ by luck: two vectors without any EF may differ by more than their interval on the second half though
they are alike on the first, since six days are too few blocks for an honest interval. Differences of this size between searches
mean nothing here.
TXT
}
