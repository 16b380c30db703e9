//! The reference pages: listings of the program as tables.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use libtest_mimic::{Failed, Trial};
use replay::workload::Policy;
use serde_json::Value;

use super::published;

/// Pages of listings with names and parameters: file, title, and kinds listed.
const NAMED: [(&str, &str, &[&str]); 3] = [
    ("allocators", "Allocators", &["allocators"]),
    ("schedulers", "Schedulers", &["schedulers"]),
    (
        "names",
        "Other names",
        &[
            "sources",
            "generators",
            "sides",
            "services",
            "patterns",
            "networks",
            "systems",
            "suites",
        ],
    ),
];

/// Returns a trial for each page.
pub fn trials(root: &Path) -> Vec<Trial> {
    let folder = root.join("docs/src/reference");
    let trial = |name: &str, text: Box<dyn FnOnce() -> Result<String, Failed> + Send>| {
        let file = folder.join(format!("{name}.md"));
        Trial::test(format!("docs/src/reference/{name}.md"), move || compare(&file, &text()?))
    };
    let mut trials: Vec<Trial> = NAMED
        .into_iter()
        .map(|(name, title, kinds)| trial(name, Box::new(move || named(title, kinds))))
        .collect();
    trials.push(trial("columns", Box::new(columns)));
    trials.push(trial("policies", Box::new(|| Ok(policies()))));
    trials.push(trial("commands", Box::new(commands)));
    let root = root.to_path_buf();
    trials.push(trial("published", Box::new(move || published::page(&root))));
    trials
}

fn compare(file: &PathBuf, text: &str) -> Result<(), Failed> {
    if super::super::writes() {
        std::fs::write(file, text)?;
    } else if std::fs::read_to_string(file)? != text {
        let why = "differs from the listing of the program; REPLAY_WRITE_BOOK=1 writes it";
        return Err(format!("{} {why}", file.display()).into());
    }
    Ok(())
}

/// Returns the output of `replay list KIND`.
fn list(kind: &str, format: &str) -> Result<String, Failed> {
    let mut replay = Command::new(env!("CARGO_BIN_EXE_replay"));
    let output = replay.args(["list", kind, "--format", format]).output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned().into());
    }
    Ok(String::from_utf8(output.stdout)?)
}

fn listed(kind: &str) -> Result<Vec<Value>, Failed> {
    let lines = list(kind, "json")?;
    let entries: Result<Vec<Value>, _> = lines.lines().map(serde_json::from_str).collect();
    Ok(entries?)
}

fn begin(title: &str, commands: &[&str]) -> String {
    let listings = commands.iter().map(|kind| format!("`replay list {kind}`")).collect::<Vec<_>>();
    format!("# {title}\n\nFrom {}.\n", listings.join(", "))
}

/// Returns the string of a key, or an empty string.
fn text<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or("")
}

pub fn cell(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}

fn code(text: &str) -> String {
    if text.is_empty() { String::new() } else { format!("`{}`", text.replace('|', "\\|")) }
}

fn named(title: &str, kinds: &[&str]) -> Result<String, Failed> {
    let mut page = begin(title, kinds);
    for kind in kinds {
        let level = if kinds.len() == 1 {
            "##"
        } else {
            write!(page, "\n## {kind}\n")?;
            "###"
        };
        for entry in listed(kind)? {
            write!(page, "\n{level} {}\n\n", text(&entry, "name"))?;
            let aliases: Vec<String> = entry["aliases"]
                .as_array()
                .into_iter()
                .flatten()
                .filter_map(Value::as_str)
                .map(code)
                .collect();
            if !aliases.is_empty() {
                write!(page, "Also {}.\n\n", aliases.join(", "))?;
            }
            let about = text(&entry, "about").trim_end_matches('.');
            writeln!(page, "{}.", cell(about))?;
            let machine = text(&entry, "machine");
            if !machine.is_empty() {
                write!(page, "\nMachine: `{machine}`.\n")?;
            }
            let full = text(&entry, "full");
            if !full.is_empty() {
                write!(page, "\n`--full`: {}.\n", cell(full))?;
            }
            let source = text(&entry, "source");
            if !source.is_empty() {
                write!(page, "\nSource: {}.\n", cell(source))?;
            }
            let parameters = entry["parameters"].as_array().map_or(&[][..], Vec::as_slice);
            if !parameters.is_empty() {
                page += "\n| parameter | values | default | meaning |\n|---|---|---|---|\n";
            }
            for parameter in parameters {
                let column = |key| code(text(parameter, key));
                let (key, values, default) = (column("key"), column("values"), column("default"));
                let about = cell(text(parameter, "about"));
                writeln!(page, "| {key} | {values} | {default} | {about} |")?;
            }
        }
    }
    Ok(page)
}

fn columns() -> Result<String, Failed> {
    let mut page = begin("Columns", &["columns"]);
    let headings = list("columns", "table")?;
    let headings: Vec<(&str, &str)> = headings
        .lines()
        .filter(|line| !line.starts_with(' '))
        .filter_map(|line| line.split_once(": "))
        .collect();
    let mut table = String::new();
    for column in listed("columns")? {
        if table != text(&column, "table") {
            table = text(&column, "table").to_string();
            let about = headings.iter().find(|(name, _)| *name == table).map_or("", |it| it.1);
            write!(page, "\n## {table}\n\n{}\n\n", sentence(about))?;
            page += "| column | unit | type | meaning |\n|---|---|---|---|\n";
        }
        let [name, unit, kind, about] =
            ["name", "unit", "type", "about"].map(|key| cell(text(&column, key)));
        writeln!(page, "| `{name}` | {unit} | {kind} | {about} |")?;
    }
    Ok(page)
}

/// Returns the long help of the program and of every subcommand.
fn commands() -> Result<String, Failed> {
    let help = |arguments: &[&str]| -> Result<String, Failed> {
        let mut replay = Command::new(env!("CARGO_BIN_EXE_replay"));
        let output = replay.args(arguments).arg("--help").output()?;
        let text = String::from_utf8(output.stdout)?;
        let lines: Vec<&str> = text.lines().map(str::trim_end).collect();
        Ok(lines.join("\n").trim_end().to_string())
    };
    let all = help(&[])?;
    let mut page = "# Command-line reference\n\nFrom `replay --help` and `replay COMMAND --help`; `-h` prints a summary.\n"
        .to_string();
    write!(page, "\n## replay\n\n```text\n{all}\n```\n")?;
    let listed = all.lines().skip_while(|line| *line != "Get a log:");
    let listed = listed.take_while(|line| !line.is_empty());
    for line in listed.filter(|line| line.starts_with("  ")) {
        let name = line.split_whitespace().next().unwrap_or_default();
        // The main job is above.
        if name != "run" {
            write!(page, "\n## replay {name}\n\n```text\n{}\n```\n", help(&[name])?)?;
        }
    }
    Ok(page)
}

/// Formats a text as a sentence for a table: first letter in upper case, full stop at the end.
fn sentence(text: &str) -> String {
    let mut letters = text.chars();
    let first = letters.next().map(|letter| letter.to_uppercase().to_string()).unwrap_or_default();
    cell(&format!("{first}{}.", letters.as_str().trim_end_matches('.')))
}

fn policies() -> String {
    let mut page = begin("Cleaning policies", &["policies"]);
    for policy in Policy::ALL {
        page += &format!(
            "\n## {}\n\n{}.\n\n",
            policy.name,
            sentence(policy.summary).trim_end_matches('.')
        );
        page += "| what | rule |\n|---|---|\n";
        for row in policy.describe() {
            page += &format!("| {} | {} |\n", row.rule, cell(&row.setting));
        }
    }
    page
}
