//! `topology.yaml`, the file by which a Slurm administrator describes toruses.
//!
//! The file is a list of topologies, of which those of the kind `torus3d` are read here:
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
//! A torus takes its nodes from one list (x fastest, then y, then z) or from `regions`, boxes with
//! a list each; cells that no region covers are holes. Where one map is given instead of a list of
//! maps it stands for a list of one.

pub(crate) mod fields;
pub(crate) mod yaml;

use std::collections::{HashMap, HashSet};

use self::fields::Field;
use super::torus::{Layout, MAX_CELLS, Steps, Torus};
use crate::workload::nodes;

/// What is wrong with a `topology.yaml`.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{file}:{line}: {}{}{problem}", before("torus ", torus), before("", path))]
pub struct ConfigError {
    /// As the user named it.
    pub file: String,
    /// From 1.
    pub line: usize,
    /// The name of the torus; empty outside of any.
    pub torus: String,
    /// Keys from the entry to what is wrong; empty for the whole file.
    pub path: String,
    /// A sentence.
    pub problem: String,
}

impl ConfigError {
    /// The same without the file: `line 5: torus a: torus3d/toruses: ..`.
    fn within_file(&self) -> String {
        let (torus, path) = (before("torus ", &self.torus), before("", &self.path));
        format!("line {}: {torus}{path}{}", self.line, self.problem)
    }
}

/// What stands before a colon, if anything.
fn before(word: &str, what: &str) -> String {
    if what.is_empty() { String::new() } else { format!("{word}{what}: ") }
}

/// A machine as it was described.
#[derive(Clone, Debug)]
pub struct Config {
    /// The entry that was read.
    pub name: String,
    /// Its toruses.
    pub layout: Layout,
    /// By node of the layout: the host.
    pub hosts: Vec<String>,
    /// What deserves a word although it is no error.
    pub warnings: Vec<String>,
}

/// The kinds of topology that Slurm knows.
const KINDS: [&str; 5] = ["block", "flat", "ring", "torus3d", "tree"];

impl Config {
    /// Reads a file's text. `entry` is the name of a topology; else that with
    /// `cluster_default: true` is taken, else the first. Where `known` lists the hosts that
    /// exist, the cells of others become holes.
    ///
    /// # Errors
    /// [`ConfigError`] with line and key.
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
            return Err(whole(1, "the file is empty; a list of topologies was expected".into()));
        };
        let root = Field::root(file, &root);
        let entries = root.list("a list of topologies")?;
        let chosen = choose(&root, &entries, entry)?;
        chosen.knows(&[
            "topology",
            "cluster_default",
            "block",
            "flat",
            "ring",
            "torus3d",
            "tree",
        ])?;
        let name = chosen.need("topology")?.text()?;
        let Some(torus3d) = chosen.get("torus3d") else {
            let kinds = KINDS.iter().filter(|kind| chosen.get(kind).is_some());
            let kinds: Vec<&str> = kinds.copied().collect();
            let there = if kinds.is_empty() { "nothing".to_string() } else { kinds.join(", ") };
            return Err(chosen.error(format!("the topology {name} holds {there}, not torus3d")));
        };
        let beside = KINDS.iter().filter(|&&kind| kind != "torus3d");
        let beside = beside.filter_map(|kind| chosen.get(kind)).find(|other| !other.is_empty());
        if let Some(other) = beside {
            return Err(other.error("stands beside torus3d; a topology is of one kind".into()));
        }
        torus3d.map("a map with the key toruses")?;
        torus3d.knows(&["toruses"])?;
        let toruses = torus3d.need("toruses")?.list_or_one()?;
        if toruses.is_empty() {
            return Err(torus3d.error("there is no torus".into()));
        }
        Reader { known, names: HashMap::new(), hosts: HashMap::new(), cells: 0, warnings: vec![] }
            .all(&toruses, name)
    }
}

/// The entry to read.
pub(crate) fn choose<'a>(
    root: &Field<'a>,
    entries: &[Field<'a>],
    named: Option<&str>,
) -> Result<Field<'a>, ConfigError> {
    for entry in entries {
        entry.map("a map with the key topology")?;
    }
    let Some(first) = entries.first() else {
        return Err(root.error("the list has no topology".into()));
    };
    let mut lines: HashMap<String, usize> = HashMap::new();
    for field in entries.iter().filter_map(|entry| entry.get("topology")) {
        let name = field.text()?;
        if let Some(line) = lines.insert(name.clone(), field.line()) {
            return Err(field.error(format!("the topology of line {line} is called {name} too")));
        }
    }
    if let Some(named) = named {
        let mut names = Vec::new();
        for entry in entries {
            let name = entry.need("topology")?.text()?;
            if name == named {
                return Ok(entry.clone());
            }
            names.push(name);
        }
        return Err(
            root.error(format!("no topology is called {named}; there are {}", names.join(", ")))
        );
    }
    let mut by_default: Option<(&Field<'a>, usize)> = None;
    for entry in entries {
        let Some(default) = entry.get("cluster_default") else { continue };
        match (default.yes_no()?, by_default) {
            (true, Some((_, line))) => {
                return Err(
                    default.error(format!("the topology of line {line} is the default too"))
                );
            }
            (true, None) => by_default = Some((entry, entry.line())),
            (false, _) => {}
        }
    }
    Ok(by_default.map_or(first, |(entry, _)| entry).clone())
}

/// What has been seen of all toruses.
struct Reader<'a> {
    known: Option<&'a HashSet<String>>,
    /// Toruses by name, with their lines.
    names: HashMap<String, usize>,
    /// Hosts with their toruses.
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

    /// A torus, and by cell its host, empty where it has none.
    fn torus(&mut self, field: &Field<'_>) -> Result<(Torus, Vec<String>), ConfigError> {
        field.map("a map with the keys name and dims")?;
        let name = field.need("name")?.text()?;
        let field = field.of_torus(&name);
        if name.is_empty() {
            return Err(field.need("name")?.error("must not be empty".into()));
        }
        if let Some(line) = self.names.insert(name.clone(), field.line()) {
            return Err(field.error(format!("the torus of line {line} has this name too")));
        }
        field.knows(&["name", "dims", "nodes", "regions", "placements"])?;
        let dims = field.need("dims")?;
        let sides = sides(&dims)?;
        let volume = sides.iter().map(|&side| u64::from(side)).product::<u64>();
        self.cells += volume;
        if self.cells > MAX_CELLS {
            return Err(dims.error(format!("more than {MAX_CELLS} cells in all toruses")));
        }
        let hosts = self.hosts_of(&field, &name, sides, volume as usize)?;
        if hosts.iter().all(String::is_empty) {
            let why = match field.get("nodes").or(field.get("regions")) {
                None => "it has neither nodes nor regions: none of its cells has a node",
                Some(_) => "none of its cells has a node",
            };
            self.warnings.push(field.error(why.to_string()).within_file());
        }
        let torus = Torus::new(name, sides, |cell| !hosts[cell as usize].is_empty());
        let Some(mut torus) = torus else {
            return Err(dims.error("no torus can have these sides".into()));
        };
        if let Some(placements) = field.get("placements") {
            for placement in placements.list_or_one()? {
                allow(&mut torus, &placement)?;
            }
        }
        Ok((torus, hosts))
    }

    /// By cell its host, empty where it has none.
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
                return Err(regions.error("stands beside nodes; a torus has one of the two".into()));
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
        region.map("a map with the keys dims and nodes")?;
        region.knows(&["anchor", "dims", "nodes"])?;
        let anchor = region.get("anchor").map_or(Ok([0; 3]), |anchor| anchor.triple())?;
        let dims = region.need("dims")?;
        let extent = dims.triple()?;
        for axis in 0..3 {
            let end = u32::from(anchor[axis]) + u32::from(extent[axis]);
            if extent[axis] == 0 {
                return Err(dims.error(format!("{} must be at least 1", AXES[axis])));
            }
            if end > u32::from(sides[axis]) {
                return Err(region.error(format!(
                    "reaches to {end} along {}, where the torus has {} cells; regions do not wrap",
                    AXES[axis], sides[axis]
                )));
            }
        }
        let nodes = region.need("nodes")?;
        let volume = extent.iter().map(|&side| usize::from(side)).product();
        let mut names = names(&nodes, volume)?.into_iter();
        let [[ax, ay, az], [w, d, h]] = [anchor, extent].map(|v| v.map(usize::from));
        let [width, depth] = [0, 1].map(|axis| usize::from(sides[axis]));
        for z in az..az + h {
            for y in ay..ay + d {
                for x in ax..ax + w {
                    let cell = x + width * (y + depth * z);
                    if std::mem::replace(&mut filled[cell], true) {
                        let problem = format!("fills the cell {x}, {y}, {z} a second time");
                        return Err(region.error(problem));
                    }
                    let host = names.next().unwrap_or_default();
                    hosts[cell] = self.host(&nodes, torus, host)?;
                }
            }
        }
        Ok(())
    }

    /// A host, empty if it is not known.
    fn host(
        &mut self,
        field: &Field<'_>,
        torus: &str,
        host: String,
    ) -> Result<String, ConfigError> {
        if let Some(other) = self.hosts.insert(host.clone(), torus.to_string()) {
            return Err(field.error(match other == torus {
                true => format!("the node {host} is listed twice"),
                false => format!("the node {host} belongs to the torus {other} too"),
            }));
        }
        if self.known.is_some_and(|known| !known.contains(&host)) {
            self.warnings
                .push(format!("{torus}: nobody knows the node {host}; its cell is a hole"));
            return Ok(String::new());
        }
        Ok(host)
    }
}

const AXES: [&str; 3] = ["x", "y", "z"];

/// The hosts of a list, of which there must be so many.
fn names(field: &Field<'_>, expected: usize) -> Result<Vec<String>, ConfigError> {
    let names = nodes::names(&field.text()?, MAX_CELLS);
    let names = names.map_err(|why| field.error(why.to_string()))?;
    match names.len() == expected {
        true => Ok(names),
        false => Err(field.error(format!("{} nodes for {expected} cells", names.len()))),
    }
}

/// Sides, none of which is 0.
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

/// Adds a placement.
fn allow(torus: &mut Torus, field: &Field<'_>) -> Result<(), ConfigError> {
    field.map("a map with the key dims")?;
    field.knows(&["dims", "anchor_spacing", "anchor_seed"])?;
    let dims = field.need("dims")?;
    let box_sides = sides(&dims)?;
    let of = |key: &str| field.get(key).map_or(Ok([0; 3]), |field| field.triple());
    let (spacing, seed) = (of("anchor_spacing")?, of("anchor_seed")?);
    for (axis, name) in AXES.iter().enumerate() {
        let side = torus.sides[axis];
        let too_large = |key: &str, value: u16, rule: &str| {
            let field = field.get(key).unwrap_or_else(|| field.clone());
            field.error(format!("{name} is {value}; it must be {rule} {side}, the torus' side"))
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
