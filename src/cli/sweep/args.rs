//! Arguments of `replay sweep` and `replay plan`.

use std::path::PathBuf;

use clap::Args;

use crate::cli::args::{GridArgs, ProcessArgs, ShakeArgs};
use crate::cli::baseline::BaselineArg;
use crate::cli::print::{SortArg, TableArgs};
use crate::cli::tie_lists::TieLists;
use replay_experiment::sweep::Shard;

/// A grid, from a file or from options.
#[derive(Clone, Debug, Args)]
pub struct GridChoice {
    /// Grid file (TOML); without a file, the options below define the grid.
    #[arg(value_name = "GRID.toml", conflicts_with_all = ["GridArgs", "TieLists", "ListArgs", "ShakeArgs"])]
    pub file: Option<PathBuf>,

    #[command(flatten)]
    pub grid: GridArgs,

    #[command(flatten)]
    pub shake: ShakeArgs,

    #[command(flatten)]
    pub tie_lists: TieLists,

    #[command(flatten)]
    pub lists: ListArgs,

    /// Accept a grid of more than 100,000 cells.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub yes: bool,

    /// Run one of N parts (1/N to N/N); replay merge combines the parts.
    ///
    /// A part consists of every N-th cell of the grid.
    #[arg(long, value_name = "I/N", help_heading = "Output")]
    pub shard: Option<Shard>,

    #[command(flatten)]
    pub process: ProcessArgs,
}

/// Options for values of allocator parameters, and for what to measure.
#[derive(Clone, Debug, Default, Args)]
#[group(id = "ListArgs", multiple = true)]
pub struct ListArgs {
    /// Try these values of an allocator parameter other than the tie vector: order=greedy,scan or slack=0..0.2:0.05.
    #[arg(long, value_name = "KEY=LIST", help_heading = "Grid", hide_short_help = true)]
    pub param: Vec<String>,

    /// Count tied decisions, at several times the cost.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub ties: bool,

    /// Measure distances only, without diameter, dispersal and components.
    #[arg(
        long = "distances-only",
        alias = "no-placements",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub no_placements: bool,
}

/// Arguments of `replay sweep`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay sweep grid.toml --out out/sweep
  replay sweep --trace KTH-SP2 --sr 1..9 --factors 0..10 --out out/vectors
  replay sweep grid.toml --shard 1/4 --out out/part-1
  replay sweep --trace KTH-SP2 --alloc all --out out/all")]
pub struct SweepArgs {
    #[command(flatten)]
    pub grid: GridChoice,

    /// Write results into this folder.
    ///
    /// The folder contains tables, a manifest, and the journal of finished cells. After an interruption, the same
    /// command continues where it stopped.
    #[arg(
        long,
        value_name = "DIR",
        required_unless_present = "print_config",
        help_heading = "Output"
    )]
    pub out: Option<PathBuf>,

    /// Write the processors of every job (placements.parquet).
    ///
    /// The journal does not contain placements: after an interruption, finished cells run again. This option cannot be
    /// used with --shard.
    #[arg(
        long,
        requires = "out",
        conflicts_with = "shard",
        help_heading = "Output",
        hide_short_help = true
    )]
    pub placements: bool,

    /// Write the table of every job (jobs.parquet), which replay compare needs.
    ///
    /// The journal does not contain this table: after an interruption, finished cells run again. This option cannot be
    /// used with --shard. Perturbed copies have no rows.
    #[arg(long, requires = "out", conflicts_with = "shard", help_heading = "Output")]
    pub job_table: bool,

    #[command(flatten)]
    pub baseline: BaselineArg,

    #[command(flatten)]
    pub sort: SortArg,

    #[command(flatten)]
    pub table: TableArgs,

    /// Replace results of another command or configuration, and results that were changed by hand.
    ///
    /// The journal is also discarded: all cells run again.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub force: bool,

    /// Accept cells that another build of the program ran; the manifest names all builds.
    #[arg(long, conflicts_with = "force", help_heading = "Output", hide_short_help = true)]
    pub other_build: bool,

    /// Run failed cells again.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub retry_failed: bool,

    /// Print the grid as a grid file, with every default, without running it.
    #[arg(long, help_heading = "Output", hide_short_help = true)]
    pub print_config: bool,
}

/// Arguments of `replay plan`.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay plan grid.toml
  replay plan --trace KTH-SP2 --sr 1..9 --factors 0..10
  replay plan grid.toml --shard 1/4 --list --format json")]
pub struct PlanArgs {
    #[command(flatten)]
    pub grid: GridChoice,

    /// Print every cell instead of a summary by kind of cell.
    #[arg(long, help_heading = "Output")]
    pub list: bool,

    /// Do not run samples to estimate the time.
    ///
    /// The estimate is rough: one sample for each kind of cell, all together in about one second, with short queues.
    #[arg(long, help_heading = "Output")]
    pub no_estimate: bool,

    #[command(flatten)]
    pub table: TableArgs,
}
