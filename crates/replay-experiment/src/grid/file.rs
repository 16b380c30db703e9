use std::collections::BTreeMap;
use std::fmt;

use serde::de::value::MapAccessDeserializer;
use serde::de::{self, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize};

use super::error::{self, GridError};
use super::{Ties, Values};
use replay_engine::workload::Shake;

/// The contents of a grid file. Every key is optional.
/// [`ParameterGrid::resolve`](super::ParameterGrid::resolve) interprets the contents.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case", default)]
pub struct GridFile {
    /// Paths or names of traces. If the list is empty, the trace that is included in the project is used.
    pub traces: Vec<String>,
    /// Machines. If the list is empty, the machine in the header of each trace is used.
    pub machines: Vec<String>,
    /// Schedulers.
    pub schedulers: Vec<String>,
    /// Cleaning policies.
    pub policies: Vec<String>,
    /// Seeds of random allocators.
    pub seeds: Values,
    /// Treatment of jobs larger than the machine: `error`, `drop` or `clamp`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub oversize: Option<String>,
    /// Estimates of run times: `field9`, `file=FILE`, `perfect`, `factor=F` or `last2`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub estimates: Option<String>,
    /// Treatment of dependencies between jobs: `ignore`, `honour`, `shift` or `force`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deps: Option<String>,
    /// Outages of processors.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub down: Option<DownFile>,
    /// Partitions of the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub partitions: Option<PartitionsFile>,
    /// File that maps the nodes of logs to the machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub node_map: Option<String>,
    /// Whether to stop with an error if a log contradicts itself or the description of its machine. This setting
    /// affects only the scheduler `recorded`.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub strict: bool,
    /// Number of malformed lines to skip per trace.
    pub max_errors: usize,
    /// Whether to count tied decisions.
    pub ties: bool,
    /// Whether to measure diameter, dispersal, components and contiguity.
    pub placements: bool,
    /// The part of the traces to run.
    #[serde(skip_serializing_if = "WindowFile::is_all")]
    pub window: WindowFile,
    /// Offered loads; the arrival times are scaled to reach each of these loads. If the list is empty, the load of each
    /// trace is not changed.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub loads: Values,
    /// Number and kind of perturbed copies; they are run in addition to each unperturbed trace.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shake: Option<Shake>,
    /// Allocators with their parameters.
    pub allocator: Vec<AllocatorEntry>,
}

/// Outages of processors in a grid file.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DownFile {
    /// Path of the file with the outages.
    pub file: String,
    /// Treatment of affected jobs: `drain`, `kill` or `requeue`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rule: Option<String>,
    /// Whether a processor out of service counts as a wall when ties are broken.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub walls: bool,
}

/// Partitions of the machine in a grid file.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartitionsFile {
    /// The field of the trace that gives the partition of a job: `none`, `queue` or `partition`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub field: Option<String>,
    /// Definitions `NAME=NODES[,tier=N][,max-time=TIME][,max-nodes=N]`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub define: Vec<String>,
    /// Treatment of jobs in partitions without a definition: `error` or `drop`. Without this key, these partitions have
    /// all nodes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unknown: Option<String>,
}

/// A window of a trace in a grid file.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct WindowFile {
    /// Beginning of the window: seconds of the trace, or a date YYYY-MM-DD.
    #[serde(skip_serializing_if = "Values::is_empty")]
    pub from: Values,
    /// Maximum number of jobs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jobs: Option<usize>,
    /// Maximum number of days.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub days: Option<f64>,
}

impl WindowFile {
    /// Returns whether the window is the whole trace.
    pub fn is_all(&self) -> bool {
        *self == Self::default()
    }
}

/// An allocator with lists of parameter values. Every combination of the values is a strategy. In the file, an
/// allocator is a name or a table.
#[derive(Clone, PartialEq, Debug, Default, Serialize)]
pub struct AllocatorEntry {
    /// Name of the strategy, optionally with parameters in brackets.
    pub name: String,
    /// Tie vectors, if the strategy has a tie vector.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tie: Option<Ties>,
    /// Values of the other parameters.
    #[serde(flatten)]
    pub parameters: BTreeMap<String, Values>,
}

impl AllocatorEntry {
    /// Creates an entry for one strategy.
    pub fn named(name: impl Into<String>) -> Self {
        Self { name: name.into(), ..Self::default() }
    }
}

impl Default for GridFile {
    fn default() -> Self {
        Self {
            traces: Vec::new(),
            machines: Vec::new(),
            schedulers: Vec::new(),
            policies: Vec::new(),
            seeds: Values::default(),
            oversize: None,
            estimates: None,
            deps: None,
            down: None,
            partitions: None,
            node_map: None,
            strict: false,
            max_errors: 0,
            ties: false,
            // Measuring placements is also the default of the commands that write result files.
            placements: true,
            window: WindowFile::default(),
            loads: Values::default(),
            shake: None,
            allocator: Vec::new(),
        }
    }
}

impl GridFile {
    /// Parses the text of a grid file; `file` is its name in messages.
    ///
    /// # Errors
    /// [`GridError`] with file, line and key.
    ///
    /// ```
    /// use replay_experiment::grid::{ParameterGrid, GridFile};
    /// let text = r#"
    /// schedulers = ["fcfs", "easy"]
    /// [[allocator]]
    /// name = "mc1x1"
    /// tie = { sr = "1..9", af = "0..10", wf = "0..10", bf = "0..10" }
    /// "#;
    /// let grid = ParameterGrid::resolve(&GridFile::parse(text, "grid.toml")?, replay_strategies::standard())?;
    /// // There are 9 * 11 * 11 * 11 vectors. Vectors with the same ratio are one strategy.
    /// assert_eq!((grid.strategies.combinations(), grid.strategies.len()), (11_979, 9_298));
    /// # Ok::<(), replay_experiment::grid::GridError>(())
    /// ```
    pub fn parse(text: &str, file: &str) -> Result<Self, GridError> {
        toml::from_str(text).map_err(|cause| error::of_toml(&cause, text, file))
    }

    /// Returns the grid file as TOML.
    ///
    /// # Errors
    /// TOML errors. In practice, no grid file causes an error.
    pub fn to_toml(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }
}

impl<'de> Deserialize<'de> for AllocatorEntry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(NameOrTable)
    }
}

/// Deserializes a name, or a table with a name.
struct NameOrTable;

impl<'de> Visitor<'de> for NameOrTable {
    type Value = AllocatorEntry;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an allocator's name, or a table with its name and parameters")
    }

    fn visit_str<E: de::Error>(self, name: &str) -> Result<AllocatorEntry, E> {
        Ok(AllocatorEntry::named(name))
    }

    fn visit_map<A: MapAccess<'de>>(self, table: A) -> Result<AllocatorEntry, A::Error> {
        #[derive(Deserialize)]
        struct Table {
            name: String,
            tie: Option<Ties>,
            #[serde(flatten)]
            parameters: BTreeMap<String, Values>,
        }
        let Table { name, tie, parameters } =
            Table::deserialize(MapAccessDeserializer::new(table))?;
        Ok(AllocatorEntry { name, tie, parameters })
    }
}
