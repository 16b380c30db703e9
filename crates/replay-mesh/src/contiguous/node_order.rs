//! `first-fit` on trees and block machines: a job gets the free nodes with the lowest numbers.

use replay_engine::allocator::{Allocator, Capabilities, Refusal, Request, require_free};
use replay_engine::machine::Machine;
use replay_engine::topology::NodeId;

/// Allocates the free nodes with the lowest numbers.
#[derive(Clone, Copy, Debug)]
pub struct NodeOrder;

impl Allocator for NodeOrder {
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        require_free(machine, request.size.into())?;
        chosen.extend(machine.free_nodes().take(size));
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { chooses_by_free: true, supports_outages: true, ..Capabilities::default() }
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        Some(Box::new(*self))
    }
}
