//! Time sharing as the [`Service`] of a simulation: what jobs do while they hold slots of a cluster.
//!
//! A job starts with as much work as it takes alone, [`Job::run`] ticks at full speed, and is done
//! when the integral of its [rate](super::rates) over time comes to that. Rates change when a job
//! starts or ends. Work is kept in 64-bit floating point; a job completes at the first whole tick at
//! which it is done, so that with one level, where every rate is 1, it runs for exactly `run` ticks.

use std::error::Error;

use super::elmer;
use super::kernel::Kernel;
use super::monitor::Monitor;
use super::rates::{Rates, Resident};
use super::slots::Slots;
use crate::allocator::elmer::Hosts;
use crate::cluster::Application;
use crate::service::Service;
use crate::topology::{Cluster, NodeId};
use crate::workload::{Job, JobId};

/// How the hosts of a cluster share their time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sharing {
    /// Whether a higher process interrupts a lower one.
    pub kernel: Kernel,
    /// Monitors and costs.
    pub hosts: Hosts,
    /// Ticks of a second.
    pub ticks_per_second: f64,
}

impl Sharing {
    /// A preemptive kernel, plain hosts; a tick is a second.
    pub const PLAIN: Sharing =
        Sharing { kernel: Kernel::Preemptive, hosts: Hosts::PLAIN, ticks_per_second: 1.0 };
}

/// Work, in ticks, that counts as none: far below a tick, far above what rounding leaves.
const NOTHING: f64 = 1e-6;

/// The jobs that run, and how fast they go.
#[derive(Clone, Debug)]
pub struct TimeSharing<'a> {
    sharing: Sharing,
    /// By job; empty if nothing is known of them.
    applications: &'a [Application],
    slots: Slots,
    rates: Rates,
    monitor: Monitor,
    clock: i64,
    /// In the order of their starts, side by side with `residents`.
    running: Vec<Running>,
    residents: Vec<Resident>,
    /// Whether a job came or went since the rates were computed.
    stale: bool,
    /// Processor-ticks that all jobs so far compute.
    computed: f64,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    id: JobId,
    stage: Stage,
    /// Work left, in ticks at full speed.
    left: f64,
    /// Ticks of work done in a tick.
    rate: f64,
}

/// What becomes of a job in turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Elmer starts it, until this instant.
    Starting(i64),
    /// It works.
    Working,
    /// Elmer ends it, until this instant.
    Ending(i64),
}

impl Running {
    /// When its stage is over at this rate.
    fn over(&self, now: i64) -> i64 {
        match self.stage {
            Stage::Starting(at) | Stage::Ending(at) => at,
            Stage::Working if self.left <= NOTHING => now,
            Stage::Working => match ((self.left - NOTHING) / self.rate).ceil() {
                // A job that gets nothing is never done; the conversion saturates.
                ticks if ticks.is_finite() => now.saturating_add(ticks as i64),
                _ => i64::MAX,
            },
        }
    }
}

impl<'a> TimeSharing<'a> {
    /// An idle cluster. `applications` says what each job does; of the others it is known what
    /// [share](Hosts::demand) of a processor they use.
    pub fn new(cluster: Cluster, sharing: Sharing, applications: &'a [Application]) -> Self {
        let period = (sharing.hosts.period * sharing.ticks_per_second).round() as i64;
        Self {
            sharing,
            applications,
            slots: Slots::new(cluster),
            rates: Rates::new(sharing.kernel),
            monitor: Monitor::new(cluster.hosts(), period),
            clock: 0,
            running: Vec::new(),
            residents: Vec::new(),
            stale: false,
            computed: 0.0,
        }
    }

    /// A job of which nothing is known.
    fn unknown(&self) -> Application {
        Application::Even { demand: self.sharing.hosts.demand }
    }

    /// Elmer's cost in whole ticks.
    fn cost(&self, seconds: impl Fn(u32) -> f64, hosts: usize) -> i64 {
        match self.sharing.hosts.costs {
            true => (seconds(hosts as u32) * self.sharing.ticks_per_second).round() as i64,
            false => 0,
        }
    }

    /// Everybody works on until `until`, at today's rates.
    fn pass(&mut self, until: i64) {
        let ticks = (until - self.clock) as f64;
        for job in &mut self.running {
            job.left -= job.rate * ticks;
        }
        self.monitor.pass(until, self.rates.used());
        self.clock = until;
    }

    fn refresh(&mut self) {
        if !self.stale {
            return;
        }
        self.stale = false;
        let running = &self.running;
        let rates =
            self.rates.of(&self.slots, &self.residents, |job| running[job].stage == Stage::Working);
        let rates = rates.iter().copied();
        self.running.iter_mut().zip(rates).for_each(|(job, rate)| job.rate = rate);
        self.monitor.see(self.rates.used());
    }

    /// A job gives its slots back, and those below move up.
    fn leave(&mut self, index: usize) {
        let gone = self.residents.remove(index);
        self.running.remove(index);
        for host in gone.hosts {
            self.slots.leave(host, index as u32);
        }
        self.slots.renumber(|job| if job > index as u32 { job - 1 } else { job });
    }
}

impl Service for TimeSharing<'_> {
    fn start(&mut self, id: JobId, job: &Job, nodes: &[NodeId], now: i64) {
        let cluster = self.slots.cluster();
        let application = self.applications.get(id.index()).copied();
        let application = application.unwrap_or(self.unknown());
        let processes = nodes.len() as u32;
        let demands = (0..processes).map(|process| application.demand(process, processes));
        self.computed += demands.sum::<f64>() * job.run as f64;
        self.slots.take(nodes, self.running.len() as u32);
        self.residents.push(Resident {
            application,
            hosts: nodes.iter().map(|&slot| cluster.host(slot)).collect(),
        });
        let stage = match self.cost(elmer::start_seconds, nodes.len()) {
            0 => Stage::Working,
            ticks => Stage::Starting(now + ticks),
        };
        self.running.push(Running { id, stage, left: job.run as f64, rate: 0.0 });
        self.stale = true;
    }

    fn advance(
        &mut self,
        until: i64,
        completed: &mut Vec<JobId>,
    ) -> Result<Option<i64>, Box<dyn Error + Send + Sync>> {
        loop {
            self.refresh();
            let clock = self.clock;
            let next = self.running.iter().map(|job| job.over(clock)).min();
            let Some(next) = next.filter(|&next| next <= until) else {
                // With nobody there, time is not this service's to end.
                if until < i64::MAX {
                    self.pass(until);
                }
                return Ok(None);
            };
            self.pass(next);
            for index in (0..self.running.len()).rev() {
                if self.running[index].over(next) > next {
                    continue;
                }
                self.stale = true;
                let hosts = self.residents[index].hosts.len();
                match self.running[index].stage {
                    Stage::Starting(_) => self.running[index].stage = Stage::Working,
                    Stage::Working => match self.cost(elmer::end_seconds, hosts) {
                        0 => {
                            completed.push(self.running[index].id);
                            self.leave(index);
                        }
                        ticks => self.running[index].stage = Stage::Ending(next + ticks),
                    },
                    Stage::Ending(_) => {
                        completed.push(self.running[index].id);
                        self.leave(index);
                    }
                }
            }
            if !completed.is_empty() {
                return Ok(Some(next));
            }
        }
    }

    fn computed(&self) -> Option<f64> {
        Some(self.computed)
    }

    fn utilization(&mut self) -> Option<&[f64]> {
        self.refresh();
        Some(self.monitor.shown())
    }
}

#[cfg(test)]
mod tests;
