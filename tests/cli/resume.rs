//! Commands with a journal resume after a kill, an interrupt, a full disk or a damaged journal.

use std::fs;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::dir::{Dir, Outcome};
use super::sweep::{GRID, assert_equal_tables};

trials!(
    resumes_after_kills_at_random_times,
    keeps_finished_cells_after_an_interrupt,
    drops_truncated_records,
    reruns_damaged_records,
    resumes_after_a_full_disk,
    retries_failed_cells_only_on_request,
    rejects_a_directory_in_use,
    rejects_journals_of_another_build,
    rejects_results_of_an_edited_topology_file,
    runs_equal_cells_once,
    resumes_killed_streams_and_contention,
    resumes_interrupted_streams_and_contention,
    an_interrupt_before_the_first_cell_names_no_journal,
    resumes_interrupted_sweeps_with_tables,
    does_not_mix_in_other_unfinished_results,
);

/// Number of kills, each followed by a resumption.
const KILLS: u32 = 20;

fn clean() -> Dir {
    clean_grid(GRID)
}

fn clean_grid(grid: &str) -> Dir {
    let dir = Dir::with_trace().file("grid.toml", grid);
    dir.replay("sweep grid.toml -q --out clean").code(0);
    dir
}

fn assert_equals_clean(dir: &Dir, out: &str) {
    assert_equal_tables(dir, out, "clean");
    let half: Vec<_> = dir.files(out).into_iter().filter(|file| file.ends_with(".part")).collect();
    assert!(half.is_empty(), "{half:?}");
}

/// Returns the number of complete records in a journal.
fn records(dir: &Dir, out: &str) -> usize {
    let text = fs::read(dir.path(out).join("journal.txt")).unwrap_or_default();
    text.iter().filter(|&&byte| byte == b'\n').count().saturating_sub(1)
}

fn resumes_after_kills_at_random_times() {
    // Cells must take long enough that the program is killed while a cell runs.
    let dir = clean_grid(&GRID.replace("jobs = 150", "jobs = 600"));
    let sweep = |kill: u32| format!("sweep grid.toml --threads {} --out {kill}", 1 + kill % 2);
    // Measure the duration of a run, so that kills are spread over the whole run. Every second kill waits for a number
    // of records instead, because the load of the machine may change the duration.
    let begin = Instant::now();
    dir.replay(&sweep(KILLS)).code(0);
    let duration = begin.elapsed();
    let mut random = ChaCha8Rng::seed_from_u64(20);
    let mut amid = 0;
    for kill in 0..KILLS {
        let out = kill.to_string();
        let mut child = dir.start(&sweep(kill));
        if kill % 2 == 0 {
            sleep(duration.mul_f64(random.random_range(0.0..1.1)));
        } else {
            await_records(&dir, &out, random.random_range(1..110));
        }
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        let done = records(&dir, &out);
        amid += u32::from(0 < done && done < 122);
        // If the same command runs again, it runs only the missing cells.
        let resumed = dir.replay(&sweep(kill)).code(0);
        resumed.says(&format!("{done} done before, {} run", 122 - done));
        assert_equals_clean(&dir, &out);
    }
    assert!(amid >= 5, "only {amid} of {KILLS} kills hit a running sweep");
}

/// A sweep whose cells take some hundredths of a second each.
const SLOW: &str = "sweep --machine 40x40 --alloc random,mm --jobs 1000 --threads 1 --seed ";

fn slow(seeds: u32) -> String {
    let seeds: Vec<_> = (0..seeds).map(|seed| seed.to_string()).collect();
    format!("{SLOW}{}", seeds.join(","))
}

/// Waits until the journal has `number` records.
fn await_records(dir: &Dir, out: &str, number: usize) {
    let begin = Instant::now();
    while records(dir, out) < number {
        assert!(begin.elapsed() < Duration::from_secs(60), "no {number} cells were journalled");
        sleep(Duration::from_micros(500));
    }
}

fn ended(arguments: &str, child: Child) -> Outcome {
    Outcome::new(arguments, child.wait_with_output().expect("it ends"))
}

fn keeps_finished_cells_after_an_interrupt() {
    let dir = Dir::with_trace();
    let sweep = format!("{} --out out", slow(40));
    let child = dir.start(&sweep);
    await_records(&dir, "out", 1);
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let stopped = ended(&sweep, child).code(130);
    let stopped = stopped.says("cells left; the same command continues from out/journal.txt");
    stopped.demand(stopped.stdout.is_empty(), "no results yet");
    let done = records(&dir, "out");
    assert!((1..80).contains(&done), "{done} of 80");
    assert!(!dir.path("out/runs.csv").exists());
    dir.replay(&sweep).code(0).says(&format!("sweep: 80 cells: {done} done before"));
}

fn drops_truncated_records() {
    let dir = clean();
    dir.replay("sweep grid.toml -q --out out").code(0);
    let journal = dir.path("out/journal.txt");
    let text = fs::read(&journal).expect("a journal");
    // Cut the journal within the header, just after the header, within a record, and before the end of a line.
    for cut in [0, 5, 17, 18, 100, text.len() / 2, text.len() - 1] {
        fs::write(&journal, &text[..cut]).expect("a file");
        let done = records(&dir, "out");
        let resumed = dir.replay("sweep grid.toml --out out").code(0);
        resumed.says(&format!("sweep: 122 cells: {done} done before"));
        assert_equals_clean(&dir, "out");
    }
}

fn reruns_damaged_records() {
    let dir = clean();
    dir.replay("sweep grid.toml -q --out out").code(0);
    let journal = dir.path("out/journal.txt");
    let mut text = fs::read(&journal).expect("a journal");
    let middle = text.len() / 2;
    text[middle] ^= 1;
    let line = 1 + text[..middle].iter().filter(|&&byte| byte == b'\n').count();
    fs::write(&journal, &text).expect("a file");
    let resumed = dir.replay("sweep grid.toml --out out").code(0);
    let resumed = resumed.says(&format!("out/journal.txt:{line}: damaged record skipped"));
    resumed.says("sweep: 122 cells: 121 done before, 1 run");
    assert_equals_clean(&dir, "out");
}

fn resumes_after_a_full_disk() {
    // A limit on file size stands for a full disk.
    if !cfg!(target_os = "linux") {
        return;
    }
    let dir = clean();
    let whole = dir.read("clean/journal.txt").len();
    // The limit is in units of 1,024 bytes.
    let limited = |units: usize| {
        let program = env!("CARGO_BIN_EXE_replay");
        let line = format!("ulimit -f {units}; exec {program} sweep grid.toml -q --out out");
        let output = Command::new("bash").args(["-c", &line]).current_dir(dir.path("")).output();
        Outcome::new(&line, output.expect("bash"))
    };
    let mut before = 0;
    for part in [8, 4, 2] {
        let failed = limited(whole / part / 1024);
        failed.fails(4, 1, &["cannot write out/journal.txt: File too large"]);
        let done = records(&dir, "out");
        assert!(done > before && done < 122, "{before}, then {done}");
        before = done;
    }
    let resumed = dir.replay("sweep grid.toml --out out").code(0);
    resumed.says(&format!("sweep: 122 cells: {before} done before"));
    assert_equals_clean(&dir, "out");
}

fn retries_failed_cells_only_on_request() {
    use replay::experiment::journal::Journal;
    let dir = clean();
    let plan = dir.replay("plan grid.toml -q --list --format json").code(0);
    let id = plan.fields(&["cell"])[7].parse().expect("an id");
    fs::create_dir(dir.path("out")).expect("a folder");
    let out = replay::experiment::files::Dir::open(&dir.path("out")).expect("a folder");
    let mut journal =
        Journal::<replay::experiment::RunResult>::open(&out, true).expect("a journal");
    journal.append(id, Err("made to fail")).expect("a record");
    drop(journal);
    for _ in 0..2 {
        dir.replay("sweep grid.toml -q --out out").code(1);
        let manifest: serde_json::Value =
            serde_json::from_slice(&dir.read("out/manifest.json")).expect("JSON");
        let failed = manifest["failed"].as_array().expect("a list");
        assert!(
            failed.len() == 1
                && failed[0].as_str().is_some_and(|why| why.ends_with(": made to fail"))
        );
        let table = String::from_utf8(dir.read("out/runs.csv")).expect("text");
        assert!(!table.lines().any(|line| line.starts_with("7,")), "{table}");
        assert_eq!(table.lines().count(), 122);
    }
    let retried = dir.replay("sweep grid.toml --retry-failed --out out").code(0);
    retried.says("sweep: 122 cells: 121 done before, 1 run");
    assert_equals_clean(&dir, "out");
}

/// The content of a topology file is part of the identity of a cell, so an edited file does not continue old results.
fn rejects_results_of_an_edited_topology_file() {
    let tree = |leaf: &str, rest: &str| {
        format!(
            "SwitchName=s0 Nodes={leaf}\nSwitchName=s1 Nodes={rest}\nSwitchName=t Switches=s[0-1]\n"
        )
    };
    let file = tree("n[0-49]", "n[50-99]");
    let dir = Dir::with_trace().file("topology.conf", &file);
    let sweep = "sweep --jobs 100 --machine topology.conf --alloc slurm-tree,random -q --out out";
    dir.replay(sweep).code(0);
    let runs = dir.read("out/runs.csv");
    let cut = |name: &str| {
        let journal = String::from_utf8(dir.read(&format!("out/{name}"))).expect("text");
        let lines: Vec<&str> = journal.lines().collect();
        fs::write(dir.path("out").join(name), lines[..lines.len() - 1].join("\n") + "\n")
            .expect("a file");
    };
    cut("journal.txt");
    fs::write(dir.path("topology.conf"), tree("n[0-9]", "n[10-99]")).expect("a file");
    dir.replay(sweep).fails(2, 1, &["cannot write into --out out"]);
    fs::write(dir.path("topology.conf"), file).expect("a file");
    dir.replay(sweep).code(0);
    assert!(dir.read("out/runs.csv") == runs);
}

fn rejects_journals_of_another_build() {
    let dir = clean();
    let plan = String::from_utf8(dir.read("clean/plan.json")).expect("text");
    let manifest = |out: &str| -> serde_json::Value {
        serde_json::from_slice(&dir.read(&format!("{out}/manifest.json"))).expect("JSON")
    };
    let this: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
    let value = |key: &str| format!("\"{key}\": {}", this["plan"][key]);
    let table = dir.read("clean/runs.csv");
    assert_eq!(manifest("clean")["builds"].as_array().map(Vec::len), Some(1));
    for (key, other) in [("version", "0.0.9"), ("sources", "0123456789abcdef")] {
        let older = plan.replace(&value(key), &format!("\"{key}\": \"{other}\""));
        assert_ne!(plan, older);
        fs::write(dir.path("clean/plan.json"), &older).expect("a file");
        let words = [
            "clean was begun by replay ",
            other,
            "this build is replay ",
            "--force discards the finished cells",
        ];
        dir.replay("sweep grid.toml -q --out clean").fails(2, 1, &words);
        // `merge` also rejects shards of different builds.
        dir.replay("sweep grid.toml -q --out other").code(0);
        let words = ["other was run by replay ", other, "--other-build merges both shards"];
        dir.replay("merge other clean -q --out merged").fails(3, 1, &words);
        dir.replay("merge other clean -q --other-build --out merged").code(0);
        assert_eq!(manifest("merged")["builds"].as_array().map(Vec::len), Some(2));
        // --other-build allows the sweep to continue, and the manifest records both builds.
        let goes_on = "sweep grid.toml --other-build --out clean";
        dir.replay(goes_on).code(0).says("122 done before, 0 run");
        for _ in 0..2 {
            dir.replay("sweep grid.toml -q --out clean").code(0);
            let builds = manifest("clean")["builds"].clone();
            assert_eq!(builds.as_array().map(Vec::len), Some(2), "{builds}");
            assert_eq!(builds[0][key], other);
            assert_eq!(builds[1], manifest("other")["builds"][0]);
        }
        dir.replay("sweep grid.toml -q --force --out clean").code(0);
        assert_eq!(dir.read("clean/plan.json"), plan.as_bytes());
        assert_eq!(dir.read("clean/runs.csv"), table);
    }
    // A different commit with equal sources is the same build.
    let older = plan.replace(&value("commit"), "\"commit\": \"000000000000\"");
    fs::write(dir.path("clean/plan.json"), older).expect("a file");
    dir.replay("sweep grid.toml -q --out clean").code(0);
}

fn runs_equal_cells_once() {
    let dir = Dir::with_trace();
    let sweep = "sweep --policy johnson,strict --jobs 30 --alloc mm --out out";
    dir.replay(sweep).code(0).says("sweep: 2 cells: 0 done before, 1 run, 1 equal to others");
    dir.replay(sweep).code(0).says("sweep: 2 cells: 2 done before, 0 run");
}

fn rejects_a_directory_in_use() {
    let dir = Dir::with_trace();
    let sweep = format!("{} --out out", slow(200));
    let mut child = dir.start(&sweep);
    await_records(&dir, "out", 1);
    let holder = format!("replay: out is in use by process {} on ", child.id());
    dir.replay(&sweep).fails(2, 1, &[&holder]);
    dir.replay("merge out --out merged").fails(2, 1, &[&holder]);
    // Another command is rejected, both while the sweep runs and after it was killed.
    let search = "search --jobs 50 --sr 1 --factors 0..1 -q --out out";
    dir.replay(search).fails(2, 1, &[&holder]);
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    dir.replay(search).fails(2, 1, &["an unfinished sweep"]);
    // The lock is released after the kill.
    dir.replay("sweep -q --jobs 20 --out out --force").code(0);
}

/// Commands that keep a journal until their results are written, with their numbers of cells. A
/// cell takes tens of milliseconds, so that a signal hits a running cell.
const OTHERS: [(&str, usize); 3] = [
    (
        "stream --machine 8x8 --arrivals 1..4:1 --jobs 4000 --alloc first-fit,mbs --min-replications 30 \
         --max-replications 30 --no-plots",
        8,
    ),
    ("contend --jobs 400 --scale 0.5 --alloc mbs,first-fit,random --seed 0..2 --no-plots", 9),
    (
        "stream --backlog 1,16 --machine torus:8x8x8 --menu pow2 --mix uniform,cubes --rules first,slurm --jobs 600 \
         --replications 10 --no-plots",
        8,
    ),
];

/// Starts a command with output to `out`, and sends a signal to the command once `cells` cells are in the journal.
fn ended_amid(dir: &Dir, command: &str, cells: usize, signal: &str) -> Outcome {
    let command = format!("{command} --threads 1 --out out");
    let child = dir.start(&command);
    await_records(dir, "out", cells);
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    ended(&command, child)
}

/// Asserts that two directories have equal results and no other files.
fn assert_equal_results(dir: &Dir, one: &str, other: &str) {
    assert_eq!(dir.files(one), dir.files(other));
    for file in dir.files(one).iter().filter(|file| *file != "manifest.json") {
        let same = dir.read(&format!("{one}/{file}")) == dir.read(&format!("{other}/{file}"));
        assert!(same, "{one}/{file} differs from {other}/{file}");
    }
}

fn resumes_killed_streams_and_contention() {
    for (command, cells) in OTHERS {
        let dir = Dir::with_trace();
        dir.replay(&format!("{command} -q --threads 2 --out clean")).code(0);
        ended_amid(&dir, command, 2, "-KILL");
        assert_eq!(dir.files("out"), ["journal.txt", "lock", "plan.json"]);
        // Truncate the last record, as a kill during a write would.
        let journal = dir.path("out/journal.txt");
        let text = fs::read(&journal).expect("a journal");
        fs::write(&journal, &text[..text.len() - 1]).expect("a file");
        let done = records(&dir, "out");
        assert!((1..cells).contains(&done), "{done} of {cells}");
        let resumed = dir.replay(&format!("{command} --threads 2 --out out")).code(0);
        resumed.says(&format!("{cells} cells: {done} done before, {} to run", cells - done));
        assert_equal_results(&dir, "out", "clean");
    }
}

fn resumes_interrupted_streams_and_contention() {
    for (command, cells) in OTHERS {
        let dir = Dir::with_trace();
        dir.replay(&format!("{command} -q --threads 2 --out clean")).code(0);
        let stopped = ended_amid(&dir, command, 1, "-INT").code(130);
        let done = records(&dir, "out");
        assert!((1..cells).contains(&done), "{done} of {cells}");
        let stopped = stopped.says(&format!("finished results are written: {done} of {cells} "));
        stopped.says("; the same command continues from out/journal.txt");
        let again = format!("{command} --threads 2 --out out");
        dir.replay(&again).code(0).says(&format!("{done} done before"));
        assert_equal_results(&dir, "out", "clean");
        // After completion, the same command starts again.
        let anew = dir.replay(&again).code(0);
        anew.demand(!anew.stderr.contains("done before"), "no journal is left");
        assert_equal_results(&dir, "out", "clean");
    }
}

fn an_interrupt_before_the_first_cell_names_no_journal() {
    // The first cell takes minutes.
    let contend = "contend --jobs 5000 --scale 50 --alloc random --seed 0..2 --no-plots";
    let sweep = "sweep --machine 100x100 --alloc gen-alg --jobs 10000";
    for command in [contend, sweep] {
        let dir = Dir::with_trace();
        let command = format!("{command} --threads 1 --out out");
        let child = dir.start(&command);
        let begin = Instant::now();
        while !dir.path("out/journal.txt").exists() {
            assert!(begin.elapsed() < Duration::from_secs(60), "no journal");
            sleep(Duration::from_millis(1));
        }
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let stopped = ended(&command, child).code(130).says("replay: interrupted");
        stopped.demand(!stopped.stderr.contains("continues from"), "no journal remains");
        assert_eq!(records(&dir, "out"), 0);
    }
}

/// A sweep with tables of jobs and placements continues after an interrupt, and its files equal those of an
/// uninterrupted sweep.
fn resumes_interrupted_sweeps_with_tables() {
    for (option, table) in [("--job-table", "jobs.parquet"), ("--placements", "placements.parquet")]
    {
        let dir = Dir::with_trace();
        let sweep = format!("{} {option} --out out", slow(10));
        dir.replay(&format!("{} {option} -q --out clean", slow(10))).code(0);
        let child = dir.start(&sweep);
        await_records(&dir, "out", 3);
        let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let stopped = ended(&sweep, child).code(130);
        stopped.says("left; the same command continues from out/journal.txt");
        assert!((1..20).contains(&records(&dir, "out")), "interrupted while cells ran");
        assert!(!dir.path(&format!("out/{table}")).exists(), "no partial table");
        dir.replay(&sweep).code(0);
        assert_equals_clean(&dir, "out");
        let is_equal = dir.read(&format!("out/{table}")) == dir.read(&format!("clean/{table}"));
        assert!(is_equal, "{table} differs from the table of an uninterrupted sweep");
    }
}

fn does_not_mix_in_other_unfinished_results() {
    let (stream, contend) = (OTHERS[0].0, OTHERS[1].0);
    let dir = Dir::with_trace();
    ended_amid(&dir, stream, 2, "-KILL");
    // There are at least two records. On a busy machine, more records may be written before the kill.
    let done = records(&dir, "out");
    let left: Vec<_> =
        ["journal.txt", "plan.json"].map(|name| (name, dir.read(&format!("out/{name}")))).into();
    let restore = || {
        let _ = fs::remove_dir_all(dir.path("out"));
        fs::create_dir(dir.path("out")).expect("a folder");
        for (name, text) in &left {
            fs::write(dir.path(&format!("out/{name}")), text).expect("a file");
        }
    };
    // Test another command, another build, and another file in place of the journal.
    for other in [contend, "sweep --jobs 20"] {
        dir.replay(&format!("{other} -q --out out")).fails(2, 1, &["an unfinished stream"]);
    }
    let plan = String::from_utf8(left[1].1.clone()).expect("text");
    let sources: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
    let sources = sources["plan"]["sources"].as_str().expect("a digest");
    fs::write(dir.path("out/plan.json"), plan.replace(sources, "0123456789abcdef"))
        .expect("a file");
    let resume = format!("{stream} --out out");
    let words = [
        "out was begun by replay ",
        "this build is replay ",
        "--force discards the finished cells",
    ];
    dir.replay(&resume).fails(2, 1, &words);
    restore();
    fs::write(dir.path("out/journal.txt"), "my notes\n").expect("a file");
    dir.replay(&resume).fails(3, 1, &["out/journal.txt is not a journal", "move the journal away"]);
    // Another configuration replaces an unfinished run only with --force, and reuses none of its cells.
    restore();
    let other = format!("{resume} --seed 7");
    dir.replay(&other).fails(2, 1, &["a command with other options or traces"]);
    let seed = dir.replay(&format!("{other} --force")).code(0);
    seed.demand(!seed.stderr.contains("done before"), "no cell of seed 7 is known");
    dir.replay(&format!("{stream} --seed 7 -q --out clean")).code(0);
    assert_equal_results(&dir, "out", "clean");
    // A larger grid reuses the finished cells.
    restore();
    let grown = stream.replace("1..4:1", "1..5:1");
    let resumed = dir.replay(&format!("{grown} --out out")).code(0);
    resumed.says(&format!("10 cells: {done} done before, {} to run", 10 - done));
    restore();
    let anew = dir.replay(&format!("{resume} --force")).code(0);
    anew.demand(!anew.stderr.contains("done before"), "--force reuses no cells");
}
