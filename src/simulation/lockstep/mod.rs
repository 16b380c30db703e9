//! One timeline replayed for many tie vectors at once.
//!
//! Vectors that have made the same choices, as far as jobs that still run are concerned, stand before
//! the same machine: they form a *group*, which has one machine, decides once, and parts only where
//! its vectors choose different processors. When a job ends that had different places, groups that no
//! longer differ become one again. What comes out is, for each vector, what [`replay`](super::replay)
//! gives: a test compares them job by job.
//!
//! Memory: one machine and its counts for each group, so at most for each vector.

mod group;
mod sets;

use std::collections::HashMap;

use super::{Event, ReplayError, Scene, Timeline};
use crate::allocator::centre::mc1x1::Many;
use crate::allocator::{Refusal, settled_by_count};
use crate::machine::Count;
use crate::topology::{NodeId, PairDistances};
use crate::workload::{Job, JobId};
use group::Group;
use sets::Sets;

/// What an allocation comes to, for all vectors that make it.
#[derive(Debug)]
pub struct Placed<'a> {
    /// The job.
    pub job: JobId,
    /// Its processors, as its allocator listed them.
    pub nodes: &'a [NodeId],
    /// Sum of hop distances over all pairs of them.
    pub pairwise_l1: u64,
    /// The ways that make this choice, by number. Those taken out go no further.
    pub ways: &'a mut Vec<u32>,
}

/// Replays the timeline of a scene, whose machine is the grid of `many`, once for each of its ways.
/// `observe` sees each allocation with those that make it. Returns the machines that were decided
/// for: where nothing is shared, ways times jobs.
///
/// # Errors
/// [`ReplayError`] if a job finds too few processors, or the scene's flag is raised.
pub fn lockstep<C: Count>(
    timeline: &Timeline,
    scene: Scene<'_>,
    many: Many,
    observe: impl FnMut(Placed<'_>),
) -> Result<u64, ReplayError> {
    let Scene { jobs, topology, stop, .. } = scene;
    let ways = (0..many.ways() as u32).collect();
    let first = Group::<C>::new(topology, many.counts(), ways);
    let mut run = Run {
        many,
        groups: vec![first],
        spare: Vec::new(),
        sets: Sets::new(PairDistances::new(topology)),
        winners: Vec::new(),
        choices: Vec::new(),
        chosen: Vec::new(),
        at: HashMap::new(),
        observe,
    };
    let mut spare_slots: Vec<u32> = Vec::new();
    let (mut slots, mut slots_made) = (vec![0u32; jobs.len()], 0);
    let mut decided = 0;
    for event in timeline.events() {
        match *event {
            Event::Start(id) => {
                stop.check()?;
                let slot = spare_slots.pop().unwrap_or_else(|| {
                    slots_made += 1;
                    slots_made - 1
                });
                slots[id.index()] = slot;
                decided += run.groups.len() as u64;
                run.start(id, &jobs[id.index()], slot as usize)?;
                if run.groups.is_empty() {
                    return Ok(decided);
                }
            }
            Event::End(id) => {
                let slot = slots[id.index()];
                run.end(id, slot as usize);
                spare_slots.push(slot);
            }
        }
    }
    Ok(decided)
}

/// Choice of a group: its winning centre, and the number of the set around it.
type Choice = (NodeId, u32);

struct Run<C, O> {
    many: Many,
    groups: Vec<Group<C>>,
    /// Groups that nobody is in, to be used again.
    spare: Vec<Group<C>>,
    sets: Sets,
    winners: Vec<NodeId>,
    choices: Vec<Choice>,
    chosen: Vec<NodeId>,
    /// Groups by the hash of their state.
    at: HashMap<u64, usize>,
    observe: O,
}

impl<C: Count, O: FnMut(Placed<'_>)> Run<C, O> {
    /// A job starts in every group; a group whose ways choose different processors parts.
    fn start(&mut self, id: JobId, job: &Job, slot: usize) -> Result<(), ReplayError> {
        self.sets.open(slot);
        let before = self.groups.len();
        for number in 0..before {
            let refused = |refusal| ReplayError::Refused(job.number, refusal);
            let one = self.decide(number, job.size, slot).map_err(refused)?;
            if let Some(set) = one {
                self.place(number, id, slot, set);
                continue;
            }
            // The first choice stays; each further one takes its ways to a machine of their own.
            let stays = self.choices[0].1;
            while let Some(away) = self.set_besides(number, stays) {
                let mut apart = self.part(number);
                let Self { groups, winners, choices, .. } = self;
                let ways = &mut groups[number].ways;
                let mut kept = 0;
                for i in 0..ways.len() {
                    if set_of(choices, winners[i]) == away {
                        apart.ways.push(ways[i]);
                    } else {
                        (ways[kept], winners[kept]) = (ways[i], winners[i]);
                        kept += 1;
                    }
                }
                ways.truncate(kept);
                winners.truncate(kept);
                self.groups.push(apart);
                self.place(self.groups.len() - 1, id, slot, away);
            }
            self.place(number, id, slot, stays);
        }
        // Some may go no further.
        for number in (0..self.groups.len()).rev() {
            if self.groups[number].ways.is_empty() {
                self.spare.push(self.groups.swap_remove(number));
            }
        }
        Ok(())
    }

    /// Decides for a group; the set that all its ways choose, or `None` if they differ: who wants what
    /// is then in `winners` and `choices`.
    fn decide(&mut self, number: usize, size: u32, slot: usize) -> Result<Option<u32>, Refusal> {
        let Self { many, groups, sets, winners, choices, chosen, .. } = self;
        let Group { machine, counts, ways, .. } = &mut groups[number];
        chosen.clear();
        if settled_by_count(machine, size as usize, chosen)? {
            return Ok(Some(sets.number(slot, chosen)));
        }
        many.decide(machine, counts, size, ways, winners);
        choices.clear();
        let mut same = true;
        for &winner in winners.iter() {
            if choices.iter().all(|&(centre, _)| centre != winner) {
                chosen.clear();
                many.collect(machine, counts, winner, size, chosen);
                let set = sets.number(slot, chosen);
                same &= choices.first().is_none_or(|&(_, first)| first == set);
                choices.push((winner, set));
            }
        }
        Ok(choices.first().map(|&(_, set)| set).filter(|_| same))
    }

    /// A set that a way of the group chooses, other than this one.
    fn set_besides(&self, number: usize, stays: u32) -> Option<u32> {
        let wanted = &self.winners[..self.groups[number].ways.len()];
        wanted.iter().map(|&winner| set_of(&self.choices, winner)).find(|&set| set != stays)
    }

    /// A group in the state of another, without ways.
    fn part(&mut self, number: usize) -> Group<C> {
        let topology = self.groups[number].machine.topology();
        let mut apart = self
            .spare
            .pop()
            .unwrap_or_else(|| Group::new(topology, self.many.counts(), Vec::new()));
        apart.copy_from(&self.groups[number]);
        apart
    }

    /// The job gets a set on the group's machine.
    fn place(&mut self, number: usize, id: JobId, slot: usize, set: u32) {
        let held = self.sets.get(slot, set);
        let group = &mut self.groups[number];
        group.start(id, slot, set, &held.nodes);
        let ways = &mut group.ways;
        (self.observe)(Placed { job: id, nodes: &held.nodes, pairwise_l1: held.pairwise_l1, ways });
    }

    /// A job ends everywhere; groups between which it made the last difference become one.
    fn end(&mut self, id: JobId, slot: usize) {
        for group in &mut self.groups {
            let set = group.places[slot];
            group.end(id, slot, set, &self.sets.get(slot, set).nodes);
        }
        let differed = self.sets.count(slot) > 1;
        self.sets.close(slot);
        if !differed || self.groups.len() < 2 {
            return;
        }
        self.at.clear();
        let mut number = 0;
        while number < self.groups.len() {
            let other = *self.at.entry(self.groups[number].hash()).or_insert(number);
            if other == number || !self.groups[other].is_like(&self.groups[number]) {
                number += 1;
                continue;
            }
            let mut gone = self.groups.swap_remove(number);
            self.groups[other].ways.append(&mut gone.ways);
            self.spare.push(gone);
        }
    }
}

/// The number of the set around a winning centre.
fn set_of(choices: &[Choice], winner: NodeId) -> u32 {
    choices.iter().find(|&&(centre, _)| centre == winner).map_or(0, |&(_, set)| set)
}

#[cfg(test)]
mod tests;
