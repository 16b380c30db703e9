use std::sync::{Mutex, PoisonError};

use super::Results;
use replay_engine::cancel::CancelToken;
use replay_engine::metrics::RunMetrics;
use replay_engine::naming::NameError;
use replay_engine::registries::Registries;
use replay_experiment::grid::{GridError, GridFile, ParameterGrid};
use replay_experiment::pool::Turn;
use replay_experiment::resolve::{InputError, Notices, ResolvedGrid};
use replay_experiment::shaken::Estimates;
use replay_experiment::{RunContext, run_experiment};

/// Name of the text of a grid in messages.
const NAME: &str = "grid";

/// A grid of runs: the cells that a grid file defines. [`grid`](replay_experiment::grid) has the keys.
#[derive(Clone, Debug)]
pub struct GridSpec {
    text: String,
}

/// How a grid is run. By default, jobs and placements are not kept, and the run cannot be cancelled.
#[derive(Clone, Debug, Default)]
pub struct RunOptions {
    /// Whether to keep the table of jobs.
    pub jobs: bool,
    /// Whether to keep the table of placements.
    pub placements: bool,
    /// Cancels the run; cells that are done are in the results.
    pub cancel: CancelToken,
}

/// The reason why a grid cannot run.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// A key or a value of the grid is wrong; the message has the line.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A trace or another file of the grid is wrong.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A strategy cannot be built.
    #[error(transparent)]
    Name(#[from] NameError),
}

impl GridSpec {
    /// Reads a grid from the text of a grid file (TOML).
    ///
    /// # Errors
    /// [`GridError`] with the line if the text is not TOML, or if a key is unknown.
    pub fn parse(text: &str) -> Result<Self, GridError> {
        GridFile::parse(text, NAME)?;
        Ok(Self { text: text.to_string() })
    }

    /// Runs all cells of the grid on the current rayon pool. `registries` has the strategies that the grid can name.
    ///
    /// # Errors
    /// [`RunError`] if the grid cannot run. If a single cell fails, the other cells run; see [`Results::failed`].
    pub fn run(&self, registries: &Registries, options: &RunOptions) -> Result<Results, RunError> {
        let mut grid = ParameterGrid::parse(&self.text, NAME, registries)?;
        (grid.measure.jobs, grid.measure.nodes) = (options.jobs, options.placements);
        let measure = grid.measure;
        let notices = Mutex::new(Vec::new());
        let notice = |line: &str| {
            notices.lock().unwrap_or_else(PoisonError::into_inner).push(line.to_string());
        };
        let grid = ResolvedGrid::load(grid, None, Notices::to(&notice))?;
        let plan = &grid.plan;
        let mut estimates = plan.grid.shake.map(|_| Estimates::<RunMetrics>::of_runs(plan));
        let (mut done, mut failed) = (Vec::new(), Vec::new());
        let runs: Vec<u32> = (0..plan.len()).collect();
        let context = RunContext::new(&options.cancel);
        run_experiment(&grid, &runs, Turn::InOrder, context, |run, outcome| {
            match outcome {
                Ok(result) => {
                    if let Some(estimates) = &mut estimates {
                        estimates.take(plan, run, result.compared().0);
                    }
                    done.push(result);
                }
                Err(error) => failed.push(error.to_string()),
            }
            Ok::<_, NameError>(true)
        })?;
        let shaken = estimates.map_or(Ok(Vec::new()), |estimates| estimates.rows(plan))?;
        let results = Results::new(done, failed, measure).with_shaken(shaken);
        let (mut results, _) = results.against_log_of(plan, |_| true)?;
        results.notices = notices.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(results)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GRID: &str = "schedulers = [\"fcfs\", \"easy\"]\nallocator = [\"mc1x1\", \"random\"]\n\
                        window = { jobs = 200 }\n";

    fn run(text: &str, options: &RunOptions) -> Result<Results, RunError> {
        GridSpec::parse(text)?.run(replay_strategies::standard(), options)
    }

    #[test]
    fn frames_have_a_row_per_run_and_job() {
        let options = RunOptions { jobs: true, ..RunOptions::default() };
        let results = run(GRID, &options).expect("a grid");
        let [runs, jobs] = [results.runs(), results.jobs()].map(|frame| frame.expect("a frame"));
        assert_eq!((runs.height(), jobs.height()), (4, 800));
        assert!(
            results.notices()[0].contains("4,800 outside the window"),
            "{:?}",
            results.notices()
        );
        assert!(results.table("placements", None).expect("no error").is_none());
        assert!(
            results.failed().is_empty() && results.table("nope", None).expect("no error").is_none()
        );
    }

    #[test]
    fn copies_and_the_log_have_tables_of_their_own() {
        let shaken = format!("{GRID}shake = {{ copies = 3 }}\n");
        let results = run(&shaken, &RunOptions::default()).expect("a grid");
        assert_eq!(results.runs().expect("a frame").height(), 16);
        assert!(results.shaken().expect("a frame").height() > 0);
        assert_eq!(results.against_log().expect("a frame").height(), 0);
    }

    #[test]
    fn errors_have_a_place() {
        let wrong =
            |text: &str| run(text, &RunOptions::default()).expect_err("refused").to_string();
        assert!(
            wrong("schedulers = [\"fcf\"]\n").starts_with("grid:1"),
            "{}",
            wrong("schedulers = [\"fcf\"]\n")
        );
        assert!(wrong("nope = 1\n").contains("nope"));
        assert!(wrong("traces = [\"no-such-trace\"]\n").contains("no-such-trace"));
    }

    #[test]
    fn a_cancelled_grid_has_the_cells_that_are_done() {
        let options = RunOptions::default();
        options.cancel.raise();
        assert!(run(GRID, &options).expect("a grid").results().is_empty());
    }
}
