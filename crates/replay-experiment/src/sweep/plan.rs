use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Pairs;
use super::configuration::{
    CellConfiguration, chains_digest, jobs_digest, starts_digest, text_digest,
};
use crate::grid::{GridError, GridFile, ParameterGrid};
use crate::journal::CellId;
use crate::{Cell, RunKey, Trace};
use replay_core::allocator::registry::AllocatorSpec;
use replay_core::cancel::CancelToken;
use replay_core::naming::NameError;
use replay_core::topology::Topology;

/// The cells of a sweep, by number. A plan knows its traces by name and digest only: it
/// can be written down, read elsewhere, and says the same cells without a trace at hand.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The grid.
    pub grid: ParameterGrid,
    /// Every trace under every policy on every machine.
    pub traces: Vec<PlannedTrace>,
    /// The build that made it.
    pub build: Build,
    /// Which schedulers go with which strategies.
    pub pairs: Pairs,
}

/// A build of this program. Two of them may compute otherwise, even under one version.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Build {
    /// Version.
    pub version: String,
    /// Commit, for people; "-dirty" if the sources differ from it.
    #[serde(default)]
    pub commit: String,
    /// Digest of the sources: the same in every checkout of them, committed or not.
    #[serde(default)]
    pub sources: String,
}

impl Build {
    /// Whether another one computes the same: its version and sources are the same.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.version, &self.sources) == (&other.version, &other.sources)
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, commit, sources } = self;
        write!(f, "replay {version} (commit {commit}, sources {sources})")
    }
}

/// A trace on a machine, without its jobs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlannedTrace {
    /// Name.
    pub name: String,
    /// File as the user named it.
    pub source: String,
    /// BLAKE3 digest of its uncompressed text.
    pub digest: String,
    /// Time 0 of the trace, in seconds since 1970-01-01 UTC, if its header has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix_start_time: Option<i64>,
    /// BLAKE3 digest of the jobs as they are replayed.
    pub jobs_digest: String,
    /// BLAKE3 digest of when they started, if cells go by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_digest: Option<String>,
    /// BLAKE3 digest of where they ran, if cells go by that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places_digest: Option<String>,
    /// BLAKE3 digest of when processors are out of service, if some are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outages_digest: Option<String>,
    /// BLAKE3 digest of the jobs that the runs lack which repeat the log, if they lack some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_jobs_digest: Option<String>,
    /// Jobs replayed.
    pub jobs: usize,
    /// Machine.
    pub topology: String,
    /// Cleaning policy.
    pub policy: String,
    /// What cleaning and window did.
    pub cleaning: serde_json::Value,
}

/// A plan as it is written down.
#[derive(Serialize, Deserialize)]
struct PlanFile {
    #[serde(flatten)]
    build: Build,
    traces: Vec<PlannedTrace>,
    grid: GridFile,
}

/// A plan that has too many cells, or cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// More cells than can be numbered.
    #[error("{cells} cells are more than can be numbered")]
    TooMany {
        /// Cells.
        cells: u128,
    },
    /// Not the JSON of a plan.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// A grid that this version does not understand.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A strategy of a grid that was not resolved.
    #[error(transparent)]
    Strategy(#[from] NameError),
}

impl PlannedTrace {
    /// What a plan keeps of a loaded trace.
    pub fn new(trace: &Trace) -> Self {
        let workload = &trace.workload;
        Self {
            name: workload.name.clone(),
            source: workload.source.display().to_string(),
            digest: workload.digest.clone(),
            unix_start_time: workload.header.unix_start_time(),
            jobs_digest: match &trace.chains().follows[..] {
                [] => jobs_digest(&workload.jobs),
                follows => chains_digest(&workload.jobs, follows),
            },
            starts_digest: trace
                .is_recorded()
                .then(|| starts_digest(&workload.jobs, &workload.waits)),
            places_digest: trace
                .places()
                .map(|places| text_digest(&places.identity(&workload.jobs))),
            outages_digest: (!trace.outages().is_empty())
                .then(|| text_digest(&trace.outages().identity())),
            // Nobody stops this; what is wrong with the log its cells say.
            log_jobs_digest: trace
                .log_jobs(&CancelToken::new())
                .ok()
                .flatten()
                .map(|jobs| text_digest(&jobs.identity())),
            jobs: workload.jobs.len(),
            topology: trace.topology.to_string(),
            policy: trace.policy.clone(),
            // A report is numbers and names: it has a JSON form.
            cleaning: serde_json::to_value(&workload.report).unwrap_or_default(),
        }
    }
}

impl Plan {
    /// The plan of a grid whose traces are loaded, made by this build.
    ///
    /// # Errors
    /// [`PlanError::TooMany`].
    pub fn new(
        grid: ParameterGrid,
        traces: &[Arc<Trace>],
        build: Build,
    ) -> Result<Self, PlanError> {
        let traces = traces.par_iter().map(|trace| PlannedTrace::new(trace)).collect();
        Self::checked(grid, traces, build)
    }

    /// The plan that [`to_json`](Self::to_json) wrote down.
    ///
    /// # Errors
    /// [`PlanError`].
    pub fn from_json(json: serde_json::Value) -> Result<Self, PlanError> {
        let PlanFile { build, traces, grid } = serde_json::from_value(json)?;
        Self::checked(ParameterGrid::resolve(&grid)?, traces, build)
    }

    /// The plan as JSON.
    ///
    /// # Errors
    /// None that a plan can cause.
    pub fn to_json(&self) -> Result<serde_json::Value, serde_json::Error> {
        let Self { grid, traces, build, .. } = self;
        let (build, traces, grid) = (build.clone(), traces.clone(), grid.file.clone());
        serde_json::to_value(PlanFile { build, traces, grid })
    }

    fn checked(
        grid: ParameterGrid,
        traces: Vec<PlannedTrace>,
        build: Build,
    ) -> Result<Self, PlanError> {
        let copies = 1 + grid.copies() as usize;
        let pairs = Pairs::of(&grid)?;
        let lists = [traces.len(), copies, pairs.count(), grid.seeds.len()];
        let cells = lists.iter().map(|&length| length as u128).product::<u128>();
        match u32::try_from(cells) {
            Ok(_) => Ok(Self { grid, traces, build, pairs }),
            Err(_) => Err(PlanError::TooMany { cells }),
        }
    }

    /// Number of cells.
    pub fn len(&self) -> u32 {
        // It fits: checked when the plan was made.
        (self.traces.len() * self.copies() * self.of_a_copy()) as u32
    }

    /// Copies of each trace, itself among them.
    fn copies(&self) -> usize {
        1 + self.grid.copies() as usize
    }

    /// Cells on one copy of one trace.
    fn of_a_copy(&self) -> usize {
        self.pairs.count() * self.grid.seeds.len()
    }

    /// Whether there is no cell.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Number of cells before equal strategies were removed.
    pub fn combinations(&self) -> u128 {
        let ParameterGrid { schedulers, strategies, seeds, .. } = &self.grid;
        let lists = [self.traces.len(), self.copies(), schedulers.len(), seeds.len()];
        let times = lists.iter().map(|&length| length as u128).product::<u128>();
        let removed = u128::from(strategies.combinations()) - strategies.len() as u128;
        u128::from(self.len()) + times * removed
    }

    /// Places of cell `run` in the lists of traces, copies, schedulers, strategies and seeds, the
    /// last counting fastest. Copy 0 is the trace itself.
    pub fn places(&self, run: u32) -> [usize; 5] {
        let mut rest = run as usize;
        let mut digit = |length: usize| {
            let place = rest % length;
            rest /= length;
            place
        };
        let seed = digit(self.grid.seeds.len());
        let (scheduler, strategy) = self.pairs.at(digit(self.pairs.count()));
        let copy = digit(self.copies());
        [rest, copy, scheduler, strategy, seed]
    }

    /// The cell at these [places](Self::places), whose scheduler and strategy
    /// [go together](Pairs::go_together).
    pub fn run_at(&self, [trace, copy, scheduler, strategy, seed]: [usize; 5]) -> u32 {
        self.of_pair([trace, copy], self.pairs.pair(scheduler, strategy), seed)
    }

    fn of_pair(&self, [trace, copy]: [usize; 2], pair: usize, seed: usize) -> u32 {
        let run = (trace * self.copies() + copy) * self.pairs.count() + pair;
        (run * self.grid.seeds.len() + seed) as u32
    }

    /// The cell on the same copy of the trace with the same seed that cell `run` is compared with:
    /// under the same scheduler the first strategy, in a plan of one strategy the first scheduler.
    pub fn compared_with(&self, run: u32) -> u32 {
        let [trace, copy, scheduler, _, seed] = self.places(run);
        let scheduler = if self.grid.strategies.len() == 1 { 0 } else { scheduler };
        self.of_pair([trace, copy], self.pairs.first_of(scheduler), seed)
    }

    /// The place of cell `run` among those that differ in more than the copy of the trace.
    pub fn cell_without_copy(&self, run: u32) -> usize {
        let [trace, ..] = self.places(run);
        trace * self.of_a_copy() + run as usize % self.of_a_copy()
    }

    /// Jobs of cell `run`.
    pub fn jobs(&self, run: u32) -> u64 {
        let [trace, ..] = self.places(run);
        self.traces[trace].jobs as u64
    }

    /// A strategy as it is on the machine of a trace.
    fn strategy(&self, index: usize, trace: &PlannedTrace) -> Result<AllocatorSpec, NameError> {
        let allocator = self.grid.strategies.get(index)?;
        // A machine that came from a plan of this program parses.
        let machine = trace.topology.parse::<Topology>();
        Ok(machine.map_or(allocator.clone(), |machine| allocator.on(&machine)))
    }

    /// What identifies cell `run` (below [`len`](Self::len)) in the results.
    ///
    /// # Errors
    /// None for a grid that was resolved, see
    /// [`Strategies::get`](crate::grid::Strategies::get).
    pub fn key(&self, run: u32) -> Result<RunKey, NameError> {
        let [trace, copy, scheduler, strategy, seed] = self.places(run);
        let trace = &self.traces[trace];
        let allocator = self.strategy(strategy, trace)?;
        Ok(RunKey {
            trace: trace.name.clone(),
            topology: trace.topology.clone(),
            scheduler: self.grid.schedulers[scheduler].to_string(),
            allocator: allocator.without_tie().to_string(),
            tie: allocator.tie().map(|tie| tie.to_string()),
            policy: trace.policy.clone(),
            seed: self.grid.seeds[seed],
            copy: copy as u32,
        })
    }

    /// The id of cell `run`.
    ///
    /// # Errors
    /// As [`key`](Self::key).
    pub fn id(&self, run: u32) -> Result<CellId, NameError> {
        let [trace, copy, scheduler, strategy, seed] = self.places(run);
        let trace = &self.traces[trace];
        let configuration = CellConfiguration {
            jobs: &trace.jobs_digest,
            topology: &trace.topology,
            scheduler: &self.grid.schedulers[scheduler].to_string(),
            strategy: &self.strategy(strategy, trace)?.identity(),
            seed: self.grid.seeds[seed],
            ties: self.grid.measure.ties,
            placements: self.grid.measure.placements,
            shaken: self.grid.shake.filter(|_| copy > 0).map(|shake| (shake, copy as u32)),
            recorded: match self.grid.schedulers[scheduler].recorded() {
                Some(_) => trace.starts_digest.as_deref(),
                None => None,
            },
            places: match self.grid.strategies.get(strategy)?.recorded() {
                true => trace.places_digest.as_deref(),
                false => None,
            },
            outages: trace.outages_digest.as_deref(),
            // Which a shaken copy lacks follows from when its jobs started.
            log_jobs: match copy {
                0 => trace.log_jobs_digest.as_deref(),
                _ => trace.log_jobs_digest.as_deref().or(trace.starts_digest.as_deref()),
            },
        };
        Ok(configuration.id())
    }

    /// Cell `run`, ready to run on the loaded traces of this plan.
    ///
    /// # Errors
    /// As [`key`](Self::key).
    pub fn cell(&self, traces: &[Arc<Trace>], run: u32) -> Result<Cell, NameError> {
        let [trace, copy, scheduler, strategy, seed] = self.places(run);
        let shake = self.grid.shake.as_ref();
        Ok(Cell {
            trace: match shake {
                Some(shake) => traces[trace].shaken(shake, copy as u32),
                None => traces[trace].clone(),
            },
            scheduler: self.grid.schedulers[scheduler].clone(),
            allocator: self.grid.strategies.get(strategy)?.on(&traces[trace].topology),
            seed: self.grid.seeds[seed],
        })
    }

    /// What makes two plans one: of all cells in order what they compute and how the results
    /// name them. BLAKE3, hexadecimal. A few microseconds per cell. Whether two
    /// [builds](Self::build) compute the same it does not say.
    ///
    /// # Errors
    /// As [`key`](Self::key).
    pub fn digest(&self) -> Result<String, NameError> {
        let mut hasher = blake3::Hasher::new();
        for run in 0..self.len() {
            hasher.update(self.id(run)?.to_string().as_bytes());
            hasher.update(self.key(run)?.identity().as_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}
