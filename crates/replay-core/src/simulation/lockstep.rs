//! One timeline replayed for many tie vectors at once, by a [`Fleet`].
//!
//! Each vector gets what it gets when it is [replayed](Simulation::run) alone: a test compares them job by
//! job.
//!
//! Memory: that of the fleet.

use super::engine::Input;
use super::{Event, Simulation, SimulationError, Timeline};
use crate::allocator::centre::fleet::{Berth, Fleet};
use crate::allocator::centre::mc1x1::{Many, Mc1x1};
use crate::machine::{Count, Machine};
use crate::topology::NodeId;
use crate::workload::JobId;

/// What an allocation comes to, for vectors that make it.
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

impl Simulation<'_> {
    /// Replays a timeline, whose machine is the grid of `many`, once for each of its ways.
    /// `observe` sees each allocation with those that make it, in one or several parts. Returns the machines that
    /// were decided for: where nothing is shared, ways times jobs.
    ///
    /// # Errors
    /// [`SimulationError`] if a job finds too few processors, or if stopped.
    pub fn lockstep(
        &self,
        timeline: &Timeline,
        many: Many,
        observe: impl FnMut(Placed<'_>),
    ) -> Result<u64, SimulationError> {
        match self.input.topology.grid().is_some_and(Mc1x1::<u16>::takes) {
            true => lockstep::<u16>(timeline, self.input, many, observe),
            false => lockstep::<u32>(timeline, self.input, many, observe),
        }
    }
}

fn lockstep<C: Count>(
    timeline: &Timeline,
    Input { jobs, topology, stop, .. }: Input<'_>,
    many: Many,
    mut observe: impl FnMut(Placed<'_>),
) -> Result<u64, SimulationError> {
    let ways = many.ways() as u32;
    let mut fleet = Fleet::<C>::new(&Machine::new(topology.clone()), many, ways);
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
                decided += fleet.grounds() as u64;
                let job = &jobs[id.index()];
                let placed = |Berth { nodes, pairwise_l1, ways }: Berth<'_>| {
                    observe(Placed { job: id, nodes, pairwise_l1, ways });
                };
                fleet
                    .start(slot as usize, job.size, None, placed)
                    .map_err(|refusal| SimulationError::Refused(job.number, refusal))?;
                if fleet.grounds() == 0 {
                    return Ok(decided);
                }
            }
            Event::End(id) => {
                let slot = slots[id.index()];
                fleet.end(slot as usize);
                spare_slots.push(slot);
            }
        }
    }
    Ok(decided)
}

#[cfg(test)]
mod tests;
