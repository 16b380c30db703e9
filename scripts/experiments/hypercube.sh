# The page hypercube: subcube allocators on the log of a real hypercube.

hypercube() {
    local trace=NASA-iPSC machine=(--machine hypercube:7)
    local all='cube-buddy,gray-code,modified-buddy,multiple-gray-code,cube-free-list,maximal-set,afl,afl[release=heir],non-cubic,non-cubic[adjacent=no],row-major-best-fit,random'
    cat << 'TXT'
# Subcube allocators on a hypercube log: NASA-iPSC-1993

The machine has 128 processors, and the size of every job of the trace is a power of two. A job therefore fills its subcube, the
auxiliary free list stays empty, and non-cubic allocation needs only one subcube: the strategies differ only in which free
subcubes they recognize. `row-major-best-fit` and `random` take any processors and never refuse.
TXT
    on_trace hypercube "$trace" "${machine[@]}" --alloc "$all"
    local command=(contend --trace "$trace" "${machine[@]}" --jobs 2000 --scale 2 --pattern all-to-all
        --sched fcfs,easy --alloc 'cube-buddy,cube-free-list,maximal-set,row-major-best-fit,random')
    printf '\n## Contention\n\nEvery job sends messages by e-cube routes, enough for its run time when it runs alone.\n\n'
    ran "$trace" "${command[@]}" --no-plots --out "$work/cube" --quiet --format md || return 0
    printf '`replay %s`\n\n' "${command[*]}"
    cat "$work/printed"
    cp "$work/cube/contend.csv" "$out/hypercube-contention.csv"
}
