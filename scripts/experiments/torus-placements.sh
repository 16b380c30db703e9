# The page torus-placements: placement rules on a 3D torus.

# backlog NAME ARGUMENTS...: compares placement rules under permanent backlog, in a table and in a CSV file.
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

# backlog_search NAME ARGUMENTS...: searches weights and validates them on the second halves.
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

# boxes_on_logs: prints mean waits on the meshes of real logs, with Slurm's rule and with the self-tuning rule.
boxes_on_logs() {
    local trace logs=()
    for trace in KTH-SP2 SDSC-Par96 SDSC-Par95 CTC-SP2 SDSC-SP2 NASA-iPSC; do
        "$replay" --trace "$trace" --jobs 1 --alloc random --quiet > /dev/null 2>&1 || continue
        logs+=("$trace")
    done
    [ ${#logs[@]} -gt 0 ] || return 0
    printf '\n## On real logs\n\n'
    cat << 'TXT'
The same two rules on logs, each on its default mesh, with boxes of powers of two (`fit=up`). Ends of jobs are estimated by the
log; NASA-iPSC and the Paragons have no estimates, so terms based on ends have no information. Waits in hours; the change is that of
`placements`, which tunes itself on earlier jobs only, relative to `placements[tie=slurm]`. Each row is one schedule without an
interval: a changed decision changes all later ones. Under FCFS, boxes are saturated on most of these logs, and waits grow with
the length of the log.
TXT
    printf '\n`replay --trace LOG --sched fcfs,easy --alloc placements[tie=slurm],placements --threads 1`\n\n'
    printf '| log | mesh | scheduler | slurm, mean wait h | auto, mean wait h | change %% |\n|---|---|---|---:|---:|---:|\n'
    kept "$out/torus-logs.csv" || for trace in "${logs[@]}"; do
        "$replay" --trace "$trace" --sched fcfs,easy --alloc 'placements[tie=slurm],placements' --threads 1 --quiet --format csv \
            --columns trace,topology,scheduler,allocator,mean_wait
    done | joined > "$out/torus-logs.csv"
    csv "$out/torus-logs.csv" '
        { log_ = get("trace"); scheduler = get("scheduler") }
        get("allocator") ~ /slurm/ { slurm[log_, scheduler] = get("mean_wait"); next }
        {
            before = slurm[log_, scheduler]; after = get("mean_wait")
            printf "| %s | %s | %s | %.3f | %.3f | %+.1f |\n", log_, get("topology"), scheduler, before / 3600, after / 3600, \
                100 * (after / before - 1)
        }'
}

torus_placements() {
    quick && part torus-placements
    cat << 'TXT'
# Boxes on 3D tori: Slurm's rule and others

This page compares the utilization of a torus of 16x16x16 under several placement rules when jobs always wait. Sizes are those
of slices of TPU v4 pods that fit (Jouppi et al. 2023, table 2); all orientations are placements, and positions are aligned. A
stream has exponential service of mean 1. The first jobs wait in a window (1: first come, first served), which is refilled at
once. Gains are differences on the same streams, in percentage points; `+-` is half of a 95 % interval over streams.

| rule | choice |
|---|---|
| count | only the number of free processors matters: a bound |
| first | the first free position |
| slurm | Slurm 26.05, `topology/torus3d`: in the first orientation that fits, the position that blocks the fewest free positions of the next larger box |
| lf | over all orientations, the position that takes the least free value from larger boxes |
| lf-eq | like `lf`, including boxes of equal size |
| nf | the position with the most busy neighbours |
| dl | the position that delays the first place of every larger box least, by the estimates of the running jobs |

The stream is synthetic: it does not model optical switches, which wire the cubes of a real pod freely, and service does not
depend on size except in `heavy-tail`.
TXT
    printf '\n## Slices of TPU v4 pods\n'
    if quick; then
        backlog slices --rules slurm,first --estimates exact --jobs 8000 --replications 10
        return
    fi
    backlog slices --rules count,first,slurm,lf,lf-eq,nf,dl --estimates exact --jobs 8000 --replications 10
    cat << 'TXT'

Rules that use only positions differ little from Slurm's. Using the ends of neighbours (`dl`) brings more: a part of the
difference between Slurm's rule and the bound (`count`).

## Value of estimates

`noisy` estimates are the service time multiplied by 1 + x, x exponential with mean 2; `shuffled` estimates are those of another
job of the same size: they contain no information and must bring no gain.
TXT
    backlog estimates --rules slurm,lf,dl --estimates noisy,shuffled --jobs 8000 --replications 10
    cat << 'TXT'

A part of the gain remains with poor estimates. Without information `dl` is worse than Slurm's rule, so its gain comes from
the estimates and not from another way of packing.
TXT
    printf '\n## Ten other mixes\n'
    backlog mixes --rules slurm,dl --jobs 3000 --replications 10 \
        --mix uniform,uniform-half,cubes,cubes-half,slabs,slabs-half,small,small-half,heavy-tail,heavy-tail-half
    cat << 'TXT'

If small jobs are mixed with jobs of half the torus, both rules have equal utilization: the large jobs wait for one half,
wherever the small jobs are placed.

## Searched weights and self-tuning weights

`--search` tries some hundred weights of the terms (LF, EQ, NF, EF, DL) and slacks in compactness on the first half of each
stream; the best is validated on the second half. Gains are in percentage points.
TXT
    backlog_search search --estimates exact,noisy,shuffled --jobs 4000 --replications 6
    cat << 'TXT'

The last column compares the found weights with `dl` alone on the second halves.

`auto` does not search: sixteen shadow machines run the same jobs, each with its own weights, and the machine
uses the weights that lost least processor time so far. Its results include the time before it has adapted.
TXT
    backlog auto --rules slurm,dl,auto --estimates exact,noisy,shuffled --jobs 8000 --replications 6
    cat << 'TXT'

With exact estimates `auto` is close to `dl`. With estimates without information `dl` loses to Slurm's rule under FCFS, and
`auto` loses less. It makes each decision on all seventeen machines.
TXT
    boxes_on_logs
}
