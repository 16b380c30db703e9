//! Replay of one timeline with many tie configurations at once, by a [`BatchReplay`].
//!
//! Each configuration gets the same placements as in a separate [replay](Simulation::run). A test compares the
//! placements of every job.

use super::input::Input;
use super::{Event, Simulation, SimulationError, Timeline};
use crate::allocator::centre::{BatchPlacement, BatchReplay};
use crate::topology::NodeId;
use crate::workload::JobId;

/// An allocation that a set of configurations makes.
#[derive(Debug)]
pub struct Placed<'a> {
    /// The job.
    pub job: JobId,
    /// The processors of the job in the allocator's order.
    pub nodes: &'a [NodeId],
    /// Sum of hop distances over all pairs of the job's processors.
    pub pairwise_l1: u64,
    /// The numbers of the configurations. A configuration that is removed from this list is not replayed further.
    pub configs: &'a mut Vec<u32>,
}

impl Simulation<'_> {
    /// Replays a timeline with each configuration of a batch. The batch must have the machine of the simulation.
    /// `observe` gets each allocation with the configurations that make it. Several calls may report the same
    /// allocation. Returns the number of decisions, which is at most the product of configurations and jobs.
    ///
    /// # Errors
    /// [`SimulationError`] if a job finds too few free processors, or on cancellation.
    pub fn lockstep(
        &self,
        timeline: &Timeline,
        mut batch: BatchReplay,
        observe: &mut dyn FnMut(Placed<'_>),
    ) -> Result<u64, SimulationError> {
        let Input { jobs, stop, .. } = self.input;
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
                    decided += batch.occupancies() as u64;
                    let job = &jobs[id.index()];
                    let placed =
                        &mut |BatchPlacement { nodes, pairwise_l1, configs }: BatchPlacement<
                            '_,
                        >| {
                            observe(Placed { job: id, nodes, pairwise_l1, configs });
                        };
                    batch
                        .start(slot as usize, job.size, stop, None, placed)
                        .map_err(|refusal| SimulationError::Refused(job.number, refusal))?;
                    if batch.occupancies() == 0 {
                        return Ok(decided);
                    }
                }
                Event::End(id) => {
                    let slot = slots[id.index()];
                    batch.end(slot as usize);
                    spare_slots.push(slot);
                }
            }
        }
        Ok(decided)
    }
}

#[cfg(test)]
mod tests;
