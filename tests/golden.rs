//! Golden outputs: commands on small inputs, and the hashes of the data they write.
//!
//! ```text
//! scripts/golden.sh             compare with tests/golden/hashes.txt
//! scripts/golden.sh --write     write the hashes of this build
//! ```
//!
//! `tests/golden/commands.txt` has the commands. A case is a line with a name, `:` and a command. Indented lines below
//! this line are further commands in the same directory. Each case starts in an empty directory with links to `traces`
//! of the checkout, to `tests/golden/inputs`, and to the folder of samples. Only data is hashed: standard output in CSV,
//! JSON or Markdown, and every CSV, Parquet, JSON and SWF file below the directory. Manifests, plans of shards, pages, figures
//! and wall-clock times are not hashed. A Parquet file is hashed as text, so that another encoder does not change its
//! hash.
//!
//! A case that needs an absent trace or sample is ignored with the reason. `REPLAY_GOLDEN_KEEP` is a folder in which
//! the hashed texts are kept, to compare two builds with `diff`. `REPLAY_GOLDEN_PROGRAM` is the path of the program of
//! another build.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::sync::{Arc, Mutex};

use libtest_mimic::{Arguments, Failed, Trial};
use polars::prelude::*;
use replay::workload::{Manifest, SearchPath};

const PROGRAM: &str = env!("CARGO_BIN_EXE_replay");
const COMMANDS: &str = include_str!("golden/commands.txt");
const HASHES: &str = include_str!("golden/hashes.txt");

/// The shipped trace, which is always found.
const OWN: &str = "lublin-10x10";

/// Commands whose standard output is data without wall-clock times.
const PRINTS: [&str; 3] = ["place", "network", "plan"];

/// Columns of wall-clock time, which only standard output contains.
const TIMES: [&str; 2] = ["seconds", "allocator_seconds"];

/// A named list of commands that run in order in one directory.
struct Case {
    name: &'static str,
    lines: Vec<&'static str>,
}

/// The hash of each output, by `CASE OUTPUT`.
type Hashes = BTreeMap<String, String>;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let writes = std::env::var_os("REPLAY_GOLDEN_WRITE");
    let written = Arc::new(Mutex::new(Hashes::new()));
    let expected = Arc::new(parsed(HASHES));
    let mut trials: Vec<Trial> = cases()
        .into_iter()
        .map(|case| {
            let (written, expected, writing) =
                (written.clone(), expected.clone(), writes.is_some());
            let absent = missing(&case);
            let kind = absent.clone().unwrap_or_default();
            Trial::test(case.name, move || {
                let found = run(&case)?;
                if !writing {
                    compare(case.name, &found, &expected)?;
                }
                written.lock().expect("no test panics here").extend(found);
                Ok(())
            })
            .with_ignored_flag(absent.is_some())
            .with_kind(kind)
        })
        .collect();
    let complete = trials.iter().all(|trial| !trial.has_ignored_flag());
    if writes.is_none() {
        // Writing the hashes removes the hashes of retired cases.
        trials.push(Trial::test("every_hash_has_its_case", || {
            every_hash_has_its_case().map_err(Failed::from)
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if let Some(path) = writes {
        if conclusion.has_failed() || !complete {
            eprintln!("hashes not written: a case failed, or an input is absent");
            return ExitCode::FAILURE;
        }
        let text: String = written
            .lock()
            .expect("no test panics here")
            .iter()
            .fold(String::new(), |text, (output, hash)| format!("{text}{hash}  {output}\n"));
        if let Err(error) = fs::write(&path, text) {
            eprintln!("{}: {error}", Path::new(&path).display());
            return ExitCode::FAILURE;
        }
    }
    conclusion.exit_code()
}

/// Parses the cases of `commands.txt`.
fn cases() -> Vec<Case> {
    let mut cases: Vec<Case> = Vec::new();
    for line in COMMANDS.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
        match line.strip_prefix(' ') {
            Some(next) => cases.last_mut().expect("a case").lines.push(next.trim()),
            None => {
                let (name, first) = line.split_once(": ").expect("a name, `:` and a command");
                cases.push(Case { name, lines: vec![first.trim()] });
            }
        }
    }
    cases
}

fn parsed(text: &str) -> Hashes {
    text.lines()
        .filter_map(|line| line.split_once("  "))
        .map(|(hash, output)| (output.into(), hash.into()))
        .collect()
}

fn every_hash_has_its_case() -> Result<(), String> {
    let names: Vec<&str> = cases().iter().map(|case| case.name).collect();
    for (i, name) in names.iter().enumerate() {
        if names[..i].contains(name) {
            return Err(format!("two cases have the name {name}"));
        }
    }
    for output in parsed(HASHES).into_keys() {
        if !output.split_once(' ').is_some_and(|(name, _)| names.contains(&name)) {
            return Err(format!("a hash without a case: {output}"));
        }
    }
    Ok(())
}

/// Returns an input of the case that is absent on this machine.
fn missing(case: &Case) -> Option<String> {
    let manifest = Manifest::embedded().expect("the list of traces");
    let words = || case.lines.iter().flat_map(|line| line.split_whitespace());
    if words().any(|word| word.contains("samples/")) && samples().is_none() {
        return Some("samples absent".to_string());
    }
    let named = case.lines.iter().flat_map(|line| {
        let mut words = line.split_whitespace();
        std::iter::from_fn(move || words.find(|word| *word == "-t").and_then(|_| words.next()))
    });
    let absent = named
        .filter(|name| *name != OWN && !name.contains('/'))
        .find(|name| SearchPath::from_env().resolve(name, &manifest).is_err());
    absent.map(|name| format!("trace absent: {name}"))
}

/// Returns the folder of samples next to the checkout, if it exists.
fn samples() -> Option<PathBuf> {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/samples").canonicalize().ok()
}

/// Runs the commands of a case and returns the hashes of their outputs.
fn run(case: &Case) -> Result<Hashes, Failed> {
    let home = tempfile::tempdir()?;
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    symlink(checkout.join("traces"), home.path().join("traces"))?;
    symlink(checkout.join("tests/golden/inputs"), home.path().join("inputs"))?;
    if let Some(samples) = samples() {
        symlink(samples, home.path().join("samples"))?;
    }
    let mut texts = BTreeMap::new();
    for (i, line) in case.lines.iter().enumerate() {
        let program = std::env::var_os("REPLAY_GOLDEN_PROGRAM").unwrap_or(PROGRAM.into());
        let output = Command::new(program)
            .args(line.split_whitespace())
            .current_dir(home.path())
            .env("NO_COLOR", "1")
            .stdin(Stdio::null())
            .output()?;
        if !output.status.success() {
            let stderr = String::from_utf8_lossy(&output.stderr);
            return Err(format!("replay {line}\nended with {}:\n{stderr}", output.status).into());
        }
        let stdout = String::from_utf8(output.stdout).map_err(|error| error.to_string())?;
        if PRINTS.contains(&line.split(' ').next().unwrap_or_default()) {
            texts.insert(format!("stdout-{i}"), stdout);
        } else if let Some(format) = ["json", "csv", "md"]
            .into_iter()
            .find(|format| line.contains(&format!("--format {format}")))
        {
            texts.insert(format!("stdout-{i}.{format}"), untimed(&stdout, format)?);
        }
    }
    collect(home.path(), home.path(), &mut texts)?;
    if texts.is_empty() {
        return Err("the case writes no data".into());
    }
    if let Some(folder) = std::env::var_os("REPLAY_GOLDEN_KEEP") {
        let folder = Path::new(&folder).join(case.name);
        fs::create_dir_all(&folder)?;
        for (name, text) in &texts {
            fs::write(folder.join(name.replace('/', "+")), text)?;
        }
    }
    let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..16].to_string();
    Ok(texts.iter().map(|(name, text)| (format!("{} {name}", case.name), hash(text))).collect())
}

/// Returns standard output without its wall-clock times.
fn untimed(text: &str, format: &str) -> Result<String, Failed> {
    let mut rest = String::new();
    match format {
        "md" => return Ok(text.to_string()),
        "json" => {
            for line in text.lines() {
                let mut value: serde_json::Value = serde_json::from_str(line)?;
                if let Some(object) = value.as_object_mut() {
                    TIMES.iter().for_each(|name| drop(object.remove(*name)));
                }
                writeln!(rest, "{value}")?;
            }
        }
        _ => {
            let header: Vec<&str> = text.lines().next().unwrap_or_default().split(',').collect();
            let timed: Vec<usize> =
                (0..header.len()).filter(|&i| TIMES.contains(&header[i])).collect();
            if timed.is_empty() {
                return Ok(text.to_string());
            }
            for line in text.lines() {
                let cells = line.split(',').enumerate().filter(|(i, _)| !timed.contains(i));
                writeln!(rest, "{}", cells.map(|(_, cell)| cell).collect::<Vec<_>>().join(","))?;
            }
        }
    }
    Ok(rest)
}

/// Adds the text of every data file below `dir` to `texts`, by its path relative to `home`.
fn collect(home: &Path, dir: &Path, texts: &mut BTreeMap<String, String>) -> Result<(), Failed> {
    for entry in fs::read_dir(dir)? {
        let entry = entry?;
        let path = entry.path();
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.file_type()?.is_dir() {
            if name != "plots" {
                collect(home, &path, texts)?;
            }
            continue;
        }
        let text = match path.extension().and_then(|end| end.to_str()) {
            _ if entry.file_type()?.is_symlink()
                || ["manifest.json", "plan.json"].contains(&&*name) =>
            {
                continue;
            }
            Some("parquet") => table(&path)?,
            Some("csv" | "json" | "swf" | "md") => fs::read_to_string(&path)?,
            _ => continue,
        };
        texts.insert(path.strip_prefix(home)?.display().to_string(), text);
    }
    Ok(())
}

/// Formats a Parquet file as text: names and types of its columns, then its rows.
fn table(path: &Path) -> Result<String, Failed> {
    let frame = ParquetReader::new(File::open(path)?).finish()?;
    let mut text = String::new();
    for column in frame.columns() {
        write!(text, "{}:{:?},", column.name(), column.dtype())?;
    }
    text.push('\n');
    for row in 0..frame.height() {
        for column in frame.columns() {
            cell(&mut text, &column.get(row)?)?;
            text.push(',');
        }
        text.push('\n');
    }
    Ok(text)
}

fn cell(text: &mut String, value: &AnyValue) -> Result<(), Failed> {
    match value {
        AnyValue::Null => {}
        AnyValue::String(value) => text.push_str(value),
        AnyValue::StringOwned(value) => text.push_str(value),
        AnyValue::Float64(value) => write!(text, "{value:?}")?,
        AnyValue::List(values) => {
            for value in values.iter() {
                cell(text, &value)?;
                text.push(' ');
            }
        }
        other => write!(text, "{other:?}")?,
    }
    Ok(())
}

/// Compares the hashes of one case with the expected hashes.
fn compare(name: &str, found: &Hashes, expected: &Hashes) -> Result<(), Failed> {
    let of_case = |output: &&String| output.split_once(' ').is_some_and(|(case, _)| case == name);
    let mut wrong = Vec::new();
    let outputs: BTreeSet<&String> = found.keys().chain(expected.keys().filter(of_case)).collect();
    for output in outputs {
        let line = match (found.get(output), expected.get(output)) {
            (Some(found), Some(expected)) if found == expected => continue,
            (Some(_), Some(_)) => format!("{output}: data differs"),
            (Some(_), None) => format!("{output}: not in hashes.txt"),
            _ => format!("{output}: no longer written"),
        };
        wrong.push(line);
    }
    match wrong.is_empty() {
        true => Ok(()),
        false => Err(wrong.join("\n").into()),
    }
}
