//! Sets the environment variables that the crate compiles in: `REPLAY_COMMIT` for the manifests of results,
//! `REPLAY_SOURCES`, a digest of the sources by which a sweep recognizes the build that started it, and
//! `REPLAY_COMPILER` for both and for `--version`.

use std::path::{Path, PathBuf};
use std::process::Command;

/// Files and folders that determine the results.
const SOURCES: [&str; 4] = ["src", "crates", "Cargo.lock", "build.rs"];

fn main() {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).output().ok().filter(|o| o.status.success())?;
        String::from_utf8(output.stdout).ok().map(|text| text.trim().to_string())
    };
    let mut commit =
        git(&["rev-parse", "--short=12", "HEAD"]).unwrap_or_else(|| "unknown".to_string());
    let mut status = vec!["status", "--porcelain", "--"];
    status.extend(SOURCES);
    if git(&status).is_some_and(|changed| !changed.is_empty()) {
        commit.push_str("-dirty");
    }
    println!("cargo:rustc-env=REPLAY_COMMIT={commit}");
    let compiler = std::env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let compiler = Command::new(compiler).arg("--version").output().ok();
    let compiler = compiler.and_then(|output| String::from_utf8(output.stdout).ok());
    let compiler = compiler.as_deref().map_or("unknown", str::trim);
    println!("cargo:rustc-env=REPLAY_COMPILER={compiler}");
    let mut files = Vec::new();
    SOURCES.iter().for_each(|source| list(Path::new(source), &mut files));
    files.sort();
    // FNV-1a: it only has to distinguish builds, and must not depend on the machine or the compiler.
    let mut digest = 0xcbf2_9ce4_8422_2325_u64;
    let mut add = |bytes: &[u8]| {
        for &byte in bytes.iter().chain(&[0]) {
            digest = (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    };
    for file in files {
        add(file.to_string_lossy().as_bytes());
        add(&std::fs::read(&file).unwrap_or_default());
    }
    println!("cargo:rustc-env=REPLAY_SOURCES={digest:016x}");
    SOURCES.iter().for_each(|source| println!("cargo:rerun-if-changed={source}"));
    // The reflog changes with every commit. A path that does not exist would cause a rebuild every time.
    if let Some(log) = git(&["rev-parse", "--git-path", "logs/HEAD"])
        && Path::new(&log).exists()
    {
        println!("cargo:rerun-if-changed={log}");
    }
}

/// Appends all files below a folder, or the file at `path`, to `files`.
fn list(path: &Path, files: &mut Vec<PathBuf>) {
    match std::fs::read_dir(path) {
        Ok(entries) => entries.flatten().for_each(|entry| list(&entry.path(), files)),
        Err(_) => files.push(path.to_path_buf()),
    }
}
