//! Random states for the tests that compare a fast engine with the definition.

use proptest::prelude::*;

use crate::definition::{Candidate, CentreOptions, CentreRule, ShellOrder};
use replay_engine::allocator::ties::{TieVector, WallRule};
use replay_engine::allocator::{Allocator, Request, RunSetup};
use replay_engine::cancel::CancelToken;
use replay_engine::machine::Machine;
use replay_engine::topology::{Axis, Grid, NodeId, Topology};

/// Generates a grid in which each dimension is wrapped or not. Half of the grids are 2D meshes;
/// some of these are long and narrow.
pub fn grids() -> impl Strategy<Value = Grid> {
    let axis =
        |max| (1u16..max, any::<bool>()).prop_map(|(extent, wrapped)| Axis { extent, wrapped });
    let open = |max| (1u16..max).prop_map(|extent| Axis { extent, wrapped: false });
    prop_oneof![
        4 => proptest::collection::vec(open(20), 2),
        1 => (open(4), open(150)).prop_map(|(a, b)| vec![a, b]),
        1 => (open(150), open(4)).prop_map(|(a, b)| vec![a, b]),
        3 => proptest::collection::vec(axis(12), 2),
        2 => proptest::collection::vec(axis(6), 3),
        // Generates lines, and boxes with unequal sides.
        1 => (open(2), open(60)).prop_map(|(a, b)| vec![a, b]),
        1 => (axis(3), axis(24), axis(9)).prop_map(|(a, b, c)| vec![a, b, c]),
    ]
    .prop_map(|axes| Grid::new(&axes).expect("small"))
}

/// Generates a grid of a few thousand processors, on which sums do not fit into 16 bits.
pub fn wide_grids() -> impl Strategy<Value = Grid> {
    prop_oneof![
        (1u16..4, 900u16..1500, any::<bool>(), any::<bool>()),
        (50u16..60, 50u16..60, any::<bool>(), any::<bool>()),
    ]
    .prop_map(|(x, y, wrap_x, wrap_y)| {
        let axes = [Axis { extent: x, wrapped: wrap_x }, Axis { extent: y, wrapped: wrap_y }];
        Grid::new(&axes).expect("small")
    })
}

/// Generates every combination of options, including scan radii far beyond the machine.
pub fn options() -> impl Strategy<Value = CentreOptions> {
    let scan_radius = prop_oneof![9 => 0u32..6, 1 => 6u32..60, 1 => Just(1_000_000)];
    let weight = |low, high| prop_oneof![9 => low..high, 1 => Just(TieVector::MAX)];
    let vector = (scan_radius, weight(0, 15), weight(-3, 25), weight(0, 9)).prop_map(
        |(scan_radius, available, wall, border)| TieVector { scan_radius, available, wall, border },
    );
    (
        proptest::option::weighted(0.8, vector),
        proptest::sample::select(WallRule::ALL.map(|(_, wall)| wall).to_vec()),
        proptest::sample::select(ShellOrder::ALL.map(|(_, order)| order).to_vec()),
        proptest::sample::select(vec!["0", "0", "0.1", "0.29", "1"])
            .prop_map(|slack| slack.parse().expect("a slack")),
    )
        .prop_map(|(tie, wall, order, slack)| CentreOptions { tie, wall, order, slack })
}

/// Returns a machine on which each processor is busy with probability `busy`. `seed` is the random
/// seed.
pub fn machine(grid: &Grid, busy: f64, seed: u64) -> Machine {
    use rand::{RngExt, SeedableRng};
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    let mut machine = Machine::new(Topology::Grid(grid.clone()));
    let taken: Vec<_> = machine.topology().nodes().filter(|_| rng.random_bool(busy)).collect();
    machine.occupy(&taken);
    machine
}

/// Compares the chosen processors and the number of tied sets of a fast engine with the definition.
/// The comparison is made on a machine, and on the states that result from the engine's decisions.
/// `shares` are the requested sizes as fractions of the number of free processors.
///
/// With [`ShellOrder::Greedy`], the engines run the definition itself, so the comparison only
/// checks that the engines forward requests correctly.
pub fn agrees(
    fast: &mut dyn Allocator,
    rule: &CentreRule,
    grid: &Grid,
    mut machine: Machine,
    shares: &[f64],
) -> Result<(), TestCaseError> {
    let setup = RunSetup { count_ties: true, ..RunSetup::default() };
    prop_assert_eq!(fast.begin(&setup), Ok(()));
    for share in shares {
        let free = machine.free_count();
        if free == 0 {
            break;
        }
        let size = 1 + ((free - 1) as f64 * share) as usize;
        let request = Request::of_size(size as u32);
        let mut chosen = Vec::new();
        prop_assert_eq!(fast.allocate(&machine, request, &mut chosen), Ok(()));
        if size < free {
            let stop = CancelToken::new();
            let winner = rule.choose(&machine, grid, size, &stop).expect("not cancelled");
            let mut sorted = chosen.clone();
            sorted.sort();
            prop_assert_eq!(Some(sorted), winner.as_ref().map(Candidate::sorted_nodes));
            let tied = rule.tied_sets(&machine, grid, size, &stop).expect("not cancelled");
            prop_assert_eq!(fast.stats().tied_sets, Some(tied));
        }
        // The next decision starts from the state after the current decision.
        machine.occupy(&chosen);
    }
    Ok(())
}

/// Takes every free processor whose number is a multiple of `share` out of service. Returns the
/// machine and the list of the processors taken out of service; these processors count as walls if
/// `walls` is set.
pub fn partly_down(mut machine: Machine, share: u32, walls: bool) -> (Machine, Vec<NodeId>) {
    machine.set_down_walls(walls);
    let down: Vec<NodeId> =
        machine.free_nodes().filter(|node| node.0.is_multiple_of(share)).collect();
    machine.withdraw(&down);
    (machine, down)
}
