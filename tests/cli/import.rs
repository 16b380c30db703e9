//! `replay import`: converts logs of batch systems into traces.

use std::fs;

use super::dir::{Dir, gzip};

trials!(
    converts_a_log,
    keeps_job_names_of_the_log,
    imports_shapes,
    imports_csv_with_a_map,
    imports_parquet_with_a_map,
    reads_stdin_and_writes_stdout,
    joins_several_files,
    imports_logs_of_other_systems,
    reads_dates_and_missing_values,
    accepts_line_breaks_in_quotes,
    counts_array_tasks_once,
    counts_malformed_lines,
    selects_jobs,
    imports_logs_without_a_header,
    hints_at_the_size_of_the_machine,
    reports_what_cannot_be_imported,
    does_not_overwrite_the_log,
);

const SACCT: &str = "\
JobID|User|Submit|Start|End|TimelimitRaw|AllocNodes|NodeList|State
1|ann|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05|120|4|n[001-004]|COMPLETED
1.0|ann|2026-03-01T08:00:00|2026-03-01T08:00:05|2026-03-01T09:00:05||4|n[001-004]|COMPLETED
2|bob|2026-03-01T08:01:00|2026-03-01T09:00:05|2026-03-01T09:30:05|60|8|n[001-008]|FAILED
";

/// Returns the content of a file next to a trace, without its last line. Checks that the last line names the trace.
fn rows(dir: &Dir, name: &str) -> String {
    let trace = dir.read(&format!("{}.swf", name.split('.').next().unwrap_or_default()));
    let text = String::from_utf8(dir.read(name)).expect("text");
    let last = format!("# trace blake3:{}\n", blake3::hash(&trace).to_hex());
    text.strip_suffix(&last).unwrap_or_else(|| panic!("{name} does not name its trace")).to_string()
}

fn converts_a_log() {
    let dir = Dir::new().file("log.txt", SACCT);
    let run = dir.replay("import sacct log.txt --write a.swf --processors 16").code(0);
    let run =
        run.says("log.txt: 4 lines, 2 jobs kept; 0 dropped; 2 that are not jobs; 0 malformed\n");
    let run = run.says("not a job step of a job: 1, first in line 3\n");
    run.says("side file: a.nodes.csv").says("not a job header: 1, first in line 1\n");
    assert_eq!(rows(&dir, "a.nodes.csv"), "job,nodes\n1,\"n[001-004]\"\n2,\"n[001-008]\"\n");
    assert_eq!(dir.files(""), ["a.nodes.csv", "a.swf", "log.txt"]);
    let run = dir.replay("--trace a.swf --alloc mc1x1 --format json -q").code(0);
    run.demand(run.fields(&["jobs", "topology"]) == ["2 4x4"], "two jobs on the machine");
    dir.replay("import sacct log.txt --write b.swf --processors 16 -q").code(0).says_nothing();
    assert_eq!(dir.read("a.swf"), dir.read("b.swf"));
    dir.replay("list sources").code(0).prints("sacct").prints("submit=submitted|eligible");
}

/// Job names are written next to the trace unless they equal its job numbers.
fn keeps_job_names_of_the_log() {
    let dir = Dir::new().file("log.txt", SACCT.replace("\n2|", "\n2_17|"));
    dir.replay("import sacct log.txt --write a.swf").code(0).says("side file: a.ids.csv");
    assert_eq!(rows(&dir, "a.ids.csv"), "job,id\n1,1\n2,2_17\n");
    let map = "time = 'unix'\n[columns]\nid = 'i'\nsubmit = 't'\nrun = 'r'\nsize = 'n'\n";
    let dir =
        dir.file("map.toml", map).file("t.csv", "i,t,r,n\n\"a,\"\"b\",1,1,1\n,2,1,1\n7.0,2,1,1\n");
    dir.replay("import csv t.csv --map map.toml --write t.swf -q").code(0);
    assert_eq!(rows(&dir, "t.ids.csv"), "job,id\n1,\"a,\"\"b\"\n3,7\n");
    // Existing files that were not written for this log are not overwritten.
    let dir = dir.file("p.nodes.csv.gz", "of yesterday");
    let packed = ["p.nodes.csv.gz exists: replay would read this file as the nodes of the trace"];
    dir.replay("import sacct log.txt --write p.swf").fails(2, 1, &packed);
    fs::rename(dir.path("a.swf"), dir.path("moved.swf")).expect("moved");
    let dir = dir.file("log.txt", SACCT);
    let words = ["a.ids.csv exists, but this log has no such data"];
    dir.replay("import sacct log.txt --write a.swf").fails(2, 1, &words);
    fs::remove_file(dir.path("a.ids.csv")).expect("a file");
    let dir = dir.file("a.nodes.csv", "of yesterday");
    let words = ["a.nodes.csv: was not written by replay"];
    dir.replay("import sacct log.txt --write a.swf").fails(2, 1, &words);
    assert_eq!(dir.read("a.nodes.csv"), b"of yesterday");
}

fn imports_shapes() {
    let log = "#job id,arrival time (sec),topology,shape,size,duration (sec)\n\
               0,0,T3D_T,2x2x4,16,60\n1,5,T2D,4x4,16,60\n";
    let dir = Dir::new().file("log.csv", log);
    dir.replay("import rfold log.csv --write a.swf -q").code(0);
    assert_eq!(dir.files(""), ["a.ids.csv", "a.shapes.csv", "a.swf", "log.csv"]);
    assert_eq!(rows(&dir, "a.ids.csv"), "job,id\n1,0\n2,1\n");
    dir.replay("--trace a.swf --machine 4x4x4 --alloc first-fit -q").code(0);
    // Jobs without a shape are counted and do not affect the shapes of other jobs.
    let odd = dir.file("odd.csv", format!("{log}2,9,CLOS,4,4,60\n2,9,T2D,3x3,4,60\n"));
    let run = odd.replay("import rfold odd.csv --write b.swf").code(0);
    let run = run.says("noted     no shape: 1, first in line 4").says("side file: b.shapes.csv");
    let run = run.says("noted     shape does not match the size, omitted: 1, first in line 5");
    run.says("noted     repeated job id, kept: 1, first in line 5");
    assert_eq!(rows(&odd, "b.shapes.csv"), rows(&odd, "a.shapes.csv"));
    let run = odd.replay("--trace b.swf --machine 4x4x4 --alloc first-fit").code(0);
    run.says("; 2 jobs without a shape in the shapes file");
    // If no job has a shape, an old shapes file does not belong to this trace.
    let none = odd
        .file("none.csv", format!("{}\n2,9,CLOS,4,4,60\n", log.lines().next().unwrap_or_default()))
        .file("c.shapes.csv", "job,w,h,d\n1,2,2,1\n");
    let words = ["c.shapes.csv exists, but this log has no such data"];
    none.replay("import rfold none.csv --write c.swf -q").fails(2, 1, &words);
}

fn imports_csv_with_a_map() {
    let map = "time = 'unix'\n[columns]\nsubmit = 't'\nrun = 'r'\nsize = 'n'\n";
    let dir = Dir::new().file("t.csv", "n,t,r\n2,1000,60\n4,1010,60\n").file("map.toml", map);
    let run = dir.replay("import csv t.csv --map map.toml -q").code(0);
    run.demand(run.stdout.contains("; UnixStartTime: 1000\n"), "the start time");
    dir.replay("import csv t.csv").fails(2, 1, &["csv needs --map FILE"]);
    dir.replay("import csv t.csv --map no.toml").fails(2, 1, &["cannot read no.toml"]);
    let wrong = dir.file("wrong.toml", map.replace("run", "rum"));
    let words = ["wrong.toml:4: unknown field `rum`", "did you mean \"run\"?"];
    wrong.replay("import csv t.csv --map wrong.toml").fails(2, 1, &words);
    wrong.replay("import dirlab t.csv --map map.toml").fails(
        2,
        1,
        &["dirlab has known columns: --map is for csv and parquet only"],
    );
}

/// Imports the jobs of a run: replaying their recorded starts gives the results of that run.
fn imports_parquet_with_a_map() {
    let map = "time = 'seconds'\n[columns]\nid = 'job'\nsubmit = 'submit'\nstart = 'start'\nrun = 'run_time'\nsize = 'size'\n";
    let dir = Dir::new().file("map.toml", map).file("text.parquet", "a,b\n1,2\n");
    dir.replay("--jobs 300 --sched easy --alloc random --out out -q").code(0);
    let run =
        dir.replay("import parquet out/jobs.parquet --map map.toml --write a.swf --processors 100");
    run.code(0).says("out/jobs.parquet: 300 rows, 300 jobs kept; 0 dropped");
    let metrics = |args: &str| {
        let run = dir.replay(args).code(0);
        run.fields(&["jobs", "mean_wait", "makespan", "utilization"])
    };
    let expected = metrics("--jobs 300 --sched easy --alloc random --format json -q");
    let again = metrics("--trace a.swf --sched recorded --alloc random --format json -q");
    assert_eq!(again, expected, "the results of the first run");
    // Importing from standard input gives the same bytes.
    let bytes = dir.read("out/jobs.parquet");
    let piped =
        dir.replay_on(&bytes, "import parquet - --map map.toml --processors 100 -q").code(0);
    assert_eq!(piped.stdout.as_bytes(), dir.read("a.swf"));
    dir.replay("import parquet out/jobs.parquet").fails(2, 1, &["parquet needs --map FILE"]);
    dir.replay("import pm100 out/jobs.parquet").fails(
        3,
        1,
        &["out/jobs.parquet: there is no column \"job_id\" (is it \"job"],
    );
    dir.replay("import fdata text.parquet").fails(3, 1, &["text.parquet: this is not Parquet"]);
    let mut cut = bytes.clone();
    cut.truncate(bytes.len() - 9);
    let dir = dir.file("cut.parquet", cut).file("wrong.toml", map.replace("'size'", "'wait'"));
    let words = ["cut.parquet: damaged or unsupported"];
    dir.replay("import parquet cut.parquet --map map.toml").fails(3, 1, &words);
    let run = dir.replay("import parquet out/jobs.parquet --map wrong.toml").code(0);
    run.says("dropped   size not positive").says("first in row ");
}

fn reads_stdin_and_writes_stdout() {
    let dir = Dir::new().file("log.txt", SACCT);
    let expected = dir.replay("import sacct log.txt").code(0).stdout;
    let run = dir.replay_on(SACCT.as_bytes(), "import sacct -").code(0);
    run.demand(run.stdout == expected, "the same trace");
    let run =
        dir.replay_on(expected.as_bytes(), "--trace - --machine 4x4 --alloc random -q").code(0);
    run.prints("stdin");
}

fn joins_several_files() {
    let more = SACCT.replace("\n1|", "\n3|").replace("\n1.0|", "\n3.0|").replace("\n2|", "\n4|");
    let dir = Dir::new()
        .file("a.txt", SACCT)
        .file("b.txt", &more)
        .file("c.txt", more.replace("2026-03-01T08:01:00", "soon"));
    let run = dir.replay("import sacct a.txt b.txt --write ab.swf").code(0);
    let run = run.says("a.txt and 1 more: 8 lines, 4 jobs kept");
    run.says("not a job step of a job: 2, first in line 3 of a.txt");
    let piped = dir.replay_on(more.as_bytes(), "import sacct a.txt - -q").code(0);
    assert_eq!(piped.stdout.as_bytes(), dir.read("ab.swf"));
    dir.replay("import sacct a.txt c.txt --write ac.swf").fails(
        3,
        4,
        &["c.txt:4:7: Submit \"soon\""],
    );
    dir.replay("import sacct a.txt no.txt -q").fails(2, 1, &["cannot read no.txt"]);
    dir.replay("import sacct - a.txt -").fails(2, 1, &["it can be read only once"]);
    dir.replay("import sacct a.txt b.txt --write b.txt").fails(2, 1, &["is also the input"]);
    dir.replay("import sacct a.txt ./a.txt").fails(
        2,
        1,
        &["./a.txt: this is the same file as a.txt"],
    );
    dir.replay("import sacct a.txt b.txt a.txt").fails(2, 1, &["a.txt: this file is given twice"]);
    dir.replay("import sacct").refused(&["FILE"]);
    // A copy of a file is refused, whether the copy is compressed or not. Jobs in overlapping files are read once.
    let dir = dir.file("copy.txt", SACCT).file("copy.txt.gz", gzip(SACCT.as_bytes()));
    for copy in ["copy.txt", "copy.txt.gz"] {
        let words =
            [&*format!("{copy}: the file is identical to a.txt: all its jobs would occur twice")];
        dir.replay(&format!("import sacct a.txt b.txt {copy} --write d.swf")).fails(2, 1, &words);
    }
    let later = SACCT.replace("2|bob|2026-03-01T08:01:00", "2|bob|2026-03-01T08:01:01") + "\n";
    let dir = dir.file("later.txt", later);
    let run = dir.replay("import sacct a.txt later.txt --write d.swf").code(0);
    let run = run.says("a.txt and 1 more: 9 lines, 3 jobs kept; 1 dropped; 5 that are not jobs");
    let run = run
        .says("dropped   identical job in an earlier file: 1, first in line 2 of later.txt")
        .says("job id that occurs with other values in an earlier file; the job is kept: 1, first in line 4 of later.txt");
    run.says("not a job blank line: 1, first in line 5 of later.txt");
}

/// A record of several lines is counted once, and errors name the line within the record.
/// Returns submit time, wait, run time, size, estimate and status of every job of a trace, separated by blanks.
fn jobs(dir: &Dir, name: &str) -> Vec<String> {
    let text = String::from_utf8(dir.read(name)).expect("text");
    let lines = text.lines().filter(|line| !line.starts_with(';'));
    let job = |line: &str| {
        let fields: Vec<&str> = line.split_whitespace().collect();
        [1, 2, 3, 4, 8, 10].map(|field| fields[field]).join(" ")
    };
    lines.map(job).collect()
}

/// The samples of the book contain jobs of arrays, jobs that never started, and jobs that had not ended.
fn imports_logs_of_other_systems() {
    let sample = |name: &str| {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/fixtures/logs/");
        std::fs::read(format!("{folder}{name}")).expect("a sample")
    };
    for (source, name, expected, words) in [
        (
            "lsf",
            "lsb.acct",
            &[
                "0 5 3600 32 7200 1",
                "60 10 1800 4 7200 0",
                "90 10 300 1 7200 1",
                "90 10 310 1 7200 1",
                "120 -1 0 16 7200 5",
            ][..],
            "noted     never started: 1, first in line 5",
        ),
        (
            "sge",
            "accounting",
            &[
                "0 10 3600 8 7200 1",
                "20 10 600 1 3600 1",
                "20 40 600 1 3600 0",
                "40 -1 0 2 -1 5",
                "40 460 400 2 -1 5",
            ],
            "not a job task of a parallel job: 1, first in line 6",
        ),
        (
            "gwf",
            "grid.gwf",
            &["0 15 3600 4 7200 1", "60 -1 0 2 600 5", "90 10 20 8 -1 0"],
            "dropped   no run time: 1, first in line 9",
        ),
        (
            "batsim",
            "out_jobs.csv",
            &["0 0 89 2 149 1", "5 0 200 4 200 0", "5 -1 0 9 100 5"],
            "dropped   not ended when the log was written: 1, first in line 5",
        ),
        (
            "evalys",
            "jobs.csv",
            &["0 5 1816 1 5192 1", "10 2 471 4 5381 1", "20 463 600 3 600 0"],
            "jobs.csv: 4 lines, 3 jobs kept; 0 dropped",
        ),
    ] {
        let dir = Dir::new().file(name, sample(name));
        dir.replay(&format!("import {source} {name} --write a.swf")).code(0).says(words);
        assert_eq!(jobs(&dir, "a.swf"), expected, "{source}");
    }
    let dir = Dir::new().file("log", "all.q:node1\n");
    dir.replay("import sge log").code(3).says("log:1:12: record \"\": too few fields");
    dir.replay("import lsf log").code(3).says("not the type of an event");
}

fn reads_dates_and_missing_values() {
    let map = "time = '%m/%d/%Y %H:%M:%S'\nnone = ['0']\n[columns]\nid = 'id'\nsubmit = 'submit'\nstart = 'start'\n\
               end = 'end'\nsize = 'n'\n";
    let dir = Dir::new().file("map.toml", map).file(
        "us.csv",
        "id,submit,start,end,n\n1,01/26/2016 00:00:37,01/26/2016 00:01:00,01/26/2016 00:59:59,4\n\
         2,01/26/2016 00:00:47,0,0,4\n",
    );
    let run = dir.replay("import csv us.csv --map map.toml --write us.swf").code(0);
    run.says("noted     never started: 1, first in line 3");
    assert_eq!(jobs(&dir, "us.swf"), ["0 23 3539 4 -1 -1", "10 -1 0 4 -1 5"]);
    let dir = dir.file("bad.toml", map.replace("%Y ", "%J "));
    let words = ["bad.toml:1: time \"%m/%d/%J %H:%M:%S\": "];
    dir.replay("import csv us.csv --map bad.toml").fails(2, 1, &words);
    let sets = "time = 'seconds'\n[columns]\nsubmit = 't'\nrun = 'r'\nnodes = 'l'\n";
    let dir = dir.file("sets.toml", sets).file("sets.csv", "t,r,l\n0,9,1-2\n4,9,0 3-5\n");
    dir.replay("import csv sets.csv --map sets.toml --write sets.swf -q").code(0);
    assert_eq!(rows(&dir, "sets.nodes.csv"), "job,nodes\n1,\"1-2\"\n2,\"0,3-5\"\n");
    assert_eq!(jobs(&dir, "sets.swf")[1], "4 -1 9 4 -1 -1");
}

fn accepts_line_breaks_in_quotes() {
    let map =
        "time = 'seconds'\n[columns]\nid = 'i'\nsubmit = 't'\nrun = 'r'\nsize = 'n'\nuser = 'u'\n";
    let good = "i,\"u\",t,r,n\n1,\"a\nb\",1,10,4\r\n2,\"\"\"c\"\",\n\n\",2,10,4\n3,d,3,10,4\n";
    let dir = Dir::new().file("map.toml", map).file("t.csv", good);
    let run = dir.replay("import csv t.csv --map map.toml").code(0);
    let run = run.says("t.csv: 7 lines, 3 jobs kept; 0 dropped; 4 that are not jobs; 0 malformed");
    let run = run.says("not a job continuation line within quotes: 3, first in line 3");
    assert!(run.stdout.contains("; User: 1 a?b\n"), "{}", run.stdout);
    let bad = "4,\"e\nf\",soon,10,4\n5,\"g,5,10,4\n6,\"h\",6,10,4\n7,i,7,10,x\n";
    let dir = dir.file("b.csv", format!("{good}{bad}"));
    // The error is in the second line of the record.
    let words = ["b.csv:9:4: t \"soon\": not a time\n  9 | f\",soon,10,4\n    |    ^^^^"];
    dir.replay("import csv b.csv --map map.toml").fails(3, 4, &words);
    let run = dir.replay("import csv b.csv --map map.toml --max-errors 3").code(0);
    let run = run.says("4 jobs kept").says("malformed unclosed quote: 1, first in line 10\n");
    let run = run.says("malformed not a time: 1, first in line 8\n");
    run.says("malformed not a number: 1, first in line 12\n");
    let without = dir.file("c.csv", "i,u,t,r,n\n1,\"a,1,10,4\n2,b,2,10,4\n");
    let words = ["c.csv:2:3: field \"\"a,1,10,4\": unclosed quote"];
    without.replay("import csv c.csv --map map.toml").fails(3, 4, &words);
}

/// Two files overlap: the second file lists some of the same pending tasks, and tasks that have started in the
/// meantime.
fn counts_array_tasks_once() {
    let head = "JobID|Submit|Start|End|AllocNodes|State\n";
    let task = |number: u32| format!("12_{number}|100|110|160|2|COMPLETED\n");
    let waiting = |tasks: &str| format!("12_[{tasks}]|100|Unknown|Unknown|0|PENDING\n");
    let one = [head, &task(1), &waiting("2-9%3"), &waiting("20,22")].concat();
    let two = [head, &task(1), &task(2), &task(4), &waiting("3,5-9,22-23")].concat();
    let dir = Dir::new().file("a.txt", one).file("b.txt", two);
    let run = dir.replay("import sacct a.txt b.txt --write ab.swf").code(0);
    // The counted tasks are 3, 5 to 9, 20, 22 and 23.
    let run = run.says("tasks of arrays that did not start: 9, first in line 3 of a.txt");
    let run = run.says("dropped   array of tasks that did not start: 2, first in line 3 of a.txt");
    let words = "dropped   array of tasks that did not start, repeated from an earlier file: 1, first in line 5 of b.txt";
    run.says(words).says("a.txt and 1 more: 9 lines, 3 jobs kept; 4 dropped; 2 that are not jobs");
    dir.replay("import sacct a.txt --write a.swf")
        .code(0)
        .says("did not start: 10, first in line 3");
    // Slurm truncates long lists of tasks.
    let cut = [head, &task(1), &waiting("2,4,...%9")].concat();
    let run = dir.file("c.txt", cut).replay("import sacct c.txt").code(0);
    let run = run.says("tasks of arrays that did not start: 2, first in line 3");
    run.says("list of tasks truncated by Slurm: 1, first in line 3");
}

fn counts_malformed_lines() {
    let dir = Dir::new().file("log.txt", format!("{SACCT}3|cid|soon||||||\n{SACCT}"));
    let soon =
        "log.txt:5:7: Submit \"soon\": not a time\n  5 | 3|cid|soon||||||\n    |       ^^^^\n";
    dir.replay("import sacct log.txt --write a.swf").fails(3, 4, &[soon]);
    assert_eq!(dir.files(""), ["log.txt"]);
    let two = dir.replay("import sacct log.txt --write a.swf --max-errors 2").code(0);
    let two = two.says("4 jobs kept").says("malformed not a time: 1, first in line 5\n");
    two.says("not a job header, repeated: 1, first in line 6\n");
    let dir = dir.file("log.txt", format!("{SACCT}3|cid|soon||||||\nx|cid|soon||||||\n"));
    let one = dir.replay("import sacct log.txt --write b.swf --max-errors 1").code(3);
    one.says("reading stopped after 2 malformed lines (at most 1 allowed)")
        .says("first: log.txt:5:7: ");
}

fn selects_jobs() {
    let dir = Dir::new().file("log.txt", SACCT);
    let run = dir
        .replay("import sacct log.txt --write a.swf --user bob --state f --from 2026-03-01")
        .code(0);
    run.says("log.txt: 4 lines, 1 job kept; 1 dropped")
        .says("dropped   user not selected: 1, first in line 2\n");
    let run =
        dir.replay("import sacct log.txt --write b.swf --until 2026-03-01T08:01:00+00:00").code(0);
    run.says("1 job kept").says("submitted at a time that is not selected: 1, first in line 4");
    dir.replay("import sacct log.txt --partition x")
        .code(3)
        .says("partition not selected: 2, first in line 2");
    dir.replay("import sacct log.txt --from soon").refused(&["\"soon\": a time is YYYY-MM-DD"]);
    let words = ["--from is not before --until"];
    dir.replay("import sacct log.txt --from 7 --until 7").fails(2, 1, &words);
    dir.replay("import dirlab log.txt --from 2026-03-01").fails(2, 1, &["this log has no dates"]);
}

fn imports_logs_without_a_header() {
    let lines = SACCT.split_once('\n').expect("a header").1;
    let dir = Dir::new()
        .file("log.txt", SACCT)
        .file("no.txt", lines)
        .file("snow.txt", lines.replace('|', "\u{2603}"));
    let names = SACCT.lines().next().unwrap_or_default().replace('|', ",");
    dir.replay("import sacct log.txt --write a.swf -q").code(0);
    for (file, name) in [("no.txt", "b"), ("snow.txt", "c")] {
        dir.replay(&format!("import sacct {file} --write {name}.swf --header {names} -q")).code(0);
        assert_eq!(dir.read(&format!("{name}.swf")), dir.read("a.swf"));
    }
    dir.replay("import sacct no.txt").fails(3, 1, &["--header gives the column names"]);
    dir.replay("import sacct no.txt --header JobID,State").fails(
        3,
        1,
        &["no.txt:1: the header has none"],
    );
    let words = ["this kind of log has no columns: --header is for sacct and tables"];
    dir.replay("import torque no.txt --header a,b").fails(2, 1, &words);
    let words = ["sacct-json has no header line"];
    dir.replay("import sacct-json no.txt --header a,b").fails(2, 1, &words);
}

/// Logs do not contain the size of the machine, so an import without `--processors` prints how to set it.
fn hints_at_the_size_of_the_machine() {
    let dir = Dir::new().file("log.txt", SACCT);
    let words = "the trace does not have the size of the machine; give it by --processors N";
    dir.replay("import sacct log.txt --write a.swf").code(0).says(words);
    let run = dir.replay("import sacct log.txt --write b.swf --processors 16").code(0);
    run.demand(!run.stderr.contains(words), "no hint");
}

fn reports_what_cannot_be_imported() {
    let dir = Dir::new().file("log.txt", SACCT).file("p.parquet", "PAR1....").file("empty", "");
    let late = SACCT.replace("|COMPLETED", "|PENDING").replace("|FAILED", "|RUNNING");
    let dir = dir.file("late.txt", late).file("head.txt", SACCT.replace("Submit", "Sent"));
    dir.replay("import sact log.txt").refused(&["did you mean \"sacct\"?"]);
    dir.replay("import sacct[sise=cores] log.txt").refused(&["did you mean \"size\"?"]);
    dir.replay("import sacct no.txt").fails(2, 1, &["cannot read no.txt"]);
    dir.replay("import sacct p.parquet").fails(3, 1, &["this is Parquet", "import fdata"]);
    dir.replay("import sacct empty").fails(3, 1, &["empty:1: there is no header line"]);
    dir.replay("import sacct head.txt").fails(3, 1, &["head.txt:1: there is no column \"Submit\""]);
    dir.replay("import sacct late.txt").code(3).says("no job in the log");
    let dir = dir.file("x.xz", b"\xfd7zXZ\0...").file("w.txt", SACCT.replace('|', "   "));
    dir.replay("import sacct x.xz").fails(
        2,
        1,
        &["x.xz: cannot read: the input is compressed with xz; supported"],
    );
    dir.replay("import sacct w.txt").fails(
        3,
        1,
        &["w.txt:1: this is a header with columns of fixed width"],
    );
    dir.replay("import torque log.txt").code(3).says("log.txt:1:1: date \"JobID");
    dir.replay("import sacct no\u{1b}[31m.txt").fails(2, 1, &["cannot read no\u{fffd}[31m.txt"]);
    dir.replay("import cobalt log.txt").code(3).says("no column \"COBALT_JOBID\"");
}

fn does_not_overwrite_the_log() {
    let dir = Dir::new().file("log.txt", SACCT);
    dir.replay("import sacct log.txt --write log.txt").fails(2, 1, &["is also the input"]);
    assert_eq!(dir.read("log.txt"), SACCT.as_bytes());
}
