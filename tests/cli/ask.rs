//! `replay search --strategy external`: other programs ask.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use super::dir::{Dir, Outcome, checkout, ignored, trial};

/// The tests of this file.
pub fn trials() -> Vec<Trial> {
    let run = |name, test| trial(module_path!(), name, test);
    let name = "a_python_program_asks";
    let python = Command::new("python3").arg("--version").output();
    vec![
        run("a_shell_script_asks", a_shell_script_asks),
        run("a_program_that_asks_nonsense", a_program_that_asks_nonsense),
        run("a_program_that_fails_costs_nothing", a_program_that_fails_costs_nothing),
        run("nobody_waits_for_a_program_that_is_wrong", nobody_waits_for_a_program_that_is_wrong),
        run("nobody_waits_for_a_silent_program", nobody_waits_for_a_silent_program),
        run("a_flood_takes_no_memory", a_flood_takes_no_memory),
        run("a_program_does_not_outlive_its_search", a_program_does_not_outlive_its_search),
        match python {
            Ok(found) if found.status.success() => run(name, a_python_program_asks),
            _ => ignored(module_path!(), name, "no python3"),
        },
    ]
}

fn a_shell_script_asks() {
    let script = "read begin; echo '{\"ask\":[[2,2,2,2],[3,1,0,0,0.2],[2,0,0,0]]}'; read tell; \
                  echo \"$begin\" >begin.json; echo \"$tell\" >tell.json\n";
    let dir = Dir::with_trace().file("ask.sh", script);
    let run = dir
        .replay(
            "search -q --jobs 100 --strategy external --slack 0..0.2:0.1 --ask-command sh${IFS}ask.sh \
             --format json",
        )
        .code(0);
    run.demand(run.objects().len() == 3, "none, and two");
    let said = |file: &str| -> serde_json::Value {
        serde_json::from_slice(&dir.read(file)).expect("JSON")
    };
    let (begin, tell) = (said("begin.json"), said("tell.json"));
    assert_eq!(begin["begin"]["protocol"], 1);
    assert_eq!(begin["begin"]["scan_radius"], serde_json::json!([1, 10]));
    let answers = tell["tell"].as_array().expect("answers");
    assert_eq!(answers[0]["vector"], serde_json::json!([2, 1, 1, 1]));
    assert!(answers[1]["improvement_percent"].is_number() && answers[2].is_null());
    assert_eq!(begin["begin"]["slack"], serde_json::json!([0.0, 0.1, 0.2]));
    assert_eq!((&answers[0]["slack"], &answers[1]["slack"]), (&0.0.into(), &0.2.into()));
}

fn a_program_that_asks_nonsense() {
    let search = "search -q --jobs 50 --strategy external --ask-command";
    let dir = Dir::with_trace();
    for (command, words) in [
        ("echo${IFS}hello", "line 1: \"hello\" is not JSON"),
        ("echo${IFS}{}", "is not {\"ask\":"),
        ("echo${IFS}'{\"ask\":[[1,2]]}'", "[1,2] is not [SR,AF,WF,BF]"),
        ("echo${IFS}'{\"ask\":[5]}'", "5 is not [SR,AF,WF,BF]"),
        ("echo${IFS}'{\"ask\":[[1,2,3,0.5]]}'", "not four integers"),
        ("echo${IFS}'{\"ask\":[[1,2,3,4,2]]}'", "from 0 to 1"),
        ("exit${IFS}7", "exit status: 7"),
    ] {
        dir.replay(&format!("{search} {command}")).fails(3, 1, &[words]);
    }
}

/// It has no time to go on after a mistake: the user hears of it at once.
fn nobody_waits_for_a_program_that_is_wrong() {
    let dir = Dir::with_trace().file("ask.sh", "echo nonsense; sleep 3; echo >late\n");
    let search = "search -q --jobs 50 --strategy external --ask-command sh${IFS}ask.sh";
    dir.replay(search).fails(3, 1, &["is not JSON"]);
    sleep(Duration::from_millis(3500));
    assert!(!dir.path("late").exists(), "it went on");
}

/// A program that says nothing, or will not end, holds a search up for its time only.
fn nobody_waits_for_a_silent_program() {
    let dir = Dir::with_trace();
    // Answers that nobody reads fill their pipe.
    let question = format!("{{\"ask\":[{}[2,1,1,1]]}}", "[2,1,1,1],".repeat(2000));
    let dir = dir.file("deaf.sh", format!("yes '{question}'\n"));
    for silent in ["sleep${IFS}600", "exec${IFS}sleep${IFS}600${IFS}>&-", "sh${IFS}deaf.sh"] {
        let search = "search --jobs 50 --strategy external --time 1s --ask-command";
        dir.replay(&format!("{search} {silent}")).code(0).says("--time is up");
    }
}

/// A line without end is an error, and lines that nobody has asked for wait in the pipe.
fn a_flood_takes_no_memory() {
    let dir = Dir::with_trace();
    let program = env!("CARGO_BIN_EXE_replay");
    let search = "search -q --jobs 50 --strategy external --time 3s --ask-command";
    for (flood, code, words) in [
        ("cat /dev/zero", 3, "line 1: a line of more than 16777216 bytes"),
        ("tr '\\0' x </dev/zero", 3, "line 1: a line of more than 16777216 bytes"),
        ("yes '{\"ask\":[[2,1,1,1]]}'", 0, ""),
    ] {
        // What a search takes, and some longest lines.
        let line = format!("ulimit -v 2000000; {program} {search} \"$0\" --threads 2");
        let output =
            Command::new("sh").args(["-c", &line, flood]).current_dir(dir.path("")).output();
        Outcome::new(flood, output.expect("a shell")).code(code).says(words);
    }
}

/// Killed without a chance to clean up: the program and what it has started end all the same.
fn a_program_does_not_outlive_its_search() {
    let script = "sleep 611 & echo $! >one; sleep 612 & echo $! >two; sleep 613\n";
    for signal in ["-KILL", "-TERM"] {
        let dir = Dir::with_trace().file("ask.sh", script);
        let search = "search -q --jobs 50 --strategy external --ask-command sh${IFS}ask.sh";
        let mut child = dir.start(search);
        let begin = Instant::now();
        let written =
            || std::fs::read_to_string(dir.path("two")).is_ok_and(|id| id.ends_with('\n'));
        while !written() {
            assert!(begin.elapsed() < Duration::from_secs(60), "it does not start");
            sleep(Duration::from_millis(10));
        }
        let kill = Command::new("kill").args([signal, &child.id().to_string()]).status();
        assert!(kill.expect("kill runs").success());
        let code = child.wait().expect("it ends").code();
        assert_eq!(code, (signal == "-TERM").then_some(130));
        let ids = ["one", "two"].map(|file| String::from_utf8(dir.read(file)).expect("a number"));
        let alive = |id: &String| {
            let kill = Command::new("kill").args(["-0", id.trim()]).stderr(Stdio::null()).status();
            kill.expect("kill runs").success()
        };
        let begin = Instant::now();
        while ids.iter().any(alive) {
            assert!(begin.elapsed() < Duration::from_secs(60), "{signal}: it goes on");
            sleep(Duration::from_millis(10));
        }
    }
}

/// What was evaluated before a program failed is written and shown.
fn a_program_that_fails_costs_nothing() {
    let script = "read begin; echo '{\"ask\":[[2,1,1,1],[3,1,0,0]]}'; read tell; exit 7\n";
    let dir = Dir::with_trace().file("ask.sh", script);
    let search = "search -q --jobs 50 --strategy external --ask-command sh${IFS}ask.sh --out out";
    dir.replay(search).code(3).prints("2,1,1,1").says("exit status: 7");
    let rows = String::from_utf8(dir.read("out/search.csv")).expect("text");
    assert_eq!(rows.lines().count(), 4, "{rows}");
}

fn a_python_program_asks() {
    let driver = checkout().join("tests/python/ask.py");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dir = Dir::with_trace().variable("PATH", path);
    let command = format!("python3${{IFS}}{}", driver.display());
    let search = format!(
        "search -q --jobs 100 --strategy external --evaluations 60 --ask-command {command}"
    );
    let run = dir.replay(&format!("{search} --format json --top 100")).code(0);
    let rows = run.objects();
    run.demand(rows.len() >= 10 && rows.len() <= 61, "as many as were allowed");
    let first = rows.iter().find(|row| row["evaluation"] == 1).expect("its first question");
    let better = |row: &serde_json::Value| row["improvement_percent"].as_f64().unwrap_or(f64::NAN);
    run.demand(better(&rows[1]) > better(first), "it climbs");
}
