# The page plan: estimates of `replay plan` compared with the CPU time of `replay sweep`.

plan() {
    local arguments
    cat << 'TXT'
# Estimates of `plan`

Times in CPU seconds. *estimate* is the value printed by `replay plan ARGUMENTS`. *sweep* is the CPU time of
`replay sweep ARGUMENTS --out DIR --force` minus that of the same command with `--jobs 1`; this removes reading the traces and
writing the tables, which the estimate does not include. *plan* is the wall time of `plan`. One run each.

TXT
    echo 'arguments,cells,estimate_s,sweep_s,plan_s' > "$out/plan.csv"
    while read -r arguments; do
        if quick && [[ $arguments != *lublin* ]]; then continue; fi
        plan_row $arguments
    done << 'RUNS'
--trace lublin-10x10 --alloc mc1x1,hilbert-best-fit,random
--trace KTH-SP2 --alloc mc1x1,mm --sr 1..2 --af 1..2 --wf 0..4 --bf 1
--trace LANL-CM5 --alloc mc1x1 --sr 1..2 --af 1 --wf 0..4 --bf 1
--trace KTH-SP2 --alloc mc1x1 --sr 1..3 --af 0..3 --wf 0..3 --bf 0..3 --distances-only
--trace SDSC-SP2 --sched conservative --alloc mc1x1,paging
RUNS
    table "$out/plan.csv" arguments cells estimate sweep plan
}

# plan_row ARGUMENTS...: appends a row to plan.csv.
plan_row() {
    local cells estimate took
    measure plan "$@"
    took=$wall
    # plan: 3 combinations, 3 cells of distinct strategies
    # plan: roughly 1.5 s on 2 threads, CPU time 2.9 s, by samples of 3 kinds of cells
    read -r cells estimate < <(tr -d , < "$work/error" | awk '
        / of distinct strategies/ { cells = $(NF - 4) }
        /^plan: roughly/ {
            sub(/.*CPU time /, "")
            print cells, $1 * ($2 == "ms" ? 0.001 : $2 == "s" ? 1 : $2 == "min" ? 60 : $2 == "h" ? 3600 : 86400)
        }')
    measure sweep "$@" --out "$work/plan" --force -q
    local run=$cpu
    measure sweep "$@" --jobs 1 --out "$work/plan" --force -q
    rm -rf "$work/plan"
    awk -v a="$*" -v cells="$cells" -v estimate="$estimate" -v run="$run" -v less="$cpu" -v took="$took" \
        'BEGIN { printf "\"%s\",%s,%s,%.2f,%s\n", a, cells, estimate, run - less, took }' >> "$out/plan.csv"
}
