//! Gen-Alg (Krumke et al. 1997) and MM (Bender et al. 2008) with the tie-breaking of
//! Johnson, Bunde, Leung (sections I, II and IV).
//!
//! Shells are L1 shells and the score is the sum of pairwise L1 distances. Gen-Alg's
//! candidate centres are the free processors; MM's are all positions whose every
//! coordinate occurs in some free processor, in order of first appearance.
//!
//! Two engines give the same scores. `Mesh` serves 2D meshes: it knows from tables how
//! far each centre reaches, rules out most centres by lower bounds before the order
//! inside a shell is asked for, and scores all surroundings without a gap only once. `Survey` serves every grid, 3D and wrapped ones too: it
//! passes over the free processors once per candidate. A winner's processors are
//! collected by the latter in both cases. Only the best score and its candidate are kept;
//! with a tie vector all that are admitted, and of these the tie values are computed.

mod arc;
mod candidates;
mod contest;
mod diamond;
mod mesh;
mod reach;
mod survey;
mod tie;
mod whole;
mod window;

use crate::allocator::centre::literal::{CentreRule, Centres, Score};
use crate::allocator::centre::options::{CentreOptions, Metric, ShellOrder};
use crate::allocator::centre::slack::Slack;
use crate::allocator::centre::told;
use crate::allocator::notes::Notes;
use crate::allocator::{Allocator, Refusal, Request, settled_by_count};
use crate::machine::Machine;
use crate::stop::{Stop, Stopped};
use crate::topology::{Grid, NodeId};
use candidates::Candidates;
use contest::Contest;
use mesh::Mesh;
use survey::Survey;
use tie::TieValues;

/// The Gen-Alg and MM allocators.
#[derive(Debug)]
pub struct Pairwise {
    grid: Grid,
    rule: CentreRule,
    candidates: Candidates,
    contest: Contest,
    mesh: Option<Mesh>,
    survey: Survey,
    tie: Option<TieValues>,
    stop: Stop,
    notes: Notes,
}

impl Pairwise {
    /// Gen-Alg on `grid`.
    pub fn gen_alg(grid: &Grid, options: CentreOptions) -> Self {
        Self::new(grid, Self::gen_alg_rule(options))
    }

    /// MM on `grid`.
    pub fn mm(grid: &Grid, options: CentreOptions) -> Self {
        Self::new(grid, Self::mm_rule(options))
    }

    /// The definition of Gen-Alg, without the shortcuts.
    pub fn gen_alg_rule(options: CentreOptions) -> CentreRule {
        Self::rule(Centres::FreeProcessors, options)
    }

    /// The definition of MM, without the shortcuts.
    pub fn mm_rule(options: CentreOptions) -> CentreRule {
        Self::rule(Centres::CoordinateProduct, options)
    }

    fn rule(centres: Centres, options: CentreOptions) -> CentreRule {
        CentreRule { centres, metric: Metric::L1, score: Score::PairwiseL1, options, ends: None }
    }

    fn new(grid: &Grid, rule: CentreRule) -> Self {
        let vector = rule.options.tie.filter(|vector| !vector.is_indifferent());
        Self {
            candidates: Candidates::new(rule.centres, grid),
            contest: Contest::default(),
            mesh: Mesh::new(grid),
            survey: Survey::new(grid, rule.options.order),
            tie: vector.map(|vector| TieValues::new(grid, vector, rule.options.wall)),
            grid: grid.clone(),
            rule,
            stop: Stop::new(),
            notes: Notes::default(),
        }
    }

    /// Scores the candidates for `size` processors, which are less than are free.
    /// With a slack all that it admits count, else only the first of the best.
    fn compete(
        &mut self,
        machine: &Machine,
        size: usize,
        slack: Option<Slack>,
    ) -> Result<(), Stopped> {
        let Self { candidates, contest, survey, rule, stop, .. } = self;
        candidates.list(machine, survey.coords());
        contest.start(slack.is_some());
        let admitted = |best| slack.map_or(best, |slack| slack.admitted(best));
        if let Some(mesh) = &mut self.mesh {
            mesh.compete(machine, candidates, rule.options.order, size, contest, admitted);
        } else {
            for index in 0..candidates.len() {
                stop.check()?;
                let earlier = candidates.earlier(index);
                let score = survey.score(machine, candidates.centre(index), earlier, size);
                contest.enter(score, index, admitted);
            }
        }
        Ok(())
    }

    /// The winning candidate; `set` is room for work.
    fn winner(
        &mut self,
        machine: &Machine,
        size: usize,
        set: &mut Vec<NodeId>,
    ) -> Result<Option<usize>, Stopped> {
        if self.tie.is_none() {
            self.compete(machine, size, None)?;
            return Ok(self.contest.best().map(|(_, index)| index));
        }
        self.compete(machine, size, Some(self.rule.options.slack))?;
        let Self { grid, candidates, survey, tie: Some(tie), stop, .. } = self else {
            return Ok(None);
        };
        let admitted = self.contest.admitted();
        if let [(_, only)] = admitted {
            return Ok(Some(*only));
        }
        let ranked = admitted.iter().take_while(|_| !stop.is_raised()).map(|&(score, index)| {
            let centre = candidates.centre(index);
            set.clear();
            let outermost = survey.collect(machine, centre, candidates.earlier(index), size, set);
            (tie.value(grid, survey.coords(), machine, centre, outermost, set), score, index)
        });
        let winner = ranked.min();
        set.clear();
        stop.check()?;
        Ok(winner.map(|(_, _, index)| index))
    }

    /// The `size` processors around a candidate.
    fn collect(&mut self, machine: &Machine, index: usize, size: usize, chosen: &mut Vec<NodeId>) {
        let earlier = self.candidates.earlier(index);
        self.survey.collect(machine, self.candidates.centre(index), earlier, size, chosen);
    }
}

impl Allocator for Pairwise {
    fn takes_outages(&self) -> bool {
        true
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        if settled_by_count(machine, size, chosen)? {
            self.notes.say(|| "it asks for all that are free, and takes them".to_string());
            return Ok(());
        }
        if self.notes.are_read() {
            told::tell(&self.notes, &self.rule, machine, &self.grid, size, &self.stop)?;
        }
        if self.rule.options.order == ShellOrder::Greedy {
            let winner = self.rule.choose_unless(&self.stop, machine, &self.grid, size)?;
            chosen.extend(winner.ok_or(Refusal::Fragmented)?.nodes);
        } else {
            let winner = self.winner(machine, size, chosen)?.ok_or(Refusal::Fragmented)?;
            self.collect(machine, winner, size, chosen);
        }
        Ok(())
    }

    fn tied_sets(&mut self, machine: &Machine, request: Request) -> Option<u32> {
        let size = request.size as usize;
        if size >= machine.free_count() {
            return (size == machine.free_count()).then_some(1);
        }
        if self.rule.options.order == ShellOrder::Greedy {
            return self.rule.tied_sets_unless(&self.stop, machine, &self.grid, size).ok();
        }
        self.compete(machine, size, Some(Slack::NONE)).ok()?;
        let Self { candidates, contest, survey, stop, .. } = self;
        let tied = contest.admitted();
        let mut sets = std::collections::HashSet::with_capacity(tied.len());
        for &(_, index) in tied {
            stop.check().ok()?;
            let mut set = Vec::with_capacity(size);
            survey.collect(
                machine,
                candidates.centre(index),
                candidates.earlier(index),
                size,
                &mut set,
            );
            set.sort_unstable();
            sets.insert(set);
        }
        Some(sets.len() as u32)
    }

    fn reset(&mut self) {
        if let Some(mesh) = &mut self.mesh {
            mesh.reset();
        }
    }

    fn tells(&mut self, notes: &Notes) {
        self.notes = notes.clone();
    }

    fn stopped_by(&mut self, stop: &Stop) {
        self.stop = stop.clone();
    }
}

#[cfg(test)]
mod tests;
