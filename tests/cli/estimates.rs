//! `--estimates`: the estimates that schedulers use.

use super::dir::Dir;

trials!(estimates_order_and_plan, files_of_estimates_have_messages, plans_of_a_site_use_estimates);

/// Four processors. Job 1 holds two of them; job 2 needs all; job 3 fits beside job 1 only if its estimate is short. Of the
/// user 1, two jobs have ended before job 3.
const TRACE: &str = "; MaxProcs: 4
1 0 0 5 1 -1 -1 1 9000 -1 1 1 1 -1 -1 -1 -1 -1
2 0 0 10 1 -1 -1 1 9000 -1 1 1 1 -1 -1 -1 -1 -1
3 20 0 100 2 -1 -1 2 100 -1 1 2 1 -1 -1 -1 -1 -1
4 21 99 50 4 -1 -1 4 50 -1 1 2 1 -1 -1 -1 -1 -1
5 22 0 40 2 -1 -1 2 9000 -1 1 1 1 -1 -1 -1 -1 -1
";

/// Returns the start of job 5: the mean wait is that of jobs 4 and 5, of which job 4 waits 99 s.
fn start(options: &str, file: &str) -> i64 {
    let dir = Dir::new().file("t.swf", TRACE).file("e.csv", file);
    let command = format!(
        "--trace t.swf --machine 4x1 --sched easy --alloc hilbert-best-fit -q --format json {options}"
    );
    let out = dir.replay(&command).code(0);
    let json: serde_json::Value = serde_json::from_str(&out.stdout).expect("JSON");
    let mean = json["mean_wait"].as_f64().expect("a mean");
    (5.0 * mean).round() as i64 - 99 + 22
}

fn estimates_order_and_plan() {
    assert_eq!(start("", ""), 170);
    assert_eq!(start("--estimates field9", ""), 170);
    assert_eq!(start("--estimates perfect", ""), 22);
    assert_eq!(start("--estimates factor=1", ""), 22);
    // With a factor, job 1 is expected to end later as well.
    assert_eq!(start("--estimates factor=2.5", ""), 22);
    assert_eq!(start("--estimates last2", ""), 22);
    assert_eq!(start("--estimates file=e.csv", "job,seconds\n5,98\n"), 22);
    assert_eq!(start("--estimates file=e.csv", "job,seconds\n5,99\n"), 170);
    let dir = Dir::new().file("t.swf", TRACE);
    let run = dir.replay(
        "--trace t.swf --machine 4x1 --sched easy --alloc hilbert-best-fit --estimates last2",
    );
    run.code(0)
        .says("t, estimates=last2: run time / estimate: mean")
        .says("3 corrections; 4 jobs with the estimate of field 9");
}

fn files_of_estimates_have_messages() {
    for (text, problem) in [
        ("job,seconds\n1,0\n", "e.csv:2: seconds: \"0\" is not a whole number above 0"),
        ("job,seconds\n1,-5\n", "e.csv:2: seconds: \"-5\" is not a whole number above 0"),
        ("job,seconds\n1,5\n2,5\n1,6\n", "e.csv:4: job 1 is given twice; the first time on line 2"),
        ("job,seconds\nx,5\n", "e.csv:2: job: \"x\" is not a whole number"),
        ("1,5\n", "e.csv:1: the header is not job,seconds"),
    ] {
        let dir = Dir::new().file("t.swf", TRACE).file("e.csv", text);
        dir.replay("--trace t.swf --estimates file=e.csv -q").fails(3, 1, &[problem]);
    }
    let dir = || Dir::new().file("t.swf", TRACE);
    dir().replay("--trace t.swf --estimates file=absent -q").fails(
        2,
        1,
        &["--estimates: cannot read absent"],
    );
    for bad in ["best", "factor=0", "factor=x", "file="] {
        let command = format!("--trace t.swf --estimates {bad} -q");
        dir().replay(&command).fails(2, 1, &["is not a source of estimates"]);
    }
    let grid = "traces = ['t.swf']\nmachines = ['4x1']\nestimates = 'best'\n";
    dir().file("g.toml", grid).replay("sweep g.toml --out o").fails(
        2,
        3,
        &["estimates", "is not a source"],
    );
}

fn plans_of_a_site_use_estimates() {
    let run = |options: &str| {
        let dir = Dir::new().file("t.swf", TRACE);
        let command =
            format!("--trace t.swf --machine 4x1 --sched slurm --format json -q {options}");
        let out = dir.replay(&command).code(0);
        let json: serde_json::Value = serde_json::from_str(&out.stdout).expect("JSON");
        json["runs"][0]["jobs"][4]["start"].as_i64().expect("a start")
    };
    // Job 5 is started by the first backfill only if it ends before job 4 is planned.
    assert_eq!((run(""), run("--estimates perfect")), (170, 30));
}
