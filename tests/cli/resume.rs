//! Commands with a journal that are killed, interrupted, starved of disk or damaged, and go on.

use std::fs;
use std::process::{Child, Command};
use std::thread::sleep;
use std::time::{Duration, Instant};

use rand::RngExt;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

use super::dir::{Dir, Outcome};
use super::sweep::{GRID, TABLES};

trials!(
    killed_at_any_time_it_goes_on,
    ctrl_c_keeps_what_is_done,
    a_torn_record_is_dropped,
    a_damaged_record_runs_again,
    a_full_disk_loses_nothing,
    a_failed_cell_waits_to_be_asked_for,
    a_folder_in_use_is_refused,
    another_build_does_not_go_on_unseen,
    equal_cells_are_not_done_before,
    killed_streams_and_contention_go_on,
    interrupted_streams_and_contention_go_on,
    what_others_left_of_a_stream_is_not_mixed_in,
);

/// Kills; every one is followed by a resumption.
const KILLS: u32 = 20;

fn clean() -> Dir {
    clean_grid(GRID)
}

fn clean_grid(grid: &str) -> Dir {
    let dir = Dir::with_trace().file("grid.toml", grid);
    dir.replay("sweep grid.toml -q --out clean").code(0);
    dir
}

fn same_as_clean(dir: &Dir, out: &str) {
    for table in TABLES {
        let same = dir.read(&format!("{out}/{table}")) == dir.read(&format!("clean/{table}"));
        assert!(same, "{out}/{table} differs from that of an uninterrupted run");
    }
    let half: Vec<_> = dir.files(out).into_iter().filter(|file| file.ends_with(".part")).collect();
    assert!(half.is_empty(), "{half:?}");
}

/// Whole records of a journal.
fn records(dir: &Dir, out: &str) -> usize {
    let text = fs::read(dir.path(out).join("journal.txt")).unwrap_or_default();
    text.iter().filter(|&&byte| byte == b'\n').count().saturating_sub(1)
}

fn killed_at_any_time_it_goes_on() {
    // Cells long enough to be killed amid them.
    let dir = clean_grid(&GRID.replace("jobs = 150", "jobs = 600"));
    let sweep = |kill: u32| format!("sweep grid.toml --threads {} --out {kill}", 1 + kill % 2);
    // How long it takes, so that kills fall everywhere from the first instant to the last;
    // where other work disturbs the clock, every other one waits for a number of records.
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
        // The same command, and only what is missing runs.
        let resumed = dir.replay(&sweep(kill)).code(0);
        resumed.says(&format!("{done} done before, {} run", 122 - done));
        same_as_clean(&dir, &out);
    }
    assert!(amid >= 5, "only {amid} of {KILLS} kills met a sweep at work");
}

/// A sweep of cells that take some hundredths of a second each.
const SLOW: &str = "sweep --machine 40x40 --alloc random,mm --jobs 1000 --threads 1 --seed ";

fn slow(seeds: u32) -> String {
    let seeds: Vec<_> = (0..seeds).map(|seed| seed.to_string()).collect();
    format!("{SLOW}{}", seeds.join(","))
}

/// Waits until the sweep has journalled so many cells.
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

fn ctrl_c_keeps_what_is_done() {
    let dir = Dir::with_trace();
    let sweep = format!("{} --out out", slow(40));
    let child = dir.start(&sweep);
    await_records(&dir, "out", 1);
    let kill = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    let stopped = ended(&sweep, child).code(130);
    let stopped = stopped.says("cells left; the same command goes on from out/journal.txt");
    stopped.demand(stopped.stdout.is_empty(), "no results yet");
    let done = records(&dir, "out");
    assert!((1..80).contains(&done), "{done} of 80");
    assert!(!dir.path("out/runs.csv").exists());
    dir.replay(&sweep).code(0).says(&format!("sweep: 80 cells: {done} done before"));
}

fn a_torn_record_is_dropped() {
    let dir = clean();
    dir.replay("sweep grid.toml -q --out out").code(0);
    let journal = dir.path("out/journal.txt");
    let text = fs::read(&journal).expect("a journal");
    // Within the header, just after it, within a record, before a line's end.
    for cut in [0, 5, 17, 18, 100, text.len() / 2, text.len() - 1] {
        fs::write(&journal, &text[..cut]).expect("a file");
        let done = records(&dir, "out");
        let resumed = dir.replay("sweep grid.toml --out out").code(0);
        resumed.says(&format!("sweep: 122 cells: {done} done before"));
        same_as_clean(&dir, "out");
    }
}

fn a_damaged_record_runs_again() {
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
    same_as_clean(&dir, "out");
}

fn a_full_disk_loses_nothing() {
    // A limit on the size of files stands for a disk that fills up.
    if !cfg!(target_os = "linux") {
        return;
    }
    let dir = clean();
    let whole = dir.read("clean/journal.txt").len();
    // In units of 1,024 bytes.
    let limited = |units: usize| {
        let program = env!("CARGO_BIN_EXE_replay");
        let line = format!("ulimit -f {units}; exec {program} sweep grid.toml -q --out out");
        let output = Command::new("bash").args(["-c", &line]).current_dir(dir.path("")).output();
        Outcome::new(&line, output.expect("bash"))
    };
    let mut before = 0;
    for part in [8, 4, 2] {
        let failed = limited(whole / part / 1024);
        failed.fails(2, 1, &["cannot write out/journal.txt: File too large"]);
        let done = records(&dir, "out");
        assert!(done > before && done < 122, "{before}, then {done}");
        before = done;
    }
    let resumed = dir.replay("sweep grid.toml --out out").code(0);
    resumed.says(&format!("sweep: 122 cells: {before} done before"));
    same_as_clean(&dir, "out");
}

fn a_failed_cell_waits_to_be_asked_for() {
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
    same_as_clean(&dir, "out");
}

fn another_build_does_not_go_on_unseen() {
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
        let words =
            ["clean was begun by replay ", other, "this is replay ", "--force discards its cells"];
        dir.replay("sweep grid.toml -q --out clean").fails(2, 1, &words);
        // Nor are they put together.
        dir.replay("sweep grid.toml -q --out other").code(0);
        let words = ["other was run by replay ", other, "--other-build merges them"];
        dir.replay("merge other clean -q --out merged").fails(3, 1, &words);
        dir.replay("merge other clean -q --other-build --out merged").code(0);
        assert_eq!(manifest("merged")["builds"].as_array().map(Vec::len), Some(2));
        // The user's word, and it is not forgotten.
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
    // Where the commit alone differs, in a comment of another file, the sources are the same.
    let older = plan.replace(&value("commit"), "\"commit\": \"000000000000\"");
    fs::write(dir.path("clean/plan.json"), older).expect("a file");
    dir.replay("sweep grid.toml -q --out clean").code(0);
}

fn equal_cells_are_not_done_before() {
    let dir = Dir::with_trace();
    let sweep = "sweep --policy johnson,strict --jobs 30 --alloc mm --out out";
    dir.replay(sweep).code(0).says("sweep: 2 cells: 0 done before, 1 run, 1 equal to others");
    dir.replay(sweep).code(0).says("sweep: 2 cells: 2 done before, 0 run");
}

fn a_folder_in_use_is_refused() {
    let dir = Dir::with_trace();
    let sweep = format!("{} --out out", slow(200));
    let mut child = dir.start(&sweep);
    await_records(&dir, "out", 1);
    let holder = format!("replay: out is in use by process {} on ", child.id());
    dir.replay(&sweep).fails(2, 1, &[&holder]);
    dir.replay("merge out --out merged").fails(2, 1, &[&holder]);
    // Nor does another command write there, now or when it was cut off.
    let search = "search --jobs 50 --sr 1 --factors 0..1 -q --out out";
    dir.replay(search).fails(2, 1, &[&holder]);
    child.kill().expect("it can be killed");
    child.wait().expect("it ends");
    dir.replay(search).fails(2, 1, &["an unfinished sweep"]);
    // The system has let go of the folder.
    dir.replay("sweep -q --jobs 20 --out out --force").code(0);
}

/// Commands that keep a journal until their results come, with the number of their cells. A cell
/// takes tens of milliseconds, so that a signal comes amid them.
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

/// Starts a command into `out` and ends it by a signal when so many cells are journalled.
fn ended_amid(dir: &Dir, command: &str, cells: usize, signal: &str) -> Outcome {
    let command = format!("{command} --threads 1 --out out");
    let child = dir.start(&command);
    await_records(dir, "out", cells);
    let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
    assert!(kill.expect("kill runs").success());
    ended(&command, child)
}

/// Both folders have the same results, and nothing else.
fn same_results(dir: &Dir, one: &str, other: &str) {
    assert_eq!(dir.files(one), dir.files(other));
    for file in dir.files(one).iter().filter(|file| *file != "manifest.json") {
        let same = dir.read(&format!("{one}/{file}")) == dir.read(&format!("{other}/{file}"));
        assert!(same, "{one}/{file} differs from {other}/{file}");
    }
}

fn killed_streams_and_contention_go_on() {
    for (command, cells) in OTHERS {
        let dir = Dir::with_trace();
        dir.replay(&format!("{command} -q --threads 2 --out clean")).code(0);
        ended_amid(&dir, command, 2, "-KILL");
        assert_eq!(dir.files("out"), ["journal.txt", "lock", "plan.json"]);
        // As if it had been killed while it wrote: the torn record does not count.
        let journal = dir.path("out/journal.txt");
        let text = fs::read(&journal).expect("a journal");
        fs::write(&journal, &text[..text.len() - 1]).expect("a file");
        let done = records(&dir, "out");
        assert!((1..cells).contains(&done), "{done} of {cells}");
        let resumed = dir.replay(&format!("{command} --threads 2 --out out")).code(0);
        resumed.says(&format!("{cells} cells: {done} done before, {} to run", cells - done));
        same_results(&dir, "out", "clean");
    }
}

fn interrupted_streams_and_contention_go_on() {
    for (command, cells) in OTHERS {
        let dir = Dir::with_trace();
        dir.replay(&format!("{command} -q --threads 2 --out clean")).code(0);
        let stopped = ended_amid(&dir, command, 1, "-INT").code(130);
        let done = records(&dir, "out");
        assert!((1..cells).contains(&done), "{done} of {cells}");
        let stopped = stopped.says(&format!("what was done is written: {done} of {cells} "));
        stopped.says("; the same command goes on from out/journal.txt");
        let again = format!("{command} --threads 2 --out out");
        dir.replay(&again).code(0).says(&format!("{done} done before"));
        same_results(&dir, "out", "clean");
        // It is done: the same command begins anew.
        let anew = dir.replay(&again).code(0);
        anew.demand(!anew.stderr.contains("done before"), "no journal is left");
        same_results(&dir, "out", "clean");
    }
}

fn what_others_left_of_a_stream_is_not_mixed_in() {
    let (stream, contend) = (OTHERS[0].0, OTHERS[1].0);
    let dir = Dir::with_trace();
    ended_amid(&dir, stream, 2, "-KILL");
    // At least two: on a busy machine the kill comes later than the record it waited for.
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
    // Another command, another build, another file.
    for other in [contend, "sweep --jobs 20"] {
        dir.replay(&format!("{other} -q --out out")).fails(2, 1, &["an unfinished stream"]);
    }
    let plan = String::from_utf8(left[1].1.clone()).expect("text");
    let sources: serde_json::Value = serde_json::from_str(&plan).expect("JSON");
    let sources = sources["plan"]["sources"].as_str().expect("a digest");
    fs::write(dir.path("out/plan.json"), plan.replace(sources, "0123456789abcdef"))
        .expect("a file");
    let resume = format!("{stream} --out out");
    let words = ["out was begun by replay ", "this is replay ", "--force discards its cells"];
    dir.replay(&resume).fails(2, 1, &words);
    restore();
    fs::write(dir.path("out/journal.txt"), "my notes\n").expect("a file");
    dir.replay(&resume).fails(3, 1, &["out/journal.txt is no journal", "move it away"]);
    // Another configuration does not take the place of an unfinished one; by force, nothing of it is done.
    restore();
    let other = format!("{resume} --seed 7");
    dir.replay(&other).fails(2, 1, &["an unfinished command of another configuration"]);
    let seed = dir.replay(&format!("{other} --force")).code(0);
    seed.demand(!seed.stderr.contains("done before"), "no cell of seed 7 is known");
    dir.replay(&format!("{stream} --seed 7 -q --out clean")).code(0);
    same_results(&dir, "out", "clean");
    // A grown one: what is the same is kept.
    restore();
    let grown = stream.replace("1..4:1", "1..5:1");
    let resumed = dir.replay(&format!("{grown} --out out")).code(0);
    resumed.says(&format!("10 cells: {done} done before, {} to run", 10 - done));
    restore();
    let anew = dir.replay(&format!("{resume} --force")).code(0);
    anew.demand(!anew.stderr.contains("done before"), "begun anew");
}
