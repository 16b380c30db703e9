# The page large: machines of up to 1,048,576 points.

large() {
    local machine allocator jobs whole_cpu whole_mib distance
    # 30 jobs, 50 s apart and all running at the end; sizes are 2^x, x uniform from 0 to 16.
    python3 - > "$work/b30.swf" << 'PY'
import random
random.seed(1)
print("; MaxProcs: 1048576")
for i in range(1, 31):
    print(i, 50 * i, -1, 100000, int(2 ** random.uniform(0, 16)))
PY
    cat << 'TXT'
# Large machines

CPU time of a decision, and memory of the whole program, on machines of up to 1,048,576 points, one thread. The jobs are 30,
submitted 50 s apart and all running at the end; sizes are 2^x, x uniform from 0 to 16 (the script makes the trace). A decision is
the difference between a run of 30 jobs and one of the first, over 29; below 0.3 ms it is noise.

`replay --trace b30.swf --machine MACHINE --alloc ALLOCATOR --threads 1 -q`, and the same with `--jobs 1`

TXT
    echo 'machine,allocator,mean_pairwise_l1,ms_per_decision,first_decision_s,memory_MiB' > "$out/large.csv"
    for machine in 256x256 512x512 1024x1024 128x64x128; do
        for allocator in mc1x1 row-major-best-fit hilbert-best-fit random first-fit gabl mbs paging; do
            [ "$machine $allocator" != '128x64x128 hilbert-best-fit' ] || continue
            if quick && [ "$machine" != 256x256 ]; then continue; fi
            measure --trace "$work/b30.swf" --machine "$machine" --alloc "$allocator" --threads 1 -q --format csv --columns mean_pairwise_l1
            whole_cpu=$cpu whole_mib=$mib distance=$(tail -n 1 "$work/printed")
            measure --trace "$work/b30.swf" --machine "$machine" --alloc "$allocator" --threads 1 -q --jobs 1
            echo "$machine,$allocator,$distance,$(awk -v a="$whole_cpu" -v b="$cpu" 'BEGIN { printf "%.1f", (a > b ? 1000 * (a - b) / 29 : 0) }'),$cpu,$whole_mib"
        done
    done >> "$out/large.csv"
    table "$out/large.csv" machine allocator 'mean pairwise L1' 'ms a decision' 'first decision, s' 'memory, MiB'
    cat << 'TXT'

`mc1x1` counts in 32 bits on machines of more than 65,535 points, in 16 bits elsewhere; `tie=auto` runs on at most 65,535 points.
`gen-alg` and `mm` have tables for at most 65,535 points, and sums for a line of any length; on larger machines they pass over
all free processors for every candidate, which takes hours. Hypercubes have at most 15 dimensions, clusters at most 65,535 slots.
TXT
}
