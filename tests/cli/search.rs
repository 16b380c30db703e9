//! `replay search`: results, messages and output files.

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::time::Duration;

use super::dir::{Dir, Outcome};

/// A small grid on a short trace.
const SMALL: &str = "search --jobs 200 --sr 1..2 --factors 0..2";

trials!(
    prints_the_best_vector_first,
    every_strategy_finds_vectors,
    results_do_not_depend_on_threads_or_repetition,
    formats_print_equal_values,
    searches_slacks,
    ranks_feasible_vectors_first,
    prints_given_vectors,
    tests_vectors_on_the_second_half,
    searches_each_trace_or_all_jointly,
    writes_result_files,
    time_limit_ends_a_search,
    reports_why_a_search_ended,
    counts_the_evaluations_of_a_start,
    writes_results_of_an_interrupted_search,
    full_disk_keeps_earlier_results,
    warns_if_no_vector_is_feasible,
    rejects_bad_options,
);

fn prints_the_best_vector_first() {
    let dir = Dir::with_trace();
    let run = dir.replay(&format!("{SMALL} --format json --top 50")).code(0);
    let better: Vec<f64> = run
        .objects()
        .iter()
        .skip(1)
        .map(|row| row["improvement_percent"].as_f64().expect("a number"))
        .collect();
    run.demand(better.len() == 38, "each ratio once");
    run.demand(better.is_sorted_by(|a, b| a >= b), "the best first");
    run.demand(
        run.stderr.contains("38 evaluations") && run.stderr.contains("16 of equal ratio"),
        "numbers of evaluations and of skipped vectors",
    );
    let run = run.says("ranks first, ");
    // A run with the best vector has the value of the search.
    let tie = run.objects()[1]["tie"].as_str().expect("a vector").to_string();
    let main = dir.replay(&format!("--jobs 200 --alloc mc1x1 --tie {tie} --format json"));
    let value = main.objects()[0]["mean_pairwise_l1"].clone();
    run.demand(run.objects()[1]["value"] == value, "the main job's value");
}

fn every_strategy_finds_vectors() {
    for strategy in ["random", "local --start 2,1,1,1 --start random"] {
        let search = format!("-q --jobs 100 --strategy {strategy} --evaluations 60 --top 3");
        let run = Dir::with_trace().replay(&format!("search {search} --format json")).code(0);
        run.demand(run.objects().len() == 4, "no vector, and three vectors");
        run.demand(run.stderr.is_empty(), "quiet");
    }
}

fn results_do_not_depend_on_threads_or_repetition() {
    let dir = Dir::with_trace();
    for (i, strategy) in [
        "exhaustive --factors 0..3 --spare 3",
        "local --start exhaustive --factors 0..3 --evaluations 247",
        "random --evaluations 60",
    ]
    .iter()
    .enumerate()
    {
        let search = format!("search -q --jobs 150 --sr 1..3 --strategy {strategy} --tie 2,3,1,1");
        let one = dir.replay(&format!("{search} --threads 1 --out a{i}")).code(0);
        let two = dir.replay(&format!("{search} --threads 2 --out b{i}")).code(0);
        one.demand(one.stdout == two.stdout, "equal tables");
        let files = dir.files(&format!("a{i}"));
        assert_eq!(files, dir.files(&format!("b{i}")));
        assert!(files.iter().any(|file| file == "search.parquet"), "{files:?}");
        for file in files.iter().filter(|file| *file != "manifest.json") {
            let same = dir.read(&format!("a{i}/{file}")) == dir.read(&format!("b{i}/{file}"));
            assert!(same, "{strategy}: {file}");
        }
    }
}

fn formats_print_equal_values() {
    let dir = Dir::with_trace();
    let value = dir.replay(&format!("{SMALL} --format json")).objects()[1]["value"].to_string();
    let csv = dir.replay(&format!("{SMALL} --format csv")).code(0).prints(&value);
    csv.demand(csv.stdout.starts_with("searched,rank,origin,tie,sr,af,wf,bf,"), "a header");
    let short = &value[..5];
    dir.replay(SMALL).code(0).prints(short).prints("AF : WF : BF").prints("better %");
    dir.replay(&format!("{SMALL} --format md")).code(0).prints("| rank |").prints(short);
}

fn searches_slacks() {
    let dir = Dir::with_trace();
    let search = format!("{SMALL} --slack 0..0.2:0.1 --tie 2,1,1,1@0.3 --format json --top 500");
    let run = dir.replay(&search).code(0);
    let rows = run.objects();
    run.demand(rows.len() == 1 + 3 * 38 + 1, "each ratio with each slack, and the given vector");
    // A run with this vector and slack has the value of the search.
    for row in [&rows[1], &rows[60]] {
        let (tie, slack) = (row["tie"].as_str().expect("a vector"), &row["slack"]);
        let main = format!("--jobs 200 --alloc mc1x1[tie={tie},slack={slack}] --format json");
        let value = dir.replay(&main).objects()[0]["mean_pairwise_l1"].clone();
        run.demand(row["value"] == value, "the main job's value");
    }
}

fn ranks_feasible_vectors_first() {
    let search = "search --jobs 500 --sr 1..4 --factors 0..3 --format json --top 400";
    let run =
        Dir::with_trace().replay(&format!("{search} --constraint worst-class[jobs=10]<=1")).code(0);
    let rows = run.objects();
    let feasible = |row: &serde_json::Value| row["feasible"] == "yes";
    run.demand(feasible(&rows[1]), "a feasible vector comes first");
    let no = rows.iter().skip(1).position(|row| !feasible(row)).expect("an infeasible vector");
    run.demand(
        rows[1 + no..].iter().all(|row| !feasible(row)),
        "feasible vectors before infeasible ones",
    );
    run.demand(
        rows[1 + no]["excess_percent"].as_f64().is_some_and(|excess| excess > 0.0),
        "the excess is printed",
    );
}

fn prints_given_vectors() {
    let search = format!("{SMALL} --top 1 --tie 2,13,20,6 --tie 2,2,2,2 --format json");
    let run = Dir::with_trace().replay(&search).code(0);
    // A given vector that the search also finds is listed as found.
    let expected = ["none - -", "found 1 2,2,1,2", "found 5 2,1,1,1", "given - 2,13,20,6"];
    run.demand(
        run.fields(&["origin", "rank", "tie"]) == expected,
        "no vector, the best, the given vector",
    );
}

fn tests_vectors_on_the_second_half() {
    let run = Dir::with_trace().replay(&format!("{SMALL} --split 0.5 --top 2")).code(0);
    let run =
        run.prints("test %").prints("lublin-10x10[before 0.5]").prints("lublin-10x10[after 0.5]");
    run.demand(run.stdout.lines().count() == 5 + 1 + 4, "two tables");
}

fn searches_each_trace_or_all_jointly() {
    let dir = Dir::with_trace();
    dir.replay("synth --jobs 200 --processors 64 --seed 5 --write other.swf").code(0);
    let search = format!("{SMALL} --each --trace lublin,other.swf --top 1 --out out");
    dir.replay(&search).code(0).prints("searched").prints("found on");
    let matrix = String::from_utf8(dir.read("out/portability.csv")).expect("text");
    assert_eq!(matrix.lines().count(), 5, "{matrix}");
    for figure in [
        "portability--lublin-10x10-other--mean_pairwise_l1",
        "convergence--lublin-10x10-other--mean_pairwise_l1",
        "surface--other",
        "surface--lublin-10x10",
    ] {
        dir.read(&format!("out/plots/{figure}.png"));
    }
    // Search on two traces jointly, and test on another trace.
    let joint =
        format!("{SMALL} --train lublin --train other.swf --test lublin --format json --top 1");
    let run = dir.replay(&joint).code(0);
    run.demand(run.fields(&["searched"])[1].contains('+'), "both traces together");
    run.demand(run.objects()[1]["test_improvement_percent"].is_number(), "the result of the test");
}

fn writes_result_files() {
    let dir = Dir::with_trace();
    dir.replay(&format!("{SMALL} --spare 2 --top 2 --out out")).code(0);
    let spared = String::from_utf8(dir.read("out/spared.csv")).expect("text");
    for reason in ["equal-ratio,16,", "stopped,0,", "repeated,0,"] {
        assert!(spared.contains(reason), "{spared}");
    }
    let rows = String::from_utf8(dir.read("out/search.csv")).expect("text");
    assert_eq!(rows.lines().count(), 40);
    let manifest: serde_json::Value =
        serde_json::from_slice(&dir.read("out/manifest.json")).expect("JSON");
    assert_eq!(manifest["search"]["strategy"], "exhaustive");
    assert_eq!(manifest["search"]["spare"], 2);
    let listed = manifest["files"].as_array().expect("files").len();
    assert_eq!(listed + 1, dir.files("out").len());
    // A later search removes the files of an earlier search.
    dir.replay(&format!("{SMALL} --no-plots --out out --force")).code(0);
    assert_eq!(
        dir.files("out"),
        ["manifest.json", "search.csv", "search.parquet", "spared.csv", "spared.parquet"]
    );
}

fn time_limit_ends_a_search() {
    let run = Dir::with_trace()
        .replay("search --jobs 100 --strategy random --evaluations 999999999 --time 1s");
    run.code(0).says("--time is up").prints("AF : WF : BF");
    // The time is divided among the traces, and given vectors are evaluated in any case.
    let dir = Dir::with_trace();
    dir.replay("synth --jobs 200 --processors 64 --seed 5 --write other.swf").code(0);
    let search = "search --each --trace lublin,other.swf --jobs 100 --strategy local \
                  --start 2,1,1,1 --time 2s --tie 1,5,3,1 --format json --top 1";
    let run = dir.replay(search).code(0);
    run.demand(!run.stderr.contains(": 0 evaluations"), "both are searched");
    let origins = run.fields(&["origin"]);
    run.demand(
        origins.iter().filter(|one| one.contains("given")).count() == 2,
        "the given vector on both traces",
    );
}

fn writes_results_of_an_interrupted_search() {
    let dir = Dir::with_trace();
    let mut child = dir
        .start("search --jobs 200 --strategy random --evaluations 999999999 --no-plots --out out");
    // Standard error closes when the program ends. The machine is printed before the search begins.
    let mut messages = BufReader::new(child.stderr.take().expect("a pipe")).lines();
    let begun = messages.any(|line| line.expect("a line").contains("machine 10x10"));
    assert!(begun, "the search begins");
    // Wait until some vectors are in the journal; the required time depends on the load of the machine.
    let journal = dir.path("out/journal.txt");
    let kept = || std::fs::read_to_string(&journal).map_or(0, |text| text.lines().count());
    let patience = std::time::Instant::now() + Duration::from_secs(120);
    while kept() < 5 {
        assert!(std::time::Instant::now() < patience, "the journal does not grow");
        std::thread::sleep(Duration::from_millis(20));
    }
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    assert!(messages.any(|line| line.expect("a line").contains("finished results are written")));
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    let rows = String::from_utf8(dir.read("out/search.csv")).expect("text");
    assert!(rows.lines().count() > 2, "{rows}");
    dir.read("out/manifest.json");
}

/// `--evaluations` includes the evaluations of the start. Before the search, a message states how many evaluations follow.
fn counts_the_evaluations_of_a_start() {
    let dir = Dir::with_trace();
    let search = |rest: &str| {
        dir.replay(&format!(
            "search --jobs 60 --strategy local --no-plots --out out --force {rest}"
        ))
        .code(0)
    };
    for (rest, announced, done) in [
        ("--evaluations 6", "up to 6 evaluations: 1 for --start, 5 near the best vector", 6),
        ("--evaluations 1", "up to 1 evaluation: 1 for --start, 0 near the best vector", 1),
        (
            "--evaluations 9 --start 2,1,1,1 --start 3,1,2,1",
            "up to 9 evaluations: 2 for --start, 7 near the best vector",
            9,
        ),
        (
            "--evaluations 6 --start exhaustive --sr 1..2 --factors 0..2",
            "up to 6 evaluations: 6 for --start, 0 near the best vector",
            6,
        ),
    ] {
        let run = search(rest).says(&format!("lublin-10x10: {announced}"));
        run.says(&format!("the search ended: --evaluations {} is reached", done));
        let rows = String::from_utf8(dir.read("out/manifest.json")).expect("text");
        let manifest: serde_json::Value = serde_json::from_str(&rows).expect("JSON");
        assert_eq!(manifest["ended"][0]["evaluations"], done, "{manifest}");
    }
    let given = search("--evaluations 40 --start 2,1,1,1");
    let usual = search("--evaluations 40");
    assert_eq!(given.stdout, usual.stdout);
    let grid = "search --jobs 60 --sr 1..2 --factors 0..2";
    dir.replay(grid).code(0).says("lublin-10x10: up to 38 evaluations\n");
    dir.replay(&format!("{grid} -q")).code(0).says_nothing();
}

/// If the default limit on evaluations is reached before the time limit, the message names the default limit. The
/// manifest of a quiet search contains the reason why the search ended.
fn reports_why_a_search_ended() {
    let dir = Dir::with_trace();
    let search = "search --jobs 40 --strategy random --time 10m --no-plots";
    let words = "the strategy's default of 500 evaluations is reached, before --time is up";
    let run = dir.replay(&format!("{search} --out out")).code(0);
    run.says(&format!("the search ended: {words}"));
    let few = "search --jobs 40 --strategy random --sr 1..1 --largest 1";
    dir.replay(few).code(0).says("the search ended: the strategy has no more vectors");
    let ended = |out: &str| {
        let manifest = dir.read(&format!("{out}/manifest.json"));
        let manifest: serde_json::Value = serde_json::from_slice(&manifest).expect("JSON");
        manifest["ended"][0].clone()
    };
    dir.replay(&format!("{search} -q --out quiet")).code(0).says_nothing();
    let reason = ended("quiet");
    assert!(reason["why"].as_str().expect("a reason").contains(words), "{reason}");
    assert_eq!(reason, ended("out"));
    let few = "search --jobs 40 --strategy random --evaluations 20 --no-plots";
    dir.replay(&format!("{few} --out few")).code(0).says("--evaluations 20 is reached");
    dir.replay(&format!("{SMALL} -q --no-plots --out grid")).code(0);
    assert_eq!(ended("grid")["why"], "the strategy has no more vectors");
    assert_eq!(ended("grid")["evaluations"], 38);
}

fn full_disk_keeps_earlier_results() {
    // A limit on file size stands for a full disk.
    if !cfg!(target_os = "linux") {
        return;
    }
    let dir = Dir::with_trace();
    dir.replay(&format!("{SMALL} --out out -q")).code(0);
    let earlier: Vec<_> =
        dir.files("out").into_iter().map(|file| dir.read(&format!("out/{file}"))).collect();
    let program = env!("CARGO_BIN_EXE_replay");
    let line = format!("ulimit -f 3; exec {program} {SMALL} --top 3 --out out -q");
    let output = Command::new("bash").args(["-c", &line]).current_dir(dir.path("")).output();
    let failed = Outcome::new(&line, output.expect("bash"));
    // The new results are printed even though they cannot be written.
    failed.code(4).says("File too large").prints("AF : WF : BF");
    std::fs::remove_dir_all(dir.path("out/unfinished.part")).expect("the unfinished results");
    // The journal is kept, so that the command can resume.
    let files = dir.files("out").into_iter();
    let files = files.filter(|file| !["journal.txt", "plan.json"].contains(&file.as_str()));
    let kept: Vec<_> = files.map(|file| dir.read(&format!("out/{file}"))).collect();
    assert!(kept == earlier, "the earlier results are unchanged");
}

fn warns_if_no_vector_is_feasible() {
    let dir = Dir::with_trace();
    let run = dir.replay(&format!("{SMALL} --constraint worst-class<=-99")).code(0);
    run.says("no vector satisfies the constraints").prints("over limit %");
}

fn rejects_bad_options() {
    let dir = Dir::with_trace().file("one.swf", "; MaxProcs: 4\n1 0 0 5 1\n");
    for (arguments, words) in [
        ("--objective mean_wait", "schedule alone"),
        ("--objective mean_pairwise", "did you mean \"mean_pairwise_l1\""),
        ("--constraint worst-class", "write SUBJECT<=PERCENT"),
        ("--alloc hilbert-best-fit", "has no tie vector"),
        ("--alloc curve", "allocator \"curve\" has no tie vector"),
        ("--alloc mc1x1[tie=1,1,1,1]", "its tie vector is already set"),
        ("--alloc mc1x1,mm", "one allocator"),
        ("--sched fcfs,easy", "one scheduler"),
        ("--sr 0..3", "0 breaks no tie"),
        ("--factors 0..0", "--factors: all factors are 0"),
        ("--af -1..1", "--af: \"-1\": not an integer in range; a search takes whole numbers"),
        ("--strategy random --bf 1", "--bf: this search has no grid"),
        // Options that have no effect are rejected.
        ("--strategy random --factors 0..1", "--factors: this search has no grid"),
        ("--strategy local --start 2,1,1,1 --factors 0..1", "no grid"),
        ("--largest 7", "--largest: this search evaluates only a grid"),
        ("--each --jobs 20 -q", "--each: needs several traces"),
        ("--scale-sr --jobs 20 -q", "--scale-sr: needs another trace"),
        ("--split 1", "between 0 and 1"),
        ("--strategy external", "--ask-command"),
        ("--ask-command true", "for --strategy external"),
        ("--start random", "--start is for --strategy local"),
        ("--strategy local --start 2,-1,1,1", "not negative"),
        ("--strategy local --start somewhere", "there are exhaustive, random"),
        ("--tie 1,2,3", "not four integers"),
        ("--tie 1,2,3,4@2", "from 0 to 1"),
        ("--slack 0.5..1.5:0.5", "from 0 to 1"),
        ("--slack 0..0.5", "needs a step"),
        ("--slack 0.1 --alloc mc1x1[slack=0.2]", "slack has no effect"),
        ("--slack 0..0.9:0.000001 --sr 1..500", "more than 100,000,000"),
        ("--sr 1..1024 --factors 0..262143", "more than 100,000,000"),
        ("--seed 1,2", "--seed: a search takes one seed"),
        ("--constraint worst-class[jobs=1000000]<=1 -q", "no trace has a matching job size"),
    ] {
        dir.replay(&format!("search {arguments}")).fails(2, 1, &[words]);
    }
    let one = "search -q --trace one.swf --format json";
    dir.replay(&format!("{one} --split 0.5")).fails(2, 1, &["0 jobs before and 1 jobs after"]);
    dir.replay(one).fails(2, 1, &["nothing to improve"]);
    dir.replay("search --sr 9..1").fails(2, 1, &["--sr: \"9..1\"", "the range is empty"]);
    dir.replay("search --plots").refused(&["--out <DIR>"]);
    // Options of the main job that a search does not support.
    dir.replay("search --ties").refused(&["--ties"]);
    dir.replay("search --no-jobs").refused(&["--no-jobs"]);
    dir.replay("search --time soon").refused(&["10m"]);
}
