//! Result files: complete or absent, and equal for any number of threads.

use std::io::{BufRead, BufReader};
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use serde_json::Value;
use sha2::Digest;

use super::dir::{Dir, Outcome};

trials!(
    writes_all_files,
    manifest_describes_the_run,
    manifest_has_digests_of_files,
    options_omit_files,
    tables_and_stdout_agree,
    results_do_not_depend_on_threads,
    force_replaces_earlier_results,
    force_removes_old_figures,
    keeps_existing_figures_without_force,
    streams_do_not_rank_folding_allocators_by_distance,
    keeps_results_of_other_commands,
    keeps_finished_cells_if_interrupted,
    rejects_options_without_effect,
    interrupts_long_decisions,
    interrupted_runs_do_not_replace_results_without_force,
    interrupted_runs_without_results_leave_no_table,
    rejected_options_leave_no_folder,
    interrupts_a_search_before_its_first_vector,
    interrupts_verify,
    checks_the_output_directory_before_any_work,
    writes_all_files_if_stdout_is_closed,
    malformed_traces_leave_no_results,
    second_interrupt_ends_a_run_blocked_on_stdout,
);

const GRID: &str =
    "--jobs 400 --sched fcfs,easy --alloc mc1x1,mm,random --tie none --tie 2,13,20,6 --ties";
const TABLES: [&str; 5] =
    ["by_size.csv", "by_size.parquet", "jobs.parquet", "runs.csv", "runs.parquet"];

fn writes_all_files() {
    let dir = Dir::with_trace();
    let run = dir.replay(&format!("{GRID} --out deep/results")).code(0);
    run.demand(run.stdout.lines().count() == 12, "the table is printed too");
    let files = dir.files("deep/results");
    for table in TABLES.iter().chain(&["manifest.json"]) {
        run.demand(files.iter().any(|file| file == table), table);
    }
    for kind in ["improvement-by-size", "improvement-by-rank", "strategies", "ties", "load"] {
        for extension in ["svg", "png", "pdf", "csv"] {
            let is_it = |file: &&String| {
                file.starts_with(&format!("plots/{kind}")) && file.ends_with(extension)
            };
            run.demand(
                files.iter().any(|file| is_it(&file)),
                &format!("{kind} {extension}: {files:?}"),
            );
        }
    }
    run.demand(!files.iter().any(|file| file.ends_with(".part")), "no partial files");
    for file in files {
        let bytes = dir.read(&format!("deep/results/{file}"));
        let mark: &[u8] = match file.rsplit('.').next() {
            Some("parquet") => b"PAR1",
            Some("png") => b"\x89PNG",
            Some("svg") => b"<svg",
            Some("json") => b"{",
            _ => b"",
        };
        run.demand(bytes.len() > 20 && bytes.starts_with(mark), &file);
    }
}

fn manifest(dir: &Dir, out: &str) -> Value {
    serde_json::from_slice(&dir.read(&format!("{out}/manifest.json"))).expect("JSON")
}

fn manifest_describes_the_run() {
    let dir = Dir::with_trace();
    dir.replay(&format!("{GRID} --out results --threads 2")).code(0);
    let manifest = manifest(&dir, "results");
    let typed: Vec<&str> = GRID.split(' ').chain(["--out", "results", "--threads", "2"]).collect();
    let command = manifest["command"].as_array().expect("words");
    assert!(command.iter().skip(1).eq(&typed), "{command:?}");
    assert_eq!(manifest["program"], "replay");
    assert_eq!(manifest["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(manifest["threads"], 2);
    assert_eq!(manifest["failed"], serde_json::json!([]));
    assert_eq!(manifest["runs"].as_array().map(Vec::len), Some(10));
    let trace = &manifest["configuration"]["traces"][0];
    assert_eq!((&trace["name"], &trace["jobs"]), (&"lublin-10x10".into(), &400.into()));
    let digest = blake3::hash(&super::dir::shipped_trace());
    assert_eq!(trace["digest"], digest.to_hex().as_str());
    assert_eq!(trace["cleaning"]["read"], 5000);
    assert_eq!(manifest["configuration"]["policy"], "johnson");
    assert!(manifest["elapsed_seconds"].as_f64() > Some(0.0));
    let mut listed = super::dir::listed(&manifest);
    listed.push("manifest.json".to_string());
    listed.sort();
    assert_eq!(listed, dir.files("results"), "every file is listed");
}

/// The manifest has SHA-256 digests of inputs and outputs.
fn manifest_has_digests_of_files() {
    let dir = Dir::with_trace();
    let line =
        "--trace traces/lublin-10x10.swf --jobs 50 --alloc mc1x1 --no-plots -q --out results";
    dir.replay(line).code(0);
    let manifest = manifest(&dir, "results");
    let sha256 = |bytes: &[u8]| -> String {
        sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
    };
    let [input] = &manifest["inputs"].as_array().expect("inputs")[..] else { panic!("one input") };
    assert!(input["path"].as_str().is_some_and(|path| path.ends_with("lublin-10x10.swf")));
    assert_eq!(input["sha256"], sha256(&super::dir::shipped_trace()));
    for file in manifest["files"].as_array().expect("files") {
        let name = file["name"].as_str().expect("a name");
        assert_eq!(file["sha256"], sha256(&dir.read(&format!("results/{name}"))), "{name}");
    }
    assert!(manifest["compiler"].as_str().is_some_and(|text| text.starts_with("rustc ")));
}

fn options_omit_files() {
    let dir = Dir::with_trace();
    dir.replay("--jobs 50 --out a --no-jobs --no-plots").code(0);
    let without_jobs =
        ["by_size.csv", "by_size.parquet", "manifest.json", "runs.csv", "runs.parquet"];
    assert_eq!(dir.files("a"), without_jobs);
    dir.replay("--jobs 50 --out b --no-plots").code(0);
    assert_eq!(dir.files("b").len(), 6);
    dir.replay("--jobs 50 --out c --no-plots --plots --no-jobs").code(0);
    assert!(
        dir.files("c").iter().any(|file| file.starts_with("plots/")),
        "the last option applies"
    );
}

fn tables_and_stdout_agree() {
    let dir = Dir::with_trace();
    let run = dir.replay(&format!("{GRID} --out results --no-plots --format csv")).code(0);
    let table = String::from_utf8(dir.read("results/runs.csv")).expect("text");
    let columns = |text: &str, names: &[&str]| -> Vec<String> {
        let mut reader = csv::Reader::from_reader(text.as_bytes());
        let header = reader.headers().expect("a header").clone();
        let at = |name: &&str| header.iter().position(|column| column == *name).expect("a column");
        let places: Vec<usize> = names.iter().map(at).collect();
        let line = |record: csv::StringRecord| {
            places.iter().map(|&place| &record[place]).collect::<Vec<_>>().join(" ")
        };
        reader.records().map(|record| line(record.expect("a record"))).collect()
    };
    let names = ["trace", "scheduler", "allocator", "tie", "jobs", "makespan", "tied_decisions"];
    assert_eq!(columns(&table, &names), columns(&run.stdout, &names));
    let reals = ["mean_pairwise_l1", "utilization", "mean_wait", "mean_components", "p90_wait"];
    for name in reals {
        let numbers = |text: &str| -> Vec<Option<f64>> {
            columns(text, &[name]).iter().map(|field| field.parse().ok()).collect()
        };
        run.demand(numbers(&table).iter().all(Option::is_some), "measured with --out");
        assert_eq!(numbers(&table), numbers(&run.stdout), "{name}");
    }
}

/// Returns the objects of a JSON run without its wall-clock times.
pub fn timeless(run: &Outcome) -> Vec<Value> {
    let mut objects = run.objects();
    for object in &mut objects {
        let seconds = object.as_object_mut().and_then(|object| object.remove("seconds"));
        run.demand(seconds.is_some(), "seconds");
        object.as_object_mut().map(|object| object.remove("allocator_seconds"));
    }
    objects
}

fn results_do_not_depend_on_threads() {
    let dir = Dir::with_trace();
    let run = |threads: u32| {
        let arguments =
            format!("{GRID} --seed 0,1 --format json --threads {threads} --out {threads}");
        timeless(&dir.replay(&arguments).code(0))
    };
    assert_eq!(run(1), run(2));
    let files = dir.files("1");
    assert_eq!(files, dir.files("2"));
    assert!(files.len() > 20, "{files:?}");
    for file in files.iter().filter(|file| *file != "manifest.json") {
        let same = dir.read(&format!("1/{file}")) == dir.read(&format!("2/{file}"));
        assert!(same, "{file} depends on the number of threads");
    }
    assert_eq!(manifest(&dir, "1")["configuration"], manifest(&dir, "2")["configuration"]);
}

fn force_replaces_earlier_results() {
    let dir = Dir::with_trace();
    dir.replay("--jobs 50 --alloc random --out results --no-plots").code(0);
    let other = "--jobs 60 --alloc mc1x1 --out results --no-plots";
    dir.replay(other).code(2).says("the directory contains the results of a run of lublin-10x10");
    dir.replay(&format!("{other} --force")).code(0);
    let table = String::from_utf8(dir.read("results/runs.csv")).expect("text");
    assert!(table.contains(",mc1x1,") && !table.contains("random"), "{table}");
    assert_eq!(manifest(&dir, "results")["configuration"]["traces"][0]["jobs"], 60);
}

fn keeps_results_of_other_commands() {
    let dir = Dir::with_trace();
    dir.replay("search --jobs 100 --sr 1 --factors 0..1 --out out -q").code(0);
    let kept = dir.files("out");
    for command in ["", "sweep", "stream --jobs 5", "contend --scale 0.01"] {
        let grid = if command.starts_with("stream") { "" } else { "--jobs 5" };
        let failed = dir.replay(&format!("{command} {grid} --alloc mbs --out out"));
        failed.fails(2, 1, &["--out out", "results of a search"]);
    }
    assert_eq!(dir.files("out"), kept);
    dir.replay("search --jobs 100 --sr 1 --factors 0..1 --out out -q").code(0);
    // An output directory may have the name of a command.
    dir.replay("--jobs 5 --alloc mbs --out search -q").code(0);
    dir.replay("sweep --jobs 5 --alloc mbs --out search -q").fails(2, 1, &["results of a run"]);
}

fn keeps_existing_figures_without_force() {
    let dir = Dir::with_trace();
    for command in ["--jobs 30 --alloc random", "contend --jobs 20 --scale 0.01 --alloc random"] {
        let out = if command.starts_with("contend") { "c" } else { "r" };
        dir.replay(&format!("{command} -q --out {out}")).code(0);
        let kept = dir.files(out);
        let again = format!("{command} -q --no-plots --out {out}");
        dir.replay(&again).fails(2, 1, &["--no-plots: ", "which would be deleted", "--force"]);
        assert_eq!(dir.files(out), kept);
        dir.replay(&format!("{again} --force")).code(0);
        assert!(!dir.path(&format!("{out}/plots")).exists(), "no empty directory remains");
        dir.replay(&again).code(0);
    }
}

fn force_removes_old_figures() {
    let dir = Dir::with_trace().file("results/mine.txt", "keep");
    dir.replay(&format!("{GRID} --out results")).code(0);
    dir.replay("--jobs 60 --alloc mc1x1 --no-jobs --out results --force").code(0);
    let files = dir.files("results");
    let stale = |file: &&String| file.contains("improvement") || file.contains("jobs.parquet");
    assert_eq!(files.iter().find(stale), None);
    assert_eq!(dir.read("results/mine.txt"), b"keep");
}

fn streams_do_not_rank_folding_allocators_by_distance() {
    let dir = Dir::new();
    let stream = "stream --machine 8x8 --arrivals 2 --jobs 60 --min-replications 3 --max-replications 3 \
                  --alloc rsr,random,first-fit -q";
    let table = dir.replay(&format!("{stream} --sort mean_pairwise_l1")).code(0);
    let table = table.prints("Not ranked by mean_pairwise_l1: jobs run on fewer processors");
    let at = |name: &str| table.stdout.find(name).expect("a row");
    assert!(at("first-fit ") < at("Not ranked") && at("random") < at("Not ranked"));
    let loud = stream.replace(" -q", "");
    let data = dir.replay(&format!("{loud} --sort mean_pairwise_l1 --format csv")).code(0);
    data.says("not ranked by mean_pairwise_l1 (the last 1 point): ");
    let waits = dir.replay(&format!("{stream} --sort turnaround_time")).code(0);
    waits.demand(!waits.stdout.contains("Not ranked"), "times are comparable");
    dir.replay(&format!("{stream} --out out")).code(0);
    let figure =
        String::from_utf8(dir.read("out/plots/pairwise-l1--uniform--8x8--fcfs.svg")).expect("text");
    assert!(figure.contains("of strategies that fold jobs"), "{figure}");
}

fn rejects_options_without_effect() {
    let dir = Dir::with_trace();
    for option in ["--no-jobs", "--no-plots", "stream --no-plots", "contend --no-plots"] {
        dir.replay(option).refused(&["--out <DIR>"]);
    }
}

fn keeps_finished_cells_if_interrupted() {
    for signal in ["-INT", "-TERM"] {
        interrupted_by(signal);
    }
}

fn interrupted_by(signal: &str) {
    let dir = Dir::with_trace();
    // The grid has many cells, and each cell takes some tenths of a second.
    let seeds: Vec<_> = (0..200).map(|seed: u32| seed.to_string()).collect();
    let grid = format!("--machine 40x40 --alloc random,mm --seed {} --threads 1", seeds.join(","));
    let mut child = dir.start(&format!("{grid} --format json --no-jobs --out results"));
    // The first line of results shows that the program is running.
    let mut first = String::new();
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    lines.read_line(&mut first).expect("a line");
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let rest = lines.lines().count();
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert!(rest < 399, "all cells ran");
    let runs = manifest(&dir, "results")["runs"].as_array().map(Vec::len);
    assert_eq!(runs, Some(1 + rest));
    assert!(!dir.files("results").iter().any(|file| file.ends_with(".part")));
}

/// Empty tables could be mistaken for results.
fn interrupted_runs_without_results_leave_no_table() {
    let dir = Dir::with_trace();
    let program = env!("CARGO_BIN_EXE_replay");
    let grid = "--jobs 100 --machine 40x40x40 --alloc mm[order=greedy] --out results";
    let line = format!("timeout -k 30 3 {program} {grid}");
    let output = Command::new("sh").args(["-c", &line]).current_dir(dir.path("")).output();
    let run = Outcome::new(&line, output.expect("a shell")).code(124);
    run.says("nothing was done yet");
    assert!(!dir.path("results").exists());
}

/// Partial results replace complete results only with --force.
fn interrupted_runs_do_not_replace_results_without_force() {
    let dir = Dir::with_trace();
    dir.replay("--jobs 20 --alloc random --out results").code(0);
    let whole = dir.read("results/runs.csv");
    let seeds: Vec<_> = (0..200).map(|seed: u32| seed.to_string()).collect();
    let grid = format!("--machine 40x40 --alloc random,mm --seed {} --threads 1", seeds.join(","));
    // Without --force, the run with another configuration does not start.
    let run = format!("{grid} --format json --no-jobs --out results");
    dir.replay(&run).code(2).says("the directory contains the results of a run");
    assert_eq!(dir.read("results/runs.csv"), whole);
    let mut child = dir.start(&format!("{run} --force"));
    let mut first = String::new();
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
    lines.read_line(&mut first).expect("a line");
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    assert!(lines.lines().count() < 399, "all cells ran");
    assert_eq!(child.wait().expect("it ends").code(), Some(130));
    assert_ne!(dir.read("results/runs.csv"), whole);
}

/// An interrupt stops a cell even during a decision that would take very long, and a message is printed at once.
/// `timeout` sends two signals to the program.
fn interrupts_long_decisions() {
    let dir = Dir::with_trace();
    let program = env!("CARGO_BIN_EXE_replay");
    // The machine has more points than the distance tables support, so a decision takes minutes.
    for (quiet, alloc) in [("", "mm[order=greedy]"), ("-q", "gen-alg")] {
        let line = format!(
            "timeout -k 30 6 {program} {quiet} --jobs 100 --machine 48x48x48 --alloc hilbert-best-fit,{alloc} \
             --threads 2 --format csv"
        );
        let output = Command::new("sh").args(["-c", &line]).current_dir(dir.path("")).output();
        // Exit code 124 of `timeout` means that the time limit was reached and the program ended after the signal.
        let run = Outcome::new(&line, output.expect("a shell")).code(124);
        let run = run.prints("hilbert-best-fit").says("finished results are written");
        run.demand(
            run.stderr.contains("replay: stopping; ") == quiet.is_empty(),
            "a message unless quiet",
        );
    }
}

fn rejected_options_leave_no_folder() {
    let dir = Dir::with_trace();
    for refused in ["--alloc nonsense", "search --sr 0", "stream --arrivals 0", "contend --scale 0"]
    {
        dir.replay(&format!("{refused} --out results")).code(2);
        assert!(!dir.path("results").exists(), "{refused}");
    }
}

/// A search first measures its trace without a vector; until then it has no results.
fn interrupts_a_search_before_its_first_vector() {
    let dir = Dir::with_trace();
    let program = env!("CARGO_BIN_EXE_replay");
    let line = format!(
        "timeout -k 30 3 {program} search --jobs 100 --machine 40x40x40 --alloc mm[order=greedy] --out results"
    );
    let output = Command::new("sh").args(["-c", &line]).current_dir(dir.path("")).output();
    // Exit code 124 of `timeout` means that the time limit was reached and the program ended after the signal.
    Outcome::new(&line, output.expect("a shell")).code(124).says("nothing was done yet");
    assert!(!dir.path("results").exists());
}

fn interrupts_verify() {
    let dir = Dir::new();
    for (suite, word) in [("lo", "points"), ("turner", "constant workload")] {
        let mut child = dir.start(&format!("verify {suite}"));
        let mut lines = BufReader::new(child.stderr.take().expect("a pipe")).lines();
        assert!(lines.any(|line| line.expect("a line").contains(word)), "it runs");
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        assert!(lines.any(|line| line.expect("a line").contains("nothing was done yet")));
        assert_eq!(child.wait().expect("it ends").code(), Some(130));
    }
}

fn checks_the_output_directory_before_any_work() {
    let dir = Dir::with_trace().file("taken", "mine");
    // The trace does not exist: the output directory is checked before the trace is read.
    for out in ["taken", "taken/below"] {
        let words = [&format!("cannot write into --out {out}: "), "(os error "];
        dir.replay(&format!("--trace nothing --out {out}")).fails(2, 1, &words);
        // No report about cleaning is printed.
        dir.replay(&format!("--out {out}")).fails(2, 1, &words);
    }
    assert_eq!(dir.read("taken"), b"mine");
    // Create a file with the name of the directory for unfinished results.
    let dir = Dir::with_trace().file("results/unfinished.part", "");
    let failed = dir.replay("-q --jobs 20 --out results");
    failed.fails(2, 1, &["cannot write into --out results", "unfinished.part is not a directory"]);
}

fn writes_all_files_if_stdout_is_closed() {
    let dir = Dir::with_trace();
    for format in ["table", "json", "csv", "md"] {
        let arguments = format!("-q --jobs 50 --alloc mc1x1,mm --format {format} --out {format}");
        let mut child = dir.start(&arguments);
        drop(child.stdout.take());
        let output = child.wait_with_output().expect("the program ends");
        let outcome = Outcome::new(&arguments, output).code(0).says_nothing();
        let files = dir.files(format);
        for table in TABLES.iter().chain(&["manifest.json"]) {
            outcome.demand(files.iter().any(|file| file == table), &format!("{table}: {files:?}"));
        }
    }
}

fn malformed_traces_leave_no_results() {
    let dir = Dir::new().file("bad.swf", "; MaxProcs: 4\n1 0 0 5 x\n");
    dir.replay("--trace bad.swf --out results").fails(3, 3, &["bad.swf:2:9: "]);
    assert!(!dir.path("results").exists());
}

/// A full pipe blocks the run; the second signal ends the run at once.
fn second_interrupt_ends_a_run_blocked_on_stdout() {
    let dir = Dir::with_trace();
    // The output has several megabytes, but a pipe holds only 64 KiB.
    let mut child = dir.start("--alloc mm,random,mc1x1 --jobs 5 --seed 0..3000 --format json");
    let id = child.id().to_string();
    thread::sleep(Duration::from_secs(2));
    for _ in 0..2 {
        assert!(child.try_wait().expect("a child").is_none(), "it waits for its reader");
        let kill = Command::new("kill").args(["-INT", &id]).status();
        assert!(kill.expect("kill runs").success());
        thread::sleep(Duration::from_millis(500));
    }
    let hung = Instant::now() + Duration::from_secs(60);
    while child.try_wait().expect("a child").is_none() && Instant::now() < hung {
        thread::sleep(Duration::from_millis(50));
    }
    let ended = child.try_wait().expect("a child");
    child.kill().expect("a child");
    assert_eq!(ended.and_then(|status| status.code()), Some(130));
}
