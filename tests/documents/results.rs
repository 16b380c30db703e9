//! Checks the pages below `results` and the scripts that write them.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use libtest_mimic::{Failed, Trial};

use super::page::Page;

/// Maximum total size of the files below `results`, in bytes.
const MOST_BYTES: u64 = 16_000_000;

/// Returns the trials.
pub fn trials(root: &Path) -> Vec<Trial> {
    let trial = |name: &str, check: fn(&Path) -> Result<(), Failed>| {
        let root = root.to_path_buf();
        Trial::test(name, move || check(&root))
    };
    vec![
        trial("every_page_of_results_is_declared_by_a_script", declared),
        trial("every_figure_of_results_is_on_a_page", shown),
        trial("results_are_small", small),
        trial("results_check_refuses_an_unknown_name", unknown_name),
        trial("compare_results_names_each_difference", differences),
    ]
}

/// Returns all files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(&folder).expect("a folder of results").flatten() {
            let path = entry.path();
            if path.is_dir() { folders.push(path) } else { found.push(path) }
        }
    }
    found
}

fn has_ending(path: &Path, endings: &[&str]) -> bool {
    path.extension().is_some_and(|it| endings.iter().any(|ending| it == *ending))
}

/// Runs a line of bash at the root of the repository with the program under test.
fn bash(root: &Path, line: &str) -> Output {
    let mut shell = Command::new("bash");
    shell.args(["-euo", "pipefail", "-c", line]).current_dir(root);
    shell.env("REPLAY", env!("CARGO_BIN_EXE_replay")).env("PYTHONDONTWRITEBYTECODE", "1");
    shell.output().expect("bash runs")
}

fn expect(output: &Output, code: i32, words: &str) -> Result<(), Failed> {
    let text = [&output.stdout[..], &output.stderr[..]].concat();
    let text = String::from_utf8_lossy(&text);
    if output.status.code() == Some(code) && text.contains(words) {
        return Ok(());
    }
    Err(format!("expected exit code {code} and {words:?}: {}\n{text}", output.status).into())
}

/// Checks that the Markdown files below `results` are exactly those that `scripts/results.py --list` prints.
fn declared(root: &Path) -> Result<(), Failed> {
    let output = bash(root, "scripts/results.py --list");
    expect(&output, 0, "verify.md scripts/results.py verify")?;
    let listed = String::from_utf8_lossy(&output.stdout).into_owned();
    let listed: BTreeSet<_> =
        listed.lines().filter_map(|line| line.split(' ').next()).map(String::from).collect();
    let results = root.join("results");
    let found = files(&results).into_iter().filter(|path| has_ending(path, &["md"]));
    let found: BTreeSet<_> = found
        .filter_map(|path| Some(path.strip_prefix(&results).ok()?.display().to_string()))
        .collect();
    let lines = |what: &str, of: &BTreeSet<String>, than: &BTreeSet<String>| {
        of.difference(than).map(|page| format!("{page}: {what}\n")).collect::<String>()
    };
    let wrong = lines("not declared by a script", &found, &listed)
        + &lines("declared, absent", &listed, &found);
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

/// Checks that every figure is on a page of `results`, in the README or in the book.
fn shown(root: &Path) -> Result<(), Failed> {
    let results = root.join("results");
    let mut pages = files(&results);
    pages.extend(files(&root.join("docs/src")));
    pages.push(root.join("README.md"));
    let mut linked = BTreeSet::new();
    let mut wrong = String::new();
    for place in pages.into_iter().filter(|path| has_ending(path, &["md"])) {
        let text = std::fs::read_to_string(&place)?;
        let folder = place.parent().unwrap_or(root);
        for link in (Page { name: String::new(), text }).links() {
            let target = folder.join(link.split('#').next().unwrap_or_default());
            match target.canonicalize() {
                Ok(target) => drop(linked.insert(target)),
                Err(_) if link.contains("://") => {}
                Err(_) => wrong += &format!("{}: {link} does not exist\n", place.display()),
            }
        }
    }
    for figure in
        files(&results).into_iter().filter(|path| has_ending(path, &["svg", "png", "json"]))
    {
        if !linked.contains(&figure.canonicalize()?) {
            wrong += &format!("{}: not on any page\n", figure.display());
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(wrong.into()) }
}

fn small(root: &Path) -> Result<(), Failed> {
    let bytes: u64 = files(&root.join("results"))
        .iter()
        .filter_map(|path| path.metadata().ok())
        .map(|it| it.len())
        .sum();
    if bytes < MOST_BYTES {
        Ok(())
    } else {
        Err(format!("results has {bytes} bytes; at most {MOST_BYTES} are allowed").into())
    }
}

fn unknown_name(root: &Path) -> Result<(), Failed> {
    expect(&bash(root, "scripts/results.py --check workstation"), 2, "no check named workstation")
}

/// Checks `compare.py`: files are compared byte by byte, rows of partial tables are looked up in the committed
/// table, and times of benchmarks are not compared.
fn differences(root: &Path) -> Result<(), Failed> {
    let dir = tempfile::tempdir()?;
    let (new, old) = (dir.path().join("new"), dir.path().join("old"));
    let write = |file: &str, ours: &str, theirs: &str| -> std::io::Result<()> {
        for (folder, text) in [(&new, ours), (&old, theirs)] {
            std::fs::create_dir_all(folder.join(file).parent().unwrap_or(folder))?;
            std::fs::write(folder.join(file), text)?;
        }
        Ok(())
    };
    let compare = || bash(root, &format!("scripts/compare.py {} {}", new.display(), old.display()));
    write(
        "page.md",
        "a\nMade on 2026-01-02 by commit b.\n",
        "a\nMade on 2026-01-01 by commit a.\n",
    )?;
    write("benchmarks/plan.csv", "trace,cpu_s\nKTH,2\n", "trace,cpu_s\nKTH,1\n")?;
    expect(&compare(), 0, "2 files compared, 0 different")?;
    write("page.md", "a\nb\n", "a\nc\n")?;
    expect(&compare(), 1, "page.md: line 2")?;
    write("benchmarks/plan.csv", "trace,cpu_s\nNASA,2\n", "trace,cpu_s\nKTH,1\n")?;
    expect(&compare(), 1, "benchmarks/plan.csv: line 2")?;
    write("benchmarks/plan.csv", "trace,cpu_s\nKTH,2\n", "trace,cpu_s\nKTH,1\n")?;
    write("table.csv", "run,wait\n0,5\n", "run,wait\n0,4\n7,5\n")?;
    expect(&compare(), 1, "table.csv: line 2")?;
    std::fs::write(new.join(".parts"), "table\n")?;
    expect(&compare(), 0, "0 different")?;
    write("table.csv", "run,wait\n0,6\n", "run,wait\n0,4\n7,5\n")?;
    expect(&compare(), 1, "wait 4 -> 6")
}
