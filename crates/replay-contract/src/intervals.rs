//! A simple allocator that can refuse jobs.

use replay_engine::allocator::{Allocator, Capabilities, Refusal, Request};
use replay_engine::machine::Machine;
use replay_engine::topology::NodeId;

/// First fit on a row of processors: a job gets the first sequence of consecutive free processors that is long enough,
/// or is refused.
#[derive(Clone, Copy, Debug)]
pub struct Intervals;

impl Allocator for Intervals {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        if machine.free_count() < size {
            return Err(Refusal::TooFewFree);
        }
        let free = machine.free_map();
        let base = free.windows(size).position(|gap| gap.iter().all(|&free| free));
        let base = base.ok_or(Refusal::Fragmented)?;
        chosen.extend((base..base + size).map(|node| NodeId(node as u32)));
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { refusals_last: true, ..Capabilities::coupled() }
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(Intervals))
    }
}
