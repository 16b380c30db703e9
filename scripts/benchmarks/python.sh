# The page python: the cost of the Python module.

python() {
    local target
    target=$(realpath -m "${CARGO_TARGET_DIR:-target}")
    # The pages go to standard output, so messages of the build go to standard error.
    scripts/python.sh --install >&2
    cat << 'TXT'
# Python module

Wall-clock times of the module `replay`. Each time is the median of 15 runs in one process, unless stated otherwise.

* *first lines*: the first lines of [Python](../../docs/src/python.md) in a new process, once, with two schedulers, two
  allocators and the given number of perturbed copies: `read_swf`, `run` on all threads, and `polars.DataFrame` of the runs and
  of the jobs. *import* is the time of `import replay` and `import polars`. *engine* is the time of the engine without reading
  the trace. *all* includes everything except *import*.
* *overhead*: `run` with FCFS and `mc1x1` on one thread, without the tables of jobs and placements, and the table of runs. The
  trace is read before. *engine* is `results.seconds`: the time from the start of the thread pool to the end of the last run, by
  the clock of the engine. *rest* is the wall-clock time of both calls in Python minus *engine*: parsing of the options,
  resolving of the grid, and the table. *percent of engine* is *rest* divided by *engine*.
* *decisions*: an allocator in Python that returns `machine.free[:request.size]`, on a 10x10 mesh with FCFS. *seconds* is the
  time of the whole run, including metrics.

TXT
    echo 'measurement,trace,jobs,seconds,percent_of_engine,decisions_per_second' > "$out/python.csv"
    "$target/python-wheel-venv/bin/python" scripts/benchmarks/python.py >> "$out/python.csv"
    table "$out/python.csv" measurement trace jobs seconds 'percent of engine' 'decisions per second'
}
