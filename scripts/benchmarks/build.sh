# The page build: what a fresh build costs. REVISIONS, if set, are the commits that are built [HEAD].

build() {
    local repository=$PWD revision commit program tests
    cat << 'TXT'
# What a fresh build costs

CPU seconds (user and system) and wall seconds of `cargo build --release` on nothing compiled, crates fetched before, then of
`cargo test --release --no-run`. Parts of our own crate are optimised together on one core; with 16 parts instead of one it
builds on all cores, but replays half as fast.

TXT
    echo 'commit,build_cpu_s,build_wall_s,tests_cpu_s,tests_wall_s' > "$out/build.csv"
    if quick; then return; fi
    for revision in ${REVISIONS:-HEAD}; do
        commit=$(git rev-parse --short "$revision")
        git clone --quiet "$repository" "$work/$commit"
        (
            cd "$work/$commit"
            git checkout --quiet "$commit"
            unset CARGO_TARGET_DIR
            cargo fetch --quiet
            TIMEFORMAT='%U %S %R'
            program=$({ time cargo build --release --quiet > "$work/log" 2>&1; } 2>&1)
            tests=$({ time cargo test --release --no-run --quiet > "$work/log" 2>&1; } 2>&1)
            echo "$program $tests" |
                awk -v c="$commit" '{ printf "%s,%.0f,%.0f,%.0f,%.0f\n", c, $1 + $2, $3, $4 + $5, $6 }'
        )
        rm -rf "${work:?}/$commit"
    done >> "$out/build.csv"
    table "$out/build.csv" commit 'build, CPU s' 'wall s' 'tests, CPU s' 'wall s'
}
