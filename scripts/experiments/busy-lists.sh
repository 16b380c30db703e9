# The page busy-lists: chapters 3 and 5 of Bani-Mohammad, streams of jobs on 3D meshes.

busy_lists() {
    local four=turning-busy-list,turning-first-fit,busy-list,first-fit
    local two=turning-busy-list,busy-list
    local meshes=8x8x8,10x10x10,12x12x12
    local pareto='pareto[k=15,q=4241,alpha=1]'
    local sides load top mesh service
    quick && part busy-lists
    cat << 'TXT'
# Busy lists, heavy tails (Bani-Mohammad, chapters 3 and 5)

Elementary operations are counted in the engines of the program: words of up to 64 processors for First Fit, subtractions of
boxes for busy lists. These are different kinds of operations, and the thesis timed neither; `engine=literal` counts operations of
the printed loops, and `replay verify bani-mohammad` compares the printed ratios with these counts.
TXT
    while read -r sides load top; do
        printf '\n## Exponential service, %s sides (Figs. 3.8 to 3.11, 3.16, 3.17)\n' "$sides"
        stream "bani-3-$sides" 'turnaround utilization operations' --machine 8x8x8 --sides "$sides" --arrivals "$(loads "$load")" --alloc $four
        printf '\n### Length of the busy list (Figs. 3.12 to 3.15)\n'
        stream "bani-3-$sides-m" busy-list --machine $meshes --sides "$sides" --arrivals "$(loads "$load")" --alloc $two
        if quick; then continue; fi
        printf '\n### Cost of allocation on larger machines (Figs. 3.18 to 3.21)\n'
        for mesh in 10x10x10 12x12x12; do
            stream "bani-3-$sides-cost-$mesh" operations --machine "$mesh" --sides "$sides" --arrivals "$(loads "$load")" --alloc $four
        done
        printf '\n### By size of the machine (Figs. 3.22, 3.23)\n'
        stream "bani-3-$sides-size" 'turnaround operations' --machine $meshes --sides "$sides" --arrivals "$top" --alloc $four
    done << 'RUNS'
uniform 1,2.2,3.4,4.6,5.8 5.8
exponential 1..12.2:1.6 12.2
RUNS
    while read -r sides load top; do
        printf '\n## Heavy tails, %s sides (Figs. 5.3 to 5.6, 5.11 to 5.14)\n' "$sides"
        stream "bani-5-$sides" 'turnaround utilization operations' --machine 8x8x8 --sides "$sides" --service "$pareto" \
            --sched fcfs,ssd --arrivals "$(loads "$load")" --precision 0.1 --alloc $four
        printf '\n### Length of the busy list (Figs. 5.7 to 5.10)\n'
        stream "bani-5-$sides-m" busy-list --machine $meshes --sides "$sides" --service "$pareto" \
            --sched fcfs,ssd --arrivals "$(loads "$load")" --precision 0.1 --alloc $two
        if quick; then continue; fi
        printf '\n### Cost of allocation on larger machines (Figs. 5.15 to 5.22)\n'
        for mesh in 10x10x10 12x12x12; do
            stream "bani-5-$sides-cost-$mesh" operations --machine "$mesh" --sides "$sides" --service "$pareto" \
                --sched fcfs,ssd --arrivals "$(loads "$load")" --precision 0.1 --alloc $four
        done
        printf '\n### By size of the machine (Figs. 5.23, 5.24)\n'
        stream "bani-5-$sides-size" 'turnaround operations' --machine $meshes --sides "$sides" --service "$pareto" \
            --sched fcfs,ssd --arrivals "$top" --precision 0.1 --alloc $four
    done << 'RUNS'
uniform 0.005..0.045:0.01,0.075,0.105 0.045
exponential 0.015..0.105:0.03,0.205 0.205
RUNS
    if quick; then return; fi
    printf '\n## Exponential service of mean 83 and heavy tails (Figs. 5.1, 5.2)\n'
    for service in 'exponential[mean=83]' "$pareto"; do
        stream "bani-5-mean-83-${service%%[*}" 'turnaround utilization' --machine 8x8x8 --sides uniform \
            --service "$service" --arrivals "$(loads 0.005..0.045:0.01)" --precision 0.1 --alloc $four
    done
}
