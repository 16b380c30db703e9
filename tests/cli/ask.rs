//! `replay search --strategy external`: a program proposes the vectors to evaluate.

use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use libtest_mimic::Trial;

use super::dir::{Dir, Outcome, checkout, ignored, trial};

/// Returns the tests of this file.
pub fn trials() -> Vec<Trial> {
    let run = |name, test| trial(module_path!(), name, test);
    let name = "runs_a_python_program";
    let python = Command::new("python3").arg("--version").output();
    vec![
        run("answers_a_shell_script", answers_a_shell_script),
        run("rejects_malformed_questions", rejects_malformed_questions),
        run("keeps_evaluations_if_the_program_fails", keeps_evaluations_if_the_program_fails),
        run("stops_at_the_first_malformed_question", stops_at_the_first_malformed_question),
        run("time_limit_ends_a_silent_program", time_limit_ends_a_silent_program),
        run("limits_memory_for_endless_input", limits_memory_for_endless_input),
        run("ends_if_answers_are_never_read", ends_if_answers_are_never_read),
        run(
            "kills_the_program_when_the_search_is_killed",
            kills_the_program_when_the_search_is_killed,
        ),
        match python {
            Ok(found) if found.status.success() => run(name, runs_a_python_program),
            _ => ignored(module_path!(), name, "no python3"),
        },
    ]
}

fn answers_a_shell_script() {
    let script = "read begin; echo '{\"ask\":[[2,2,2,2],[3,1,0,0,0.2],[2,0,0,0]]}'; read tell; \
                  echo \"$begin\" >begin.json; echo \"$tell\" >tell.json\n";
    let dir = Dir::with_trace().file("ask.sh", script);
    let run = dir
        .replay(
            "search -q --jobs 100 --strategy external --slack 0..0.2:0.1 --ask-command sh${IFS}ask.sh \
             --format json",
        )
        .code(0);
    run.demand(run.objects().len() == 3, "the baseline and two vectors");
    let read = |file: &str| -> serde_json::Value {
        serde_json::from_slice(&dir.read(file)).expect("JSON")
    };
    let (begin, tell) = (read("begin.json"), read("tell.json"));
    assert_eq!(begin["begin"]["protocol"], 1);
    assert_eq!(begin["begin"]["scan_radius"], serde_json::json!([1, 10]));
    let answers = tell["tell"].as_array().expect("answers");
    assert_eq!(answers[0]["vector"], serde_json::json!([2, 1, 1, 1]));
    assert!(answers[1]["improvement_percent"].is_number() && answers[2].is_null());
    assert_eq!(begin["begin"]["slack"], serde_json::json!([0.0, 0.1, 0.2]));
    assert_eq!((&answers[0]["slack"], &answers[1]["slack"]), (&0.0.into(), &0.2.into()));
}

fn rejects_malformed_questions() {
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

/// The external program is killed at its first malformed line, and the error is reported immediately.
fn stops_at_the_first_malformed_question() {
    let dir = Dir::with_trace().file("ask.sh", "echo nonsense; sleep 3; echo >late\n");
    let search = "search -q --jobs 50 --strategy external --ask-command sh${IFS}ask.sh";
    dir.replay(search).fails(3, 1, &["is not JSON"]);
    sleep(Duration::from_millis(3500));
    assert!(!dir.path("late").exists(), "the program ran on after its error");
}

/// If a program prints nothing or does not exit, the search ends at its time limit.
fn time_limit_ends_a_silent_program() {
    let dir = Dir::with_trace();
    // This program reads no answers, so the pipe to the program becomes full.
    let question = format!("{{\"ask\":[{}[2,1,1,1]]}}", "[2,1,1,1],".repeat(2000));
    let dir = dir.file("no-read.sh", format!("yes '{question}'\n"));
    for silent in ["sleep${IFS}600", "exec${IFS}sleep${IFS}600${IFS}>&-", "sh${IFS}no-read.sh"] {
        let search = "search --jobs 50 --strategy external --time 1s --ask-command";
        dir.replay(&format!("{search} {silent}")).code(0).says("--time is up");
    }
}

/// An endless line is an error. Questions that the search has not read remain in the pipe.
fn limits_memory_for_endless_input() {
    let dir = Dir::with_trace();
    let program = env!("CARGO_BIN_EXE_replay");
    let search = "search -q --jobs 50 --strategy external --time 3s --ask-command";
    for (flood, code, words) in [
        ("cat /dev/zero", 3, "line 1: the line is longer than 16777216 bytes"),
        ("tr '\\0' x </dev/zero", 3, "line 1: the line is longer than 16777216 bytes"),
        ("yes '{\"ask\":[[2,1,1,1]]}'", 0, ""),
    ] {
        // The limit leaves enough address space for a search and a few lines of maximum length.
        let line = format!("ulimit -v 2000000; {program} {search} \"$0\" --threads 2");
        let output =
            Command::new("sh").args(["-c", &line, flood]).current_dir(dir.path("")).output();
        Outcome::new(flood, output.expect("a shell")).code(code).says(words);
    }
}

/// The program requests the same vector again and again, and does not read the answers. The search ends after 1,000
/// requests without a new vector.
fn ends_if_answers_are_never_read() {
    let dir = Dir::with_trace().file("yes.sh", "exec yes '{\"ask\":[[1,2,3,4]]}'\n");
    let search = "search --jobs 20 --strategy external --evaluations 20 --time 300s --ask-command sh${IFS}yes.sh";
    let begin = Instant::now();
    let run = dir.replay(search).code(0);
    run.demand(!run.stderr.contains("--time is up"), "the end before the time is up");
    run.says("1 evaluation").says("the strategy has no more vectors");
    assert!(begin.elapsed() < Duration::from_secs(200), "{:?}", begin.elapsed());
}

/// If the search is killed without cleaning up, the external program and its child processes end
/// too.
fn kills_the_program_when_the_search_is_killed() {
    let script = "sleep 611 & echo $! >one; sleep 612 & echo $! >two; sleep 613\n";
    for signal in ["-KILL", "-TERM"] {
        let dir = Dir::with_trace().file("ask.sh", script);
        let search = "search -q --jobs 50 --strategy external --ask-command sh${IFS}ask.sh";
        let mut child = dir.start(search);
        let begin = Instant::now();
        let written =
            || std::fs::read_to_string(dir.path("two")).is_ok_and(|id| id.ends_with('\n'));
        while !written() {
            assert!(begin.elapsed() < Duration::from_secs(60), "the program does not start");
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
            assert!(
                begin.elapsed() < Duration::from_secs(60),
                "{signal}: a child process is still alive"
            );
            sleep(Duration::from_millis(10));
        }
    }
}

/// Evaluations that were made before the program failed are written and printed.
fn keeps_evaluations_if_the_program_fails() {
    let script = "read begin; echo '{\"ask\":[[2,1,1,1],[3,1,0,0]]}'; read tell; exit 7\n";
    let dir = Dir::with_trace().file("ask.sh", script);
    let search = "search -q --jobs 50 --strategy external --ask-command sh${IFS}ask.sh --out out";
    dir.replay(search).code(3).prints("2,1,1,1").says("exit status: 7");
    let rows = String::from_utf8(dir.read("out/search.csv")).expect("text");
    assert_eq!(rows.lines().count(), 4, "{rows}");
}

fn runs_a_python_program() {
    let driver = checkout().join("tests/python/ask.py");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let dir = Dir::with_trace().variable("PATH", path);
    let command = format!("python3${{IFS}}{}", driver.display());
    let search = format!(
        "search -q --jobs 100 --strategy external --evaluations 60 --ask-command {command}"
    );
    let run = dir.replay(&format!("{search} --format json --top 100")).code(0);
    let rows = run.objects();
    run.demand(rows.len() >= 10 && rows.len() <= 61, "at most the allowed number of evaluations");
    let first = rows.iter().find(|row| row["evaluation"] == 1).expect("the first evaluation");
    let better = |row: &serde_json::Value| row["improvement_percent"].as_f64().unwrap_or(f64::NAN);
    run.demand(better(&rows[1]) > better(first), "the best vector is better than the first");
}
