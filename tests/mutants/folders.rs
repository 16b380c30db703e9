//! Readers of output directories and of Parquet files, with inputs written by the program.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use replay::import::{ColumnMap, Import, Outputs, import};
use serde_json::Value;

use super::mutate::{mutant, one_of, random};

/// Path of the program under test.
pub const PROGRAM: &str = env!("CARGO_BIN_EXE_replay");

/// Documented exit codes, except for interruption.
const CODES: [i32; 5] = [0, 1, 2, 3, 4];

/// Time limit of a program. A program that runs longer counts as a hang.
const PATIENCE: Duration = Duration::from_secs(10);

/// The unmodified files of the current directory: outputs of the program, and files of the user.
pub struct Folders {
    files: BTreeMap<PathBuf, Vec<u8>>,
}

impl Folders {
    /// Runs the commands whose results are mutated.
    pub fn prepare() -> Self {
        let mut trace = "; MaxProcs: 16\n".to_string();
        for job in 1..=40 {
            let (submit, run, size) = (job * 17 % 300, 1 + job * 37 % 200, 1 + job * 5 % 9);
            trace += &format!("{job} {submit} -1 {run} {size} -1 -1 {size} {}\n", 2 * run);
        }
        fs::write("tiny.swf", trace).expect("a file");
        for command in [RUN, "--trace tiny.swf --alloc mm --no-plots -q --out other"] {
            let output = Command::new(PROGRAM).args(command.split(' ')).output();
            let output = output.expect("the program starts");
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
        fs::write("out/mine.txt", "a file of the user among the results\n").expect("a file");
        fs::write("mine.csv", "a file of the user\n").expect("a file");
        Self { files: listing() }
    }

    /// Restores the files.
    fn restore(&self) {
        let now = listing();
        for path in now.keys().filter(|path| !self.files.contains_key(*path)) {
            fs::remove_file(path).expect("a file of the last case");
        }
        for (path, bytes) in self.files.iter().filter(|(path, bytes)| now.get(*path) != Some(bytes))
        {
            fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            fs::write(path, bytes).expect("a file");
        }
    }

    /// Imports a mutated Parquet table.
    pub fn parquet(&self, seed: u64, number: u64) {
        let mut random = random(seed, "parquet", number);
        let table = &self.files[Path::new("out/jobs.parquet")];
        // The first two sources need columns that are not in the table.
        let how = match number % 16 {
            0 => "pm100",
            1 => "fdata",
            _ => "parquet",
        };
        let mut how = Import::new(how.parse().expect("a source"), "mutant.file");
        how.max_errors = 4;
        if number % 16 > 1 {
            how.map = Some(ColumnMap::parse(MAP, "map.toml").expect("a map"));
        }
        let (mut swf, mut nodes) = (Vec::new(), Vec::new());
        let outputs = Outputs { nodes: Some(&mut nodes), ..Outputs::trace(&mut swf) };
        match import(mutant(&mut random, table).as_slice(), &how, outputs) {
            Ok(report) => assert_eq!(report.accounted(), report.lines, "{report}"),
            Err(error) => assert!(error.to_string().contains("mutant.file"), "{error}"),
        }
    }

    /// Runs a command that reads or overwrites a mutated manifest; returns whether it hung, and the number of
    /// changed bytes in other files.
    pub fn manifest(&self, seed: u64, number: u64) -> (bool, u64) {
        let mut random = random(seed, "manifest", number);
        let path = Path::new("out/manifest.json");
        let bytes = mutant(&mut random, &self.files[path]);
        let command = one_of(&mut random, &[REPORT, COMPARE, RUN, FORCED]);
        self.run(&[(path, bytes)], command)
    }

    /// Runs a command that reads a mutated result table; returns whether it hung, and the number of changed bytes in other
    /// files. In every second case, the manifest has the digest of the mutant, so that the table itself is read.
    pub fn results(&self, seed: u64, number: u64) -> (bool, u64) {
        let mut random = random(seed, "results", number);
        let is_table = |path: &&PathBuf| {
            path.starts_with("out")
                && path.extension().is_some_and(|end| end == "parquet" || end == "csv")
        };
        let tables: Vec<&PathBuf> = self.files.keys().filter(is_table).collect();
        let path = *one_of(&mut random, &tables);
        let bytes = mutant(&mut random, &self.files[path]);
        let command = one_of(&mut random, &[REPORT, COMPARE]);
        let mut changes = vec![(path.as_path(), bytes)];
        if number.is_multiple_of(2) {
            let manifest = Path::new("out/manifest.json");
            let sealed = sealed(&self.files[manifest], path, &changes[0].1);
            changes.push((manifest, sealed));
        }
        self.run(&changes, command)
    }

    /// Applies changes and runs a command; returns whether it hung, and the number of changed bytes in files that
    /// the command must not write.
    fn run(&self, changes: &[(&Path, Vec<u8>)], command: &str) -> (bool, u64) {
        self.restore();
        for (path, bytes) in changes {
            fs::write(path, bytes).expect("a mutant");
        }
        let before = listing();
        let hung = hangs(command);
        let is_kept = |path: &Path| match command {
            RUN | FORCED => !path.starts_with("out") || path.ends_with("mine.txt"),
            _ => true,
        };
        let after = listing();
        let lost =
            before.iter().filter(|(path, bytes)| is_kept(path) && after.get(*path) != Some(bytes));
        let lost = lost.map(|(_, bytes)| bytes.len().max(1) as u64).sum();
        (hung, lost)
    }
}

const RUN: &str = "--trace tiny.swf --alloc mc1x1,random --no-plots -q --out out";
const FORCED: &str = "--trace tiny.swf --alloc mm --no-plots -q --force --out out";
const REPORT: &str = "report out other -q --write page.html";
const COMPARE: &str = "compare out:0 out:1 -q";
const MAP: &str = "time = 'seconds'\n[columns]\nid = 'job'\nsubmit = 'submit'\nstart = 'start'\nrun = 'run_time'\nsize = 'size'\n";

/// Returns all files below the current directory with their contents.
fn listing() -> BTreeMap<PathBuf, Vec<u8>> {
    let (mut files, mut open) = (BTreeMap::new(), vec![PathBuf::from(".")]);
    while let Some(dir) = open.pop() {
        for entry in fs::read_dir(&dir).expect("a folder") {
            let path = entry.expect("an entry").path();
            match path.is_dir() {
                true => open.push(path),
                false => {
                    let bytes = fs::read(&path).expect("a file");
                    files.insert(
                        path.strip_prefix(".").expect("a path below it").to_path_buf(),
                        bytes,
                    );
                }
            }
        }
    }
    files
}

/// Returns the manifest with the current size and digest of a file.
fn sealed(manifest: &[u8], path: &Path, bytes: &[u8]) -> Vec<u8> {
    let mut manifest: Value = serde_json::from_slice(manifest).expect("a manifest");
    let name = path.strip_prefix("out").expect("a path below it").display().to_string();
    for file in manifest["files"].as_array_mut().expect("a list") {
        if file["name"] == name.as_str() {
            file["bytes"] = bytes.len().into();
            file["blake3"] = blake3::hash(bytes).to_hex().as_str().into();
            file["sha256"] = "".into();
        }
    }
    serde_json::to_vec_pretty(&manifest).expect("JSON")
}

/// Runs the program and returns whether it exceeds its time limit.
///
/// # Panics
///
/// Panics if the program panics or ends with an undocumented exit code.
fn hangs(command: &str) -> bool {
    let errors = Path::new("../errors.txt");
    let mut child = Command::new(PROGRAM)
        .args(command.split(' '))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(File::create(errors).expect("a file"))
        .spawn()
        .expect("the program starts");
    let begin = Instant::now();
    let status = loop {
        match child.try_wait().expect("the program can be waited for") {
            Some(status) => break status,
            None if begin.elapsed() > PATIENCE => {
                child.kill().expect("it still runs");
                child.wait().expect("the program can be waited for");
                return true;
            }
            None => thread::sleep(Duration::from_millis(1)),
        }
    };
    let stderr = String::from_utf8_lossy(&fs::read(errors).expect("the file")).into_owned();
    assert!(!stderr.contains("panicked"), "replay {command}: {stderr}");
    let is_known = status.code().is_some_and(|code| CODES.contains(&code));
    assert!(is_known, "replay {command}: {status}: {stderr}");
    false
}
