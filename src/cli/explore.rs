//! `replay explore`: one page of HTML to look into runs.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;

use super::args::{GridArgs, ProcessArgs};
use super::exit::{Exit, Failure, eprint_line, eprint_warning};
use super::interrupt::cancel_token;
use super::job_name::{self, JobName};
use super::program::Invocation;
use super::report::replaces_no_data;
use super::side_files::read_beside;
use super::strategy_selection;
use super::write::{NamedOutput, OutputFile, check_apart};
use replay_engine::number::{counted, grouped};
use replay_engine::registries::Registries;
use replay_engine::simulation::{OutageFile, Outages, WhenDown};
use replay_engine::topology::{Topology, split_name};
use replay_engine::workload::Notation;
use replay_experiment::explained::explain;
use replay_experiment::explained::steps::{parts, steps};
use replay_experiment::files::ResultFolder;
use replay_experiment::sweep::text_digest;
use replay_experiment::{Cell, Measure, RunContext, run_cell};
use replay_explore::{Explanation, MOST_RUNS, PageError, RunFolder, RunTables, Subject, page};

/// Name of the page without `--write`.
pub(super) const DEFAULT_PAGE: &str = "explore.html";

/// Arguments of `replay explore`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay explore --trace KTH-SP2 --sched easy --alloc mc1x1 --tie none --tie 2,13,20,6
  replay explore --sched easy --alloc hilbert-best-fit --explain 250,3333 --write run.html
  replay --trace KTH-SP2 --sched fcfs,easy --alloc mc1x1 --placements --out out/kth
  replay explore out/kth

The page works offline, in any browser since 2023. Press ? on the page for its keys.")]
pub struct ExploreArgs {
    /// Folders written with --out, at best with --placements; without a folder, the grid is run.
    #[arg(value_name = "DIR", conflicts_with = "GridArgs")]
    folders: Vec<PathBuf>,

    #[command(flatten)]
    grid: GridArgs,

    /// Show these runs of the folders, by their numbers in the table runs [default: all].
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        requires = "folders",
        help_heading = "Explore"
    )]
    run: Vec<i64>,

    /// Add the explanations of these jobs, as explain prints them, in every run.
    #[arg(
        long,
        value_name = "JOB",
        value_delimiter = ',',
        conflicts_with = "folders",
        allow_hyphen_values = true,
        help_heading = "Explore"
    )]
    explain: Vec<JobName>,

    /// Leave out the processors of the jobs and the measures of their placements, the largest part of the page.
    #[arg(long, help_heading = "Explore")]
    no_placements: bool,

    /// Write to this file [default: explore.html].
    ///
    /// The option replaces any page of HTML with this name; without the option, only a page that replay wrote is replaced.
    #[arg(long, value_name = "FILE", help_heading = "Explore")]
    write: Option<PathBuf>,

    #[command(flatten)]
    process: ProcessArgs,
}

/// Writes the page.
pub fn run(
    registries: &Registries,
    args: &ExploreArgs,
    invocation: Invocation<'_>,
) -> Result<Exit, Failure> {
    let write = args.write.as_deref().unwrap_or(Path::new(DEFAULT_PAGE));
    args.process.set_threads()?;
    check_apart(&args.folders, &[NamedOutput::of("--write", write)])?;
    replaces_no_data(write, args.write.is_some())?;
    let (subject, mut runs) = match args.folders.is_empty() {
        true => match computed(registries, args, write)? {
            Some(computed) => computed,
            None => {
                eprint_line("replay: interrupted; nothing is written");
                return Ok(Exit::Interrupted);
            }
        },
        false => stored(registries, args)?,
    };
    if args.no_placements {
        runs = runs.into_iter().map(RunTables::without_placements).collect();
    }
    let page = page(&subject, &runs, &invocation.program.build).map_err(Failure::data)?;
    let mut file = OutputFile::create(write)?;
    file.write_all(page.as_bytes()).map_err(|e| file.failed(e))?;
    file.finish()?;
    if !args.process.quiet {
        let kilobytes = grouped(page.len().div_ceil(1000) as u64);
        let runs = counted(runs.len() as u64, "run");
        eprint_line(format_args!("{}: {runs}, {kilobytes} kB", write.display()));
    }
    Ok(Exit::Done)
}

fn too_many(runs: usize, what: &str) -> Failure {
    Failure::usage_message(format!(
        "explore: a page shows at most {MOST_RUNS} runs; {what} {}",
        counted(runs as u64, "run")
    ))
}

/// Runs the grid of the options; `None` if it was interrupted.
fn computed(
    registries: &Registries,
    args: &ExploreArgs,
    write: &Path,
) -> Result<Option<(Subject, Vec<RunTables>)>, Failure> {
    let quiet = args.process.quiet;
    let mut grid = args.grid.clone();
    if grid.alloc.is_empty() {
        grid.alloc = vec!["mc1x1".to_string()];
    }
    let measure =
        Measure { jobs: true, nodes: !args.no_placements, placements: true, ..Measure::default() };
    let loaded = strategy_selection::resolve(registries, &grid, None, measure, quiet)?;
    let cells = loaded.cells()?;
    if cells.len() > MOST_RUNS {
        return Err(too_many(cells.len(), "the options give"));
    }
    let beside = loaded.traces.iter().flat_map(|trace| read_beside(&trace.workload.source));
    let inputs = loaded.inputs().into_iter().chain(beside);
    check_apart(inputs, &[NamedOutput::of("--write", write)])?;
    let [first, others @ ..] = &cells[..] else {
        return Err(Failure::usage_message("explore: the options give no run"));
    };
    let key = first.key();
    for cell in others {
        let other = cell.key();
        if (&other.trace, &other.topology, &other.policy)
            != (&key.trace, &key.topology, &key.policy)
        {
            return Err(Failure::usage_message(
                "explore: a page shows runs of one trace, cleaning policy and machine; the options give several",
            ));
        }
    }
    let notation = job_name::notation(&first.trace.workload)?;
    let stop = cancel_token(quiet);
    let mut runs = Vec::new();
    for cell in &cells {
        let result = match run_cell(0, cell, measure, RunContext::new(&stop)) {
            Ok(result) => result,
            Err(error) if error.is_stopped() => return Ok(None),
            Err(error) => return Err(Failure::data(error.cause)),
        };
        let explained = explanations(cell, &args.explain, &notation)?;
        let tables = RunTables::of(&result, explained).map_err(Failure::data)?;
        runs.push(RunTables { outages: Some(cell.trace.outages().clone()), ..tables });
    }
    let subject = Subject { trace: key.trace, notation, topology: first.trace.topology.clone() };
    Ok(Some((subject, runs)))
}

/// Explains the start of each of these jobs that started.
fn explanations(
    cell: &Cell,
    names: &[JobName],
    notation: &Notation,
) -> Result<Vec<Explanation>, Failure> {
    let stop = cancel_token(true);
    let mut explained = Vec::new();
    for name in names {
        let job = name.number(&cell.trace.workload, notation).map_err(|e| e.within("--explain"))?;
        let starts = explain(cell, job, &stop).map_err(Failure::data)?;
        let steps = steps(&parts(&starts, &cell.trace.topology, notation));
        let steps = steps.into_iter().map(|step| (step.topic.to_string(), step.text)).collect();
        if !starts.is_empty() {
            explained.push(Explanation { job, steps });
        }
    }
    Ok(explained)
}

/// Reads the runs of the folders, which must replay the same trace on the same machine.
fn stored(
    registries: &Registries,
    args: &ExploreArgs,
) -> Result<(Subject, Vec<RunTables>), Failure> {
    let mut folders = Vec::new();
    for path in &args.folders {
        let read = ResultFolder::read(path, RunFolder::read, PageError::is_transient);
        folders.push(read.map_err(Failure::data)?);
    }
    let chosen = |run: i64| args.run.is_empty() || args.run.contains(&run);
    let runs: Vec<_> = folders
        .iter()
        .flat_map(|folder| folder.runs().iter().map(move |run| (folder, run)))
        .filter(|(_, run)| chosen(run.run))
        .collect();
    if let Some(absent) = args.run.iter().find(|run| !runs.iter().any(|(_, row)| row.run == **run))
    {
        return Err(Failure::usage_message(format!("--run {absent}: no folder has this run")));
    }
    if runs.len() > MOST_RUNS {
        return Err(too_many(runs.len(), "choose with --run; the folders have"));
    }
    let Some((folder, first)) = runs.first() else {
        return Err(Failure::usage_message("explore: the folders have no run"));
    };
    let identity = |folder: &RunFolder, trace: &str| {
        let manifest = folder.manifest();
        let record = manifest.trace(trace).cloned().unwrap_or_default();
        (record.digest, record.jobs, manifest.configuration.policy.clone())
    };
    let is_same = |other: &RunFolder, key: &replay_experiment::RunKey| {
        key.trace == first.key.trace
            && key.topology == first.key.topology
            && key.policy == first.key.policy
            && identity(other, &key.trace) == identity(folder, &first.key.trace)
    };
    if let Some((other, run)) = runs.iter().find(|(other, run)| !is_same(other, &run.key)) {
        return Err(Failure::data(anyhow::anyhow!(
            "{}: run {} replays {} on {}, not the same jobs of {} on {} as run {} of {}; a page shows runs of one trace, \
             cleaning policy, window and machine",
            other.name(),
            run.run,
            run.key.trace,
            run.key.topology,
            first.key.trace,
            first.key.topology,
            first.run,
            folder.name()
        )));
    }
    let record = folder.manifest().trace(&first.key.trace).cloned().unwrap_or_default();
    let topology = machine(registries, &first.key.topology).map_err(|problem| {
        Failure::data(anyhow::anyhow!("the machine of {}: {problem}", folder.name()))
    })?;
    let notation = Notation {
        epoch: record.unix_start_time,
        ids: job_name::ids(Path::new(&record.source), &record.digest)?,
    };
    let mut tables = Vec::new();
    for (folder, run) in &runs {
        let outages = outages(folder, &run.key.trace, &topology).map_err(|problem| {
            if !args.process.quiet {
                let name = folder.name();
                eprint_warning(format_args!(
                    "{name}: {problem}; processors out of service are drawn as free"
                ));
            }
        });
        let run = folder.tables(run).map_err(Failure::data)?;
        tables.push(RunTables { outages: outages.ok(), ..run });
    }
    Ok((Subject { trace: first.key.trace.clone(), notation, topology }, tables))
}

/// Reads the outages of the runs of a folder again.
///
/// # Errors
/// A message if the file cannot be read, or if it has changed since the runs.
fn outages(folder: &RunFolder, trace: &str, machine: &Topology) -> Result<Outages, String> {
    let manifest = folder.manifest();
    let Some(down) = &manifest.configuration.down else { return Ok(Outages::NONE) };
    let name = &down.file;
    let file = File::open(name).map_err(|error| format!("cannot read {name}: {error}"))?;
    let windows = OutageFile::read(file, name).and_then(|file| file.on(machine));
    let windows = windows.map_err(|error| error.to_string())?;
    let running = match &down.rule {
        Some(rule) => rule.parse::<WhenDown>().map_err(|error| error.to_string())?,
        None => WhenDown::default(),
    };
    let outages = Outages { windows, running, walls: down.walls };
    let digest = (!outages.is_empty()).then(|| text_digest(&outages.identity()));
    match manifest.trace(trace).is_some_and(|record| record.outages == digest) {
        true => Ok(outages),
        false => Err(format!("{name} has changed since the runs")),
    }
}

/// Returns the machine with this name, which may be the name of a file.
///
/// # Errors
/// A message if the name is unknown or the file cannot be read.
fn machine(registries: &Registries, name: &str) -> Result<Topology, String> {
    match registries.machine_files.as_ref().filter(|_| split_name(name).is_some()) {
        Some(files) => files.read(name).map(|file| file.topology),
        None => name.parse::<Topology>().map_err(|error| error.to_string()),
    }
}
