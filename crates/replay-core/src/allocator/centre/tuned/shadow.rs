use crate::allocator::centre::mc1x1::Mc1x1;
use crate::allocator::notes::Notes;
use crate::allocator::{Allocator, Request};
use crate::machine::Machine;
use crate::stop::Stop;
use crate::topology::{NodeId, PairDistances};

/// A machine beside the real one, on which a tie vector of its own serves the same
/// requests, by itself.
///
/// MC1x1 serves every request that finds enough free processors, whatever its vector, and
/// a shadow has as many free as the real machine: it never falls out of step. Of processors that leave the
/// real machine a shadow may have a job on some; they leave it when that job ends, so that until then it has
/// more free than the real one.
#[derive(Debug)]
pub struct Shadow {
    engine: Mc1x1,
    machine: Machine,
    /// Processors of the jobs that run, by the job's slot.
    held: Vec<Vec<NodeId>>,
    /// By processor: whether it is to leave when its job ends. Empty if none ever was.
    leaving: Vec<bool>,
}

impl Shadow {
    /// A shadow of `machine`, which is empty, that `engine` serves.
    pub fn new(machine: &Machine, engine: Mc1x1) -> Self {
        Self { engine, machine: machine.clone(), held: Vec::new(), leaving: Vec::new() }
    }

    /// Goes on with another vector.
    pub fn turn(&mut self, engine: Mc1x1) {
        self.engine = engine;
    }

    /// Processors that are free, those that are out of service, and those that are to leave.
    #[cfg(test)]
    pub fn counts(&self) -> [usize; 3] {
        let leaving = self.leaving.iter().filter(|&&leaving| leaving).count();
        [self.machine.free_count(), self.machine.down_count(), leaving]
    }

    /// Serves a request, for the job in `slot`, whose pairwise L1 it returns. Without enough free processors, which only
    /// a caller can bring about who does not occupy what it was given, it passes.
    pub fn start(&mut self, slot: usize, request: Request, distances: &mut PairDistances) -> u64 {
        if slot >= self.held.len() {
            self.held.resize_with(slot + 1, Vec::new);
        }
        let nodes = &mut self.held[slot];
        nodes.clear();
        if self.engine.allocate(&self.machine, request, nodes).is_ok() {
            self.machine.occupy(nodes);
            return distances.sum(nodes);
        }
        0
    }

    /// Lets a flag break off its decisions.
    pub fn stopped_by(&mut self, stop: &Stop) {
        self.engine.attach(&Notes::default(), stop);
    }

    /// The job in `slot` ends.
    pub fn end(&mut self, slot: usize) {
        let Some(nodes) = self.held.get_mut(slot) else { return };
        self.machine.release(nodes);
        if !self.leaving.is_empty() {
            nodes.retain(|node| std::mem::take(&mut self.leaving[node.index()]));
            self.machine.withdraw(nodes);
        }
        nodes.clear();
    }

    /// Processors have left the real machine.
    pub fn withdraw(&mut self, nodes: &[NodeId]) {
        self.leaving.resize(self.machine.processors(), false);
        for &node in nodes {
            match self.machine.is_free(node) {
                true => self.machine.withdraw(&[node]),
                false => self.leaving[node.index()] = true,
            }
        }
    }

    /// They have returned to it.
    pub fn restore(&mut self, nodes: &[NodeId]) {
        for &node in nodes {
            match self.machine.is_down(node) {
                true => self.machine.restore(&[node]),
                false => self.leaving[node.index()] = false,
            }
        }
    }
}
