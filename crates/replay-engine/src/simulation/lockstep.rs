//! Replay of one timeline with many tie configurations at once, by a [`Batch`].
//!
//! Each configuration makes the same placements as in a separate [replay](Simulation::run). A test compares the
//! placements of every job.

use super::input::Input;
use super::{Event, Simulation, SimulationError, Timeline};
use crate::allocator::{Batch, BatchPlacement};
use crate::workload::JobId;

impl Simulation<'_> {
    /// Replays a timeline with each configuration of a batch. The batch must have been created for the machine of the
    /// simulation. `observe` is called with each job, its allocation, and the configurations that make this allocation.
    /// Several calls may report the same allocation. Returns the number of decisions, which is at most one per job and
    /// configuration.
    ///
    /// # Errors
    /// [`SimulationError`] if a job finds too few free processors, or on cancellation.
    pub fn lockstep(
        &self,
        timeline: &Timeline,
        batch: &mut dyn Batch,
        observe: &mut dyn FnMut(JobId, BatchPlacement<'_>),
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
                    batch
                        .start(slot as usize, job.size, stop, &mut |placed| observe(id, placed))
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
