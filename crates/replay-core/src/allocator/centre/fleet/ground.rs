use super::sets::{Held, mix};
use crate::machine::Machine;
use crate::topology::NodeId;

/// A job has no set.
pub const NOTHING: u32 = u32::MAX;

/// What ways decide before: the free processors, whoever holds the others.
#[derive(Debug)]
pub struct Ground {
    pub machine: Machine,
    /// Who holds the others, in all the ways there are.
    pub states: Vec<State>,
    /// Of the free processors and of those out of service.
    hash: u64,
}

/// Ways in which every running job has the same set.
#[derive(Debug, Default)]
pub struct State {
    /// By slot, the number of the set that the job there has.
    pub places: Vec<u32>,
    /// Numbers of the ways.
    pub ways: Vec<u32>,
    /// Of all running jobs and their sets.
    hash: u64,
}

impl Ground {
    /// Before this machine. Hashes compare grounds that come of one.
    pub fn new(machine: Machine) -> Self {
        Self { machine, states: Vec::new(), hash: 0 }
    }

    /// Another of the same machine, to [copy](Self::copy_from) to.
    pub fn another(&self) -> Self {
        Self::new(self.machine.clone())
    }

    /// Takes over the processors of another; its states stay where they are.
    pub fn copy_from(&mut self, other: &Self) {
        self.machine.copy_from(&other.machine);
        self.hash = other.hash;
        self.states.clear();
    }

    /// A set is given to a job.
    pub fn occupy(&mut self, set: &Held) {
        self.hash = self.hash.wrapping_sub(set.hash);
        self.machine.occupy(&set.nodes);
    }

    /// A job gives a set back.
    pub fn release(&mut self, set: &Held) {
        self.hash = self.hash.wrapping_add(set.hash);
        self.machine.release(&set.nodes);
    }

    /// A free processor leaves, out of service.
    pub fn withdraw(&mut self, node: NodeId) {
        self.hash = self.hash.wrapping_add(of_down(node)).wrapping_sub(mix(u64::from(node.0)));
        self.machine.withdraw(&[node]);
    }

    /// It returns.
    pub fn restore(&mut self, node: NodeId) {
        self.hash = self.hash.wrapping_sub(of_down(node)).wrapping_add(mix(u64::from(node.0)));
        self.machine.restore(&[node]);
    }

    /// Different for grounds that are not alike, nearly always.
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

impl State {
    /// These ways, of which no job runs.
    pub fn new(ways: Vec<u32>) -> Self {
        Self { ways, ..Self::default() }
    }

    /// Takes over the jobs of another, without its ways.
    pub fn copy_from(&mut self, other: &Self) {
        self.places.clone_from(&other.places);
        self.hash = other.hash;
        self.ways.clear();
    }

    /// The job in a slot gets a set.
    pub fn start(&mut self, slot: usize, set: u32) {
        if slot >= self.places.len() {
            self.places.resize(slot + 1, NOTHING);
        }
        self.places[slot] = set;
        self.hash = self.hash.wrapping_add(of_place(slot, set));
    }

    /// The job in a slot ends.
    pub fn end(&mut self, slot: usize) {
        self.hash = self.hash.wrapping_sub(of_place(slot, self.places[slot]));
        self.places[slot] = NOTHING;
    }

    /// Different for states that are not alike, nearly always.
    pub fn hash(&self) -> u64 {
        self.hash
    }
}

fn of_place(slot: usize, set: u32) -> u64 {
    mix((slot as u64) << 32 | u64::from(set))
}

fn of_down(node: NodeId) -> u64 {
    mix(1 << 32 | u64::from(node.0))
}
