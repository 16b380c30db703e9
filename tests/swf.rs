//! Checks real traces against their known counts, and the fetch script with a generated list of traces.
//!
//! A test that needs an absent trace is listed as ignored, with the reason in brackets.
//! `replay fetch` fetches the traces.

use std::error::Error;
use std::fs;
use std::io::{BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Output};

use libtest_mimic::{Arguments, Failed, Trial};
use replay::swf::{Decoder, ReadOptions, Reader, Writer};
use replay::workload::{
    Change, DropReason, KnownTrace, Manifest, Oversize, Policy, SearchPath, Window, Workload,
};

type Checked = Result<(), Box<dyn Error>>;

fn main() -> ExitCode {
    let arguments = Arguments::from_args();
    let manifest = match Manifest::embedded() {
        Ok(manifest) => manifest,
        Err(error) => {
            eprintln!("{error}");
            return ExitCode::FAILURE;
        }
    };
    let search = SearchPath::from_env().with("../shared/traces");
    let mut trials = vec![
        Trial::test("fetch_script_copies_and_verifies", || script_copies().map_err(failed)),
        Trial::test("fetch_script_reports_failures", || script_fails().map_err(failed)),
    ];
    for trace in manifest.traces.clone().into_iter().filter(|trace| trace.sha256.is_some()) {
        type Check = fn(&Path, &KnownTrace) -> Checked;
        let checks: [(&str, Check); 3] =
            [("counts", counts), ("round_trip", round_trip), ("policies", policies)];
        let file = search.resolve(&trace.name, &manifest).ok();
        for (name, check) in checks {
            let (trace, title) = (trace.clone(), format!("{}::{name}", trace.name));
            trials.push(match file.clone() {
                Some(path) => Trial::test(title, move || check(&path, &trace).map_err(failed)),
                None => Trial::test(title, || Err("the trace is absent".into()))
                    .with_ignored_flag(true)
                    .with_kind("trace absent"),
            });
        }
    }
    libtest_mimic::run(&arguments, trials).exit_code()
}

fn failed(error: impl ToString) -> Failed {
    error.to_string().into()
}

fn check(holds: bool, what: impl ToString) -> Checked {
    if holds { Ok(()) } else { Err(what.to_string().into()) }
}

fn equal<T: PartialEq + std::fmt::Debug>(got: T, expected: T, what: &str) -> Result<(), String> {
    if got == expected { Ok(()) } else { Err(format!("{what}: {got:?}, expected {expected:?}")) }
}

fn load(path: &Path, policy: &Policy) -> Result<Workload, Box<dyn Error>> {
    Ok(Workload::load(path, policy, &Window::ALL, ReadOptions::default())?)
}

/// Checks the counts and the machine size in the manifest, under the default policy.
fn counts(path: &Path, trace: &KnownTrace) -> Checked {
    let mut workload = load(path, &Policy::JOHNSON)?;
    equal(workload.name.as_str(), trace.name.as_str(), "name")?;
    equal(Some(workload.report.read), trace.records, "records")?;
    equal(Some(workload.jobs.len() as u64), trace.jobs, "jobs kept")?;
    equal(workload.header.max_procs(), Some(trace.procs), "MaxProcs")?;
    workload.fit_to_machine(trace.procs, Oversize::Error)?;
    let changes = &workload.report.changes;
    match trace.name.as_str() {
        "KTH-SP2-1996-2" => {
            let line = "KTH-SP2-1996-2: 28,489 records, 28,489 jobs kept; 0 dropped; \
                        475 changed (estimate raised to run time 475)";
            equal(workload.report.to_string().as_str(), line, "report")?;
        }
        "LANL-CM5-1994-4.1-cln" => {
            equal(workload.report.drops[&DropReason::SizeUnknown], 3, "drops")?
        }
        "SDSC-Par-1995-3.1-cln.rebuilt" => {
            equal(changes[&Change::RunToZero], 15, "negative run times")?
        }
        _ => {}
    }
    check(workload.jobs.is_sorted_by_key(|job| (job.submit, job.line)), "not in order of arrival")?;
    check(workload.jobs.iter().all(|job| job.estimate >= job.run), "a job outlives its estimate")
}

/// Checks that the reader returns all written records, and the header with the same bytes.
fn round_trip(path: &Path, _: &KnownTrace) -> Checked {
    let mut text = Vec::new();
    Decoder::new(fs::File::open(path)?)?.read_to_end(&mut text)?;
    let mut reader = Reader::new(text.as_slice(), "original");
    let records = reader
        .records()
        .map(|item| item.map(|(_, record)| record))
        .collect::<Result<Vec<_>, _>>()?;
    let mut writer = Writer::new(Vec::new());
    writer.write_header(reader.header())?;
    for record in &records {
        writer.write_record(record)?;
    }
    // A small buffer splits lines, which the reader must join.
    let written = writer.into_inner();
    let mut again = Reader::new(BufReader::with_capacity(77, written.as_slice()), "written");
    for (index, record) in records.iter().enumerate() {
        equal(
            again.records().next().transpose()?.map(|(_, record)| record),
            Some(*record),
            &format!("record {index}"),
        )?;
    }
    check(again.records().next().is_none(), "more records than before")?;
    equal(again.header(), reader.header(), "header")?;
    let comments: Vec<u8> = text
        .split_inclusive(|&byte| byte == b'\n')
        .filter(|line| line.starts_with(b";"))
        .flatten()
        .copied()
        .collect();
    check(again.header().raw() == comments, "the bytes of the header differ from the file")
}

/// Checks for every policy that the numbers of kept and dropped records add up to the number of records that were read.
fn policies(path: &Path, trace: &KnownTrace) -> Checked {
    for policy in Policy::ALL.into_iter().filter(|policy| !policy.strict) {
        let report = load(path, policy)?.report;
        equal(report.kept + report.dropped(), report.read, policy.name)?;
    }
    let johnson = load(path, &Policy::JOHNSON)?.report;
    let clean = johnson.changed == 0 && johnson.dropped() == 0;
    match load(path, &Policy::STRICT) {
        Ok(_) => Ok(check(clean, "strict admitted a trace that johnson changes")?),
        Err(error) => {
            check(!clean, format!("strict refused an untouched trace: {error}"))?;
            check(error.to_string().contains(&format!("{}.swf", trace.name)), error)
        }
    }
}

/// Creates a folder with compressed traces of two records, and a manifest that lists them.
fn create_traces(dir: &Path) -> Result<PathBuf, Box<dyn Error>> {
    let archive = dir.join("archive");
    fs::create_dir(&archive)?;
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(b"; MaxProcs: 4\n\n1 0 0 5 2\n2 1 0 5 2\n")?;
    let packed = packer.finish()?;
    for name in ["Tiny-1", "Wrong-1"] {
        fs::write(archive.join(format!("{name}.swf.gz")), &packed)?;
    }
    let manifest = dir.join("list.toml");
    let entry = |name: &str, records: u32| {
        format!(
            "[[trace]]\nname = \"{name}\"\naliases = [\"{name}-alias\", \"x\"]\n\
             url = \"http://127.0.0.1:9/{name}.swf.gz\"\nrecords = {records}\nprocs = 4\n"
        )
    };
    let sum =
        format!("[[trace]]\nname = \"Summed-1\"\nsha256 = \"{}\"\nprocs = 4\n", "0".repeat(64));
    fs::write(archive.join("Summed-1.swf.gz"), &packed)?;
    fs::write(&manifest, [entry("Tiny-1", 2), entry("Wrong-1", 3), sum].concat())?;
    Ok(manifest)
}

fn script(manifest: &Path, arguments: &[&str]) -> Result<(i32, String), Box<dyn Error>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("scripts/fetch-traces.sh");
    let dir = manifest.parent().ok_or("no folder")?;
    let Output { status, stdout, stderr } = Command::new("bash")
        .arg(script)
        .args(arguments)
        .env("MANIFEST", manifest)
        .env("REPLAY", env!("CARGO_BIN_EXE_replay"))
        .current_dir(dir)
        .output()?;
    Ok((status.code().unwrap_or(-1), String::from_utf8([stdout, stderr].concat())?))
}

fn script_copies() -> Checked {
    let dir = tempfile::tempdir()?;
    let manifest = create_traces(dir.path())?;
    let fetch = ["TINY-1-alias", "--to", "got", "--from", "archive"];
    equal(script(&manifest, &fetch)?, (0, "Tiny-1: fetched and verified\n".into()), "first run")?;
    equal(
        script(&manifest, &fetch)?,
        (0, "Tiny-1: already present and verified\n".into()),
        "second run",
    )?;
    let workload = load(&dir.path().join("got/Tiny-1.swf.gz"), &Policy::JOHNSON)?;
    equal(workload.jobs.len(), 2, "jobs")?;
    let (status, listed) = script(&manifest, &["--list"])?;
    check(status == 0 && listed.contains("  KTH-SP2, KTH "), listed)
}

fn script_fails() -> Checked {
    let dir = tempfile::tempdir()?;
    let manifest = create_traces(dir.path())?;
    let expect = |arguments: &[&str], status: i32, words: &str| -> Checked {
        let (got, text) = script(&manifest, arguments)?;
        check(got == status && text.contains(words), format!("{arguments:?}: status {got}: {text}"))
    };
    expect(&["Wrong-1", "--to", "got", "--from", "archive"], 1, "2 records, expected 3")?;
    expect(&["Summed-1", "--to", "got", "--from", "archive"], 1, "SHA-256 is")?;
    check(!dir.path().join("got").exists(), "an incorrect file or an empty folder remains")?;
    // All three files are copied. One file is correct, and the exit code reports that two files are not.
    expect(&["--all", "--to", "all", "--from", "archive"], 1, "Tiny-1: fetched and verified")?;
    expect(&["Summed-1", "--to", "got"], 1, "not in the archive")?;
    expect(&["Nothing"], 2, "unknown trace \"Nothing\"")?;
    expect(&["--form"], 2, "unexpected argument '--form'")?;
    expect(&["Tiny-1", "--from", "nowhere"], 2, "no such directory")?;
    expect(&[], 2, "no trace named")?;
    // No process listens on this port.
    expect(&["Tiny-1", "--to", "got"], 1, "Tiny-1: cannot fetch http://127.0.0.1:9/Tiny-1.swf.gz")
}
