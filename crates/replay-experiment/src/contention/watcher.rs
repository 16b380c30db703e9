//! Whoever watches a run of a trace, in one piece or in several.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Isolation;
use crate::{Pace, Watch};
use replay_core::allocator::reduced::Reduction;
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::allocator::{Census, Refusal};
use replay_core::metrics::{Locality, Placement, SystemRecorder};
use replay_core::scheduler::registry::SchedulerSpec;
use replay_core::simulation::{Observer, Overhead, State};
use replay_core::topology::{NodeId, Topology};
use replay_core::workload::JobId;

/// Who decides in a run, and by which seed.
#[derive(Clone, Copy)]
pub struct Strategies<'a> {
    /// Who starts.
    pub scheduler: &'a SchedulerSpec,
    /// Where.
    pub allocator: &'a AllocatorSpec,
    /// That of the allocator and of what jobs draw.
    pub seed: u64,
}

/// What those who look on have heard: of every job once, in however many pieces it takes part.
pub struct Heard<'a> {
    watch: Watch<'a>,
    pace: Mutex<Pace<'a>>,
    /// By job.
    started: Vec<AtomicBool>,
    completed: Vec<AtomicBool>,
}

impl<'a> Heard<'a> {
    /// Nothing yet of so many jobs.
    pub fn new(watch: Watch<'a>, jobs: usize) -> Self {
        let none = || (0..jobs).map(|_| AtomicBool::new(false)).collect();
        let pace = Mutex::new(Pace::new(watch, jobs));
        Self { watch, pace, started: none(), completed: none() }
    }

    fn started(&self, job: JobId) {
        if !self.started[job.index()].swap(true, Ordering::Relaxed) {
            self.pace.lock().unwrap_or_else(PoisonError::into_inner).started();
        }
    }

    fn completed(&self, job: JobId) {
        if !self.completed[job.index()].swap(true, Ordering::Relaxed) {
            (self.watch.jobs_done)(1);
        }
    }
}

/// What was seen of jobs.
pub struct Seen {
    /// The system over time.
    pub recorder: SystemRecorder,
    /// What it cost to allocate.
    pub overhead: Overhead,
    /// Where jobs were.
    pub placements: Vec<Option<Placement>>,
    /// By job that sends packets, the processors of its processes.
    pub nodes: Vec<Vec<NodeId>>,
}

impl Seen {
    /// Of these jobs alone: no other has taken part.
    pub fn only(self, jobs: &Range<usize>) -> Self {
        Self {
            recorder: self.recorder.only(jobs),
            overhead: self.overhead,
            placements: only(self.placements, jobs),
            nodes: only(self.nodes, jobs),
        }
    }

    /// Takes in what was seen of the jobs that follow, from an empty machine on.
    pub fn append(&mut self, later: Self) {
        self.recorder.append(later.recorder);
        self.overhead.append(later.overhead);
        self.placements.extend(later.placements);
        self.nodes.extend(later.nodes);
    }
}

/// What there is of these jobs.
fn only<T>(mut of_jobs: Vec<T>, jobs: &Range<usize>) -> Vec<T> {
    of_jobs.truncate(jobs.end);
    of_jobs.drain(..jobs.start.min(jobs.end)).for_each(drop);
    of_jobs.shrink_to_fit();
    of_jobs
}

/// Notes where jobs are and what the system does.
pub struct Watcher<'a, 'w> {
    recorder: SystemRecorder,
    locality: Locality,
    placements: Vec<Option<Placement>>,
    nodes: Vec<Vec<NodeId>>,
    isolation: &'a Isolation,
    heard: &'a Heard<'w>,
}

impl<'a, 'w> Watcher<'a, 'w> {
    /// Nothing is seen yet.
    pub fn new(topology: &Topology, isolation: &'a Isolation, heard: &'a Heard<'w>) -> Self {
        let jobs = isolation.jobs.len();
        let recorder = SystemRecorder::new(jobs);
        let (placements, nodes) = (vec![None; jobs], vec![Vec::new(); jobs]);
        Self { recorder, locality: Locality::new(topology), placements, nodes, isolation, heard }
    }

    /// What it has seen, by the end of a simulation.
    pub fn seen(self, overhead: Overhead) -> Seen {
        let Self { recorder, placements, nodes, .. } = self;
        Seen { recorder, overhead, placements, nodes }
    }
}

impl Observer for Watcher<'_, '_> {
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        self.recorder.passed(from, to, state);
    }

    fn arrived(&mut self, job: JobId, now: i64) {
        self.recorder.arrived(job, now);
    }

    fn refused(&mut self, job: JobId, refusal: Refusal) {
        self.recorder.refused(job, refusal);
    }

    fn reduced(&mut self, job: JobId, asked: u32, reduction: &Reduction) {
        self.recorder.reduced(job, asked, reduction);
    }

    fn started(&mut self, id: JobId, now: i64, nodes: &[NodeId], census: Option<Census>) {
        self.recorder.started(id, now, nodes, census);
        self.heard.started(id);
        let size = self.isolation.jobs[id.index()].size;
        self.placements[id.index()] = Some(self.locality.placement(nodes, size));
        if self.isolation.quotas[id.index()] > 0 {
            self.nodes[id.index()] = nodes[..size as usize].to_vec();
        }
    }

    fn completed(&mut self, job: JobId, now: i64) {
        self.recorder.completed(job, now);
        self.heard.completed(job);
    }
}
