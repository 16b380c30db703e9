# The page plan: whether the ranges of `replay plan` hold.

plan() {
    local arguments
    cat << 'TXT'
# Does `plan` hold the truth?

CPU seconds. `run` is the CPU time of `replay sweep ARGUMENTS --out DIR --force --yes` less that of the same with `--jobs 1`, which
reads the same traces and writes as many tables: neither is in what `plan` reports. One run each; `-` is no upper end.

TXT
    echo 'arguments,cells,estimate_s,from_s,to_s,run_s,holds_estimate' > "$out/plan.csv"
    while read -r arguments; do
        if quick && [[ $arguments != *lublin* ]]; then continue; fi
        plan_row $arguments
    done << 'RUNS'
--trace lublin-10x10 --alloc mc1x1 --tie 2,13,20,6
--trace KTH-SP2 --alloc mc1x1
--trace KTH-SP2 --alloc mc1x1 --tie 2,13,20,6
--trace KTH-SP2 --alloc mc1x1 --tie auto
--trace KTH-SP2 --alloc mm --sched easy
--trace KTH-SP2 --alloc gen-alg --tie 2,13,20,6
--trace KTH-SP2 --alloc mbs --sched conservative
--trace KTH-SP2 --alloc paging
--trace LANL-CM5 --alloc mc1x1 --tie 2,13,20,6
--trace LANL-CM5 --alloc mm
--trace LANL-CM5 --alloc gabl --sched easy
--trace LANL-CM5 --alloc hilbert-best-fit --sched conservative
--trace LANL-CM5 --mesh 16x16x16 --alloc mm --jobs 400
--trace KTH-SP2 --alloc all --sched fcfs,easy --jobs 5000
--trace NASA-iPSC --alloc mc1x1,mbs,paging,random --seed 1..5
--trace SDSC-Par96 --alloc mm,hilbert-best-fit,gabl --sched fcfs,conservative --shake 5
--trace KTH-SP2 --sr 1..3 --af 0..3 --wf 0..3 --bf 0..3 --distances-only
RUNS
    table "$out/plan.csv" arguments cells estimate from to run holds
    csv "$out/plan.csv" '{ all++; held += get("holds_estimate") == "yes" } END { printf "\n%d of %d ranges hold the run.\n", held, all }'
}

# plan_row ARGUMENTS...: a row of plan.csv.
plan_row() {
    local cells estimate from to run
    measure plan "$@"
    # The last row is of all cells; a time is a number and a unit, "> " before it means no upper end.
    read -r cells estimate from to < <(awk -F '  +' '
        function seconds(text,    word) {
            sub(/^> /, "", text)
            if (text == "-" || text == "") return "-"
            split(text, word, " "); gsub(/,/, "", word[1])
            return word[1] * (word[2] == "ms" ? 0.001 : word[2] == "s" ? 1 : word[2] == "min" ? 60 : word[2] == "h" ? 3600 : 1e-6)
        }
        NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i }
        $1 == "all" { print cells ? cells : 1, seconds($(NF - 2)), seconds($(NF - 1)), seconds($NF) }
        NR > 2 && $1 != "all" { cells += $at["cells"] }' "$work/printed")
    measure sweep "$@" --out "$work/plan" --force --yes -q
    run=$cpu
    measure sweep "$@" --jobs 1 --out "$work/plan" --force --yes -q 2> /dev/null || cpu=0
    rm -rf "$work/plan"
    awk -v a="$*" -v cells="$cells" -v estimate="$estimate" -v from="$from" -v to="$to" -v run="$run" -v less="$cpu" 'BEGIN {
        took = run - less
        holds = took >= from - 0.01 && (to == "-" || took <= to + 0.01) ? "yes" : "no"
        printf "\"%s\",%s,%s,%s,%s,%.2f,%s\n", a, cells, estimate, from, to, took, holds
    }' >> "$out/plan.csv"
}
