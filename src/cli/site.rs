//! The main job with Slurm's scheduler: `replay --trace ... --site DIR --sched slurm`.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Parser;
use serde::Serialize;

use super::args::{GridArgs, OutputArgs, RunArgs};
use super::exit::{Exit, Failure, eprint_line, eprint_warning};
use super::job_name::{JobName, notation};
use super::print::FormatArg;
use super::priority::site_files;
use super::program::Invocation;
use super::result_kind::Kind;
use super::results::{Results, Tally};
use super::session::Session;
use super::site_args::{PrioritiesArg, SiteRunArgs};
use super::strategy_selection::notices;
use super::sweep::{ListArgs, of_flags};
use super::terminal::stdout;
use super::tie_lists::TieLists;
use replay_engine::naming::split_list;
use replay_engine::number::{fixed, grouped};
use replay_engine::registries::Registries;
use replay_engine::sanitize::excerpt;
use replay_engine::table::{Table, write_json_line};
use replay_engine::topology::Topology;
use replay_engine::workload::estimates::Estimates;
use replay_engine::workload::{PartitionField, Workload, partition_definitions};
use replay_experiment::grid::ParameterGrid;
use replay_experiment::resolve::{estimated, load_traces};
use replay_output::report::{Align, Sheet};
use replay_results::FrameError;
use replay_site::error::SiteError;
use replay_site::explain::{ExplainStep, explain};
use replay_site::jobs::{JobOptions, SiteJobs, site_jobs};
use replay_site::outcome::{SiteJobRow, SiteRunRow, job_rows, run_row};
use replay_site::partitions::partition;
use replay_site::replay::{Replayed, replay};
use replay_site::sidecar::{Sidecar, sidecar_path};
use replay_site::site::{Site, SiteOptions};
use replay_site::strategy::{self, SlurmOptions};

/// The name of the scheduler.
const SLURM: &str = "slurm";

/// Share of node time of jobs that share nodes, above which a warning is printed.
const SHARED: f64 = 0.05;

/// The grid of a command line without arguments, for comparison.
#[derive(Parser)]
struct NoArguments {
    #[command(flatten)]
    grid: GridArgs,
}

/// Returns the name of a strategy without its parameters.
fn base(name: &str) -> &str {
    name.split('[').next().unwrap_or(name).trim()
}

/// Returns whether the main job replays a site's queue.
pub fn is_site_run(args: &RunArgs) -> bool {
    let names = args.grid.sched.iter().flat_map(|list| split_list(list));
    let mut bases = names.map(|name| base(name.trim()));
    args.site.site.is_some() || bases.any(|base| base == SLURM)
}

/// Returns a usage error if an option is given that this main job does not have.
fn reject_other_options(args: &RunArgs) -> Result<(), Failure> {
    let failed = |option: &str| {
        let problem = format!("--{option}: cannot be combined with --site or --sched {SLURM}");
        Err(Failure::usage_message(problem))
    };
    let supported = [
        "trace",
        "sched",
        "machine",
        "policy",
        "oversize",
        "estimates",
        "strict",
        "from",
        "jobs",
        "days",
        "max_errors",
        "partitions",
        "partition",
        "unknown",
    ];
    let none = NoArguments::try_parse_from(["replay"])
        .map_err(|e| Failure::usage_message(e.to_string()))?;
    let values = |grid: &GridArgs| serde_json::to_value(grid).map_err(Failure::usage);
    let (given, default) = (values(&args.grid)?, values(&none.grid)?);
    for (key, value) in given.as_object().into_iter().flatten() {
        if !supported.contains(&&key[..]) && default.get(key) != Some(value) {
            return failed(&key.replace('_', "-"));
        }
    }
    let others = [
        ("shake", args.shake.shake.is_some()),
        ("ties", args.ties),
        ("columns", !args.columns.is_empty()),
        ("baseline", args.baseline.baseline.is_some()),
        ("sort", args.sort.sort.is_some()),
    ];
    others.iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(option, _)| failed(option))
}

/// Returns the schedulers of a list, each with its name and options; `slurm` if the list is empty.
/// `other` names the options that exclude other schedulers.
pub fn slurm_schedulers(list: &str, other: &str) -> Result<Vec<(String, SlurmOptions)>, Failure> {
    let table = strategy::table();
    let names = split_list(list).into_iter().map(str::trim);
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let names = if names.is_empty() { vec![SLURM] } else { names };
    let scheduler = |name: &&str| {
        if base(name) != SLURM {
            let name = excerpt(name);
            let problem = format!("--sched {name}: cannot be combined with {other}");
            return Err(Failure::usage_message(problem));
        }
        let options = table.read(name).map_err(Failure::usage)?;
        Ok((table.name(&options).to_string(), options))
    };
    names.iter().map(scheduler).collect()
}

/// Returns the site of a trace: the given one, or the machine with the given partitions.
fn site_of(
    args: &RunArgs,
    given: Option<&Site>,
    machines: &[Topology],
    workload: &Workload,
) -> Result<Site, Failure> {
    if let Some(site) = given {
        return Ok(site.clone());
    }
    let (nodes, topology) = match machines {
        [] => match workload.header.max_procs().or(workload.header.max_nodes()) {
            Some(nodes) => (nodes as usize, None),
            None => {
                let trace = workload.source.display();
                let problem =
                    format!("{trace}: the header has no MaxProcs; give --machine or --site");
                return Err(Failure::usage_message(problem));
            }
        },
        [machine] => (machine.processors(), machine.hierarchy().cloned()),
        _ => return Err(Failure::usage_message("--machine: exactly one machine is required")),
    };
    let mut site = Site::of_machine(nodes, topology);
    let usage = |problem: String| Failure::usage_message(format!("--partition: {problem}"));
    let definitions = partition_definitions(&args.grid.partition).map_err(usage)?;
    let partitions = definitions.iter().map(|one| partition(one, &site.cpus));
    let mut partitions = partitions.collect::<Result<Vec<_>, _>>().map_err(usage)?;
    let field = field_of(args);
    if field == PartitionField::None && partitions.len() > 1 {
        return Err(usage(format!(
            "several partitions need --partitions queue or --partitions partition ({} are defined)",
            partitions.len()
        )));
    }
    if args.grid.unknown.is_none() || partitions.is_empty() {
        // Partitions whose nodes are not given have all nodes.
        let all = site.partitions[0].clone();
        for (number, name) in replay_site::jobs::partition_names(workload, field) {
            if !partitions.iter().any(|one| one.name == name || one.name == number.to_string()) {
                partitions.push(replay_site::site::Partition { name, ..all.clone() });
            }
        }
    }
    if !partitions.is_empty() {
        site.partitions = partitions;
    }
    Ok(site)
}

/// Returns the field that gives the partition of a job.
fn field_of(args: &RunArgs) -> PartitionField {
    args.grid.partitions.unwrap_or_default().field()
}

/// Results of replays with a site.
struct SiteRuns<'a> {
    args: &'a RunArgs,
    schedulers: &'a [(String, SlurmOptions)],
    workloads: &'a [Arc<Workload>],
    rows: Vec<SiteRunRow>,
    /// Jobs of all runs.
    jobs: Vec<SiteJobRow>,
}

impl Results for SiteRuns<'_> {
    type Row = SiteRunRow;

    fn rows(&self) -> &[SiteRunRow] {
        &self.rows
    }

    fn is_printed(&self) -> bool {
        self.args.output.table.format == FormatArg::Json
    }

    fn sheets(&self) -> Vec<Sheet> {
        vec![sheet(&self.rows)]
    }

    fn configuration(&self) -> Result<impl Serialize, Failure> {
        Ok(configuration(self.args, self.schedulers, self.workloads))
    }

    fn tables(
        &mut self,
        dir: &Path,
        metadata: &[(String, String)],
    ) -> Result<Vec<PathBuf>, FrameError> {
        let mut files = replay_results::write(dir, &self.rows, metadata)?;
        files.extend(replay_results::write(dir, &self.jobs, metadata)?);
        Ok(files)
    }
}

/// What a replay with a site needs, read from the arguments.
struct Prepared {
    schedulers: Vec<(String, SlurmOptions)>,
    grid: ParameterGrid,
    site: Option<Site>,
    workloads: Vec<Arc<Workload>>,
}

impl Prepared {
    /// Reads the site and the traces.
    fn of(registries: &Registries, args: &RunArgs) -> Result<Self, Failure> {
        let quiet = args.output.process.quiet;
        reject_other_options(args)?;
        let other = format!("--site or --sched {SLURM}");
        let schedulers = slurm_schedulers(&args.grid.sched.join(","), &other)?;
        if args.site.site.is_some() && !args.grid.partition.is_empty() {
            let problem = "--partition: cannot be combined with --site, which has the partitions";
            return Err(Failure::usage_message(problem));
        }
        let (partitions, partition, unknown) = (None, Vec::new(), None);
        let grid =
            GridArgs { sched: Vec::new(), partitions, partition, unknown, ..args.grid.clone() };
        let grid = of_flags(registries, &grid, &TieLists::default(), &ListArgs::default(), None)?;
        let site =
            args.site.site.as_deref().map(|path| read_site(args, path, quiet)).transpose()?;
        if site.is_some() && !grid.machines.is_empty() {
            let problem = "--machine: cannot be combined with --site, which has the machine";
            return Err(Failure::usage_message(problem));
        }
        let [policy] = &grid.policies[..] else {
            return Err(Failure::usage_message("--policy: exactly one policy is required"));
        };
        let workloads = load_traces(
            &grid.file.traces,
            policy,
            &grid.window,
            grid.file.max_errors,
            notices(quiet),
        )?;
        Ok(Self { schedulers, grid, site, workloads })
    }
}

/// Returns the site of a trace and the jobs of the trace in it.
fn site_jobs_of(
    args: &RunArgs,
    grid: &ParameterGrid,
    given: Option<&Site>,
    workload: &Arc<Workload>,
) -> Result<(Site, SiteJobs), Failure> {
    let quiet = args.output.process.quiet;
    let workload = &estimated(workload, grid, notices(quiet))?;
    let mut site = site_of(args, given, &grid.machines, workload)?;
    let estimates = grid.estimates != Estimates::Field9;
    let jobs = jobs_of(args, &mut site, workload, estimates, quiet)?;
    Ok((site, jobs))
}

/// Runs the main job.
///
/// # Errors
/// A usage error for an invalid option; a data error for an invalid trace or site.
pub fn run(
    registries: &Registries,
    args: &RunArgs,
    command: Invocation<'_>,
) -> Result<Exit, Failure> {
    let quiet = args.output.process.quiet;
    let mut session = Session::begin(Kind::Site, &args.output, command)?;
    let Prepared { schedulers, grid, site, workloads } = Prepared::of(registries, args)?;
    session.reads(inputs(args, &grid.estimates, &workloads));
    session.configure(&configuration(args, &schedulers, &workloads))?;
    let mut results = SiteRuns {
        args,
        schedulers: &schedulers,
        workloads: &workloads,
        rows: Vec::new(),
        jobs: Vec::new(),
    };
    for workload in &workloads {
        let (site, jobs) = site_jobs_of(args, &grid, site.as_ref(), workload)?;
        for (name, options) in &schedulers {
            let mut site = site.clone();
            options.apply(&mut site);
            let rule = args.site.limits.into();
            let replayed = replay(&site, &jobs.jobs, rule).map_err(Failure::usage_message)?;
            if !quiet {
                print_reasons(name, &replayed);
            }
            let run = results.rows.len() as u32;
            results.rows.push(run_row((run, &workload.name, name), &site, &jobs, &replayed));
            results.jobs.extend(job_rows(run, &site, &jobs, &replayed));
        }
    }
    if args.output.table.format == FormatArg::Json {
        results.print_json(&mut stdout()).map_err(Failure::stdout)?;
    }
    let tally = Tally::ended("runs", results.rows.len(), results.rows.len(), Vec::new());
    session.publish(&mut results, &tally)
}

/// The main job of a command line without arguments.
#[derive(Parser)]
struct NoRunArguments {
    #[command(flatten)]
    run: RunArgs,
}

/// Returns the main job with these options if it replays a site's queue.
///
/// # Errors
/// A usage error if the defaults of the main job cannot be read.
pub fn site_run(
    grid: &GridArgs,
    site: &SiteRunArgs,
    output: &OutputArgs,
) -> Result<Option<RunArgs>, Failure> {
    let none = NoRunArguments::try_parse_from(["replay"]);
    let none = none.map_err(|e| Failure::usage_message(e.to_string()))?;
    let (grid, site, output) = (grid.clone(), site.clone(), output.clone());
    Ok(Some(RunArgs { grid, site, output, ..none.run }).filter(is_site_run))
}

/// Explains the start of a job in a replay with a site.
///
/// # Errors
/// As [`run`]; a usage error if there is no such job, or if several traces or schedulers are given.
pub fn explain_job(
    registries: &Registries,
    args: &RunArgs,
    job: &JobName,
) -> Result<Exit, Failure> {
    if args.output.out.is_some() {
        let problem = format!("explain: --out: cannot be combined with --site or --sched {SLURM}");
        return Err(Failure::usage_message(problem));
    }
    let Prepared { schedulers, grid, site, workloads } = Prepared::of(registries, args)?;
    let ([workload], [(_, options)]) = (&workloads[..], &schedulers[..]) else {
        let problem = "explain: exactly one trace and one scheduler are required";
        return Err(Failure::usage_message(problem));
    };
    let (mut site, jobs) = site_jobs_of(args, &grid, site.as_ref(), workload)?;
    let number = job.number(workload, &notation(workload)?)?;
    let at = jobs.jobs.iter().position(|job| job.number == number);
    let at = at.ok_or_else(|| {
        Failure::usage_message(format!("--job {number}: the job is left out of the replay"))
    })?;
    options.apply(&mut site);
    let steps = explain(&site, &jobs.jobs, args.site.limits.into(), at);
    let steps = steps.map_err(Failure::usage_message)?;
    let sheet = || vec![steps_sheet(&steps)];
    args.output.table.print(&steps, sheet, &mut stdout()).map_err(Failure::stdout)?;
    Ok(Exit::Done)
}

/// Returns the printed table of an explanation.
fn steps_sheet(steps: &[ExplainStep]) -> Sheet {
    let mut sheet = Sheet::new(&[
        ("at", Align::Right),
        ("main", Align::Right),
        ("backfill", Align::Right),
        ("event", Align::Left),
        ("by", Align::Left),
        ("reason", Align::Left),
        ("start", Align::Right),
        ("partition", Align::Left),
        ("nodes", Align::Left),
        ("priority", Align::Right),
        ("blocked by", Align::Left),
    ]);
    for step in steps {
        let number = |value: Option<i64>| value.map_or(String::new(), |value| value.to_string());
        sheet.push(vec![
            step.at.to_string(),
            step.main_passes.to_string(),
            step.backfill_passes.to_string(),
            step.event.to_string(),
            step.by.unwrap_or_default().to_string(),
            step.reason.unwrap_or_default().to_string(),
            number(step.start),
            step.partition.clone().unwrap_or_default(),
            step.nodes.clone().unwrap_or_default(),
            number(step.priority.map(i64::from)),
            step.blocked_by.clone().unwrap_or_default(),
        ]);
    }
    sheet
}

/// Returns the paths of the files that determine the results.
fn inputs(args: &RunArgs, estimates: &Estimates, workloads: &[Arc<Workload>]) -> Vec<PathBuf> {
    let traces = workloads.iter().map(|workload| workload.source.clone());
    let sidecars = workloads.iter().map(|workload| sidecar_path(&workload.source));
    let estimates = match estimates {
        Estimates::File(file) => Some(PathBuf::from(file)),
        _ => None,
    };
    let site = args.site.site.as_deref().map(site_files).unwrap_or_default();
    let all = traces.chain(sidecars).chain(estimates).chain(site);
    all.filter(|path| path.is_file()).collect()
}

/// Returns the configuration, which determines the numbers.
fn configuration(
    args: &RunArgs,
    schedulers: &[(String, SlurmOptions)],
    workloads: &[Arc<Workload>],
) -> serde_json::Value {
    let traces = workloads
        .iter()
        .map(|workload| serde_json::json!({ "name": workload.name, "digest": workload.digest }));
    let schedulers: Vec<&str> = schedulers.iter().map(|(name, _)| &name[..]).collect();
    serde_json::json!({
        "traces": traces.collect::<Vec<_>>(),
        "schedulers": schedulers,
        "grid": args.grid,
        "site": args.site.site,
        "cluster": args.site.cluster,
        "partitions": args.grid.partitions,
        "partition": args.grid.partition,
        "unknown": args.grid.unknown,
        "limits": format!("{:?}", args.site.limits),
        "priorities": format!("{:?}", args.site.priorities),
    })
}

fn read_site(args: &RunArgs, path: &Path, quiet: bool) -> Result<Site, Failure> {
    if !path.exists() {
        return Err(Failure::usage_message(format!("--site {}: does not exist", path.display())));
    }
    let options = SiteOptions { strict: args.grid.strict, cluster: args.site.cluster.as_deref() };
    let (site, warnings) = Site::read(path, options).map_err(Failure::data)?;
    if !quiet {
        warnings.iter().for_each(eprint_warning);
    }
    Ok(site)
}

/// Returns the jobs of a trace in a site, with the values of the side file if it exists.
fn jobs_of(
    args: &RunArgs,
    site: &mut Site,
    workload: &Workload,
    estimates: bool,
    quiet: bool,
) -> Result<SiteJobs, Failure> {
    let sidecar = || -> Result<Option<Sidecar>, SiteError> {
        let Some(sidecar) = Sidecar::beside(&workload.source)? else { return Ok(None) };
        sidecar.check_trace(&workload.source.display().to_string(), &workload.digest)?;
        Ok(Some(sidecar))
    };
    let sidecar = sidecar().map_err(Failure::data)?;
    let options = JobOptions {
        partitions: field_of(args),
        unknown: args.grid.unknown.unwrap_or_default().into(),
        estimates,
        recorded_priorities: args.site.priorities == PrioritiesArg::Recorded,
    };
    let jobs = site_jobs(site, workload, sidecar.as_ref(), options).map_err(Failure::data)?;
    if !quiet {
        let name = &workload.name;
        jobs.notes.iter().for_each(|note| eprint_line(format_args!("{name}: {note}")));
        if jobs.shared_node_time > SHARED {
            eprint_warning(format_args!(
                "{name}: results do not hold for partitions whose jobs share nodes"
            ));
        }
    }
    Ok(jobs)
}

/// Prints the numbers of jobs that were rejected or never started, by reason.
fn print_reasons(scheduler: &str, replayed: &Replayed) {
    for (what, reasons) in
        [("rejected", replayed.rejected()), ("never started", replayed.never_started())]
    {
        let reasons = reasons.iter().map(|(reason, jobs)| format!("{} {jobs}", reason.name()));
        let reasons: Vec<String> = reasons.collect();
        if !reasons.is_empty() {
            eprint_line(format_args!("{scheduler}: {what}: {}", reasons.join(", ")));
        }
    }
}

impl SiteRuns<'_> {
    /// Prints one object with the runs, each with its jobs.
    fn print_json(&self, out: &mut impl Write) -> std::io::Result<()> {
        let object = |text: Vec<u8>| String::from_utf8_lossy(&text).trim_end().to_string();
        let columns = SiteJobRow::columns();
        write!(out, "{{\"runs\":[")?;
        for (at, run) in self.rows.iter().enumerate() {
            let mut text = Vec::new();
            write_json_line(&SiteRunRow::columns(), run, &mut text)?;
            let row = object(text);
            let comma = if at > 0 { "," } else { "" };
            write!(out, "{comma}{},\"jobs\":[", row.strip_suffix('}').unwrap_or(&row))?;
            let jobs = self.jobs.iter().filter(|job| job.run == run.run);
            for (at, job) in jobs.enumerate() {
                let mut text = Vec::new();
                write_json_line(&columns, job, &mut text)?;
                write!(out, "{}{}", if at > 0 { "," } else { "" }, object(text))?;
            }
            write!(out, "]}}")?;
        }
        writeln!(out, "]}}")
    }
}

/// Returns the printed table.
fn sheet(rows: &[SiteRunRow]) -> Sheet {
    let mut sheet = Sheet::new(&[
        ("trace", Align::Left),
        ("scheduler", Align::Left),
        ("jobs", Align::Right),
        ("started", Align::Right),
        ("backfilled", Align::Right),
        ("mean wait (s)", Align::Right),
        ("90 % wait (s)", Align::Right),
        ("slowdown", Align::Right),
        ("plan error (s)", Align::Right),
    ]);
    for row in rows {
        let number = |value: Option<f64>, decimals| {
            value.map_or(String::new(), |value| fixed(value, decimals))
        };
        let share = (row.started > 0).then(|| 100.0 * row.backfilled as f64 / row.started as f64);
        sheet.push(vec![
            row.trace.clone(),
            row.scheduler.clone(),
            grouped(row.jobs),
            grouped(row.started),
            share.map_or(String::new(), |share| format!("{} %", fixed(share, 1))),
            number(row.mean_wait, 1),
            number(row.p90_wait.map(|wait| wait as f64), 0),
            number(row.mean_bounded_slowdown, 2),
            number(row.mean_plan_error, 1),
        ]);
    }
    sheet
}
