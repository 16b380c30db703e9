use std::fmt;

use super::{Grid, MAX_POINTS, Topology};

/// The mesh assumed for a trace if the user specifies no machine.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DefaultMachine {
    /// The mesh.
    pub topology: Topology,
    /// The rule that determined the mesh, as text for the output.
    pub rule: String,
}

impl fmt::Display for DefaultMachine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.topology, self.rule)
    }
}

/// Returns the 2D mesh for a machine with this number of processors. If the number is a square, the
/// mesh is square, as in Johnson, Bunde, Leung (section I). If the number is not a square, the
/// sides of the mesh are the two factors of the number whose difference is smallest, with the
/// longer side along x. Returns `None` for zero, for more than [`MAX_POINTS`], and if a side would
/// be longer than 65,535.
pub fn default_machine(processors: usize) -> Option<DefaultMachine> {
    if processors == 0 || processors > MAX_POINTS {
        return None;
    }
    let short = (1..=processors.isqrt()).rev().find(|side| processors.is_multiple_of(*side))?;
    let long = processors / short;
    let rule = if short == long {
        "square of the header's MaxProcs"
    } else {
        "factors of the header's MaxProcs nearest to a square"
    };
    let grid = Grid::mesh2(u16::try_from(long).ok()?, u16::try_from(short).ok()?)?;
    Some(DefaultMachine { topology: Topology::Grid(grid), rule: rule.to_string() })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn is_square_or_has_the_nearest_factors() {
        let name = |n| default_machine(n).map(|m| m.topology.to_string());
        assert_eq!(name(100).as_deref(), Some("10x10"));
        assert_eq!(name(128).as_deref(), Some("16x8"));
        assert_eq!(name(338).as_deref(), Some("26x13"));
        assert_eq!(name(7).as_deref(), Some("7x1"));
        assert_eq!(name(0), None);
    }
}
