# The page traces: every allocator on three logs.

allocators='first-fit,turning-first-fit,best-fit,frame-sliding,busy-list,turning-busy-list,gabl,anca,as-mb,mbs,granular-mbs,paging,paging[size=1],mc1x1,mc1x1[tie=2,13,20,6],mm,gen-alg,mc,hilbert-best-fit,snake-best-fit,random'

traces() {
    local trace
    quick && part traces
    cat << 'TXT'
# Every allocator on real traces

The schedule depends on the allocator if it may refuse jobs. `lost` is internal fragmentation.
TXT
    for trace in KTH-SP2 SDSC-Par96 LANL-CM5; do
        if quick && [ $trace != KTH-SP2 ]; then continue; fi
        on_trace traces "$trace" --alloc "$allocators"
    done
}
