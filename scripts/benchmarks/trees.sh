# The page trees: placement rules of trees and blocks on 9,216 nodes.

trees() {
    local jobs
    cat << TXT
# Trees and blocks

Placement rules on 9,216 nodes, on one thread.

## Decisions

Time of a decision at half load, from 20,000 decisions of each rule. The sizes are 2^x nodes, x uniform from 0 to 9; jobs end in
random order, so that free nodes are scattered.

\`cargo bench --bench allocation -- hierarchy\`

TXT
    quick || cargo bench --quiet --bench allocation -- hierarchy "$out/trees-decisions.csv" > "$work/printed"
    quick || table "$out/trees-decisions.csv" machine allocator decisions 'us a decision'
    cat << TXT

## Replays

CPU seconds, wall time and peak memory of a whole process: reading, scheduling, placing and measuring.
\`scripts/long-trace.py JOBS > long.swf\`, then
\`replay --trace long.swf --machine MACHINE --oversize clamp --sched SCHEDULER --alloc ALLOCATOR --threads 1 -q\`.

TXT
    echo 'jobs,machine,scheduler,allocator,mean_wait,mean_leaves,cpu_seconds,wall_seconds,memory_MiB' > "$out/trees.csv"
    for jobs in 20000 100000 1000000; do
        if quick && [ "$jobs" != 20000 ]; then continue; fi
        scripts/long-trace.py "$jobs" > "$work/long.swf"
        trees_row fcfs tree:16x32x18 slurm-tree
        trees_row easy tree:16x32x18 slurm-tree
        trees_row easy tree:16x32x18 tree-fit
        trees_row easy tree:16x32x18 kueue
        trees_row easy tree:16x32x18 random
        # Under EASY, rules that refuse jobs search for a reservation after every end.
        [ "$jobs" != 1000000 ] || continue
        trees_row easy tree:16x32x18 'slurm-tree[switches=1,wait=60]'
        trees_row easy 'block[18,72,288]:512x18' slurm-block
        trees_row easy 'block[18,72,288]:512x18' 'slurm-block[segment=16]'
    done
    table "$out/trees.csv" jobs machine scheduler allocator 'mean wait s' 'mean leaves' 'CPU s' 'wall s' 'memory, MiB'
}

# trees_row SCHEDULER MACHINE ALLOCATOR: appends a row to trees.csv.
trees_row() {
    measure --trace "$work/long.swf" --oversize clamp --sched "$1" --machine "$2" --alloc "$3" --threads 1 -q --format csv \
        --columns mean_wait,mean_leaves
    echo "$jobs,\"$2\",$1,\"$3\",$(tail -n 1 "$work/printed"),$cpu,$wall,$mib" >> "$out/trees.csv"
}
