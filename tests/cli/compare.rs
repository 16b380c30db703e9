//! `replay compare`: runs of the same jobs, job by job.

use super::dir::Dir;

trials!(
    strategies_are_compared_job_by_job,
    folders_are_compared_run_by_run,
    what_cannot_be_compared_is_told,
);

fn strategies_are_compared_job_by_job() {
    let dir = Dir::new();
    dir.replay("--jobs 600 --alloc mc1x1,random -q --no-plots --out out").code(0);
    let compare = |rest: &str| dir.replay(&format!("compare out:0 out:1 {rest}"));
    let all = compare("--format json").code(0).says_nothing();
    let fields = ["compared_measure", "pairs", "change_verdict"];
    assert_eq!(
        all.fields(&fields),
        [
            "wait 600 same",
            "turnaround 600 same",
            "bounded_slowdown 600 same",
            "pairwise_l1 600 worse",
            "distance 600 worse",
        ]
    );
    // The mean is that of the run.
    let runs = dir.replay("--jobs 600 --alloc mc1x1,random -q --format json").code(0);
    let means = all.fields(&["base_mean", "compared_mean"]);
    let expected = runs.fields(&["mean_pairwise_l1"]);
    assert_eq!(means[3], expected.join(" "));
    // Less is better, whoever is the base.
    let back = dir.replay("compare out:1 out:0 --measure pairwise_l1 --format json").code(0);
    assert_eq!(back.fields(&["change_verdict"]), ["better"]);
    let classes = compare("--measure wait,distance --by-size").code(0);
    classes.prints("3 to 4").prints("all");
    // For a pipeline: worse by more than so much.
    let failed = compare("--measure wait --fail-if-worse distance:5").code(1);
    failed.says("distance is worse by ").says("at most 5 % is allowed");
    compare("--fail-if-worse distance:500 --fail-if-worse wait:0").code(0).says_nothing();
    // Same inputs, same bytes.
    assert_eq!(compare("--seed 3").stdout, compare("--seed 3").stdout);
}

fn folders_are_compared_run_by_run() {
    let dir = Dir::new();
    let run = |jobs: u32, alloc: &str, out: &str| {
        dir.replay(&format!("--jobs {jobs} --alloc {alloc} -q --no-plots --out {out}")).code(0)
    };
    run(300, "mc1x1,mbs", "before");
    run(250, "mbs,mc1x1,random", "after");
    let compared = dir.replay("compare before after --measure wait --format json").code(0);
    let compared = compared.says("50 jobs that only one of them has");
    let compared = compared.says("1 runs that only one folder has");
    let pairs = compared.fields(&["base", "compared_run", "pairs", "change_verdict"]);
    assert_eq!(pairs.len(), 2);
    assert!(pairs[0].contains("before lublin-10x10 10x10 fcfs mbs") && pairs[0].contains("250"));
    run(300, "mbs", "one");
    let one = dir.replay("compare before:0 one --measure distance").code(0);
    one.prints("distance");
}

fn what_cannot_be_compared_is_told() {
    let dir = Dir::new();
    dir.replay("--jobs 50 --alloc mc1x1,random -q --no-plots --out out").code(0);
    dir.replay("--jobs 50 --alloc mbs,gabl -q --no-plots --no-jobs --out lean").code(0);
    let fails = |rest: &str, code: i32, words: &[&str]| {
        dir.replay(&format!("compare {rest}")).fails(code, 1, words);
    };
    fails("out nowhere", 3, &["cannot read nowhere/runs.parquet"]);
    fails("lean:0 lean:1", 3, &["cannot read lean/jobs.parquet"]);
    fails("out:0 out:7", 2, &["out:7: out has runs 0 to 1"]);
    fails("out lean", 2, &["no run in common", "FOLDER:RUN"]);
    fails("out:0 out:1 --measure waits", 2, &["did you mean \"wait\"?"]);
    fails("out:0 out:1 --fail-if-worse wait", 2, &["MEASURE:PERCENT"]);
    fails("out:0 out:1 --fail-if-worse wait:-1", 2, &["MEASURE:PERCENT"]);
    let dir = dir.file("broken/runs.parquet", "no table\n");
    dir.replay("compare broken broken").fails(3, 1, &["cannot read broken/runs.parquet"]);
}
