//! Elmer: hosts of a cluster that may run other jobs already, at a priority below theirs.
//!
//! Source: S. W. Turner, PhD thesis, Michigan State University, 1995, section 6.3, Figs. 6.7 to 6.9. A
//! job gets all of its hosts at one level: the first, from the highest, at which enough hosts are
//! free. With one level that is plain space sharing.
//!
//! | version | a host is free at a level |
//! |---|---|
//! | 1 | if its slot at that level is |
//! | 2 | if besides its processor is in use for no more than a threshold |
//!
//! Which of the free hosts is left to chance. Taken literally that has two faults. A job may get a
//! lower level on hosts that have nobody at all; and a job that comes later may then get a higher
//! level on such a host, against the rule that who came first goes first. The *guarded* mode counts a
//! host as free at a level only if nobody is below it there, and prefers hosts that have nobody. The
//! guard is ours.
//!
//! Cost: one pass over the slots.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::explain::{self, ExplanationLog};
use super::{Allocator, AllocatorOptions, Capabilities, MachineEvent, Refusal, Request, RunSetup};
use crate::machine::Machine;
use crate::naming::{Entry, Table, kind};
use crate::topology::{Cluster, NodeId, Topology};

/// How Elmer chooses hosts.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct HostSelection {
    /// Version 2: hosts whose processor is in use for more than this share are not free. Version 1
    /// without.
    pub threshold: Option<f64>,
    /// Whether nobody may come to stand above a job that started before.
    pub guarded: bool,
    /// Which of the free hosts.
    pub pick: Pick,
}

/// Which of the free hosts a job gets.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// Any, with equal probability.
    Random,
    /// Those of the lowest numbers. For tests and examples; ours.
    Lowest,
}

impl HostSelection {
    /// Version 1 with the guard.
    pub const PLAIN: HostSelection =
        HostSelection { threshold: None, guarded: true, pick: Pick::Random };

    /// The threshold of version 2 where nothing else is said. The thesis gives none; ours.
    pub const THRESHOLD: f64 = 0.8;
}

/// How hosts run what Elmer gives them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Hosts {
    /// Whether the time that Elmer itself takes is added to jobs.
    pub costs: bool,
    /// Seconds between two looks of a host's monitor; 0: it shows the present.
    pub period: f64,
    /// Share of its processor that a process uses at full speed, where nothing is known of the job.
    pub demand: f64,
}

impl Hosts {
    /// No costs, monitors that show the present, jobs that always compute.
    pub const PLAIN: Hosts = Hosts { costs: false, period: 0.0, demand: 1.0 };
}

/// The allocator. What it draws depends on the seed and on the requests before.
#[derive(Debug)]
pub struct Elmer {
    cluster: Cluster,
    selection: HostSelection,
    told: Hosts,
    seed: u64,
    rng: ChaCha8Rng,
    /// By host, the use of its processor as Elmer was last told.
    utilization: Vec<f64>,
    /// Hosts that are free at a level, those to be taken first at the front.
    hosts: Vec<u32>,
    /// The others, until all are known.
    others: Vec<u32>,
    explanation: ExplanationLog,
}

impl Elmer {
    /// An allocator of this cluster's slots.
    pub fn new(cluster: Cluster, selection: HostSelection, told: Hosts, seed: u64) -> Self {
        Self {
            cluster,
            selection,
            told,
            seed,
            rng: ChaCha8Rng::seed_from_u64(seed),
            utilization: vec![0.0; cluster.hosts() as usize],
            hosts: Vec::new(),
            others: Vec::new(),
            explanation: ExplanationLog::default(),
        }
    }

    /// Lists the hosts that are free at a level. Returns how many of them, at the front, are to be
    /// taken before the others.
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

    /// Brings `count` hosts of `hosts[from..to]` to its front, in the order in which they are taken.
    fn draw(&mut self, from: usize, to: usize, count: usize) {
        if self.selection.pick == Pick::Random {
            // The first steps of a Fisher-Yates shuffle; u32 draws are the same on every platform.
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
        if size > machine.free_count() {
            return Err(Refusal::TooFewFree);
        }
        for level in 0..self.cluster.levels() {
            let preferred = self.list_free(machine, level);
            self.explanation.sentence(|| {
                let hosts = explain::count(self.hosts.len(), "host");
                format!("level {level}: {hosts} can be had, {preferred} of them before the others")
            });
            if self.hosts.len() < size {
                continue;
            }
            let first = size.min(preferred);
            self.draw(0, preferred, first);
            self.draw(preferred, self.hosts.len(), size - first);
            // If some of the preferred are left over, nobody else is needed.
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
        Capabilities { hosts: Some(self.told), ..Capabilities::coupled() }
    }
}

const MODES: [(&str, bool); 2] = [("guarded", true), ("strict", false)];
const PICKS: [(&str, Pick); 2] = [("random", Pick::Random), ("lowest", Pick::Lowest)];
const VERSIONS: [(&str, bool); 2] = [("1", false), ("2", true)];

/// What `elmer` can be told.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ElmerOptions {
    /// How hosts are chosen.
    pub selection: HostSelection,
    /// How they run what they are given.
    pub hosts: Hosts,
}

impl AllocatorOptions for ElmerOptions {
    fn build(&self, topology: &Topology, seed: u64) -> Result<Box<dyn Allocator>, String> {
        let cluster = topology.cluster();
        let cluster = cluster.ok_or("needs a cluster of workstations, such as cluster:6x2")?;
        Ok(Box::new(Elmer::new(cluster, self.selection, self.hosts, seed)))
    }
}

/// `elmer`.
pub fn table() -> Table<ElmerOptions> {
    let plain = ElmerOptions { selection: HostSelection::PLAIN, hosts: Hosts::PLAIN };
    let period = |hosts: &Hosts| Some(hosts.period).filter(|&period| period > 0.0);
    let elmer = Entry::new("elmer", plain)
        .about(
            "Hosts of a cluster (cluster:6x2) that other jobs may use already: a job gets the highest \
             level at which enough hosts are free, runs on what jobs above it leave, and moves up when \
             they end.",
        )
        .source("Turner 1995, section 6.3")
        .param(
            "threshold",
            kind::positive_to(1.0).or("none: version 1"),
            "version 2: hosts whose processor is in use for more than this share are not free",
            |o| &mut o.selection.threshold,
        )
        .other_way(
            "version",
            "threshold",
            kind::one_of(&VERSIONS),
            "2: threshold=0.8, where the thesis names none",
            false,
            |o, second| o.selection.threshold = second.then_some(HostSelection::THRESHOLD),
        )
        .param(
            "mode",
            kind::one_of(&MODES),
            "strict: as printed, so that a job may come to stand above an earlier one",
            |o| &mut o.selection.guarded,
        )
        .param(
            "pick",
            kind::one_of(&PICKS),
            "which of the free hosts; --seed chooses the stream",
            |o| &mut o.selection.pick,
        )
        .param(
            "demand",
            kind::positive_to(1.0),
            "share of its processor that a process uses when the job goes at full speed",
            |o| &mut o.hosts.demand,
        )
        .computed(
            "period",
            kind::positive_to(1e6).or("none: the present"),
            "seconds over which the use of a processor is averaged for version 2",
            move |o: &ElmerOptions| Some(period(&o.hosts)),
            |o, period| o.hosts.period = period.unwrap_or(0.0),
        )
        .param(
            "costs",
            kind::yes_no(),
            "add the time that Elmer takes to start and to end a job",
            |o| &mut o.hosts.costs,
        )
        .check(|o| match o.selection.threshold {
            Some(threshold) if threshold >= 1.0 => {
                Err("threshold is 1, but must be below: no processor is in use for more".to_string())
            }
            _ => Ok(()),
        });
    Table::new("allocator", [elmer])
}

#[cfg(test)]
mod tests;
