use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::StandardNormal;

use super::{Archive, Random, SearchError, SearchStrategy};
use crate::search::Candidate;
use crate::search::archive::better_first;
use crate::search::ratio::{Ratio, nearest_vector};
use crate::search::space::Space;
use replay_engine::allocator::ties::{Slack, TieVector};

/// Relative step at the beginning of a descent: a factor is multiplied or divided by 1.5.
const FIRST_STEP: f64 = 0.5;
/// Step below which a descent ends.
const LAST_STEP: f64 = 0.015;
/// Number of random candidates that a batch contains in addition to the regular neighbours of the centre.
const DRAWS: usize = 24;
/// Random candidates are rounded to integer factors up to a random limit. The random limit is at least this constant
/// and at most the largest factor of the space.
const SMALL: f64 = 6.0;
/// Number of consecutive batches without a new candidate after which the space is treated as exhausted.
const ATTEMPTS: usize = 2000;
/// Number of batches that are evaluated around one centre with the same step.
const BATCHES: u32 = 2;
/// Two vectors with equal scan radius and slack are in the same neighbourhood if their shares differ by less than this
/// value.
const NEIGHBOURHOOD: f64 = 0.04;
/// Number of best candidates from which the next centre is chosen. If none of these candidates is suitable as a centre,
/// a random ratio is used.
const STARTS: usize = 200;

/// A search strategy that defines all details of the supplementary search of Johnson, Bunde, Leung (section III). The
/// strategy evaluates vectors whose ratios are near the ratio of the best vector found so far.
///
/// A descent evaluates candidates around its centre: candidates in which a factor is increased or decreased by a step
/// or set to 0, candidates with neighbouring scan radii or slacks, and some random candidates. If the best candidate
/// around the centre is better than the centre, this candidate becomes the new centre. If no candidate is better than
/// the centre, the descent evaluates one more batch, and then halves its step. When the step is small, a new descent
/// begins at the best candidate that is not near the centre of an earlier descent. If every candidate is near an
/// earlier centre, the new descent begins at a random ratio. Without a limit of evaluations, the search ends only when
/// the space contains no new candidate.
///
/// Tie values are sums of integers. If the factors are small integers, some processor sets have equal tie values. If
/// the ratio changes slightly, processor sets that had equal tie values get different tie values. For this reason a
/// vector such as (2,13,20,6) can be better than all nearby vectors. Random candidates are therefore rounded to small
/// integers as often as to large integers.
#[derive(Clone, Debug)]
pub struct Local {
    space: Space,
    rng: ChaCha8Rng,
    random: Random,
    centre: Option<Candidate>,
    step: f64,
    /// Number of successive batches around the centre, with the current step, that contained no better candidate.
    fruitless: u32,
    /// Centres of finished descents.
    explored: Vec<Candidate>,
}

impl Local {
    /// Creates a search that begins at the best candidate of the archive. `seed` determines all random choices. Scan
    /// radii remain within the space.
    pub fn new(space: Space, seed: u64) -> Self {
        Self {
            random: Random::new(space.clone(), seed),
            // These random numbers are independent of the random numbers of the restarts.
            rng: ChaCha8Rng::seed_from_u64(seed.wrapping_add(1 << 32)),
            space,
            centre: None,
            step: FIRST_STEP,
            fruitless: 0,
            explored: Vec::new(),
        }
    }

    /// Moves the centre to the best candidate that one step can reach, or narrows the step if this candidate is not
    /// better than the centre.
    fn move_or_narrow(&mut self, archive: &Archive, centre: Candidate) {
        let Some(here) = archive.get(centre) else { return };
        let best = archive.ranked().into_iter().find(|one| self.reaches(centre, one.candidate));
        match best {
            Some(best) if better_first(best, here).is_lt() => {
                (self.centre, self.fruitless) = (Some(best.candidate), 0);
            }
            _ => self.narrow(centre),
        }
    }

    /// Counts a batch without improvement. After `BATCHES` batches without improvement, halves the step, and ends the
    /// descent if the step is then below `LAST_STEP`.
    fn narrow(&mut self, centre: Candidate) {
        self.fruitless += 1;
        if self.fruitless == BATCHES {
            (self.step, self.fruitless) = (self.step / 2.0, 0);
        }
        if self.step < LAST_STEP {
            self.explored.push(centre);
            (self.centre, self.step) = (None, FIRST_STEP);
        }
    }

    /// Returns whether `other` can be reached from `centre` by one step.
    fn reaches(&self, centre: Candidate, other: Candidate) -> bool {
        let (a, b) = (Ratio::of(centre.vector), Ratio::of(other.vector));
        let far = (a.wall - b.wall).abs().max((a.border - b.border).abs());
        let steps =
            self.space.slack_index(centre.slack).abs_diff(self.space.slack_index(other.slack));
        let radii = &self.space.scan_radii;
        let radii = radii.distance(centre.vector.scan_radius, other.vector.scan_radius);
        radii <= 2 && steps <= 2 && far <= self.step
    }

    /// Returns the centre of the next descent.
    fn restart(&mut self, archive: &Archive) -> Candidate {
        let near = |a: Candidate, b: Candidate| {
            let (x, y) = (Ratio::of(a.vector), Ratio::of(b.vector));
            (a.vector.scan_radius, a.slack) == (b.vector.scan_radius, b.slack)
                && (x.wall - y.wall).abs() < NEIGHBOURHOOD
                && (x.border - y.border).abs() < NEIGHBOURHOOD
        };
        let ranked = archive.ranked();
        let candidates = ranked.iter().take(STARTS).map(|one| one.candidate);
        let mut unexplored =
            candidates.filter(|&one| !self.explored.iter().any(|&other| near(other, one)));
        unexplored.next().unwrap_or_else(|| self.random.draw())
    }

    /// Returns the neighbours of a centre: regular neighbours, followed by random candidates.
    fn neighbours(&mut self, centre: Candidate) -> Vec<Candidate> {
        let Candidate { vector: centre, slack } = centre;
        let factors = Ratio::of(centre).factors();
        let (step, largest) = (self.step, self.space.largest);
        let mut found = Vec::new();
        for i in 0..factors.len() {
            // A factor of 0 cannot be changed by multiplication, so a small factor is tried instead.
            let steps = [factors[i] * (1.0 + step), factors[i] / (1.0 + step), 0.0, 0.1 * step];
            let steps = if factors[i] > 0.0 { &steps[..3] } else { &steps[3..] };
            for &changed in steps {
                let mut factors = factors;
                factors[i] = changed;
                found.extend(nearest_vector(centre.scan_radius, factors, largest));
            }
        }
        for away in [1, 2] {
            let radii = [-away, away];
            let radii =
                radii.map(|steps| self.space.scan_radii.neighbour(centre.scan_radius, steps));
            let moved = |scan_radius| TieVector { scan_radius, ..centre };
            found.extend(radii.into_iter().flatten().map(moved));
        }
        // The list begins with other vectors that have the same slack as the centre. The list continues with the vector
        // of the centre, combined with other slacks.
        let mut found: Vec<_> =
            found.into_iter().map(|vector| Candidate { vector, slack }).collect();
        for away in [1, 2] {
            let steps = self.steps_away(slack, away);
            found.extend(steps.map(|slack| Candidate { vector: centre, slack }));
        }
        for _ in 0..DRAWS {
            let draw = |factor: f64, rng: &mut ChaCha8Rng| {
                let normal: f64 = rng.sample(StandardNormal);
                if factor > 0.0 { factor * (step * normal).exp() } else { 0.1 * step * normal }
            };
            let drawn = factors.map(|factor| draw(factor, &mut self.rng));
            let other = i64::from(self.rng.random_range(0..4u32) == 0);
            let steps = if self.rng.random_range(0..2u32) == 0 { -other } else { other };
            let scan_radius = self.space.scan_radii.neighbour(centre.scan_radius, steps);
            // The logarithm of the limit is uniformly distributed: a value from 6 to 12 is as likely as a value from 50
            // to 100.
            let wide = f64::from(largest).max(SMALL) / SMALL;
            let most = (SMALL * wide.powf(self.rng.random())).round() as u32;
            let slack = self.draw_slack(slack);
            let vector = scan_radius
                .and_then(|scan_radius| nearest_vector(scan_radius, drawn, most.min(largest)));
            found.extend(vector.map(|vector| Candidate { vector, slack }));
        }
        let radii = &self.space.scan_radii;
        found.retain(|one| radii.contains(one.vector.scan_radius));
        found
    }

    /// Returns the slacks with indices that differ by `away` from the index of `slack`.
    fn steps_away(&self, slack: Slack, away: usize) -> impl Iterator<Item = Slack> + use<> {
        let (slacks, step) = (&self.space.slacks, self.space.slack_index(slack));
        let below = step.checked_sub(away).map(|step| slacks[step]);
        below.into_iter().chain(slacks.get(step + away).copied())
    }

    /// Returns a neighbouring slack with probability 1/4, and `slack` otherwise. If the space has a single slack, no
    /// random number is used.
    fn draw_slack(&mut self, slack: Slack) -> Slack {
        if self.space.slacks.len() == 1 || self.rng.random_range(0..4u32) > 0 {
            return slack;
        }
        let near: Vec<Slack> = self.steps_away(slack, 1).collect();
        near[self.rng.random_range(0..near.len() as u32) as usize]
    }
}

impl SearchStrategy for Local {
    fn ask(&mut self, archive: &Archive) -> Result<Vec<Candidate>, SearchError> {
        if let Some(centre) = self.centre {
            self.move_or_narrow(archive, centre);
        }
        for _ in 0..ATTEMPTS {
            let centre = match self.centre {
                Some(centre) => centre,
                None => {
                    let centre = self.restart(archive);
                    self.centre = Some(centre);
                    centre
                }
            };
            let mut batch = vec![centre];
            batch.extend(self.neighbours(centre));
            batch.retain(|&one| archive.get(one).is_none());
            if !batch.is_empty() {
                return Ok(batch);
            }
            // With this step, all candidates have already been evaluated.
            self.narrow(centre);
        }
        Ok(Vec::new())
    }
}
