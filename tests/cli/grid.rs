//! Grids: cells, duplicates and order.

use super::dir::{Dir, TINY};

trials!(
    default_strategies_run_on_a_trace,
    all_selects_supported_allocators,
    sorts_rows,
    fits_tables_to_the_terminal,
    recorded_schedule_has_the_waits_of_the_log,
    runs_every_combination_in_order,
    strategies_without_ties_appear_once,
    parameters_override_tie_options,
    auto_ties_are_a_tie_vector,
    equal_cells_appear_once,
    proportional_vectors_are_one_cell,
    names_of_equal_file_names_differ,
    accepts_commas_in_machine_names,
    runs_every_machine_and_seed,
    aliases_have_canonical_names,
    accepts_repeated_and_joined_lists,
);

const CELL: [&str; 5] = ["trace", "topology", "scheduler", "allocator", "tie"];

fn runs_every_combination_in_order() {
    let dir = Dir::with_trace().file("tiny.swf", TINY);
    let grid = "--trace lublin,tiny.swf --sched fcfs,easy --alloc mc1x1,mm,snake-best-fit \
                --tie none --tie 2,13,20,6 --jobs 100 --format json";
    let run = dir.replay(grid).code(0);
    let mut expected = Vec::new();
    for trace in ["lublin-10x10 10x10", "tiny 2x2"] {
        for scheduler in ["fcfs", "easy"] {
            for strategy in
                ["mc1x1 -", "mc1x1 2,13,20,6", "mm -", "mm 2,13,20,6", "snake-best-fit -"]
            {
                expected.push(format!("{trace} {scheduler} {strategy}"));
            }
        }
    }
    run.demand(run.fields(&CELL) == expected, &format!("expected {expected:#?}"));
    // Allocators and tie vectors change placements, not start times.
    let waits = run.fields(&["mean_wait"]);
    run.demand(waits[..5].iter().all(|wait| *wait == waits[0]), "one schedule for all allocators");
    run.demand(waits[5] != waits[0], "another schedule for EASY");
}

fn strategies_without_ties_appear_once() {
    let grid =
        "--jobs 20 --alloc random,mc1x1,hilbert-best-fit --tie 1,1,1,1 --tie 2,2,2,2 --tie 3,3,3,3";
    let run = Dir::with_trace().replay(&format!("{grid} --format json")).code(0);
    let expected =
        ["random -", "mc1x1 1,1,1,1", "mc1x1 2,2,2,2", "mc1x1 3,3,3,3", "hilbert-best-fit -"];
    run.demand(run.fields(&["allocator", "tie"]) == expected, "one run, three runs, one run");
}

fn parameters_override_tie_options() {
    let grid = "--jobs 20 --alloc mc1x1[tie=1,1,1,1],mm --tie none --tie 2,13,20,6 --format json";
    let run = Dir::with_trace().replay(grid).code(0);
    let expected = ["mc1x1 1,1,1,1", "mm -", "mm 2,13,20,6"];
    run.demand(
        run.fields(&["allocator", "tie"]) == expected,
        "the vector of the parameter, and both options",
    );
}

fn auto_ties_are_a_tie_vector() {
    let grid = "--jobs 300 --alloc mc1x1 --tie none --tie auto --tie 2,13,20,6 --format json";
    let run = Dir::with_trace().replay(grid).code(0);
    let expected = ["mc1x1 -", "mc1x1 auto", "mc1x1 2,13,20,6"];
    run.demand(run.fields(&["allocator", "tie"]) == expected, "one cell for each tie option");
    let failed = Dir::with_trace().replay("--alloc mm --tie auto");
    failed.fails(2, 1, &["allocator \"mm[tie=auto]\"", "only mc1x1"]);
}

fn equal_cells_appear_once() {
    let grid = "--jobs 20 --trace lublin,lublin-10x10 --sched fcfs,fcfs --alloc mc1x1,mc1x1[tie=1,1,1,1] \
                --alloc mc1x1[tie=1,1,1,1] --format json";
    let run = Dir::with_trace().replay(grid).code(0);
    run.demand(run.fields(&["allocator", "tie"]) == ["mc1x1 -", "mc1x1 1,1,1,1"], "two cells");
}

fn runs_every_machine_and_seed() {
    let grid = "--jobs 50 --machine 10x10,16x8 --alloc random --seed 3,1 --format json";
    let run = Dir::with_trace().replay(grid).code(0);
    let expected = ["10x10 3", "10x10 1", "16x8 3", "16x8 1"];
    run.demand(run.fields(&["topology", "seed"]) == expected, "in the order typed");
    let means = run.fields(&["mean_pairwise_l1"]);
    run.demand(means[0] != means[1], "seeds differ in their random numbers");
    let again = Dir::with_trace().replay(grid).fields(&["mean_pairwise_l1"]);
    assert_eq!(means, again, "a seed repeats its random numbers");
    // In the comparison figure, each strategy has one bar, which is the mean over its seeds.
    let dir = Dir::with_trace();
    let run = "--jobs 50 --alloc first-fit,mbs,random --seed 3,1 --out out -q";
    let runs = dir.replay(&format!("{run} --format json")).code(0).objects();
    let text = |name: &str| String::from_utf8(dir.read(name)).expect("text");
    let stem = "out/plots/comparison--lublin-10x10--10x10--fcfs";
    assert!(text(&format!("{stem}.svg")).contains("means over seeds"));
    let table = text(&format!("{stem}.csv"));
    let bars: Vec<Vec<&str>> =
        table.lines().skip(1).map(|line| line.split(',').collect()).collect();
    assert_eq!(bars.len(), 3, "{table}");
    let bar = bars.iter().find(|bar| bar[0] == "random").expect("a bar");
    let runs = runs.iter().filter(|run| run["allocator"] == "random");
    let means: Vec<f64> =
        runs.map(|run| run["mean_pairwise_l1"].as_f64().expect("a number")).collect();
    let drawn: f64 = bar[1].parse().expect("a number");
    assert!((drawn - (means[0] + means[1]) / 2.0).abs() < 1e-9, "{table}");
}

fn aliases_have_canonical_names() {
    let grid = "--jobs 20 --alloc MC-1x1,gen_alg,genalg --format json";
    let run = Dir::with_trace().replay(grid).code(0);
    run.demand(run.fields(&["allocator"]) == ["mc1x1", "gen-alg"], "canonical names");
}

fn accepts_repeated_and_joined_lists() {
    let dir = Dir::with_trace();
    let joined = dir.replay("--jobs 20 --alloc mm,random --sched easy,fcfs --format json").code(0);
    let repeated = "-a mm -a random -s easy -s fcfs --jobs 20 --format json";
    assert_eq!(joined.fields(&CELL), dir.replay(repeated).code(0).fields(&CELL));
    assert_eq!(joined.fields(&CELL).len(), 4);
}

fn proportional_vectors_are_one_cell() {
    let ties = "--tie 2,13,20,6 --tie 2,26,40,12 --tie none --tie 0,1,1,1 --tie 3,0,0,0";
    let run = Dir::with_trace().replay(&format!("--jobs 20 {ties} --format json")).code(0);
    run.demand(run.fields(&["tie"]) == ["2,13,20,6", "-"], "the first vector of each ratio");
}

/// Without --alloc, the strategies of the main job that support the machine run.
fn default_strategies_run_on_a_trace() {
    let dir = Dir::with_trace();
    let run = dir.replay("--trace lublin-10x10 --jobs 50 --format json").code(0);
    let rows = run.fields(&["run", "allocator", "tie"]);
    let bare = dir.replay("--jobs 50 --format json").code(0).fields(&["run", "allocator", "tie"]);
    run.demand(rows.len() > 5 && rows == bare, "the main job");
    let cube = dir.replay("--trace lublin-10x10 --machine hypercube:7 --jobs 50 --format json");
    let cube = cube.code(0).says("strategies that work on hypercube:7 with fcfs: ");
    let names = cube.fields(&["allocator"]);
    cube.demand(
        names.contains(&"random".to_string()) && names.len() > 3,
        "allocators for hypercubes",
    );
    // If a strategy is named, only this strategy runs.
    let one = dir.replay("--trace lublin-10x10 --jobs 50 --alloc mm --format json").code(0);
    one.demand(one.fields(&["allocator"]) == ["mm"], "mm alone");
    let tie = dir.replay("--trace lublin-10x10 --jobs 50 --tie 2,13,20,6 --format json").code(0);
    tie.demand(tie.fields(&["allocator"]) == ["mc1x1"], "mc1x1 alone");
}

fn all_selects_supported_allocators() {
    let dir = Dir::with_trace();
    let all = "--trace lublin-10x10 --jobs 30 --alloc all --format json";
    let run = dir.replay(all).code(0).says(" strategies work on 10x10 with fcfs; ");
    let run = run.says(" do not: ");
    let names = run.fields(&["allocator"]);
    for name in ["mc1x1", "gabl", "mbs", "random"] {
        run.demand(names.contains(&name.to_string()), name);
    }
    run.demand(
        !names.iter().any(|name| name == "recorded" || name == "elmer"),
        "no unsupported allocators",
    );
    // Schedulers that reserve a number of processors support fewer allocators.
    let fewer = dir.replay(&format!("{all} --sched conservative")).code(0).fields(&["allocator"]);
    assert!(!fewer.is_empty() && fewer.len() < names.len());
    let plan = dir.replay("plan --trace lublin-10x10 --alloc all --list --format json -q").code(0);
    // A sweep with all allocators reads its trace only once.
    let sweep = "sweep --trace lublin-10x10 --jobs 30 --alloc all --out swept";
    let swept = dir.replay(sweep).code(0);
    swept.demand(swept.stderr.matches("jobs kept").count() == 1, "read once");
    plan.demand(plan.stdout.lines().count() == names.len(), "one cell for each allocator");
}

fn sorts_rows() {
    let dir = Dir::with_trace();
    let run = "--jobs 200 --alloc random,mc1x1,mm --format json -q";
    let numbers = |sort: &str| -> Vec<f64> {
        let rows = dir.replay(&format!("{run} --sort {sort}")).code(0).objects();
        rows.iter().map(|row| row["mean_pairwise_l1"].as_f64().expect("a number")).collect()
    };
    let rising = numbers("mean_pairwise_l1");
    assert!(rising.len() == 3 && rising.is_sorted(), "{rising:?}");
    let mut falling = numbers("-mean_pairwise_l1");
    falling.reverse();
    assert_eq!(rising, falling);
    // Sorting changes neither columns nor ids.
    let sorted = dir.replay(&format!("{run} --sort allocator")).code(0);
    assert_eq!(sorted.fields(&["run", "allocator"]), ["1 mc1x1", "2 mm", "0 random"]);
    let plain = dir.replay(run).code(0);
    let keys = |text: &str| text.split("\":").count();
    assert_eq!(keys(&plain.stdout), keys(&sorted.stdout));
    dir.replay("--jobs 9 --sort wait -q").fails(2, 1, &["--sort \"wait\"", "mean_wait"]);
}

/// Tables fit the width of a terminal; without a terminal they are printed in full.
fn fits_tables_to_the_terminal() {
    let dir = Dir::new();
    let line = "--jobs 200 --alloc mc1x1,mm -q";
    let whole = dir.replay(line).code(0).stdout;
    for columns in [60, 80, 100] {
        let lines = dir.in_terminal(columns, line);
        assert!(lines.iter().all(|line| line.chars().count() <= columns), "{columns}: {lines:#?}");
        assert!(lines.iter().any(|line| line.contains("pairwise L1")), "{lines:#?}");
        assert!(lines.join(" ").contains("in all rows: "), "{lines:#?}");
    }
    let header = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let of_whole = header(whole.lines().next().expect("a header"));
    for lines in [dir.in_terminal(60, &format!("{line} --wide")), dir.in_terminal(300, line)] {
        assert_eq!(header(&lines[0]), of_whole);
    }
    // Text is wrapped.
    let lines = dir.in_terminal(50, "explain --jobs 100 --job 60 --tie 2,13,20,6 -q");
    assert!(lines.len() > 20, "{lines:#?}");
    assert!(lines.iter().all(|line| line.chars().count() <= 50), "{lines:#?}");
}

fn names_of_equal_file_names_differ() {
    let more = format!("{TINY}99 1000 -1 5 1\n");
    let dir = Dir::with_trace().file("a/x.swf", TINY).file("b/x.swf", more.as_str());
    let line = "--trace a/x.swf --trace b/x.swf --trace a/x.swf --alloc mc1x1 --format json";
    let run = dir.replay(line).code(0);
    let names = run.fields(&["trace"]);
    run.demand(names.len() == 2 && names[0] != names[1], "two runs of two names");
    run.demand(names.iter().all(|name| name.starts_with("x~")), "with the digest");
}

fn accepts_commas_in_machine_names() {
    let machines = "--machine torus[x,y]:10X10,10x10 --alloc mc1x1 --jobs 20 --format json";
    let run = Dir::with_trace().replay(machines).code(0);
    run.demand(run.fields(&["topology"]) == ["torus:10x10", "10x10"], "two machines");
}

/// The waits in the log are printed next to the waits under another scheduler. Warnings count jobs without processors
/// and jobs without a recorded wait.
fn recorded_schedule_has_the_waits_of_the_log() {
    let log = "; MaxProcs: 4\n1 0 3 10 2\n2 1 4 10 2\n3 2 0 1 1\n4 5 -1 10 1\n5 6 0 5 1\n";
    let dir = Dir::new().file("log.swf", log).file("none.swf", "; MaxProcs: 4\n1 0 -1 5 2\n");
    let line = "--trace log.swf --alloc random --format json --sched";
    let run = dir.replay(&format!("{line} recorded,fcfs")).code(0);
    let rows = run.fields(&["scheduler", "jobs", "mean_wait"]);
    // Job 5, which gets no processors, is excluded from the metrics of the log; three jobs wait 7 s
    // in total.
    let expected = ["recorded 3 2.3333333333333335", "fcfs 5 3.6"];
    run.demand(rows == expected, &format!("the mean of field 3: {rows:?}"));
    let run = run.says(
        "log, recorded: excluded from all metrics: 1 job without a recorded wait (field 3), first job 4 (line 5); other \
         schedulers include these jobs\n",
    );
    run.says("log on 2x2, recorded: 1 job starts with too few processors free; if these jobs are counted as busy, 1 \
        does, in 1 period of at most 5 s, \
              with at most 1 processor too many; first job 5; these jobs get no processors and are excluded from all metrics\n");
    // The comparison covers the other three jobs, which wait 0, 0 and 8 s under FCFS.
    dir.replay(&format!("{line} recorded,fcfs --out o --no-plots -q")).code(0);
    let table = String::from_utf8(dir.read("o/against_log.csv")).expect("text");
    let cells = |line: &str| line.split(',').map(str::to_string).collect::<Vec<_>>();
    let rows: Vec<Vec<String>> = table.lines().map(cells).collect();
    let place = |name: &str| rows[0].iter().position(|own| own == name).expect(name);
    let is_mean = |row: &&Vec<String>| {
        row[place("of_size")].is_empty() && row[place("metric")] == "mean_wait"
    };
    let mean = rows.iter().find(is_mean).expect("a row");
    let names = [
        "compared_jobs",
        "left_out_no_wait",
        "left_out_full",
        "left_out_nowhere",
        "log_value",
        "run_value",
    ];
    let values = names.map(|name| mean[place(name)].as_str());
    assert_eq!(values, ["3", "1", "1", "0", "2.3333333333333335", "2.6666666666666665"]);
    dir.replay(&format!("{line} recorded[overfull=error]")).code(3).says("first job 5");
    let nothing = ["none.swf: no job has a recorded wait"];
    dir.replay("--trace none.swf --alloc random --sched recorded -q").fails(3, 1, &nothing);
    let refuses = [
        "allocator first-fit may change the schedule; scheduler recorded repeats the schedule of the log",
    ];
    dir.replay("--trace log.swf --alloc first-fit --sched recorded -q").fails(2, 1, &refuses);
    dir.replay("stream --sched recorded -q").fails(
        2,
        1,
        &["scheduler recorded repeats recorded starts"],
    );
}
