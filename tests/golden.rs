//! Golden outputs: commands on small inputs, and the hashes of the columns they write.
//!
//! ```text
//! scripts/golden.sh             compare with tests/golden/hashes.txt
//! scripts/golden.sh --write     write the hashes of this build
//! ```
//!
//! `tests/golden/commands.txt` has the commands. A case is a line with a name, `:` and a command. Indented lines below
//! this line are further commands in the same directory. Each case starts in an empty directory with links to `traces`,
//! `tests/golden/inputs`, `tests/samples` and `docs/fixtures` of the checkout. Only data is hashed: standard output in CSV, JSON or Markdown,
//! and every CSV, Parquet, JSON and SWF file below the directory, the data of figures included. Tables have a hash for each
//! column, so that a new column adds a line and changes none; other files have one hash. Manifests, plans of shards, pages,
//! pictures, wall-clock times and explanations of names (`TEXTS`) are not hashed. A Parquet file is hashed as text, so that
//! another encoder does not change its hashes; a CSV file beside it has hashes only of columns whose text differs.
//!
//! A case that needs an absent trace is ignored with the reason. `REPLAY_GOLDEN_KEEP` is a folder in which
//! the hashed texts are kept, to compare two builds with `diff`. `REPLAY_GOLDEN_PROGRAM` is the path of the program of
//! another build.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::fs::{self, File};
use std::os::unix::fs::symlink;
use std::path::Path;
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

/// Columns of listings that explain names. The reference pages of the book show them.
const TEXTS: [&str; 1] = ["about"];

/// The name of the hash of a file that is no table.
const WHOLE: &str = "-";

/// A named list of commands that run in order in one directory.
struct Case {
    name: &'static str,
    lines: Vec<&'static str>,
}

/// The hash of each column of each output, by `CASE OUTPUT` and the name of the column.
type Hashes = BTreeMap<String, BTreeMap<String, String>>;

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
    if writes.is_none() {
        // Writing the hashes removes the hashes of retired cases.
        trials.push(Trial::test("every_hash_has_its_case", || {
            every_hash_has_its_case().map_err(Failed::from)
        }));
    }
    let conclusion = libtest_mimic::run(&arguments, trials);
    if let Some(path) = writes {
        if conclusion.has_failed() {
            eprintln!("hashes not written: a case failed");
            return ExitCode::FAILURE;
        }
        let mut written = written.lock().expect("no test panics here").clone();
        // The hashes of cases whose trace is absent stay.
        let absent: Vec<&str> =
            cases().iter().filter(|case| missing(case).is_some()).map(|case| case.name).collect();
        let kept = |output: &String| absent.iter().any(|name| is_of(output, name));
        written.extend(parsed(HASHES).into_iter().filter(|(output, _)| kept(output)));
        let mut text = String::new();
        for (output, columns) in &written {
            let lines = columns.iter().map(|(column, hash)| format!("  {hash} {column}\n"));
            text.extend(std::iter::once(format!("{output}\n")).chain(lines));
        }
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

/// Parses `hashes.txt`: a line for each output, followed by an indented line for each column.
fn parsed(text: &str) -> Hashes {
    let mut hashes = Hashes::new();
    let mut output = String::new();
    for line in text.lines() {
        match line.strip_prefix("  ").and_then(|line| line.split_once(' ')) {
            Some((hash, column)) => {
                let columns = hashes.entry(output.clone()).or_default();
                columns.insert(column.into(), hash.into());
            }
            None => output = line.into(),
        }
    }
    hashes
}

/// Returns whether an output, `CASE OUTPUT`, is of this case.
fn is_of(output: &str, name: &str) -> bool {
    output.split_once(' ').is_some_and(|(case, _)| case == name)
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
    let named = case.lines.iter().flat_map(|line| {
        let mut words = line.split_whitespace();
        std::iter::from_fn(move || words.find(|word| *word == "-t").and_then(|_| words.next()))
    });
    let absent = named
        .filter(|name| *name != OWN && !name.contains('/'))
        .find(|name| SearchPath::from_env().resolve(name, &manifest).is_err());
    absent.map(|name| format!("trace absent: {name}"))
}

/// Runs the commands of a case and returns the hashes of their outputs.
fn run(case: &Case) -> Result<Hashes, Failed> {
    let home = tempfile::tempdir()?;
    let checkout = Path::new(env!("CARGO_MANIFEST_DIR"));
    symlink(checkout.join("traces"), home.path().join("traces"))?;
    symlink(checkout.join("tests/golden/inputs"), home.path().join("inputs"))?;
    symlink(checkout.join("tests/samples"), home.path().join("samples"))?;
    symlink(checkout.join("docs/fixtures"), home.path().join("fixtures"))?;
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
    let mut found = BTreeMap::new();
    for (name, text) in &texts {
        found.insert(name.clone(), hashes(name, text)?);
    }
    // A column of a CSV file that has the text of the Parquet file's column needs no second hash.
    for name in texts.keys().filter(|name| name.ends_with(".csv")) {
        let Some(twin) = found.get(&format!("{}.parquet", name.trim_end_matches(".csv"))) else {
            continue;
        };
        let twin: BTreeMap<String, String> = twin
            .iter()
            .filter_map(|(typed, hash)| Some((typed.rsplit_once(':')?.0.into(), hash.clone())))
            .collect();
        let columns = found.get_mut(name).expect("a name of `texts`");
        columns.retain(|column, hash| twin.get(column) != Some(hash));
    }
    found.retain(|_, columns| !columns.is_empty());
    let titled = |(name, columns)| (format!("{} {name}", case.name), columns);
    Ok(found.into_iter().map(titled).collect())
}

/// Returns the hashes of an output by the names of its columns, or one hash for an output that is no table.
fn hashes(name: &str, text: &str) -> Result<BTreeMap<String, String>, Failed> {
    let mut columns: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let extension = Path::new(name).extension().and_then(|end| end.to_str());
    let is_figure = Path::new(name).components().any(|part| part.as_os_str() == "plots");
    match extension {
        Some("json") if !is_figure => {
            for line in text.lines() {
                // A document over several lines is hashed as a whole.
                let Ok(serde_json::Value::Object(row)) = serde_json::from_str(line) else {
                    columns.clear();
                    break;
                };
                for (column, value) in row {
                    columns.entry(column).or_default().push(value.to_string());
                }
            }
        }
        Some("csv" | "parquet") if !is_figure => {
            let mut reader =
                csv::ReaderBuilder::new().comment(Some(b'#')).from_reader(text.as_bytes());
            let header = reader.headers()?.clone();
            for column in &header {
                columns.insert(column.to_string(), Vec::new());
            }
            for record in reader.records() {
                for (column, value) in header.iter().zip(&record?) {
                    columns.entry(column.to_string()).or_default().push(value.to_string());
                }
            }
        }
        _ => {}
    }
    let hash = |text: &str| blake3::hash(text.as_bytes()).to_hex()[..10].to_string();
    if columns.is_empty() {
        return Ok(BTreeMap::from([(WHOLE.to_string(), hash(text))]));
    }
    columns.retain(|column, _| !TEXTS.contains(&column.as_str()));
    Ok(columns.into_iter().map(|(column, values)| (column, hash(&values.join("\n")))).collect())
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
            collect(home, &path, texts)?;
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

/// Formats a Parquet file as CSV. The name of a column contains its type.
fn table(path: &Path) -> Result<String, Failed> {
    let frame = ParquetReader::new(File::open(path)?).finish()?;
    let mut writer = csv::Writer::from_writer(Vec::new());
    let names = frame.columns().iter();
    writer.write_record(names.map(|column| format!("{}:{:?}", column.name(), column.dtype())))?;
    for row in 0..frame.height() {
        for column in frame.columns() {
            let mut text = String::new();
            cell(&mut text, &column.get(row)?)?;
            writer.write_field(text)?;
        }
        writer.write_record(None::<&[u8]>)?;
    }
    Ok(String::from_utf8(writer.into_inner()?)?)
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

/// Compares the hashes of one case with the expected hashes. The error names each output with its columns that differ.
fn compare(name: &str, found: &Hashes, expected: &Hashes) -> Result<(), Failed> {
    let of_case = |output: &&String| is_of(output, name);
    let mut wrong = Vec::new();
    let outputs: BTreeSet<&String> = found.keys().chain(expected.keys().filter(of_case)).collect();
    for output in outputs {
        let (Some(found), Some(expected)) = (found.get(output), expected.get(output)) else {
            let is =
                if found.contains_key(output) { "not in hashes.txt" } else { "no longer written" };
            wrong.push(format!("{output}: {is}"));
            continue;
        };
        let columns: BTreeSet<&String> = found.keys().chain(expected.keys()).collect();
        let (mut changed, mut added, mut removed) = (Vec::new(), Vec::new(), Vec::new());
        for column in columns {
            match (found.get(column), expected.get(column)) {
                (Some(found), Some(expected)) if found == expected => {}
                (Some(_), Some(_)) => changed.push(column.as_str()),
                (Some(_), None) => added.push(column.as_str()),
                _ => removed.push(column.as_str()),
            }
        }
        for (columns, what) in [(changed, "differ"), (added, "are new"), (removed, "are gone")] {
            if !columns.is_empty() {
                wrong.push(format!("{output}: columns that {what}: {}", columns.join(", ")));
            }
        }
    }
    if wrong.is_empty() {
        return Ok(());
    }
    wrong.push(
        "if this is intended: scripts/golden.sh --write; to compare the data with another build's: scripts/golden.sh --keep new; \
         scripts/golden.sh --keep old --program OTHER/replay; diff -r old new"
            .into(),
    );
    Err(wrong.join("\n").into())
}
