//! `replay compare`: differences between runs of the same jobs.

use super::dir::Dir;

trials!(
    compares_strategies_job_by_job,
    compares_folders_run_by_run,
    reports_what_cannot_be_compared,
    prints_a_matrix_of_two_dimensions,
    prints_a_matrix_of_several_keys_with_intervals,
    prints_latex_tables,
    compares_leaves_on_trees,
    compares_schedules,
    baseline_adds_changes_of_means,
    names_the_dimensions_that_differ,
    compares_contention_job_by_job,
    names_two_jobs_that_decide_a_comparison,
    compares_sweeps_with_a_job_table,
    legend_explains_marks,
    compares_classes_of_jobs,
    fails_only_with_a_verdict,
    interval_of_a_change_is_above_minus_100_percent,
    rejects_bad_run_numbers_and_missing_folders,
    reads_both_runs_of_a_folder_at_once,
    rejects_results_of_other_commands,
);

fn names_the_dimensions_that_differ() {
    let dir = Dir::new();
    let grid = "--jobs 60 --sched fcfs,easy --alloc mc1x1 --tie none --tie 2,13,20,6";
    dir.replay(&format!("{grid} -q --no-plots --out out")).code(0);
    let both = "out:3 (lublin-10x10 10x10 easy mc1x1 2,13,20,6) against out:0 (lublin-10x10 10x10 fcfs \
                mc1x1); they differ in scheduler and tie vector: a change is the joint effect of these differences";
    dir.replay("compare out:0 out:3").code(0).prints(both);
    let data = dir.replay("compare out:0 out:3 --format json").code(0).says(both);
    data.demand(data.objects().len() == 5, "standard output holds data");
    dir.replay("compare out:0 out:3 --format json -q").code(0).says_nothing();
    let one = dir.replay("compare out:0 out:1").code(0).prints("; they differ in tie vector\n");
    one.says_nothing();
}

fn compares_contention_job_by_job() {
    let dir = Dir::new();
    let contend = "contend --jobs 60 --scale 0.05";
    dir.replay(&format!("{contend} --alloc mc1x1,random -q --no-plots --out out")).code(0);
    let compared = dir.replay("compare out:0 out:1 --format json").code(0).says_nothing();
    let rows = compared.objects();
    let names: Vec<&str> = rows.iter().filter_map(|row| row["compared_measure"].as_str()).collect();
    let stretch = ["stretch", "placement_factor", "contention_factor"];
    assert!(names.starts_with(&stretch) && names.len() == 8, "{names:?}");
    // The means that `compare` prints equal those in `contend.csv`.
    let runs = String::from_utf8(dir.read("out/contend.csv")).expect("text");
    let mut lines = csv::Reader::from_reader(runs.as_bytes());
    let at = lines.headers().expect("names").iter().position(|name| name == "mean_stretch");
    let means: Vec<f64> = lines
        .records()
        .map(|row| row.expect("a row")[at.expect("a column")].parse().expect("a number"))
        .collect();
    for (name, mean) in ["base_mean", "compared_mean"].iter().zip(means) {
        let ours = rows[0][*name].as_f64().expect("a number");
        assert!((ours - mean).abs() < 1e-9 * mean, "{name}: {ours}, not {mean}");
    }
    // The medians and trimmed means that `compare` prints equal the values in `contend.csv`.
    let of_runs = |name: &str| -> Vec<f64> {
        let mut lines = csv::Reader::from_reader(runs.as_bytes());
        let at = lines.headers().expect("names").iter().position(|title| title == name);
        let at = at.expect(name);
        lines.records().map(|row| row.expect("a row")[at].parse().expect("a number")).collect()
    };
    for measure in ["median", "trimmed_mean"] {
        for (place, row) in rows.iter().take(3).enumerate() {
            let expected = of_runs(&format!("{measure}_{}", stretch[place]));
            for (side, expected) in ["base", "compared"].iter().zip(expected) {
                let ours = row[format!("{side}_{measure}")].as_f64().expect("a number");
                assert!((ours - expected).abs() < 1e-9 * expected, "{side} {measure}: {ours}");
            }
        }
    }
    let table = dir.replay("compare out:0 out:1").code(0);
    table.prints("base median").prints("base trimmed");
    // The table of jobs has submission times, by which the bootstrap forms blocks.
    let jobs = String::from_utf8(dir.read("out/contend_jobs.csv")).expect("text");
    let mut lines = csv::Reader::from_reader(jobs.as_bytes());
    let at = lines.headers().expect("names").iter().position(|name| name == "submit");
    let submits: Vec<i64> = lines
        .records()
        .map(|row| row.expect("a row")[at.expect("a column")].parse().expect("a number"))
        .collect();
    assert_eq!(submits.len(), 2 * 60);
    assert_eq!(submits[..60], submits[60..]);
    assert!(submits[0] == 75 && submits[..60].is_sorted(), "{submits:?}");
    dir.replay("compare out:0 out:1 --measure stretch --by-size").code(0).prints("stretch");
    dir.replay("compare out --row scheduler --col allocator").code(0).prints("mean_stretch");
    let fails = |rest: &str, words: &[&str]| {
        dir.replay(&format!("compare {rest}")).fails(2, 1, words);
    };
    fails("out:0 out:1 --measure wait", &["--measure \"wait\"", "did you mean \"wait_cycles\"?"]);
    fails("out:0 out:1 --schedule", &["--schedule: out:0 has results of contend"]);
    dir.replay("--jobs 50 --alloc mc1x1 -q --no-plots --out run").code(0);
    fails("run out:0", &["run has replays, out:0 has results of contend"]);
}

/// In this window of the shipped trace, two jobs determine which of the two runs has the smaller mean stretch.
fn names_two_jobs_that_decide_a_comparison() {
    let dir = Dir::with_trace();
    let contend =
        "contend --jobs 200 --scale 0.1 --sched easy --alloc gabl,mc1x1 --no-plots --out out";
    let contended = dir.replay(contend).code(0);
    let jobs_of = |stderr: &str| -> Option<String> {
        let line = stderr
            .lines()
            .find(|line| line.contains("order by mean stretch depends on two jobs: "))?;
        let (_, rest) = line.split_once("but without jobs ")?;
        Some(rest.split_once(" the order is reversed")?.0.to_string())
    };
    let jobs = jobs_of(&contended.stderr).expect("a warning of contend");
    for pair in ["out:0 out:1", "out:1 out:0"] {
        let compared = dir.replay(&format!("compare {pair}")).code(0);
        assert_eq!(jobs_of(&compared.stderr).as_ref(), Some(&jobs), "{pair}");
        compared.says("seed 0: the order by mean stretch depends on two jobs: ");
    }
    dir.replay("compare out:0 out:1 -q").code(0).says_nothing();
    let other = dir.replay("compare out:0 out:1 --measure latency").code(0);
    other.demand(!other.stderr.contains("two jobs"), "the stretch is not compared");
}

fn legend_explains_marks() {
    let dir = Dir::new();
    dir.replay("--jobs 30 --alloc mc1x1,random -q --no-plots --out out").code(0);
    let dash = "-: no value, or too few weeks or days with a value for an interval";
    dir.replay("compare out:0 out:1").code(0).prints(dash).prints("~: no significant difference");
    dir.replay("compare out:0 out:1 --format md").code(0).prints(dash);
    let same = dir.replay("compare out:0 out:0 --measure wait").code(0);
    same.demand(!same.stdout.contains("~: "), "no legend of a mark that does not occur");
}

fn rejects_bad_run_numbers_and_missing_folders() {
    let dir = Dir::new();
    dir.replay("--jobs 30 --alloc mc1x1,random -q --no-plots --out out").code(0);
    let number = ["out:x: \"x\" is not the number of a run", "out:0"];
    dir.replay("compare out:0 out:x").fails(2, 1, &number);
    dir.replay("compare out none").fails(3, 1, &["none: no such file", "--out"]);
}

/// Compares two runs of a folder while another thread repeatedly replaces the folder with results of 20 and of 40 jobs.
fn reads_both_runs_of_a_folder_at_once() {
    let dir = Dir::new();
    let write = |jobs: u32| {
        let grid = format!("--jobs {jobs} --alloc mc1x1,random -q --no-plots");
        dir.replay(&format!("{grid} --out out --force")).code(0);
    };
    write(20);
    let stop = std::sync::atomic::AtomicBool::new(false);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for jobs in [40, 20].into_iter().cycle() {
                if stop.load(std::sync::atomic::Ordering::Relaxed) {
                    break;
                }
                write(jobs);
            }
        });
        let outcomes: Vec<_> = (0..60)
            .map(|_| dir.replay("compare out:0 out:1 --format csv --measure wait"))
            .collect();
        stop.store(true, std::sync::atomic::Ordering::Relaxed);
        for outcome in outcomes {
            // If the two runs came from different results, one run would have 20 jobs that are not in the other run.
            let is_mixed = outcome.stderr.contains("that only one run has");
            outcome.demand(!is_mixed, "both runs come from the same results");
            let is_named = outcome.stderr.is_empty() || outcome.stderr.contains("being replaced");
            outcome.demand(is_named, "a failure mentions the replacement");
        }
    });
}

fn compares_sweeps_with_a_job_table() {
    let dir = Dir::new();
    let cells = "--jobs 300 --alloc mc1x1,random";
    dir.replay(&format!("sweep {cells} -q --out sweep")).code(0);
    dir.replay("compare sweep:0 sweep:1").fails(
        3,
        1,
        &["sweep/jobs.parquet does not exist: the same sweep with --job-table writes this table"],
    );
    dir.replay(&format!("sweep {cells} --job-table -q --out sweep")).code(0);
    dir.replay(&format!("{cells} -q --no-plots --out run")).code(0);
    let compared = |folder: &str| {
        dir.replay(&format!("compare {folder}:0 {folder}:1 --format csv -q")).code(0).stdout
    };
    assert_eq!(compared("sweep"), compared("run"));
    dir.replay("sweep --alloc mm --job-table").refused(&["--out"]);
    dir.replay(&format!("sweep {cells} --job-table --shard 1/2 --out s")).refused(&["--shard"]);
}

fn rejects_results_of_other_commands() {
    let dir = Dir::new();
    let stream = "--machine 4x4 --jobs 9 --min-replications 2 --max-replications 2 --alloc mbs";
    dir.replay(&format!("stream {stream} --arrivals 1 -q --no-plots --out stream")).code(0);
    dir.replay("search --jobs 40 --sr 1..1 --factors 0..1 -q --no-plots --out search").code(0);
    for (folder, words) in
        [("stream", "stream.csv"), ("search", "replay the vectors that the search found")]
    {
        let known = "compare takes results of replays, sweeps (--job-table) and contend";
        let holds = format!("{folder}: holds results of {folder}");
        dir.replay(&format!("compare {folder} {folder}")).fails(2, 1, &[&holds, known, words]);
    }
}

fn compares_strategies_job_by_job() {
    let dir = Dir::new();
    dir.replay("--jobs 2500 --alloc mc1x1,random -q --no-plots --out out").code(0);
    let compare = |rest: &str| dir.replay(&format!("compare out:0 out:1 {rest}"));
    let all = compare("--format json").code(0).says_nothing();
    let fields = ["compared_measure", "pairs", "change_verdict"];
    assert_eq!(
        all.fields(&fields),
        [
            "wait 2500 same",
            "turnaround 2500 same",
            "bounded_slowdown 2500 same",
            "pairwise_l1 2500 worse",
            "distance 2500 worse",
        ]
    );
    // The means that `compare` prints equal those of the runs.
    let runs = dir.replay("--jobs 2500 --alloc mc1x1,random -q --format json").code(0);
    let means = all.fields(&["base_mean", "compared_mean"]);
    let expected = runs.fields(&["mean_pairwise_l1"]);
    assert_eq!(means[3], expected.join(" "));
    // If the two runs are exchanged, the verdict is reversed.
    let back = dir.replay("compare out:1 out:0 --measure pairwise_l1 --format json").code(0);
    assert_eq!(back.fields(&["change_verdict"]), ["better"]);
    let classes = compare("--measure wait,distance --by-size").code(0);
    classes.prints("3 to 4").prints("all").prints("wait s").prints("distance hops");
    // The exit code reports that a measure is worse than the base by more than a limit.
    let failed = compare("--measure wait --fail-if-worse distance:5").code(1);
    failed.says("distance is worse by ").says("--fail-if-worse allows 5 %");
    compare("--fail-if-worse distance:500 --fail-if-worse wait:0").code(0).says_nothing();
    // Equal inputs give equal output.
    assert_eq!(compare("--seed 3").stdout, compare("--seed 3").stdout);
}

/// The third job overtakes the second only under EASY. The second job has no user.
fn compares_classes_of_jobs() {
    let trace = "; MaxProcs: 4\n1 0 -1 100 3 -1 -1 3 100 -1 1 7 5 -1 1 2 -1 -1\n\
                 2 1 -1 100 4 -1 -1 4 100 -1 1 -1 5 -1 1 2 -1 -1\n\
                 3 2 -1 50 1 -1 -1 1 50 -1 1 7 6 -1 2 2 -1 -1\n";
    let dir = Dir::new().file("t.swf", trace);
    let run = "--trace t.swf --machine 2x2 --sched easy,fcfs --alloc mc1x1 -q --no-plots --out out";
    dir.replay(run).code(0);
    let by = |key: &str| {
        let line = format!("compare out:0 out:1 --measure wait --by {key} --format json");
        let compared = dir.replay(&line).code(0);
        compared.fields(&["class", "pairs", "base_mean", "compared_mean"])
    };
    assert_eq!(by("queue"), ["- 3 33.0 99.0", "queue 1 2 49.5 49.5", "queue 2 1 0.0 198.0"]);
    assert_eq!(by("group"), ["- 3 33.0 99.0", "group 5 2 49.5 49.5", "group 6 1 0.0 198.0"]);
    assert_eq!(by("partition"), ["- 3 33.0 99.0", "partition 2 3 33.0 99.0"]);
    assert_eq!(by("user"), ["- 3 33.0 99.0", "user unknown 1 99.0 99.0", "user 7 2 0.0 99.0"]);
    let sizes = dir.replay("compare out:0 out:1 --measure wait --by-size --format json").code(0);
    let same = dir.replay("compare out:0 out:1 --measure wait --by size --format json").code(0);
    assert_eq!(sizes.stdout, same.stdout);
    let printed = dir.replay("compare out:0 out:1 --measure wait --by queue").code(0);
    printed.prints("jobs of").prints("queue 2").prints("all");
    dir.replay("compare out:0 out:1 --by size --by-size").refused(&["--by"]);
    dir.replay("compare out --row scheduler --col tie --by queue").code(2).says("need two folders");
}

/// All jobs are submitted on one day, so there is no interval and no verdict.
fn fails_only_with_a_verdict() {
    let trace = "; MaxProcs: 4\n1 0 -1 100 3 -1 -1 3 100\n2 1 -1 100 4 -1 -1 4 100\n3 2 -1 50 1 -1 -1 1 50\n";
    let dir = Dir::new().file("day.swf", trace);
    let run =
        "--trace day.swf --machine 2x2 --sched easy,fcfs --alloc mc1x1 -q --no-plots --out out";
    dir.replay(run).code(0);
    let compared = dir.replay("compare out:0 out:1 --measure wait --fail-if-worse wait:0").code(0);
    compared.prints("~").says(
        "fcfs mc1x1: wait is worse by 200.00 %, but there is no verdict: an interval needs 5 days or weeks with a \
         value (here: 1 day); --fail-if-worse does not fail",
    );
    // The measure is below its limit.
    let below = dir.replay("compare out:0 out:1 --measure wait --fail-if-worse wait:300").code(0);
    below.says_nothing();
}

/// Many jobs of one size class wait much less under EASY. A mean cannot fall by more than 100 %.
fn interval_of_a_change_is_above_minus_100_percent() {
    let dir = Dir::new();
    dir.replay("--sched fcfs,easy --alloc mc1x1 --tie none -q --no-plots --out out").code(0);
    let compared = dir.replay("compare out:0 out:1 --by-size --format json").code(0);
    let rows = compared.objects();
    let mut intervals = 0;
    for row in &rows {
        let ends = ["change_low_percent", "change_percent", "change_high_percent"];
        let [Some(low), Some(change), Some(high)] = ends.map(|end| row[end].as_f64()) else {
            continue;
        };
        assert!(-100.0 <= low && low <= change && change <= high, "{row}");
        let excludes_zero = low > 0.0 || high < 0.0;
        let is_significant = row["change_verdict"] == "better" || row["change_verdict"] == "worse";
        assert!(excludes_zero || !is_significant, "{row}");
        intervals += 1;
    }
    assert!(intervals > 20, "{intervals} intervals");
}

/// With one folder, the table contains values; with two folders, it contains changes.
fn prints_a_matrix_of_two_dimensions() {
    let dir = Dir::new();
    let run = |rest: &str, out: &str| {
        dir.replay(&format!("--jobs 300 {rest} -q --no-plots --out {out}")).code(0)
    };
    run("--sched fcfs,easy --alloc mc1x1,random --seed 0,1", "out");
    let table = dir.replay("compare out --row scheduler --col allocator --measure pairwise_l1");
    let table = table.code(0).prints("mean_pairwise_l1 hops");
    let best: Vec<&str> = table.stdout.lines().filter(|line| line.contains(" *")).collect();
    table.demand(best.len() == 2, "the best of each row");
    let cells = dir.replay("compare out --row scheduler --col allocator --format json").code(0);
    let mut random = cells.objects();
    random.retain(|cell| cell["col"] == "random");
    // Each cell is the mean over both seeds.
    assert!(random.iter().all(|cell| cell["projected_runs"] == 2), "{random:?}");
    let csv = String::from_utf8(dir.read("out/runs.csv")).expect("text");
    let mut rows = csv.lines().map(|line| line.split(',').collect::<Vec<_>>());
    let header = rows.next().expect("a header");
    let at = |name: &str| header.iter().position(|column| *column == name).expect(name);
    let means: Vec<f64> = rows
        .filter(|row| row[at("scheduler")] == "easy" && row[at("allocator")] == "random")
        .map(|row| row[at("mean_wait")].parse().expect("a number"))
        .collect();
    let mean = means.iter().sum::<f64>() / means.len() as f64;
    let is_wait = |cell: &&serde_json::Value| {
        cell["row"] == "easy" && cell["projected_measure"] == "mean_wait"
    };
    let cell = random.iter().find(is_wait).expect("a cell");
    assert_eq!(cell["projected_mean"].as_f64(), Some(mean));
    run("--sched fcfs,easy --alloc mc1x1,random", "one");
    let same = dir.replay("compare one one --row scheduler --col allocator --measure wait");
    same.code(0).prints("wait, change %").prints("same");
    // Runs that differ in another dimension cannot share a cell.
    run("--alloc mc1x1 --tie none --tie 2,13,20,6", "ties");
    dir.replay("compare ties --row scheduler --col allocator").fails(
        2,
        1,
        &["--row scheduler --col allocator", "differ in tie", "strategy"],
    );
    let strategies = dir.replay("compare ties --row scheduler --col strategy").code(0);
    strategies.prints("mc1x1 (2,13,20,6)");
    dir.replay("compare ties --row trace").refused(&["--col"]);
    dir.replay("compare ties").refused(&["FOLDER"]);
    dir.replay("compare ties --row trace --col trace").fails(2, 1, &["trace occurs twice"]);
    dir.replay("compare ties --row trace --col user").fails(2, 1, &["--col \"user\""]);
}

/// The changes of start times add up to the difference of the mean waits.
fn prints_a_matrix_of_several_keys_with_intervals() {
    let dir = Dir::new();
    dir.replay(
        "--jobs 200 --sched fcfs,easy --alloc mc1x1,random --shake 3 -q --no-plots --out out",
    )
    .code(0);
    let matrix = "compare out --row trace,scheduler --col strategy --measure pairwise_l1";
    let table = dir.replay(matrix).code(0).prints("lublin-10x10, easy").prints(" ± ");
    table.demand(table.stdout.lines().count() == 4, "a row for each scheduler");
    let cells = dir.replay(&format!("{matrix} --format json")).code(0).objects();
    // The mean and the interval are those over the copies, as in the table of copies.
    let csv = String::from_utf8(dir.read("out/shaken.csv")).expect("text");
    let mut rows = csv::Reader::from_reader(csv.as_bytes());
    let header = rows.headers().expect("names").clone();
    let at = |name: &str| header.iter().position(|title| title == name).expect(name);
    let shaken = rows.records().map(|row| row.expect("a row"));
    let pairwise: Vec<[f64; 2]> = shaken
        .filter(|row| &row[at("metric")] == "mean_pairwise_l1")
        .map(|row| ["mean", "half_width"].map(|name| row[at(name)].parse().expect("a number")))
        .collect();
    assert_eq!(cells.len(), pairwise.len());
    for (cell, shaken) in cells.iter().zip(&pairwise) {
        let own = ["projected_mean", "projected_half_width"].map(|name| cell[name].as_f64());
        assert_eq!((cell["projected_runs"].as_u64(), own), (Some(3), shaken.map(Some)));
    }
}

fn prints_latex_tables() {
    let trace = "1 0 0 50 2 -1 -1 2 90 -1 1 1 1 1 1\n2 1 0 50 2 -1 -1 2 90 -1 1 1 1 1 1\n";
    let dir = Dir::new().file("\\input{x}_50%&$#^~.swf", trace);
    let run = dir.replay(
        "--trace \\input{x}_50%&$#^~.swf --machine 2x2 --alloc mc1x1,random -q --format latex --out out --no-plots",
    );
    run.code(0)
        .prints("\\begin{tabular}{")
        .prints("\\toprule\n")
        .prints("\\bottomrule\n\\end{tabular}");
    let name =
        "\\textbackslash{}input\\{x\\}\\_50\\%\\&\\$\\#\\textasciicircum{}\\textasciitilde{}";
    let matrix = dir.replay("compare out --row trace --col strategy --measure wait --format latex");
    matrix.code(0).prints(name).prints("mean\\_wait s & mc1x1 & random \\\\\n\\midrule\n");
}

fn compares_leaves_on_trees() {
    let dir = Dir::new();
    let run =
        "--jobs 200 --machine tree:5x20 --sched fcfs -a slurm-tree,random -q --no-plots --out out";
    dir.replay(run).code(0);
    let rows = dir.replay("compare out:0 out:1 --format json -q").code(0).objects();
    let means = |measure: &str| {
        let row = rows.iter().find(|row| row["compared_measure"] == measure).expect(measure);
        ["base_mean", "compared_mean"].map(|name| row[name].as_f64().expect("a number"))
    };
    let csv = String::from_utf8(dir.read("out/runs.csv")).expect("text");
    let mut runs = csv::Reader::from_reader(csv.as_bytes());
    let header = runs.headers().expect("names").clone();
    let records: Vec<csv::StringRecord> = runs.records().map(|row| row.expect("a row")).collect();
    let of_runs = |name: &str| {
        let at = header.iter().position(|title| title == name).expect(name);
        [0, 1].map(|run: usize| records[run][at].parse::<f64>().expect("a number"))
    };
    let near = |a: [f64; 2], b: [f64; 2]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-9);
    assert!(near(means("leaves"), of_runs("mean_leaves")));
    assert!(near(means("distance"), of_runs("mean_pair_hops")));
    let one_leaf = of_runs("one_leaf_percent").map(|share| 100.0 - share);
    assert!(near(means("several_leaves_percent"), one_leaf));
    // Machines without leaves have no such rows, unless they are named.
    dir.replay("--jobs 60 --alloc mc1x1,random -q --no-plots --out mesh").code(0);
    let mesh = dir.replay("compare mesh:0 mesh:1 --format json -q").code(0).objects();
    assert_eq!(mesh.len(), 5);
}

fn compares_schedules() {
    let dir = Dir::new();
    dir.replay("--jobs 600 --sched fcfs,easy --alloc mc1x1 -q --no-plots --out out").code(0);
    let rows = dir.replay("compare out:0 out:1 --schedule --format json").code(0).objects();
    assert_eq!(rows.len(), 600);
    let number = |row: &serde_json::Value, name: &str| row[name].as_i64().expect("a number");
    let later: i64 = rows.iter().map(|row| number(row, "later")).sum();
    for row in &rows {
        let change = number(row, "compared_start") - number(row, "base_start");
        assert_eq!(number(row, "later"), change);
    }
    let waits = dir.replay("compare out:0 out:1 --measure wait --format json").code(0).objects();
    let mean = |name: &str| waits[0][name].as_f64().expect("a number");
    let difference = mean("compared_mean") - mean("base_mean");
    assert!((later as f64 / 600.0 - difference).abs() < 1e-6, "{later} {difference}");
    let shown = dir.replay("compare out:0 out:1 --schedule --out drawn").code(0);
    shown.prints("of 600 jobs, ").prints(" start earlier, by ").prints("base start s");
    let files = dir.files("drawn");
    assert_eq!(files.len(), 5, "{files:?}");
    let table = files.iter().find(|name| name.ends_with(".csv")).expect("a table");
    let table = String::from_utf8(dir.read(&format!("drawn/{table}"))).expect("text");
    assert_eq!(table.lines().count(), 601);
    dir.replay("compare out:0 out:1 --schedule --by-size").refused(&["--by-size"]);
}

fn baseline_adds_changes_of_means() {
    let dir = Dir::new();
    let cells = "--jobs 300 --alloc mc1x1,mm";
    dir.replay(&format!("{cells} -q --no-plots --out out")).code(0);
    let same = dir.replay(&format!("{cells} --baseline out --format json -q")).code(0);
    let columns = ["mean_pairwise_l1_change_percent", "mean_turnaround_change_percent"];
    same.demand(same.fields(&columns).iter().all(|row| row == "0.0 0.0"), "no change");
    let other = dir.replay("--jobs 300 --alloc mc1x1,mm,random --baseline out --format json");
    let other = other.code(0).says("--baseline: 1 of 3 runs is not in the baseline");
    assert_eq!(other.fields(&columns)[2], "- -");
    let less = dir.replay("--jobs 200 --alloc mc1x1,mm --baseline out --format json -q").code(0);
    let before = dir.replay(&format!("{cells} --format json -q")).code(0).objects();
    for (row, before) in less.objects().iter().zip(&before) {
        let mean = |row: &serde_json::Value| row["mean_pairwise_l1"].as_f64().expect("a number");
        let change = row[columns[0]].as_f64().expect("a number");
        assert!((change - 100.0 * (mean(row) / mean(before) - 1.0)).abs() < 1e-9);
    }
    dir.replay(&format!("{cells} --baseline out -q")).code(0).prints("\u{394} wait %");
    let sweep = dir.replay(&format!("sweep {cells} --baseline out --out swept -q")).code(0);
    sweep.prints("runs.csv").prints("\u{394} L1 %");
    let random = dir.replay("--jobs 9 --alloc random --baseline out -q");
    random.fails(2, 1, &["--baseline out", "allocator mc1x1 versus random"]);
    let dir = dir.file("down.csv", "from,until,what\n0,100,node 3\n");
    let down = dir.replay("--jobs 9 --alloc mm --down down.csv --baseline out -q");
    down.demand(down.stderr.contains("policy "), "the dimension");
    down.demand(down.stderr.contains("down="), "the value in this run");
    dir.replay("--jobs 9 --alloc mm --baseline nowhere -q").code(3);
    dir.replay("contend --jobs 9 --alloc mm --scale 1 --no-plots --out contended -q").code(0);
    let contended = dir.replay("--jobs 9 --alloc mm --baseline contended -q").code(3);
    contended.says("--baseline contended: has no runs.parquet; name a folder that replay");
}

fn compares_folders_run_by_run() {
    let dir = Dir::new();
    let run = |jobs: u32, alloc: &str, out: &str| {
        dir.replay(&format!("--jobs {jobs} --alloc {alloc} -q --no-plots --out {out}")).code(0)
    };
    run(2550, "mc1x1,mbs", "before");
    run(2500, "mbs,mc1x1,random", "after");
    let compared = dir.replay("compare before after --measure wait --format json").code(0);
    let compared = compared.says("50 jobs that only one run has");
    let compared = compared.says("1 run that only one folder has is omitted");
    let pairs = compared.fields(&["base", "compared_run", "pairs", "change_verdict"]);
    assert_eq!(pairs.len(), 2);
    assert!(pairs[0].contains("before lublin-10x10 10x10 fcfs mbs") && pairs[0].contains("2500"));
    // In a terminal of 80 columns, change and interval are shown, and runs have short names.
    for rest in ["", "--by-size"] {
        let lines = dir.in_terminal(80, &format!("compare before after -q {rest}"));
        assert!(
            lines[0].ends_with("after against before; all runs: lublin-10x10 10x10 fcfs"),
            "{lines:#?}"
        );
        // Each text is the heading of a column, or it is printed once with a value that is equal in all rows.
        let all = lines.join(" ");
        for word in ["run", "measure", "change %", "95 %", "verdict"] {
            assert!(all.contains(word), "{word} in {lines:#?}");
        }
        assert!(lines.iter().any(|line| line.starts_with("mc1x1  wait s ")), "{lines:#?}");
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
    }
    run(300, "mbs", "one");
    let one = dir.replay("compare before:0 one --measure distance").code(0);
    one.prints("distance");
}

fn reports_what_cannot_be_compared() {
    let dir = Dir::new();
    dir.replay("--jobs 50 --alloc mc1x1,random -q --no-plots --out out").code(0);
    dir.replay("--jobs 50 --alloc mbs,gabl -q --no-plots --no-jobs --out lean").code(0);
    let fails = |rest: &str, code: i32, words: &[&str]| {
        dir.replay(&format!("compare {rest}")).fails(code, 1, words);
    };
    fails("out nowhere", 3, &["nowhere: "]);
    let advice =
        "lean/jobs.parquet does not exist: the same command without --no-jobs writes this table";
    fails("lean:0 lean:1", 3, &[advice]);
    fails("out:0 out:7", 2, &["out:7: no such run; out has runs 0 to 1"]);
    dir.replay("--jobs 50 --alloc mbs,gabl -q --no-plots --out other").code(0);
    fails("out other", 2, &["no run in common", "FOLDER:RUN"]);
    fails("out:0 out:1 --measure waits", 2, &["did you mean \"wait\"?"]);
    fails("out:0 out:1 --fail-if-worse wait", 2, &["MEASURE:PERCENT"]);
    fails("out:0 out:1 --fail-if-worse wait:-1", 2, &["MEASURE:PERCENT"]);
    let dir = dir.file("broken/runs.parquet", "no table\n");
    dir.replay("compare broken broken").fails(3, 1, &["cannot read broken/runs.parquet"]);
}
