//! Runs the commands of each page in a temporary directory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::{Arc, OnceLock};

use libtest_mimic::{Failed, Trial};
use replay::workload::{Manifest, SearchPath};

use super::page::{self, Page};

/// The directory and inputs for the commands of a page.
struct Place {
    dir: tempfile::TempDir,
    kth: Option<PathBuf>,
    /// Paths of the pictures of the page in the repository.
    pictures: Vec<PathBuf>,
    /// Commands of the page, in order, each with the reason why it cannot run here.
    commands: Vec<(page::Command, Option<String>)>,
    /// Errors of the commands that ran. The first trial of the page runs all its commands, so that pages run in
    /// parallel and the commands of a page in order.
    errors: OnceLock<Vec<Option<String>>>,
}

/// Returns a trial for each command of the page.
pub fn trials(root: &Path, page: &Page) -> Vec<Trial> {
    let commands = page.commands();
    if commands.is_empty() {
        return Vec::new();
    }
    let search = SearchPath::from_env().with(root.join("../shared/traces"));
    let kth = Manifest::embedded().ok().and_then(|m| search.resolve("KTH-SP2", &m).ok());
    let dir = tempfile::tempdir().expect("a temporary folder");
    let whole = page.name == "README.md";
    assert!(!whole || commands.len() > 10, "the README has lost its commands");
    let results = commands.iter().any(|command| command.line.contains("results.py"));
    let needed = ["docs/fixtures", "examples", "scripts", "traces"];
    for name in needed.into_iter().chain(results.then_some("results")) {
        copy(&root.join(name), &dir.path().join(name)).expect("a copy");
    }
    let folder = root.join(&page.name);
    let folder = folder.parent().unwrap_or(root);
    let pictures = page.links().into_iter().filter(|link| link.contains("pictures/"));
    let pictures = pictures.map(|link| folder.join(link)).collect();
    let commands = with_reasons(commands, |line| reason(line, kth.is_some()).map(str::to_string));
    let place = Arc::new(Place { dir, kth, pictures, commands, errors: OnceLock::new() });
    let trial = |index: usize| {
        let (command, reason) = &place.commands[index];
        let name = match reason {
            Some(reason) => format!("{}: {} [{reason}]", page.name, command.line),
            None => format!("{}: {}", page.name, command.line),
        };
        let (ignored, place) = (reason.is_some(), Arc::clone(&place));
        let error = move || match &place.errors.get_or_init(|| errors(&place))[index] {
            Some(error) => Err(Failed::from(error)),
            None => Ok(()),
        };
        Trial::test(name, error).with_ignored_flag(ignored)
    };
    (0..place.commands.len()).map(trial).collect()
}

/// Runs the commands of a page in order and returns their errors.
fn errors(place: &Place) -> Vec<Option<String>> {
    let error = |(command, reason): &(page::Command, Option<String>)| match reason {
        Some(_) => None,
        None => run(command, place).err().map(|failed| failed.message().unwrap_or("failed").into()),
    };
    place.commands.iter().map(error).collect()
}

/// Pairs each command with the reason why it cannot run: its own reason, or that of an earlier command that cannot run and
/// would have written a path that the command names.
fn with_reasons(
    commands: Vec<page::Command>,
    reason: impl Fn(&str) -> Option<String>,
) -> Vec<(page::Command, Option<String>)> {
    let mut missing: BTreeMap<String, String> = BTreeMap::new();
    let mut paired = Vec::new();
    for command in commands {
        let words: Vec<&str> = command.line.split_whitespace().collect();
        let written: Vec<&str> = words
            .windows(2)
            .filter(|pair| ["--out", "--write", ">", "-o"].contains(&pair[0]))
            .map(|pair| pair[1])
            .collect();
        let reads = |path: &str| {
            let read = words.iter().filter(|word| !written.contains(word));
            let mut rest = read.filter_map(|word| word.strip_prefix(path));
            rest.any(|rest| rest.is_empty() || rest.starts_with(['/', ':']))
        };
        let needed = || missing.iter().find(|(path, _)| reads(path)).map(|(_, why)| why.clone());
        let reason = reason(&command.line).or_else(needed);
        for path in written {
            match &reason {
                Some(reason) => drop(missing.insert(path.into(), reason.clone())),
                None => drop(missing.remove(path)),
            }
        }
        paired.push((command, reason));
    }
    paired
}

/// Returns the reason why a command cannot run on this machine.
fn reason(line: &str, has_kth: bool) -> Option<&'static str> {
    if line == "cargo test --release" {
        Some("runs these tests")
    } else if line.contains("sbatch") || line.contains("hyperqueue.sh") {
        Some("needs a cluster")
    } else if line.contains("try-slurm.sh") && !slurm_can_start() {
        Some("needs root, slurm-wlm and munge")
    } else if line.contains("--example ") && !examples().is_dir() {
        Some("examples are not built")
    } else if line.contains("python3") && !python_can("import polars, matplotlib") {
        Some("needs Python with polars and matplotlib")
    } else if line.starts_with("mdbook") {
        Some("needs mdbook")
    } else if (line.contains("KTH-SP2") || line.contains("results.py")) && !has_kth {
        Some("trace KTH-SP2 absent")
    } else {
        None
    }
}

/// Returns a trial of the rule by which a command is ignored because an earlier command is.
pub fn own_trials() -> Vec<Trial> {
    let trial = || {
        let lines = [
            "replay --trace ABSENT --out out/a",
            "replay compare out/a:0 out/a:1",
            "replay --out out/ab",
            "replay report out/a/ --write page.html",
            "cat page.html",
            "replay --jobs 3 --out out/a",
            "replay report out/a",
        ];
        let command = |line: &&str| page::Command { line: line.to_string(), shows: Vec::new() };
        let commands = lines.iter().map(command).collect();
        let absent = |line: &str| line.contains("ABSENT").then(|| "absent".to_string());
        let paired = with_reasons(commands, absent);
        let found: Vec<bool> = paired.iter().map(|(_, reason)| reason.is_some()).collect();
        match found == [true, true, false, true, true, false, false] {
            true => Ok(()),
            false => Err(format!("{found:?}").into()),
        }
    };
    vec![Trial::test("a_command_that_reads_an_absent_output_is_ignored", trial)]
}

/// Returns the directory of the examples that Cargo builds with the tests.
fn examples() -> PathBuf {
    Path::new(env!("CARGO_BIN_EXE_replay")).with_file_name("examples")
}

/// Returns the `PATH` for commands: the build under test, the Python installed by the tests of result files,
/// and the path of the machine.
fn path() -> String {
    let bin = Path::new(env!("CARGO_BIN_EXE_replay")).with_file_name("");
    let python = Path::new(env!("CARGO_TARGET_TMPDIR")).with_file_name("python-venv").join("bin");
    let path = std::env::var("PATH").unwrap_or_default();
    format!("{}:{}:{path}", bin.display(), python.display())
}

fn python_can(program: &str) -> bool {
    let tried = Command::new("python3").args(["-c", program]).env("PATH", path()).output();
    tried.is_ok_and(|output| output.status.success())
}

/// Returns whether the daemons of Slurm are installed and the user is root.
fn slurm_can_start() -> bool {
    let test = "test $(id -u) = 0 && PATH=$PATH:/usr/sbin type munged slurmctld slurmd sbatch";
    let tested = Command::new("bash").args(["-c", test]).output();
    tested.is_ok_and(|output| output.status.success())
}

fn run(command: &page::Command, place: &Place) -> Result<(), Failed> {
    let program = env!("CARGO_BIN_EXE_replay");
    let kth = place.kth.as_deref();
    // The line runs unchanged, except that the build under test replaces `cargo run` and a local copy
    // replaces the network.
    let example = format!("{}/", examples().display());
    let is_example = command.line.contains("--example ");
    let mut line = command
        .line
        .replace("cargo run --release --example ", &example)
        .replace("cargo run --release", "replay");
    if is_example {
        // Cargo passes on the arguments after the dashes.
        line = line.replacen(" -- ", " ", 1);
    }
    if line == "scripts/results.py" {
        // Suites that take minutes are run by `verify --audit` in .ci/run.
        line = format!("QUICK=1 REPLAY={program} scripts/results.py");
    } else if let (true, Some(kth)) = (line.starts_with("replay fetch "), kth) {
        let from = kth.parent().ok_or("the trace has a folder")?;
        line = format!("{line} --from {} --to traces", from.display());
    }
    let mut shell = Command::new("bash");
    let dir = place.dir.path();
    shell.args(["-euo", "pipefail", "-c", &line]).current_dir(dir).env("PATH", path());
    if let Some(dir) = kth.and_then(Path::parent) {
        shell.env("REPLAY_TRACES", dir);
    }
    let output = shell.output()?;
    let quiet = line.contains("--write") || line.contains("results.py");
    if !output.status.success() || (!quiet && output.stdout.is_empty()) {
        return Err(explain(&output));
    }
    shows(&output, &command.shows)?;
    pictures(&line, place)
}

fn explain(output: &Output) -> Failed {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr)).into()
}

/// Checks that the command prints all lines of its `text` block, in this order. Several blanks count as one, and a
/// final `...` matches any rest of a line.
fn shows(output: &Output, shown: &[String]) -> Result<(), Failed> {
    let words = |line: &str| line.split_whitespace().collect::<Vec<_>>().join(" ");
    let stdout = String::from_utf8_lossy(&output.stdout);
    let stderr = String::from_utf8_lossy(&output.stderr);
    let mut printed = stderr.lines().chain(stdout.lines()).map(words);
    for line in shown.iter().map(|line| words(line)) {
        let found = match line.strip_suffix("...") {
            Some(beginning) => printed.any(|printed| printed.starts_with(beginning.trim_end())),
            None => printed.any(|printed| printed == line),
        };
        if !found {
            return Err(
                format!("not printed, or not in this order: {line}\n{stderr}{stdout}").into()
            );
        }
    }
    Ok(())
}

/// Checks that the picture `pictures/NAME/FILE` of the page equals the file `plots/FILE` drawn by the command
/// with `--out out/NAME`.
fn pictures(line: &str, place: &Place) -> Result<(), Failed> {
    let Some((_, name)) = line.split_once("--out out/") else { return Ok(()) };
    let name = name.split_whitespace().next().unwrap_or(name);
    for picture in &place.pictures {
        let folder = picture.parent().and_then(Path::file_name);
        let (true, Some(file)) = (folder.is_some_and(|it| it == name), picture.file_name()) else {
            continue;
        };
        let drawn = std::fs::read(place.dir.path().join("out").join(name).join("plots").join(file));
        let drawn = drawn.map_err(|error| format!("{}: {error}", picture.display()))?;
        if super::super::writes() {
            std::fs::create_dir_all(picture.parent().unwrap_or(picture))?;
            std::fs::write(picture, drawn)?;
        } else if std::fs::read(picture)? != drawn {
            return Err(format!(
                "{} differs from the figure that the command draws",
                picture.display()
            )
            .into());
        }
    }
    Ok(())
}

fn copy(from: &Path, to: &Path) -> std::io::Result<()> {
    std::fs::create_dir_all(to)?;
    for entry in std::fs::read_dir(from)? {
        let entry = entry?;
        let target = to.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            copy(&entry.path(), &target)?;
        } else {
            std::fs::copy(entry.path(), target)?;
        }
    }
    Ok(())
}
