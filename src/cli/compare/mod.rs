//! `replay compare`: compares two runs of the same jobs, job by job.

mod projection;
mod schedule;
mod table;

use replay_engine::table::Name;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::{Args, ValueEnum};
use polars::prelude::{BooleanChunked, DataFrame, PolarsError, PolarsResult};

pub use projection::Projected;

use projection::{Axes, RunMeasure};

use crate::cli::args::ProcessArgs;
use crate::cli::exit::{Exit, Failure, eprint_line, eprint_warning};
use crate::cli::figure_args::FigureArgs;
use crate::cli::job_name::ids;
use crate::cli::named_value::one;
use crate::cli::print::{FormatArg, SortArg, TableArgs};
use crate::cli::result_kind::Kind;
use crate::cli::terminal::stdout;
use replay_engine::metrics::blocks::FEWEST;
use replay_engine::metrics::{JobMeasures, Submitted, comparable};
use replay_engine::number::{counted, fixed};
use replay_engine::sanitize::excerpt;
use replay_engine::workload::{Change, JobIds};
use replay_experiment::RunKey;
use replay_experiment::contention::ContentionJobRow;
use replay_experiment::contention::ranking::{Stretches, TwoJobReversal, two_job_reversals};
use replay_experiment::files::{ResultError, ResultFolder};
use replay_experiment::schedule_diff::StartChange;
use replay_experiment::shaken::Verdict;
use replay_output::plot::{FigureStyle, Plots};
use replay_output::report::manifest::{JobSet, StoredManifest, TraceRecord};
use replay_results::compare::{
    ALL_SIZES, CONTENDED, Compared, JobTables, Pairs, REPLAYED, SEVERAL_LEAVES, correct, difference,
};
use replay_results::read::{self, JobsTable, ReadError, RunRow};

/// Arguments of `replay compare`.
#[derive(Clone, Debug, Args)]
#[command(
    after_help = "Examples:
  replay compare out/before out/after
  replay compare out:0 out:1 --by queue
  replay compare out/before --row trace --col strategy --measure wait",
    after_long_help = "Examples:
  replay compare out/before out/after
  replay compare out:0 out:1 --by queue
  replay compare out/before out/after --fail-if-worse wait:5
  replay compare out/before --row trace --col strategy --measure wait
  replay compare out/before --row trace,scheduler --col strategy --format latex
  replay compare out/before out/after --row trace --col strategy --measure wait
  replay compare out:0 out:3 --schedule --out out/moved
  replay compare out/contend:0 out/contend:1 --measure stretch

Compares results that have a table of jobs: those of a replay (jobs.parquet, unless --no-jobs), of a sweep with --job-table, and of contend (contend_jobs.parquet).

Smaller is better for every measure. Results of contend also have medians and trimmed means (without 5 % of the jobs at each end); a warning names the two jobs that decide an order by a mean stretch.

The 95 % interval of a change is Student's t for the logarithm of a ratio of sums, over blocks of submission time: weeks from the first submission of the compared jobs, or days if fewer than eight weeks have submissions. Blocks in which the measure is 0 are then dropped; fewer than five others give no interval and no verdict. Verdicts on several pairs of runs, or on classes of jobs, are corrected by Holm's method."
)]
pub struct CompareArgs {
    /// Base of the comparison: a folder with results of replay, sweep or contend, or a single run in a folder, written
    /// FOLDER:RUN.
    #[arg(value_name = "FOLDER[:RUN]")]
    base: String,

    /// Folder or run to compare with the base.
    ///
    /// Several runs are paired by trace, machine, scheduler, strategy, policy, seed and copy. A single run is compared
    /// with any other single run. With --row and --col, this argument may be omitted.
    #[arg(value_name = "FOLDER[:RUN]", required_unless_present = "row")]
    other: Option<String>,

    /// Compare these measures.
    ///
    /// For two folders: wait, turnaround, bounded_slowdown, pairwise_l1, distance (mean hops between the processors of a
    /// job) and, on trees and blocks, leaves and several_leaves_percent (share of the jobs of at least two nodes that
    /// have nodes on several leaves); the default is all of them. For
    /// results of contend: stretch, placement_factor, contention_factor, wait_cycles, latency, blocking, pairwise_l1,
    /// distance. For one folder, with --row and --col: any column of the table of runs.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    measure: Vec<String>,

    /// Print a table with a row for each combination of these keys: trace,scheduler.
    ///
    /// The keys are trace, scheduler, strategy, topology, allocator, tie, policy, seed and copy. For one folder, a cell has the mean of the measure over the runs of the cell; these runs may differ only in seed
    /// and copy. Several runs also have half the width of the 95 % interval of the mean, after ±. If a cell has
    /// perturbed copies, its mean is over the copies, without the unperturbed trace. A star marks the best value of a
    /// row; for distances, runs that fold jobs are not considered. For two folders, a cell has the change, with a leading
    /// ~ if the change is not significant.
    #[arg(long, value_name = "KEYS", requires = "col")]
    row: Option<String>,

    /// Print a table with a column for each trace, scheduler, strategy, ... or combination (see --row).
    #[arg(long, value_name = "KEYS", requires = "row")]
    col: Option<String>,

    /// Print the jobs that start earlier or later, instead of means.
    #[arg(long, requires = "other", conflicts_with_all = ["row", "measure", "by", "by_size", "fail_if_worse"])]
    schedule: bool,

    /// Write results into this folder.
    ///
    /// There is a figure for each pair of runs. The figure shows how much later each job starts in the second run,
    /// against the submission time of the job.
    #[arg(long, value_name = "DIR", group = "figures", requires = "schedule")]
    out: Option<PathBuf>,

    #[command(flatten)]
    figures: FigureArgs,

    /// Add results for classes of jobs: by size, user, group, queue or partition.
    ///
    /// The classes of size are 1, 2, 3 to 4, 5 to 8, ... The others are the values of a column of the table of jobs.
    #[arg(long, value_name = "KEY")]
    by: Option<By>,

    /// Add results for classes of job size.
    ///
    /// The option is the same as --by size.
    #[arg(long, conflicts_with = "by")]
    by_size: bool,

    /// Exit with 1 if a mean over all jobs is worse by more than PERCENT and the verdict is worse.
    ///
    /// Without an interval, there is no verdict, and the exit code is 0; a message states this.
    #[arg(long, value_name = "MEASURE:PERCENT")]
    fail_if_worse: Vec<String>,

    #[command(flatten)]
    sort: SortArg,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    process: ProcessArgs,
}

/// Measures that are compared by default only if the machine has leaves.
const LEAF_MEASURES: [Name; 2] = [JobMeasures::LEAVES, SEVERAL_LEAVES];

/// A property that divides jobs into classes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum By {
    Size,
    User,
    Group,
    Queue,
    Partition,
}

impl By {
    /// Returns the column whose values are the classes; `None` for sizes.
    fn column(self) -> Option<Name> {
        match self {
            By::Size => None,
            By::User => Some(Submitted::USER),
            By::Group => Some(Submitted::GROUP),
            By::Queue => Some(Submitted::QUEUE),
            By::Partition => Some(Submitted::PARTITION),
        }
    }
}

impl CompareArgs {
    /// Returns the classes that `--by` or `--by-size` asks for.
    fn by(&self) -> Option<By> {
        self.by.or(self.by_size.then_some(By::Size))
    }
}

/// Compares runs.
pub fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let axes = match (&args.row, &args.col) {
        (Some(row), Some(col)) => Some(Axes::of(row, col)?),
        _ => None,
    };
    let style = args.figures.style()?;
    if let Some(dir) = &args.out {
        super::output::writable(dir)?;
    }
    let Some(other) = &args.other else {
        // Without a second folder, the parser requires --row and --col.
        return axes.map_or(Ok(Exit::Done), |axes| project(args, axes));
    };
    let [base, others] = SelectedRuns::read_both([&args.base, other])?;
    for runs in [&base, &others] {
        if runs.manifest.is_none() && !args.process.quiet {
            eprint_line(format_args!(
                "{}: has no manifest.json; the tables of the folder are not checked",
                runs.text
            ));
        }
    }
    let tables = base.tables;
    if tables != others.tables {
        let [one, two] = [&base, &others].map(|runs| format!("{} has {}", runs.text, runs.holds()));
        return Err(Failure::usage_message(format!(
            "{one}, {two}: name two folders of the same kind"
        )));
    }
    if args.schedule {
        return schedules(args, style, &base, &others);
    }
    let sorting = args.sort.of::<Compared>()?;
    let named = args.measure.iter().map(|name| measure("--measure", name, tables));
    let named: Vec<Name> = named.collect::<Result<_, _>>()?;
    let measures = if named.is_empty() { tables.measures } else { &named };
    let limits: Vec<(Name, f64)> =
        args.fail_if_worse.iter().map(|text| limit(text, tables)).collect::<Result<_, _>>()?;
    let (mut compared, mut of_runs) = (Vec::new(), Vec::new());
    let mut limits_of: Vec<(f64, Compared)> = Vec::new();
    let with_stretch = measures.contains(&ContentionJobRow::STRETCH);
    let of_both = paired(&base, &others, args.process.quiet)?;
    if let ([pair], FormatArg::Json | FormatArg::Csv, false) =
        (&of_both[..], args.table.format, args.process.quiet)
        && pair[0].key.differing(&pair[1].key).count() > 1
    {
        eprint_line(table::pair_in_words(
            pair.map(|run| &run.key),
            [&base.text, &others.text].map(String::as_str),
        ));
    }
    let bases: Vec<RunKey> = of_both.iter().map(|[first, _]| first.key.clone()).collect();
    for [first, second] in of_both {
        let (names, pairs) = jobs(args, [&base, &others], [first, second])?;
        let folds = [first.folds, second.folds];
        if folds[0] != folds[1] && !args.process.quiet {
            let one = &names[usize::from(folds[1])];
            let why = comparable::WHY;
            eprint_warning(format_args!("{one}: distances are not comparable: {why}"));
        }
        if with_stretch && !args.process.quiet {
            let decided = decided_by_two_jobs(&pairs, &names, &second.key).map_err(unread)?;
            decided.iter().for_each(eprint_warning);
        }
        let names = names.each_ref().map(String::as_str);
        let compare = |pairs: &Pairs, measure: Name| {
            pairs.compare(names, measure).map(|one| one.of_folding(folds)).map_err(unread)
        };
        let classes = classes(&pairs, args.by()).map_err(unread)?;
        for &measure in measures {
            let whole = compare(&pairs, measure)?;
            // Only trees and blocks have leaves.
            if whole.jobs == 0 && named.is_empty() && LEAF_MEASURES.contains(&measure) {
                continue;
            }
            compared.push(whole);
            for (class, sizes, pairs) in &classes {
                let (class, sizes) = (class.clone(), *sizes);
                compared.push(Compared { class, sizes, ..compare(pairs, measure)? });
            }
        }
        of_runs.resize(compared.len(), second.key.clone());
        for &(measure, limit) in &limits {
            limits_of.push((limit, compare(&pairs, measure)?));
        }
    }
    corrected(compared.iter_mut());
    corrected(limits_of.iter_mut().map(|(_, one)| one));
    let exceeded = limits_of.iter().filter(|(limit, one)| one.change > *limit);
    let failed: Vec<String> =
        exceeded.clone().filter_map(|(limit, one)| worse(one, *limit)).collect();
    let undecided: Vec<String> = exceeded.filter_map(|(_, one)| without_verdict(one)).collect();
    let mut compared: Vec<(RunKey, Compared)> = of_runs.into_iter().zip(compared).collect();
    let sheets = axes.map(|axes| projection::of_changes(&axes, &compared)).transpose()?;
    if let Some(sorting) = sorting {
        compared.sort_by(|(_, a), (_, b)| sorting.order(a, b));
    }
    let folders = [&base.text, &others.text].map(String::as_str);
    let for_people =
        || sheets.unwrap_or_else(|| vec![table::sheet(&compared, &bases, folders, tables)]);
    args.table
        .print(compared.iter().map(|(_, row)| row), for_people, &mut stdout())
        .map_err(Failure::stdout)?;
    failed.iter().chain(&undecided).for_each(eprint_line);
    Ok(if failed.is_empty() { Exit::Done } else { Exit::Differs })
}

/// A class of jobs: its name, unless it is a class of sizes, its smallest and largest size, and its pairs.
type Class = (Option<String>, [i64; 2], Pairs);

/// Returns the classes of `--by`; none without `--by`.
fn classes(pairs: &Pairs, by: Option<By>) -> PolarsResult<Vec<Class>> {
    let labelled = |(label, pairs): (Option<i64>, _), column| {
        let label = label.map_or("unknown".to_string(), |label| label.to_string());
        (Some(format!("{column} {label}")), ALL_SIZES, pairs)
    };
    let classes = by.map(|by| match by.column() {
        None => Ok(pairs.by_size()?.into_iter().map(|(sizes, of)| (None, sizes, of)).collect()),
        Some(column) => {
            Ok(pairs.by_label(column)?.into_iter().map(|of| labelled(of, column)).collect())
        }
    });
    classes.unwrap_or(Ok(Vec::new()))
}

/// Returns a line for each mean of stretch if two jobs determine which of two runs has the lower mean; `run` is one of
/// the two runs.
fn decided_by_two_jobs(
    pairs: &Pairs,
    names: &[String; 2],
    run: &RunKey,
) -> PolarsResult<Vec<String>> {
    let [base, other] = pairs.values(ContentionJobRow::STRETCH)?;
    let stretches = [(&names[0], base), (&names[1], other)]
        .map(|(name, jobs)| Stretches { strategy: name.clone(), jobs });
    let RunKey { seed, copy, .. } = run;
    let copy = if *copy == 0 { String::new() } else { format!(" copy {copy}") };
    let line = |one: &TwoJobReversal| {
        let mean = one.mean.name();
        format!("seed {seed}{copy}: the order by {mean} depends on two jobs: {one}")
    };
    Ok(two_job_reversals(&stretches).iter().map(line).collect())
}

/// Corrects the verdicts for the number of comparisons of one measure. Comparisons over all jobs and comparisons of
/// classes are corrected separately.
fn corrected<'a>(compared: impl Iterator<Item = &'a mut Compared>) {
    let mut families: BTreeMap<(Name, bool), Vec<&mut Compared>> = BTreeMap::new();
    for one in compared {
        families.entry((one.measure, one.is_of_all_jobs())).or_default().push(one);
    }
    families.into_values().for_each(|family| correct(family, 0));
}

/// Returns a message if the verdict on a mean that exceeds `limit` percent is `worse`; otherwise `None`.
fn worse(one: &Compared, limit: f64) -> Option<String> {
    let [low, high] = one.interval.map(|end| fixed(end, 2));
    let (run, measure, change) = (&one.run, one.measure, fixed(one.change, 2));
    (one.verdict() == Verdict::Worse).then(|| {
        format!(
            "{run}: {measure} is worse by {change} % (95 %: {low} to {high}); --fail-if-worse allows {limit} %"
        )
    })
}

/// Returns a message if there is no interval, and therefore no verdict, on a mean that exceeds its limit; otherwise
/// `None`.
fn without_verdict(one: &Compared) -> Option<String> {
    let (run, measure, change) = (&one.run, one.measure, fixed(one.change, 2));
    let blocks = counted(one.blocks as u64, if one.days == 1 { "day" } else { "week" });
    let reason = match one.blocks < FEWEST {
        true => format!("an interval needs {FEWEST} days or weeks with a value (here: {blocks})"),
        false => "the mean of the base is 0".to_string(),
    };
    one.interval[0].is_nan().then(|| {
        format!(
            "{run}: {measure} is worse by {change} %, but there is no verdict: {reason}; --fail-if-worse does not fail"
        )
    })
}

/// Prints, for each measure of the runs of one folder, a table by two properties of the runs.
fn project(args: &CompareArgs, axes: Axes) -> Result<Exit, Failure> {
    if args.by().is_some() || !args.fail_if_worse.is_empty() {
        let message = "--by, --by-size and --fail-if-worse need two folders";
        return Err(Failure::usage_message(message));
    }
    let sorting = args.sort.of::<Projected>()?;
    let (dir, number) = folder_and_run(&args.base)?;
    let runs = SelectedRuns::read(dir, Some(&args.measure))?.select(&args.base, dir, number)?;
    let measures = RunMeasure::all_of(&args.measure, runs.tables)?;
    let (mut projected, sheets) = projection::of_values(&axes, &runs, &measures)?;
    if let Some(sorting) = sorting {
        projected.sort_by(|a, b| sorting.order(a, b));
    }
    let printed = args.table.print(&projected, || sheets, &mut stdout());
    printed.map_err(Failure::stdout)?;
    Ok(Exit::Done)
}

/// Prints how the start times of jobs differ between the paired runs of two folders, and draws figures if `--out` is
/// given.
fn schedules(
    args: &CompareArgs,
    style: FigureStyle,
    base: &SelectedRuns,
    others: &SelectedRuns,
) -> Result<Exit, Failure> {
    let Some(start) = base.tables.start else {
        return Err(Failure::usage_message(format!(
            "--schedule: {} has {}; jobs of these results have no start times in seconds of the trace",
            base.text,
            base.holds()
        )));
    };
    let sorting = args.sort.of::<StartChange>()?;
    let runs = paired(base, others, args.process.quiet)?;
    let ids = runs.iter().map(|[first, _]| base.ids(&first.key.trace));
    let ids: Vec<_> = ids.collect::<Result<_, Failure>>()?;
    let pairs: Vec<Vec<StartChange>> = runs
        .into_iter()
        .map(|[first, second]| {
            let (names, pairs) = jobs(args, [base, others], [first, second])?;
            pairs.start_changes(names.each_ref().map(String::as_str), start).map_err(unread)
        })
        .collect::<Result<_, Failure>>()?;
    let plots = args.out.as_deref().map(|dir| Plots::new(dir, style));
    schedule::show(&pairs, &ids, args.table, sorting, plots.as_ref())?;
    Ok(Exit::Done)
}

/// Returns the names of two runs, and pairs of their jobs.
fn jobs(
    args: &CompareArgs,
    [base, others]: [&SelectedRuns; 2],
    [first, second]: [&RunRow; 2],
) -> Result<([String; 2], Pairs), Failure> {
    same_log([base, others], [first, second])?;
    let label = args.by().and_then(By::column);
    let both = [base.jobs(first, label)?, others.jobs(second, label)?];
    let pairs = Pairs::new(&both[0], &both[1]).map_err(unread)?;
    // Runs with the same name are distinguished by the names of their folders.
    let mut names = [first, second].map(|run| run_name(&run.key));
    if names[0] == names[1] {
        names =
            [(&base.text, 0), (&others.text, 1)].map(|(text, i)| format!("{text} {}", names[i]));
    }
    let [name, other_name] = &names;
    if pairs.is_empty() {
        return Err(Failure::data(anyhow::anyhow!(
            "{name} and {other_name} have no job in common"
        )));
    }
    if pairs.unpaired > 0 && !args.process.quiet {
        let set = |runs: &SelectedRuns, jobs: &DataFrame| JobSet {
            jobs: jobs.height() as u64,
            window: runs.manifest.as_ref().map(|manifest| manifest.window()),
        };
        let [one, two] = [set(base, &both[0]), set(others, &both[1])];
        let (two, omitted) = (two.text(), omitted(pairs.unpaired, "job", "run"));
        eprint_warning(format_args!(
            "{name} has {}, {other_name} has {two}; {omitted}",
            one.text()
        ));
    }
    Ok((names, pairs))
}

/// Returns the part of a warning about items that only one of two owners has.
fn omitted(count: usize, what: &str, owner: &str) -> String {
    let verb = if count == 1 { "is" } else { "are" };
    format!("{} that only one {owner} has {verb} omitted", counted(count as u64, what))
}

/// Returns trace, machine, scheduler and strategy, separated by spaces.
fn run_name(key: &RunKey) -> String {
    let named = key.texts().into_iter().take(5).filter(|text| !text.is_empty());
    named.collect::<Vec<_>>().join(" ")
}

/// The selected runs of a folder. The folder is read once, so that all tables belong to the same manifest.
#[derive(Clone)]
struct SelectedRuns {
    /// The argument as typed.
    text: String,
    tables: &'static JobTables,
    runs: Vec<RunRow>,
    /// The table of runs, in the order of `runs`.
    frame: DataFrame,
    /// The table of jobs, unless columns of the table of runs were read.
    jobs: Option<JobsTable>,
    /// The manifest; `None` if the folder has none or it cannot be read.
    manifest: Option<Rc<StoredManifest>>,
}

impl SelectedRuns {
    /// Reads two arguments FOLDER or FOLDER:RUN. If both arguments name the same folder, the folder is read only once,
    /// because another command could replace the results between two reads.
    ///
    /// # Errors
    /// A usage error if an argument is wrong; a data error if the results cannot be read.
    fn read_both(texts: [&String; 2]) -> Result<[Self; 2], Failure> {
        let [(dir, number), (other, other_number)] =
            [folder_and_run(texts[0])?, folder_and_run(texts[1])?];
        let is_same = match (dir.canonicalize(), other.canonicalize()) {
            (Ok(dir), Ok(other)) => dir == other,
            _ => dir == other,
        };
        let first = Self::read(dir, None)?;
        let second = if is_same { first.clone() } else { Self::read(other, None)? };
        let second = second.select(texts[1], other, other_number);
        Ok([first.select(texts[0], dir, number)?, second?])
    }

    /// Reads all runs of a folder. `measures` names the columns of the table of runs to read, or is empty for the
    /// default columns; without it, the table of jobs is read.
    fn read(dir: &Path, measures: Option<&[String]>) -> Result<Self, Failure> {
        let read = |folder: &ResultFolder| {
            folder.check_tables()?;
            let manifest = StoredManifest::of(folder).ok().flatten().map(Rc::new);
            let kind = manifest.as_ref().and_then(|manifest| Kind::of(&manifest.kind));
            let of_kind = tables(folder, kind).and_then(|tables| {
                let measures = measures.map(|names| RunMeasure::all_of(names, tables));
                Ok((tables, measures.transpose()?))
            });
            let (tables, measures) = match of_kind {
                Ok(of_kind) => of_kind,
                Err(failure) => return Ok(Err(failure)),
            };
            let columns = measures.iter().flatten().map(|measure| measure.name);
            let (runs, frame) = read::runs(folder, tables, &columns.collect::<Vec<_>>())?;
            let jobs = measures.is_none().then(|| JobsTable::open(folder, tables)).transpose();
            let jobs = match jobs {
                Err(ReadError::Results(
                    error @ (ResultError::Unlisted(_) | ResultError::Missing(_)),
                )) => return Ok(Err(no_jobs(&error, folder, tables, kind))),
                jobs => jobs?,
            };
            let text = String::new();
            Ok(Ok(Self { text, tables, runs, frame, jobs, manifest }))
        };
        ResultFolder::read(dir, read, ReadError::is_transient).map_err(bad)?
    }

    /// Selects the runs that an argument names: all runs, or only the run with the given number.
    ///
    /// # Errors
    /// A usage error if there is no such run.
    fn select(mut self, text: &str, dir: &Path, number: Option<i64>) -> Result<Self, Failure> {
        self.text = text.to_string();
        let Some(last) = self.runs.iter().map(|run| run.run).max() else {
            return Err(Failure::data(anyhow::anyhow!("{} has no runs", dir.display())));
        };
        if let Some(number) = number {
            let is_selected: BooleanChunked =
                self.runs.iter().map(|run| run.run == number).collect();
            self.frame = self.frame.filter(&is_selected).map_err(unread)?;
            self.runs.retain(|run| run.run == number);
            if self.runs.is_empty() {
                let runs = match last {
                    0 => "only run 0".to_string(),
                    last => format!("runs 0 to {last}"),
                };
                return Err(Failure::usage_message(format!(
                    "{text}: no such run; {} has {runs}",
                    dir.display()
                )));
            }
        }
        Ok(self)
    }

    /// Returns a description of the kind of results in the folder.
    fn holds(&self) -> &'static str {
        if *self.tables == CONTENDED { "results of contend" } else { "replays" }
    }

    /// Returns the jobs of a run; empty if jobs were not read.
    fn jobs(&self, run: &RunRow, label: Option<Name>) -> Result<DataFrame, Failure> {
        let jobs = self.jobs.as_ref().map(|jobs| jobs.of(run.run, label));
        jobs.unwrap_or_else(|| Ok(DataFrame::empty())).map_err(bad)
    }

    /// Returns the description of a trace in the manifest.
    fn trace(&self, trace: &str) -> Option<&TraceRecord> {
        self.manifest.as_ref()?.trace(trace)
    }

    /// Returns the ids of the jobs of a trace, from the file beside the trace.
    fn ids(&self, trace: &str) -> Result<Option<JobIds>, Failure> {
        let is_renumbered =
            |trace: &TraceRecord| trace.cleaning.changes.contains_key(&Change::Renumbered);
        match self.trace(trace) {
            Some(trace) if !is_renumbered(trace) => ids(Path::new(&trace.source), &trace.digest),
            _ => Ok(None),
        }
    }
}

/// Splits an argument into the folder and, after a colon, the number of a run.
fn folder_and_run(text: &str) -> Result<(&Path, Option<i64>), Failure> {
    match text.rsplit_once(':') {
        // The name of a folder may contain a colon.
        Some((dir, number)) if !Path::new(text).exists() => match number.parse::<i64>() {
            Ok(number) => Ok((Path::new(dir), Some(number))),
            Err(_) if Path::new(dir).is_dir() => Err(Failure::usage_message(format!(
                "{text}: \"{}\" is not the number of a run: write FOLDER:RUN, such as {dir}:0",
                excerpt(number)
            ))),
            Err(_) => Ok((Path::new(text), None)),
        },
        _ => Ok((Path::new(text), None)),
    }
}

/// Returns the failure for a folder without the table of jobs. The message names the option that writes this table.
fn no_jobs(
    error: &ResultError,
    folder: &ResultFolder,
    tables: &JobTables,
    kind: Option<Kind>,
) -> Failure {
    let writes = match kind {
        Some(Kind::Sweep) => "the same sweep with --job-table writes this table",
        Some(Kind::Run) => "the same command without --no-jobs writes this table",
        _ => return Failure::data(anyhow::anyhow!("{error}")),
    };
    let path = folder.path().join(JobsTable::file(tables));
    Failure::data(anyhow::anyhow!("{} does not exist: {writes}", path.display()))
}

/// Returns the tables that `compare` reads from a folder: those of replays or those of `contend`.
fn tables(folder: &ResultFolder, kind: Option<Kind>) -> Result<&'static JobTables, Failure> {
    let dir = folder.path();
    let file = |tables: &JobTables| dir.join(format!("{}.parquet", tables.runs)).exists();
    match kind {
        Some(Kind::Run | Kind::Sweep) => Ok(&REPLAYED),
        Some(Kind::Contend) => Ok(&CONTENDED),
        Some(kind) => {
            let name = kind.name();
            let instead = match kind {
                Kind::Stream => "; the rows of stream.csv already have 95 % intervals",
                Kind::Search => {
                    "; replay the vectors that the search found into a folder (--tie, --out)"
                }
                _ => "",
            };
            Err(Failure::usage_message(format!(
                "{}: holds results of {name}; compare takes results of replays, sweeps (--job-table) and \
                 contend{instead}",
                dir.display()
            )))
        }
        None if file(&CONTENDED) && !file(&REPLAYED) => Ok(&CONTENDED),
        None => Ok(&REPLAYED),
    }
}

/// Returns an error if two runs are of different logs, because equal job numbers of different logs denote different
/// jobs. Two logs are considered the same if they have the same digest or the same name. The names may differ because
/// of different loads, and the digests may differ because of different versions.
fn same_log(runs: [&SelectedRuns; 2], rows: [&RunRow; 2]) -> Result<(), Failure> {
    let [(name, digest), (other, other_digest)] = [0, 1]
        .map(|i| (&rows[i].key.trace, runs[i].trace(&rows[i].key.trace).map(|it| &it.digest)));
    match (digest, other_digest) {
        (Some(digest), Some(other_digest)) if name != other && digest != other_digest => {
            Err(Failure::usage_message(format!(
                "{} has results of {name}, but {} has results of {other}: the traces have different jobs",
                runs[0].text, runs[1].text
            )))
        }
        _ => Ok(()),
    }
}

/// Pairs the runs of two folders by their keys.
///
/// # Errors
/// A usage error if no runs have the same key.
fn paired<'a>(
    base: &'a SelectedRuns,
    others: &'a SelectedRuns,
    quiet: bool,
) -> Result<Vec<[&'a RunRow; 2]>, Failure> {
    if let ([first], [second]) = (&base.runs[..], &others.runs[..]) {
        return Ok(vec![[first, second]]);
    }
    let by_key: HashMap<_, _> = base.runs.iter().rev().map(|run| (&run.key, run)).collect();
    let pairs: Vec<[&RunRow; 2]> =
        others.runs.iter().filter_map(|other| Some([*by_key.get(&other.key)?, other])).collect();
    if pairs.is_empty() {
        let keys = |runs: &'a SelectedRuns| runs.runs.iter().map(|run| &run.key);
        return Err(Failure::usage_message(format!(
            "{} ({} runs) and {} ({} runs) have no run in common: {}; FOLDER:RUN names one run",
            base.text,
            base.runs.len(),
            others.text,
            others.runs.len(),
            difference(keys(base), keys(others))
        )));
    }
    let alone = base.runs.len() + others.runs.len() - 2 * pairs.len();
    if alone > 0 && !quiet {
        eprint_warning(omitted(alone, "run", "folder"));
    }
    Ok(pairs)
}

fn bad(error: ReadError) -> Failure {
    Failure::data(error)
}

/// Returns the failure for a table with a column of an unexpected type.
fn unread(error: PolarsError) -> Failure {
    bad(error.into())
}

fn measure(option: &str, name: &str, tables: &JobTables) -> Result<Name, Failure> {
    let all: Vec<_> = tables.measures.iter().map(|name| (name.text(), *name)).collect();
    one(option, name.trim(), &all)
}

fn limit(text: &str, tables: &JobTables) -> Result<(Name, f64), Failure> {
    let wrong = || {
        Failure::usage_message(format!(
            "--fail-if-worse \"{}\": write MEASURE:PERCENT, such as wait:5",
            excerpt(text)
        ))
    };
    let (name, percent) = text.rsplit_once(':').ok_or_else(wrong)?;
    let percent: f64 = percent.trim().parse().ok().filter(|p: &f64| *p >= 0.0).ok_or_else(wrong)?;
    Ok((measure("--fail-if-worse", name, tables)?, percent))
}
