//! Elmer: a job may get hosts of a cluster that already run other jobs. On hosts that already run other jobs, the
//! priority of the new job is lower than the priorities of the other jobs.
//!
//! Source: S. W. Turner, PhD thesis, Michigan State University, 1995, section 6.3, Figs. 6.7 to 6.9. A job gets all of
//! its hosts at one priority level: the highest level at which enough hosts are free. With a single level, the strategy
//! is space sharing without shared hosts.
//!
//! | version | a host is free at a level |
//! |---|---|
//! | 1 | if its slot at that level is free |
//! | 2 | if in addition the utilization of its processor does not exceed a threshold |
//!
//! The choice among the free hosts is random. The algorithm of the thesis has two faults. A job may get a low priority
//! level although its hosts are idle. A job that starts later may get a higher level on a host of an earlier job, which
//! violates the rule that earlier jobs have priority. In the *guarded* mode, a host is free at a level only if no job
//! runs on the host below this level. The guarded mode also prefers idle hosts. The guarded mode is not in the thesis.
//!
//! Cost: one pass over the slots.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::cluster::time_sharing::{Hosts, Sharing, TimeSharing};
use replay_engine::allocator::explain::ExplanationLog;
use replay_engine::allocator::{
    Allocator, AllocatorOptions, Capabilities, MachineEvent, Refusal, Request, RunSetup,
    require_free,
};
use replay_engine::machine::Machine;
use replay_engine::naming::{Entry, Table, kind};
use replay_engine::number::counted;
use replay_engine::simulation::Service;
use replay_engine::topology::{Cluster, NodeId, Topology};

/// Rule by which Elmer selects hosts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostSelection {
    /// Version 2: hosts whose processor utilization exceeds this fraction are not free. `None` is version 1.
    pub threshold: Option<f64>,
    /// Whether a job never gets a higher level on a host than a job that started earlier on this host.
    pub guarded: bool,
    /// Choice among the free hosts.
    pub pick: Pick,
}

/// Choice among the free hosts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// Random hosts; each host has the same probability.
    Random,
    /// The hosts with the lowest numbers. The choice of the lowest host numbers is for tests and examples, and is not
    /// in the thesis.
    Lowest,
}

impl HostSelection {
    /// Version 1 with the guard.
    pub const PLAIN: HostSelection =
        HostSelection { threshold: None, guarded: true, pick: Pick::Random };

    /// Default threshold of version 2. The thesis does not specify a threshold.
    pub const THRESHOLD: f64 = 0.8;
}

/// The Elmer allocator. The random choices of hosts depend on the seed and on all earlier requests.
#[derive(Debug)]
pub struct Elmer {
    cluster: Cluster,
    selection: HostSelection,
    host_options: Hosts,
    seed: u64,
    rng: ChaCha8Rng,
    /// Last observed utilization of each host's processor.
    utilization: Vec<f64>,
    /// Hosts that are free at the current level; preferred hosts come first.
    hosts: Vec<u32>,
    /// Free hosts that are not preferred; used while the list is built.
    others: Vec<u32>,
    explanation: ExplanationLog,
}

impl Elmer {
    /// Creates an allocator for the slots of a cluster.
    pub fn new(cluster: Cluster, selection: HostSelection, host_options: Hosts, seed: u64) -> Self {
        Self {
            cluster,
            selection,
            host_options,
            seed,
            rng: ChaCha8Rng::seed_from_u64(seed),
            utilization: vec![0.0; cluster.hosts() as usize],
            hosts: Vec::new(),
            others: Vec::new(),
            explanation: ExplanationLog::default(),
        }
    }

    /// Lists the hosts that are free at a level. Returns the number of preferred hosts, which come first.
    fn list_free(&mut self, machine: &Machine, level: u32) -> usize {
        let Self { cluster, selection, utilization, hosts, others, .. } = self;
        let is_free = |host, level| machine.is_free(cluster.slot(host, level));
        let unused = |host: u32, mut levels: std::ops::Range<u32>| levels.all(|l| is_free(host, l));
        hosts.clear();
        others.clear();
        for host in 0..cluster.hosts() {
            let busy = selection.threshold.is_some_and(|most| utilization[host as usize] > most);
            if busy || !is_free(host, level) {
                continue;
            }
            if selection.guarded {
                if !unused(host, level..cluster.levels()) {
                    continue;
                }
                if unused(host, 0..level) {
                    hosts.push(host);
                    continue;
                }
            }
            others.push(host);
        }
        let preferred = hosts.len();
        hosts.append(others);
        preferred
    }

    /// Selects `count` hosts of `hosts[from..to]` and moves them to the front of this range, in the order of selection.
    fn draw(&mut self, from: usize, to: usize, count: usize) {
        if self.selection.pick == Pick::Random {
            // The first steps of a Fisher-Yates shuffle. Random `u32` values are the same on every platform.
            for i in from..from + count {
                let j = self.rng.random_range(i as u32..to as u32);
                self.hosts.swap(i, j as usize);
            }
        }
    }
}

impl Allocator for Elmer {
    fn begin(&mut self, setup: &RunSetup<'_>) -> Result<(), String> {
        self.explanation = setup.explanation.clone();
        self.rng = ChaCha8Rng::seed_from_u64(self.seed);
        self.utilization.fill(0.0);
        Ok(())
    }

    fn allocate(
        &mut self,
        machine: &Machine,
        request: Request,
        chosen: &mut Vec<NodeId>,
    ) -> Result<(), Refusal> {
        let size = request.size as usize;
        require_free(machine, request.size.into())?;
        for level in 0..self.cluster.levels() {
            let preferred = self.list_free(machine, level);
            self.explanation.sentence(|| {
                let hosts = counted(self.hosts.len() as u64, "host");
                format!("level {level}: {hosts} free, {preferred} of them preferred")
            });
            if self.hosts.len() < size {
                continue;
            }
            let first = size.min(preferred);
            self.draw(0, preferred, first);
            self.draw(preferred, self.hosts.len(), size - first);
            // Hosts that are not preferred are selected only if all preferred hosts are used.
            chosen.extend(self.hosts[..size].iter().map(|&host| self.cluster.slot(host, level)));
            return Ok(());
        }
        Err(Refusal::Fragmented)
    }

    fn on_event(&mut self, _machine: &Machine, event: MachineEvent<'_>) {
        if let MachineEvent::HostsObserved(utilization) = event {
            self.utilization.copy_from_slice(utilization);
        }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { shares_hosts: true, ..Capabilities::coupled() }
    }

    fn service(&self, ticks_per_second: f64) -> Option<Box<dyn Service>> {
        let sharing = Sharing { hosts: self.host_options, ticks_per_second, ..Sharing::PLAIN };
        Some(Box::new(TimeSharing::new(self.cluster, sharing, &[])))
    }
}

const MODES: [(&str, bool); 2] = [("guarded", true), ("strict", false)];
const PICKS: [(&str, Pick); 2] = [("random", Pick::Random), ("lowest", Pick::Lowest)];
const VERSIONS: [(&str, bool); 2] = [("1", false), ("2", true)];

/// Options of `elmer`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ElmerOptions {
    /// Selection of hosts.
    pub selection: HostSelection,
    /// Behaviour of the hosts.
    pub hosts: Hosts,
}

impl AllocatorOptions for ElmerOptions {
    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, String> {
        let cluster = topology.cluster();
        let cluster = cluster.ok_or("needs a cluster of workstations such as cluster:6x2")?;
        Ok(Box::new(Elmer::new(cluster, self.selection, self.hosts, seed)))
    }
}

/// Returns the table of `elmer`.
pub fn table() -> Table<ElmerOptions> {
    let plain = ElmerOptions { selection: HostSelection::PLAIN, hosts: Hosts::PLAIN };
    let period = |hosts: &Hosts| Some(hosts.period).filter(|&period| period > 0.0);
    let elmer = Entry::new("elmer", plain)
        .about(
"Hosts of a cluster (cluster:6x2), which may already run other jobs. A job gets the highest priority level at which enough hosts are free. The job uses the processor time that jobs of higher levels do not use, and moves up when these jobs end.",
        )
        .source("Turner 1995, section 6.3")
        .param(
            "threshold",
            kind::positive_to(1.0).or("none: version 1"),
            "version 2: hosts whose processor utilization exceeds this fraction are not free",
            |o| &mut o.selection.threshold,
        )
        .alternative(
            "version",
            "threshold",
            kind::one_of(&VERSIONS),
            "version of the strategy; 2 sets threshold=0.8, a value chosen for replay because the thesis gives no threshold",
            false,
            |o, second| o.selection.threshold = second.then_some(HostSelection::THRESHOLD),
        )
        .param(
            "mode",
            kind::one_of(&MODES),
            "guarded: a later job gets a lower level than earlier jobs on its hosts; strict: the published rule, which can give a later job a higher level",
            |o| &mut o.selection.guarded,
        )
        .param(
            "pick",
            kind::one_of(&PICKS),
            "choice among the free hosts; --seed selects the random stream",
            |o| &mut o.selection.pick,
        )
        .param(
            "demand",
            kind::positive_to(1.0),
            "fraction of a processor that a process uses when the job runs at full speed",
            |o| &mut o.hosts.demand,
        )
        .computed(
            "period",
            kind::positive_to(1e6).or("none: current values"),
            "seconds over which processor utilization is averaged for version 2",
            move |o: &ElmerOptions| Some(period(&o.hosts)),
            |o, period| o.hosts.period = period.unwrap_or(0.0),
        )
        .param(
            "costs",
            kind::yes_no(),
            "whether the time that Elmer takes to start and to end a job is added",
            |o| &mut o.hosts.costs,
        )
        .check(|o| match o.selection.threshold {
            Some(threshold) if threshold >= 1.0 => {
                Err("threshold is 1, but must be below 1: utilization never exceeds 1".to_string())
            }
            _ => Ok(()),
        });
    Table::new("allocator", [elmer])
}

#[cfg(test)]
mod tests;
