//! `--shake`: runs on perturbed copies of a trace, and their confidence intervals.

use serde_json::Value;

use super::dir::{Dir, Outcome};

const RUN: &str = "--jobs 200 --alloc mc1x1,hilbert-best-fit,row-major-free-list --tie none --tie 2,13,20,6 --shake 4";

trials!(
    runs_copies_in_addition_to_the_trace,
    computes_means_and_differences_over_copies,
    sweep_equals_run,
    resumes_and_extends_a_sweep_on_copies,
    results_do_not_depend_on_threads,
    search_ranks_by_mean_over_copies,
    search_tests_on_copies_of_the_second_half,
    contend_has_intervals,
    rejects_bad_options,
);

fn number(row: &Value, key: &str) -> f64 {
    row[key].as_f64().unwrap_or_else(|| panic!("{key} of {row}"))
}

/// Returns the rows of a CSV file as maps from column to text.
fn rows(dir: &Dir, file: &str) -> Vec<std::collections::HashMap<String, String>> {
    let text = dir.read(file);
    let rows = csv::Reader::from_reader(&text[..]).into_deserialize().collect::<Result<_, _>>();
    rows.expect("CSV")
}

fn runs_copies_in_addition_to_the_trace() {
    let dir = Dir::with_trace();
    let shaken = dir.replay(&format!("{RUN} --format json")).code(0).objects();
    let plain = RUN.replace(" --shake 4", "");
    let plain = dir.replay(&format!("{plain} --format json")).code(0).objects();
    assert_eq!((plain.len(), shaken.len()), (4, 20));
    for (one, other) in plain.iter().zip(&shaken) {
        for key in ["allocator", "tie", "copy", "mean_pairwise_l1", "mean_wait"] {
            assert_eq!(one[key], other[key], "{key}");
        }
    }
    let differ = |a: &Value, b: &Value| a["mean_pairwise_l1"] != b["mean_pairwise_l1"];
    assert!((4..20).all(|i| shaken[i]["copy"] == (i / 4) as u64));
    assert!((4..20).all(|i| differ(&shaken[i], &shaken[i % 4])), "shaken runs differ");
    // Copies depend on seed and width.
    let other = dir.replay(&format!("{RUN} --shake-seed 1 --format json")).code(0).objects();
    assert!(!differ(&other[0], &shaken[0]) && differ(&other[4], &shaken[4]));
    let wide = dir.replay(&format!("{RUN} --shake-width 60 --format json")).code(0).objects();
    assert!(!differ(&wide[0], &shaken[0]) && differ(&wide[4], &shaken[4]));
}

fn computes_means_and_differences_over_copies() {
    let dir = Dir::with_trace();
    let run = dir.replay(&format!("{RUN} --out out")).code(0);
    run.demand(run.stdout.contains("to the first") && run.stdout.contains(" ± "), "two tables");
    let runs = rows(&dir, "out/runs.csv");
    let value = |run: &std::collections::HashMap<String, String>| -> f64 {
        run["mean_pairwise_l1"].parse().expect("a number")
    };
    let shaken = rows(&dir, "out/shaken.csv");
    let of = |run: usize| {
        let mut rows = shaken.iter().filter(|row| row["run"] == run.to_string());
        rows.find(|row| row["metric"] == "mean_pairwise_l1").expect("a row")
    };
    let close = |text: &str, value: f64| {
        let text: f64 = text.parse().expect("a number");
        assert!((text - value).abs() < 1e-9 * value.abs().max(1.0), "{text} {value}");
    };
    for cell in 0..4 {
        let row = of(cell);
        let copies: Vec<f64> = (1..=4).map(|copy| value(&runs[4 * copy + cell])).collect();
        let first: Vec<f64> = (1..=4).map(|copy| value(&runs[4 * copy])).collect();
        let mean = |values: &[f64]| values.iter().sum::<f64>() / 4.0;
        let half_width = |values: &[f64]| {
            let squares: f64 = values.iter().map(|value| (value - mean(values)).powi(2)).sum();
            // The constant is the quantile of Student's t distribution with three degrees of freedom.
            3.182_446_305_284_263 * (squares / 3.0 / 4.0).sqrt()
        };
        close(&row["unshaken"], value(&runs[cell]));
        close(&row["mean"], mean(&copies));
        close(&row["half_width"], half_width(&copies));
        if cell == 0 {
            assert!(row["compared_with"].is_empty() && row["distinct"].is_empty());
            continue;
        }
        let pairs: Vec<f64> = copies.iter().zip(&first).map(|(own, first)| own - first).collect();
        assert_eq!(row["compared_with"], "0");
        close(&row["paired_difference"], mean(&pairs));
        close(&row["paired_half_width"], half_width(&pairs));
        let apart = if mean(&pairs).abs() > half_width(&pairs) { "yes" } else { "no" };
        assert_eq!(row["distinct"], apart);
    }
    // Metrics of the schedule are equal for all allocators.
    let waits = shaken.iter().filter(|row| row["metric"] == "mean_wait" && row["run"] != "0");
    assert!(waits.clone().count() == 3 && waits.into_iter().all(|row| row["distinct"] == "same"));
    // The table of jobs covers only the unperturbed trace; figures have error bars.
    let files = dir.files("out");
    assert!(files.iter().any(|file| file == "shaken.parquet"), "{files:?}");
    let strategies =
        String::from_utf8(dir.read("out/plots/strategies--lublin-10x10--10x10--fcfs.csv"));
    let strategies = strategies.expect("text");
    assert!(strategies.starts_with("strategy,mean_pairwise_l1,half_width\n"), "{strategies}");
    let by_size = "out/plots/improvement-by-size--lublin-10x10--10x10--fcfs--mc1x1-2-13-20-6.csv";
    let by_size = rows(&dir, by_size);
    assert!(
        by_size.iter().any(|row| row["half_width"].parse::<f64>().is_ok_and(|half| half > 0.0))
    );
}

fn sweep_equals_run() {
    let dir = Dir::with_trace();
    dir.replay(&format!("{RUN} --sched fcfs,easy --out main --no-plots")).code(0);
    dir.replay(&format!("sweep {RUN} --sched fcfs,easy --out sweep")).code(0);
    for table in ["runs.csv", "by_size.csv", "shaken.csv"] {
        let same = dir.read(&format!("main/{table}")) == dir.read(&format!("sweep/{table}"));
        assert!(same, "{table}");
    }
    // The grid file and the options give equal results.
    let grid = dir.replay(&format!("sweep {RUN} --sched fcfs,easy --print-config")).code(0);
    grid.demand(grid.stdout.contains("[shake]\ncopies = 4\nwidth = 1\nseed = 0\n"), "the copies");
    let dir = dir.file("grid.toml", &grid.stdout);
    dir.replay("sweep grid.toml --out file").code(0);
    assert!(dir.read("file/shaken.parquet") == dir.read("sweep/shaken.parquet"));
    dir.replay("sweep grid.toml --out merged --shake 3").code(2).says("--shake");
    let manifest = String::from_utf8(dir.read("main/manifest.json")).expect("text");
    assert!(manifest.contains("\"copies\": 4"), "{manifest}");
}

fn resumes_and_extends_a_sweep_on_copies() {
    let dir = Dir::with_trace();
    let sweep = |copies: u32, out: &str| {
        let grid = RUN.replace("--shake 4", &format!("--shake {copies}"));
        dir.replay(&format!("sweep {grid} --out {out}")).code(0)
    };
    let expect = |run: Outcome, text: &str| drop(run.says(text));
    expect(sweep(2, "a"), "sweep: 12 cells: 0 done before, 12 run");
    expect(sweep(3, "a"), "sweep: 16 cells: 12 done before, 4 run");
    expect(sweep(3, "a"), "sweep: 16 cells: 16 done before, 0 run");
    expect(sweep(3, "b"), "sweep: 16 cells: 0 done before, 16 run");
    // With another seed, the perturbed copies are different. Results of other copies replace existing results only with
    // --force.
    let other = format!("sweep {} --shake-seed 7 --out a", RUN.replace("--shake 4", "--shake 3"));
    dir.replay(&other).code(2).says("the directory contains the results of a sweep");
    let parts = RUN.replace("--shake 4", "--shake 3");
    for part in 1..=2 {
        dir.replay(&format!("sweep {parts} --shard {part}/2 --out part-{part}")).code(0);
    }
    dir.replay("merge part-1 part-2 --out merged").code(0);
    for table in ["runs.parquet", "shaken.parquet", "shaken.csv"] {
        assert!(dir.read(&format!("merged/{table}")) == dir.read(&format!("b/{table}")), "{table}");
    }
}

fn results_do_not_depend_on_threads() {
    let dir = Dir::with_trace();
    for threads in [1, 3] {
        dir.replay(&format!("{RUN} --seed 0,1 --threads {threads} --out {threads}")).code(0);
        let search = "search --jobs 150 --sr 1..2 --factors 0..2 --shake 3";
        dir.replay(&format!("{search} --threads {threads} --out s{threads}")).code(0);
    }
    for (one, other) in [("1", "3"), ("s1", "s3")] {
        let files = dir.files(one);
        assert_eq!(files, dir.files(other));
        for file in files.iter().filter(|file| *file != "manifest.json") {
            let same = dir.read(&format!("{one}/{file}")) == dir.read(&format!("{other}/{file}"));
            assert!(same, "{file}");
        }
    }
}

fn search_ranks_by_mean_over_copies() {
    let dir = Dir::with_trace();
    let search = "search --jobs 200 --sr 1..2 --factors 0..2 --shake 4 --format json --top 50 --tie 2,13,20,6";
    let run =
        dir.replay(search).code(0).says("other vectors are not significantly worse than the best");
    let rows = run.objects();
    let found: Vec<&Value> = rows.iter().filter(|row| row["rank"].is_u64()).collect();
    let better: Vec<f64> = found.iter().map(|row| number(row, "improvement_percent")).collect();
    run.demand(better.len() == 38 && better.is_sorted_by(|a, b| a >= b), "the best first");
    run.demand(found[0]["behind_percent"].is_null(), "the best vector has no distance to the best");
    for row in &found[1..] {
        let (behind, half) = (number(row, "behind_percent"), number(row, "behind_half_width"));
        run.demand(
            (behind - (better[0] - number(row, "improvement_percent"))).abs() < 1e-9,
            "the difference",
        );
        let differs = row["distinct_from_best"].as_str().expect("a word");
        run.demand((differs == "yes") == (behind.abs() > half), "as the interval implies");
    }
    // Runs with the best vector have the improvement that the search reports.
    let tie = found[0]["tie"].as_str().expect("a vector");
    let main = format!("--jobs 200 --alloc mc1x1 --tie none --tie {tie} --shake 4 --format json");
    let main = dir.replay(&main).objects();
    let gain = |copy: usize| {
        let value = |run: usize| number(&main[2 * copy + run], "mean_pairwise_l1");
        100.0 * (value(0) - value(1)) / value(0)
    };
    let mean = (1..=4).map(gain).sum::<f64>() / 4.0;
    run.demand((mean - better[0]).abs() < 1e-9, "the main job's gain");
    // Decisions of an evaluation are counted over all copies.
    run.demand(found.iter().all(|row| row["decisions"] == 800), "decisions of four copies");
}

fn search_tests_on_copies_of_the_second_half() {
    let search = "search --jobs 300 --sr 1..2 --factors 0..1 --shake 3 --split 0.5 --top 2 \
                  --constraint worst-class[jobs=4]<=90 --tie 2,13,20,6 --format json";
    let run = Dir::with_trace().replay(search).code(0);
    let rows = run.objects();
    let tested: Vec<&Value> = rows.iter().filter(|row| row["origin"] != "none").collect();
    run.demand(tested.len() == 3, "two found, one given");
    run.demand(tested.iter().all(|row| row["test_half_width"].is_f64()), "intervals of the test");
    let jobs = tested.iter().filter_map(|row| row["worst_jobs"].as_u64());
    run.demand(jobs.max().is_some_and(|jobs| jobs <= 150), "jobs of one copy");
}

fn contend_has_intervals() {
    let dir = Dir::with_trace();
    let contend = "contend --jobs 60 --scale 0.1 --alloc mc1x1,random -q";
    let run = dir.replay(&format!("{contend} --shake 3 --shake-width 60 --out out")).code(0);
    run.demand(run.stdout.contains("to the first") && run.stdout.contains(" ± "), "intervals");
    let (runs, shaken) = (rows(&dir, "out/contend.csv"), rows(&dir, "out/shaken.csv"));
    assert_eq!(runs.len(), 2 * 4);
    let stretch = |strategy: &str, copy: usize| -> f64 {
        let of = |run: &&std::collections::HashMap<String, String>| {
            run["allocator"] == strategy && run["copy"] == copy.to_string()
        };
        runs.iter().find(of).expect("a run")["mean_stretch"].parse().expect("a number")
    };
    for strategy in ["mc1x1", "random"] {
        let of = |row: &&std::collections::HashMap<String, String>| {
            row["allocator"] == strategy && row["metric"] == "mean_stretch"
        };
        let row = shaken.iter().find(of).expect("a row");
        let number = |name: &str| -> f64 { row[name].parse().expect("a number") };
        let copies = [1, 2, 3].map(|copy| stretch(strategy, copy));
        let mean = copies.iter().sum::<f64>() / 3.0;
        assert!((number("mean") - mean).abs() < 1e-9 && number("copies") == 3.0);
        assert_eq!(number("unshaken"), stretch(strategy, 0));
        let deviation = (copies.iter().map(|one| (one - mean).powi(2)).sum::<f64>() / 2.0).sqrt();
        assert!(deviation > 0.0 && (number("deviation") - deviation).abs() < 1e-9);
    }
    let first = shaken.iter().find(|row| row["metric"] == "mean_stretch").expect("a row");
    assert_eq!(first["paired_difference"], "");
    // Runs on the unperturbed trace are equal with and without copies.
    let plain = dir.replay(&format!("{contend} --out plain")).code(0);
    plain.demand(!plain.stdout.contains(" ± "), "no intervals");
    let plain = rows(&dir, "plain/contend.csv");
    assert!(plain.iter().zip(&runs).all(|(one, other)| one == other), "unshaken runs");
    // More copies do not change the first copies.
    dir.replay(&format!("{contend} --shake 4 --shake-width 60 --out out --force")).code(0);
    assert_eq!(rows(&dir, "out/contend.csv")[..8], runs[..8]);
    dir.replay(&format!("{contend} --shake 1")).fails(2, 1, &["--shake", "2 to 1000"]);
}

fn rejects_bad_options() {
    let dir = Dir::with_trace();
    for (flags, words) in [
        ("--shake 0", "--shake: 0: a confidence interval needs 2 to 1000 perturbed copies"),
        ("--shake 1", "--shake: 1: a confidence interval needs 2 to 1000 perturbed copies"),
        ("--shake 1001", "--shake: 1001: a confidence interval needs"),
        ("--shake 99999999999", "--shake"),
        ("--shake=-3", "--shake"),
        (
            "--shake 5 --shake-width 0",
            "--shake-width: 0: times are perturbed by 1 to 86400 seconds",
        ),
        ("--shake 5 --shake-width 100000", "--shake-width: 100000"),
        ("--shake 5 --shake-seed 18446744073709551615", "--shake-seed"),
        ("--shake-width 2", "--shake"),
        ("--shake-seed 2", "--shake"),
    ] {
        dir.replay(flags).code(2).says(words);
        dir.replay(&format!("search {flags}")).code(2).says(words);
        dir.replay(&format!("sweep {flags} --out out")).code(2).says(words);
        dir.replay(&format!("verify johnson {flags}")).code(2).says(words);
        dir.replay(&format!("contend {flags}")).code(2).says(words);
    }
    dir.replay("verify lo --shake 5").code(2).says("the suite johnson");
    let grid = "[shake]\ncopies = 1\n";
    let dir = dir.file("grid.toml", grid).file("other.toml", "shake = { copies = 3, wide = 2 }\n");
    dir.replay("sweep grid.toml --out out")
        .code(2)
        .says("grid.toml:2:10: shake.copies: 1: a confidence interval");
    dir.replay("sweep other.toml --out out").code(2).says("wide");
}
