# The page chang-mohapatra: size reduction of jobs, Figs. 1 to 5 of Chang and Mohapatra.

chang_mohapatra() {
    local runs=(--log --warm-up 500 --jobs 50500 --min-replications 5 --max-replications 5)
    local usual=(--service 'exponential[mean=5]' "${runs[@]}")
    local uniform=0.125,0.125,0.125,0.125,0.125,0.125,0.125,0.125
    local normal=0.025,0.076,0.162,0.237,0.237,0.162,0.076,0.025
    local figure sides inner schemes buddy
    folds() { printf '%s' "$1" && printf ",rsr[t=%s,inner=$1]" 1 2 3 5; }
    buddy=$(folds cube-buddy),rsr[t=7,inner=cube-buddy]
    # cubes HEADING ABOUT SUFFIX STRATEGIES FIGURE...: the figures of strategies on the hypercube. In figures that end with
    # a, the dimensions are uniform, in the others normal.
    cubes() {
        local heading=$1 about=$2 suffix=$3 strategies=$4 figure shares name
        for figure in "${@:5}"; do
            shares=$uniform name='uniform dimensions'
            [[ $figure = *a ]] || shares=$normal name='normal dimensions'
            printf '\n%s %s: %s, %s\n' "$heading" "$figure" "$about" "$name"
            stream "chang-mohapatra-$figure$suffix" turnaround "${usual[@]}" --machine hypercube:8 \
                --sides "subcubes[shares=$shares]" --load "$(loads 0.1..0.9:0.1)" --alloc "$strategies"
        done
    }
    quick && part chang-mohapatra
    cat << 'TXT'
# Size reduction (Chang, Mohapatra)

Five replications of 50,500 jobs without the first 500 completions, as in the paper. Load is the requested share of the machine;
a job that is not folded takes five time units on average. `replay verify chang-mohapatra` judges the statements of the paper
about these figures. Beyond saturation, turnaround grows with the number of jobs.
TXT
    while read -r figure inner sides; do
        printf '\n## Fig. %s: %s on a 32 x 32 mesh\n' "$figure" "$inner"
        stream "chang-mohapatra-$figure" turnaround "${usual[@]}" --machine 32x32 --sides "$sides" \
            --load "$(loads 0.05,0.1..0.5:0.1)" --alloc "$(folds "$inner")"
    done << 'RUNS'
1a buddy uniform[equal=yes]
1b frame-sliding uniform
1c first-fit uniform
RUNS
    cubes '## Fig.' 'buddy on a hypercube of eight dimensions' '' "$buddy" 2a 2b
    printf '\n## Fig. 3: Frame Sliding with folds, First Fit without\n'
    stream chang-mohapatra-3 turnaround "${usual[@]}" --machine 32x32 --sides uniform --load "$(loads 0.05,0.1..0.5:0.1)" \
        --alloc 'first-fit,frame-sliding,rsr[inner=frame-sliding],rsr[t=2,inner=frame-sliding],rsr[t=3,inner=frame-sliding]'
    schemes='rsr[t=7,inner=cube-buddy],limit[k=0,inner=cube-buddy],rsr[t=2,inner=cube-buddy],limit[k=5,inner=cube-buddy]'
    schemes+=',rsr[t=1,inner=cube-buddy],limit[k=6,inner=cube-buddy]'
    cubes '## Fig.' limits '' "$schemes" 4a 4b
    cat << 'TXT'

The paper compares schemes with equal maximum numbers of folds: RSR-7 with limit-0, RSR-2 with limit-5, RSR-1 with limit-6. In
each pair RSR is better at every load, with both distributions. It is not better than every limit: at a load of 0.7
limit-5 beats RSR-7, because RSR-7 folds a large job that arrives at a full machine up to seven times, and limit-5 only
twice.

## Fig. 5: turnaround by size at a load of 0.7
TXT
    stream chang-mohapatra-5 turnaround-by-size--0.7 "${usual[@]}" --machine hypercube:8 --by-size \
        --sides "subcubes[shares=$uniform]" --load 0.7 --alloc "$schemes"
    cat << 'TXT'

## Normal service times

The experiments on the hypercube with service times from a normal distribution of mean 5 and standard deviation 2, truncated
at 0.
TXT
    usual=(--service 'normal[mean=5,sd=2]' "${runs[@]}")
    cubes '### As Fig.' buddy -normal "$buddy" 2a 2b
    cubes '### As Fig.' limits -normal "$schemes" 4a 4b
    printf '\n### As Fig. 5: turnaround by size at a load of 0.7\n'
    stream chang-mohapatra-5-normal turnaround-by-size--0.7 "${usual[@]}" --machine hypercube:8 --by-size \
        --sides "subcubes[shares=$uniform]" --load 0.7 --alloc "$schemes"
}
