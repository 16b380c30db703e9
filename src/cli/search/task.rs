//! From arguments to problems.

use std::sync::Arc;

use super::args::{SearchArgs, StrategyArg};
use super::keep;
use crate::cli::args::GridArgs;
use crate::cli::compatible::never_down;
use crate::cli::exit::Failure;
use crate::cli::interrupt::attend;
use crate::cli::journal::of_journal;
use crate::cli::named_value::one;
use crate::cli::resolved_grid::{ResolvedGrid, seeds};
use replay_core::allocator::centre::{Slack, SlackRule, TieVector};
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::workload::Shake;
use replay_experiment::grid::Values;
use replay_experiment::search::{
    Candidate, Constraint, Objective, Problem, Range, SearchError, SearchTrace, Space, split, width,
};
use replay_experiment::{Measure, RunContext, Trace};

/// What a search comes down to.
pub struct SearchTask {
    /// The traces to search, as loaded.
    pub train: ResolvedGrid,
    /// The traces to try on, as loaded, if others.
    pub test: Option<ResolvedGrid>,
    /// What is wanted.
    pub objective: Objective,
    /// What must not happen.
    pub constraints: Vec<Constraint>,
    /// What the user gave to compare with.
    pub given: Vec<Candidate>,
    /// Where local begins.
    pub starts: Vec<Start>,
    /// Each is searched by itself.
    pub searches: Vec<Problem>,
    /// Every trace by itself: those searched, then those to try on.
    pub singles: Vec<Problem>,
    /// How many of `singles` are only tried on.
    pub tests: usize,
    /// The exhaustive grid.
    pub grid: Space,
    /// Where strategies move freely.
    pub free: Space,
    /// Seed of all draws.
    pub seed: u64,
}

/// Where local begins.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Start {
    /// The exhaustive grid.
    Exhaustive,
    /// Ratios drawn at random.
    Random,
    /// A candidate.
    Candidate(Candidate),
}

impl SearchTask {
    /// Resolves arguments, loads and schedules the traces. Everything that can be checked
    /// before a trace is read is. Every trace is measured without tie-breaking.
    pub fn resolve(args: &SearchArgs, watch: RunContext<'_>) -> Result<Self, Failure> {
        check_combination(args)?;
        check_parts(args)?;
        never_down(&args.grid)?;
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
        check_size(args, &slacks)?;
        let [seed] = seeds(&args.grid.seed)?[..] else {
            return Err(Failure::usage_message("--seed: a search takes one"));
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
        // From here on nothing waits for others.
        attend(watch.stop, quiet);
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
        let usual = Space::johnson();
        let most = usual.scan_radii.high.max(widest);
        let grid = Space {
            scan_radii: args.sr.unwrap_or(usual.scan_radii),
            factors: args.factors.unwrap_or(usual.factors),
            largest: args.largest.unwrap_or(usual.largest),
            slacks,
        };
        let free =
            Space { scan_radii: args.sr.unwrap_or(Range { low: 1, high: most }), ..grid.clone() };
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
            return Err(Failure::usage_message("--each: there is one trace to search"));
        }
        if args.scale_sr && singles.len() < 2 {
            let message = "--scale-sr: there is no other trace to try vectors on";
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
            grid,
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
    /// Traces, or the shaken copies of each, as parts; traces have distinct names.
    fn parts(
        &self,
        searched: &[Arc<Trace>],
        held: &[Arc<Trace>],
    ) -> Result<Vec<Vec<SearchTrace>>, Failure> {
        let all: Vec<&Arc<Trace>> = searched.iter().chain(held).collect();
        // Whether something else tells apart traces of one name.
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

/// What failed is the input or what was asked for.
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

/// Before any trace is read: one scheduler, and one allocator that takes a vector and has
/// none.
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

/// The slacks to search: those asked for, or the allocator's own.
fn slacks(texts: &[String], allocator: &AllocatorSpec) -> Result<Vec<Slack>, Failure> {
    let own = allocator.tie_breaking().unwrap_or_default().slack;
    match own {
        SlackRule::Auto => {
            let message =
                format!("{allocator}: a search tries given slacks, not one that is tuned");
            return Err(Failure::usage_message(message));
        }
        SlackRule::Fixed(own) if texts.is_empty() => return Ok(vec![own]),
        SlackRule::Fixed(own) if !own.is_none() => {
            return Err(Failure::usage_message(format!("--slack: {allocator} has one already")));
        }
        SlackRule::Fixed(_) => {}
    }
    listed_slacks(texts)
}

/// The slacks of `--slack`, in ascending order.
fn listed_slacks(texts: &[String]) -> Result<Vec<Slack>, Failure> {
    let listed: Values = texts.iter().map(|text| text.trim()).collect();
    let texts = listed.texts().map_err(|e| Failure::usage_message(format!("--slack: {e}")))?;
    let slacks = texts.iter().map(|text| text.parse::<Slack>());
    let mut slacks = slacks.collect::<Result<Vec<_>, _>>().map_err(Failure::usage)?;
    slacks.sort_unstable();
    slacks.dedup();
    Ok(slacks)
}

/// Before any trace is read: a grid that can be run.
fn check_size(args: &SearchArgs, slacks: &[Slack]) -> Result<(), Failure> {
    let usual = Space::johnson();
    let space = Space {
        scan_radii: args.sr.unwrap_or(usual.scan_radii),
        factors: args.factors.unwrap_or(usual.factors),
        slacks: slacks.to_vec(),
        ..usual
    };
    if space.grid_points() > 100_000_000 {
        return Err(Failure::usage_message(
            "--sr, --factors and --slack make a grid of more than 100,000,000 vectors",
        ));
    }
    Ok(())
}

/// Before any trace is read: whether there are parts that can be done by themselves.
fn check_parts(args: &SearchArgs) -> Result<(), Failure> {
    let refuse = |message: String| Err(Failure::usage_message(message));
    let Some(shard) = args.shard.filter(|shard| !shard.is_whole()) else { return Ok(()) };
    let adaptive = !matches!(args.strategy, StrategyArg::Exhaustive | StrategyArg::Random);
    if adaptive {
        let name = clap::ValueEnum::to_possible_value(&args.strategy);
        let name = name.map(|value| value.get_name().to_string()).unwrap_or_default();
        return refuse(format!(
            "--shard {shard}: {name} asks by what it was answered, so that no part of it can be done \
             beforehand; exhaustive and random have shards, and searches under several --seed are \
             independent of each other"
        ));
    }
    if keep(args).is_some() {
        return refuse(format!(
            "--shard {shard}: which evaluations are stopped depends on all before them: add --spare 0"
        ));
    }
    if args.time.is_some() {
        return refuse(format!("--shard {shard}: with --time nobody knows which vectors are done"));
    }
    let traces = args.grid.trace.iter().chain(&args.test);
    if traces.flat_map(|list| list.split(',')).any(|name| name.trim() == "-") {
        return refuse(format!(
            "--shard {shard}: standard input cannot be read again when the shards are put together"
        ));
    }
    Ok(())
}

fn check_combination(args: &SearchArgs) -> Result<(), Failure> {
    let refuse = |message: &str| Err(Failure::usage_message(message));
    let limit = TieVector::MAX as u32;
    let radii = args.sr.unwrap_or(Space::johnson().scan_radii);
    if radii.low == 0 || radii.high > limit {
        return refuse("--sr: scan radii are 1 to 1,000,000; 0 breaks no tie");
    }
    if args.factors.is_some_and(|factors| factors.high == 0 || factors.high > limit) {
        return refuse("--factors: the largest is 1 to 1,000,000");
    }
    if args.factors.is_some() && !args.takes_grid() {
        return refuse(
            "--factors: this search has no grid; --largest says how large the factors may be",
        );
    }
    if args.largest.is_some() && !args.moves_freely() {
        return refuse("--largest: this search has a grid alone; --factors says which factors");
    }
    if args.split.is_some_and(|share| !(share > 0.0 && share < 1.0)) {
        return refuse("--split: a share is between 0 and 1");
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

/// Where local can begin, but for vectors.
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
                    "--start {vector}: local wants factors that are not negative and break ties"
                );
                return Err(Failure::usage_message(message));
            }
            Ok(Start::Candidate(one))
        }),
    };
    texts.iter().map(start).collect()
}
