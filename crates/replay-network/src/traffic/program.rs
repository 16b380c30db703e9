//! Patterns with the contents of their files.

use std::sync::Arc;

use rand_chacha::ChaCha8Rng;

use super::drawn::{Drawn, DrawnLaw};
use super::exchange::Exchange;
use super::files::{self, TableError};
use super::pattern::{Kind, Pattern, Root, Source, Values};
use super::random::{Purpose, below, stream};
use super::rule::Rule;
use super::table::{Entry, List, Table, Weights};

/// A pattern with the contents of its file, if the pattern names a file.
#[derive(Clone, Debug)]
pub struct Program {
    pattern: Pattern,
    data: Data,
}

/// The contents of a file, and the table that is shared by all jobs with at least as many processes as the file has
/// ranks.
#[derive(Clone, Debug)]
enum Data {
    None,
    Packets(List<u32>, Option<Arc<Table>>),
    Weights(List<f64>, Option<Arc<Weights>>),
}

impl Program {
    /// Loads the file of the pattern, if the pattern names a file.
    ///
    /// # Errors
    /// [`TableError`] with file, line and field if the file cannot be read or is invalid.
    pub fn load(pattern: Pattern) -> Result<Self, TableError> {
        let packets = |list: List<u32>| {
            let whole = Table::new(&list, list.ranks).map(Arc::new);
            Data::Packets(list, whole)
        };
        let data = match pattern.kind() {
            Kind::Matrix { file, values: Values::Packets } => packets(files::packets(file)?),
            Kind::Matrix { file, values: Values::Weights } => {
                let list = files::weights(file)?;
                let whole = Weights::new(&list, list.ranks).map(Arc::new);
                Data::Weights(list, whole)
            }
            Kind::Phases { file } => packets(files::phases(file)?),
            _ => Data::None,
        };
        Ok(Self { pattern, data })
    }

    /// Returns whether jobs draw random numbers. If jobs do not draw random numbers, jobs on the same processors send
    /// the same packets, regardless of their seeds.
    pub fn draws(&self) -> bool {
        let kind = self.pattern.kind();
        kind.is_drawn()
            || matches!(kind, Kind::Random { .. } | Kind::OneToAll { root: Root::Random, .. })
    }

    /// Returns the pattern.
    pub fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    /// Returns the number of ranks in the file; `None` if the pattern names no file.
    pub fn ranks(&self) -> Option<u32> {
        match &self.data {
            Data::None => None,
            Data::Packets(list, _) => Some(list.ranks),
            Data::Weights(list, _) => Some(list.ranks),
        }
    }

    /// Formats the entries of the file: the number of ranks, then a line with step, sender, receiver and value for each
    /// entry. The text is empty if the pattern names no file.
    pub fn content(&self) -> String {
        fn lines<V: Copy + std::fmt::Display>(list: &List<V>) -> String {
            list.entries.iter().fold(format!("{}\n", list.ranks), |text, entry| {
                let Entry { step, src, dst, value } = entry;
                text + &format!("{step} {src} {dst} {value}\n")
            })
        }
        match &self.data {
            Data::None => String::new(),
            Data::Packets(list, _) => lines(list),
            Data::Weights(list, _) => lines(list),
        }
    }

    /// Returns the number of packets in one iteration of `processes` processes; 0 if the processes have no receivers.
    ///
    /// ```
    /// use replay_network::traffic::Program;
    /// let program = Program::load("all-to-all".parse()?)?;
    /// assert_eq!((program.iteration(81), program.iteration(1)), (6480, 0));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn iteration(&self, processes: u32) -> u64 {
        let Some(mut rule) = self.rule(processes, stream(0, 0, Purpose::Pattern)) else { return 0 };
        let mut senders = Vec::new();
        let steps = 0..rule.steps();
        steps
            .map(|step| {
                rule.senders(step, &mut senders);
                senders.iter().map(|&rank| rule.count(step, rank)).sum::<u64>()
            })
            .sum()
    }

    /// Returns the rule for a job with `n` processes; the rule draws its random numbers from `rng`. Returns `None` if
    /// the job sends no packets.
    pub(super) fn rule(&self, n: u32, mut rng: ChaCha8Rng) -> Option<Rule> {
        if n < 2 {
            return None;
        }
        let drawn = |law, rng| Rule::Drawn(Box::new(Drawn::new(law, rng)));
        Some(match (self.pattern.kind(), &self.data) {
            (_, Data::Packets(list, whole)) => Rule::Listed(if n < list.ranks {
                Arc::new(Table::new(list, n)?)
            } else {
                whole.clone()?
            }),
            (_, Data::Weights(list, whole)) => {
                let weights = if n < list.ranks {
                    Arc::new(Weights::new(list, n)?)
                } else {
                    whole.clone()?
                };
                drawn(DrawnLaw::Weighted(weights), rng)
            }
            (&Kind::AllToAll { order }, _) => Rule::AllToAll { n, order },
            (&Kind::OneToAll { root, targets }, _) => {
                let root = if root == Root::Random { below(&mut rng, n) } else { 0 };
                Rule::OneToAll { n, root, targets }
            }
            (Kind::NBody, _) => Rule::Ring { n },
            (&Kind::Fft2d { strides }, _) => Rule::Butterfly { bits: n.ilog2(), strides },
            (&Kind::Multigrid { grid, cycle, steps, active }, _) => {
                Rule::Exchange(Exchange::multigrid(n, grid, cycle, steps, active))
            }
            (&Kind::NearestNeighbour { dimensions, wrap }, _) => {
                Rule::Exchange(Exchange::neighbours(n, dimensions, wrap))
            }
            (Kind::Random { source: Source::Drawn }, _) => drawn(DrawnLaw::Pair(n), rng),
            (Kind::Random { source: Source::Each }, _) => drawn(DrawnLaw::Receivers(n), rng),
            // A pattern with a file is always loaded with the file's contents.
            (Kind::Matrix { .. } | Kind::Phases { .. }, Data::None) => return None,
        })
    }
}
