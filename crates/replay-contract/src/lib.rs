//! The contract of allocators, for tests.
//!
//! [`drive`] runs a random [`history`] of jobs and outages against an allocator and checks its choices.

use proptest::prelude::*;

use replay_engine::allocator::{Allocator, MachineEvent, Request};
use replay_engine::machine::Machine;
use replay_engine::topology::NodeId;

/// Kind of an event, and two numbers in 0..1 that select jobs, processors or sizes.
pub type Event = (u8, f64, f64);

/// Returns histories with a number of events in this range.
pub fn history(
    events: std::ops::Range<usize>,
) -> impl proptest::strategy::Strategy<Value = Vec<Event>> {
    proptest::collection::vec((0u8..5, 0.0..1.0f64, 0.0..1.0f64), events)
}

fn pick(share: f64, of: usize) -> usize {
    (share * of as f64) as usize
}

/// Runs a history in which jobs start and end, and processors go out of service and return to service. At the end, all
/// jobs have ended and all processors are in service. `request` creates a request from two numbers in 0..1. `served`
/// checks the outcome before the processors become busy. Asserts that the allocator never chooses a processor out of
/// service.
pub fn drive(
    allocator: &mut dyn Allocator,
    machine: &mut Machine,
    history: Vec<Event>,
    request: impl Fn(f64, f64) -> Request,
    mut served: impl FnMut(&Machine, Request, bool) -> Result<(), TestCaseError>,
) -> Result<(), TestCaseError> {
    prop_assert!(allocator.capabilities().supports_outages);
    let (mut held, mut down): (Vec<Vec<NodeId>>, Vec<NodeId>) = Default::default();
    for (what, a, b) in history {
        match what {
            0 if !held.is_empty() => {
                let nodes = held.swap_remove(pick(a, held.len()));
                machine.release(&nodes);
                allocator.on_event(machine, MachineEvent::Released(&nodes));
            }
            1 => {
                let free: Vec<NodeId> = machine.free_nodes().collect();
                let from = pick(a, free.len());
                let leave = free[from..free.len().min(from + 1 + pick(b, 6))].to_vec();
                machine.withdraw(&leave);
                allocator.on_event(machine, MachineEvent::NodesDown(&leave));
                down.extend(leave);
            }
            2 if !down.is_empty() => {
                let back = down.split_off(pick(a, down.len()));
                machine.restore(&back);
                allocator.on_event(machine, MachineEvent::NodesUp(&back));
            }
            _ => {
                let request = request(a, b);
                let mut chosen = Vec::new();
                let is_served = allocator.allocate(machine, request, &mut chosen).is_ok();
                served(machine, request, is_served)?;
                if is_served {
                    prop_assert!(chosen.len() >= request.size as usize);
                    prop_assert!(chosen.iter().all(|&node| machine.is_free(node)));
                    machine.occupy(&chosen);
                    held.push(chosen);
                }
            }
        }
    }
    for nodes in held {
        machine.release(&nodes);
        allocator.on_event(machine, MachineEvent::Released(&nodes));
    }
    machine.restore(&down);
    allocator.on_event(machine, MachineEvent::NodesUp(&down));
    Ok(())
}
