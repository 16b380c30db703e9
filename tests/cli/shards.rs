//! Sharded sweeps, streams and contention runs, and `replay merge`.

use std::os::unix::fs::PermissionsExt;
use std::process::Command;

use replay::experiment::RunResult;
use replay::experiment::journal::{Journal, Outcome as Record};

use super::dir::{Dir, Outcome, checkout};
use super::parted::assert_equal_results;
use super::sweep::{GRID, assert_equal_tables};

trials!(
    merged_shards_equal_the_whole_sweep,
    a_shard_writes_only_journal_and_plan,
    merge_rejects_shards_of_other_plans,
    merge_names_missing_cells,
    merges_an_unsharded_sweep,
    merge_prefers_finished_cells_over_failed_ones,
    merge_rejects_different_results_of_one_cell,
    merge_rejects_other_folders,
    merge_rejects_a_shard_as_output,
    merged_shards_equal_whole_streams_and_contention_runs,
    merge_rejects_shards_of_other_streams,
    a_refused_command_leaves_a_shard_as_it_is,
    merge_reports_failed_cells,
    task_array_equals_a_sweep,
    slurm_trial_reports_missing_programs,
);

fn sharded(count: u32) -> (Dir, String) {
    let dir = Dir::with_trace().file("grid.toml", GRID);
    let mut folders = Vec::new();
    for number in 1..=count {
        let out = format!("s{number}");
        dir.replay(&format!("sweep grid.toml -q --shard {number}/{count} --out {out}")).code(0);
        folders.push(out);
    }
    // The order of the directories does not matter.
    folders.reverse();
    (dir, folders.join(" "))
}

fn merged_shards_equal_the_whole_sweep() {
    for count in [1, 3] {
        let (dir, folders) = sharded(count);
        dir.replay("sweep grid.toml -q --out whole").code(0);
        // Merging does not need the traces.
        std::fs::remove_dir_all(dir.path("traces")).expect("a folder");
        let merged = dir.replay(&format!("merge {folders} --out merged")).code(0);
        merged
            .says(&format!(
                "merge: 122 cells of {count} folder{}\n",
                if count == 1 { "" } else { "s" }
            ))
            .prints("merged/runs.parquet\n");
        assert_equal_tables(&dir, "whole", "merged");
    }
}

fn a_shard_writes_only_journal_and_plan() {
    let dir = Dir::with_trace().file("grid.toml", GRID);
    let part = dir.replay("sweep grid.toml --shard 2/4 --out part").code(0);
    part.says("sweep: 31 cells: 0 done before, 31 run").prints("part/journal.txt\n");
    assert_eq!(dir.files("part"), ["journal.txt", "plan.json"]);
    // Run the other shards in the same directory, then the whole sweep. No cell runs twice.
    for number in [1, 3, 4] {
        dir.replay(&format!("sweep grid.toml -q --shard {number}/4 --out part")).code(0);
    }
    dir.replay("sweep grid.toml --out part").code(0).says("sweep: 122 cells: 122 done before");
}

fn merge_rejects_shards_of_other_plans() {
    let (dir, folders) = sharded(2);
    dir.replay("sweep -q --jobs 20 --shard 1/2 --out other").code(0);
    let failed = dir.replay(&format!("merge {folders} other --out merged"));
    failed.fails(3, 1, &["s2 and other are shards of different commands"]);
    // The two vectors give the same decisions under different names, so the tables would differ.
    for (shard, tie) in [("1/2", "2,13,20,6"), ("2/2", "2,26,40,12")] {
        let out = shard.replace('/', "of");
        dir.replay(&format!(
            "sweep -q --jobs 20 --tie {tie} --tie none --shard {shard} --out {out}"
        ))
        .code(0);
    }
    let failed = dir.replay("merge 1of2 2of2 --out merged");
    failed.fails(3, 1, &["1of2 and 2of2 are shards of different commands"]);
    assert!(!dir.path("merged").exists());
}

fn merge_names_missing_cells() {
    let (dir, _) = sharded(4);
    let failed = dir.replay("merge s1 s4 --out merged");
    let words = ["61 of 122 cells have not run: shard 2/4 is missing, shard 3/4 is missing"];
    failed.fails(3, 1, &words);
    // Truncate the journal of a shard.
    let journal = dir.path("s2/journal.txt");
    let text = std::fs::read(&journal).expect("a journal");
    std::fs::write(&journal, &text[..text.len() - 9]).expect("a file");
    let failed = dir.replay("merge s1 s2 s3 s4 --out merged");
    failed.fails(
        3,
        1,
        &["1 of 122 cells has not run: shard 2/4 in s2 lacks 1 of its cells; run the shard again"],
    );
    assert!(!dir.path("merged").exists());
    dir.replay("sweep grid.toml --shard 2/4 --out s2").code(0).says("30 done before, 1 run");
    dir.replay("merge s1 s2 s3 s4 --out merged").code(0);
}

fn merges_an_unsharded_sweep() {
    let dir = Dir::with_trace().file("grid.toml", GRID);
    dir.replay("sweep grid.toml -q --out whole").code(0);
    dir.replay("merge whole whole -q --out merged").code(0).says_nothing();
    assert_equal_tables(&dir, "whole", "merged");
}

/// Creates two complete sweeps, `a` and `b`; the journal of `b` has the changed result for its
/// third cell.
fn with_record(change: impl Fn(RunResult) -> Result<RunResult, String>) -> Dir {
    let dir = Dir::with_trace().file("grid.toml", GRID);
    for out in ["a", "b"] {
        dir.replay(&format!("sweep grid.toml -q --out {out}")).code(0);
    }
    let plan = dir.replay("plan grid.toml -q --list --format json").code(0);
    let id = plan.fields(&["cell"])[2].parse().expect("an id");
    let folder = replay::experiment::files::Dir::open(&dir.path("b")).expect("a folder");
    let mut journal = Journal::open(&folder, true).expect("a journal");
    let Some(Record::Done(result)) = journal.read(id).expect("a record") else {
        panic!("cell 2 is done")
    };
    let changed = change(*result);
    journal.append(id, changed.as_ref().map_err(String::as_str)).expect("a record");
    dir
}

fn merge_prefers_finished_cells_over_failed_ones() {
    let dir = with_record(|_| Err("a full disk".to_string()));
    for (first, second) in [("a", "b"), ("b", "a")] {
        let out = format!("{first}{second}");
        dir.replay(&format!("merge {first} {second} -q --out {out}")).code(0).says_nothing();
        assert_equal_tables(&dir, "a", &out);
    }
    // If no journal has a result of the cell, the cell has failed.
    dir.replay("merge b -q --out alone").code(1);
}

fn merge_rejects_different_results_of_one_cell() {
    let dir = with_record(|mut result| {
        result.metrics.schedule.makespan += 1;
        Ok(result)
    });
    for folders in ["a b", "b a"] {
        let failed = dir.replay(&format!("merge {folders} -q --out out"));
        let words = ["cell 2 (", "a/journal.txt", "b/journal.txt", "again with --force"];
        failed.fails(3, 1, &words);
        assert!(!dir.path("out/manifest.json").exists());
    }
    // Wall-clock times are not compared.
    let dir = with_record(|mut result| {
        result.seconds += 1.0;
        Ok(result)
    });
    dir.replay("merge b a -q --out out").code(0);
}

fn merge_rejects_other_folders() {
    let (dir, _) = sharded(1);
    let dir = dir.file("empty/file", "").file("odd/plan.json", "{}");
    dir.replay("merge --out merged").refused(&["<DIR>"]);
    dir.replay("merge s1 empty --out merged").fails(
        3,
        1,
        &["empty: is not the folder of a shard", "plan.json"],
    );
    dir.replay("merge nowhere --out merged").fails(
        3,
        1,
        &["nowhere: is not the folder of a shard"],
    );
    dir.replay("merge odd --out merged").fails(3, 1, &["odd/plan.json is not a shard plan"]);
}

fn merge_rejects_a_shard_as_output() {
    let (dir, folders) = sharded(2);
    let failed = dir.replay(&format!("merge {folders} --out s1"));
    failed.fails(2, 1, &["--out s1", "one of the folders to merge"]);
}

const STREAM: &str =
    "stream --machine 4x4 --arrivals 1,2 --alloc first-fit,mbs --jobs 20 --replications 2";

fn merged_shards_equal_whole_streams_and_contention_runs() {
    for command in [
        format!("{STREAM} --by-size --no-plots --sort -turnaround_time"),
        "stream --backlog 1,4 --machine torus:4x4x4 --rules first --jobs 40 --replications 2"
            .into(),
        "contend --jobs 20 --scale 0.01 --alloc mc1x1,random --seed 0,1 --shake 2 --no-plots"
            .into(),
    ] {
        let dir = Dir::with_trace();
        let whole = dir.replay(&format!("{command} --out whole")).code(0);
        for number in 1..=3 {
            let part = dir.replay(&format!("{command} --shard {number}/3 --out p{number}")).code(0);
            part.prints(&format!("p{number}/journal.txt\n"));
            assert_eq!(dir.files(&format!("p{number}")), ["journal.txt", "plan.json"]);
        }
        let merged = dir.replay("merge p3 p1 p2 --out merged").code(0);
        merged.demand(merged.stdout == whole.stdout, "equal tables");
        assert_equal_results(&dir, "merged", "whole");
        dir.replay("merge -q p1 p3 --out other").fails(3, 1, &["shard 2/3 is missing"]);
        // In the folder of a shard, the whole command runs only the cells of the other shards.
        dir.replay(&format!("{command} --out p1")).code(0).says(" done before, ");
        assert_equal_results(&dir, "p1", "whole");
    }
}

fn merge_rejects_shards_of_other_streams() {
    let dir = Dir::with_trace();
    dir.replay(&format!("{STREAM} -q --shard 1/2 --out p1")).code(0);
    dir.replay(&format!("{STREAM} -q --seed 1 --shard 2/2 --out p2")).code(0);
    let words = ["p1 and p2 are shards of different commands"];
    dir.replay("merge p1 p2 --out merged").fails(3, 1, &words);
    dir.replay(&format!("{STREAM} --shard 2/2")).refused(&["--out"]);
    let words = ["--shard 1/2: standard input cannot be read again"];
    dir.replay("contend --trace - --shard 1/2 --out c1").fails(2, 1, &words);
}

fn a_refused_command_leaves_a_shard_as_it_is() {
    let search = "search --jobs 50 --sr 1 --factors 0..1 --no-plots";
    for (command, other) in [(STREAM, "--seed 1"), (search, "--split 0.5")] {
        let dir = Dir::with_trace();
        // The shard 1/1 has all cells, and can be merged like other shards.
        dir.replay(&format!("{command} -q --shard 1/1 --out part")).code(0);
        let before = dir.read("part/plan.json");
        let refused = dir.replay(&format!("{command} {other} -q --shard 1/1 --out part"));
        refused.fails(2, 1, &["part has the journal of a command with other options or traces"]);
        assert_eq!(dir.read("part/plan.json"), before);
        dir.replay("merge part -q --out merged").code(0);
        dir.replay(&format!("{command} -q --out whole")).code(0);
        assert_equal_results(&dir, "merged", "whole");
    }
}

fn merge_reports_failed_cells() {
    let dir = Dir::new();
    let stream = "stream --backlog 1,4 --machine torus:4x4x4 --mix small --rules first --jobs 60 --replications 2 -q";
    let whole = dir.replay(stream).code(1);
    let failed = whole.stderr.lines().filter(|line| line.starts_with("replay: cell failed: "));
    assert_ne!(failed.count(), 0, "{}", whole.stderr);
    for number in [1, 2] {
        dir.replay(&format!("{stream} --shard {number}/2 --out p{number}"));
    }
    let merged = dir.replay("merge p1 p2 -q --out merged").code(1);
    let sorted = |text: &str| {
        let mut lines: Vec<String> = text.lines().map(str::to_string).collect();
        lines.sort();
        lines
    };
    assert_eq!(sorted(&merged.stderr), sorted(&whole.stderr));
    dir.replay("merge p1 p2 --sort utilization --out merged").fails(2, 1, &["--sort"]);
}

/// A stand-in for HyperQueue that supports only the features used by the script: `submit` runs a command once for each
/// number of `--array`, with the number in `$HQ_TASK_ID`.
const HQ: &str = r#"#!/bin/bash
set -eu
[ "$1" = submit ]
while [ "$1" != -- ]; do
    if [ "$1" = --array ]; then last=${2#1-}; fi
    shift
done
shift
for task in $(seq "$last"); do HQ_TASK_ID=$task "$@"; done
"#;

fn task_array_equals_a_sweep() {
    let dir = Dir::with_trace().file("grid.toml", GRID).file("bin/hq", HQ);
    std::fs::set_permissions(dir.path("bin/hq"), PermissionsExt::from_mode(0o755))
        .expect("a program");
    dir.replay("sweep grid.toml -q --out whole").code(0);
    let script = checkout().join("scripts/hyperqueue.sh");
    let path = format!("{}:/usr/bin:/bin", dir.path("bin").display());
    let run = |arguments: &[&str], path: &str| {
        let mut command = Command::new(&script);
        command.args(arguments).current_dir(dir.path("")).env("PATH", path);
        // The two runs must find the trace at the same path, because the result files contain this path.
        command.env_remove("REPLAY_TRACES");
        let output = command.env("REPLAY", env!("CARGO_BIN_EXE_replay")).output();
        Outcome::new(&arguments.join(" "), output.expect("the script runs"))
    };
    run(&["3", "grid.toml", "array"], &path).code(0).prints("array/runs.parquet\n");
    assert_equal_tables(&dir, "whole", "array");
    run(&["x", "grid.toml", "array"], &path).code(2).says("usage: ");
    run(&["3", "grid.toml", "array"], "/usr/bin:/bin").code(77).says("no program hq");
}

fn slurm_trial_reports_missing_programs() {
    let dir = Dir::new().file("bin/none", "");
    // Link only the tools that the script itself needs.
    for tool in ["bash", "dirname", "realpath", "env"] {
        let find = Command::new("which").arg(tool).output().expect("which").stdout;
        let found = String::from_utf8(find).expect("a path");
        std::os::unix::fs::symlink(found.trim(), dir.path("bin").join(tool)).expect("a link");
    }
    let script =
        std::fs::read_to_string(checkout().join("scripts/try-slurm.sh")).expect("the script");
    let dir = dir.file("try.sh", script.replace("PATH=$PATH:/usr/sbin:/sbin", ""));
    let mut command = Command::new(dir.path("bin/bash"));
    command.arg(dir.path("try.sh")).arg(env!("CARGO_BIN_EXE_replay")).env("PATH", dir.path("bin"));
    let outcome = Outcome::new("try-slurm.sh", command.output().expect("the script runs"));
    outcome.code(77).says("munged is not installed (Debian: slurm-wlm, munge)");
}
