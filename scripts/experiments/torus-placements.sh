# The page torus-placements: rules of placement on a 3D torus.

# backlog NAME ARGUMENTS...: rules of placement while jobs always wait, as a table and as CSV.
backlog() {
    local name=$1
    shift
    printf '\n`replay stream --seed 1 --backlog 1,16 %s`\n\n' "$*"
    kept "$out/torus-$name.csv" || "$replay" stream --seed 1 --backlog 1,16 "$@" --format csv --quiet > "$out/torus-$name.csv"
    printf '| mix | estimates | window | rule | utilization %% | gain on Slurm, points | streams |\n|---|---|---:|---|---:|---:|---:|\n'
    csv "$out/torus-$name.csv" '
        { gain = get("gain_on_slurm") == "" ? "" : sprintf("%.2f +- %.2f", get("gain_on_slurm"), get("gain_on_slurm_half_width"))
          sub(/^-0[.]00 /, "0.00 ", gain)
          printf "| %s | %s | %s | %s | %.2f +- %.2f | %s | %s |\n", get("mix"), get("estimates"), get("window"), get("rule"), get("saturated_utilization"), get("saturated_utilization_half_width"), gain, get("streams") }'
    printf '\n[torus-%s.csv](torus-%s.csv)\n' "$name" "$name"
}

# backlog_search NAME ARGUMENTS...: the weights that are found, judged on what was not searched.
backlog_search() {
    local name=$1
    shift
    printf '\n`replay stream --seed 1 --backlog 1,16 --search %s`\n\n' "$*"
    kept "$out/torus-$name.csv" || "$replay" stream --seed 1 --backlog 1,16 --search "$@" --format csv --quiet > "$out/torus-$name.csv"
    printf '| estimates | window | found | tried | gain on Slurm, first halves | second halves | gain on dl, second halves |\n|---|---:|---|---:|---:|---:|---:|\n'
    csv "$out/torus-$name.csv" '
        { printf "| %s | %s | `%s` | %s | %.2f | %.2f +- %.2f | %.2f +- %.2f |\n", get("estimates"), get("window"), get("way"), get("ways_tried"), get("first_half_gain_on_slurm"), get("second_half_gain_on_slurm"), get("second_half_gain_on_slurm_half_width"), get("second_half_gain_on_dl"), get("second_half_gain_on_dl_half_width") }'
    printf '\n[torus-%s.csv](torus-%s.csv)\n' "$name" "$name"
}

# Real logs on their meshes, which have no boxes of their own: mean waits by Slurm's rule and by the one that tunes itself.
boxes_on_logs() {
    local trace logs=()
    for trace in KTH-SP2 SDSC-Par96 SDSC-Par95 CTC-SP2 SDSC-SP2 NASA-iPSC; do
        "$replay" --trace "$trace" --jobs 1 --alloc random --quiet > /dev/null 2>&1 || continue
        logs+=("$trace")
    done
    [ ${#logs[@]} -gt 0 ] || return 0
    printf '\n## On real logs\n\n'
    cat << 'TXT'
The same two rules on logs, each on the mesh that comes with it, with boxes of powers of two (`fit=up`). Ends are known by the
estimates of the log; on NASA-iPSC and the Paragons users gave none, and terms that ask for ends know nothing. Waits in hours; the
change is that of `placements`, which tunes itself by the past alone, on `placements[tie=slurm]`. One course of events a row, without an
interval: a changed decision changes all that follow. First come, first served boxes cannot carry most of these logs: waits then
grow with the length of the log.
TXT
    printf '\n`replay --trace LOG --sched fcfs,easy --alloc placements[tie=slurm],placements --threads 1`\n\n'
    printf '| log | mesh | scheduler | slurm, mean wait h | auto, mean wait h | change %% |\n|---|---|---|---:|---:|---:|\n'
    kept "$out/torus-logs.csv" || for trace in "${logs[@]}"; do
        "$replay" --trace "$trace" --sched fcfs,easy --alloc 'placements[tie=slurm],placements' --threads 1 --quiet --format csv \
            --columns trace,topology,scheduler,allocator,mean_wait
    done | joined > "$out/torus-logs.csv"
    csv "$out/torus-logs.csv" '
        { log_ = get("trace"); who = get("scheduler") }
        get("allocator") ~ /slurm/ { slurm[log_, who] = get("mean_wait"); next }
        {
            before = slurm[log_, who]; after = get("mean_wait")
            printf "| %s | %s | %s | %.3f | %.3f | %+.1f |\n", log_, get("topology"), who, before / 3600, after / 3600, \
                100 * (after / before - 1)
        }'
}

torus_placements() {
    quick && part torus-placements
    cat << 'TXT'
# Boxes on 3D tori: the rule that Slurm ships, and others

How much of a torus of 16x16x16 does a rule of placement keep busy when there is always work? Sizes are those of
slices of TPU v4 pods that fit (Jouppi et al. 2023, table 2), all orientations are placements, positions are aligned. A
stream has exponential service of mean 1; the first jobs wait in a window, 1 for first come, first served, and are refilled
at once. Gains are differences on the same streams, in percentage points; `+-` is half of a 95 % interval over streams.

| rule | what it takes |
|---|---|
| count | as if only the number of free processors mattered: a bound |
| first | the first free position |
| slurm | Slurm 26.05, `topology/torus3d`: of the first orientation that fits the position that takes the fewest free ones from the next larger box |
| lf | of all orientations the position that takes the least free worth from larger boxes |
| lf-eq | the same, boxes of equal size included |
| nf | the position with most busy neighbours |
| dl | the position that delays the first place of every larger box least, by what jobs say of their service time |

This is a synthetic stream: no optical switches, which wire the cubes of a real pod freely, and service that does not
depend on size but in `heavy-tail`.
TXT
    printf '\n## Slices of TPU v4 pods\n'
    if quick; then
        backlog slices --rules slurm,first --estimates exact --jobs 8000 --replications 10
        return
    fi
    backlog slices --rules count,first,slurm,lf,lf-eq,nf,dl --estimates exact --jobs 8000 --replications 10
    cat << 'TXT'

Rules that look at space alone differ little from Slurm's. Knowing when neighbours end (`dl`) brings more, a part of
what separates Slurm's rule from the bound (`count`).

## What estimates are worth

`noisy` estimates are the truth times 1 + x, x exponential with mean 2; `shuffled` ones are those of another job of the
same size: they hold no information, and must bring nothing.
TXT
    backlog estimates --rules slurm,lf,dl --estimates noisy,shuffled --jobs 8000 --replications 10
    cat << 'TXT'

A part of the gain stays under poor estimates. Without any knowledge `dl` is worse than Slurm's rule, so its gain
is knowledge and not another way to pack.
TXT
    printf '\n## Ten other mixes\n'
    backlog mixes --rules slurm,dl --jobs 3000 --replications 10 \
        --mix uniform,uniform-half,cubes,cubes-half,slabs,slabs-half,small,small-half,heavy-tail,heavy-tail-half
    cat << 'TXT'

Where small jobs stand beside jobs of half the torus,
both keep the same share busy: the large ones wait for one half, whatever is done with the small ones.

## Weights that are searched, and weights that tune themselves

`--search` tries some hundred ways to weigh the terms (LF, EQ, NF, EF, DL) and how compact a box must be (slack), on the
first half of each stream; the best is judged on the second half, which it never saw. Gains are in percentage points.
TXT
    backlog_search search --estimates exact,noisy,shuffled --jobs 4000 --replications 6
    cat << 'TXT'

The last column compares what it finds with `dl` alone, on jobs that the search did not see.

`auto` searches nothing: beside the machine sixteen others see the same jobs, each with weights of its own, and the machine
uses the weights that lost least processor-time so far. Its figures include the time in which it has yet to learn.
TXT
    backlog auto --rules slurm,dl,auto --estimates exact,noisy,shuffled --jobs 8000 --replications 6
    cat << 'TXT'

Where estimates are exact `auto` is close to `dl`. Where they hold no information `dl` loses to Slurm's rule first come, first
served, and `auto` loses less. It takes each decision on all seventeen machines.
TXT
    boxes_on_logs
}
