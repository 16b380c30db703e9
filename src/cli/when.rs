//! `replay when`: planned and expected starts of the jobs that wait at a site.

use std::path::PathBuf;

use clap::Args;

use super::args::ProcessArgs;
use super::args::UnknownArg;
use super::exit::{Exit, Failure, eprint_line, eprint_warning};
use super::print::TableArgs;
use super::site::slurm_schedulers;
use super::site_args::PrioritiesArg;
use super::terminal::stdout;
use replay_engine::number::counted;
use replay_engine::workload::nodes;
use replay_output::report::{Align, Sheet};
use replay_site::site::{Site, SiteOptions};
use replay_site::state::check::compare;
use replay_site::state::clock::{Clock, instant};
use replay_site::state::when::{WhenRow, when};
use replay_site::state::{StateOptions, asked, read};
use replay_slurm::topology_file::text_of;

/// Arguments of `replay when`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay when --from-state now
      Print planned and expected starts of all jobs that wait.
  replay when --from-state now --only-job --job nodes=64,time=4:00:00,user=u1,account=a1
      Print when a job would start that is submitted now.
  replay when --from-state now --check now/squeue.txt
      Compare the planned starts with the output of squeue --start -o '%i|%S|%Y'.")]
pub struct WhenArgs {
    /// Read the site and its present state from this folder.
    ///
    /// The folder has slurm.conf, jobs.txt (the output of scontrol show job -o) and now.txt (the output of date +%FT%T when
    /// jobs.txt was made) and, if they exist, qos.txt, assoc.txt, topology.conf or topology.yaml, usage.txt (sshare -a -l -P),
    /// nodes.txt (scontrol show node -o) and history.txt (sacct -P with the columns User, Account, Elapsed, Timelimit).
    #[arg(long, value_name = "DIR")]
    from_state: PathBuf,

    /// Use this present instant in place of the one in now.txt: YYYY-MM-DDTHH:MM:SS, or seconds since 1970.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true)]
    now: Option<String>,

    /// Add a job that is submitted now, after all others; may be repeated.
    ///
    /// KEYS is nodes=64,time=4:00:00,user=NAME,account=NAME,partition=A+B,qos=NAME,nice=N; only nodes is required.
    #[arg(long, value_name = "KEYS")]
    job: Vec<String>,

    /// Print only the jobs of --job.
    #[arg(long, requires = "job")]
    only_job: bool,

    /// Use these schedulers: slurm, or slurm with parameters that override those of the site; a list.
    #[arg(short, long, value_name = "LIST", default_value = "slurm")]
    sched: String,

    /// Replay with N draws of run times for the quantiles of the starts.
    #[arg(long, value_name = "N", default_value_t = 200, value_parser = clap::value_parser!(u64).range(0..=100_000))]
    draws: u64,

    /// Begin with these priorities: those in jobs.txt, or calculated ones.
    #[arg(long, value_enum, value_name = "WHICH", default_value = "recorded")]
    priorities: PrioritiesArg,

    /// Treat waiting jobs with a partition or a QOS that the site does not have by this rule.
    #[arg(long, value_enum, value_name = "RULE", default_value_t)]
    unknown: UnknownArg,

    /// Compare the planned starts with this file, the output of squeue --start -o '%i|%S|%Y'.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["job", "only_job"])]
    check: Option<PathBuf>,

    /// Select the cluster of assoc.txt, if the file has several.
    #[arg(long, value_name = "NAME")]
    cluster: Option<String>,

    /// Treat keys and options without effect as errors.
    #[arg(long)]
    strict: bool,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    process: ProcessArgs,
}

/// Prints the starts.
pub fn run(args: &WhenArgs) -> Result<Exit, Failure> {
    args.process.set_threads()?;
    let folder = &args.from_state;
    if !folder.is_dir() {
        let problem = format!("--from-state {}: there is no such folder", folder.display());
        return Err(Failure::usage_message(problem));
    }
    let schedulers = slurm_schedulers(&args.sched, "--from-state")?;
    let now = match &args.now {
        Some(text) => {
            let now = instant(text).map_err(|e| Failure::usage_message(format!("--now: {e}")))?;
            let missing = || Failure::usage_message("--now: a time is missing".to_string());
            Some(now.ok_or_else(missing)?)
        }
        None => None,
    };
    let options = SiteOptions { strict: args.strict, cluster: args.cluster.as_deref() };
    let (mut site, warnings) = Site::read(folder, options).map_err(Failure::data)?;
    let calculates = args.priorities == PrioritiesArg::Calculated;
    let options = StateOptions { now, calculates, unknown: args.unknown.into() };
    let mut state = read(&mut site, folder, options).map_err(Failure::data)?;
    let present = state.waiting.len();
    for job in &args.job {
        let added = asked::submit(&mut site, &mut state, job);
        added.map_err(|e| Failure::usage_message(format!("--job: {e}")))?;
    }
    let clock = state.clock;
    if !args.process.quiet {
        warnings.iter().for_each(eprint_warning);
        state.notes.iter().for_each(eprint_line);
        let (running, waiting) = (state.running.len() as u64, present as u64);
        let now = clock.format(state.now);
        let running = counted(running, "running job");
        eprint_line(format_args!("{now}: {running}, {}", counted(waiting, "waiting job")));
        if args.draws > 0 && state.history.is_empty() && args.check.is_none() {
            eprint_line("without history.txt, drawn run times are the time limits");
        }
        eprint_line("no further jobs arrive, so expected starts are too early");
    }
    let draws = if args.check.is_some() { 0 } else { args.draws };
    let mut rows: Vec<WhenRow> = Vec::new();
    for (name, options) in &schedulers {
        let mut site = site.clone();
        options.apply(&mut site);
        let found = when(&site, &state, draws).map_err(|e| Failure::data(anyhow::Error::msg(e)))?;
        let shown = found.into_iter().skip(if args.only_job { present } else { 0 });
        rows.extend(shown.map(|row| WhenRow { scheduler: name.clone(), ..row }));
    }
    if let Some(file) = &args.check {
        return check(args, file, &rows, schedulers.len());
    }
    let many = schedulers.len() > 1;
    let sheet = || vec![sheet(&rows, clock, many)];
    args.table.print(&rows, sheet, &mut stdout()).map_err(Failure::stdout)?;
    Ok(Exit::Done)
}

/// Compares the planned starts with a file.
fn check(
    args: &WhenArgs,
    file: &std::path::Path,
    rows: &[WhenRow],
    schedulers: usize,
) -> Result<Exit, Failure> {
    if schedulers != 1 {
        return Err(Failure::usage_message("--check: exactly one scheduler is required"));
    }
    let name = file.display().to_string();
    let text = text_of(file).map_err(|e| Failure::usage_message(format!("--check: {e}")))?;
    let same_nodes = |plan: &str, listed: &str| {
        let sorted = |mut names: Vec<String>| {
            names.sort();
            names
        };
        let plan = sorted(plan.split(',').map(str::to_string).collect());
        nodes::names(listed, 1 << 20).is_ok_and(|listed| sorted(listed) == plan)
    };
    let found = compare(rows, &text, &name, same_nodes).map_err(Failure::data)?;
    args.table.print([&found], || vec![found.sheet()], &mut stdout()).map_err(Failure::stdout)?;
    Ok(Exit::Done)
}

/// Returns the printed table.
fn sheet(rows: &[WhenRow], clock: Clock, many: bool) -> Sheet {
    let mut columns = vec![("job", Align::Left)];
    if many {
        columns.push(("scheduler", Align::Left));
    }
    columns.extend([
        ("user", Align::Left),
        ("partition", Align::Left),
        ("nodes", Align::Right),
        ("plan", Align::Left),
        ("on", Align::Left),
        ("expected", Align::Left),
        ("10 %", Align::Left),
        ("50 %", Align::Left),
        ("90 %", Align::Left),
        ("reason", Align::Left),
        ("blocked by", Align::Left),
    ]);
    let mut sheet = Sheet::new(&columns);
    let time = |at: Option<i64>| at.map_or(String::new(), |at| clock.format(at));
    for row in rows {
        let mut cells = vec![row.job.clone()];
        if many {
            cells.push(row.scheduler.clone());
        }
        let [first, median, last] = row.quantiles.map(time);
        cells.extend([
            row.user.clone(),
            row.partition.clone(),
            row.nodes.to_string(),
            time(row.plan),
            row.plan_nodes.clone().unwrap_or_default(),
            time(row.expected),
            first,
            median,
            last,
            row.reason.unwrap_or_default().to_string(),
            row.blocked_by.clone().unwrap_or_default(),
        ]);
        sheet.push(cells);
    }
    sheet
}
