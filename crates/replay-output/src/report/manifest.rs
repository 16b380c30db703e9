//! Manifests, which record the origin of results.

use std::time::{Duration, SystemTime};

use serde::{Deserialize, Serialize};

use replay_engine::number::counted;
use replay_engine::workload::{CleaningReport, PolicyRow, Shake};
use replay_experiment::RunKey;
use replay_experiment::files::{FORMAT, FileRecord, InputRecord, PROGRAM, ResultFolder};
use replay_experiment::grid::{DownFile, PartitionsFile, WindowFile};
use replay_experiment::sweep::Build;

/// The process that computes results, as recorded in the manifest of the results.
#[derive(Clone, Debug)]
pub struct Origin {
    /// Kind of results, such as "run" or "search".
    pub kind: &'static str,
    /// Build of the program.
    pub build: Build,
    command: Vec<String>,
    started: SystemTime,
}

/// Manifest of a set of result files. The manifest contains everything that is needed to reproduce the files. No other
/// file contains wall-clock times.
#[derive(Clone, Debug, Serialize)]
pub struct Manifest<'a, C, D> {
    /// Name of the program.
    program: &'static str,
    /// Version of the manifest format.
    format: u32,
    /// Kind of results.
    kind: &'static str,
    /// Version of the program.
    version: &'a str,
    /// Commit of the program, or "unknown".
    commit: &'a str,
    /// Digest of the program's sources.
    sources: &'a str,
    /// Compiler that built the program.
    compiler: &'a str,
    /// Command line as typed.
    command: &'a [String],
    /// Resolved configuration, which determines the numbers.
    configuration: &'a C,
    /// Digest of the configuration and the set of tables. Existing results are replaced without --force only if their
    /// digest is equal to this digest.
    configuration_digest: Option<&'a str>,
    /// Details that depend on the kind of results.
    #[serde(flatten)]
    details: &'a D,
    /// Failed runs, each with the reason.
    failed: &'a [String],
    /// Number of threads.
    threads: usize,
    /// Host that ran the program.
    host: Host,
    /// Start in seconds since 1970-01-01 UTC.
    started_unix: u64,
    /// Wall-clock seconds from the start to the end of the process.
    elapsed_seconds: f64,
    /// Peak memory of the process in bytes; `None` if the system does not report it.
    peak_memory_bytes: Option<u64>,
    /// Input files.
    inputs: &'a [InputRecord],
    /// Result files.
    files: &'a [FileRecord],
}

impl Origin {
    /// Starts recording this process, with its build and command line as typed.
    pub fn begin(kind: &'static str, build: Build, command: &[std::ffi::OsString]) -> Self {
        let command = command.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        Self { kind, build, command, started: SystemTime::now() }
    }

    /// Renders the manifest.
    ///
    /// # Errors
    /// Returns a [`serde_json::Error`] if `configuration` or `details` cannot be serialized.
    pub fn manifest(
        &self,
        configuration: &impl Serialize,
        configuration_digest: Option<&str>,
        details: &impl Serialize,
        failed: &[String],
        inputs: &[InputRecord],
        files: &[FileRecord],
    ) -> serde_json::Result<String> {
        let since = |t: SystemTime, from| t.duration_since(from).unwrap_or(Duration::ZERO);
        let text = serde_json::to_string_pretty(&Manifest {
            program: PROGRAM,
            format: FORMAT,
            kind: self.kind,
            version: &self.build.version,
            commit: &self.build.commit,
            sources: &self.build.sources,
            compiler: &self.build.compiler,
            command: &self.command,
            configuration,
            configuration_digest,
            details,
            failed,
            threads: rayon::current_num_threads(),
            host: Host::this(),
            started_unix: since(self.started, SystemTime::UNIX_EPOCH).as_secs(),
            elapsed_seconds: since(SystemTime::now(), self.started).as_secs_f64(),
            peak_memory_bytes: peak_memory_bytes(),
            inputs,
            files,
        })?;
        Ok(text + "\n")
    }
}

/// A manifest that a command wrote. Fields that its kind of results does not have are empty.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct StoredManifest {
    /// Kind of results, such as "run" or "search".
    pub kind: String,
    /// Version of the program.
    pub version: String,
    /// Commit of the program.
    pub commit: String,
    /// Command line as typed.
    pub command: Vec<String>,
    /// Start of the command in seconds since 1970-01-01 UTC.
    pub started_unix: i64,
    /// Configuration, which determines the numbers.
    pub configuration: Configuration,
}

impl StoredManifest {
    /// Reads the manifest of a directory; `None` if the directory has no manifest.
    ///
    /// # Errors
    /// [`serde_json::Error`] if a field has an unexpected type.
    pub fn of(folder: &ResultFolder) -> serde_json::Result<Option<Self>> {
        folder.manifest().map(serde_json::from_slice).transpose()
    }

    /// Returns the window of the traces.
    pub fn window(&self) -> WindowRecord {
        let Configuration { window, grid, .. } = &self.configuration;
        grid.as_ref().map_or_else(|| window.clone(), |grid| WindowRecord::of(&grid.window))
    }

    /// Returns the jobs that a run replays, if the manifest has its trace on its machine.
    pub fn jobs_of(&self, run: &RunKey) -> Option<JobSet> {
        let is_of_run = |trace: &&TraceRecord| {
            let is_of_policy = trace.policy.as_ref().is_none_or(|policy| *policy == run.policy);
            trace.name == run.trace && trace.topology == run.topology && is_of_policy
        };
        let trace = self.configuration.traces.iter().find(is_of_run)?;
        Some(JobSet { jobs: trace.jobs as u64, window: Some(self.window()) })
    }

    /// Returns the description of a trace, if the manifest has it.
    pub fn trace(&self, name: &str) -> Option<&TraceRecord> {
        self.configuration.traces.iter().find(|trace| trace.name == name)
    }
}

/// Resolved configuration, which determines the numbers of the results: equal configurations give equal result files.
/// The metadata of Parquet files also contains the configuration.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct Configuration {
    /// Traces on machines.
    pub traces: Vec<TraceRecord>,
    /// Schedulers.
    pub schedulers: Vec<String>,
    /// Allocation strategies.
    pub allocators: Vec<String>,
    /// Seeds.
    pub seeds: Vec<u64>,
    /// Outage file, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<DownFile>,
    /// Partitions of the machine, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitions: Option<PartitionsFile>,
    /// Window of the traces that was replayed.
    pub window: WindowRecord,
    /// Grid of a sweep, which contains the window of a sweep. The manifest of another command has no grid.
    #[serde(skip_serializing)]
    pub grid: Option<GridRecord>,
    /// Perturbed copies that were replayed in addition to the traces.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shake: Option<Shake>,
    /// Cleaning policy.
    pub policy: String,
    /// Rules of the cleaning policy.
    pub policy_rules: Vec<PolicyRow>,
    /// Whether ties were counted.
    pub ties: bool,
    /// Communication pattern of jobs, if jobs send messages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
}

/// Grid of a sweep in its manifest.
#[derive(Clone, PartialEq, Debug, Default, Deserialize)]
#[serde(default)]
pub struct GridRecord {
    /// Window of the traces.
    pub window: WindowFile,
}

/// Requested window of a trace; all fields are `None` for the whole trace.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct WindowRecord {
    /// Start of the window, as seconds of the trace or as a date.
    pub from: Option<String>,
    /// Maximum number of jobs.
    pub jobs: Option<usize>,
    /// Maximum number of days.
    pub days: Option<f64>,
}

impl WindowRecord {
    /// Returns the window of a grid.
    pub fn of(window: &WindowFile) -> Self {
        let from = window.from.texts().unwrap_or_default().into_iter().next();
        Self { from, jobs: window.jobs, days: window.days }
    }
}

impl WindowRecord {
    /// Describes the window for messages: `from 86400, at most 400 jobs`, or `whole trace`.
    pub fn text(&self) -> String {
        let from = self.from.as_ref().map(|from| format!("from {from}"));
        let jobs = self.jobs.map(|jobs| format!("at most {}", counted(jobs as u64, "job")));
        let days = self.days.map(|days| format!("{days} days"));
        let parts: Vec<String> = [from, jobs, days].into_iter().flatten().collect();
        if parts.is_empty() { "whole trace".to_string() } else { parts.join(", ") }
    }
}

/// The jobs that a run replays.
#[derive(Clone, PartialEq, Debug)]
pub struct JobSet {
    /// Number of jobs.
    pub jobs: u64,
    /// Window of the trace; `None` if the window is unknown.
    pub window: Option<WindowRecord>,
}

impl JobSet {
    /// Returns whether two runs of the same trace replay different jobs, as far as number and windows show: the numbers
    /// differ, or the windows begin at different times.
    pub fn differs(&self, other: &Self) -> bool {
        let from = |set: &Self| {
            let window = set.window.as_ref()?;
            Some(window.from.clone().unwrap_or_else(|| "0".to_string()))
        };
        let begin = from(self).zip(from(other));
        self.jobs != other.jobs || begin.is_some_and(|(one, other)| one != other)
    }

    /// Describes the jobs for messages: `400 jobs (window: at most 400 jobs)`.
    pub fn text(&self) -> String {
        let window = self
            .window
            .as_ref()
            .map_or(String::new(), |window| format!(" (window: {})", window.text()));
        format!("{}{window}", counted(self.jobs, "job"))
    }
}

/// A trace on a machine.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct TraceRecord {
    /// Name of the trace.
    pub name: String,
    /// File name as given by the user.
    pub source: String,
    /// BLAKE3 digest of the uncompressed text.
    pub digest: String,
    /// Time 0 of the trace in seconds since 1970-01-01 UTC, if the header of the trace contains it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unix_start_time: Option<i64>,
    /// Machine.
    pub topology: String,
    /// Cleaning policy of the trace in a sweep; `None` for other commands, which clean all traces by the same policies.
    #[serde(skip_serializing)]
    pub policy: Option<String>,
    /// Number of jobs replayed.
    pub jobs: usize,
    /// Report of the cleaning and the window.
    pub cleaning: CleaningReport,
    /// Digest of the outages of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outages: Option<String>,
}

/// Details in the manifest of the command `run`.
#[derive(Clone, Debug, Serialize)]
pub struct RunDetails {
    /// Finished cells in grid order.
    pub runs: Vec<RunRecord>,
}

/// A finished cell.
#[derive(Clone, Debug, Serialize)]
pub struct RunRecord {
    /// Number of the cell in the grid.
    pub run: u32,
    /// Trace, machine, scheduler, strategy, policy, seed and copy of the cell.
    #[serde(flatten)]
    pub key: RunKey,
    /// Wall-clock seconds of the replay.
    pub seconds: f64,
}

/// The host on which the program runs.
#[derive(Clone, Debug, Serialize)]
pub struct Host {
    /// Host name.
    pub name: String,
    /// Operating system and architecture.
    pub system: String,
    /// Processor model.
    pub processor: String,
    /// Number of logical processors.
    pub processors: usize,
}

impl Host {
    /// Reads the properties of this host. A property that is not available is "unknown".
    pub fn this() -> Self {
        let read = |path: &str| std::fs::read_to_string(path).ok();
        let unknown = || "unknown".to_string();
        let model = read("/proc/cpuinfo").and_then(|text| {
            let line = text.lines().find(|line| line.starts_with("model name"))?;
            line.split_once(':').map(|(_, model)| model.trim().to_string())
        });
        Self {
            name: read("/proc/sys/kernel/hostname").map_or_else(unknown, |s| s.trim().to_string()),
            system: format!("{} {}", std::env::consts::OS, std::env::consts::ARCH),
            processor: model.unwrap_or_else(unknown),
            processors: std::thread::available_parallelism().map_or(1, usize::from),
        }
    }
}

/// Returns the peak memory of this process in bytes; `None` if the system does not report it.
pub fn peak_memory_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find(|line| line.starts_with("VmHWM:"))?;
    let kib: u64 = line.split_whitespace().nth(1)?.parse().ok()?;
    Some(1024 * kib)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use replay_engine::workload::{Change, DropReason, Policy};

    use super::*;

    #[test]
    fn a_manifest_is_read_as_it_was_written() {
        let mut cleaning = CleaningReport::default();
        cleaning.read = 9;
        cleaning.drops = BTreeMap::from([(DropReason::RunZero, 2)]);
        cleaning.changes = BTreeMap::from([(Change::Renumbered, 7)]);
        cleaning.short = BTreeMap::from([(5, 9)]);
        let trace = TraceRecord { name: "made".to_string(), cleaning, ..TraceRecord::default() };
        let configuration = Configuration {
            traces: vec![trace.clone()],
            seeds: vec![u64::MAX],
            policy_rules: Policy::JOHNSON.describe(),
            ..Configuration::default()
        };
        let origin = Origin::begin("run", Build::default(), &["replay".into()]);
        let text = origin.manifest(&configuration, None, &(), &[], &[], &[]).expect("a manifest");
        let stored: StoredManifest = serde_json::from_str(&text).expect("the same manifest");
        assert_eq!(
            (stored.kind.as_str(), &stored.command[..]),
            ("run", &["replay".to_string()][..])
        );
        assert_eq!(stored.trace("made"), Some(&trace));
        assert_eq!(stored.configuration, configuration);
    }
}
