//! Two jobs that share hosts: Turner 1995, section 6.5, experiments E1 to E5 of Figs. 6.12 to 6.26.
//!
//! Both jobs are submitted at the same time, on given hosts, and the high-priority job is first. The thesis compares
//! the completion time of each job with *space sharing*: the high-priority job runs alone, and the low-priority job
//! runs after the high-priority job.

use replay_cubes::cluster::time_sharing::Sharing;
use replay_cubes::cluster::{Application, Kernel, TimeSharing};
use replay_engine::allocator::{Allocator, Capabilities, Refusal, Request};
use replay_engine::cancel::CancelToken;
use replay_engine::machine::Machine;
use replay_engine::scheduler::registry::SchedulerSpec;
use replay_engine::simulation::{Observer, Simulation, SimulationError, Starts};
use replay_engine::topology::{Cluster, NodeId, Topology};
use replay_engine::workload::{Job, JobId};

/// Placement of the two jobs. The first host of a job runs its barrier process.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Placement {
    /// Both jobs have the same hosts in the same order (E1, E2).
    Same,
    /// Both jobs have the same hosts. The barrier process of the low job is on the last host (E3).
    Opposite,
    /// Both jobs have the same number of hosts. The hosts of the low job are shifted by one, and the barrier process of
    /// the low job is on its last host. If each job has one host, both jobs have the same host (E4).
    Overlapping,
    /// The high job has six hosts. The low job has a subset of these hosts that does not contain the first host. The
    /// barrier process of the low job is on its last host (E5).
    Subset,
}

/// Number of hosts of the machine.
const HOSTS: u32 = 6;

impl Placement {
    /// Returns the hosts of the high job and the hosts of the low job; the low job has `hosts` hosts.
    fn hosts(self, hosts: u32) -> [Vec<u32>; 2] {
        let [high, low] = match self {
            Placement::Same | Placement::Opposite => [0..hosts, 0..hosts],
            Placement::Overlapping if hosts == 1 => [0..1, 0..1],
            Placement::Overlapping => [0..hosts, 1..hosts + 1],
            Placement::Subset => [0..HOSTS, 1..hosts + 1],
        };
        let low: Vec<u32> = match self {
            Placement::Same => low.collect(),
            _ => low.rev().collect(),
        };
        [high.collect(), low]
    }
}

/// Two programs on shared hosts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Pair {
    /// Program of the high-priority job.
    pub high: Application,
    /// Program of the low-priority job.
    pub low: Application,
    /// Hosts of both jobs.
    pub placement: Placement,
    /// Number of hosts of the low job.
    pub hosts: u32,
    /// Kernel of the hosts. The kernel schedules the processes of a host.
    pub kernel: Kernel,
}

/// Turnarounds of the two jobs in seconds.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Turnarounds {
    /// Turnaround of the high job.
    pub high: f64,
    /// Turnaround of the low job.
    pub low: f64,
}

/// The machine; each host can run two jobs.
const WORKSTATIONS: Cluster = match Cluster::new(HOSTS, 2) {
    Some(cluster) => cluster,
    None => panic!("twelve slots are valid"),
};

/// Ticks per second.
const TICKS: f64 = 1e6;

impl Pair {
    /// Runs both jobs at once.
    ///
    /// # Errors
    /// [`SimulationError`] if the placement needs more hosts than the machine has.
    pub fn shared(&self) -> Result<Turnarounds, SimulationError> {
        let hosts = self.placement.hosts(self.hosts);
        let topology = Topology::Cluster(WORKSTATIONS);
        let jobs = [self.job(self.high, &hosts[0]), self.job(self.low, &hosts[1])];
        let sharing = Sharing { kernel: self.kernel, ticks_per_second: TICKS, ..Sharing::PLAIN };
        let applications = [self.high, self.low];
        let mut service = TimeSharing::new(WORKSTATIONS, sharing, &applications);
        let (stop, mut ends) = (CancelToken::new(), Ends([0; 2]));
        let mut scheduler = SchedulerSpec::fcfs().build(HOSTS);
        let starts = Starts::Scheduler(scheduler.as_mut());
        let simulation = Simulation::new(&jobs, &topology, &stop).with_service(&mut service);
        simulation.run(starts, &mut FixedHosts { hosts, next: 0 }, &mut ends)?;
        let [high, low] = ends.0.map(|end| end as f64 / TICKS);
        Ok(Turnarounds { high, low })
    }

    /// Returns the turnarounds, in seconds, if the high job runs first and the low job runs after it.
    pub fn apart(&self) -> Turnarounds {
        let [high, low] = self.placement.hosts(self.hosts);
        let alone = |application: Application, hosts: Vec<u32>| {
            application.seconds(hosts.len() as u32).unwrap_or(0.0)
        };
        let first = alone(self.high, high);
        Turnarounds { high: first, low: first + alone(self.low, low) }
    }

    fn job(&self, application: Application, hosts: &[u32]) -> Job {
        let size = hosts.len() as u32;
        let run = (application.seconds(size).unwrap_or(0.0) * TICKS).round() as i64;
        Job { number: 0, submit: 0, run, estimate: run, size, line: 0, shape: None, limit: None }
    }
}

/// Allocator that places the high job on its hosts at the highest priority level, and the low job on its hosts at the
/// next priority level.
struct FixedHosts {
    hosts: [Vec<u32>; 2],
    next: usize,
}

impl Allocator for FixedHosts {
    fn allocate(
        &mut self,
        machine: &Machine,
        _request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let level = self.next;
        let hosts = self.hosts.get(level).ok_or(Refusal::TooFewFree)?;
        let cluster = machine.topology().cluster().ok_or(Refusal::TooFewFree)?;
        chosen.extend(hosts.iter().map(|&host| cluster.slot(host, level as u32)));
        self.next += 1;
        Ok(())
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities::coupled()
    }
}

struct Ends([i64; 2]);

impl Observer for Ends {
    fn completed(&mut self, job: JobId, now: i64) {
        self.0[job.index()] = now;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use replay_cubes::cluster::application::Barrier;

    fn barrier(version: usize) -> Application {
        Application::Barrier(Barrier::VERSIONS[version - 1])
    }

    #[test]
    fn hosts_of_every_placement() {
        assert_eq!(Placement::Same.hosts(3), [vec![0, 1, 2], vec![0, 1, 2]]);
        assert_eq!(Placement::Opposite.hosts(3), [vec![0, 1, 2], vec![2, 1, 0]]);
        assert_eq!(Placement::Overlapping.hosts(5), [vec![0, 1, 2, 3, 4], vec![5, 4, 3, 2, 1]]);
        assert_eq!(Placement::Overlapping.hosts(1), [vec![0], vec![0]]);
        assert_eq!(Placement::Subset.hosts(2), [vec![0, 1, 2, 3, 4, 5], vec![2, 1]]);
    }

    #[test]
    fn times_follow_from_the_rates_by_hand() {
        // In E4 with five hosts per job, the low job runs at 0.39 of its full speed for 34.196 s. Then it runs alone.
        let pair = Pair {
            high: barrier(1),
            low: barrier(3),
            placement: Placement::Overlapping,
            hosts: 5,
            kernel: Kernel::Preemptive,
        };
        let apart = pair.apart();
        assert!(
            (apart.high - 34.196).abs() < 1e-9 && (apart.low - 82.896).abs() < 1e-9,
            "{apart:?}"
        );
        let shared = pair.shared().expect("five hosts and one more");
        let rate = (8.8 / 41.2) / (10.68 / 19.48);
        let expected = 34.196 + 48.7 - rate * 34.196;
        assert!((shared.high - 34.196).abs() < 1e-5, "{shared:?}");
        assert!((shared.low - expected).abs() < 1e-5, "{shared:?} {expected}");
    }
}
