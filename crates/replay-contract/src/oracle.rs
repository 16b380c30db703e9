//! Outcomes that requests must have.

use replay_engine::allocator::{Allocator, MachineEvent, Refusal, Request};
use replay_engine::machine::Machine;
use replay_engine::topology::NodeId;

/// The outcome that a request must have.
#[derive(Clone, PartialEq, Debug)]
pub enum Expected {
    /// Any outcome that the contract allows.
    Anything,
    /// The request is served by any processors.
    Served,
    /// The request is served by these processors, in this order.
    Nodes(Vec<NodeId>),
    /// The request is refused; for this reason, if there is one.
    Refused(Option<Refusal>),
}

impl From<Option<Vec<NodeId>>> for Expected {
    fn from(nodes: Option<Vec<NodeId>>) -> Self {
        nodes.map_or(Self::Refused(None), Self::Nodes)
    }
}

impl From<Result<Vec<NodeId>, Refusal>> for Expected {
    fn from(outcome: Result<Vec<NodeId>, Refusal>) -> Self {
        outcome.map_or_else(|refusal| Self::Refused(Some(refusal)), Self::Nodes)
    }
}

impl From<bool> for Expected {
    fn from(is_served: bool) -> Self {
        if is_served { Self::Served } else { Self::Refused(None) }
    }
}

impl Expected {
    /// Returns whether the outcome is one of the expected outcomes.
    pub(crate) fn allows(&self, outcome: &Result<Vec<NodeId>, Refusal>) -> bool {
        match (self, outcome) {
            (Self::Anything, _) | (Self::Served, Ok(_)) | (Self::Refused(None), Err(_)) => true,
            (Self::Nodes(expected), Ok(nodes)) => expected == nodes,
            (Self::Refused(Some(expected)), Err(refusal)) => expected == refusal,
            _ => false,
        }
    }
}

/// Determines the outcomes of requests independently of the allocator. A closure of machine and request that returns
/// something like an [`Expected`] is an oracle without state.
pub trait Oracle {
    /// Returns the outcome of a request. The expected processors become busy after the call.
    fn expect(&mut self, machine: &Machine, request: Request) -> Expected;

    /// Updates the state after an event; `machine` is in its state after the event.
    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        let _ = (machine, event);
    }

    /// Forgets all jobs.
    fn begin(&mut self) {}
}

impl<F, E> Oracle for F
where
    F: FnMut(&Machine, Request) -> E,
    E: Into<Expected>,
{
    fn expect(&mut self, machine: &Machine, request: Request) -> Expected {
        self(machine, request).into()
    }
}

/// The oracle that knows only the contract.
pub struct Unchecked;

impl Oracle for Unchecked {
    fn expect(&mut self, _: &Machine, _: Request) -> Expected {
        Expected::Anything
    }
}

/// An allocator that must have the same outcome, with the same processors or the same reason.
pub struct Reference<A>(pub A);

impl<A: Allocator> Oracle for Reference<A> {
    fn expect(&mut self, machine: &Machine, request: Request) -> Expected {
        let mut chosen = Vec::new();
        let outcome = self.0.allocate(machine, request, &mut chosen);
        assert!(
            outcome.is_ok() || chosen.is_empty(),
            "{request:?}: the reference fills {chosen:?}"
        );
        outcome.map(|()| chosen).into()
    }

    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        self.0.on_event(machine, event);
    }

    fn begin(&mut self) {
        self.0.begin(&Default::default()).expect("a reference works without jobs");
    }
}
