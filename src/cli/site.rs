//! The main job with Slurm's scheduler: `replay --trace ... --site DIR --sched slurm`.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::{Args, Parser, ValueEnum};

use super::args::{GridArgs, RunArgs};
use super::exit::{Exit, Failure, eprint_line, eprint_warning};
use super::print::FormatArg;
use super::strategy_selection::notices;
use super::sweep::{ListArgs, of_flags};
use super::terminal::stdout;
use super::tie_lists::TieLists;
use replay_engine::naming::split_list;
use replay_engine::number::{fixed, grouped};
use replay_engine::registries::Registries;
use replay_engine::sanitize::excerpt;
use replay_engine::table::{Table, write_csv, write_json_line};
use replay_engine::topology::Topology;
use replay_engine::workload::Workload;
use replay_experiment::resolve::load_traces;
use replay_output::report::{Align, Sheet};
use replay_site::error::SiteError;
use replay_site::jobs::{JobOptions, PartitionField, SiteJobs, Unknown, site_jobs};
use replay_site::outcome::{SiteJobRow, SiteRunRow, job_rows, run_row};
use replay_site::partitions::partition;
use replay_site::replay::{LimitRule, Replayed, replay};
use replay_site::sidecar::Sidecar;
use replay_site::site::{Site, SiteOptions};
use replay_site::strategy::{self, SlurmOptions};

/// The name of the scheduler.
const SLURM: &str = "slurm";

/// Share of node time of jobs that share nodes, above which a warning is printed.
const SHARED: f64 = 0.05;

/// `--partitions`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum PartitionsArg {
    /// All jobs are in the default partition.
    #[default]
    None,
    /// Field 15 of the trace, the queue.
    Queue,
    /// Field 16 of the trace, the partition.
    Partition,
}

/// `--unknown`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum UnknownArg {
    /// An unknown name is an error.
    #[default]
    Error,
    /// Jobs with an unknown name are left out and counted.
    Drop,
}

/// `--limits`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum LimitsArg {
    /// A job ends at its time limit.
    #[default]
    Kill,
    /// A job runs for its recorded run time.
    Ignore,
}

/// `--priorities`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum PrioritiesArg {
    /// Priorities are calculated.
    #[default]
    Calculated,
    /// Jobs with a priority in the side file keep it.
    Recorded,
}

/// The site of the main job, as typed.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Site")]
pub struct SiteRunArgs {
    /// Read the site from this folder, or from this slurm.conf and the files beside it; for --sched slurm.
    ///
    /// The folder has the file slurm.conf and, if they exist, qos.txt (the output of sacctmgr -P show qos), assoc.txt
    /// (the output of sacctmgr -P show assoc with the columns ID, Account, User, Share, ParentName and those of limits),
    /// and topology.conf or topology.yaml. Users, accounts, partitions and QOS of the jobs are read from the file
    /// TRACE.site.csv beside the trace, if it exists. With --strict, keys and options without effect are errors.
    #[arg(long, value_name = "DIR|FILE", hide_short_help = true)]
    pub site: Option<PathBuf>,

    /// Select the cluster of assoc.txt, if the file has several.
    #[arg(long, value_name = "NAME", requires = "site", hide_short_help = true)]
    cluster: Option<String>,

    /// Take the partitions of the jobs from this field of the trace.
    #[arg(long, value_enum, value_name = "FIELD", default_value_t, hide_short_help = true)]
    partitions: PartitionsArg,

    /// Define a partition: NAME=NODES[,tier=N][,factor=N][,max-time=TIME][,max-nodes=N]; may be repeated.
    ///
    /// NODES is all or a list of node numbers such as 0-15,20. NAME is a number of the field of --partitions, or its
    /// name in the header of the trace (; Queue: 1 short).
    #[arg(long, value_name = "NAME=NODES", conflicts_with = "site", hide_short_help = true)]
    partition: Vec<String>,

    /// Treat jobs with a partition or a QOS that the site does not have by this rule.
    #[arg(long, value_enum, value_name = "RULE", default_value_t, hide_short_help = true)]
    unknown: UnknownArg,

    /// Treat time limits of jobs (field 9) by this rule.
    #[arg(long, value_enum, value_name = "RULE", default_value_t, hide_short_help = true)]
    limits: LimitsArg,

    /// Use these priorities: those of the site, or those recorded in the side file.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t, hide_short_help = true)]
    priorities: PrioritiesArg,
}

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
    args.site.site.is_some() || !args.site.partition.is_empty() || bases.any(|base| base == SLURM)
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
        "strict",
        "from",
        "jobs",
        "days",
        "max_errors",
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
        ("out", args.output.out.is_some()),
        ("shake", args.shake.shake.is_some()),
        ("ties", args.ties),
        ("columns", !args.columns.is_empty()),
        ("baseline", args.baseline.baseline.is_some()),
        ("sort", args.sort.sort.is_some()),
    ];
    others.iter().find(|(_, is_given)| *is_given).map_or(Ok(()), |(option, _)| failed(option))
}

/// Returns the schedulers, each with its name and options.
fn schedulers(args: &RunArgs) -> Result<Vec<(String, SlurmOptions)>, Failure> {
    let table = strategy::table();
    let names = args.grid.sched.iter().flat_map(|list| split_list(list)).map(str::trim);
    let names: Vec<&str> = names.filter(|name| !name.is_empty()).collect();
    let names = if names.is_empty() { vec![SLURM] } else { names };
    let scheduler = |name: &&str| {
        if base(name) != SLURM {
            let name = excerpt(name);
            let problem =
                format!("--sched {name}: cannot be combined with --site or --sched {SLURM}");
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
    let partitions = args.site.partition.iter().map(|text| partition(text, &site.cpus));
    let partitions = partitions.collect::<Result<Vec<_>, _>>();
    let partitions = partitions.map_err(|e| Failure::usage_message(format!("--partition: {e}")))?;
    if let Some((_, twice)) = partitions
        .iter()
        .enumerate()
        .find(|(at, one)| partitions[..*at].iter().any(|other| other.name == one.name))
    {
        let name = excerpt(&twice.name);
        return Err(Failure::usage_message(format!(
            "--partition: partition {name} is given twice"
        )));
    }
    if !partitions.is_empty() {
        site.partitions = partitions;
    } else if args.site.partitions != PartitionsArg::None {
        // Partitions whose nodes are not given have all nodes.
        let field = field_of(args.site.partitions);
        let all = site.partitions[0].clone();
        let names = replay_site::jobs::partition_names(workload, field);
        site.partitions = names
            .into_iter()
            .map(|name| replay_site::site::Partition { name, ..all.clone() })
            .collect();
        if site.partitions.is_empty() {
            site.partitions.push(all);
        }
    }
    Ok(site)
}

fn field_of(arg: PartitionsArg) -> PartitionField {
    match arg {
        PartitionsArg::None => PartitionField::None,
        PartitionsArg::Queue => PartitionField::Queue,
        PartitionsArg::Partition => PartitionField::Partition,
    }
}

/// A replay with its rows.
struct SiteRun {
    row: SiteRunRow,
    jobs: Vec<SiteJobRow>,
}

/// Runs the main job.
///
/// # Errors
/// A usage error for an invalid option; a data error for an invalid trace or site.
pub fn run(registries: &Registries, args: &RunArgs) -> Result<Exit, Failure> {
    let quiet = args.output.process.quiet;
    reject_other_options(args)?;
    let schedulers = schedulers(args)?;
    let grid = GridArgs { sched: Vec::new(), ..args.grid.clone() };
    let grid = of_flags(registries, &grid, &TieLists::default(), &ListArgs::default(), None)?;
    let site = args.site.site.as_deref().map(|path| read_site(args, path, quiet)).transpose()?;
    if site.is_some() && !grid.machines.is_empty() {
        let problem = "--machine: cannot be combined with --site, which has the machine";
        return Err(Failure::usage_message(problem));
    }
    let [policy] = &grid.policies[..] else {
        return Err(Failure::usage_message("--policy: exactly one policy is required"));
    };
    let workloads =
        load_traces(&grid.file.traces, policy, &grid.window, grid.file.max_errors, notices(quiet))?;
    let mut runs = Vec::new();
    for workload in &workloads {
        let mut site = site_of(args, site.as_ref(), &grid.machines, workload)?;
        let jobs = jobs_of(args, &mut site, workload, quiet)?;
        for (name, options) in &schedulers {
            let mut site = site.clone();
            options.apply(&mut site);
            let rule = match args.site.limits {
                LimitsArg::Kill => LimitRule::Kill,
                LimitsArg::Ignore => LimitRule::Ignore,
            };
            let replayed = replay(&site, &jobs.jobs, rule).map_err(Failure::usage_message)?;
            if !quiet {
                print_reasons(name, &replayed);
            }
            let row = run_row(&workload.name, name, &jobs, &replayed);
            runs.push(SiteRun { row, jobs: job_rows(&site, &jobs, &replayed) });
        }
    }
    print(args, &runs).map_err(Failure::stdout)?;
    Ok(Exit::Done)
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
    quiet: bool,
) -> Result<SiteJobs, Failure> {
    let sidecar = || -> Result<Option<Sidecar>, SiteError> {
        let Some(sidecar) = Sidecar::beside(&workload.source)? else { return Ok(None) };
        sidecar.check_trace(&workload.source.display().to_string(), &workload.digest)?;
        Ok(Some(sidecar))
    };
    let sidecar = sidecar().map_err(Failure::data)?;
    let options = JobOptions {
        partitions: field_of(args.site.partitions),
        unknown: match args.site.unknown {
            UnknownArg::Error => Unknown::Error,
            UnknownArg::Drop => Unknown::Drop,
        },
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

/// Prints the runs: as JSON one object with the runs and their jobs, otherwise a row per run.
fn print(args: &RunArgs, runs: &[SiteRun]) -> std::io::Result<()> {
    let mut out = stdout();
    match args.output.table.format {
        FormatArg::Json => {
            let object = |text: Vec<u8>| String::from_utf8_lossy(&text).trim_end().to_string();
            write!(out, "{{\"runs\":[")?;
            for (at, run) in runs.iter().enumerate() {
                let mut text = Vec::new();
                write_json_line(&SiteRunRow::columns(), &run.row, &mut text)?;
                let row = object(text);
                let comma = if at > 0 { "," } else { "" };
                write!(out, "{comma}{},\"jobs\":[", row.strip_suffix('}').unwrap_or(&row))?;
                let columns = SiteJobRow::columns();
                for (at, job) in run.jobs.iter().enumerate() {
                    let mut text = Vec::new();
                    write_json_line(&columns, job, &mut text)?;
                    write!(out, "{}{}", if at > 0 { "," } else { "" }, object(text))?;
                }
                write!(out, "]}}")?;
            }
            writeln!(out, "]}}")
        }
        FormatArg::Csv => {
            write_csv(&SiteRunRow::columns(), runs.iter().map(|run| &run.row), true, &mut out)
        }
        FormatArg::Table | FormatArg::Md | FormatArg::Latex => {
            args.output.table.sheet(&sheet(runs), 0, &mut out)
        }
    }
}

/// Returns the printed table.
fn sheet(runs: &[SiteRun]) -> Sheet {
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
    for SiteRun { row, .. } in runs {
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
