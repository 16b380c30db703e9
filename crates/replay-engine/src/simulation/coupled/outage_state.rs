//! The state of outages during a run.

use super::{Coupled, SimulationError};
use crate::allocator::{Allocator, MachineEvent};
use crate::machine::Machine;
use crate::scheduler::{Scheduler, SchedulerEvent};
use crate::simulation::outages::{Outages, WhenDown};
use crate::simulation::{Observer, Service};
use crate::topology::NodeId;
use crate::workload::JobId;

/// The active outage windows, and the processors that they cover.
#[derive(Clone, Debug)]
pub struct OutageState<'a> {
    outages: &'a Outages,
    /// Each change consists of its time, a flag (`true` if a window starts, `false` if a window ends), and the number
    /// of the window. At equal times, ends of windows come before starts of windows.
    changes: Vec<(i64, bool, usize)>,
    next: usize,
    /// Number of active windows that cover each processor.
    covered: Vec<u32>,
    /// Buffer for the processors that change.
    moved: Vec<NodeId>,
}

impl<'a> OutageState<'a> {
    pub fn new(outages: &'a Outages, processors: usize) -> Self {
        let mut changes = Vec::with_capacity(2 * outages.windows.len());
        for (at, window) in outages.windows.iter().enumerate() {
            changes.push((window.from, true, at));
            changes.extend(window.until.map(|until| (until, false, at)));
        }
        changes.sort_unstable();
        let covered = if outages.is_empty() { Vec::new() } else { vec![0; processors] };
        Self { outages, changes, next: 0, covered, moved: Vec::new() }
    }

    /// Returns the time at which the next window begins or ends.
    pub fn next_time(&self) -> Option<i64> {
        self.changes.get(self.next).map(|change| change.0)
    }

    /// Returns whether a window is active or will become active.
    pub fn is_active(&self) -> bool {
        self.next_time().is_some() || self.covered.iter().any(|&windows| windows > 0)
    }

    /// Returns the times at which windows begin or end from now on.
    pub fn times(&self) -> impl Iterator<Item = i64> {
        self.changes[self.next..].iter().map(|change| change.0)
    }

    /// Withdraws released processors from service if a window covers them.
    pub fn drain(
        &mut self,
        machine: &mut Machine,
        nodes: &[NodeId],
        allocator: &mut dyn Allocator,
    ) {
        if self.outages.is_empty() {
            return;
        }
        self.moved.clear();
        self.moved.extend(nodes.iter().filter(|node| self.covered[node.index()] > 0));
        machine.withdraw(&self.moved);
        allocator.on_event(machine, MachineEvent::NodesDown(&self.moved));
    }

    /// Starts and ends the outage windows that are due. At equal times, processors first return to service; then free
    /// processors go out of service.
    pub fn change(&mut self, now: i64, machine: &mut Machine, allocator: &mut dyn Allocator) {
        while let Some(&(at, begins, window)) = self.changes.get(self.next)
            && at <= now
        {
            self.next += 1;
            self.moved.clear();
            for &node in &self.outages.windows[window].nodes {
                let covered = &mut self.covered[node.index()];
                match begins {
                    true => *covered += 1,
                    false => *covered -= 1,
                }
                let changes = match begins {
                    true => machine.is_free(node),
                    false => *covered == 0 && machine.is_down(node),
                };
                if changes {
                    self.moved.push(node);
                }
            }
            match begins {
                true => {
                    machine.withdraw(&self.moved);
                    allocator.on_event(machine, MachineEvent::NodesDown(&self.moved));
                }
                false => {
                    machine.restore(&self.moved);
                    allocator.on_event(machine, MachineEvent::NodesUp(&self.moved));
                }
            }
        }
    }
}

impl Coupled<'_> {
    /// Starts and ends the outage windows that are due. Returns the jobs that are interrupted.
    pub fn change(
        &mut self,
        now: i64,
        scheduler: &mut dyn Scheduler,
        allocator: &mut dyn Allocator,
        service: &mut dyn Service,
        observer: &mut dyn Observer,
    ) -> Result<Vec<JobId>, SimulationError> {
        self.down.change(now, &mut self.machine, allocator);
        self.invalidate();
        scheduler.on_event(SchedulerEvent::MachineChanged);
        let rule = self.down.outages.running;
        let mut ended = Vec::new();
        if rule == WhenDown::Drain {
            return Ok(ended);
        }
        let covered = |node: &NodeId| self.down.covered[node.index()] > 0;
        let nodes = |id: JobId| self.held[self.slots[id.index()] as usize].as_slice();
        let hit = self.running.iter().map(|job| job.id).filter(|&id| nodes(id).iter().any(covered));
        let mut hit: Vec<JobId> = hit.collect();
        hit.sort_unstable();
        for id in hit {
            if !service.cut_off(id) {
                return Err(SimulationError::NoOutages("a service that cannot interrupt jobs"));
            }
            let again = rule == WhenDown::Requeue;
            observer.cut_off(id, now, &self.held[self.slots[id.index()] as usize], again);
            self.complete(id, allocator);
            scheduler.on_event(SchedulerEvent::Completed { job: id, now });
            match again {
                true => self.queue(id, now, scheduler, allocator),
                false => ended.push(id),
            }
        }
        Ok(ended)
    }
}
