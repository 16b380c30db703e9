//! Options of the main job for a site, as typed.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use replay_site::replay::LimitRule;

/// `--limits`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum LimitsArg {
    /// A job ends at its time limit.
    #[default]
    Kill,
    /// A job runs for its recorded run time.
    Ignore,
}

impl From<LimitsArg> for LimitRule {
    fn from(arg: LimitsArg) -> Self {
        match arg {
            LimitsArg::Kill => LimitRule::Kill,
            LimitsArg::Ignore => LimitRule::Ignore,
        }
    }
}

/// `--priorities`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
pub enum PrioritiesArg {
    /// Priorities are calculated.
    #[default]
    Calculated,
    /// Jobs with a priority in the side file keep it.
    Recorded,
}

/// The site of the main job, as typed.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "Site")]
pub struct SiteRunArgs {
    /// Read the site from this folder, or from this slurm.conf and the files beside it.
    ///
    /// The site is for --sched slurm. The folder has the file slurm.conf and, if they exist, qos.txt (the output of
    /// sacctmgr -P show qos), assoc.txt (the output of sacctmgr -P show assoc with the columns ID, Account, User, Share,
    /// ParentName and those of limits), and topology.conf or topology.yaml. Users, accounts, partitions and QOS of the
    /// jobs are read from the file TRACE.site.csv beside the trace, if it exists. With --strict, keys and options without
    /// effect are errors.
    #[arg(long, value_name = "DIR|FILE", hide_short_help = true)]
    pub site: Option<PathBuf>,

    /// Select the cluster of assoc.txt, if the file has several.
    #[arg(long, value_name = "NAME", requires = "site", hide_short_help = true)]
    pub cluster: Option<String>,

    /// Treat time limits of jobs (field 9) by this rule.
    #[arg(long, value_enum, value_name = "RULE", default_value_t, hide_short_help = true)]
    pub limits: LimitsArg,

    /// Use these priorities: those of the site, or those recorded in the side file.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t, hide_short_help = true)]
    pub priorities: PrioritiesArg,
}
