use super::{Allocator, Bounds, Capabilities, MachineEvent, Refusal, Request, RunSetup, Stats};
use crate::machine::Machine;
use crate::service::Service;
use crate::topology::NodeId;

/// An allocator that wraps another allocator. An implementation overrides the methods that it changes; all other
/// methods forward to the [inner](Self::inner) allocator.
pub trait Decorator: Send {
    /// Returns the wrapped allocator.
    fn inner(&self) -> &dyn Allocator;

    /// Returns a mutable reference to the wrapped allocator.
    fn inner_mut(&mut self) -> &mut dyn Allocator;

    /// Wraps `inner`, a copy of the wrapped allocator, in a copy of this decorator. Returns `None` if the decorator
    /// does not support copies. An implementation may return `inner` itself, without a decorator, only if the decorator
    /// has no effect on queries.
    fn decorate_copy(&self, inner: Box<dyn Allocator>) -> Option<Box<dyn Allocator>>;

    /// Forwards to [`Allocator::begin`].
    ///
    /// # Errors
    /// The errors of [`Allocator::begin`].
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.inner_mut().begin(setup)
    }

    /// Forwards to [`Allocator::allocate`].
    ///
    /// # Errors
    /// The errors of [`Allocator::allocate`].
    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        self.inner_mut().allocate(machine, request, chosen)
    }

    /// Forwards to [`Allocator::on_event`].
    fn on_event(&mut self, machine: &Machine, event: MachineEvent<'_>) {
        self.inner_mut().on_event(machine, event);
    }

    /// Forwards to [`Allocator::capabilities`].
    fn capabilities(&self) -> Capabilities {
        self.inner().capabilities()
    }

    /// Forwards to [`Allocator::bounds`].
    fn bounds(&mut self, request: Request) -> Bounds {
        self.inner_mut().bounds(request)
    }

    /// Forwards to [`Allocator::stats`].
    fn stats(&self) -> Stats {
        self.inner().stats()
    }

    /// Forwards to [`Allocator::refusal_covers`].
    fn refusal_covers(&mut self, refused: Request, asked: Request) -> bool {
        self.inner_mut().refusal_covers(refused, asked)
    }

    /// Forwards to [`Allocator::service`].
    fn service(&self, ticks_per_second: f64) -> Option<Box<dyn Service>> {
        self.inner().service(ticks_per_second)
    }
}

// Every method added to the trait must be forwarded here.
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

    fn service(&self, ticks_per_second: f64) -> Option<Box<dyn Service>> {
        Decorator::service(self, ticks_per_second)
    }

    fn try_clone(&self) -> Option<Box<dyn Allocator>> {
        self.decorate_copy(self.inner().try_clone()?)
    }
}
