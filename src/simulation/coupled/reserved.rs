//! The place that a job waits for.

use crate::allocator::{Allocator, Refusal, Request};
use crate::machine::Machine;
use crate::topology::NodeId;
use crate::workload::JobId;

/// Where and when a waiting job will have processors, by estimates.
#[derive(Clone, Debug)]
pub struct Reserved {
    /// The job.
    pub job: JobId,
    /// The earliest instant.
    pub at: i64,
    /// By processor: whether it is of the place.
    taken: Vec<bool>,
}

impl Reserved {
    /// Asks a copy of the allocator on a copy of the machine, of which the `running` jobs give back
    /// their processors at their estimated ends, in ascending order, those that are over now at `now`:
    /// once with every instant's processors, until there is a place. `None` if there is none on the
    /// empty machine.
    ///
    /// # Errors
    /// Stopped in the middle of a decision.
    pub fn find<'a>(
        (job, request): (JobId, Request),
        now: i64,
        machine: &Machine,
        allocator: &dyn Allocator,
        running: impl Iterator<Item = (i64, &'a [NodeId])>,
    ) -> Result<Option<Self>, Refusal> {
        let Some(mut allocator) = allocator.copy() else { return Ok(None) };
        let mut machine = machine.clone();
        let mut nodes = Vec::new();
        let mut running = running.map(|(end, nodes)| (end.max(now), nodes)).peekable();
        while let Some((at, given)) = running.next() {
            machine.release(given);
            allocator.released(&machine, given);
            let last_of_instant = running.peek().is_none_or(|(next, _)| *next > at);
            if !last_of_instant || machine.free_count() < request.size as usize {
                continue;
            }
            match allocator.allocate(&machine, request, &mut nodes) {
                Ok(()) => {
                    let mut taken = vec![false; machine.processors()];
                    nodes.iter().for_each(|node| taken[node.index()] = true);
                    return Ok(Some(Self { job, at, taken }));
                }
                Err(Refusal::Stopped(stopped)) => return Err(stopped.into()),
                Err(Refusal::TooFewFree | Refusal::Fragmented) => {}
            }
        }
        Ok(None)
    }

    /// Whether the place is free still beside a job on these.
    pub fn spared_by(&self, nodes: &[NodeId]) -> bool {
        !nodes.iter().any(|node| self.taken[node.index()])
    }
}
