# The page messages: chapter 4 of Bani-Mohammad, streams of jobs that send messages.

messages() {
    local pattern sides load top name
    local four=gabl,mbs,paging,first-fit
    quick && part messages
    echo '# Messages (Bani-Mohammad, chapter 4)'
    while read -r pattern sides load top; do
        name="bani-4-$pattern-$sides"
        local jobs=(--sides "$sides" --pattern "$pattern" --preset bani-mohammad --precision 0.1)
        printf '\n## %s, %s sides (Figs. 4.6 to 4.27)\n' "$pattern" "$sides"
        stream "$name" 'turnaround wait utilization contiguous blocks' --machine 16x16 "${jobs[@]}" --arrivals "$(loads "$load")" --alloc $four
        printf '\n### GABL: busy list and searches (Figs. 4.28 to 4.39)\n'
        stream "$name-m" 'busy-list searches' --machine 16x16,20x20,24x24 "${jobs[@]}" --arrivals "$(loads "$load")" --alloc gabl
        if quick; then continue; fi
        printf '\n### By size of the machine (Figs. 4.40 to 4.45)\n'
        stream "$name-size" turnaround --machine 16x16,32x32,64x64 "${jobs[@]}" --arrivals "$top" --alloc $four
        printf '\n### Packets of 64 flits (Figs. 4.46 to 4.51)\n'
        stream "$name-64" turnaround --machine 16x16 "${jobs[@]}" --flits 64 --arrivals "$(loads "$load")" --alloc $four
    done << 'RUNS'
one-to-all uniform 0.0025..0.0205:0.003 0.0205
one-to-all exponential 0.005..0.04:0.005 0.04
all-to-all uniform 0.0035..0.0305:0.0045 0.0305
all-to-all exponential 0.005..0.05:0.0075 0.05
random uniform 0.01..0.07:0.01 0.07
random exponential 0.01..0.1:0.015 0.1
RUNS
}
