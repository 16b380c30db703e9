//! MC1x1 for many tie vectors at once, as long as their machines are in one state.
//!
//! What the candidates of a decision come to is the same for all vectors: scores are computed once,
//! the sums behind the tie values once for each scan radius, and a vector's tie value is then three
//! products for each candidate that differs from the others, of [16 vectors at a time](Crowd) where there are many.
//! Shells that counts alone do not settle are cut once for all vectors.

use super::candidate::Candidate;
use super::crowd::{Crowd, Factors};
use super::lane::Lane;
use super::ring::{Ring, down_on_shell};
use super::scores::Scores;
use super::tie::{Rest, TieTerms, Value};
use crate::allocator::centre::options::{CentreOptions, ShellOrder};
use crate::allocator::centre::slack::Slack;
use crate::allocator::centre::tie::TieVector;
use crate::machine::{BoxCounts, Count, LANES, Machine};
use crate::topology::{Grid, NodeId};

/// A way to choose among nearly tied candidates.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Way {
    vector: TieVector,
    slack: Slack,
}

/// The counts of one machine, then of another.
#[derive(Clone, Debug)]
pub struct Counts<C = u16> {
    free: BoxCounts<C>,
    tie: TieTerms<C>,
}

impl<C: Count> Counts<C> {
    /// Forgets the machine seen last, for this one.
    pub fn turn_to(&mut self, machine: &Machine) {
        self.free.reset();
        self.tie.turn_to(machine);
    }
}

/// Scan radii of which ways that are decided for together have at most so many.
const MOST_RADII: usize = 64;
/// Scan radii whose sums are added up in one go.
const AT_ONCE: usize = 4;
/// Of so many ways on, candidates that are equal for all of them are looked at once.
const MANY: usize = 4;
/// Of so many on, tie values are computed for 16 of them at a time.
const CROWD: usize = 12;

/// MC1x1 with many ways to break ties, on one grid.
#[derive(Debug)]
pub struct Many {
    grid: Grid,
    options: CentreOptions,
    ways: Vec<Way>,
    /// The scan radii of the ways, ascending, and by way, which is its.
    radii: Vec<u32>,
    radius_of: Vec<u8>,
    /// The slack of all ways, if it is one.
    slack: Option<Slack>,
    factors: Factors,
    crowd: Crowd,
    /// Of a decision: which ways have one scan radius, and their places among its members.
    alike: Vec<u32>,
    places: Vec<u32>,
    /// Whether walls are counted.
    walls: bool,
    scores: Scores,
    ring: Ring,
    /// By scan radius.
    candidates: Vec<Vec<Candidate>>,
    /// By candidate, the wall weights taken of the last shell, once somebody had to know.
    taken: Vec<Option<u32>>,
    unsettled: Vec<((i64, u64, NodeId), u32, Rest)>,
}

impl Way {
    /// Breaks ties by a vector, if there is one, among candidates nearly as good.
    pub fn new(tie: Option<TieVector>, slack: Slack) -> Self {
        match tie.filter(|vector| !vector.is_indifferent()) {
            // Without tie values a worse score never wins.
            None => Self { vector: TieVector::default(), slack: Slack::NONE },
            Some(vector) => Self { vector, slack },
        }
    }
}

impl Many {
    /// For `grid`; the vector and the slack among the options do not matter. `None` if the order of
    /// the last shell builds every candidate, or the scan radii are too many.
    pub fn new(grid: &Grid, options: CentreOptions, ways: Vec<Way>) -> Option<Self> {
        let mut many = Self {
            options,
            radius_of: Vec::new(),
            slack: None,
            factors: Factors::default(),
            crowd: Crowd::default(),
            alike: Vec::new(),
            places: Vec::new(),
            walls: ways.iter().any(|way| way.vector.wall != 0),
            scores: Scores::new(grid),
            ring: Ring::new(grid, options.order),
            candidates: Vec::new(),
            taken: Vec::new(),
            unsettled: Vec::new(),
            grid: grid.clone(),
            radii: Vec::new(),
            ways,
        };
        many.index();
        (options.order != ShellOrder::Greedy && many.radii.len() <= MOST_RADII).then_some(many)
    }

    /// Ready for [turns](Self::turn) to vectors with WF: walls are counted, whether a way looks at them yet or not.
    pub fn with_walls(self) -> Self {
        Self { walls: true, ..self }
    }

    /// Puts another way in the place of one. All of them have no more scan radii than there may be.
    pub fn turn(&mut self, way: u32, to: Way) {
        debug_assert!(self.walls || to.vector.wall == 0);
        self.ways[way as usize] = to;
        self.index();
        debug_assert!(self.radii.len() <= MOST_RADII);
    }

    /// What the ways have in common.
    fn index(&mut self) {
        let Self { ways, radii, .. } = self;
        radii.clear();
        radii.extend(ways.iter().map(|way| way.vector.scan_radius));
        radii.sort_unstable();
        radii.dedup();
        let place = |way: &Way| radii.partition_point(|&radius| radius < way.vector.scan_radius);
        self.radius_of.clear();
        self.radius_of.extend(ways.iter().map(|way| place(way) as u8));
        let first = ways.first().map(|way| way.slack);
        self.slack = first.filter(|&slack| ways.iter().all(|way| way.slack == slack));
        self.candidates.resize_with(self.candidates.len().max(radii.len()), Vec::new);
        self.factors.set(ways.iter().map(|way| way.vector));
    }

    /// Number of ways.
    pub fn ways(&self) -> usize {
        self.ways.len()
    }

    /// The counts of a machine of which nothing is known yet.
    pub fn counts<C: Count>(&self) -> Counts<C> {
        let vector = TieVector { wall: i32::from(self.walls), ..TieVector::default() };
        Counts {
            free: BoxCounts::new(&self.grid),
            tie: TieTerms::new(&self.grid, vector, self.options),
        }
    }

    /// The winning centre of each member, by number of its way, into `winners`; `size` is less than
    /// the number of free processors of `machine`, whose counts these are.
    pub fn decide<C: Count>(
        &mut self,
        machine: &Machine,
        counts: &mut Counts<C>,
        size: u32,
        members: &[u32],
        winners: &mut Vec<NodeId>,
    ) {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") {
            // SAFETY: the only obligation of the call is that the processor has AVX2,
            // which the line above has asked it.
            #[allow(unsafe_code)]
            return unsafe { self.decide_avx2(machine, counts, size, members, winners) };
        }
        self.decide_portable(machine, counts, size, members, winners);
    }

    /// The same code compiled for wider vectors, on integers alone.
    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    fn decide_avx2<C: Count>(
        &mut self,
        machine: &Machine,
        counts: &mut Counts<C>,
        size: u32,
        members: &[u32],
        winners: &mut Vec<NodeId>,
    ) {
        self.decide_portable(machine, counts, size, members, winners);
    }

    #[inline(always)]
    fn decide_portable<C: Count>(
        &mut self,
        machine: &Machine,
        counts: &mut Counts<C>,
        size: u32,
        members: &[u32],
        winners: &mut Vec<NodeId>,
    ) {
        winners.clear();
        counts.free.update(machine);
        let slacks = || members.iter().map(|&way| self.ways[way as usize].slack);
        let widest = self.slack.or_else(|| slacks().max()).unwrap_or_default();
        let best = self.scores.compute(&counts.free, size, |best| widest.admitted(best));
        let admitted = widest.admitted(best);
        if let Some(only) = self.scores.only(admitted) {
            winners.resize(members.len(), only);
            return;
        }
        if let &[way] = members {
            counts.tie.update(machine, &self.grid);
            let narrow = TieTerms::is_narrow(&counts.free, machine.processors());
            winners.push(match narrow {
                true => self.winner_alone::<u16, C>(machine, counts, size, admitted, way),
                false => self.winner_alone::<u32, C>(machine, counts, size, admitted, way),
            });
            return;
        }
        let mut radii = 0u64;
        for &way in members {
            radii |= 1 << self.radius_of[way as usize];
        }
        counts.tie.update(machine, &self.grid);
        if TieTerms::is_narrow(&counts.free, machine.processors()) {
            self.survey::<u16, C>(machine, counts, size, admitted, radii);
        } else {
            self.survey::<u32, C>(machine, counts, size, admitted, radii);
        }
        // All have one slack, so that they admit all candidates.
        if members.len() >= CROWD
            && self.slack.is_some()
            && self.crowd_decides(machine, counts, radii, members, winners)
        {
            return;
        }
        if members.len() >= MANY {
            self.look_once(radii);
        }
        for &member in members {
            winners.push(self.winner(machine, counts, member as usize, best));
        }
    }

    /// The centre of least (tie value, score) among those with scores up to `admitted`, for one way.
    #[inline(always)]
    fn winner_alone<L: Lane, C: Count>(
        &mut self,
        machine: &Machine,
        counts: &mut Counts<C>,
        size: u32,
        admitted: u64,
        way: u32,
    ) -> NodeId {
        let Self { grid, ways, scores, ring, unsettled, .. } = self;
        let vector = ways[way as usize].vector;
        let (free, any_down) = (machine.free_count() as u32, machine.down_count() > 0);
        // Processor numbers are in candidate order, so that the least of these is the winner.
        let mut best = (i64::MAX, u64::MAX, NodeId(u32::MAX));
        unsettled.clear();
        for chunk in scores.chunks(admitted) {
            let mut wanted = [false; LANES];
            chunk.at_most(admitted).for_each(|i| wanted[i] = true);
            let radii = [vector.scan_radius];
            let (tie, mut nearby) = (&counts.tie, [[L::default(); LANES]]);
            let terms =
                tie.terms::<L>(&counts.free, chunk, [size, free], &wanted, &radii, &mut nearby);
            for i in (0..LANES).filter(|&i| wanted[i]) {
                let (score, centre) = (u64::from(chunk.scores[i]), chunk.node(i));
                let mut sums = tie.sums(&terms, &nearby[0], vector.scan_radius, i, size, free);
                if any_down {
                    sums.give_back(&terms.outside(i), vector.scan_radius, |shell| {
                        down_on_shell(grid, machine, centre, shell)
                    });
                }
                match sums.value(vector) {
                    Value::Exact(value) => best = best.min((value, score, centre)),
                    Value::AtLeast(bound, rest) => {
                        if (bound, score, centre) < best {
                            unsettled.push(((bound, score, centre), 0, rest));
                        }
                    }
                }
            }
        }
        for &(bound, _, ref rest) in unsettled.iter() {
            if bound < best {
                let (_, score, centre) = bound;
                let taken = counts.tie.taken(rest, machine, centre, ring);
                best = best.min((rest.value(vector, taken), score, centre));
            }
        }
        best.2
    }

    /// Fills in the candidates with scores up to `admitted`, for each of some scan radii.
    #[inline(always)]
    fn survey<L: Lane, C: Count>(
        &mut self,
        machine: &Machine,
        counts: &Counts<C>,
        size: u32,
        admitted: u64,
        radii: u64,
    ) {
        let free = machine.free_count() as u32;
        let any_down = machine.down_count() > 0;
        let mut place = 0;
        let wanted_radii = || (0..self.radii.len()).filter(|r| radii >> r & 1 == 1);
        wanted_radii().for_each(|r| self.candidates[r].clear());
        for chunk in self.scores.chunks(admitted) {
            let mut wanted = [false; LANES];
            chunk.at_most(admitted).for_each(|i| wanted[i] = true);
            let mut left = wanted_radii();
            loop {
                // Numbers of some scan radii, and these.
                let (mut numbers, mut wide, mut count) = ([0; AT_ONCE], [0; AT_ONCE], 0);
                for r in left.by_ref().take(AT_ONCE) {
                    (numbers[count], wide[count]) = (r, self.radii[r]);
                    count += 1;
                }
                if count == 0 {
                    break;
                }
                let mut nearby = [[L::default(); LANES]; AT_ONCE];
                let terms = counts.tie.terms::<L>(
                    &counts.free,
                    chunk,
                    [size, free],
                    &wanted,
                    &wide[..count],
                    &mut nearby,
                );
                for ((&r, &scan_radius), nearby) in numbers[..count].iter().zip(&wide).zip(&nearby)
                {
                    for (place, i) in (place..).zip((0..LANES).filter(|&i| wanted[i])) {
                        let (score, centre) = (u64::from(chunk.scores[i]), chunk.node(i));
                        let mut sums = counts.tie.sums(&terms, nearby, scan_radius, i, size, free);
                        if any_down {
                            sums.give_back(&terms.outside(i), scan_radius, |shell| {
                                down_on_shell(&self.grid, machine, centre, shell)
                            });
                        }
                        self.candidates[r].push(Candidate { score, centre, sums, place });
                    }
                }
            }
            place += wanted.iter().map(|&wanted| u32::from(wanted)).sum::<u32>();
        }
        self.taken.clear();
        self.taken.resize(place as usize, None);
    }

    /// The winners of a crowd of members that admit all candidates; false if tie values may not fit 32 bits.
    #[inline(always)]
    fn crowd_decides<C: Count>(
        &mut self,
        machine: &Machine,
        counts: &mut Counts<C>,
        radii: u64,
        members: &[u32],
        winners: &mut Vec<NodeId>,
    ) -> bool {
        let Self { candidates, factors, crowd, alike, places, taken, ring, .. } = self;
        winners.resize(members.len(), NodeId(u32::MAX));
        for r in (0..self.radii.len()).filter(|r| radii >> r & 1 == 1) {
            let (candidates, scan_radius) = (&candidates[r], self.radii[r]);
            if !crowd.survey(candidates, factors) {
                winners.clear();
                return false;
            }
            alike.clear();
            places.clear();
            for (place, &way) in (0..).zip(members) {
                if usize::from(self.radius_of[way as usize]) == r {
                    alike.push(way);
                    places.push(place);
                }
            }
            for (ways, places) in alike.chunks(LANES).zip(places.chunks(LANES)) {
                let chosen = crowd.winners(ways, factors, |of| {
                    let Candidate { sums, place, centre, .. } = &candidates[of];
                    let (rest, times) = sums.last_shell(scan_radius);
                    let taken = taken[*place as usize]
                        .get_or_insert_with(|| counts.tie.taken(&rest, machine, *centre, ring));
                    times * i64::from(*taken)
                });
                for (&place, winner) in places.iter().zip(chosen) {
                    winners[place as usize] = winner;
                }
            }
        }
        true
    }

    /// Of candidates that have the same tie value for every vector and the same score, the first
    /// wins: the others go.
    #[inline(always)]
    fn look_once(&mut self, radii: u64) {
        for candidates in (0..self.radii.len()).filter(|r| radii >> r & 1 == 1) {
            let candidates = &mut self.candidates[candidates];
            let mut kept = 0;
            for i in 0..candidates.len() {
                let one = candidates[i];
                let as_good =
                    |other: &Candidate| other.sums == one.sums && other.score == one.score;
                if !one.sums.is_settled() || !candidates[..kept].iter().any(as_good) {
                    candidates[kept] = one;
                    kept += 1;
                }
            }
            candidates.truncate(kept);
        }
    }

    /// The centre of least (tie value, score) among the candidates that the way admits.
    #[inline(always)]
    fn winner<C: Count>(
        &mut self,
        machine: &Machine,
        counts: &mut Counts<C>,
        way: usize,
        best_score: u64,
    ) -> NodeId {
        let Self { candidates, ways, radius_of, taken, unsettled, ring, .. } = self;
        let (vector, slack) = (ways[way].vector, ways[way].slack);
        let admitted = slack.admitted(best_score);
        // Candidates stand in scan order, so that the least of these is the winner.
        let mut best = (i64::MAX, u64::MAX, NodeId(u32::MAX));
        unsettled.clear();
        for candidate in &candidates[usize::from(radius_of[way])] {
            if candidate.score > admitted {
                continue;
            }
            let with = |value| (value, candidate.score, candidate.centre);
            match candidate.sums.value(vector) {
                Value::Exact(value) => best = best.min(with(value)),
                Value::AtLeast(bound, rest) => match taken[candidate.place as usize] {
                    Some(taken) => best = best.min(with(rest.value(vector, taken))),
                    None if with(bound) < best => {
                        unsettled.push((with(bound), candidate.place, rest));
                    }
                    None => {}
                },
            }
        }
        for &(bound, place, ref rest) in unsettled.iter() {
            if bound < best {
                let (_, score, centre) = bound;
                let settled = counts.tie.taken(rest, machine, centre, ring);
                taken[place as usize] = Some(settled);
                best = best.min((rest.value(vector, settled), score, centre));
            }
        }
        best.2
    }

    /// The `size` processors around a winning centre.
    pub fn collect<C: Count>(
        &mut self,
        machine: &Machine,
        counts: &Counts<C>,
        centre: NodeId,
        size: u32,
        chosen: &mut Vec<NodeId>,
    ) {
        super::collect(&counts.free, &mut self.ring, machine, centre, size, chosen);
    }
}
