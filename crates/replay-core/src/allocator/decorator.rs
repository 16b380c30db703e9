use super::{Allocator, Bounds, Capabilities, MachineEvent, Refusal, Request, RunSetup, Stats};
use crate::machine::Machine;
use crate::topology::NodeId;

/// An allocator around another one. It overrides what it changes; every other method is that of the
/// [inner](Self::inner) allocator.
pub trait Decorator: Send {
    /// Returns the allocator within.
    fn inner(&self) -> &dyn Allocator;

    /// Returns the allocator within.
    fn inner_mut(&mut self) -> &mut dyn Allocator;

    /// Returns a copy with this allocator within; `None` if the decorator has no copies. A decorator that
    /// matters in a copy must return one.
    fn decorate_copy(&self, inner: Box<dyn Allocator>) -> Option<Box<dyn Allocator>>;

    /// See [`Allocator::begin`].
    ///
    /// # Errors
    /// As there.
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.inner_mut().begin(setup)
    }

    /// See [`Allocator::allocate`].
    ///
    /// # Errors
    /// As there.
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        self.inner_mut().allocate(machine, request, chosen)
    }

    /// See [`Allocator::on_event`].
    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        self.inner_mut().on_event(machine, event);
    }

    /// See [`Allocator::capabilities`].
    fn capabilities(&self) -> Capabilities {
        self.inner().capabilities()
    }

    /// See [`Allocator::bounds`].
    fn bounds(&mut self, request: Request) -> Bounds {
        self.inner_mut().bounds(request)
    }

    /// See [`Allocator::stats`].
    fn stats(&self) -> Stats {
        self.inner().stats()
    }

    /// See [`Allocator::refusal_covers`].
    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        self.inner_mut().refusal_covers(refused, asked)
    }
}

// A method that is added to the trait must be added here.
#[deny(clippy::missing_trait_methods)]
impl<D: Decorator> Allocator for D {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        Decorator::begin(self, setup)
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        Decorator::allocate(self, machine, request, chosen)
    }

    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        Decorator::on_event(self, machine, event);
    }

    fn capabilities(&self) -> Capabilities {
        Decorator::capabilities(self)
    }

    fn bounds(&mut self, request: Request) -> Bounds {
        Decorator::bounds(self, request)
    }

    fn stats(&self) -> Stats {
        Decorator::stats(self)
    }

    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        Decorator::refusal_covers(self, refused, asked)
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        self.decorate_copy(self.inner().try_clone()?)
    }
}
