//! Curve-based allocation: a linear order of the processors, and a rule that selects processors
//! from this order.
//!
//! Sources: Leung et al. 2002 (orders from space-filling curves, Best Fit, First Fit, Sum of
//! Squares adapted from bin packing); Lo et al. 1997 (Paging with one-processor pages, here
//! `free-list`); Johnson, Bunde, Leung (section IV, Fig. 18). An *interval* is a maximal run of
//! free processors with consecutive ranks. Cost per decision: one step per changed row of the
//! machine, and the search for intervals, which examines 64 ranks at a time.

use crate::free_ranks::FreeRanks;
use replay_engine::allocator::explain::{ExplanationLog, Listing};
use replay_engine::allocator::{
    Allocator, AllocatorOptions, Capabilities, Refusal, Request, RunSetup, grid_of, require_free,
};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::topology::curve::Curve;
use replay_engine::topology::{Grid, NodeId, Topology};

/// Rule that selects processors from the order.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Fit {
    /// The smallest interval that can hold the job. If several intervals have this size, the
    /// interval with the lowest rank is selected.
    Best,
    /// The first interval that can hold the job.
    First,
    /// The free processors of lowest rank. Intervals do not matter.
    FreeList,
    /// The interval whose use minimises the sum of squares: for each length, the number of
    /// intervals of that length is squared, and the squares are added. If several intervals are
    /// equally good, the interval with the lowest rank is selected (Csirik et al., after Leung et
    /// al. 2002).
    SumOfSquares,
}

impl Fit {
    /// Every fit with its name.
    pub const ALL: [(&'static str, Fit); 4] = [
        ("best-fit", Fit::Best),
        ("first-fit", Fit::First),
        ("free-list", Fit::FreeList),
        ("sum-of-squares", Fit::SumOfSquares),
    ];
}

/// Allocation along a curve.
#[derive(Debug)]
pub struct CurveAllocator {
    order: Vec<NodeId>,
    fit: Fit,
    free: FreeRanks,
    intervals: Vec<Interval>,
    /// Number of intervals by length, for [`Fit::SumOfSquares`].
    lengths: Vec<u32>,
    ranks: Vec<u32>,
    explanation: ExplanationLog,
}

#[derive(Clone, Copy, Debug)]
struct Interval {
    first: usize,
    length: usize,
}

impl CurveAllocator {
    /// Creates an allocator for `grid`.
    pub fn new(grid: &Grid, curve: Curve, fit: Fit) -> Self {
        Self::along(curve.order(grid), fit)
    }

    /// Creates an allocator for any linear order of all processors of a machine.
    pub fn along(order: Vec<NodeId>, fit: Fit) -> Self {
        Self {
            fit,
            free: FreeRanks::new(&order),
            intervals: Vec::new(),
            lengths: vec![0; order.len() + 1],
            ranks: Vec::new(),
            explanation: ExplanationLog::default(),
            order,
        }
    }

    fn find_intervals(&mut self) {
        self.intervals.clear();
        let runs = self.free.runs().map(|(first, length)| Interval { first, length });
        self.intervals.extend(runs);
    }

    /// Returns the rank of the first processor of the chosen interval; `None` if no interval can
    /// hold `size`.
    fn choose(&mut self, size: usize) -> Option<usize> {
        let holds = self.intervals.iter().filter(|interval| interval.length >= size);
        let chosen = match self.fit {
            Fit::FreeList => None,
            Fit::First => holds.copied().next(),
            // `min_by_key` keeps the first of equal elements.
            Fit::Best => holds.copied().min_by_key(|interval| interval.length),
            Fit::SumOfSquares => {
                self.lengths.fill(0);
                for interval in &self.intervals {
                    self.lengths[interval.length] += 1;
                }
                holds.copied().min_by_key(|interval| self.change(*interval, size))
            }
        };
        chosen.map(|interval| interval.first)
    }

    /// Returns by how much the sum of squares changes if a job of `size` is placed in the interval.
    fn change(&self, interval: Interval, size: usize) -> i64 {
        let number = |length: usize| i64::from(self.lengths[length]);
        let rest = interval.length - size;
        let gained = if rest == 0 { 0 } else { 2 * number(rest) + 1 };
        gained - 2 * number(interval.length) + 1
    }

    /// Records the intervals and the winner.
    fn explain(&mut self, size: usize) {
        let chosen = self.choose(size);
        let with_change = self.fit == Fit::SumOfSquares;
        let row = |interval: &Interval| {
            let Interval { first, length } = *interval;
            let holds = length >= size;
            let mut row = vec![
                format!("{first}-{}", first + length - 1),
                length.to_string(),
                if holds { "yes" } else { "no" }.to_string(),
            ];
            let change = || self.change(*interval, size).to_string();
            row.extend(with_change.then(|| if holds { change() } else { String::new() }));
            row.push(if chosen == Some(first) { "taken" } else { "" }.to_string());
            row
        };
        let mut columns = vec!["ranks", "length", "holds the job"];
        columns.extend(with_change.then_some("change of the sum of squares"));
        columns.push("");
        let about = "runs of free processors along the curve, by rank";
        self.explanation.list(|| Listing::of(about, &columns, self.intervals.iter().map(row)));
        self.explanation.sentence(|| match (chosen, self.fit) {
            (None, _) => {
                format!("no run holds {size} processors: the window of {size} free processors in curve order with the least span is taken (if several are equal, the first)")
            }
            (Some(first), Fit::First) => format!("the first run that holds {size} begins at rank {first}"),
            (Some(first), Fit::Best) => format!("the shortest run that holds {size} (if several are equally short, the first) begins at rank {first}"),
            (Some(first), _) => format!("the chosen run begins at rank {first}: its use leaves the least sum of squares, with one square for each run length (the squared number of runs of this length); if several runs are equal, the first is taken"),
        });
        let from = chosen.unwrap_or(0);
        if chosen.is_some() {
            self.explanation.winner(self.order[from..from + size].to_vec());
        }
    }

    /// Returns the start of the first window with the smallest span (last rank minus first rank). A
    /// window consists of `size` free processors that are consecutive among the free processors.
    /// This function is called if no interval can hold the job.
    fn least_span(&mut self, size: usize) -> usize {
        self.ranks.clear();
        for interval in &self.intervals {
            self.ranks.extend((interval.first..interval.first + interval.length).map(|r| r as u32));
        }
        let span = |first: &usize| self.ranks[first + size - 1] - self.ranks[*first];
        (0..=self.ranks.len() - size).min_by_key(span).unwrap_or(0)
    }
}

impl Allocator for CurveAllocator {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.free.reset();
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        require_free(machine, request.size.into())?;
        self.free.update(machine);
        if self.fit == Fit::FreeList {
            chosen.extend(self.free.iter().take(size).map(|rank| self.order[rank]));
            self.explanation.sentence(|| {
                "the job gets the free processors of lowest rank along the curve".to_string()
            });
            return Ok(());
        }
        self.find_intervals();
        if self.explanation.is_recording() {
            self.explain(size);
        }
        match self.choose(size) {
            Some(first) => chosen.extend_from_slice(&self.order[first..first + size]),
            None => {
                let first = self.least_span(size);
                let ranks = &self.ranks[first..first + size];
                chosen.extend(ranks.iter().map(|&rank| self.order[rank as usize]));
            }
        }
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, ..Capabilities::default() }
    }
}

/// A curve, and a rule that selects processors along it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CurveOptions {
    /// Order of the processors.
    pub curve: Curve,
    /// Rule that selects processors.
    pub fit: Fit,
}

impl AllocatorOptions for CurveOptions {
    fn build(&self, topology: &Topology, _seed: u64) -> Result<Box<dyn Allocator>, String> {
        let Self { curve, fit } = *self;
        Ok(Box::new(match topology.grid() {
            // The only supported order of the processors of a hypercube is by number.
            None if curve == Curve::RowMajor => {
                CurveAllocator::along(topology.nodes().collect(), fit)
            }
            _ => CurveAllocator::new(grid_of(topology)?, curve, fit),
        }))
    }
}

/// Every order with its name.
const ORDERS: [(&str, Curve); 6] = {
    let mut orders = [("", Curve::RowMajor); 6];
    let mut index = 0;
    while index < orders.len() {
        orders[index] = (Curve::ALL[index].name(), Curve::ALL[index]);
        index += 1;
    }
    orders
};

/// Returns the table of `curve`. Each combination of its parameters has a name, such as `hilbert-best-fit`.
pub fn table() -> Table<CurveOptions> {
    let named = |(order, curve): (&'static str, Curve)| {
        Fit::ALL.map(move |(name, fit)| (format!("{order}-{name}"), CurveOptions { curve, fit }))
    };
    let curve = Entry::new("curve", CurveOptions { curve: Curve::Hilbert, fit: Fit::Best })
        .about(
            "The free processors that a rule selects from an order of the machine along a curve. hilbert-best-fit is \
             curve[order=hilbert,fit=best-fit]; each order and fit has such a name, which results print.",
        )
        .source("Leung et al. 2002; Lo et al. 1997")
        .param(
            "order",
            kind::one_of(&ORDERS),
            "rows one after another; every second row backwards (snake); Z order, with bits of the coordinates \
             interleaved, or each 2x2 quadrant in snake order (shuffled); the Hilbert curve of the enclosing power of two, \
             truncated to the grid; the generalised Hilbert curve for any side lengths (gilbert)",
            |o: &mut CurveOptions| &mut o.curve,
        )
        .param(
            "fit",
            kind::one_of(&Fit::ALL),
            "the smallest or the first run of free processors that can hold the job; the free processors of lowest rank \
             (free-list); the run for which the lengths of the remaining runs differ most (sum-of-squares)",
            |o| &mut o.fit,
        )
        .forms(ORDERS.into_iter().flat_map(named));
    Table::new("allocator", [curve])
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Returns a row of processors; marked processors are busy.
    fn row(busy: &str) -> (Machine, Grid) {
        let topology: Topology = format!("{}x1", busy.len()).parse().expect("a mesh");
        let grid = topology.grid().expect("a grid").clone();
        let mut machine = Machine::new(topology);
        let taken: Vec<_> = (0..)
            .map(NodeId)
            .zip(busy.chars())
            .filter(|(_, c)| *c == '#')
            .map(|(n, _)| n)
            .collect();
        machine.occupy(&taken);
        (machine, grid)
    }

    fn pick(fit: Fit, busy: &str, size: u32) -> Vec<u32> {
        let (machine, grid) = row(busy);
        let mut chosen = Vec::new();
        CurveAllocator::new(&grid, Curve::RowMajor, fit)
            .allocate(&machine, Request::of_size(size), &mut chosen)
            .expect("enough are free");
        chosen.iter().map(|n| n.0).collect()
    }

    #[test]
    fn each_fit_on_one_row() {
        //             0123456789ab
        let machine = "...#..##..#.";
        assert_eq!(pick(Fit::First, machine, 2), [0, 1]);
        assert_eq!(pick(Fit::Best, machine, 2), [4, 5]);
        assert_eq!(pick(Fit::FreeList, machine, 4), [0, 1, 2, 4]);
        // A job in the run of three would leave a second run of length one, and the sum of squares
        // would change by 2 * 1 + 1 - 2 + 1 = 2. A run of length two is better, because the sum of
        // squares then changes by -2 * 2 + 1 = -3.
        assert_eq!(pick(Fit::SumOfSquares, machine, 2), [4, 5]);
        // There is no run of four. The windows are 0 1 2 4, 1 2 4 5, 2 4 5 8, ...; the first window
        // has the smallest span.
        assert_eq!(pick(Fit::Best, machine, 4), [0, 1, 2, 4]);
    }

    proptest! {
        #[test]
        fn every_fit_serves_requests_that_free_processors_allow(busy in "[.#]{1,40}", share in 0.0..1.0f64) {
            let (machine, grid) = row(&busy);
            prop_assume!(machine.free_count() > 0);
            let size = 1 + ((machine.free_count() - 1) as f64 * share) as u32;
            for curve in Curve::ALL {
                for (_, fit) in Fit::ALL {
                    let mut chosen = Vec::new();
                    let served = CurveAllocator::new(&grid, curve, fit)
                        .allocate(&machine, Request::of_size(size), &mut chosen);
                    prop_assert_eq!(served, Ok(()));
                    chosen.sort();
                    chosen.dedup();
                    prop_assert_eq!(chosen.len(), size as usize);
                    prop_assert!(chosen.iter().all(|&n| machine.is_free(n)));
                }
            }
        }
    }
}
