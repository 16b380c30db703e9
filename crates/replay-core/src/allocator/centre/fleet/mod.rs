//! Many ways to break ties, each on a machine of its own, that see the same starts and ends.
//!
//! MC1x1 decides by which processors are free, whoever holds the others. Machines on which the same
//! are free stand on one *ground*, which is decided for once; it parts where its ways choose different
//! processors, and where a job ends that had different ones. Ways that have made the same choices, as far as
//! jobs that still run are concerned, are in one *state* and stay together until they choose differently.
//! Grounds and states that no longer differ become one again. What comes out is, for each way, what
//! MC1x1 does alone: tests compare them choice by choice.
//!
//! Memory: one machine for each ground, so at most for each way. Counts are made anew for each decision, in one
//! place that stays near the processor: kept for each ground, they would have to come from afar.

mod ground;
mod sets;

use std::collections::HashMap;
use std::hash::{BuildHasherDefault, Hasher};

use crate::allocator::centre::mc1x1::{Counts, Many, Way};
use crate::allocator::{Refusal, settled_by_count};
use crate::machine::{Count, Machine};
use crate::topology::NodeId;
use ground::{Ground, NOTHING, State};
use sets::Sets;

/// What an allocation comes to, for all ways that make it in one state.
#[derive(Debug)]
pub struct Berth<'a> {
    /// The processors, as they were chosen by somebody.
    pub nodes: &'a [NodeId],
    /// Sum of hop distances over all pairs of them.
    pub pairwise_l1: u64,
    /// The ways, by number. Those taken out go no further.
    pub ways: &'a mut Vec<u32>,
}

/// Someone who decides with the fleet, on a machine of which the fleet keeps no account.
#[derive(Debug)]
pub struct Guest<'a> {
    /// Number of the way, which is nobody's of the fleet.
    pub way: u32,
    /// The ground that is like the guest's machine ([`Fleet::like`]).
    pub ground: usize,
    /// What the guest chooses is appended to this.
    pub chosen: &'a mut Vec<NodeId>,
}

/// Choice on a ground: its winning centre, and the number of the set around it.
type Choice = (NodeId, u32);

/// The machines of some ways, on which jobs start and end in step.
#[derive(Debug)]
pub struct Fleet<C> {
    many: Many,
    /// Of the ground that is decided for.
    counts: Counts<C>,
    grounds: Vec<Ground>,
    /// Those that nobody is in, to be used again.
    spare: Vec<Ground>,
    spare_states: Vec<State>,
    sets: Sets,
    /// By processor: whether it has left. On some grounds a job may still be on it. Empty if none ever has.
    gone: Vec<bool>,
    members: Vec<u32>,
    winners: Vec<NodeId>,
    choices: Vec<Choice>,
    chosen: Vec<NodeId>,
    /// Places by hash.
    at: HashMap<u64, usize, BuildHasherDefault<Mixed>>,
}

impl<C: Count> Fleet<C> {
    /// The first so many ways of `many`, all before a machine on which no job runs.
    pub fn new(machine: &Machine, many: Many, ways: u32) -> Self {
        let mut first = Ground::new(machine.clone());
        first.states.push(State::new((0..ways).collect()));
        let mut gone = Vec::new();
        if machine.down_count() > 0 {
            gone.extend(machine.topology().nodes().map(|node| machine.is_down(node)));
        }
        Self {
            counts: many.counts(),
            many,
            grounds: vec![first],
            spare: Vec::new(),
            spare_states: Vec::new(),
            sets: Sets::new(machine.topology()),
            gone,
            members: Vec::new(),
            winners: Vec::new(),
            choices: Vec::new(),
            chosen: Vec::new(),
            at: HashMap::default(),
        }
    }

    /// Machines that are decided for.
    pub fn grounds(&self) -> usize {
        self.grounds.len()
    }

    /// The ground that is like a machine, if there is one.
    pub fn like(&self, machine: &Machine) -> Option<usize> {
        self.grounds.iter().position(|ground| ground.machine.is_like(machine))
    }

    /// From now on a way breaks ties differently.
    pub fn turn(&mut self, way: u32, to: Way) {
        self.many.turn(way, to);
    }

    /// A job of so many processors starts in every state; `observe` hears of each. Where too few are
    /// free it gets none.
    ///
    /// # Errors
    /// [`Refusal`] if too few were free somewhere. The job has started all the same.
    pub fn start(
        &mut self,
        slot: usize,
        size: u32,
        mut guest: Option<Guest<'_>>,
        mut observe: impl FnMut(Berth<'_>),
    ) -> Result<(), Refusal> {
        self.sets.open(slot);
        let before = self.grounds.len();
        let mut outcome = Ok(());
        for number in 0..before {
            let guest = guest.as_mut().filter(|guest| guest.ground == number);
            let one = match self.decide(number, size, slot, guest) {
                Ok(one) => one,
                Err(refusal) => {
                    outcome = Err(refusal);
                    Some(NOTHING)
                }
            };
            if let Some(set) = one {
                self.place(number, slot, set, &mut observe);
                continue;
            }
            // The first choice stays; each further one takes its ways to a machine of their own.
            let stays = self.choices[0].1;
            for choice in 1..self.choices.len() {
                let away = self.choices[choice].1;
                let seen = self.choices[..choice].iter().any(|&(_, set)| set == away);
                if !seen {
                    self.move_away(number, away);
                    self.place(self.grounds.len() - 1, slot, away, &mut observe);
                }
            }
            self.place(number, slot, stays, &mut observe);
        }
        self.sweep();
        if self.sets.count(slot) > 1 {
            self.join_grounds();
        }
        outcome
    }

    /// Decides on a ground; the set that all its ways choose, or `None` if they differ: who wants what
    /// is then in `winners`, in the order of `members`, and in `choices`.
    fn decide(
        &mut self,
        number: usize,
        size: u32,
        slot: usize,
        guest: Option<&mut Guest<'_>>,
    ) -> Result<Option<u32>, Refusal> {
        let Self { many, counts, grounds, sets, members, winners, choices, chosen, .. } = self;
        let Ground { machine, states, .. } = &grounds[number];
        chosen.clear();
        if settled_by_count(machine, size as usize, chosen)? {
            if let Some(guest) = guest {
                guest.chosen.extend_from_slice(chosen);
            }
            return Ok(Some(sets.number(slot, chosen)));
        }
        members.clear();
        states.iter().for_each(|state| members.extend_from_slice(&state.ways));
        members.extend(guest.iter().map(|guest| guest.way));
        counts.turn_to(machine);
        many.decide(machine, counts, size, members, winners);
        if let Some(guest) = guest
            && let Some(winner) = winners.pop()
        {
            many.collect(machine, counts, winner, size, guest.chosen);
        }
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

    /// Those of the ground who want this set go to a ground of their own, the last one.
    fn move_away(&mut self, number: usize, away: u32) {
        self.part(number);
        let Self { grounds, spare_states, winners, choices, .. } = self;
        let Some((apart, grounds)) = grounds.split_last_mut() else { return };
        // Winners of those who stay move up, as members do.
        let (mut place, mut kept) = (0, 0);
        for state in &mut grounds[number].states {
            let mut theirs: Option<State> = None;
            let (ways, mut stay) = (state.ways.len(), 0);
            for i in 0..ways {
                let winner = winners[place];
                place += 1;
                if set_of(choices, winner) == away {
                    let theirs = theirs.get_or_insert_with(|| {
                        let mut theirs = spare_states.pop().unwrap_or_default();
                        theirs.copy_from(state);
                        theirs
                    });
                    theirs.ways.push(state.ways[i]);
                } else {
                    (state.ways[stay], winners[kept]) = (state.ways[i], winner);
                    (stay, kept) = (stay + 1, kept + 1);
                }
            }
            state.ways.truncate(stay);
            apart.states.extend(theirs);
        }
        winners.truncate(kept);
        let states = &mut grounds[number].states;
        spare_states.extend(states.extract_if(.., |state| state.ways.is_empty()));
    }

    /// A ground like this one, without states, becomes the last.
    fn part(&mut self, number: usize) {
        let mut apart = self.spare.pop().unwrap_or_else(|| self.grounds[number].another());
        apart.copy_from(&self.grounds[number]);
        self.grounds.push(apart);
    }

    /// The job gets a set, or nothing, in all states of a ground.
    fn place(&mut self, number: usize, slot: usize, set: u32, observe: &mut impl FnMut(Berth<'_>)) {
        let ground = &mut self.grounds[number];
        ground.states.iter_mut().for_each(|state| state.start(slot, set));
        if set == NOTHING {
            return;
        }
        let held = self.sets.get(slot, set);
        ground.occupy(held);
        for State { ways, .. } in &mut ground.states {
            observe(Berth { nodes: &held.nodes, pairwise_l1: held.pairwise_l1, ways });
        }
    }

    /// Some may go no further.
    fn sweep(&mut self) {
        for number in (0..self.grounds.len()).rev() {
            let states = &mut self.grounds[number].states;
            if states.iter().any(|state| state.ways.is_empty()) {
                self.spare_states.extend(states.extract_if(.., |state| state.ways.is_empty()));
            }
            if self.grounds[number].states.is_empty() {
                self.spare.push(self.grounds.swap_remove(number));
            }
        }
    }

    /// The job in a slot ends everywhere; a ground on which it has different sets parts.
    pub fn end(&mut self, slot: usize) {
        let differed = self.sets.count(slot) > 1;
        for number in 0..self.grounds.len() {
            let set = |ground: &Ground, state: usize| ground.states[state].places[slot];
            let stays = set(&self.grounds[number], 0);
            let mut other = 1;
            while differed && other < self.grounds[number].states.len() {
                let away = set(&self.grounds[number], other);
                if away == stays {
                    other += 1;
                    continue;
                }
                self.part(number);
                let Some((apart, grounds)) = self.grounds.split_last_mut() else { return };
                let here = &mut grounds[number].states;
                apart.states.extend(here.extract_if(other.., |state| state.places[slot] == away));
                self.give_back(self.grounds.len() - 1, slot, away);
            }
            self.give_back(number, slot, stays);
        }
        self.sets.close(slot);
        if differed {
            self.join_grounds();
            self.join_states();
        }
    }

    /// The job in a slot, which has this set in all states of a ground, gives it back. What has left
    /// meanwhile leaves now.
    fn give_back(&mut self, number: usize, slot: usize, set: u32) {
        let ground = &mut self.grounds[number];
        ground.states.iter_mut().for_each(|state| state.end(slot));
        if set == NOTHING {
            return;
        }
        let held = self.sets.get(slot, set);
        ground.release(held);
        if !self.gone.is_empty() {
            let leaving = held.nodes.iter().filter(|node| self.gone[node.index()]);
            leaving.for_each(|&node| ground.withdraw(node));
        }
    }

    /// Processors leave all machines: at once where they are free, else when the job on them ends.
    pub fn withdraw(&mut self, nodes: &[NodeId]) {
        let Some(processors) = self.grounds.first().map(|ground| ground.machine.processors())
        else {
            return;
        };
        self.gone.resize(processors, false);
        for &node in nodes {
            self.gone[node.index()] = true;
            for ground in self.grounds.iter_mut().filter(|ground| ground.machine.is_free(node)) {
                ground.withdraw(node);
            }
        }
    }

    /// They return.
    pub fn restore(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            if let Some(gone) = self.gone.get_mut(node.index()) {
                *gone = false;
            }
            for ground in self.grounds.iter_mut().filter(|ground| ground.machine.is_down(node)) {
                ground.restore(node);
            }
        }
    }

    /// Grounds that are alike become one.
    fn join_grounds(&mut self) {
        if self.grounds.len() < 2 {
            return;
        }
        self.at.clear();
        let mut number = 0;
        while number < self.grounds.len() {
            let other = *self.at.entry(self.grounds[number].hash()).or_insert(number);
            let machine = &self.grounds[number].machine;
            if other == number || !self.grounds[other].machine.is_like(machine) {
                number += 1;
                continue;
            }
            let mut gone = self.grounds.swap_remove(number);
            self.grounds[other].states.append(&mut gone.states);
            self.spare.push(gone);
        }
    }

    /// States that are alike become one; they are on one ground.
    fn join_states(&mut self) {
        for Ground { states, .. } in &mut self.grounds {
            if states.len() < 2 {
                continue;
            }
            self.at.clear();
            let mut number = 0;
            while number < states.len() {
                let other = *self.at.entry(states[number].hash()).or_insert(number);
                if other == number || states[other].places != states[number].places {
                    number += 1;
                    continue;
                }
                let mut gone = states.swap_remove(number);
                states[other].ways.append(&mut gone.ways);
                self.spare_states.push(gone);
            }
        }
    }

    /// Of the machine of each way, by number: free processors, those out of service, and those that are to leave.
    #[cfg(test)]
    pub fn counts(&self) -> Vec<[usize; 3]> {
        let mut counts = Vec::new();
        for ground in &self.grounds {
            let machine = &ground.machine;
            let gone = self.gone.iter().filter(|&&gone| gone).count();
            let here = [machine.free_count(), machine.down_count(), gone - machine.down_count()];
            let ways = ground.states.iter().flat_map(|state| &state.ways);
            counts.extend(ways.map(|&way| (way, here)));
        }
        counts.sort_unstable();
        counts.into_iter().map(|(_, here)| here).collect()
    }
}

/// The number of the set around a winning centre.
fn set_of(choices: &[Choice], winner: NodeId) -> u32 {
    choices.iter().find(|&&(centre, _)| centre == winner).map_or(0, |&(_, set)| set)
}

/// Takes hashes for what they are.
#[derive(Clone, Copy, Debug, Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(byte);
        }
    }

    fn write_u64(&mut self, number: u64) {
        self.0 = number;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}
