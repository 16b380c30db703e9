//! `replay synth`: traces are determined by seed and parameters.

use super::dir::{Dir, shipped_trace};

trials!(
    same_seed_same_bytes,
    header_of_the_shipped_trace_reproduces_it,
    options_and_a_model_have_the_same_seed,
    writes_to_a_file,
    replays_the_generated_trace,
    reaches_the_requested_load,
    rejects_unsupported_options,
);

fn same_seed_same_bytes() {
    let made = |arguments: &str| {
        Dir::new().replay(&format!("synth --jobs 300 {arguments}")).code(0).says_nothing().stdout
    };
    let jobs =
        |text: &str| text.lines().filter(|l| !l.starts_with(';')).map(str::to_string).collect();
    let first = made("--seed 7");
    let records: Vec<String> = jobs(&first);
    assert_eq!(records.len(), 300);
    assert_eq!(first, made("--seed 7"));
    assert_ne!(records, jobs(&made("--seed 8")) as Vec<String>);
    assert_ne!(records, jobs(&made("--seed 7 --load 0.5")) as Vec<String>);
    assert_ne!(records, jobs(&made("--seed 7 --processors 64")) as Vec<String>);
}

fn header_of_the_shipped_trace_reproduces_it() {
    let shipped = String::from_utf8(shipped_trace()).expect("text");
    let command = shipped.lines().find_map(|line| line.strip_prefix("; Note: replay "));
    let made =
        Dir::new().replay(command.expect("the command in the header")).code(0).says_nothing();
    // assert_eq would print both traces in full.
    let differ = made.stdout.lines().zip(shipped.lines()).find(|(ours, theirs)| ours != theirs);
    assert_eq!(differ, None);
    assert!(made.stdout == shipped, "one is longer than the other");
}

/// The comments of the header contain the command, so only the records are equal.
fn options_and_a_model_have_the_same_seed() {
    let jobs = |arguments: &str| -> Vec<String> {
        let made = Dir::new().replay(&format!("synth {arguments}")).code(0).says_nothing().stdout;
        made.lines().filter(|line| !line.starts_with(';')).map(str::to_string).collect()
    };
    let by_options = jobs("--jobs 30");
    assert_eq!(by_options.len(), 30);
    assert_eq!(by_options, jobs("lublin[jobs=30]"));
    assert_ne!(by_options, jobs("lublin[jobs=30,seed=1]"));
}

fn writes_to_a_file() {
    let dir = Dir::new();
    let made = dir.replay("synth --jobs 50 --write made.swf").code(0).says_nothing();
    made.demand(made.stdout.is_empty(), "nothing on stdout");
    assert_eq!(dir.read("made.swf"), dir.replay("synth --jobs 50").stdout.into_bytes());
    let words = ["cannot write made.swf/folder.swf: ", "(os error "];
    dir.replay("synth --write made.swf/folder.swf").fails(2, 1, &words);
}

fn replays_the_generated_trace() {
    let dir = Dir::new();
    dir.replay("synth --jobs 200 --processors 64 --write made.swf").code(0);
    let run = dir.replay("--trace made.swf --alloc mc1x1 --policy strict --format json").code(0);
    run.demand(
        run.fields(&["trace", "jobs", "topology"]) == ["made 200 8x8"],
        "the generated jobs and machine",
    );
}

/// Returns the offered load: requested processor-seconds divided by the processor-seconds available
/// between the first and the last submission.
fn offered_load(trace: &str, processors: f64) -> f64 {
    let record = |line: &str| -> Vec<f64> {
        line.split_whitespace().map(|field| field.parse().expect("a number")).collect()
    };
    let jobs: Vec<_> = trace.lines().filter(|l| !l.starts_with(';')).map(record).collect();
    let work: f64 = jobs.iter().map(|job| job[3] * job[4]).sum();
    work / (processors * (jobs[jobs.len() - 1][1] - jobs[0][1]))
}

fn reaches_the_requested_load() {
    for load in [0.3, 0.9] {
        let made = Dir::new().replay(&format!("synth --jobs 2000 --load {load}")).code(0);
        let got = offered_load(&made.stdout, 100.0);
        made.demand((got - load).abs() < 0.02 * load, &format!("load {got}, not {load}"));
    }
}

fn rejects_unsupported_options() {
    let dir = Dir::new();
    for load in ["0", "nan", "inf"] {
        dir.replay(&format!("synth --load {load}")).fails(
            2,
            1,
            &["offered load", "cannot be reached"],
        );
    }
    dir.replay("synth --load=-1").fails(2, 1, &["offered load", "cannot be reached"]);
    dir.replay("synth --processors 0").fails(2, 1, &["the machine has no processors"]);
    dir.replay("synth --jobs=-1").refused(&["--jobs"]);
    dir.replay("synth --seed one").refused(&["--seed", "'one'"]);
}
