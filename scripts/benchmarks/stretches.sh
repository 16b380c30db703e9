# The page stretches: one run of `contend` on one thread and on two.

stretches() {
    local trace jobs scale threads digest
    cat << 'TXT'
# One run of contend on several threads

`contend` cuts a run where the machine is empty between two jobs, and idle threads run ahead from such places. Where the machine is
empty the network decides; the program guesses, and keeps what follows only if the guess was right. The outcome has the same bytes for
any number of threads. Included is all that the command does: reading the trace, measuring jobs alone, the run, and every job once
more alone where it was. CPU and wall seconds of the whole process.

`replay contend --trace TRACE --alloc mc1x1 --jobs JOBS --scale SCALE --threads THREADS --format csv -q`

TXT
    echo 'trace,jobs,scale,threads,digest_of_output,cpu_s,wall_s' > "$out/stretches.csv"
    while read -r trace jobs scale; do
        if quick && [ "$jobs" != 2000 ]; then continue; fi
        for threads in 1 2; do
            measure contend --trace "$trace" --alloc mc1x1 --jobs "$jobs" --scale "$scale" --threads $threads --format csv -q
            digest=$(sha256sum "$work/printed" | cut -c 1-12)
            echo "$trace,$jobs,$scale,$threads,$digest,$cpu,$wall" >> "$out/stretches.csv"
        done
    done << 'RUNS'
NASA-iPSC 2000 1
NASA-iPSC 18239 1
NASA-iPSC 18239 5
LANL-CM5 5000 2
RUNS
    table "$out/stretches.csv" trace jobs scale threads 'digest of the output' 'CPU s' 'wall s'
}
