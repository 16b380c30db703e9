//! Centre-based allocators: MC1x1 (Bender et al. 2008), Gen-Alg (Krumke et al. 1997) and MM (Bender et al. 2008), in
//! the formulation of Johnson, Bunde, Leung (sections I, II and IV).
//!
//! For each candidate centre, a strategy takes the k free processors nearest to the centre, shell by shell; the last
//! shell may be taken only in part. The strategy computes a score for each set of processors taken in this way. The
//! candidate with the lowest score wins. If scores are equal, the lowest tie value wins; if tie values are equal too,
//! the first candidate in candidate order wins. The module `definition` implements the rule of all centre-based
//! strategies literally, and the fast engines must agree with it.
//!
//! | module | topic |
//! |---|---|
//! | `definition` | the rule of each strategy, evaluated literally; explanations of decisions |
//! | `shell` | gathering a shell, and selecting a part of it |
//! | `mc1x1` | MC1x1, evaluated by box counts |
//! | `batch` | MC1x1 with many tie configurations, replayed at once |
//! | `tuned` | MC1x1 with a self-tuning tie vector |
//! | `pairwise` | Gen-Alg and MM, evaluated by diamonds |
//! | `mc` | MC for jobs with a shape |
//! | `curve` | curves with Best Fit, First Fit, free list, sum of squares |
//! | `ball_counts`, `diamond_counts`, `free_ranks` | counts of free processors in balls and along curves |
//!
//! [`add_to`] adds the strategies to the registries of a program:
//!
//! ```
//! use replay_engine::allocator::Request;
//! use replay_engine::machine::Machine;
//! use replay_engine::registries::Registries;
//!
//! let registries = replay_centre::add_to(Registries::new());
//! let machine = Machine::new("4x4".parse()?);
//! let strategy = registries.allocators.read("mc1x1[tie=2,13,20,6]")?;
//! let mut allocator = strategy.build(machine.topology(), 0)?;
//! let mut chosen = Vec::new();
//! allocator.allocate(&machine, Request::of_size(9), &mut chosen)?;
//! assert_eq!(chosen.len(), 9);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod ball_counts;
mod batch;
mod curve;
mod definition;
mod diamond_counts;
mod free_ranks;
mod mc;
mod mc1x1;
mod pairwise;
mod shell;
#[cfg(test)]
mod test_cases;
mod tuned;

pub use batch::{BatchReplay, ExternalQuery};
pub use curve::CurveOptions;
pub use definition::{CentreOptions, ShellOrder};
use shell::ShellCut;

use std::collections::HashSet;
use std::fmt;

use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::allocator::ties::{SlackRule, TieBreaking, TieRule, WallRule};
use replay_engine::registries::Registries;

use self::definition::{CentreRule, explain};
use self::mc1x1::Mc1x1;
use self::pairwise::Pairwise;
use self::tuned::{DEFAULT_TUNING, TunedMc1x1};
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::loss_model::Tuning;
use replay_engine::allocator::{
    Allocator, AllocatorOptions, BatchBuilder, Capabilities, Refusal, Request, RunSetup, Stats,
    grid_of, settled_by_count,
};
use replay_engine::cancel::{CancelToken, Cancelled};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::topology::{Grid, NodeId, Topology};

/// Adds the strategies of this crate.
pub fn add_to(registries: Registries) -> Registries {
    registries.with_allocators(|all| {
        all.with(table(), AllocatorSpec::parse)
            .with(mc::table(), AllocatorSpec::parse)
            .with(curve::table(), AllocatorSpec::parse)
    })
}

/// A centre-based strategy with all its parameters.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct CentreStrategy {
    rule: Rule,
    breaking: TieBreaking,
    wall: WallRule,
    order: ShellOrder,
    tuning: Tuning,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Rule {
    Mc1x1,
    GenAlg,
    Mm,
}

impl CentreStrategy {
    fn with_defaults(rule: Rule) -> Self {
        Self {
            rule,
            breaking: TieBreaking::default(),
            wall: WallRule::default(),
            order: ShellOrder::default(),
            tuning: DEFAULT_TUNING,
        }
    }

    /// Rejects parameters that exclude each other. Only MC1x1 supports the value `auto`, so the listings of Gen-Alg and
    /// MM do not include it.
    fn check(&self) -> Result<(), String> {
        let problem = match (self.rule, self.breaking.tie, self.breaking.slack) {
            (Rule::Mc1x1, TieRule::Vector(_), SlackRule::Auto) => "slack=auto requires tie=auto",
            (Rule::GenAlg | Rule::Mm, TieRule::Auto, _) => "only mc1x1 supports tie=auto",
            (Rule::GenAlg | Rule::Mm, _, SlackRule::Auto) => "only mc1x1 supports slack=auto",
            _ => return Ok(()),
        };
        Err(problem.to_string())
    }
}

impl AllocatorOptions for CentreStrategy {
    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, String> {
        let grid = grid_of(topology)?;
        let TieBreaking { tie, slack } = self.breaking;
        let options = CentreOptions {
            tie: tie.vector(),
            wall: self.wall,
            order: self.order,
            slack: slack.fixed(),
        };
        Ok(match self.rule {
            Rule::Mc1x1 if tie == TieRule::Auto => {
                if !Mc1x1::<u16>::takes(grid) {
                    return Err("tie=auto supports at most 65,535 points".to_string());
                }
                let tunes_slack = slack == SlackRule::Auto;
                Box::new(TunedMc1x1::new(grid, options, self.tuning, tunes_slack, seed))
            }
            Rule::Mc1x1 if Mc1x1::<u16>::takes(grid) => Box::new(Mc1x1::new(grid, options)),
            Rule::Mc1x1 if Mc1x1::<u32>::takes(grid) => {
                Box::new(Mc1x1::<u32>::counting(grid, options))
            }
            Rule::Mc1x1 => {
                return Err(
                    "the machine is too large for mc1x1: sums over its shells exceed 32 bits"
                        .to_string(),
                );
            }
            Rule::GenAlg => Box::new(Pairwise::gen_alg(grid, options)),
            Rule::Mm => Box::new(Pairwise::mm(grid, options)),
        })
    }

    fn reduced(&self) -> Self {
        let breaking = match self.breaking.tie {
            TieRule::Auto => return *self,
            TieRule::Vector(vector) if !vector.is_indifferent() => {
                TieBreaking { tie: TieRule::Vector(vector.reduced()), ..self.breaking }
            }
            // Without tie values, a candidate with a worse score never wins, so the slack has no effect.
            TieRule::Vector(_) | TieRule::First => TieBreaking::default(),
        };
        Self { breaking, tuning: DEFAULT_TUNING, ..*self }
    }

    fn batch<'a>(&'a self, topology: &'a Topology) -> Option<BatchBuilder<'a>> {
        let grid = topology.grid()?;
        let fits = Mc1x1::<u16>::takes(grid) || Mc1x1::<u32>::takes(grid);
        if self.rule != Rule::Mc1x1 || !fits || self.order == ShellOrder::Greedy {
            return None;
        }
        let options = CentreOptions { wall: self.wall, order: self.order, ..Default::default() };
        Some(Box::new(move |configs| {
            let machine = Machine::new(topology.clone());
            Box::new(BatchReplay::new(&machine, grid, options, configs))
        }))
    }

    fn tie_breaking(&mut self) -> Option<&mut TieBreaking> {
        Some(&mut self.breaking)
    }
}

/// Returns the table of `mc1x1`, `gen-alg` and `mm`.
pub(crate) fn table() -> Table<CentreStrategy> {
    let mc1x1 = entry("mc1x1", Rule::Mc1x1)
        .aliases(&["mc-1x1"])
        .about(
"Square shells around every free processor; least sum of shell numbers, ties by the tie vector. tie=auto \
             tunes the vector during the replay, slack=auto also tunes the slack. With tie=auto, fewer than 10,000 jobs a \
             second on 32x32.",
        )
        .source("Bender et al. 2008; Johnson, Bunde, Leung")
        .param(
            "shadows",
            kind::integer(1..=64),
"tie=auto: number of shadow machines, each replaying the jobs with its own tie vector; the cost grows with this number",
            |s| &mut s.tuning.shadows,
        )
        .param(
            "every",
            kind::integer(16..=1_000_000),
            "tie=auto: number of requests between comparisons of the shadow machines",
            |s| &mut s.tuning.every,
        )
        .param(
            "memory",
            kind::integer(16..=100_000_000),
            "tie=auto: number of requests after which the weight of an observation falls to 1/e",
            |s| &mut s.tuning.memory,
        );
    let gen_alg = entry("gen-alg", Rule::GenAlg)
        .aliases(&["genalg"])
        .about(
            "Diamond shells around every free processor; least sum of pairwise L1 distances. In 3D, fewer than 10,000 \
             jobs a second.",
        )
        .source("Krumke et al. 1997");
    let mm = entry("mm", Rule::Mm)
        .about(
            "Diamond shells around all combinations of coordinates of free processors; least \
             sum of pairwise L1 distances. In 3D, fewer than 10,000 jobs a second.",
        )
        .source("Bender et al. 2008");
    Table::new("allocator", [mc1x1, gen_alg, mm])
}

/// Returns an entry with the parameters common to the centre-based strategies.
fn entry(name: &str, rule: Rule) -> Entry<CentreStrategy> {
    let values = |plain: &str| match rule {
        Rule::Mc1x1 => format!("{plain}|auto"),
        Rule::GenAlg | Rule::Mm => plain.to_string(),
    };
    Entry::new(name, CentreStrategy::with_defaults(rule))
        .param(
            "tie",
            kind::parsed(&values("SR,AF,WF,BF")),
            "tie vector: the scan radius in shells, and the weights of free processors nearby, of own processors along walls, and of busy processors just outside",
            |s| &mut s.breaking.tie,
        )
        .param(
            "wall",
            kind::one_of(&WallRule::ALL),
            "whether a processor in a corner counts once or once per wall",
            |s| &mut s.wall,
        )
        .param(
            "order",
            kind::one_of(&ShellOrder::ALL),
"order in which processors are taken from the last shell if only a part of the shell is needed; greedy builds every candidate and takes one to two hundred times as long: fewer than 10,000 jobs a second on 10x10",
            |s| &mut s.order,
        )
        .param(
            "slack",
            kind::parsed(&values("0..1")),
            "a candidate competes by tie value if its score exceeds the best score by at most this fraction of the best score",
            |s| &mut s.breaking.slack,
        )
        .check(CentreStrategy::check)
}

/// Fast evaluation of a [`CentreRule`] for every shell order except [`ShellOrder::Greedy`].
trait CentreEngine: fmt::Debug + Send {
    /// A candidate of a decision.
    type Candidate: Copy;

    /// Clears all state about the machine.
    fn reset(&mut self);

    /// Returns the winning candidate for `size` processors. `size` must be less than the number of free processors.
    ///
    /// # Errors
    /// [`Cancelled`] if `stop` is cancelled.
    fn winner(
        &mut self,
        machine: &Machine,
        size: usize,
        stop: &CancelToken,
    ) -> Result<Option<Self::Candidate>, Cancelled>;

    /// Returns the candidates with the best score for `size` processors, in candidate order. `size` must be less than
    /// the number of free processors.
    ///
    /// # Errors
    /// [`Cancelled`] if `stop` is cancelled.
    fn tied(
        &mut self,
        machine: &Machine,
        size: usize,
        stop: &CancelToken,
    ) -> Result<Vec<Self::Candidate>, Cancelled>;

    /// Appends the `size` processors of a candidate of the last decision to `chosen`, which must be empty.
    fn collect(
        &mut self,
        machine: &Machine,
        candidate: Self::Candidate,
        size: usize,
        chosen: &mut Vec<NodeId>,
    );
}

/// An allocator of a centre-based strategy.
#[derive(Debug)]
struct CentreAllocator<E> {
    grid: Grid,
    rule: CentreRule,
    engine: E,
    stop: CancelToken,
    explanation: ExplanationLog,
    count_ties: bool,
    /// Number of tied sets of the last request.
    tied: Option<u32>,
}

impl<E: CentreEngine> CentreAllocator<E> {
    /// Creates an allocator for `grid`; `engine` evaluates `rule`.
    fn with_engine(grid: &Grid, rule: CentreRule, engine: E) -> Self {
        Self {
            grid: grid.clone(),
            rule,
            engine,
            stop: CancelToken::new(),
            explanation: ExplanationLog::default(),
            count_ties: false,
            tied: None,
        }
    }

    /// Sets the log for explanations and the token that cancels decisions.
    fn attach(&mut self, explanation: &ExplanationLog, stop: &CancelToken) {
        (self.explanation, self.stop) = (explanation.clone(), stop.clone());
    }

    /// Returns the number of [tied sets](Stats::tied_sets) of a request.
    fn tied_sets(&mut self, machine: &Machine, request: Request) -> Option<u32> {
        let size = request.size as usize;
        if size >= machine.free_count() {
            return (size == machine.free_count()).then_some(1);
        }
        if self.rule.options.order == ShellOrder::Greedy {
            return self.rule.tied_sets(machine, &self.grid, size, &self.stop).ok();
        }
        let mut sets = HashSet::new();
        for candidate in self.engine.tied(machine, size, &self.stop).ok()? {
            self.stop.check().ok()?;
            let mut set = Vec::with_capacity(size);
            self.engine.collect(machine, candidate, size, &mut set);
            set.sort_unstable();
            sets.insert(set);
        }
        Some(sets.len() as u32)
    }
}

impl<E: CentreEngine> Allocator for CentreAllocator<E> {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.attach(&setup.explanation, &setup.stop);
        (self.count_ties, self.tied) = (setup.count_ties, None);
        self.engine.reset();
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        if self.count_ties {
            self.tied = self.tied_sets(machine, request);
        }
        let Self { grid, rule, engine, stop, explanation, .. } = self;
        if settled_by_count(machine, size, chosen)? {
            explanation.sentence(|| "the job takes all free processors".to_string());
            return Ok(());
        }
        if explanation.is_recording() {
            explain(explanation, rule, machine, grid, size, stop)?;
        }
        if rule.options.order == ShellOrder::Greedy {
            let winner = rule.choose(machine, grid, size, stop)?;
            chosen.extend(winner.ok_or(Refusal::Fragmented)?.nodes);
            return Ok(());
        }
        let winner = engine.winner(machine, size, stop)?.ok_or(Refusal::Fragmented)?;
        engine.collect(machine, winner, size, chosen);
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, counts_ties: true, ..Capabilities::default() }
    }

    fn stats(&self) -> Stats {
        Stats { tied_sets: self.tied, ..Stats::default() }
    }
}
