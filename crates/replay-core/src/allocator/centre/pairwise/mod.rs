//! Gen-Alg (Krumke et al. 1997) and MM (Bender et al. 2008) with the tie-breaking of
//! Johnson, Bunde, Leung (sections I, II and IV).
//!
//! Shells are L1 shells and the score is the sum of pairwise L1 distances. Gen-Alg's
//! candidate centres are the free processors; MM's are all positions whose every
//! coordinate occurs in some free processor, in order of first appearance.
//!
//! Four engines give the same scores. `Line` serves meshes of one dimension, by sums along it.
//! `Mesh` serves 2D meshes: it knows from tables how far each centre reaches, rules out most
//! centres by lower bounds before the order inside a shell is asked for, and scores all
//! surroundings without a gap only once. `Balls` does the like on 3D and wrapped grids, 16
//! centres at a time, by counts in balls and in their sections. `Survey` serves every grid: it
//! passes over the free processors once per candidate. A winner's processors are
//! collected by the latter in all cases. Only the best score and its candidate are kept;
//! with a tie vector all that are admitted, and of these the tie values are computed.

mod arc;
mod balls;
mod candidates;
mod contest;
mod diamond;
mod least;
mod line;
mod mesh;
mod reach;
mod sections;
mod shell;
mod survey;
mod tie;
mod undecided;
mod whole;
mod window;

use crate::allocator::centre::literal::{CentreRule, Centres, Score};
use crate::allocator::centre::options::{CentreOptions, Metric, ShellOrder};
use crate::allocator::centre::slack::Slack;
use crate::allocator::centre::told;
use crate::allocator::notes::Notes;
use crate::allocator::{
    Allocator, Capabilities, Refusal, Request, RunSetup, Stats, settled_by_count,
};
use crate::machine::Machine;
use crate::stop::{Stop, Stopped};
use crate::topology::{Grid, NodeId};
use balls::Balls;
use candidates::Candidates;
use contest::Contest;
use line::Line;
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
    engine: Engine,
    survey: Survey,
    tie: Option<TieValues>,
    stop: Stop,
    notes: Notes,
    count_ties: bool,
    /// Those of the last request.
    tied: Option<u32>,
}

/// What scores the candidates.
#[derive(Debug)]
enum Engine {
    Line(Line),
    Mesh(Box<Mesh>),
    Balls(Box<Balls>),
    Survey,
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
        CentreRule { centres, metric: Metric::L1, score: Score::PairwiseL1, options }
    }

    fn new(grid: &Grid, rule: CentreRule) -> Self {
        let vector = rule.options.tie.filter(|vector| !vector.is_indifferent());
        let engine = Line::new(grid)
            .map(Engine::Line)
            .or_else(|| Mesh::new(grid).map(|mesh| Engine::Mesh(Box::new(mesh))))
            .or_else(|| Balls::new(grid).map(|balls| Engine::Balls(Box::new(balls))))
            .unwrap_or(Engine::Survey);
        Self {
            candidates: Candidates::new(rule.centres, grid),
            contest: Contest::default(),
            engine,
            survey: Survey::new(grid, rule.options.order),
            tie: vector.map(|vector| TieValues::new(grid, vector, rule.options.wall)),
            grid: grid.clone(),
            rule,
            stop: Stop::new(),
            notes: Notes::default(),
            count_ties: false,
            tied: None,
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
        let order = rule.options.order;
        candidates.list(machine, survey.coords());
        contest.start(slack.is_some());
        let admitted = |best| slack.map_or(best, |slack| slack.admitted(best));
        match &mut self.engine {
            Engine::Line(line) => line.compete(machine, size, contest, admitted),
            Engine::Mesh(mesh) => {
                mesh.compete(machine, candidates, order, size, contest, admitted);
            }
            Engine::Balls(balls) => {
                let coords = survey.coords();
                candidates.find_lines();
                balls.compete(machine, candidates, coords, order, size, contest, admitted, stop)?;
            }
            Engine::Survey => {
                for index in 0..candidates.len() {
                    stop.check()?;
                    let earlier = candidates.earlier(index);
                    let score = survey.score(machine, candidates.centre(index), earlier, size);
                    contest.enter(score, index, admitted);
                }
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
        tie.look(machine);
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
}

impl Allocator for Pairwise {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        (self.notes, self.stop) = (setup.notes.clone(), setup.stop.clone());
        (self.count_ties, self.tied) = (setup.count_ties, None);
        match &mut self.engine {
            Engine::Mesh(mesh) => mesh.reset(),
            Engine::Balls(balls) => balls.reset(),
            Engine::Line(_) | Engine::Survey => {}
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

    fn capabilities(&self) -> Capabilities {
        Capabilities { supports_outages: true, counts_ties: true, ..Capabilities::default() }
    }

    fn stats(&self) -> Stats {
        Stats { tied_sets: self.tied, ..Stats::default() }
    }
}

#[cfg(test)]
mod tests;
