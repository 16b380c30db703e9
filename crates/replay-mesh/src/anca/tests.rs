use crate::anca::*;
use crate::contiguous::reference::{self, bases, grid};
use proptest::prelude::*;
use replay_contract::{Bench, Expected, check_names};

fn request(sides: [u16; 3]) -> Request {
    Request::shaped(volume(sides) as u32, Some(sides))
}

/// Returns the sub-meshes that a request gets. The sub-meshes are computed from their first and
/// last processors.
fn places(
    machine: &Machine,
    sides: [u16; 3],
    options: AncaOptions,
) -> Result<Vec<SubMesh>, Refusal> {
    let mut bench = Bench::new(machine.clone(), Anca::new(grid(machine), options));
    let chosen = bench.start(request(sides))?;
    let each = chosen.len() / bench.census().blocks as usize;
    let corner = |node: &NodeId| grid(machine).coord(*node);
    let spanned = |nodes: &[NodeId]| SubMesh::spanning(corner(&nodes[0]), corner(&nodes[each - 1]));
    Ok(chosen.chunks(each).map(spanned).collect())
}

#[test]
fn halving_keeps_sides_above_one() {
    assert_eq!(halved([8, 3, 1]), Some([4, 3, 1]));
    assert_eq!(halved([5, 4, 1]), Some([5, 2, 1]));
    assert_eq!(halved([4, 4, 1]), Some([2, 4, 1]));
    assert_eq!(halved([4, 6, 1]), Some([4, 3, 1]));
    assert_eq!(halved([8, 1, 1]), Some([4, 1, 1]));
    assert_eq!(halved([6, 5, 8]), Some([6, 5, 4]));
    assert_eq!(halved([2, 3, 1]), None);
    assert_eq!(halved([3, 5, 1]), None);
}

/// Example of Chang and Mohapatra: a frame of 8 x 3 is cut into two frames of 4 x 3.
#[test]
fn halves_are_placed_separately() {
    // Column x = 4 of a 9 x 3 mesh is busy.
    let busy: Vec<_> = (0..27).map(|node| node / 3 == 4).collect();
    let machine = reference::machine("9x3", &busy);
    let expected =
        vec![SubMesh::spanning([0, 0, 0], [3, 2, 0]), SubMesh::spanning([5, 0, 0], [8, 2, 0])];
    assert_eq!(places(&machine, [8, 3, 1], AncaOptions::default()), Ok(expected));
    let never = AncaOptions { cuts: 0, ..AncaOptions::default() };
    assert_eq!(places(&machine, [8, 3, 1], never), Err(Refusal::Fragmented));
    assert_eq!(places(&machine, [5, 5, 1], never), Err(Refusal::TooFewFree));
    // Enough processors are free, but no side is even.
    let odd = places(&machine, [5, 3, 1], AncaOptions::default());
    assert_eq!(odd, Err(Refusal::Fragmented));
}

#[test]
fn frames_rotate_independently() {
    // The free processors are a box of 4 x 2 at the lower left and a separate box of 2 x 4 at the
    // upper right.
    let busy: Vec<_> = (0..36u16)
        .map(|node| {
            let (x, y) = (node / 6, node % 6);
            !(x < 4 && y < 2 || x > 3 && y > 1)
        })
        .collect();
    let machine = reference::machine("6x6", &busy);
    let options = AncaOptions::default();
    assert_eq!(places(&machine, [8, 2, 1], options).map(|places| places.len()), Ok(4));
    let turning = AncaOptions { turn: true, ..options };
    let expected =
        vec![SubMesh::spanning([0, 0, 0], [3, 1, 0]), SubMesh::spanning([4, 2, 0], [5, 5, 0])];
    assert_eq!(places(&machine, [8, 2, 1], turning), Ok(expected));
}

#[test]
fn the_busy_list_counts_sub_meshes() {
    let busy: Vec<_> = (0..27).map(|node| node / 3 == 4).collect();
    let machine = reference::machine("9x3", &busy);
    let anca = Anca::new(grid(&machine), AncaOptions::default());
    let mut bench = Bench::new(machine, anca);
    let first = bench.serve(request([8, 2, 1]));
    bench.serve(request([2, 1, 1]));
    assert_eq!(bench.units(), (1, 3));
    bench.end(&first);
    assert_eq!(bench.census().busy_list, 1);
    bench.begin();
}

/// Implements the definition directly, one frame after the other.
fn literal(machine: &Machine, sides: [u16; 3], cuts: u32) -> Option<Vec<NodeId>> {
    let mut frame = sides;
    for cut in 0..=cuts {
        let mut machine = machine.clone();
        let mut taken = Vec::new();
        while taken.len() < volume(sides) as usize {
            let Some(&base) = bases(&machine, frame, Scan::RowMajor).first() else { break };
            let nodes = reference::nodes(grid(&machine), base, frame);
            machine.occupy(&nodes);
            taken.extend(nodes);
        }
        if taken.len() == volume(sides) as usize {
            assert_eq!(taken.len(), volume(frame) as usize * (1 << cut));
            return Some(taken);
        }
        // Halves the longer side, or the shorter side if the longer side is odd. The rule for
        // halving a frame is also used in three dimensions.
        let mut axes = [0, 1, 2];
        axes.sort_by_key(|&i| std::cmp::Reverse(frame[i]));
        let axis = axes.into_iter().find(|&i| frame[i].is_multiple_of(2))?;
        if frame[axis] == 2 {
            return None;
        }
        frame[axis] /= 2;
    }
    None
}

proptest! {
    #[test]
    fn agrees_with_the_definition(
        name in proptest::sample::select(vec!["8x8", "9x5", "torus:6x6", "4x4x5", "torus:4x3x5"]),
        noise in proptest::collection::vec(0.0..1.0f64, 80),
        density in 0.0..0.5f64,
        sides in proptest::array::uniform3(1u16..9),
        cuts in 0u32..5,
    ) {
        let busy: Vec<_> = noise.iter().map(|&n| n < density).collect();
        let machine = reference::machine(name, &busy);
        let sides = if grid(&machine).dimensions() == 2 { [sides[0], sides[1], 1] } else { sides };
        let anca = Anca::new(grid(&machine), AncaOptions { cuts, ..AncaOptions::default() });
        let definition = |machine: &Machine, request: Request| {
            if request.size as usize > machine.free_count() {
                return Expected::Refused(Some(Refusal::TooFewFree));
            }
            literal(machine, sides, cuts).into()
        };
        let _ = Bench::new(machine, anca).with_oracle(definition).start(request(sides));
    }
}

#[test]
fn names_are_checked() {
    let canonical = [
        ("anca[rotate=false,cuts=16]", "anca"),
        ("anca[shape=near-square,rotate=true,cuts=2]", "anca[cuts=2,rotate=yes,shape=near-square]"),
    ];
    let invalid = [
        ("anca[cuts=17]", "not an integer"),
        ("anca[cuts=-1]", "not an integer"),
        ("anca[shape=any]", "not one of"),
        ("anca[engine=fast]", "unknown parameter"),
    ];
    check_names(crate::allocator, &canonical, &invalid);
}
