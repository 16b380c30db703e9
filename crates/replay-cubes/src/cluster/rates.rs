//! Speeds of jobs on shared hosts.
//!
//! The model is a fluid model, developed for `replay` on the basis of Turner 1995, section 5.3. The *demand* of a job
//! on a host is the share of the host that the job uses at full speed. A job that has the highest priority on all of
//! its hosts runs at full speed. A job of lower priority gets, on each host, the share that the jobs of higher priority
//! leave:
//!
//! * If the processes of a program wait for each other, the program runs at the rate of its slowest process: the
//!   minimum over its hosts of (remaining share) / (demand).
//! * EP divides its work dynamically among its processes, so it runs at a rate that is determined by the sum of the
//!   remaining shares.
//!
//! On a non-preemptive kernel, a job of lower priority delays a Barrier job of P processes in every phase. The delay in
//! a phase is the delay d of the kernel (equation 5.4), or (P - 1) d if the barrier processes of both jobs share a host
//! (equation 5.5). Jobs of one process and programs without phases send no messages and lose no time.
//!
//! With unguarded host selection and at least three levels, priorities can form a cycle: a job has priority over a
//! second job on one host, and the second job has priority over the first job on another host. If priorities form a
//! cycle, the job that started first is treated as the job of higher priority.
//!
//! Computing all rates costs a few operations per running process.

use crate::cluster::application::{Application, Barrier};
use crate::cluster::kernel::Kernel;
use replay_engine::machine::Slots;

/// A running job.
#[derive(Clone, Debug)]
pub(crate) struct Resident {
    /// The program of the job.
    pub application: Application,
    /// The host of each process.
    pub hosts: Vec<u32>,
}

impl Resident {
    fn processes(&self) -> u32 {
        self.hosts.len() as u32
    }

    /// Returns each host and the demand on this host.
    fn demands(&self) -> impl Iterator<Item = (usize, f64)> + '_ {
        let processes = self.processes();
        let demand = move |process| self.application.demand(process, processes);
        (0..).zip(&self.hosts).map(move |(process, &host)| (host as usize, demand(process)))
    }
}

/// Computes rates. The buffers are reused.
#[derive(Clone, Debug)]
pub(crate) struct Rates {
    kernel: Kernel,
    /// Remaining share of each host.
    left: Vec<f64>,
    /// For each host, the first level with a job that has no rate yet.
    next: Vec<u32>,
    /// For each job, the number of its hosts on which every job of higher priority already has a rate.
    first: Vec<u32>,
    ready: Vec<u32>,
    rates: Vec<f64>,
}

impl Rates {
    /// Creates the buffers for hosts with this kernel.
    pub fn new(kernel: Kernel) -> Self {
        Self {
            kernel,
            left: Vec::new(),
            next: Vec::new(),
            first: Vec::new(),
            ready: Vec::new(),
            rates: Vec::new(),
        }
    }

    /// Returns, for each host, the share of its processor that is in use.
    pub fn used(&self) -> impl Iterator<Item = f64> + '_ {
        self.left.iter().map(|left| 1.0 - left)
    }

    /// Returns the rate of every resident as a share of full speed. `residents` are in the order of their starts;
    /// `slots` refers to residents by index. Residents for which `working` is false hold their slots but use no
    /// processor: their rate is 0.
    pub fn of(
        &mut self,
        slots: &Slots,
        residents: &[Resident],
        working: impl Fn(usize) -> bool,
    ) -> &[f64] {
        let hosts = slots.cluster().hosts();
        self.left.clear();
        self.left.resize(hosts as usize, 1.0);
        self.next.clear();
        self.next.resize(hosts as usize, 0);
        self.first.clear();
        self.first.resize(residents.len(), 0);
        self.rates.clear();
        // A negative rate marks a job whose rate has not been computed yet.
        self.rates.resize(residents.len(), -1.0);
        self.ready.clear();
        (0..hosts).for_each(|host| self.find_first(slots, residents, host));
        let mut earliest = 0;
        loop {
            let job = match self.ready.pop() {
                Some(job) => job,
                None => match self.rates[earliest..].iter().position(|&rate| rate < 0.0) {
                    None => return &self.rates,
                    Some(ahead) => {
                        earliest += ahead;
                        earliest as u32
                    }
                },
            };
            let index = job as usize;
            if self.rates[index] >= 0.0 {
                continue;
            }
            let resident = &residents[index];
            self.rates[index] = match working(index) {
                true => self.settle(slots, residents, job),
                false => 0.0,
            };
            for &host in &resident.hosts {
                // The condition fails only if priorities form a cycle and another job without a rate is above this job
                // on the host.
                if slots.holder(host, self.next[host as usize]) == Some(job) {
                    self.find_first(slots, residents, host);
                }
            }
        }
    }

    /// Advances `next` of a host to the first job on this host that has no rate yet.
    fn find_first(&mut self, slots: &Slots, residents: &[Resident], host: u32) {
        let levels = slots.cluster().levels();
        while self.next[host as usize] < levels {
            if let Some(job) = slots.holder(host, self.next[host as usize]) {
                let index = job as usize;
                if self.rates[index] < 0.0 {
                    self.first[index] += 1;
                    if self.first[index] == residents[index].processes() {
                        self.ready.push(job);
                    }
                    return;
                }
            }
            self.next[host as usize] += 1;
        }
    }

    /// Computes the rate of a job and subtracts its use from the remaining shares.
    fn settle(&mut self, slots: &Slots, residents: &[Resident], job: u32) -> f64 {
        let resident = &residents[job as usize];
        let most = self.rate_at_top(slots, residents, job);
        if resident.application == Application::Ep {
            let mut sum = 0.0;
            for &host in &resident.hosts {
                sum += self.left[host as usize];
                self.left[host as usize] = 0.0;
            }
            return sum / f64::from(resident.processes());
        }
        let share = |(host, demand): (usize, f64)| self.left[host] / demand;
        let rate = resident.demands().map(share).fold(most, f64::min).max(0.0);
        for (host, demand) in resident.demands() {
            // Prevent rounding from making the remaining share negative.
            self.left[host] = (self.left[host] - demand * rate).max(0.0);
        }
        rate
    }

    /// Returns the rate that a job would have if it had the highest priority on all of its hosts. The rate is below 1
    /// if jobs of lower priority delay the job.
    fn rate_at_top(&self, slots: &Slots, residents: &[Resident], job: u32) -> f64 {
        let Kernel::NonPreemptive { delay } = self.kernel else { return 1.0 };
        let resident = &residents[job as usize];
        let Application::Barrier(barrier) = resident.application else { return 1.0 };
        let messages = resident.processes() - 1;
        if messages == 0 {
            return 1.0;
        }
        let mut quanta = 0;
        for (process, &host) in resident.hosts.iter().enumerate() {
            let column =
                (0..slots.cluster().levels()).filter_map(|level| slots.holder(host, level));
            for other in column.skip_while(|&other| other != job).skip(1) {
                let other = &residents[other as usize];
                let both_barriers = process == 0
                    && matches!(other.application, Application::Barrier(_))
                    && other.hosts[0] == host;
                quanta = quanta.max(if both_barriers { messages } else { 1 });
            }
        }
        let phase = barrier.compute(messages + 1) + Barrier::wait(messages + 1);
        phase / (phase + f64::from(quanta) * delay)
    }
}

#[cfg(test)]
mod tests;
