//! Reads the Parquet files with the Python libraries pandas and polars.
//!
//! The packages are installed once, at the versions of `requirements.txt`, into a virtual environment in the target
//! directory. Without Python or network access, the test is ignored.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Arguments, Trial};

use super::dir::{Dir, checkout, ignored};

const NAME: &str = "results_read_by_pandas_and_polars";

/// Returns the test of this file, or an ignored test with the reason. The environment is created
/// only if the filter of the run matches the test.
pub fn trials(arguments: &Arguments) -> Vec<Trial> {
    let title = format!("python::{NAME}");
    let asked = arguments.filter.as_ref().is_none_or(|filter| title.contains(filter));
    if !asked || arguments.list {
        return vec![ignored(module_path!(), NAME, "not selected")];
    }
    vec![match environment() {
        Ok(python) => Trial::test(title, move || {
            results_read_by_pandas_and_polars(&python);
            Ok(())
        }),
        Err(why) => ignored(module_path!(), NAME, &why),
    }]
}

fn results_read_by_pandas_and_polars(python: &Path) {
    let dir = Dir::with_trace().file("tiny.swf", super::dir::TINY);
    let grid = "--trace lublin,tiny.swf --jobs 300 --sched fcfs,easy --alloc mc1x1,random \
                --tie none --tie 2,13,20,6";
    // The test compares the files with the declared columns.
    let columns = dir.path("columns.jsonl");
    fs::write(&columns, dir.replay("list columns --format json").code(0).stdout).expect("a file");
    for (ties, folder) in [("", "plain"), ("--ties", "ties")] {
        dir.replay(&format!("-q {grid} {ties} --no-plots --placements --out {folder}")).code(0);
        let read = Command::new(python)
            .arg(checkout().join("tests/python/read_results.py"))
            .arg(dir.path(folder))
            .stdin(fs::File::open(&columns).expect("the columns"))
            .output()
            .expect("Python starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&read.stdout), text(&read.stderr));
        assert!(read.status.success(), "{folder}: {stdout}{stderr}");
        // The grid has two traces, two schedulers and three strategies. One trace has 300 jobs, and the other trace has
        // two jobs.
        assert_eq!(stdout, "runs: 12 rows\nby_size: agree\njobs: 1812 rows\nplacements: agree\n");
    }
    // The example of the book reads the same files and draws a figure: a panel for each trace and scheduler.
    dir.replay(&format!("-q {grid} --shake 2 --no-plots --no-jobs --out shaken")).code(0);
    for folder in ["plain", "shaken"] {
        let read = Command::new(python)
            .arg(checkout().join("examples/read_results.py"))
            .arg(dir.path(folder))
            .output()
            .expect("Python starts");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let (stdout, stderr) = (text(&read.stdout), text(&read.stderr));
        assert!(read.status.success(), "{stdout}{stderr}");
        let runs = stdout.lines().filter(|line| line.contains(" hops, mean wait ")).count();
        assert_eq!((runs, stdout.contains("panels: 4")), (12, true), "{folder}: {stdout}");
    }
    let picture = fs::read(dir.path("plain").join("gain-by-size.png")).expect("a picture");
    assert!(picture.starts_with(b"\x89PNG"));
}

/// Returns the interpreter of the virtual environment, which is created if it is missing or has
/// other versions.
///
/// # Errors
///
/// The reason why the environment cannot be created.
fn environment() -> Result<PathBuf, String> {
    let wanted = checkout().join("tests/python/requirements.txt");
    let venv = target().join("python-venv");
    let python = venv.join(if cfg!(windows) { "Scripts/python.exe" } else { "bin/python" });
    // This file is copied last, so its presence shows that the installation is complete.
    let done = venv.join("installed.txt");
    let (wanted_text, done_text) = (fs::read(&wanted), fs::read(&done));
    if done_text.is_ok() && done_text.ok() == wanted_text.ok() {
        return Ok(python);
    }
    quietly(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&venv), "no python3 venv")?;
    let pip =
        "-m pip install --quiet --disable-pip-version-check --only-binary=:all: --retries 1 -r";
    let mut install = Command::new(&python);
    install.args(pip.split(' ')).arg(&wanted);
    quietly(&mut install, "Python packages not available")?;
    fs::copy(&wanted, &done).map_err(|error| error.to_string())?;
    Ok(python)
}

fn quietly(command: &mut Command, why: &str) -> Result<(), String> {
    match command.output() {
        Ok(output) if output.status.success() => Ok(()),
        _ => Err(why.to_string()),
    }
}

/// Returns the target directory, the parent of the temporary directory that Cargo gives to tests.
fn target() -> &'static Path {
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR"));
    tmp.parent().unwrap_or(tmp)
}
