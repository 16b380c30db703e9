//! Time sharing as the [`Service`] of a simulation.
//!
//! A job starts with an amount of work equal to its run time without sharing: [`Job::run`] ticks at
//! full speed. The job is done when the integral of its [rate](super::rates) over time reaches the
//! amount of work with which the job started. Rates change when a job starts or ends. Work is
//! stored in 64-bit floating point. A job completes at the first whole tick at which it is done.
//! With a single level every rate is 1, so a job runs for exactly [`Job::run`] ticks.

use std::error::Error;

use crate::cluster::kernel::Kernel;
use crate::cluster::monitor::Monitor;
use crate::cluster::rates::{Rates, Resident};
use crate::cluster::{Application, elmer};
use replay_engine::machine::Slots;
use replay_engine::simulation::Service;
use replay_engine::topology::{Cluster, NodeId};
use replay_engine::workload::{Job, JobId};

/// Behaviour of hosts under Elmer.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hosts {
    /// Whether Elmer's own overhead is added to jobs.
    pub costs: bool,
    /// Seconds between two observations of the utilization by a host's monitor; 0 if the monitor always reports the
    /// current value.
    pub period: f64,
    /// Fraction of a host's processor that a process uses at full speed. This value applies to jobs that do not specify
    /// the fraction.
    pub demand: f64,
}

impl Hosts {
    /// Hosts without overhead, with monitors that report current values, and with jobs that always compute.
    pub const PLAIN: Hosts = Hosts { costs: false, period: 0.0, demand: 1.0 };
}

/// Configuration of time sharing on the hosts of a cluster.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Sharing {
    /// The kernel of the hosts.
    pub kernel: Kernel,
    /// Monitors and costs of the hosts.
    pub hosts: Hosts,
    /// Number of ticks per second.
    pub ticks_per_second: f64,
}

impl Sharing {
    /// A preemptive kernel and [`Hosts::PLAIN`]; a tick is a second.
    pub const PLAIN: Sharing =
        Sharing { kernel: Kernel::Preemptive, hosts: Hosts::PLAIN, ticks_per_second: 1.0 };
}

/// Amount of remaining work, in ticks, below which a job is done. The amount is far less than a
/// tick and far more than rounding errors.
const NOTHING: f64 = 1e-6;

/// The running jobs and their speeds.
#[derive(Clone, Debug)]
pub struct TimeSharing<'a> {
    sharing: Sharing,
    /// Application of each job; empty if applications are unknown.
    applications: &'a [Application],
    slots: Slots,
    rates: Rates,
    monitor: Monitor,
    clock: i64,
    /// Running jobs in the order of their starts; indices agree with `residents`.
    running: Vec<Running>,
    residents: Vec<Resident>,
    /// Whether a job has started or ended since the rates were computed.
    stale: bool,
    /// Processor time, in ticks, that the jobs that have started so far use for computing between
    /// their starts and their ends.
    computed: f64,
}

#[derive(Clone, Copy, Debug)]
struct Running {
    id: JobId,
    stage: Stage,
    /// Remaining work, in ticks at full speed.
    left: f64,
    /// Current speed: work done per tick, in ticks at full speed.
    rate: f64,
}

/// Successive stages of a running job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Until this time, Elmer is starting the job.
    Starting(i64),
    /// The job computes.
    Working,
    /// Until this time, Elmer is ending the job.
    Ending(i64),
}

impl Running {
    /// Returns the time at which the current stage ends if the rate does not change.
    fn stage_end(&self, now: i64) -> i64 {
        match self.stage {
            Stage::Starting(at) | Stage::Ending(at) => at,
            Stage::Working if self.left <= NOTHING => now,
            Stage::Working => match ((self.left - NOTHING) / self.rate).ceil() {
                // At rate 0, the quotient is infinite and the job never ends. A finite quotient
                // that is too large saturates in the conversion.
                ticks if ticks.is_finite() => now.saturating_add(ticks as i64),
                _ => i64::MAX,
            },
        }
    }
}

impl<'a> TimeSharing<'a> {
    /// Creates an idle cluster. `applications` contains the application of each job. A job without
    /// an entry uses a constant share of each processor: the [share](Hosts::demand) that `sharing`
    /// defines.
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

    /// Returns the time that Elmer takes to start or end a job on `hosts` hosts, in ticks; 0 if
    /// `sharing` ignores these costs.
    fn cost(&self, seconds: impl Fn(u32) -> f64, hosts: usize) -> i64 {
        match self.sharing.hosts.costs {
            true => (seconds(hosts as u32) * self.sharing.ticks_per_second).round() as i64,
            false => 0,
        }
    }

    /// Advances all jobs to `until` at their current rates.
    fn advance_clock(&mut self, until: i64) {
        let ticks = (until - self.clock) as f64;
        for job in &mut self.running {
            job.left -= job.rate * ticks;
        }
        self.monitor.record(until, self.rates.used());
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
        self.monitor.set_current(self.rates.used());
    }

    /// Removes a job from its slots; the jobs below it move up.
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
        let even = Application::Even { demand: self.sharing.hosts.demand };
        let application = application.unwrap_or(even);
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
            let next = self.running.iter().map(|job| job.stage_end(clock)).min();
            let Some(next) = next.filter(|&next| next <= until) else {
                // An idle service must not advance the clock to the end of time.
                if until < i64::MAX {
                    self.advance_clock(until);
                }
                return Ok(None);
            };
            self.advance_clock(next);
            for index in (0..self.running.len()).rev() {
                if self.running[index].stage_end(next) > next {
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
        Some(self.monitor.utilization())
    }
}

#[cfg(test)]
mod tests;
