use std::fmt;
use std::str::FromStr;

use super::{
    Axis, Cluster, Grid, Hypercube, MAX_POINTS, SYSTEMS, Topology, hierarchy, multi_torus,
};
use crate::naming::hint;
use crate::number::grouped;
use crate::sanitize::excerpt;

/// Error of a machine description that cannot be parsed.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "machine \"{text}\": {problem} (write 10x10, 8x8x8, torus:16x16, torus[x]:16x24, torus:4x4x4*2, hypercube:7, cluster:6x2, tree:4x8x18, block[18,72]:8x18, a file that ends in .conf, .yaml or .yml, or a name from `replay list systems`)"
)]
pub struct TopologyError {
    text: String,
    problem: String,
}

impl FromStr for Topology {
    type Err = TopologyError;

    fn from_str(text: &str) -> Result<Self, TopologyError> {
        parse(text.trim()).map_err(|problem| TopologyError { text: text.to_string(), problem })
    }
}

fn parse(text: &str) -> Result<Topology, String> {
    let system = SYSTEMS.iter().find(|system| system.name.eq_ignore_ascii_case(text));
    if system.is_none() && text.starts_with(char::is_alphabetic) && !text.contains(':') {
        let near = hint(text, SYSTEMS.iter().map(|system| system.name));
        return Err(format!("no system \"{}\"{near}", excerpt(text)));
    }
    let text = system.map_or(text, |system| system.machine);
    let Some((points, per_point)) = text.split_once('*') else { return parse_points(text) };
    let per_point = per_point.trim();
    let number = per_point
        .parse()
        .map_err(|_| format!("\"{per_point}\" is not a number of processors at a point"))?;
    match parse_points(points.trim_end())? {
        Topology::Grid(grid) => grid.with_per_point(number).map(Topology::Grid).ok_or_else(|| {
            "needs at least one processor at each point, and at most 4,294,967,295 processors in total".to_string()
        }),
        _ => Err("only meshes and tori can have several processors at a point".to_string()),
    }
}

fn parse_points(text: &str) -> Result<Topology, String> {
    let (kind, sizes) = match text.split_once(':') {
        Some((kind, sizes)) => (kind.trim(), sizes.trim()),
        None => ("mesh", text),
    };
    if kind == "hypercube" {
        let dimensions =
            sizes.parse().map_err(|_| format!("\"{sizes}\" is not a number of dimensions"))?;
        return Hypercube::new(dimensions).map(Topology::Hypercube).ok_or_else(|| {
            format!("a hypercube has at most {} dimensions", Hypercube::MAX_DIMENSIONS)
        });
    }
    if kind == "cluster" {
        return cluster(sizes);
    }
    if kind == "toruses" {
        return multi_torus::parse(sizes);
    }
    if kind == "tree" {
        return hierarchy::parse_tree(sizes).map(Topology::Hierarchy);
    }
    if let Some(block_sizes) = kind.strip_prefix("block") {
        let between = block_sizes.strip_prefix('[').and_then(|rest| rest.strip_suffix(']'));
        if block_sizes.is_empty() || between.is_some() {
            return hierarchy::parse_blocks(between, sizes).map(Topology::Hierarchy);
        }
    }
    let wrapped = wrapped_axes(kind)?;
    let extents = sizes
        .split(['x', 'X'])
        .map(|size| {
            size.trim().parse::<u16>().map_err(|_| format!("\"{size}\" is not a side length"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    if extents.len() > AXES.len() {
        return Err(format!(
            "{} sides given, but at most three dimensions are supported",
            extents.len()
        ));
    }
    if let Some(missing) = (extents.len()..3).find(|&i| wrapped[i] && kind != "torus") {
        return Err(format!("there is no dimension {} to wrap", AXES[missing]));
    }
    let axes: Vec<_> =
        extents.iter().zip(wrapped).map(|(&extent, wrapped)| Axis { extent, wrapped }).collect();
    Grid::new(&axes).map(Topology::Grid).ok_or_else(|| {
        let most = grouped(MAX_POINTS as u64);
        format!("needs two or three sides of at least 1, and at most {most} points")
    })
}

/// Parses the number of hosts and, if present, the number of slots per host.
fn cluster(sizes: &str) -> Result<Topology, String> {
    let (hosts, levels) = sizes.split_once(['x', 'X']).unwrap_or((sizes, "1"));
    let number = |text: &str, what| {
        text.trim().parse::<u32>().map_err(|_| format!("\"{text}\" is not a number of {what}"))
    };
    let cluster = Cluster::new(number(hosts, "hosts")?, number(levels, "jobs on a host")?);
    cluster.map(Topology::Cluster).ok_or_else(|| {
        let most = grouped(Cluster::MAX_SLOTS);
        format!("needs at least one host with one slot, and at most {most} slots in total")
    })
}

/// Prefixes of machine descriptions before the colon; the prefix `mesh:` is optional.
const KINDS: [&str; 7] = ["mesh", "torus", "hypercube", "cluster", "toruses", "tree", "block"];

const AXES: [char; 3] = ['x', 'y', 'z'];

fn wrapped_axes(kind: &str) -> Result<[bool; 3], String> {
    match kind {
        "mesh" => Ok([false; 3]),
        "torus" => Ok([true; 3]),
        _ => {
            let names =
                kind.strip_prefix("torus[").and_then(|rest| rest.strip_suffix(']')).ok_or_else(
                    || format!("unknown kind \"{kind}\"{}", hint(kind, KINDS.into_iter())),
                )?;
            let names: String = names.chars().filter(|c| !matches!(c, ',' | ' ')).collect();
            if let Some(other) = names.chars().find(|c| !AXES.contains(c)) {
                return Err(format!("unknown dimension \"{other}\""));
            }
            Ok(AXES.map(|axis| names.contains(axis)))
        }
    }
}

impl fmt::Display for Topology {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Topology::Grid(grid) => grid.fmt(f),
            Topology::Hypercube(cube) => write!(f, "hypercube:{}", cube.dimensions()),
            Topology::Cluster(cluster) if cluster.levels() == 1 => {
                write!(f, "cluster:{}", cluster.hosts())
            }
            Topology::Cluster(cluster) => {
                write!(f, "cluster:{}x{}", cluster.hosts(), cluster.levels())
            }
            Topology::MultiTorus(toruses) => toruses.fmt(f),
            Topology::Hierarchy(hierarchy) => hierarchy.fmt(f),
        }
    }
}

impl fmt::Display for Grid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let axes = &self.axes()[..self.dimensions()];
        let wrappable = |axis: &Axis| axis.extent > 2;
        if axes.iter().any(|axis| axis.wrapped) {
            if axes.iter().all(|axis| axis.wrapped || !wrappable(axis)) {
                f.write_str("torus:")?;
            } else {
                let names: String = AXES
                    .iter()
                    .zip(axes)
                    .filter(|(_, axis)| axis.wrapped)
                    .map(|(c, _)| c)
                    .collect();
                write!(f, "torus[{names}]:")?;
            }
        }
        for (i, axis) in axes.iter().enumerate() {
            write!(f, "{}{}", if i == 0 { "" } else { "x" }, axis.extent)?;
        }
        match self.per_point() {
            1 => Ok(()),
            several => write!(f, "*{several}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn parses_machine_descriptions() {
        let count = |text: &str| text.parse::<Topology>().map(|t| t.processors());
        assert_eq!(count("10x10"), Ok(100));
        assert_eq!(count(" 8x8x8 "), Ok(512));
        assert_eq!(count("hypercube:7"), Ok(128));
        // A job has at most one process on each of six hosts, even if hosts are shared.
        assert_eq!((count("cluster:6"), count("cluster:6x2")), (Ok(6), Ok(6)));
        let printed = |text: &str| text.parse::<Topology>().map(|t| (t.to_string(), t.slots()));
        assert_eq!(printed("cluster:6x2"), Ok(("cluster:6x2".to_string(), 12)));
        assert_eq!(printed("cluster:6x1"), Ok(("cluster:6".to_string(), 6)));
        let size_and_points = |text: &str| {
            let machine = text.parse::<Topology>()?;
            let points = [5, 6].map(|size| machine.points(size));
            Ok::<_, TopologyError>((machine.to_string(), machine.capacity(), points))
        };
        assert_eq!(
            size_and_points("torus:24x24x24*2"),
            Ok(("torus:24x24x24*2".into(), 27_648, [3, 3]))
        );
        assert_eq!(size_and_points("4x4 * 1"), Ok(("4x4".to_string(), 16, [5, 6])));
        assert_eq!(count("1024x1024"), Ok(1 << 20));
        for bad in [
            "4x4*",
            "4x4*0",
            "4x4*-1",
            "4x4*2*2",
            "*2",
            "1024x1024*4096",
            "hypercube:4*2",
            "cluster:4*2",
            "1024x1025",
            "65536x1",
            "",
            "10",
            "10x",
            "0x4",
            "ring:4x4",
            "torus[w]:4x4",
            "torus[z]:4x4",
            "hypercube:x",
            "hypercube:99",
            "cluster:",
            "cluster:0",
            "cluster:6x0",
            "cluster:6x2x2",
            "cluster:60000x2",
        ] {
            assert!(count(bad).is_err(), "{bad}");
        }
    }

    proptest! {
        #[test]
        fn printing_and_parsing_are_inverse(extents in proptest::collection::vec(1u16..12, 2..=3), wraps in any::<[bool; 3]>(), k in 1u32..5) {
            let axes: Vec<_> = extents.iter().zip(wraps).map(|(&extent, wrapped)| Axis { extent, wrapped }).collect();
            let grid = Grid::new(&axes).expect("small").with_per_point(k).expect("few");
            let topology = Topology::Grid(grid);
            prop_assert_eq!(topology.to_string().parse::<Topology>(), Ok(topology));
        }
    }
}
