use crate::buddy::*;
use proptest::prelude::*;
use replay_engine::allocator::submesh::SubMesh;

fn on(machine: &str) -> (Machine, Buddy) {
    let topology: Topology = machine.parse().expect("a machine");
    let buddy = Buddy::new(topology.grid().expect("a grid")).expect("a square");
    (Machine::new(topology), buddy)
}

fn start(
    machine: &mut Machine,
    buddy: &mut Buddy,
    request: Request,
) -> Result<Vec<NodeId>, Refusal> {
    let mut chosen = Vec::new();
    buddy.allocate(machine, request, &mut chosen)?;
    machine.occupy(&chosen);
    Ok(chosen)
}

fn shaped(w: u16, h: u16) -> Request {
    Request::shaped(u32::from(w) * u32::from(h), Some([w, h, 1]))
}

/// Test vector V-2DBS of the specification: a job of 2 x 1 uses only half of its square of four
/// processors.
#[test]
fn a_job_gets_the_square_of_its_longer_side() {
    for (request, processors) in [
        (shaped(2, 1), 4),
        (Request::of_size(2), 4),
        (shaped(3, 1), 16),
        (Request::of_size(3), 4),
        (Request::of_size(5), 16),
        (shaped(1, 1), 1),
        (shaped(8, 8), 64),
    ] {
        let (mut machine, mut buddy) = on("8x8");
        let nodes = start(&mut machine, &mut buddy, request).expect("all are free");
        assert_eq!(nodes.len(), processors, "{request:?}");
        assert_eq!(buddy.stats().census.expect("units").blocks, 1);
    }
}

/// Lo et al., figure 3: the squares <0,0,2>, <4,0,1> and <4,4,1> are busy. A job of five
/// processors gets the square <0,4,4>. A further job of sixteen processors is refused although 42
/// processors are free.
#[test]
fn fragmentation_is_internal_and_external() {
    let (mut machine, mut buddy) = on("8x8");
    let grid = machine.topology().grid().expect("a grid").clone();
    for (base, side) in [([0, 0, 0], 2), ([4, 0, 0], 1), ([4, 4, 0], 1)] {
        let area = SubMesh { base, sides: [side, side, 1] };
        let mut nodes = Vec::new();
        area.append_to(&grid, &mut nodes);
        buddy.records.carve(area);
        machine.occupy(&nodes);
    }
    let nodes = start(&mut machine, &mut buddy, Request::of_size(5)).expect("a free square");
    assert_eq!((nodes.len(), grid.coord(nodes[0])), (16, [0, 4, 0]));
    assert_eq!(machine.free_count(), 42);
    let refused = start(&mut machine, &mut buddy, Request::of_size(16));
    assert_eq!(refused, Err(Refusal::Fragmented));
}

#[test]
fn refusals_have_the_right_reason() {
    let (mut machine, mut buddy) = on("4x4");
    let first = start(&mut machine, &mut buddy, Request::of_size(1)).expect("all are free");
    // Fifteen processors are free, but the job needs a square of sixteen.
    let refused = start(&mut machine, &mut buddy, Request::of_size(15));
    assert_eq!(refused, Err(Refusal::TooFewFree));
    let refused = start(&mut machine, &mut buddy, shaped(5, 1));
    assert_eq!(refused, Err(Refusal::Fragmented));
    machine.release(&first);
    buddy.on_event(&machine, MachineEvent::Released(&first));
    assert!(start(&mut machine, &mut buddy, Request::of_size(16)).is_ok());
    buddy.begin(&RunSetup::default()).expect("it works");
    assert_eq!(buddy.stats().census, Some(Census::default()));
    let mut machine = Machine::new("4x4".parse().expect("a mesh"));
    assert!(start(&mut machine, &mut buddy, Request::of_size(16)).is_ok());
}

#[test]
fn refuses_if_free_processors_form_no_square() {
    let (mut machine, mut buddy) = on("4x4");
    let held: Vec<Vec<NodeId>> = (0..16)
        .map(|_| start(&mut machine, &mut buddy, Request::of_size(1)).expect("one is free"))
        .collect();
    let grid = machine.topology().grid().expect("a grid").clone();
    // Releases one processor in every quarter.
    for nodes in held.iter().filter(|nodes| grid.coord(nodes[0])[..2].iter().all(|p| p % 2 == 0)) {
        machine.release(nodes);
        buddy.on_event(&machine, MachineEvent::Released(nodes));
    }
    assert_eq!(machine.free_count(), 4);
    let refused = start(&mut machine, &mut buddy, Request::of_size(4));
    assert_eq!(refused, Err(Refusal::Fragmented));
}

#[test]
fn rejects_other_machines() {
    let builds = |machine: &str| {
        let topology: Topology = machine.parse().expect("a machine");
        BuddyOptions.build(&topology, 0).is_ok()
    };
    for machine in ["8x4", "6x6", "4x4x4", "hypercube:4"] {
        assert!(!builds(machine), "{machine}");
    }
    assert!(builds("torus:8x8"));
}

proptest! {
    /// A request succeeds iff an aligned free square of its size exists. The request gets the first
    /// of the smallest free squares that can serve the request. Releasing all squares restores the
    /// machine.
    #[test]
    fn finds_aligned_free_squares(
        steps in proptest::collection::vec((1u16..=8, 1u16..=8, any::<bool>(), 0.0..1.0f64), 1..60),
    ) {
        let (mut machine, mut buddy) = on("16x16");
        let grid = machine.topology().grid().expect("a grid").clone();
        let mut held: Vec<Vec<NodeId>> = Vec::new();
        for (w, h, end, share) in steps {
            if end && !held.is_empty() {
                let nodes = held.swap_remove((share * held.len() as f64) as usize);
                machine.release(&nodes);
                buddy.on_event(&machine, MachineEvent::Released(&nodes));
            }
            let side = w.max(h).next_power_of_two();
            let free = |side: u16, x: u16, y: u16| {
                (x..x + side).all(|x| (y..y + side).all(|y| machine.is_free(grid.node([x, y, 0]))))
            };
            let aligned = |side: u16| {
                let steps = move || (0..16).step_by(usize::from(side));
                steps().flat_map(move |y| steps().map(move |x| (x, y)))
                    .filter(move |&(x, y)| free(side, x, y))
            };
            // Free squares of this size that are not part of a larger free square come first.
            let maximal = |side: u16| aligned(side).find(|&(x, y)| {
                side == 16 || !free(2 * side, x / (2 * side) * 2 * side, y / (2 * side) * 2 * side)
            });
            let expected = [1u16, 2, 4, 8, 16].into_iter().filter(|&s| s >= side).find_map(maximal);
            match start(&mut machine, &mut buddy, shaped(w, h)) {
                Ok(nodes) => {
                    prop_assert_eq!(nodes.len(), usize::from(side) * usize::from(side));
                    let [x, y, _] = grid.coord(nodes[0]);
                    prop_assert_eq!(Some((x, y)), expected);
                    held.push(nodes);
                }
                Err(_) => prop_assert_eq!(expected, None),
            }
            prop_assert_eq!(buddy.stats().census.expect("units").busy_list as usize, held.len());
        }
        for nodes in held {
            machine.release(&nodes);
            buddy.on_event(&machine, MachineEvent::Released(&nodes));
        }
        prop_assert_eq!(buddy.records.free(4), 1);
    }
}
