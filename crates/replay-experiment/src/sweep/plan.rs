use std::fmt;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::Pairs;
use super::configuration::{CellConfiguration, starts_digest, text_digest};
use super::lazy_digest::LazyDigest;
use crate::grid::{GridError, GridFile, ParameterGrid};
use crate::journal::CellId;
use crate::{Cell, RunKey, Trace};
use replay_engine::allocator::registry::AllocatorSpec;
use replay_engine::cancel::CancelToken;
use replay_engine::naming::NameError;
use replay_engine::registries::Registries;
use replay_engine::topology::{Topology, TopologyError, content_digest, split_name};

/// The numbered cells of a sweep. A plan contains only the names and the digests of its traces. A plan can therefore be
/// saved, and read on another machine that does not have the traces.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The grid.
    pub grid: ParameterGrid,
    /// The traces of the plan: every combination of a trace, a policy and a machine.
    pub traces: Vec<PlannedTrace>,
    /// The machine of each trace.
    machines: Vec<Topology>,
    /// Compatible pairs of schedulers and strategies.
    pub pairs: Pairs,
}

/// A build of this program. Two builds of the same version may compute different results.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Build {
    /// Version of the program.
    pub version: String,
    /// Commit of the sources, for information. The text ends in "-dirty" if the sources differ from the commit.
    #[serde(default)]
    pub commit: String,
    /// Digest of the sources. All checkouts of the same sources have the same digest.
    #[serde(default)]
    pub sources: String,
    /// Compiler, for information.
    #[serde(default)]
    pub compiler: String,
}

impl Build {
    /// Returns whether another build has the same version and the same sources, and therefore computes the same
    /// results.
    pub fn is_same(&self, other: &Self) -> bool {
        (&self.version, &self.sources) == (&other.version, &other.sources)
    }
}

impl fmt::Display for Build {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { version, commit, sources, .. } = self;
        write!(f, "replay {version} (commit {commit}, sources {sources})")
    }
}

/// The description of a trace on a machine, without the jobs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct PlannedTrace {
    /// Name of the trace.
    pub name: String,
    /// Path of the file as the user gave it.
    pub source: String,
    /// BLAKE3 digest of the uncompressed text of the file.
    pub digest: String,
    /// Time 0 of the trace, in seconds since 1970-01-01 UTC; `None` if the header of the trace does not contain it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unix_start_time: Option<i64>,
    /// BLAKE3 digest of the replayed jobs.
    pub jobs_digest: LazyDigest,
    /// BLAKE3 digest of the recorded start times, if cells use the recorded start times.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub starts_digest: Option<String>,
    /// BLAKE3 digest of the recorded placements, if cells use the recorded placements.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub places_digest: Option<String>,
    /// BLAKE3 digest of the outages, if there are outages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub outages_digest: Option<String>,
    /// BLAKE3 digest of the partitions of the jobs, if there are partitions.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partitions_digest: Option<String>,
    /// BLAKE3 digest of the set of jobs that are missing from runs with recorded start times, if any jobs are missing;
    /// if these runs fail, the digest of the error.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub log_jobs_digest: Option<String>,
    /// Number of jobs that are replayed.
    pub jobs: usize,
    /// Name of the machine.
    pub topology: String,
    /// BLAKE3 digest of the machine, if a file describes the machine.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub machine_digest: Option<String>,
    /// Cleaning policy.
    pub policy: String,
    /// Report of the cleaning and of the selection of the window.
    pub cleaning: serde_json::Value,
}

/// Serialized form of a plan.
#[derive(Serialize, Deserialize)]
struct PlanFile {
    #[serde(flatten)]
    build: Build,
    traces: Vec<PlannedTrace>,
    grid: GridFile,
}

/// Error from creating or reading a plan.
#[derive(Debug, thiserror::Error)]
pub enum PlanError {
    /// The grid has more cells than can be numbered.
    #[error("the plan has {cells} cells, more than the limit of 2^32 - 1")]
    TooMany {
        /// Number of cells.
        cells: u128,
    },
    /// The JSON is not a plan.
    #[error(transparent)]
    Json(#[from] serde_json::Error),
    /// The grid is not valid in this version.
    #[error(transparent)]
    Grid(#[from] GridError),
    /// A strategy cannot be built; this happens only if the grid was not resolved.
    #[error(transparent)]
    Strategy(#[from] NameError),
}

/// Returns the machine with this name, which a file may describe.
fn machine_of(
    name: &str,
    grid: &ParameterGrid,
    registries: &Registries,
) -> Result<Topology, PlanError> {
    let problem = |problem: String| PlanError::Json(serde::de::Error::custom(problem));
    if let Some(machine) = grid.machines.iter().find(|machine| machine.to_string() == name) {
        return Ok(machine.clone());
    }
    match (split_name(name), &registries.machine_files) {
        (Some(_), Some(files)) => files.read(name).map(|file| file.topology).map_err(problem),
        _ => name.parse().map_err(|error: TopologyError| problem(error.to_string())),
    }
}

impl PlannedTrace {
    /// Creates the description of a loaded trace from its names and digests.
    pub fn new(trace: &Trace) -> Self {
        let workload = &trace.workload;
        Self {
            name: workload.name.clone(),
            source: workload.source.display().to_string(),
            digest: workload.digest.clone(),
            unix_start_time: workload.header.unix_start_time(),
            jobs_digest: LazyDigest::new(trace),
            starts_digest: trace
                .is_recorded()
                .then(|| starts_digest(&workload.jobs, &workload.waits)),
            places_digest: trace
                .places()
                .map(|places| text_digest(&places.identity(&workload.jobs))),
            outages_digest: (!trace.outages().is_empty())
                .then(|| text_digest(&trace.outages().identity())),
            partitions_digest: trace
                .partitions()
                .map(|partitions| text_digest(&partitions.identity(workload))),
            // This computation is never cancelled. An error is reported by the cells, which fail.
            log_jobs_digest: match trace.log_jobs(&CancelToken::new()) {
                Ok(jobs) => jobs.map(|jobs| text_digest(&jobs.identity())),
                Err(error) => Some(text_digest(&error.to_string())),
            },
            jobs: workload.jobs.len(),
            topology: trace.topology.to_string(),
            machine_digest: content_digest(&trace.topology),
            policy: trace.policy.clone(),
            // A report consists of numbers and names, so serialization does not fail.
            cleaning: serde_json::to_value(&workload.report).unwrap_or_default(),
        }
    }
}

impl Plan {
    /// Creates the plan of a grid with loaded traces.
    ///
    /// # Errors
    /// [`PlanError::TooMany`] if there are too many cells to number them, [`PlanError::Strategy`] if the grid was not
    /// resolved.
    pub fn new(grid: ParameterGrid, traces: &[Arc<Trace>]) -> Result<Self, PlanError> {
        let machines = traces.iter().map(|trace| trace.topology.clone()).collect();
        let traces = traces.par_iter().map(|trace| PlannedTrace::new(trace)).collect();
        Self::checked(grid, traces, machines)
    }

    /// Reads a plan written by [`to_json`](Self::to_json).
    ///
    /// # Errors
    /// [`PlanError`] if the JSON or its grid is invalid.
    pub fn from_json(json: serde_json::Value, registries: &Registries) -> Result<Self, PlanError> {
        let PlanFile { build: _, traces, grid } = serde_json::from_value(json)?;
        let grid = ParameterGrid::resolve(&grid, registries)?;
        let machines = traces.iter().map(|trace| machine_of(&trace.topology, &grid, registries));
        let machines = machines.collect::<Result<_, _>>()?;
        Self::checked(grid, traces, machines)
    }

    /// Converts the plan to JSON, with the build of the program that created it.
    ///
    /// # Errors
    /// A serialization error. A valid plan does not cause an error.
    pub fn to_json(&self, build: &Build) -> Result<serde_json::Value, serde_json::Error> {
        let Self { grid, traces, .. } = self;
        let (build, traces, grid) = (build.clone(), traces.clone(), grid.file.clone());
        serde_json::to_value(PlanFile { build, traces, grid })
    }

    fn checked(
        grid: ParameterGrid,
        traces: Vec<PlannedTrace>,
        machines: Vec<Topology>,
    ) -> Result<Self, PlanError> {
        let copies = 1 + grid.copies() as usize;
        let pairs = Pairs::of(&grid)?;
        let lists = [traces.len(), copies, pairs.count(), grid.seeds.len()];
        let cells = lists.iter().map(|&length| length as u128).product::<u128>();
        match u32::try_from(cells) {
            Ok(_) => Ok(Self { grid, traces, machines, pairs }),
            Err(_) => Err(PlanError::TooMany { cells }),
        }
    }

    /// Number of cells.
    pub fn len(&self) -> u32 {
        // The number of cells was checked when the plan was created, so the conversion does not truncate it.
        (self.traces.len() * self.copies() * self.of_a_copy()) as u32
    }

    /// Returns the number of copies of each trace, including the unperturbed trace.
    fn copies(&self) -> usize {
        1 + self.grid.copies() as usize
    }

    /// Returns the number of cells for one copy of one trace.
    fn of_a_copy(&self) -> usize {
        self.pairs.count() * self.grid.seeds.len()
    }

    /// Returns whether the plan has no cells.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of cells that the plan would have if equal strategies had not been removed.
    pub fn combinations(&self) -> u128 {
        let ParameterGrid { schedulers, strategies, seeds, .. } = &self.grid;
        let lists = [self.traces.len(), self.copies(), schedulers.len(), seeds.len()];
        let times = lists.iter().map(|&length| length as u128).product::<u128>();
        let removed = u128::from(strategies.combinations()) - strategies.len() as u128;
        u128::from(self.len()) + times * removed
    }

    /// Returns the indices of the trace, copy, scheduler, strategy and seed of cell `run` in the respective lists. The
    /// last index varies fastest. Copy 0 is the unperturbed trace.
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

    /// Returns the number of the cell at these [indices](Self::places). The scheduler and the strategy must be
    /// [compatible](Pairs::are_compatible).
    pub fn run_at(&self, [trace, copy, scheduler, strategy, seed]: [usize; 5]) -> u32 {
        self.of_pair([trace, copy], self.pairs.pair(scheduler, strategy), seed)
    }

    fn of_pair(&self, [trace, copy]: [usize; 2], pair: usize, seed: usize) -> u32 {
        let run = (trace * self.copies() + copy) * self.pairs.count() + pair;
        (run * self.grid.seeds.len() + seed) as u32
    }

    /// Returns the number of the cell with which cell `run` is compared. The returned cell has the same copy of the
    /// trace and the same seed. If the grid has several strategies, the returned cell has the same scheduler and the
    /// first strategy. If the grid has a single strategy, the returned cell has the first scheduler.
    pub fn compared_with(&self, run: u32) -> u32 {
        let [trace, copy, scheduler, _, seed] = self.places(run);
        let scheduler = if self.grid.strategies.len() == 1 { 0 } else { scheduler };
        self.of_pair([trace, copy], self.pairs.first_of(scheduler), seed)
    }

    /// Returns the index of cell `run` in a numbering that does not distinguish the copies of a trace.
    pub fn cell_without_copy(&self, run: u32) -> usize {
        let [trace, ..] = self.places(run);
        trace * self.of_a_copy() + run as usize % self.of_a_copy()
    }

    /// Returns the number of jobs of cell `run`.
    pub fn jobs(&self, run: u32) -> u64 {
        let [trace, ..] = self.places(run);
        self.traces[trace].jobs as u64
    }

    /// Returns the strategy with index `index`, adapted to the machine of the trace with index `trace`.
    fn strategy(&self, index: usize, trace: usize) -> Result<AllocatorSpec, NameError> {
        Ok(self.grid.strategies.get(index)?.on(&self.machines[trace]))
    }

    /// Returns the key of cell `run` in the results. `run` must be below [`len`](Self::len).
    ///
    /// # Errors
    /// A resolved grid causes no errors, see [`Strategies::get`](crate::grid::Strategies::get).
    pub fn key(&self, run: u32) -> Result<RunKey, NameError> {
        let [trace, copy, scheduler, strategy, seed] = self.places(run);
        let allocator = self.strategy(strategy, trace)?;
        let trace = &self.traces[trace];
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

    /// Returns the id of cell `run`.
    ///
    /// # Errors
    /// See [`key`](Self::key).
    pub fn id(&self, run: u32) -> Result<CellId, NameError> {
        let [trace, copy, scheduler, strategy, seed] = self.places(run);
        let strategy_id = self.strategy(strategy, trace)?.identity();
        let trace = &self.traces[trace];
        let configuration = CellConfiguration {
            jobs: &trace.jobs_digest,
            topology: &trace.topology,
            machine: trace.machine_digest.as_deref(),
            scheduler: &self.grid.schedulers[scheduler].to_string(),
            strategy: &strategy_id,
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
            partitions: trace.partitions_digest.as_deref(),
            // The recorded start times determine which jobs are missing from a perturbed copy.
            log_jobs: match copy {
                0 => trace.log_jobs_digest.as_deref(),
                _ => trace.log_jobs_digest.as_deref().or(trace.starts_digest.as_deref()),
            },
        };
        Ok(configuration.id())
    }

    /// Returns cell `run`, using the loaded traces of this plan.
    ///
    /// # Errors
    /// See [`key`](Self::key).
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

    /// Returns the BLAKE3 digest, in hexadecimal, of the ids and the keys of all cells in order. Plans with equal
    /// digests are equal. Computing the digest takes a few microseconds per cell. The digest does not depend on the
    /// build.
    ///
    /// # Errors
    /// See [`key`](Self::key).
    pub fn digest(&self) -> Result<String, NameError> {
        let mut hasher = blake3::Hasher::new();
        for run in 0..self.len() {
            hasher.update(self.id(run)?.to_string().as_bytes());
            hasher.update(self.key(run)?.identity().as_bytes());
        }
        Ok(hasher.finalize().to_hex().to_string())
    }
}
