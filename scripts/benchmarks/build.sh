# The page build: size of the sources and cost of building them. REVISIONS lists the commits to measure [HEAD]. The rows
# of other commits in build.csv are kept.

build() {
    local repository=$PWD revision commit kept
    cat << 'TXT'
# Size of the sources, and cost of a build

CPU seconds are user and system time of all processes; crates were fetched before. *Fresh* is `cargo build --release` with an
empty target directory. The other columns are the same command after one change: a line in an allocator (`random.rs`), in a
command (`src/cli/list.rs`) or in a test (`tests/cli.rs`), and a commit that changes no source. Lines are those of `src`, `crates`
and `tests`, with comments and tests; *largest* is the crate with most lines, with its tests. Rows before 9b5d9649 were measured
without the columns that are empty; the first row was measured by hand before the program was divided into crates.

The goals of the plug-ins above the engine (95281c69 against 9b5d9649) were 18,000 lines in the largest crate, no longer fresh build,
75 CPU s after a changed allocator, 40 after a changed command, 5 after a changed test or a commit. Later rows link the data frames
of polars, for which the goals are 620 CPU s, 320 s and 65 MB. The allocator of 95281c69 was measured by hand at d1ac96f5 (68 for
`replay-centre`, 79 for `replay-slurm`), and command, test and commit of 5ca91363 at f66a9608, which differs by the profile alone.

TXT
    local header=commit,rust_lines,largest_crate_lines,fresh_cpu_s,fresh_wall_s,allocator_cpu_s,command_cpu_s,test_cpu_s,commit_cpu_s,binary_mb
    if quick; then echo "$header" > "$out/build.csv"; return; fi
    kept=$(tail -n +2 "$out/build.csv")
    echo "$header" > "$out/build.csv"
    for revision in ${REVISIONS:-HEAD}; do
        commit=$(git rev-parse --short=8 "$revision")
        kept=$(grep -v "^$commit," <<< "$kept" || true)
        git clone --quiet "$repository" "$work/$commit"
        (cd "$work/$commit" && git checkout --quiet "$commit" && unset CARGO_TARGET_DIR && measured_build "$commit") > "$work/row"
        kept=$(printf '%s\n%s' "$kept" "$(cat "$work/row")")
        rm -rf "${work:?}/$commit"
    done
    sed '/^$/d' <<< "$kept" >> "$out/build.csv"
    table "$out/build.csv" commit lines largest 'fresh, CPU s' 'wall s' 'allocator, CPU s' 'command, CPU s' 'test, CPU s' \
        'commit, CPU s' 'program, MB'
    cat << 'TXT'

## Places

Files that a programmer who did not know the project edited by hand to add a strategy or a column by CONTRIBUTING, without the
CHANGELOG and the generated pages and hashes, at commit 95281c69; for 9b5d9649, places counted in a review of its code.

| to add | 9b5d9649 | goal | 95281c69 | which |
|---|--:|--:|--:|---|
| an allocator | 11 | 3 | 4 | its file, `lib.rs`, a page of the book, a golden command |
| a scheduler | 8 | 3 | 5 | its file, `scheduler/mod.rs`, `scheduler/registry.rs`, a page of the book, a golden command |
| a column of a measure | 6 and 132 hashes | 1 | 1 | the file of the measure |
| a measure | | | 3 | its file, `metrics/mod.rs`, `metrics/run.rs` |

## Replays

CPU time of whole commands at commit 95281c69 divided by that at 9b5d9649: median of alternating pairs on an idle machine (AMD EPYC,
2 processors), measured by hand on 2026-11-28. The goal was at most 1.02.

| command | CPU s | ratio | pairs |
|---|---:|---:|---:|
| `replay --trace KTH-SP2 --alloc mc1x1 --tie 2,13,20,6` | 0.058 | 1.007 | 60 |
| `replay --trace LANL-CM5 --alloc mc1x1 --tie 12,42,41,15` | 0.68 | 0.996 | 8 |
| `replay --trace LANL-CM5 --alloc mm` | 7.20 | 1.005 | 2 |
| `replay --trace KTH-SP2 --alloc mm` | 0.17 | 1.001 | 8 |
| `replay contend --trace KTH-SP2 --jobs 300 --alloc mc1x1 --tie 2,13,20,6 --pattern n-body` | 0.35 | 0.998 | 10 |
| `replay search --trace NASA-iPSC` | 12.2 | 1.004 | 1 |
| `replay --trace long.swf --oversize clamp --sched easy --machine tree:16x32x18 --alloc slurm-tree --threads 1 -q` (20,000 jobs of `scripts/long-trace.py`) | 0.59 | 0.992 | 8 |
| the same with `--machine 'block[18,72,288]:512x18' --alloc slurm-block` | 7.65 | 1.039 | 2 |

The same for commit 12002ae7, which links data frames, divided by d92dfc52, which does not; the goal was at most 1.05:

| command | CPU s | ratio | pairs |
|---|---:|---:|---:|
| `replay --trace KTH-SP2 --alloc mc1x1 --tie 2,13,20,6` | 0.059 | 0.994 | 30 |
| `replay --trace KTH-SP2 --alloc mc1x1 --placements --no-plots --out o -q` | 0.16 | 1.015 | 10 |
| `replay --trace LANL-CM5 --alloc random --no-plots --out o -q` | 1.01 | 1.010 | 3 |
| `replay list` | 0.010 | 0.986 | 40 |

CPU time of whole commands at commit 43a649c1 divided by that at 786b7712: median of alternating pairs on an idle machine,
measured by hand on 2026-11-26; one thread, except for the first command and the search.

| command | CPU s | ratio | pairs |
|---|---:|---:|---:|
| `replay --trace KTH-SP2 --alloc mc1x1 --tie 2,13,20,6` | 0.069 | 0.989 | 40 |
| `replay --trace LANL-CM5 --alloc mc1x1 --tie 12,42,41,15` | 0.85 | 0.973 | 8 |
| `replay sweep --trace KTH-SP2 --alloc mc1x1 --sr 2 --af 0..4 --wf 0..4 --bf 0..4 --distances-only --out out` | 2.94 | 1.005 | 2 |
| `replay search --trace NASA-iPSC` | 15.9 | 0.993 | 1 |
| `replay contend --trace KTH-SP2 --jobs 300 --alloc mc1x1 --tie 2,13,20,6 --pattern n-body` | 0.47 | 1.009 | 2 |

The same for commit 30be4670 divided by 114b9bdb, where 114b9bdb still wrote tables with data frames:

| command | CPU s | ratio | pairs |
|---|---:|---:|---:|
| `replay --trace KTH-SP2 --alloc mc1x1 --tie 2,13,20,6` | 0.073 | 0.958 | 30 |
| `replay --trace LANL-CM5 --alloc mc1x1 --tie 12,42,41,15` | 0.88 | 0.938 | 4 |
| `replay contend --trace KTH-SP2 --jobs 300 --alloc mc1x1 --tie 2,13,20,6 --pattern n-body` | 0.49 | 0.985 | 4 |

The same for commit e26c1b83 divided by 1e9b5efc, where 1e9b5efc still had traces and jobs in `replay-core`:

| command | CPU s | ratio | pairs |
|---|---:|---:|---:|
| `replay --trace KTH-SP2 --alloc mc1x1 --tie 2,13,20,6` | 0.074 | 1.022 | 30 |
| `replay --trace LANL-CM5 --alloc mc1x1 --tie 12,42,41,15` | 0.93 | 1.022 | 6 |
| `replay --trace KTH-SP2 --alloc mm` | 0.22 | 0.986 | 4 |
| `replay --trace KTH-SP2 --alloc gen-alg` | 0.15 | 0.975 | 6 |
| `replay search --trace NASA-iPSC` | 15.9 | 0.965 | 1 |
| `replay contend --trace KTH-SP2 --jobs 300 --alloc mc1x1 --tie 2,13,20,6 --pattern n-body` | 0.48 | 0.938 | 4 |

`results` has 14.0 MB, 6.0 MB of them figures (`git ls-files results | xargs cat | wc -c`); before, 69 MB.
TXT
}

# measured_build COMMIT: prints a row of build.csv for the checkout in the current directory.
measured_build() {
    local TIMEFORMAT='%U %S %R' fresh allocator command test commit
    cargo fetch --quiet
    fresh=$(built)
    echo '// A line.' >> "$(git ls-files crates/replay-core/src/allocator/random.rs crates/replay-mesh/src/random.rs)"
    allocator=$(built)
    echo '// A line.' >> src/cli/list.rs
    command=$(built)
    git checkout --quiet src crates
    built > /dev/null
    echo '// A line.' >> tests/cli.rs
    test=$(built)
    git -c user.name=benchmark -c user.email=benchmark@example.org commit --quiet --allow-empty --message 'Nothing'
    commit=$(built)
    echo "$fresh $allocator $command $test $commit" | awk -v OFS=, -v commit="$1" \
        -v lines="$(cat $(git ls-files 'src/*.rs' 'crates/*.rs' 'tests/*.rs') | wc -l)" -v largest="$(largest_crate)" \
        -v bytes="$(stat -c %s target/release/replay)" '{
            print commit, lines, largest, sprintf("%.0f,%.0f,%.0f,%.0f,%.1f,%.1f", $1 + $2, $3, $4 + $5, $7 + $8, $10 + $11, $13 + $14),
                sprintf("%.1f", bytes / 1e6) }'
}

# largest_crate: prints the number of lines of the crate with most lines.
largest_crate() {
    local crate
    for crate in crates/*/; do cat $(git ls-files "$crate*.rs") | wc -l; done | sort -n | tail -1
}

# built: prints user, system and wall seconds of a build.
built() { { time cargo build --release --quiet > /dev/null 2>&1; } 2>&1; }
