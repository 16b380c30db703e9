//! `replay sweep` and `replay plan`: grids in files and options, and their results.

use serde_json::Value;

use super::dir::{Dir, TINY};

trials!(
    sweep_equals_run,
    file_and_options_give_one_grid,
    print_config_is_a_fixed_point,
    plan_lists_the_cells,
    every_table_has_every_format,
    vectors_are_given_as_in_a_search,
    large_grids_need_confirmation,
    results_do_not_depend_on_threads,
    manifest_describes_the_sweep,
    a_larger_grid_runs_only_new_cells,
    errors_name_file_line_and_key,
    rejects_unsupported_options,
    checks_the_output_directory_before_any_work,
);

pub const GRID: &str = r#"
traces = ["lublin-10x10"]
schedulers = ["fcfs", "easy"]
window = { jobs = 150 }

[[allocator]]
name = "mc1x1"
tie = { sr = "1..2", af = "0..2", wf = "0..2", bf = [0, 1] }
order = ["scan", "carried"]

[[allocator]]
name = "mm"
tie = ["none", "2,13,20,6"]

[[allocator]]
name = "random"
"#;

const FLAGS: &str = "--trace lublin-10x10 --jobs 150 --sched fcfs,easy --alloc mc1x1 \
                     --sr 1..2 --af 0..2 --wf 0..2 --bf 0,1 --param order=scan,carried";

pub const TABLES: [&str; 4] = ["by_size.csv", "by_size.parquet", "runs.csv", "runs.parquet"];

/// Asserts that the tables of two sweeps are equal.
#[track_caller]
pub fn assert_equal_tables(dir: &Dir, one: &str, other: &str) {
    for table in TABLES {
        let same = dir.read(&format!("{one}/{table}")) == dir.read(&format!("{other}/{table}"));
        assert!(same, "{one}/{table} differs from {other}/{table}");
    }
}

fn json(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).expect("JSON")
}

fn sweep_equals_run() {
    let dir = Dir::with_trace();
    let grid = "--trace lublin-10x10 --jobs 300 --sched fcfs,easy --alloc mc1x1,mm,random,mbs,first-fit --ties --seed 0,1 \
                --tie none --tie 2,13,20,6 --tie 2,26,40,12";
    dir.replay(&format!("{grid} --out main --no-jobs --no-plots")).code(0);
    let sweep = dir.replay(&format!("sweep {grid} --out sweep")).code(0);
    let sweep = sweep.says("jobs are closest together under ");
    for table in ["runs.csv", "by_size.csv"] {
        assert!(
            dir.read(&format!("main/{table}")) == dir.read(&format!("sweep/{table}")),
            "{table}"
        );
    }
    let printed: Vec<&str> = sweep.stdout.lines().collect();
    let files = ["runs.parquet", "runs.csv", "by_size.parquet", "by_size.csv"];
    assert_eq!(printed, files.map(|file| format!("sweep/{file}")));
    sweep.says("sweep: 28 cells: 0 done before, 28 run in ").says(" jobs/s), 0 failed");
}

fn file_and_options_give_one_grid() {
    let dir = Dir::with_trace().file(
        "grid.toml",
        "traces = ['lublin-10x10']\nschedulers = ['fcfs', 'easy']\nwindow.jobs = 150\n\
         [[allocator]]\nname = 'mc1x1'\norder = ['scan', 'carried']\n\
         tie = { sr = '1..2', af = '0..2', wf = '0..2', bf = '0,1' }\n",
    );
    let file = dir.replay("plan grid.toml --list --format json --no-estimate").code(0);
    let flags = dir.replay(&format!("plan {FLAGS} --list --format json --no-estimate")).code(0);
    file.demand(file.stdout == flags.stdout && file.stdout.lines().count() > 50, "the same cells");
}

fn print_config_is_a_fixed_point() {
    let dir = Dir::with_trace().file("grid.toml", GRID);
    for grid in ["grid.toml", FLAGS, ""] {
        let first = dir.replay(&format!("sweep {grid} --print-config")).code(0).says_nothing();
        let dir = Dir::with_trace().file("printed.toml", &first.stdout);
        let again = dir.replay("sweep printed.toml --print-config").code(0);
        assert_eq!(first.stdout, again.stdout);
        first.prints("policies = [\"johnson\"]\n");
    }
    assert_eq!(dir.files(""), ["grid.toml", "traces/lublin-10x10.swf"], "nothing is written");
}

fn plan_lists_the_cells() {
    let dir = Dir::with_trace().file("grid.toml", GRID);
    let plan = dir.replay("plan grid.toml").code(0).says("plan: roughly ").says(" kinds of cells");
    let mut kinds: Vec<Vec<&str>> =
        plan.stdout.lines().map(|line| line.split_whitespace().collect()).collect();
    let cells = |row: &Vec<&str>| row[4].parse::<u32>().expect("a number of cells");
    let all = kinds.pop().expect("a row for all");
    assert_eq!(all[..2], ["all", "122"]);
    assert_eq!(kinds.split_off(2).iter().map(cells).sum::<u32>(), 122);
    let untimed = dir.replay("plan grid.toml --no-estimate -q").code(0).says_nothing();
    untimed.demand(
        untimed.stdout.lines().last().is_some_and(|all| all.trim_end().ends_with(" 122")),
        "no time estimates",
    );
    // Cells with automatic ties are a separate kind.
    let tuned = dir.replay("plan --jobs 20 --alloc mc1x1 --tie none --tie auto --tie 2,13,20,6");
    let tuned = tuned.code(0).says(" of 2 kinds of cells").prints("mc1x1[tie=auto]");
    tuned.says("plan: 3 combinations, 3 cells of distinct strategies\n");
    dir.replay("plan --jobs 1 --alloc random")
        .code(0)
        .says("plan: 1 combination, 1 cell of distinct strategies\nplan: ")
        .says(" on 1 thread, ");
    // A long list is shortened: the kinds that take longest have separate rows, and all other kinds share one row.
    let long = dir.replay("plan --jobs 20 --alloc all --sched fcfs,easy -q").code(0);
    let rows: Vec<&str> = long.stdout.lines().collect();
    long.demand(rows.len() == 2 + 20 + 2 && rows[22].contains(" kinds more"), "a short table");
    let empty = dir.replay("plan --jobs 1 --alloc random --shard 2/2").code(0);
    empty.says("plan: this shard has no cells, because the grid has fewer cells than shards");
    let plan = dir.replay("plan grid.toml --list --format json").code(0);
    let plan =
        plan.says("plan: 150 combinations, 122 cells of distinct strategies\nplan: roughly ");
    let rows = plan.fields(&["run", "trace", "topology", "scheduler", "allocator", "tie", "jobs"]);
    assert_eq!(rows.len(), 122);
    assert_eq!(rows[0], "0 lublin-10x10 10x10 fcfs mc1x1[order=scan] 1,0,0,0 150");
    assert_eq!(rows[121], "121 lublin-10x10 10x10 easy random - 150");
    let ids: std::collections::HashSet<String> = plan.fields(&["cell"]).into_iter().collect();
    assert!(ids.len() == 122 && ids.iter().all(|id| id.len() == 32));
    // The sweep runs exactly the listed cells.
    dir.replay("sweep grid.toml --out out").code(0);
    let table = String::from_utf8(dir.read("out/runs.csv")).expect("text");
    let mut reader = csv::Reader::from_reader(table.as_bytes());
    let ran = reader.records().map(|record| {
        let record = record.expect("a record");
        let tie = if record[7].is_empty() { "-" } else { &record[7] };
        format!(
            "{} {} {} {} {} {tie} {}",
            &record[0], &record[1], &record[3], &record[5], &record[6], &record[2]
        )
    });
    assert!(ran.eq(rows));
    let part =
        dir.replay("plan grid.toml -q --list --format json --shard 2/50").code(0).says_nothing();
    assert_eq!(part.fields(&["run"]), ["1", "51", "101"]);
}

fn every_table_has_every_format() {
    let dir = Dir::with_trace();
    let grid = "--jobs 60 --sr 1..2 --factors 0,1 --wf 0";
    let lines = |line: &str| dir.replay(line).code(0).stdout.lines().count();
    let first = |line: &str| {
        let run = dir.replay(line).code(0);
        run.stdout.lines().next().unwrap_or_default().to_string()
    };
    // The output has one row for the two merged kinds, and a line of names.
    let plan = format!("plan {grid} --no-estimate -q");
    assert_eq!(
        first(&format!("{plan} --format csv")),
        "trace,machine,scheduler,allocator,cells,jobs_of_each"
    );
    assert_eq!(lines(&format!("{plan} --format csv")), 2);
    let kinds = dir.replay(&format!("{plan} --format json")).code(0);
    assert_eq!(kinds.fields(&["allocator", "cells", "jobs_of_each"]), ["mc1x1 7 60"]);
    assert!(first(&format!("{plan} --format md")).starts_with("| trace "));
    let cells = format!("{plan} --list");
    assert_eq!(first(&format!("{cells} --format csv")).split(',').next(), Some("run"));
    assert_eq!(lines(&format!("{cells} --format csv")), 1 + 7);
    assert_eq!(lines(&format!("{cells} --format json")), 7);
    assert_eq!(lines(&cells), 2 + 7);
    // CSV and JSON have only rows, in the requested order; tables also have the names of files.
    let sweep =
        dir.replay(&format!("sweep {grid} -q --out a --format json --sort -mean_pairwise_l1"));
    let rows = sweep.code(0).fields(&["mean_pairwise_l1"]);
    let rows: Vec<f64> = rows.iter().map(|value| value.parse().expect("a number")).collect();
    assert!(rows.len() == 7 && rows.is_sorted_by(|a, b| a >= b), "{rows:?}");
    dir.replay(&format!("sweep {grid} -q --out a")).code(0).prints("a/runs.csv");
    let markdown = dir.replay(&format!("sweep {grid} -q --out a --format md")).code(0).stdout;
    let rows: Vec<&str> = markdown.lines().collect();
    assert!(rows[0].starts_with("| trace "), "{markdown}");
    assert_eq!(rows.iter().filter(|row| row.starts_with("| lublin-10x10 ")).count(), 7);
    for shard in 1..=2 {
        dir.replay(&format!("sweep {grid} -q --shard {shard}/2 --out s{shard}")).code(0);
    }
    let merged = dir.replay("merge s1 s2 -q --out m --format csv").code(0);
    let table = String::from_utf8(dir.read("m/runs.csv")).expect("text");
    assert_eq!(merged.stdout, table);
}

fn vectors_are_given_as_in_a_search() {
    let dir = Dir::with_trace();
    let ties = |grid: &str| {
        let plan = dir.replay(&format!("plan --jobs 9 {grid} --list --format json -q")).code(0);
        plan.fields(&["tie"])
    };
    assert_eq!(ties("--sr 1..2 --factors 0,3 --wf 0"), ties("--sr 1,2 --af 0,3 --wf 0 --bf 0,3"));
    // A vector may be given in the form in which tables print it.
    assert_eq!(ties("--tie (2,13,20,6)"), ["2,13,20,6"]);
    assert_eq!(ties("--alloc mm[tie=(2,13,20,6)]"), ["2,13,20,6"]);
    let search = "search --jobs 60 --sr 1,3 --factors 0..1 --bf 1 --tie (2,13,20,6) --format json --top 99 -q";
    let found = dir.replay(search).code(0).fields(&["tie"]);
    let mut found: Vec<&str> = found.iter().map(String::as_str).filter(|tie| *tie != "-").collect();
    found.sort_unstable();
    let vectors = ["1,0,0,1", "1,0,1,1", "1,1,0,1", "1,1,1,1", "2,13,20,6"];
    assert_eq!(found[..5], vectors);
    assert_eq!(found.len(), 9);
}

fn large_grids_need_confirmation() {
    let dir = Dir::new().file("tiny.swf", TINY);
    let grid = "-q --trace tiny.swf --sr 1..9 --af 0..10 --wf 0..10 --bf 0..10 --seed 0,1,2,3,4,5,6,7,8,9,10,11";
    for command in ["plan", "sweep --out out"] {
        let words = [
            "the grid has 111,576 cells, more than the limit of 100,000: add --yes to accept this number",
        ];
        dir.replay(&format!("{command} {grid}")).fails(2, 1, &words);
    }
    let plan = dir.replay(&format!("plan {grid} --yes --list --format json")).code(0);
    plan.demand(plan.stdout.lines().count() == 111_576, "all cells");
}

fn results_do_not_depend_on_threads() {
    let dir = Dir::with_trace().file("grid.toml", GRID);
    for threads in [1, 2, 5] {
        dir.replay(&format!("sweep grid.toml --threads {threads} --out {threads}")).code(0);
    }
    for table in TABLES {
        let [a, b, c] = [1, 2, 5].map(|threads| dir.read(&format!("{threads}/{table}")));
        assert!(a == b && b == c, "{table} depends on the number of threads");
    }
}

fn manifest_describes_the_sweep() {
    let dir = Dir::with_trace().file("grid.toml", GRID);
    dir.replay("sweep grid.toml --out out").code(0);
    let manifest = json(&dir.read("out/manifest.json"));
    assert_eq!((&manifest["cells"], &manifest["cells_run_now"]), (&122.into(), &122.into()));
    assert_eq!(manifest["combinations"], 150);
    assert_eq!(manifest["failed"], serde_json::json!([]));
    let configuration = &manifest["configuration"];
    assert_eq!(configuration["grid"]["allocator"][0]["tie"]["sr"], "1..2");
    assert_eq!(configuration["policies"][0]["name"], "johnson");
    let trace = &configuration["traces"][0];
    let digest = blake3::hash(&super::dir::shipped_trace());
    assert_eq!((&trace["jobs"], &trace["digest"]), (&150.into(), &digest.to_hex().as_str().into()));
    assert!(manifest["replay_seconds"].as_f64() > Some(0.0));
    let mut listed = super::dir::listed(&manifest);
    listed.sort();
    assert_eq!(listed, TABLES);
    let others = ["journal.txt", "manifest.json", "plan.json"];
    let mut all: Vec<&str> = TABLES.into_iter().chain(others).collect();
    all.sort_unstable();
    assert_eq!(dir.files("out"), all);
    // Running the command again computes nothing and writes equal files.
    let before = TABLES.map(|table| dir.read(&format!("out/{table}")));
    dir.replay("sweep grid.toml --out out").code(0).says("122 done before, 0 run");
    assert!(before == TABLES.map(|table| dir.read(&format!("out/{table}"))));
}

fn a_larger_grid_runs_only_new_cells() {
    let small = GRID.replace("sr = \"1..2\"", "sr = \"2..2\"");
    let dir = Dir::with_trace().file("small.toml", small).file("grid.toml", GRID);
    dir.replay("sweep small.toml --out out").code(0).says("sweep: 66 cells: 0 done before");
    dir.replay("sweep grid.toml --out out")
        .code(0)
        .says("sweep: 122 cells: 66 done before, 56 run");
    dir.replay("sweep grid.toml --out clean").code(0);
    assert_equal_tables(&dir, "out", "clean");
    let forced = dir.replay("sweep grid.toml --out out --force").code(0);
    forced.says("sweep: 122 cells: 0 done before, 122 run");
}

fn errors_name_file_line_and_key() {
    let fails = |text: &str, code: i32, lines: usize, words: &[&str]| {
        let dir = Dir::with_trace().file("my grid.toml", "").file("grid.toml", text);
        for command in ["plan grid.toml -q", "sweep grid.toml -q --out out"] {
            dir.replay(command).fails(code, lines, words);
        }
    };
    fails(
        "trces = []\n",
        2,
        3,
        &["grid.toml:1:1: unknown key \"trces\"; did you mean \"traces\"?", "^^^^^"],
    );
    fails(" \n", 2, 1, &["grid.toml: the file is empty; a grid file has keys"]);
    let sca = "[[allocator]]\nname = \"mc1x1\"\norder = \"sca\"\n";
    fails(sca, 2, 3, &["grid.toml:3:9: allocator.order: ", "not one of carried, scan, greedy"]);
    fails("seeds = \"3..1\"\n", 2, 3, &["grid.toml:1:9: seeds: \"3..1\": the range is empty"]);
    fails(
        "machines = [\"hypercube:7\"]\n",
        2,
        1,
        &["needs a mesh or torus", "(machine hypercube:7)"],
    );
    fails("traces = [\"nowhere\"]\n", 2, 2, &["no trace \"nowhere\""]);
    let dir = Dir::new()
        .file("bad.swf", "; MaxProcs: 4\n1 0 0 x 2\n")
        .file("g.toml", "traces = ['bad.swf']");
    dir.replay("plan g.toml -q").fails(3, 3, &["bad.swf:2:"]);
    Dir::new().replay("plan none.toml").fails(2, 1, &["cannot read none.toml: No such file"]);
}

fn rejects_unsupported_options() {
    let dir = Dir::with_trace().file("grid.toml", GRID);
    dir.replay("sweep grid.toml").refused(&["--out <DIR>"]);
    dir.replay("sweep grid.toml --out o --alloc mm").refused(&["cannot be used with"]);
    dir.replay("sweep grid.toml --out o --sr 1..2").refused(&["cannot be used with"]);
    let both = "sweep --sr 1 --af 1 --wf 1 --bf 1 --tie none --out o";
    dir.replay(both).fails(2, 1, &["--sr and --tie: give lists of entries or whole vectors"]);
    let incomplete = "sweep --sr 1 --af 1 --bf 1 --out o";
    dir.replay(incomplete).fails(2, 1, &["--sr: a grid of tie vectors needs --sr and --factors"]);
    dir.replay("sweep --out o --shard 5/4").refused(&["\"5/4\" is not a shard", "2/4"]);
    dir.replay("sweep --out o --param order").fails(2, 1, &["write KEY=LIST"]);
    dir.replay("sweep --out o --param ordr=scan").fails(2, 1, &["--param ordr: none of these"]);
    dir.replay("sweep --out o --alloc random --tie 1,1,1,1").fails(2, 1, &["--tie: none of these"]);
    let twice = "sweep --out o --alloc random --sr 1 --af 1 --wf 1 --bf 1";
    dir.replay(twice).fails(2, 1, &["--sr: none of these allocators breaks ties"]);
    assert_eq!(dir.files("").len(), 2 + usize::from(dir.path("o").exists()));
}

fn checks_the_output_directory_before_any_work() {
    let dir = Dir::with_trace().file("taken", "mine");
    let failed = dir.replay("sweep --trace nothing --out taken");
    failed.fails(2, 1, &["cannot write into --out taken: ", "(os error "]);
    assert_eq!(dir.read("taken"), b"mine");
    let dir = Dir::with_trace().file("out/journal.txt", "my notes\n");
    let failed = dir.replay("sweep -q --jobs 20 --out out");
    failed.fails(3, 1, &["out/journal.txt is not a journal", "move the journal away"]);
    assert_eq!(dir.read("out/journal.txt"), b"my notes\n");
}
