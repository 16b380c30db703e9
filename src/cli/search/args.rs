use std::time::Duration;

use clap::{Args, ValueEnum};

use crate::cli::args::{GridArgs, OutputArgs, ShakeArgs};
use crate::cli::print::SortArg;
use replay_experiment::search::Range;
use replay_experiment::sweep::Shard;

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

    /// The order of what is printed.
    #[command(flatten)]
    pub sort: SortArg,

    #[command(flatten)]
    pub output: OutputArgs,

    /// Only one of n parts of the vectors, 1/n to n/n: every n-th; replay merge puts them together.
    ///
    /// For exhaustive and random with --spare 0. The other strategies ask by what they were answered: no
    /// part of such a search can be done beforehand.
    #[arg(long, value_name = "I/N", requires = "out", help_heading = "Output")]
    pub shard: Option<Shard>,

    /// How the next vectors are chosen.
    #[arg(long, value_enum, value_name = "NAME", default_value_t, help_heading = "Search")]
    pub strategy: StrategyArg,

    /// What is wanted: COLUMN[goal=min|max,weights=jobs|size|RANGE:WEIGHT,..].
    ///
    /// COLUMN is one of the table of runs that a tie vector can change. Weights are those of the
    /// jobs in the mean of mean_pairwise_l1: all equal (jobs), the number of processors (size), or
    /// by job size, as in weights=2..16:3,17..100:1.
    #[arg(
        long,
        value_name = "OBJECTIVE",
        default_value = "mean_pairwise_l1",
        help_heading = "Search"
    )]
    pub objective: String,

    /// What must not happen, such as 'worst-class[jobs=20]<=1'; may be repeated.
    ///
    /// SUBJECT<=PERCENT: how much a subject may be worse than without tie-breaking. A subject is a
    /// column, or worst-class: the job size whose mean pairwise L1 worsens most, with jobs=N among
    /// those of at least N jobs, with sizes=A..B among these.
    #[arg(long, value_name = "SUBJECT<=PERCENT", help_heading = "Search")]
    pub constraint: Vec<String>,

    /// Scan radii [default: 1..9; beyond the exhaustive grid as far as the machine is wide].
    #[arg(long, value_name = "A..B", help_heading = "Search")]
    pub sr: Option<Range>,

    /// Factors of the exhaustive grid, of which each ratio is visited once [default: 0..10].
    #[arg(long, value_name = "A..B", help_heading = "Search")]
    pub factors: Option<Range>,

    /// Slacks to try, such as 0,0.1 or 0..0.3:0.05; may be repeated [default: 0].
    ///
    /// The share of the best score by which a candidate may be worse and still compete by tie
    /// value. Vectors for --tie and --start may name one, SR,AF,WF,BF@SLACK; without it they have
    /// the least of these.
    #[arg(long, value_name = "LIST", value_delimiter = ',', help_heading = "Search")]
    pub slack: Vec<String>,

    /// Largest factor of strategies that move freely [default: 100].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000), help_heading = "Search", hide_short_help = true)]
    pub largest: Option<u32>,

    /// Evaluations at most [default: random 500, local 1000 after its start].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000), help_heading = "Search")]
    pub evaluations: Option<u64>,

    /// Time at most, such as 90s, 10m, 1h. What is found then depends on the machine.
    ///
    /// With --each the time is shared among the traces. Given vectors, and those found on other
    /// traces, are tried after it.
    #[arg(long, value_name = "TIME", value_parser = duration, help_heading = "Search")]
    pub time: Option<Duration>,

    /// Where local begins: exhaustive, random, or vectors; may be repeated.
    #[arg(long, value_name = "START", help_heading = "Search")]
    pub start: Vec<String>,

    /// The program that asks, for --strategy external; a command of the shell.
    #[arg(long, value_name = "COMMAND", help_heading = "Search")]
    pub ask_command: Option<String>,

    /// Try the vectors found on these traces as well; may be repeated.
    #[arg(long, value_name = "TRACE", help_heading = "Search")]
    pub test: Vec<String>,

    /// Search before this share of each trace's time, test after it.
    #[arg(long, value_name = "SHARE", help_heading = "Search")]
    pub split: Option<f64>,

    /// Search each trace by itself and try the best vectors of each on all.
    #[arg(long, help_heading = "Search")]
    pub each: bool,

    /// On a test trace scale scan radii with the machine's width.
    #[arg(long, help_heading = "Search", hide_short_help = true)]
    pub scale_sr: bool,

    /// Vectors to print.
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000), help_heading = "Search")]
    pub top: u32,

    /// Stop evaluations that cannot be among the N best; 0: never [default: 10 for random, else 0].
    ///
    /// Among the vectors evaluated this never changes which are the N best: sums only grow. The
    /// others then have an upper bound in place of a value. Strategies that go by values (local,
    /// external) may then go other ways.
    #[arg(long, value_name = "N", help_heading = "Search", hide_short_help = true)]
    pub spare: Option<u32>,
}

impl SearchArgs {
    /// Whether the exhaustive grid has a part in the search.
    pub fn takes_grid(&self) -> bool {
        match self.strategy {
            StrategyArg::Exhaustive => true,
            StrategyArg::Local => {
                self.start.is_empty() || self.start.iter().any(|start| start.trim() == "exhaustive")
            }
            StrategyArg::Random | StrategyArg::External => false,
        }
    }

    /// Whether some part of the search moves freely.
    pub fn moves_freely(&self) -> bool {
        self.strategy != StrategyArg::Exhaustive
    }
}

/// `--strategy`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum StrategyArg {
    /// Every ratio of the grid.
    #[default]
    Exhaustive,
    /// Near the best so far, with restarts.
    Local,
    /// Ratios drawn at random.
    Random,
    /// Another program, see --ask-command.
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
