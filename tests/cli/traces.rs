//! `replay verify`: published numbers on a real trace, and reports without one.

use std::path::Path;

use libtest_mimic::Trial;
use replay::workload::{Manifest, SearchPath};

use super::dir::{Dir, TINY, ignored, trial};

/// The log for which the paper prints numbers.
const KTH: &str = "KTH-SP2-1996-2";

/// A test that runs the program with the log on its search path.
type RealTest = fn(&Dir);

/// Returns the tests of this file; tests on the real trace are ignored if it is not on the search
/// path.
pub fn trials() -> Vec<Trial> {
    let absent: [(&str, fn()); 7] = [
        ("reports_absent_traces", reports_absent_traces),
        ("verify_in_every_format", verify_in_every_format),
        ("audit_reports_which_verdicts_can_fail", audit_reports_which_verdicts_can_fail),
        ("quiet_verify_prints_no_messages", quiet_verify_prints_no_messages),
        ("rejects_unknown_traces_and_suites", rejects_unknown_traces_and_suites),
        ("reports_numbers_that_differ", reports_numbers_that_differ),
        ("rejects_another_log_of_that_name", rejects_another_log_of_that_name),
    ];
    let real: [(&str, RealTest); 4] = [
        ("reproduces_the_first_example", reproduces_the_first_example),
        ("reproduces_published_numbers_on_kth", reproduces_published_numbers_on_kth),
        ("finds_a_trace_by_several_names", finds_a_trace_by_several_names),
        ("lazy_waits_equal_an_independent_simulation", lazy_waits_equal_an_independent_simulation),
    ];
    let mut trials: Vec<Trial> =
        absent.into_iter().map(|(name, test)| trial(module_path!(), name, test)).collect();
    let manifest = Manifest::embedded().expect("the list of traces");
    let file = SearchPath::from_env().resolve(KTH, &manifest).ok();
    let folder = file.and_then(|file| file.canonicalize().ok()?.parent().map(Path::to_path_buf));
    for (name, test) in real {
        trials.push(match folder.clone() {
            Some(folder) => Trial::test(format!("traces::{name}"), move || {
                test(&Dir::with_program().variable("REPLAY_TRACES", &folder));
                Ok(())
            }),
            None => ignored(module_path!(), name, "trace absent"),
        });
    }
    trials
}

fn reproduces_the_first_example(dir: &Dir) {
    let line = "--trace KTH-SP2.swf --alloc mc1x1 --tie 2,13,20,6";
    let run = dir.replay(line).code(0).prints(" 564.865 ").prints("  28,489  10x10 ");
    run.says("KTH-SP2-1996-2: 28,489 records, 28,489 jobs kept; 0 dropped; 475 changed");
    let run = dir.replay(&format!("{line} --format json")).code(0);
    let mean = run.objects()[0]["mean_pairwise_l1"].as_f64().unwrap_or(f64::NAN);
    run.demand(format!("{mean:.3}") == "564.865", "the paper's mean (Fig. 8)");
}

fn reproduces_published_numbers_on_kth(dir: &Dir) {
    let run = dir.replay("verify johnson --trace KTH-SP2 --format json --out drawn").code(0);
    let verdicts = run.fields(&["workload", "verdict"]);
    let good = |line: &String| ["same", "within"].map(|v| format!("{KTH} {v}")).contains(line);
    run.demand(verdicts.len() > 10 && verdicts.iter().all(good), "each verdict is same or within");
    let run = run.says("0 differ, 0 contradict, 0 not judged, 0 not run");
    let sample = run.fields(&["figure", "bound", "out_of_sample"]);
    let chosen = sample.iter().filter(|row| row.ends_with(" no")).count();
    run.demand(chosen == 4, "the rank, the last shell, and the corner by its mean and improvement");
    run.says(" claims with a bound chosen for replay, 0 implied by printed constants, ")
        .says(" 4 fitted, ");
}

fn finds_a_trace_by_several_names(dir: &Dir) {
    for name in ["KTH-SP2", "kth", "KTH-SP2-1996-2.swf.gz", "kth-sp2-1996-2"] {
        let run =
            dir.replay(&format!("-q --jobs 10 --alloc mc1x1 --format json --trace {name}")).code(0);
        run.demand(run.fields(&["trace"]) == [KTH], name);
    }
}

/// The mean wait over all 28,489 jobs, known from an independent simulation of the rule.
fn lazy_waits_equal_an_independent_simulation(dir: &Dir) {
    let run = dir.replay("-q --trace KTH-SP2 --sched lazy --alloc mc1x1 --format json").code(0);
    let wait = run.objects()[0]["mean_wait"].as_f64().unwrap_or(f64::NAN);
    run.demand(wait.round() == 22_549.0, "22,549 s");
}

fn reports_absent_traces() {
    let run = Dir::with_program().replay("verify johnson").code(0);
    let rows = run.stdout.lines().skip(2);
    run.demand(rows.clone().count() > 50, "a row for each published number");
    run.demand(rows.clone().all(|row| row.contains("not run: trace absent")), "none was run");
    let run = run.prints("replay fetch KTH-SP2");
    run.says("0 same, 0 within, 0 undecided, 0 differ, ").says(" not run\n");
}

fn verify_in_every_format() {
    let dir = Dir::with_program();
    let run = dir.replay("verify johnson --trace LANL-CM5 --format json").code(0);
    let (objects, names) = (run.objects().len(), run.fields(&["workload", "ours"]));
    run.demand(names.iter().all(|name| name == "LANL-CM5-1994-3.1-cln -"), "LANL alone");
    for (format, more) in [("csv", 1), ("md", 2), ("table", 2)] {
        let run = dir.replay(&format!("verify johnson --trace LANL-CM5 --format {format}")).code(0);
        run.demand(run.stdout.lines().count() == objects + more, format);
    }
}

fn audit_reports_which_verdicts_can_fail() {
    let dir = Dir::with_program();
    let run = dir.replay("verify johnson --audit --format json").code(0);
    run.demand(
        run.fields(&["suite", "judged"]) == ["johnson 0"],
        "nothing is judged without a log",
    );
    let absent = run.fields(&["absent"]);
    run.demand(absent == ["192"], "absent rows are counted");
    run.says("johnson: nothing was audited: the logs of 192 rows are absent");
    dir.replay("verify johnson --audit --complete").code(1);
    dir.replay("verify johnson --audit").code(0).prints("unnoticed");
    dir.replay("verify johnson --audit --full").refused(&["--audit", "--full"]);
    dir.replay("verify johnson --full").fails(2, 1, &["--full has no effect", "list suites"]);
    dir.replay("list suites").prints("--full: 50,500 jobs per replication");
}

fn quiet_verify_prints_no_messages() {
    Dir::with_program().replay("verify --trace LANL-CM5 --quiet").code(0).says_nothing();
}

fn rejects_unknown_traces_and_suites() {
    let dir = Dir::with_program();
    dir.replay("verify --trace quarks").fails(
        2,
        1,
        &["--trace: no published number belongs to these traces"],
    );
    dir.replay("verify johnson quarks").fails(
        2,
        1,
        &["unknown suite \"quarks\"", "replay list suites"],
    );
    dir.replay("verify tsafrir").fails(
        2,
        1,
        &["unknown suite \"tsafrir\"; this suite was removed", "--shake N"],
    );
    for name in ["gabl", "first-fit", "busy-list"] {
        let words = ["unknown parameter \"engine\"; this parameter was removed", "omit engine="];
        dir.replay(&format!("--alloc {name}[engine=literal]")).fails(2, 1, &words);
    }
}

fn reports_numbers_that_differ() {
    // A log with the expected name and number of jobs, but other jobs.
    let dir = Dir::with_program().file("traces/README", "");
    let made = format!("synth --jobs 28489 --load 0.7 --write traces/{KTH}.swf");
    dir.replay(&made).code(0);
    let run = dir.replay("verify johnson --trace KTH-SP2 --format json").code(1);
    let verdicts = run.fields(&["verdict"]);
    run.demand(verdicts.iter().any(|verdict| verdict == "differs"), "a number that differs");
    run.demand(verdicts.iter().all(|verdict| !verdict.starts_with("not run")), "all were run");
    let run = run.says(" differ, 1 contradict, 0 not judged, 0 not run\n");
    run.says("differs, which is not declared");
}

fn rejects_another_log_of_that_name() {
    let dir = Dir::with_program().file(&format!("traces/{KTH}.swf"), TINY);
    // If the number of jobs differs, nothing else is compared.
    let run = dir.replay("verify johnson --trace KTH-SP2").code(1);
    let run = run.prints("not run: KTH-SP2-1996-2 has 2 jobs, but the paper's log has 28489");
    run.says("0 same, 0 within, 0 undecided, 1 differ, 0 contradict");
    let dir = dir.file(&format!("traces/{KTH}.swf"), "1 0 0 5 x\n");
    let failed = dir.replay("verify johnson --trace KTH-SP2 -q");
    failed.fails(3, 3, &["KTH-SP2-1996-2.swf:1:9: "]);
}
