//! A search in parts: each evaluates some of the vectors, and what they wrote down is put together.

use std::ffi::OsString;
use std::io::Write;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::args::{SearchArgs, StrategyArg};
use super::output::origin;
use super::progress::Progress;
use super::task::SearchTask;
use super::{RANDOM_EVALUATIONS, failure, search_all};
use crate::cli::eta::Cost;
use crate::cli::exit::{Exit, Failure, tell};
use crate::cli::journal::{PLAN_FILE, PlanFile, of_journal};
use crate::cli::resolved_grid::ResolvedGrid;
use crate::cli::result_kind::Kind;
use crate::cli::resumable_run::JournalHandle;
use crate::cli::session::Session;
use crate::cli::shards::{MergeArgs, Part, Shards, Which, no_plan};
use replay_core::cancel::CancelToken;
use replay_core::number::grouped;
use replay_experiment::RunContext;
use replay_experiment::journal::{CellId, Journal};
use replay_experiment::search::strategy::{List, Random, questions};
use replay_experiment::search::{
    Archive, Candidate, Control, Evaluation, EvaluationCache, Question, search,
};
use replay_experiment::sweep::{Build, Shard, text_digest};
use std::io::stdout;

/// What the plan of a shard says.
#[derive(Serialize, Deserialize)]
struct ShardPlan {
    #[serde(flatten)]
    build: Build,
    /// The command line, the name of the program first.
    arguments: Vec<String>,
    /// What makes two searches one.
    digest: String,
}

/// All that a search asks, search by search.
fn asked(args: &SearchArgs, task: &SearchTask) -> Result<Vec<Candidate>, Failure> {
    let asked = match args.strategy {
        StrategyArg::Random => {
            let most = args.evaluations.unwrap_or(RANDOM_EVALUATIONS);
            questions(&mut Random::new(task.free.clone(), task.seed), Some(most))
        }
        _ => questions(&mut List::new(task.grid.grid()), args.evaluations),
    };
    asked.map_err(failure)
}

/// What makes two searches one: what they ask of what, and how their results are written.
fn digest(args: &SearchArgs, task: &SearchTask, ids: &[CellId]) -> Result<String, Failure> {
    let mut text = origin(args, task).map_err(|e| Failure::output("the configuration", e))?;
    text.push_str(&format!("\n{}\n", args.top));
    ids.iter().for_each(|id| text.push_str(&id.to_string()));
    Ok(text_digest(&text))
}

/// The ids of all that a search asks, in order.
fn ids(asked: &[Candidate], task: &SearchTask) -> Vec<CellId> {
    let of_search = |problem: String| {
        asked.iter().map(move |&candidate| Question::whole(candidate).id(&problem))
    };
    task.searches.iter().flat_map(|problem| of_search(problem.identity())).collect()
}

/// Evaluates a part of the vectors. It has no results of its own; what it leaves is its journal.
pub fn run(
    args: &SearchArgs,
    mut session: Session,
    shard: Shard,
    command: &[OsString],
) -> Result<Exit, Failure> {
    let quiet = args.output.process.quiet;
    let stop = CancelToken::new();
    let cost = Cost::new(quiet);
    let forecast = |forecast| cost.hear_plainly(forecast);
    let watch = RunContext { forecast: &forecast, ..RunContext::new(&stop) };
    let task = SearchTask::resolve(args, watch)?;
    session.reads(task.train.inputs());
    session.reads(task.test.iter().flat_map(ResolvedGrid::inputs));
    let asked = asked(args, &task)?;
    let ids = ids(&asked, &task);
    let plan = ShardPlan {
        build: crate::cli::build::this(),
        arguments: command.iter().map(told).collect::<Result<_, _>>()?,
        digest: digest(args, &task, &ids)?,
    };
    let plan = serde_json::to_value(plan).map_err(|e| Failure::output(PLAN_FILE, e))?;
    let plan = PlanFile::of_shard(Kind::Search, shard.to_string(), Vec::new(), plan);
    let Some(kept) = JournalHandle::<Evaluation>::begin(&mut session, plan)? else {
        let message = format!("--shard {shard}: the folder of --out has what another command left");
        return Err(Failure::usage_message(message));
    };
    let own = |place: usize| shard.of_cell(place as u32) == shard;
    let left = |kept: &JournalHandle<Evaluation>| {
        let journal = kept.open();
        (0..ids.len()).filter(|&at| own(at) && journal.failed(ids[at]).is_none()).count()
    };
    let (all, to_run) = ((0..ids.len()).filter(|&at| own(at)).count(), left(&kept));
    for (number, problem) in task.searches.iter().enumerate() {
        let places = (0..asked.len()).filter(|place| own(number * asked.len() + place));
        let own: Vec<Candidate> = places.map(|place| asked[place]).collect();
        let watched = Progress::new(quiet, Some(own.len() as u64), problem.decisions());
        let jobs_done = |jobs| watched.decided(jobs);
        let memory = EvaluationCache::new(problem, std::slice::from_ref(&kept.journal), true);
        let control = Control {
            evaluations: None,
            keep: None,
            cache: Some(&memory),
            watch: RunContext { jobs_done: &jobs_done, ..watch },
            progress: &|archive| {
                watched.show(archive);
                if memory.has_write_error() {
                    // There would be nothing to put together.
                    stop.raise();
                }
            },
        };
        let searched = search(problem, &mut List::new(own), &mut Archive::default(), control);
        watched.finish();
        searched.map_err(failure)?;
        if let Some(error) = memory.write_error() {
            return Err(of_journal(error));
        }
    }
    kept.open().sync().map_err(of_journal)?;
    let left = left(&kept);
    let [all, before, done] = [all, all - to_run, to_run - left].map(|n| grouped(n as u64));
    session.say(format_args!("search: {all} evaluations: {before} done before, {done} run"));
    if left > 0 {
        let goes_on = session.goes_on().unwrap_or_default().to_string();
        let left = grouped(left as u64);
        tell(format_args!("replay: interrupted, {left} evaluations left; {goes_on}"));
        return Ok(Exit::Interrupted);
    }
    writeln!(stdout(), "{}", kept.open().path().display())
        .map_err(|e| Failure::output("standard output", e))?;
    Ok(Exit::Done)
}

/// An argument as it can be written down.
fn told(argument: &OsString) -> Result<String, Failure> {
    let text = argument.to_str().map(str::to_string);
    text.ok_or_else(|| {
        let argument = argument.to_string_lossy();
        Failure::usage_message(format!(
            "--shard: {argument} is no UTF-8 and cannot be written down"
        ))
    })
}

/// Puts the shards of a search together: the search as it would be without them, but for the
/// evaluations that they have. `search_of` says what search a command line is.
pub fn merge(
    args: &MergeArgs,
    command: &[OsString],
    parts: &[Part],
    search_of: impl Fn(&[OsString]) -> Option<SearchArgs>,
) -> Result<Exit, Failure> {
    let mut first = None;
    let mut shards = Vec::new();
    for part in parts {
        let PlanFile { shard, earlier_builds, plan, .. } = &part.plan;
        let Some(shard) = shard else {
            let message = format!("{}: it has no shard, but a whole search", part.path.display());
            return Err(Failure::data(anyhow::anyhow!(message)));
        };
        let shard = shard.parse::<Shard>().map_err(|e| no_plan(&part.path, e))?;
        let ShardPlan { build, arguments, digest } =
            serde_json::from_value(plan.clone()).map_err(|e| no_plan(&part.path, e))?;
        first.get_or_insert((arguments, digest.clone()));
        let (path, earlier) = (part.path.clone(), earlier_builds.clone());
        shards.push(Which { path, shard, digest, build, earlier });
    }
    let Some((arguments, expected)) = first else {
        return Err(Failure::usage_message("no folder to merge"));
    };
    let shards = Shards::of_one_plan(shards, args.other_build)?;
    shards.apart_from(&args.out)?;
    let arguments: Vec<OsString> = arguments.into_iter().map(OsString::from).collect();
    let mut asks = search_of(&arguments)
        .ok_or_else(|| no_plan(&parts[0].path, anyhow::anyhow!("its command is no search")))?;
    asks.shard = None;
    (asks.output.out, asks.output.force) = (Some(args.out.clone()), args.force);
    asks.output.process = args.process.clone();
    asks.output.table = args.table;
    if args.sort.sort.is_some() {
        asks.sort = args.sort.clone();
    }
    let journals = |task: &SearchTask| {
        let ids = ids(&asked(&asks, task)?, task);
        if digest(&asks, task, &ids)? != expected {
            let place = parts[0].path.display();
            let message = format!(
                "{place}: its traces, or this program, are no longer those that its vectors were tried on"
            );
            return Err(Failure::data(anyhow::anyhow!(message)));
        }
        let journals: Vec<Journal<Evaluation>> =
            parts.iter().map(Part::journal).collect::<Result<_, _>>()?;
        shards.complete(ids.into_iter().map(Ok), &journals)?;
        Ok(journals.into_iter().map(Mutex::new).collect())
    };
    let session = Session::begin(Kind::Search, &asks.output, command)?;
    let exit = search_all(&asks, session, Some(&journals))?;
    if !args.process.quiet {
        tell(format_args!("merge: a search of {} folders", parts.len()));
    }
    Ok(exit)
}
