# The page gabl-mbs: GABL against MBS with messages, under other readings of the thesis.

# reading WORDS ARGUMENTS...: mean turnaround of four strategies, GABL over MBS, and the links of a path. MBS: its variant [mbs].
# Appends variant and ratio to $work/ratios.
reading() {
    local words=$1 mbs=${MBS:-mbs}
    shift
    "$replay" stream --seed 1 --machine 16x16 --preset bani-mohammad --min-replications 20 --max-replications 20 \
        --alloc "gabl,$mbs,paging,first-fit" --format csv --quiet "$@" > "$work/reading.csv"
    { if [ -s "$out/gabl-mbs.csv" ]; then tail -n +2; else cat; fi; } < <(labelled "$words" < "$work/reading.csv") >> "$out/gabl-mbs.csv"
    csv "$work/reading.csv" -v words="$words" -v mbs="$mbs" -v ratios="$work/ratios" '
        {
            name = get("allocator")
            turnaround[name] = get("turnaround_time")
            within[name] = get("turnaround_time_pm")
            hops[name] = get("hops")
        }
        END {
            printf "| %s ", words
            split("gabl " mbs " paging first-fit", names, " ")
            for (i = 1; i <= 4; i++) printf "| %.0f ± %.0f ", turnaround[names[i]], within[names[i]]
            printf "| %.2f | %.2f | %.2f |\n", turnaround["gabl"] / turnaround[mbs], hops["gabl"], hops[mbs]
            if (words ~ /over the machine/) printf "%s %.2f\n", mbs, turnaround["gabl"] / turnaround[mbs] >> ratios
        }'
}

# span VARIANT: the least and the greatest ratio of GABL to this variant of MBS with ranks over the whole machine.
span() {
    awk -v mbs="$1" '$1 == mbs { if (!n++ || $2 < low) low = $2; if ($2 > high) high = $2 } END { print low " to " high }' "$work/ratios"
}

# labelled WORDS: a CSV table with a first column `reading` of these words.
labelled() { awk -v words="$1" 'NR == 1 { print "reading," $0; next } { print "\"" words "\"," $0 }'; }

gabl_mbs() {
    quick && part gabl-mbs
    rm -f "$out/gabl-mbs.csv"
    cat << 'TXT'
# GABL and MBS with messages (Bani-Mohammad, chapter 4)

The thesis finds GABL faster than MBS with one-to-all and all-to-all messages: by 30 % and 62 % of turnaround with
uniform sides at the highest loads. Its ranks are "mapped to a linear array using row-major indexing". Read literally that is over
the whole allocation; `replay verify bani-mohammad-messages` judges it so, with blocks of MBS that are split on demand. What could
make GABL faster was varied one at a time; loads were chosen so that jobs queue. Turnaround in cycles, means of 20 replications of
1000 jobs with their intervals; GABL and MBS have the same jobs, so that their ratio is known better than each. Every measure is in
[gabl-mbs.csv](gabl-mbs.csv).

| reading | GABL | MBS | Paging(0) | First Fit | GABL / MBS | links GABL | links MBS |
|---|---:|---:|---:|---:|---:|---:|---:|
TXT
    local one='--pattern one-to-all --sides uniform' all='--pattern all-to-all'
    reading 'one-to-all, uniform: as in the suite' $one --arrivals 0.0205
    if quick; then return; fi
    reading '... ranks row-major over the machine' $one --arrivals 0.0205 --mapping row-major
    MBS='mbs[splitting=on-demand]' reading '... over the machine, MBS split on demand' $one --arrivals 0.0205 --mapping row-major
    reading '... no routing delay' $one --arrivals 0.035 --network 'bani-mohammad[route=0]'
    reading '... routing delay 1' $one --arrivals 0.028 --network 'bani-mohammad[route=1]'
    reading '... routing delay 6' $one --arrivals 0.0135 --network 'bani-mohammad[route=6]'
    reading '... packets of 32 flits' $one --arrivals 0.0125 --flits 32
    reading '... of 32 flits, ranks row-major' $one --arrivals 0.0125 --flits 32 --mapping row-major
    reading '... packets of 64 flits' $one --arrivals 0.008 --flits 64
    reading '... of 64 flits, ranks row-major' $one --arrivals 0.008 --flits 64 --mapping row-major
    reading 'one-to-all, exponential: as in the suite' --pattern one-to-all --sides exponential --arrivals 0.04
    reading '... ranks row-major over the machine' --pattern one-to-all --sides exponential --arrivals 0.04 --mapping row-major
    MBS='mbs[splitting=on-demand]' reading '... over the machine, MBS split on demand' --pattern one-to-all --sides exponential --arrivals 0.04 --mapping row-major
    reading 'all-to-all, uniform: as in the suite' $all --sides uniform --arrivals 0.0305
    reading '... ranks row-major over the machine' $all --sides uniform --arrivals 0.0305 --mapping row-major
    MBS='mbs[splitting=on-demand]' reading '... over the machine, MBS split on demand' $all --sides uniform --arrivals 0.0305 --mapping row-major
    reading 'all-to-all, exponential: as in the suite' $all --sides exponential --arrivals 0.05
    reading '... ranks row-major over the machine' $all --sides exponential --arrivals 0.05 --mapping row-major
    MBS='mbs[splitting=on-demand]' reading '... over the machine, MBS split on demand' $all --sides exponential --arrivals 0.05 --mapping row-major
    printf '\nOf equally long sides of GABL the last shrinks first, or nothing is turned (one-to-all, uniform):\n\n'
    "$replay" stream --seed 1 --machine 16x16 --preset bani-mohammad --min-replications 20 --max-replications 20 $one --arrivals 0.0205 \
        --alloc 'gabl,gabl[tie-shrink=b],gabl[rotate=no],mbs' --format csv --quiet > "$work/turned.csv"
    csv "$work/turned.csv" '{ printf "* %s: %.0f ± %.0f\n", get("allocator"), get("turnaround_time"), get("turnaround_time_pm") }'
    cat << TXT

MBS gives a job squares whose sides are powers of two, and its ranks follow one square after the other: their
neighbours in rank are neighbours in the mesh. GABL gives most of a job one long sub-mesh, in which a row is as wide
as the job. So the messages of MBS have the shorter paths where ranks follow the order of allocation, and GABL is
slower in every such reading. With ranks row-major over the whole machine the advantage is gone: GABL takes $(span mbs)
times as long as MBS, and $(span 'mbs[splitting=on-demand]') times with blocks that are split on demand. No reading
makes GABL 30 % faster: that needs a much slower MBS, not a faster GABL. Inverting the thesis's Table 4.2 gives a mean service time of MBS near that of Paging(0), as if its blocks had no more
locality than single pages; ours is between that of First Fit and that of Paging(0). The likelier reason is therefore the thesis's
MBS, which it does not describe, rather than our GABL; its authors' later finding that MBS is best
on real traces points the same way.
TXT
}
