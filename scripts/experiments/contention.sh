# The page contention: stretch of eight allocators, and its correlation with distances.

contention() {
    local trace scale pattern name drawn allocator jobs=2000
    quick && part contention
    cat << 'TXT'
# Contention on real traces

Stretch is the run time of a job among the other jobs divided by its run time alone in the most compact box, in the fastest
orientation. It is the product of *placement*, the run time alone on the processors of the job divided by that in the box, and
*contention*, the run time among the other jobs divided by that alone on the same processors. Correlations are over the means of
the allocators (those over the jobs of each run are in `contention-TRACE-PATTERN-correlations.csv`). All results are in-sample:
one window of one log, one seed; [perturbed copies](contention-shaken.md) give intervals.
TXT
    while read -r trace scale; do
        for pattern in all-to-all n-body; do
            if quick && [ "$trace $pattern" != 'KTH-SP2 n-body' ]; then continue; fi
            name=contention-$trace-$pattern
            printf '\n## %s, %s\n\n' "$trace" "$pattern"
            local command=(contend --trace "$trace" --jobs "$jobs" --scale "$scale" --pattern "$pattern" --sched fcfs,easy)
            local less=()
            if quick; then less=(--alloc mc1x1,first-fit --no-plots); fi
            ran "$trace" "${command[@]}" "${less[@]}" --out "$work/c" --quiet --format md || continue
            printf '`replay %s`\n\n' "${command[*]}"
            grep -v '^| jobs, ' "$work/printed"
            cp "$work/c/contend.csv" "$out/$name.csv"
            if ! quick; then
                cp "$work/c/correlations.csv" "$out/$name-correlations.csv"
                drawn=$(echo "$work"/c/plots/contention--*--easy.svg)
                figure "${drawn%.svg}" "$out/$name" "$out/$name-figure.csv"
                drawn=$(echo "$work"/c/plots/scatter--allocators--*--easy.svg)
                figure "${drawn%.svg}" "$out/scatter-$trace-$pattern"
                printf '\n![](%s.svg)\n\n![](scatter-%s-%s.svg)\n' "$name" "$trace" "$pattern"
                for allocator in mc1x1 random; do
                    drawn=$(echo "$work"/c/plots/links--*--easy--"$allocator".svg)
                    figure "${drawn%.svg}" "$out/links-$trace-$pattern-$allocator"
                    printf '\n![](links-%s-%s-%s.svg)\n' "$trace" "$pattern" "$allocator"
                done
            fi
            rm -r "${work:?}/c"
        done
    done << 'RUNS'
KTH-SP2 5
SDSC-Par96 2
RUNS
    if quick; then return; fi
    contention_tie_vector
}

# contention_tie_vector: prints the effect of the tie vector (2,13,20,6) on the median stretch of MC1x1, over all runs of the
# page.
contention_tie_vector() {
    local table
    printf '\n## The tie vector (2,13,20,6)\n\nMedian and trimmed mean of the stretch of MC1x1, without and with the vector:\n\n'
    printf '| trace | pattern | scheduler | median, without | with | trimmed mean, without | with |\n|---|---|---|---:|---:|---:|---:|\n'
    for table in "$out"/contention-{KTH-SP2,SDSC-Par96}-{all-to-all,n-body}.csv; do
        csv "$table" '
            get("allocator") != "mc1x1" { next }
            get("tie") == "" { median = get("median_stretch"); trimmed = get("trimmed_mean_stretch"); next }
            {
                printf "| %s | %s | %s | %.4f | %.4f | %.4f | %.4f |\n", get("trace"), get("pattern"), get("scheduler"), \
                    median, get("median_stretch"), trimmed, get("trimmed_mean_stretch")
            }'
    done
}
