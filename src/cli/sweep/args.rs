use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{GridArgs, ProcessArgs, ShakeArgs};
use crate::cli::baseline::BaselineArg;
use crate::cli::print::SortArg;
use replay_experiment::sweep::Shard;

/// A grid, from a file or from flags.
#[derive(Clone, Debug, Args)]
pub struct GridChoice {
    /// Grid file (TOML); the flags below say the same without one.
    #[arg(value_name = "GRID.toml", conflicts_with_all = ["GridArgs", "ListArgs", "ShakeArgs"])]
    pub file: Option<PathBuf>,

    /// What there is to run.
    #[command(flatten)]
    pub grid: GridArgs,

    /// Copies of the traces.
    #[command(flatten)]
    pub shake: ShakeArgs,

    /// Lists of parameters.
    #[command(flatten)]
    pub lists: ListArgs,

    /// Run a grid of more than 100,000 cells.
    #[arg(long, help_heading = "Output")]
    pub yes: bool,

    /// Only one of n parts of the grid, 1/n to n/n: every n-th cell.
    #[arg(long, value_name = "I/N", help_heading = "Output")]
    pub shard: Option<Shard>,

    #[command(flatten)]
    pub process: ProcessArgs,
}

/// Lists of parameters for every allocator that has them.
#[derive(Clone, Debug, Default, Args)]
#[group(id = "ListArgs", multiple = true)]
pub struct ListArgs {
    /// Scan radii of tie vectors: 2, 1,2,5 or 1..9; with --af, --wf and --bf.
    #[arg(long, value_name = "LIST", requires_all = ["af", "wf", "bf"], conflicts_with = "tie", help_heading = "Lists")]
    pub sr: Option<String>,

    /// Weights of free processors nearby.
    #[arg(
        long,
        value_name = "LIST",
        requires = "sr",
        allow_hyphen_values = true,
        help_heading = "Lists"
    )]
    pub af: Option<String>,

    /// Weights of own processors along walls.
    #[arg(
        long,
        value_name = "LIST",
        requires = "sr",
        allow_hyphen_values = true,
        help_heading = "Lists"
    )]
    pub wf: Option<String>,

    /// Weights of busy processors just outside.
    #[arg(
        long,
        value_name = "LIST",
        requires = "sr",
        allow_hyphen_values = true,
        help_heading = "Lists"
    )]
    pub bf: Option<String>,

    /// Values of any other parameter: order=greedy,scan or slack=0..0.2:0.05.
    #[arg(long, value_name = "KEY=LIST", help_heading = "Lists")]
    pub param: Vec<String>,

    /// Count tied decisions (several times the cost).
    #[arg(long, help_heading = "Lists")]
    pub ties: bool,

    /// Measure distances only: no diameter, dispersal, components.
    #[arg(long = "distances-only", alias = "no-placements", help_heading = "Lists")]
    pub no_placements: bool,
}

/// Arguments of `replay sweep`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay sweep grid.toml --out out/sweep
  replay sweep --trace KTH-SP2 --sr 1..9 --af 0..10 --wf 0..10 --bf 0..10 --out out/vectors
  replay sweep grid.toml --shard 1/4 --out out/part-1
  replay sweep --trace KTH-SP2 --alloc all --out out/all")]
pub struct SweepArgs {
    /// The grid.
    #[command(flatten)]
    pub grid: GridChoice,

    /// Folder of the journal and the results; a second run with the same folder goes on.
    #[arg(
        long,
        value_name = "DIR",
        required_unless_present = "print_config",
        help_heading = "Output"
    )]
    pub out: Option<PathBuf>,

    /// Write which processors each job was given in every cell (placements.parquet).
    ///
    /// The journal does not keep them: every cell is run once more when all are done. Not with --shard.
    #[arg(long, requires = "out", conflicts_with = "shard", help_heading = "Output")]
    pub placements: bool,

    /// Write the table of every job of every cell (jobs.parquet), which `compare` pairs jobs by.
    ///
    /// The journal does not keep it: every cell is run once more when all are done. Not with --shard. Of shaken
    /// copies there are no rows.
    #[arg(long, requires = "out", conflicts_with = "shard", help_heading = "Output")]
    pub job_table: bool,

    /// What it is printed beside.
    #[command(flatten)]
    pub baseline: BaselineArg,

    /// The order of the runs that are printed.
    #[command(flatten)]
    pub sort: SortArg,

    /// Forget what the folder's journal has and begin anew; replace results of another command or grid.
    #[arg(long, help_heading = "Output")]
    pub force: bool,

    /// Go on although another build of the program began; the manifest names all of them.
    #[arg(long, conflicts_with = "force", help_heading = "Output")]
    pub other_build: bool,

    /// Run cells again that failed before.
    #[arg(long, help_heading = "Output")]
    pub retry_failed: bool,

    /// Print the grid as a file, with every default, and run nothing.
    #[arg(long, help_heading = "Output")]
    pub print_config: bool,
}

/// Arguments of `replay plan`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay plan grid.toml
  replay plan --trace KTH-SP2 --sr 1..9 --af 0..10 --wf 0..10 --bf 0..10
  replay plan grid.toml --shard 1/4 --list")]
pub struct PlanArgs {
    /// The grid.
    #[command(flatten)]
    pub grid: GridChoice,

    /// Print every cell as a JSON object on a line of its own, instead of a summary.
    #[arg(long, help_heading = "Output")]
    pub list: bool,

    /// Run no samples to estimate the time.
    ///
    /// The estimate is rough: samples take one second for the whole grid and see short queues.
    #[arg(long, help_heading = "Output")]
    pub no_estimate: bool,
}
