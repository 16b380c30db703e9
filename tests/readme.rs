//! Every command of the README runs and succeeds.
//!
//! The lines of its `sh` blocks are taken as they stand and run in order, in a copy of the
//! places they need. What a bare machine cannot do (fetch over the network, replay a trace
//! that is not here) is reported as ignored with the reason.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};

use libtest_mimic::{Arguments, Failed, Trial};
use replay::workload::{Manifest, SearchPath};

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let search = SearchPath::from_env().with(root.join("../shared/traces"));
    let kth = Manifest::embedded().ok().and_then(|m| search.resolve("KTH-SP2", &m).ok());
    let readme = std::fs::read_to_string(root.join("README.md")).expect("the README is there");
    let place = tempfile::tempdir().expect("a temporary folder");
    // The commands stand in one folder and follow on each other.
    for name in ["scripts", "traces", "results"] {
        copy(&root.join(name), &place.path().join(name)).expect("a copy");
    }
    std::fs::create_dir(place.path().join("out")).expect("a folder");
    let trials = commands(&readme)
        .into_iter()
        .map(|command| trial(command, place.path().to_path_buf(), kth.clone()))
        .collect();
    let arguments = Arguments { test_threads: Some(1), ..arguments };
    libtest_mimic::run(&arguments, trials).exit_code()
}

/// The lines of the `sh` blocks, comments cut off.
fn commands(readme: &str) -> Vec<String> {
    let mut inside = false;
    let mut commands = Vec::new();
    for line in readme.lines() {
        if line.starts_with("```") {
            inside = line == "```sh";
        } else if inside {
            let command = line.split("  #").next().unwrap_or(line).trim();
            commands.push(command.to_string());
        }
    }
    assert!(commands.len() > 10, "the README has lost its commands");
    commands
}

fn trial(command: String, place: PathBuf, kth: Option<PathBuf>) -> Trial {
    let needs_kth = command.contains("KTH-SP2") || command.contains("results.sh");
    let reason = if command == "cargo test --release" {
        Some("it is what runs this")
    } else if command.contains("sbatch") || command.contains("hyperqueue.sh") {
        Some("needs a cluster")
    } else if command.contains("try-slurm.sh") && !slurm_can_start() {
        Some("needs root, slurm-wlm and munge")
    } else if needs_kth && kth.is_none() {
        Some("trace KTH-SP2 absent")
    } else {
        None
    };
    let name = match reason {
        Some(reason) => format!("{command} [{reason}]"),
        None => command.clone(),
    };
    Trial::test(name, move || run(&command, &place, kth.as_deref()))
        .with_ignored_flag(reason.is_some())
}

/// Whether the daemons of Slurm are installed and may be started.
fn slurm_can_start() -> bool {
    let test = "test $(id -u) = 0 && PATH=$PATH:/usr/sbin type munged slurmctld slurmd sbatch";
    let tested = Command::new("bash").args(["-c", test]).output();
    tested.is_ok_and(|output| output.status.success())
}

fn run(command: &str, place: &Path, kth: Option<&Path>) -> Result<(), Failed> {
    let program = env!("CARGO_BIN_EXE_replay");
    let bin = Path::new(program).parent().ok_or("the program has a folder")?;
    // The very line, but for two things that a test cannot have: the build that is
    // running, and the network.
    let mut line = command.replace("cargo run --release", "replay");
    if line == "scripts/results.sh" {
        line = format!("scripts/results.sh {program}");
    } else if let (Some(name), Some(kth)) = (line.strip_prefix("scripts/fetch-traces.sh KTH"), kth)
    {
        let from = kth.parent().ok_or("the trace has a folder")?;
        line = format!("scripts/fetch-traces.sh KTH{name} --from {}", from.display());
    }
    let path = format!("{}:{}", bin.display(), std::env::var("PATH").unwrap_or_default());
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", &line]).current_dir(place).env("PATH", path);
    if let Some(dir) = kth.and_then(Path::parent) {
        shell.env("REPLAY_TRACES", dir);
    }
    let output = shell.output()?;
    let quiet = line.contains("--write") || line.contains("results.sh");
    if output.status.success() && (quiet || !output.stdout.is_empty()) {
        Ok(())
    } else {
        Err(explain(&output))
    }
}

fn explain(output: &std::process::Output) -> Failed {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    format!("{}\n{}\n{}", output.status, text(&output.stdout), text(&output.stderr)).into()
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
