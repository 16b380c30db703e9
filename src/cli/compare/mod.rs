//! `replay compare`: compares two runs of the same jobs, job by job.

mod projection;
mod schedule;
mod table;

use replay_engine::table::Name;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::rc::Rc;

use clap::{Args, ValueEnum};

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
use replay_engine::metrics::{Submitted, comparable};
use replay_engine::number::{counted, fixed, grouped};
use replay_engine::sanitize::excerpt;
use replay_engine::workload::JobIds;
use replay_experiment::RunKey;
use replay_experiment::compare::{
    CONTENDED, Compared, JobRow, JobTables, Pairs, REPLAYED, RunRow, correct,
};
use replay_experiment::contention::ContentionJobRow;
use replay_experiment::contention::ranking::{Stretches, TwoJobReversal, two_job_reversals};
use replay_experiment::files::{ResultError, ResultFolder};
use replay_experiment::schedule_diff::StartChange;
use replay_output::plot::{FigureStyle, Plots};
use replay_results::read::{self, JobsTable, ReadError};

/// Arguments of `replay compare`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay compare out/before out/after
  replay compare out:0 out:1 --by queue
  replay compare out/before out/after --fail-if-worse wait:5
  replay compare out/before --row trace --col strategy --measure wait,pairwise_l1
  replay compare out/before out/after --row trace --col strategy --measure wait
  replay compare out:0 out:3 --schedule --out out/moved
  replay compare out/contend:0 out/contend:1 --measure stretch

Compares results that have a table of jobs: those of a replay (jobs.parquet, unless --no-jobs), of a sweep with --job-table, and of contend (contend_jobs.parquet).

Smaller is better for every measure. Results of contend also have medians and trimmed means (without 5 % of the jobs at each end); a warning names the two jobs that decide an order by a mean stretch.

The 95 % interval of a change is Student's t for the logarithm of a ratio of sums, over blocks of submission time: weeks from the first submission of the compared jobs, or days if fewer than eight weeks have submissions. Blocks in which the measure is 0 are then dropped; fewer than five others give no interval and no verdict. Verdicts on several pairs of runs, or on classes of jobs, are corrected by Holm's method.")]
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
    /// For two folders: wait, turnaround, bounded_slowdown, pairwise_l1, distance; the default is all of them. For
    /// results of contend: stretch, placement_factor, contention_factor, wait_cycles, latency, blocking, pairwise_l1,
    /// distance. For one folder, with --row and --col: any column of the table of runs.
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    measure: Vec<String>,

    /// Print a table with a row for each trace, scheduler, strategy, topology, allocator, tie, policy, seed or copy.
    ///
    /// For one folder, a cell has the mean of the measure over the runs of the cell; these runs may differ only in seed
    /// and copy. A star marks the best value of a row; for distances, runs that fold jobs are not considered. For two
    /// folders, a cell has the change, with a leading ~ if the change is not significant.
    #[arg(long, value_name = "KEY", requires = "col")]
    row: Option<String>,

    /// Print a table with a column for each trace, scheduler, strategy, ... (see --row).
    #[arg(long, value_name = "KEY", requires = "row")]
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
    let [base, others] = SelectedRuns::read_both([&args.base, other], &Wanted::Jobs)?;
    for runs in [&base, &others] {
        if runs.manifest.is_null() && !args.process.quiet {
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
    let named: Vec<usize> = args
        .measure
        .iter()
        .map(|name| measure("--measure", name, tables))
        .collect::<Result<_, _>>()?;
    let measures = if named.is_empty() { (0..tables.measures.len()).collect() } else { named };
    let limits: Vec<(usize, f64)> =
        args.fail_if_worse.iter().map(|text| limit(text, tables)).collect::<Result<_, _>>()?;
    let (mut compared, mut of_runs) = (Vec::new(), Vec::new());
    let mut limits_of: Vec<(f64, Compared)> = Vec::new();
    let stretch = measures
        .iter()
        .copied()
        .find(|&measure| tables.measures[measure] == ContentionJobRow::STRETCH);
    let of_both = paired(&base, &others, args.process.quiet)?;
    if let ([pair], FormatArg::Json | FormatArg::Csv, false) =
        (&of_both[..], args.table.format, args.process.quiet)
        && pair[0].differing(pair[1]).count() > 1
    {
        eprint_line(table::pair_in_words(*pair, [&base.text, &others.text].map(String::as_str)));
    }
    let bases: Vec<RunRow> = of_both.iter().map(|[first, _]| RunRow::clone(first)).collect();
    for [first, second] in of_both {
        let (names, pairs) = jobs(args, [&base, &others], [first, second])?;
        let folds = [base.folding.contains(&first.run), others.folding.contains(&second.run)];
        if folds[0] != folds[1] && !args.process.quiet {
            let one = &names[usize::from(folds[1])];
            let why = comparable::WHY;
            eprint_warning(format_args!("{one}: distances are not comparable: {why}"));
        }
        if let (Some(stretch), false) = (stretch, args.process.quiet) {
            decided_by_two_jobs(&pairs, stretch, &names, second).iter().for_each(eprint_warning);
        }
        let [name, other_name] = names.each_ref().map(String::as_str);
        let all_sizes = [1, i64::MAX];
        let labelled: Vec<(String, Pairs)> = match args.by().and_then(By::column) {
            None => Vec::new(),
            Some(column) => {
                let titled = |(label, pairs)| match label {
                    -1 => (format!("{column} unknown"), pairs),
                    label => (format!("{column} {label}"), pairs),
                };
                pairs.by_label().into_iter().map(titled).collect()
            }
        };
        let compare = |measure: usize, sizes: [i64; 2]| {
            let compared = pairs.compare([name, other_name], (tables, measure), sizes);
            compared.of_folding(folds)
        };
        for &measure in &measures {
            compared.push(compare(measure, all_sizes));
            match args.by() {
                None => {}
                Some(By::Size) => {
                    let classes = pairs.classes().into_iter();
                    compared.extend(classes.map(|sizes| compare(measure, sizes)));
                }
                Some(_) => compared.extend(labelled.iter().map(|(class, pairs)| {
                    let one = pairs.compare([name, other_name], (tables, measure), all_sizes);
                    Compared { class: Some(class.clone()), ..one.of_folding(folds) }
                })),
            }
        }
        of_runs.resize(compared.len(), second.clone());
        let limited = limits.iter().map(|&(measure, limit)| (limit, compare(measure, all_sizes)));
        limits_of.extend(limited);
    }
    corrected(compared.iter_mut());
    corrected(limits_of.iter_mut().map(|(_, one)| one));
    let exceeded = limits_of.iter().filter(|(limit, one)| one.change > *limit);
    let failed: Vec<String> =
        exceeded.clone().filter_map(|(limit, one)| worse(one, *limit)).collect();
    let undecided: Vec<String> = exceeded.filter_map(|(_, one)| without_verdict(one)).collect();
    let mut compared: Vec<(RunRow, Compared)> = of_runs.into_iter().zip(compared).collect();
    let sheets = axes.map(|axes| projection::of_changes(axes, &compared)).transpose()?;
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

/// Returns a line for each mean of stretch if two jobs determine which of two runs has the lower mean; `run` is one of
/// the two runs.
fn decided_by_two_jobs(
    pairs: &Pairs,
    stretch: usize,
    names: &[String; 2],
    run: &RunRow,
) -> Vec<String> {
    let [base, other] = pairs.values(stretch);
    let stretches = [(&names[0], base), (&names[1], other)]
        .map(|(name, jobs)| Stretches { strategy: name.clone(), jobs });
    let of = |key: Name| RunRow::KEY.iter().zip(&run.key).find(|(name, _)| **name == key);
    let seed = of(RunKey::SEED).map_or("", |(_, seed)| seed);
    let copy = match of(RunKey::COPY) {
        Some((_, copy)) if copy != "0" => format!(" copy {copy}"),
        _ => String::new(),
    };
    let line = |one: &TwoJobReversal| {
        let mean = one.mean.name();
        format!("seed {seed}{copy}: the order by {mean} depends on two jobs: {one}")
    };
    two_job_reversals(&stretches).iter().map(line).collect()
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
    (one.verdict() == "worse").then(|| {
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
    let runs = SelectedRuns::read(&args.base, &Wanted::Columns(&args.measure))?;
    let (mut projected, sheets) = projection::of_values(axes, &runs, runs.measures())?;
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
    if base.tables.start.is_none() {
        return Err(Failure::usage_message(format!(
            "--schedule: {} has {}; jobs of these results have no start times in seconds of the trace",
            base.text,
            base.holds()
        )));
    }
    let sorting = args.sort.of::<StartChange>()?;
    let runs = paired(base, others, args.process.quiet)?;
    let ids = runs.iter().map(|[first, _]| base.ids(first.trace()));
    let ids: Vec<_> = ids.collect::<Result<_, Failure>>()?;
    let pairs: Vec<Vec<StartChange>> = runs
        .into_iter()
        .map(|[first, second]| {
            let (names, pairs) = jobs(args, [base, others], [first, second])?;
            Ok(pairs.start_changes(names.each_ref().map(String::as_str)))
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
    let pairs = Pairs::new(&base.jobs(first, label)?, &others.jobs(second, label)?);
    // Runs with the same name are distinguished by the names of their folders.
    let mut names = [first.name(), second.name()];
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
        eprint_warning(format_args!(
            "{name} and {other_name}: {} jobs that only one run has are omitted",
            grouped(pairs.unpaired as u64)
        ));
    }
    Ok((names, pairs))
}

/// The selected runs of a folder.
struct SelectedRuns {
    /// The argument as typed.
    text: String,
    tables: &'static JobTables,
    runs: Vec<RunRow>,
    /// Numbers of the runs that fold jobs; empty if the table of runs does not contain this information.
    folding: HashSet<i64>,
    data: Rc<Data>,
    /// The manifest; JSON null if the manifest cannot be read.
    manifest: Rc<serde_json::Value>,
}

/// The contents of a folder, which is read once, so that all tables belong to the same manifest.
struct Contents {
    tables: &'static JobTables,
    runs: Vec<RunRow>,
    /// Numbers of the runs that fold jobs; empty if the table of runs does not contain this information.
    folding: HashSet<i64>,
    data: Rc<Data>,
    /// The manifest; JSON null if the manifest cannot be read.
    manifest: Rc<serde_json::Value>,
}

/// The data to read in addition to the runs of a folder.
enum Wanted<'a> {
    /// Jobs.
    Jobs,
    /// The measures that `--measure` names; the default measures if the list is empty.
    Columns(&'a [String]),
}

/// Data of the runs of a folder.
enum Data {
    Jobs(JobsTable),
    /// Measures, and the values of these measures for each run number.
    Columns(Vec<RunMeasure>, HashMap<i64, Vec<f64>>),
}

impl SelectedRuns {
    /// Reads the runs that an argument FOLDER or FOLDER:RUN names.
    ///
    /// # Errors
    /// A usage error if the argument is wrong; a data error if the results cannot be read.
    fn read(text: &str, wanted: &Wanted<'_>) -> Result<Self, Failure> {
        let (dir, number) = folder_and_run(text)?;
        Contents::read(dir, wanted)?.select(text, dir, number)
    }

    /// Reads two arguments. If both arguments name the same folder, the folder is read only once, because another
    /// command could replace the results between two reads.
    ///
    /// # Errors
    /// The errors of [`read`](Self::read).
    fn read_both(texts: [&String; 2], wanted: &Wanted<'_>) -> Result<[Self; 2], Failure> {
        let [(dir, number), (other, other_number)] =
            [folder_and_run(texts[0])?, folder_and_run(texts[1])?];
        let is_same = match (dir.canonicalize(), other.canonicalize()) {
            (Ok(dir), Ok(other)) => dir == other,
            _ => dir == other,
        };
        let first = Contents::read(dir, wanted)?;
        let second = if is_same { None } else { Some(Contents::read(other, wanted)?) };
        Ok([
            first.select(texts[0], dir, number)?,
            second.as_ref().unwrap_or(&first).select(texts[1], other, other_number)?,
        ])
    }

    /// Returns a description of the kind of results in the folder.
    fn holds(&self) -> &'static str {
        if *self.tables == CONTENDED { "results of contend" } else { "replays" }
    }

    /// Returns the measures whose columns were read; empty if jobs were read.
    fn measures(&self) -> &[RunMeasure] {
        match &*self.data {
            Data::Jobs(_) => &[],
            Data::Columns(measures, _) => measures,
        }
    }

    /// Returns the jobs of a run; empty if jobs were not read.
    fn jobs(&self, run: &RunRow, label: Option<Name>) -> Result<Vec<JobRow>, Failure> {
        match &*self.data {
            Data::Jobs(jobs) => jobs.of(run.run, label).map_err(bad),
            Data::Columns(..) => Ok(Vec::new()),
        }
    }

    /// Returns the value of a run in a column, if columns were read.
    fn value(&self, run: &RunRow, column: usize) -> Option<f64> {
        match &*self.data {
            Data::Jobs(_) => None,
            Data::Columns(_, values) => values.get(&run.run)?.get(column).copied(),
        }
    }

    /// Returns the description of a trace in the manifest.
    fn trace(&self, trace: &str) -> Option<&serde_json::Value> {
        let mut traces = self.manifest["configuration"]["traces"].as_array()?.iter();
        traces.find(|one| one["name"] == trace)
    }

    /// Returns the digest of a trace, if the manifest contains it.
    fn digest(&self, trace: &str) -> Option<&str> {
        self.trace(trace)?["digest"].as_str()
    }

    /// Returns the ids of the jobs of a trace, from the file beside the trace.
    fn ids(&self, trace: &str) -> Result<Option<JobIds>, Failure> {
        let Some(one) = self.trace(trace) else { return Ok(None) };
        let is_renumbered = one["cleaning"]["changes"].get("renumbered").is_some();
        match (one["source"].as_str(), one["digest"].as_str()) {
            (Some(source), Some(digest)) if !is_renumbered => ids(Path::new(source), digest),
            _ => Ok(None),
        }
    }
}

impl Contents {
    fn read(dir: &Path, wanted: &Wanted<'_>) -> Result<Self, Failure> {
        let read = |folder: &ResultFolder| {
            folder.check_tables()?;
            let manifest = folder.manifest().and_then(|text| serde_json::from_slice(text).ok());
            let manifest: serde_json::Value = manifest.unwrap_or_default();
            let tables = match tables(folder, &manifest) {
                Ok(tables) => tables,
                Err(failure) => return Ok(Err(failure)),
            };
            let runs = read::runs(folder, tables)?;
            let folded = match read::has_column(folder, tables, comparable::FOLDED)? {
                true => read::values(folder, tables, &[comparable::FOLDED])?,
                false => HashMap::new(),
            };
            let folding = folded.into_iter().filter(|(_, of)| comparable::folds(Some(of[0])));
            let folding: HashSet<i64> = folding.map(|(run, _)| run).collect();
            let data = match wanted {
                Wanted::Jobs => match JobsTable::open(folder, tables) {
                    Ok(jobs) => Data::Jobs(jobs),
                    Err(ReadError::Results(
                        error @ (ResultError::Unlisted(_) | ResultError::Missing(_)),
                    )) => return Ok(Err(no_jobs(&error, folder, tables, &manifest))),
                    Err(error) => return Err(error),
                },
                Wanted::Columns(names) => {
                    let measures = match RunMeasure::all_of(names, tables) {
                        Ok(measures) => measures,
                        Err(failure) => return Ok(Err(failure)),
                    };
                    let names: Vec<Name> = measures.iter().map(|measure| measure.name).collect();
                    let values = read::values(folder, tables, &names)?;
                    Data::Columns(measures, values)
                }
            };
            Ok(Ok((tables, runs, folding, data, manifest)))
        };
        let read = ResultFolder::read(dir, read, ReadError::is_transient);
        let (tables, runs, folding, data, manifest) = read.map_err(bad)??;
        let (data, manifest) = (Rc::new(data), Rc::new(manifest));
        Ok(Self { tables, runs, folding, data, manifest })
    }

    /// Selects the runs that an argument names: all runs, or only the run with the given number.
    ///
    /// # Errors
    /// A usage error if there is no such run.
    fn select(&self, text: &str, dir: &Path, number: Option<i64>) -> Result<SelectedRuns, Failure> {
        let mut runs = self.runs.clone();
        if let Some(number) = number {
            let last = runs.iter().map(|run| run.run).max().unwrap_or(0);
            runs.retain(|run| run.run == number);
            if runs.is_empty() {
                return Err(Failure::usage_message(format!(
                    "{text}: no such run; {} has runs 0 to {last}",
                    dir.display()
                )));
            }
        }
        if runs.is_empty() {
            return Err(Failure::data(anyhow::anyhow!("{text} has no runs")));
        }
        Ok(SelectedRuns {
            text: text.to_string(),
            tables: self.tables,
            runs,
            folding: self.folding.clone(),
            data: self.data.clone(),
            manifest: self.manifest.clone(),
        })
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
    manifest: &serde_json::Value,
) -> Failure {
    let writes = match manifest["kind"].as_str() {
        Some("sweep") => "the same sweep with --job-table writes this table",
        Some("run") => "the same command without --no-jobs writes this table",
        _ => return Failure::data(anyhow::anyhow!("{error}")),
    };
    let path = folder.path().join(JobsTable::file(tables));
    Failure::data(anyhow::anyhow!("{} does not exist: {writes}", path.display()))
}

/// Returns the tables that `compare` reads from a folder: those of replays or those of `contend`.
fn tables(
    folder: &ResultFolder,
    manifest: &serde_json::Value,
) -> Result<&'static JobTables, Failure> {
    let dir = folder.path();
    let kind = manifest["kind"].as_str();
    let kind = kind.and_then(|name| Kind::ALL.into_iter().find(|kind| kind.name() == name));
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
    let [(name, digest), (other, other_digest)] =
        [0, 1].map(|i| (rows[i].trace(), runs[i].digest(rows[i].trace())));
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
    let of = |other: &'a RunRow| base.runs.iter().find(|one| one.key == other.key);
    let pairs: Vec<[&RunRow; 2]> =
        others.runs.iter().filter_map(|other| Some([of(other)?, other])).collect();
    if pairs.is_empty() {
        return Err(Failure::usage_message(format!(
            "{} ({} runs) and {} ({} runs) have no run in common: {}; FOLDER:RUN names one run",
            base.text,
            base.runs.len(),
            others.text,
            others.runs.len(),
            RunRow::difference(&keys(base), &keys(others))
        )));
    }
    let alone = base.runs.len() + others.runs.len() - 2 * pairs.len();
    if alone > 0 && !quiet {
        eprint_warning(format_args!("{alone} runs that only one folder has are omitted"));
    }
    Ok(pairs)
}

fn keys(runs: &SelectedRuns) -> Vec<&Vec<String>> {
    runs.runs.iter().map(|run| &run.key).collect()
}

fn bad(error: ReadError) -> Failure {
    Failure::data(error)
}

fn measure(option: &str, name: &str, tables: &JobTables) -> Result<usize, Failure> {
    let all: Vec<(&'static str, usize)> =
        tables.measures.iter().map(|name| name.text()).zip(0..).collect();
    one(option, name.trim(), &all)
}

fn limit(text: &str, tables: &JobTables) -> Result<(usize, f64), Failure> {
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
