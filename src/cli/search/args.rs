//! Arguments of `replay search`.

use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::args::{GridArgs, OutputArgs, ShakeArgs};
use crate::cli::print::SortArg;
use crate::cli::shards::ShardArg;
use crate::cli::tie_lists::TieLists;

/// Arguments of `replay search`, as typed.
#[derive(Clone, Debug, Args)]
#[command(after_help = "Examples:
  replay search --trace KTH-SP2 --sr 1..3 --factors 0..5 --out out/search
  replay search --trace KTH-SP2 --strategy local --evaluations 200 --split 0.5
  replay search --trace KTH-SP2 --strategy random --time 10m --tie 2,13,20,6
  replay search --trace KTH-SP2 --shard 1/4 --out out/part-1")]
pub struct SearchArgs {
    #[command(flatten)]
    pub grid: GridArgs,

    #[command(flatten)]
    pub shake: ShakeArgs,

    #[command(flatten)]
    pub sort: SortArg,

    #[command(flatten)]
    pub output: OutputArgs,

    #[command(flatten)]
    pub shard: ShardArg,

    /// Choose the next vectors by this strategy.
    #[arg(long, value_enum, value_name = "NAME", default_value_t, help_heading = "Search")]
    pub strategy: StrategyArg,

    /// Optimize this column: COLUMN[goal=min|max,weights=jobs|size|RANGE:WEIGHT,..].
    ///
    /// COLUMN is a column of the table of runs; a tie vector must be able to change the values of this column. In the
    /// mean of mean_pairwise_l1, the weight of a job is 1 with weights=jobs, or the number of processors of the job
    /// with weights=size. Weights can also be given for ranges of job sizes, as in weights=2..16:3,17..100:1.
    #[arg(
        long,
        value_name = "OBJECTIVE",
        default_value = "mean_pairwise_l1",
        help_heading = "Search",
        hide_short_help = true
    )]
    pub objective: String,

    /// Reject vectors that break this constraint, such as 'worst-class[jobs=20]<=1'; may be repeated.
    ///
    /// SUBJECT<=PERCENT limits by how many percent a subject may be worse than in the run without tie-breaking. A
    /// subject is a column, or worst-class, which is the job size with the largest increase of mean pairwise L1. The
    /// setting jobs=N considers only sizes with at least N jobs, and sizes=A..B considers only these sizes.
    #[arg(long, value_name = "SUBJECT<=PERCENT", help_heading = "Search", hide_short_help = true)]
    pub constraint: Vec<String>,

    #[command(flatten)]
    pub tie_lists: TieLists,

    /// Try these slacks, such as 0,0.1 or 0..0.3:0.05; may be repeated [default: 0].
    ///
    /// A candidate is considered if its score exceeds the best score by at most this share of the best score. The tie
    /// value decides among these candidates. A vector of --tie or --start may include a slack, as in SR,AF,WF,BF@SLACK. A vector without a slack
    /// has the smallest slack of this list.
    #[arg(
        long,
        value_name = "LIST",
        value_delimiter = ',',
        help_heading = "Tie vectors",
        hide_short_help = true
    )]
    pub slack: Vec<String>,

    /// Allow factors up to N in the vectors that the strategies random, local and external choose [default: 100].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Search", hide_short_help = true)]
    pub largest: Option<u32>,

    /// Stop after N evaluations, including those of --start [default: random 500, local 1000 after its start].
    ///
    /// Before a search, a message states how many evaluations follow at most.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000), help_heading = "Search")]
    pub evaluations: Option<u64>,

    /// Stop after this time, such as 90s, 10m or 1h; results then depend on the computer.
    ///
    /// With --each, the time is divided among the traces. Given vectors, and vectors found on other traces, are
    /// evaluated even if the time is up.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Search")]
    pub time: Option<Duration>,

    /// Start the strategy local from a vector, or from the results of exhaustive or random; may be repeated [default:
    /// 2,1,1,1].
    #[arg(long, value_name = "START", help_heading = "Search", hide_short_help = true)]
    pub start: Vec<String>,

    /// Run this shell command, which chooses the vectors of --strategy external.
    #[arg(long, value_name = "COMMAND", help_heading = "Search", hide_short_help = true)]
    pub ask_command: Option<String>,

    /// Test the found vectors on this trace as well; may be repeated.
    #[arg(long, value_name = "TRACE", help_heading = "Search", hide_short_help = true)]
    pub test: Vec<String>,

    /// Search on the first part of each trace, up to this share of its time, and test on the later jobs.
    #[arg(long, value_name = "SHARE", help_heading = "Search")]
    pub split: Option<f64>,

    /// Search each trace separately and try the best vector of each trace on all traces.
    #[arg(long, help_heading = "Search", hide_short_help = true)]
    pub each: bool,

    /// Scale scan radii with the width of the machine on which a vector is tried.
    #[arg(long, help_heading = "Search", hide_short_help = true)]
    pub scale_sr: bool,

    /// Print the N best vectors.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Search", hide_short_help = true)]
    pub top: u32,

    /// Stop evaluations that cannot be among the N best; 0 stops none [default: 10 for random, else 0].
    ///
    /// Stopping does not change the N best of the evaluated vectors: a stopped vector can no longer become one of the N
    /// best, because sums only grow. For a stopped vector, the result has an upper bound of the improvement instead of
    /// the improvement. The strategies named local and external choose vectors by the values of earlier vectors, so
    /// this option may change their choices.
    #[arg(long, value_name = "N", help_heading = "Search", hide_short_help = true)]
    pub spare: Option<u32>,
}

/// `--strategy`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum StrategyArg {
    /// Every ratio of the grid, once.
    #[default]
    Exhaustive,
    /// Ratios near the best ratio so far, with restarts.
    Local,
    /// Random ratios.
    Random,
    /// Vectors chosen by another program, see --ask-command.
    External,
}

fn duration(text: &str) -> Result<Duration, String> {
    let error = || "write a number and s, m or h, such as 90s, 10m, 1h".to_string();
    let unit = text.chars().last().ok_or_else(error)?;
    let seconds = match unit {
        's' => 1.0,
        'm' => 60.0,
        'h' => 3600.0,
        _ => return Err(error()),
    };
    let number: f64 = text[..text.len() - 1].trim().parse().map_err(|_| error())?;
    Duration::try_from_secs_f64(number * seconds)
        .ok()
        .filter(|time| !time.is_zero() && time.as_secs() < 10_000_000)
        .ok_or_else(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_read() {
        assert_eq!(duration("90s"), Ok(Duration::from_secs(90)));
        assert_eq!(duration("1.5h"), Ok(Duration::from_secs(5400)));
        for bad in ["", "10", "m", "-1s", "0s", "nans", "infh", "1d", "5é"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
