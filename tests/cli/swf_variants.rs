//! SWF files of other programs: sizes in field 8, several preceding jobs, names of columns, other separators, and
//! headers written by hand.

use super::dir::Dir;

trials!(
    hints_at_policies_that_keep_records,
    names_bad_lines_of_each_kind,
    hints_at_other_formats,
    jobs_follow_several_others,
    reads_numbers_of_headers_whole,
    times_are_cut_off_or_rounded,
);

fn hints_at_policies_that_keep_records() {
    let dir = Dir::new()
        .file("size.swf", "; MaxProcs: 16\n1 0 0 10 -1 -1 -1 2 20\n2 0 0 10 -1 -1 -1 2 20\n")
        .file("run.swf", "; MaxProcs: 16\n1 0 0 -1 2\n2 0 0 -1 2\n")
        .file("zero.swf", "; MaxProcs: 16\n1 0 0 0 2\n")
        .file("submit.swf", "; MaxProcs: 16\n1 -1 0 9 2\n")
        .file("cancelled.swf", "; MaxProcs: 16\n1 0 -1 0 2 -1 -1 2 9 -1 5\n")
        .file("both.swf", "; MaxProcs: 16\n1 0 0 -1 -1 -1 -1 2 9\n")
        .file("none.swf", "; MaxProcs: 16\n1 0 0 5 -1 -1 -1 -1 9\n");
    for (line, hint) in [
        ("size.swf", "--policy pwa keeps 2 of 2 records (size: field 5, else 8)"),
        ("size.swf --policy sst", "--policy pwa keeps 2 of 2 records (size: field 5, else 8)"),
        ("size.swf --policy cerit", "--policy pwa keeps 2 of 2 records (size: field 5, else 8)"),
        (
            "run.swf --policy pwa",
            "--policy johnson keeps 2 of 2 records (negative run time: becomes 0)",
        ),
        ("zero.swf --policy batsim", "--policy johnson keeps 1 of 1 record (run time 0: kept)"),
        (
            "submit.swf --policy pwa",
            "--policy johnson keeps 1 of 1 record (negative submit time: becomes 0)",
        ),
        (
            "cancelled.swf --policy pwa",
            "--policy johnson keeps 1 of 1 record (cancelled before it ran: kept)",
        ),
        (
            "both.swf --policy pwa",
            "--policy accasim keeps 1 of 1 record (negative run time: becomes 0)",
        ),
        ("none.swf", "no policy finds a size: fields 5 and 8 have none"),
    ] {
        let run = dir.replay(&format!("--trace {line}"));
        run.fails(3, 2, &["cleaning leaves no job", &format!("\nhint: {hint}")]);
    }
    dir.replay("--trace size.swf --policy pwa --alloc mc1x1").code(0).says("2 jobs kept");
}

fn names_bad_lines_of_each_kind() {
    let lines = "id submit wait run size\n1 0 0 5 2\n2 0 0 5 2.5\n3 0 0 5 2 -1 -1 2 12x\n\
                 4 0 0 5 2 -1 -1 2 13x\n5 0 0 5 2 -1 -1 2 14x\n";
    let dir = Dir::new().file("t.swf", format!("; MaxProcs: 16\n{lines}"));
    let words = [
        "reading stopped after 5 bad lines (at most 4 allowed)",
        "first: t.swf:2:1: job number \"id\" is not a number",
        "also: t.swf:4:9: allocated processors \"2.5\" is not an integer",
        "also: t.swf:5:19: requested time \"12x\" is not a number",
        "last: t.swf:7:19: requested time \"14x\" is not a number",
    ];
    dir.replay("--trace t.swf --max-errors 4").fails(3, 15, &words);
    // The last line is not repeated if it is the first of its kind.
    let run = dir.replay("--trace t.swf --max-errors 2").code(3);
    run.demand(run.stderr.matches("t.swf:5:19").count() == 1, "one line for an error");
    run.says("last: t.swf:5:19: ");
    dir.replay("--trace t.swf --max-errors 5 --alloc mc1x1").code(0).says("1 job kept");
}

fn hints_at_other_formats() {
    let dir = Dir::new()
        .file("names.swf", "id\tsubmit\twait\n1\t0\t0\t5\t2\n")
        .file("semicolons.swf", "1001;0;-1;15;12;-1;-1;-1;420;-1;-1;u5;a2;-1;normal;normal;;-1;\n")
        .file("gwf.txt", "# Grid Workload Format\n# JobID SubmitTime\n1\t1108771200\t0\t60\t4\n")
        .file("later.swf", "; MaxProcs: 4\n1 0 0 5 2\nx 0 0 5 2\n");
    let hint = |name: &str| dir.replay(&format!("--trace {name} --machine 4x4")).code(3);
    hint("names.swf").says("\nhint: ").says("--max-errors 1 skips it");
    hint("semicolons.swf").says("\nhint: ").says("replay import csv --map FILE");
    hint("gwf.txt")
        .says("\nhint: comments begin with ; in SWF")
        .says("replay import csv --map FILE");
    let run = hint("later.swf");
    run.demand(!run.stderr.contains("hint"), "a hint only for the first line");
    dir.replay("--trace names.swf --max-errors 1 --machine 4x4 --alloc mc1x1").code(0);
}

/// Alea's workloads have several preceding jobs in field 17.
fn jobs_follow_several_others() {
    let rest = "2 -1 -1 2 100 -1 1 1 1 1 1 1";
    let dir = Dir::new().file(
        "t.swf",
        format!(
            "; MaxProcs: 16\n1 0 0 100 {rest} -1 -1\n2 0 0 200 {rest} -1 -1\n3 0 0 50 {rest} 1&2 30\n4 0 0 5 {rest} 3&9 -1\n"
        ),
    );
    let run = dir.replay("--trace t.swf --alloc mc1x1").code(0);
    let counts = "2 records with a preceding job, 2 of these with several, in total 4 preceding jobs: 3 usable";
    run.says(counts);
    let run = dir.replay("--trace t.swf --alloc mc1x1 --deps honour").code(0);
    run.says("2 jobs follow others");
    // Job 3 arrives 30 s after the later of its predecessors has ended.
    for (rules, job, arrival) in [
        ("ignore", 3, 0),
        ("ignore", 4, 0),
        ("honour", 3, 230),
        ("honour", 4, 280),
        ("force", 3, 230),
        ("shift", 3, 200),
    ] {
        let line = format!("explain --trace t.swf --alloc mc1x1 --deps {rules} --job {job}");
        dir.replay(&line).code(0).prints(&format!("the job arrives at {arrival} s;"));
    }
}

fn reads_numbers_of_headers_whole() {
    let job = "1 0 0 100 512 -1 -1 512 200 -1 1 1 1 1 1 1 -1 -1\n";
    for text in ["1,024", "1024 (512 nodes)", "1024 processors", "1024"] {
        for key in ["MaxProcs", "MaxNodes"] {
            let dir = Dir::new().file("t.swf", format!("; {key}: {text}\n{job}"));
            dir.replay("--trace t.swf --alloc mc1x1").code(0).says("machine 32x32 ");
        }
    }
    for text in ["1 024", "1'024", "1.024", "~1024", "10,24"] {
        // MaxNodes does not replace a value of MaxProcs that cannot be read.
        for rest in ["", "; MaxNodes: 8\n"] {
            let dir = Dir::new().file("t.swf", format!("; MaxProcs: {text}\n{rest}{job}"));
            let message = format!(
                "the header has no usable MaxProcs; set the machine with --machine (MaxProcs \"{text}\" is not one integer)"
            );
            dir.replay("--trace t.swf --alloc mc1x1 -q").fails(2, 1, &[&message]);
        }
    }
}

fn times_are_cut_off_or_rounded() {
    let dir = Dir::new().file("t.swf", "; MaxProcs: 16\n1 0.9 0.9 10.9 2 -1 -1 2 20.9\n");
    let run = |policy: &str| {
        dir.replay(&format!("--trace t.swf --policy {policy} --alloc mc1x1 --format json"))
    };
    let cut = run("johnson").code(0).says("1 changed (fraction of a second cut off 1)");
    cut.demand(cut.fields(&["makespan"]) == ["10"], "10.9 s become 10 s");
    let rounded = run("pwa").code(0).says("1 changed (time rounded to a second 1)");
    rounded.demand(rounded.fields(&["makespan"]) == ["11"], "10.9 s become 11 s");
    run("strict").code(3).says("would be changed (fraction of a second cut off; run time");
}
