//! The system over time in a coupled simulation: utilization, fragmentation, busy list.

use serde::{Deserialize, Serialize};

use crate::allocator::{Census, Refusal};
use crate::simulation::{Observer, Overhead, State};
use crate::topology::NodeId;
use crate::workload::{Job, JobId};

/// Observes a coupled simulation and keeps what its metrics need. Times are those of the
/// jobs (trace seconds, ticks or cycles).
#[derive(Clone, Debug)]
pub struct SystemRecorder {
    starts: Vec<i64>,
    ends: Vec<i64>,
    /// Integrals over time.
    held: i128,
    requested: i128,
    busy_list: i128,
    fragmented: i128,
    refusals: u64,
    fragmented_refusals: u64,
    blocks: u64,
    in_blocks: u64,
    in_one_block: u64,
    searches: u64,
}

impl SystemRecorder {
    /// A recorder for this many jobs.
    pub fn new(jobs: usize) -> Self {
        Self {
            starts: vec![i64::MIN; jobs],
            ends: vec![i64::MIN; jobs],
            held: 0,
            requested: 0,
            busy_list: 0,
            fragmented: 0,
            refusals: 0,
            fragmented_refusals: 0,
            blocks: 0,
            in_blocks: 0,
            in_one_block: 0,
            searches: 0,
        }
    }

    /// Start by job.
    pub fn starts(&self) -> &[i64] {
        &self.starts
    }

    /// Completion by job.
    pub fn ends(&self) -> &[i64] {
        &self.ends
    }

    /// What the system comes to between `origin` and the last completion, on a machine of
    /// `processors`.
    pub fn metrics(&self, origin: i64, processors: usize, overhead: &Overhead) -> SystemMetrics {
        let finish = self.ends.iter().copied().max().unwrap_or(origin);
        let span = (finish - origin).max(1) as f64;
        let capacity = span * processors as f64;
        let jobs = self.starts.len().max(1) as f64;
        let of_units = |sum: f64| (self.in_blocks > 0).then(|| sum / self.in_blocks as f64);
        SystemMetrics {
            finish_time: finish - origin,
            utilization: self.requested as f64 / capacity,
            allocated_utilization: self.held as f64 / capacity,
            internal_fragmentation_percent: if self.held > 0 {
                100.0 * (self.held - self.requested) as f64 / self.held as f64
            } else {
                0.0
            },
            refusals: self.refusals,
            fragmented_refusals: self.fragmented_refusals,
            fragmented_time_percent: 100.0 * self.fragmented as f64 / span,
            mean_blocks: of_units(self.blocks as f64),
            one_block_percent: of_units(100.0 * self.in_one_block as f64),
            mean_busy_list: of_units(1.0).map(|_| self.busy_list as f64 / span),
            mean_searches: of_units(self.searches as f64),
            attempts_per_job: overhead.attempts as f64 / jobs,
            operations_per_job: overhead.operations as f64 / jobs,
        }
    }
}

impl Observer for SystemRecorder {
    fn passed(&mut self, from: i64, to: i64, state: &State) {
        let span = i128::from(to - from);
        self.held += i128::from(state.held) * span;
        self.requested += i128::from(state.requested) * span;
        self.busy_list += i128::from(state.census.map_or(0, |census| census.busy_list)) * span;
        self.fragmented += i128::from(state.fragmented) * span;
    }

    fn refused(&mut self, _job: JobId, refusal: Refusal) {
        self.refusals += 1;
        self.fragmented_refusals += u64::from(refusal == Refusal::Fragmented);
    }

    fn started(&mut self, job: JobId, now: i64, _nodes: &[NodeId], census: Option<Census>) {
        self.starts[job.index()] = now;
        let Some(census) = census else { return };
        self.blocks += u64::from(census.blocks);
        self.in_blocks += 1;
        self.in_one_block += u64::from(census.blocks == 1);
        self.searches = census.searches;
    }

    fn completed(&mut self, job: JobId, now: i64) {
        self.ends[job.index()] = now;
    }
}

/// What the system comes to in a coupled simulation.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct SystemMetrics {
    /// Last completion, from the origin of time.
    pub finish_time: i64,
    /// Share of the machine's processor-time that jobs asked for and held (Lo et al.: the
    /// requested processors are the useful ones).
    pub utilization: f64,
    /// The same with the processors lost to internal fragmentation.
    pub allocated_utilization: f64,
    /// Processor-time given to jobs beyond their request, in percent of all that was given
    /// (Bani-Mohammad 2008, equations 2.2 and 2.3, weighted by time).
    pub internal_fragmentation_percent: f64,
    /// Attempts the allocator refused although the job's processors were free.
    pub refusals: u64,
    /// Those of them refused for want of a place, not of processors to round up with.
    pub fragmented_refusals: u64,
    /// Share of the time, in percent, in which a job waited that had been refused for want
    /// of a place.
    pub fragmented_time_percent: f64,
    /// Mean units (sub-meshes, blocks, pages) of a job; `None` if the strategy has none.
    pub mean_blocks: Option<f64>,
    /// Jobs in one unit, in percent (contiguous ratio).
    pub one_block_percent: Option<f64>,
    /// Time-average of the number of units handed out (the busy list's m).
    pub mean_busy_list: Option<f64>,
    /// Mean searches of a job beyond the first (GABL's b).
    pub mean_searches: Option<f64>,
    /// Calls of the allocator for a job.
    pub attempts_per_job: f64,
    /// Elementary operations of the allocator for a job; 0 if it counts none.
    pub operations_per_job: f64,
}

/// The jobs with the time they really held their processors as run time.
pub fn as_served(jobs: &[Job], recorder: &SystemRecorder) -> Vec<Job> {
    let served = jobs.iter().zip(recorder.starts.iter().zip(&recorder.ends));
    served.map(|(job, (start, end))| Job { run: end - start, ..*job }).collect()
}
