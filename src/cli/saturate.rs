//! `replay saturate`: how much of a torus the rules of placement keep busy under endless demand.

use std::ffi::OsString;
use std::path::PathBuf;

use clap::Args;
use rayon::prelude::*;
use serde::Serialize;

use super::args::OutputArgs;
use super::exit::{Exit, Failure, tell};
use super::interrupt::interruption;
use super::kind::Kind;
use super::results::{Results, Tally};
use super::session::Session;
use super::words::{one, some};
use replay_core::metrics::estimate::Accumulator;
use replay_core::number::fixed;
use replay_core::placement::menu::{Anchors, Menu};
use replay_core::stop::{Stop, Stopped};
use replay_core::topology::Topology;
use replay_experiment::saturated::search::{Found, Task, search};
use replay_experiment::saturated::{Bench, CONFIDENCE, Estimates, Mix, Outcome, Rule, Setting};
use replay_output::plot::Plots;
use replay_output::report::{Align, Sheet};

/// Arguments of `replay saturate`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay saturate --rules first,slurm,dl --jobs 2000 --streams 3
  replay saturate --mix uniform,cubes --estimates exact,noisy,shuffled --format csv
  replay saturate --search --jobs 2000 --streams 4 --window 1")]
pub struct SaturateArgs {
    /// The torus.
    #[arg(long, alias = "mesh", value_name = "MACHINE", default_value = "torus:16x16x16")]
    machine: Topology,

    /// Boxes that jobs may have: pow2, all, tpu-v4, list:AxBxC+...
    #[arg(long, value_name = "MENU", default_value = "tpu-v4")]
    menu: Menu,

    /// Positions of a box: aligned, half, all.
    #[arg(long, value_name = "WORD", default_value = "aligned")]
    anchors: String,

    /// Sizes of jobs: tpu-v4; uniform, cubes, slabs, small, heavy-tail, each also with -half, where
    /// every tenth job takes half of the torus.
    #[arg(long, value_name = "MIX", value_delimiter = ',', default_value = "tpu-v4")]
    mix: Vec<String>,

    /// Rules of placement: count (a bound: only the number of free processors matters), first,
    /// slurm, lf, lf-eq, nf, dl, dl-lf, auto (tunes itself by the jobs so far). Slurm always runs, as the
    /// others are compared with it.
    #[arg(
        long,
        value_name = "RULE",
        value_delimiter = ',',
        default_value = "count,first,slurm,lf,dl"
    )]
    rules: Vec<String>,

    /// Search for the weights and the slack that keep the torus busiest, on the first half of each
    /// stream, and judge them on the second.
    #[arg(long, conflicts_with = "rules")]
    search: bool,

    /// Waiting jobs that may start: 1 is first come, first served.
    #[arg(long, value_name = "N", value_delimiter = ',', default_value = "1,16", value_parser = clap::value_parser!(u32).range(1..=10_000))]
    window: Vec<u32>,

    /// What jobs say of their service time: exact, noisy (times 1 + x, x exponential with mean 2),
    /// shuffled (that of another job of the same size).
    #[arg(long, value_name = "WORD", value_delimiter = ',', default_value = "exact")]
    estimates: Vec<String>,

    /// Jobs of each stream.
    #[arg(long, value_name = "N", default_value_t = 8000, value_parser = clap::value_parser!(u32).range(2..=10_000_000))]
    jobs: u32,

    /// Streams, with the seeds from --seed on.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..=100_000))]
    streams: u64,

    /// Seed of the first stream.
    #[arg(long, value_name = "N", default_value_t = 1)]
    seed: u64,

    #[command(flatten)]
    output: OutputArgs,
}

/// What is named twice is meant once.
fn distinct<T: PartialEq>(named: Vec<T>) -> Vec<T> {
    let mut distinct = Vec::with_capacity(named.len());
    for one in named {
        if !distinct.contains(&one) {
            distinct.push(one);
        }
    }
    distinct
}

/// Runs every mix, estimate and window under every rule.
pub fn run(args: &SaturateArgs, command: &[OsString]) -> Result<Exit, Failure> {
    let mut session = Session::begin(Kind::Saturate, &args.output, command)?;
    let quiet = session.is_quiet();
    let anchors = one("--anchors", &args.anchors, &Anchors::ALL)?;
    let mixes = some("--mix", &args.mix, &Mix::ALL)?;
    let mut rules = some("--rules", &args.rules, &Rule::ALL)?;
    if !rules.contains(&Rule::SLURM) {
        rules.push(Rule::SLURM);
    }
    let estimates = some("--estimates", &args.estimates, &Estimates::ALL)?;
    let (mixes, rules) = (distinct(mixes), distinct(rules));
    let (estimates, windows) = (distinct(estimates), distinct(args.window.clone()));
    super::compatible::one_a_point([&args.machine])?;
    let Some(grid) = args.machine.grid() else {
        return Err(Failure::usage_message(format!(
            "--machine {}: no torus or mesh",
            args.machine
        )));
    };
    if args.menu == Menu::Trace {
        let why = "--menu trace goes by the sizes of a trace, and a stream has none: name a menu, or boxes by list:";
        return Err(Failure::usage_message(why));
    }
    let torus = args.menu.torus(grid, anchors, true);
    let bench = Bench::new(torus.map_err(|why| Failure::usage_message(format!("--menu: {why}")))?);
    session.configure(&configuration(args))?;
    let stop = interruption(quiet);
    // Seeds beyond the last come around to 0.
    let seeds: Vec<u64> = (0..args.streams).map(|stream| args.seed.wrapping_add(stream)).collect();
    for &mix in &mixes {
        if mix.draw(bench.torus(), 1, Estimates::Exact, 0).is_none() {
            let name = mix.name();
            return Err(Failure::usage_message(format!(
                "--mix {name}: the menu has not its sizes"
            )));
        }
    }
    let mut asked = Vec::new();
    for &mix in &mixes {
        for &estimates in &estimates {
            asked.extend(windows.iter().map(|&window| (mix, estimates, window as usize)));
        }
    }
    let tally = |done: usize| Tally::done("settings", done, false);
    match args.search {
        true => {
            let rows = find(args, &bench, &asked, &seeds, &stop)?;
            let tally = tally(rows.len());
            caveat(args, &seeds);
            session.publish(&mut Table { args, rows, sheet: found_sheet }, &tally)
        }
        false => {
            let rows = compare(args, &bench, &asked, &rules, &seeds, &stop)?;
            let tally = tally(rows.len());
            caveat(args, &seeds);
            session.publish(&mut Table { args, rows, sheet }, &tally)
        }
    }
}

/// With fewer streams an interval says little: Student's t of a few degrees of freedom is large.
const FEW_STREAMS: usize = 5;

/// What was asked, answered.
struct Table<'a, Row> {
    args: &'a SaturateArgs,
    rows: Vec<Row>,
    /// For people.
    sheet: fn(&[Row]) -> Sheet,
}

impl<Row: replay_core::table::Table> Results for Table<'_, Row> {
    type Row = Row;

    fn rows(&self) -> &[Row] {
        &self.rows
    }

    fn sheets(&self) -> Vec<Sheet> {
        vec![(self.sheet)(&self.rows)]
    }

    fn configuration(&self) -> impl Serialize {
        configuration(self.args)
    }

    fn figures(&self, _plots: &Plots) -> anyhow::Result<Vec<PathBuf>> {
        Ok(Vec::new())
    }
}

/// What decides the numbers.
fn configuration(args: &SaturateArgs) -> serde_json::Value {
    serde_json::json!({
        "machine": args.machine.to_string(),
        "menu": args.menu.to_string(),
        "anchors": args.anchors,
        "mix": args.mix,
        "rules": (!args.search).then_some(&args.rules),
        "search": args.search,
        "window": args.window,
        "estimates": args.estimates,
        "jobs": args.jobs,
        "streams": args.streams,
        "seed": args.seed,
    })
}

/// A mix, what jobs say of their service time, and a window.
type Asked = (Mix, Estimates, usize);

/// What streams too short for their window come to.
fn too_short() -> Failure {
    let message = "--jobs: a stream was at its end before any of its jobs; it needs more of them";
    Failure::usage_message(message)
}

/// The best way for each.
fn find(
    args: &SaturateArgs,
    bench: &Bench,
    asked: &[Asked],
    seeds: &[u64],
    stop: &Stop,
) -> Result<Vec<Found>, Failure> {
    let mut found = Vec::new();
    for &(mix, estimates, window) in asked {
        let jobs = args.jobs as usize;
        let task = Task { mix, estimates, window, jobs, seeds: seeds.to_vec() };
        let one = search(bench, &task, stop).map_err(|Stopped| Failure::interrupted())?;
        found.push(one.ok_or_else(too_short)?);
    }
    Ok(found)
}

/// Every rule on each.
fn compare(
    args: &SaturateArgs,
    bench: &Bench,
    asked: &[Asked],
    rules: &[Rule],
    seeds: &[u64],
    stop: &Stop,
) -> Result<Vec<Outcome>, Failure> {
    let mut settings = Vec::new();
    for &(mix, estimates, window) in asked {
        let of = |&rule: &Rule| Setting { mix, rule, window, estimates };
        settings.extend(rules.iter().map(of));
    }
    let cells: Vec<(usize, u64)> =
        (0..settings.len()).flat_map(|at| seeds.iter().map(move |&seed| (at, seed))).collect();
    let work = |&(at, seed): &(usize, u64)| -> Result<f64, Stopped> {
        let Setting { mix, rule, window, estimates } = settings[at];
        let jobs = mix.draw(bench.torus(), args.jobs as usize, estimates, seed).unwrap_or_default();
        bench.run(&jobs, rule, window, stop)
    };
    let found: Result<Vec<f64>, Stopped> = cells.par_iter().map(work).collect();
    let Ok(found) = found else { return Err(Failure::interrupted()) };
    if found.iter().any(|one| !one.is_finite()) {
        return Err(too_short());
    }
    let of = |at: usize| &found[at * seeds.len()..(at + 1) * seeds.len()];
    let slurm = |setting: &Setting| {
        settings.iter().position(|other| {
            other.rule == Rule::SLURM
                && (other.mix, other.window, other.estimates)
                    == (setting.mix, setting.window, setting.estimates)
        })
    };
    let outcomes = settings.iter().enumerate().map(|(at, setting)| {
        let base = slurm(setting).filter(|&base| base != at).map_or(&[][..], of);
        Outcome {
            setting: setting.clone(),
            jobs: args.jobs as usize,
            utilization: of(at).iter().map(|one| 100.0 * one).collect(),
            gain: of(at).iter().zip(base).map(|(one, other)| 100.0 * (one - other)).collect(),
        }
    });
    Ok(outcomes.collect())
}

fn caveat(args: &SaturateArgs, seeds: &[u64]) {
    if !args.output.process.quiet {
        tell(format_args!(
            "{} of {} jobs each; a synthetic stream without optical switches; service times do not depend on \
             sizes but in heavy-tail",
            match seeds.len() {
                1 => "1 stream".to_string(),
                many => format!("{many} streams"),
            },
            args.jobs,
        ));
    }
    if !args.output.process.quiet && seeds.len() < FEW_STREAMS {
        tell(format_args!(
            "--streams {}: {}; {FEW_STREAMS} or more tell differences of a point from chance",
            seeds.len(),
            match seeds.len() {
                1 => "one stream has no interval",
                _ => "of so few streams intervals are wide",
            }
        ));
    }
}

/// A mean with its interval, if there is one.
fn shown(of: &Accumulator) -> String {
    let estimate = of.estimate(CONFIDENCE);
    match of.count() {
        0 => String::new(),
        1 => fixed(estimate.mean, 2),
        _ => format!("{} +- {}", fixed(estimate.mean, 2), fixed(estimate.half_width, 2)),
    }
}

/// What was found, for people.
fn found_sheet(found: &[Found]) -> Sheet {
    let mut sheet = Sheet::new(&[
        ("mix", Align::Left),
        ("estimates", Align::Left),
        ("window", Align::Right),
        ("found", Align::Left),
        ("tried", Align::Right),
        ("gain on slurm, first half [points]", Align::Right),
        ("second half [points]", Align::Right),
        ("gain on dl, second half [points]", Align::Right),
    ]);
    for one in found {
        sheet.push(vec![
            one.task.mix.name().to_string(),
            one.task.estimates.name().to_string(),
            one.task.window.to_string(),
            one.way.clone(),
            one.tried.to_string(),
            shown(&one.first_gain),
            shown(&one.second_gain),
            shown(&one.over_delay),
        ]);
    }
    sheet
}

/// For people.
fn sheet(outcomes: &[Outcome]) -> Sheet {
    let mut sheet = Sheet::new(&[
        ("mix", Align::Left),
        ("estimates", Align::Left),
        ("window", Align::Right),
        ("rule", Align::Left),
        ("utilization [%]", Align::Right),
        ("gain on slurm [points]", Align::Right),
        ("streams", Align::Right),
    ]);
    for outcome in outcomes {
        let Setting { mix, rule, window, estimates } = &outcome.setting;
        sheet.push(vec![
            mix.name().to_string(),
            estimates.name().to_string(),
            window.to_string(),
            rule.name().to_string(),
            shown(&outcome.utilization),
            shown(&outcome.gain),
            outcome.utilization.count().to_string(),
        ]);
    }
    sheet
}
