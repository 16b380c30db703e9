//! Results of a search: tables, figures and manifest.

use std::path::{Path, PathBuf};

use serde::Serialize;
use serde_json::json;

use super::progress::why;
use crate::cli::earlier;
use crate::cli::exit::Failure;
use crate::cli::output::{configuration, trace_records};
use crate::cli::print::Sorting;
use crate::cli::result_kind::Kind;
use crate::cli::results::Results;
use replay_engine::number::{counted, grouped};
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::search::{
    Origin, Problem, Problems, SearchRow, SearchTask, Searched, Space, Strategy,
};
use replay_output::plot::{Plots, SearchRun, search_gallery};
use replay_output::report::{Sheet, portability_summary, search_summary};
use replay_results::FrameError;

/// Evaluations of all searches of a command, with the reason why each search ended.
pub struct Findings<'a> {
    /// Settings, problems and traces.
    pub task: &'a SearchTask,
    /// What the searches found.
    pub searched: &'a Searched,
}

/// The rows of a search.
pub struct SearchReport<'a> {
    found: &'a Findings<'a>,
    /// Rows of all vectors.
    all: Vec<SearchRow>,
    /// Rows of the best vectors, of the given vectors, and of the run without tie-breaking.
    rows: Vec<SearchRow>,
    /// The printed order.
    sorting: Option<Sorting<SearchRow>>,
}

impl Findings<'_> {
    /// Returns the rows to print and to write.
    pub fn rows(&self, sorting: Option<Sorting<SearchRow>>) -> SearchReport<'_> {
        let rows = self.task.rows(self.searched);
        let top = |row: &&SearchRow| {
            let given = row.candidate.is_some_and(|candidate| {
                self.task.spec.given.iter().any(|given| given.reduced() == candidate)
            });
            let shown = row.rank.is_some_and(|rank| rank <= u64::from(self.task.spec.top));
            shown || given || row.origin == Origin::None
        };
        let shown = rows.iter().filter(top).cloned().collect();
        SearchReport { found: self, rows: shown, all: rows, sorting }
    }
}

/// Returns the identity of the results of a search: the [`settings`], and the digests of the replayed traces.
///
/// # Errors
/// A usage error if a strategy cannot be named.
pub fn identity(task: &SearchTask) -> Result<serde_json::Value, Failure> {
    let digest = |loaded: &ResolvedGrid| loaded.plan.digest().map_err(Failure::usage);
    let mut settings = settings(task);
    settings["test"] = task.test.as_ref().map(digest).transpose()?.into();
    Ok(json!({"plan": digest(&task.train)?, "search": settings}))
}

/// Returns the digest of the traces and the objective of a search. A command continues a journal only if both have the
/// same digest.
///
/// # Errors
/// A usage error if a strategy cannot be named.
pub fn evaluated(task: &SearchTask) -> Result<String, Failure> {
    let plan = task.train.plan.digest().map_err(Failure::usage)?;
    earlier::digest(Kind::Search, &json!([plan, task.spec.objective.to_string()]))
        .map_err(|e| Failure::output("the configuration", e))
}

/// Returns the configuration of a search as JSON, for the metadata of its tables.
///
/// # Errors
/// A usage error if a strategy cannot be built, or if the configuration has no JSON form.
pub fn origin(task: &SearchTask) -> Result<String, Failure> {
    let run = serde_json::to_value(configuration(&task.train, false)?);
    let run = run.map_err(|e| Failure::output("the configuration", e))?;
    Ok(json!({"run": run, "search": settings(task)}).to_string())
}

/// Returns the settings that determine the numbers of a search, without the traces.
fn settings(task: &SearchTask) -> serde_json::Value {
    let SearchTask { spec, problems: Problems { grid, free, seed, .. }, .. } = task;
    let command = match &spec.strategy {
        Strategy::External(command) => Some(command),
        Strategy::Local(_) | Strategy::Exhaustive | Strategy::Random => None,
    };
    let starts = spec.starts();
    json!({
        "strategy": spec.strategy.name(),
        "objective": spec.objective,
        "constraints": spec.constraints,
        "grid": {"sr": grid.scan_radii, "factors": factors(grid)},
        "free": {"sr": free.scan_radii, "largest": free.largest},
        "slack": grid.slacks.iter().map(|slack| slack.share()).collect::<Vec<_>>(),
        "given": spec.given,
        "start": starts,
        "evaluations": spec.evaluations,
        "seconds": spec.time.map(|time| time.as_secs_f64()),
        "spare": spec.keep(),
        "ask_command": command,
        "split": spec.split,
        "each": spec.each,
        "scale_sr": spec.scale_sr,
        "shake": spec.shake,
        "seed": seed,
        "test": task.test.as_ref().map(trace_records),
    })
}

/// Returns the factors of a grid: one list if all three factors have the same list, or else a list for each factor.
fn factors(grid: &Space) -> serde_json::Value {
    let [af, wf, bf] = &grid.factors;
    match af == wf && wf == bf {
        true => json!(af),
        false => json!({"af": af, "wf": wf, "bf": bf}),
    }
}

impl SearchReport<'_> {
    /// Returns a line for each search on perturbed copies. The line gives the number of vectors that are not
    /// significantly worse than the best vector.
    pub fn as_good(&self) -> Vec<String> {
        let of_search = self.all.chunk_by(|a, b| a.searched == b.searched);
        let line = |rows: &[SearchRow]| {
            let best = rows.iter().find(|row| row.rank == Some(1))?;
            let copies = best.shaken?.count;
            let ranked = rows.iter().filter(|row| row.rank.is_some()).count() - 1;
            let as_good = rows.iter().filter(|row| row.is_as_good()).count();
            Some(format!(
                "{}: {} of {} {} not significantly worse than the best ({}) on {copies} perturbed copies",
                best.searched,
                grouped(as_good as u64),
                counted(ranked as u64, "other vector"),
                if as_good == 1 { "is" } else { "are" },
                best.candidate?,
            ))
        };
        of_search.filter_map(line).collect()
    }
}

impl Results for SearchReport<'_> {
    type Row = SearchRow;

    fn rows(&self) -> &[SearchRow] {
        &self.rows
    }

    fn arrange(&mut self) {
        if let Some(sorting) = &self.sorting {
            self.rows.sort_by(|a, b| sorting.order(a, b));
        }
    }

    fn sheets(&self) -> Vec<Sheet> {
        let objective = &self.found.task.spec.objective;
        let title = match objective.search_column.column.unit {
            "" => objective.to_string(),
            unit => format!("{objective} {unit}"),
        };
        let summary = search_summary(&title, &self.rows);
        let portability = self.found.searched.portability.as_ref().map(portability_summary);
        [Some(summary), portability].into_iter().flatten().collect()
    }

    fn configuration(&self) -> Result<impl Serialize, Failure> {
        configuration(&self.found.task.train, false)
    }

    fn details(&self) -> impl Serialize {
        let Findings { task, searched: Searched { archives, ended, .. } } = self.found;
        let searches = task.problems.searches.iter().zip(archives).zip(ended);
        let ended = searches.map(|((problem, archive), ended)| {
            json!({
                "searched": problem.name(),
                "evaluations": archive.evaluations().len(),
                "why": why(&task.spec, *ended),
            })
        });
        json!({"search": settings(task), "ended": ended.collect::<Vec<_>>()})
    }

    fn origin(&self) -> Result<String, Failure> {
        origin(self.found.task)
    }

    fn tables(
        &mut self,
        dir: &Path,
        metadata: &[(String, String)],
    ) -> Result<Vec<PathBuf>, FrameError> {
        let Findings { task, searched } = self.found;
        let mut written = replay_results::write(dir, &self.all, metadata)?;
        written.extend(replay_results::write(dir, &task.skipped_work(searched), metadata)?);
        if let Some(matrix) = &searched.portability {
            written.extend(replay_results::write(dir, &matrix.rows(), metadata)?);
        }
        Ok(written)
    }

    fn figures(&self, plots: &Plots) -> anyhow::Result<Vec<PathBuf>> {
        let Findings { task, searched } = self.found;
        let Searched { archives, given, portability, .. } = searched;
        let names: Vec<String> = task.problems.searches.iter().map(Problem::name).collect();
        let each = names.iter().zip(archives).zip(given).zip(&task.problems.searches);
        let searched = each.map(|(((name, archive), given), problem)| SearchRun {
            name,
            archive,
            given,
            decisions: problem.decisions(),
        });
        let (objective, searched) = (task.spec.objective.to_string(), searched.collect::<Vec<_>>());
        Ok(search_gallery(plots, &objective, &searched, portability.as_ref())?)
    }
}
