# The page fragmentation: Figs. 5 to 8 of Lo et al.

fragmentation() {
    local sides
    quick && part fragmentation
    echo '# Fragmentation (Lo et al., Figs. 5 to 8)'
    for sides in uniform exponential increasing decreasing; do
        printf '\n## Sides %s\n' "$sides"
        stream "lo-$sides" 'turnaround utilization' --machine 32x32 --sides "$sides" --arrivals "$(loads 0.5..10:0.5)" \
            --alloc 'paging,paging[size=1],paging[size=2],paging[size=3],mbs,first-fit,best-fit,frame-sliding'
    done
}
