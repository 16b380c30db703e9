//! Invalid names, tie vectors, windows and numbers: exit code 2 and a hint.

use super::dir::{Dir, TINY};

trials!(
    suggests_similar_names,
    rejects_parameters_without_effect,
    checks_names_before_traces,
    suggests_similar_parameters,
    malformed_names,
    malformed_tie_vectors,
    tie_values_out_of_range,
    rejects_ties_for_strategies_without_ties,
    rejects_zero_threads,
    bad_windows,
    windows_select_jobs,
    windows_by_date_need_a_start_time,
    rejects_unknown_values_and_options,
);

fn suggests_similar_names() {
    let dir = Dir::with_trace();
    for (arguments, unknown, near) in [
        ("--alloc mc1x2", "\"mc1x2\"", "did you mean \"mc1x1\"?"),
        ("--alloc mm,hilbert-bestfit", "\"hilbert-bestfit\"", "did you mean \"hilbert-best-fit\"?"),
        ("--sched esay", "\"esay\"", "did you mean \"easy\"?"),
        ("--policy jonson", "\"jonson\"", "did you mean \"johnson\"?"),
        ("verify jonson", "\"jonson\"", "did you mean \"johnson\"?"),
        ("--sched eas", "\"eas\"", "did you mean \"easy\"?"),
        ("--machine tours:8x8", "\"tours\"", "did you mean \"torus\"?"),
        ("stream --pattern all-to-all --preset loo", "\"loo\"", "did you mean \"lo\"?"),
        ("search --constraint wrost-class<=1", "\"wrost-class\"", "did you mean \"worst-class\"?"),
        ("search --strategy local --start randm", "\"randm\"", "did you mean \"random\"?"),
    ] {
        dir.replay(arguments).fails(2, 1, &[unknown, near]);
    }
    dir.replay("--alloc quarks").fails(2, 1, &["allocator \"quarks\"", "replay list allocators"]);
    dir.replay("--sched quarks").fails(
        2,
        1,
        &["scheduler \"quarks\": unknown", "fcfs, priority, easy"],
    );
    dir.replay("list polices").refused(&["'polices'", "'policies'"]);
    dir.replay("verfy").refused(&["'verfy'", "'verify'"]);
}

/// A parameter without effect is probably a mistake and therefore an error.
fn rejects_parameters_without_effect() {
    let dir = Dir::with_trace();
    for (arguments, key) in [
        ("--alloc mc1x1[shadows=3]", "shadows"),
        ("--alloc mc1x1[shadows=3] --tie none,2,13,20,6", "shadows"),
        ("--alloc gen-alg[slack=0.1]", "slack"),
        ("stream --machine 8x8 --alloc mbs,mc1x1[every=99]", "every"),
        ("contend --alloc mc1x1[memory=99] --pattern fft", "memory"),
    ] {
        let words = format!("{key} has no effect");
        dir.replay(&arguments.replace("none,2", "none --tie 2")).fails(2, 1, &[&words]);
    }
    // The parameter has an effect with one of the two tie rules, so there is no error.
    dir.replay("--jobs 9 --alloc mc1x1[shadows=3] --tie none --tie auto -q").code(0);
    let ties = "--ties: none of these allocators";
    dir.replay("-q --jobs 9 --alloc random,hilbert-best-fit --ties").fails(2, 1, &[ties]);
    dir.replay("-q --jobs 9 --alloc random,mm --ties").code(0);
}

fn checks_names_before_traces() {
    let dir = Dir::new();
    for arguments in ["--alloc mc1x2", "--sched esay", "--policy jonson", "--tie x", "--machine 10"]
    {
        let failed = dir.replay(&format!("--trace nothing {arguments}")).code(2);
        failed.demand(!failed.stderr.contains("no trace"), "the name is reported, not the trace");
    }
}

fn suggests_similar_parameters() {
    let dir = Dir::with_trace();
    let near = ["unknown parameter \"tei\"", "did you mean \"tie\"?"];
    dir.replay("--alloc mc1x1[tei=1,2,3,4]").fails(2, 1, &near);
    let known = ["unknown parameter \"zzzzzz\"", "known are order, guard"];
    dir.replay("--sched easy[zzzzzz=1]").fails(2, 1, &known);
    dir.replay("--alloc random[quark=1]").fails(
        2,
        1,
        &["unknown parameter", "this name has no parameters"],
    );
    dir.replay("--alloc mc1x1[order=diagonal]").fails(2, 1, &["order=\"diagonal\"", "scan"]);
}

fn malformed_names() {
    let dir = Dir::with_trace();
    for (name, problem) in [
        ("mc1x1[tie=1,2,3,4", "the bracket is not closed"),
        ("mc1x1[tie=1,2,3,4]]", "has no valid value"),
        ("mc1x1[1,2,3,4]", "key=value"),
        ("mc1x1[tie=1,1,1,1,tie=2,2,2,2]", "given twice"),
        ("mc1x1,,mm", "the name is empty (stray comma?)"),
    ] {
        dir.replay(&format!("--alloc {name}")).fails(2, 1, &["allocator \"", problem]);
    }
    let words = ["scheduler \"easy[order=largest\"", "the bracket is not closed"];
    dir.replay("--sched easy[order=largest").fails(2, 1, &words);
}

fn malformed_tie_vectors() {
    let dir = Dir::with_trace();
    for vector in ["1,2,3", "1,2,3,4,5,6", "x", "1.5,2,3,4", "99999999999999999999,1,1,1", "None"] {
        let words = [&format!("tie vector \"{vector}\""), "write SR,AF,WF,BF such as 2,13,20,6"];
        dir.replay(&format!("--tie {vector}")).fails(2, 1, &words);
    }
    let slack = ["tie vector \"2,3,10,1@0.1\"", "mc1x1[tie=2,13,20,6,slack=0.1]"];
    dir.replay("--tie 2,3,10,1@0.1").fails(2, 1, &slack);
    dir.replay("--alloc mc1x1[tie=1,2,3]").fails(2, 1, &["allocator \"mc1x1[tie=1,2,3]\"", "tie"]);
}

fn tie_values_out_of_range() {
    let dir = Dir::with_trace();
    // Weights may be negative; the scan radius must not be.
    let run = dir.replay("--alloc mc1x1 --tie 1,2,3,-4 --jobs 10 --format json").code(0);
    run.demand(run.fields(&["tie"]) == ["1,2,3,-4"], "the vector as written");
    dir.replay("--tie -1,2,3,4").fails(2, 1, &["\"-1,2,3,4\"", "the scan radius is negative"]);
    dir.replay("--tie 1,2,3,2000000000").fails(
        2,
        1,
        &["the magnitude of an entry exceeds 1,000,000"],
    );
}

fn rejects_ties_for_strategies_without_ties() {
    let dir = Dir::with_trace();
    let message = "--tie: none of these allocators breaks ties by a vector";
    for tie in ["2,13,20,6", "none"] {
        let arguments = format!("--alloc random,hilbert-best-fit --tie {tie}");
        dir.replay(&arguments).fails(2, 1, &[message]);
    }
    dir.replay("--alloc random[tie=1,2,3,4]").fails(2, 1, &["unknown parameter \"tie\""]);
}

fn rejects_zero_threads() {
    let dir = Dir::with_trace();
    for arguments in ["--threads 0", "verify --threads 0"] {
        dir.replay(arguments).refused(&["--threads", "1..=1024"]);
    }
    dir.replay("--threads=-1").refused(&["--threads"]);
}

fn bad_windows() {
    let dir = Dir::with_trace();
    for date in ["1996-13-01", "1996-02-30", "yesterday", "12h"] {
        let words = [&format!("\"{date}\" is neither seconds"), "nor a date like 1996-09-23"];
        dir.replay(&format!("--from {date}")).fails(2, 1, &words);
    }
    for days in ["0", "nan", "inf"] {
        dir.replay(&format!("--days {days}")).fails(2, 1, &["the number must be positive"]);
    }
    dir.replay("--days=-1").fails(2, 1, &["a window of -1 days"]);
    for nothing in ["--from 99999999", "--jobs 0", "--from 1 --days 0.0001"] {
        let words =
            ["lublin-10x10.swf: the window contains none of the 5000 jobs", "from second 75 "];
        dir.replay(nothing).fails(2, 1, &words);
    }
}

fn windows_select_jobs() {
    let dir = Dir::with_trace();
    // Submit times at the start of the trace: 75, 145, 169, 198, 398, 463, 655, 710, 3455 s.
    for (window, jobs, note) in [
        ("--jobs 7", "7", "4,993 outside the window (0 before, 4,993 after)"),
        ("--from 145 --jobs 7", "7", "(1 before, 4,992 after)"),
        ("--from 146 --days 0.01", "6", "(2 before, 4,992 after)"),
        ("--days 0.005", "6", "(0 before, 4,994 after)"),
    ] {
        let run = dir.replay(&format!("--alloc mc1x1 {window} --format json")).code(0);
        run.demand(run.fields(&["jobs"]) == [jobs], jobs);
        run.says(note);
    }
}

fn windows_by_date_need_a_start_time() {
    let dated = format!("; UnixStartTime: 822182400\n{TINY}3 90000 0 5 4\n");
    let dir = Dir::new().file("dated.swf", dated).file("tiny.swf", TINY);
    // The log starts on 1996-01-21 at midnight; its third job arrives a day and an hour later.
    for (window, jobs) in [
        ("--from 1996-01-22", "1"),
        ("--from 1996-01-21", "3"),
        ("--from 1996-01-21 --days 1", "2"),
    ] {
        let line = format!("--trace dated.swf --alloc mc1x1 {window} --format json");
        let run = dir.replay(&line).code(0);
        run.demand(run.fields(&["jobs"]) == [jobs], jobs);
    }
    let words = ["dated.swf: the window contains none of the 3 jobs"];
    dir.replay("--trace dated.swf --from 1997-01-01").fails(2, 1, &words);
    let words = ["tiny.swf: a window from a date needs UnixStartTime"];
    dir.replay("--trace tiny.swf --from 1996-01-21").fails(2, 1, &words);
}

fn rejects_unknown_values_and_options() {
    let dir = Dir::with_trace();
    dir.replay("--seed x").fails(2, 1, &["--seed", "\"x\": not an integer"]);
    dir.replay("--format jsn").refused(&["'jsn'", "json"]);
    dir.replay("--plots").refused(&["--out <DIR>"]);
    dir.replay("--machin 4x4").refused(&["--machin", "'--machine'"]);
    dir.replay("--trace a sweep --out o").refused(&["--trace is before sweep"]);
    dir.replay("-q list policies").code(0).prints("johnson");
}
