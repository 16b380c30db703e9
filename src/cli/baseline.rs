//! The option `--baseline DIR`, which reports changes from earlier results.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;

use super::exit::{Failure, eprint_line, eprint_warning};
use replay_engine::metrics::{PairwiseMetrics, ScheduleMetrics};
use replay_engine::number::{counted, grouped};
use replay_engine::table::{Column, Name, Table, Value};
use replay_experiment::files::{ResultError, ResultFolder};
use replay_experiment::sweep::Plan;
use replay_experiment::{RunKey, RunResult};
use replay_output::report::RunChange;
use replay_output::report::manifest::{JobSet, StoredManifest, WindowRecord};
use replay_results::compare::{REPLAYED, difference};
use replay_results::read::{self, ReadError};

/// `--baseline`, as typed.
#[derive(Clone, Debug, Default, Args)]
pub struct BaselineArg {
    /// Print the change of each mean, in percent, from the results in this folder.
    ///
    /// Runs are matched by trace, machine, scheduler, strategy, policy, seed and copy. The command replay compare tests
    /// whether a change is significant.
    #[arg(long, value_name = "DIR", help_heading = "Output", hide_short_help = true)]
    pub baseline: Option<PathBuf>,
}

/// The compared columns of the table of runs. Each entry contains the column, the column of its change, the meaning of
/// the change, and the title of the change in tables.
pub const COMPARED: [(Name, Name, &str, &str); 4] = [
    (
        PairwiseMetrics::mean_pairwise_l1,
        Name::new("mean_pairwise_l1_change_percent"),
        "change of mean_pairwise_l1 from the same run of the baseline; null if the baseline does not have this run",
        "\u{394} L1 %",
    ),
    (
        ScheduleMetrics::mean_wait,
        Name::new("mean_wait_change_percent"),
        "change of mean_wait from the baseline; null if the value of the baseline is 0",
        "\u{394} wait %",
    ),
    (
        ScheduleMetrics::mean_turnaround,
        Name::new("mean_turnaround_change_percent"),
        "change of mean_turnaround from the baseline",
        "\u{394} turnaround %",
    ),
    (
        ScheduleMetrics::mean_bounded_slowdown,
        Name::new("mean_bounded_slowdown_change_percent"),
        "change of mean_bounded_slowdown from the baseline",
        "\u{394} slowdown %",
    ),
];

/// The values of the compared columns in the baseline, by the key of the run.
#[derive(Debug)]
pub struct Baseline(HashMap<RunKey, [f64; 4]>);

impl BaselineArg {
    /// Reads the results of the baseline before any cell of `plan` runs; `None` without `--baseline`.
    ///
    /// # Errors
    /// A data error if the results of the folder cannot be read; a usage error if the folder has no run of the plan.
    pub fn read(&self, plan: &Plan, quiet: bool) -> Result<Option<Arc<Baseline>>, Failure> {
        let Some(dir) = &self.baseline else { return Ok(None) };
        let names = COMPARED.map(|(name, ..)| name);
        let both = |folder: &ResultFolder| {
            folder.check_tables()?;
            // Results without a readable manifest are compared without a check of their jobs.
            let manifest = StoredManifest::of(folder).ok().flatten();
            let (rows, frame) = read::runs(folder, &REPLAYED, &names)?;
            Ok((rows, frame, manifest))
        };
        let both = ResultFolder::read(dir, both, ReadError::is_transient);
        let (rows, frame, manifest) = both.map_err(|error| match error {
            ReadError::Results(ResultError::Unlisted(_)) => Failure::data(anyhow::anyhow!(
                "--baseline {}: has no runs.parquet; name a folder that replay or replay sweep wrote with --out",
                dir.display()
            )),
            error => Failure::data(error),
        })?;
        let column = |name: Name| frame.column(name.text())?.f64();
        let columns: Vec<_> =
            names.into_iter().map(column).collect::<Result<_, _>>().map_err(Failure::data)?;
        let values = |i: usize| std::array::from_fn(|at| columns[at].get(i).unwrap_or(f64::NAN));
        let known = rows.into_iter().enumerate().map(|(i, row)| (row.key, values(i)));
        let baseline = Baseline(known.collect());
        let mut keys = HashSet::new();
        for run in 0..plan.len() {
            keys.insert(plan.key(run).map_err(Failure::usage)?);
        }
        let of_both = keys.iter().filter(|key| baseline.0.contains_key(*key)).count();
        if of_both == 0 {
            return Err(Failure::usage_message(format!(
                "--baseline {}: contains none of these runs: {}",
                dir.display(),
                difference(baseline.0.keys(), &keys)
            )));
        }
        if of_both < keys.len() && !quiet {
            let without = keys.len() - of_both;
            let verb = if without == 1 { "is" } else { "are" };
            let (without, runs) = (grouped(without as u64), counted(keys.len() as u64, "run"));
            eprint_line(format_args!("--baseline: {without} of {runs} {verb} not in the baseline"));
        }
        if let Some(manifest) = manifest.filter(|_| !quiet) {
            warn_of_other_jobs(dir, plan, &manifest, &baseline)?;
        }
        Ok(Some(Arc::new(baseline)))
    }
}

/// Prints a warning if runs of `plan` replay other jobs than the same runs of the baseline in `dir`, to which `manifest`
/// belongs.
fn warn_of_other_jobs(
    dir: &Path,
    plan: &Plan,
    manifest: &StoredManifest,
    baseline: &Baseline,
) -> Result<(), Failure> {
    let window = WindowRecord::of(&plan.grid.file.window);
    let (mut differing, mut first) = (0u64, None);
    for run in 0..plan.len() {
        let key = plan.key(run).map_err(Failure::usage)?;
        let before = manifest.jobs_of(&key).filter(|_| baseline.0.contains_key(&key));
        let Some(before) = before else { continue };
        let own = JobSet { jobs: plan.jobs(run), window: Some(window.clone()) };
        if before.differs(&own) {
            differing += 1;
            first.get_or_insert_with(|| (key.trace, before.text(), own.text()));
        }
    }
    if let Some((trace, before, own)) = first {
        let runs = counted(differing, "run");
        let verb = if differing == 1 { "replays" } else { "replay" };
        eprint_warning(format_args!(
            "--baseline {}: {runs} {verb} other jobs than the baseline: {trace} has {own}, but {before} in the baseline; \
             the changes are not of the same jobs",
            dir.display()
        ));
    }
    Ok(())
}

impl Baseline {
    /// Returns the change of a value of a run, in percent; `None` if the baseline does not contain the run, or if the
    /// value in the baseline is 0.
    fn change(&self, key: &RunKey, measure: usize, value: f64) -> Option<f64> {
        let before = self.0.get(key)?[measure];
        Some(100.0 * (value / before - 1.0)).filter(|change| change.is_finite())
    }

    /// Returns the changes as columns of JSON and CSV.
    pub fn columns(self: &Arc<Self>) -> Vec<Column<RunResult>> {
        let column = |(measure, (name, change, meaning, _)): (usize, (Name, _, _, _))| {
            let (baseline, of_run) = (Arc::clone(self), value(name));
            let read = move |run: &RunResult| baseline.change(&run.key, measure, of_run(run)?);
            Column::new(change, "%", meaning, read)
        };
        COMPARED.into_iter().enumerate().map(column).collect()
    }

    /// Returns the columns of changes. For each of them, the result names the column after which a table shows it.
    pub fn shown(self: &Arc<Self>) -> Vec<RunChange> {
        let shown = |((name, .., title), column): ((Name, _, _, &'static str), _)| RunChange {
            of: name,
            title,
            column,
        };
        COMPARED.into_iter().zip(self.columns()).map(shown).collect()
    }
}

/// Returns a function that reads a column of a run; the function returns `None` if the value is not an `f64`.
fn value(name: Name) -> impl Fn(&RunResult) -> Option<f64> + Send + Sync + 'static {
    let column = RunResult::columns().into_iter().find(|column| column.name == name);
    move |run| match column.as_ref()?.value(run) {
        Value::F64(value) => Some(value),
        _ => None,
    }
}
