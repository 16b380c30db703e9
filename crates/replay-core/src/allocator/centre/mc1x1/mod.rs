//! MC1x1 (Bender et al. 2008) with the tie-breaking of Johnson, Bunde, Leung.
//!
//! Every free processor is a candidate centre, shells are L-infinity shells, the score is
//! the sum of shell numbers. No set is built and nothing is sorted to find the winner:
//! with cnt(c, r) free processors within distance r of c and k requested,
//!
//! * score(c) = sum over r >= 0 of max(0, k - cnt(c, r)), and the outermost shell L is
//!   the first r with cnt(c, r) >= k;
//! * the terms of the tie value follow from counts as well.
//!
//! Scores are computed for 16 neighbouring centres at a time; the sums
//! stop as soon as all of them exceed the best so far. Cost per decision: free
//! processors times L / 16 vector steps, plus the tie values of those that tie.

mod candidate;
mod crowd;
mod lane;
mod many;
mod ring;
mod scores;
mod tie;

use crate::allocator::centre::literal::{CentreRule, Centres, Score};
use crate::allocator::centre::options::{CentreOptions, Metric, ShellOrder};
use crate::allocator::centre::told;
use crate::allocator::notes::Notes;
use crate::allocator::{
    Allocator, Capabilities, Refusal, Request, RunSetup, Stats, settled_by_count,
};
use crate::machine::{BoxCounts, Count, LANES, Machine};
use crate::stop::Stop;
use crate::topology::{Grid, NodeId};
use lane::Lane;
pub use many::{Counts, Many, Way};
use ring::{Ring, down_on_shell};
use scores::Scores;
use tie::{Rest, TieTerms, Value};

/// The MC1x1 allocator; on machines of more than 65,535 points `C` is `u32`.
#[derive(Debug)]
pub struct Mc1x1<C = u16> {
    grid: Grid,
    options: CentreOptions,
    free: BoxCounts<C>,
    scores: Scores,
    tie: Option<TieTerms<C>>,
    ring: Ring,
    /// Centres whose tie value is known only to be at least something: (bound, score,
    /// centre) and what would settle it.
    unsettled: Vec<((i64, u64, NodeId), Rest)>,
    stop: Stop,
    notes: Notes,
    count_ties: bool,
    /// Those of the last request.
    tied: Option<u32>,
}

impl Mc1x1 {
    /// An allocator for `grid`, of at most 65,535 points.
    pub fn new(grid: &Grid, options: CentreOptions) -> Self {
        Self::counting(grid, options)
    }

    /// The definition of this allocator, without the shortcuts.
    pub fn rule(options: CentreOptions) -> CentreRule {
        CentreRule {
            centres: Centres::FreeProcessors,
            metric: Metric::Linf,
            score: Score::ShellSum,
            options,
        }
    }
}

impl<C: Count> Mc1x1<C> {
    /// Whether the sums over all shells of `grid` fit 32 bits.
    pub fn takes(grid: &Grid) -> bool {
        let diameter = grid.axes().iter().map(|axis| u64::from(axis.diameter())).max();
        let points = grid.processors();
        points <= C::MOST && (diameter.unwrap_or(0) + 2) * (points as u64) < u64::from(u32::MAX)
    }

    /// An allocator for `grid`, which it [`takes`](Self::takes).
    pub fn counting(grid: &Grid, options: CentreOptions) -> Self {
        let vector = options.tie.filter(|vector| !vector.is_indifferent());
        Self {
            free: BoxCounts::new(grid),
            scores: Scores::new(grid),
            tie: vector.map(|vector| TieTerms::new(grid, vector, options)),
            grid: grid.clone(),
            options,
            ring: Ring::new(grid, options.order),
            unsettled: Vec::new(),
            stop: Stop::new(),
            notes: Notes::default(),
            count_ties: false,
            tied: None,
        }
    }

    /// Explains decisions in these notes, and lets a flag break them off.
    pub(in crate::allocator) fn attach(&mut self, notes: &Notes, stop: &Stop) {
        (self.notes, self.stop) = (notes.clone(), stop.clone());
    }

    /// Counts the [tied sets](Stats::tied_sets) of a request.
    pub(in crate::allocator) fn tied_sets(
        &mut self,
        machine: &Machine,
        request: Request,
    ) -> Option<u32> {
        let size = request.size as usize;
        if size >= machine.free_count() {
            return (size == machine.free_count()).then_some(1);
        }
        if self.options.order == ShellOrder::Greedy {
            let rule = Mc1x1::rule(self.options);
            return rule.tied_sets_unless(&self.stop, machine, &self.grid, size).ok();
        }
        self.free.update(machine);
        let best = self.scores.compute(&self.free, request.size, |best| best);
        let tied: Vec<NodeId> = self.scores.at_most(best).collect();
        let mut sets = std::collections::HashSet::with_capacity(tied.len());
        for centre in tied {
            self.stop.check().ok()?;
            let mut set = Vec::with_capacity(size);
            self.collect(machine, centre, request.size, &mut set);
            set.sort_unstable();
            sets.insert(set);
        }
        Some(sets.len() as u32)
    }

    /// The winning centre; `size` is less than the number of free processors.
    fn best_centre(&mut self, machine: &Machine, size: u32) -> Option<NodeId> {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the only obligation of the call is that the processor has AVX2,
            // which the line above has asked it.
            #[allow(unsafe_code)]
            return unsafe { self.best_centre_avx2(machine, size) };
        }
        self.best_centre_portable(machine, size)
    }

    /// The same code compiled for wider vectors. Everything below that works on lanes is
    /// inlined into it, and works on integers, so that the result cannot differ.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn best_centre_avx2(&mut self, machine: &Machine, size: u32) -> Option<NodeId> {
        self.best_centre_portable(machine, size)
    }

    #[inline(always)]
    fn best_centre_portable(&mut self, machine: &Machine, size: u32) -> Option<NodeId> {
        self.free.update(machine);
        let Some(tie) = &mut self.tie else {
            return self.scores.first_best(&self.free, size);
        };
        let best = self.scores.compute(&self.free, size, |best| self.options.slack.admitted(best));
        let admitted = self.options.slack.admitted(best);
        if let Some(only) = self.scores.only(admitted) {
            return Some(only);
        }
        tie.update(machine, &self.grid);
        if TieTerms::<C>::is_narrow(&self.free, machine.processors()) {
            self.least_tie::<u16>(machine, size, admitted)
        } else {
            self.least_tie::<u32>(machine, size, admitted)
        }
    }

    /// The centre of least (tie value, score) among those with scores up to `admitted`.
    #[inline(always)]
    fn least_tie<L: Lane>(
        &mut self,
        machine: &Machine,
        size: u32,
        admitted: u64,
    ) -> Option<NodeId> {
        let Self { tie: Some(tie), grid, free, scores, ring, unsettled, .. } = self else {
            return None;
        };
        // Processor numbers are in candidate order, so that the least of these is the winner.
        let mut best: Option<(i64, u64, NodeId)> = None;
        let free_count = machine.free_count() as u32;
        let any_down = machine.down_count() > 0;
        unsettled.clear();
        for chunk in scores.chunks(admitted) {
            let mut wanted = [false; LANES];
            chunk.at_most(admitted).for_each(|i| wanted[i] = true);
            let mut nearby = [[L::default(); LANES]];
            let radii = [tie.scan_radius()];
            let terms =
                tie.terms::<L>(free, chunk, [size, free_count], &wanted, &radii, &mut nearby);
            for i in (0..LANES).filter(|&i| wanted[i]) {
                let (score, centre) = (u64::from(chunk.scores[i]), chunk.node(i));
                let beats =
                    |best: Option<_>, value| best.is_none_or(|best| (value, score, centre) < best);
                let mut value = tie.value(&terms, &nearby[0], i, size, free_count);
                if any_down {
                    let outside = terms.outside(i);
                    if outside.busy > 0 {
                        let down = down_on_shell(grid, machine, centre, outside.shell);
                        value = value.less(-tie.down_term(down));
                    }
                }
                match value {
                    Value::Exact(value) if beats(best, value) => {
                        best = Some((value, score, centre))
                    }
                    Value::AtLeast(bound, rest) if beats(best, bound) => {
                        unsettled.push(((bound, score, centre), rest));
                    }
                    _ => {}
                }
            }
        }
        for ((bound, score, centre), rest) in unsettled.iter() {
            if best.is_none_or(|best| (*bound, *score, *centre) < best) {
                let settled = (tie.settle(rest, machine, *centre, ring), *score, *centre);
                best = Some(best.map_or(settled, |best| best.min(settled)));
            }
        }
        best.map(|(_, _, centre)| centre)
    }

    /// The `size` processors around a winning centre.
    fn collect(&mut self, machine: &Machine, centre: NodeId, size: u32, chosen: &mut Vec<NodeId>) {
        collect(&self.free, &mut self.ring, machine, centre, size, chosen);
    }
}

/// Puts the `size` processors around a winning centre into `chosen`, which is empty.
fn collect<C: Count>(
    free: &BoxCounts<C>,
    ring: &mut Ring,
    machine: &Machine,
    centre: NodeId,
    size: u32,
    chosen: &mut Vec<NodeId>,
) {
    let outermost = free.reach(centre, size).unwrap_or(free.max_radius());
    ring.gather(machine, centre, outermost, Some(chosen));
    let need = size as usize - chosen.len();
    ring.take(machine, centre, need, chosen);
}

impl<C: Count> Allocator for Mc1x1<C> {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.attach(&setup.notes, &setup.stop);
        (self.count_ties, self.tied) = (setup.count_ties, None);
        self.free.reset();
        if let Some(tie) = &mut self.tie {
            tie.reset();
        }
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
        if settled_by_count(machine, size, chosen)? {
            self.notes.say(|| "it asks for all that are free, and takes them".to_string());
            return Ok(());
        }
        if self.notes.are_read() {
            let rule = Mc1x1::rule(self.options);
            told::tell(&self.notes, &rule, machine, &self.grid, size, &self.stop)?;
        }
        if self.options.order == ShellOrder::Greedy {
            let rule = Mc1x1::rule(self.options);
            let winner = rule.choose_unless(&self.stop, machine, &self.grid, size)?;
            chosen.extend(winner.ok_or(Refusal::Fragmented)?.nodes);
        } else {
            let centre = self.best_centre(machine, request.size).ok_or(Refusal::Fragmented)?;
            self.collect(machine, centre, request.size, chosen);
        }
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, counts_ties: true, ..Capabilities::default() }
    }

    fn stats(&self) -> Stats {
        Stats { tied_sets: self.tied, ..Stats::default() }
    }
}

#[cfg(test)]
mod tests;
