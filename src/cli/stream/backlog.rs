//! `replay stream --backlog`: utilization of a torus under placement rules while jobs always wait.

use clap::Args;
use serde::{Deserialize, Serialize};

use super::{StreamArgs, estimated, warn_if_wide};
use crate::cli::exit::{Exit, Failure};
use crate::cli::named_value::parse_list;
use crate::cli::named_value::{Named, distinct, one, some};
use crate::cli::results::Results;
use crate::cli::resumable_run::ResumableRun;
use crate::cli::session::Session;
use crate::cli::shards::Shards;
use replay_backlog::{Backlog, Bench, Best, Busy, Estimates, Found, Mix, Outcome, Rule, Setting};
use replay_engine::metrics::estimate::StopRule;
use replay_engine::table::Table;
use replay_engine::topology::Topology;
use replay_output::report::{Sheet, Shown};
use replay_slurm::placement::menu::{Anchors, Menu};

const MACHINE: &str = "torus:16x16x16";

/// Options that replace arrivals, schedulers and allocators, as typed.
#[derive(Clone, Debug, Args, Serialize, Deserialize)]
pub struct BacklogArgs {
    /// Keep N jobs in the queue instead of simulating arrivals, and compare placement rules on a torus; takes a list.
    ///
    /// The queue is refilled at once, and any of its N jobs may start; N = 1 means first come, first served. A stream
    /// has --jobs jobs; a run ends when the stream has too few jobs left to refill the queue. Slurm's rule always runs,
    /// because the other rules are compared with it on the same jobs.
    #[arg(
        long,
        value_name = "N",
        value_delimiter = ',',
        value_parser = clap::value_parser!(u32).range(1..=10_000),
        conflicts_with_all = [
            "load", "arrivals", "sides", "service", "pattern", "preset", "network", "quota", "flits", "mapping", "warm_up",
            "completions", "by_size", "log", "sched", "alloc", "sort",
        ],
        help_heading = "Backlog"
    )]
    backlog: Vec<u32>,

    /// Allow these boxes for jobs: pow2, all, tpu-v4, list:AxBxC+...
    #[arg(
        long,
        value_name = "MENU",
        default_value = "tpu-v4",
        requires = "backlog",
        help_heading = "Backlog",
        hide_short_help = true
    )]
    menu: Named<Menu>,

    /// Allow these positions of a box: aligned, half, all.
    #[arg(
        long,
        value_name = "NAME",
        default_value = "aligned",
        requires = "backlog",
        help_heading = "Backlog",
        hide_short_help = true
    )]
    anchors: String,

    /// Draw sizes of jobs from tpu-v4, uniform, cubes, slabs, small, heavy-tail; takes a list.
    ///
    /// Each mix except tpu-v4 has a variant with the suffix -half, in which every tenth job requests half of the torus.
    /// Service times depend on sizes only in the mix heavy-tail.
    #[arg(
        long,
        value_name = "MIX",
        value_delimiter = ',',
        default_value = "tpu-v4",
        requires = "backlog",
        help_heading = "Backlog",
        hide_short_help = true
    )]
    mix: Vec<String>,

    /// Compare these placement rules: count, first, slurm, lf, lf-eq, nf, dl, dl-lf, auto; takes a list.
    ///
    /// The rule count uses only the number of free processors and gives an upper bound. The rule auto tunes its weights
    /// with the jobs so far.
    #[arg(
        long,
        value_name = "RULE",
        value_delimiter = ',',
        default_value = "count,first,slurm,lf,dl",
        requires = "backlog",
        help_heading = "Backlog",
        hide_short_help = true
    )]
    rules: Vec<String>,

    /// Search for the weights and the slack that give the highest utilization of the torus.
    ///
    /// Weights and slack are chosen on the first half of each stream and measured on the second half. The number of
    /// streams is given by --replications or --min-replications.
    #[arg(
        long,
        conflicts_with = "rules",
        requires = "backlog",
        help_heading = "Backlog",
        hide_short_help = true
    )]
    search: bool,

    /// Estimate service times by the method exact, noisy or shuffled; takes a list.
    ///
    /// The method noisy multiplies a service time by 1 + x, where x is exponential with mean 2. The method shuffled
    /// takes the service time of another job of the same size.
    #[arg(
        long,
        value_name = "NAME",
        value_delimiter = ',',
        default_value = "exact",
        requires = "backlog",
        help_heading = "Backlog",
        hide_short_help = true
    )]
    estimates: Vec<String>,
}

impl BacklogArgs {
    /// Returns whether `--backlog` was given.
    pub fn is_given(&self) -> bool {
        !self.backlog.is_empty()
    }
}

/// Runs every combination of mix, estimate and queue length under every rule, or searches for the best weights of each
/// combination.
///
/// # Errors
/// A usage error for a wrong option.
pub fn run(
    args: &StreamArgs,
    rule: &StopRule,
    mut session: Session,
    shards: Option<&Shards<'_>>,
) -> Result<Exit, Failure> {
    let backlog = &args.backlog;
    let anchors = one("--anchors", &backlog.anchors, &Anchors::ALL)?;
    let mut rules = some("--rules", &backlog.rules, &Rule::ALL)?;
    if !rules.contains(&Rule::SLURM) {
        rules.push(Rule::SLURM);
    }
    let rules = distinct(rules);
    let mixes = distinct(some("--mix", &backlog.mix, &Mix::ALL)?);
    let estimates = distinct(some("--estimates", &backlog.estimates, &Estimates::ALL)?);
    let windows = distinct(backlog.backlog.clone());
    let machine = machine(args)?;
    let bench = Bench::new(&machine, &backlog.menu.0, anchors, true)?;
    for mix in &mixes {
        mix.draw(bench.torus(), 1, Estimates::Exact, 0)?;
    }
    let mut backlogs = Vec::new();
    for &mix in &mixes {
        for &estimates in &estimates {
            backlogs.extend(windows.iter().map(|&window| Backlog {
                mix,
                estimates,
                window: window as usize,
                jobs: args.jobs as usize,
            }));
        }
    }
    let boxes = format!("{machine} {} {}", backlog.menu.0, backlog.anchors);
    if backlog.search {
        let streams = rule.minimum;
        let ids =
            backlogs.iter().map(|one| one.search_id(&boxes, args.seed.seed, streams)).collect();
        let about = |_: &Backlog, _: &Best| (streams, true, String::new());
        let cells = ResumableRun::begin(&mut session, ids, args, args.shard, shards)?;
        let found = estimated(args, &session, &backlogs, cells, about, |one, watch| {
            one.search(&bench, args.seed.seed, streams, watch)
        })?;
        let (found, tally) = found.take("searches");
        let rows: Vec<_> =
            found.into_iter().map(|(place, best)| Found(backlogs[place], best)).collect();
        return session.publish(
            &mut BacklogResults { args, rule, machine, rows, shown: of_searches },
            &tally,
        );
    }
    let settings: Vec<Setting> = backlogs
        .iter()
        .flat_map(|&backlog| rules.iter().map(move |&rule| Setting { backlog, rule }))
        .collect();
    let ids = settings.iter().map(|setting| setting.id(&boxes, args.seed.seed, rule)).collect();
    let about = |_: &Setting, busy: &Busy| (busy.shares.len() as u64, busy.met, String::new());
    let cells = ResumableRun::begin(&mut session, ids, args, args.shard, shards)?;
    let done = estimated(args, &session, &settings, cells, about, |setting, watch| {
        setting.estimate(&bench, args.seed.seed, rule, watch)
    })?;
    let (done, tally) = done.take("settings");
    let outcome = |(place, busy): &(usize, Busy)| {
        let setting = settings[*place];
        let slurm = Setting { rule: Rule::SLURM, ..setting };
        let slurm = done.iter().find(|(other, _)| setting != slurm && settings[*other] == slurm);
        Outcome::new(setting, busy, slurm.map(|(_, busy)| busy))
    };
    let rows: Vec<_> = done.iter().map(outcome).collect();
    let wide = done.iter().any(|(_, busy)| !busy.met);
    let exit = session
        .publish(&mut BacklogResults { args, rule, machine, rows, shown: of_settings }, &tally)?;
    warn_if_wide(args, &session, wide);
    Ok(exit)
}

/// Returns the machine.
///
/// # Errors
/// A usage error unless there is exactly one machine.
fn machine(args: &StreamArgs) -> Result<Topology, Failure> {
    let machines: Vec<Topology> = parse_list(&args.machine, MACHINE, str::parse)?;
    match <[Topology; 1]>::try_from(machines) {
        Ok([machine]) => Ok(machine),
        Err(_) => Err(Failure::usage_message("--machine: with --backlog give one machine")),
    }
}

/// Results of `--backlog`: a row for each setting, or a row for each search.
struct BacklogResults<'a, Row> {
    args: &'a StreamArgs,
    rule: &'a StopRule,
    machine: Topology,
    rows: Vec<Row>,
    /// Printed columns.
    shown: fn() -> Vec<Shown<'static, Row>>,
}

impl<Row: Table> Results for BacklogResults<'_, Row> {
    type Row = Row;

    fn rows(&self) -> &[Row] {
        &self.rows
    }

    fn sheets(&self) -> Vec<Sheet> {
        vec![Sheet::of(&self.rows, (self.shown)())]
    }

    fn configuration(&self) -> Result<impl Serialize, Failure> {
        let StreamArgs { backlog, seed, jobs, .. } = self.args;
        Ok(serde_json::json!({
            "machine": self.machine.to_string(),
            "menu": backlog.menu,
            "anchors": backlog.anchors,
            "mix": backlog.mix,
            "rules": (!backlog.search).then_some(&backlog.rules),
            "search": backlog.search,
            "backlog": backlog.backlog,
            "estimates": backlog.estimates,
            "jobs": jobs,
            "seed": seed.seed,
            "stop_rule": self.rule,
        }))
    }
}

/// Returns the printed columns that all tables of backlogs have: mix, estimates and backlog.
fn of_backlogs<Row: Table + 'static>() -> Vec<Shown<'static, Row>> {
    vec![
        Shown::column(Outcome::MIX, "mix", 0),
        Shown::column(Outcome::ESTIMATES, "estimates", 0),
        Shown::column(Outcome::WINDOW, "backlog", 0),
    ]
}

fn of_settings() -> Vec<Shown<'static, Outcome>> {
    let mut shown = of_backlogs();
    shown.extend([
        Shown::column(Outcome::RULE, "rule", 0),
        Shown::column(Outcome::SATURATED_UTILIZATION, "util %", 2)
            .plus_minus(Outcome::SATURATED_UTILIZATION_HALF_WIDTH, 2),
        Shown::column(Outcome::GAIN_ON_SLURM, "gain on slurm, points", 2)
            .plus_minus(Outcome::GAIN_ON_SLURM_HALF_WIDTH, 2),
        Shown::column(Outcome::STREAMS, "runs", 0),
    ]);
    shown
}

fn of_searches() -> Vec<Shown<'static, Found>> {
    let mut shown = of_backlogs();
    shown.extend([
        Shown::column(Found::WAY, "found", 0),
        Shown::column(Found::WAYS_TRIED, "tried", 0),
        Shown::column(Found::FIRST_HALF_GAIN_ON_SLURM, "gain on slurm, first half", 2),
        Shown::column(Found::SECOND_HALF_GAIN_ON_SLURM, "second half", 2)
            .plus_minus(Found::SECOND_HALF_GAIN_ON_SLURM_HALF_WIDTH, 2),
        Shown::column(Found::SECOND_HALF_GAIN_ON_DL, "gain on dl, second half", 2)
            .plus_minus(Found::SECOND_HALF_GAIN_ON_DL_HALF_WIDTH, 2),
    ]);
    shown
}
