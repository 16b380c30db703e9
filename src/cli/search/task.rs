//! Resolves the arguments of a search into problems.

use std::sync::Arc;

use super::args::{SearchArgs, StrategyArg};
use super::keep;
use crate::cli::args::GridArgs;
use crate::cli::exit::Failure;
use crate::cli::interrupt::cancel_by_signal;
use crate::cli::journal::of_journal;
use crate::cli::named_value::one;
use crate::cli::refused_options::reject_outage_options;
use crate::cli::resolved_grid::{ResolvedGrid, seeds};
use replay_core::allocator::centre::{Slack, SlackRule, TieVector};
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::workload::Shake;
use replay_experiment::grid::Values;
use replay_experiment::search::{
    Candidate, Constraint, Numbers, Objective, Problem, SearchError, SearchTrace, Space, split,
    width,
};
use replay_experiment::{Measure, RunContext, Trace};

/// A search with its traces.
pub struct SearchTask {
    /// Traces to search.
    pub train: ResolvedGrid,
    /// Traces of `--test`.
    pub test: Option<ResolvedGrid>,
    /// The objective.
    pub objective: Objective,
    /// The constraints.
    pub constraints: Vec<Constraint>,
    /// Vectors of `--tie`.
    pub given: Vec<Candidate>,
    /// Starts of the strategy local.
    pub starts: Vec<Start>,
    /// Problems. Each problem is searched separately.
    pub searches: Vec<Problem>,
    /// One problem for each trace: first the searched traces, then the test traces.
    pub singles: Vec<Problem>,
    /// Number of test traces in `singles`.
    pub tests: usize,
    /// The exhaustive grid.
    pub grid: Space,
    /// The space of the other strategies.
    pub free: Space,
    /// Seed of all random numbers.
    pub seed: u64,
}

/// A start of the strategy local.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// The exhaustive grid.
    Exhaustive,
    /// Random ratios.
    Random,
    /// A candidate.
    Candidate(Candidate),
}

impl SearchTask {
    /// Resolves arguments, loads the traces, computes their schedules, and measures each trace without tie-breaking.
    /// Options are checked before a trace is read.
    ///
    /// # Errors
    /// A usage error for a wrong option, a data error for an invalid trace.
    pub fn resolve(args: &SearchArgs, watch: RunContext<'_>) -> Result<Self, Failure> {
        check_combination(args)?;
        check_parts(args)?;
        reject_outage_options(&args.grid)?;
        let shake = args.shake.checked()?;
        let objective: Objective = args.objective.parse().map_err(Failure::usage)?;
        let constraints = args
            .constraint
            .iter()
            .map(|text| text.parse().map_err(Failure::usage))
            .collect::<Result<Vec<Constraint>, _>>()?;
        let mut grid = GridArgs { tie: Vec::new(), ..args.grid.clone() };
        if grid.alloc.is_empty() {
            grid.alloc.push("mc1x1".to_string());
        }
        let slacks = slacks(&args.slack, &check_single(&grid)?)?;
        let given = given(&args.grid.tie, slacks[0])?;
        let starts = starts(&args.start, slacks[0])?;
        let space = space(args, slacks)?;
        let [seed] = seeds(&args.grid.seed)?[..] else {
            return Err(Failure::usage_message("--seed: a search takes one seed"));
        };
        let (measure, quiet) = (Measure::default(), args.output.process.quiet);
        let train = ResolvedGrid::resolve(&grid, None, measure, quiet)?;
        let test = match args.test.is_empty() {
            true => None,
            false => {
                let elsewhere = GridArgs { trace: args.test.clone(), ..grid };
                Some(ResolvedGrid::resolve(&elsewhere, None, measure, quiet)?)
            }
        };
        // Standard input has been read. From here on, the token is checked frequently.
        cancel_by_signal(watch.stop, quiet);
        let allocators = train.allocators();
        let ([scheduler], [allocator]) = (&train.plan.grid.schedulers[..], &allocators[..]) else {
            return Err(one_each());
        };
        let (scheduler, allocator) = (scheduler.clone(), allocator.clone());
        let searched = train.traces.iter().cloned();
        let (searched, held): (Vec<_>, Vec<_>) = match args.split {
            None => (searched.collect(), Vec::new()),
            Some(share) => searched
                .map(|trace| split(&trace, &scheduler, share).map(|[a, b]| (a, b)))
                .collect::<Result<Vec<_>, _>>()
                .map_err(Failure::usage)?
                .into_iter()
                .unzip(),
        };
        let others = test.iter().flat_map(|loaded| loaded.traces.iter().cloned());
        let held: Vec<Arc<Trace>> = held.into_iter().chain(others).collect();
        let widest = searched.iter().map(|trace| width(&trace.topology)).max().unwrap_or(1);
        let radii = args.tie_lists.searched_radii()?;
        let [_, most] = space.scan_radii.ends();
        let all_radii = || (1..=most.max(widest)).collect();
        let free = Space { scan_radii: radii.unwrap_or_else(all_radii), ..space.clone() };
        let maker = Maker {
            scheduler,
            allocator,
            objective: &objective,
            constraints: &constraints,
            shake,
            watch,
        };
        let parts = maker.parts(&searched, &held)?;
        let singles = parts
            .iter()
            .map(|copies| maker.problem(copies.clone()))
            .collect::<Result<Vec<_>, _>>()?;
        let searches = match args.each {
            true => singles[..searched.len()].to_vec(),
            false => vec![maker.problem(parts[..searched.len()].concat())?],
        };
        let tests = held.len();
        if args.each && searches.len() < 2 {
            return Err(Failure::usage_message("--each: needs several traces to search"));
        }
        if args.scale_sr && singles.len() < 2 {
            let message = "--scale-sr: needs another trace on which vectors are tried";
            return Err(Failure::usage_message(message));
        }
        Ok(Self {
            train,
            test,
            objective,
            constraints,
            given,
            starts,
            searches,
            singles,
            tests,
            grid: space,
            free,
            seed,
        })
    }
}

struct Maker<'a> {
    scheduler: SchedulerSpec,
    allocator: AllocatorSpec,
    objective: &'a Objective,
    constraints: &'a [Constraint],
    shake: Option<Shake>,
    watch: RunContext<'a>,
}

impl Maker<'_> {
    /// Returns a part of a problem for each trace or, if there are perturbed copies, for each copy. Traces have
    /// distinct names.
    fn parts(
        &self,
        searched: &[Arc<Trace>],
        held: &[Arc<Trace>],
    ) -> Result<Vec<Vec<SearchTrace>>, Failure> {
        let all: Vec<&Arc<Trace>> = searched.iter().chain(held).collect();
        // Returns whether traces with the same name differ in a property.
        let differ = |trace: &Trace, what: &dyn Fn(&Trace) -> String| {
            let namesakes = all.iter().filter(|other| other.workload.name == trace.workload.name);
            namesakes.map(|other| what(other)).any(|other| other != what(trace))
        };
        let copies = |trace: &&Arc<Trace>| -> Result<Vec<SearchTrace>, Failure> {
            let mut name = trace.workload.name.clone();
            if differ(trace, &|trace| trace.topology.to_string()) {
                name += &format!(" on {}", trace.topology);
            }
            if differ(trace, &|trace| trace.policy.clone()) {
                name += &format!(" cleaned by {}", trace.policy);
            }
            let copies = match self.shake {
                None => vec![Arc::clone(trace)],
                Some(shake) => (1..=shake.copies).map(|copy| trace.shaken(&shake, copy)).collect(),
            };
            let part = |copy| {
                SearchTrace::new(
                    name.clone(),
                    copy,
                    &self.scheduler,
                    self.objective,
                    self.watch.stop,
                )
            };
            copies.into_iter().map(part).collect::<Result<_, _>>().map_err(failure)
        };
        all.iter().map(copies).collect()
    }

    fn problem(&self, parts: Vec<SearchTrace>) -> Result<Problem, Failure> {
        let (objective, constraints) = (self.objective.clone(), self.constraints.to_vec());
        let allocator = self.allocator.clone();
        Problem::new(parts, allocator, objective, constraints, self.watch).map_err(failure)
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

fn one_each() -> Failure {
    Failure::usage_message("a search takes one scheduler (--sched) and one allocator (--alloc)")
}

/// Checks that there is one scheduler and one allocator. The allocator must have a parameter for the tie vector, and
/// the parameter must not be set.
fn check_single(grid: &GridArgs) -> Result<AllocatorSpec, Failure> {
    let schedulers = grid.sched.iter().flat_map(|list| replay_core::naming::split_list(list));
    if schedulers.count() > 1 {
        return Err(one_each());
    }
    let [list] = &grid.alloc[..] else { return Err(one_each()) };
    let [name] = replay_core::naming::split_list(list)[..] else { return Err(one_each()) };
    let allocator: AllocatorSpec = name.parse().map_err(Failure::usage)?;
    if !allocator.takes_tie() || allocator.tie().is_some() {
        return Err(Failure::usage(SearchError::NoTie(allocator.to_string())));
    }
    Ok(allocator)
}

/// Returns the slacks to search: the slacks of `--slack`, or the slack of the allocator.
fn slacks(texts: &[String], allocator: &AllocatorSpec) -> Result<Vec<Slack>, Failure> {
    let own = allocator.tie_breaking().unwrap_or_default().slack;
    match own {
        SlackRule::Auto => {
            let message =
                format!("{allocator}: a search takes fixed slacks (--slack), not slack=auto");
            return Err(Failure::usage_message(message));
        }
        SlackRule::Fixed(own) if texts.is_empty() => return Ok(vec![own]),
        SlackRule::Fixed(own) if !own.is_none() => {
            return Err(Failure::usage_message(format!(
                "--slack: {allocator} already has a slack"
            )));
        }
        SlackRule::Fixed(_) => {}
    }
    listed_slacks(texts)
}

/// Returns the slacks of `--slack` in ascending order.
fn listed_slacks(texts: &[String]) -> Result<Vec<Slack>, Failure> {
    let listed: Values = texts.iter().map(|text| text.trim()).collect();
    let texts = listed.texts().map_err(|e| Failure::usage_message(format!("--slack: {e}")))?;
    let slacks = texts.iter().map(|text| text.parse::<Slack>());
    let mut slacks = slacks.collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    slacks.sort_unstable();
    slacks.dedup();
    Ok(slacks)
}

/// Returns the exhaustive grid.
///
/// # Errors
/// A usage error if a list is out of range, or if the grid is too large.
fn space(args: &SearchArgs, slacks: Vec<Slack>) -> Result<Space, Failure> {
    let refuse = |message: String| Err(Failure::usage_message(message));
    let usual = Space::johnson();
    let limit = TieVector::MAX as u32;
    let scan_radii = args.tie_lists.searched_radii()?.unwrap_or(usual.scan_radii);
    if let [0, _] = scan_radii.ends() {
        return refuse("--sr: scan radii are 1 to 1,000,000; 0 breaks no tie".to_string());
    }
    let factors = args.tie_lists.searched_factors(usual.factors)?;
    let largest = |list: &Numbers| list.ends()[1];
    let option = args.tie_lists.first_factor().unwrap_or("--factors");
    if factors.iter().all(|list| largest(list) == 0) {
        return refuse(format!("{option}: all factors are 0, so no vector breaks a tie"));
    }
    if factors.iter().chain([&scan_radii]).any(|list| largest(list) > limit) {
        return refuse(format!("--sr, {option}: entries must not exceed 1,000,000"));
    }
    let largest = args.largest.unwrap_or(usual.largest);
    let space = Space { scan_radii, factors, largest, slacks };
    if space.grid_points() > 100_000_000 {
        return refuse(format!(
            "--sr, {option} and --slack make a grid of more than 100,000,000 vectors"
        ));
    }
    Ok(space)
}

/// Checks that the search has shards that are independent of each other.
fn check_parts(args: &SearchArgs) -> Result<(), Failure> {
    let refuse = |message: String| Err(Failure::usage_message(message));
    let Some(shard) = args.shard.filter(|shard| !shard.is_whole()) else { return Ok(()) };
    let adaptive = !matches!(args.strategy, StrategyArg::Exhaustive | StrategyArg::Random);
    if adaptive {
        let name = clap::ValueEnum::to_possible_value(&args.strategy);
        let name = name.map(|value| value.get_name().to_string()).unwrap_or_default();
        return refuse(format!(
            "--shard {shard}: {name} chooses vectors by the results of earlier vectors and has no independent parts; \
             exhaustive and random have shards, and searches with several --seed are independent"
        ));
    }
    if keep(args).is_some() {
        return refuse(format!(
            "--shard {shard}: early stopping depends on all earlier evaluations; add --spare 0"
        ));
    }
    if args.time.is_some() {
        return refuse(format!(
            "--shard {shard}: with --time the evaluated vectors depend on the computer; leave out --time"
        ));
    }
    let traces = args.grid.trace.iter().chain(&args.test);
    if traces.flat_map(|list| list.split(',')).any(|name| name.trim() == "-") {
        return refuse(format!(
            "--shard {shard}: standard input cannot be read again by replay merge; name a file"
        ));
    }
    Ok(())
}

fn check_combination(args: &SearchArgs) -> Result<(), Failure> {
    let refuse = |message: &str| Err(Failure::usage_message(message));
    if let Some(option) = args.tie_lists.first_factor().filter(|_| !args.takes_grid()) {
        return Err(Failure::usage_message(format!(
            "{option}: this search has no grid; --largest limits the factors"
        )));
    }
    if args.largest.is_some() && !args.moves_freely() {
        return refuse(
            "--largest: this search evaluates only a grid; --factors sets the factors of the grid",
        );
    }
    if args.split.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
        return refuse("--split: the share must be between 0 and 1");
    }
    match (args.strategy, &args.ask_command) {
        (StrategyArg::External, None) => {
            return refuse("--strategy external needs --ask-command COMMAND");
        }
        (StrategyArg::External, Some(_)) | (_, None) => {}
        (_, Some(_)) => return refuse("--ask-command is for --strategy external"),
    }
    if !args.start.is_empty() && args.strategy != StrategyArg::Local {
        return refuse("--start is for --strategy local");
    }
    Ok(())
}

fn given(ties: &[String], usual: Slack) -> Result<Vec<Candidate>, Failure> {
    let ties = ties.iter().map(|text| text.trim()).filter(|&text| text != "none");
    ties.map(|text| Candidate::parse(text, usual).map_err(Failure::usage)).collect()
}

/// Names of the starts of the strategy local that are not vectors.
const STARTS: [(&str, Start); 2] = [("exhaustive", Start::Exhaustive), ("random", Start::Random)];

fn starts(texts: &[String], usual: Slack) -> Result<Vec<Start>, Failure> {
    if texts.is_empty() {
        return Ok(vec![Start::Exhaustive]);
    }
    let start = |text: &String| match text.trim() {
        word if word.starts_with(char::is_alphabetic) => one("--start", word, &STARTS),
        text => Candidate::parse(text, usual).map_err(Failure::usage).and_then(|one| {
            let vector = one.vector;
            let negative = vector.factors().iter().any(|&f| f < 0);
            if negative || vector.is_indifferent() {
                let message = format!(
                    "--start {vector}: local needs factors that are not negative and break ties"
                );
                return Err(Failure::usage_message(message));
            }
            Ok(Start::Candidate(one))
        }),
    };
    texts.iter().map(start).collect()
}
