//! Shards of a search. Each shard evaluates some of the vectors, and `replay merge` combines the journals of the
//! shards.
//!
//! A shard has a block of vectors that are likely to make the same decisions, so that its evaluations share decisions.
//! If a search has several problems, a shard has the same vectors for each problem, because the costs of problems
//! differ.

use std::sync::Mutex;

use serde::{Deserialize, Serialize};

use super::args::SearchArgs;
use super::output::origin;
use super::progress::Progress;
use super::search_all;
use super::task::{ResolvedSearch, failure};
use crate::cli::args::OutputArgs;
use crate::cli::eta::{EtaReporter, First};
use crate::cli::exit::{Exit, Failure};
use crate::cli::journal::{of_journal, print_path};
use crate::cli::print::SortArg;
use crate::cli::program::Invocation;
use crate::cli::result_kind::Kind;
use crate::cli::resumable_run::JournalHandle;
use crate::cli::session::Session;
use crate::cli::shards::{MergeArgs, ShardFolder, Shards, no_plan, plan_of_shard};
use replay_engine::cancel::CancelToken;
use replay_engine::number::{counted, grouped};
use replay_engine::registries::Registries;
use replay_experiment::RunContext;
use replay_experiment::grid::ParameterGrid;
use replay_experiment::journal::CellId;
use replay_experiment::search::strategy::List;
use replay_experiment::search::{
    Archive, Candidate, Control, Evaluation, EvaluationCache, Question, SearchSpec, SearchTask,
    SearchWatch, search,
};
use replay_experiment::sweep::{Shard, text_digest};

/// A whole search, its printed order and its output.
#[derive(Serialize, Deserialize)]
struct SearchCommand {
    search: SearchSpec,
    sort: SortArg,
    output: OutputArgs,
}

/// Returns a digest of three things: the configuration of a search, its vectors, and the number of printed vectors.
fn digest(task: &SearchTask, ids: &[CellId]) -> Result<String, Failure> {
    let mut text = origin(task)?;
    text.push_str(&format!("\n{}\n", task.spec.top));
    ids.iter().for_each(|id| text.push_str(&id.to_string()));
    Ok(text_digest(&text))
}

/// Returns the ids of all evaluations, in order.
fn ids(vectors: &[Candidate], task: &SearchTask) -> Vec<CellId> {
    let of_search = |problem: String| {
        vectors.iter().map(move |&candidate| Question::whole(candidate).id(&problem))
    };
    task.problems.searches.iter().flat_map(|problem| of_search(problem.identity())).collect()
}

/// Returns the shard of each vector; `split` is any shard of the division. The shards are blocks of the vectors in the
/// order of their [similarity](Candidate::by_similarity).
fn shards_of(vectors: &[Candidate], split: Shard) -> Vec<Shard> {
    let mut order: Vec<usize> = (0..vectors.len()).collect();
    order.sort_by(|&one, &other| vectors[one].by_similarity(&vectors[other]));
    let mut shards = vec![split; vectors.len()];
    for (rank, place) in (0..).zip(order) {
        shards[place] = split.of_block(rank, vectors.len() as u32);
    }
    shards
}

/// Evaluates a part of the vectors. Writes a journal, and prints the path of the journal on standard output.
///
/// # Errors
/// Errors of reading traces and of the journal.
pub fn run(
    registries: &Registries,
    args: &SearchArgs,
    mut session: Session,
    shard: Shard,
) -> Result<Exit, Failure> {
    let quiet = session.is_quiet();
    let stop = CancelToken::new();
    let reporter = EtaReporter::of(First::Started, quiet);
    let watch = RunContext { stop: &stop, watch: &reporter };
    let task = ResolvedSearch::of(registries, args)?.load(&mut session, watch)?;
    let vectors = task.spec.vectors(&task.problems).map_err(failure)?;
    let ids = ids(&vectors, &task);
    let whole = SearchCommand {
        search: task.spec.clone(),
        sort: args.sort.clone(),
        output: args.output.clone(),
    };
    let plan = plan_of_shard(&session, shard, &whole, digest(&task, &ids)?)?;
    let kept = JournalHandle::<Evaluation>::of_shard(&mut session, plan, &ids, shard)?;
    let own: Vec<bool> = shards_of(&vectors, shard).iter().map(|&one| one == shard).collect();
    let own_ids: Vec<CellId> =
        ids.iter().zip(own.iter().cycle()).filter(|(_, own)| **own).map(|(&id, _)| id).collect();
    let left = |kept: &JournalHandle<Evaluation>| {
        let journal = kept.open();
        own_ids.iter().filter(|&&id| journal.failed(id).is_none()).count()
    };
    let (all, to_run) = (own_ids.len(), left(&kept));
    let own: Vec<Candidate> =
        vectors.iter().zip(&own).filter(|(_, own)| **own).map(|(&vector, _)| vector).collect();
    let watched = Progress::new(quiet, &task.spec, &reporter);
    for problem in &task.problems.searches {
        watched.phase_begins(problem, Some(own.len() as u64));
        let memory = EvaluationCache::new(problem, std::slice::from_ref(&kept.journal), true);
        let control = Control {
            evaluations: None,
            keep: None,
            cache: Some(&memory),
            watch: RunContext { watch: &watched, ..watch },
            progress: &|archive| {
                watched.evaluated(archive);
                if memory.has_write_error() {
                    // Stop if the journal cannot be written, because a shard without a journal cannot be merged.
                    stop.raise();
                }
            },
        };
        let searched =
            search(problem, &mut List::new(own.clone()), &mut Archive::default(), control);
        watched.phase_ends();
        searched.map_err(failure)?;
        if let Some(error) = memory.write_error() {
            return Err(of_journal(error));
        }
    }
    kept.open().sync().map_err(of_journal)?;
    let left = left(&kept);
    let [all, before, done] = [all, all - to_run, to_run - left].map(|n| grouped(n as u64));
    session.print_line(format_args!("search: {all} evaluations: {before} done before, {done} run"));
    if left > 0 {
        return Ok(session.report_left(&counted(left as u64, "evaluation")));
    }
    let journal = kept.open();
    print_path(journal.path()).map(|()| Exit::Done)
}

/// Merges the shards of a search: runs the whole search, but reads all evaluations from the journals of the shards.
///
/// # Errors
/// A data error if the folders are not shards of the same search, or if a shard is missing or incomplete.
pub fn merge(
    registries: &Registries,
    args: &MergeArgs,
    command: Invocation<'_>,
    parts: &[ShardFolder],
) -> Result<Exit, Failure> {
    let (whole, shards) = Shards::of_one_command::<SearchCommand>(parts, args)?;
    let SearchCommand { search, mut sort, mut output } = whole;
    args.replace_output(&mut sort, &mut output);
    let grid =
        ParameterGrid::resolve(&search.grid, registries).map_err(|e| no_plan(&parts[0].path, e))?;
    let search = ResolvedSearch::new(search, grid).map_err(failure)?;
    let journals = |task: &SearchTask| {
        let vectors = task.spec.vectors(&task.problems).map_err(failure)?;
        let ids = ids(&vectors, task);
        shards.check(&digest(task, &ids)?)?;
        let shards_of = shards_of(&vectors, shards.split());
        let shard_of = |cell: u32| shards_of[cell as usize % shards_of.len()];
        let journals = shards.journals(ids.into_iter().map(Ok), shard_of)?;
        Ok(journals.into_iter().map(Mutex::new).collect())
    };
    let session = Session::begin(Kind::Search, &output, command)?;
    search_all(search, sort.of()?, session, Some(&journals))
}
