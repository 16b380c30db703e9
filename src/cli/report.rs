//! `replay report`: writes a page of HTML about folders of results.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};

use clap::Args;

use super::args::QuietArg;
use super::exit::{Exit, Failure, eprint_line, eprint_warning};
use super::list;
use super::program::Program;
use super::result_kind::Kind;
use super::write::{NamedOutput, OutputFile, check_apart};
use replay_engine::number::grouped;
use replay_engine::table::Name;
use replay_experiment::files::{ResultError, ResultFolder};
use replay_output::plot::PlotError;
use replay_output::report::manifest::JobSet;
use replay_output::report::page::{
    self, Answer, BEGINNING, DOCTYPE, EXPLORE_PAGE, ExplorePage, Folder, FolderError, Heading,
    compare_top_strategies, is_published,
};
use replay_results::ResultTable;
use replay_results::compare::{Pairs, REPLAYED};
use replay_results::read::{JobsTable, ReadError};

/// Name of the page without `--write`.
const DEFAULT_PAGE: &str = "report.html";

/// Arguments of `replay report`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay report out/kth
  replay report out/before out/after --write compared.html
  replay report out/kth --title 'EASY on KTH-SP2' --author 'A. Miller'
  replay verify johnson --write checks.csv
  replay report out/kth checks.csv

The page begins with the answer: what was compared, what is gained with its 95 % interval, what is paid for it, a table with waits, and two figures; the rest is folded. It works offline and without scripts; with scripts its tables can be sorted and filtered. If a folder has the page of replay explore (explore.html), the page links it. It shows what the folders hold and runs nothing. With jobs.parquet it has a 95 % interval for the difference between the best strategy and the next.")]
pub struct ReportArgs {
    /// Folders written with --out, and files written by verify --write.
    #[arg(value_name = "DIR|FILE.csv", required = true)]
    of: Vec<PathBuf>,

    /// Write to this file [default: report.html].
    ///
    /// The option replaces any page of HTML with this name; without the option, only a page that replay wrote is replaced.
    #[arg(long, value_name = "FILE")]
    write: Option<PathBuf>,

    /// Give the page this title [default: the names of the folders].
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,

    /// Name this author below the title.
    #[arg(long, value_name = "TEXT")]
    author: Option<String>,

    #[command(flatten)]
    quiet: QuietArg,
}

/// Writes the page.
pub fn run(args: &ReportArgs, program: &Program) -> Result<Exit, Failure> {
    let write = args.write.as_deref().unwrap_or(Path::new(DEFAULT_PAGE));
    check_apart(&args.of, &[NamedOutput::of("--write", write)])?;
    replaces_no_data(write, args.write.is_some())?;
    let (mut folders, mut published) = (Vec::new(), Vec::new());
    for path in &args.of {
        // A path that does not exist is treated as a folder, so that the error reports an absent
        // folder.
        match path.is_dir() || !path.exists() {
            true => {
                let mut folder =
                    ResultFolder::read(path, read, Unread::is_transient).map_err(bad)?;
                if folder.explore.is_some() && path.join(EXPLORE_PAGE).is_file() {
                    let address =
                        address(write, &path.join(EXPLORE_PAGE)).map_err(Failure::usage)?;
                    folder.explore = Some(ExplorePage::Written(address));
                }
                if !folder.missing.is_empty() && !args.quiet.quiet {
                    let files = folder.missing.join(", ");
                    eprint_line(format_args!("{}: no longer has {files}", folder.name));
                }
                folders.push(folder);
            }
            false => published.push((path.display().to_string(), checks(path)?)),
        }
    }
    if !args.quiet.quiet {
        other_jobs(&folders).iter().for_each(eprint_warning);
    }
    has_common_traces(&folders)?;
    let heading = Heading { title: args.title.clone(), author: args.author.clone() };
    let page = page::page(&heading, &folders, &published, &program.build);
    let mut file = OutputFile::create(write)?;
    file.write_all(page.as_bytes()).map_err(|e| file.failed(e))?;
    file.finish()?;
    if !args.quiet.quiet {
        let kilobytes = grouped(page.len().div_ceil(1000) as u64);
        eprint_line(format_args!("{}: {kilobytes} kB", write.display()));
    }
    Ok(Exit::Done)
}

/// Reason why a folder cannot be shown on the page.
#[derive(Debug, thiserror::Error)]
enum Unread {
    #[error(transparent)]
    Folder(#[from] FolderError),
    #[error(transparent)]
    Jobs(#[from] ReadError),
    #[error(transparent)]
    Results(#[from] ResultError),
    #[error(transparent)]
    Plot(#[from] PlotError),
}

impl Unread {
    fn is_transient(&self) -> bool {
        match self {
            Self::Folder(error) => error.is_transient(),
            Self::Jobs(error) => error.is_transient(),
            Self::Results(error) => error.is_transient(),
            Self::Plot(_) => false,
        }
    }
}

/// A change in percent with its interval.
type JobChange = Option<(f64, [f64; 2])>;

/// The base, the compared run, and the measure.
type Comparison = ([i64; 2], Name);

/// Changes computed from a table of jobs. Each change is computed once.
struct ComparedJobs<'a> {
    jobs: &'a JobsTable,
    known: RefCell<HashMap<Comparison, Result<JobChange, ReadError>>>,
}

impl ComparedJobs<'_> {
    /// Returns the change of a column of the table of runs from the first run to the second; `None` if the table of jobs
    /// does not have the measure, or cannot be read.
    fn change(&self, runs: [i64; 2], measure: Name) -> JobChange {
        let mut known = self.known.borrow_mut();
        let change = known.entry((runs, measure)).or_insert_with(|| self.compare(runs, measure));
        change.as_ref().ok().copied().flatten()
    }

    fn compare(&self, runs: [i64; 2], measure: Name) -> Result<JobChange, ReadError> {
        let of_jobs = measure.text().strip_prefix("mean_");
        let of_jobs = REPLAYED.measures.iter().find(|name| Some(name.text()) == of_jobs);
        let Some(&of_jobs) = of_jobs else { return Ok(None) };
        let [base, other] = [self.jobs.of(runs[0], None)?, self.jobs.of(runs[1], None)?];
        let compared = Pairs::new(&base, &other)?.compare(["", ""], of_jobs)?;
        Ok((compared.jobs > 0).then_some((compared.change, compared.interval)))
    }
}

/// Returns an error if a folder of runs has no trace in common with an earlier folder of runs, because a page cannot
/// compare their results.
fn has_common_traces(folders: &[Folder]) -> Result<(), Failure> {
    let traces = |folder: &Folder| -> Vec<String> {
        let is_runs = matches!(Kind::of(&folder.manifest.kind), Some(Kind::Run | Kind::Sweep));
        let traces = folder.manifest.configuration.traces.iter().filter(|_| is_runs);
        traces.map(|trace| trace.name.clone()).collect()
    };
    let mut of_runs = folders.iter().map(|one| (one, traces(one))).filter(|(_, of)| !of.is_empty());
    let Some((first, own)) = of_runs.next() else { return Ok(()) };
    match of_runs.find(|(_, of)| !of.iter().any(|trace| own.contains(trace))) {
        None => Ok(()),
        Some((other, of)) => Err(Failure::usage_message(format!(
            "{} has results of {}, but {} has results of {}: results of different traces are not comparable; write a page for each folder",
            first.name,
            own.join(", "),
            other.name,
            of.join(", ")
        ))),
    }
}

/// Reads a folder and, if it has the table of jobs, compares the best strategies job by job.
fn read(results: &ResultFolder) -> Result<Folder, Unread> {
    results.check_tables()?;
    let mut folder = Folder::read(results, tables, &list::tables())?;
    let answer = Answer::of(&folder.tables);
    let parts = |of_jobs: &dyn Fn([i64; 2], Name) -> Option<(f64, [f64; 2])>| {
        answer.as_ref().map(|answer| answer.parts(of_jobs)).transpose()
    };
    folder.answer = parts(&|_, _| None)?;
    if results.files().iter().any(|file| file.name == JobsTable::file(&REPLAYED)) {
        folder.explore = Some(ExplorePage::Absent);
        match JobsTable::open(results, &REPLAYED) {
            Ok(jobs) => {
                let compared = ComparedJobs { jobs: &jobs, known: RefCell::default() };
                folder.answer = parts(&|runs, measure| compared.change(runs, measure))?;
                compared.known.into_inner().into_values().collect::<Result<Vec<_>, _>>()?;
                folder.comparisons =
                    compare_top_strategies(&folder.tables, |run| jobs.of(run, None))?
            }
            Err(ReadError::Results(ResultError::Missing(_))) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(folder)
}

/// Returns the address of a file relative to a page, with `%` and two digits for each byte that is not plain in an address.
///
/// # Errors
/// [`std::io::Error`] if the current folder is unknown.
fn address(page: &Path, file: &Path) -> std::io::Result<String> {
    let folder = |path: &Path| {
        let parent = path.parent().filter(|parent| *parent != Path::new(""));
        let parent = parent.unwrap_or(Path::new("."));
        // The folder of the page may not exist yet.
        parent.canonicalize().or_else(|_| std::path::absolute(parent))
    };
    let (from, to) = (folder(page)?, folder(file)?);
    let same = from.components().zip(to.components()).take_while(|(a, b)| a == b).count();
    let up = from.components().skip(same).map(|_| "..".to_string());
    let down = to.components().skip(same).map(|part| part.as_os_str().to_string_lossy().into());
    let name = file.file_name().map(|name| name.to_string_lossy().into_owned());
    let parts: Vec<String> = up.chain(down).chain(name).collect();
    let mut address = String::new();
    for byte in parts.join("/").bytes() {
        match byte {
            b'/' | b'.' | b'-' | b'_' | b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' => {
                address.push(char::from(byte));
            }
            _ => address += &format!("%{byte:02X}"),
        }
    }
    Ok(address)
}

/// Returns a line for each folder with a trace of which an earlier folder has other jobs.
fn other_jobs(folders: &[Folder]) -> Vec<String> {
    let sets = |folder: &Folder| {
        let manifest = folder.manifest.clone();
        let traces = manifest.configuration.traces.clone().into_iter();
        traces.map(move |trace| {
            let set = JobSet { jobs: trace.jobs as u64, window: Some(manifest.window()) };
            ([trace.name, trace.topology], trace.policy, set)
        })
    };
    let mut lines = Vec::new();
    for (place, folder) in folders.iter().enumerate() {
        let earlier =
            || folders[..place].iter().flat_map(|one| sets(one).map(move |set| (one, set)));
        let other = sets(folder).find_map(|(trace, policy, set)| {
            // Only a sweep has a policy for each trace.
            let is_same =
                |other: &Option<String>| policy.is_none() || other.is_none() || *other == policy;
            let (one, (.., other)) = earlier().find(|(_, (other, of, jobs))| {
                *other == trace && is_same(of) && jobs.differs(&set)
            })?;
            let [trace, ..] = &trace;
            Some(format!(
                "{} has {} of {trace}, but {} has {}; their results are not of the same jobs",
                folder.name,
                set.text(),
                one.name,
                other.text()
            ))
        });
        lines.extend(other);
    }
    lines
}

/// Returns an error if `path` exists and is not an HTML page, because it may be an input, or if the name was not given
/// and replay did not write the page.
pub(super) fn replaces_no_data(path: &Path, is_named: bool) -> Result<(), Failure> {
    // Reading a pipe or a device could block, and writing replaces nothing.
    if !fs::metadata(path).is_ok_and(|meta| meta.is_file()) {
        return Ok(());
    }
    let mut begin = Vec::new();
    let read =
        File::open(path).and_then(|file| file.take(BEGINNING.len() as u64).read_to_end(&mut begin));
    let path = path.display();
    match read {
        Ok(_) if begin.starts_with(BEGINNING.as_bytes()) => Ok(()),
        Ok(_) if begin.starts_with(DOCTYPE.as_bytes()) && is_named => Ok(()),
        Ok(_) if begin.starts_with(DOCTYPE.as_bytes()) => Err(Failure::usage_message(format!(
            "{path}: was not written by replay; --write {path} replaces it, --write FILE names another file"
        ))),
        _ => Err(Failure::usage_message(format!(
            "--write {path}: exists and is not a page of HTML; name another file"
        ))),
    }
}

/// Returns the tables of a kind of results; empty for an unknown kind.
fn tables(kind: &str) -> &'static [&'static str] {
    Kind::of(kind).map_or(&[], Kind::tables)
}

fn checks(path: &Path) -> Result<ResultTable, Failure> {
    let checks = page::checks(path, &list::tables()).map_err(|error| bad(error.into()))?;
    match is_published(&checks) && checks.rows().len() > 0 {
        true => Ok(checks),
        false => Err(Failure::data(anyhow::anyhow!(
            "{}: is neither a folder of results nor a file of verify --write",
            path.display()
        ))),
    }
}

fn bad(error: Unread) -> Failure {
    match error {
        error @ Unread::Folder(FolderError::Read { .. }) => Failure::usage(error),
        error => Failure::data(error),
    }
}
