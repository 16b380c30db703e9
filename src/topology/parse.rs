use std::fmt;
use std::str::FromStr;

use super::{Axis, Cluster, Grid, Hypercube, MAX_PROCESSORS, Topology};
use crate::naming::hint;

/// A machine description that cannot be used.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "machine \"{text}\": {problem} (write 10x10, 8x8x8, torus:16x16, torus[x]:16x24, hypercube:7 or cluster:6x2)"
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
    let (kind, sizes) = match text.split_once(':') {
        Some((kind, sizes)) => (kind.trim(), sizes.trim()),
        None => ("mesh", text),
    };
    if kind == "hypercube" {
        let dimensions =
            sizes.parse().map_err(|_| format!("\"{sizes}\" is not a number of dimensions"))?;
        return Hypercube::new(dimensions)
            .map(Topology::Hypercube)
            .ok_or_else(|| format!("at most {} dimensions", Hypercube::MAX_DIMENSIONS));
    }
    if kind == "cluster" {
        return cluster(sizes);
    }
    let wrapped = wrapped_axes(kind)?;
    let extents = sizes
        .split(['x', 'X'])
        .map(|size| {
            size.trim().parse::<u16>().map_err(|_| format!("\"{size}\" is not a side length"))
        })
        .collect::<Result<Vec<_>, _>>()?;
    if extents.len() > AXES.len() {
        return Err(format!("{} sides; there are three dimensions at most", extents.len()));
    }
    if let Some(missing) = (extents.len()..3).find(|&i| wrapped[i] && kind != "torus") {
        return Err(format!("there is no dimension {} to wrap", AXES[missing]));
    }
    let axes: Vec<_> =
        extents.iter().zip(wrapped).map(|(&extent, wrapped)| Axis { extent, wrapped }).collect();
    Grid::new(&axes).map(Topology::Grid).ok_or_else(|| {
        format!("needs two or three sides of at least 1, and at most {MAX_PROCESSORS} processors")
    })
}

/// Hosts, and if there is more than one, slots of each.
fn cluster(sizes: &str) -> Result<Topology, String> {
    let (hosts, levels) = sizes.split_once(['x', 'X']).unwrap_or((sizes, "1"));
    let number = |text: &str, what| {
        text.trim().parse::<u32>().map_err(|_| format!("\"{text}\" is not a number of {what}"))
    };
    let cluster = Cluster::new(number(hosts, "hosts")?, number(levels, "jobs on a host")?);
    cluster.map(Topology::Cluster).ok_or_else(|| {
        format!("needs at least one host with one slot, and at most {MAX_PROCESSORS} slots in all")
    })
}

/// What may stand before the colon; `mesh` may be left out.
const KINDS: [&str; 4] = ["mesh", "torus", "hypercube", "cluster"];

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
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_a_user_types_is_understood() {
        let count = |text: &str| text.parse::<Topology>().map(|t| t.processors());
        assert_eq!(count("10x10"), Ok(100));
        assert_eq!(count(" 8x8x8 "), Ok(512));
        assert_eq!(count("hypercube:7"), Ok(128));
        // A job has a process on each of six hosts at most, whoever shares them.
        assert_eq!((count("cluster:6"), count("cluster:6x2")), (Ok(6), Ok(6)));
        let printed = |text: &str| text.parse::<Topology>().map(|t| (t.to_string(), t.slots()));
        assert_eq!(printed("cluster:6x2"), Ok(("cluster:6x2".to_string(), 12)));
        assert_eq!(printed("cluster:6x1"), Ok(("cluster:6".to_string(), 6)));
        for bad in [
            "",
            "10",
            "10x",
            "0x4",
            "ring:4x4",
            "torus[w]:4x4",
            "torus[z]:4x4",
            "400x400",
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
        fn print_and_parse_are_inverse(extents in proptest::collection::vec(1u16..12, 2..=3), wraps in any::<[bool; 3]>()) {
            let axes: Vec<_> = extents.iter().zip(wraps).map(|(&extent, wrapped)| Axis { extent, wrapped }).collect();
            let topology = Topology::Grid(Grid::new(&axes).expect("small"));
            prop_assert_eq!(topology.to_string().parse::<Topology>(), Ok(topology));
        }
    }
}
