//! `replay compare`: two runs of the same jobs, job by job.

mod projection;
mod schedule;
mod table;

use std::path::{Path, PathBuf};

use clap::Args;

pub use projection::Projected;

use projection::Axes;

use crate::cli::args::ProcessArgs;
use crate::cli::exit::{Exit, Failure, tell};
use crate::cli::figure_args::FigureArgs;
use crate::cli::print::{SortArg, TableArgs};
use crate::cli::stdout::stdout;
use crate::cli::words::one;
use crate::experiment::compare::{Compared, MEASURES, Pairs, RunRow, SAMPLES};
use crate::experiment::moved::Moved;
use crate::frame::read::{self, ReadError};
use crate::metrics::bootstrap::FEWEST;
use crate::number::{counted, fixed, grouped};
use crate::plot::{FigureStyle, Plots};
use crate::shown::shown;

/// Arguments of `replay compare`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay compare out/before out/after
  replay compare out:0 out:1 --by-size
  replay compare out/before out/after --fail-if-worse wait:5
  replay compare out/before --row trace --col strategy --measure wait,pairwise_l1
  replay compare out/before out/after --row trace --col strategy --measure wait
  replay compare out:0 out:3 --schedule --plots out/moved

Of all measures less is better. The interval of a change is a paired bootstrap over weeks of
submission, or over days where there are fewer than eight weeks; fewer than five days give none.")]
pub struct CompareArgs {
    /// The base: a folder of results with jobs.parquet, or one of its runs, FOLDER:RUN.
    #[arg(value_name = "FOLDER[:RUN]")]
    base: String,

    /// What is compared with it. Several runs are paired by trace, machine, scheduler, strategy,
    /// policy, seed and copy; one run is compared with one whatever they are. Not needed with --row and
    /// --col.
    #[arg(value_name = "FOLDER[:RUN]", required_unless_present = "row")]
    other: Option<String>,

    /// What to compare; of one folder any column of the table of runs.
    ///
    /// Of two folders: wait, turnaround, bounded_slowdown, pairwise_l1, distance, which is the default.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    measure: Vec<String>,

    /// A table of two dimensions: a row for each trace, scheduler, strategy, ...
    ///
    /// Also topology, allocator, tie, policy, seed, copy. Of one folder a cell has the mean of the measure
    /// over its runs, which may differ in seed and copy only, and the best of a row has a star; of two folders it has
    /// the change, behind ~ where nothing can be told.
    #[arg(long, value_name = "WHAT", requires = "col")]
    row: Option<String>,

    /// The columns of that table.
    #[arg(long, value_name = "WHAT", requires = "row")]
    col: Option<String>,

    /// Say which jobs start earlier and which later, instead of what that comes to.
    #[arg(long, requires = "other", conflicts_with_all = ["row", "measure", "by_size", "fail_if_worse"])]
    schedule: bool,

    /// Draw that into this folder: each job by its submission and by how much later it starts.
    #[arg(long, value_name = "DIR", group = "figures", requires = "schedule")]
    plots: Option<PathBuf>,

    #[command(flatten)]
    figures: FigureArgs,

    /// Add rows for classes of size: 1, 2, 3 to 4, 5 to 8, ...
    #[arg(long)]
    by_size: bool,

    /// Exit with 1 if the mean over all jobs is worse by more than so much, and the interval says worse.
    #[arg(long, value_name = "MEASURE:PERCENT")]
    fail_if_worse: Vec<String>,

    /// Samples of the bootstrap behind the intervals.
    #[arg(long, value_name = "N", default_value_t = SAMPLES, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    samples: u32,

    /// Seed of the bootstrap.
    #[arg(long, default_value_t = 0)]
    seed: u64,

    #[command(flatten)]
    sort: SortArg,

    #[command(flatten)]
    table: TableArgs,

    #[command(flatten)]
    process: ProcessArgs,
}

/// Compares runs.
pub fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    let axes = match (&args.row, &args.col) {
        (Some(row), Some(col)) => Some(Axes::of(row, col)?),
        _ => None,
    };
    let style = args.figures.style()?;
    if let Some(dir) = &args.plots {
        super::output::writable(dir)?;
    }
    let base = Runs::read(&args.base)?;
    let Some(other) = &args.other else {
        // The definition asks for both of them.
        return axes.map_or(Ok(Exit::Done), |axes| project(args, axes, &base));
    };
    let others = Runs::read(other)?;
    if args.schedule {
        return schedules(args, style, &base, &others);
    }
    let sorting = args.sort.of::<Compared>()?;
    let named: Vec<usize> =
        args.measure.iter().map(|name| measure("--measure", name)).collect::<Result<_, _>>()?;
    let measures = if named.is_empty() { (0..MEASURES.len()).collect() } else { named };
    let limits: Vec<(usize, f64)> =
        args.fail_if_worse.iter().map(|text| limit(text)).collect::<Result<_, _>>()?;
    let (mut compared, mut of_runs) = (Vec::new(), Vec::new());
    let mut failed = Vec::new();
    for [first, second] in paired(&base, &others, args.process.quiet)? {
        let (names, pairs) = jobs(args, [&base, &others], [first, second])?;
        let [name, other_name] = names.each_ref().map(String::as_str);
        let everybody = [1, i64::MAX];
        let compare = |measure: usize, sizes: [i64; 2]| {
            pairs.compare([name, other_name], measure, sizes, args.samples, args.seed)
        };
        for &measure in &measures {
            compared.push(compare(measure, everybody));
            if args.by_size {
                let classes = pairs.classes().into_iter();
                compared.extend(classes.map(|sizes| compare(measure, sizes)));
            }
        }
        of_runs.resize(compared.len(), second.clone());
        for &(measure, percent) in &limits {
            let all = compare(measure, everybody);
            // Of few blocks nobody knows more than the change.
            let few = all.blocks < FEWEST;
            if (few || all.verdict() == "worse") && all.change > percent {
                let interval = match few {
                    true => {
                        format!("without an interval, of {}", counted(all.blocks as u64, "block"))
                    }
                    false => {
                        let [low, high] = all.interval.map(|end| fixed(end, 2));
                        format!("95 %: {low} to {high}")
                    }
                };
                failed.push(format!(
                    "{other_name}: {} is worse by {} % ({interval}); at most {percent} % is allowed",
                    all.measure,
                    fixed(all.change, 2),
                ));
            }
        }
    }
    let mut compared: Vec<(RunRow, Compared)> = of_runs.into_iter().zip(compared).collect();
    let sheets = axes.map(|axes| projection::of_changes(axes, &compared)).transpose()?;
    if let Some(sorting) = sorting {
        compared.sort_by(|(_, a), (_, b)| sorting.order(a, b));
    }
    let folders = [&base.text, &others.text].map(String::as_str);
    let for_people = || sheets.unwrap_or_else(|| vec![table::sheet(&compared, folders)]);
    args.table
        .print(compared.iter().map(|(_, row)| row), for_people, &mut stdout())
        .map_err(|e| Failure::output("standard output", e))?;
    failed.iter().for_each(tell);
    Ok(if failed.is_empty() { Exit::Done } else { Exit::Differs })
}

/// One folder by two properties of its runs.
fn project(args: &CompareArgs, axes: Axes, runs: &Runs) -> Result<Exit, Failure> {
    if args.by_size || !args.fail_if_worse.is_empty() {
        let message = "--by-size and --fail-if-worse: are for two folders";
        return Err(Failure::usage_message(message));
    }
    let sorting = args.sort.of::<Projected>()?;
    let usual = ["wait", "turnaround", "bounded_slowdown", "pairwise_l1"].map(str::to_string);
    let named = if args.measure.is_empty() { &usual[..] } else { &args.measure };
    let measures: Vec<_> =
        named.iter().map(|name| projection::measure(name.trim())).collect::<Result<_, _>>()?;
    let (mut projected, sheets) = projection::of_values(axes, runs, &measures)?;
    if let Some(sorting) = sorting {
        projected.sort_by(|a, b| sorting.order(a, b));
    }
    let printed = args.table.print(&projected, || sheets, &mut stdout());
    printed.map_err(|e| Failure::output("standard output", e))?;
    Ok(Exit::Done)
}

/// Two folders by the starts of their jobs.
fn schedules(
    args: &CompareArgs,
    style: FigureStyle,
    base: &Runs,
    others: &Runs,
) -> Result<Exit, Failure> {
    let sorting = args.sort.of::<Moved>()?;
    let pairs: Vec<Vec<Moved>> = paired(base, others, args.process.quiet)?
        .into_iter()
        .map(|[first, second]| {
            let (names, pairs) = jobs(args, [base, others], [first, second])?;
            Ok(pairs.moves(names.each_ref().map(String::as_str)))
        })
        .collect::<Result<_, Failure>>()?;
    let plots = args.plots.as_deref().map(|dir| Plots::new(dir, style));
    schedule::show(&pairs, args.table, sorting, plots.as_ref())?;
    Ok(Exit::Done)
}

/// The names of two runs, and their jobs in pairs.
fn jobs(
    args: &CompareArgs,
    [base, others]: [&Runs; 2],
    [first, second]: [&RunRow; 2],
) -> Result<([String; 2], Pairs), Failure> {
    same_log([base, others], [first, second])?;
    let jobs = |runs: &Runs, run: &RunRow| read::jobs(&runs.dir, run.run).map_err(bad);
    let pairs = Pairs::new(&jobs(base, first)?, &jobs(others, second)?);
    // Where both have one name, the folders tell them apart.
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
        tell(format_args!(
            "{name} and {other_name}: {} jobs that only one of them has are left out",
            grouped(pairs.unpaired as u64)
        ));
    }
    Ok((names, pairs))
}

/// The runs of a folder that are meant.
struct Runs {
    text: String,
    dir: PathBuf,
    runs: Vec<RunRow>,
    /// What the folder says of itself; null if that cannot be read.
    manifest: serde_json::Value,
}

impl Runs {
    fn read(text: &str) -> Result<Self, Failure> {
        let (dir, number) = match text.rsplit_once(':') {
            // A folder may have a colon in its name.
            Some((dir, number)) if !Path::new(text).exists() => match number.parse::<i64>() {
                Ok(number) => (dir, Some(number)),
                Err(_) => (text, None),
            },
            _ => (text, None),
        };
        let dir = PathBuf::from(dir);
        let mut runs = read::runs(&dir).map_err(bad)?;
        if let Some(number) = number {
            let last = runs.iter().map(|run| run.run).max().unwrap_or(0);
            runs.retain(|run| run.run == number);
            if runs.is_empty() {
                return Err(Failure::usage_message(format!(
                    "{text}: {} has runs 0 to {last}",
                    dir.display()
                )));
            }
        }
        if runs.is_empty() {
            return Err(Failure::data(anyhow::anyhow!("{text} has no runs")));
        }
        let manifest = std::fs::read(dir.join("manifest.json")).ok();
        let manifest = manifest.and_then(|text| serde_json::from_slice(&text).ok());
        Ok(Self { text: text.to_string(), dir, runs, manifest: manifest.unwrap_or_default() })
    }

    /// The digest of a log's text, if the manifest has it.
    fn digest(&self, trace: &str) -> Option<&str> {
        let mut traces = self.manifest["configuration"]["traces"].as_array()?.iter();
        traces.find(|one| one["name"] == trace)?["digest"].as_str()
    }
}

/// Refuses to pair jobs of different logs: equal job numbers are not equal jobs. A log by another name, as at
/// another load, is the same; so is another version of a log by the same name.
fn same_log(runs: [&Runs; 2], rows: [&RunRow; 2]) -> Result<(), Failure> {
    let [(name, digest), (other, other_digest)] =
        [0, 1].map(|i| (rows[i].trace(), runs[i].digest(rows[i].trace())));
    match (digest, other_digest) {
        (Some(digest), Some(other_digest)) if name != other && digest != other_digest => {
            Err(Failure::usage_message(format!(
                "{} is of {name} and {} of {other}: their jobs are not the same ones",
                runs[0].text, runs[1].text
            )))
        }
        _ => Ok(()),
    }
}

/// Which runs are compared.
fn paired<'a>(
    base: &'a Runs,
    others: &'a Runs,
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
            "{} ({} runs) and {} ({} runs) have no run in common: {}; FOLDER:RUN names one",
            base.text,
            base.runs.len(),
            others.text,
            others.runs.len(),
            RunRow::difference(&keys(base), &keys(others))
        )));
    }
    let alone = base.runs.len() + others.runs.len() - 2 * pairs.len();
    if alone > 0 && !quiet {
        tell(format_args!("{alone} runs that only one folder has are left out"));
    }
    Ok(pairs)
}

fn keys(runs: &Runs) -> Vec<&Vec<String>> {
    runs.runs.iter().map(|run| &run.key).collect()
}

fn bad(error: ReadError) -> Failure {
    Failure::data(error)
}

fn measure(option: &str, name: &str) -> Result<usize, Failure> {
    let all: Vec<(&'static str, usize)> = MEASURES.into_iter().zip(0..).collect();
    one(option, name.trim(), &all)
}

fn limit(text: &str) -> Result<(usize, f64), Failure> {
    let wrong = || {
        Failure::usage_message(format!(
            "--fail-if-worse \"{}\": write MEASURE:PERCENT, such as wait:5",
            shown(text)
        ))
    };
    let (name, percent) = text.rsplit_once(':').ok_or_else(wrong)?;
    let percent: f64 = percent.trim().parse().ok().filter(|p: &f64| *p >= 0.0).ok_or_else(wrong)?;
    Ok((measure("--fail-if-worse", name)?, percent))
}
