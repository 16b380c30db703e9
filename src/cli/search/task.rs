//! Resolves the arguments of a search into its settings, and loads its traces.

use super::args::{SearchArgs, StrategyArg};
use crate::cli::args::GridArgs;
use crate::cli::exit::Failure;
use crate::cli::interrupt::cancel_by_signal;
use crate::cli::journal::of_journal;
use crate::cli::named_value::one;
use crate::cli::named_value::trace_names;
use crate::cli::session::Session;
use crate::cli::strategy_selection;
use crate::cli::sweep::{ListArgs, of_flags};
use crate::cli::tie_lists::TieLists;
use replay_engine::allocator::ties::Slack;
use replay_engine::registries::Registries;
use replay_experiment::RunContext;
use replay_experiment::grid::{ParameterGrid, Values};
use replay_experiment::resolve::ResolvedGrid;
use replay_experiment::search::{
    Candidate, Constraint, SearchError, SearchSpec, SearchTask, Space, Start, Strategy,
};

/// The settings of a search, and its grid with all names looked up.
pub struct ResolvedSearch {
    spec: SearchSpec,
    train: ParameterGrid,
    test: Option<ParameterGrid>,
}

impl ResolvedSearch {
    /// Checks settings before a trace is read.
    ///
    /// # Errors
    /// A usage error for an invalid setting.
    pub fn new(spec: SearchSpec, grid: ParameterGrid) -> Result<Self, SearchError> {
        let (train, test) = SearchTask::grids(&spec, grid)?;
        Ok(Self { spec, train, test })
    }

    /// Resolves arguments.
    ///
    /// # Errors
    /// A usage error for a wrong option.
    pub fn of(registries: &Registries, args: &SearchArgs) -> Result<Self, Failure> {
        let grid = GridArgs { tie: Vec::new(), ..args.grid.clone() };
        let grid = of_flags(registries, &grid, &TieLists::default(), &ListArgs::default(), None)?;
        let slacks = slacks(&args.slack)?;
        let usual = slacks[0];
        let parsed = |text: &String| text.parse().map_err(Failure::usage);
        let factors = args.tie_lists.first_factor();
        let spec = SearchSpec {
            grid: grid.file.clone(),
            test: trace_names(&args.test),
            objective: args.objective.parse().map_err(Failure::usage)?,
            constraints: args
                .constraint
                .iter()
                .map(parsed)
                .collect::<Result<Vec<Constraint>, _>>()?,
            strategy: strategy(args, usual)?,
            given: given(&args.grid.tie, usual)?,
            scan_radii: args.tie_lists.searched_radii()?,
            factors: factors
                .map(|_| args.tie_lists.searched_factors(Space::johnson().factors))
                .transpose()?,
            largest: args.largest,
            slacks,
            evaluations: args.evaluations,
            time: args.time,
            split: args.split,
            each: args.each,
            scale_sr: args.scale_sr,
            shake: args.shake.checked()?,
            top: args.top,
            spare: args.spare,
        };
        let divided = args.shard.shard().map_or(Ok(()), |shard| spec.check_shard(shard));
        divided.and_then(|()| Self::new(spec, grid)).map_err(|error| match (error, factors) {
            // Name the option that was given.
            (SearchError::Settings(text), Some(option)) if !text.starts_with("--largest") => {
                Failure::usage_message(text.replacen("--factors", option, 1))
            }
            (error, _) => failure(error),
        })
    }

    /// Loads the traces, computes their schedules, and measures each trace without tie-breaking. The session lists the
    /// files in the manifest.
    ///
    /// # Errors
    /// A usage error for settings that do not fit the traces; a data error for an invalid trace.
    pub fn load(self, session: &mut Session, watch: RunContext<'_>) -> Result<SearchTask, Failure> {
        let Self { spec, train, test } = self;
        let quiet = session.is_quiet();
        let load = |grid| strategy_selection::load(grid, None, quiet);
        let (train, test) = (load(train)?, test.map(load).transpose()?);
        session.reads(train.inputs());
        session.reads(test.iter().flat_map(ResolvedGrid::inputs));
        // Standard input has been read. From here on, the token is checked frequently.
        cancel_by_signal(watch.stop, quiet);
        SearchTask::new(spec, train, test, watch).map_err(failure)
    }
}

/// Converts an error of a search: invalid input is a data error, all other errors are usage errors.
pub fn failure(error: SearchError) -> Failure {
    match error {
        SearchError::Cancelled(_) => Failure::interrupted(),
        SearchError::Journal(error) => of_journal(error),
        SearchError::Simulation { .. } | SearchError::Protocol { .. } => Failure::data(error),
        _ => Failure::usage(error),
    }
}

/// Returns the slacks of `--slack` in ascending order; by default, no slack.
fn slacks(texts: &[String]) -> Result<Vec<Slack>, Failure> {
    if texts.is_empty() {
        return Ok(vec![Slack::NONE]);
    }
    let listed: Values = texts.iter().map(|text| text.trim()).collect();
    let texts = listed.texts().map_err(|e| Failure::usage_message(format!("--slack: {e}")))?;
    let slacks = texts.iter().map(|text| text.parse::<Slack>());
    let mut slacks = slacks.collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    slacks.sort_unstable();
    slacks.dedup();
    Ok(slacks)
}

/// Returns the strategy with the options that only this strategy has.
fn strategy(args: &SearchArgs, usual: Slack) -> Result<Strategy, Failure> {
    let refuse = |message: &str| Err(Failure::usage_message(message));
    if args.ask_command.is_some() && args.strategy != StrategyArg::External {
        return refuse("--ask-command is for --strategy external");
    }
    if !args.start.is_empty() && args.strategy != StrategyArg::Local {
        return refuse("--start is for --strategy local");
    }
    match (args.strategy, &args.ask_command) {
        (StrategyArg::Exhaustive, _) => Ok(Strategy::Exhaustive),
        (StrategyArg::Random, _) => Ok(Strategy::Random),
        (StrategyArg::External, Some(command)) => Ok(Strategy::External(command.clone())),
        (StrategyArg::External, None) => refuse("--strategy external needs --ask-command COMMAND"),
        (StrategyArg::Local, _) => {
            let start = |text: &String| match text.trim() {
                word if word.starts_with(char::is_alphabetic) => {
                    one("--start", word, &Start::NAMES)
                }
                text => Candidate::parse(text, usual).map(Start::Candidate).map_err(Failure::usage),
            };
            args.start.iter().map(start).collect::<Result<_, _>>().map(Strategy::Local)
        }
    }
}

fn given(ties: &[String], usual: Slack) -> Result<Vec<Candidate>, Failure> {
    let ties = ties.iter().map(|text| text.trim()).filter(|&text| text != "none");
    ties.map(|text| Candidate::parse(text, usual).map_err(Failure::usage)).collect()
}
