//! Standard output contains only data; a closed pipe is not an error.

use std::fs::OpenOptions;
use std::io::{BufRead, BufReader, Read};
use std::process::Child;

use super::dir::{Dir, Outcome};

trials!(
    json_is_one_object_per_line,
    stdout_equals_the_file,
    selects_columns,
    json_counts_ties_on_request,
    csv_has_the_same_columns,
    markdown_is_a_table,
    table_is_the_default_format,
    values_are_equal_in_all_formats,
    quiet_prints_only_data,
    accepts_a_reader_that_stops_early,
    accepts_a_closed_stdout,
    accepts_a_closed_stderr,
    full_disk_is_an_error,
);

/// Columns that scripts may rely on.
const KEYS: [&str; 16] = [
    "trace",
    "jobs",
    "topology",
    "scheduler",
    "allocator",
    "tie",
    "mean_pairwise_l1",
    "tied_decisions",
    "tied_percent",
    "mean_tied",
    "utilization",
    "makespan",
    "mean_wait",
    "mean_turnaround",
    "mean_bounded_slowdown",
    "seconds",
];

/// Columns on standard output after the columns of runs.csv.
const TIMINGS: [&str; 2] = ["seconds", "allocator_seconds"];

/// Standard output and runs.csv have equal columns in equal order, and equal values.
fn stdout_equals_the_file() {
    let dir = Dir::with_trace();
    let run = "--jobs 200 --alloc mc1x1,mbs,random -q";
    let text = dir.replay(&format!("{run} --format csv")).code(0).stdout;
    dir.replay(&format!("{run} --no-plots --out out")).code(0);
    let file = String::from_utf8(dir.read("out/runs.csv")).expect("text");
    let rows = |text: &str| -> Vec<Vec<String>> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_bytes());
        let fields = |row: csv::StringRecord| row.iter().map(str::to_string).collect();
        reader.records().map(|row| fields(row.expect("a record"))).collect()
    };
    let (printed, written) = (rows(&text), rows(&file));
    assert_eq!(printed.len(), 4);
    for (printed, written) in printed.iter().zip(&written) {
        assert_eq!(printed[..printed.len() - TIMINGS.len()], written[..]);
    }
    assert!(printed[0].ends_with(&TIMINGS.map(str::to_string)), "{:?}", printed[0]);
    let at = |name: &str| written[0].iter().position(|column| column == name).expect(name);
    for name in ["mean_dispersal", "mean_diameter", "mean_components", "contiguous_percent"] {
        assert!(printed[1..].iter().all(|row| !row[at(name)].is_empty()), "{name}");
    }
}

/// Columns given by name are computed and are printed in the given order.
fn selects_columns() {
    let dir = Dir::with_trace();
    let run = |rest: &str| dir.replay(&format!("--jobs 200 --alloc mc1x1 -q {rest}"));
    let csv = run("--format csv --columns mean_components,trace,tied_percent").code(0);
    let lines: Vec<&str> = csv.stdout.lines().collect();
    assert_eq!(lines[0], "mean_components,trace,tied_percent");
    assert!(lines[1].split(',').all(|field| !field.is_empty()), "{lines:?}");
    let json = run("--format json --columns mean_wait").code(0);
    let keys: Vec<_> = json.objects()[0].as_object().expect("an object").keys().cloned().collect();
    assert_eq!(keys, ["mean_wait"]);
    let sorted = run("--format csv --columns mean_dispersal --sort mean_wait").code(0);
    assert_eq!(sorted.stdout.lines().next(), Some("mean_dispersal"));
    let table = run("--columns allocator,contiguous_percent").code(0);
    table.prints("allocator  contiguous_percent %");
    run("--columns mean_wiat").fails(
        2,
        1,
        &["--columns \"mean_wiat\"", "did you mean \"mean_wait\"?"],
    );
}

const PAIR: &str = "--jobs 200 --alloc mc1x1 --tie none --tie 2,13,20,6";

fn json_is_one_object_per_line() {
    let run = Dir::with_trace().replay(&format!("{PAIR} --format json")).code(0);
    let objects = run.objects();
    run.demand(objects.len() == 2, "two lines");
    for object in &objects {
        for key in KEYS {
            run.demand(object.get(key).is_some(), &format!("no {key}"));
        }
        let number = |key: &str| object[key].as_f64().unwrap_or(f64::NAN);
        run.demand(number("jobs") == 200.0 && number("makespan") > 0.0, "numbers are numbers");
        run.demand((0.0..=1.0).contains(&number("utilization")), "utilization is a fraction");
        run.demand(number("mean_turnaround") > number("mean_wait"), "jobs take time");
        run.demand(object["tied_decisions"].is_null(), "ties are counted only on request");
    }
    run.demand(run.fields(&["tie"]) == ["-", "2,13,20,6"], "null without tie-breaking");
}

fn json_counts_ties_on_request() {
    let run =
        Dir::with_trace().replay("--jobs 200 --alloc mc1x1,random --ties --format json").code(0);
    let objects = run.objects();
    let number = |key: &str| objects[0][key].as_f64().unwrap_or(f64::NAN);
    let (decisions, percent) = (number("tied_decisions"), number("tied_percent"));
    run.demand(decisions > 0.0 && (percent - decisions / 2.0).abs() < 1e-9, "percent of 200");
    run.demand(number("mean_tied") >= 2.0, "a tie has two at least");
    run.demand(objects[1]["tied_decisions"].is_null(), "random allocation has no ties");
}

fn csv_has_the_same_columns() {
    let dir = Dir::with_trace();
    let run = dir.replay(&format!("{PAIR} --format csv")).code(0);
    let mut reader = csv::Reader::from_reader(run.stdout.as_bytes());
    let header = reader.headers().expect("a header").clone();
    run.demand(KEYS.iter().all(|key| header.iter().any(|name| name == *key)), "the header");
    let objects = dir.replay(&format!("{PAIR} --format json")).objects();
    let keys = objects[0].as_object().expect("an object");
    run.demand(header.iter().all(|key| keys.contains_key(key)), "the keys of JSON");
    run.demand(header.len() == keys.len(), "the number of columns of JSON");
    let records: Vec<_> = reader.records().map(|record| record.expect("a record")).collect();
    run.demand(records.len() == 2, "two records under one header");
    let tie = header.iter().position(|name| name == "tie").expect("a column");
    let quoted = records[0][tie].is_empty() && &records[1][tie] == "2,13,20,6";
    run.demand(quoted, "tie quoted, or empty");
}

fn markdown_is_a_table() {
    let run = Dir::with_trace().replay(&format!("{PAIR} --format md")).code(0);
    let lines: Vec<&str> = run.stdout.lines().collect();
    run.demand(lines.len() == 4, "header, rule, two rows");
    run.demand(lines.iter().all(|l| l.starts_with("| ") && l.ends_with(" |")), "pipes");
    let columns = |line: &str| line.matches('|').count();
    run.demand(lines.iter().all(|line| columns(line) == columns(lines[0])), "equal columns");
    run.demand(lines[1].chars().all(|c| "|-: ".contains(c)), "the rule");
}

fn table_is_the_default_format() {
    let dir = Dir::with_trace();
    let plain = |run: Outcome| {
        let run = run.code(0);
        let lines = run.stdout.lines();
        // Compare all columns except the last column, which is wall-clock time.
        lines
            .map(|line| line.rsplit_once("  ").map(|l| l.0.trim_end().to_string()))
            .collect::<Vec<_>>()
    };
    let table = plain(dir.replay(&format!("{PAIR} --format table")));
    assert_eq!(plain(dir.replay(PAIR)), table);
    assert_eq!(table.len(), 4);
}

fn values_are_equal_in_all_formats() {
    let dir = Dir::with_trace();
    let mean =
        dir.replay(&format!("{PAIR} --format json")).objects()[1]["mean_pairwise_l1"].clone();
    let exact = mean.to_string();
    dir.replay(&format!("{PAIR} --format csv")).prints(&format!(",{exact},"));
    let rounded = format!(" {:.3} ", mean.as_f64().expect("a number"));
    dir.replay(PAIR).prints(&rounded);
    dir.replay(&format!("{PAIR} --format md")).prints(&rounded);
}

fn quiet_prints_only_data() {
    let dir = Dir::with_trace();
    for arguments in ["-q --jobs 50", "--quiet --jobs 50 --out results --no-plots", "list"] {
        let run = dir.replay(arguments).code(0).says_nothing();
        run.demand(!run.stdout.is_empty(), "data");
    }
    let run = dir.replay("--jobs 50 --oversize drop --machine 4x4 -q").code(0).says_nothing();
    run.demand(!run.stdout.is_empty(), "data");
    // Errors are printed even with -q.
    dir.replay("-q --trace nothing").code(2).says("no trace \"nothing\"");
    // Without -q, the report about the trace goes to standard error, never to standard output.
    let run = dir.replay("--jobs 50 --format json").code(0).says("5,000 records");
    run.demand(run.objects().len() == 9, "nothing but data");
}

/// Returns options for 200 cells, whose output exceeds the buffer of a pipe.
fn long_grid(more: &str) -> String {
    let seeds: Vec<String> = (0..200).map(|seed| seed.to_string()).collect();
    format!("--alloc random --jobs 20 --seed {} {more}", seeds.join(","))
}

/// Waits until a program ends, and returns its outcome.
fn ended(arguments: &str, child: Child) -> Outcome {
    Outcome::new(arguments, child.wait_with_output().expect("the program ends"))
}

fn accepts_a_reader_that_stops_early() {
    let dir = Dir::with_trace();
    for (arguments, begin) in [
        (long_grid("-q --format json"), "{\"run\":"),
        (long_grid("-q --format csv"), "run,trace,"),
        ("synth --jobs 20000".to_string(), "; Version: 2.2"),
    ] {
        let mut child = dir.start(&arguments);
        let mut line = String::new();
        let stdout = child.stdout.take().expect("a pipe");
        BufReader::with_capacity(1, stdout).read_line(&mut line).expect("a line");
        assert!(line.starts_with(begin), "{line}");
        ended(&arguments, child).code(0).says_nothing();
    }
}

fn accepts_a_closed_stdout() {
    let dir = Dir::with_trace();
    let formats = ["table", "json", "csv", "md"].map(|format| format!("-q --format {format}"));
    let others = ["list", "man", "completions zsh", "-h", "--help"].map(str::to_string);
    for arguments in formats.into_iter().chain(others) {
        let mut child = dir.start(&arguments);
        drop(child.stdout.take());
        ended(&arguments, child).code(0).says_nothing();
    }
}

fn accepts_a_closed_stderr() {
    let dir = Dir::with_trace();
    let arguments = "--jobs 50 --format json";
    let mut child = dir.start(arguments);
    drop(child.stderr.take());
    let mut stdout = String::new();
    child.stdout.take().expect("a pipe").read_to_string(&mut stdout).expect("text");
    let outcome = ended(arguments, child).code(0);
    outcome.demand(stdout.lines().count() == 9, "all data, although no message can be written");
}

fn full_disk_is_an_error() {
    // Only Linux has /dev/full.
    if !cfg!(target_os = "linux") {
        return;
    }
    let disk = OpenOptions::new().write(true).open("/dev/full").expect("a full disk");
    let dir = Dir::with_trace();
    for arguments in ["-q --jobs 50", "-q --jobs 50 --format json", "list", "man"] {
        let outcome = dir.replay_onto(disk.try_clone().expect("a handle"), arguments);
        outcome.fails(2, 1, &["cannot write standard output"]);
    }
    dir.replay("synth --write /dev/full").fails(4, 1, &["cannot write /dev/full"]);
}
