# The page together: tie vectors that share a replay.

together() {
    local trace vectors cells one many of
    cat << 'TXT'
# Vectors replayed as one

Tie vectors whose decisions have not yet diverged, or whose machines have the same free processors, share one decision. The table
compares the CPU seconds of a sweep on one thread with those of its vectors one by one, estimated from the vector 2,13,20,6.
`--tie auto` simulates 24 shadow machines besides the real one, which share decisions in the same way; the ratio is the time with
`tie=auto` divided by that without a tie vector.

`replay sweep --trace TRACE --alloc mc1x1 --sr 2 --af A --wf A --bf A --distances-only --threads 1 --out DIR`

TXT
    echo 'trace,factors,vectors,sweep_cpu_s,one_by_one_cpu_s,ratio' > "$out/together.csv"
    while read -r trace of; do
        if quick && [ "$trace" != lublin-10x10 ]; then continue; fi
        measure --trace "$trace" --alloc mc1x1 --tie 2,13,20,6 --threads 1 -q
        one=$cpu
        measure sweep --trace "$trace" --alloc mc1x1 --sr 2 --af "$of" --wf "$of" --bf "$of" --distances-only --threads 1 -q --yes --out "$work/together"
        vectors=$(csv "$work/together/runs.csv" '{ n++ } END { print n }')
        rm -r "$work/together"
        awk -v t="$trace" -v of="$of" -v n="$vectors" -v all="$cpu" -v one="$one" \
            'BEGIN { printf "%s,%s,%d,%.2f,%.2f,%.1f\n", t, of, n, all, n * one, n * one / all }' >> "$out/together.csv"
    done << 'RUNS'
lublin-10x10 0..8
KTH-SP2 0..8
NASA-iPSC 0..8
LANL-CM5 0..4
RUNS
    table "$out/together.csv" trace factors vectors 'sweep, CPU s' 'one by one, CPU s' ratio
    printf '\n## `tie=auto`\n\n'
    echo 'trace,mean_pairwise_l1,without_seconds,auto_seconds,ratio' > "$out/together-auto.csv"
    while read -r trace; do
        if quick && [ "$trace" != lublin-10x10 ]; then continue; fi
        one=$("$replay" --trace "$trace" --alloc mc1x1 --threads 1 -q --format csv --columns seconds | tail -n 1)
        "$replay" --trace "$trace" --alloc mc1x1 --tie auto --threads 1 -q --format csv --columns mean_pairwise_l1,seconds | tail -n 1 |
            awk -F, -v t="$trace" -v one="$one" '{ printf "%s,%s,%.3f,%.3f,%.0f\n", t, $1, one, $2, $2 / one }' >> "$out/together-auto.csv"
    done << 'RUNS'
lublin-10x10
KTH-SP2
NASA-iPSC
SDSC-Par96
LANL-CM5
RUNS
    table "$out/together-auto.csv" trace 'mean pairwise L1' 'without, s' 'tie=auto, s' ratio
}
