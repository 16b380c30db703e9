# The page estimates-whole: EF in the tie-breaking of MC1x1 on whole logs, by long searches. It takes half an hour of CPU time
# for the first seven logs, and many hours for Blue Waters: it runs only when named. EVALUATIONS, if set, is the length of
# each search [400; 60 on Blue Waters]. A quick run searches on KTH-SP2.

estimates_whole() {
    local trace usual options
    local out=$out/estimates-whole
    mkdir -p "$out"
    quick && part estimates-whole
    : > "$work/rows"; : > "$work/commands"; : > "$work/left-out"
    while read -r trace usual options; do
        if quick && [ "$trace" != KTH-SP2-1996-2 ]; then continue; fi
        estimates_of "$trace" $options --evaluations "${EVALUATIONS:-$usual}"
    done << 'RUNS'
KTH-SP2-1996-2 400
SDSC-SP2-1998-4.2-cln 400 --mesh 16x8
CTC-SP2-1996-3.1-cln 400
LANL-CM5-1994-4.1-cln 400
wagap-2013 400 --policy cerit-nodes --mesh 4x11
SDSC-Par-1995-3.1-cln 400
SDSC-Par-1996-3.1-cln 400
BlueWaters-15k 60 --mesh torus:24x24x48 --from 6738203
RUNS
    cat << 'TXT'
# Do users' estimates help MC1x1 to break ties? Whole logs, long searches

The [study of parts](estimates-in-ties.md) on whole logs. Tie vectors and slacks are searched on the first half of the jobs, with EF
and with EF = 0, as many evaluations each; both winners are replayed over the whole and compared on the jobs of the second
half. `log`: what users asked for; `oracle`: the run times; `shuffled`: estimates of other jobs of the same size, which must bring
nothing; `modelled`: for logs without estimates. *Helps*: the winner has an EF, is at least 1 % better, and its interval is above
0. *Worst class* is, of up to ten classes of job size, the one that fares worst with EF, as SIZES: gain %.

| trace | estimates | known % | used | with EF | without | first half % | second half % | 95 % | blocks | helps | worst class |
|---|---|---:|---:|---|---|---:|---:|---:|---:|---|---:|
TXT
    cat "$work/rows"
    cat "$work/left-out"
    printf '\nFCFS. Every class of size is in `estimates-whole/estimates-TRACE.csv`. The commands:\n\n'
    cat "$work/commands"
    helps "$out"/estimates-*.csv
    cat << 'TXT'

The winner has an EF as often with estimates that hold no information as with run times. Two searches of 400 evaluations differ by
luck; wagap has 44 nodes and 25 blocks of a day: its intervals are wide.
TXT
}
