//! Assignment of a job's processes to its processors.

use std::sync::LazyLock;

use replay_engine::naming::{Description, Entry, NameError, Table, spelled};
use replay_engine::topology::curve::Curve;
use replay_engine::topology::{NodeId, Topology};

/// The order in which the processors of a job get ranks 0, 1, 2, ...
///
/// ```
/// use replay_network::traffic::Mapping;
/// assert_eq!("allocation".parse(), Ok(Mapping::Allocation));
/// assert_eq!("hilbert".parse::<Mapping>()?.to_string(), "hilbert");
/// # Ok::<(), replay_engine::naming::NameError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Mapping {
    /// The order of allocation: unit by unit, and row-major within a unit.
    #[default]
    Allocation,
    /// The order along a curve through the whole machine, for example row-major order.
    Curve(Curve),
}

impl Mapping {
    /// Returns the position of each processor in the order of the mapping; `None` for the order of allocation. A
    /// hypercube or cluster has only the curve [`Curve::RowMajor`], which is the order of ascending numbers.
    ///
    /// # Errors
    /// [`NameError`] if a hypercube or cluster does not have the curve.
    pub(super) fn places(self, topology: &Topology) -> Result<Option<Vec<u32>>, NameError> {
        let order: Vec<NodeId> = match (self, topology) {
            (Mapping::Allocation, _) => return Ok(None),
            (Mapping::Curve(curve), Topology::Grid(grid)) => curve.order(grid),
            (Mapping::Curve(Curve::RowMajor), _) => topology.nodes().collect(),
            (Mapping::Curve(curve), _) => {
                let problem = format!("the curve needs a grid, not {topology}");
                return Err(NameError::new(TABLE.kind(), curve.name(), problem));
            }
        };
        let mut places = vec![0; order.len()];
        for (place, node) in (0..).zip(order) {
            places[node.index()] = place;
        }
        Ok(Some(places))
    }

    /// Returns descriptions of the mappings.
    pub fn descriptions() -> Vec<Description> {
        TABLE.descriptions()
    }
}

static TABLE: LazyLock<Table<Mapping>> = LazyLock::new(|| {
    let first = Entry::new("allocation", Mapping::Allocation)
        .about("Ranks in the order of allocation: unit by unit, row-major inside a unit.");
    let along = |curve: Curve| {
        Entry::new(curve.name(), Mapping::Curve(curve))
            .about(format!("Ranks along a curve over the machine: {}.", curve.about()))
    };
    Table::new("mapping", std::iter::once(first).chain(Curve::ALL.map(along)))
});

spelled!(Mapping, TABLE);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_follow_the_curve() {
        let mesh: Topology = "3x2".parse().expect("a mesh");
        let places =
            |text: &str| text.parse::<Mapping>().expect("a mapping").places(&mesh).expect("a grid");
        assert_eq!(places("allocation"), None);
        // Rows run along x. The number of the processor at (x, y) is x * 2 + y.
        assert_eq!(places("row-major"), Some(vec![0, 3, 1, 4, 2, 5]));
        assert_eq!(places("snake"), Some(vec![0, 5, 1, 4, 2, 3]));
    }

    #[test]
    fn a_hypercube_has_one_curve() {
        let cube: Topology = "hypercube:2".parse().expect("a cube");
        assert_eq!(Mapping::Curve(Curve::RowMajor).places(&cube), Ok(Some(vec![0, 1, 2, 3])));
        let error = Mapping::Curve(Curve::Hilbert).places(&cube).expect_err("no grid");
        assert_eq!(
            error.to_string(),
            "mapping \"hilbert\": the curve needs a grid, not hypercube:2"
        );
    }

    #[test]
    fn names_are_read_and_written() {
        for entry in Mapping::descriptions() {
            let mapping: Mapping = entry.name.parse().expect("listed");
            assert_eq!(mapping.to_string(), entry.name);
        }
        let error = "hilbrt".parse::<Mapping>().expect_err("a typing error");
        assert!(error.to_string().contains("did you mean \"hilbert\""), "{error}");
        assert!("snake[x=1]".parse::<Mapping>().is_err());
    }
}
