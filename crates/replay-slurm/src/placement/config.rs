//! Parser of `topology.yaml`, the file in which a Slurm administrator describes toruses.
//!
//! The file is a list of topologies. This parser supports topologies of the kind `torus3d`:
//!
//! ```yaml
//! - topology: pod
//!   cluster_default: true
//!   torus3d:
//!     toruses:
//!       - name: a
//!         dims: {x: 4, y: 4, z: 2}
//!         nodes: n[001-032]
//!         placements:
//!           - dims: {x: 2, y: 2, z: 1}
//!           - dims: {x: 2, y: 2, z: 2}
//!             anchor_spacing: {x: 1, y: 1, z: 1}
//! ```
//!
//! The nodes of a torus are given by one list (x varies fastest, then y, then z) or by `regions`.
//! A region is a box with its own list of nodes; cells that no region covers are holes. A single
//! map in place of a list of maps is read as a list with one entry.

pub(crate) mod fields;
pub(crate) mod yaml;

use std::collections::{HashMap, HashSet};

use self::fields::Field;
use crate::placement::torus::{Layout, MAX_CELLS, Steps, Torus};
use replay_engine::sanitize::excerpt;
use replay_engine::workload::nodes;

/// Error in a `topology.yaml`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}: {}{}{problem}", prefix("torus ", torus), prefix("", path))]
pub struct ConfigError {
    /// The file name as given by the user.
    pub file: String,
    /// The line, from 1.
    pub line: usize,
    /// The name of the torus; empty outside a torus.
    pub torus: String,
    /// Path of keys from the entry to the value; empty for the whole file.
    pub path: String,
    /// Description of the problem.
    pub problem: String,
}

impl ConfigError {
    /// Formats the error without the file name: `line 5: torus a: torus3d/toruses: ..`.
    fn without_file(&self) -> String {
        let (torus, path) = (prefix("torus ", &self.torus), prefix("", &self.path));
        format!("line {}: {torus}{path}{}", self.line, self.problem)
    }
}

/// Formats a prefix with a colon; returns an empty string if `what` is empty.
fn prefix(word: &str, what: &str) -> String {
    if what.is_empty() { String::new() } else { format!("{word}{what}: ") }
}

/// A machine that a file describes.
#[derive(Clone, Debug)]
pub struct Config {
    /// The name of the topology that was read.
    pub name: String,
    /// The toruses of the machine.
    pub layout: Layout,
    /// For each node of the layout, its host name.
    pub hosts: Vec<String>,
    /// Warnings about the file.
    pub warnings: Vec<String>,
}

/// The kinds of topology that Slurm supports.
const KINDS: [&str; 5] = ["block", "flat", "ring", "torus3d", "tree"];

/// Keys of a topology.
pub(crate) const ENTRY_KEYS: [&str; 7] =
    ["topology", "cluster_default", "block", "flat", "ring", "torus3d", "tree"];

impl Config {
    /// Parses the text of a file. `entry` is the name of the topology to read. If `entry` is
    /// `None`, the topology with `cluster_default: true` is read, or the first topology if there is
    /// no default. If `known` lists the existing hosts, cells of other hosts become holes.
    ///
    /// # Errors
    /// [`ConfigError`], with line and key, if the file is not valid.
    pub fn read(
        text: &str,
        file: &str,
        entry: Option<&str>,
        known: Option<&HashSet<String>>,
    ) -> Result<Self, ConfigError> {
        let whole = |line: usize, problem: String| ConfigError {
            file: file.to_string(),
            line,
            torus: String::new(),
            path: String::new(),
            problem,
        };
        let root = yaml::read(text).map_err(|(line, problem)| whole(line, problem))?;
        let Some(root) = root else {
            return Err(whole(1, "the file is empty; expected a list of topologies".into()));
        };
        let root = Field::root(file, &root);
        let entries = root.list("a list of topologies")?;
        let chosen = choose(&root, &entries, entry)?;
        chosen.reject_unknown_keys(&ENTRY_KEYS)?;
        let name = chosen.required("topology")?.text()?;
        let Some(torus3d) = chosen.get("torus3d") else {
            let kinds = KINDS.iter().filter(|kind| chosen.get(kind).is_some());
            let kinds: Vec<&str> = kinds.copied().collect();
            let there = if kinds.is_empty() { "nothing".to_string() } else { kinds.join(", ") };
            // A tree or blocks can be a machine, but not the machine that is read here.
            let is_machine = kinds.iter().any(|kind| ["tree", "block"].contains(kind));
            let kinds = if is_machine { &["torus3d"][..] } else { &["torus3d", "tree", "block"] };
            let machines = named_topologies(file, &entries, kinds);
            return Err(chosen
                .error(format!("the topology {name} contains {there}, not torus3d; {machines}")));
        };
        let others = KINDS.iter().filter(|&&kind| kind != "torus3d");
        let other = others.filter_map(|kind| chosen.get(kind)).find(|other| !other.is_empty());
        if let Some(other) = other {
            return Err(
                other.error("cannot be combined with torus3d; a topology has one kind".into())
            );
        }
        torus3d.expect_map("a map with the key toruses")?;
        torus3d.reject_unknown_keys(&["toruses"])?;
        let toruses = torus3d.required("toruses")?.list_or_one()?;
        if toruses.is_empty() {
            return Err(torus3d.error("the list of toruses is empty".into()));
        }
        Reader { known, names: HashMap::new(), hosts: HashMap::new(), cells: 0, warnings: vec![] }
            .all(&toruses, name)
    }
}

/// Selects the entry to read.
pub(crate) fn choose<'a>(
    root: &Field<'a>,
    entries: &[Field<'a>],
    named: Option<&str>,
) -> Result<Field<'a>, ConfigError> {
    for entry in entries {
        entry.expect_map("a map with the key topology")?;
    }
    let Some(first) = entries.first() else {
        return Err(root.error("the list of topologies is empty".into()));
    };
    let mut lines: HashMap<String, usize> = HashMap::new();
    for field in entries.iter().filter_map(|entry| entry.get("topology")) {
        let name = field.text()?;
        if let Some(line) = lines.insert(name.clone(), field.line()) {
            return Err(field.error(format!("the topology on line {line} is also called {name}")));
        }
    }
    if let Some(named) = named {
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.required("topology")?.text()?;
            if name == named {
                return Ok(entry.clone());
            }
            names.push(name);
        }
        return Err(root.error(format!(
            "no topology is called {named}; the file contains {}",
            names.join(", ")
        )));
    }
    let mut by_default: Option<(&Field<'a>, usize)> = None;
    for entry in entries {
        let Some(default) = entry.get("cluster_default") else { continue };
        match (default.boolean()?, by_default) {
            (true, Some((_, line))) => {
                return Err(
                    default.error(format!("the topology on line {line} is also the default"))
                );
            }
            (true, None) => by_default = Some((entry, entry.line())),
            (false, _) => {}
        }
    }
    Ok(by_default.map_or(first, |(entry, _)| entry).clone())
}

/// Lists, as `FILE:NAME`, the topologies of a file that contain one of the keys `kinds`, as the end of an error message
/// about another topology.
pub(crate) fn named_topologies(file: &str, entries: &[Field<'_>], kinds: &[&str]) -> String {
    let of_kind = entries.iter().filter(|entry| {
        let mut fields = kinds.iter().filter_map(|kind| entry.get(kind));
        fields.any(|field| !field.is_empty())
    });
    let names = of_kind.filter_map(|entry| entry.get("topology")?.text().ok());
    let names: Vec<String> = names.map(|name| format!("{file}:{}", excerpt(&name))).collect();
    let kinds = kinds.join(" or ");
    match names.is_empty() {
        true => format!("no topology of the file contains {kinds}"),
        false => format!("the file has {} with {kinds}", names.join(", ")),
    }
}

/// State while reading all toruses.
struct Reader<'a> {
    known: Option<&'a HashSet<String>>,
    /// Line of each torus, indexed by the name of the torus.
    names: HashMap<String, usize>,
    /// Torus names by host.
    hosts: HashMap<String, String>,
    cells: u64,
    warnings: Vec<String>,
}

impl Reader<'_> {
    fn all(mut self, toruses: &[Field<'_>], name: String) -> Result<Config, ConfigError> {
        let (mut all, mut hosts) = (Vec::new(), Vec::new());
        for field in toruses {
            let (torus, names) = self.torus(field)?;
            let names = names.into_iter().enumerate();
            let there = names.filter(|&(cell, _)| torus.nodes.contains(cell as u32));
            hosts.extend(there.map(|(_, host)| host));
            all.push(torus);
        }
        Ok(Config { name, layout: Layout::new(all), hosts, warnings: self.warnings })
    }

    /// Parses a torus. Returns the torus and its host names by cell; the name is empty for a hole.
    fn torus(&mut self, field: &Field<'_>) -> Result<(Torus, Vec<String>), ConfigError> {
        field.expect_map("a map with the keys name and dims")?;
        let name = field.required("name")?.text()?;
        let field = field.of_torus(&name);
        if name.is_empty() {
            return Err(field.required("name")?.error("must not be empty".into()));
        }
        if let Some(line) = self.names.insert(name.clone(), field.line()) {
            return Err(field.error(format!("the torus on line {line} also has this name")));
        }
        field.reject_unknown_keys(&["name", "dims", "nodes", "regions", "placements"])?;
        let dims = field.required("dims")?;
        let sides = sides(&dims)?;
        let volume = sides.iter().map(|&side| u64::from(side)).product::<u64>();
        self.cells += volume;
        if self.cells > MAX_CELLS {
            return Err(
                dims.error(format!("the toruses have more than {MAX_CELLS} cells in total"))
            );
        }
        let hosts = self.hosts_of(&field, &name, sides, volume as usize)?;
        if hosts.iter().all(String::is_empty) {
            let why = match field.get("nodes").or(field.get("regions")) {
                None => "the torus has neither nodes nor regions, so none of its cells has a node",
                Some(_) => "none of the cells of the torus has a node",
            };
            self.warnings.push(field.error(why.to_string()).without_file());
        }
        let torus = Torus::new(name, sides, |cell| !hosts[cell as usize].is_empty());
        let Some(mut torus) = torus else {
            return Err(dims.error("a torus cannot have these sides".into()));
        };
        if let Some(placements) = field.get("placements") {
            for placement in placements.list_or_one()? {
                allow(&mut torus, &placement)?;
            }
        }
        Ok((torus, hosts))
    }

    /// Returns the host names of a torus by cell; the name is empty for a hole.
    fn hosts_of(
        &mut self,
        field: &Field<'_>,
        torus: &str,
        sides: [u16; 3],
        volume: usize,
    ) -> Result<Vec<String>, ConfigError> {
        let (nodes, regions) = (field.get("nodes"), field.get("regions"));
        let mut hosts = vec![String::new(); volume];
        match (nodes, regions) {
            (Some(_), Some(regions)) => {
                return Err(regions.error(
                    "cannot be combined with nodes; a torus has either nodes or regions".into(),
                ));
            }
            (None, None) => {}
            (Some(nodes), None) => {
                let names = names(&nodes, volume)?;
                for (cell, host) in names.into_iter().enumerate() {
                    hosts[cell] = self.host(&nodes, torus, host)?;
                }
            }
            (None, Some(regions)) => {
                let mut filled = vec![false; volume];
                for region in regions.list_or_one()? {
                    self.region(&region, torus, sides, &mut filled, &mut hosts)?;
                }
            }
        }
        Ok(hosts)
    }

    fn region(
        &mut self,
        region: &Field<'_>,
        torus: &str,
        sides: [u16; 3],
        filled: &mut [bool],
        hosts: &mut [String],
    ) -> Result<(), ConfigError> {
        region.expect_map("a map with the keys dims and nodes")?;
        region.reject_unknown_keys(&["anchor", "dims", "nodes"])?;
        let anchor = region.get("anchor").map_or(Ok([0; 3]), |anchor| anchor.triple())?;
        let dims = region.required("dims")?;
        let extent = dims.triple()?;
        for axis in 0..3 {
            let end = u32::from(anchor[axis]) + u32::from(extent[axis]);
            if extent[axis] == 0 {
                return Err(dims.error(format!("{} must be at least 1", AXES[axis])));
            }
            if end > u32::from(sides[axis]) {
                return Err(region.error(format!(
                    "extends to {end} along {}, but the torus has {} cells; regions do not wrap",
                    AXES[axis], sides[axis]
                )));
            }
        }
        let nodes = region.required("nodes")?;
        let volume = extent.iter().map(|&side| usize::from(side)).product();
        let mut names = names(&nodes, volume)?.into_iter();
        let [[ax, ay, az], [w, d, h]] = [anchor, extent].map(|v| v.map(usize::from));
        let [width, depth] = [0, 1].map(|axis| usize::from(sides[axis]));
        for z in az..az + h {
            for y in ay..ay + d {
                for x in ax..ax + w {
                    let cell = x + width * (y + depth * z);
                    if std::mem::replace(&mut filled[cell], true) {
                        let problem =
                            format!("covers the cell {x}, {y}, {z}, which another region covers");
                        return Err(region.error(problem));
                    }
                    let host = names.next().unwrap_or_default();
                    hosts[cell] = self.host(&nodes, torus, host)?;
                }
            }
        }
        Ok(())
    }

    /// Registers a host; returns an empty name if the host is unknown.
    fn host(
        &mut self,
        field: &Field<'_>,
        torus: &str,
        host: String,
    ) -> Result<String, ConfigError> {
        if let Some(other) = self.hosts.insert(host.clone(), torus.to_string()) {
            return Err(field.error(match other == torus {
                true => format!("the node {host} is listed twice"),
                false => format!("the node {host} also belongs to the torus {other}"),
            }));
        }
        if self.known.is_some_and(|known| !known.contains(&host)) {
            self.warnings
                .push(format!("{torus}: unknown node {host}; its cell is treated as a hole"));
            return Ok(String::new());
        }
        Ok(host)
    }
}

const AXES: [&str; 3] = ["x", "y", "z"];

/// Parses a list of hosts, which must have the expected length.
fn names(field: &Field<'_>, expected: usize) -> Result<Vec<String>, ConfigError> {
    let names = nodes::names(&field.text()?, MAX_CELLS);
    let names = names.map_err(|why| field.error(why.to_string()))?;
    match names.len() == expected {
        true => Ok(names),
        false => {
            Err(field
                .error(format!("expected {expected} nodes, one per cell, found {}", names.len())))
        }
    }
}

/// Parses the sides of a box; a side of 0 is an error.
fn sides(field: &Field<'_>) -> Result<[u16; 3], ConfigError> {
    let sides = field.triple()?;
    if let Some(axis) = (0..3).find(|&axis| sides[axis] == 0) {
        return Err(field.error(format!("{} must be at least 1", AXES[axis])));
    }
    if sides.iter().map(|&side| u64::from(side)).product::<u64>() > u64::from(u32::MAX) {
        return Err(field.error(format!("more than {} cells", u32::MAX)));
    }
    Ok(sides)
}

/// Parses a placement and adds it to a torus.
fn allow(torus: &mut Torus, field: &Field<'_>) -> Result<(), ConfigError> {
    field.expect_map("a map with the key dims")?;
    field.reject_unknown_keys(&["dims", "anchor_spacing", "anchor_seed"])?;
    let dims = field.required("dims")?;
    let box_sides = sides(&dims)?;
    let of = |key: &str| field.get(key).map_or(Ok([0; 3]), |field| field.triple());
    let (spacing, seed) = (of("anchor_spacing")?, of("anchor_seed")?);
    for (axis, name) in AXES.iter().enumerate() {
        let side = torus.sides[axis];
        let too_large = |key: &str, value: u16, rule: &str| {
            let field = field.get(key).unwrap_or_else(|| field.clone());
            field.error(format!(
                "{name} is {value}; it must be {rule} {side}, the side of the torus"
            ))
        };
        if box_sides[axis] > side {
            return Err(too_large("dims", box_sides[axis], "at most"));
        }
        if spacing[axis] > side {
            return Err(too_large("anchor_spacing", spacing[axis], "at most"));
        }
        if seed[axis] >= side {
            return Err(too_large("anchor_seed", seed[axis], "less than"));
        }
    }
    let spacing = [0, 1, 2].map(|axis| match spacing[axis] {
        0 => box_sides[axis],
        given => given,
    });
    let steps = Steps { spacing, seed, wrapped: [true; 3], flush: true };
    torus.allow(box_sides, &steps).map_err(|why| field.error(why))
}

#[cfg(test)]
mod tests;
